/* The condition under which an access runs, and what thread numbers are in the lanes of a warp. */
#include "engine/analysis/closed_form_cases.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/ptx.h"

static bool fail(const char **why, const char *text)
{
    *why = text;
    return false;
}

/* Adds what decides whether the loops around `block` are entered; true while that is structured. */
static bool add_entries(struct env *v, struct eval_frame *f, uint32_t block, const struct symexpr **cond,
                        const char **why)
{
    const struct symexpr *r = eval_reach(v->e, f, block);
    for (struct ana_loop *l = eval_loop_of(f, block); r; l = l->parent) {
        *cond = symexpr_and(&v->e->pool, *cond, env_concrete(v, r));
        if (!l)
            return true;
        r = eval_reach(v->e, f, l->header);
    }
    return fail(why, "unstructured control flow");
}

static bool add_loops(struct env *v, struct eval_frame *f, uint32_t block, const struct ana_loop **loops,
                      uint32_t *n, const struct symexpr **cond, const char **why)
{
    for (struct ana_loop *l = eval_loop_of(f, block); l; l = l->parent) {
        const struct env_loop *el = &v->loop[l->id];
        if (!el->known)
            return fail(why, l->why ? l->why : "a loop with an unknown trip count");
        if (*n == EVAL_MAX_DIMS)
            return fail(why, "too many nested loops");
        loops[(*n)++] = l;
        if (el->again)
            *cond = symexpr_and(&v->e->pool, *cond, el->again);
    }
    return true;
}

/* Where the access is, then where its function is called, and so on up to the kernel. */
static bool next_frame(struct eval_frame **f, uint32_t *block, const char **why)
{
    struct eval_frame *up = (*f)->parent;
    if (!up)
        return false;
    const struct ptx_inst *call = &up->func->insts[(*f)->call_inst];
    if (call->guarded)
        *why = "a guarded call";
    *block = up->cfg->block_of[call->index];
    *f = up;
    return true;
}

/* The condition under which the access runs, launch put in (guards, branches, callers, loop
 * ends); NULL: the flow around it is not structured. *loops (EVAL_MAX_DIMS) get the loops around it. */
const struct symexpr *closed_form_condition(struct env *v, const struct eval_access *a,
                                            const struct ana_loop **loops, uint32_t *nloops,
                                            const char **why)
{
    const struct symexpr *cond = a->guard ? env_concrete(v, a->guard) : symexpr_const(&v->e->pool, 1, 1);
    struct eval_frame *f = a->frame;
    uint32_t block = a->block;
    *nloops = 0;
    *why = NULL;
    do {
        if (!add_entries(v, f, block, &cond, why))
            return NULL;
    } while (next_frame(&f, &block, why) && !*why);
    if (*why || symexpr_is_value(cond, 0)) /* it never runs, so its loops need no trip count */
        return *why ? NULL : cond;
    f = a->frame;
    block = a->block;
    do {
        if (!add_loops(v, f, block, loops, nloops, &cond, why))
            return NULL;
    } while (next_frame(&f, &block, why));
    return cond;
}

bool closed_form_lane(void *ctx, const struct symexpr *x, int64_t out[32])
{
    const struct closed_form_lanes *w = ctx;
    uint32_t bx = w->v->block.x, by = w->v->block.y;
    if (x->kind != SYMEXPR_SREG || (x->c != PTX_SREG_TID && x->c != PTX_SREG_LANEID))
        return false;
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t t = w->warp * 32 + l;
        out[l] = x->c == PTX_SREG_LANEID ? l
                 : x->op == 0            ? t % bx
                 : x->op == 1            ? t / bx % by
                                         : t / bx / by;
    }
    return true;
}
