/* Launches longer than their sample: where the warps of a CTA do not keep step, the slowest decide. */
#include "tests/support.h"

#include <math.h>

#include "engine/rec/launch.h"
#include "engine/sim/decoded.h"
#include "engine/sim/mem.h"
#include "tests/unit/sim_job.h"

#define ROUNDS 40000u
#define WARPS  2u
#define CTAS   264u

/* A chain of loads of one line by the warps below `pi`, of another by those from there on, which bypass:
 * WARPS warps, ROUNDS loads each. (From one line for all who bypass would take it, and all wait alike.)
 */
static const char text[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 buf, .param .u32 "
    "pi)\n{\n"
    ".reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n"
    "ld.param.u64 %rd1, [buf];\nld.param.u32 %r1, [pi];\nmov.u32 %r2, %tid.x;\nshr.u32 %r2, %r2, "
    "5;\nmov.u32 %r3, 0;\n"
    "setp.ge.u32 %p1, %r2, %r1;\n@%p1 bra FAR;\nadd.s64 %rd1, %rd1, 128;\n"
    "NEAR:\nld.global.u32 %r4, [%rd1];\ncvt.u64.u32 %rd2, %r4;\nadd.s64 %rd1, %rd1, %rd2;\nadd.u32 %r3, "
    "%r3, 1;\nsetp.lt.u32 %p2, %r3, 40000;\n@%p2 bra NEAR;\nbra.uni END;\n"
    "FAR:\nld.global.cg.u32 %r4, [%rd1];\ncvt.u64.u32 %rd2, %r4;\nadd.s64 %rd1, %rd1, %rd2;\nadd.u32 "
    "%r3, %r3, 1;\nsetp.lt.u32 %p2, %r3, 40000;\n@%p2 bra FAR;\n"
    "END:\nst.global.u32 [%rd1], %r4;\nret;\n}\n";

static void open_job(struct job *j, struct launch_spec *l, struct arg_spec *arg, uint32_t pi)
{
    static char name[2][4] = { "buf", "pi" };
    arg[0] = (struct arg_spec){ .kind = ARG_BUFFER,
                                .name = name[0],
                                .elem = ELEM_U32,
                                .count = 1024,
                                .init = { .kind = INIT_FILL, .integral = true } };
    arg[1] = (struct arg_spec){ .kind = ARG_SCALAR, .name = name[1], .elem = ELEM_U32 };
    memcpy(arg[1].scalar, &pi, sizeof pi);
    *l = (struct launch_spec){ .kernel = (char *)(uintptr_t) "k",
                               .grid = { CTAS, 1, 1 },
                               .block = { 32 * WARPS, 1, 1 },
                               .args = arg,
                               .nargs = 2 };
    *j = (struct job){ .l = l };
    job_open_text(j, "hopper-h200", STR(text));
}

/* Timed, and completed as a functional run would: every warp of a CTA has the same instructions. */
static struct sim_stats timed(uint32_t pi, unsigned threads, uint32_t *classes)
{
    struct job j;
    struct launch_spec spec;
    struct arg_spec arg[2];
    open_job(&j, &spec, arg, pi);
    struct sim_launch l = job_launch(&j);
    l.threads = threads;
    struct sim_stats s = job_run(&j, &l),
                     whole = { .inst_warp = (uint64_t)CTAS * WARPS * (6 * ROUNDS + 10) };
    for (uint32_t i = 0; i < WARPS; i++)
        whole.inst_of_warp[i] = whole.inst_warp / WARPS;
    assert_true(s.sampled);
    assert_true(s.cycles_per_inst > 0);
    assert_true(isnan(s.time_ns));
    *classes = s.nparts ? s.parts[0].nclasses : 1;
    sim_stats_complete(&s, &j.preset, &whole);
    assert_true(isfinite(s.time_ns));
    assert_true(s.sample_share > 0);
    assert_true(s.sample_share < 1);
    assert_true(fabs((double)s.inst_warp / (double)whole.inst_warp - 1) < 1e-3);
    sim_unload(j.prog);
    ptx_free(j.m);
    launch_data_free(&j.data);
    sim_mem_free(j.mem);
    return s;
}

static double hits(const struct sim_stats *s)
{
    return (double)s->l1_hits / (double)s->l1_sectors;
}

static void test_slowest_warps_decide(void **state)
{
    (void)state;
    uint32_t classes[3];
    struct sim_stats far = timed(0, 1, &classes[0]), both = timed(1, 1, &classes[1]),
                     near = timed(WARPS, 1, &classes[2]);
    assert_int_equal(classes[0], 1);
    assert_int_equal(classes[1], 2);
    assert_int_equal(classes[2], 1);
    assert_true(near.time_ns < 0.5 * far.time_ns);
    assert_true(fabs(both.time_ns / far.time_ns - 1) < 0.03); /* not the mean of both */
    assert_true(hits(&far) == 0);
    assert_true(hits(&both) < 0.55);
    assert_true(hits(&near) > 0.9); /* half of the loads at most, not the most of a sample */
    sim_stats_free(&far);
    sim_stats_free(&both);
    sim_stats_free(&near);
}

static void test_any_number_of_threads(void **state)
{
    (void)state;
    uint32_t classes[2];
    struct sim_stats a = timed(1, 1, &classes[0]), b = timed(1, 3, &classes[1]);
    assert_memory_equal(&a.time_ns, &b.time_ns, sizeof a.time_ns);
    assert_int_equal(a.l1_hits, b.l1_hits);
    assert_int_equal(a.l2_reads, b.l2_reads);
    assert_int_equal(classes[0], classes[1]);
    sim_stats_free(&a);
    sim_stats_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_slowest_warps_decide),
                                        cmocka_unit_test(test_any_number_of_threads) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
