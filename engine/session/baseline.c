/* The original that gains are over. */
#include "engine/session/baseline.h"
#include "engine/session/run.h"

#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result_read.h"
#include "engine/search/found.h"

#include <math.h>
#include <string.h>

struct run_subject run_subject_of(const struct session_run *r)
{
    return (struct run_subject){ r->earlier,    r->kernel, r->dev.spec, true,
                                 r->launch_key, r->grid,   r->block };
}

/* Sessions from before launches had keys have 0. */
static bool same_launch(const struct session_run *r, const struct run_subject *s)
{
    return r->launch_key && s->launch_key ? r->launch_key == s->launch_key
                                          : !memcmp(&r->grid, &s->grid, sizeof r->grid) &&
                                                !memcmp(&r->block, &s->block, sizeof r->block);
}

const char *run_other(const struct session_run *r, const struct run_subject *s)
{
    return r->earlier != s->earlier                      ? "text changed since"
           : s->kernel && strcmp(r->kernel, s->kernel)   ? "other kernel"
           : s->device && strcmp(r->dev.spec, s->device) ? "other device"
           : s->has_launch && !same_launch(r, s)         ? "launch changed since"
                                                         : NULL;
}

bool run_alike(const struct session_run *x, const struct session_run *y)
{
    struct run_subject s = run_subject_of(y);
    return !run_other(x, &s);
}

/* Calls `see` for every result of a run that was timed, until it says that it is enough. */
static bool each(const struct session_run *r, bool (*see)(void *ctx, const struct result *x), void *ctx)
{
    bool enough = false;
    if (r->kind == RUN_ONE)
        return see(ctx, r->one);
    if (r->kind == RUN_SWEEP)
        enough = see(ctx, r->sweep.cha) || see(ctx, r->sweep.bpa);
    for (size_t i = 0; r->kind == RUN_SWEEP && !enough && i < r->sweep.npoints; i++)
        enough = see(ctx, result_at(r->sweep.points, i));
    if (r->kind == RUN_TUNE && r->found)
        enough = see(ctx, r->found->original) || see(ctx, r->found->best);
    for (size_t i = 0; r->kind == RUN_TUNE && !enough && i < r->ntrail; i++)
        enough = see(ctx, result_at(r->trail, i));
    return enough;
}

/* ---- the original ---- */
static bool better(const struct result *r, const struct result *than)
{
    return r && (!than || evidence_of(r) > evidence_of(than));
}

struct looking {
    const struct result *like, *best;
};

static bool see_original(void *ctx, const struct result *r)
{
    struct looking *l = ctx;
    const struct options *none = options_none();
    bool timed = result_time(r)->valid && result_status(r) == ST_OK && !result_probe_ctas(r),
         wanted = !l->like || evidence_of(r) == evidence_of(l->like);
    if (timed && wanted && better(r, l->best) && options_equal(result_options(r), none))
        l->best = r;
    return false;
}

static bool see_cold(void *ctx, const struct result *r)
{
    *(bool *)ctx = result_cold(r);
    return result_time(r)->valid;
}

bool run_cold(const struct session_run *r)
{
    bool cold = false;
    each(r, see_cold, &cold);
    return cold;
}

static bool see_regs_from(void *ctx, const struct result *r)
{
    *(const char **)ctx = result_regs_from(r);
    return *result_regs_from(r);
}

const char *run_regs_from(const struct session_run *r)
{
    const char *by = "";
    each(r, see_regs_from, &by);
    return by;
}

const struct result *run_original(const struct session_run *r, const struct result *like)
{
    struct looking l = { like, NULL };
    if (!r->deleted)
        each(r, see_original, &l);
    return l.best;
}

const struct result *run_baseline_of(const struct session_run *r, const struct result *others)
{
    const struct result *own = run_original(r, NULL);
    if (own || others)
        return better(others, own) ? others : own;
    return r->kind == RUN_SWEEP && result_time(r->sweep.cha)->valid ? r->sweep.cha : NULL;
}

const struct result *run_baseline(const struct session_run *const *runs, size_t n,
                                  const struct session_run *r)
{
    const struct result *best = NULL;
    for (size_t i = n; i-- > 0;) {
        const struct result *o = runs[i] && run_alike(runs[i], r) ? run_original(runs[i], NULL) : NULL;
        best = better(o, best) ? o : best;
    }
    return run_baseline_of(r, best);
}

/* ---- the gain ---- */
struct wanted {
    const struct result *base, *like;
    double gain;
};

static bool see_gain(void *ctx, const struct result *r)
{
    struct wanted *w = ctx;
    double gain =
        options_equal(result_options(r), result_options(w->like)) ? gain_of(w->base, r) : (double)NAN;
    w->gain = isnan(gain) ? w->gain : gain;
    return !isnan(w->gain);
}

double run_gain(const struct session_run *const *runs, size_t n, const struct session_run *r,
                const struct result *x)
{
    struct wanted w = { run_baseline(runs, n, r), x, NAN };
    if (!w.base || !x || !result_time(x)->valid || result_equal(x) == EQUAL_NO)
        return NAN;
    if (see_gain(&w, x) || each(r, see_gain, &w))
        return w.gain;
    for (size_t i = n; i-- > 0 && isnan(w.gain);)
        if (runs[i] && !runs[i]->deleted && run_alike(runs[i], r))
            each(runs[i], see_gain, &w);
    return w.gain;
}

void run_verdict(const struct session_run *const *runs, size_t n, const struct session_run *r,
                 struct buf *out)
{
    const struct result *base = run_baseline(runs, n, r), *best = tune_sweep_best(&r->sweep);
    if (base && best && evidence_of(base) > evidence_of(best))
        buf_printf(
            out,
            "the original was %s elsewhere, this sweep is from samples of the CTAs: no gain is told",
            evidence_of(base) == EVIDENCE_WHOLE ? "timed whole" : "measured");
    else
        tune_verdict(&r->sweep, out);
}

/* ---- the originals of many runs ---- */
static struct session_run *alone(const struct session_run *r, const struct result *original)
{
    struct session_run *one = session_run_new(RUN_ONE);
    if (!one)
        return NULL;
    one->earlier = r->earlier;
    one->dev = r->dev;
    one->grid = r->grid;
    one->block = r->block;
    one->launch_key = r->launch_key;
    result_copy(one->one, original);
    memcpy(one->kernel, r->kernel, sizeof one->kernel);
    return one;
}

bool run_originals_add(struct run_originals *o, const struct session_run *r)
{
    const struct result *original = run_original(r, NULL);
    size_t i = 0;
    while (i < o->n && !run_alike(o->run[i], r))
        i++;
    if (!original || (i < o->n && !better(original, o->run[i]->one)))
        return true;
    struct session_run *one = alone(r, original);
    if (!one ||
        (i == o->n && !base_grow((void **)&o->run, o->n, &o->cap, sizeof(struct session_run *)))) {
        session_run_drop(one);
        return false;
    }
    if (i < o->n)
        session_run_drop((struct session_run *)(uintptr_t)o->run[i]);
    o->n += i == o->n;
    o->run[i] = one;
    return true;
}

void run_originals_free(struct run_originals *o)
{
    for (size_t i = 0; i < o->n; i++)
        session_run_drop((struct session_run *)(uintptr_t)o->run[i]);
    base_free(o->run);
    *o = (struct run_originals){ NULL, 0, 0 };
}
