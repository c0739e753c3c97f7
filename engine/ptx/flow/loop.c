/* Loops, reducible or not, with their nesting: Havlak, "Nesting of Reducible and
 * Irreducible Loops" (1997), with the union-find and the linear bound that Ramalingam
 * (1999) gave it. A depth-first tree numbers the blocks; for each header, from the last to
 * the first, the bodies of its back edges are collapsed into it. */
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/flow/cfg_int.h"
#include "engine/ptx/ptx.h"

#include <string.h>

struct nest {
    struct ptx_cfg *c;
    uint32_t n;       /* blocks */
    uint32_t *number; /* block -> depth-first number, PTX_NO_INDEX: not reached */
    uint32_t *block;  /* number -> block */
    uint32_t *last;   /* number -> greatest number of its subtree */
    uint32_t *set;    /* union-find over numbers */
    uint32_t *header; /* number -> number of the header it was collapsed into */
    uint32_t *list, *stack;
    uint8_t *kind;                                  /* of a header: 0 none, 1 reducible, 2 irreducible */
    uint32_t *extra_head, *extra_next, *extra_from; /* edges moved to a common header (Ramalingam) */
    uint32_t nextra, cap;
};

static uint32_t find(struct nest *s, uint32_t x)
{
    while (s->set[x] != x) {
        s->set[x] = s->set[s->set[x]];
        x = s->set[x];
    }
    return x;
}

static bool ancestor(const struct nest *s, uint32_t a, uint32_t b)
{
    return a <= b && b <= s->last[a];
}

/* Numbers in pre-order of the depth-first tree that successors span. */
static void number_blocks(struct nest *s)
{
    uint32_t *pos = s->list, depth = 1, next = 0;
    memset(s->number, 0xff, s->n * sizeof *s->number);
    s->stack[0] = 0;
    pos[0] = 0;
    s->number[0] = next;
    s->block[next++] = 0;
    while (depth) {
        uint32_t b = s->stack[depth - 1];
        const struct ptx_block *bl = &s->c->blocks[b];
        if (pos[depth - 1] == bl->nsucc) {
            s->last[s->number[b]] = next - 1;
            depth--;
            continue;
        }
        uint32_t to = bl->succ[pos[depth - 1]++];
        if (s->number[to] != PTX_NO_INDEX)
            continue;
        s->number[to] = next;
        s->block[next++] = to;
        s->stack[depth] = to;
        pos[depth++] = 0;
    }
    s->n = next; /* from here on only what is reachable counts */
}

static void take(struct nest *s, uint32_t w, uint32_t x, uint32_t *n, uint8_t *in)
{
    uint32_t y = find(s, x);
    if (y != w && !in[y]) {
        in[y] = 1;
        s->list[(*n)++] = y;
    }
}

/* An edge from outside the subtree into the body makes the loop irreducible; the edge is
 * looked at again for the next header around. */
static bool side_entry(struct nest *s, uint32_t w, uint32_t from)
{
    s->kind[w] = 2;
    if (s->nextra == s->cap)
        return false;
    s->extra_from[s->nextra] = from;
    s->extra_next[s->nextra] = s->extra_head[w];
    s->extra_head[w] = ++s->nextra;
    return true;
}

static bool grow_body(struct nest *s, uint32_t w, uint32_t from, uint32_t *n, uint8_t *in)
{
    uint32_t y = find(s, from);
    if (!ancestor(s, w, y))
        return side_entry(s, w, y);
    take(s, w, y, n, in);
    return true;
}

/* Collects the body of header w; false: out of room for moved edges. */
static bool collapse(struct nest *s, uint32_t w, uint8_t *in)
{
    uint32_t n = 0;
    bool self = false;
    const struct ptx_block *bl = &s->c->blocks[s->block[w]];
    for (uint32_t k = 0; k < bl->npred; k++) {
        uint32_t v = s->number[bl->pred[k]];
        if (v == PTX_NO_INDEX || !ancestor(s, w, v))
            continue;
        self = self || v == w;
        if (v != w)
            take(s, w, v, &n, in);
    }
    if (n || self)
        s->kind[w] = 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t x = s->list[i];
        const struct ptx_block *xb = &s->c->blocks[s->block[x]];
        for (uint32_t k = 0; k < xb->npred; k++) {
            uint32_t y = s->number[xb->pred[k]];
            if (y != PTX_NO_INDEX && !ancestor(s, x, y) && !grow_body(s, w, y, &n, in))
                return false;
        }
        for (uint32_t e = s->extra_head[x]; e; e = s->extra_next[e - 1])
            if (!grow_body(s, w, s->extra_from[e - 1], &n, in))
                return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        s->header[s->list[i]] = w;
        s->set[s->list[i]] = w;
        in[s->list[i]] = 0;
    }
    return true;
}

/* ---- results ---- */
/* Every loop's blocks are one stretch of a single array: its own, then those of the loops in
 * it. So nests of any depth cost one entry per block. */
static bool fill_blocks(struct ptx_cfg *c, uint32_t *own, uint32_t *next)
{
    uint32_t *all = ARENA_ARRAY(c->arena, uint32_t, c->nblocks + 1), top = 0;
    if (!all)
        return false;
    memset(own, 0, c->nloops * sizeof *own);
    for (uint32_t b = 0; b < c->nblocks; b++)
        if (c->blocks[b].loop != PTX_NO_INDEX)
            own[c->blocks[b].loop]++;
    for (uint32_t l = c->nloops; l-- > 0;) {
        c->loops[l].nblocks += own[l];
        if (c->loops[l].parent != PTX_NO_INDEX)
            c->loops[c->loops[l].parent].nblocks += c->loops[l].nblocks;
    }
    for (uint32_t l = 0; l < c->nloops; l++) {
        uint32_t parent = c->loops[l].parent, *from = parent == PTX_NO_INDEX ? &top : &next[parent];
        c->loops[l].blocks = all + *from;
        next[l] = *from + own[l];
        own[l] = *from;
        *from += c->loops[l].nblocks;
    }
    for (uint32_t b = 0; b < c->nblocks; b++)
        if (c->blocks[b].loop != PTX_NO_INDEX)
            all[own[c->blocks[b].loop]++] = b;
    return true;
}

/* Headers in pre-order: an outer loop comes before the loops in it. */
static bool make_list(struct nest *s)
{
    struct ptx_cfg *c = s->c;
    uint32_t *loop_of = s->stack; /* number of header -> loop */
    for (uint32_t w = 0; w < s->n; w++)
        c->nloops += s->kind[w] != 0;
    c->loops = ARENA_ARRAY(c->arena, struct ptx_loop, c->nloops + 1);
    if (!c->loops)
        return false;
    uint32_t l = 0;
    for (uint32_t w = 0; w < s->n; w++) {
        uint32_t up = w ? s->header[w] : PTX_NO_INDEX;
        uint32_t parent = up != PTX_NO_INDEX ? loop_of[up] : PTX_NO_INDEX;
        if (s->kind[w]) {
            c->loops[l] =
                (struct ptx_loop){ .header = s->block[w],
                                   .parent = parent,
                                   .irreducible = s->kind[w] == 2,
                                   .depth = parent == PTX_NO_INDEX ? 1 : c->loops[parent].depth + 1 };
            loop_of[w] = l;
            c->blocks[s->block[w]].loop = l++;
        } else {
            loop_of[w] = PTX_NO_INDEX;
            c->blocks[s->block[w]].loop = parent;
        }
    }
    return fill_blocks(c, s->set, s->list);
}

bool cfg_make_loops(struct ptx_cfg *c)
{
    uint32_t n = c->nblocks, edges = 0;
    if (!n)
        return (c->loops = ARENA_ARRAY(c->arena, struct ptx_loop, 1)) != NULL;
    for (uint32_t b = 0; b < n; b++)
        edges += c->blocks[b].nsucc;
    /* each moved edge ends at a header further out; the depth of irreducible nests bounds them */
    uint32_t cap = 4 * edges + 64;
    uint32_t *mem = base_alloc(((size_t)8 * n + 2 * (size_t)cap + 16) * sizeof *mem);
    uint8_t *flags = base_alloc((size_t)n * 2 + 2);
    bool ok = mem && flags;
    if (ok) {
        struct nest s = { .c = c,
                          .n = n,
                          .number = mem,
                          .block = mem + n,
                          .last = mem + 2 * n,
                          .set = mem + 3 * n,
                          .header = mem + 4 * n,
                          .list = mem + 5 * n,
                          .stack = mem + 6 * n,
                          .extra_head = mem + 7 * n,
                          .extra_next = mem + 8 * n,
                          .extra_from = mem + 8 * n + cap,
                          .cap = cap,
                          .kind = flags };
        number_blocks(&s);
        for (uint32_t w = 0; w < s.n; w++) {
            s.set[w] = w;
            s.header[w] = PTX_NO_INDEX;
        }
        for (uint32_t w = s.n; w-- > 0 && ok;)
            ok = collapse(&s, w, flags + n + 1);
        /* running out of moved edges leaves outer irreducible loops smaller */
        ok = make_list(&s);
    }
    BASE_FREE(mem, flags);
    return ok;
}
