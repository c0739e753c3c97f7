/* Addresses made from the results of every operation of tests/ref/gen_rows.c, and of generated programs:
 * the analysis follows all of them, and its exact counts are the simulated device's. What an
 * operation computes is checked elsewhere, against tests/ref; this holds slices to it: what they leave out
 * changes no request. */
#include "tests/unit/analysis_compare.h"

#include "tests/ref/gen.h"

#define PROGRAMS 120

/* A load whose address comes from each register that a program computes. */
static void put_loads(struct buf *b)
{
    static const struct {
        const char *to32;
        unsigned n;
    } files[] = { { "mov.b32 %%ra, %%r%u;", 8 },
                  { "cvt.u32.u64 %%ra, %%rd%u;", 6 },
                  { "cvt.u32.u16 %%ra, %%h%u;", 6 },
                  { "cvt.u32.u16 %%ra, %%e%u;", 6 },
                  { "mov.b32 %%ra, %%x%u;", 8 },
                  { "mov.b32 %%ra, %%f%u;", 8 },
                  { "mov.b64 {%%ra, %%rb}, %%d%u; xor.b32 %%ra, %%ra, %%rb; setp.num.f64 %%pc, %%d%u, "
                    "0d0000000000000000; selp.b32 %%ra, %%ra, 1, %%pc;",
                    6 },
                  { "selp.u32 %%ra, %%tidr, 999, %%p%u;", 6 } };
    for (size_t f = 0; f < ARRAY_LEN(files); f++)
        for (unsigned k = 0; k < files[f].n; k++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            buf_printf(b, files[f].to32, k, k);
#pragma GCC diagnostic pop
            buf_puts(b, "\n\tshr.u32 %rb, %ra, 17;\n\txor.b32 %ra, %ra, %rb;\n\tshl.b32 %ra, %ra, "
                        "2;\n\tand.b32 %ra, %ra, 32764;\n\tcvt.u64.u32 %rda, %ra;\n\tadd.u64 %rda, "
                        "%rda, %rout0;\n\tld.global.u32 %rm, [%rda];\n");
        }
}

/* more: instructions before the loads, or "". */
static unsigned one(struct gen *g, uint64_t seed, const char *row, const char *more, unsigned *open)
{
    struct buf text = { 0 };
    struct an_launch a;
    buf_clear(&g->b);
    buf_puts(&g->b, GEN_HEAD);
    gen_program(g, seed, row, "k");
    buf_put(&text, g->b.s, g->end);
    buf_puts(&text, more);
    put_loads(&text);
    buf_puts(&text, g->b.s + g->end);
    struct ptx_module *m = an_parse(text.s);
    an_launch_init(&a, (struct dim3u){ 1, 1, 1 }, (struct dim3u){ GEN_BLOCK, 1, 1 });
    an_buffer(&a, "p", ELEM_U32, GEN_BYTES / 4);
    a.l.kernel = (char *)(uintptr_t) "k";
    an_data(&a);
    gen_data(g, seed, a.data.buffers[0].bytes);
    unsigned n = compare(m, &a.data, *more ? more : row ? row : text.s, open);
    launch_data_free(&a.data);
    ptx_free(m);
    buf_free(&text);
    return n;
}

static void operations(void **state)
{
    (void)state;
    struct gen g = { 0 };
    unsigned followed = 0;
    for (size_t k = 0; k < gen_rows(); k++) {
        unsigned open = 0;
        one(&g, 77, gen_row(k), "", &open);
        followed += !open;
    }
    print_message("%u of %zu operations are followed\n", followed, gen_rows());
    assert_int_equal(followed, gen_rows());
    buf_free(&g.b);
}

/* What no row says: operations of a warp or a CTA, parts of registers, shared memory. All of these are
 * followed. */
static const char *const others[] = {
    "match.any.sync.b32 %r0, %r1, -1;\n",
    "and.b32 %r1, %r1, 3; match.any.sync.b32 %r0, %r1, -1;\n",
    "mov.u32 %r1, 5; match.all.sync.b32 %r0|%p0, %r1, -1;\n",
    "match.all.sync.b32 %r0|%p0, %r2, -1;\n",
    "redux.sync.add.u32 %r0, %r1, -1;\n",
    "redux.sync.min.s32 %r0, %r1, -1;\n",
    "redux.sync.max.u32 %r0, %r1, -1;\n",
    "redux.sync.and.b32 %r0, %r1, -1;\n",
    "redux.sync.or.b32 %r0, %r1, -1;\n",
    "redux.sync.xor.b32 %r0, %r1, -1;\n",
    "vote.sync.all.pred %p0, %p1, -1;\n",
    "vote.sync.any.pred %p0, !%p1, -1;\n",
    "vote.sync.uni.pred %p0, %p1, -1;\n",
    "vote.sync.ballot.b32 %r0, %p1, -1;\n",
    "activemask.b32 %r0;\n",
    "elect.sync %r0|%p0, -1;\n",
    "shfl.sync.down.b32 %r0|%p0, %r1, 3, 31, -1;\n",
    "shfl.sync.up.b32 %r0|%p0, %r1, 5, 0x1007, -1;\n",
    "shfl.sync.bfly.b32 %r0, %r1, 9, 31, -1;\n",
    "shfl.sync.idx.b32 %r0|%p0, %r1, %r2, 0x181f, -1;\n",
    "bar.red.popc.u32 %r0, 0, %p1;\n",
    "bar.red.and.pred %p0, 0, %p1;\n",
    "bar.red.or.pred %p0, 0, !%p1;\n",
    "mov.b64 {%r0, %r1}, %rd1;\n",
    "mov.b64 %rd0, {%r1, %r2};\n",
    "mov.b32 {%h0, %h1}, %r1;\n",
    "mov.b32 %r0, {%h1, %h2};\n",
    "cvt.s16.s8 %h0, %h1; cvt.s32.s16 %r0, %h0;\n",
    "slct.s32.s32 %r0, %r1, %r2, %r3;\n",
    "@!%p1 sub.u32 %r0, %r1, 7;\n",
    "mov.u32 %rb, buffer; and.b32 %ra, %tidr, 7; shl.b32 %ra, %ra, 2; add.u32 %ra, %ra, %rb; "
    "st.shared.u32 [%ra], 0; bar.sync 0; red.shared.add.u32 [%ra], %r1; red.shared.add.u32 [%ra], 3; "
    "bar.sync 0; ld.shared.u32 %r0, [%ra];\n",
    "mov.u32 %rb, buffer; and.b32 %ra, %tidr, 7; shl.b32 %ra, %ra, 2; add.u32 %ra, %ra, %rb; "
    "st.shared.u32 [%ra], 0; bar.sync 0; red.shared.min.s32 [%ra], %r1; bar.sync 0; ld.shared.u32 %r0, "
    "[%ra];\n",
    "mov.u32 %rb, buffer; and.b32 %ra, %tidr, 7; shl.b32 %ra, %ra, 2; add.u32 %ra, %ra, %rb; "
    "st.shared.u32 [%ra], 0; bar.sync 0; red.shared.max.u32 [%ra], %r1; bar.sync 0; ld.shared.u32 %r0, "
    "[%ra];\n",
    "mov.u32 %rb, buffer; and.b32 %ra, %tidr, 7; shl.b32 %ra, %ra, 2; add.u32 %ra, %ra, %rb; "
    "st.shared.u32 [%ra], -1; bar.sync 0; red.shared.and.b32 [%ra], %r1; bar.sync 0; ld.shared.u32 %r0, "
    "[%ra];\n",
    "mov.u32 %rb, buffer; and.b32 %ra, %tidr, 7; shl.b32 %ra, %ra, 2; add.u32 %ra, %ra, %rb; "
    "st.shared.u32 [%ra], 0; bar.sync 0; red.shared.or.b32 [%ra], %r1; red.shared.xor.b32 [%ra], %r2; "
    "bar.sync 0; ld.shared.u32 %r0, [%ra];\n",
    "mov.u32 %rb, buffer; and.b32 %ra, %tidr, 7; shl.b32 %ra, %ra, 2; add.u32 %ra, %ra, %rb; "
    "st.shared.u32 [%ra], 0; bar.sync 0; red.shared.inc.u32 [%ra], 5; bar.sync 0; ld.shared.u32 %r0, "
    "[%ra];\n",
    "mov.u32 %rb, buffer; and.b32 %ra, %tidr, 7; shl.b32 %ra, %ra, 2; add.u32 %ra, %ra, %rb; "
    "st.shared.u32 [%ra], 0; bar.sync 0; red.shared.dec.u32 [%ra], 5; bar.sync 0; ld.shared.u32 %r0, "
    "[%ra];\n",
    "mov.u32 %rb, buffer; shl.b32 %ra, %tidr, 2; add.u32 %ra, %ra, %rb; st.shared.u32 [%ra], %tidr; "
    "atom.shared.cas.b32 %r0, [%ra], 5, 77; atom.shared.exch.b32 %r1, [%ra], 9; ld.shared.u32 %r2, "
    "[%ra];\n",
    "mov.u32 %rb, buffer; and.b32 %ra, %tidr, 7; shl.b32 %ra, %ra, 2; add.u32 %ra, %ra, %rb; "
    "st.shared.u32 [%ra], 0; bar.sync 0; cvt.rn.f32.u32 %f1, %tidr; red.shared.add.f32 [%ra], %f1; "
    "bar.sync 0; ld.shared.u32 %r0, [%ra];\n",
    "mov.u32 %rb, buffer; and.b32 %ra, %tidr, 7; shl.b32 %ra, %ra, 3; add.u32 %ra, %ra, %rb; "
    "st.shared.u64 [%ra], 0; bar.sync 0; cvt.rn.f64.u32 %d1, %tidr; red.shared.add.f64 [%ra], %d1; "
    "bar.sync 0; ld.shared.u64 %rd0, [%ra];\n",
    "mov.u32 %rb, buffer; shl.b32 %ra, %tidr, 2; add.u32 %ra, %ra, %rb; cp.async.ca.shared.global "
    "[%ra], [%rin+8], 4; cp.async.wait_all; ld.shared.u32 %r0, [%ra];\n",
    "mov.u32 %rb, buffer; add.u32 %ra, %rb, %tidr; st.shared.u8 [%ra], %r1; ld.shared.s8 %r0, [%ra];\n",
    "mov.u32 %rb, buffer; shl.b32 %ra, %tidr, 1; add.u32 %ra, %ra, %rb; st.shared.u16 [%ra], %r1; "
    "ld.shared.s16 %r0, [%ra]; ld.shared.u16 %r2, [%ra];\n",
    "add.cc.u32 %rm, %r1, %r2; addc.u32 %r0, %r3, 0;\n",
    "sub.cc.u32 %rm, %r1, %r2; subc.cc.u32 %rm, %r4, %r5; subc.u32 %r0, %r3, 0;\n",
    "mad.lo.cc.u32 %rm, %r1, %r2, %r4; madc.hi.u32 %r0, %r1, %r2, %r3;\n"
};
static void instructions(void **state)
{
    (void)state;
    struct gen g = { 0 };
    for (size_t k = 0; k < ARRAY_LEN(others); k++) {
        unsigned open = 0;
        one(&g, k, "mov.pred pp", others[k], &open);
        if (open)
            fail_msg("%u loads after %s are not followed", open, others[k]);
    }
    buf_free(&g.b);
}

static void programs(void **state)
{
    (void)state;
    struct gen g = { 0 };
    unsigned n = 0, open = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++)
        n += one(&g, seed, NULL, "", &open);
    print_message("%u loads compared, %u not followed\n", n, open);
    assert_true(n > 0);
    assert_int_equal(open, 0);
    buf_free(&g.b);
}

/* A CTA sees which of its cluster it is, though a slice runs it by itself. */
static void clusters(void **state)
{
    (void)state;
    static const char *const sregs[] = { "%cluster_ctarank", "%cluster_ctaid.y", "%cluster_nctarank",
                                         "%clusterid.x",     "%nclusterid.y",    "%cluster_nctaid.x" };
    struct buf b = { 0 };
    struct an_launch a;
    unsigned open = 0;
    buf_puts(&b, ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p) "
                 ".reqnctapercluster 2, 2, 1\n{\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n"
                 "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\n");
    for (size_t k = 0; k < ARRAY_LEN(sregs); k++)
        buf_printf(&b,
                   "mov.u32 %%r2, %s;\nmad.lo.u32 %%r3, %%r1, %%r2, %%r1;\nmul.wide.u32 %%rd2, %%r3, "
                   "4;\nadd.u64 %%rd3, %%rd1, %%rd2;\nld.global.u32 %%r4, [%%rd3];\n",
                   sregs[k]);
    buf_puts(&b, "ret;\n}\n");
    struct ptx_module *m = an_parse(b.s);
    an_launch_init(&a, (struct dim3u){ 6, 4, 1 }, (struct dim3u){ 64, 1, 1 });
    an_buffer(&a, "p", ELEM_U32, 4096);
    a.l.kernel = (char *)(uintptr_t) "k";
    an_data(&a);
    assert_int_equal(compare(m, &a.data, b.s, &open), ARRAY_LEN(sregs));
    assert_int_equal(open, 0);
    launch_data_free(&a.data);
    ptx_free(m);
    buf_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(operations), cmocka_unit_test(instructions),
                                        cmocka_unit_test(programs), cmocka_unit_test(clusters) };
    return cmocka_run_group_tests_name("analysis: values", tests, NULL, NULL);
}
