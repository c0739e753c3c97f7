/* What may be compared with what. A simulated time from a sample of the CTAs and one of the whole launch
 * are figures of two methods: a gain is a ratio of two times of one kind, and nothing wins by a sample
 * alone where there are launches left to time it, and the original, whole. Of a caller's budget some are
 * kept for that. */
#include "engine/base/base.h"
#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result.h"
#include "engine/search/found.h"
#include "engine/search/search.h"
#include "engine/search/tuner.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>
#include <string.h>

#define MOST_SETTLED 40

/* One configuration timed whole: from an earlier search, or launched where `launches` are left. !valid:
 * there is no time, or none is. */
static enum status whole_of(struct searching *s, const struct options *o, unsigned launches,
                            const char *why, struct result *out)
{
    *out = result_empty();
    for (size_t i = 0; i < s->opts->ndone; i++) {
        const struct result *d = &s->opts->done[i];
        if (d->sampled || d->probe_ctas || !d->time.valid || !options_equal(&d->options, o))
            continue;
        *out = *d;
        s->found->resumed++;
        return search_note(s, out, why, true);
    }
    if (s->opts->replay || search_left(s) < launches ||
        (s->deadline_ns > 0 && (double)base_now_ns() > s->deadline_ns))
        return ST_OK;
    if (s->ob && cancel_asked(s->ob->cancel))
        return ST_CANCELLED;
    enum status st = tune_time_whole(s->bench, o, out, NULL);
    s->found->launches++;
    s->found->whole++;
    return st == ST_OK ? search_note(s, out, why, false) : st;
}

static enum status whole_original(struct searching *s)
{
    const struct options *none = options_none();
    if (!s->found->original->sampled || s->whole->time.valid)
        return ST_OK;
    enum dev_outputs was = s->bench->opts.outputs;
    s->bench->opts.outputs = DEV_OUTPUTS_ALL; /* it stands in the document where nothing beats it */
    /* by itself it settles nothing */
    enum status st = whole_of(s, none, 2, "the original, timed whole", s->whole);
    s->bench->opts.outputs = was;
    return st;
}

/* The first in what was seen by more than the noise, above `than`; NULL: none. */
static struct seen_result *first_above(struct searching *s, double than)
{
    struct seen_result *first = NULL;
    for (size_t i = 0; i < s->nseen; i++)
        if (s->seen[i].gain * (1 - s->live.noise) > than && (!first || s->seen[i].gain > first->gain) &&
            search_sure(s, s->seen[i].result))
            first = &s->seen[i];
    return first;
}

static enum status weigh(struct searching *s, struct seen_result *r)
{
    struct options o = r->result->options;
    struct result whole;
    char why[64];
    snprintf(why, sizeof why, "timed whole: a sample of the CTAs gave %s",
             gain_words(gain_of(s->found->original, r->result)).s);
    size_t at = (size_t)(r - s->seen);
    enum status st = whole_of(s, &o, 1, why, &whole);
    if (st == ST_OK && (whole.time.valid || whole.status != ST_OK)) {
        *s->seen[at].result = whole;
        s->seen[at].gain = search_gain(s, &whole);
    } else if (st == ST_OK) {
        s->seen[at].unsettled = true;
    }
    return st;
}

enum status search_time_whole(struct searching *s, const struct options *o, struct result *out)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < s->nseen && st == ST_OK; i++) {
        if (!options_equal(&s->seen[i].asked, o))
            continue;
        st = weigh(s, &s->seen[i]);
        *out = *s->seen[i].result;
        break;
    }
    return st;
}

/* The best of what was timed whole, or of what was not; the original where nothing beats it. */
static void take_best(struct searching *s, bool sampled)
{
    const struct result *best =
        !sampled && s->found->original->sampled && s->whole->time.valid ? s->whole : s->found->original;
    double most = 1;
    for (size_t i = 0; i < s->nseen; i++) {
        const struct result *r = s->seen[i].result;
        if (r->sampled != sampled || s->seen[i].gain * (1 - s->live.noise) <= most || !search_sure(s, r))
            continue;
        best = r;
        most = s->seen[i].gain;
    }
    search_take(s, best);
    s->best_gain = most;
}

/* A few turns of a loop on all CTAs are within 3 % of the whole launch (docs/lab/performance.md). */
static bool is_rough(const struct result *r)
{
    return r->sampled && !r->loop_turns;
}

enum status search_time_leaders(struct searching *s)
{
    enum status st = ST_OK;
    if (!is_rough(s->found->best) && !is_rough(s->found->original))
        return ST_OK;
    if (s->best_gain <= 1)
        return ST_OK;
    st = whole_original(s);
    if (st != ST_OK || (s->found->original->sampled && !s->whole->time.valid))
        return st; /* no time for it: all from samples */
    for (unsigned i = 0; i < MOST_SETTLED && st == ST_OK; i++) {
        take_best(s, false);
        struct seen_result *first = first_above(s, s->best_gain);
        if (!first)
            return ST_OK;
        st = weigh(s, first);
        if (first->unsettled)
            break;
    }
    take_best(s, false);
    return st;
}

static void take_back(struct searching *s, const struct result *all)
{
    for (size_t i = 0; i < s->nseen; i++)
        if (options_equal(&s->seen[i].result->options, &all->options)) {
            s->seen[i].result->equal = EQUAL_NO;
            s->seen[i].gain = 0;
            snprintf(s->seen[i].result->message, sizeof s->seen[i].result->message, "%s", all->message);
        }
}

enum status search_make_all(struct searching *s)
{
    struct result *best = s->found->best;
    enum status st = ST_OK;
    while (st == ST_OK && best->equal == EQUAL_PART) {
        struct result all;
        st = tune_make_all(s->bench, s->found->options, &all, s->ds);
        if (st != ST_OK)
            break;
        if (all.status != ST_OK || all.equal == EQUAL_NO || all.equal == EQUAL_UNKNOWN) {
            all.equal = EQUAL_NO;
            take_back(s, &all);
            st = search_note(s, &all, "with all its outputs", false);
            take_best(s, best->sampled);
            continue;
        }
        best->equal = all.equal;
        best->part = (struct outputs_part){ 0 };
        best->noutputs = all.noutputs;
        memcpy(best->outputs, all.outputs, sizeof best->outputs);
    }
    return st;
}
