/* C++ names as compilers write them into PTX (Itanium C++ ABI, 5.1): what a person calls the function.
 * Of parameters nothing is told; template arguments are where they are plain types, numbers and names.
 */
#include "engine/ptx/ptx.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST_SUBS = 64,
    MOST_DEPTH = 24,
    MOST_ARGS = 48 /* characters of a list of template arguments */
};

/* Every name and type read so far that may be meant again (S_, S0_ ...) lies in `pool`. */
struct sub {
    size_t at, n;
};
struct reader {
    const char *c, *end;
    struct buf pool;
    struct sub sub[MOST_SUBS];
    unsigned nsubs, depth;
    bool lost;
};

static bool read_type(struct reader *r, struct buf *out);
static bool read_args(struct reader *r, struct buf *out);

static bool give_up(struct reader *r)
{
    r->lost = true;
    return false;
}

static bool take(struct reader *r, char c)
{
    if (r->c >= r->end || *r->c != c)
        return false;
    r->c++;
    return true;
}

static void remember(struct reader *r, const struct buf *b, size_t from)
{
    if (r->nsubs == MOST_SUBS) {
        give_up(r);
        return;
    }
    r->sub[r->nsubs++] = (struct sub){ r->pool.n, b->n - from };
    if (b->n > from)
        buf_put(&r->pool, b->s + from, b->n - from);
}

static bool read_number(struct reader *r, size_t *n)
{
    const char *from = r->c;
    for (*n = 0; r->c < r->end && *r->c >= '0' && *r->c <= '9' && *n < 1u << 20; r->c++)
        *n = *n * 10 + (size_t)(*r->c - '0');
    return r->c > from;
}

/* 9vectorAdd; namespaces without a name have one that nobody wrote. */
static bool read_source_name(struct reader *r, struct buf *out)
{
    size_t n;
    if (!read_number(r, &n) || n > (size_t)(r->end - r->c))
        return give_up(r);
    struct str s = { r->c, n };
    bool nameless = (n > 8 && !memcmp(s.s, "_GLOBAL_", 8)) || (n > 10 && !memcmp(s.s, "_INTERNAL_", 10));
    r->c += n;
    if (nameless)
        buf_puts(out, "(anonymous)");
    else
        buf_put(out, s.s, s.n);
    return true;
}

/* S_, S0_, SA_ ...: seq is base 36. */
static bool read_sub(struct reader *r, struct buf *out)
{
    size_t at = 0;
    if (!take(r, '_')) {
        for (; r->c < r->end && *r->c != '_'; r->c++) {
            if (!((*r->c >= '0' && *r->c <= '9') || (*r->c >= 'A' && *r->c <= 'Z')) || at > MOST_SUBS)
                return give_up(r);
            at = at * 36 + (size_t)(*r->c <= '9' ? *r->c - '0' : *r->c - 'A' + 10);
        }
        if (!take(r, '_'))
            return give_up(r);
        at++;
    }
    if (at >= r->nsubs)
        return give_up(r);
    if (r->sub[at].n)
        buf_put(out, r->pool.s + r->sub[at].at, r->sub[at].n);
    return true;
}

/* N ... E, after the N. `type`: the whole of it may be meant again, too; a function's may not. */
static bool read_nested(struct reader *r, struct buf *out, bool type)
{
    size_t from = out->n;
    while (r->c < r->end && strchr("KVrRO", *r->c))
        r->c++;
    for (bool first = true; !take(r, 'E'); first = false) {
        bool again = false;
        if (r->c < r->end && *r->c == 'I' && !first) {
            if (!read_args(r, out))
                return false;
        } else {
            buf_puts(out, first ? "" : "::");
            if (first && take(r, 'S')) {
                again = true;
                if (take(r, 't'))
                    buf_puts(out, "std");
                else if (!read_sub(r, out))
                    return false;
            } else if (!read_source_name(r, out)) {
                return false; /* constructors, operators, lambdas */
            }
        }
        if (!again && (type || r->c >= r->end || *r->c != 'E'))
            remember(r, out, from);
    }
    return !r->lost;
}

static const char *builtin(char c)
{
    static const char letters[] = "vwbcahstijlmxynofdeg";
    static const char *const names[] = { "void",        "wchar_t",
                                         "bool",        "char",
                                         "signed char", "unsigned char",
                                         "short",       "unsigned short",
                                         "int",         "unsigned",
                                         "long",        "unsigned long",
                                         "long long",   "unsigned long long",
                                         "__int128",    "unsigned __int128",
                                         "float",       "double",
                                         "long double", "__float128" };
    const char *p = c ? strchr(letters, c) : NULL;
    return p ? names[p - letters] : NULL;
}

/* A class or the like, with its arguments. */
static bool read_named(struct reader *r, struct buf *out)
{
    size_t from = out->n;
    bool again = false;
    if (take(r, 'N'))
        return read_nested(r, out, true);
    if (take(r, 'S')) {
        if (take(r, 't')) {
            buf_puts(out, "std::");
            if (!read_source_name(r, out))
                return false;
        } else {
            again = true;
            if (!read_sub(r, out))
                return false;
        }
    } else if (!read_source_name(r, out)) {
        return false;
    }
    if (!again)
        remember(r, out, from);
    if (r->c < r->end && *r->c == 'I') {
        if (!read_args(r, out))
            return false;
        remember(r, out, from);
    }
    return !r->lost;
}

static bool read_type(struct reader *r, struct buf *out)
{
    static const struct {
        char c;
        const char *text;
    } around[] = { { 'P', "*" }, { 'R', "&" }, { 'O', "&&" }, { 'K', " const" }, { 'V', " volatile" } };
    const char *plain = r->c < r->end ? builtin(*r->c) : NULL;
    size_t from = out->n;
    if (plain) {
        r->c++;
        buf_puts(out, plain);
        return true;
    }
    if (r->depth == MOST_DEPTH)
        return give_up(r);
    for (size_t i = 0; i < ARRAY_LEN(around); i++)
        if (take(r, around[i].c)) {
            r->depth++;
            bool ok = read_type(r, out);
            r->depth--;
            buf_puts(out, around[i].text);
            remember(r, out, from);
            return ok && !r->lost;
        }
    return read_named(r, out);
}

/* L j 16 E, L b 1 E; numbers below zero begin with n. */
static bool read_literal(struct reader *r, struct buf *out)
{
    bool truth = r->c < r->end && *r->c == 'b';
    struct buf type = { 0 };
    size_t n = 0;
    bool ok = read_type(r, &type), below = ok && take(r, 'n');
    ok = ok && read_number(r, &n) && take(r, 'E');
    buf_free(&type);
    if (!ok)
        return give_up(r);
    if (truth)
        buf_puts(out, n ? "true" : "false");
    else
        buf_printf(out, "%s%zu", below ? "-" : "", n);
    return true;
}

static bool read_arg(struct reader *r, struct buf *out)
{
    if (take(r, 'L'))
        return read_literal(r, out);
    if (!take(r, 'J'))
        return read_type(r, out);
    for (bool first = true; !take(r, 'E'); first = false) { /* a pack */
        buf_puts(out, first ? "" : ", ");
        if (r->c >= r->end || !read_arg(r, out))
            return give_up(r);
    }
    return true;
}

/* I ... E. What is not understood, and what is long, is "<...>". */
static bool read_args(struct reader *r, struct buf *out)
{
    struct buf list = { 0 };
    r->c++;
    if (++r->depth > MOST_DEPTH)
        give_up(r);
    for (bool first = true; !r->lost && !take(r, 'E'); first = false) {
        buf_puts(&list, first ? "" : ", ");
        if (r->c >= r->end || !read_arg(r, &list))
            give_up(r);
    }
    r->depth--;
    if (r->lost || list.n > MOST_ARGS)
        buf_puts(out, "<...>");
    else
        buf_printf(out, "<%.*s>", (int)list.n, list.n ? list.s : "");
    buf_free(&list);
    return !r->lost;
}

void ptx_readable(struct str name, struct buf *out)
{
    struct reader r = { .c = name.s, .end = name.s + name.n };
    size_t from = out->n;
    bool ok = take(&r, '_') && take(&r, 'Z');
    if (ok && take(&r, 'L')) /* of this file alone */
        ok = true;
    if (ok && take(&r, 'N')) {
        read_nested(&r, out, false);
    } else if (ok && read_source_name(&r, out)) {
        remember(&r, out, from);
        if (r.c < r.end && *r.c == 'I')
            read_args(&r, out);
    }
    while (out->n > from + 2 && !memcmp(out->s + out->n - 2, "::", 2))
        out->s[out->n -= 2] = 0; /* the next part was not understood */
    buf_free(&r.pool);
    if (out->n == from)
        buf_put(out, name.s, name.n);
}

const char *ptx_label(const char *name, char out[PTX_LABEL])
{
    struct buf b = { 0 };
    ptx_readable(str_of(name), &b);
    snprintf(out, PTX_LABEL, "%s", b.s ? b.s : "");
    if (b.n >= PTX_LABEL)
        memcpy(out + PTX_LABEL - 4, "...", 4);
    buf_free(&b);
    return out;
}

struct str ptx_param_label(const struct ptx_func *f, uint32_t param)
{
    struct str s = f->params[param]->name;
    size_t n = f->name.n + 1;
    bool cpp = f->name.n > 2 && !memcmp(f->name.s, "_Z", 2) && s.n > n + 6 &&
               !memcmp(s.s, f->name.s, f->name.n) && !memcmp(s.s + n, "param_", 6);
    return cpp ? (struct str){ s.s + n, s.n - n } : s;
}

/* Is `text` all of the name, or its last part, with or without the template arguments? */
static bool is_called(struct str readable, struct str text)
{
    size_t end = readable.n, depth = 0;
    if (end && readable.s[end - 1] == '>') {
        do {
            end--;
            depth += readable.s[end] == '>';
            depth -= readable.s[end] == '<';
        } while (end && depth);
    }
    for (size_t i = 0; i < 2; i++) {
        size_t n = i ? end : readable.n, at = n - text.n;
        if (text.n && text.n <= n && !memcmp(readable.s + at, text.s, text.n) &&
            (!at || (at > 1 && readable.s[at - 1] == ':')))
            return true;
    }
    return false;
}

static bool matches(const struct ptx_func *f, struct str text, bool part, struct buf *readable)
{
    buf_clear(readable);
    ptx_readable(f->name, readable);
    struct str r = { readable->s ? readable->s : "", readable->n };
    if (!part)
        return is_called(r, text);
    return memmem(f->name.s, f->name.n, text.s, text.n) || memmem(r.s, r.n, text.s, text.n);
}

const struct ptx_func *ptx_find_entry(const struct ptx_module *m, struct str text, struct buf *several)
{
    const struct ptx_func *found = ptx_find_func(m, text);
    struct buf readable = { 0 };
    unsigned n = 0;
    for (unsigned part = 0; !found && text.n && part < 2; part++, n = 0) {
        for (uint32_t i = 0; i < m->nfuncs; i++) {
            if (!m->funcs[i]->entry || !m->funcs[i]->has_body ||
                !matches(m->funcs[i], text, part, &readable))
                continue;
            found = m->funcs[i];
            buf_printf(several, "%s'%.*s'", n++ ? ", " : "", (int)found->name.n, found->name.s);
        }
        if (n > 1)
            found = NULL;
        else
            buf_clear(several);
        if (n)
            break;
    }
    buf_free(&readable);
    return found;
}
