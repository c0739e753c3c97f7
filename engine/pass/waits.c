/* Loops that wait for other CTAs: how often they go round depends on memory that others write.
 *
 * Every function that the kernel may come to is looked at by itself. The strongly connected parts of its
 * control flow are its loops, reducible or not. In each, what its own reads of written memory returned
 * is followed to the ways out of it; a way out that depends on it makes the loop wait, unless one of two
 * proofs holds:
 *
 *   retry    cas on what was read last, left when it succeeds: it fails only when another thread
 *            succeeded
 *   search   an index that such reads cannot touch moves the address on, and a bound of it ends the loop
 *
 * A spin lock (locks.c) waits, but for a thread that has started. Then the blocks with ways out are
 * taken away, and what is still connected is looked at again: the loops inside. */
#include "engine/analysis/alias.h"
#include "engine/analysis/analysis.h"
#include "engine/pass/pass_int.h"
#include "engine/pass/taint.h"
#include "engine/ptx/facts/parts.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/meaning.h"
#include "engine/rec/knobs.h"

#include <string.h>

enum { ROUNDS = 64 }; /* loops in loops, at most */
struct func {
    struct pass_flow fl;
    bool sources, recursive;
    bool ends;      /* it, or what it calls, may end the thread */
    uint8_t *known; /* by instruction: 0 not asked yet, 1 listens not, 2 does */
};
struct waits {
    struct pass_ctx *c;
    struct pass_funcs fs;
    struct func *f;
    uint32_t nf;           /* the kernel, then fs.v */
    struct pass_wait lock; /* the first one; at NULL: none */
    bool writes, remote;   /* somebody writes global memory; arrives at barriers of other CTAs */
    bool spread;           /* reaches memory of other CTAs of its cluster */
    bool cluster_private;  /* what only its own cluster writes counts as private */
    /* asks who writes what is read; else every plain load counts as written, which costs nothing */
    bool precise;
    struct pass_wait *out;
};
struct scan {
    struct waits *w;
    const struct func *f;
    struct pass_taint t;
    uint32_t *part, *size; /* by block its part; by part its blocks */
    bool *alive, *in;
};

static uint32_t func_of(const struct waits *w, struct str name)
{
    uint32_t k = 1;
    while (k < w->nf && !str_eq(w->f[k].fl.f->name, name))
        k++;
    return k;
}

/* Does nobody in the launch write what this plain load reads? The one question about aliases that is
 * asked here. */
static bool unwritten(struct waits *w, const struct func *f, const struct ptx_inst *i)
{
    const char *why;
    if (i->space == PTX_SPACE_SHARED_CLUSTER || ptx_is(i, IS_MULTIMEM) || ptx_is_strong(i))
        return false;
    return ptx_reads_constant_memory(i) || !w->writes ||
           (w->precise &&
            (f == w->f ? pass_proven_read_only(w->c, i, &why) : pass_nobody_writes(w->c, f->fl.f, i)));
}

static bool call_listens(const struct waits *w, const struct ptx_inst *i)
{
    struct str callee = inst_callee(i);
    uint32_t k = func_of(w, callee);
    if (callee.n && k < w->nf)
        return w->f[k].sources;
    bool any = !callee.n; /* through a pointer: any of them */
    for (k = 1; k < w->nf && !callee.n; k++)
        any |= w->f[k].sources;
    return any && (w->fs.indirect || !callee.n);
}

/* May the function that is called end the thread? One of another module, or any behind a pointer, may.
 */
static bool call_ends(const struct waits *w, const struct ptx_inst *i)
{
    struct str callee = inst_callee(i);
    uint32_t k = func_of(w, callee);
    if (callee.n)
        return k < w->nf && w->f[k].ends;
    bool any = false;
    for (k = 1; k < w->nf; k++)
        any |= w->f[k].ends;
    return any;
}

static bool of_cluster(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    return ptx_is(i, IS_MBARRIER_WAIT) ||
           ((e == EFFECT_LOAD || e == EFFECT_ATOMIC) && i->space == PTX_SPACE_SHARED_CLUSTER);
}

static bool asks_memory(struct waits *w, const struct func *f, const struct ptx_inst *i)
{
    if (w->cluster_private && of_cluster(i))
        return false;
    switch (ptx_effect_of(i)) {
    case EFFECT_LOAD: return !pass_taint_private(w->c, &f->fl, i, true) && !unwritten(w, f, i);
    case EFFECT_ATOMIC: return ptx_is(i, IS_RETURNS_OLD) && !pass_taint_private(w->c, &f->fl, i, true);
    case EFFECT_TEXTURE:
    case EFFECT_SURFACE: return ptx_is(i, IS_FETCH);
    case EFFECT_ASYNC_COPY: return w->writes;
    case EFFECT_CALL: return call_listens(w, i);
    case EFFECT_BARRIER: return w->remote && ptx_is(i, IS_MBARRIER_WAIT);
    default: return ptx_is_opaque(i);
    }
}

/* Its result is what other CTAs wrote, or may be. */
static bool listens(struct waits *w, const struct func *f, const struct ptx_inst *i)
{
    if (ptx_effect_of(i) == EFFECT_CALL || ptx_effect_of(i) == EFFECT_NONE || !w->precise)
        return asks_memory(w, f, i);
    if (!f->known[i->index])
        f->known[i->index] = asks_memory(w, f, i) ? 2 : 1;
    return f->known[i->index] == 2;
}

/* ---- connected parts of the blocks that are alive ---- */
static uint32_t next_alive(void *ctx, uint32_t block, uint32_t *at)
{
    const struct scan *s = ctx;
    const struct ptx_block *b = &s->f->fl.cfg->blocks[block];
    while (*at < b->nsucc && !s->alive[b->succ[*at]])
        ++*at;
    return *at < b->nsucc ? b->succ[(*at)++] : PTX_NO_INDEX;
}

static void find_parts(struct scan *s)
{
    uint32_t n = s->f->fl.cfg->nblocks, count;
    for (uint32_t b = 0; b < n; b++)
        s->part[b] = s->alive[b] ? 0 : PTX_NO_INDEX;
    s->w->c->oom |= !ptx_parts(n, next_alive, s, s->part, &count);
}

/* Is the set more than one block that does not come back to itself? */
static bool goes_round(const struct scan *s)
{
    const struct ptx_cfg *g = s->f->fl.cfg;
    for (uint32_t b = 0; b < g->nblocks; b++)
        for (uint32_t k = 0; s->in[b] && k < g->blocks[b].nsucc; k++)
            if (g->blocks[b].succ[k] < g->nblocks && s->in[g->blocks[b].succ[k]])
                return true;
    return false;
}

/* ---- ways out ---- */
static const struct ptx_inst *last_of(const struct scan *s, uint32_t b)
{
    const struct ptx_block *k = &s->f->fl.cfg->blocks[b];
    return k->n ? &s->f->fl.f->insts[k->first + k->n - 1] : NULL;
}

static bool leaves(const struct scan *s, uint32_t b)
{
    const struct ptx_block *k = &s->f->fl.cfg->blocks[b];
    const struct ptx_inst *last = last_of(s, b);
    for (uint32_t n = 0; n < k->nsucc; n++)
        if (k->succ[n] >= s->f->fl.cfg->nblocks || !s->in[k->succ[n]])
            return true;
    return last && ptx_ends_thread(last);
}

/* Does every way round the loop pass this block? */
static bool each_time(struct scan *s, uint32_t block)
{
    const struct ptx_cfg *g = s->f->fl.cfg;
    uint32_t header = block;
    for (uint32_t b = 0; b < g->nblocks; b++)
        if (s->in[b] && ptx_dominates(g, b, header))
            header = b;
    for (uint32_t b = 0; b < g->nblocks; b++) {
        if (s->in[b] && !ptx_dominates(g, header, b))
            return false; /* entered in several places */
        for (uint32_t k = 0; s->in[b] && k < g->blocks[b].nsucc; k++)
            if (g->blocks[b].succ[k] == header && !ptx_dominates(g, block, b))
                return false;
    }
    return true;
}

static bool is_reg(const struct ptx_operand *o)
{
    return o->kind == OPND_REG;
}

/* No step of the loop changes the address. */
static bool stays(const struct scan *s, const struct ptx_operand *a)
{
    const struct ptx_reg_refs *x = a->base == BASE_REG ? &s->f->fl.cfg->regs[a->index] : NULL;
    for (uint32_t k = 0; x && k < x->ndefs; k++)
        if (s->in[s->f->fl.cfg->block_of[x->defs[k]]])
            return false;
    return true;
}

/* A load of one register that reads the very bytes which the cas compares. */
static bool loads_its_place(const struct ptx_inst *d, const struct ptx_inst *cas)
{
    const struct ptx_operand *a = inst_address(cas),
                             *from = ptx_effect_of(d) == EFFECT_LOAD ? inst_address(d) : NULL;
    return from && from->base == a->base && from->imm == a->imm &&
           (a->base == BASE_REG ? from->index == a->index : from->sym == a->sym) &&
           d->space == cas->space && is_reg(&d->opnds[0]) && inst_bytes(d) == inst_bytes(cas) &&
           !ptx_reads_constant_memory(d);
}

/* The compared value is what the cas returned, or what a load of its place did; and it is taken anew
 * every time. */
static bool taken_anew(struct scan *s, const struct ptx_inst *cas)
{
    const struct pass_flow *fl = &s->f->fl;
    const struct ptx_reg_refs *x = &fl->cfg->regs[cas->opnds[2].index];
    bool anew = false;
    for (uint32_t k = 0; k < x->ndefs; k++) {
        const struct ptx_inst *d = &fl->f->insts[x->defs[k]];
        const struct ptx_operand *from = ptx_copied(d);
        bool copy = from && is_reg(from) && from->index == cas->opnds[0].index;
        if (d->guarded || (!copy && !loads_its_place(d, cas)))
            return false;
        uint32_t b = fl->cfg->block_of[d->index];
        anew |= s->in[b] && each_time(s, b);
    }
    return anew && stays(s, inst_address(cas));
}

static bool retries(struct scan *s, uint32_t block)
{
    const struct pass_flow *fl = &s->f->fl;
    const struct ptx_inst *last = last_of(s, block);
    struct ptx_comparison is;
    const struct ptx_inst *cmp = pass_branch_condition(fl, last, &is);
    bool equal = cmp && is.how == PTX_MOD_EQ;
    if (!cmp || !is_reg(is.a) || !is_reg(is.b) || (!equal && is.how != PTX_MOD_NE) ||
        last->opnds[0].kind != OPND_LABEL || !each_time(s, block))
        return false;
    uint32_t a = is.a->index, b = is.b->index, first = fl->cfg->blocks[block].first;
    for (uint32_t k = cmp->index; k-- > first;) {
        const struct ptx_inst *i = &fl->f->insts[k];
        if (ptx_is_atomic_op(i, PTX_MOD_CAS) && !i->guarded && i->nopnds >= 4 && is_reg(&i->opnds[0]) &&
            is_reg(&i->opnds[2]) &&
            ((i->opnds[0].index == a && i->opnds[2].index == b) ||
             (i->opnds[0].index == b && i->opnds[2].index == a))) {
            const struct ptx_label *l = &fl->f->labels[last->opnds[0].index];
            bool out = l->inst >= fl->f->ninsts || !s->in[fl->cfg->block_of[l->inst]];
            return inst_address(i) && a != b && (equal != last->guard_neg) == out && taken_anew(s, i);
        }
        if (ptx_writes_reg(i, a) || ptx_writes_reg(i, b))
            return false;
    }
    return false;
}

/* reg is moved on by a constant, once each time round, and stops at nothing: what saturates or has 16
 * bits could miss its bound for ever. */
static bool counts(struct scan *s, uint32_t reg)
{
    const struct pass_flow *fl = &s->f->fl;
    const struct ptx_reg_refs *x = &fl->cfg->regs[reg];
    const struct ptx_inst *step = NULL;
    for (uint32_t k = 0; k < x->ndefs; k++)
        if (s->in[fl->cfg->block_of[x->defs[k]]]) {
            if (step)
                return false;
            step = &fl->f->insts[x->defs[k]];
        }
    uint32_t own;
    int64_t by;
    return step && ptx_step_of(step, &own, &by) && own == reg && by &&
           each_time(s, fl->cfg->block_of[step->index]);
}

static bool fixed(const struct scan *s, const struct ptx_operand *o)
{
    const struct ptx_reg_refs *x = is_reg(o) ? &s->f->fl.cfg->regs[o->index] : NULL;
    for (uint32_t k = 0; x && k < x->ndefs; k++)
        if (s->in[s->f->fl.cfg->block_of[x->defs[k]]])
            return false;
    return is_reg(o) || o->kind == OPND_IMM;
}

/* Every read of the loop that listens is elsewhere each time. In 32 bits a step of 2^k comes back to
 * its place after 2^(32-k) times: large powers would be a wait at few places. */
#define STEP_POWER 4096
static bool moves_on(struct scan *s, uint32_t reg)
{
    const struct pass_flow *fl = &s->f->fl;
    for (uint32_t b = 0; b < fl->cfg->nblocks; b++)
        for (uint32_t k = fl->cfg->blocks[b].first;
             s->in[b] && k < fl->cfg->blocks[b].first + fl->cfg->blocks[b].n; k++) {
            const struct ptx_inst *i = &fl->f->insts[k];
            const struct ptx_operand *a = inst_address(i);
            int64_t by = 0;
            if (!listens(s->w, s->f, i))
                continue;
            if (ptx_effect_of(i) != EFFECT_LOAD || !a || a->base != BASE_REG ||
                !pass_motion(fl, a->index, reg, &by) || !by || by % (2 * STEP_POWER) == 0)
                return false;
        }
    return true;
}

static bool runs_up_to(struct scan *s, const struct ptx_operand *counter,
                       const struct ptx_operand *bound)
{
    return is_reg(counter) && fixed(s, bound) && counts(s, counter->index) &&
           moves_on(s, counter->index);
}

static bool searches(struct scan *s, uint32_t block)
{
    struct ptx_comparison is;
    if (!pass_branch_condition(&s->f->fl, last_of(s, block), &is) || !each_time(s, block))
        return false;
    return runs_up_to(s, is.a, is.b) || runs_up_to(s, is.b, is.a);
}

/* ---- what it is that waits ---- */
static bool follows(struct scan *s, unsigned sreg_from, unsigned sreg_to, const struct ptx_inst *what)
{
    const struct ptx_func *f = s->f->fl.f;
    pass_taint_clear(&s->t, NULL);
    for (uint32_t k = 0; k < f->ninsts; k++)
        for (uint8_t n = 0; n < f->insts[k].nopnds; n++)
            if (f->insts[k].opnds[n].kind == OPND_SREG && f->insts[k].opnds[n].index >= sreg_from &&
                f->insts[k].opnds[n].index <= sreg_to)
                pass_taint_source(&s->t, &f->insts[k]);
    pass_taint_run_values(&s->t);
    return what && pass_taint_reads(&s->t, what);
}

static bool counts_arrivals(const struct waits *w)
{
    for (uint32_t n = 0; n < w->nf; n++)
        for (uint32_t k = 0; k < w->f[n].fl.f->ninsts; k++) {
            const struct ptx_inst *i = &w->f[n].fl.f->insts[k];
            if (i->space != PTX_SPACE_SHARED &&
                (ptx_is_atomic_op(i, PTX_MOD_ADD) || ptx_is_atomic_op(i, PTX_MOD_INC)))
                return true;
        }
    return false;
}

static void found(struct scan *s, uint32_t block, const struct ptx_inst *source)
{
    struct pass_wait *o = s->w->out;
    const struct ptx_inst *last = last_of(s, block);
    o->at = source ? source : last;
    o->f = s->f->fl.f;
    o->kind = WAIT_OTHERS;
    if (follows(s, PTX_SREG_ENVREG0, PTX_SREG_ENVREG31, o->at) ||
        follows(s, PTX_SREG_NCTAID, PTX_SREG_NCTAID, last))
        o->kind = WAIT_GRID_BARRIER;
    else if (follows(s, PTX_SREG_CTAID, PTX_SREG_CTAID, o->at))
        o->kind = WAIT_FLAG;
    else if (s->f == s->w->f && !follows(s, PTX_SREG_TID, PTX_SREG_TID, o->at) && counts_arrivals(s->w))
        o->kind = WAIT_GRID_BARRIER;
}

/* ---- one loop ---- */
static const struct ptx_inst *sources_in(struct scan *s)
{
    const struct pass_flow *fl = &s->f->fl;
    const struct ptx_inst *first = NULL;
    pass_taint_clear(&s->t, s->in);
    for (uint32_t b = 0; b < fl->cfg->nblocks; b++)
        for (uint32_t k = fl->cfg->blocks[b].first;
             s->in[b] && k < fl->cfg->blocks[b].first + fl->cfg->blocks[b].n; k++)
            if (listens(s->w, s->f, &fl->f->insts[k])) {
                pass_taint_source(&s->t, &fl->f->insts[k]);
                first = first ? first : &fl->f->insts[k];
            }
    return first;
}

/* A call in a loop with sources that may end the thread is a way out as well; what it depends on is not
 * followed. */
static uint32_t waiting_call(struct scan *s)
{
    const struct pass_flow *fl = &s->f->fl;
    for (uint32_t b = 0; b < fl->cfg->nblocks; b++)
        for (uint32_t k = fl->cfg->blocks[b].first;
             s->in[b] && k < fl->cfg->blocks[b].first + fl->cfg->blocks[b].n; k++)
            if (ptx_effect_of(&fl->f->insts[k]) == EFFECT_CALL && call_ends(s->w, &fl->f->insts[k]))
                return b;
    return fl->cfg->nblocks;
}

/* A loop of the kernel that takes a lock: it is noted, and waits for nobody who has not started. */
static bool locks(struct scan *s, uint32_t exit)
{
    struct waits *w = s->w;
    const struct ptx_inst *at =
        w->precise && s->f == w->f ? pass_lock(w->c, &s->f->fl, s->in, exit) : NULL;
    if (at && !w->lock.at)
        w->lock = (struct pass_wait){ .kind = WAIT_LOCK, .at = at, .f = s->f->fl.f };
    return at != NULL;
}

/* The first way out that depends on what was read, where no proof holds; the number of blocks: none. */
static uint32_t waiting_exit(struct scan *s, const struct ptx_inst **source)
{
    uint32_t n = s->f->fl.cfg->nblocks, exit = n;
    *source = sources_in(s);
    if (!*source)
        return n;
    pass_taint_run(&s->t);
    for (uint32_t b = 0; b < n && exit == n; b++)
        if (s->in[b] && leaves(s, b) && last_of(s, b) && pass_taint_reads(&s->t, last_of(s, b)))
            exit = b;
    for (uint32_t b = 0; b < n && exit < n; b++)
        if (s->in[b] && leaves(s, b) && last_of(s, b) && (retries(s, b) || searches(s, b)))
            return n;
    if (exit < n && locks(s, exit))
        return n;
    return exit < n ? exit : waiting_call(s);
}

/* Does the loop wait? The blocks with ways out are taken away, or its first one where there is none. */
static bool loop_waits(struct scan *s)
{
    uint32_t n = s->f->fl.cfg->nblocks, first = n;
    const struct ptx_inst *source;
    bool out = false;
    s->w->precise = false;
    uint32_t exit = waiting_exit(s, &source);
    if (exit < n) {
        s->w->precise = true;
        exit = waiting_exit(s, &source);
    }
    if (exit < n) {
        found(s, exit, source);
        return true;
    }
    for (uint32_t b = 0; b < n; b++) {
        first = s->in[b] && first == n ? b : first;
        out |= s->in[b] && leaves(s, b);
    }
    for (uint32_t b = 0; b < n; b++)
        if (s->in[b] && (out ? leaves(s, b) : b == first))
            s->alive[b] = false;
    return false;
}

/* Most blocks are in no loop: looked at alone. */
static bool goes_round_alone(const struct scan *s, uint32_t b)
{
    const struct ptx_block *k = &s->f->fl.cfg->blocks[b];
    for (uint32_t i = 0; i < k->nsucc; i++)
        if (k->succ[i] == b)
            return true;
    return false;
}

static bool round_waits(struct scan *s, bool *any)
{
    uint32_t n = s->f->fl.cfg->nblocks;
    find_parts(s);
    uint32_t *size = s->size;
    memset(size, 0, n * sizeof *size);
    for (uint32_t b = 0; b < n; b++)
        if (s->alive[b])
            size[s->part[b]]++;
    for (uint32_t root = 0; root < n; root++) {
        uint32_t p = s->part[root];
        if (p == PTX_NO_INDEX || !s->alive[root])
            continue;
        if (size[p] == 1 && !goes_round_alone(s, root)) {
            s->part[root] = PTX_NO_INDEX;
            s->alive[root] = false;
            continue;
        }
        memset(s->in, 0, n);
        if (size[p] == 1)
            s->in[root] = true;
        else
            for (uint32_t b = 0; b < n; b++)
                s->in[b] = s->part[b] == p;
        bool round = goes_round(s);
        for (uint32_t b = 0; b < n; b++)
            if (s->part[b] == p)
                s->part[b] = PTX_NO_INDEX;
        if (!round) {
            s->alive[root] = false;
            continue;
        }
        *any = true;
        if (loop_waits(s))
            return true;
    }
    return false;
}

/* A function that comes back to itself goes round by its calls: any branch that depends on what it read
 * may end that. */
static bool recursion_waits(struct scan *s)
{
    const struct pass_flow *fl = &s->f->fl;
    if (!s->f->recursive || !s->f->sources)
        return false;
    memset(s->in, 1, fl->cfg->nblocks);
    const struct ptx_inst *source = sources_in(s);
    s->t.params = true;
    pass_taint_run(&s->t);
    for (uint32_t b = 0; b < fl->cfg->nblocks; b++)
        if (last_of(s, b) && (fl->cfg->blocks[b].nsucc > 1 || last_of(s, b)->guarded) &&
            pass_taint_reads(&s->t, last_of(s, b))) {
            found(s, b, source);
            return true;
        }
    return false;
}

static bool func_waits(struct waits *w, const struct func *f)
{
    uint32_t n = f->fl.cfg->nblocks;
    struct scan s = { .w = w, .f = f };
    uint32_t *mem = base_alloc(sizeof *mem * 2 * ((size_t)n + 1));
    bool *flags = base_alloc(2 * ((size_t)n + 1)), waits = false, any = true;
    if (!mem || !flags || !pass_taint_make(&s.t, w->c, &f->fl)) {
        w->c->oom = true;
        BASE_FREE(mem, flags);
        return false;
    }
    s.part = mem, s.size = mem + n + 1;
    s.alive = flags, s.in = flags + n + 1;
    for (uint32_t b = 0; b < n; b++)
        s.alive[b] = f->fl.cfg->blocks[b].reachable;
    waits = recursion_waits(&s);
    for (int round = 0; any && !waits; round++) {
        any = false;
        waits = round_waits(&s, &any);
        if (any && !waits && round == ROUNDS) { /* too deep to tell */
            *w->out = (struct pass_wait){ .at = f->fl.f->insts, .f = f->fl.f };
            waits = true;
        }
    }
    pass_taint_free(&s.t);
    BASE_FREE(mem, flags);
    return waits;
}

/* ---- the whole program ---- */
static bool writes_global(const struct ptx_inst *i)
{
    enum ptx_effect e = ptx_effect_of(i);
    return e == EFFECT_ASYNC_COPY || e == EFFECT_TENSOR || e == EFFECT_SURFACE || ptx_is_opaque(i) ||
           ptx_is_strong(i) ||
           ((e == EFFECT_STORE || e == EFFECT_ATOMIC) && i->space != PTX_SPACE_LOCAL &&
            i->space != PTX_SPACE_SHARED && i->space != PTX_SPACE_PARAM);
}

/* What callees do, their callers do. The kernel is nobody's callee. */
static void survey_step(void *ctx, struct ptx_solver *s, uint32_t n)
{
    struct waits *w = ctx;
    struct func *f = &w->f[n];
    bool sources = f->sources, ends = f->ends;
    for (uint32_t k = 0; n && k < f->fl.f->ninsts; k++) {
        const struct ptx_inst *i = &f->fl.f->insts[k];
        f->sources = f->sources || listens(w, f, i);
        f->ends = f->ends || ptx_is(i, IS_STOP) || (ptx_effect_of(i) == EFFECT_CALL && call_ends(w, i));
    }
    if (f->sources != sources || f->ends != ends)
        ptx_ask_all(s);
}

static void survey(struct waits *w)
{
    w->writes = w->fs.unknown;
    for (uint32_t n = 0; n < w->nf; n++)
        for (uint32_t k = 0; k < w->f[n].fl.f->ninsts; k++) {
            const struct ptx_inst *i = &w->f[n].fl.f->insts[k];
            w->writes |= writes_global(i);
            w->remote |= ptx_is(i, IS_REMOTE) || ptx_has_mod(i, PTX_MOD_MULTICAST_CLUSTER) ||
                         (ptx_is(i, IS_MBARRIER) && ptx_has_mod(i, PTX_MOD_SHARED_CLUSTER));
            w->spread |= i->space == PTX_SPACE_SHARED_CLUSTER;
        }
    w->c->oom |= !ptx_solve(w->nf, PTX_FORWARD, survey_step, w);
}

static bool calls(const struct waits *w, uint32_t from, uint32_t to)
{
    const struct ptx_func *f = w->f[from].fl.f;
    for (uint32_t k = 0; k < f->ninsts; k++)
        if (ptx_effect_of(&f->insts[k]) == EFFECT_CALL) {
            struct str callee = inst_callee(&f->insts[k]);
            if (!callee.n || str_eq(callee, w->f[to].fl.f->name))
                return true;
        }
    return false;
}

static uint32_t next_callee(void *ctx, uint32_t from, uint32_t *at)
{
    const struct waits *w = ctx;
    while (*at < w->nf && !(*at && calls(w, from, *at)))
        ++*at;
    return *at < w->nf ? (*at)++ : PTX_NO_INDEX;
}

static bool mark_recursive(struct waits *w)
{
    uint32_t part[PASS_FUNCS_MOST + 1] = { 0 }, count;
    if (!ptx_parts(w->nf, next_callee, w, part, &count))
        return false;
    for (uint32_t f = 1; f < w->nf; f++) {
        w->f[f].recursive = calls(w, f, f);
        for (uint32_t g = 1; g < w->nf; g++)
            w->f[f].recursive |= g != f && part[g] == part[f];
    }
    return true;
}

static void look(struct waits *w)
{
    for (uint32_t k = 0; k < w->nf && !w->out->at; k++)
        func_waits(w, &w->f[k]);
}

/* Nothing that other clusters write comes into its registers. What asynchronous copies bring may be
 * theirs, and is theirs by a race: nothing was waited for. */
static bool hears_its_cluster_only(struct waits *w)
{
    w->precise = true;
    for (uint32_t n = 0; n < w->nf; n++)
        for (uint32_t k = 0; k < w->f[n].fl.f->ninsts; k++) {
            const struct ptx_inst *i = &w->f[n].fl.f->insts[k];
            if (ptx_effect_of(i) != EFFECT_ASYNC_COPY && ptx_effect_of(i) != EFFECT_CALL &&
                asks_memory(w, &w->f[n], i))
                return false;
        }
    return !w->fs.unknown && !w->fs.indirect;
}

/* The first loop that waits, and whether it waits for CTAs of its own cluster alone: then no loop does
 * that takes what only these write for private. */
static void find(struct waits *w)
{
    if (!w->remote && !w->spread) {
        look(w);
        return;
    }
    w->cluster_private = true;
    look(w);
    if (w->out->at)
        return;
    bool alone = hears_its_cluster_only(w);
    w->cluster_private = false;
    for (uint32_t k = 0; k < w->nf; k++)
        memset(w->f[k].known, 0, w->f[k].fl.f->ninsts);
    look(w);
    w->out->cluster = w->out->at && alone;
}

bool pass_find_wait(struct pass_ctx *c, struct pass_wait *out)
{
    struct waits w = { .c = c, .out = out };
    memset(out, 0, sizeof *out);
    pass_callees(c, &w.fs);
    w.f = base_alloc(sizeof *w.f * ((size_t)w.fs.n + 1));
    bool ok = w.f;
    for (uint32_t k = 0; ok && k <= w.fs.n; k++) {
        ok = pass_flow_make(k ? w.fs.v[k - 1] : c->f, &w.f[k].fl);
        w.f[k].known = ok ? base_alloc((size_t)w.f[k].fl.f->ninsts + 1) : NULL;
        w.nf += ok;
        ok = ok && w.f[k].known;
    }
    if (ok) {
        survey(&w);
        ok = mark_recursive(&w);
    }
    if (ok)
        find(&w);
    if (!out->at)
        *out = w.lock;
    c->oom |= !ok;
    for (uint32_t k = 0; k < w.nf; k++)
        base_free(w.f[k].known);
    base_free(w.f);
    return out->at != NULL;
}

bool pass_waits(const struct ptx_module *m, struct str kernel)
{
    const struct options *none = options_none();
    struct pass_input in = { .module = m, .kernel = kernel, .options = none };
    struct diags ds = { 0 };
    struct pass_ctx c = { .in = &in, .opt = none, .m = m, .f = ptx_find_func(m, kernel), .ds = &ds };
    struct pass_wait w;
    bool waits = !c.f || pass_find_wait(&c, &w) || c.oom;
    alias_free(c.alias);
    ana_free(c.own_facts);
    diags_free(&ds);
    return waits;
}
