/* atom and red (9.7.13.5, 9.7.13.6). Lanes go in order. When several host threads run CTAs, integer
 * operations on global memory are host atomics; the others make a launch run on one thread. */
#include "engine/sim/exec/access.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/lanes/math.h"
#include "engine/sim/exec/lanes/soft.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/sums.h"

static uint64_t combine_int(const struct exec_atom *x, uint64_t old, uint64_t v)
{
    unsigned up = 64 - 8u * x->bytes;
    uint64_t a = old << up, b = v << up;
    bool less = ptx_type_kind(x->type) == 's' ? (int64_t)a < (int64_t)b : a < b;
    switch (x->op) {
    case ATOM_ADD: return old + v;
    case ATOM_MIN: return less ? old : v;
    case ATOM_MAX: return less ? v : old;
    case ATOM_INC: return a >= b ? 0 : old + 1;
    case ATOM_DEC: return old == 0 || a > b ? v : old - 1;
    case ATOM_AND: return old & v;
    case ATOM_OR: return old | v;
    case ATOM_XOR: return old ^ v;
    default: return v;
    }
}

static double combine_double(uint8_t op, double a, double b)
{
    return op == ATOM_MIN ? min_f64(a, b) : op == ATOM_MAX ? max_f64(a, b) : soft_add(a, b);
}

static uint64_t combine_half(const struct exec_atom *x, enum ptx_type t, uint64_t old, uint64_t v)
{
    const struct soft_format *f = soft_format_of(t);
    return soft_round(
        combine_double(x->op, soft_to_double(old & 0xffff, f), soft_to_double(v & 0xffff, f)), f,
        SOFT_RN, false);
}

/* atom.add.f32 on global memory rounds to nearest and flushes subnormals; on shared memory it keeps
 * them. */
static uint64_t combine_f32(const struct exec_atom *x, uint64_t old, uint64_t v, bool flush)
{
    float a = f32_bits((uint32_t)old), b = f32_bits((uint32_t)v);
    if (x->op == ATOM_MIN || x->op == ATOM_MAX)
        return bits_f32(x->op == ATOM_MIN ? min_f32(a, b) : max_f32(a, b));
    return bits_f32(nan_f32(flush ? ftz(ftz(a) + ftz(b)) : a + b));
}

static uint64_t combine(const struct exec_atom *x, uint64_t old, uint64_t v, bool global)
{
    if (x->op == ATOM_EXCH || x->op == ATOM_AND || x->op == ATOM_OR || x->op == ATOM_XOR)
        return combine_int(x, old, v);
    switch (x->type) {
    case PTX_T_F32: return combine_f32(x, old, v, global);
    case PTX_T_F64:
        return bits_f64(x->op == ATOM_ADD ? f64_bits(old) + f64_bits(v)
                                          : combine_double(x->op, f64_bits(old), f64_bits(v)));
    case PTX_T_F16:
    case PTX_T_BF16: return combine_half(x, x->type, old, v);
    case PTX_T_F16X2:
        return combine_half(x, PTX_T_F16, old, v) | combine_half(x, PTX_T_F16, old >> 16, v >> 16) << 16;
    case PTX_T_BF16X2:
        return combine_half(x, PTX_T_BF16, old, v) | combine_half(x, PTX_T_BF16, old >> 16, v >> 16)
                                                         << 16;
    default: return combine_int(x, old, v);
    }
}

#define ATOM_LOOP(T)                                                                                    \
    {                                                                                                   \
        T *at = p, old = __atomic_load_n(at, __ATOMIC_RELAXED), now;                                    \
        do                                                                                              \
            now = x->op == ATOM_CAS ? (old == (T)cmp ? (T)v : old) : (T)combine(x, old, v, global);     \
        while (!__atomic_compare_exchange_n(at, &old, now, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)); \
        return old;                                                                                     \
    }
static uint64_t atom_shared_host(const struct exec_atom *x, void *p, uint64_t v, uint64_t cmp,
                                 bool global)
{
    switch (x->bytes) {
    case 2: ATOM_LOOP(uint16_t)
    case 4: ATOM_LOOP(uint32_t)
    default: ATOM_LOOP(uint64_t)
    }
}

uint64_t exec_atom_apply(const struct exec_atom *x, void *p, uint64_t v, uint64_t cmp, bool global)
{
    uint64_t old = 0, keep = x->bytes == 8 ? UINT64_MAX : (1ull << 8 * x->bytes) - 1;
    memcpy(&old, p, x->bytes);
    uint64_t now =
        x->op == ATOM_CAS ? (old == (cmp & keep) ? v : old) : combine(x, old, v & keep, global);
    memcpy(p, &now, x->bytes);
    return old;
}

void exec_atom_sum(struct sim_sums *s, const struct exec_atom *x, const void *at, uint64_t old,
                   uint64_t v, bool global)
{
    if (x->op != ATOM_ADD)
        return;
    switch (x->type) {
    case PTX_T_F64:
    case PTX_T_F32:
    case PTX_T_F16:
    case PTX_T_BF16:
    case PTX_T_F16X2:
    case PTX_T_BF16X2: sim_sums_add(s, at, x->type, old, v, global); break;
    default: break;
    }
}

void exec_atom(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_atom *x = in->x;
    uint64_t p[WARP_LANES];
    if (exec_resolve(w, in, mask, p) == MEM_FAULT)
        return;
    bool global = in->space != PTX_SPACE_SHARED, many = global && w->x->threads > 1;
    FOR_LANES(i, mask)
    for (unsigned k = 0; k < x->vec; k++) {
        uint64_t v = lane_read(w, x->src[k], i, x->reg_bytes);
        uint64_t cmp = x->op == ATOM_CAS ? lane_read(w, x->cmp, i, x->reg_bytes) : 0;
        void *at = (uint8_t *)(uintptr_t)p[i] + k * x->bytes;
        /* compare operand comes first: atom.cas d, [a], b, c */
        uint64_t old = x->op == ATOM_CAS ? (many ? atom_shared_host(x, at, cmp, v, global)
                                                 : exec_atom_apply(x, at, cmp, v, global))
                                         : (many ? atom_shared_host(x, at, v, 0, global)
                                                 : exec_atom_apply(x, at, v, 0, global));
        if (w->x->sums)
            exec_atom_sum(w->x->sums, x, at, old, v, global);
        if (x->returns)
            lane_write(w, x->dst[k], i, x->reg_bytes, old);
    }
}

/* exch and cas of 128 bits. Their results depend on the order of CTAs, so one host thread runs them. */
void exec_atom_wide(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_atom *x = in->x;
    uint64_t p[WARP_LANES];
    if (exec_resolve(w, in, mask, p) == MEM_FAULT)
        return;
    const uint64_t *first = slot_at(w, x->src[0]),
                   *second = x->op == ATOM_CAS ? slot_at(w, x->cmp) : first;
    FOR_LANES(i, mask)
    { /* atom.cas d, [a], b, c: b is compared, c stored */
        uint64_t old[2], now[2] = { second[i], second[WARP_LANES + i] };
        memcpy(old, (void *)(uintptr_t)p[i], 16);
        if (x->op != ATOM_CAS || (old[0] == first[i] && old[1] == first[WARP_LANES + i]))
            memcpy((void *)(uintptr_t)p[i], now, 16);
        if (x->returns && x->dst[0] != EXEC_NO_ID) {
            uint64_t *d = slot_at(w, x->dst[0]);
            d[i] = old[0];
            d[WARP_LANES + i] = old[1];
        }
    }
}
