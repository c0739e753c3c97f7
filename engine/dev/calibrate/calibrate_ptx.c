/* Text of the microbenchmarks. Loads that are timed are chained through their
 * addresses, and the last value is stored before the clock is read again, so that
 * no assembler can move or drop them. */
#include "engine/dev/calibrate/calibrate_int.h"

#include <string.h>

static void head(struct buf *t)
{
    buf_puts(t, ".version 7.0\n.target sm_70\n.address_size 64\n"
                ".visible .entry k(.param .u64 buf, .param .u64 out, .param .u32 a, .param .u32 b, "
                ".param .u32 c)\n{\n"
                ".reg .pred %p<4>;\n.reg .b32 %r<40>;\n.reg .b64 %rd<40>;\n.reg .f32 %f<24>;\n.reg .f64 "
                "%fd<16>;\n"
                "ld.param.u64 %rd1, [buf];\nld.param.u64 %rd2, [out];\n"
                "ld.param.u32 %r1, [a];\nld.param.u32 %r2, [b];\nld.param.u32 %r3, [c];\n");
}

static void tail(struct buf *t)
{
    buf_puts(t, "sub.s64 %rd9, %rd8, %rd7;\nst.global.u64 [%rd2], %rd9;\nret;\n}\n");
}

void calibrate_ring(struct buf *t, const char *op, uint32_t from)
{
    head(t);
    buf_printf(t, "add.s64 %%rd1, %%rd1, %u;\n", from);
    buf_puts(t, "mov.u32 %r4, 0;\nmov.u64 %rd3, %rd1;\n"
                "BUILD:\nadd.s32 %r4, %r4, 1;\ncvt.u64.u32 %rd4, %r1;\nadd.s64 %rd5, %rd3, "
                "%rd4;\nsetp.lt.u32 %p1, %r4, %r2;\n"
                "selp.b64 %rd6, %rd5, %rd1, %p1;\nst.global.u64 [%rd3], %rd6;\nmov.u64 %rd3, "
                "%rd6;\n@%p1 bra BUILD;\n"
                "membar.gl;\nmov.u32 %r4, 0;\n");
    buf_printf(t,
               "WARM:\nld.global%s.u64 %%rd3, [%%rd3];\nadd.s32 %%r4, %%r4, 1;\nsetp.lt.u32 %%p1, %%r4, "
               "%%r2;\n@%%p1 bra WARM;\n",
               op);
    buf_puts(t, "st.global.u64 [%rd2+8], %rd3;\nmov.u32 %r4, 0;\nmov.u64 %rd7, "
                "%clock64;\nSTEP:\n.pragma \"nounroll\";\n");
    for (int i = 0; i < 16; i++)
        buf_printf(t, "ld.global%s.u64 %%rd3, [%%rd3];\n", op);
    buf_puts(t, "add.s32 %r4, %r4, 16;\nsetp.lt.u32 %p1, %r4, %r3;\n@%p1 bra STEP;\n"
                "st.global.u64 [%rd2+8], %rd3;\nmov.u64 %rd8, %clock64;\n");
    tail(t);
}

void calibrate_shared(struct buf *t)
{
    buf_puts(t, ".version 7.0\n.target sm_70\n.address_size 64\n");
    buf_puts(t,
             ".visible .entry k(.param .u64 buf, .param .u64 out, .param .u32 a, .param .u32 b, .param "
             ".u32 c)\n{\n"
             ".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<10>;\n.shared .align 16 .b32 cell[4];\n"
             "ld.param.u64 %rd2, [out];\nld.param.u32 %r3, [c];\nmov.u32 %r4, cell;\nst.shared.u32 "
             "[cell], %r4;\n"
             "bar.sync 0;\nmov.u32 %r5, 0;\nmov.u64 %rd7, %clock64;\nSTEP:\n.pragma \"nounroll\";\n");
    for (int i = 0; i < 16; i++)
        buf_puts(t, "ld.volatile.shared.u32 %r4, [%r4];\n");
    buf_puts(t, "add.s32 %r5, %r5, 16;\nsetp.lt.u32 %p1, %r5, %r3;\n@%p1 bra STEP;\nst.global.u32 "
                "[%rd2+8], %r4;\nmov.u64 %rd8, %clock64;\n");
    tail(t);
}

void calibrate_walk(struct buf *t, const char *op)
{
    head(t);
    buf_puts(
        t, "mov.u32 %r4, 0;\nmov.u64 %rd3, 0;\nmov.u64 %rd7, %clock64;\nSTEP:\n.pragma \"nounroll\";\n");
    for (int i = 0; i < 16; i++)
        buf_printf(t, "add.s64 %%rd4, %%rd1, %%rd3;\nld.global%s.u64 %%rd3, [%%rd4];\n", op);
    buf_puts(t, "add.s32 %r4, %r4, 16;\nsetp.lt.u32 %p1, %r4, %r3;\n@%p1 bra STEP;\n"
                "st.global.u64 [%rd2+8], %rd3;\nmov.u64 %rd8, %clock64;\n");
    tail(t);
}

void calibrate_pair(struct buf *t, const char *op)
{
    head(t);
    buf_printf(
        t,
        "ld.global%s.u64 %%rd3, [%%rd1];\nand.b64 %%rd3, %%rd3, 7;\nadd.s64 %%rd4, %%rd1, "
        "%%rd3;\ncvt.u64.u32 %%rd5, %%r1;\n"
        "add.s64 %%rd4, %%rd4, %%rd5;\nst.global.u64 [%%rd2+8], %%rd4;\nmov.u64 %%rd7, %%clock64;\n"
        "ld.global%s.u64 %%rd6, [%%rd4];\nst.global.u64 [%%rd2+8], %%rd6;\nmov.u64 %%rd8, %%clock64;\n",
        op, op);
    tail(t);
}

void calibrate_stream(struct buf *t, const char *op, unsigned apart)
{
    head(t);
    buf_puts(
        t,
        "mov.u32 %r4, %ctaid.x;\nmov.u32 %r5, %ntid.x;\nmov.u32 %r6, %tid.x;\nmov.u32 %r7, %nctaid.x;\n"
        "mad.lo.s32 %r8, %r4, %r5, %r6;\nmul.lo.s32 %r9, %r5, %r7;\nsub.s32 %r10, %r1, 1;\nmov.u32 "
        "%r11, 0;\nmov.f32 %f1, 0f00000000;\n"
        "STEP:\n.pragma \"nounroll\";\n");
    for (int i = 0; i < 4; i++)
        buf_printf(
            t,
            "and.b32 %%r12, %%r8, %%r10;\nmul.wide.u32 %%rd3, %%r12, %u;\nadd.s64 %%rd4, %%rd1, %%rd3;\n"
            "ld.global%s.v4.f32 {%%f%d, %%f%d, %%f%d, %%f%d}, [%%rd4];\nadd.s32 %%r8, %%r8, %%r9;\n",
            apart, op, 4 + i * 4, 5 + i * 4, 6 + i * 4, 7 + i * 4);
    for (int i = 0; i < 16; i++)
        buf_printf(t, "add.f32 %%f1, %%f1, %%f%d;\n", 4 + i);
    buf_puts(t, "add.s32 %r11, %r11, 4;\nsetp.lt.u32 %p1, %r11, %r2;\n@%p1 bra STEP;\n"
                "setp.eq.f32 %p2, %f1, 0f4B18967F;\n@%p2 st.global.f32 [%rd2+16], %f1;\nret;\n}\n");
}

/* inst with @d and @s replaced by registers of chain k. */
static void put_inst(struct buf *t, const char *inst, const char *prefix, int k)
{
    for (const char *s = inst; *s; s++) {
        if (*s != '@')
            buf_put(t, s, 1);
        else
            buf_printf(t, "%%%s%d", prefix, *++s == 'd' ? 4 + k : 9);
    }
    buf_puts(t, "\n");
}

void calibrate_rate(struct buf *t, const char *type, const char *inst, bool chain, const char *setup)
{
    const char *prefix = strcmp(type, "f32") == 0   ? "f"
                         : strcmp(type, "f64") == 0 ? "fd"
                         : strcmp(type, "b64") == 0 ? "rd"
                                                    : "r";
    head(t);
    buf_puts(t, "mov.u32 %r20, %tid.x;\n");
    for (int k = 4; k < 10; k++) {
        buf_printf(t, setup, prefix, k);
        buf_puts(t, "\n");
    }
    /* Both clock reads are tied down by stores: left free, an assembler sinks the first to where it is
     * used. */
    buf_puts(t, "mul.wide.u32 %rd30, %r20, 64;\nadd.s64 %rd31, %rd1, %rd30;\nmov.u32 %r30, 0;\nbar.sync "
                "0;\nmov.u64 %rd27, %clock64;\n"
                "st.global.u64 [%rd31], %rd27;\nSTEP:\n.pragma \"nounroll\";\n");
    for (int i = 0; i < 256; i++)
        put_inst(t, inst, prefix, chain ? 0 : i % 4);
    buf_puts(t, "add.s32 %r30, %r30, 1;\nsetp.lt.u32 %p1, %r30, %r3;\n@%p1 bra STEP;\n");
    /* its own place: overwritten, a chain would be dead code */
    for (int k = 4; k < 8; k++)
        buf_printf(t, "st.global.%s [%%rd31+%d], %%%s%d;\n", type, 8 * (k - 3), prefix, k);
    buf_puts(t, "bar.sync 0;\nmov.u64 %rd28, %clock64;\nsetp.eq.u32 %p2, %r20, 0;\nsub.s64 %rd29, "
                "%rd28, %rd27;\n"
                "@%p2 st.global.u64 [%rd2], %rd29;\nret;\n}\n");
}
