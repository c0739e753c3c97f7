/* replace: changing tensor maps, filling shared memory, asking for CTAs of others. */
#pragma once

#include "engine/sim/exec/bodies.h"

struct exec_replace {
    uint8_t field;    /* enum tensor_field */
    uint8_t ordinal;  /* dimension, where the field has one */
    uint8_t bytes;    /* of the new value: 4 or 8 */
    bool in_16_bytes; /* a stride that is given so */
    uint32_t value;   /* slot */
};
struct exec_cancel {
    struct exec_ref bar;
    bool all; /* the answer goes to every CTA of the cluster */
};
exec_fn exec_tensormap_replace, exec_tensormap_copy, exec_st_bulk, exec_try_cancel, exec_is_canceled,
    exec_first_ctaid;
