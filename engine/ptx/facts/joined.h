/* joined: loads and stores of shared memory beside each other that ptxas makes one of 8 or 16 bytes. */
#pragma once

#include "engine/base/base.h"

struct ptx_cfg;
struct ptx_multiple;

struct ptx_joined {
    uint32_t with;  /* the instruction that is made for this one too, plus one; 0: it is made itself */
    uint8_t bytes;  /* above 0: others are made with it, in one of so many bytes */
    uint8_t before; /* which begins so many bytes before its own address */
};
/* By instruction. same: ptx_same_loads; all: ptx_multiples. Owned, base_free. NULL: out of memory. */
struct ptx_joined *ptx_join(const struct ptx_cfg *g, const uint32_t *same,
                            const struct ptx_multiple *all);
