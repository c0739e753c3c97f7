#!/bin/bash
# tune tries what the classes of the arrays say as one move: order, bypassing, a part of L2 (Locality Descriptor).
. tests/tool/tap.sh
python3 - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import json, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path.insert(0, 'tests/tool')
from tap import done, say
def tune(ptx, device, *options):
    r = subprocess.run([exe, 'tune', ptx, '-d', device, '--json', *options], capture_output=True, text=True)
    return json.loads(r.stdout) if r.stdout.startswith('{') else {'placement': r.stderr}
# out[i] = table[idx[i]]: idx is read once, table by all; L2 is smaller than both.
BODY = '''.version 7.8\n.target sm_80\n.address_size 64
.visible .entry gather(.param .u64 idx, .param .u64 table, .param .u64 out)
{ .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .b64 %d<12>;
 ld.param.u64 %d1, [idx]; ld.param.u64 %d2, [table]; ld.param.u64 %d3, [out];
 mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
 mul.wide.u32 %d4, %r4, 4; add.s64 %d5, %d1, %d4; ld.global.u32 %r5, [%d5];
 mul.wide.u32 %d6, %r5, 4; add.s64 %d7, %d2, %d6; ld.global.f32 %f1, [%d7];
 add.s64 %d8, %d3, %d4; st.global.f32 [%d8], %f1; ret; }
'''
open(tmp + '/g.ptx', 'w').write(BODY)
json.dump({'format': 'gpulocw-launch', 'version': 1, 'ptx': 'g.ptx', 'kernel': 'gather', 'grid': 1024, 'block': 256,
           'args': [{'name': 'idx', 'buffer': 'u32', 'count': 262144, 'init': {'random': [0, 16383], 'seed': 3}}, {'name': 'table', 'buffer': 'f32', 'count': 16384, 'init': {'random': [0, 1], 'seed': 4}},
                    {'name': 'out', 'buffer': 'f32', 'count': 262144, 'output': True}]}, open(tmp + '/g.launch.json', 'w'))
json.dump({'format': 'gpulocw-preset', 'version': 1, 'name': 'small', 'title': 'small', 'like': 'ampere-a30', 'fields': {'l2_bytes': {'value': 1 << 20, 'source': 'a test'}}}, open(tmp + '/small.json', 'w'))
said = tune(tmp + '/g.ptx', 'sim:' + tmp + '/small.json', '--budget', '16')['placement'] or ''
say('idx streams (past L1), table shared (kept in L2)' in said, 'what streams leaves both caches, what is shared stays in L2', said)
say('--bypass l1+l2' in said and '--bypass-form vertical --bypass-loads 8 ' in said and '--l2-persist table' in said and said.endswith('x'), 'as one configuration, with what it came to', said)
said = tune(tmp + '/g.ptx', 'sim:ampere-a30', '--budget', '16')['placement']
say(said is None, 'in an L2 that holds all, one part is left: no placement', said)
said = tune(tmp + '/g.ptx', 'sim:' + tmp + '/small.json', '--method', 'static')['placement']
say(said is None, 'another method has none', said)
said = tune('kernels/syr2k.ptx', 'sim:fermi-16k', '--budget', '22')['placement'] or ''
say('A shared (column), B shared (column), C streams (past L1)' in said and '--index column' in said and '--bypass-loads 55' in said, 'an order where CTAs share', said)
done()
PY
rc=$?
cat "$T/said"
exit $rc
