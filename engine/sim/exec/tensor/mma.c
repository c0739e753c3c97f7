/* mma and mma.sp (9.7.14.5, 9.7.14.6) of shapes m16n8kK with narrow inputs, as tensor cores sum them.
 * Fragments have the layout that exec/matrix.c states; A of mma.sp is compressed along k. */
#include "engine/base/base.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/decoded.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/lanes/soft.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/dot.h"
#include "engine/sim/exec/tensor/operand.h"
#include "engine/sim/exec/tensor/wgmma.h"
#include "engine/sim/sim_int.h"

#include <string.h>

#define COLS 8u

/* Elements of a fragment: those of A in rows, those of B in columns. */
static void load_part(struct exec_warp *w, const struct exec_part *part, bool of_b)
{
    struct mat_read r = { .to = w->k->tensor.factors, .type = part->type, .of_b = of_b };
    unsigned bits = mat_bits(part->type), per = 32 / bits;
    for (unsigned i = 0; i < part->n; i++) {
        const uint32_t *from = slot_at(w, part->slot[i]);
        unsigned half = of_b ? i : i >> 1;
        for (uint32_t lane = 0; lane < WARP_LANES; lane++)
            for (unsigned e = 0; e < per; e++) {
                uint32_t v = from[lane] >> e * bits & (bits == 32 ? UINT32_MAX : (1u << bits) - 1);
                mat_put(&r, lane / 4 + (of_b ? 0 : 8 * (i & 1)), lane % 4 * per + e + 4 * per * half, v);
            }
    }
}

/* Accumulators as registers of 32 bits: the result's own, or widened f16. */
struct sums {
    float v[4][WARP_LANES];
    void *reg[4];
};

static void begin(struct exec_warp *w, const struct exec_part *c, struct sums *s)
{
    for (unsigned i = 0; i < 4; i++) {
        const uint32_t *from = slot_at(w, c->slot[c->type == PTX_T_F16 ? i / 2 : i]);
        s->reg[i] = s->v[i];
        memcpy(s->v[i], from, sizeof s->v[i]);
        for (uint32_t lane = 0; c->type == PTX_T_F16 && lane < WARP_LANES; lane++)
            s->v[i][lane] =
                (float)soft_to_double(from[lane] >> 16 * (i & 1) & 0xffff, soft_format_of(PTX_T_F16));
    }
}

static void end(struct exec_warp *w, const struct exec_part *d, const struct sums *s, bool finite)
{
    for (unsigned i = 0; i < 4; i++) {
        if (d->slot[d->type == PTX_T_F16 ? i / 2 : i] == EXEC_NO_ID)
            continue;
        uint32_t *to = slot_at(w, d->slot[d->type == PTX_T_F16 ? i / 2 : i]);
        if (d->type != PTX_T_F16) {
            memcpy(to, s->v[i], sizeof s->v[i]);
            continue;
        }
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            uint32_t h = (uint32_t)soft_round(s->v[i][lane], soft_format_of(PTX_T_F16), SOFT_RN, finite);
            to[lane] = i & 1 ? (to[lane] & 0xffff) | h << 16 : (to[lane] & 0xffff0000u) | h;
        }
    }
}

/* 8-bit floats become halves two by two, so the products of the first two of every four registers' bytes
 * are summed first, then those of the others. Of sparse A that is whole groups of four. */
static void part_bytes(struct mat_factors *f, unsigned k, bool sparse)
{
    float b[DOT_K][COLS], a[DOT_K];
    int32_t eb[DOT_K][COLS], ea[DOT_K];
    unsigned to[DOT_K], n = 0;
    for (unsigned half = 0; half < 2; half++)
        for (unsigned i = 0; i < k; i++)
            if ((sparse ? i / 4 : i / 2) % 2 == half)
                to[n++] = i;
    for (unsigned i = 0; i < k; i++) {
        memcpy(b[i], f->b[to[i]], sizeof b[i]);
        memcpy(eb[i], f->eb[to[i]], sizeof eb[i]);
    }
    for (unsigned i = 0; i < k; i++) {
        memcpy(f->b[i], b[i], sizeof b[i]);
        memcpy(f->eb[i], eb[i], sizeof eb[i]);
    }
    for (unsigned r = 0; r < DOT_ROWS; r++) {
        for (unsigned i = 0; i < k; i++) {
            a[i] = f->a[r][to[i]];
            ea[i] = f->ea[r][to[i]];
        }
        memcpy(f->a[r], a, k * sizeof *a);
        memcpy(f->ea[r], ea, k * sizeof *ea);
    }
}

/* The product from zero, then one addition. */
static void multiply_halves(const struct exec_mma *x, struct mat_factors *f, const struct dot_tile *t,
                            struct sums *s)
{
    float c[4][WARP_LANES];
    memcpy(c, s->v, sizeof c);
    memset(s->v, 0, sizeof s->v);
    part_bytes(f, t->k, x->sparse);
    dot_pick()->floats(&x->model, t);
    for (unsigned i = 0; i < 4; i++)
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            s->v[i][lane] += c[i][lane];
}

bool exec_mma_ready(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (mask != EXEC_FULL) {
        exec_fault(w, in, first_lane(mask), FAULT_UNIFORM,
                   "mma executed by part of a warp\nlet all 32 lanes execute it: no branch of single "
                   "lanes around it");
        return false;
    }
    if (!w->k->tensor.factors && !(w->k->tensor.factors = base_alloc(sizeof *w->k->tensor.factors))) {
        exec_fault(w, in, 0, FAULT_NOMEM, "out of memory for a matrix product");
        return false;
    }
    return true;
}

void exec_mma_core(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_mma *x = in->x;
    struct sums s;
    if (!exec_mma_ready(w, in, mask))
        return;
    struct mat_factors *f = w->k->tensor.factors;
    load_part(w, &x->part[1], false);
    load_part(w, &x->part[2], true);
    if (x->sparse)
        mat_expand(f, x->part[1].type, x->shape[2], slot_at(w, x->meta), x->selector);
    begin(w, &x->part[3], &s);
    struct dot_tile t = { .n = COLS,
                          .k = x->shape[2],
                          .a = f->a[0],
                          .ea = f->ea[0],
                          .b = f->b[0],
                          .eb = f->eb[0],
                          .reg = s.reg,
                          .finite = x->finite };
    if (x->halves)
        multiply_halves(x, f, &t, &s);
    else if (x->part[0].type == PTX_T_S32)
        dot_pick()->ints(&x->model, &t);
    else
        dot_pick()->floats(&x->model, &t);
    end(w, &x->part[0], &s, x->finite);
}
