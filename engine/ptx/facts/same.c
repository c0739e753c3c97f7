/* Loads that an assembler makes once. Within a block ptxas reads an address again only where something
 * may have changed it: a store or an atomic to that space, a fence, a barrier; read-only loads (.nc) and
 * constants it never reads again. Loads that are volatile, relaxed or acquire are all made. Seen in what
 * ptxas 13.0 makes for sm_90 (tests/tool/same_loads.py). */
#include "engine/ptx/facts/same.h"

#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"

#include <string.h>

#define OPEN 256u /* loads of a block that are looked back at */

struct scan {
    const struct ptx_inst *inst;
    uint32_t open[OPEN], n; /* instructions: loads whose value is still what memory has */
};

static bool writes_any(const struct ptx_inst *i)
{
    struct ptx_regs r = ptx_regs_of(i, PTX_WRITE);
    return ptx_next_reg(&r);
}

static bool is_plain_load(const struct ptx_inst *i)
{
    bool strong = ptx_has_mod(i, PTX_MOD_VOLATILE) || ptx_has_mod(i, PTX_MOD_RELAXED) ||
                  ptx_has_mod(i, PTX_MOD_ACQUIRE) || ptx_has_mod(i, PTX_MOD_MMIO);
    return ptx_effect_of(i) == EFFECT_LOAD && !i->guarded && !strong && i->nopnds == 2 &&
           writes_any(i) && i->opnds[1].kind == OPND_ADDR && i->opnds[1].base == BASE_REG &&
           (i->space == PTX_SPACE_GLOBAL || i->space == PTX_SPACE_SHARED || i->space == PTX_SPACE_CONST);
}

static bool is_same(const struct ptx_inst *x, const struct ptx_inst *y)
{
    return x->op == y->op && x->nmods == y->nmods &&
           !memcmp(x->mods, y->mods, x->nmods * sizeof *x->mods) &&
           x->opnds[1].index == y->opnds[1].index && x->opnds[1].imm == y->opnds[1].imm;
}

bool ptx_ends_load(const struct ptx_inst *load, const struct ptx_inst *i)
{
    for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);)
        if (r.reg == load->opnds[1].index || ptx_writes_reg(load, r.reg))
            return true;
    enum ptx_effect e = ptx_effect_of(i);
    if (ptx_has_mod(load, PTX_MOD_NC) || load->space == PTX_SPACE_CONST || e == EFFECT_NONE ||
        e == EFFECT_LOAD || e == EFFECT_PREFETCH || e == EFFECT_WARP)
        return false;
    bool writes = e == EFFECT_STORE || e == EFFECT_ATOMIC;
    uint8_t space = i->space == PTX_SPACE_SHARED_CLUSTER ? PTX_SPACE_SHARED : i->space;
    return !writes || space == load->space || space == PTX_SPACE_GENERIC;
}

static void close_loads(struct scan *s, const struct ptx_inst *i)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n; k++)
        if (!ptx_ends_load(&s->inst[s->open[k]], i))
            s->open[n++] = s->open[k];
    s->n = n;
}

/* Index of the open load that has what `i` asks for, plus one; 0: none. */
static uint32_t same_as(const struct scan *s, const struct ptx_inst *i)
{
    for (uint32_t k = 0; k < s->n; k++)
        if (is_same(&s->inst[s->open[k]], i))
            return s->open[k] + 1;
    return 0;
}

uint32_t *ptx_same_loads(const struct ptx_cfg *g)
{
    const struct ptx_func *f = g->func;
    struct scan s = { .inst = f->insts };
    uint32_t *same = base_alloc((f->ninsts + 1) * sizeof *same);
    for (uint32_t n = 0; same && n < f->ninsts; n++) {
        const struct ptx_inst *i = &f->insts[n];
        if (!n || g->block_of[n] != g->block_of[n - 1])
            s.n = 0;
        bool plain = is_plain_load(i);
        same[n] = plain ? same_as(&s, i) : 0;
        close_loads(&s, i);
        if (plain && !same[n] && s.n < OPEN && !ptx_writes_reg(i, i->opnds[1].index))
            s.open[s.n++] = n;
    }
    return same;
}
