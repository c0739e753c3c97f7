/* Correlations. Undefined is NaN, never 0. */
#include "engine/perfmodel/warp_sim.h"

#include <math.h>
#include <stdlib.h>

double model_correlation(const double *a, const double *b, size_t n)
{
    double ma = 0, mb = 0, sab = 0, saa = 0, sbb = 0;
    if (n < 2)
        return NAN;
    for (size_t i = 0; i < n; i++) {
        ma += a[i] / (double)n;
        mb += b[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++) {
        sab += (a[i] - ma) * (b[i] - mb);
        saa += (a[i] - ma) * (a[i] - ma);
        sbb += (b[i] - mb) * (b[i] - mb);
    }
    if (!(saa > 0) || !(sbb > 0))
        return NAN;
    return sab / sqrt(saa * sbb);
}

struct keyed {
    double value;
    size_t index;
};

static int by_value(const void *pa, const void *pb)
{
    const struct keyed *a = pa, *b = pb;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

/* Ranks from 1; values equal within the tolerance share the mean of the ranks they cover. */
static void rank(const double *v, size_t n, double tolerance, struct keyed *tmp, double *out)
{
    for (size_t i = 0; i < n; i++)
        tmp[i] = (struct keyed){ v[i], i };
    qsort(tmp, n, sizeof *tmp, by_value);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && (tmp[j].value == tmp[i].value ||
                                  tmp[j].value <= tmp[i].value + tolerance * fabs(tmp[i].value));
             j++)
            ;
        for (size_t k = i; k < j; k++)
            out[tmp[k].index] = (double)(i + 1 + j) / 2;
    }
}

double model_rank_correlation_within(const double *a, const double *b, size_t n, double tolerance)
{
    double r = NAN;
    for (size_t i = 0; i < n; i++)
        if (isnan(a[i]) || isnan(b[i]))
            return NAN;
    struct keyed *tmp = base_alloc(n * sizeof *tmp + 1);
    double *ra = base_alloc(n * sizeof *ra + 1), *rb = base_alloc(n * sizeof *rb + 1);
    if (tmp && ra && rb) {
        rank(a, n, tolerance, tmp, ra);
        rank(b, n, tolerance, tmp, rb);
        r = model_correlation(ra, rb, n);
    }
    BASE_FREE(tmp, ra, rb);
    return r;
}

double model_rank_correlation(const double *a, const double *b, size_t n)
{
    return model_rank_correlation_within(a, b, n, 0);
}
