/* Warps that wait in a loop for another warp's store: found when a round leaves everything as an earlier
 * one did.
 *
 * A warp is a function of its registers, its groups of lanes and memory. When all of them come again, so
 * does all that follows; local, shared and global memory are compared by counts of the stores that
 * changed them. */
#include "engine/analysis/slice/mem.h"
#include "engine/analysis/slice/slice.h"
#include "engine/base/base.h"

#include <string.h>

#define ROUNDS_FIRST 256u /* most loops have ended by then: they cost nothing */

void slice_spin_begin(struct slice_warp *w)
{
    w->round.rounds = 0;
    w->round.next = ROUNDS_FIRST;
    w->round.n = w->round.differs = 0;
    w->spun = 0;
}

void slice_spin_free(struct slice_warp *w)
{
    base_free(w->round.state);
}

static uint64_t changes(const struct slice_cta *c)
{
    return c->changes + c->s->changes;
}

static uint64_t group_word(const struct slice_entry *e)
{
    return (uint64_t)e->pc << 32 | e->mask;
}

static size_t frame_words(const struct slice_frame *fr)
{
    return (size_t)fr->f->nrows * 32;
}

static size_t words(const struct slice_warp *w)
{
    size_t n = w->n;
    for (uint32_t k = 0; k < w->nframes; k++)
        n += frame_words(&w->frame[k]);
    return n;
}

static void keep(struct slice_cta *c, struct slice_warp *w)
{
    struct slice_round *r = &w->round;
    size_t n = words(w), at = w->n;
    r->next *= 2;
    r->n = 0;
    if (n > r->cap) {
        uint64_t *v = base_realloc(r->state, n * sizeof *v);
        if (!v)
            return; /* goes on without: the limit of operations ends it */
        r->state = v;
        r->cap = n;
    }
    for (size_t i = 0; i < w->n; i++)
        r->state[i] = group_word(&w->stack[i]);
    for (uint32_t k = 0; k < w->nframes; at += frame_words(&w->frame[k++]))
        memcpy(r->state + at, w->frame[k].rows, frame_words(&w->frame[k]) * sizeof *r->state);
    r->n = n;
    r->changes = changes(c);
}

/* Word i of the present state. */
static uint64_t word(const struct slice_warp *w, size_t i)
{
    if (i < w->n)
        return group_word(&w->stack[i]);
    i -= w->n;
    uint32_t k = 0;
    while (i >= frame_words(&w->frame[k]))
        i -= frame_words(&w->frame[k++]);
    return w->frame[k].rows[i];
}

static bool again(const struct slice_cta *c, struct slice_warp *w)
{
    struct slice_round *r = &w->round;
    if (!r->n || r->changes != changes(c) || r->n != words(w) ||
        word(w, r->differs) != r->state[r->differs])
        return false;
    for (size_t i = 0; i < r->n; i++)
        if (word(w, i) != r->state[i]) {
            r->differs = i;
            return false;
        }
    return true;
}

bool slice_spins(struct slice_cta *c, struct slice_warp *w, uint32_t line)
{
    struct slice_round *r = &w->round;
    if (++r->rounds < ROUNDS_FIRST)
        return false;
    if (again(c, w)) {
        slice_spin_begin(w);
        w->spun = line;
        w->spun_at = changes(c);
        return true;
    }
    if (r->rounds >= r->next)
        keep(c, w);
    return false;
}

bool slice_warp_spins(const struct slice_cta *c, uint32_t w)
{
    return c->warp[w].spun && c->warp[w].spun_at == changes(c);
}

/* CTAs may run beside each other: the first line of all is told, whoever comes first. */
void slice_cta_stuck(struct slice_cta *c)
{
    for (uint32_t w = 0; w < c->nwarps; w++) {
        uint32_t line = c->warp[w].done || !slice_warp_spins(c, w) ? 0 : c->warp[w].spun,
                 was = __atomic_load_n(&c->s->spun, __ATOMIC_RELAXED);
        while (line && (!was || line < was) &&
               !__atomic_compare_exchange_n(&c->s->spun, &was, line, false, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED))
            ;
    }
}
