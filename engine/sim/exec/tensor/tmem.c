/* Tensor memory (9.7.16.7 to 9.7.16.9): allocation, moves from and to registers, copies from shared
 * memory. All is done when it is issued.
 *
 * Thread t, register r of a move:
 *   32x32b    lane t, column r
 *   16x64b    lane t / 4 + 8 (t % 2), column 2 r + t / 2 % 2
 *   16x128b   lane t / 4 + 8 (r % 2), column 4 (r / 2) + t % 4
 *   16x256b   lane t / 4 + 8 (r / 2 % 2), column 8 (r / 4) + 2 (t % 4) + r % 2
 *   16x32bx2  lane t % 16, column r + split (t / 16) */
#include "engine/sim/exec/tensor/tmem.h"

#include "engine/ptx/ptx.h"
#include "engine/sim/exec/access.h"
#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/hostile.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/operand.h"

#include <math.h>
#include <string.h>

uint64_t tmem_ref(const struct exec_warp *w, const struct exec_ref *r, uint32_t lane)
{
    return lane_read(w, r->slot, lane, r->wide ? 8 : 4) + (uint64_t)(int64_t)r->imm;
}

struct exec_cta *tmem_pair(const struct exec_cta *c, unsigned rank)
{
    return c->x->cluster_ctas % 2 ? NULL : c->lead->peer[(c->rank & ~1u) + rank];
}

static uint32_t units_of(uint32_t first, uint32_t columns)
{
    uint32_t end = (first + columns + TMEM_UNIT - 1) / TMEM_UNIT, begin = first / TMEM_UNIT;
    return ((1u << end) - 1) & ~((1u << begin) - 1);
}

bool tmem_check(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, const struct exec_cta *c,
                uint32_t address, uint32_t lanes, uint32_t columns)
{
    uint32_t first = address & 0xffff, row = address >> 16;
    if (row + lanes > TMEM_LANES || first + columns > TMEM_COLUMNS) {
        exec_fault(
            w, in, lane, FAULT_BOUNDS,
            "tensor memory address 0x%08x: %u lanes from %u and %u columns from %u reach beyond "
            "128 lanes or 512 columns\nan address of tensor memory has the lane in its upper 16 bits",
            address, lanes, row, columns, first);
        return false;
    }
    uint32_t units = units_of(first, columns);
    if (!c->tmem || units & ~(uint32_t)c->tmem->owned) {
        exec_fault(w, in, lane, FAULT_BOUNDS,
                   "tensor memory address 0x%08x: columns %u to %u are not all allocated\n"
                   "allocate them with tcgen05.alloc, and use the address that it gives",
                   address, first, first + columns - 1);
        return false;
    }
    return true;
}

/* ---- allocation ---- */
static bool whole_warp(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (mask != EXEC_FULL)
        exec_fault(w, in, first_lane(mask), FAULT_UNIFORM,
                   "%s executed by part of a warp\nlet all 32 lanes execute it",
                   ptx_op_info(in->ptx->op)->name);
    return mask == EXEC_FULL;
}

static bool make(struct exec_warp *w, const struct exec_inst *in)
{
    struct exec_cta *c = w->cta;
    if (c->tmem)
        return true;
    c->tmem = base_alloc(sizeof *c->tmem);
    if (!c->tmem) {
        exec_fault(w, in, 0, FAULT_NOMEM, "out of memory for tensor memory");
        return false;
    }
    memset(c->tmem->word, exec_fresh(c->x, SIM_POISON_MEMORY), sizeof c->tmem->word);
    return true;
}

/* The number of columns; 0: wrong, told. */
static uint32_t columns_of(struct exec_warp *w, const struct exec_inst *in, uint32_t slot)
{
    uint32_t n = (uint32_t)lane_read(w, slot, 0, 4);
    bool good = n >= TMEM_UNIT && n <= TMEM_COLUMNS && !(n & (n - 1));
    if (!good)
        exec_fault(w, in, 0, FAULT_ARG,
                   "%u columns of tensor memory: not a power of two from 32 to 512\nround the number up",
                   n);
    return good ? n : 0;
}

void exec_tmem_alloc(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_tmem_alloc *x = in->x;
    uint32_t n, first = 0;
    if (!whole_warp(w, in, mask) || !(n = columns_of(w, in, x->columns)) || !make(w, in))
        return;
    struct tmem *m = w->cta->tmem;
    if (m->closed) {
        exec_fault(
            w, in, 0, FAULT_ARG,
            "tcgen05.alloc after tcgen05.relinquish_alloc_permit\nallocate before giving the permit up");
        return;
    }
    while (first + n <= TMEM_COLUMNS && units_of(first, n) & m->owned)
        first += TMEM_UNIT;
    if (first + n > TMEM_COLUMNS) {
        exec_fault(
            w, in, 0, FAULT_DEADLOCK,
            "tcgen05.alloc of %u columns waits: the CTA holds %u of 512 and none are side by side\n"
            "free columns with tcgen05.dealloc first",
            n, TMEM_UNIT * (unsigned)__builtin_popcount(m->owned));
        return;
    }
    uint64_t at[WARP_LANES] = { tmem_ref(w, &x->to, 0) }, p[WARP_LANES];
    if (!exec_resolve_at(w, in, 1, x->to.space, 4, ACCESS_STORE, at, p))
        return;
    m->owned |= (uint16_t)units_of(first, n);
    memcpy((void *)(uintptr_t)p[0], &first, 4);
}

void exec_tmem_dealloc(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_tmem_alloc *x = in->x;
    uint32_t n, at = (uint32_t)lane_read(w, x->address, 0, 4);
    if (!whole_warp(w, in, mask) || !(n = columns_of(w, in, x->columns)) ||
        !tmem_check(w, in, 0, w->cta, at, 1, n))
        return;
    w->cta->tmem->owned &= (uint16_t)~units_of(at & 0xffff, n);
}

void exec_tmem_close(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (whole_warp(w, in, mask) && make(w, in))
        w->cta->tmem->closed = true;
}

/* ---- registers ---- */
struct place {
    uint32_t lane, column;
};
static struct place place_of(const struct exec_tmem *x, uint32_t t, uint32_t r)
{
    switch (x->shape) {
    case TMEM_16X64B: return (struct place){ t / 4 + 8 * (t % 2), 2 * r + t / 2 % 2 };
    case TMEM_16X128B: return (struct place){ t / 4 + 8 * (r % 2), 4 * (r / 2) + t % 4 };
    case TMEM_16X256B:
        return (struct place){ t / 4 + 8 * (r / 2 % 2), 8 * (r / 4) + 2 * (t % 4) + r % 2 };
    case TMEM_16X32BX2: return (struct place){ t % 16, r + x->split * (t / 16) };
    default: return (struct place){ t, r };
    }
}

static uint32_t width_of(const struct exec_tmem *x)
{
    static const uint8_t columns[] = { [TMEM_32X32B] = 4, /* quarters of a column for a register */
                                       [TMEM_16X64B] = 8,
                                       [TMEM_16X128B] = 8,
                                       [TMEM_16X256B] = 8,
                                       [TMEM_16X32BX2] = 4 };
    return columns[x->shape] * (uint32_t)x->n / 4 + (x->shape == TMEM_16X32BX2 ? x->split : 0);
}

/* A warp reaches the 32 lanes of its number in the warpgroup. */
static bool may_move(struct exec_warp *w, const struct exec_inst *in, uint32_t at)
{
    const struct exec_tmem *x = in->x;
    uint32_t lanes = x->shape == TMEM_32X32B ? 32 : 16, lane = at >> 16;
    if (!tmem_check(w, in, 0, w->cta, at, lanes, width_of(x) << x->pack))
        return false;
    if (lane / 32 != w->index % 4 || lane % lanes) {
        exec_fault(w, in, 0, FAULT_ARG,
                   "warp %u reaches lanes %u to %u of tensor memory, in steps of %u, not lane %u\n"
                   "a warp moves the quarter of its number modulo 4",
                   w->index, w->index % 4 * 32, w->index % 4 * 32 + 31, lanes, lane);
        return false;
    }
    return true;
}

static double value_of(const struct exec_tmem *x, uint32_t v)
{
    float f;
    memcpy(&f, &v, 4);
    return x->red_type == PTX_T_F32   ? (double)(x->red_abs ? fabsf(f) : f)
           : x->red_type == PTX_T_S32 ? (double)(int32_t)v
                                      : (double)v;
}

/* Numbers win over NaN unless .NaN is there. */
static uint32_t reduced(const struct exec_tmem *x, uint32_t a, uint32_t b)
{
    double p = value_of(x, a), q = value_of(x, b);
    if (isnan(p) || isnan(q))
        return isnan(p) && isnan(q) ? 0x7fffffff : x->red_nan ? 0x7fffffff : isnan(p) ? b : a;
    return (x->red == TMEM_RED_MIN ? q < p : q > p) ? b : a;
}

static void reduce(struct exec_warp *w, const struct exec_tmem *x)
{
    for (uint32_t t = 0; t < WARP_LANES; t++) {
        uint32_t v = (uint32_t)lane_read(w, x->reg[0], t, 4);
        for (uint32_t r = 1; r < x->n; r++)
            v = reduced(x, v, (uint32_t)lane_read(w, x->reg[r], t, 4));
        if (x->red_type == PTX_T_F32 && x->red_abs)
            v &= 0x7fffffff;
        lane_write(w, x->red_dst, t, 4, v);
    }
}

void exec_tmem_move(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_tmem *x = in->x;
    uint32_t at = (uint32_t)tmem_ref(w, &x->at, first_lane(mask));
    if (!whole_warp(w, in, mask) || !may_move(w, in, at))
        return;
    for (uint32_t r = 0; r < x->n; r++)
        for (uint32_t t = 0; t < WARP_LANES; t++) {
            struct place p = place_of(x, t, r);
            uint32_t *c =
                         &w->cta->tmem->word[(at >> 16) + p.lane][(at & 0xffff) + (p.column << x->pack)],
                     v = x->store ? (uint32_t)lane_read(w, x->reg[r], t, 4) : 0;
            if (!x->store)
                lane_write(w, x->reg[r], t, 4, x->pack ? (c[0] & 0xffff) | c[1] << 16 : c[0]);
            else if (x->pack) {
                c[0] = v & 0xffff;
                c[1] = v >> 16;
            } else
                c[0] = v;
        }
    if (x->red)
        reduce(w, x);
}

/* ---- copies from shared memory ---- */
/* 16 elements of 4 or 6 bits, side by side, become bytes: 6 bits low, 4 bits in the middle. */
static void unpack(const struct exec_tmem_copy *x, const uint8_t *from, uint8_t to[16])
{
    if (!x->bits) {
        memcpy(to, from, 16);
        return;
    }
    for (unsigned i = 0; i < 16; i++) {
        unsigned bit = i * x->bits, v = from[bit / 8] | from[bit / 8 + 1] << 8;
        v = v >> bit % 8 & ((1u << x->bits) - 1);
        to[i] = (uint8_t)(x->bits == 4 ? v << 2 : v);
    }
}

static bool copy_into(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, struct exec_cta *c,
                      uint64_t desc)
{
    const struct exec_tmem_copy *x = in->x;
    uint32_t to = (uint32_t)tmem_ref(w, &x->to, lane);
    struct mat_read r = { .w = w, .in = in, .cta = c };
    if (!tmem_check(w, in, lane, c, to & 0xffff, TMEM_LANES, x->words) ||
        !mat_desc5_of(w, in, desc, &r.desc))
        return false;
    for (uint32_t i = 0; i < TMEM_LANES; i++)
        for (uint32_t k = 0; k < x->words; k += 4) {
            const uint8_t *from = mat_unit_at(&r, x->from_lane[i / 32] + i % 32, k * 4);
            if (!from)
                return false;
            unpack(x, from, (uint8_t *)&c->tmem->word[i][(to & 0xffff) + k]);
        }
    return true;
}

void exec_tmem_copy(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_tmem_copy *x = in->x;
    FOR_LANES(i, mask)
    for (unsigned p = 0; p < (x->pair ? 2u : 1u); p++) {
        struct exec_cta *c = x->pair ? tmem_pair(w->cta, p) : w->cta;
        if (!c) {
            exec_fault(w, in, i, FAULT_ARG,
                       ".cta_group::2 in a cluster of an odd number of CTAs\n"
                       "launch clusters of an even number");
            return;
        }
        if (!copy_into(w, in, i, c, lane_read(w, x->desc, i, 8)))
            return;
    }
}

/* Rows of 32 bytes go one lane down; the last is lost, the first stays. */
void exec_tmem_shift(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_tmem_copy *x = in->x;
    FOR_LANES(i, mask)
    {
        uint32_t at = (uint32_t)tmem_ref(w, &x->to, i), lane = at >> 16;
        if (lane % 32) {
            exec_fault(w, in, i, FAULT_ARG,
                       "tcgen05.shift from lane %u, not a multiple of 32\ncorrect the address", lane);
            return;
        }
        for (unsigned p = 0; p < (x->pair ? 2u : 1u); p++) {
            struct exec_cta *c = x->pair ? tmem_pair(w->cta, p) : w->cta;
            if (!c || !tmem_check(w, in, i, c, at, 32, x->words))
                return;
            for (uint32_t r = 31; r > 0; r--)
                memcpy(&c->tmem->word[lane + r][at & 0xffff], &c->tmem->word[lane + r - 1][at & 0xffff],
                       x->words * 4u);
        }
    }
}

/* ---- what an mbarrier is told ---- */
void exec_tmem_commit(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_tmem_commit *x = in->x;
    FOR_LANES(i, mask)
    {
        uint64_t bar = tmem_ref(w, &x->bar, i);
        uint32_t targets =
            x->targets == EXEC_NO_ID ? 0 : (uint32_t)lane_read(w, x->targets, i, 4) & 0xffff;
        if (x->targets == EXEC_NO_ID && !exec_mbar_arrive(w, in, i, bar))
            return;
        FOR_LANES(r, targets)
        if (!exec_mbar_arrive(w, in, i, (uint64_t)(r + 1) * CLUSTER_STEP + bar % CLUSTER_STEP))
            return;
    }
}
