/* Special registers (section 10): those that are the same in every CTA are filled in once for a launch,
 * for each warp of a CTA; what a CTA has of its own when it starts, for all its warps; clocks are read
 * when asked. */
#include "engine/sim/exec/sreg.h"

#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/hostile.h"
#include "engine/sim/exec/slots.h"

#include <string.h>

static uint32_t component(struct dim3u d, int comp)
{
    return comp <= 0 ? d.x : comp == 1 ? d.y : comp == 2 ? d.z : 0;
}

static uint32_t thread_component(struct dim3u b, uint32_t i, int comp)
{
    return comp <= 0 ? i % b.x : comp == 1 ? i / b.x % b.y : comp == 2 ? i / b.x / b.y : 0;
}

static uint64_t lanemask(uint16_t sreg, uint32_t lane)
{
    uint32_t eq = 1u << lane, lt = eq - 1;
    switch (sreg) {
    case PTX_SREG_LANEMASK_EQ: return eq;
    case PTX_SREG_LANEMASK_LT: return lt;
    case PTX_SREG_LANEMASK_LE: return lt | eq;
    case PTX_SREG_LANEMASK_GT: return ~(lt | eq);
    default: return ~lt;
    }
}

/* Clusters of a launch without them are its CTAs. */
static uint32_t cluster_component(const struct exec_cta *c, uint16_t sreg, int comp)
{
    uint32_t k = comp < 0 ? 0 : (uint32_t)comp;
    if (k > 2)
        return 0;
    uint32_t size = component(c->x->cluster, comp);
    return sreg == PTX_SREG_CLUSTERID ? c->id[k] / size : c->id[k] % size;
}

/* c: the CTA, of what differs from CTA to CTA; NULL for the rest. */
static uint64_t sreg_value(const struct exec_launch *x, const struct exec_cta *c, uint32_t warp,
                           const struct exec_sreg *s, uint32_t lane)
{
    const struct sim_launch *l = x->l;
    const int comp = s->comp;
    uint64_t v = 0;
    switch (s->sreg) {
    case PTX_SREG_NONE: memcpy(&v, x->params + s->param, s->bytes); return v;
    case PTX_SREG_TID: return thread_component(l->block, warp * WARP_LANES + lane, comp);
    case PTX_SREG_NTID: return component(l->block, comp);
    case PTX_SREG_LANEID: return lane;
    case PTX_SREG_WARPID: return c->first_warpid + warp;
    case PTX_SREG_NWARPID: return (uint64_t)x->p->preset.max_warps;
    case PTX_SREG_CTAID: return comp > 2 ? 0 : c->id[comp < 0 ? 0 : comp];
    case PTX_SREG_NCTAID: return component(l->grid, comp);
    case PTX_SREG_CLUSTERID:
    case PTX_SREG_CLUSTER_CTAID: return cluster_component(c, s->sreg, comp);
    case PTX_SREG_NCLUSTERID:
        return component(l->grid, comp) / (comp > 2 ? 1 : component(x->cluster, comp));
    case PTX_SREG_CLUSTER_NCTAID: return component(x->cluster, comp);
    case PTX_SREG_CLUSTER_CTARANK:
        return cluster_component(c, s->sreg, 0) +
               (uint64_t)x->cluster.x * (cluster_component(c, s->sreg, 1) +
                                         (uint64_t)x->cluster.y * cluster_component(c, s->sreg, 2));
    case PTX_SREG_CLUSTER_NCTARANK: return dim3u_count(x->cluster);
    case PTX_SREG_SMID: return c->smid;
    case PTX_SREG_NSMID: return (uint64_t)x->p->preset.sms;
    case PTX_SREG_LANEMASK_EQ:
    case PTX_SREG_LANEMASK_LE:
    case PTX_SREG_LANEMASK_LT:
    case PTX_SREG_LANEMASK_GE:
    case PTX_SREG_LANEMASK_GT: return lanemask(s->sreg, lane);
    case PTX_SREG_TOTAL_SMEM_SIZE:
    case PTX_SREG_AGGR_SMEM_SIZE: return x->shared_bytes;
    case PTX_SREG_DYNAMIC_SMEM_SIZE: return l->shared;
    case PTX_SREG_GRIDID: return 1;
    case PTX_SREG_ENVREG1: return x->p->grid_space >> 32;
    case PTX_SREG_ENVREG2: return (uint32_t)x->p->grid_space;
    default: return 0;
    }
}

enum exec_bank exec_sreg_bank(uint32_t sreg)
{
    switch (sreg) {
    case PTX_SREG_CTAID:
    case PTX_SREG_CLUSTERID:
    case PTX_SREG_CLUSTER_CTAID:
    case PTX_SREG_CLUSTER_CTARANK:
    case PTX_SREG_SMID:
    case PTX_SREG_WARPID: return BANK_CTA;
    default: return BANK_SREG;
    }
}

/* Whether warps of a CTA have each a bank of its own. */
static bool is_own(const struct sim_program *p, enum exec_bank bank)
{
    bool own = bank == BANK_SREG;
    for (uint32_t i = 0; i < p->nsregs; i++)
        own |= p->sregs[i].sreg == PTX_SREG_WARPID;
    return own;
}

/* The place of warp `i` in what exec_launch_sregs or exec_cta_sregs took. */
static uint8_t *bank_at(const struct sim_program *p, uint8_t *v, enum exec_bank bank, uint32_t i)
{
    if (!v) /* none were taken: nothing is written there */
        return v;
    return v + (64 - (uintptr_t)v % 64) % 64 + (is_own(p, bank) ? (size_t)i * p->sreg_bytes[bank] : 0);
}

static void fill(const struct exec_launch *x, const struct exec_cta *c, enum exec_bank bank,
                 uint32_t warp, uint8_t *at)
{
    for (uint32_t k = 0; k < x->p->nsregs; k++) {
        const struct exec_sreg *s = &x->p->sregs[k];
        if ((s->slot & 3u) != bank)
            continue;
        void *to = at + (s->slot - bank);
        uint64_t v = 0;
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            /* what differs from CTA to CTA is the same for all lanes, and so are parameters */
            if (!lane || (bank == BANK_SREG && s->sreg != PTX_SREG_NONE))
                v = exec_hostile_sreg(x, s->sreg, sreg_value(x, c, warp, s, lane));
            if (s->bytes == 8)
                ((uint64_t *)to)[lane] = v;
            else
                ((uint32_t *)to)[lane] = (uint32_t)v;
        }
    }
}

bool exec_launch_sregs(struct exec_launch *x)
{
    x->sregs = base_alloc((size_t)x->warps_per_cta * x->p->sreg_bytes[BANK_SREG] + 64);
    for (uint32_t i = 0; x->sregs && i < x->warps_per_cta; i++)
        fill(x, NULL, BANK_SREG, i, bank_at(x->p, x->sregs, BANK_SREG, i));
    return x->sregs;
}

bool exec_cta_sregs(struct exec_cta *c)
{
    const struct sim_program *p = c->x->p;
    c->sregs = base_alloc((is_own(p, BANK_CTA) ? c->nwarps : (size_t)1) * p->sreg_bytes[BANK_CTA] + 64);
    for (uint32_t i = 0; c->sregs && i < c->nwarps; i++) {
        bank_set(&c->warps[i], BANK_SREG, bank_at(p, c->x->sregs, BANK_SREG, i));
        bank_set(&c->warps[i], BANK_CTA, bank_at(p, c->sregs, BANK_CTA, i));
    }
    return c->sregs;
}

void exec_fill_sregs(struct exec_cta *c)
{
    for (uint32_t i = 0; i < (is_own(c->x->p, BANK_CTA) ? c->nwarps : 1); i++)
        fill(c->x, c, BANK_CTA, i, bank_at(c->x->p, c->sregs, BANK_CTA, i));
}

void exec_clock(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t now = w->recording ? w->now : exec_hostile_clock(w->x, w->ninst);
    double mhz = w->x->p->preset.clock_mhz > 0 ? w->x->p->preset.clock_mhz : 1000;
    uint64_t ns = (uint64_t)((double)now * 1000.0 / mhz), v = now;
    switch (in->imm) {
    case PTX_SREG_CLOCK_HI: v = now >> 32; break;
    case PTX_SREG_GLOBALTIMER:
    case PTX_SREG_GLOBALTIMER_LO: v = ns; break;
    case PTX_SREG_GLOBALTIMER_HI: v = ns >> 32; break;
    default: break;
    }
    FOR_LANES(i, mask) lane_write(w, in->dst, i, in->flags & EXEC_F_BASE64 ? 8 : 4, v);
}

/* %is_explicit_cluster, the one predicate among them. */
void exec_sreg_pred(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    pred_write(w, in->dst, mask, w->x->explicit_cluster ? EXEC_FULL : 0);
}
