/* Machine code for runs of instructions against the bodies it stands for: the same bytes, the same
 * counts. On a host for which no machine code is made both sides are the bodies. */
#include "tests/unit/sim_support.h"
#include "tests/unit/sim_job.h"

#include "engine/sim/exec/native/native.h"

#define ENTRY                                                                                       \
    ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"                                          \
    ".reg .b32 %r<40>; .reg .b64 %d<40>; .reg .pred %p<10>; .reg .f32 %f<20>; .reg .f64 %e<10>;\n"  \
    "ld.param.u64 %d1, [p]; ld.param.u32 %r9, [n]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; " \
    "add.u64 %d3, %d1, %d2; mul.wide.u32 %d4, %r1, 8; add.u64 %d5, %d1, %d4;\n"
#define KERNEL(body) SIM_HEAD ENTRY body "ret;\n}\n"

/* Loops over data whose lanes come by at one address, in sequence, and apart; of 4 and 8 bytes, in
 * vectors, in shared memory. */
static const char *const bodies[] = {
    KERNEL("mov.f32 %f1, 0f00000000; mov.u32 %r2, 0; mov.u64 %d6, %d3;\nL:\nld.global.f32 %f2, [%d6]; "
           "ld.global.f32 %f3, [%d6+128]; fma.rn.f32 %f1, %f2, %f3, %f1; sub.f32 %f4, %f1, %f2;\n"
           "div.rn.f32 %f5, %f4, %f3; sqrt.rn.f32 %f6, %f5; rcp.rn.f32 %f7, %f6; mul.f32 %f8, %f7, %f1; "
           "add.f32 %f1, %f8, 0f3f800000;\nadd.u64 %d6, %d6, 4; cvt.rn.f32.s32 %f9, %r1; cvt.rn.f32.u32 "
           "%f10, %r2; fma.rn.f32 %f1, %f9, %f10, %f1; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, "
           "%r9;\n@%p1 bra L;\nst.global.f32 [%d3+32768], %f1;\n"),
    KERNEL("mov.u32 %r2, 0; mov.u32 %r3, 7; and.b32 %r8, %r1, 31;\nL:\nand.b32 %r4, %r2, 3; mul.lo.u32 "
           "%r5, %r4, %r1; mul.wide.u32 %d6, %r5, 4; add.u64 %d6, %d6, %d1; ld.global.u32 %r6, [%d6]; "
           "ld.global.u32 %r7, [%d6+64];\n"
           "mad.lo.u32 %r3, %r3, 33, %r6; xor.b32 %r3, %r3, %r7; shl.b32 %r10, %r3, %r8; shr.u32 %r11, "
           "%r3, %r2; shr.s32 %r12, %r3, 5; min.s32 %r13, %r10, %r11; max.u32 %r14, %r12, %r11; or.b32 "
           "%r3, %r13, %r14;\n"
           "setp.gt.s32 %p2, %r3, %r6; selp.b32 %r15, %r3, %r7, %p2; add.u32 %r3, %r3, %r15;\n@%p2 "
           "add.u32 %r3, %r3, 1;\nadd.u32 %r2, %r2, 1; setp.ne.u32 %p1, %r2, %r9;\n@%p1 bra "
           "L;\nst.global.u32 [%d3+32768], %r3;\n"),
    KERNEL("mov.u32 %r2, 0; mov.u64 %d7, 0; mov.f64 %e1, 0d3ff0000000000000;\nL:\nand.b32 %r4, %r2, 1; "
           "mul.wide.u32 %d6, %r4, 512; add.u64 %d6, %d6, %d5; ld.global.u64 %d8, [%d6]; ld.global.u64 "
           "%d9, [%d1+16];\n"
           "add.u64 %d7, %d7, %d8; xor.b64 %d7, %d7, %d9; shl.b64 %d10, %d7, 3; shr.u64 %d11, %d7, 61; "
           "or.b64 %d7, %d10, %d11; shr.s64 %d12, %d7, 7; sub.u64 %d7, %d7, %d12; cvt.u32.u64 %r5, %d7; "
           "cvt.s64.s32 %d13, %r5;\n"
           "mad.wide.s32 %d7, %r5, 77, %d13; setp.lt.s64 %p2, %d7, %d13; setp.le.u64 %p3, %d8, "
           "%d7;\n@%p2 add.u64 %d7, %d7, 5;\n@!%p3 add.u64 %d7, %d7, 9;\nst.global.u64 [%d5+16384], "
           "%d7; ld.global.f64 %e2, [%d5+16384]; add.f64 %e1, %e1, %e2;\n"
           "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r9;\n@%p1 bra L;\nst.global.f64 [%d5+40960], "
           "%e1;\n"),
    KERNEL(".shared .align 16 .b32 s[1024];\nmov.u32 %r2, 0; mov.u32 %r20, s; mad.lo.u32 %r21, %r1, 4, "
           "%r20; mov.u32 %r3, 1;\nL:\nst.shared.u32 [%r21], %r3; bar.sync 0; ld.shared.u32 %r4, "
           "[%r20+8]; ld.shared.u32 %r5, [%r21]; and.b32 %r6, %r2, 7; mad.lo.u32 %r7, %r6, %r1, %r2;\n"
           "and.b32 %r7, %r7, 127; mad.lo.u32 %r22, %r7, 4, %r20; ld.shared.u32 %r8, [%r22]; bar.sync "
           "0; add.u32 %r3, %r4, %r5; add.u32 %r3, %r3, %r8; ld.global.v4.u32 {%r10, %r11, %r12, %r13}, "
           "[%d1+32]; mad.lo.u32 %r3, %r10, %r13, %r3; xor.b32 %r3, %r3, %r12;\n"
           "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r9;\n@%p1 bra L;\nst.global.u32 [%d3+32768], "
           "%r3;\n"),
    /* Three groups of loads between each other, one of them at one address in every other turn and
     * reaching the last byte of the buffer in one turn; what has no machine code between loads of one
     * group. */
    KERNEL("mov.u32 %r2, 0; mov.u32 %r3, 1;\nL:\nand.b32 %r4, %r2, 1; mul.lo.u32 %r5, %r4, %r1; "
           "mul.wide.u32 %d6, %r5, 4; add.u64 %d6, %d6, %d1; and.b32 %r6, %r2, 63; mul.wide.u32 %d7, "
           "%r6, 256; add.u64 %d7, %d7, %d3; add.u64 %d8, %d5, 1024;\n"
           "ld.global.u32 %r10, [%d6+65072]; ld.global.u32 %r11, [%d7+512]; ld.global.u64 %d10, "
           "[%d8+-1024]; ld.global.u32 %r12, [%d6+65136]; ld.global.u32 %r13, [%d7]; ld.global.u64 "
           "%d11, [%d8+8]; ld.global.u32 %r14, [%d6];\n"
           "div.u32 %r15, %r10, 7; ld.global.u32 %r16, [%d7+256]; popc.b32 %r17, %r16; ld.global.u64 "
           "%d12, [%d8+-512]; ld.global.u32 %r18, [%d7+128]; cvt.u32.u64 %r19, %d10; cvt.u32.u64 %r20, "
           "%d11; cvt.u32.u64 %r21, %d12;\n"
           "mad.lo.u32 %r3, %r3, 33, %r10; xor.b32 %r3, %r3, %r11; mad.lo.u32 %r3, %r3, 33, %r12; "
           "xor.b32 %r3, %r3, %r13; mad.lo.u32 %r3, %r3, 33, %r14; add.u32 %r3, %r3, %r15; mad.lo.u32 "
           "%r3, %r3, 33, %r16; add.u32 %r3, %r3, %r17;\n"
           "xor.b32 %r3, %r3, %r18; mad.lo.u32 %r3, %r3, 33, %r19; mad.lo.u32 %r3, %r3, 33, %r20; "
           "xor.b32 %r3, %r3, %r21; st.global.u32 [%d3+40000], %r3; add.u32 %r2, %r2, 1; setp.lt.u32 "
           "%p1, %r2, %r9;\n@%p1 bra L;\nst.global.u32 [%d3+32768], %r3;\n"),
    /* Values that change places from turn to turn; NaNs between floats, whose bits are looked at now and
       then, and after the loop. */
    KERNEL(
        "mov.f32 %f1, 0f3f800000; mov.f32 %f2, 0f40000000; mov.f32 %f3, 0f7fc00007; mov.f32 %f9, "
        "0f00000000; mov.f32 %f11, 0f3f000000; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u64 %d6, %d3;\nL:\n"
        "ld.global.f32 %f4, [%d6]; mov.f32 %f5, %f1; mov.f32 %f1, %f2; mov.f32 %f2, %f3; add.f32 %f3, "
        "%f5, %f4; mul.f32 %f6, %f3, %f4; div.rn.f32 %f7, %f6, %f1; mov.b32 %r4, %f7; xor.b32 %r3, %r3, "
        "%r4;\n"
        "setp.gt.f32 %p2, %f6, %f2; selp.f32 %f8, %f6, %f7, %p2; fma.rn.f32 %f9, %f8, %f11, %f9; "
        "fma.rn.f32 %f11, %f11, %f4, %f8; fma.rn.f32 %f12, %f12, %f12, %f12; fma.rn.f32 %f13, %f4, "
        "%f13, %f1; sub.f32 %f14, %f11, %f11;\n"
        "mov.f32 %f15, %f9; mov.f32 %f10, %f15; add.u64 %d6, %d6, 4; add.u32 %r2, %r2, 1; setp.lt.u32 "
        "%p1, %r2, %r9;\n@%p1 bra L;\nst.global.f32 [%d3+32768], %f10; st.global.f32 [%d3+33280], %f3; "
        "mov.b32 %r5, %f11; xor.b32 %r3, %r3, %r5;\n"
        "st.global.u32 [%d3+33792], %r3; st.global.f32 [%d3+34304], %f13; st.global.f32 [%d3+34816], "
        "%f14; st.global.f32 [%d3+35328], %f12;\n"),
    /* More values from turn to turn than there are registers; every third turn the lanes of the loads
       lie apart, in one they are at the last word. */
    KERNEL(
        "mov.u32 %r2, 0; mov.u32 %r10, 1; mov.u32 %r11, 2; mov.u32 %r12, 3; mov.u32 %r13, 4; mov.u32 "
        "%r14, 5; mov.u32 %r15, 6; mov.u32 %r16, 7; mov.u32 %r17, 8; mov.u32 %r18, 9; mov.u32 %r19, 10; "
        "mov.u32 %r20, 11; mov.u32 %r21, 12;\n"
        "mov.u32 %r22, 13; mov.u32 %r23, 14; mov.u32 %r24, 15; mov.u32 %r25, 16; mov.u32 %r26, 17; "
        "mov.u32 %r30, 0;\nL:\n"
        "setp.eq.u32 %p2, %r30, 2; selp.b32 %r31, 12, 4, %p2; mul.lo.u32 %r32, %r31, %r1; mul.wide.u32 "
        "%d6, %r32, 1; add.u64 %d6, %d6, %d1; ld.global.u32 %r3, [%d6]; ld.global.u32 %r4, [%d6+256];\n"
        "add.u32 %r10, %r10, %r3; xor.b32 %r11, %r10, %r11; add.u32 %r12, %r11, %r12; xor.b32 %r13, "
        "%r12, %r13; add.u32 %r14, %r13, %r14; xor.b32 %r15, %r14, %r15; add.u32 %r16, %r15, %r16; "
        "xor.b32 %r17, %r16, %r17; add.u32 %r18, %r17, %r18;\n"
        "mad.lo.u32 %r19, %r19, 33, %r18; mad.lo.u32 %r20, 3, %r19, %r20; mad.lo.u32 %r21, %r20, %r4, "
        "%r20; sub.u32 %r22, %r21, %r22; sub.u32 %r23, %r23, %r22; min.u32 %r24, %r23, %r24; max.u32 "
        "%r25, %r24, %r25; mov.u32 %r26, %r25;\n"
        "add.u32 %r30, %r30, 1; sub.u32 %r33, 2, %r30; shr.s32 %r33, %r33, 31; not.b32 %r33, %r33; "
        "and.b32 %r30, %r30, 3; and.b32 %r30, %r30, %r33; add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, "
        "%r9;\n@%p1 bra L;\n"
        "add.u32 %r3, %r10, %r13; add.u32 %r3, %r3, %r17; xor.b32 %r3, %r3, %r19; xor.b32 %r3, %r3, "
        "%r21; add.u32 %r3, %r3, %r23; add.u32 %r3, %r3, %r25; xor.b32 %r3, %r3, %r26; st.global.u32 "
        "[%d3+32768], %r3;\n")
};

static void fill(uint32_t *v)
{
    for (uint32_t i = 0; i < 16384; i++)
        v[i] = i % 5 ? (uint32_t)(base_splitmix(3, i) >> 33) : i % 7 ? 0x7fc00001u + i : 0x3f800000u + i;
}

static void alike(const struct sim_stats *a, const struct sim_stats *b)
{
    assert_true(a->inst_warp == b->inst_warp);
    assert_true(a->inst_thread == b->inst_thread);
    assert_true(a->nloads == b->nloads);
    for (uint32_t i = 0; i < a->nloads; i++) {
        assert_true(a->loads[i].executions == b->loads[i].executions);
        assert_true(a->loads[i].threads == b->loads[i].threads);
    }
}

static void same_in(const char *text, uint32_t turns)
{
    struct sim_case c[2];
    for (unsigned i = 0; i < 2; i++) {
        sim_case_open_with(&c[i], text, "k", 65536, i ? 3 : 0);
        fill((uint32_t *)(void *)c[i].data);
        memcpy(c[i].params + 8, &turns, 4);
        c[i].l.block.x = 100; /* the last warp is not full */
        sim_case_ok(&c[i]);
    }
    assert_memory_equal(c[0].data, c[1].data, 65536);
    alike(&c[0].stats, &c[1].stats);
    assert_null(c[1].p->native);
#if defined(__x86_64__)
    if (c[0].p->lanes == exec_lanes_avx512)
        assert_non_null(c[0].p->native);
#endif
    for (unsigned i = 0; i < 2; i++)
        sim_case_close(&c[i]);
}

static void same_as_bodies(void **state)
{
    (void)state;
    static const uint32_t turns[] = { 1, 9, 300, 3001 }; /* the last: more than a warp's turn */
    for (size_t k = 0; k < 4 * ARRAY_LEN(bodies); k++)
        same_in(bodies[k / 4], turns[k % 4]);
}

static uint32_t drawn(uint64_t seed, uint32_t *at, uint32_t n)
{
    return (uint32_t)(base_splitmix(seed, (*at)++) >> 33) % n;
}

/* A loop drawn at random over `n` values, all of which are looked at after it; %r9 and below are the
 * loop's own. Some of the operations have no machine code (every value is in the frame then), some loads
 * lie apart. */
static void draw_loop(struct buf *t, uint64_t seed, uint32_t n)
{
    static const char *const how[] = { "add.u32 %%r%u, %%r%u, %%r%u", "xor.b32 %%r%u, %%r%u, %%r%u",
                                       "min.s32 %%r%u, %%r%u, %%r%u", "add.f32 %%r%u, %%r%u, %%r%u",
                                       "mul.f32 %%r%u, %%r%u, %%r%u", "sub.f32 %%r%u, %%r%u, %%r%u" };
    static const char *const three[] = { "mad.lo.u32 %%r%u, %%r%u, %%r%u, %%r%u",
                                         "fma.rn.f32 %%r%u, %%r%u, %%r%u, %%r%u" };
    static const char *const one[] = { "mov.b32 %%r%u, %%r%u", "sqrt.rn.f32 %%r%u, %%r%u",
                                       "popc.b32 %%r%u, %%r%u", "cvt.rn.f32.s32 %%r%u, %%r%u" };
    uint32_t at = 0;
    buf_puts(t, SIM_HEAD ENTRY "mov.u32 %r2, 0;\n");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(t, "mad.lo.u32 %%r%u, %%r1, %u, %u;\n", 10 + i, drawn(seed, &at, 4),
                   drawn(seed, &at, 1u << 30));
    buf_puts(t, "L:\n");
    for (uint32_t i = 0, most = 4 + drawn(seed, &at, 40); i < most; i++) {
        uint32_t kind = drawn(seed, &at, 16), d = 10 + drawn(seed, &at, n), x = 10 + drawn(seed, &at, n),
                 y = 10 + drawn(seed, &at, n), z = 10 + drawn(seed, &at, n);
        if (kind < 8)
            buf_printf(t, how[drawn(seed, &at, ARRAY_LEN(how))], d, x, y);
        else if (kind < 11)
            buf_printf(t, three[drawn(seed, &at, ARRAY_LEN(three))], d, x, y, z);
        else if (kind < 14)
            buf_printf(t, one[seed % 3 ? drawn(seed, &at, 2) : drawn(seed, &at, ARRAY_LEN(one))], d, x);
        else if (kind < 15)
            buf_printf(t, "setp.lt.s32 %%p2, %%r%u, %%r%u; selp.b32 %%r%u, %%r%u, %%r%u, %%p2", x, y, d,
                       y, z);
        else
            buf_printf(t,
                       "and.b32 %%r4, %%r2, %u; mul.lo.u32 %%r4, %%r4, %%r1; mul.wide.u32 %%d6, %%r4, "
                       "4; add.u64 %%d6, %%d6, %%d3; ld.global.u32 %%r%u, [%%d6]",
                       (uint32_t)(seed % 4), d);
        buf_puts(t, ";\n");
    }
    buf_puts(t, "add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r9;\n@%p1 bra L;\n");
    for (uint32_t i = 0; i < n; i++)
        buf_printf(t, "st.global.u32 [%%d3+%u], %%r%u;\n", 32768 + 512 * i, 10 + i);
    buf_puts(t, "ret;\n}\n");
}

static void drawn_loops(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 120; seed++) {
        struct buf t = { 0 };
        draw_loop(&t, seed, 2 + (uint32_t)seed % 24);
        for (uint32_t turns = 1; turns <= 6; turns += turns < 3 ? 1 : 3)
            same_in(t.s, turns);
        buf_free(&t);
    }
}

/* What lies outside: reported as by the bodies, wherever in a run it is. */
static void faults(void **state)
{
    (void)state;
    const char *text =
        KERNEL("mov.u32 %r2, 0; mov.u64 %d6, %d3;\nL:\nld.global.u32 %r3, [%d6]; ld.global.u32 %r4, "
               "[%d6+4]; add.u32 %r5, %r3, %r4; add.u64 %d6, %d6, 4096; add.u32 %r2, %r2, 1; "
               "setp.lt.u32 %p1, %r2, %r9;\n@%p1 bra L;\nst.global.u32 [%d3], %r5;\n");
    struct buf said[2] = { { 0 } };
    for (unsigned i = 0; i < 2; i++) {
        struct sim_case c;
        sim_case_open_with(&c, text, "k", 65536, i ? 3 : 0);
        memcpy(c.params + 8, &(uint32_t){ 100 }, 4);
        assert_int_equal(sim_case_run(&c), ST_DEVICE);
        diags_print(&c.ds, &said[i]);
        sim_case_close(&c);
    }
    assert_non_null(strstr(said[0].s, "out-of-bounds"));
    assert_string_equal(said[0].s, said[1].s);
    for (unsigned i = 0; i < 2; i++)
        buf_free(&said[i]);
}

static void demo_kernels(void **state)
{
    (void)state;
    static const char *const names[] = { "gemm",      "conv2d",           "stencil3d", "bfs",
                                         "histogram", "softcache_stream", "syrk" };
    for (size_t k = 0; k < ARRAY_LEN(names); k++) {
        struct sim_stats s[2];
        uint8_t *bytes[JOB_ARGS] = { 0 };
        for (unsigned i = 0; i < 2; i++) {
            struct job j;
            struct diags ds = { 0 };
            job_open(&j, names[k], "default", "hopper-h200");
            struct sim_program *bare = NULL;
            assert_int_equal(
                sim_load_lanes(j.m, str_of(j.l->kernel), NULL, &j.preset, j.mem, 3, &bare, &ds), ST_OK);
            struct sim_launch l = job_launch(&j);
            l.functional = true;
            assert_int_equal(sim_run(i ? bare : j.prog, &l, &s[i], &ds), ST_OK);
            for (size_t a = 0; a < j.l->nargs && a < JOB_ARGS; a++) {
                if (!j.l->args[a].output)
                    continue;
                uint64_t n = j.data.buffers[a].n;
                const uint8_t *now = sim_mem_host(j.mem, j.addr[a], n);
                if (i)
                    assert_memory_equal(now, bytes[a], n);
                else
                    memcpy(bytes[a] = test_malloc(n), now, n);
                if (i)
                    test_free(bytes[a]);
            }
            sim_unload(bare);
            job_close(&j);
        }
        alike(&s[0], &s[1]);
        for (unsigned i = 0; i < 2; i++)
            sim_stats_free(&s[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(same_as_bodies), cmocka_unit_test(drawn_loops),
                                        cmocka_unit_test(faults), cmocka_unit_test(demo_kernels) };
    return cmocka_run_group_tests_name("sim native: machine code for runs", tests, NULL, NULL);
}
