/* report: a session as Markdown, CSV, JSON, SVG or a self-contained HTML page. */
#include "engine/cmd/report_svg.h"

#include <math.h>
#include <string.h>

static bool has_time(const struct result *r) { return r->status == ST_OK && r->time.valid; }
static double ms(const struct result *r) { return (double)r->time.median / 1e6; }

/* ---- tables ---- */
static void csv_row(size_t run, const struct session_run *s, const struct result *r, struct buf *out)
{
    struct buf line = { 0 };
    options_line(&r->options, &line);
    buf_printf(out, "%zu,\"%s\",\"%s\",\"%s\",", run + 1, s->kernel, s->dev.spec, line.n ? line.s : "");
    if (has_time(r))
        buf_printf(out, "%lld,%lld,%lld,%s", (long long)r->time.median, (long long)r->time.min, (long long)r->time.max, origin_name(r->time.origin));
    else
        buf_puts(out, ",,,");
    buf_printf(out, ",%s", r->equal == EQUAL_UNKNOWN ? "" : r->equal == EQUAL_NO ? "no" : "yes");
    for (int c = 0; c < COUNTER_COUNT; c++) {
        buf_puts(out, ",");
        if (r->counters[c].valid)
            buf_printf(out, "%.10g", r->counters[c].value);
    }
    buf_puts(out, "\n");
    buf_free(&line);
}

static void each_result(const struct session_run *r, size_t run, void (*fn)(size_t, const struct session_run *, const struct result *, struct buf *), struct buf *out)
{
    if (r->kind == RUN_ONE)
        fn(run, r, &r->one, out);
    if (r->kind == RUN_SWEEP) {
        if (strcmp(r->sweep.axis, "pi") == 0) {
            fn(run, r, &r->sweep.bpa, out);
            fn(run, r, &r->sweep.cha, out);
        }
        for (size_t i = 0; i < r->sweep.npoints; i++)
            fn(run, r, &r->sweep.points[i], out);
    }
    for (size_t i = 0; r->kind == RUN_TUNE && i < r->ntrail; i++)
        fn(run, r, &r->trail[i], out);
}

static void put_csv(struct session *s, struct buf *out)
{
    buf_puts(out, "run,kernel,device,options,time_ns_median,time_ns_min,time_ns_max,origin,equal_to_original");
    for (int c = 0; c < COUNTER_COUNT; c++)
        buf_printf(out, ",%s", counter_name((enum counter_id)c));
    buf_puts(out, "\n");
    for (size_t i = 0; i < session_count(s); i++)
        if (!session_at(s, i)->deleted)
            each_result(session_at(s, i), i, csv_row, out);
}

static void md_row(size_t run, const struct session_run *s, const struct result *r, struct buf *out)
{
    struct buf line = { 0 };
    (void)run;
    (void)s;
    options_line(&r->options, &line);
    const struct counter *h = &r->counters[COUNTER_L1_HIT_RATE];
    buf_printf(out, "| `%s` | ", line.n ? line.s : "original");
    if (has_time(r))
        buf_printf(out, "%.4f | ", ms(r));
    else
        buf_printf(out, "n/a (%s) | ", status_text(r->status));
    if (h->valid)
        buf_printf(out, "%.2f | ", h->value);
    else
        buf_puts(out, "n/a | ");
    buf_printf(out, "%s |\n", r->equal == EQUAL_UNKNOWN ? "n/a" : r->equal == EQUAL_NO ? "no" : "yes");
    buf_free(&line);
}

static void put_verdict(const struct session_run *r, struct buf *out)
{
    if (r->kind == RUN_SWEEP)
        tune_verdict(&r->sweep, out);
    else if (r->kind == RUN_TUNE)
        buf_puts(out, r->found.reason);
}

static void put_md(struct session *s, struct buf *out)
{
    buf_printf(out, "# %s\n\nRecorded %s with gpulocw.\n", session_ptx_path(s) ? session_ptx_path(s) : "session", session_time(s));
    for (size_t i = 0; i < session_count(s); i++) {
        const struct session_run *r = session_at(s, i);
        if (r->deleted)
            continue;
        const char *origin = r->dev.kind == DEV_SIMULATED ? "simulated" : "measured";
        buf_printf(out, "\n## Run %zu: %s on %s\n\n", i + 1, r->kernel, r->dev.name);
        put_verdict(r, out);
        buf_printf(out, "\n\n| options | time ms (%s) | L1 hit %% | equal to the original |\n|---|---|---|---|\n", origin);
        each_result(r, i, md_row, out);
        if (r->kind == RUN_SWEEP) {
            buf_puts(out, "\n```\n");
            cmd_plot(&r->sweep, 80, 14, true, out);
            buf_puts(out, "```\n");
        }
        if (r->note[0])
            buf_printf(out, "\nNote: %s\n", r->note);
    }
}

static void html_row(size_t run, const struct session_run *s, const struct result *r, struct buf *out)
{
    struct buf line = { 0 };
    (void)run;
    (void)s;
    options_line(&r->options, &line);
    buf_puts(out, "<tr><td><code>");
    report_xml(out, line.n ? line.s : "original");
    buf_puts(out, "</code></td>");
    if (has_time(r))
        buf_printf(out, "<td>%.4f</td>", ms(r));
    else
        buf_puts(out, "<td>n/a</td>");
    const struct counter *h = &r->counters[COUNTER_L1_HIT_RATE];
    if (h->valid)
        buf_printf(out, "<td>%.2f</td>", h->value);
    else
        buf_puts(out, "<td>n/a</td>");
    buf_printf(out, "<td>%s</td></tr>\n", r->equal == EQUAL_UNKNOWN ? "n/a" : r->equal == EQUAL_NO ? "no" : "yes");
    buf_free(&line);
}

static void put_html(struct session *s, struct buf *out)
{
    struct buf verdict = { 0 };
    buf_puts(out, "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>gpulocw report</title>\n<style>body{font:15px sans-serif;max-width:50em;margin:2em auto;color:#222}"
                  "table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:.2em .6em;text-align:left}</style>\n<h1>");
    report_xml(out, session_ptx_path(s) ? session_ptx_path(s) : "session");
    buf_printf(out, "</h1><p>Recorded %s with gpulocw.</p>\n", session_time(s));
    for (size_t i = 0; i < session_count(s); i++) {
        const struct session_run *r = session_at(s, i);
        if (r->deleted)
            continue;
        buf_printf(out, "<h2>Run %zu: ", i + 1);
        report_xml(out, r->kernel);
        buf_puts(out, " on ");
        report_xml(out, r->dev.name);
        buf_puts(out, "</h2><p>");
        buf_clear(&verdict);
        put_verdict(r, &verdict);
        report_xml(out, verdict.s ? verdict.s : "");
        buf_puts(out, "</p>\n");
        if (r->kind == RUN_SWEEP && r->sweep.npoints)
            report_svg(r, out);
        buf_printf(out, "<table><tr><th>options</th><th>time ms (%s)</th><th>L1 hit %%</th><th>equal to the original</th></tr>\n", r->dev.kind == DEV_SIMULATED ? "simulated" : "measured");
        each_result(r, i, html_row, out);
        buf_puts(out, "</table>\n");
    }
    buf_puts(out, "</html>\n");
    buf_free(&verdict);
}

static void put_json(struct session *s, struct buf *out)
{
    for (size_t i = session_count(s); i-- > 0;) {
        const struct session_run *r = session_at(s, i);
        if (r->deleted)
            continue;
        if (r->kind == RUN_SWEEP)
            json_sweep(&r->sweep, &r->dev, r->kernel, out);
        else if (r->kind == RUN_ONE)
            json_result(&r->one, &r->dev, r->kernel, out);
        else
            json_found(&r->found, &r->dev, r->kernel, out);
        return;                              /* one document: the newest run */
    }
}

static void put_newest_svg(struct session *s, struct buf *out)
{
    for (size_t i = session_count(s); i-- > 0;)
        if (session_at(s, i)->kind == RUN_SWEEP && !session_at(s, i)->deleted) {
            report_svg(session_at(s, i), out);
            return;
        }
}

static const struct { const char *name; void (*put)(struct session *s, struct buf *out); } formats[] = {
    { "md", put_md }, { "csv", put_csv }, { "json", put_json }, { "svg", put_newest_svg }, { "html", put_html },
};

static enum status write_report(const struct args *a, struct session *s, struct diags *ds)
{
    const char *format = a->format ? a->format : a->json ? "json" : "md";
    struct buf out = { 0 };
    size_t i = 0;
    while (i < ARRAY_LEN(formats) && strcmp(formats[i].name, format) != 0)
        i++;
    if (i == ARRAY_LEN(formats)) {
        diag_error(ds, "usage", "no report format '%s': md, csv, json, svg, html", format);
        return ST_USAGE;
    }
    formats[i].put(s, &out);
    enum status st = ST_OK;
    if (!out.n) {
        diag_error(ds, "report", "the session holds nothing to show as %s", format);
        st = ST_INPUT;
    } else if (a->output)
        st = file_write_atomic(a->output, out.s, out.n, ds);
    else
        cmd_put(&out);
    buf_free(&out);
    return st;
}

int cmd_report(struct args *a)
{
    struct diags ds = { 0 };
    struct session *s = NULL;
    if (!a->nfiles) {
        diag_error(&ds, "usage", "which session?");
        return cmd_finish(ST_USAGE, &ds);
    }
    enum status st = session_load(a->file[0], &s, &ds);
    if (st == ST_OK)
        st = write_report(a, s, &ds);
    session_free(s);
    return cmd_finish(st, &ds);
}
