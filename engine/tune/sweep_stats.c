/* What a sweep shows: best, category, model fit, overheads of the inserted code, and the sentence for a
 * person. Needs no device: a replayed session is judged by the same code. */
#include "engine/rec/counter_ids.h"
#include "engine/rec/device.h"
#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/result_read.h"
#include "engine/tune/sweep.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_pi(const struct tune_sweep *s)
{
    return strcmp(s->axis, "pi") == 0;
}

/* Where point i stands on the axis: its threshold on a π curve, else its place in the list. */
static size_t place(const struct tune_sweep *s, size_t i)
{
    const struct options *o = result_options(result_at(s->points, i));
    return is_pi(s) && opt_bypass(o)->pi.mode == PI_VALUE ? (size_t)opt_bypass(o)->pi.value : i;
}

/* At the ends of a π curve stand bpa and cha, which run no inserted code. */
static const struct result *end_or_point(const struct tune_sweep *s, size_t i)
{
    if (is_pi(s) && place(s, i) == 0 && tune_usable(s->bpa))
        return s->bpa;
    if (is_pi(s) && place(s, i) == s->warps && i + 1 == s->npoints && tune_usable(s->cha))
        return s->cha;
    return result_at(s->points, i);
}

/* Time of the inserted code at threshold `pi` over the code without it. */
static double overhead(const struct tune_sweep *s, size_t pi, const struct result *r)
{
    for (size_t i = 0; is_pi(s) && i < s->npoints; i++)
        if (place(s, i) == pi)
            return gain_of(result_at(s->points, i), r);
    return NAN;
}

static size_t usable_curve(const struct tune_sweep *s, struct model_point *p, size_t *from)
{
    size_t n = 0;
    for (size_t i = 0; i < s->npoints && n < TUNE_AXIS_MOST + 2; i++) {
        const struct result *r = end_or_point(s, i);
        if (!tune_usable(r))
            continue;
        int64_t low, high;
        timing_band(result_time(r), &low, &high);
        from[n] = i;
        p[n++] = (struct model_point){ (double)place(s, i), (double)result_time(r)->median, (double)low,
                                       (double)high };
    }
    return n;
}

static void fit(struct tune_sweep *s, const struct dev_info *d, double block_threads,
                const struct model_point *p, size_t n)
{
    double threads[TUNE_AXIS_MOST + 2], time[TUNE_AXIS_MOST + 2];
    double resident = d->max_warps_per_sm * 32.0;
    for (uint32_t i = 0; i < s->npoints; i++)
        if (result_ctas_per_sm(result_at(s->points, i)))
            resident = result_ctas_per_sm(result_at(s->points, i)) * block_threads;
    for (size_t i = 0; i < n; i++) {
        threads[i] = s->warps ? resident * p[i].x / s->warps : 0;
        time[i] = p[i].time;
    }
    const struct counter *sec = &result_counters(s->cha)[COUNTER_L1_SECTORS_PER_REQUEST],
                         *req = &result_counters(s->cha)[COUNTER_L1_REQUESTS],
                         *in = &result_counters(s->cha)[COUNTER_INST_WARP];
    s->valley =
        (struct model_valley){ .cache_bytes = (double)d->l1_bytes,
                               .t_cache = d->lat_l1,
                               .t_mem = d->lat_dram > 0 ? d->lat_dram : d->lat_l2,
                               .npe = d->issue_per_cycle * 32,
                               .freq_hz = d->clock_khz * 1e3,
                               .cpi = 1,
                               .r_m = req->valid && in->valid && in->value > 0 ? req->value / in->value
                                                                               : 0.2,
                               .b_reg = sec->valid ? sec->value : 4,
                               .bandwidth = d->sms ? d->bw_dram / d->sms : 0,
                               .alpha = 2,
                               .beta = 64,
                               .sharpness = 1 };
    s->fit = model_valley_fit(&s->valley, threads, time, n, resident);
}

void tune_sweep_judge(struct tune_sweep *s, const struct dev_info *d, double block_threads)
{
    struct model_point p[TUNE_AXIS_MOST + 2];
    size_t from[TUNE_AXIS_MOST + 2], n = usable_curve(s, p, from);
    s->has_best = false;
    s->best = 0;
    s->overhead_bpa = overhead(s, 0, s->bpa);
    s->overhead_cha = overhead(s, s->warps, s->cha);
    memset(&s->fit, 0, sizeof s->fit);
    memset(&s->curve, 0, sizeof s->curve);
    if (!n)
        return;
    s->curve = model_categorise(p, n);
    s->curve.best = from[s->curve.best];
    s->curve.peak = from[s->curve.peak];
    s->curve.valley = from[s->curve.valley];
    s->curve.plateau = from[s->curve.plateau];
    s->best = s->curve.best;
    s->has_best = true;
    if (is_pi(s) && s->complete)
        fit(s, d, block_threads, p, n);
}

const struct result *tune_sweep_best(const struct tune_sweep *s)
{
    return s->has_best ? end_or_point(s, s->best) : NULL;
}

/* ---- the sentence ---- */
static void pi_verdict(const struct tune_sweep *s, const struct result *best, struct buf *out)
{
    struct gain_words over_bpa = gain_words(gain_of(s->bpa, best)),
                      over_cha = gain_words(gain_of(s->cha, best));
    switch (s->curve.category) {
    case CATEGORY_CACHE_CONGESTED:
        buf_printf(out, "π=%zu of %u is %s faster than caching all and %s faster than bypassing all",
                   place(s, s->best), s->warps, over_cha.s, over_bpa.s);
        break;
    case CATEGORY_CACHE_FAVOURITE:
        buf_printf(out,
                   "cache everything (cha): %s faster than bypassing all; no smaller threshold beats it",
                   gain_words(gain_of(s->bpa, s->cha)).s);
        break;
    case CATEGORY_BYPASS_FAVOURITE:
        buf_printf(out, "bypass everything (bpa): %s faster than caching all",
                   gain_words(gain_of(s->cha, s->bpa)).s);
        break;
    case CATEGORY_CACHE_INSENSITIVE:
        buf_printf(out, "leave it alone: no threshold changes the time by more than the noise (%.1f %%)",
                   100 * s->curve.significance);
        break;
    case CATEGORY_IRREGULAR:
        buf_puts(out, "no single valley; ");
        if (best == s->cha) /* an end without inserted code: no point of the curve */
            buf_printf(out, "caching all is the fastest, %s over bypassing all", over_bpa.s);
        else if (best == s->bpa)
            buf_printf(out, "bypassing all is the fastest, %s over caching all", over_cha.s);
        else
            buf_printf(out, "best seen at π=%zu of %u, %s over caching all, %s over bypassing all",
                       place(s, s->best), s->warps, over_cha.s, over_bpa.s);
        break;
    }
}

/* Half a curve has no category: only the fastest point so far is told, and nothing of those that did not
 * run. */
static void part_verdict(const struct tune_sweep *s, struct buf *out)
{
    const struct result *best = NULL;
    size_t at = 0;
    for (size_t i = 0; i < s->npoints; i++)
        if (tune_usable(result_at(s->points, i)) &&
            (!best || result_time(result_at(s->points, i))->median < result_time(best)->median))
            best = result_at(s->points, at = i);
    buf_printf(out, "cut off after %zu points", s->npoints);
    if (best)
        buf_printf(out, "; fastest so far is point %zu (%s, %s)", at,
                   time_words((double)result_time(best)->median).s, evidence_name(evidence_of(best)));
    if (best && is_pi(s) && tune_usable(s->cha))
        buf_printf(out, ", %s over caching all", gain_words(gain_of(s->cha, best)).s);
}

static const struct result *slowest(const struct tune_sweep *s)
{
    const struct result *most = NULL;
    for (size_t i = 0; i < s->npoints; i++)
        if (tune_usable(result_at(s->points, i)) &&
            (!most || result_time(result_at(s->points, i))->median > result_time(most)->median))
            most = result_at(s->points, i);
    return most;
}

void tune_verdict(const struct tune_sweep *s, struct buf *out)
{
    const struct result *best = tune_sweep_best(s);
    if (!best) {
        const struct result *r = result_status(s->cha) != ST_OK || result_equal(s->cha) == EQUAL_NO
                                     ? s->cha
                                 : s->npoints ? result_at(s->points, 0)
                                              : s->cha;
        buf_printf(out, "no configuration ran with outputs equal to the original's%s%s",
                   result_message(r)[0] ? ": " : "", result_message(r));
        return;
    }
    if (!s->complete) {
        part_verdict(s, out);
        return;
    }
    if (is_pi(s)) {
        buf_printf(out, "%s: ", model_category_name(s->curve.category));
        pi_verdict(s, best, out);
        buf_printf(out, " (%s)", evidence_name(evidence_of(best)));
        return;
    }
    struct buf line = { 0 };
    options_line(result_options(best), &line);
    buf_printf(out, "best along %s: %s (%s, %s; the slowest takes %s as long)", s->axis,
               line.n ? line.s : "as launched", time_words((double)result_time(best)->median).s,
               evidence_name(evidence_of(best)), gain_words(gain_of(slowest(s), best)).s);
    buf_free(&line);
}

bool tune_untimed(const struct result *r)
{
    return !result_time(r)->valid && result_status(r) == ST_DEVICE && !result_probe_ctas(r);
}
