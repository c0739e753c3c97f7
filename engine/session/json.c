/* JSON text: a writer that keeps every digit, strict reading, field tables. */
#include "engine/base/base.h"
#include "engine/session/session_int.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_INTEGER ((int64_t)1 << 53)

struct jw jw_open(struct buf *out, int pretty)
{
    return (struct jw){ .out = out, .pretty = pretty, .first = true };
}

/* Puts what separates a value or key from the one before: a comma, and a new line down to the pretty
 * depth. */
static void separate(struct jw *w)
{
    if (w->keyed) {
        w->keyed = false;
        return;
    }
    if (!w->first)
        buf_puts(w->out, ",");
    if (w->depth && w->depth <= w->pretty)
        buf_printf(w->out, "\n%*s", w->depth * 2, "");
    else if (!w->first)
        buf_puts(w->out, " ");
    w->first = false;
}

void jw_key_view(struct jw *w, struct str key)
{
    separate(w);
    buf_json(w->out, key);
    buf_puts(w->out, ": ");
    w->keyed = true;
}

void jw_key(struct jw *w, const char *key)
{
    jw_key_view(w, str_of(key));
}

static void open_as(struct jw *w, const char *c)
{
    separate(w);
    buf_puts(w->out, c);
    w->depth++;
    w->first = true;
}

static void close_as(struct jw *w, const char *c)
{
    bool empty = w->first;
    w->depth--;
    if (!empty && w->depth < w->pretty)
        buf_printf(w->out, "\n%*s", w->depth * 2, "");
    buf_puts(w->out, c);
    w->first = false;
}

void jw_obj(struct jw *w)
{
    open_as(w, "{");
}
void jw_arr(struct jw *w)
{
    open_as(w, "[");
}
void jw_end_obj(struct jw *w)
{
    close_as(w, "}");
}
void jw_end_arr(struct jw *w)
{
    close_as(w, "]");
}

void jw_view(struct jw *w, struct str s)
{
    separate(w);
    buf_json(w->out, s);
}

void jw_raw(struct jw *w, struct str json)
{
    separate(w);
    buf_str(w->out, json);
}

void jw_null(struct jw *w)
{
    separate(w);
    buf_puts(w->out, "null");
}

void jw_str(struct jw *w, const char *s)
{
    if (s)
        jw_view(w, str_of(s));
    else
        jw_null(w);
}

void jw_int(struct jw *w, int64_t v)
{
    bool exact = v <= EXACT_INTEGER && v >= -EXACT_INTEGER;
    separate(w);
    buf_printf(w->out, exact ? "%" PRId64 : "\"%" PRId64 "\"", v);
}

void jw_uint(struct jw *w, uint64_t v)
{
    separate(w);
    buf_printf(w->out, v <= (uint64_t)EXACT_INTEGER ? "%" PRIu64 : "\"%" PRIu64 "\"", v);
}

void jw_num(struct jw *w, double v)
{
    char text[40];
    if (!isfinite(v)) {
        jw_null(w);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    separate(w);
    buf_puts(w->out, text);
}

void jw_bool(struct jw *w, bool v)
{
    separate(w);
    buf_puts(w->out, v ? "true" : "false");
}

void jw_tree(struct jw *w, const cJSON *t)
{
    if (cJSON_IsString(t))
        jw_str(w, t->valuestring);
    else if (cJSON_IsNumber(t))
        jw_num(w, t->valuedouble);
    else if (cJSON_IsBool(t))
        jw_bool(w, cJSON_IsTrue(t));
    else if (cJSON_IsObject(t) || cJSON_IsArray(t)) { /* depth is bounded by the parser */
        bool object = cJSON_IsObject(t);
        if (object)
            jw_obj(w);
        else
            jw_arr(w);
        const cJSON *c;
        cJSON_ArrayForEach(c, t)
        {
            if (object)
                jw_key(w, c->string);
            jw_tree(w, c);
        }
        if (object)
            jw_end_obj(w);
        else
            jw_end_arr(w);
    } else
        jw_null(w);
}

/* ---- reading ---- */
static struct span place_of(const char *text, size_t n, const char *at)
{
    struct span s = { 0, 1, 1, 1 };
    s.off = (uint32_t)(at >= text && at <= text + n ? at - text : 0);
    for (uint32_t i = 0; i < s.off; i++) {
        s.col++;
        if (text[i] == '\n') {
            s.line++;
            s.col = 1;
        }
    }
    return s;
}

/* Where the innermost bracket that is open before `at` stands; SIZE_MAX: none, or too deep to tell.
 * *last: the last character that is no blank, outside of strings. */
#define BRACKETS_DEEP 64
static size_t open_bracket(const char *text, size_t at, char *last)
{
    size_t open[BRACKETS_DEEP], n = 0;
    bool quoted = false;
    *last = 0;
    for (size_t i = 0; i < at; i++) {
        char c = text[i];
        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
        } else if (c == '{' || c == '[') {
            if (n == BRACKETS_DEEP)
                return SIZE_MAX;
            open[n++] = i;
        } else if ((c == '}' || c == ']') && n) {
            n--;
        } else {
            quoted = c == '"';
        }
        *last = c > ' ' ? c : *last;
    }
    return n && !quoted ? open[n - 1] : SIZE_MAX;
}

/* A bracket left open is noticed where something comes that cannot stand inside it. */
static void explain(struct diag *d, const char *text, size_t n, struct span at)
{
    uint32_t next = at.off;
    while (next < n && (unsigned char)text[next] <= ' ')
        next++;
    char last, here = next < n ? text[next] : 0;
    size_t open = open_bracket(text, at.off < n ? at.off : n, &last);
    if (open == SIZE_MAX)
        return;
    struct span o = place_of(text, n, text + open);
    if (last == ',' && (here == ']' || here == '}'))
        diag_hint(d, "remove the comma before the closing bracket");
    else if (!here || (text[open] == '[' ? here == ':' || here == '}' : here == ']'))
        diag_hint(d, "the '%c' of line %u, column %u is not closed", text[open], o.line, o.col);
}

void json_fail(const char *path, const char *text, size_t n, const char *where, struct diags *ds)
{
    struct span at = place_of(text, n, where);
    bool nul = n - at.off >= 6 && (!*where || memcmp(where, "\\u0000", 6) == 0);
    struct diag *d = diag_add(ds, DIAG_ERROR, "json", path, at, "%s",
                              nul ? "a NUL character: no name or text may hold one"
                              : n ? "not valid JSON here"
                                  : "empty file where JSON was expected");
    diag_source(d, (struct str){ text, n });
    explain(d, text, n, at);
}

/* The first NUL, as it is or written as an escape: a name would end there. NULL: none. */
static const char *find_nul(const char *text, size_t n)
{
    const char *nul = memchr(text, 0, n);
    for (size_t i = 0; !nul && i + 5 < n; i++)
        if (text[i] == '\\') {
            nul = memcmp(text + i, "\\u0000", 6) == 0 ? text + i : NULL;
            i += !nul; /* an escaped backslash begins nothing */
        }
    return nul;
}

cJSON *json_parse(const char *path, const char *text, size_t n, struct diags *ds)
{
    const char *end = NULL, *nul = find_nul(text, n);
    cJSON *t = nul ? NULL : cJSON_ParseWithLengthOpts(text, n, &end, false);
    while (t && end < text + n && (unsigned char)*end <= ' ')
        end++;
    if (t && end < text + n) { /* something follows */
        cJSON_Delete(t);
        t = NULL;
    }
    if (!t)
        json_fail(path, text, n, nul ? nul : end ? end : text, ds);
    return t;
}

/* *text: owned, also where it does not parse. */
static enum status read_whole(const char *path, char **text, size_t *n, cJSON **out, struct diags *ds)
{
    *out = NULL;
    *text = NULL;
    enum status st = file_read(path, (size_t)1 << 30, text, n, ds);
    if (st != ST_OK)
        return st;
    *out = json_parse(path, *text, *n, ds);
    return *out ? ST_OK : ST_INPUT;
}

enum status json_read_file(const char *path, cJSON **out, struct diags *ds)
{
    char *text;
    size_t n;
    enum status st = read_whole(path, &text, &n, out, ds);
    base_free(text);
    return st;
}

/* ---- where things stand ----
 * cJSON keeps no positions. It leaves valueint alone for everything but numbers and truth values, and
 * copies it: an object's or a list's holds its line and column. The text is gone through in step with
 * the tree, whose order is the text's. */
#define COLUMN_BITS 12
struct placing {
    const char *s, *end;
    unsigned line, col;
};

static void step(struct placing *p)
{
    bool nl = *p->s++ == '\n';
    p->line += nl;
    p->col = nl ? 1 : p->col + 1;
}

static void step_over(struct placing *p, const char *set)
{
    while (p->s < p->end && *p->s && strchr(set, *p->s))
        step(p);
}

static void step_string(struct placing *p)
{
    step(p);
    while (p->s < p->end && *p->s != '"') {
        if (*p->s == '\\' && p->s + 1 < p->end)
            step(p);
        step(p);
    }
    if (p->s < p->end)
        step(p);
}

static void place_all(cJSON *v, struct placing *p)
{
    cJSON *c;
    step_over(p, " \t\r\n,]}");
    if (v->string && p->s < p->end) {
        step_string(p);
        step_over(p, " \t\r\n:");
    }
    if (p->s >= p->end)
        return;
    if (*p->s == '"') {
        step_string(p);
    } else if (cJSON_IsObject(v) || cJSON_IsArray(v)) {
        v->valueint = (int)((p->line & 0x3ffff) << COLUMN_BITS |
                            (p->col < 1u << COLUMN_BITS ? p->col : (1u << COLUMN_BITS) - 1));
        step(p);
        cJSON_ArrayForEach(c, v) place_all(c, p);
        step_over(p, " \t\r\n");
        if (p->s < p->end)
            step(p); /* the bracket that ends it */
    } else {
        while (p->s < p->end && !strchr(" \t\r\n,]}", *p->s))
            step(p);
    }
}

enum status json_read_placed(const char *path, cJSON **out, struct diags *ds)
{
    char *text;
    size_t n;
    enum status st = read_whole(path, &text, &n, out, ds);
    if (st == ST_OK) {
        bool mark = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
        place_all(*out, &(struct placing){ text + (mark ? 3 : 0), text + n, 1, 1 });
    }
    base_free(text);
    return st;
}

struct span json_place(const cJSON *o)
{
    bool known = o && (cJSON_IsObject(o) || cJSON_IsArray(o)) && o->valueint > 0;
    if (!known)
        return NO_SPAN;
    return (struct span){ .line = (uint32_t)o->valueint >> COLUMN_BITS,
                          .col = (uint32_t)o->valueint & ((1u << COLUMN_BITS) - 1),
                          .len = 1 };
}

const char *json_text(const cJSON *o, const char *key)
{
    const cJSON *v = json_get(o, key);
    return cJSON_IsString(v) ? v->valuestring : NULL;
}

/* One digit at least and nothing else. */
static bool digits(const char *s)
{
    return *s && strspn(s, "0123456789") == strlen(s);
}

bool json_i64(const cJSON *v, int64_t *out)
{
    if (cJSON_IsString(v)) {
        errno = 0;
        *out = strtoll(v->valuestring, NULL, 10);
        return digits(v->valuestring + (*v->valuestring == '-')) && !errno;
    }
    if (!cJSON_IsNumber(v) || v->valuedouble != floor(v->valuedouble) || fabs(v->valuedouble) > 9.2e18)
        return false;
    *out = (int64_t)v->valuedouble;
    return true;
}

bool json_u64(const cJSON *v, uint64_t *out)
{
    if (cJSON_IsString(v)) {
        errno = 0;
        *out = strtoull(v->valuestring, NULL, 10);
        return digits(v->valuestring) && !errno;
    }
    if (!cJSON_IsNumber(v) || v->valuedouble != floor(v->valuedouble) || v->valuedouble < 0 ||
        v->valuedouble > 1.8e19)
        return false;
    *out = (uint64_t)v->valuedouble;
    return true;
}

/* ---- field tables ---- */
static void field_write(struct jw *w, const struct field *f, const char *p)
{
    char hex[24];
    switch (f->type) {
    case FIELD_INT: jw_int(w, *(const int *)p); break;
    case FIELD_U32: jw_uint(w, *(const uint32_t *)(const void *)p); break;
    case FIELD_U64: jw_uint(w, *(const uint64_t *)(const void *)p); break;
    case FIELD_I64: jw_int(w, *(const int64_t *)(const void *)p); break;
    case FIELD_HEX64:
        snprintf(hex, sizeof hex, "%016" PRIx64, *(const uint64_t *)(const void *)p);
        jw_str(w, hex);
        break;
    case FIELD_NUM: jw_num(w, *(const double *)(const void *)p); break;
    case FIELD_BOOL: jw_bool(w, *(const bool *)p); break;
    case FIELD_TEXT: jw_str(w, p); break;
    case FIELD_ENUM: jw_str(w, f->names[*(const int *)(const void *)p]); break;
    }
}

void fields_write(struct jw *w, const struct field *f, size_t n, const void *rec)
{
    for (size_t i = 0; i < n; i++) {
        jw_key(w, f[i].key);
        field_write(w, &f[i], (const char *)rec + f[i].offset);
    }
}

static bool read_enum(const struct field *f, const cJSON *v, char *p)
{
    for (int k = 0; cJSON_IsString(v) && f->names[k]; k++)
        if (strcmp(f->names[k], v->valuestring) == 0) {
            *(int *)(void *)p = k;
            return true;
        }
    return false;
}

static bool read_text(const struct field *f, const cJSON *v, char *p)
{
    if (!cJSON_IsString(v))
        return false;
    size_t n = strlen(v->valuestring);
    if (n >= f->size)
        n = f->size - 1;
    memset(p, 0, f->size);
    memcpy(p, v->valuestring, n);
    return true;
}

static bool field_read(const struct field *f, const cJSON *v, char *p)
{
    int64_t i;
    uint64_t u;
    bool ok = true;
    switch (f->type) {
    case FIELD_INT:
        ok = json_i64(v, &i) && i >= INT32_MIN && i <= INT32_MAX;
        if (ok)
            *(int *)(void *)p = (int)i;
        break;
    case FIELD_U32:
        ok = json_u64(v, &u) && u <= UINT32_MAX;
        if (ok)
            *(uint32_t *)(void *)p = (uint32_t)u;
        break;
    case FIELD_U64:
        ok = json_u64(v, &u);
        if (ok)
            *(uint64_t *)(void *)p = u;
        break;
    case FIELD_I64:
        ok = json_i64(v, &i);
        if (ok)
            *(int64_t *)(void *)p = i;
        break;
    case FIELD_HEX64:
        ok = cJSON_IsString(v);
        if (ok)
            *(uint64_t *)(void *)p = strtoull(v->valuestring, NULL, 16);
        break;
    case FIELD_NUM:
        ok = cJSON_IsNumber(v);
        if (ok)
            *(double *)(void *)p = v->valuedouble;
        break;
    case FIELD_BOOL:
        ok = cJSON_IsBool(v);
        if (ok)
            *(bool *)p = cJSON_IsTrue(v);
        break;
    case FIELD_TEXT: ok = read_text(f, v, p); break;
    case FIELD_ENUM: ok = read_enum(f, v, p); break;
    }
    return ok;
}

enum status fields_read(const cJSON *o, const struct field *f, size_t n, void *rec, const char *where,
                        struct diags *ds)
{
    const cJSON *next = NULL; /* written in the table's order: the next is mostly the next */
    for (size_t i = 0; i < n; i++) {
        bool here = next && next->string && strcmp(next->string, f[i].key) == 0;
        const cJSON *v = here ? next : json_get(o, f[i].key);
        next = v ? v->next : next;
        if (!v || cJSON_IsNull(v))
            continue;
        if (!field_read(&f[i], v, (char *)rec + f[i].offset)) {
            diag_error(ds, "json-field", "%s: key \"%s\" has an invalid value", where, f[i].key);
            return ST_INPUT;
        }
    }
    return ST_OK;
}

char *path_dir(const char *path)
{
    const char *slash = strrchr(path, '/');
    struct buf b = { 0 };
    if (slash)
        buf_put(&b, path, slash == path ? 1 : (size_t)(slash - path));
    else
        buf_puts(&b, ".");
    return buf_take(&b);
}
