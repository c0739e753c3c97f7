/* demo: a demo kernel swept at once, or a lesson. */
#include "engine/base/name.h"
#include "engine/base/shown.h"
#include "engine/cmd/cmd.h"
#include "engine/cmd/cmd_int.h"
#include "engine/session/lesson.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int by_number(const void *a, const void *b)
{
    return strverscmp(*(char *const *)a, *(char *const *)b); /* lesson 2 before lesson 10 */
}

size_t cmd_data_names(const char *folder, const char *end, char **names, size_t most)
{
    struct buf path = { 0 };
    buf_printf(&path, "%s/%s", cmd_data_dir(), folder);
    DIR *d = path.s ? opendir(path.s) : NULL;
    size_t n = 0;
    for (struct dirent *e; d && n < most && (e = readdir(d));) {
        if (!base_stem(e->d_name, end))
            continue;
        names[n] = base_strdup(e->d_name);
        if (names[n])
            names[n++][strlen(e->d_name) - strlen(end)] = 0;
    }
    if (d)
        closedir(d);
    buf_free(&path);
    qsort(names, n, sizeof *names, by_number);
    return n;
}

static void list_demos(const struct args *a)
{
    enum { MOST = 200 };
    char *names[MOST];
    struct buf out = { 0 };
    size_t n = cmd_data_names("kernels", ".launch.json", names, MOST);
    buf_puts(&out, "demo kernels (gpulocw demo NAME):\n");
    for (size_t i = 0; i < n; i++) {
        buf_printf(&out, "%s%-18s%s", i % 4 ? "" : "  ", names[i], i % 4 == 3 || i + 1 == n ? "\n" : "");
        base_free(names[i]);
    }
    n = cmd_data_names("sessions/lessons", ".json", names, MOST);
    buf_puts(&out, "lessons (gpulocw demo NAME, in a terminal):\n");
    for (size_t i = 0; i < n; i++) {
        buf_printf(&out, "  %s\n", names[i]);
        base_free(names[i]);
    }
    cmd_give(a, &out);
}

static int cmd_check_lesson(struct args *a)
{
    struct diags ds = { 0 };
    struct lesson *l = NULL;
    enum status st = lesson_read(a->check, &l, &ds);
    if (st == ST_OK && a->front && a->front->check_lesson)
        st = a->front->check_lesson(l, &ds);
    if (st == ST_OK && a->front && a->front->try_lesson)
        st = a->front->try_lesson(a->env, a->check, &ds);
    else if (st == ST_OK)
        diag_add(&ds, DIAG_WARNING, "lesson", a->check, NO_SPAN,
                 "this build has no workbench: checks and commands of the steps were not tested");
    if (st == ST_OK)
        diag_add(&ds, DIAG_NOTE, "lesson", a->check, NO_SPAN, "lesson %d, '%s': %u steps, all tried",
                 l->number, l->title, l->nsteps);
    lesson_free(l);
    return cmd_finish(a, st, &ds);
}

/* A lesson without a terminal: its narration and tasks, to read. */
static int cmd_print_lesson(const struct args *a, const char *path)
{
    struct diags ds = { 0 };
    struct lesson *l = NULL;
    struct buf out = { 0 };
    enum status st = lesson_read(path, &l, &ds);
    if (st == ST_OK) {
        buf_printf(&out, "Lesson %d: %s\n", l->number, l->title);
        for (unsigned i = 0; i < l->nsteps; i++) {
            buf_printf(&out, "\n%u. %s\n", i + 1, l->step[i].text);
            if (l->step[i].task)
                buf_printf(&out, "   task: %s\n", l->step[i].task);
            for (unsigned k = 0; k < l->step[i].ncommands; k++)
                buf_printf(&out, "   :%s\n", l->step[i].commands[k]);
        }
        cmd_put(a, &out);
    }
    buf_free(&out);
    lesson_free(l);
    return cmd_finish(a, st, &ds);
}

static char *demo_file(const char *folder, const char *name, const char *end)
{
    struct buf b = { 0 };
    buf_printf(&b, "%s/%s/%s%s", cmd_data_dir(), folder, name, end);
    if (b.s && access(b.s, R_OK) == 0)
        return buf_take(&b);
    buf_free(&b);
    return NULL;
}

/* "2": the lesson of that number, by its file's name. NULL: none. */
static char *lesson_number(const char *name)
{
    char folder[1024];
    size_t n = strlen(name);
    snprintf(folder, sizeof folder, "%s/sessions/lessons", cmd_data_dir());
    DIR *d = n && strspn(name, "0123456789") == n ? opendir(folder) : NULL;
    char *found = NULL;
    for (struct dirent *e; d && !found && (e = readdir(d));)
        if (!strncmp(e->d_name, name, n) && e->d_name[n] == '-')
            found = demo_file("sessions/lessons", e->d_name, "");
    if (d)
        closedir(d);
    return found;
}

/* By name, by number, or a file of one's own. */
static char *lesson_file(const char *name)
{
    char *path = demo_file("sessions/lessons", name, ".json");
    if (!path)
        path = lesson_number(name);
    return path || access(name, R_OK) != 0 ? path : base_strdup(name);
}

static int cmd_grade(struct args *a)
{
    struct diags ds = { 0 };
    struct buf out = { 0 };
    enum status st = ST_USAGE;
    if (a->front && a->front->grade)
        st = a->front->grade(a->env, a->grade, lesson_file, a->json, &out, &ds);
    else
        diag_error(&ds, "usage", "this build has no workbench and cannot grade");
    if (out.n)
        cmd_give(a, &out);
    return cmd_finish(a, st, &ds);
}

static enum status put_lesson(const struct args *a, struct buf *out, struct diags *ds)
{
    bool page = strcmp(a->format, "html") == 0;
    if (page) {
        buf_show_from(out, 0);
        buf_puts(out, WORKSPACE_MARK_PAGE "\n");
    }
    if (out->oom)
        return ST_NOMEM;
    if (a->output)
        return file_write_atomic(a->output, out->s, out->n, ds);
    page ? cmd_put(a, out) : cmd_put_exact(a, out); /* a cast is JSON: its control codes are escaped */
    return ST_OK;
}

static int cmd_export_lesson(struct args *a)
{
    struct diags ds = { 0 };
    struct buf out = { 0 };
    enum status st = ST_USAGE;
    char *path = a->nfiles ? lesson_file(a->file[0]) : NULL;
    if (!a->nfiles)
        diag_error(&ds, "usage", "no lesson given");
    else if (!a->front || !a->front->export_lesson)
        diag_error(&ds, "usage", "this build has no workbench and cannot run lessons");
    else if (!path)
        st = ST_INPUT,
        diag_hint(diag_add(&ds, DIAG_ERROR, "demo", NULL, NO_SPAN, "no lesson '%s'", a->file[0]),
                  "gpulocw demo | cat lists them");
    else
        st = a->front->export_lesson(a->env, path, a->format, &out, &ds);
    if (st == ST_OK)
        st = put_lesson(a, &out, &ds);
    buf_free(&out);
    base_free(path);
    return cmd_finish(a, st, &ds);
}

int cmd_demo(struct args *a)
{
    struct diags ds = { 0 };
    const char *name = a->nfiles ? a->file[0] : NULL;
    bool screen = a->front && !a->plain && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO);
    if (a->check)
        return cmd_check_lesson(a);
    if (a->grade)
        return cmd_grade(a);
    if (a->format)
        return cmd_export_lesson(a);
    if (!name && !screen) {
        list_demos(a);
        return 0;
    }
    char *ptx = name ? demo_file("kernels", name, ".ptx") : NULL;
    char *lesson = name && !ptx ? demo_file("sessions/lessons", name, ".json") : NULL;
    if (name && !ptx && !lesson)
        lesson = lesson_number(name);
    int code = 0;
    if (name && !ptx && !lesson) {
        struct diag *d =
            diag_add(&ds, DIAG_ERROR, "demo", NULL, NO_SPAN, "no demo kernel or lesson '%s'", name);
        diag_hint(d, "gpulocw demo | cat lists them");
        code = cmd_finish(a, ST_INPUT, &ds);
    } else if (screen) {
        struct cmd_front_opts o = { .sweep_at_once = ptx != NULL, .axis = "pi", .lesson = lesson };
        code = cmd_front(a, ptx, &o);
    } else if (lesson) {
        code = cmd_print_lesson(a, lesson);
    } else {
        a->file[0] = ptx;
        a->nfiles = 1;
        code = cmd_sweep(a);
    }
    BASE_FREE(ptx, lesson);
    return code;
}
