/* The tensor copy engine (9.7.9.27): cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and their
 * prefetch. A copy is made when it is issued; its mbarrier is told then, or when the timing says so. */
#include "engine/sim/exec/tensor/tma.h"

#include "engine/sim/exec/access.h"
#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/flight.h"
#include "engine/sim/exec/tensor/tmem.h"

#include <stdio.h>
#include <string.h>

#define SMEM_ALIGN 128u /* of a box in shared memory */
#define PIECE      16u  /* bytes that a swizzle moves together */
#define ROW_MOST   2048u
#define LOOK_MOST  128u /* bytes that the sanitiser looks at at once */

struct copy {
    struct exec_warp *w;
    const struct exec_inst *in;
    const struct exec_tma *x;
    struct tma_box box;
    uint64_t shared; /* address of the box in shared memory */
    uint8_t *smem;   /* and on the host */
    uint32_t lane;
    /* host address of device address 0, where all that the box touches is in one piece */
    uintptr_t base;
    bool whole;
};

static uint8_t *host_at(struct copy *c, enum ptx_space space, uint64_t a, unsigned bytes,
                        enum exec_access_kind kind)
{
    uint64_t at[WARP_LANES] = { 0 }, p[WARP_LANES];
    at[c->lane] = a;
    bool ok = exec_resolve_at(c->w, c->in, 1u << c->lane, space, bytes, kind, at, p);
    return ok ? (uint8_t *)(uintptr_t)p[c->lane] : NULL;
}

static bool refuse(struct copy *c, const char *why)
{
    exec_fault(c->w, c->in, c->lane, FAULT_ARG, "%s", why);
    return false;
}

/* ---- the map ---- */
static bool read_map(struct copy *c)
{
    struct exec_warp *w = c->w;
    uint8_t raw[TENSOR_MAP_BYTES];
    uint64_t a = tmem_ref(w, &c->x->map, c->lane);
    for (unsigned k = 0; k < TENSOR_MAP_BYTES; k += TENSOR_MAP_ALIGN) {
        const uint8_t *p = host_at(c, c->x->map.space, a + k, TENSOR_MAP_ALIGN, ACCESS_LOAD);
        if (!p)
            return false;
        memcpy(raw + k, p, TENSOR_MAP_ALIGN);
    }
    if (!tensor_map_decode(raw, &c->box.m)) {
        exec_fault(
            w, c->in, c->lane, FAULT_ARG,
            "the 128 bytes at 0x%llx are no tensor map\n"
            "give the argument a \"tensor_map\" in the launch description, or copy the map whole before",
            (unsigned long long)a);
        return false;
    }
    char why[200], text[320];
    if (!tensor_map_check(&c->box.m, why, sizeof why)) {
        snprintf(
            text, sizeof text,
            "a tensor map that no device takes: %s\npoint to the first byte of a map, or correct what "
            "tensormap.replace wrote",
            why);
        return refuse(c, text);
    }
    if (c->box.m.rank != c->x->rank) {
        snprintf(
            text, sizeof text,
            "a copy of %u dimensions with a tensor map of %u\nname as many coordinates as \"dims\" has",
            c->x->rank, c->box.m.rank);
        return refuse(c, text);
    }
    return true;
}

static bool read_box(struct copy *c)
{
    const char *why;
    for (unsigned d = 0; d < c->x->ncoord; d++)
        c->box.at[d] = (int32_t)lane_read(c->w, c->x->coord[d], c->lane, 4);
    for (unsigned d = 0; d < c->x->noff; d++)
        c->box.off[d] = (uint16_t)lane_read(c->w, c->x->off[d], c->lane, 4);
    c->box.mode = c->x->mode;
    return tma_box_init(&c->box, &why) || refuse(c, why);
}

/* Where all rows lie in one allocation the host addresses of the others follow from two. */
static bool find_global(struct copy *c, enum exec_access_kind kind)
{
    uint64_t lo = UINT64_MAX, hi = 0;
    for (uint32_t n = 0; n < c->box.nrows; n++) {
        struct tma_row r;
        tma_box_row(&c->box, n, &r);
        if (r.first == r.last)
            continue;
        lo = r.addr + r.first < lo ? r.addr + r.first : lo;
        hi = r.addr + r.last - 1 > hi ? r.addr + r.last - 1 : hi;
    }
    c->whole = false;
    if (lo > hi)
        return true;
    uint8_t *p = host_at(c, PTX_SPACE_GLOBAL, lo, 1, kind),
            *q = p ? host_at(c, PTX_SPACE_GLOBAL, hi, 1, kind) : NULL;
    if (!q)
        return false;
    c->whole = (uint64_t)(q - p) == hi - lo && !c->w->x->checks;
    c->base = (uintptr_t)p - (uintptr_t)lo;
    return true;
}

static bool find_shared(struct copy *c, enum exec_access_kind kind)
{
    char text[200];
    if (c->shared % SMEM_ALIGN) {
        snprintf(text, sizeof text,
                 "a box at shared address 0x%llx, which is not a multiple of %u\n"
                 "align the variable (.align 128; 1024 for a swizzle of 128 bytes) and its stages",
                 (unsigned long long)c->shared, SMEM_ALIGN);
        return refuse(c, text);
    }
    enum ptx_space space = c->in->space;
    c->smem = host_at(c, space, c->shared, PIECE, kind);
    return c->smem &&
           host_at(c, space, c->shared + (uint64_t)c->box.nrows * c->box.pitch - PIECE, PIECE, kind);
}

/* Host address of `n` bytes, looked at in pieces that are aligned. */
static uint8_t *run_at(struct copy *c, enum ptx_space space, uint64_t addr, uint32_t n,
                       enum exec_access_kind kind)
{
    uint8_t *first = NULL;
    for (uint32_t k = 0, bytes; k < n; k += bytes) {
        bytes = (uint32_t)((addr + k) & -(addr + k)) & (LOOK_MOST - 1);
        for (bytes = bytes ? bytes : LOOK_MOST; bytes > n - k; bytes /= 2)
            ;
        uint8_t *p = host_at(c, space, addr + k, bytes, kind);
        if (!p)
            return NULL;
        first = first ? first : p;
    }
    return first;
}

/* Host address of `n` bytes of a row. */
static uint8_t *row_at(struct copy *c, uint64_t addr, uint32_t n, enum exec_access_kind kind)
{
    if (c->whole)
        return (uint8_t *)(c->base + (uintptr_t)addr);
    return run_at(c, PTX_SPACE_GLOBAL, addr, n, kind);
}

/* The same of a row in shared memory, without the swizzle, which stays in lines of 128 bytes: rows that
 * are not whole patterns are looked at piece by piece. */
static bool look_at_row(struct copy *c, uint32_t off, uint32_t n, enum exec_access_kind kind)
{
    uint64_t a = c->shared + off;
    if (!c->w->x->checks)
        return true;
    if (!c->box.m.swizzle || (n == LOOK_MOST && a % LOOK_MOST == 0))
        return run_at(c, c->in->space, a, n, kind) != NULL;
    for (uint32_t k = 0; k < n; k += PIECE)
        if (!host_at(c, c->in->space, tma_swizzled(&c->box.m, a + k), PIECE, kind))
            return false;
    return true;
}

static uint8_t *piece_at(const struct copy *c, uint32_t off)
{
    return c->smem + (tma_swizzled(&c->box.m, c->shared + off) - c->shared);
}

/* ---- moving ---- */
/* Loads of tf32 round to nearest. */
static void round_tf32(uint8_t *row, uint32_t n)
{
    for (uint32_t k = 0; k < n; k += 4) {
        uint32_t v;
        memcpy(&v, row + k, 4);
        v = (v & 0x7fffffff) > 0x7f800000 ? 0x7fffe000 : (v + 0xfff + (v >> 13 & 1)) & 0xffffe000;
        memcpy(row + k, &v, 4);
    }
}

static bool load_box(struct copy *c)
{
    uint8_t row[ROW_MOST];
    for (uint32_t n = 0; n < c->box.nrows; n++) {
        struct tma_row r;
        tma_box_row(&c->box, n, &r);
        const uint8_t *from = NULL;
        if (r.first < r.last && !(from = row_at(c, r.addr + r.first, r.last - r.first, ACCESS_ASYNC)))
            return false;
        if (r.first || r.last < c->box.row_bytes)
            tma_fill(&c->box.m, row, c->box.row_bytes);
        if (from)
            memcpy(row + r.first, from, r.last - r.first);
        if (from && (c->box.m.type == TENSOR_TF32 || c->box.m.type == TENSOR_TF32_FTZ))
            round_tf32(row + r.first, r.last - r.first);
        if (!look_at_row(c, r.to, c->box.row_bytes, ACCESS_STORE))
            return false;
        for (uint32_t k = 0; k < c->box.row_bytes; k += PIECE)
            memcpy(piece_at(c, r.to + k), row + k, PIECE);
    }
    return true;
}

static void put_row(struct copy *c, uint8_t *to, const uint8_t *from, uint32_t n,
                    const struct exec_atom *atom)
{
    if (!atom) {
        memcpy(to, from, n);
        return;
    }
    for (uint32_t k = 0; k < n; k += atom->bytes) {
        uint64_t v = 0;
        memcpy(&v, from + k, atom->bytes);
        uint64_t old = exec_atom_apply(atom, to + k, v, 0, true);
        if (c->w->x->sums)
            exec_atom_sum(c->w->x->sums, atom, to + k, old, v, true);
    }
}

static bool store_box(struct copy *c, const struct exec_atom *atom)
{
    uint8_t row[ROW_MOST];
    enum exec_access_kind kind = atom ? ACCESS_RED : ACCESS_STORE;
    for (uint32_t n = 0; n < c->box.nrows; n++) {
        struct tma_row r;
        tma_box_row(&c->box, n, &r);
        if (r.first == r.last)
            continue;
        uint32_t begin = r.first / PIECE * PIECE, end = (r.last + PIECE - 1) / PIECE * PIECE;
        if (!look_at_row(c, r.to + begin, end - begin, ACCESS_ASYNC))
            return false;
        for (uint32_t k = begin; k < end; k += PIECE)
            memcpy(row + k, piece_at(c, r.to + k), PIECE);
        uint8_t *to = row_at(c, r.addr + r.first, r.last - r.first, kind);
        if (!to)
            return false;
        put_row(c, to, row + r.first, r.last - r.first, atom);
    }
    return true;
}

/* The operation on this tensor's elements. */
static bool atom_of(struct copy *c, struct exec_atom *atom)
{
    static const uint8_t types[TENSOR_TYPE_COUNT] = {
        [TENSOR_U8] = PTX_T_NONE,     [TENSOR_U16] = PTX_T_NONE,    [TENSOR_U32] = PTX_T_U32,
        [TENSOR_S32] = PTX_T_S32,     [TENSOR_U64] = PTX_T_U64,     [TENSOR_S64] = PTX_T_S64,
        [TENSOR_F16] = PTX_T_F16,     [TENSOR_F32] = PTX_T_F32,     [TENSOR_F64] = PTX_T_F64,
        [TENSOR_BF16] = PTX_T_BF16,   [TENSOR_F32_FTZ] = PTX_T_F32, [TENSOR_TF32] = PTX_T_F32,
        [TENSOR_TF32_FTZ] = PTX_T_F32
    };
    *atom = c->x->atom;
    atom->type = types[c->box.m.type];
    atom->bytes = (uint8_t)tensor_type_bytes(c->box.m.type);
    return atom->type != PTX_T_NONE ||
           refuse(c, "a reduction of unsigned 8- or 16-bit elements\nmake the tensor map of f16, bf16, "
                     "32 or 64 bits");
}

/* ---- what the memory system is to see ---- */
static void record(struct copy *c)
{
    static const uint8_t kinds[] = { [TMA_LOAD] = ACCESS_ASYNC,
                                     [TMA_STORE] = ACCESS_STORE,
                                     [TMA_REDUCE] = ACCESS_RED,
                                     [TMA_PREFETCH] = ACCESS_PREFETCH };
    static const uint8_t fill[] = { 0, 2, 4, 8 }; /* by the map's promotion */
    struct exec_access *r = c->w->rec;
    *r = (struct exec_access){ .kind = kinds[c->x->kind],
                               .space = PTX_SPACE_GLOBAL,
                               .level = c->x->kind == TMA_PREFETCH ? 2 : 0,
                               .mask = 1,
                               .bytes = (uint16_t)(c->box.row_bytes < 128 ? c->box.row_bytes : 128),
                               .fill = fill[c->box.m.l2 % ARRAY_LEN(fill)],
                               .hint = c->x->policy == EXEC_NO_ID
                                           ? 0
                                           : lane_read(c->w, c->x->policy, c->lane, 8) };
    c->w->k->tensor.nbox = 0;
    for (uint32_t n = 0; n < c->box.nrows; n++) {
        struct tma_row row;
        tma_box_row(&c->box, n, &row);
        if (row.first < row.last)
            exec_box_run(c->w, row.addr + row.first, row.last - row.first);
    }
    exec_box_end(c->w);
}

/* ---- one copy ---- */
static bool move_box(struct copy *c)
{
    struct exec_atom atom;
    enum exec_access_kind global = c->x->kind == TMA_LOAD    ? ACCESS_ASYNC
                                   : c->x->kind == TMA_STORE ? ACCESS_STORE
                                                             : ACCESS_RED,
                          shared = c->x->kind == TMA_LOAD ? ACCESS_STORE : ACCESS_ASYNC;
    if (!find_shared(c, shared) || !find_global(c, global))
        return false;
    if (c->x->kind == TMA_LOAD)
        return load_box(c);
    if (c->x->kind == TMA_STORE)
        return store_box(c, NULL);
    return atom_of(c, &atom) && store_box(c, &atom);
}

/* The box in shared memory, for the sanitiser. */
static void box_flight(struct copy *c, uint64_t bar)
{
    uint64_t off = 0, at = 0, bytes = (uint64_t)c->box.nrows * c->box.pitch;
    struct exec_cta *in = cluster_cta(c->w->cta, c->shared, &off),
                    *told = c->x->has_bar ? cluster_cta(c->w->cta, bar, &at) : NULL;
    if (c->x->kind == TMA_LOAD && in && told == in)
        flight_add(c->w, c->in, in, FLIGHT_BYTES, off, bytes, (uint32_t)at);
    else if (c->x->kind != TMA_LOAD && in)
        flight_add(c->w, c->in, in, FLIGHT_READS, off, bytes, UINT32_MAX);
}

static bool copy_to(struct copy *c, uint64_t bar)
{
    if (!move_box(c))
        return false;
    if (c->w->cta->flight)
        box_flight(c, bar);
    return !c->x->has_bar || exec_mbar_tx(c->w, c->in, c->lane, bar, (uint32_t)c->box.bytes);
}

/* The same place in every CTA of the cluster that the mask names. */
static bool copy_multicast(struct copy *c, uint64_t bar, uint32_t targets)
{
    uint64_t off = c->shared % CLUSTER_STEP;
    FOR_LANES(r, targets)
    {
        uint64_t base = (uint64_t)(r + 1) * CLUSTER_STEP;
        c->shared = base + off;
        if (!copy_to(c, base + bar % CLUSTER_STEP))
            return false;
    }
    return true;
}

static bool copy_lane(struct copy *c, uint64_t shared)
{
    struct exec_warp *w = c->w;
    bool recording = w->recording;
    w->recording = false;
    bool ok = read_map(c) && read_box(c);
    w->recording = recording;
    if (ok && recording)
        record(c);
    w->recording = false;
    uint64_t bar = c->x->has_bar ? tmem_ref(w, &c->x->bar, c->lane) : 0;
    c->shared = shared;
    if (ok && c->x->kind != TMA_PREFETCH)
        ok = c->x->targets == EXEC_NO_ID
                 ? copy_to(c, bar)
                 : copy_multicast(c, bar, (uint32_t)lane_read(w, c->x->targets, c->lane, 4) & 0xffffu);
    w->recording = recording;
    return ok;
}

void exec_tma(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_tma *x = in->x;
    uint64_t shared[WARP_LANES] = { 0 };
    if (x->kind != TMA_PREFETCH)
        exec_addresses(w, in->a, in->flags & EXEC_F_BASE64, in->imm, shared);
    FOR_LANES(i, mask)
    {
        struct copy c = { .w = w, .in = in, .x = x, .lane = i };
        if (!copy_lane(&c, shared[i]))
            return;
    }
}
