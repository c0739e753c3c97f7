/* A command in a process of its own: its document on a pipe, its progress on another. */
#include "engine/base/io.h"
#include "engine/service/service_int.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEPS_FD = 3 };

static void close_fd(int *fd)
{
    if (*fd >= 0)
        base_close(*fd);
    *fd = -1;
}

/* In the child: its descriptors, a group of its own, an end with its parent. No return. */
static void become(const char *self, char **argv, int out, int err, int steps)
{
    sigset_t none;
    int null = open("/dev/null", O_RDONLY);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    /* above STEPS_FD first, so that none is overwritten before it is used */
    int a = fcntl(out, F_DUPFD, 10), b = fcntl(err, F_DUPFD, 10), c = fcntl(steps, F_DUPFD, 10);
    if (null < 0 || a < 0 || b < 0 || c < 0 || dup2(null, 0) < 0 || dup2(a, 1) < 0 || dup2(b, 2) < 0 ||
        dup2(c, STEPS_FD) < 0)
        _exit(4);
    for (int fd = STEPS_FD + 1; fd < 64; fd++)
        close(fd);
    execv(self, argv);
    _exit(127);
}

/* self, the command, --progress-fd, --worker and the rest; the words are borrowed; NULL: out of memory
 */
static char **whole_line(const char *self, const struct request *r, const char *worker, char *threads)
{
    static char fd[] = "--progress-fd=3", launcher[] = "--worker";
    char **v = base_alloc((r->n + 7) * sizeof *v);
    size_t n = 0;
    if (!v)
        return NULL;
    v[n++] = (char *)(uintptr_t)self;
    v[n++] = r->argv[0];
    v[n++] = fd;
    if (threads)
        v[n++] = threads;
    if (worker) {
        v[n++] = launcher;
        v[n++] = (char *)(uintptr_t)worker;
    }
    for (size_t i = 1; i < r->n; i++)
        v[n++] = r->argv[i];
    return v;
}

enum status job_start(struct service_job *j, const char *self, const struct request *r,
                      const char *worker, unsigned threads, struct diags *ds)
{
    int out[2] = { -1, -1 }, steps[2] = { -1, -1 };
    char many[32];
    snprintf(many, sizeof many, "--threads=%u", threads);
    char **argv = whole_line(self, r, worker, threads ? many : NULL);
    *j = (struct service_job){ .out = -1, .err = -1, .steps = -1 };
    if (!argv)
        return ST_NOMEM;
    j->err = memfd_create("stderr", MFD_CLOEXEC);
    bool ok = j->err >= 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(steps, O_CLOEXEC) == 0;
    pid_t pid = ok ? fork() : -1;
    if (pid == 0)
        become(self, argv, out[1], j->err, steps[1]);
    if (pid < 0)
        diag_error(ds, "process", "cannot start a process: %s", strerror(errno));
    base_free(argv);
    close_fd(&out[1]);
    close_fd(&steps[1]);
    j->out = out[0];
    j->steps = steps[0];
    j->pid = pid > 0 ? pid : 0;
    if (pid > 0 && fcntl(j->out, F_SETFL, O_NONBLOCK) == 0 && fcntl(j->steps, F_SETFL, O_NONBLOCK) == 0)
        return ST_OK;
    job_free(j);
    return ST_DEVICE;
}

/* Reads all that is there; true: more may follow. */
static bool drain(int fd, struct buf *to, size_t most, bool *too_long)
{
    char piece[65536];
    for (;;) {
        ssize_t n = fd < 0 ? 0 : base_read(fd, piece, sizeof piece);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN;
        if (n == 0)
            return false;
        if (to->n + (size_t)n > most)
            *too_long = true;
        else
            buf_put(to, piece, (size_t)n);
    }
}

/* One line of --progress-fd. */
static void take_line(struct service_job *j, const char *line, size_t n)
{
    cJSON *o = json_parse("progress", line, n, NULL);
    const cJSON *done = json_get(o, "progress");
    if (json_get(o, "exit")) {
        buf_clear(&j->last);
        buf_put(&j->last, line, n);
    } else if (cJSON_IsNumber(done)) {
        const char *what = json_text(o, "what"), *detail = json_text(o, "detail");
        j->done = done->valuedouble;
        snprintf(j->what, sizeof j->what, "%s%s%s", what ? what : "", detail && *detail ? ": " : "",
                 detail ? detail : "");
        j->moved = true;
    }
    cJSON_Delete(o);
}

static void take_lines(struct service_job *j)
{
    size_t at = 0;
    for (char *end; at < j->lines.n && (end = memchr(j->lines.s + at, '\n', j->lines.n - at));) {
        size_t n = (size_t)(end - (j->lines.s + at));
        take_line(j, j->lines.s + at, n);
        at += n + 1;
    }
    if (at) {
        struct buf rest = { .oom = j->lines.oom };
        buf_put(&rest, j->lines.s + at, j->lines.n - at);
        buf_free(&j->lines);
        j->lines = rest;
    }
}

static void reap(struct service_job *j, struct job_end *end, int options, bool *ended)
{
    struct rusage use;
    int state = 0;
    pid_t k = wait4(j->pid, &state, options, &use);
    *ended = k == j->pid || (k < 0 && errno != EINTR);
    if (k != j->pid)
        return;
    end->code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
    end->cpu_s = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                 1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
    end->cancelled = j->stopped != 0;
}

/* Reads what is there. A pipe at its end is closed, so that nobody waits for it. */
static void drain_both(struct service_job *j)
{
    bool lost = false;
    if (!drain(j->out, &j->text, SERVICE_MOST_TEXT, &j->too_long))
        close_fd(&j->out);
    if (!drain(j->steps, &j->lines, 1u << 24, &lost))
        close_fd(&j->steps);
    take_lines(j);
}

bool job_poll(struct service_job *j, struct job_end *end)
{
    bool ended = false;
    drain_both(j);
    *end = (struct job_end){ .code = 128 };
    if (j->stopped && base_now_ns() - j->stopped > SERVICE_GRACE_S * INT64_C(1000000000))
        kill(-j->pid, SIGKILL);
    reap(j, end, WNOHANG, &ended);
    if (!ended)
        return false;
    drain_both(j);          /* what it wrote last */
    kill(-j->pid, SIGKILL); /* what it may have left behind */
    j->pid = 0;
    close_fd(&j->out);
    close_fd(&j->steps);
    return true;
}

void job_stop(struct service_job *j)
{
    if (j->pid <= 0 || j->stopped)
        return;
    j->stopped = base_now_ns();
    kill(j->pid, SIGINT);
}

void job_free(struct service_job *j)
{
    struct job_end end;
    bool ended = false;
    if (j->pid > 0) {
        kill(-j->pid, SIGKILL);
        while (!ended)
            reap(j, &end, 0, &ended);
    }
    close_fd(&j->out);
    close_fd(&j->err);
    close_fd(&j->steps);
    buf_free(&j->text);
    buf_free(&j->lines);
    buf_free(&j->last);
    *j = (struct service_job){ .out = -1, .err = -1, .steps = -1 };
}
