/* tune, predict: the search for the best configuration, and what the model says without a launch. */
#include "engine/analysis/analysis.h"
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/measurement.h"
#include "engine/pass/pass.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/result_read.h"
#include "engine/search/advice.h"
#include "engine/search/found.h"
#include "engine/search/live.h"
#include "engine/search/tuner.h"
#include "engine/session/documents.h"
#include "engine/session/limits_doc.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/workspace/args.h"
#include "engine/workspace/measure.h"
#include "engine/workspace/workspace.h"

#include <math.h>
#include <string.h>

/* What is fastest on another launch, where that is something else. */
static void best_there(const struct tune_found *f, unsigned set, struct buf *out)
{
    const struct tune_data_set *d = &f->set[set];
    const struct options *best = options_at(f->set_best, set);
    struct buf line = { 0 };
    options_line(best, &line);
    if (!line.n && d->gain < 1)
        buf_puts(out, "; best there: leave it alone");
    else if (line.n && !options_equal(best, f->options))
        buf_printf(out, "; best there: %s %s", line.s, gain_words(d->best_gain).s);
    buf_free_checked(&line, out);
}

static void sets_text(const struct tune_found *f, struct buf *out)
{
    const struct tune_all_launches *all = &f->all;
    unsigned holding = 0;
    for (unsigned i = 0; i < f->nsets; i++) {
        const struct tune_data_set *d = &f->set[i];
        holding += d->holds;
        buf_printf(out, "data set     %-12s ", d->name);
        if (d->gain > 0)
            buf_printf(out, "%s%s%s", gain_words(d->gain).s, d->message[0] ? ": " : "", d->message);
        else
            buf_printf(out, "n/a: %s", d->message);
        if (d->gain > 0)
            best_there(f, i, out);
        buf_puts(out, "\n");
    }
    if (f->nsets)
        buf_printf(out, "holds on     %u of %u other data sets\n", holding, f->nsets);
    if (all->valid)
        buf_printf(out,
                   "all launches %s (%s -> %s, sums of %u), the least of %u configurations tried; "
                   "slower on none\n",
                   gain_words(gain_between(all->original_ns, all->best_ns)).s,
                   time_words(all->original_ns).s, time_words(all->best_ns).s, all->launches,
                   all->tried);
    else if (all->launches > 1)
        buf_printf(out, "all launches each configuration that was tried is slower on one of them: use "
                        "one for each\n");
}

/* Method "model": what it thought of before the one launch that confirms. */
static void ranking_text(const struct tune_found *f, const struct dev_info *d, struct buf *out)
{
    if (f->nranking)
        buf_printf(
            out, "ranking by the memory-cost model, no launches (cycles on %s):\n%14s %14s   options\n",
            d->name, "paper", "extended");
    for (unsigned i = 0; i < f->nranking; i++) {
        struct buf line = { 0 };
        options_line(options_at(f->ranked, i), &line);
        buf_printf(out, "%14.4g %14.4g   %s\n", f->ranking[i].cost.paper, f->ranking[i].cost.extended,
                   line.n ? line.s : "(as it is)");
        buf_free_checked(&line, out);
    }
}

static void put_first(const char *of, const struct result *r, struct buf *out)
{
    buf_printf(out, "%s ", of);
    limits_first_text(r, out);
}

/* What limits the original, and the best. */
static void put_limits(const struct tune_found *f, struct buf *out)
{
    if (!result_limits(f->original)->valid)
        return;
    put_first("limits       the original:", f->original, out);
    if (!f->leave_alone && result_limits(f->best)->valid)
        put_first("; this one:", f->best, out);
    buf_puts(out, "\n");
}

/* What a simulated gain may be on the GPU. */
static void gain_text(const struct tune_found *f, const struct dev_info *d, struct buf *out)
{
    if (d->kind != DEV_SIMULATED || f->leave_alone)
        return;
    if (f->likely_gain.low > 0)
        buf_printf(out, "on a GPU     %.2fx to %.2fx in %d of 100 cases\n", f->likely_gain.low,
                   f->likely_gain.high, INTERVAL_PERCENT);
    else
        buf_puts(out, "on a GPU     unknown: no GPU was compared with this device for configurations of "
                      "this kind\n");
}

static void print_found(const struct args *a, const struct tune_found *f, const struct workspace *s)
{
    struct buf out = { 0 }, line = { 0 };
    const char *origin = s->info.kind == DEV_SIMULATED ? "simulated" : "measured";
    options_line(f->options, &line);
    char label[PTX_LABEL];
    buf_printf(&out, "%s on %s, all times %s\n", ptx_label(s->kernel, label), s->info.name, origin);
    ranking_text(f, &s->info, &out);
    buf_printf(&out, "tried %u of %u configurations", f->launches - f->whole - f->again, f->space);
    if (f->whole)
        buf_printf(&out, ", and timed %u of them whole that a sample of the CTAs put first", f->whole);
    if (f->again)
        buf_printf(&out, ", and measured original and best again in %u launches", f->again);
    if (f->resumed)
        buf_printf(&out, ", %u taken from the session", f->resumed);
    if (f->skipped)
        buf_printf(&out, ", %u skipped as hopeless by the memory-cost model", f->skipped);
    buf_puts(&out, "\n");
    if (f->leave_alone)
        buf_printf(&out, "%s: %s\n", f->untried[0] || f->interrupted ? "nothing yet" : "leave it alone",
                   f->reason);
    else
        buf_printf(
            &out,
            "recommended  %s\ngain         %s (%s -> %s, %s), outputs equal to the "
            "original's%s\nwhy          %s\n",
            line.n ? line.s : "(as it is)", gain_words(gain_of(f->original, f->best)).s,
            time_words((double)result_time(f->original)->median).s,
            time_words((double)result_time(f->best)->median).s, evidence_name(evidence_of(f->best)),
            result_equal(f->best) == EQUAL_WITHIN ? " within the stated tolerance"
            : result_equal(f->best) == EQUAL_PART ? " where some CTAs made them; not all were compared"
                                                  : "",
            f->reason);
    gain_text(f, &s->info, &out);
    if (!f->leave_alone && (f->proof.verdict != PROOF_NONE || f->proof.message[0])) {
        buf_puts(&out, "proof        ");
        tune_proof_text(&f->proof, &out);
        buf_puts(&out, "\n");
    }
    if (f->whole && !result_sampled(f->best))
        buf_puts(&out, "times        of whole launches, not of samples of their CTAs: run --exact shows "
                       "them again\n");
    else if (!f->leave_alone && result_sampled(f->best) && (f->untried[0] || f->interrupted))
        buf_puts(&out, "times        from samples of the CTAs: no launch was left to time them whole\n");
    if (f->probed[0])
        buf_printf(&out, "probes       %s\n", f->probed);
    if (f->placement[0])
        buf_printf(&out, "placement    %s\n", f->placement);
    if (f->untried[0])
        buf_printf(&out, "not tried    the budget ended before: %s\n", f->untried);
    launch_guess_line("guess        ", result_guessed(f->original), &out);
    put_limits(f, &out);
    sets_text(f, &out);
    buf_free_checked(&line, &out);
    cmd_give(a, &out);
}

/* --diff, and --apply: FILE.tuned.ptx beside the original, and the launch that it wants. */
static enum status apply(const struct args *a, const struct workspace *s, const struct tune_found *f,
                         struct diags *ds)
{
    struct pass_input in = workspace_input(s, f->options);
    struct pass_output code = { 0 };
    struct buf diff = { 0 };
    char *path = workspace_tuned_name(a->file[0]);
    enum status st = path ? pass_apply(&in, &code, ds) : ST_NOMEM;
    if (st == ST_OK && a->diff && !a->json) {
        pass_diff(s->module, &code, &diff);
        cmd_put(a, &diff);
    }
    if (st == ST_OK && a->apply) {
        st = workspace_code_write(path, &code, ds);
        if (st == ST_OK)
            diag_add(ds, DIAG_NOTE, "tuned", path, NO_SPAN, "written");
        if (st == ST_OK)
            st = workspace_launch_write(path, s->spec, f->options, &code, ds);
        if (st == ST_OK)
            workspace_say_launch(s->spec, f->options, &code, ds);
    }
    buf_free(&diff);
    base_free(path);
    pass_output_free(&code);
    return st;
}

/* ---- the papers' procedures and ours, one table ---- */
static const char *const compared[] = { "static", "voted", "cluster-framework", "model", "search" };

static void print_compared(const struct args *a, const struct tune_found *f, size_t n,
                           const struct workspace *s)
{
    struct buf out = { 0 };
    char label[PTX_LABEL];
    if (a->json)
        json_compared(compared, f, n, &s->info, s->kernel, &out);
    else
        buf_printf(&out, "%s on %s, all times %s, original %s\n%-18s %8s %8s   options\n",
                   ptx_label(s->kernel, label), s->info.name,
                   s->info.kind == DEV_SIMULATED ? "simulated" : "measured",
                   time_words(n ? (double)result_time(f[0].original)->median : 0).s, "method",
                   "launches", "gain");
    for (size_t i = 0; i < n && !a->json; i++) {
        struct buf line = { 0 };
        options_line(f[i].options, &line);
        buf_printf(&out, "%-18s %8u %8s   %s\n", compared[i], f[i].launches,
                   gain_words(gain_of(f[i].original, f[i].best)).s,
                   f[i].leave_alone ? "leave it alone"
                   : line.s         ? line.s
                                    : "");
        buf_free_checked(&line, &out);
    }
    cmd_give(a, &out);
}

/* What was tried, for the advice; and into the session. */
struct tuning {
    struct measurement *w;
    struct result *done;
    size_t ndone, cap, missing;
};

/* This very result: the same configuration may be timed again, and both are kept. */
static bool in_trail(const struct session_run *run, const struct result *r)
{
    for (size_t i = 0; i < run->ntrail; i++) {
        const struct result *t = result_at(run->trail, i);
        bool same =
            result_status(t) == result_status(r) && result_time(t)->valid == result_time(r)->valid &&
            result_time(t)->median == result_time(r)->median && result_sampled(t) == result_sampled(r);
        if (same && options_equal(result_options(t), result_options(r)))
            return true;
    }
    return false;
}

static void on_point(void *ctx, const struct result *r, const char *why)
{
    struct tuning *t = ctx;
    const struct session_run *run = t->w->run;
    if (tune_untimed(r))
        t->missing++;
    if (base_grow((void **)&t->done, t->ndone, &t->cap, result_bytes()))
        result_copy(result_slot(t->done, t->ndone++), r);
    if (!run || result_probe_ctas(r) ||
        !in_trail(run, r)) /* of an earlier search: in the file already */
        measurement_point(t->w, r, why);
}

/* How far, how long still, the best so far. */
static void on_live(void *ctx, const struct tune_live *l)
{
    char detail[96] = "";
    double gain = gain_of(l->original, l->best);
    const struct tuning *t = ctx;
    if (!isnan(gain))
        snprintf(detail, sizeof detail, "%u launches, best %s", l->launches, gain_words(gain).s);
    if (isfinite(l->left_s))
        snprintf(detail + strlen(detail), sizeof detail - strlen(detail), ", about %.0f s left",
                 l->left_s);
    cmd_progress_detail(t->w->a, l->done, l->step, detail);
}

/* Configurations whose device failed are named: the recommendation was made without them. */
static void tell_missing(const struct tuning *t)
{
    if (t->missing)
        diag_add(t->w->ds, DIAG_WARNING, "missing", NULL, NO_SPAN,
                 "%zu configurations could not be measured and are not part of the recommendation",
                 t->missing);
    for (size_t i = 0, told = 0; told < t->missing && told < 8 && i < t->ndone; i++) {
        const struct result *r = result_at(t->done, i);
        struct buf line = { 0 };
        if (!tune_untimed(r))
            continue;
        told++;
        options_line(result_options(r), &line);
        diag_add(t->w->ds, DIAG_NOTE, "missing", NULL, NO_SPAN, "%s: %s",
                 line.n ? line.s : "the original", result_message(r));
        buf_free(&line);
    }
}

static void advice_text(const struct tune_advice *v, size_t n, struct buf *out)
{
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "%zu. %s", i + 1, v[i].title);
        if (v[i].tried)
            buf_printf(out, ": gained %s", gain_words(v[i].real_gain).s);
        else
            gain_recorded_words(": ", &v[i].likely, false, out);
        buf_printf(out, "\n   %s\n   %s\n", v[i].why,
                   v[i].command[0] ? v[i].command : "(nothing to apply)");
    }
}

/* given: there was a way to give any */
struct advised {
    struct tune_advice v[16];
    size_t n;
    bool given;
};

/* The advice as it stood before the search, with what came of it beside. Only a lack of memory is a
 * failure. */
static enum status advise(const struct tuning *t, struct tune_bench *bench, const struct workspace *s,
                          const struct tune_found *f, struct advised *a)
{
    struct tune_subject subject = { s->module, s->spec, &s->data, s->dev, s->facts };
    a->n = tune_advise(&subject, NULL, a->v, ARRAY_LEN(a->v));
    enum status st = tune_advise_predict(bench, a->v, &a->n, ARRAY_LEN(a->v));
    a->given = st == ST_OK;
    if (a->given)
        a->n = tune_advise_prove(&s->info, a->v, a->n, f->original, t->done, t->ndone);
    return st == ST_NOMEM ? st : ST_OK;
}

/* `finished`: not cut off, so that there is time for advice. */
static void print_all(const struct tuning *t, struct tune_bench *bench, const struct workspace *s,
                      const struct tune_found *f, bool finished)
{
    struct advised a = { .n = 0 };
    struct buf out = { 0 };
    if (!t->w->a->json)
        print_found(t->w->a, f, s); /* the advice takes a moment longer */
    bool lost = finished && advise(t, bench, s, f, &a) != ST_OK;
    if (t->w->a->json) {
        json_found(f, a.given ? a.v : NULL, a.n, t->done, t->ndone, &s->info, s->kernel, s->race, &out);
    } else if (a.given && a.n) {
        buf_puts(&out, "advice that no run refutes:\n");
        advice_text(a.v, a.n, &out);
    }
    out.oom = out.oom || lost;
    cmd_give(t->w->a, &out);
}

static enum status tune_all(struct measurement *w, struct measure *m, const struct workspace *s,
                            struct tune_found *best)
{
    struct tune_found *f = base_alloc(ARRAY_LEN(compared) * sizeof *f);
    struct tuning t = { .w = w };
    struct measure_done nothing = { 0 };
    struct tune_observer ob = { on_point, NULL, &t, w->a->cancel, on_live };
    enum status st = f ? ST_OK : ST_NOMEM;
    size_t n = 0, first = 0;
    for (; n < ARRAY_LEN(compared) && st == ST_OK; n++) {
        struct tune_search_opts o = { .method = compared[n],
                                      .budget_launches = (unsigned)w->a->budget,
                                      .budget_seconds = w->a->budget_seconds };
        st = measure_tune(m, &o, NULL, 0, &nothing, &ob, &f[n], w->ds);
        if (st == ST_OK && gain_of(f[n].original, f[n].best) > gain_of(f[first].original, f[first].best))
            first = n;
    }
    cmd_progress_end(w->a);
    if (n && st == ST_OK)
        print_compared(w->a, f, n, s);
    for (size_t i = 0; f && i < n; i++)
        if (i == first)
            *best = f[i];
        else
            tune_found_clear(&f[i]);
    BASE_FREE(t.done, f);
    return st;
}

static enum status tune_one(struct measurement *w, struct measure *m, const struct workspace *s,
                            const struct measure_done *done, struct tune_found *found)
{
    struct tuning t = { .w = w };
    struct tune_observer ob = { on_point, NULL, &t, w->a->cancel, on_live };
    struct tune_search_opts o = { .method = w->a->exhaustive ? "exhaustive" : w->a->method,
                                  .budget_launches = (unsigned)w->a->budget,
                                  .budget_seconds = w->a->budget_seconds,
                                  .started_ns = w->a->began_ns,
                                  .combine = (unsigned)w->a->combine,
                                  .in_program = w->a->in_program };
    size_t own = (size_t)(s->spec - s->launches.launch);
    enum status st = measure_tune(m, &o, &s->launches, own, done, &ob, found, w->ds);
    cmd_progress_end(w->a);
    tell_missing(&t);
    if (st == ST_OK || (st == ST_CANCELLED && found->original && result_time(found->original)->valid))
        print_all(&t, m->bench, s, found, st == ST_OK);
    if (st == ST_CANCELLED && w->session)
        diag_add(w->ds, DIAG_NOTE, "resume", w->a->output ? w->a->output : w->a->session, NO_SPAN,
                 "finished launches are in this session: tune --resume continues from there");
    base_free(t.done);
    return st;
}

/* Nothing can be run without a launch description: what the model and the analysis say, named so. */
static enum status tune_unlaunched(struct args *a, struct workspace *s, struct diags *ds)
{
    struct tune_advice advice[16];
    struct buf out = { 0 };
    char label[PTX_LABEL];
    enum status st = workspace_device(s, a, ds);
    if (st == ST_OK)
        st = workspace_facts(s, a, false, ds);
    if (st != ST_OK)
        return st;
    struct tune_subject subject = { s->module, NULL, NULL, s->dev, s->facts };
    size_t n = tune_advise(&subject, NULL, advice, ARRAY_LEN(advice));
    if (a->json)
        json_advice(advice, n, &s->info, s->kernel, &out);
    else
        buf_printf(&out, "%s: no launch description, so nothing was run; ranking by the model alone%s\n",
                   ptx_label(s->kernel, label),
                   n ? "" : ": without sizes and addresses it has nothing to propose");
    if (!a->json) {
        advice_text(advice, n, &out);
        buf_printf(&out,
                   "gpulocw launch %s -o FILE.launch.json writes a launch description to start from%s\n",
                   a->file[0], a->apply ? "; nothing was run, so no tuned PTX is written" : "");
    }
    cmd_give(a, &out);
    return ST_OK;
}

/* What an earlier search finished is in the file before anything else is. */
static enum status keep_trail(struct measurement *w, const struct measure_done *o)
{
    for (size_t i = 0; w->session && i < o->n; i++)
        if (!in_trail(w->run, result_at(o->result, i)) &&
            !session_run_point(w->run, result_at(o->result, i)))
            return ST_NOMEM;
    for (size_t i = 0; w->session && i < o->nprobe; i++)
        if (!session_run_point(w->run, result_at(o->probe, i)))
            return ST_NOMEM;
    return w->session ? session_save(w->session, w->ds) : ST_OK;
}

static enum status tune_launched(struct args *a, struct workspace *s, struct diags *ds)
{
    struct measure m = { .bench = NULL };
    struct tune_found *found = base_alloc(sizeof *found);
    struct measurement w = { .a = a, .ds = ds };
    struct measure_done done = { 0 };
    struct session *old = NULL;
    enum status st = found ? measurement_bench(s, a, &m, ds) : ST_NOMEM;
    if (st == ST_OK) /* before the session is begun: both may be one file */
        st = measurement_done(a, &m, RUN_TUNE, &old, &done, ds);
    if (st == ST_OK)
        st = measurement_session(&w, &m, RUN_TUNE);
    if (st == ST_OK)
        st = keep_trail(&w, &done);
    if (st == ST_OK) {
        st = a->method && strcmp(a->method, "all") == 0 ? tune_all(&w, &m, s, found)
                                                        : tune_one(&w, &m, s, &done, found);
        if (w.session) {
            tune_found_copy(w.run->found, found);
            measurement_save(&w);
        }
        enum status kept = measurement_kept(&w);
        st = st == ST_OK ? kept : st;
    }
    if (st == ST_OK && a->apply && found->leave_alone)
        diag_add(ds, DIAG_NOTE, "tuned", a->file[0], NO_SPAN,
                 "nothing is recommended, so no tuned PTX is written");
    else if (st == ST_OK && (a->apply || a->diff) && !found->leave_alone)
        st = apply(a, s, found, ds);
    measure_done_free(&done);
    session_free(old);
    session_free(w.session);
    tune_bench_close(m.bench);
    if (found)
        tune_found_clear(found);
    base_free(found);
    return st;
}

/* May --apply write its files? Asked before the search. */
static enum status check_applied(const struct args *a, struct diags *ds)
{
    if (!a->apply || !a->nfiles)
        return ST_OK;
    char *path = workspace_tuned_name(a->file[0]);
    enum status st = path ? workspace_code_check(path, true, a->force, ds) : ST_NOMEM;
    base_free(path);
    return st;
}

int cmd_tune(struct args *a)
{
    struct diags ds = { 0 };
    struct workspace s = { 0 };
    char *beside = a->launch || !a->nfiles ? NULL : launch_beside(a->file[0]);
    enum tune_level level;
    enum status st = cmd_prove_level(a->prove, TUNE_FULL, &level, &ds);
    if (st == ST_OK)
        st = check_applied(a, &ds); /* before anything is searched in vain */
    if (st == ST_OK && a->nfiles && !a->launch && !beside) {
        st = workspace_ptx(&s, a, &ds);
        if (st == ST_OK)
            st = workspace_launch(&s, a, false, &ds);
        if (st == ST_OK)
            st = tune_unlaunched(a, &s, &ds);
    } else if (st == ST_OK) {
        st = tune_launched(a, &s, &ds);
    }
    base_free(beside);
    workspace_close(&s);
    return cmd_finish(a, st, &ds);
}

/* ---- predict ---- */
static void put_threshold(const struct tune_pi_forecast *f, struct buf *out)
{
    buf_puts(out, "threshold, before any launch (modelled)\n");
    if (f->footprint >= 0)
        buf_printf(out,
                   "  by the footprint  π=%d of %u: of so many warps the lines, %.1f KiB each, fit L1 "
                   "together\n",
                   f->footprint, f->warps, f->bytes_per_warp / 1024);
    else
        buf_printf(out, "  by the footprint  n/a: %s\n", f->why_not);
    if (f->model >= 0)
        buf_printf(out,
                   "  by memory cost    π=%d of %u: %.4g cycles; bypassing all %.4g, caching all %.4g\n",
                   f->model, f->warps, f->least, f->bpa, f->cha);
    else
        buf_printf(out, "  by memory cost    n/a: %s\n", f->model_why_not);
}

static void print_prediction(const struct args *a, const struct workspace *s,
                             const struct tune_prediction *original, const struct tune_prediction *asked,
                             const struct tune_pi_forecast *f)
{
    struct buf out = { 0 }, line = { 0 };
    char label[PTX_LABEL];
    const struct options *none = options_none();
    options_line(a->options, &line);
    if (a->json)
        json_prediction(original, a->options, asked, f, &s->info, s->kernel, &out);
    else {
        buf_printf(&out, "%s as it is: ", ptx_label(s->kernel, label));
        tune_prediction_text(original, s->info.name, &out);
        if (!options_equal(a->options, none)) {
            buf_printf(&out, "%s: ", line.s ? line.s : "");
            tune_prediction_text(asked, s->info.name, &out);
        }
        put_threshold(f, &out);
    }
    buf_free_checked(&line, &out);
    cmd_give(a, &out);
}

int cmd_predict(struct args *a)
{
    struct diags ds = { 0 };
    struct workspace s = { 0 };
    struct tune_bench *model = NULL;
    struct tune_prediction original, asked;
    struct tune_pi_forecast f;
    const struct options *none = options_none();
    enum status st = measurement_subject(&s, a, true, &ds);
    struct tune_subject subject = { s.module, s.spec, &s.data, s.dev, s.facts };
    if (st == ST_OK)
        st = tune_bench_open_model(&subject, &model, &ds);
    struct tune_observer ob = { .cancel = a->cancel };
    if (st == ST_OK)
        tune_bench_watch(model, &ob);
    if (st == ST_OK)
        st = tune_predict(model, none, &original);
    if (st == ST_OK)
        st = tune_predict(model, a->options, &asked);
    if (st == ST_OK)
        st = tune_forecast_pi(model, a->options, &f);
    if (st == ST_OK)
        print_prediction(a, &s, &original, &asked, &f);
    tune_bench_close(model);
    workspace_close(&s);
    return cmd_finish(a, st, &ds);
}
