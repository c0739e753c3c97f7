/* Arguments of a launch description that are more than a value (docs/reference/launch.md): "tensor_map",
 * made of a buffer; "texture" and "surface", a handle of a buffer with a shape; "pointers" of a struct;
 * what was captured with a buffer: "address" and "expect". */
#include "engine/rec/launch_arg.h"
#include "engine/rec/tensor_map.h"
#include "engine/rec/texture.h"
#include "engine/session/session_int.h"

#include <stdlib.h>

#include <stdio.h>
#include <string.h>

static const char *const interleaves[] = { "none", "16B", "32B" };
static const char *const swizzles[] = { "none", "32B", "64B", "128B" };
static const char *const promotions[] = { "none", "64B", "128B", "256B" };
static const char *const fills[] = { "zero", "nan" };

struct read {
    const cJSON *o;
    char *why;
    size_t n;
};

static bool word(const struct read *r, const char *key, const char *const *words, unsigned nwords,
                 uint8_t *out)
{
    const cJSON *v = json_get(r->o, key);
    struct str text = str_of(json_text(r->o, key));
    size_t at = 0;
    *out = 0;
    if (!v)
        return true;
    for (unsigned i = 0; i < nwords; i++)
        if (str_is(text, words[i])) {
            *out = (uint8_t)i;
            return true;
        }
    at += (size_t)snprintf(r->why, r->n, "\"%s\" must be one of", key);
    for (unsigned i = 0; i < nwords && at < r->n; i++)
        at += (size_t)snprintf(r->why + at, r->n - at, "%s %s", i ? "," : "", words[i]);
    return false;
}

/* A list of `want` whole numbers (0: of 1 to 5, which *got says). */
static bool numbers(const struct read *r, const char *key, unsigned want, unsigned *got, uint64_t *out)
{
    const cJSON *v = json_get(r->o, key);
    unsigned n = cJSON_IsArray(v) ? (unsigned)cJSON_GetArraySize(v) : 0;
    bool ok = want ? n == want : n >= 1 && n <= TENSOR_RANK_MOST;
    for (unsigned i = 0; ok && i < n; i++)
        ok = json_u64(cJSON_GetArrayItem(v, (int)i), &out[i]);
    if (got)
        *got = n;
    if (ok)
        return true;
    if (want)
        snprintf(r->why, r->n, "\"%s\" must be a list of %u whole numbers", key, want);
    else
        snprintf(r->why, r->n, "\"%s\" must be a list of 1 to 5 whole numbers", key);
    return false;
}

static bool narrow(const struct read *r, const char *key, unsigned want, uint32_t *out)
{
    uint64_t v[TENSOR_RANK_MOST];
    if (!numbers(r, key, want, NULL, v))
        return false;
    for (unsigned i = 0; i < want; i++)
        out[i] = v[i] > UINT32_MAX ? UINT32_MAX : (uint32_t)v[i];
    return true;
}

static bool corner(const struct read *r, const char *key, unsigned want, int32_t *out)
{
    const cJSON *v = json_get(r->o, key);
    bool ok = cJSON_IsArray(v) && (unsigned)cJSON_GetArraySize(v) == want;
    for (unsigned i = 0; ok && i < want; i++) {
        int64_t x;
        ok = json_i64(cJSON_GetArrayItem(v, (int)i), &x) && x >= -32768 && x <= 32767;
        out[i] = ok ? (int32_t)x : 0;
    }
    if (!ok)
        snprintf(r->why, r->n, "\"%s\" must be a list of %u whole numbers from -32768 to 32767", key,
                 want);
    return ok;
}

/* im2col is what has "pixels" instead of a "box". */
static bool im2col(const struct read *r, struct tensor_map *m)
{
    uint64_t channels, pixels;
    m->im2col = true;
    if (m->rank < 3 || !json_u64(json_get(r->o, "channels"), &channels) ||
        !json_u64(json_get(r->o, "pixels"), &pixels) || channels > 256 || pixels > 1024) {
        snprintf(r->why, r->n,
                 "im2col needs 3 dimensions or more, \"channels\" up to 256 and \"pixels\" up to 1024");
        return false;
    }
    m->channels = (uint32_t)channels;
    m->pixels = (uint32_t)pixels;
    return corner(r, "lower", m->rank - 2u, m->lower) && corner(r, "upper", m->rank - 2u, m->upper);
}

static bool shape(const struct read *r, struct tensor_map *m)
{
    unsigned rank = 0;
    if (!tensor_type_parse(str_of(json_text(r->o, "type")), &m->type)) {
        snprintf(r->why, r->n,
                 "\"type\" must be u8, u16, u32, s32, u64, s64, f16, f32, f64, bf16, f32_ftz, tf32 or "
                 "tf32_ftz");
        return false;
    }
    if (!numbers(r, "dims", 0, &rank, m->dims))
        return false;
    m->rank = (uint8_t)rank;
    for (unsigned d = 0; d < TENSOR_RANK_MOST; d++) {
        m->steps[d] = m->box[d] = 1;
        m->dims[d] = d < rank ? m->dims[d] : 1;
    }
    if (rank > 1 && !numbers(r, "strides", rank - 1, NULL, m->strides + 1))
        return false;
    if (json_get(r->o, "element_strides") && !narrow(r, "element_strides", rank, m->steps))
        return false;
    m->channels = m->pixels = 1;
    return json_get(r->o, "pixels") ? im2col(r, m) : narrow(r, "box", rank, m->box);
}

bool get_tensor_map(const cJSON *o, struct arg_spec *a, char *why, size_t n)
{
    struct read r = { o, why, n };
    struct tensor_map m = { 0 };
    uint8_t nan;
    const cJSON *off = json_get(o, "offset");
    if (!json_text(o, "data")) {
        snprintf(why, n, "\"data\" must name a buffer");
        return false;
    }
    if (off && !json_u64(off, &a->offset)) {
        snprintf(why, n, "\"offset\" must be a whole number of bytes");
        return false;
    }
    if (!shape(&r, &m) || !word(&r, "interleave", interleaves, ARRAY_LEN(interleaves), &m.interleave) ||
        !word(&r, "swizzle", swizzles, ARRAY_LEN(swizzles), &m.swizzle) ||
        !word(&r, "l2_promotion", promotions, ARRAY_LEN(promotions), &m.l2) ||
        !word(&r, "oob", fills, ARRAY_LEN(fills), &nan))
        return false;
    m.nan = nan;
    m.address = a->offset % 32; /* buffers begin at multiples of 256 */
    if (!tensor_map_check(&m, why, n))
        return false;
    m.address = 0;
    a->kind = ARG_TENSOR_MAP;
    a->same_as = base_strdup(json_text(o, "data"));
    a->bytes = base_alloc(TENSOR_MAP_BYTES);
    a->nbytes = a->bytes ? TENSOR_MAP_BYTES : 0;
    if (a->bytes)
        tensor_map_encode(&m, a->bytes);
    snprintf(why, n, "out of memory");
    return a->bytes && a->same_as;
}

static void put_list(struct jw *w, const char *key, const uint64_t *v, unsigned n)
{
    jw_put_arr(w, key);
    for (unsigned i = 0; i < n; i++)
        jw_uint(w, v[i]);
    jw_end_arr(w);
}

static void put_corner(struct jw *w, const char *key, const int32_t *v, unsigned n)
{
    jw_put_arr(w, key);
    for (unsigned i = 0; i < n; i++)
        jw_int(w, v[i]);
    jw_end_arr(w);
}

void put_tensor_map(struct jw *w, const struct arg_spec *a)
{
    struct tensor_map m;
    uint64_t box[TENSOR_RANK_MOST], steps[TENSOR_RANK_MOST];
    if (a->nbytes != TENSOR_MAP_BYTES || !tensor_map_decode(a->bytes, &m))
        return;
    for (unsigned d = 0; d < m.rank; d++) {
        box[d] = m.box[d];
        steps[d] = m.steps[d];
    }
    jw_put_obj(w, "tensor_map");
    jw_put_str(w, "data", a->same_as);
    jw_put_uint(w, "offset", a->offset);
    jw_put_str(w, "type", tensor_type_name(m.type));
    put_list(w, "dims", m.dims, m.rank);
    put_list(w, "strides", m.strides + 1, m.rank - 1u);
    if (m.im2col) {
        put_corner(w, "lower", m.lower, m.rank - 2u);
        put_corner(w, "upper", m.upper, m.rank - 2u);
        jw_put_uint(w, "channels", m.channels);
        jw_put_uint(w, "pixels", m.pixels);
    } else {
        put_list(w, "box", box, m.rank);
    }
    put_list(w, "element_strides", steps, m.rank);
    jw_put_str(w, "interleave", interleaves[m.interleave % ARRAY_LEN(interleaves)]);
    jw_put_str(w, "swizzle", swizzles[m.swizzle % ARRAY_LEN(swizzles)]);
    jw_put_str(w, "l2_promotion", promotions[m.l2 % ARRAY_LEN(promotions)]);
    jw_put_str(w, "oob", fills[m.nan]);
    jw_end_obj(w);
}

/* ---- captured buffers, and structs with pointers ---- */
/* "0x7f0262000000", or a number. */
static bool get_address(const cJSON *v, uint64_t *out)
{
    const char *text = cJSON_IsString(v) ? v->valuestring : NULL;
    char *end = NULL;
    if (!text || strncmp(text, "0x", 2) != 0)
        return json_u64(v, out) && *out;
    *out = strtoull(text, &end, 16);
    return end != text + 2 && !*end && *out;
}

bool get_beside(const cJSON *o, struct arg_spec *a, char *why, size_t n)
{
    const cJSON *address = json_get(o, "address"), *expect = json_get(o, "expect");
    const char *file = json_text(expect, "file");
    if (address && !get_address(address, &a->address)) {
        snprintf(why, n, "\"address\" must be a device address such as \"0x7f0262000000\"");
        return false;
    }
    if (expect && (!file || (json_get(expect, "offset") &&
                             !json_u64(json_get(expect, "offset"), &a->expect_at)))) {
        snprintf(why, n, "\"expect\" must be an object with a \"file\" and perhaps an \"offset\"");
        return false;
    }
    if (file && !(a->expect = base_strdup(file))) {
        snprintf(why, n, "out of memory");
        return false;
    }
    return true;
}

void put_beside(struct jw *w, const struct arg_spec *a)
{
    char address[32];
    if (a->address) {
        snprintf(address, sizeof address, "0x%llx", (unsigned long long)a->address);
        jw_put_str(w, "address", address);
    }
    if (!a->expect)
        return;
    jw_put_obj(w, "expect");
    jw_put_str(w, "file", a->expect);
    jw_put_uint(w, "offset", a->expect_at);
    jw_end_obj(w);
}

bool get_pointers(const cJSON *o, const struct arg_spec *outer, struct arg_spec *v, size_t *n, char *why,
                  size_t size)
{
    const cJSON *p;
    char name[200];
    cJSON_ArrayForEach(p, json_get(o, "pointers"))
    {
        struct arg_spec *a = &v[*n];
        const char *to = json_text(p, "to");
        if (outer->kind != ARG_BYTES || !to || !json_u64(json_get(p, "at"), &a->at) ||
            (json_get(p, "offset") && !json_u64(json_get(p, "offset"), &a->offset))) {
            snprintf(why, size,
                     "each of \"pointers\" needs \"at\" and \"to\", in an argument with \"bytes\"");
            return false;
        }
        snprintf(name, sizeof name, "%.150s+%llu", outer->name, (unsigned long long)a->at);
        a->kind = ARG_SAME_AS;
        a->name = base_strdup(name);
        a->inside = base_strdup(outer->name);
        a->same_as = base_strdup(to);
        ++*n;
        if (!a->name || !a->inside || !a->same_as) {
            snprintf(why, size, "out of memory");
            return false;
        }
    }
    return true;
}

/* ---- textures and surfaces ---- */
/* Of a surface the first, of a sampler the last. */
static const char *const texture_keys[] = { "data",   "offset",  "type",       "channels",   "dims",
                                            "layers", "cube",    "pitch",      "read",       "levels",
                                            "filter", "address", "normalized", "mip_filter", "compare" };
enum { SURFACE_KEYS = 8, SAMPLER_FROM = 10 };

static bool texture_known_keys(const cJSON *o, const char *what, char *why, size_t n)
{
    const cJSON *c;
    size_t from = !strcmp(what, "sampler") ? SAMPLER_FROM : 0,
           to = !strcmp(what, "surface") ? SURFACE_KEYS : ARRAY_LEN(texture_keys);
    cJSON_ArrayForEach(c, o)
    {
        bool known = false;
        for (size_t i = from; i < to; i++)
            known |= c->string && strcmp(c->string, texture_keys[i]) == 0;
        if (!known) {
            snprintf(why, n, "unknown key \"%.60s\" in \"%s\"", c->string ? c->string : "", what);
            return false;
        }
    }
    return true;
}

static bool texture_whole(const cJSON *o, const char *key, uint64_t most, uint64_t *out, char *why,
                          size_t n)
{
    const cJSON *v = json_get(o, key);
    if (!v || (json_u64(v, out) && *out <= most))
        return true;
    snprintf(why, n, "\"%s\" must be a whole number up to %llu", key, (unsigned long long)most);
    return false;
}

static bool texture_flag(const cJSON *o, const char *key, bool *out, char *why, size_t n)
{
    const cJSON *v = json_get(o, key);
    if (v && !cJSON_IsBool(v)) {
        snprintf(why, n, "\"%s\" must be true or false", key);
        return false;
    }
    *out = v && cJSON_IsTrue(v);
    return true;
}

/* One of two words; the first where the key is not there. */
static bool texture_either(const cJSON *o, const char *key, const char *first, const char *second,
                           bool *out, char *why, size_t n)
{
    struct str text = str_of(json_text(o, key));
    *out = str_is(text, second);
    if (!json_get(o, key) || *out || str_is(text, first))
        return true;
    snprintf(why, n, "\"%s\" must be %s or %s", key, first, second);
    return false;
}

static bool texture_shape(const cJSON *o, struct texture *t, char *why, size_t n)
{
    const cJSON *dims = json_get(o, "dims");
    uint64_t v, layers = 1, channels = 1;
    enum elem e;
    t->rank =
        (uint8_t)(cJSON_IsArray(dims) && cJSON_GetArraySize(dims) <= 3 ? cJSON_GetArraySize(dims) : 0);
    for (unsigned d = 0; d < 3; d++) {
        v = 1;
        if (d < t->rank && (!json_u64(cJSON_GetArrayItem(dims, (int)d), &v) || v > UINT32_MAX))
            v = 0;
        t->dims[d] = (uint32_t)v;
    }
    if (!elem_parse(str_of(json_text(o, "type")), &e))
        e = ELEM_COUNT;
    t->elem = (uint8_t)e;
    if (e == ELEM_COUNT) {
        snprintf(why, n, "\"type\" is one of u8, s8, u16, s16, f16, u32, s32, f32");
        return false;
    }
    if (!texture_whole(o, "layers", 2048, &layers, why, n) ||
        !texture_whole(o, "channels", 4, &channels, why, n) ||
        !texture_flag(o, "cube", &t->cube, why, n))
        return false;
    t->array = json_get(o, "layers") != NULL;
    t->layers = (uint32_t)layers;
    t->channels = (uint8_t)channels;
    t->pitch = (uint64_t)t->dims[0] * texture_texel(t);
    return texture_whole(o, "pitch", 1u << 30, &t->pitch, why, n);
}

static bool texture_edges(const cJSON *o, struct texture *t, char *why, size_t n)
{
    const cJSON *list = json_get(o, "address");
    int have = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
    if (list && (have < 1 || have > 3)) {
        snprintf(why, n, "\"address\" must be a list of 1 to 3 of clamp, border, wrap, mirror");
        return false;
    }
    for (int d = 0; d < have; d++) {
        const cJSON *c = cJSON_GetArrayItem(list, d);
        const char *text = cJSON_IsString(c) ? c->valuestring : "";
        unsigned e = 0;
        while (e < EDGE_COUNT && strcmp(text, texture_edge_name((enum texture_edge)e)) != 0)
            e++;
        for (int k = d; k < 3; k++) /* the last one holds for the rest */
            t->edge[k] = (uint8_t)e;
    }
    return true;
}

static bool texture_compare(const cJSON *o, struct texture *t, char *why, size_t n)
{
    const char *text = json_text(o, "compare");
    if (!json_get(o, "compare"))
        return true;
    for (unsigned c = 1; text && c < COMPARE_COUNT; c++)
        if (strcmp(text, texture_compare_name((enum texture_compare)c)) == 0) {
            t->compare = (uint8_t)c;
            return true;
        }
    snprintf(why, n,
             "\"compare\" is one of never, less, equal, less_equal, greater, not_equal, "
             "greater_equal, always");
    return false;
}

static bool texture_reading(const cJSON *o, struct texture *t, char *why, size_t n)
{
    return texture_edges(o, t, why, n) &&
           texture_either(o, "filter", "point", "linear", &t->linear, why, n) &&
           texture_either(o, "mip_filter", "point", "linear", &t->mip_linear, why, n) &&
           texture_compare(o, t, why, n) && texture_flag(o, "normalized", &t->normalized, why, n);
}

static bool texture_keep(const struct texture *t, const char *data, struct arg_spec *a, char *why,
                         size_t n)
{
    if (!texture_check(t, why, n))
        return false;
    struct texture own = *t;
    own.address = 0;
    a->kind = ARG_TEXTURE;
    a->same_as = base_strdup(data);
    a->bytes = base_alloc(sizeof own);
    a->nbytes = a->bytes ? sizeof own : 0;
    if (a->bytes)
        memcpy(a->bytes, &own, sizeof own);
    snprintf(why, n, "out of memory");
    return a->bytes && (a->same_as || !data);
}

static bool get_sampler(const cJSON *o, struct arg_spec *a, char *why, size_t n)
{
    struct texture t = { .sampler = SAMPLER_WHOLE, .rank = 3, .dims = { 1, 1, 1 }, .layers = 1 };
    return texture_known_keys(o, "sampler", why, n) && texture_reading(o, &t, why, n) &&
           texture_keep(&t, NULL, a, why, n);
}

static bool get_texels(const cJSON *o, bool surface, struct arg_spec *a, char *why, size_t n)
{
    struct texture t = { .surface = surface };
    const char *data = json_text(o, "data");
    uint64_t levels = 0;
    if (!data) {
        snprintf(why, n, "\"data\" must name a buffer");
        return false;
    }
    if (!texture_known_keys(o, surface ? "surface" : "texture", why, n) ||
        !texture_whole(o, "offset", 1ull << 40, &a->offset, why, n) || !texture_shape(o, &t, why, n) ||
        !texture_reading(o, &t, why, n) || !texture_whole(o, "levels", 18, &levels, why, n) ||
        !texture_either(o, "read", "element", "normalized", &t.fraction, why, n))
        return false;
    t.levels = (uint8_t)levels;
    t.address = a->offset; /* buffers begin at multiples of 256 */
    return texture_keep(&t, data, a, why, n);
}

const cJSON *texture_member(const cJSON *o)
{
    static const char *const keys[] = { "texture", "surface", "sampler" };
    const cJSON *v = NULL;
    for (size_t k = 0; !v && k < ARRAY_LEN(keys); k++)
        v = json_get(o, keys[k]);
    return v;
}

bool get_texture(const cJSON *o, struct arg_spec *a, char *why, size_t n)
{
    const cJSON *sampler = json_get(o, "sampler"), *surface = json_get(o, "surface");
    return sampler ? get_sampler(sampler, a, why, n)
                   : get_texels(surface ? surface : json_get(o, "texture"), surface != NULL, a, why, n);
}

static void put_sampling(struct jw *w, const struct texture *t)
{
    jw_put_str(w, "filter", t->linear ? "linear" : "point");
    jw_put_arr(w, "address");
    for (unsigned d = 0; d < t->rank; d++)
        jw_str(w, texture_edge_name((enum texture_edge)t->edge[d]));
    jw_end_arr(w);
    if (t->mip_linear)
        jw_put_str(w, "mip_filter", "linear");
    if (t->compare)
        jw_put_str(w, "compare", texture_compare_name((enum texture_compare)t->compare));
    jw_put_bool(w, "normalized", t->normalized);
}

void put_texture(struct jw *w, const struct arg_spec *a)
{
    struct texture t;
    if (a->nbytes != sizeof t)
        return;
    memcpy(&t, a->bytes, sizeof t);
    jw_put_obj(w, t.sampler ? "sampler" : t.surface ? "surface" : "texture");
    if (t.sampler) {
        put_sampling(w, &t);
        jw_end_obj(w);
        return;
    }
    jw_put_str(w, "data", a->same_as);
    jw_put_uint(w, "offset", a->offset);
    jw_put_str(w, "type", elem_name((enum elem)t.elem));
    jw_put_uint(w, "channels", t.channels);
    jw_put_arr(w, "dims");
    for (unsigned d = 0; d < t.rank; d++)
        jw_uint(w, t.dims[d]);
    jw_end_arr(w);
    if (t.array)
        jw_put_uint(w, "layers", t.layers);
    if (t.cube) {
        jw_put_bool(w, "cube", true);
    }
    jw_put_uint(w, "pitch", t.pitch);
    if (t.levels)
        jw_put_uint(w, "levels", t.levels);
    if (!t.surface) {
        put_sampling(w, &t);
        jw_put_str(w, "read", t.fraction ? "normalized" : "element");
    }
    jw_end_obj(w);
}
