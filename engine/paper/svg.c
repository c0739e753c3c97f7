/* svg: a result as one picture. Panels stand below each other: one for each platform, and one for each
 * series where their units differ; lines for the valley model, a panel of 32 words for each coalescing
 * graph, a table where values are words. Black marks are the paper's figures. Below: facts, and what
 * cannot agree. */
#include "engine/paper/paper_int.h"
#include "engine/report/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    LEFT = 70,
    RIGHT = 20,
    WIDTH = 760,
    HIGH = 170,    /* of what a panel plots */
    HEAD = 38,     /* of a panel: its name, and a value above a bar of full height */
    FOOT = 40,     /* names of its groups, aslant */
    FLAT = 30,     /* or level */
    LINE = 15,     /* of text */
    BAR_LEAST = 8, /* room for what it is of, upright */
    BAR_MOST = 30,
    VALUE_LEAST = 24, /* of a bar that has its value above it */
    GROUP_GAP = 10,
    LEVEL_LEAST = 84, /* of a group whose name stands level */
    COLUMN = 120,     /* of a table */
    LETTER = 7,       /* of a name, at most */
    SMALL = 5,        /* letter of what a bar is of */
    OVER_MOST =
        3, /* of an axis of configurations over the original: a bar beyond it is cut, with its value */
};
#define INK        "#222"
#define OVER_LINES "font-size=\"9\" paint-order=\"stroke\" stroke=\"#fff\" stroke-width=\"3\""
#define PALE       "#667"
#define MANY       1e5 /* written as so many millions */
static const char *const colours[] = { "#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756",
                                       "#72b7b2", "#9d755d", "#bab0ac", "#eeca3b" };

struct picture {
    const struct paper_result *r;
    struct buf *out;
    double y;
    unsigned width;
};

/* Rows of one platform, NULL: of all, which have one each; some of the series. only: that row alone, its
 * series side by side. */
struct panel {
    const struct paper_result *r;
    const char *platform;
    const struct paper_row *only;
    size_t first, n, groups;
    double top, step; /* of the axis */
    double y, group, bar;
    bool aslant;
};

static size_t row_count(const struct paper_result *r)
{
    return r->nrows + r->nmeans;
}

static const struct paper_row *row_at(const struct paper_result *r, size_t i)
{
    return i < r->nrows ? &r->row[i] : &r->mean[i - r->nrows];
}

static bool in_panel(const struct panel *p, const struct paper_row *x)
{
    return p->only ? x == p->only : !p->platform || x->platform == p->platform;
}

/* "sim:" before a preset's name, nothing before a GPU's */
static const char *kind_of(const char *platform)
{
    return platform && strncmp(platform, "cuda:", 5) != 0 ? "sim:" : "";
}

static bool is_mean(const struct paper_result *r, const struct paper_row *x)
{
    return r->nmeans && x >= r->mean && x < r->mean + r->nmeans;
}

static void put_text(struct buf *out, double x, double y, const char *more, const char *s)
{
    buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, more);
    report_xml(out, s);
    buf_puts(out, "</text>\n");
}

static void put_line(struct buf *out, double x1, double y1, double x2, double y2, const char *stroke)
{
    buf_printf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=%s/>\n", x1, y1, x2,
               y2, stroke);
}

/* ---- the axis ---- */
static double step_of(double most)
{
    static const double nice[] = { 1, 2, 2.5, 5, 10 };
    double unit = pow(10, floor(log10(most / 4)));
    for (size_t i = 0; i < ARRAY_LEN(nice); i++)
        if (nice[i] * unit * 4 >= most)
            return nice[i] * unit;
    return 10 * unit;
}

/* Values over a base of 1: a line there. */
static bool over_one(const struct panel *p)
{
    enum paper_kind k = p->r->of->kind;
    return k == PAPER_BARS || k == PAPER_COSTS || k == PAPER_SOFTCACHE ||
           (k == PAPER_CONFIGS && p->r->of->measure != PAPER_RATE && !p->first) ||
           (k == PAPER_CURVE && !p->first);
}

/* the same on every platform, so that they compare */
static void scale(struct panel *p)
{
    double most = 0;
    for (size_t i = 0; i < row_count(p->r); i++) {
        const struct paper_row *x = row_at(p->r, i);
        for (size_t s = p->first; (!p->only || x == p->only) && s < p->first + p->n; s++) {
            most = x->v[s].ours > most ? x->v[s].ours : most;
            most = x->v[s].paper > most ? x->v[s].paper : most;
        }
    }
    if (p->r->of->kind == PAPER_CONFIGS && over_one(p))
        most = fmin(most, OVER_MOST);
    p->step = most > 0 && isfinite(most) ? step_of(most) : 1;
    p->top = p->step * fmax(1, ceil(most / p->step - 1e-9));
}

static double y_of(const struct panel *p, double v)
{
    return p->y + HEAD + HIGH - v / p->top * HIGH;
}

/* Counts of instructions are millions: as they are they run into each other. */
static void number_of(double v, const char *small, char *text, size_t n)
{
    snprintf(text, n, v < MANY ? small : v < 1e7 ? "%.1f M" : "%.0f M", v < MANY ? v : v / 1e6);
}

static void put_axis(const struct panel *p, const struct picture *to)
{
    double right = (double)to->width - RIGHT;
    for (double v = 0; v <= p->top * (1 + 1e-9); v += p->step) {
        char text[32];
        number_of(v, "%.4g", text, sizeof text);
        put_line(to->out, LEFT, y_of(p, v), right, y_of(p, v), v > 0 ? "\"#e4e4e8\"" : "\"#889\"");
        put_text(to->out, LEFT - 6, y_of(p, v) + 4, "text-anchor=\"end\" fill=\"" PALE "\"", text);
    }
    if (over_one(p) && p->top >= 1)
        put_line(to->out, LEFT, y_of(p, 1), right, y_of(p, 1), "\"#889\" stroke-dasharray=\"4 3\"");
}

/* ---- bars ---- */
/* What a bar of this top is of, upright: in it, or above it where it is too low. */
static void put_at(const struct panel *p, double x, double top, const char *at, struct buf *out)
{
    char more[96];
    bool in = p->bar >= VALUE_LEAST || y_of(p, 0) - top >= SMALL * (double)strlen(at);
    double y = in ? y_of(p, 0) - 4 : top - 3;
    snprintf(more, sizeof more, "font-size=\"8\" fill=\"%s\" transform=\"rotate(-90 %.1f %.1f)\"",
             in ? "#fff" : INK, x, y);
    put_text(out, x, y, more, at);
}

static void put_bar(const struct panel *p, double x, struct paper_value v, size_t colour,
                    struct buf *out)
{
    char text[32];
    if (v.ours == v.ours && v.ours >= 0) {
        bool cut = v.ours > p->top * (1 + 1e-9);
        double y = y_of(p, cut ? p->top : v.ours);
        buf_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n", x,
                   y, p->bar - 1, y_of(p, 0) - y, colours[colour % ARRAY_LEN(colours)]);
        number_of(v.ours, v.ours < 1000 ? "%.3g" : "%.0f", text, sizeof text);
        if (v.at[0])
            put_at(p, x + p->bar / 2 + 3, y, v.at, out);
        double mark = v.paper == v.paper ? y_of(p, v.paper) : y; /* the value stands clear of the mark */
        if ((p->bar >= VALUE_LEAST || cut) && !p->only)
            put_text(out, x + p->bar / 2, (mark < y && mark > y - 14 ? mark : y) - 3,
                     "text-anchor=\"middle\" " OVER_LINES, text);
    } else if (!p->only) {
        put_text(out, x + p->bar / 2, y_of(p, 0) - 3,
                 "text-anchor=\"middle\" font-size=\"8\" fill=\"" PALE "\"", p->bar >= 14 ? "n/a" : "–");
    }
    if (v.paper == v.paper)
        put_line(out, x - 2, y_of(p, v.paper), x + p->bar + 1, y_of(p, v.paper),
                 "\"#000\" stroke-width=\"2.5\"");
}

static size_t name_of(const struct panel *p, const struct paper_row *x, char *name, size_t n)
{
    bool mean = is_mean(p->r, x);
    bool of = !p->only && !p->platform && x->platform;
    char waves[24] = "";
    if (!x->point[0] && x->waves == x->waves)
        snprintf(waves, sizeof waves, ", %.1f waves", x->waves);
    int put = snprintf(name, n, "%s%s%s%s%s%s%s%s%s", x->application,
                       x->application[0] && x->point[0] ? " " : "", x->point,
                       mean && x->group[0] ? " " : "", mean ? x->group : "", of ? ", " : "",
                       of ? kind_of(x->platform) : "", of ? x->platform : "", waves);
    return put > 0 ? (size_t)put : 0;
}

/* Names that do not fit beside each other stand aslant. */
static bool names_aslant(const struct panel *p)
{
    char name[160];
    size_t longest = 0;
    for (size_t i = 0; i < row_count(p->r); i++) {
        size_t n = in_panel(p, row_at(p->r, i)) ? name_of(p, row_at(p->r, i), name, sizeof name) : 0;
        longest = n > longest ? n : longest;
    }
    return p->group < LEVEL_LEAST || p->group < LETTER * (double)longest;
}

static void put_name(const struct panel *p, const struct paper_row *x, double at, struct buf *out)
{
    char more[128], name[160];
    double y = y_of(p, 0) + 14;
    bool mean = is_mean(p->r, x), aslant = p->aslant;
    name_of(p, x, name, sizeof name);
    if (aslant)
        snprintf(more, sizeof more, "text-anchor=\"end\" transform=\"rotate(-45 %.1f %.1f)\"%s", at, y,
                 mean ? " font-weight=\"bold\"" : "");
    else
        snprintf(more, sizeof more, "text-anchor=\"middle\"%s", mean ? " font-weight=\"bold\"" : "");
    put_text(out, at, y, more, name);
}

/* A later panel's "by SM/best" has the colour of the first one's "by SM". */
static size_t colour_of(const struct panel *p, size_t s)
{
    const char *const *name = p->r->series;
    for (size_t k = 0; k < p->first; k++) {
        size_t n = strlen(name[k]);
        if (!strncmp(name[p->first + s], name[k], n) && name[p->first + s][n] == '/')
            return k;
    }
    return s;
}

static void put_group(const struct panel *p, const struct paper_row *x, size_t k, struct buf *out)
{
    double at = LEFT + GROUP_GAP / 2.0 + (double)k * p->group,
           from = at + (p->group - GROUP_GAP - (double)p->n * p->bar) / 2;
    bool alike = p->n == 1 || p->only;
    for (size_t s = 0; s < p->n; s++)
        put_bar(p, from + (double)s * p->bar, x->v[p->first + s],
                !alike             ? colour_of(p, s)
                : is_mean(p->r, x) ? 1
                                   : 0,
                out);
    if (!p->only)
        put_name(p, x, at + (p->group - GROUP_GAP) / 2, out);
}

/* the 32 words of a coalescing graph, by sectors of eight */
static void put_sectors(const struct panel *p, struct buf *out)
{
    double from = LEFT + GROUP_GAP / 2.0 + (p->group - GROUP_GAP - (double)p->n * p->bar) / 2;
    for (int s = 0; s <= 4; s++)
        put_line(out, from + s * 8 * p->bar, y_of(p, p->top), from + s * 8 * p->bar, y_of(p, 0),
                 "\"#aab\" stroke-dasharray=\"2 3\"");
    for (int s = 0; s < 4; s++)
        put_text(out, from + (s * 8 + 4) * p->bar, y_of(p, 0) + 14, "text-anchor=\"middle\"",
                 (const char *const[]){ "bytes 0 to 31", "32 to 63", "64 to 95", "96 to 127" }[s]);
}

/* ---- lines ---- */
/* π at the peak of a curve, the valley behind it, the plateau at its end. */
static void put_marks(const struct panel *p, size_t s, double span, struct buf *out)
{
    size_t peak = 0, low = 0, last = p->r->nrows - 1;
    const struct paper_row *row = p->r->row;
    for (size_t i = 0; i <= last; i++)
        peak = row[i].v[s].ours > row[peak].v[s].ours ? i : peak;
    low = peak;
    for (size_t i = peak; i <= last; i++)
        low = row[i].v[s].ours < row[low].v[s].ours ? i : low;
    const struct {
        size_t at;
        const char *name;
    } mark[] = { { peak, "cache peak, π" }, { low, "cache valley" }, { last, "memory plateau" } };
    for (size_t k = 0; k < ARRAY_LEN(mark); k++) {
        double x = LEFT + span * (double)(mark[k].at + 1) / (double)p->groups,
               y = y_of(p, row[mark[k].at].v[s].ours);
        if ((k == 1 && row[low].v[s].ours > 0.99 * row[last].v[s].ours) || (k == 0 && peak == last))
            continue;
        buf_printf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", x, y,
                   colours[s % ARRAY_LEN(colours)]);
        put_text(out, x, k == 1 ? y + 13 : y - 6,
                 k == 2 ? "text-anchor=\"end\" " OVER_LINES : "text-anchor=\"middle\" " OVER_LINES,
                 mark[k].name);
    }
}

static void put_curves(const struct panel *p, const struct picture *to)
{
    double span = (double)to->width - LEFT - RIGHT - 20;
    for (size_t s = p->first; s < p->first + p->n; s++) {
        size_t k = 0;
        buf_printf(to->out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"",
                   colours[s % ARRAY_LEN(colours)]);
        for (size_t i = 0; i < p->r->nrows; i++, k++)
            if (p->r->row[i].v[s].ours == p->r->row[i].v[s].ours)
                buf_printf(to->out, "%.1f,%.1f ", LEFT + span * (double)(k + 1) / (double)p->groups,
                           y_of(p, p->r->row[i].v[s].ours));
        buf_puts(to->out, "\"/>\n");
        if (p->r->nrows)
            put_marks(p, s, span, to->out);
    }
    for (size_t i = 3; i < p->r->nrows; i += 4)
        put_text(to->out, LEFT + span * (double)(i + 1) / (double)p->groups, y_of(p, 0) + 14,
                 "text-anchor=\"middle\"", p->r->row[i].point);
}

/* ---- panels ---- */
static void name_panel(const struct panel *p, const struct picture *to)
{
    char name[160];
    const char *platform = p->only ? p->only->platform : p->platform;
    snprintf(name, sizeof name, "%s%s%s%s%s", p->only ? p->only->application : "", p->only ? ", " : "",
             kind_of(platform), platform ? platform : "",
             p->only || !platform || p->n == p->r->nseries ? "" : ", ");
    size_t at = strlen(name);
    if (!p->only && p->n != p->r->nseries)
        snprintf(name + at, sizeof name - at, "%s%s", p->r->series[p->first], p->n > 1 ? " ..." : "");
    put_text(to->out, LEFT, p->y + 14, "font-weight=\"bold\"", name);
}

/* room for the longest name, aslant */
static double foot_of(const struct panel *p)
{
    char name[160];
    size_t longest = 0;
    for (size_t i = 0; i < row_count(p->r); i++) {
        size_t n = in_panel(p, row_at(p->r, i)) ? name_of(p, row_at(p->r, i), name, sizeof name) : 0;
        longest = n > longest ? n : longest;
    }
    return fmax(FOOT, 24 + .6 * LETTER * (double)longest);
}

static void put_panel(struct picture *to, struct panel p)
{
    size_t k = 0;
    bool curves = p.r->of->kind == PAPER_VALLEY;
    for (size_t i = 0; i < row_count(p.r); i++)
        p.groups += in_panel(&p, row_at(p.r, i));
    if (!p.groups)
        return;
    p.y = to->y;
    p.group = ((double)to->width - LEFT - RIGHT) / (double)p.groups;
    p.bar = fmax(BAR_LEAST, fmin(BAR_MOST, (p.group - GROUP_GAP) / (double)p.n));
    p.aslant = !p.only && !curves && names_aslant(&p);
    scale(&p);
    name_panel(&p, to);
    put_axis(&p, to);
    if (curves)
        put_curves(&p, to);
    for (size_t i = 0; i < row_count(p.r) && !curves; i++)
        if (in_panel(&p, row_at(p.r, i)))
            put_group(&p, row_at(p.r, i), k++, to->out);
    if (p.only)
        put_sectors(&p, to->out);
    to->y += HEAD + HIGH + (p.aslant ? foot_of(&p) : FLAT);
}

/* ---- tables ---- */
static void put_cell(struct picture *to, double x, const struct paper_value *v, struct buf *text)
{
    bool none = v->ours != v->ours && !v->ours_text;
    bool beside = v->paper_text || v->paper == v->paper;
    bool differs = beside && (v->paper_text ? !v->ours_text || strcmp(v->paper_text, v->ours_text) != 0
                                            : v->ours != v->paper);
    buf_clear(text);
    paper_put_value(text, v->ours, v->ours_text);
    if (differs) {
        buf_puts(text, " (paper: ");
        paper_put_value(text, v->paper, v->paper_text);
        buf_puts(text, ")");
    }
    put_text(to->out, x, to->y,
             none      ? "fill=\"" PALE "\""
             : differs ? "fill=\"#b5500b\""
                       : "",
             text->s ? text->s : "");
}

static void put_table(struct picture *to)
{
    const struct paper_result *r = to->r;
    struct buf text = { 0 };
    to->y += LINE;
    for (size_t s = 0; s < r->nseries; s++)
        put_text(to->out, LEFT + COLUMN * (1.5 + 1.5 * (double)s), to->y, "font-weight=\"bold\"",
                 r->series[s]);
    for (size_t i = 0; i < r->nrows; i++) {
        const struct paper_row *x = &r->row[i];
        to->y += LINE;
        if (i % 2 == 0)
            buf_printf(to->out,
                       "<rect x=\"%d\" y=\"%.1f\" width=\"%u\" height=\"%d\" fill=\"#f4f4f7\"/>\n",
                       LEFT - 6, to->y - LINE + 4, to->width - LEFT - RIGHT + 12, LINE);
        buf_clear(&text);
        buf_printf(&text, "%s%s%s", x->application, x->application[0] && x->point[0] ? ", " : "",
                   x->point);
        put_text(to->out, LEFT, to->y, "", text.s ? text.s : "");
        for (size_t s = 0; s < r->nseries; s++)
            put_cell(to, LEFT + COLUMN * (1.5 + 1.5 * (double)s), &x->v[s], &text);
    }
    to->y += LINE;
    buf_free_checked(&text, to->out);
}

/* ---- the whole ---- */
static bool any_words(const struct paper_result *r)
{
    for (size_t i = 0; i < r->nrows; i++)
        for (size_t s = 0; s < r->nseries; s++)
            if (r->row[i].v[s].ours_text)
                return true;
    return false;
}

static bool any_paper(const struct paper_result *r)
{
    for (size_t i = 0; i < row_count(r); i++)
        for (size_t s = 0; s < r->nseries; s++)
            if (row_at(r, i)->v[s].paper == row_at(r, i)->v[s].paper)
                return true;
    return false;
}

/* Of the first panel's series: a later one has a single series, which its head names, or the same again. */
static void put_legend(struct picture *to)
{
    const struct paper_result *r = to->r;
    double at = LEFT;
    size_t n = r->of->kind == PAPER_GRAPH ? 0 : paper_unit_of(r, 0);
    to->y += 18;
    for (size_t s = 0; s < n && n > 1; s++) {
        double wide = 30 + LETTER * (double)strlen(r->series[s]);
        if (at > LEFT && at + wide > to->width) {
            at = LEFT;
            to->y += LINE;
        }
        buf_printf(to->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" fill=\"%s\"/>\n", at,
                   to->y - 9, colours[s % ARRAY_LEN(colours)]);
        put_text(to->out, at + 14, to->y, "", r->series[s]);
        at += wide;
    }
    if (any_paper(r)) {
        put_line(to->out, at, to->y - 4, at + 12, to->y - 4, "\"#000\" stroke-width=\"2.5\"");
        put_text(to->out, at + 16, to->y, "", "the paper");
    }
    to->y += 6;
}

static void put_wrapped(struct picture *to, const char *s)
{
    size_t most = (to->width - LEFT - RIGHT) / 6;
    while (*s) {
        size_t n = strlen(s), cut = n;
        char line[400];
        if (n > most)
            for (cut = most < sizeof line ? most : sizeof line - 1; cut > 1 && s[cut] != ' ';)
                cut--;
        snprintf(line, sizeof line, "%.*s", (int)cut, s);
        put_text(to->out, LEFT, to->y += LINE, "fill=\"" PALE "\"", line);
        s += cut + (s[cut] == ' ');
    }
}

static void put_facts(struct picture *to)
{
    for (size_t i = 0; i < to->r->nfacts; i++) {
        const struct paper_fact *f = &to->r->fact[i];
        struct buf text = { 0 };
        buf_printf(&text, "%s: ", f->name);
        paper_put_value(&text, f->v.ours, f->v.ours_text);
        if (f->v.paper == f->v.paper || f->v.paper_text) {
            buf_puts(&text, ", paper ");
            paper_put_value(&text, f->v.paper, f->v.paper_text);
        }
        put_text(to->out, LEFT, to->y += LINE, "", text.s ? text.s : "");
        buf_free_checked(&text, to->out);
    }
}

/* A row for each platform: they stand beside each other. */
static bool one_each(const struct paper_result *r)
{
    for (size_t i = 0; i < r->nrows; i++)
        for (size_t k = 0; k < i; k++)
            if (r->row[k].platform == r->row[i].platform)
                return false;
    return r->nrows > 1 && !r->nmeans && r->of->kind != PAPER_GRAPH;
}

static void put_panels(struct picture *to)
{
    const struct paper_result *r = to->r;
    for (size_t s = 0, n; s < r->nseries && one_each(r); s += n) {
        n = paper_unit_of(r, s);
        put_panel(to, (struct panel){ .r = r, .first = s, .n = n });
    }
    if (one_each(r))
        return;
    for (size_t i = 0; i < r->nrows; i++) {
        const char *platform = r->row[i].platform;
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= r->row[k].platform == platform;
        if (r->of->kind == PAPER_GRAPH)
            put_panel(to, (struct panel){ .r = r, .only = &r->row[i], .n = r->nseries });
        for (size_t s = 0, n; s < r->nseries && !seen && r->of->kind != PAPER_GRAPH; s += n) {
            n = paper_unit_of(r, s);
            put_panel(to, (struct panel){ .r = r, .platform = platform, .first = s, .n = n });
        }
    }
}

static unsigned width_of(const struct paper_result *r, bool table)
{
    size_t most = 0, n = paper_unit_of(r, 0);
    for (size_t i = 0; i < r->nrows; i++) {
        size_t groups = 0;
        for (size_t k = 0; k < row_count(r); k++)
            groups += row_at(r, k)->platform == r->row[i].platform;
        most = groups > most ? groups : most;
    }
    if (r->of->kind == PAPER_VALLEY || r->of->kind == PAPER_GRAPH)
        return WIDTH;
    size_t wide =
        table ? (size_t)(COLUMN * (1.5 + 1.5 * (double)r->nseries)) : most * (n * BAR_LEAST + GROUP_GAP);
    wide += LEFT + RIGHT;
    return wide > WIDTH ? (unsigned)wide : WIDTH;
}

void paper_svg(const struct paper_result *r, struct buf *out)
{
    struct buf body = { 0 }, text = { 0 };
    bool table = any_words(r);
    struct picture to = { .r = r, .out = &body, .y = 40, .width = width_of(r, table) };
    buf_printf(&text, "%s, %s", paper_source(r->of->id), r->of->what ? r->of->what : "");
    put_text(&body, LEFT, 20, "font-size=\"14\" font-weight=\"bold\"", r->of->title);
    put_text(&body, 8, 20, "font-size=\"9\" fill=\"" PALE "\"", r->of->id);
    to.y = 36 - LINE; /* the first line */
    put_wrapped(&to, text.s ? text.s : "");
    if (table) {
        put_table(&to);
    } else {
        put_legend(&to);
        put_panels(&to);
    }
    put_facts(&to);
    if (r->of->reason) {
        buf_clear(&text);
        buf_printf(&text, "What cannot agree: %s", r->of->reason);
        put_wrapped(&to, text.s ? text.s : "");
    }
    unsigned high = (unsigned)to.y + LINE;
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
               "viewBox=\"0 0 %u %u\" font-family=\"sans-serif\" font-size=\"11\" fill=\"" INK "\">\n"
               "<rect width=\"%u\" height=\"%u\" fill=\"#fff\"/>\n",
               to.width, high, to.width, high, to.width, high);
    buf_puts(out, body.s ? body.s : "");
    buf_puts(out, "</svg>\n");
    out->oom |= body.oom | text.oom;
    buf_free(&body);
    buf_free(&text);
}
