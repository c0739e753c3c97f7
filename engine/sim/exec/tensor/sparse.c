/* Sparse matrices (9.7.14.6): of every four elements along k two are kept (of tf32: of every two one),
 * and four bits of metadata say which. The lanes of a warp hold the metadata of its 16 rows:
 *
 *   groups of a row  lane that holds group g of row r      from bit
 *   4                4 (r % 8) + selector                  16 (r / 8) + 4 g
 *   8, 16 and 32 bit 4 (r % 8) + 2 selector + g / 4        16 (r / 8) + 4 (g % 4)
 *   8, 8 bit         4 (r % 8) + 2 selector + r / 8        4 g
 *   16               4 (r % 8) + r / 8 + 2 (g / 8)         4 (g % 8) */
#include "engine/base/base.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/exec/tensor/dot.h"
#include "engine/sim/exec/tensor/operand.h"
#include "engine/sim/exec/tensor/wgmma.h"

#include <string.h>

static unsigned group_bits(const uint32_t meta[32], unsigned row, unsigned g, unsigned groups,
                           bool bytes, unsigned selector)
{
    unsigned lane = 4 * (row % 8), half = row / 8, bit;
    if (groups <= 4) {
        lane += selector;
        bit = 16 * half + 4 * g;
    } else if (groups == 8 && !bytes) {
        lane += 2 * (selector & 1) + g / 4;
        bit = 16 * half + 4 * (g % 4);
    } else if (groups == 8) {
        lane += 2 * (selector & 1) + half;
        bit = 4 * g;
    } else {
        lane += half + 2 * (g / 8);
        bit = 4 * (g % 8);
    }
    return meta[lane] >> bit & 15;
}

static void expand_row(float *v, int32_t *e, uint8_t type, unsigned k, unsigned row,
                       const uint32_t meta[32], unsigned selector)
{
    bool words = type == PTX_T_TF32;
    unsigned wide = words ? 2 : 4, kept = wide / 2, groups = k / wide;
    float old[DOT_K];
    int32_t olde[DOT_K];
    memcpy(old, v, sizeof old);
    memcpy(olde, e, sizeof olde);
    for (unsigned i = 0; i < k; i++) {
        v[i] = 0;
        e[i] = DOT_NONE;
    }
    for (unsigned g = 0; g < groups; g++) {
        unsigned bits = group_bits(meta, row, g, groups, mat_bits(type) == 8, selector);
        for (unsigned i = 0; i < kept; i++) {
            unsigned at = g * wide + (words ? bits >> 3 & 1 : bits >> 2 * i & 3);
            v[at] = old[g * kept + i];
            e[at] = olde[g * kept + i];
        }
    }
}

void mat_expand(struct mat_factors *f, uint8_t type, unsigned k, const uint32_t meta[32],
                unsigned selector)
{
    for (unsigned r = 0; r < DOT_ROWS; r++)
        expand_row(f->a[r], f->ea[r], type, k, r, meta, selector);
}
