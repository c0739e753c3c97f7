/* run, sweep: one configuration and curves; what every launching command shares. */
#include "engine/cmd/running.h"

#include <math.h>
#include <string.h>

static struct tune_run_opts run_opts(const struct args *a, const struct dev_info *i)
{
    struct tune_run_opts o = tune_run_opts_default(i);
    o.counters = !a->no_counters;
    o.exact = a->exact;
    o.time_limit_s = a->time_limit;
    if (a->repeat > 0) {
        o.repeat = (unsigned)a->repeat;
        o.max_repeat = o.repeat > o.max_repeat ? o.repeat : o.max_repeat;
    }
    return o;
}

enum status running_subject(struct subject *s, struct args *a, struct diags *ds)
{
    enum status st = subject_ptx(s, a, ds);
    if (st == ST_OK)
        st = subject_launch(s, a, true, ds);
    if (st == ST_OK)
        st = subject_device(s, a, ds);
    if (st == ST_OK)
        st = subject_data(s, ds);
    if (st == ST_OK)
        st = subject_facts(s, a, true, ds);
    return st;
}

enum status running_bench(struct subject *s, struct args *a, struct tune_bench **bench, struct diags *ds)
{
    enum status st = running_subject(s, a, ds);
    if (st != ST_OK)
        return st;
    struct tune_subject subject = { s->module, s->spec, &s->data, s->dev, s->facts };
    struct tune_run_opts o = run_opts(a, &s->info);
    st = tune_bench_open(&subject, &o, bench, ds);
    if (st == ST_OK && s->pool)
        tune_bench_use_pool(*bench, s->pool);
    return st;
}

void running_progress(void *ctx, double done, const char *what)
{
    (void)ctx;
    if (what)
        cmd_progress(done, what);
}

/* ---- run ---- */
static enum status exit_of(const struct result *r)
{
    return r->status != ST_OK ? r->status : r->equal == EQUAL_NO ? ST_DIFFER : ST_OK;
}

int cmd_run(struct args *a)
{
    struct diags ds = { 0 };
    struct subject s = { 0 };
    struct tune_bench *bench = NULL;
    struct result r = result_empty();
    struct buf out = { 0 };
    enum status st = running_bench(&s, a, &bench, &ds);
    if (st == ST_OK)
        st = tune_run_one(bench, &a->options, &r, &ds);
    if (st == ST_OK) {
        if (a->json)
            json_result(&r, &s.info, s.kernel, &out);
        else
            cmd_result_text(&r, &s.info, s.kernel, &out);
        st = exit_of(&r);
        cmd_put(&out);
    }
    buf_free(&out);
    tune_bench_close(bench);
    subject_close(&s);
    return cmd_finish(st, &ds);
}

/* ---- sweep ---- */
void running_point(void *ctx, const struct result *r, const char *why)
{
    struct running *w = ctx;
    (void)why;
    if (!w->session)
        return;
    if (session_run_point(w->run, r))
        session_save(w->session, w->ds);
}

static const char *static_axis(const char *name)
{
    static const char *const names[] = { "pi", "agents", "carveout", "block" };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (name && strcmp(names[i], name) == 0)
            return names[i];
    return "pi";
}

enum status running_session(struct running *w, const struct subject *s, enum run_kind kind)
{
    const char *path = w->a->output ? w->a->output : w->a->session;
    if (!path)
        return ST_OK;                        /* without -o, a headless command leaves no file behind */
    enum status st = session_new(path, s->module->path, &w->session, w->ds);
    if (st != ST_OK)
        return st;
    session_set_ptx(w->session, s->module->path, s->module->text);
    session_set_launch(w->session, s->spec);
    w->run = session_begin(w->session, kind);
    if (!w->run)
        return ST_NOMEM;
    snprintf(w->run->kernel, sizeof w->run->kernel, "%s", s->kernel);
    w->run->dev = s->info;
    w->run->grid = s->spec->grid;
    w->run->block = s->spec->block;
    w->run->sweep.axis = static_axis(w->a->axis);
    return session_save(w->session, w->ds);
}

/* The points of a cut-off sweep that --resume names: the last sweep of that session. */
static enum status resume_points(const struct args *a, struct session **old, struct result **done, size_t *n, struct diags *ds)
{
    if (!a->resume)
        return ST_OK;
    enum status st = session_load(a->resume, old, ds);
    for (size_t i = st == ST_OK ? session_count(*old) : 0; i-- > 0;) {
        struct session_run *r = session_at(*old, i);
        if (r->kind != RUN_SWEEP)
            continue;
        *done = base_alloc((r->sweep.npoints + 2) * sizeof **done);
        if (!*done)
            return ST_NOMEM;
        memcpy(*done, r->sweep.points, r->sweep.npoints * sizeof **done);
        *n = r->sweep.npoints;
        (*done)[(*n)++] = r->sweep.bpa;
        (*done)[(*n)++] = r->sweep.cha;
        return ST_OK;
    }
    if (st == ST_OK)
        diag_add(ds, DIAG_WARNING, "resume", a->resume, NO_SPAN, "no sweep in this session; starting from the beginning");
    return st;
}

static void end_session(struct running *w, const struct tune_sweep *sweep)
{
    if (!w->session)
        return;
    struct session_run whole = *w->run;
    whole.sweep = *sweep;
    struct session_run copy;
    if (session_run_copy(&copy, &whole)) {
        session_run_clear(w->run);
        *w->run = copy;
        session_save(w->session, w->ds);
    }
}

static void print_sweep(const struct args *a, const struct tune_sweep *w, const struct subject *s)
{
    struct buf out = { 0 };
    if (a->json)
        json_sweep(w, &s->info, s->kernel, &out);
    else
        cmd_sweep_text(w, &s->info, s->kernel, &out);
    cmd_put(&out);
    buf_free(&out);
}

int cmd_sweep(struct args *a)
{
    struct diags ds = { 0 };
    struct subject s = { 0 };
    struct tune_bench *bench = NULL;
    struct tune_sweep sweep = { 0 };
    struct running w = { .a = a, .ds = &ds };
    struct session *old = NULL;
    struct result *done = NULL;
    size_t ndone = 0;
    enum status st = resume_points(a, &old, &done, &ndone, &ds);
    if (st == ST_OK)
        st = running_bench(&s, a, &bench, &ds);
    if (st == ST_OK)
        st = running_session(&w, &s, RUN_SWEEP);
    if (st == ST_OK) {
        struct tune_observer ob = { running_point, running_progress, &w, a->cancel, NULL };
        st = tune_sweep_run(bench, a->axis ? a->axis : "pi", &a->options, &ob, done, ndone, &sweep, &ds);
        cmd_progress_end();
        end_session(&w, &sweep);
        if (st == ST_OK || (st == ST_CANCELLED && sweep.npoints))
            print_sweep(a, &sweep, &s);
        if (st == ST_OK && !sweep.has_best)
            st = sweep.npoints && sweep.points[0].equal == EQUAL_NO ? ST_DIFFER : sweep.npoints ? sweep.points[0].status : ST_DEVICE;
    }
    tune_sweep_free(&sweep);
    session_free(w.session);
    session_free(old);
    base_free(done);
    tune_bench_close(bench);
    subject_close(&s);
    return cmd_finish(st, &ds);
}
