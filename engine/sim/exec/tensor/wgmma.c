/* wgmma.mma_async (9.7.15.5): each warp of a warpgroup computes its 16 rows of the product.
 *
 *   A  64 x K: rows 16 (w % 4) on, from shared memory or registers (layout of mma's A)
 *   B  K x N: shared memory
 *   D  64 x N: registers (dot.h)
 *
 * The product is made when it is issued. That registers are not touched until it has been waited for is
 * checked apart (watch.c). */
#include "engine/sim/exec/tensor/flight.h"
#include "engine/sim/exec/tensor/wgmma.h"

#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/meet.h"

#include <string.h>

/* State of one instruction of one warp. */
struct product {
    struct exec_warp *w;
    const struct exec_inst *in;
    const struct exec_wgmma *x;
    void *reg[WGMMA_REGS];              /* accumulators of 32 bits */
    float wide[WGMMA_REGS][WARP_LANES]; /* of f16 results, widened */
};

static struct mat_desc descriptor(const struct product *p, bool of_b)
{
    if (!of_b && p->x->na)
        return (struct mat_desc){ 0 };
    return mat_desc_of(lane_read(p->w, of_b ? p->x->desc_b : p->x->desc_a, 0, 8));
}

static struct mat_read reader(const struct product *p, bool of_b)
{
    const struct exec_wgmma *x = p->x;
    return (struct mat_read){ .w = p->w,
                              .cta = p->w->cta,
                              .in = p->in,
                              .to = p->w->k->tensor.factors,
                              .desc = descriptor(p, of_b),
                              .type = of_b ? x->type_b : x->type_a,
                              .major_mn = of_b ? x->mn_b : x->mn_a,
                              .of_b = of_b,
                              .negated = of_b ? x->neg_b : x->neg_a,
                              .first = of_b ? 0 : p->w->index % 4 * DOT_ROWS,
                              .rows = of_b ? x->n : DOT_ROWS,
                              .k = of_b || !x->sparse ? x->k : x->k / 2u };
}

static void register_a(struct product *p)
{
    struct mat_read r = reader(p, false);
    for (unsigned i = 0; i < p->x->na; i++)
        mat_put_register(&r, i, slot_at(p->w, p->x->a[i]));
}

static bool load_factors(struct product *p)
{
    const struct exec_wgmma *x = p->x;
    struct mat_read b = reader(p, true);
    if (!mat_load(&b))
        return false;
    if (x->na) {
        register_a(p);
    } else {
        struct mat_read a = reader(p, false);
        if (!mat_load(&a))
            return false;
    }
    if (x->sparse)
        mat_expand(p->w->k->tensor.factors, x->type_a, x->k, slot_at(p->w, x->meta), x->selector);
    return true;
}

/* ---- accumulators ---- */
static void widen(struct product *p)
{
    for (unsigned c = 0; c < p->x->n / 2u; c += 2)
        p->w->x->p->dots->widen(slot_at(p->w, p->x->d[c / 2]), p->wide[c], p->wide[c + 1]);
}

static void narrow(struct product *p)
{
    for (unsigned c = 0; c < p->x->n / 2u; c += 2)
        p->w->x->p->dots->narrow(p->wide[c], p->wide[c + 1], false, slot_at(p->w, p->x->d[c / 2]));
}

static void begin_d(struct product *p)
{
    const struct exec_wgmma *x = p->x;
    bool half = x->type_d == PTX_T_F16,
         keep = x->scale == EXEC_NO_ID || pred_read(p->w, x->scale, x->scale_neg) & 1;
    for (unsigned c = 0; !keep && c < x->nd; c++)
        memset(slot_at(p->w, x->d[c]), 0, WARP_LANES * 4);
    for (unsigned c = 0; c < x->n / 2u; c++)
        p->reg[c] = half ? (void *)p->wide[c] : slot_at(p->w, x->d[c]);
    if (half)
        widen(p);
}

/* ---- one bit: how many positions have both (.and.popc), k is 256 ---- */
static bool bits_of(const struct mat_read *r, unsigned mn, uint64_t v[4])
{
    for (unsigned h = 0; h < 2; h++) {
        uint32_t a = mat_unit(&r->desc, 1, false, r->first + mn, h * 16);
        if (a + 16ull > r->w->x->shared_bytes) {
            exec_fault(r->w, r->in, 0, FAULT_BOUNDS,
                       "a matrix descriptor reaches shared address 0x%x: the CTA has %u bytes of shared "
                       "memory\nthe descriptor has start, leading and stride in units of 16 bytes",
                       a, r->w->x->shared_bytes);
            return false;
        }
        flight_look(r->w, r->in, 0, r->w->cta, a, 16, false, true);
        if (r->w->cta->fault)
            return false;
        memcpy(v + 2 * h, r->w->cta->shared + a, 16);
    }
    return true;
}

static bool row_bits(struct product *p, const struct mat_read *a, unsigned row, uint64_t v[4])
{
    if (!p->x->na)
        return bits_of(a, row, v);
    uint32_t word[8];
    for (unsigned i = 0; i < 8; i++) /* word i of a row: lane i % 4, register row / 8 + 2 (i / 4) */
        word[i] = (uint32_t)lane_read(p->w, p->x->a[row / 8 + 2 * (i / 4)], row % 8 * 4 + i % 4, 4);
    memcpy(v, word, sizeof word);
    return true;
}

static void count_bits(struct product *p)
{
    struct mat_read a = reader(p, false), b = reader(p, true);
    uint64_t row[DOT_ROWS][4], col[4];
    for (unsigned r = 0; r < DOT_ROWS; r++)
        if (!row_bits(p, &a, r, row[r]))
            return;
    for (unsigned n = 0; n < p->x->n && bits_of(&b, n, col); n++)
        for (unsigned r = 0; r < DOT_ROWS; r++) {
            uint32_t *d = p->reg[n / 8 * 4 + 2 * (r / 8) + n % 2];
            for (unsigned i = 0; i < 4; i++)
                d[r % 8 * 4 + n % 8 / 2] += (uint32_t)__builtin_popcountll(row[r][i] & col[i]);
        }
}

/* ---- the instruction ---- */
static void multiply(struct product *p)
{
    const struct exec_wgmma *x = p->x;
    struct dot_tile t = mat_tile(p->w->k->tensor.factors, x->n, x->k, p->reg, x->finite);
    mat_multiply(p->w->x->p->dots, &x->model, &t, x->type_d);
}

static bool meet(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_wgmma *x = in->x;
    w->meet.desc[0] = x->na ? 0 : lane_read(w, x->desc_a, 0, 8);
    w->meet.desc[1] = lane_read(w, x->desc_b, 0, 8);
    bool met = exec_meet_all(w, in, mask);
    if (met)
        exec_count_product(w, in);
    return met;
}

void exec_wgmma_meet(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    meet(w, in, mask);
}

void exec_wgmma(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    struct product p = { .w = w, .in = in, .x = in->x };
    if (!meet(w, in, mask))
        return;
    if (!mat_room(w, in, 0))
        return;
    if (p.x->type_a == PTX_T_B1) {
        begin_d(&p);
        count_bits(&p);
        return;
    }
    if (!load_factors(&p))
        return;
    begin_d(&p);
    multiply(&p);
    if (p.x->type_d == PTX_T_F16)
        narrow(&p);
}
