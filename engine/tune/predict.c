/* The memory cost of a configuration without running it (schedule paper, section 5).
 *
 * options --pass--> rewritten kernel --ana_trace--> line requests of one SM
 *   --LRU of L1 and L2 (reuse distances)--> G, m1, m2 --model_memory_cost--> cycles
 *
 * Bypassing and the L1 size do not change which addresses are asked for: they are
 * played over the trace of the kernel without them, and one trace serves them all.
 * Agents walk their cluster's tasks in order, which is what redirection gives under
 * round-robin binding (cluster paper, 4.2): they are traced as redirection. */
#include "engine/tune/tune_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 128u
#define SECTOR_BYTES 32u
#define SECTORS (LINE_BYTES / SECTOR_BYTES)
#define L1_USABLE_8THS 7u                 /* distances are fully associative; sets conflict before the cache is full */
#define TRACE_MOST ((size_t)2 << 20)      /* requests; a longer trace costs more than it tells */

struct line_request { uint64_t line; uint16_t warp, access; uint8_t sectors; bool store, first /* line of its warp instruction */; };
struct tune_trace {
    struct options key; bool made; char why[160];
    struct dim3u grid, block; uint32_t shared; unsigned resident;
    struct line_request *v; size_t n, cap; bool cut, nomem;
    struct ana_request last;
    uint8_t *asked; uint64_t warps, on_sm, nasked; uint32_t sms;   /* bit per warp of this SM's CTAs: it loads something; and how many do */
};

void tune_trace_free(struct tune_trace *t)
{
    if (t) {
        base_free(t->v);
        base_free(t->asked);
    }
    base_free(t);
}

/* ---- the trace ---- */
/* What decides the addresses and their order. */
static struct options mapping_of(const struct options *o)
{
    struct options m = *o, none = options_default();
    m.bypass = none.bypass;
    m.bypass_op = none.bypass_op;
    m.bypass_form = none.bypass_form;
    m.pi = none.pi;
    m.bypass_loads = none.bypass_loads;
    m.carveout = none.carveout;
    m.readonly = none.readonly;
    m.prefetch = none.prefetch;
    m.prefetch_distance = none.prefetch_distance;
    return m;
}

static unsigned resident_of(const struct tune_bench *b, const struct options *o, const struct tune_trace *t)
{
    const struct dev_info *d = dev_describe(b->subject.dev);
    uint64_t threads = dim3u_count(t->block), warps = (threads + 31) / 32, most = d->max_ctas_per_sm ? d->max_ctas_per_sm : 1;
    uint64_t shared = (uint64_t)t->shared + b->original.shared_static, regs = b->original.regs * threads;
    if (warps && d->max_warps_per_sm && d->max_warps_per_sm / warps < most)
        most = d->max_warps_per_sm / warps;
    if (shared && d->shared_per_sm && d->shared_per_sm / shared < most)
        most = d->shared_per_sm / shared;
    if (regs && d->regs_per_sm && d->regs_per_sm / regs < most)
        most = d->regs_per_sm / regs;
    if (o->cluster == CLUSTER_AGENT && o->agents > 0 && (uint64_t)o->agents < most)
        most = (uint64_t)o->agents;
    return most ? (unsigned)most : 1;
}

static bool keep_request(void *ctx, const struct ana_request *r)
{
    struct tune_trace *t = ctx;
    t->cut = t->n >= TRACE_MOST;
    if (!t->cut && !base_grow((void **)&t->v, t->n, &t->cap, sizeof *t->v))
        t->nomem = true;
    if (t->cut || t->nomem)
        return false;
    /* the lines of an instruction come together and rise */
    bool same = t->n && t->last.cta == r->cta && t->last.warp == r->warp && t->last.access == r->access && t->last.line < r->line;
    t->v[t->n++] = (struct line_request){ r->line, (uint16_t)r->warp, (uint16_t)r->access, (uint8_t)r->sectors, r->store, !same };
    t->last = *r;
    uint64_t warp = (uint64_t)(r->cta / t->sms) * t->warps + r->warp;
    if (!r->store && !(t->asked[warp / 8] >> warp % 8 & 1)) {
        t->asked[warp / 8] |= (uint8_t)(1 << warp % 8);
        t->nasked++;
    }
    return true;
}

static enum status follow(struct tune_bench *b, struct tune_trace *t, const struct ptx_module *m, struct diags *ds)
{
    const struct dev_info *d = dev_describe(b->subject.dev);
    struct launch_spec spec = *b->subject.launch;
    struct launch_data data = *b->subject.data;
    spec.grid = t->grid;
    spec.block = t->block;
    spec.shared = t->shared;
    data.spec = &spec;
    t->sms = d->sms ? d->sms : 1;
    t->warps = (dim3u_count(t->block) + 31) / 32;
    t->on_sm = (dim3u_count(t->grid) + t->sms - 1) / t->sms;
    t->nasked = 0;
    base_free(t->asked);
    t->asked = base_alloc(t->on_sm * t->warps / 8 + 1);
    if (!t->asked)
        return ST_NOMEM;
    struct ana_opts o = { .data = &data, .dev = d, .quick = true, .cancel = b->observer ? b->observer->cancel : NULL };
    return ana_trace(m, str_of(spec.kernel), &o, LINE_BYTES, t->resident, 0, t->sms, keep_request, t, ds);
}

/* The rewritten kernel with its knob values inside, so that a trace can read them. */
static enum status trace_rewritten(struct tune_bench *b, const struct options *o, struct tune_trace *t, struct diags *ds)
{
    struct options traced = t->key;
    struct pass_output code = { 0 };
    struct ptx_module *m = NULL;
    struct buf text = { 0 };
    if (traced.cluster == CLUSTER_AGENT) {
        traced.cluster = CLUSTER_REDIRECT;
        traced.agents = 0;
    }
    enum status st = tune_rewrite(b, &traced, &code, ds);
    if (st != ST_OK)
        return st;
    t->grid = code.grid;
    t->block = code.block;
    t->shared = code.shared;
    t->resident = resident_of(b, o, t);
    pass_standalone(&code, &text);
    st = text.oom || !text.s ? ST_NOMEM : ptx_parse("predicted", (struct str){ text.s, text.n }, &m, ds);
    if (st == ST_OK)
        st = follow(b, t, m, ds);
    ptx_free(m);
    buf_free(&text);
    pass_output_free(&code);
    return st;
}

/* The bench keeps the newest trace. A trace that cannot be had is kept too, as its reason. */
static enum status trace_of(struct tune_bench *b, const struct options *o, struct tune_trace **out)
{
    struct options key = mapping_of(o);
    struct tune_trace *t = b->trace ? b->trace : base_alloc(sizeof *t);
    struct diags own = { 0 };
    if (!t)
        return ST_NOMEM;
    b->trace = *out = t;
    if (t->made && options_equal(&t->key, &key))
        return ST_OK;
    t->key = key;
    t->n = 0;
    t->cut = t->nomem = false;
    t->why[0] = 0;
    enum status st = trace_rewritten(b, o, t, &own);
    struct result r = result_empty();
    tune_reason(&own, &r);
    if (st != ST_OK)
        snprintf(t->why, sizeof t->why, "%.150s", r.message[0] ? r.message : status_text(st));
    else if (t->cut)
        snprintf(t->why, sizeof t->why, "an SM makes more than %zu line requests", TRACE_MOST);
    else if (!t->n)
        snprintf(t->why, sizeof t->why, "no global loads or stores were seen");
    diags_free(&own);
    t->made = st != ST_CANCELLED && !t->nomem;
    return t->nomem ? ST_NOMEM : st == ST_CANCELLED || st == ST_NOMEM ? st : ST_OK;
}

/* ---- which sectors of a line L1 holds: open addressing, lines are never removed ---- */
struct held { uint64_t *line; uint8_t *mask; size_t cap, n; };

static size_t held_slot(const struct held *h, uint64_t line)
{
    size_t i = (size_t)(line * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (h->cap - 1);
    while (h->line[i] && h->line[i] != line + 1)
        i = (i + 1) & (h->cap - 1);
    return i;
}

static void held_free(struct held *h)
{
    base_free(h->line);
    base_free(h->mask);
}

static bool held_grow(struct held *h)
{
    struct held g = { .cap = h->cap ? h->cap * 2 : 4096 };
    g.line = base_alloc(g.cap * sizeof *g.line);
    g.mask = base_alloc(g.cap);
    if (!g.line || !g.mask) {
        held_free(&g);
        return false;
    }
    for (size_t i = 0; i < h->cap; i++)
        if (h->line[i]) {
            size_t k = held_slot(&g, h->line[i] - 1);
            g.line[k] = h->line[i];
            g.mask[k] = h->mask[i];
        }
    g.n = h->n;
    held_free(h);
    *h = g;
    return true;
}

static uint8_t *held_mask(struct held *h, uint64_t line)
{
    if (h->n * 2 >= h->cap && !held_grow(h))
        return NULL;
    size_t i = held_slot(h, line);
    if (!h->line[i]) {
        h->line[i] = line + 1;
        h->n++;
    }
    return &h->mask[i];
}

/* ---- playing a trace through L1 and L2 ---- */
struct play {
    const struct tune_bench *b; const struct options *o;
    struct model_reuse *l1, *l2; struct held held;
    uint64_t l1_lines, l2_sectors; bool whole_line, l2_overflows;
    /* of one SM */
    uint64_t requests, sectors, missed, missed_sectors, stores, store_sectors, cold, lost;
    unsigned worst;                          /* level that the instruction under way must wait for */
    uint64_t waits[3];                       /* instructions by that level: L1, L2, DRAM */
};
enum { WAIT_L1, WAIT_L2, WAIT_DRAM };

static bool bypasses(const struct play *p, const struct line_request *r)
{
    const struct options *o = p->o;
    const struct ana_kernel *k = p->b->subject.facts;
    if (o->bypass != BYPASS_L1 && o->bypass != BYPASS_L1L2)
        return false;
    if (o->bypass_form == BYPASS_FORM_VERTICAL)
        return k && r->access < k->naccess && !k->access[r->access].reused;
    return o->pi.mode == PI_BPA || (o->pi.mode == PI_VALUE && r->warp >= o->pi.value);
}

static void ask_l2(struct play *p, uint64_t line, unsigned sectors)
{
    for (unsigned s = 0; s < SECTORS; s++) {
        if (!(sectors >> s & 1))
            continue;
        uint64_t d = model_reuse_touch(p->l2, line * SECTORS + s);
        bool lost = d != MODEL_COLD && p->l2_overflows && d >= p->l2_sectors;
        p->missed_sectors++;
        p->cold += d == MODEL_COLD;
        p->lost += lost;
        unsigned level = d == MODEL_COLD || lost ? WAIT_DRAM : WAIT_L2;
        p->worst = level > p->worst ? level : p->worst;
    }
}

static bool ask_l1(struct play *p, const struct line_request *r)
{
    uint8_t *mask = held_mask(&p->held, r->line);
    if (!mask)
        return false;
    uint64_t d = model_reuse_touch(p->l1, r->line);
    if (d == MODEL_COLD || d >= p->l1_lines)
        *mask = 0;
    unsigned fetch = p->whole_line ? (1u << SECTORS) - 1 : r->sectors, missing = fetch & ~(unsigned)*mask;
    *mask |= (uint8_t)missing;
    if (missing) {
        p->missed++;
        ask_l2(p, r->line, missing);
    }
    return true;
}

static bool play_one(struct play *p, const struct line_request *r)
{
    unsigned n = (unsigned)__builtin_popcount(r->sectors);
    if (r->store) {
        p->stores++;
        p->store_sectors += n;
        return true;
    }
    if (r->first) {
        p->waits[p->worst] += p->requests > 0;
        p->worst = WAIT_L1;
    }
    p->requests++;
    p->sectors += n;
    if (!bypasses(p, r))
        return ask_l1(p, r);
    p->missed++;
    ask_l2(p, r->line, r->sectors);
    return true;
}

/* Since Volta, L1 is what shared memory leaves of one array. Fermi and Kepler split 64 KB in 16 and 48;
 * Maxwell and Pascal have a cache of its own size. */
static uint64_t l1_bytes(const struct tune_bench *b, const struct options *o, const struct tune_trace *t)
{
    const struct dev_info *d = dev_describe(b->subject.dev);
    uint64_t used = ((uint64_t)t->shared + b->original.shared_static) * t->resident;
    if (d->cc_major < 7 && (o->carveout < 0 || d->cc_major > 3))
        return d->l1_bytes;
    if (o->carveout >= 0 && (uint64_t)d->shared_per_sm * (unsigned)o->carveout / 100 > used)
        used = (uint64_t)d->shared_per_sm * (unsigned)o->carveout / 100;
    if (d->cc_major <= 3)
        return used <= 16 << 10 ? 48 << 10 : 16 << 10;
    return used < d->l1_bytes ? d->l1_bytes - used : LINE_BYTES;
}

static enum status play_all(struct play *p, const struct tune_trace *t)
{
    const struct dev_info *d = dev_describe(p->b->subject.dev);
    p->l1 = model_reuse_new(4096);
    p->l2 = model_reuse_new(4096);
    p->l1_lines = l1_bytes(p->b, p->o, t) / LINE_BYTES * L1_USABLE_8THS / 8;
    p->l2_sectors = d->l2_bytes / SECTOR_BYTES / (d->sms ? d->sms : 1);
    p->whole_line = d->cc_major < 5;
    p->l2_overflows = p->b->subject.data->total_bytes > d->l2_bytes;
    bool ok = p->l1 && p->l2;
    for (size_t i = 0; ok && i < t->n; i++)
        ok = play_one(p, &t->v[i]);
    p->waits[p->worst] += p->requests > 0;
    ok = ok && !model_reuse_failed(p->l1) && !model_reuse_failed(p->l2);
    model_reuse_free(p->l1);
    model_reuse_free(p->l2);
    held_free(&p->held);
    return ok ? ST_OK : ST_NOMEM;
}

static double per_cycle(double bytes_per_second, const struct dev_info *d)
{
    return d->clock_khz ? bytes_per_second / (d->clock_khz * 1e3) : 0;
}

/* One SM's counts stand for every SM that has work. What is first touched by several SMs comes from
 * DRAM once: no more cold sectors than the launch's buffers have. Stores wait for nothing, but they
 * take L1's slots and L2's bandwidth: the paper's figure counts loads alone, ours their traffic too. */
static void cost_of(const struct play *p, const struct tune_trace *t, struct tune_prediction *out)
{
    const struct dev_info *d = dev_describe(p->b->subject.dev);
    uint64_t ctas = dim3u_count(t->grid);
    double sms = ctas < d->sms ? (double)ctas : d->sms;
    double warps = fmax(1, (double)t->nasked / (double)t->on_sm);   /* of a CTA, that load at all */
    double cold = fmin((double)p->cold * sms, (double)p->b->subject.data->total_bytes / SECTOR_BYTES);
    double missed = (double)p->missed_sectors * sms, m1 = p->requests ? (double)p->missed / (double)p->requests : 0;
    struct model_cost_in in = {
        .loads = (double)p->requests * sms, .m1 = m1, .m2 = missed > 0 ? (cold + (double)p->lost * sms) / missed : 0,
        .lat_l1 = d->lat_l1, .lat_l2 = d->lat_l2, .lat_dram = d->lat_dram, .sectors = m1 > 0 ? missed / m1 : 0,
        .bw_l2 = per_cycle(d->bw_l2, d), .bw_dram = per_cycle(d->bw_dram, d), .rate_l1 = sms,
        .parallelism = sms * warps * fmin(t->resident, (double)t->on_sm) };
    out->in = in;
    out->cost = model_memory_cost(&in);
    /* A warp waits once per instruction, for the slowest of its lines; of those that are cold to this
     * SM, some have been brought to L2 by another. */
    double from_dram = p->cold + p->lost ? (cold / sms + (double)p->lost) / (double)(p->cold + p->lost) : 0;
    double dram = (double)p->waits[WAIT_DRAM] * from_dram, l2 = (double)(p->waits[WAIT_L2] + p->waits[WAIT_DRAM]) - dram;
    out->cost.latency = ((double)p->waits[WAIT_L1] * d->lat_l1 + l2 * d->lat_l2 + dram * d->lat_dram) * sms / in.parallelism;
    out->cost.bound_l1 += (double)p->stores;
    if (in.bw_l2 > 0)
        out->cost.bound_l2 += (double)p->store_sectors * sms * SECTOR_BYTES / in.bw_l2;
    if (p->b->inst_warp > 0 && d->issue_per_cycle > 0)
        out->issue = p->b->inst_warp / (d->issue_per_cycle * sms);
    out->cost.extended = fmax(fmax(out->issue, out->cost.latency), fmax(out->cost.bound_l1, fmax(out->cost.bound_l2, out->cost.bound_dram)));
}

/* What the model says nothing about, by option. NULL: nothing of the kind. */
static const char *beyond_the_model(const struct options *o)
{
    if (o->prefetch != PREFETCH_OFF)
        return "prefetching hides latency: the model counts transactions";
    if (o->pi.mode == PI_VOTE && o->bypass != BYPASS_NONE)
        return "a voted threshold is known after the vote";
    if (o->bypass == BYPASS_RO || o->bypass == BYPASS_L2)
        return "the model bypasses L1 alone";
    if (o->bypass_form == BYPASS_FORM_HYBRID || o->bypass_loads.n)
        return "loads chosen by line are not modelled";
    return NULL;
}

/* The pass room's refusal as the reason; false: legal. */
static bool refused(const struct tune_bench *b, const struct options *o, struct tune_prediction *out)
{
    struct pass_input in = { b->subject.module, str_of(b->subject.launch->kernel), o, dev_describe(b->subject.dev), b->subject.launch, b->subject.facts };
    struct diags own = { 0 };
    struct result r = result_empty();
    bool no = pass_legal(&in, &own) != ST_OK;
    tune_reason(&own, &r);
    if (no)
        snprintf(out->why_not, sizeof out->why_not, "%.150s", r.message[0] ? r.message : status_text(ST_REFUSED));
    diags_free(&own);
    return no;
}

enum status tune_predict(struct tune_bench *b, const struct options *o, struct tune_prediction *out)
{
    struct tune_trace *t = NULL;
    struct play p = { .b = b, .o = o };
    const char *beyond = beyond_the_model(o);
    *out = (struct tune_prediction){ .options = *o };
    if (beyond) {
        snprintf(out->why_not, sizeof out->why_not, "%s", beyond);
        return ST_OK;
    }
    if (refused(b, o, out))
        return ST_OK;
    enum status st = trace_of(b, o, &t);
    if (st != ST_OK)
        return st;
    if (t->why[0]) {
        snprintf(out->why_not, sizeof out->why_not, "%s", t->why);
        return ST_OK;
    }
    st = play_all(&p, t);
    if (st == ST_OK) {
        cost_of(&p, t, out);
        out->valid = true;
    }
    return st;
}
