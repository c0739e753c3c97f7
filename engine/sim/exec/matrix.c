/* Matrix instructions (9.7.14): fragments to matrices, products, fragments again.
 *
 * mma fragments have the layout of the ISA, which for every shape but m8n8k4 of f16 is: with E
 * elements per register, g = lane / 4 and t = lane % 4,
 *   A: register r, element e:  row g + 8 (r & 1), column t E + e + 4 E (r >> 1)   (8 rows: no r & 1)
 *   B: register r, element e:  row t E + e + 4 E r, column g
 *   C: value c:                row g + 8 (c >> 1), column 2 t + (c & 1)
 * wmma fragments are opaque: element j of lane l is element l n + j of the matrix, row by row.
 * Those of narrow floats that tensor cores sum in their own way are in tensor/. */
#include "engine/ptx/op_enum.h"
#include "engine/sim/exec/access.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/lanes/soft.h"
#include "engine/sim/exec/slots.h"

#include <math.h>
#include <string.h>

#define MAX_M 32u
#define MAX_K 256u
/* Values of a matrix: floats as double, integers as int32 in a double (exact). */
struct matrix {
    double v[MAX_M * MAX_K];
    unsigned cols;
};

static double value_of(uint64_t bits, enum ptx_type t)
{
    const struct soft_format *f = soft_format_of(t);
    unsigned up = 64 - ptx_type_bits(t);
    if (t == PTX_T_TF32) /* any f32 pattern is accepted; the low 13 bits are not looked at */
        return soft_to_double(bits & 0xffffe000u, soft_format_of(PTX_T_F32));
    if (f)
        return soft_to_double(bits, f);
    return ptx_type_kind(t) == 's' ? (double)((int64_t)(bits << up) >> up) : (double)(bits << up >> up);
}
static unsigned element_bits(enum ptx_type t)
{
    return t == PTX_T_TF32 ? 32 : ptx_type_bits(t);
}

static uint64_t part_get(struct exec_warp *w, const struct exec_part *p, uint32_t lane, unsigned j)
{
    unsigned bits = element_bits(p->type), per = 8u * p->bytes / bits;
    uint64_t r = lane_read(w, p->slot[j / per], lane, p->bytes);
    return bits == 64 ? r : r >> (j % per) * bits & ((1ull << bits) - 1);
}
static void part_put(struct exec_warp *w, const struct exec_part *p, uint32_t lane, unsigned j,
                     uint64_t v)
{
    unsigned bits = element_bits(p->type), per = 8u * p->bytes / bits;
    uint32_t slot = p->slot[j / per];
    if (slot == EXEC_NO_ID)
        return;
    uint64_t r = lane_read(w, slot, lane, p->bytes),
             keep = bits == 64 ? UINT64_MAX : ((1ull << bits) - 1) << (j % per) * bits;
    lane_write(w, slot, lane, p->bytes, (r & ~keep) | (v << (j % per) * bits & keep));
}

static uint64_t result_bits(const struct exec_mma *x, double v, enum ptx_type t)
{
    if (t == PTX_T_S32) {
        if (x->finite)
            v = v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : v;
        return (uint32_t)(int64_t)v;
    }
    return soft_round(v, soft_format_of(t), SOFT_RN, x->finite);
}

/* d = a b + c for one element. */
static double dot(const struct exec_mma *x, const struct matrix *a, const struct matrix *b, unsigned row,
                  unsigned col, double c)
{
    unsigned depth = x->shape[2];
    double sum = x->part[1].type == PTX_T_F64 ? c : 0;
    for (unsigned k = 0; k < depth; k++) {
        double u = a->v[row * a->cols + k], v = b->v[k * b->cols + col];
        if (x->part[1].type == PTX_T_F64)
            sum = fma(u, v, sum);
        else if (x->part[1].type == PTX_T_B1)
            sum += x->xor_popc ? u != v : u * v;
        else
            sum += u * v;
    }
    return x->part[1].type == PTX_T_F64 ? sum : sum + c;
}

/* ---- mma ---- */
static void mma_load_ab(struct exec_warp *w, const struct exec_mma *x, struct matrix *a,
                        struct matrix *b)
{
    const struct exec_part *pa = &x->part[1], *pb = &x->part[2];
    unsigned ea = 8u * pa->bytes / element_bits(pa->type), eb = 8u * pb->bytes / element_bits(pb->type),
             two = x->shape[0] == 16;
    a->cols = x->shape[2];
    b->cols = x->shape[1];
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        unsigned g = lane / 4, t = lane % 4;
        for (unsigned r = 0; r < pa->n; r++)
            for (unsigned e = 0; e < ea; e++)
                a->v[(g + (two ? 8 * (r & 1) : 0)) * a->cols + t * ea + e +
                     4 * ea * (two ? r >> 1 : r)] =
                    value_of(part_get(w, pa, lane, r * ea + e), pa->type);
        for (unsigned r = 0; r < pb->n; r++)
            for (unsigned e = 0; e < eb; e++)
                b->v[(t * eb + e + 4 * eb * r) * b->cols + g] =
                    value_of(part_get(w, pb, lane, r * eb + e), pb->type);
    }
}

void exec_product_skip(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    (void)mask;
    exec_count_product(w, in);
}

void exec_mma(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_mma *x = in->x;
    exec_count_product(w, in);
    struct matrix a, b;
    uint64_t out[WARP_LANES][4];
    unsigned n = x->shape[0] == 16 ? 4 : 2;
    mma_load_ab(w, x, &a, &b);
    FOR_LANES(lane, mask)
    for (unsigned c = 0; c < n; c++) {
        unsigned row = lane / 4 + 8 * (c >> 1), col = 2 * (lane % 4) + (c & 1);
        out[lane][c] = result_bits(
            x, dot(x, &a, &b, row, col, value_of(part_get(w, &x->part[3], lane, c), x->part[3].type)),
            x->part[0].type);
    }
    FOR_LANES(lane, mask)
    for (unsigned c = 0; c < n; c++)
        part_put(w, &x->part[0], lane, c, out[lane][c]);
}

/* ---- wmma ---- */
static void wmma_get(struct exec_warp *w, const struct exec_part *p, struct matrix *m, unsigned rows,
                     unsigned cols)
{
    unsigned n = rows * cols / WARP_LANES;
    m->cols = cols;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        for (unsigned j = 0; j < n; j++)
            m->v[lane * n + j] = value_of(part_get(w, p, lane, j), p->type);
}

void exec_wmma_mma(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_mma *x = in->x;
    exec_count_product(w, in);
    struct matrix a, b, c;
    unsigned rows = x->shape[0], cols = x->shape[1], n = rows * cols / WARP_LANES;
    wmma_get(w, &x->part[1], &a, rows, x->shape[2]);
    wmma_get(w, &x->part[2], &b, x->shape[2], cols);
    wmma_get(w, &x->part[3], &c, rows, cols);
    FOR_LANES(lane, mask)
    for (unsigned j = 0; j < n; j++) {
        unsigned at = lane * n + j;
        part_put(w, &x->part[0], lane, j,
                 result_bits(x, dot(x, &a, &b, at / cols, at % cols, c.v[at]), x->part[0].type));
    }
}

/* Rows and columns of the matrix a fragment holds: a is M x K, b is K x N, c and d are M x N. */
static void wmma_dims(const struct exec_mma *x, unsigned *rows, unsigned *cols)
{
    *rows = x->op == PTX_OP_WMMA_LOAD_B ? x->shape[2] : x->shape[0];
    *cols = x->op == PTX_OP_WMMA_LOAD_A ? x->shape[2] : x->shape[1];
}

/* Host pointers of element j of every lane; elements narrower than a byte share one. */
static bool wmma_resolve(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, unsigned j,
                         uint64_t p[WARP_LANES], unsigned bit[WARP_LANES])
{
    const struct exec_mma *x = in->x;
    unsigned rows, cols, bits = element_bits(x->part[0].type);
    uint64_t base[WARP_LANES], a[WARP_LANES];
    wmma_dims(x, &rows, &cols);
    unsigned n = rows * cols / WARP_LANES;
    exec_addresses(w, in->a, in->flags & EXEC_F_BASE64, in->imm, base);
    for (uint32_t lane = 0; lane < WARP_LANES; lane++) {
        unsigned at = lane * n + j, row = at / cols, col = at % cols;
        uint64_t ld =
            x->stride == EXEC_NO_ID ? (x->column ? rows : cols) : lane_read(w, x->stride, lane, 4);
        uint64_t off = (x->column ? col * ld + row : row * ld + col) * bits;
        a[lane] = base[lane] + off / 8;
        bit[lane] = (unsigned)(off % 8);
    }
    bool recording = w->recording;
    w->recording = recording && j == 0;
    bool ok = exec_resolve_at(w, in, mask, in->space, in->bytes,
                              x->op == PTX_OP_WMMA_STORE_D ? ACCESS_STORE : ACCESS_LOAD, a, p);
    w->recording = recording;
    return ok;
}

void exec_wmma_load(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_mma *x = in->x;
    unsigned rows, cols, bits = element_bits(x->part[0].type), bit[WARP_LANES];
    uint64_t p[WARP_LANES];
    wmma_dims(x, &rows, &cols);
    if (in->load_id != EXEC_NO_ID) {
        w->k->loads[in->load_id].executions++;
        w->k->loads[in->load_id].threads += (uint32_t)__builtin_popcount(mask);
    }
    for (unsigned j = 0; j < rows * cols / WARP_LANES; j++) {
        if (!wmma_resolve(w, in, mask, j, p, bit))
            return;
        FOR_LANES(lane, mask)
        {
            uint64_t v = 0;
            memcpy(&v, (const void *)(uintptr_t)p[lane], in->bytes);
            part_put(w, &x->part[0], lane, j, bits < 8 ? v >> bit[lane] : v);
        }
    }
}

void exec_wmma_store(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_mma *x = in->x;
    unsigned rows, cols, bit[WARP_LANES];
    uint64_t p[WARP_LANES];
    wmma_dims(x, &rows, &cols);
    for (unsigned j = 0; j < rows * cols / WARP_LANES; j++) {
        if (!wmma_resolve(w, in, mask, j, p, bit))
            return;
        FOR_LANES(lane, mask)
        {
            uint64_t v = part_get(w, &x->part[0], lane, j);
            memcpy((void *)(uintptr_t)p[lane], &v, in->bytes);
        }
    }
}

/* ---- ldmatrix, stmatrix: 8x8 matrices of 16-bit elements; lane 8 j + r gives row r of matrix j ---- */
static uint32_t all_givers(const struct exec_inst *in)
{
    const struct exec_mma *x = in->x;
    return x->part[0].n >= 4 ? EXEC_FULL : (1u << 8 * x->part[0].n) - 1;
}

static uint32_t row_givers(const struct exec_inst *in, uint32_t mask)
{
    uint32_t givers = all_givers(in);
    return mask & givers ? mask & givers : mask;
}

static bool rows_resolve(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                         enum exec_access_kind kind, uint64_t p[WARP_LANES])
{
    uint64_t a[WARP_LANES];
    uint32_t missing = all_givers(in) & ~mask;
    if (missing) {
        exec_fault(w, in, (uint32_t)__builtin_ctz(mask), FAULT_UNIFORM,
                   "lane %u gives a row of a matrix, and is not there: the whole warp must execute it",
                   (unsigned)__builtin_ctz(missing));
        return false;
    }
    exec_addresses(w, in->a, in->flags & EXEC_F_BASE64, in->imm, a);
    return exec_resolve_at(w, in, row_givers(in, mask), in->space, 16, kind, a, p);
}

/* Registers of which some lanes alone are written. */
static void spread_rows(struct exec_warp *w, const struct exec_mma *x, uint32_t mask,
                        uint32_t m[4][WARP_LANES])
{
    for (unsigned j = 0; j < x->part[0].n; j++)
        FOR_LANES(lane, mask)
    lane_write(w, x->part[0].slot[j], lane, 4, m[j][lane]);
}

void exec_ldmatrix(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_mma *x = in->x;
    uint64_t p[WARP_LANES];
    uint32_t m[4][WARP_LANES];
    if (!rows_resolve(w, in, mask, ACCESS_LOAD, p))
        return;
    for (unsigned j = 0; j < x->part[0].n; j++) {
        uint32_t slot = x->part[0].slot[j],
                 *to = mask == EXEC_FULL && slot != EXEC_NO_ID ? slot_at(w, slot) : m[j];
        const uint8_t *run[8];
        for (unsigned r = 0; r < 8; r++)
            run[r] = (const uint8_t *)(uintptr_t)p[j * 8 + r];
        for (unsigned r = 0; !x->column && r < 8; r++)
            memcpy(to + 4 * r, run[r], 16);
        if (x->column)
            w->x->p->dots->turn(run, to);
    }
    if (mask != EXEC_FULL)
        spread_rows(w, x, mask, m);
}

void exec_ldmatrix_place(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t p[WARP_LANES];
    rows_resolve(w, in, mask, ACCESS_LOAD, p);
}

void exec_rows_place(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    exec_place(w, in, row_givers(in, mask));
}

void exec_stmatrix(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_mma *x = in->x;
    uint64_t p[WARP_LANES];
    uint16_t m[4][8][8];
    if (!rows_resolve(w, in, mask, ACCESS_STORE, p))
        return;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        for (unsigned j = 0; j < x->part[0].n; j++) {
            uint32_t v = (uint32_t)lane_read(w, x->part[0].slot[j], lane, 4);
            unsigned r = lane / 4, c = lane % 4 * 2;
            for (unsigned k = 0; k < 2; k++)
                *(x->column ? &m[j][c + k][r] : &m[j][r][c + k]) = (uint16_t)(v >> 16 * k);
        }
    for (unsigned j = 0; j < x->part[0].n; j++)
        for (unsigned r = 0; r < 8; r++)
            memcpy((void *)(uintptr_t)p[j * 8 + r], m[j][r], 16);
}
