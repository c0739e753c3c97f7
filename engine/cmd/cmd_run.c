/* run: one configuration; what every launching command shares. */
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/measurement.h"
#include "engine/cmd/outputs.h"
#include "engine/pass/pass.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/result_read.h"
#include "engine/session/documents.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/workspace/args.h"
#include "engine/workspace/measure.h"
#include "engine/workspace/workspace.h"

#include <string.h>

enum status measurement_of(const struct workspace *s, const struct args *a, struct measure *m,
                           struct diags *ds)
{
    bool tune = strcmp(a->command, "tune") == 0;
    *m = (struct measure){ .subject = { s->module, s->spec, &s->data, s->dev, s->facts },
                           .how = { .exact = a->exact,
                                    .cold = a->cold,
                                    .energy = a->energy,
                                    .outputs = a->time_only ? DEV_OUTPUTS_NONE : DEV_OUTPUTS_ALL,
                                    .check_memory = a->check_memory,
                                    .no_counters = a->no_counters,
                                    .prove = a->prove != NULL,
                                    .repeat = a->repeat > 0 ? (unsigned)a->repeat : 0,
                                    .time_limit_s = a->time_limit,
                                    .unread = !a->outputs && !(s->spec && outputs_are_captured(s->spec)),
                                    .tries = tune },
                           .kernel = s->kernel,
                           .local = s->info.kind == DEV_SIMULATED && (s->own || !a->worker_n),
                           .cancel = a->cancel };
    return cmd_prove_level(a->prove, tune ? TUNE_FULL : TUNE_QUICK, &m->how.level, ds);
}

/* Float atomics: the outputs are compared within a tolerance, which is said. */
static void tolerate(struct workspace *s, struct diags *ds)
{
    unsigned n = 0;
    for (size_t i = 0; i < s->launches.n; i++) {
        unsigned here = tune_tolerate_atomics(s->module, &s->launches.launch[i]);
        n += &s->launches.launch[i] == s->spec ? here : 0;
    }
    if (n)
        diag_add(ds, DIAG_NOTE, "float-atomics", s->module->path, NO_SPAN, TUNE_TOLERATED);
}

enum status measurement_subject(struct workspace *s, struct args *a, bool quick, struct diags *ds)
{
    enum status st = workspace_ptx(s, a, ds);
    if (st == ST_OK)
        st = workspace_launch(s, a, true, ds);
    if (st == ST_OK)
        tolerate(s, ds);
    if (st == ST_OK)
        st = workspace_device(s, a, ds);
    if (st == ST_OK)
        st = workspace_data(s, ds);
    if (st == ST_OK)
        st = workspace_facts(s, a, quick, ds);
    return st;
}

static enum run_kind kind_of(const struct args *a)
{
    return strcmp(a->command, "tune") == 0    ? RUN_TUNE
           : strcmp(a->command, "sweep") == 0 ? RUN_SWEEP
                                              : RUN_ONE;
}

enum status measurement_bench_of(struct workspace *s, struct args *a, struct measure *m,
                                 struct diags *ds)
{
    enum status st = measurement_of(s, a, m, ds);
    if (st == ST_OK && measure_wants_prover(m, kind_of(a), a->options))
        workspace_prover(s, a);
    if (st == ST_OK)
        st = measure_open(m, s->prover, ds);
    snprintf(s->race, sizeof s->race, "%s", m->bench ? tune_race(m->bench) : "");
    if (st == ST_OK && s->pool)
        tune_bench_use_pool(m->bench, s->pool);
    return st;
}

enum status measurement_bench(struct workspace *s, struct args *a, struct measure *m, struct diags *ds)
{
    enum status st = measurement_subject(s, a, kind_of(a) != RUN_TUNE, ds);
    return st == ST_OK ? measurement_bench_of(s, a, m, ds) : st;
}

enum status measurement_original(struct workspace *s, struct args *a, struct result *r, struct diags *ds)
{
    struct measure m = { .bench = NULL };
    const struct options *none = options_none();
    enum status st = measurement_bench_of(s, a, &m, ds);
    if (st == ST_OK)
        st = tune_run_one(m.bench, none, r, ds);
    tune_bench_close(m.bench);
    return st;
}

void measurement_progress(void *ctx, double done, const char *what)
{
    const struct measurement *w = ctx;
    if (what)
        cmd_progress(w->a, done, what);
}

/* ---- run ---- */
static enum status exit_of(const struct result *r)
{
    return result_status(r) != ST_OK                                       ? result_status(r)
           : result_equal(r) == EQUAL_NO || result_captured(r) == EQUAL_NO ? ST_DIFFER
                                                                           : ST_OK;
}

static enum status save_run(struct args *a, const struct measure *m, const struct result *r,
                            const struct tune_proof *proof, struct diags *ds)
{
    struct measurement w = { .a = a, .ds = ds };
    enum status st = measurement_session(&w, m, RUN_ONE);
    if (st == ST_OK && w.run) {
        result_copy(w.run->one, r);
        w.points = 1;
        bool whole = !a->prove || session_run_prove(w.run, proof);
        measurement_save(&w);
        st = whole ? measurement_kept(&w) : ST_NOMEM;
    }
    session_free(w.session);
    return st;
}

static void put_run(const struct args *a, const struct workspace *s, const struct result *r,
                    const struct tune_proof *proof, struct diags *ds, struct buf *out)
{
    struct load_classes c = workspace_classes(s, result_options(r));
    cmd_classes_warn(&c, &s->info, ds);
    if (a->json) {
        json_result(r, &s->info, s->kernel, s->race, &c, a->prove ? proof : NULL, out);
        return;
    }
    cmd_result_text(r, &s->info, s->kernel, NULL, out);
    outputs_captured_text(r, out);
    if (c.n) {
        buf_puts(out, "loads     ");
        cmd_classes_text(&c, out);
        buf_puts(out, "\n");
    }
}

void measurement_proof_text(const struct args *a, const struct tune_proof *p, struct buf *out)
{
    if (!a->prove || a->json || !tune_proof_said(p))
        return;
    buf_puts(out, "proof     ");
    tune_proof_text(p, out);
    buf_puts(out, "\n");
}

/* ST_USAGE: something is asked of outputs that are not made. */
static enum status time_only(const struct args *a, struct diags *ds)
{
    const char *other = a->outputs        ? "outputs"
                        : a->prove        ? "prove"
                        : a->check_memory ? "check-memory"
                                          : NULL;
    if (!a->time_only || !other)
        return ST_OK;
    diag_error(ds, "time-only", "--time-only makes no outputs, which --%s needs", other);
    return ST_USAGE;
}

int cmd_run(struct args *a)
{
    struct diags ds = { 0 };
    struct workspace s = { 0 };
    struct measure m = { .bench = NULL };
    struct result *r = result_new();
    struct buf out = { 0 };
    struct tune_proof proof = { 0 };
    enum status st =
        r ? measure_contradictions(a->options, &ds) : ST_NOMEM; /* before anything is opened in vain */
    if (st == ST_OK)
        st = time_only(a, &ds);
    if (st == ST_OK)
        st = measurement_of(&s, a, &m, &ds);
    if (st == ST_OK && a->outputs)
        st = outputs_folder(a->outputs, &ds);
    if (st == ST_OK)
        st = measurement_bench(&s, a, &m, &ds);
    if (st == ST_OK && a->outputs)
        st = outputs_check(s.spec, a->outputs, a->force, &ds);
    if (st == ST_OK)
        st = measure_run(&m, a->options, r, &ds);
    if (st == ST_OK && result_status(r) == ST_OK && !a->time_only)
        st = outputs_captured(m.bench, s.spec, r, &ds);
    if (st == ST_OK)
        st = measure_attack(&m, r, &proof, &ds);
    if (st == ST_OK) {
        measure_say_idle(a->options, &ds);
        put_run(a, &s, r, &proof, &ds, &out);
        measurement_proof_text(a, &proof, &out);
        cmd_put(a, &out);
        enum status kept = save_run(a, &m, r, &proof, &ds);
        if (kept == ST_OK && a->outputs && result_status(r) == ST_OK)
            kept = outputs_write(m.bench, s.spec, a->outputs, &ds);
        st = kept == ST_OK ? exit_of(r) : kept;
    }
    buf_free(&out);
    base_free(r);
    tune_bench_close(m.bench);
    workspace_close(&s);
    return cmd_finish(a, st, &ds);
}

/* ---- what every launching command shares ---- */
static void note_kept(struct measurement *w, enum status st, struct diags *own)
{
    w->unsaved = st != ST_OK;
    if (!w->unsaved) {
        w->kept = w->points;
        diags_move(w->ds, own);
        return;
    }
    snprintf(w->why, sizeof w->why, "out of memory");
    for (size_t i = 0; i < own->n; i++)
        if (own->v[i].level == DIAG_ERROR && own->v[i].msg)
            snprintf(w->why, sizeof w->why, "%s", own->v[i].msg);
    diags_free(own);
}

void measurement_point(void *ctx, const struct result *r, const char *why)
{
    struct measurement *w = ctx;
    (void)why;
    if (!w->session)
        return;
    struct diags own = { 0 };
    w->points++;
    if (session_run_point(w->run, r))
        note_kept(w, session_keep_point(w->session, w->run, r, &own), &own);
    else
        note_kept(w, ST_NOMEM, &own);
}

void measurement_save(struct measurement *w)
{
    struct diags own = { 0 };
    if (w->session)
        note_kept(w, session_save(w->session, &own), &own);
}

enum status measurement_kept(struct measurement *w)
{
    if (!w->unsaved)
        return ST_OK;
    struct diag *d = diag_add(w->ds, DIAG_ERROR, "session", session_path(w->session), NO_SPAN,
                              "cannot write the session: %s; the file has %zu of %zu finished points, "
                              "the printed results have all",
                              w->why, w->kept, w->points);
    diag_hint(d, "free disk space, or choose another file with -o, and continue with --resume %s",
              session_path(w->session));
    return ST_IO;
}

enum status measurement_session(struct measurement *w, const struct measure *m, enum run_kind kind)
{
    const char *path = w->a->output ? w->a->output : w->a->session;
    const struct ptx_module *module = m->subject.module;
    if (!path)
        return ST_OK; /* without -o, a headless command leaves no file behind */
    enum status st = session_new(path, module->path, &w->session, w->ds);
    if (st != ST_OK)
        return st;
    session_set_ptx(w->session, module->path, module->text);
    session_set_launch(w->session, m->subject.launch);
    w->run = session_begin(w->session, kind);
    if (!w->run)
        return ST_NOMEM;
    measure_head(m, w->run);
    return ST_OK;
}

enum status measurement_done(const struct args *a, const struct measure *m, enum run_kind kind,
                             struct session **old, struct measure_done *done, struct diags *ds)
{
    bool any = false;
    if (!a->resume)
        return ST_OK;
    enum status st = session_load(a->resume, old, ds);
    for (size_t i = st == ST_OK ? session_count(*old) : 0; i-- > 0 && st == ST_OK;) {
        const struct session_run *r = session_look(*old, i);
        bool wanted = r && r->kind == kind && measure_alike(m, *old, r) && !(any && kind == RUN_TUNE);
        if (wanted && !measure_done_add(done, r))
            st = ST_NOMEM;
        any |= wanted;
        if (!wanted)
            session_rest(*old, i);
    }
    if (st == ST_OK && !any)
        diag_add(ds, DIAG_WARNING, "resume", a->resume, NO_SPAN,
                 "no %s of this kernel, launch and device in this session; starting from the beginning",
                 kind == RUN_TUNE ? "search" : "sweep");
    return st;
}
