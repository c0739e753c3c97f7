/* The launch's shape, read from the code: see shape.h.
 *
 * Components of %tid and %ctaid that only go into a rank are no dimensions: cooperative groups'
 * thread_rank() reads all three, as (z*ntid.y + y)*ntid.x + x, and means a block of any shape. */
#include "engine/session/infer/shape.h"

#include "engine/base/base.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/flow/callgraph.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"

#define DYNAMIC_SHARED 16384u /* fits every device */

/* What a register holds, as bits, by component c. */
#define INDEX(c) (1u << (c))       /* index c, maybe widened */
#define SIZE(c)  (1u << (4 + (c))) /* size c, or a product with it */
/* indices above c, counted in units of c; c's own may have been added */
#define RANK(c) (1u << (8 + (c)))
struct ranks {
    const struct ptx_func *f;
    uint16_t *holds /* by register */;
    enum ptx_sreg index, size;
    bool grid_sync; /* the function reads what a cooperative launch has for the grid's barrier */
};

static bool multiplies(const struct ptx_inst *i)
{
    enum ptx_addr_rule rule = ptx_rule_of(i);
    return rule == ADDR_MUL_LO || rule == ADDR_MUL_WIDE || rule == ADDR_MAD_LO || rule == ADDR_MAD_WIDE;
}

/* Into other bits, too. */
static bool copies(const struct ptx_inst *i)
{
    enum ptx_addr_rule rule = ptx_rule_of(i);
    return rule == ADDR_COPY || rule == ADDR_CVT;
}

static unsigned held(const struct ranks *r, const struct ptx_operand *o)
{
    if (o->kind == OPND_REG)
        return r->holds[o->index];
    if (o->kind != OPND_SREG || o->comp < 0 || o->comp >= GUESS_DIMS)
        return 0;
    return o->index == r->index ? INDEX(o->comp) : o->index == r->size ? SIZE(o->comp) : 0;
}

/* A product counts index c, or the rank down to c, in units of what lies below. */
static unsigned product(unsigned a, unsigned b)
{
    unsigned out = 0;
    for (int c = 1; c < GUESS_DIMS; c++) {
        if ((a & (INDEX(c) | RANK(c)) && b & SIZE(c - 1)) ||
            (b & (INDEX(c) | RANK(c)) && a & SIZE(c - 1)))
            out |= RANK(c - 1);
        if (a & SIZE(c) && b & SIZE(c - 1))
            out |= SIZE(c) | SIZE(c - 1);
        if (b & SIZE(c) && a & SIZE(c - 1))
            out |= SIZE(c) | SIZE(c - 1);
    }
    return out;
}

static unsigned result(const struct ranks *r, const struct ptx_inst *i)
{
    unsigned a = i->nopnds > 1 ? held(r, &i->opnds[1]) : 0,
             b = i->nopnds > 2 ? held(r, &i->opnds[2]) : 0;
    if (copies(i))
        return a;
    if (multiplies(i))
        return product(a, b);
    return ptx_rule_of(i) == ADDR_ADD ? (a | b) & (RANK(0) | RANK(1)) : 0;
}

static void follow(void *ctx, struct ptx_solver *s, uint32_t inst)
{
    struct ranks *r = ctx;
    const struct ptx_inst *i = &r->f->insts[inst];
    if (!i->nopnds || i->opnds[0].kind != OPND_REG)
        return;
    uint16_t *d = &r->holds[i->opnds[0].index], now = (uint16_t)(*d | result(r, i));
    if (now != *d)
        ptx_ask_all(s);
    *d = now;
}

static bool syncs_grid(const struct ptx_func *f)
{
    for (uint32_t n = 0; n < f->ninsts; n++)
        for (unsigned k = 0; k < f->insts[n].nopnds; k++)
            if (f->insts[n].opnds[k].kind == OPND_SREG && f->insts[n].opnds[k].index == PTX_SREG_ENVREG2)
                return true;
    return false;
}

/* Is it the first CTA, or thread? As grid_group::sync() asks: x + y == -z. */
static bool asks_for_first(const struct ptx_inst *i, unsigned other)
{
    enum ptx_addr_rule rule = ptx_rule_of(i);
    return rule == ADDR_NEG || (rule == ADDR_ADD && other & (INDEX(0) | INDEX(1) | INDEX(2)));
}

/* Operand k, which holds index c, goes into a rank. */
static bool into_rank(const struct ranks *r, const struct ptx_inst *i, unsigned k, int c)
{
    unsigned other = 0;
    if (copies(i) || (r->grid_sync && k &&
                      asks_for_first(i, k < 3 && 3 - k < i->nopnds ? held(r, &i->opnds[3 - k]) : 0)))
        return true;
    if (multiplies(i) && k < 3)
        return held(r, &i->opnds[3 - k]) & SIZE(c - 1);
    if (multiplies(i))
        other = product(held(r, &i->opnds[1]), held(r, &i->opnds[2]));
    else if (ptx_rule_of(i) == ADDR_ADD)
        other = held(r, &i->opnds[3 - k]);
    return other & RANK(c);
}

/* Component c is read by itself somewhere. */
static bool reads_alone(const struct ranks *r, int c)
{
    for (uint32_t n = 0; n < r->f->ninsts; n++)
        for (unsigned k = 0; k < r->f->insts[n].nopnds; k++)
            if ((k > 0 || r->f->insts[n].opnds[0].kind != OPND_REG) &&
                held(r, &r->f->insts[n].opnds[k]) & INDEX(c) && !into_rank(r, &r->f->insts[n], k, c))
                return true;
    return false;
}

/* 1 to 3: up to the last component that is not only part of a rank, or of comparisons. */
static bool count_dims(const struct ptx_func *f, enum ptx_sreg index, enum ptx_sreg size, unsigned *dims)
{
    struct ranks r = { f, base_alloc((f->nregs + 1) * sizeof *r.holds), index, size, syncs_grid(f) };
    if (!r.holds || !ptx_solve(f->ninsts, PTX_FORWARD, follow, &r)) {
        base_free(r.holds);
        return false;
    }
    int reaches = 1;
    for (int c = GUESS_DIMS - 1; c >= (int)*dims && reaches >= 0; c--) {
        reaches = reads_alone(&r, c) ? infer_reaches_memory(f, index, c) : 0;
        if (reaches > 0)
            *dims = (unsigned)c + 1;
    }
    base_free(r.holds);
    return reaches >= 0;
}

bool infer_names(const struct ptx_func *f, const struct ptx_symbol *s)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        for (unsigned k = 0; k < f->insts[i].nopnds; k++)
            if (f->insts[i].opnds[k].sym == s &&
                (f->insts[i].opnds[k].kind == OPND_SYM || f->insts[i].opnds[k].kind == OPND_ADDR))
                return true;
    return false;
}

bool infer_asks_block(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        for (unsigned k = 0; k < f->insts[i].nopnds; k++)
            if (f->insts[i].opnds[k].kind == OPND_SREG && f->insts[i].opnds[k].index == PTX_SREG_NTID &&
                f->insts[i].opnds[k].comp == 0)
                return true;
    return false;
}

/* ---- one function that the kernel may come to ---- */
static bool tells_place(const struct ptx_operand *o)
{
    return o->kind == OPND_SREG &&
           (o->index == PTX_SREG_TID || o->index == PTX_SREG_CTAID || o->index == PTX_SREG_LANEID ||
            o->index == PTX_SREG_WARPID || o->index == PTX_SREG_CLUSTERID ||
            o->index == PTX_SREG_CLUSTER_CTAID || o->index == PTX_SREG_CLUSTER_CTARANK ||
            o->index == PTX_SREG_SMID ||
            (o->index >= PTX_SREG_LANEMASK_EQ && o->index <= PTX_SREG_LANEMASK_GT));
}

/* By its index, by the size of the grid, or by what it draws from a counter: then all dimensions. */
static void read_ctas(const struct ptx_inst *i, bool cta[GUESS_DIMS])
{
    bool all = ptx_is(i, IS_RETURNS_OLD) && i->space != PTX_SPACE_SHARED;
    for (unsigned k = 0; k < i->nopnds; k++) {
        const struct ptx_operand *o = &i->opnds[k];
        if (o->kind != OPND_SREG)
            continue;
        bool one = (o->index == PTX_SREG_CTAID || o->index == PTX_SREG_NCTAID) && o->comp < GUESS_DIMS;
        if (one)
            cta[o->comp] = true;
        all |= !one && tells_place(o) && o->index != PTX_SREG_TID && o->index != PTX_SREG_LANEID;
    }
    for (unsigned d = 0; all && d < GUESS_DIMS; d++)
        cta[d] = true;
}

/* What the runtime brings writes no buffer; functions that are there are looked at too. */
static bool calls_elsewhere(const struct ptx_inst *i)
{
    static const char *const brought[] = { "vprintf", "malloc", "free", "__assertfail" };
    for (unsigned k = 0; k < i->nopnds; k++) {
        const struct ptx_symbol *s = i->opnds[k].kind == OPND_SYM ? i->opnds[k].sym : NULL;
        if (!s || s->kind != SYM_FUNC)
            continue;
        bool known = s->func && s->func->def;
        for (size_t n = 0; !known && n < ARRAY_LEN(brought); n++)
            known = str_is(s->name, brought[n]);
        return !known;
    }
    return true; /* through a register */
}

static bool writes_unlisted(const struct ptx_inst *i)
{
    switch (ptx_effect_of(i)) {
    case EFFECT_ASYNC_COPY:
    case EFFECT_TENSOR:
    case EFFECT_SURFACE:
    case EFFECT_OTHER: return true;
    case EFFECT_CALL: return calls_elsewhere(i);
    default: return false;
    }
}

/* Nothing but the thread's index along x is ever in the register. */
static bool is_thread(const struct ptx_func *f, uint32_t reg)
{
    bool any = false;
    for (uint32_t k = 0; k < f->ninsts; k++) {
        const struct ptx_inst *i = &f->insts[k];
        if (!i->nopnds || i->opnds[0].kind != OPND_REG || i->opnds[0].index != reg)
            continue;
        const struct ptx_operand *o = i->nopnds == 2 && ptx_is_move(i) ? &i->opnds[1] : NULL;
        if (!o || o->kind != OPND_SREG || o->index != PTX_SREG_TID || o->comp != 0)
            return false;
        any = true;
    }
    return any;
}

/* Steps of a sum over the block ask for threads below half of it, a quarter, and so on. */
static void read_comparison(const struct ptx_func *f, const struct ptx_inst *i, struct infer_shape *s)
{
    const struct ptx_operand *a, *b;
    if (!ptx_compared(i, &a, &b) || a->kind != OPND_REG || !ptx_is_number(b) || b->imm < 1 ||
        b->imm > 1024)
        return;
    uint32_t n = (uint32_t)b->imm + (b->imm & 1); /* > 255 is >= 256 */
    if (n > s->beyond && !(n & (n - 1)) && is_thread(f, a->index))
        s->beyond = n;
}

static void tells_thread(const struct ptx_operand *o, struct infer_shape *s)
{
    s->one_thread &= !tells_place(o);
    s->threads |= tells_place(o) && o->index != PTX_SREG_CTAID && o->index != PTX_SREG_CLUSTERID &&
                  o->index != PTX_SREG_CLUSTER_CTAID && o->index != PTX_SREG_CLUSTER_CTARANK;
}

static bool read_function(const struct ptx_module *m, const struct ptx_func *f, struct infer_shape *s)
{
    for (uint32_t i = 0; i < f->ninsts; i++) {
        s->writes_unlisted |= writes_unlisted(&f->insts[i]);
        s->products |= ptx_role_of(&f->insts[i]) == ROLE_PRODUCT;
        unsigned k_of_product;
        s->lanes |= ptx_named_lanes(&f->insts[i]) != NULL || ptx_has_mod(&f->insts[i], PTX_MOD_ALIGNED);
        if (ptx_role_of(&f->insts[i]) == ROLE_PRODUCT)
            ptx_shape_of(&f->insts[i], &s->tile[0], &s->tile[1], &k_of_product);
        read_ctas(&f->insts[i], s->cta);
        read_comparison(f, &f->insts[i], s);
        for (unsigned k = 0; k < f->insts[i].nopnds; k++)
            tells_thread(&f->insts[i].opnds[k], s);
    }
    s->tiles |= f->nvars > 0;
    s->meets |= syncs_grid(f);
    for (uint32_t i = 0; i < m->nglobals; i++) {
        const struct ptx_symbol *g = m->globals[i];
        if (g->space != PTX_SPACE_SHARED || !infer_names(f, g))
            continue;
        s->tiles = true;
        s->shared = g->unsized ? DYNAMIC_SHARED : s->shared; /* how much is the launch's business */
    }
    return count_dims(f, PTX_SREG_CTAID, PTX_SREG_NCTAID, &s->dims) &&
           count_dims(f, PTX_SREG_TID, PTX_SREG_NTID, &s->block_dims);
}

bool infer_shape(const struct ptx_module *m, const struct ptx_func *kernel, struct infer_shape *out)
{
    const struct ptx_func **list = base_alloc((m->nfuncs + 1) * sizeof *list);
    uint32_t *place = base_alloc((m->nfuncs + 1) * sizeof *place);
    bool ok = list && place;
    *out = (struct infer_shape){ .dims = 1, .block_dims = 1, .one_thread = true };
    for (uint32_t k = 0, n = ok ? ptx_reachable(m, kernel, list, place) : 0; ok && k < n; k++)
        ok = read_function(m, list[k], out);
    out->dims = out->dims > out->block_dims ? out->dims : out->block_dims;
    out->one_thread &= !out->lanes; /* whole warps run it */
    base_free(list);
    base_free(place);
    return ok;
}
