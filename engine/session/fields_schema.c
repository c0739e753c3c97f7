/* The table of fields as JSON Schema (draft 2020-12). A path such as a.b[].c becomes nested objects. */
#include "engine/rec/knobs.h"
#include "engine/session/fields.h"
#include "engine/base/json_write.h"

#include <string.h>

static void put_type(struct jw *w, struct str type, bool null)
{
    jw_key(w, "type");
    if (null)
        jw_arr(w);
    jw_view(w, type);
    if (null) {
        jw_str(w, "null");
        jw_end_arr(w);
    }
}

static void put_ref(struct jw *w, struct str record)
{
    struct buf b = { 0 };
    buf_puts(&b, "#/$defs/");
    buf_str(&b, record);
    jw_put_str(w, "$ref", b.s);
    buf_free_checked(&b, w->out);
}

static bool starts(const char *key, struct str with)
{
    return strncmp(key, with.s, with.n) == 0;
}

/* The path of the member below `prefix` that key i is in: "kernels" of "kernels[].name" below "". An
 * empty view: it is not below, or an earlier key is in the same. */
static struct str member(const struct field_record *r, size_t i, struct str prefix)
{
    const char *key = r->fields[i].key;
    if (!starts(key, prefix) || strcmp(key, FIELD_MEMBERS) == 0)
        return STR("");
    struct str m = { key, prefix.n + strcspn(key + prefix.n, ".[") };
    for (size_t j = 0; j < i; j++) {
        const char *other = r->fields[j].key;
        if (starts(other, m) && strchr(".[", other[m.n]))
            return STR("");
    }
    return m;
}

/* What follows the path in the keys that go on: ".", "[]." or, where none does, "". */
static struct str separator(const struct field_record *r, struct str path)
{
    for (size_t i = 0; i < r->n; i++) {
        const char *key = r->fields[i].key;
        if (starts(key, path) && key[path.n] == '.')
            return STR(".");
        if (starts(key, path) && key[path.n] == '[')
            return STR("[].");
    }
    return STR("");
}

static void put_member(struct jw *w, const struct field_record *r, struct str path);

static void put_properties(struct jw *w, const struct field_record *r, struct str prefix)
{
    jw_put_obj(w, "properties");
    for (size_t i = 0; i < r->n; i++) {
        struct str m = member(r, i, prefix);
        if (!m.n)
            continue;
        jw_key_view(w, (struct str){ m.s + prefix.n, m.n - prefix.n });
        jw_obj(w);
        put_member(w, r, m);
        jw_end_obj(w);
    }
    jw_end_obj(w);
}

static void put_required(struct jw *w, const struct field_record *r, struct str prefix)
{
    jw_put_arr(w, "required");
    for (size_t i = 0; i < r->n; i++) {
        struct str m = member(r, i, prefix);
        const struct field *f = m.n ? field_of(r, m) : NULL;
        if (m.n && (!f || field_is_always_there(f)))
            jw_view(w, (struct str){ m.s + prefix.n, m.n - prefix.n });
    }
    jw_end_arr(w);
}

/* The object whose keys stand below `path` behind `between`. */
static void put_object(struct jw *w, const struct field_record *r, struct str path, struct str between,
                       bool null)
{
    struct buf prefix = { 0 };
    buf_str(&prefix, path);
    buf_str(&prefix, between);
    struct str p = { prefix.s ? prefix.s : "", prefix.n };
    put_type(w, STR("object"), null);
    put_properties(w, r, p);
    put_required(w, r, p);
    buf_free_checked(&prefix, w->out);
}

static void put_array(struct jw *w, const struct field_record *r, struct str path, bool null)
{
    put_type(w, STR("array"), null);
    jw_put_obj(w, "items");
    put_object(w, r, path, STR("[]."), false);
    jw_end_obj(w);
}

/* "integer or string". */
static void put_choice(struct jw *w, struct str a, struct str b, bool null)
{
    jw_put_arr(w, "type");
    jw_view(w, a);
    jw_view(w, b);
    if (null)
        jw_str(w, "null");
    jw_end_arr(w);
}

static bool is_plain(struct str type)
{
    static const char *const plain[] = { "string", "integer", "number", "boolean", "object" };
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (str_is(type, plain[i]))
            return true;
    return false;
}

/* A record, or null. */
static void put_record_type(struct jw *w, struct str type, bool null)
{
    if (!null) {
        put_ref(w, type);
        return;
    }
    jw_put_arr(w, "anyOf");
    jw_obj(w);
    put_ref(w, type);
    jw_end_obj(w);
    jw_obj(w);
    jw_put_str(w, "type", "null");
    jw_end_obj(w);
    jw_end_arr(w);
}

/* A type of fields.def: "list of T", "lists of T" (inside a list of lists), "A or B", or one word. */
static void put_written_type(struct jw *w, struct str type, bool null)
{
    const char *of = strstr(type.s, " of "), *either = strstr(type.s, " or ");
    if (of) {
        put_type(w, STR("array"), null);
        jw_put_obj(w, "items");
        put_written_type(w, str_of(of + 4), false);
        jw_end_obj(w);
    } else if (either)
        put_choice(w, (struct str){ type.s, (size_t)(either - type.s) }, str_of(either + 4), null);
    else if (str_is(type, "list"))
        put_type(w, STR("array"), null);
    else if (is_plain(type))
        put_type(w, type, null);
    else
        put_record_type(w, type, null);
}

static void put_description(struct jw *w, const struct field *f)
{
    struct buf b = { 0 };
    buf_puts(&b, f->what);
    if (*f->unit)
        buf_printf(&b, " [%s]", f->unit);
    field_put_when(f, &b);
    jw_put_str(w, "description", b.s);
    buf_free_checked(&b, w->out);
}

/* Every document says which it is. */
static void put_identity(struct jw *w, const struct field_record *r, const struct field *f)
{
    if (strcmp(f->key, "format") == 0)
        jw_put_str(w, "const", r->name);
    if (strcmp(f->key, "version") == 0) {
        jw_put_int(w, "const", DOCUMENT_VERSION);
    }
}

static void put_member(struct jw *w, const struct field_record *r, struct str path)
{
    const struct field *f = field_of(r, path);
    struct str between = separator(r, path);
    bool null = f && field_can_be_null(f);
    if (str_is(between, "."))
        put_object(w, r, path, between, null);
    else if (between.n)
        put_array(w, r, path, null);
    else
        put_written_type(w, str_of(f->type), null);
    if (f && field_record_is_document(r))
        put_identity(w, r, f);
    if (f)
        put_description(w, f);
}

/* Members of a JSON Schema: of a record without records inside, as type object. */
static void fields_object(const struct field_record *r, struct jw *w)
{
    put_object(w, r, STR(""), STR(""), false);
}

static void put_record(struct jw *w, const struct field_record *r)
{
    const struct field *inner = field_of(r, STR(FIELD_MEMBERS));
    jw_put_obj(w, r->name);
    jw_put_str(w, "description", r->what);
    if (inner) {
        jw_put_arr(w, "allOf");
        jw_obj(w);
        put_ref(w, str_of(inner->type));
        jw_end_obj(w);
        jw_end_arr(w);
    }
    fields_object(r, w);
    jw_end_obj(w);
}

/* A configuration: one member per knob. */
static void put_options(struct jw *w)
{
    jw_put_obj(w, "options");
    jw_put_str(w, "description",
               "a configuration: one member per knob, under its name on the command line");
    put_type(w, STR("object"), false);
    jw_put_obj(w, "properties");
    for (size_t i = 0; i < knob_count(); i++) {
        const struct knob_info *k = knob_info(i);
        jw_put_obj(w, k->name);
        jw_put_str(w, "type",
                   k->kind == KNOB_KIND_INT    ? "integer"
                   : k->kind == KNOB_KIND_FLAG ? "boolean"
                                               : "string");
        jw_put_str(w, "description", k->help);
        jw_end_obj(w);
    }
    jw_end_obj(w);
    jw_put_arr(w, "required");
    for (size_t i = 0; i < knob_count(); i++)
        jw_str(w, knob_info(i)->name);
    jw_end_arr(w);
    jw_end_obj(w);
}

static void put_any_document(struct jw *w)
{
    jw_put_arr(w, "anyOf");
    for (size_t i = 0; i < field_record_count(); i++) {
        struct field_record r = field_record_at(i);
        if (!field_record_is_document(&r))
            continue;
        jw_obj(w);
        put_ref(w, str_of(r.name));
        jw_end_obj(w);
    }
    jw_end_arr(w);
}

void fields_schema(const struct field_record *r, struct buf *out)
{
    struct jw w = jw_open(out, 8);
    jw_obj(&w);
    jw_put_str(&w, "$schema", "https://json-schema.org/draft/2020-12/schema");
    jw_put_str(&w, "title", r ? r->name : "what gpulocw prints with --json");
    if (r)
        put_ref(&w, str_of(r->name));
    else
        put_any_document(&w);
    jw_put_obj(&w, "$defs");
    for (size_t i = 0; i < field_record_count(); i++) {
        struct field_record each = field_record_at(i);
        put_record(&w, &each);
    }
    put_options(&w);
    jw_end_obj(&w);
    jw_end_obj(&w);
    buf_puts(out, "\n");
}
