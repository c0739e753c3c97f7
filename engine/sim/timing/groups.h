/* groups: all groups of SMs of a launch, run side by side, and what the launch before them leaves in L2. */
#pragma once

#include "engine/sim/timing/group.h"

struct exec_drive;

#define NGROUPS       2u
#define SAMPLE_BUDGET 200000u /* warp instructions of a group before it stops starting CTAs */

struct timing_groups {
    struct timing_group *v;
    uint32_t n;
    uint64_t budget;
    struct exec_drive *beside;
    const struct timing_launch *t;
};
/* beside: NULL, or what threads do that have no group. The groups are the caller's also on failure. */
enum status timing_groups_run(struct timing_launch *t, uint64_t budget, struct timing_groups *a,
                              struct diags *ds);
void timing_groups_free(struct timing_groups *a);
/* before.c: what an earlier launch leaves in L2, where that depends on the order of its reads: *left, the caller's, or
 * t->own_left. Memory is then as it was. */
enum status timing_run_before(struct timing_launch *t, struct cache_l2 *left);
