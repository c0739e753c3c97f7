/* run: one configuration; what every launching command shares. */
#include "engine/base/base.h"
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/measurement.h"
#include "engine/cmd/outputs.h"
#include "engine/pass/pass.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/device.h"
#include "engine/rec/elem.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/options.h"
#include "engine/rec/result.h"
#include "engine/session/session.h"
#include "engine/tune/tune.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <string.h>

static struct tune_run_opts run_opts(const struct args *a, const struct dev_info *i)
{
    struct tune_run_opts o = tune_run_opts_default(i);
    o.counters = !a->no_counters;
    o.exact = a->exact;
    o.check_memory = a->check_memory;
    o.cancel = a->cancel;
    o.time_limit_s = a->time_limit;
    if (a->repeat > 0) {
        o.repeat = (unsigned)a->repeat;
        o.max_repeat = o.repeat > o.max_repeat ? o.repeat : o.max_repeat;
    }
    return o;
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

/* Then the simulated device beside a GPU or a worker counts what the order of its sums can change. */
static bool adds_floats(const struct launch_spec *l)
{
    bool any = false;
    for (size_t i = 0; i < l->nargs; i++)
        any |= l->args[i].atomic;
    return any;
}

/* Tiles in another order are shown to be independent there. */
static bool orders_tiles(const struct args *a)
{
    return opt_schedule(&a->options)->tile_order.kind > TILES_ROW || strcmp(a->command, "sweep") == 0;
}

enum status measurement_bench_of(struct workspace *s, struct args *a, struct tune_bench **bench,
                                 struct diags *ds)
{
    struct tune_subject subject = { s->module, s->spec, &s->data, s->dev, s->facts };
    struct tune_run_opts o = run_opts(a, &s->info);
    if (a->prove || strcmp(a->command, "tune") == 0 || adds_floats(s->spec) || orders_tiles(a))
        workspace_prover(s, a);
    o.prover = s->prover;
    if (o.check_memory && s->info.kind != DEV_SIMULATED) {
        diag_error(ds, "check-memory",
                   "--check-memory needs a simulated device; on a GPU use compute-sanitizer");
        return ST_USAGE;
    }
    enum status st = tune_bench_open(&subject, &o, bench, ds);
    if (st == ST_OK)
        st = tune_races(*bench, ds);
    snprintf(s->race, sizeof s->race, "%s", *bench ? tune_race(*bench) : "");
    if (st == ST_OK && s->pool)
        tune_bench_use_pool(*bench, s->pool);
    return st;
}

enum status measurement_bench(struct workspace *s, struct args *a, bool quick, struct tune_bench **bench,
                              struct diags *ds)
{
    enum status st = measurement_subject(s, a, quick, ds);
    return st == ST_OK ? measurement_bench_of(s, a, bench, ds) : st;
}

void measurement_progress(void *ctx, double done, const char *what)
{
    const struct measurement *w = ctx;
    if (what)
        cmd_progress(w->a, done, what);
}

/* A proof keeps copies of what the original wrote: unasked, only where the buffers are no larger than
 * this (bytes). */
#define UNASKED_PROOF (32ull << 20)

/* ---- run ---- */
static enum status exit_of(const struct result *r)
{
    return r->status != ST_OK                                ? r->status
           : r->equal == EQUAL_NO || r->captured == EQUAL_NO ? ST_DIFFER
                                                             : ST_OK;
}

static enum status save_run(struct args *a, struct workspace *s, const struct result *r,
                            const struct tune_proof *proof, struct diags *ds)
{
    struct measurement w = { .a = a, .ds = ds };
    enum status st = measurement_session(&w, s, RUN_ONE);
    if (st == ST_OK && w.run) {
        w.run->one = *r;
        w.points = 1;
        bool whole = !a->prove || session_run_prove(w.run, proof);
        measurement_save(&w);
        st = whole ? measurement_kept(&w) : ST_NOMEM;
    }
    session_free(w.session);
    return st;
}

/* The loads of what ran: of the original where nothing was rewritten or the rewriting was refused. */
static struct load_classes classes_of(const struct workspace *s, const struct result *r,
                                      struct diags *ds)
{
    struct pass_input in = workspace_input(s, &r->options);
    struct pass_output code = { 0 };
    struct diags none = { 0 };
    bool rewritten = pass_apply(&in, &code, &none) == ST_OK && code.changed;
    struct load_classes c = load_classes_of(&s->info, rewritten ? code.module : s->module, s->kernel);
    cmd_classes_warn(&c, &s->info, ds);
    pass_output_free(&code);
    diags_free(&none);
    return c;
}

static void put_run(const struct args *a, const struct workspace *s, const struct result *r,
                    const struct tune_proof *proof, struct diags *ds, struct buf *out)
{
    struct load_classes c = classes_of(s, r, ds);
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

bool measurement_attacked(const struct args *a, const struct workspace *s)
{
    return a->prove || (s->data.total_bytes <= UNASKED_PROOF && s->info.kind == DEV_SIMULATED &&
                        (s->own || !a->worker_n));
}

/* What ran equal is attacked; a rewrite that does not hold is a different one, with what was seen. */
static enum status prove_run(const struct args *a, const struct workspace *s, struct tune_bench *bench,
                             enum tune_level level, struct result *r, struct tune_proof *proof,
                             struct diags *ds)
{
    struct options none = options_default();
    *proof = (struct tune_proof){ .verdict = PROOF_NONE, .level = level };
    snprintf(proof->message, sizeof proof->message,
             "n/a: the configuration did not run with equal outputs");
    if (!measurement_attacked(a, s) || r->status != ST_OK || r->equal == EQUAL_NO ||
        (!a->prove && options_equal(&r->options, &none)))
        return ST_OK;
    enum status st = tune_prove(bench, &r->options, level, proof, ds);
    if (st == ST_OK && proof->verdict == PROOF_BROKEN) {
        r->equal = EQUAL_NO;
        snprintf(r->message, sizeof r->message, "%.250s", proof->message);
    }
    return st;
}

void measurement_proof_text(const struct args *a, const struct tune_proof *p, struct buf *out)
{
    if (!a->prove || a->json || !tune_proof_said(p))
        return;
    buf_puts(out, "proof     ");
    tune_proof_text(p, out);
    buf_puts(out, "\n");
}

int cmd_run(struct args *a)
{
    struct diags ds = { 0 };
    struct workspace s = { 0 };
    struct tune_bench *bench = NULL;
    struct result r = result_empty();
    struct buf out = { 0 };
    struct tune_proof proof = { 0 };
    enum tune_level level = TUNE_QUICK;
    enum status st = cmd_contradictions(&a->options, &ds);
    if (st == ST_OK)
        st = cmd_prove_level(a->prove, TUNE_QUICK, &level, &ds);
    if (st == ST_OK && a->outputs)
        st = outputs_folder(a->outputs, &ds);
    if (st == ST_OK)
        st = measurement_bench(&s, a, true, &bench, &ds);
    if (st == ST_OK && a->outputs)
        st = outputs_check(s.spec, a->outputs, a->force, &ds);
    if (st == ST_OK)
        st = tune_run_one(bench, &a->options, &r, &ds);
    if (st == ST_OK && r.status == ST_OK)
        st = outputs_captured(bench, s.spec, &r, &ds);
    if (st == ST_OK)
        st = prove_run(a, &s, bench, level, &r, &proof, &ds);
    if (st == ST_OK) {
        cmd_say_idle(&a->options, &ds);
        put_run(a, &s, &r, &proof, &ds, &out);
        measurement_proof_text(a, &proof, &out);
        cmd_put(a, &out);
        enum status kept = save_run(a, &s, &r, &proof, &ds);
        if (kept == ST_OK && a->outputs && r.status == ST_OK)
            kept = outputs_write(bench, s.spec, a->outputs, &ds);
        st = kept == ST_OK ? exit_of(&r) : kept;
    }
    buf_free(&out);
    tune_bench_close(bench);
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

static bool same_dim(struct dim3u a, struct dim3u b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

bool measurement_alike(const struct session *old, const struct session_run *r, const struct workspace *s)
{
    struct str text = session_ptx_text(old);
    bool code =
        !text.n || (text.n == s->module->text.n && memcmp(text.s, s->module->text.s, text.n) == 0);
    return code && strcmp(r->kernel, s->kernel) == 0 && strcmp(r->dev.spec, s->info.spec) == 0 &&
           same_dim(r->grid, s->spec->grid) && same_dim(r->block, s->spec->block);
}

enum status measurement_session(struct measurement *w, const struct workspace *s, enum run_kind kind)
{
    const char *path = w->a->output ? w->a->output : w->a->session;
    if (!path)
        return ST_OK; /* without -o, a headless command leaves no file behind */
    enum status st = session_new(path, s->module->path, &w->session, w->ds);
    if (st != ST_OK)
        return st;
    session_set_ptx(w->session, s->module->path, s->module->text);
    session_set_launch(w->session, s->spec);
    w->run = session_begin(w->session, kind);
    if (!w->run)
        return ST_NOMEM;
    snprintf(w->run->kernel, sizeof w->run->kernel, "%s", s->kernel);
    snprintf(w->run->race, sizeof w->run->race, "%s", s->race);
    w->run->dev = s->info;
    w->run->grid = s->spec->grid;
    w->run->block = s->spec->block;
    return ST_OK;
}
