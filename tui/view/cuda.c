/* cuda: the kernel's CUDA source, each line with what its global loads cost, and the PTX of the line
 * under the cursor beside it (below it where the panel is narrow). A PTX text compiled with -lineinfo
 * has .file and .loc directives (PTX ISA 11.5). Without them the file of the same name beside the PTX is
 * shown, and nothing can be said of its lines. */
#include "engine/base/name.h"
#include "engine/rec/result_read.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/app/results/run_line.h"
#include "tui/base/text.h"
#include "tui/view/source/source_int.h"
#include "tui/view/traffic.h"
#include "tui/view/view.h"
#include "tui/view/where.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BESIDE = 110 /* columns from which the PTX stands beside the source */, BELOW = 7, SECTORS = 9 };

/* What the instructions of one line come to. */
struct line_cost {
    unsigned insts, loads, stores;
    double degree /* the least of its loads */, share /* the sum over its loads */;
    struct sector_mean mean;
    double time;  /* share of the issue slots of the original, 0..1; NaN: not known */
    uint32_t ptx; /* first line with an access, else of its first instruction; 0: no code */
    bool access;
};
/* The frame's; file 0: no line table. */
struct cuda_page {
    const struct ptx_func *f;
    uint32_t file, nlines;
    struct str *line;       /* [1..nlines] */
    struct line_cost *cost; /* the same; NULL: no line table */
    /* instructions of the line under the cursor */
    const struct ptx_inst **here;
    unsigned nhere;
};

/* Line of the file that an instruction belongs to: where it was inlined from, else itself. 0: of another
 * file. */
static uint32_t line_in(struct ptx_loc l, uint32_t file)
{
    return l.file == file ? l.line : l.at_file == file ? l.at_line : 0;
}

/* The file that most of the kernel's line marks name, themselves or where they were inlined. */
static uint32_t main_file(const struct app *a, const struct ptx_func *f)
{
    const struct ptx_module *m = a->snap->module;
    uint32_t *seen = m->nfiles ? ARENA_ARRAY(a->frame, uint32_t, m->nfiles) : NULL, best = 0;
    for (uint32_t i = 0; seen && f && i < f->nlocs; i++) {
        uint32_t file = f->locs[i].at_file ? f->locs[i].at_file : f->locs[i].file;
        if (file < m->nfiles && m->files[file].n && ++seen[file] > (best ? seen[best] : 0))
            best = file;
    }
    return best;
}

static void add_inst(struct cuda_page *p, const struct ptx_inst *i)
{
    uint32_t n = line_in(ptx_loc_of(p->f, i), p->file);
    struct line_cost *c = n && n <= p->nlines ? &p->cost[n] : NULL;
    if (!c)
        return;
    c->insts++;
    c->ptx = c->ptx ? c->ptx : i->at.line;
}

static void add_access(struct cuda_page *p, const struct ana_access *x, const struct traffic *t)
{
    uint32_t n = x->inst < p->f->ninsts ? line_in(ptx_loc_of(p->f, &p->f->insts[x->inst]), p->file) : 0;
    struct line_cost *c = n && n <= p->nlines ? &p->cost[n] : NULL;
    if (!c || x->space != PTX_SPACE_GLOBAL || x->prefetch)
        return;
    c->ptx = c->access ? c->ptx : x->at.line;
    c->mean = c->access ? c->mean : (struct sector_mean){ NAN, NAN, 0 };
    c->access = true;
    where_mean(&c->mean, x);
    if (x->store && !x->atomic) {
        c->stores++;
        return;
    }
    double share = traffic_load(t, x).share;
    double degree = x->coalesce.valid ? x->coalesce.degree : NAN;
    c->degree = c->loads ? fmin(c->degree, degree) : degree; /* fmin takes the number, not the NaN */
    c->loads++;
    c->share += share; /* n/a is not nothing */
}

/* Where the time of the original went, where a run has told it. */
static void add_time(struct app *a, struct cuda_page *p)
{
    struct hot_line v[HOT_LINES];
    size_t run, n;
    const struct result *x = run_original_now(a, &run);
    if (!x || !result_limits(x)->valid)
        return;
    n = where_lines(a, x, v);
    for (size_t i = 0; i < n; i++)
        if (v[i].file == p->file && v[i].line <= p->nlines)
            p->cost[v[i].line].time = v[i].share;
}

static const struct ptx_func *kernel_of(const struct app *a)
{
    const struct job_snapshot *s = a->snap;
    return s->module && s->kernel ? ptx_find_func(s->module, str_of(s->kernel)) : NULL;
}

bool view_cuda_known(const struct app *a)
{
    const struct ptx_func *f = kernel_of(a);
    return f && f->nlocs;
}

static void split(struct app *a, struct cuda_page *p, struct str text)
{
    struct str rest = text, line;
    uint32_t n = 0;
    while (str_line(&rest, &line))
        n++;
    p->line = ARENA_ARRAY(a->frame, struct str, (size_t)n + 1);
    p->nlines = p->line ? n : 0;
    for (rest = text, n = 0; p->line && str_line(&rest, &line);)
        p->line[++n] = line;
}

/* A source beside the PTX, by its name, for PTX without a line table. File 0 of the table is never one,
 * so the text is kept under a number that no table has. */
static struct str text_beside(struct app *a)
{
    struct cuda_text *c = &a->source.cuda;
    const char *ptx = a->snap->module ? a->snap->module->path : NULL;
    size_t stem = ptx ? base_stem(ptx, ".ptx") : 0;
    char path[1200];
    if (c->file != UINT32_MAX) {
        base_free(c->text);
        *c = (struct cuda_text){ .file = UINT32_MAX };
        snprintf(path, sizeof path, "%.*s.cu", (int)stem, ptx ? ptx : "");
        if (!stem || file_read(path, 4u << 20, &c->text, &c->n, NULL) != ST_OK)
            c->text = NULL;
    }
    return (struct str){ c->text, c->text ? c->n : 0 };
}

static struct cuda_page page_of(struct app *a)
{
    struct cuda_page p = { .f = kernel_of(a) };
    const struct ana_kernel *k = a->snap->facts;
    p.file = p.f ? main_file(a, p.f) : 0;
    split(a, &p, p.file ? source_cuda_text(a, p.file) : text_beside(a));
    p.cost = p.file && p.nlines ? ARENA_ARRAY(a->frame, struct line_cost, (size_t)p.nlines + 1) : NULL;
    if (!p.cost)
        return p;
    struct traffic t = traffic_of(a);
    for (uint32_t i = 0; i < p.f->ninsts; i++)
        add_inst(&p, &p.f->insts[i]);
    for (uint32_t i = 0; k && i < k->naccess; i++)
        add_access(&p, &k->access[i], &t);
    add_time(a, &p);
    return p;
}

static uint32_t cursor_line(const struct app *a)
{
    return (uint32_t)a->list[PANEL_CUDA].cursor + 1;
}

/* ---- the PTX of a line ---- */
static void find_here(struct app *a, struct cuda_page *p)
{
    uint32_t line = cursor_line(a);
    unsigned n = p->cost && line <= p->nlines ? p->cost[line].insts : 0;
    p->here = n ? ARENA_ARRAY(a->frame, const struct ptx_inst *, n) : NULL;
    for (uint32_t i = 0; p->here && i < p->f->ninsts && p->nhere < n; i++)
        if (line_in(ptx_loc_of(p->f, &p->f->insts[i]), p->file) == line)
            p->here[p->nhere++] = &p->f->insts[i];
}

static void put_inst(struct app *a, struct row *r, const struct ptx_inst *i)
{
    struct str none = { "", 0 };
    row_right(r, ROLE_DIM, 6, "%u", i->at.line);
    row_put(r, ROLE_TEXT, " ");
    source_colour(r, str_trim(ptx_line_text(a->snap->module, i->at.line)), none);
}

static void put_below(struct app *a, const struct cuda_page *p, unsigned w)
{
    uint32_t line = cursor_line(a);
    unsigned of = p->nhere;
    struct page *chart = &a->chart[PANEL_CUDA];
    struct row r = { .arena = a->frame };
    row_put(&r, ROLE_LABEL, " PTX of line %u: %u instruction%s", line, of, of == 1 ? "" : "s");
    if (of > BELOW - 1)
        row_put(&r, ROLE_DIM, ", the first %d", BELOW - 1);
    static const char legend[] = "   sectors a request: moved/needed";
    if (r.width + sizeof legend <= w)
        row_put(&r, ROLE_DIM, "%s", legend);
    page_add(a, chart, &r, -1);
    for (size_t k = 0; k < BELOW - 1 && k < of; k++) {
        put_inst(a, &r, p->here[k]);
        page_add(a, chart, &r, -1);
    }
}

/* ---- the lines ---- */
struct cuda_columns {
    bool share, sectors, time;
    unsigned text, beside; /* columns of the source, and of the PTX beside it */
};
static struct cuda_columns columns_of(unsigned w)
{
    struct cuda_columns c = { .share = w >= 56, .sectors = w >= 48, .time = w >= 60 };
    unsigned gutter = 15u + (c.sectors ? SECTORS : 0) + (c.share ? 6u : 0) + (c.time ? 6u : 0);
    unsigned left = w > gutter + 10 ? w - gutter : 10;
    c.beside = w >= BESIDE ? left * 2 / 5 : 0;
    c.text = left - c.beside;
    return c;
}

/* Without tabs, in exactly so many columns. */
static void put_text(struct row *out, enum role role, struct str s, unsigned cols)
{
    struct buf b = { 0 };
    unsigned at = out->width;
    for (size_t i = 0; i < s.n && b.n < 4 * (size_t)cols; i++)
        if (s.s[i] == '\t')
            buf_puts(&b, "    ");
        else if ((unsigned char)s.s[i] >= ' ')
            buf_put(&b, s.s + i, 1);
    struct str all = { b.s ? b.s : "", b.n }, head = text_head(all, cols);
    row_put(out, role, "%.*s", (int)head.n, head.s);
    row_pad(out, at + cols);
    buf_free(&b);
}

static void put_cost(struct row *r, const struct line_cost *c, const struct cuda_columns *col)
{
    if (c->loads && !isnan(c->degree))
        row_bar(r, view_degree_role(c->degree), 6, c->degree);
    else
        row_put(r, ROLE_DIM, "%-6s", c->loads ? "?" : c->stores ? "store" : "");
    if (col->sectors && c->access && !isnan(c->mean.sectors) && !isnan(c->mean.least))
        row_right(r, c->mean.sectors > 1.5 * c->mean.least ? ROLE_WARN : ROLE_VALUE, SECTORS,
                  "%.3g/%.3g", c->mean.sectors, c->mean.least);
    else if (col->sectors)
        row_put(r, ROLE_DIM, "%*s", SECTORS, c->access ? "n/a" : "");
    if (col->share && c->loads && isnan(c->share))
        row_right(r, ROLE_DIM, 6, "n/a");
    else if (col->share && c->loads)
        row_right(r, c->share >= 0.25 ? ROLE_WARN : ROLE_VALUE, 6, "%.0f%%", c->share * 100);
    else if (col->share)
        row_put(r, ROLE_TEXT, "%6s", "");
    if (col->time && c->time >= 0.005)
        row_right(r, where_heat(c->time), 6, "%.0f%%", c->time * 100);
    else if (col->time)
        row_put(r, ROLE_TEXT, "%6s", "");
}

static void cuda_line_row(struct app *a, size_t i, unsigned w, struct row *r)
{
    static const struct line_cost none = { 0 };
    const struct cuda_page *p = a->cuda;
    struct cuda_columns col = columns_of(w);
    uint32_t n = (uint32_t)i + 1;
    if (!p || n > p->nlines)
        return;
    const struct line_cost *c = p->cost ? &p->cost[n] : &none;
    row_right(r, c->insts ? ROLE_LABEL : ROLE_DIM, 5, "%u", n);
    row_put(r, ROLE_TEXT, " ");
    put_cost(r, c, &col);
    row_put(r, ROLE_BORDER, " │ ");
    put_text(r,
             c->loads               ? ROLE_MEMORY
             : c->insts || !p->cost ? ROLE_TEXT
                                    : ROLE_DIM,
             p->line[n], col.text);
    size_t k = i - a->list[PANEL_CUDA].top;
    if (col.beside)
        row_put(r, ROLE_BORDER, "│");
    if (col.beside && k < p->nhere)
        put_inst(a, r, p->here[k]);
}

static void cuda_head(struct app *a, unsigned w, struct row *r)
{
    const struct cuda_page *p = a->cuda;
    struct cuda_columns col = columns_of(w);
    if (!p || !p->nlines)
        return;
    row_put(r, ROLE_LABEL, " line degree%s%s%s   ", col.sectors ? "  sectors" : "",
            col.share ? " share" : "", col.time ? "  time" : "");
    if (p->file) {
        struct str name = a->snap->module->files[p->file];
        put_text(r, ROLE_TITLE, name, col.text);
    }
    if (col.beside)
        row_put(r, ROLE_LABEL, " PTX of line %u", cursor_line(a));
}

/* Why nothing can be said of the lines, or why there are none. */
static void put_reason(struct app *a, struct page *page, const struct cuda_page *p, unsigned w)
{
    if (!a->snap->module || !a->snap->kernel)
        page_hint(a, page, w, view_unready(a, ""));
    else if (!p->file)
        page_hint(a, page, w,
                  "The PTX has no line table. Compile with nvcc -lineinfo (clang: -gline-tables-only), "
                  "or open the .cu file itself.");
    else
        page_hint(
            a, page, w,
            arena_printf(a->frame,
                         "The PTX was compiled from %.*s, which was not found there or beside the PTX.",
                         (int)a->snap->module->files[p->file].n, a->snap->module->files[p->file].s));
}

/* First line that loads, else that has code: where the cursor is put when another text is shown. */
static size_t first_line(const struct cuda_page *p)
{
    uint32_t code = 0;
    for (uint32_t n = 1; p->cost && n <= p->nlines; n++) {
        if (p->cost[n].loads)
            return n - 1;
        if (!code && p->cost[n].insts)
            code = n;
    }
    return code ? code - 1 : 0;
}

static void cuda_update(struct app *a, unsigned w, unsigned h)
{
    struct page *page = &a->page[PANEL_CUDA];
    struct cuda_page *p = ARENA_ARRAY(a->frame, struct cuda_page, 1);
    struct list *l = &a->list[PANEL_CUDA];
    page_clear(page);
    page_clear(&a->chart[PANEL_CUDA]);
    a->cuda = p;
    if (!p)
        return;
    *p = page_of(a);
    if (!p->nlines)
        put_reason(a, page, p, w);
    bool fresh = !l->count;
    list_set_count(l, p->nlines ? p->nlines : page->n);
    if (fresh && p->cost)
        list_show(l, first_line(p));
    find_here(a, p);
    if (p->nlines && !p->file)
        page_say(a, &a->chart[PANEL_CUDA], ROLE_WARN, 1, w - 1,
                 "This file is beside the PTX, but the PTX has no line table: "
                 "nvcc -lineinfo adds that.");
    else if (p->cost && w < BESIDE && h >= 12)
        put_below(a, p, w);
}

static unsigned next_load(struct app *a, int by)
{
    const struct cuda_page *p = a->cuda;
    uint32_t n = cursor_line(a);
    for (uint32_t k = 0; p && p->cost && k < p->nlines; k++) {
        n = by > 0 ? n % p->nlines + 1 : n > 1 ? n - 1 : p->nlines;
        if (p->cost[n].loads) {
            list_show(&a->list[PANEL_CUDA], n - 1);
            return UI_REDRAW;
        }
    }
    app_notice(a, DIAG_NOTE, "no line of this file loads from global memory");
    return UI_REDRAW;
}

static unsigned hottest(struct app *a)
{
    const struct cuda_page *p = a->cuda;
    uint32_t best = 0;
    for (uint32_t n = 1; p && p->cost && n <= p->nlines; n++)
        if (p->cost[n].loads && (!best || p->cost[n].share > p->cost[best].share ||
                                 (isnan(p->cost[best].share) && !isnan(p->cost[n].share))))
            best = n;
    if (!best)
        return next_load(a, 1);
    list_show(&a->list[PANEL_CUDA], best - 1);
    return UI_REDRAW;
}

static unsigned to_ptx(struct app *a)
{
    const struct cuda_page *p = a->cuda;
    uint32_t n = cursor_line(a), line = p && p->cost && n <= p->nlines ? p->cost[n].ptx : 0;
    if (!line) {
        app_notice(a, DIAG_NOTE, "%s", "no instruction of the kernel came from this line");
        return UI_REDRAW;
    }
    app_focus(a, PANEL_SOURCE);
    source_goto(a, line);
    return UI_REDRAW;
}

static unsigned cuda_request(struct app *a, enum request r)
{
    switch (r) {
    case REQ_CUDA_NEXT: return next_load(a, 1);
    case REQ_CUDA_PREV: return next_load(a, -1);
    case REQ_CUDA_HOT: return hottest(a);
    case REQ_CUDA_PTX: return to_ptx(a);
    default: return 0;
    }
}

const struct view view_cuda = { cuda_update, cuda_head, cuda_line_row, cuda_request, NULL, NULL };
