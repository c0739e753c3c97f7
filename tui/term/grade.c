/* grade: see grade.h. An answer may only set, show and run: nothing of the file is opened or written. */
#include "tui/term/grade.h"

#include "engine/rec/knobs.h"
#include "engine/session/document.h"
#include "engine/session/lesson.h"
#include "engine/workspace/snapshot.h"
#include "tui/control/command.h"
#include "tui/control/control.h"
#include "tui/control/lesson_run.h"
#include "tui/term/drive.h"

#include <stdio.h>
#include <string.h>

#define ANSWERS_MOST (1u << 20)

struct grading {
    struct drive drive;
    const char *path; /* of the answers */
    struct buf *out;
    struct jw json;
    bool as_json;
    unsigned line, tasks, done;
};

static void put_json(struct grading *g, const struct lesson_step *s, unsigned step, bool ok,
                     const char *lacks)
{
    struct jw *w = &g->json;
    jw_obj(w);
    jw_put_uint(w, "step", step);
    jw_put_str(w, "task", s->task);
    jw_put_str(w, "check", s->check);
    jw_put_bool(w, "done", ok);
    jw_put_str(w, "lacks", ok ? NULL : lacks);
    jw_end_obj(w);
}

static void put_tap(struct grading *g, const struct lesson_step *s, unsigned step, bool ok,
                    const char *lacks)
{
    buf_printf(g->out, "%sok %u - step %u: %s\n", ok ? "" : "not ", g->tasks, step,
               s->task ? s->task : s->check);
    if (!ok)
        buf_printf(g->out, "# %s\n", lacks);
}

/* The step as it stands when the student goes on. */
static void judge(struct grading *g)
{
    struct lesson_view *v = &g->drive.app.lesson;
    const struct lesson_step *s = v->lesson ? &v->lesson->step[v->step] : NULL;
    struct buf lacks = { 0 };
    if (!s)
        return;
    lesson_update(&g->drive.app);
    if (s->check) {
        bool ok = v->passed;
        g->tasks++;
        g->done += ok;
        if (!ok)
            check_eval(&g->drive.app, s->check, NULL, &lacks);
        (g->as_json ? put_json : put_tap)(g, s, v->step + 1, ok, lacks.s ? lacks.s : s->check);
    }
    buf_free(&lacks);
    v->passed = true; /* judged: the next step is tried all the same */
    lesson_move(&g->drive.app, 1);
}

static enum status answer(struct grading *g, const char *line, struct diags *ds)
{
    struct span at = { 0, 0, g->line, 1 };
    if (!strcmp(line, "next")) {
        judge(g);
        drive_settle(&g->drive);
        return ST_OK;
    }
    if (!cmdline_known(line) || !drive_allows(line)) {
        diag_add(ds, DIAG_ERROR, "answers", g->path, at, "'%s' %s", line,
                 cmdline_known(line) ? "is not allowed here: answers may only set, show and run"
                                     : "is not a command");
        return ST_INPUT;
    }
    app_command(&g->drive.app, line);
    drive_settle(&g->drive);
    return ST_OK;
}

static enum status all_answers(struct grading *g, struct str rest, struct diags *ds)
{
    struct str whole;
    enum status st = ST_OK;
    while (st == ST_OK && str_line(&rest, &whole)) {
        char line[512];
        struct str s = str_trim(whole);
        g->line++;
        snprintf(line, sizeof line, "%.*s", (int)(s.n < sizeof line ? s.n : sizeof line - 1), s.s);
        if (!*line || *line == '#' || !strncmp(line, "lesson ", 7))
            continue;
        if (!g->drive.app.lesson.lesson)
            break; /* it is over */
        st = answer(g, line, ds);
    }
    while (st == ST_OK && g->drive.app.lesson.lesson) /* what is left unanswered */
        judge(g);
    return st;
}

/* The name behind "lesson", on the first line that is no comment; empty: there is none. */
static void lesson_name(struct str text, char *out, size_t n)
{
    struct str whole;
    *out = '\0';
    while (str_line(&text, &whole)) {
        struct str s = str_trim(whole);
        if (!s.n || *s.s == '#')
            continue;
        if (s.n > 7 && !strncmp(s.s, "lesson ", 7))
            snprintf(out, n, "%.*s", (int)s.n - 7, s.s + 7);
        return;
    }
}

static void head(struct grading *g, const char *name)
{
    if (!g->as_json)
        return;
    g->json = document_open(g->out, "gpulocw-grade", 2);
    jw_put_str(&g->json, "lesson", name);
    jw_put_str(&g->json, "title", g->drive.app.lesson.lesson->title);
    jw_put_arr(&g->json, "tasks");
}

static void tail(struct grading *g)
{
    if (!g->as_json) {
        buf_printf(g->out, "1..%u\n# %u of %u tasks done\n", g->tasks, g->done, g->tasks);
        return;
    }
    jw_end_arr(&g->json);
    jw_put_uint(&g->json, "done", g->done);
    jw_put_uint(&g->json, "of", g->tasks);
    document_close(&g->json);
}

static enum status graded(struct grading *g, const char *lesson, const char *name, struct str text,
                          struct diags *ds)
{
    if (!lesson_open(&g->drive.app, lesson)) {
        diag_error(ds, "answers", "the lesson %s cannot be opened: %s", lesson, g->drive.app.notice);
        return ST_INPUT;
    }
    head(g, name);
    drive_settle(&g->drive);
    enum status st = all_answers(g, text, ds);
    if (st != ST_OK) {
        if (g->as_json)
            buf_clear(g->out); /* half a document helps nobody */
        return st;
    }
    tail(g);
    if (g->done != g->tasks)
        diag_error(ds, "grade", "%u of %u tasks are not done", g->tasks - g->done, g->tasks);
    return g->done == g->tasks ? ST_OK : ST_DIFFER;
}

/* ---- the lesson itself ---- */
/* What the workbench or the engine refused since, or NULL. */
static const char *refused(const struct app *a, size_t said, size_t messages)
{
    for (size_t i = said; i < a->nsaid; i++)
        if (a->said[i].level == DIAG_ERROR)
            return a->said[i].text;
    for (size_t i = messages; i < a->snap->nmessages; i++)
        if (a->snap->messages[i].level == DIAG_ERROR)
            return a->snap->messages[i].text;
    return options_equal(a->snap->options, a->options) ? a->snap->refusal : NULL;
}

/* False: a command of the step cannot be tried. */
static bool play_step(struct drive *d, const struct lesson_step *s, unsigned step, struct diags *ds)
{
    bool all = true;
    for (unsigned k = 0; k < s->ncommands; k++) {
        size_t said = d->app.nsaid, messages = d->app.snap->nmessages;
        if (!drive_allows(s->commands[k])) {
            diag_add(ds, DIAG_WARNING, "lesson", NULL, NO_SPAN,
                     "lesson, step %u, \"do\": '%s' was not tried: it writes, or leaves the lesson",
                     step, s->commands[k]);
            all = false;
            continue;
        }
        app_command(&d->app, s->commands[k]);
        drive_settle(d);
        const char *why = refused(&d->app, said < d->app.nsaid ? said : d->app.nsaid, messages);
        if (why)
            diag_add(ds, DIAG_ERROR, "lesson", NULL, NO_SPAN, "lesson, step %u, \"do\": '%s' fails: %s",
                     step, s->commands[k], why);
    }
    return all;
}

static void play(struct drive *d, struct diags *ds)
{
    struct lesson_view *v = &d->app.lesson;
    while (v->lesson) {
        const struct lesson_step *s = &v->lesson->step[v->step];
        unsigned step = v->step + 1;
        bool tried = play_step(d, s, step, ds);
        struct buf lacks = { 0 };
        lesson_update(&d->app);
        if (s->check && tried && !v->passed) {
            check_eval(&d->app, s->check, NULL, &lacks);
            diag_add(ds, DIAG_ERROR, "lesson", NULL, NO_SPAN,
                     "lesson, step %u, \"check\": its own commands do not fulfil '%s': %s", step,
                     s->check, lacks.s ? lacks.s : "it stays false");
        }
        buf_free(&lacks);
        v->passed = true;
        lesson_move(&d->app, 1);
        drive_settle(d);
    }
}

enum status lesson_try(const struct dev_env *env, const char *path, struct diags *ds)
{
    struct drive *d = base_alloc(sizeof *d);
    size_t before = ds->errors;
    enum status st = d ? drive_open(d, env, ds) : ST_NOMEM;
    if (st == ST_OK && !lesson_open(&d->app, path)) {
        diag_error(ds, "lesson", "the lesson cannot be opened: %s", d->app.notice);
        st = ST_INPUT;
    }
    if (st == ST_OK) {
        drive_rest(d);
        play(d, ds);
    }
    if (d)
        drive_close(d);
    base_free(d);
    return st != ST_OK ? st : ds->errors == before ? ST_OK : ST_INPUT;
}

enum status grade_answers(const struct dev_env *env, const char *answers,
                          char *(*lesson_path)(const char *name), bool json, struct buf *out,
                          struct diags *ds)
{
    struct grading *g = base_alloc(sizeof *g);
    char *text = NULL, name[256];
    size_t n = 0;
    enum status st = g ? file_read_regular(answers, ANSWERS_MOST, &text, &n, ds) : ST_NOMEM;
    if (st != ST_OK) {
        base_free(g);
        return st;
    }
    *g = (struct grading){ .path = answers, .out = out, .as_json = json };
    lesson_name((struct str){ text, n }, name, sizeof name);
    char *path = *name ? lesson_path(name) : NULL;
    if (path) {
        st = drive_open(&g->drive, env, ds);
        if (st == ST_OK)
            st = graded(g, path, name, (struct str){ text, n }, ds);
        drive_close(&g->drive);
    } else {
        diag_add(ds, DIAG_ERROR, "answers", answers, NO_SPAN,
                 *name ? "no lesson '%s'" : "the first line must be \"lesson NAME\"%s", name);
        st = ST_INPUT;
    }
    BASE_FREE(path, text, g);
    return st;
}
