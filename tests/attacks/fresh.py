"""Others, in the forms of kernels.py: waits by loads of every strength and ways to read them, what warps and launches show,
barriers and flags in shared memory that a second task would find as the first left them, and stores that hide behind their width."""
from kernels import AGENT, AHEAD, AGAIN, ORDER, SHAPE, EVERY, alias, attack, wait

REDIRECT = ['--cluster redirect --clusters 3']
TWICE = AGENT + ['--coarsen 2']
NEST = ('.func (.param .b32 r) inner(.param .b64 x)\n{ .reg .b32 %r<2>; .reg .b64 %d<2>; ld.param.u64 %d1, [x]; ld.relaxed.gpu.global.u32 %r1, [%d1]; st.param.b32 [r], %r1; ret; }\n'
        '.func outer(.param .b64 x)\n{ .reg .b32 %r<2>; .reg .b64 %d<2>; .reg .pred %p; ld.param.u64 %d1, [x]; W: { .param .b32 q; .param .b64 w; st.param.b64 [w], %d1; call (q), inner, (w); ld.param.b32 %r1, [q]; } '
        'setp.eq.u32 %p, %r1, 0; @%p bra W; ret; }\n')

# ---- waits ----
wait('a callee of a callee reads, relaxed', '{ .param .b64 w; st.param.b64 [w], %d20; call outer, (w); } mov.u32 %r21, 1;', NEST)
wait('an acquiring load', 'W: ld.acquire.gpu.global.u32 %r21, [%d20]; setp.eq.u32 %p3, %r21, 0; @%p3 bra W;')
wait('an acquiring load, and asleep', 'W: nanosleep.u32 40; ld.acquire.sys.u32 %r21, [%d20]; setp.eq.u32 %p3, %r21, 0; @%p3 bra W;')
wait('a load as of a device', 'W: ld.mmio.relaxed.sys.global.u32 %r21, [%d20]; setp.eq.u32 %p3, %r21, 0; @%p3 bra W;')
wait('a sum of nothing', 'W: atom.add.relaxed.gpu.global.u32 %r21, [%d20], 0; setp.eq.u32 %p3, %r21, 0; @%p3 bra W;')
wait('the greater of it and nothing', 'W: atom.max.u32 %r21, [%d20], 0; setp.eq.u32 %p3, %r21, 0; @%p3 bra W;')
wait('by what the warp elects', 'W: ld.volatile.global.u32 %r21, [%d20]; elect.sync %r10|%p4, -1; shfl.sync.idx.b32 %r22, %r21, %r10, 31, -1;' + AGAIN)
wait('by a sum over the warp', 'W: ld.volatile.global.u32 %r21, [%d20]; redux.sync.or.b32 %r22, %r21, -1;' + AGAIN)
wait('by who matches', 'W: ld.volatile.global.u32 %r21, [%d20]; match.all.sync.b32 %r22|%p4, %r21, -1; setp.eq.u32 %p3, %r21, 0; or.pred %p3, %p3, %p3; @%p3 bra W;')
wait('by how many are still there', 'W: ld.volatile.global.u32 %r21, [%d20]; setp.ne.u32 %p4, %r21, 0; mov.u32 %r22, 0; @!%p4 bra V; activemask.b32 %r22; V: setp.eq.u32 %p3, %r22, 0; @%p3 bra W;')
wait('by a float that is not one', 'W: ld.volatile.global.f32 %f1, [%d20]; testp.subnormal.f32 %p3, %f1; @!%p3 bra W; mov.u32 %r21, 1;')
wait('a loop of two ends, of which one reads', 'mov.u32 %r12, 0; W: add.u32 %r12, %r12, 1; ld.volatile.global.u32 %r21, [%d20]; setp.ne.u32 %p3, %r21, 0; @%p3 bra V; bra W; V:')
wait('by the address that is read next', 'mov.u64 %d22, %d20; W: ld.volatile.global.u32 %r21, [%d22]; setp.ne.u32 %p4, %r21, 0; selp.b64 %d22, 0, %d20, %p4; setp.ne.s64 %p3, %d22, 0; @%p3 bra W;')
wait('in a table of words of which the last is written', 'W: mov.u32 %r12, 0; ld.volatile.global.v2.u32 {%r21, %r22}, [%d3]; ld.volatile.global.v4.u32 {%r23, %r24, %r25, %r26}, [%d3]; and.b32 %r21, %r26, %r23; setp.eq.u32 %p3, %r21, 0; @%p3 bra W;')

# ---- what sees warps, blocks and the launch ----
PUT = ' and.b32 %r20, %r20, 1023; st.global.u32 [%d8], %r20;'
attack('sees', 'how many warps there are', 'mov.u32 %r20, %nwarpid; mov.u32 %r21, %warpid; mad.lo.u32 %r20, %r20, 3, %r21;' + PUT, ['--block 48x1x1', '--block 128x1x1'], quiet=True)
attack('sees', 'a guarded uniform branch by warps', 'shr.u32 %r20, %r3, 5; setp.eq.u32 %p4, %r20, 0; st.global.u32 [%d8], 7; @%p4 bra.uni N; st.global.u32 [%d8], %r4; N:', SHAPE[:1])
attack('sees', 'a sum over the warp is an address', 'redux.sync.add.u32 %r20, %r3, -1; and.b32 %r20, %r20, 255; mad.lo.u32 %r20, %r1, 64, %r20; mul.wide.u32 %d22, %r20, 4; add.s64 %d22, %d22, %d4; setp.eq.u32 %p4, %r3, 0; @%p4 st.global.u32 [%d22], 5;', SHAPE[:1])
attack('sees', 'whoever matches is an address', 'shr.u32 %r21, %r3, 2; match.any.sync.b32 %r20, %r21, -1; bfind.u32 %r20, %r20;' + PUT, SHAPE[:1])
attack('sees', 'who is there is an address', 'activemask.b32 %r20; popc.b32 %r20, %r20;' + PUT, SHAPE[:1], quiet=True)
attack('sees', 'its lane', 'mov.u32 %r20, %laneid; xor.b32 %r20, %r20, %r3;' + PUT, SHAPE[:1])
attack('sees', 'the neighbour below', 'shfl.sync.up.b32 %r20, %r4, 1, 0, -1;' + PUT, SHAPE[:1])
attack('sees', 'the multiprocessor', 'mov.u32 %r20, %smid; setp.gt.u32 %p4, %r20, 3; @%p4 st.global.u32 [%d8], 1;', REDIRECT + AGENT + ['--coarsen 2'], quiet=True)
attack('sees', 'the time of day', 'mov.u64 %d22, %globaltimer; and.b64 %d22, %d22, 1; setp.eq.s64 %p4, %d22, 0; @%p4 st.global.u32 [%d8], 1;', EVERY, quiet=True)
attack('sees', 'how large the grid is', 'mov.u32 %r20, %nctaid.x; mul.lo.u32 %r20, %r20, %r2; sub.u32 %r20, %r20, %r4;' + PUT)

# ---- what a second task finds in shared memory ----
attack('state', 'a flag between two warps', 'setp.eq.u32 %p2, %r3, 0; @%p2 st.shared.u32 [s], 0; bar.sync 0; setp.lt.u32 %p3, %r3, 32; @!%p3 bra V; shl.b32 %r20, %r3, 2; mov.u32 %r21, s; add.u32 %r20, %r20, %r21; st.shared.u32 [%r20+256], %r4; '
       'bar.warp.sync -1; membar.cta; @%p2 st.volatile.shared.u32 [s], 1; bra X; V: ld.volatile.shared.u32 %r22, [s]; setp.eq.u32 %p4, %r22, 0; @%p4 bra V; shl.b32 %r20, %r3, 2; mov.u32 %r21, s; add.u32 %r20, %r20, %r21; ld.shared.u32 %r23, [%r20+128]; st.global.u32 [%d8], %r23; X:')
attack('state', 'an mbarrier that is set up once', 'setp.eq.u32 %p2, %r3, 0; @%p2 mbarrier.init.shared.b64 [s], 64; bar.sync 0; shl.b32 %r20, %r3, 2; mov.u32 %r21, s; add.u32 %r20, %r20, %r21; st.shared.u32 [%r20+64], %r4; mbarrier.arrive.shared.b64 %d22, [s]; '
       'W: mbarrier.test_wait.parity.shared.b64 %p3, [s], 0; @!%p3 bra W; xor.b32 %r23, %r3, 32; shl.b32 %r23, %r23, 2; add.u32 %r23, %r23, %r21; ld.shared.u32 %r24, [%r23+64]; st.global.u32 [%d8], %r24;', TWICE, quiet=True)
attack('shared', 'zeroed in bulk', 'shl.b32 %r20, %r3, 2; mov.u32 %r21, s; add.u32 %r20, %r20, %r21; st.shared.u32 [%r20], %r4; bar.sync 0; setp.eq.u32 %p2, %r3, 0; mov.u64 %d22, 128; @%p2 st.bulk.weak.shared::cta [s], %d22, 0; bar.sync 0; ld.shared.u32 %r22, [%r20]; st.global.u32 [%d8], %r22;', quiet=True)

# ---- aliases ----
alias('four words by one of four threads', 'and.b32 %r20, %r3, 3; setp.eq.u32 %p4, %r20, 0; mov.u32 %r21, 5; @%p4 st.global.v4.u32 [%d6], {%r21, %r4, %r21, %r4}; bar.warp.sync -1;')
alias('a generic atomic', 'cvta.global.u64 %d22, %d6; red.add.u32 [%d22], 3;')
alias('a byte at an odd place', 'st.global.u8 [%d6+3], 9;')
alias('an exchange of 128 bits', 'and.b32 %r20, %r3, 3; setp.eq.u32 %p4, %r20, 0; { .reg .b128 %q<3>; mov.u64 %d22, 7; mov.b128 %q1, {%d22, %d22}; @%p4 atom.exch.global.b128 %q2, [%d6], %q1; } bar.warp.sync -1;', quiet=True)
alias('a sum for all devices', 'multimem.red.relaxed.gpu.global.add.u32 [%d6], %r4;', quiet=True)
alias('by two steps that cancel', 'add.s64 %d22, %d1, 8192; sub.s64 %d23, %d22, 8192; add.s64 %d22, %d23, %d9; st.global.u32 [%d22], 9;', same=True)
alias('one buffer from the middle of the other', 'add.s64 %d22, %d5, 8192; add.s64 %d23, %d6, 8192; ld.global.u32 %r31, [%d23]; st.global.u32 [%d22], %r4; ld.global.u32 %r32, [%d23]; mad.lo.u32 %r30, %r32, 3, %r31;', same=True, refused=[])
alias('a copy that waits for nobody', 'st.global.u32 [%d6], %r4; shl.b32 %r20, %r3, 4; mov.u32 %r21, s; add.u32 %r21, %r21, %r20; and.b64 %d22, %d6, -16; bar.warp.sync -1; cp.async.cg.shared.global [%r21], [%d22], 16; cp.async.wait_all; ld.shared.u32 %r31, [%r21]; add.u32 %r30, %r30, %r31;')
alias('partial sums that the last block reads', 'st.global.u32 [%d6], %r4; membar.gl; bar.sync 0; setp.eq.u32 %p2, %r3, 0; @%p2 atom.global.add.u32 %r20, [%d4+40000], 1; @%p2 st.shared.u32 [s], %r20; bar.sync 0; ld.shared.u32 %r20, [s]; setp.ne.u32 %p3, %r20, 7; @%p3 ret; membar.gl; '
      'add.u32 %r21, %r3, 448; mul.wide.u32 %d22, %r21, 4; add.s64 %d6, %d2, %d22; mul.wide.u32 %d22, %r3, 4; add.s64 %d8, %d4, %d22; mov.u32 %r30, 0;')
alias('one of two words by the neighbour', 'and.b64 %d22, %d6, -8; xor.b64 %d23, %d6, 4; st.global.u32 [%d23], %r4; bar.warp.sync -1; ld.global.v2.u32 {%r20, %r21}, [%d22]; add.u32 %r30, %r20, %r21;')
alias('half of a word compared and exchanged', 'ld.global.u16 %h1, [%d6]; xor.b16 %h2, %h1, 5; atom.global.cas.b16 %h3, [%d6], %h1, %h2;')
alias('high halves of products', 'mov.b64 {%r20, %r21}, %d6; shr.u32 %r10, %r20, 16; shl.b32 %r11, %r20, 16; mov.u32 %r12, 65536; mad.hi.u32 %r13, %r11, %r12, 0; mul.lo.u32 %r14, %r10, %r12; or.b32 %r14, %r14, %r13; mov.b64 %d22, {%r14, %r21}; st.global.u32 [%d22], 9;')
alias('bytes of two pointers put together', 'mov.b64 {%r20, %r21}, %d6; mov.b64 {%r22, %r23}, %d5; prmt.b32 %r24, %r20, %r22, 0x7610; prmt.b32 %r25, %r20, %r22, 0x7632; prmt.b32 %r20, %r24, %r25, 0x5410; mov.b64 %d22, {%r20, %r21}; st.global.u32 [%d22], 9;')
alias('a prefetch of what is stored', 'and.b64 %d22, %d6, -16; cp.async.bulk.prefetch.L2.global [%d22], 16; prefetch.global.L2 [%d6]; st.global.u32 [%d6], 9;', quiet=True)

# ---- tickets, and places that change hands ----
attack('in place', 'a ticket is a place', 'atom.global.add.u32 %r20, [%d3+40000], 1; mul.wide.u32 %d22, %r20, 4; add.s64 %d22, %d22, %d4; st.global.u32 [%d22], 7;')
attack('in place', 'a lock by tickets', 'setp.ne.u32 %p4, %r3, 0; @%p4 ret; atom.global.add.u32 %r20, [%d4+40000], 1; W: ld.volatile.global.u32 %r21, [%d4+40004]; setp.ne.u32 %p3, %r21, %r20; @%p3 bra W; ld.volatile.global.u32 %r22, [%d4]; add.u32 %r22, %r22, %r1; '
       'st.volatile.global.u32 [%d4], %r22; membar.gl; add.u32 %r21, %r20, 1; st.volatile.global.u32 [%d4+40004], %r21;')
attack('in place', 'the first and the last change places', 'setp.gt.u32 %p4, %r4, 255; @%p4 ret; sub.u32 %r20, 511, %r4; mul.wide.u32 %d22, %r20, 4; add.s64 %d22, %d22, %d2; ld.global.u32 %r21, [%d6]; ld.global.u32 %r22, [%d22]; st.global.u32 [%d6], %r22; st.global.u32 [%d22], %r21;')
attack('in place', 'a stencil that ends where its block ends', 'ld.global.u32 %r20, [%d6]; setp.eq.u32 %p4, %r3, 0; mov.u32 %r21, 0; @!%p4 ld.global.u32 %r21, [%d6+-4]; bar.sync 0; add.u32 %r20, %r20, %r21; st.global.u32 [%d6], %r20;', ['--block 48x1x1', '--block 128x1x1'])
attack('sees', 'a count at a barrier is an address', 'bar.red.popc.u32 %r20, 0, %p1; mad.lo.u32 %r20, %r1, 65, %r20; mul.wide.u32 %d22, %r20, 4; add.s64 %d22, %d22, %d4; setp.eq.u32 %p4, %r3, 0; @%p4 st.global.u32 [%d22], 5;', SHAPE[:1])
attack('sees', 'half of a warp is gone', 'and.b32 %r20, %r3, 16; setp.ne.u32 %p4, %r20, 0; @%p4 ret; activemask.b32 %r20; shfl.sync.bfly.b32 %r21, %r4, 3, 31, 0xffff; st.global.u32 [%d8], %r21;', SHAPE[:1], quiet=True)
attack('sees', 'the upper half of a clock', 'mov.u32 %r20, %clock_hi; mov.u64 %d22, %clock64; cvt.u32.u64 %r21, %d22; xor.b32 %r20, %r20, %r21; and.b32 %r20, %r20, 3; mul.wide.u32 %d22, %r20, 4; add.s64 %d22, %d22, %d8; st.global.u32 [%d22], 1;', EVERY, quiet=True)
