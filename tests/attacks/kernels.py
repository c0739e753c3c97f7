"""Kernels written by hand to get a wrong rewrite accepted.

Each row of ATTACKS: class, name, what stands before the kernel, its body, the options that must be refused, and what the
launch has besides. An option that is not named may be accepted; then the rewrite must be the same kernel.
The body finds: %d1 to %d4 the buffers a, b, flag, out; %d5 to %d8 the thread's own element of each; %r1 %ctaid.x, %r2 %ntid.x,
%r3 %tid.x, %r4 the thread's number in the grid, %r5 what flag holds for it; s shared memory, l local memory.
"""

ORDER = ['--coarsen 2', '--cluster redirect --clusters 3', '--cluster agent --agents 1 --clusters 3', '--block 128x1x1']
AGENT = ['--cluster agent --agents 1 --clusters 3']
SHAPE = ['--block 48x1x1', '--coarsen 2']
EVERY = ['--readonly promote', '--bypass l1 --pi 1', '--bypass ro --pi bpa', '--block 48x1x1', '--coarsen 2', '--coarsen 4 --coarsen-mode vector', '--swap-xy',
         '--cluster redirect --clusters 3', '--cluster agent --agents 1 --clusters 3', '--softcache 1', '--prefetch l2',
         '--throttle-shared 1024', '--swizzle-shared', '--maxnreg 64', '--bypass l1 --pi vote']

HEAD = '.version 8.6\n.target sm_100a\n.address_size 64\n'
ENTRY = '''.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 flag, .param .u64 out%s)%s
{ .reg .pred %%p<9>; .reg .b16 %%h<20>; .reg .b32 %%r<40>; .reg .b64 %%d<40>; .reg .f32 %%f<40>; .shared .align 128 .b8 s[4096]; .local .align 16 .b8 l[64];
 ld.param.u64 %%d1, [a]; ld.param.u64 %%d2, [b]; ld.param.u64 %%d3, [flag]; ld.param.u64 %%d4, [out];
 mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%tid.x; mad.lo.u32 %%r4, %%r1, %%r2, %%r3; mul.wide.u32 %%d9, %%r4, 4;
 add.s64 %%d5, %%d1, %%d9; add.s64 %%d6, %%d2, %%d9; add.s64 %%d7, %%d3, %%d9; add.s64 %%d8, %%d4, %%d9;
 ld.global.u32 %%r5, [%%d7]; setp.ne.u32 %%p1, %%r5, 0;
'''
# CTA i waits for what CTA i+1 writes: %d20 the other's place, %d21 its own
AHEAD = ('add.u32 %r20, %r1, 1; rem.u32 %r20, %r20, 8; mul.wide.u32 %d20, %r20, 4; add.s64 %d20, %d3, %d20; mul.wide.u32 %d21, %r1, 4; '
         'add.s64 %d21, %d3, %d21; setp.eq.u32 %p2, %r3, 0; @%p2 st.volatile.global.u32 [%d21], 1; ')
SAY = ' st.global.u32 [%d8], %r21;'
SAME = '.func (.param .b32 r) same(.param .b32 x)\n{ .reg .b32 %r<2>; ld.param.u32 %r1, [x]; st.param.b32 [r], %r1; ret; }\n'
CALL_SAME = '{ .param .b32 q; .param .b32 w; st.param.b32 [w], %r21; call (q), same, (w); ld.param.b32 %r22, [q]; } '
LEAVE = '.func leave(.param .b32 x)\n{ .reg .b32 %r<2>; .reg .pred %p; ld.param.u32 %r1, [x]; setp.ne.u32 %p, %r1, 0; @%p exit; ret; }\n'
POLL = '.func (.param .b32 r) poll(.param .b64 x)\n{ .reg .b32 %r<2>; .reg .b64 %d<2>; ld.param.u64 %d1, [x]; ld.volatile.global.u32 %r1, [%d1]; st.param.b32 [r], %r1; ret; }\n'
WHERE = '.func (.param .b32 r) where()\n{ .reg .b32 %r<4>; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3; st.param.b32 [r], %r1; ret; }\n'
PUT = '.func put(.param .align 8 .b8 x[16])\n{ .reg .b32 %r<2>; .reg .b64 %d<3>; ld.param.v2.u64 {%d1, %d2}, [x]; cvt.u32.u64 %r1, %d1; st.global.u32 [%d2], %r1; ret; }\n'
TELL = '.func tell(.param .b64 x)\n{ .reg .b32 %r<2>; .reg .b64 %d<3>; ld.param.u64 %d1, [x]; ld.u64 %d2, [%d1]; st.global.u32 [%d2], 77; ret; }\n'

ATTACKS = []
# what is legal and must be taken: name, what stands before, the body, options; behind them True: runs, too, and keeps its results
LEGAL = []
WALK = ('.func (.param .b32 r) walk(.param .b64 x, .param .b32 y)\n{ .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .pred %p; ld.param.u64 %d1, [x]; ld.param.u32 %r1, [y]; '
        'L: and.b32 %r1, %r1, 4095; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; setp.ne.u32 %p, %r1, 0; @%p bra L; st.param.b32 [r], %r1; ret; }\n')
WALK_CALL = '{ .param .b32 q; .param .b64 w; .param .b32 e; st.param.b64 [w], %d3; st.param.b32 [e], %r4; call (q), walk, (w, e); ld.param.b32 %r21, [q]; } '


def attack(kind, name, body, refused=(), before='', params='', directives='', quiet=False, **launch):
    ATTACKS.append(dict(kind=kind, name=name, before=before, params=params, directives=directives, body=body, refused=list(refused),
                        launch=launch, quiet=quiet))


# ---- 2. waits ----
def wait(name, body, before=''):
    attack('wait', name, AHEAD + body + SAY, ORDER, before, quiet=True)


AGAIN = ' setp.eq.u32 %p3, %r22, 0; @%p3 bra W;'
wait('retry on half a word', 'W: ld.volatile.global.u16 %r10, [%d20]; atom.global.cas.b32 %r21, [%d20], %r10, %r10; setp.ne.u32 %p3, %r21, %r10; @%p3 bra W;')
wait('retry on another word', 'W: ld.volatile.global.u32 %r10, [%d20]; add.s64 %d20, %d20, 4; atom.global.cas.b32 %r21, [%d20], %r10, %r10; sub.s64 %d20, %d20, 4; setp.ne.u32 %p3, %r21, %r10; @%p3 bra W;')
wait('retry on the second of two', 'W: ld.volatile.global.v2.u32 {%r9, %r10}, [%d20]; atom.global.cas.b32 %r21, [%d20], %r10, %r10; setp.ne.u32 %p3, %r21, %r10; @%p3 bra W;')
wait('retry on what moves', 'mov.u32 %r10, 0; W: atom.global.cas.b32 %r21, [%d20], %r10, %r10; setp.eq.u32 %p3, %r21, %r10; @%p3 bra V; mov.u32 %r10, %r21; xor.b64 %d20, %d20, 4; bra W; V:')
wait('search by 16 bits that jump over the end', 'mov.u16 %h1, 0; W: mul.wide.u16 %r11, %h1, 4; cvt.u64.u32 %d22, %r11; add.s64 %d22, %d22, %d3; ld.volatile.global.u32 %r21, [%d22]; setp.ne.u32 %p4, %r21, 0; @%p4 bra V; add.u16 %h1, %h1, 2; setp.ne.u16 %p3, %h1, 5; @%p3 bra W; V:')
wait('search with an index cut to a byte', 'mov.u32 %r10, 0; W: cvt.u32.u8 %r11, %r10; mul.wide.u32 %d22, %r11, 4; add.s64 %d22, %d22, %d3; ld.volatile.global.u32 %r21, [%d22]; setp.ne.u32 %p4, %r21, 0; @%p4 bra V; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, -1; @%p3 bra W; V:')
wait('search with an index shifted away', 'mov.u32 %r10, 0; W: shl.b32 %r11, %r10, 30; cvt.u64.u32 %d22, %r11; shr.u64 %d22, %d22, 28; add.s64 %d22, %d22, %d3; ld.volatile.global.u32 %r21, [%d22]; setp.ne.u32 %p4, %r21, 0; @%p4 bra V; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, -1; @%p3 bra W; V:')
wait('search with an index shifted away in bytes', 'mov.u32 %r10, 0; W: shl.b32 %r11, %r10, 31; cvt.u64.u32 %d22, %r11; add.s64 %d22, %d22, %d3; ld.volatile.global.u32 %r21, [%d22]; setp.ne.u32 %p4, %r21, 0; @%p4 bra V; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, -1; @%p3 bra W; V:')
wait('by way of a callee that gives it back', 'W: ld.volatile.global.u32 %r21, [%d20]; ' + CALL_SAME + AGAIN, SAME)
wait('by way of a callee through a pointer', 'mov.u64 %d25, same; W: ld.volatile.global.u32 %r21, [%d20]; { .param .b32 q; .param .b32 w; st.param.b32 [w], %r21; P: .callprototype (.param .b32 _) _ (.param .b32 _); call (q), %d25, (w), P; ld.param.b32 %r22, [q]; }' + AGAIN, SAME)
wait('a callee ends the thread', 'W: ld.volatile.global.u32 %r21, [%d20]; @%p1 st.global.u32 [%d8], %r21; { .param .b32 w; st.param.b32 [w], %r21; call leave, (w); } bra W;', LEAVE)
wait('a callee reads', 'W: { .param .b32 q; .param .b64 w; st.param.b64 [w], %d20; call (q), poll, (w); ld.param.b32 %r21, [q]; } setp.eq.u32 %p3, %r21, 0; @%p3 bra W;', POLL)
wait('by way of the stack at an offset', 'mov.u64 %d22, l+8; W: ld.volatile.global.u32 %r21, [%d20]; st.local.u32 [%d22], %r21; ld.local.u32 %r22, [l+8];' + AGAIN)
wait('by way of the stack, generic', 'mov.u64 %d22, l; cvta.local.u64 %d23, %d22; add.s64 %d23, %d23, 8; W: ld.volatile.global.u32 %r21, [%d20]; st.u32 [%d23], %r21; ld.local.u32 %r22, [%d22+8];' + AGAIN)
wait('by way of an mbarrier', '@%p2 mbarrier.init.shared.b64 [s], 1; bar.sync 0; W: mov.u32 %r21, 0; @%p2 ld.volatile.global.u32 %r21, [%d20]; setp.ne.u32 %p4, %r21, 0; @%p4 mbarrier.arrive.shared.b64 %d23, [s]; mbarrier.test_wait.parity.shared.b64 %p3, [s], 0; @!%p3 bra W;')
wait('by way of a barrier', 'W: ld.volatile.global.u32 %r21, [%d20]; setp.ne.u32 %p4, %r21, 0; bar.red.or.pred %p3, 0, %p4; @!%p3 bra W;')
wait('by way of a copy', 'W: cp.async.ca.shared.global [s], [%d20], 4; cp.async.wait_all; ld.shared.u32 %r21, [s]; setp.eq.u32 %p3, %r21, 0; @%p3 bra W;')
wait('by way of an atomic on shared memory', 'st.shared.u32 [s], 0; W: ld.volatile.global.u32 %r21, [%d20]; red.shared.or.b32 [s], %r21; ld.shared.u32 %r22, [s];' + AGAIN)
wait('by way of a matrix', 'W: ld.volatile.global.u32 %r21, [%d20]; stmatrix.sync.aligned.m8n8.x1.shared.b16 [s], {%r21}; ld.shared.u32 %r22, [s];' + AGAIN)
wait('by way of a vote', 'W: ld.volatile.global.u32 %r21, [%d20]; setp.ne.u32 %p4, %r21, 0; vote.sync.any.pred %p3, %p4, -1; @!%p3 bra W;')
wait('by way of carries', 'W: ld.volatile.global.u32 %r21, [%d20]; add.cc.u32 %r10, %r21, -1; addc.u32 %r22, 0, 0;' + AGAIN)
wait('out by a guarded exit', 'W: ld.volatile.global.u32 %r21, [%d20]; setp.ne.u32 %p3, %r21, 0; @%p3 exit; bra W;')
wait('one loop in another', 'mov.u32 %r12, 0; O: W: ld.volatile.global.u32 %r21, [%d20]; setp.eq.u32 %p3, %r21, 0; @%p3 bra W; add.u32 %r12, %r12, 1; setp.lt.u32 %p3, %r12, 3; @%p3 bra O;')
wait('a lock taken by a value read', 'W: ld.volatile.global.u32 %r10, [%d20]; setp.ne.u32 %p4, %r10, 0; @%p4 bra W; atom.global.cas.b32 %r21, [%d20], %r10, 1; setp.ne.u32 %p3, %r21, %r10; @%p3 bra W;')
wait('a table of branches from memory', 'T: .branchtargets W, X; W: ld.volatile.global.u32 %r21, [%d20]; and.b32 %r22, %r21, 1; brx.idx %r22, T; X:')

# ---- 1. aliases: the load of b into %r30 or %r32 may not become .nc, nor be kept in a line over a store ----
READ = ' ld.global.u32 %r32, [%d6]; add.u32 %r32, %r32, %r30; st.global.u32 [%d8], %r32;'


# where the distance of two buffers can be measured, loads of b are kept as they are; others need not be
MEASURE = 'kept'


def alias(name, body, before='', refused=(), kept=False, **launch):
    measured = refused == MEASURE
    attack('alias', name, ' ld.global.u32 %r30, [%d6]; ' + body + READ, [] if measured else list(refused), before, **launch)
    ATTACKS[-1]['kept'] = kept or measured


PUT_CALL = '{ .param .align 8 .b8 w[16]; cvt.u64.u32 %d22, %r4; st.param.v2.u64 [w], {%d22, %d6}; call put, (w); }'
alias('a pointer that is moved until it is the other one', 'mul.wide.u32 %d22, %r4, 4; add.s64 %d23, %d1, %d22; W: setp.eq.s64 %p4, %d23, %d6; @%p4 bra V; add.s64 %d23, %d23, 4; bra W; V: st.global.u32 [%d23], 77;', kept=True)
alias('steps counted until a pointer is the other one', 'mul.wide.u32 %d22, %r4, 4; add.s64 %d23, %d1, %d22; mov.u64 %d24, 0; W: add.s64 %d25, %d23, %d24; setp.ge.u64 %p4, %d25, %d6; @%p4 bra V; add.s64 %d24, %d24, 4; bra W; V: add.s64 %d25, %d23, %d24; st.global.u32 [%d25], 77;', kept=True)
alias('the distance of two buffers, bit by bit', 'add.s64 %d23, %d1, %d9; sub.s64 %d24, %d6, %d23; mov.u64 %d25, 0; mov.u32 %r10, 0; W: shr.u64 %d22, %d24, %r10; and.b64 %d22, %d22, 1; setp.ne.u64 %p4, %d22, 0; mov.u64 %d36, 1; shl.b64 %d37, %d36, %r10; @!%p4 bra V; or.b64 %d25, %d25, %d37; V: add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 64; @%p4 bra W; add.s64 %d39, %d23, %d25; st.global.u32 [%d39], 77;', refused=MEASURE)
alias('the distance of two buffers, counted down', 'mul.wide.u32 %d22, %r4, 4; add.s64 %d23, %d1, %d22; sub.s64 %d24, %d6, %d23; mov.u64 %d25, 0; W: setp.eq.s64 %p4, %d24, 0; @%p4 bra V; sub.s64 %d24, %d24, 4; add.s64 %d25, %d25, 4; bra W; V: add.s64 %d39, %d23, %d25; st.global.u32 [%d39], 77;', refused=MEASURE)
alias('low halves of two pointers', 'mul.wide.u32 %d22, %r4, 4; add.s64 %d23, %d1, %d22; cvt.u32.u64 %r10, %d23; cvt.u32.u64 %r11, %d6; mov.u64 %d25, 0; W: setp.eq.u32 %p4, %r10, %r11; @%p4 bra V; add.u32 %r10, %r10, 4; add.s64 %d25, %d25, 4; bra W; V: add.s64 %d39, %d23, %d25; st.global.u32 [%d39], 77;', refused=MEASURE)
# How far the buffers are apart, told by something that is no operand of the sum: the load of b behind the store stays as it is; %d23 the own element of a, %d24 the distance
APART = 'add.s64 %d23, %d1, %d9; sub.s64 %d24, %d6, %d23; mov.u64 %d25, 0; mov.u32 %r10, 0; '
GO = ' add.s64 %d39, %d23, %d25; st.global.u32 [%d39], 77;'


def bits(name, test, before='', **launch):
    """A loop over the bits of %d24: test jumps to Y where bit %r10 of it is 0."""
    alias(name, APART + 'W: shr.u64 %d22, %d24, %r10; and.b64 %d22, %d22, 1; cvt.u32.u64 %r11, %d22; ' + test +
          ' mov.u64 %d36, 1; shl.b64 %d37, %d36, %r10; or.b64 %d25, %d25, %d37; Y: add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 64; @%p4 bra W;' + GO,
          before, refused=MEASURE, **launch)


def octets(name, find, before='', first='', **launch):
    """A loop over the bytes of %d24: find makes %r12 of byte %r11."""
    alias(name, first + APART + 'W: shr.u64 %d22, %d24, %r10; cvt.u32.u64 %r11, %d22; and.b32 %r11, %r11, 255; ' + find +
          ' cvt.u64.u32 %d36, %r12; shl.b64 %d37, %d36, %r10; or.b64 %d25, %d25, %d37; add.u32 %r10, %r10, 8; setp.lt.u32 %p4, %r10, 64; @%p4 bra W;' + GO,
          before, refused=MEASURE, **launch)


def apart(name, see):
    """Bit by bit, %d25 becomes the one pointer and %d26 the other; see jumps to Y or Z where the bit is 0."""
    one = lambda d, to, at, label: see % dict(d=d, l=label) + ' mov.u64 %d36, 1; shl.b64 %d37, %d36, %r10; or.b64 ' + to + ', ' + to + ', %d37; ' + label + ': '
    alias(name, APART + 'mov.u64 %d26, 0; W: ' + one('%d6', '%d25', 0, 'Y') + one('%d23', '%d26', 0, 'Z') +
          'add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 64; @%p4 bra W; sub.s64 %d38, %d25, %d26;' + GO.replace('%d25', '%d38'), refused=MEASURE)


apart('each pointer alone, bit by bit', 'shr.u64 %%d22, %(d)s, %%r10; and.b64 %%d22, %%d22, 1; setp.eq.u64 %%p4, %%d22, 0; @%%p4 bra %(l)s;')
apart('each pointer alone, by the sign of what is left', 'sub.u32 %%r11, 63, %%r10; shl.b64 %%d22, %(d)s, %%r11; setp.ge.s64 %%p4, %%d22, 0; @%%p4 bra %(l)s;')
apart('each pointer alone, by its halves', 'mov.b64 {%%r12, %%r13}, %(d)s; setp.gt.u32 %%p4, %%r10, 31; selp.u32 %%r12, %%r13, %%r12, %%p4; and.b32 %%r11, %%r10, 31; shr.u32 %%r12, %%r12, %%r11; and.b32 %%r12, %%r12, 1; setp.eq.u32 %%p4, %%r12, 0; @%%p4 bra %(l)s;')
bits('bits of the distance, by a predicate that a logic operation makes', 'lop3.or.b32 %r12|%p4, %r11, 0, 0, 0xF0, 0; @!%p4 bra Y;')
bits('bits of the distance, by both results of a comparison', 'setp.eq.and.u32 %p4|%p5, %r11, 0, %p0; @%p4 bra Y;'.replace('.and', '').replace(', %p0', ''))
bits('bits of the distance, as a word of a comparison', 'set.eq.u32.u32 %r12, %r11, 0; setp.ne.u32 %p4, %r12, 0; @%p4 bra Y;')
bits('bits of the distance, by the class of a number', 'mov.b32 %f1, %r11; testp.subnormal.f32 %p4, %f1; @!%p4 bra Y;')
bits('bits of the distance, by a table of branches', 'T: .branchtargets Y, X; brx.idx %r11, T; X:')
bits('bits of the distance, by a vote', 'setp.ne.u32 %p4, %r11, 0; vote.sync.ballot.b32 %r12, %p4, -1; setp.eq.u32 %p4, %r12, 0; @%p4 bra Y;')
bits('bits of the distance, by the stack', 'mov.u64 %d22, l; st.local.u32 [%d22], %r11; ld.local.u32 %r12, [%d22]; setp.eq.u32 %p4, %r12, 0; @%p4 bra Y;')
bits('bits of the distance, by shared memory', 'shl.b32 %r13, %r3, 2; mov.u32 %r12, s; add.u32 %r13, %r13, %r12; st.shared.u32 [%r13], %r11; ld.shared.u32 %r12, [%r13]; setp.eq.u32 %p4, %r12, 0; @%p4 bra Y;')
bits('bits of the distance, by an atomic that compares', 'shl.b32 %r13, %r3, 2; mov.u32 %r12, s; add.u32 %r13, %r13, %r12; st.shared.u32 [%r13], 0; atom.shared.cas.b32 %r12, [%r13], %r11, 9; ld.shared.u32 %r12, [%r13]; setp.eq.u32 %p4, %r12, 9; @%p4 bra Y;')
bits('bits of the distance, by what a copy leaves out', 'shl.b32 %r13, %r3, 2; mov.u32 %r12, s; add.u32 %r13, %r13, %r12; shl.b32 %r12, %r11, 2; cp.async.ca.shared.global [%r13], [%d4], 4, %r12; cp.async.wait_all; ld.shared.u32 %r12, [%r13]; setp.eq.u32 %p4, %r12, 0; @%p4 bra Y;', quiet=True)
bits('bits of the distance, by a callee', '{ .param .b32 q; .param .b32 w; st.param.b32 [w], %r11; call (q), sign, (w); ld.param.b32 %r12, [q]; } setp.eq.u32 %p4, %r12, 0; @%p4 bra Y;',
     '.func (.param .b32 r) sign(.param .b32 x)\n{ .reg .b32 %r<3>; .reg .pred %p; ld.param.u32 %r1, [x]; mov.u32 %r2, 0; setp.eq.u32 %p, %r1, 0; @%p bra E; mov.u32 %r2, 1; E: st.param.b32 [r], %r2; ret; }\n')
FUNCS = '.func (.param .b32 r) zero()\n{ st.param.b32 [r], 0; ret; }\n.func (.param .b32 r) one()\n{ st.param.b32 [r], 1; ret; }\n.global .align 8 .u64 both[2] = {zero, one};\n'
bits('bits of the distance, by which function is called', 'mul.wide.u32 %d22, %r11, 8; mov.u64 %d27, both; add.s64 %d22, %d22, %d27; ld.global.u64 %d22, [%d22]; { .param .b32 q; P: .callprototype (.param .b32 _) _ (); call (q), %d22, (), P; ld.param.b32 %r12, [q]; } setp.eq.u32 %p4, %r12, 0; @%p4 bra Y;', FUNCS)
bits('bits of the distance, by how long a thread sleeps', 'mov.u64 %d27, %globaltimer; shl.b32 %r12, %r11, 16; nanosleep.u32 %r12; mov.u64 %d28, %globaltimer; sub.u64 %d28, %d28, %d27; setp.lt.u64 %p4, %d28, 30000; @%p4 bra Y;', quiet=True)
bits('bits of the distance, by how far a bit is shifted', 'shl.b32 %r12, 1, %r11; and.b32 %r12, %r12, 1; setp.ne.u32 %p4, %r12, 0; @%p4 bra Y;')
bits('bits of the distance, by how it is rounded', 'cvt.rn.f32.u32 %f1, %r11; setp.eq.f32 %p4, %f1, 0f00000000; @%p4 bra Y;')
bits('bits of the distance, by which window it is in', 'mov.u64 %d27, s; cvta.shared.u64 %d27, %d27; mul.wide.u32 %d28, %r11, 0x7fffffff; add.s64 %d27, %d27, %d28; isspacep.shared %p4, %d27; @%p4 bra Y;', quiet=True)
bits('bits of the distance, by the lesser of two', 'min.u32 %r12, %r11, 7; and.b32 %r12, %r12, 15; setp.eq.u32 %p4, %r12, 0; @%p4 bra Y;')
bits('bits of the distance, by who meets at a barrier', 'setp.ne.u32 %p4, %r11, 0; bar.red.or.pred %p5, 0, %p4; @!%p5 bra Y;')
bits('bits of the distance, by who is still there', 'mov.u32 %r13, 1; setp.eq.u32 %p4, %r11, 0; @%p4 bra V; activemask.b32 %r12; mov.u32 %r13, 0; V: setp.ne.u32 %p4, %r13, 0; @%p4 bra Y;')
IDENT = ', '.join(str(k) for k in range(256))
octets('bytes of the distance, from a table of constants', 'mov.u64 %d22, ident; cvt.u64.u32 %d27, %r11; add.s64 %d22, %d22, %d27; ld.const.u8 %r12, [%d22];', '.const .align 8 .b8 ident[256] = {' + IDENT + '};\n')
octets('bytes of the distance, from a table in global memory', 'mov.u64 %d22, ident; cvt.u64.u32 %d27, %r11; add.s64 %d22, %d22, %d27; ld.global.u8 %r12, [%d22];', '.global .align 8 .b8 ident[256] = {' + IDENT + '};\n')
FILL = 'mov.u32 %r13, 0; F: mov.u32 %r14, s; add.u32 %r14, %r14, %r13; st.shared.u8 [%r14], %r13; add.u32 %r13, %r13, 1; setp.lt.u32 %p4, %r13, 256; @%p4 bra F; bar.sync 0; '
octets('bytes of the distance, from a table in shared memory', 'mov.u32 %r14, s; add.u32 %r14, %r14, %r11; ld.shared.u8 %r12, [%r14];', first=FILL)
octets('bytes of the distance, by where a mark was put', 'mov.u32 %r13, s; shl.b32 %r14, %r3, 8; and.b32 %r14, %r14, 3840; add.u32 %r13, %r13, %r14; add.u32 %r14, %r13, %r11; st.shared.u8 [%r14], %r4; mov.u32 %r12, 0; F: add.u32 %r14, %r13, %r12; ld.shared.u8 %r15, [%r14]; and.b32 %r16, %r4, 255; setp.eq.u32 %p4, %r15, %r16; @%p4 bra G; add.u32 %r12, %r12, 1; setp.lt.u32 %p4, %r12, 255; @%p4 bra F; G:', quiet=True)
octets('bytes of the distance, by where an atomic counts', 'mov.u32 %r13, s; shl.b32 %r14, %r11, 2; add.u32 %r14, %r13, %r14; red.shared.add.u32 [%r14], 1; mov.u32 %r12, 0; F: shl.b32 %r14, %r12, 2; add.u32 %r14, %r13, %r14; ld.shared.u32 %r15, [%r14]; setp.ne.u32 %p4, %r15, 0; @%p4 bra G; add.u32 %r12, %r12, 1; setp.lt.u32 %p4, %r12, 255; @%p4 bra F; G:', quiet=True)
octets('bytes of the distance, by whose value a shuffle gives', 'and.b32 %r13, %r11, 31; shfl.sync.idx.b32 %r12, %r3, %r13, 31, -1; and.b32 %r12, %r12, 31; and.b32 %r13, %r11, 224; or.b32 %r12, %r12, %r13;')
octets('bytes of the distance, by the address of shared memory', 'mov.u32 %r13, s; add.u32 %r14, %r13, %r11; mapa.shared::cluster.u32 %r14, %r14, 0; mapa.shared::cluster.u32 %r13, %r13, 0; sub.u32 %r12, %r14, %r13;', quiet=True)
octets('bytes of the distance, by an atomic that gives it back', 'mov.u32 %r13, s; atom.shared.exch.b32 %r12, [%r13], %r11; ld.shared.u32 %r12, [%r13];', quiet=True)
octets('bytes of the distance, by a match', 'mov.u32 %r12, 0; F: match.any.sync.b32 %r13, %r11, -1; setp.eq.u32 %p4, %r12, %r11; @%p4 bra G; add.u32 %r12, %r12, 1; bra F; G:')
alias('a pointer counted down to null, and the other', APART + 'mov.u64 %d26, 0; W: sub.s64 %d22, %d23, %d26; setp.eq.s64 %p4, %d22, 0; @%p4 bra X; add.s64 %d26, %d26, 4; bra W; X: sub.s64 %d22, %d6, %d25; setp.eq.s64 %p4, %d22, 0; @%p4 bra V; add.s64 %d25, %d25, 4; bra X; V: sub.s64 %d25, %d25, %d26;' + GO, refused=MEASURE, quiet=True)
alias('a pointer or null, and how far it is from null', APART + 'setp.eq.u32 %p4, %r4, -1; selp.b64 %d26, 0, %d6, %p4; selp.b64 %d27, %d6, 0, %p4; mov.u64 %d28, 0; W: add.s64 %d22, %d27, %d28; setp.eq.s64 %p5, %d22, %d26; @%p5 bra X; add.s64 %d28, %d28, 4; bra W; X: selp.b64 %d26, 0, %d23, %p4; selp.b64 %d27, %d23, 0, %p4; V: add.s64 %d22, %d27, %d25; setp.eq.s64 %p5, %d22, %d26; @%p5 bra Z; add.s64 %d25, %d25, 4; bra V; Z: sub.s64 %d25, %d28, %d25;' + GO, refused=MEASURE, quiet=True)
alias('halves of parameters compared', APART + 'ld.param.u32 %r11, [a]; ld.param.u32 %r12, [b]; W: setp.eq.u32 %p4, %r11, %r12; @%p4 bra V; add.u32 %r11, %r11, 4; add.s64 %d25, %d25, 4; bra W; V:' + GO, refused=MEASURE)
alias('a pointer that hops by bits of the distance', APART + 'W: shr.u64 %d22, %d24, %r10; and.b64 %d22, %d22, 1; setp.ne.u64 %p4, %d22, 0; mov.u64 %d36, 1; shl.b64 %d37, %d36, %r10; @%p4 add.s64 %d23, %d23, %d37; add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 64; @%p4 bra W; st.global.u32 [%d23], 77;', refused=MEASURE)
alias('a callee given a structure', PUT_CALL, PUT)
alias('a callee given the place of a pointer', 'mov.u64 %d22, l; st.local.u64 [%d22], %d6; cvta.local.u64 %d22, %d22; { .param .b64 w; st.param.b64 [w], %d22; call tell, (w); }', TELL)
alias('a matrix stored', 'mul.wide.u32 %d22, %r1, 256; add.s64 %d22, %d22, %d2; mov.f32 %f1, 0f3F800000; wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%d22], {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1}, 16;', quiet=True)
alias('a copy in bulk', 'shl.b32 %r20, %r3, 4; mov.u32 %r21, s; add.u32 %r21, %r21, %r20; st.shared.v4.u32 [%r21], {%r4, %r4, %r4, %r4}; fence.proxy.async; and.b64 %d22, %d6, -16; cp.async.bulk.global.shared::cta.bulk_group [%d22], [%r21], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;', quiet=True)
alias('a sum in bulk', 'shl.b32 %r20, %r3, 4; mov.u32 %r21, s; add.u32 %r21, %r21, %r20; st.shared.v4.u32 [%r21], {%r4, %r4, %r4, %r4}; fence.proxy.async; and.b64 %d22, %d6, -16; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d22], [%r21], 16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;', quiet=True)
alias('a byte that is thrown away', 'and.b64 %d22, %d6, -128; discard.global.L2 [%d22], 128;', quiet=True)
alias('a vector atomic', 'mov.f32 %f1, 0f3F800000; and.b64 %d22, %d6, -8; red.global.add.v2.f32 [%d22], {%f1, %f1};', quiet=True)
alias('a generic store, local or not', 'mov.u64 %d22, l; cvta.local.u64 %d22, %d22; cvta.global.u64 %d23, %d6; setp.gt.u32 %p4, %r3, 3; selp.b64 %d22, %d22, %d23, %p4; st.u32 [%d22], 5;')
alias('the pointer in constant memory', 'ld.const.u64 %d22, [there]; add.s64 %d22, %d22, %d9; st.global.u32 [%d22], 9;', '.const .align 8 .u64 there;\n', quiet=True)
alias('the pointer of a global variable', 'mov.u64 %d22, held; st.global.u64 [%d22], %d2; ld.global.u64 %d22, [%d22]; add.s64 %d22, %d22, %d9; st.global.u32 [%d22], 9;', '.global .align 8 .u64 held;\n')
alias('the same buffer under another name', 'add.s64 %d22, %d1, %d9; st.global.u32 [%d22], 9;', same=True)
alias('a pointer through a shuffle of both halves', 'mov.b64 {%r20, %r21}, %d6; shfl.sync.idx.b32 %r20, %r20, %r3, 31, -1; shfl.sync.idx.b32 %r21, %r21, %r3, 31, -1; mov.b64 %d22, {%r20, %r21}; st.global.u32 [%d22], 9;')
alias('a pointer out of parts of 16 bits', 'mov.b64 {%h1, %h2, %h3, %h4}, %d6; mov.b64 %d22, {%h1, %h2, %h3, %h4}; st.global.u32 [%d22], 9;')
alias('a pointer through a table of words', 'mov.u64 %d22, l; st.local.u64 [%d22], %d6; ld.local.u32 %r20, [%d22]; ld.local.u32 %r21, [%d22+4]; mov.b64 %d23, {%r20, %r21}; st.global.u32 [%d23], 9;')
alias('a pointer chosen by which way was gone', 'mov.u64 %d22, 0; mov.u32 %r20, 0; L: and.b64 %d23, %d6, 1; shr.u64 %d24, %d6, %r20; and.b64 %d24, %d24, 1; setp.ne.s64 %p4, %d24, 0; mov.u64 %d25, 1; shl.b64 %d25, %d25, %r20; @%p4 or.b64 %d22, %d22, %d25; add.u32 %r20, %r20, 1; setp.lt.u32 %p5, %r20, 64; @%p5 bra L; st.global.u32 [%d22], 9;')
alias('the neighbour behind a warp barrier', 'st.global.u32 [%d6], %r4; bar.warp.sync -1; xor.b32 %r20, %r4, 1; mul.wide.u32 %d22, %r20, 4; add.s64 %d22, %d22, %d2; ld.global.u32 %r30, [%d22]; bar.warp.sync -1;')
alias('volatile beside weak', 'st.volatile.global.u32 [%d6], 8; ld.global.u32 %r31, [%d6]; st.global.u32 [%d6], 9; ld.volatile.global.u32 %r31, [%d6]; add.u32 %r30, %r30, %r31;')
alias('bytes of neighbours in one line', 'cvt.u64.u32 %d22, %r4; add.s64 %d22, %d22, %d1; st.global.u8 [%d22], %r4; ld.global.u8 %r31, [%d22]; add.u32 %r30, %r30, %r31;')
alias('an asynchronous copy of what was just stored', 'st.global.u32 [%d6], %r4; shl.b32 %r20, %r3, 2; mov.u32 %r21, s; add.u32 %r21, %r21, %r20; cp.async.ca.shared.global [%r21], [%d6], 4; cp.async.wait_all; ld.shared.u32 %r31, [%r21]; add.u32 %r30, %r30, %r31;')

# ---- 3. what a task or block leaves behind, and what sees the launch ----
attack('state', 'a pipeline that copies past its end', 'shl.b32 %r20, %r3, 2; mov.u32 %r21, s; add.u32 %r21, %r21, %r20; cp.async.ca.shared.global [%r21], [%d6], 4; cp.async.commit_group; st.global.u32 [%d8], %r4;', SHAPE)
attack('state', 'arrivals without a wait', 'setp.lt.u32 %p4, %r3, 32; @%p4 bar.arrive 1, 64; st.global.u32 [%d8], %r4;', AGENT + SHAPE, quiet=True)
attack('state', 'a stack that grows', 'alloca.u64 %d22, 4096; st.local.u32 [%d22], %r4; ld.local.u32 %r20, [%d22]; st.global.u32 [%d8], %r20;', AGENT + ['--coarsen 2'], quiet=True)
# one barrier of a part of the threads, while others are at the one between two tasks
PARTS = AGENT + ['--coarsen 2', '--block 48x1x1']
PAIR = 'shl.b32 %r21, %r3, 2; mov.u32 %r22, s; add.u32 %r22, %r22, %r21; st.shared.u32 [%r22], %r4; '
BACK_AGAIN = ' xor.b32 %r23, %r21, 64; mov.u32 %r24, s; add.u32 %r24, %r24, %r23; ld.shared.u32 %r25, [%r24]; st.global.u32 [%d8], %r25;'
attack('state', 'each warp has a barrier of its own', 'shr.u32 %r20, %r3, 5; ' + PAIR + 'bar.sync %r20, 32;' + BACK_AGAIN, PARTS)
attack('state', 'warps meet at one barrier in turn', PAIR + 'bar.sync 0, 32;' + BACK_AGAIN, PARTS)
attack('state', 'a barrier by a number that is read', 'and.b32 %r20, %r5, 1; ' + PAIR + 'barrier.sync %r20, 64;' + BACK_AGAIN, PARTS, quiet=True)
attack('state', 'a part of the threads is counted at a barrier', 'setp.gt.u32 %p4, %r3, 3; bar.red.popc.u32 %r20, 0, 32, %p4; st.global.u32 [%d8], %r20;', PARTS)
attack('state', 'a loop to a barrier that not all go round as often', 'and.b32 %r20, %r3, 3; W: bar.sync 0; sub.u32 %r20, %r20, 1; setp.gt.s32 %p4, %r20, 0; @%p4 bra W; st.global.u32 [%d8], %r4;', PARTS, quiet=True)
attack('state', 'a callee waits at a barrier and the kernel returns early', 'setp.gt.u32 %p4, %r1, 3; @%p4 ret; { .param .b32 w; st.param.b32 [w], %r4; call meet, (w); } st.global.u32 [%d8], %r4;', PARTS, before='.func meet(.param .b32 x)\n{ bar.sync 0; ret; }\n')
attack('state', 'registers given away', 'setmaxnreg.dec.sync.aligned.u32 24; st.global.u32 [%d8], %r4;', AGENT, quiet=True)
attack('state', 'an exit in a callee', '{ .param .b32 w; st.param.b32 [w], %r5; call leave, (w); } st.global.u32 [%d8], %r4;', AGENT + ['--coarsen 2'], LEAVE)
attack('state', 'half of the threads leave before a barrier', 'setp.gt.u32 %p4, %r3, 31; @%p4 ret; bar.sync 0; st.global.u32 [%d8], %r4;', AGENT + SHAPE, quiet=True)
attack('state', 'a matrix product in flight', 'wgmma.fence.sync.aligned; wgmma.commit_group.sync.aligned; st.global.u32 [%d8], %r4;', SHAPE, quiet=True)
attack('state', 'its successor is let go', 'griddepcontrol.launch_dependents; st.global.u32 [%d8], %r4;', AGENT + SHAPE, quiet=True)
attack('state', 'tensor memory held', 'tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [s], 32; st.global.u32 [%d8], %r4;', AGENT + SHAPE, quiet=True)
attack('sees', 'a callee through a pointer asks where it is', 'mov.u64 %d25, where; { .param .b32 q; P: .callprototype (.param .b32 _) _ (); call (q), %d25, (), P; ld.param.b32 %r20, [q]; } st.global.u32 [%d8], %r20;', ['--cluster redirect --clusters 3', '--block 48x1x1', '--coarsen 2'] + AGENT, WHERE)
attack('sees', 'a callee through a table asks where it is', 'mov.u64 %d25, table; ld.global.u64 %d25, [%d25]; { .param .b32 q; P: .callprototype (.param .b32 _) _ (); call (q), %d25, (), P; ld.param.b32 %r20, [q]; } st.global.u32 [%d8], %r20;', ['--cluster redirect --clusters 3', '--block 48x1x1', '--coarsen 2'] + AGENT, WHERE + '.global .align 8 .u64 table[1] = { where };\n')
attack('sees', 'the CTA as 16 bits', 'cvt.u32.u16 %r20, %ctaid.x; st.global.u32 [%d8], %r20;', ['--cluster redirect --clusters 3', '--coarsen 2'] + AGENT)
attack('sees', 'the CTA as a vector', 'mov.v4.u32 {%r20, %r21, %r22, %r23}, %ctaid; st.global.u32 [%d8], %r20;', ['--cluster redirect --clusters 3', '--coarsen 2'] + AGENT)
attack('sees', 'the CTA as half of a product', 'mov.u16 %h1, %ctaid.x; mul.wide.u16 %r20, %h1, 3; st.global.u32 [%d8], %r20;', ['--cluster redirect --clusters 3', '--coarsen 2'] + AGENT, quiet=True)
attack('sees', 'the cluster it is in', 'mov.u32 %r20, %clusterid.x; st.global.u32 [%d8], %r20;', ['--coarsen 2'] + AGENT)
attack('sees', 'the number of the launch', 'mov.u64 %d22, %gridid; cvt.u32.u64 %r20, %d22; and.b32 %r20, %r20, 1; mul.wide.u32 %d22, %r20, 4; add.s64 %d22, %d22, %d8; st.global.u32 [%d22], %r20;', ['--cluster redirect --clusters 3', '--coarsen 2'] + AGENT, quiet=True)
attack('sees', 'its lane by a prefix mask', 'mov.u32 %r20, %lanemask_le; popc.b32 %r20, %r20; st.global.u32 [%d8], %r20;', ['--block 48x1x1'])
attack('sees', 'a return said to be uniform', 'setp.gt.u32 %p4, %r4, 70; st.global.u32 [%d8], %r4; @%p4 ret.uni; st.global.u32 [%d8], 1;', SHAPE[:1], quiet=True)
attack('sees', 'a call said to be uniform', 'setp.gt.u32 %p4, %r1, 3; mov.u32 %r21, 4; mov.u32 %r22, 0; { .param .b32 q; .param .b32 w; st.param.b32 [w], %r21; @%p4 call.uni (q), same, (w); ld.param.b32 %r22, [q]; } st.global.u32 [%d8], %r22;', SHAPE[:1], SAME, quiet=True)
attack('sees', 'a table of branches said to be uniform', 'T: .branchtargets X, Y; min.u32 %r20, %r1, 1; brx.idx.uni %r20, T; X: st.global.u32 [%d8], 3; ret; Y: st.global.u32 [%d8], 4;', SHAPE[:1])
attack('sees', 'shared memory by a generic address', 'mov.u64 %d22, s; cvta.shared.u64 %d22, %d22; mul.wide.u32 %d23, %r3, 4; add.s64 %d22, %d22, %d23; st.u32 [%d22], %r4; ld.u32 %r20, [%d22]; st.global.u32 [%d8], %r20;', SHAPE[:1] + ['--swizzle-shared'])
attack('sees', 'a ballot', 'vote.sync.ballot.b32 %r20, %p1, -1; st.global.u32 [%d8], %r20;', SHAPE[:1], quiet=True)
attack('sees', 'blocks that are clusters', 'st.global.u32 [%d8], %r4;', SHAPE + ['--cluster redirect --clusters 3'] + AGENT, directives=' .blocksareclusters .reqntid 64 .reqnctapercluster 2', quiet=True)
attack('sees', 'a comment that looks like a directive', 'mov.u32 %r20, %ntid.x; st.global.u32 [%d8], %r20;', directives=' /* .reqntid 64 */ .maxntid 64 // .maxntid 1\n')
attack('sees', 'names that rewrites use', 'mov.u32 %r20, gpulocw_knobs; ld.const.u32 %r20, [gpulocw_knobs]; st.global.u32 [%d8], %r20; bra $gl0_next; $gl0_next: $gl0_again:', before='.const .u32 gpulocw_knobs = 5;\n', quiet=True)
attack('sees', 'the size of shared memory in a callee', '{ .param .b32 q; call (q), size, (); ld.param.b32 %r20, [q]; } st.global.u32 [%d8], %r20;', ['--throttle-shared 1024', '--softcache 1', '--bypass l1 --pi vote'] + AGENT, before='.func (.param .b32 r) size()\n{ .reg .b32 %r<4>; mov.u32 %r1, %total_smem_size; st.param.b32 [r], %r1; ret; }\n')
attack('sees', 'a clock decides', 'mov.u32 %r20, %clock; and.b32 %r20, %r20, 1; setp.eq.u32 %p4, %r20, 0; @%p4 st.global.u32 [%d8], 1;', EVERY, quiet=True)
attack('sees', 'a clock decides by way of the stack', 'mov.u32 %r20, %clock; mov.u64 %d22, l+8; st.local.u32 [%d22], %r20; ld.local.u32 %r20, [l+8]; and.b32 %r20, %r20, 1; setp.eq.u32 %p4, %r20, 0; @%p4 st.global.u32 [%d8], 1;', EVERY, quiet=True)
attack('sees', 'a clock decides by way of a callee', 'mov.u32 %r21, %clock; ' + CALL_SAME + 'and.b32 %r20, %r22, 1; setp.eq.u32 %p4, %r20, 0; @%p4 st.global.u32 [%d8], 1;', EVERY, SAME, quiet=True)

# ---- shared memory in another order ----
attack('shared', 'an absolute address', 'shl.b32 %r20, %r3, 2; mov.u32 %r21, t; add.u32 %r21, %r21, %r20; st.shared.u32 [%r21], %r4; bar.sync 0; mov.u32 %r22, 4096; ld.shared.u32 %r22, [%r22]; st.global.u32 [%d8], %r22;', ['--swizzle-shared'], before='.shared .align 4 .b8 before_it[36];\n.shared .align 4 .b8 t[256];\n', quiet=True)
TWO_ARRAYS = '.shared .align 4 .b8 before_it[36];\n.shared .align 4 .b8 t[256];\n'
STORE_T = 'shl.b32 %r20, %r3, 2; mov.u32 %r21, t; add.u32 %r21, %r21, %r20; st.shared.u32 [%r21], %r4; bar.sync 0; '
MOVERS = ['--swizzle-shared', '--throttle-shared 1024', '--softcache 1']
attack('shared', 'an absolute address by arithmetic', STORE_T + 'shr.u32 %r22, %r3, 5; mad.lo.u32 %r22, %r22, 4, 36; add.u32 %r22, %r22, %r20; ld.shared.u32 %r22, [%r22]; st.global.u32 [%d8], %r22;', MOVERS, before=TWO_ARRAYS, quiet=True)
attack('shared', 'an absolute address from a table', STORE_T + 'ld.const.u32 %r22, [places]; add.u32 %r22, %r22, %r20; ld.shared.u32 %r22, [%r22]; st.global.u32 [%d8], %r22;', MOVERS, before='.const .align 4 .u32 places[1] = {36};\n' + TWO_ARRAYS, quiet=True)
attack('shared', 'an absolute address in a callee', STORE_T + 'add.u32 %r22, %r20, 36; { .param .b32 at; .param .b32 q; st.param.b32 [at], %r22; call (q), get, (at); ld.param.b32 %r22, [q]; } st.global.u32 [%d8], %r22;', MOVERS, before='.func (.param .b32 r) get(.param .b32 a)\n{ .reg .b32 %r<4>; ld.param.b32 %r1, [a]; ld.shared.u32 %r2, [%r1]; st.param.b32 [r], %r2; ret; }\n' + TWO_ARRAYS, quiet=True)
attack('shared', 'bytes in words', 'cvt.u16.u32 %h1, %r3; mov.u32 %r20, s; add.u32 %r20, %r20, %r3; st.shared.u8 [%r20], %h1; bar.sync 0; shr.u32 %r21, %r3, 2; shl.b32 %r21, %r21, 2; mov.u32 %r22, s; add.u32 %r21, %r21, %r22; ld.shared.u32 %r22, [%r21+256]; ld.shared.u32 %r22, [%r21]; st.global.u32 [%d8], %r22;', SHAPE[:1])
attack('shared', 'wide and narrow', 'shl.b32 %r20, %r3, 4; mov.u32 %r21, s; add.u32 %r20, %r20, %r21; st.shared.v4.u32 [%r20], {%r4, %r3, %r1, %r4}; bar.sync 0; sub.u32 %r22, 63, %r3; mul.lo.u32 %r22, %r22, 16; add.u32 %r22, %r22, %r21; ld.shared.u32 %r23, [%r22+8]; ld.shared.u32 %r24, [%r22]; add.u32 %r23, %r23, %r24; st.global.u32 [%d8], %r23;', SHAPE[:1])
attack('shared', 'the memory of another CTA', 'mapa.shared::cluster.u32 %r20, s, 0; ld.shared::cluster.u32 %r21, [%r20]; st.global.u32 [%d8], %r21;', ['--swizzle-shared'] + SHAPE, quiet=True)

# ---- 4. in place, where the order of tasks or lines would show ----
attack('in place', 'each thread moves on by one', 'ld.global.u32 %r20, [%d6]; bar.warp.sync -1; st.global.u32 [%d6+4], %r20; ld.global.u32 %r21, [%d6]; st.global.u32 [%d8], %r21;', SHAPE[:1], quiet=True)
attack('in place', 'words of a line by several threads', 'st.global.u32 [%d6], %r4; membar.gl; xor.b32 %r20, %r4, 1; mul.wide.u32 %d22, %r20, 4; add.s64 %d22, %d22, %d1; st.global.u32 [%d22], %r4; ld.global.u32 %r21, [%d6]; st.global.u32 [%d8], %r21;')
attack('in place', 'half of a line, then all of it', 'and.b32 %r20, %r4, -4; mul.wide.u32 %d22, %r20, 4; add.s64 %d22, %d22, %d2; st.global.u16 [%d6], 7; bar.sync 0; ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%d22]; add.u32 %r20, %r20, %r21; add.u32 %r22, %r22, %r23; add.u32 %r20, %r20, %r22; st.global.u32 [%d8], %r20;', SHAPE[:1])
attack('in place', 'a result that its own atomic changed', 'atom.global.add.u32 %r20, [%d6], 3; ld.global.u32 %r21, [%d6]; add.u32 %r20, %r20, %r21; st.global.u32 [%d8], %r20;')
attack('in place', 'a store under a guard that a load made', 'ld.global.u32 %r20, [%d6]; setp.gt.u32 %p4, %r20, 50; @%p4 st.global.u32 [%d6], 1; @!%p4 st.global.u8 [%d6+1], 2; ld.global.u32 %r21, [%d6]; st.global.u32 [%d8], %r21;')

# ---- legal: CTAs one after the other, that meet at barriers and share memory; nobody waits behind the last reading ----
LEGAL.append(('shared memory that is read last', '', PAIR + 'bar.sync 0;' + BACK_AGAIN, ['--coarsen 2', '--coarsen 4', '--swap-xy'] + AGENT, True))
LEGAL.append(('a sum of all threads', '', 'setp.gt.u32 %p4, %r3, 3; bar.red.popc.u32 %r20, 0, %p4; st.global.u32 [%d8], %r20;', ['--coarsen 2', '--swap-xy'] + AGENT, True))
LEGAL.append(('a uniform branch', '', 'setp.gt.u32 %p4, %r1, 3; @%p4 bra.uni N; st.global.u32 [%d8], %r4; N:', ['--coarsen 2', '--swap-xy'], True))
# ---- legal: a walk through memory ends by itself where nobody writes it, in a callee as in the kernel ----
LEGAL.append(('a callee walks a list that nobody writes', WALK, WALK_CALL + SAY, ['--cluster redirect --clusters 3', '--cluster agent --agents 1 --clusters 3', '--block 128x1x1', '--coarsen 2']))
attack('wait', 'a callee walks a list that others write', WALK_CALL + SAY + ' st.global.u32 [%d7], 0;', ORDER, WALK, quiet=True)
LEGAL.append(('a retry that adds', '', 'W: ld.global.u32 %r10, [%d4]; add.u32 %r11, %r10, 3; atom.global.cas.b32 %r21, [%d4], %r10, %r11; setp.ne.u32 %p3, %r21, %r10; @%p3 bra W;', ORDER))
LEGAL.append(('a search over what others write', '', 'mov.u32 %r10, 0; W: mul.wide.u32 %d22, %r10, 4; add.s64 %d23, %d22, %d3; ld.global.u32 %r21, [%d23]; setp.ne.u32 %p4, %r21, 0; @%p4 bra V; add.u32 %r10, %r10, 1; setp.lt.u32 %p3, %r10, 1000; @%p3 bra W; V: st.global.u32 [%d7], %r4;', ORDER))
# conditions that tell nothing of where a buffer is: whether it is there, how it is aligned, where its end is
LEGAL.append(('buffers that may be null', '', 'ld.global.u32 %r30, [%d6]; setp.eq.s64 %p2, %d1, 0; setp.ne.s64 %p3, %d2, 0; and.pred %p2, %p2, %p3; @%p2 bra N; st.global.u32 [%d5], %r30; N: st.global.u32 [%d8], %r30;', ['--readonly promote']))
LEGAL.append(('buffers that are aligned', '', 'ld.global.u32 %r30, [%d6]; or.b64 %d20, %d1, %d2; or.b64 %d21, %d20, %d4; and.b64 %d22, %d21, 15; setp.ne.s64 %p2, %d22, 0; @%p2 bra N; st.global.u32 [%d5], %r30; N: st.global.u32 [%d8], %r30;', ['--readonly promote']))
LEGAL.append(('a pointer that runs to its end', '', 'add.s64 %d20, %d2, 256; mov.u64 %d21, %d2; mov.u32 %r30, 0; L: ld.global.u32 %r31, [%d21]; add.u32 %r30, %r30, %r31; add.s64 %d21, %d21, 4; setp.lt.u64 %p2, %d21, %d20; @%p2 bra L; st.global.u32 [%d8], %r30;', ['--readonly promote']))

# ---- locks: what looks like one and waits for a CTA that may not have started ----
LOCK = ' W: atom.global.cas.b32 %r21, [%d3], 0, 1; setp.ne.u32 %p3, %r21, 0; @%p3 bra W; '
COUNT = 'ld.global.u32 %r22, [%d4]; add.u32 %r22, %r22, 1; st.global.u32 [%d4], %r22; membar.gl; '
OPEN = 'st.global.u32 [%d3], 0; '
FIRST = 'setp.eq.u32 %p2, %r1, 7; '


def lock(name, body, before='', **launch):
    attack('lock', name, body, ORDER, before, quiet=True, **launch)


lock('a CTA opens it', FIRST + '@%p2 st.global.u32 [%d3], 0;' + LOCK + COUNT + OPEN)
lock('a CTA opens it by an atomic', FIRST + '@!%p2 bra W; red.global.and.b32 [%d3], 0;' + LOCK + COUNT + OPEN)
lock('a CTA opens it by another pointer', FIRST + '@%p2 st.global.u32 [%d2], 0;' + LOCK.replace('%d3', '%d1') + COUNT + OPEN.replace('%d3', '%d1'), same=True)
lock('a callee opens it', '{ .param .align 8 .b8 w[16]; mov.u64 %d20, 0; st.param.v2.u64 [w], {%d20, %d3}; call put, (w); }' + LOCK + COUNT + OPEN, PUT)
lock('it is opened from elsewhere', FIRST + '@%p2 bra V;' + LOCK + COUNT + 'V: ' + OPEN)
lock('one way keeps it', LOCK + COUNT + '@%p1 ret; ' + OPEN)
lock('it is given back under a guard', LOCK + COUNT + '@%p1 ' + OPEN)
lock('another word is given back', LOCK + COUNT + 'st.global.u32 [%d3+4], 0;')
lock('half of it is given back', LOCK + COUNT + 'mov.u16 %h1, 0; st.global.u8 [%d3], %h1;')
lock('its pointer moves on', LOCK + COUNT + 'add.s64 %d3, %d3, 256; ' + OPEN)
lock('its pointer moves on before a second turn', 'mov.u64 %d20, %d3; mov.u32 %r30, 0; T: atom.global.cas.b32 %r21, [%d20], 0, 1; setp.ne.u32 %p3, %r21, 0; @%p3 bra T; ' + COUNT + 'st.global.u32 [%d20], 0; add.s64 %d20, %d20, 4; add.u32 %r30, %r30, 1; setp.lt.u32 %p4, %r30, 2; @%p4 bra T;')
lock('it is given back as something else', LOCK + COUNT + 'st.global.u32 [%d3], 2;')
lock('it is left where it is not free', ' W: atom.global.cas.b32 %r21, [%d3], 0, 1; setp.eq.u32 %p3, %r21, 0; @%p3 bra W; ' + COUNT + OPEN)
lock('it takes nothing', ' W: atom.global.cas.b32 %r21, [%d3], 1, 1; setp.ne.u32 %p3, %r21, 1; @%p3 bra W; ' + COUNT + 'st.global.u32 [%d3], 1;')
lock('an exchange that opens', ' W: atom.global.exch.b32 %r21, [%d3], 0; setp.ne.u32 %p3, %r21, 0; @%p3 bra W; ' + COUNT + OPEN)
lock('it is compared with another value', ' W: atom.global.cas.b32 %r21, [%d3], 0, 1; setp.ne.u32 %p3, %r21, 1; @%p3 bra W; ' + COUNT + OPEN)
lock('it is compared as less', ' W: atom.global.cas.b32 %r21, [%d3], 0, 1; setp.gt.s32 %p3, %r21, 0; @%p3 bra W; ' + COUNT + OPEN)
lock('half of it is compared', ' W: atom.global.cas.b32 %r21, [%d3], 0, 1; cvt.u16.u32 %h1, %r21; setp.ne.u16 %p3, %h1, 0; @%p3 bra W; ' + COUNT + OPEN)
lock('a second way out', ' W: atom.global.cas.b32 %r21, [%d3], 0, 1; setp.ne.u32 %p3, %r21, 0; @!%p3 bra V; ld.volatile.global.u32 %r20, [%d2]; setp.eq.u32 %p4, %r20, 0; @%p4 bra W; V: ' + COUNT + OPEN)
lock('it waits for a flag inside', LOCK + 'V: ld.volatile.global.u32 %r20, [%d2]; setp.eq.u32 %p4, %r20, 0; @%p4 bra V; ' + COUNT + OPEN)
lock('a loop inside', 'mov.u32 %r30, 0;' + LOCK + 'V: add.u32 %r30, %r30, 1; setp.ne.u32 %p4, %r30, %r5; @%p4 bra V; ' + COUNT + OPEN)
lock('a barrier inside', LOCK + COUNT + 'bar.sync 0; ' + OPEN)
lock('a warp barrier inside', LOCK + COUNT + 'bar.warp.sync -1; ' + OPEN)
lock('a call inside', LOCK + COUNT + 'mov.u32 %r21, 4; { .param .b32 w; st.param.b32 [w], %r21; call leave, (w); } ' + OPEN, LEAVE)
lock('an outer loop asks for what another wrote', FIRST + 'U: ' + LOCK + '@%p2 st.global.u32 [%d4], 1; ld.global.u32 %r22, [%d4]; ' + OPEN + 'setp.eq.u32 %p4, %r22, 0; @%p4 bra U;')
lock('it is taken twice', LOCK + ' V: atom.global.cas.b32 %r21, [%d3], 0, 1; setp.ne.u32 %p3, %r21, 0; @%p3 bra V; ' + COUNT + OPEN)
lock('a guard keeps it closed', ' mov.pred %p4, %p1; W: @%p4 atom.global.cas.b32 %r21, [%d3], 0, 1; setp.ne.u32 %p3, %r21, 0; @%p3 bra W; ' + COUNT + OPEN)
lock('it counts its turns', 'W: atom.global.cas.b32 %r21, [%d3], 0, 1; setp.ne.u32 %p3, %r21, 0; @%p3 bra W; ' + COUNT + 'atom.global.exch.b32 %r20, [%d3], 0; U: ld.volatile.global.u32 %r22, [%d4]; setp.lt.u32 %p4, %r22, 64; @%p4 bra U;')
TURN = ' M: mov.u32 %r9, 1; mov.u32 %r10, 0; atom.global.cas.b32 %r21, [%d3], %r10, %r9; setp.eq.s32 %p4, %r21, 0; setp.ne.s32 %p3, %r21, 0; @%p3 bra N; '
BACK = 'N: not.pred %p5, %p4; @%p5 bra M;'
lock('turns until another has written', TURN + COUNT + OPEN + 'N: ld.volatile.global.u32 %r20, [%d2]; setp.eq.u32 %p5, %r20, 0; @%p5 bra M;')
lock('the turn without it is the last', TURN + COUNT + OPEN + 'N: @%p4 bra M;')
lock('a turn that does not try', ' mov.pred %p4, 0;' + ' L: ld.volatile.global.u32 %r20, [%d2]; setp.eq.u32 %p6, %r20, 0; @%p6 bra N;' + TURN + COUNT + OPEN + 'N: not.pred %p5, %p4; @%p5 bra L;')
lock('a turn that keeps it', TURN + COUNT + '@%p1 bra N; ' + OPEN + BACK)
lock('a turn without it gives it back', TURN + COUNT + 'N: ' + OPEN + 'not.pred %p5, %p4; @%p5 bra M;')
lock('a turn waits', TURN + 'V: ld.volatile.global.u32 %r20, [%d2]; setp.eq.u32 %p6, %r20, 0; @%p6 bra V; ' + COUNT + OPEN + BACK)
lock('a turn and a barrier', TURN + COUNT + OPEN + 'N: bar.sync 0; not.pred %p5, %p4; @%p5 bra M;')
lock('the turn asks for another value', TURN.replace('%p4, %r21, 0', '%p4, %r21, 2') + COUNT + OPEN + BACK)
lock('what it takes changes', ' mov.u32 %r9, 1; mov.u32 %r10, 0; M: atom.global.cas.b32 %r21, [%d3], %r10, %r9; mov.u32 %r9, 0; setp.eq.s32 %p4, %r21, 0; setp.ne.s32 %p3, %r21, 0; @%p3 bra N; ' + COUNT + OPEN + BACK)
LOCKED = ORDER[1:3] + ['--maxnreg 64', '--throttle-shared 1024']
LEGAL.append(('a lock by cas', '', LOCK + COUNT + OPEN, LOCKED))
LEGAL.append(('a lock by an exchange', '', ' W: nanosleep.u32 20; atom.global.exch.b32 %r21, [%d3], 1; setp.eq.u32 %p3, %r21, 0; @%p3 bra V; bra W; V: ' + COUNT + '@%p1 bra U; st.global.u32 [%d8], 5; U: atom.global.exch.b32 %r20, [%d3], 0;', LOCKED))
LEGAL.append(('a lock for each bucket', '', 'and.b32 %r20, %r4, 31; mul.wide.u32 %d21, %r20, 4; add.s64 %d20, %d3, %d21; W: atom.global.cas.b32 %r21, [%d20], 0, 1; setp.ne.u32 %p3, %r21, 0; @%p3 bra W; ' + COUNT + 'st.release.gpu.global.u32 [%d20], 0;', LOCKED))
LEGAL.append(('a lock in turns, as compilers write it', '', TURN + COUNT + 'atom.global.exch.b32 %r20, [%d3], 0; ' + BACK, LOCKED))
# a small launch has all of its CTAs resident, whatever its registers
LEGAL.append(('a grid barrier of few CTAs', '', 'atom.global.add.u32 %r20, [%d3], 1; mov.u32 %r22, %nctaid.x; mul.lo.u32 %r22, %r22, %r2; W: ld.volatile.global.u32 %r21, [%d3]; setp.lt.u32 %p3, %r21, %r22; @%p3 bra W;' + SAY, ['--maxnreg 64']))

# ---- lanes that leave, while others of their warp still do something together: the next task would find them waiting ----
LEAVE_BY_DATA = '@%p1 bra END; '
THEN = ' st.global.u32 [%d8], %r21; END:'


def gone(name, body, before='', **launch):
    attack('gone', name, body, AGENT, before, **launch)


gone('a shuffle behind a return', '@%p1 ret; shfl.sync.bfly.b32 %r21, %r4, 0, 31, -1;' + SAY)
gone('a shuffle behind a branch to the end', LEAVE_BY_DATA + 'shfl.sync.bfly.b32 %r21, %r4, 0, 31, -1;' + THEN)
gone('its mask is a register', '@%p1 ret; mov.u32 %r20, -1; shfl.sync.bfly.b32 %r21, %r4, 0, 31, %r20;' + SAY)
gone('its mask was chosen before', 'activemask.b32 %r20; @%p1 ret; shfl.sync.bfly.b32 %r21, %r4, 0, 31, %r20;' + SAY)
gone('its mask was voted for before', 'vote.sync.ballot.b32 %r20, %p0, -1; or.b32 %r20, %r20, -1; @%p1 ret; shfl.sync.bfly.b32 %r21, %r4, 0, 31, %r20;' + SAY)
gone('it names a half of the warp', 'mov.u32 %r19, %laneid; @%p1 bra END; setp.gt.u32 %p4, %r19, 15; @%p4 bra END; shfl.sync.bfly.b32 %r21, %r4, 0, 31, 0xffff;' + THEN)
gone('a vote behind a return', '@%p1 ret; vote.sync.ballot.b32 %r21, %p1, -1;' + SAY)
gone('a match behind a return', '@%p1 ret; match.any.sync.b32 %r21, %r5, -1;' + SAY)
gone('a sum behind a return', '@%p1 ret; redux.sync.add.s32 %r21, %r5, -1;' + SAY)
gone('a barrier of the warp behind a return', '@%p1 ret; bar.warp.sync -1; mov.u32 %r21, 3;' + SAY)
gone('an election behind a return', '@%p1 ret; elect.sync %r21|%p4, -1;' + SAY)
gone('by the number of the thread, not in whole warps', 'setp.ge.u32 %p4, %r3, 40; @%p4 ret; shfl.sync.bfly.b32 %r21, %r4, 0, 31, -1;' + SAY)
gone('by the number of the thread, one less than whole warps', 'setp.gt.u32 %p4, %r3, 32; @%p4 ret; shfl.sync.bfly.b32 %r21, %r4, 0, 31, -1;' + SAY)
gone('by a half of the number of the warp', 'add.s32 %r20, %r3, 16; shr.s32 %r20, %r20, 5; setp.eq.s32 %p4, %r20, 1; @%p4 ret; shfl.sync.bfly.b32 %r21, %r4, 0, 31, -1;' + SAY)
gone('by a quotient that is rounded to zero', 'add.s32 %r20, %r3, -32; div.s32 %r20, %r20, 32; setp.eq.s32 %p4, %r20, 0; @%p4 ret; shfl.sync.bfly.b32 %r21, %r4, 0, 31, -1;' + SAY)
gone('in a callee', '@%p1 ret; mov.u32 %r21, %r4; { .param .b32 q; .param .b32 w; st.param.b32 [w], %r21; call (q), swap, (w); ld.param.b32 %r21, [q]; }' + SAY,
     '.func (.param .b32 r) swap(.param .b32 x)\n{ .reg .b32 %r<3>; ld.param.u32 %r1, [x]; vote.sync.ballot.b32 %r2, 1, -1; st.param.b32 [r], %r2; ret; }\n')
LEGAL.append(('whole warps leave', '', 'mov.u32 %r21, 0; setp.ge.u32 %p4, %r3, 32; @%p4 bra END; shfl.sync.bfly.b32 %r21, %r4, 0, 31, -1;' + THEN, AGENT, True))
LEGAL.append(('whole warps leave, by their number', '', 'shr.u32 %r20, %r3, 5; setp.eq.u32 %p4, %r20, 1; @%p4 ret; shfl.sync.bfly.b32 %r21, %r4, 0, 31, -1;' + SAY, AGENT, True))
LEGAL.append(('whole warps leave, by their number in the grid', '', 'mov.u32 %r17, %ctaid.x; mov.u32 %r18, %ntid.x; mad.lo.u32 %r19, %r17, %r18, %r3; shr.s32 %r20, %r19, 5; setp.eq.s32 %p4, %r20, 3; @%p4 ret; shfl.sync.bfly.b32 %r21, %r4, 0, 31, -1;' + SAY, AGENT, True))
LEGAL.append(('those that are left choose themselves', '', '@%p1 ret; activemask.b32 %r20; vote.sync.ballot.b32 %r21, %p0, %r20;' + SAY, AGENT, True))
LEGAL.append(('a half of the warp', '', 'mov.u32 %r19, %laneid; mov.u32 %r21, 0; setp.gt.u32 %p4, %r19, 15; @%p4 bra N; shfl.sync.bfly.b32 %r21, %r4, 0, 31, 0xffff; N:' + SAY, AGENT, True))
