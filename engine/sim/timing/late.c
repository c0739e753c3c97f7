/* What asynchronous copies tell mbarriers when they are done: kept until its cycle, then told to the
 * CTA, whose warps that waited go on. */
#include "engine/base/base.h"
#include "engine/sim/step.h"
#include "engine/sim/timing/sm.h"
#include "engine/sim/timing/timing_int.h"

void timing_late_put(struct timing_sm *s, uint32_t slot, const struct exec_late *l, uint32_t at)
{
    if (!base_grow((void **)&s->late, s->nlate, &s->cap_late, sizeof *s->late)) {
        s->oom = true;
        return;
    }
    s->late[s->nlate++] = (struct timing_late){ *l, s->cta[slot].index, slot, at };
    s->late_at = at < s->late_at ? at : s->late_at;
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
        timing_wake(s, c, t);
    }
    s->late_at = soonest;
}
