/* Addresses to host memory, every lane checked. The lane kernels come here when their quick check
 * does not hold: another allocation, mixed spaces, a record to fill, a fault to report. */
#include "engine/sim/exec/access.h"

#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/hostile.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/mem.h"
#include "engine/sim/part.h"
#include "engine/sim/windows.h"

#include <string.h>

struct span_of {
    uint64_t lo, n;
    uint8_t *host;
};

static enum ptx_space window_space(uint64_t a)
{
    if (a - SHARED_WINDOW < WINDOW_BYTES)
        return PTX_SPACE_SHARED;
    if (a - LOCAL_WINDOW < WINDOW_BYTES)
        return PTX_SPACE_LOCAL;
    return a - PARAM_WINDOW < WINDOW_BYTES ? PTX_SPACE_PARAM : PTX_SPACE_GLOBAL;
}

/* Where address *a of a lane lies; for generic addresses *a becomes the offset in its space. */
static enum ptx_space place(enum ptx_space space, uint64_t *a)
{
    if (space != PTX_SPACE_GENERIC)
        return space;
    space = window_space(*a);
    *a -= space == PTX_SPACE_SHARED  ? SHARED_WINDOW
          : space == PTX_SPACE_LOCAL ? LOCAL_WINDOW
          : space == PTX_SPACE_PARAM ? PARAM_WINDOW
                                     : 0;
    return space;
}

/* Shared memory of another CTA of the cluster; nothing of one that has ended. */
static struct span_of peer_span(const struct exec_warp *w, uint64_t a)
{
    uint64_t off;
    const struct exec_cta *c = cluster_cta(w->cta, a, &off);
    return c && !cta_ended(c) ? (struct span_of){ a - off, w->x->shared_bytes, c->shared }
                              : (struct span_of){ 0, 0, NULL };
}

/* What the launch changes, others may be storing into by now. */
static bool may_share(const struct exec_worker *k, const struct sim_alloc *a)
{
    const struct sim_launch *l = k->x->l;
    for (size_t i = 0; i < l->nrestored; i++)
        if (l->restored[i] == a->addr)
            return false;
    return true;
}

/* Instructions that read it where everybody does are to look again. */
static void forget_shared(struct exec_worker *k, uint64_t addr)
{
    for (uint32_t i = 0; i < k->x->p->nmem; i++)
        if (k->cache[i].addr == addr)
            k->cache[i].n = 0;
}

uint8_t *exec_private_host(struct exec_worker *k, const struct sim_alloc *a, bool writes)
{
    for (size_t i = 0; i < k->nviews; i++)
        if (k->views[i].addr == a->addr)
            return k->views[i].host;
    if (!writes && may_share(k, a))
        return a->host;
    forget_shared(k, a->addr);
    const struct sim_mem_entry *e = sim_mem_entry(k->x->p->mem, a->addr);
    if (!e || !base_grow((void **)&k->views, k->nviews, &k->cap_views, sizeof *k->views))
        return NULL;
    const struct sim_program *p = k->x->p;
    uint8_t *host = sim_mem_view(
        p->mem, e,
        k->lean && (p->timing_ignores_data || (p->timing_reads_only_symbols && !a->variable)));
    if (host)
        k->views[k->nviews++] = (struct exec_view){ a->addr, e->mapped, host };
    return host;
}

/* The same of a part's memory. */
static struct span_of part_span(struct exec_warp *w, const struct exec_inst *in, uint64_t a,
                                unsigned bytes, bool writes)
{
    const struct part *part = w->x->p->part;
    struct sim_alloc *c = &w->k->cache[in->mem_id];
    if (a - c->addr < c->n)
        return (struct span_of){ c->addr, c->n, c->host };
    struct part_bytes b = part->at(part->ctx, a, bytes, writes);
    if (b.moved)
        forget_shared(w->k, b.addr);
    if (b.stays)
        *c = (struct sim_alloc){ .addr = b.addr, .n = b.n, .host = b.host };
    return (struct span_of){ b.addr, b.n, b.host };
}

static struct span_of span_find(struct exec_warp *w, const struct exec_inst *in, enum ptx_space space,
                                uint32_t lane, uint64_t a, unsigned bytes, bool writes)
{
    struct sim_alloc *c;
    const struct sim_alloc *found;
    switch (space) {
    case PTX_SPACE_SHARED:
        if (a >= CLUSTER_STEP && (in->flags & EXEC_F_CLUSTER || in->space == PTX_SPACE_GENERIC))
            return peer_span(w, a);
        return (struct span_of){ 0, w->x->shared_bytes, w->cta->shared };
    case PTX_SPACE_LOCAL:
        return (struct span_of){ 0, w->x->local_bytes, w->local + (size_t)lane * w->x->local_bytes };
    case PTX_SPACE_PARAM: return (struct span_of){ 0, w->x->nparams, w->x->params };
    default: break;
    }
    if (w->x->p->part)
        return part_span(w, in, a, bytes, writes);
    c = &w->k->cache[in->mem_id];
    if (a - c->addr >= c->n && (found = sim_mem_find(w->x->p->mem, a))) {
        if (w->lean && in->reach != REACH_ANY && (in->reach == REACH_VARIABLES) != found->variable)
            atomic_store(&w->x->astray, true);
        uint8_t *own = w->k->private_view && !found->constant ? exec_private_host(w->k, found, writes)
                                                              : found->host;
        if (own && !w->k->private_view)
            own = exec_was_host(w->k, in, found, writes);
        if (!own)
            return (struct span_of){ 0, 0, NULL };
        if (writes && !w->k->private_view)
            sim_mem_note_written(w->x->p->mem, found);
        *c = *found;
        c->host = own;
    }
    return (struct span_of){ c->addr, c->n, c->host };
}

static void record(struct exec_warp *w, const struct exec_inst *in, enum exec_access_kind kind,
                   enum ptx_space space, unsigned bytes, uint32_t mask, const uint64_t *a)
{
    struct exec_access *r = w->rec;
    r->kind = (uint8_t)kind;
    r->space = (uint8_t)(space == PTX_SPACE_SHARED && a[first_lane(mask)] >= CLUSTER_STEP
                             ? PTX_SPACE_SHARED_CLUSTER
                             : space);
    r->bytes = (uint16_t)bytes;
    r->mask = mask;
    r->level = 0;
    r->shape = SHAPE_EACH;
    r->bulk = 0;
    r->nbox = 0;
    r->hint = in->policy.hint ? ((const uint64_t *)slot_at(w, in->d))[first_lane(mask)] : 0;
    if (a != r->addr)
        memcpy(r->addr, a, sizeof r->addr);
}

void exec_record_run(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, bool same,
                     uint64_t a)
{
    struct exec_access *r = w->rec;
    r->kind = in->store ? ACCESS_STORE : ACCESS_LOAD;
    r->space = in->space;
    r->bytes = (uint16_t)(in->bytes * in->vec);
    r->mask = mask;
    r->level = 0;
    r->shape = same ? SHAPE_SAME : SHAPE_SEQ;
    r->bulk = 0;
    r->nbox = 0;
    r->hint = in->policy.hint ? ((const uint64_t *)slot_at(w, in->d))[first_lane(mask)] : 0;
    r->addr[0] = a;
}

void exec_access_spread(struct exec_access *a)
{
    uint64_t step = a->shape == SHAPE_SEQ ? a->bytes : 0;
    for (uint32_t i = 1; a->shape != SHAPE_EACH && i < WARP_LANES; i++)
        a->addr[i] = a->addr[0] + i * step;
    a->shape = SHAPE_EACH;
}

void exec_box_run(struct exec_warp *w, uint64_t addr, uint64_t n)
{
    struct exec_worker *k = w->k;
    for (uint64_t end = addr + n, next; addr < end; addr = next) {
        next = (addr | 127) + 1;
        uint64_t last = (next < end ? next : end) - 1, line = addr >> 7,
                 sectors = (2u << (last >> 5 & 3)) - (1u << (addr >> 5 & 3));
        if (k->tensor.nbox && k->tensor.box[k->tensor.nbox - 1] >> 4 == line)
            k->tensor.box[k->tensor.nbox - 1] |= sectors;
        else if (base_grow((void **)&k->tensor.box, k->tensor.nbox, &k->tensor.cap_box,
                           sizeof *k->tensor.box))
            k->tensor.box[k->tensor.nbox++] = line << 4 | sectors;
    }
}

void exec_box_end(struct exec_warp *w)
{
    w->rec->box = w->k->tensor.box;
    w->rec->nbox = (uint32_t)w->k->tensor.nbox;
    if (!w->k->tensor.nbox)
        w->rec->kind = ACCESS_NONE;
}

static enum exec_access_kind kind_of(const struct exec_inst *in)
{
    switch (ptx_op_info(in->ptx->op)->effect) {
    case EFFECT_STORE: return ACCESS_STORE;
    case EFFECT_ATOMIC:
        return in->ptx->op == PTX_OP_ATOM && ((const struct exec_atom *)in->x)->returns ? ACCESS_ATOMIC
                                                                                        : ACCESS_RED;
    case EFFECT_PREFETCH: return ACCESS_PREFETCH;
    case EFFECT_ASYNC_COPY: return ACCESS_ASYNC;
    case EFFECT_BARRIER: return ACCESS_ATOMIC;
    default: return ACCESS_LOAD;
    }
}

void exec_record(struct exec_warp *w, const struct exec_inst *in, enum ptx_space space, uint32_t mask,
                 const uint64_t a[WARP_LANES])
{
    record(w, in, in->store ? ACCESS_STORE : ACCESS_LOAD, space, (unsigned)in->bytes * in->vec, mask, a);
}

/* Where all lanes are in one span, or each in one of its own `apart` bytes behind the last, aligned:
 * without a branch for each. False: to be found lane by lane, `p` is spoilt. */
#define MANY_LANES 8u
static bool map_span(const struct span_of *c, uint64_t apart, uint32_t mask, unsigned bytes,
                     const uint64_t *restrict a, uint64_t *restrict p)
{
    uint64_t lo = c->lo, host = (uint64_t)(uintptr_t)c->host, any = 0;
    if (c->n < bytes)
        return false;
    uint64_t last = c->n - bytes, low = bytes - 1;
    for (unsigned i = 0; i < WARP_LANES; i++) {
        uint64_t off = a[i] - lo, bad = (uint64_t)(off > last) | (a[i] & low);
        any |= bad & (0 - (uint64_t)(mask >> i & 1));
        p[i] = host + off + i * apart;
    }
    return !any;
}

/* In the allocation that this instruction found last, the CTA's shared memory, or each lane's own. */
static bool map_alike(const struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                      enum ptx_space space, unsigned bytes, const uint64_t *a, uint64_t *p)
{
    struct span_of m;
    uint64_t apart = 0;
    if (lane_count(mask) < MANY_LANES)
        return false;
    if (space == PTX_SPACE_GLOBAL || space == PTX_SPACE_CONST) {
        const struct sim_alloc *c = &w->k->cache[in->mem_id];
        m = (struct span_of){ c->addr, c->n, c->host };
    } else if (space == PTX_SPACE_SHARED) {
        m = (struct span_of){ 0, w->x->shared_bytes, w->cta->shared };
    } else if (space == PTX_SPACE_LOCAL) {
        m = (struct span_of){ 0, w->x->local_bytes, w->local };
        apart = w->x->local_bytes;
    } else {
        return false;
    }
    return map_span(&m, apart, mask, bytes, a, p);
}

static uint64_t stray(struct exec_warp *w)
{
    const struct part *part = w->x->p->part;
    part->stray(part->ctx);
    memset(w->k->stray, 0, sizeof w->k->stray);
    return (uint64_t)(uintptr_t)w->k->stray;
}

/* Writes the host pointer of every lane; offsets in the first lane's space replace generic addresses in
 * `a`. */
static bool map_lanes(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                      enum ptx_space space, unsigned bytes, bool writes, uint64_t *a, uint64_t *p,
                      enum ptx_space *first, uint32_t *first_mask)
{
    *first = PTX_SPACE_GENERIC;
    *first_mask = 0;
    if (map_alike(w, in, mask, space, bytes, a, p)) {
        *first = space;
        *first_mask = mask;
        return true;
    }
    FOR_LANES(i, mask)
    {
        enum ptx_space s = place(space, &a[i]);
        if (*first == PTX_SPACE_GENERIC)
            *first = s;
        *first_mask |= (uint32_t)(s == *first) << i;
        struct span_of m = span_find(w, in, s, i, a[i], bytes, writes);
        bool out = a[i] - m.lo >= m.n || bytes > m.n - (a[i] - m.lo);
        if (out && w->x->p->part) {
            p[i] = stray(w);
            continue;
        }
        if (out || (a[i] & (bytes - 1) && !w->x->p->part)) {
            exec_fault_access(w, in, i, s, a[i], bytes, !out);
            return false;
        }
        p[i] = (uint64_t)(uintptr_t)(m.host + (a[i] - m.lo));
    }
    return true;
}

void exec_record_place(struct exec_warp *w, const struct exec_inst *in, enum ptx_space space,
                       uint32_t mask)
{
    enum ptx_space first = space;
    uint32_t there = space == PTX_SPACE_GENERIC ? 0 : mask;
    uint64_t *a = w->rec->addr;
    FOR_LANES(i, mask & ~there)
    {
        enum ptx_space s = place(space, &a[i]);
        first = first == PTX_SPACE_GENERIC ? s : first;
        there |= (uint32_t)(s == first) << i;
    }
    record(w, in, kind_of(in), first, (unsigned)in->bytes * in->vec, there, a);
}

bool exec_resolve_at(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                     enum ptx_space space, unsigned bytes, enum exec_access_kind kind,
                     const uint64_t given[WARP_LANES], uint64_t p[WARP_LANES])
{
    uint64_t a[WARP_LANES];
    enum ptx_space first;
    uint32_t first_mask;
    memcpy(a, given, sizeof a);
    if (!map_lanes(w, in, mask, space, bytes, kind != ACCESS_LOAD, a, p, &first, &first_mask))
        return false;
    if (w->x->checks) {
        exec_check(w, in, first_mask, first, kind, bytes, a, p);
        if (w->cta->fault)
            return false;
    }
    if (w->recording)
        record(w, in, kind, first, bytes, first_mask, a);
    return true;
}

void exec_addresses(struct exec_warp *w, uint32_t slot, bool wide, int32_t imm, uint64_t a[WARP_LANES])
{
    const uint64_t *r64 = slot_at(w, slot);
    const uint32_t *r32 = slot_at(w, slot);
    if (wide)
        for (unsigned i = 0; i < WARP_LANES; i++)
            a[i] = r64[i] + (uint64_t)(int64_t)imm;
    else
        for (unsigned i = 0; i < WARP_LANES; i++)
            a[i] = r32[i] + (uint32_t)imm;
}

enum mem_pattern exec_resolve(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                              uint64_t p[WARP_LANES])
{
    uint64_t a[WARP_LANES];
    exec_addresses(w, in->a, in->flags & EXEC_F_BASE64, in->imm, a);
    if (in->flags & EXEC_F_FRAME)
        for (unsigned i = 0; i < WARP_LANES; i++)
            a[i] += w->frame->base[i];
    if (!exec_resolve_at(w, in, mask, in->space, (unsigned)in->bytes * in->vec, kind_of(in), a, p))
        return MEM_FAULT;
    if (in->load_id != EXEC_NO_ID) {
        w->k->loads[in->load_id].executions++;
        w->k->loads[in->load_id].threads += lane_count(mask);
    }
    uint64_t same = 0, seq = 0, p0 = p[first_lane(mask)];
    FOR_LANES(i, mask)
    {
        same |= p[i] ^ p0;
        seq |= p[i] ^ (p0 + (uint64_t)i * in->bytes);
    }
    return !same ? MEM_SAME : !seq && mask == EXEC_FULL ? MEM_SEQ : MEM_ANY;
}
