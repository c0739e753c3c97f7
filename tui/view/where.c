/* where: see where.h. */
#include "tui/view/where.h"

#include "engine/rec/result_read.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/base/text.h"
#include "tui/view/source/source_int.h"
#include "tui/view/traffic.h"
#include "tui/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEAT = 8, PLACE_LEAST = 9, PLACE_MOST = 22 };

static struct hot_line *line_of(struct hot_line *v, size_t *n, uint32_t file, uint32_t line,
                                uint32_t ptx)
{
    for (size_t i = 0; i < *n; i++)
        if (v[i].file == file && v[i].line == line)
            return &v[i];
    if (*n == HOT_LINES)
        return NULL;
    v[*n] = (struct hot_line){ file, line, ptx, 0, { NAN, NAN, 0 } };
    return &v[(*n)++];
}

/* Where the text came from, else the line of the text itself. */
static struct hot_line *line_at(const struct app *a, struct hot_line *v, size_t *n, uint32_t ptx)
{
    struct ptx_place p = ptx_user_place_at(a->snap->module, ptx);
    return p.file ? line_of(v, n, p.file, p.line, ptx) : line_of(v, n, 0, ptx, ptx);
}

static void take_limits(const struct app *a, const struct limits *l, struct hot_line *v, size_t *n)
{
    for (unsigned i = 0; i < LIMIT_POOL && l->place[i].share > 0; i++) {
        struct hot_line *h = line_at(a, v, n, l->place[i].ptx);
        if (h)
            h->share += (double)l->place[i].share;
    }
}

static void take_traffic(struct app *a, struct hot_line *v, size_t *n)
{
    struct traffic t = traffic_of(a);
    uint32_t count;
    const uint32_t *order = traffic_order(a, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct ana_access *x = &a->snap->facts->access[order[i]];
        struct hot_line *h = line_at(a, v, n, x->at.line);
        double share = traffic_load(&t, x).share;
        if (h)
            h->share += isnan(share) ? 0 : share;
    }
}

void where_mean(struct sector_mean *m, const struct ana_access *x)
{
    double w = x->exact.valid && x->exact.requests ? (double)x->exact.requests : 1, all = m->weight + w;
    double sectors = x->exact.valid ? x->exact.sectors_per_request : x->coalesce.sectors;
    if (x->space != PTX_SPACE_GLOBAL || x->prefetch || !x->coalesce.valid)
        return;
    m->sectors = ((m->weight > 0 ? m->sectors * m->weight : 0) + sectors * w) / all;
    m->least = ((m->weight > 0 ? m->least * m->weight : 0) + x->coalesce.least * w) / all;
    m->weight = all;
}

static void take_sectors(const struct app *a, struct hot_line *v, size_t n)
{
    const struct ana_kernel *k = a->snap->facts;
    for (uint32_t i = 0; k && i < k->naccess; i++) {
        const struct ana_access *x = &k->access[i];
        struct ptx_place p = ptx_user_place_at(a->snap->module, x->at.line);
        for (size_t at = 0; at < n; at++)
            if (v[at].file == p.file && v[at].line == (p.file ? p.line : x->at.line))
                where_mean(&v[at].mean, x);
    }
}

static int by_share(const void *x, const void *y)
{
    const struct hot_line *p = x, *q = y;
    if (p->share != q->share)
        return p->share < q->share ? 1 : -1;
    return (p->ptx > q->ptx) - (p->ptx < q->ptx);
}

size_t where_lines(struct app *a, const struct result *r, struct hot_line out[HOT_LINES])
{
    size_t n = 0;
    if (!a->snap->module || !a->snap->kernel)
        return 0;
    if (r && result_limits(r)->valid)
        take_limits(a, result_limits(r), out, &n);
    else
        take_traffic(a, out, &n);
    qsort(out, n, sizeof *out, by_share);
    take_sectors(a, out, n);
    return n;
}

static struct str name_of(const struct app *a, const struct hot_line *h)
{
    struct str s =
        h->file < a->snap->module->nfiles ? a->snap->module->files[h->file] : (struct str){ NULL, 0 };
    for (size_t i = s.n; i-- > 0;)
        if (s.s[i] == '/')
            return (struct str){ s.s + i + 1, s.n - i - 1 };
    return s;
}

static const char *place_of(struct app *a, const struct hot_line *h)
{
    struct str name = name_of(a, h);
    return h->file ? arena_printf(a->frame, "%.*s:%u", (int)name.n, name.s, h->line)
                   : arena_printf(a->frame, "line %u", h->line);
}

enum role where_heat(double share)
{
    return share >= 0.25 ? ROLE_ERROR : share >= 0.1 ? ROLE_WARN : ROLE_VALUE;
}

enum { SECTORS = 13 };
static void put_sectors(struct row *r, const struct sector_mean *m)
{
    if (isnan(m->sectors) || isnan(m->least))
        row_put(r, ROLE_DIM, "%*s", SECTORS, "");
    else
        row_right(r, m->sectors > 1.5 * m->least ? ROLE_WARN : ROLE_VALUE, SECTORS, "%.3g/%.3g",
                  m->sectors, m->least);
}

/* One file's text is kept at a time: the line is copied. */
static void put_code(struct app *a, struct row *r, struct str text, unsigned cols, bool cuda)
{
    struct str head = text_head(text, cols), none = { "", 0 };
    char *copy = arena_dup(a->frame, head);
    for (size_t i = 0; copy && i < head.n; i++)
        copy[i] = copy[i] == '\t' ? ' ' : copy[i];
    head = (struct str){ copy, copy ? head.n : 0 };
    if (cuda)
        row_str(r, ROLE_TEXT, head);
    else
        source_colour(r, head, none);
}

static void put_line(struct app *a, struct page *p, const struct hot_line *h, unsigned w, unsigned cols)
{
    struct row r = { .arena = a->frame };
    struct str place = str_of(place_of(a, h));
    struct str text = h->file ? source_cuda_line(a, h->file, h->line) : (struct str){ NULL, 0 };
    text = text.n ? text : str_trim(ptx_line_text(a->snap->module, h->ptx));
    row_put(&r, ROLE_LABEL, "   ");
    row_str(&r, ROLE_LABEL, text_head(place, cols));
    row_pad(&r, 3 + cols + 1);
    row_bar(&r, where_heat(h->share), HEAT, h->share);
    row_right(&r, where_heat(h->share), 6, "%.0f %%", h->share * 100);
    if (w >= 60)
        put_sectors(&r, &h->mean);
    row_put(&r, ROLE_TEXT, "  ");
    put_code(a, &r, text, w > r.width ? w - r.width : 0, h->file != 0);
    page_add(a, p, &r, -1);
}

void where_put(struct app *a, struct page *p, const struct result *x, unsigned w, size_t n)
{
    struct hot_line v[HOT_LINES];
    size_t count = where_lines(a, x, v);
    unsigned cols = PLACE_LEAST;
    struct row r = { .arena = a->frame };
    n = n < count ? n : count;
    for (size_t i = 0; i < n; i++) {
        unsigned c = text_width(str_of(place_of(a, &v[i])));
        cols = c > cols ? c : cols;
    }
    cols = cols > PLACE_MOST ? PLACE_MOST : cols;
    if (!n)
        return;
    row_put(&r, ROLE_TITLE, " Where");
    row_pad(&r, 3 + cols + 1);
    row_put(&r, ROLE_LABEL, "%s", x && result_limits(x)->valid ? "share of time" : "share of loads");
    if (w >= 60)
        row_put(&r, ROLE_LABEL, "%s",
                w >= 72   ? "  sectors moved/needed"
                : w >= 62 ? "  sectors/needed"
                          : "  moved/needed");
    if (a->snap->facts)
        row_put(&r, ROLE_LABEL, "%s  class: %s", w >= 72 ? " " : "",
                ana_class_name(a->snap->facts->cls));
    page_flow(a, p, &r, 3, w - 1, -1);
    for (size_t i = 0; i < n; i++)
        put_line(a, p, &v[i], w, cols);
}
