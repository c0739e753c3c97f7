/* wgmma: what decoding leaves of wgmma.mma_async and mma.sp, and their bodies. */
#pragma once

#include "engine/sim/decoded.h"
#include "engine/sim/exec/tensor/operand.h"

#define WGMMA_REGS 128u

struct exec_wgmma {
    uint16_t n, k; /* of the shape m64nNkK; k of A as it is not compressed */
    /* enum ptx_type */
    uint8_t type_d;
    uint8_t type_a;
    uint8_t type_b;
    uint8_t nd, na; /* registers; na 0: A is in shared memory */
    bool sparse;    /* A is compressed; meta says which elements it has */
    bool finite;    /* .satfinite */
    bool neg_a;
    bool neg_b;
    bool mn_a; /* transposed, not k-major */
    bool mn_b;
    bool scale_neg;
    uint8_t selector;
    struct dot_model model;
    uint32_t d[WGMMA_REGS], a[4];
    /* slots */
    uint32_t desc_a;
    uint32_t desc_b;
    uint32_t meta;
    uint32_t scale; /* a predicate; EXEC_NO_ID: d is added to */
};
exec_fn exec_wgmma;
exec_fn exec_wgmma_meet; /* without the product */

/* Spreads the compressed rows of A over k elements, by metadata as the lanes of a warp hold it
 * (9.7.14.6.1, sparse.c). */
void mat_expand(struct mat_factors *f, uint8_t type, unsigned k, const uint32_t meta[32],
                unsigned selector);
