/* What fences, arrivals and barriers of a cluster hold a warp for, and stores of whole sectors: cycles
 * of a loop with the instruction, less those of the loop without it. */
#include "tests/unit/sim_support.h"

#include <math.h>
#include <stdio.h>

static const char head[] =
    "%s.visible .entry k(.param .u64 a)\n%s{\n.reg .b32 %%r<9>; .reg .b64 %%d<4>; .reg .pred %%p;\n"
    ".shared .align 8 .b64 bar; ld.param.u64 %%d1, [a]; mov.u32 %%r3, bar; mov.u32 %%r4, 0; mov.u32 "
    "%%r5, %%tid.x;\n"
    "mov.u32 %%r7, %%cluster_ctarank; mapa.shared::cluster.u32 %%r6, %%r3, %%r7;\n"
    "mad.wide.u32 %%d2, %%r5, %d, %%d1; setp.ne.u32 %%p, %%r5, 0;\n"
    "@!%%p mbarrier.init.shared.b64 [%%r3], 1000000; bar.sync 0;\n"
    "shr.u32 %%r8, %%r5, 2; and.b32 %%r5, %%r5, 3; mad.wide.u32 %%d3, %%r8, 128, %%d1; mad.wide.u32 "
    "%%d3, %%r5, 8, %%d3;\n"
    "L: .pragma \"nounroll\"; %s add.u32 %%r4, %%r4, 1; setp.lt.u32 %%p, %%r4, %d; @%%p bra "
    "L;\nret;\n}\n";

static double cycles_of(const char *body, unsigned times, unsigned cluster, unsigned apart,
                        struct sim_preset *used)
{
    char text[2000], size[80] = "";
    if (cluster > 1)
        snprintf(size, sizeof size, ".explicitcluster\n.reqnctapercluster %u, 1, 1\n", cluster);
    snprintf(text, sizeof text, head, SIM_HEAD, size, apart, body, times);
    return sim_text_cycles(text, cluster, 32, used);
}

/* Of one execution of the body. */
static double cost(const char *body, unsigned cluster, unsigned apart, struct sim_preset *used)
{
    double with =
        cycles_of(body, 164, cluster, apart, used) - cycles_of(body, 100, cluster, apart, used);
    double without = cycles_of("", 164, cluster, apart, used) - cycles_of("", 100, cluster, apart, used);
    return (with - without) / 64;
}

static void near(const char *what, double got, double want, double within)
{
    if (!(fabs(got - want) <= within))
        fail_msg("%s takes %.1f cycles, not %.1f", what, got, want);
}

static void test_fences(void **state)
{
    (void)state;
    struct sim_preset g;
    double gpu = cost("fence.acq_rel.gpu;", 1, 4, &g),
           cluster = cost("fence.acq_rel.cluster;", 1, 4, &g),
           sys = cost("fence.acq_rel.sys;", 1, 4, &g), cta = cost("fence.acq_rel.cta;", 1, 4, &g);
    near("fence.acq_rel.gpu", gpu, (double)g.lat_fence, 4);
    near("fence.acq_rel.cluster", cluster, (double)g.lat_fence, 4);
    near("fence.acq_rel.sys", sys, (double)g.lat_fence_sys, 4);
    near("fence.acq_rel.cta", cta, (double)g.lat_barrier, 4);
}

static void test_arrivals(void **state)
{
    (void)state;
    struct sim_preset g;
    double far = cost("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];", 2, 4, &g),
           near_by = cost("mbarrier.arrive.release.cta.shared::cluster.b64 _, [%r6];", 2, 4, &g);
    near("mbarrier.arrive.release.cluster", far, (double)g.lat_release_cluster, 4);
    near("mbarrier.arrive.release.cta", near_by, (double)g.lat_barrier, 4);
}

static void test_cluster_barrier(void **state)
{
    (void)state;
    struct sim_preset g;
    double all = cost("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;", 2,
                      4, &g),
           relaxed =
               cost("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.acquire.aligned;", 2,
                    4, &g);
    near("a cluster's barrier", all, (double)(g.lat_cluster_arrive + g.lat_cluster_barrier), 16);
    near("a relaxed one", relaxed, (double)g.lat_cluster_barrier, 16);
}

#define FOUR(x) x x x x
/* Whole sectors leave an SM one a cycle, also in lines of their own; of words, one in icnt_write_cycles,
 * and each holds the data stage as a line. */
static void test_stores(void **state)
{
    (void)state;
    struct sim_preset g;
    static const char word[] = "st.global.b32 [%d2], %r4;",
                      whole[] = FOUR("st.global.v2.b32 [%d3], {%r4, %r4}; ")
                          FOUR("st.global.v2.b32 [%d3], {%r4, %r4}; ");
    double words = (cycles_of(word, 2000, 1, 128, &g) - cycles_of(word, 1000, 1, 128, &g)) / 1000,
           sectors = (cycles_of(whole, 2000, 1, 128, &g) - cycles_of(whole, 1000, 1, 128, &g)) / 8000,
           line = g.l1_store_line + g.l1_store_sector;
    near("words of 32 sectors", words, 32 * fmax(line, g.icnt_write_cycles), 1);
    near("whole sectors of eight lines", sectors, fmax(8, g.l1_store_line + 8 * g.l1_store_sector), 1);
}

/* A launch is over when its stores have left, also those that were queued when the last warp ended. */
static void test_last_stores(void **state)
{
    (void)state;
    struct sim_preset g;
#define STORE FOUR("st.global.v2.b32 [%d3], {%r4, %r4}; ")
    static const char few[] = STORE STORE STORE STORE, more[] = FOUR(STORE STORE);
    double first = cycles_of(few, 1, 1, 128, &g), all = cycles_of(more, 1, 1, 128, &g);
    near("sixteen stores of eight sectors more", all - first, 16 * 8, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_fences), cmocka_unit_test(test_arrivals),
                                        cmocka_unit_test(test_cluster_barrier),
                                        cmocka_unit_test(test_stores),
                                        cmocka_unit_test(test_last_stores) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
