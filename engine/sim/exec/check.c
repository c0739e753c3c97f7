/* The sanitiser: reads of memory nobody wrote, and accesses by two warps or CTAs that nothing orders.
 *
 * Order between the warps of a CTA is kept in vector clocks: a barrier joins the clocks of the warps
 * that arrived; a fence, an atomic or a volatile access joins with what other warps had made visible
 * the same way, which is generous: races may be missed, none is invented. Lanes of one warp have an
 * order of their own (lane_order.h). What is remembered of memory is its last writer and the last two readers since
 * (shadow.h).
 *
 * A plain store that leaves what is there commutes with the last write and with the reads since: it is
 * no race but a meeting of equal values, told as such. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/lane_order.h"
#include "engine/sim/exec/shadow.h"
#include "engine/sim/exec/slots.h"
#include "engine/sim/exec/tensor/flight.h"
#include "engine/sim/mem.h"

#include <stdio.h>
#include <string.h>

struct exec_shadow_map {
    struct shadow_map global;
    /* the first meeting of equal values that the lowest CTA saw */
    struct {
        bool set;
        uint64_t cta;
        struct span at;
        uint32_t line; /* of the other store */
        char place[80];
    } same;
};
struct exec_shadow {
    struct shadow_block **blocks; /* of shared memory */
    uint8_t *init;                /* bit per byte of it: written */
    uint32_t *clock;              /* [nwarps][nwarps] */
    uint32_t *visible;            /* [nwarps] */
    /* [nwarps] clock of each when all threads of the cluster met last */
    uint32_t *met;
    struct lane_order **lanes; /* [nwarps], made at the first access; NULL: not looked at */
    /* the CTA has fenced or used atomics: it may be ordered with others */
    bool synced;
};

bool exec_check_launch(struct exec_launch *x)
{
    if (x->l->check_uninit && !sim_mem_track_init(x->p->mem))
        return false;
    return !x->l->check_races || (x->shadows = base_alloc(sizeof *x->shadows));
}

void exec_check_free(struct exec_launch *x)
{
    if (!x->shadows)
        return;
    shadow_map_free(&x->shadows->global);
    base_free(x->shadows);
}

static size_t shared_blocks(const struct exec_cta *c)
{
    return c->x->shared_bytes / SHADOW_BLOCK + 1;
}
static size_t init_bytes(const struct exec_cta *c)
{
    return c->x->shared_bytes / 8 + 1;
}

bool exec_check_cta(struct exec_cta *c)
{
    if (!c->x->checks)
        return true;
    struct exec_shadow *s = base_alloc(sizeof *s);
    if (!(c->shadow = s))
        return false;
    s->blocks = base_alloc(shared_blocks(c) * sizeof *s->blocks);
    s->init = base_alloc(init_bytes(c));
    s->clock = base_alloc((size_t)c->nwarps * c->nwarps * sizeof *s->clock);
    s->visible = base_alloc(c->nwarps * sizeof *s->visible);
    s->met = base_alloc(c->nwarps * sizeof *s->met);
    if (c->x->l->check_races && c->x->p->module->target >= LANE_ORDER_FIRST_TARGET &&
        !(s->lanes = base_alloc(c->nwarps * sizeof *s->lanes)))
        return false;
    if (c->x->l->check_races && c->x->p->flies &&
        !(c->flight = flight_new(c->x->shared_bytes, c->nwarps)))
        return false;
    return s->blocks && s->init && s->clock && s->visible && s->met;
}

void exec_check_cta_free(struct exec_cta *c)
{
    struct exec_shadow *s = c->shadow;
    flight_free(c->flight);
    c->flight = NULL;
    if (!s)
        return;
    for (size_t i = 0; s->blocks && i < shared_blocks(c); i++)
        shadow_free(s->blocks[i]);
    for (uint32_t i = 0; s->lanes && i < c->nwarps; i++)
        lane_order_free(s->lanes[i]);
    BASE_FREE(s->lanes, s->blocks, s->init, s->clock, s->visible, s->met, s);
    c->shadow = NULL;
}

void exec_check_cta_start(struct exec_cta *c)
{
    struct exec_shadow *s = c->shadow;
    if (!s)
        return;
    for (size_t i = 0; i < shared_blocks(c); i++)
        shadow_clear(s->blocks[i]);
    memset(s->init, 0, init_bytes(c));
    memset(s->clock, 0, (size_t)c->nwarps * c->nwarps * sizeof *s->clock);
    memset(s->visible, 0, c->nwarps * sizeof *s->visible);
    memset(s->met, 0, c->nwarps * sizeof *s->met);
    for (uint32_t i = 0; i < c->nwarps; i++) {
        s->clock[i * c->nwarps + i] = 1;
        if (s->lanes && s->lanes[i])
            lane_order_all(s->lanes[i]);
    }
    s->synced = false;
    flight_start(c->flight);
}

/* ---- order ---- */
static uint32_t *clock_of(const struct exec_warp *w)
{
    return w->cta->shadow->clock + (size_t)w->index * w->cta->nwarps;
}

static void lanes_all(struct exec_warp *w)
{
    struct exec_shadow *s = w->cta->shadow;
    if (s && s->lanes && s->lanes[w->index])
        lane_order_all(s->lanes[w->index]);
}

void exec_check_lanes(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    struct exec_shadow *s = w->cta->shadow;
    if (!s || !s->lanes || !s->lanes[w->index])
        return;
    const uint32_t *named = slot_at(w, in->d);
    while (mask) { /* each party for itself */
        uint32_t members = named[first_lane(mask)], same = 0;
        FOR_LANES(i, mask) same |= (uint32_t)(named[i] == members) << i;
        bool all = !(w->live & ~members); /* who has ended does nothing any more */
        lane_order_join(s->lanes[w->index], all ? EXEC_FULL : members);
        mask &= ~same;
    }
}

static void join(uint32_t *to, const uint32_t *from, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = to[i] > from[i] ? to[i] : from[i];
}

/* All warps of the CTA: a barrier some of whose threads did not arrive orders more than it must. */
void exec_check_barrier(struct exec_cta *c)
{
    struct exec_shadow *s = c->shadow;
    if (!s)
        return;
    for (uint32_t i = 0; i < c->nwarps; i++)
        lanes_all(&c->warps[i]);
    for (uint32_t i = 0; i < c->nwarps; i++)
        join(s->visible, s->clock + (size_t)i * c->nwarps, c->nwarps);
    for (uint32_t i = 0; i < c->nwarps; i++) {
        join(s->clock + (size_t)i * c->nwarps, s->visible, c->nwarps);
        s->clock[(size_t)i * c->nwarps + i]++;
    }
}

void exec_check_cluster(struct exec_cta *lead)
{
    for (uint32_t r = 0; lead->shadow && r < lead->x->cluster_ctas; r++) {
        struct exec_shadow *s = lead->peer[r]->shadow;
        exec_check_barrier(lead->peer[r]);
        for (uint32_t i = 0; i < lead->nwarps; i++)
            s->met[i] = s->clock[(size_t)i * lead->nwarps + i];
    }
}

/* What the warp did is before what others do that look in the same way. */
void exec_check_visible(struct exec_warp *w)
{
    struct exec_shadow *s = w->cta->shadow;
    if (!s)
        return;
    uint32_t *mine = clock_of(w), n = w->cta->nwarps;
    join(mine, s->visible, n);
    join(s->visible, mine, n);
    mine[w->index]++;
    s->synced = true;
}

void exec_check_warp(struct exec_warp *w)
{
    exec_check_visible(w);
    lanes_all(w);
}

/* ---- races ---- */
/* One access of a warp to bytes side by side. */
struct access {
    struct exec_warp *w;
    shadow_who me, other; /* what it races with */
    uint32_t line, at;    /* of this access; of the other */
    bool write, atomic, fresh;
    bool same;  /* the store leaves what is there */
    bool met;   /* it met a store that nothing orders with it, of the same value */
    bool wrote; /* the other did */
};

/* By what another CTA of its cluster did before all its threads met. */
static bool met_since(const struct exec_warp *w, shadow_who o)
{
    uint32_t n = w->x->cluster_ctas, cta = shadow_cta(o);
    return cta / n == (uint32_t)(w->cta->order / n) &&
           shadow_clock(o) < w->cta->lead->peer[cta % n]->shadow->met[shadow_warp(o)];
}

static bool ordered(const struct exec_warp *w, shadow_who o, bool atomic)
{
    if (!o || (shadow_atomic(o) && atomic))
        return true;
    if (shadow_cta(o) != (uint32_t)w->cta->order)
        return w->cta->shadow->synced || met_since(w, o);
    return shadow_warp(o) == w->index || shadow_clock(o) <= clock_of(w)[shadow_warp(o)];
}

/* A store of what is there. The writer before stays where nothing orders the two: who reads later must
 * be ordered with it. */
static bool use_same(struct access *x, struct shadow_state *s)
{
    bool is_ordered = ordered(x->w, s->w, false);
    if (!is_ordered) {
        x->met = true;
        x->at = s->line;
        if (!shadow_same(s->w))
            return true;
    }
    bool again = s->w && !shadow_same(s->w) && shadow_warp(s->w) == shadow_warp(x->me) &&
                 shadow_cta(s->w) == shadow_cta(x->me);
    s->w = x->me | (again ? 0 : SHADOW_SAME);
    s->line = x->line;
    return true;
}

static bool use(void *ctx, struct shadow_state *s)
{
    struct access *x = ctx;
    const shadow_who all[] = { s->w, s->r[0], s->r[1] };
    const uint32_t lines[] = { s->line, s->rline[0], s->rline[1] };
    if (x->fresh) {
        *s = (struct shadow_state){ 0 };
        return true;
    }
    if (x->same)
        return use_same(x, s);
    for (unsigned k = 0; k < (x->write ? 3u : 1u); k++)
        if (!ordered(x->w, all[k], x->atomic) && (x->write || !shadow_same(all[k]))) {
            x->other = all[k];
            x->at = lines[k];
            x->wrote = k == 0;
            return false;
        }
    if (x->write) {
        s->w = x->me;
        s->line = x->line;
        if (!x->atomic) /* who is ordered with this store is ordered with the reads before it */
            s->r[0] = s->r[1] = 0;
        return true;
    }
    unsigned k = s->r[0] && (shadow_warp(s->r[0]) != shadow_warp(x->me) ||
                             shadow_cta(s->r[0]) != shadow_cta(x->me));
    s->r[k] = x->me;
    s->rline[k] = x->line;
    return true;
}

/* Addresses at..end, of shared memory where `owner` is whose it is. Returns how far it came. False in
 * *ok: out of memory. */
static uint64_t use_all(struct exec_launch *l, const struct exec_cta *owner, uint64_t at, uint64_t end,
                        struct access *x, bool *ok)
{
    *ok = true;
    while (at < end && *ok) {
        uint64_t base = at - at % SHADOW_BLOCK,
                 to = end - base < SHADOW_BLOCK ? end - base : SHADOW_BLOCK;
        struct shadow_block **slot =
            owner ? &owner->shadow->blocks[base / SHADOW_BLOCK] : shadow_at(&l->shadows->global, at);
        uint32_t got = slot ? shadow_use(slot, (uint32_t)(at - base), (uint32_t)to, use, x) : UINT32_MAX;
        *ok = got != UINT32_MAX;
        at = *ok ? base + got : at;
        if (got < to)
            break;
    }
    return at;
}

void exec_check_fresh(struct exec_launch *x, uint64_t addr, uint64_t n)
{
    struct access none = { .fresh = true };
    bool ok;
    if (x->shadows)
        use_all(x, NULL, addr, addr + n, &none, &ok);
}

/* Where an address lies: in which memory, in what, how far from its start. */
struct found {
    const char *space, *name;
    unsigned long long at, off;
};
static struct found find(const struct exec_warp *w, enum ptx_space space, uint64_t addr)
{
    const struct sim_alloc *a = space == PTX_SPACE_GLOBAL ? sim_mem_find(w->x->p->mem, addr) : NULL;
    return a ? (struct found){ "global", a->name, addr, addr - a->addr }
             : (struct found){ "shared", "shared memory", addr, addr };
}

static void race_fault(struct exec_warp *w, const struct exec_inst *in, uint32_t lane,
                       enum ptx_space space, uint64_t addr, const struct access *x)
{
    struct found f = find(w, space, addr);
    exec_fault_race(
        w, in, lane, x->at,
        "race: %s of %s address 0x%llx (%s+%llu) with the %s of warp %u of CTA %u at line %u, and "
        "nothing orders the two",
        x->write ? "write" : "read", f.space, f.at, f.name, f.off,
        shadow_atomic(x->other) ? "atomic or volatile access"
        : x->wrote              ? "write"
                                : "read",
        shadow_warp(x->other), shadow_cta(x->other), x->at);
}

static void lanes_fault(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, uint32_t other,
                        enum ptx_space space, uint64_t addr)
{
    struct found f = find(w, space, addr);
    exec_fault(w, in, lane, FAULT_LANES,
               "race: lanes %u and %u of warp %u write different values to %s address 0x%llx (%s+%llu) "
               "with one store, and nothing says which stays",
               other, lane, w->index, f.space, f.at, f.name, f.off);
}

static void note_same(struct exec_warp *w, const struct exec_inst *in, enum ptx_space space,
                      uint64_t addr, const struct access *x)
{
    struct exec_shadow_map *m = w->x->shadows;
    struct found f = find(w, space, addr);
    if (m->same.set && m->same.cta <= w->cta->order)
        return;
    m->same.set = true;
    m->same.cta = w->cta->order;
    m->same.at = in->ptx ? in->ptx->at : NO_SPAN;
    m->same.line = x->at;
    snprintf(m->same.place, sizeof m->same.place, "%s+%llu", f.name, f.off);
}

void exec_check_tell(const struct exec_launch *x, struct diags *ds)
{
    const struct exec_shadow_map *m = x->shadows;
    if (!m || !m->same.set)
        return;
    struct diag *d = diag_add(ds, DIAG_NOTE, "same-value", x->p->module->path, m->same.at,
                              "unordered stores write the same value to %s (here and at line %u): the "
                              "result does not depend on their order",
                              m->same.place, m->same.line);
    if (d && m->same.at.line)
        diag_source(d, x->p->module->text);
}

/* Lanes of `mask`, whose addresses lie side by side from `lo` to `hi`. */
static void check_race(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                       enum ptx_space space, uint64_t lo, uint64_t hi, const uint64_t a[WARP_LANES],
                       unsigned bytes, struct access *x)
{
    uint64_t off = lo;
    const struct exec_cta *owner = space == PTX_SPACE_SHARED ? cluster_cta(w->cta, lo, &off) : NULL;
    bool ok;
    uint64_t stopped = use_all(w->x, owner, off, off + (hi - lo), x, &ok) - off + lo;
    if (x->met)
        note_same(w, in, space, lo, x);
    x->met = false;
    if (stopped == hi)
        return;
    FOR_LANES(i, mask)
    if (a[i] <= stopped && stopped - a[i] < bytes) {
        if (ok)
            race_fault(w, in, i, space, a[i], x);
        else
            exec_fault(w, in, i, FAULT_NOMEM, "no memory for the race check");
        return;
    }
}

/* The value that element k of a plain store has in lane i. */
static const uint8_t *stored(const struct exec_warp *w, const struct exec_inst *in, unsigned k,
                             uint32_t i)
{
    const struct exec_ldst *x = in->x;
    return (const uint8_t *)slot_at(w, x->slot[k]) + i * (x->reg_bits > 32 ? 8u : 4u);
}

/* Lanes whose plain store leaves what is there. */
static uint32_t same_lanes(const struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                           const uint64_t p[WARP_LANES])
{
    uint32_t same = mask;
    if (!in->store || !in->ptx || in->ptx->op != PTX_OP_ST || in->bytes > 8)
        return 0;
    for (unsigned k = 0; k < in->vec; k++)
        FOR_LANES(i, same)
        {
            const uint8_t *here = (const uint8_t *)(uintptr_t)p[i] + k * in->bytes;
            if (memcmp(here, stored(w, in, k, i), in->bytes) != 0)
                same &= ~(UINT32_C(1) << i);
        }
    return same;
}

/* Lanes of a plain store that write the same element with different values: PTX ISA 9.7.9.11 leaves
 * open which stays. True: told. */
static bool lanes_meet(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                       enum ptx_space space, const uint64_t a[WARP_LANES])
{
    if (!in->store || !in->ptx || in->ptx->op != PTX_OP_ST || in->bytes > 8)
        return false;
    for (uint32_t rest = mask & (mask - 1); rest; rest &= rest - 1) {
        uint32_t i = first_lane(rest);
        FOR_LANES(j, mask & ((UINT32_C(1) << i) - 1))
        for (unsigned k = 0; a[i] == a[j] && k < in->vec; k++)
            if (memcmp(stored(w, in, k, i), stored(w, in, k, j), in->bytes) != 0) {
                lanes_fault(w, in, i, j, space, a[i] + k * in->bytes);
                return true;
            }
    }
    return false;
}

/* Runs of lanes whose bytes lie side by side, or upon each other. */
static void check_races(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                        enum ptx_space space, unsigned bytes, const uint64_t a[WARP_LANES],
                        uint32_t same, bool write, bool atomic)
{
    struct access x = { .w = w,
                        .me = shadow_access((uint32_t)w->cta->order, w->index, clock_of(w)[w->index],
                                            atomic),
                        .line = in->ptx ? in->ptx->at.line : 0,
                        .write = write,
                        .atomic = atomic };
    uint32_t run = 0;
    uint64_t lo = 0, hi = 0;
    FOR_LANES(i, mask)
    {
        if (run && (a[i] < lo || a[i] > hi || (same >> i & 1) != x.same)) {
            check_race(w, in, run, space, lo, hi, a, bytes, &x);
            run = 0;
            if (w->cta->fault)
                return;
        }
        x.same = same >> i & 1;
        lo = run ? lo : a[i];
        hi = run && a[i] + bytes <= hi ? hi : a[i] + bytes;
        run |= UINT32_C(1) << i;
    }
    if (run)
        check_race(w, in, run, space, lo, hi, a, bytes, &x);
}

/* ---- lanes of one warp ---- */
static void lane_race(struct exec_warp *w, const struct exec_inst *in, uint32_t lane,
                      enum ptx_space space, uint64_t addr, bool write, const struct lane_meeting *o)
{
    struct found f = find(w, space, addr);
    exec_fault_race(w, in, lane, o->line,
                    "race: %s of %s address 0x%llx (%s+%llu) by lane %u with the %s of lane %u of the "
                    "same warp at line %u, and nothing orders the two lanes\n"
                    "put __syncwarp() between them: since sm_70 lanes of a warp need not run together",
                    write ? "write" : "read", f.space, f.at, f.name, f.off, lane,
                    o->wrote ? "write" : "read", o->lane, o->line);
}

/* A warp takes 36 KB: of a large grid, CTAs spread evenly over it are looked at, and the last. */
#define LANE_WARPS 512u
static bool looks_at_lanes(const struct exec_cta *c)
{
    const struct dim3u *g = &c->x->l->grid;
    uint64_t n = (uint64_t)g->x * g->y * g->z, step = (n * c->nwarps + LANE_WARPS - 1) / LANE_WARPS;
    uint64_t at = c->id[0] + (uint64_t)g->x * (c->id[1] + (uint64_t)g->y * c->id[2]);
    return at % (step ? step : 1) == 0 || at + 1 == n;
}

/* True: told. */
static bool lanes_race(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                       enum ptx_space space, unsigned bytes, const uint64_t a[WARP_LANES], bool write)
{
    struct exec_shadow *s = w->cta->shadow;
    struct lane_meeting other;
    if (!s->lanes || !looks_at_lanes(w->cta))
        return false;
    if (!s->lanes[w->index] && !(s->lanes[w->index] = lane_order_new())) {
        exec_fault(w, in, first_lane(mask), FAULT_NOMEM, "no memory for the race check");
        return true;
    }
    /* an access that is itself for all lanes of the warp (ldmatrix, wmma.load) waits for them */
    if (in->ptx && ptx_has_mod(in->ptx, PTX_MOD_SYNC)) {
        lane_order_all(s->lanes[w->index]);
        return false;
    }
    lane_order_turn(s->lanes[w->index]);
    FOR_LANES(i, mask)
    if (lane_order_use(s->lanes[w->index], i, a[i], bytes, write, in->ptx ? in->ptx->at.line : 0,
                       &other)) {
        lane_race(w, in, i, space, a[i], write, &other);
        return true;
    }
    return false;
}

/* ---- uninitialised memory ---- */
static void check_init(struct exec_warp *w, const struct exec_inst *in, uint32_t lane,
                       enum ptx_space space, uint64_t addr, unsigned bytes, bool write)
{
    struct sim_mem_entry *e = space == PTX_SPACE_GLOBAL ? sim_mem_entry(w->x->p->mem, addr) : NULL;
    uint64_t off = e ? addr - e->a.addr : addr;
    uint8_t *init = e ? e->init : cluster_cta(w->cta, addr, &off)->shadow->init;
    if (!init)
        return;
    /* accesses are aligned: their bits lie in one byte, or fill whole ones */
    for (uint64_t i = off; i < off + bytes; i += 8) {
        unsigned n = off + bytes - i < 8 ? (unsigned)(off + bytes - i) : 8;
        uint8_t bits = (uint8_t)(((1u << n) - 1) << (i & 7));
        if (write) {
            init[i >> 3] |= bits;
        } else if ((init[i >> 3] & bits) != bits) {
            exec_fault(w, in, lane, FAULT_UNINIT,
                       "read of %u bytes nobody has written at %s address 0x%llx (%s+%llu)", bytes,
                       e ? "global" : "shared", (unsigned long long)addr,
                       e ? e->a.name : "shared memory", (unsigned long long)off);
            return;
        }
    }
}

/* PTX ISA 8.3: .volatile, .relaxed, .acquire and .release are strong, and strong accesses do not race
 * with each other. */
static bool strong(const struct ptx_inst *i)
{
    static const enum ptx_mod mods[] = { PTX_MOD_VOLATILE, PTX_MOD_RELAXED, PTX_MOD_ACQUIRE,
                                         PTX_MOD_RELEASE, PTX_MOD_MMIO };
    bool is = false;
    for (size_t k = 0; i && k < ARRAY_LEN(mods); k++)
        is = is || ptx_has_mod(i, mods[k]);
    return is;
}

static void tell_touch(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                       enum ptx_space space, enum exec_access_kind kind, unsigned bytes,
                       const uint64_t a[WARP_LANES])
{
    bool both = kind == ACCESS_ATOMIC || kind == ACCESS_RED;
    struct sim_touch t = { .addr = a,
                           .cta = (uint32_t)w->cta->order,
                           .warp = w->index,
                           .mask = mask,
                           .shared = space == PTX_SPACE_SHARED,
                           .bytes = bytes,
                           .reads = both || kind == ACCESS_LOAD || kind == ACCESS_ASYNC,
                           .writes = both || kind == ACCESS_STORE,
                           .type = in->ptx->ntypes ? in->ptx->type[in->ptx->ntypes - 1] : PTX_T_NONE };
    w->x->l->touch.fn(w->x->l->touch.ctx, &t);
}

void exec_tell_shared(struct exec_warp *w, const struct exec_inst *in, uint64_t addr, unsigned bytes)
{
    if (!w->x->l->touch.fn || !w->x->l->touch.shared)
        return;
    uint64_t a[WARP_LANES] = { addr };
    tell_touch(w, in, 1, PTX_SPACE_SHARED, ACCESS_LOAD, bytes, a);
}

/* Against the asynchronous copies under way; false: told. The copy engine's own accesses are those of
 * instructions that copy. */
static bool look_at_copies(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                           enum exec_access_kind kind, unsigned bytes, const uint64_t a[WARP_LANES])
{
    bool plain = !in->ptx || ptx_op_info(in->ptx->op)->effect != EFFECT_ASYNC_COPY ||
                 in->ptx->op == PTX_OP_CP_ASYNC,
         write = kind != ACCESS_LOAD && kind != ACCESS_ASYNC;
    uint64_t off;
    FOR_LANES(i, mask)
    {
        struct exec_cta *c = cluster_cta(w->cta, a[i], &off);
        flight_look(w, in, i, c, off, bytes, write, !plain);
        if (w->cta->fault)
            return false;
    }
    return true;
}

void exec_check(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, enum ptx_space space,
                enum exec_access_kind kind, unsigned bytes, const uint64_t a[WARP_LANES],
                const uint64_t p[WARP_LANES])
{
    bool told = space == PTX_SPACE_GLOBAL || (space == PTX_SPACE_SHARED && w->x->l->touch.shared);
    if (w->x->l->touch.fn && told && kind != ACCESS_PREFETCH)
        tell_touch(w, in, mask, space, kind, bytes, a);
    if ((space != PTX_SPACE_GLOBAL && space != PTX_SPACE_SHARED) ||
        (!w->x->l->check_uninit && !w->x->l->check_races))
        return;
    /* cp.async.mbarrier.arrive too, whose kind is a copy's */
    bool barrier_object = in->cls == CLASS_BARRIER;
    bool atomic =
        kind == ACCESS_ATOMIC || kind == ACCESS_RED || in->spin || barrier_object || strong(in->ptx);
    bool reads =
             kind == ACCESS_LOAD || kind == ACCESS_ASYNC || kind == ACCESS_ATOMIC || kind == ACCESS_RED,
         write = !reads || (atomic && kind != ACCESS_LOAD);
    /* a volatile access waits for no other lane */
    bool is_volatile = in->ptx && ptx_has_mod(in->ptx, PTX_MOD_VOLATILE);
    if (atomic)
        exec_check_visible(w);
    if (atomic && !is_volatile)
        lanes_all(w);
    if (space == PTX_SPACE_SHARED && w->cta->flight && !barrier_object &&
        !look_at_copies(w, in, mask, kind, bytes, a))
        return;
    FOR_LANES(i, w->x->l->check_uninit ? mask : 0)
    {
        if (reads && !barrier_object)
            check_init(w, in, i, space, a[i], bytes, false);
        if (write && !w->cta->fault)
            check_init(w, in, i, space, a[i], bytes, true);
        if (w->cta->fault)
            return;
    }
    if (!w->x->l->check_races || lanes_meet(w, in, write && !atomic ? mask : 0, space, a))
        return;
    uint32_t same = write ? same_lanes(w, in, mask, p) : 0;
    bool plain = !atomic || (is_volatile && space == PTX_SPACE_SHARED && !barrier_object);
    if (kind == ACCESS_ASYNC || !plain ||
        !lanes_race(w, in, mask & ~same, space, bytes, a, write && kind != ACCESS_ASYNC))
        check_races(w, in, mask, space, bytes, a, atomic ? 0 : same, write, atomic);
}
