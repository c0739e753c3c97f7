/* sim_part: outputs of which a launch has made a part, held against those of a launch that made all. */
#pragma once

#include "engine/base/base.h"

struct dev_bound;
struct launch_spec;
struct outputs_part;
struct sim_mem;

/* Bytes of each buffer that is an output, NULL for the others; bytes NULL: nothing is kept. */
struct sim_left {
    uint8_t **bytes;
    size_t n;
};
/* Keeps what a launch has just left. More than 256 MB, or no memory: nothing is kept. */
void sim_left_keep(struct sim_left *k, const struct launch_spec *l, const struct dev_bound *b,
                   struct sim_mem *m);
/* Fills the outputs with the complement of what is kept: a byte that a launch makes is told from one it leaves. */
void sim_left_turn(const struct sim_left *k, const struct dev_bound *b, struct sim_mem *m);
/* After a launch on such outputs: adds the bytes that are as kept, those that are neither that nor the complement, and
 * all. */
void sim_left_compare(const struct sim_left *k, const struct dev_bound *b, struct sim_mem *m,
                      struct outputs_part *out);
void sim_left_free(struct sim_left *k);
