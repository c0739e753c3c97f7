#!/bin/bash
# Initial data of launch descriptions equal those that a program of their documented definitions makes; what does not fit is told with its place.
. tests/tool/tap.sh
python3 - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import json, math, re, shutil, struct, subprocess, sys
from fractions import Fraction
exe, tmp = sys.argv[1:]
sys.path.insert(0, 'tests/tool')
from tap import done, say

M = (1 << 64) - 1
def splitmix(seed, i):
    z = (seed + (i + 1) * 0x9E3779B97F4A7C15) & M
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & M
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & M
    return z ^ z >> 31

# ---- element types: all patterns of a small float, the nearest chosen ----
def small_value(m, fraction, bias):
    e, f = m >> fraction, m & (1 << fraction) - 1
    return Fraction((1 << fraction) + f if e else f) * Fraction(2) ** ((e or 1) - bias - fraction)
SMALL = {'f16': (10, 15, 0x7BFF, 0x7C00, 15, 0), 'bf16': (7, 127, 0x7F7F, 0x7F80, 15, 0), 'e4m3': (3, 7, 0x7E, 0x7E, 7, 0),
         'e5m2': (2, 15, 0x7B, 0x7B, 7, 0), 'tf32': (10, 127, 0x3FBFF, 0x3FC00, 18, 13)}
tables = {}
def encode(t, x):
    if t not in SMALL: return struct.pack('<' + dict(u8='B', s8='b', u16='H', s16='h', u32='I', s32='i', f32='f', u64='Q', s64='q', f64='d')[t], x)
    fraction, bias, most, beyond, sign, shift = SMALL[t]
    if t not in tables: tables[t] = [small_value(m, fraction, bias) for m in range(most + 2)]
    v, a = tables[t], abs(Fraction(x))
    import bisect
    k = bisect.bisect_left(v, a, 0, most + 2)
    if k > most + 1: m = beyond
    else:
        if k and (k > most + 1 or 2 * a < v[k - 1] + v[k] or (2 * a == v[k - 1] + v[k] and (k - 1) % 2 == 0)): k -= 1
        m = beyond if k > most else k
    bits = (m | ((1 << sign) if x < 0 else 0)) << shift
    return bits.to_bytes({7: 1, 15: 2, 18: 4}[sign], 'little')
is_float = lambda t: t in SMALL or t in ('f32', 'f64')

# ---- the definitions of docs/reference/launch.md ----
def offsets(rows, nnz, seed):
    mean, last, out = nnz // rows, 0, []
    for i in range(rows + 1):
        at = nnz if i >= rows else int(float(i) * float(nnz) / float(rows))
        if 0 < i < rows and mean > 1: at += splitmix(seed, i) % (mean + 1) - mean // 2
        last = min(max(at, last), nnz)
        out.append(last)
    return out
def numbers(t, init, n):
    seed = init.get('seed', 0)
    if 'fill' in init: return [init['fill']] * n
    if 'iota' in init: return [init['iota'][0] + i * init['iota'][1] for i in range(n)]
    if 'random' in init or 'sorted' in init:
        lo, hi = init.get('random') or init['sorted']
        z = [splitmix(seed, i) for i in range(n)]
        if 'random' in init: return [lo + (hi - lo) * ((x >> 40) / 2**24) if is_float(t) else lo + x % (hi - lo + 1) for x in z]
        if is_float(t): return [lo + (hi - lo) * ((i + (x >> 40) / 2**24) / n) for i, x in enumerate(z)]
        return [lo + (i * 2**24 + (x >> 40)) * (hi - lo + 1) // (n * 2**24) for i, x in enumerate(z)]
    if 'neighbours' in init:
        rows, degree, span = (init['neighbours'].get(k, 0) for k in ('rows', 'degree', 'span'))
        wide = min(2 * span + 1, rows) if span else rows
        out = []
        for i in range(n):
            r, k = divmod(i, degree)
            low, high = wide * k // degree, wide * (k + 1) // degree
            out.append(min(max(r - span, 0), rows - wide) + low + splitmix(seed, i) % (high - low))
        return out
    if 'graph' in init:
        nodes, degree = init['graph']['nodes'], init['graph']['degree']
        row = offsets(nodes, nodes * degree, seed)
        if n == nodes + 1: return row
        if n == nodes * degree: return [splitmix(seed, nodes + 1 + i) % nodes for i in range(n)]
        return row + [splitmix(seed, nodes + 1 + i) % nodes for i in range(n - nodes - 1)]
    if 'rows' in init: return offsets(init['rows']['rows'], init['rows']['nnz'], seed)
    raise KeyError(init)
def made(t, init, n):
    if isinstance(init, list):
        left, out = n, b''
        for p in init:
            k = p.get('count', left)
            out, left = out + made(t, p, k), left - k
        return out
    if 'hex' in init: return bytes.fromhex(init['hex'])
    return b''.join(encode(t, x) for x in numbers(t, init, n))

# ---- a kernel that leaves its data alone: outputs are the initial data ----
open(tmp + '/k.ptx', 'w').write('''.version 8.0
.target sm_90
.address_size 64
.visible .entry _Z5nopleP4dataf(.param .u64 p)
{
 ret;
}
''')
def launch(args, **more):
    l = dict({'format': 'gpulocw-launch', 'version': 1, 'grid': 1, 'block': 1, 'args': [{'name': 'p', 'same_as': 'b0'}], 'buffers': args}, **more)
    open(tmp + '/k.launch.json', 'w').write(json.dumps(l, indent=1))
    shutil.rmtree(tmp + '/out', ignore_errors=True)
    r = subprocess.run([exe, 'run', tmp + '/k.ptx', '--no-counters', '--outputs', tmp + '/out'], capture_output=True, text=True, timeout=120)
    return r.returncode, r.stdout + r.stderr
def check(name, rows):
    rc, said = launch([{'name': 'b%d' % i, 'buffer': t, 'count': n, 'init': init, 'output': True} for i, (t, init, n) in enumerate(rows)])
    bad = said if rc else ''
    for i, (t, init, n) in enumerate(rows if not rc else []):
        have, want = open(tmp + '/out/b%d.bin' % i, 'rb').read(), made(t, init, n)
        if have != want:
            w = len(want) // n
            k = next((k for k in range(n) if have[k * w:(k + 1) * w] != want[k * w:(k + 1) * w]), -1)
            bad += '%s %s: element %d is %s, not %s\n' % (t, json.dumps(init)[:200], k, have[k * w:(k + 1) * w].hex(), want[k * w:(k + 1) * w].hex())
    say(not rc and not bad, name, bad)

check('elements of every type, drawn at random', [(t, {'random': [-900, 900] if t in SMALL else [0, 100], 'seed': 5}, 400) for t in ('f16', 'bf16', 'e4m3', 'e5m2', 'tf32', 'f32', 'f64', 'u8', 's16', 'u32', 's64')])
for what, a, s in (('below their normal numbers', 0, 2.0 ** -20), ('of both signs', -1.0, 0.00390625), ('at the ends of 8 bits', 300, 113.7), ('at the end of 16 bits', 5e4, 77.25)):
    check('small floats ' + what, [(t, {'iota': [a, s]}, 600) for t in SMALL])
check('sorted', [('s32', {'sorted': [-50, 1000], 'seed': 3}, 5000), ('u64', {'sorted': [0, 1 << 62], 'seed': 4}, 3000), ('f32', {'sorted': [-1, 1], 'seed': 5}, 3000),
    ('u8', {'sorted': [0, 255], 'seed': 6}, 100), ('bf16', {'sorted': [0, 8], 'seed': 7}, 500)])
v = numbers('s32', {'sorted': [-50, 1000], 'seed': 3}, 5000)
say(v == sorted(v) and min(v) == -50 and max(v) == 1000, 'sorted numbers ascend from the first to the last')
check('neighbours', [('s32', {'neighbours': {'rows': 500, 'degree': 7, 'span': 20}, 'seed': 3}, 3500), ('u32', {'neighbours': {'rows': 64, 'degree': 64}, 'seed': 3}, 4096),
    ('u64', {'neighbours': {'rows': 300, 'degree': 5, 'span': 1000}}, 1500)])
v = numbers('s32', {'neighbours': {'rows': 500, 'degree': 7, 'span': 20}, 'seed': 3}, 3500)
say(all(v[i] < v[i + 1] for i in range(3499) if i % 7 != 6) and all(abs(c - i // 7) <= 40 and 0 <= c < 500 for i, c in enumerate(v)), 'columns of a row ascend and lie near it')
g = {'graph': {'nodes': 200, 'degree': 9}, 'seed': 11}
check('a graph: row offsets, targets, and both in one buffer', [('u32', g, 201), ('u32', g, 1800), ('s64', g, 2001)])
check('rows as before', [('s32', {'rows': {'rows': 100, 'nnz': 1600}, 'seed': 2}, 101)])
check('parts with data of their own', [('f32', [{'fill': 1.5, 'count': 10}, {'random': [0, 1], 'seed': 2, 'count': 20}, {'iota': [5, 2], 'count': 30}, {'fill': 0}], 100),
    ('bf16', [{'hex': '803f0040', 'count': 2}, {'sorted': [1, 2], 'seed': 4, 'count': 6}], 8), ('u32', [dict(g, count=201), dict(g, count=1800), {'fill': 7, 'count': 1}], 2002)])
open(tmp + '/d.bin', 'wb').write(bytes(range(64)))
rc, said = launch([{'name': 'b0', 'buffer': 'u8', 'count': 40, 'init': [{'file': 'd.bin', 'offset': 8, 'count': 16}, {'fill': 9, 'count': 4}, {'file': 'd.bin', 'count': 20}], 'output': True}])
say(rc == 0 and open(tmp + '/out/b0.bin', 'rb').read() == bytes(range(8, 24)) + b'\t' * 4 + bytes(range(20)), 'parts from files', said)
rc, said = launch([{'name': 'b0', 'buffer': 'u32', 'count': 5 << 20, 'init': [{'fill': 3, 'count': 1 << 20}, {'iota': [0, 1]}], 'output': True}])
b = open(tmp + '/out/b0.bin', 'rb').read() if rc == 0 else b''
say(b[:8] == b'\3\0\0\0\3\0\0\0' and b[4 << 20:(4 << 20) + 8] == b'\0\0\0\0\1\0\0\0' and len(b) == 20 << 20, 'parts of a large buffer', said)

# ---- names of kernels ----
for name, key in (('a kernel that is not named, the only one', {}), ('a kernel as people call it', {'kernel': 'nople'}), ('a kernel in full', {'kernel': '_Z5nopleP4dataf'})):
    rc, said = launch([{'name': 'b0', 'buffer': 'u32', 'count': 4, 'output': True}], **key)
    say(rc == 0, name, said)
rc, said = launch([{'name': 'b0', 'buffer': 'u32', 'count': 4}], kernel='people')
say(rc == 1 and "no kernel 'people'" in said, 'a kernel that is not there', said)

# ---- what does not fit ----
def refused(name, init, words, n=8, t='u32', **more):
    rc, said = launch([dict({'name': 'b0', 'buffer': t, 'count': n, 'init': init}, **more)])
    say(rc == 1 and re.search(words, said) and re.search(r'k\.launch\.json:\d+:\d+', said), name, said)
refused('parts that are too few', [{'fill': 1, 'count': 4}], 'have 4 elements, it has 8')
refused('parts that are too many', [{'fill': 1, 'count': 4}, {'fill': 2, 'count': 5}], 'longer than its 8 elements')
refused('a part without a count', [{'fill': 1}, {'fill': 2}], 'part 1 of its init: needs a "count"')
refused('nothing left for the last part', [{'fill': 1, 'count': 8}, {'fill': 2}], 'part 2 of its init: nothing is left')
refused('no parts', [], 'init must be one of fill, .*graph')
refused('a part of no kind', [{'full': 1, 'count': 8}], 'part 1 of its init: init must be one of')
refused('a count that is of no part', {'fill': 1, 'count': 8}, '"count"')
refused('an unknown key of a part', [{'fill': 1, 'cuont': 8, 'count': 8}], 'unknown key "cuont"(.|\n)*did you mean "count"')
refused('a seed that means nothing', [{'fill': 1, 'seed': 8, 'count': 8}], '"seed" (means nothing|has no effect) here')
refused('an unknown key of a graph', {'graph': {'nodes': 4, 'degre': 2}}, 'unknown key "degre"|is invalid')
refused('a graph of another size', {'graph': {'nodes': 4, 'degree': 3}}, r'needs 5 elements \(row offsets\), 12 \(targets\), or 17 \(both\), not 8')
refused('neighbours of another size', {'neighbours': {'rows': 4, 'degree': 3}}, r'rows \* degree = 12 elements, not 8')
refused('more neighbours than columns', {'neighbours': {'rows': 4, 'degree': 5}}, '"degree" is more than the 4 columns', n=20)
refused('a graph without nodes', {'graph': {'nodes': 0, 'degree': 3}}, 'above 0')
refused('a graph that overflows', {'graph': {'nodes': 1 << 62, 'degree': 1 << 62}}, 'above 0, and their product')
refused('sorted from high to low', {'sorted': [5, 2]}, 'must not be above')
refused('sorted of one number', {'sorted': 5}, r'is invalid(.|\n)*"sorted": \[low, high\]')
refused('a fill of two numbers', {'fill': [5, 2]}, r'is invalid(.|\n)*"fill": 0')
refused('an element type that is none', {'fill': 0}, 'bf16 e4m3 e5m2', t='fp8')

# Handles of textures and surfaces that nothing says a size of: a guess, tried on the device.
FETCH = """.version 7.0
.target sm_80
.address_size 64
.visible .entry t(.param .u64 image, .param .u64 out)
{
	.reg .b32 %%r<9>; .reg .f32 %%f<5>; .reg .b64 %%d<6>;
	ld.param.u64 %%d1, [image];
	ld.param.u64 %%d2, [out];
	cvta.to.global.u64 %%d2, %%d2;
	mov.u32 %%r1, %%tid.x;
	shl.b32 %%r2, %%r1, 2;
	%s
	mul.wide.u32 %%d3, %%r1, 4;
	add.s64 %%d4, %%d2, %%d3;
	st.global.f32 [%%d4], %%f1;
	ret;
}
"""
def guessed(name, fetch, dims):
    open(tmp + '/image.ptx', 'w').write(FETCH % fetch)
    r = subprocess.run([exe, 'launch', tmp + '/image.ptx', '-o', tmp + '/image.launch.json', '--force'], capture_output=True, text=True)
    made = json.load(open(tmp + '/image.launch.json'))['args'][0] if r.returncode == 0 else {}
    image = made.get('texture') or made.get('surface') or {}
    say(r.returncode == 0 and 'no guess made' not in r.stderr and image.get('dims') == dims, 'a guess for ' + name, r.returncode, r.stderr, made)
guessed('tex.1d', 'tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%d1, {%r1}];', [4096])
guessed('tex.2d', 'tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%d1, {%r1,%r1}];', [1024, 1024])
guessed('suld', 'suld.b.1d.b32.trap {%r5}, [%d1, {%r2}]; mov.b32 %f1, %r5;', [4096])
guessed('sust', 'mov.b32 %f1, %r1; sust.b.1d.b32.trap [%d1, {%r2}], {%r1};', [4096])
guessed('sured', 'mov.b32 %f1, %r1; sured.b.add.1d.u32.trap [%d1, {%r2}], %r1;', [4096])
done()
PY
cat "$T/said"
