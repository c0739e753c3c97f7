/* The memory cost of a configuration without running it (schedule paper, section 5).
 *
 * options --pass--> rewritten kernel --ana_trace--> line requests of one SM (trace.c)
 *   --LRU of L1 and L2 (reuse distances)--> G, m1, m2 --model_memory_cost--> cycles */
#include "engine/tune/trace.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVICT_FIRST_SHARE 16u             /* of L2, the part that lines which go first live in */
#define TAG_BANKS 4u                      /* since Volta: lines looked up in one cycle when their numbers differ in the low bits */
#define SECTORS_A_CYCLE 4u                /* that L1 returns */
#define L1_USABLE_8THS 7u                 /* distances are fully associative; sets conflict before the cache is full */

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
    bool evict_first;                        /* L2 gives these loads' lines up before others */
    /* of one SM */
    uint64_t requests, sectors, missed, missed_sectors, stores, store_sectors, cold, lost;
    uint32_t banks, in_bank[TAG_BANKS], asked; uint64_t turns;   /* lines of the instruction under way by tag bank, its sectors; cycles of L1 so far */
    unsigned worst;                          /* level that the instruction under way must wait for */
    uint64_t waits[3];                       /* instructions by that level: L1, L2, DRAM */
};
enum { WAIT_L1, WAIT_L2, WAIT_DRAM };

static bool chosen_by_line(const struct play *p, const struct line_request *r)
{
    const struct ana_kernel *k = p->b->subject.facts;
    for (uint32_t i = 0; k && r->access < k->naccess && i < p->o->bypass_loads.n; i++)
        if (k->access[r->access].at.line == p->o->bypass_loads.line[i])
            return true;
    return false;
}

static bool bypasses(const struct play *p, const struct line_request *r)
{
    const struct options *o = p->o;
    const struct ana_kernel *k = p->b->subject.facts;
    if (o->bypass != BYPASS_L1 && o->bypass != BYPASS_L1L2 && o->bypass != BYPASS_RO)
        return false;
    if (o->bypass_loads.n)
        return chosen_by_line(p, r);
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
        bool lost = d != MODEL_COLD && p->l2_overflows && d >= (p->evict_first ? p->l2_sectors / EVICT_FIRST_SHARE : p->l2_sectors);
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

/* An instruction holds L1 for as long as its fullest tag bank, or its data, takes. */
static void end_instruction(struct play *p)
{
    uint32_t most = (p->asked + SECTORS_A_CYCLE - 1) / SECTORS_A_CYCLE;
    for (uint32_t i = 0; i < TAG_BANKS; i++) {
        most = p->in_bank[i] > most ? p->in_bank[i] : most;
        p->in_bank[i] = 0;
    }
    p->turns += most;
    p->asked = 0;
}

static bool play_one(struct play *p, const struct line_request *r)
{
    unsigned n = (unsigned)__builtin_popcount(r->sectors);
    if (r->first)
        end_instruction(p);
    p->in_bank[r->line % p->banks]++;
    p->asked += n;
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
uint64_t tune_l1_bytes(const struct tune_bench *b, const struct options *o, const struct tune_trace *t)
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
    p->l1_lines = tune_l1_bytes(p->b, p->o, t) / LINE_BYTES * L1_USABLE_8THS / 8;
    p->l2_sectors = d->l2_bytes / SECTOR_BYTES / (d->sms ? d->sms : 1);
    p->banks = d->cc_major < 7 ? 1 : TAG_BANKS;
    p->whole_line = d->cc_major < 5;
    p->evict_first = p->o->bypass == BYPASS_L2 || p->o->bypass == BYPASS_L1L2;
    p->l2_overflows = p->b->subject.data->total_bytes > d->l2_bytes;
    bool ok = p->l1 && p->l2;
    for (size_t i = 0; ok && i < t->n; i++)
        ok = play_one(p, &t->v[i]);
    end_instruction(p);
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
    out->cost.latency_l1 = (double)p->waits[WAIT_L1] * d->lat_l1 * sms / in.parallelism;
    out->cost.latency_l2 = l2 * d->lat_l2 * sms / in.parallelism;
    out->cost.latency_dram = dram * d->lat_dram * sms / in.parallelism;
    out->cost.latency = out->cost.latency_l1 + out->cost.latency_l2 + out->cost.latency_dram;
    out->cost.bound_l1 = (double)p->turns;
    if (in.bw_l2 > 0)
        out->cost.bound_l2 += (double)p->store_sectors * sms * SECTOR_BYTES / in.bw_l2;
    if (p->b->inst_warp > 0 && d->issue_per_cycle > 0)
        out->issue = p->b->inst_warp / (d->issue_per_cycle * sms);
    out->cost.extended = tune_part(out, tune_part_binding(out));
    out->time_ns = d->clock_khz ? out->cost.extended * 1e6 / d->clock_khz : NAN;
}

/* What the model says nothing about, by option. NULL: nothing of the kind. */
static const char *beyond_the_model(const struct options *o)
{
    if (o->pi.mode == PI_VOTE && o->bypass != BYPASS_NONE)
        return "a voted threshold is known after the vote";
    if (o->bypass_form == BYPASS_FORM_HYBRID)
        return "loads chosen by line and threshold together are not modelled";
    return NULL;
}

/* What the figure leaves out, though there is one. */
static const char *left_out(const struct play *p)
{
    const struct options *o = p->o;
    const struct dev_info *d = dev_describe(p->b->subject.dev);
    if (o->prefetch != PREFETCH_OFF)
        return "prefetching: its own requests and the waits that it spares are not counted";
    if (o->softcache != 0)
        return "software cache: its hits in shared memory are not counted";
    if (d->cc_major < 7 && (o->readonly != READONLY_KEEP || o->bypass == BYPASS_RO))
        return "the read-only path is a cache of its own here; it is counted as L1";
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
    *out = (struct tune_prediction){ .options = *o, .time_ns = NAN };
    if (beyond) {
        snprintf(out->why_not, sizeof out->why_not, "%s", beyond);
        return ST_OK;
    }
    if (refused(b, o, out))
        return ST_OK;
    enum status st = tune_trace_of(b, o, &t);
    if (st != ST_OK)
        return st;
    if (t->why[0]) {
        snprintf(out->why_not, sizeof out->why_not, "%s", t->why);
        return ST_OK;
    }
    st = play_all(&p, t);
    if (st == ST_OK) {
        const char *note = left_out(&p);
        cost_of(&p, t, out);
        out->valid = true;
        snprintf(out->note, sizeof out->note, "%s", note ? note : "");
    }
    return st;
}

/* ---- the parts, one table ---- */
static const struct { const char *name; size_t at; } parts[TUNE_PARTS] = {
    { "latency", offsetof(struct tune_prediction, cost.latency) }, { "L1 rate", offsetof(struct tune_prediction, cost.bound_l1) },
    { "L2 bandwidth", offsetof(struct tune_prediction, cost.bound_l2) }, { "DRAM bandwidth", offsetof(struct tune_prediction, cost.bound_dram) },
    { "instruction issue", offsetof(struct tune_prediction, issue) },
};

const char *tune_part_name(size_t i) { return i < TUNE_PARTS ? parts[i].name : ""; }

double tune_part(const struct tune_prediction *p, size_t i)
{
    return i < TUNE_PARTS ? *(const double *)(const void *)((const char *)p + parts[i].at) : NAN;
}

size_t tune_part_binding(const struct tune_prediction *p)
{
    size_t most = 0;
    for (size_t i = 1; i < TUNE_PARTS; i++)
        if (tune_part(p, i) > tune_part(p, most))
            most = i;
    return most;
}

void tune_prediction_text(const struct tune_prediction *p, const char *device, struct buf *out)
{
    const struct model_cost *c = &p->cost;
    if (!p->valid) {
        buf_printf(out, "memory cost  n/a: %s\n", p->why_not);
        return;
    }
    buf_printf(out, "memory cost on %s, modelled, in cycles; nothing was launched for it\n", device);
    buf_printf(out, "  counts   %.4g line requests (G), L1 misses %.1f %% (m1), of those from DRAM %.1f %% (m2)\n", p->in.loads, 100 * p->in.m1, 100 * p->in.m2);
    buf_printf(out, "  paper    %.4g = L1 %.4g + L2 %.4g + DRAM %.4g\n", c->paper, c->l1, c->l2, c->dram);
    buf_printf(out, "  ours     %.4g, the largest of:\n", c->extended);
    for (size_t i = 0; i < TUNE_PARTS; i++)
        buf_printf(out, "    %-18s %10.4g%s\n", parts[i].name, tune_part(p, i), i == tune_part_binding(p) ? "  <- binds" : "");
    buf_printf(out, "    (latency = L1 %.4g + L2 %.4g + DRAM %.4g)\n", c->latency_l1, c->latency_l2, c->latency_dram);
    if (isfinite(p->time_ns))
        buf_printf(out, "  about %.4f ms (modelled)\n", p->time_ns / 1e6);
    if (p->note[0])
        buf_printf(out, "  %s\n", p->note);
}
