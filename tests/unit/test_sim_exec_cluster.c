/* Clusters: tests/sim/cluster.ptx against what its kernels must give, functionally, step by step and
 * with the sanitiser on; and what goes wrong in clusters. */
#include "tests/unit/sim_support.h"

enum { WORDS = 1024 };
typedef uint32_t expect_fn(const uint32_t *in, uint32_t b, uint32_t t);

static uint32_t at_ring(const uint32_t *in, uint32_t b, uint32_t t)
{
    (void)in;
    uint32_t rank = b % 4, next = (rank + 1) % 4, v = (b - rank + next) * 1000 + t;
    return next * 100000 + 2 * v + 10000000;
}
static uint32_t at_gather(const uint32_t *in, uint32_t b, uint32_t t)
{
    (void)in;
    uint32_t rank = b % 8, base = b - rank, sum = 8 * base + 28 + 8 * t;
    return (base + (rank ^ 7)) * 65536 + (rank ? 0 : sum);
}
static uint32_t at_where(const uint32_t *in, uint32_t b, uint32_t t)
{
    (void)in;
    (void)t;
    uint32_t x = b % 4, y = b / 4, r = x / 2;
    r = ((r * 8 + y / 2) * 8 + 2) * 8 + 2;
    r = (((r * 4 + x % 2) * 4 + y % 2) * 4 + 2) * 4 + 2;
    return ((r * 8 + y % 2 * 2 + x % 2) * 8 + 4) * 2 + 1;
}
static uint32_t at_post(const uint32_t *in, uint32_t b, uint32_t t)
{
    (void)in;
    return t + 256 * ((b ^ 1) + 7) + 65536 * (5 + t);
}
static uint32_t at_bulk(const uint32_t *in, uint32_t b, uint32_t t)
{
    return in[(b ^ 1) * 64 + t] + 3;
}
static uint32_t at_multicast(const uint32_t *in, uint32_t b, uint32_t t)
{
    const uint32_t *c = in + b / 4 * 256;
    uint32_t sum = 3 * c[t] + 1, old = in[b * 64 + t];
    switch (b % 4) {
    case 1: return old + sum;
    case 2: return old > sum ? old : sum;
    default: return old;
    }
}
static uint32_t at_arrive(const uint32_t *in, uint32_t b, uint32_t t)
{
    (void)in;
    (void)t;
    return b % 2 ? 10 : 11;
}

static uint32_t at_asked(const uint32_t *in, uint32_t b, uint32_t t)
{
    (void)in;
    (void)t;
    return 1300 + b % 3;
}

static const struct {
    const char *kernel;
    struct dim3u grid;
    expect_fn *at;
    struct dim3u cluster;
} cases[] = {
    { "ring", { 8, 1, 1 }, at_ring, { 0 } },     { "gather", { 16, 1, 1 }, at_gather, { 0 } },
    { "where", { 4, 4, 1 }, at_where, { 0 } },   { "post", { 4, 1, 1 }, at_post, { 0 } },
    { "bulk", { 4, 1, 1 }, at_bulk, { 0 } },     { "multicast", { 8, 1, 1 }, at_multicast, { 0 } },
    { "arrive", { 4, 1, 1 }, at_arrive, { 0 } }, { "asked", { 6, 1, 1 }, at_asked, { 3, 1, 1 } }
};

static char *source;
static int read_source(void **state)
{
    (void)state;
    size_t n;
    struct diags ds = { 0 };
    return file_read("tests/sim/cluster.ptx", 1 << 20, &source, &n, &ds) != ST_OK;
}
static int free_source(void **state)
{
    (void)state;
    base_free(source);
    return 0;
}

static void check(size_t k, bool timed, bool checked, unsigned threads)
{
    struct sim_case c;
    uint32_t in[WORDS];
    sim_case_open(&c, source, cases[k].kernel, sizeof in);
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = (uint32_t)(base_splitmix(7, i) % 1000);
    memcpy(c.data, in, sizeof in);
    c.l.grid = cases[k].grid;
    c.l.cluster = cases[k].cluster;
    c.l.block.x = 64;
    c.l.functional = !timed;
    c.l.threads = threads;
    c.l.check_races = c.l.check_uninit = checked;
    if (sim_case_run(&c) != ST_OK) {
        sim_case_print(&c);
        fail_msg("%s (timed %d, checked %d) fails", cases[k].kernel, timed, checked);
    }
    uint32_t n = (uint32_t)dim3u_count(cases[k].grid);
    for (uint32_t i = 0; i < n * 64; i++) {
        uint32_t got;
        memcpy(&got, c.data + 4 * i, 4);
        if (got != cases[k].at(in, i / 64, i % 64))
            fail_msg("%s: CTA %u thread %u: %u, not %u", cases[k].kernel, i / 64, i % 64, got,
                     cases[k].at(in, i / 64, i % 64));
    }
    sim_case_close(&c);
}

static void results(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(cases); k++) {
        check(k, false, false, 1);
        check(k, false, false, 4);
        check(k, true, false, 1);
        check(k, false, true, 1);
    }
}

/* ---- what goes wrong ---- */
#define BODY(text)                                                                                   \
    SIM_HEAD ".visible .entry k(.param .u64 p)\n{\n\t.reg .b32 %r<8>;\n\t.reg .b64 %rd<4>;\n\t.reg " \
             ".pred %p<4>;\n"                                                                        \
             "\t.shared .align 8 .b8 box[256];\n\tmov.u32 %r1, %cluster_ctarank;\n\tmov.u32 %r2, "   \
             "box;\n\tmov.u32 %r3, %tid.x;\n\tsetp.eq.u32 %p1, %r1, 0;\n" text "\tret;\n}\n"

static void faults(const char *text, struct dim3u cluster, struct dim3u grid, bool checked,
                   const char *says)
{
    struct sim_case c;
    struct buf out = { 0 };
    sim_case_open(&c, text, "k", 4096);
    c.l.cluster = cluster;
    c.l.grid = grid;
    c.l.check_races = c.l.check_uninit = checked;
    assert_int_not_equal(sim_case_run(&c), ST_OK);
    diags_print(&c.ds, &out);
    if (!out.s || !strstr(out.s, says))
        fail_msg("'%s' is not in '%s'", says, out.s ? out.s : "");
    buf_free(&out);
    sim_case_close(&c);
}

static void wrong(void **state)
{
    (void)state;
    const struct dim3u two = { 2, 1, 1 }, four = { 4, 1, 1 }, none = { 0 };
    faults(BODY("\tbarrier.cluster.wait;\n"), two, four, false,
           "without a barrier.cluster.arrive before");
    faults(BODY("\tbarrier.cluster.arrive;\n\tbarrier.cluster.arrive;\n"), two, four, false,
           "a second barrier.cluster.arrive");
    faults(BODY("\tbarrier.cluster.arrive;\n\t@%p1 barrier.sync 1, 64;\n\tbarrier.cluster.arrive;\n"),
           two, four, false, "a second barrier.cluster.arrive");
    faults(BODY("\t@%p1 barrier.sync 1, 64;\n\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n"), two,
           four, false, "cannot continue");
    faults(BODY("\t@!%p1 barrier.sync 1, 64;\n\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n"),
           two, two, false, "its cluster's barrier is never complete");
    faults(BODY("\tcp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r2], "
                "[%r2+64], 16, [%r2+8];\n"),
           two, two, true, "nobody has written");
    faults(BODY("\tmapa.shared::cluster.u32 %r4, %r2, 2;\n\tld.shared::cluster.u32 %r5, [%r4];\n"), two,
           four, false, "out-of-bounds");
    faults(BODY("\tmapa.shared::cluster.u32 %r4, %r2, 1;\n\tld.shared::cluster.u32 %r5, [%r4+256];\n"),
           two, four, false, "shared memory of CTA (1,0,0)");
    faults(BODY("\tmapa.shared::cluster.u32 %r4, %r2, 1;\n\tld.shared.u32 %r5, [%r4];\n"), two, four,
           false, "out-of-bounds");
    faults(BODY("\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n\t@%p1 bra OFF;\n\tmov.u32 %r5, "
                "0;\nL:\tadd.u32 %r5, %r5, 1;\n\tsetp.lt.u32 %p2, %r5, 100000;\n"
                "\t@%p2 bra L;\n\tmapa.shared::cluster.u32 %r4, %r2, 0;\n\tst.shared::cluster.u32 "
                "[%r4], 1;\nOFF:\n"),
           two, four, false, "has ended");
    faults(BODY(""), (struct dim3u){ 32, 1, 1 }, (struct dim3u){ 32, 1, 1 }, false, "clusters larger");
    faults(BODY(""), two, (struct dim3u){ 3, 1, 1 }, false, "does not divide");
    faults(SIM_HEAD ".visible .entry k(.param .u64 p)\n.explicitcluster\n{\n\tret;\n}\n", none, four,
           false, "needs a cluster size");
    faults(SIM_HEAD ".visible .entry k(.param .u64 p)\n.reqnctapercluster 4\n{\n\tret;\n}\n", two, four,
           false, "a different cluster size");
    faults(BODY("\tst.shared.u32 [%r2], 1;\n\tmapa.shared::cluster.u32 %r4, %r2, "
                "0;\n\tadd.u32 %r5, %r1, 2;\n\tst.shared::cluster.u32 [%r4], %r5;\n"
                "\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n"),
           two, two, true, "race");
    faults(BODY("\tmapa.shared::cluster.u32 %r4, %r2, 1;\n\tld.shared::cluster.u32 %r5, [%r4];\n"), two,
           two, true, "nobody has written");
    faults(BODY("\tmov.b64 %rd1, 0;\n\tst.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 "
                "[%r2], 1, [%r2+8];\n"),
           two, two, false, "not initialised");
    faults(BODY("\tcp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r2], 24;\n"), two, two, false,
           "not a multiple of 16");
}

/* Timed where its CTAs have SMs of their own, or one SM holds them: 4 CTAs of 32 warps. 8 of them on a
 * GPU of four SMs have a result and no time. */
static void times(void **state)
{
    (void)state;
    static const struct {
        uint32_t ctas, sms;
        bool timed;
    } v[] = { { 4, 132, true }, { 8, 132, true }, { 4, 2, true }, { 8, 4, false } };
    for (size_t k = 0; k < ARRAY_LEN(v); k++) {
        uint32_t ctas = v[k].ctas;
        struct sim_case c;
        sim_case_open(&c,
                      BODY("\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;\n\tmov.u32 %r4, "
                           "%ctaid.x;\n\tld.param.u64 %rd1, [p];\n\tmul.wide.u32 %rd2, %r4, 4;\n"
                           "\tadd.u64 %rd1, %rd1, %rd2;\n\tst.global.u32 [%rd1], %r1;\n"),
                      "k", 4096);
        c.l.cluster = (struct dim3u){ ctas, 1, 1 };
        c.l.grid.x = 16;
        c.l.block.x = 1024;
        c.l.functional = false;
        c.l.exact = true;
        c.p->preset.sms = v[k].sms;
        assert_int_equal(sim_case_run(&c), ST_OK);
        assert_true(v[k].timed ? c.stats.time_ns > 0 : c.stats.time_ns != c.stats.time_ns);
        for (uint32_t i = 0; i < 16; i++)
            assert_int_equal(c.data[4 * i], i % ctas);
        sim_case_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(results), cmocka_unit_test(wrong),
                                        cmocka_unit_test(times) };
    return cmocka_run_group_tests_name("sim exec: clusters", tests, read_source, free_source);
}
