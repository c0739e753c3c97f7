/* Loads and stores of shared memory that ptxas joins, as ptxas 13.0 does for sm_90 (tests/tool/joined.py).
 *
 * They lie in the same 16 bytes, which begin at a multiple of 16: the register in the address is one, but for
 * a number that is added (multiple.h). Of a multiple of 8, 8 bytes are looked at. Words of 4 bytes: three or
 * four of the 16 are loaded as one, two only where they are the halves of 8; of 8 bytes: two. Stores are
 * joined by four and by two. Loads may have others between them, whatever their order, but nothing after
 * which a load is made again (same.h). Stores may have no other access to shared memory between them. What
 * is guarded, volatile or shorter than a word is made as it is written. */
#include "engine/ptx/facts/joined.h"

#include "engine/ptx/facts/multiple.h"
#include "engine/ptx/facts/same.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

#define WINDOWS 64u /* that are open at once */
#define MEMBERS 8u
#define WIDE    16u /* bytes */

/* 8 or 16 bytes and who accesses them. */
struct window {
    uint32_t root; /* register */
    const struct ptx_symbol *sym;
    int64_t at;             /* its first byte */
    uint8_t bytes, element; /* element: bytes; of a vector that is stored, all of it */
    bool store;
    uint32_t inst[MEMBERS];
    uint8_t words[MEMBERS]; /* a bit for each */
    uint32_t n;
};
struct join {
    const struct ptx_cfg *g;
    const struct ptx_multiple *all;
    struct ptx_joined *out;
    struct window open[WINDOWS];
    uint32_t n;
};

/* ---- what is made of a window ---- */

/* Members with all their words among these become one. */
static void make_one(struct join *x, const struct window *w, uint8_t words, unsigned bytes,
                     unsigned from)
{
    uint32_t first = MEMBERS, last = 0, n = 0;
    for (uint32_t k = 0; k < w->n; k++)
        if (!(w->words[k] & ~words)) {
            first = first == MEMBERS ? k : first;
            last = k;
            n++;
        }
    if (n < 2)
        return;
    uint32_t lead = w->store ? last : first;
    for (uint32_t k = first; k <= last; k++)
        if (k != lead && !(w->words[k] & ~words))
            x->out[w->inst[k]].with = w->inst[lead] + 1;
    unsigned own = 4 * (unsigned)__builtin_ctz(w->words[lead]);
    x->out[w->inst[lead]].bytes = (uint8_t)bytes;
    x->out[w->inst[lead]].before = (uint8_t)(own - from);
}

static void close_window(struct join *x, uint32_t at)
{
    struct window *w = &x->open[at];
    unsigned words = 0, half = w->element == 8 ? 0 : 3;
    for (uint32_t k = 0; k < w->n; k++)
        words |= w->words[k];
    unsigned n = (unsigned)__builtin_popcount(words);
    if (n == 4 || (n == 3 && !w->store && half))
        make_one(x, w, 15, WIDE, 0);
    else
        for (unsigned k = 0; half && k < 2; k++)
            if ((words >> 2 * k & half) == half)
                make_one(x, w, (uint8_t)(half << 2 * k), 8, 8 * k);
    *w = x->open[--x->n];
}

/* ---- which instructions ---- */

static bool is_candidate(const struct ptx_inst *i, unsigned data)
{
    const struct ptx_operand *o = i->opnds;
    return i->space == PTX_SPACE_SHARED && !i->guarded && i->nopnds == 2 && !ptx_is_strong(i) &&
           o[1 - data].kind == OPND_ADDR &&
           (o[1 - data].base == BASE_REG || o[1 - data].base == BASE_SYM);
}

/* Its bytes, 4 to 16; 0: it is not joined with others. */
static unsigned bytes_of(const struct ptx_inst *i)
{
    bool load = ptx_is_plain_load(i), store = ptx_is_plain_store(i);
    if ((!load && !store) || !is_candidate(i, store))
        return 0;
    unsigned bits = ptx_type_bits((enum ptx_type)i->type[0]), bytes = bits / 8 * i->vec;
    return i->ntypes != 1 || (bits != 32 && bits != 64) || bytes > WIDE ? 0 : bytes;
}

static bool lies_in(const struct window *a, const struct window *b)
{
    return a->root == b->root && a->sym == b->sym && a->at == b->at && a->bytes == b->bytes &&
           a->element == b->element && a->store == b->store;
}

/* The window that i lies in, with it alone. False: it is not known that it begins at such a multiple. */
static bool find_window(const struct join *x, const struct ptx_inst *i, struct window *w)
{
    unsigned bytes = bytes_of(i);
    if (!bytes)
        return false;
    bool store = ptx_is_plain_store(i);
    const struct ptx_operand *o = &i->opnds[store ? 0 : 1];
    struct ptx_multiple m = ptx_multiple_at(x->g, x->all, o);
    if (o->base == BASE_REG && (ptx_writes_reg(i, m.root) || ptx_writes_reg(i, o->index)))
        return false;
    unsigned wide = m.zeros >= 4 ? WIDE : m.zeros == 3 ? 8 : 0, single = bytes / i->vec;
    if (!wide || bytes > wide || m.over % (int64_t)single)
        return false;
    unsigned off = (unsigned)m.over & (wide - 1);
    *w = (struct window){ .root = m.root,
                          .sym = o->base == BASE_SYM ? o->sym : NULL,
                          .at = (int64_t)((uint64_t)m.over - off),
                          .bytes = (uint8_t)wide,
                          .element = (uint8_t)(store ? bytes : single),
                          .store = store,
                          .inst = { i->index },
                          .n = 1 };
    w->words[0] = (uint8_t)(((1u << bytes / 4) - 1) << off / 4);
    return off + bytes <= wide;
}

static bool overlaps(const struct window *w, uint8_t words)
{
    for (uint32_t k = 0; k < w->n; k++)
        if (w->words[k] & words)
            return true;
    return false;
}

static void enter(struct join *x, const struct window *now)
{
    for (uint32_t k = 0; k < x->n; k++) {
        struct window *w = &x->open[k];
        if (!lies_in(w, now) || w->n == MEMBERS || (w->store && overlaps(w, now->words[0])))
            continue;
        w->inst[w->n] = now->inst[0];
        w->words[w->n++] = now->words[0];
        return;
    }
    if (x->n < WINDOWS)
        x->open[x->n++] = *now;
}

static bool touches_shared(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    bool accesses = e == EFFECT_LOAD || e == EFFECT_STORE || e == EFFECT_ATOMIC || e == EFFECT_PREFETCH;
    return accesses ? i->space == PTX_SPACE_SHARED || i->space == PTX_SPACE_GENERIC ||
                          i->space == PTX_SPACE_SHARED_CLUSTER
                    : e != EFFECT_NONE && e != EFFECT_WARP;
}

static bool ends_window(const struct join *x, const struct window *w, const struct ptx_inst *i,
                        const struct window *now)
{
    if (w->root != PTX_NO_INDEX && ptx_writes_reg(i, w->root))
        return true;
    if (w->store)
        return touches_shared(i) && (!now || !lies_in(w, now) || overlaps(w, now->words[0]));
    for (uint32_t k = 0; k < w->n; k++)
        if (ptx_ends_load(&x->g->func->insts[w->inst[k]], i))
            return true;
    return false;
}

static void scan(struct join *x, uint32_t n, bool same)
{
    const struct ptx_inst *i = &x->g->func->insts[n];
    struct window now;
    bool found = !same && find_window(x, i, &now);
    for (uint32_t k = x->n; k-- > 0;)
        if (ends_window(x, &x->open[k], i, found ? &now : NULL))
            close_window(x, k);
    if (found)
        enter(x, &now);
}

struct ptx_joined *ptx_join(const struct ptx_cfg *g, const uint32_t *same,
                            const struct ptx_multiple *all)
{
    uint32_t n = g->func->ninsts;
    struct join x = { .g = g, .all = all, .out = base_alloc((n + 1) * sizeof *x.out) };
    for (uint32_t k = 0; x.out && k < n; k++) {
        while (k && x.n && g->block_of[k] != g->block_of[k - 1])
            close_window(&x, x.n - 1);
        scan(&x, k, same[k] != 0);
    }
    while (x.out && x.n)
        close_window(&x, x.n - 1);
    return x.out;
}
