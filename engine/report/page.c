/* A session as a page, whatever it is written in: see report.h. */
#include "engine/analysis/analysis.h"
#include "engine/base/version.h"
#include "engine/pass/pass.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/data.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch_read.h"
#include "engine/report/report.h"
#include "engine/search/found.h"
#include "engine/session/baseline.h"
#include "engine/session/roofline.h"
#include "engine/session/run.h"
#include "engine/session/session.h"

#include <stdio.h>
#include <math.h>
#include <string.h>

enum { CELL = 48, FOLD_ROWS = 24 /* longer tables are folded */ };

struct page {
    struct session *s;
    const struct report_writer *w;
    struct buf *out;
    struct ptx_module *module; /* NULL: the session holds no text */
    struct run_originals originals;
    struct roofline_device device;
};

static const struct session_run *const *originals(const struct page *p)
{
    return p->originals.run;
}

/* What gains are over, and its name; NULL: nothing. */
static const struct result *baseline(const struct page *p, const struct session_run *r, char *name,
                                     size_t size)
{
    const struct result *b = run_baseline(originals(p), p->originals.n, r);
    bool pi = r->kind == RUN_SWEEP && strcmp(r->sweep.axis, "pi") == 0;
    snprintf(name, size, "%s", pi && b == r->sweep.cha ? "caching all" : "the original");
    if (!b && r->kind == RUN_SWEEP && r->sweep.npoints) {
        b = result_at(r->sweep.points, 0);
        report_point_name(&r->sweep, 0, name, size);
    }
    if (b && report_has_time(b) && b != r->one)
        return b;
    *name = 0;
    return NULL;
}

/* ---- tables ---- */
static void value_text(double v, bool valid, const char *format, char *text)
{
    if (valid && !isnan(v))
        snprintf(text, CELL, format, v);
    else
        snprintf(text, CELL, "n/a");
}

enum { COLUMNS = 7 };
struct rows {
    struct page *p;
    const struct session_run *r;
    const struct result *base, *best;
    struct time_scale unit;
};

static double gain_in(const struct rows *t, const struct result *r)
{
    double gain = run_gain(originals(t->p), t->p->originals.n, t->r, r);
    return isnan(gain) ? gain_of(t->base, r) : gain;
}

static void put_row(void *ctx, const struct result *r)
{
    struct rows *t = ctx;
    struct buf line = { 0 };
    char text[COLUMNS - 1][CELL];
    const struct counter *l1 = &result_counters(r)[COUNTER_L1_HIT_RATE],
                         *l2 = &result_counters(r)[COUNTER_L2_HIT_RATE],
                         *dram = &result_counters(r)[COUNTER_DRAM_READ_BYTES];
    bool timed = report_has_time(r);
    options_line(result_options(r), &line);
    if (timed)
        snprintf(text[0], CELL, "%.*f", t->unit.decimals, (double)result_time(r)->median / t->unit.ns);
    else
        snprintf(text[0], CELL, "n/a (%s)", status_text(result_status(r)));
    snprintf(text[1], CELL, "%s", gain_words(t->base ? gain_in(t, r) : (double)NAN).s);
    value_text(l1->value, l1->valid, "%.2f", text[2]);
    value_text(l2->value, l2->valid, "%.2f", text[3]);
    value_text(dram->value / 1048576, dram->valid, "%.2f", text[4]);
    snprintf(text[5], CELL, "%s", report_equal(r));
    const char *cell[COLUMNS] = {
        line.n ? line.s : "original", text[0], text[1], text[2], text[3], text[4], text[5]
    };
    t->p->w->row(t->p->out, cell, COLUMNS, true,
                 t->best && options_equal(result_options(r), result_options(t->best)));
    buf_free_checked(&line, t->p->out);
}

static void count_one(void *ctx, const struct result *r)
{
    (void)r;
    ++*(size_t *)ctx;
}

static void put_results(struct page *p, const struct session_run *r)
{
    char over[64] = "", time[CELL], gain[96];
    struct rows t = { p, r, baseline(p, r, over, sizeof over), session_run_recommended(r),
                      report_unit(r) };
    size_t n = 0;
    report_each(r, count_one, &n);
    snprintf(time, sizeof time, "time %s (%s)", t.unit.name, report_evidence(r));
    snprintf(gain, sizeof gain, *over ? "gain over %s" : "gain", over);
    const char *head[COLUMNS] = {
        "options", time, gain, "L1 hit %", "L2 hit %", "DRAM read MiB", "equal to the original"
    };
    if (n > FOLD_ROWS)
        p->w->fold(p->out, "All configurations, in the order they ran");
    p->w->head(p->out, head, COLUMNS);
    report_each(r, put_row, &t);
    p->w->tail(p->out);
    if (n > FOLD_ROWS)
        p->w->unfold(p->out);
}

/* Counters of what is recommended beside those of what it is better than. */
static void put_counters(struct page *p, const struct session_run *r)
{
    char over[64] = "", text[3][CELL];
    const struct result *b = baseline(p, r, over, sizeof over), *x = session_run_recommended(r);
    const char *head[] = { "counter", over, "recommended", "change", "unit" };
    if (!b || !x || options_equal(result_options(b), result_options(x)) ||
        evidence_of(b) != evidence_of(x))
        return;
    p->w->head(p->out, head, ARRAY_LEN(head));
    for (int c = 0; c < COUNTER_COUNT; c++) {
        const struct counter *was = &result_counters(b)[c], *is = &result_counters(x)[c];
        bool percent = strcmp(counter_unit((enum counter_id)c), "percent") == 0,
             both = was->valid && is->valid;
        if (counter_left_out((enum counter_id)c, result_counters(b)) &&
            counter_left_out((enum counter_id)c, result_counters(x)))
            continue;
        value_text(was->value, was->valid, fabs(was->value) < 1e4 ? "%.4g" : "%.0f", text[0]);
        value_text(is->value, is->valid, fabs(is->value) < 1e4 ? "%.4g" : "%.0f", text[1]);
        if (percent)
            value_text(is->value - was->value, both, "%+.1f points", text[2]);
        else
            value_text(100 * (is->value / was->value - 1), both && was->value != 0, "%+.1f %%", text[2]);
        const char *cell[] = { counter_name((enum counter_id)c), text[0], text[1], text[2],
                               counter_unit((enum counter_id)c) };
        p->w->row(p->out, cell, ARRAY_LEN(cell), true, false);
    }
    p->w->tail(p->out);
}

/* Of what is recommended, else of the run itself. */
static void put_roofline(struct page *p, const struct session_run *r)
{
    const struct result *x = session_run_recommended(r) ? session_run_recommended(r)
                             : r->kind == RUN_ONE       ? r->one
                                                        : NULL;
    struct buf text = { 0 }, picture = { 0 };
    if (!x || !report_has_time(x))
        return;
    struct roofline f = roofline_of(x, r->dev.spec, &p->device);
    p->w->heading(p->out, 3, "Roofline");
    if (p->w->plots)
        roofline_plot(&f, 72, 16, &text);
    else
        report_roofline(&f, &picture);
    roofline_text(&f, &text);
    p->w->svg(p->out, picture.s ? picture.s : "");
    p->w->pre(p->out, "", text.s ? text.s : "");
    buf_free_checked(&text, p->out);
    buf_free_checked(&picture, p->out);
}

/* The loads line by line, most traffic first: of what a recommendation is better than, and what it makes
 * of them. */
#define LOADS_SHOWN 16
static void put_loads(struct page *p, const struct session_run *r)
{
    char over[64] = "as it ran", text[5][CELL], code[96], hits[96];
    const struct result *x = session_run_recommended(r),
                        *b = r->kind == RUN_ONE ? r->one : baseline(p, r, over, sizeof over);
    struct load_counts v[RESULT_MAX_LOADS];
    if (r->earlier || !p->module || !b || !result_nloads(b))
        return;
    bool both = x && result_nloads(x) && evidence_of(b) == evidence_of(x) &&
                !options_equal(result_options(b), result_options(x));
    uint64_t missed = report_loads_hottest(b, v);
    snprintf(hits, sizeof hits, "L1 hit %%, %s", over);
    const char *head[] = {
        "line", "load", "sectors asked for", "% of what goes past L1", hits, "L1 hit %, recommended"
    };
    size_t columns = ARRAY_LEN(head) - !both;
    p->w->head(p->out, head, columns);
    for (uint32_t i = 0; i < result_nloads(b) && i < LOADS_SHOWN; i++) {
        const struct load_counts *is = both ? result_load(x, v[i].line) : NULL;
        struct str s = ptx_line_text(p->module, v[i].line);
        size_t n = 0;
        for (size_t k = 0; k < s.n && n + 1 < sizeof code; k++)
            if (s.s[k] != ' ' && s.s[k] != '\t')
                code[n++] = s.s[k];
            else if (n && code[n - 1] != ' ')
                code[n++] = ' ';
        code[n] = '\0';
        snprintf(text[0], CELL, "%u", v[i].line);
        snprintf(text[1], CELL, "%llu", (unsigned long long)v[i].sectors);
        value_text(100 * (double)(v[i].sectors - v[i].l1_hits) / (double)missed, missed != 0, "%.1f",
                   text[2]);
        value_text(100 * (double)v[i].l1_hits / (double)v[i].sectors, true, "%.1f", text[3]);
        value_text(is ? 100 * (double)is->l1_hits / (double)is->sectors : 0, is != NULL, "%.1f",
                   text[4]);
        const char *cell[] = { text[0], code, text[1], text[2], text[3], text[4] };
        p->w->row(p->out, cell, columns, false, false);
    }
    p->w->tail(p->out);
}

/* ---- what to do with it ---- */
static const char *file_of(const struct page *p)
{
    return session_ptx_path(p->s) ? session_ptx_path(p->s) : "FILE.ptx";
}

static void put_commands(struct page *p, const struct session_run *r, const struct result *x)
{
    struct buf text = { 0 }, line = { 0 };
    const struct launch_spec *l = session_launch(p->s);
    const char *kernel =
        l && launch_name(l) && strcmp(launch_kernel(l), r->kernel) == 0 ? launch_name(l) : r->kernel;
    options_line(result_options(x), &line);
    buf_printf(&text, "gpulocw run %s --kernel %s --device %s %s\n", file_of(p), kernel, r->dev.spec,
               line.s ? line.s : "");
    buf_printf(&text, "gpulocw rewrite %s --kernel %s %s --diff\n", file_of(p), kernel,
               line.s ? line.s : "");
    p->w->para(p->out, "To run it again, and to see what it changes:");
    p->w->pre(p->out, "sh", text.s ? text.s : "");
    buf_free_checked(&text, p->out);
    buf_free_checked(&line, p->out);
}

static void put_diff(struct page *p, const struct session_run *r, const struct result *x)
{
    struct buf text = { 0 };
    struct pass_output code = { 0 };
    struct pass_input in = { .module = p->module,
                             .kernel = str_of(r->kernel),
                             .options = result_options(x),
                             .dev = &r->dev,
                             .launch = session_launch(p->s) };
    if (p->module && pass_apply(&in, &code, NULL) == ST_OK && code.changed) {
        pass_diff(p->module, &code, &text);
        p->w->fold(p->out, "What the recommendation changes in the PTX");
        p->w->pre(p->out, "diff", text.s ? text.s : "");
        p->w->unfold(p->out);
    }
    pass_output_free(&code);
    buf_free_checked(&text, p->out);
}

static void put_model(struct page *p, const struct session_run *r)
{
    const struct tune_found *f = r->found;
    struct buf text = { 0 };
    if (r->kind != RUN_TUNE || !f->cost_original.valid || !f->cost_best.valid)
        return;
    buf_puts(&text, "the original:\n");
    tune_prediction_text(&f->cost_original, r->dev.name, &text);
    buf_puts(&text, "\nthe recommended:\n");
    tune_prediction_text(&f->cost_best, r->dev.name, &text);
    p->w->fold(p->out, "What the memory-cost model says of both (modelled)");
    p->w->pre(p->out, "text", text.s ? text.s : "");
    p->w->unfold(p->out);
    buf_free_checked(&text, p->out);
}

/* ---- a run ---- */
static void put_facts(struct page *p, const struct session_run *r)
{
    struct buf text = { 0 }, line = { 0 };
    bool sampled = r->kind == RUN_ONE     ? result_sampled(r->one)
                   : r->kind == RUN_SWEEP ? result_sampled(r->sweep.cha)
                                          : result_sampled(r->found->original);
    buf_printf(&text, "Device %s (%s), grid %ux%ux%u, block %ux%ux%u. Times and counters are %s%s.",
               r->dev.name, r->dev.spec, r->grid.x, r->grid.y, r->grid.z, r->block.x, r->block.y,
               r->block.z, report_origin(r), sampled ? ", timed on a sample of the CTAs" : "");
    if (r->kind == RUN_SWEEP && strcmp(r->sweep.axis, "pi") == 0) {
        options_line(result_options(r->sweep.cha), &line);
        buf_printf(&text, " All cache is %s%s.", line.n ? line.s : "the original",
                   line.n ? " --pi cha" : "");
    }
    p->w->para(p->out, text.s ? text.s : "");
    buf_free_checked(&line, p->out);
    buf_free_checked(&text, p->out);
}

static void put_verdict(struct page *p, const struct session_run *r)
{
    struct buf text = { 0 };
    if (r->kind == RUN_SWEEP)
        run_verdict(originals(p), p->originals.n, r, &text);
    else if (r->kind == RUN_TUNE)
        buf_printf(&text, "%s. %u launch%s, of %u configurations.", r->found->reason, r->found->launches,
                   r->found->launches == 1 ? "" : "es", r->found->space);
    else
        buf_puts(&text, result_message(r->one));
    if (text.n)
        p->w->para(p->out, text.s);
    buf_free_checked(&text, p->out);
}

static void put_proof(struct page *p, const struct session_run *r)
{
    const struct tune_proof *proof = r->kind == RUN_TUNE ? &r->found->proof : r->proof;
    struct buf text = { 0 };
    if (!proof || !tune_proof_said(proof) || (r->kind == RUN_TUNE && r->found->leave_alone))
        return;
    buf_puts(&text, r->kind == RUN_ONE ? "Proof: " : "Proof of the best: ");
    tune_proof_text(proof, &text);
    buf_puts(&text, ".");
    p->w->para(p->out, text.s ? text.s : "");
    buf_free_checked(&text, p->out);
}

static void put_figures(struct page *p, const struct session_run *r)
{
    struct buf svg = { 0 };
    if (r->kind == RUN_SWEEP && r->sweep.npoints && p->w->plots) {
        report_text_plot(&r->sweep, 80, 14, true, &svg);
        p->w->pre(p->out, "", svg.s ? svg.s : "");
    } else if (r->kind == RUN_SWEEP) {
        report_sweep_time(r, &svg);
        report_sweep_rates(r, &svg);
    } else if (r->kind == RUN_TUNE)
        report_search(r, &svg);
    if (!p->w->plots)
        p->w->svg(p->out, svg.s ? svg.s : "");
    buf_free_checked(&svg, p->out);
}

static void put_run(struct page *p, size_t i, const struct session_run *r)
{
    static const char *const kind[] = { "run", "sweep", "search" };
    const struct result *x = session_run_recommended(r);
    struct buf text = { 0 };
    char label[PTX_LABEL];
    buf_printf(&text, "Run %zu: %s of %s on %s", i + 1, kind[r->kind], ptx_label(r->kernel, label),
               r->dev.name);
    p->w->heading(p->out, 2, text.s ? text.s : "");
    put_verdict(p, r);
    put_proof(p, r);
    put_facts(p, r);
    if (r->race[0]) {
        buf_clear(&text);
        buf_printf(&text, "Warning: %s", r->race);
        p->w->para(p->out, text.s ? text.s : "");
    }
    if (r->note[0]) {
        buf_clear(&text);
        buf_printf(&text, "Note: %s", r->note);
        p->w->para(p->out, text.s ? text.s : "");
    }
    put_figures(p, r);
    put_counters(p, r);
    put_roofline(p, r);
    put_loads(p, r);
    put_model(p, r);
    if (r->earlier)
        p->w->para(p->out, "This is of a text opened before the one that the session holds.");
    if (x && !r->earlier) {
        put_commands(p, r, x);
        put_diff(p, r, x);
    }
    put_results(p, r);
    buf_free_checked(&text, p->out);
}

/* What the analysis says of the session's kernel and launch. */
#define DATA_MOST (UINT64_C(1) << 33) /* bytes of buffers; larger launches are not analysed here */
static void put_analysis(struct page *p, const struct cancel *cancel)
{
    const struct launch_spec *l = session_launch(p->s);
    struct launch_data data = { 0 };
    struct ana_kernel *k = NULL;
    if (!p->module || !l || cancel_asked(cancel) ||
        launch_data_make(l, DATA_MOST, &data, NULL) != ST_OK) {
        return;
    }
    struct ana_opts o = { .data = &data, .quick = true, .cancel = cancel };
    if (ana_run(p->module, str_of(launch_kernel(l)), &o, &k, NULL) == ST_OK)
        report_shared(k, p->w, p->out);
    ana_free(k);
    launch_data_free(&data);
}

static void put_comparison(struct page *p)
{
    struct buf svg = { 0 };
    report_compare(p->s, &svg);
    if (svg.n && !p->w->plots) {
        p->w->heading(p->out, 2, "The sweeps beside each other");
        p->w->svg(p->out, svg.s);
    }
    buf_free_checked(&svg, p->out);
}

/* The text of the session and the originals that ran. *read: also what could be read of a text with errors,
 * which is not shown. */
static void open_page(struct page *p, const struct cancel *cancel, struct ptx_module **read)
{
    struct str ptx = session_ptx_text(p->s);
    if (ptx.n && ptx_parse(file_of(p), ptx, read, NULL) == ST_OK)
        p->module = *read;
    for (size_t i = 0; i < session_count(p->s) && !cancel_asked(cancel); i++) {
        const struct session_run *r = session_look(p->s, i);
        p->out->oom |= r && !run_originals_add(&p->originals, r);
        session_rest(p->s, i);
    }
}

static enum status close_page(struct page *p, const struct cancel *cancel, struct ptx_module *read)
{
    run_originals_free(&p->originals);
    roofline_device_free(&p->device);
    ptx_free(read);
    return cancel_asked(cancel) ? ST_CANCELLED : ST_OK;
}

enum status report_page(struct session *s, const struct report_writer *w, const struct cancel *cancel,
                        struct buf *out)
{
    struct page p = { .s = s, .w = w, .out = out };
    struct buf text = { 0 };
    struct ptx_module *read = NULL;
    open_page(&p, cancel, &read);
    w->begin(out, session_ptx_path(s) ? session_ptx_path(s) : "session");
    buf_printf(&text, "Recorded %s; written by gpulocw %s.", session_time(s), GPULOCW_VERSION);
    w->para(out, text.s ? text.s : "");
    report_summary(s, &p.originals, p.module, w, cancel, out);
    for (size_t i = 0; i < session_count(s) && !cancel_asked(cancel); i++) {
        const struct session_run *r = session_look(s, i);
        if (r && !r->deleted)
            put_run(&p, i, r);
        session_rest(s, i);
    }
    put_comparison(&p);
    put_analysis(&p, cancel);
    w->end(out);
    buf_free_checked(&text, out);
    return close_page(&p, cancel, read);
}

enum status report_picture(struct session *s, const struct cancel *cancel, struct buf *out)
{
    struct buf lines = { 0 }, curve = { 0 };
    struct page p = { .s = s, .w = &report_lines, .out = &lines };
    struct ptx_module *read = NULL;
    open_page(&p, cancel, &read);
    report_summary(s, &p.originals, p.module, p.w, cancel, &lines);
    report_newest_curve(s, &curve);
    if (lines.n || curve.n)
        report_drawn(&lines, &curve, out);
    buf_free_checked(&lines, out);
    buf_free_checked(&curve, out);
    return close_page(&p, cancel, read);
}
