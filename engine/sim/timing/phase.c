/* Launches whose CTAs outlast the sample, and whose warps do not keep step: some hit in L1 and run ahead
 * of those that bypass it. The launch lasts as long as its slowest warps, which then have the SM to
 * themselves, so one mean rate of all instructions says too little. The sample is taken in phases
 * instead:
 *
 *     phase 0   all warps            class 0 (fastest) ends here
 *     phase 1   classes 1, 2, ...    class 1 ends here
 *     ...                            each phase: rate of every class, counters
 *
 * A class is a set of places of warps in their CTA that get on alike. When a phase is steady its fastest
 * class is taken off the SMs and the rest run on. How long each phase lasts in the launch is known when
 * a functional run has counted the instructions of the warps by their place. Warps that wait for each
 * other at barriers keep step: one class. */
#include "engine/sim/timing/phase.h"

#include "engine/rec/counter_ids.h"
#include "engine/sim/decoded.h"
#include "engine/sim/timing/group.h"
#include "engine/sim/timing/sm.h"
#include "engine/sim/timing/warp.h"

#include <math.h>
#include <string.h>

/* of the fastest of a class: a warp slower than that is in the next */
#define SAME_PACE 0.94

/* ---- counters of a group ---- */

static void add_loads(struct sim_load_stats *to, const struct timing_load_count *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        to[i].executions += from[i].executions;
        to[i].requests += from[i].requests;
        to[i].sectors += from[i].sectors;
        to[i].l1_hits += from[i].l1_hits;
        to[i].threads += from[i].threads;
    }
}

void timing_sm_count(const struct timing_sm *s, struct sim_stats *o)
{
    o->inst_warp += s->inst_warp;
    o->inst_thread += s->inst_thread;
    o->l1_requests += s->l1_requests;
    o->l1_sectors += s->l1_sectors;
    o->l1_hits += s->l1_hits;
    for (unsigned k = 0; k < PIPE_COUNT; k++)
        o->work.flop[k] += s->flop[k];
    for (unsigned k = 0; k < COUNTER_COUNT; k++)
        o->work.count[k] += s->count[k];
    o->work.tensor_busy += s->tensor_busy;
    o->work.load_cycles += s->load_cycles;
    o->work.loading_cycles += s->loading_cycles;
    o->work.copies += s->copies;
    o->work.copy_reads += s->copy_reads;
    o->work.copy_writes += s->copy_writes;
    add_loads(o->loads, s->loads, o->nloads);
}

void timing_scaled_counters(struct sim_stats *o, uint64_t *v[TIMING_SCALED])
{
    enum { NAMED = TIMING_SCALED - PIPE_COUNT - COUNTERS_MOST };
    uint64_t *all[NAMED] = { &o->inst_warp,        &o->inst_thread,      &o->l1_requests,
                             &o->l1_sectors,       &o->l1_hits,          &o->l2_reads,
                             &o->l2_hits,          &o->l2_missed,        &o->l2_writes,
                             &o->work.tensor_busy, &o->work.copies,      &o->work.copy_reads,
                             &o->work.copy_writes, &o->work.copy_hits,   &o->work.copy_missed,
                             &o->work.write_hits,  &o->work.load_cycles, &o->work.loading_cycles };
    memcpy(v, all, sizeof all);
    for (unsigned k = 0; k < PIPE_COUNT; k++)
        v[NAMED + k] = &o->work.flop[k];
    for (unsigned k = 0; k < COUNTERS_MOST; k++)
        v[NAMED + PIPE_COUNT + k] = &o->work.count[k];
}

/* The plain counters of sim_stats, for arithmetic on all of them. */
enum { PLAIN = TIMING_SCALED + 2, OF_LOAD = 5 };
static void plain_counters(struct sim_stats *o, uint64_t *v[PLAIN])
{
    timing_scaled_counters(o, v);
    v[TIMING_SCALED] = &o->dram_read_bytes;
    v[TIMING_SCALED + 1] = &o->dram_write_bytes;
}
static void load_counters(struct sim_load_stats *c, uint64_t *v[OF_LOAD])
{
    uint64_t *all[OF_LOAD] = { &c->executions, &c->requests, &c->sectors, &c->l1_hits, &c->threads };
    memcpy(v, all, sizeof all);
}

double timing_extended(double v, double fewer, double by)
{
    return fmax(0, v + (v - fewer) * by);
}

static uint64_t extended(uint64_t v, uint64_t fewer, double by)
{
    return (uint64_t)(timing_extended((double)v, (double)fewer, by) + 0.5);
}

/* Each counter of `to` becomes made(its own, that of `from`, by). */
static void each_counter(struct sim_stats *to, struct sim_stats *from,
                         uint64_t (*made)(uint64_t own, uint64_t other, double by), double by)
{
    uint64_t *a[PLAIN], *b[PLAIN], *c[OF_LOAD], *d[OF_LOAD];
    plain_counters(to, a);
    plain_counters(from, b);
    for (int i = 0; i < PLAIN; i++)
        *a[i] = made(*a[i], *b[i], by);
    for (uint32_t k = 0; k < to->nloads && k < from->nloads; k++) {
        load_counters(&to->loads[k], c);
        load_counters(&from->loads[k], d);
        for (int i = 0; i < OF_LOAD; i++)
            *c[i] = made(*c[i], *d[i], by);
    }
}

static uint64_t added(uint64_t own, uint64_t other, double by)
{
    return own + (uint64_t)((double)other * by + 0.5);
}

static uint64_t less(uint64_t own, uint64_t other, double by)
{
    (void)by;
    return own - other;
}

void timing_extend_counters(struct sim_stats *to, struct sim_stats *from, double by)
{
    each_counter(to, from, extended, by);
}

/* What the group has counted so far; DRAM bytes as its SMs' share. Owned by the caller; loads NULL: out
 * of memory. */
static struct sim_stats counted(const struct timing_group *g)
{
    struct sim_stats o = { .nloads = g->t->p->nloads };
    o.loads = base_alloc((o.nloads + 1) * sizeof *o.loads);
    if (!o.loads)
        return o;
    for (uint32_t i = 0; i < g->nsms; i++)
        timing_sm_count(&g->sm[i], &o);
    o.l2_reads = g->mem.reads;
    o.l2_hits = g->mem.hits;
    o.l2_missed = g->mem.missed;
    o.l2_writes = g->mem.writes;
    o.work.write_hits = g->mem.write_hits;
    o.work.copy_hits = g->mem.copy_hits;
    o.work.copy_missed = g->mem.copy_missed;
    o.dram_read_bytes = (uint64_t)(g->mem.dram_read / g->mem.scale);
    o.dram_write_bytes = (uint64_t)(g->mem.dram_write / g->mem.scale);
    return o;
}

/* ---- a phase of a group ---- */

static bool has_barriers(const struct timing_plan *plan)
{
    for (uint32_t i = 0; i < plan->p->ncode; i++)
        if (plan->op[i].flags & TIMING_BARRIER)
            return true;
    return false;
}

static bool may_differ(const struct timing_launch *t)
{
    return t->subset && !t->endless && t->cluster == 1 && t->warps_per_cta > 1 &&
           t->warps_per_cta <= SIM_CTA_WARPS && !has_barriers(&t->plan);
}

void timing_phase_begin(struct timing_group *g)
{
    if (!g->phases.part.nclasses && !may_differ(g->t))
        return;
    uint32_t n = g->sm[0].nwarps;
    if (!g->phases.inst)
        g->phases.inst = base_alloc((size_t)g->nsms * n * sizeof *g->phases.inst);
    sim_stats_free(&g->phases.from);
    g->phases.from = counted(g);
    g->phases.at = g->now;
    if (!g->phases.inst)
        return;
    for (uint32_t i = 0; i < g->nsms; i++)
        memcpy(g->phases.inst + (size_t)i * n, g->sm[i].warp_inst, n * sizeof *g->phases.inst);
}

/* Instructions per cycle of the mean warp of each place in its CTA, since the phase began; 0: no such
 * warp runs. */
static void place_rates(const struct timing_group *g, double rate[SIM_CTA_WARPS])
{
    uint32_t warps[SIM_CTA_WARPS] = { 0 };
    memset(rate, 0, SIM_CTA_WARPS * sizeof *rate);
    for (uint32_t i = 0; i < g->nsms; i++)
        for (uint32_t k = 0; k < g->sm[i].nwarps; k++) {
            const struct timing_warp *w = &g->sm[i].warp[k];
            if (w->state != WARP_RUN)
                continue;
            rate[w->index] +=
                (double)(g->sm[i].warp_inst[k] - g->phases.inst[(size_t)i * g->sm[i].nwarps + k]);
            warps[w->index]++;
        }
    for (uint32_t i = 0; i < SIM_CTA_WARPS; i++)
        if (warps[i])
            rate[i] /= warps[i] * (double)(g->now - g->phases.at);
}

/* Orders the warps' places by speed, fastest first, and cuts them into classes where one falls
 * behind the first of its class. The last class takes the rest. */
static void find_classes(struct sim_part *p, const double *rate, uint32_t n)
{
    uint8_t by_pace[SIM_CTA_WARPS] = { 0 };
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = i;
        for (; k && rate[by_pace[k - 1]] < rate[i]; k--)
            by_pace[k] = by_pace[k - 1];
        by_pace[k] = (uint8_t)i;
    }
    double most = rate[by_pace[0]], least = rate[by_pace[n - 1]],
           step = pow(least / most, 1.0 / SIM_CLASSES);
    double first = most;
    p->nclasses = 1;
    for (uint32_t i = 0; i < n; i++) {
        double r = rate[by_pace[i]];
        if (r < first * fmin(step, SAME_PACE) && p->nclasses < SIM_CLASSES) {
            p->nclasses++;
            first = r;
        }
        p->class_of[by_pace[i]] = (uint8_t)(p->nclasses - 1);
    }
}

static void note_phase(struct timing_group *g, const double *rate)
{
    struct sim_phase *ph = &g->phases.part.phase[g->phases.part.nphases++];
    uint32_t places[SIM_CLASSES] = { 0 };
    *ph = (struct sim_phase){ .cycles = g->now - g->phases.at, .seen = counted(g) };
    if (ph->seen.loads)
        each_counter(&ph->seen, &g->phases.from, less, 0);
    for (uint32_t i = 0; i < g->t->warps_per_cta; i++) {
        ph->rate[g->phases.part.class_of[i]] += rate[i];
        places[g->phases.part.class_of[i]]++;
    }
    for (uint32_t c = 0; c < g->phases.part.nclasses; c++)
        ph->rate[c] /= places[c];
}

bool timing_phase_next(struct timing_group *g)
{
    if (!g->phases.inst || !g->phases.from.loads || g->now <= g->phases.at)
        return false;
    double rate[SIM_CTA_WARPS];
    place_rates(g, rate);
    if (!g->phases.part.nclasses) {
        for (uint32_t i = 0; i < g->t->warps_per_cta; i++)
            /* some end at once, or the grid is no whole CTA per SM */
            if (!(rate[i] > 0))
                return false;
        find_classes(&g->phases.part, rate, g->t->warps_per_cta);
    }
    uint32_t over = g->phases.part.nphases;
    note_phase(g, rate);
    if (g->phases.part.nphases == g->phases.part.nclasses)
        return false;
    for (uint32_t i = 0; i < g->nsms; i++)
        for (uint32_t k = 0; k < g->sm[i].nwarps; k++) {
            struct timing_warp *w = &g->sm[i].warp[k];
            if (w->state == WARP_RUN && g->phases.part.class_of[w->index] == over)
                w->gone = true;
        }
    return true;
}

void timing_phases_free(struct timing_phases *p)
{
    for (uint32_t i = 0; i < p->part.nphases; i++)
        sim_stats_free(&p->part.phase[i].seen);
    sim_stats_free(&p->from);
    base_free(p->inst);
    *p = (struct timing_phases){ 0 };
}

/* ---- the launch, from its parts ---- */

bool timing_parts_take(struct timing_group *g, uint32_t n, struct sim_stats *o)
{
    bool differ = false, all = true;
    for (uint32_t i = 0; i < n; i++) {
        const struct sim_part *p = &g[i].phases.part;
        all = all && p->nclasses && p->nphases == p->nclasses;
        for (uint32_t k = 0; k < p->nphases; k++)
            all = all && p->phase[k].seen.loads;
        differ |= p->nclasses > 1;
    }
    if (!all || !differ || !(o->parts = base_alloc(n * sizeof *o->parts)))
        return false;
    o->nparts = n;
    for (uint32_t i = 0; i < n; i++) {
        const struct timing_launch *t = g[i].t;
        o->parts[i] = g[i].phases.part;
        o->parts[i].ctas = t->nctas;
        o->parts[i].warps = t->warps_per_cta;
        o->parts[i].waves = fmax(1, (double)t->nctas / ((double)t->units * t->ctas_per_sm));
        g[i].phases.part.nphases = 0; /* theirs now */
    }
    return true;
}

/* Length of each phase in cycles: until the class that ends in it has executed all instructions of
 * its warps. */
static double lengths(const struct sim_part *p, const struct sim_stats *whole, double len[SIM_CLASSES])
{
    double left[SIM_CLASSES] = { 0 }, all = 0;
    uint32_t places[SIM_CLASSES] = { 0 };
    for (uint32_t i = 0; i < p->warps; i++) {
        left[p->class_of[i]] += (double)whole->inst_of_warp[i] / (double)p->ctas;
        places[p->class_of[i]]++;
    }
    for (uint32_t c = 0; c < p->nclasses; c++)
        left[c] /= places[c];
    for (uint32_t k = 0; k < p->nphases; k++) {
        const struct sim_phase *ph = &p->phase[k];
        len[k] = ph->rate[k] > 0 ? left[k] / ph->rate[k] : 0;
        for (uint32_t c = k; c < p->nclasses; c++)
            left[c] = fmax(0, left[c] - ph->rate[c] * len[k]);
        all += len[k];
    }
    return all * p->waves;
}

void timing_parts_add(struct sim_stats *o, const struct sim_stats *whole)
{
    each_counter(o, o, less, 0);
    o->cycles = 0;
    for (uint32_t i = 0; i < o->nparts; i++) {
        double len[SIM_CLASSES];
        o->cycles += lengths(&o->parts[i], whole, len) / o->nparts;
        for (uint32_t k = 0; k < o->parts[i].nphases; k++) {
            struct sim_phase *ph = &o->parts[i].phase[k];
            each_counter(o, &ph->seen, added, len[k] / ph->cycles);
        }
    }
}
