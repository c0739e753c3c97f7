/* Names, sizes and small arithmetic of the shared records. */
#include "engine/rec/counter_ids.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"

#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* ---- elements ---- */
static const struct {
    const char *name;
    size_t size;
} elems[] = {
#define X(n, text, size) [ELEM_##n] = { text, size },
    ELEM_LIST(X)
#undef X
};

size_t elem_size(enum elem e)
{
    return elems[e].size;
}
const char *elem_name(enum elem e)
{
    return elems[e].name;
}

bool elem_parse(struct str s, enum elem *e)
{
    for (size_t i = 0; i < ARRAY_LEN(elems); i++)
        if (str_is(s, elems[i].name)) {
            *e = (enum elem)i;
            return true;
        }
    return false;
}

/* Floats of fewer bits than f32: bits of fraction, the exponent of 1, the largest pattern that is a
 * number, and that of infinity (0: there is none); what too large a number becomes; the sign's bit.
 * PTX ISA 5.2.3. */
struct small_float {
    unsigned fraction;
    int bias;
    uint32_t most;
    uint32_t infinity;
    uint32_t beyond;
    uint32_t nan;
    unsigned sign;
};
static const struct small_float *small_float(enum elem e)
{
    static const struct small_float f16 = { 10, 15, 0x7BFF, 0x7C00, 0x7C00, 0x7E00, 15 },
                                    bf16 = { 7, 127, 0x7F7F, 0x7F80, 0x7F80, 0x7FC0, 15 },
                                    e4m3 = { 3, 7, 0x7E, 0, 0x7E, 0x7F, 7 },
                                    e5m2 = { 2, 15, 0x7B, 0x7C, 0x7B, 0x7F, 7 },
                                    tf32 = { 10, 127, 0x3FBFF, 0x3FC00, 0x3FC00, 0x3FE00, 18 };
    switch (e) {
    case ELEM_F16: return &f16;
    case ELEM_BF16: return &bf16;
    case ELEM_E4M3: return &e4m3;
    case ELEM_E5M2: return &e5m2;
    case ELEM_TF32: return &tf32;
    default: return NULL;
    }
}

/* Rounded once, to the nearest, ties to even. */
static uint32_t small_of(const struct small_float *f, double v)
{
    double a = fabs(v);
    uint32_t sign = signbit(v) ? 1u << f->sign : 0;
    if (a != a)
        return sign | f->nan;
    if (isinf(a) || a == 0)
        return sign | (a > 0 ? f->beyond : 0);
    int e;
    (void)frexp(a, &e); /* a = m * 2^e, m from 0.5 to 1; subnormals share the exponent 1 - bias */
    int exponent = e - 1 < 1 - f->bias ? 1 - f->bias : e - 1;
    if (exponent > f->bias + 1)
        return sign | f->beyond;
    double steps = nearbyint(ldexp(a, (int)f->fraction - exponent));
    uint32_t m = (uint32_t)steps +
                 (uint32_t)(exponent + f->bias - 1) * (1u << f->fraction); /* the hidden bit adds one */
    return sign | (m > f->most ? f->beyond : m);
}

static double small_value(const struct small_float *f, uint32_t bits)
{
    uint32_t m = bits & ((1u << f->sign) - 1), fraction = m & ((1u << f->fraction) - 1);
    int e = (int)(m >> f->fraction);
    double v = f->infinity && m == f->infinity ? INFINITY
               : m > f->most                   ? NAN
                                               : ldexp(e ? (1u << f->fraction) + fraction : fraction,
                                     (e ? e : 1) - f->bias - (int)f->fraction);
    return bits >> f->sign & 1 ? -v : v;
}

bool elem_is_float(enum elem e)
{
    return e == ELEM_F32 || e == ELEM_F64 || small_float(e);
}

uint64_t elem_whole(double d)
{
    if (d < 0)
        return (uint64_t)(d > -0x1p63 ? (int64_t)d : INT64_MIN);
    return d < 0x1p64 ? (uint64_t)d : UINT64_MAX;
}

void elem_store(enum elem e, double v, uint8_t *out)
{
    const struct small_float *small = small_float(e);
    float f = (float)v;
    uint64_t bits = 0;
    if (small)
        bits = (uint64_t)small_of(small, v) << (e == ELEM_TF32 ? 13 : 0);
    else if (e == ELEM_F32)
        memcpy(&bits, &f, sizeof f);
    else if (e == ELEM_F64)
        memcpy(&bits, &v, sizeof v);
    else
        bits = elem_whole(v);
    memcpy(out, &bits, elem_size(e)); /* little-endian host, as PTX is */
}

double elem_load(const uint8_t *p, enum elem e)
{
    const struct small_float *small = small_float(e);
    float f;
    double d;
    uint64_t bits = 0;
    memcpy(&bits, p, elem_size(e));
    if (e == ELEM_F32 || e == ELEM_TF32) { /* an f32 may stand where a tf32 is meant */
        memcpy(&f, p, sizeof f);
        return f;
    }
    if (e == ELEM_F64) {
        memcpy(&d, p, sizeof d);
        return d;
    }
    if (small)
        return small_value(small, (uint32_t)bits);
    if (e == ELEM_U64)
        return (double)bits;
    if (e == ELEM_U8 || e == ELEM_U16 || e == ELEM_U32)
        return (double)bits;
    return (double)((int64_t)(bits << (64 - 8 * elem_size(e))) >> (64 - 8 * elem_size(e)));
}

/* ---- times, counters ---- */
struct time_scale time_scale_for(double longest_ns)
{
    return longest_ns < 1e6 ? (struct time_scale){ "µs", 1e3, 2 } : (struct time_scale){ "ms", 1e6, 4 };
}

struct time_words time_words(double ns)
{
    struct time_scale u = time_scale_for(ns);
    struct time_words w;
    snprintf(w.s, sizeof w.s, "%.*f %s", u.decimals, ns / u.ns, u.name);
    return w;
}

const char *origin_name(enum origin o)
{
    static const char *const names[] = { "modelled", "simulated", "measured", "derived", "compiled" };
    return names[o];
}

enum { COUNTED_OWN, COUNTED_SUM };
static const struct {
    const char *name, *unit, *help;
    int better, counted;
} counter_table[] = {
#define X(id, name, unit, help, better, counted) \
    [COUNTER_##id] = { name, unit, help, COUNTER_##better, COUNTED_##counted },
#include "engine/rec/counters.def"
#undef X
};
_Static_assert(COUNTER_COUNT <= COUNTERS_MOST, "COUNTERS_MOST of counters.h");

enum counter_better counter_better(unsigned c)
{
    return (enum counter_better)counter_table[c].better;
}
bool counter_sums(unsigned c)
{
    return counter_table[c].counted == COUNTED_SUM;
}
const char *counter_name(unsigned c)
{
    return counter_table[c].name;
}
const char *counter_unit(unsigned c)
{
    return counter_table[c].unit;
}
const char *counter_help(unsigned c)
{
    return counter_table[c].help;
}

bool counter_left_out(unsigned id, const struct counter all[COUNTERS_MOST])
{
    if (!all[COUNTER_L2_WRITE_SECTORS].valid)
        return id >= COUNTER_L2_WRITE_SECTORS && !all[id].valid;
    return id >= COUNTER_COPY_REQUESTS && id != COUNTER_COPY_L2_HIT_RATE
               ? all[id].valid && all[id].value == 0
               : id == COUNTER_COPY_L2_HIT_RATE && all[COUNTER_COPY_REQUESTS].value == 0;
}

static const struct {
    const char *name;
    enum counter_id counter;
} pipe_table[] = {
#define X(id, name, counter) [PIPE_##id] = { name, COUNTER_##counter },
    PIPE_LIST(X)
#undef X
};
const char *pipe_name(enum pipe p)
{
    return pipe_table[p].name;
}
unsigned pipe_counter(enum pipe p)
{
    return pipe_table[p].counter;
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

struct interval timing_likely(const struct timing *t)
{
    return (struct interval){ round((double)t->likely_low), round((double)t->likely_high) };
}

void timing_finish(struct timing *t)
{
    int64_t sorted[TIMING_MAX_SAMPLES];
    t->valid = t->n > 0;
    if (!t->n)
        return;
    memcpy(sorted, t->sample, t->n * sizeof *sorted);
    qsort(sorted, t->n, sizeof *sorted, by_value);
    t->min = sorted[0];
    t->max = sorted[t->n - 1];
    t->median = t->n % 2 ? sorted[t->n / 2] : (sorted[t->n / 2 - 1] + sorted[t->n / 2]) / 2;
}

/* The median lies between the samples of ranks n/2 -+ z/2 sqrt(n): how many lie below it is binomial. */
void timing_band(const struct timing *t, int64_t *low, int64_t *high)
{
    int64_t sorted[TIMING_MAX_SAMPLES];
    double reach = 2.576 / 2 * sqrt(t->n);
    *low = t->min;
    *high = t->max;
    if (t->n / 2.0 - reach < 1)
        return;
    memcpy(sorted, t->sample, t->n * sizeof *sorted);
    qsort(sorted, t->n, sizeof *sorted, by_value);
    *low = sorted[(uint32_t)(t->n / 2.0 - reach) - 1];
    *high = sorted[t->n - (uint32_t)(t->n / 2.0 - reach)];
}

struct result result_empty(void)
{
    struct result r;
    memset(&r, 0, sizeof r);
    r.options = options_default();
    r.voted = r.sample_voted = -1;
    r.energy.nj = r.energy.step = NAN;
    return r;
}

#define RESULT_GET(type, field, value)          \
    type result_##field(const struct result *r) \
    {                                           \
        return value;                           \
    }
RESULT_GET(const struct options *, options, &r->options)
RESULT_GET(enum status, status, r->status)
RESULT_GET(const char *, message, r->message)
RESULT_GET(const struct timing *, time, &r->time)
RESULT_GET(const struct counter *, counters, r->counters)
RESULT_GET(const struct output_hash *, outputs, r->outputs)
RESULT_GET(const struct outputs_part *, part, &r->part)
RESULT_GET(uint32_t, noutputs, r->noutputs)
RESULT_GET(const struct load_counts *, loads, r->loads)
RESULT_GET(uint32_t, nloads, r->nloads)
RESULT_GET(const struct limits *, limits, &r->limits)
RESULT_GET(const struct energy *, energy, &r->energy)
RESULT_GET(enum equality, equal, r->equal)
RESULT_GET(enum equality, captured, r->captured)
RESULT_GET(uint64_t, captured_differ, r->captured_differ)
RESULT_GET(uint32_t, regs, r->regs)
RESULT_GET(const char *, regs_from, r->regs_from)
RESULT_GET(uint32_t, shared_static, r->shared_static)
RESULT_GET(uint32_t, local_bytes, r->local_bytes)
RESULT_GET(uint32_t, ctas_per_sm, r->ctas_per_sm)
RESULT_GET(bool, sampled, r->sampled)
RESULT_GET(uint32_t, timed_turns, r->timed_turns)
RESULT_GET(uint32_t, loop_turns, r->loop_turns)
RESULT_GET(bool, cold, r->cold)
RESULT_GET(unsigned, guessed, r->guessed)
RESULT_GET(int, voted, r->voted)
RESULT_GET(int, sample_voted, r->sample_voted)
RESULT_GET(uint32_t, probe_ctas, r->probe_ctas)
#undef RESULT_GET

void result_captured_set(struct result *r, enum equality captured, uint64_t differ)
{
    r->captured = captured;
    r->captured_differ = differ;
}

struct outputs_part *result_part_set(struct result *r)
{
    return &r->part;
}

struct limits *result_limits_set(struct result *r)
{
    return &r->limits;
}

struct result *result_list(size_t n)
{
    struct result *list = base_alloc(n * sizeof *list);
    for (size_t i = 0; list && i < n; i++)
        list[i] = result_empty();
    return list;
}

struct result *result_new(void)
{
    return result_list(1);
}

void result_copy(struct result *to, const struct result *from)
{
    *to = *from;
}

void result_clear(struct result *r)
{
    *r = result_empty();
}

size_t result_bytes(void)
{
    return sizeof(struct result);
}

struct result *result_slot(struct result *list, size_t i)
{
    return &list[i];
}

const struct result *result_at(const struct result *list, size_t i)
{
    return &list[i];
}

static uint32_t load_at(const struct result *r, uint32_t line)
{
    uint32_t i = 0;
    while (i < r->nloads && r->loads[i].line != line)
        i++;
    return i;
}

const struct load_counts *result_load(const struct result *r, uint32_t line)
{
    uint32_t i = load_at(r, line);
    return i < r->nloads ? &r->loads[i] : NULL;
}

double result_counter(const struct result *r, size_t c)
{
    return r && r->counters[c].valid ? r->counters[c].value : (double)NAN;
}

void result_add_load(struct result *r, struct load_counts c)
{
    uint32_t at = load_at(r, c.line);
    struct load_counts *to = &r->loads[at], *least = r->loads;
    if (at < r->nloads) {
        to->requests += c.requests;
        to->sectors += c.sectors;
        to->l1_hits += c.l1_hits;
        return;
    }
    if (r->nloads < RESULT_MAX_LOADS) {
        r->loads[r->nloads++] = c;
        return;
    }
    for (uint32_t i = 1; i < r->nloads; i++)
        if (r->loads[i].sectors < least->sectors)
            least = &r->loads[i];
    if (least->sectors < c.sectors)
        *least = c;
}

struct arg_spec arg_buffer(const char *name, enum elem e, uint64_t count, double start, double step,
                           bool output)
{
    struct arg_spec a = {
        .kind = ARG_BUFFER, .name = (char *)(uintptr_t)name, .elem = e, .count = count, .output = output
    };
    a.init = (struct init_spec){ .kind = step != 0 ? INIT_IOTA : INIT_FILL,
                                 .a = start,
                                 .b = step,
                                 .ia = (int64_t)start,
                                 .ib = (int64_t)step,
                                 .integral = true };
    return a;
}

struct arg_spec arg_u32(const char *name, uint32_t v)
{
    struct arg_spec a = { .kind = ARG_SCALAR, .name = (char *)(uintptr_t)name, .elem = ELEM_U32 };
    memcpy(a.scalar, &v, sizeof v);
    return a;
}

/* ---- launch descriptions ---- */
static void init_free(struct init_spec *in)
{
    for (size_t i = 0; i < in->nparts; i++)
        init_free(&in->part[i]);
    BASE_FREE(in->part, in->text);
}

static void args_free(struct arg_spec *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        base_free(a[i].name);
        init_free(&a[i].init);
        BASE_FREE(a[i].bytes, a[i].same_as, a[i].inside, a[i].expect);
    }
    base_free(a);
}

const char *launch_guess_word(unsigned i)
{
    static const char *const word[] = { "grid", "block", "sizes", "shared", "data" };
    return i < ARRAY_LEN(word) ? word[i] : NULL;
}

void launch_guess_words(unsigned guessed, struct buf *out)
{
    const char *w;
    for (unsigned i = 0; (w = launch_guess_word(i)); i++) {
        unsigned more = guessed >> i >> 1;
        if (guessed >> i & 1)
            buf_printf(out, "%s%s", w, !more ? "" : more & (more - 1) ? ", " : " and ");
    }
}

void launch_guess_line(const char *head, unsigned guessed, struct buf *out)
{
    if (!guessed)
        return;
    buf_puts(out, head);
    launch_guess_words(guessed, out);
    buf_printf(out, " of this launch %s: the figures are of %s\n",
               guessed & (guessed - 1) ? "are guesses" : "is a guess",
               guessed & (guessed - 1) ? "them" : "it");
}

void launch_spec_free(struct launch_spec *l)
{
    for (size_t i = 0; i < l->nbefore; i++) /* depth 1: a `before` launch has no `before` of its own */
        launch_spec_free(&l->before[i]);
    for (size_t i = 0; i < l->nsymbols; i++) {
        base_free(l->symbols[i].name);
        init_free(&l->symbols[i].init);
    }
    args_free(l->args, l->nargs);
    BASE_FREE(l->before, l->symbols, l->name, l->file, l->dir, l->ptx, l->kernel);
    memset(l, 0, sizeof *l);
}

void launch_spec_drop(struct launch_spec *l)
{
    if (l)
        launch_spec_free(l);
    base_free(l);
}

#define LAUNCH_GET(type, field)                      \
    type launch_##field(const struct launch_spec *l) \
    {                                                \
        return l->field;                             \
    }
LAUNCH_GET(const char *, kernel)
LAUNCH_GET(const char *, name)
LAUNCH_GET(struct dim3u, grid)
LAUNCH_GET(struct dim3u, block)
LAUNCH_GET(struct dim3u, cluster)
LAUNCH_GET(uint32_t, shared)
LAUNCH_GET(unsigned, guessed)
LAUNCH_GET(size_t, nargs)
#undef LAUNCH_GET

const struct arg_spec *launch_arg(const struct launch_spec *l, size_t i)
{
    return &l->args[i];
}

bool launch_has_sums(const struct launch_spec *l)
{
    bool any = false;
    for (size_t i = 0; i < l->nargs; i++)
        any |= l->args[i].atomic;
    return any;
}

size_t launch_params(const struct launch_spec *l)
{
    size_t n = 0;
    while (n < l->nargs && !l->args[n].inside)
        n++;
    return n;
}

size_t launch_arg_named(const struct launch_spec *l, const char *name)
{
    for (size_t i = 0; name && i < l->nargs; i++)
        if (l->args[i].name && strcmp(l->args[i].name, name) == 0)
            return i;
    return SIZE_MAX;
}

bool launch_runs_before(const struct launch_spec *l, struct str kernel)
{
    for (size_t k = 0; k < l->nbefore; k++)
        if (str_eq(str_of(l->before[k].kernel), kernel))
            return true;
    return false;
}

size_t launch_outer_of(const struct launch_spec *l, size_t i)
{
    for (size_t k = 0; l->args[i].inside && k < l->nargs && !l->args[k].inside; k++)
        if (l->args[k].kind == ARG_BYTES && l->args[k].name &&
            strcmp(l->args[k].name, l->args[i].inside) == 0)
            return k;
    return SIZE_MAX;
}

size_t launch_buffer_of(const struct launch_spec *l, size_t i)
{
    for (size_t hops = 0; i < l->nargs && hops <= l->nargs; hops++) {
        if (l->args[i].kind == ARG_BUFFER)
            return i;
        if (!arg_shares(&l->args[i]))
            return SIZE_MAX;
        i = launch_arg_named(l, l->args[i].same_as);
    }
    return SIZE_MAX;
}
