/* lesson_export: see lesson_export.h. */
#include "engine/session/run.h"
#include "tui/term/lesson_export.h"

#include "engine/session/lesson.h"
#include "engine/workspace/snapshot.h"
#include "tui/control/control.h"
#include "tui/control/lesson_run.h"
#include "tui/draw/panel.h"
#include "tui/term/cast.h"
#include "tui/term/drive.h"
#include "tui/term/lesson_page.h"
#include "tui/view/view.h"

#include <stdio.h>
#include <string.h>

#define COLUMNS 80
#define ROWS    24
/* how the recording goes, seconds */
#define PER_WORD  0.3
#define READ_MIN  2.0
#define READ_MOST 15.0
#define PER_KEY   0.08
#define AFTER     1.5

struct export
{
    struct drive drive;
    struct surface screen;
    struct screen map;
    struct buf *out;
    struct cast cast;
    bool page;
    size_t told; /* runs that the page has */
};

/* A frame may ask for work in the background: the second one has what came of it. */
static void draw(struct export *e)
{
    struct app *a = &e->drive.app;
    *a->notice = '\0';
    for (int i = 0; i < 2; i++) {
        app_begin_frame(a);
        screen_draw(a, &e->screen, &e->map);
        drive_rest(&e->drive);
    }
    app_begin_frame(a);
    screen_draw(a, &e->screen, &e->map);
}

static void record(struct export *e, double pause)
{
    app_begin_frame(&e->drive.app);
    screen_draw(&e->drive.app, &e->screen, &e->map);
    cast_frame(&e->cast, &e->screen, &e->drive.app.theme);
    cast_pause(&e->cast, pause);
}

static double reading(const char *text)
{
    unsigned words = 1;
    for (const char *s = text; *s; s++)
        words += *s == ' ';
    double t = words * PER_WORD;
    return t < READ_MIN ? READ_MIN : t > READ_MOST ? READ_MOST : t;
}

/* The command as a student types it: only seen, a control character in it is no key. */
static void type(struct export *e, const char *line)
{
    struct app *a = &e->drive.app;
    char typed[PROMPT_TEXT];
    size_t n = strlen(line);
    for (size_t i = 0; i <= n && i < sizeof typed; i++) {
        if (((unsigned char)line[i] & 0xc0) == 0x80)
            continue; /* within a character */
        memcpy(typed, line, i);
        typed[i] = '\0';
        prompt_open(&a->prompt, PROMPT_COMMAND, ":", typed, 0);
        record(e, i == n ? PER_KEY * 4 : PER_KEY);
    }
    prompt_close(&a->prompt);
}

static void put_curves(struct export *e)
{
    const struct job_snapshot *s = e->drive.app.snap;
    for (; e->told < s->nruns; e->told++) {
        const struct session_run *r = s->runs[e->told];
        if (r && !r->deleted && r->kind == RUN_SWEEP && r->sweep.npoints)
            lesson_page_curve(e->out, r, (unsigned)e->told + 1);
    }
}

/* What the engine complained of first is the likeliest cause. */
static void tell_first_error(const struct job_snapshot *s, struct diags *ds)
{
    for (size_t i = 0; i < s->nmessages; i++) {
        const struct job_message *m = &s->messages[i];
        if (m->level == DIAG_ERROR) {
            diag_hint(diags_last(ds), "%s%s%s", m->file ? m->file : "", m->file ? ": " : "", m->text);
            return;
        }
    }
}

/* The step's own commands; its check has to hold then. */
static enum status fulfil(struct export *e, const struct lesson_step *s, unsigned number,
                          struct diags *ds)
{
    struct app *a = &e->drive.app;
    for (unsigned k = 0; k < s->ncommands; k++) {
        if (!drive_allows(s->commands[k])) {
            diag_error(
                ds, "lesson",
                "step %u: '%s' is not allowed in an exported lesson, which may only set, show and run",
                number, s->commands[k]);
            return ST_INPUT;
        }
        if (!e->page)
            type(e, s->commands[k]);
        app_command(a, s->commands[k]);
        drive_settle(&e->drive);
        if (!e->page)
            draw(e), record(e, AFTER);
    }
    lesson_update(a);
    if (!s->ncommands || a->lesson.passed)
        return ST_OK;
    struct buf lacks = { 0 };
    check_eval(a, s->check, NULL, &lacks);
    diag_error(ds, "lesson", "step %u: its commands do not complete its task: %s (%s)", number,
               lacks.s ? lacks.s : "the check does not hold", s->check);
    buf_free(&lacks);
    tell_first_error(a->snap, ds);
    return ST_INPUT;
}

static enum status take_step(struct export *e, const struct lesson_step *s, unsigned number,
                             struct diags *ds)
{
    struct app *a = &e->drive.app;
    app_begin_frame(a);
    if (e->page)
        lesson_page_step(e->out, s, number, view_keys(a, s->text),
                         s->task ? view_keys(a, s->task) : NULL);
    draw(e);
    if (!e->page)
        record(e, reading(s->text) + (s->task ? reading(s->task) : 0));
    enum status st = fulfil(e, s, number, ds);
    if (st == ST_OK && e->page) {
        put_curves(e);
        draw(e);
        lesson_page_screen(e->out, &e->screen, &a->theme, number);
        lesson_page_step_end(e->out);
    }
    a->lesson.passed = true; /* a task without commands is the student's own */
    return st;
}

static enum status take(struct export *e, const char *lesson, struct diags *ds)
{
    struct app *a = &e->drive.app;
    struct lesson_view *v = &a->lesson;
    enum status st = ST_OK;
    a->w = COLUMNS;
    a->h = ROWS;
    e->map.drag_from = -1;
    if (!surface_resize(&e->screen, COLUMNS, ROWS))
        return ST_NOMEM;
    if (!lesson_open(a, lesson)) {
        diag_error(ds, "lesson", "%s cannot be opened: %s", lesson, a->notice);
        return ST_INPUT;
    }
    drive_settle(&e->drive);
    lesson_update(a); /* its first commands */
    drive_settle(&e->drive);
    if (!a->snap->module) {
        diag_error(ds, "lesson", "%s: its kernel file %s cannot be opened", lesson, v->lesson->file);
        return ST_INPUT;
    }
    if (e->page)
        lesson_page_begin(e->out, v->lesson);
    else
        cast_begin(&e->cast, e->out, &e->screen, v->lesson->title);
    unsigned n = v->lesson->nsteps;
    for (unsigned i = 0; st == ST_OK && i < n; i++) {
        st = take_step(e, &v->lesson->step[i], i + 1, ds);
        if (i + 1 < n)
            lesson_move(a, 1);
    }
    if (e->page)
        lesson_page_end(e->out);
    else
        cast_end(&e->cast);
    return st == ST_OK && e->out->oom ? ST_NOMEM : st;
}

enum status lesson_export(const struct dev_env *env, const char *lesson, const char *format,
                          struct buf *out, struct diags *ds)
{
    struct export *e = base_alloc(sizeof *e);
    if (!e)
        return ST_NOMEM;
    *e = (struct export){ .out = out, .page = !strcmp(format, "html") };
    enum status st = drive_open(&e->drive, env, ds);
    if (st == ST_OK)
        st = take(e, lesson, ds);
    drive_close(&e->drive);
    surface_free(&e->screen);
    base_free(e);
    return st;
}
