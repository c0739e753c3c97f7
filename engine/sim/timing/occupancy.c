/* How many CTAs an SM holds, and what is left of its memory for L1. */
#include "engine/base/base.h"
#include "engine/rec/elem.h"
#include "engine/sim/decoded.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"
#include "engine/sim/sim_int.h"
#include "engine/sim/timing/group.h"

static uint64_t round_up(uint64_t n, int64_t unit)
{
    return (n + (uint64_t)unit - 1) / (uint64_t)unit * (uint64_t)unit;
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* CTAs by slots, warps and registers. */
static uint32_t limit_by_core(const struct sim_resources *r, const struct sim_preset *g, uint32_t warps)
{
    uint32_t n = min_u32((uint32_t)g->max_ctas, (uint32_t)g->max_warps / warps);
    uint64_t per_warp = round_up((uint64_t)(r->regs ? r->regs : 1) * WARP_LANES, g->reg_unit);
    uint64_t fit = (uint64_t)g->regs_per_sm / per_warp;
    if (fit > (uint64_t)g->warp_unit)
        fit -= fit % (uint64_t)g->warp_unit;
    return min_u32(n, (uint32_t)(fit / warps));
}

/* Smallest offered carve-out of at least `bytes`; the largest when none is. KB. */
static int64_t carve_of(const struct sim_preset *g, uint64_t bytes)
{
    const int64_t *c = &g->carve_0;
    int64_t best = c[0];
    for (int i = 0; i < 10 && c[i] >= 0; i++) {
        best = c[i];
        if ((uint64_t)c[i] * 1024 >= bytes)
            break;
    }
    return best;
}

/* What the system takes, whatever carve-out is preferred: shared_system_ctas times shared_reserved for
 * each CTA, up to max_ctas times. */
static uint64_t system_part(const struct sim_preset *g, uint32_t ctas)
{
    uint32_t n = min_u32((uint32_t)g->shared_system_ctas * ctas, (uint32_t)g->max_ctas);
    return (uint64_t)g->shared_reserved * n;
}

static int64_t choose_carve(const struct sim_preset *g, uint64_t per_cta, uint32_t want, int carveout)
{
    uint64_t least = system_part(g, want);
    if (carveout >= 0) {
        uint64_t part = (uint64_t)((double)g->shared_max * carveout / 100);
        int64_t asked = carve_of(g, part > least ? part : least);
        return (uint64_t)asked * 1024 >= per_cta ? asked : carve_of(g, per_cta);
    }
    if (g->carve_default >= 0)
        return (uint64_t)g->carve_default * 1024 >= per_cta ? g->carve_default : carve_of(g, per_cta);
    return carve_of(g, per_cta * want > least ? per_cta * want : least);
}

struct timing_occupancy timing_occupancy(const struct sim_resources *r, const struct sim_preset *g,
                                         uint32_t threads, uint32_t shared_dyn, int carveout)
{
    uint32_t warps = (threads + WARP_LANES - 1) / WARP_LANES;
    struct timing_occupancy o = { 0 };
    if (!warps)
        return o;
    uint64_t per_cta =
        round_up((uint64_t)r->shared_static + shared_dyn + (uint64_t)g->shared_reserved, g->shared_unit);
    uint32_t core = limit_by_core(r, g, warps);
    uint64_t shared = (uint64_t)g->shared_max;
    o.l1_bytes = (uint32_t)g->l1_bytes;
    if (g->unified_bytes) {
        o.carve_kb = (uint32_t)choose_carve(g, per_cta, core, carveout);
        shared = (uint64_t)o.carve_kb * 1024;
        o.l1_bytes = (uint32_t)(g->unified_bytes - (int64_t)shared);
    }
    o.ctas_per_sm = per_cta ? min_u32(core, (uint32_t)(shared / per_cta)) : core;
    if ((uint64_t)r->shared_static + shared_dyn > (uint64_t)g->shared_block_max)
        o.ctas_per_sm = 0;
    return o;
}

uint32_t sim_occupancy(const struct sim_program *p, const struct sim_preset *preset, struct dim3u block,
                       uint32_t shared_dyn, int carveout)
{
    struct sim_resources r = sim_program_resources(p);
    return timing_occupancy(&r, preset, (uint32_t)dim3u_count(block), shared_dyn, carveout).ctas_per_sm;
}
