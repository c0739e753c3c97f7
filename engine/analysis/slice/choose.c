/* The backward slice: which registers and which writes decide addresses and control flow, and what of it
 * is not known. */
#include "engine/analysis/slice/slice.h"

#include "engine/analysis/slice/slice_int.h"
#include "engine/analysis/symbolic/bulk.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/analysis/symbolic/eval.h"
#include "engine/ptx/facts/solve.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"

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
const struct slice_site *slice_site_of(const struct slice *s, uint32_t func, uint32_t inst)
{
    int32_t k = s->of[func] ? s->of[func]->site[inst] : -1;
    return k < 0 ? NULL : &s->site[k];
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
bool slice_defines(const struct slice_func *f, const struct ptx_inst *i)
{
    struct defs d = { f, false };
    struct eval_frame frame = { .func = f->func };
    eval_inst_defs(&frame, i, on_def, &d);
    return d.any || (f->carries && ptx_is(i, IS_CARRY_OUT));
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
    const struct slice_site *x = slice_site_of(s, f->index, i->index);
    return (r->space[PTX_SPACE_GLOBAL] || r->space[PTX_SPACE_GENERIC] ||
            (sp == PTX_SPACE_GENERIC && (r->space[PTX_SPACE_SHARED] || r->space[PTX_SPACE_LOCAL]))) &&
           (!x || (x->arrays & r->arrays));
}
static void note_read(const struct slice *s, const struct slice_func *f, const struct ptx_inst *i,
                      struct reading *r)
{
    const struct slice_site *x = slice_site_of(s, f->index, i->index);
    unsigned sp = ptx_reads_constant_memory(i) ? PTX_SPACE_GLOBAL : i->space;
    if (sp < 10)
        r->space[sp] = true;
    if (sp == PTX_SPACE_GLOBAL || sp == PTX_SPACE_GENERIC)
        r->arrays |= x ? x->arrays : UINT64_MAX;
}
/* A branch is idle when nothing of the slice lies between it and where all its ways join again: only
 * instructions whose results nobody needs, and branches forward. Taken or not then makes no difference,
 * so what it depends on is not needed either (the special cases of a logarithm, say). Not where
 * loops have several ways in: lanes that part there may stay apart for longer. More is needed from round
 * to round, so that an idle branch may become one that is not. */
enum { IDLE_MOST = 256 };
static bool idle_branch(const struct slice *s, const struct slice_func *f, const struct ptx_inst *i)
{
    uint32_t end = i->index;
    if (f->odd_loop)
        return false;
    for (uint32_t k = i->index; k == i->index || k < end; k++) {
        const struct ptx_inst *in = k < f->func->ninsts ? &f->func->insts[k] : NULL;
        if (!in || k - i->index > IDLE_MOST)
            return false;
        if (!ptx_is(in, IS_JUMP)) {
            if (ptx_effect_of(in) == EFFECT_BRANCH || slice_wants(s, f, in))
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
bool slice_wants(const struct slice *s, const struct slice_func *f, const struct ptx_inst *i)
{
    const struct slice_site *x = slice_site_of(s, f->index, i->index);
    enum ptx_effect fx = ptx_effect_of(i);
    bool control = (fx == EFFECT_BRANCH && !idle_branch(s, f, i)) || fx == EFFECT_EXIT ||
                   fx == EFFECT_CALL || fx == EFFECT_BARRIER;
    bool plain = ptx_is(i, IS_PLAIN) && i->space == PTX_SPACE_PARAM;
    if (plain && (fx == EFFECT_STORE || !f->func->entry))
        return true;
    return control || (x && x->chosen) || f->needed[f->nvars + i->index] || slice_defines(f, i);
}
/* Where a chosen copy begins, and how much it moves. */
static void need_copy(struct uses *u, const struct ptx_inst *i)
{
    struct bulk b;
    for (unsigned k = 0; bulk_parts(i, &b) && k < b.nvalues; k++)
        if (b.value[k].kind == OPND_REG)
            need(u, b.value[k].index);
    if (!ptx_is(i, IS_THREAD_COPY))
        return;
    for (unsigned k = 0; k < 2 && k < i->nopnds; k++)
        if (i->opnds[k].kind == OPND_ADDR && i->opnds[k].base == BASE_REG)
            need(u, i->opnds[k].index);
    if (i->nopnds > 3 && i->opnds[3].kind == OPND_REG)
        need(u, i->opnds[3].index);
}
static void need_inst(struct slice *s, struct uses *u, const struct ptx_inst *i, struct reading *r)
{
    struct slice_func *f = u->f;
    enum ptx_effect fx = ptx_effect_of(i);
    bool def = slice_defines(f, i), effect = f->needed[f->nvars + i->index];
    const struct slice_site *x = slice_site_of(s, f->index, i->index);
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
    bool whole = def || effect || (ptx_is(i, IS_CTA_BARRIER) && !ptx_is(i, IS_CLUSTER)) ||
                 (fx == EFFECT_BRANCH && !idle_branch(s, f, i)) || fx == EFFECT_EXIT ||
                 fx == EFFECT_CALL;
    if (whole && ptx_is(i, IS_CARRY_IN) && !f->carries)
        f->carries = u->changed = true;
    if (whole)
        for (struct ptx_regs w = ptx_regs_of(i, PTX_READ); ptx_next_reg(&w);)
            need(u, w.reg);
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
bool slice_mark_needed(struct slice *s)
{
    struct needing n = { .s = s };
    bool ok = ptx_solve(s->nf, PTX_FORWARD, need_step, &n);
    memcpy(s->reads, n.r.space, sizeof s->reads);
    return ok;
}

/* ---- taint: what follows from values that are not known ---- */
struct taints {
    struct slice_func *f;
    uint8_t kinds; /* of what is read, or to be given to what is written */
    bool changed;
};
static void taint_def(void *ctx, uint32_t var)
{
    struct taints *t = ctx;
    t->changed |= (t->kinds & ~t->f->tainted[var]) != 0;
    t->f->tainted[var] |= t->kinds;
}
static uint8_t tainted_reads(struct slice_func *f, const struct ptx_inst *i)
{
    uint8_t kinds = ptx_is(i, IS_CARRY_IN) ? f->carry_tainted : 0;
    for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);)
        kinds |= f->tainted[r.reg];
    return kinds;
}
static bool taint_defs(struct slice_func *f, const struct ptx_inst *i, uint8_t kinds)
{
    struct taints t = { f, kinds, false };
    struct eval_frame frame = { .func = f->func };
    eval_inst_defs(&frame, i, taint_def, &t);
    if (ptx_is(i, IS_CARRY_OUT)) {
        t.changed |= (kinds & ~f->carry_tainted) != 0;
        f->carry_tainted |= kinds;
    }
    return t.changed;
}
static void taint_step(void *ctx, struct ptx_solver *solver, uint32_t func)
{
    struct slice *s = ctx;
    struct slice_func *f = &s->f[func];
    bool changed = false;
    for (uint32_t i = 0; i < f->func->ninsts; i++)
        if (ptx_effect_of(&f->func->insts[i]) != EFFECT_CALL)
            changed |= taint_defs(f, &f->func->insts[i], tainted_reads(f, &f->func->insts[i]));
    if (changed)
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
            enum ptx_effect fx = ptx_effect_of(in);
            uint8_t kinds = tainted_reads(f, in);
            if (kinds && f->needed[f->nvars + i])
                s->refused = s->taint_why;
            if (!(kinds & NOT_KNOWN))
                continue;
            if ((fx == EFFECT_BRANCH && !idle_branch(s, f, in)) || fx == EFFECT_EXIT ||
                fx == EFFECT_CALL || ptx_is(in, IS_CTA_BARRIER))
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

void slice_not_known(struct slice *s, struct slice_func *f, const struct ptx_inst *i, uint8_t kind)
{
    s->taint_why = s->taint_why ? s->taint_why : eval_inst_text(s->v->e, f->func, i);
    taint_defs(f, i, kind);
}
bool slice_spread_taint(struct slice *s)
{
    if (!s->taint_why)
        return true;
    bool ok = ptx_solve(s->nf, PTX_FORWARD, taint_step, s);
    judge_taint(s);
    return ok;
}
