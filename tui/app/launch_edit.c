/* launch_edit: see launch_edit.h. */
#include "tui/app/launch_edit.h"

#include "engine/rec/launch_arg.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    unsigned numbers;
    bool seed;
} inits[] = { [INIT_FILL] = { "fill", 1, false },    [INIT_IOTA] = { "iota", 2, false },
              [INIT_RANDOM] = { "random", 2, true }, [INIT_PERMUTATION] = { "permutation", 0, true },
              [INIT_ROWS] = { "rows", 2, true },     [INIT_FILE] = { "file", 0, false },
              [INIT_NPY] = { "npy", 0, false },      [INIT_HEX] = { "hex", 0, false },
              [INIT_SORTED] = { "sorted", 2, true }, [INIT_NEIGHBOURS] = { "neighbours", 3, true },
              [INIT_GRAPH] = { "graph", 2, true },   [INIT_PARTS] = { "parts", 0, false } };

static bool has_text(enum init_kind k)
{
    return k == INIT_FILE || k == INIT_NPY || k == INIT_HEX;
}

/* As few digits as read back the same: what is edited beside it must not be rounded. */
static void double_text(double v, struct buf *out)
{
    char text[32];
    int digits = 6;
    do
        snprintf(text, sizeof text, "%.*g", digits, v + 0.0); /* no -0: whole numbers have none */
    while (strtod(text, NULL) != v && digits++ < 17);
    buf_puts(out, text);
}

static void scalar_text(const struct arg_spec *g, struct buf *out)
{
    union {
        uint8_t b[8];
        int8_t s8;
        int16_t s16;
        int32_t s32;
        int64_t s64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
    } v;
    memcpy(v.b, g->scalar, sizeof v.b);
    switch (g->elem) {
    case ELEM_F32:
    case ELEM_TF32: buf_printf(out, "%.9g", elem_load(g->scalar, g->elem)); break;
    case ELEM_F64:
    case ELEM_F16:
    case ELEM_BF16:
    case ELEM_E4M3:
    case ELEM_E5M2: double_text(elem_load(g->scalar, g->elem), out); break;
    case ELEM_S8: buf_printf(out, "%d", v.s8); break;
    case ELEM_S16: buf_printf(out, "%d", v.s16); break;
    case ELEM_S32: buf_printf(out, "%d", v.s32); break;
    case ELEM_S64: buf_printf(out, "%lld", (long long)v.s64); break;
    case ELEM_U8: buf_printf(out, "%u", v.u8); break;
    case ELEM_U16: buf_printf(out, "%u", v.u16); break;
    case ELEM_U32: buf_printf(out, "%u", v.u32); break;
    default: buf_printf(out, "%llu", (unsigned long long)v.u64);
    }
}

/* The i-th number of a sparse structure; NULL: of none. */
static uint64_t *sparse_number(struct init_spec *in, unsigned i)
{
    uint64_t *degree = in->kind == INIT_ROWS ? &in->nnz : &in->degree;
    if (in->kind != INIT_ROWS && in->kind != INIT_NEIGHBOURS && in->kind != INIT_GRAPH)
        return NULL;
    return i == 0 ? &in->rows : i == 1 ? degree : &in->span;
}

static void number_text(struct init_spec in, unsigned i, struct buf *out)
{
    const uint64_t *sparse = sparse_number(&in, i);
    if (sparse)
        buf_printf(out, " %llu", (unsigned long long)*sparse);
    else if (in.integral)
        buf_printf(out, " %lld", (long long)(i ? in.ib : in.ia));
    else {
        buf_puts(out, " ");
        double_text(i ? in.b : in.a, out);
    }
}

void launch_arg_text(const struct arg_spec *g, struct buf *out)
{
    const struct init_spec *in = &g->init;
    buf_puts(out, elem_name(g->elem));
    if (g->kind == ARG_SCALAR) {
        buf_puts(out, " ");
        scalar_text(g, out);
        return;
    }
    buf_printf(out, " %llu %s", (unsigned long long)g->count, inits[in->kind].name);
    for (unsigned i = 0; i < inits[in->kind].numbers; i++)
        number_text(*in, i, out);
    if (has_text(in->kind))
        buf_printf(out, " %s", in->text ? in->text : "");
    if (inits[in->kind].seed)
        buf_printf(out, " seed %llu", (unsigned long long)in->seed);
    if (in->offset)
        buf_printf(out, " offset %llu", (unsigned long long)in->offset);
    if (g->output)
        buf_puts(out, " output");
    if (g->output && g->tolerance > 0) {
        buf_puts(out, " tolerance ");
        double_text(g->tolerance, out);
    }
}

const char *launch_arg_help(const struct arg_spec *g)
{
    switch (g->kind) {
    case ARG_BUFFER:
        return "TYPE COUNT INIT [output]; INIT: fill V, iota START STEP, random LO HI, permutation, "
               "rows R NNZ, sorted LO HI, neighbours ROWS DEGREE SPAN, graph NODES DEGREE, file PATH, "
               "npy PATH, hex DIGITS; then seed N. output: compared after every run";
    case ARG_SCALAR: return "TYPE VALUE, as s32 4096 or f32 1.5";
    case ARG_BYTES: return "a structure passed by value: change it in the launch description's file";
    case ARG_SAME_AS:
        return "shares another argument's buffer: change it in the launch description's file";
    case ARG_TEXTURE: return "a texture or surface: change it in the launch description's file";
    case ARG_TENSOR_MAP: return "a tensor map: change it in the launch description's file";
    }
    return "";
}

/* ---- reading ---- */
struct words {
    const char *rest;
    struct arena *arena;
    const char *bad;
};

static const char *next(struct words *w)
{
    while (isspace((unsigned char)*w->rest))
        w->rest++;
    const char *s = w->rest;
    while (*w->rest && !isspace((unsigned char)*w->rest))
        w->rest++;
    return w->rest > s ? arena_dup(w->arena, (struct str){ s, (size_t)(w->rest - s) }) : NULL;
}

static bool fail(struct words *w, const char *what)
{
    w->bad = w->bad ? w->bad : what;
    return false;
}

static bool whole(struct words *w, const char *s, uint64_t *v)
{
    char *end;
    *v = s ? strtoull(s, &end, 0) : 0;
    return (s && isdigit((unsigned char)*s) && !*end) || fail(w, "a whole number is missing");
}

static bool pair_number(struct words *w, struct init_spec *in, unsigned second)
{
    const char *s = next(w);
    char *end, *iend;
    if (sparse_number(in, second))
        return whole(w, s, sparse_number(in, second));
    double v = s ? strtod(s, &end) : 0;
    if (!s || *end)
        return fail(w, "a number is missing after the init's name");
    int64_t i = strtoll(s, &iend, 0);
    in->integral = in->integral && !*iend;
    *(second ? &in->b : &in->a) = v;
    *(second ? &in->ib : &in->ia) = i;
    return true;
}

static bool read_init(struct words *w, const char *name, struct init_spec *in)
{
    size_t k = 0;
    while (k < ARRAY_LEN(inits) && strcmp(inits[k].name, name) != 0)
        k++;
    if (k == INIT_PARTS)
        return fail(w, "parts are changed in the launch description's file");
    if (k == ARRAY_LEN(inits))
        return fail(w, "no init of that name: fill, iota, random, permutation, rows, sorted, "
                       "neighbours, graph, file, npy or hex");
    *in =
        (struct init_spec){ .kind = (enum init_kind)k, .integral = true, .seed = inits[k].seed ? 1 : 0 };
    for (unsigned i = 0; i < inits[k].numbers; i++)
        if (!pair_number(w, in, i))
            return false;
    if (has_text(in->kind) && !(in->text = (char *)(uintptr_t)next(w)))
        return fail(w, "a path or digits are missing");
    return true;
}

static bool read_extras(struct words *w, struct arg_spec *g)
{
    for (const char *s; (s = next(w));) {
        if (!strcmp(s, "output"))
            g->output = true;
        else if (!strcmp(s, "seed")     ? !whole(w, next(w), &g->init.seed)
                 : !strcmp(s, "offset") ? !whole(w, next(w), &g->init.offset)
                                        : strcmp(s, "tolerance") != 0)
            return fail(w, "after the init come seed N, offset N, output, tolerance T");
        if (!strcmp(s, "tolerance")) {
            const char *t = next(w);
            char *end = NULL;
            g->tolerance = t ? strtod(t, &end) : -1;
            if (!t || *end || g->tolerance < 0)
                return fail(w, "the tolerance is missing");
        }
    }
    return true;
}

static bool read_scalar(struct words *w, struct arg_spec *g, const char *s)
{
    char *end;
    double f = s ? strtod(s, &end) : 0;
    if (!s || *end || next(w))
        return fail(w, "one number is expected");
    memset(g->scalar, 0, sizeof g->scalar);
    if (elem_is_float(g->elem)) {
        elem_store(g->elem, f, g->scalar);
    } else {
        int64_t v = *s == '-' ? strtoll(s, &end, 0) : (int64_t)strtoull(s, &end, 0);
        if (*end)
            return fail(w, "a whole number is expected");
        memcpy(g->scalar, &v, elem_size(g->elem));
    }
    return true;
}

bool launch_arg_parse(struct arg_spec *g, const char *text, struct arena *arena, const char **bad)
{
    struct words w = { text, arena, NULL };
    struct arg_spec now = *g;
    const char *s = next(&w);
    bool ok;
    if (s && elem_parse(str_of(s), &now.elem))
        s = next(&w); /* the type may be left out: it stays */
    if (g->kind == ARG_SCALAR) {
        ok = read_scalar(&w, &now, s);
    } else {
        ok = whole(&w, s, &now.count) && (now.count > 0 || fail(&w, "the count is zero"));
        s = ok ? next(&w) : NULL;
        if (ok && s) {
            now.output = false;
            now.tolerance = 0;
            ok = read_init(&w, s, &now.init) && read_extras(&w, &now);
        }
    }
    *bad = w.bad;
    if (ok)
        *g = now;
    return ok;
}

bool launch_dim_parse(const char *s, struct dim3u *d)
{
    unsigned x = 1, y = 1, z = 1;
    char rest;
    int n = sscanf(s, "%ux%ux%u%c", &x, &y, &z, &rest);
    *d = (struct dim3u){ x, y, z };
    return n >= 1 && n <= 3 && x && y && z;
}
