/* Timed launches: counts, latencies, determinism, sampling, limits. */
#include "tests/support.h"
#include "engine/rec/launch.h"
#include "engine/sim/decoded.h"
#include "engine/sim/mem.h"
#include "tests/unit/sim_job.h"

#include <math.h>
#include <pthread.h>
#include <time.h>

/* ---- counts ---- */

/* Paper workloads: 32 CTAs of two warps; one load each. Sectors per request 32, 16, 1, 4. */
static void test_counts_are_exact(void **state)
{
    (void)state;
    const struct {
        const char *file;
        uint64_t sectors;
    } v[] = { { "stride_32", 32 }, { "stride_4", 16 }, { "same_location", 1 }, { "coalescing", 4 } };
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct job j;
        job_open(&j, v[i].file, "default", "hopper-h200");
        struct sim_launch l = job_launch(&j);
        struct sim_stats s = job_run(&j, &l);
        assert_false(s.sampled);
        assert_int_equal(s.l1_requests, 64);
        assert_int_equal(s.l1_sectors, 64 * v[i].sectors);
        assert_int_equal(s.nloads, 1);
        assert_int_equal(s.loads[0].executions, 64);
        assert_int_equal(s.loads[0].requests, 64);
        assert_int_equal(s.loads[0].sectors, 64 * v[i].sectors);
        assert_int_equal(s.loads[0].threads, 64 * 32);
        assert_int_equal(s.loads[0].l1_hits, s.l1_hits);
        assert_true(isfinite(s.time_ns));
        assert_true(s.time_ns > 0);
        assert_true(s.cycles > 0);
        sim_stats_free(&s);
        job_close(&j);
    }
}

static void test_totals_are_sums(void **state)
{
    (void)state;
    struct job j;
    job_open(&j, "bfs", "default", "fermi-48k");
    struct sim_launch l = job_launch(&j);
    struct sim_stats s = job_run(&j, &l);
    uint64_t requests = 0, sectors = 0, hits = 0;
    for (uint32_t i = 0; i < s.nloads; i++) {
        requests += s.loads[i].requests;
        sectors += s.loads[i].sectors;
        hits += s.loads[i].l1_hits;
        assert_true(s.loads[i].line > 0);
    }
    assert_int_equal(requests, s.l1_requests);
    assert_int_equal(sectors, s.l1_sectors);
    assert_int_equal(hits, s.l1_hits);
    assert_true(s.l2_hits <= s.l2_reads);
    assert_true(s.l1_hits <= s.l1_sectors);
    assert_true(s.warps_active > 0);
    assert_true(s.warps_active <= 100);
    l.functional = true;
    job_reset(&j);
    struct sim_stats f = job_run(&j, &l);
    assert_true(isnan(f.time_ns));
    assert_true(isnan(f.cycles));
    assert_int_equal(f.inst_warp, s.inst_warp);
    assert_int_equal(f.inst_thread, s.inst_thread);
    sim_stats_free(&f);
    sim_stats_free(&s);
    job_close(&j);
}

/* ---- the same numbers for any number of host threads; outputs those of the functional mode ---- */

static void same_stats(const struct sim_stats *a, const struct sim_stats *b)
{
    assert_memory_equal(&a->time_ns, &b->time_ns, sizeof a->time_ns);
    assert_memory_equal(&a->cycles, &b->cycles, sizeof a->cycles);
    assert_int_equal(a->inst_warp, b->inst_warp);
    assert_int_equal(a->l1_hits, b->l1_hits);
    assert_int_equal(a->l1_sectors, b->l1_sectors);
    assert_int_equal(a->l2_reads, b->l2_reads);
    assert_int_equal(a->l2_hits, b->l2_hits);
    assert_int_equal(a->dram_read_bytes, b->dram_read_bytes);
    assert_int_equal(a->nloads, b->nloads);
    for (uint32_t i = 0; i < a->nloads; i++)
        assert_int_equal(a->loads[i].l1_hits, b->loads[i].l1_hits);
}

static void test_any_thread_count(void **state)
{
    (void)state;
    static const struct {
        const char *file, *launch, *preset;
        bool exact;
    } v[] = { { "gemm", "default", "hopper-h200", true },
              { "bfs", "default", "fermi-16k", true },
              { "bfs", "default", "volta-v100", true },
              { "transpose", "tiled", "ampere-a100", true },
              { "spmv", "default", "hopper-h200", false } };
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct job j;
        job_open(&j, v[i].file, v[i].launch, v[i].preset);
        struct sim_launch l = job_launch(&j);
        struct sim_stats s[3];
        uint64_t hash[3];
        for (unsigned t = 0; t < 3; t++) {
            l.exact = v[i].exact;
            l.threads = t + 1;
            job_reset(&j);
            s[t] = job_run(&j, &l);
            hash[t] = job_hash(&j, true);
        }
        same_stats(&s[0], &s[1]);
        same_stats(&s[0], &s[2]);
        assert_true(hash[0] == hash[1]);
        assert_true(hash[0] == hash[2]);
        if (v[i].exact) {
            l.functional = true;
            job_reset(&j);
            struct sim_stats f = job_run(&j, &l);
            assert_true(job_hash(&j, true) == hash[0]);
            sim_stats_free(&f);
        }
        for (unsigned t = 0; t < 3; t++)
            sim_stats_free(&s[t]);
        job_close(&j);
    }
}

/* ---- sampling ---- */

static void test_sample(void **state)
{
    (void)state;
    struct job j;
    job_open(&j, "bicg", "default", "hopper-h200");
    struct sim_launch l = job_launch(&j);
    uint64_t before = job_hash(&j, true);
    struct sim_stats sample = job_run(&j, &l);
    assert_true(sample.sampled);
    assert_true(sample.sample_share > 0);
    assert_true(sample.sample_share < 0.5);
    assert_true(job_hash(&j, true) == before); /* buffers are as they were */
    l.exact = true;
    struct sim_stats all = job_run(&j, &l);
    assert_true(!all.sampled);
    assert_true(all.sample_share == 1);
    assert_true(job_hash(&j, true) != before);
    assert_in_range((uint64_t)(100 * sample.time_ns / all.time_ns), 85, 115);
    assert_in_range(100 * sample.l1_requests / all.l1_requests, 98, 102);
    assert_in_range(100 * sample.l1_sectors / all.l1_sectors, 98, 102);
    double a = 100.0 * (double)sample.l1_hits / (double)sample.l1_sectors,
           b = 100.0 * (double)all.l1_hits / (double)all.l1_sectors;
    assert_true(fabs(a - b) < 5);
    sim_stats_free(&sample);
    sim_stats_free(&all);
    job_close(&j);
}

/* ---- dispatch and scheduling ---- */

static void test_dispatch(void **state)
{
    (void)state;
    struct job j;
    job_open(&j, "bfs", "default", "fermi-48k");
    struct sim_launch l = job_launch(&j);
    uint64_t hash = 0, requests = 0;
    double cycles[3];
    for (int d = DISPATCH_NORMAL; d <= DISPATCH_ADVERSARIAL; d++) {
        l.dispatch = (enum sim_dispatch)d;
        l.exact = true;
        job_reset(&j);
        struct sim_stats s = job_run(&j, &l);
        if (d == DISPATCH_NORMAL) {
            hash = job_hash(&j, true);
            requests = s.l1_requests;
        }
        assert_true(job_hash(&j, true) == hash); /* every CTA ran, once */
        assert_int_equal(s.l1_requests, requests);
        cycles[d] = s.cycles;
        sim_stats_free(&s);
    }
    assert_true(cycles[0] != cycles[1]);
    assert_true(cycles[0] != cycles[2]);
    j.prog->preset.scheduler_policy = 1; /* round robin instead of greedy */
    l.dispatch = DISPATCH_NORMAL;
    job_reset(&j);
    struct sim_stats s = job_run(&j, &l);
    assert_true(job_hash(&j, true) == hash);
    assert_true(s.cycles != cycles[0]);
    sim_stats_free(&s);
    job_close(&j);
}

/* ---- limits ---- */

static const char *const SPIN = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry "
                                "k(.param .u64 a)\n{\n.reg .b32 %r<2>;\n"
                                "mov.u32 %r1, 0;\nL:\nadd.s32 %r1, %r1, 1;\nbra L;\n}\n";

static void open_text(struct job *j, const char *text, uint32_t grid, uint32_t block, const char *preset)
{
    static struct launch_spec l;
    static struct arg_spec a;
    memset(j, 0, sizeof *j);
    a = (struct arg_spec){
        .kind = ARG_BUFFER, .name = (char *)(uintptr_t) "a", .elem = ELEM_U64, .count = 4096
    };
    l = (struct launch_spec){ .kernel = (char *)(uintptr_t) "k",
                              .grid = { grid, 1, 1 },
                              .block = { block, 1, 1 },
                              .args = &a,
                              .nargs = 1 };
    j->l = &l;
    job_open_text(j, preset, str_of(text));
}

static void test_hang_is_reported(void **state)
{
    (void)state;
    struct job j;
    struct diags ds = { 0 };
    struct sim_stats s;
    open_text(&j, SPIN, 4, 64, "hopper-h200");
    struct sim_launch l = job_launch(&j);
    l.max_cycles = 20000;
    assert_int_equal(sim_run(j.prog, &l, &s, &ds), ST_DEVICE);
    assert_true(support_said(&ds, "cycles"));
    sim_stats_free(&s);
    diags_free(&ds);
    job_close(&j);
}

/* Loads under way at once: one where each address is loaded by the load before; of loads that do not wait for
 * each other nearly as many as there are, for each new one is a few cycles later. Stores count for none. */
static double flight_of(const char *body)
{
    struct job j;
    char text[2000];
    snprintf(
        text, sizeof text,
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n.reg .b64 "
        "%%d<12>;\nld.param.u64 %%d1, [a];\n%sret;\n}\n",
        body);
    open_text(&j, text, 1, 32, "hopper-h200");
    struct sim_launch l = job_launch(&j);
    struct sim_stats s = job_run(&j, &l);
    uint64_t all = s.work.load_cycles, some = s.work.loading_cycles;
    sim_stats_free(&s);
    job_close(&j);
    return some ? (double)all / (double)some : 0;
}

static void test_loads_in_flight(void **state)
{
    (void)state;
    double chain = flight_of("ld.global.u64 %d2, [%d1];\nand.b64 %d2, %d2, 0;\nadd.u64 %d1, %d1, %d2;\n"
                             "ld.global.u64 %d3, [%d1+1024];\nst.global.u64 [%d1], %d3;\n");
    double four =
        flight_of("ld.global.u64 %d2, [%d1];\nld.global.u64 %d3, [%d1+1024];\nld.global.u64 %d4, "
                  "[%d1+2048];\nld.global.u64 %d5, [%d1+4096];\nadd.u64 %d2, %d2, %d3;\nadd.u64 "
                  "%d4, %d4, %d5;\nadd.u64 %d2, %d2, %d4;\nst.global.u64 [%d1], %d2;\n");
    assert_true(chain == 1);
    assert_true(four > 3.5);
    assert_true(four <= 4);
    assert_true(flight_of("st.global.u64 [%d1], %d1;\n") == 0);
}

/* .level::prefetch_size (9.7.9.8): one word of every second line; what comes along from DRAM, whole
 * lines' neighbours too. */
static void test_prefetch_size(void **state)
{
    static const struct {
        const char *size;
        uint64_t bytes;
    } want[] = { { ".L2::64B", 64 }, { ".L2::128B", 128 }, { ".L2::256B", 256 } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        struct job j;
        struct diags ds = { 0 };
        struct sim_stats s;
        char text[600];
        snprintf(text, sizeof text,
                 ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 "
                 "a)\n{\n.reg .b32 %%r<4>;\n.reg .b64 %%d<4>;\n"
                 "ld.param.u64 %%d1, [a];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%d2, %%r1, "
                 "256;\nadd.u64 %%d1, %%d1, %%d2;\n"
                 "ld.global%s.u32 %%r2, [%%d1];\nadd.u32 %%r2, %%r2, 1;\nret;\n}\n",
                 want[i].size);
        open_text(&j, text, 1, 128, "hopper-h200");
        struct sim_launch l = job_launch(&j);
        l.exact = true;
        l.warm_l2 = false;
        assert_status_ok(sim_run(j.prog, &l, &s, &ds), &ds);
        assert_int_equal(s.dram_read_bytes, 128 * want[i].bytes);
        sim_stats_free(&s);
        diags_free(&ds);
        job_close(&j);
    }
}

/* 128 threads store words 8 bytes apart, cold: sectors wait for the rest, which is read from DRAM where somebody
 * asks for it. */
static void test_parts(void **state)
{
    static const struct {
        const char *body;
        uint64_t bytes;
    } want[] = {
        { "st.global.u32 [%d1], %r1; st.global.u32 [%d1+4], %r1;", 0 },
        { "st.global.u32 [%d1], %r1;", 0 },
        { "st.global.u32 [%d1], %r1; membar.gl; ld.global.cg.u32 %r2, [%d1]; st.shared.u32 [s], %r2;",
          1024 },
        { "st.global.u32 [%d1], %r1; st.global.u32 [%d1+4], %r1; membar.gl; "
          "ld.global.cg.u32 %r2, [%d1]; st.shared.u32 [s], %r2;",
          0 },
        { "st.global.u32 [%d1], %r1; red.global.add.u32 [%d1+4], %r1;", 1024 }
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(want); i++) {
        struct job j;
        struct diags ds = { 0 };
        struct sim_stats s;
        char text[700];
        snprintf(text, sizeof text,
                 ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 "
                 "a)\n{\n.reg .b32 %%r<4>;\n.reg .b64 %%d<4>;\n.shared .b32 s;\n"
                 "ld.param.u64 %%d1, [a];\nmov.u32 %%r1, %%tid.x;\nmul.wide.u32 %%d2, %%r1, "
                 "8;\nadd.u64 %%d1, %%d1, %%d2;\n%s\nret;\n}\n",
                 want[i].body);
        open_text(&j, text, 1, 128, "hopper-h200");
        struct sim_launch l = job_launch(&j);
        l.exact = true;
        l.warm_l2 = false;
        assert_status_ok(sim_run(j.prog, &l, &s, &ds), &ds);
        if (s.dram_read_bytes != want[i].bytes)
            fail_msg("%s: %llu bytes", want[i].body, (unsigned long long)s.dram_read_bytes);
        sim_stats_free(&s);
        diags_free(&ds);
        job_close(&j);
    }
}

struct killer {
    struct cancel c;
    struct support_clock at;
};
static void *kill_later(void *arg)
{
    struct killer *k = arg;
    struct timespec t = { 0, 50000000 };
    nanosleep(&t, NULL);
    k->at = support_clock();
    atomic_store(&k->c.asked, true);
    return NULL;
}

static void test_cancel(void **state)
{
    (void)state;
    struct job j;
    struct diags ds = { 0 };
    struct sim_stats s;
    struct killer k = { 0 };
    pthread_t t;
    open_text(&j, SPIN, 400, 256, "hopper-h200");
    struct sim_launch l = job_launch(&j);
    l.cancel = &k.c;
    /* a sample has its rate, and ends by itself */
    l.exact = true;
    assert_int_equal(pthread_create(&t, NULL, kill_later, &k), 0);
    assert_int_equal(sim_run(j.prog, &l, &s, &ds), ST_CANCELLED);
    int64_t late = support_since(k.at);
    pthread_join(t, NULL);
    /* 100 ms on a machine that is not busy */
    assert_in_range(late / 1000000, 0, 1500);
    sim_stats_free(&s);
    diags_free(&ds);
    job_close(&j);
}

static void test_impossible_launches(void **state)
{
    (void)state;
    struct job j;
    open_text(&j, SPIN, 1, 64, "hopper-h200");
    for (int i = 0; i < 5; i++) {
        struct diags ds = { 0 };
        struct sim_stats s = { 0 };
        struct sim_launch l = job_launch(&j);
        if (i == 0)
            l.grid.x = 0;
        if (i == 1)
            l.block.x = 2048;
        if (i == 2)
            l.shared = 1u << 20;
        if (i == 3)
            l.nparams = 0;
        if (i == 4)
            l.grid.y = 70000;
        assert_int_not_equal(sim_run(j.prog, &l, &s, &ds), ST_OK);
        assert_true(ds.errors > 0);
        diags_free(&ds);
        sim_stats_free(&s);
    }
    job_close(&j);
}

/* ---- latencies: a thread that follows a pointer to itself ---- */

static double chase(const char *preset, const char *op, unsigned loads)
{
    char text[4000];
    int n =
        snprintf(text, sizeof text,
                 ".version 7.4\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
                 ".reg .b64 %%rd<9>;\nld.param.u64 %%rd1, [a];\nst.global.u64 [%%rd1], "
                 "%%rd1;\nld.global%s.u64 %%rd2, [%%rd1];\n"
                 "st.global.u64 [%%rd1+64], %%rd2;\nmov.u64 %%rd3, %%clock64;\n",
                 op);
    for (unsigned i = 0; i < loads; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "ld.global%s.u64 %%rd2, [%%rd2];\n", op);
    snprintf(
        text + n, sizeof text - (size_t)n,
        "st.global.u64 [%%rd1+64], %%rd2;\nmov.u64 %%rd4, %%clock64;\nsub.s64 %%rd5, %%rd4, %%rd3;\n"
        "st.global.u64 [%%rd1+128], %%rd5;\nret;\n}\n");
    struct job j;
    open_text(&j, text, 1, 1, preset);
    struct sim_launch l = job_launch(&j);
    struct sim_stats s = job_run(&j, &l);
    uint64_t cycles;
    memcpy(&cycles, sim_mem_host(j.mem, j.addr[0] + 128, 8), 8);
    sim_stats_free(&s);
    job_close(&j);
    return (double)cycles;
}

static void test_latencies(void **state)
{
    (void)state;
    const char *const presets[] = { "fermi-16k", "pascal-p100", "volta-v100", "hopper-h200" };
    for (size_t i = 0; i < ARRAY_LEN(presets); i++) {
        struct sim_preset p;
        struct diags ds = { 0 };
        assert_status_ok(preset_read(NULL, presets[i], &p, &ds), &ds);
        double l1 = (chase(presets[i], "", 32) - chase(presets[i], "", 16)) / 16;
        double l2 = (chase(presets[i], ".cg", 32) - chase(presets[i], ".cg", 16)) / 16;
        assert_true(fabs(l1 - (double)p.l1_latency) <= 2);
        /* the chain stays in one line, which has a slice near or far */
        double apart = (double)p.l2_far_latency / 2;
        assert_true(fabs(l2 - (double)p.l2_latency) <= 0.05 * (double)p.l2_latency + apart);
        diags_free(&ds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_are_exact),
        cmocka_unit_test(test_totals_are_sums),
        cmocka_unit_test(test_loads_in_flight),
        cmocka_unit_test(test_any_thread_count),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_dispatch),
        cmocka_unit_test(test_hang_is_reported),
        cmocka_unit_test(test_prefetch_size),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_impossible_launches),
        cmocka_unit_test(test_latencies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
