/* How many CTAs a device holds at once: the one place that says so, for proofs, notes, refusals, the
 * simulator, predictions and advice. The rules are those of NVIDIA's cuda_occupancy.h (CUDA 13.0); what
 * the system keeps of shared memory for itself is measured (preset field shared_system_ctas).
 *
 *   registers      a warp's, rounded up to reg_unit; each of the SM's warp_unit parts has its own
 *   shared memory  a CTA's and shared_reserved, rounded up to shared_unit, from the carve-out
 *   carve-out      asked for: the next that the device has, a CTA's at least; else the device's fixed
 *                  one, or the smallest that does not limit the CTAs
 *   clusters       a CTA on each SM of a group; SMs that are in no group hold none */
#include "engine/rec/device.h"

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t at_least(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t unit_of(double field)
{
    return field >= 1 ? (uint64_t)field : 1;
}

static uint64_t round_up(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static uint32_t fit_u32(uint64_t n)
{
    return (uint32_t)at_most(n, UINT32_MAX);
}

uint32_t dev_warps_of_regs(const struct dev_info *d, uint32_t regs)
{
    uint64_t parts = unit_of(d->sm.warp_unit);
    if (!regs || !d->regs_per_sm)
        return UINT32_MAX;
    uint64_t per_warp = round_up((uint64_t)regs * 32, unit_of(d->sm.reg_unit));
    return fit_u32(d->regs_per_sm / per_warp / parts * parts);
}

static uint32_t regs_most(const struct dev_info *d)
{
    return d->sm.regs_per_thread >= 1 ? (uint32_t)d->sm.regs_per_thread : 255;
}

uint32_t dev_regs_of_warps(const struct dev_info *d, uint64_t warps)
{
    uint64_t parts = unit_of(d->sm.warp_unit), unit = unit_of(d->sm.reg_unit);
    if (!warps || !d->regs_per_sm)
        return 0;
    uint64_t regs = d->regs_per_sm / round_up(warps, parts) / unit * unit / 32;
    return (uint32_t)at_most(regs, regs_most(d));
}

uint32_t dev_regs_allowed(const struct dev_info *d, const struct dev_bounds *b)
{
    uint64_t warps = (b->threads + 31) / 32, most = regs_most(d);
    bool kept = b->ctas <= d->max_ctas_per_sm && warps * b->ctas <= d->max_warps_per_sm;
    if (warps && d->regs_per_sm)
        most = at_most(most, dev_regs_of_warps(d, warps * (kept ? at_least(b->ctas, 1) : 1)));
    return (uint32_t)(b->maxnreg ? at_most(most, b->maxnreg) : most);
}

/* CTAs by slots, warps and registers. */
static uint64_t by_core(const struct dev_info *d, const struct dev_cta *cta, enum dev_limit *limit)
{
    uint64_t warps = (cta->threads + 31) / 32, n = d->max_warps_per_sm / warps,
             regs = dev_warps_of_regs(d, cta->regs) / warps;
    *limit = DEV_LIMIT_WARPS;
    if (d->max_ctas_per_sm && d->max_ctas_per_sm <= n) {
        n = d->max_ctas_per_sm;
        *limit = DEV_LIMIT_SLOTS;
    }
    if (regs < n)
        *limit = DEV_LIMIT_REGS;
    return at_most(n, regs);
}

/* The smallest carve-out on offer of at least so many bytes; the largest when none is. A device whose
 * carve-outs are not known has any. */
static uint64_t offered(const struct dev_info *d, uint64_t bytes)
{
    const struct dev_sm *s = &d->sm;
    const double kb[] = { s->carve_0, s->carve_1, s->carve_2, s->carve_3, s->carve_4,
                          s->carve_5, s->carve_6, s->carve_7, s->carve_8, s->carve_9 };
    uint64_t best = 0;
    for (size_t i = 0; i < ARRAY_LEN(kb) && kb[i] >= 0 && (!i || best < bytes); i++)
        best = (uint64_t)(kb[i] * 1024);
    return at_most(best ? best : bytes, d->shared_per_sm);
}

/* What the system takes with so many CTAs, whatever is preferred. */
static uint64_t system_part(const struct dev_info *d, uint64_t ctas)
{
    return (uint64_t)d->sm.shared_reserved *
           at_most((uint64_t)d->sm.shared_system_ctas * ctas, d->max_ctas_per_sm);
}

/* Of a memory that L1 and shared memory have together: what CTAs of so many bytes get, n of them wanted.
 */
static void choose_carveout(const struct dev_info *d, uint64_t n, int percent, struct dev_resident *r)
{
    uint64_t fixed = d->sm.carve_default >= 0 ? (uint64_t)(d->sm.carve_default * 1024) : 0;
    r->shared_most = offered(d, UINT64_MAX);
    if (percent >= 0)
        r->carveout = at_least((uint64_t)d->shared_per_sm * (unsigned)percent / 100, system_part(d, n));
    else if (d->sm.carve_default >= 0)
        r->carveout = fixed;
    else
        r->carveout = at_least(n * r->shared_cta, system_part(d, n));
    if (percent >= 0 || d->sm.carve_default < 0 || fixed < r->shared_cta)
        r->carveout = offered(d, at_least(r->carveout, r->shared_cta));
    if (percent >= 0 || d->sm.carve_default >= 0)
        r->shared_most = r->carveout;
    r->l1_bytes =
        d->sm.unified_bytes > (double)r->carveout ? (uint64_t)d->sm.unified_bytes - r->carveout : 0;
}

static void place_clusters(const struct dev_info *d, uint64_t n, struct dev_resident *r)
{
    double sms = n > 8   ? d->sm.cluster_sms_16
                 : n > 4 ? d->sm.cluster_sms_8
                 : n > 2 ? d->sm.cluster_sms_4
                         : d->sms;
    r->places = (uint32_t)(at_most((uint64_t)sms, d->sms) / n);
    r->span = r->places ? (uint32_t)n : 1;
    r->places = r->places ? r->places : d->sms;
    if (r->ctas_per_sm) /* one that an SM does not hold is made to fit where there are no groups */
        r->clusters = (uint32_t)at_least(r->ctas_per_sm / (n / r->span), 1);
    r->ctas = (uint64_t)r->places * r->clusters * n;
    if (n > 1 && r->ctas < (uint64_t)r->ctas_per_sm * d->sms)
        r->limit = DEV_LIMIT_CLUSTER;
}

bool dev_fits(const struct dev_info *d, const struct dev_cta *cta)
{
    return !d->shared_per_block_optin || cta->shared <= d->shared_per_block_optin;
}

struct dev_resident dev_resident(const struct dev_info *d, const struct dev_cta *cta)
{
    struct dev_resident r = { .carveout = d->shared_per_sm,
                              .shared_most = d->shared_per_sm,
                              .l1_bytes = d->l1_bytes };
    if (!cta->threads)
        return r;
    uint64_t n = by_core(d, cta, &r.limit);
    r.shared_cta = round_up(cta->shared + (uint64_t)d->sm.shared_reserved, unit_of(d->sm.shared_unit));
    if (d->sm.unified_bytes > 0)
        choose_carveout(d, n, cta->carveout, &r);
    if (r.shared_cta && r.carveout && n > r.carveout / r.shared_cta) {
        n = r.carveout / r.shared_cta;
        r.limit = DEV_LIMIT_SHARED;
    }
    if (!dev_fits(d, cta)) {
        n = 0;
        r.limit = DEV_LIMIT_SHARED;
    }
    r.ctas_per_sm = fit_u32(n);
    place_clusters(d, at_least(cta->cluster, 1), &r);
    return r;
}

bool dev_resident_known(const struct dev_info *d)
{
    return d->sms && d->max_warps_per_sm && d->max_ctas_per_sm && d->regs_per_sm && d->shared_per_sm &&
           d->sm.reg_unit > 0 && d->sm.warp_unit > 0 && d->sm.shared_unit > 0;
}

const char *dev_limit_name(enum dev_limit limit)
{
    static const char *const names[] = { "CTA slots", "warps", "registers", "shared memory",
                                         "the SMs that clusters can use" };
    return names[limit];
}
