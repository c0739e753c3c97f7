/* The memory cost of a configuration without running it (schedule paper, section 5).
 *
 *   options --pass--> rewritten kernel --ana_trace--> line requests of one SM (request_trace.c)
 *     --warps in time through L1 and L2 (replay_model.c)--> cycles, our figure
 *   rewritten kernel --ana_trace, LRU of L1 and L2 (paper_cost.c)--> G, m1, m2
 *     --model_memory_cost--> the paper's figure */
#include "engine/predict/prediction.h"
#include "engine/predict/request_trace.h"
#include "engine/rec/device.h"
#include "engine/rec/interval.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_softcache.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double per_cycle(double bytes_per_second, const struct dev_info *d)
{
    return d->clock_khz ? bytes_per_second / (d->clock_khz * 1e3) : 0;
}

/* One SM's counts stand for every SM that has work. Stores wait for nothing, but they take L1's slots
 * and bandwidth: the paper's figure counts loads alone, ours their traffic too. */
static struct model_cost_in counts_of(const struct tune_bench *b, const struct tune_played *p,
                                      const struct tune_trace *t)
{
    const struct dev_info *d = dev_describe(b->subject.dev);
    /* of a CTA, that load at all */
    double sms = tune_active_sms(d, t), warps = fmax(1, (double)t->nasked / (double)t->on_sm);
    double m1 = p->w.lines ? (double)p->w.missed / (double)p->w.lines : 0;
    return (struct model_cost_in){
        .loads = (double)p->w.lines * t->scale * sms,
        .m1 = m1,
        .m2 = p->w.missed_sectors > 0 ? fmin(1, p->dram / p->w.missed_sectors) : 0,
        .lat_l1 = d->lat_l1,
        .lat_l2 = d->lat_l2,
        .lat_dram = d->lat_dram,
        .sectors = p->w.sectors * t->scale * sms,
        .bw_l2 = per_cycle(d->bw_l2, d),
        .bw_dram = per_cycle(d->bw_dram, d),
        .rate_l1 = sms,
        .parallelism = sms * warps * fmin(t->resident, (double)t->on_sm * t->scale)
    };
}

/* The bounds take each limit by itself; the walk, which queues and waits as the warps would, is no less
 * than any but by what it does not know (instructions of the original, once they were counted). */
static void cost_of(const struct tune_bench *b, const struct options *o, const struct tune_played *p,
                    const struct tune_trace *t, struct tune_prediction *out)
{
    const struct dev_info *d = dev_describe(b->subject.dev);
    struct model_cost *c = &out->cost;
    out->in = counts_of(b, p, t);
    *c = model_memory_cost(&out->in);
    c->l1 = c->l2 = c->dram = c->paper = NAN;
    double sms = out->in.rate_l1, side_by_side = out->in.parallelism / sms / t->scale;
    c->latency_l1 = p->w.waits[MODEL_FROM_L1] / side_by_side;
    c->latency_l2 = p->w.waits[MODEL_FROM_L2] / side_by_side;
    c->latency_dram = p->w.waits[MODEL_FROM_DRAM] / side_by_side;
    c->latency = c->latency_l1 + c->latency_l2 + c->latency_dram;
    c->bound_l1 = t->scale * fmax(p->w.l1, p->w.port);
    c->bound_l2 = t->scale * fmax(p->w.l2, p->w.units);
    c->bound_dram = t->scale * p->w.dram;
    if (b->inst_warp > 0 && d->issue_per_cycle > 0)
        out->issue = b->inst_warp / (d->issue_per_cycle * sms);
    out->walked = p->launch + t->scale * (p->w.cycles - p->launch);
    c->extended = fmax(out->walked, tune_part(out, tune_part_binding(out)));
    out->time_ns = d->clock_khz ? c->extended * 1e6 / d->clock_khz : NAN;
    out->likely = interval_of_time(d, o, ORIGIN_MODELLED, out->time_ns);
}

/* The schedule paper's own figure beside it. */
static enum status name_cost(const struct tune_bench *b, const struct options *o,
                             const struct tune_trace *t, struct tune_prediction *out)
{
    struct model_cost *c = &out->cost, named;
    enum status st = tune_paper_counts(b, o, t, &out->paper);
    named = model_memory_cost(&out->paper);
    c->l1 = named.l1;
    c->l2 = named.l2;
    c->dram = named.dram;
    c->paper = named.paper;
    return st;
}

/* What the figure leaves out, though there is one. */
static const char *left_out(const struct tune_bench *b, const struct options *o)
{
    (void)b;
    return opt_softcache(o)->lines == OPT_SOFTCACHE_AUTO
               ? "software cache: for the data that the analysis ranks "
                 "first; a profile may choose others"
               : NULL;
}

/* The pass room's refusal as the reason; false: legal. */
static bool refused(const struct tune_bench *b, const struct options *o, struct tune_prediction *out)
{
    struct pass_input in = tune_input(&b->subject, o);
    struct diags own = { 0 };
    char why[256] = "";
    bool no = pass_legal(&in, &own) != ST_OK;
    tune_reason_text(&own, why, sizeof why);
    if (no)
        snprintf(out->why_not, sizeof out->why_not, "%.150s", why[0] ? why : status_text(ST_REFUSED));
    diags_free(&own);
    return no;
}

static enum status predict_settled(struct tune_bench *b, const struct options *o, bool paper,
                                   struct tune_prediction *out)
{
    struct tune_trace *t = NULL;
    struct tune_played p;
    *out = (struct tune_prediction){ .time_ns = NAN, .walked = NAN, .issue = NAN };
    if (cancel_asked(tune_cancel(b)))
        return ST_CANCELLED;
    if (refused(b, o, out))
        return ST_OK;
    enum status st = tune_trace_of(b, o, paper, &t);
    if (st == ST_OK && t->why[0])
        snprintf(out->why_not, sizeof out->why_not, "%s", t->why);
    else if (st == ST_OK && (st = tune_play(b, o, t, &p)) == ST_OK) {
        const char *note = left_out(b, o);
        cost_of(b, o, &p, t, out);
        st = paper ? name_cost(b, o, t, out) : ST_OK;
        out->valid = st == ST_OK;
        snprintf(out->note, sizeof out->note, "%s", note ? note : "");
    }
    return st;
}

/* A vote elects what is fastest: the least over the thresholds. */
static enum status predict_vote(struct tune_bench *b, const struct options *o, bool paper,
                                struct tune_prediction *out)
{
    struct options *at = options_new();
    struct tune_prediction p;
    uint32_t warps = tune_warps(&b->subject);
    int elected = -1;
    enum status st = at ? ST_OK : ST_NOMEM;
    if (at)
        options_copy(at, o);
    for (uint32_t pi = 0; pi <= warps && st == ST_OK; pi++) {
        opt_bypass(at)->pi.mode = pi == 0 ? PI_BPA : pi == warps ? PI_CHA : PI_VALUE;
        opt_bypass(at)->pi.value = opt_bypass(at)->pi.mode == PI_VALUE ? (int)pi : 0;
        st = predict_settled(b, at, paper, &p);
        if (st != ST_OK || !p.valid || elected < 0 || p.cost.extended <= out->cost.extended) {
            *out = p;
            elected = (int)pi;
        }
        if (!p.valid)
            break;
    }
    if (st == ST_OK && out->valid)
        snprintf(out->note, sizeof out->note,
                 "the vote is taken to elect π=%d of %u, the least by this model", elected, warps);
    base_free(at);
    return st;
}

static enum status predict(struct tune_bench *b, const struct options *o, bool paper,
                           struct tune_prediction *out)
{
    return PI_IS_VOTE(opt_bypass(o)->pi.mode) && opt_bypass(o)->level != BYPASS_NONE
               ? predict_vote(b, o, paper, out)
               : predict_settled(b, o, paper, out);
}

enum status tune_predict(struct tune_bench *b, const struct options *o, struct tune_prediction *out)
{
    return predict(b, o, true, out);
}

enum status tune_predict_time(struct tune_bench *b, const struct options *o, struct tune_prediction *out)
{
    return predict(b, o, false, out);
}

/* ---- the parts, one table ---- */
static const struct {
    const char *name;
    size_t at;
} parts[TUNE_PARTS] = {
    { "latency", offsetof(struct tune_prediction, cost.latency) },
    { "L1 rate", offsetof(struct tune_prediction, cost.bound_l1) },
    { "L2 bandwidth", offsetof(struct tune_prediction, cost.bound_l2) },
    { "DRAM bandwidth", offsetof(struct tune_prediction, cost.bound_dram) },
    { "instruction issue", offsetof(struct tune_prediction, issue) },
};

const char *tune_part_name(size_t i)
{
    return i < TUNE_PARTS ? parts[i].name : "";
}

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
    buf_printf(out,
               "  paper    %.4g = L1 %.4g + L2 %.4g + DRAM %.4g: G %.0f line transactions of loads; L1 "
               "misses %.2f %%, L2 misses %.2f %%\n",
               c->paper, c->l1, c->l2, c->dram, p->paper.loads, 100 * p->paper.m1, 100 * p->paper.m2);
    buf_printf(out, "  walked   %.4g line requests, L1 misses %.1f %%, of those from DRAM %.1f %%\n",
               p->in.loads, 100 * p->in.m1, 100 * p->in.m2);
    buf_printf(out,
               "  ours     %.4g: one SM's warps in time, waiting and queueing (%.4g); no less than\n",
               c->extended, p->walked);
    for (size_t i = 0; i < TUNE_PARTS; i++)
        if (isnan(tune_part(p, i)))
            buf_printf(out, "    %-18s %10s\n", parts[i].name, "n/a");
        else
            buf_printf(out, "    %-18s %10.4g%s\n", parts[i].name, tune_part(p, i),
                       i == tune_part_binding(p) ? "  <- binds" : "");
    buf_printf(out, "    (latency = L1 %.4g + L2 %.4g + DRAM %.4g)\n", c->latency_l1, c->latency_l2,
               c->latency_dram);
    if (isfinite(p->time_ns)) {
        buf_printf(out, "  about %s (modelled)", time_words(p->time_ns).s);
        interval_words(", on the GPU ", p->likely, out);
        buf_puts(out, "\n");
    }
    if (p->note[0])
        buf_printf(out, "  %s\n", p->note);
}
