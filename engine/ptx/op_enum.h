/* op_enum: one number per row of ops.def: PTX_OP_ADD, PTX_OP_MUL_LO, PTX_OP_LD ... Apart from the table
 * itself, so that a new row rebuilds only what names operations. */
#pragma once

/* clang-format off */
enum ptx_op {
    PTX_OP_OPAQUE, /* well-formed, not in the table: kept verbatim, never guessed */
#define OP(id, name, exec, ...) PTX_OP_##id,
#include "engine/ptx/ops.def"
#undef OP
    PTX_OP_COUNT
};
/* clang-format on */
