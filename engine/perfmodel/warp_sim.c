/* Warps in time: the interleaving of Nugteren et al. (HPCA'14) with a clock.
 *
 * Every warp of one SM has a clock. The warp that is earliest takes its next memory instruction:
 *
 *   clock + instructions before it
 *     -> load/store unit (one at a time) -> a line in L1, on its way, or to be fetched
 *        data path and banks, a queue behind it
 *        port of the SM, its share of L2's and of DRAM's bandwidth, a queue each
 *
 * and its clock moves on; to where the data is there, when what follows needs it. What ends makes room
 * for the next CTA. L1 is looked up in that order of time: few warps hide less than many, hits on lines
 * that are still on their way wait as long as the miss they ride on, what thrashes thrashes as fast as
 * it is asked for, the last wave counts whole, and several limits that are near each other add up. */
#include "engine/perfmodel/warp_sim.h"

#include <math.h>
#include <string.h>

#define RIDES 2048u /* reads under way that are remembered, by line */

/* at: when its next instruction, `step`, can be issued; age: order of arrival; pending: when the loads
 * asked for so far are there */
struct walker {
    double at, pending;
    uint64_t age;
    uint8_t from;
    bool parked, ended;
    uint32_t cta;
    struct model_walk_step step;
};
struct heap {
    uint32_t *v, n;
    bool by_age;
};
/* later: warps whose time is ahead; ready: the others, greedy ones by age, else by time; last: went
 * last (greedy only) */
struct scheduler {
    struct heap later, ready;
    uint32_t last;
    double free;
};
#define SCHEDULERS 8u
#define NOBODY     UINT32_MAX
struct ride {
    uint64_t line1;
    double until, since;
    uint64_t nth;
    uint8_t sectors, riders;
};
struct walk {
    const struct model_walk_config *c;
    struct model_cache *l1, *ro;
    struct walker *walker; /* slots x warps */
    struct scheduler of[SCHEDULERS];
    uint32_t nof, turn;
    uint32_t *room;              /* of all heaps */
    uint32_t *left, *phase;      /* per slot: warps that still walk; barriers that are past */
    double *queue, *miss, *unit; /* rings of when each entry is free; per atomic unit */
    uint32_t queue_at, miss_at;
    struct ride *ride;
    uint64_t reads;
    double lsu, data, port, store, l2, dram; /* when each is free */
    double lsu_busy, data_busy, leaves /* the queue, the last load */, start_at;
    uint64_t started, arrived;
    double live; /* CTAs begun; warps so far, and those that walk */
    model_walk_next next;
    model_walk_beyond beyond;
    void *ctx;
    struct model_walked *out;
};

/* ---- which walker goes next: binary heaps ---- */
static bool before(const struct walk *w, const struct heap *h, uint32_t a, uint32_t b)
{
    const struct walker *x = &w->walker[a], *y = &w->walker[b];
    if (!h->by_age && x->at != y->at)
        return x->at < y->at;
    return x->age < y->age;
}

static void heap_add(const struct walk *w, struct heap *h, uint32_t v)
{
    uint32_t at = h->n++;
    for (; at && before(w, h, v, h->v[(at - 1) / 2]); at = (at - 1) / 2)
        h->v[at] = h->v[(at - 1) / 2];
    h->v[at] = v;
}

static uint32_t heap_pop(const struct walk *w, struct heap *h)
{
    uint32_t top = h->v[0], v = h->v[--h->n], at = 0;
    for (uint32_t k = 1; k < h->n; k = 2 * at + 1) {
        k += k + 1 < h->n && before(w, h, h->v[k + 1], h->v[k]);
        if (!before(w, h, h->v[k], v))
            break;
        h->v[at] = h->v[k];
        at = k;
    }
    h->v[at] = v;
    return top;
}

static void come(struct walk *w, uint32_t v)
{
    heap_add(w, &w->of[v % w->nof].later, v);
}

/* When this scheduler's next instruction goes; INFINITY: it has none. */
static double next_at(const struct walk *w, const struct scheduler *s, double room)
{
    double at = s->ready.n ? 0 : s->later.n ? w->walker[s->later.v[0]].at : (double)INFINITY;
    if (s->last != NOBODY)
        at = fmin(at, w->walker[s->last].at);
    return fmax(at, fmax(s->free, room));
}

/* Takes out the walker that goes at `at`. */
static uint32_t take_next(struct walk *w, struct scheduler *s, double at)
{
    uint32_t last = s->last;
    s->last = NOBODY;
    while (s->later.n && w->walker[s->later.v[0]].at <= at)
        heap_add(w, &s->ready, heap_pop(w, &s->later));
    if (last != NOBODY && w->walker[last].at <= at)
        return last;
    if (last != NOBODY)
        heap_add(w, &s->later, last);
    return heap_pop(w, &s->ready);
}

/* How long what comes at `at` waits for the unit, which it then holds. */
static double wait_at(double *unit, double at, double turn)
{
    double start = fmax(*unit, at);
    *unit = start + turn;
    return start - at;
}

/* ---- from one memory instruction to the next ---- */
static void wait_for(struct walk *w, struct walker *x)
{
    const double alone[] = { w->c->lat_l1, w->c->lat_l2, w->c->lat_dram };
    if (x->pending <= x->at)
        return;
    /* more than that is queueing */
    w->out->waits[x->from] += fmin(x->pending - x->at, alone[x->from]);
    x->at = x->pending;
}

/* The walker's next instruction and when it comes to the load/store unit; false: the warp has ended. */
static bool prepare(struct walk *w, uint32_t v)
{
    const struct model_walk_config *c = w->c;
    struct walker *x = &w->walker[v];
    if (!w->next(w->ctx, x->cta, v % c->warps, &x->step)) {
        wait_for(w, x);
        return false;
    }
    if (x->step.waits)
        wait_for(w, x);
    /* the schedulers serve all warps alike */
    double shared = c->issue > 0 ? w->live / c->issue : 0;
    x->at += x->step.before * fmax(c->dependent, shared) + x->step.chained * c->lat_shared;
    return true;
}

/* All warps of the CTA that still walk have come to the barrier, or are past it, the last of them at
 * `last` or before: those that wait go on. */
static void pass_barriers(struct walk *w, uint32_t slot, double last)
{
    uint32_t first = slot * w->c->warps, least = UINT32_MAX;
    for (uint32_t v = first; v < first + w->c->warps; v++)
        if (!w->walker[v].ended && w->walker[v].step.phase < least)
            least = w->walker[v].step.phase;
    if (least == UINT32_MAX || least <= w->phase[slot])
        return;
    for (uint32_t v = first; v < first + w->c->warps; v++)
        if (w->walker[v].parked)
            last = fmax(last, w->walker[v].at);
    w->phase[slot] = least;
    for (uint32_t v = first; v < first + w->c->warps; v++) {
        struct walker *x = &w->walker[v];
        if (!x->parked || x->step.phase > least)
            continue;
        x->parked = false;
        x->at = last + w->c->barrier;
        come(w, v);
    }
}

static void end_warp(struct walk *w, uint32_t v)
{
    uint32_t slot = v / w->c->warps;
    struct walker *x = &w->walker[v];
    w->out->cycles = fmax(w->out->cycles, x->at);
    x->ended = true;
    w->left[slot]--;
    w->live--;
}

/* Puts the walker where it goes on: among those that walk, at a barrier, or at its end. */
static void go_on(struct walk *w, uint32_t v)
{
    struct walker *x = &w->walker[v];
    if (!prepare(w, v))
        end_warp(w, v);
    else if (x->step.phase > w->phase[v / w->c->warps])
        x->parked = true;
    else
        come(w, v);
}

static void start_cta(struct walk *w, uint32_t slot, double at)
{
    uint32_t warps = w->c->warps, first = slot * warps, cta = (uint32_t)w->started++;
    at += wait_at(&w->start_at, at, w->c->start_turn) + w->c->start;
    w->left[slot] = warps;
    w->phase[slot] = 0;
    w->live += warps;
    for (uint32_t v = first; v < first + warps; v++)
        w->walker[v] = (struct walker){ .at = at, .pending = at, .age = w->arrived++, .cta = cta };
    for (uint32_t v = first; v < first + warps; v++)
        go_on(w, v);
    pass_barriers(w, slot, at);
}

/* Room for a CTA from `at` on; those without any step make room at once. */
static void fill_slot(struct walk *w, uint32_t slot, double at)
{
    while (!w->left[slot] && w->started < w->c->ctas)
        start_cta(w, slot, at);
}

/* ---- beyond L1 ---- */
/* A read for sectors that were asked for a moment ago rides along. NULL: nothing does here. */
static struct ride *ride_of(struct walk *w, const struct model_walk_line *l, unsigned sectors, double at,
                            bool *rides)
{
    uint64_t hash = (l->line ^ w->reads) * UINT64_C(0x9E3779B97F4A7C15) >> 32;
    double window = (double)(hash % w->c->merge_window);
    struct ride *r = w->ride ? &w->ride[(l->line * UINT64_C(0x9E3779B97F4A7C15) >> 32) % RIDES] : NULL;
    *rides = r && r->line1 == l->line + 1 && !(sectors & ~(unsigned)r->sectors) &&
             r->riders < w->c->merge_answers && at - r->since < window &&
             (double)(w->reads - r->nth) < window;
    return r;
}

/* Asked of L2 at `at`: when it arrives. */
static double fetch(struct walk *w, const struct model_walk_line *l, unsigned sectors, double at,
                    uint8_t *from)
{
    const struct model_walk_config *c = w->c;
    int n = __builtin_popcount(sectors);
    double port = wait_at(&w->port, at, n * c->port_turn), ready;
    float dram = 0;
    bool rides;
    struct ride *r = ride_of(w, l, sectors, at, &rides);
    *from = (uint8_t)w->beyond(w->ctx, l, sectors, &dram);
    w->out->port += n * c->port_turn;
    w->out->missed_sectors += n;
    if (rides) {
        r->riders++;
        return r->until + port;
    }
    double turn = n * c->l2_turn + c->l2_ask + l->crowd * c->l2_hotspot_turn;
    w->out->l2 += turn;
    w->reads++;
    ready = at + port + wait_at(&w->l2, at, turn) + (*from == MODEL_FROM_DRAM ? c->lat_dram : c->lat_l2);
    if (dram > 0) {
        turn = dram * c->dram_turn / (n < 4 && c->dram_scatter > 0 ? c->dram_scatter : 1);
        ready += wait_at(&w->dram, at, turn);
        w->out->dram += turn;
    }
    if (r)
        *r = (struct ride){ l->line + 1, ready, at, w->reads, (uint8_t)sectors, 1 };
    return ready;
}

/* One line of a load at *at, or later when nothing can go for it: when its data is there. */
static double load_line(struct walk *w, struct model_cache *cache, const struct model_walk_line *l,
                        unsigned sectors, double lat, double *at, uint8_t *from)
{
    struct model_cache_answer a;
    for (;;) {
        model_cache_load(cache, l->line, sectors, (enum model_way)l->way, *at, &a);
        if (!(a.stall > 0))
            break;
        *at = fmax(a.stall, *at + 1);
    }
    double done = *at + lat;
    *from = MODEL_FROM_L1;
    if (a.pending && a.ready > done) {
        done = a.ready;
        *from = a.from;
    }
    if (!a.miss)
        return done;
    w->out->missed++;
    uint8_t there;
    double *tracker = w->c->misses ? &w->miss[w->miss_at++ % w->c->misses] : NULL;
    if (tracker)
        *at = fmax(*at, *tracker);
    double ready = fetch(w, l, a.miss, *at, &there);
    if (tracker)
        *tracker = ready;
    model_cache_fill(cache, &a, ready, there);
    if (ready > done) {
        done = ready;
        *from = there;
    }
    return done;
}

/* Two stages: lines are looked up and misses leave; the data, when they are there, come from the banks.
 */
static double take_load(struct walk *w, const struct model_walk_step *s, double at, uint8_t *from)
{
    const struct model_walk_config *c = w->c;
    bool ro = s->kind == MODEL_WALK_READ_ONLY && w->ro;
    double tags = at, done = at, lat = ro ? c->lat_ro : c->lat_l1, sectors = 0;
    *from = MODEL_FROM_L1;
    for (uint32_t i = 0; i < s->nlines; i++) {
        uint8_t where;
        double there =
            load_line(w, ro ? w->ro : w->l1, &s->line[i], s->line[i].sectors, lat, &tags, &where);
        tags += 1 / c->lookups;
        sectors += __builtin_popcount(s->line[i].sectors);
        if (there > done) {
            done = there;
            *from = where;
        }
    }
    double data = fmax(s->data, sectors * c->data_turn);
    double out = at + wait_at(&w->data, at, data) + lat;
    w->lsu = fmax(tags, at + c->least_turn);
    /* what misses does not wait here for its data */
    w->leaves = *from == MODEL_FROM_L1 ? fmax(w->lsu, w->data) : w->lsu;
    w->data_busy += data;
    w->out->lines += s->nlines;
    w->out->sectors += sectors;
    return fmax(done, out);
}

static double take_store(struct walk *w, const struct model_walk_step *s, double at)
{
    const struct model_walk_config *c = w->c;
    bool partial = s->kind == MODEL_WALK_PARTIAL;
    double t = at, done = at;
    for (uint32_t i = 0; i < s->nlines; i++, t += 1) {
        int n = __builtin_popcount(s->line[i].sectors);
        double weight = n * (partial ? c->partial_weight : c->store_weight),
               turn = fmax(n * c->store_turn, c->store_least);
        model_cache_store(w->l1, s->line[i].line, s->line[i].sectors, partial, t);
        double wait = wait_at(&w->store, t, turn) + wait_at(&w->l2, t, weight * c->l2_turn + c->l2_ask);
        if (c->store_dram > 0)
            wait += wait_at(&w->dram, t, n * c->store_dram * c->dram_turn);
        w->out->dram += n * c->store_dram * c->dram_turn;
        w->out->l2 += weight * c->l2_turn + c->l2_ask;
        w->out->stored += weight;
        done = fmax(done, t + wait);
    }
    w->lsu = fmax(t, at + c->least_turn);
    return done;
}

/* Atomics on one sector take turns at its slice, those of all SMs; an SM sends them in order. */
static double take_atomic(struct walk *w, const struct model_walk_step *s, double at)
{
    const struct model_walk_config *c = w->c;
    double t = at, done = at;
    for (uint32_t i = 0; i < s->nlines; i++, t += 1) {
        double turns = (double)(s->data * (i + 1) / s->nlines - s->data * i / s->nlines);
        double *unit =
            &w->unit[c->units ? s->line[i].line / c->unit_lines * UINT64_C(0x9E3779B97F4A7C15) % c->units
                              : 0];
        double wait = wait_at(&w->store, t, c->store_least * __builtin_popcount(s->line[i].sectors)),
               turn = wait_at(unit, t, turns * c->unit_turn);
        if (turn > c->unit_room)
            w->store = fmax(w->store, t + turn - c->unit_room);
        model_cache_store(w->l1, s->line[i].line, s->line[i].sectors, true, t);
        done = fmax(done, t + wait + turn + c->lat_l2 + turns);
    }
    w->lsu = fmax(fmax(t, at + c->least_turn), at);
    return done;
}

static double take_prefetch(struct walk *w, const struct model_walk_step *s, double at)
{
    double t = at;
    for (uint32_t i = 0; i < s->nlines; i++, t += 1) {
        uint8_t from;
        float dram;
        if (s->kind == MODEL_WALK_PREFETCH) {
            uint64_t missed = w->out->missed;
            load_line(w, w->l1, &s->line[i], 15, w->c->lat_l1, &t, &from);
            w->out->missed = missed; /* nobody's loads */
        } else {
            w->beyond(w->ctx, &s->line[i], 15, &dram);
        }
    }
    w->lsu = fmax(t, at + w->c->least_turn);
    return at;
}

/* Issued at `issued`, when the unit's queue has room. */
static void take_step(struct walk *w, struct walker *x, double issued)
{
    const struct model_walk_step *s = &x->step;
    const struct model_walk_config *c = w->c;
    double *room = c->queue ? &w->queue[w->queue_at++ % c->queue] : NULL;
    double at = fmax(issued, w->lsu) + s->passes, done, busy = w->lsu;
    uint8_t from = MODEL_FROM_L2;
    bool quiet =
        s->kind >= MODEL_WALK_RED || s->kind == MODEL_WALK_STORE || s->kind == MODEL_WALK_PARTIAL;
    switch (s->kind) {
    case MODEL_WALK_LOAD:
    case MODEL_WALK_READ_ONLY: done = take_load(w, s, at, &from); break;
    case MODEL_WALK_STORE:
    case MODEL_WALK_PARTIAL: done = take_store(w, s, at); break;
    case MODEL_WALK_ATOMIC:
    case MODEL_WALK_RED: done = take_atomic(w, s, at); break;
    default: done = take_prefetch(w, s, at); break;
    }
    if (room)
        *room = quiet ? fmax(w->lsu, s->kind == MODEL_WALK_RED ? w->store : done) : w->leaves;
    w->lsu_busy += w->lsu - fmax(busy, at) + s->passes;
    x->at = issued + 1; /* the unit has a queue */
    w->out->cycles = fmax(w->out->cycles, s->kind == MODEL_WALK_RED ? w->lsu : done);
    if (!quiet && done > x->pending) {
        x->pending = done;
        x->from = from;
    }
}

/* The scheduler whose next instruction is the earliest; of equals, by turns. NULL: all warps have ended.
 */
static struct scheduler *choose(struct walk *w, double *at)
{
    double room = w->c->queue ? w->queue[w->queue_at % w->c->queue] : 0;
    uint32_t first = w->turn++;
    struct scheduler *best = NULL;
    *at = (double)INFINITY;
    for (uint32_t k = 0; k < w->nof; k++) {
        struct scheduler *s = &w->of[(first + k) % w->nof];
        double t = next_at(w, s, room);
        if (t < *at) {
            *at = t;
            best = s;
        }
    }
    return best;
}

static void walk_all(struct walk *w)
{
    const struct model_walk_config *c = w->c;
    double interval = c->issue > 0 ? w->nof / c->issue : 0, at;
    struct scheduler *s;
    for (uint32_t k = 0; k < c->slots; k++)
        fill_slot(w, k, 0);
    while ((s = choose(w, &at))) {
        uint32_t v = take_next(w, s, at), slot = v / c->warps;
        struct walker *x = &w->walker[v];
        s->free = at + interval;
        take_step(w, x, at);
        if (prepare(w, v) && x->step.phase <= w->phase[slot]) {
            if (c->greedy)
                s->last = v;
            else
                come(w, v);
            continue;
        }
        /* not walking on: at a barrier, or at its end */
        if (x->step.phase > w->phase[slot])
            x->parked = true;
        else
            end_warp(w, v);
        pass_barriers(w, slot, x->at);
        fill_slot(w, slot, x->at);
    }
}

static bool make_heaps(struct walk *w, size_t walkers)
{
    const struct model_walk_config *c = w->c;
    w->nof = c->schedulers ? c->schedulers < SCHEDULERS ? c->schedulers : SCHEDULERS : 1;
    size_t each = walkers / w->nof + 1;
    w->room = base_alloc(2 * each * w->nof * sizeof *w->room);
    for (uint32_t k = 0; w->room && k < w->nof; k++)
        w->of[k] = (struct scheduler){ .later = { w->room + 2 * k * each, 0, false },
                                       .ready = { w->room + (2 * k + 1) * each, 0, c->greedy },
                                       .last = NOBODY };
    return w->room != NULL;
}

static bool make_room(struct walk *w)
{
    const struct model_walk_config *c = w->c;
    size_t n = (size_t)c->slots * c->warps;
    w->walker = base_alloc((n + 1) * sizeof *w->walker);
    w->left = base_alloc((c->slots + 1) * sizeof *w->left);
    w->phase = base_alloc((c->slots + 1) * sizeof *w->phase);
    w->queue = base_alloc((c->queue + 1) * sizeof *w->queue);
    w->miss = base_alloc((c->misses + 1) * sizeof *w->miss);
    w->unit = base_alloc((c->units + 1) * sizeof *w->unit);
    w->ride = c->merge ? base_alloc(RIDES * sizeof *w->ride) : NULL;
    return make_heaps(w, n) && w->walker && w->left && w->phase && w->queue && w->miss && w->unit &&
           (w->ride || !c->merge);
}

struct model_walked model_walk(const struct model_walk_config *c, struct model_cache *l1,
                               struct model_cache *ro, model_walk_next next, model_walk_beyond beyond,
                               void *ctx)
{
    struct model_walked out = { .cycles = 0 };
    struct walk w = {
        .c = c, .l1 = l1, .ro = ro, .next = next, .beyond = beyond, .ctx = ctx, .out = &out
    };
    bool ok = make_room(&w);
    if (ok)
        walk_all(&w);
    for (uint32_t k = 0; ok && k < c->units; k++)
        out.units = fmax(out.units, w.unit[k]);
    out.l1 = fmax(w.lsu_busy, w.data_busy);
    void *const room[] = { w.walker, w.room, w.left, w.phase, w.queue, w.miss, w.unit, w.ride };
    for (size_t i = 0; i < ARRAY_LEN(room); i++)
        base_free(room[i]);
    if (!ok)
        out.cycles = (double)NAN;
    return out;
}
