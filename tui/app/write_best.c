/* write_best: see write_best.h. */
#include "tui/app/write_best.h"

#include "engine/pass/pass.h"
#include "engine/ptx/ptx.h"
#include "engine/rec/gain.h"
#include "engine/rec/knobs.h"
#include "engine/search/tuner.h"
#include "engine/search/live.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "engine/workspace/workspace.h"
#include "tui/app/app.h"
#include "tui/app/work.h"

#include <stdio.h>
#include <string.h>

struct writer {
    struct work work;
    struct options *options; /* owned */
    double gain;
    char *path; /* owned */
    char said[256];
    enum diag_level level;
};

static void clear(struct work *w)
{
    struct writer *own = (struct writer *)w;
    BASE_FREE(own->options, own->path);
}

static enum status put_files(const struct writer *w, const struct pass_output *code, struct diags *ds)
{
    const struct launch_spec *l = w->work.snap->spec;
    enum status st = workspace_code_check(w->path, l != NULL, false, ds);
    if (st == ST_OK && code->tiles) {
        diag_error(ds, "rewrite", "that the tiles are independent is proven when the search has ended");
        st = ST_REFUSED;
    }
    if (st == ST_OK)
        st = workspace_code_write(w->path, code, ds);
    if (st == ST_OK && l)
        st = workspace_launch_write(w->path, l, w->options, code, ds);
    return st;
}

static bool run(struct work *own)
{
    struct writer *w = (struct writer *)own;
    const struct job_snapshot *s = own->snap;
    struct pass_input in = { s->module, str_of(s->kernel), w->options, s->has_dev ? &s->dev : NULL,
                             s->spec,   s->facts,          0 };
    struct pass_output code = { 0 };
    struct diags ds = { 0 };
    const char *why = "not written";
    enum status st = w->path ? pass_apply(&in, &code, &ds) : ST_NOMEM;
    if (st == ST_OK)
        st = put_files(w, &code, &ds);
    for (size_t i = 0; i < ds.n; i++)
        why = ds.v[i].level == DIAG_ERROR && ds.v[i].msg ? ds.v[i].msg : why;
    w->level = st == ST_OK ? DIAG_NOTE : DIAG_ERROR;
    if (st == ST_OK)
        snprintf(w->said, sizeof w->said, "written, the best so far (%s): %s", gain_words(w->gain).s,
                 w->path);
    else
        snprintf(w->said, sizeof w->said, "%s", why);
    pass_output_free(&code);
    diags_free(&ds);
    return true;
}

bool write_best(struct app *a, const char *path)
{
    const struct tune_live *l = a->snap->search;
    const struct options *none = options_none();
    bool searching = app_doing(a->snap, JOB_TUNE);
    if (!searching || !l || !a->snap->module || options_equal(&l->options, none) ||
        !(gain_of(l->original, l->best) > 1 + ADVICE_LEAST))
        return false;
    struct writer *w = base_alloc(sizeof *w);
    struct options *options = options_new();
    if (!w || !options) {
        BASE_FREE(w, options);
        return false;
    }
    w->options = options_put(options, 0, &l->options);
    w->gain = gain_of(l->original, l->best);
    w->path = *path ? base_strdup(path) : workspace_tuned_name(a->snap->module->path);
    w->work.run = run;
    w->work.clear = clear;
    work_drop(&a->written);
    a->written = work_start(&a->engine, &w->work);
    return a->written != NULL;
}

bool write_best_working(const struct app *a)
{
    return a->written && work_state(a->written) == WORK_BUSY;
}

void write_best_tell(struct app *a)
{
    if (!a->written || write_best_working(a))
        return;
    const struct writer *w = (const struct writer *)a->written;
    app_notice(a, w->level, "%s", w->said);
    work_drop(&a->written);
}
