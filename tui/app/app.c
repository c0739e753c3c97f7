/* Services of the state for views and commands: app.h. */
#include "engine/session/run.h"
#include "tui/app/app.h"

#include "engine/rec/knobs.h"
#include "engine/session/session.h"
#include "engine/workspace/snapshot.h"
#include "tui/app/config.h"
#include "tui/app/launch/guess.h"
#include "tui/app/page.h"
#include "tui/app/post.h"

#include <stdio.h>
#include <string.h>

void app_options_sent(struct app *a)
{
    struct job j = { .kind = JOB_OPTIONS, .options = a->options };
    a->engine.post(a->engine.ctx, &j);
    a->hooks->changed(a);
}

void app_post(struct app *a, enum job_kind kind, const char *text, long number)
{
    struct job j = { .kind = kind, .text = text, .number = number, .options = a->options };
    a->to_launch = a->to_launch || kind == JOB_LAUNCH_GUESS;
    a->kernels_declined = a->kernels_declined && kind != JOB_OPEN;
    a->engine.post(a->engine.ctx, &j);
}

void app_focus(struct app *a, enum panel_id p)
{
    a->focus = p;
    a->lesson.part = 0; /* what one goes to is seen: the lesson's text gives way */
    a->recent[p] = ++a->recent_clock;
    a->hooks->changed(a);
}

void app_options_set(struct app *a, const struct options *o)
{
    struct undo *u = &a->undo;
    if (options_equal(o, a->options))
        return;
    if (u->at == UNDO_MAX) {
        for (size_t i = 1; i < UNDO_MAX; i++)
            options_put(u->v, i - 1, options_at(u->v, i));
        u->at--;
    }
    options_put(u->v, u->at++, o);
    u->n = u->at;
    options_copy(a->options, o);
    app_options_sent(a);
}

bool app_knob_set(struct app *a, size_t i, struct str text)
{
    struct diags ds = { 0 };
    options_copy(a->draft, a->options);
    bool ok = knob_set(a->draft, i, text, &ds) == ST_OK;
    if (ok)
        app_options_set(a, a->draft);
    app_notice_diags(a, &ds);
    diags_free(&ds);
    return ok;
}

/* The engine's word for what it does, as the screen says it. */
const char *app_word(const struct job_snapshot *s)
{
    return s->what && s->doing == JOB_TUNE ? "search" : s->what ? s->what : "work";
}

bool app_doing(const struct job_snapshot *s, unsigned kind)
{
    return s->busy && s->what && s->doing == kind;
}

/* Runs take long and their points are worth a question; opening or rewriting is not. */
bool app_measured(const struct job_snapshot *s)
{
    return app_doing(s, JOB_RUN) || app_doing(s, JOB_SWEEP) || app_doing(s, JOB_TUNE);
}

bool app_measuring(const struct app *a)
{
    return app_measured(a->snap);
}

/* Posts a run, a sweep or a search; says when it has to wait or cannot be. */
void app_launch(struct app *a, const struct job *j)
{
    static const char *const names[] = {
        [JOB_RUN] = "run", [JOB_SWEEP] = "sweep", [JOB_TUNE] = "search", [JOB_RESUME] = "rest"
    };
    if (a->snap->module && !a->snap->spec && !a->snap->busy) {
        app_notice(a, DIAG_NOTE, "%s", "there is no launch description: guessing one first");
        guess_start(a, j);
        return;
    }
    if (app_measuring(a))
        app_notice(a, DIAG_NOTE, "the %s starts when the %s has finished; %s", names[j->kind],
                   app_word(a->snap), view_keys(a, "{cancel} stops both"));
    a->engine.post(a->engine.ctx, j);
}

void app_run_once(struct app *a, const struct options *o)
{
    struct job j = { .kind = JOB_RUN, .options = o };
    app_launch(a, &j);
}

void app_tune(struct app *a, const char *method, long budget)
{
    struct job j = { .kind = JOB_TUNE, .text = method, .number = budget, .options = a->options };
    app_launch(a, &j);
    a->valley.run = SIZE_MAX;
    a->valley.placed = false;
    a->replay.on = false;
    if (a->focus != PANEL_ADVICE)
        app_focus(a, PANEL_VALLEY);
}

void app_sweep(struct app *a)
{
    struct job j = { .kind = JOB_SWEEP, .text = a->valley.axis, .options = a->options };
    app_launch(a, &j);
    a->valley.run = SIZE_MAX;
    a->valley.placed = false;
    a->replay.on = false;
    if (a->focus != PANEL_COUNTERS)
        app_focus(a, PANEL_VALLEY);
}

bool app_theme(struct app *a, const char *name)
{
    char path[600];
    struct diags ds = { 0 };
    struct theme fresh;
    bool ok = true;
    theme_default(&fresh);
    if (config_theme_path(a, name, path, sizeof path))
        ok = theme_load(path, &fresh, &ds) == ST_OK;
    else if (strcmp(name, "dark") != 0)
        ok = false,
        diag_error(&ds, "theme",
                   "no theme '%s'; dark, light, high-contrast, okabe-ito and okabe-ito-light come with "
                   "the program",
                   name);
    if (!ok)
        theme_default(&fresh);
    if (ok || name == a->set.theme)
        a->theme = fresh;           /* a file spoilt while it is in use: the built-in look */
    if (ok && name != a->set.theme) /* a reload gives the present name itself */
        snprintf(a->set.theme, sizeof a->set.theme, "%s", name);
    app_notice_diags(a, &ds);
    return ok;
}

const struct session_run *app_run(const struct app *a, size_t i)
{
    return i < a->snap->nruns ? a->snap->runs[i] : NULL;
}

size_t app_last_run(const struct app *a, int kind)
{
    for (size_t i = a->snap->nruns; i-- > 0;) {
        const struct session_run *r = app_run(a, i);
        if (r && !r->deleted && !r->aside && (kind < 0 || (int)r->kind == kind))
            return i;
    }
    return SIZE_MAX;
}
