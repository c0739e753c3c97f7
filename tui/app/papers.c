/* papers: see papers.h. */
#include "tui/app/papers.h"

#include "engine/dev/dev.h"
#include "engine/paper/paper.h"
#include "engine/session/session.h"
#include "tui/app/app.h"
#include "tui/app/work.h"

#include <stdio.h>

struct papers_worker {
    struct work work;
    const struct paper_experiment *of;
    struct paper_result result;
    _Atomic int per_mille;
    char kernels[1024], why[200];
};

static const char *preset_at(void *ctx, size_t i)
{
    (void)ctx;
    return i < preset_count() ? preset_name(i) : NULL;
}

static void clear(struct work *w)
{
    paper_result_free(&((struct papers_worker *)w)->result);
}

static void on_progress(void *ctx, double done, const char *what)
{
    struct papers_worker *p = ctx;
    (void)what;
    atomic_store(&p->per_mille, (int)(done * 1000));
}

static bool experiment(struct work *w)
{
    struct papers_worker *p = (struct papers_worker *)w;
    struct dev_env env = { .preset = preset_read, .preset_at = preset_at, .cancel = &w->cancel };
    struct paper_request q = {
        .kernels = p->kernels, .env = &env, .cancel = &w->cancel, .progress = on_progress, .ctx = p
    };
    struct diags ds = { 0 };
    enum status st = paper_run(p->of, &q, &p->result, &ds);
    if (st != ST_OK)
        snprintf(p->why, sizeof p->why, "%s", ds.n && ds.v[0].msg ? ds.v[0].msg : status_text(st));
    diags_free(&ds);
    return st == ST_OK;
}

bool papers_start(struct app *a, const struct paper_experiment *e)
{
    papers_drop(a);
    struct papers_worker *p = a->engine.hold ? base_alloc(sizeof *p) : NULL;
    if (!p)
        return false;
    p->of = e;
    p->work.run = experiment;
    p->work.clear = clear;
    snprintf(p->kernels, sizeof p->kernels, "%s/kernels", a->data_dir ? a->data_dir : ".");
    a->papers = work_start(a, &p->work);
    return a->papers != NULL;
}

struct papers_now papers_now(const struct app *a)
{
    static const enum papers_state state[] = {
        [WORK_BUSY] = PAPERS_WORKING, [WORK_READY] = PAPERS_READY, [WORK_FAILED] = PAPERS_FAILED
    };
    const struct papers_worker *p = (const struct papers_worker *)a->papers;
    if (!p)
        return (struct papers_now){ NULL, PAPERS_NONE, 0, NULL, "" };
    enum papers_state s = state[work_state(a->papers)];
    return (struct papers_now){ p->of, s, atomic_load(&p->per_mille) / 1000.0,
                                s == PAPERS_READY ? &p->result : NULL,
                                s == PAPERS_FAILED ? p->why : "" };
}

bool papers_working(const struct app *a)
{
    return a->papers && work_state(a->papers) == WORK_BUSY;
}

void papers_drop(struct app *a)
{
    work_drop(&a->papers);
}
