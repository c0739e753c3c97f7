/* Flow facts of one function, conservative: which registers may differ between
 * the threads of a CTA, where the pointer of an address comes from, which
 * returns a barrier may follow, which loops wait for other threads. */
#include "engine/base/base.h"
#include "engine/pass/pass_int.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
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
    enum ptx_effect e = inst_effect(i);
    if (strstr(ptx_op_info(i->op)->name ? ptx_op_info(i->op)->name : "", ".red") &&
        inst_is_cta_barrier(i))
        /* the whole CTA gets one answer; of a part of it, only that part */
        return i->nopnds != 3;
    if (e == EFFECT_LOAD && i->space != PTX_SPACE_CONST && !(fl->f->entry && pass_own_param(fl->f, i)))
        return true;
    if (i->op == PTX_OP_OPAQUE || (e != EFFECT_NONE && e != EFFECT_LOAD))
        return true;
    for (uint8_t k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_SREG && sreg_differs(fl, &i->opnds[k]))
            return true;
    struct reads r = { fl, false };
    ptx_inst_regs(i, read_reg, &r);
    return r.divergent;
}

struct marks {
    struct pass_flow *fl;
    bool changed;
};

static void mark_written(void *ctx, uint32_t reg, unsigned access)
{
    struct marks *m = ctx;
    if ((access & PTX_WRITE) && !m->fl->divergent[reg]) {
        m->fl->divergent[reg] = true;
        m->changed = true;
    }
}

static bool block_branches_apart(const struct pass_flow *fl, const struct ptx_block *b)
{
    if (!b->n)
        return false;
    const struct ptx_inst *last = &fl->f->insts[b->first + b->n - 1];
    if (inst_effect(last) != EFFECT_BRANCH && !inst_ends_thread(last))
        return false;
    if (last->guarded)
        return fl->divergent[last->guard];
    struct reads r = { fl, false };
    if (b->nsucc > 1) /* indexed branch */
        ptx_inst_regs(last, read_reg, &r);
    return r.divergent;
}

/* Marks every block reachable from `b` before its threads meet again. */
void pass_region_of(const struct ptx_cfg *g, uint32_t b, bool *in)
{
    uint32_t n = 0, *stack = base_alloc(sizeof *stack * (g->nblocks + 1));
    memset(in, 0, g->nblocks);
    if (!stack) {
        memset(in, 1, g->nblocks); /* out of memory: everything is apart */
        return;
    }
    stack[n++] = b;
    while (n) {
        const struct ptx_block *k = &g->blocks[stack[--n]];
        for (uint32_t s = 0; s < k->nsucc; s++)
            if (k->succ[s] != g->blocks[b].ipdom && k->succ[s] < g->nblocks && !in[k->succ[s]]) {
                in[k->succ[s]] = true;
                stack[n++] = k->succ[s];
            }
    }
    base_free(stack);
}

/* Values written where threads are apart differ afterwards, when another definition or a later use sees
 * them. */
static void mark_region(struct marks *m, const bool *in)
{
    const struct ptx_cfg *g = m->fl->cfg;
    for (uint32_t r = 0; r < m->fl->f->nregs; r++) {
        const struct ptx_reg_refs *x = &g->regs[r];
        bool inside = false, outside = x->ndefs > 1;
        for (uint32_t k = 0; k < x->ndefs; k++)
            inside |= in[g->block_of[x->defs[k]]];
        for (uint32_t k = 0; k < x->nuses; k++)
            outside |= !in[g->block_of[x->uses[k]]];
        if (inside && outside)
            mark_written(m, r, PTX_WRITE);
    }
}

static void divergence(struct pass_flow *fl, bool *in)
{
    struct marks m = { fl, true };
    while (m.changed) {
        m.changed = false;
        for (uint32_t k = 0; k < fl->f->ninsts; k++)
            if (result_differs(fl, &fl->f->insts[k]))
                ptx_inst_regs(&fl->f->insts[k], mark_written, &m);
        for (uint32_t b = 0; b < fl->cfg->nblocks; b++)
            if (block_branches_apart(fl, &fl->cfg->blocks[b])) {
                pass_region_of(fl->cfg, b, in);
                mark_region(&m, in);
            }
    }
}

static bool make(const struct ptx_func *f, struct pass_flow *out, bool grid)
{
    memset(out, 0, sizeof *out);
    out->grid = grid;
    out->f = f;
    out->cfg = ptx_cfg_build(f);
    out->divergent = base_alloc(f->nregs + 1);
    bool *in = out->cfg ? base_alloc(out->cfg->nblocks + 1) : NULL;
    bool ok = out->cfg && out->divergent && in;
    if (ok)
        divergence(out, in);
    base_free(in);
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
    const char *n = ptx_op_info(i->op)->name;
    return inst_effect(i) == EFFECT_BARRIER && n &&
           (strncmp(n, "bar.", 4) == 0 || strncmp(n, "barrier.", 8) == 0) &&
           strcmp(n, "bar.warp.sync") != 0;
}

/* A branch that may part the threads of a CTA, with a barrier before they meet again: those that
 * do not come to the barrier must have left the kernel. The compiler often merges all returns into
 * one, so it does not matter whether they meet again at the end. */
static const struct ptx_inst *parts_at_barrier(const struct pass_flow *fl, uint32_t b, bool *in)
{
    const struct ptx_block *k = &fl->cfg->blocks[b];
    if (!block_branches_apart(fl, k))
        return NULL;
    pass_region_of(fl->cfg, b, in);
    for (uint32_t n = 0; n < fl->cfg->nblocks; n++)
        if (in[n] && block_has(fl, n, inst_is_cta_barrier))
            return &fl->f->insts[k->first + k->n - 1];
    return NULL;
}

const struct ptx_inst *pass_return_before_barrier(const struct pass_flow *fl)
{
    bool *in = base_alloc(fl->cfg->nblocks + 1);
    const struct ptx_inst *found = NULL;
    if (!in)
        return fl->f->ninsts ? &fl->f->insts[0] : NULL; /* cannot tell: refuse */
    for (uint32_t b = 0; b < fl->cfg->nblocks && !found; b++)
        if (fl->cfg->blocks[b].n)
            found = parts_at_barrier(fl, b, in);
    base_free(in);
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
    bool *in = base_alloc(g->nblocks + 1), ok = in != NULL;
    uint32_t *stack = base_alloc(sizeof *stack * (g->nblocks + 1));
    ok = ok && stack;
    for (uint32_t b = 0; b < g->nblocks && ok; b++) {
        if (!g->blocks[b].n || !block_branches_apart(fl, &g->blocks[b]))
            continue;
        pass_region_of(g, b, in);
        if (in[block] && g->blocks[b].ipdom < g->nblocks)
            ok = !reaches(fl, g->blocks[b].ipdom, meets, in, stack);
    }
    base_free(in);
    base_free(stack);
    return ok;
}

/* ---- searching ---- */
const struct ptx_inst *pass_find_effect(const struct ptx_func *f, enum ptx_effect e)
{
    for (uint32_t k = 0; k < f->ninsts; k++)
        if (inst_effect(&f->insts[k]) == e)
            return &f->insts[k];
    return NULL;
}

const struct ptx_inst *pass_find_sreg(const struct ptx_func *f, const char *name)
{
    for (uint32_t k = 0; k < f->ninsts; k++)
        for (uint8_t n = 0; n < f->insts[k].nopnds; n++) {
            const struct ptx_operand *o = &f->insts[k].opnds[n];
            const char *s = o->kind == OPND_SREG ? ptx_sreg_name((enum ptx_sreg)o->index) : NULL;
            if (s && strcmp(s, name) == 0)
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
