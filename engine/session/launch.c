/* Launch descriptions (docs/reference/launch.md): reading, writing, checking against the kernel. */
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"
#include "engine/rec/launch_read.h"
#include "engine/session/document.h"
#include "engine/session/launch_file.h"
#include "engine/session/session_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARAM_MOST = 32764 }; /* PTX ISA 5.1.6: bytes of all kernel parameters */
/* so many of 4 bytes would fill them; looking names up stays quick */
enum { ARGS_MOST = 8192 };

/* A text that may be absent: then *out stays NULL. False: out of memory. */
static bool copy_text(const cJSON *o, const char *key, char **out)
{
    const char *text = json_text(o, key);
    *out = base_strdup(text);
    return *out || !text;
}

static bool get_dim(const cJSON *v, struct dim3u *d)
{
    uint32_t x[3] = { 1, 1, 1 };
    int n = cJSON_IsArray(v) ? cJSON_GetArraySize(v) : cJSON_IsNumber(v) ? 1 : 0;
    if (n < 1 || n > 3)
        return false;
    for (int i = 0; i < n; i++) {
        uint64_t u;
        if (!json_u64(cJSON_IsArray(v) ? cJSON_GetArrayItem(v, i) : v, &u) || u < 1 || u > 0x7fffffff)
            return false;
        x[i] = (uint32_t)u;
    }
    *d = (struct dim3u){ x[0], x[1], x[2] };
    return true;
}

static bool get_scalar(const cJSON *v, enum elem e, uint8_t out[8])
{
    int64_t i;
    uint64_t u;
    if (elem_is_float(e)) {
        bool is = cJSON_IsNumber(v) && isfinite(v->valuedouble);
        if (is)
            elem_store(e, v->valuedouble, out);
        return is;
    }
    if (json_u64(v, &u)) {
        size_t bits = elem_size(e) * 8;
        memcpy(out, &u, 8);
        return bits == 64 || u >> bits == 0;
    }
    if (!json_i64(v, &i))
        return false;
    memcpy(out, &i, 8);
    int64_t limit = elem_size(e) == 8 ? INT64_MIN : -((int64_t)1 << (elem_size(e) * 8 - 1));
    return i >= limit;
}

/* "buffer" and "count". */
static enum status get_elements(const cJSON *o, const char *path, const char *where, enum elem *e,
                                uint64_t *count, struct diags *ds)
{
    if (!elem_parse(str_of(json_text(o, "buffer")), e))
        return launch_wrong(
            ds, path, o, where,
            "\"buffer\" must name an element type: u8 s8 u16 s16 f16 bf16 e4m3 e5m2 u32 s32 "
            "f32 tf32 u64 s64 f64");
    return json_u64(json_get(o, "count"), count) && *count
               ? ST_OK
               : launch_wrong(ds, path, o, where, "\"count\" must be a whole number above 0");
}

static enum status get_buffer(const cJSON *o, const char *path, const char *where, struct arg_spec *a,
                              struct diags *ds)
{
    a->kind = ARG_BUFFER;
    enum status s = get_elements(o, path, where, &a->elem, &a->count, ds);
    if (s != ST_OK)
        return s;
    const cJSON *output = json_get(o, "output");
    if (output && !cJSON_IsBool(output))
        return launch_wrong(ds, path, o, where, "\"output\" must be true or false");
    a->output = cJSON_IsTrue(output);
    const cJSON *tol = json_get(o, "tolerance");
    if (tol && !(cJSON_IsNumber(tol) && tol->valuedouble >= 0 && isfinite(tol->valuedouble)))
        return launch_wrong(ds, path, o, where, "\"tolerance\" must be a number, 0 or above");
    a->tolerance = tol ? tol->valuedouble : 0;
    char why[200];
    if (!get_beside(o, a, why, sizeof why))
        return launch_wrong(ds, path, o, where, why);
    if (a->expect) {
        s = launch_file_inside(json_get(o, "expect"), path, where, a->expect, ds);
        if (s != ST_OK)
            return s;
    }
    return get_init(json_get(o, "init"), path, where, a->count, &a->init, ds);
}

/* A struct by value: its bytes, or "size" zeros for what "in" arguments fill. */
static enum status get_bytes(const cJSON *o, const char *path, const char *where, struct arg_spec *a,
                             struct diags *ds)
{
    struct str hex = str_of(json_text(o, "bytes"));
    uint64_t size = hex.n / 2;
    a->kind = ARG_BYTES;
    if (!json_text(o, "bytes") && (!json_u64(json_get(o, "size"), &size) || !size || size > PARAM_MOST))
        return launch_wrong(ds, path, o, where, "\"size\" must be a number of bytes, at most 32764");
    a->bytes = base_alloc(size);
    a->nbytes = a->bytes ? size : 0;
    if (!a->bytes)
        return ST_NOMEM;
    return str_unhex(hex, a->bytes)
               ? ST_OK
               : launch_wrong(ds, path, o, where, "\"bytes\" must be pairs of hex digits");
}

static enum status get_arg(const cJSON *o, const char *path, size_t index, struct arg_spec *a,
                           struct diags *ds)
{
    char where[160];
    const char *name = json_text(o, "name");
    snprintf(where, sizeof where, "argument %zu%s%.100s%s", index, name ? " ('" : "", name ? name : "",
             name ? "')" : "");
    a->name = base_strdup(name ? name : "");
    if (!a->name || !copy_text(o, "in", &a->inside) || !copy_text(o, "same_as", &a->same_as))
        return ST_NOMEM;
    if (a->inside) {
        if (!json_u64(json_get(o, "at"), &a->at))
            return launch_wrong(ds, path, o, where,
                                "\"in\" needs \"at\", the byte inside that argument");
    }
    if (json_get(o, "buffer"))
        return get_buffer(o, path, where, a, ds);
    if (a->same_as) {
        const cJSON *off = json_get(o, "offset");
        a->kind = ARG_SAME_AS;
        return !off || json_u64(off, &a->offset)
                   ? ST_OK
                   : launch_wrong(ds, path, o, where, "\"offset\" must be a whole number of bytes");
    }
    if (json_get(o, "tensor_map")) {
        char why[200];
        return get_tensor_map(json_get(o, "tensor_map"), a, why, sizeof why)
                   ? ST_OK
                   : launch_wrong(ds, path, o, where, why);
    }
    if (texture_member(o)) {
        char why[200];
        return get_texture(o, a, why, sizeof why) ? ST_OK : launch_wrong(ds, path, o, where, why);
    }
    if (json_text(o, "bytes") || json_get(o, "size"))
        return get_bytes(o, path, where, a, ds);
    for (int e = 0; e < ELEM_COUNT; e++) {
        const cJSON *v = json_get(o, elem_name((enum elem)e));
        if (!v)
            continue;
        a->kind = ARG_SCALAR;
        a->elem = (enum elem)e;
        return get_scalar(v, a->elem, a->scalar)
                   ? ST_OK
                   : launch_wrong(ds, path, o, where, "the value is not valid for its type");
    }
    return launch_wrong(
        ds, path, o, where,
        "needs \"buffer\", \"same_as\", \"bytes\", \"tensor_map\", \"texture\", \"surface\", "
        "\"sampler\" or a scalar such as \"s32\"");
}

/* A `before` launch (outer given) may also name the main launch's buffers. */
static bool same_as_resolves(const struct launch_spec *l, size_t i, const struct launch_spec *outer)
{
    if (!arg_shares(&l->args[i]) || launch_buffer_of(l, i) != SIZE_MAX)
        return true;
    return outer && launch_buffer_of(outer, launch_arg_named(outer, l->args[i].same_as)) != SIZE_MAX;
}

/* Arguments inside others go behind all parameters, wherever they were written. */
static void move_inside_last(struct launch_spec *l)
{
    for (size_t i = 1; i < l->nargs; i++) {
        struct arg_spec a = l->args[i];
        size_t k = i;
        for (; !a.inside && k > 0 && l->args[k - 1].inside; k--)
            l->args[k] = l->args[k - 1];
        l->args[k] = a;
    }
}

/* Parameters, and the pointers in those that are structs. */
static enum status get_arg_list(const cJSON *args, const char *path, struct launch_spec *l,
                                struct diags *ds)
{
    const cJSON *a;
    char why[200];
    cJSON_ArrayForEach(a, args)
    {
        size_t i = l->nargs++;
        enum status s = get_arg(a, path, i, &l->args[i], ds);
        if (s != ST_OK)
            return s;
        if (!get_pointers(a, &l->args[i], l->args, &l->nargs, why, sizeof why))
            return launch_wrong(ds, path, a, l->args[i].name, why);
    }
    return ST_OK;
}

/* "buffers": memory that is no argument. */
static enum status get_buffers(const cJSON *list, const char *path, struct launch_spec *l,
                               struct diags *ds)
{
    const cJSON *b;
    cJSON_ArrayForEach(b, list)
    {
        struct arg_spec *a = &l->args[l->nargs];
        enum status s = get_arg(b, path, l->nargs++, a, ds);
        if (s != ST_OK)
            return s;
        if (a->kind != ARG_BUFFER || a->inside || !*a->name)
            return launch_wrong(ds, path, b, "buffers",
                                "each needs a \"name\", a \"buffer\" and a \"count\"");
        if (!(a->inside = base_strdup("")))
            return ST_NOMEM;
    }
    return ST_OK;
}

/* Variables of the module that are textures, surfaces or samplers. */
static enum status get_references(const cJSON *list, const char *path, struct launch_spec *l,
                                  struct diags *ds)
{
    const cJSON *y;
    cJSON_ArrayForEach(y, list)
    {
        if (!texture_member(y))
            continue;
        struct arg_spec *a = &l->args[l->nargs];
        enum status s = get_arg(y, path, l->nargs++, a, ds);
        if (s != ST_OK)
            return s;
        if (!*a->name)
            return launch_wrong(ds, path, y, "symbols", "each needs a \"name\"");
        base_free(a->inside);
        if (!(a->inside = base_strdup("")))
            return ST_NOMEM;
    }
    return ST_OK;
}

static size_t pointers_in(const cJSON *args)
{
    size_t n = 0;
    const cJSON *a;
    cJSON_ArrayForEach(a, args) n += (size_t)cJSON_GetArraySize(json_get(a, "pointers"));
    return n;
}

static enum status get_args(const cJSON *o, const char *path, const struct launch_spec *outer,
                            struct launch_spec *l, struct diags *ds)
{
    const cJSON *args = json_get(o, "args"), *beside = json_get(o, "buffers"),
                *symbols = json_get(o, "symbols");
    if (args && (!cJSON_IsArray(args) || cJSON_GetArraySize(args) > ARGS_MOST))
        return launch_wrong(ds, path, o, "args", "must be a list of at most 8192 entries");
    if (beside && (!cJSON_IsArray(beside) || cJSON_GetArraySize(beside) > ARGS_MOST))
        return launch_wrong(ds, path, o, "buffers", "must be a list of at most 8192 entries");
    size_t room = (size_t)cJSON_GetArraySize(args) + (size_t)cJSON_GetArraySize(beside) +
                  pointers_in(args) + (size_t)cJSON_GetArraySize(symbols);
    l->args = base_alloc((room + 1) * sizeof *l->args);
    if (!l->args)
        return ST_NOMEM;
    enum status s = get_arg_list(args, path, l, ds);
    if (s == ST_OK)
        s = get_buffers(beside, path, l, ds);
    if (s == ST_OK)
        s = get_references(symbols, path, l, ds);
    if (s != ST_OK)
        return s;
    move_inside_last(l);
    for (size_t i = 0; i < l->nargs; i++)
        if (!same_as_resolves(l, i, outer)) {
            diag_add(ds, DIAG_ERROR, "launch", path, json_place(o),
                     "argument %zu ('%s'): \"%s\" names '%s', which is not a buffer", i, l->args[i].name,
                     l->args[i].kind == ARG_SAME_AS ? "same_as" : "data", l->args[i].same_as);
            return ST_INPUT;
        }
    return ST_OK;
}

#define SYMBOL_MOST ((uint64_t)1 << 27) /* elements: no module holds a larger variable */
static enum status get_symbol(const cJSON *o, const char *path, struct symbol_spec *y, struct diags *ds)
{
    char where[160];
    if (!copy_text(o, "name", &y->name))
        return ST_NOMEM;
    if (!y->name)
        return launch_wrong(ds, path, o, "symbols", "each needs a \"name\"");
    snprintf(where, sizeof where, "symbol '%.120s'", y->name);
    enum status s = json_get(o, "buffer") || json_get(o, "count")
                        ? get_elements(o, path, where, &y->elem, &y->count, ds)
                        : ST_OK;
    if (s == ST_OK && y->count > SYMBOL_MOST)
        s = launch_wrong(ds, path, o, where, "\"count\" is larger than a variable can be");
    return s == ST_OK ? get_init(json_get(o, "init"), path, where, y->count, &y->init, ds) : s;
}

static enum status get_symbols(const cJSON *o, const char *path, struct launch_spec *l, struct diags *ds)
{
    const cJSON *list = json_get(o, "symbols"), *y;
    l->symbols = base_alloc(((size_t)cJSON_GetArraySize(list) + 1) * sizeof *l->symbols);
    if (!l->symbols)
        return ST_NOMEM;
    cJSON_ArrayForEach(y, list)
    {
        if (texture_member(y))
            continue;
        enum status st = get_symbol(y, path, &l->symbols[l->nsymbols++], ds);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

void launch_guessed_put(struct jw *w, unsigned guessed)
{
    const char *word;
    int pretty = w->pretty;
    jw_key(w, "guessed");
    w->pretty = 0; /* on one line */
    jw_arr(w);
    for (unsigned i = 0; (word = launch_guess_word(i)); i++)
        if (guessed >> i & 1)
            jw_str(w, word);
    jw_end_arr(w);
    w->pretty = pretty;
}

unsigned launch_guessed_get(const cJSON *list)
{
    const cJSON *v;
    const char *word;
    unsigned guessed = 0;
    cJSON_ArrayForEach(v, list) for (unsigned i = 0; (word = launch_guess_word(i)); i++) guessed |=
        cJSON_IsString(v) && !strcmp(v->valuestring, word) ? 1u << i : 0;
    return guessed;
}

static int guesses(unsigned guessed)
{
    int n = 0;
    for (; guessed; guessed &= guessed - 1)
        n++;
    return n;
}

static enum status get_launch_body(const cJSON *o, const char *path, const char *dir,
                                   const struct launch_spec *outer, struct launch_spec *l,
                                   struct diags *ds)
{
    uint64_t shared = 0;
    l->file = base_strdup(path);
    l->dir = base_strdup(dir);
    if (!l->file || !l->dir || !copy_text(o, "name", &l->name) || !copy_text(o, "ptx", &l->ptx) ||
        !copy_text(o, "kernel", &l->kernel))
        return ST_NOMEM;
    if (!l->kernel && !(l->kernel = base_strdup(""))) /* launch_name_kernels finds it */
        return ST_NOMEM;
    if (!get_dim(json_get(o, "grid"), &l->grid))
        return launch_wrong(ds, path, o, *l->kernel ? l->kernel : "launch",
                            "\"grid\" must be one to three whole numbers above 0");
    if (!get_dim(json_get(o, "block"), &l->block))
        return launch_wrong(ds, path, o, *l->kernel ? l->kernel : "launch",
                            "\"block\" must be one to three whole numbers above 0");
    if (json_get(o, "cluster") && !get_dim(json_get(o, "cluster"), &l->cluster))
        return launch_wrong(ds, path, o, *l->kernel ? l->kernel : "launch",
                            "\"cluster\" must be one to three whole numbers above 0");
    if (json_get(o, "shared") && (!json_u64(json_get(o, "shared"), &shared) || shared > 1u << 20))
        return launch_wrong(ds, path, o, *l->kernel ? l->kernel : "launch",
                            "\"shared\" must be a number of bytes (at most 1 MiB)");
    l->shared = (uint32_t)shared;
    l->guessed = launch_guessed_get(json_get(o, "guessed"));
    if (json_get(o, "guessed") && cJSON_GetArraySize(json_get(o, "guessed")) != guesses(l->guessed))
        return launch_wrong(
            ds, path, o, *l->kernel ? l->kernel : "launch",
            "\"guessed\" must be a list of \"grid\", \"block\", \"sizes\", \"shared\", \"data\"");
    enum status s = get_args(o, path, outer, l, ds);
    return s == ST_OK ? get_symbols(o, path, l, ds) : s;
}

enum status get_launch(const cJSON *o, const char *path, const char *dir, struct launch_spec *out,
                       struct diags *ds)
{
    const cJSON *list = json_get(o, "before"), *b;
    memset(out, 0, sizeof *out);
    enum status s = get_launch_body(o, path, dir, NULL, out, ds);
    if (s == ST_OK && list)
        out->before = base_alloc(((size_t)cJSON_GetArraySize(list) + 1) * sizeof *out->before);
    if (s == ST_OK && list && !out->before)
        s = ST_NOMEM;
    if (s == ST_OK)
        cJSON_ArrayForEach(b, list)
        {
            s = get_launch_body(b, path, dir, out, &out->before[out->nbefore++], ds);
            if (s != ST_OK)
                break;
        }
    if (s != ST_OK)
        launch_spec_free(out);
    return s;
}

static enum status check_format(const cJSON *t, const char *path, const char *format, struct diags *ds)
{
    const char *f = json_text(t, "format");
    uint64_t v = 0;
    if (!f || strcmp(f, format) != 0) {
        diag_add(ds, DIAG_ERROR, "format", path, json_place(t),
                 "not a %s file (its \"format\" is %s%s%s)", format, f ? "\"" : "", f ? f : "missing",
                 f ? "\"" : "");
        return ST_INPUT;
    }
    if (!json_u64(json_get(t, "version"), &v) || v != 1) {
        diag_add(ds, DIAG_ERROR, "format", path, json_place(t),
                 "version %llu of %s is not supported; this program reads version 1",
                 (unsigned long long)v, format);
        return ST_INPUT;
    }
    return ST_OK;
}

/* Keys given beside "launches" hold for each of them: what a launch does not say, it inherits. */
static cJSON *inherit(const cJSON *top, const cJSON *one)
{
    cJSON *merged = cJSON_Duplicate(one, true);
    const cJSON *c;
    cJSON_ArrayForEach(c, top) if (merged && strcmp(c->string, "launches") != 0 &&
                                   !json_get(merged, c->string))
        cJSON_AddItemToObject(merged, c->string, cJSON_Duplicate(c, true));
    return merged;
}

static enum status read_launches(const cJSON *t, const char *path, const char *dir,
                                 struct launch_file *out, struct diags *ds)
{
    const cJSON *list = json_get(t, "launches"), *o;
    size_t n = cJSON_IsArray(list) ? (size_t)cJSON_GetArraySize(list) : 1;
    enum status s = ST_OK;
    out->launch = base_alloc((n + 1) * sizeof *out->launch);
    if (!out->launch)
        return ST_NOMEM;
    if (!list) {
        s = get_launch(t, path, dir, &out->launch[0], ds);
        out->n = s == ST_OK;
        return s;
    }
    if (!n || !cJSON_IsArray(list))
        return launch_wrong(ds, path, t, "launches", n ? "not a list" : "the list is empty");
    cJSON_ArrayForEach(o, list)
    {
        cJSON *merged = inherit(t, o);
        s = merged ? get_launch(merged, path, dir, &out->launch[out->n], ds) : ST_NOMEM;
        cJSON_Delete(merged);
        if (s != ST_OK)
            break;
        out->n++;
    }
    return s;
}

enum status launch_file_read(const char *path, struct launch_file *out, struct diags *ds)
{
    cJSON *t;
    *out = (struct launch_file){ 0 };
    enum status s = json_read_placed(path, &t, ds);
    if (s == ST_OK)
        s = check_format(t, path, "gpulocw-launch", ds);
    if (s == ST_OK) {
        char *dir = path_dir(path);
        out->path = base_strdup(path);
        s = dir && out->path ? read_launches(t, path, dir, out, ds) : ST_NOMEM;
        enum status keys = launch_keys_check(t, path, ds);
        s = s == ST_OK ? keys : s;
        base_free(dir);
    }
    cJSON_Delete(t);
    if (s != ST_OK)
        launch_file_free(out);
    return s;
}

void launch_file_free(struct launch_file *f)
{
    for (size_t i = 0; i < f->n; i++)
        launch_spec_free(&f->launch[i]);
    BASE_FREE(f->launch, f->path);
    *f = (struct launch_file){ 0 };
}

/* ---- writing ---- */
static void put_scalar(struct jw *w, const struct arg_spec *a)
{
    int64_t i = 0;
    uint64_t u = 0;
    size_t n = elem_size(a->elem);
    jw_key(w, elem_name(a->elem));
    memcpy(&u, a->scalar, n);
    i = (int64_t)(u << (64 - 8 * n)) >> (64 - 8 * n);
    if (elem_is_float(a->elem))
        jw_num(w, elem_load(a->scalar, a->elem));
    else if (a->elem == ELEM_S8 || a->elem == ELEM_S16 || a->elem == ELEM_S32 || a->elem == ELEM_S64)
        jw_int(w, i);
    else
        jw_uint(w, u);
}

static void put_bytes(struct jw *w, const struct arg_spec *a)
{
    struct buf b = { 0 };
    bool zeros = true;
    for (size_t i = 0; i < a->nbytes; i++) {
        buf_printf(&b, "%02x", a->bytes[i]);
        zeros &= !a->bytes[i];
    }
    jw_key(w, zeros ? "size" : "bytes");
    if (zeros)
        jw_uint(w, a->nbytes);
    else
        jw_str(w, b.s ? b.s : "");
    buf_free(&b);
}

static void put_elements(struct jw *w, enum elem e, uint64_t count)
{
    jw_put_str(w, "buffer", elem_name(e));
    jw_put_uint(w, "count", count);
}

static void put_arg(struct jw *w, const struct arg_spec *a)
{
    jw_obj(w);
    jw_put_str(w, "name", a->name);
    if (a->inside && *a->inside) {
        jw_put_str(w, "in", a->inside);
        jw_put_uint(w, "at", a->at);
    }
    if (a->kind == ARG_BUFFER) {
        put_elements(w, a->elem, a->count);
        put_init(w, &a->init);
        if (a->output) {
            jw_put_bool(w, "output", true);
        }
        if (a->tolerance > 0) {
            jw_put_num(w, "tolerance", a->tolerance);
        }
        put_beside(w, a);
    } else if (a->kind == ARG_SAME_AS) {
        jw_put_str(w, "same_as", a->same_as);
        jw_put_uint(w, "offset", a->offset);
    } else if (a->kind == ARG_TENSOR_MAP)
        put_tensor_map(w, a);
    else if (a->kind == ARG_TEXTURE)
        put_texture(w, a);
    else if (a->kind == ARG_BYTES)
        put_bytes(w, a);
    else
        put_scalar(w, a);
    jw_end_obj(w);
}

static bool is_reference(const struct arg_spec *a)
{
    return arg_apart(a) && a->kind == ARG_TEXTURE;
}

static void put_apart(struct jw *w, const struct launch_spec *l)
{
    bool any = false;
    for (size_t i = 0; i < l->nargs; i++) {
        if (!arg_apart(&l->args[i]) || is_reference(&l->args[i]))
            continue;
        if (!any) {
            jw_put_arr(w, "buffers");
        }
        any = true;
        put_arg(w, &l->args[i]);
    }
    if (any)
        jw_end_arr(w);
}

static void put_symbol(struct jw *w, const struct symbol_spec *y)
{
    jw_obj(w);
    jw_put_str(w, "name", y->name);
    if (y->count)
        put_elements(w, y->elem, y->count);
    put_init(w, &y->init);
    jw_end_obj(w);
}

static void put_symbols(struct jw *w, const struct launch_spec *l)
{
    size_t references = 0;
    for (size_t i = 0; i < l->nargs; i++)
        references += is_reference(&l->args[i]);
    if (!l->nsymbols && !references)
        return;
    jw_put_arr(w, "symbols");
    for (size_t i = 0; i < l->nsymbols; i++)
        put_symbol(w, &l->symbols[i]);
    for (size_t i = 0; i < l->nargs; i++)
        if (is_reference(&l->args[i]))
            put_arg(w, &l->args[i]);
    jw_end_arr(w);
}

void put_launch(struct jw *w, const struct launch_spec *l, bool nested)
{
    if (l->name) {
        jw_put_str(w, "name", l->name);
    }
    if (l->ptx && !nested) {
        jw_put_str(w, "ptx", l->ptx);
    }
    if (*l->kernel) {
        jw_put_str(w, "kernel", l->kernel);
    }
    jw_put_dim(w, "grid", l->grid);
    jw_put_dim(w, "block", l->block);
    if (l->cluster.x)
        jw_put_dim(w, "cluster", l->cluster);
    jw_put_uint(w, "shared", l->shared);
    if (l->guessed)
        launch_guessed_put(w, l->guessed);
    jw_put_arr(w, "args");
    for (size_t i = 0; i < l->nargs; i++)
        if (!arg_apart(&l->args[i]))
            put_arg(w, &l->args[i]);
    jw_end_arr(w);
    put_apart(w, l);
    put_symbols(w, l);
    if (l->nbefore) {
        jw_put_arr(w, "before");
        for (size_t i = 0; i < l->nbefore; i++) {
            jw_obj(w);
            put_launch(w, &l->before[i], true);
            jw_end_obj(w);
        }
        jw_end_arr(w);
    }
}

void launch_file_text(const struct launch_spec *l, size_t n, struct buf *out)
{
    struct jw w = document_open(out, "gpulocw-launch", n == 1 ? 2 : 4);
    if (n == 1)
        put_launch(&w, l, false);
    else {
        jw_put_arr(&w, "launches");
        for (size_t i = 0; i < n; i++) {
            jw_obj(&w);
            put_launch(&w, &l[i], false);
            jw_end_obj(&w);
        }
        jw_end_arr(&w);
    }
    document_close(&w);
}

enum status launch_file_write(const char *path, const struct launch_spec *l, size_t n, struct diags *ds)
{
    struct buf b = { 0 };
    launch_file_text(l, n, &b);
    enum status s = b.oom ? ST_NOMEM : file_write_atomic(path, b.s, b.n, ds);
    buf_free(&b);
    return s;
}

/* By way of its own JSON form: one description of what a launch is. */
enum status launch_copy(const struct launch_spec *l, struct launch_spec *out)
{
    struct buf b = { 0 };
    struct jw w = jw_open(&b, 0);
    jw_obj(&w);
    put_launch(&w, l, false);
    jw_end_obj(&w);
    memset(out, 0, sizeof *out);
    cJSON *t = b.oom ? NULL : json_parse(NULL, b.s, b.n, NULL);
    enum status st =
        t ? get_launch(t, l->file ? l->file : "session", l->dir ? l->dir : ".", out, NULL) : ST_NOMEM;
    cJSON_Delete(t);
    buf_free(&b);
    if (!l->file) { /* of no file: a guess, or a session's */
        base_free(out->file);
        out->file = NULL;
    }
    return st;
}

enum status launch_copied(const struct launch_spec *l, struct launch_spec **out)
{
    *out = base_alloc(sizeof **out);
    enum status st = *out ? launch_copy(l, *out) : ST_NOMEM;
    if (st != ST_OK) {
        base_free(*out);
        *out = NULL;
    }
    return st;
}

uint64_t launch_key(const struct launch_spec *l)
{
    struct launch_spec plain = *l;
    struct buf text = { 0 };
    plain.name = plain.file = NULL;
    plain.guessed = 0;
    launch_file_text(&plain, 1, &text);
    uint64_t key = text.n ? base_hash(text.s, text.n) : 1;
    buf_free(&text);
    return key ? key : 1;
}
