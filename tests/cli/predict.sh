#!/bin/bash
# gpulocw predict: what it does not model is n/a by name; what orders loads, and bank conflicts, are in its figure.
. tests/tool/tap.sh
python3 - "$T" <<'PY'
import json, sys
T = sys.argv[1]
HEAD = '.version 8.0\n.target sm_90\n.address_size 64\n%s.visible .entry k(.param .u64 o, .param .u64 i)%s\n{\n .shared .align 4 .b8 s[16384];\n .local .align 4 .b8 v[16];\n .reg .f32 %%f<64>; .reg .b64 %%d<10>; .reg .b32 %%r<9>; .reg .pred %%p;\n' \
    ' ld.param.u64 %%d0, [o]; ld.param.u64 %%d1, [i]; mov.u32 %%r0, %%tid.x; mov.u32 %%r1, %%ctaid.x; mad.lo.u32 %%r2, %%r1, 128, %%r0; mul.wide.u32 %%d2, %%r2, 4; add.u64 %%d0, %%d0, %%d2; add.u64 %%d1, %%d1, %%d2;\n' \
    ' mov.u32 %%r3, s; shl.b32 %%r4, %%r0, %d; add.u32 %%r3, %%r3, %%r4; mov.u64 %%d3, s; cvta.shared.u64 %%d3, %%d3; cvt.u64.u32 %%d4, %%r4; add.u64 %%d3, %%d3, %%d4;\n'
END = ' bar.sync 0; ld.shared.f32 %f0, [%r3]; st.global.f32 [%d0], %f0;\n ret;\n}\n'
def load(n, space='.global'): return ' ld%s.f32 %%f%d, [%%d1+%d];\n' % (space, n, 540672 * n)
def generic(n): return ' st.f32 [%%d3+%d], %%f%d;\n' % (512 * n, n)
def shared(n): return ' st.shared.f32 [%%r3+%d], %%f%d;\n' % (512 * n, n)
N = range(16)
texts = {
    'turns': ''.join(load(n, '') + generic(n) for n in N), 'batch': ''.join(load(n, '') for n in N) + ''.join(generic(n) for n in N),
    'apart': ''.join(load(n) + shared(n) for n in N), 'one': load(0) + shared(0),
    'atomic': load(0) + ' red.global.add.f32 [%d0], %f0;\n' + shared(0), 'index': load(0) + ' and.b32 %r5, %r2, 60; cvt.u64.u32 %d5, %r5; mov.u64 %d6, c; add.u64 %d6, %d6, %d5; ld.const.f32 %f1, [%d6];\n' + shared(1),
    'local': load(0) + ' st.local.f32 [v], %f0; ld.local.f32 %f1, [v];\n' + shared(1),
    'spills': ''.join(load(n) for n in range(40)) + ' mov.u32 %r6, 0;\nL:\n' + ''.join(' fma.rn.f32 %%f%d, %%f%d, %%f%d, %%f%d;\n' % (n, n, (n + 1) % 40, (n + 9) % 40) for n in range(40)) + ' add.u32 %r6, %r6, 1; setp.lt.u32 %p, %r6, 4; @%p bra L;\n' + ''.join(' add.f32 %%f0, %%f0, %%f%d;\n' % n for n in range(1, 40)) + shared(0),
    'rows': load(0) + ''.join(' st.shared.f32 [%r3], %f0; ld.shared.f32 %f0, [%r3];\n' for n in N) + shared(0)}
for name, body in texts.items():
    conflicts = 7 if name == 'rows' else 2
    head = HEAD % ('.const .align 4 .b8 c[256];\n' if name == 'index' else '', ' .maxntid 128, 1, 1 .maxnreg 24' if name == 'spills' else '', conflicts)
    open('%s/%s.ptx' % (T, name), 'w').write(head + body + END)
    json.dump({'format': 'gpulocw-launch', 'version': 1, 'ptx': name + '.ptx', 'kernel': 'k', 'grid': [1056, 1, 1], 'block': [128, 1, 1], 'shared': 0,
               'args': [{'name': 'o', 'buffer': 'f32', 'count': 135168, 'output': True}, {'name': 'i', 'buffer': 'f32', 'count': 135168 * 40, 'init': {'random': [0, 1], 'seed': 1}}]},
              open('%s/%s.launch.json' % (T, name), 'w'))
PY
ours() { "$B" predict "$T/$1.ptx" | sed -n 's/^  ours  *\([0-9.e+]*\):.*/\1/p'; }
times() { awk -v a="$1" -v b="$2" -v m="$3" -v n="$4" 'BEGIN { exit !(a >= m * b && a <= n * b) }'; }
turns=$(ours turns) batch=$(ours batch) apart=$(ours apart) one=$(ours one) rows=$(ours rows)
if times "$turns" "$batch" 1.2 9; then ok "loads behind stores that may write what they read wait for them: $turns, batched $batch"; else no "turns" "$turns" "$batch"; fi
if times "$apart" "$batch" 0.9 1.1; then ok "stores to another space keep no load: $apart"; else no "apart" "$apart" "$batch"; fi
if times "$rows" "$one" 1.5 99; then ok "bank conflicts take their turns: $rows, without $one"; else no "rows" "$rows" "$one"; fi
for w in "atomic atomics" "index constants by an index" "local local memory" "spills spills: the [0-9]+ bytes"; do
    has "n/a by name: ${w#* }" "memory cost +n/a: ${w#* }" "$("$B" predict "$T/${w%% *}.ptx")"
done
exit $bad
