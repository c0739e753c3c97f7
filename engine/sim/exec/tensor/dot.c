/* One element of a product, exactly, whatever its values are; and the choice of the vector code. */
#include "engine/sim/exec/tensor/dot.h"

#include "engine/base/base.h"

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

float dot_block(const struct dot_model *m, unsigned n, const float *a, const int32_t *ea, const float *b,
                const int32_t *eb, unsigned step, float c)
{
    double x[DOT_K];
    int32_t e[DOT_K];
    for (unsigned k = 0; k < n; k++) {
        x[k] = (double)a[k] * b[k * step];
        e[k] = ea[k] + eb[k * step];
    }
    return dot_terms(m, n, x, e, c);
}

const struct dot_ops *dot_pick(void)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2"))
        return &dot_ops_avx2;
#endif
    return &dot_ops_base;
}
