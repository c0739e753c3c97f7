/* The backward slice: which registers and which writes decide addresses and
 * control flow, what of it is not modelled, and the decoded program. */
#include "engine/analysis/slice/slice.h"

#include "engine/analysis/symbolic/bulk.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/analysis/symbolic/eval.h"
#include "engine/base/base.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/data.h"

#include <string.h>

/* ---- what is needed ---- */
struct uses {
    struct slice_func *f;
    bool changed;
};
static void need(struct uses *u, uint32_t var)
{
    if (!u->f->needed[var]) {
        u->f->needed[var] = 1;
        u->changed = true;
    }
}
static void on_read(void *ctx, uint32_t reg, unsigned access)
{
    if (access & PTX_READ)
        need(ctx, reg);
}
static const struct slice_site *site_of(const struct slice *s, uint32_t func, uint32_t inst)
{
    uint32_t from = 0, to = s->nsites; /* the first that is not before it */
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        const struct slice_site *x = &s->site[mid];
        if (x->func < func || (x->func == func && x->inst < inst))
            from = mid + 1;
        else
            to = mid;
    }
    return from < s->nsites && s->site[from].func == func && s->site[from].inst == inst ? &s->site[from]
                                                                                        : NULL;
}
struct defs {
    const struct slice_func *f;
    bool any;
};
static void on_def(void *ctx, uint32_t var)
{
    struct defs *d = ctx;
    d->any = d->any || (var < d->f->func->nregs && d->f->needed[var]);
}
static bool defines_needed(const struct slice_func *f, const struct ptx_inst *i)
{
    struct defs d = { f, false };
    struct eval_frame frame = { .func = f->func };
    eval_inst_defs(&frame, i, on_def, &d);
    return d.any;
}
static const struct ptx_operand *memory_operand(const struct ptx_inst *i)
{
    struct bulk b;
    if (bulk_parts(i, &b))
        return b.global->kind == OPND_ADDR || b.global->kind == OPND_REG ? b.global : NULL;
    for (unsigned k = 0; k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_ADDR)
            return &i->opnds[k];
    return NULL;
}
struct reading {
    uint64_t arrays;
    bool space[10];
};
/* A store's effect counts when a needed load may see it. */
static bool store_seen(const struct slice *s, const struct slice_func *f, const struct ptx_inst *i,
                       const struct reading *r)
{
    unsigned sp = i->space;
    if (sp == PTX_SPACE_PARAM || s->v->effects)
        return true;
    if (sp == PTX_SPACE_SHARED || sp == PTX_SPACE_LOCAL || sp == PTX_SPACE_SHARED_CLUSTER)
        return r->space[sp] || r->space[PTX_SPACE_GENERIC];
    const struct slice_site *x = site_of(s, f->index, i->index);
    return (r->space[PTX_SPACE_GLOBAL] || r->space[PTX_SPACE_GENERIC] ||
            (sp == PTX_SPACE_GENERIC && (r->space[PTX_SPACE_SHARED] || r->space[PTX_SPACE_LOCAL]))) &&
           (!x || (x->arrays & r->arrays));
}
static void note_read(const struct slice *s, const struct slice_func *f, const struct ptx_inst *i,
                      struct reading *r)
{
    const struct slice_site *x = site_of(s, f->index, i->index);
    unsigned sp = i->op == PTX_OP_LDU ? PTX_SPACE_GLOBAL : i->space;
    if (sp < 10)
        r->space[sp] = true;
    if (sp == PTX_SPACE_GLOBAL || sp == PTX_SPACE_GENERIC)
        r->arrays |= x ? x->arrays : UINT64_MAX;
}
/* A branch is idle when nothing of the slice lies between it and where all its ways join again: only
 * instructions whose results nobody needs, and branches forward. Taken or not then makes no difference,
 * so what it depends on is not needed either (the special cases of a logarithm, say). More is needed
 * from round to round, so that an idle branch may become one that is not. */
enum { IDLE_MOST = 256 };
static bool wanted(const struct slice *s, const struct slice_func *f, const struct ptx_inst *i);
static bool idle_branch(const struct slice *s, const struct slice_func *f, const struct ptx_inst *i)
{
    uint32_t end = i->index;
    for (uint32_t k = i->index; k == i->index || k < end; k++) {
        const struct ptx_inst *in = k < f->func->ninsts ? &f->func->insts[k] : NULL;
        if (!in || k - i->index > IDLE_MOST)
            return false;
        if (in->op != PTX_OP_BRA) {
            if (ptx_op_info(in->op)->effect == EFFECT_BRANCH || wanted(s, f, in))
                return false; /* an indexed branch goes anywhere */
            continue;
        }
        uint32_t to = in->opnds[0].kind == OPND_LABEL ? f->func->labels[in->opnds[0].index].inst : 0;
        if (to <= k)
            return false;
        end = to > end ? to : end;
    }
    return true;
}
static bool wanted(const struct slice *s, const struct slice_func *f, const struct ptx_inst *i)
{
    const struct slice_site *x = site_of(s, f->index, i->index);
    enum ptx_effect fx = ptx_op_info(i->op)->effect;
    bool control = (fx == EFFECT_BRANCH && !idle_branch(s, f, i)) || fx == EFFECT_EXIT ||
                   fx == EFFECT_CALL || fx == EFFECT_BARRIER;
    if ((i->op == PTX_OP_ST || i->op == PTX_OP_LD) && i->space == PTX_SPACE_PARAM && !f->func->entry)
        return true;
    return control || (x && x->chosen) || f->needed[f->nvars + i->index] || defines_needed(f, i) ||
           (i->op == PTX_OP_ST && i->space == PTX_SPACE_PARAM);
}
/* Where a chosen copy begins, and how much it moves. */
static void need_copy(struct uses *u, const struct ptx_inst *i)
{
    struct bulk b;
    for (unsigned k = 0; bulk_parts(i, &b) && k < b.nvalues; k++)
        if (b.value[k].kind == OPND_REG)
            need(u, b.value[k].index);
    if (i->op != PTX_OP_CP_ASYNC || i->nopnds < 3)
        return;
    for (unsigned k = 0; k < 2; k++)
        if (i->opnds[k].kind == OPND_ADDR && i->opnds[k].base == BASE_REG)
            need(u, i->opnds[k].index);
    if (i->nopnds > 3 && i->opnds[3].kind == OPND_REG)
        need(u, i->opnds[3].index);
}
static void need_inst(struct slice *s, struct uses *u, const struct ptx_inst *i, struct reading *r)
{
    struct slice_func *f = u->f;
    enum ptx_effect fx = ptx_op_info(i->op)->effect;
    bool def = defines_needed(f, i), effect = f->needed[f->nvars + i->index];
    const struct slice_site *x = site_of(s, f->index, i->index);
    const struct ptx_operand *m = memory_operand(i);
    if ((fx == EFFECT_STORE || fx == EFFECT_ATOMIC || fx == EFFECT_ASYNC_COPY) && !effect &&
        (store_seen(s, f, i, r) || (fx == EFFECT_ATOMIC && def))) {
        effect = true;
        f->needed[f->nvars + i->index] = 1;
        u->changed = true;
    }
    if ((fx == EFFECT_LOAD || fx == EFFECT_ATOMIC) && def)
        note_read(s, f, i, r);
    if (fx == EFFECT_ASYNC_COPY && effect)
        note_read(s, f, i, r);
    bool whole = def || effect || (fx == EFFECT_BRANCH && !idle_branch(s, f, i)) || fx == EFFECT_EXIT ||
                 fx == EFFECT_CALL;
    if (whole)
        ptx_inst_regs(i, on_read, u);
    else if (x && x->chosen && m && m->base == BASE_REG)
        need(u, m->index);
    if (x && x->chosen)
        need_copy(u, i);
    if ((x && x->chosen) || fx == EFFECT_BARRIER)
        if (i->guarded)
            need(u, i->guard);
}
struct needing {
    struct slice *s;
    struct reading r;
};
/* What one function needs, others may have to give. */
static void need_step(void *ctx, struct ptx_solver *solver, uint32_t func)
{
    struct needing *n = ctx;
    struct reading before = n->r;
    struct uses u = { &n->s->f[func], false };
    for (uint32_t i = u.f->func->ninsts; i-- > 0;)
        need_inst(n->s, &u, &u.f->func->insts[i], &n->r);
    if (u.changed || memcmp(&before, &n->r, sizeof before) != 0)
        ptx_ask_all(solver);
}
/* To the end even when cancelled: half a closure leaves registers without rows. */
static bool mark_needed(struct slice *s)
{
    struct needing n = { .s = s };
    bool ok = ptx_solve(s->nf, PTX_FORWARD, need_step, &n);
    memcpy(s->reads, n.r.space, sizeof s->reads);
    return ok;
}

/* ---- taint: what follows from instructions that are not modelled ---- */
struct taints {
    struct slice_func *f;
    bool reads;
    bool changed;
};
static void on_tainted_read(void *ctx, uint32_t reg, unsigned access)
{
    struct taints *t = ctx;
    t->reads = t->reads || ((access & PTX_READ) && t->f->tainted[reg]);
}
static void taint_def(void *ctx, uint32_t var)
{
    struct taints *t = ctx;
    if (!t->f->tainted[var]) {
        t->f->tainted[var] = 1;
        t->changed = true;
    }
}
static bool tainted_reads(struct slice_func *f, const struct ptx_inst *i)
{
    struct taints t = { f, false, false };
    ptx_inst_regs(i, on_tainted_read, &t);
    return t.reads;
}
static void taint_step(void *ctx, struct ptx_solver *solver, uint32_t func)
{
    struct slice *s = ctx;
    struct slice_func *f = &s->f[func];
    struct taints t = { f, false, false };
    struct eval_frame frame = { .func = f->func };
    for (uint32_t i = 0; i < f->func->ninsts; i++)
        if (tainted_reads(f, &f->func->insts[i]) &&
            ptx_op_info(f->func->insts[i].op)->effect != EFFECT_CALL)
            eval_inst_defs(&frame, &f->func->insts[i], taint_def, &t);
    if (t.changed)
        ptx_ask(solver, func);
}
static bool tainted_copy(const struct slice_func *f, const struct ptx_inst *i)
{
    struct bulk b;
    for (unsigned k = 0; bulk_parts(i, &b) && k < b.nvalues; k++)
        if (b.value[k].kind == OPND_REG && f->tainted[b.value[k].index])
            return true;
    return false;
}
static void judge_taint(struct slice *s)
{
    for (uint32_t k = 0; k < s->nf; k++) {
        struct slice_func *f = &s->f[k];
        for (uint32_t i = 0; i < f->func->ninsts; i++) {
            const struct ptx_inst *in = &f->func->insts[i];
            enum ptx_effect fx = ptx_op_info(in->op)->effect;
            if (!tainted_reads(f, in))
                continue;
            if ((fx == EFFECT_BRANCH && !idle_branch(s, f, in)) || fx == EFFECT_EXIT ||
                fx == EFFECT_CALL || f->needed[f->nvars + i])
                s->refused = s->taint_why;
        }
    }
    for (uint32_t k = 0; k < s->nsites; k++)
        for (uint32_t j = 0; j < s->nf; j++) {
            struct slice_func *f = &s->f[j];
            if (f->index != s->site[k].func)
                continue;
            const struct ptx_inst *in = &f->func->insts[s->site[k].inst];
            const struct ptx_operand *m = memory_operand(in);
            s->site[k].tainted |= tainted_copy(f, in) ||
                                  (m && m->base == BASE_REG && f->tainted[m->index]) ||
                                  (in->guarded && f->tainted[in->guard]);
        }
}

/* ---- decoding ---- */
static void not_modelled(struct slice *s, struct slice_func *f, const struct ptx_inst *i)
{
    enum ptx_effect fx = ptx_op_info(i->op)->effect;
    const char *text = eval_inst_text(s->v->e, f->func, i);
    struct taints t = { f, false, false };
    struct eval_frame frame = { .func = f->func };
    if (!s->taint_why)
        s->taint_why = text;
    if (fx == EFFECT_BRANCH || fx == EFFECT_CALL || f->needed[f->nvars + i->index] ||
        fx == EFFECT_BARRIER)
        s->refused = text;
    struct slice_site *x = (struct slice_site *)(uintptr_t)site_of(s, f->index, i->index);
    if (x)
        x->tainted = true;
    eval_inst_defs(&frame, i, taint_def, &t);
}
static void decode_func(struct slice *s, struct slice_func *f)
{
    for (uint32_t i = 0; i < f->func->ninsts; i++) {
        const struct ptx_inst *in = &f->func->insts[i];
        uint32_t at = f->nops;
        f->first[i] = at;
        if (!wanted(s, f, in))
            continue;
        if (!slice_decode(s, f, in)) {
            f->nops = at;
            not_modelled(s, f, in);
        }
        const struct slice_site *x = site_of(s, f->index, i);
        if (x && f->nops > at && x->chosen)
            f->op[f->nops - 1].site = (int32_t)(x - s->site);
        if (f->nops > at && f->needed[f->nvars + i]) {
            f->op[f->nops - 1].store_effect = true;
            if (in->space == PTX_SPACE_GLOBAL || in->space == PTX_SPACE_GENERIC)
                s->global_writes = true;
        }
    }
    f->first[f->func->ninsts] = f->nops;
}
static void resolve_targets(struct slice_func *f)
{
    for (uint32_t k = 0; k < f->nops; k++) {
        struct slice_op *o = &f->op[k];
        if (o->code != SL_BRA)
            continue;
        const struct ptx_inst *in = &f->func->insts[o->inst];
        o->target = f->first[f->func->labels[in->opnds[0].index].inst];
    }
}
/* Reverse post-order in which ways out of a loop are walked first, so that they end up behind the
 * whole loop: lanes that left wait for those still in it. */
static uint32_t depth_of(const struct ptx_cfg *c, uint32_t b)
{
    return c->blocks[b].loop == PTX_NO_INDEX ? 0 : c->loops[c->blocks[b].loop].depth;
}
static uint32_t next_way(const struct ptx_cfg *c, uint32_t b, const uint8_t *seen)
{
    uint32_t best = PTX_NO_INDEX;
    for (uint32_t k = 0; k < c->blocks[b].nsucc; k++) {
        uint32_t s = c->blocks[b].succ[k];
        if (!seen[s] && (best == PTX_NO_INDEX || depth_of(c, s) < depth_of(c, best)))
            best = s;
    }
    return best;
}
static bool rank_ops(struct slice *s, struct slice_func *f)
{
    const struct ptx_cfg *c = f->cfg;
    uint32_t *stack = ARENA_ARRAY(s->arena, uint32_t, c->nblocks + 1),
             *order = ARENA_ARRAY(s->arena, uint32_t, c->nblocks + 1), n = 0, done = 0;
    uint8_t *seen = ARENA_ARRAY(s->arena, uint8_t, c->nblocks + 1);
    f->rank = ARENA_ARRAY(s->arena, uint32_t, f->nops + 1);
    if (arena_failed(s->arena))
        return false;
    if (c->nblocks)
        stack[n++] = 0;
    seen[0] = 1;
    while (n) {
        uint32_t w = next_way(c, stack[n - 1], seen);
        if (w == PTX_NO_INDEX)
            order[done++] = stack[--n];
        else {
            seen[w] = 1;
            stack[n++] = w;
        }
    }
    for (uint32_t k = done, r = 0; k-- > 0;) {
        const struct ptx_block *b = &c->blocks[order[k]];
        for (uint32_t o = f->first[b->first]; o < f->first[b->first + b->n]; o++)
            f->rank[o] = r++;
    }
    return true;
}
static void give_rows(struct slice *s, struct slice_func *f)
{
    (void)s;
    for (uint32_t v = 0; v < f->nvars; v++)
        f->row[v] = f->needed[v] ? f->nrows++ : SL_NONE;
}
static bool makes_maps(const struct ptx_module *m)
{
    for (uint32_t f = 0; f < m->nfuncs; f++)
        for (uint32_t i = 0; i < m->funcs[f]->ninsts; i++)
            if (m->funcs[f]->insts[i].op == PTX_OP_TENSORMAP_REPLACE)
                return true;
    return false;
}
enum status slice_make(struct env *v, struct slice_site *site, uint32_t nsites, struct slice **out)
{
    struct slice *s = base_alloc(sizeof *s);
    *out = s;
    if (!s)
        return ST_NOMEM;
    s->arena = arena_new(0);
    s->v = v;
    s->site = site;
    s->nsites = nsites;
    if (!s->arena || !slice_find_funcs(s))
        return ST_NOMEM;
    s->copy = base_alloc(sizeof *s->copy * (v->nregions + 1));
    if (!mark_needed(s))
        return s->status = ST_NOMEM;
    for (uint32_t k = 0; k < s->nf; k++)
        give_rows(s, &s->f[k]);
    for (uint32_t k = 0; k < s->nf && s->status == ST_OK; k++)
        decode_func(s, &s->f[k]);
    for (uint32_t k = 0; k < s->nf; k++)
        resolve_targets(&s->f[k]);
    if (s->ends_waits && !s->refused &&
        (s->reads[PTX_SPACE_SHARED] || s->reads[PTX_SPACE_SHARED_CLUSTER] ||
         s->reads[PTX_SPACE_GENERIC]))
        s->refused = "shared memory that is read after a wait for an mbarrier";
    s->makes_maps = makes_maps(v->e->module);
    for (uint32_t k = 0; k < s->nf && s->status == ST_OK; k++)
        if (!rank_ops(s, &s->f[k]))
            s->status = ST_NOMEM;
    if (s->taint_why) {
        if (!ptx_solve(s->nf, PTX_FORWARD, taint_step, s))
            s->status = ST_NOMEM;
        judge_taint(s);
    }
    s->order_dependent = s->global_writes;
    for (uint32_t k = 0; s->copy && k < v->nregions;
         k++) /* zero-filled variables: made here, so that reading never allocates */
        if (!v->region[k].bytes && !v->region[k].of && v->region[k].size &&
            !(s->copy[k].bytes = base_alloc(v->region[k].size)))
            s->status = ST_NOMEM;
    if (!s->copy || arena_failed(s->arena))
        s->status = ST_NOMEM;
    return s->status;
}
void slice_free(struct slice *s)
{
    if (!s)
        return;
    for (uint32_t k = 0; k < s->nf; k++) {
        base_free(s->f[k].op);
        base_free(s->f[k].consts);
        base_free(s->f[k].sregs);
    }
    for (uint32_t k = 0; s->copy && k < s->v->nregions; k++) {
        launch_view_free(s->copy[k].view);
        base_free(s->copy[k].bytes);
    }
    base_free(s->copy);
    base_free(s->rows);
    arena_free(s->arena);
    base_free(s);
}
