/* rewrite --diff on a terminal: the original's lines left, the rewritten ones right with the pass that
 * wrote them, PTX in colour. One line at a time, no state between lines. */
#include "engine/base/shown.h"
#include "engine/cmd/cmd_int.h"
#include "engine/pass/pass.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/ptx.h"

#include <string.h>

enum { CONTEXT = 3, TAB = 8, NUMBER = 6, TAG = 10 };
enum role {
    ROLE_PLAIN,
    ROLE_OPCODE,
    ROLE_REGISTER,
    ROLE_DIRECTIVE,
    ROLE_NUMBER,
    ROLE_COMMENT,
    ROLE_LABEL,
    ROLE_OLD,
    ROLE_NEW,
    ROLE_DIM
};
static const char *const sgr[] = {
    [ROLE_PLAIN] = "",
    [ROLE_OPCODE] = "\033[34m",
    [ROLE_REGISTER] = "\033[36m",
    [ROLE_DIRECTIVE] = "\033[35m",
    [ROLE_NUMBER] = "\033[33m",
    [ROLE_COMMENT] = "\033[2m",
    [ROLE_LABEL] = "\033[33m",
    [ROLE_OLD] = "\033[31m",
    [ROLE_NEW] = "\033[32m",
    [ROLE_DIM] = "\033[2m",
};

struct column {
    struct buf *out;
    unsigned at, width;
    bool color;
};

static void put(struct column *c, const char *s, size_t n, enum role role)
{
    bool on = c->color && role != ROLE_PLAIN && n && c->at < c->width;
    if (on)
        buf_puts(c->out, sgr[role]);
    for (size_t i = 0, used; i < n && c->at < c->width; i += used) {
        uint32_t cp;
        used = shown_next(s + i, n - i, &cp);
        unsigned cells = cp == '\t' ? TAB - (c->at - NUMBER) % TAB : 1;
        for (unsigned k = 0; k < cells && c->at < c->width; k++, c->at++)
            if (cp == '\t' || cp == '\r') /* a carriage return ends lines of some files */
                buf_puts(c->out, " ");
            else
                buf_shown(c->out, (struct str){ s + i, used });
    }
    if (on)
        buf_puts(c->out, "\033[0m");
}

static void pad(struct column *c)
{
    while (c->at < c->width) {
        buf_puts(c->out, " ");
        c->at++;
    }
}

static bool word_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '.' || c == ':';
}

/* Length of the token at the front of `t` and what it is; `first`: no word of the statement yet. */
static size_t token(struct str t, bool *first, enum role *role)
{
    size_t n = 1;
    *role = ROLE_PLAIN;
    if (t.n > 1 && t.s[0] == '/' && (t.s[1] == '/' || t.s[1] == '*')) {
        *role = ROLE_COMMENT;
        return t.n;
    }
    if (t.s[0] != '%' && !word_char(t.s[0])) {
        uint32_t cp;
        return shown_next(t.s, t.n, &cp); /* never a part of a character */
    }
    while (n < t.n && word_char(t.s[n]))
        n++;
    if (t.s[0] == '%')
        *role = ROLE_REGISTER;
    else if (t.s[n - 1] == ':' || t.s[0] == '$')
        *role = ROLE_LABEL;
    else if (t.s[0] >= '0' && t.s[0] <= '9')
        *role = ROLE_NUMBER;
    else if (t.s[0] == '.')
        *role = ROLE_DIRECTIVE;
    else if (*first)
        *role = ROLE_OPCODE;
    *first = *first && *role == ROLE_REGISTER; /* behind a guard the opcode is still to come */
    return n;
}

static void put_ptx(struct column *c, struct str t)
{
    bool first = true;
    while (t.n) {
        enum role role;
        size_t n = token(t, &first, &role);
        put(c, t.s, n, role);
        t.s += n;
        t.n -= n;
    }
}

static void put_number(struct column *c, char sign, uint32_t line)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%5u", line);
    put(c, text, n > 0 ? (size_t)n : 0, ROLE_DIM);
    put(c, &sign, 1, sign == '-' ? ROLE_OLD : sign == '+' ? ROLE_NEW : ROLE_PLAIN);
}

struct view {
    const struct ptx_module *a;
    const struct pass_output *o;
    unsigned width;
    bool color, utf8;
    struct buf *out;
};

/* One row; a line number of 0 leaves that side empty. */
static void put_row(const struct view *v, uint32_t old, uint32_t now, bool changed)
{
    unsigned half = (v->width - 3) / 2;
    struct column left = { v->out, 0, half, v->color }, right = { v->out, 0, half, v->color };
    if (old) {
        put_number(&left, changed ? '-' : ' ', old);
        put_ptx(&left, ptx_line_text(v->a, old));
    }
    pad(&left);
    buf_puts(v->out, v->utf8 ? " \xe2\x94\x82 " : " | ");
    if (now) {
        const char *tag = now <= v->o->nlines ? v->o->lines[now - 1].tag : NULL;
        right.width -= TAG;
        put_number(&right, changed ? '+' : ' ', now);
        put_ptx(&right, ptx_line_text(v->o->module, now));
        pad(&right);
        right.width += TAG;
        put(&right, tag ? " " : "", tag ? 1 : 0, ROLE_PLAIN);
        put(&right, tag ? tag : "", tag ? strlen(tag) : 0, ROLE_DIM);
    }
    while (v->out->n && v->out->s[v->out->n - 1] == ' ')
        v->out->s[--v->out->n] = 0;
    buf_puts(v->out, "\n");
}

/* Removed and added lines from `k` on stand beside each other, in order; where they end. */
static size_t put_change(const struct view *v, const struct pass_diff_line *d, size_t n, size_t k)
{
    size_t end = k, minus = k, plus = k;
    while (end < n && d[end].sign != ' ')
        end++;
    for (;;) {
        while (minus < end && d[minus].sign != '-')
            minus++;
        while (plus < end && d[plus].sign != '+')
            plus++;
        if (minus == end && plus == end)
            return end;
        put_row(v, minus < end ? d[minus].old : 0, plus < end ? d[plus].now : 0, true);
        minus += minus < end;
        plus += plus < end;
    }
}

/* Is line k within CONTEXT of a change? */
static bool near_change(const struct pass_diff_line *d, size_t n, size_t k)
{
    for (size_t i = k > CONTEXT ? k - CONTEXT : 0; i < n && i <= k + CONTEXT; i++)
        if (d[i].sign != ' ')
            return true;
    return false;
}

void cmd_side_by_side(const struct ptx_module *original, const struct pass_output *o, unsigned width,
                      bool color, bool utf8, struct buf *out)
{
    size_t n;
    struct pass_diff_line *d = pass_diff_lines(original, o, &n);
    struct view v = { original, o, width < 60 ? 60 : width, color, utf8, out };
    bool gap = true;
    out->oom |= n && !d;
    for (size_t k = 0; d && k < n;) {
        if (!near_change(d, n, k)) {
            gap = true;
            k++;
            continue;
        }
        if (gap && d[k].sign == ' ' && out->n)
            buf_puts(out, utf8 ? "\xe2\x8b\xaf\n" : "...\n");
        gap = false;
        if (d[k].sign != ' ') {
            k = put_change(&v, d, n, k);
        } else {
            put_row(&v, d[k].old, d[k].now, false);
            k++;
        }
    }
    base_free(d);
}
