/* What binds a launch on a GPU, from counters of hardware: one counter after the other moves its cause. */
#include "tests/support.h"
#include "engine/rec/limits.h"
#include "engine/rec/limits_measured.h"
#include "engine/rec/result.h"

#include <math.h>

/* All metrics there, of 1,000 cycles 900 with warps, 300 of them issue; nothing waits for anything. */
static struct limit_measures plain(void)
{
    struct limit_measures m;
    for (unsigned k = 0; k < LIMIT_METRIC_COUNT; k++) {
        m.v[k] = 0;
        m.has[k] = true;
    }
    m.cycles = m.launch = 0;
    m.v[LIMIT_BY_ELAPSED] = m.v[LIMIT_BY_SPAN] = 1000;
    m.v[LIMIT_BY_ACTIVE] = m.v[LIMIT_BY_MEAN] = 900;
    m.v[LIMIT_BY_ISSUED] = 300;
    m.v[LIMIT_BY_LOAD_USED] = m.v[LIMIT_BY_STORE_USED] = 100;
    m.v[LIMIT_BY_LOADS] = 1000;
    return m;
}

/* A launch that fills the device several times, all of its warps there. */
static struct limit_launch full(void)
{
    return (struct limit_launch){ .waves = true,
                                  .facts = { .ctas = 1000,
                                             .sms = 10,
                                             .used = 10,
                                             .warps_most = 64,
                                             .warps_room = 64,
                                             .warps_held = 64,
                                             .cta_threads = 256 } };
}

static float share(const struct limit_measures *m, const struct limit_launch *l, enum limit_cause c)
{
    struct result r = result_empty();
    double all = 0;
    limits_measured(&r, l, m);
    assert_true(r.limits.valid);
    for (unsigned k = 0; k < LIMIT_COUNT; k++)
        all += (double)r.limits.share[k];
    assert_float_equal(all, 1, 1e-3);
    return r.limits.share[c];
}

/* Each reason alone: all 600 cycles in which warps waited go to it. */
static void test_reasons(void **state)
{
    static const struct {
        enum limit_metric stall;
        enum limit_cause cause;
    } v[] = { { LIMIT_STALL_barrier, LIMIT_BARRIERS },
              { LIMIT_STALL_warpgroup_arrive, LIMIT_BARRIERS },
              { LIMIT_STALL_math_pipe_throttle, LIMIT_ISSUE },
              { LIMIT_STALL_gmma, LIMIT_TENSOR },
              { LIMIT_STALL_imc_miss, LIMIT_CONSTANT },
              { LIMIT_STALL_lg_throttle, LIMIT_L1 },
              { LIMIT_STALL_mio_throttle, LIMIT_L1 },
              { LIMIT_STALL_short_scoreboard, LIMIT_LATENCY },
              { LIMIT_STALL_long_scoreboard, LIMIT_LATENCY },
              { LIMIT_STALL_wait, LIMIT_LATENCY },
              { LIMIT_STALL_no_instruction, LIMIT_UNKNOWN } };
    struct limit_launch l = full();
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct limit_measures m = plain();
        m.v[v[i].stall] = 2.5;
        double want = v[i].cause == LIMIT_ISSUE ? 0.9 : 0.6;
        if (fabs((double)share(&m, &l, v[i].cause) - want) > 1e-3)
            fail_msg("%s: %g", limit_metric_name(v[i].stall), (double)share(&m, &l, v[i].cause));
        assert_float_equal(share(&m, &l, LIMIT_IMBALANCE), 0.1, 1e-3);
    }
    struct limit_measures none = plain();
    assert_float_equal(share(&none, &l, LIMIT_UNKNOWN), 0.6, 1e-3);
}

/* The busiest level has as much of the wait as it is busy; what fills it has that. */
static void test_memory(void **state)
{
    struct limit_launch l = full();
    struct limit_measures m = plain();
    (void)state;
    m.v[LIMIT_STALL_long_scoreboard] = 1;
    m.v[LIMIT_BY_DRAM] = 80;
    m.v[LIMIT_BY_L2] = 50;
    assert_float_equal(share(&m, &l, LIMIT_DRAM), 0.48, 1e-3);
    assert_float_equal(share(&m, &l, LIMIT_LATENCY), 0.12, 1e-3);
    m.v[LIMIT_BY_LOAD_USED] = 12.5;
    assert_float_equal(share(&m, &l, LIMIT_COALESCING_LOAD), 0.48 * 0.875, 1e-3);
    m.v[LIMIT_BY_DRAM] = 0;
    assert_float_equal(share(&m, &l, LIMIT_L2), 0.3 * 0.125, 1e-3);
    m.v[LIMIT_BY_ATOMS] = 1000;
    assert_float_equal(share(&m, &l, LIMIT_ATOMICS), 0.15 + 0.15,
                       1e-3); /* of the queue, of the latency */
    m.v[LIMIT_BY_L1] = 100;
    m.v[LIMIT_BY_LOCAL_LOADS] = 2000;
    assert_float_equal(share(&m, &l, LIMIT_LOCAL), 0.3, 1e-3);
    assert_float_equal(share(&m, &l, LIMIT_LATENCY), 0, 1e-3);
}

static void test_shared_and_tensor(void **state)
{
    struct limit_launch l = full();
    struct limit_measures m = plain();
    (void)state;
    m.v[LIMIT_STALL_short_scoreboard] = m.v[LIMIT_STALL_mio_throttle] = 1;
    m.v[LIMIT_BY_WAVEFRONTS] = 32;
    m.v[LIMIT_BY_CONFLICTS] = 24;
    assert_float_equal(share(&m, &l, LIMIT_BANKS), 0.45, 1e-3);
    m = plain();
    m.v[LIMIT_STALL_math_pipe_throttle] = 1;
    m.v[LIMIT_BY_TENSOR] = 90;
    assert_float_equal(share(&m, &l, LIMIT_TENSOR), 0.54, 1e-3);
}

/* Constants by an index wait in the queues of shared memory. */
static void test_constants(void **state)
{
    struct limit_launch l = full();
    struct limit_measures m = plain();
    (void)state;
    m.v[LIMIT_STALL_mio_throttle] = 1;
    m.v[LIMIT_BY_CONSTANTS] = 30;
    assert_float_equal(share(&m, &l, LIMIT_CONSTANT), 0.6, 1e-3);
    m.v[LIMIT_BY_WAVEFRONTS] = 10;
    assert_float_equal(share(&m, &l, LIMIT_CONSTANT), 0.45, 1e-3);
    assert_float_equal(share(&m, &l, LIMIT_L1), 0.15, 1e-3);
}

/* A profiler's range is longer than the launch, the launch longer than its warps: two schedulers, 1,000 cycles of
 * warps in a range of 4,000, in a launch of 2,000 of which a launch of nothing takes 500 at most. */
static void test_around(void **state)
{
    struct limit_launch l = full();
    struct limit_measures m = plain();
    (void)state;
    m.v[LIMIT_BY_ELAPSED] = 8000;
    m.v[LIMIT_BY_ACTIVE] = 1800;
    m.v[LIMIT_BY_ISSUED] = 600;
    m.v[LIMIT_STALL_long_scoreboard] = 1;
    m.v[LIMIT_BY_DRAM] = 20; /* of the range: 80 of the launch's warps */
    m.cycles = 2000;
    m.launch = 500;
    assert_float_equal(share(&m, &l, LIMIT_LAUNCH), 0.25, 1e-3);
    assert_float_equal(share(&m, &l, LIMIT_L2), 0.25, 1e-3);
    assert_float_equal(share(&m, &l, LIMIT_DRAM), 0.24, 1e-3);
    assert_float_equal(share(&m, &l, LIMIT_ISSUE), 0.15, 1e-3);
    assert_float_equal(share(&m, &l, LIMIT_IMBALANCE), 0.05, 1e-3);
    m.v[LIMIT_BY_REDS] = 1; /* they go on when the warps have ended */
    assert_float_equal(share(&m, &l, LIMIT_ATOMICS), 0.25, 1e-2);
    m.cycles = 900; /* a faster clock than when it was counted */
    assert_float_equal(share(&m, &l, LIMIT_LAUNCH), 0, 1e-3);
}

/* What is missing on the device: CTAs, warps. */
static void test_room(void **state)
{
    struct limit_launch l = full();
    struct limit_measures m = plain();
    (void)state;
    m.v[LIMIT_STALL_long_scoreboard] = 1;
    l.facts.warps_room = 32;
    l.facts.warps_held = 16;
    assert_float_equal(share(&m, &l, LIMIT_OCCUPANCY), 0.3, 1e-3);
    assert_float_equal(share(&m, &l, LIMIT_LATENCY), 0.15, 1e-3);
    l.waves = false;
    l.facts.used = 5;
    m.v[LIMIT_BY_ACTIVE] = m.v[LIMIT_BY_MEAN] = 400;
    /* half of the SMs have none, and the others hold half of what they have room for */
    assert_float_equal(share(&m, &l, LIMIT_GRID), 0.5 + 0.1 * 0.25, 1e-3);
    assert_float_equal(share(&m, &l, LIMIT_LAUNCH), 0.1, 1e-3);
}

/* Without what is needed, and with numbers that make no sense: n/a. What a chip may lack, counts as none. */
static void test_refused(void **state)
{
    struct limit_launch l = full();
    (void)state;
    for (unsigned k = 0; k < LIMIT_METRIC_COUNT; k++) {
        struct limit_measures m = plain();
        struct result r = result_empty();
        m.has[k] = false;
        limits_measured(&r, &l, &m);
        assert_int_equal(r.limits.valid, !limit_metric_needed((enum limit_metric)k));
    }
    struct limit_measures m = plain();
    struct result r = result_empty();
    m.v[LIMIT_BY_ELAPSED] = 0;
    limits_measured(&r, &l, &m);
    assert_false(r.limits.valid);
    m.v[LIMIT_BY_ELAPSED] = (double)NAN;
    limits_measured(&r, &l, &m);
    assert_false(r.limits.valid);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_reasons),
                                        cmocka_unit_test(test_memory),
                                        cmocka_unit_test(test_shared_and_tensor),
                                        cmocka_unit_test(test_room),
                                        cmocka_unit_test(test_refused),
                                        cmocka_unit_test(test_constants),
                                        cmocka_unit_test(test_around) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
