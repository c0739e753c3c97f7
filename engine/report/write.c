/* The two formats of a page: see report.h. */
#include "engine/report/report.h"

#include <string.h>

/* ---- Markdown ---- */
/* Names of files stay words: no tag, no link, no picture; a newline is a space where `line` says so. */
static void md_text(struct buf *out, const char *text, bool line)
{
    for (const char *s = text; *s; s++)
        if (*s == '<')
            buf_puts(out, "&lt;");
        else if (s > text && s[-1] == ']' && (*s == '(' || *s == ':'))
            buf_printf(out, "\\%c", *s);
        else
            buf_put(out, line && *s == '\n' ? " " : s, 1);
}

static void md_begin(struct buf *out, const char *title)
{
    buf_puts(out, "# ");
    md_text(out, title, true);
    buf_puts(out, "\n");
}

static void md_para(struct buf *out, const char *text)
{
    buf_puts(out, "\n");
    md_text(out, text, false);
    buf_puts(out, "\n");
}

static void md_heading(struct buf *out, unsigned level, const char *text)
{
    buf_printf(out, "\n%.*s ", (int)level, "######");
    md_text(out, text, true);
    buf_puts(out, "\n");
}

static void md_pre(struct buf *out, const char *language, const char *text)
{
    size_t n = strlen(text), fence = 3;
    for (size_t i = 0, run = 0; i < n; i++) { /* the fence is longer than any in the text */
        run = text[i] == '`' ? run + 1 : 0;
        fence = run >= fence ? run + 1 : fence;
    }
    buf_puts(out, "\n");
    for (size_t i = 0; i < fence; i++)
        buf_puts(out, "`");
    buf_printf(out, "%s\n%s%s", language, text, n && text[n - 1] != '\n' ? "\n" : "");
    for (size_t i = 0; i < fence; i++)
        buf_puts(out, "`");
    buf_puts(out, "\n");
}

/* A bar or a newline would end the cell, a backtick the code in it. */
static void md_cell(struct buf *out, const char *text, const char *mark)
{
    struct buf plain = { 0 };
    bool code = *mark == '`';
    if (!code)
        md_text(&plain, text, true);
    buf_printf(out, " %s", mark);
    for (const char *s = code ? text : plain.s ? plain.s : ""; *s; s++)
        if (*s == '|')
            buf_puts(out, "\\|");
        else
            buf_put(out, code && *s == '`' ? "'" : *s == '\n' ? " " : s, 1);
    buf_free_checked(&plain, out);
    buf_printf(out, "%s |", mark);
}

static void md_head(struct buf *out, const char *const *cell, size_t n)
{
    buf_puts(out, "\n|");
    for (size_t i = 0; i < n; i++)
        md_cell(out, cell[i], "");
    buf_puts(out, "\n|");
    for (size_t i = 0; i < n; i++)
        buf_puts(out, "---|");
    buf_puts(out, "\n");
}

static void md_row(struct buf *out, const char *const *cell, size_t n, bool code, bool bold)
{
    buf_puts(out, "|");
    for (size_t i = 0; i < n; i++)
        md_cell(out, cell[i], !i && code ? "`" : bold ? "**" : "");
    buf_puts(out, "\n");
}

static void md_none(struct buf *out)
{
    (void)out;
}
static void md_svg(struct buf *out, const char *svg)
{
    (void)out;
    (void)svg;
}
static void md_fold(struct buf *out, const char *summary)
{
    buf_puts(out, "\n"), md_text(out, summary, true), buf_puts(out, ":\n");
}

const struct report_writer report_markdown = {
    .begin = md_begin,
    .heading = md_heading,
    .para = md_para,
    .pre = md_pre,
    .head = md_head,
    .row = md_row,
    .tail = md_none,
    .svg = md_svg,
    .fold = md_fold,
    .unfold = md_none,
    .end = md_none,
    .plots = true,
};

/* ---- HTML: one file, nothing fetched ---- */
static const char style[] =
    "body{font:15px/1.45 sans-serif;max-width:64em;margin:2em auto;padding:0 "
    "1em;color:#222;background:#fff}"
    "table{border-collapse:collapse;margin:1em 0}td,th{border:1px solid "
    "#ccc;padding:.2em .6em;text-align:right}"
    "th:first-child,td:first-child,td.t{text-align:left}h1,h2,p{overflow-wrap:anywhere}tr.best{"
    "background:#e2f4ee;font-weight:bold}"
    "pre{background:#f6f6f6;border:1px solid "
    "#ddd;padding:.6em;overflow-x:auto;white-space:pre-wrap;font-size:13px}pre "
    ".add{color:#006b4f}pre .del{color:#a33b00}pre .at{color:#666}"
    "svg{display:block;max-width:100%;height:auto}figure{margin:0}summary{cursor:pointer;"
    "margin:.6em 0}"
    /* a phone: a wide table is pushed aside in itself; paper: all of it, on A4 */
    "@media(max-width:50em){body{margin:0 auto;padding:0 .6em}"
    "table,figure{display:block;overflow-x:auto}td,th{padding:.15em .4em}"
    "svg{max-width:none;width:34em}}" /* letters as large as can be read: pushed aside, too */
    "@media(min-width:50em){td:first-child{min-width:16em}}"
    "@media print{@page{size:A4;margin:14mm}body{max-width:none;margin:0;padding:0;"
    "font-size:11px}svg{max-height:85mm}table,svg,tr{break-inside:avoid}h2,h3{break-after:avoid}"
    "details::details-content{content-visibility:visible;height:auto}}";

static void html_begin(struct buf *out, const char *title)
{
    buf_puts(out, "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" "
                  "content=\"width=device-width,initial-scale=1\"><title>");
    report_xml(out, title);
    buf_printf(out, ": gpulocw report</title>\n<style>%s</style>\n<h1>", style);
    report_xml(out, title);
    buf_puts(out, "</h1>\n");
}

static void html_heading(struct buf *out, unsigned level, const char *text)
{
    buf_printf(out, "<h%u>", level);
    report_xml(out, text);
    buf_printf(out, "</h%u>\n", level);
}

static void html_para(struct buf *out, const char *text)
{
    buf_puts(out, "<p>");
    report_xml(out, text);
    buf_puts(out, "</p>\n");
}

/* Lines of a diff by their first character. */
static void html_diff(struct buf *out, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        const char *class = *text == '+' ? "add" : *text == '-' ? "del" : *text == '@' ? "at" : NULL;
        char *line = base_alloc(n + 1);
        out->oom = out->oom || !line;
        if (line)
            memcpy(line, text, n);
        if (class)
            buf_printf(out, "<span class=\"%s\">", class);
        report_xml(out, line ? line : "");
        buf_puts(out, class ? "</span>\n" : "\n");
        base_free(line);
        text += n + (text[n] == '\n');
    }
}

static void html_pre(struct buf *out, const char *language, const char *text)
{
    buf_puts(out, "<pre>");
    if (strcmp(language, "diff") == 0)
        html_diff(out, text);
    else
        report_xml(out, text);
    buf_puts(out, "</pre>\n");
}

static void html_cells(struct buf *out, const char *const *cell, size_t n, const char *tag, bool code)
{
    for (size_t i = 0; i < n; i++) {
        /* words and bars begin at the left, figures end at the right */
        bool words = i && tag[1] == 'd' && *cell[i] && !strchr("+-.0123456789", *cell[i]) &&
                     strcmp(cell[i], "n/a") != 0;
        buf_printf(out, "<%s%s>%s", tag, words ? " class=\"t\"" : "", !i && code ? "<code>" : "");
        report_xml(out, cell[i]);
        buf_printf(out, "%s</%s>", !i && code ? "</code>" : "", tag);
    }
    buf_puts(out, "</tr>\n");
}

static void html_head(struct buf *out, const char *const *cell, size_t n)
{
    buf_puts(out, "<table><tr>");
    html_cells(out, cell, n, "th", false);
}

static void html_row(struct buf *out, const char *const *cell, size_t n, bool code, bool bold)
{
    buf_puts(out, bold ? "<tr class=\"best\">" : "<tr>");
    html_cells(out, cell, n, "td", code);
}

static void html_fold(struct buf *out, const char *summary)
{
    buf_puts(out, "<details><summary>");
    report_xml(out, summary);
    buf_puts(out, "</summary>\n");
}

static void html_tail(struct buf *out)
{
    buf_puts(out, "</table>\n");
}
static void html_svg(struct buf *out, const char *svg)
{
    buf_printf(out, "<figure>%s</figure>\n", svg);
}
static void html_unfold(struct buf *out)
{
    buf_puts(out, "</details>\n");
}
static void html_end(struct buf *out)
{
    buf_puts(out, "</html>\n");
}

const struct report_writer report_html = {
    .begin = html_begin,
    .heading = html_heading,
    .para = html_para,
    .pre = html_pre,
    .head = html_head,
    .row = html_row,
    .tail = html_tail,
    .svg = html_svg,
    .fold = html_fold,
    .unfold = html_unfold,
    .end = html_end,
};
