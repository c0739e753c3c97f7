/* sweep: a curve along one axis, or a family of curves over several. */
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/measurement.h"
#include "engine/dev/dev_pool.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result_read.h"
#include "engine/session/documents.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/workspace/args.h"
#include "engine/workspace/measure.h"
#include "engine/workspace/workspace.h"

#include <string.h>

/* A sweep under way: each slice has a run of its own in the session, where there is one. */
struct sweep_work {
    struct measurement w;
    struct tune_family f;
    struct session_run **run;
    struct measure m;
};

/* ---- the session ---- */
static bool same(const struct result *held, const struct result *r)
{
    return (result_time(held)->valid || result_status(held) != ST_OK) &&
           options_equal(result_options(held), result_options(r));
}

static bool holds(const struct session_run *run, const struct result *r)
{
    const struct tune_sweep *s = &run->sweep;
    bool held = same(s->bpa, r) || same(s->cha, r);
    for (size_t i = 0; !held && i < s->npoints; i++)
        held = same(result_at(s->points, i), r);
    return held;
}

static void on_point(void *ctx, const struct result *r, const char *why)
{
    struct sweep_work *t = ctx;
    if (t->w.session && t->f.n > 1)
        t->w.run = t->run[tune_family_slice(&t->f, result_options(r))];
    if (t->w.session && holds(t->w.run, r))
        return; /* of an earlier run, and in the file already */
    measurement_point(&t->w, r, why);
}

static enum status open_session(struct sweep_work *t)
{
    enum status st = measurement_session(&t->w, &t->m, RUN_SWEEP);
    if (st != ST_OK || !t->w.session)
        return st;
    t->run = base_alloc((t->f.n + 1) * sizeof *t->run);
    for (size_t i = 0; t->run && i < t->f.n; i++) {
        t->run[i] = i ? session_begin(t->w.session, RUN_SWEEP) : t->w.run;
        if (!t->run[i])
            return ST_NOMEM;
        measure_slice_begin(&t->m, &t->f, i, t->run[i]);
    }
    return t->run ? ST_OK : ST_NOMEM;
}

static void end_session(struct sweep_work *t)
{
    for (size_t i = 0; t->w.session && t->run && i < t->f.n; i++)
        measure_slice_end(&t->m, &t->f, i, t->run[i]);
    measurement_save(&t->w);
}

/* What an earlier run finished is in the file before anything else is: its own file may be the one that
 * is written. */
static enum status keep_done(struct sweep_work *t, const struct measure_done *all)
{
    const struct result *done = all->result;
    for (size_t i = 0; t->w.session && i < all->n; i++) {
        struct session_run *run = t->run[tune_family_slice(&t->f, result_options(result_at(done, i)))];
        bool counts =
            result_time(result_at(done, i))->valid || result_status(result_at(done, i)) == ST_REFUSED;
        if (!counts || !tune_family_has(&t->f, result_options(result_at(done, i))) ||
            holds(run, result_at(done, i)))
            continue;
        if (!session_run_point(run, result_at(done, i)))
            return ST_NOMEM;
        t->w.points++;
    }
    t->w.kept = t->w.points;
    return t->w.session ? session_save(t->w.session, t->w.ds) : ST_OK;
}

/* ---- what is missing ---- */
#define MISSING_NAMED 8
static enum status tell_missing(const struct tune_family *f, struct diags *ds)
{
    const struct result *r;
    size_t n = 0;
    for (size_t at = 0; tune_family_missing(f, &at);)
        n++;
    if (!n)
        return ST_OK;
    diag_error(ds, "missing", "%zu of %zu points are missing", n, f->nslots);
    n = 0;
    for (size_t at = 0; n < MISSING_NAMED && (r = tune_family_missing(f, &at)); n++) {
        struct buf line = { 0 };
        options_line(result_options(r), &line);
        diag_add(ds, DIAG_NOTE, "missing", NULL, NO_SPAN, "%s: %s", line.n ? line.s : "the original",
                 result_message(r)[0] ? result_message(r) : "not run");
        buf_free(&line);
    }
    return ST_DEVICE;
}

/* ---- printing ---- */
static void put_seconds(double s, struct buf *out)
{
    if (s == s)
        buf_printf(out, " %8.2f", s);
    else
        buf_printf(out, " %8s", "n/a");
}

static void put_members(const struct dev_pool_member *m, size_t n, struct buf *out)
{
    if (n)
        buf_printf(out, "\n%-22s %8s %6s %8s %8s %8s %8s %8s %8s  seconds\n", "member", "launches",
                   "lost", "opened", "first", "last", "binding", "loading", "launching");
    for (size_t i = 0; i < n; i++) {
        const double s[] = { m[i].up_s,   m[i].first_s, m[i].last_s,
                             m[i].bind_s, m[i].load_s,  m[i].launch_s };
        buf_printf(out, "%-22s %8zu %6zu", m[i].spec, m[i].jobs, m[i].lost);
        for (size_t k = 0; k < ARRAY_LEN(s); k++)
            put_seconds(s[k], out);
        buf_printf(out, "  %s%s\n", m[i].worker ? m[i].worker : "", m[i].up ? "" : " (left)");
    }
}

static void print_family(const struct args *a, const struct tune_family *f, const struct workspace *s)
{
    enum { MOST = 256 };
    struct dev_pool_member member[MOST];
    size_t n = s->pool && a->members ? dev_pool_members(s->pool, member, MOST) : 0;
    n = n < MOST ? n : MOST;
    struct buf out = { 0 };
    if (a->json)
        json_family(f, &s->info, s->kernel, s->race, member, n, &out);
    else if (f->n > 1)
        cmd_family_text(f, &s->info, s->kernel, &out);
    else
        cmd_sweep_text(&f->slice[0].sweep, &s->info, s->kernel, &out);
    if (!a->json)
        put_members(member, n, &out);
    measurement_proof_text(a, &f->slice[f->has_best ? f->best : 0].proof, &out);
    cmd_give(a, &out);
}

static bool any_point(const struct tune_family *f)
{
    for (size_t i = 0; i < f->n; i++)
        if (f->slice[i].sweep.npoints)
            return true;
    return false;
}

/* Nothing ran with the original's outputs: what the first point came to. */
static enum status why_none(const struct tune_family *f)
{
    const struct tune_sweep *s = &f->slice[0].sweep;
    return s->npoints && result_equal(result_at(s->points, 0)) == EQUAL_NO ? ST_DIFFER
           : s->npoints ? result_status(result_at(s->points, 0))
                        : ST_DEVICE;
}

static enum status run_family(struct sweep_work *t, const struct workspace *s,
                              const struct measure_done *done)
{
    const struct args *a = t->w.a;
    struct tune_observer ob = { on_point, measurement_progress, t, a->cancel, NULL };
    enum status st = measure_sweep(&t->m, &t->f, done, &ob, t->w.ds);
    cmd_progress_end(a);
    end_session(t);
    if (st == ST_OK || ((st == ST_CANCELLED || st == ST_DEVICE) && any_point(&t->f)))
        print_family(a, &t->f, s);
    enum status kept = measurement_kept(&t->w);
    enum status whole = st == ST_OK || st == ST_DEVICE ? tell_missing(&t->f, t->w.ds) : ST_OK;
    st = st == ST_OK ? whole : st;
    st = st == ST_OK && !t->f.has_best ? why_none(&t->f) : st;
    return st == ST_OK ? kept : st;
}

int cmd_sweep(struct args *a)
{
    struct diags ds = { 0 };
    struct workspace s = { 0 };
    struct sweep_work t = { .w = { .a = a, .ds = &ds } };
    struct session *old = NULL;
    struct measure_done done = { 0 };
    enum status st =
        tune_axes_check(a->axis ? a->axis : "pi", &ds); /* before anything is opened in vain */
    if (st == ST_OK)
        st = measurement_of(&s, a, &t.m, &ds);
    if (st == ST_OK)
        st = measurement_bench(&s, a, &t.m, &ds);
    if (st == ST_OK)
        st = measurement_done(a, &t.m, RUN_SWEEP, &old, &done, &ds);
    if (st == ST_OK)
        st = measure_family(&t.m, a->axis, a->options, &t.f, &ds);
    if (st == ST_OK)
        st = open_session(&t);
    if (st == ST_OK)
        st = keep_done(&t, &done);
    if (st == ST_OK)
        st = run_family(&t, &s, &done);
    if (st == ST_CANCELLED && t.w.session)
        diag_add(&ds, DIAG_NOTE, "resume", a->output ? a->output : a->session, NO_SPAN,
                 "finished points are in this session: sweep --resume continues from there");
    tune_family_free(&t.f);
    base_free(t.run);
    session_free(t.w.session);
    measure_done_free(&done);
    session_free(old);
    tune_bench_close(t.m.bench);
    workspace_close(&s);
    return cmd_finish(a, st, &ds);
}
