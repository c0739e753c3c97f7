/* Elements by a rule of an `init` (docs/reference/launch.md): the same bytes whenever and wherever they
 * are made. */
#include "engine/rec/data_int.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch_arg.h"

#include <stdio.h>
#include <string.h>

static void store_int(uint8_t *p, enum elem e, uint64_t v)
{
    memcpy(p, &v, elem_size(e)); /* little-endian host, as PTX is */
}

/* A number of an init as the 64-bit pattern of an integer element. */
static uint64_t whole(const struct init_spec *in, bool second)
{
    return in->integral ? (uint64_t)(second ? in->ib : in->ia) : elem_whole(second ? in->b : in->a);
}

/* Elements first..end, at most PART of them a part: every one is made from its own number, so that parts
 * can be made side by side. */
#define PART (1u << 20)
struct part_job {
    const struct init_spec *in;
    enum elem e;
    uint8_t *p; /* of the first */
    uint64_t first;
    uint64_t end;
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
            elem_store(j->e, iota ? in->a + (double)i * in->b : in->a, j->p + (i - j->first) * w);
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
        elem_store(e,
                   in->a + (in->b - in->a) * ((double)(base_splitmix(in->seed, i) >> 40) / 16777216.0),
                   p + (i - j->first) * w);
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
        elem_store(e, (double)v, p);
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
        uint64_t at =
            i >= in->rows ? in->nnz : elem_whole((double)i * (double)in->nnz / (double)in->rows);
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

/* ---- elements that ascend ---- */
__extension__ typedef unsigned __int128 u128;
struct ordered_job {
    const struct init_spec *in;
    enum elem e;
    uint8_t *p;
    uint64_t count;
};

/* Element i of n lies in the i-th of n equal parts of [lo, hi], so that they ascend. */
static void store_sorted(const struct ordered_job *j, uint64_t i, uint8_t *to)
{
    const struct init_spec *in = j->in;
    uint64_t u = base_splitmix(in->seed, i) >> 40;
    if (elem_is_float(j->e)) {
        elem_store(j->e,
                   in->a + (in->b - in->a) * (((double)i + (double)u / 16777216.0) / (double)j->count),
                   to);
        return;
    }
    uint64_t lo = whole(in, false), last = whole(in, true) - lo;
    u128 places = (u128)last + 1, at = ((u128)i << 24 | u) * places / ((u128)j->count << 24),
         v = lo + at;
    memcpy(to, &v, elem_size(j->e));
}

/* Columns that entries of a row may have. */
static uint64_t window(const struct init_spec *in)
{
    return !in->span || in->span > (in->rows - 1) / 2 ? in->rows : 2 * in->span + 1;
}

/* Entry k of a row lies in the k-th of `degree` parts of the row's window of columns. */
static void store_neighbour(const struct ordered_job *j, uint64_t i, uint8_t *to)
{
    const struct init_spec *in = j->in;
    const uint64_t row = i / in->degree, k = i % in->degree, wide = window(in);
    uint64_t from = wide == in->rows || row < in->span ? 0
                    : row - in->span > in->rows - wide ? in->rows - wide
                                                       : row - in->span;
    uint64_t low = (uint64_t)((u128)wide * k / in->degree),
             high = (uint64_t)((u128)wide * (k + 1) / in->degree);
    store_count(to, j->e, from + low + base_splitmix(in->seed, i) % (high - low));
}

static void make_ordered_part(void *ctx, size_t part)
{
    const struct ordered_job *j = ctx;
    const size_t w = elem_size(j->e);
    uint64_t from = (uint64_t)part * PART, to = j->count - from < PART ? j->count : from + PART;
    for (uint64_t i = from; i < to; i++)
        (j->in->kind == INIT_SORTED ? store_sorted : store_neighbour)(j, i, j->p + i * w);
}

static void make_ordered(const struct init_spec *in, enum elem e, uint8_t *p, uint64_t count)
{
    struct ordered_job j = { in, e, p, count };
    base_parallel(0, (size_t)((count + PART - 1) / PART), make_ordered_part, &j);
}

/* Row offsets, targets, or first these and then those, as the number of elements says. */
static void make_graph(const struct init_spec *in, enum elem e, uint8_t *p, uint64_t n)
{
    const uint64_t nodes = in->rows, edges = nodes * in->degree;
    const struct init_spec rows = { .kind = INIT_ROWS, .rows = nodes, .nnz = edges, .seed = in->seed };
    const size_t w = elem_size(e);
    uint64_t offsets = n == edges && n != nodes + 1 ? 0 : nodes + 1;
    if (offsets)
        make_rows(&rows, e, p, offsets);
    for (uint64_t i = 0; i < n - offsets; i++)
        store_count(p + (offsets + i) * w, e, base_splitmix(in->seed, nodes + 1 + i) % nodes);
}

bool data_in_parts(enum init_kind k)
{
    return k == INIT_FILL || k == INIT_IOTA || k == INIT_RANDOM;
}

void data_make_part(const struct init_spec *in, enum elem e, uint8_t *p, uint64_t first, uint64_t count,
                    unsigned threads)
{
    if (in->kind == INIT_SORTED || in->kind == INIT_NEIGHBOURS)
        make_ordered(in, e, p, count);
    else if (in->kind == INIT_GRAPH)
        make_graph(in, e, p, count);
    else if (in->kind == INIT_PERMUTATION)
        make_permutation(in, e, p, count);
    else if (in->kind == INIT_ROWS)
        make_rows(in, e, p, count);
    else
        make_parts(in, e, p, first, count, threads);
}

/* ---- what a rule asks of the number of elements ---- */
bool init_by_rule(const struct init_spec *in, enum elem e)
{
    return in->kind <= INIT_ROWS && e <= ELEM_F64;
}

bool init_draws(const struct init_spec *in)
{
    bool any = (in->kind >= INIT_RANDOM && in->kind <= INIT_ROWS) ||
               (in->kind >= INIT_SORTED && in->kind <= INIT_GRAPH);
    for (size_t k = 0; k < in->nparts; k++)
        any = any || init_draws(&in->part[k]);
    return any;
}

static const char *sparse_misfit(const struct init_spec *in, uint64_t count, char *why, size_t n)
{
    uint64_t rows = in->rows, entries = rows * in->degree;
    bool graph = in->kind == INIT_GRAPH;
    if (!rows || !in->degree || rows > (UINT64_MAX >> 3) / in->degree)
        snprintf(why, n, "\"%s\" and \"degree\" must be above 0, and their product below 2^61",
                 graph ? "nodes" : "rows");
    else if (!graph && in->degree > window(in))
        snprintf(why, n, "\"degree\" is more than the %llu columns that \"span\" reaches",
                 (unsigned long long)window(in));
    else if (!graph && count != entries)
        snprintf(why, n, "`neighbours` needs rows * degree = %llu elements, not %llu",
                 (unsigned long long)entries, (unsigned long long)count);
    else if (graph && count != entries && count != rows + 1 && count != rows + 1 + entries)
        snprintf(why, n,
                 "`graph` needs %llu elements (row offsets), %llu (targets), or %llu (both), not %llu",
                 (unsigned long long)rows + 1, (unsigned long long)entries,
                 (unsigned long long)(rows + 1 + entries), (unsigned long long)count);
    else
        return NULL;
    return why;
}

static const char *parts_misfit(const struct init_spec *in, uint64_t count, char *why, size_t n)
{
    uint64_t sum = 0;
    for (size_t k = 0; k < in->nparts; k++) {
        const struct init_spec *part = &in->part[k];
        const char *fault = init_misfit(part, part->count, why, n);
        if (fault)
            return fault;
        sum = part->count > count - sum ? UINT64_MAX : sum + part->count;
        if (sum == UINT64_MAX)
            break;
    }
    if (sum == count)
        return NULL;
    if (sum == UINT64_MAX)
        snprintf(why, n, "the parts of its init are longer than its %llu elements",
                 (unsigned long long)count);
    else
        snprintf(why, n, "the parts of its init have %llu elements, it has %llu",
                 (unsigned long long)sum, (unsigned long long)count);
    return why;
}

const char *init_misfit(const struct init_spec *in, uint64_t count, char *why, size_t n)
{
    if (in->kind == INIT_PARTS)
        return parts_misfit(in, count, why, n);
    if (in->kind == INIT_NEIGHBOURS || in->kind == INIT_GRAPH)
        return sparse_misfit(in, count, why, n);
    if (in->kind == INIT_SORTED && in->a > in->b)
        snprintf(why, n, "the first number of `sorted` must not be above the second");
    else if (in->kind == INIT_ROWS && (!count || count - 1 != in->rows))
        snprintf(why, n, "`rows` needs rows + 1 elements, not %llu", (unsigned long long)count);
    else
        return NULL;
    return why;
}
