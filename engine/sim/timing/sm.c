/* One SM: schedulers, scoreboard, execution units.
 *
 * Each warp slot has the earliest cycle at which it can take its next step. Those
 * that lie ahead are in a wheel of cycles; those that have come are bits of their
 * scheduler, by the unit they need. So the SM goes from step to step in time order
 * without visiting empty cycles, warps that wait, or warps whose unit is taken. A
 * step is: fetch the next region, or issue. */
#include "engine/sim/timing/sm.h"

#include "engine/sim/exec/exec.h"
#include "engine/sim/preset.h"
#include "engine/sim/timing/access.h"
#include "engine/sim/timing/group.h"
#include "engine/sim/timing/spill.h"
#include "engine/sim/timing/warp.h"

#include <string.h>

/* Instructions of a warp's next region that are prefetched into the host's cache. Host speed only:
 * it changes no result. */
#define HOST_PREFETCH 8u

enum { POLICY_GREEDY, POLICY_ROUND_ROBIN, POLICY_OLDEST_CTA };

/* ---- making and starting ---- */

/* Misses that can be outstanding. Where data wait in L1 there are no more than it has lines. */
static uint32_t trackers(const struct timing_launch *t)
{
    uint32_t n = (uint32_t)t->g->l1_mshrs, lines = t->l1_bytes >> CACHE_LINE_SHIFT,
             spare = (uint32_t)t->g->l1_fill_buffers;
    if (lines > spare)
        lines -= (uint32_t)(t->g->l1_fill_share * spare);
    return t->g->l1_bypass_allocates && lines && lines < n ? lines : n;
}

static bool make_ring(struct timing_ring *r, int64_t n)
{
    *r = (struct timing_ring){ .done = base_alloc((size_t)n * sizeof *r->done),
                               .by = base_alloc((size_t)n * sizeof *r->by),
                               .n = (uint32_t)n };
    return r->done && r->by;
}

static void *aligned(void *p, size_t to)
{
    return (uint8_t *)p + (to - (uintptr_t)p % to) % to;
}

static bool alloc_arrays(struct timing_sm *s, const struct timing_launch *t)
{
    const struct sim_preset *g = t->g;
    s->warp_room = base_alloc((s->nwarps + 1) * sizeof *s->warp);
    s->warp = s->warp_room ? aligned(s->warp_room, sizeof *s->warp) : NULL;
    s->ready = base_alloc(s->nwarps * sizeof *s->ready);
    s->age = base_alloc(s->nwarps * sizeof *s->age);
    s->wants = base_alloc(s->nwarps * sizeof *s->wants);
    s->scoreboard = base_alloc(((size_t)s->nwarps * t->plan.nslots + 1) * sizeof *s->scoreboard);
    s->work = base_alloc(s->nwarps * sizeof *s->work);
    s->waits_room = base_alloc((s->nwarps + 1) * sizeof *s->waits);
    s->waits = s->waits_room ? aligned(s->waits_room, sizeof *s->waits[0].v) : NULL;
    s->warp_inst = base_alloc(s->nwarps * sizeof *s->warp_inst);
    s->cta = base_alloc(s->nctas * sizeof *s->cta);
    s->order = base_alloc(s->nctas * sizeof *s->order);
    s->turns = base_alloc((size_t)s->nctas * TIMING_SCHEDULERS * sizeof *s->turns);
    bool rings = make_ring(&s->queue, g->l1_queue) && make_ring(&s->held, g->l2_atomic_held);
    s->sched = base_alloc(TIMING_SCHEDULERS * sizeof *s->sched);
    for (uint32_t i = 0; i < TIMING_SCHEDULERS && rings && s->sched; i++) {
        s->sched[i].id = i;
        rings =
            make_ring(&s->sched[i].own, g->l1_queue_each < g->l1_queue ? g->l1_queue_each : g->l1_queue);
    }
    s->nmshrs = trackers(t);
    s->mshr = base_alloc((size_t)s->nmshrs * sizeof *s->mshr);
    s->mshr_by = base_alloc(s->nmshrs);
    s->nroom = (uint32_t)g->l1_flight;
    s->room = base_alloc((size_t)(s->nroom + 1) * sizeof *s->room);
    s->ended = base_alloc(s->nctas * sizeof *s->ended);
    if (g->l2_merge && !(s->flight = base_alloc(TIMING_FLIGHTS * sizeof *s->flight)))
        return false;
    s->loads = base_alloc((t->p->nloads + 1) * sizeof *s->loads);
    return s->warp && s->sched && s->work && s->waits && s->warp_inst && s->ready && s->age &&
           s->wants && s->scoreboard && s->cta && s->order && s->turns && rings && s->mshr &&
           s->mshr_by && s->room && s->ended && s->loads;
}

static enum status make_caches(struct timing_sm *s, const struct timing_launch *t)
{
    const struct sim_preset *g = t->g;
    uint32_t tags = (uint32_t)g->l1_tags, ways = (uint32_t)g->l1_ways, sector = (uint32_t)g->l1_sector;
    struct cache_pool_traits pool = cache_pool_traits_of(g);
    enum status st = tags ? cache_l1_init_pool(&s->l1, t->l1_bytes, tags, ways, sector, &pool)
                          : cache_l1_init(&s->l1, t->l1_bytes, ways, sector);
    s->l1.hashed = g->l1_hash != 0;
    s->l1.merge_max = (uint8_t)(g->l1_mshr_merge > 255 ? 255 : g->l1_mshr_merge);
    s->l1.update_on_store = g->l1_write != 0;
    s->l1.streaming = !g->l1_reserve;
    s->l1.transit = g->l1_bypass_allocates != 0;
    s->l1.forget = g->l1_bypass_invalidates != 0;
    s->l1.store_lines = g->l1_write == 2;
    s->l1.picks = (uint8_t)g->l1_random_candidates;
    s->has_ro = g->ro_bytes > 0;
    if (st == ST_OK && s->has_ro)
        st = cache_l1_init(&s->ro, (uint64_t)g->ro_bytes, (uint32_t)g->ro_ways, (uint32_t)g->ro_sector);
    return st;
}

enum status timing_sm_init(struct timing_sm *s, struct timing_group *g, uint32_t id, uint32_t index)
{
    const struct timing_launch *t = g->t;
    *s = (struct timing_sm){ .group = g,
                             .id = id,
                             .index = index,
                             .nctas = t->ctas_per_sm,
                             .nscheds = (uint32_t)t->g->schedulers,
                             .interval = (uint32_t)t->g->issue_interval,
                             .policy = (uint8_t)t->g->scheduler_policy,
                             .dual = t->g->dual_issue };
    s->nwarps = t->ctas_per_sm * t->warps_per_cta;
    if (!alloc_arrays(s, t))
        return ST_NOMEM;
    for (uint32_t i = 0; i < s->nwarps; i++)
        s->ready[i] = TIMING_NEVER;
    s->at = s->late_at = TIMING_NEVER;
    for (uint32_t i = 0; i < TIMING_SCHEDULERS; i++)
        s->look[i] = TIMING_NEVER;
    for (uint32_t i = 0; i < s->nctas; i++)
        s->order[i] = (uint8_t)i;
    for (uint32_t i = 0, n = s->nscheds; i < s->nwarps; i++) {
        s->turns[i / t->warps_per_cta * TIMING_SCHEDULERS + i % n].warps |= 1ull << i / n;
        s->sched_of[i] = (uint8_t)(i % n);
        s->nth_of[i] = (uint8_t)(i / n);
        s->warp[i].slot = s->scoreboard + (size_t)i * t->plan.nslots;
        s->warp[i].work = &s->work[i];
        s->work[i].waits = &s->waits[i];
    }
    s->first = s - index % t->span;
    s->rank = index % t->span;
    struct exec_worker *k = g->worker[index / t->span % g->nworkers];
    s->spent = g->spent + (size_t)(index / t->span % g->nworkers) * t->p->ncode;
    for (uint32_t i = 0; i < s->nctas; i++)
        if (!(s->cta[i].x = s->rank ? s->first->cta[i].x : exec_cta_new(k)))
            return ST_NOMEM;
    return make_caches(s, t);
}

void timing_sm_free(struct timing_sm *s)
{
    for (uint32_t i = 0; s->cta && !s->rank && i < s->nctas; i++)
        if (s->cta[i].x)
            exec_cta_free(s->cta[i].x);
    cache_l1_free(&s->l1);
    cache_l1_free(&s->ro);
    base_free(s->warp_room);
    for (uint32_t i = 0; s->work && i < s->nwarps; i++) {
        BASE_FREE(s->work[i].mem, s->work[i].box, s->work[i].late, s->work[i].lines);
    }
    BASE_FREE(s->work, s->waits_room, s->warp_inst, s->ready, s->age, s->wants, s->scoreboard, s->cta,
              s->order, s->turns, s->queue.done, s->queue.by, s->held.done, s->held.by);
    for (uint32_t i = 0; s->sched && i < TIMING_SCHEDULERS; i++) {
        BASE_FREE(s->sched[i].own.done, s->sched[i].own.by);
    }
    BASE_FREE(s->sched, s->mshr, s->mshr_by, s->room, s->ended, s->flight, s->loads, s->request, s->late,
              s->const_line);
}

static void make_youngest(struct timing_sm *s, uint32_t slot)
{
    uint32_t i = 0;
    while (s->order[i] != slot)
        i++;
    for (; i + 1 < s->nctas; i++)
        s->order[i] = s->order[i + 1];
    s->order[i] = (uint8_t)slot;
}

void timing_sm_start(struct timing_sm *s, uint32_t slot, uint64_t cta, uint8_t place, uint32_t at)
{
    const struct timing_launch *t = s->group->t;
    struct timing_cta *c = &s->cta[slot];
    if (!s->rank)
        exec_cta_start(c->x, cta, s->id, slot * t->warps_per_cta, t->span > 1);
    *c = (struct timing_cta){ .x = c->x,
                              .index = cta,
                              .first_warp = slot * t->warps_per_cta,
                              .nwarps = t->warps_per_cta,
                              .begun = at,
                              .place = place,
                              .used = true };
    c->live = c->nwarps;
    make_youngest(s, slot);
    if (!s->arrivals)
        s->begun = at;
    double apart = t->g->warp_start_cycles;
    for (uint32_t i = 0; i < c->nwarps; i++) {
        uint32_t id = c->first_warp + i;
        struct timing_warp *w = &s->warp[id];
        w->x = exec_cta_warp(c->x, s->rank * t->warps_per_cta + i);
        w->cta = (uint8_t)slot;
        w->index = (uint8_t)i;
        w->state = WARP_RUN;
        w->bypass = t->l->hw_pi >= 0 && i >= (uint32_t)t->l->hw_pi;
        w->next = NULL;
        w->pending = 0;
        w->lo = w->hi = w->last = 0;
        w->release = w->started = at + (uint32_t)(i * apart);
        w->work->async = 0;
        w->work->tensor = w->work->ngroups = 0;
        w->work->nlate = w->work->nbox = 0;
        w->work->drained = 0;
        w->work->loading = 0;
        w->gone = false;
        memset(w->slot, 0, t->plan.nslots * sizeof *w->slot);
        s->age[id] = s->arrivals++;
        s->sched[s->sched_of[id]].live++;
        timing_waits_put(w->work->waits, w->started,
                         (struct timing_why){ .rest = timing_blame_of(0, LIMIT_LAUNCH) });
        timing_ready_at(s, id, w->started);
    }
}

/* The last warp here of the cluster in `slot` has ended. Its place is free when all of it has. */
static void end_part(struct timing_sm *s, uint32_t slot, uint32_t t)
{
    struct timing_cta *c = &s->cta[slot], *all = &s->first->cta[slot];
    c->used = false;
    all->parts_inst += c->inst;
    if (++all->parts == s->group->t->span)
        s->first->ended[s->first->nended++] =
            (struct timing_ended){ slot, t, all->begun, all->parts_inst };
    else
        timing_wake(s, slot, t, (uint32_t)s->group->t->g->lat_barrier);
}

static void end_warp(struct timing_sm *s, struct timing_warp *w, uint32_t t)
{
    struct timing_cta *c = &s->cta[w->cta];
    w->state = WARP_ENDED;
    s->sched[s->sched_of[w - s->warp]].live--;
    s->warp_cycles += t - w->started;
    if (t > s->until)
        s->until = t;
    if (--c->live == 0)
        end_part(s, w->cta, t);
    else
        timing_wake(s, w->cta, t, (uint32_t)s->group->t->g->lat_barrier);
}

/* ---- one step of a warp ---- */

static inline uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t all_ready(const struct timing_plan *plan, const struct timing_warp *w,
                          const struct timing_slot *o)
{
    const uint32_t *r = &plan->regs[o->regs], *end = r + o->ndst + o->nsrc;
    uint32_t at = 0;
    for (; r < end; r++)
        at = later(w->slot[*r], at);
    return at;
}

static inline uint32_t operands_ready(const struct timing_plan *plan, const struct timing_warp *w,
                                      const struct timing_slot *o)
{
    const uint32_t *r = w->slot;
    if (o->many)
        return all_ready(plan, w, o);
    return later(later(r[o->near[0]], r[o->near[1]]), later(r[o->near[2]], r[o->near[3]]));
}

static inline void set_results(const struct timing_plan *plan, struct timing_warp *w,
                               const struct timing_slot *o, uint32_t at)
{
    w->slot[o->dst] = at;
    for (uint32_t i = 1; o->many && i < o->ndst; i++)
        w->slot[plan->regs[o->regs + i]] = at;
}

/* Finds the next instruction that issues, from `o` on, skipping folded ones; none when the region
 * is used up. Only the warp itself changes its scoreboard, so what is found about operands holds
 * until it issues. */
static inline __attribute__((always_inline)) void find_next(const struct timing_plan *plan,
                                                            struct timing_warp *w,
                                                            const struct timing_slot *o)
{
    for (; w->pending; o++) {
        if (o->at < w->lo || o->at >= w->hi)
            continue;
        w->operands = operands_ready(plan, w, o) + o->late;
        if (!(o->flags & (TIMING_FREE | TIMING_STEP)) ||
            (o->at >= w->last && !(o->flags & TIMING_FREE))) {
            w->next = o;
            return;
        }
        set_results(plan, w, o,
                    w->operands > w->started + o->latency ? w->operands : w->started + o->latency);
        w->pending--;
    }
    w->next = NULL;
}

/* When what comes after o may be fetched. */
static __attribute__((noinline)) void hold_back(struct timing_sm *s, struct timing_warp *w,
                                                const struct timing_slot *o, uint32_t t)
{
    const struct sim_preset *g = s->group->t->g;
    uint32_t until = t + s->interval;
    w->work->held_at = o->pc;
    if (o->flags & TIMING_FENCE)
        until = t + o->latency;
    if (o->flags & TIMING_SPLITS || (o->flags & TIMING_ALONE && o->unit != UNIT_CONTROL))
        until = t + o->latency;
    if (o->flags & TIMING_ENDS && o->unit == UNIT_CONTROL)
        until = t + (w->branched ? (uint32_t)g->lat_control : o->late ? o->latency : 0);
    if (o->flags & TIMING_BARRIER) {
        until = t + (uint32_t)g->lat_barrier;
        timing_waits_put(w->work->waits, until,
                         (struct timing_why){ .rest = timing_blame_of(o->pc, LIMIT_BARRIERS) });
    }
    if (o->flags & TIMING_RELEASE)
        until = t + o->latency;
    if (o->flags & TIMING_ASYNC)
        until = later(until, w->work->async);
    if (o->flags & TIMING_GROUPS) {
        until = later(until, timing_groups(w, &s->group->t->p->code[o->pc]));
        timing_waits_put(w->work->waits, until,
                         (struct timing_why){ .rest = timing_blame_of(o->pc, LIMIT_TENSOR) });
    }
    if (o->flags & TIMING_CALL)
        until = timing_call_until(s, o, w->work->lanes, t);
    if (until > w->release)
        w->release = until;
}

/* What a warp does next: at which cycle, and what for (enum timing_unit, TIMING_WANT_*). */
struct turn {
    uint32_t at;
    uint8_t wants;
};

/* Issues o at t, or says what it waits for. */
static inline bool issue(struct timing_sm *s, struct timing_warp *w, struct timing_sched *q,
                         const struct timing_slot *o, uint32_t t, struct turn *then)
{
    const struct timing_plan *plan = &s->group->t->plan;
    uint32_t mem = o->flags & TIMING_MEMORY ? w->work->mem_of[o->at - w->lo] : 0,
             *from = &q->from[o->unit];
    *then = (struct turn){ later(w->operands, t), o->unit };
    if (w->operands > t || *from > t)
        return false;
    if (mem && timing_lsu_room(s, q) > t) {
        then->wants = TIMING_WANT_ROOM;
        return false;
    }
    q->pc = o->pc;
    if (q->free < t)
        timing_spend_wait(s, q, w, o, mem ? timing_lsu_room(s, q) : 0, t);
    *from = t + o->busy;
    uint32_t done = t + o->latency;
    if (mem) {
        const struct timing_access *a = &w->work->mem[mem - 1];
        done = timing_lsu_issue(s, w, q, &plan->p->code[o->pc], a, t);
        for (uint32_t i = 0; i < a->nlate; i++) {
            const struct exec_late *l = &w->work->late[a->late + i];
            timing_late_put(s, w->cta, l, l->arrivals && !l->remote ? later(done, w->work->async) : done,
                            s->now.why);
        }
        if ((a->kind == ACCESS_ASYNC || a->nbox) && !a->nlate && done > w->work->async)
            w->work->async = done;
        if (a->nbox)
            done = t + o->latency;
    }
    if (o->flags & TIMING_PRODUCT) {
        timing_product(s, w, q->id, o, t);
        *from = done = t + 1;
    } else if (o->unit == UNIT_TENSOR) {
        s->tensor_busy += o->busy;
    }
    if (o->spills) {
        done = later(done, timing_spill_issue(s, w, q, o, t));
    }
    set_results(plan, w, o, o->flags & TIMING_HALF ? later(done, w->slot[o->dst]) : done);
    w->pending--;
    if (o->holds)
        hold_back(s, w, o, t);
    else
        w->release = later(w->release, t + s->interval);
    return true;
}

/* Fetches when nothing is left to issue. Returns false when the warp has nothing to do at t. */
static __attribute__((noinline)) bool refill(struct timing_sm *s, struct timing_warp *w, uint32_t t,
                                             struct turn *then)
{
    const struct timing_plan *plan = &s->group->t->plan;
    uint32_t lat_barrier = (uint32_t)s->group->t->g->lat_barrier;
    *then = (struct turn){ TIMING_NEVER, TIMING_WANT_FETCH };
    while (!w->next) {
        if (w->release > t) {
            then->at = w->release;
            return false;
        }
        const struct timing_slot *first;
        enum fetch_result f = timing_warp_fetch(s, w, t, &first);
        if (f != FETCH_READY) {
            if (f == FETCH_FAULT)
                s->fault = true;
            else if (f == FETCH_ENDED)
                end_warp(s, w, t);
            else
                w->state = WARP_BARRIER;
            return false;
        }
        if (w->work->woke)
            timing_wake(s, w->cta, t, 0);
        if (first->flags & (TIMING_BARRIER | TIMING_ALONE))
            timing_wake(s, w->cta, t, lat_barrier);
        find_next(plan, w, first);
    }
    return true;
}

/* One step at t. Returns the issue slots taken; *then: the next step. */
static inline __attribute__((always_inline)) uint32_t step_warp(struct timing_sm *s,
                                                                struct timing_sched *q,
                                                                struct timing_warp *w, uint32_t t,
                                                                struct turn *then)
{
    if (!w->next && !refill(s, w, t, then))
        return 0;
    const struct timing_slot *o = w->next;
    if (!issue(s, w, q, o, t, then))
        return 0;
    find_next(&s->group->t->plan, w, o + 1);
    *then = (struct turn){ w->release, TIMING_WANT_FETCH };
    if (w->next)
        *then = (struct turn){ w->operands, w->next->unit };
    else
        exec_warp_prefetch(w->x, HOST_PREFETCH);
    then->at = later(then->at, t + s->interval);
    return o->slots ? o->slots : 1;
}

/* ---- schedulers ---- */

/* The last one again, else the oldest. */
static __attribute__((noinline)) uint32_t pick_greedy(const struct timing_sm *s,
                                                      const struct timing_sched *q, uint64_t from)
{
    uint32_t best = q->last;
    if (from >> best & 1)
        return best;
    uint32_t best_age = UINT32_MAX;
    for (uint64_t m = from; m; m &= m - 1) {
        uint32_t k = (uint32_t)__builtin_ctzll(m), age = s->age[k * s->nscheds + q->id];
        if (age < best_age) {
            best = k;
            best_age = age;
        }
    }
    return best;
}

/* The first after the last one, in a circle. */
static uint32_t pick_next(const struct timing_sched *q, uint64_t from)
{
    uint64_t after = from & ~((2ull << q->last) - 1);
    return (uint32_t)__builtin_ctzll(after ? after : from);
}

/* The first warp behind the CTA's last one, in a circle, of the oldest CTA that has one. */
static uint32_t pick_oldest(struct timing_sm *s, const struct timing_sched *q, uint64_t from)
{
    if (!(from & (from - 1)))
        return (uint32_t)__builtin_ctzll(from);
    for (uint32_t i = 0; i < s->nctas; i++) {
        uint32_t slot = s->order[i];
        struct timing_turns *c = &s->turns[slot * TIMING_SCHEDULERS + q->id];
        uint64_t m = from & c->warps;
        if (!m)
            continue;
        if (m & ~q->due[TIMING_WANT_ROOM] & 1ull << c->last)
            return c->last;
        uint64_t after = m & ~((2ull << c->last) - 1);
        c->last = (uint32_t)__builtin_ctzll(after ? after : m);
        return c->last;
    }
    return (uint32_t)__builtin_ctzll(from);
}

static inline uint32_t pick(struct timing_sm *s, const struct timing_sched *q, uint64_t from)
{
    switch (s->policy) {
    case POLICY_GREEDY: return pick_greedy(s, q, from);
    case POLICY_OLDEST_CTA: return pick_oldest(s, q, from);
    default: return pick_next(q, from);
    }
}

static inline void make_due(struct timing_sched *q, uint32_t k, uint8_t wants)
{
    q->due[wants] |= 1ull << k;
    q->any |= 1u << wants;
}

/* Warp k of scheduler q steps at t. One whose next step comes when the scheduler is free again is due at
 * once: nobody looks before. */
static inline void step_one(struct timing_sm *s, struct timing_sched *q, uint32_t k, uint32_t t)
{
    uint32_t w = k * s->nscheds + q->id;
    uint8_t had = s->wants[w];
    if (!(q->due[had] &= ~(1ull << k)))
        q->any &= ~(1u << had);
    struct turn then;
    uint32_t slots = step_warp(s, q, &s->warp[w], t, &then), free = 0;
    s->ready[w] = then.at;
    s->wants[w] = then.wants;
    if (slots) {
        q->last = k;
        q->paired = s->dual && !q->paired;
        free = q->free = t + (q->paired ? slots - 1 : slots) * s->interval;
        s->spent[q->pc].cycles[LIMIT_ISSUE] += free - t;
    }
    if (then.at <= t || then.at == free)
        make_due(q, k, then.wants);
    else if (then.at != TIMING_NEVER)
        wheel_put(&s->wheel, w, then.at);
}

/* The warps of scheduler q that can step at t; *next: when others can, of those whose step has come. */
static inline uint64_t can_step(struct timing_sm *s, struct timing_sched *q, uint32_t t, uint32_t *next)
{
    uint64_t can = 0;
    if (q->any >> TIMING_WANT_ROOM & 1)
        q->from[TIMING_WANT_ROOM] = timing_lsu_room(s, q);
    if (!(q->any & (q->any - 1))) { /* as usual: all want the same */
        uint32_t u = (uint32_t)__builtin_ctz(q->any);
        *next = q->from[u];
        return q->from[u] <= t ? q->due[u] : 0;
    }
    for (uint32_t m = q->any; m; m &= m - 1) {
        /* all bits or none: no branch */
        uint32_t u = (uint32_t)__builtin_ctz(m), at = q->from[u], now = -(uint32_t)(at <= t);
        can |= q->due[u] & (uint64_t)(int32_t)now;
        at |= now;
        *next = at < *next ? at : *next;
    }
    return can;
}

/* All that scheduler q does at t. Returns when it is to be looked at again, but for what comes out of
 * the wheel. */
static uint32_t run_scheduler(struct timing_sm *s, struct timing_sched *q, uint32_t t)
{
    while (q->any && !s->fault) {
        if (q->free > t)
            return q->free;
        uint32_t next = TIMING_NEVER;
        uint64_t can = can_step(s, q, t, &next);
        if (!can)
            return next;
        step_one(s, q, pick(s, q, can), t);
    }
    return TIMING_NEVER;
}

/* Warps whose cycle is now become due. */
static void wake_due(struct timing_sm *s, uint32_t t)
{
    for (uint32_t w = wheel_take(&s->wheel, t), next; w; w = next) {
        uint32_t sc = s->sched_of[w - 1];
        timing_waits_prefetch(&s->waits[w - 1], t);
        next = s->wheel.link[w - 1];
        if (s->ready[w - 1] > t) {
            wheel_put(&s->wheel, w - 1, s->ready[w - 1]);
            continue;
        }
        make_due(&s->sched[sc], s->nth_of[w - 1], s->wants[w - 1]);
        s->look[sc] = 0;
    }
}

uint64_t timing_sm_residency(const struct timing_sm *s, uint32_t now)
{
    uint64_t n = s->warp_cycles;
    for (uint32_t i = 0; i < s->nwarps; i++)
        if ((s->warp[i].state == WARP_RUN || s->warp[i].state == WARP_BARRIER) &&
            now > s->warp[i].started)
            n += now - s->warp[i].started;
    return n;
}

uint32_t timing_sm_active(const struct timing_sm *s, uint32_t now)
{
    bool running = false;
    for (uint32_t i = 0; i < s->nctas; i++)
        running |= s->cta[i].used;
    uint32_t until = running ? now : s->until;
    return s->arrivals && until > s->begun ? until - s->begun : 0;
}

uint32_t timing_sm_next(const struct timing_sm *s)
{
    return s->at;
}

static inline uint32_t soonest(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The last list of the wheel also holds later steps. */
static uint32_t exact_next(const struct timing_sm *s, uint32_t at)
{
    if (at != s->wheel.base + WHEEL_CYCLES - 1)
        return at;
    at = TIMING_NEVER; /* nobody is due, else it would come sooner */
    for (uint32_t i = 0; i < s->nwarps; i++)
        at = s->ready[i] < at ? s->ready[i] : at;
    return soonest(at, s->late_at);
}

/* When some scheduler is to be looked at. `most`: their number, or one that the compiler knows; those
 * there are not never are. */
static inline uint32_t next_look(const struct timing_sm *s, uint32_t most)
{
    uint32_t at = s->look[0];
    for (uint32_t sc = 1; sc < most; sc++)
        at = s->look[sc] < at ? s->look[sc] : at;
    return at;
}

/* Bits of the schedulers to be looked at by t, those from `turn` on first. */
static inline uint32_t to_look_at(const struct timing_sm *s, uint32_t t, uint32_t most)
{
    uint32_t m = 0, n = s->nscheds;
    for (uint32_t sc = 0; sc < most; sc++)
        m |= (uint32_t)(s->look[sc] <= t) << sc;
    return (m | m << n) >> s->turn & ((1u << n) - 1);
}

static inline uint32_t run_until(struct timing_sm *s, uint32_t end, uint32_t most)
{
    uint32_t n = s->nscheds, t = soonest(soonest(next_look(s, most), wheel_next(&s->wheel)), s->late_at);
    while (t < end && !s->fault && !s->oom) {
        wake_due(s, t);
        if (s->late_at <= t)
            timing_late_run(s, t);
        /* always the same first, its warps would run ahead */
        s->turn = s->turn + 1 < n ? s->turn + 1 : 0;
        for (uint32_t m = to_look_at(s, t, most); m; m &= m - 1) {
            uint32_t sc = s->turn + (uint32_t)__builtin_ctz(m);
            sc = sc < n ? sc : sc - n;
            s->look[sc] = run_scheduler(s, &s->sched[sc], t);
        }
        t = soonest(soonest(next_look(s, most), wheel_next(&s->wheel)), s->late_at);
    }
    return t;
}

#define USUAL_SCHEDULERS 4u /* most SMs have so many: the loops over them are unrolled */
void timing_sm_run(struct timing_sm *s, uint32_t end)
{
    uint32_t t = s->nscheds <= USUAL_SCHEDULERS ? run_until(s, end, USUAL_SCHEDULERS)
                                                : run_until(s, end, TIMING_SCHEDULERS);
    s->at = exact_next(s, t);
    s->ran = end;
}
