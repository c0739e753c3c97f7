"""Guards that the guarded code writes, names that differ in their scope or their % alone, and text written as people write it:
every row is legal, and what is made of it must be the same kernel. Behind them what cannot stand in two copies."""
from kernels import attack, LEGAL, SAY

VECTOR = ['--coarsen 2 --coarsen-mode vector', '--coarsen 4 --coarsen-mode vector']
COPIES = ['--bypass l1 --pi 1', '--bypass l1 --pi 1 --bypass-form predicate', '--bypass l1 --pi 1 --bypass-form grouped']
ALL = VECTOR + COPIES + ['--bypass l1 --pi vote', '--coarsen 2', '--softcache 1', '--block 48x1x1',
                         '--cluster agent --agents 1 --clusters 3']
LOAD = 'ld.global.u32 %r20, [%d5]; mov.u32 %r21, 7; '
SELECT = ' selp.u32 %r22, 100, 200, %p2; add.u32 %r21, %r21, %r22;' + SAY


def legal(name, body, options=ALL, before=''):
    LEGAL.append((name, before, body, options, True))


# ---- what a rewrite splits into blocks, or into copies under guards of its own ----
legal('loads under a predicate and its opposite', LOAD + 'setp.lt.u32 %p2, %r20, 50; @%p2 ld.global.u32 %r22, [%d5]; @!%p2 ld.global.u32 %r22, [%d6]; @%p2 bra N; add.u32 %r21, %r21, %r22; N: st.global.u32 [%d8], %r22;')
legal('a write without a guard between two of opposite guards', LOAD + 'setp.lt.u32 %p2, %r20, 50; @!%p2 div.u32 %r22, %r20, 7; ld.global.u32 %r22, [%d6]; @%p2 rem.u32 %r22, %r20, 13; @!%p2 bra N; mul.lo.u32 %r21, %r21, 3; N: add.u32 %r21, %r21, %r22;' + SAY)
legal('a load alone in a loop', LOAD + 'mov.u32 %r23, 0; N: ld.global.u32 %r22, [%d5]; add.u32 %r21, %r21, %r22; add.u32 %r23, %r23, 1; setp.lt.u32 %p2, %r23, 3; @%p2 bra N; st.global.u32 [%d8], %r21;')
legal('a return with a guard behind a store', LOAD + 'setp.lt.u32 %p2, %r20, 50; st.global.u32 [%d8], %r20; @%p2 ret; st.global.u32 [%d8], %r21;', [o for o in ALL if 'vector' not in o])

# ---- the branch's predicate is written between branch and target ----
BRANCH = LOAD + 'setp.lt.u32 %p2, %r20, 50; @%p2 bra N; '
for name, inside in (
        ('first', 'setp.lt.u32 %p2, %r20, 80; add.u32 %r21, %r21, %r20; mul.lo.u32 %r21, %r21, 3;'),
        ('in the middle', 'add.u32 %r21, %r21, %r20; setp.lt.u32 %p2, %r20, 80; mul.lo.u32 %r21, %r21, 3;'),
        ('last', 'add.u32 %r21, %r21, %r20; mul.lo.u32 %r21, %r21, 3; setp.lt.u32 %p2, %r20, 80;'),
        ('twice', 'setp.lt.u32 %p2, %r20, 80; add.u32 %r21, %r21, %r20; setp.gt.u32 %p2, %r20, 90; mul.lo.u32 %r21, %r21, 3;'),
        ('as the second result', 'setp.lt.u32 %p3|%p2, %r20, 80; selp.u32 %r23, 1, 2, %p3; add.u32 %r21, %r21, %r23;'),
        ('by logic on itself', 'setp.lt.u32 %p3, %r20, 80; or.pred %p2, %p2, %p3; add.u32 %r21, %r21, %r20; xor.pred %p2, %p2, %p3; add.u32 %r21, %r21, 5;'),
        ('by a copy', 'setp.lt.u32 %p3, %r20, 80; mov.pred %p2, %p3; add.u32 %r21, %r21, %r20;'),
        ('before a store', 'setp.lt.u32 %p2, %r20, 80; st.global.u32 [%d6], %r20;'),
        ('before an atomic', 'setp.lt.u32 %p2, %r20, 80; red.global.add.u32 [%d6], %r20; add.u32 %r21, %r21, 1;'),
        ('before a load', 'setp.lt.u32 %p2, %r20, 80; ld.global.u32 %r23, [%d6]; add.u32 %r21, %r21, %r23;')):
    legal('the predicate is written ' + name, BRANCH + inside + ' N:' + SELECT)
legal('the predicate is written behind !', LOAD + 'setp.lt.u32 %p2, %r20, 50; @!%p2 bra N; setp.lt.u32 %p2, %r20, 20; add.u32 %r21, %r21, %r20; N:' + SELECT)
legal('one predicate, two branches', BRANCH + 'setp.lt.u32 %p2, %r20, 80; add.u32 %r21, %r21, %r20; N: @%p2 bra M; setp.gt.u32 %p2, %r20, 95; mul.lo.u32 %r21, %r21, 3; M:' + SELECT)
legal('the predicate stays', BRANCH + 'add.u32 %r21, %r21, %r20; mul.lo.u32 %r21, %r21, 3; N:' + SELECT)

# ---- names ----
ADD = 'setp.lt.u32 q, %%r20, %d; @q bra L; add.u32 t, %%r20, %d; add.u32 %%r21, %%r21, t; L: '
OWN = '{ .reg .pred q; .reg .b32 t; '
legal('a label in two scopes', LOAD + OWN + ADD % (50, 3) + '} ' + OWN + ADD % (90, 5) + '}' + SAY)
legal('a label in three scopes, one within another', LOAD + OWN + ADD % (50, 3) + '} ' + OWN + ADD % (90, 5) + OWN + ADD % (20, 9) + '} }' + SAY)
legal('a label inside and outside', LOAD + OWN + ADD % (50, 3) + '} setp.lt.u32 %p2, %r20, 30; @%p2 bra L; add.u32 %r21, %r21, 2; L:' + SAY)
legal('registers r20 and %r20', '.reg .b32 r20, r21; ' + LOAD + 'add.u32 r20, %r20, 1; mul.lo.u32 r21, r20, r20; add.u32 %r21, %r21, r21; add.u32 %r21, %r21, r20;' + SAY)
legal('registers %r20 and %r20_1', '.reg .b32 %r20_1, %r20_2, %v0_r20; ' + LOAD + 'add.u32 %r20_1, %r20, 1; mul.lo.u32 %r20_2, %r20_1, %r20; add.u32 %v0_r20, %r20_2, 4; add.u32 %r21, %r21, %v0_r20;' + SAY)
legal('a register in two scopes', LOAD + '{ .reg .b32 %r20; mov.u32 %r20, 5; add.u32 %r21, %r21, %r20; } add.u32 %r21, %r21, %r20;' + SAY)
legal('a register of an inner scope, named as a label', LOAD + '{ .reg .b32 N; add.u32 N, %r20, 4; add.u32 %r21, %r21, N; } setp.lt.u32 %p2, %r20, 50; @%p2 bra N; add.u32 %r21, %r21, 9; N:' + SAY)

# ---- text ----
legal('a guard with blanks', LOAD + 'setp.lt.u32 %p2, %r20, 50; @ %p2 bra N; add.u32 %r21, %r21, %r20; N: @! %p2 ld.global.u32 %r21, [%d6]; @ ! %p2 add.u32 %r21, %r21, 1;' + SAY)
legal('a guard with a comment behind it', LOAD + 'setp.lt.u32 %p2, %r20, 50; @%p2/* st */ld.global.u32 %r21, [%d6]; @!%p2 // ld\n ld.global.u32 %r21, [%d6+4];' + SAY)
legal('a return with a guard and a comment', LOAD + 'setp.lt.u32 %p2, %r20, 50; st.global.u32 [%d8], %r20; @%p2/* ret */ret; @!%p2\n st.global.u32 [%d8], %r21;', ALL[2:])
legal('quotes in comments', LOAD + 'add.u32 %r21, /* " */ %r21, %r20; // it"s\n mul.lo.u32 %r21, %r21, %r20; /* " */ add.u32 %r21, %r21, %r20;' + SAY)
legal('a statement over lines', LOAD + 'add.u32\n %r21, // %r3\n %r21,\n /* %r4; */ %r20\n ;' + SAY)
legal('labels in comments', LOAD + 'setp.lt.u32 %p2, %r20, 50; @%p2 bra /* M */ N; // bra M\n add.u32 %r21, %r21, %r20; N: /* N: */' + SAY)

TURNS = 'mov.u32 %r24, 0; A: ' + LOAD + OWN + ADD % (50, 3) + '} @!%p2 /* A */ add.u32 %r21, %r21, 1; setp.lt.u32 %p2, %r24, 10; @ %p2 // A\n add.u32 %r24, %r24, 1; @%p2 bra A;' + SAY
legal('a loop that goes over to another copy', TURNS, ['--softcache dynamic --softcache-sample 4', '--softcache dynamic --softcache-sample 4 --softcache-again 2', '--bypass l1 --pi 1'])

# ---- what two copies would have twice ----
INNER = LOAD + '{ .shared .align 4 .b8 mine[256]; mov.u32 %r23, mine; mad.lo.u32 %r24, %r3, 4, %r23; st.shared.u32 [%r24], %r20; bar.sync 0; xor.b32 %r25, %r3, 33; mad.lo.u32 %r25, %r25, 4, %r23; ld.shared.u32 %r21, [%r25]; }' + SAY
attack('copies', 'a shared array of an inner scope', INNER, ['--bypass l1 --pi 1', '--bypass l1 --pi vote', '--bypass l1 --pi 1 --bypass-form hybrid'])
legal('a shared array of an inner scope', INNER, COPIES[1:] + ['--bypass l1 --pi bpa'])
HELD = ('.func (.param .b32 r) held(.param .b32 x, .param .b64 p)\n{ .reg .b32 %r<9>; .reg .b64 %d<3>; .shared .align 4 .b8 mine[256]; ld.param.u32 %r1, [x]; ld.param.u64 %d1, [p]; '
        'ld.global.u32 %r2, [%d1]; mov.u32 %r3, %tid.x; mov.u32 %r4, mine; mad.lo.u32 %r5, %r3, 4, %r4; add.u32 %r2, %r2, %r1; st.shared.u32 [%r5], %r2; bar.sync 0; '
        'xor.b32 %r6, %r3, 33; mad.lo.u32 %r6, %r6, 4, %r4; ld.shared.u32 %r7, [%r6]; st.param.b32 [r], %r7; ret; }\n')
HELD_CALL = LOAD + '{ .param .b32 q; .param .b32 w; .param .b64 e; st.param.b32 [w], %r20; st.param.b64 [e], %d6; call (q), held, (w, e); ld.param.b32 %r21, [q]; }' + SAY
attack('copies', 'a shared array of a callee', HELD_CALL, ['--bypass l1 --pi 1', '--bypass l1 --pi vote'], before=HELD)
attack('copies', 'a local array of an inner scope', 'mov.u32 %r21, 0; mov.u32 %r24, 0; L: { .local .align 4 .b8 mine[8]; ld.global.u32 %r20, [%d5]; add.u32 %r21, %r21, %r20; st.local.u32 [mine], %r21; ld.local.u32 %r21, [mine]; } add.u32 %r24, %r24, 1; setp.lt.u32 %p2, %r24, 20; @%p2 bra L;' + SAY,
       VECTOR + ['--softcache dynamic --softcache-sample 4'], quiet=True)
