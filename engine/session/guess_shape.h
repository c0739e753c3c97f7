/* guess_shape: what a kernel's code tells of the launch it was made for: how many dimensions it has, whether shared memory is
 * given by the launch. For launch_guess. */
#ifndef GPULOCW_GUESS_SHAPE_H
#define GPULOCW_GUESS_SHAPE_H

#include "engine/ptx/ptx.h"

#define GUESS_DIMS 3
struct guess_shape {
    unsigned dims, block_dims;               /* 1 to 3: of grid and block together, of the block alone */
    bool tiles;                              /* it has shared memory: the block's shape matters */
    bool one_thread;                         /* it reads no index: every thread would do the same */
    bool writes_unlisted;                    /* it may write by what the analysis lists no store for */
    uint32_t shared;                         /* bytes of dynamic shared memory, a guess; 0: it has none */
};
bool guess_shape(const struct ptx_module *m, const struct ptx_func *kernel, struct guess_shape *out);   /* false: out of memory */
bool guess_names(const struct ptx_func *f, const struct ptx_symbol *s);   /* some instruction of f has s as an operand */

#endif
