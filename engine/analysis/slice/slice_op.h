/* slice_op: one decoded operation of a slice. Its operands are numbers of rows: a row holds the value of
 * a register, a cell or a constant in all lanes of a warp. */
#ifndef GPULOCW_ANALYSIS_SLICE_SLICE_OP_H
#define GPULOCW_ANALYSIS_SLICE_SLICE_OP_H

#include "engine/base/base.h"

enum slice_code {
    SL_NOP,
    SL_MOV,
    SL_ADD,
    SL_SUB,
    SL_MUL,
    SL_MULHI,
    SL_MULWIDE,
    SL_MAD,
    SL_MADWIDE,
    SL_MADHI,
    SL_DIV,
    SL_REM,
    SL_SHL,
    SL_SHR,
    SL_AND,
    SL_OR,
    SL_XOR,
    SL_NOT,
    SL_CNOT,
    SL_NEG,
    SL_ABS,
    SL_MIN,
    SL_MAX,
    SL_SELP,
    SL_SETP,
    SL_CVT,
    SL_BFE,
    SL_BFI,
    SL_LOP3,
    SL_SHFL_L,
    SL_SHFL_R,
    SL_PRMT,
    SL_POPC,
    SL_CLZ,
    SL_BFIND,
    SL_BREV,
    SL_SAD,
    SL_SLCT,
    SL_CVTA,
    SL_CVTA_TO,
    SL_PIECE,
    SL_JOIN,
    SL_FADD,
    SL_FSUB,
    SL_FMUL,
    SL_FMA,
    SL_FDIV,
    SL_FMIN,
    SL_FMAX,
    SL_FABS,
    SL_FNEG,
    SL_FSQRT,
    SL_FRCP,
    SL_FRSQRT,
    SL_FSIN,
    SL_FCOS,
    SL_FLG2,
    SL_FEX2,
    SL_FSETP,
    SL_FSLCT,
    SL_FCOPYSIGN,
    SL_LD,
    SL_ST,
    SL_ATOM,
    SL_ASYNC,
    SL_COPY,
    SL_TOUCH,
    SL_BRA,
    SL_BRX,
    SL_CALL,
    SL_RET,
    SL_EXIT,
    SL_BAR,
    SL_BARRED,
    SL_SHUFFLE,
    SL_VOTE,
    SL_ACTIVE,
    SL_MATCH,
    SL_REDUX,
    SL_ELECT
};
#define SL_NONE UINT32_MAX
struct slice_op {
    uint8_t code;  /* SL_NOP ... */
    uint8_t bits;  /* width of the operation */
    uint8_t bits2; /* the other width: source of a cvt, register of a load */
    bool sign;     /* of the value of `bits` */
    bool sign2;    /* of the value of `bits2` */
    bool guarded;
    bool guard_neg;       /* @!p */
    bool store_effect;    /* kept for what it does to memory, not for its value */
    uint16_t mode, mode2; /* comparison, atomic, shuffle ...; boolean combination */
    uint8_t n;            /* elements */
    uint8_t space, bytes; /* memory: enum ptx_space, bytes per element */
    bool flag, flag2;     /* op-specific: negated predicate operand, float kinds, wrap */
    bool ftz;             /* of f32: subnormals count as zero */
    /* row numbers: guard, destinations, sources */
    uint32_t guard;
    uint32_t d;
    uint32_t d2;
    uint32_t a;
    uint32_t b;
    uint32_t c;
    uint32_t e;
    /* first of n rows in slice->rows (vector operands, call arguments) */
    uint32_t list;
    int64_t imm;     /* address offset, truth table */
    uint32_t target; /* op index (SL_BRA), function (SL_CALL) */
    uint32_t inst, line;
    int32_t site; /* chosen access, -1 */
};

#endif
