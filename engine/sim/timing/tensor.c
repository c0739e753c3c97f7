/* The tensor copy engine and the tensor cores of an SM.
 *
 * The engine takes one copy after the other, reads or writes its lines at L2 (never L1) as fast as
 * copy_bytes_per_cycle, and needs copy_latency more than a trip to L2. A product occupies the tensor
 * core of its scheduler from when the one before has ended; its warp goes on at once. */
#include "engine/ptx/ptx.h"
#include "engine/sim/exec/tensor/tma.h"
#include "engine/sim/timing/access.h"
#include "engine/sim/timing/group.h"
#include "engine/sim/timing/sm.h"
#include "engine/sim/timing/warp.h"

static uint32_t copy_line(struct timing_sm *s, const struct timing_access *a, struct cache_l2_request *r,
                          uint8_t granule)
{
    switch (a->kind) {
    case ACCESS_STORE: r->write = 1; return timing_mem_write(s, r);
    case ACCESS_RED:
        r->write = 1;
        r->lanes = (uint8_t)cache_count(r->sectors);
        r->unit_cycles = cache_unit_parts(r->lanes * s->group->t->g->l2_atomic_cycles);
        return timing_mem_atomic(s, r);
    case ACCESS_PREFETCH:
        r->quiet = 1;
        timing_mem_quiet(s, r);
        return r->at;
    default: return timing_mem_read(s, r, granule);
    }
}

/* What a tensor copy takes beyond its lines: the first by a map that the SM has not seen, and one to
 * several CTAs. Bulk copies have no map. */
static uint32_t beyond_lines(struct timing_sm *s, const struct exec_inst *in)
{
    const struct sim_preset *g = s->group->t->g;
    const struct exec_tma *x = in->x;
    if (in->fn != exec_tma)
        return 0;
    uint64_t map = 1ull << cache_mix(x->map.slot + ((uint64_t)(uint32_t)x->map.imm << 32)) % 64;
    bool seen = s->maps & map || s->group->t->plan.maps_ready;
    s->maps |= map;
    return (seen ? 0 : (uint32_t)g->copy_map_cycles) +
           (x->targets == EXEC_NO_ID ? 0 : (uint32_t)g->copy_multicast_cycles);
}

/* A map that promotes to 256 bytes: the other line of each pair is prefetched into L2, where the box
 * does not have it. */
static void fetch_pair(struct timing_sm *s, const uint64_t *box, uint32_t i, uint32_t n,
                       const struct cache_l2_request *of)
{
    uint64_t line = of->line ^ 1;
    bool has = (i && timing_line(box[i - 1]) == line) || (i + 1 < n && timing_line(box[i + 1]) == line);
    struct cache_l2_request r = { .line = line,
                                  .at = of->at,
                                  .sectors = 15,
                                  .copy = 1,
                                  .quiet = 1,
                                  .place = of->place,
                                  .alloc = of->alloc };
    if (!has)
        timing_mem_quiet(s, &r);
}

uint32_t timing_copy(struct timing_sm *s, struct timing_warp *w, const struct exec_inst *in,
                     const struct timing_access *a, uint32_t t)
{
    const struct sim_preset *g = s->group->t->g;
    double at = s->copy_free > t ? s->copy_free : t;
    uint32_t done = t;
    s->now.stages.took[STAGE_UNIT] = (float)(at - t);
    s->now.ahead = timing_blame_of(s->now.pc, LIMIT_L2);
    bool reads = a->kind == ACCESS_ASYNC;
    uint32_t fill = in->fn == exec_tma ? a->fill : 0, least = (uint32_t)g->l2_fill / 32,
             line = fill < CACHE_SECTORS ? fill : CACHE_SECTORS;
    s->copies++;
    for (uint32_t i = 0; i < a->nbox; i++) {
        uint64_t e = w->work->box[a->box + i], addr = timing_line(e) << CACHE_LINE_SHIFT;
        struct cache_l2_request r = { .line = timing_line(e),
                                      .at = (uint32_t)at,
                                      .sectors = timing_sectors(e),
                                      .copy = 1,
                                      .place = s->cta[w->cta].place };
        r.alloc = (uint8_t)(reads ? cache_route_load(g, &in->policy, a->hint, addr).l2
                                  : cache_route_store(&in->policy, a->hint, addr));
        *(reads || a->kind == ACCESS_PREFETCH ? &s->copy_reads : &s->copy_writes) +=
            cache_count(r.sectors);
        s->now.line = (struct timing_stages){ 0 };
        uint32_t back = copy_line(s, a, &r, (uint8_t)(line > least ? line : least));
        if (back > done)
            for (uint32_t k = STAGE_L2; k < STAGE_COUNT; k++)
                s->now.stages.took[k] = s->now.line.took[k];
        if (fill > CACHE_SECTORS && reads)
            fetch_pair(s, w->work->box + a->box, i, a->nbox, &r);
        done = back > done ? back : done;
        at += 32.0 * cache_count(r.sectors) /
              (reads ? g->copy_bytes_per_cycle : g->copy_store_bytes_per_cycle);
    }
    s->copy_free = at;
    for (uint32_t i = 0; i < a->nbox; i++) {
        uint32_t bytes = 32 * cache_count(timing_sectors(w->work->box[a->box + i]));
        struct timing_spent *row = &s->spent[s->now.pc];
        *(reads ? &row->read : &row->stored) += bytes;
        *(reads ? &row->used : &row->kept) += bytes;
    }
    w->release = t + (uint32_t)g->copy_issue;
    done = (uint32_t)at > done ? (uint32_t)at : done;
    return done + (uint32_t)g->copy_latency + beyond_lines(s, in);
}

void timing_product(struct timing_sm *s, struct timing_warp *w, uint32_t scheduler,
                    const struct timing_slot *o, uint32_t t)
{
    struct timing_work *k = w->work;
    if (o->unit == UNIT_CONTROL) { /* a group ends */
        k->group[k->ngroups++ % ARRAY_LEN(k->group)] = k->tensor;
        return;
    }
    double begin = s->tensor_free[scheduler] > t ? s->tensor_free[scheduler] : t, end = begin + o->busy;
    s->tensor_free[scheduler] = end;
    s->tensor_busy += o->busy;
    k->tensor = (uint32_t)end + o->latency;
    if (end > s->tensor_shared)
        s->tensor_shared = end;
    s->tensor_share = o->busy ? (double)o->each / o->busy : 0;
}

#define MOST_SHARE 0.9 /* of shared memory that products take from others */
double timing_shared_left(const struct timing_sm *s, double t)
{
    if (t >= s->tensor_shared)
        return 1;
    return 1 - (s->tensor_share < MOST_SHARE ? s->tensor_share : MOST_SHARE);
}

uint32_t timing_groups(const struct timing_warp *w, const struct exec_inst *in)
{
    const struct timing_work *k = w->work;
    uint64_t pending = (uint64_t)in->ptx->opnds[0].imm;
    if (pending >= k->ngroups || pending >= ARRAY_LEN(k->group))
        return 0;
    return k->group[(k->ngroups - 1 - pending) % ARRAY_LEN(k->group)];
}
