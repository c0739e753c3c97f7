/* What code must keep when it stands in two copies, or under a guard.
 *
 *   before                          wrong                            right
 *     @%p bra $over;                  @!%p setp.lt.s32 %p, %r5, 9;     mov.pred keep, %p;
 *     setp.lt.s32 %p, %r5, 9;         @!%p add.u32 %r6, %r6, 1;        @!keep setp.lt.s32 %p, %r5, 9;
 *     add.u32 %r6, %r6, 1;                                             @!keep add.u32 %r6, %r6, 1;
 *   $over: */
#include "engine/pass/copies.h"

#include "engine/pass/pass_int.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

bool copies_guard_stays(const struct ptx_func *f, uint32_t guard, uint32_t from, uint32_t to)
{
    bool written = false;
    for (uint32_t k = from; k + 1 < to && !written; k++)
        written = ptx_writes_reg(&f->insts[k], guard);
    return !written;
}

bool copies_inner(const struct ptx_func *f, uint32_t stmt)
{
    uint32_t depth = 0;
    for (uint32_t k = 0; k < stmt && k < f->nstmts; k++)
        depth += f->stmts[k].kind == STMT_OPEN ? 1u : f->stmts[k].kind == STMT_CLOSE ? -1u : 0;
    return depth != 0;
}

const struct ptx_symbol *copies_shared_variable(const struct ptx_func *f, bool whole)
{
    for (uint32_t k = 0; k < f->nvars; k++) {
        const struct ptx_symbol *v = f->vars[k];
        bool own = v->space == PTX_SPACE_LOCAL || v->space == PTX_SPACE_PARAM ||
                   v->space == PTX_SPACE_CONST || v->linkage == LINK_EXTERN;
        if (!own && (whole || copies_inner(f, v->stmt)))
            return v;
    }
    return NULL;
}

const struct ptx_symbol *copies_inner_variable(const struct ptx_func *f)
{
    for (uint32_t k = 0; k < f->nvars; k++)
        if (f->vars[k]->space != PTX_SPACE_PARAM && copies_inner(f, f->vars[k]->stmt))
            return f->vars[k];
    return NULL;
}

static const struct ptx_inst *warpgroup_of(const struct ptx_func *f)
{
    for (uint32_t k = 0; k < f->ninsts; k++)
        if (ptx_is(&f->insts[k], IS_WARPGROUP))
            return &f->insts[k];
    return NULL;
}

const struct ptx_inst *copies_warpgroup(const struct ptx_func *f, const struct pass_funcs *callees)
{
    const struct ptx_inst *i = warpgroup_of(f);
    for (uint32_t k = 0; k < callees->n && !i; k++)
        i = warpgroup_of(callees->v[k]);
    return i;
}
