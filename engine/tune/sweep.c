/* Sweeps over one axis, and what a finished curve says. */
#include "engine/tune/tune_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define AXIS_MOST 64

/* ---- axes: each fills the options of its points from the base ---- */
struct axis { const char *name; size_t (*points)(const struct tune_subject *s, const struct options *base, struct options *out); bool ends; };

static size_t axis_pi(const struct tune_subject *s, const struct options *base, struct options *out)
{
    uint32_t warps = tune_warps(s);
    for (uint32_t k = 0; k <= warps; k++) {
        out[k] = *base;
        out[k].pi.mode = PI_VALUE;
        out[k].pi.value = (int)k;
    }
    return warps + 1;
}

static size_t axis_agents(const struct tune_subject *s, const struct options *base, struct options *out)
{
    const struct dev_info *d = dev_describe(s->dev);
    uint32_t most = d->max_ctas_per_sm, threads = (uint32_t)dim3u_count(s->launch->block);
    if (threads && d->max_warps_per_sm * d->warp_size / threads < most)
        most = d->max_warps_per_sm * d->warp_size / threads;
    for (uint32_t k = 1; k <= most && k < AXIS_MOST; k++) {
        out[k - 1] = *base;
        out[k - 1].cluster = CLUSTER_AGENT;
        out[k - 1].agents = (int)k;
    }
    return most;
}

static size_t axis_carveout(const struct tune_subject *s, const struct options *base, struct options *out)
{
    static const int percent[] = { 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100 };
    (void)s;
    for (size_t k = 0; k < ARRAY_LEN(percent); k++) {
        out[k] = *base;
        out[k].carveout = percent[k];
    }
    return ARRAY_LEN(percent);
}

/* Block shapes of the same number of threads: powers of two along x and y, z of 1. */
static size_t axis_block(const struct tune_subject *s, const struct options *base, struct options *out)
{
    uint32_t threads = (uint32_t)dim3u_count(s->launch->block);
    size_t n = 0;
    for (uint32_t x = 1; x <= threads && n < AXIS_MOST; x *= 2)
        if (threads % x == 0) {
            out[n] = *base;
            out[n++].block = (struct dim3u){ x, threads / x, 1 };
        }
    return n;
}

static const struct axis axes[] = {
    { "pi", axis_pi, true }, { "agents", axis_agents, false }, { "carveout", axis_carveout, false }, { "block", axis_block, false },
};

static const struct axis *axis_find(const char *name, struct diags *ds)
{
    for (size_t i = 0; i < ARRAY_LEN(axes); i++)
        if (strcmp(axes[i].name, name) == 0)
            return &axes[i];
    struct diag *d = diag_add(ds, DIAG_ERROR, "axis", NULL, NO_SPAN, "no axis '%s'", name);
    diag_hint(d, "pi, agents, carveout or block");
    return NULL;
}

/* ---- running ---- */
struct sweeping {
    struct tune_bench *bench; const struct tune_observer *ob; struct tune_sweep *s;
    const struct result *done; size_t ndone; size_t finished, total; struct diags *ds;
};

static bool already_done(struct sweeping *w, const struct options *o, struct result *out)
{
    for (size_t i = 0; i < w->ndone; i++)
        if (options_equal(&w->done[i].options, o) && (w->done[i].time.valid || w->done[i].status == ST_REFUSED)) {
            *out = w->done[i];
            return true;
        }
    return false;
}

static enum status one_point(struct sweeping *w, const struct options *o, struct result *out)
{
    if (w->ob && cancel_asked(w->ob->cancel))
        return ST_CANCELLED;
    /* What is to be said of one point stands in its result; only what ends the sweep is told at large. */
    struct diags own = { 0 };
    enum status st = already_done(w, o, out) ? ST_OK : tune_run_one(w->bench, o, out, &own);
    if (st != ST_OK)
        diags_move(w->ds, &own);
    diags_free(&own);
    if (st != ST_OK)
        return st;
    w->finished++;
    if (w->ob && w->ob->progress)
        w->ob->progress(w->ob->ctx, (double)w->finished / (double)w->total, "sweep");
    return ST_OK;
}

static void tell(struct sweeping *w, const struct result *r)
{
    if (w->ob && w->ob->point)
        w->ob->point(w->ob->ctx, r, NULL);
}

static enum status run_ends(struct sweeping *w, const struct options *base)
{
    struct options o = *base;
    o.pi.value = 0;
    o.pi.mode = PI_BPA;
    enum status st = one_point(w, &o, &w->s->bpa);
    if (st != ST_OK)
        return st;
    tell(w, &w->s->bpa);
    o.pi.mode = PI_CHA;
    st = one_point(w, &o, &w->s->cha);
    if (st == ST_OK)
        tell(w, &w->s->cha);
    return st;
}

static enum status run_points(struct sweeping *w, const struct options *points, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        enum status st = one_point(w, &points[i], &w->s->points[i]);
        if (st != ST_OK)
            return st;
        w->s->npoints = i + 1;
        tell(w, &w->s->points[i]);
    }
    return ST_OK;
}

/* Over a pool: everything that is not done yet at once; bpa and cha stand before the points. */
static enum status run_pooled(struct sweeping *w, const struct options *base, const struct options *points, size_t n, bool ends)
{
    struct options list[AXIS_MOST + 4];
    struct result *out = base_alloc((n + 3) * sizeof *out);
    size_t k = 0, extra = ends ? 2 : 0;
    if (!out)
        return ST_NOMEM;
    if (ends) {
        list[0] = list[1] = *base;
        list[0].pi.mode = PI_BPA;
        list[1].pi.mode = PI_CHA;
        list[0].pi.value = list[1].pi.value = 0;
        k = 2;
    }
    memcpy(list + k, points, n * sizeof *list);
    enum status st = tune_pool_run(w->bench, list, n + extra, w->ob, out, w->ds);
    if (ends) {
        w->s->bpa = out[0];
        w->s->cha = out[1];
    }
    memcpy(w->s->points, out + extra, n * sizeof *out);
    w->s->npoints = n;
    while (st != ST_OK && w->s->npoints && w->s->points[w->s->npoints - 1].status == ST_CANCELLED)
        w->s->npoints--;
    base_free(out);
    return st;
}

/* On a measured device a second round runs backwards, so that slow drift (clocks, temperature)
 * falls on every point alike: the arms of the comparison are alternated. */
static enum status run_backwards(struct sweeping *w)
{
    struct result again;
    struct result *arm[2] = { &w->s->cha, &w->s->bpa };
    for (size_t k = w->s->npoints + 2; k-- > 0;) {
        struct result *r = k >= 2 ? &w->s->points[k - 2] : arm[k == 0];
        if (w->ob && cancel_asked(w->ob->cancel))
            return ST_CANCELLED;
        if (!tune_usable(r))
            continue;
        enum status st = tune_run_one(w->bench, &r->options, &again, NULL);
        if (st != ST_OK)
            return st;
        if (again.status == ST_OK && again.equal != EQUAL_NO)
            tune_merge_samples(r, &again);
        else
            *r = again;                      /* a configuration that fails the second time is not trusted */
    }
    return ST_OK;
}

/* A pi sweep without a level: L1; the read-only path where the kernel's loads all go through it. */
static int level_of(const struct tune_bench *b, const struct options *base)
{
    static const int levels[] = { BYPASS_L1, BYPASS_RO };
    struct options o = *base;
    o.pi.mode = PI_BPA;
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        struct diags ds = { 0 };
        o.bypass = levels[i];
        struct pass_input in = { b->subject.module, str_of(b->subject.launch->kernel), &o, dev_describe(b->subject.dev), b->subject.launch, b->subject.facts };
        bool ok = pass_legal(&in, &ds) == ST_OK;
        diags_free(&ds);
        if (ok)
            return levels[i];
    }
    return BYPASS_L1;
}

enum status tune_sweep_run(struct tune_bench *b, const char *axis, const struct options *base, const struct tune_observer *ob,
                           const struct result *done, size_t ndone, struct tune_sweep *out, struct diags *ds)
{
    struct options points[AXIS_MOST + 2], from = *base;
    const struct axis *a = axis_find(axis, ds);
    memset(out, 0, sizeof *out);
    out->bpa = out->cha = result_empty();
    if (!a)
        return ST_USAGE;
    if (a->ends && from.bypass == BYPASS_NONE)
        from.bypass = level_of(b, &from);
    size_t n = a->points(&b->subject, &from, points);
    out->axis = a->name;
    out->warps = tune_warps(&b->subject);
    out->points = base_alloc((n + 1) * sizeof *out->points);
    if (!out->points)
        return ST_NOMEM;
    struct sweeping w = { b, ob, out, done, ndone, 0, n + (a->ends ? 2 : 0), ds };
    b->observer = ob;
    enum status st = b->pool ? run_pooled(&w, &from, points, n, a->ends) : a->ends ? run_ends(&w, &from) : ST_OK;
    if (st == ST_OK && !b->pool)
        st = run_points(&w, points, n);
    if (st == ST_OK && !b->pool && dev_describe(b->subject.dev)->kind == DEV_CUDA && !ndone)
        st = run_backwards(&w);
    b->observer = NULL;
    out->complete = st == ST_OK && out->npoints == n;
    tune_sweep_judge(out, dev_describe(b->subject.dev), (double)dim3u_count(b->subject.launch->block));
    return st;
}

/* ---- judging ---- */
static double ratio(const struct result *a, const struct result *b)
{
    return tune_usable(a) && tune_usable(b) && b->time.median > 0 ? (double)a->time.median / (double)b->time.median : NAN;
}

static bool is_pi(const struct tune_sweep *s) { return strcmp(s->axis, "pi") == 0; }

/* At the ends of a π curve stand bpa and cha, which run no inserted code. */
static const struct result *end_or_point(const struct tune_sweep *s, size_t i)
{
    if (is_pi(s) && i == 0 && tune_usable(&s->bpa))
        return &s->bpa;
    if (is_pi(s) && i == s->warps && i + 1 == s->npoints && tune_usable(&s->cha))
        return &s->cha;
    return &s->points[i];
}

static size_t usable_curve(const struct tune_sweep *s, struct model_point *p, size_t *from)
{
    size_t n = 0;
    for (size_t i = 0; i < s->npoints && n < AXIS_MOST + 2; i++) {
        const struct result *r = end_or_point(s, i);
        if (!tune_usable(r))
            continue;
        from[n] = i;
        p[n++] = (struct model_point){ (double)i, (double)r->time.median, (double)r->time.min, (double)r->time.max };
    }
    return n;
}

static void fit(struct tune_sweep *s, const struct dev_info *dev, double block_threads, const struct model_point *p, size_t n)
{
    double threads[AXIS_MOST + 2], time[AXIS_MOST + 2];
    double resident = dev->max_warps_per_sm * 32.0;
    for (uint32_t i = 0; i < s->npoints; i++)
        if (s->points[i].ctas_per_sm)
            resident = s->points[i].ctas_per_sm * block_threads;
    for (size_t i = 0; i < n; i++) {
        threads[i] = s->warps ? resident * p[i].x / s->warps : 0;
        time[i] = p[i].time;
    }
    const struct counter *sec = &s->cha.counters[COUNTER_L1_SECTORS_PER_REQUEST], *req = &s->cha.counters[COUNTER_L1_REQUESTS], *in = &s->cha.counters[COUNTER_INST_WARP];
    s->valley = (struct model_valley){
        .cache_bytes = (double)dev->l1_bytes, .t_cache = dev->lat_l1, .t_mem = dev->lat_dram > 0 ? dev->lat_dram : dev->lat_l2,
        .npe = dev->issue_per_cycle * 32, .freq_hz = dev->clock_khz * 1e3, .cpi = 1,
        .r_m = req->valid && in->valid && in->value > 0 ? req->value / in->value : 0.2,
        .b_reg = sec->valid ? sec->value : 4, .bandwidth = dev->sms ? dev->bw_dram / dev->sms : 0, .alpha = 2, .beta = 64, .sharpness = 1 };
    s->fit = model_valley_fit(&s->valley, threads, time, n, resident);
}

void tune_sweep_judge(struct tune_sweep *s, const struct dev_info *dev, double block_threads)
{
    struct model_point p[AXIS_MOST + 2];
    size_t from[AXIS_MOST + 2], n = usable_curve(s, p, from);
    s->has_best = false;
    s->best = 0;
    s->overhead_bpa = s->npoints ? ratio(&s->points[0], &s->bpa) : NAN;
    s->overhead_cha = s->npoints == (size_t)s->warps + 1 ? ratio(&s->points[s->warps], &s->cha) : NAN;
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
        fit(s, dev, block_threads, p, n);
}

const struct result *tune_sweep_best(const struct tune_sweep *s)
{
    return s->has_best ? end_or_point(s, s->best) : NULL;
}

void tune_sweep_free(struct tune_sweep *s)
{
    base_free(s->points);
    memset(s, 0, sizeof *s);
}

/* ---- the sentence ---- */
static void pi_verdict(const struct tune_sweep *s, const struct result *best, struct buf *out)
{
    double over_bpa = ratio(&s->bpa, best), over_cha = ratio(&s->cha, best);
    switch (s->curve.category) {
    case CATEGORY_CACHE_CONGESTED:
        buf_printf(out, "π=%zu of %u is %.2fx faster than caching all and %.2fx faster than bypassing all", s->best, s->warps, over_cha, over_bpa);
        break;
    case CATEGORY_CACHE_FAVOURITE:
        buf_printf(out, "cache everything (cha): %.2fx faster than bypassing all; no threshold beats it", ratio(&s->bpa, &s->cha));
        break;
    case CATEGORY_BYPASS_FAVOURITE:
        buf_printf(out, "bypass everything (bpa): %.2fx faster than caching all", ratio(&s->cha, &s->bpa));
        break;
    case CATEGORY_CACHE_INSENSITIVE:
        buf_printf(out, "leave it alone: no threshold changes the time by more than the noise (%.1f %%)", 100 * s->curve.significance);
        break;
    case CATEGORY_IRREGULAR:
        buf_printf(out, "no single valley; best seen at π=%zu of %u, %.2fx over caching all, %.2fx over bypassing all", s->best, s->warps, over_cha, over_bpa);
        break;
    }
}

/* Half a curve has no category: only the fastest point so far is told, and nothing of those that did not run. */
static void part_verdict(const struct tune_sweep *s, struct buf *out)
{
    const struct result *best = NULL;
    size_t at = 0;
    for (size_t i = 0; i < s->npoints; i++)
        if (tune_usable(&s->points[i]) && (!best || s->points[i].time.median < best->time.median))
            best = &s->points[at = i];
    buf_printf(out, "cut off after %zu points", s->npoints);
    if (best)
        buf_printf(out, "; fastest so far is point %zu (%.4f ms)", at, (double)best->time.median / 1e6);
    if (best && is_pi(s) && tune_usable(&s->cha))
        buf_printf(out, ", %.2fx over caching all", ratio(&s->cha, best));
}

void tune_verdict(const struct tune_sweep *s, struct buf *out)
{
    const struct result *best = tune_sweep_best(s);
    if (!best) {
        buf_puts(out, "no configuration ran with outputs equal to the original's");
        return;
    }
    if (!s->complete) {
        part_verdict(s, out);
        return;
    }
    if (is_pi(s)) {
        buf_printf(out, "%s: ", model_category_name(s->curve.category));
        pi_verdict(s, best, out);
        return;
    }
    struct buf line = { 0 };
    options_line(&best->options, &line);
    buf_printf(out, "best along %s: %s (%.3f ms; the slowest takes %.2fx as long)", s->axis, line.n ? line.s : "as launched", (double)best->time.median / 1e6,
               ratio(&s->points[s->curve.valley], best));
    buf_free(&line);
}
