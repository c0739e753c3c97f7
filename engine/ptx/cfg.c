/* Control flow graph: blocks, edges, reverse post-order, dominators, post-dominators.
 *
 * Leaders are the first instruction, every label in use by a branch, and what follows a
 * branch or an exit. Guarded branches and exits fall through too. Dominators: Cooper,
 * Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001), iterated over reverse
 * post-order; post-dominators the same over the reversed graph with a virtual exit.
 * Everything is iterative. Loops are in loop.c, references in refs.c. */
#include "engine/ptx/cfg_int.h"

#include <string.h>

/* ---- blocks ---- */
static bool ends_block(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_op_info((enum ptx_op)i->op)->effect;
    return e == EFFECT_BRANCH || e == EFFECT_EXIT;
}

static const struct ptx_operand *target_operand(const struct ptx_inst *i)
{
    for (unsigned k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_LABEL)
            return &i->opnds[k];
    return NULL;
}

/* Calls fn for each label a branch may go to: one, or the .branchtargets list. */
static void each_target(const struct ptx_func *f, const struct ptx_inst *i, void (*fn)(void *, uint32_t inst), void *ctx)
{
    const struct ptx_operand *o = target_operand(i);
    if (!o || o->index >= f->nlabels)
        return;
    const struct ptx_label *l = &f->labels[o->index];
    if (!l->targets) {
        fn(ctx, l->inst);
        return;
    }
    for (uint32_t k = 0; k < l->ntargets; k++)
        if (l->targets[k] < f->nlabels)
            fn(ctx, f->labels[l->targets[k]].inst);
}

static void mark_leader(void *ctx, uint32_t inst)
{
    struct ptx_cfg *c = ctx;
    if (inst < c->func->ninsts)
        c->block_of[inst] = 1;
}

/* block_of serves as the leader flag first, then holds block numbers. */
static bool make_blocks(struct ptx_cfg *c)
{
    const struct ptx_func *f = c->func;
    c->block_of = ARENA_ARRAY(c->arena, uint32_t, f->ninsts + 1);
    if (!c->block_of)
        return false;
    if (f->ninsts)
        c->block_of[0] = 1;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        if (!ends_block(&f->insts[i]))
            continue;
        c->block_of[i + 1] = 1;
        each_target(f, &f->insts[i], mark_leader, c);
    }
    for (uint32_t i = 0; i < f->ninsts; i++)
        c->nblocks += c->block_of[i];
    c->blocks = ARENA_ARRAY(c->arena, struct ptx_block, c->nblocks + 1);
    if (!c->blocks)
        return false;
    for (uint32_t i = 0, b = 0; i < f->ninsts; i++) {
        b += c->block_of[i];
        if (c->block_of[i])
            c->blocks[b - 1] = (struct ptx_block){ .first = i, .idom = PTX_NO_INDEX, .ipdom = PTX_NO_INDEX, .loop = PTX_NO_INDEX };
        c->blocks[b - 1].n++;
        c->block_of[i] = b - 1;
    }
    return true;
}

/* ---- edges ---- */
struct edges { struct ptx_cfg *c; uint32_t from; uint32_t *list; uint32_t n, cap; bool count_only, oom; };

static void add_edge(void *ctx, uint32_t inst)
{
    struct edges *e = ctx;
    if (inst >= e->c->func->ninsts)
        return;
    if (e->n == e->cap) {
        e->oom = true;
        return;
    }
    e->list[e->n++] = e->c->block_of[inst];
}

static uint32_t remove_doubles(struct ptx_cfg *c, uint32_t *list, uint32_t n, uint32_t *seen, uint32_t mark)
{
    uint32_t kept = 0;
    (void)c;
    for (uint32_t i = 0; i < n; i++)
        if (seen[list[i]] != mark) {
            seen[list[i]] = mark;
            list[kept++] = list[i];
        }
    return kept;
}

static void count_target(void *ctx, uint32_t inst)
{
    (void)inst;
    ++*(uint32_t *)ctx;
}

/* Successors in the order: taken targets, then the fall-through. */
static bool make_successors(struct ptx_cfg *c)
{
    uint32_t *seen = base_alloc((c->nblocks + 1) * sizeof *seen);
    if (!seen)
        return false;
    for (uint32_t b = 0; b < c->nblocks; b++) {
        struct ptx_block *bl = &c->blocks[b];
        const struct ptx_inst *last = &c->func->insts[bl->first + bl->n - 1];
        bool branch = ptx_op_info((enum ptx_op)last->op)->effect == EFFECT_BRANCH, ends = ends_block(last);
        uint32_t n = 0;
        if (branch)
            each_target(c->func, last, count_target, &n);
        struct edges e = { .c = c, .from = b, .cap = n + 1, .list = arena_alloc_unaligned(c->arena, 0) };
        e.list = ARENA_ARRAY(c->arena, uint32_t, n + 1);
        if (!e.list) {
            base_free(seen);
            return false;
        }
        if (branch)
            each_target(c->func, last, add_edge, &e);
        if (!ends || last->guarded)
            add_edge(&e, bl->first + bl->n);
        bl->succ = e.list;
        bl->nsucc = remove_doubles(c, e.list, e.n, seen, b + 1);
    }
    base_free(seen);
    return true;
}

static bool make_predecessors(struct ptx_cfg *c)
{
    for (uint32_t b = 0; b < c->nblocks; b++)
        for (uint32_t k = 0; k < c->blocks[b].nsucc; k++)
            c->blocks[c->blocks[b].succ[k]].npred++;
    for (uint32_t b = 0; b < c->nblocks; b++) {
        struct ptx_block *bl = &c->blocks[b];
        bl->pred = bl->npred ? ARENA_ARRAY(c->arena, uint32_t, bl->npred) : NULL;
        if (bl->npred && !bl->pred)
            return false;
        bl->npred = 0;
    }
    for (uint32_t b = 0; b < c->nblocks; b++)
        for (uint32_t k = 0; k < c->blocks[b].nsucc; k++) {
            struct ptx_block *to = &c->blocks[c->blocks[b].succ[k]];
            to->pred[to->npred++] = b;
        }
    return true;
}

/* ---- orders ---- */
/* Post-order of a depth-first walk from `root`, with an explicit stack. `reverse` walks
 * predecessors; `root` == nblocks is the virtual exit, whose "predecessors" are exits[]. */
static uint32_t post_order(const struct ptx_cfg *c, const struct cfg_exits *x, uint32_t root, uint32_t *order, uint32_t *work)
{
    uint32_t *stack = work, *pos = work + c->nblocks + 1, depth = 0, n = 0;
    uint32_t *state = pos + c->nblocks + 1;      /* 1: seen */
    memset(state, 0, (c->nblocks + 1) * sizeof *state);
    stack[0] = root;
    pos[0] = 0;
    state[root] = 1;
    depth = 1;
    while (depth) {
        uint32_t b = stack[depth - 1];
        const uint32_t *next = x ? (b == c->nblocks ? x->v : c->blocks[b].pred) : c->blocks[b].succ;
        uint32_t count = x ? (b == c->nblocks ? x->n : c->blocks[b].npred) : c->blocks[b].nsucc;
        if (pos[depth - 1] == count) {
            order[n++] = b;
            depth--;
            continue;
        }
        uint32_t to = next[pos[depth - 1]++];
        if (state[to])
            continue;
        state[to] = 1;
        stack[depth] = to;
        pos[depth++] = 0;
    }
    return n;
}

static bool make_order(struct ptx_cfg *c, uint32_t *work)
{
    c->rpo = ARENA_ARRAY(c->arena, uint32_t, c->nblocks + 1);
    if (!c->rpo)
        return false;
    if (!c->nblocks)
        return true;
    c->nrpo = post_order(c, NULL, 0, c->rpo, work);
    for (uint32_t i = 0, j = c->nrpo - 1; i < j; i++, j--) {
        uint32_t t = c->rpo[i];
        c->rpo[i] = c->rpo[j];
        c->rpo[j] = t;
    }
    for (uint32_t i = 0; i < c->nrpo; i++)
        c->blocks[c->rpo[i]].reachable = true;
    return true;
}

/* ---- dominators ---- */
/* idom and number are by block; number is the place in post-order, the root has the greatest. */
static uint32_t meet(const uint32_t *idom, const uint32_t *number, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (number[a] < number[b])
            a = idom[a];
        while (number[b] < number[a])
            b = idom[b];
    }
    return a;
}

struct dom_graph { const struct ptx_cfg *c; const struct cfg_exits *x; uint32_t *idom, *number; const uint32_t *order; uint32_t n; };

/* What flows into block b: predecessors, or for post-dominance successors and the virtual exit. */
static uint32_t dom_step(const struct dom_graph *g, uint32_t b)
{
    const struct ptx_block *bl = &g->c->blocks[b];
    const uint32_t *in = g->x ? bl->succ : bl->pred;
    uint32_t n = g->x ? bl->nsucc : bl->npred, best = PTX_NO_INDEX;
    if (g->x && g->x->is[b])
        best = g->c->nblocks;
    for (uint32_t k = 0; k < n; k++)
        if (g->idom[in[k]] != PTX_NO_INDEX)
            best = best == PTX_NO_INDEX ? in[k] : meet(g->idom, g->number, best, in[k]);
    return best;
}

static void dominators(struct dom_graph *g, uint32_t root)
{
    for (uint32_t i = 0; i <= g->c->nblocks; i++)
        g->idom[i] = PTX_NO_INDEX;
    for (uint32_t i = 0; i < g->n; i++)
        g->number[g->order[i]] = i;
    g->idom[root] = root;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = g->n; i-- > 0;) {
            uint32_t b = g->order[i];
            if (b == root)
                continue;
            uint32_t d = dom_step(g, b);
            changed = changed || d != g->idom[b];
            g->idom[b] = d;
        }
    }
}

static void post_dominators(struct ptx_cfg *c, struct cfg_exits *x, uint32_t *order, uint32_t *work, uint32_t *idom, uint32_t *number)
{
    struct dom_graph g = { c, x, idom, number, order, post_order(c, x, c->nblocks, order, work) };
    dominators(&g, c->nblocks);
    for (uint32_t b = 0; b < c->nblocks; b++)
        c->blocks[b].ipdom = idom[b] == c->nblocks ? PTX_NO_INDEX : idom[b];
}

/* Blocks that leave the function; a loop that never ends gets one of its blocks as an exit,
 * so that every block has a post-dominator. */
static void find_exits(struct ptx_cfg *c, struct cfg_exits *x, uint32_t *order, uint32_t *work)
{
    for (uint32_t b = 0; b < c->nblocks; b++) {
        const struct ptx_block *bl = &c->blocks[b];
        const struct ptx_inst *last = &c->func->insts[bl->first + bl->n - 1];
        if (!bl->nsucc || ptx_op_info((enum ptx_op)last->op)->effect == EFFECT_EXIT || bl->first + bl->n == c->func->ninsts) {
            x->is[b] = true;
            x->v[x->n++] = b;
        }
    }
    uint32_t n = post_order(c, x, c->nblocks, order, work);
    if (n == c->nblocks + 1)
        return;
    uint32_t *state = work + 2 * (c->nblocks + 1);   /* left by post_order: 1 reaches an exit */
    uint32_t *stack = work, top;
    for (uint32_t i = c->nblocks; i-- > 0;) {        /* the last block of such a loop stands for its exit */
        if (state[i])
            continue;
        x->is[i] = true;
        x->v[x->n++] = i;
        state[i] = 1;
        stack[0] = i;
        for (top = 1; top;) {
            const struct ptx_block *bl = &c->blocks[stack[--top]];
            for (uint32_t k = 0; k < bl->npred; k++)
                if (!state[bl->pred[k]]) {
                    state[bl->pred[k]] = 1;
                    stack[top++] = bl->pred[k];
                }
        }
    }
}

static bool make_dominators(struct ptx_cfg *c, uint32_t *work)
{
    uint32_t n = c->nblocks + 1;
    uint32_t *order = base_alloc(4 * n * sizeof *order), *idom = order + n, *number = idom + n;
    struct cfg_exits x = { .v = order + 3 * n, .is = base_alloc(n) };
    bool ok = order && x.is && make_order(c, work);
    if (ok && c->nblocks) {
        for (uint32_t i = 0; i < c->nrpo; i++)
            order[i] = c->rpo[c->nrpo - 1 - i];
        struct dom_graph g = { c, NULL, idom, number, order, c->nrpo };
        dominators(&g, 0);
        for (uint32_t b = 1; b < c->nblocks; b++)
            c->blocks[b].idom = idom[b];
        find_exits(c, &x, order, work);
        post_dominators(c, &x, order, work, idom, number);
    }
    base_free(order);
    base_free(x.is);
    return ok;
}

bool ptx_dominates(const struct ptx_cfg *c, uint32_t a, uint32_t b)
{
    if (a >= c->nblocks || b >= c->nblocks || !c->blocks[b].reachable)
        return false;
    while (b != PTX_NO_INDEX && b != a)
        b = c->blocks[b].idom;
    return b == a;
}

/* ---- the whole ---- */
struct ptx_cfg *ptx_cfg_build(const struct ptx_func *f)
{
    struct arena *a = arena_new(f->ninsts > 4000 ? 0 : 16384);
    struct ptx_cfg *c = a ? ARENA_NEW(a, struct ptx_cfg) : NULL;
    if (!c) {
        arena_free(a);
        return NULL;
    }
    c->arena = a;
    c->func = f;
    uint32_t *work = NULL;
    bool ok = make_blocks(c) && make_successors(c) && make_predecessors(c) && (work = base_alloc(3 * ((size_t)c->nblocks + 1) * sizeof *work)) &&
              make_dominators(c, work) && cfg_make_loops(c) && cfg_make_refs(c);
    base_free(work);
    if (ok)
        return c;
    arena_free(a);
    return NULL;
}

void ptx_cfg_free(struct ptx_cfg *c)
{
    if (c)
        arena_free(c->arena);
}
