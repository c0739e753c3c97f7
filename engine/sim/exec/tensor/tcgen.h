/* tcgen: products of matrices into tensor memory (9.7.16.10). */
#pragma once

#include "engine/sim/exec/bodies.h"

enum tcgen_kind {
    TCGEN_F16,
    TCGEN_TF32,
    TCGEN_F8F6F4,
    TCGEN_I8,
    TCGEN_MXF8F6F4,
    TCGEN_MXF4,
    TCGEN_NVF4
};

struct exec_tcgen {
    uint8_t kind; /* enum tcgen_kind */
    bool pair;    /* .cta_group::2 */
    bool ws;
    bool a_tmem; /* A is in tensor memory: `a`; else a descriptor */
    bool scale_neg;
    uint8_t scales;   /* factors along k; 0: no block scaling */
    uint8_t old_less; /* D is multiplied by 2^-old_less first */
    uint8_t nmask;
    struct exec_ref d;
    struct exec_ref a;
    struct exec_ref scale_a;
    struct exec_ref scale_b;
    /* slots */
    uint32_t desc_a;
    uint32_t desc_b;
    uint32_t idesc;
    uint32_t keep;    /* a predicate: D is added to */
    uint32_t mask[8]; /* lanes of D that are left as they are */
    struct dot_model model;
};
exec_fn exec_tcgen;
