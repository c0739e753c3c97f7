/* wgmma: what decoding leaves of wgmma.mma_async, and its bodies. */
#ifndef GPULOCW_SIM_EXEC_TENSOR_WGMMA_H
#define GPULOCW_SIM_EXEC_TENSOR_WGMMA_H

#include "engine/base/base.h"
#include "engine/sim/decoded.h"

#define WGMMA_REGS 128u

struct exec_wgmma {
    uint16_t n, k;                  /* of the shape m64nNkK; k of A as it is not compressed */
    uint8_t type_d, type_a, type_b; /* enum ptx_type */
    uint8_t nd, na;                 /* registers; na 0: A is in shared memory */
    bool sparse, finite, neg_a, neg_b, mn_a, mn_b; /* mn: transposed, not k-major */
    bool scale_neg;
    uint8_t selector;
    uint32_t d[WGMMA_REGS], a[4];
    uint32_t desc_a, desc_b, meta, scale; /* slots; scale: a predicate, EXEC_NO_ID: d is added to */
};
exec_fn exec_wgmma;

#endif
