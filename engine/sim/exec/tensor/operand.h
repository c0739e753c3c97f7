/* operand: matrices of tensor cores as they lie in shared memory and in registers. */
#pragma once

#include "engine/ptx/ptx_table.h"
#include "engine/sim/exec/tensor/dot.h"

struct exec_cta;
struct exec_inst;
struct exec_warp;

/* A matrix descriptor (9.7.15.5.1.2): bytes in shared memory. */
struct mat_desc {
    uint32_t start;  /* of the matrix */
    uint32_t lead;   /* between units, or atoms of the pattern */
    uint32_t stride; /* between groups of 8 rows */
    uint8_t swizzle; /* bytes of the pattern: 0 (none), 32, 64, 128 */
    uint8_t base;    /* phase of the pattern at the start, in rows of 128 bytes */
};
struct mat_desc mat_desc_of(uint64_t d);
/* Of tcgen05 (9.7.16.4.1). False: a swizzle that is not modelled, told. */
bool mat_desc5_of(struct exec_warp *w, const struct exec_inst *in, uint64_t d, struct mat_desc *out);
/* Byte address of the 16 bytes that hold element (mn, k). Without `major_mn` 16 bytes lie along k, else
 * along mn; bytes: of an element. */
uint32_t mat_unit(const struct mat_desc *d, unsigned bytes, bool major_mn, unsigned mn, unsigned k);

/* How the bits of an element are read. */
const struct dot_format *mat_format(enum ptx_type t);
unsigned mat_bits(enum ptx_type t); /* of an element in memory or a register */

/* Factors of a product, as dot_tile has them; columns of B by dot_column. */
struct mat_factors {
    float a[DOT_K][DOT_ROWS], b[DOT_K][DOT_N];
    int16_t ea[DOT_K][DOT_ROWS], eb[DOT_K][DOT_N];
};
/* A tile of n columns, k deep. */
static inline struct dot_tile mat_tile(const struct mat_factors *f, unsigned n, unsigned k,
                                       void *const *reg, bool finite)
{
    return (struct dot_tile){ n, k, f->a[0], f->ea[0], f->b[0], f->eb[0], reg, finite };
}
/* The tile's sums, in D's type. */
static inline void mat_multiply(const struct dot_ops *o, const struct dot_model *m,
                                const struct dot_tile *t, enum ptx_type d)
{
    (d == PTX_T_S32 ? o->ints : o->floats)(m, t);
}
/* Is there room for the factors of a worker's products? False: none, told. */
bool mat_room(struct exec_warp *w, const struct exec_inst *in, uint32_t lane);
/* Reads elements (first .. first + rows, 0 .. k) of a matrix in the CTA's shared memory as A's rows, or
 * (of_b) as B's columns. False: it reaches outside, told. */
struct mat_read {
    struct exec_warp *w;
    const struct exec_inst *in;
    const struct exec_cta *cta; /* whose shared memory */
    struct mat_factors *to;
    struct mat_desc desc;
    uint8_t type; /* enum ptx_type */
    bool major_mn;
    bool of_b;
    bool negated;
    unsigned first;
    unsigned place; /* of the first among the factors */
    unsigned rows;
    unsigned k;
    /* elements of 4 or 6 bits: how many lie in 16 bytes, from the low end on; 0: wider ones */
    uint8_t narrow;
};
bool mat_load(const struct mat_read *r);
/* The 16 bytes of row mn, along k, that hold this byte; NULL: outside shared memory, told. */
const uint8_t *mat_unit_at(const struct mat_read *r, unsigned mn, unsigned byte);
/* Puts one element as mat_load does. */
void mat_put(const struct mat_read *r, unsigned mn, unsigned k, uint32_t bits);
/* Puts elements of eight rows of A or columns of B, mn on, and of k on: run i has those of mn + i along
 * k; without `across` (16 bits only) run i has those of k + i along mn. */
void mat_put_runs(const struct mat_read *r, unsigned mn, unsigned k, bool across,
                  const uint8_t *const run[8]);
/* Puts register i of a fragment of mma or wgmma: 32 lanes. */
void mat_put_register(const struct mat_read *r, unsigned i, const uint32_t *lanes);

/* Do all lanes execute a product, and is there memory for it? False: the fault is raised. */
bool exec_mma_ready(struct exec_warp *w, const struct exec_inst *in, uint32_t mask);
