/* What the headless commands say; io.h has where it goes. */
#include "engine/base/shown.h"
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/io.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/gain.h"
#include "engine/rec/interval.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/rec/energy.h"
#include "engine/report/report.h"
#include "engine/session/run.h"
#include "engine/session/document.h"
#include "engine/session/documents.h"
#include "engine/session/limits_doc.h"
#include "engine/session/roofline.h"
#include "engine/workspace/args.h"

#include <langinfo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A program that asked for a document gets one when the command fails, too, unless --progress-fd takes
 * the diagnostics. */
static void put_failure(const struct args *a, const struct diags *ds)
{
    struct buf out = { 0 };
    struct jw w = document_open(&out, "gpulocw-diagnostics", 1);
    jw_key(&w, "diagnostics");
    diags_json(ds, &w);
    document_close(&w);
    cmd_give(a, &out);
}

int cmd_finish(const struct args *a, enum status s, struct diags *ds)
{
    cmd_progress_end(a);
    bool wants = a->json && a->io->failure_document && a->progress_fd <= 0;
    if (s != ST_OK && wants && !a->io->said)
        put_failure(a, ds);
    if (a->io->tell)
        a->io->tell(a->io->ctx, s, ds);
    diags_free(ds);
    return status_exit_code(s);
}

void cmd_put_exact(const struct args *a, const struct buf *b)
{
    a->io->incomplete = a->io->incomplete || b->oom;
    a->io->said = a->io->said || b->n;
    if (b->s && a->io->out)
        a->io->out(a->io->ctx, b->s, b->n);
}

void cmd_put(const struct args *a, const struct buf *b)
{
    struct buf shown = { .oom = b->oom };
    if (b->s)
        buf_shown(&shown, (struct str){ b->s, b->n });
    cmd_put_exact(a, &shown);
    buf_free(&shown);
}

void cmd_give(const struct args *a, struct buf *b)
{
    cmd_put(a, b);
    buf_free(b);
}

void cmd_put_code(const struct args *a, const struct buf *b)
{
    if (a->io->terminal)
        cmd_put(a, b);
    else
        cmd_put_exact(a, b);
}

bool cmd_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

void cmd_progress(const struct args *a, double done, const char *what)
{
    cmd_progress_detail(a, done, what, "");
}

void cmd_progress_detail(const struct args *a, double done, const char *what, const char *detail)
{
    if (a->io->progress)
        a->io->progress(a->io->ctx, done < 0 ? 0 : done, what, detail);
}

void cmd_progress_end(const struct args *a)
{
    if (a->io->progress)
        a->io->progress(a->io->ctx, -1, "", "");
}

/* ---- text ---- */
static void put_counters(const struct result *r, struct buf *out)
{
    for (int c = 0; c < COUNTER_COUNT; c++) {
        const struct counter *v = &result_counters(r)[c];
        if (counter_left_out((enum counter_id)c, result_counters(r)))
            continue;
        buf_printf(out, "  %-24s ", counter_name((enum counter_id)c));
        if (v->valid)
            buf_printf(out, "%16.10g %-15s %s\n", v->value, counter_unit((enum counter_id)c),
                       origin_name(v->origin));
        else
            buf_printf(out, "%16s\n", "n/a");
    }
}

static const char *equal_text(const struct result *r)
{
    static const char *const text[] = { "no outputs to compare", "equal to the original's",
                                        "equal within the stated tolerance",
                                        "DIFFERENT from the original's",
                                        "equal to the original's where they were made, by some CTAs" };
    const struct options *none = options_none();
    if (result_equal(r) == EQUAL_NO && options_equal(result_options(r), none))
        return "NOT REPEATABLE: the original's own change from one launch to the next";
    if (result_equal(r) == EQUAL_UNKNOWN && result_part(r)->all_ctas)
        return "not made (--time-only)";
    return result_equal(r) == EQUAL_UNKNOWN && result_noutputs(r) ? "not compared"
                                                                  : text[result_equal(r)];
}

#define LOADS_SHOWN 12
static void put_loads(const struct result *r, struct buf *out)
{
    struct load_counts v[RESULT_MAX_LOADS];
    uint64_t missed = report_loads_hottest(r, v);
    if (!result_nloads(r))
        return;
    buf_puts(out,
             "by line     sectors   a request   L1 hits   share of what goes past L1 (simulated)\n");
    for (uint32_t i = 0; i < result_nloads(r) && i < LOADS_SHOWN; i++)
        buf_printf(out, "  %5u %12llu  %10.2f  %6.1f %%  %6.1f %%\n", v[i].line,
                   (unsigned long long)v[i].sectors, (double)v[i].sectors / (double)v[i].requests,
                   100 * (double)v[i].l1_hits / (double)v[i].sectors,
                   missed ? 100 * (double)(v[i].sectors - v[i].l1_hits) / (double)missed : 0);
    if (result_nloads(r) > LOADS_SHOWN)
        buf_printf(out, "  and %u lines more, each with less of it (--json has them)\n",
                   result_nloads(r) - LOADS_SHOWN);
}

static void put_energy(const struct result *r, struct buf *out)
{
    const struct energy *e = result_energy(r);
    double modelled = energy_modelled(r);
    if (e->launches)
        buf_printf(out, "energy    %.4g µJ a launch, measured (NVML), mean of %llu, within %.1f %%",
                   e->nj / 1000, (unsigned long long)e->launches, 100 * e->step);
    else
        buf_printf(out, "energy    measured: n/a, %s", e->why);
    if (isnan(modelled))
        buf_puts(out, "; modelled: n/a, a counter is missing\n");
    else
        buf_printf(out, "; modelled: %.4g µJ\n", modelled / 1000);
}

void cmd_result_text(const struct result *r, const struct dev_info *dev, const char *kernel,
                     struct roofline_device *d, struct buf *out)
{
    struct buf line = { 0 };
    options_line(result_options(r), &line);
    char label[PTX_LABEL];
    buf_printf(out, "%s on %s (%s)\n", ptx_label(kernel, label), dev->name,
               dev->kind == DEV_SIMULATED ? "simulated" : "measured");
    buf_printf(out, "options   %s\n", line.n ? line.s : "none: the original");
    buf_free_checked(&line, out);
    if (!report_has_time(r)) {
        buf_printf(out, "failed    %s: %s\n", status_text(result_status(r)), result_message(r));
        return;
    }
    struct time_scale u = time_scale_for((double)result_time(r)->median);
    buf_printf(out, "time      %s %s%s (min %.*f, max %.*f, %u ",
               time_words((double)result_time(r)->median).s, evidence_words(evidence_of(r)),
               result_cold(r) ? ", L2 empty" : "", u.decimals, (double)result_time(r)->min / u.ns,
               u.decimals, (double)result_time(r)->max / u.ns, result_time(r)->n);
    if (result_time(r)->batch > 1)
        buf_printf(out, "samples, each the mean of %u launches with the inputs restored between%s)",
                   result_time(r)->batch, result_cold(r) ? "" : ", L2 warm");
    else
        buf_puts(out, result_time(r)->n == 1 ? "launch)" : "launches)");
    if (result_loop_turns(r))
        buf_printf(out, ", from %u of %u turns of its loop on all CTAs\n", result_timed_turns(r),
                   result_loop_turns(r));
    else
        buf_puts(out, result_sampled(r) ? ", from a sample of the CTAs\n" : "\n");
    if (result_time(r)->likely_low > 0) {
        interval_words("on a GPU  ", timing_likely(result_time(r)), out);
        buf_puts(out, "\n");
    }
    launch_guess_line("guess     ", result_guessed(r), out);
    if (energy_asked(result_energy(r)))
        put_energy(r, out);
    buf_printf(out, "outputs   %s\n", equal_text(r));
    if (result_counters(r)[COUNTER_REGS_PER_THREAD].origin == ORIGIN_COMPILED ||
        result_counters(r)[COUNTER_REGS_SPILL_BYTES].value > 0)
        buf_printf(out, "registers %u a thread, %.0f bytes spilled (%s)\n", result_regs(r),
                   result_counters(r)[COUNTER_REGS_SPILL_BYTES].value, result_regs_from(r));
    if (result_message(r)[0])
        buf_printf(out, "note      %s\n", result_message(r));
    buf_puts(out, "limits    ");
    limits_text(r, out);
    put_counters(r, out);
    struct roofline roof = roofline_of(r, dev->spec, d);
    buf_puts(out, "roofline  ");
    roofline_text(&roof, out);
    put_loads(r, out);
}

void cmd_classes_text(const struct load_classes *c, struct buf *out)
{
    for (size_t i = 0; i < c->n; i++)
        buf_printf(out, "%s%s x%u%s", i ? ", " : "", c->v[i].op.sass, c->v[i].loads,
                   c->v[i].op.noop ? " (no effect)" : "");
}

void cmd_classes_warn(const struct load_classes *c, const struct dev_info *d, struct diags *ds)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->v[i].op.noop)
            diag_add(ds, DIAG_WARNING, "no-effect", NULL, NO_SPAN,
                     "the cache operator of %u load%s has no effect on %s (%s): %s", c->v[i].loads,
                     c->v[i].loads == 1 ? "" : "s", d->name, c->v[i].op.sass, c->v[i].op.reason);
}

static void put_r2(double r2, struct buf *out)
{
    if (r2 == r2)
        buf_printf(out, ", R² %.2f%s", r2, r2 < MODEL_R2_LEAST ? ": a constant fits as well" : "");
}

static void put_fit(const struct model_fit *f, struct buf *out)
{
    buf_printf(out,
               "valley model fit: alpha %.3f, beta %.1f bytes per thread, residual %.1f %% (modelled)",
               f->alpha, f->beta, 100 * f->residual);
    put_r2(f->r2, out);
    buf_puts(out, "\n");
    if (f->paper_residual == f->paper_residual) {
        buf_printf(out, "  the paper's law (exponent 1): residual %.1f %%", 100 * f->paper_residual);
        put_r2(f->paper_r2, out);
        buf_puts(out, "\n");
    }
}

static void sweep_row(const char *name, int width, const struct result *r, bool best,
                      struct time_scale u, struct buf *out)
{
    const struct counter *l1 = &result_counters(r)[COUNTER_L1_HIT_RATE],
                         *l2 = &result_counters(r)[COUNTER_L2_READ_SECTORS];
    buf_printf(out, "%c %-*s ", best ? '*' : ' ', width, name);
    if (!report_has_time(r)) {
        buf_printf(out, "%10s  %s: %.80s\n", "n/a", status_text(result_status(r)), result_message(r));
        return;
    }
    buf_printf(out, "%10.*f ", u.decimals, (double)result_time(r)->median / u.ns);
    if (l1->valid)
        buf_printf(out, "%8.2f ", l1->value);
    else
        buf_printf(out, "%8s ", "n/a");
    if (l2->valid)
        buf_printf(out, "%14.0f ", l2->value);
    else
        buf_printf(out, "%14s ", "n/a");
    buf_printf(out, " %s\n",
               result_equal(r) == EQUAL_NO        ? "DIFFERS"
               : !equality_known(result_equal(r)) ? "n/a"
               : result_equal(r) == EQUAL_WITHIN  ? "within"
                                                  : "equal");
}

/* "simulated, sampled" */
static const char *numbers_of(const struct tune_sweep *s, const struct dev_info *d)
{
    struct session_run r = { .kind = RUN_SWEEP, .dev = *d, .sweep = *s };
    return report_evidence(&r);
}

void cmd_sweep_text(const struct tune_sweep *s, const struct dev_info *d, const char *kernel,
                    struct buf *out)
{
    const struct result *best = tune_sweep_best(s);
    bool pi = strcmp(s->axis, "pi") == 0;
    int width = pi ? 5 : 16;
    struct time_scale u = time_scale_for(report_slowest_ns(s));
    char label[PTX_LABEL];
    buf_printf(out, "%s on %s (%s)\n%s\n  %-*s %7s %s %8s %14s  outputs\n", ptx_label(kernel, label),
               d->name, numbers_of(s, d),
               pi ? "bpa: all bypass; cha: all cache; pi: warps of a CTA that cache\n" : "", width,
               s->axis, "time", u.name, "L1 hit %", "L2 read sect.");
    if (pi) {
        sweep_row("bpa", width, s->bpa, best == s->bpa, u, out);
        sweep_row("cha", width, s->cha, best == s->cha, u, out);
    }
    for (size_t i = 0; i < s->npoints; i++) {
        char name[24];
        report_point_name(s, i, name, sizeof name);
        sweep_row(name, width, result_at(s->points, i), best == result_at(s->points, i), u, out);
    }
    buf_puts(out, "\n");
    report_text_plot(s, 80, 14, cmd_utf8(), out);
    if (isfinite(s->overhead_bpa) && isfinite(s->overhead_cha))
        buf_printf(
            out,
            "\noverhead of the inserted code: %+.2f %% at π=0 over bpa, %+.2f %% at π=%u over cha\n",
            100 * (s->overhead_bpa - 1), 100 * (s->overhead_cha - 1), s->warps);
    if (s->fit.valid)
        put_fit(&s->fit, out);
    if (pi && s->complete && s->has_best)
        buf_printf(out, "category %s, sensitivity %s\n", model_category_name(s->curve.category),
                   s->curve.sensitivity);
    if (s->npoints)
        launch_guess_line("guess: ", result_guessed(result_at(s->points, 0)), out);
    buf_puts(out, "verdict: ");
    tune_verdict(s, out);
    buf_puts(out, "\n");
}

/* ---- several axes ---- */
static void put_time(const struct result *r, struct time_scale u, struct buf *out)
{
    if (r && report_has_time(r))
        buf_printf(out, " %9.*f", u.decimals, (double)result_time(r)->median / u.ns);
    else
        buf_printf(out, " %9s", "n/a");
}

/* One line: what a slice's options are on the axes after the first, its ends, its best and what kind of
 * curve it is. */
static void slice_row(const struct tune_family *f, size_t i, struct time_scale u, struct buf *out)
{
    const struct tune_sweep *s = &f->slice[i].sweep;
    const struct result *best = tune_sweep_best(s);
    struct buf name = { 0 };
    char at[32] = "n/a";
    for (size_t k = 1; k < f->naxes; k++) {
        buf_printf(&name, "%s%s ", k > 1 ? ", " : "", f->axis[k]);
        knob_get(tune_family_base(f, i), (size_t)knob_find(str_of(f->axis[k])), &name);
    }
    if (s->has_best)
        report_point_name(s, s->best, at, sizeof at);
    buf_printf(out, "%c %-36s", f->has_best && f->best == i ? '*' : ' ', name.s ? name.s : "");
    if (strcmp(s->axis, "pi") == 0) {
        put_time(s->bpa, u, out);
        put_time(s->cha, u, out);
    }
    buf_printf(out, " %6s", at);
    put_time(best, u, out);
    buf_printf(out, "  %s\n",
               strcmp(s->axis, "pi") == 0 && s->complete && s->has_best
                   ? model_category_name(s->curve.category)
                   : "n/a");
    buf_free_checked(&name, out);
}

static struct time_scale family_unit(const struct tune_family *f)
{
    double high = -INFINITY;
    for (size_t i = 0; i < f->n; i++)
        high = fmax(high, report_slowest_ns(&f->slice[i].sweep));
    return time_scale_for(high);
}

void cmd_family_text(const struct tune_family *f, const struct dev_info *d, const char *kernel,
                     struct buf *out)
{
    bool pi = strcmp(f->axis[0], "pi") == 0;
    struct time_scale u = family_unit(f);
    char label[PTX_LABEL];
    buf_printf(out, "%s on %s (%s): %zu slices of a sweep along %s\n\n  %-36s", ptx_label(kernel, label),
               d->name, numbers_of(&f->slice[f->best].sweep, d), f->n, f->axis[0], "slice");
    if (pi)
        buf_printf(out, "    bpa %s    cha %s", u.name, u.name);
    buf_printf(out, " %6s   time %s  category\n", "best", u.name);
    for (size_t i = 0; i < f->n; i++)
        slice_row(f, i, u, out);
    if (!f->has_best) {
        buf_puts(out, "\nverdict: no configuration ran with outputs equal to the original's\n");
        return;
    }
    buf_puts(out, "\nthe slice with the fastest configuration:\n");
    cmd_sweep_text(&f->slice[f->best].sweep, d, kernel, out);
}

enum status cmd_prove_level(const char *text, enum tune_level unasked, enum tune_level *level,
                            struct diags *ds)
{
    *level = !text ? unasked : strcmp(text, "full") == 0 ? TUNE_FULL : TUNE_QUICK;
    if (!text || *level == TUNE_FULL || strcmp(text, "quick") == 0)
        return ST_OK;
    diag_error(ds, "usage", "--prove must be quick or full, not '%s'", text);
    return ST_USAGE;
}
