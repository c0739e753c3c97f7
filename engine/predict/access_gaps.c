/* The gap between two memory accesses of a warp, from the code alone: how many instructions, and
 * whether the later access can go out before the earlier ones are answered. The assembler moves the
 * loads of a basic block together, so inside one a load waits only for loads that its own operands need, and
 * behind a store that may write what it reads for those that the store needs; across blocks it waits. */
#include "engine/predict/request_trace.h"
#include "engine/ptx/facts/facts.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"

struct tune_code {
    const struct ptx_func *f;
    const struct ptx_cfg *cfg;
    /* [ninsts + 1]: instructions that cost something, before this one */
    uint32_t *weight;
    uint32_t *loop;       /* [nloops]: those inside */
    uint32_t *prefetches; /* [ninsts + 1]: before this one */
    bool *needs; /* [ninsts]: cannot go out before the loads of its block before it are answered */
};

/* Casts, parameter reads and register moves are folded into what uses them. */
static bool is_free(const struct ptx_inst *i)
{
    return ptx_is_address_cast(i) || ptx_is_move(i) || ptx_is_param_load(i);
}

static bool is_load(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    return (e == EFFECT_LOAD || e == EFFECT_ATOMIC) && i->space != PTX_SPACE_PARAM &&
           i->space != PTX_SPACE_CONST;
}

/* ---- registers that hold what a load of this block brought: since[reg] is block + 1 ---- */
/* Spaces in which a store waits for what a load brings, one bit each. The assembler keeps a load behind it
 * unless their spaces are known to be different, as timed launches do (engine/sim/timing/order.c). */
static bool stands_behind(uint32_t stores, const struct ptx_inst *load)
{
    uint32_t own = 1u << load->space, generic = 1u << PTX_SPACE_GENERIC;
    return load->space == PTX_SPACE_GENERIC ? stores != 0 : (stores & (own | generic)) != 0;
}

static void taint_block(struct tune_code *c, uint32_t block, uint32_t *since)
{
    const struct ptx_block *b = &c->cfg->blocks[block];
    uint32_t stores = 0;
    for (uint32_t i = b->first; i < b->first + b->n; i++) {
        const struct ptx_inst *in = &c->f->insts[i];
        bool reads = false;
        for (struct ptx_regs r = ptx_regs_of(in, PTX_READ); ptx_next_reg(&r);)
            reads |= since[r.reg] == block + 1;
        c->needs[i] = reads || (is_load(in) && stands_behind(stores, in));
        if (c->needs[i] && is_load(in))
            stores = 0; /* what comes after it need not wait for them again */
        if (reads && ptx_effect_of(in) == EFFECT_STORE)
            stores |= 1u << in->space;
        for (struct ptx_regs r = ptx_regs_of(in, PTX_WRITE); ptx_next_reg(&r);)
            since[r.reg] = reads || is_load(in) ? block + 1 : 0;
    }
}

static bool fill(struct tune_code *c)
{
    const struct ptx_func *f = c->f;
    uint32_t *since = base_alloc(((size_t)f->nregs + 1) * sizeof *since);
    if (!since)
        return false;
    for (uint32_t i = 0; i < f->ninsts; i++) {
        c->weight[i + 1] = c->weight[i] + !is_free(&f->insts[i]);
        c->prefetches[i + 1] =
            c->prefetches[i] + (ptx_op_info(f->insts[i].op)->effect == EFFECT_PREFETCH);
    }
    for (uint32_t b = 0; b < c->cfg->nblocks; b++)
        taint_block(c, b, since);
    for (uint32_t l = 0; l < c->cfg->nloops; l++)
        for (uint32_t k = 0; k < c->cfg->loops[l].nblocks; k++) {
            const struct ptx_block *b = &c->cfg->blocks[c->cfg->loops[l].blocks[k]];
            c->loop[l] += c->weight[b->first + b->n] - c->weight[b->first];
        }
    base_free(since);
    return true;
}

struct tune_code *tune_code_of(const struct ptx_func *f)
{
    struct tune_code *c = base_alloc(sizeof *c);
    if (!c)
        return NULL;
    c->f = f;
    c->cfg = ptx_cfg_of(f);
    c->weight = base_alloc(((size_t)f->ninsts + 1) * sizeof *c->weight);
    c->prefetches = base_alloc(((size_t)f->ninsts + 1) * sizeof *c->prefetches);
    c->needs = base_alloc((size_t)f->ninsts + 1);
    c->loop = c->cfg ? base_alloc(((size_t)c->cfg->nloops + 1) * sizeof *c->loop) : NULL;
    if (c->cfg && c->weight && c->prefetches && c->needs && c->loop && fill(c))
        return c;
    tune_code_free(c);
    return NULL;
}

void tune_code_free(struct tune_code *c)
{
    if (!c)
        return;
    BASE_FREE(c->weight, c->prefetches, c->needs, c->loop, c);
}

/* The innermost loop around both; PTX_NO_INDEX: none. */
static uint32_t loop_around(const struct tune_code *c, uint32_t a, uint32_t b)
{
    const struct ptx_cfg *g = c->cfg;
    for (uint32_t l = g->blocks[g->block_of[a]].loop; l != PTX_NO_INDEX; l = g->loops[l].parent)
        for (uint32_t k = g->blocks[g->block_of[b]].loop; k != PTX_NO_INDEX; k = g->loops[k].parent)
            if (k == l)
                return l;
    return PTX_NO_INDEX;
}

uint32_t tune_code_between(const struct tune_code *c, uint32_t from, uint32_t to)
{
    if (from == PTX_NO_INDEX)
        return c->weight[to];
    if (to > from)
        return c->weight[to] - c->weight[from + 1];
    uint32_t l = loop_around(c, from, to), back = c->weight[from + 1] - c->weight[to];
    return l != PTX_NO_INDEX && c->loop[l] > back ? c->loop[l] - back : 0;
}

uint32_t tune_code_prefetches(const struct tune_code *c, uint32_t inst)
{
    return c->prefetches[inst];
}

bool tune_code_waits(const struct tune_code *c, uint32_t from, uint32_t to)
{
    return from == PTX_NO_INDEX || to <= from || c->cfg->block_of[from] != c->cfg->block_of[to] ||
           c->needs[to];
}

enum load_path tune_code_path(const struct tune_code *c, uint32_t inst)
{
    const struct ptx_inst *i = &c->f->insts[inst];
    enum ptx_mod op = ptx_mod_of(i, MODCAT_CACHE), order = ptx_mod_of(i, MODCAT_SEM);
    if (ptx_has_mod(i, PTX_MOD_NC))
        return ptx_mod_of(i, MODCAT_L1) == PTX_MOD_L1_NO_ALLOCATE ? PATH_LOOK : PATH_READ_ONLY;
    if (op == PTX_MOD_CG || op == PTX_MOD_CV || order == PTX_MOD_VOLATILE || order == PTX_MOD_RELAXED ||
        order == PTX_MOD_ACQUIRE)
        return PATH_PAST;
    return op == PTX_MOD_CA                                     ? PATH_CA
           : ptx_mod_of(i, MODCAT_L1) == PTX_MOD_L1_NO_ALLOCATE ? PATH_LOOK
                                                                : PATH_PLAIN;
}

bool tune_code_is_red(const struct tune_code *c, uint32_t inst)
{
    const struct ptx_inst *i = &c->f->insts[inst];
    return ptx_effect_of(i) == EFFECT_ATOMIC && !ptx_is(i, IS_RETURNS_OLD);
}
