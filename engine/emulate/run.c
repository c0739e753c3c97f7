/* A program with the runtime library before its own: a private folder, the child, its end. host.c serves
 * its processes. */
#include "engine/base/private_folder.h"
#include "engine/container/container.h"
#include "engine/emulate/emulate_int.h"
#include "engine/live/take.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { NOT_STARTED = 127 };

/* ---- the program ---- */
struct start {
    char *const *argv;
    const char *folder, *library, *socket;
};

/* "FIRST:what is there" */
static bool put_before(const char *variable, const char *first)
{
    const char *there = getenv(variable);
    struct buf b = { 0 };
    buf_printf(&b, "%s%s%s", first, there && *there ? ":" : "", there ? there : "");
    bool set = b.s && !b.oom && setenv(variable, b.s, 1) == 0;
    buf_free(&b);
    return set;
}

static void child(const struct start *s, pid_t parent, int told)
{
    int why;
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* without its device it cannot go on */
    if (getppid() != parent)
        _exit(NOT_STARTED);
    /* else CuPy hands over machine code alone, and PyCUDA machine code without its PTX */
    setenv("CUPY_COMPILE_WITH_PTX", "1", 0);
    setenv("CUPY_ACCELERATORS", "", 0); /* those are compiled, as machine code */
    setenv("PYCUDA_DEFAULT_NVCC_FLAGS", "-lineinfo", 0);
    setenv("CUDA_VISIBLE_DEVICES", "0", 1); /* what hides the machine's GPUs does not hide this one */
    if (put_before("LD_PRELOAD", s->library) && put_before("LD_LIBRARY_PATH", s->folder) &&
        setenv(WIRE_ENVIRONMENT, s->socket, 1) == 0)
        execvp(s->argv[0], s->argv);
    why = errno;
    if (write(told, &why, sizeof why) < 0)
        _exit(NOT_STARTED - 1);
    _exit(NOT_STARTED);
}

/* Ended, but not yet reaped: its number is nobody else's while it may be told to end. */
static int wait_for(pid_t pid, struct host *h)
{
    siginfo_t seen;
    int status = 0;
    host_program(h, pid);
    while (waitid(P_PID, (id_t)pid, &seen, WEXITED | WNOWAIT) < 0 && errno == EINTR) {}
    host_program(h, 0);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {}
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static enum status run(const struct start *s, struct host *h, struct emulate_seen *out, struct diags *ds)
{
    int told[2], why = 0;
    if (pipe2(told, O_CLOEXEC) != 0) {
        diag_error(ds, "program", "cannot start %s: %s", s->argv[0], strerror(errno));
        return ST_IO;
    }
    int64_t from = base_now_ns();
    pid_t self = getpid(), pid = fork();
    if (pid == 0)
        child(s, self, told[1]);
    why = pid < 0 ? errno : 0;
    close(told[1]);
    bool failed = pid < 0 || read(told[0], &why, sizeof why) == (ssize_t)sizeof why;
    close(told[0]);
    out->survey.exit = pid > 0 ? wait_for(pid, h) : NOT_STARTED;
    out->survey.wall_ns = (uint64_t)(base_now_ns() - from);
    if (failed)
        diag_error(ds, "program", "cannot start %s: %s", s->argv[0], strerror(why));
    return failed ? ST_IO : ST_OK;
}

/* ---- can it be run so? ---- */
/* As execvp finds it; owned, NULL: it is not found. */
static char *path_of(const char *name)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/') || !path)
        return base_strdup(name);
    while (*path) {
        size_t n = strcspn(path, ":");
        struct buf b = { 0 };
        buf_printf(&b, "%.*s/%s", n ? (int)n : 1, n ? path : ".", name);
        if (b.s && !b.oom && access(b.s, X_OK) == 0)
            return buf_take(&b);
        buf_free(&b);
        path += n + (path[n] == ':');
    }
    return NULL;
}

static enum status look_at(const char *name, struct diags *ds)
{
    static const struct {
        const char *what, *instead;
    } no[] = {
        [START_32BIT] = { "is a 32-bit program", "build it for 64 bits: nvcc -m64" },
        [START_STATIC] = { "is linked statically: no library can be put before its CUDA runtime",
                           "build it without -static" },
        [START_SETUID] = { "is set-user-ID or set-group-ID: no library can be put before its CUDA "
                           "runtime",
                           "run a copy of it without that mode" },
        [START_STRIPPED] = { "is stripped: the functions of its CUDA runtime cannot be found",
                             "build it with nvcc -cudart shared, or do not strip it" },
    };
    char *path = path_of(name);
    enum container_start how = path ? container_start(path) : START_FINE;
    base_free(path);
    if (how == START_FINE)
        return ST_OK;
    diag_hint(diag_add(ds, DIAG_ERROR, "program", NULL, NO_SPAN, "%s %s", name, no[how].what), "%s",
              no[how].instead);
    return ST_REFUSED;
}

/* ---- the folder ---- */
/* The library, under its own name and those of the shared runtimes and the driver. */
static enum status put_library(const char *folder, struct buf *path, struct diags *ds)
{
    static const char *const names[] = { "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13",
                                         "libcuda.so.1", "libcuda.so" };
    enum status st =
        private_folder_put(folder, WIRE_LIBRARY, emulate_library, emulate_library_bytes, path, ds);
    for (size_t i = 0; i < ARRAY_LEN(names) && st == ST_OK; i++) {
        struct buf b = { 0 };
        buf_printf(&b, "%s/%s", folder, names[i]);
        st = b.oom ? ST_NOMEM : symlink(WIRE_LIBRARY, b.s) == 0 ? ST_OK : ST_IO;
        if (st == ST_IO)
            diag_error(ds, "write", "%s: %s", b.s, strerror(errno));
        buf_free(&b);
    }
    return st;
}

static enum status run_in(const char *folder, char *const *argv, struct emulation *e, struct diags *ds)
{
    struct buf library = { 0 }, socket_path = { 0 };
    struct host *h = NULL;
    enum status st = put_library(folder, &library, ds);
    buf_printf(&socket_path, "%s/device", folder);
    if (st == ST_OK)
        st = library.oom || socket_path.oom ? ST_NOMEM : host_start(e, socket_path.s, &h, ds);
    if (st == ST_OK) {
        const struct start s = { argv, folder, library.s, socket_path.s };
        st = run(&s, h, e->seen, ds);
    }
    host_stop(h);
    buf_free(&library);
    buf_free(&socket_path);
    return st;
}

static int by_work(const void *a, const void *b)
{
    const struct live_kernel *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? 1 : -1;
    if (x->launches != y->launches)
        return x->launches < y->launches ? 1 : -1;
    return strcmp(x->name, y->name);
}

enum status emulate_run(char *const *argv, const struct emulate_want *w, struct emulate_seen *out,
                        struct diags *ds)
{
    struct emulation e = { .want = w, .seen = out };
    char *folder = NULL;
    *out = (struct emulate_seen){ .survey.emulated = true };
    enum status st = look_at(argv[0], ds);
    if (st == ST_OK)
        st = private_folder_make(&folder, ds);
    if (st != ST_OK)
        return st;
    pthread_mutex_init(&e.lock, NULL);
    st = run_in(folder, argv, &e, ds);
    pthread_mutex_destroy(&e.lock);
    private_folder_remove(folder);
    if (st == ST_OK && w->take)
        st = live_shapes_write(&out->survey, w->take, ds);
    if (out->survey.n)
        qsort(out->survey.v, out->survey.n, sizeof *out->survey.v, by_work);
    findings_finish(&out->findings);
    return st == ST_OK && (out->oom || out->findings.oom) ? ST_NOMEM : st;
}

void emulate_free(struct emulate_seen *s)
{
    for (size_t i = 0; i < s->nmissing; i++)
        base_free(s->missing[i].call);
    base_free(s->missing);
    for (size_t i = 0; i < s->nlooks; i++)
        base_free(s->look[i].kernel);
    base_free(s->look);
    findings_free(&s->findings);
    live_survey_free(&s->survey);
}
