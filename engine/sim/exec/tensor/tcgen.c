/* tcgen05.mma (9.7.16.10): D = A B + D, D in tensor memory, B in shared memory, A in either. One thread
 * asks for it; it is made when it is issued.
 *
 * Row r and column c of a CTA's part of D, from the address of D on (9.7.16.10.5):
 *   128 rows                       lane r, column c
 *   64 rows                        lane 32 (r / 16) + r % 16, column c
 *   64 rows, .ws or a pair of CTAs  lane r + 64 (c / (N / 2)), column c % (N / 2)
 *   32 rows                        lane r + 32 (c / (N / 4)), column c % (N / 4)
 * The first CTA of a pair has the first half of the rows; each brings half of B. Scale factor j of row r
 * of A is byte id + j of lane 32 p + r % 32, column r / 32, for every p; those of B's columns alike. */
#include "engine/sim/exec/tensor/tcgen.h"

#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/lanes/soft.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/operand.h"
#include "engine/sim/exec/tensor/tmem.h"

#include <math.h>
#include <string.h>

#define WORDS (DOT_N / 2) /* accumulators of a lane, as dot.h has them */

struct product {
    struct exec_warp *w;
    const struct exec_inst *in;
    const struct exec_tcgen *x;
    uint32_t lane; /* the thread that asks */
    uint32_t idesc;
    unsigned m, n, k; /* m: rows of one CTA */
    uint8_t type_a, type_b;
    uint8_t type_d;
    struct exec_cta *cta[2];
    unsigned nctas;
    struct dot_model model;
    struct tmem *tmem; /* of the CTA at hand */
    uint32_t d;        /* address of D */
    float acc[WORDS][WARP_LANES];
    void *reg[WORDS];
};

static bool refuse(const struct product *p, const char *why, unsigned v)
{
    exec_fault(p->w, p->in, p->lane, FAULT_ARG,
               "tcgen05.mma with instruction descriptor 0x%08x: %s %u\n"
               "PTX ISA, tcgen05 instruction descriptor, has the meaning of its bits",
               p->idesc, why, v);
    return false;
}

/* ---- the instruction descriptor (9.7.16.4.2) ---- */
static const uint8_t depth[] = {
    [TCGEN_F16] = 16,      [TCGEN_TF32] = 8,  [TCGEN_F8F6F4] = 32, [TCGEN_I8] = 32,
    [TCGEN_MXF8F6F4] = 32, [TCGEN_MXF4] = 64, [TCGEN_NVF4] = 64
};

static uint8_t type_of(uint8_t kind, unsigned field)
{
    static const uint8_t none = PTX_T_NONE;
    static const uint8_t floats[8] = { PTX_T_F16, PTX_T_BF16 }, words[8] = { [2] = PTX_T_TF32 },
                         narrow[8] = { PTX_T_E4M3, PTX_T_E5M2, none, PTX_T_E2M3,
                                       PTX_T_E3M2, PTX_T_E2M1, none, none },
                         whole[8] = { PTX_T_U8, PTX_T_S8 }, fours[8] = { [1] = PTX_T_E2M1 };
    static const uint8_t *const of[] = {
        [TCGEN_F16] = floats,      [TCGEN_TF32] = words, [TCGEN_F8F6F4] = narrow, [TCGEN_I8] = whole,
        [TCGEN_MXF8F6F4] = narrow, [TCGEN_MXF4] = fours, [TCGEN_NVF4] = fours
    };
    return of[kind][field];
}

static bool shape_fits(const struct product *p, unsigned m)
{
    bool pair = p->x->pair, ws = p->x->ws;
    unsigned step = pair || m == 128 ? 16 : 8;
    if (pair ? m != 128 && m != 256 : ws ? m != 32 && m != 64 && m != 128 : m != 64 && m != 128)
        return refuse(p, "no shape of this instruction has M", m);
    if (p->x->scales && m == 64)
        return refuse(p, "no shape with block scaling has M", m);
    if (ws ? p->n != 64 && p->n != 128 && p->n != 256 : !p->n || p->n > 256 || p->n % step)
        return refuse(p, "no shape of this instruction has N", p->n);
    return true;
}

static bool read_shape(struct product *p)
{
    uint32_t i = p->idesc;
    unsigned m = (i >> 24 & 31) << 4, d = i >> 4 & 3;
    p->n = (i >> 17 & 63) << 3;
    p->k = depth[p->x->kind];
    p->type_a = type_of(p->x->kind, i >> 7 & 7);
    p->type_b = type_of(p->x->kind, i >> 10 & 7);
    p->type_d = p->x->kind == TCGEN_I8 ? PTX_T_S32 : p->x->scales || d == 1 ? PTX_T_F32 : PTX_T_F16;
    if (p->type_a == PTX_T_NONE || p->type_b == PTX_T_NONE)
        return refuse(p, "not a valid type of A or B:", i >> 7 & 63);
    if (!p->x->scales && d != (p->x->kind == TCGEN_I8 ? 2u : 1u) &&
        !(d == 0 && (p->x->kind == TCGEN_F16 || p->x->kind == TCGEN_F8F6F4)))
        return refuse(p, "not a valid type of D:", d);
    if (i & 4)
        return refuse(p, "a sparse A needs .sp:", 1);
    if (p->x->scales && i >> 31)
        return refuse(p, "K = 96 is not modelled, bit", 31);
    p->m = m >> p->x->pair;
    return shape_fits(p, m);
}

/* ---- factors ---- */
static struct mat_read reader(const struct product *p, unsigned cta, bool of_b)
{
    uint8_t type = of_b ? p->type_b : p->type_a;
    return (struct mat_read){ .w = p->w,
                              .in = p->in,
                              .cta = p->cta[cta],
                              .to = p->w->k->tensor.factors,
                              .type = type,
                              .major_mn = p->idesc >> (of_b ? 16 : 15) & 1,
                              .of_b = of_b,
                              .negated = p->idesc >> (of_b ? 14 : 13) & 1,
                              .narrow = mat_bits(type) >= 8 ? 0
                                        : p->k == 64        ? 32
                                                            : 16,
                              .k = p->k };
}

static bool load_b(struct product *p)
{
    for (unsigned c = 0; c < p->nctas; c++) {
        struct mat_read r = reader(p, c, true);
        r.rows = p->n / p->nctas;
        r.place = c * r.rows;
        if (!mat_desc5_of(p->w, p->in, lane_read(p->w, p->x->desc_b, p->lane, 8), &r.desc) ||
            !mat_load(&r))
            return false;
    }
    return true;
}

struct place {
    unsigned lane, column;
};
static struct place place_of(const struct product *p, unsigned row, unsigned col)
{
    unsigned wide = p->m == 32 ? p->n / 4 : p->n / 2;
    if (p->m == 128)
        return (struct place){ row, col };
    if (p->m == 64 && !p->x->ws && !p->x->pair)
        return (struct place){ row / 16 * 32 + row % 16, col };
    return (struct place){ row + p->m * (col / wide), col % wide };
}

/* Elements of a row of A in tensor memory lie side by side, narrow ones in bytes of their own. */
static void a_from_tmem(struct product *p, const struct mat_read *r, uint32_t at)
{
    unsigned bits = mat_bits(p->type_a), size = p->k == 64 ? 4 : bits < 8 ? 8 : bits, per = 32 / size;
    for (unsigned row = 0; row < DOT_ROWS; row++) {
        const uint32_t *from = p->tmem->word[(at >> 16) + place_of(p, r->first + row, 0).lane];
        for (unsigned k = 0; k < p->k; k++) {
            uint32_t v = from[(at & 0xffff) + k / per] >> k % per * size;
            if (size == 8 && bits == 4)
                v >>= 2;
            mat_put(r, row, k, bits == 32 ? v : v & ((1u << bits) - 1));
        }
    }
}

static bool load_a(struct product *p, unsigned cta, unsigned first)
{
    struct mat_read r = reader(p, cta, false);
    r.first = first;
    r.rows = DOT_ROWS;
    if (p->x->a_tmem) {
        a_from_tmem(p, &r, (uint32_t)tmem_ref(p->w, &p->x->a, p->lane));
        return true;
    }
    return mat_desc5_of(p->w, p->in, lane_read(p->w, p->x->desc_a, p->lane, 8), &r.desc) && mat_load(&r);
}

/* ---- D ---- */
static unsigned row_of(unsigned c, unsigned lane)
{
    return lane / 4 + 8 * (c / 2 % 2);
}
static unsigned col_of(unsigned c, unsigned lane)
{
    return 8 * (c / 4) + 2 * (lane % 4) + c % 2;
}
static uint32_t *word_of(const struct product *p, unsigned row, unsigned col)
{
    struct place at = place_of(p, row, col);
    return &p->tmem->word[(p->d >> 16) + at.lane][(p->d & 0xffff) + at.column];
}

static void begin_d(struct product *p, unsigned first, bool keep)
{
    for (unsigned c = 0; c < p->n / 2; c++)
        for (unsigned lane = 0; lane < WARP_LANES; lane++) {
            uint32_t v = keep ? *word_of(p, first + row_of(c, lane), col_of(c, lane)) : 0;
            if (p->type_d == PTX_T_F16)
                p->acc[c][lane] = (float)soft_to_double(v & 0xffff, soft_format_of(PTX_T_F16));
            else
                memcpy(&p->acc[c][lane], &v, 4);
            if (p->x->old_less && p->type_d != PTX_T_S32)
                p->acc[c][lane] = ldexpf(p->acc[c][lane], -p->x->old_less);
        }
}

/* Lanes of tensor memory that the mask names stay as they are. */
static bool masked(const struct product *p, unsigned cta, unsigned lane)
{
    unsigned i = lane / 32 + cta * 4;
    return i < p->x->nmask && lane_read(p->w, p->x->mask[i], p->lane, 4) >> lane % 32 & 1;
}

static void end_d(struct product *p, unsigned cta, unsigned first)
{
    for (unsigned c = 0; c < p->n / 2; c++)
        for (unsigned lane = 0; lane < WARP_LANES; lane++) {
            unsigned row = first + row_of(c, lane), col = col_of(c, lane);
            uint32_t v;
            memcpy(&v, &p->acc[c][lane], 4);
            if (p->type_d == PTX_T_F16)
                v = (uint32_t)soft_round(p->acc[c][lane], soft_format_of(PTX_T_F16), SOFT_RN, false);
            if (!masked(p, cta, (p->d >> 16) + place_of(p, row, col).lane))
                *word_of(p, row, col) = v;
        }
}

/* ---- block scaling (9.7.16.10.7) ---- */
/* Factor j of row or column i, as the lanes of part `part` have it. */
static double factor(const struct product *p, uint32_t at, unsigned part, unsigned i, unsigned id,
                     unsigned j)
{
    uint32_t word = p->tmem->word[32 * part + i % 32][(at & 0xffff) + i / 32], v = word >> 8 * (id + j);
    if (p->idesc >> 23 & 1) /* ue8m0 */
        return (v & 255) == 255 ? NAN : ldexp(1, (int)(v & 255) - 127);
    return soft_to_double(v & 127, soft_format_of(PTX_T_E4M3));
}

static float scaled(const struct product *p, unsigned first, unsigned row, unsigned col, float c)
{
    const struct mat_factors *f = p->w->k->tensor.factors;
    unsigned part = place_of(p, first + row, col).lane / 32, id_a = p->idesc >> 29 & 3,
             id_b = p->idesc >> 4 & 3, per = p->k / p->x->scales, at = dot_column(col);
    uint32_t sa = (uint32_t)tmem_ref(p->w, &p->x->scale_a, p->lane),
             sb = (uint32_t)tmem_ref(p->w, &p->x->scale_b, p->lane);
    double x[DOT_K], by = 0;
    int32_t e[DOT_K], more = 0;
    for (unsigned k = 0; k < p->k; k++) {
        if (k % per == 0) {
            double a = factor(p, sa, part, first + row, id_a, k / per),
                   b = factor(p, sb, part, col, id_b, k / per);
            by = a * b;
            more = by == 0 || isnan(by) ? DOT_NONE : ilogb(a) + ilogb(b);
        }
        x[k] = (double)f->a[k][row] * f->b[k][at] * by;
        e[k] = f->ea[k][row] + f->eb[k][at] + more;
    }
    return dot_terms(&p->model, p->k, x, e, c);
}

static void multiply_scaled(struct product *p, unsigned first)
{
    for (unsigned c = 0; c < p->n / 2; c++)
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            p->acc[c][lane] = scaled(p, first, row_of(c, lane), col_of(c, lane), p->acc[c][lane]);
}

/* ---- the instruction ---- */
static void multiply(struct product *p)
{
    struct dot_tile t = mat_tile(p->w->k->tensor.factors, p->n, p->k, p->reg, p->idesc >> 3 & 1);
    mat_multiply(p->w->x->p->dots, &p->model, &t, p->type_d);
}

static bool product_of_cta(struct product *p, unsigned cta, bool keep)
{
    p->tmem = p->cta[cta]->tmem;
    for (unsigned first = 0; first < p->m; first += DOT_ROWS) {
        if (!load_a(p, cta, first))
            return false;
        begin_d(p, first, keep);
        if (p->x->scales)
            multiply_scaled(p, first);
        else
            multiply(p);
        end_d(p, cta, first);
    }
    return true;
}

/* All of tensor memory that it touches is there. */
static bool places_fit(const struct product *p, const struct exec_cta *c)
{
    const struct exec_tcgen *x = p->x;
    unsigned lanes = p->m == 64 && !x->ws && !x->pair ? 112 : 128;
    bool halves = lanes == 112;
    if ((p->d >> 16) % (halves ? 16 : 128))
        return refuse(p, "D must start in another lane than", p->d >> 16);
    if (!tmem_check(p->w, p->in, p->lane, c, p->d, lanes, place_of(p, 0, p->n - 1).column + 1))
        return false;
    unsigned per = p->k == 64 ? 8 : mat_bits(p->type_a) <= 8 ? 4 : 32 / mat_bits(p->type_a);
    if (x->a_tmem && p->m < 128 && x->ws)
        return refuse(p, "with .ws, A in tensor memory is modelled for M = 128, not", p->m);
    if (x->a_tmem && !tmem_check(p->w, p->in, p->lane, c, (uint32_t)tmem_ref(p->w, &x->a, p->lane),
                                 lanes, p->k / per))
        return false;
    return !x->scales ||
           (tmem_check(p->w, p->in, p->lane, c, (uint32_t)tmem_ref(p->w, &x->scale_a, p->lane) & 0xffff,
                       128, (p->m + 31) / 32) &&
            tmem_check(p->w, p->in, p->lane, c, (uint32_t)tmem_ref(p->w, &x->scale_b, p->lane) & 0xffff,
                       128, (p->n + 31) / 32));
}

static bool find_ctas(struct product *p)
{
    p->nctas = p->x->pair ? 2 : 1;
    for (unsigned c = 0; c < p->nctas; c++) {
        p->cta[c] = p->x->pair ? tmem_pair(p->w->cta, c) : p->w->cta;
        if (!p->cta[c])
            return refuse(
                p, ".cta_group::2 in a cluster with an odd number of CTAs:", p->w->x->cluster_ctas);
        if (!places_fit(p, p->cta[c]))
            return false;
    }
    return true;
}

static bool make(struct product *p)
{
    if (!mat_room(p->w, p->in, p->lane))
        return false;
    p->d = (uint32_t)tmem_ref(p->w, &p->x->d, p->lane);
    p->model = p->x->model;
    p->idesc = (uint32_t)lane_read(p->w, p->x->idesc, p->lane, 4);
    if (!read_shape(p) || !find_ctas(p) || !load_b(p))
        return false;
    p->model.odd = p->type_d == PTX_T_F16;
    bool keep = pred_read(p->w, p->x->keep, p->x->scale_neg) >> p->lane & 1;
    for (unsigned c = 0; c < p->nctas; c++)
        if (!product_of_cta(p, c, keep))
            return false;
    return true;
}

void exec_tcgen(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    struct product p = { .w = w, .in = in, .x = in->x };
    for (unsigned c = 0; c < WORDS; c++)
        p.reg[c] = p.acc[c];
    FOR_LANES(i, mask)
    {
        p.lane = i;
        if (!make(&p))
            return;
    }
}
