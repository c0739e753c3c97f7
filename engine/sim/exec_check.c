/* The sanitiser: reads of memory nobody wrote, and accesses by two warps or CTAs that nothing orders.
 *
 * Order between the warps of a CTA is kept in vector clocks: a barrier joins the clocks of the warps
 * that arrived; a fence, an atomic or a volatile access joins with what other warps had made visible
 * the same way, which is generous: races may be missed, none is invented. Lanes of one warp are
 * taken to be ordered. A byte of shadow remembers its last writer and its last two readers. */
#include "engine/sim/mem.h"

#include <string.h>

#define PAGE 1024u
struct who { uint32_t cta, clock, met; uint16_t warp; uint8_t used, atomic; };   /* met: how often the cluster had met */
struct cell { struct who w, r[2]; };
struct page { uint64_t at; struct cell c[PAGE]; };
struct exec_shadow_map { struct page **slot; size_t n, cap; };
struct exec_shadow {
    struct cell *cells;              /* [shared bytes] */
    uint8_t *init;                   /* [shared bytes] */
    uint32_t *clock;                 /* [nwarps][nwarps] */
    uint32_t *visible;               /* [nwarps] */
    uint32_t met;                    /* times that all threads of the cluster have met */
    bool synced;                     /* the CTA has fenced or used atomics: it may be ordered with others */
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
    for (size_t i = 0; i < x->shadows->cap; i++)
        base_free(x->shadows->slot[i]);
    base_free(x->shadows->slot);
    base_free(x->shadows);
}

bool exec_check_cta(struct exec_cta *c)
{
    if (!c->x->checks)
        return true;
    struct exec_shadow *s = base_alloc(sizeof *s);
    if (!(c->shadow = s))
        return false;
    size_t n = c->x->shared_bytes + 1u;
    s->cells = c->x->l->check_races ? base_alloc(n * sizeof *s->cells) : NULL;
    s->init = base_alloc(n);
    s->clock = base_alloc((size_t)c->nwarps * c->nwarps * sizeof *s->clock);
    s->visible = base_alloc(c->nwarps * sizeof *s->visible);
    return s->init && s->clock && s->visible && (s->cells || !c->x->l->check_races);
}

void exec_check_cta_free(struct exec_cta *c)
{
    struct exec_shadow *s = c->shadow;
    if (!s)
        return;
    base_free(s->cells);
    base_free(s->init);
    base_free(s->clock);
    base_free(s->visible);
    base_free(s);
    c->shadow = NULL;
}

void exec_check_cta_start(struct exec_cta *c)
{
    struct exec_shadow *s = c->shadow;
    if (!s)
        return;
    size_t n = c->x->shared_bytes + 1u;
    if (s->cells)
        memset(s->cells, 0, n * sizeof *s->cells);
    memset(s->init, 0, n);
    memset(s->clock, 0, (size_t)c->nwarps * c->nwarps * sizeof *s->clock);
    memset(s->visible, 0, c->nwarps * sizeof *s->visible);
    for (uint32_t i = 0; i < c->nwarps; i++)
        s->clock[i * c->nwarps + i] = 1;
    s->synced = false;
    s->met = 0;
}

/* ---- order ---- */
static uint32_t *clock_of(const struct exec_warp *w) { return w->cta->shadow->clock + (size_t)w->index * w->cta->nwarps; }

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
        join(s->visible, s->clock + (size_t)i * c->nwarps, c->nwarps);
    for (uint32_t i = 0; i < c->nwarps; i++) {
        join(s->clock + (size_t)i * c->nwarps, s->visible, c->nwarps);
        s->clock[(size_t)i * c->nwarps + i]++;
    }
}

void exec_check_cluster(struct exec_cta *lead)
{
    for (uint32_t r = 0; lead->shadow && r < lead->x->cluster_ctas; r++) {
        exec_check_barrier(lead->peer[r]);
        lead->peer[r]->shadow->met++;
    }
}

void exec_check_warp(struct exec_warp *w)
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

/* ---- shadow of global memory ---- */
static struct page **page_slot(struct exec_shadow_map *m, uint64_t at)
{
    size_t i = (size_t)(at * 0x9e3779b97f4a7c15ull >> 20) & (m->cap - 1);
    while (m->slot[i] && m->slot[i]->at != at)
        i = (i + 1) & (m->cap - 1);
    return &m->slot[i];
}

static bool map_grow(struct exec_shadow_map *m)
{
    struct exec_shadow_map now = { .cap = m->cap ? m->cap * 2 : 256, .n = m->n };
    if (!(now.slot = base_alloc(now.cap * sizeof *now.slot)))
        return false;
    for (size_t i = 0; i < m->cap; i++)
        if (m->slot[i])
            *page_slot(&now, m->slot[i]->at) = m->slot[i];
    base_free(m->slot);
    *m = now;
    return true;
}

static struct cell *global_cell(struct exec_shadow_map *m, uint64_t addr)
{
    uint64_t at = addr / PAGE;
    if (m->n * 2 >= m->cap && !map_grow(m))
        return NULL;
    struct page **p = page_slot(m, at);
    if (!*p) {
        if (!(*p = base_alloc(sizeof **p)))
            return NULL;
        (*p)->at = at;
        m->n++;
    }
    return &(*p)->c[addr % PAGE];
}

void exec_check_fresh(struct exec_launch *x, uint64_t addr, uint64_t n)
{
    for (uint64_t k = 0; x->shadows && k < n; k++) {
        struct cell *c = global_cell(x->shadows, addr + k);
        if (c)
            *c = (struct cell){ 0 };
    }
}

/* ---- races ---- */
static bool ordered(const struct exec_warp *w, const struct who *o, bool atomic)
{
    if (!o->used || (o->atomic && atomic))
        return true;
    if (o->cta != (uint32_t)w->cta->order) {
        bool together = o->cta / w->x->cluster_ctas == w->cta->order / w->x->cluster_ctas;
        return w->cta->shadow->synced || (together && o->met < w->cta->shadow->met);
    }
    return o->warp == w->index || o->clock <= clock_of(w)[o->warp];
}

static bool race_at(struct exec_warp *w, struct cell *c, bool write, bool atomic, const struct who **other)
{
    const struct who *all[] = { &c->w, &c->r[0], &c->r[1] };
    for (unsigned k = 0; k < (write ? 3u : 1u); k++)
        if (!ordered(w, all[k], atomic)) {
            *other = all[k];
            return true;
        }
    struct who me = { (uint32_t)w->cta->order, clock_of(w)[w->index], w->cta->shadow->met, (uint16_t)w->index, 1, atomic };
    if (write)
        c->w = me;
    else if (!c->r[0].used || (c->r[0].warp == me.warp && c->r[0].cta == me.cta))
        c->r[0] = me;
    else
        c->r[1] = me;
    return false;
}

static void race_fault(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, enum ptx_space space, uint64_t addr, bool write, const struct who *o)
{
    const struct sim_alloc *a = space == PTX_SPACE_GLOBAL ? sim_mem_find(w->x->p->mem, addr) : NULL;
    exec_fault(w, in, lane, FAULT_RACE, "race: %s of %s address 0x%llx (%s+%llu) with an access of warp %u of CTA %u, and nothing orders the two",
               write ? "write" : "read", a ? "global" : "shared", (unsigned long long)addr, a ? a->name : "shared memory",
               (unsigned long long)(a ? addr - a->addr : addr), o->warp, o->cta);
}

static void check_race(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, enum ptx_space space, uint64_t addr, unsigned bytes, bool write, bool atomic)
{
    const struct who *other;
    uint64_t off = 0;
    const struct exec_cta *owner = space == PTX_SPACE_SHARED ? cluster_cta(w->cta, addr, &off) : NULL;
    for (unsigned k = 0; k < bytes; k++) {
        struct cell *c = owner ? &owner->shadow->cells[off + k] : global_cell(w->x->shadows, addr + k);
        if (!c) {
            exec_fault(w, in, lane, FAULT_NOMEM, "no memory for the race check");
            return;
        }
        if (race_at(w, c, write, atomic, &other)) {
            race_fault(w, in, lane, space, addr, write, other);
            return;
        }
    }
}

/* ---- uninitialised memory ---- */
static void check_init(struct exec_warp *w, const struct exec_inst *in, uint32_t lane, enum ptx_space space, uint64_t addr, unsigned bytes, bool write)
{
    struct sim_mem_entry *e = space == PTX_SPACE_GLOBAL ? sim_mem_entry(w->x->p->mem, addr) : NULL;
    uint64_t off = e ? addr - e->a.addr : addr;
    uint8_t *own = e ? NULL : cluster_cta(w->cta, addr, &off)->shadow->init;
    for (uint64_t i = off; i < off + bytes; i++) {
        bool set = e ? e->init[i >> 3] >> (i & 7) & 1 : own[i];
        if (write && e)
            e->init[i >> 3] |= (uint8_t)(1u << (i & 7));
        else if (write)
            own[i] = 1;
        else if (!set) {
            exec_fault(w, in, lane, FAULT_UNINIT, "read of %u bytes nobody has written at %s address 0x%llx (%s+%llu)", bytes, e ? "global" : "shared",
                       (unsigned long long)addr, e ? e->a.name : "shared memory", (unsigned long long)off);
            return;
        }
    }
}

/* PTX ISA 8.3: .volatile, .relaxed, .acquire and .release are strong, and strong accesses do not race with each other. */
static bool strong(const struct ptx_inst *i)
{
    static const enum ptx_mod mods[] = { PTX_MOD_VOLATILE, PTX_MOD_RELAXED, PTX_MOD_ACQUIRE, PTX_MOD_RELEASE, PTX_MOD_MMIO };
    bool is = false;
    for (size_t k = 0; i && k < ARRAY_LEN(mods); k++)
        is = is || ptx_has_mod(i, mods[k]);
    return is;
}

void exec_check(struct exec_warp *w, const struct exec_inst *in, uint32_t mask, enum ptx_space space, enum exec_access_kind kind, unsigned bytes,
                const uint64_t a[WARP_LANES], const uint64_t p[WARP_LANES])
{
    (void)p;
    if (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_SHARED)
        return;
    bool atomic = kind == ACCESS_ATOMIC || kind == ACCESS_RED || in->spin || strong(in->ptx);
    bool reads = kind == ACCESS_LOAD || kind == ACCESS_ASYNC || kind == ACCESS_ATOMIC || kind == ACCESS_RED, write = !reads || (atomic && kind != ACCESS_LOAD);
    bool barrier_object = in->cls == CLASS_BARRIER;
    if (atomic)
        exec_check_warp(w);
    FOR_LANES(i, mask) {
        if (w->x->l->check_uninit && reads && !barrier_object)
            check_init(w, in, i, space, a[i], bytes, false);
        if (w->x->l->check_uninit && write && !w->cta->fault)
            check_init(w, in, i, space, a[i], bytes, true);
        if (w->x->l->check_races && !w->cta->fault)
            check_race(w, in, i, space, a[i], bytes, write, atomic);
        if (w->cta->fault)
            return;
    }
}
