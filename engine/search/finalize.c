/* The end of a search: shed what is not needed, measure once more, say why. */
#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/rec/change.h"
#include "engine/rec/device.h"
#include "engine/rec/gain.h"
#include "engine/rec/interval.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result.h"
#include "engine/search/found.h"
#include "engine/search/search.h"
#include "engine/search/tuner.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* an option that gains less than this over all that were shed is not kept */
#define WORTH 0.01
/* of one launch's samples; what short launches, timed in batches, spread is also what they do from one
 * process to the next */
#define MOST_SPREAD 0.1
/* two ticks of a GPU's event timer (0.5 microseconds each): what a difference must exceed */
#define TIMER_NS 1000

/* One pass: the first option that can go without a loss that matters against a gain of `most` goes. */
static enum status shed_one(struct searching *s, double most, bool *shed)
{
    const struct options *none = options_none();
    *shed = false;
    for (size_t i = 0; i < GROUPS; i++) {
        struct options o = group_without(s->found->options, i);
        struct result r;
        char why[64];
        if (options_equal(&o, s->found->options) || options_equal(&o, none))
            continue;
        snprintf(why, sizeof why, "is --%s still needed?", group_knob(i));
        enum status st = search_probe(s, &o, why, &r);
        if (st != ST_OK)
            return st;
        double enough = most / (1 + fmax(s->live.noise, WORTH));
        if (r.sampled && !s->found->best->sampled && search_gain(s, &r) >= enough * SAMPLE_MAY)
            st = search_time_whole(s, &o, &r);
        if (st != ST_OK)
            return st;
        if (r.sampled == s->found->best->sampled && search_gain(s, &r) >= enough && search_sure(s, &r)) {
            search_take(s, &r);
            *shed = true;
            return ST_OK;
        }
    }
    return ST_OK;
}

/* All that is shed together may cost so much once, not once each. */
enum status search_simplify(struct searching *s)
{
    double most = s->best_gain;
    enum status st = ST_OK;
    search_step(s, "removing knobs without effect", "confirmation");
    s->reserve = 0;
    for (bool shed = true; shed && st == ST_OK;) {
        st = shed_one(s, most, &shed);
        most = fmax(most, s->best_gain);
    }
    return st;
}

static double spread(const struct result *r)
{
    return r->time.median > 0 ? (double)(r->time.max - r->time.min) / (double)r->time.median : 0;
}

/* The best once more; its samples join, and its counters where they are read. */
static enum status run_best_again(struct searching *s, bool counted, struct result *again)
{
    search_count_tries(s, counted);
    enum status st = tune_run_one(s->bench, s->found->options, again, NULL);
    search_count_tries(s, false);
    if (st != ST_OK || !tune_usable(again))
        return st;
    tune_merge_samples(s->found->best, again);
    if (counted)
        memcpy(s->found->best->counters, again->counters, sizeof again->counters);
    return ST_OK;
}

enum status search_confirm(struct searching *s)
{
    struct tune_found *f = s->found;
    if (dev_describe(s->bench->subject.dev)->kind != DEV_CUDA || s->opts->replay)
        return ST_OK;
    for (int round = 0; round < SEARCH_CONFIRMS / 2 && search_left(s) >= 2; round++) {
        struct result again;
        const struct options *none = options_none();
        enum status st = tune_run_one(s->bench, none, &again, NULL);
        if (st == ST_OK && tune_usable(&again))
            tune_merge_samples(f->original, &again);
        if (st == ST_OK)
            st = run_best_again(s, round == 0, &again);
        if (st != ST_OK)
            return st;
        f->launches += 2;
        f->again += 2;
    }
    return ST_OK;
}

/* In a few words, what holds the original: from the analysis, else from the model; empty: neither says.
 */
static void what_binds(const struct searching *s, char *text, size_t n)
{
    const struct ana_kernel *k = s->bench->subject.facts;
    const struct dev_info *d = dev_describe(s->bench->subject.dev);
    const struct limits *l = &s->live.original->limits;
    text[0] = 0;
    if (k && k->cls == ANA_CLASS_STREAMING)
        snprintf(text, n, "its loads stream, there is no reuse to keep");
    else if (k && k->footprint.valid && k->footprint.bytes_per_sm > 0 && d->l1_bytes &&
             k->footprint.bytes_per_sm <= (double)d->l1_bytes)
        snprintf(text, n, "what an SM touches between reuses (%.0f KiB) fits its L1 (%llu KiB)",
                 k->footprint.bytes_per_sm / 1024, (unsigned long long)d->l1_bytes / 1024);
    else if (l->valid)
        snprintf(text, n, "it is limited by %s (%.0f %% of the issue slots)",
                 limit_name(limits_first(l)), 100 * (double)l->share[limits_first(l)]);
}

/* The only gain is one that the model is not sure of. */
static bool unsure_only(const struct searching *s, char *reason, size_t n)
{
    if (s->unsure_gain * (1 - s->live.noise) <= 1)
        return false;
    struct interval i = s->unsure_likely;
    struct buf line = { 0 };
    options_line(&s->unsure, &line);
    snprintf(reason, n,
             "%.100s gains %.2fx here, which on a GPU may be a loss: %.2fx to %.2fx in %d of 100 cases",
             line.s ? line.s : "", s->unsure_gain, i.low, i.high, INTERVAL_PERCENT);
    buf_free(&line);
    return true;
}

/* What was found gains too little here for a GPU to gain by it. */
static bool small_only(const struct searching *s, double gain, char *reason, size_t n)
{
    const struct options *none = options_none();
    if (dev_describe(s->bench->subject.dev)->kind == DEV_CUDA ||
        options_equal(s->found->options, none) || !(gain > 1))
        return false;
    struct buf line = { 0 };
    options_line(s->found->options, &line);
    snprintf(
        reason, n,
        "%.100s gains %.1f %% here; what gains less than %.0f %% simulated is often slower on a GPU",
        line.s ? line.s : "", 100 * (gain - 1), 100 * LEAST_SIMULATED);
    buf_free(&line);
    return true;
}

static void why_alone(const struct searching *s, double gain, char *reason, size_t n)
{
    char binds[128];
    unsigned run = s->found->launches + s->found->resumed;
    if (unsure_only(s, reason, n) || small_only(s, gain, reason, n))
        return;
    if (isnan(gain)) {
        snprintf(reason, n, "no launch was left to time the original as the best of %u launches was",
                 run);
        return;
    }
    if (s->found->interrupted) {
        snprintf(reason, n,
                 "interrupted after %u launches, the original among them; none beat it by more than the "
                 "noise (%.1f %%)",
                 run, 100 * s->live.noise);
        return;
    }
    if (s->found->untried[0] && run <= 1) {
        snprintf(reason, n, "the budget allowed nothing but the original");
        return;
    }
    if (s->found->untried[0]) {
        snprintf(reason, n,
                 "%u launches, the original among them, were all that the budget allowed; none beat it "
                 "by more than the noise (%.1f %%)",
                 run, 100 * s->live.noise);
        return;
    }
    what_binds(s, binds, sizeof binds);
    snprintf(reason, n, "nothing tried beats the original by more than the noise (%.1f %%)%s%s",
             100 * s->live.noise, binds[0] ? ": " : "", binds);
}

static bool among(const struct options *o, const struct options *v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (options_equal(o, &v[i]))
            return true;
    return false;
}

const struct result *search_next(const struct searching *s, const struct options *fell, size_t n)
{
    const struct seen_result *best = NULL;
    for (size_t i = 0; i < s->nseen; i++) {
        const struct seen_result *r = &s->seen[i];
        if (tune_usable(r->result) && !r->unsettled &&
            r->result->sampled == s->found->original->sampled && r->gain > (best ? best->gain : 1) &&
            !among(&r->result->options, fell, n))
            best = r;
    }
    return best ? best->result : NULL;
}

void search_finalize(struct searching *s)
{
    struct tune_found *f = s->found;
    const struct options *none = options_none();
    if (!f->best->sampled && f->original->sampled && s->whole->time.valid)
        *f->original = *s->whole;
    double gain = gain_of(f->original, f->best);
    bool gpu = dev_describe(s->bench->subject.dev)->kind == DEV_CUDA;
    double needed =
        1 + fmax(s->live.noise,
                 gpu ? fmin(spread(f->original), f->original->time.batch > 1 ? INFINITY : MOST_SPREAD)
                     : LEAST_SIMULATED);
    /* a mean of many is finer than the timer */
    double launches = fmax(1, fmin(f->original->time.batch, f->best->time.batch));
    bool within_timer =
        gpu && (double)(f->original->time.median - f->best->time.median) < TIMER_NS / sqrt(launches);
    bool sure = !(gain > 1) || search_sure_of(s, f->best, gain);
    f->leave_alone = options_equal(f->options, none) || !(gain >= needed) || within_timer || !sure;
    if (f->leave_alone) {
        why_alone(s, gain, f->reason, sizeof f->reason);
        *f->options = *none;
        *f->best = *f->original;
        return;
    }
    if (f->best->time.origin == ORIGIN_SIMULATED)
        f->likely_gain = interval_of_gain(dev_describe(s->bench->subject.dev), f->options, gain);
    struct buf why = { 0 };
    change_words(f->original, f->best, &why);
    snprintf(f->reason, sizeof f->reason, "%.*s", (int)sizeof f->reason - 1,
             why.n ? why.s : "the device tells no more than the time");
    buf_free(&why);
}
