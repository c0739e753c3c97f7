/* cp.async and mbarrier. A copy is made when it is issued; who waits for it is looked at by the
 * sanitiser (tensor/flight.h). */
#include "engine/ptx/op_enum.h"
#include "engine/sim/exec/access.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/mbar.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/flight.h"

/* The mbarrier at p is changed: who waits for it looks again. */
static void mbar_changed(struct exec_cta *any, const uint8_t *p)
{
    for (uint32_t r = 0; r < any->x->cluster_ctas; r++) {
        struct exec_cta *c = any->lead->peer[r];
        if (p < c->shared || p >= c->shared + c->x->shared_bytes)
            continue;
        for (uint32_t i = 0; i < c->nwarps; i++)
            for (uint32_t k = 0; k < c->warps[i].nfrag; k++)
                if (c->warps[i].frag[k].state == FRAG_MBAR &&
                    c->warps[i].frag[k].need == (uint32_t)(p - c->shared))
                    c->warps[i].frag[k].state = FRAG_READY;
    }
}

/* ---- what is told later ---- */
void exec_worker_late(struct exec_worker *k)
{
    k->tensor.defers = true;
}
struct exec_worker *exec_cta_worker(const struct exec_cta *c)
{
    return c->k;
}
const struct exec_late *exec_late_take(struct exec_worker *k, uint32_t *n)
{
    *n = (uint32_t)k->tensor.nlate;
    k->tensor.nlate = 0;
    return k->tensor.late;
}

static bool put_late(struct exec_warp *w, const struct exec_inst *in, struct exec_late l)
{
    struct exec_worker *k = w->k;
    if (!base_grow((void **)&k->tensor.late, k->tensor.nlate, &k->tensor.cap_late,
                   sizeof *k->tensor.late)) {
        exec_fault(w, in, 0, FAULT_NOMEM, "out of memory for copies that are under way");
        return false;
    }
    if (l.bar < CLUSTER_STEP)
        l.bar += (uint64_t)(w->cta->rank + 1) * CLUSTER_STEP;
    k->tensor.late[k->tensor.nlate++] = l;
    return true;
}

void exec_late_tell(struct exec_cta *lead, const struct exec_late *l)
{
    uint64_t off;
    struct exec_cta *c = cluster_cta(lead, l->bar, &off);
    if (!c || cta_ended(c) || off + 8 > c->x->shared_bytes)
        return;
    struct mbar m = mbar_read(c->shared + off);
    m.tx -= (int32_t)l->bytes;
    m.pending -= l->arrivals < m.pending ? l->arrivals : m.pending;
    mbar_turn(&m);
    mbar_write(c->shared + off, m);
    mbar_changed(c, c->shared + off);
}

uint32_t exec_late_rank(const struct exec_late *l)
{
    return l->bar < CLUSTER_STEP ? 0 : (uint32_t)(l->bar / CLUSTER_STEP) - 1;
}

/* The cluster's address of a host pointer into shared memory. */
static uint64_t address_of(const struct exec_warp *w, const void *p)
{
    const uint8_t *b = p;
    for (uint32_t r = 0; r < w->x->cluster_ctas; r++) {
        const struct exec_cta *c = w->cta->lead->peer[r];
        if (b >= c->shared && b < c->shared + w->x->shared_bytes)
            return (uint64_t)(r + 1) * CLUSTER_STEP + (uint64_t)(b - c->shared);
    }
    return 0;
}

static bool is_remote(const struct exec_warp *w, const void *p)
{
    const uint8_t *b = p;
    return b < w->cta->shared || b >= w->cta->shared + w->x->shared_bytes;
}

/* An arrival at another CTA's mbarrier is on its way, where times are told. */
static bool is_sent(struct exec_warp *w, const struct exec_inst *in, const struct exec_mbar *x,
                    const void *p, uint32_t n)
{
    return x->op == PTX_OP_MBARRIER_ARRIVE && w->k->tensor.defers && is_remote(w, p) &&
           put_late(w, in, (struct exec_late){ address_of(w, p), 0, n, true, false });
}

/* More bytes are pending than a transaction count holds, told. */
static bool overflows(struct exec_warp *w, const struct exec_inst *in, uint32_t lane,
                      const struct mbar *m)
{
    bool over = m->tx > MBAR_MOST || m->tx < -MBAR_MOST;
    if (over)
        exec_fault(
            w, in, lane, FAULT_ARG,
            "the transaction count of this mbarrier would be %d bytes: at most 1048575 either way\n"
            "expect and copy fewer bytes in one phase",
            m->tx);
    return over;
}

static bool bad_init(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint64_t n)
{
    bool bad = !n || n > MBAR_MOST;
    if (bad)
        exec_fault(w, in, lane, FAULT_ARG,
                   "an mbarrier for %llu arrivals: 1 to 1048575 can be\n"
                   "give mbarrier.init the number of threads that arrive in a phase",
                   (unsigned long long)n);
    return bad;
}

/* In the CTA's shared memory. */
static uint32_t offset_of(const struct exec_warp *w, uint64_t p)
{
    return (uint32_t)((const uint8_t *)(uintptr_t)p - w->cta->shared);
}

/* One lane's operation; returns the value or predicate the instruction gives. */
static uint64_t mbar_one(struct exec_warp *w, const struct exec_inst *in, const struct exec_mbar *x,
                         uint32_t lane, void *p)
{
    struct mbar m = mbar_read(p);
    uint64_t before,
        n = x->count == EXEC_NO_ID ? 1 : lane_read(w, x->count, lane, x->waits && !x->parity ? 8 : 4);
    memcpy(&before, p, 8);
    if (!m.used && x->op != PTX_OP_MBARRIER_INIT && x->op != PTX_OP_MBARRIER_INVAL) {
        exec_fault(w, in, lane, FAULT_ARG,
                   "this mbarrier is not initialised\nlet one thread execute mbarrier.init, followed by "
                   "a barrier");
        return 0;
    }
    if (x->op == PTX_OP_MBARRIER_INIT && bad_init(w, in, lane, n))
        return 0;
    switch (x->op) {
    case PTX_OP_MBARRIER_INIT: m = (struct mbar){ (uint32_t)n, (uint32_t)n, 0, false, true }; break;
    case PTX_OP_MBARRIER_INVAL: m = (struct mbar){ 0, 0, 0, false, false }; break;
    case PTX_OP_MBARRIER_EXPECT_TX: m.tx += (int32_t)n; break;
    case PTX_OP_MBARRIER_COMPLETE_TX:
        m.tx -= (int32_t)n;
        mbar_turn(&m);
        break;
    case PTX_OP_MBARRIER_TEST_WAIT:
    case PTX_OP_MBARRIER_TRY_WAIT: return (n >> 62 & 1) != m.phase;
    case PTX_OP_MBARRIER_TEST_WAIT_PARITY:
    case PTX_OP_MBARRIER_TRY_WAIT_PARITY: return (n & 1) != m.phase;
    case PTX_OP_MBARRIER_ARRIVE_EXPECT_TX:
    case PTX_OP_MBARRIER_ARRIVE_DROP_EXPECT_TX: m.tx += (int32_t)n; n = 1; /* fall through */
    default:
        if (x->op == PTX_OP_CP_ASYNC_MBARRIER_ARRIVE) {
            flight_tie(w, offset_of(w, (uint64_t)(uintptr_t)p), m.phase);
            if (w->k->tensor.defers) {
                m.pending += !x->noinc;
                mbar_write(p, m);
                put_late(w, in, (struct exec_late){ address_of(w, p), 0, 1, false, false });
                return before;
            }
            if (!x->noinc) /* counted in for this phase, and arrives at once */
                break;
            n = 1;
        }
        if (n > m.pending) {
            exec_fault(w, in, lane, FAULT_ARG,
                       "more arrivals at an mbarrier than it expects (%u)\ncount the threads that "
                       "arrive in a phase, and give mbarrier.init their number",
                       m.expected);
            return 0;
        }
        if (is_sent(w, in, x, p, (uint32_t)n))
            return before;
        m.pending -= (uint32_t)n;
        if (x->op == PTX_OP_MBARRIER_ARRIVE_DROP || x->op == PTX_OP_MBARRIER_ARRIVE_DROP_EXPECT_TX ||
            x->op == PTX_OP_MBARRIER_ARRIVE_DROP_NOCOMPLETE)
            m.expected -= (uint32_t)n;
        mbar_turn(&m);
    }
    if (overflows(w, in, lane, &m))
        return 0;
    mbar_write(p, m);
    if (w->k->tensor.defers)
        mbar_changed(w->cta, p);
    return before;
}

/* None of the lanes can go on yet: they wait until the mbarrier changes. */
static bool blocks(struct exec_warp *w, const struct exec_mbar *x, uint32_t mask, uint32_t yes,
                   const uint64_t p[WARP_LANES])
{
    bool tries = x->op == PTX_OP_MBARRIER_TRY_WAIT || x->op == PTX_OP_MBARRIER_TRY_WAIT_PARITY;
    uint64_t first = p[first_lane(mask)];
    if (!w->k->tensor.defers || !tries || yes || mask != w->mask)
        return false;
    FOR_LANES(i, mask)
    if (p[i] != first)
        return false;
    w->frag[w->cur].need = offset_of(w, first);
    frag_block(w, FRAG_MBAR, w->pc - 1);
    return true;
}

void exec_mbar(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    const struct exec_mbar *x = in->x;
    uint64_t p[WARP_LANES];
    uint32_t yes = 0;
    if (x->op == PTX_OP_MBARRIER_PENDING_COUNT) {
        FOR_LANES(i, mask) lane_write(w, x->state, i, 4, lane_read(w, x->count, i, 8) & MBAR_FIELD);
        return;
    }
    if (exec_resolve(w, in, mask, p) == MEM_FAULT)
        return;
    FOR_LANES(i, mask)
    {
        uint64_t r = mbar_one(w, in, x, i, (void *)(uintptr_t)p[i]);
        if (w->cta->fault)
            return;
        yes |= (uint32_t)(r & 1) << i;
        if (x->waits && r & 1 && w->cta->flight)
            flight_phase(w->cta, offset_of(w, p[i]), !mbar_read((void *)(uintptr_t)p[i]).phase);
        if (!x->waits)
            lane_write(w, x->state, i, 8, r);
    }
    if (x->waits) {
        w->mbar.pc = mask & ~yes ? w->pc - 1 : EXEC_NO_ID;
        w->mbar.at = mask & ~yes ? offset_of(w, p[first_lane(mask & ~yes)]) : 0;
    }
    if (x->waits && !blocks(w, x, mask, yes, p))
        pred_write(w, x->pred, mask, yes);
}

/* Fewer bytes than are stored, the rest of which becomes zero: only these are read, though the alignment
 * is that of all. */
static bool resolve_part(struct exec_warp *w, const struct exec_inst *in, uint32_t lane,
                         const uint64_t *a, uint32_t n, uint64_t *from)
{
    uint64_t at[WARP_LANES] = { 0 }, p[WARP_LANES];
    if (a[lane] & (in->bytes - 1u) && !w->x->p->part) {
        exec_fault_access(w, in, lane, PTX_SPACE_GLOBAL, a[lane], in->bytes, true);
        return false;
    }
    while (n--) {
        at[lane] = a[lane] + n;
        if (!exec_resolve_at(w, in, 1u << lane, PTX_SPACE_GLOBAL, 1, ACCESS_ASYNC, at, p))
            return false;
    }
    from[lane] = p[lane];
    return true;
}

/* Where each lane of `reads` copies its size[] bytes from. The record is of one access of all of them.
 */
static bool resolve_sources(struct exec_warp *w, const struct exec_inst *in, uint32_t reads,
                            const uint64_t *a, const uint32_t *size, uint64_t *from)
{
    uint32_t whole = 0;
    FOR_LANES(i, reads) whole |= (uint32_t)(size[i] == in->bytes) << i;
    if (whole && !exec_resolve_at(w, in, whole, PTX_SPACE_GLOBAL, in->bytes, ACCESS_ASYNC, a, from))
        return false;
    FOR_LANES(i, reads & ~whole)
    {
        if (!resolve_part(w, in, i, a, size[i], from))
            return false;
    }
    if (w->recording && reads & ~whole) {
        w->rec->mask = reads;
        w->rec->bytes = in->bytes;
        memcpy(w->rec->addr, a, sizeof w->rec->addr);
    }
    return true;
}

/* Where each lane reads, and how much; the lanes that read anything. */
static uint32_t sources(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                        uint64_t a[WARP_LANES], uint32_t size[WARP_LANES])
{
    const struct exec_cp_async *x = in->x;
    uint32_t ignore = x->ignore == EXEC_NO_ID ? 0 : pred_read(w, x->ignore, x->neg), reads = 0;
    exec_addresses(w, x->from_slot, x->from64, x->from_imm, a);
    if (!ignore && x->src_size == EXEC_NO_ID) {
        for (unsigned i = 0; i < WARP_LANES; i++)
            size[i] = in->bytes;
        return in->bytes ? mask : 0;
    }
    FOR_LANES(i, mask)
    {
        uint64_t n = ignore >> i & 1             ? 0
                     : x->src_size == EXEC_NO_ID ? in->bytes
                                                 : lane_read(w, x->src_size, i, 4);
        size[i] = n > in->bytes ? in->bytes : (uint32_t)n;
        reads |= (uint32_t)(size[i] > 0) << i;
    }
    return reads;
}

void exec_cp_async_place(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t size[WARP_LANES], reads = sources(w, in, mask, w->rec->addr, size);
    if (reads)
        exec_record_place(w, in, PTX_SPACE_GLOBAL, reads);
}

void exec_cp_async(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint64_t a[WARP_LANES], from[WARP_LANES], to[WARP_LANES], dst[WARP_LANES];
    uint32_t size[WARP_LANES], reads = sources(w, in, mask, a, size);
    exec_addresses(w, in->a, in->flags & EXEC_F_BASE64, in->imm, dst);
    w->cta->changes += w->x->p->part != NULL;
    bool recording = w->recording;
    w->recording = false;
    bool ok = exec_resolve_at(w, in, mask, in->space, in->bytes, ACCESS_STORE, dst, to);
    w->recording = recording;
    if (!ok || (reads && !resolve_sources(w, in, reads, a, size, from)))
        return;
    FOR_LANES(i, mask)
    {
        uint8_t *d = (uint8_t *)(uintptr_t)to[i];
        const uint8_t *s = (const uint8_t *)(uintptr_t)from[i];
        if (size[i] == 16) { /* the usual length is one that the compiler knows */
            memcpy(d, s, 16);
            continue;
        }
        memset(d, 0, in->bytes);
        if (size[i])
            memcpy(d, s, size[i]);
    }
    if (w->cta->flight)
        FOR_LANES(i, mask)
    flight_add(w, in, w->cta, FLIGHT_THREAD, offset_of(w, to[i]), in->bytes, UINT32_MAX);
}

/* The mbarrier at this address of the cluster; NULL: none, told. */
static void *mbar_at(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint64_t addr,
                     struct mbar *m)
{
    uint64_t a[WARP_LANES], p[WARP_LANES];
    bool recording = w->recording;
    a[lane] = addr;
    w->recording = false;
    bool ok = exec_resolve_at(w, in, 1u << lane, PTX_SPACE_SHARED, 8, ACCESS_ATOMIC, a, p);
    w->recording = recording;
    if (!ok)
        return NULL;
    *m = mbar_read((void *)(uintptr_t)p[lane]);
    if (!m->used)
        exec_fault(w, in, lane, FAULT_ARG,
                   "this mbarrier is not initialised\nlet one thread execute mbarrier.init, followed by "
                   "a barrier");
    return m->used ? (void *)(uintptr_t)p[lane] : NULL;
}

bool exec_mbar_arrive(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint64_t addr)
{
    struct mbar m;
    void *p = mbar_at(w, in, lane, addr, &m);
    if (p && !m.pending)
        exec_fault(w, in, lane, FAULT_ARG,
                   "more arrivals at an mbarrier than it expects (%u)\ncount the threads that arrive in "
                   "a phase, and give mbarrier.init their number",
                   m.expected);
    if (!p || !m.pending)
        return false;
    m.pending--;
    mbar_turn(&m);
    mbar_write(p, m);
    if (w->k->tensor.defers)
        mbar_changed(w->cta, p);
    return true;
}

bool exec_mbar_tx(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint64_t addr,
                  uint32_t bytes)
{
    struct mbar m;
    void *p = mbar_at(w, in, lane, addr, &m);
    if (!p)
        return false;
    if (w->k->tensor.defers)
        return put_late(w, in, (struct exec_late){ addr, bytes, 0, false, false });
    m.tx -= (int32_t)bytes;
    if (overflows(w, in, lane, &m))
        return false;
    mbar_turn(&m);
    mbar_write(p, m);
    return true;
}
