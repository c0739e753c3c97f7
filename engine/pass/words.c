/* PTX text looked at word by word, as the lexer does: what stands in a comment or in a string is no
 * word. */
#include "engine/pass/words.h"

#include "engine/ptx/ptx.h"

#include <string.h>

size_t words_skip_blank(struct str t, size_t k)
{
    while (k < t.n) {
        const char *end;
        if (strchr(" \t\r\n\f\v", t.s[k])) {
            k++;
        } else if (k + 1 < t.n && t.s[k] == '/' && t.s[k + 1] == '/') {
            end = memchr(t.s + k, '\n', t.n - k);
            k = end ? (size_t)(end - t.s) : t.n;
        } else if (k + 1 < t.n && t.s[k] == '/' && t.s[k + 1] == '*') {
            end = memmem(t.s + k + 2, t.n - k - 2, "*/", 2);
            k = end ? (size_t)(end - t.s) + 2 : t.n;
        } else {
            break;
        }
    }
    return k;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

size_t words_skip_name(struct str t, size_t k)
{
    while (k < t.n && is_name(t.s[k]))
        k++;
    return k;
}

/* Behind one character, and what is blank. */
static size_t skip_one(struct str t, size_t k)
{
    return words_skip_blank(t, k < t.n ? k + 1 : k);
}

struct str words_opcode(const struct ptx_module *m, const struct ptx_inst *i)
{
    struct str t = ptx_text(m, i->at);
    size_t from = words_skip_blank(t, 0), to;
    if (i->guarded) {
        from = skip_one(t, from); /* @ */
        if (from < t.n && t.s[from] == '!')
            from = skip_one(t, from);
        from += from < t.n && t.s[from] == '%';
        from = words_skip_blank(t, words_skip_name(t, from));
    }
    for (to = from; to < t.n && (is_name(t.s[to]) || t.s[to] == '.' || t.s[to] == ':'); to++)
        ;
    return (struct str){ t.s + from, to - from };
}

void words_guard(const struct ptx_func *f, const struct ptx_inst *i, struct buf *out)
{
    if (!i->guarded)
        return;
    buf_puts(out, i->guard_neg ? "@!" : "@");
    buf_str(out, f->regs[i->guard].name);
    buf_puts(out, " ");
}

/* The next word of a head begins: strings and comments are passed. */
static size_t next_word(struct str t, size_t k)
{
    for (k = words_skip_blank(t, k); k < t.n && t.s[k] == '"'; k = words_skip_blank(t, k)) {
        const char *end = memchr(t.s + k + 1, '"', t.n - k - 1);
        k = end ? (size_t)(end - t.s) + 1 : t.n;
    }
    return k;
}

/* Is this the end of a directive's arguments? A dot between digits is none. */
static bool ends_args(struct str t, size_t k)
{
    bool digit = k + 1 < t.n && t.s[k + 1] >= '0' && t.s[k + 1] <= '9';
    return t.s[k] == '{' || t.s[k] == ';' || t.s[k] == '"' || (t.s[k] == '.' && !digit);
}

bool words_directive(struct str head, const char *name, size_t *at, struct str *args)
{
    size_t n = strlen(name);
    for (size_t k = next_word(head, *at), end; k < head.n; k = next_word(head, end)) {
        end = words_skip_name(head, k + 1);
        if (end - k != n || memcmp(head.s + k, name, n) != 0)
            continue;
        size_t from = words_skip_blank(head, end), to = from;
        for (k = from; k < head.n && !ends_args(head, k); k = words_skip_blank(head, to))
            to = k + 1;
        *args = (struct str){ head.s + from, to - from };
        *at = to;
        return true;
    }
    return false;
}
