#!/bin/bash
# Texture fetches and surface accesses equal a reference written from the programming guide; wrong handles, shapes and descriptions are told.
. tests/tool/tap.sh
python3 - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import itertools, json, math, random, shutil, struct, subprocess, sys
from fractions import Fraction
exe, tmp = sys.argv[1:]
sys.path.insert(0, 'tests/tool')
from tap import done, say

HEAD = '.version 8.3\n.target sm_90\n.address_size 64\n'
def kernel(body, regs='.b32 %v<8>', name='k'):
    """Thread i takes four 32-bit coordinates from c and leaves four 32-bit results in o."""
    return HEAD + '''.visible .entry %s(.param .u64 t, .param .u64 c, .param .u64 o)
{
 .reg .b64 %%rd<9>; .reg .b32 %%r<9>; .reg %s; .reg .b32 %%c<5>; .reg .f32 %%f<5>;
 ld.param.u64 %%rd1, [t]; ld.param.u64 %%rd2, [c]; ld.param.u64 %%rd3, [o];
 mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%tid.x; mad.lo.u32 %%r4, %%r1, %%r2, %%r3;
 mul.wide.u32 %%rd4, %%r4, 16; add.s64 %%rd5, %%rd2, %%rd4; add.s64 %%rd6, %%rd3, %%rd4;
 ld.global.v4.b32 {%%c1, %%c2, %%c3, %%c4}, [%%rd5];
 mov.b32 %%f1, %%c1; mov.b32 %%f2, %%c2; mov.b32 %%f3, %%c3; mov.b32 %%f4, %%c4;
 mov.b32 %%v1, 0; mov.b32 %%v2, 0; mov.b32 %%v3, 0; mov.b32 %%v4, 0;
 %s
 st.global.v4.b32 [%%rd6], {%%v1, %%v2, %%v3, %%v4};
 ret;
}
''' % (name, regs, body)

def run(ptx, obj, coords, data, dtype, out_data=False, options=()):
    count = len(data) // struct.calcsize(dict(u8='B', s8='b', u16='H', s16='h', f16='e', u32='I', s32='i', f32='f')[dtype])
    open(tmp + '/k.ptx', 'w').write(ptx)
    open(tmp + '/d.bin', 'wb').write(data)
    open(tmp + '/c.bin', 'wb').write(coords)
    m = len(coords) // 4
    what = 'surface' if 'filter' not in obj else 'texture'
    launch = {'format': 'gpulocw-launch', 'version': 1, 'ptx': 'k.ptx', 'kernel': 'k', 'grid': [m // 256, 1, 1], 'block': [64, 1, 1],
        'args': [{'name': 't', what: dict(obj, data='d')},
                 {'name': 'c', 'buffer': 'u32', 'count': m, 'init': {'file': 'c.bin'}},
                 {'name': 'o', 'buffer': 'u32', 'count': m, 'output': True}],
        'buffers': [{'name': 'd', 'buffer': dtype, 'count': count, 'init': {'file': 'd.bin'}, 'output': out_data}]}
    json.dump(launch, open(tmp + '/k.launch.json', 'w'))
    shutil.rmtree(tmp + '/out', ignore_errors=True)
    r = subprocess.run([exe, 'run', tmp + '/k.ptx', '--no-counters', '--outputs', tmp + '/out', *options], capture_output=True, text=True, timeout=120)
    get = lambda name: open(tmp + '/out/' + name + '.bin', 'rb').read()
    return r.returncode, r.stdout + r.stderr, get('o') if r.returncode == 0 else b'', get('d') if r.returncode == 0 and out_data else b''

# ---- the reference: exact fractions ----
def f32(x): return struct.unpack('<f', struct.pack('<f', x))[0]
def edge(mode, size, i):
    if mode == 'border': return i if 0 <= i < size else None
    if mode == 'clamp': return max(0, min(size - 1, i))
    if mode == 'wrap': return i % size
    i %= 2 * size
    return i if i < size else 2 * size - 1 - i
def place(x, size, mode, normalized):
    x = Fraction(x)
    if normalized:
        k = math.floor(x)
        if mode == 'wrap': x -= k
        if mode == 'mirror': x = (1 - (x - k)) if k % 2 else x - k
        x *= size
    return x
def eighth(x): return math.floor(x / 256 + Fraction(1, 2))   # a product of fractions, to 8 bits
def weights(parts, halved):
    """Of the corners, bit d of the index: high in dimension d. The products are rounded, the others are what sums leave."""
    if len(parts) == 1:
        (a,) = parts
        high = eighth(Fraction(a * 128)) if halved else a
        return [(128 if halved else 256) - high, high]
    if len(parts) == 2:
        a, b = parts
        ab = eighth(Fraction(a * b))
        return [256 - a - b + ab, a - ab, b - ab, ab]
    a, b, c = parts
    ab, ac, bc = eighth(Fraction(a * b)), eighth(Fraction(a * c)), eighth(Fraction(b * c))
    abc = eighth(Fraction(ac * b))
    return [256 - a - b - c + ab + ac + bc - abc, a - ab - ac + abc, b - ab - bc + abc, ab - abc, c - ac - bc + abc, ac - abc, bc - abc, abc]
def reference(texels, dims, modes, linear, normalized, xy):
    """texels(i, j, k) -> tuple of fractions; the blended tuple."""
    low, parts = [], []
    for d, size in enumerate(dims):
        p = place(xy[d], size, modes[d], normalized)
        u = math.floor((p - Fraction(1, 2)) * 256 + Fraction(1, 2)) if linear else math.floor(p) * 256
        low.append(u >> 8)
        parts.append(u & 255)
    w = weights(parts, len(dims) == 1 and modes[0] == 'border') if linear else [256]
    total = [Fraction(0)] * 4
    for k, weight in enumerate(w):
        at = [edge(modes[d], size, low[d] + (k >> d & 1)) for d, size in enumerate(dims)]
        if None not in at:
            total = [a + Fraction(weight, 256) * b for a, b in zip(total, texels(*at))]
    return [f32(float(v)) for v in total]

rnd = random.Random(21)
def floats(count, scale=8): return [f32(rnd.uniform(-scale, scale)) for _ in range(count)]
SIZES = {1: (13,), 2: (9, 6), 3: (5, 4, 3)}
GEOM = {1: '1d', 2: '2d', 3: '3d'}
PAD = {1: '{%f1}', 2: '{%f1, %f2}', 3: '{%f1, %f2, %f3, %f3}'}
for rank, linear, normalized in itertools.product((1, 2, 3), (False, True), (False, True)):
    dims = SIZES[rank]
    for modes in ([('clamp',) * 3, ('border',) * 3] + ([('wrap',) * 3, ('mirror', 'wrap', 'clamp')] if normalized else [])):
        # multiples of 1/8 of a texel and ones between them: a coordinate times its size is exact in double
        coords = [[f32(rnd.choice((rnd.uniform(-2, 3), rnd.randrange(-16, 24) / 8)) * (1 if normalized else d)) for d in dims] + [0.0] * (4 - rank) for _ in range(128)]
        cells = math.prod(dims)
        data = floats(4 * cells)
        def texel(i, j=0, k=0):
            at = ((k * (dims[1] if rank > 1 else 1)) + j) * dims[0] + i
            return [Fraction(v) for v in data[4 * at:4 * at + 4]]
        rc, said, out, _ = run(kernel('tex.%s.v4.f32.f32 {%%v1, %%v2, %%v3, %%v4}, [%%rd1, %s];' % (GEOM[rank], PAD[rank])).replace('.reg .b32 %v<8>', '.reg .f32 %v<8>').replace('mov.b32 %v', 'mov.f32 %v').replace(', 0;', ', 0f00000000;').replace('st.global.v4.b32', 'st.global.v4.f32'),
            {'type': 'f32', 'channels': 4, 'dims': list(dims), 'filter': 'linear' if linear else 'point', 'address': list(modes[:rank]), 'normalized': normalized},
            b''.join(struct.pack('<4f', *c) for c in coords), struct.pack('<%df' % len(data), *data), 'f32')
        got = struct.unpack('<%df' % (4 * len(coords)), out) if rc == 0 else ()
        want = [v for c in coords for v in reference(texel, dims, modes, linear, normalized, c)]
        # the sum of at most 8 products in double, rounded once: the last bit may differ
        off = [i for i, (a, b) in enumerate(zip(got, want)) if a != b and (not linear or abs(a - b) > 2 ** -23 * 8)]
        say(rc == 0 and len(got) == len(want) and not off, '%dd %s %s %s' % (rank, 'linear' if linear else 'point', 'normalized' if normalized else 'texels', modes[:rank]),
            said, [(coords[i // 4], got[i], want[i]) for i in off[:3]])

ints = lambda rows: b''.join(struct.pack('<4i', *r) for r in rows)
spots = [(rnd.randrange(-2, 9), rnd.randrange(-2, 7), rnd.randrange(0, 3), 0) for _ in range(64)]
u8 = bytes(rnd.randrange(256) for _ in range(3 * 5 * 7 * 2))
point = {'filter': 'point', 'type': 'u8', 'channels': 2, 'dims': [7, 5]}
rc, said, out, _ = run(kernel('tex.a2d.v4.u32.s32 {%v1, %v2, %v3, %v4}, [%rd1, {%c3, %c1, %c2, %c2}];'), dict(point, layers=3), ints(spots), u8, 'u8')
want = [(u8[((l * 5 + y) * 7 + x) * 2], u8[((l * 5 + y) * 7 + x) * 2 + 1]) if 0 <= x < 7 and 0 <= y < 5 else (0, 0) for x, y, l, _ in spots]
got = [struct.unpack_from('<2I', out, 16 * i) for i in range(len(spots))] if rc == 0 else []
say(got == want, 'layers of bytes, integer coordinates: zero outside', said, got[:4], want[:4])

rc, said, out, _ = run(kernel('tld4.g.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}];').replace('.reg .b32 %v<8>', '.reg .f32 %v<8>').replace('mov.b32 %v', 'mov.f32 %v').replace(', 0;', ', 0f00000000;').replace('st.global.v4.b32', 'st.global.v4.f32'),
    {'filter': 'point', 'type': 'u8', 'channels': 2, 'dims': [7, 5], 'read': 'normalized'}, b''.join(struct.pack('<4f', 1.0 + i % 5, 1.0 + i % 3, 0, 0) for i in range(64)), u8[:70], 'u8')
texel = lambda x, y: f32(u8[(y * 7 + x) * 2 + 1] / 255)
want = [(texel(x, y + 1), texel(x + 1, y + 1), texel(x + 1, y), texel(x, y)) for x, y in ((i % 5, i % 3) for i in range(64))]
got = [struct.unpack_from('<4f', out, 16 * i) for i in range(64)] if rc == 0 else []
say(got == want, 'four texels of one component, counter-clockwise from the lower left', said, got[:2], want[:2])

faces = [f32(10 * f + i) for f in range(6) for i in range(4)]
rays = [(1, .5, .5), (-1, .5, .5), (.5, 1, .5), (.5, -1, .5), (.5, .5, 1), (.5, .5, -1)] * 11
rc, said, out, _ = run(kernel('tex.cube.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f1, %f2, %f3, %f3}]; mov.b32 %v1, %f1;'),
    {'filter': 'point', 'type': 'f32', 'channels': 1, 'dims': [2, 2], 'cube': True}, b''.join(struct.pack('<4f', *r, 0) for r in rays[:64]), struct.pack('<24f', *faces), 'f32')
got = [struct.unpack_from('<f', out, 16 * i)[0] for i in range(6)] if rc == 0 else []
# sc, tc of the faces +x -x +y -y +z -z: (-z,-y) (z,-y) (x,z) (x,-z) (x,-y) (-x,-y)
say(got == [0, 11, 23, 31, 41, 50], 'the faces of a cube', said, got)

# ---- surfaces ----
area = {'type': 'u32', 'channels': 1, 'dims': [8, 4]}
cells = struct.pack('<32I', *range(100, 132))
spots = [(x, y, 0, 1000 * y + x) for y in range(4) for x in range(8)] * 2
body = 'shl.b32 %c3, %c1, 2; sust.b.2d.b32.trap [%rd1, {%c3, %c2}], {%c4}; '
rc, said, out, left = run(kernel(body), area, ints(spots), cells, 'u32', True)
say(left == struct.pack('<32I', *(1000 * y + x for y in range(4) for x in range(8))), 'a surface store leaves its values in the buffer', said, left[:40])
spots = [(rnd.randrange(-3, 11), rnd.randrange(-2, 6), 0, 0) for _ in range(64)]
for how, want in (('zero', [100 + y * 8 + x if 0 <= x < 8 and 0 <= y < 4 else 0 for x, y, _, _ in spots]),
                  ('clamp', [100 + max(0, min(3, y)) * 8 + max(0, min(7, x)) for x, y, _, _ in spots])):
    rc, said, out, _ = run(kernel('shl.b32 %%c3, %%c1, 2; suld.b.2d.b32.%s {%%v1}, [%%rd1, {%%c3, %%c2}];' % how), area, ints(spots), cells, 'u32')
    got = [struct.unpack_from('<I', out, 16 * i)[0] for i in range(64)] if rc == 0 else []
    say(got == want, 'a surface load outside: ' + how, said, got[:8], want[:8])
rc, said, out, _ = run(kernel('shl.b32 %c3, %c1, 2; suld.b.2d.b32.trap {%v1}, [%rd1, {%c3, %c2}];'), area, ints(spots), cells, 'u32')
say(rc == 4 and 'outside the surface' in said and 'suld.b.2d.b32.trap' in said, 'a surface load outside that traps is told', rc, said)
rc, said, out, left = run(kernel('sured.p.add.2d.b32.trap [%rd1, {%c1, %c2}], %c4;'), area, ints([(i % 3, 1, 0, i) for i in range(64)]), cells, 'u32', True)
want = list(range(100, 132))
for i in range(64): want[8 + i % 3] += i
say(left == struct.pack('<32I', *want), 'reductions add up', said)
rc, said, out, _ = run(kernel('suq.width.b32 %v1, [%rd1]; suq.height.b32 %v2, [%rd1];'), area, ints(spots), cells, 'u32')
say(rc == 0 and struct.unpack_from('<2I', out) == (8, 4), 'a query says the size', said)

# ---- what is told ----
fetch = kernel('tex.2d.v4.u32.s32 {%v1, %v2, %v3, %v4}, [%rd1, {%c1, %c2}];')
for name, obj, want in (
        ('an unknown key', dict(point, filtre='x'), 'unknown key "filtre"'),
        ('an unknown filter', dict(point, filter='cubic'), '"filter" must be point or linear'),
        ('an edge that wraps without normalized coordinates', dict(point, address=['wrap']), 'need "normalized"'),
        ('a linear filter over integers', dict(point, filter='linear'), 'needs floats'),
        ('three channels', dict(point, channels=3), '"channels" is 1, 2 or 4'),
        ('a pitch shorter than a row', dict(point, pitch=8), '"pitch"'),
        ('an unknown type', dict(point, type='f17'), '"type" is one of'),
        ('a cube that is no square', dict(point, cube=True), 'of the same size'),
        ('no dims', {k: v for k, v in point.items() if k != 'dims'}, '"dims"')):
    rc, said, _, _ = run(fetch, obj, ints(spots), u8[:70], 'u8')
    say(rc == 1 and want in said and 'k.launch.json' in said, name + ' is refused with its place', rc, said)
rc, said, _, _ = run(fetch, dict(point, dims=[7, 50]), ints(spots), u8[:70], 'u8')
say(rc == 1 and "700 bytes" in said, 'a texture larger than its buffer is refused', rc, said)
rc, said, _, _ = run(fetch, dict(point, dims=[35]), ints(spots), u8[:70], 'u8')
say(rc == 4 and 'with 2 dimensions, the handle is of a texture with 1' in said, 'a fetch of another shape is told', rc, said)
rc, said, _, _ = run(kernel('add.s64 %rd1, %rd1, 4096; tex.2d.v4.u32.s32 {%v1, %v2, %v3, %v4}, [%rd1, {%c1, %c2}];'), point, ints(spots), u8[:70], 'u8')
say(rc == 4 and 'is no handle' in said, 'a number that is no handle is told', rc, said)
run(fetch, point, ints(spots), u8[:70], 'u8')
r = subprocess.run([exe, 'run', tmp + '/k.ptx', '--json'], capture_output=True, text=True, timeout=120)
doc = json.loads(r.stdout) if r.returncode == 0 else {}
time = doc.get('time_ns')
time = time.get('median') if isinstance(time, dict) else time
say(bool(time and time > 0), 'a timed run has a time', r.stdout[:300], r.stderr)
done()
PY
rc=$?
cat "$T/said"
exit $rc
