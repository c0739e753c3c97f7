#!/bin/bash
# --tile-order: persistent kernels whose tiles may be done in any order leave the same bytes, those whose tiles depend on each other, or
# on the turn, are refused with a reason. The ring of tests/gpu/gemms.py, with its producer and its consumers, is among the former.
. tests/tool/tap.sh
python3 - "$B" "$T" <<'PY'
import json, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path.insert(0, 'tests/tool')
from tap import done, say
PTX = 'tests/attacks/tiles/kernels.ptx'
def buffer(name, count, kind='f32', **more): return {'name': name, 'buffer': kind, 'count': count, **more}
def out(n): return buffer('out', n, output=True)
def data(name, n, seed=1): return buffer(name, n, init={'random': [-1, 1], 'seed': seed})
def number(name, v): return {'name': name, 's32': v}
N = 96 * 64
LINE = [64, 1, 1], [out(N), data('x', N), number('n', 96)]
MATRIX = [out(256 * 512), data('x', 256 * 512), number('ny', 256), number('nx', 512), number('across', 16)]
LAUNCH = {'shifted': ([32, 8, 1], MATRIX + [number('tiles', 512)]), 'transpose': ([32, 8, 1], MATRIX + [number('tiles', 128)]),
          'gemm': ([16, 16, 1], [out(256 * 256), data('a', 256 * 64), data('b', 64 * 256, 2), number('n', 256), number('k', 64), number('tiles', 256)]),
          'chain': ([64, 1, 1], [out(N), number('n', 96)]), 'counts': ([64, 1, 1], [buffer('out', 96, 's32', output=True), number('n', 96)]),
          'scatter': ([64, 1, 1], [out(N), data('x', N), buffer('to', 96, 's32', init={'random': [0, 95], 'seed': 3}), number('n', 96)]),
          'after': ([64, 1, 1], [out(2 * N), data('x', N), number('n', 96)]),
          'argument': ([64, 1, 1], LINE[1] + [{'name': 'w', 'bytes': '0000803f00000040' * 4}])}
def launch(name, grid=24, more={}):
    block, args = LAUNCH.get(name, LINE)
    args = [dict(a, **more.get(a['name'], {})) for a in args]
    json.dump({'format': 'gpulocw-launch', 'version': 1, 'ptx': 'kernels.ptx', 'kernel': name, 'grid': [grid, 1, 1], 'block': block, 'args': args}, open(tmp + '/k.launch.json', 'w'))
def call(command, ptx, *options, kernel=None, at='/k.launch.json'):
    r = subprocess.run([exe, command, ptx, *(['--kernel', kernel] if kernel else []), '--launch', tmp + at, '-d', 'sim:hopper-h200', *options], capture_output=True, text=True)
    return r.returncode, r.stdout, r.stderr
def run(name, *options, **how):
    launch(name, **how)
    rc, text, err = call('run', PTX, '--prove', 'full', '--no-counters', '-j', *options, kernel=name)
    try: d = json.loads(text)
    except ValueError: d = {}
    return rc, d, err + text[-400:]
def proven(rc, d): return rc == 0 and d.get('proof', {}).get('holds') is True

# ---- any order ----
for name in ('shifted', 'transpose', 'gemm', 'ring'):
    for order in ('reverse', 'column', 'tile:4x3', 'tile:16x16'):
        rc, d, err = run(name, '--tile-order', order, '--tile-width', '8')
        say(proven(rc, d), '%s, %s' % (name, order), rc, err)
# Rows that the tiles do not fill, grids of one CTA and of more CTAs than tiles, and widths beyond them.
for grid, width in ((24, 7), (1, 5), (300, 8), (24, 100000), (7, 1)):
    rc, d, err = run('ring', '--tile-order', 'column', '--tile-width', str(width), grid=grid)
    say(proven(rc, d), 'ring, %d CTAs, %d tiles in a row' % (grid, width), rc, err)
rc, d, err = run('transpose', '--tile-order', 'column')
say(proven(rc, d), 'the width is what the kernel divides by', rc, err)
rc, d, err = run('ring', '--tile-order', 'column')
say(rc == 3 and '--tile-width N' in err, 'a kernel that divides by nothing asks for the width', rc, err)
rc, d, err = run('gemm', '--tile-order', 'tile:4x4', '--prefetch', 'l2')
say(proven(rc, d) or (rc == 3 and 'prefetch' in err), 'together with prefetching', rc, err)
rc, d, err = run('gemm', '--tile-order', 'column', '--cluster', 'redirect', '--index', 'row')
say(proven(rc, d), 'together with redirection', rc, err)
launch('transpose')
rc, text, err = call('rewrite', PTX, '--tile-order', 'row', kernel='transpose')
say(rc == 0 and 'change nothing' in err, 'row is the order of the kernel', rc, err)
# The rewritten text by itself: ptxas takes it, and its tiles are those of the order.
rc, text, err = call('rewrite', PTX, '--tile-order', 'tile:4x4', '--with-launch', '-o', tmp + '/new.ptx', kernel='transpose')
say(rc == 0 and 'shown by two launches' in err, 'rewrite shows it before it writes', rc, err)

# ---- refused, by what the text says ----
for name, reason in (('sums', 'from the tile before'), ('turn', 'the turn in which a CTA'), ('more', 'the turn in which a CTA'), ('who', 'the turn in which a CTA'),
                     ('argument', 'the turn in which a CTA|local memory'), ('phase', 'the turn in which a CTA'), ('carry', 'the carry flag'), ('cut', 'the turn in which a CTA|beside the number of a tile'), ('twice', 'the turn in which a CTA|the numbers of 2 tiles'),
                     ('counts', 'an atomic operation'), ('scatter', 'loaded data decide'), ('asks', 'loaded data decide'), ('chain', 'two different numbers'),
# ---- by what its accesses do ----
                     ('over', 'is also written by tile'), ('history', 'reads shared memory that was written by tile|makes other accesses'), ('stages', 'makes other accesses'),
                     ('before', 'makes other accesses'), ('after', 'outside of the tiles|was written by tile'), ('skips', 'makes other accesses|is also written|the turn in which a CTA'), ('constant', 'the turn in which a CTA')):
    rc, d, err = run(name, '--tile-order', 'reverse')
    said = d.get('message', '') + err
    say(rc == 3 and any(r in said for r in reason.split('|')), '%s is refused' % name, rc, said)
    launch(name)
    rc, text, err = call('rewrite', PTX, '--tile-order', 'reverse', kernel=name)
    say(rc == 3 and not text and any(r in err for r in reason.split('|')), '%s is not written' % name, rc, err)
launch('gemm')
r = subprocess.run([exe, 'rewrite', PTX, '--kernel', 'gemm', '--tile-order', 'column'], capture_output=True, text=True)
say(r.returncode == 3 and 'no launch description' in r.stderr, 'without a launch nothing is shown', r.returncode, r.stderr)
r = subprocess.run([exe, 'run', 'kernels/nn.ptx', '--tile-order', 'reverse'], capture_output=True, text=True)
say(r.returncode == 3 and 'no loop in which a CTA takes tile' in r.stderr + r.stdout, 'a kernel without tiles', r.returncode, r.stderr, r.stdout)
for bad in ('tile', 'tile:0x4', 'tile:4', 'column:3', 'backwards'):
    r = subprocess.run([exe, 'run', PTX, '--kernel', 'gemm', '--tile-order', bad], capture_output=True, text=True)
    say(r.returncode == 2 and '--tile-order' in r.stderr, 'no order: ' + bad, r.returncode, r.stderr)

# ---- as Triton 3 compiles them: a register that goes on by 32 tiles' columns beside the counter, a ring of cp.async ----
def words(name, kind, n, seed=0, **more): return {'name': name, 'buffer': kind, 'count': n, 'init': {'random': [-1, 1], 'seed': seed} if seed else {'fill': 0}, **more}
NONE = [{'name': 'scratch', 'u64': 0}, {'name': 'profile', 'u64': 0}]
TRITON = {'transpose': ([128, 1, 1], 4608, [words('x', 'f32', 512 * 256, 1), words('y', 'f32', 512 * 256, output=True), {'name': 'm', 'u32': 512}, {'name': 'n', 'u32': 256}]),
          'matmul': ([256, 1, 1], 98304, [words('a', 'f16', 512 * 128, 1), words('b', 'f16', 128 * 256, 2), words('c', 'f16', 512 * 256, output=True), {'name': 'm', 'u32': 512}, {'name': 'n', 'u32': 256}, {'name': 'k', 'u32': 128}])}
for name, (block, shared, args) in TRITON.items():
    json.dump({'format': 'gpulocw-launch', 'version': 1, 'ptx': 'x.ptx', 'kernel': name + '_persistent', 'grid': [20, 1, 1], 'block': block, 'shared': shared, 'args': args + NONE}, open(tmp + '/t.launch.json', 'w'))
    for order in ('reverse', 'column', 'tile:3x2'):
        rc, text, err = call('run', 'tests/attacks/tiles/triton_%s.ptx' % name, '--prove', 'full', '--no-counters', '-j', '--tile-order', order, at='/t.launch.json')
        say(rc == 0 and json.loads(text)['proof']['holds'] is True, 'Triton, %s, %s' % (name, order), rc, err, text)

# ---- search and advice ----
launch('transpose')
rc, text, err = call('tune', PTX, '-b', '120', '-o', tmp + '/s.json', kernel='transpose')
tried = open(tmp + '/s.json').read() if rc == 0 else ''
say('"tile-order": "tile:8x16"' in tried and '"tile-order": "column"' in tried, 'tune tries orders of tiles', text[-600:], err)
say('neighbouring tiles' not in text, 'no advice where L2 holds the data', text[-600:])
launch('transpose', more={'out': {'count': 2048 * 4096}, 'x': {'count': 2048 * 4096}, 'ny': {'s32': 2048}, 'nx': {'s32': 4096}, 'across': {'s32': 128}, 'tiles': {'s32': 8192}})
rc, text, err = call('tune', PTX, '-b', '1', '-o', tmp + '/s2.json', kernel='transpose')
say(rc == 0 and 'do neighbouring tiles' in text and '--tile-order tile:8x16' in text, 'advice where it does not', text[-900:], err)

# ---- random bodies ----
sys.path.insert(0, 'tests/attacks/tiles')
import random_tiles
shown, broken = {0: 0, 3: 0}, []
for seed in range(80):
    open(tmp + '/r.ptx', 'w').write(random_tiles.kernel(seed))
    json.dump(random_tiles.launch(seed, 'r.ptx'), open(tmp + '/r.launch.json', 'w'))
    rc, text, err = call('run', tmp + '/r.ptx', '--prove', 'full', '--no-counters', '-j', '--tile-order', 'reverse' if seed % 2 else 'column', '--tile-width', '5', at='/r.launch.json')
    if rc not in shown or (rc == 0 and not json.loads(text)['proof']['holds']): broken.append((seed, rc, err[:200]))
    else: shown[rc] += 1
say(not broken and shown[0] > 20 and shown[3] > 10, 'random kernels: what is taken leaves the same', shown, broken[:5])

# ---- a producer, consumers and a ring of tensor copies ----
sys.path.insert(0, 'tests/gpu')
import gemms
g = gemms.Gemm('small', (512, 512, 256), persistent=True, order='row')
open(tmp + '/small.ptx', 'w').write(g.ptx())
d = dict(format='gpulocw-launch', version=1, ptx='small.ptx', kernel='small', **g.launch())
d['grid'] = [5, 1, 1]
json.dump(d, open(tmp + '/small.launch.json', 'w'))
for order in ('reverse', 'column', 'tile:2x2'):
    rc, text, err = call('run', tmp + '/small.ptx', '--prove', 'full', '--no-counters', '-j', '--tile-order', order, at='/small.launch.json')
    say(rc == 0 and json.loads(text)['proof']['holds'] is True, 'tensor copies, wgmma, %s' % order, rc, err, text)
# A consumer that waits a stage late takes the data of the tile before.
late = g.ptx().replace('setp.ne.u32 p5, r30, 0;', 'setp.eq.u32 p5, r0, r0;')
open(tmp + '/late.ptx', 'w').write(late)
rc, text, err = call('rewrite', tmp + '/late.ptx', '--tile-order', 'reverse', at='/small.launch.json')
say(rc == 3 and 'from the tile before' in err, 'a product that adds to the tile before is refused', rc, err)
done()
PY
