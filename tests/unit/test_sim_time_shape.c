/* The shapes the model stands for: the cache valley, the bfs figure of the bypass
 * paper, block shapes, operators that must differ. Goldens of order, not of value. */
#include "tests/support.h"

#include "engine/rec/launch.h"
#include "tests/unit/sim_job.h"
#include "tests/unit/sim_support.h"

#include <math.h>

static double time_at(struct job *j, int hw_pi, int carveout)
{
    struct sim_launch l = job_launch(j);
    l.hw_pi = hw_pi;
    l.carveout = carveout;
    struct sim_stats s = job_run(j, &l);
    double ns = s.time_ns;
    sim_stats_free(&s);
    job_reset(j);
    return ns;
}

/* Measured on the real part: both ends equal, 2.2 times faster at 7 of 16. */
static void test_valley(void **state)
{
    (void)state;
    struct job j;
    job_open(&j, "valley", "h200", "hopper-h200");
    double bpa = time_at(&j, 0, -1), cha = time_at(&j, 16, -1), inner = time_at(&j, 7, -1),
           late = time_at(&j, 13, -1);
    assert_true(bpa / cha > 0.8);
    assert_true(bpa / cha < 1.25);
    assert_true(bpa / inner > 1.45);
    assert_true(cha / inner > 1.45);
    assert_true(late > inner);
    job_close(&j);
}

/* Half the tile fits: caching everything is best, and the more warps cache the better. */
static void test_cache_favourite(void **state)
{
    (void)state;
    struct job j;
    job_open(&j, "valley", "fits", "hopper-h200");
    double bpa = time_at(&j, 0, -1), half = time_at(&j, 8, -1), cha = time_at(&j, 16, -1);
    assert_true(cha < half);
    assert_true(half < bpa);
    job_close(&j);
}

/* bypass paper, bfs on Fermi: 16 KB has its optimum at a small inner threshold (3) and caching all is
 * worse than bypassing all; with 48 KB the thresholds that are good (within 5 % of the best) reach about
 * three times further. */
struct figure {
    int best, reach;
    double bpa, cha;
};
static struct figure bfs_figure(const char *preset)
{
    static const int at[] = { 0, 2, 3, 5, 7, 9, 12, 15, 16 };
    double t[ARRAY_LEN(at)], best = 0;
    struct figure f = { 0 };
    struct job j;
    job_open(&j, "bfs", "default", preset);
    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        t[i] = time_at(&j, at[i], -1);
        if (i == 0 || t[i] < best) {
            best = t[i];
            f.best = at[i];
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(at); i++)
        if (t[i] <= 1.05 * best)
            f.reach = at[i];
    f.bpa = t[0];
    f.cha = t[ARRAY_LEN(at) - 1];
    job_close(&j);
    return f;
}

static void test_bfs_figure(void **state)
{
    (void)state;
    struct figure small = bfs_figure("fermi-16k"), large = bfs_figure("fermi-48k");
    assert_in_range(small.best, 2, 5);
    assert_true(small.cha > 1.2 * small.bpa);
    assert_true(large.best >= small.best);
    assert_true(large.reach >= 2 * small.reach);
    assert_true(large.cha < 1.05 * large.bpa);
}

/* Block shape alone, measured on a larger launch: 34.3, 18.6, 12.4 ms for 32x8, 16x16, 8x32: 33, 18 and
 * 12 turns at the data banks. */
static void test_block_shape(void **state)
{
    (void)state;
    double t[3];
    for (int i = 0; i < 3; i++) {
        struct job j;
        job_open(&j, "syrk", "default", "hopper-h200");
        uint32_t nx = j.l->grid.x * j.l->block.x, ny = j.l->grid.y * j.l->block.y;
        j.l->block = (struct dim3u){ 32u >> i, 8u << i, 1 };
        j.l->grid = (struct dim3u){ nx / j.l->block.x, ny / j.l->block.y, 1 };
        t[i] = time_at(&j, -1, -1);
        job_close(&j);
    }
    assert_true(t[0] > 1.3 * t[1]);
    assert_true(t[1] > 1.15 * t[2]);
    assert_true(t[0] > 1.7 * t[2]);
}

/* Measured at carve-out 100 (21 KB of L1): kmeans 4.3 times slower. */
static void test_carveout_hurts_reuse(void **state)
{
    (void)state;
    struct job j;
    job_open(&j, "kmeans", "h200", "hopper-h200");
    double full = time_at(&j, -1, -1), small = time_at(&j, -1, 100);
    assert_true(small > 2.8 * full);
    assert_true(small < 6.5 * full);
    job_close(&j);
}

/* Hit rates that an H200 counted (tests/gpu/h200.json), within 6 points of L1 and 10 of L2. */
static void test_measured_hit_rates(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        int pi, carveout;
        double l1, l2;
    } v[] = { { "valley", 0, -1, 0, 2.2 },
              { "valley", 16, -1, 0.6, 2.0 },
              { "conv3d", -1, -1, 81.3, 47.1 },
              { "conv3d", -1, 100, 40.3, 83.0 },
              { "backprop", -1, -1, 24.0, 8.4 } };
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct job j;
        job_open(&j, v[i].file, "h200", "hopper-h200");
        struct sim_launch l = job_launch(&j);
        l.hw_pi = v[i].pi;
        l.carveout = v[i].carveout;
        struct sim_stats s = job_run(&j, &l);
        double l1 = 100.0 * (double)s.l1_hits / (double)s.l1_sectors,
               l2 = 100.0 * (double)s.l2_hits / (double)(s.l2_hits + s.l2_missed);
        if (fabs(l1 - v[i].l1) > 6 || fabs(l2 - v[i].l2) > 10)
            fail_msg("%s at %d: L1 %.1f, measured %.1f; L2 %.1f, measured %.1f", v[i].file, v[i].pi, l1,
                     v[i].l1, l2, v[i].l2);
        sim_stats_free(&s);
        job_close(&j);
    }
}

/* ---- operators: one warp reads 4 lines, then again; what the second reads hit tells the operators
 * apart ---- */

static void open_loads(struct job *j, const char *first, const char *second, const char *preset)
{
    static struct launch_spec l;
    static struct arg_spec a;
    char text[3000];
    int n = snprintf(
        text, sizeof text,
        ".version 8.3\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
        ".reg .b64 %%rd<9>;\n.reg .b32 %%r<9>;\nld.param.u64 %%rd1, [a];\nmov.u32 %%r1, %%tid.x;\n"
        "mul.wide.u32 %%rd2, %%r1, 4;\nadd.s64 %%rd3, %%rd1, %%rd2;\nadd.s64 %%rd4, %%rd1, %%rd2;\n");
    /* by a register of its own: what .nc has read by one it does not read again */
    const char *const ops[2] = { first, second };
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 4; i++)
            n += strncmp(ops[k], "prefetch", 8) == 0
                     ? snprintf(text + n, sizeof text - (size_t)n,
                                "%s [%%rd%d+%d];\nmov.u32 %%r%d, 0;\n", ops[k], 3 + k, i * 128, 2 + i)
                     : snprintf(text + n, sizeof text - (size_t)n,
                                "ld.global%s.u32 %%r%d, [%%rd%d+%d];\n", ops[k], 2 + i, 3 + k, i * 128);
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "add.s32 %%r6, %%r2, %%r3;\nadd.s32 %%r7, %%r4, %%r5;\nadd.s32 %%r8, %%r6, %%r7;\n"
                      "st.global.u32 [%%rd3+%d], %%r8;\nbar.sync 0;\n",
                      4096 + k * 512);
    }
    snprintf(text + n, sizeof text - (size_t)n, "ret;\n}\n");
    memset(j, 0, sizeof *j);
    a = (struct arg_spec){
        .kind = ARG_BUFFER, .name = (char *)(uintptr_t) "a", .elem = ELEM_U64, .count = 4096
    };
    l = (struct launch_spec){ .kernel = (char *)(uintptr_t) "k",
                              .grid = { 1, 1, 1 },
                              .block = { 32, 1, 1 },
                              .args = &a,
                              .nargs = 1 };
    j->l = &l;
    job_open_text(j, preset, str_of(text));
}

static uint64_t second_hits(const char *first, const char *second, const char *preset)
{
    struct job j;
    open_loads(&j, first, second, preset);
    struct sim_launch l = job_launch(&j);
    struct sim_stats s = job_run(&j, &l);
    uint64_t hits = s.l1_hits;
    sim_stats_free(&s);
    job_close(&j);
    return hits;
}

static void test_operators(void **state)
{
    (void)state;
    const struct {
        const char *first, *second, *preset;
        uint64_t hits;
    } v[] = { { "", "", "hopper-h200", 16 },
              { ".ca", "", "hopper-h200", 16 },
              { ".cg", "", "hopper-h200", 0 },
              { "", ".cg", "hopper-h200", 0 },
              { "", ".cv", "hopper-h200", 0 },
              { ".cs", "", "hopper-h200", 16 },
              { ".nc", "", "hopper-h200", 16 },
              /* hits lines others brought */
              { ".L1::no_allocate", "", "hopper-h200", 0 },
              { "", ".L1::no_allocate", "hopper-h200", 16 },
              { ".L1::no_allocate", ".L1::no_allocate", "hopper-h200", 0 },
              { ".L1::evict_last", "", "hopper-h200", 16 },
              { "prefetch.global.L1", "", "hopper-h200", 0 }, /* stops in L2 there */
              { "prefetch.global.L1", "", "pascal-p100", 16 },
              { "prefetch.global.L2", "", "hopper-h200", 0 },
              { "", "", "kepler-k80", 0 },
              { ".ca", ".ca", "kepler-k80", 16 },
              { ".nc", ".nc", "kepler-k80", 16 },
              { ".nc", ".ca", "kepler-k80", 0 }, /* separate caches */
              { ".ca", ".ca", "maxwell-750ti", 0 },
              { ".nc", ".nc", "maxwell-750ti", 16 },
              { "", "", "maxwell-980", 0 },
              { ".ca", ".ca", "maxwell-980", 16 },
              { "", "", "pascal-p100", 16 } };
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        uint64_t hits = second_hits(v[i].first, v[i].second, v[i].preset);
        if (hits != v[i].hits)
            fail_msg("ld%s then ld%s on %s: %d hits", v[i].first, v[i].second, v[i].preset, (int)hits);
    }
}

/* Loads of 32 lines each by one SM. Where L1 is small, lines that stay are free later than lines that
 * pass by, since they stay until the load that brought them has read them (13 % fewer a cycle from L2 on
 * an H200, tests/gpu/micro-h200.txt); a large L1 has room for all. */
static double lines_at(const char *op, int carveout)
{
    char text[2048];
    snprintf(text, sizeof text,
             "%s.visible .entry k(.param .u64 p)\n{\n.reg .b32 %%r<9>; .reg .b64 %%d<9>; .reg .f32 "
             "%%f<4>; .reg .pred %%q;\nld.param.u64 %%d1, [p];\n"
             "mov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%d2, %%r1, 128;\nadd.u64 %%d1, %%d1, %%d2;\nmov.u32 "
             "%%r2, 0;\nmov.f32 %%f1, 0f00000000;\n"
             "L: .pragma \"nounroll\"; ld.global%s.f32 %%f2, [%%d1];\nadd.f32 %%f1, %%f1, "
             "%%f2;\nadd.u64 %%d1, %%d1, "
             "131072;\nadd.u32 %%r2, %%r2, 1;\nsetp.lt.u32 %%q, %%r2, 40;\n@%%q bra L;\n"
             "st.global.f32 [%%d1], %%f1;\nret;\n}\n",
             SIM_HEAD, op);
    struct sim_case c;
    sim_case_open(&c, text, "k", 8u << 20);
    c.l.block.x = 1024;
    c.l.functional = false;
    c.l.carveout = carveout;
    assert_int_equal(sim_case_run(&c), ST_OK);
    double cycles = c.stats.cycles;
    sim_case_close(&c);
    return cycles;
}

static void test_lines_stay(void **state)
{
    (void)state;
    double kept = lines_at("", 100), passed = lines_at(".cg", 100), roomy = lines_at("", 0),
           roomy_passed = lines_at(".cg", 0);
    assert_true(kept > 1.04 * passed);
    assert_true(kept < 1.25 * passed);
    assert_true(fabs(roomy - roomy_passed) < 0.02 * roomy_passed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_operators),       cmocka_unit_test(test_valley),
        cmocka_unit_test(test_cache_favourite), cmocka_unit_test(test_measured_hit_rates),
        cmocka_unit_test(test_block_shape),     cmocka_unit_test(test_carveout_hurts_reuse),
        cmocka_unit_test(test_bfs_figure),      cmocka_unit_test(test_lines_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
