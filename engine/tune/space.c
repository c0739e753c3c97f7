/* The option space: one row per dimension. A dimension offers alternatives to a base
 * configuration; whether one is legal is the pass room's word (pass_legal). */
#include "engine/tune/space.h"

#include <string.h>

static size_t add(struct options *out, size_t n, size_t most, struct options o)
{
    if (n < most)
        out[n++] = o;
    return n;
}

/* ---- bypass: both ends and thresholds, each operator. `fine`: every threshold ---- */
static size_t bypass(const struct space *s, const struct options *base, struct options *out, size_t most)
{
    static const int ops[] = { BYPASS_OP_CG, BYPASS_OP_NO_ALLOCATE };
    uint32_t w = s->warps, step = s->fine || w < 8 ? 1 : w / 8;
    size_t n = 0;
    for (size_t k = 0; k < ARRAY_LEN(ops); k++) {
        struct options o = *base;
        o.bypass = BYPASS_L1;
        o.bypass_op = ops[k];
        o.bypass_form = BYPASS_FORM_CLONE;
        o.pi.mode = PI_BPA;
        o.pi.value = 0;
        n = add(out, n, most, o);
        o.pi.mode = PI_VALUE;
        for (uint32_t pi = step; pi < w; pi += step) {
            o.pi.value = (int)pi;
            n = add(out, n, most, o);
        }
        if (s->pi_predicted > 0 && s->pi_predicted < (int)w && (uint32_t)s->pi_predicted % step) {
            o.pi.value = s->pi_predicted;
            n = add(out, n, most, o);
        }
    }
    struct options v = *base;                /* per load: what the analysis says is not used again */
    v.bypass = BYPASS_L1;
    v.bypass_op = BYPASS_OP_NO_ALLOCATE;
    v.bypass_form = BYPASS_FORM_VERTICAL;
    return add(out, n, most, v);
}

/* ---- schedule ---- */
static size_t schedule(const struct space *s, const struct options *base, struct options *out, size_t most)
{
    size_t n = 0;
    for (uint32_t x = 1; x <= s->threads; x *= 2) {
        struct options o = *base;
        if (s->threads % x)
            continue;
        o.block = (struct dim3u){ x, s->threads / x, 1 };
        if (o.block.x == s->block.x && o.block.y == s->block.y && s->block.z == 1)
            continue;
        n = add(out, n, most, o);
    }
    struct options swap = *base;
    swap.swap_xy = true;
    return add(out, n, most, swap);
}

static size_t coarsen(const struct space *s, const struct options *base, struct options *out, size_t most)
{
    size_t n = 0;
    (void)s;
    for (int f = 2; f <= 8; f *= 2) {
        struct options o = *base;
        o.coarsen = f;
        n = add(out, n, most, o);
    }
    return n;
}

/* ---- cluster ---- */
static size_t cluster(const struct space *s, const struct options *base, struct options *out, size_t most)
{
    static const int kinds[] = { CLUSTER_AGENT, CLUSTER_REDIRECT };
    static const int index[] = { INDEX_COLUMN, INDEX_ROW, INDEX_TILE };
    size_t n = 0;
    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (size_t i = 0; i < ARRAY_LEN(index); i++) {
            struct options o = *base;
            if (index[i] != INDEX_ROW && s->grid.y * s->grid.z == 1)
                continue;                    /* a 1-D grid has one order */
            o.cluster = kinds[k];
            memset(&o.index, 0, sizeof o.index);
            o.index.kind = index[i];
            if (index[i] == INDEX_TILE)
                o.index.tx = o.index.ty = 8;
            n = add(out, n, most, o);
        }
    return n;
}

static size_t agents(const struct space *s, const struct options *base, struct options *out, size_t most)
{
    size_t n = 0;
    uint32_t top = s->resident;
    if (base->cluster != CLUSTER_AGENT)
        return 0;
    for (uint32_t a = top / 2; a >= 1; a = s->fine ? a - 1 : a / 2) {
        struct options o = *base;
        o.agents = (int)a;
        n = add(out, n, most, o);
    }
    return n;
}

/* ---- what the launch and the loads allow besides ---- */
static size_t carveout(const struct space *s, const struct options *base, struct options *out, size_t most)
{
    static const int percent[] = { 0, 50, 100 };
    size_t n = 0;
    (void)s;
    for (size_t i = 0; i < ARRAY_LEN(percent); i++) {
        struct options o = *base;
        o.carveout = percent[i];
        n = add(out, n, most, o);
    }
    return n;
}

static size_t throttle(const struct space *s, const struct options *base, struct options *out, size_t most)
{
    size_t n = 0;
    for (uint32_t ctas = s->resident / 2; ctas >= 1 && s->shared_per_sm; ctas /= 2) {
        struct options o = *base;
        o.throttle_shared = (int)(s->shared_per_sm / (ctas + 1) + 1024);   /* ctas + 1 no longer fit */
        if ((uint32_t)o.throttle_shared <= s->shared_per_block)
            n = add(out, n, most, o);
    }
    return n;
}

static size_t prefetch(const struct space *s, const struct options *base, struct options *out, size_t most)
{
    static const int levels[] = { PREFETCH_L1, PREFETCH_L2 };
    size_t n = 0;
    (void)s;
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        struct options o = *base;
        o.prefetch = levels[i];
        n = add(out, n, most, o);
    }
    return n;
}

static size_t softcache(const struct space *s, const struct options *base, struct options *out, size_t most)
{
    struct options o = *base;
    (void)s;
    o.softcache = OPT_SOFTCACHE_AUTO;
    return add(out, 0, most, o);
}

static size_t readonly(const struct space *s, const struct options *base, struct options *out, size_t most)
{
    struct options o = *base;
    (void)s;
    o.readonly = READONLY_PROMOTE;
    return add(out, 0, most, o);
}

/* In the order in which they usually matter: what moves most comes first. */
static const struct dimension dimensions[] = {
    { "block shape", schedule }, { "clustering", cluster }, { "active agents", agents }, { "cache bypassing", bypass },
    { "L1 size", carveout }, { "coarsening", coarsen }, { "prefetching", prefetch }, { "throttling", throttle },
    { "software cache", softcache }, { "read-only path", readonly },
};

size_t space_dimensions(void) { return ARRAY_LEN(dimensions); }
const struct dimension *space_dimension(size_t i) { return &dimensions[i]; }

struct space space_of(const struct tune_bench *b)
{
    const struct dev_info *d = dev_describe(b->subject.dev);
    const struct launch_spec *l = b->subject.launch;
    const struct ana_kernel *k = b->subject.facts;
    struct space s = { .warps = tune_warps(&b->subject), .threads = (uint32_t)dim3u_count(l->block), .block = l->block, .grid = l->grid,
                       .shared_per_sm = d->shared_per_sm, .shared_per_block = d->shared_per_block_optin };
    s.resident = s.warps ? d->max_warps_per_sm / s.warps : 1;
    if (b->original.ctas_per_sm)
        s.resident = b->original.ctas_per_sm;
    if (s.resident > d->max_ctas_per_sm)
        s.resident = d->max_ctas_per_sm;
    if (!s.resident)
        s.resident = 1;
    if (k && k->footprint.valid)
        s.pi_predicted = k->footprint.pi_fit;
    return s;
}
