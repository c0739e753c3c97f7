/* Sums of float atomics: a table by address of how many terms there were and what their magnitudes come
 * to. */
#include "engine/sim/sums.h"

#include "engine/sim/exec/lanes/soft.h"

#include <math.h>
#include <string.h>

struct sum {
    const void *at; /* NULL: free */
    double magnitude, value, eps, tiny;
    uint64_t n;
};
struct table {
    struct sum *v;
    size_t n, cap; /* a power of two, or 0 */
};
struct sim_sums {
    struct table global, shared;
    double of_shared, relative; /* of the CTAs before this one */
    bool began, lost;
};

struct sim_sums *sim_sums_new(void)
{
    return base_alloc(sizeof(struct sim_sums));
}

void sim_sums_free(struct sim_sums *s)
{
    if (!s)
        return;
    BASE_FREE(s->global.v, s->shared.v, s);
}

static void clear(struct table *t)
{
    if (t->n)
        memset(t->v, 0, t->cap * sizeof *t->v);
    t->n = 0;
}

void sim_sums_begin(struct sim_sums *s)
{
    if (!s)
        return;
    clear(&s->global);
    clear(&s->shared);
    s->of_shared = s->relative = 0;
    s->began = true;
    s->lost = false;
}

bool sim_sums_known(const struct sim_sums *s)
{
    return s && s->began && !s->lost;
}

static struct sum *place(const struct table *t, const void *at)
{
    size_t i = (size_t)(((uint64_t)(uintptr_t)at >> 1) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
    while (t->v[i & (t->cap - 1)].at && t->v[i & (t->cap - 1)].at != at)
        i++;
    return &t->v[i & (t->cap - 1)];
}

static bool grow(struct table *t)
{
    struct table more = { base_alloc((t->cap ? 2 * t->cap : 256) * sizeof(struct sum)), t->n,
                          t->cap ? 2 * t->cap : 256 };
    if (!more.v)
        return false;
    for (size_t i = 0; i < t->cap; i++)
        if (t->v[i].at)
            *place(&more, t->v[i].at) = t->v[i];
    base_free(t->v);
    *t = more;
    return true;
}

static void add(struct sim_sums *s, struct table *t, const void *at, double old, double v, double eps,
                double tiny)
{
    if (2 * (t->n + 1) > t->cap && !grow(t)) {
        s->lost = true;
        return;
    }
    struct sum *x = place(t, at);
    if (!x->at) {
        *x = (struct sum){ .at = at, .magnitude = fabs(old), .eps = eps, .tiny = tiny };
        t->n++;
    }
    x->n++;
    x->magnitude += fabs(v);
    x->value = old + v;
}

static double number(enum ptx_type t, uint64_t bits)
{
    float f;
    double d;
    uint32_t low = (uint32_t)bits;
    if (t == PTX_T_F32) {
        memcpy(&f, &low, sizeof f);
        return f;
    }
    if (t == PTX_T_F64) {
        memcpy(&d, &bits, sizeof d);
        return d;
    }
    return soft_to_double(bits & 0xffff, soft_format_of(t));
}

void sim_sums_add(struct sim_sums *s, const void *at, enum ptx_type type, uint64_t old, uint64_t v,
                  bool global)
{
    bool two = type == PTX_T_F16X2 || type == PTX_T_BF16X2;
    enum ptx_type t = type == PTX_T_F16X2 ? PTX_T_F16 : type == PTX_T_BF16X2 ? PTX_T_BF16 : type;
    /* eps: spacing of 1; tiny: the least normal number, below which a term may be flushed */
    double eps = t == PTX_T_F64    ? 0x1p-52
                 : t == PTX_T_F32  ? 0x1p-23
                 : t == PTX_T_BF16 ? 0x1p-7
                                   : 0x1p-10;
    double tiny = t == PTX_T_F32 || t == PTX_T_BF16 ? 0x1p-126 : t == PTX_T_F16 ? 0x1p-24 : 0;
    for (unsigned k = 0; k < (two ? 2 : 1); k++)
        add(s, global ? &s->global : &s->shared, (const uint8_t *)at + 2 * k, number(t, old >> 16 * k),
            number(t, v >> 16 * k), eps, tiny);
}

/* The first term rounds nothing; what was there at first is one more. */
static double bound(const struct sum *x)
{
    return (double)x->n * (x->eps * x->magnitude + x->tiny);
}

static void look(struct sim_sums *s)
{
    for (size_t i = 0; i < s->shared.cap && s->shared.n; i++) {
        const struct sum *x = &s->shared.v[i];
        if (!x->at)
            continue;
        double b = bound(x);
        s->of_shared = fmax(s->of_shared, b);
        if (x->value != 0 && isfinite(x->value))
            s->relative = fmax(s->relative, b / fabs(x->value));
    }
}

void sim_sums_cta(struct sim_sums *s)
{
    look(s);
    clear(&s->shared);
}

double sim_sums_bound(const struct sim_sums *s, const void *at, double *terms)
{
    const struct sum *x = s->global.cap ? place(&s->global, at) : NULL;
    *terms = x && x->at ? (double)x->n : 0;
    return x && x->at ? bound(x) : -1;
}

double sim_sums_shared(const struct sim_sums *s)
{
    struct sim_sums now = *s;
    look(&now);
    return now.of_shared;
}

double sim_sums_relative(const struct sim_sums *s)
{
    struct sim_sums now = *s;
    look(&now);
    for (size_t i = 0; i < s->global.cap && s->global.n; i++) {
        const struct sum *x = &s->global.v[i];
        if (x->at && x->value != 0 && isfinite(x->value))
            now.relative = fmax(now.relative, bound(x) / fabs(x->value));
    }
    return fmin(1, now.relative);
}
