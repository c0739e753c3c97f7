/* turns: a long loop whose turns are alike is timed for a few of them. */
#pragma once

#include "engine/sim/sim.h"

/* The loop of the kernel that holds most instructions, among those that are in no other loop and are left from one
 * place alone, behind the branch that ends a turn. False: there is none. */
bool timing_turns_find(const struct sim_program *p, struct sim_cut *out);
/* *s came of the loop's first `turns`, *fewer of its first `fewer_turns`: makes *s what all `all` turns come to, each of
 * the rest as one of those between the two. *fewer is changed. */
void timing_turns_extend(struct sim_stats *s, struct sim_stats *fewer, uint32_t turns,
                         uint32_t fewer_turns, uint64_t all);
