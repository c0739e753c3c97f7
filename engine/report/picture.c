/* A session as one picture: the summary of a page as lines of text, and below it the curve of the newest sweep,
 * else search. See report.h. */
#include "engine/report/report.h"
#include "engine/session/run.h"
#include "engine/session/session.h"

#include <string.h>

#define WIDTH  640.0
#define LEFT   20.0
#define LINE   17.0
#define LETTER 6.5 /* width of one, about */
#define INK    "#222"
#define FAINT  "#666"
#define BAR    "#d98e04"

/* ---- the summary, one line each: what it is, and its cells behind tabs ---- */
enum { HEADING = 'h', PARA = 'p', HEAD = 'c', ROW = 'r' };

static void put_cell(struct buf *out, const char *text)
{
    buf_puts(out, "\t");
    for (const char *s = text; *s; s++)
        buf_put(out, (unsigned char)*s < ' ' ? " " : s, 1);
}

static void put_cells(struct buf *out, char what, const char *const *cell, size_t n)
{
    buf_put(out, &what, 1);
    for (size_t i = 0; i < n; i++)
        put_cell(out, cell[i]);
    buf_puts(out, "\n");
}

static void line_heading(struct buf *out, unsigned level, const char *text)
{
    (void)level;
    put_cells(out, HEADING, &text, 1);
}
static void line_para(struct buf *out, const char *text)
{
    put_cells(out, PARA, &text, 1);
}
static void line_head(struct buf *out, const char *const *cell, size_t n)
{
    put_cells(out, HEAD, cell, n);
}
static void line_row(struct buf *out, const char *const *cell, size_t n, bool code, bool bold)
{
    (void)code;
    (void)bold;
    put_cells(out, ROW, cell, n);
}
static void line_none(struct buf *out)
{
    (void)out;
}

const struct report_writer report_lines = {
    .heading = line_heading, .para = line_para, .head = line_head, .row = line_row, .tail = line_none
};

/* ---- lines drawn ---- */
struct pen {
    struct buf *out;
    double y;
};

static void put_text(const struct pen *p, double x, const char *colour, const char *more,
                     struct str text)
{
    char *copy = base_alloc(text.n + 1);
    p->out->oom |= !copy;
    if (!copy)
        return;
    memcpy(copy, text.s, text.n);
    copy[text.n] = '\0';
    buf_printf(p->out, "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\"%s>", x, p->y, colour, more);
    report_xml(p->out, copy);
    buf_puts(p->out, "</text>\n");
    base_free(copy);
}

/* The bytes of the first `letters` letters. */
static size_t head_of(struct str s, size_t letters)
{
    size_t n = 0;
    for (; n < s.n; n++)
        if (((unsigned char)s.s[n] & 0xc0) != 0x80 && !letters--)
            return n;
    return s.n;
}

/* As many lines as it takes, parted at blanks. */
static void put_wrapped(struct pen *p, const char *colour, const char *more, struct str text)
{
    while (text.n) {
        size_t n = head_of(text, (size_t)((WIDTH - 2 * LEFT) / LETTER)), at = n;
        while (n < text.n && at && text.s[at] != ' ')
            at--;
        n = at ? at : n;
        p->y += LINE;
        put_text(p, LEFT, colour, more, (struct str){ text.s, n });
        n += n < text.n && text.s[n] == ' ';
        text = (struct str){ text.s + n, text.n - n };
    }
}

static const double column[] = { LEFT + 10, 180, 300, 425 };

/* A bar of the text pages is a rectangle here. */
static bool put_bar(const struct pen *p, double x, struct str cell)
{
    static const char block[] = "█";
    size_t width = sizeof block - 1;
    if (cell.n < width || memcmp(cell.s, block, width) != 0)
        return false;
    buf_printf(p->out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"11\" fill=\"%s\"/>\n", x,
               p->y - 10, 10 * (double)(cell.n / width), BAR);
    return true;
}

static void put_columns(struct pen *p, const char *colour, struct str line)
{
    p->y += LINE;
    for (size_t i = 0; i < ARRAY_LEN(column) && line.n; i++) {
        const char *tab = memchr(line.s, '\t', line.n);
        struct str cell = { line.s, tab ? (size_t)(tab - line.s) : line.n };
        double end = i + 1 < ARRAY_LEN(column) ? column[i + 1] : WIDTH;
        line = tab ? (struct str){ tab + 1, line.n - cell.n - 1 } : (struct str){ line.s, 0 };
        if (!put_bar(p, column[i], cell)) {
            cell.n = head_of(cell, (size_t)((end - column[i]) / LETTER));
            put_text(p, column[i], colour, "", cell);
        }
    }
}

static void put_line(struct pen *p, char what, struct str line)
{
    switch (what) {
    case HEADING:
        p->y += LINE / 2;
        put_wrapped(p, INK, " font-size=\"16\" font-weight=\"bold\"", line);
        break;
    case PARA:
        p->y += LINE / 3;
        put_wrapped(p, INK, "", line);
        break;
    case HEAD: p->y += LINE / 2; /* fall through */
    default: put_columns(p, what == HEAD ? FAINT : INK, line);
    }
}

void report_drawn(const struct buf *lines, const struct buf *curve, struct buf *out)
{
    struct buf body = { 0 };
    struct pen p = { .out = &body, .y = LINE / 2 };
    const char *at = lines->n ? lines->s : "";
    for (const char *end; (end = strchr(at, '\n')); at = end + 1)
        put_line(&p, *at, (struct str){ at + 2, (size_t)(end - at) - 2 });
    double height = p.y + LINE + (curve->n ? REPORT_CHART_HEIGHT : 0);
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
               "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"12\">\n"
               "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n%s",
               WIDTH, height, WIDTH, height, body.n ? body.s : "");
    if (curve->n)
        buf_printf(out, "<g transform=\"translate(0 %.1f)\">\n%s</g>\n", p.y + LINE, curve->s);
    buf_puts(out, "</svg>\n");
    out->oom |= lines->oom || curve->oom;
    buf_free_checked(&body, out);
}

void report_newest_curve(struct session *s, struct buf *out)
{
    static const struct {
        enum run_kind kind;
        void (*draw)(const struct session_run *r, struct buf *out);
    } figure[] = {
        { RUN_SWEEP, report_sweep_time },
        { RUN_TUNE, report_search },
    };
    for (size_t k = 0; k < ARRAY_LEN(figure); k++)
        for (size_t i = session_count(s); i-- > 0 && !out->n;) {
            const struct session_run *r = session_look(s, i);
            if (r && r->kind == figure[k].kind && !r->deleted)
                figure[k].draw(r, out);
            session_rest(s, i);
        }
}
