/* Load/store unit and L1 of one SM. Lines are looked up as many a cycle as there are tag banks, and
 * their data leave at l1_bytes_per_cycle; a miss needs one of l1_mshrs trackers, else everything behind
 * it waits (the replay); where l1_bypass_tracks is 0, not one that passes L1 by. Stores hold the data
 * stage too. Counters follow the hardware's: a request is one warp instruction, sectors are distinct
 * 32-byte pieces, a hit on a pending sector is a hit. */
#include "engine/ptx/ptx_table.h"
#include "engine/ptx/text_marks.h"
#include "engine/rec/counter_ids.h"
#include "engine/sim/timing/access.h"
#include "engine/sim/timing/group.h"
#include "engine/sim/timing/sm.h"
#include "engine/sim/timing/warp.h"

struct load_way { /* how one load goes */
    struct cache_l1 *cache;
    struct cache_route route;
    uint32_t latency;
    uint8_t place;
    bool counted, few, own;
};

static inline double max_d(double a, double b)
{
    return a > b ? a : b;
}

static void ring_push(struct timing_ring *r, uint32_t done, struct timing_blame by)
{
    r->done[r->at] = done;
    r->by[r->at] = by;
    if (++r->at == r->n)
        r->at = 0;
}

/* The instruction being issued leaves the queue at `done`; timing_lsu_issue enters it. */
static void leaves_queue(struct timing_sm *s, double done)
{
    s->left = (uint32_t)done;
}

/* Miss trackers are handed out in turn: with n trackers a miss waits until the miss n before it has
 * its data. */
static uint32_t *tracker_wait(struct timing_sm *s, double *at)
{
    uint32_t *m = &s->mshr[s->mshr_at];
    if (++s->mshr_at == s->nmshrs)
        s->mshr_at = 0;
    if (*m > *at)
        *at = *m;
    return m;
}

/* What holds a tracker: a queue that its miss is in for more than a fifth of its time; with shorter queues,
 * that there are so few trackers. */
static uint8_t tracker_holder(const struct timing_stages *x, uint32_t took)
{
    float l2 = x->took[STAGE_L2], dram = x->took[STAGE_DRAM];
    if (5 * (l2 + dram) < (float)took)
        return LIMIT_L1;
    return l2 > dram ? LIMIT_L2 : LIMIT_DRAM;
}

/* Room for sectors in flight (l1_flight) is handed out in the same way. */
static void room_wait(struct timing_sm *s, uint32_t sectors, double *at)
{
    uint32_t k = s->room_at, latest = 0;
    for (uint32_t i = 0; s->nroom && i < sectors; i++) {
        latest = s->room[k] > latest ? s->room[k] : latest;
        if (++k == s->nroom)
            k = 0;
    }
    if (latest > *at)
        *at = latest;
}

static void room_take(struct timing_sm *s, uint32_t sectors, uint32_t until)
{
    for (uint32_t i = 0; s->nroom && i < sectors; i++) {
        s->room[s->room_at] = until;
        if (++s->room_at == s->nroom)
            s->room_at = 0;
    }
}

/* The lines of L1 that one load brings or finds. Their data stay until the load has read them: all
 * of them are there and L1 has been read, or the data stage has passed (`l1.rows` in
 * tests/gpu/micro.c). Lines per cycle on an H200 with a small L1: 0.573 kept and 0.660 passing,
 * modelled 0.558 and 0.652 ("l2.sm ... small L1" in tests/gpu/micro.c). */
/* read: when the data stage has given out what is there */
struct load_lines {
    struct cache_line *line[2 * WARP_LANES];
    uint32_t n, read;
};

static uint32_t fetch_miss(struct timing_sm *s, const struct load_way *way, uint64_t line,
                           const struct cache_answer *a, double *at, struct load_lines *brought)
{
    bool past = way->route.l1 == CACHE_BYPASS || way->cache == &s->ro;
    bool tracks = !past || s->group->t->g->l1_bypass_tracks;
    double before = *at;
    uint32_t *tracker = tracks ? tracker_wait(s, at) : NULL, sectors = cache_count(a->miss);
    uint8_t held_by = tracker && *at > before ? s->mshr_by[tracker - s->mshr] : LIMIT_L1;
    double tracked = *at;
    room_wait(s, sectors, at);
    if (*at > tracked)
        held_by = s->now.miss_by;
    struct cache_l2_request r = { .line = line,
                                  .at = (uint32_t)*at,
                                  .sectors = a->miss,
                                  .alloc = way->route.l2,
                                  .next = way->route.next,
                                  .place = way->place,
                                  .few = way->few,
                                  .own = way->own };
    double waited = *at - before;
    uint32_t arrival = timing_mem_read(s, &r, way->route.granule);
    *(s->now.rest == LIMIT_LOCAL ? &s->spent[s->now.pc].local : &s->spent[s->now.pc].read) +=
        32 * sectors;
    s->now.miss_by = tracker_holder(&s->now.line, arrival - r.at);
    if (tracker)
        s->mshr_by[tracker - s->mshr] = s->now.miss_by;
    if (waited > 0) {
        s->now.line.took[held_by == LIMIT_L2     ? STAGE_L2
                         : held_by == LIMIT_DRAM ? STAGE_DRAM
                                                 : STAGE_TRACKER] += (float)waited;
        timing_occupy(&s->now.lsu_by, timing_blame_of(s->now.pc, held_by), waited);
        s->now.tracked += waited;
    }
    /* a tracker is free at the mean arrival: a later miss must not wait because an earlier one went
     * to a far slice */
    uint32_t freed = (uint32_t)((int64_t)arrival - r.apart);
    if (tracker)
        *tracker = freed;
    room_take(s, sectors, freed);
    if (a->line)
        cache_l1_fill(a->line, a->line->tag == CACHE_TRANSIT_TAG ? freed : arrival);
    if (a->line && a->line->tag != CACHE_TRANSIT_TAG && brought->n < ARRAY_LEN(brought->line))
        brought->line[brought->n++] = a->line;
    return arrival;
}

/* Looks up one line of a load at cycle *at, or later when no tracker is free. Returns when its data
 * are there. */
static inline __attribute__((always_inline)) uint32_t load_line(struct timing_sm *s,
                                                                const struct load_way *way,
                                                                uint64_t entry, double *at,
                                                                uint8_t *hits,
                                                                struct load_lines *brought)
{
    struct cache_answer a;
    s->now.line = (struct timing_stages){ 0 };
    for (;;) {
        cache_l1_load(way->cache, timing_line(entry), timing_sectors(entry),
                      (enum cache_alloc)way->route.l1, (uint32_t)*at, &a);
        if (!a.stall)
            break;
        *at = a.stall > *at ? a.stall : *at + 1;
    }
    uint32_t done = (uint32_t)*at + way->latency;
    if (a.line)
        cache_l1_hold(a.line, brought->read);
    if (a.pending && a.ready > done) {
        done = a.ready;
        s->now.line = s->now.missed; /* on its way with it */
    }
    if (a.miss) {
        uint32_t arrival = fetch_miss(s, way, timing_line(entry), &a, at, brought);
        if (arrival > done)
            done = arrival;
    }
    *hits = a.hit | a.pending;
    return done;
}

static void count_load(struct timing_sm *s, const struct exec_inst *in, const struct timing_access *a,
                       uint32_t sectors, uint32_t hits)
{
    s->l1_requests++;
    s->l1_sectors += sectors;
    s->l1_hits += hits;
    if (in->load_id == EXEC_NO_ID)
        return;
    struct timing_load_count *c = &s->loads[in->load_id];
    c->executions++;
    c->requests++;
    c->sectors += sectors;
    c->l1_hits += hits;
    c->threads += a->lanes;
}

static inline void find_way(struct timing_sm *s, struct timing_warp *w, const struct exec_inst *in,
                            const struct timing_access *a, uint64_t addr, struct load_way *way)
{
    const struct sim_preset *g = s->group->t->g;
    const struct timing_plan *plan = &s->group->t->plan;
    way->cache = &s->l1;
    way->latency = (uint32_t)g->l1_latency;
    way->place = s->cta[w->cta].place;
    way->few = a->nlines <= g->l2_merge_few;
    way->own = in->mark != MARK_NONE;
    way->counted = a->kind == ACCESS_LOAD && a->space != PTX_SPACE_LOCAL;
    if (a->space == PTX_SPACE_LOCAL) {
        way->route = (struct cache_route){ .l1 = CACHE_NORMAL,
                                           .l2 = CACHE_NORMAL,
                                           .granule = (uint8_t)(g->l2_fill / 32) };
        return;
    }
    way->route =
        a->hint ? cache_route_load(g, &in->policy, a->hint, addr) : plan->route[in - plan->p->code];
    if (way->route.read_only && s->has_ro) {
        way->cache = &s->ro;
        way->latency = (uint32_t)g->ro_latency;
    }
    if (w->bypass)
        way->route.l1 = CACHE_BYPASS;
}

static uint32_t sectors_of(const uint64_t *lines, uint32_t n)
{
    uint32_t sectors = 0;
    for (uint32_t i = 0; i < n; i++)
        sectors += cache_count(timing_sectors(lines[i]));
    return sectors;
}

/* The bank of a line's tag, as a bit. Of four, the sum of the line number's digits to base four: lines
 * beside each other and lines a power of two apart lie in different ones (rows of 132 to 4096 bytes on
 * an H200, tests/gpu/micro.c). */
static inline uint32_t tag_bank(uint64_t line, uint32_t banks)
{
    if (banks != 4)
        return 1u << line % banks;
    /* of two digits, then of four */
    uint64_t sums = (line & 0x3333333333333333u) + (line >> 2 & 0x3333333333333333u);
    sums = (sums & 0x0f0f0f0f0f0f0f0fu) + (sums >> 4 & 0x0f0f0f0f0f0f0f0fu);
    return 1u << (sums * 0x0101010101010101u >> 56 & 3);
}

/* Two stages. Lines are looked up l1_tag_banks per cycle, and misses leave. The data come from the
 * 32 banks of shared memory, so lanes whose words lie in one bank take turns (rows a multiple of
 * 128 bytes apart: one lane per cycle). Look-ups run ahead of the data of misses until no line is
 * free. */
/* Returns when the last datum of a load leaves that needs `passes` of the data stage from `begin`
 * on. Lanes of one bank leave one by one, every l1_bank_turn cycles, also when other warps come
 * between; loads of one warp do not overlap. Data from L2 are later by l1_bank_late for each lane. */
static uint32_t last_datum(const struct sim_preset *g, struct timing_warp *w, double begin,
                           uint32_t passes)
{
    double *drained = &w->work->drained;
    if (*drained > begin)
        begin = *drained;
    *drained = begin + g->l1_bank_drain * (passes - 1);
    return (uint32_t)(begin + g->l1_bank_turn * (passes - 1));
}

/* A load keeps the unit busy: with sectors that its lanes do not need for half of the time or more, or not. */
static inline void occupy_load(struct timing_sm *s, const struct timing_access *a, uint32_t sectors,
                               double cycles)
{
    bool apart = 32 * sectors >= (uint32_t)a->lanes * a->bytes * 2 + 32,
         local = s->now.rest == LIMIT_LOCAL;
    s->now.own_turns = local ? LIMIT_LOCAL : LIMIT_COALESCING_LOAD;
    timing_occupy(&s->now.lsu_by,
                  timing_blame_of(s->now.pc, apart || local ? s->now.own_turns : LIMIT_L1), cycles);
}

/* Most loads have one line: compiled for n = 1 it has no loop. */
static inline __attribute__((always_inline)) uint32_t load_lines(struct timing_sm *s,
                                                                 struct timing_warp *w,
                                                                 const struct exec_inst *in,
                                                                 const struct timing_access *a,
                                                                 uint32_t t, uint32_t n)
{
    const struct sim_preset *g = s->group->t->g;
    const uint64_t *lines = &w->work->lines[a->first];
    const struct timing_rates *r = &s->group->rates;
    double from = max_d(t, s->lsu_free), tags = from;
    uint32_t banks = (uint32_t)g->l1_tag_banks, taken = 0;
    uint32_t done = 0, sectors = sectors_of(lines, n), hits = 0;
    struct timing_spent *row = &s->spent[s->now.pc];
    row->used += (uint32_t)a->lanes * a->bytes;
    double data =
        max_d(a->passes, sectors < ARRAY_LEN(r->data) ? r->data[sectors]
                                                      : 32.0 * sectors / (double)g->l1_bytes_per_cycle);
    double behind = max_d(s->data_free, from) - from;
    s->data_free = from + behind + data;
    s->loads_in++;
    struct load_way way;
    struct load_lines brought;
    brought.n = 0;
    brought.read = (uint32_t)s->data_free;
    find_way(s, w, in, a, timing_line(lines[0]) << CACHE_LINE_SHIFT, &way);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t hit;
        /* policies by address */
        if (a->hint && i)
            find_way(s, w, in, a, timing_line(lines[i]) << CACHE_LINE_SHIFT, &way);
        uint32_t bank = tag_bank(timing_line(lines[i]), banks);
        /* its tag bank is busy with a line before: in the next cycle */
        tags += taken & bank ? 1 : 0;
        taken = taken & bank ? bank : taken | bank;
        float looked = (float)(tags - from);
        uint32_t ready = load_line(s, &way, lines[i], &tags, &hit, &brought);
        if (ready > done) {
            done = ready;
            s->now.stages = s->now.line;
            s->now.stages.took[STAGE_TURNS] = looked;
        }
        hits += cache_count(hit & timing_sectors(lines[i]));
    }
    s->lsu_free = max_d(tags + 1, from + r->lanes);
    uint32_t turns = a->passes ? a->passes : 1,
             out = last_datum(g, w, s->data_free - data, turns) + way.latency;
    if (hits < sectors)
        done += (uint32_t)(g->l1_bank_late * (turns - 1));
    for (uint32_t i = 0; i < brought.n; i++)
        cache_l1_hold(brought.line[i], done + way.latency);
    /* what misses waits elsewhere */
    leaves_queue(s, hits == sectors ? max_d(s->lsu_free, s->data_free) : s->lsu_free);
    if (out > done) {
        done = out;
        s->now.stages.took[STAGE_UNIT] = (float)behind;
        s->now.stages.took[STAGE_TURNS] = (float)(g->l1_bank_turn * (turns - 1));
    }
    s->now.stages.took[STAGE_UNIT] += (float)(from - t);
    occupy_load(s, a, sectors, max_d(data, s->lsu_free - from - s->now.tracked));
    if (way.counted)
        count_load(s, in, a, sectors, hits);
    return done;
}

static uint32_t issue_load(struct timing_sm *s, struct timing_warp *w, const struct exec_inst *in,
                           const struct timing_access *a, uint32_t t)
{
    return a->nlines == 1 ? load_lines(s, w, in, a, t, 1) : load_lines(s, w, in, a, t, a->nlines);
}

/* A store that covers its sectors wholly has as many bytes as they. */
static bool is_partial(const struct timing_access *a, const uint64_t *lines)
{
    return (uint32_t)a->lanes * a->bytes < 32 * sectors_of(lines, a->nlines);
}

/* Stores to local memory are no different: they make lines in L1 and go on to L2 (H200: 32 warps of each SM
 * store a word a lane every 6.8 to 8 cycles each, which is all that L2 takes).
 *
 * Lines after the first hold the data stage only where sectors are stored in part: 256 stores of eight
 * whole sectors in eight lines take 1,635 cycles on an H200. */
static uint32_t issue_store(struct timing_sm *s, struct timing_warp *w, const struct exec_inst *in,
                            const struct timing_access *a, uint32_t t)
{
    const struct sim_preset *g = s->group->t->g;
    const uint64_t *lines = &w->work->lines[a->first];
    double at = max_d(t, s->lsu_free), from = at;
    uint32_t waits = 0;
    bool partial = is_partial(a, lines), local = a->space == PTX_SPACE_LOCAL;
    struct timing_spent *row = &s->spent[s->now.pc];
    uint8_t left = !partial ? 0 : a->torn == TIMING_ROW_END ? CACHE_SHARED_PART : CACHE_PART;
    const uint64_t *halves = left == CACHE_PART ? lines + a->nlines : NULL;
    s->data_free = max_d(s->data_free, from);
    double begin = s->data_free;
    for (uint32_t i = 0; i < a->nlines; i++) {
        uint64_t line = timing_line(lines[i]);
        cache_l1_store(&s->l1, line, timing_sectors(lines[i]), partial, (uint32_t)at);
        struct cache_l2_request r = { .line = line,
                                      .at = (uint32_t)at,
                                      .sectors = timing_sectors(lines[i]),
                                      .write = 1,
                                      .partial = left,
                                      .halves = halves ? halves[i] : 0,
                                      .place = s->cta[w->cta].place,
                                      .alloc = (uint8_t)cache_route_store(&in->policy, a->hint,
                                                                          line << CACHE_LINE_SHIFT) };
        waits += timing_mem_write(s, &r) - r.at;
        for (uint32_t k = STAGE_L2; k <= STAGE_DRAM; k++)
            s->now.stages.took[k] += s->now.line.took[k] / a->nlines;
        *(local ? &row->local : &row->stored) += 32 * cache_count(r.sectors);
        s->data_free +=
            (partial || !i ? g->l1_store_line : 0) + g->l1_store_sector * cache_count(r.sectors);
        at += 1;
    }
    uint32_t done = (uint32_t)max_d(s->data_free, at + waits / a->nlines);
    bool apart = 32 * sectors_of(lines, a->nlines) >= 2 * (uint32_t)a->lanes * a->bytes + 32;
    s->count[COUNTER_L1_STORE_SECTORS] += local ? 0 : sectors_of(lines, a->nlines);
    row->kept += local ? 0 : (uint32_t)a->lanes * a->bytes;
    s->now.own_turns = local ? LIMIT_LOCAL : apart ? LIMIT_COALESCING_STORE : LIMIT_L1;
    s->now.stages.took[STAGE_UNIT] = (float)(begin - t);
    s->now.stages.took[STAGE_TURNS] = (float)(s->data_free - begin);
    timing_occupy(&s->now.lsu_by, timing_blame_of(s->now.pc, s->now.own_turns), s->data_free - begin);
    s->lsu_free = max_d(at, from + (double)WARP_LANES / (double)g->lanes_lsu);
    leaves_queue(s, max_d(s->lsu_free, done));
    return done;
}

/* Cycles that an atomic keeps the units of its words busy, as H200 micro-kernels show
 * (docs/lab/micro-kernels.md): a sector whose words all lanes name takes less than one of which a
 * part is named; lanes that have one word take further turns. Floats of one word wait for each other's
 * sum. */
static double unit_cycles(const struct sim_preset *g, const struct timing_access *a, uint32_t sectors)
{
    double full = g->l2_atomic_cycles, part = max_d(full, g->l2_atomic_part_cycles),
           again = g->l2_atomic_again_cycles > 0 ? g->l2_atomic_again_cycles : full;
    bool whole = a->passes == sectors && (uint32_t)a->lanes * a->bytes == 32 * sectors;
    double cycles = a->passes == a->lanes     ? a->passes * part
                    : a->level == TIMING_SWAP ? a->passes * full
                    : a->passes > sectors     ? sectors * part + (a->passes - sectors) * again
                                              : a->passes * (whole ? full : part);
    return a->same > 1 ? max_d(cycles, a->same * g->l2_atomic_float_cycles) : cycles;
}

static uint32_t issue_atomic(struct timing_sm *s, struct timing_warp *w, const struct exec_inst *in,
                             const struct timing_access *a, uint32_t t)
{
    double at = max_d(t, s->lsu_free);
    uint32_t sectors = sectors_of(&w->work->lines[a->first], a->nlines);
    s->count[COUNTER_ATOMIC_REQUESTS]++;
    s->count[COUNTER_ATOMIC_EXTRA_PASSES] += a->passes > sectors ? a->passes - sectors : 0;
    double each = unit_cycles(s->group->t->g, a, sectors_of(&w->work->lines[a->first], a->nlines)) /
                  (a->passes ? a->passes : 1);
    uint32_t done = t;
    for (uint32_t i = 0; i < a->nlines; i++) {
        uint64_t e = w->work->lines[a->first + i];
        struct cache_l2_request r = {
            .line = timing_line(e),
            .at = (uint32_t)at,
            .sectors = timing_sectors(e),
            .write = 1,
            .place = s->cta[w->cta].place,
            .returns = a->kind == ACCESS_ATOMIC,
            .own = in->mark != MARK_NONE, /* each cluster's counter has a unit of its own */
            .floats = a->level == TIMING_LOOP,
            .lanes = (uint8_t)(a->passes * (i + 1) / a->nlines - a->passes * i / a->nlines)
        };
        r.unit_cycles = cache_unit_parts(r.lanes * each);
        cache_l1_store(&s->l1, r.line, r.sectors, true, (uint32_t)at);
        uint32_t back = timing_mem_atomic(s, &r);
        s->spent[s->now.pc].atomics += 32 * cache_count(r.sectors);
        if (back > done) {
            done = back;
            s->now.stages = s->now.line;
            s->now.stages.took[STAGE_ATOMICS] += r.lanes + (float)i;
        }
        at += 1;
    }
    s->now.stages.took[STAGE_UNIT] = (float)(at - a->nlines - t);
    timing_occupy(&s->now.lsu_by, timing_blame_of(s->now.pc, LIMIT_ATOMICS), a->nlines);
    s->lsu_free = at;
    leaves_queue(s, max_d(at, s->store_free));
    return done;
}

static uint32_t issue_prefetch(struct timing_sm *s, struct timing_warp *w, const struct exec_inst *in,
                               const struct timing_access *a, uint32_t t)
{
    double at = max_d(t, s->lsu_free);
    for (uint32_t i = 0; i < a->nlines; i++) {
        uint64_t line = timing_line(w->work->lines[a->first + i]);
        if (a->level == 1 && s->group->t->g->l1_prefetch) {
            uint8_t hit;
            struct load_way way;
            find_way(s, w, in, a, line << CACHE_LINE_SHIFT, &way);
            struct load_lines brought;
            brought.n = brought.read = 0;
            load_line(s, &way, line << 4 | 15, &at, &hit, &brought);
            at += 1;
        } else {
            struct cache_l2_request r = { .line = line,
                                          .at = (uint32_t)at,
                                          .sectors = 15,
                                          .quiet = 1,
                                          .place = s->cta[w->cta].place,
                                          .alloc = (uint8_t)cache_route_store(
                                              &in->policy, a->hint, line << CACHE_LINE_SHIFT) };
            timing_mem_quiet(s, &r);
            at += 1;
        }
    }
    s->lsu_free = at;
    leaves_queue(s, at);
    return t;
}

/* Warps that loop on one word wait for one another: one lane of them all succeeds at a time. Returns the
 * cycle at which this warp's turn begins. Where it has several words, the one with the most lanes
 * counts.
 */
static double take_word(struct timing_sm *s, const struct timing_access *a, uint32_t cta, double at)
{
    struct timing_looped *l = &s->looped[(a->word + cta) % TIMING_LOOPED];
    if (l->word == a->word && l->cta == cta)
        at = max_d(at, l->free);
    *l =
        (struct timing_looped){ .word = a->word,
                                .cta = cta,
                                .free = at + a->same * (double)s->group->t->g->atom_shared_loop_cycles };
    return at;
}

/* Shared memory adds integers at its banks. Atomics on floats are a loop of load and
 * compare-and-swap, with one round more for each lane with the same word. A compare-and-swap by
 * itself takes atom_shared_swap_turns turns per lane. */
static uint32_t issue_shared(struct timing_sm *s, const struct timing_access *a, uint32_t cta,
                             uint32_t t)
{
    const struct sim_preset *g = s->group->t->g;
    double at = max_d(t, s->lsu_free);
    bool atomic = a->kind == ACCESS_ATOMIC || a->kind == ACCESS_RED;
    uint32_t passes = a->passes, latency = (uint32_t)(atomic ? g->lat_atom_shared : g->lat_shared);
    if (atomic && a->level == TIMING_LOOP) {
        passes = passes > a->same ? passes : a->same;
        latency += passes * (uint32_t)g->atom_shared_loop_cycles;
        passes *= (uint32_t)g->atom_shared_loop_busy;
        at = take_word(s, a, cta, at); /* those that wait keep the unit busy */
    } else if (atomic && a->level == TIMING_SWAP) {
        passes = (uint32_t)g->atom_shared_swap_turns * (passes > a->same ? passes : a->same);
    }
    double busy = max_d(passes / timing_shared_left(s, at), (double)WARP_LANES / (double)g->lanes_lsu);
    uint32_t least = ((uint32_t)a->lanes * a->bytes + 127) / 128, turns = atomic ? a->same : 0;
    turns = turns > a->passes ? turns : a->passes;
    s->count[atomic ? COUNTER_ATOMIC_REQUESTS : COUNTER_SHARED_PASSES] += atomic ? 1 : turns;
    s->count[atomic ? COUNTER_ATOMIC_EXTRA_PASSES : COUNTER_SHARED_EXTRA_PASSES] +=
        turns > least ? turns - least : 0;
    s->now.stages.took[STAGE_UNIT] = (float)(at - t);
    s->now.stages.took[STAGE_TURNS] = (float)(atomic ? busy - 1 + latency - (double)g->lat_atom_shared
                                              : passes > least ? busy - least
                                                               : 0);
    s->now.own_turns = atomic ? LIMIT_ATOMICS : LIMIT_BANKS;
    timing_occupy(
        &s->now.lsu_by,
        timing_blame_of(s->now.pc, atomic || passes >= 2 * least ? s->now.own_turns : LIMIT_L1), busy);
    s->lsu_free = at + busy;
    leaves_queue(s, s->lsu_free);
    return (uint32_t)(at + busy - 1) + latency;
}

/* Shared memory of another CTA: through the network between SMs, whose bytes per cycle are less than a
 * bank pass has. */
static uint32_t issue_remote(struct timing_sm *s, const struct timing_access *a, uint32_t t)
{
    const struct sim_preset *g = s->group->t->g;
    double bytes = a->pieces ? (a->pieces + 1.0) * TIMING_BULK : (double)a->lanes * a->bytes,
           at = max_d(max_d(t, s->lsu_free), s->remote_free);
    s->remote_free = at + bytes / g->cluster_bytes_per_cycle;
    s->lsu_free = at + max_d(a->pieces ? 1 : a->passes, (double)WARP_LANES / (double)g->lanes_lsu);
    leaves_queue(s, s->lsu_free);
    return (uint32_t)(s->remote_free + (double)g->lat_cluster);
}

static uint32_t issue_lines(struct timing_sm *s, struct timing_warp *w, const struct exec_inst *in,
                            const struct timing_access *a, uint32_t t)
{
    switch (a->kind) {
    case ACCESS_STORE: return issue_store(s, w, in, a, t);
    case ACCESS_ATOMIC: return issue_atomic(s, w, in, a, t);
    case ACCESS_RED: issue_atomic(s, w, in, a, t); return t;
    case ACCESS_PREFETCH: return issue_prefetch(s, w, in, a, t);
    default: return issue_load(s, w, in, a, t);
    }
}

/* A bulk copy longer than lines[] shows: the same again, further on. */
static uint32_t issue_global(struct timing_sm *s, struct timing_warp *w, const struct exec_inst *in,
                             const struct timing_access *a, uint32_t t)
{
    uint32_t done = issue_lines(s, w, in, a, t);
    for (uint32_t k = 0; k < a->pieces; k++) {
        for (uint32_t i = 0; i < a->nlines; i++)
            w->work->lines[a->first + i] += (TIMING_BULK >> CACHE_LINE_SHIFT) << 4;
        uint32_t more = issue_lines(s, w, in, a, t);
        if (more > done)
            done = more;
    }
    return done;
}

#define CONST_LINE 64 /* bytes of a line of the constant cache */

/* Whether the constant cache has a line, which is the latest from now on. */
static bool has_constant(struct timing_sm *s, uint32_t line)
{
    uint32_t n = (uint32_t)(s->group->t->g->const_bytes / CONST_LINE), before = line + 1;
    bool hit = false;
    if (!s->const_line && !(s->const_line = base_alloc((n + 1) * sizeof *s->const_line))) {
        s->oom = true;
        return true;
    }
    for (uint32_t i = 0; i < n && !hit; i++) {
        uint32_t here = s->const_line[i];
        hit = here == line + 1;
        s->const_line[i] = before;
        before = here;
    }
    return hit;
}

/* A read of constants by an index: the words of a warp one after another, each line of 64 bytes that the
 * constant cache lacks from the next level, which all SMs share the less the more of them there are
 * (docs/lab/micro-kernels.md). */
static uint32_t issue_constant(struct timing_sm *s, struct timing_warp *w, const struct timing_access *a,
                               uint32_t t)
{
    const struct sim_preset *g = s->group->t->g;
    double begin = max_d(t, s->const_free), sms = (double)g->sms,
           all = (double)s->group->t->nctas < sms ? (double)s->group->t->nctas / sms : 1;
    uint32_t lack = 0;
    s->now.ahead = s->now.const_by.by;
    for (uint32_t i = 0; i < a->nlines; i++) {
        uint64_t e = w->work->lines[a->first + i];
        for (uint32_t half = 0; half < 2; half++)
            if (timing_sectors(e) >> 2 * half & 3)
                lack += !has_constant(s, (uint32_t)(timing_line(e) * 2 + half));
    }
    double miss = g->const_miss_busy + all * (g->const_miss_shared - g->const_miss_busy);
    s->const_free = begin + a->passes * g->const_word_busy + lack * miss;
    s->now.own_turns = LIMIT_CONSTANT;
    s->now.stages.took[STAGE_UNIT] = (float)(begin - t);
    s->now.stages.took[STAGE_TURNS] = (float)((a->passes - 1) * g->const_word_cycles);
    bool replays = a->passes > 1; /* each word may lack a line too */
    timing_occupy(&s->now.const_by, timing_blame_of(s->now.pc, replays ? LIMIT_CONSTANT : LIMIT_L1),
                  s->const_free - begin);
    return (uint32_t)(begin + (double)g->lat_const_index +
                      (double)(a->passes - 1) * g->const_word_cycles + lack * g->const_miss_cycles);
}

static uint32_t issue_space(struct timing_sm *s, struct timing_warp *w, const struct exec_inst *in,
                            const struct timing_access *a, uint32_t t)
{
    const struct sim_preset *g = s->group->t->g;
    if (a->nbox)
        return timing_copy(s, w, in, a, t);
    switch (a->space) {
    case PTX_SPACE_SHARED: return issue_shared(s, a, w->cta, t);
    case PTX_SPACE_SHARED_CLUSTER: return issue_remote(s, a, t);
    case PTX_SPACE_CONST:
        s->count[COUNTER_CONSTANT_EXTRA_PASSES] += a->passes - 1u;
        if (a->nlines)
            return issue_constant(s, w, a, t);
        s->now.own_turns = LIMIT_CONSTANT;
        s->now.stages.took[STAGE_TURNS] = (float)((double)g->lat_const * (a->passes - 1));
        return t + (uint32_t)(g->lat_const * a->passes);
    case PTX_SPACE_PARAM: return t + (uint32_t)(g->lat_const * a->passes);
    case PTX_SPACE_LOCAL:
        s->count[a->kind == ACCESS_STORE ? COUNTER_LOCAL_STORE_BYTES : COUNTER_LOCAL_LOAD_BYTES] +=
            (uint64_t)a->lanes * a->bytes;
        break;
    default: break;
    }
    return a->nlines ? issue_global(s, w, in, a, t) : t;
}

/* A load of the warp is under way from t to `done`. */
static inline void count_flight(struct timing_sm *s, struct timing_work *k, uint32_t t, uint32_t done)
{
    uint32_t from = k->loading > t ? k->loading : t;
    s->load_cycles += done - t;
    s->loading_cycles += done > from ? done - from : 0;
    k->loading = done > k->loading ? done : k->loading;
}

uint32_t timing_lsu_issue(struct timing_sm *s, struct timing_warp *w, struct timing_sched *q,
                          const struct exec_inst *in, const struct timing_access *a, uint32_t t)
{
    s->left = 0;
    s->now.pc = (uint32_t)(in - s->group->t->plan.p->code);
    s->now.stages = (struct timing_stages){ 0 };
    s->now.tracked = 0;
    s->now.ahead = s->now.lsu_by.by;
    s->now.own_turns = LIMIT_L1;
    s->now.rest = a->space == PTX_SPACE_LOCAL ? LIMIT_LOCAL : LIMIT_LATENCY;
    uint32_t done = issue_space(s, w, in, a, t);
    if (a->kind == ACCESS_LOAD && a->nlines && !a->nbox &&
        (a->space == PTX_SPACE_GLOBAL || a->space == PTX_SPACE_LOCAL))
        count_flight(s, w->work, t, done);
    s->now.why = timing_why_of(s, &s->now.stages, s->now.pc, s->now.own_turns, s->now.rest);
    timing_waits_put(w->work->waits, done, s->now.why);
    if (!s->left)
        return done;
    bool leaves =
        s->now.why.queue.cause != s->now.lsu_by.by.cause && a->kind != ACCESS_LOAD && s->now.why.queued;
    struct timing_blame by = leaves ? s->now.why.queue : s->now.lsu_by.by;
    ring_push(&s->queue, s->left, by);
    ring_push(&q->own, s->left, by);
    return done;
}
