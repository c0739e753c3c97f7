/* Copies and reductions that are made by others than the thread that asks
 * (9.7.9.12, 9.7.13.7, 9.7.9.25.4): st.async, red.async, cp.async.bulk, cp.reduce.async.bulk. They are
 * made when they are issued, and an mbarrier that counts bytes is told at once; who waits for a group is
 * looked at by the sanitiser (flight.h). */
#include "engine/sim/exec/access.h"
#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/flight.h"
#include "engine/sim/exec/tensor/tmem.h"

#include <string.h>

void exec_async(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_async *x = in->x;
    uint64_t p[WARP_LANES], to[WARP_LANES], off;
    exec_addresses(w, in->a, in->flags & EXEC_F_BASE64, in->imm, to);
    if (exec_resolve(w, in, mask, p) == MEM_FAULT)
        return;
    FOR_LANES(i, mask)
    {
        uint64_t bar = tmem_ref(w, &x->bar, i);
        if (cluster_cta(w->cta, bar, &off) != cluster_cta(w->cta, to[i], &off)) {
            exec_fault(w, in, i, FAULT_ARG,
                       "the mbarrier of an asynchronous store is in another CTA than what is stored\n"
                       "make both addresses with mapa for the same CTA");
            return;
        }
        for (unsigned k = 0; k < x->n; k++) {
            uint64_t v = lane_read(w, x->src[k], i, x->reg_bytes[k]);
            uint8_t *at = (uint8_t *)(uintptr_t)p[i] + k * in->bytes;
            if (x->reduces) {
                uint64_t old = exec_atom_apply(&x->atom, at, v, 0, false);
                if (w->x->sums)
                    exec_atom_sum(w->x->sums, &x->atom, at, old, v, false);
            } else
                memcpy(at, &v, in->bytes);
        }
        if (!exec_mbar_tx(w, in, i, bar, (uint32_t)in->bytes * x->n))
            return;
    }
}

static void bulk_chunk(struct sim_sums *sums, const struct exec_bulk *x, uint8_t *to,
                       const uint8_t *from, uint64_t n, bool global)
{
    if (!x->reduces) {
        memmove(to, from, n);
        return;
    }
    for (uint64_t k = 0; k < n; k += x->atom.bytes) {
        uint64_t v = 0;
        memcpy(&v, from + k, x->atom.bytes);
        uint64_t old = exec_atom_apply(&x->atom, to + k, v, 0, global);
        if (sums)
            exec_atom_sum(sums, &x->atom, to + k, old, v, global);
    }
}

struct bulk {
    uint64_t to, from;
    uint32_t n;
};

/* Host pointers of one end at offset k. */
static bool bulk_at(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, enum ptx_space space,
                    enum exec_access_kind kind, uint64_t a, uint8_t **p)
{
    uint64_t at[WARP_LANES], q[WARP_LANES];
    at[lane] = a;
    bool ok = exec_resolve_at(w, in, 1u << lane, space, BULK_CHUNK, kind, at, q);
    *p = ok ? (uint8_t *)(uintptr_t)q[lane] : NULL;
    return ok;
}

/* One lane's run of bytes. Where both ends lie in one piece nothing is looked at in between. */
static bool bulk_copy(struct exec_warp *w, const struct exec_inst *in, const struct exec_bulk *x,
                      uint32_t lane, const struct bulk *b)
{
    uint8_t *p, *q, *plast, *qlast;
    bool recording = w->recording, global = in->space == PTX_SPACE_GLOBAL;
    enum exec_access_kind writes = x->reduces ? ACCESS_RED : ACCESS_STORE;
    if (b->n % BULK_CHUNK) {
        exec_fault(w, in, lane, FAULT_ARG,
                   "bulk copy of %u bytes, not a multiple of %u\nround the size up, and pad both sides",
                   b->n, BULK_CHUNK);
        return false;
    }
    w->recording = false;
    for (uint32_t k = 0; k < b->n && !w->cta->fault; k += BULK_CHUNK) {
        if (!bulk_at(w, in, lane, x->from.space, ACCESS_ASYNC, b->from + k, &p) ||
            !bulk_at(w, in, lane, in->space, writes, b->to + k, &q))
            break;
        uint64_t n = BULK_CHUNK;
        if (!k && !w->x->checks &&
            bulk_at(w, in, lane, x->from.space, ACCESS_ASYNC, b->from + b->n - BULK_CHUNK, &plast) &&
            bulk_at(w, in, lane, in->space, writes, b->to + b->n - BULK_CHUNK, &qlast) &&
            (uint64_t)(plast - p) == b->n - BULK_CHUNK && (uint64_t)(qlast - q) == b->n - BULK_CHUNK)
            n = b->n;
        if (!w->cta->fault)
            bulk_chunk(w->x->sums, x, q, p, n, global);
        k += (uint32_t)n - BULK_CHUNK;
    }
    w->recording = recording;
    return !w->cta->fault;
}

/* What the memory system is to see: the end in global memory, or the shared memory of another CTA. */
static void bulk_record(struct exec_warp *w, const struct exec_inst *in, const struct exec_bulk *x,
                        const struct bulk *b)
{
    struct exec_access *r = w->rec;
    bool reads = x->from.space == PTX_SPACE_GLOBAL;
    if (!w->recording || !b->n)
        return;
    if (reads || in->space == PTX_SPACE_GLOBAL) {
        *r = (struct exec_access){ .kind = reads        ? ACCESS_ASYNC
                                           : x->reduces ? ACCESS_RED
                                                        : ACCESS_STORE,
                                   .space = PTX_SPACE_GLOBAL,
                                   .mask = 1,
                                   .bytes = (uint16_t)(b->n < 128 ? b->n : 128) };
        w->k->tensor.nbox = 0;
        exec_box_run(w, reads ? b->from : b->to, b->n);
        exec_box_end(w);
        return;
    }
    *r = (struct exec_access){ .kind = ACCESS_ASYNC,
                               .space = PTX_SPACE_SHARED_CLUSTER,
                               .bulk = b->n,
                               .bytes = (uint16_t)(b->n < 128 ? b->n : 128) };
    for (uint32_t k = 0; k < WARP_LANES && k * 128u < b->n; k++) {
        r->addr[k] = b->to + k * 128u;
        r->mask |= 1u << k;
    }
}

/* Both ends, for the sanitiser. */
static void bulk_flight(struct exec_warp *w, const struct exec_inst *in, const struct exec_bulk *x,
                        const struct bulk *b, uint64_t bar)
{
    uint64_t off = 0, at = 0;
    struct exec_cta *to = in->space == PTX_SPACE_GLOBAL ? NULL : cluster_cta(w->cta, b->to, &off),
                    *told = x->has_bar ? cluster_cta(w->cta, bar, &at) : NULL;
    if (to && told == to)
        flight_add(w, in, to, FLIGHT_BYTES, off, b->n, (uint32_t)at);
    else if (!to && x->from.space != PTX_SPACE_GLOBAL)
        flight_add(w, in, w->cta, FLIGHT_READS, b->from % CLUSTER_STEP, b->n, UINT32_MAX);
}

/* The same place in every CTA that `targets` names, its mbarrier told. */
static bool bulk_multicast(struct exec_warp *w, const struct exec_inst *in, const struct exec_bulk *x,
                           uint32_t lane, struct bulk b, uint64_t bar, uint32_t targets)
{
    FOR_LANES(r, targets)
    {
        uint64_t base = (uint64_t)(r + 1) * CLUSTER_STEP;
        b.to = base + b.to % CLUSTER_STEP;
        if (!bulk_copy(w, in, x, lane, &b))
            return false;
        bulk_flight(w, in, x, &b, base + bar % CLUSTER_STEP);
        if (!exec_mbar_tx(w, in, lane, base + bar % CLUSTER_STEP, b.n))
            return false;
    }
    return true;
}

void exec_cp_bulk(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_bulk *x = in->x;
    uint64_t to[WARP_LANES];
    exec_addresses(w, in->a, in->flags & EXEC_F_BASE64, in->imm, to);
    FOR_LANES(i, mask)
    {
        struct bulk b = { to[i], tmem_ref(w, &x->from, i), (uint32_t)lane_read(w, x->size, i, 4) };
        uint64_t bar = x->has_bar ? tmem_ref(w, &x->bar, i) : 0;
        bulk_record(w, in, x, &b);
        if (x->targets != EXEC_NO_ID) {
            if (!bulk_multicast(w, in, x, i, b, bar, (uint32_t)lane_read(w, x->targets, i, 4) & 0xffffu))
                return;
        } else {
            if (!bulk_copy(w, in, x, i, &b))
                return;
            bulk_flight(w, in, x, &b, bar);
            if (x->has_bar && !exec_mbar_tx(w, in, i, bar, b.n))
                return;
        }
    }
}
