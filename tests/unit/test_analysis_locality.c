/* Reuse splits, CTA sharing, classes, footprints and traces, worked out by hand. */
#include "engine/rec/device.h"

#include "tests/unit/analysis_support.h"

#include <math.h>

#define REGS ".reg .pred %p<20>;\n.reg .b32 %r<60>;\n.reg .f32 %f<20>;\n.reg .b64 %rd<60>;\n"
#define PTRS                                                                                         \
    "ld.param.u64 %rd1, [A];\nld.param.u64 %rd2, [B];\nld.param.u32 %r19, [n];\ncvta.to.global.u64 " \
    "%rd3, %rd1;\ncvta.to.global.u64 %rd4, %rd2;\n"                                                  \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, %tid.y;\nmov.u32 %r4, %ctaid.x;\nmov.u32 %r5, "              \
    "%ctaid.y;\nmov.u32 %r7, %ntid.x;\nmad.lo.s32 %r8, %r4, %r7, %r1;\n"
#define ENTRY             ".visible .entry f(.param .u64 A, .param .u64 B, .param .u32 n)\n{\n" REGS PTRS
#define AT(reg, ptr, out) "mul.wide.s32 %rd9, " reg ", 4;\nadd.s64 " out ", " ptr ", %rd9;\n"

struct setting {
    struct ptx_module *m;
    struct an_launch a;
};
static void set_up(struct setting *s, const char *body, struct dim3u grid, struct dim3u block)
{
    struct buf b = { 0 };
    buf_printf(&b, "%s%s%sE:\nret;\n}\n", HEAD, ENTRY, body);
    s->m = an_parse(b.s);
    buf_free(&b);
    an_launch_init(&s->a, grid, block);
    an_buffer(&s->a, "A", ELEM_F32, 1 << 16);
    an_buffer(&s->a, "B", ELEM_F32, 1 << 16);
    an_int(&s->a, "n", 1024);
    an_data(&s->a);
}
static void tear_down(struct setting *s)
{
    launch_data_free(&s->a.data);
    ptx_free(s->m);
}
static struct ana_kernel *run_with(struct setting *s, struct ana_opts o)
{
    struct diags ds = { 0 };
    struct ana_kernel *k = NULL;
    o.data = &s->a.data;
    assert_status_ok(ana_run(s->m, str_of(""), &o, &k, &ds), &ds);
    diags_free(&ds);
    return k;
}

/* 4 CTAs of 2 warps; every warp reads the same 128 bytes twice: of 16 requests of 128 bytes 8 are the
 * warp's second, 4 another warp's of the CTA, 3 another CTA's, 1 the first. */
static void reuse_split(void **state)
{
    (void)state;
    struct setting s;
    set_up(&s,
           "and.b32 %r9, %r1, 31;\n" AT(
               "%r9", "%rd3", "%rd10") "ld.global.f32 %f1, [%rd10];\nld.global.f32 %f2, [%rd10];\n",
           (struct dim3u){ 4, 1, 1 }, (struct dim3u){ 64, 1, 1 });
    struct ana_kernel *k = run_with(&s, (struct ana_opts){ 0 });
    assert_true(k->reuse.valid);
    assert_true(!k->reuse.sampled);
    assert_true(k->reuse.intra_warp == 8.0 / 16);
    assert_true(k->reuse.intra_cta == 4.0 / 16);
    assert_true(k->reuse.inter_cta == 3.0 / 16);
    assert_true(k->reuse.none == 1.0 / 16);
    assert_true(k->reuse.sectors.intra_warp == 8.0 / 16);
    assert_true(k->reuse.sectors.inter_cta == 3.0 / 16);
    assert_true(k->reuse.sectors.none == 1.0 / 16);
    /* line touches of each CTA: 4, one of them new */
    assert_true(k->reuse.line_reuse == 0.75);
    assert_int_equal(k->cls, ANA_CLASS_ALGORITHM);
    assert_string_equal(k->sensitivity, "HCS");
    assert_true(an_access(k, false, 0)->reused);
    ana_free(k);
    tear_down(&s);
}

/* CTA c reads byte c of one sector: no byte is read twice, the sector by every CTA. */
static void bytes_and_sectors(void **state)
{
    (void)state;
    struct setting s;
    set_up(&s, "cvt.u64.u32 %rd9, %r4;\nadd.s64 %rd10, %rd3, %rd9;\nld.global.u8 %r9, [%rd10];\n",
           (struct dim3u){ 8, 1, 1 }, (struct dim3u){ 32, 1, 1 });
    struct ana_kernel *k = run_with(&s, (struct ana_opts){ 0 });
    assert_true(k->reuse.inter_cta == 0);
    assert_true(k->reuse.none == 1);
    assert_true(k->reuse.sectors.inter_cta == 7.0 / 8);
    assert_true(k->reuse.sectors.none == 1.0 / 8);
    assert_int_equal(k->cls, ANA_CLASS_CACHE_LINE);
    ana_free(k);
    tear_down(&s);
}

/* A 3x3 grid where row y reads its own 128 bytes. */
static void cta_graph(void **state)
{
    (void)state;
    struct setting s;
    set_up(&s,
           "shl.b32 %r9, %r5, 5;\nadd.s32 %r10, %r9, %r1;\n" AT("%r10", "%rd3",
                                                                "%rd10") "ld.global.f32 %f1, [%rd10];\n",
           (struct dim3u){ 3, 3, 1 }, (struct dim3u){ 32, 1, 1 });
    struct ana_kernel *k = run_with(&s, (struct ana_opts){ 0 });
    assert_int_equal(k->nshare, 9);
    for (uint32_t i = 0; i < 9; i++) {
        assert_int_equal(k->share_cta[i], i);
        for (uint32_t j = 0; j < 9; j++)
            assert_true(k->share[i * 9 + j] == (i / 3 == j / 3 ? 128.0f : 0.0f));
    }
    assert_true(k->partition.strength_x == 1);
    assert_true(k->partition.strength_y == 0);
    assert_string_equal(k->partition.index, "row");
    ana_free(k);
    tear_down(&s);
}
/* Of a large grid a piece whose CTAs are neighbours in both directions: of 64x32 CTAs, each column
 * reading its own 128 bytes, those of one column share and the others do not. (Every 128th CTA would be
 * 16 of column 0, and all would share.) */
static void graph_of_a_piece(void **state)
{
    (void)state;
    struct setting s;
    set_up(&s, AT("%r8", "%rd3", "%rd10") "ld.global.f32 %f1, [%rd10];\n", (struct dim3u){ 64, 32, 1 },
           (struct dim3u){ 32, 1, 1 });
    struct ana_kernel *k = run_with(&s, (struct ana_opts){ 0 });
    assert_int_equal(k->nshare, 16);
    for (uint32_t i = 0; i < 16; i++) {
        assert_int_equal(k->share_cta[i], (14 + i / 4) * 64 + 30 + i % 4);
        for (uint32_t j = 0; j < 16; j++)
            assert_true(k->share[i * 16 + j] == (i % 4 == j % 4 ? 128.0f : 0.0f));
    }
    ana_free(k);
    tear_down(&s);
}
static void column_partition(void **state)
{
    (void)state;
    struct setting s;
    set_up(&s, AT("%r8", "%rd3", "%rd10") "ld.global.f32 %f1, [%rd10];\n", (struct dim3u){ 4, 4, 1 },
           (struct dim3u){ 32, 1, 1 });
    struct ana_kernel *k = run_with(&s, (struct ana_opts){ 0 });
    assert_true(k->partition.strength_x == 0);
    assert_true(k->partition.strength_y == 1);
    assert_string_equal(k->partition.index, "column");
    assert_string_equal(an_access(k, false, 0)->evidence,
                        "no term with ctaid.y: the 4 CTAs along y read the same part of A");
    ana_free(k);
    /* the same from the address alone */
    k = an_run(s.m, NULL, false);
    assert_string_equal(k->partition.index, "none");
    /* nothing says that there is a y */
    assert_int_equal(an_access(k, false, 0)->cls, ANA_CLASS_STREAMING);
    ana_free(k);
    tear_down(&s);
}

/* ---- classes ---- */
struct class_row {
    const char *body;
    enum ana_class cls;
};
static const struct class_row class_rows[] = {
    { AT("%r8", "%rd3", "%rd10") "ld.global.f32 %f1, [%rd10];\n", ANA_CLASS_STREAMING },
    { AT("%r1", "%rd3", "%rd10") "ld.global.f32 %f1, [%rd10];\n", ANA_CLASS_ALGORITHM },
    /* one element off: the last line of a CTA is the first of the next */
    { AT("%r8", "%rd3", "%rd10") "ld.global.f32 %f1, [%rd10+4];\n", ANA_CLASS_CACHE_LINE },
    { AT("%r8", "%rd4", "%rd10") "ld.global.u32 %r9, [%rd10];\n" AT(
          "%r9", "%rd3", "%rd11") "ld.global.f32 %f1, [%rd11];\n",
      ANA_CLASS_DATA },
    /* reads a[i+1], writes a[i] */
    { AT("%r8", "%rd3", "%rd10") "ld.global.f32 %f1, [%rd10+4];\nst.global.f32 [%rd10], %f1;\n",
      ANA_CLASS_WRITE },
    { "popc.b32 %r9, %r8;\n" AT("%r9", "%rd3", "%rd10") "ld.global.f32 %f1, [%rd10];\n",
      ANA_CLASS_UNKNOWN },
};
static void classes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(class_rows); i++) {
        struct setting s;
        set_up(&s, class_rows[i].body, (struct dim3u){ 8, 1, 1 }, (struct dim3u){ 64, 1, 1 });
        struct ana_kernel *k = run_with(&s, (struct ana_opts){ 0 });
        const struct ana_access *a = an_access(k, false, class_rows[i].cls == ANA_CLASS_DATA ? 1 : 0);
        assert_string_equal(ana_class_name(a->cls), ana_class_name(class_rows[i].cls));
        assert_non_null(a->evidence);
        ana_free(k);
        tear_down(&s);
    }
}
/* From the address alone, with the block and grid assumed (1024 elements a row). */
static const struct class_row address_rows[] = {
    /* a[i * w + ctaid.y]: the next CTA along y reads the next word of every line */
    { "mad.lo.s32 %r9, %r8, 1024, %r5;\n" AT("%r9", "%rd3", "%rd10") "ld.global.f32 %f1, [%rd10];\n",
      ANA_CLASS_CACHE_LINE },
    /* each thread its own row: scattered, and no one else's */
    { "mul.lo.s32 %r9, %r8, 1024;\n" AT("%r9", "%rd3", "%rd10") "ld.global.f32 %f1, [%rd10];\n",
      ANA_CLASS_STREAMING },
    /* one lane of a warp, one line each: nothing is misaligned about that */
    { "setp.eq.s32 %p1, %r1, 0;\n" AT("%r8", "%rd3", "%rd10") "@%p1 ld.global.f32 %f1, [%rd10];\n",
      ANA_CLASS_STREAMING },
    /* one word a CTA: a line holds those of 32 */
    { AT("%r5", "%rd3", "%rd10") "ld.global.f32 %f1, [%rd10];\n", ANA_CLASS_ALGORITHM },
};
static void classes_by_address(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(address_rows); i++) {
        struct setting s;
        set_up(&s, address_rows[i].body, (struct dim3u){ 8, 1, 1 }, (struct dim3u){ 64, 1, 1 });
        struct ana_kernel *k = an_run(s.m, NULL, false);
        assert_string_equal(ana_class_name(an_access(k, false, 0)->cls),
                            ana_class_name(address_rows[i].cls));
        ana_free(k);
        tear_down(&s);
    }
}
/* ---- footprint: each warp goes twice over 40 lines of its own ---- */
static void footprint(void **state)
{
    (void)state;
    struct setting s;
    set_up(&s,
           "shr.u32 %r9, %r8, 5;\nand.b32 %r10, %r1, 31;\nmad.lo.s32 %r11, %r9, 1280, %r10;\nmov.u32 "
           "%r12, 0;\n"
           "O:\nmov.u32 %r13, 0;\nI:\nshl.b32 %r14, %r13, 5;\nadd.s32 %r15, %r14, %r11;\n" AT(
               "%r15", "%rd3",
               "%rd10") "ld.global.f32 %f1, [%rd10];\n"
                        "add.s32 %r13, %r13, 1;\nsetp.lt.s32 %p1, %r13, 40;\n@%p1 bra I;\nadd.s32 %r12, "
                        "%r12, 1;\nsetp.lt.s32 %p2, %r12, 2;\n@%p2 bra O;\n",
           (struct dim3u){ 2, 1, 1 }, (struct dim3u){ 512, 1, 1 });
    struct dev_info dev = {
        .sms = 2, .max_warps_per_sm = 48, .max_ctas_per_sm = 8, .l1_bytes = 16384, .shared_per_sm = 49152
    };
    struct ana_kernel *k = run_with(&s, (struct ana_opts){ .dev = &dev });
    assert_true(k->footprint.valid);
    assert_true(k->footprint.bytes_per_warp == 5120); /* 40 lines */
    assert_true(k->footprint.bytes_per_cta == 16 * 5120);
    assert_true(k->footprint.bytes_per_sm == 16 * 5120);
    /* 16384 / 5120, as the paper's BFS on 16 KB */
    assert_int_equal(k->footprint.pi_fit, 3);
    assert_true(k->footprint.cache_share == 32);
    dev.l1_bytes = 49152;
    ana_free(k);
    k = run_with(&s, (struct ana_opts){ .dev = &dev });
    assert_int_equal(k->footprint.pi_fit, 9);
    ana_free(k);
    tear_down(&s);
}

/* ---- traces ---- */
struct seen {
    struct ana_request r[64];
    unsigned n, stop;
};
static bool keep(void *ctx, const struct ana_request *r)
{
    struct seen *t = ctx;
    assert_true(t->n < ARRAY_LEN(t->r));
    t->r[t->n++] = *r;
    return t->n != t->stop;
}
/* 4 CTAs of 2 warps, two loads each, on SM 1 of 2 with one CTA resident: CTA 1, then CTA 3; warps in
 * turn. */
static void trace_order(void **state)
{
    (void)state;
    struct setting s;
    struct diags ds = { 0 };
    struct seen t = { .n = 0 };
    set_up(&s,
           AT("%r8", "%rd3", "%rd10") "ld.global.f32 %f1, [%rd10];\nbar.sync 0;\nld.global.f32 %f2, "
                                      "[%rd10+16];\nst.global.f32 [%rd10], %f1;\n",
           (struct dim3u){ 4, 1, 1 }, (struct dim3u){ 64, 1, 1 });
    struct ana_opts o = { .data = &s.a.data };
    assert_status_ok(ana_trace(s.m, str_of(""), &o, 128, 1, 1, 2, keep, &t, &ds), &ds);
    /* per CTA and warp: an aligned load (1 line), a misaligned one (2 lines), a store (1 line) */
    assert_int_equal(t.n, 2 * 2 * 4);
    static const struct {
        unsigned cta, warp, sectors;
        int line;
        bool store;
    } want[8] = { { 1, 0, 0xf, 2, false }, { 1, 1, 0xf, 3, false }, { 1, 0, 0xf, 2, false },
                  { 1, 0, 0x1, 3, false }, { 1, 1, 0xf, 3, false }, { 1, 1, 0x1, 4, false },
                  { 1, 0, 0xf, 2, true },  { 1, 1, 0xf, 3, true } };
    uint64_t first = t.r[0].line - 2;
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(t.r[i].cta, want[i].cta);
        assert_int_equal(t.r[i].warp, want[i].warp);
        assert_int_equal(t.r[i].sectors, want[i].sectors);
        assert_int_equal(t.r[i].line - first, want[i].line);
        assert_int_equal(t.r[i].store, want[i].store);
        assert_int_equal(t.r[i + 8].cta, 3);
    }
    struct seen cut = { .stop = 3 };
    assert_status_ok(ana_trace(s.m, str_of(""), &o, 128, 1, 0, 1, keep, &cut, &ds), &ds);
    assert_int_equal(cut.n, 3);
    o.data = NULL;
    assert_int_equal(ana_trace(s.m, str_of(""), &o, 128, 1, 0, 1, keep, &cut, &ds), ST_REFUSED);
    diags_free(&ds);
    tear_down(&s);
}

/* ---- data-dependent kernels ---- */
static void sampled_states_its_error(void **state)
{
    (void)state;
    struct setting s;
    set_up(&s,
           AT("%r8", "%rd4", "%rd10") "ld.global.u32 %r9, [%rd10];\n" AT(
               "%r9", "%rd3", "%rd11") "ld.global.f32 %f1, [%rd11];\n",
           (struct dim3u){ 64, 1, 1 }, (struct dim3u){ 64, 1, 1 });
    for (uint32_t i = 0; i < 64 * 64; i++) {
        uint32_t v = (uint32_t)(base_splitmix(5, i) % 512);
        memcpy(s.a.data.buffers[1].bytes + 4 * i, &v, 4);
    }
    struct ana_kernel *all = run_with(&s, (struct ana_opts){ 0 }),
                      *some = run_with(&s, (struct ana_opts){ .sample_ctas = 16 });
    const struct ana_access *x = an_access(all, false, 1), *y = an_access(some, false, 1);
    assert_string_equal(x->counted_by, "slice");
    assert_true(!x->exact.sampled);
    assert_true(y->exact.sampled);
    assert_true(y->exact.error > 0);
    assert_true(y->exact.error < 0.2);
    assert_int_equal(y->exact.requests, 32);
    assert_true(fabs(y->exact.sectors_per_request / x->exact.sectors_per_request - 1) <
                2 * y->exact.error);
    /* the kernel's figure mixes a load counted whole and one sampled */
    assert_true(all->exact.requests == some->exact.requests);
    assert_true(fabs(some->exact.sectors_per_request / all->exact.sectors_per_request - 1) <
                2 * y->exact.error);
    ana_free(all);
    ana_free(some);
    tear_down(&s);
}
/* The launch before fills B with 0, 32, 64 ...: the gather of the main launch is then one sector per
 * lane. */
static void before_is_executed(void **state)
{
    (void)state;
    struct setting s;
    struct buf b = { 0 };
    buf_puts(&b, HEAD ENTRY AT("%r1", "%rd4", "%rd10") "ld.global.u32 %r9, [%rd10];\n" AT(
                     "%r9", "%rd3",
                     "%rd11") "ld.global.f32 %f1, [%rd11];\nret;\n}\n"
                              ".visible .entry fill(.param .u64 B)\n{\n" REGS
                              "ld.param.u64 %rd2, [B];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 5;\n" AT(
                                  "%r1", "%rd2", "%rd10") "st.global.u32 [%rd10], %r2;\nret;\n}\n");
    s.m = an_parse(b.s);
    an_launch_init(&s.a, (struct dim3u){ 1, 1, 1 }, (struct dim3u){ 32, 1, 1 });
    an_buffer(&s.a, "A", ELEM_F32, 1 << 16);
    an_buffer(&s.a, "B", ELEM_F32, 1 << 16);
    an_int(&s.a, "n", 1024);
    struct arg_spec arg = { .kind = ARG_SAME_AS, .name = "B", .same_as = "B" };
    struct launch_spec before = {
        .kernel = "fill", .grid = { 1, 1, 1 }, .block = { 32, 1, 1 }, .args = &arg, .nargs = 1
    };
    s.a.l.kernel = "f";
    struct ana_kernel *k;
    an_data(&s.a);
    k = run_with(&s, (struct ana_opts){ 0 });
    assert_int_equal(an_access(k, false, 1)->exact.sectors, 1);
    ana_free(k);
    launch_data_free(&s.a.data);
    s.a.l.before = &before;
    s.a.l.nbefore = 1;
    an_data(&s.a);
    k = run_with(&s, (struct ana_opts){ 0 });
    assert_int_equal(an_access(k, false, 1)->exact.sectors, 32);
    ana_free(k);
    buf_free(&b);
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reuse_split),        cmocka_unit_test(bytes_and_sectors),
        cmocka_unit_test(cta_graph),          cmocka_unit_test(graph_of_a_piece),
        cmocka_unit_test(column_partition),   cmocka_unit_test(classes),
        cmocka_unit_test(classes_by_address), cmocka_unit_test(footprint),
        cmocka_unit_test(trace_order),        cmocka_unit_test(sampled_states_its_error),
        cmocka_unit_test(before_is_executed)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
