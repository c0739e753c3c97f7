/* CTAs that spin for ever: a flag that nobody sets, a lock that nobody releases. A warp's next steps
 * follow from its registers and the memory it reads; when registers, places and shared memory of a CTA
 * come back again and again (so what it read was the same each time) it goes round in circles, and when
 * all CTAs that could change that do, and device memory stays as it is, the launch has no end.
 *
 * What counts its attempts in registers never comes back. So waiting has a longer bound as well: nothing
 * that another warp can see (memory, barriers, a CTA's start or end) has changed while all warps did
 * nothing but look, some 100,000 times each (timed: 10 ms of a GPU). A kernel that reads a clock has no
 * such bound: it may wait for a time. What counts its attempts in memory is stopped by the limit of the
 * launch alone. */
#include "engine/sim/exec/exec.h"
#include "engine/sim/exec/faults.h"
#include "engine/sim/mem.h"
#include "engine/sim/step.h"

#include <string.h>

#define SETTLE 32u /* looks before the first that is kept: most waiting is short */
#define ENOUGH 8u  /* times that one state has come back */

/* Bytes from one word that is looked at to the next: all of a state, or a sixteenth, which differs nearly always
 * where the whole does. */
enum stride { WHOLE = 8, GLIMPSE = 128 };

static uint64_t mix(uint64_t h, const void *bytes, size_t n, enum stride by)
{
    const uint8_t *b = bytes;
    for (; n >= (size_t)by; n -= by, b += by) {
        uint64_t v;
        memcpy(&v, b, 8);
        h = (h ^ v) * 0x9E3779B97F4A7C15u;
        h ^= h >> 29;
    }
    uint64_t rest = 0;
    memcpy(&rest, b, n < 8 ? n : 8);
    return ((h ^ rest) * 0xBF58476D1CE4E5B9u) ^ h >> 31;
}

static uint64_t mix_frames(uint64_t h, const struct exec_frame *f, enum stride by)
{
    for (; f; f = f->parent) {
        h = mix(h, f->regs, f->func->frame_bytes, by);
        h = mix(h, f->top, sizeof f->top, by);
    }
    return h;
}

static uint64_t warp_state(uint64_t h, const struct exec_warp *w, enum stride by)
{
    const uint32_t now[] = { w->live, w->nfrag, w->cur, w->runnable ? w->pc : 0,
                             w->runnable ? w->mask : 0 };
    h = mix(h, now, sizeof now, WHOLE);
    for (uint32_t k = 0; k < w->nfrag; k++) {
        const struct exec_frag *f = &w->frag[k];
        const uint32_t place[] = { f->mask, f->pc, f->state };
        if (w->runnable && k == w->cur) {
            h = mix_frames(h, w->frame, by);
            continue;
        }
        h = mix(h, place, sizeof place, WHOLE);
        h = mix_frames(h, f->frame, by);
    }
    return mix(h, w->local, (size_t)WARP_LANES * w->x->local_bytes, by);
}

uint64_t exec_memory_visible(uint64_t h, const struct sim_mem *m)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->v[i].written && m->v[i].a.host)
            h = mix(h, m->v[i].a.host, m->v[i].a.n, WHOLE);
    return h;
}

uint64_t exec_cta_visible(uint64_t h, const struct exec_cta *lead)
{
    for (uint32_t r = 0; r < lead->x->cluster_ctas; r++) {
        const struct exec_cta *c = lead->peer[r];
        h = mix(h, c->shared, lead->x->shared_bytes, WHOLE);
        h = mix(h, c->bar_words, EXEC_MAX_BARRIERS * c->nwarps * sizeof *c->bar_words, WHOLE);
        for (uint32_t i = 0; i < c->nwarps; i++)
            h = mix(h, &c->warps[i].live, sizeof c->warps[i].live, WHOLE);
    }
    return h;
}

/* Instructions for each read of a loop that does nothing but wait: unoptimised code calls functions. */
#define LOOP_MOST 1024u

bool exec_cta_waits(struct exec_cta *lead)
{
    bool all = true;
    for (uint32_t i = exec_cta_nwarps(lead); i--;) {
        struct exec_warp *w = exec_cta_warp(lead, i);
        uint64_t insts = w->ninst - w->ninst_seen, reads = w->nreads - w->nreads_seen;
        all &= !w->live || insts <= LOOP_MOST * reads;
        w->ninst_seen = w->ninst;
        w->nreads_seen = w->nreads;
    }
    return all;
}

static uint64_t cta_state(struct exec_cta *lead, enum stride by)
{
    uint64_t h = 1;
    for (uint32_t r = 0; r < lead->x->cluster_ctas; r++)
        h = mix(h, lead->peer[r]->shared, lead->x->shared_bytes, by);
    for (uint32_t i = exec_cta_nwarps(lead); i--;) {
        const struct exec_warp *w = exec_cta_warp(lead, i);
        if (w->live)
            h = warp_state(h, w, by);
    }
    return h;
}

/* The state is kept after 32, 64, 128... looks, so that circles of any length are seen. Of a CTA
 * that waits for others it is compared eight times until it is kept again: it may have thousands of
 * looks. */
bool exec_cta_repeats(struct exec_cta *lead)
{
    if (++lead->looks < SETTLE)
        return false;
    bool keep = !(lead->looks & (lead->looks - 1));
    uint64_t eighth = (UINT64_C(1) << (63 - __builtin_clzll(lead->looks))) / 8;
    if (lead->parked && lead->looks % eighth)
        return lead->repeats >= ENOUGH;
    uint64_t glimpse = cta_state(lead, GLIMPSE);
    if (!keep && glimpse != lead->glimpse)
        return lead->repeats >= ENOUGH;
    uint64_t h = cta_state(lead, WHOLE);
    if (keep) {
        lead->glimpse = glimpse;
        lead->repeats = h == lead->state ? lead->repeats : 0;
        lead->state = h;
    } else if (h == lead->state) {
        lead->repeats++;
    }
    return lead->repeats >= ENOUGH;
}

/* A counter in memory may be in no register at the moments that are looked at: what the launch stores
 * into is compared as well. Twice as rarely each time, since it may be large and change for long. */
bool exec_memory_rests(struct exec_rest *r, const struct sim_mem *m)
{
    if (++r->asked < r->due)
        return false;
    uint64_t h = exec_memory_visible(1, m);
    bool rests = r->due && h == r->state;
    r->state = h;
    r->due = 2 * r->asked;
    return rests;
}
