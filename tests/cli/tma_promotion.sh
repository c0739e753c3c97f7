#!/bin/bash
# --tma-promotion: how many bytes L2 fetches together for tensor copies. Hit rates as an H100 has them (docs/lab/clusters.md).
. tests/tool/tap.sh
python3 - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import json, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path.insert(0, 'tests/tool')
from tap import done, say
# Rows of 4,096 bytes; a CTA copies boxes of `inner` bytes by 64 rows, `step` apart.
def kernel(inner, step): return '''.version 8.2
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 ring[];
.visible .entry k(.param .align 64 .b8 A[128], .param .u64 a, .param .u64 out)
{ .reg .pred p<4>; .reg .b32 r<20>; .reg .b64 x<8>; .shared .align 8 .b64 bar;
 mov.u32 r0, %%tid.x; setp.ne.u32 p0, r0, 0; @p0 bra END; mov.b64 x0, A; cvta.param.u64 x0, x0; mov.u32 r1, bar; mov.u32 r2, ring; mov.u32 r3, %%ctaid.x;
 mbarrier.init.shared::cta.b64 [r1], 1; fence.mbarrier_init.release.cluster; shl.b32 r4, r3, 6; mov.u32 r5, 0; mov.u32 r6, 0; mov.u32 r8, 0;
L: mbarrier.arrive.expect_tx.shared::cta.b64 _, [r1], %d; cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [r2], [x0, {r5, r4}], [r1];
W: mbarrier.try_wait.parity.shared::cta.b64 p1, [r1], r6; @!p1 bra W; xor.b32 r6, r6, 1; ld.shared.u32 r7, [r2]; add.u32 r8, r8, r7; add.u32 r5, r5, %d; setp.lt.u32 p2, r5, 4096; @p2 bra L;
 ld.param.u64 x1, [out]; mul.wide.u32 x2, r3, 4; add.u64 x1, x1, x2; st.global.u32 [x1], r8;
END: ret; }
''' % (inner * 64, step)
def write(inner, step, promotion=None, grid=44):
    open(tmp + '/k.ptx', 'w').write(kernel(inner, step))
    tensor = {'data': 'a', 'type': 'u8', 'dims': [4096, grid * 64], 'strides': [4096], 'box': [inner, 64]}
    if promotion: tensor['l2_promotion'] = promotion
    json.dump({'format': 'gpulocw-launch', 'version': 1, 'ptx': 'k.ptx', 'kernel': 'k', 'grid': [grid, 1, 1], 'block': [32, 1, 1], 'shared': 8192,
               'args': [{'name': 'A', 'tensor_map': tensor}, {'name': 'a', 'buffer': 'u8', 'count': 4096 * grid * 64, 'init': {'iota': [0, 1]}}, {'name': 'out', 'buffer': 'u32', 'count': grid, 'output': True}]}, open(tmp + '/k.launch.json', 'w'))
# An H100 with a sixth of its L2, so that small tensors do not stay there.
preset = json.loads(subprocess.run([exe, 'devices', 'hopper-h100', '--json'], capture_output=True, text=True).stdout)
preset['fields']['l2_bytes']['value'] //= 6
H100 = tmp + '/h100.json'
json.dump(preset, open(H100, 'w'))
def gpulocw(*args): return subprocess.run([exe, *args], capture_output=True, text=True)
def run(*options, device=H100):
    r = gpulocw('run', tmp + '/k.ptx', '-d', device, '-j', *options)
    try: d = json.loads(r.stdout)
    except ValueError: return r.returncode, {}, r.stderr
    d['c'] = {c['name']: c['value'] for c in d['counters']}
    return r.returncode, d, r.stdout[-300:] + r.stderr
def hits(d): return d['c']['l2.hit_rate']
# inner, step: hit rate with none, 64B, 128B, measured on an H100; DRAM with 128 bytes over DRAM with none
for inner, step, want, more in ((64, 64, (0, 0, 100 / 3), 1), (32, 32, (100 / 3, 100 / 3, 300 / 7), 1), (64, 128, (0, 0, 0), 2), (32, 128, (0, 0, 0), 2), (128, 128, (0, 0, 0), 1)):
    d = {}
    for p in ('none', '64B', '128B', '256B'):
        write(inner, step, p)
        rc, d[p], text = run()
        if rc: say(False, '%s runs' % p, text)
    got = tuple(hits(d[p]) for p in ('none', '64B', '128B'))
    say(all(abs(a - b) < 0.01 for a, b in zip(got, want)), 'boxes of %d bytes, %d apart: hits in L2' % (inner, step), got, want)
    ratio = d['128B']['c']['dram.read_bytes'] / d['none']['c']['dram.read_bytes']
    say(abs(ratio - more) < 0.01 and d['256B']['c']['dram.read_bytes'] >= d['128B']['c']['dram.read_bytes'] * 0.999, 'and what comes from DRAM', ratio, more)
    say(len({json.dumps(d[p]['outputs'][0].get('hash')) for p in d}) == 1, 'the same bytes')
    if inner == step == 64:
        say(d['128B']['time_ns']['median'] < 0.8 * d['none']['time_ns']['median'], 'halves of lines one after the other gain (1.44x on an H100)', d['none']['time_ns']['median'], d['128B']['time_ns']['median'])
# The description says the same, and the option goes before it.
write(64, 64)
rc, option, _ = run('--tma-promotion', '128B')
write(64, 64, '128B')
rc, said, _ = run()
rc, off, _ = run('--tma-promotion', 'none')
say(said['time_ns']['median'] == option['time_ns']['median'] and hits(off) == 0, 'l2_promotion of the description, and the option above it', said['time_ns'], option['time_ns'], hits(off))
# Search, files, programs.
write(64, 64)
r = gpulocw('tune', tmp + '/k.ptx', '-d', H100, '-b', '12', '-o', tmp + '/s.json')
tried = open(tmp + '/s.json').read() if r.returncode == 0 else ''
say('"tma-promotion": "128B"' in tried, 'tune tries it', r.stdout[-800:], r.stderr)
say('whole lines for tensor copies' in r.stdout and 'rows of 64 bytes' in r.stdout, 'the advice names it', r.stdout[-1500:])
write(128, 128)
r = gpulocw('tune', tmp + '/k.ptx', '-d', H100, '-b', '3')
say(r.returncode == 0 and 'whole lines for' not in r.stdout, 'not for boxes of whole lines', r.stdout[-1500:])
write(64, 64, '128B')
r = gpulocw('tune', tmp + '/k.ptx', '-d', H100, '-b', '3')
say(r.returncode == 0 and 'whole lines for' not in r.stdout, 'nor where L2 does so', r.stdout[-1500:])
write(64, 64)
r = gpulocw('sweep', tmp + '/k.ptx', '-d', H100, '--axis', 'tma-promotion', '-j')
say(r.returncode == 0 and '256B' in r.stdout, 'an axis of a sweep', r.returncode, r.stderr)
r = gpulocw('rewrite', tmp + '/k.ptx', '--tma-promotion', '256B', '-o', tmp + '/o.ptx', '--with-launch')
launch = json.load(open(tmp + '/o.launch.json'))
say(r.returncode == 0 and launch['args'][0]['tensor_map'].get('l2_promotion') == '256B' and 'cuTensorMapEncodeTiled' in r.stderr, 'the launch description has it, a program is told how', r.stderr, launch['args'][0])
r = gpulocw('run', 'kernels/atax.ptx', '-d', H100, '--tma-promotion', '128B')
say(r.returncode == 0, 'without tensor maps nothing happens', r.stderr)
r = gpulocw('run', tmp + '/k.ptx', '--tma-promotion', '32B')
say(r.returncode == 2 and 'keep' in r.stderr, 'another size is refused', r.returncode, r.stderr)
done()
PY
rc=$?
cat "$T/said"
exit $rc
