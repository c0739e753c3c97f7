/* "init" of launch descriptions (docs/reference/launch.md): how the data of a buffer or variable are
 * made, read and written. */
#include "engine/rec/launch_arg.h"
#include "engine/session/session_int.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the value of a kind is. */
enum init_form { ONE, TWO, FLAG, SPARSE, TEXT };
static const struct init_key {
    const char *key;
    enum init_form form;
    const char *as; /* an example of the value */
} init_keys[] = {
    [INIT_FILL] = { "fill", ONE, "0" },
    [INIT_IOTA] = { "iota", TWO, "[start, step]" },
    [INIT_RANDOM] = { "random", TWO, "[low, high]" },
    [INIT_PERMUTATION] = { "permutation", FLAG, "true" },
    [INIT_ROWS] = { "rows", SPARSE, "{\"rows\": 100, \"nnz\": 1600}" },
    [INIT_FILE] = { "file", TEXT, "\"data.bin\"" },
    [INIT_NPY] = { "npy", TEXT, "\"data.npy\"" },
    [INIT_HEX] = { "hex", TEXT, "\"00ff\"" },
    [INIT_SORTED] = { "sorted", TWO, "[low, high]" },
    [INIT_NEIGHBOURS] = { "neighbours", SPARSE, "{\"rows\": 100, \"degree\": 16, \"span\": 50}" },
    [INIT_GRAPH] = { "graph", SPARSE, "{\"nodes\": 100, \"degree\": 16}" },
};

/* A number, or a whole one as text where a JSON number would lose digits; *i: its 64 bits, where it is
 * whole. */
static bool get_number(const cJSON *v, double *d, int64_t *i, bool *integral)
{
    uint64_t u;
    bool is = json_i64(v, i);
    *d = cJSON_IsNumber(v) ? v->valuedouble : (double)*i;
    if (!is && cJSON_IsString(v) && json_u64(v, &u)) {
        is = true;
        *i = (int64_t)u;
        *d = (double)u;
    }
    *integral = *integral && is;
    return is || (cJSON_IsNumber(v) && isfinite(*d));
}

static bool get_pair(const cJSON *v, struct init_spec *in)
{
    in->integral = true;
    if (!cJSON_IsArray(v))
        return get_number(v, &in->a, &in->ia, &in->integral);
    return cJSON_GetArraySize(v) == 2 &&
           get_number(cJSON_GetArrayItem(v, 0), &in->a, &in->ia, &in->integral) &&
           get_number(cJSON_GetArrayItem(v, 1), &in->b, &in->ib, &in->integral);
}

/* Whole numbers of a sparse structure; "span" may be left out. */
static bool get_sparse(const cJSON *v, struct init_spec *in)
{
    const char *rows = in->kind == INIT_GRAPH ? "nodes" : "rows";
    const cJSON *span = json_get(v, "span");
    return json_u64(json_get(v, rows), &in->rows) &&
           json_u64(json_get(v, in->kind == INIT_ROWS ? "nnz" : "degree"),
                    in->kind == INIT_ROWS ? &in->nnz : &in->degree) &&
           (!span || json_u64(span, &in->span));
}

static bool get_init_value(const cJSON *v, const cJSON *o, struct init_spec *in)
{
    const cJSON *seed = json_get(o, "seed"), *offset = json_get(o, "offset");
    if ((seed && !json_u64(seed, &in->seed)) || (offset && !json_u64(offset, &in->offset)))
        return false;
    switch (init_keys[in->kind].form) {
    case ONE: return !cJSON_IsArray(v) && get_pair(v, in);
    case TWO: return cJSON_IsArray(v) && get_pair(v, in);
    case FLAG: return true;
    case SPARSE: return get_sparse(v, in);
    case TEXT: return cJSON_IsString(v);
    }
    return false;
}

/* A file that a launch description names, read from the place where it stands. */
enum status launch_file_inside(const cJSON *o, const char *path, const char *where, const char *name,
                               struct diags *ds)
{
    struct span at = json_place(o);
    char *dir = at.line ? path_dir(path) : NULL, *full = dir ? launch_path(dir, name) : NULL;
    enum status st = !at.line ? ST_OK
                     : !full  ? ST_NOMEM
                              : launch_path_check(full, dir, path, at, where, ds);
    BASE_FREE(full, dir);
    return st;
}

static enum status no_kind(const cJSON *o, const char *path, const char *where, struct diags *ds)
{
    struct buf all = { 0 };
    for (size_t k = 0; k < ARRAY_LEN(init_keys); k++)
        buf_printf(&all, "%s%s", k ? ", " : "", init_keys[k].key);
    struct diag *d =
        diag_add(ds, DIAG_ERROR, "launch", path, json_place(o),
                 "%s: init must be one of %s, or a list of such parts", where, all.s ? all.s : "");
    diag_hint(d,
              "for example \"init\": { \"fill\": 0 } or \"init\": { \"random\": [0, 1], \"seed\": 1 }");
    buf_free(&all);
    return ST_INPUT;
}

/* One kind, without parts. */
static enum status get_kind(const cJSON *o, const char *path, const char *where, struct init_spec *in,
                            struct diags *ds)
{
    size_t k = 0;
    while (k < ARRAY_LEN(init_keys) && !json_get(o, init_keys[k].key))
        k++;
    if (!cJSON_IsObject(o) || k == ARRAY_LEN(init_keys))
        return no_kind(o, path, where, ds);
    in->kind = (enum init_kind)k;
    if (!get_init_value(json_get(o, init_keys[k].key), o, in)) {
        launch_wrong(ds, path, o, where, "the value of its init is invalid");
        diag_hint(diags_last(ds), "as \"init\": { \"%s\": %s }", init_keys[k].key, init_keys[k].as);
        return ST_INPUT;
    }
    if (init_keys[k].form == TEXT && !(in->text = base_strdup(json_text(o, init_keys[k].key))))
        return ST_NOMEM;
    return in->kind == INIT_FILE || in->kind == INIT_NPY
               ? launch_file_inside(o, path, where, in->text, ds)
               : ST_OK;
}

/* Parts, one after another; the last one may leave out its "count": the rest. */
static enum status get_parts(const cJSON *list, const char *path, const char *where, uint64_t count,
                             struct init_spec *in, struct diags *ds)
{
    const cJSON *o;
    uint64_t left = count;
    size_t n = (size_t)cJSON_GetArraySize(list);
    in->kind = INIT_PARTS;
    in->part = base_alloc((n + 1) * sizeof *in->part);
    if (!in->part)
        return ST_NOMEM;
    cJSON_ArrayForEach(o, list)
    {
        char inside[200];
        struct init_spec *part = &in->part[in->nparts++];
        snprintf(inside, sizeof inside, "%s, part %zu of its init", where, in->nparts);
        enum status st = get_kind(o, path, inside, part, ds);
        if (st != ST_OK)
            return st;
        bool rest = !json_get(o, "count") && in->nparts == n;
        part->count = left;
        if ((!rest && !json_u64(json_get(o, "count"), &part->count)) || !part->count)
            return launch_wrong(ds, path, o, inside,
                                rest ? "nothing is left for it" : "needs a \"count\", its elements");
        left -= part->count < left ? part->count : left;
    }
    return n ? ST_OK : no_kind(list, path, where, ds);
}

enum status get_init(const cJSON *o, const char *path, const char *where, uint64_t count,
                     struct init_spec *in, struct diags *ds)
{
    char why[200];
    if (!o) { /* no init: zeros */
        in->kind = INIT_FILL;
        in->integral = true;
        return ST_OK;
    }
    enum status st =
        cJSON_IsArray(o) ? get_parts(o, path, where, count, in, ds) : get_kind(o, path, where, in, ds);
    if (st != ST_OK || !count || !init_misfit(in, count, why, sizeof why))
        return st;
    return launch_wrong(ds, path, o, where, why);
}

/* ---- writing ---- */
static void put_number(struct jw *w, const struct init_spec *in, bool second)
{
    int64_t i = second ? in->ib : in->ia;
    double d = second ? in->b : in->a;
    if (!in->integral)
        jw_num(w, d);
    else if (i < 0 && d > 0) /* above INT64_MAX: its 64 bits */
        jw_uint(w, (uint64_t)i);
    else
        jw_int(w, i);
}

static void put_sparse(struct jw *w, const struct init_spec *in)
{
    jw_obj(w);
    jw_put_uint(w, in->kind == INIT_GRAPH ? "nodes" : "rows", in->rows);
    if (in->kind == INIT_ROWS)
        jw_put_uint(w, "nnz", in->nnz);
    else
        jw_put_uint(w, "degree", in->degree);
    if (in->span)
        jw_put_uint(w, "span", in->span);
    jw_end_obj(w);
}

/* seed: of the parts around it, or 0. */
static void put_kind(struct jw *w, const struct init_spec *in, uint64_t seed)
{
    jw_obj(w);
    jw_key(w, init_keys[in->kind].key);
    switch (init_keys[in->kind].form) {
    case ONE: put_number(w, in, false); break;
    case TWO:
        jw_arr(w);
        put_number(w, in, false);
        put_number(w, in, true);
        jw_end_arr(w);
        break;
    case FLAG: jw_bool(w, true); break;
    case SPARSE: put_sparse(w, in); break;
    case TEXT: jw_str(w, in->text); break;
    }
    if (init_draws(in))
        jw_put_uint(w, "seed", in->seed + seed);
    if (in->offset)
        jw_put_uint(w, "offset", in->offset);
    if (in->count)
        jw_put_uint(w, "count", in->count);
    jw_end_obj(w);
}

void put_init(struct jw *w, const struct init_spec *in)
{
    jw_key(w, "init");
    if (in->kind != INIT_PARTS) {
        put_kind(w, in, 0);
        return;
    }
    jw_arr(w);
    for (size_t k = 0; k < in->nparts; k++)
        put_kind(w, &in->part[k], in->seed);
    jw_end_arr(w);
}
