#!/bin/bash
# What the four warps of a warpgroup execute together (wgmma, setmaxnreg) is not torn apart, and the simulator tells a kernel that
# does it.
. tests/tool/tap.sh
python3 - "$T" <<'PY'
import json, sys
head = '.version 8.3\n.target sm_90a\n.address_size 64\n'
entry = '''.visible .entry k(.param .u64 a, .param .u64 out)
{ .reg .pred %p<4>; .reg .b32 %r<30>; .reg .b64 %d<20>; .reg .f32 %f<10>; .shared .align 128 .b8 s[1024];
 ld.param.u64 %d1, [a]; ld.param.u64 %d3, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d4, %r1, 16; add.s64 %d5, %d1, %d4; add.s64 %d8, %d3, %d4;
 shl.b32 %r2, %r1, 2; and.b32 %r2, %r2, 511; mov.u32 %r3, s; add.u32 %r4, %r3, %r2; mov.u32 %r5, 0x3c003c00; st.shared.u32 [%r4], %r5; st.shared.u32 [%r4+512], %r5;
 fence.proxy.async; bar.sync 0; shr.u32 %r20, %r1, 5;
 ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d5];
BODY
 st.global.v4.u32 [%d8], {%r10, %r11, %r12, %r13}; ret; }
'''
matrix = ''' shr.u32 %r6, %r3, 4; and.b32 %r6, %r6, 0x3fff; cvt.u64.u32 %d9, %r6; or.b64 %d9, %d9, 0x0000000800080000;
 mov.f32 %f1, 0f00000000; mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1; wgmma.fence.sync.aligned;
 wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, %d9, 1, 1, 1, 0;
 wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0; cvt.rni.s32.f32 %r10, %f1;'''
give = 'setmaxnreg.dec.sync.aligned.u32 40;'
call = '.func give()\n{ setmaxnreg.inc.sync.aligned.u32 64; ret; }\n'
bodies = {
    'matrix': matrix, 'give': give, 'callee': 'call give;', 'plain': '', 'mma': 'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, {%r10, %r11}, {%f5, %f6, %f7, %f8};',
    'by_group': 'setp.lt.u32 %p1, %r20, 4; @%p1 bra LOW; setmaxnreg.inc.sync.aligned.u32 232; bra BOTH; LOW: ' + give + ' BOTH:',
    'parted': 'setp.eq.u32 %p1, %r20, 1; @%p1 bra ONE; ' + give + ' bra BOTH; ONE: ' + give + ' BOTH:',
    'one_less': 'setp.eq.u32 %p1, %r20, 1; @%p1 bra BOTH; ' + give + ' BOTH:',
    'half': 'and.b32 %r21, %r1, 1; setp.eq.u32 %p1, %r21, 0; @%p1 bra BOTH; ' + give + ' BOTH:',
}
for name, body in bodies.items():
    open('%s/%s.ptx' % (sys.argv[1], name), 'w').write(head + (call if name == 'callee' else '') + entry.replace('BODY', body))
    for block in (64, 128, 256):
        json.dump({'format': 'gpulocw-launch', 'version': 1, 'kernel': 'k', 'grid': [2, 1, 1], 'block': [block, 1, 1],
                   'args': [{'name': 'a', 'buffer': 'f16', 'count': 2048, 'init': {'random': [0, 1], 'seed': 1}}, {'name': 'out', 'buffer': 'u32', 'count': 1024, 'output': True}]},
                  open('%s/%s.%d.json' % (sys.argv[1], name, block), 'w'))
PY
run() { "$B" run "$T/$1.ptx" -l "$T/$1.$2.json" --no-counters --bypass l1 "${@:3}"; }
for kernel in matrix give callee; do
    for pi in 1 2 3 5 7; do code "$kernel: a threshold of $pi is refused" 3 "parts the four warps of a warpgroup.*(wgmma.fence|setmaxnreg)" run $kernel 256 --pi $pi; done
    for pi in 0 4 8; do has "$kernel: a threshold of $pi is the same kernel" "equal to the original" "$(run $kernel 256 --pi $pi --prove full 2>&1)"; done
    for by in vote vote-cta; do code "$kernel: a vote is refused" 3 "tries every threshold" run $kernel 256 --pi $by; done
    code "$kernel: hybrid is refused" 3 "parts the four warps" run $kernel 256 --pi 3 --bypass-form hybrid --bypass-loads $(grep -n "ld.global.v4" "$T/$kernel.ptx" | cut -d: -f1)
    for form in predicate grouped; do has "$kernel: $form takes any threshold" "equal to the original" "$(run $kernel 256 --pi 3 --bypass-form $form --prove full 2>&1)"; done
done
for kernel in plain mma; do for pi in 1 3; do has "$kernel: a threshold of $pi is taken" "equal to the original" "$(run $kernel 256 --pi $pi 2>&1)"; done; done
has "a branch between warpgroups is taken" "equal to the original" "$(run by_group 256 --pi 4 --prove full 2>&1)"
code "a branch that parts a warpgroup" 4 "warp 1 setmaxnreg.dec, warp 0 setmaxnreg.dec of line.*\[not-uniform\]" "$B" run "$T/parted.ptx" -l "$T/parted.128.json"
code "a warp that leaves it out" 4 "cannot continue: 3 warps wait for warps that never arrive.*setmaxnreg.dec.*warp 1.*\[deadlock\]" "$B" run "$T/one_less.ptx" -l "$T/one_less.128.json"
code "half of each warp" 4 "setmaxnreg.dec executed by part of a warp.*\[not-uniform\]" "$B" run "$T/half.ptx" -l "$T/half.128.json"
code "half a warpgroup" 4 "setmaxnreg.dec executed by a CTA whose warps are no whole warpgroups.*\[not-uniform\]" "$B" run "$T/give.ptx" -l "$T/give.64.json"
exit $bad
