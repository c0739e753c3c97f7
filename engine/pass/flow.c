/* Flow facts of one function, conservative: which registers may differ between
 * the threads of a CTA, where the pointer of an address comes from, which
 * returns a barrier may follow, which loops wait for other threads. */
#include "engine/base/base.h"
#include "engine/pass/pass_int.h"
#include "engine/pass/region.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"

#include <string.h>

/* ---- divergence: may two threads of a CTA hold different values? ---- */
static bool sreg_differs(const struct pass_flow *fl, const struct ptx_operand *o)
{
    if (fl->grid)
        return o->index != PTX_SREG_NTID && o->index != PTX_SREG_NCTAID;
    static const char *const same[] = { "%ntid", "%ctaid",  "%nctaid",    "%nsmid",
                                        "%smid", "%gridid", "%clusterid", "%nclusterid" };
    const char *name = ptx_sreg_name((enum ptx_sreg)o->index);
    for (size_t k = 0; k < ARRAY_LEN(same); k++)
        if (name && strcmp(name, same[k]) == 0)
            return false;
    return true;
}

struct reads {
    const struct pass_flow *fl;
    bool divergent;
};

static void read_reg(void *ctx, uint32_t reg, unsigned access)
{
    struct reads *r = ctx;
    if ((access & PTX_READ) && r->fl->divergent[reg])
        r->divergent = true;
}

bool pass_own_param(const struct ptx_func *f, const struct ptx_inst *i)
{
    const struct ptx_operand *a = inst_address(i);
    if (i->space != PTX_SPACE_PARAM)
        return false;
    for (uint32_t k = 0; a && a->base == BASE_SYM && k < f->nparams; k++)
        if (f->params[k] == a->sym)
            return true;
    return f->entry && a && a->base == BASE_REG;
}

/* A value is the same in all threads when its operation is a function of equal operands. What a function
 * is given may differ from thread to thread, what a kernel is given does not. */
static bool result_differs(const struct pass_flow *fl, const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    if (ptx_is(i, IS_CTA_VOTE))
        /* the whole CTA gets one answer; of a part of it, only that part */
        return i->nopnds != 3;
    if (e == EFFECT_LOAD && i->space != PTX_SPACE_CONST && !(fl->f->entry && pass_own_param(fl->f, i)))
        return true;
    if (ptx_is_opaque(i) || (e != EFFECT_NONE && e != EFFECT_LOAD) || ptx_is(i, IS_CARRY_IN))
        return true;
    for (uint8_t k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_SREG && sreg_differs(fl, &i->opnds[k]))
            return true;
    struct reads r = { fl, false };
    ptx_inst_regs(i, read_reg, &r);
    return r.divergent;
}

static bool block_branches_apart(const struct pass_flow *fl, const struct ptx_block *b)
{
    if (!b->n)
        return false;
    const struct ptx_inst *last = &fl->f->insts[b->first + b->n - 1];
    if (ptx_effect_of(last) != EFFECT_BRANCH && !ptx_ends_thread(last))
        return false;
    if (last->guarded)
        return fl->divergent[last->guard];
    struct reads r = { fl, false };
    if (b->nsucc > 1) /* indexed branch */
        ptx_inst_regs(last, read_reg, &r);
    return r.divergent;
}

/* Regions are walked once for each branch that parts threads. Nested in each other they cost the square
 * of the code's length: past this many steps for each block and instruction, all that can be reached
 * from such a branch counts as parted, which is never too little. */
enum { STEPS_EACH = 256 };
struct marks {
    struct pass_flow *fl;
    struct pass_region region;
    uint32_t *queue, nqueue; /* registers whose uses are to be looked at again */
    bool *done;              /* by block: its branch has been followed */
    bool *spoiled;           /* by block: all that is written there is marked */
    uint64_t steps, most;
};

static void mark_written(void *ctx, uint32_t reg, unsigned access)
{
    struct marks *m = ctx;
    if ((access & PTX_WRITE) && !m->fl->divergent[reg]) {
        m->fl->divergent[reg] = true;
        m->queue[m->nqueue++] = reg;
    }
}

/* Another definition or a use outside of the region sees what is written inside. */
static void mark_seen_outside(void *ctx, uint32_t reg, unsigned access)
{
    struct marks *m = ctx;
    const struct ptx_cfg *g = m->fl->cfg;
    const struct ptx_reg_refs *x = &g->regs[reg];
    if (!(access & PTX_WRITE) || m->fl->divergent[reg])
        return;
    bool outside = x->ndefs > 1;
    for (uint32_t k = 0; k < x->nuses && !outside; k++)
        outside = !pass_region_has(&m->region, g->block_of[x->uses[k]]);
    m->steps += x->nuses;
    if (outside)
        mark_written(m, reg, PTX_WRITE);
}

static void each_written(struct marks *m, uint32_t block,
                         void (*fn)(void *ctx, uint32_t reg, unsigned access))
{
    const struct ptx_block *b = &m->fl->cfg->blocks[block];
    for (uint32_t k = b->first; k < b->first + b->n; k++)
        ptx_inst_regs(&m->fl->f->insts[k], fn, m);
    m->steps += b->n + 1u;
}

/* Marks everything reachable from block b. A marked block has all it reaches marked already. */
static void spoil_behind(struct marks *m, uint32_t b)
{
    const struct ptx_cfg *g = m->fl->cfg;
    uint32_t n = 0, *stack = m->region.list;
    stack[n++] = b;
    while (n) {
        const struct ptx_block *k = &g->blocks[stack[--n]];
        for (uint32_t s = 0; s < k->nsucc; s++)
            if (k->succ[s] < g->nblocks && !m->spoiled[k->succ[s]]) {
                m->spoiled[k->succ[s]] = true;
                each_written(m, k->succ[s], mark_written);
                stack[n++] = k->succ[s];
            }
    }
}

/* Values written where threads are apart differ afterwards. */
static void follow_branch(struct marks *m, uint32_t b)
{
    if (m->done[b] || !block_branches_apart(m->fl, &m->fl->cfg->blocks[b]))
        return;
    m->done[b] = true;
    if (m->steps > m->most) {
        spoil_behind(m, b);
        return;
    }
    pass_region_take(&m->region, b);
    m->steps += m->region.n;
    for (uint32_t k = 0; k < m->region.n; k++)
        each_written(m, m->region.list[k], mark_seen_outside);
}

static void look_again(struct marks *m, uint32_t inst)
{
    const struct ptx_cfg *g = m->fl->cfg;
    uint32_t b = g->block_of[inst];
    if (result_differs(m->fl, &m->fl->f->insts[inst]))
        ptx_inst_regs(&m->fl->f->insts[inst], mark_written, m);
    if (b < g->nblocks && inst + 1 == g->blocks[b].first + g->blocks[b].n)
        follow_branch(m, b);
}

static bool divergence(struct pass_flow *fl)
{
    const struct ptx_cfg *g = fl->cfg;
    struct marks m = { .fl = fl, .most = STEPS_EACH * ((uint64_t)g->nblocks + fl->f->ninsts) };
    bool ok = pass_region_make(&m.region, g);
    m.queue = ok ? base_alloc(sizeof *m.queue * ((size_t)fl->f->nregs + 1)) : NULL;
    m.done = ok ? base_alloc(2 * ((size_t)g->nblocks + 1)) : NULL;
    m.spoiled = m.done ? m.done + g->nblocks + 1 : NULL;
    ok = ok && m.queue && m.done;
    for (uint32_t k = 0; ok && k < fl->f->ninsts; k++)
        look_again(&m, k);
    while (ok && m.nqueue) {
        const struct ptx_reg_refs *x = &g->regs[m.queue[--m.nqueue]];
        for (uint32_t k = 0; k < x->nuses; k++)
            look_again(&m, x->uses[k]);
    }
    base_free(m.queue);
    base_free(m.done);
    pass_region_free(&m.region);
    return ok;
}

static bool make(const struct ptx_func *f, struct pass_flow *out, bool grid)
{
    memset(out, 0, sizeof *out);
    out->grid = grid;
    out->f = f;
    out->cfg = ptx_cfg_build(f);
    out->divergent = base_alloc(f->nregs + 1);
    bool ok = out->cfg && out->divergent && divergence(out);
    if (!ok)
        pass_flow_free(out);
    return ok;
}

bool pass_flow_make(const struct ptx_func *f, struct pass_flow *out)
{
    return make(f, out, false);
}
bool pass_flow_make_grid(const struct ptx_func *f, struct pass_flow *out)
{
    return make(f, out, true);
}

void pass_flow_free(struct pass_flow *f)
{
    ptx_cfg_free(f->cfg);
    base_free(f->divergent);
    memset(f, 0, sizeof *f);
}

/* ---- returns before barriers ---- */
static bool block_has(const struct pass_flow *fl, uint32_t b, bool (*is)(const struct ptx_inst *i))
{
    const struct ptx_block *k = &fl->cfg->blocks[b];
    for (uint32_t i = k->first; i < k->first + k->n; i++)
        if (is(&fl->f->insts[i]))
            return true;
    return false;
}

bool inst_is_cta_barrier(const struct ptx_inst *i)
{
    return ptx_is(i, IS_CTA_BARRIER);
}

/* From which blocks a barrier can be reached, those that have one included. */
static void leads_to_barrier(const struct pass_flow *fl, bool *has, bool *leads)
{
    const struct ptx_cfg *g = fl->cfg;
    for (uint32_t b = 0; b < g->nblocks; b++)
        leads[b] = has[b] = block_has(fl, b, inst_is_cta_barrier);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t r = g->nrpo; r-- > 0;) {
            const struct ptx_block *k = &g->blocks[g->rpo[r]];
            for (uint32_t s = 0; s < k->nsucc && !leads[g->rpo[r]]; s++)
                if (k->succ[s] < g->nblocks && leads[k->succ[s]])
                    leads[g->rpo[r]] = more = true;
        }
    }
}

/* A branch that may part the threads of a CTA, with a barrier before they meet again: those that
 * do not come to the barrier must have left the kernel. The compiler often merges all returns into
 * one, so it does not matter whether they meet again at the end. */
const struct ptx_inst *pass_return_before_barrier(const struct pass_flow *fl)
{
    const struct ptx_cfg *g = fl->cfg;
    struct pass_region r;
    const struct ptx_inst *found = NULL;
    bool *has = base_alloc(2 * ((size_t)g->nblocks + 1)), *leads = has ? has + g->nblocks + 1 : NULL;
    if (!has || !pass_region_make(&r, g)) {
        base_free(has);
        return fl->f->ninsts ? &fl->f->insts[0] : NULL; /* cannot tell: refuse */
    }
    leads_to_barrier(fl, has, leads);
    for (uint32_t b = 0; b < g->nblocks && !found; b++) {
        const struct ptx_block *k = &g->blocks[b];
        if (!k->n || !(leads[b] || !k->reachable) || !block_branches_apart(fl, k))
            continue;
        pass_region_take(&r, b);
        for (uint32_t n = 0; n < r.n && !found; n++)
            if (has[r.list[n]])
                found = &fl->f->insts[k->first + k->n - 1];
    }
    pass_region_free(&r);
    base_free(has);
    return found;
}

/* Is an instruction that `what` names in a block that can be reached from `from`, itself included? */
static bool reaches(const struct pass_flow *fl, uint32_t from, bool (*what)(const struct ptx_inst *i),
                    bool *in, uint32_t *stack)
{
    const struct ptx_cfg *g = fl->cfg;
    uint32_t n = 0;
    memset(in, 0, g->nblocks);
    in[from] = true;
    stack[n++] = from;
    while (n) {
        uint32_t b = stack[--n];
        if (block_has(fl, b, what))
            return true;
        for (uint32_t k = 0; k < g->blocks[b].nsucc; k++) {
            uint32_t to = g->blocks[b].succ[k];
            if (to < g->nblocks && !in[to]) {
                in[to] = true;
                stack[n++] = to;
            }
        }
    }
    return false;
}

bool pass_goes_together(const struct pass_flow *fl, uint32_t block,
                        bool (*meets)(const struct ptx_inst *i))
{
    const struct ptx_cfg *g = fl->cfg;
    struct pass_region r = { 0 };
    bool *in = base_alloc((size_t)g->nblocks + 1), ok = in && pass_region_make(&r, g);
    for (uint32_t b = 0; b < g->nblocks && ok; b++) {
        if (!g->blocks[b].n || !block_branches_apart(fl, &g->blocks[b]))
            continue;
        pass_region_take(&r, b);
        if (pass_region_has(&r, block) && g->blocks[b].ipdom < g->nblocks)
            ok = !reaches(fl, g->blocks[b].ipdom, meets, in, r.list);
    }
    base_free(in);
    pass_region_free(&r);
    return ok;
}

/* ---- searching ---- */
const struct ptx_inst *pass_find_effect(const struct ptx_func *f, enum ptx_effect e)
{
    for (uint32_t k = 0; k < f->ninsts; k++)
        if (ptx_effect_of(&f->insts[k]) == e)
            return &f->insts[k];
    return NULL;
}

const struct ptx_inst *pass_find_sreg(const struct ptx_func *f, enum ptx_sreg reg)
{
    for (uint32_t k = 0; k < f->ninsts; k++)
        for (uint8_t n = 0; n < f->insts[k].nopnds; n++) {
            const struct ptx_operand *o = &f->insts[k].opnds[n];
            if (o->kind == OPND_SREG && o->index == reg)
                return &f->insts[k];
        }
    return NULL;
}

static void count_shared(const struct ptx_symbol *v, uint64_t *n, bool *unsized)
{
    if (v->space != PTX_SPACE_SHARED)
        return;
    *unsized |= v->unsized;
    *n += v->bytes;
}

uint64_t pass_shared_bytes(const struct ptx_module *m, const struct ptx_func *f, bool *unsized)
{
    uint64_t n = 0;
    *unsized = false;
    for (uint32_t k = 0; k < f->nvars; k++)
        count_shared(f->vars[k], &n, unsized);
    for (uint32_t k = 0; k < m->nglobals; k++)
        count_shared(m->globals[k], &n, unsized);
    return n;
}

const struct ptx_inst *pass_branch_condition(const struct pass_flow *fl, const struct ptx_inst *last,
                                             struct ptx_comparison *out)
{
    if (!last->guarded || ptx_effect_of(last) != EFFECT_BRANCH)
        return NULL;
    const struct ptx_block *b = &fl->cfg->blocks[fl->cfg->block_of[last->index]];
    for (uint32_t k = last->index; k-- > b->first;) {
        const struct ptx_inst *i = &fl->f->insts[k];
        if (ptx_writes_reg(i, last->guard))
            return ptx_comparison_of(i, out) && out->pred == last->guard ? i : NULL;
    }
    return NULL;
}
