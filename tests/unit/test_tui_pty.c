/* The built program on a pseudo-terminal: what it draws, and the state it leaves
 * the terminal in on every way out. Needs GPULOCW_BUILD (set by the runner). */
#include "tests/support.h"

#include "tests/terminal/pty.h"

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

static const char *const valley[] = { "kernels/valley.ptx", "--device", "sim:fermi-16k", NULL };

static void opens_and_quits(void **state)
{
    struct session s;
    (void)state;
    start(&s, 100, 30, NULL, valley);
    assert_true(wait_for(&s, "What to try next", PTY_LIMIT_MS) >= 0);
    assert_true(s.vt.full_screen);
    assert_true(wait_for(&s, "1 Source", PTY_LIMIT_MS) >= 0);
    keys(&s, "4");
    assert_true(wait_for(&s, "bypass-form", PTY_LIMIT_MS) >= 0);
    keys(&s, "?");
    assert_true(wait_for(&s, "Options panel", PTY_LIMIT_MS) >= 0);
    keys(&s, "q");
    keys(&s, ":theme okabe-ito\r5");
    assert_true(wait_for(&s, "No sweep yet", PTY_LIMIT_MS) >= 0);
    keys(&s, "q");
    assert_true(wait_end(&s, PTY_LIMIT_MS));
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
    assert_true(wait_for(&s, "What limits it", PTY_LIMIT_MS) >= 0);
    keys(&s, "1");
    assert_true(wait_for(&s, "ld.global", PTY_LIMIT_MS) >= 0);
    set_size(&s, 10, 3);
    assert_true(wait_for(&s, "10x3", PTY_LIMIT_MS) >= 0);
    set_size(&s, 40, 10);
    assert_true(wait_for(&s, "1 Source", PTY_LIMIT_MS) >= 0);
    set_size(&s, 120, 40);
    assert_true(wait_for(&s, "6 Counters", PTY_LIMIT_MS) >= 0);
    assert_true(wait_for(&s, "ld.global", PTY_LIMIT_MS) >= 0);
    set_size(&s, 1, 1);
    keys(&s, "q");
    assert_true(wait_end(&s, PTY_LIMIT_MS));
    assert_restored(&s);
    finish(&s);
}

static void every_signal_restores(void **state)
{
    static const struct {
        int sig;
        bool dies;
    } sigs[] = { { SIGTERM, false }, { SIGHUP, false }, { SIGINT, false },
                 { SIGSEGV, true },  { SIGABRT, true }, { SIGBUS, true },
                 { SIGILL, true },   { SIGFPE, true },  { SIGQUIT, true } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(sigs); i++) {
        struct session s;
        start(&s, 80, 24, NULL, valley);
        assert_true(wait_for(&s, "What to try next", PTY_LIMIT_MS) >= 0);
        kill(s.pid, sigs[i].sig);
        assert_true(wait_end(&s, PTY_LIMIT_MS));
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
    assert_true(wait_for(&s, "What to try next", PTY_LIMIT_MS) >= 0);
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 0)
            keys(&s, "\x1a");
        else
            kill(s.pid, SIGTSTP);
        assert_true(wait_end(&s, PTY_LIMIT_MS));
        assert_true(WIFSTOPPED(s.status));
        assert_restored(&s);
        vt_init(&s.vt, 80, 24);
        kill(s.pid, SIGCONT);
        assert_true(wait_for(&s, "What to try next", PTY_LIMIT_MS) >= 0);
        assert_true(s.vt.full_screen);
    }
    keys(&s, "q");
    assert_true(wait_end(&s, PTY_LIMIT_MS));
    assert_restored(&s);
    finish(&s);
}

static void hang_up(void **state)
{
    struct session s;
    (void)state;
    start(&s, 80, 24, NULL, valley);
    assert_true(wait_for(&s, "What to try next", PTY_LIMIT_MS) >= 0);
    close(s.fd); /* the terminal goes away: the program ends by itself */
    struct pollfd p = { s.report, POLLIN, 0 };
    assert_int_equal(poll(&p, 1, PTY_LIMIT_MS), 1);
    kill(s.leader, SIGKILL);
    waitpid(s.leader, NULL, 0);
    close(s.report);
}

static void locales_and_colours(void **state)
{
    static const char *const c_locale[] = { "LC_ALL", "C", NULL },
                             *const no_colour[] = { "NO_COLOR", "1", NULL },
                             *const vt100[] = { "TERM", "vt100", NULL },
                             *const linux_console[] = { "TERM", "linux", NULL };
    struct session s;
    (void)state;
    start(&s, 80, 24, c_locale, valley);
    assert_true(wait_for(&s, "What to try next", PTY_LIMIT_MS) >= 0);
    assert_false(s.vt.high_bytes);
    assert_true(s.vt.colours > 0);
    finish(&s);
    start(&s, 80, 24, no_colour, valley);
    assert_true(wait_for(&s, "What to try next", PTY_LIMIT_MS) >= 0);
    assert_int_equal(s.vt.colours, 0);
    finish(&s);
    start(&s, 80, 24, vt100, valley);
    assert_true(wait_for(&s, "What to try next", PTY_LIMIT_MS) >= 0);
    assert_int_equal(s.vt.colours, 0);
    finish(&s);
    start(&s, 80, 24, linux_console, valley);
    assert_true(wait_for(&s, "What to try next", PTY_LIMIT_MS) >= 0);
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
    assert_true(wait_for(&s, "line mode", PTY_LIMIT_MS) >= 0);
    keys(&s, "show options\r");
    assert_true(wait_for(&s, "passes", PTY_LIMIT_MS) >= 0);
    keys(&s, "quit\r");
    assert_true(wait_end(&s, PTY_LIMIT_MS));
    assert_int_equal(WEXITSTATUS(s.status), 0);
    finish(&s);
}

/* The open PTX is written by a compiler: that is told, R reads it, and with :watch on nothing need be
 * pressed. */
static void compiled_anew(void **state)
{
    struct session s;
    char path[128], text[2][1024];
    const char *const args[] = { path, NULL };
    (void)state;
    for (int i = 0; i < 2; i++)
        snprintf(text[i], sizeof text[i],
                 ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n\t.reg .b32 "
                 "%%r<2>;\n\tmov.u32 %%r1, %d;\n\tret;\n}\n",
                 4711 + i);
    struct diags ds = { 0 };
    snprintf(path, sizeof path, "%s/anew.ptx", pty_scratch());
    assert_status_ok(file_write_atomic(path, text[0], strlen(text[0]), &ds), &ds);
    start(&s, 100, 30, NULL, args);
    assert_true(wait_for(&s, "What limits it", PTY_LIMIT_MS) >= 0);
    keys(&s, "1");
    assert_true(wait_for(&s, "4711", PTY_LIMIT_MS) >= 0);
    /* longer than a notice stays: the clock of the last frame is old by then */
    assert_int_equal(wait_for(&s, "has changed", 13000), -1);
    assert_status_ok(file_write_atomic(path, text[1], strlen(text[1]), &ds), &ds);
    assert_true(wait_for(&s, "anew.ptx has changed: R reloads it", PTY_LIMIT_MS) >= 0);
    assert_true(vt_shows(&s.vt, "4711"));
    keys(&s, "R");
    assert_true(wait_for(&s, "4712", PTY_LIMIT_MS) >= 0);
    keys(&s, ":watch on\r");
    assert_true(wait_for(&s, "whenever it changes", PTY_LIMIT_MS) >= 0);
    assert_status_ok(file_write_atomic(path, text[0], strlen(text[0]), &ds), &ds);
    assert_true(wait_for(&s, "4711", PTY_LIMIT_MS) >= 0);
    keys(&s, "q");
    assert_true(wait_end(&s, PTY_LIMIT_MS));
    assert_restored(&s);
    finish(&s);
    remove(path);
    diags_free(&ds);
}

static void picker(void **state)
{
    static const char *const none[] = { NULL };
    struct session s;
    (void)state;
    start(&s, 100, 40, NULL, none);
    assert_true(wait_for(&s, "Demos and lessons", PTY_LIMIT_MS) >= 0);
    assert_true(wait_for(&s, "valley", PTY_LIMIT_MS) >= 0);
    keys(&s, "/stride_32\r\r");
    assert_true(wait_for(&s, "stride_32.ptx", PTY_LIMIT_MS) >= 0);
    keys(&s, "q");
    assert_true(wait_end(&s, PTY_LIMIT_MS));
    assert_restored(&s);
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(opens_and_quits),
                                        cmocka_unit_test(resizes),
                                        cmocka_unit_test(every_signal_restores),
                                        cmocka_unit_test(suspends),
                                        cmocka_unit_test(hang_up),
                                        cmocka_unit_test(locales_and_colours),
                                        cmocka_unit_test(dumb_terminal),
                                        cmocka_unit_test(compiled_anew),
                                        cmocka_unit_test(picker) };
    if (access(binary(), X_OK) != 0) {
        printf("skip: %s is not built\n", binary());
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
