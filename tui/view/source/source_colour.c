/* source, part 3: PTX in colour, one line at a time: no state between lines. */
#include "tui/view/view.h"
#include "tui/base/text.h"
#include "tui/view/source/source_int.h"

#include <ctype.h>
#include <string.h>

/* ---- PTX in colour: one line at a time, no state between lines ---- */
static bool name_char(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

static size_t word_len(struct str s, size_t at)
{
    size_t n = 1;
    while (at + n < s.n && name_char(s.s[at + n]))
        n++;
    return n;
}

/* An opcode runs over its dot-words: ld.global.L1::no_allocate.f32 */
static size_t opcode_len(struct str s, size_t at)
{
    size_t n = 0;
    while (at + n < s.n && (name_char(s.s[at + n]) || s.s[at + n] == '.' || s.s[at + n] == ':'))
        n++;
    return n;
}

static bool touches_global(struct str op)
{
    static const char *const heads[] = { "ld.", "st.", "atom.", "red.", "prefetch." };
    for (size_t i = 0; i < ARRAY_LEN(heads); i++)
        if (op.n > strlen(heads[i]) && !memcmp(op.s, heads[i], strlen(heads[i])))
            return text_find(op, STR(".global")) != SIZE_MAX;
    return false;
}

struct colouring {
    struct str line, reg;
    unsigned start; /* column of the row where the code starts */
    bool head;      /* the statement's first word is still to come */
};

static size_t colour_word(struct row *r, struct colouring *c, size_t at)
{
    size_t n = word_len(c->line, at), end = at + n;
    struct str w = { c->line.s + at, n };
    if (c->head && end < c->line.n && c->line.s[end] == ':' &&
        !(end + 1 < c->line.n && c->line.s[end + 1] == ':')) {
        row_str(r, ROLE_SYMBOL, w);
        return n;
    }
    if (c->head) {
        w.n = n = opcode_len(c->line, at);
        c->head = false;
        row_str(r, touches_global(w) ? ROLE_MEMORY : ROLE_OPCODE, w);
        return n;
    }
    row_str(r, ROLE_SYMBOL, w);
    return n;
}

static size_t colour_token(struct row *r, struct colouring *c, size_t at)
{
    struct str l = c->line;
    char ch = l.s[at];
    size_t n = 1;
    if (ch == '/' && at + 1 < l.n && (l.s[at + 1] == '/' || l.s[at + 1] == '*')) {
        row_str(r, ROLE_COMMENT, (struct str){ l.s + at, l.n - at });
        return l.n - at;
    }
    if (ch == '"') {
        while (at + n < l.n && l.s[at + n - (n > 1)] != '"')
            n++;
        row_str(r, ROLE_NUMBER, (struct str){ l.s + at, n });
    } else if (ch == '\t') {
        row_pad(r, c->start + ((r->width - c->start) / 8 + 1) * 8);
    } else if (ch == '%' || ch == '$') {
        n = word_len(l, at);
        struct str w = { l.s + at, n };
        if (ch == '$' && c->head)
            c->head = !(at + n < l.n && l.s[at + n] == ':') && c->head;
        row_str(r, str_eq(w, c->reg) ? ROLE_REG_HIT : ch == '$' ? ROLE_SYMBOL : ROLE_REGISTER, w);
    } else if (ch == '.' && at + 1 < l.n && isalpha((unsigned char)l.s[at + 1])) {
        n = word_len(l, at);
        c->head = false;
        row_str(r, ROLE_DIRECTIVE, (struct str){ l.s + at, n });
    } else if (isdigit((unsigned char)ch)) {
        n = word_len(l, at);
        row_str(r, ROLE_NUMBER, (struct str){ l.s + at, n });
    } else if (name_char(ch)) {
        n = colour_word(r, c, at);
    } else {
        while (at + n < l.n && !name_char(l.s[at + n]) && !strchr("%$./\"\t", l.s[at + n]))
            n++;
        row_str(r, ROLE_TEXT, (struct str){ l.s + at, n });
    }
    return n;
}

/* Without the mark of the next line's place that stands behind an instruction: the panels show that line
 * itself. */
static struct str without_loc(struct str line)
{
    static const char loc[] = ".loc";
    size_t end = sizeof loc - 1;
    for (size_t i = 1; i + end < line.n; i++)
        if (line.s[i - 1] == '\t' || line.s[i - 1] == ' ')
            if (!memcmp(line.s + i, loc, end) && (line.s[i + end] == '\t' || line.s[i + end] == ' '))
                return str_trim((struct str){ line.s, i }).n ? (struct str){ line.s, i - 1 } : line;
    return line;
}

void source_colour(struct row *r, struct str line, struct str reg)
{
    size_t at = 0;
    line = without_loc(line);
    struct colouring c = { line, reg, r->width, true };
    while (at < line.n && (line.s[at] == ' ' || line.s[at] == '\t')) {
        row_put(r, ROLE_TEXT, "%s", line.s[at] == '\t' ? "    " : " ");
        at++;
    }
    while (at < line.n)
        at += colour_token(r, &c, at);
}

struct str source_name_on(struct str line, unsigned k)
{
    for (size_t at = 0; at < line.n;) {
        if (line.s[at] == '/' && at + 1 < line.n && line.s[at + 1] == '/')
            break;
        if (line.s[at] != '%' && line.s[at] != '$') {
            at++;
            continue;
        }
        size_t n = word_len(line, at);
        if (n > 1 && k-- == 0)
            return (struct str){ line.s + at, n };
        at += n;
    }
    return (struct str){ "", 0 };
}
