/* run-off: a vote's launch shows which values of a knob look good while SMs run different ones. They
 * share L2 and DRAM then, so a value that costs the others bandwidth looks better than it is. Whole
 * launches decide: the ends, what was elected, then halves of the wider gap beside the best, until its
 * neighbours are known. About 2 + 2 log2(range) launches; a curve with several valleys may end in a
 * local one. */
#include "engine/rec/result.h"
#include "engine/tune/runoff.h"
#include "engine/tune/tune_int.h"

#include <math.h>

enum { TRIES = 24 };

struct runoff {
    struct tune_bench *b;
    const struct runoff_range *range;
    const struct options *base;
    struct result *r; /* of TRIES */
    int value[TRIES];
    size_t n;
    struct diags *ds;
};

static bool tried(const struct runoff *f, int value)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->value[i] == value)
            return true;
    return false;
}

static enum status run(struct tune_bench *b, const struct options *o, struct result *out,
                       struct diags *ds)
{
    struct diags own = { 0 };
    enum status st = tune_as_result(tune_run_chosen(b, o, out, &own), &own, out);
    diags_move(ds, &own);
    return st;
}

/* One whole launch with this value, unless there was one. A refusal is a result without a time. */
static enum status try_value(struct runoff *f, int value)
{
    struct options o = *f->base;
    if (tried(f, value) || f->n == TRIES)
        return ST_OK;
    f->range->set(&o, value, f->range->most);
    f->value[f->n] = value;
    return run(f->b, &o, &f->r[f->n++], f->ds);
}

static double time_of(const struct result *r)
{
    return tune_usable(r) ? (double)r->time.median : INFINITY;
}

static size_t fastest(const struct runoff *f)
{
    size_t best = 0;
    for (size_t i = 1; i < f->n; i++)
        if (time_of(&f->r[i]) < time_of(&f->r[best]))
            best = i;
    return best;
}

/* The middle of the wider gap beside the best; -1: both neighbours are known. */
static int next_value(const struct runoff *f)
{
    int at = f->value[fastest(f)], below = INT32_MIN, above = INT32_MAX;
    for (size_t i = 0; i < f->n; i++) {
        if (f->value[i] < at && f->value[i] > below)
            below = f->value[i];
        if (f->value[i] > at && f->value[i] < above)
            above = f->value[i];
    }
    int low = below == INT32_MIN ? 0 : at - below, high = above == INT32_MAX ? 0 : above - at;
    if (low <= 1 && high <= 1)
        return -1;
    return low >= high ? at - low / 2 : at + high / 2;
}

static enum status run_whole(struct tune_bench *b, const struct options *o, struct result *out,
                             struct diags *ds)
{
    bool was = b->opts.exact;
    b->opts.exact = true;
    enum status st = run(b, o, out, ds);
    b->opts.exact = was;
    return st;
}

static enum status time_alike(struct runoff *f)
{
    struct result *list[TRIES];
    for (size_t i = 0; i < f->n; i++)
        list[i] = &f->r[i];
    return tune_alike(f->b, run_whole, list, f->n, f->ds);
}

enum status tune_runoff(struct tune_bench *b, const struct options *base,
                        const struct runoff_range *range, int elected, int *best, unsigned *launches,
                        struct diags *ds)
{
    struct runoff f = { .b = b, .range = range, .base = base, .ds = ds };
    f.r = base_alloc(TRIES * sizeof *f.r);
    if (!f.r)
        return ST_NOMEM;
    enum status st = try_value(&f, elected);
    if (st == ST_OK)
        st = try_value(&f, range->least);
    if (st == ST_OK)
        st = try_value(&f, range->most);
    for (int next; st == ST_OK && f.n < TRIES && (next = next_value(&f)) >= 0;)
        st = try_value(&f, next);
    if (st == ST_OK)
        st = time_alike(&f);
    size_t k = f.n ? fastest(&f) : 0;
    *best = f.n && isfinite(time_of(&f.r[k])) ? f.value[k] : elected;
    *launches = (unsigned)f.n;
    base_free(f.r);
    return st;
}
