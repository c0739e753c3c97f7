/* Barriers of a CTA (9.7.13.1). Lanes arrive one fragment at a time; a warp all of whose living
 * lanes have arrived counts as 32 threads, as the ISA counts warps. Threads that have exited do
 * not hold a barrier up. */
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/exec/bodies.h"
#include "engine/sim/exec/cluster.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/hostile.h"
#include "engine/sim/exec/slots.h"

#include <string.h>

static uint32_t arrived_count(const struct exec_cta *c, const struct exec_barrier *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->nwarps; i++) {
        bool whole = b->arrived[i] && !(c->warps[i].live & ~b->arrived[i]);
        n += whole ? WARP_LANES : (uint32_t)__builtin_popcount(b->arrived[i]);
    }
    return n;
}

static bool complete(const struct exec_cta *c, const struct exec_barrier *b)
{
    if (b->expected)
        return arrived_count(c, b) >= b->expected;
    for (uint32_t i = 0; i < c->nwarps; i++)
        if (c->warps[i].live & ~b->arrived[i])
            return false;
    return true;
}

/* The result of bar.red for the lanes of one fragment. */
static void give_result(struct exec_warp *w, const struct exec_inst *in, struct exec_frame *frame,
                        uint32_t mask, const struct exec_barrier *b, uint32_t total)
{
    const struct exec_barrier_how *x = in->x;
    if (!x->op || in->dst == EXEC_NO_ID)
        return;
    uint32_t v = x->op == 1 ? b->count_true : x->op == 2 ? b->count_true == total : b->count_true > 0;
    struct exec_frame *was = w->frame;
    frame_load(w, frame);
    if (x->is_pred)
        pred_write(w, in->dst, mask, v ? EXEC_FULL : 0);
    else
        FOR_LANES(i, mask) lane_write(w, in->dst, i, 4, v);
    frame_load(w, was);
}

static uint32_t arrived_lanes(const struct exec_cta *c, const struct exec_barrier *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->nwarps; i++)
        n += (uint32_t)__builtin_popcount(b->arrived[i]);
    return n;
}

static void release(struct exec_cta *c, uint32_t id, const struct exec_warp *self)
{
    struct exec_barrier *b = &c->bar[id];
    uint32_t total = arrived_lanes(c, b);
    for (uint32_t i = 0; i < c->nwarps; i++) {
        struct exec_warp *w = &c->warps[i];
        for (uint32_t k = 0; k < w->nfrag; k++) {
            struct exec_frag *f = &w->frag[k];
            if (f->state != FRAG_BARRIER || f->barrier != id)
                continue;
            give_result(w, &c->x->p->code[f->pc], f->frame, f->mask, b, total);
            f->state = FRAG_READY;
            f->pc++;
        }
        if (w != self)
            w->turn = 0;
    }
    memset(b->arrived, 0, c->nwarps * sizeof *b->arrived);
    b->used = false;
    b->count_true = 0;
    c->passed++;
    exec_check_barrier(c);
}

/* ---- the cluster's barrier: every thread arrives, then waits (9.7.13.3) ---- */
static bool cluster_complete(const struct exec_cta *lead)
{
    for (uint32_t r = 0; r < lead->x->cluster_ctas; r++)
        for (uint32_t i = 0; i < lead->nwarps; i++)
            if (lead->peer[r]->warps[i].live & ~lead->peer[r]->warps[i].cluster_in)
                return false;
    return true;
}

static void cluster_release(struct exec_cta *lead, const struct exec_warp *self)
{
    for (uint32_t r = 0; r < lead->x->cluster_ctas; r++)
        for (uint32_t i = 0; i < lead->nwarps; i++) {
            struct exec_warp *w = &lead->peer[r]->warps[i];
            w->cluster_in = 0;
            for (uint32_t k = 0; k < w->nfrag; k++)
                if (w->frag[k].state == FRAG_BARRIER && w->frag[k].barrier == CLUSTER_BARRIER) {
                    w->frag[k].state = FRAG_READY;
                    w->frag[k].pc++;
                }
            if (w != self)
                w->turn = 0;
        }
    lead->cluster_used = false;
    exec_check_cluster(lead);
}

void barrier_recheck(struct exec_cta *c)
{
    if (c->lead->cluster_used && cluster_complete(c->lead))
        cluster_release(c->lead, NULL);
    for (uint32_t id = 0; id < EXEC_MAX_BARRIERS; id++)
        if (c->bar[id].used && complete(c, &c->bar[id]))
            release(c, id, NULL);
}

/* Only the lanes of mask take part; the others go on. */
static void part(struct exec_warp *w, uint32_t mask)
{
    if (mask != w->mask) {
        frag_add(w, w->mask & ~mask, w->pc, w->frame);
        w->mask = mask;
    }
}

static struct exec_barrier *arrive(struct exec_warp *w, const struct exec_inst *in, uint32_t mask,
                                   uint32_t *id)
{
    const struct exec_barrier_how *x = in->x;
    uint32_t lane = first_lane(mask);
    *id = ((const uint32_t *)slot_at(w, x->id))[lane];
    if (*id >= EXEC_MAX_BARRIERS) {
        exec_fault(w, in, lane, FAULT_ARG, "barrier %u does not exist (0 to 15)", *id);
        return NULL;
    }
    struct exec_barrier *b = &w->cta->bar[*id];
    uint32_t expected = x->has_count ? ((const uint32_t *)slot_at(w, x->count))[lane] : 0;
    if (x->has_count && (expected % WARP_LANES || !expected)) {
        exec_fault(w, in, lane, FAULT_ARG,
                   "barrier %u is given a count of %u threads, not a multiple of 32", *id, expected);
        return NULL;
    }
    b->used = true;
    b->expected = expected;
    b->arrived[w->index] |= mask;
    if (x->op)
        b->count_true += (uint32_t)__builtin_popcount(pred_read(w, in->a, x->neg) & mask);
    return b;
}

/* bar is barrier.aligned: all threads of the warp execute the same one, in whatever parts they come to
 * it. Not so: lanes of the warp wait at another barrier instruction. */
static bool not_aligned(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (!w->x->hostile.uniform || !in->ptx ||
        (!ptx_has_mod(in->ptx, PTX_MOD_ALIGNED) && in->ptx->op >= PTX_OP_BARRIER_SYNC))
        return false;
    uint32_t all = mask;
    for (uint32_t k = 0; k < w->nfrag; k++)
        if (k != w->cur && w->frag[k].state == FRAG_BARRIER && w->frag[k].pc != w->pc - 1)
            all |= w->frag[k].mask;
    return exec_not_uniform(w, in, mask, all);
}

void exec_bar_sync(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t id;
    if (not_aligned(w, in, mask))
        return;
    part(w, mask);
    struct exec_barrier *b = arrive(w, in, mask, &id);
    if (!b)
        return;
    if (!complete(w->cta, b)) {
        w->frag[w->cur].barrier = (uint8_t)id;
        frag_block(w, FRAG_BARRIER, w->pc - 1);
        return;
    }
    give_result(w, in, w->frame, mask, b, arrived_lanes(w->cta, b));
    release(w->cta, id, w);
    w->turn = 0;
    if (w->nfrag > 1)
        frag_choose(w);
}
void exec_bar_red(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    exec_bar_sync(w, in, mask);
}

void exec_bar_arrive(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    uint32_t id;
    struct exec_barrier *b = arrive(w, in, mask, &id);
    if (b && complete(w->cta, b))
        release(w->cta, id, w);
}

void exec_cluster_arrive(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (w->cluster_owed & mask) {
        exec_fault(w, in, first_lane(w->cluster_owed & mask), FAULT_ARG,
                   "a second barrier.cluster.arrive without a barrier.cluster.wait between");
        return;
    }
    w->cluster_owed |= mask;
    w->cluster_in |= mask;
    w->cta->lead->cluster_used = true;
    if (cluster_complete(w->cta->lead))
        cluster_release(w->cta->lead, w);
}

/* Lanes whose phase is over since they arrived are not in cluster_in any more. */
void exec_cluster_wait(struct exec_warp *w, const struct exec_inst *in, uint32_t mask)
{
    if (mask & ~w->cluster_owed) {
        exec_fault(w, in, first_lane(mask & ~w->cluster_owed), FAULT_ARG,
                   "barrier.cluster.wait without a barrier.cluster.arrive before");
        return;
    }
    w->cluster_owed &= ~mask;
    if (!(w->cluster_in & mask))
        return;
    part(w, mask);
    w->frag[w->cur].barrier = CLUSTER_BARRIER;
    frag_block(w, FRAG_BARRIER, w->pc - 1);
}
