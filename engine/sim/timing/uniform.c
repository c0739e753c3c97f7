/* Which atomics have an address that the assembler knows to be one for all lanes: it makes one machine
 * atomic of such a warp's integers. A register varies when it comes from a lane's number, a load, an
 * atomic or a warp operation, or from one that varies; or is written under a guard that varies. Order
 * and branches are not looked at. */
#include "engine/base/base.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/decoded.h"
#include "engine/sim/timing/plan.h"

#include <string.h>

static bool is_same_for_lanes(enum ptx_sreg r)
{
    static const char *const same[] = { "ntid",   "ctaid",   "nctaid", "smid",   "nsmid",
                                        "warpid", "nwarpid", "gridid", "cluster" };
    const char *name = ptx_sreg_name(r);
    if (*name == '%')
        name++;
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        if (strncmp(name, same[i], strlen(same[i])) == 0)
            return true;
    return false;
}

static bool makes_varying(const struct exec_inst *in)
{
    const struct ptx_inst *i = in->ptx;
    switch (ptx_op_info(i->op)->effect) {
    case EFFECT_LOAD: return !ptx_has_mod(i, PTX_MOD_PARAM) || !in->func->ptx->entry;
    case EFFECT_ATOMIC:
    case EFFECT_WARP:
    case EFFECT_CALL: return true;
    default: break;
    }
    for (unsigned k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_SREG && !is_same_for_lanes((enum ptx_sreg)i->opnds[k].index))
            return true;
    return false;
}

/* One pass over f; true when something more was found to vary. */
static bool spread_once(const struct sim_program *p, const struct exec_func *f, bool *varies)
{
    bool more = false;
    for (uint32_t i = f->first; i < f->first + f->n; i++) {
        const struct exec_inst *in = &p->code[i];
        bool v = makes_varying(in);
        for (uint32_t k = in->ndst; k < (uint32_t)in->ndst + in->nsrc; k++)
            v |= varies[in->regs[k]];
        for (uint32_t k = 0; v && k < in->ndst; k++) {
            more |= !varies[in->regs[k]];
            varies[in->regs[k]] = true;
        }
    }
    return more;
}

static bool has_one_address(const struct exec_inst *in, const bool *varies)
{
    for (unsigned k = 0; k < in->ptx->nopnds; k++) {
        const struct ptx_operand *o = &in->ptx->opnds[k];
        if (o->kind == OPND_ADDR && o->base == BASE_REG)
            return !varies[o->index];
    }
    return true; /* a variable's name */
}

void timing_uniform(struct timing_plan *t)
{
    for (uint32_t k = 0; k < t->p->nfuncs; k++) {
        const struct exec_func *f = &t->p->funcs[k];
        bool *varies = ARENA_ARRAY(t->arena, bool, f->nregs + 1);
        if (!varies)
            return;
        memset(varies, 0, (f->nregs + 1) * sizeof *varies);
        while (spread_once(t->p, f, varies))
            continue;
        for (uint32_t i = f->first; i < f->first + f->n; i++)
            if (ptx_op_info(t->p->code[i].ptx->op)->effect == EFFECT_ATOMIC &&
                has_one_address(&t->p->code[i], varies))
                t->op[i].flags |= TIMING_ONE_WORD;
    }
}
