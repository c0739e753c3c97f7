/* Warps that go on: those told when they step next, those that a barrier held, and what asynchronous
 * copies tell mbarriers when they are done (kept until its cycle, then told to the CTA). */
#include "engine/sim/timing/group.h"
#include "engine/sim/timing/sm.h"
#include "engine/sim/timing/warp.h"

void timing_late_put(struct timing_sm *from, uint32_t slot, const struct exec_late *l, uint32_t at,
                     struct timing_why why)
{
    struct timing_sm *s = from->group->t->span > 1 ? from->first + exec_late_rank(l) : from;
    if (!base_grow((void **)&s->late, s->nlate, &s->cap_late, sizeof *s->late)) {
        s->oom = true;
        return;
    }
    at += l->starts ? (uint32_t)s->group->t->g->l2_latency : 0;
    if (s != from && at < s->ran)
        at = s->ran;
    s->late[s->nlate++] = (struct timing_late){ *l, s->cta[slot].index, slot, at, why };
    s->late_at = at < s->late_at ? at : s->late_at;
    s->at = s != from && at < s->at ? at : s->at;
}

/* ---- barriers and ends ---- */

void timing_ready_at(struct timing_sm *s, uint32_t w, uint32_t at)
{
    s->ready[w] = at;
    s->wants[w] = TIMING_WANT_FETCH;
    wheel_put(&s->wheel, w, at);
    if (at < s->at)
        s->at = at;
}

/* why NULL: they waited for each other. */
static void wake_here(struct timing_sm *s, const struct timing_cta *c, uint32_t at,
                      const struct timing_why *why)
{
    for (uint32_t i = 0; i < c->nwarps; i++) {
        struct timing_warp *w = &s->warp[c->first_warp + i];
        if (w->state != WARP_BARRIER || exec_warp_blocked(w->x))
            continue;
        w->state = WARP_RUN;
        w->release = at;
        timing_waits_put(
            w->work->waits, at,
            why ? *why
                : (struct timing_why){ .rest = timing_blame_of(w->work->held_at, LIMIT_BARRIERS) });
        timing_ready_at(s, c->first_warp + i, w->release);
    }
}

void timing_wake(struct timing_sm *s, uint32_t slot, uint32_t t, uint32_t after)
{
    timing_wake_for(s, slot, t, after, NULL);
}

void timing_wake_for(struct timing_sm *s, uint32_t slot, uint32_t t, uint32_t after,
                     const struct timing_why *why)
{
    for (uint32_t r = 0; r < s->group->t->span; r++) {
        struct timing_sm *o = s->first + r;
        wake_here(o, &o->cta[slot], o != s && t + after < o->ran ? o->ran : t + after, why);
    }
}

void timing_late_run(struct timing_sm *s, uint32_t t)
{
    uint32_t soonest = TIMING_NEVER;
    for (size_t i = 0; i < s->nlate;) {
        struct timing_late l = s->late[i];
        if (l.at > t) {
            soonest = l.at < soonest ? l.at : soonest;
            i++;
            continue;
        }
        s->late[i] = s->late[--s->nlate];
        struct timing_cta *c = &s->cta[l.slot];
        if (!c->used || c->index != l.cta)
            continue;
        exec_late_tell(c->x, &l.l);
        timing_wake_for(s, l.slot, t, (uint32_t)s->group->t->g->lat_barrier, &l.why);
    }
    s->late_at = soonest;
}
