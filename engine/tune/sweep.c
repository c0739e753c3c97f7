/* Sweeps: a curve along one axis (bpa and cha beside it on π), or one such curve for every combination
 * of further axes. All configurations of all slices are one list, worked off in order or shared over a
 * pool. */
#include "engine/tune/sweep.h"

#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/result.h"
#include "engine/tune/tune_int.h"

#include <string.h>

enum slot_kind { SLOT_BPA, SLOT_CHA, SLOT_POINT };
struct tune_slot {
    struct options o;
    struct result *to;
    struct tune_sweep *s;
    enum slot_kind kind;
};
struct sweeping {
    struct tune_bench *bench;
    const struct tune_observer *ob;
    struct tune_family *f;
    struct diags *ds;
    struct tune_slot *slot;
    size_t n;
    const struct result *done;
    size_t ndone;
};

static bool already_done(const struct sweeping *w, const struct options *o, struct result *out)
{
    for (size_t i = 0; i < w->ndone; i++)
        if (options_equal(&w->done[i].options, o) &&
            (w->done[i].time.valid || w->done[i].status == ST_REFUSED)) {
            *out = w->done[i];
            return true;
        }
    return false;
}

static void progress(const struct sweeping *w, size_t finished)
{
    if (w->ob && w->ob->progress)
        w->ob->progress(w->ob->ctx, (double)finished / (double)w->n, "sweep");
}

/* ---- the list ---- */
static void put(struct sweeping *w, const struct options *o, struct result *to, struct tune_sweep *s,
                enum slot_kind kind)
{
    *to = result_empty();
    to->options = *o;
    w->slot[w->n++] = (struct tune_slot){ *o, to, s, kind };
}

/* A pi sweep without a level: L1; the read-only path where the kernel's loads all go through it. */
static int level_of(const struct tune_bench *b, const struct options *base)
{
    static const int levels[] = { BYPASS_L1, BYPASS_RO };
    struct options o = *base;
    opt_bypass(&o)->pi.mode = PI_BPA;
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        opt_bypass(&o)->level = levels[i];
        if (tune_legal(&b->subject, &o))
            return levels[i];
    }
    return BYPASS_L1;
}

static enum status list_slice(struct sweeping *w, const struct tune_axis *a, struct options *base,
                              struct tune_sweep *s)
{
    struct options points[TUNE_AXIS_MOST];
    size_t n = 0;
    bool ends = strcmp(a->name, "pi") == 0;
    if (ends && opt_bypass(base)->level == BYPASS_NONE)
        opt_bypass(base)->level = level_of(w->bench, base);
    enum status st = tune_axis_points(a, &w->bench->subject, base, points, &n, w->ds);
    if (st != ST_OK)
        return st;
    s->axis = a->name;
    s->warps = tune_warps(&w->bench->subject);
    s->points = base_alloc((n + 1) * sizeof *s->points);
    struct tune_slot *grown = base_realloc(w->slot, (w->n + n + 2) * sizeof *grown);
    if (grown)
        w->slot = grown;
    if (!s->points || !grown || !tune_sweep_ends(s))
        return ST_NOMEM;
    struct options end = *base;
    opt_bypass(&end)->pi.value = 0;
    opt_bypass(&end)->pi.mode = PI_BPA;
    if (ends)
        put(w, &end, s->bpa, s, SLOT_BPA);
    opt_bypass(&end)->pi.mode = PI_CHA;
    if (ends)
        put(w, &end, s->cha, s, SLOT_CHA);
    for (size_t i = 0; i < n; i++)
        put(w, &points[i], &s->points[i], s, SLOT_POINT);
    return ST_OK;
}

/* Slices: every combination of the axes after the first, the last of them varying fastest. */
static enum status list_slices(struct sweeping *w, const struct tune_axis *axes, size_t naxes,
                               const struct options *base)
{
    struct tune_family *f = w->f;
    struct options values[TUNE_AXIS_MOST];
    f->base = base_alloc(sizeof *f->base);
    if (!f->base)
        return ST_NOMEM;
    f->base[0] = *base;
    size_t slices = 1;
    for (size_t k = 1; k < naxes; k++) {
        size_t before = slices, n = 0;
        struct options *old = f->base;
        enum status st = tune_axis_points(&axes[k], &w->bench->subject, base, values, &n, w->ds);
        if (st != ST_OK)
            return st;
        f->base = base_alloc((before * n + 1) * sizeof *f->base);
        slices = 0;
        /* n values for every base */
        for (size_t i = 0; st == ST_OK && f->base && i < before; i++) {
            st = tune_axis_points(&axes[k], &w->bench->subject, &old[i], values, &n, w->ds);
            for (size_t v = 0; st == ST_OK && v < n; v++)
                f->base[slices++] = values[v];
        }
        base_free(old);
        if (!f->base || st != ST_OK)
            return f->base ? st : ST_NOMEM;
    }
    f->slice = base_alloc((slices + 1) * sizeof *f->slice);
    f->n = f->slice ? slices : 0;
    return f->slice ? ST_OK : ST_NOMEM;
}

/* ---- running ---- */
static enum status one_point(struct sweeping *w, const struct options *o, struct result *out)
{
    if (w->ob && cancel_asked(w->ob->cancel))
        return ST_CANCELLED;
    /* What is to be said of one point stands in its result; only what ends the sweep is told at large.
     */
    struct diags own = { 0 };
    enum status st = already_done(w, o, out) ? ST_OK : tune_run_one(w->bench, o, out, &own);
    if (st != ST_OK)
        diags_move(w->ds, &own);
    diags_free(&own);
    return st;
}

static enum status run_in_order(struct sweeping *w)
{
    for (size_t i = 0; i < w->n; i++) {
        struct tune_slot *t = &w->slot[i];
        enum status st = one_point(w, &t->o, t->to);
        if (st != ST_OK)
            return st;
        t->s->npoints += t->kind == SLOT_POINT;
        progress(w, i + 1);
        if (w->ob && w->ob->point)
            w->ob->point(w->ob->ctx, t->to, NULL);
    }
    return ST_OK;
}

/* Points at the end that never ran are no part of the sweep. */
static void count_points(struct sweeping *w)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->slot[i].kind == SLOT_POINT && result_status(w->slot[i].to) != ST_CANCELLED)
            w->slot[i].s->npoints = (size_t)(w->slot[i].to - w->slot[i].s->points) + 1;
}

/* ---- the second round ---- */
static void merge(struct result *r, const struct result *again)
{
    if (result_status(again) == ST_OK && result_equal(again) != EQUAL_NO)
        tune_merge_samples(r, again);
    else
        *r = *again; /* a configuration that fails the second time is not trusted */
}

static enum status again_in_order(struct sweeping *w)
{
    for (size_t i = w->n; i-- > 0;) {
        struct result more;
        if (w->ob && cancel_asked(w->ob->cancel))
            return ST_CANCELLED;
        if (!tune_usable(w->slot[i].to))
            continue;
        enum status st = tune_run_one(w->bench, &w->slot[i].o, &more, NULL);
        if (st != ST_OK)
            return st;
        merge(w->slot[i].to, &more);
    }
    return ST_OK;
}

/* On a measured device a second round runs backwards, so that slow drift (clocks, temperature) falls on
 * every point alike: the arms of the comparison are alternated. Its launches are for time; counters are
 * there already. */
static bool wants_second(const struct sweeping *w)
{
    return dev_describe(w->bench->subject.dev)->kind == DEV_CUDA && !w->ndone;
}

/* Over a pool everything that is not done yet, both rounds in one go: no member waits for another's last
 * point. */
static enum status run_pooled(struct sweeping *w)
{
    struct options *list = base_alloc((w->n + 1) * sizeof *list);
    struct result *out = base_alloc((w->n + 1) * sizeof *out),
                  *again = wants_second(w) ? base_alloc((w->n + 1) * sizeof *again) : NULL;
    size_t *slot = base_alloc((w->n + 1) * sizeof *slot), n = 0;
    enum status st = list && out && slot && (again || !wants_second(w)) ? ST_OK : ST_NOMEM;
    for (size_t i = 0; st == ST_OK && i < w->n; i++) {
        if (already_done(w, &w->slot[i].o, w->slot[i].to))
            continue;
        slot[n] = i;
        list[n++] = w->slot[i].o;
    }
    if (st == ST_OK)
        st = tune_pool_run(w->bench, list, n, w->ob, out, again, w->ds);
    for (size_t i = 0; st != ST_NOMEM && i < n; i++) {
        *w->slot[slot[i]].to = out[i];
        if (again && st == ST_OK && tune_usable(&out[i]))
            merge(w->slot[slot[i]].to, &again[i]);
    }
    count_points(w);
    BASE_FREE(slot, again, out, list);
    return st;
}

static enum status run_backwards(struct sweeping *w)
{
    bool counters = w->bench->opts.counters;
    w->bench->opts.counters = false;
    enum status st = again_in_order(w);
    w->bench->opts.counters = counters;
    return st;
}

/* ---- the end ---- */
/* On a simulated device some points may come from a sample of the CTAs and others not: no curve is drawn
 * through both. */
static enum status time_points_alike(struct sweeping *w)
{
    struct result **list = base_alloc((w->n + 1) * sizeof *list);
    for (size_t i = 0; list && i < w->n; i++)
        list[i] = w->slot[i].to;
    enum status st = list ? tune_time_alike(w->bench, list, w->n, w->ds) : ST_NOMEM;
    base_free(list);
    return st;
}

/* ---- families ---- */
static void judge_family(struct tune_family *f, const struct tune_bench *b, enum status st)
{
    const struct result *best = NULL;
    f->complete = st == ST_OK;
    for (size_t i = 0; i < f->n; i++) {
        struct tune_sweep *s = &f->slice[i].sweep;
        s->complete = st == ST_OK;
        tune_sweep_judge(s, dev_describe(b->subject.dev),
                         (double)dim3u_count(launch_block(b->subject.launch)));
        const struct result *r = tune_sweep_best(s);
        if (!r || (best && result_time(r)->median >= result_time(best)->median))
            continue;
        best = r;
        f->best = i;
        f->has_best = true;
    }
}

enum status tune_family_list(struct tune_bench *b, const char *axes, const struct options *base,
                             struct tune_family *out, struct diags *ds)
{
    struct tune_axis parsed[TUNE_AXES];
    struct sweeping w = { .bench = b, .f = out, .ds = ds };
    memset(out, 0, sizeof *out);
    enum status st = tune_axes_parse(axes, parsed, &out->naxes, ds);
    for (size_t i = 0; i < out->naxes; i++)
        out->axis[i] = parsed[i].name;
    if (st == ST_OK)
        st = list_slices(&w, parsed, out->naxes, base);
    for (size_t i = 0; st == ST_OK && i < out->n; i++)
        st = list_slice(&w, &parsed[0], &out->base[i], &out->slice[i].sweep);
    out->slots = w.slot;
    out->nslots = w.n;
    return st;
}

enum status tune_family_run(struct tune_bench *b, struct tune_family *f, const struct tune_observer *ob,
                            const struct result *done, size_t ndone, struct diags *ds)
{
    struct sweeping w = { .bench = b,
                          .ob = ob,
                          .f = f,
                          .ds = ds,
                          .slot = f->slots,
                          .n = f->nslots,
                          .done = done,
                          .ndone = ndone };
    b->observer = ob;
    enum status st = b->pool ? run_pooled(&w) : run_in_order(&w);
    if (st == ST_OK && !b->pool && wants_second(&w))
        st = run_backwards(&w);
    if (st == ST_OK)
        st = time_points_alike(&w);
    b->observer = NULL;
    judge_family(f, b, st);
    return st;
}

const struct options *tune_family_base(const struct tune_family *f, size_t i)
{
    return &f->base[i];
}

size_t tune_family_slice(const struct tune_family *f, const struct options *o)
{
    for (size_t i = 0; i < f->nslots; i++)
        for (size_t k = 0; k < f->n; k++)
            if (f->slots[i].s == &f->slice[k].sweep && options_equal(&f->slots[i].o, o))
                return k;
    return 0;
}

bool tune_family_has(const struct tune_family *f, const struct options *o)
{
    for (size_t i = 0; i < f->nslots; i++)
        if (options_equal(&f->slots[i].o, o))
            return true;
    return false;
}

static bool is_missing(const struct result *r)
{
    bool told = result_status(r) == ST_REFUSED || result_status(r) == ST_DIFFER ||
                result_status(r) == ST_INPUT || result_status(r) == ST_USAGE;
    return !result_time(r)->valid && !told;
}

const struct result *tune_family_missing(const struct tune_family *f, size_t *at)
{
    while (*at < f->nslots) {
        const struct result *r = f->slots[(*at)++].to;
        if (is_missing(r))
            return r;
    }
    return NULL;
}

bool tune_sweep_ends(struct tune_sweep *s)
{
    s->bpa = base_alloc(2 * sizeof *s->bpa);
    if (!s->bpa)
        return false;
    s->cha = s->bpa + 1;
    *s->bpa = *s->cha = result_empty();
    return true;
}

void tune_sweep_free(struct tune_sweep *s)
{
    BASE_FREE(s->points, s->bpa);
    memset(s, 0, sizeof *s);
}

void tune_family_free(struct tune_family *f)
{
    for (size_t i = 0; i < f->n; i++)
        tune_sweep_free(&f->slice[i].sweep);
    BASE_FREE(f->slice, f->base, f->slots);
    memset(f, 0, sizeof *f);
}
