/* chosen: which CTAs of a launch a functional run takes (struct sim_chosen). One of each `every`, at a place that
 * is another from group to group, so that no row or column of a grid is left out. */
#pragma once

#include "engine/sim/sim.h"

/* How many of n CTAs. */
uint64_t exec_chosen_count(struct sim_chosen c, uint64_t n);
/* The number of the i-th of them among all n: larger for a larger i. */
uint64_t exec_chosen_at(struct sim_chosen c, uint64_t n, uint64_t i);
