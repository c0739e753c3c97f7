/* Results as text for a terminal, as JSON and as Markdown. */
#include "engine/paper/paper_int.h"
#include "engine/base/json_write.h"
#include "engine/paper/claim.h"
#include "engine/session/document.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BAR_LEAST = 12, BAR_MOST = 60, LINES_MOST = 20 };

static bool has(struct paper_value v)
{
    return v.ours_text || v.ours == v.ours;
}
static bool beside(struct paper_value v)
{
    return v.paper_text || v.paper == v.paper;
}

void paper_put_value(struct buf *out, double v, const char *text)
{
    if (text)
        buf_puts(out, text);
    else if (v != v)
        buf_puts(out, "n/a");
    else if (v == floor(v) && fabs(v) < 1e9)
        buf_printf(out, "%.0f", v);
    else
        buf_printf(out, fabs(v) < 10 ? "%.3f" : "%.2f", v);
}

/* ---- the list ---- */
void paper_list_text(struct buf *out)
{
    const char *last = "";
    for (size_t i = 0; i < paper_count(); i++) {
        const struct paper_experiment *e = paper_at(i);
        const char *of = paper_source(e->id);
        if (strcmp(of, last) != 0)
            buf_printf(out, "%s%s\n", i ? "\n" : "", of);
        last = of;
        buf_printf(out, "  %-11s %s\n", e->id, e->title);
    }
    buf_puts(out, "\ngpulocw paper ID runs one on the simulated device of the paper's platform, -d "
                  "cuda:0 on a GPU.\n");
}

void paper_list_json(struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-papers", 2);
    jw_put_arr(&w, "experiments");
    for (size_t i = 0; i < paper_count(); i++) {
        const struct paper_experiment *e = paper_at(i);
        const char *const field[][2] = {
            { "id", e->id },
            { "title", e->title },
            { "paper", paper_source(e->id) },
            { "platforms", e->platforms },
            { "shows", paper_kind_name(e->kind) },
            { "value", e->what },
            { "reason", e->reason },
        };
        jw_obj(&w);
        for (size_t k = 0; k < ARRAY_LEN(field); k++) {
            jw_put_str(&w, field[k][0], field[k][1]);
        }
        jw_end_obj(&w);
    }
    jw_end_arr(&w);
    document_close(&w);
}

static size_t figures_of(const char *id, struct buf *where)
{
    size_t n = 0;
    const char *last = "";
    for (size_t i = 0; i < paper_figure_count(); i++) {
        const struct paper_figure *f = paper_figure_at(i);
        if (strcmp(f->id, id) != 0)
            continue;
        n++;
        if (strcmp(f->where, last) != 0 && !strstr(where->s ? where->s : "", f->where))
            buf_printf(where, "%s%s", where->n ? "; " : "", f->where);
        last = f->where;
    }
    return n;
}

static void list_apps_md(struct buf *out)
{
    buf_puts(
        out,
        "\n## Applications\n\nWritten here from the algorithm; `block` and `class` as the paper's "
        "text has them. Kernels: `kernels/*.cu`.\n\n| application | from | papers | block | kernel | "
        "launch | class |\n|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < paper_app_count(); i++) {
        const struct paper_app *a = paper_app_at(i);
        buf_printf(out, "| %s: %s | %s | %s | %s | %s | %s | %s |\n", a->abbr, a->name, a->suite, a->in,
                   a->block ? a->block : "", a->file, a->launch ? a->launch : "default",
                   a->class_ ? a->class_ : "");
    }
}

static void put_evidence(const char *id, struct buf *out)
{
    size_t n;
    const struct evidence *evidence = claim_evidence(&n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(evidence[i].id, id) == 0) {
            buf_printf(out, "%s, %s", evidence[i].what, evidence[i].date);
            return;
        }
    buf_puts(out, "no run is recorded");
}

/* What cannot agree, sentence by sentence: each once, by its number. */
struct reasons {
    struct str v[64];
    size_t n;
};

static size_t reason_number(struct reasons *r, struct str one)
{
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].n == one.n && memcmp(r->v[i].s, one.s, one.n) == 0)
            return i + 1;
    if (r->n == ARRAY_LEN(r->v))
        return 0;
    r->v[r->n++] = one;
    return r->n;
}

static void put_reasons(struct reasons *r, const char *s, struct buf *out)
{
    for (const char *p = s; p && *p;) {
        const char *end = strstr(p, "; ");
        size_t n = end ? (size_t)(end - p) : strlen(p);
        buf_printf(out, "%s%zu", p > s ? ", " : "", reason_number(r, (struct str){ p, n }));
        p += n + (end ? 2 : 0);
    }
}

void paper_list_md(struct buf *out)
{
    struct reasons reasons = { .n = 0 };
    buf_puts(out,
             "# Figures and tables of the papers\n\nMade by `make papers` from the tables of "
             "`engine/paper`. `gpulocw paper ID` prints ours beside the paper's figures, and where its "
             "text has them. Numbers in the last column: what cannot agree, below.\n\n"
             "| ID | shows | platforms | figures in its text | recorded | not "
             "|\n|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < paper_count(); i++) {
        const struct paper_experiment *e = paper_at(i);
        struct buf where = { 0 };
        buf_printf(out, "| `%s` | %s | %s | %zu | ", e->id, e->title, e->platforms ? e->platforms : "",
                   figures_of(e->id, &where));
        put_evidence(e->id, out);
        buf_puts(out, " | ");
        put_reasons(&reasons, e->reason, out);
        buf_puts(out, " |\n");
        buf_free_checked(&where, out);
    }
    buf_puts(out, "\n");
    for (size_t i = 0; i < reasons.n; i++)
        buf_printf(out, "%zu. %.*s\n", i + 1, (int)reasons.v[i].n, reasons.v[i].s);
    list_apps_md(out);
}

/* ---- text ---- */
/* Of `n` series from `first` on. */
static double longest(const struct paper_result *r, size_t first, size_t n)
{
    double most = 0;
    for (size_t k = 0; k < r->nrows + r->nmeans; k++)
        for (size_t s = first; s < first + n; s++) {
            const struct paper_row *x = k < r->nrows ? &r->row[k] : &r->mean[k - r->nrows];
            double v = x->v[s].ours;
            most = v == v && v > most ? v : most;
            v = x->v[s].paper;
            most = v == v && v > most ? v : most;
        }
    return most;
}

/* A bar of `v` of `most`, in eighths of a cell; the paper's figure as a mark over it. */
static void put_bar(double v, double paper, double most, unsigned width, bool utf8, struct buf *out)
{
    static const char *const eighth[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    double at = most > 0 && v == v && v > 0 ? v / most * width : 0;
    unsigned mark = paper == paper && most > 0 ? (unsigned)(paper / most * width) : UINT32_MAX;
    unsigned full = (unsigned)at, part = (unsigned)((at - full) * 8);
    mark = mark != UINT32_MAX && mark >= width ? width - 1 : mark;
    for (unsigned i = 0; i < width; i++)
        if (i == mark)
            buf_puts(out, utf8 ? "┃" : "|");
        else if (i < full)
            buf_puts(out, utf8 ? "█" : "#");
        else if (i == full && part && utf8)
            buf_puts(out, eighth[part]);
        else
            buf_puts(out, " ");
}

static const char *name_of(const struct paper_row *r)
{
    return r->application[0] ? r->application : r->point;
}

/* cells of a text as a terminal shows them: what is no continuation byte */
static unsigned cells(const char *s)
{
    unsigned n = 0;
    for (; *s; s++)
        n += ((unsigned char)*s & 0xC0) != 0x80;
    return n;
}

static void put_padded(struct buf *out, const char *s, unsigned width)
{
    buf_puts(out, s);
    for (unsigned n = cells(s); n < width; n++)
        buf_puts(out, " ");
}

struct layout {
    unsigned name, point, series, at, bar;
    double most[PAPER_SERIES]; /* of the axis of each series */
    bool utf8, words;
};

size_t paper_unit_of(const struct paper_result *r, size_t first)
{
    enum paper_kind k = r->of->kind;
    if (k == PAPER_CURVE)
        return first == 0 ? 3 : 1;
    if (k == PAPER_CONFIGS && r->of->also) {
        size_t half = (r->nseries + r->of->best) / 2;
        return first < half ? half - first : r->nseries - first;
    }
    if (k == PAPER_COALESCE && r->nseries - first == 2 && strcmp(r->series[first], "expected") == 0)
        return 2;
    if (k == PAPER_VOTES) /* what is elected; times over the best's; launches */
        return first < 4 ? 4 - first : first < 7 ? 7 - first : 1;
    if (k == PAPER_COALESCE || k == PAPER_LINES || k == PAPER_SHARES || k == PAPER_LATENCY ||
        k == PAPER_DISTANCES)
        return 1;
    return r->nseries - first;
}

static struct layout layout_of(const struct paper_result *r, unsigned width, bool utf8)
{
    struct layout l = { .name = 4, .series = 4, .utf8 = utf8 };
    for (size_t i = 0; i < r->nrows; i++) {
        unsigned n = cells(r->row[i].application), p = cells(r->row[i].point);
        l.name = n > l.name ? n : l.name;
        l.point = p > l.point ? p : l.point;
        l.words |= r->row[i].v[0].ours_text != NULL;
        for (size_t s = 0; s < r->nseries; s++) {
            n = cells(r->row[i].v[s].at);
            l.at = n > l.at ? n : l.at;
        }
    }
    for (size_t i = 0; i < r->nseries; i++)
        l.series = cells(r->series[i]) > l.series ? cells(r->series[i]) : l.series;
    for (size_t i = 0, n; i < r->nseries; i += n) {
        n = paper_unit_of(r, i);
        for (size_t k = 0; k < n; k++)
            l.most[i + k] = k ? l.most[i] : longest(r, i, n);
    }
    unsigned taken = l.name + l.point + l.series + l.at + 30;
    l.bar = width > taken + BAR_LEAST ? width - taken : BAR_LEAST;
    l.bar = l.bar > BAR_MOST ? BAR_MOST : l.bar;
    return l;
}

static void put_line(const struct paper_result *r, const struct paper_row *x, size_t s,
                     const struct layout *l, bool first, struct buf *out)
{
    struct buf v = { 0 };
    put_padded(out, first ? x->application : "", l->name + 1);
    put_padded(out, first ? (x->point[0] ? x->point : "") : "", l->point + (l->point > 0));
    put_padded(out, r->series[s], l->series + 1);
    paper_put_value(&v, x->v[s].ours, x->v[s].ours_text);
    put_padded(out, v.s ? v.s : "", 10);
    put_padded(out, x->v[s].at, l->at + (l->at > 0));
    if (!x->v[s].ours_text && !l->words)
        put_bar(x->v[s].ours, x->v[s].paper, l->most[s], l->bar, l->utf8, out);
    if (beside(x->v[s])) {
        buf_clear(&v);
        paper_put_value(&v, x->v[s].paper, x->v[s].paper_text);
        buf_printf(out, " paper %s", v.s ? v.s : "");
    }
    while (out->n && out->s[out->n - 1] == ' ')
        out->s[--out->n] = 0;
    if (first && x->waves == x->waves)
        buf_printf(out, "  %.1f waves", x->waves);
    buf_puts(out, "\n");
    buf_free_checked(&v, out);
}

/* many series: one line of heights */
static void put_heights(const struct paper_result *r, const struct paper_row *x, const struct layout *l,
                        struct buf *out)
{
    static const char *const h[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    double most = 0;
    for (size_t s = 0; s < r->nseries; s++)
        most = x->v[s].ours > most ? x->v[s].ours : most;
    put_padded(out, x->application, l->name + 1);
    for (size_t s = 0; s < r->nseries; s++) {
        double v = x->v[s].ours;
        int k = most > 0 && v > 0 ? (int)ceil(v / most * 8) : 0;
        if (l->utf8)
            buf_puts(out, h[k]);
        else
            buf_printf(out, "%d", k);
    }
    buf_printf(out, "  most %.2f\n", most);
}

static void put_row(const struct paper_result *r, const struct paper_row *x, const struct layout *l,
                    struct buf *out)
{
    bool first = true, any = false;
    for (size_t s = 0; s < r->nseries; s++)
        any |= has(x->v[s]) || beside(x->v[s]);
    if (r->nseries > LINES_MOST) {
        put_heights(r, x, l, out);
        any = true;
    }
    for (size_t s = 0; s < r->nseries && r->nseries <= LINES_MOST && any; s++) {
        put_line(r, x, s, l, first, out);
        first = false;
    }
    if (!any) {
        put_padded(out, name_of(x), l->name + 1);
        buf_puts(out, " n/a\n");
    }
    if (x->note[0])
        buf_printf(out, "%*s(%s)\n", (int)l->name + 1, "", x->note);
}

static void put_means(const struct paper_result *r, const char *platform, const struct layout *l,
                      struct buf *out)
{
    for (size_t i = 0; i < r->nmeans; i++) {
        struct paper_row m = r->mean[i];
        if (m.platform != platform)
            continue;
        buf_printf(out, "%s%s\n", m.group[0] ? "mean of class " : "", m.group);
        put_row(r, &m, l, out);
    }
}

static void put_facts(const struct paper_result *r, struct buf *out)
{
    for (size_t i = 0; i < r->nfacts; i++) {
        const struct paper_fact *f = &r->fact[i];
        buf_printf(out, "%s%s: ", i ? "" : "\n", f->name);
        paper_put_value(out, f->v.ours, f->v.ours_text);
        if (beside(f->v)) {
            buf_puts(out, "  (paper ");
            paper_put_value(out, f->v.paper, f->v.paper_text);
            buf_puts(out, ")");
        }
        buf_puts(out, "\n");
    }
}

static void put_where(const struct paper_result *r, struct buf *out)
{
    struct buf where = { 0 };
    if (figures_of(r->of->id, &where))
        buf_printf(out, "the paper's figures: %s\n", where.s ? where.s : "");
    buf_free_checked(&where, out);
}

void paper_text(const struct paper_result *r, unsigned width, bool utf8, struct buf *out)
{
    struct layout l = layout_of(r, width, utf8);
    const char *platform = NULL;
    buf_printf(out, "%s: %s\n%s; %s\n", r->of->id, r->of->title, paper_source(r->of->id), r->of->what);
    if (r->quick)
        buf_puts(out, "--quick: a part of the experiment, to try it out\n");
    for (size_t i = 0; i < r->nrows; i++) {
        const struct paper_row *x = &r->row[i];
        if (!i || x->platform != platform) {
            if (i)
                put_means(r, platform, &l, out);
            buf_printf(out, "%s%s%s\n", x->platform ? "\n" : "",
                       x->platform && strncmp(x->platform, "cuda:", 5) != 0 ? "sim:" : "",
                       x->platform ? x->platform : "");
        }
        platform = x->platform;
        put_row(r, x, &l, out);
    }
    if (r->nrows)
        put_means(r, platform, &l, out);
    put_facts(r, out);
    buf_puts(out, "\n");
    put_where(r, out);
    if (r->of->reason)
        buf_printf(out, "what cannot agree: %s\n", r->of->reason);
    buf_printf(out, "%.1f s\n", r->seconds);
}

/* ---- JSON ---- */
static void json_one(struct jw *w, double v, const char *text)
{
    if (text)
        jw_str(w, text);
    else
        jw_num(w, v);
}

static void json_value(struct jw *w, struct paper_value v)
{
    jw_obj(w);
    jw_key(w, "ours");
    json_one(w, v.ours, v.ours_text);
    jw_key(w, "paper");
    json_one(w, v.paper, v.paper_text);
    if (v.at[0])
        jw_put_str(w, "at", v.at);
    jw_end_obj(w);
}

static void json_series(struct jw *w, const char *key, const struct paper_result *r,
                        const struct paper_row *x)
{
    jw_put_obj(w, key);
    for (size_t s = 0; x && s < r->nseries; s++) {
        jw_key(w, r->series[s]);
        json_value(w, x->v[s]);
    }
    jw_end_obj(w);
}

static const char *or_null(const char *s)
{
    return s[0] ? s : NULL;
}

static void json_row(struct jw *w, const struct paper_result *r, const struct paper_row *x)
{
    jw_obj(w);
    jw_put_str(w, "application", or_null(x->application));
    jw_put_str(w, "platform", x->platform);
    jw_put_str(w, "point", or_null(x->point));
    jw_put_str(w, "class", or_null(x->group));
    jw_put_num(w, "waves", x->waves);
    json_series(w, "series", r, x);
    jw_put_str(w, "note", or_null(x->note));
    jw_end_obj(w);
}

static void json_mean(struct jw *w, const struct paper_result *r, const struct paper_row *x)
{
    jw_obj(w);
    jw_put_str(w, "platform", x->platform);
    jw_put_str(w, "class", or_null(x->group));
    json_series(w, "series", r, x);
    jw_end_obj(w);
}

static void json_head(struct jw *w, const struct paper_result *r)
{
    static const char *const mean[] = { "none", "geometric", "arithmetic" };
    const char *const field[][2] = {
        { "id", r->of->id },      { "title", r->of->title },   { "paper", paper_source(r->of->id) },
        { "value", r->of->what }, { "reason", r->of->reason }, { "mean", mean[r->of->mean] }
    };
    for (size_t i = 0; i < ARRAY_LEN(field); i++) {
        jw_put_str(w, field[i][0], field[i][1]);
    }
    jw_put_bool(w, "quick", r->quick);
    jw_put_num(w, "wall_s", r->seconds);
}

void paper_json(const struct paper_result *r, struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-paper", 3);
    const struct paper_row *whole = NULL;
    json_head(&w, r);
    jw_put_arr(&w, "rows");
    for (size_t i = 0; i < r->nrows; i++)
        json_row(&w, r, &r->row[i]);
    jw_end_arr(&w);
    for (size_t i = r->nmeans; i-- > 0;)
        if (!r->mean[i].group[0])
            whole = &r->mean[i];
    json_series(&w, "geomean", r, whole && r->of->mean == PAPER_MEAN_GEOMETRIC ? whole : NULL);
    jw_put_arr(&w, "means");
    for (size_t i = 0; i < r->nmeans; i++)
        json_mean(&w, r, &r->mean[i]);
    jw_end_arr(&w);
    jw_put_arr(&w, "facts");
    for (size_t i = 0; i < r->nfacts; i++) {
        jw_obj(&w);
        jw_put_str(&w, "name", r->fact[i].name);
        jw_key(&w, "ours");
        json_one(&w, r->fact[i].v.ours, r->fact[i].v.ours_text);
        jw_key(&w, "paper");
        json_one(&w, r->fact[i].v.paper, r->fact[i].v.paper_text);
        jw_end_obj(&w);
    }
    jw_end_arr(&w);
    document_close(&w);
}

/* ---- Markdown ---- */
static void md_cell(struct buf *out, struct paper_value v)
{
    buf_puts(out, " ");
    paper_put_value(out, v.ours, v.ours_text);
    if (v.at[0])
        buf_printf(out, " at %s", v.at);
    if (beside(v)) {
        buf_puts(out, " (");
        paper_put_value(out, v.paper, v.paper_text);
        buf_puts(out, ")");
    }
    buf_puts(out, " |");
}

static void md_row(const struct paper_result *r, const struct paper_row *x, struct buf *out)
{
    buf_printf(out, "| %s%s%s%s%s | %s |", x->application, x->application[0] && x->point[0] ? ", " : "",
               x->point, x->application[0] && r->of->by_class && x->group[0] ? ", " : "",
               r->of->by_class ? x->group : "", x->platform ? x->platform : "");
    for (size_t s = 0; s < r->nseries; s++)
        md_cell(out, x->v[s]);
    buf_printf(out, " %s |\n", x->note);
}

void paper_md(const struct paper_result *r, struct buf *out)
{
    buf_printf(out, "# %s: %s\n\n%s; %s. In brackets: the paper's figure.\n\n| application | platform |",
               r->of->id, r->of->title, paper_source(r->of->id), r->of->what);
    for (size_t s = 0; s < r->nseries; s++)
        buf_printf(out, " %s |", r->series[s]);
    buf_puts(out, " note |\n|---|---|");
    for (size_t s = 0; s < r->nseries; s++)
        buf_puts(out, "---|");
    buf_puts(out, "---|\n");
    for (size_t i = 0; i < r->nrows; i++)
        md_row(r, &r->row[i], out);
    for (size_t i = 0; i < r->nmeans; i++)
        md_row(r, &r->mean[i], out);
    for (size_t i = 0; i < r->nfacts; i++) {
        buf_printf(out, "%s- %s:", i ? "" : "\n", r->fact[i].name);
        buf_puts(out, " ");
        paper_put_value(out, r->fact[i].v.ours, r->fact[i].v.ours_text);
        if (beside(r->fact[i].v)) {
            buf_puts(out, " (paper ");
            paper_put_value(out, r->fact[i].v.paper, r->fact[i].v.paper_text);
            buf_puts(out, ")");
        }
        buf_puts(out, "\n");
    }
    if (r->of->reason)
        buf_printf(out, "\nWhat cannot agree: %s.\n", r->of->reason);
}
