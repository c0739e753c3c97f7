/* A trace played in time: its warps walked, L1 looked up as they come to it, L2 by reuse distance behind
 * it.
 *
 *   line requests (request_trace.c) --warps by the clock, L1 (model_walk)--> what L1 lacks
 *     --LRU of this SM's share of L2--> L2 or DRAM */
#include "engine/perfmodel/lru_set.h"
#include "engine/predict/request_trace.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <string.h>

/* ---- a play ---- */
struct play {
    const struct tune_bench *b;
    const struct options *o;
    const struct tune_trace *t;
    struct tune_played *out;
    const struct dev_info *d;
    struct dev_sm sm;
    /* the lines of its share, where that loses any; sectors of each line of the trace that it has */
    struct model_recent *l2;
    uint8_t *held;
    double l2_lines; /* this SM's share, of what is not all SMs' */
    /* of what L2 does not have of this SM's touches, the share that DRAM moves for it */
    float cold;
    unsigned granule; /* sectors that DRAM moves at once */
    bool l2_overflows, failed, stopped;
    uint32_t steps; /* so far; a cancel is looked for every so many */
    uint32_t *head; /* each warp's next step */
    /* of a step of every warp that lives, so many lines at most; per warp: whose, from 1; those that are
     * free */
    struct model_walk_line *line;
    size_t most;
    uint32_t *of, *spare, nspare;
};

/* The access of the original that this request comes from; NULL: none. */
static const struct ana_access *access_of(const struct play *p, const struct trace_kind *r)
{
    const struct ana_kernel *k = p->b->subject.facts;
    uint32_t n = r->access;
    for (uint32_t i = 0; k && i < k->naccess; i++)
        if (!k->access[i].prefetch && !n--)
            return &k->access[i];
    return NULL;
}

static bool chosen(const struct play *p, const struct trace_kind *r)
{
    const struct ana_access *x = access_of(p, r);
    if (!opt_bypass(p->o)->loads.n)
        return x && !x->reused;
    for (uint32_t i = 0; x && i < opt_bypass(p->o)->loads.n; i++)
        if (x->at.line == opt_bypass(p->o)->loads.line[i])
            return true;
    return false;
}

/* As the bypass pass has it: a read-only load follows L1's level where .nc has no cache of its own. */
static bool governed(const struct play *p, enum load_path path)
{
    if (opt_bypass(p->o)->level == BYPASS_RO)
        return path == PATH_READ_ONLY;
    return opt_bypass(p->o)->level != BYPASS_NONE && (path != PATH_READ_ONLY || p->d->cc_major >= 5);
}

static bool bypasses(const struct play *p, const struct trace_kind *r, uint32_t warp,
                     enum load_path path)
{
    const struct options *o = p->o;
    if (!governed(p, path))
        return false;
    bool above = opt_bypass(o)->pi.mode == PI_BPA ||
                 (opt_bypass(o)->pi.mode == PI_VALUE && (int64_t)warp >= opt_bypass(o)->pi.value);
    if (opt_bypass(o)->form == BYPASS_FORM_VERTICAL ||
        (opt_bypass(o)->form != BYPASS_FORM_HYBRID && opt_bypass(o)->loads.n))
        return chosen(p, r);
    return above || (opt_bypass(o)->form == BYPASS_FORM_HYBRID && chosen(p, r));
}

static bool becomes_read_only(const struct play *p, const struct trace_kind *r)
{
    if (opt_memory(p->o)->readonly != READONLY_PROMOTE && opt_bypass(p->o)->level != BYPASS_RO)
        return false;
    const struct ana_access *x = access_of(p, r);
    return x && x->read_only == ANA_YES;
}

static enum model_way plain_way(const struct play *p)
{
    return p->sm.l1_plain > 0 ? MODEL_WAY_KEEP : MODEL_WAY_PAST;
}

/* A load on the bypassing side, with the operator that the pass gives it. */
static enum model_way bypassing_way(const struct play *p, bool read_only)
{
    int op = opt_bypass(p->o)->op, level = opt_bypass(p->o)->level;
    if (level == BYPASS_L2 || (level == BYPASS_L1L2 && (op == BYPASS_OP_CS || p->d->cc_major < 8)))
        return plain_way(p); /* .cs, or a policy of L2 alone */
    if (op == BYPASS_OP_NO_ALLOCATE || (read_only && level == BYPASS_RO))
        return MODEL_WAY_LOOK;
    bool priority =
        op == BYPASS_OP_EVICT_LAST || op == BYPASS_OP_EVICT_FIRST || op == BYPASS_OP_EVICT_UNCHANGED;
    return op == BYPASS_OP_CS || priority ? plain_way(p)
                                          : MODEL_WAY_PAST; /* which line goes first: not modelled */
}

/* A plain load on the caching side. */
static enum model_way caching_way(const struct play *p)
{
    bool asks = opt_bypass(p->o)->level == BYPASS_L1 || opt_bypass(p->o)->level == BYPASS_L1L2;
    if (opt_bypass(p->o)->level == BYPASS_L2)
        return MODEL_WAY_PAST; /* .cg */
    return asks && p->d->cc_major < 7 && p->sm.l1_ca > 0 ? MODEL_WAY_KEEP : plain_way(p);
}

/* How this load goes, and through which cache. */
static enum model_way way_of(const struct play *p, const struct trace_kind *r, uint32_t warp,
                             bool *read_only)
{
    enum load_path path = (enum load_path)r->path;
    bool no_read_only = p->d->cc_major * 10 + p->d->cc_minor < 35;
    if (path == PATH_PLAIN && becomes_read_only(p, r))
        path = PATH_READ_ONLY;
    if (path == PATH_READ_ONLY && no_read_only)
        path = PATH_PLAIN;
    *read_only = path == PATH_READ_ONLY;
    if (bypasses(p, r, warp, path)) {
        *read_only = *read_only && p->d->cc_major >= 7;
        return bypassing_way(p, *read_only);
    }
    switch (path) {
    case PATH_PLAIN: return caching_way(p);
    case PATH_CA: return p->sm.l1_ca > 0 ? MODEL_WAY_KEEP : MODEL_WAY_PAST;
    case PATH_PAST: return MODEL_WAY_PAST;
    case PATH_LOOK: return MODEL_WAY_LOOK;
    default: return MODEL_WAY_KEEP;
    }
}

static struct dev_sm known(const struct dev_info *d);

enum model_way tune_way_of(const struct tune_bench *b, const struct options *o,
                           const struct trace_kind *r, uint32_t warp, bool *read_only)
{
    const struct dev_info *d = dev_describe(b->subject.dev);
    struct play p = { .b = b, .o = o, .d = d, .sm = known(d) };
    return way_of(&p, r, warp, read_only);
}

/* Of what several SMs touch, one fetches it; the others find it in L2, but where all ask at once, and so
 * wait all. */
static bool waits_for_dram(const struct play *p, const struct model_walk_line *l)
{
    float alone = p->cold > l->crowd ? p->cold : l->crowd;
    return (float)(l->line * UINT64_C(0x9E3779B97F4A7C15) >> 40) < alone * (float)(1u << 24);
}

/* Where the slowest of the sectors comes from. What the launch before left in L2 is never cold there. A
 * line that is lost is lost whole; DRAM moves granules. */
static enum model_from beyond(void *ctx, const struct model_walk_line *l, unsigned sectors, float *dram)
{
    struct play *p = ctx;
    *dram = 0;
    if (p->out->l2_warm)
        return MODEL_FROM_L2;
    uint8_t *mask = &p->held[l->number];
    if (p->l2 && !model_recent_touch(p->l2, l->number))
        *mask = 0;
    unsigned lack = sectors & ~(unsigned)*mask, moved = lack;
    if (p->granule >= 4 && lack)
        moved = 15;
    else if (p->granule == 2)
        moved |= (lack & 5) << 1 | (lack & 10) >> 1;
    moved &= ~(unsigned)*mask;
    *mask |= (uint8_t)moved;
    *dram = (float)__builtin_popcount(moved) * p->cold;
    p->out->dram += (double)*dram;
    return lack && waits_for_dram(p, l) ? MODEL_FROM_DRAM : MODEL_FROM_L2;
}

/* ---- how large things are ---- */
static struct model_cache_config cache_of(const struct dev_sm *s, uint64_t bytes, double ways,
                                          double sector)
{
    uint32_t w = ways >= 1 ? (uint32_t)ways : 4;
    /* any set may have any line: wide sets of what is kept come close */
    bool pool = s->l1_tags > 0 && ways == s->l1_ways;
    if (pool) {
        uint64_t spare = (uint64_t)s->l1_fill_buffers * LINE_BYTES;
        w = (uint32_t)s->predict_pool_ways;
        bytes = bytes > 2 * spare ? bytes - spare : (bytes + 1) / 2;
    }
    uint64_t sets = bytes / ((uint64_t)w * LINE_BYTES);
    return (struct model_cache_config){ .sets = sets ? (uint32_t)sets : 1,
                                        .ways = w,
                                        .picks = (uint32_t)(pool ? s->predict_pool_picks
                                                                 : s->l1_random_candidates),
                                        .hashed = s->l1_hash > 0,
                                        .whole_line = sector >= LINE_BYTES,
                                        .transit = s->l1_bypass_allocates > 0,
                                        .reserve = s->l1_reserve > 0,
                                        .store = s->l1_write >= 2   ? MODEL_STORE_MAKES
                                                 : s->l1_write >= 1 ? MODEL_STORE_UPDATES
                                                                    : MODEL_STORE_EVICTS };
}

/* Of a device that nothing is known of but its generation: what presets of that generation have. */
static struct dev_sm known(const struct dev_info *d)
{
    if (d->sm.l1_ways > 0)
        return d->sm;
    struct sim_preset p = sim_preset_default_for(d->cc_major, d->cc_minor);
    struct dev_info of;
    sim_preset_info(&p, &of);
    return of.sm;
}

static double turn(double bytes, double per_cycle)
{
    return per_cycle > 0 ? bytes / per_cycle : 0;
}

double tune_active_sms(const struct dev_info *d, const struct tune_trace *t)
{
    uint64_t ctas = dim3u_count(t->grid);
    return ctas < d->sms ? (double)ctas : d->sms;
}

static struct model_walk_config config_of(const struct play *p)
{
    const struct dev_info *d = p->d;
    const struct dev_sm *s = &p->sm;
    const struct tune_trace *t = p->t;
    double hz = d->clock_khz * 1e3, sms = tune_active_sms(d, t), l2 = hz > 0 ? d->bw_l2 / hz / sms : 0,
           dram = hz > 0 ? d->bw_dram / hz / sms : 0;
    double rate = s->cta_rate > 0 ? sms / s->cta_rate : 0, weight = s->l2_write > 0 ? s->l2_write : 1;
    return (struct model_walk_config){
        .ctas = t->on_sm,
        .warps = (uint32_t)t->warps,
        .slots = (uint32_t)(t->resident < t->on_sm ? t->resident : t->on_sm),
        .lat_l1 = d->lat_l1,
        .lat_ro = s->ro_latency,
        .lat_l2 = d->lat_l2,
        .lat_dram = d->lat_dram,
        .lat_shared = s->lat_shared > 0 ? s->lat_shared : d->lat_l1,
        .lookups = s->l1_tag_banks,
        .data_turn = turn(SECTOR_BYTES, s->l1_bytes_per_cycle),
        .least_turn = turn(32, s->lanes_lsu),
        .queue = (uint32_t)s->l1_queue,
        .misses = (uint32_t)s->l1_mshrs,
        .port_turn = turn(SECTOR_BYTES, s->icnt_bytes_per_cycle),
        .store_turn = turn(SECTOR_BYTES, s->icnt_write_bytes_per_cycle),
        .store_least = s->icnt_write_cycles,
        .l2_turn = turn(SECTOR_BYTES, l2),
        .l2_ask = turn(s->l2_request_bytes, l2),
        .dram_turn = turn(SECTOR_BYTES, dram),
        .dram_scatter = s->dram_scatter,
        .l2_hotspot_turn = d->l2_shared_rate > 0 ? d->sms / d->l2_shared_rate : 0,
        .store_weight = weight,
        .partial_weight = fmax(d->l2_partial_write, weight),
        .store_dram = p->out->l2_warm ? 0 : 1,
        .issue = d->issue_per_cycle,
        .dependent = d->lat_alu,
        .barrier = s->lat_barrier,
        .start_turn = fmax(s->cta_cycles, rate),
        .start = s->cta_latency,
        .units = (uint32_t)s->l2_slices,
        .unit_turn =
            sms * fmax(s->l2_atomic_cycles,
                       s->l2_atomics_per_cycle > 0 ? s->l2_slices / s->l2_atomics_per_cycle : 0),
        .merge = s->l2_merge > 0,
        .greedy = s->scheduler_policy<1, .unit_room = s->l2_atomic_room,
                                      .unit_lines = s->l2_atomic_unit_bytes> 0
                      ? (uint32_t)s->l2_atomic_unit_bytes / LINE_BYTES
                      : 1,
        .merge_window = (uint32_t)fmax(s->predict_merge_window, 1),
        .merge_answers = (uint32_t)s->l2_merge_answers,
        .schedulers = (uint32_t)s->schedulers
    };
}

/* ---- the steps ---- */
static bool string(struct play *p)
{
    const struct tune_trace *t = p->t;
    size_t warps = (size_t)(t->on_sm * t->warps),
           alive = (size_t)((t->resident < t->on_sm ? t->resident : t->on_sm) * t->warps);
    p->head = base_alloc((warps + 1) * sizeof *p->head);
    p->of = base_alloc((warps + 1) * sizeof *p->of);
    p->spare = base_alloc((alive + 1) * sizeof *p->spare);
    for (size_t i = 0; i < t->nsteps; i++)
        p->most = trace_lines_end(t, i) - t->step[i].first > p->most
                      ? trace_lines_end(t, i) - t->step[i].first
                      : p->most;
    p->line = base_alloc((alive * p->most + 1) * sizeof *p->line);
    if (!p->head || !p->of || !p->spare || !p->line)
        return false;
    memcpy(p->head, t->head, warps * sizeof *p->head);
    while (p->nspare < alive)
        p->spare[p->nspare] = p->nspare + 1, p->nspare++;
    return true;
}

/* Where this warp's lines go while it lives: no more live at once than the SM has room for. NULL: it has
 * ended. */
static struct model_walk_line *lines_of(struct play *p, size_t warp)
{
    uint32_t *of = &p->of[warp];
    if (p->head[warp] == TRACE_END && *of) {
        p->spare[p->nspare++] = *of;
        *of = 0;
    } else if (p->head[warp] != TRACE_END && !*of) {
        *of = p->nspare ? p->spare[--p->nspare] : 0;
        p->failed = p->failed || !*of;
    }
    return *of ? &p->line[(*of - 1) * p->most] : NULL;
}

static uint8_t kind_of(const struct play *p, const struct trace_kind *r, bool read_only)
{
    if (r->atomic)
        return r->red ? MODEL_WALK_RED : MODEL_WALK_ATOMIC;
    if (r->store)
        return r->partial ? MODEL_WALK_PARTIAL : MODEL_WALK_STORE;
    if (r->prefetch)
        return opt_prefetch(p->o)->level == PREFETCH_L1 && p->sm.l1_prefetch > 0
                   ? MODEL_WALK_PREFETCH
                   : MODEL_WALK_PREFETCH_L2;
    return read_only ? MODEL_WALK_READ_ONLY : MODEL_WALK_LOAD;
}

static bool next_step(void *ctx, uint32_t cta, uint32_t warp, struct model_walk_step *out)
{
    struct play *p = ctx;
    const struct tune_trace *t = p->t;
    p->stopped = p->stopped || ((++p->steps & 0xfff) == 0 && cancel_asked(tune_cancel(p->b)));
    if (p->stopped)
        return false; /* all warps end where they are */
    uint32_t *head = &p->head[(size_t)cta * t->warps + warp], i = *head, n = 0;
    struct model_walk_line *line = lines_of(p, (size_t)cta * t->warps + warp);
    if (!line)
        return false;
    const struct trace_step *s = &t->step[i];
    const struct trace_kind *r = trace_kind_of(t, i);
    bool read_only = false, load = trace_loads(r);
    enum model_way way = load ? way_of(p, r, warp, &read_only) : MODEL_WAY_KEEP;
    float crowd = load ? tune_trace_crowd(t, r, &t->request[s->first]) : 0;
    for (size_t k = s->first, end = trace_lines_end(t, i); k < end; k++)
        line[n++] = (struct model_walk_line){ .line = trace_line(t, &t->request[k]),
                                              .number = t->request[k].line,
                                              .sectors = t->request[k].sectors,
                                              .crowd = crowd,
                                              .way = (uint8_t)way };
    uint32_t data = r->store || r->prefetch                         ? 0
                    : r->atomic && !(p->sm.l2_atomic_cycles > 0)    ? r->lanes
                    : !(p->sm.predict_bank_turns > 0) && !r->atomic ? 0
                                                                    : r->data;
    *out = (struct model_walk_step){ .line = line,
                                     .nlines = n,
                                     .before = r->before,
                                     .chained = r->chained,
                                     .passes = r->passes,
                                     .data = data,
                                     .phase = r->phase,
                                     .kind = kind_of(p, r, read_only),
                                     .waits = r->waits };
    *head = s->next;
    return true;
}

/* ---- playing ---- */
/* How much of what each SM by itself finds cold or lost DRAM moves for it: what several touch is moved
 * once. And this SM's share of L2, of which the lines that all have are counted once too. */
static void share_l2(struct play *p)
{
    const struct dev_info *d = p->d;
    double sms = tune_active_sms(d, p->t), bytes = (double)p->b->subject.data->total_bytes,
           l2 = (double)d->l2_bytes * (p->sm.l2_distinct > 0 ? p->sm.l2_distinct : 1);
    double lines = (double)p->t->lines.n * p->t->scale * sms, all = bytes / LINE_BYTES;
    p->out->l2_warm = bytes <= p->sm.l2_warm_share * l2;
    p->l2_overflows = bytes > l2;
    p->cold = lines > all ? (float)(all / lines) : 1;
    p->l2_lines = l2 / LINE_BYTES / sms / (double)p->cold;
}

/* Of loads whose lines L2 gives up before others it keeps fewer. */
static bool hold_l2(struct play *p)
{
    bool evict_first = opt_bypass(p->o)->level == BYPASS_L2 || opt_bypass(p->o)->level == BYPASS_L1L2;
    double lines = ceil(evict_first ? p->l2_lines * p->sm.predict_first_share : p->l2_lines);
    uint32_t n = (uint32_t)p->t->lines.n;
    bool loses = p->l2_overflows && lines < n;
    p->held = base_alloc(n);
    p->l2 = loses ? model_recent_new(n, (uint64_t)lines) : NULL;
    return p->held && (p->l2 || !loses);
}

static bool walk_it(struct play *p)
{
    struct model_walk_config c = config_of(p);
    struct model_cache_config one = cache_of(&p->sm, tune_l1_bytes(p->b, p->o, p->t), p->sm.l1_ways,
                                             p->sm.l1_sector),
                              two = cache_of(&p->sm, (uint64_t)p->sm.ro_bytes, p->sm.ro_ways,
                                             p->sm.ro_sector);
    struct model_cache *l1 = model_cache_new(&one),
                       *ro = p->sm.ro_bytes > 0 ? model_cache_new(&two) : NULL;
    bool ok = l1 && (ro || !(p->sm.ro_bytes > 0));
    if (ok)
        p->out->w = model_walk(&c, l1, ro, next_step, beyond, p);
    model_cache_free(l1);
    model_cache_free(ro);
    p->out->launch = p->sm.launch_ns * p->d->clock_khz / 1e6;
    p->out->w.cycles += p->out->launch;
    return ok && !p->failed && !isnan(p->out->w.cycles);
}

enum status tune_play(struct tune_bench *b, const struct options *o, const struct tune_trace *t,
                      struct tune_played *out)
{
    const struct dev_info *d = dev_describe(b->subject.dev);
    struct play p = { .b = b, .o = o, .t = t, .out = out, .d = d, .sm = known(d) };
    *out = (struct tune_played){ 0 };
    p.granule = (unsigned)(p.sm.l2_fill / SECTOR_BYTES);
    share_l2(&p);
    bool ok = hold_l2(&p) && string(&p) && walk_it(&p);
    model_recent_free(p.l2);
    BASE_FREE(p.held, p.head, p.of, p.spare, p.line);
    return p.stopped ? ST_CANCELLED : ok ? ST_OK : ST_NOMEM;
}
