/* How many CTAs an SM holds, by what a device record tells. */
#include "engine/base/base.h"
#include "engine/rec/device.h"

static uint64_t at_most(uint64_t n, uint64_t room, uint64_t each)
{
    return room && each && n > room / each ? room / each : n;
}

uint32_t dev_resident_ctas(const struct dev_info *d, const struct dev_cta *cta)
{
    uint64_t warps = (cta->threads + 31) / 32, unit = d->sm.reg_unit >= 1 ? (uint64_t)d->sm.reg_unit : 1,
             per_warp = ((uint64_t)cta->regs * 32 + unit - 1) / unit * unit,
             shared = cta->shared + (uint64_t)d->sm.shared_reserved;
    if (!warps)
        return 0;
    uint64_t n = d->max_warps_per_sm / warps;
    n = d->max_ctas_per_sm && n > d->max_ctas_per_sm ? d->max_ctas_per_sm : n;
    if (per_warp && d->regs_per_sm && n > d->regs_per_sm / per_warp / warps)
        n = d->regs_per_sm / per_warp / warps;
    n = at_most(n, cta->shared_room ? cta->shared_room : d->shared_per_sm, shared);
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}
