/* A JSON document against the table of fields: unknown keys, missing ones, wrong types, null where it may
 * not be. */
#include "engine/rec/knobs.h"
#include "engine/session/document.h"
#include "engine/session/fields.h"
#include "engine/session/json.h"

#include <math.h>
#include <string.h>

struct checking {
    struct buf *why; /* empty: nothing found yet; the first thing found stays */
    bool grows;      /* a later minor version only adds keys: others are not this version's */
};

static void found(struct checking *c, const char *record, const char *key, const char *what)
{
    if (!c->why->n)
        buf_printf(c->why, "%s: '%s' %s", record, key, what);
}

static bool is_plain(const cJSON *v, struct str type)
{
    bool whole = cJSON_IsNumber(v) && v->valuedouble == floor(v->valuedouble);
    int64_t far;
    return (str_is(type, "string") && cJSON_IsString(v)) ||
           (str_is(type, "boolean") && cJSON_IsBool(v)) || (str_is(type, "integer") && whole) ||
           /* beyond 2^53 as a string */
           (str_is(type, "integer") && cJSON_IsString(v) && json_i64(v, &far)) ||
           (str_is(type, "number") && cJSON_IsNumber(v)) ||
           (str_is(type, "object") && cJSON_IsObject(v)) || (str_is(type, "list") && cJSON_IsArray(v));
}

static void check_options(struct checking *c, const cJSON *o)
{
    const cJSON *v;
    size_t n = 0;
    cJSON_ArrayForEach(v, o)
    {
        int k = knob_find(str_of(v->string));
        enum knob_kind kind = k < 0 ? KNOB_KIND_TEXT : knob_info((size_t)k)->kind;
        const char *type = kind == KNOB_KIND_INT    ? "integer"
                           : kind == KNOB_KIND_FLAG ? "boolean"
                                                    : "string";
        if (k < 0 || !is_plain(v, str_of(type)))
            found(c, "options", v->string, k < 0 ? "is no knob" : "has another type");
        n++;
    }
    if (n != knob_count())
        found(c, "options", "", "does not have every knob");
}

static void check_object(struct checking *c, const cJSON *o, const struct field_record *r,
                         const char *prefix);

static bool check_type(struct checking *c, const cJSON *v, struct str type)
{
    const char *of = strstr(type.s, " of "), *either = strstr(type.s, " or ");
    struct field_record r;
    const cJSON *item;
    if (of) {
        bool fine = cJSON_IsArray(v);
        cJSON_ArrayForEach(item, v) fine = fine && check_type(c, item, str_of(of + 4));
        return fine;
    }
    if (either)
        return is_plain(v, (struct str){ type.s, (size_t)(either - type.s) }) ||
               is_plain(v, str_of(either + 4));
    if (str_is(type, "options") && cJSON_IsObject(v)) {
        check_options(c, v);
        return true;
    }
    if (!field_record_find(type.s, &r))
        return is_plain(v, type);
    if (cJSON_IsObject(v))
        check_object(c, v, &r, "");
    return cJSON_IsObject(v);
}

/* What follows the path in longer keys: ".", "[]." or NULL. */
static const char *between(const struct field_record *r, const char *path)
{
    size_t n = strlen(path);
    for (size_t i = 0; i < r->n; i++) {
        const char *key = r->fields[i].key;
        if (strncmp(key, path, n) == 0 && (key[n] == '.' || key[n] == '['))
            return key[n] == '.' ? "." : "[].";
    }
    return NULL;
}

static void check_below(struct checking *c, const cJSON *v, const struct field_record *r,
                        const char *path, const char *sep)
{
    struct buf prefix = { 0 };
    const cJSON *item;
    bool list = sep[0] == '[';
    buf_printf(&prefix, "%s%s", path, sep);
    if (prefix.oom) {
        buf_free(&prefix); /* it is for tests: what memory ran out for is not checked */
        return;
    }
    if (list ? !cJSON_IsArray(v) : !cJSON_IsObject(v))
        found(c, r->name, path, list ? "is no list" : "is no object");
    else if (!list)
        check_object(c, v, r, prefix.s ? prefix.s : "");
    else
        cJSON_ArrayForEach(item, v) if (cJSON_IsObject(item))
            check_object(c, item, r, prefix.s ? prefix.s : "");
    else if (prefix.s && !field_of(r, (struct str){ prefix.s, prefix.n - 1 }))
        found(c, r->name, path, "has an element that is no object");
    buf_free(&prefix);
}

/* False: the record does not have the key. */
static bool check_member(struct checking *c, const cJSON *v, const struct field_record *r,
                         const char *path)
{
    const struct field *f = field_of(r, str_of(path));
    const char *sep = between(r, path);
    if (!f && !sep)
        return false;
    if (cJSON_IsNull(v)) {
        if (!f || !field_can_be_null(f))
            found(c, r->name, path, "is null");
    } else if (sep) {
        check_below(c, v, r, path, sep);
    } else if (!check_type(c, v, str_of(f->type))) {
        found(c, r->name, path, "has another type");
    }
    return true;
}

/* The record whose members stand in this one; false: there is none. */
static bool inner_of(const struct field_record *r, struct field_record *inner)
{
    const struct field *f = field_of(r, STR(FIELD_MEMBERS));
    return f && field_record_find(f->type, inner);
}

/* Is the member of key i, below `prefix`, always there? One without a row of its own is. */
static void check_there(struct checking *c, const cJSON *o, const struct field_record *r, size_t i,
                        size_t prefix)
{
    const char *key = r->fields[i].key;
    struct str path = { key, prefix + strcspn(key + prefix, ".[") };
    const struct field *f = field_of(r, path);
    struct buf name = { 0 };
    buf_put(&name, key + prefix, path.n - prefix);
    buf_put(&name, "", 1);
    if (!name.oom && (!f || field_is_always_there(f)) && !json_get(o, name.s))
        found(c, r->name, name.s, "is missing");
    buf_free(&name);
}

static void check_required(struct checking *c, const cJSON *o, const struct field_record *r,
                           const char *prefix)
{
    size_t n = strlen(prefix);
    for (size_t i = 0; i < r->n; i++)
        if (strncmp(r->fields[i].key, prefix, n) == 0 && strcmp(r->fields[i].key, FIELD_MEMBERS) != 0)
            check_there(c, o, r, i, n);
}

static void check_object(struct checking *c, const cJSON *o, const struct field_record *r,
                         const char *prefix)
{
    struct field_record inner;
    bool holds = !*prefix && inner_of(r, &inner);
    struct buf path = { 0 };
    const cJSON *v;
    cJSON_ArrayForEach(v, o)
    {
        buf_clear(&path);
        buf_printf(&path, "%s%s", prefix, v->string);
        if (!path.oom && !check_member(c, v, r, path.s) &&
            !(holds && check_member(c, v, &inner, path.s)) && !c->grows)
            found(c, r->name, path.s, "is in no row of the table");
    }
    check_required(c, o, r, prefix);
    if (holds)
        check_required(c, o, &inner, "");
    buf_free(&path);
}

bool document_check(const char *text, size_t n, struct buf *why)
{
    struct checking c = { .why = why };
    struct field_record r;
    cJSON *o = json_parse(NULL, text, n, NULL);
    const char *format = json_text(o, "format");
    if (!o)
        buf_puts(why, DOCUMENT_NO_JSON);
    else if (!format || !field_record_find(format, &r))
        buf_printf(why, "the format '%s' has no table", format ? format : "");
    else {
        c.grows = field_of(&r, STR("minor")) != NULL;
        check_object(&c, o, &r, "");
    }
    cJSON_Delete(o);
    return why->n == 0;
}
