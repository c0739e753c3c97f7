/* lesson_page: see lesson_page.h. */
#include "engine/session/run.h"
#include "tui/term/lesson_page.h"

#include "engine/base/json_write.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/counter_ids.h"
#include "engine/report/report.h"
#include "engine/session/lesson.h"
#include "tui/base/text.h"
#include "tui/draw/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Of lesson_page.js: the one script that a browser may run here. tests/cli/lessons.sh compares it. */
#define SCRIPT_HASH "sha256-ZcbyHRyCnHfNOaatmKTsl8etVz5jG7VlNv/M8CMVnJM="

static void put_part(struct buf *out, const char *name)
{
    for (const struct embed_file *f = page_files; f->name; f++)
        if (!strcmp(f->name, name))
            buf_put(out, (const char *)f->data, f->n);
}

void lesson_page_begin(struct buf *out, const struct lesson *l)
{
    buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "style-src 'unsafe-inline'; script-src '" SCRIPT_HASH "'\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    report_xml(out, l->title);
    buf_puts(out, "</title>\n<style>\n");
    put_part(out, "lesson_page.css");
    buf_puts(out, "</style>\n</head>\n<body>\n<main>\n<h1>");
    if (l->number > 0)
        buf_printf(out, "Lesson %d: ", l->number);
    report_xml(out, l->title);
    buf_puts(out, "</h1>\n<p class=\"about\">Kernel file ");
    report_xml(out, l->file);
    if (l->device) {
        buf_puts(out, ", device ");
        report_xml(out, l->device);
    }
    buf_puts(out, ". Every curve says whether its times are simulated or measured. To take the lesson "
                  "with the program itself: gpulocw demo.</p>\n");
}

void lesson_page_step(struct buf *out, const struct lesson_step *s, unsigned number, const char *text,
                      const char *task)
{
    buf_printf(out, "<section class=\"step\" id=\"step-%u\">\n<h2>Step %u</h2>\n<p>", number, number);
    report_xml(out, text);
    buf_puts(out, "</p>\n");
    if (!task)
        return;
    buf_puts(out, "<p class=\"task\"><b>Task:</b> ");
    report_xml(out, task);
    buf_puts(out, "</p>\n");
    if (!s->ncommands)
        return;
    buf_puts(out, "<details class=\"how\"><summary>As commands</summary><pre>");
    for (unsigned k = 0; k < s->ncommands; k++) {
        buf_puts(out, ":");
        report_xml(out, s->commands[k]);
        buf_puts(out, "\n");
    }
    buf_puts(out, "</pre></details>\n");
}

/* ---- curves ---- */
static double value_of(const struct result *r, enum counter_id c)
{
    return report_has_time(r) ? result_counter(r, c) : (double)NAN;
}

static double time_of(const struct result *r)
{
    return report_has_time(r) ? (double)result_time(r)->median : (double)NAN;
}

static void put_point(struct jw *w, const struct tune_sweep *s, size_t i)
{
    const struct result *r = result_at(s->points, i);
    char name[64];
    report_point_name(s, i, name, sizeof name);
    jw_obj(w);
    jw_put_str(w, "name", name);
    jw_put_num(w, "time_ns", time_of(r));
    jw_put_num(w, "l1_hit", value_of(r, COUNTER_L1_HIT_RATE));
    jw_put_num(w, "dram_bytes", value_of(r, COUNTER_DRAM_READ_BYTES));
    jw_key(w, "equal");
    equality_known(result_equal(r)) ? jw_bool(w, result_equal(r) != EQUAL_NO) : jw_null(w);
    jw_end_obj(w);
}

static void put_data(struct buf *out, const struct session_run *r, unsigned number)
{
    const struct tune_sweep *s = &r->sweep;
    struct jw w = jw_open(out, 0);
    char label[PTX_LABEL];
    jw_obj(&w);
    jw_put_uint(&w, "run", number);
    jw_put_str(&w, "kernel", ptx_label(r->kernel, label));
    jw_put_str(&w, "device", r->dev.name);
    jw_put_str(&w, "origin", report_evidence(r));
    jw_put_str(&w, "axis", s->axis);
    jw_put_num(&w, "cha_ns", time_of(s->cha));
    jw_put_num(&w, "bpa_ns", time_of(s->bpa));
    jw_key(&w, "best");
    s->has_best ? jw_uint(&w, s->best) : jw_null(&w);
    jw_put_arr(&w, "points");
    for (size_t i = 0; i < s->npoints; i++)
        put_point(&w, s, i);
    jw_end_arr(&w);
    jw_end_obj(&w);
}

/* JSON in a script element: nothing in it may end the element or begin a comment. */
static void put_quoted(struct buf *out, const struct buf *json)
{
    for (size_t i = 0; i < json->n; i++)
        if (strchr("<>&", json->s[i]) && json->s[i])
            buf_printf(out, "\\u%04x", (unsigned char)json->s[i]);
        else
            buf_put(out, json->s + i, 1);
    out->oom = out->oom || json->oom;
}

static void put_table(struct buf *out, const struct tune_sweep *s)
{
    buf_puts(out, "<details class=\"points\"><summary>The points as a table</summary><table>"
                  "<tr><th>");
    report_xml(out, s->axis);
    buf_puts(out, "</th><th>time</th><th>L1 hits</th><th>same results</th></tr>\n");
    for (size_t i = 0; i < s->npoints; i++) {
        const struct result *r = result_at(s->points, i);
        double hit = value_of(r, COUNTER_L1_HIT_RATE);
        char name[64], t[TEXT_NUM], h[TEXT_NUM];
        report_point_name(s, i, name, sizeof name);
        text_time(t, time_of(r));
        text_percent(h, hit);
        buf_puts(out, "<tr><td>");
        report_xml(out, name);
        buf_printf(out, "</td><td>%s</td><td>%s</td><td>%s</td></tr>\n", t, h, report_equal(r));
    }
    buf_puts(out, "</table></details>\n");
}

void lesson_page_curve(struct buf *out, const struct session_run *r, unsigned number)
{
    struct buf json = { 0 };
    char label[PTX_LABEL];
    put_data(&json, r, number);
    buf_printf(out, "<figure class=\"curve\" id=\"run-%u\">\n<figcaption>Run %u: ", number, number);
    report_xml(out, ptx_label(r->kernel, label));
    buf_puts(out, " on ");
    report_xml(out, r->dev.name);
    buf_printf(out, " (%s)</figcaption>\n<div class=\"plot\">", report_evidence(r));
    report_sweep_time(r, out); /* shown where scripts are off */
    buf_puts(out, "</div>\n<script type=\"application/json\">");
    put_quoted(out, &json);
    buf_puts(out, "</script>\n");
    put_table(out, &r->sweep);
    buf_puts(out, "</figure>\n");
    buf_free(&json);
}

void lesson_page_screen(struct buf *out, const struct surface *s, const struct theme *theme,
                        unsigned number)
{
    buf_puts(out, "<details class=\"screen\"><summary>The screen of the program then</summary>\n"
                  "<div class=\"term\">");
    picture_svg(s, theme, false, out);
    buf_printf(out, "</div></details>\n<!-- screen %u -->\n", number);
}

void lesson_page_step_end(struct buf *out)
{
    buf_puts(out, "</section>\n");
}

void lesson_page_end(struct buf *out)
{
    buf_puts(out, "</main>\n<script>");
    put_part(out, "lesson_page.js");
    buf_puts(out, "</script>\n</body>\n</html>\n");
}
