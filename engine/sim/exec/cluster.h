/* cluster: CTAs of one cluster, and the sanitiser's interface. Part of exec.h.
 *
 * A cluster's CTAs belong to one worker and take turns. To drivers its first CTA is the CTA:
 * exec_cta_start, _nwarps, _warp, _done and _run speak of the whole cluster. Each CTA has its own shared
 * memory and barriers.
 *
 *   shared address:  0 .. CLUSTER_STEP       the executing CTA's own
 *                    (r + 1) * CLUSTER_STEP  where the shared memory of the CTA of rank r begins (mapa)
 */
#pragma once

#include "engine/ptx/ptx_table.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/step.h"

#define CLUSTER_STEP    (1u << 24)
#define CLUSTER_MOST    16u  /* CTAs; 8 are portable, the H100 allows 16 */
#define CLUSTER_BARRIER 255u /* exec_frag.barrier of those that wait at the cluster's */

/* The CTA whose shared memory address `a` means, *off the offset there; NULL: none of this cluster. */
static inline struct exec_cta *cluster_cta(const struct exec_cta *c, uint64_t a, uint64_t *off)
{
    uint64_t r = a / CLUSTER_STEP;
    *off = a % CLUSTER_STEP;
    return !r ? c->lead->peer[c->rank] : r <= c->x->cluster_ctas ? c->lead->peer[r - 1] : NULL;
}
static inline bool cta_ended(const struct exec_cta *c)
{
    return c->ended == c->nwarps;
}
/* Sizes of the launch's clusters into x; false with a diagnostic: the grid cannot be cut so. */
bool exec_cluster_sizes(struct exec_launch *x, struct diags *ds);
/* %ctaid of the first CTA of cluster `index`. */
void exec_cluster_first(const struct exec_launch *x, uint64_t index, uint32_t id[3]);
/* Grid coordinates and linear index of CTA `rank` of cluster `index`. */
void exec_cluster_place(struct exec_cta *c, uint64_t index);

/* ---- sanitiser (check.c) ---- */
/* A meeting of equal values, if one was seen: a note. */
void exec_check_tell(const struct exec_launch *x, struct diags *ds);
void exec_check(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, enum ptx_space space,
                enum exec_access_kind kind, unsigned bytes, const uint64_t a[WARP_LANES],
                const uint64_t p[WARP_LANES]);
/* A read of the CTA's shared memory that goes past exec_check, for sim_launch.touch. */
void exec_tell_shared(struct exec_warp *w, const struct exec_inst *in, uint64_t addr, unsigned bytes);
void exec_check_barrier(struct exec_cta *c);
void exec_check_visible(struct exec_warp *w); /* what it did, for warps that look in the same way */
void exec_check_warp(struct exec_warp *w);    /* all lanes of a warp have fenced */
/* A warp-wide operation: lanes that it names are behind what they did. */
void exec_check_lanes(struct exec_warp *w, const struct exec_inst *in, uint32_t mask);
/* Memory that malloc hands out: who used it before has given it back. */
void exec_check_fresh(struct exec_launch *x, uint64_t addr, uint64_t n);
bool exec_check_launch(struct exec_launch *x);
void exec_check_free(struct exec_launch *x);
bool exec_check_cta(struct exec_cta *c);
void exec_check_cta_start(struct exec_cta *c);
void exec_check_cta_free(struct exec_cta *c);

void exec_check_cluster(struct exec_cta *lead); /* all threads of a cluster have met */
