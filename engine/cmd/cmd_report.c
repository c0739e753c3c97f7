/* report: a session as Markdown, CSV, JSON, SVG or a self-contained HTML page. */
#include "engine/base/shown.h"
#include "engine/cmd/cmd_int.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/knobs.h"
#include "engine/report/report.h"
#include "engine/session/documents.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <string.h>

/* ---- tables ---- */
struct csv {
    size_t run;
    const struct session_run *s;
    struct buf *out;
};

/* RFC 4180: quoted, a quote twice. What a spreadsheet would take for a formula begins with an
 * apostrophe. `ours`: options ("--pi 3"), which no file words. */
static void csv_text(struct buf *out, const char *text, bool ours)
{
    buf_puts(out, *text && strchr("=+-@\t\r\n", *text) && !ours ? "\"'" : "\"");
    for (const char *s = text; *s; s++)
        buf_printf(out, *s == '"' ? "\"%c" : "%c", *s);
    buf_puts(out, "\",");
}

static void csv_row(void *ctx, const struct result *r)
{
    const struct csv *c = ctx;
    struct buf *out = c->out, line = { 0 };
    options_line(result_options(r), &line);
    buf_printf(out, "%zu,", c->run + 1);
    csv_text(out, c->s->kernel, false);
    csv_text(out, c->s->dev.spec, false);
    csv_text(out, line.n ? line.s : "", true);
    if (report_has_time(r))
        buf_printf(out, "%lld,%lld,%lld,%s", (long long)result_time(r)->median,
                   (long long)result_time(r)->min, (long long)result_time(r)->max,
                   origin_name(result_time(r)->origin));
    else
        buf_puts(out, ",,,");
    buf_printf(out, ",%s", !equality_known(result_equal(r)) ? "" : report_equal(r));
    for (int k = 0; k < COUNTER_COUNT; k++) {
        buf_puts(out, ",");
        if (result_counters(r)[k].valid)
            buf_printf(out, "%.10g", result_counters(r)[k].value);
    }
    buf_puts(out, "\n");
    buf_free_checked(&line, out);
}

static void put_csv(struct session *s, struct buf *out)
{
    buf_puts(
        out,
        "run,kernel,device,options,time_ns_median,time_ns_min,time_ns_max,origin,equal_to_original");
    for (int c = 0; c < COUNTER_COUNT; c++)
        buf_printf(out, ",%s", counter_name((enum counter_id)c));
    buf_puts(out, "\n");
    for (size_t i = 0; i < session_count(s); i++) {
        struct csv c = { i, session_look(s, i), out };
        if (c.s && !c.s->deleted)
            report_each(c.s, csv_row, &c);
        session_rest(s, i);
    }
}

static void put_md(struct session *s, struct buf *out)
{
    report_page(s, &report_markdown, NULL, out);
}
static void put_html(struct session *s, struct buf *out)
{
    report_page(s, &report_html, NULL, out);
}

static void put_json(struct session *s, struct buf *out)
{
    for (size_t i = session_count(s); i-- > 0;) {
        const struct session_run *r = session_look(s, i);
        if (!r || r->deleted)
            continue;
        if (r->kind == RUN_SWEEP)
            json_sweep(&r->sweep, r->proof, &r->dev, r->kernel, r->race, out);
        else if (r->kind == RUN_ONE)
            json_result(r->one, &r->dev, r->kernel, r->race, NULL, r->proof, out);
        else
            json_found(r->found, NULL, 0, r->trail, r->ntrail, &r->dev, r->kernel, r->race, out);
        return; /* one document: the newest run */
    }
}

static void put_svg(struct session *s, struct buf *out)
{
    report_picture(s, NULL, out);
}

static const struct {
    const char *name;
    void (*put)(struct session *s, struct buf *out);
} formats[] = {
    { "md", put_md }, { "csv", put_csv }, { "json", put_json }, { "svg", put_svg }, { "html", put_html },
};

static enum status write_report(const struct args *a, struct session *s, struct diags *ds)
{
    const char *format = a->format ? a->format : a->json ? "json" : "md";
    struct buf out = { 0 };
    size_t i = 0;
    while (i + 1 < ARRAY_LEN(formats) && strcmp(formats[i].name, format) != 0)
        i++;
    formats[i].put(s, &out);
    buf_show_from(&out, 0);
    enum status st = ST_OK;
    if (out.oom) {
        st = ST_NOMEM;
    } else if (!out.n) {
        diag_error(ds, "report", "the session has nothing to show as %s", format);
        st = ST_INPUT;
    } else if (a->output) {
        bool page = strcmp(format, "json") != 0 && strcmp(format, "csv") != 0;
        buf_puts(&out, page ? WORKSPACE_MARK_PAGE "\n" : "");
        st = out.oom ? ST_NOMEM : file_write_atomic(a->output, out.s, out.n, ds);
    } else
        cmd_give(a, &out);
    return st;
}

int cmd_report(struct args *a)
{
    struct diags ds = { 0 };
    struct session *s = NULL;
    if (!a->nfiles) {
        diag_error(&ds, "usage", "no session given");
        return cmd_finish(a, ST_USAGE, &ds);
    }
    enum status st = session_load(a->file[0], &s, &ds);
    if (st == ST_OK)
        st = write_report(a, s, &ds);
    if (s && session_trouble(s, &ds) && st == ST_OK)
        st = ST_INPUT;
    session_free(s);
    return cmd_finish(a, st, &ds);
}
