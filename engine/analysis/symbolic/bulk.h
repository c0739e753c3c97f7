/* bulk: the parts of a bulk or tensor copy that say which bytes of global memory it moves. */
#pragma once

#include "engine/base/base.h"

struct ptx_inst;
struct ptx_operand;

/* Beside enum ptx_space: global memory by bulk and tensor copies, which L1 does not see. */
#define ANA_SPACE_COPY 15

enum bulk_kind { BULK_LOAD, BULK_STORE, BULK_REDUCE, BULK_PREFETCH };
struct bulk {
    uint8_t kind; /* enum bulk_kind */
    bool tensor;
    bool rows;                        /* tile::gather4 and scatter4: four rows of a matrix */
    bool followed;                    /* false: im2col, a masked copy */
    const struct ptx_operand *global; /* [address], or [tensor map] */
    const struct ptx_operand *value;  /* the size; or the coordinates, innermost first */
    uint8_t nvalues;
};
/* False: another instruction, or a copy between shared memories. */
bool bulk_parts(const struct ptx_inst *i, struct bulk *out);
