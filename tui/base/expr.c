/* expr: precedence climbing over integers; wraps around like the machine. */
#include "tui/base/expr.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct str s;
    const struct expr_env *env;
    struct str bad;
    int depth;
};

static void skip(struct reader *r)
{
    while (r->s.n && isspace((unsigned char)*r->s.s))
        r->s.s++, r->s.n--;
}

static bool fail(struct reader *r, struct str what)
{
    r->bad = what;
    return false;
}

static bool binary(struct reader *r, int least, int64_t *v);

static bool name_part(char c)
{
    return isalnum((unsigned char)c) || strchr("_.$%@", c);
}

static bool primary(struct reader *r, int64_t *v);

/* u32(x): the low 32 bits */
static bool truncated(struct reader *r, struct str w, int64_t *v)
{
    unsigned bits = (unsigned)atoi(w.s + 1);
    r->s.s += w.n, r->s.n -= w.n;
    if (!primary(r, v))
        return false;
    if (bits > 0 && bits < 64)
        *v = (int64_t)((uint64_t)*v & ((1ull << bits) - 1));
    return true;
}

static bool primary(struct reader *r, int64_t *v)
{
    skip(r);
    if (!r->s.n)
        return fail(r, r->s);
    char c = *r->s.s;
    if (c == '-' || c == '~' || c == '(') {
        r->s.s++, r->s.n--;
        if (++r->depth > 64 || !(c == '(' ? binary(r, 0, v) : primary(r, v)))
            return false;
        r->depth--;
        *v = c == '-' ? (int64_t)(0 - (uint64_t)*v) : c == '~' ? ~*v : *v;
        skip(r);
        if (c != '(')
            return true;
        if (!r->s.n || *r->s.s != ')')
            return fail(r, r->s);
        r->s.s++, r->s.n--;
        return true;
    }
    if (isdigit((unsigned char)c)) {
        char *end;
        *v = (int64_t)strtoull(r->s.s, &end, 0);
        r->s.n -= (size_t)(end - r->s.s);
        r->s.s = end;
        return true;
    }
    struct str w = { r->s.s, 0 };
    while (w.n < r->s.n && name_part(w.s[w.n]) && !(w.s[w.n] == '%' && w.n))
        w.n++;
    if (w.n < r->s.n && w.s[w.n] == '(' && w.n > 1 && *w.s == 'u')
        return truncated(r, w, v);
    if (!w.n || !r->env->name(r->env->ctx, w, v))
        return fail(r, w.n ? w : r->s);
    r->s.s += w.n, r->s.n -= w.n;
    return true;
}

/* As the analysis prints them: sums and products bind tighter than everything else,
 * so a + b % 32 is (a + b) % 32. Longest spellings first. */
static const struct {
    const char *text;
    int level;
    char code;
} ops[] = { { ">>>", 1, 'u' }, { "<<", 1, '<' }, { ">>", 1, '>' }, { "|", 1, '|' },
            { "^", 1, '^' },   { "&", 1, '&' },  { "/", 1, '/' },  { "%", 1, '%' },
            { "+", 2, '+' },   { "-", 2, '-' },  { "*", 3, '*' } };

static int next_op(const struct reader *r)
{
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        size_t n = strlen(ops[i].text);
        if (r->s.n >= n && !memcmp(r->s.s, ops[i].text, n))
            return (int)i;
    }
    return -1;
}

static bool apply(char op, int64_t a, int64_t b, int64_t *v)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
    case 'u': /* of a 32-bit value, unless it does not fit one */
        x = a >= INT32_MIN && a <= INT32_MAX ? (uint32_t)a : x;
        *v = y < 64 ? (int64_t)(x >> y) : 0;
        return true;
    case '+': *v = (int64_t)(x + y); return true;
    case '-': *v = (int64_t)(x - y); return true;
    case '*': *v = (int64_t)(x * y); return true;
    case '<': *v = y < 64 ? (int64_t)(x << y) : 0; return true;
    case '>': *v = y < 64 ? a >> y : 0; return true;
    case '&': *v = a & b; return true;
    case '|': *v = a | b; return true;
    case '^': *v = a ^ b; return true;
    }
    if (b == 0 || (a == INT64_MIN && b == -1))
        return false;
    *v = op == '/' ? a / b : a % b;
    return true;
}

static bool binary(struct reader *r, int least, int64_t *v)
{
    if (!primary(r, v))
        return false;
    for (;;) {
        skip(r);
        int op = next_op(r);
        if (op < 0 || ops[op].level < least)
            return true;
        size_t n = strlen(ops[op].text);
        r->s.s += n, r->s.n -= n;
        int64_t right;
        if (!binary(r, ops[op].level + 1, &right))
            return false;
        if (!apply(ops[op].code, *v, right, v))
            return fail(r, r->s);
    }
}

bool expr_eval(struct str text, const struct expr_env *env, int64_t *value, struct str *bad)
{
    struct reader r = { text, env, { "", 0 }, 0 };
    char *copy = base_alloc(text.n + 1); /* strtoull needs an end */
    if (!copy)
        return false;
    memcpy(copy, text.s, text.n);
    r.s.s = copy;
    bool ok = binary(&r, 0, value);
    skip(&r);
    if (ok && r.s.n)
        ok = fail(&r, r.s);
    if (!ok && bad)
        *bad = r.bad.s >= copy && r.bad.s <= copy + text.n
                   ? (struct str){ text.s + (r.bad.s - copy), r.bad.n }
                   : (struct str){ text.s, text.n };
    base_free(copy);
    return ok;
}
