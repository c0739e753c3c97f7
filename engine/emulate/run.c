/* A program with the runtime library before its own: a private folder, a socket, the child, a thread for
 * each process that comes. */
#include "engine/base/base.h"
#include "engine/base/private_folder.h"
#include "engine/container/container.h"
#include "engine/emulate/emulate.h"
#include "engine/emulate/emulate_int.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOT_STARTED = 127 };

/* ---- processes of the program ---- */
struct visitor {
    pthread_t thread;
    struct emulation *e;
    int socket;
    struct visitor *next;
};
struct host {
    struct emulation *e;
    int listens, stop[2]; /* stop: a pipe that ends the thread */
    pthread_t thread;
    bool runs;
    struct visitor *visitors;
};

static void *serve(void *ctx)
{
    struct visitor *g = ctx;
    guest_serve(g->e, g->socket);
    return NULL;
}

static void welcome(struct host *h, int socket)
{
    struct visitor *g = base_alloc(sizeof *g);
    if (g)
        *g = (struct visitor){ .e = h->e, .socket = socket, .next = h->visitors };
    if (g && pthread_create(&g->thread, NULL, serve, g) == 0) {
        h->visitors = g;
        return;
    }
    base_free(g);
    close(socket);
}

static void *listen_on(void *ctx)
{
    struct host *h = ctx;
    struct pollfd p[2] = { { .fd = h->listens, .events = POLLIN },
                           { .fd = h->stop[0], .events = POLLIN } };
    for (;;) {
        if (poll(p, 2, -1) < 0 && errno != EINTR)
            break;
        if (p[0].revents & POLLIN) {
            int s = accept4(h->listens, NULL, NULL, SOCK_CLOEXEC);
            if (s >= 0)
                welcome(h, s);
        } else if (p[1].revents) {
            break; /* all that wanted to come has come */
        }
    }
    return NULL;
}

static enum status host_start(struct host *h, const char *path, struct diags *ds)
{
    struct sockaddr_un a = { .sun_family = AF_UNIX };
    h->listens = -1;
    h->stop[0] = h->stop[1] = -1;
    if (strlen(path) < sizeof a.sun_path) {
        memcpy(a.sun_path, path, strlen(path) + 1);
        h->listens = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    } else {
        errno = ENAMETOOLONG;
    }
    bool fine = h->listens >= 0 && bind(h->listens, (struct sockaddr *)&a, sizeof a) == 0 &&
                listen(h->listens, 64) == 0 && pipe2(h->stop, O_CLOEXEC) == 0;
    if (fine)
        fine = h->runs = pthread_create(&h->thread, NULL, listen_on, h) == 0;
    if (!fine)
        diag_error(ds, "io", "no socket at %s for the program to reach its device: %s", path,
                   strerror(errno));
    return fine ? ST_OK : ST_IO;
}

static void host_stop(struct host *h)
{
    if (h->stop[1] >= 0)
        close(h->stop[1]);
    if (h->runs)
        pthread_join(h->thread, NULL);
    while (h->visitors) {
        struct visitor *g = h->visitors;
        h->visitors = g->next;
        pthread_join(g->thread, NULL);
        base_free(g);
    }
    if (h->listens >= 0)
        close(h->listens);
    if (h->stop[0] >= 0)
        close(h->stop[0]);
}

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

static void child(const struct start *s, int told)
{
    int why;
    if (put_before("LD_PRELOAD", s->library) && put_before("LD_LIBRARY_PATH", s->folder) &&
        setenv(WIRE_ENVIRONMENT, s->socket, 1) == 0)
        execvp(s->argv[0], s->argv);
    why = errno;
    if (write(told, &why, sizeof why) < 0)
        _exit(NOT_STARTED - 1);
    _exit(NOT_STARTED);
}

static enum status run(const struct start *s, struct emulate_seen *out, struct diags *ds)
{
    int told[2], why = 0, status = 0;
    if (pipe2(told, O_CLOEXEC) != 0) {
        diag_error(ds, "program", "cannot start %s: %s", s->argv[0], strerror(errno));
        return ST_IO;
    }
    int64_t from = base_now_ns();
    pid_t pid = fork();
    if (pid == 0)
        child(s, told[1]);
    why = pid < 0 ? errno : 0;
    close(told[1]);
    bool failed = pid < 0 || read(told[0], &why, sizeof why) == (ssize_t)sizeof why;
    close(told[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ; /* an interrupt reached the program, too */
    out->survey.wall_ns = (uint64_t)(base_now_ns() - from);
    out->survey.exit = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
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
/* The library, under its own name and those of the shared runtimes. */
static enum status put_library(const char *folder, struct buf *path, struct diags *ds)
{
    static const char *const names[] = { "libcudart.so.11.0", "libcudart.so.12", "libcudart.so.13" };
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
    struct host h = { .e = e, .listens = -1, .stop = { -1, -1 } };
    enum status st = put_library(folder, &library, ds);
    buf_printf(&socket_path, "%s/device", folder);
    if (st == ST_OK)
        st = library.oom || socket_path.oom ? ST_NOMEM : host_start(&h, socket_path.s, ds);
    if (st == ST_OK) {
        const struct start s = { argv, folder, library.s, socket_path.s };
        st = run(&s, e->seen, ds);
    }
    host_stop(&h);
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
