/* Starting and ending a worker process. Its stderr goes to a memory file, so that
 * a message of ssh or srun neither spoils the screen nor is lost. */
#include "engine/dev/worker/proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#define SOON_MS      250  /* an idle worker ends within this */
#define LAUNCHER_MS  4000 /* a launcher, to end the worker and then itself */
#define CANCELLED_MS 1500 /* the same, when a user waits for the end */
#define POLITE_MS    400
#define DROP_MS      20 /* most of what a cancel waits for */
/* what a start waits for a killed predecessor, which may hold the GPU's memory */
#define DYING_MS 5000

extern char **environ;

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* File actions and attributes: our pipes as its 0, 1, 2; a process group of its own
 * (so that all of it can be ended, and Ctrl-C at the terminal is ours alone); no
 * signal mask or ignored signals inherited. */
static int spawn(struct child *c, int in, int out, int err, char *const argv[])
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t at;
    sigset_t none, usual;
    pid_t pid = 0;
    posix_spawn_file_actions_init(&fa);
    posix_spawnattr_init(&at);
    posix_spawn_file_actions_adddup2(&fa, in, 0);
    posix_spawn_file_actions_adddup2(&fa, out, 1);
    posix_spawn_file_actions_adddup2(&fa, err, 2);
    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGXFSZ);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGTERM);
    posix_spawnattr_setsigmask(&at, &none);
    posix_spawnattr_setsigdefault(&at, &usual);
    posix_spawnattr_setpgroup(&at, 0);
    posix_spawnattr_setflags(&at,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int e = posix_spawnp(&pid, argv[0], &fa, &at, argv, environ);
    posix_spawnattr_destroy(&at);
    posix_spawn_file_actions_destroy(&fa);
    c->pid = e ? 0 : pid;
    return e;
}

/* True when the process is gone, within ms. Until it is reaped its number is nobody else's, so that then
 * is the time to end what it started and left behind: those are told to end, also where they are
 * stopped. */
static bool reap(pid_t pid, int ms)
{
    struct timespec nap = { 0, 5000000 };
    for (int64_t until = base_now_ns() + ms * INT64_C(1000000);;) {
        siginfo_t seen = { .si_pid = 0 };
        int k = waitid(P_PID, (id_t)pid, &seen, WEXITED | WNOHANG | WNOWAIT);
        if (k == 0 && seen.si_pid == pid) {
            kill(-pid, SIGTERM);
            kill(-pid, SIGCONT);
            while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {}
            return true;
        }
        if (k < 0 && errno != EINTR)
            return true;
        if (base_now_ns() > until)
            return false;
        nanosleep(&nap, NULL);
    }
}

static void force(pid_t pid)
{
    kill(-pid, SIGTERM);
    if (!reap(pid, POLITE_MS)) {
        kill(-pid, SIGKILL);
        reap(pid, 5000);
    }
}

/* So that a program that goes on keeps no dead children. */
static void *bury_later(void *arg)
{
    reap((pid_t)(intptr_t)arg, DYING_MS);
    return NULL;
}

static void *end_later(void *arg)
{
    pid_t pid = (pid_t)(intptr_t)arg;
    if (!reap(pid, LAUNCHER_MS))
        force(pid);
    return NULL;
}

static void *end_soon(void *arg)
{
    pid_t pid = (pid_t)(intptr_t)arg;
    if (!reap(pid, CANCELLED_MS))
        force(pid);
    return NULL;
}

void child_await(struct child *c)
{
    if (c->ending)
        pthread_join(c->ender, NULL);
    c->ending = false;
}

/* A launcher that is killed may leave the worker behind, with its GPU or its place in
 * a queue (srun does). The worker ends by itself once its input is closed, a hung one
 * after two seconds (worker.c), and the launcher with it: so it is given time, in
 * the background, before it is killed too. */
static void end_launcher(struct child *c, pid_t pid, int wait_ms, void *(*later)(void *))
{
    if (reap(pid, wait_ms))
        return;
    child_await(c);
    c->ending = pthread_create(&c->ender, NULL, later, (void *)(intptr_t)pid) == 0;
    if (!c->ending)
        force(pid);
}

/* Waits for what child_drop left behind. */
static void bury(struct child *c)
{
    if (c->dying > 0)
        reap((pid_t)c->dying, DYING_MS);
    c->dying = 0;
}

enum status child_start(struct child *c, const char *command, const char *self, struct diags *ds)
{
    int to[2] = { -1, -1 }, from[2] = { -1, -1 };
    bury(c);
    child_await(c);
    *c = CHILD_NONE;
    c->launched = command != NULL;
    char *shell[] = { (char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c",
                      (char *)(uintptr_t)command, NULL };
    char *local[] = { (char *)(uintptr_t)self, (char *)(uintptr_t) "worker", NULL };
    c->err = memfd_create("worker-stderr", MFD_CLOEXEC);
    int e = c->err < 0 || pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC) ? errno : 0;
    if (!e)
        e = spawn(c, to[0], from[1], c->err, command ? shell : local);
    close_fd(&to[0]);
    close_fd(&from[1]);
    c->in = to[1];
    c->out = from[0];
    if (!e && fcntl(c->in, F_SETFL, O_NONBLOCK))
        e = errno;
    if (!e)
        return ST_OK;
    diag_error(ds, "worker", "cannot start the worker '%s': %s", command ? command : self, strerror(e));
    child_end(c);
    return ST_DEVICE;
}

void child_end(struct child *c)
{
    close_fd(&c->in);
    close_fd(&c->out);
    close_fd(&c->err);
    if (c->pid > 0 && c->launched)
        end_launcher(c, (pid_t)c->pid, SOON_MS, end_later);
    else if (c->pid > 0)
        force((pid_t)c->pid);
    c->pid = 0;
    bury(c);
}

void child_drop(struct child *c)
{
    pid_t pid = (pid_t)c->pid;
    close_fd(&c->in);
    close_fd(&c->out);
    close_fd(&c->err);
    c->pid = 0;
    if (pid > 0 && c->launched) {
        kill(-pid, SIGTERM); /* what heeds it keeps nobody waiting */
        kill(-pid, SIGCONT);
        end_launcher(c, pid, 0, end_soon);
    } else if (pid > 0) {
        bury(c);
        kill(-pid, SIGKILL);
        c->dying = reap(pid, DROP_MS) ? 0 : pid;
    }
}

void child_leave(struct child *c)
{
    pid_t pid = (pid_t)c->pid;
    pthread_t thread;
    if (pid <= 0 || c->launched || c->dying) {
        child_end(c);
        return;
    }
    close_fd(&c->in);
    close_fd(&c->out);
    close_fd(&c->err);
    c->pid = 0;
    kill(-pid, SIGKILL);
    if (!reap(pid, 0) && pthread_create(&thread, NULL, bury_later, (void *)(intptr_t)pid) == 0)
        pthread_detach(thread);
}

void child_last_words(const struct child *c, char *out, size_t n)
{
    char tail[2048];
    *out = '\0';
    off_t size = c->err >= 0 ? lseek(c->err, 0, SEEK_END) : 0;
    off_t from = size > (off_t)sizeof tail - 1 ? size - (off_t)(sizeof tail - 1) : 0;
    ssize_t k = size > 0 ? pread(c->err, tail, sizeof tail - 1, from) : 0;
    while (k > 0 && (tail[k - 1] == '\n' || tail[k - 1] == '\r'))
        k--;
    if (k <= 0)
        return;
    ssize_t start = k;
    while (start > 0 && tail[start - 1] != '\n')
        start--;
    size_t m = (size_t)(k - start) < n - 1 ? (size_t)(k - start) : n - 1;
    memcpy(out, tail + start, m);
    out[m] = '\0';
}
