/* Running slices on the executor. A CTA runs its warps in index order from barrier to barrier. */
#include "engine/analysis/slice/slice.h"
#include "engine/analysis/slice/slice_int.h"
#include "engine/analysis/symbolic/bulk.h"
#include "engine/analysis/symbolic/env.h"
#include "engine/analysis/symbolic/eval.h"
#include "engine/ptx/meaning.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/step.h"

static struct exec_warp *warp_of(const struct slice_cta *c, uint32_t w)
{
    return &c->cta->warps[w];
}

#define STRETCH 1024u /* instructions between looks at the limits */
#define LOOK    4096u /* operations of all warps between looks at the cancel */

struct slice_cta *slice_cta_new(struct slice *s)
{
    struct slice_cta *c = base_alloc(sizeof *c);
    if (!c)
        return NULL;
    c->s = s;
    c->nwarps = env_warps(s->v);
    c->warp = base_alloc(sizeof *c->warp * (c->nwarps + 1));
    struct exec_worker *k = s->machine->worker;
    if (!k && (k = c->worker = exec_worker_new(s->machine->x)))
        exec_worker_lean(k);
    if (!c->warp || !k || !(c->cta = exec_cta_new(k))) {
        slice_cta_free(c);
        return NULL;
    }
    return c;
}
void slice_cta_free(struct slice_cta *c)
{
    if (!c)
        return;
    for (uint32_t w = 0; c->warp && w < c->nwarps; w++)
        slice_spin_free(&c->warp[w]);
    exec_cta_free(c->cta);
    exec_worker_free(c->worker);
    BASE_FREE(c->warp, c->run, c);
}
void slice_cta_start(struct slice_cta *c, uint64_t cta)
{
    c->id = cta;
    exec_cta_start(c->cta, cta, 0, 0, false);
    for (uint32_t k = 0; k < c->nwarps; k++) {
        c->warp[k].ended = false;
        c->warp[k].present = (uint32_t)__builtin_popcount(warp_of(c, k)->born);
        c->warp[k].left = SLICE_WARP_OPS;
        slice_spin_begin(&c->warp[k]);
    }
}
bool slice_warp_done(const struct slice_cta *c, uint32_t w)
{
    return c->warp[w].ended || exec_warp_done(warp_of(c, w));
}
void slice_warp_end(struct slice_cta *c, uint32_t w)
{
    c->warp[w].ended = true;
    exec_warp_end(warp_of(c, w));
}
bool slice_warp_waits(const struct slice_cta *c, uint32_t w)
{
    return !slice_warp_done(c, w) && exec_warp_blocked(warp_of(c, w));
}
uint64_t slice_cta_phase(const struct slice_cta *c)
{
    return c->cta->passed;
}

const char *slice_fault(const struct slice *s)
{
    return s->machine && s->machine->x && s->machine->x->fault.set ? s->machine->x->fault.msg : NULL;
}

/* ---- requests ---- */
struct telling {
    struct slice_cta *c;
    const struct exec_warp *w;
    uint32_t pc;      /* of the first instruction of the stretch */
    uint32_t present; /* lanes that the warp has */
    slice_fn fn;
    void *ctx;
    bool step;
    enum slice_stop r; /* SLICE_DONE so far */
};
static bool tell(struct telling *t, struct slice_event *ev)
{
    t->r = t->fn(t->ctx, ev) ? SLICE_EVENT : SLICE_STOPPED;
    return t->r == SLICE_EVENT;
}
/* Each lane's copy by itself. */
static void tell_copies(struct telling *t, const struct exec_inst *in, struct slice_event *ev)
{
    ev->space = ANA_SPACE_COPY;
    for (uint32_t left = ev->mask, more = true; left && more; left &= left - 1) {
        unsigned l = (unsigned)__builtin_ctz(left);
        if (!slice_copy_runs(t->c, t->w, in, l))
            continue;
        ev->mask = UINT32_C(1) << l;
        ev->run = t->c->run;
        ev->nruns = t->c->nruns;
        more = tell(t, ev);
    }
}
/* False: no more of the stretch. */
static bool on_access(void *ctx, uint32_t nth, const struct exec_access *a)
{
    struct telling *t = ctx;
    struct slice *s = t->c->s;
    int32_t site = s->machine->at[t->pc + nth];
    if (site < 0)
        return true;
    const struct exec_inst *in = &s->machine->program->code[t->pc + nth];
    struct exec_access *all = (struct exec_access *)(uintptr_t)a; /* nobody reads it after us */
    exec_access_spread(all);
    uint8_t space = a->space == PTX_SPACE_SHARED_CLUSTER ? PTX_SPACE_SHARED : a->space;
    struct slice_event ev = { .site = (uint32_t)site,
                              .warp = t->w->index,
                              .mask = a->mask,
                              .present = t->present,
                              .cta = t->c->id,
                              .addr = all->addr,
                              .space = space };
    if (in->lean == exec_tell)
        tell_copies(t, in, &ev);
    else
        tell(t, &ev);
    return t->r != SLICE_STOPPED && !(t->step && t->r == SLICE_EVENT);
}

/* ---- a warp ---- */
static void spend(struct slice_cta *c, uint32_t warp, uint32_t n, uint64_t *budget)
{
    uint64_t *left = &c->warp[warp].left;
    *budget -= *budget < n ? *budget : n;
    *left -= *left < n ? *left : n;
}
/* The line where the loop that the branch goes back into begins; 0: it goes forward. */
static uint32_t loop_line(const struct slice *s, const struct exec_step *st)
{
    const struct exec_inst *code = s->machine->program->code, *in = st->inst;
    if (!st->mask || !in->lean || !ptx_is(in->ptx, IS_JUMP) || code[in->target].rank > in->rank)
        return 0;
    uint32_t to = in->target;
    while (!code[to].lean && to < st->pc)
        to++;
    return code[to].ptx->at.line;
}
/* One instruction that needs the executor's loop. */
static enum slice_stop one_step(struct telling *t, uint32_t index, uint64_t *budget)
{
    struct slice_cta *c = t->c;
    struct exec_step st;
    exec_step(warp_of(c, index), 0, &st);
    if (st.event == STEP_FAULT)
        return SLICE_LIMIT;
    if (!st.inst)
        return SLICE_BARRIER;
    spend(c, index, st.inst->lean != NULL, budget);
    t->pc = st.pc;
    if (st.access.kind != ACCESS_NONE && st.access.mask)
        on_access(t, 0, &st.access);
    if (t->r == SLICE_STOPPED)
        return t->r;
    if (st.inst->lean && st.mask && ptx_is(st.inst->ptx, IS_CTA_BARRIER))
        return SLICE_BARRIER;
    uint32_t back = loop_line(c->s, &st);
    return back && slice_spins(c, index, back) ? SLICE_SPIN : t->r;
}
enum slice_stop slice_warp_run(struct slice_cta *c, uint32_t index, slice_fn fn, void *ctx, bool step,
                               uint64_t *budget)
{
    struct slice *s = c->s;
    const struct slice_machine *m = s->machine;
    struct exec_warp *w = warp_of(c, index);
    struct telling t = {
        .c = c, .w = w, .fn = fn, .ctx = ctx, .step = step, .present = c->warp[index].present
    };
    struct exec_access a;
    while (!slice_warp_done(c, index)) {
        if (*budget == 0 || c->warp[index].left == 0)
            return SLICE_LIMIT;
        uint64_t before = *budget;
        uint32_t active, n;
        t.r = SLICE_DONE;
        if (!exec_warp_peek(w))
            return SLICE_BARRIER;
        t.pc = w->pc;
        n = exec_straight(w, 0, STRETCH, &a, on_access, &t, &active);
        spend(c, index, m->work[t.pc + n] - m->work[t.pc], budget);
        enum slice_stop r = n ? t.r : one_step(&t, index, budget);
        if (s->status != ST_OK || (before / LOOK != *budget / LOOK && cancel_asked(s->v->e->cancel)))
            return SLICE_STOPPED;
        if (exec_warp_faulted(w))
            return SLICE_LIMIT;
        if (slice_stops(r) || r == SLICE_BARRIER || r == SLICE_SPIN || (r == SLICE_EVENT && step))
            return r;
    }
    return SLICE_DONE;
}

/* ---- a CTA ---- */
static bool cta_done(const struct slice_cta *c)
{
    bool done = true;
    for (uint32_t w = 0; done && w < c->nwarps; w++)
        done = slice_warp_done(c, w);
    return done;
}
/* CTAs may run beside each other: the first line of all is told, whoever comes first. */
void slice_cta_stuck(struct slice_cta *c)
{
    exec_cta_stuck(c->cta);
    for (uint32_t w = 0; w < c->nwarps; w++) {
        uint32_t line = slice_warp_done(c, w) || !slice_warp_spins(c, w) ? 0 : c->warp[w].spun,
                 was = __atomic_load_n(&c->s->spun, __ATOMIC_RELAXED);
        while (line && (!was || line < was) &&
               !__atomic_compare_exchange_n(&c->s->spun, &was, line, false, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED))
            ;
    }
}
enum slice_stop slice_cta_run(struct slice_cta *c, slice_run_warp run, void *ctx)
{
    while (!cta_done(c)) {
        bool moved = false;
        uint64_t was = slice_changes(c), passed = slice_cta_phase(c);
        for (uint32_t w = 0; w < c->nwarps; w++) {
            if (slice_warp_done(c, w) || slice_warp_waits(c, w))
                continue;
            enum slice_stop r = run(ctx, w);
            if (slice_stops(r))
                return r;
            moved = moved || r != SLICE_SPIN;
        }
        if (!moved && slice_changes(c) == was && slice_cta_phase(c) == passed) {
            slice_cta_stuck(c);
            return SLICE_SPIN;
        }
    }
    return SLICE_DONE;
}
struct measurement {
    struct slice_cta *c;
    slice_fn fn;
    void *ctx;
    uint64_t *budget;
};
static enum slice_stop run_warp(void *ctx, uint32_t w)
{
    struct measurement *q = ctx;
    return slice_warp_run(q->c, w, q->fn, q->ctx, false, q->budget);
}
enum status slice_run(struct slice *s, uint64_t first, uint64_t n, uint64_t stride, slice_fn fn,
                      void *ctx, uint64_t *budget)
{
    struct measurement q = { slice_cta_new(s), fn, ctx, budget };
    enum slice_stop r = SLICE_DONE;
    if (!q.c)
        return ST_NOMEM;
    for (uint64_t k = 0; k < n && r == SLICE_DONE && s->status == ST_OK; k++) {
        slice_cta_start(q.c, first + k * stride);
        r = slice_cta_run(q.c, run_warp, &q);
    }
    slice_cta_free(q.c);
    if (s->status != ST_OK)
        return s->status;
    return cancel_asked(s->v->e->cancel) ? ST_CANCELLED : r == SLICE_DONE ? ST_OK : ST_REFUSED;
}
