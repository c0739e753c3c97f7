/* A command and the program around it: its words on standard output, standard error and the descriptor
 * of --progress-fd; where the program and its data lie; the front end. */
#include "engine/base/json_write.h"
#include "engine/base/shown.h"
#include "engine/cmd/cmd.h"
#include "engine/cmd/cmd_int.h"
#include "engine/cmd/io.h"
#include "engine/dev/dev.h"
#include "engine/workspace/args.h"
#include "engine/workspace/workspace.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BAR_CELLS 30

static void put_out(void *ctx, const char *text, size_t n)
{
    (void)ctx;
    fwrite(text, 1, n, stdout);
    fflush(stdout);
}

/* One line to the descriptor of --progress-fd. A reader that has gone is no error of the command. */
static void put_line(const long *fd, const struct buf *line)
{
    for (size_t at = 0; line->s && !line->oom && at < line->n;) {
        ssize_t n = write((int)*fd, line->s + at, line->n - at);
        if (n < 0 && errno != EINTR)
            return;
        at += n > 0 ? (size_t)n : 0;
    }
}

static void tell_line(const long *fd, enum status s, const struct diags *ds)
{
    struct buf line = { 0 };
    struct jw w = jw_open(&line, 0);
    jw_obj(&w);
    jw_put_int(&w, "exit", status_exit_code(s));
    jw_key(&w, "diagnostics");
    diags_json(ds, &w);
    jw_end_obj(&w);
    buf_puts(&line, "\n");
    put_line(fd, &line);
    buf_free(&line);
}

static void tell(void *ctx, enum status s, const struct diags *ds)
{
    const long *fd = ctx;
    struct buf b = { 0 };
    diags_print(ds, &b);
    if (s != ST_OK && !ds->errors)
        buf_printf(&b, "gpulocw: %s\n", status_text(s));
    if (b.n)
        fwrite(b.s, 1, b.n, stderr);
    buf_free(&b);
    if (*fd > 0)
        tell_line(fd, s, ds);
}

static void progress_line(const long *fd, double done, const char *what, const char *detail)
{
    struct buf line = { 0 };
    struct jw w = jw_open(&line, 0);
    jw_obj(&w);
    jw_put_num(&w, "progress", round(done * 1e4) / 1e4);
    jw_put_str(&w, "what", what);
    jw_put_str(&w, "detail", detail ? detail : "");
    jw_end_obj(&w);
    buf_puts(&line, "\n");
    put_line(fd, &line);
    buf_free(&line);
}

static void bar(double done, const char *what, const char *detail)
{
    int cells = (int)(done * BAR_CELLS);
    struct buf name = { 0 }, more = { 0 };
    buf_shown(&name, str_of(what));
    buf_shown(&more, str_of(detail));
    fprintf(stderr, "\r%-12.12s [", name.s ? name.s : "");
    for (int i = 0; i < BAR_CELLS; i++)
        fputc(i < cells ? '#' : '.', stderr);
    fprintf(stderr, "] %3d %% %s\033[K", (int)(done * 100), more.s ? more.s : "");
    fflush(stderr);
    buf_free(&name);
    buf_free(&more);
}

static void progress(void *ctx, double done, const char *what, const char *detail)
{
    const long *fd = ctx;
    bool terminal = isatty(STDERR_FILENO);
    if (*fd > 0 && done >= 0)
        progress_line(fd, done, what, detail);
    if (terminal && done < 0)
        fprintf(stderr, "\r\033[K");
    else if (terminal)
        bar(done, what, detail);
}

static bool ask(void *ctx, const char *question, char *answer, size_t room)
{
    struct buf shown = { 0 };
    (void)ctx;
    buf_shown(&shown, str_of(question));
    fprintf(stderr, "%s ", shown.s ? shown.s : "");
    fflush(stderr);
    buf_free(&shown);
    if (!fgets(answer, (int)room, stdin))
        return false;
    answer[strcspn(answer, "\r\n")] = '\0';
    return true;
}

static void put_aside(void *ctx, const char *text, size_t n)
{
    (void)ctx;
    fwrite(text, 1, n, stderr);
}

struct cmd_io cmd_io_standard(long *fd)
{
    bool people = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
    return (struct cmd_io){ .ctx = fd,
                            .out = put_out,
                            .aside = put_aside,
                            .tell = tell,
                            .progress = progress,
                            .ask = people ? ask : NULL,
                            .terminal = isatty(STDOUT_FILENO),
                            .failure_document = true };
}

/* ---- the program around a command ---- */
/* Looked for once; the answer stays. */
static char data_dir[4200];

char *cmd_self_path(void)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = 0;
    return base_strdup(n > 0 ? path : "gpulocw");
}

static bool has_kernels(const char *dir)
{
    struct stat st;
    struct buf b = { 0 };
    buf_printf(&b, "%s/kernels", dir);
    bool is = b.s && stat(b.s, &st) == 0 && S_ISDIR(st.st_mode);
    buf_free(&b);
    return is;
}

const char *cmd_data_dir(void)
{
    static const char *const beside[] = { "", "/..", "/../share/gpulocw", "/../.." };
    const char *set = getenv("GPULOCW_DATA");
    if (data_dir[0])
        return data_dir;
    if (set && *set) {
        snprintf(data_dir, sizeof data_dir, "%s", set);
        return data_dir;
    }
    char *self = cmd_self_path(), *slash = self ? strrchr(self, '/') : NULL;
    if (slash)
        *slash = 0;
    for (size_t i = 0; slash && i < ARRAY_LEN(beside); i++) {
        snprintf(data_dir, sizeof data_dir, "%.4000s%s", self, beside[i]);
        if (has_kernels(data_dir))
            break;
        data_dir[0] = 0;
    }
    base_free(self);
    if (!data_dir[0])
        snprintf(data_dir, sizeof data_dir, "%s", has_kernels(".") ? "." : "/usr/local/share/gpulocw");
    return data_dir;
}

int cmd_front(struct args *a, const char *file, const struct cmd_front_opts *o)
{
    struct dev_env env = *a->env;
    struct cmd_front_opts with = *o;
    env.workers = a->worker_n ? a->worker : NULL;
    env.nworkers = a->worker_n;
    env.threads = (unsigned)a->threads;
    env.patience = workspace_patience(a);
    with.mouse = !a->no_mouse;
    with.theme = a->theme;
    with.color = a->color;
    return a->front->workbench(&env, file, a->device, &with);
}

void cmd_put_aside(const struct args *a, const struct buf *b)
{
    struct buf shown = { 0 };
    buf_shown(&shown, (struct str){ b->s, b->n });
    if (a->io->aside && !shown.oom)
        a->io->aside(a->io->ctx, shown.s, shown.n);
    buf_free(&shown);
}
