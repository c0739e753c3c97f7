/* The built program on a pseudo-terminal under random keys, mouse reports, sizes down to 1x1, other
 * files opened while something runs, and signals of size changes: its own engine thread, its own
 * snapshots. It must live until it is told to leave, and then leave: Esc closes what is open, C-q ends.
 * GPULOCW_FUZZ_SECONDS makes it longer, GPULOCW_FUZZ_SEED another storm. */
#include "tests/support.h"

#include "tests/terminal/pty.h"

#include <stdlib.h>

#define EVENTS 400 /* of a storm that no GPULOCW_FUZZ_SECONDS makes longer */

struct noise {
    uint64_t seed, n;
};

static uint64_t next(struct noise *r, uint64_t below)
{
    return base_splitmix(r->seed, r->n++) % below;
}

static const char *any_input(struct noise *r)
{
    static const char *const typed[] = {
        ":open kernels/stride_4.ptx\r",
        ":open kernels/coalescing.ptx\r",
        ":open kernels/valley.ptx\r",
        ":set bypass l1\r",
        ":set pi 1\r",
        ":unset\r",
        ":sweep pi\r",
        ":run\r",
        ":cancel\r",
        ":line 12\r",
        ":panel valley\r",
        ":launch grid 8\r",
        ":replay play\r",
        ":demo\r",
        ":help\r",
        "\033",
        "\033[A",
        "\033[B",
        "\033[5~",
        "\033[6~",
        "\t",
        "\r",
        "\033[<0;3;3M\033[<0;3;3m",
        "\033[<64;2;2M",
        "\033[<0;200;200M",
    };
    static const char keys[] = "123456789jkhlgGnN[]dDaAzsrxuKvmof+-<>?/ \t";
    static char one[2];
    if (next(r, 4) == 0)
        return typed[next(r, ARRAY_LEN(typed))];
    one[0] = keys[next(r, sizeof keys - 1)];
    return one;
}

static void any_event(struct session *s, struct noise *r)
{
    switch (next(r, 12)) {
    case 0: set_size(s, (int)next(r, 150) + 1, (int)next(r, 50) + 1); break;
    case 1: set_size(s, (int)next(r, 22) + 1, (int)next(r, 6) + 1); break;
    case 2: kill(s->pid, SIGWINCH); break;
    default: keys(s, any_input(r));
    }
}

/* What the leader's waitpid reported: a program that has ended is told at once, crashed or not.
 * (kill(pid, 0) also finds a process that has ended and is not yet waited for.) */
static bool ended(struct session *s)
{
    struct pollfd p = { s->report, POLLIN, 0 };
    return poll(&p, 1, 0) == 1 && read(s->report, &s->status, sizeof s->status) == sizeof s->status;
}

static void tell_screen(const struct vt *v, uint64_t seed)
{
    char row[VT_MAX_W + 1];
    print_message("seed %llu: does not leave; its screen:\n", (unsigned long long)seed);
    for (int y = 0; y < v->h; y++) {
        for (int x = 0; x < v->w; x++)
            row[x] = (char)(v->cell[y][x] >= 0x20 && v->cell[y][x] < 0x7f ? v->cell[y][x] : ' ');
        row[v->w] = '\0';
        print_message("%s\n", row);
    }
}

static void lives_through_a_storm(void **state)
{
    static const char *const file[] = { "kernels/stride_4.ptx", "--device", "sim:fermi-16k", NULL };
    const char *seconds = getenv("GPULOCW_FUZZ_SECONDS"), *seed = getenv("GPULOCW_FUZZ_SEED");
    struct noise r = { seed ? strtoull(seed, NULL, 10) : 18, 0 };
    int64_t until = seconds ? now_ms() + strtoll(seconds, NULL, 10) * 1000 : 0;
    struct session s;
    (void)state;
    start(&s, 80, 24, NULL, file);
    assert_true(wait_for(&s, "What to try next", PTY_LIMIT_MS) >= 0);
    bool alive = true;
    uint64_t events = 0;
    for (; alive && (until ? now_ms() < until : events < EVENTS); events++) {
        any_event(&s, &r);
        for (int more = 0, wait = next(&r, 8) ? 2 : 20; more < 50 && pump(&s, wait); more++)
            /* what it draws is read: it never waits for us while we wait for it */
            wait = 1;
        alive = !ended(&s);
    }
    if (!alive)
        print_message("seed %llu: gone after %llu events, status 0x%x\n", (unsigned long long)r.seed,
                      (unsigned long long)events, (unsigned)s.status);
    assert_true(alive);
    /* Esc and C-q in one write, as over a slow line: neither may swallow the other */
    keys(&s, "\033\021");
    bool left = wait_end(&s, PTY_LIMIT_MS);
    if (!left)
        tell_screen(&s.vt, r.seed);
    assert_true(left);
    assert_true(WIFEXITED(s.status));
    assert_int_equal(WEXITSTATUS(s.status), 0);
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lives_through_a_storm) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
