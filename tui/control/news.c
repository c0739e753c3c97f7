/* What is new in a snapshot, in one line above the key bar: notice.h. */
#include "engine/base/name.h"
#include "engine/search/found.h"
#include "engine/session/run.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/notice.h"
#include "tui/app/results/run_line.h"
#include "tui/control/control.h"
#include "tui/view/view.h"

#include <stdio.h>
#include <string.h>

/* A message of the engine above the key bar; the messages panel has it anyway. */
static void announce(struct app *a, const struct job_message *m)
{
    const char *text = m->text ? m->text : "";
    if (m->file && m->at.line)
        snprintf(a->notice, sizeof a->notice, "%s:%u:%u: %s", base_file_name(m->file), m->at.line,
                 m->at.col, text);
    else
        snprintf(a->notice, sizeof a->notice, "%s%s%s", m->file ? base_file_name(m->file) : "",
                 m->file ? ": " : "", text);
    notice_until(a, m->level);
}

/* Index of the first message that `old` did not have; the engine keeps the last few hundred. */
static size_t first_new(const struct job_snapshot *old, const struct job_snapshot *now)
{
    size_t n = now->nmessages;
    if (n > old->nmessages || !n || !old->nmessages)
        return old->nmessages < n ? old->nmessages : n;
    while (n && now->messages[n - 1].time_ns > old->messages[old->nmessages - 1].time_ns)
        n--;
    return n;
}

/* The valley panel shows the verdict of the last sweep or search by itself. */
static bool says_verdict(const struct app *a, const struct job_message *m)
{
    const struct session_run *r = a->snap->nruns ? app_run(a, a->snap->nruns - 1) : NULL;
    struct buf b = { 0 };
    if (a->focus != PANEL_VALLEY || !r || r->kind == RUN_ONE || m->level != DIAG_NOTE || !m->text)
        return false;
    if (r->kind == RUN_SWEEP)
        tune_verdict(&r->sweep, &b);
    bool same = !strcmp(r->kind == RUN_SWEEP ? b.s ? b.s : "" : r->found->reason, m->text);
    buf_free(&b);
    return same;
}

/* A run that has just ended well is told in one line; what was said of an earlier one goes. Between its
 * end and this snapshot the engine may have begun something else. */
static bool says_run(struct app *a, const struct job_snapshot *old)
{
    const struct job_snapshot *s = a->snap;
    size_t last = app_last_run(a, -1);
    struct buf line = { 0 };
    a->run_untold |= app_measured(old) || (s->nruns > old->nruns && s->module == old->module);
    if (!a->run_untold || app_measured(s))
        return false;
    a->run_untold = false;
    size_t after = last == SIZE_MAX ? 0 : last + 1;
    while (after && after < s->nruns && app_run(a, after) && app_run(a, after)->aside)
        after++;
    if (!after || after != s->nruns)
        return false;
    run_line(a, last, &line);
    if (line.n) {
        const struct session_run *r = app_run(a, last);
        bool cut = r->kind == RUN_SWEEP ? !r->sweep.complete
                                        : r->kind == RUN_TUNE && r->found && r->found->interrupted;
        snprintf(a->notice, sizeof a->notice, "%s%s",
                 cut ? view_keys(a, "Stopped, results kept; {resume} resumes. ") : "", line.s);
        notice_until(a, DIAG_NOTE);
    }
    buf_free(&line);
    return *a->notice && a->notice_level == DIAG_NOTE;
}

/* Errors go before what was said last; the first that has a place in the text is shown there. */
void notice_new(struct app *a, const struct job_snapshot *old)
{
    const struct job_snapshot *s = a->snap;
    bool error = false, told = says_run(a, old);
    for (size_t i = first_new(old, s); i < s->nmessages; i++) {
        const struct job_message *m = &s->messages[i];
        if (m->level == DIAG_ERROR && !error) {
            error = true;
            announce(a, m);
            if (m->at.line && m->file && s->module && !strcmp(m->file, s->module->path))
                source_goto(a, m->at.line);
        } else if (!error && !told && i + 1 == s->nmessages && !says_verdict(a, m)) {
            announce(a, m);
        }
    }
}
