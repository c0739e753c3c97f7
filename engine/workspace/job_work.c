/* What each request does. */
#include "engine/base/name.h"
#include "engine/base/shown.h"
#include "engine/pass/pass.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/counters.h"
#include "engine/rec/gain.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/report/report.h"
#include "engine/search/found.h"
#include "engine/search/tuner.h"
#include "engine/session/baseline.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/workspace/job_int.h"
#include "engine/workspace/workspace.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PUBLISH_NS (33 * 1000000) /* progress is shown at most thirty times a second */

static void destroy_output(void *p)
{
    pass_output_free(p);
    base_free(p);
}

static void kept(struct job_engine *e, enum status st, struct diags *ds)
{
    bool was = e->state.unsaved;
    e->state.unsaved = st != ST_OK;
    if (!e->state.unsaved || !was) /* a failure is said once: the session goes on in memory */
        job_say_all(e, ds);
    diags_free(ds);
}

static void save(struct job_engine *e)
{
    struct diags ds = { 0 };
    kept(e, session_save(e->state.session, &ds), &ds);
}

/* Run i as it is now. */
static void keep_run(struct job_engine *e, size_t i)
{
    struct diags ds = { 0 };
    kept(e, session_keep_run(e->state.session, i, &ds), &ds);
}

/* A session that was kept in the file asked for goes on: it is never written over. *held: there is one.
 */
static enum status session_held(struct job_engine *e, bool *held, struct diags *ds)
{
    struct job_state *st = &e->state;
    const struct ptx_module *m = st->module->p;
    const char *path = st->session_wanted;
    struct stat f;
    *held = path && stat(path, &f) == 0 && S_ISREG(f.st_mode) && f.st_size;
    enum status s = *held ? session_load(path, &st->session, ds) : ST_OK;
    if (s != ST_OK)
        diag_error(ds, "session", "%s holds something else than a session: name another file", path);
    if (s != ST_OK || !*held)
        return s;
    s = job_runs_load(e, ds);
    if (s == ST_OK && !str_eq(session_ptx_text(st->session), m->text)) {
        job_runs_age(e);
        session_set_ptx(st->session, m->path, m->text);
    }
    return s;
}

static enum status begin_session(struct job_engine *e, struct diags *ds)
{
    struct job_state *st = &e->state;
    const struct ptx_module *m = st->module->p;
    bool held = false;
    enum status s = session_held(e, &held, ds);
    if (s == ST_OK && !held) {
        session_new(st->session_wanted, m->path, &st->session, ds);
        if (st->session)
            session_set_ptx(st->session, m->path, m->text);
    }
    st->other_text = true;
    return s == ST_OK && !st->session ? ST_NOMEM : s;
}

static struct session_run *begin_run(struct job_engine *e, enum run_kind kind)
{
    struct job_state *st = &e->state;
    if (st->other_text)
        session_set_launch(st->session, st->spec->p);
    st->other_text = false;
    struct session_run *r = session_begin(st->session, kind);
    if (!r)
        return NULL;
    measure_head(&st->measure, r);
    return r;
}

/* ---- observing ---- */
struct watching {
    struct job_engine *e;
    struct session_run *run;
    size_t index;
};

static void on_point(void *ctx, const struct result *r, const char *why)
{
    struct watching *w = ctx;
    struct job_state *st = &w->e->state;
    session_run_point(w->run, r);
    if (w->run->kind == RUN_SWEEP)
        tune_sweep_judge(&w->run->sweep, &w->run->dev, (double)dim3u_count(w->run->block));
    job_text(&st->trying, why);
    st->finished++;
    double seconds = (double)(base_now_ns() - st->started_ns) / 1e9;
    st->rate = seconds > 0 ? (double)st->finished / seconds : 0;
    job_show_run(w->e, w->index);
    struct diags ds = { 0 };
    kept(w->e, session_keep_point(st->session, w->run, r, &ds), &ds);
    job_publish(w->e);
}

static void on_progress(void *ctx, double done, const char *what)
{
    struct watching *w = ctx;
    if (what)
        w->e->state.done = done;
    if (base_now_ns() - w->e->state.published_ns > PUBLISH_NS)
        job_publish(w->e);
}

static void on_live(void *ctx, const struct tune_live *l)
{
    struct watching *w = ctx;
    job_live(w->e, l);
    if (base_now_ns() - w->e->state.published_ns > PUBLISH_NS)
        job_publish(w->e);
}

/* In the unit that leaves four digits. */
static void report_result(struct job_engine *e, const struct result *r)
{
    struct buf b = { 0 };
    if (r->status != ST_OK)
        buf_printf(&b, "%s: %s", status_text(r->status), r->message);
    else if (r->equal == EQUAL_NO)
        buf_puts(&b, r->message);
    else
        buf_printf(&b, "run %zu: %s (%s)", session_count(e->state.session),
                   time_words((double)r->time.median).s, evidence_words(evidence_of(r)));
    job_say(e, r->status != ST_OK || r->equal == EQUAL_NO ? DIAG_ERROR : DIAG_NOTE, NULL, NO_SPAN,
            b.s ? b.s : "");
    buf_free(&b);
}

/* ---- run, sweep, tune ---- */
#define LOOK_BACK 64 /* runs: older ones of a large session would be read from its text */
/* The original of what is run by the best evidence, copied; false: none of the last runs is one. */
static bool original_of(struct session *s, const struct session_run *r, struct result *out)
{
    bool found = false;
    size_t n = session_count(s), last = n > LOOK_BACK ? n - LOOK_BACK : 0;
    for (size_t i = n; i-- > last && !(found && evidence_of(out) > EVIDENCE_SAMPLED);) {
        const struct session_run *q = session_look(s, i);
        const struct result *x = q && q != r && run_alike(q, r) ? run_original(q, NULL) : NULL;
        if (x && (!found || evidence_of(x) > evidence_of(out)))
            *out = *x;
        found = found || x;
        if (q != r)
            session_rest(s, i);
    }
    return found;
}

/* A gain is of two times of one kind: the one of the two that is from a sample runs whole next, a request of
 * its own. */
static void run_like(struct job_engine *e, const struct result *original, const struct result *r)
{
    const struct result *lacks = gain_lacks(original, r);
    e->state.wants_whole = lacks != NULL;
    if (!lacks)
        return;
    e->state.whole = lacks->options;
    job_say(e, DIAG_NOTE, NULL, NO_SPAN,
            lacks == r ? "this time is from a sample, the original's is whole: it runs whole next, for "
                         "the gain"
                       : "the original's time is from a sample, this one is whole: the original runs "
                         "whole next, for the gain");
}

static enum status do_run(struct job_engine *e, const struct queued *q, struct diags *ds)
{
    struct tune_proof proof;
    struct result original;
    bool known = false;
    enum status s = measure_contradictions(&q->options, ds);
    struct session_run *r = s == ST_OK ? begin_run(e, RUN_ONE) : NULL;
    if (!r)
        return s == ST_OK ? ST_NOMEM : s;
    r->aside = q->number == JOB_OWN;
    r->one->options = q->options;
    r->one->status = ST_CANCELLED; /* until it is done */
    s = r->aside ? tune_time_whole(e->state.measure.bench, &q->options, r->one, ds)
                 : measure_run(&e->state.measure, &q->options, r->one, ds);
    known = s == ST_OK && !r->aside && original_of(e->state.session, r, &original);
    if (known && r->one->sampled)
        s = measure_like(&e->state.measure, &original, r->one, ds);
    if (s == ST_OK)
        s = measure_attack(&e->state.measure, r->one, &proof, ds);
    job_show_run(e, session_count(e->state.session) - 1);
    keep_run(e, session_count(e->state.session) - 1);
    if (s == ST_OK) {
        measure_say_idle(&q->options, ds);
        job_say_all(e, ds); /* remarks first: the workbench shows what was said last */
    }
    report_result(e, r->one);
    if (s == ST_OK && known)
        run_like(e, &original, r->one);
    return s;
}

/* A sweep over several axes has a run in the session for each slice: every combination of all but the
 * first. */
#define SLICES_MOST 64
struct sweeping {
    struct job_engine *e;
    struct tune_family f;
    struct session_run *run[SLICES_MOST];
    size_t first;
};

static void on_slice_point(void *ctx, const struct result *r, const char *why)
{
    struct sweeping *w = ctx;
    size_t i = w->f.n > 1 ? tune_family_slice(&w->f, &r->options) : 0;
    struct watching one = { w->e, w->run[i], w->first + i };
    on_point(&one, r, why);
}

static void on_slice_progress(void *ctx, double done, const char *what)
{
    struct watching one = { ((struct sweeping *)ctx)->e, NULL, 0 };
    on_progress(&one, done, what);
}

static enum status begin_slices(struct sweeping *w, struct diags *ds)
{
    struct job_engine *e = w->e;
    if (w->f.n > SLICES_MOST) {
        diag_error(
            ds, "axis",
            "%zu combinations of the axes after the first; at most %d are swept at once: give fewer "
            "values",
            w->f.n, SLICES_MOST);
        return ST_USAGE;
    }
    for (size_t i = 0; i < w->f.n; i++) {
        w->run[i] = begin_run(e, RUN_SWEEP);
        if (!w->run[i])
            return ST_NOMEM;
        measure_slice_begin(&e->state.measure, &w->f, i, w->run[i]);
    }
    w->first = session_count(e->state.session) - w->f.n;
    return ST_OK;
}

static void end_slices(struct sweeping *w)
{
    for (size_t i = 0; i < w->f.n; i++) {
        measure_slice_end(&w->e->state.measure, &w->f, i, w->run[i]);
        job_show_run(w->e, w->first + i);
        keep_run(w->e, w->first + i);
    }
    struct buf b = { 0 };
    tune_verdict(&w->f.slice[w->f.n > 1 && w->f.has_best ? w->f.best : 0].sweep, &b);
    job_say(w->e, DIAG_NOTE, NULL, NO_SPAN, b.s ? b.s : "");
    buf_free(&b);
}

static enum status do_sweep(struct job_engine *e, const struct queued *q,
                            const struct measure_done *done, struct diags *ds)
{
    struct sweeping w = { .e = e };
    enum status s = measure_family(&e->state.measure, q->text, &q->options, &w.f, ds);
    if (s == ST_OK)
        s = begin_slices(&w, ds);
    if (s == ST_OK) {
        struct tune_observer ob = { on_slice_point, on_slice_progress, &w, &e->cancel, NULL };
        s = measure_sweep(&e->state.measure, &w.f, done, &ob, ds);
        if (s == ST_OK)
            job_say_all(e, ds);
        end_slices(&w);
        if (s == ST_CANCELLED)
            job_again_keep(&e->state, q, w.first, w.f.n);
    }
    tune_family_free(&w.f);
    return s;
}

static enum status do_tune(struct job_engine *e, const struct queued *q, const struct measure_done *done,
                           struct diags *ds)
{
    const char *method = q->text && *q->text ? q->text : NULL;
    enum status s = tune_method_check(method, ds);
    struct watching w = { e, s == ST_OK ? begin_run(e, RUN_TUNE) : NULL, 0 };
    struct tune_found found = { 0 };
    if (!w.run)
        return s == ST_OK ? ST_NOMEM : s;
    w.index = session_count(e->state.session) - 1;
    struct tune_search_opts o = { .method = method,
                                  .budget_launches = q->number > 0 ? (unsigned)q->number : 0 };
    struct tune_observer ob = { on_point, on_progress, &w, &e->cancel, on_live };
    const struct job_state *st = &e->state;
    s = measure_tune(&e->state.measure, &o, st->launches ? st->launches->p : NULL, st->launch, done, &ob,
                     &found, ds);
    tune_found_copy(w.run->found, &found);
    job_show_run(e, w.index);
    keep_run(e, w.index);
    if (s == ST_CANCELLED)
        job_again_keep(&e->state, q, w.index, 1);
    if (s == ST_OK) {
        job_say_all(e, ds);
        job_say(e, DIAG_NOTE, NULL, NO_SPAN, found.reason);
    }
    tune_found_clear(&found);
    return s;
}

/* ---- preview ---- */
static enum status do_options(struct job_engine *e, const struct options *o)
{
    struct job_state *st = &e->state;
    struct diags ds = { 0 };
    st->options = *o;
    shared_ref_put(&st->cost, NULL);
    st->wants_cost = st->module && st->spec;
    shared_ref_put(&st->preview, NULL);
    job_text(&st->refusal, NULL);
    if (!st->module || !st->kernel)
        return ST_OK;
    struct pass_input in = { st->module->p,
                             str_of(st->kernel),
                             o,
                             st->dev ? &st->info : NULL,
                             st->spec ? st->spec->p : NULL,
                             st->facts ? st->facts->p : NULL,
                             0 };
    struct pass_output *out = base_alloc(sizeof *out);
    enum status s = out ? pass_apply(&in, out, &ds) : ST_NOMEM;
    if (s == ST_OK)
        shared_ref_put(&st->preview, shared_ref_new(out, destroy_output));
    else {
        base_free(out);
        struct buf b = { 0 };
        for (size_t i = 0; i < ds.n; i++)
            if (ds.v[i].level == DIAG_ERROR)
                buf_printf(&b, "%s%s", b.n ? "; " : "", ds.v[i].msg ? ds.v[i].msg : "");
        job_text(&st->refusal, b.n ? b.s : status_text(s));
        buf_free(&b);
    }
    diags_free(&ds);
    return ST_OK;
}

/* ---- session edits ---- */
static enum status edit_run(struct job_engine *e, const struct queued *q)
{
    struct job_state *st = &e->state;
    struct session_run *r =
        st->session && q->number >= 0 ? session_at(st->session, (size_t)q->number) : NULL;
    if (!r)
        return ST_OK;
    if (q->kind == JOB_NOTE)
        snprintf(r->note, sizeof r->note, "%s", q->text ? q->text : "");
    else
        r->deleted = q->kind == JOB_DELETE;
    job_show_run(e, (size_t)q->number);
    keep_run(e, (size_t)q->number);
    return ST_OK;
}

/* Where the launch came from, else beside the PTX; owned. */
static char *launch_home(const struct job_state *st)
{
    const struct launch_file *f = st->launches ? st->launches->p : NULL;
    const char *from = f && f->n ? f->launch[0].file : NULL;
    return from ? base_strdup(from) : workspace_launch_name(((struct ptx_module *)st->module->p)->path);
}

static bool same_launch(const struct launch_spec *a, const struct launch_spec *b)
{
    bool named = a->name && b->name ? strcmp(a->name, b->name) == 0 : a->name == b->name;
    return named && a->kernel && b->kernel && strcmp(a->kernel, b->kernel) == 0;
}

/* All launches of the file, with the present one in its place, or after them. */
static enum status write_among(const struct job_state *st, const char *path, struct diags *ds)
{
    const struct launch_file *f = st->launches ? st->launches->p : NULL;
    const struct launch_spec *l = st->spec->p;
    size_t n = f ? f->n : 0,
           at = f && st->launch < f->n && same_launch(&f->launch[st->launch], l) ? st->launch : n;
    struct launch_spec *all = base_alloc((n + 1) * sizeof *all); /* borrowed contents */
    if (!all)
        return ST_NOMEM;
    for (size_t i = 0; i < n; i++)
        all[i] = f->launch[i];
    all[at] = *l;
    enum status s = launch_file_write(path, all, at == n ? n + 1 : n, ds);
    base_free(all);
    return s;
}

/* What is in the file now is what the launches of the session start from. */
static void read_home(struct job_engine *e, const char *path)
{
    struct job_state *st = &e->state;
    struct launch_file *f = base_alloc(sizeof *f);
    if (f && launch_file_read(path, f, NULL) == ST_OK &&
        (!st->module || launch_name_kernels(f, st->module->p) == ST_OK)) {
        for (size_t i = 0; i < f->n; i++)
            st->launch = same_launch(&f->launch[i], st->spec->p) ? i : st->launch;
        shared_ref_put(&st->launches, shared_ref_new(f, job_destroy_launches));
    } else {
        if (f)
            launch_file_free(f);
        base_free(f);
    }
}

/* A path: this launch alone, there; else all of the file's, where they came from. */
static enum status save_launch(struct job_engine *e, const char *path, struct diags *ds)
{
    struct job_state *st = &e->state;
    const struct launch_spec *l = st->spec ? st->spec->p : NULL;
    if (!l) {
        diag_error(ds, "launch", "no launch description to save");
        return ST_INPUT;
    }
    char *home = launch_home(st);
    bool here = !path || !*path || (home && strcmp(path, home) == 0);
    enum status s = !home ? ST_NOMEM : workspace_output_check(here ? home : path, false, ds);
    if (s == ST_OK)
        s = here ? write_among(st, home, ds) : launch_file_write(path, l, 1, ds);
    if (s == ST_OK && here) {
        st->edited = false;
        read_home(e, home);
    }
    if (s == ST_OK)
        job_say(e, DIAG_NOTE, here ? home : path, NO_SPAN, "launch description saved");
    base_free(home);
    return s;
}

/* Tiles in another order are written where launches have shown that they are independent. */
static enum status check_tiles(struct job_engine *e, const struct pass_output *code, struct diags *ds)
{
    enum status s = code->tiles ? job_bench(e, false, ds) : ST_OK;
    return s == ST_OK && code->tiles ? tune_tiles_check(e->state.measure.bench, &e->state.options, ds)
                                     : s;
}

/* The options in view as files that run without the workbench. */
static enum status write_code(struct job_engine *e, const char *path, struct diags *ds)
{
    struct job_state *st = &e->state;
    const struct pass_output *code = st->preview ? st->preview->p : NULL;
    const struct launch_spec *l = st->spec ? st->spec->p : NULL;
    if (!code || !code->changed) {
        diag_error(ds, "rewrite", "%s",
                   st->refusal ? st->refusal
                               : "the current options do not change the kernel: nothing to write (:best "
                                 "takes the best point of a sweep or search)");
        return ST_INPUT;
    }
    enum status s = measure_contradictions(&st->options, ds);
    if (s != ST_OK)
        return s;
    char *name = path && *path ? base_strdup(path)
                               : workspace_tuned_name(((struct ptx_module *)st->module->p)->path);
    s = name ? workspace_code_check(name, l != NULL, false, ds) : ST_NOMEM;
    if (s == ST_OK)
        s = check_tiles(e, code, ds);
    if (s == ST_OK)
        s = workspace_code_write(name, code, ds);
    if (s == ST_OK && l)
        s = workspace_launch_write(name, l, &st->options, code, ds);
    if (s == ST_OK) {
        workspace_say_launch(l, &st->options, code, ds);
        diag_add(ds, DIAG_NOTE, "rewrite", name, NO_SPAN, "written%s",
                 l ? ", with the launch it wants beside it" : "");
    }
    base_free(name);
    return s;
}

/* Its own file cannot be written: it goes on in this one. */
static enum status move_session(struct job_engine *e, const char *path, struct diags *ds)
{
    struct job_state *st = &e->state;
    enum status s = workspace_output_check(path, false, ds);
    if (s == ST_OK)
        s = session_move(st->session, path, ds);
    if (s != ST_OK)
        return s;
    st->unsaved = false;
    job_say(e, DIAG_NOTE, path, NO_SPAN, "session saved; further results go to this file");
    return s;
}

/* A path: a copy there; the session goes on in its own file. */
static enum status save_session(struct job_engine *e, const char *path, struct diags *ds)
{
    struct job_state *st = &e->state;
    char *text = NULL;
    size_t n;
    if (!st->session) {
        diag_error(ds, "session", "nothing has been run yet: there is no session to save");
        return ST_INPUT;
    }
    save(e);
    const char *own = session_path(st->session);
    if ((st->unsaved || !own) && path && *path)
        return move_session(e, path, ds);
    if (st->unsaved || !own)
        return ST_OK; /* said when it went wrong */
    enum status s = ST_OK;
    if (path && *path) {
        s = workspace_output_check(path, false, ds);
        s = s == ST_OK ? file_read(own, (size_t)1 << 30, &text, &n, ds) : s;
        if (s == ST_OK)
            s = file_write_atomic(path, text, n, ds);
        base_free(text);
    }
    if (s == ST_OK)
        job_say(e, DIAG_NOTE, path && *path ? path : own, NO_SPAN, "session saved");
    return s;
}

static enum status save_report(struct job_engine *e, const char *path, struct diags *ds)
{
    struct job_state *st = &e->state;
    struct buf name = { 0 }, page = { 0 };
    const char *own = st->session ? session_path(st->session) : NULL;
    if (!st->session || (!own && !(path && *path))) {
        diag_error(ds, "report",
                   st->session ? "the session has no file of its own: name one, as in :report NAME.html"
                               : "nothing has been run yet: there is nothing to report");
        return ST_INPUT;
    }
    if (path && *path)
        buf_puts(&name, path);
    else
        buf_printf(&name, "%.*s.html", (int)(strlen(own) - (base_stem(own, ".json") ? 5 : 0)), own);
    const char *as = name.s ? name.s : "";
    enum status s =
        base_stem(as, ".svg")
            ? report_picture(st->session, &e->cancel, &page)
            : report_page(st->session, base_stem(as, ".md") ? &report_markdown : &report_html,
                          &e->cancel, &page);
    buf_show_from(&page, 0);
    buf_puts(&page, WORKSPACE_MARK_PAGE "\n");
    s = s != ST_OK ? s : name.oom || page.oom ? ST_NOMEM : workspace_output_check(name.s, false, ds);
    s = s != ST_OK ? s : file_write_atomic(name.s, page.s, page.n, ds);
    if (s == ST_OK)
        job_say(e, DIAG_NOTE, name.s, NO_SPAN, "report written");
    buf_free(&name);
    buf_free(&page);
    return s;
}

static enum status launch(struct job_engine *e, const struct queued *q, const struct measure_done *done,
                          struct diags *ds)
{
    enum run_kind kind = q->kind == JOB_RUN ? RUN_ONE : q->kind == JOB_SWEEP ? RUN_SWEEP : RUN_TUNE;
    e->state.options = q->options;
    enum status s = job_bench(e, measure_wants_facts(kind, &q->options), ds);
    if (s == ST_OK && !e->state.session)
        s = begin_session(e, ds);
    if (s != ST_OK)
        return s;
    return q->kind == JOB_RUN     ? do_run(e, q, ds)
           : q->kind == JOB_SWEEP ? do_sweep(e, q, done, ds)
                                  : do_tune(e, q, done, ds);
}

static const char *name_of(enum job_kind k)
{
    static const char *const names[] = {
        [JOB_OPEN] = "open",        [JOB_KERNEL] = "analyse", [JOB_DEVICE] = "device",
        [JOB_OPTIONS] = "rewrite",  [JOB_LAUNCH] = "launch",  [JOB_LAUNCH_GUESS] = "guess",
        [JOB_LAUNCH_SAVE] = "save", [JOB_WRITE] = "write",    [JOB_RUN] = "run",
        [JOB_SWEEP] = "sweep",      [JOB_TUNE] = "tune",      [JOB_RESUME] = "resume",
        [JOB_NOTE] = "note",        [JOB_DELETE] = "delete",  [JOB_UNDELETE] = "undelete",
        [JOB_SAVE] = "save",        [JOB_REPORT] = "report"
    };
    return names[k];
}

static void begin(struct job_state *st, enum job_kind k)
{
    st->doing = k;
    job_text(&st->what, name_of(k));
}

static enum status do_resume(struct job_engine *e, const struct queued *q, struct diags *ds)
{
    struct queued again = { 0 };
    struct measure_done done = { 0 };
    enum status s = job_resume(e, q->number, &again, &done, ds);
    if (s == ST_OK) {
        begin(&e->state, again.kind);
        s = launch(e, &again, &done, ds);
    }
    base_free(again.text);
    measure_done_free(&done);
    return s;
}

static enum status work(struct job_engine *e, const struct queued *q, struct diags *ds)
{
    static const struct measure_done nothing;
    switch (q->kind) {
    case JOB_OPEN: return job_open(e, q->text ? q->text : "", q->number != 0, ds);
    case JOB_KERNEL: return job_kernel(e, q->text, q->number, ds);
    case JOB_DEVICE: return job_device(e, q->text ? q->text : "", ds);
    case JOB_OPTIONS: return do_options(e, &q->options);
    case JOB_LAUNCH: return q->launch ? job_launch(e, q->launch, q->number, ds) : ST_OK;
    case JOB_LAUNCH_GUESS: return job_launch_guess(e, q->number, q->launch, ds);
    case JOB_LAUNCH_SAVE: return save_launch(e, q->text, ds);
    case JOB_WRITE: return write_code(e, q->text, ds);
    case JOB_RUN:
    case JOB_SWEEP:
    case JOB_TUNE: return launch(e, q, &nothing, ds);
    case JOB_RESUME: return do_resume(e, q, ds);
    case JOB_NOTE:
    case JOB_DELETE:
    case JOB_UNDELETE: return edit_run(e, q);
    case JOB_SAVE: return save_session(e, q->text, ds);
    case JOB_REPORT: return save_report(e, q->text, ds);
    }
    return ST_OK;
}

void job_work(struct job_engine *e, const struct queued *q)
{
    struct job_state *st = &e->state;
    struct diags ds = { 0 };
    st->busy = true;
    st->done = 0;
    st->rate = 0;
    st->finished = 0;
    st->started_ns = base_now_ns();
    begin(st, q->kind);
    job_publish(e);
    enum status s = work(e, q, &ds);
    if (st->session)
        session_settle(st->session);
    bool told = ds.errors > 0;
    job_say_all(e, &ds);
    if (s == ST_CANCELLED)
        job_say(e, DIAG_WARNING, NULL, NO_SPAN,
                q->kind == JOB_SWEEP || q->kind == JOB_TUNE || q->kind == JOB_RESUME
                    ? "stopped; finished points are kept (:resume continues)"
                    : "stopped before it finished");
    else if (s != ST_OK && !told)
        job_say(e, DIAG_ERROR, NULL, NO_SPAN, status_text(s));
    if (job_launches(q->kind))
        job_advise(e);
    st->busy = st->wants_whole;
    st->worked += q->number != JOB_OWN || q->kind != JOB_RUN;
    job_text(&st->trying, NULL);
    job_publish(e);
}

void job_refused(struct job_engine *e, size_t n)
{
    char text[96];
    snprintf(text, sizeof text, "out of memory: %zu request%s not taken; ask again", n,
             n == 1 ? " was" : "s were");
    for (int i = 0; !job_say(e, DIAG_ERROR, NULL, NO_SPAN, text) && i < JOB_SHORT_MOST; i++)
        usleep(JOB_SHORT_US);
    e->state.worked += n; /* whoever waits for them waits no longer */
    job_publish(e);
}

void job_background(struct job_engine *e)
{
    struct diags ds = { 0 };
    bool facts = e->state.wants_facts; /* the whole analysis first, then what the model says */
    enum status s = facts ? job_facts(e, false, &e->idle_cancel, &ds) : job_cost(e, &e->idle_cancel);
    *(facts ? &e->state.wants_facts : &e->state.wants_cost) =
        s == ST_CANCELLED; /* asked again once the queue is empty */
    diags_free(&ds);       /* the quick analysis has said what there is to say */
    if (s == ST_CANCELLED && atomic_load(&e->idle_drop)) {
        e->state.wants_facts = e->state.wants_cost = false;
        job_say(e, DIAG_NOTE, NULL, NO_SPAN,
                facts ? "the analysis of the whole launch was stopped: figures are for its first CTAs"
                      : "the prediction was stopped");
    }
    if (s == ST_OK && facts)
        job_advise(e);
    job_publish(e);
}
