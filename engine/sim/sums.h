/* sums: what float atomics added where, beside the sums themselves. Float addition rounds, so a sum of n
 * terms depends on their order by at most (n-1) * eps * (sum of their magnitudes) to first order,
 * whatever the two orders are (Higham, "Accuracy and Stability of Numerical Algorithms", 4.2: each is
 * within (n-1) * eps/2 of the exact one). */
#pragma once

#include "engine/ptx/ptx_table.h"

struct sim_sums;
struct sim_sums *sim_sums_new(void); /* NULL: out of memory */
void sim_sums_free(struct sim_sums *s);
/* Nothing was added yet; a launch begins. NULL: nobody counts. */
void sim_sums_begin(struct sim_sums *s);
/* v is added to `old` at `at` (both as bits of that type; x2 types are two sums). Not global: shared
 * memory of a CTA. */
void sim_sums_add(struct sim_sums *s, const void *at, enum ptx_type type, uint64_t old, uint64_t v,
                  bool global);
/* A CTA begins: what its shared memory held is another sum from now on. */
void sim_sums_cta(struct sim_sums *s);
/* Did a launch go through it, whole? */
bool sim_sums_known(const struct sim_sums *s);
/* Most that the order can change in the sum at this place of global memory (absolute), of so many terms;
 * negative: nothing was added there. */
double sim_sums_bound(const struct sim_sums *s, const void *at, double *terms);
/* The same of any one sum in shared memory; 0: there was none. */
double sim_sums_shared(const struct sim_sums *s);
/* Most of bound / |sum| over all sums, those that came to 0 left out; at most 1. */
double sim_sums_relative(const struct sim_sums *s);
