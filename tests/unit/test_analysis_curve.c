/* The miss-ratio curve against caches that are simulated one size at a time, on the same requests;
 * footprints per array and reuse window, worked out by hand. */
#include "engine/rec/device.h"

#include "tests/unit/analysis_support.h"

#include <math.h>

/* ---- a fully associative LRU cache of lines of four sectors ---- */
#define MOST_LINES 4096
struct cache {
    struct {
        uint64_t line;
        uint8_t valid;
    } way[MOST_LINES];
    unsigned n, size;
    uint64_t touches, hits;
};
static void cache_request(struct cache *c, const struct ana_request *r)
{
    unsigned k = 0;
    while (k < c->n && c->way[k].line != r->line)
        k++;
    uint8_t valid = k < c->n ? c->way[k].valid : 0;
    if (k == c->n) {
        k = c->n < c->size ? c->n++ : c->n - 1;
        c->way[k].line = r->line;
    }
    c->touches += (unsigned)__builtin_popcount(r->sectors);
    c->hits += (unsigned)__builtin_popcount(r->sectors & valid);
    memmove(&c->way[1], &c->way[0], sizeof c->way[0] * k);
    c->way[0].line = r->line;
    c->way[0].valid = (uint8_t)(valid | r->sectors);
}
static const unsigned sizes[] = { 1, 2, 3, 5, 8, 13, 21, 34, 55, 64, 128, 256, 512, 1024, 4096 };
struct caches {
    struct cache c[ARRAY_LEN(sizes)];
    unsigned sms;
};
static bool feed(void *ctx, const struct ana_request *r)
{
    struct caches *q = ctx;
    for (size_t i = 0; !r->store && i < ARRAY_LEN(sizes); i++)
        cache_request(&q->c[i], r);
    return true;
}
static void expect_curve(const struct ptx_module *m, const struct an_launch *a,
                         const struct dev_info *dev)
{
    struct diags ds = { 0 };
    struct ana_curve *c = NULL;
    struct ana_opts o = { .data = &a->data, .dev = dev };
    struct caches *q = base_alloc(sizeof *q);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
        q->c[i].size = sizes[i];
    enum status st = ana_curve_make(m, str_of(""), &o, &c, &ds);
    assert_status_ok(
        ana_trace(m, str_of(""), &o, 128, c ? c->resident : 1, 0, c ? c->sms : 1, feed, q, &ds), &ds);
    if (!q->c[0].touches) { /* a guard that nobody passes */
        assert_int_equal(st, ST_REFUSED);
        assert_null(c);
    }
    for (size_t i = 0; c && i < ARRAY_LEN(sizes); i++) {
        double split[ANA_FROM_COUNT], miss = ana_miss_ratio(&c->all, 128.0 * sizes[i], split),
                                      want = 1 - (double)q->c[i].hits / (double)q->c[i].touches;
        assert_int_equal(c->all.total, q->c[i].touches);
        assert_true(fabs(miss - want) < 1e-12);
        assert_true(fabs(miss + split[0] + split[1] + split[2] - 1) < 1e-12);
    }
    ana_curve_free(c);
    base_free(q);
    diags_free(&ds);
}
static void every_size(void **state)
{
    (void)state;
    struct an_gen g = { 0 };
    struct dev_info dev = {
        .sms = 2, .max_warps_per_sm = 32, .max_ctas_per_sm = 4, .l1_bytes = 16384, .l2_bytes = 1 << 20
    };
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct an_launch a;
        an_gen_make(&g, seed);
        struct ptx_module *m = an_parse(g.text.s);
        an_gen_launch(&g, &a);
        expect_curve(m, &a, seed & 1 ? &dev : NULL);
        launch_data_free(&a.data);
        ptx_free(m);
    }
    buf_free(&g.text);
}

/* ---- a kernel whose footprints are plain ----
 * Each warp goes twice over 40 lines of A that are its own; between, all warps read one line of B. */
static const char twice[] =
    HEAD ".visible .entry f(.param .u64 A, .param .u64 B, .param .u32 n)\n{\n.reg .pred %p<9>;\n.reg "
         ".b32 %r<40>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<20>;\n"
         "ld.param.u64 %rd3, [A];\nld.param.u64 %rd4, [B];\nmov.u32 %r1, %tid.x;\nmov.u32 %r4, "
         "%ctaid.x;\nmov.u32 %r7, %ntid.x;\nmad.lo.s32 %r8, %r4, %r7, %r1;\n"
         "shr.u32 %r9, %r8, 5;\nand.b32 %r10, %r1, 31;\nmad.lo.s32 %r11, %r9, 1280, %r10;\nmov.u32 "
         "%r12, 0;\nmul.wide.s32 %rd9, %r10, 4;\nadd.s64 %rd8, %rd4, %rd9;\n"
         "O:\nmov.u32 %r13, 0;\nI:\nshl.b32 %r14, %r13, 5;\nadd.s32 %r15, %r14, %r11;\nmul.wide.s32 "
         "%rd9, %r15, 4;\nadd.s64 %rd10, %rd3, %rd9;\nld.global.f32 %f1, [%rd10];\n"
         "ld.global.f32 %f2, [%rd8];\nadd.s32 %r13, %r13, 1;\nsetp.lt.s32 %p1, %r13, 40;\n@%p1 bra "
         "I;\nadd.s32 %r12, %r12, 1;\nsetp.lt.s32 %p2, %r12, 2;\n@%p2 bra O;\nret;\n}\n";
static void launch_twice(struct an_launch *a)
{
    an_launch_init(a, (struct dim3u){ 8, 1, 1 }, (struct dim3u){ 128, 1, 1 });
    an_buffer(a, "A", ELEM_F32, 1 << 17);
    an_buffer(a, "B", ELEM_F32, 1 << 10);
    an_int(a, "n", 0);
    an_data(a);
}
static void footprints(void **state)
{
    (void)state;
    struct diags ds = { 0 };
    struct an_launch a;
    struct ana_curve *c = NULL;
    struct dev_info dev = {
        .sms = 2, .max_warps_per_sm = 8, .max_ctas_per_sm = 8, .l1_bytes = 16384, .l2_bytes = 1 << 20
    };
    struct ptx_module *m = an_parse(twice);
    launch_twice(&a);
    struct ana_opts o = { .data = &a.data, .dev = &dev };
    assert_status_ok(ana_curve_make(m, str_of(""), &o, &c, &ds), &ds);
    assert_int_equal(c->narrays, 2);
    assert_int_equal(c->sms, 2);
    assert_int_equal(c->resident, 2);
    assert_false(c->cut);
    assert_true(c->sampled == 1);
    assert_true(c->error == 0);
    assert_true(c->cache_share == 64);
    const struct ana_curve_array *A = &c->array[0], *B = &c->array[1];
    assert_string_equal(A->name, "A");
    assert_string_equal(B->name, "B");
    assert_int_equal(A->param, 0);
    /* 4 warps a CTA, 2 CTAs an SM */
    assert_true(A->extent.touched[ANA_LEVEL_THREAD] == 160);
    assert_true(A->extent.touched[ANA_LEVEL_WARP] == 40 * 128);
    assert_true(A->extent.touched[ANA_LEVEL_CTA] == 160 * 128);
    assert_true(A->extent.touched[ANA_LEVEL_SM] == 320 * 128);
    assert_true(B->extent.touched[ANA_LEVEL_WARP] == 128);
    assert_true(B->extent.touched[ANA_LEVEL_SM] == 128);
    assert_true(c->extent.touched[ANA_LEVEL_SM] == 321 * 128);
    /* own lines alone: all 40 of the warp; bins of a 32nd octave above 64 lines */
    assert_true(A->extent.window[ANA_LEVEL_WARP] == 40 * 128);
    assert_true(A->extent.window[ANA_LEVEL_THREAD] == 160);
    assert_true(A->extent.window[ANA_LEVEL_CTA] >= 160 * 128);
    assert_true(A->extent.window[ANA_LEVEL_CTA] <= 165 * 128);
    assert_true(A->extent.window[ANA_LEVEL_SM] >= 320 * 128);
    assert_true(A->extent.window[ANA_LEVEL_SM] <= 330 * 128);
    assert_true(B->extent.window[ANA_LEVEL_WARP] == 128);
    assert_true(B->extent.window[ANA_LEVEL_SM] == 128);
    /* all together: two thirds of the warp's reuse is of B, one line apart; the rest over 41 lines */
    assert_true(c->window[0].share == 0.5);
    assert_true(c->window[0].bytes[ANA_LEVEL_WARP] == 2 * 128);
    assert_true(c->window[1].share == 0.9);
    assert_true(c->window[1].bytes[ANA_LEVEL_WARP] == 41 * 128);
    assert_int_equal(c->window[0].pi_fit, 4);
    assert_int_equal(c->window[1].pi_fit, 1); /* 16384 / (41 * 128 * 2) */
    /* misses: B hits but once, A hits when the SM's 321 lines stay */
    double half[ANA_FROM_COUNT];
    assert_true(fabs(ana_miss_ratio(&A->dist, 256 * 128, NULL) - 1) < 1e-12);
    assert_true(fabs(ana_miss_ratio(&A->dist, 512 * 128, half) - 0.5) < 1e-12);
    assert_true(half[ANA_FROM_WARP] == 0.5);
    assert_true(half[ANA_FROM_CTA] == 0);
    assert_true(ana_miss_ratio(&B->dist, 64 * 128, half) < 0.002);
    assert_true(half[ANA_FROM_CTA] > 0.5);
    assert_true(half[ANA_FROM_OTHER] > 0);
    ana_curve_free(c);
    launch_data_free(&a.data);
    ptx_free(m);
    diags_free(&ds);
}

/* ---- the device's sizes stand among the powers of two, and the curve never rises ---- */
static void points(void **state)
{
    (void)state;
    struct an_launch a;
    struct dev_info dev = {
        .sms = 4, .max_warps_per_sm = 64, .max_ctas_per_sm = 32, .l1_bytes = 200000, .l2_bytes = 1 << 22
    };
    struct diags ds = { 0 };
    struct ana_kernel *k = NULL;
    struct ptx_module *m = an_parse(twice);
    launch_twice(&a);
    struct ana_opts o = { .data = &a.data, .dev = &dev, .curve = true };
    assert_status_ok(ana_run(m, str_of(""), &o, &k, &ds), &ds);
    const struct ana_curve *c = k->curve;
    unsigned l1 = 0, l2 = 0, part = 0;
    assert_non_null(c);
    assert_int_equal(c->naccess, k->naccess);
    for (uint32_t i = 0; i < c->npoints; i++) {
        const struct ana_point *p = &c->point[i];
        if (i > 0) {
            assert_true(p->bytes > p[-1].bytes);
            assert_true(p->miss <= p[-1].miss + 1e-12);
        }
        assert_true(fabs(ana_miss_ratio(&c->all, p->bytes, NULL) - p->miss) < 1e-12);
        l1 += p->mark && !strcmp(p->mark, "L1") && p->bytes == 200000;
        l2 += p->mark && !strcmp(p->mark, "L2") && p->bytes == 1 << 22;
        part += p->mark && !strcmp(p->mark, "L2 per SM") && p->bytes == 1 << 20;
    }
    assert_true(l1 == 1);
    assert_true(l2 == 1);
    assert_true(part == 1);
    o.curve = false;
    ana_free(k);
    assert_status_ok(ana_run(m, str_of(""), &o, &k, &ds), &ds);
    assert_null(k->curve);
    ana_free(k);
    launch_data_free(&a.data);
    ptx_free(m);
    diags_free(&ds);
}

/* ---- a long trace is sampled by lines, and the stated error holds ---- */
/* Every thread loads 40 words of A from all over it (a linear congruence), then the same again. */
static const char scattered[] =
    HEAD ".visible .entry f(.param .u64 A, .param .u32 n)\n{\n.reg .pred %p<9>;\n.reg .b32 "
         "%r<40>;\n.reg .f32 %f<9>;\n.reg .b64 %rd<20>;\nld.param.u64 %rd3, [A];\nmov.u32 %r1, "
         "%tid.x;\nmov.u32 %r4, %ctaid.x;\n"
         "mov.u32 %r7, %ntid.x;\nmad.lo.s32 %r8, %r4, %r7, %r1;\nmov.u32 %r12, 0;\nO:\nmov.u32 %r13, "
         "0;\nmov.u32 %r9, %r8;\nI:\nmad.lo.s32 %r9, %r9, 1664525, 1013904223;\nshr.u32 %r10, %r9, 14;\n"
         "mul.wide.u32 %rd9, %r10, 4;\nadd.s64 %rd10, %rd3, %rd9;\nld.global.f32 %f1, [%rd10];\nadd.s32 "
         "%r13, %r13, 1;\nsetp.lt.s32 %p1, %r13, 40;\n@%p1 bra I;\nadd.s32 %r12, %r12, 1;\n"
         "setp.lt.s32 %p2, %r12, 2;\n@%p2 bra O;\nret;\n}\n";
static void sampled(void **state)
{
    (void)state;
    struct an_launch a;
    struct diags ds = { 0 };
    struct ana_curve *all = NULL, *some = NULL;
    struct ptx_module *m = an_parse(scattered);
    an_launch_init(&a, (struct dim3u){ 6, 1, 1 }, (struct dim3u){ 256, 1, 1 });
    an_buffer(&a, "A", ELEM_F32, 1 << 18);
    an_int(&a, "n", 0);
    an_data(&a);
    struct ana_opts o = { .data = &a.data };
    assert_status_ok(ana_curve_make(m, str_of(""), &o, &all, &ds), &ds);
    o.curve_requests = (uint32_t)(all->requests / 2);
    assert_status_ok(ana_curve_make(m, str_of(""), &o, &some, &ds), &ds);
    assert_true(all->sampled == 1);
    assert_true(!all->cut);
    assert_true(some->sampled == 1.0 / 16);
    assert_true(!some->cut);
    assert_true(some->requests == all->requests);
    assert_true(some->all.total < all->all.total / 10);
    assert_true(some->error > 0);
    assert_true(some->error < 0.1);
    for (uint32_t i = 0; i < all->npoints; i++) {
        double off = fabs(ana_miss_ratio(&all->all, all->point[i].bytes, NULL) -
                          ana_miss_ratio(&some->all, all->point[i].bytes, NULL));
        assert_true(off <= 1.5 * some->error + 1e-9);
    }
    assert_true(fabs((double)some->lines / (double)all->lines - 1) < 0.1);
    ana_curve_free(all);
    ana_curve_free(some);
    launch_data_free(&a.data);
    ptx_free(m);
    diags_free(&ds);
}

/* The n-th allocation fails, for every n: out of memory is said, nothing is lost or touched after. */
static void without_memory(void **state)
{
    (void)state;
    struct an_launch a;
    struct dev_info dev = {
        .sms = 2, .max_warps_per_sm = 8, .max_ctas_per_sm = 8, .l1_bytes = 16384, .l2_bytes = 1 << 20
    };
    struct ptx_module *m = an_parse(twice);
    enum status st = ST_NOMEM;
    launch_twice(&a);
    for (uint64_t n = 1; st != ST_OK; n++) {
        struct diags ds = { 0 };
        struct ana_kernel *k = NULL;
        struct ana_opts o = { .data = &a.data, .dev = &dev, .curve = true };
        base_fail_after(n);
        st = ana_run(m, str_of(""), &o, &k, &ds);
        base_fail_after(0);
        if (st == ST_NOMEM) {
            assert_null(k);
        } else {
            assert_int_equal(st, ST_OK);
            assert_non_null(k);
        }
        if (st == ST_OK && !k->curve) /* a part that could not be made is a gap */
            assert_true(k->ngaps > 0);
        if (st == ST_OK && !k->curve)
            st = ST_NOMEM;
        ana_free(k);
        diags_free(&ds);
        assert_true(n < 20000);
    }
    launch_data_free(&a.data);
    ptx_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(every_size), cmocka_unit_test(footprints),
                                        cmocka_unit_test(points), cmocka_unit_test(sampled),
                                        cmocka_unit_test(without_memory) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
