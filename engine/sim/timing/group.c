/* A group: SMs stepped together in epochs, with a memory system and a CTA
 * dispatcher. With every SM in it, it is the GPU. As a subset it has a few of the
 * SMs, spread over the GPU, and gets the CTAs they would get: the dispatcher
 * passes over those that would go elsewhere. */
#include "engine/sim/timing/group.h"

#include "engine/sim/exec/exec.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/preset.h"
#include "engine/sim/timing/sm.h"

#include <math.h>
#include <string.h>

/* Private copies of memory for a sample on all SMs. The number is the same on every host, because
 * CTAs with different copies never see each other. */
#define PRIVATE_WORKERS 2u
#define UNIT_CYCLES     32u /* less than any trip between SMs */

/* ---- making ---- */

static enum status make_workers(struct timing_group *g)
{
    const struct timing_launch *t = g->t;
    g->nworkers = t->subset || t->p->ordered ? 1 : t->sampled ? PRIVATE_WORKERS : t->threads;
    if (g->nworkers > g->nunits)
        g->nworkers = g->nunits;
    g->worker = base_alloc(g->nworkers * sizeof *g->worker);
    for (uint32_t i = 0; g->worker && i < g->nworkers; i++) {
        bool dry = t->sampled || t->bare;
        g->worker[i] = dry ? exec_worker_new_private(t->x) : exec_worker_new(t->x);
        if (g->worker[i])
            exec_worker_late(g->worker[i]);
        if (!g->worker[i])
            return ST_NOMEM;
        if (dry && !t->full)
            exec_worker_lean(g->worker[i]);
    }
    return g->worker ? ST_OK : ST_NOMEM;
}

#define CLOSE 8u    /* places that near each other may share what neighbours do */
#define FAR   0xe8u /* of the eight places below, those on the far side */

/* Notes that places i and k lie `apart` from each other. */
static void note_near(struct cache_places *p, uint32_t *known, uint32_t i, uint32_t k, uint32_t apart)
{
    uint32_t d = 0;
    while (d < p->apart && known[d] != apart)
        d++;
    if (d == CACHE_APART)
        return;
    known[d] = apart;
    if (d == p->apart)
        p->apart++;
    p->near_of[i][d] |= (uint8_t)(1u << k);
}

/* The CTAs of each round that the sample runs. Some are near each other, in both directions of a
 * 2-D grid, and as many are far off: so sharing between neighbours and sharing by all can be told
 * apart. Along x the distances are 1, 2, 6, 8, 14 and 16, and on the far side 1, 3, 4, 5 and 6,
 * since rows of data are often some CTAs long. */
static void choose_places(struct timing_group *g, uint32_t all)
{
    const struct sim_launch *l = g->t->l;
    uint32_t flat = l->grid.y * l->grid.z > 1 ? (uint32_t)(l->grid.x % all) : 0;
    uint32_t row = flat > 1 && flat + 1 < all ? flat : 0, far = all / 4 + all / 16, n = 0,
             known[CACHE_APART] = { 0 };
    if (row + CLOSE > far && far + CLOSE > row)
        far += 2 * CLOSE;
    uint32_t base = (uint32_t)((uint64_t)g->number * all / g->t->ngroups);
    /* FAR: the last with `far` */
    const uint32_t plane[] = { 0, 1, row, far, row + 1, far + 1, far + row, far + row + 1 };
    const uint32_t line[] = { 0, 1, 6, far, 4, far + 2, far + 8, far + 16 };
    for (uint32_t i = 0; i < g->nunits; i++) {
        uint32_t id = (base + (row ? plane[i] : line[i])) % all;
        for (uint32_t k = 0; k < n; k++)
            if (g->id[k] == id) { /* taken: the next one, from the start */
                id = (id + 1) % all;
                k = UINT32_MAX;
            }
        g->id[n++] = id;
    }
    g->places = (struct cache_places){ .n = n };
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++) {
            uint32_t apart = (g->id[i] + all - g->id[k]) % all;
            if ((FAR >> i & 1) != (FAR >> k & 1))
                g->places.far_of[i] |= (uint8_t)(1u << k);
            else if (i != k)
                note_near(&g->places, known, i, k, apart < all - apart ? apart : all - apart);
        }
}

static struct timing_rates rates_of(const struct sim_preset *g)
{
    struct timing_rates r = { .lanes = (double)WARP_LANES / (double)g->lanes_lsu };
    for (uint32_t n = 0; n < ARRAY_LEN(r.data); n++)
        r.data[n] = 32.0 * n / (double)g->l1_bytes_per_cycle;
    return r;
}

enum status timing_group_init(struct timing_group *g, const struct timing_launch *t, uint32_t number)
{
    uint64_t all = t->units;
    *g = (struct timing_group){ .t = t, .number = number, .most = t->nctas, .rates = rates_of(t->g) };
    g->nunits = t->subset ? t->simulated : (uint32_t)(all < t->nctas ? all : t->nctas);
    g->nsms = g->nunits * t->span;
    g->sm = base_alloc(g->nsms * sizeof *g->sm);
    if (!g->sm)
        return ST_NOMEM;
    g->turn = (uint64_t)g->nunits * t->ctas_per_sm / 2;
    if (t->subset)
        choose_places(g, (uint32_t)(all < t->nctas ? all : t->nctas));
    enum status st = make_workers(g);
    if (st == ST_OK && !timing_spent_new(g))
        st = ST_NOMEM;
    if (st == ST_OK)
        st = timing_mem_init(&g->mem, t, t->subset ? &g->places : NULL);
    if (st == ST_OK)
        st = timing_mem_keep(&g->mem, t->l->window);
    if (st == ST_OK && t->left)
        cache_l2_take(&g->mem.l2, t->left, t->buffer, t->nbuffers);
    else if (st == ST_OK)
        cache_l2_warm(&g->mem.l2, t->buffer, t->nbuffers);
    if (st == ST_OK && t->own_left)
        cache_l2_own_left(&g->mem.l2);
    if (st == ST_OK && t->g->l2_sides == 2 && (t->subset || g->mem.l2.warm_fits))
        st = cache_sides_init(&g->mem.sides, t->buffer, t->nbuffers,
                              (uint64_t)((double)t->g->l2_bytes * t->g->l2_distinct) >> CACHE_LINE_SHIFT,
                              t->g->l2_age_spread);
    g->mem.sides.alike = t->nctas <= (uint64_t)t->units * t->ctas_per_sm;
    for (uint32_t i = 0; st == ST_OK && i < g->nsms; i++)
        st = timing_sm_init(&g->sm[i], g,
                            (t->subset ? g->id[i / t->span] : i / t->span) * t->span + i % t->span, i);
    return st;
}

void timing_group_free(struct timing_group *g)
{
    for (uint32_t i = 0; g->sm && i < g->nsms; i++)
        if (g->sm[i].group)
            timing_sm_free(&g->sm[i]);
    for (uint32_t i = 0; g->worker && i < g->nworkers; i++)
        if (g->worker[i])
            exec_worker_free(g->worker[i]);
    timing_mem_free(&g->mem);
    timing_spent_free(g);
    timing_phases_free(&g->phases);
    BASE_FREE(g->sm, g->worker);
    diags_free(&g->ds);
}

/* ---- dispatch ---- */

/* The CTA that comes i-th in the order of the launch. */
static uint64_t cta_at(const struct timing_launch *t, uint64_t i)
{
    if (t->l->dispatch == DISPATCH_ADVERSARIAL)
        return t->nctas - 1 - i;
    if (!t->shuffle)
        return i;
    return (i * t->shuffle + (uint32_t)t->l->seed) % t->nctas; /* both below 2^32 */
}

static void start_cta(struct timing_group *g, uint32_t unit, uint32_t slot, uint64_t nth, uint32_t place,
                      uint32_t at)
{
    if (g->start_free > at)
        at = (uint32_t)g->start_free;
    g->start_free = (g->start_free > at ? g->start_free : at) + g->step / g->t->g->cta_rate;
    for (uint32_t r = 0; r < g->t->span; r++)
        timing_sm_start(&g->sm[unit * g->t->span + r], slot, cta_at(g->t, nth), (uint8_t)place, at);
    g->started++;
}

/* The CTA that the dispatcher gives out next; nctas or more: none is left. */
static uint64_t next_cta(const struct timing_group *g)
{
    if (!g->t->subset)
        return g->first + g->given;
    return g->first + g->given / g->nunits * g->round + g->id[g->given % g->nunits];
}

/* One CTA per SM and round; adversarial: an SM is filled before the next gets any. */
static void first_wave(struct timing_group *g)
{
    const struct timing_launch *t = g->t;
    uint64_t all = t->subset ? t->units : g->nunits, capacity = all * t->ctas_per_sm;
    bool fill = t->l->dispatch == DISPATCH_ADVERSARIAL;
    g->step = t->subset ? (double)all / g->nunits : 1;
    for (uint32_t slot = 0; slot < t->ctas_per_sm; slot++)
        for (uint32_t i = 0; i < g->nunits; i++) {
            uint64_t unit = g->sm[i * t->span].id / t->span;
            uint64_t place = fill ? unit * t->ctas_per_sm + slot : (uint64_t)slot * all + unit;
            if (place < t->nctas)
                start_cta(g, i, slot, place, t->subset ? i : 0, slot * (uint32_t)t->g->cta_cycles);
        }
    g->first = capacity < t->nctas ? capacity : t->nctas;
    g->round = all;
}

/* The unit with the earliest ended CTA not yet replaced; nunits: none. */
static uint32_t earliest_end(const struct timing_group *g, const uint32_t *taken)
{
    uint32_t best = g->nunits, at = TIMING_NEVER;
    for (uint32_t i = 0; i < g->nunits; i++) {
        const struct timing_sm *s = &g->sm[i * g->t->span];
        if (taken[i] < s->nended && s->ended[taken[i]].at < at) {
            at = s->ended[taken[i]].at;
            best = i;
        }
    }
    return best;
}

static void note_finished(struct timing_group *g, const struct timing_ended *e)
{
    g->finished++;
    g->finished_inst += e->inst;
    g->finished_squares += (double)e->inst * (double)e->inst;
    g->finished_cycles += e->at - e->begun;
    if (e->at > g->last_end)
        g->last_end = e->at;
}

/* A running CTA takes the next one's work, which ends with it. One worker runs all SMs of such a launch. */
static bool take_cta(void *ctx, uint64_t *index)
{
    struct timing_group *g = ctx;
    if (g->stopped || next_cta(g) >= g->most)
        return false;
    *index = cta_at(g->t, next_cta(g));
    g->given++;
    g->started++;
    g->finished++;
    return true;
}

static enum status dispatch(struct timing_group *g)
{
    bool any = false;
    for (uint32_t i = 0; i < g->nsms; i++)
        any |= g->sm[i].nended > 0;
    if (!any)
        return ST_OK;
    uint32_t *taken = base_alloc(g->nunits * sizeof *taken);
    if (!taken)
        return ST_NOMEM;
    for (uint32_t i; (i = earliest_end(g, taken)) < g->nunits;) {
        struct timing_ended e = g->sm[i * g->t->span].ended[taken[i]++];
        note_finished(g, &e);
        if (g->stopped || next_cta(g) >= g->most)
            continue;
        uint32_t at = e.at + (uint32_t)g->t->g->cta_latency;
        start_cta(g, i, e.slot, next_cta(g), g->t->subset ? (uint32_t)(g->given % g->nunits) : 0,
                  at > g->now ? at : g->now);
        g->given++;
    }
    for (uint32_t i = 0; i < g->nsms; i++)
        g->sm[i].nended = 0;
    base_free(taken);
    return ST_OK;
}

/* ---- running ---- */

struct epoch {
    struct timing_group *g;
    uint32_t end;
};

/* SMs of a unit tell each other things in between: they go on by turns, a few cycles at a time. */
static void run_unit(const struct timing_group *g, uint32_t unit, uint32_t end)
{
    uint32_t span = g->t->span, step = span > 1 ? UNIT_CYCLES : end - g->now;
    for (uint32_t at = g->now; at < end;) {
        at = end - at > step ? at + step : end;
        for (uint32_t r = 0; r < span; r++)
            timing_sm_run(&g->sm[unit * span + r], at);
    }
}

static void run_share(void *ctx, size_t worker)
{
    struct epoch *e = ctx;
    for (uint32_t i = (uint32_t)worker; i < e->g->nunits; i += e->g->nworkers)
        run_unit(e->g, i, e->end);
}

static uint32_t next_event(const struct timing_group *g)
{
    uint32_t at = TIMING_NEVER;
    for (uint32_t i = 0; i < g->nsms; i++) {
        uint32_t t = timing_sm_next(&g->sm[i]);
        if (t < at)
            at = t;
    }
    return at;
}

uint64_t timing_group_instructions(const struct timing_group *g)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < g->nsms; i++)
        n += g->sm[i].inst_warp;
    return n;
}

/* No warp can step although CTAs are left: they wait for each other for ever. */
static enum status report_stuck(struct timing_group *g)
{
    for (uint32_t i = 0; i < g->nsms; i++)
        for (uint32_t k = 0; k < g->sm[i].nctas; k++)
            if (g->sm[i].cta[k].used)
                exec_cta_stuck(g->sm[i].cta[k].x);
    return ST_DEVICE;
}

/* Cycles from look to look, and looks at which all must have been the same: 10 ms of a GPU. */
#define LOOK_CYCLES (1u << 18)
#define STILL_LOOKS 64u

/* Of all CTAs: do all warps wait? Then what others see of them. */
static bool look_at_ctas(const struct timing_group *g, uint64_t *seen)
{
    bool waits = true;
    *seen = g->started + g->finished;
    for (uint32_t i = 0; i < g->nsms; i++)
        for (uint32_t k = 0; k < g->sm[i].nctas; k++) {
            const struct timing_cta *c = &g->sm[i].cta[k];
            if (!c->used)
                continue;
            waits &= exec_cta_waits(c->x->lead);
            *seen = waits ? exec_cta_visible(*seen, c->x->lead) : 0;
        }
    return waits;
}

/* Do all warps wait for what none of them will change? Only who has all CTAs can say. */
static bool stands_still(struct timing_group *g)
{
    struct timing_still *s = &g->still;
    uint64_t seen;
    if (g->t->sampled || g->t->ngroups > 1 || g->t->x->reads_time || g->now - s->at < LOOK_CYCLES)
        return false;
    s->at = g->now;
    bool waits = look_at_ctas(g, &seen);
    seen = waits ? exec_memory_visible(seen, g->t->p->mem) : 0;
    s->looks = waits && seen == s->seen ? s->looks + 1 : 0;
    s->seen = seen;
    return s->looks >= STILL_LOOKS;
}

static enum status report_still(struct timing_group *g)
{
    struct exec_cta *first = NULL;
    for (uint32_t i = 0; i < g->nsms; i++)
        for (uint32_t k = 0; k < g->sm[i].nctas; k++) {
            struct timing_cta *c = &g->sm[i].cta[k];
            if (c->used && (!first || c->x->order < first->order))
                first = c->x;
        }
    if (first)
        exec_fault_spins(first);
    return first ? ST_DEVICE : ST_OK;
}

static enum status check_limits(struct timing_group *g)
{
    const struct sim_launch *l = g->t->l;
    if (cancel_asked(l->cancel))
        return ST_CANCELLED;
    for (uint32_t i = 0; i < g->nsms; i++) {
        if (g->sm[i].oom)
            return ST_NOMEM;
        if (g->sm[i].fault)
            return ST_DEVICE;
    }
    if (exec_launch_faulted(g->t->x) || exec_launch_escaped_region(g->t->x))
        return ST_DEVICE;
    uint64_t most = l->max_cycles ? l->max_cycles : UINT64_MAX;
    if (g->now < most && g->now < TIMING_NEVER - (1u << 24))
        return ST_OK;
    diag_error(&g->ds, "hang", "the launch was stopped after %u cycles with %llu of %llu CTAs finished",
               g->now, (unsigned long long)g->finished, (unsigned long long)g->t->nctas);
    return ST_DEVICE;
}

static void report_progress(const struct timing_group *g)
{
    const struct sim_launch *l = g->t->l;
    if (l->progress && g->number == 0)
        l->progress(l->ctx, (double)g->finished * g->step / (double)g->t->nctas);
}

/* CTAs longer than that many budgets are not run to their end: their rate is known, and the
 * functional run knows all instructions. */
#define PATIENCE   16u
#define STEADY     0.02
#define MANY_WAVES 8u /* of so many the last does not matter much */

/* All SMs together. CTAs that start together go through their phases together, so the rate at which
 * CTAs end is measured over whole waves, from the middle of one to the middle of another. A grid of
 * few waves is shortened by whole waves: its last one is as full as before and ends in the same
 * way. */
static void check_waves(struct timing_group *g, struct timing_mark here, uint64_t budget)
{
    uint64_t wave = (uint64_t)g->nunits * g->t->ctas_per_sm, left = g->t->nctas - next_cta(g);
    if (g->last_turn.at || g->finished < g->turn)
        return;
    g->turn = g->finished + wave;
    if (!g->first_turn.at && (here.inst >= budget / 4 || g->t->nctas < MANY_WAVES * wave))
        g->first_turn = here;
    else if (g->first_turn.at && here.inst >= budget)
        g->last_turn = here;
    if (!g->last_turn.at)
        return;
    g->stopped = g->abandoned = g->t->nctas >= MANY_WAVES * wave;
    g->most = g->t->nctas - (g->stopped ? left : left / wave * wave);
}

static void end_phase(struct timing_group *g, struct timing_mark here)
{
    g->abandoned = !timing_phase_next(g);
    g->phases.at = 0;
    g->phases.begun = here.inst;
    memset(g->lap, 0, sizeof g->lap);
}

/* For CTAs that are not run to their end: whether the last three budgets of instructions took about
 * the same time each. */
static bool is_steady(struct timing_group *g, struct timing_mark here, uint64_t budget)
{
    struct timing_mark *m = g->lap;
    if (here.inst < m[0].inst + budget)
        return false;
    double took = (double)(here.at - m[0].at), each = (double)(m[0].at - m[1].at),
           first = (double)(m[1].at - m[2].at);
    double n = (double)(here.inst - m[0].inst), n1 = (double)(m[0].inst - m[1].inst),
           n2 = (double)(m[1].inst - m[2].inst);
    bool same =
        m[2].inst && fabs(each / n1 * n / took - 1) < STEADY && fabs(first / n2 * n / took - 1) < STEADY;
    m[2] = m[1];
    m[1] = m[0];
    m[0] = here;
    return same;
}

/* A sample whose CTAs do not end: it runs in phases while some warps run ahead of others. If a CTA
 * ends after all, the last phase ends with it. */
static void check_part(struct timing_group *g, struct timing_mark here, uint64_t budget)
{
    if (g->finished >= g->nunits)
        g->abandoned = true;
    else if (!g->phases.at && here.inst >= g->phases.begun + budget)
        timing_phase_begin(g);
    else if (g->phases.at &&
             (here.inst >= g->phases.begun + PATIENCE * budget || is_steady(g, here, budget)))
        end_phase(g, here);
}

static void check_budget(struct timing_group *g, uint64_t budget)
{
    if (!budget)
        return;
    if (g->partial) {
        check_part(g, (struct timing_mark){ g->now, timing_group_instructions(g), g->finished },
                   budget / 2);
        return;
    }
    uint64_t inst = timing_group_instructions(g), wave = (uint64_t)g->nunits * g->t->ctas_per_sm;
    struct timing_mark here = { g->now, inst, g->finished };
    bool few = g->t->endless || g->finished < g->nunits,
         all = g->t->endless || next_cta(g) >= g->t->nctas;
    if (!g->from.at && (inst >= (few && all ? budget : budget / 4) || g->finished >= wave)) {
        g->from = here;
        if (few)
            timing_phase_begin(g);
    }
    if (few && (inst >= PATIENCE * budget || is_steady(g, here, budget))) {
        g->stopped = g->partial = true;
        g->stop = here;
        end_phase(g, here);
        return;
    }
    if (all)
        return;
    if (!g->t->subset) {
        check_waves(g, here, budget);
        return;
    }
    if (!g->stopped && inst >= budget && g->finished >= 2 * wave) {
        g->stopped = true;
        g->stop = here;
    }
    if (!g->stopped && inst >= 2 * budget && g->finished >= g->nunits) {
        g->stopped = g->abandoned = true;
        g->stop = here;
    }
}

static void run_epochs(struct timing_group *g, uint64_t budget, struct epoch *e,
                       struct timing_pool *pool)
{
    while (g->status == ST_OK && !g->abandoned) {
        uint32_t at = next_event(g);
        if (at == TIMING_NEVER) {
            if (g->finished < g->started)
                g->status = report_stuck(g);
            return;
        }
        if (at > g->now + TIMING_EPOCH)
            g->mem.epoch = g->now = at - at % TIMING_EPOCH;
        e->end = g->now + TIMING_EPOCH;
        timing_pool_round(pool);
        timing_mem_enter(&g->mem, g->sm, g->nsms, e->end);
        g->now = e->end;
        g->status = check_limits(g);
        uint64_t before = g->finished;
        if (g->status == ST_OK)
            g->status = dispatch(g);
        if (g->status == ST_OK && stands_still(g))
            g->status = report_still(g);
        if (g->finished != before)
            report_progress(g);
        bool stopped = g->stopped;
        check_budget(g, budget);
        if (g->stopped && !stopped)
            timing_spent_stop(g);
    }
}

void timing_group_run(struct timing_group *g, uint64_t budget)
{
    struct epoch e = { g, 0 };
    struct timing_pool *pool = timing_pool_new(g->nworkers, g->t->threads, run_share, &e);
    if (!pool) {
        g->status = ST_NOMEM;
        return;
    }
    first_wave(g);
    g->t->x->take = take_cta;
    g->t->x->take_ctx = g;
    run_epochs(g, budget, &e, pool);
    timing_pool_free(pool);
    if (!g->stopped)
        timing_spent_end(g);
}

double timing_group_ctas(const struct timing_group *g)
{
    if (!g->abandoned)
        return (double)g->finished;
    return (double)timing_group_instructions(g) * (double)g->finished / (double)g->finished_inst;
}

/* Those that did not run, at the rate at which CTAs ended. */
static double more_waves(const struct timing_group *g)
{
    const struct timing_mark *a = &g->first_turn, *b = &g->last_turn;
    double each = (double)(b->at - a->at) / (double)(b->done - a->done);
    if (!g->stopped)
        return g->last_end + (double)(g->t->nctas - g->most) * each;
    return b->at + (double)(g->t->nctas - b->done) * each;
}

/* When the stores of all SMs have left them and been taken by L2; *atomics: those alone are the last. */
static double drained(const struct timing_group *g, bool *atomics)
{
    double at = g->last_end, units = 0;
    for (uint32_t i = 0; i < g->nsms; i++)
        at = fmax(at, fmax(g->sm[i].store_free, g->sm[i].lsu_free));
    for (uint32_t i = 0; i < g->mem.nslices; i++)
        at = fmax(at, g->mem.slice[i].free);
    for (uint32_t i = 0; i < g->mem.nunits; i++)
        units = fmax(units, g->mem.unit[i].free);
    *atomics = units >= at && units > g->last_end;
    return fmax(at, units);
}

/* The end of a sample, where SMs run empty. */
static double empties(const struct timing_group *g, double rate)
{
    double tail = 0.5 * (double)g->finished_cycles / (double)g->finished;
    if (!g->abandoned)
        tail = g->last_end - g->stop.at -
               ((double)timing_group_instructions(g) - (double)g->stop.inst) / rate;
    return fmax(tail, 0);
}

static double rate_of(const struct timing_group *g)
{
    return (double)(g->stop.inst - g->from.inst) / (double)(g->stop.at - g->from.at);
}

double timing_group_end(const struct timing_group *g, enum limit_cause *why)
{
    bool atomics = false;
    double end = 0;
    *why = LIMIT_IMBALANCE;
    if (g->most < g->t->nctas)
        return 0;
    if (g->stopped)
        return empties(g, rate_of(g));
    end = drained(g, &atomics) - g->last_end;
    *why = atomics ? LIMIT_ATOMICS : LIMIT_L2;
    return end;
}

/* Cycles for the instructions that are left, at the rate seen, and for the end. */
double timing_group_cycles(const struct timing_group *g)
{
    bool atomics;
    if (g->most < g->t->nctas)
        return more_waves(g);
    if (!g->stopped)
        return drained(g, &atomics);
    double per_cta = (double)g->finished_inst / (double)g->finished,
           all = per_cta * (double)g->t->nctas / g->step;
    double rate = rate_of(g);
    return g->from.at + (all - (double)g->from.inst) / rate + empties(g, rate);
}
