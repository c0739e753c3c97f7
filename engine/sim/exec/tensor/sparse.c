/* Sparse matrices (9.7.14.6): of every four elements along k two are kept (of tf32: of every two one),
 * and four bits of metadata say which. The lanes of a warp hold the metadata of its 16 rows:
 *
 *   groups of a row  lane that holds group g of row r      from bit
 *   4                4 (r % 8) + selector                  16 (r / 8) + 4 g
 *   8, 16 and 32 bit 4 (r % 8) + 2 selector + g / 4        16 (r / 8) + 4 (g % 4)
 *   8, 8 bit         4 (r % 8) + 2 selector + r / 8        4 g
 *   16               4 (r % 8) + r / 8 + 2 (g / 8)         4 (g % 8) */
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

/* An element of a row; of whole numbers two lie in the place of one. */
struct element {
    float v;
    int16_t e;
};
static struct element get(const struct mat_factors *f, unsigned row, unsigned k, bool whole)
{
    struct element x = { 0 };
    if (whole)
        memcpy(&x.e, (const uint8_t *)&f->a[k / 2][row] + sizeof x.e * (k % 2), sizeof x.e);
    else
        x = (struct element){ f->a[k][row], f->ea[k][row] };
    return x;
}
static void put(struct mat_factors *f, unsigned row, unsigned k, bool whole, struct element x)
{
    if (whole) {
        memcpy((uint8_t *)&f->a[k / 2][row] + sizeof x.e * (k % 2), &x.e, sizeof x.e);
        return;
    }
    f->a[k][row] = x.v;
    f->ea[k][row] = x.e;
}

static void expand_row(struct mat_factors *f, uint8_t type, unsigned k, unsigned row,
                       const uint32_t meta[32], unsigned selector)
{
    bool words = type == PTX_T_TF32, whole = mat_format(type)->whole;
    unsigned wide = words ? 2 : 4, kept = wide / 2, groups = k / wide;
    struct element old[DOT_K];
    for (unsigned i = 0; i < k / 2; i++)
        old[i] = get(f, row, i, whole);
    for (unsigned i = 0; i < k; i++)
        put(f, row, i, whole, (struct element){ 0, whole ? 0 : DOT_NONE });
    for (unsigned g = 0; g < groups; g++) {
        unsigned bits = group_bits(meta, row, g, groups, mat_bits(type) == 8, selector);
        for (unsigned i = 0; i < kept; i++)
            put(f, row, g * wide + (words ? bits >> 3 & 1 : bits >> 2 * i & 3), whole,
                old[g * kept + i]);
    }
}

void mat_expand(struct mat_factors *f, uint8_t type, unsigned k, const uint32_t meta[32],
                unsigned selector)
{
    for (unsigned r = 0; r < DOT_ROWS; r++)
        expand_row(f, type, k, r, meta, selector);
}
