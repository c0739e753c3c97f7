#!/bin/bash
# Launches in which nobody makes progress that others see end with the deadlock and exit code 4; slow ones that make some end
# as they should, and a grid barrier whose CTAs all fit does.
. tests/tool/tap.sh
python3 - "$T" <<'PY'
import json, sys
head = '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a)\n{ .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %d<8>; .shared .align 8 .b8 s[64]; ld.param.u64 %d1, [a]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, 0; mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n'
look = 'ld.volatile.global.u32 %r4, [%d1]; '
kernels = {
    'flag': 'L: ' + look + 'setp.eq.u32 %p1, %r4, 0; @%p1 bra L;',
    'counting': 'L: ' + look + 'add.u32 %r3, %r3, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra L; st.global.u32 [%d3+64], %r3;',
    'sleeping': 'mov.u32 %r5, 1; L: nanosleep.u32 %r5; shl.b32 %r5, %r5, 1; min.u32 %r5, %r5, 100000; ' + look + 'setp.eq.u32 %p1, %r4, 0; @%p1 bra L;',
    'lock': 'L: atom.global.cas.b32 %r4, [%d1], 1, 2; setp.ne.u32 %p1, %r4, 1; @%p1 bra L;',
    'each_other': 'st.volatile.global.u32 [%d3+128], 1; xor.b32 %r5, %r1, 1; mul.wide.u32 %d4, %r5, 4; add.s64 %d4, %d1, %d4; L: ld.acquire.gpu.global.u32 %r4, [%d4]; add.u32 %r3, %r3, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra L; st.volatile.global.u32 [%d3], %r3;',
    'shared': 'L: ld.volatile.shared.u32 %r4, [s]; setp.eq.u32 %p1, %r4, 77; @!%p1 bra L;',
    'bounded': 'L: ' + look + 'add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, 50000; @%p1 bra L; st.global.u32 [%d3+64], %r3;',
    'chain': 'L: ' + look + 'setp.ne.u32 %p1, %r4, %r1; @%p1 bra L; membar.gl; add.u32 %r4, %r4, 1; bar.sync 0; st.volatile.global.u32 [%d1], %r4;',
    'worker': 'setp.ne.u32 %p2, %r1, 0; @%p2 bra L; M: add.u32 %r3, %r3, 1; mad.lo.u32 %r5, %r3, %r3, %r5; setp.lt.u32 %p1, %r3, 2000000; @%p1 bra M; st.volatile.global.u32 [%d1], 1; ret; L: ' + look + 'setp.eq.u32 %p1, %r4, 0; @%p1 bra L;',
    'ticks': 'L: atom.global.add.u32 %r4, [%d1], 1; setp.lt.u32 %p1, %r4, 200000; @%p1 bra L;',
    'livelock': 'L: atom.global.inc.u32 %r4, [%d1], 6; add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r4, 100; @%p1 bra L; st.global.u32 [%d3+64], %r3;',
    'barrier': 'setp.ne.u32 %p2, %r2, 0; @%p2 bra B; atom.global.add.u32 %r4, [%d1], 1; mov.u32 %r5, %nctaid.x; L: ' + look + 'setp.lt.u32 %p1, %r4, %r5; @%p1 bra L; B: bar.sync 0; st.global.u32 [%d3+4], %r5;',
}
for name, body in kernels.items():
    open('%s/%s.ptx' % (sys.argv[1], name), 'w').write(head + body + '\n ret; }\n')
    json.dump({'format': 'gpulocw-launch', 'version': 1, 'kernel': 'k', 'grid': [4224 if name == 'barrier' else 8, 1, 1], 'block': [32, 1, 1],
               'args': [{'name': 'a', 'buffer': 'u32', 'count': 16384, 'init': {'fill': 0}, 'output': True}]}, open('%s/%s.launch.json' % (sys.argv[1], name), 'w'))
PY
run() { timeout 400 "$B" run "$T/$1.ptx" --no-counters "${@:2}"; }
for k in flag counting sleeping lock each_other shared; do code "$k: a deadlock" 4 "cannot continue.*\[deadlock\]" run $k; done
for k in bounded chain worker ticks; do code "$k: ends" 0 "" run $k; done
code "a livelock ends by the limit, which says how to raise it" 4 "time limit of 2 s reached; --time-limit allows more" run livelock --time-limit 2
code "a grid barrier of 4,224 CTAs, all resident, ends" 0 "" run barrier --device sim:hopper-h200
has "the help names the limit" "--time-limit SECONDS +a launch that takes longer fails \(simulated: 600" "$("$B" help run)"
exit $bad
