/* Operations with answers worked out by hand from the ISA, approximate functions against the C
 * library within the errors the ISA allows, matrix instructions against plain loops. */
#include "tests/unit/sim_support.h"

#include <math.h>

#define HEAD100 ".version 8.8\n.target sm_100a\n.address_size 64\n"
#define REGS                                                                                          \
    ".reg .b32 %r<20>; .reg .b64 %d<20>; .reg .b16 %h<10>; .reg .f32 %f<40>; .reg .f64 %e<10>; .reg " \
    ".pred %p<10>;\n"

/* %r1 %r2 %r3 hold a, b, c; %f1 %f2 %f3 and %h1 %h2 %h3 the same bits; the result goes to %r0. */
struct vector {
    const char *op;
    uint32_t a, b, c, want;
};
static const struct vector vectors[] = {
    /* 1, 500 -> 448 */
    { "cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2; cvt.u32.u16 %r0, %h0;", 0x3f800000, 0x43fa0000, 0,
      0x387e },
    /* -0.5, 2^-9 */
    { "cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2; cvt.u32.u16 %r0, %h0;", 0xbf000000, 0x3b000000, 0,
      0xb001 },
    /* NaN, -inf */
    { "cvt.rn.satfinite.e4m3x2.f32 %h0, %f1, %f2; cvt.u32.u16 %r0, %h0;", 0x7fc00000, 0xff800000, 0,
      0x7ffe },
    { "cvt.rn.satfinite.relu.e4m3x2.f32 %h0, %f1, %f2; cvt.u32.u16 %r0, %h0;", 0xbf000000, 0x3f800000, 0,
      0x0038 },
    /* 1, 1e6 -> 57344 */
    { "cvt.rn.satfinite.e5m2x2.f32 %h0, %f1, %f2; cvt.u32.u16 %r0, %h0;", 0x3f800000, 0x49742400, 0,
      0x3c7b },
    { "cvt.rn.f16x2.e4m3x2 %r0, %h1;", 0x387e, 0, 0, 0x3c005f00 },
    { "cvt.rn.f16x2.e5m2x2 %r0, %h1;", 0x3cfb, 0, 0, 0x3c00fb00 },
    /* 512 -> 448 */
    { "cvt.rn.satfinite.e4m3x2.f16x2 %h0, %r1; cvt.u32.u16 %r0, %h0;", 0x3c006000, 0, 0, 0x387e },
    { "cvt.rna.tf32.f32 %r0, %f1;", 0x3f801000, 0, 0, 0x3f802000 },
    { "cvt.rna.tf32.f32 %r0, %f1;", 0xbf800fff, 0, 0, 0xbf800000 },
    { "cvt.rn.relu.f16.f32 %h0, %f1; cvt.u32.u16 %r0, %h0;", 0xbf800000, 0, 0, 0 },
    { "cvt.rn.bf16x2.f32 %r0, %f1, %f2;", 0x3f800000, 0x40000000, 0, 0x3f804000 },
    { "cvt.rz.f16x2.f32 %r0, %f1, %f2;", 0x3f801fff, 0x477fffff, 0, 0x3c007bff },
    /* just above half the least subnormal */
    { "cvt.rn.f16.f32 %h0, %f1; cvt.u32.u16 %r0, %h0;", 0x33000001, 0, 0, 0x0001 },
    /* 65520 rounds to infinity */
    { "cvt.rn.f16.f32 %h0, %f1; cvt.u32.u16 %r0, %h0;", 0x477ff000, 0, 0, 0x7c00 },
    { "cvt.f32.bf16 %f0, %h1; mov.b32 %r0, %f0;", 0xc0a0, 0, 0, 0xc0a00000 },
    { "cvt.pack.sat.u8.s32.b32 %r0, %r1, %r2, %r3;", 300, 0xfffffffb, 0x1234, 0x1234ff00 },
    { "cvt.pack.sat.s16.s32 %r0, %r1, %r2;", 40000, 0xffff0000, 0, 0x7fff8000 },
    { "min.f16 %h0, %h1, %h2; cvt.u32.u16 %r0, %h0;", 0x7e00, 0x3c00, 0, 0x3c00 },
    { "min.NaN.f16 %h0, %h1, %h2; cvt.u32.u16 %r0, %h0;", 0x7e00, 0x3c00, 0, 0x7fff },
    { "max.f16x2 %r0, %r1, %r2;", 0x3c00bc00, 0x4000fc00, 0, 0x4000bc00 },
    /* -0 below +0 */
    { "min.bf16x2 %r0, %r1, %r2;", 0x3f800000, 0xbf808000, 0, 0xbf808000 },
    { "max.NaN.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0x7fc00001, 0x3f800000, 0, 0x7fffffff },
    { "min.xorsign.abs.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0xc0000000, 0x40400000, 0, 0xc0000000 },
    { "min.relu.s32 %r0, %r1, %r2;", 0xfffffffb, 3, 0, 0 },
    { "max.s16x2 %r0, %r1, %r2;", 0x8000ffff, 0x00010001, 0, 0x00010001 },
    { "min.relu.s16x2 %r0, %r1, %r2;", 0x8000000f, 0x00010002, 0, 0x00000002 },
    { "add.u16x2 %r0, %r1, %r2;", 0xffff0001, 0x00010002, 0, 0x00000003 },
    { "fma.rn.relu.f16 %h0, %h1, %h2, %h3; cvt.u32.u16 %r0, %h0;", 0xbc00, 0x3c00, 0x3800, 0 },
    { "fma.rn.sat.f16x2 %r0, %r1, %r2, %r3;", 0x40003c00, 0x40003800, 0, 0x3c003800 },
    { "add.sat.f16 %h0, %h1, %h2; cvt.u32.u16 %r0, %h0;", 0x3c00, 0x3c00, 0, 0x3c00 },
    /* 1 + 2^-30, -1 - 2^-30 and 1 - 1 rounded down, up and to zero */
    { "fma.rm.f32 %f0, %f1, %f2, %f3; mov.b32 %r0, %f0;", 0x3f800000, 0x3f800000, 0x30800000,
      0x3f800000 },
    { "fma.rp.f32 %f0, %f1, %f2, %f3; mov.b32 %r0, %f0;", 0x3f800000, 0x3f800000, 0x30800000,
      0x3f800001 },
    { "fma.rm.f32 %f0, %f1, %f2, %f3; mov.b32 %r0, %f0;", 0xbf800000, 0x3f800000, 0xb0800000,
      0xbf800001 },
    { "fma.rz.f32 %f0, %f1, %f2, %f3; mov.b32 %r0, %f0;", 0xbf800000, 0x3f800000, 0xb0800000,
      0xbf800000 },
    { "fma.rm.f32 %f0, %f1, %f2, %f3; mov.b32 %r0, %f0;", 0x3f800000, 0x3f800000, 0xbf800000,
      0x80000000 },
    { "fma.rz.f32 %f0, %f1, %f2, %f3; mov.b32 %r0, %f0;", 0x3f800000, 0x3f800000, 0xbf800000, 0 },
    { "add.rm.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0x00000000, 0x00000000, 0, 0 },
    { "add.rp.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0x80000000, 0x80000000, 0, 0x80000000 },
    /* beyond the greatest number, and below the least */
    { "add.rm.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0x7f7fffff, 0x7f7fffff, 0, 0x7f7fffff },
    { "add.rz.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0xff7fffff, 0xff7fffff, 0, 0xff7fffff },
    { "sub.rm.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0xff7fffff, 0x7f7fffff, 0, 0xff800000 },
    { "fma.rm.f32 %f0, %f1, %f2, %f3; mov.b32 %r0, %f0;", 0x80000001, 0x00000001, 0x80000000,
      0x80000001 },
    { "fma.rm.f32 %f0, %f1, %f2, %f3; mov.b32 %r0, %f0;", 0x00000001, 0x00000001, 0x00000000, 0 },
    { "cvt.sat.f32.f32 %f0, %f1; mov.b32 %r0, %f0;", 0x7fc00000, 0, 0, 0 },
    { "cvt.sat.f32.f32 %f0, %f1; mov.b32 %r0, %f0;", 0x80000000, 0, 0, 0 },
    { "cvt.sat.f32.f32 %f0, %f1; mov.b32 %r0, %f0;", 0x7f800000, 0, 0, 0x3f800000 },
    { "add.sat.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0x3f400000, 0x3f000000, 0, 0x3f800000 },
    { "fma.rn.sat.f32 %f0, %f1, %f2, %f3; mov.b32 %r0, %f0;", 0xbf800000, 0x3f800000, 0x3f000000, 0 },
    /* 2^3 */
    { "ex2.approx.f16 %h0, %h1; cvt.u32.u16 %r0, %h0;", 0x4200, 0, 0, 0x4800 },
    { "ex2.approx.ftz.bf16x2 %r0, %r1;", 0x3f800000, 0, 0, 0x40003f80 },
    { "tanh.approx.f16 %h0, %h1; cvt.u32.u16 %r0, %h0;", 0x7c00, 0, 0, 0x3c00 },
    { "testp.finite.f32 %p1, %f1; selp.u32 %r0, 1, 0, %p1;", 0x7f7fffff, 0, 0, 1 },
    { "testp.infinite.f32 %p1, %f1; selp.u32 %r0, 1, 0, %p1;", 0xff800000, 0, 0, 1 },
    { "testp.notanumber.f32 %p1, %f1; selp.u32 %r0, 1, 0, %p1;", 0x7f800001, 0, 0, 1 },
    { "testp.normal.f32 %p1, %f1; selp.u32 %r0, 1, 0, %p1;", 0x007fffff, 0, 0, 0 },
    /* a zero is normal */
    { "testp.normal.f32 %p1, %f1; selp.u32 %r0, 1, 0, %p1;", 0x80000000, 0, 0, 1 },
    /* both are zero */
    { "set.eq.ftz.f16.f16 %h0, %h1, %h2; cvt.u32.u16 %r0, %h0;", 0x8001, 0x03ff, 0, 0x3c00 },
    { "set.eq.f16.f16 %h0, %h1, %h2; cvt.u32.u16 %r0, %h0;", 0x8001, 0x03ff, 0, 0 },
    /* what the ISA leaves open, as an H200 has it */
    { "rem.u32 %r0, %r1, %r2;", 7, 0, 0, 0xffffffff },
    { "rem.s32 %r0, %r1, %r2;", 7, 0, 0, 0xffffffff },
    { "abs.f32 %f0, %f1; mov.b32 %r0, %f0;", 0xffc00001, 0, 0, 0x7fffffff },
    { "abs.bf16x2 %r0, %r1;", 0xff818001, 0, 0, 0x7fff0001 },
    { "cvt.rna.tf32.f32 %r0, %f1;", 0xffffffff, 0, 0, 0xffffe000 },
    { "cvt.f32.bf16 %f0, %h1; mov.b32 %r0, %f0;", 0xffff, 0, 0, 0xffff0000 },
    { "mov.b64 %e1, {%r1, %r2}; cvt.rn.f32.f64 %f0, %e1; mov.b32 %r0, %f0;", 0x40000000, 0x7fffffff, 0,
      0x7ffffffa },
    { "testp.subnormal.f32 %p1, %f1; selp.u32 %r0, 1, 0, %p1;", 0x807fffff, 0, 0, 1 },
    { "testp.number.f32 %p1, %f1; selp.u32 %r0, 1, 0, %p1;", 0, 0, 0, 1 },
    { "fns.b32 %r0, %r1, %r2, %r3;", 0x0000f0f0, 4, 2, 5 },
    { "fns.b32 %r0, %r1, %r2, %r3;", 0x0000f0f0, 12, 0xffffffff, 12 },
    { "fns.b32 %r0, %r1, %r2, %r3;", 0x0000f0f0, 12, 0xfffffffe, 7 },
    { "fns.b32 %r0, %r1, %r2, %r3;", 0x0000f0f0, 0, 0, 0xffffffff },
    { "prmt.b32.f4e %r0, %r1, %r2, %r3;", 0x33221100, 0x77665544, 1, 0x44332211 },
    { "prmt.b32.b4e %r0, %r1, %r2, %r3;", 0x33221100, 0x77665544, 1, 0x66770011 },
    { "prmt.b32.rc8 %r0, %r1, %r2, %r3;", 0x33221100, 0, 2, 0x22222222 },
    { "prmt.b32.ecl %r0, %r1, %r2, %r3;", 0x33221100, 0, 1, 0x33221111 },
    { "prmt.b32.ecr %r0, %r1, %r2, %r3;", 0x33221100, 0, 2, 0x22221100 },
    { "prmt.b32.rc16 %r0, %r1, %r2, %r3;", 0x33221100, 0, 3, 0x33223322 },
    { "vabsdiff4.u32.u32.u32.add %r0, %r1, %r2, %r3;", 0x01020304, 0x04030201, 100, 108 },
    { "vadd4.u32.u32.u32.sat %r0, %r1, %r2, %r3;", 0xff01807f, 0x01020304, 0, 0xff038383 },
    { "vavrg4.u32.u32.u32 %r0, %r1, %r2, %r3;", 0x01020304, 0x02020308, 0, 0x02020306 },
    { "vsub2.s32.s32.s32 %r0, %r1, %r2, %r3;", 0x00010005, 0x00020003, 0, 0xffff0002 },
    { "vset4.u32.u32.lt %r0, %r1, %r2, %r3;", 0x01020304, 0x02020208, 0, 0x01000001 },
    { "vadd.s32.u32.s32.sat %r0, %r1.b3, %r2.h0;", 0xff000000, 0x0000ffff, 0, 254 },
    { "vadd.u32.u32.u32.add %r0, %r1.h1, %r2.b0, %r3;", 0x00050000, 7, 100, 112 },
    { "vabsdiff.u32.s32.s32 %r0.b1, %r1, %r2, %r3;", 3, 10, 0x11223344, 0x11220744 },
    { "vshl.u32.u32.u32.wrap %r0, %r1, %r2;", 3, 33, 0, 6 },
    { "vshr.s32.s32.u32.clamp %r0, %r1, %r2;", 0x80000000, 40, 0, 0xffffffff },
    { "vmin.s32.s32.s32.max %r0, %r1, %r2, %r3;", 0xfffffff0, 5, 0xffffff00, 0xfffffff0 },
    { "vset.s32.u32.lt %r0, %r1, %r2;", 0xffffffff, 0, 0, 1 },
    { "vmad.s32.s32.s32.shr7 %r0, %r1, %r2, %r3;", 256, 256, 128, 513 },
    { "vmad.u32.u32.u32.po %r0, %r1.h0, %r2, %r3;", 3, 4, 5, 18 },
    { "set.eq.f16x2.f16x2 %r0, %r1, %r2;", 0x3c003c00, 0x40003c00, 0, 0x00003c00 },
    { "setp.lt.f16x2 %p1|%p2, %r1, %r2; selp.u32 %r0, 1, 0, %p1; selp.u32 %r5, 2, 0, %p2; add.u32 %r0, "
      "%r0, %r5;",
      0x40003c00, 0x3c004000, 0, 1 },
    { "setp.geu.and.bf16 %p1, %h1, %h2, !%p9; selp.u32 %r0, 1, 0, %p1;", 0x7fc0, 0x3f80, 0, 1 },
    { "lop3.or.b32 %r0|%p1, %r1, %r2, %r3, 0x80, %p9; selp.u32 %r5, 0x100, 0, %p1; or.b32 %r0, %r0, "
      "%r5;",
      6, 3, 2, 0x102 },
    { "cvta.shared.u64 %d1, %d2; isspacep.shared %p1, %d1; isspacep.global %p2, %d1; selp.u32 %r0, 1, "
      "0, %p1; selp.u32 %r5, 2, 0, %p2; add.u32 %r0, %r0, %r5;",
      0, 0, 0, 1 },
    { "mapa.shared::cluster.u32 %r0, %r1, %r2; getctarank.shared::cluster.u32 %r5, %r0; and.b32 %r0, "
      "%r0, 0xffff; add.u32 %r0, %r0, %r5;",
      64, 0, 0, 64 },
    { "vadd2.s32.s32.s32 %r0.h10, %r1.h02, %r2.h13, %r3;", 0x00020001, 0x00200010, 0x77777777,
      0x00030030 },
    { "vmax2.u32.u32.u32 %r0.h1, %r1.h30, %r2.h11, %r3;", 0x00050001, 0x00200010, 0x12345678,
      0x00205678 },
    { "vadd4.u32.u32.u32 %r0.b20, %r1.b3176, %r2.b0123, %r3;", 0x04030201, 0x40302010, 0xaabbccdd,
      0xaa04cc34 },
    { "vsub4.s32.s32.s32.add %r0.b3, %r1.b0000, %r2.b7777, %r3;", 0x04030201, 0x40302010, 1000, 937 },
    { "vset2.u32.u32.lt %r0.h0, %r1, %r2.h23, %r3;", 0x00050001, 0x00200010, 0x12345678, 0x12340001 },
    { "mov.v2.u32 {%r6, %r7}, {%r2, %r1}; sub.u32 %r0, %r6, %r7;", 5, 12, 0, 7 },
    { "sad.u16 %h0, %h1, %h2, %h3; cvt.u32.u16 %r0, %h0;", 5, 65000, 10, 65005 },
    /* %d3 = 2^64 - 1 */
    { "cvt.rn.f32.u64 %f0, %d3; mov.b32 %r0, %f0;", 0, 0, 0, 0x5f800000 },
    { "cvt.rzi.s32.f32 %r0, %f1;", 0x7fc00000, 0, 0, 0 },
    { "cvt.rzi.u32.f32 %r0, %f1;", 0xbf800000, 0, 0, 0 },
    { "rcp.rn.f32 %f0, %f1; mov.b32 %r0, %f0;", 0x80000000, 0, 0, 0xff800000 },
    { "sub.rm.f32 %f0, %f1, %f1; mov.b32 %r0, %f0;", 0x3f800000, 0, 0, 0x80000000 },
    { "neg.f16x2 %r0, %r1;", 0x3c008000, 0, 0, 0xbc000000 },
    { "neg.bf16x2 %r0, %r1;", 0x3f800000, 0, 0, 0xbf808000 },
    /* both are zero */
    { "setp.lt.ftz.f16 %p1, %h1, %h2; selp.u32 %r0, 1, 0, %p1;", 0x0001, 0x0002, 0, 0 },
    { "setp.le.ftz.f16 %p1, %h1, %h2; selp.u32 %r0, 1, 0, %p1;", 0x0002, 0x8001, 0, 1 },
    { "setp.ne.ftz.f16 %p1, %h1, %h2; selp.u32 %r0, 1, 0, %p1;", 0x0002, 0x8001, 0, 0 },
    { "setp.num.ftz.f16 %p1, %h1, %h2; selp.u32 %r0, 1, 0, %p1;", 0x0002, 0x7e00, 0, 0 },
    /* 12 / 4 */
    { "div.full.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0x41400000, 0x40800000, 0, 0x40400000 },
    { "div.full.ftz.f32 %f0, %f1, %f2; mov.b32 %r0, %f0;", 0x80000001, 0x40800000, 0, 0x80000000 },
    { "mad.rn.ftz.f32 %f0, %f1, %f2, %f3; mov.b32 %r0, %f0;", 0x00000001, 0x7f000000, 0x3f800000,
      0x3f800000 },
    { "cvt.u64.u8 %d1, %h1; cvt.u32.u64 %r0, %d1;", 0x1234, 0, 0, 0x34 },
    { "cvt.u64.u16 %d1, %h1; cvt.u32.u64 %r0, %d1;", 0xffff1234, 0, 0, 0x1234 },
    /* narrow loads and stores of 64-bit registers (9.7.9.8: extended, cut) */
    { "st.global.u8 [%d0+8], %d3; ld.global.u32 %r0, [%d0+8];", 0, 0, 0, 0xff },
    { "st.global.u16 [%d0+8], %d3; ld.global.u32 %r0, [%d0+8];", 0, 0, 0, 0xffff },
    { "st.global.u32 [%d0+8], %d3; ld.global.u64 %d1, [%d0+8]; shr.u64 %d1, %d1, 16; cvt.u32.u64 %r0, "
      "%d1;",
      0, 0, 0, 0xffff },
    { "st.global.u32 [%d0+8], %r1; ld.global.s8 %d1, [%d0+8]; shr.u64 %d1, %d1, 4; cvt.u32.u64 %r0, "
      "%d1;",
      0x1280, 0, 0, 0xfffffff8 },
    { "st.global.u32 [%d0+8], %r1; ld.global.s16 %d1, [%d0+8]; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r0, "
      "%d1;",
      0x18000, 0, 0, 0xffffffff },
    { "st.global.u32 [%d0+8], %r1; ld.global.u16 %d1, [%d0+8]; shr.u64 %d1, %d1, 4; cvt.u32.u64 %r0, "
      "%d1;",
      0x18000, 0, 0, 0x800 },
};
static const struct vector vectors100[] = {
    /* 4, 2: two to the byte */
    { "{ .reg .b8 q; cvt.rn.satfinite.e2m1x2.f32 q, %f1, %f2; cvt.u32.u8 %r0, q; }", 0x40800000,
      0x40000000, 0, 0x64 },
    /* -0.5, 100 -> 6 */
    { "{ .reg .b8 q; cvt.rn.satfinite.e2m1x2.f32 q, %f1, %f2; cvt.u32.u8 %r0, q; }", 0xbf000000,
      0x42c80000, 0, 0x97 },
    { "{ .reg .b8 q; cvt.u8.u32 q, %r1; cvt.rn.f16x2.e2m1x2 %r0, q; }", 0x96, 0, 0, 0xb8004400 },
    /* 1, -100 -> -7.5 */
    { "cvt.rn.satfinite.e2m3x2.f32 %h0, %f1, %f2; cvt.u32.u16 %r0, %h0;", 0x3f800000, 0xc2c80000, 0,
      0x083f },
    { "cvt.rn.f16x2.e3m2x2 %r0, %h1;", 0x0c2c, 0, 0, 0x3c00bc00 },
    /* 1.5 -> 2, 1 */
    { "cvt.rp.satfinite.ue8m0x2.f32 %h0, %f1, %f2; cvt.u32.u16 %r0, %h0;", 0x3fc00000, 0x3f800000, 0,
      0x807f },
    { "cvt.rn.bf16x2.ue8m0x2 %r0, %h1;", 0x807f, 0, 0, 0x40003f80 },
    { "max.f32 %f0, %f1, %f2, %f3; mov.b32 %r0, %f0;", 0x3f800000, 0xbf800000, 0x40000000, 0x40000000 },
    { "mov.b64 %d1, {%r1, %r2}; add.rn.f32x2 %d1, %d1, %d1; mov.b64 {%r5, %r6}, %d1; add.u32 %r0, %r5, "
      "%r6;",
      0x3f800000, 0, 0, 0x40000000 },
    { "redux.sync.max.abs.f32 %f0, %f1, -1; mov.b32 %r0, %f0;", 0xc0000000, 0, 0, 0x40000000 },
};

/* Whatever the host: its best code and machine code (0), or the lane loops of others (exec_lanes_pick).
 */
#define LANE_KINDS 4
static void run_vectors(const char *head, const struct vector *v, size_t n, unsigned kind)
{
    for (size_t k = 0; k < n; k++) {
        struct sim_case c;
        char text[1400];
        snprintf(text, sizeof text,
                 "%s.visible .entry k(.param .u64 p)\n{\n%sld.param.u64 %%d0, [p]; mov.u32 %%r1, %u; "
                 "mov.u32 %%r2, %u; mov.u32 %%r3, %u;\n"
                 "mov.b32 %%f1, %%r1; mov.b32 %%f2, %%r2; mov.b32 %%f3, %%r3; cvt.u16.u32 %%h1, %%r1; "
                 "cvt.u16.u32 %%h2, %%r2; cvt.u16.u32 %%h3, %%r3; mov.u64 %%d2, 16;\n"
                 "mov.u64 %%d3, -1; mov.pred %%p9, 0;\n%s\nst.global.u32 [%%d0], %%r0;\nret;\n}\n",
                 head, REGS, v[k].a, v[k].b, v[k].c, v[k].op);
        sim_case_open_with(&c, text, "k", 64, kind);
        sim_case_run(&c);
        if (c.st != ST_OK)
            sim_case_print(&c);
        uint32_t got;
        memcpy(&got, c.data, 4);
        if (c.st != ST_OK || got != v[k].want)
            fail_msg("%s (lanes %u) with %08x %08x %08x: %08x, not %08x", v[k].op, kind, v[k].a, v[k].b,
                     v[k].c, got, v[k].want);
        sim_case_close(&c);
    }
}
static void by_hand(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < LANE_KINDS; kind++) {
        run_vectors(SIM_HEAD, vectors, ARRAY_LEN(vectors), kind);
        run_vectors(HEAD100, vectors100, ARRAY_LEN(vectors100), kind);
    }
}

/* ---- approximate functions: 9.7.3, greatest errors stated there ---- */
struct approx {
    const char *op;
    double (*f)(double);
    double lo, hi, abs_error, rel_error;
};
static double reciprocal(double x)
{
    return 1 / x;
}
static double reciprocal_root(double x)
{
    return 1 / sqrt(x);
}
static void approximations(void **state)
{
    (void)state;
    static const struct approx a[] = { { "sin.approx.f32", sin, -3.14159, 3.14159, 0x1p-20, 0 },
                                       { "cos.approx.f32", cos, -3.14159, 3.14159, 0x1p-20, 0 },
                                       { "lg2.approx.f32", log2, 0.001, 100, 0x1p-22, 0x1p-22 },
                                       { "ex2.approx.f32", exp2, -30, 30, 0, 0x1p-22 },
                                       { "tanh.approx.f32", tanh, -9, 9, 0, 0x1p-11 },
                                       { "rcp.approx.f32", reciprocal, 0.01, 1000, 0, 0x1p-23 },
                                       { "rsqrt.approx.f32", reciprocal_root, 0.01, 1000, 0, 0x1.8p-23 },
                                       { "sqrt.approx.f32", sqrt, 0.01, 1000, 0, 0x1p-23 },
                                       { "sin.approx.ftz.f32", sin, -3.14159, 3.14159, 0x1p-20, 0 },
                                       { "cos.approx.ftz.f32", cos, -3.14159, 3.14159, 0x1p-20, 0 },
                                       { "sqrt.approx.ftz.f32", sqrt, 0.01, 1000, 0, 0x1p-23 } };
    for (size_t i = 0; i < LANE_KINDS * ARRAY_LEN(a); i++) {
        size_t k = i / LANE_KINDS;
        struct sim_case c;
        char text[700];
        snprintf(text, sizeof text,
                 SIM_HEAD ".visible .entry k(.param .u64 p)\n{\n%sld.param.u64 %%d0, [p]; mov.u32 %%r1, "
                          "%%ctaid.x; mov.u32 %%r2, %%tid.x; mad.lo.u32 %%r1, %%r1, 32, %%r2;\n"
                          "mul.wide.u32 %%d1, %%r1, 4; add.u64 %%d0, %%d0, %%d1; ld.global.f32 %%f1, "
                          "[%%d0]; %s %%f0, %%f1; st.global.f32 [%%d0], %%f0;\nret;\n}\n",
                 REGS, a[k].op);
        sim_case_open_with(&c, text, "k", 64 * 32 * 4, (unsigned)(i % LANE_KINDS));
        c.l.grid.x = 64;
        float *d = (void *)c.data, in[64 * 32];
        for (int n = 0; n < 64 * 32; n++)
            d[n] = in[n] = (float)(a[k].lo + (a[k].hi - a[k].lo) * n / (64 * 32 - 1));
        sim_case_ok(&c);
        for (int n = 0; n < 64 * 32; n++) {
            double want = a[k].f(in[n]), error = fabs(d[n] - want);
            if (!(error <= a[k].abs_error || error <= a[k].rel_error * fabs(want)))
                fail_msg("%s of %g: %.9g, not %.9g", a[k].op, (double)in[n], (double)d[n], want);
        }
        sim_case_close(&c);
    }
}

/* ---- matrices: fragments filled as the figures of 9.7.14.5 show ---- */
struct shape {
    const char *op;
    int k, bits, kind; /* 0 f16, 1 bf16, 2 tf32, 3 s8, 4 u8, 5 e4m3, 6 e5m2 */
    unsigned na, nb;
};
static uint32_t element(int kind, int v)
{
    static const uint16_t f16[] = { 0x0000, 0x3c00, 0x4000, 0x4200, 0x4400 };
    static const uint8_t e4m3[] = { 0, 0x38, 0x40, 0x44 }, e5m2[] = { 0, 0x3c, 0x40, 0x42 };
    uint32_t m = (uint32_t)(v < 0 ? -v : v), s = v < 0;
    float f = (float)v;
    uint32_t u;
    memcpy(&u, &f, 4);
    switch (kind) {
    case 0: return f16[m] | s << 15;
    case 1: return u >> 16;
    case 2: return u;
    case 5: return e4m3[m] | s << 7;
    case 6: return e5m2[m] | s << 7;
    default: return (uint32_t)v & 0xff;
    }
}
/* Small whole numbers, any of them anywhere. */
static unsigned seed;
static int drawn(unsigned a, unsigned b, unsigned c, unsigned n)
{
    uint64_t z = (((uint64_t)seed << 30 | a << 20 | b << 10 | c) + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 29) * 0xBF58476D1CE4E5B9u;
    return (int)((z >> 40) % n);
}
static int a_at(int row, int k)
{
    return drawn(0, (unsigned)row, (unsigned)k, 7) - 3;
}
static int b_at(int k, int col)
{
    return drawn(1, (unsigned)k, (unsigned)col, 5) - 2;
}
static uint32_t pack(const struct shape *s, int lane, int reg, bool is_a)
{
    int per = 32 / s->bits, g = lane / 4, t = lane % 4;
    uint32_t r = 0;
    for (int e = 0; e < per; e++) {
        int row = is_a ? g + (reg % 2 ? 8 : 0) : t * per + e + reg * 4 * per;
        int col = is_a ? t * per + e + reg / 2 * 4 * per : g;
        int v = is_a ? a_at(row, col) : b_at(row, col);
        r |= element(s->kind, s->kind == 4 ? v + 3 : v) << e * s->bits;
    }
    return r;
}
static bool is_whole(const struct shape *s)
{
    return s->kind == 3 || s->kind == 4;
}
static int product_at(const struct shape *s, int row, int col)
{
    int up = s->kind == 4 ? 3 : 0, sum = 2;
    for (int k = 0; k < s->k; k++)
        sum += (a_at(row, k) + up) * (b_at(k, col) + up);
    return sum;
}
static void products(void **state)
{
    (void)state;
    static const struct shape shapes[] = {
        { "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, 16, 0, 4, 2 },
        { "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 8, 16, 0, 2, 1 },
        { "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, 16, 1, 4, 2 },
        { "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 8, 32, 2, 4, 2 },
        { "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 4, 32, 2, 2, 1 },
        { "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 32, 8, 3, 4, 2 },
        { "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", 16, 8, 3, 2, 1 },
        { "mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32", 16, 8, 4, 2, 1 },
        { "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 8, 16, 1, 2, 1 },
        { "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 32, 8, 5, 4, 2 },
        { "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", 32, 8, 6, 4, 2 },
        { "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.u8.s32", 32, 8, 4, 4, 2 }
    };
    enum { EACH = LANE_KINDS * ARRAY_LEN(shapes) };
    for (size_t n = 0; n < 3 * EACH; n++) {
        const struct shape *s = &shapes[n / LANE_KINDS % ARRAY_LEN(shapes)];
        struct sim_case c;
        seed = (unsigned)(n / EACH);
        struct buf b = { 0 };
        bool ints = is_whole(s);
        const char *cls = ints ? "r" : "f";
        buf_puts(&b, HEAD100 ".visible .entry k(.param .u64 p)\n{\n" REGS
                             "ld.param.u64 %d0, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 64; "
                             "add.u64 %d0, %d0, %d1;\n");
        for (unsigned k = 0; k < s->na + s->nb; k++)
            buf_printf(&b, "ld.global.u32 %%r%u, [%%d0+%u];\n", 2 + k, 4 * k);
        for (unsigned k = 0; k < 4; k++)
            buf_printf(&b, ints ? "mov.u32 %%r%u, %u;\n" : "mov.f32 %%f%u, 0f4%u000000;\n", 10 + k,
                       ints ? 2 : 0);
        buf_printf(&b, "%s {%%%s14, %%%s15, %%%s16, %%%s17}, {", s->op, cls, cls, cls, cls);
        for (unsigned k = 0; k < s->na; k++)
            buf_printf(&b, "%s%%r%u", k ? ", " : "", 2 + k);
        buf_puts(&b, "}, {");
        for (unsigned k = 0; k < s->nb; k++)
            buf_printf(&b, "%s%%r%u", k ? ", " : "", 2 + s->na + k);
        buf_printf(&b, "}, {%%%s10, %%%s11, %%%s12, %%%s13};\n", cls, cls, cls, cls);
        for (unsigned k = 0; k < 4; k++)
            buf_printf(&b, "st.global.%s [%%d0+%u], %%%s%u;\n", ints ? "u32" : "f32", 32 + 4 * k, cls,
                       14 + k);
        buf_puts(&b, "ret;\n}\n");
        sim_case_open_with(&c, b.s, "k", 32 * 64, (unsigned)(n % LANE_KINDS));
        for (int lane = 0; lane < 32; lane++)
            for (unsigned k = 0; k < s->na + s->nb; k++)
                memcpy(c.data + lane * 64 + 4 * k,
                       &(uint32_t){ pack(s, lane, (int)(k < s->na ? k : k - s->na), k < s->na) }, 4);
        sim_case_ok(&c);
        for (int lane = 0; lane < 32; lane++)
            for (int v = 0; v < 4; v++) {
                int row = lane / 4 + (v / 2 ? 8 : 0), col = lane % 4 * 2 + v % 2, got;
                int sum = product_at(s, row, col);
                float f;
                memcpy(&got, c.data + lane * 64 + 32 + 4 * v, 4);
                memcpy(&f, &got, 4);
                if (ints ? got != sum : f != (float)sum)
                    fail_msg("%s: lane %d value %d, unit %zu", s->op, lane, v, n % LANE_KINDS);
            }
        sim_case_close(&c);
        buf_free(&b);
    }
}

/* wgmma of 64 rows and 8 columns, both factors in shared memory: 8 rows of 16 bytes one behind the other, then the other
 * 16 bytes of the same rows, then the next 8 rows. */
#define WGMMA_AT 4096 /* the sums, behind both factors */
static const char wgmma_text[] =
    ".version 8.3\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n%s"
    ".shared .align 128 .b8 s[2560];\nld.param.u64 %%d0, [p]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%d1, "
    "%%r1, 4; add.u64 %%d2, %%d0, %%d1; mov.u32 %%r2, s; shl.b32 %%r3, %%r1, 2; add.u32 %%r3, %%r3, "
    "%%r2;\n"
    "ld.global.u32 %%r4, [%%d2]; st.shared.u32 [%%r3], %%r4; ld.global.u32 %%r4, [%%d2+512]; "
    "st.shared.u32 "
    "[%%r3+512], %%r4; ld.global.u32 %%r4, [%%d2+1024]; st.shared.u32 [%%r3+1024], %%r4;\n"
    "ld.global.u32 %%r4, [%%d2+1536]; st.shared.u32 [%%r3+1536], %%r4; ld.global.u32 %%r4, [%%d2+2048]; "
    "st.shared.u32 [%%r3+2048], %%r4; fence.proxy.async; bar.sync 0;\n"
    "cvt.u64.u32 %%d3, %%r2; shr.u64 %%d3, %%d3, 4; or.b64 %%d3, %%d3, 0x1000080000; add.u64 %%d4, "
    "%%d3, 128;\n"
    "%s\nwgmma.fence.sync.aligned;\nwgmma.mma_async.sync.aligned.m64n8k%d.%s {%s}, %%d3, %%d4, 1%s;\n"
    "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\nmul.wide.u32 %%d1, %%r1, 16; "
    "add.u64 "
    "%%d2, %%d0, %%d1; st.global.v4.b32 [%%d2+4096], {%s};\nret;\n}\n";

static void put_factor(uint8_t *to, const struct shape *s, int rows, bool is_a)
{
    int size = s->bits / 8;
    for (int row = 0; row < rows; row++)
        for (int k = 0; k < s->k; k++) {
            int v = (is_a ? a_at(row, k) : b_at(k, row)) + (s->kind == 4 ? 3 : 0), at = k * size;
            uint32_t bits = element(s->kind, v);
            memcpy(to + row / 8 * 256 + at / 16 * 128 + row % 8 * 16 + at % 16, &bits, (size_t)size);
        }
}

static void one_of_warpgroups(const struct shape *s, unsigned limit)
{
    struct sim_case c;
    char text[3000];
    bool ints = is_whole(s);
    const char *regs = ints ? "%r10, %r11, %r12, %r13" : "%f10, %f11, %f12, %f13";
    snprintf(
        text, sizeof text, wgmma_text, REGS,
        ints ? "mov.u32 %r10, 2; mov.u32 %r11, 2; mov.u32 %r12, 2; mov.u32 %r13, 2;"
             : "mov.f32 %f10, 0f40000000; mov.f32 %f11, 0f40000000; mov.f32 %f12, 0f40000000; mov.f32 "
               "%f13, 0f40000000;",
        s->k, s->op, regs,
        ints            ? ""
        : s->bits == 16 ? ", 1, 1, 0, 0"
                        : ", 1, 1",
        regs);
    sim_case_open_with(&c, text, "k", 8192, limit);
    c.l.block.x = 128;
    put_factor(c.data, s, 64, true);
    put_factor(c.data + 2048, s, 8, false);
    sim_case_ok(&c);
    for (int t = 0; t < 128; t++)
        for (int v = 0; v < 4; v++) {
            int row = t / 32 * 16 + t % 32 / 4 + v / 2 * 8, want = product_at(s, row, t % 4 * 2 + v % 2);
            float f = (float)want;
            if (memcmp(c.data + WGMMA_AT + t * 16 + v * 4, ints ? (void *)&want : (void *)&f, 4) != 0)
                fail_msg("wgmma %s: thread %d value %d, unit %u", s->op, t, v, limit);
        }
    sim_case_close(&c);
}

static void warpgroups(void **state)
{
    static const struct shape shapes[] = {
        { "f32.f16.f16", 16, 16, 0, 0, 0 },  { "f32.bf16.bf16", 16, 16, 1, 0, 0 },
        { "f32.tf32.tf32", 8, 32, 2, 0, 0 }, { "s32.s8.s8", 32, 8, 3, 0, 0 },
        { "s32.u8.u8", 32, 8, 4, 0, 0 },     { "f32.e4m3.e4m3", 32, 8, 5, 0, 0 },
        { "f32.e5m2.e5m2", 32, 8, 6, 0, 0 },
    };
    (void)state;
    for (seed = 0; seed < 3; seed++)
        for (size_t n = 0; n < LANE_KINDS * ARRAY_LEN(shapes); n++)
            one_of_warpgroups(&shapes[n / LANE_KINDS], (unsigned)(n % LANE_KINDS));
}

/* ldmatrix, its transposed form, stmatrix and movmatrix: 16-bit elements numbered row by row. */
static void tiles(void **state)
{
    (void)state;
    struct sim_case c;
    sim_case_open(
        &c,
        SIM_HEAD
        ".visible .entry k(.param .u64 p)\n{\n" REGS
        ".shared .align 16 .b8 s[1024];\nld.param.u64 %d0, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, s;\n"
        "mad.lo.u32 %r3, %r1, 16, %r2; mul.lo.u32 %r4, %r1, 0x80008; add.u32 %r4, %r4, "
        "0x10000;\nst.shared.u32 [%r3], %r4; add.u32 %r4, %r4, 0x20002; st.shared.u32 [%r3+4], %r4;\n"
        "add.u32 %r4, %r4, 0x20002; st.shared.u32 [%r3+8], %r4; add.u32 %r4, %r4, 0x20002; "
        "st.shared.u32 [%r3+12], %r4;\nbar.warp.sync -1;\n"
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r5, %r6, %r7, %r8}, "
        "[%r3];\nldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r9, %r10}, [%r3];\n"
        "movmatrix.sync.aligned.m8n8.trans.b16 %r11, "
        "%r5;\nstmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r3+512], {%r9, %r10};\nbar.warp.sync "
        "-1;\nld.shared.u32 %r12, [%r3+512];\n"
        "mul.wide.u32 %d1, %r1, 32; add.u64 %d0, %d0, %d1; st.global.v4.u32 [%d0], {%r5, %r8, %r9, "
        "%r10}; st.global.v2.u32 [%d0+16], {%r11, %r12};\nret;\n}\n",
        "k", 1024);
    sim_case_ok(&c);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t v[6], row = lane / 4, col = lane % 4 * 2;
        memcpy(v, c.data + 32 * lane, sizeof v);
        assert_int_equal(v[0], (row * 8 + col) | (row * 8 + col + 1) << 16);
        assert_int_equal(v[1], (192 + row * 8 + col) | (192 + row * 8 + col + 1) << 16);
        assert_int_equal(v[2], (col * 8 + row) | ((col + 1) * 8 + row) << 16);
        assert_int_equal(v[3], (64 + col * 8 + row) | (64 + (col + 1) * 8 + row) << 16);
        assert_int_equal(v[4], v[2]);
        if (lane < 16)
            assert_int_equal(v[5], (lane * 8) | (lane * 8 + 1) << 16);
    }
    sim_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(by_hand), cmocka_unit_test(approximations),
                                        cmocka_unit_test(products), cmocka_unit_test(warpgroups),
                                        cmocka_unit_test(tiles) };
    return cmocka_run_group_tests_name("sim exec: vectors", tests, NULL, NULL);
}
