/* grade: see grade.h. An answer may only set, show and run: nothing of the file is opened or written. */
#include "tui/term/grade.h"

#include "engine/base/base.h"
#include "engine/cmd/cmd.h"
#include "engine/session/lesson.h"
#include "engine/workspace/job.h"
#include "tui/app/app.h"
#include "tui/app/command.h"
#include "tui/app/lesson_run.h"
#include "tui/term/workbench.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ANSWERS_MOST (1u << 20)

struct grading {
    struct app app;
    struct engine_link link;
    const char *path; /* of the answers */
    unsigned line, tasks, done;
};

static void post(void *ctx, const struct job *j)
{
    struct engine_link *l = ctx;
    l->posted++;
    job_post(l->engine, j);
}
static void cancel(void *ctx)
{
    job_cancel(((struct engine_link *)ctx)->engine);
}
static const struct job_snapshot *hold(void *ctx)
{
    return job_snapshot_get(((struct engine_link *)ctx)->engine);
}
static void release(void *ctx, const struct job_snapshot *s)
{
    (void)ctx;
    job_snapshot_release(s);
}

static void settle(struct grading *g)
{
    for (;;) {
        const struct job_snapshot *s = job_snapshot_get(g->link.engine), *old = g->app.snap;
        g->app.now_ns = base_now_ns();
        app_snapshot(&g->app, s);
        job_snapshot_release(old);
        if (!s->busy && s->worked >= g->link.posted)
            return;
        struct pollfd f = { job_wake_fd(g->link.engine), POLLIN, 0 };
        poll(&f, 1, 200);
    }
}

/* What sets and shows, and what runs; on a simulated device by name; a kernel below the present folder
 * or that of the demos. */
static bool allowed(const char *line)
{
    if (!strncmp(line, "open ", 5))
        return line[5] != '/' && !strstr(line, "..") && strlen(line) > 4 &&
               !strcmp(line + strlen(line) - 4, ".ptx");
    static const char *const runs[] = { "run", "sweep", "tune", "resume", "device sim:" };
    size_t n = strcspn(line, " ");
    for (size_t i = 0; i < ARRAY_LEN(runs); i++)
        if (strlen(runs[i]) == n ? !strncmp(line, runs[i], n)
                                 : strchr(runs[i], ' ') && !strncmp(line, runs[i], strlen(runs[i])))
            return !strchr(line, '/') || !strncmp(line, "sweep", n);
    return cmdline_begins(line);
}

/* The step as it stands when the student goes on: one TAP line where it has a task. */
static void judge(struct grading *g)
{
    struct lesson_view *v = &g->app.lesson;
    const struct lesson_step *s = v->lesson ? &v->lesson->step[v->step] : NULL;
    struct buf lacks = { 0 };
    if (!s)
        return;
    lesson_update(&g->app);
    if (s->check) {
        bool ok = v->passed;
        g->tasks++;
        g->done += ok;
        if (!ok)
            check_eval(&g->app, s->check, NULL, &lacks);
        printf("%sok %u - step %u: %s\n", ok ? "" : "not ", g->tasks, v->step + 1,
               s->task ? s->task : s->check);
        if (!ok)
            printf("# %s\n", lacks.s ? lacks.s : s->check);
        fflush(stdout);
    }
    buf_free(&lacks);
    v->passed = true; /* judged: the next step is tried all the same */
    lesson_move(&g->app, 1);
}

static enum status answer(struct grading *g, const char *line, struct diags *ds)
{
    struct span at = { 0, 0, g->line, 1 };
    if (!strcmp(line, "next")) {
        judge(g);
        settle(g);
        return ST_OK;
    }
    if (!cmdline_known(line) || !allowed(line)) {
        diag_add(ds, DIAG_ERROR, "answers", g->path, at, "'%s' %s", line,
                 cmdline_known(line) ? "is not for answers: they set, show and run" : "is no command");
        return ST_INPUT;
    }
    app_command(&g->app, line);
    settle(g);
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
        if (!g->app.lesson.lesson)
            break; /* it is over */
        st = answer(g, line, ds);
    }
    while (st == ST_OK && g->app.lesson.lesson) /* what is left unanswered */
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

static enum status graded(struct grading *g, const char *lesson, struct str text, struct diags *ds)
{
    struct app_engine engine = { &g->link, post, cancel, hold, release };
    app_init(&g->app, &engine, job_snapshot_get(g->link.engine), cmd_data_dir());
    enum status st = lesson_open(&g->app, lesson) ? ST_OK : ST_INPUT;
    if (st == ST_OK) {
        settle(g);
        st = all_answers(g, text, ds);
    } else {
        diag_error(ds, "answers", "the lesson %s cannot be opened: %s", lesson, g->app.notice);
    }
    if (st == ST_OK)
        printf("1..%u\n# %u of %u tasks done\n", g->tasks, g->done, g->tasks);
    if (st == ST_OK && g->done != g->tasks)
        diag_error(ds, "grade", "%u of %u tasks are not done", g->tasks - g->done, g->tasks);
    const struct job_snapshot *last = g->app.snap;
    app_free(&g->app);
    job_snapshot_release(last);
    return st != ST_OK ? st : g->done == g->tasks ? ST_OK : ST_DIFFER;
}

enum status grade_answers(const struct dev_env *env, const char *answers,
                          char *(*lesson_path)(const char *name), struct diags *ds)
{
    struct grading *g = base_alloc(sizeof *g);
    char *text = NULL, name[256], session[] = "/tmp/gpulocw-grade-XXXXXX";
    size_t n = 0;
    enum status st = g ? file_read_regular(answers, ANSWERS_MOST, &text, &n, ds) : ST_NOMEM;
    if (st != ST_OK) {
        base_free(g);
        return st;
    }
    lesson_name((struct str){ text, n }, name, sizeof name);
    char *path = *name ? lesson_path(name) : NULL;
    g->path = answers;
    if (!path) {
        diag_add(ds, DIAG_ERROR, "answers", answers, NO_SPAN,
                 *name ? "there is no lesson '%s'" : "no line \"lesson NAME\" at its head%s", name);
        st = ST_INPUT;
    } else {
        int fd = mkstemp(session);
        st = fd < 0 ? ST_IO : job_engine_new(env, session, &g->link.engine, ds);
        if (st == ST_OK) {
            st = graded(g, path, (struct str){ text, n }, ds);
            job_engine_free(g->link.engine);
        }
        if (fd >= 0)
            close(fd), unlink(session);
    }
    base_free(path);
    base_free(text);
    base_free(g);
    return st;
}
