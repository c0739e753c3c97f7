/* The built program on a pseudo-terminal under random keys, mouse reports, sizes down to 1x1, other
 * files opened while something runs, and signals of size changes: its own engine thread, its own
 * snapshots. It must live until it is told to leave, and then end when SIGTERM says so.
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

static void lives_through_a_storm(void **state)
{
    static const char *const file[] = { "kernels/stride_4.ptx", "--device", "sim:fermi-16k", NULL };
    const char *seconds = getenv("GPULOCW_FUZZ_SECONDS"), *seed = getenv("GPULOCW_FUZZ_SEED");
    struct noise r = { seed ? strtoull(seed, NULL, 10) : 18, 0 };
    int64_t until = seconds ? now_ms() + strtoll(seconds, NULL, 10) * 1000 : 0;
    struct session s;
    (void)state;
    start(&s, 80, 24, NULL, file);
    assert_true(wait_for(&s, "ld.global", PTY_LIMIT_MS) >= 0);
    bool alive = true;
    uint64_t events = 0;
    for (; alive && (until ? now_ms() < until : events < EVENTS); events++) {
        any_event(&s, &r);
        for (int more = 0, wait = next(&r, 8) ? 2 : 20; more < 50 && pump(&s, wait); more++)
            /* what it draws is read: it never waits for us while we wait for it */
            wait = 1;
        alive = kill(s.pid, 0) == 0;
    }
    if (!alive)
        print_message("seed %llu: gone after %llu events\n", (unsigned long long)r.seed,
                      (unsigned long long)events);
    assert_true(alive);
    /* as a closing window does it: it restores the terminal and ends */
    kill(s.pid, SIGTERM);
    assert_true(wait_end(&s, PTY_LIMIT_MS));
    assert_true(WIFSIGNALED(s.status) ? WTERMSIG(s.status) == SIGTERM : WIFEXITED(s.status));
    finish(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(lives_through_a_storm) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
