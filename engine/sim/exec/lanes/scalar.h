/* scalar: operations one lane at a time, for forms too rare to have vector code. */
#pragma once

#include "engine/base/base.h"

struct scalar_how {
    uint16_t op;  /* enum ptx_op */
    uint8_t t[3]; /* types as written */
    uint8_t mode; /* enum soft_mode */
    unsigned key; /* KEY_* */
    /* .satfinite; .rni ...; .shiftamt; a rounding was written */
    bool finite;
    bool integral;
    bool shiftamt;
    bool rounded;
    uint16_t cmp; /* enum ptx_mod of the comparison or PTX_MOD_NONE */
    /* widths of the registers */
    uint8_t nsrc;
    uint8_t src_bits[4];
    uint8_t dst_bits;
    uint32_t imm;
    uint8_t sel[4]; /* video: part of a, b, c, d as ptx_operand.comp has it, 0: whole */
    /* SIMD video with selectors: part of {b, a} for each lane, 4 bits each; lanes made (0: all, no
     * selectors) */
    uint16_t pick[2];
    uint8_t lanes;
    bool neg[3], plus_one; /* vmad */
    uint8_t shift;
};
typedef uint64_t scalar_fn(const struct scalar_how *h, const uint64_t s[4]);

#define SCALAR(op, fn, nsrc, wd, wa, wb, wc) scalar_fn scalar_##fn;
#include "engine/sim/exec/lanes/scalar.def"
#undef SCALAR

scalar_fn scalar_video, scalar_vmad, scalar_cvt;
/* Element type and number of elements of a packed type. */
enum ptx_type scalar_element(enum ptx_type t, unsigned *n);
/* its low bits as a number of that type (unsigned ones: the bits of it) */
int64_t scalar_int(uint64_t v, enum ptx_type t);
