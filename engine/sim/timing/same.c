/* Loads that an assembler makes once. Within a block ptxas reads an address again only where something
 * may have changed it: a store or an atomic to that space, a fence, a barrier; read-only loads (.nc) and
 * constants it never reads again. Loads that are volatile, relaxed or acquire are all made. Seen in what
 * ptxas 13.0 makes for sm_90 (tests/tool/same_loads.py). */
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/decoded.h"
#include "engine/sim/timing/plan.h"

#include <string.h>

#define OPEN 256u /* loads of a block that are looked back at */

struct scan {
    const struct exec_inst *code;
    uint32_t open[OPEN], n; /* instructions: loads whose value is still what memory has */
};

static bool is_plain_load(const struct exec_inst *in)
{
    const struct ptx_inst *i = in->ptx;
    bool strong = ptx_has_mod(i, PTX_MOD_VOLATILE) || ptx_has_mod(i, PTX_MOD_RELAXED) ||
                  ptx_has_mod(i, PTX_MOD_ACQUIRE) || ptx_has_mod(i, PTX_MOD_MMIO);
    return ptx_effect_of(i) == EFFECT_LOAD && !i->guarded && !strong && in->ndst && i->nopnds == 2 &&
           i->opnds[1].kind == OPND_ADDR && i->opnds[1].base == BASE_REG &&
           (in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_SHARED ||
            in->space == PTX_SPACE_CONST);
}

static bool stays(const struct exec_inst *load)
{
    return load->policy.nc || load->space == PTX_SPACE_CONST;
}

static bool is_same(const struct exec_inst *a, const struct exec_inst *b)
{
    const struct ptx_inst *x = a->ptx, *y = b->ptx;
    return x->op == y->op && x->nmods == y->nmods &&
           !memcmp(x->mods, y->mods, x->nmods * sizeof *x->mods) &&
           x->opnds[1].index == y->opnds[1].index && x->opnds[1].imm == y->opnds[1].imm;
}

/* After `in` the value of an open load may be another's, or memory another. */
static bool ends(const struct exec_inst *load, const struct exec_inst *in)
{
    for (uint32_t k = 0; k < in->ndst; k++)
        if (in->regs[k] == load->ptx->opnds[1].index || writes_reg(load, in->regs[k]))
            return true;
    enum ptx_effect e = ptx_effect_of(in->ptx);
    if (stays(load) || e == EFFECT_NONE || e == EFFECT_LOAD || e == EFFECT_PREFETCH || e == EFFECT_WARP)
        return false;
    bool writes = e == EFFECT_STORE || e == EFFECT_ATOMIC;
    return !writes || in->space == load->space || in->space == PTX_SPACE_GENERIC;
}

static void close_loads(struct scan *s, const struct exec_inst *in)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n; k++)
        if (!ends(&s->code[s->open[k]], in))
            s->open[n++] = s->open[k];
    s->n = n;
}

/* Index of the open load that has what `i` asks for, plus one; 0: none. */
static uint32_t same_as(const struct scan *s, uint32_t i)
{
    for (uint32_t k = 0; k < s->n; k++)
        if (is_same(&s->code[s->open[k]], &s->code[i]))
            return s->open[k] + 1;
    return 0;
}

static void scan_function(struct timing_plan *t, const struct exec_func *f)
{
    struct scan s = { .code = t->p->code };
    for (uint32_t i = f->first; i < f->first + f->n; i++) {
        const struct exec_inst *in = &t->p->code[i];
        if (in->leader & LEADS_BLOCK)
            s.n = 0;
        uint32_t same = is_plain_load(in) ? same_as(&s, i) : 0;
        close_loads(&s, in);
        if (same)
            t->op[i] = (struct timing_op){ .flags = TIMING_FREE, .unit = UNIT_MOVE, .same = same };
        else if (is_plain_load(in) && s.n < OPEN && !writes_reg(in, in->ptx->opnds[1].index))
            s.open[s.n++] = i;
    }
}

void timing_same_loads(struct timing_plan *t)
{
    for (uint32_t k = 0; k < t->p->nfuncs; k++)
        scan_function(t, &t->p->funcs[k]);
}
