/* One SM: schedulers, scoreboard, execution units.
 *
 * Each warp slot has the earliest cycle at which it can take its next step; a
 * scheduler looks at its slots only, so the SM goes from step to step in time
 * order without visiting empty cycles. A step is: fetch the next region, find
 * out that an operand or unit is not ready (and when it will be), or issue. */
#include "engine/sim/time_int.h"

#include <string.h>

enum { POLICY_GREEDY, POLICY_ROUND_ROBIN };

/* ---- making and starting ---- */

/* Misses that can be outstanding: where data waits in L1, no more than it has lines. */
static uint32_t trackers(const struct time_launch *t)
{
    uint32_t n = (uint32_t)t->g->l1_mshrs, lines = t->l1_bytes >> CACHE_LINE_SHIFT;
    return t->g->l1_transit && lines && lines < n ? lines : n;
}

static bool alloc_arrays(struct time_sm *s, const struct time_launch *t)
{
    const struct sim_preset *g = t->g;
    uint32_t slots = (uint32_t)g->schedulers * s->per_scheduler;
    s->warp = base_alloc(s->nwarps * sizeof *s->warp);
    s->ready = base_alloc(slots * sizeof *s->ready);
    s->age = base_alloc(slots * sizeof *s->age);
    s->scoreboard = base_alloc(((size_t)s->nwarps * t->plan.nslots + 1) * sizeof *s->scoreboard);
    s->cta = base_alloc(s->nctas * sizeof *s->cta);
    s->queue = base_alloc((size_t)g->l1_queue * sizeof *s->queue);
    s->nmshr_blocks = (trackers(t) + TIME_MSHR_BLOCK - 1) / TIME_MSHR_BLOCK;
    s->mshr = base_alloc((size_t)s->nmshr_blocks * TIME_MSHR_BLOCK * sizeof *s->mshr);
    s->mshr_least = base_alloc(s->nmshr_blocks * sizeof *s->mshr_least);
    s->ended = base_alloc(s->nctas * sizeof *s->ended);
    if (g->l2_merge && !(s->flight = base_alloc(TIME_FLIGHTS * sizeof *s->flight))) return false;
    s->loads = base_alloc((t->p->nloads + 1) * sizeof *s->loads);
    return s->warp && s->ready && s->age && s->scoreboard && s->cta && s->queue && s->mshr && s->mshr_least && s->ended && s->loads;
}

static enum status make_caches(struct time_sm *s, const struct time_launch *t)
{
    const struct sim_preset *g = t->g;
    enum status st = cache_l1_init(&s->l1, t->l1_bytes, (uint32_t)g->l1_ways, (uint32_t)g->l1_sector);
    s->l1.hashed = g->l1_hash != 0;
    s->l1.merge_max = (uint8_t)(g->l1_mshr_merge > 255 ? 255 : g->l1_mshr_merge);
    s->l1.update_on_store = g->l1_write != 0;
    s->l1.streaming = !g->l1_reserve;
    s->l1.picks = (uint8_t)g->l1_picks;
    s->has_ro = g->ro_bytes > 0;
    if (st == ST_OK && s->has_ro) st = cache_l1_init(&s->ro, (uint64_t)g->ro_bytes, (uint32_t)g->ro_ways, (uint32_t)g->ro_sector);
    return st;
}

enum status time_sm_init(struct time_sm *s, struct time_group *g, uint32_t id, uint32_t index)
{
    const struct time_launch *t = g->t;
    *s = (struct time_sm){ .group = g, .id = id, .index = index, .nctas = t->ctas_per_sm };
    s->nwarps = t->ctas_per_sm * t->warps_per_cta;
    s->per_scheduler = (s->nwarps + (uint32_t)t->g->schedulers - 1) / (uint32_t)t->g->schedulers;
    if (!alloc_arrays(s, t)) return ST_NOMEM;
    for (uint32_t i = 0; i < (uint32_t)t->g->schedulers * s->per_scheduler; i++) s->ready[i] = TIME_NEVER;
    for (uint32_t i = 0; i < TIME_SCHEDULERS; i++) s->next[i] = TIME_NEVER;
    for (uint32_t i = trackers(t); i < s->nmshr_blocks * TIME_MSHR_BLOCK; i++) s->mshr[i] = TIME_NEVER;
    for (uint32_t i = 0; i < s->nwarps; i++) s->warp[i].slot = s->scoreboard + (size_t)i * t->plan.nslots;
    struct exec_worker *k = g->worker[index % g->nworkers];
    for (uint32_t i = 0; i < s->nctas; i++)
        if (!(s->cta[i].x = exec_cta_new(k))) return ST_NOMEM;
    return make_caches(s, t);
}

void time_sm_free(struct time_sm *s)
{
    for (uint32_t i = 0; s->cta && i < s->nctas; i++)
        if (s->cta[i].x) exec_cta_free(s->cta[i].x);
    cache_l1_free(&s->l1);
    cache_l1_free(&s->ro);
    base_free(s->warp);
    base_free(s->ready);
    base_free(s->age);
    base_free(s->scoreboard);
    base_free(s->cta);
    base_free(s->queue);
    base_free(s->mshr);
    base_free(s->mshr_least);
    base_free(s->ended);
    base_free(s->flight);
    base_free(s->loads);
    base_free(s->request);
}

static inline uint32_t *ready_of(struct time_sm *s, uint32_t w)
{
    uint32_t n = (uint32_t)s->group->t->g->schedulers;
    return &s->ready[w % n * s->per_scheduler + w / n];
}

/* Sets when a warp steps next, from outside of its scheduler's turn. */
static void set_ready(struct time_sm *s, uint32_t w, uint32_t at)
{
    uint32_t sc = w % (uint32_t)s->group->t->g->schedulers;
    *ready_of(s, w) = at;
    if (at < s->next[sc]) s->next[sc] = at;
}

void time_sm_start(struct time_sm *s, uint32_t slot, uint64_t cta, uint8_t place, uint32_t at)
{
    const struct time_launch *t = s->group->t;
    struct time_cta *c = &s->cta[slot];
    exec_cta_start(c->x, cta, s->id, slot * t->warps_per_cta);
    *c = (struct time_cta){ .x = c->x, .index = cta, .first_warp = slot * t->warps_per_cta, .nwarps = exec_cta_nwarps(c->x),
                            .begun = at, .place = place, .used = true };
    c->live = c->nwarps;
    for (uint32_t i = 0; i < c->nwarps; i++) {
        uint32_t id = c->first_warp + i;
        struct time_warp *w = &s->warp[id];
        w->x = exec_cta_warp(c->x, i);
        w->cta = slot;
        w->index = i;
        w->state = WARP_RUN;
        w->bypass = t->l->hw_pi >= 0 && i >= (uint32_t)t->l->hw_pi;
        w->pending = 0;
        w->release = w->started = at;
        w->async = 0;
        memset(w->slot, 0, t->plan.nslots * sizeof *w->slot);
        s->age[ready_of(s, id) - s->ready] = s->arrivals++;
        set_ready(s, id, at);
    }
}

/* ---- barriers and ends ---- */

/* Warps of a CTA that waited and can go on. */
static void wake_cta(struct time_sm *s, const struct time_cta *c, uint32_t t)
{
    for (uint32_t i = 0; i < c->nwarps; i++) {
        struct time_warp *w = &s->warp[c->first_warp + i];
        if (w->state != WARP_BARRIER || exec_warp_blocked(w->x)) continue;
        w->state = WARP_RUN;
        w->release = t + (uint32_t)s->group->t->g->lat_barrier;
        set_ready(s, c->first_warp + i, w->release);
    }
}

static void end_warp(struct time_sm *s, struct time_warp *w, uint32_t t)
{
    struct time_cta *c = &s->cta[w->cta];
    w->state = WARP_ENDED;
    s->warp_cycles += t - w->started;
    if (--c->live == 0) {
        c->used = false;
        s->ended[s->nended++] = (struct time_ended){ w->cta, t, c->begun, c->inst };
    } else {
        wake_cta(s, c, t);
    }
}

/* ---- one step of a warp ---- */

static inline uint32_t operands_ready(const struct time_warp *w, const struct exec_inst *in, uint32_t base)
{
    uint32_t at = 0, n = (uint32_t)in->ndst + in->nsrc;
    for (uint32_t i = 0; i < n; i++)
        if (w->slot[base + in->regs[i]] > at) at = w->slot[base + in->regs[i]];
    return at;
}

static inline void set_results(struct time_warp *w, const struct exec_inst *in, uint32_t base, uint32_t at)
{
    for (uint32_t i = 0; i < in->ndst; i++) w->slot[base + in->regs[i]] = at;
}

/* Moves past what is folded away; false when the region is used up. */
static bool next_op(struct time_sm *s, struct time_warp *w)
{
    const struct time_plan *plan = &s->group->t->plan;
    const struct time_region *r = &plan->region[w->region];
    while (w->pending) {
        uint32_t pc = r->first + plan->order[r->order + w->pos];
        if (pc >= w->lo && pc < w->hi) {
            if (!(plan->op[pc].flags & TIME_FREE)) return true;
            const struct exec_inst *in = &plan->p->code[pc];
            set_results(w, in, plan->op[pc].base, operands_ready(w, in, plan->op[pc].base));
            w->pending--;
        }
        w->pos++;
    }
    return false;
}

static void finish_op(struct time_sm *s, struct time_warp *w, const struct time_op *o, uint32_t t)
{
    const struct sim_preset *g = s->group->t->g;
    w->pos++;
    w->pending--;
    uint32_t until = t + (uint32_t)g->issue_interval;
    if (o->flags & TIME_FENCE) until = t + o->latency;
    if (o->flags & TIME_ALONE && o->unit != UNIT_CONTROL) until = t + o->latency;
    if (o->flags & TIME_ASYNC && w->async > until) until = w->async;
    if (o->flags & TIME_ENDS && o->unit == UNIT_CONTROL && w->branched) until = t + (uint32_t)g->lat_control;
    if (until > w->release) w->release = until;
}

/* Issues code[pc] at t, or says when it could (a later cycle, in *again). */
static bool issue(struct time_sm *s, struct time_warp *w, uint32_t sc, uint32_t pc, uint32_t t, uint32_t *again)
{
    const struct time_plan *plan = &s->group->t->plan;
    const struct time_op *o = &plan->op[pc];
    const struct exec_inst *in = &plan->p->code[pc];
    uint32_t at = operands_ready(w, in, o->base);
    if (s->unit_free[sc][o->unit] > at) at = s->unit_free[sc][o->unit];
    uint8_t mem = w->mem_of[pc - w->lo];
    if (mem && time_lsu_room(s) > at) at = time_lsu_room(s);
    if (at > t) {
        *again = at;
        return false;
    }
    s->unit_free[sc][o->unit] = t + o->busy;
    uint32_t done = t + o->latency;
    if (mem) {
        const struct time_access *a = &w->mem[mem - 1];
        done = time_lsu_issue(s, w, in, a, t);
        if (a->kind == ACCESS_ASYNC && done > w->async) w->async = done;
    }
    set_results(w, in, o->base, done);
    finish_op(s, w, o, t);
    return true;
}

/* Fetches when nothing is left to issue. Returns false when the warp has nothing to do at t. */
static bool refill(struct time_sm *s, struct time_warp *w, uint32_t t, uint32_t *again)
{
    while (!next_op(s, w)) {
        if (w->release > t) {
            *again = w->release;
            return false;
        }
        enum fetch_result f = time_warp_fetch(s, w, t);
        if (f != FETCH_READY) {
            *again = TIME_NEVER;
            if (f == FETCH_FAULT) s->fault = true;
            else if (f == FETCH_ENDED) end_warp(s, w, t);
            else w->state = WARP_BARRIER;
            return false;
        }
        if (s->group->t->plan.op[w->lo].flags & (TIME_BARRIER | TIME_ALONE)) wake_cta(s, &s->cta[w->cta], t);
    }
    return true;
}

/* One step at t. Returns the issue slots taken; *again: when to step next. */
static uint32_t step_warp(struct time_sm *s, uint32_t sc, struct time_warp *w, uint32_t t, uint32_t *again)
{
    const struct time_plan *plan = &s->group->t->plan;
    if (!refill(s, w, t, again)) return 0;
    const struct time_region *r = &plan->region[w->region];
    uint32_t pc = r->first + plan->order[r->order + w->pos];
    uint32_t slots = plan->op[pc].slots ? plan->op[pc].slots : 1;
    if (!issue(s, w, sc, pc, t, again)) return 0;
    *again = t + (uint32_t)s->group->t->g->issue_interval;
    if (!w->pending) {
        if (w->release > *again) *again = w->release;
    } else if (next_op(s, w)) {
        pc = r->first + plan->order[r->order + w->pos];
        uint32_t at = operands_ready(w, &plan->p->code[pc], plan->op[pc].base);
        if (at > *again) *again = at;
    }
    return slots;
}

/* ---- schedulers ---- */

/* Oldest warp that is ready at t; greedy: the last one first. */
static uint32_t pick_greedy(const struct time_sm *s, uint32_t sc, uint32_t t)
{
    const uint32_t *ready = &s->ready[sc * s->per_scheduler], *age = &s->age[sc * s->per_scheduler];
    if (ready[s->last[sc]] <= t) return s->last[sc];
    uint32_t best = 0, best_age = UINT32_MAX;
    for (uint32_t i = 0; i < s->per_scheduler; i++)
        if (ready[i] <= t && age[i] < best_age) {
            best = i;
            best_age = age[i];
        }
    return best;
}

static uint32_t pick_next(const struct time_sm *s, uint32_t sc, uint32_t t)
{
    const uint32_t *ready = &s->ready[sc * s->per_scheduler];
    for (uint32_t i = s->last[sc] + 1; i < s->per_scheduler; i++)
        if (ready[i] <= t) return i;
    for (uint32_t i = 0; i <= s->last[sc]; i++)
        if (ready[i] <= t) return i;
    return 0;
}

static uint32_t earliest(const uint32_t *v, uint32_t n)
{
    uint32_t at = TIME_NEVER;
    for (uint32_t i = 0; i < n; i++) at = v[i] < at ? v[i] : at;
    return at;
}

static void step_scheduler(struct time_sm *s, uint32_t sc, uint32_t t)
{
    const struct sim_preset *g = s->group->t->g;
    uint32_t *ready = &s->ready[sc * s->per_scheduler];
    uint32_t k = g->scheduler_policy == POLICY_GREEDY ? pick_greedy(s, sc, t) : pick_next(s, sc, t);
    uint32_t again = TIME_NEVER;
    s->next[sc] = TIME_NEVER;        /* set_ready may lower it while the warp steps */
    uint32_t slots = step_warp(s, sc, &s->warp[k * (uint32_t)g->schedulers + sc], t, &again);
    ready[k] = again;
    uint32_t from = t;
    if (slots) {
        s->last[sc] = k;
        s->last_cycle = t > s->last_cycle ? t : s->last_cycle;
        s->paired[sc] = g->dual_issue && !s->paired[sc];
        from = t + (s->paired[sc] ? slots - 1 : slots) * (uint32_t)g->issue_interval;
    }
    if (again <= from) {             /* it goes on as soon as the scheduler can */
        s->next[sc] = from;
        return;
    }
    uint32_t at = earliest(ready, s->per_scheduler);
    s->next[sc] = at > from || at == TIME_NEVER ? at : from;
}

uint64_t time_sm_residency(const struct time_sm *s, uint32_t now)
{
    uint64_t n = s->warp_cycles;
    for (uint32_t i = 0; i < s->nwarps; i++)
        if ((s->warp[i].state == WARP_RUN || s->warp[i].state == WARP_BARRIER) && now > s->warp[i].started) n += now - s->warp[i].started;
    return n;
}

uint32_t time_sm_next(const struct time_sm *s)
{
    return earliest(s->next, TIME_SCHEDULERS);
}

void time_sm_run(struct time_sm *s, uint32_t end)
{
    uint32_t n = (uint32_t)s->group->t->g->schedulers;
    while (!s->fault && !s->oom) {
        uint32_t sc = 0, at = s->next[0];
        for (uint32_t i = 1; i < n; i++)
            if (s->next[i] < at) { at = s->next[i]; sc = i; }
        if (at >= end) return;
        step_scheduler(s, sc, at);
    }
}
