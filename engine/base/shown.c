/* See shown.h. */
#include "engine/base/shown.h"

static bool between(uint32_t cp, uint32_t low, uint32_t high)
{
    return cp >= low && cp <= high;
}

bool shown_point(uint32_t cp)
{
    if (cp < 0x20 || between(cp, 0x7F, 0x9F) || cp > 0x10FFFF || between(cp, 0xD800, 0xDFFF))
        return false;
    if (cp == 0x61C || between(cp, 0x200B, 0x200F) || between(cp, 0x2028, 0x202E) ||
        between(cp, 0x2060, 0x206F))
        return false;
    return cp != 0xFEFF && (cp & 0xFFFE) != 0xFFFE && !between(cp, 0xFFF9, 0xFFFB) &&
           !between(cp, 0xE0000, 0xE007F);
}

size_t shown_next(const char *s, size_t n, uint32_t *cp)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    unsigned char c = (unsigned char)*s;
    size_t k = c < 0x80                ? 1
               : c >= 0xC2 && c < 0xE0 ? 2
               : (c & 0xF0) == 0xE0    ? 3
               : c >= 0xF0 && c < 0xF5 ? 4
                                       : 0;
    *cp = k == 1 ? c : k ? c & (0x7Fu >> k) : UINT32_MAX;
    for (size_t i = 1; i < k; i++) {
        if (i >= n || ((unsigned char)s[i] & 0xC0) != 0x80) {
            *cp = UINT32_MAX;
            return 1;
        }
        *cp = *cp << 6 | ((unsigned char)s[i] & 0x3F);
    }
    if (!k || *cp < least[k] || *cp > 0x10FFFF || between(*cp, 0xD800, 0xDFFF)) {
        *cp = UINT32_MAX;
        return 1;
    }
    return k;
}

void buf_shown(struct buf *b, struct str s)
{
    size_t kept = 0, i = 0; /* [kept, i): to be put as it is */
    while (i < s.n) {
        uint32_t cp;
        size_t k = shown_next(s.s + i, s.n - i, &cp);
        if (!shown_point(cp) && cp != '\n' && cp != '\t') {
            buf_put(b, s.s + kept, i - kept);
            if (cp != '\r' || i + 1 >= s.n || s.s[i + 1] != '\n')
                buf_puts(b, "?");
            kept = i + k;
        }
        i += k;
    }
    if (s.n > kept)
        buf_put(b, s.s + kept, s.n - kept);
}

void buf_show_from(struct buf *b, size_t from)
{
    struct buf t = { 0 };
    if (!b->s || from >= b->n)
        return;
    buf_shown(&t, (struct str){ b->s + from, b->n - from });
    b->n = from;
    b->s[from] = 0;
    if (t.s)
        buf_put(b, t.s, t.n);
    b->oom = b->oom || t.oom;
    buf_free(&t);
}

/* Controls beyond ASCII and what turns the direction of writing are written as numbers. */
static void json_escape(struct buf *b, uint32_t cp)
{
    if (cp > 0xFFFF)
        buf_printf(b, "\\u%04x\\u%04x", 0xD7C0u + (cp >> 10), 0xDC00u + (cp & 0x3FFu));
    else
        buf_printf(b, "\\u%04x", cp);
}

void buf_json(struct buf *b, struct str s)
{
    buf_puts(b, "\"");
    for (size_t i = 0; i < s.n;) {
        uint32_t cp;
        size_t n = shown_next(s.s + i, s.n - i, &cp);
        if (cp == '"' || cp == '\\')
            buf_printf(b, "\\%c", (char)cp);
        else if (cp == '\n' || cp == '\t' || cp == '\r')
            buf_printf(b, "\\%c", cp == '\n' ? 'n' : cp == '\t' ? 't' : 'r');
        else if (cp == UINT32_MAX)
            buf_puts(b, "\\ufffd"); /* a byte that is not UTF-8 */
        else if (shown_point(cp))
            buf_put(b, s.s + i, n);
        else
            json_escape(b, cp);
        i += n;
    }
    buf_puts(b, "\"");
}
