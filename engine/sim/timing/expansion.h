/* expansion: what machine instructions a PTX instruction stands for (expansions.def). */
#pragma once

#include "engine/base/base.h"

struct ptx_inst;

enum timing_how {
    HOW_ANY,
    HOW_APPROX, /* .approx or .full */
    HOW_FTZ     /* .approx.ftz */
};
enum timing_expansion_from { EXPANSION_COUNTED, EXPANSION_MEASURED };
struct timing_expansion {
    uint16_t set;
    uint16_t op;   /* enum ptx_op; 0: the row only names its set */
    uint8_t how;   /* enum timing_how */
    char kind;     /* of its first type: 'f', 'u', 's', 'b'; 0: any */
    uint8_t bits;  /* of its first type; 0: any */
    uint8_t slots; /* machine instructions, all */
    uint8_t sfu;   /* of them, on the function unit */
    uint8_t dbl;   /* of them, on the double unit */
    /* the longest chain of dependent ones, by what each waits for: */
    uint8_t chain;        /* the instruction's own unit */
    uint8_t chain_sfu;    /* the function unit */
    uint8_t chain_dbl;    /* the double unit */
    uint8_t chain_branch; /* a branch */
    uint8_t from;         /* enum timing_expansion_from */
};
/* NULL: one machine instruction, or none. */
const struct timing_expansion *timing_expansion_of(const struct ptx_inst *i, uint32_t set);
bool timing_expansion_set_exists(uint32_t set);
/* The i-th row of all sets; NULL: past the end. */
const struct timing_expansion *timing_expansion_at(size_t i);
/* The i-th set: number, architectures, source. NULL: past the end. */
struct timing_expansion_set {
    uint32_t number;
    const char *holds;
    const char *source;
};
const struct timing_expansion_set *timing_expansion_set_at(size_t i);
