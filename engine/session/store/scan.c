/* Where values of JSON text begin and end. One pass over the bytes, no recursion, nothing allocated. */
#include "engine/session/store/scan.h"

#include <stdlib.h>
#include <string.h>

static const char *blanks(const char *s, const char *end)
{
    while (s < end && (unsigned char)*s <= ' ')
        s++;
    return s;
}

/* Behind the string that begins at s; NULL: it is none, and *bad says where. */
static const char *string_end(const char *s, const char *end, const char **bad)
{
    *bad = s;
    if (s >= end || *s != '"')
        return NULL;
    for (s++; s < end; s++) {
        if (*s == '"')
            return s + 1;
        if (*s != '\\')
            continue;
        *bad = s;
        if (s + 1 >= end || !strchr("\"\\/bfnrtu", s[1]) || !s[1])
            return NULL;
        for (int k = 2; s[1] == 'u' && k < 6; k++)
            if (s + k >= end || !strchr("0123456789abcdefABCDEF", s[k]) || !s[k])
                return NULL;
        s++;
    }
    return NULL;
}

static const char *word_end(const char *s, const char *end, const char **bad)
{
    static const char *const words[] = { "true", "false", "null" };
    char *stop = NULL;
    *bad = s;
    for (size_t k = 0; k < ARRAY_LEN(words); k++) {
        size_t n = k == 1 ? 5 : 4;
        if (*s == *words[k] && (size_t)(end - s) >= n && !memcmp(s, words[k], n))
            return s + n;
    }
    if (s >= end || !(*s == '-' || (*s >= '0' && *s <= '9')))
        return NULL;
    const char *e = s + (*s == '-');
    while (*e >= '0' && *e <= '9')
        e++;
    if (e > s + (*s == '-') && *e != '.' && *e != 'e' && *e != 'E')
        return e;
    for (e = s; *e && strchr("0123456789+-.eE", *e);)
        e++;
    (void)strtod(s, &stop);
    return stop > s && stop <= e ? stop : NULL;
}

/* What may come next. */
enum want { WANT_VALUE, WANT_KEY, WANT_KEY_OR_END, WANT_VALUE_OR_END, WANT_COMMA_OR_END };
struct walk {
    const char *s, *end;
    bool object[SCAN_DEEPEST];
    size_t depth;
    enum want want;
};

static bool take_key(struct walk *w)
{
    const char *bad, *e = string_end(w->s, w->end, &bad);
    if (!e) {
        w->s = bad;
        return false;
    }
    w->s = blanks(e, w->end);
    if (w->s >= w->end || *w->s != ':')
        return false;
    w->s++;
    w->want = WANT_VALUE;
    return true;
}

static bool take_value(struct walk *w)
{
    const char *bad = w->s, *e;
    if (*w->s == '{' || *w->s == '[') {
        if (w->depth == SCAN_DEEPEST)
            return false;
        w->object[w->depth++] = *w->s == '{';
        w->want = *w->s == '{' ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
        w->s++;
        return true;
    }
    e = *w->s == '"' ? string_end(w->s, w->end, &bad) : word_end(w->s, w->end, &bad);
    w->s = e ? e : bad;
    w->want = WANT_COMMA_OR_END;
    return e != NULL;
}

static bool take(struct walk *w)
{
    bool object = w->depth && w->object[w->depth - 1];
    if (w->depth && w->want >= WANT_KEY_OR_END && *w->s == (object ? '}' : ']')) {
        w->depth--;
        w->s++;
        w->want = WANT_COMMA_OR_END;
        return true;
    }
    if (w->want == WANT_COMMA_OR_END) {
        if (*w->s != ',')
            return false;
        w->s++;
        w->want = object ? WANT_KEY : WANT_VALUE;
        return true;
    }
    return w->want == WANT_KEY || w->want == WANT_KEY_OR_END ? take_key(w) : take_value(w);
}

bool scan_value(const char **at, const char *end, struct str *value)
{
    struct walk w = { .s = blanks(*at, end), .end = end, .want = WANT_VALUE };
    const char *begin = w.s;
    do {
        w.s = blanks(w.s, end);
        if (w.s >= end || !take(&w)) {
            *at = w.s;
            return false;
        }
    } while (w.depth);
    *value = (struct str){ begin, (size_t)(w.s - begin) };
    *at = w.s;
    return true;
}

/* The key and colon at *at. */
static bool scan_key(const char **at, const char *end, struct str *key)
{
    const char *bad, *e = string_end(*at, end, &bad);
    if (!e) {
        *at = bad;
        return false;
    }
    *key = (struct str){ *at + 1, (size_t)(e - *at) - 2 };
    *at = blanks(e, end);
    if (*at >= end || **at != ':')
        return false;
    *at = blanks(*at + 1, end);
    return true;
}

bool scan_members(const char **at, const char *end, scan_fn *fn, void *ctx)
{
    bool object = **at == '{';
    char close = object ? '}' : ']';
    struct str key = { "", 0 };
    *at = blanks(*at + 1, end);
    if (*at < end && **at == close) {
        ++*at;
        return true;
    }
    for (;;) {
        if (object && !scan_key(at, end, &key))
            return false;
        if (!fn(ctx, key, at, end))
            return false;
        *at = blanks(*at, end);
        if (*at < end && **at == close) {
            ++*at;
            return true;
        }
        if (*at >= end || **at != ',')
            return false;
        *at = blanks(*at + 1, end);
    }
}
