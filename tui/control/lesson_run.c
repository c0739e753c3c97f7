/* lesson_run: see lesson_run.h. */
#include "tui/control/panels.h"
#include "tui/control/lesson_run.h"

#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/session/lesson.h"
#include "engine/workspace/snapshot.h"
#include "engine/workspace/workspace.h"
#include "tui/app/app.h"
#include "tui/app/config.h"
#include "tui/app/post.h"
#include "tui/base/text.h"
#include "tui/control/export.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void enter_step(struct app *a)
{
    const struct lesson_step *s = &a->lesson.lesson->step[a->lesson.step];
    a->lesson.passed = !s->check;
    a->lesson.part = 0;
    a->lesson.hidden = false;
    a->lesson.runs_at_step = a->snap->nruns;
    options_copy(a->lesson.at_step, a->options);
    enum panel_id panel = s->panel ? panel_named(s->panel) : PANEL_COUNT;
    if (panel < PANEL_COUNT)
        app_focus(a, panel);
}

void lesson_close(struct app *a)
{
    lesson_free(a->lesson.lesson);
    BASE_FREE(a->lesson.path, a->lesson.writes);
    a->lesson = (struct lesson_view){ .at_step = a->lesson.at_step };
}

bool lesson_open(struct app *a, const char *path)
{
    struct diags ds = { 0 };
    struct lesson *l = NULL;
    char file[1024];
    if (lesson_read(path, &l, &ds) != ST_OK) {
        app_notice_diags(a, &ds);
        return false;
    }
    diags_free(&ds);
    lesson_close(a);
    a->lesson.lesson = l;
    a->lesson.path = base_strdup(path);
    a->lesson.before = a->snap->module;
    a->lesson.runs_before = a->snap->nruns;
    a->overlay = OVERLAY_NONE;
    if (strstr(l->file, "..") || *l->file == '/' || (l->device && strchr(l->device, '/'))) {
        app_notice(a, DIAG_ERROR, "the lesson names a file outside its folder: not opened");
        lesson_close(a);
        return false;
    }
    if (l->device)
        app_post(a, JOB_DEVICE, l->device, 0);
    snprintf(file, sizeof file, "%s/%s", a->data_dir ? a->data_dir : ".", l->file);
    app_post(a, JOB_OPEN, access(file, R_OK) == 0 ? file : l->file, 0);
    if (l->kernel)
        app_post(a, JOB_KERNEL, l->kernel, 0);
    if (l->axis)
        snprintf(a->valley.axis, sizeof a->valley.axis, "%s", l->axis);
    a->valley.metric = METRIC_SPEEDUP; /* a peak looks like one */
    enter_step(a);
    return true;
}

/* The list of lessons comes back, on the next one. */
static void finish(struct app *a)
{
    char *done = base_strdup(a->lesson.path);
    lesson_close(a);
    if (!a->npicks)
        config_find_demos(a);
    for (size_t i = 0; done && i + 1 < a->npicks; i++)
        if (!strcmp(a->pick[i].path, done))
            a->pick_wanted = (long)i + 1;
    base_free(done);
    a->overlay = OVERLAY_PICKER;
    a->over_list = (struct list){ 0 };
    app_notice(a, DIAG_NOTE, "the lesson is finished; {close} closes the list");
}

/* Is the lesson's own kernel open, so that its first commands can be given? */
static bool opened(const struct app *a)
{
    const struct job_snapshot *s = a->snap;
    const char *want = a->lesson.lesson->kernel;
    if (s->busy || !s->module || s->module == a->lesson.before || !s->spec)
        return false;
    return !want || (s->spec->name && !strcmp(want, s->spec->name)) ||
           (s->kernel && !strcmp(want, s->kernel));
}

static void begin(struct app *a)
{
    struct lesson_view *v = &a->lesson;
    if (v->begun || !opened(a))
        return;
    v->begun = true;
    const char *refused = NULL;
    for (unsigned i = 0; i < v->lesson->nbegin; i++)
        if (a->hooks->may_begin(v->lesson->begin[i]))
            a->hooks->command(a, v->lesson->begin[i]);
        else
            refused = v->lesson->begin[i];
    options_copy(v->at_step, a->options);
    *a->notice = '\0';
    if (refused)
        app_notice(a, DIAG_WARNING,
                   "the lesson starts with '%s', which was skipped: at the start a lesson may only set "
                   "and show",
                   refused);
}

static void put_path(const char *file, struct buf *out)
{
    char cwd[4096];
    if (*file != '/')
        buf_printf(out, "%s/", getcwd(cwd, sizeof cwd) ? cwd : ".");
    buf_puts(out, file);
}

static void put_owned(char *file, struct buf *out)
{
    put_path(file ? file : "", out);
    base_free(file);
}

/* Where a command writes that names no file. */
static void put_default(const struct app *a, const char *name, struct buf *out)
{
    const struct job_snapshot *s = a->snap;
    const char *ptx = s->module ? s->module->path : "FILE.ptx", *own = s->session_path;
    const struct launch_file *l = s->launches;
    if (!strcmp(name, "write")) {
        char *tuned = workspace_tuned_name(ptx);
        put_path(tuned ? tuned : "", out);
        buf_puts(out, " and ");
        put_owned(workspace_launch_name(tuned ? tuned : ""), out);
        base_free(tuned);
    } else if (!strcmp(name, "save-launch")) {
        const char *from = l && l->n ? l->launch[0].file : NULL;
        put_owned(from ? base_strdup(from) : workspace_launch_name(ptx), out);
    } else if (!strcmp(name, "report") || !strcmp(name, "save") || !strcmp(name, "note")) {
        put_path(own ? own : "the session's own file", out);
        buf_puts(out, !strcmp(name, "report") ? ", .html in place of .json" : "");
    } else if (a->config_dir) { /* theme, plot, mouse, keys */
        put_path(a->config_dir, out);
    } else {
        buf_puts(out, "the configuration folder");
    }
}

/* Where a command that writes would write, as the whole path. */
static void put_target(const struct app *a, const char *name, const char *args, struct buf *out)
{
    static const char *const with_file[] = { "save", "write", "report", "save-launch" };
    bool file = false;
    for (size_t i = 0; i < ARRAY_LEN(with_file); i++)
        file = file || (*args && !strcmp(name, with_file[i]));
    if (!strcmp(name, "export")) {
        char format[32], made[1024] = "nothing: no such format";
        size_t n = strcspn(args, " ");
        snprintf(format, sizeof format, "%.*s", n ? (int)n : 4, n ? args : "text");
        bool known = export_name(a, format, made, sizeof made);
        args += n + strspn(args + n, " ");
        known ? put_path(*args ? args : made, out) : buf_puts(out, made);
    } else if (file) {
        put_path(args, out);
        if (!strcmp(name, "write")) {
            buf_puts(out, " and ");
            put_owned(workspace_launch_name(args), out);
        }
    } else {
        put_default(a, name, out);
    }
}

static void forget_question(struct app *a)
{
    *a->lesson.asked = '\0';
    base_free(a->lesson.writes);
    a->lesson.writes = NULL;
}

unsigned lesson_ask(struct app *a, const char *line, const char *name, const char *args)
{
    struct buf text = { 0 };
    forget_question(a);
    buf_printf(&text, "%s writes ", name);
    put_target(a, name, args, &text);
    a->lesson.writes = buf_take(&text);
    if (!a->lesson.writes)
        return UI_REDRAW;
    snprintf(a->lesson.asked, sizeof a->lesson.asked, "%s", line);
    a->lesson.seen = false;
    a->overlay = OVERLAY_NONE; /* what it says stands above the panel */
    app_notice(a, DIAG_WARNING, "%s", a->lesson.writes);
    prompt_open(&a->prompt, PROMPT_CONFIRM, "during a lesson: write it? (y/n) ", "", 0);
    return UI_REDRAW;
}

unsigned lesson_answer(struct app *a, const char *typed)
{
    char line[PROMPT_TEXT];
    bool seen = a->lesson.seen;
    snprintf(line, sizeof line, "%s", a->lesson.asked);
    forget_question(a);
    if (*typed != 'y' && *typed != 'Y') {
        app_notice(a, DIAG_NOTE, "nothing was written");
        return UI_REDRAW;
    }
    if (!seen) {
        app_notice(a, DIAG_WARNING, "nothing was written: the screen is too small for the whole path");
        return UI_REDRAW;
    }
    a->lesson.agreed = true;
    unsigned done = a->hooks->command(a, line);
    a->lesson.agreed = false;
    return done | UI_REDRAW;
}

void lesson_move(struct app *a, int by)
{
    struct lesson_view *v = &a->lesson;
    if (!v->lesson)
        return;
    if (by > 0 && v->step + 1 == v->lesson->nsteps) {
        finish(a);
        return;
    }
    if (by > 0 && !v->passed) {
        struct buf lacks = { 0 };
        check_eval(a, v->lesson->step[v->step].check, NULL, &lacks);
        app_notice(a, DIAG_NOTE, "Not done yet: %s", lacks.s ? lacks.s : v->lesson->step[v->step].check);
        buf_free(&lacks);
        return;
    }
    if (by < 0 && !v->step)
        return;
    v->step = by > 0 ? v->step + 1 : v->step - 1;
    enter_step(a);
}

bool lesson_update(struct app *a)
{
    struct lesson_view *v = &a->lesson;
    if (v->lesson)
        begin(a);
    if (!v->lesson || v->passed || !v->lesson->step[v->step].check)
        return false;
    v->passed = check_eval(a, v->lesson->step[v->step].check, NULL, NULL) == CHECK_YES;
    return v->passed;
}

/* Does the task ask for other options than the step began with? */
static bool sets_options(const struct lesson_step *s)
{
    for (unsigned k = 0; k < s->ncommands; k++)
        if (!strncmp(s->commands[k], "set ", 4) || !strncmp(s->commands[k], "unset", 5) ||
            !strcmp(s->commands[k], "best"))
            return true;
    return false;
}

/* Something was run for the task, and it was not what is looked for: what lacks, and the way back where
 * options were changed. */
static void put_missed(struct app *a, struct page *p, unsigned w)
{
    const struct lesson_view *v = &a->lesson;
    const struct lesson_step *s = &v->lesson->step[v->step];
    struct buf lacks = { 0 };
    if (v->passed || !s->check || a->snap->busy || a->snap->nruns <= v->runs_at_step)
        return;
    bool changed = !sets_options(s) && !options_equal(a->options, v->at_step);
    if (check_eval(a, s->check, NULL, &lacks) == CHECK_NO && lacks.s)
        page_say(a, p, ROLE_WARN, 1, w - 1, "Not yet: %s.%s", lacks.s,
                 changed
                     ? view_keys(a, " The options are not those of the task: {undo} undoes a change.")
                     : "");
    buf_free(&lacks);
}

void view_lesson_update(struct app *a, struct page *p, unsigned w)
{
    const struct lesson_view *v = &a->lesson;
    page_clear(p);
    if (v->lesson && v->writes) { /* the question alone: nothing of it may be cut off */
        page_wrap(a, p, ROLE_WARN, 1, w - 1, v->writes, -1);
        return;
    }
    if (!v->lesson || v->hidden)
        return;
    const struct lesson_step *s = &v->lesson->step[v->step];
    char key[16];
    struct row r = { .arena = a->frame };
    keymap_key(&a->keys, REQ_LESSON_NEXT, key);
    row_put(&r, ROLE_LESSON, " Lesson %d, step %u of %u ", v->lesson->number, v->step + 1,
            v->lesson->nsteps);
    if (v->passed) {
        row_put(&r, ROLE_KEY, "  %s", key);
        row_put(&r, ROLE_LABEL, v->step + 1 == v->lesson->nsteps ? " ends it" : " goes on");
    } else {
        row_put(&r, ROLE_CHANGED, "  Do the ▶ task");
    }
    const char *title = v->lesson->title, *colon = strchr(title, ':');
    bool whole = r.width + 3 + text_width(str_of(title)) <= w || !colon; /* else what stands before it */
    row_put(&r, ROLE_DIM, "   %.*s", whole ? (int)strlen(title) : (int)(colon - title), title);
    page_add(a, p, &r, -1);
    page_wrap(a, p, ROLE_TEXT, 1, w - 1, view_keys(a, s->text), -1);
    if (s->task)
        page_say(a, p, v->passed ? ROLE_GOOD : ROLE_CHANGED, 1, w - 1, "%s %s%s", v->passed ? "✓" : "▶",
                 view_keys(a, s->task), v->passed ? "  Done." : "");
    put_missed(a, p, w);
}
