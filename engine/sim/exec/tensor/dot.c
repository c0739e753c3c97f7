/* One element of a product, exactly, whatever its values are; and the choice of the vector code. */
#include "engine/sim/exec/tensor/dot.h"

#include "engine/sim/exec/lanes/soft.h"

#include <math.h>
#include <string.h>

static int32_t exponent_of(float c)
{
    uint32_t u;
    memcpy(&u, &c, 4);
    uint32_t e = u >> 23 & 255;
    return !(u << 1) ? DOT_NONE : e ? (int32_t)e - 127 : -126;
}

static float from_bits(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}

/* s * 2^e, cut to `keep` bits below its leading one and to what a float holds. */
static float cut(int64_t s, int32_t e, unsigned keep, bool odd)
{
    uint64_t size = s < 0 ? -(uint64_t)s : (uint64_t)s;
    int drop = size ? 63 - __builtin_clzll(size) - (int)keep : 0;
    if (drop > 0) {
        uint64_t rest = size & ((1ull << drop) - 1);
        size = (size >> drop | (odd && rest)) << drop;
    }
    double x = ldexp(s < 0 ? -(double)size : (double)size, e);
    float f = (float)x;
    if (isinf(f))
        return f;
    return fabs((double)f) > fabs(x) ? nextafterf(f, 0) : f;
}

float dot_terms(const struct dot_model *m, unsigned n, const double *x, const int32_t *e, float c)
{
    int32_t most = exponent_of(c);
    double sum = c;
    for (unsigned k = 0; k < n; k++) {
        most = e[k] > most ? e[k] : most;
        sum += x[k];
    }
    if (!isfinite(sum)) /* terms are below 2^1000: some value is infinite or no number */
        return isnan(sum) ? from_bits(0x7fffffff) : (float)sum;
    if (most <= DOT_NONE / 2)
        return 0;
    int64_t all = (int64_t)ldexp(c, m->frac - most);
    for (unsigned k = 0; k < n; k++)
        all += (int64_t)ldexp(x[k], m->frac - most);
    return cut(all, most - m->frac, m->keep, m->odd);
}

float dot_exact(const struct dot_model *m, unsigned n, struct dot_factors a, struct dot_factors b,
                float c)
{
    double x[DOT_K];
    int32_t e[DOT_K];
    for (unsigned k = 0; k < n; k++) {
        x[k] = (double)a.v[k * a.pitch] * b.v[k * b.pitch];
        e[k] = a.e[k * a.pitch] + b.e[k * b.pitch];
    }
    return dot_terms(m, n, x, e, c);
}

float dot_value(const struct dot_format *f, uint32_t bits, int16_t *e)
{
    uint32_t sign = bits >> (f->bits - 1) << 31, field;
    int32_t size = (int32_t)(bits & f->used & ((1u << (f->bits - 1)) - 1));
    float v = from_bits((uint32_t)size << (23 - f->frac)) * f->scale;
    field = (uint32_t)size >> f->frac;
    *e = (int16_t)(!size ? DOT_NONE : (int)(field ? field : 1) - f->bias);
    if (size >= f->special) {
        *e = DOT_SPECIAL;
        memcpy(&field, &v, 4);
        v = from_bits(field | (uint32_t)f->ones);
    }
    return sign ? -v : v;
}

void dot_narrow_each(const float *low, const float *high, bool finite, uint32_t *to)
{
    const struct soft_format *f = soft_format_of(PTX_T_F16);
    for (unsigned lane = 0; lane < 32; lane++)
        to[lane] = (uint32_t)soft_round(low[lane], f, SOFT_RN, finite) |
                   (uint32_t)soft_round(high[lane], f, SOFT_RN, finite) << 16;
}

const struct dot_ops *dot_pick(unsigned limit)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c"),
         avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                  __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    if (avx512 && (limit == 0 || limit == 3))
        return &dot_ops_avx512;
    if (avx2 && limit != 1)
        return &dot_ops_avx2;
#else
    (void)limit;
#endif
    return &dot_ops_base;
}
