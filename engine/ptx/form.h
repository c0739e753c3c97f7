/* form: an opcode as written, with its operands' signatures. */
#pragma once

#include "engine/base/base.h"

#define PTX_MAX_OPERANDS 16u /* of one instruction; sig strings stay below */

/* One operand of a signature, with its type worked out for the form at hand. */
struct ptx_slot {
    char cls;     /* class letter of ops.def */
    uint8_t type; /* enum ptx_type; PTX_T_NONE: any */
    bool optional, negatable, scalar, sink /* may be '_' */, pipe /* written after a '|' */;
};
struct ptx_sig {
    uint8_t n, least;
    struct ptx_slot slot[PTX_MAX_OPERANDS];
};
/* An opcode as written, resolved once per spelling and shared by all its instructions. */
struct ptx_form {
    struct str text;
    uint32_t hash;
    uint16_t op;
    uint8_t nmods;
    uint8_t ntypes;
    uint8_t space; /* enum ptx_space */
    uint8_t vec;   /* elements of a vector: 1, 2, 4 or 8 */
    uint8_t nsigs;
    uint8_t type[4];
    bool bad;     /* report_form has something to say, at every use */
    bool relaxed; /* registers may be wider than the type (ld, st, cvt ...: 9.4.1) */
    bool label;   /* an operand is a label */
    uint16_t *mods;
    struct ptx_sig *sigs;
};
