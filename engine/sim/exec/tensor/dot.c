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

/* Some value is infinite or no number. */
static float not_finite(unsigned n, const float *a, const float *b, unsigned step, float c)
{
    double sum = c;
    for (unsigned k = 0; k < n; k++)
        sum += (double)a[k] * b[k * step];
    return isnan(sum) ? from_bits(0x7fffffff) : (float)sum;
}

float dot_block(const struct dot_model *m, unsigned n, const float *a, const int32_t *ea, const float *b,
                const int32_t *eb, unsigned step, float c)
{
    int32_t most = exponent_of(c);
    bool finite = isfinite(c);
    for (unsigned k = 0; k < n; k++) {
        int32_t e = ea[k] + eb[k * step];
        most = e > most ? e : most;
        finite = finite && isfinite(a[k]) && isfinite(b[k * step]);
    }
    if (!finite)
        return not_finite(n, a, b, step, c);
    if (most <= DOT_NONE / 2)
        return 0;
    int64_t sum = (int64_t)ldexp(c, m->frac - most);
    for (unsigned k = 0; k < n; k++)
        sum += (int64_t)ldexp((double)a[k] * b[k * step], m->frac - most);
    return cut(sum, most - m->frac, m->keep, m->odd);
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
