/* traffic: see traffic.h. */
#include "tui/view/traffic.h"

#include "engine/rec/result_read.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/app.h"
#include "tui/view/view.h"

#include <math.h>
#include <stdlib.h>

static bool is_load(const struct ana_access *x)
{
    return x->space == PTX_SPACE_GLOBAL && !x->store && !x->atomic && !x->prefetch;
}

static double sectors_of(const struct traffic *t, const struct ana_access *x)
{
    const struct load_counts *c = t->counted ? result_load(t->counted, x->at.line) : NULL;
    if (t->counted)
        /* not counted: it did not run, or it is one of the loads with the least traffic */
        return c ? (double)(c->sectors - c->l1_hits) : 0;
    return x->exact.valid ? (double)x->exact.sectors : NAN;
}

struct traffic traffic_of(struct app *a)
{
    const struct ana_kernel *k = a->snap->facts;
    struct traffic t = { view_counters_result(a), 0 };
    if (t.counted && !result_nloads(t.counted))
        t.counted = NULL;
    for (uint32_t i = 0; k && i < k->naccess; i++)
        if (is_load(&k->access[i]))
            t.total += sectors_of(&t, &k->access[i]);
    return t;
}

struct load_traffic traffic_load(const struct traffic *t, const struct ana_access *x)
{
    const struct load_counts *c = t->counted && is_load(x) ? result_load(t->counted, x->at.line) : NULL;
    return (struct load_traffic){ is_load(x) && t->total > 0 ? sectors_of(t, x) / t->total : NAN,
                                  c ? 100 * (double)c->l1_hits / (double)c->sectors : NAN };
}

struct ranking {
    const struct traffic *t;
    const struct ana_kernel *k;
};

static int by_share(const void *x, const void *y, void *ctx)
{
    const struct ranking *r = ctx;
    uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
    double p = sectors_of(r->t, &r->k->access[i]), q = sectors_of(r->t, &r->k->access[j]);
    p = isnan(p) ? -1 : p;
    q = isnan(q) ? -1 : q;
    return p != q ? p < q ? 1 : -1 : (i > j) - (i < j);
}

const uint32_t *traffic_order(struct app *a, uint32_t *n)
{
    const struct ana_kernel *k = a->snap->facts;
    struct traffic t = traffic_of(a);
    struct ranking r = { &t, k };
    uint32_t *v = ARENA_ARRAY(a->frame, uint32_t, k ? k->naccess + 1 : 1);
    *n = 0;
    for (uint32_t i = 0; v && k && i < k->naccess; i++)
        if (is_load(&k->access[i]))
            v[(*n)++] = i;
    if (v)
        qsort_r(v, *n, sizeof *v, by_share, &r);
    return v;
}
