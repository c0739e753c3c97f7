/* Going on with a sweep or a search that was cut off: the same again, with what has run taken from the
 * session. What was stopped here is remembered with its options and axes; of a session that was loaded
 * they are read from what it has. */
#include "engine/rec/knobs.h"
#include "engine/rec/result_read.h"
#include "engine/search/found.h"
#include "engine/session/run.h"
#include "engine/session/session.h"
#include "engine/workspace/job_int.h"

#include <string.h>

/* a sweep or search with points missing */
static bool job_cut_off(const struct session_run *r)
{
    return !r->deleted && (r->kind == RUN_SWEEP
                               ? !r->sweep.complete
                               : r->kind == RUN_TUNE && (r->found->interrupted || !r->found->reason[0]));
}

void job_again_forget(struct job_state *st)
{
    base_free(st->again.text);
    st->again = (struct job_again){ .first = SIZE_MAX };
}

void job_again_keep(struct job_state *st, const struct queued *q, size_t first, size_t n)
{
    job_again_forget(st);
    st->again = (struct job_again){ .kind = q->kind,
                                    .text = base_strdup(q->text),
                                    .number = q->number,
                                    .options = q->options,
                                    .first = first,
                                    .n = n };
}

static size_t last_cut_off(struct session *s)
{
    for (size_t i = session_count(s); i-- > 0;) {
        const struct session_run *r = session_look(s, i);
        if (r && job_cut_off(r))
            return i;
        session_rest(s, i);
    }
    return SIZE_MAX;
}

/* What every point has but for the axis, whose own value is the default's again. */
static enum status base_of_sweep(const struct session_run *r, struct options *o, struct diags *ds)
{
    const struct tune_sweep *s = &r->sweep;
    int knob = knob_find(str_of(s->axis ? s->axis : ""));
    const struct options *def = options_none();
    struct buf text = { 0 };
    if (knob < 0 || !s->npoints || !tune_axis_knows_points((size_t)knob)) {
        diag_error(ds, "resume", "%s: sweep again (finished points are kept)",
                   s->npoints ? "the session does not say which values this sweep was to try"
                              : "nothing of it has run");
        return ST_INPUT;
    }
    *o = *result_options(result_at(s->points, 0));
    knob_get(def, (size_t)knob, &text);
    enum status st = text.oom
                         ? ST_NOMEM
                         : knob_set(o, (size_t)knob, (struct str){ text.s ? text.s : "", text.n }, ds);
    buf_free(&text);
    return st;
}

static enum status gather(struct session *s, size_t first, size_t n, struct measure_done *d)
{
    bool ok = true;
    for (size_t i = first; ok && i < first + n; i++) {
        const struct session_run *r = session_look(s, i);
        ok = r && measure_done_add(d, r);
    }
    return ok ? ST_OK : ST_NOMEM;
}

enum status job_resume(struct job_engine *e, long number, struct queued *q, struct measure_done *d,
                       struct diags *ds)
{
    struct job_state *st = &e->state;
    size_t i = !st->session ? SIZE_MAX : number < 0 ? last_cut_off(st->session) : (size_t)number;
    const struct session_run *r = st->session ? session_look(st->session, i) : NULL;
    if (!r || !job_cut_off(r)) {
        diag_error(ds, "resume",
                   r ? "run %zu is not an interrupted sweep or search"
                     : "no sweep or search was interrupted: nothing is left to resume",
                   i + 1);
        return ST_INPUT;
    }
    if (!job_comparable(st, r)) {
        diag_error(ds, "resume",
                   "run %zu belongs to another kernel, launch, device or text: open that one first",
                   i + 1);
        return ST_INPUT;
    }
    const struct job_again *a =
        i >= st->again.first && i - st->again.first < st->again.n ? &st->again : NULL;
    *q = (struct queued){ .kind = r->kind == RUN_SWEEP ? JOB_SWEEP : JOB_TUNE,
                          .options = options_default(),
                          .number = a ? a->number : 0 };
    q->text = base_strdup(a ? a->text : r->kind == RUN_SWEEP ? r->sweep.axis : NULL);
    enum status s = ST_OK;
    if (a)
        q->options = a->options;
    else if (r->kind == RUN_SWEEP)
        s = base_of_sweep(r, &q->options, ds);
    else
        q->options = st->options;
    return s == ST_OK ? gather(st->session, a ? a->first : i, a ? a->n : 1, d) : s;
}
