/* mma_kind: mma with a .kind: floats of 8, 6 and 4 bits, with and without block scaling (9.7.14.3). */
#pragma once

#include "engine/sim/exec/bodies.h"

/* Scale factors of A's rows or B's columns: slots. */
struct exec_scale {
    uint32_t data;
    uint32_t byte;   /* of the first factor in a lane's register */
    uint32_t thread; /* which lanes of a quad have them */
};
struct exec_mma_kind {
    struct exec_mma m;
    uint8_t scales; /* factors along k; 0: no block scaling */
    bool ue4m3;     /* else ue8m0 */
    struct exec_scale a;
    struct exec_scale b;
};
exec_fn exec_mma_kind;
