/* The memory system behind the SMs of a group: L2 slices, DRAM channels, and the
 * ports of each SM. Queues are kept as the time at which they are next free.
 *
 * In a sample every request stands for `scale` of them, so a request occupies a
 * queue scale times as long; there are proportionally fewer queues, so that the
 * load of each keeps the evenness it has on the whole GPU. */
#include "engine/sim/mem.h"
#include "engine/sim/preset.h"
#include "engine/sim/timing/group.h"
#include "engine/sim/timing/sm.h"
#include "engine/sim/window.h"

/* A read on its way. answers 0: nothing; sm: who sent it. */
struct timing_met {
    uint64_t line;
    uint32_t at, sm;
    uint32_t queued; /* cycles that a copy's read waits before its slice */
    uint8_t sectors, answers;
};

#define MOST_LOAD    0.9 /* of DRAM; beyond it the queues themselves say how long it takes */
#define LOAD_EPOCHS  32  /* over which the load is taken */
#define LEAST_QUEUES 6   /* fewer, and all requests of a sample would wait alike */

static uint32_t share_of(int64_t n, double scale)
{
    uint32_t part = (uint32_t)((double)n / scale + 0.5),
             least = n < LEAST_QUEUES ? (uint32_t)n : LEAST_QUEUES;
    return part < least ? least : part;
}

static struct timing_share share_among(uint32_t n)
{
    return (struct timing_share){ UINT64_MAX / n, n };
}

static enum status make_queues(struct timing_mem *m)
{
    const struct sim_preset *g = m->g;
    m->nslices = share_of(g->l2_slices, m->scale);
    m->nchannels = share_of(g->dram_channels, m->scale);
    m->slice = base_alloc(m->nslices * sizeof *m->slice);
    m->channel = base_alloc(m->nchannels * sizeof *m->channel);
    m->nunits = (uint32_t)g->l2_slices;
    m->unit = base_alloc(m->nunits * sizeof *m->unit);
    m->by_slice = share_among(m->nslices);
    m->by_channel = share_among(m->nchannels);
    m->by_unit = share_among(m->nunits);
    if (m->scale > 1 && !(m->asked = base_alloc(TIMING_ASKED * sizeof *m->asked)))
        return ST_NOMEM;
    if (g->l2_merge_sms > 1 && !(m->met = base_alloc(TIMING_FLIGHTS * sizeof *m->met)))
        return ST_NOMEM;
    return m->slice && m->channel && m->unit ? ST_OK : ST_NOMEM;
}

/* Time of a request at its slice, as bytes. A read of one sector takes a full turn; longer reads go
 * at the rate of whole lines, so two sectors of a line cost as much as one (H200). Whole sectors
 * are stored at the rate of whole lines (80 a cycle at the end of a product on an H200); a store that
 * covers some sector only in part takes the extra time of one such sector. The copy engine asks for
 * whole lines, which cost little beyond their data. */
static inline double slice_bytes(const struct sim_preset *g, const struct cache_l2_request *r)
{
    double sectors = cache_count(r->sectors);
    if (!r->write && r->copy)
        return sectors * (32 + g->copy_request_bytes / CACHE_SECTORS);
    if (!r->write) {
        double one = 32 + g->l2_request_bytes,
               all = sectors * (32 + g->l2_request_bytes / CACHE_SECTORS);
        return all > one ? all : one;
    }
    if (!r->partial)
        return sectors * (32 * g->l2_write + g->l2_request_bytes / CACHE_SECTORS);
    return 32 * ((sectors - 1) * g->l2_write + g->l2_partial_write) + g->l2_request_bytes;
}

enum status timing_mem_init(struct timing_mem *m, const struct timing_launch *t,
                            const struct cache_places *places)
{
    const struct sim_preset *g = t->g;
    *m = (struct timing_mem){ .g = g, .scale = places ? (double)t->units / places->n : 1 };
    if (make_queues(m) != ST_OK)
        return ST_NOMEM;
    double cycles_per_s = t->mhz * 1e6;
    m->slice_bytes = g->l2_bytes_per_cycle / m->nslices / m->scale;
    m->channel_bytes = g->dram_gbps * 1e9 * g->dram_efficiency / cycles_per_s / m->nchannels / m->scale;
    m->crowd_cycles = places ? (double)g->sms / g->l2_shared_rate : 0;
    m->turn_cycles = (double)g->sms / g->l2_bytes_per_cycle;
    m->unit_shift = (uint32_t)__builtin_ctzll((uint64_t)g->l2_atomic_unit_bytes) - CACHE_LINE_SHIFT;
    m->atomic_cycles = m->nslices * m->scale / g->l2_atomics_per_cycle;
    for (uint32_t n = 0; n <= CACHE_SECTORS; n++) {
        double bytes = slice_bytes(g, &(struct cache_l2_request){ .sectors = (uint8_t)((1u << n) - 1) });
        m->port_cycles[n] = 32.0 * n / g->icnt_bytes_per_cycle;
        m->ask_cycles[n] = bytes * m->turn_cycles;
        m->slice_cycles[n] = bytes / m->slice_bytes / m->nslices;
    }
    bool split = !places && g->l2_sides == 2;
    uint64_t bytes = (uint64_t)((double)g->l2_bytes * (split ? 1 : g->l2_distinct));
    enum status st = places ? cache_l2_init_sample(&m->l2, bytes, t->units, places, t->p->mem)
                            : cache_l2_init(&m->l2, bytes, (uint32_t)g->l2_ways, g->l2_hash != 0);
    if (st == ST_OK && split)
        cache_l2_split(&m->l2);
    if (st != ST_OK)
        return st;
    cache_l2_shape(&m->l2, cache_l2_traits_of(g));
    double lines = g->l2_parts * (double)(g->l2_bytes >> CACHE_LINE_SHIFT);
    return cache_parts_init(&m->parts, (uint32_t)(lines / m->scale));
}

/* Lines of the window lie in L2 once. */
enum status timing_mem_keep(struct timing_mem *m, const struct sim_window *w)
{
    if (!w || !w->bytes || !w->part || w->ratio <= 0)
        return ST_OK;
    uint64_t first = w->addr >> CACHE_LINE_SHIFT,
             end = ((w->addr + w->bytes - 1) >> CACHE_LINE_SHIFT) + 1;
    return cache_l2_keep(&m->l2,
                         &(struct cache_window){ .first = first,
                                                 .lines = end - first,
                                                 .ratio = w->ratio,
                                                 .part = w->part >> CACHE_LINE_SHIFT,
                                                 .taken = m->l2.parts == 2 ? 1 : m->g->l2_distinct });
}

void timing_mem_free(struct timing_mem *m)
{
    cache_l2_free(&m->l2);
    cache_sides_free(&m->sides);
    cache_parts_free(&m->parts);
    BASE_FREE(m->slice, m->channel, m->unit, m->met, m->asked);
    m->met = NULL;
    m->asked = NULL;
    m->slice = m->channel = m->unit = NULL;
}

/* ---- seen from an SM, within an epoch ---- */

__extension__ typedef unsigned __int128 product;

/* x / n, by the reciprocal: that is at most one too small. *rest: x % n. */
static inline uint64_t divide(const struct timing_share *d, uint64_t x, uint32_t *rest)
{
    uint64_t q = (uint64_t)((product)x * d->inverse >> 64), r = x - q * d->n;
    bool more = r >= d->n;
    *rest = (uint32_t)(more ? r - d->n : r);
    return q + more;
}

/* Neighbouring lines go to different queues, in an order that changes with the address. */
static inline uint16_t spread(uint64_t line, const struct timing_share *d)
{
    uint32_t at;
    uint64_t q = divide(d, line, &at);
    divide(d, at + (uint32_t)(cache_mix(q) >> 40), &at);
    return (uint16_t)at;
}

/* Waiting time at cycle `at`: the backlog at the start of the epoch and what was added since, less
 * what was served. What other SMs add is known only at the end of the epoch; until then each is
 * taken to add as much as this one. */
static inline double waiting(const struct timing_mem *m, const struct timing_queue *q, double added,
                             uint32_t at)
{
    double backlog = q->free > m->epoch ? q->free - m->epoch : 0;
    double w = backlog + added * m->active - (double)(at - m->epoch);
    return w > 0 ? w : 0;
}

/* Time that sectors missing in L2 take of a DRAM channel, as bytes. Parts of a line cost more than
 * whole lines. */
static inline double dram_bytes(const struct sim_preset *g, uint8_t sectors, bool open)
{
    uint32_t n = cache_count(sectors);
    return 32.0 * n / (n < CACHE_SECTORS && !open ? g->dram_scatter : 1);
}

/* The partition of L2 that an SM is wired to. Half of the SMs belong to each; which ones is not
 * modelled. */
static inline unsigned side_of(const struct timing_sm *s)
{
    return s->id & 1;
}

static void note_request(struct timing_sm *s, const struct cache_l2_request *r, uint8_t fetch)
{
    if (s->nrequests == s->cap_requests &&
        !base_grow((void **)&s->request, s->nrequests, &s->cap_requests, sizeof *s->request)) {
        s->oom = true;
        return;
    }
    struct cache_l2_request *to = &s->request[s->nrequests++];
    *to = *r;
    to->fetch = fetch;
    to->side = (uint8_t)(side_of(s) & 1);
}

static inline void choose_queues(const struct timing_mem *m, struct cache_l2_request *r)
{
    r->slice = spread(r->line, &m->by_slice);
    r->channel = m->nchannels == m->nslices ? r->slice : spread(r->line, &m->by_channel);
}

/* A port serves in the order of asking. Returns the delay of this request; the port is busy for
 * `cycles` more. */
static double take_port(double *port_free, double at, double cycles)
{
    double start = *port_free > at ? *port_free : at;
    *port_free = start + cycles;
    return start - at;
}

/* The slices of the SM's own partition are half of l2_far_latency nearer than the mean, those of the
 * other as much farther, and of each some by l2_slice_apart more or less. */
static uint32_t with_distance(const struct sim_preset *g, const struct timing_sm *s,
                              struct cache_l2_request *r, uint32_t cycles)
{
    if (!g->l2_far_latency)
        return cycles;
    uint32_t h = (uint32_t)(cache_mix(r->line) >> 40), most = (uint32_t)g->l2_slice_apart;
    int32_t half = (int32_t)g->l2_far_latency / 2,
            apart = (int32_t)((h >> 4) % (2 * most + 1)) - (int32_t)most;
    apart += cache_side_of(r->line) != side_of(s) ? half : -half;
    r->apart = (int8_t)(apart < -(int32_t)(cycles / 2) ? -(int32_t)(cycles / 2) : apart);
    return (uint32_t)((int64_t)cycles + r->apart);
}

#define LINE_BITS ((1ull << 56) - 1)

/* Whether a read meets an earlier one for the same sectors on its way. The queue before L2 answers
 * up to l2_merge_answers reads with one. */
static bool merges(const struct timing_sm *s, struct timing_flight *f, const struct cache_l2_request *r)
{
    const struct sim_preset *g = s->group->t->g;
    if (!f || f->line != r->line || r->sectors & ~f->sectors || f->answers >= g->l2_merge_answers)
        return false;
    if (r->few) {
        uint32_t spread = (uint32_t)g->l2_merge_spread;
        if (s->loads_in - f->load > (uint32_t)g->l2_merge_loads +
                                        (uint32_t)(cache_mix(r->line ^ s->loads_in) >> 40) % spread ||
            r->at - f->since >= (uint32_t)g->l2_merge_cycles)
            return false;
        f->answers++;
        return true;
    }
    uint32_t window = (uint32_t)(cache_mix(r->line ^ s->reads) >> 40) % (uint32_t)g->l2_merge_window;
    if (s->reads - f->nth >= window || r->at - f->since >= window)
        return false;
    f->answers++;
    return true;
}

/* Cycles that a read of DRAM waits because others come at random: dram_queue times the load over
 * the free share. */
static uint32_t crowded(const struct timing_mem *m)
{
    return (uint32_t)((double)m->g->dram_queue * m->load / (1 - m->load));
}

uint32_t timing_mem_read(struct timing_sm *s, struct cache_l2_request *r, uint8_t granule)
{
    struct timing_mem *m = &s->group->mem;
    const struct sim_preset *g = m->g;
    uint32_t n = cache_count(r->sectors);
    /* the copy engine has spaced them */
    double port = r->copy ? 0 : take_port(&s->port_free, r->at, m->port_cycles[n]);
    choose_queues(m, r);
    double wait = 0;
    if (m->crowd_cycles > 0 && !r->own)
        /* reads that all SMs make at once delay what follows; those merged before L2 count once */
        wait = take_port(&s->ask_free, r->at,
                         m->crowd_cycles * (1 - m->merged) * cache_l2_together(&m->l2, r->line));
    const struct timing_queue *slice = &m->slice[r->slice];
    double served = waiting(m, slice, s->slice_added, r->at);
    bool atomics = slice->atomics > 0.5f;
    wait += served;
    struct timing_flight *f = s->flight ? &s->flight[cache_mix(r->line) % TIMING_FLIGHTS] : NULL;
    if (merges(s, f, r)) {
        s->now.line = s->now.missed;
        return f->until + (uint32_t)port;
    }
    if (m->crowd_cycles > 0 && !r->own)
        s->ask_free += m->ask_cycles[n] * (1 - m->merged);
    uint8_t lack = (uint8_t)(r->sectors & ~cache_l2_probe(&m->l2, side_of(s), r->line, r->sectors)) |
                   cache_parts_wait(&m->parts, r->line, r->sectors);
    wait += port + take_port(&s->out_free, r->at, g->icnt_read_cycles);
    s->slice_added += (r->copy ? slice_bytes(g, r) / m->slice_bytes / m->nslices : m->slice_cycles[n]) *
                      (1 - m->merged);
    uint32_t trip = with_distance(g, s, r, (uint32_t)g->l2_latency);
    s->now.line.took[STAGE_L2] = (float)(atomics ? wait - served : wait);
    s->now.line.took[STAGE_ATOMICS] = (float)(atomics ? served : 0);
    if (lack) {
        double queue = waiting(m, &m->channel[r->channel], s->channel_added, r->at);
        s->channel_added +=
            dram_bytes(g, cache_widen(lack, granule), false) / m->channel_bytes / m->nchannels;
        trip += (uint32_t)(g->dram_latency - g->l2_latency) + crowded(m);
        wait += queue;
        s->now.line.took[STAGE_DRAM] = (float)(queue + crowded(m));
    }
    s->now.missed = s->now.line;
    note_request(s, r, cache_widen(lack, granule));
    uint32_t arrival = r->at + trip + (uint32_t)wait;
    s->reads++;
    if (f)
        *f = (struct timing_flight){ .line = r->line & LINE_BITS,
                                     .until = arrival,
                                     .since = r->at,
                                     .nth = s->reads,
                                     .load = s->loads_in,
                                     .sectors = r->sectors & 15u,
                                     .answers = 1 };
    return arrival;
}

/* A store is done for its SM when its slice takes it. Where L2 has to write lines back, it waits
 * for DRAM too. */
uint32_t timing_mem_write(struct timing_sm *s, struct cache_l2_request *r)
{
    struct timing_mem *m = &s->group->mem;
    const struct sim_preset *g = m->g;
    choose_queues(m, r);
    double cycles = 32.0 * cache_count(r->sectors) / g->icnt_write_bytes_per_cycle;
    if (r->partial && cycles < g->icnt_write_cycles)
        cycles = g->icnt_write_cycles;
    double wait = take_port(&s->store_free, r->at, cycles), out = take_port(&s->out_free, r->at, cycles);
    if (out > wait)
        wait = out;
    wait += waiting(m, &m->slice[r->slice], s->slice_added, r->at);
    s->slice_added += slice_bytes(g, r) / m->slice_bytes / m->nslices;
    double behind = m->written_back * waiting(m, &m->channel[r->channel], s->channel_added, r->at);
    s->now.line.took[STAGE_L2] = (float)wait;
    s->now.line.took[STAGE_DRAM] = (float)behind;
    wait += behind;
    note_request(s, r, 0);
    return r->at + (uint32_t)wait;
}

/* An atomic whose unit is full stays with its SM until there is room at `until`. When as many stay as
 * the SM can hold, those behind them wait. */
static void hold_atomic(struct timing_sm *s, double until)
{
    struct timing_ring *r = &s->held;
    r->done[r->at] = (uint32_t)until;
    if (++r->at == r->n)
        r->at = 0;
    if (r->done[r->at] > s->store_free)
        s->store_free = r->done[r->at];
}

/* Addresses are spread over units at random: of 8 to 64 neighbours two or three fall on one unit, as on
 * an H200. */
static uint16_t unit_of(const struct timing_mem *m, uint64_t line)
{
    uint32_t unit;
    divide(&m->by_unit, cache_mix(line >> m->unit_shift) >> 32, &unit);
    return (uint16_t)unit;
}

/* Atomics on one sector take turns at its slice. */
uint32_t timing_mem_atomic(struct timing_sm *s, struct cache_l2_request *r)
{
    struct timing_mem *m = &s->group->mem;
    choose_queues(m, r);
    const struct sim_preset *g = m->g;
    r->unit = unit_of(m, r->line);
    double wait = waiting(m, &m->slice[r->slice], s->slice_added, r->at);
    s->slice_added += r->lanes * m->atomic_cycles / m->nslices;
    double behind = take_port(&s->store_free, r->at, g->icnt_atomic_cycles * cache_count(r->sectors));
    s->now.line.took[STAGE_L2] = (float)wait;
    wait += behind;
    double turn = waiting(m, &m->unit[r->unit], 0, r->at);
    if (turn > g->l2_atomic_room)
        hold_atomic(s, r->at + turn - g->l2_atomic_room);
    s->now.line.took[STAGE_ATOMICS] = (float)(behind + turn);
    note_request(s, r, 0);
    return r->at + with_distance(g, s, r, (uint32_t)g->l2_latency) + (uint32_t)(wait + turn) + r->lanes;
}

void timing_mem_quiet(struct timing_sm *s, struct cache_l2_request *r)
{
    choose_queues(&s->group->mem, r);
    note_request(s, r, r->sectors);
}

/* ---- end of the epoch: everything is entered ---- */

/* A request that leaves its SM after the end of this epoch (it waits for a miss tracker) is booked
 * at that end. Booked at its own time it would leave the cycles before it unused. */
/* Requests of an epoch queue from the start of the epoch on: an SM whose load/store unit is behind
 * asks for later cycles and must not leave a gap. */
static void occupy(struct timing_queue *q, uint32_t epoch, double cycles)
{
    q->free = (q->free > epoch ? q->free : epoch) + cycles;
}

/* Sectors of a read that come from the other partition. Those that neither side kept become misses. */
static uint8_t look_on_sides(struct timing_mem *m, const struct cache_l2_request *r,
                             struct cache_l2_outcome *o)
{
    if (!m->sides.copy)
        return o->crossed;
    struct cache_sides_outcome s = cache_sides_access(&m->sides, r, o->hit, o->left);
    o->hit &= (uint8_t)~s.lost;
    o->miss |= s.lost;
    return s.crossed;
}

/* What a request takes of its slice. Atomics on the unit that worked last find their data there: they
 * take their turns alone, whether the old value goes back or not (H200: 22 lanes a cycle on one
 * word, 6.9 on one line). */
static double slice_cycles(const struct timing_mem *m, const struct cache_l2_request *r)
{
    double bytes = slice_bytes(m->g, r) / m->slice_bytes, turn = m->g->l2_atomic_cycles * m->scale;
    if (!r->lanes)
        return bytes;
    if (turn > 0 && m->slice[r->slice].last == r->unit + 1u)
        return r->lanes * (turn < m->atomic_cycles ? turn : m->atomic_cycles);
    return r->lanes * m->atomic_cycles + (r->returns ? bytes : 0);
}

/* How many SMs of the GPU ask this unit for each simulated SM that does. Addresses that one sampled
 * place alone asks for are taken to be its own: the other SMs have theirs. */
static double sharers(struct timing_mem *m, const struct cache_l2_request *r)
{
    uint32_t unit = (uint32_t)(r->line >> m->unit_shift);
    if (r->own || !m->asked)
        return 1;
    struct timing_asked *a = &m->asked[cache_mix(unit) % TIMING_ASKED];
    if (a->unit != unit + 1)
        *a = (struct timing_asked){ .unit = unit + 1, .place = r->place };
    a->shared |= a->place != r->place;
    return a->shared ? m->scale : 1;
}

/* A sum of floats takes longer than a turn: the next atomic on the same line waits for it. */
static void enter_atomic(struct timing_mem *m, const struct cache_l2_request *r)
{
    struct timing_queue *unit = &m->unit[r->unit];
    uint32_t line = (uint32_t)r->line + 1u;
    double cycles = (double)r->unit_cycles / CACHE_UNIT_PARTS;
    if (r->floats && r->lanes == 1 && unit->last == line && cycles < m->g->l2_atomic_float_cycles)
        cycles = m->g->l2_atomic_float_cycles;
    unit->last = line;
    m->slice[r->slice].last = r->unit + 1u;
    occupy(unit, m->epoch, cycles * sharers(m, r));
}

#define LATELY_CYCLES 256.0
static void work_slice(struct timing_queue *q, uint32_t epoch, double cycles, bool atomic)
{
    occupy(q, epoch, cycles);
    q->atomics += ((float)atomic - q->atomics) * (float)(cycles / (cycles + LATELY_CYCLES));
}

static void work_channel(struct timing_mem *m, uint32_t channel, const struct cache_l2_outcome *o)
{
    double busy = dram_bytes(m->g, o->miss, o->open) + dram_bytes(m->g, o->written, o->open);
    /* weight is in SMs of the GPU; the queue counts in simulated ones */
    if (busy > 0) {
        double taken = busy * o->weight / m->scale / m->channel_bytes;
        occupy(&m->channel[channel], m->epoch, taken);
        m->busy += taken;
    }
    m->dram_read += 32.0 * cache_count(o->miss) * o->weight;
    m->dram_write += 32.0 * cache_count(o->written) * o->weight;
}

/* Sectors that a store covers in part and nobody else writes are read from DRAM when they have waited for the
 * rest, sectors of atomics at once. */
static void fill_parts(struct timing_mem *m, const struct cache_l2_request *r,
                       struct cache_l2_outcome *o)
{
    uint8_t lack = r->sectors & (uint8_t)~o->hit;
    if (r->write && r->partial == CACHE_PART && !r->lanes) {
        struct cache_part left = cache_parts_store(&m->parts, r->line, lack, r->halves);
        struct cache_l2_request to = { .line = left.line };
        choose_queues(m, &to);
        work_channel(m, to.channel,
                     &(struct cache_l2_outcome){ .miss = left.sectors, .weight = o->weight });
        return;
    }
    uint8_t waited = cache_parts_end(&m->parts, r->line, r->sectors);
    if (r->write && !r->lanes)
        return;
    o->hit &= (uint8_t)~waited;
    o->miss |= waited | (r->lanes ? lack : 0);
}

static void enter_request(struct timing_mem *m, const struct cache_l2_request *r)
{
    struct cache_l2_outcome o;
    cache_l2_access(&m->l2, r, &o);
    uint8_t crossed = look_on_sides(m, r, &o);
    double cycles = slice_cycles(m, r);
    if (r->lanes)
        enter_atomic(m, r);
    fill_parts(m, r, &o);
    if (!r->quiet)
        work_slice(&m->slice[r->slice], m->epoch, cycles, r->lanes > 0);
    work_channel(m, r->channel, &o);
    if (r->quiet)
        return;
    if (r->write) {
        m->writes += cache_count(r->sectors);
        m->write_hits += cache_count(o.hit & r->sectors);
        m->written_back +=
            ((double)cache_count(o.written) / cache_count(r->sectors) - m->written_back) / 256;
    } else {
        m->reads += cache_count(r->sectors);
        m->hits += cache_count(o.hit & (uint8_t)~crossed);
        m->missed += cache_count(o.miss | crossed);
        m->copy_hits += r->copy ? cache_count(o.hit & (uint8_t)~crossed) : 0;
        m->copy_missed += r->copy ? cache_count(o.miss | crossed) : 0;
    }
}

static uint32_t backlog_of(const struct timing_mem *m, const struct cache_l2_request *r)
{
    double free = m->slice[r->slice].free;
    return free > m->epoch ? (uint32_t)(free - m->epoch) : 0;
}

/* Whether the read meets one that another SM of the same neighbourhood (l2_merge_sms) sent at about
 * the same time, or a copy's that is still in the queue before L2: up to l2_merge_answers continue as
 * one. Its data arrive when they would have arrived alone. */
static bool meets(struct timing_mem *m, const struct cache_l2_request *r, uint32_t sm)
{
    if (!m->met || r->write || r->quiet)
        return false;
    uint32_t near = (uint32_t)m->g->l2_merge_sms, place = sm / near,
             most = (uint32_t)(r->copy ? m->g->copy_merge_answers : m->g->l2_merge_answers);
    struct timing_met *f = &m->met[cache_mix(r->line * 61 + place) % TIMING_FLIGHTS];
    uint32_t apart = r->at > f->at ? r->at - f->at : f->at - r->at;
    bool found = f->line == r->line && f->sm != sm && f->sm / near == place &&
                 !(r->sectors & ~f->sectors) && f->answers && f->answers < most &&
                 apart < (uint32_t)m->g->l2_merge_window + f->queued;
    if (found)
        f->answers++;
    else
        *f = (struct timing_met){ .line = r->line,
                                  .at = r->at,
                                  .sm = sm,
                                  .queued = r->copy ? backlog_of(m, r) : 0,
                                  .sectors = r->sectors,
                                  .answers = 1 };
    m->merged += (found - m->merged) / 1024;
    return found;
}

static void enter_neighbour(struct timing_mem *m, const struct cache_l2_request *r)
{
    struct cache_l2_request n = *r;
    n.line ^= 1;
    n.sectors = n.fetch = 15;
    n.quiet = 1;
    n.next = 0;
    choose_queues(m, &n);
    enter_request(m, &n);
}

void timing_mem_enter(struct timing_mem *m, struct timing_sm *sms, uint32_t nsms, uint32_t end)
{
    uint32_t turn = m->epoch / TIMING_EPOCH; /* nobody is always first */
    uint32_t active = 0;
    for (uint32_t k = 0; k < nsms; k++) {
        struct timing_sm *s = &sms[(k + turn) % nsms];
        active += s->nrequests > 0;
        for (size_t i = 0; i < s->nrequests; i++) {
            if (meets(m, &s->request[i], s->id))
                continue;
            enter_request(m, &s->request[i]);
            if (s->request[i].next && s->request[i].fetch)
                enter_neighbour(m, &s->request[i]);
        }
        s->nrequests = 0;
        s->slice_added = s->channel_added = 0;
    }
    double share = m->busy / ((double)(end - m->epoch) * m->nchannels);
    m->load += ((share < MOST_LOAD ? share : MOST_LOAD) - m->load) / LOAD_EPOCHS;
    m->busy = 0;
    m->active = active;
    m->epoch = end;
}
