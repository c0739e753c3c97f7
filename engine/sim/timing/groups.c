#include "engine/sim/timing/groups.h"
#include "engine/sim/timing/sm.h"

static void run_group(void *ctx, size_t i)
{
    struct timing_groups *a = ctx;
    if (i >= a->n) {
        exec_drive_share(a->beside);
        return;
    }
    struct timing_group *g = &a->v[i];
    enum status st = timing_group_init(g, a->t, (uint32_t)i);
    if (st != ST_OK)
        g->status = st;
    else
        timing_group_run(g, a->budget);
}

void timing_groups_free(struct timing_groups *a)
{
    for (uint32_t i = 0; a->v && i < a->n; i++)
        if (a->v[i].t)
            timing_group_free(&a->v[i]);
    base_free(a->v);
    *a = (struct timing_groups){ 0 };
}

enum status timing_groups_run(struct timing_launch *t, uint64_t budget, struct timing_groups *a,
                              struct diags *ds)
{
    a->n = t->ngroups;
    a->budget = budget;
    a->v = base_alloc(a->n * sizeof *a->v);
    if (!a->v)
        return ST_NOMEM;
    a->t = t;
    enum status st = ST_OK;
    uint32_t pieces = a->n + (a->beside ? t->threads : 0); /* groups first: they take longest */
    base_parallel(t->threads < pieces ? t->threads : pieces, pieces, run_group, a);
    for (uint32_t i = 0; i < a->n && st == ST_OK; i++) {
        st = a->v[i].status;
        diags_move(ds, &a->v[i].ds);
    }
    return st;
}
