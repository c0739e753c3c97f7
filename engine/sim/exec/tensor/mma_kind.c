/* mma of m16n8k32 and m16n8k64 with a .kind (9.7.14.5.14). Fragments have the layout that exec/matrix.c
 * states. An element of 8, 6 or 4 bits has a byte of its own (6 bits low, 4 bits in the middle); k = 64
 * packs elements of 4 bits.
 *
 * Factor j: of row r of A byte `byte` + j of lane 4 (r % 8) + 2 `thread` + r / 8, of column c of B of
 * lane 4 c + `thread`. */
#include "engine/sim/exec/tensor/mma_kind.h"

#include "engine/sim/exec/lanes/soft.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/operand.h"

#include <math.h>

static void load_part(struct exec_warp *w, const struct exec_part *p, bool packed, bool of_b)
{
    struct mat_read r = { .to = w->k->tensor.factors, .type = p->type, .of_b = of_b };
    unsigned bits = mat_bits(p->type), size = packed ? 4 : 8, per = 32 / size;
    for (unsigned i = 0; i < p->n; i++)
        for (uint32_t lane = 0; lane < WARP_LANES; lane++)
            for (unsigned e = 0; e < per; e++) {
                uint32_t v = (uint32_t)lane_read(w, p->slot[i], lane, 4) >> e * size;
                if (!packed && bits == 4)
                    v >>= 2;
                mat_put(&r, lane / 4 + (of_b ? 0 : 8 * (i & 1)),
                        lane % 4 * per + e + 4 * per * (of_b ? i : i >> 1), v & ((1u << bits) - 1));
            }
}

static double factor(const struct exec_warp *w, const struct exec_mma_kind *x,
                     const struct exec_scale *s, uint32_t lane, unsigned j)
{
    unsigned byte = (unsigned)lane_read(w, s->byte, 0, 4) & 3;
    uint32_t v = (uint32_t)lane_read(w, s->data, lane, 4) >> 8 * ((byte + j) & 3) & 255;
    if (x->ue4m3)
        return soft_to_double(v & 127, soft_format_of(PTX_T_E4M3));
    return v == 255 ? NAN : ldexp(1, (int)v - 127);
}

/* Element (row, col) of the result from the accumulator c. */
static float element(const struct exec_warp *w, const struct exec_mma_kind *x, unsigned row,
                     unsigned col, float c)
{
    const struct mat_factors *f = w->k->tensor.factors;
    unsigned k = x->m.shape[2], per = x->scales ? k / x->scales : k, at = dot_column(col);
    double p[DOT_K], by = 1;
    int32_t e[DOT_K], more = 0;
    for (unsigned i = 0; i < k; i++) {
        if (x->scales && i % per == 0) {
            uint32_t ta = (uint32_t)lane_read(w, x->a.thread, 0, 4) & 1,
                     tb = (uint32_t)lane_read(w, x->b.thread, 0, 4) & 3;
            double a = factor(w, x, &x->a, 4 * (row % 8) + 2 * ta + row / 8, i / per),
                   b = factor(w, x, &x->b, 4 * col + tb, i / per);
            by = a * b;
            more = by == 0 || isnan(by) ? DOT_NONE : ilogb(a) + ilogb(b);
        }
        p[i] = (double)f->a[i][row] * f->b[i][at] * by;
        e[i] = f->ea[i][row] + f->eb[i][at] + more;
    }
    return dot_terms(&x->m.model, k, p, e, c);
}

static float old_value(struct exec_warp *w, const struct exec_part *c, unsigned i, uint32_t lane)
{
    uint32_t v = (uint32_t)lane_read(w, c->slot[c->type == PTX_T_F16 ? i / 2 : i], lane, 4);
    if (c->type == PTX_T_F16)
        return (float)soft_to_double(v >> 16 * (i & 1) & 0xffff, soft_format_of(PTX_T_F16));
    return (float)soft_to_double(v, soft_format_of(PTX_T_F32));
}

static void put_value(struct exec_warp *w, const struct exec_part *d, unsigned i, uint32_t lane, float v)
{
    uint32_t slot = d->slot[d->type == PTX_T_F16 ? i / 2 : i];
    const struct soft_format *f = soft_format_of(d->type == PTX_T_F16 ? PTX_T_F16 : PTX_T_F32);
    uint32_t bits = (uint32_t)soft_round(v, f, SOFT_RN, false);
    if (slot == EXEC_NO_ID)
        return;
    if (d->type == PTX_T_F16) {
        uint32_t old = (uint32_t)lane_read(w, slot, lane, 4);
        bits = i & 1 ? (old & 0xffff) | bits << 16 : (old & 0xffff0000u) | bits;
    }
    lane_write(w, slot, lane, 4, bits);
}

void exec_mma_kind(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_mma_kind *x = in->x;
    float v[4][WARP_LANES];
    if (!exec_mma_ready(w, in, mask))
        return;
    load_part(w, &x->m.part[1], x->m.shape[2] == 64, false);
    load_part(w, &x->m.part[2], x->m.shape[2] == 64, true);
    for (unsigned i = 0; i < 4; i++)
        for (uint32_t lane = 0; lane < WARP_LANES; lane++)
            v[i][lane] = element(w, x, lane / 4 + 8 * (i >> 1), 2 * (lane % 4) + (i & 1),
                                 old_value(w, &x->m.part[3], i, lane));
    for (unsigned i = 0; i < 4; i++)
        for (uint32_t lane = 0; lane < WARP_LANES; lane++)
            put_value(w, &x->m.part[0], i, lane, v[i][lane]);
}
