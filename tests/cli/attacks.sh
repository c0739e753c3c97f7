#!/bin/bash
# Kernels written to get a wrong rewrite accepted: pointers that are chosen by arithmetic, waits, registers that see the launch,
# operations of a warp's shape, buffers updated in place. Each is refused, or leaves alone what it must.
. tests/tool/tap.sh
python3 - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import json, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path.insert(0, 'tests/tool')
from tap import done, say
HEAD = '.version 8.1\n.target sm_90\n.address_size 64\n'
ENTRY = '''.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 flag, .param .u64 out)
{ .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %d<40>; .reg .f64 %f<9>; .shared .align 8 .b8 s[4096]; .local .align 8 .b8 l[64];
 ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [flag]; ld.param.u64 %d4, [out];
 mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3; mul.wide.u32 %d9, %r4, 4;
 add.s64 %d5, %d1, %d9; add.s64 %d6, %d2, %d9; add.s64 %d7, %d3, %d9; add.s64 %d8, %d4, %d9;
 ld.global.u32 %r5, [%d7]; cvt.u64.u32 %d10, %r5; neg.s64 %d11, %d10; setp.ne.u32 %p1, %r5, 0;
'''
END = '\n ret; }\n'
# %d20: a, or b where the flag is set
ALIAS = {
    'xor and mask': 'xor.b64 %d20, %d1, %d2; and.b64 %d20, %d20, %d11; xor.b64 %d20, %d20, %d1;',
    'lop3 on halves': 'mov.b64 {%r10, %r11}, %d1; mov.b64 {%r12, %r13}, %d2; neg.s32 %r14, %r5; lop3.b32 %r10, %r14, %r12, %r10, 0xCA; lop3.b32 %r11, %r14, %r13, %r11, 0xCA; mov.b64 %d20, {%r10, %r11};',
    'the larger of both': 'max.u64 %d21, %d1, %d2; min.u64 %d22, %d1, %d2; selp.b64 %d20, %d21, %d22, %p1;',
    'bfi': 'bfi.b64 %d20, %d2, %d1, 0, 64; selp.b64 %d20, %d20, %d1, %p1; bfi.b64 %d20, %d20, %d20, 0, 32;',
    'prmt': 'mov.b64 {%r10, %r11}, %d1; mov.b64 {%r12, %r13}, %d2; mul.lo.u32 %r14, %r5, 0x4444; add.u32 %r14, %r14, 0x3210; prmt.b32 %r10, %r10, %r12, %r14; prmt.b32 %r11, %r11, %r13, %r14; mov.b64 %d20, {%r10, %r11};',
    'shared memory': 'mov.u32 %r10, s; mad.lo.u32 %r10, %r3, 16, %r10; st.shared.v2.u64 [%r10], {%d1, %d2}; mad.lo.u32 %r10, %r5, 8, %r10; ld.shared.u64 %d20, [%r10];',
    'local memory': 'st.local.v2.u64 [l], {%d1, %d2}; mov.u64 %d21, l; mad.wide.u32 %d21, %r5, 8, %d21; ld.local.u64 %d20, [%d21];',
    'shuffles of halves': 'selp.b64 %d20, %d2, %d1, %p1; mov.b64 {%r10, %r11}, %d20; shfl.sync.idx.b32 %r10, %r10, %r3, 31, -1; shfl.sync.idx.b32 %r11, %r11, %r3, 31, -1; mov.b64 %d20, {%r10, %r11};',
    'mad.wide of the distance': 'sub.s64 %d21, %d2, %d1; cvt.u32.u64 %r10, %d21; mad.wide.u32 %d20, %r10, %r5, %d1; shr.u64 %d21, %d21, 32; mul.lo.s64 %d21, %d21, %d10; shl.b64 %d21, %d21, 32; add.s64 %d20, %d20, %d21;',
    'floating point': 'sub.s64 %d21, %d2, %d1; cvt.rn.f64.s64 %f1, %d21; cvt.rn.f64.u64 %f2, %d10; mul.rn.f64 %f1, %f1, %f2; cvt.rni.s64.f64 %d21, %f1; add.s64 %d20, %d1, %d21;',
    'carry chain': 'mov.b64 {%r10, %r11}, %d1; sub.s64 %d21, %d2, %d1; and.b64 %d21, %d21, %d11; mov.b64 {%r12, %r13}, %d21; add.cc.u32 %r10, %r10, %r12; addc.u32 %r11, %r11, %r13; mov.b64 %d20, {%r10, %r11};',
    'funnel shift': 'mov.b64 {%r10, %r11}, %d1; selp.b64 %d21, %d2, %d1, %p1; mov.b64 {%r12, %r13}, %d21; shf.l.wrap.b32 %r14, %r12, %r13, 0; shf.l.wrap.b32 %r15, %r13, %r12, 0; mov.b64 %d20, {%r15, %r14};',
    'reversed twice': 'selp.b64 %d20, %d2, %d1, %p1; brev.b64 %d20, %d20; brev.b64 %d20, %d20;',
    'a division': 'mul.lo.s64 %d21, %d10, 2; add.s64 %d21, %d21, 1; sub.s64 %d22, %d2, %d1; div.u64 %d21, %d21, 3; mul.lo.s64 %d22, %d22, %d21; add.s64 %d20, %d1, %d22;',
    'global memory': 'selp.b64 %d20, %d2, %d1, %p1; mul.wide.u32 %d21, %r4, 8; add.s64 %d21, %d21, %d3; st.global.u64 [%d21+4096], %d20; ld.global.u64 %d20, [%d21+4096];',
    'an exchange': 'selp.b64 %d20, %d2, %d1, %p1; mul.wide.u32 %d21, %r4, 8; add.s64 %d21, %d21, %d3; st.global.u64 [%d21+4096], %d20; atom.global.exch.b64 %d20, [%d21+4096], 0;',
    'a loop': 'mov.b64 %d20, %d1; mov.u32 %r10, 0; L: setp.ge.u32 %p2, %r10, %r5; @%p2 bra M; sub.s64 %d21, %d2, %d1; add.s64 %d20, %d20, %d21; add.u32 %r10, %r10, 1; bra L; M:',
    'generic addresses': 'cvta.global.u64 %d21, %d1; cvta.global.u64 %d22, %d2; selp.b64 %d20, %d22, %d21, %p1; cvta.to.global.u64 %d20, %d20;',
}
CALLEE = '.func (.param .b64 r) pick(.param .b64 x, .param .b64 y, .param .b32 f)\n{ .reg .b64 %d<4>; .reg .b32 %r<2>; .reg .pred %p; ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u32 %r1, [f]; setp.ne.u32 %p, %r1, 0; selp.b64 %d3, %d2, %d1, %p; st.param.b64 [r], %d3; ret; }\n'
CALL = '{ .param .b64 q; .param .b64 w; .param .b64 e; .param .b32 t; st.param.b64 [w], %d1; st.param.b64 [e], %d2; st.param.b32 [t], %r5; call.uni (q), pick, (w, e, t); ld.param.b64 %d20, [q]; }'
def launch(path, flag):
    buf = lambda name, init, count=2048, out=False: {'name': name, 'buffer': 'u32', 'count': count, 'init': init, 'output': out}
    doc = {'format': 'gpulocw-launch', 'version': 1, 'kernel': 'k', 'grid': [8, 1, 1], 'block': [64, 1, 1], 'args': [
        buf('a', {'random': [0, 99], 'seed': 1}, out=True), buf('b', {'random': [0, 99], 'seed': 2}, out=True), buf('flag', flag, 8192), buf('out', {'fill': 0}, out=True)]}
    json.dump(doc, open(path, 'w'))
def gpulocw(command, text, *options, flag={'fill': 0}):
    open(tmp + '/k.ptx', 'w').write(text); launch(tmp + '/k.launch.json', flag)
    r = subprocess.run([exe, command, tmp + '/k.ptx', *options], capture_output=True, text=True, timeout=100)
    return r.returncode, r.stdout, r.stderr
STORE = ' add.s64 %d20, %d20, %d9; ld.global.u32 %r30, [%d6]; add.u32 %r31, %r30, 100; st.global.u32 [%d20], %r31; ld.global.u32 %r32, [%d6]; add.u32 %r32, %r32, %r30; st.global.u32 [%d8], %r32;'
for name, body in list(ALIAS.items()) + [('a callee', CALL)]:
    text = HEAD + (CALLEE if name == 'a callee' else '') + ENTRY + ' ' + body + STORE + END
    why = []
    for options in (['--readonly', 'promote'], ['--bypass', 'ro', '--pi', 'bpa']):
        rc, out, err = gpulocw('rewrite', text, *options)
        if rc not in (0, 3): why.append((rc, err))
        if rc == 0 and any('.nc' in l and '[%d6]' in l for l in out.splitlines()): why.append(' '.join(options) + ': a load of b became .nc')
    for flag in ({'fill': 0}, {'random': [0, 1], 'seed': 3}):
        rc, out, err = gpulocw('run', text, '--readonly', 'promote', '--prove', 'full', '--no-counters', flag=flag)
        if rc not in (0, 3): why.append((rc, out, err))
    say(not why, 'alias by ' + name, *why)
# CTA i waits for what CTA i+1 writes
AHEAD = ' add.u32 %r20, %r1, 1; rem.u32 %r20, %r20, 8; mul.wide.u32 %d20, %r20, 4; add.s64 %d20, %d3, %d20; mul.wide.u32 %d21, %r1, 4; add.s64 %d21, %d3, %d21; setp.eq.u32 %p2, %r3, 0; @%p2 st.global.u32 [%d21], 1;'
WAIT = {
    'or': 'W: atom.global.or.b32 %r21, [%d20], 0; setp.eq.u32 %p3, %r21, 0; @%p3 bra W;',
    'max': 'W: atom.global.max.u32 %r21, [%d20], 0; setp.eq.u32 %p3, %r21, 0; @%p3 bra W;',
    'exchange': 'W: atom.global.exch.b32 %r21, [%d20], 0; setp.eq.u32 %p3, %r21, 0; @%p3 bra W;',
    'compare and swap with what stands there': 'W: atom.global.cas.b32 %r21, [%d20], 1, 1; setp.ne.u32 %p3, %r21, 1; @%p3 bra W;',
    'acquire': 'W: ld.acquire.gpu.global.u32 %r21, [%d20]; setp.eq.u32 %p3, %r21, 0; @%p3 bra W;',
    'weak load': 'W: ld.global.u32 %r21, [%d20]; setp.eq.u32 %p3, %r21, 0; @%p3 bra W;',
    'volatile load and sleep': 'W: nanosleep.u32 20; ld.volatile.global.u32 %r21, [%d20]; setp.eq.u32 %p3, %r21, 0; @%p3 bra W;',
    'by way of shared memory': 'W: ld.volatile.global.u32 %r21, [%d20]; st.shared.u32 [s], %r21; ld.shared.u32 %r22, [s]; setp.eq.u32 %p3, %r22, 0; @%p3 bra W;',
    'a predicate that is kept': 'mov.u32 %r22, 0; W: ld.relaxed.gpu.global.u32 %r21, [%d20]; max.u32 %r22, %r22, %r21; setp.lt.u32 %p4, %r22, 1; selp.u32 %r23, 1, 0, %p4; setp.ne.u32 %p3, %r23, 0; @%p3 bra W;',
    'two entries': 'setp.eq.u32 %p4, %r1, 99; @%p4 bra V; W: ld.relaxed.gpu.global.u32 %r21, [%d20]; V: setp.eq.u32 %p3, %r21, 0; @%p3 bra W;',
    'a switch': 'W: ld.volatile.global.u32 %r21, [%d20]; min.u32 %r21, %r21, 1; T: .branchtargets W, X; brx.idx %r21, T; X:',
    'a trip count read before': 'W: ld.volatile.global.u32 %r21, [%d20]; sub.u32 %r22, 1, %r21; Y: setp.eq.u32 %p3, %r22, 0; @%p3 bra Z; sub.u32 %r22, %r22, 1; bra W; Z:',
}
for name, body in WAIT.items():
    text = HEAD + ENTRY + AHEAD + ' ' + body + ' st.global.u32 [%d8], %r21;' + END
    why = []
    for options in ('--coarsen 2', '--cluster redirect --clusters 3', '--cluster agent --agents 1', '--block 128x1x1'):
        rc, out, err = gpulocw('rewrite', text, *options.split())
        if rc != 3: why.append((options, rc, err))
    say(not why, 'wait by ' + name, *why)
SEES = {
    '%total_smem_size': ['--throttle-shared 1024', '--softcache 1', '--cluster agent'], '%aggr_smem_size': ['--throttle-shared 1024', '--softcache 1'], '%dynamic_smem_size': ['--softcache 1', '--throttle-shared 64', '--cluster agent'],
    '%laneid': ['--block 48x1x1'], '%lanemask_lt': ['--block 48x1x1'], '%nwarpid': ['--block 48x1x1'], '%warpid': ['--block 48x1x1', '--coarsen 2'], '%smid': ['--coarsen 2', '--cluster redirect'],
}
for reg, all in SEES.items():
    text = HEAD + ENTRY + ' ld.global.u32 %%r30, [%%d6]; mov.u32 %%r20, %s; add.u32 %%r20, %%r20, %%r30; st.global.u32 [%%d8], %%r20;' % reg + END
    why = [(o, rc, err) for o in all for rc, out, err in [gpulocw('rewrite', text, *o.split())] if rc != 3]
    say(not why, reg + ' is seen', *why)
SHAPE = {
    'activemask': 'activemask.b32 %r20;', 'vote': 'vote.sync.ballot.b32 %r20, %p1, -1;', 'match': 'match.any.sync.b32 %r20, %r5, -1;', 'redux': 'redux.sync.add.s32 %r20, %r5, -1;',
    'elect': 'elect.sync %r20|%p2, -1;', 'bra.uni by CTA': 'mov.u32 %r20, 0; setp.gt.u32 %p2, %r1, 3; @%p2 bra.uni U; mov.u32 %r20, 5; U:', 'shuffle': 'shfl.sync.bfly.b32 %r20, %r5, 1, 31, -1;', 'bar.warp': 'bar.warp.sync -1; mov.u32 %r20, 1;',
}
for name, body in SHAPE.items():
    text = HEAD + ENTRY + ' ' + body + ' st.global.u32 [%d8], %r20;' + END
    rc, out, err = gpulocw('rewrite', text, '--block', '48x1x1')
    say(rc == 3, name + ' sees the shape of warps', rc, err)
INPLACE = {
    'the neighbour behind a barrier': 'ld.global.u32 %r20, [%d5]; add.u32 %r20, %r20, 1; st.global.u32 [%d5], %r20; bar.sync 0; xor.b32 %r21, %r4, 1; mul.wide.u32 %d21, %r21, 4; add.s64 %d21, %d1, %d21; ld.global.u32 %r22, [%d21]; st.global.u32 [%d8], %r22;',
    'through an atomic': 'red.global.add.u32 [%d5], 3; membar.gl; ld.global.u32 %r22, [%d5]; st.global.u32 [%d8], %r22;',
    'through a byte': 'st.global.u8 [%d5+1], 7; ld.global.u32 %r22, [%d5]; st.global.u32 [%d8], %r22;',
    'through a bulk of four': 'and.b64 %d21, %d5, -16; st.global.v4.u32 [%d21], {%r4, %r4, %r4, %r4}; bar.warp.sync -1; ld.global.u32 %r22, [%d5]; st.global.u32 [%d8], %r22;',
    'a negative index': 'sub.s64 %d21, %d1, 4; add.s64 %d21, %d21, %d9; st.global.u32 [%d21+4], %r4; ld.global.u32 %r22, [%d5]; st.global.u32 [%d8], %r22;',
}
for name, body in INPLACE.items():
    text = HEAD + ENTRY + ' ' + body + END
    why = []
    for options in (['--readonly', 'promote'], ['--bypass', 'ro', '--pi', 'bpa']):
        rc, out, err = gpulocw('rewrite', text, *options)
        if rc not in (0, 3) or rc == 0 and any('.nc' in l and 'r22' in l for l in out.splitlines()): why.append((options, rc, out, err))
        rc, out, err = gpulocw('run', text, *options, '--prove', 'full', '--no-counters')
        if rc not in (0, 3): why.append((options, rc, out, err))
    say(not why, 'in place: ' + name, *why)
done()
PY
rc=$?
cat "$T/said"
exit $rc
