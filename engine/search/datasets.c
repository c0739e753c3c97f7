/* Does a recommendation hold on other data sets of the same kernel? (bypass paper: a
 * configuration tuned on one input may be wrong for another.) */
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/options.h"
#include "engine/rec/result.h"
#include "engine/search/search.h"
#include "engine/search/tuner.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>
#include <string.h>

/* Original and recommendation once each on this launch's own data. */
static enum status both(struct tune_bench *b, const struct options *o, struct result *original,
                        struct result *best, struct diags *ds)
{
    struct options none = options_default();
    enum status st = tune_run_one(b, &none, original, ds);
    if (st == ST_OK)
        st = tune_run_one(b, o, best, ds);
    return st == ST_OK ? tune_time_alike(b, (struct result *[]){ original, best }, 2, ds) : st;
}

static void judge_set(struct tune_data_set *s, const struct result *original, const struct result *best,
                      double noise)
{
    s->equal = best->equal;
    if (!tune_usable(original) || !tune_usable(best)) {
        const struct result *bad = tune_usable(original) ? best : original;
        snprintf(s->message, sizeof s->message, "%.120s",
                 bad->message[0] ? bad->message : status_text(bad->status));
        return;
    }
    s->gain = best->time.median > 0 ? (double)original->time.median / (double)best->time.median : 1;
    s->holds = s->gain > 1 + noise;
    if (!s->holds)
        snprintf(s->message, sizeof s->message,
                 s->gain < 1 - noise ? "slower here" : "no gain here beyond the noise (%.1f %%)",
                 100 * noise);
}

/* exact: timed whole, as the recommendation was. */
static enum status try_set(struct tune_bench *of, const struct launch_spec *launch,
                           const struct options *o, bool exact, double noise, struct tune_data_set *s)
{
    const struct dev_info *d = dev_describe(of->subject.dev);
    struct launch_data data = { 0 };
    struct tune_bench *b = NULL;
    struct diags own = { 0 };
    struct result original = result_empty(), best = result_empty();
    snprintf(s->name, sizeof s->name, "%s", launch->name ? launch->name : launch->kernel);
    enum status st =
        launch_data_make(launch, d->mem_bytes ? d->mem_bytes : (uint64_t)1 << 40, &data, &own);
    bool made = st == ST_OK;
    struct tune_subject subject = { of->subject.module, launch, &data, of->subject.dev, NULL };
    if (st == ST_OK)
        st = tune_bench_open(&subject, &of->opts, &b, &own);
    if (st == ST_OK) {
        b->observer = of->observer;
        b->opts.exact = b->opts.exact || exact;
        st = both(b, o, &original, &best, &own);
    }
    if (st == ST_OK) {
        judge_set(s, &original, &best, noise);
    } else {
        tune_reason(&own, &original);
        snprintf(s->message, sizeof s->message, "%.120s",
                 original.message[0] ? original.message : status_text(st));
    }
    tune_bench_close(b);
    if (made)
        launch_data_free(&data);
    diags_free(&own);
    return st == ST_CANCELLED || st == ST_NOMEM ? st : ST_OK;
}

enum status tune_check_sets(struct tune_bench *b, const struct tune_search_opts *o, double noise,
                            struct tune_found *f)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < o->nother && f->nsets < TUNE_SETS && st == ST_OK; i++) {
        if (b->observer && b->observer->progress)
            b->observer->progress(b->observer->ctx, 0.99, "other data sets");
        st = try_set(b, o->other[i], &f->options, f->whole && !f->best.sampled, noise,
                     &f->set[f->nsets++]);
    }
    return st;
}
