/* Fragments of a warp: splitting, meeting, choosing who runs; frames of calls.
 *
 *   choose: the deepest call first, in it the lowest rank: lanes that are behind catch up.
 *   yield:  the running fragment spins; another one gets EXEC_TURN instructions. */
#include "engine/sim/exec/faults.h"
#include "engine/sim/exec/hostile.h"
#include "engine/sim/exec/slots.h"

#include <string.h>

/* ---- frames ---- */
struct exec_frame *frame_new(struct exec_worker *k, const struct exec_func *f, struct exec_frame *parent,
                             uint32_t mask)
{
    struct exec_frame *g = NULL;
    for (struct exec_frame **at = &k->free_frames; *at; at = &(*at)->next_free)
        if ((*at)->cap >= f->frame_bytes) {
            g = *at;
            *at = g->next_free;
            break;
        }
    if (!g) {
        size_t bytes = (offsetof(struct exec_frame, regs) + f->frame_bytes + 63) / 64 * 64;
        uint8_t *raw = base_alloc(bytes + 64 + sizeof(void *));
        if (!raw)
            return NULL;
        g = (struct exec_frame *)(((uintptr_t)raw + sizeof(void *) + 63) / 64 * 64);
        ((void **)g)[-1] = raw;
        g->cap = f->frame_bytes;
        g->next_made = k->frames;
        k->frames = g;
    }
    g->parent = parent;
    g->func = f;
    g->call = NULL;
    g->depth = parent ? parent->depth + 1 : 0;
    g->live = mask;
    for (uint32_t i = 0; i < f->nzero; i++)
        memset(g->regs + f->zero[i], exec_fresh(k->x, SIM_POISON_REGISTERS), 128);
    return g;
}

void frame_release(struct exec_worker *k, struct exec_frame *f)
{
    f->next_free = k->free_frames;
    k->free_frames = f;
}

void frame_free_all(struct exec_worker *k)
{
    while (k->frames) {
        struct exec_frame *f = k->frames;
        k->frames = f->next_made;
        base_free(((void **)f)[-1]);
    }
    k->free_frames = NULL;
}

void frame_load(struct exec_warp *w, struct exec_frame *f)
{
    w->frame = f;
    bank_set(w, BANK_FRAME, f->regs);
}

/* ---- the running fragment ---- */
static void frag_save(struct exec_warp *w)
{
    struct exec_frag *f = &w->frag[w->cur];
    f->mask = w->mask;
    f->pc = w->pc;
    f->frame = w->frame;
}

/* Nobody waits for the running fragment, or somebody has just had a turn. */
static void frag_calm(struct exec_warp *w)
{
    w->since = w->ninst;
    w->spins = 0;
}

static void frag_load(struct exec_warp *w, uint32_t i)
{
    struct exec_frag *f = &w->frag[i];
    w->cur = i;
    w->mask = f->mask;
    w->pc = f->pc;
    f->stamp = w->ninst + 1;
    frame_load(w, f->frame);
    w->runnable = true;
    if (w->nfrag == 1)
        frag_calm(w);
}

static void frag_remove(struct exec_warp *w, uint32_t i)
{
    w->frag[i] = w->frag[--w->nfrag];
}

void frag_start(struct exec_warp *w, uint32_t pc, uint32_t mask)
{
    w->nfrag = 1;
    w->cur = 0;
    w->frag[0] = (struct exec_frag){ .mask = mask, .pc = pc, .frame = w->frame };
    w->turn = 0;
    frag_load(w, 0);
}

/* Few warps are ever at more than two places at once. */
static bool frag_room(struct exec_warp *w)
{
    struct exec_frag *all = base_alloc(WARP_LANES * sizeof *all);
    if (!all)
        return false;
    memcpy(all, w->two, sizeof w->two);
    w->frag = all;
    return true;
}

void frag_add(struct exec_warp *w, uint32_t mask, uint32_t pc, struct exec_frame *frame)
{
    if (w->nfrag == ARRAY_LEN(w->two) && w->frag == w->two && !frag_room(w)) {
        exec_fault(w, &w->x->p->code[w->pc], first_lane(mask), FAULT_NOMEM,
                   "no memory for lanes that part");
        return;
    }
    if (w->nfrag == 1) /* until now nobody waited, however often flags were looked at */
        frag_calm(w);
    w->frag[w->nfrag++] = (struct exec_frag){ .mask = mask, .pc = pc, .frame = frame };
}

void frag_split(struct exec_warp *w, uint32_t taken, uint32_t target)
{
    w->mask &= ~taken;
    frag_save(w);
    frag_add(w, taken, target, w->frame);
    frag_choose(w);
}

/* Fragments at one place become one. Those waiting for lanes of their warp take part. */
static void frag_merge(struct exec_warp *w)
{
    for (uint32_t i = 0; i < w->nfrag; i++)
        for (uint32_t k = i + 1; k < w->nfrag;) {
            struct exec_frag *a = &w->frag[i], *b = &w->frag[k];
            if (a->pc != b->pc || a->frame != b->frame || a->state == FRAG_BARRIER ||
                b->state == FRAG_BARRIER) {
                k++;
                continue;
            }
            a->mask |= b->mask;
            a->state = FRAG_READY;
            frag_remove(w, k);
        }
}

/* A fragment that waits for lanes which have exited or joined it may go on. */
static void frag_wake(struct exec_warp *w)
{
    for (uint32_t i = 0; i < w->nfrag; i++)
        if (w->frag[i].state == FRAG_SYNC && !(w->frag[i].need & w->live & ~w->frag[i].mask))
            w->frag[i].state = FRAG_READY;
}

/* All lanes an operation names wait at operations of the same kind, at different places: they
 * go on together, each with its own instruction (exec_sync_value gathers across them). */
static bool frag_meet_apart(struct exec_warp *w)
{
    const struct exec_inst *code = w->x->p->code;
    for (uint32_t i = 0; i < w->nfrag; i++) {
        if (w->frag[i].state != FRAG_SYNC)
            continue;
        uint32_t have = 0, need = w->frag[i].need | w->frag[i].mask;
        const struct exec_inst *in = &code[w->frag[i].pc];
        for (uint32_t k = 0; k < w->nfrag; k++)
            if (w->frag[k].state == FRAG_SYNC && code[w->frag[k].pc].fn == in->fn &&
                (w->frag[k].need | w->frag[k].mask) == need)
                have |= w->frag[k].mask;
        if (need & w->live & ~have)
            continue;
        w->nsync = 0;
        for (uint32_t k = 0; k < w->nfrag; k++)
            if (w->frag[k].state == FRAG_SYNC && code[w->frag[k].pc].fn == in->fn &&
                (w->frag[k].need | w->frag[k].mask) == need)
                w->sync_group[w->nsync++] = (uint8_t)k;
        return true;
    }
    return false;
}

/* Runs the operation for each fragment of the group before any of them goes on. */
static void frag_run_group(struct exec_warp *w)
{
    const struct exec_inst *code = w->x->p->code;
    for (uint32_t k = 0; k < w->nsync; k++) {
        struct exec_frag *f = &w->frag[w->sync_group[k]];
        const struct exec_inst *in = &code[f->pc];
        w->mask = f->mask;
        frame_load(w, f->frame);
        uint32_t mask =
            in->guard == EXEC_NO_ID ? f->mask : f->mask & pred_read(w, in->guard, in->guard_neg);
        w->ninst++;
        w->nthread += lane_count(f->mask);
        if (mask)
            in->fn(w, in, mask);
    }
    for (uint32_t k = 0; k < w->nsync; k++) {
        struct exec_frag *f = &w->frag[w->sync_group[k]];
        f->state = FRAG_READY;
        f->pc++;
    }
    w->nsync = 0;
}

static bool frag_before(const struct exec_warp *w, const struct exec_frag *a, const struct exec_frag *b)
{
    const struct exec_inst *code = w->x->p->code;
    if (a->frame->depth != b->frame->depth)
        return a->frame->depth > b->frame->depth;
    return code[a->pc].rank < code[b->pc].rank;
}

static bool frag_pick(struct exec_warp *w, uint32_t *best)
{
    *best = EXEC_NO_ID;
    for (uint32_t i = 0; i < w->nfrag; i++)
        if (w->frag[i].state == FRAG_READY &&
            (*best == EXEC_NO_ID || frag_before(w, &w->frag[i], &w->frag[*best])))
            *best = i;
    return *best != EXEC_NO_ID;
}

/* What is in frag[] is right; loads the one to run. */
static void frag_pick_load(struct exec_warp *w)
{
    uint32_t best;
    frag_merge(w);
    frag_wake(w);
    w->runnable = false;
    while (!frag_pick(w, &best)) {
        if (!frag_meet_apart(w)) {
            w->stop = true;
            return;
        }
        frag_run_group(w);
    }
    frag_load(w, best);
}

void frag_choose(struct exec_warp *w)
{
    if (w->turn) /* another fragment's turn: it is not taken away by meeting */
        return;
    frag_save(w);
    frag_pick_load(w);
}

/* From the one that spins, whoever is behind: had the choice by rank come first, the one that others
 * wait for would be chosen and then sent away for the spinning it had not done, round after round. */
void frag_yield(struct exec_warp *w)
{
    uint32_t best = EXEC_NO_ID, lanes = w->mask;
    frag_save(w);
    frag_merge(w);
    frag_wake(w);
    frag_calm(w);
    for (w->cur = 0; !(w->frag[w->cur].mask & lanes); w->cur++)
        ;
    w->frag[w->cur].stamp = w->ninst + 1;
    for (uint32_t i = 0; i < w->nfrag; i++)
        if (i != w->cur && w->frag[i].state == FRAG_READY &&
            (best == EXEC_NO_ID || w->frag[i].stamp < w->frag[best].stamp))
            best = i;
    frag_load(w, best == EXEC_NO_ID ? w->cur : best);
    w->turn = best == EXEC_NO_ID ? 0 : EXEC_TURN;
}

void frag_block(struct exec_warp *w, enum frag_state state, uint32_t pc)
{
    w->pc = pc;
    w->turn = 0;
    frag_save(w);
    w->frag[w->cur].state = (uint8_t)state;
    frag_pick_load(w);
}

void frag_drop(struct exec_warp *w)
{
    frag_remove(w, w->cur);
    w->turn = 0;
    if (!w->nfrag) {
        w->runnable = false;
        w->stop = true;
        return;
    }
    frag_pick_load(w);
}

static void frames_leave(struct exec_warp *w, struct exec_frame *f, uint32_t mask)
{
    while (f) {
        struct exec_frame *parent = f->parent;
        f->live &= ~mask;
        if (!f->live && parent)
            frame_release(w->k, f);
        f = parent;
    }
}

void frag_exit(struct exec_warp *w, uint32_t mask)
{
    w->live &= ~mask;
    frames_leave(w, w->frame, mask);
    w->mask &= ~mask;
    w->stop = true; /* barriers look again */
    if (!w->mask) {
        frag_drop(w);
        return;
    }
    frag_save(w);
    frag_wake(w);
}

void frag_resume(struct exec_warp *w)
{
    if (!w->runnable && w->nfrag)
        frag_pick_load(w);
}
