"""More pointers in disguise, in the forms of kernels.py: one way each to make the address of b, or how far it is from a, without
an operation that alias roots follow. The store goes to the thread's own element of b between two loads of it."""
from kernels import alias, octets, MEASURE, APART, GO

STORE = ' st.global.u32 [%d22], 9;'
HALVES = 'mov.b64 {%r20, %r21}, %d6; '
JOIN = ' mov.b64 %d22, {%r20, %r21};' + STORE


def halves(name, steps, before='', **launch):
    """steps changes %r20 and %r21, the halves of the address, and leaves them as they were."""
    alias(name, HALVES + steps + JOIN, before, **launch)


# ---- arithmetic ----
halves('bytes put in order twice', 'prmt.b32 %r20, %r20, 0, 0x0123; prmt.b32 %r20, %r20, 0, 0x0123; prmt.b32 %r21, %r21, %r20, 0x3210;')
halves('a sum of products of bytes', 'and.b32 %r10, %r20, 255; shr.u32 %r11, %r20, 8; mov.u32 %r12, 1; dp4a.u32.u32 %r10, %r10, %r12, 0; shl.b32 %r11, %r11, 8; dp2a.lo.u32.u32 %r20, %r10, %r12, %r11;')
halves('fields taken out and put in', 'bfe.u32 %r10, %r20, 0, 13; bfe.u32 %r11, %r20, 13, 19; bfi.b32 %r12, %r11, 0, 13, 19; bfi.b32 %r20, %r10, %r12, 0, 13;')
halves('a logic operation of three', 'mov.u32 %r10, 0x5a5a1234; lop3.b32 %r20, %r20, %r10, 0, 0x3c; lop3.b32 %r20, %r20, %r10, 0, 0x3c;')
halves('a funnel', 'shf.l.wrap.b32 %r20, %r20, %r20, 12; shf.r.wrap.b32 %r20, %r20, %r20, 12; shf.l.clamp.b32 %r21, 0, %r21, 0;')
halves('bits turned round twice', 'brev.b32 %r20, %r20; brev.b32 %r20, %r20;')
halves('the lesser of it and the greatest', 'min.u32 %r20, %r20, -1; max.u32 %r21, %r21, 0;')
halves('products of 24 bits', 'shr.u32 %r10, %r20, 24; mov.u32 %r11, 1; mul24.lo.u32 %r12, %r20, %r11; and.b32 %r12, %r12, 0xffffff; mad24.lo.u32 %r12, %r12, %r11, 0; shl.b32 %r10, %r10, 24; or.b32 %r20, %r10, %r12;')
halves('absolute differences', 'sad.u32 %r20, %r20, 0, 0; sad.u32 %r21, %r21, 0, 0;')
halves('a choice by a sign', 'mov.u32 %r10, 5; slct.b32.s32 %r20, %r20, 0, %r10; slct.b32.s32 %r21, %r21, 0, %r10;')
halves('a video instruction', 'vadd.u32.u32.u32 %r20, %r20, 0; vshl.u32.u32.u32.clamp %r21, %r21, 0;')
halves('packed halves', 'mov.b32 {%h1, %h2}, %r20; mov.u16 %h3, 0; add.u16 %h1, %h1, %h3; mov.b32 %r20, {%h1, %h2};')
halves('the n-th set bit', 'mov.u32 %r10, 0; mov.u32 %r11, 0; popc.b32 %r13, %r20; F: add.u32 %r14, %r11, 1; setp.gt.u32 %p4, %r14, %r13; @%p4 bra G; fns.b32 %r12, %r20, 0, %r14; mov.u32 %r15, 1; shl.b32 %r15, %r15, %r12; or.b32 %r10, %r10, %r15; add.u32 %r11, %r11, 1; bra F; G: mov.u32 %r20, %r10;')
halves('the highest bit again and again', 'mov.u32 %r10, 0; F: bfind.u32 %r12, %r20; setp.eq.u32 %p4, %r12, -1; @%p4 bra G; mov.u32 %r15, 1; shl.b32 %r15, %r15, %r12; or.b32 %r10, %r10, %r15; xor.b32 %r20, %r20, %r15; bra F; G: mov.u32 %r20, %r10;')
halves('zeros counted', 'mov.u32 %r10, 0; F: clz.b32 %r12, %r20; setp.eq.u32 %p4, %r12, 32; @%p4 bra G; mov.u32 %r15, 0x80000000; shr.u32 %r15, %r15, %r12; or.b32 %r10, %r10, %r15; xor.b32 %r20, %r20, %r15; bra F; G: mov.u32 %r20, %r10;')
halves('a sum over the warp', 'setp.eq.u32 %p4, %r3, -1; selp.u32 %r10, 0, %r20, %p4; mov.u32 %r11, %laneid; mov.u32 %r12, 0; F: setp.eq.u32 %p5, %r11, %r12; selp.u32 %r13, %r10, 0, %p5; redux.sync.or.b32 %r14, %r13, -1; @%p5 mov.u32 %r20, %r14; add.u32 %r12, %r12, 1; setp.lt.u32 %p6, %r12, 32; @%p6 bra F;')
halves('whoever matches', 'match.any.sync.b32 %r10, %r20, -1; bfind.u32 %r11, %r10; shfl.sync.idx.b32 %r20, %r20, %r11, 31, -1;')
halves('a matrix moved twice', 'movmatrix.sync.aligned.m8n8.trans.b16 %r20, %r20; movmatrix.sync.aligned.m8n8.trans.b16 %r20, %r20;')
alias('a product with what is one at run time', 'shr.u32 %r10, %r2, 6; cvt.u64.u32 %d23, %r10; mul.lo.u64 %d22, %d6, %d23;' + STORE)
alias('the high half of a product', 'mov.u64 %d23, 0x1000000; shl.b64 %d24, %d6, 8; mul.hi.u64 %d24, %d24, %d23; shl.b64 %d24, %d24, 32; and.b64 %d25, %d6, 0xffffffff; or.b64 %d22, %d24, %d25;' + STORE)
alias('a wide product with minus one, twice', HALVES + 'mov.u32 %r10, -1; mad.wide.s32 %d23, %r20, %r10, 0; neg.s64 %d23, %d23; and.b64 %d23, %d23, 0xffffffff; cvt.u64.u32 %d24, %r21; shl.b64 %d24, %d24, 32; or.b64 %d22, %d23, %d24;' + STORE)
alias('a number of 64 bits', '{ .reg .f64 %e; cvt.rn.f64.u64 %e, %d6; cvt.rzi.u64.f64 %d22, %e; }' + STORE)
alias('a difference of numbers', '{ .reg .f64 %e<4>; cvt.rn.f64.u64 %e1, %d6; cvt.rn.f64.u64 %e2, %d5; sub.f64 %e3, %e1, %e2; cvt.rzi.s64.f64 %d23, %e3; } add.s64 %d22, %d5, %d23;' + STORE, refused=MEASURE)
alias('a pointer of 128 bits', '{ .reg .b128 %q; mov.b128 %q, {%d6, %d5}; mov.b128 {%d22, %d23}, %q; }' + STORE)
alias('an address chosen by comparing addresses', 'setp.lt.u64 %p4, %d5, %d6; selp.b64 %d22, %d5, %d6, %p4; selp.b64 %d23, %d6, %d5, %p4; setp.eq.s64 %p5, %d22, %d6; selp.b64 %d22, %d22, %d23, %p5;' + STORE)
alias('the greater of two pointers', 'min.u64 %d22, %d5, %d6; max.u64 %d23, %d5, %d6; st.global.u32 [%d22], 9; st.global.u32 [%d23], 9;')
alias('there and back through a window', 'mov.u64 %d23, s; cvta.shared.u64 %d23, %d23; sub.s64 %d24, %d6, %d23; add.s64 %d22, %d24, %d23;' + STORE)
alias('there and back through cvta', 'cvta.to.shared.u64 %d23, %d6; cvta.shared.u64 %d22, %d23; st.u32 [%d22], 9;', quiet=True)
alias('carries of a difference', 'mov.b64 {%r20, %r21}, %d6; mov.b64 {%r22, %r23}, %d5; sub.cc.u32 %r24, %r20, %r22; subc.u32 %r25, %r21, %r23; add.cc.u32 %r24, %r24, %r22; addc.u32 %r25, %r25, %r23; mov.b64 %d22, {%r24, %r25};' + STORE)

# ---- memory and other state ----
alias('a stack of pointers that atomics exchange', 'shl.b32 %r10, %r3, 3; mov.u32 %r11, s; add.u32 %r10, %r10, %r11; st.shared.u64 [%r10], 0; atom.shared.exch.b64 %d23, [%r10], %d6; atom.shared.exch.b64 %d22, [%r10], %d5;' + STORE)
alias('a pointer stored in bytes', 'cvt.u32.u64 %r10, %d6; shr.u64 %d23, %d6, 32; cvt.u32.u64 %r11, %d23; mov.u64 %d24, l; st.local.v4.u8 [%d24], {%r10, %r10, %r10, %r10}; st.local.u32 [%d24], %r10; st.local.u16 [%d24+4], %r11; shr.u32 %r11, %r11, 16; st.local.u16 [%d24+6], %r11; ld.local.u64 %d22, [%d24];' + STORE)
alias('the place of a parameter', 'mov.u64 %d23, b; cvta.param.u64 %d23, %d23; ld.u64 %d24, [%d23]; add.s64 %d22, %d24, %d9;' + STORE)
alias('the places of two parameters', 'mov.u64 %d23, b; cvta.param.u64 %d23, %d23; ld.u64 %d24, [%d23]; mov.u64 %d23, a; cvta.param.u64 %d23, %d23; ld.u64 %d25, [%d23]; sub.s64 %d24, %d24, %d25; shr.s64 %d24, %d24, 2; shl.b64 %d24, %d24, 2; add.s64 %d22, %d5, %d24;' + STORE)
alias('halves of two parameters by their places', 'mov.u64 %d23, b; cvta.param.u64 %d23, %d23; ld.u32 %r10, [%d23]; mov.u64 %d23, a; cvta.param.u64 %d23, %d23; ld.u32 %r11, [%d23]; sub.u32 %r10, %r10, %r11; cvt.s64.s32 %d24, %r10; add.s64 %d22, %d5, %d24;' + STORE, refused=MEASURE)
alias('parameters at a computed place', 'mov.u64 %d23, a; ld.param.u64 %d24, [%d23+8]; add.s64 %d22, %d24, %d9;' + STORE)
TABLE = '.global .align 4 .u32 x[1024];\n.global .align 4 .u32 y[1024];\n'
XY = ('and.b32 %%r10, %%r4, 511; mul.wide.u32 %%d23, %%r10, 4; mov.u64 %%d24, x; add.s64 %%d24, %%d24, %%d23; mov.u64 %%d25, y; add.s64 %%d6, %%d25, %%d23; ld.global.u32 %%r30, [%%d6]; '
      '%s sub.s64 %%d26, %%d26, %%d27; shr.s64 %%d26, %%d26, 2; shl.b64 %%d26, %%d26, 2; add.s64 %%d22, %%d24, %%d26;')
alias('variables that other variables point to', XY % 'mov.u64 %d28, t; ld.global.u64 %d26, [%d28+8]; ld.global.u64 %d27, [%d28];' + STORE, TABLE + '.global .align 8 .u64 t[2] = {x, y};\n', refused=MEASURE)
alias('variables that constants point to', XY % 'ld.const.u64 %d26, [t+8]; ld.const.u64 %d27, [t];' + STORE, TABLE + '.const .align 8 .u64 t[2] = {generic(x), generic(y)};\n', refused=MEASURE)
alias('halves of variables that constants point to', XY.replace('shr.s64 %%d26, %%d26, 2; shl.b64 %%d26, %%d26, 2; ', '') % 'ld.const.u32 %r11, [t+8]; ld.const.u32 %r12, [t]; sub.u32 %r11, %r11, %r12; cvt.s64.s32 %d26, %r11; mov.u64 %d27, 0;' + STORE, TABLE + '.const .align 8 .u64 t[2] = {x, y};\n', refused=MEASURE)
octets('bytes of the distance, by how far the stack grew', 'stacksave.u64 %d27; cvt.u64.u32 %d28, %r11; shl.b64 %d28, %d28, 4; alloca.u64 %d29, %d28; stacksave.u64 %d30; stackrestore.u64 %d27; sub.s64 %d27, %d27, %d30; shr.u64 %d27, %d27, 4; cvt.u32.u64 %r12, %d27;', quiet=True)
octets('bytes of the distance, by tensor memory', 'tcgen05.st.sync.aligned.32x32b.x1.b32 [%r38], {%r11}; tcgen05.wait::st.sync.aligned; tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r12}, [%r38]; tcgen05.wait::ld.sync.aligned;', first='tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; bar.sync 0; ld.shared.u32 %r38, [s]; ', quiet=True)
octets('bytes of the distance, by what an mbarrier waits for', 'shl.b32 %r13, %r3, 3; mov.u32 %r14, s; add.u32 %r13, %r13, %r14; add.u32 %r14, %r11, 2; mbarrier.init.shared.b64 [%r13], %r14; mbarrier.arrive.noComplete.shared.b64 %d27, [%r13], 1; mbarrier.pending_count.b64 %r12, %d27; sub.u32 %r12, %r12, 2; mbarrier.inval.shared.b64 [%r13];', quiet=True)
octets('bytes of the distance, by how much is zeroed in bulk', 'mov.u32 %r13, s; cvt.u64.u32 %d27, %r11; shl.b64 %d27, %d27, 3; mov.u32 %r14, 0; F: shl.b32 %r15, %r14, 2; add.u32 %r15, %r15, %r13; st.shared.u32 [%r15], 1; add.u32 %r14, %r14, 1; setp.lt.u32 %p4, %r14, 512; @%p4 bra F; st.bulk.shared::cta [%r13], %d27, 0; mov.u32 %r12, 0; H: shl.b32 %r15, %r12, 3; add.u32 %r15, %r15, %r13; ld.shared.u32 %r16, [%r15]; setp.ne.u32 %p4, %r16, 0; @%p4 bra I; add.u32 %r12, %r12, 1; setp.lt.u32 %p4, %r12, 255; @%p4 bra H; I:', quiet=True)
octets('bytes of the distance, by which columns are taken', 'mov.u32 %r13, s; setp.gt.u32 %p4, %r11, 127; selp.u32 %r14, 64, 32, %p4; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], %r14; ld.shared.u32 %r15, [%r13]; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r13], 32; ld.shared.u32 %r16, [%r13]; sub.u32 %r12, %r16, %r15;', quiet=True)
octets('bytes of the distance, by a cache policy', '{ cvt.u64.u32 %d27, %r11; add.s64 %d27, %d27, %d6; createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %d28, [%d27], 4096, 4096; createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %d29, [%d6], 4096, 4096; sub.s64 %d28, %d28, %d29; cvt.u32.u64 %r12, %d28; }', quiet=True)
octets('bytes of the distance, by rows of a matrix', 'shl.b32 %r13, %r3, 4; mov.u32 %r14, s; add.u32 %r13, %r13, %r14; st.shared.u32 [%r13], %r11; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r14}, [%r13]; ld.shared.u32 %r12, [%r13];', quiet=True)
octets('bytes of the distance, by a product of matrices', 'mov.u32 %r13, 0; mov.u32 %r14, 0x01010101; mma.sync.aligned.m8n8k16.row.col.s32.u8.u8.s32 {%r12, %r15}, {%r11}, {%r14}, {%r13, %r13}; and.b32 %r12, %r12, 255;', quiet=True)
