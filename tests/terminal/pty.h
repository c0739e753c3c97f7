/* pty: runs the built program on a pseudo-terminal and reads its screen.
 * GPULOCW_BUILD names the build folder (default: build). */
#ifndef GPULOCW_TESTS_PTY_H
#define GPULOCW_TESTS_PTY_H

#include "tests/terminal/vt.h"

#include <ftw.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

struct session;
struct vt;

/* The program runs below a small shell of ours, as job control wants it: a leader of
 * the terminal's session that waits for it and reports what it waited for. */
#define PTY_LIMIT_MS 60000 /* for what comes in a moment where the machine is not busy */
struct session {
    int fd, report;
    pid_t leader, pid;
    struct termios before;
    struct vt vt;
    int status;
};

static char pty_folder[64];
static pid_t pty_owner;

static int pty_remove(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

/* At the end of the test program itself: what it forks ends in other ways, or is another process. */
static void pty_sweep(void)
{
    if (getpid() == pty_owner)
        nftw(pty_folder, pty_remove, 8, FTW_DEPTH | FTW_PHYS);
}

/* Folder for configuration and sessions; made once, before the program starts, and removed at the end.
 */
static const char *pty_scratch(void)
{
    if (*pty_folder)
        return pty_folder;
    snprintf(pty_folder, sizeof pty_folder, "/tmp/gpulocw-pty-XXXXXX");
    if (!mkdtemp(pty_folder))
        abort();
    pty_owner = getpid();
    atexit(pty_sweep);
    return pty_folder;
}

static const char *binary(void)
{
    static char path[512];
    const char *build = getenv("GPULOCW_BUILD");
    snprintf(path, sizeof path, "%s/gpulocw", build ? build : "build");
    return path;
}

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void run_child(const char *const *env, const char *const *args)
{
    char *argv[16] = { (char *)(uintptr_t)binary() };
    for (int i = 0; args[i] && i < 14; i++)
        argv[i + 1] = (char *)(uintptr_t)args[i];
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("XDG_DATA_HOME", pty_scratch(), 1);
    setenv("XDG_CONFIG_HOME", pty_scratch(), 1);
    unsetenv("COLORTERM");
    unsetenv("NO_COLOR");
    for (; env && *env; env += 2)
        setenv(env[0], env[1], 1);
    execv(argv[0], argv);
    _exit(127);
}

static void lead(int slave, int report, const char *const *env, const char *const *args)
{
    int status;
    login_tty(slave);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTTOU, SIG_IGN);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        tcsetpgrp(0, getpid());
        signal(SIGHUP, SIG_DFL);
        signal(SIGTTOU, SIG_DFL);
        run_child(env, args);
    }
    setpgid(pid, pid);
    if (write(report, &pid, sizeof pid) < 0)
        _exit(1);
    while (waitpid(pid, &status, WUNTRACED) == pid) {
        if (write(report, &status, sizeof status) < 0 || !WIFSTOPPED(status))
            break;
    }
    pause(); /* keeps the terminal open until the test has looked at it */
    _exit(0);
}

static void start(struct session *s, int w, int h, const char *const *env, const char *const *args)
{
    struct winsize ws = { .ws_row = (unsigned short)h, .ws_col = (unsigned short)w };
    int slave, pipes[2];
    pty_scratch(); /* before the fork: the folder is the parent's */
    memset(s, 0, sizeof *s);
    vt_init(&s->vt, w, h);
    if (openpty(&s->fd, &slave, NULL, NULL, &ws) != 0 || pipe(pipes) != 0)
        abort();
    tcgetattr(slave, &s->before);
    s->leader = fork();
    if (s->leader == 0) {
        close(s->fd);
        close(pipes[0]);
        lead(slave, pipes[1], env, args);
    }
    close(slave);
    close(pipes[1]);
    s->report = pipes[0];
    if (read(s->report, &s->pid, sizeof s->pid) != sizeof s->pid)
        abort();
}

static bool pump(struct session *s, int ms)
{
    char buf[16384];
    struct pollfd p = { s->fd, POLLIN, 0 };
    if (poll(&p, 1, ms) <= 0)
        return false;
    ssize_t n = read(s->fd, buf, sizeof buf);
    if (n <= 0)
        return false;
    vt_feed(&s->vt, buf, (size_t)n);
    return true;
}

/* Waits until the screen shows a text; milliseconds, -1: it did not in time. */
static int64_t wait_for(struct session *s, const char *text, int limit_ms)
{
    int64_t t0 = now_ms();
    while (!vt_shows(&s->vt, text)) {
        if (now_ms() - t0 > limit_ms)
            return -1;
        pump(s, 20);
    }
    return now_ms() - t0;
}

static void keys(struct session *s, const char *text)
{
    if (write(s->fd, text, strlen(text)) != (ssize_t)strlen(text))
        abort();
}

/* Waits for the end (or a stop) and reads what was still sent. */
static inline bool wait_end(struct session *s, int limit_ms)
{
    int64_t t0 = now_ms();
    while (now_ms() - t0 < limit_ms) {
        struct pollfd p = { s->report, POLLIN, 0 };
        pump(s, 10);
        if (poll(&p, 1, 0) == 1 && read(s->report, &s->status, sizeof s->status) == sizeof s->status) {
            while (pump(s, 20))
                ;
            return true;
        }
    }
    return false;
}

static void finish(struct session *s)
{
    kill(s->pid, SIGKILL);
    kill(s->leader, SIGKILL);
    waitpid(s->leader, NULL, 0);
    close(s->fd);
    close(s->report);
}

static inline void set_size(struct session *s, int w, int h)
{
    struct winsize ws = { .ws_row = (unsigned short)h, .ws_col = (unsigned short)w };
    vt_init(&s->vt, w, h);
    s->vt.full_screen = true;
    ioctl(s->fd, TIOCSWINSZ, &ws);
}

#endif
