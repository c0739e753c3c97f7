/* JSON text: strict reading, members of structs. */
#include "engine/session/session_int.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- members of structs ---- */
static void member_write(struct jw *w, const struct member *m, const void *record)
{
    const void *p = (const char *)record + m->offset;
    switch (m->kind) {
    case MEMBER_INT: jw_int(w, *(const int *)p); break;
    case MEMBER_U8: jw_uint(w, *(const uint8_t *)p); break;
    case MEMBER_U32: jw_uint(w, *(const uint32_t *)p); break;
    case MEMBER_U64: jw_uint(w, *(const uint64_t *)p); break;
    case MEMBER_I64: jw_int(w, *(const int64_t *)p); break;
    case MEMBER_NUM: jw_num(w, *(const double *)p); break;
    case MEMBER_FLOAT: jw_num(w, (double)*(const float *)p); break;
    case MEMBER_BOOL: jw_bool(w, *(const bool *)p); break;
    case MEMBER_TEXT: jw_str(w, p); break;
    case MEMBER_STRING: jw_str(w, *(char *const *)p); break;
    case MEMBER_HEX: jw_hex(w, *(const uint64_t *)p); break;
    case MEMBER_NAMED: jw_str(w, member_name(m, record)); break;
    case MEMBER_RECORD:
        jw_obj(w);
        members_write(w, doc_members(m->record), p);
        jw_end_obj(w);
        break;
    case MEMBER_OPENS: break;
    }
}

void members_write(struct jw *w, struct members m, const void *record)
{
    for (size_t i = 0; i < m.n; i++) {
        if (m.v[i].wired)
            continue;
        jw_key(w, m.v[i].key);
        member_write(w, &m.v[i], record);
    }
}

void put_record(struct jw *w, const char *key, const char *record, const void *of)
{
    if (key)
        jw_put_obj(w, key);
    else
        jw_obj(w);
    members_write(w, doc_members(record), of);
    jw_end_obj(w);
}

static bool read_text(const struct member *m, const cJSON *v, char *p)
{
    if (!cJSON_IsString(v))
        return false;
    size_t n = strlen(v->valuestring);
    if (n >= m->size)
        n = m->size - 1;
    memset(p, 0, m->size);
    memcpy(p, v->valuestring, n);
    return true;
}

/* A whole number of a member that takes low..high. */
static bool read_signed(const cJSON *v, int64_t low, int64_t high, int64_t *out)
{
    return json_i64(v, out) && *out >= low && *out <= high;
}

static bool read_unsigned(const cJSON *v, uint64_t high, uint64_t *out)
{
    return json_u64(v, out) && *out <= high;
}

static bool member_read(const struct member *m, const cJSON *v, void *record)
{
    void *p = (char *)record + m->offset;
    int64_t i = 0;
    uint64_t u = 0;
    bool ok = false;
    switch (m->kind) {
    case MEMBER_INT:
        if ((ok = read_signed(v, INT32_MIN, INT32_MAX, &i)))
            *(int *)p = (int)i;
        break;
    case MEMBER_U8:
        if ((ok = read_unsigned(v, UINT8_MAX, &u)))
            *(uint8_t *)p = (uint8_t)u;
        break;
    case MEMBER_U32:
        if ((ok = read_unsigned(v, UINT32_MAX, &u)))
            *(uint32_t *)p = (uint32_t)u;
        break;
    case MEMBER_U64: ok = json_u64(v, p); break;
    case MEMBER_I64: ok = json_i64(v, p); break;
    case MEMBER_HEX:
        if ((ok = cJSON_IsString(v)))
            *(uint64_t *)p = strtoull(v->valuestring, NULL, 16);
        break;
    case MEMBER_NUM:
        if ((ok = cJSON_IsNumber(v)))
            *(double *)p = v->valuedouble;
        break;
    case MEMBER_FLOAT:
        if ((ok = cJSON_IsNumber(v)))
            *(float *)p = (float)v->valuedouble;
        break;
    case MEMBER_BOOL:
        if ((ok = cJSON_IsBool(v)))
            *(bool *)p = cJSON_IsTrue(v);
        break;
    case MEMBER_TEXT: ok = read_text(m, v, p); break;
    case MEMBER_NAMED:
        ok = cJSON_IsString(v) && member_set_name(m, record, str_of(v->valuestring));
        break;
    case MEMBER_STRING: /* no document that is read has one */
    case MEMBER_RECORD:
    case MEMBER_OPENS: break;
    }
    return ok;
}

enum status members_read(const cJSON *o, struct members m, void *record, const char *where,
                         struct diags *ds)
{
    const cJSON *next = NULL; /* written in the table's order: the next is mostly the next */
    for (size_t i = 0; i < m.n; i++) {
        bool here = next && next->string && strcmp(next->string, m.v[i].key) == 0;
        const cJSON *v = m.v[i].wired ? NULL : here ? next : json_get(o, m.v[i].key);
        next = v ? v->next : next;
        if (!v || cJSON_IsNull(v))
            continue;
        if (!member_read(&m.v[i], v, record)) {
            diag_error(ds, "json-field", "%s: key \"%s\" has an invalid value", where, m.v[i].key);
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
