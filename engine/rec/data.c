/* Initial data of a launch: every `init` form of the contract (docs/reference/launch.md), made
 * so that any program can make the same bytes. */
#include "engine/rec/data.h"

#include "engine/base/base.h"
#include "engine/rec/data_int.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* IEEE binary16 from a double, round to nearest even, in one rounding. */
static uint16_t half_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, 8);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    double a = fabs(v);
    if (a != a)
        return (uint16_t)(sign | 0x7E00);
    if (a >= 65520.0)
        return (uint16_t)(sign | 0x7C00);
    int e;
    (void)frexp(a, &e);
    if (e < -13)
        e = -13;                                /* subnormals share the exponent -14 */
    double steps = nearbyint(ldexp(a, 11 - e)); /* units in the last place: 2^(e-11) */
    uint32_t m = (uint32_t)steps;
    return (uint16_t)(sign | (m + (m ? (uint32_t)(e + 13) * 1024u : 0u)));
}

static void store_float(uint8_t *p, enum elem e, double v)
{
    float f = (float)v;
    uint16_t h = e == ELEM_F16 ? half_of(v) : 0; /* not cheap: only where it is wanted */
    if (e == ELEM_F64)
        memcpy(p, &v, 8);
    else if (e == ELEM_F32)
        memcpy(p, &f, 4);
    else
        memcpy(p, &h, 2);
}

bool elem_is_float(enum elem e)
{
    return e == ELEM_F16 || e == ELEM_F32 || e == ELEM_F64;
}

static void store_int(uint8_t *p, enum elem e, uint64_t v)
{
    memcpy(p, &v, elem_size(e)); /* little-endian host, as PTX is */
}

/* The 64-bit pattern of a number; what 64 bits do not hold becomes the nearest that they do. */
static uint64_t pattern(double d)
{
    if (d < 0)
        return (uint64_t)(d > -0x1p63 ? (int64_t)d : INT64_MIN);
    return d < 0x1p64 ? (uint64_t)d : UINT64_MAX;
}

void elem_store(enum elem e, double v, uint8_t *out)
{
    if (elem_is_float(e))
        store_float(out, e, v);
    else
        store_int(out, e, pattern(v));
}

/* A number of an init as the 64-bit pattern of an integer element. */
static uint64_t whole(const struct init_spec *in, bool second)
{
    return in->integral ? (uint64_t)(second ? in->ib : in->ia) : pattern(second ? in->b : in->a);
}

/* Elements first..end, at most PART of them a part: every one is made from its own number, so that parts
 * can be made side by side. */
#define PART (1u << 20)
struct part_job {
    const struct init_spec *in;
    enum elem e;
    uint8_t *p /* of the first */;
    uint64_t first, end;
};
static uint64_t part_end(const struct part_job *j, uint64_t first)
{
    return j->end - first < PART ? j->end : first + PART;
}

static void make_fill_part(void *ctx, size_t part)
{
    const struct part_job *j = ctx;
    const struct init_spec *in = j->in;
    size_t w = elem_size(j->e);
    bool iota = in->kind == INIT_IOTA;
    uint64_t start = whole(in, false), step = iota ? whole(in, true) : 0,
             first = j->first + (uint64_t)part * PART;
    for (uint64_t i = first, end = part_end(j, first); i < end; i++) {
        if (elem_is_float(j->e))
            store_float(j->p + (i - j->first) * w, j->e, iota ? in->a + (double)i * in->b : in->a);
        else
            store_int(j->p + (i - j->first) * w, j->e, start + i * step);
    }
}

/* Most buffers are of floats: without a call or a choice per element, so that the compiler makes vectors
 * of it. The same operations in the same order give the same floats on every host. */
static inline __attribute__((always_inline)) void random_floats(const struct init_spec *in, float *f,
                                                                uint64_t first, uint64_t n)
{
    const double a = in->a, by = in->b - in->a;
    const uint64_t seed = in->seed;
    for (uint64_t i = 0; i < n; i++)
        f[i] = (float)(a + by * ((double)(int32_t)(base_splitmix(seed, first + i) >> 40) / 16777216.0));
}

#if defined(__x86_64__)
#if defined(__clang__)
#define VECTORS /* makes them at -O2 */
#else
#define VECTORS __attribute__((optimize("O3")))
#endif
/* Products of 64 bits are one instruction there. */
VECTORS __attribute__((target("avx512f,avx512dq,avx512vl"))) static void random_floats_avx512(
    const struct init_spec *in, float *f, uint64_t first, uint64_t n)
{
    random_floats(in, f, first, n);
}
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#else
static void random_floats_avx512(const struct init_spec *in, float *f, uint64_t first, uint64_t n)
{
    random_floats(in, f, first, n);
}
static bool has_avx512(void)
{
    return false;
}
#endif

/* Whole numbers of w bytes, a constant where this is put in; a span of a power of two (0: of all) takes
 * no division. */
static inline __attribute__((always_inline)) void random_wholes(const struct init_spec *in, uint8_t *p,
                                                                size_t w, uint64_t lo, uint64_t span,
                                                                uint64_t first, uint64_t n)
{
    const uint64_t seed = in->seed, mask = span - 1;
    for (uint64_t i = 0; (span & mask) == 0 && i < n; i++) {
        uint64_t v = lo + (base_splitmix(seed, first + i) & mask);
        memcpy(p + i * w, &v, w); /* little-endian host, as PTX is */
    }
    for (uint64_t i = 0; (span & mask) != 0 && i < n; i++) {
        uint64_t v = lo + base_splitmix(seed, first + i) % span;
        memcpy(p + i * w, &v, w);
    }
}

static void make_wholes(const struct part_job *j, uint64_t first, uint64_t n)
{
    const struct init_spec *in = j->in;
    const uint64_t lo = whole(in, false), span = whole(in, true) - lo + 1;
    const size_t w = elem_size(j->e);
    uint8_t *p = j->p + (first - j->first) * w;
    switch (w) {
    case 1: random_wholes(in, p, 1, lo, span, first, n); return;
    case 2: random_wholes(in, p, 2, lo, span, first, n); return;
    case 4: random_wholes(in, p, 4, lo, span, first, n); return;
    default: random_wholes(in, p, 8, lo, span, first, n); return;
    }
}

static void make_random_part(void *ctx, size_t part)
{
    const struct part_job *j = ctx;
    const struct init_spec *in = j->in;
    enum elem e = j->e;
    uint8_t *p = j->p;
    size_t w = elem_size(e);
    uint64_t first = j->first + (uint64_t)part * PART, end = part_end(j, first);
    base_pages_ready(p + (first - j->first) * w, (end - first) * w);
    if (e == ELEM_F32) {
        float *f = (float *)(void *)p + (first - j->first);
        if (has_avx512())
            random_floats_avx512(in, f, first, end - first);
        else
            random_floats(in, f, first, end - first);
        return;
    }
    if (!elem_is_float(e)) {
        make_wholes(j, first, end - first);
        return;
    }
    for (uint64_t i = first; i < end; i++)
        store_float(p + (i - j->first) * w, e,
                    in->a + (in->b - in->a) * ((double)(base_splitmix(in->seed, i) >> 40) / 16777216.0));
}

static void make_parts(const struct init_spec *in, enum elem e, uint8_t *p, uint64_t first, uint64_t n,
                       unsigned threads)
{
    struct part_job j = { in, e, p, first, first + n };
    base_parallel(threads, (size_t)((n + PART - 1) / PART),
                  in->kind == INIT_RANDOM ? make_random_part : make_fill_part, &j);
}

static void store_count(uint8_t *p, enum elem e, uint64_t v)
{
    if (elem_is_float(e))
        store_float(p, e, (double)v);
    else
        store_int(p, e, v);
}

static void make_permutation(const struct init_spec *in, enum elem e, uint8_t *p, uint64_t n)
{
    size_t w = elem_size(e);
    for (uint64_t i = 0; i < n; i++)
        store_count(p + i * w, e, i);
    for (uint64_t i = n, k = 0; i-- > 1; k++) {
        uint64_t j = base_splitmix(in->seed, k) % (i + 1);
        uint8_t t[8];
        memcpy(t, p + i * w, w);
        memcpy(p + i * w, p + j * w, w);
        memcpy(p + j * w, t, w);
    }
}

/* CSR row offsets: rows+1 entries, nnz spread so that row lengths vary by the seed's random
 * numbers: offset[i] = floor(i*nnz/rows) moved by up to half a mean row, monotonic. */
static void make_rows(const struct init_spec *in, enum elem e, uint8_t *p, uint64_t n)
{
    size_t w = elem_size(e);
    uint64_t mean = in->rows ? in->nnz / in->rows : 0, last = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = i >= in->rows ? in->nnz : pattern((double)i * (double)in->nnz / (double)in->rows);
        if (i > 0 && i < in->rows && mean > 1)
            at += base_splitmix(in->seed, i) % (mean + 1) - mean / 2;
        if ((int64_t)at < (int64_t)last)
            at = last;
        if (at > in->nnz)
            at = in->nnz;
        last = at;
        store_count(p + i * w, e, at);
    }
}

static char *joined(const char *dir, const char *path)
{
    struct buf b = { 0 };
    if (path[0] != '/' && dir && *dir)
        buf_printf(&b, "%s/", dir);
    buf_puts(&b, path);
    return buf_take(&b);
}

static enum status bad(struct diags *ds, const char *name, const char *what)
{
    diag_error(ds, "launch-data", "buffer '%s': %s", name, what);
    return ST_INPUT;
}

/* Where the array data of a version 1.0 .npy file starts; 0: not such a file. */
static size_t npy_data(const char *s, size_t n)
{
    if (n < 10 || memcmp(s, "\x93NUMPY", 6) != 0)
        return 0;
    const unsigned char *u = (const unsigned char *)s;
    size_t head = u[6] == 1 ? 10 + (u[8] | (size_t)u[9] << 8)
                  : n < 12  ? n + 1
                            : 12 + (u[8] | (size_t)u[9] << 8 | (size_t)u[10] << 16);
    return head > n ? 0 : head;
}

static bool npy_type_fits(const char *s, size_t head, enum elem e)
{
    static const char *const codes[] = { "|u1", "|i1", "<u2", "<i2", "<f2", "<u4",
                                         "<i4", "<f4", "<u8", "<i8", "<f8" };
    for (size_t i = 10; i + 3 < head; i++)
        if (memcmp(s + i, codes[e], 3) == 0)
            return true;
    return false;
}

/* Where the data of a .npy file of such elements start. */
static enum status npy_start(const char *path, const char *name, enum elem e, uint64_t *at,
                             struct diags *ds)
{
    enum { HEAD_MOST = 1 << 17 };
    char *head = base_alloc(HEAD_MOST);
    uint64_t n = 0;
    enum status s = head ? file_read_part(path, 0, head, HEAD_MOST, &n, ds) : ST_NOMEM;
    *at = s == ST_OK ? npy_data(head, n) : 0;
    if (s == ST_OK && !*at)
        s = bad(ds, name, "not a .npy file");
    else if (s == ST_OK && !npy_type_fits(head, *at, e))
        s = bad(ds, name, "the .npy file holds another element type (or byte order)");
    else if (s == ST_OK && memmem(head, *at, "'fortran_order': True", 21))
        s = bad(ds, name, "the .npy file is in Fortran order");
    base_free(head);
    return s;
}

/* Large data stay known by their file, so that they need not be there as they were. */
static enum status make_file(const struct init_spec *in, const char *dir, const char *name, enum elem e,
                             struct launch_buffer *b, struct diags *ds)
{
    char *path = joined(dir, in->text);
    uint64_t at = in->offset, got = 0;
    enum status s = !path ? ST_NOMEM : in->kind == INIT_NPY ? npy_start(path, name, e, &at, ds) : ST_OK;
    if (s == ST_OK)
        s = file_read_part(path, at, b->bytes, b->n, &got, ds);
    if (s == ST_OK && got < b->n) {
        diag_error(ds, "launch-data",
                   "buffer '%s': '%s' holds %llu bytes from offset %llu on, %llu are needed", name,
                   in->text, (unsigned long long)got, (unsigned long long)at, (unsigned long long)b->n);
        s = ST_INPUT;
    }
    if (s == ST_OK && b->file > 0)
        s = data_know_file(b, path, at);
    base_free(path);
    return s;
}

static enum status make_hex(const char *text, const char *name, uint8_t *p, uint64_t bytes,
                            struct diags *ds)
{
    if (strlen(text) != bytes * 2)
        return bad(ds, name, "the number of hex digits does not fit its size");
    return str_unhex(str_of(text), p) ? ST_OK : bad(ds, name, "not a hex digit");
}

/* What cannot fail: the same bytes whenever they are made. */
static bool by_rule(enum init_kind k)
{
    return k <= INIT_ROWS;
}
bool data_in_parts(enum init_kind k)
{
    return k == INIT_FILL || k == INIT_IOTA || k == INIT_RANDOM;
}

void data_make_part(const struct init_spec *in, enum elem e, uint8_t *p, uint64_t first, uint64_t count,
                    unsigned threads)
{
    if (in->kind == INIT_PERMUTATION)
        make_permutation(in, e, p, count);
    else if (in->kind == INIT_ROWS)
        make_rows(in, e, p, count);
    else
        make_parts(in, e, p, first, count, threads);
}

static void make_by_rule(const struct init_spec *in, enum elem e, uint8_t *p, uint64_t count)
{
    data_make_part(in, e, p, 0, count, 0);
}

static enum status check_rows(const struct init_spec *in, const char *name, uint64_t count,
                              struct diags *ds)
{
    return in->kind == INIT_ROWS && count != in->rows + 1
               ? bad(ds, name, "`rows` needs rows + 1 elements")
               : ST_OK;
}

static enum status make_init(const struct init_spec *in, const char *dir, const char *name, enum elem e,
                             struct launch_buffer *b, struct diags *ds)
{
    uint64_t count = b->n / elem_size(e);
    if (in->kind == INIT_HEX)
        return make_hex(in->text, name, b->bytes, b->n, ds);
    if (!by_rule(in->kind))
        return make_file(in, dir, name, e, b, ds);
    enum status st = check_rows(in, name, count, ds);
    if (st == ST_OK)
        make_by_rule(in, e, b->bytes, count);
    return st;
}

/* Adds the bytes of every buffer argument to *total; refuses overflow before anything is allocated. */
static enum status count_bytes(const struct launch_spec *l, uint64_t max_bytes, uint64_t *total,
                               struct diags *ds)
{
    for (size_t i = 0; i < l->nargs; i++) {
        if (l->args[i].kind != ARG_BUFFER)
            continue;
        uint64_t w = elem_size(l->args[i].elem), n = l->args[i].count;
        if (n > max_bytes / w || n * w > max_bytes - *total) {
            diag_error(ds, "launch-size",
                       "buffer '%s': %llu elements of %llu bytes do not fit the device's %llu bytes",
                       l->args[i].name, (unsigned long long)n, (unsigned long long)w,
                       (unsigned long long)max_bytes);
            return ST_INPUT;
        }
        *total += n * w;
    }
    return ST_OK;
}

/* Large data lie where a device can map them rather than copy; zeros need no memory until someone writes
 * them. */
#define PAGES_FROM (1u << 20)
static enum status make_room(struct launch_buffer *b)
{
    b->bytes = b->n >= PAGES_FROM && !b->zero ? base_pages(b->n, &b->file) : NULL;
    if (!b->bytes) {
        b->file = 0;
        b->bytes = base_alloc(b->n);
    }
    return b->bytes ? ST_OK : ST_NOMEM;
}

static enum status make_arg(const struct launch_spec *l, const struct arg_spec *a,
                            struct launch_buffer *b, struct diags *ds)
{
    double none = 0;
    b->n = a->count * elem_size(a->elem);
    b->zero =
        b->n >= PAGES_FROM && a->init.kind == INIT_FILL && memcmp(&a->init.a, &none, sizeof none) == 0;
    enum status s = make_room(b);
    if (s == ST_OK && !b->zero)
        s = make_init(&a->init, l->dir, a->name, a->elem, b, ds);
    if (b->file > 0)
        base_pages_rest(b->bytes, b->n);
    b->rule = b->file > 0 && by_rule(a->init.kind) ? a : NULL;
    return s;
}

bool launch_buffer_make(struct launch_buffer *b, uint64_t n, enum launch_source source,
                        const struct arg_spec *a)
{
    *b = (struct launch_buffer){ .n = n, .zero = source == LAUNCH_ZERO && n >= PAGES_FROM };
    bool rule = source == LAUNCH_RULE;
    if (rule && (a->kind != ARG_BUFFER || !by_rule(a->init.kind) || a->count != n / elem_size(a->elem) ||
                 n % elem_size(a->elem) || check_rows(&a->init, "", a->count, NULL) != ST_OK))
        return false;
    if (make_room(b) != ST_OK)
        return false;
    if (rule)
        make_by_rule(&a->init, a->elem, b->bytes, a->count);
    b->rule = rule && b->file > 0 ? a : NULL;
    return true;
}

static enum status make_args(const struct launch_spec *l, struct launch_buffer *out, struct diags *ds)
{
    enum status s = ST_OK;
    for (size_t i = 0; s == ST_OK && i < l->nargs; i++)
        if (l->args[i].kind == ARG_BUFFER)
            s = make_arg(l, &l->args[i], &out[i], ds);
    return s;
}

#define SYMBOL_FILE_MOST ((uint64_t)1 << 30)
/* How many bytes a symbol's data have, before they are made. */
static enum status symbol_bytes(const struct launch_spec *l, const struct symbol_spec *y, size_t *bytes,
                                struct diags *ds)
{
    if (y->count) {
        *bytes = y->count * elem_size(y->elem);
        return ST_OK;
    }
    if (y->init.kind == INIT_HEX) {
        *bytes = strlen(y->init.text) / 2;
        return ST_OK;
    }
    if (y->init.kind != INIT_FILE) {
        struct diag *d = diag_add(ds, DIAG_ERROR, "launch-symbol", l->file, NO_SPAN,
                                  "symbol '%s': its data need \"buffer\" and \"count\"", y->name);
        diag_hint(d, "as for an argument: \"buffer\": \"f32\", \"count\": 256; only `file` and `hex` "
                     "say by themselves how many bytes there are");
        return ST_INPUT;
    }
    char *path = joined(l->dir, y->init.text); /* the whole file from its offset on */
    uint64_t n = 0;
    enum status s =
        path ? file_read_part(path, y->init.offset, NULL, SYMBOL_FILE_MOST, &n, ds) : ST_NOMEM;
    base_free(path);
    *bytes = n;
    return s;
}

static enum status make_symbols(const struct launch_spec *l, struct launch_data *d, struct diags *ds)
{
    for (size_t i = 0; i < l->nsymbols; i++) {
        const struct symbol_spec *y = &l->symbols[i];
        struct launch_buffer *b = &d->symbols[i];
        enum status s = symbol_bytes(l, y, &b->n, ds);
        if (s != ST_OK)
            return s;
        b->bytes = base_alloc(b->n);
        s = b->bytes ? make_init(&y->init, l->dir, y->name, y->count ? y->elem : ELEM_U8, b, ds)
                     : ST_NOMEM;
        if (s != ST_OK)
            return s;
    }
    return ST_OK;
}

static enum status make_all(const struct launch_spec *l, struct launch_data *d, struct diags *ds)
{
    d->buffers = base_alloc((l->nargs + 1) * sizeof *d->buffers);
    d->symbols = base_alloc((l->nsymbols + 1) * sizeof *d->symbols);
    d->before = base_alloc((l->nbefore + 1) * sizeof *d->before);
    if (!d->buffers || !d->symbols || !d->before)
        return ST_NOMEM;
    enum status s = make_args(l, d->buffers, ds);
    if (s == ST_OK)
        s = make_symbols(l, d, ds);
    for (size_t i = 0; s == ST_OK && i < l->nbefore; i++) {
        d->before[i] = base_alloc((l->before[i].nargs + 1) * sizeof **d->before);
        s = d->before[i] ? make_args(&l->before[i], d->before[i], ds) : ST_NOMEM;
    }
    return s;
}

enum status launch_data_make(const struct launch_spec *l, uint64_t max_bytes, struct launch_data *out,
                             struct diags *ds)
{
    *out = (struct launch_data){ .spec = l };
    enum status s = count_bytes(l, max_bytes, &out->total_bytes, ds);
    for (size_t i = 0; s == ST_OK && i < l->nbefore; i++)
        s = count_bytes(&l->before[i], max_bytes, &out->total_bytes, ds);
    if (s == ST_OK)
        s = make_all(l, out, ds);
    if (s == ST_NOMEM)
        diag_error(ds, "memory", "not enough memory for the launch's buffers (%llu bytes)",
                   (unsigned long long)out->total_bytes);
    if (s != ST_OK)
        launch_data_free(out);
    return s;
}

static void buffers_free(struct launch_buffer *b, size_t n)
{
    for (size_t i = 0; b && i < n; i++) {
        if (b[i].file > 0)
            base_pages_free(b[i].bytes, b[i].n, b[i].file);
        else
            base_free(b[i].bytes);
        data_forget(&b[i]);
    }
    base_free(b);
}

void launch_data_free(struct launch_data *d)
{
    if (!d->spec)
        return;
    buffers_free(d->buffers, d->spec->nargs);
    buffers_free(d->symbols, d->spec->nsymbols);
    for (size_t i = 0; d->before && i < d->spec->nbefore; i++)
        buffers_free(d->before[i], d->spec->before[i].nargs);
    base_free(d->before);
    *d = (struct launch_data){ 0 };
}
