/* operand: matrices of tensor cores as they lie in shared memory and in registers. */
#ifndef GPULOCW_SIM_EXEC_TENSOR_OPERAND_H
#define GPULOCW_SIM_EXEC_TENSOR_OPERAND_H

#include "engine/base/base.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/exec/tensor/dot.h"

/* A matrix descriptor (9.7.15.5.1.2): bytes in shared memory. */
struct mat_desc {
    uint32_t start, lead, stride; /* bytes: of the matrix, between units or atoms, between groups of 8 */
    uint8_t swizzle;              /* bytes of the pattern: 0 (none), 32, 64, 128 */
    uint8_t base;                 /* phase of the pattern at the start, in rows of 128 bytes */
};
struct mat_desc mat_desc_of(uint64_t d);
/* Byte address of the 16 bytes that hold element (mn, k). Without `major_mn` 16 bytes lie along k, else
 * along mn; bytes: of an element. */
uint32_t mat_unit(const struct mat_desc *d, unsigned bytes, bool major_mn, unsigned mn, unsigned k);

/* Element bits as a float, and the exponent that a tensor core sees. */
void mat_value(enum ptx_type t, uint32_t bits, float *v, int32_t *e);
unsigned mat_bits(enum ptx_type t); /* of an element in memory or a register */

#endif
