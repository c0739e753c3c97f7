/* wmma (9.7.14.4) of narrow floats, as tensor cores sum them: tiles of 16 rows, the whole depth at once.
 * Fragments are opaque by the ISA; exec/matrix.c says which element lies where. */
#include "engine/base/base.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/decoded.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/exec/lanes/soft.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/dot.h"
#include "engine/sim/exec/tensor/operand.h"
#include "engine/sim/sim_int.h"

#include <string.h>

#define MOST_COLS 32u

/* Element i of a matrix, row by row, of which each lane has n. */
struct element {
    uint32_t *reg; /* its lane's register, or NULL: written nowhere */
    unsigned shift;
};
static struct element element_at(struct exec_warp *w, const struct exec_part *p, unsigned i, unsigned n)
{
    unsigned bits = mat_bits(p->type), per = 32 / bits, j = i % n;
    uint32_t slot = p->slot[j / per], *lanes = slot == EXEC_NO_ID ? NULL : slot_at(w, slot);
    return (struct element){ lanes ? lanes + i / n : NULL, j % per * bits };
}
static uint32_t get(struct exec_warp *w, const struct exec_part *p, unsigned i, unsigned n)
{
    struct element e = element_at(w, p, i, n);
    unsigned bits = mat_bits(p->type);
    return *e.reg >> e.shift & (bits == 32 ? UINT32_MAX : (1u << bits) - 1);
}

/* A's rows from `first` on (those that it has not are zero), or all of B. */
static void load(struct exec_warp *w, const struct exec_mma *x, unsigned first, bool of_b)
{
    const struct exec_part *p = &x->part[of_b ? 2 : 1];
    struct mat_read r = { .to = w->k->tensor.factors, .type = p->type, .of_b = of_b };
    unsigned rows = x->shape[0], cols = x->shape[1], depth = x->shape[2],
             n = (of_b ? cols : rows) * depth / WARP_LANES, most = of_b ? cols : DOT_ROWS;
    for (unsigned mn = 0; mn < most; mn++)
        for (unsigned k = 0; k < depth; k++) {
            unsigned i = of_b ? k * cols + mn : (first + mn) * depth + k;
            mat_put(&r, mn, k, of_b || first + mn < rows ? get(w, p, i, n) : 0);
        }
}

/* Where dot.h has an accumulator: register and lane. */
static float *sum_at(float v[MOST_COLS / 2][WARP_LANES], unsigned row, unsigned col)
{
    return &v[col / 8 * 4 + row / 8 * 2 + col % 2][row % 8 * 4 + col % 8 / 2];
}

static float as_float(enum ptx_type t, uint32_t bits)
{
    return (float)soft_to_double(bits, soft_format_of(t));
}
static void put(struct exec_warp *w, const struct exec_mma *x, unsigned i, unsigned n, float v)
{
    enum ptx_type t = x->part[0].type;
    struct element e = element_at(w, &x->part[0], i, n);
    uint32_t mask = mat_bits(t) == 32 ? UINT32_MAX : 0xffffu << e.shift;
    uint32_t bits = (uint32_t)soft_round(v, soft_format_of(t), SOFT_RN, x->finite);
    if (e.reg)
        *e.reg = (*e.reg & ~mask) | (bits << e.shift & mask);
}

void exec_wmma_core(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_mma *x = in->x;
    unsigned rows = x->shape[0], cols = x->shape[1], n = rows * cols / WARP_LANES;
    float v[MOST_COLS / 2][WARP_LANES], c[DOT_ROWS * 2][MOST_COLS];
    void *reg[MOST_COLS / 2];
    if (!exec_mma_ready(w, in, mask))
        return;
    struct mat_factors *f = w->k->tensor.factors;
    struct dot_tile t = { cols, x->shape[2], f->a[0], f->ea[0], f->b[0], f->eb[0], reg, false };
    for (unsigned i = 0; i < cols / 2; i++)
        reg[i] = v[i];
    for (unsigned i = 0; i < rows * cols; i++)
        c[i / cols][i % cols] = as_float(x->part[3].type, get(w, &x->part[3], i, n));
    load(w, x, 0, true);
    for (unsigned first = 0; first < rows; first += DOT_ROWS) {
        load(w, x, first, false);
        for (unsigned i = 0; i < DOT_ROWS * cols; i++)
            *sum_at(v, i / cols, i % cols) = first + i / cols < rows ? c[first + i / cols][i % cols] : 0;
        dot_pick()->floats(&x->model, &t);
        for (unsigned i = 0; i < DOT_ROWS * cols && first * cols + i < rows * cols; i++)
            c[first + i / cols][i % cols] = *sum_at(v, i / cols, i % cols);
    }
    for (unsigned i = 0; i < rows * cols; i++) /* last: D may be one of the others */
        put(w, x, i, n, c[i / cols][i % cols]);
}
