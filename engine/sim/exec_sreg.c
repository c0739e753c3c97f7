/* Special registers (section 10): those that do not change while a CTA runs are filled in when it
 * starts; clocks are read when asked. */
#include "engine/sim/decode_exec.h"

static uint32_t component(struct dim3u d, int comp) { return comp <= 0 ? d.x : comp == 1 ? d.y : comp == 2 ? d.z : 0; }

static uint32_t thread_component(const struct exec_warp *w, uint32_t lane, int comp)
{
    struct dim3u b = w->x->l->block;
    uint32_t i = w->index * WARP_LANES + lane;
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
    struct dim3u n = c->x->cluster, g = c->x->l->grid;
    uint32_t k = comp < 0 ? 0 : (uint32_t)comp, size = component(n, comp);
    if (k > 2)
        return 0;
    switch (sreg) {
    case PTX_SREG_CLUSTERID: return c->id[k] / size;
    case PTX_SREG_NCLUSTERID: return component(g, comp) / size;
    case PTX_SREG_CLUSTER_CTAID: return c->id[k] % size;
    default: return size;
    }
}

static uint64_t sreg_value(const struct exec_warp *w, uint16_t sreg, int comp, uint32_t lane)
{
    const struct exec_cta *c = w->cta;
    const struct sim_launch *l = w->x->l;
    switch (sreg) {
    case PTX_SREG_TID: return thread_component(w, lane, comp);
    case PTX_SREG_NTID: return component(l->block, comp);
    case PTX_SREG_LANEID: return lane;
    case PTX_SREG_WARPID: return c->first_warpid + w->index;
    case PTX_SREG_NWARPID: return (uint64_t)w->x->p->preset.max_warps;
    case PTX_SREG_CTAID: return comp > 2 ? 0 : c->id[comp < 0 ? 0 : comp];
    case PTX_SREG_NCTAID: return component(l->grid, comp);
    case PTX_SREG_CLUSTERID: case PTX_SREG_NCLUSTERID: case PTX_SREG_CLUSTER_CTAID: case PTX_SREG_CLUSTER_NCTAID: return cluster_component(c, sreg, comp);
    case PTX_SREG_CLUSTER_CTARANK: return c->rank;
    case PTX_SREG_CLUSTER_NCTARANK: return w->x->cluster_ctas;
    case PTX_SREG_SMID: return c->smid;
    case PTX_SREG_NSMID: return (uint64_t)w->x->p->preset.sms;
    case PTX_SREG_LANEMASK_EQ: case PTX_SREG_LANEMASK_LE: case PTX_SREG_LANEMASK_LT: case PTX_SREG_LANEMASK_GE: case PTX_SREG_LANEMASK_GT:
        return lanemask(sreg, lane);
    case PTX_SREG_TOTAL_SMEM_SIZE: case PTX_SREG_AGGR_SMEM_SIZE: return w->x->shared_bytes;
    case PTX_SREG_DYNAMIC_SMEM_SIZE: return l->shared;
    case PTX_SREG_GRIDID: return 1;
    case PTX_SREG_ENVREG1: return w->x->p->grid_space >> 32;
    case PTX_SREG_ENVREG2: return (uint32_t)w->x->p->grid_space;
    default: return 0;
    }
}

/* Those that differ from CTA to CTA have one value per warp. */
static bool changes(uint16_t sreg)
{
    return sreg == PTX_SREG_CTAID || sreg == PTX_SREG_CLUSTERID || sreg == PTX_SREG_SMID || sreg == PTX_SREG_WARPID;
}

static void fill_slot(struct exec_warp *w, const struct exec_sreg *s, bool uniform)
{
    void *at = slot_at(w, s->off | BANK_SREG);
    uint64_t v = sreg_value(w, s->sreg, s->comp, 0);
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        v = uniform ? v : sreg_value(w, s->sreg, s->comp, lane);
        if (s->bytes == 8)
            ((uint64_t *)at)[lane] = v;
        else
            ((uint32_t *)at)[lane] = (uint32_t)v;
    }
}

void exec_fill_sregs(struct exec_warp *w, bool again)
{
    const struct sim_program *p = w->x->p;
    for (uint32_t i = 0; i < p->nsregs; i++)
        if (!again || changes(p->sregs[i].sreg))
            fill_slot(w, &p->sregs[i], changes(p->sregs[i].sreg));
}

void exec_clock(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t now = w->recording ? w->now : w->ninst;
    double mhz = w->x->p->preset.clock_mhz > 0 ? w->x->p->preset.clock_mhz : 1000;
    uint64_t ns = (uint64_t)((double)now * 1000.0 / mhz), v = now;
    switch (in->imm) {
    case PTX_SREG_CLOCK_HI: v = now >> 32; break;
    case PTX_SREG_GLOBALTIMER: case PTX_SREG_GLOBALTIMER_LO: v = ns; break;
    case PTX_SREG_GLOBALTIMER_HI: v = ns >> 32; break;
    default: break;
    }
    FOR_LANES(i, mask) lane_write(w, in->dst, i, in->flags & EXEC_F_BASE64 ? 8 : 4, v);
}

/* %is_explicit_cluster, the one predicate among them. */
void exec_sreg_pred(struct exec_warp *w, const struct exec_inst *in, uint32_t mask) { pred_write(w, in->dst, mask, w->x->explicit_cluster ? EXEC_FULL : 0); }
