/* sweep: a curve along one axis, or a family of curves over several. */
#include "engine/base/base.h"
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/measurement.h"
#include "engine/dev/dev.h"
#include "engine/dev/dev_pool.h"
#include "engine/rec/knobs.h"
#include "engine/rec/result.h"
#include "engine/session/session.h"
#include "engine/tune/sweep.h"
#include "engine/tune/tune.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <string.h>

/* A sweep under way: each slice has a run of its own in the session, where there is one. */
struct sweep_work {
    struct measurement w;
    struct tune_family f;
    struct session_run **run;
    enum tune_level level;
};

/* ---- resuming ---- */
static bool add_done(struct result **done, size_t *n, size_t *cap, const struct result *r)
{
    if (!base_grow((void **)done, *n, cap, sizeof **done))
        return false;
    (*done)[(*n)++] = *r;
    return true;
}

/* The points of every sweep of this kernel, launch and device in the session that --resume names. */
static enum status resume_points(const struct args *a, const struct workspace *s, struct session **old,
                                 struct result **done, size_t *n, struct diags *ds)
{
    size_t cap = 0;
    if (!a->resume)
        return ST_OK;
    enum status st = session_load(a->resume, old, ds);
    for (size_t i = 0; st == ST_OK && i < session_count(*old); i++) {
        const struct session_run *r = session_look(*old, i);
        bool ok = true;
        if (!r || !measurement_alike(*old, r, s)) {
            session_rest(*old, i);
            continue;
        }
        for (size_t k = 0; ok && r->kind == RUN_SWEEP && k < r->sweep.npoints; k++)
            ok = add_done(done, n, &cap, &r->sweep.points[k]);
        if (r->kind == RUN_SWEEP)
            ok = ok && add_done(done, n, &cap, &r->sweep.bpa) && add_done(done, n, &cap, &r->sweep.cha);
        if (!ok)
            return ST_NOMEM;
    }
    if (st == ST_OK && !*n)
        diag_add(
            ds, DIAG_WARNING, "resume", a->resume, NO_SPAN,
            "no sweep of this kernel, launch and device in this session; starting from the beginning");
    return st;
}

/* ---- the session ---- */
static bool same(const struct result *held, const struct result *r)
{
    return (held->time.valid || held->status != ST_OK) && options_equal(&held->options, &r->options);
}

static bool holds(const struct session_run *run, const struct result *r)
{
    const struct tune_sweep *s = &run->sweep;
    bool held = same(&s->bpa, r) || same(&s->cha, r);
    for (size_t i = 0; !held && i < s->npoints; i++)
        held = same(&s->points[i], r);
    return held;
}

static void on_point(void *ctx, const struct result *r, const char *why)
{
    struct sweep_work *t = ctx;
    if (t->w.session && t->f.n > 1)
        t->w.run = t->run[tune_family_slice(&t->f, &r->options)];
    if (t->w.session && holds(t->w.run, r))
        return; /* of an earlier run, and in the file already */
    measurement_point(&t->w, r, why);
}

static enum status open_session(struct sweep_work *t, const struct workspace *s)
{
    enum status st = measurement_session(&t->w, s, RUN_SWEEP);
    if (st != ST_OK || !t->w.session)
        return st;
    t->run = base_alloc((t->f.n + 1) * sizeof *t->run);
    for (size_t i = 0; t->run && i < t->f.n; i++) {
        struct session_run *first = t->run[0],
                           *r = i ? session_begin(t->w.session, RUN_SWEEP) : t->w.run;
        if (!r)
            return ST_NOMEM;
        if (i) {
            memcpy(r->kernel, first->kernel, sizeof r->kernel);
            memcpy(r->race, first->race, sizeof r->race);
            r->dev = first->dev;
            r->grid = first->grid;
            r->block = first->block;
        }
        struct buf line = { 0 };
        options_line(&t->f.slice[i].base, &line);
        if (t->f.n > 1)
            snprintf(r->note, sizeof r->note, "%s", line.s ? line.s : "");
        buf_free(&line);
        r->sweep.axis = t->f.axis[0];
        t->run[i] = r;
    }
    return t->run ? ST_OK : ST_NOMEM;
}

static void end_session(struct sweep_work *t)
{
    for (size_t i = 0; t->w.session && t->run && i < t->f.n; i++) {
        struct session_run whole = *t->run[i], copy;
        whole.sweep = t->f.slice[i].sweep;
        if (t->w.a->prove)
            whole.proof = &t->f.slice[i].proof;
        if (session_run_copy(&copy, &whole)) {
            session_run_clear(t->run[i]);
            *t->run[i] = copy;
        }
    }
    measurement_save(&t->w);
}

/* What an earlier run finished is in the file before anything else is: its own file may be the one that
 * is written. */
static enum status keep_done(struct sweep_work *t, const struct result *done, size_t n)
{
    for (size_t i = 0; t->w.session && i < n; i++) {
        struct session_run *run = t->run[tune_family_slice(&t->f, &done[i].options)];
        bool counts = done[i].time.valid || done[i].status == ST_REFUSED;
        if (!counts || !tune_family_has(&t->f, &done[i].options) || holds(run, &done[i]))
            continue;
        if (!session_run_point(run, &done[i]))
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
        options_line(&r->options, &line);
        diag_add(ds, DIAG_NOTE, "missing", NULL, NO_SPAN, "%s: %s", line.n ? line.s : "the original",
                 r->message[0] ? r->message : "not run");
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
    cmd_put(a, &out);
    buf_free(&out);
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
    return s->npoints && s->points[0].equal == EQUAL_NO ? ST_DIFFER
           : s->npoints                                 ? s->points[0].status
                                                        : ST_DEVICE;
}

/* Each slice's best; what breaks is no longer the best. Unasked, nothing is said of what holds. */
static enum status prove_family(struct sweep_work *t, struct tune_bench *bench,
                                const struct workspace *s, const struct tune_observer *ob)
{
    if (!measurement_attacked(t->w.a, s))
        return ST_OK;
    enum status st = tune_family_prove(bench, &t->f, ob, t->level, t->w.ds);
    for (size_t i = 0; !t->w.a->prove && i < t->f.n; i++)
        t->f.slice[i].proof = (struct tune_proof){ .verdict = PROOF_NONE };
    return st;
}

static enum status run_family(struct sweep_work *t, struct tune_bench *bench, const struct workspace *s,
                              const struct result *done, size_t ndone)
{
    const struct args *a = t->w.a;
    struct tune_observer ob = { on_point, measurement_progress, t, a->cancel, NULL };
    enum status st = tune_family_run(bench, &t->f, &ob, done, ndone, t->w.ds);
    if (st == ST_OK)
        st = prove_family(t, bench, s, &ob);
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
    struct tune_bench *bench = NULL;
    struct sweep_work t = { .w = { .a = a, .ds = &ds } };
    struct session *old = NULL;
    struct result *done = NULL;
    size_t ndone = 0;
    const char *axes = a->axis ? a->axis : "pi";
    enum status st = tune_axes_check(axes, &ds);
    if (st == ST_OK)
        st = cmd_prove_level(a->prove, TUNE_QUICK, &t.level, &ds);
    if (st == ST_OK)
        st = measurement_bench(&s, a, true, &bench, &ds);
    if (st == ST_OK)
        st = resume_points(a, &s, &old, &done, &ndone, &ds);
    if (st == ST_OK)
        st = tune_family_list(bench, axes, &a->options, &t.f, &ds);
    if (st == ST_OK)
        st = open_session(&t, &s);
    if (st == ST_OK)
        st = keep_done(&t, done, ndone);
    if (st == ST_OK)
        st = run_family(&t, bench, &s, done, ndone);
    if (st == ST_CANCELLED && t.w.session)
        diag_add(&ds, DIAG_NOTE, "resume", a->output ? a->output : a->session, NO_SPAN,
                 "finished points are in this session: sweep --resume continues from there");
    tune_family_free(&t.f);
    base_free(t.run);
    session_free(t.w.session);
    session_free(old);
    base_free(done);
    tune_bench_close(bench);
    workspace_close(&s);
    return cmd_finish(a, st, &ds);
}
