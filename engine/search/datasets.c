/* Several launches of one kernel: does what one of them recommends hold on the others, and which configuration is the
 * best for all of them? (bypass paper: a configuration tuned on one input may be wrong for another.) */
#include "engine/base/base.h"
#include "engine/dev/dev.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/result.h"
#include "engine/search/found.h"
#include "engine/search/search.h"
#include "engine/search/tuner.h"
#include "engine/tune/tune.h"
#include "engine/tune/tune_int.h"

#include <stdio.h>
#include <string.h>

/* Configurations of the search that are tried on each launch, the fastest first. */
#define TRIED     4u
#define LOOKED_AT 24u

/* What of a result is kept: original and candidates of a launch are timed alike. */
struct there {
    struct result r;
    bool ran; /* with the outputs of the original */
};
struct candidates {
    struct options v[TRIED];
    const struct result *here[TRIED]; /* on the launch that was searched */
    bool fell[TRIED];                 /* gains too little there, or its proof breaks it */
    size_t n;
    struct there original[TUNE_SETS], tried[TUNE_SETS][TRIED];
};

static bool same_knobs(const struct options *a, const struct options *b)
{
    bool same = true;
    for (size_t g = 0; g < GROUPS; g++)
        same = same && group_is_set(a, g) == group_is_set(b, g);
    return same;
}

/* The fastest here, and the fastest that set other knobs than those before: near relatives win and lose together. */
static void choose_candidates(struct searching *s, struct candidates *c)
{
    struct options seen[LOOKED_AT];
    const struct result *r = s->found->best;
    for (size_t n = 0; r && n < LOOKED_AT && c->n < TRIED; r = search_next(s, seen, n)) {
        bool other = true;
        for (size_t k = 0; k < c->n; k++)
            other = other && !same_knobs(&c->v[k], &r->options);
        seen[n++] = r->options;
        if (other) {
            c->here[c->n] = r;
            c->v[c->n++] = r->options;
        }
    }
}

/* Further candidates may take the time that the search itself took, and no more than the caller's. */
static bool has_time(const struct searching *s, int64_t from)
{
    double now = (double)base_now_ns(), end = s->opts->budget_seconds * 1e9;
    return now - (double)from < s->found->seconds.tries * 1e9 &&
           !(end > 0 && now - (double)s->started_ns > end);
}

static enum status time_one(struct tune_bench *b, const struct options *o, struct there *t,
                            struct diags *ds)
{
    enum status st = tune_run_one(b, o, &t->r, ds);
    t->ran = st == ST_OK && tune_usable(&t->r);
    return st;
}

/* Original and candidates on this launch's own data. */
static enum status time_all(struct searching *s, struct tune_bench *b, const struct candidates *c,
                            struct there *original, struct there *tried, struct diags *ds)
{
    const struct options *none = options_none();
    struct result *list[1 + TRIED] = { &original->r };
    int64_t from = base_now_ns();
    enum status st = time_one(b, none, original, ds);
    size_t n = 1;
    for (size_t k = 0; k < c->n && st == ST_OK && (!k || has_time(s, from)); k++) {
        st = time_one(b, &c->v[k], &tried[k], ds);
        list[n++] = &tried[k].r;
    }
    return st == ST_OK ? tune_time_alike(b, list, n, ds) : st;
}

/* Timed whole where the recommendation was. */
static enum status try_launch(struct searching *s, const struct launch_spec *l,
                              const struct candidates *c, struct there *original, struct there *tried)
{
    struct tune_bench *of = s->bench, *b = NULL;
    const struct dev_info *d = dev_describe(of->subject.dev);
    struct launch_data data = { 0 };
    struct diags own = { 0 };
    enum status st = launch_data_make(l, d->mem_bytes ? d->mem_bytes : (uint64_t)1 << 40, &data, &own);
    bool made = st == ST_OK;
    struct tune_subject subject = { of->subject.module, l, &data, of->subject.dev, NULL };
    if (st == ST_OK)
        st = tune_bench_open(&subject, &of->opts, &b, &own);
    if (st == ST_OK) {
        b->observer = of->observer;
        b->opts.exact = b->opts.exact || (s->found->whole && !s->found->best->sampled);
        st = time_all(s, b, c, original, tried, &own);
    }
    if (st != ST_OK) {
        original->ran = false;
        tune_reason(&own, &original->r);
        if (!original->r.message[0])
            snprintf(original->r.message, sizeof original->r.message, "%s", status_text(st));
    }
    tune_bench_close(b);
    if (made)
        launch_data_free(&data);
    diags_free(&own);
    return st == ST_CANCELLED || st == ST_NOMEM ? st : ST_OK;
}

/* ---- one for all ---- */

size_t search_least_of_all(const double *original, const double *ns, size_t launches, size_t n,
                           double noise, double *least)
{
    size_t best = n;
    *least = 0;
    for (size_t k = 0; k < n; k++) {
        const double *mine = ns + k * launches;
        double sum = 0;
        bool holds = true;
        for (size_t i = 0; i < launches; i++) {
            holds = holds && mine[i] > 0 && original[i] >= mine[i] * (1 - noise);
            sum += mine[i];
        }
        if (holds && (best == n || sum < *least)) {
            *least = sum;
            best = k;
        }
    }
    return best;
}

/* Of the launches that the original runs on; the first where each loses somewhere. */
static size_t best_for_all(struct searching *s, const struct candidates *c)
{
    struct tune_found *f = s->found;
    double original[1 + TUNE_SETS] = { (double)f->original->time.median }, sum = original[0];
    double ns[TRIED * (1 + TUNE_SETS)] = { 0 }, least;
    size_t at[TUNE_SETS], launches = 1;
    for (size_t i = 0; i < f->nsets; i++)
        if (c->original[i].ran) {
            original[launches] = (double)c->original[i].r.time.median;
            sum += original[launches];
            at[launches++ - 1] = i;
        }
    for (size_t k = 0; k < c->n; k++) {
        ns[k * launches] = c->fell[k] ? 0 : (double)c->here[k]->time.median;
        for (size_t i = 1; i < launches; i++) {
            const struct there *t = &c->tried[at[i - 1]][k];
            ns[k * launches + i] = t->ran ? (double)t->r.time.median : 0;
        }
    }
    size_t best = search_least_of_all(original, ns, launches, c->n, s->live.noise, &least);
    bool valid = launches > 1 && best < c->n;
    f->all = (struct tune_all_launches){ valid, (unsigned)launches, (unsigned)c->n, sum, least };
    return valid ? best : 0;
}

static void judge(const struct searching *s, const struct candidates *c, size_t set, size_t chosen)
{
    struct tune_data_set *d = &s->found->set[set];
    const struct result *original = &c->original[set].r, *mine = &c->tried[set][chosen].r;
    struct options *best = options_at(s->found->set_best, set);
    double noise = s->live.noise;
    d->best_gain = 1 + noise;
    for (size_t k = 0; k < c->n; k++) {
        double gain = c->tried[set][k].ran ? gain_of(original, &c->tried[set][k].r) : 0;
        if (gain > d->best_gain) {
            d->best_gain = gain;
            *best = c->v[k];
        }
    }
    if (d->best_gain <= 1 + noise)
        d->best_gain = 1; /* nothing is better than the original */
    d->equal = mine->equal;
    if (!c->original[set].ran || !c->tried[set][chosen].ran) {
        const struct result *bad = c->original[set].ran ? mine : original;
        snprintf(d->message, sizeof d->message, "%.120s",
                 bad->message[0] ? bad->message : status_text(bad->status));
        return;
    }
    d->gain = gain_of(original, mine);
    d->evidence = evidence_of(mine);
    d->holds = d->gain > 1 + noise;
    if (!d->holds)
        snprintf(d->message, sizeof d->message,
                 d->gain < 1 - noise ? "slower here" : "no gain here beyond the noise (%.1f %%)",
                 100 * noise);
}

/* Takes the one for all launches instead of the fastest on the first, where it gains enough there and is proven. */
static enum status take_for_all(struct searching *s, const struct result *r, bool *taken)
{
    struct tune_found *f = s->found;
    struct tune_found *was = base_alloc(sizeof *was);
    enum status st = was && tune_found_room(was) ? ST_OK : ST_NOMEM;
    *taken = false;
    if (st == ST_OK) {
        tune_found_copy(was, f);
        search_take(s, r);
        search_finalize(s);
        if (!f->leave_alone)
            st = tune_prove(s->bench, f->options, s->opts->prove, &f->proof, s->ds);
        *taken = st == ST_OK && !f->leave_alone && f->proof.verdict != PROOF_BROKEN;
        if (!*taken)
            tune_found_copy(f, was);
    }
    if (was)
        tune_found_clear(was);
    base_free(was);
    return st;
}

enum status search_over_launches(struct searching *s)
{
    struct tune_found *f = s->found;
    size_t n = s->opts->nother < TUNE_SETS ? s->opts->nother : TUNE_SETS;
    struct candidates *c = n ? base_alloc(sizeof *c) : NULL;
    enum status st = n && !c ? ST_NOMEM : ST_OK;
    if (!c)
        return st;
    choose_candidates(s, c);
    for (; f->nsets < n && st == ST_OK; f->nsets++) {
        struct tune_data_set *d = &f->set[f->nsets];
        const char *name = launch_name(s->opts->other[f->nsets]);
        snprintf(d->name, sizeof d->name, "%s", name ? name : launch_kernel(s->opts->other[f->nsets]));
        options_put(f->set_best, f->nsets, options_none());
        search_step(s, "other launches", NULL);
        st = try_launch(s, s->opts->other[f->nsets], c, &c->original[f->nsets], c->tried[f->nsets]);
    }
    size_t chosen = 0;
    for (bool taken = false; st == ST_OK && !taken;) {
        chosen = best_for_all(s, c);
        taken = !chosen;
        if (chosen)
            st = take_for_all(s, c->here[chosen], &taken);
        c->fell[chosen] = !taken;
    }
    if (st != ST_OK)
        f->all.valid = false, chosen = 0;
    for (size_t i = 0; i < f->nsets; i++)
        judge(s, c, i, chosen);
    base_free(c);
    return st;
}
