/* The built program on a pseudo-terminal: what it draws, and the state it leaves
 * the terminal in on every way out. Needs GPULOCW_BUILD (set by the runner). */
#include "tests/support.h"

#include "tests/terminal/vt.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* The program runs below a small shell of ours, as job control wants it: a leader of
 * the terminal's session that waits for it and reports what it waited for. */
struct session { int fd, report; pid_t leader, pid; struct termios before; struct vt vt; int status; };

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
    setenv("XDG_DATA_HOME", support_scratch(), 1);
    setenv("XDG_CONFIG_HOME", support_scratch(), 1);
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
    pause();                             /* keeps the terminal open until the test has looked at it */
    _exit(0);
}

static void start(struct session *s, int w, int h, const char *const *env, const char *const *args)
{
    struct winsize ws = { .ws_row = (unsigned short)h, .ws_col = (unsigned short)w };
    int slave, pipes[2];
    support_scratch();
    memset(s, 0, sizeof *s);
    vt_init(&s->vt, w, h);
    assert_int_equal(openpty(&s->fd, &slave, NULL, NULL, &ws), 0);
    assert_int_equal(pipe(pipes), 0);
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
    assert_int_equal(read(s->report, &s->pid, sizeof s->pid), sizeof s->pid);
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
    assert_int_equal(write(s->fd, text, strlen(text)), (ssize_t)strlen(text));
}

/* Waits for the end (or a stop) and reads what was still sent. */
static bool wait_end(struct session *s, int limit_ms)
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

/* The master sees the modes of the terminal: are they those from before the start? */
static void assert_restored(struct session *s)
{
    struct termios t;
    assert_int_equal(tcgetattr(s->fd, &t), 0);
    assert_int_equal(t.c_lflag, s->before.c_lflag);
    assert_int_equal(t.c_iflag, s->before.c_iflag);
    assert_int_equal(t.c_oflag, s->before.c_oflag);
    assert_false(s->vt.full_screen);
}

static void finish(struct session *s)
{
    kill(s->pid, SIGKILL);
    kill(s->leader, SIGKILL);
    waitpid(s->leader, NULL, 0);
    close(s->fd);
    close(s->report);
}

static const char *const valley[] = { "kernels/valley.ptx", "--device", "sim:fermi-16k", NULL };

static void set_size(struct session *s, int w, int h)
{
    struct winsize ws = { .ws_row = (unsigned short)h, .ws_col = (unsigned short)w };
    vt_init(&s->vt, w, h);
    s->vt.full_screen = true;
    ioctl(s->fd, TIOCSWINSZ, &ws);
}

static void opens_and_quits(void **state)
{
    struct session s;
    (void)state;
    start(&s, 100, 30, NULL, valley);
    assert_true(wait_for(&s, "ld.global", 20000) >= 0);
    assert_true(s.vt.full_screen);
    assert_true(wait_for(&s, "1 Source", 1000) >= 0);
    keys(&s, "4");
    assert_true(wait_for(&s, "bypass-form", 5000) >= 0);
    keys(&s, "?");
    assert_true(wait_for(&s, "Options panel", 5000) >= 0);
    keys(&s, "q");
    keys(&s, ":theme okabe-ito\r5");
    assert_true(wait_for(&s, "no sweep yet", 5000) >= 0);
    keys(&s, "q");
    assert_true(wait_end(&s, 10000));
    assert_true(WIFEXITED(s.status));
    assert_int_equal(WEXITSTATUS(s.status), 0);
    assert_restored(&s);
    assert_int_equal(s.vt.unknown, 0);
    finish(&s);
}

static void resizes(void **state)
{
    struct session s;
    (void)state;
    start(&s, 80, 24, NULL, valley);
    assert_true(wait_for(&s, "ld.global", 20000) >= 0);
    set_size(&s, 10, 3);
    assert_true(wait_for(&s, "10x3", 5000) >= 0);
    set_size(&s, 40, 10);
    assert_true(wait_for(&s, "1 Source", 5000) >= 0);
    set_size(&s, 120, 40);
    assert_true(wait_for(&s, "6 Counters", 5000) >= 0);
    assert_true(wait_for(&s, "ld.global", 5000) >= 0);
    set_size(&s, 1, 1);
    keys(&s, "q");
    assert_true(wait_end(&s, 10000));
    assert_restored(&s);
    finish(&s);
}

static void every_signal_restores(void **state)
{
    static const struct { int sig; bool dies; } sigs[] = {
        { SIGTERM, false }, { SIGHUP, false }, { SIGINT, false }, { SIGSEGV, true }, { SIGABRT, true }, { SIGBUS, true }, { SIGILL, true }, { SIGFPE, true }, { SIGQUIT, true } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sigs); i++) {
        struct session s;
        start(&s, 80, 24, NULL, valley);
        assert_true(wait_for(&s, "ld.global", 20000) >= 0);
        kill(s.pid, sigs[i].sig);
        assert_true(wait_end(&s, 10000));
        assert_restored(&s);
        if (sigs[i].dies) {
            assert_true(WIFSIGNALED(s.status));
            assert_int_equal(WTERMSIG(s.status), sigs[i].sig);
        } else {
            assert_true(WIFEXITED(s.status));
        }
        finish(&s);
    }
}

static void suspends(void **state)
{
    struct session s;
    (void)state;
    start(&s, 80, 24, NULL, valley);
    assert_true(wait_for(&s, "ld.global", 20000) >= 0);
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 0)
            keys(&s, "\x1a");
        else
            kill(s.pid, SIGTSTP);
        assert_true(wait_end(&s, 5000));
        assert_true(WIFSTOPPED(s.status));
        assert_restored(&s);
        vt_init(&s.vt, 80, 24);
        kill(s.pid, SIGCONT);
        assert_true(wait_for(&s, "ld.global", 5000) >= 0);
        assert_true(s.vt.full_screen);
    }
    keys(&s, "q");
    assert_true(wait_end(&s, 10000));
    assert_restored(&s);
    finish(&s);
}

static void hang_up(void **state)
{
    struct session s;
    (void)state;
    start(&s, 80, 24, NULL, valley);
    assert_true(wait_for(&s, "ld.global", 20000) >= 0);
    close(s.fd);                         /* the terminal goes away: the program ends by itself */
    struct pollfd p = { s.report, POLLIN, 0 };
    assert_int_equal(poll(&p, 1, 10000), 1);
    kill(s.leader, SIGKILL);
    waitpid(s.leader, NULL, 0);
    close(s.report);
}

static void locales_and_colours(void **state)
{
    static const char *const c_locale[] = { "LC_ALL", "C", NULL }, *const no_colour[] = { "NO_COLOR", "1", NULL },
        *const vt100[] = { "TERM", "vt100", NULL }, *const linux_console[] = { "TERM", "linux", NULL };
    struct session s;
    (void)state;
    start(&s, 80, 24, c_locale, valley);
    assert_true(wait_for(&s, "ld.global", 20000) >= 0);
    assert_false(s.vt.high_bytes);
    assert_true(s.vt.colours > 0);
    finish(&s);
    start(&s, 80, 24, no_colour, valley);
    assert_true(wait_for(&s, "ld.global", 20000) >= 0);
    assert_int_equal(s.vt.colours, 0);
    finish(&s);
    start(&s, 80, 24, vt100, valley);
    assert_true(wait_for(&s, "ld.global", 20000) >= 0);
    assert_int_equal(s.vt.colours, 0);
    finish(&s);
    start(&s, 80, 24, linux_console, valley);
    assert_true(wait_for(&s, "ld.global", 20000) >= 0);
    assert_true(s.vt.colours > 0);
    finish(&s);
}

/* A terminal that cannot be drawn on gets lines. */
static void dumb_terminal(void **state)
{
    static const char *const dumb[] = { "TERM", "dumb", NULL };
    struct session s;
    (void)state;
    start(&s, 80, 24, dumb, valley);
    assert_true(wait_for(&s, "line mode", 20000) >= 0);
    keys(&s, "show options\r");
    assert_true(wait_for(&s, "passes", 20000) >= 0);
    keys(&s, "quit\r");
    assert_true(wait_end(&s, 10000));
    assert_int_equal(WEXITSTATUS(s.status), 0);
    finish(&s);
}

static void picker(void **state)
{
    static const char *const none[] = { NULL };
    struct session s;
    (void)state;
    start(&s, 100, 40, NULL, none);
    assert_true(wait_for(&s, "Demos and lessons", 20000) >= 0);
    assert_true(wait_for(&s, "valley", 1000) >= 0);
    keys(&s, "/stride_32\r\r");
    assert_true(wait_for(&s, "stride_32.ptx", 20000) >= 0);
    keys(&s, "q");
    assert_true(wait_end(&s, 10000));
    assert_restored(&s);
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_and_quits), cmocka_unit_test(resizes), cmocka_unit_test(every_signal_restores), cmocka_unit_test(suspends),
        cmocka_unit_test(hang_up), cmocka_unit_test(locales_and_colours), cmocka_unit_test(dumb_terminal), cmocka_unit_test(picker) };
    if (access(binary(), X_OK) != 0) {
        printf("skip: %s is not built\n", binary());
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
