/* What may be compared with what. A simulated time from a sample of the CTAs and one of the whole launch are figures
 * of two methods: a gain is a ratio of two times of one kind, and nothing wins by a sample alone where there are
 * launches left to time it, and the original, whole. */
#include "engine/tune/search.h"

#include <math.h>
#include <stdio.h>

enum status tune_time_whole(struct tune_bench *b, const struct options *o, struct result *out, struct diags *ds)
{
    bool was = b->opts.exact;
    b->opts.exact = true;
    enum status st = tune_run_one(b, o, out, ds);
    b->opts.exact = was;
    return st;
}

enum status tune_time_alike(struct tune_bench *b, struct result *const *r, size_t n, struct diags *ds)
{
    size_t whole = 0, sampled = 0;
    enum status st = ST_OK;
    for (size_t i = 0; i < n; i++) {
        whole += tune_usable(r[i]) && !r[i]->sampled;
        sampled += tune_usable(r[i]) && r[i]->sampled;
    }
    for (size_t i = 0; i < n && whole && sampled && st == ST_OK; i++) {
        struct options o = r[i]->options;
        if (!tune_usable(r[i]) || !r[i]->sampled)
            continue;
        st = b->observer && cancel_asked(b->observer->cancel) ? ST_CANCELLED : tune_time_whole(b, &o, r[i], ds);
    }
    return st;
}

static double ratio(const struct result *original, const struct result *r)
{
    return (double)original->time.median / (double)r->time.median;
}

double search_gain(const struct searching *s, const struct result *r)
{
    const struct result *original = &s->found->original;
    if (!tune_usable(r) || r->equal == EQUAL_UNKNOWN || r->time.median <= 0)
        return 0;
    if (!r->sampled && original->sampled && s->whole.time.valid)
        original = &s->whole;
    return ratio(original, r);
}

bool search_alike(const struct searching *s, const struct result *r)
{
    return r->sampled == s->found->original.sampled || (!r->sampled && s->whole.time.valid);
}

/* One configuration timed whole: from an earlier search, or launched. !valid: there is no launch left for it. */
static enum status whole_of(struct searching *s, const struct options *o, const char *why, struct result *out)
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
    if (s->opts->replay || search_spent(s))
        return ST_OK;
    enum status st = tune_time_whole(s->bench, o, out, NULL);
    s->found->launches++;
    return st == ST_OK ? search_note(s, out, why, false) : st;
}

static enum status whole_original(struct searching *s)
{
    struct options none = options_default();
    if (!s->found->original.sampled || s->whole.time.valid)
        return ST_OK;
    return whole_of(s, &none, "the original, timed whole", &s->whole);
}

enum status search_weigh(struct searching *s, struct result *r, bool *comparable)
{
    enum status st = ST_OK;
    struct result whole = result_empty();
    char why[64];
    snprintf(why, sizeof why, "timed whole: a sample of the CTAs said %.2fx", search_gain(s, r));
    if (r->sampled || s->found->original.sampled)
        st = whole_original(s);
    if (st == ST_OK && r->sampled && (s->whole.time.valid || !s->found->original.sampled))
        st = whole_of(s, &r->options, why, &whole);
    if (st == ST_OK && whole.status != ST_OK)
        *r = whole;
    if (st == ST_OK && whole.time.valid)
        *r = whole;
    *comparable = search_alike(s, r);
    return st;
}
