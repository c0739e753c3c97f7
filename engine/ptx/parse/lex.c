/* Lexing on the text itself. The module's copy ends in NUL, which is no character of
 * PTX, so scans stop there; a NUL inside the text is an unexpected character. */
#include "engine/ptx/ptx_int.h"

#include <stdio.h>
#include <string.h>

#define SP CH_SPACE
#define ST CH_START
#define XS (CH_START | CH_HEX)
#define DG (CH_DIGIT | CH_HEX)
const uint8_t ptx_char_class[256] = {
    ['\t'] = SP, ['\n'] = SP, ['\v'] = SP, ['\f'] = SP, ['\r'] = SP, [' '] = SP, ['$'] = ST, ['%'] = ST,
    ['_'] = ST,  ['0'] = DG,  ['1'] = DG,  ['2'] = DG,  ['3'] = DG,  ['4'] = DG, ['5'] = DG, ['6'] = DG,
    ['7'] = DG,  ['8'] = DG,  ['9'] = DG,  ['A'] = XS,  ['B'] = XS,  ['C'] = XS, ['D'] = XS, ['E'] = XS,
    ['F'] = XS,  ['G'] = ST,  ['H'] = ST,  ['I'] = ST,  ['J'] = ST,  ['K'] = ST, ['L'] = ST, ['M'] = ST,
    ['N'] = ST,  ['O'] = ST,  ['P'] = ST,  ['Q'] = ST,  ['R'] = ST,  ['S'] = ST, ['T'] = ST, ['U'] = ST,
    ['V'] = ST,  ['W'] = ST,  ['X'] = ST,  ['Y'] = ST,  ['Z'] = ST,  ['a'] = XS, ['b'] = XS, ['c'] = XS,
    ['d'] = XS,  ['e'] = XS,  ['f'] = XS,  ['g'] = ST,  ['h'] = ST,  ['i'] = ST, ['j'] = ST, ['k'] = ST,
    ['l'] = ST,  ['m'] = ST,  ['n'] = ST,  ['o'] = ST,  ['p'] = ST,  ['q'] = ST, ['r'] = ST, ['s'] = ST,
    ['t'] = ST,  ['u'] = ST,  ['v'] = ST,  ['w'] = ST,  ['x'] = ST,  ['y'] = ST, ['z'] = ST,
};

struct diag *ptx_report(struct ptx_parser *p, enum diag_level level, const char *code, struct span at,
                        const char *fmt, ...)
{
    char msg[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    p->errors += level == DIAG_ERROR;
    struct diag *d = diag_add(p->ds, level, code, p->m->path, at, "%s", msg);
    diag_source(d, p->m->text);
    return d;
}

struct diag *ptx_error(struct ptx_parser *p, const char *code, struct span at, const char *fmt, ...)
{
    char msg[512];
    if (ptx_quiet(p)) { /* only counted: nothing would be kept */
        p->errors++;
        diag_add(p->ds, DIAG_ERROR, code, NULL, at, "%s", "");
        return NULL;
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(msg, sizeof msg, fmt, ap);
    va_end(ap);
    return ptx_report(p, DIAG_ERROR, code, at, "%s", msg);
}

static void newline(struct ptx_parser *p, const char *nl)
{
    p->line++;
    p->line_start = nl + 1;
}

static void skip_block_comment(struct ptx_parser *p)
{
    struct span at = ptx_here(p);
    for (p->c += 2; p->c < p->end; p->c++) {
        if (*p->c == '\n')
            newline(p, p->c);
        if (*p->c == '*' && p->c[1] == '/') {
            p->c += 2;
            return;
        }
    }
    at.len = 2;
    ptx_error(p, "ptx-lex", at, "this comment is never closed");
}

void ptx_skip(struct ptx_parser *p)
{
    for (;;) {
        while (ptx_is(*p->c, CH_SPACE)) {
            if (*p->c == '\n')
                newline(p, p->c);
            p->c++;
        }
        if (*p->c != '/')
            return;
        if (p->c[1] == '/') {
            const char *nl = memchr(p->c, '\n', (size_t)(p->end - p->c));
            p->c = nl ? nl : p->end;
        } else if (p->c[1] == '*') {
            skip_block_comment(p);
        } else {
            return;
        }
    }
}

const char *ptx_quote(struct ptx_parser *p)
{
    ptx_skip(p);
    if (p->c >= p->end)
        return "the end of the file";
    const char *e = p->c;
    if (ptx_is(*e, CH_START | CH_DIGIT) || *e == '.')
        for (e++; ptx_is(*e, CH_START | CH_DIGIT) && e - p->c < 40;)
            e++;
    else
        e++;
    unsigned char first = (unsigned char)*p->c;
    char *s = first < 0x20 || first > 0x7e ? arena_printf(p->a, "byte 0x%02x", first)
                                           : arena_printf(p->a, "'%.*s'", (int)(e - p->c), p->c);
    return s ? s : "this";
}

bool ptx_expect(struct ptx_parser *p, char c, const char *where)
{
    if (ptx_take(p, c))
        return true;
    struct span at = ptx_here(p);
    at.len = 1;
    if (!ptx_quiet(p))
        ptx_error(p, "ptx-syntax", at, "expected '%c' %s, found %s", c, where, ptx_quote(p));
    else
        ptx_error(p, "ptx-syntax", at, "%s", "");
    return false;
}

struct str ptx_ident(struct ptx_parser *p)
{
    const char *s = p->c;
    if (!ptx_is(*s, CH_START))
        return (struct str){ s, 0 };
    do
        p->c++;
    while (ptx_is(*p->c, CH_START | CH_DIGIT));
    return (struct str){ s, (size_t)(p->c - s) };
}

struct str ptx_dotword(struct ptx_parser *p)
{
    if (*p->c != '.' || !ptx_is(p->c[1], CH_START | CH_DIGIT))
        return (struct str){ p->c, 0 };
    const char *s = ++p->c;
    for (;;) {
        if (ptx_is(*p->c, CH_START | CH_DIGIT))
            p->c++;
        else if (*p->c == ':' && p->c[1] == ':' && ptx_is(p->c[2], CH_START | CH_DIGIT))
            p->c += 3;
        else
            return (struct str){ s, (size_t)(p->c - s) };
    }
}

bool ptx_string(struct ptx_parser *p, struct str *out)
{
    if (!ptx_at(p, '"')) {
        struct span at = ptx_here(p);
        at.len = 1;
        ptx_error(p, "ptx-syntax", at, "expected a \"string\", found %s", ptx_quote(p));
        return false;
    }
    struct span at = ptx_here(p);
    const char *s = ++p->c;
    while (p->c < p->end && *p->c != '"' && *p->c != '\n')
        p->c += *p->c == '\\' && p->c + 1 < p->end && p->c[1] != '\n' ? 2 : 1;
    *out = (struct str){ s, (size_t)(p->c - s) };
    if (p->c < p->end && *p->c == '"') {
        p->c++;
        return true;
    }
    at.len = 1;
    ptx_error(p, "ptx-lex", at, "this string is not closed on its line");
    return false;
}

static bool first_on_line(const struct ptx_parser *p, const char *at)
{
    for (const char *b = p->line_start; b < at; b++)
        if (*b != ' ' && *b != '\t')
            return false;
    return true;
}

/* A '.' begins a directive when it is the first thing on its line and a word follows. */
static bool at_directive(const struct ptx_parser *p)
{
    return *p->c == '.' && ptx_is(p->c[1], CH_START) && first_on_line(p, p->c);
}

/* Braces of lists like {a, b} that the line opened before the cursor. */
static size_t open_lists(const struct ptx_parser *p)
{
    size_t open = 0;
    for (const char *b = p->line_start; b < p->c; b++) {
        if (*b == ';')
            open = 0;
        open += *b == '{' && !first_on_line(p, b);
        open -= *b == '}' && open;
    }
    return open;
}

void ptx_resync(struct ptx_parser *p)
{
    const char *start = p->c;
    size_t lists = open_lists(p);
    for (;;) {
        ptx_skip(p);
        bool close = *p->c == '}',
             list = *p->c == '{' && p->c > start && p->f && !first_on_line(p, p->c);
        if (p->c >= p->end || (close && !lists) || (*p->c == '{' && !list))
            return;
        lists = lists + list - close;
        if (p->c > start && at_directive(p))
            return;
        if (*p->c++ == ';')
            return;
    }
}

bool ptx_skip_block(struct ptx_parser *p)
{
    struct span at = ptx_here(p);
    at.len = 1;
    if (!ptx_expect(p, '{', "here"))
        return false;
    for (size_t depth = 1; depth;) {
        ptx_skip(p);
        if (p->c >= p->end) {
            ptx_error(p, "ptx-syntax", at, "this '{' is never closed");
            return false;
        }
        depth += *p->c == '{';
        depth -= *p->c == '}';
        if (*p->c == '"') {
            struct str s;
            ptx_string(p, &s);
        } else {
            p->c++;
        }
    }
    return true;
}
