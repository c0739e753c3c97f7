#!/bin/bash
# Mipmaps, samplers apart, offsets, depth compares, references of a module, halves, queries: as a reference written from the PTX ISA has them.
. tests/tool/tap.sh
python3 - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import json, math, random, re, shutil, struct, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path.insert(0, 'tests/tool')
from tap import done, say

N = 64
def run(body, coords, args, data, symbols=(), params='.param .u64 t', mode='', top='', count=None, vtype='f32'):
    """Thread i takes four floats %f1..%f4 (and the same as integers %c1..%c4) from c; leaves %v1..%v4 in o."""
    ptx = '''.version 8.3
.target sm_90%s
.address_size 64
%s
.visible .entry k(%s, .param .u64 c, .param .u64 o)
{
 .reg .b64 %%rd<9>; .reg .b32 %%r<9>; .reg .%s %%v<8>; .reg .s32 %%c<5>; .reg .f32 %%f<9>; .reg .pred %%p<3>; .reg .b16 %%h<5>;
 ld.param.u64 %%rd2, [c]; ld.param.u64 %%rd3, [o];
 mov.u32 %%r3, %%tid.x; mul.wide.u32 %%rd4, %%r3, 16; add.s64 %%rd5, %%rd2, %%rd4; add.s64 %%rd6, %%rd3, %%rd4;
 ld.global.v4.f32 {%%f1, %%f2, %%f3, %%f4}, [%%rd5];
 cvt.rzi.s32.f32 %%c1, %%f1; cvt.rzi.s32.f32 %%c2, %%f2; cvt.rzi.s32.f32 %%c3, %%f3; cvt.rzi.s32.f32 %%c4, %%f4;
 mov.b32 %%v1, 0; mov.b32 %%v2, 0; mov.b32 %%v3, 0; mov.b32 %%v4, 0;
 %s
 st.global.v4.b32 [%%rd6], {%%v1, %%v2, %%v3, %%v4};
 ret;
}
''' % (mode, top, params, vtype, body)
    if vtype == 'f32': ptx = ptx.replace('mov.b32 %v1, 0; mov.b32 %v2, 0; mov.b32 %v3, 0; mov.b32 %v4, 0;', 'mov.f32 %v1, 0f00000000; mov.f32 %v2, 0f00000000; mov.f32 %v3, 0f00000000; mov.f32 %v4, 0f00000000;')
    open(tmp + '/k.ptx', 'w').write(ptx)
    open(tmp + '/d.bin', 'wb').write(data)
    open(tmp + '/c.bin', 'wb').write(b''.join(struct.pack('<4f', *c) for c in coords))
    launch = {'format': 'gpulocw-launch', 'version': 1, 'grid': 1, 'block': N,
        'args': args + [{'name': 'c', 'buffer': 'f32', 'count': 4 * N, 'init': {'file': 'c.bin'}}, {'name': 'o', 'buffer': 'u32', 'count': 4 * N, 'output': True}],
        'buffers': [{'name': 'd', 'buffer': 'u8', 'count': len(data), 'init': {'file': 'd.bin'}}], 'symbols': list(symbols)}
    json.dump(launch, open(tmp + '/k.launch.json', 'w'))
    shutil.rmtree(tmp + '/out', ignore_errors=True)
    r = subprocess.run([exe, 'run', tmp + '/k.ptx', '--no-counters', '--outputs', tmp + '/out'], capture_output=True, text=True, timeout=120)
    out = open(tmp + '/out/o.bin', 'rb').read() if r.returncode == 0 else b''
    return r.returncode, r.stdout + r.stderr, out
floats = lambda b: [struct.unpack_from('<4f', b, 16 * i) for i in range(len(b) // 16)]
words = lambda b: [struct.unpack_from('<4I', b, 16 * i) for i in range(len(b) // 16)]
f32 = lambda x: struct.unpack('<f', struct.pack('<f', x))[0]
rnd = random.Random(7)

# ---- a pyramid of levels, each of its own rows ----
W, H, LEVELS = 16, 8, 5
levels = []
for l in range(LEVELS):
    w, h = max(1, W >> l), max(1, H >> l)
    levels.append((w, h, [f32(rnd.uniform(0, 100)) for _ in range(w * h)]))
pyramid = struct.pack('<%df' % sum(len(v) for _, _, v in levels), *(x for _, _, v in levels for x in v))
def near(l, u, v, wrap=False, off=(0, 0)):
    """The texel at normalized u, v of level l, point filter."""
    w, h, t = levels[l]
    if wrap: u, v = u - math.floor(u), v - math.floor(v)
    i, j = math.floor(u * w) + off[0], math.floor(v * h) + off[1]
    i, j = (i % w, j % h) if wrap else (max(0, min(w - 1, i)), max(0, min(h - 1, j)))
    return t[j * w + i]
tex = lambda **more: dict({'data': 'd', 'type': 'f32', 'channels': 1, 'dims': [W, H], 'levels': LEVELS, 'filter': 'point', 'normalized': True}, **more)
T = lambda **more: [{'name': 't', 'texture': tex(**more)}]
uv = [(f32(rnd.randrange(1, 64) / 64 + 1 / 128), f32(rnd.randrange(1, 64) / 64 + 1 / 128)) for _ in range(N)]
lods = [f32(rnd.randrange(-8, 48) / 8 + 1 / 64) for _ in range(N)]
ld = 'ld.param.u64 %rd1, [t]; '
rc, said, out = run(ld + 'tex.level.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}], %f3;', [(u, v, l, 0) for (u, v), l in zip(uv, lods)], T(), pyramid)
want = [near(max(0, min(4, math.floor(l + .5))), u, v) for (u, v), l in zip(uv, lods)]
say(rc == 0 and [g[0] for g in floats(out)] == want, 'the nearest level', said, floats(out)[:4], want[:4])
rc, said, out = run(ld + 'tex.level.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}], %f3;', [(u, v, l, 0) for (u, v), l in zip(uv, lods)], T(mip_filter='linear'), pyramid)
def between(u, v, l):
    l = math.floor(max(0, min(4, l)) * 256 + .5)
    lo, part = divmod(l, 256)
    return near(lo, u, v) * (256 - part) / 256 + (near(lo + 1, u, v) * part / 256 if part else 0)
want = [between(u, v, l) for (u, v), l in zip(uv, lods)]
say(rc == 0 and all(abs(g[0] - w) < 1e-4 for g, w in zip(floats(out), want)), 'between two levels', said, floats(out)[:4], want[:4])
rc, said, out = run(ld + 'tex.level.2d.v4.f32.s32 {%v1, %v2, %v3, %v4}, [%rd1, {%c1, %c2}], %c3;', [(i % 6, i % 3, i % 5, 0) for i in range(N)], T(), pyramid)
want = [levels[i % 5][2][(i % 3) * levels[i % 5][0] + i % 6] if i % 6 < levels[i % 5][0] and i % 3 < levels[i % 5][1] else 0 for i in range(N)]
say(rc == 0 and [g[0] for g in floats(out)] == want, 'a level and whole coordinates', said, floats(out)[:4], want[:4])
rc, said, out = run(ld + 'tex.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}];', [(u, v, 0, 0) for u, v in uv], T(), pyramid)
say(rc == 0 and [g[0] for g in floats(out)] == [near(0, u, v) for u, v in uv], 'the base level where none is said', said)
grads = [(f32(2.0 ** rnd.randrange(-5, 2)), f32(2.0 ** rnd.randrange(-5, 2))) for _ in range(N)]
rc, said, out = run(ld + 'mov.f32 %f5, 0f00000000; tex.grad.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}], {%f3, %f5}, {%f5, %f4};', [(u, v, gx, gy) for (u, v), (gx, gy) in zip(uv, grads)], T(), pyramid)
lod = lambda gx, gy: max(0, min(4, math.floor(math.log2(max(gx * W, gy * H)) + .5)))
want = [near(lod(gx, gy), u, v) for (u, v), (gx, gy) in zip(uv, grads)]
say(rc == 0 and [g[0] for g in floats(out)] == want, 'the level by gradients', said, floats(out)[:4], want[:4])

# ---- offsets ----
rc, said, out = run(ld + 'mov.s32 %c3, 3; mov.s32 %c4, -2; tex.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}], {%c3, %c4};', [(u, v, 0, 0) for u, v in uv], T(address=['wrap']), pyramid)
say(rc == 0 and [g[0] for g in floats(out)] == [near(0, u, v, True, (3, -2)) for u, v in uv], 'offsets in texels', said)
rc, said, out = run(ld + 'tex.level.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}], 0f3F800000, {-1, 2};', [(u, v, 0, 0) for u, v in uv], T(address=['wrap']), pyramid)
say(rc == 0 and [g[0] for g in floats(out)] == [near(1, u, v, True, (-1, 2)) for u, v in uv], 'offsets in a level', said)
row = [f32(rnd.uniform(0, 9)) for _ in range(32)]
rc, said, out = run(ld + 'tex.1d.v4.f32.s32 {%v1, %v2, %v3, %v4}, [%rd1, {%c1}], %c2;', [(i % 20, i % 5 - 2, 0, 0) for i in range(N)], [{'name': 't', 'texture': {'data': 'd', 'type': 'f32', 'dims': [32]}}], struct.pack('<32f', *row))
want = [row[i % 20 + i % 5 - 2] if i % 20 + i % 5 >= 2 else 0 for i in range(N)]
say(rc == 0 and [g[0] for g in floats(out)] == want, 'an offset in one dimension', said)
rc, said, out = run(ld + 'tld4.r.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}], {1, 1};', [(2.0 + i % 8, 2.0 + i % 4, 0, 0) for i in range(N)], T(normalized=False), pyramid)
t = lambda x, y: levels[0][2][min(7, y) * W + min(15, x)]
want = [(t(x, y + 1), t(x + 1, y + 1), t(x + 1, y), t(x, y)) for x, y in ((2 + i % 8, 2 + i % 4) for i in range(N))]
say(rc == 0 and floats(out) == want, 'four texels at an offset', said, floats(out)[:2], want[:2])

# ---- depth compares, residency, halves ----
deep = [(u, v, f32(rnd.uniform(0, 100)), 0) for u, v in uv]
for how, op in (('less', lambda a, b: a < b), ('greater_equal', lambda a, b: a >= b), ('always', lambda a, b: True), ('never', lambda a, b: False)):
    rc, said, out = run(ld + 'tex.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}], {0, 0}, %f3;' if how == 'less' else ld + 'tex.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}], %f3;', deep, T(compare=how), pyramid)
    say(rc == 0 and [g[0] for g in floats(out)] == [float(op(d, near(0, u, v))) for u, v, d, _ in deep], 'a depth compare: ' + how, said)
rc, said, out = run(ld + 'tex.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}], %f3;', deep, T(), pyramid)
say(rc == 4 and '"compare"' in said, 'a depth compare that the launch says nothing of is told', said)
rc, said, out = run(ld + 'tex.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}|%p1, [%rd1, {%f1, %f2}]; selp.f32 %v2, 0f3F800000, 0f40000000, %p1;', [(u, v, 0, 0) for u, v in uv], T(), pyramid)
say(rc == 0 and [g[:2] for g in floats(out)] == [(near(0, u, v), 1.0) for u, v in uv], 'all is resident', said)
four = [f32(rnd.uniform(-9, 9)) for _ in range(4 * 32)]
F = [{'name': 't', 'texture': {'data': 'd', 'type': 'f32', 'channels': 4, 'dims': [32]}}]
rc, said, out = run(ld + 'tex.1d.v2.f16x2.s32 {%v1, %v2}, [%rd1, {%c1}];', [(i % 32, 0, 0, 0) for i in range(N)], F, struct.pack('<128f', *four), vtype='b32')
want = [struct.unpack('<2I', struct.pack('<4e', *four[4 * (i % 32):4 * (i % 32) + 4])) for i in range(N)]
say(rc == 0 and [g[:2] for g in words(out)] == want, 'pairs of halves', said, words(out)[:2], want[:2])
rc, said, out = run(ld + '.reg .f16 %q<5>; tex.1d.v4.f16.s32 {%q1, %q2, %q3, %q4}, [%rd1, {%c1}]; mov.b16 %h1, %q2; cvt.u32.u16 %v1, %h1;', [(i % 32, 0, 0, 0) for i in range(N)], F, struct.pack('<128f', *four), vtype='b32')
want = [struct.unpack('<H', struct.pack('<e', four[4 * (i % 32) + 1]))[0] for i in range(N)]
say(rc == 0 and [g[0] for g in words(out)] == want, 'halves', said, words(out)[:2], want[:2])

# ---- references of the module, samplers apart ----
uvs = [(u, v, 0, 0) for u, v in uv]
fetch = 'tex.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [tx, {%f1, %f2}];'
sym = lambda **more: [{'name': 'tx', 'texture': tex(**more)}]
none = [{'name': 't', 'u64': 0}]
rc, said, out = run(fetch, uvs, none, pyramid, sym(), top='.global .texref tx;')
say(rc == 0 and [g[0] for g in floats(out)] == [near(0, u, v) for u, v in uv], 'a texture reference of the module', said)
rc, said, out = run('mov.u64 %rd1, tx; ' + fetch.replace('[tx', '[%rd1'), uvs, none, pyramid, sym(), top='.global .texref tx;')
say(rc == 0 and [g[0] for g in floats(out)] == [near(0, u, v) for u, v in uv], 'the address of a texture reference is its handle', said)
rc, said, out = run(fetch, uvs, none, pyramid, top='.global .texref tx;')
say(rc == 4 and 'under "symbols"' in said, 'a reference that the launch does not fill is told', said)
rc, said, out = run(fetch, uvs, none, pyramid, [{'name': 'ty', 'texture': tex()}], top='.global .texref tx;')
say(rc == 1 and re.search("symbol 'ty' is (no|not a) texture", said), 'a symbol that is no reference is told', said)
rc, said, out = run(fetch.replace('[tx', '[t'), uvs, T(), pyramid, params='.param .texref t')
say(rc == 0 and [g[0] for g in floats(out)] == [near(0, u, v) for u, v in uv], 'a texture reference as a parameter', said)
rc, said, out = run('sust.b.2d.b32.zero [sx, {%c1, %c2}], %c3; suld.b.2d.b32.zero %v1, [sx, {%c1, %c2}]; suq.width.b32 %v2, [sx];', [(4 * (i % 16), i // 16, i, 0) for i in range(N)], none, pyramid,
    [{'name': 'sx', 'surface': {'data': 'd', 'type': 'u32', 'dims': [W, H]}}], top='.global .surfref sx;', vtype='b32')
say(rc == 0 and [g[:2] for g in words(out)] == [(i, W) for i in range(N)], 'a surface reference of the module', said)
apart = ',texmode_independent'
wrapped = [(f32(u * 5 - 2), f32(v * 5 - 2), 0, 0) for u, v in uv]
rc, said, out = run('tex.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [tx, sm, {%f1, %f2}];', wrapped, none, pyramid, sym(), mode=apart, top='.global .texref tx;\n.global .samplerref sm = { addr_mode_0 = wrap, addr_mode_1 = clamp_to_edge, filter_mode = nearest };')
def mixed(u, v):
    w, h, t = levels[0]
    u, v = u - math.floor(u), v
    return t[max(0, min(h - 1, math.floor(v * h))) * w + math.floor(u * w)]
say(rc == 0 and [g[0] for g in floats(out)] == [mixed(u, v) for u, v, _, _ in wrapped], 'a sampler that the module describes', said, floats(out)[:3], [mixed(u, v) for u, v, _, _ in wrapped][:3])
rc, said, out = run('ld.param.u64 %rd1, [t]; ld.param.u64 %rd7, [s]; tex.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, %rd7, {%f1, %f2}]; txq.filter_mode.b32 %r5, [%rd7]; txq.addr_mode_1.b32 %r6, [%rd7]; cvt.rn.f32.u32 %v2, %r5; cvt.rn.f32.u32 %v3, %r6;', wrapped,
    T(address=['clamp']) + [{'name': 's', 'sampler': {'filter': 'point', 'address': ['wrap', 'clamp'], 'normalized': True}}], pyramid, mode=apart, params='.param .u64 t, .param .u64 s')
say(rc == 0 and [g[:3] for g in floats(out)] == [(mixed(u, v), 0.0, 3.0) for u, v, _, _ in wrapped], 'a sampler as an argument', said, floats(out)[:3])
rc, said, out = run('ld.param.u64 %rd1, [t]; tex.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, %rd1, {%f1, %f2}];', wrapped, T(), pyramid, mode=apart)
say(rc == 4 and 'of no sampler' in said, 'a texture where a sampler belongs is told', said)

# ---- queries ----
ask = ['width', 'height', 'num_mipmap_levels', 'normalized_coords', 'channel_data_type', 'channel_order', 'filter_mode', 'addr_mode_0', 'num_samples']
got = []
for q in ask:
    rc, said, out = run(ld + 'txq.%s.b32 %%v1, [%%rd1];' % q, uvs, T(address=['mirror']), pyramid, vtype='b32')
    got.append(words(out)[0][0] if rc == 0 else said[-200:])
say(got == [W, H, LEVELS, 1, 0x10de, 0x10b0, 0, 1, 1], 'queries', dict(zip(ask, got)))
rc, said, out = run(ld + 'txq.level.width.b32 %v1, [%rd1], %c1; txq.level.height.b32 %v2, [%rd1], %c1;', [(i % LEVELS, 0, 0, 0) for i in range(N)], T(), pyramid, vtype='b32')
say(rc == 0 and [g[:2] for g in words(out)] == [levels[i % LEVELS][:2] for i in range(N)], 'queries of a level', said)

# ---- what is told ----
for name, obj, want in (('more levels than there are', tex(levels=6), '"levels" continue'), ('levels with gaps between rows', tex(pitch=128), 'no padding'),
                        ('an unknown comparison', tex(compare='lesser'), '"compare" is one of'), ('an unknown key', tex(level=3), 'unknown key "level"')):
    rc, said, _ = run(ld + 'tex.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}];', uvs, [{'name': 't', 'texture': obj}], pyramid)
    say(rc == 1 and want in said and 'k.launch.json' in said, name + ' is refused with its place', rc, said)
rc, said, _ = run(ld + 'mov.u64 %rd7, %rd1;', uvs, [{'name': 't', 'sampler': {'dims': [3]}}], pyramid)
say(rc == 1 and 'unknown key "dims" in "sampler"' in said, 'a sampler has no texels', rc, said)
rc, said, _ = run(ld + 'tex.2d.v4.f32.f32 {%v1, %v2, %v3, %v4}, [%rd1, {%f1, %f2}];', uvs, T(), pyramid[:-4])
say(rc == 1 and '%d bytes' % len(pyramid) in said, 'levels beyond the buffer are refused', rc, said)
done()
PY
rc=$?
cat "$T/said"
exit $rc
