#!/bin/bash
# gpulocw compare: lines whose traffic changed come first, what changed most at the top; those that did not are one count. Documents
# have all of them.
. tests/tool/tap.sh
# many loads of one line of the text each; NEW reads every second of `far` words elsewhere
python3 - "$T" <<'PY'
import json, sys
T, n = sys.argv[1], 8
def text(shift):
    loads = ''.join(' mad.lo.u32 %%r2, %%r1, %d, %d; mul.wide.u32 %%d2, %%r2, 4; add.u64 %%d2, %%d1, %%d2;\n ld.global.f32 %%f%d, [%%d2];\n' % (shift.get(i, 1), 4096 * i, i) for i in range(n))
    adds = ''.join(' add.f32 %%f%d, %%f%d, %%f%d;\n' % (n, n, i) for i in range(n))
    return ('.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 o, .param .u64 i)\n{\n .reg .f32 %%f<%d>; .reg .b64 %%d<6>; .reg .b32 %%r<6>;\n' % (n + 1)
            + ' ld.param.u64 %d0, [o]; ld.param.u64 %d1, [i]; cvta.to.global.u64 %d0, %d0; cvta.to.global.u64 %d1, %d1; mov.u32 %r1, %tid.x; mov.f32 %f8, 0f00000000;\n'
            + loads + adds + ' mul.wide.u32 %d3, %r1, 4; add.u64 %d0, %d0, %d3; st.global.f32 [%d0], %f8;\n ret;\n}\n')
for name, shift in (('old', {}), ('new', {2: 8, 5: 2})):
    open('%s/%s.ptx' % (T, name), 'w').write(text(shift))
json.dump({'format': 'gpulocw-launch', 'version': 1, 'ptx': 'old.ptx', 'kernel': 'k', 'grid': [1, 1, 1], 'block': [256, 1, 1], 'shared': 0,
           'args': [{'name': 'o', 'buffer': 'f32', 'count': 256, 'output': True}, {'name': 'i', 'buffer': 'f32', 'count': 65536, 'init': {'random': [0, 1], 'seed': 1}}]},
          open(T + '/old.launch.json', 'w'))
PY
out=$("$B" compare "$T/old.ptx" "$T/new.ptx" -l "$T/old.launch.json")
is "the two lines that changed, the one that changed most first" "$(grep -oE '^  PTX line [0-9]+ +[0-9]+ +[0-9]+ sectors' <<<"$out" | awk '{ print $3, $4, $5 }' | paste -sd' ')" "13 32 256 19 32 64"
has "the others are one count" "^  lines     6 more whose loads read as many sectors as before" "$out"
same=$("$B" compare "$T/old.ptx" "$T/old.ptx" -l "$T/old.launch.json")
is "of two that are the same no line stands there" "$(grep -c 'PTX line' <<<"$same") $(grep -cE '^  lines     8 whose' <<<"$same")" "0 1"
doc "a document has every line" "len(d['kernels'][0]['lines']) == 8" "$B" compare "$T/old.ptx" "$T/new.ptx" -l "$T/old.launch.json" --json
exit $bad
