/* The functions of a slice: the kernel, and what it calls. */
#include "engine/analysis/slice/slice.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/analysis/symbolic/eval.h"
#include "engine/base/base.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"

struct slice_func *slice_callee(struct slice *s, const struct ptx_inst *i)
{
    struct eval_call c = eval_call_parts(i);
    const struct ptx_func *g = eval_callee(&c);
    return g ? s->of[g->index] : NULL;
}

static bool add_func(struct slice *s, const struct ptx_func *g)
{
    struct slice_func *f = &s->f[s->nf];
    *f = (struct slice_func){ .func = g, .index = g->index, .cfg = eval_cfg(s->v->e, g) };
    f->nvars = g->nregs + eval_cell_count(g);
    f->row = ARENA_ARRAY(s->arena, uint32_t, f->nvars + 1);
    f->needed = ARENA_ARRAY(s->arena, uint8_t, f->nvars + g->ninsts + 1);
    f->tainted = ARENA_ARRAY(s->arena, uint8_t, f->nvars + 1);
    f->first = ARENA_ARRAY(s->arena, uint32_t, g->ninsts + 1);
    if (!f->cfg || arena_failed(s->arena))
        return false;
    s->nf++;
    s->of[g->index] = f;
    for (uint32_t v = g->nregs; v < f->nvars; v++)
        f->needed[v] = 1; /* cells: calls are rare, pass everything */
    return true;
}

bool slice_find_funcs(struct slice *s)
{
    s->f = ARENA_ARRAY(s->arena, struct slice_func, s->v->e->module->nfuncs + 1);
    s->of = ARENA_ARRAY(s->arena, struct slice_func *, s->v->e->module->nfuncs + 1);
    if (!s->f || !s->of || !add_func(s, s->v->e->kernel))
        return false;
    for (uint32_t k = 0; k < s->nf; k++)
        for (uint32_t i = 0; i < s->f[k].func->ninsts; i++) {
            const struct ptx_inst *in = &s->f[k].func->insts[i];
            if (in->op != PTX_OP_CALL || slice_callee(s, in))
                continue;
            struct eval_call c = eval_call_parts(in);
            const struct ptx_func *g = eval_callee(&c);
            if (g && g->has_body && !add_func(s, g))
                return false;
        }
    return true;
}
