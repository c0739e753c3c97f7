/* wgmma.mma_async (9.7.15.5): each warp of a warpgroup computes its 16 rows of the product.
 *
 *   A  64 x K: rows 16 (w % 4) on, from shared memory or registers (layout of mma's A)
 *   B  K x N: shared memory
 *   D  value c of lane l: row l / 4 + 8 (c / 2 % 2), column 8 (c / 4) + 2 (l % 4) + c % 2
 *
 * The product is made when it is issued. That registers and shared memory are not touched until it has
 * been waited for is checked apart (wgmma_watch.c). */
#include "engine/sim/exec/tensor/wgmma.h"

#include "engine/base/base.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/decoded.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/lanes/soft.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/dot.h"
#include "engine/sim/exec/tensor/operand.h"
#include "engine/sim/sim_int.h"

#include <math.h>
#include <string.h>

#define ROWS 16u /* of a warp */

/* Of one instruction of one warp. */
struct product {
    struct exec_warp *w;
    const struct exec_inst *in;
    const struct exec_wgmma *x;
    float a[ROWS][DOT_K], b[DOT_K][DOT_N], d[ROWS][DOT_N];
    int32_t ea[ROWS][DOT_K], eb[DOT_K][DOT_N];
};

/* The 16 bytes that hold element (mn, k), NULL: outside shared memory, told. */
static const uint8_t *unit_at(struct product *p, const struct mat_desc *m, unsigned bytes, bool mn_major,
                              unsigned mn, unsigned k)
{
    uint32_t a = mat_unit(m, bytes, mn_major, mn, k);
    if (a + 16ull <= p->w->x->shared_bytes)
        return p->w->cta->shared + a;
    exec_fault(p->w, p->in, 0, FAULT_BOUNDS,
               "a matrix descriptor (start 0x%x, leading %u, stride %u bytes) reaches shared address "
               "0x%x: the CTA has %u bytes of shared memory",
               m->start, m->lead, m->stride, a, p->w->x->shared_bytes);
    return NULL;
}

static uint32_t element(const uint8_t *unit, unsigned bytes, unsigned i)
{
    uint32_t v = 0;
    memcpy(&v, unit + i * bytes, bytes);
    return v;
}

/* ---- operands ---- */
static bool load_b(struct product *p)
{
    const struct exec_wgmma *x = p->x;
    struct mat_desc m = mat_desc_of(lane_read(p->w, x->desc_b, 0, 8));
    unsigned bytes = mat_bits(x->type_b) / 8, per = 16 / bytes;
    unsigned dn = x->mn_b ? per : 1, dk = x->mn_b ? 1 : per;
    for (unsigned n = 0; n < x->n; n += dn)
        for (unsigned k = 0; k < x->k; k += dk) {
            const uint8_t *u = unit_at(p, &m, bytes, x->mn_b, n, k);
            if (!u)
                return false;
            for (unsigned i = 0; i < per; i++) {
                unsigned kk = x->mn_b ? k : k + i, nn = x->mn_b ? n + i : n;
                if (nn >= x->n)
                    break;
                mat_value(x->type_b, element(u, bytes, i), &p->b[kk][nn], &p->eb[kk][nn]);
                p->b[kk][nn] = x->neg_b ? -p->b[kk][nn] : p->b[kk][nn];
            }
        }
    return true;
}

static void put_a(struct product *p, unsigned row, unsigned k, uint32_t bits)
{
    mat_value(p->x->type_a, bits, &p->a[row][k], &p->ea[row][k]);
    p->a[row][k] = p->x->neg_a ? -p->a[row][k] : p->a[row][k];
}

static bool shared_a(struct product *p, unsigned depth)
{
    const struct exec_wgmma *x = p->x;
    struct mat_desc m = mat_desc_of(lane_read(p->w, x->desc_a, 0, 8));
    unsigned bytes = mat_bits(x->type_a) / 8, per = 16 / bytes, first = p->w->index % 4 * ROWS;
    for (unsigned r = 0; r < ROWS; r += x->mn_a ? per : 1)
        for (unsigned k = 0; k < depth; k += x->mn_a ? 1 : per) {
            const uint8_t *u = unit_at(p, &m, bytes, x->mn_a, first + r, k);
            if (!u)
                return false;
            for (unsigned i = 0; i < per; i++)
                put_a(p, x->mn_a ? r + i : r, x->mn_a ? k : k + i, element(u, bytes, i));
        }
    return true;
}

static void register_a(struct product *p)
{
    const struct exec_wgmma *x = p->x;
    unsigned bits = mat_bits(x->type_a), per = 32 / bits;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        for (unsigned r = 0; r < x->na; r++)
            for (unsigned e = 0; e < per; e++) {
                uint32_t v = (uint32_t)lane_read(p->w, x->a[r], lane, 4) >> e * bits;
                put_a(p, lane / 4 + 8 * (r & 1), lane % 4 * per + e + 4 * per * (r >> 1),
                      bits == 32 ? v : v & ((1u << bits) - 1));
            }
}

static bool load_a(struct product *p)
{
    if (!p->x->na)
        return shared_a(p, p->x->k);
    register_a(p);
    return true;
}

/* ---- accumulators ---- */
static bool keeps_d(const struct product *p)
{
    return p->x->scale == EXEC_NO_ID || pred_read(p->w, p->x->scale, p->x->scale_neg) & 1;
}

static float half_value(uint32_t h)
{
    return (float)soft_to_double(h, soft_format_of(PTX_T_F16));
}

static void load_d(struct product *p)
{
    const struct exec_wgmma *x = p->x;
    bool keep = keeps_d(p), half = x->type_d == PTX_T_F16;
    for (unsigned c = 0; c < x->n / 2; c++)
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            uint32_t v = keep ? (uint32_t)lane_read(p->w, x->d[half ? c / 2 : c], lane, 4) : 0;
            float f;
            memcpy(&f, &v, 4);
            p->d[lane / 4 + 8 * (c / 2 % 2)][8 * (c / 4) + 2 * (lane % 4) + c % 2] =
                half ? half_value(v >> 16 * (c % 2) & 0xffff) : f;
        }
}

static uint32_t d_bits(const struct exec_wgmma *x, float v)
{
    uint32_t u;
    if (x->type_d == PTX_T_F16)
        return (uint32_t)soft_round(v, soft_format_of(PTX_T_F16), SOFT_RN, x->finite);
    memcpy(&u, &v, 4);
    return u;
}

static void store_d(struct product *p)
{
    const struct exec_wgmma *x = p->x;
    bool half = x->type_d == PTX_T_F16;
    for (unsigned c = 0; c < x->n / 2; c += half ? 2 : 1)
        for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
            const float *at = &p->d[lane / 4 + 8 * (c / 2 % 2)][8 * (c / 4) + 2 * (lane % 4) + c % 2];
            uint32_t v = d_bits(x, at[0]);
            lane_write(p->w, x->d[half ? c / 2 : c], lane, 4, half ? v | d_bits(x, at[1]) << 16 : v);
        }
}

static bool allowed(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const char *why = mask != EXEC_FULL ? "by part of a warp"
                      : w->index / 4 * 4 + 4 > w->cta->nwarps
                          ? "by a CTA whose warps are no whole warpgroup"
                          : NULL;
    if (why)
        exec_fault(w, in, first_lane(mask), FAULT_UNIFORM, "wgmma executed %s", why);
    return !why;
}

void exec_wgmma(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (!allowed(w, in, mask))
        return;
    struct product *p = base_alloc(sizeof *p);
    if (!p) {
        exec_fault(w, in, 0, FAULT_NOMEM, "out of memory for a matrix product");
        return;
    }
    p->w = w;
    p->in = in;
    p->x = in->x;
    if (load_b(p) && load_a(p)) {
        struct dot_model model = { 16, 25 };
        struct dot_tile t = { .rows = ROWS,
                              .n = p->x->n,
                              .k = p->x->k,
                              .a = p->a[0],
                              .ea = p->ea[0],
                              .b = p->b[0],
                              .eb = p->eb[0],
                              .d = p->d[0] };
        load_d(p);
        dot_pick()(&model, &t);
        store_d(p);
    }
    base_free(p);
}
