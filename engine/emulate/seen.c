/* What the processes of a program did, all together. */
#include "engine/analysis/analysis.h"
#include "engine/dev/card.h"
#include "engine/emulate/emulate_int.h"

#include <math.h>
#include <string.h>

void emulation_tell(struct emulation *e, struct diags *ds)
{
    if (ds->errors + ds->warnings && e->want->tell) {
        pthread_mutex_lock(&e->lock);
        e->want->tell(e->want->ctx, ds);
        pthread_mutex_unlock(&e->lock);
    }
    diags_free(ds);
}

void seen_missing(struct emulation *e, const char *call, size_t n)
{
    struct emulate_seen *s = e->seen;
    pthread_mutex_lock(&e->lock);
    size_t i = 0;
    while (i < s->nmissing && !str_is((struct str){ call, n }, s->missing[i].call))
        i++;
    if (i == s->nmissing &&
        base_grow((void **)&s->missing, s->nmissing, &s->cap_missing, sizeof *s->missing)) {
        struct buf b = { 0 };
        buf_put(&b, call, n);
        char *own = buf_take(&b);
        if (own)
            s->missing[s->nmissing++] = (struct emulate_missing){ own, 0 };
        s->oom |= !own;
    }
    if (i < s->nmissing)
        s->missing[i].count++;
    pthread_mutex_unlock(&e->lock);
}

void seen_launch(struct emulation *e, const struct card_kernel *k, uint64_t image,
                 const struct wire_launch *l, const struct sim_stats *stats)
{
    struct live_kernel t = { .launches = 1, .shared = l->shared };
    memcpy(t.grid, l->grid, sizeof t.grid);
    memcpy(t.block, l->block, sizeof t.block);
    if (e->want->timed && isfinite(stats->time_ns)) {
        t.timed = 1;
        t.sampled = stats->sampled;
        t.time_ns = (uint64_t)llround(stats->time_ns);
    }
    pthread_mutex_lock(&e->lock);
    struct live_survey *s = &e->seen->survey;
    e->seen->oom |= !live_survey_count(s, card_function(k)->name, image, NULL, &t);
    pthread_mutex_unlock(&e->lock);
}

/* ---- findings ---- */
bool seen_findings(struct emulation *e, const struct card_kernel *k, const struct diags *ds)
{
    const struct ptx_func *f = card_function(k);
    const struct ana_kernel kernel = { .module = f->module, .func = f };
    const struct rules rules = rules_default();
    struct findings *all = &e->seen->findings;
    pthread_mutex_lock(&e->lock);
    size_t before = all->n;
    struct checked_kernel *checked = findings_kernel(all, &kernel);
    if (checked)
        checked->launch = CHECK_LAUNCH_GIVEN;
    findings_of_run(&kernel, ds, &rules, all);
    bool new = all->n > before;
    pthread_mutex_unlock(&e->lock);
    return new;
}
