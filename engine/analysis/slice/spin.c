/* Warps that wait in a loop for another warp's store: found when a round leaves everything as an earlier
 * one did.
 *
 * A warp is a function of its registers, its groups of lanes and memory. When all of them come again, so
 * does all that follows; local, shared and global memory are compared by counts of the stores that
 * changed them. */
#include "engine/analysis/slice/slice.h"
#include "engine/analysis/slice/slice_int.h"
#include "engine/sim/exec/exec.h"
#include "engine/sim/step.h"

#include <string.h>

#define ROUNDS_FIRST 256u /* most loops have ended by then: they cost nothing */

void slice_spin_begin(struct slice_warp *w)
{
    w->round.rounds = 0;
    w->round.next = ROUNDS_FIRST;
    w->round.n = 0;
    w->spun = 0;
}

void slice_spin_free(struct slice_warp *w)
{
    base_free(w->round.state);
}

uint64_t slice_changes(const struct slice_cta *c)
{
    return c->cta->changes + atomic_load(&c->cta->x->changes);
}

/* Walks the pieces of a warp's state: registers of the running call first, as they are likely to differ.
 * Gives each to `piece` until one is not as wanted. */
typedef bool piece_fn(struct slice_round *r, size_t at, const void *bytes, size_t n);
static bool frames(struct slice_round *r, const struct exec_frame *f, piece_fn *piece, size_t *at)
{
    for (bool ok = true; f; f = f->parent) {
        size_t n = f->func->frame_bytes;
        ok = piece(r, *at, f->regs, n);
        *at += n;
        if (!ok)
            return false;
    }
    return true;
}
static bool walk(struct slice_round *r, const struct exec_warp *w, piece_fn *piece, size_t *at)
{
    *at = 0;
    if (!frames(r, w->frame, piece, at))
        return false;
    for (uint32_t k = 0; k < w->nfrag; k++) {
        const struct exec_frag *f = &w->frag[k];
        bool runs = k == w->cur && w->runnable;
        /* whose turn it is matters where lanes are apart */
        bool apart = w->nfrag > 1;
        const uint32_t place[] = {
            runs ? w->mask : f->mask, runs ? w->pc : f->pc, f->state,          f->barrier,
            apart ? w->spins : 0,     apart ? w->turn : 0,  apart ? w->cur : 0
        };
        if (!piece(r, *at, place, sizeof place))
            return false;
        *at += sizeof place;
        if (!runs && !frames(r, f->frame, piece, at))
            return false;
    }
    return true;
}

static bool measures(struct slice_round *r, size_t at, const void *bytes, size_t n)
{
    (void)r, (void)at, (void)bytes, (void)n;
    return true;
}
static bool keeps(struct slice_round *r, size_t at, const void *bytes, size_t n)
{
    memcpy(r->state + at, bytes, n);
    return true;
}
static bool is_same(struct slice_round *r, size_t at, const void *bytes, size_t n)
{
    return at + n <= r->n && !memcmp(r->state + at, bytes, n);
}

static void keep(const struct slice_cta *c, struct slice_round *r, const struct exec_warp *w)
{
    size_t n;
    r->next *= 2;
    r->n = 0;
    walk(r, w, measures, &n);
    if (n > r->cap) {
        uint8_t *v = base_realloc(r->state, n);
        if (!v)
            return; /* goes on without: the limit of operations ends it */
        r->state = v;
        r->cap = n;
    }
    walk(r, w, keeps, &r->n);
    r->changes = slice_changes(c);
}

bool slice_spins(struct slice_cta *c, uint32_t w, uint32_t line)
{
    struct slice_warp *sw = &c->warp[w];
    struct slice_round *r = &sw->round;
    const struct exec_warp *x = exec_cta_warp(c->cta, w);
    size_t n;
    if (++r->rounds < ROUNDS_FIRST)
        return false;
    if (r->n && r->changes == slice_changes(c) && walk(r, x, is_same, &n) && n == r->n) {
        slice_spin_begin(sw);
        sw->spun = line;
        sw->spun_at = slice_changes(c);
        return true;
    }
    if (r->rounds >= r->next)
        keep(c, r, x);
    return false;
}

bool slice_warp_spins(const struct slice_cta *c, uint32_t w)
{
    return c->warp[w].spun && c->warp[w].spun_at == slice_changes(c);
}
