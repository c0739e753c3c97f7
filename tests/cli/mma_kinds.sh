#!/bin/bash
# mma with a .kind (8, 6 and 4 bits, block scaling) against exact sums; values and factors by tests/ref/tcgen05.py.
. tests/tool/tap.sh
python3 -B - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import json, random, struct, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path[:0] = ['tests/tool', 'tests/ref']
from tap import claim, done
import tcgen05 as ref
from fractions import Fraction as F
rnd = random.Random(7)
def word(x): return struct.unpack('<I', struct.pack('<f', float(x)))[0]
def case(name, kind, k, a, b, scale=None, count=0, byte=(0, 0), thread=(0, 0), d='f32'):
    packed = k == 64; size = 4 if packed else 8; per = 32 // size
    pool = {t: [v for v in range(1 << ref.BITS[t]) if abs(ref.value(t, v)) in (0, F(1, 2), 1, F(3, 2), 2)] for t in (a, b)}
    A = [[rnd.choice(pool[a]) for i in range(k)] for r in range(16)]; B = [[rnd.choice(pool[b]) for i in range(k)] for r in range(8)]
    C = [[F(rnd.randrange(-40, 40), 4) for c in range(8)] for r in range(16)]
    factor = lambda: rnd.randrange(125, 130) if scale == 'ue8m0' else rnd.choice((0x30, 0x38, 0x40, 0x34))
    SA = [[factor() for j in range(count)] for r in range(16)]; SB = [[factor() for j in range(count)] for c in range(8)]
    def put(t, v, e): return (v << 2 if not packed and ref.BITS[t] == 4 else v) << size * e
    lanes = []
    for l in range(32):
        g, t = l // 4, l % 4
        regs = [sum(put(a, A[g + 8 * (i & 1)][t * per + e + 4 * per * (i >> 1)], e) for e in range(per)) for i in range(4)]
        regs += [sum(put(b, B[g][t * per + e + 4 * per * i], e) for e in range(per)) for i in range(2)]
        c = [C[g + 8 * (i >> 1)][2 * t + (i & 1)] for i in range(4)]
        if d == 'f32': regs += [word(x) for x in c]
        else: regs += [ref.as_word('f16', c[0]) | ref.as_word('f16', c[1]) << 16, ref.as_word('f16', c[2]) | ref.as_word('f16', c[3]) << 16, 0, 0]
        junk = rnd.getrandbits(32); sa = sb = junk
        for j in range(count):
            if t // 2 == thread[0]: sa = sa & ~(255 << 8 * (byte[0] + j)) | SA[g + 8 * (t % 2)][j] << 8 * (byte[0] + j)
            if t == thread[1]: sb = sb & ~(255 << 8 * (byte[1] + j)) | SB[g][j] << 8 * (byte[1] + j)
        lanes.append(regs + [sa, sb])
    n = 4 if d == 'f32' else 2
    D = '{' + ','.join('r%d' % (20 + i) for i in range(n)) + '}'; S = '{' + ','.join('r%d' % (6 + i) for i in range(n)) + '}'
    tail = ', r10, {%d, %d}, r11, {%d, %d}' % (byte[0], thread[0], byte[1], thread[1]) if count else ''
    how = '.kind::%s%s' % (kind, '.block_scale.scale_vec::%dX' % count if count else '')
    text = '.version 8.8\n.target sm_120a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{ .reg .b32 r<32>; .reg .b64 x<4>; ld.param.u64 x0,[in]; ld.param.u64 x1,[out]; mov.u32 r30,%tid.x; mul.wide.u32 x2,r30,48; add.u64 x0,x0,x2; mul.wide.u32 x2,r30,16; add.u64 x1,x1,x2;\n'
    text += ''.join(' ld.global.u32 r%d,[x0+%d];' % (i, 4 * i) for i in range(12)) + '\n mma.sync.aligned.m16n8k%d.row.col%s.%s.%s.%s.%s%s %s, {r0,r1,r2,r3}, {r4,r5}, %s%s;\n' % (k, how, d, a, b, d, '.' + scale if scale else '', D, S, tail)
    text += ''.join(' st.global.u32 [x1+%d], r%d;' % (4 * i, 20 + i) for i in range(n)) + ' ret; }\n'
    open(tmp + '/k.ptx', 'w').write(text); open(tmp + '/in.bin', 'wb').write(b''.join(struct.pack('<12I', *l) for l in lanes))
    json.dump({'format': 'gpulocw-launch', 'version': 1, 'ptx': 'k.ptx', 'kernel': 'k', 'grid': 1, 'block': 32, 'args': [{'name': 'in', 'buffer': 'u32', 'count': 384, 'init': {'file': 'in.bin'}}, {'name': 'out', 'buffer': 'u32', 'count': 128, 'output': True}]}, open(tmp + '/k.launch.json', 'w'))
    r = subprocess.run([exe, 'run', tmp + '/k.ptx', '--device', 'sim:hopper-h200', '--outputs', tmp], capture_output=True, text=True, timeout=60)
    got = struct.unpack('<128I', open(tmp + '/out.bin', 'rb').read()) if r.returncode == 0 else None
    bad = []
    for l in range(32 if got else 0):
        for i in range(4):
            row, col = l // 4 + 8 * (i >> 1), 2 * (l % 4) + (i & 1)
            s = C[row][col]
            for x in range(k):
                by = ref.scale_value(scale, SA[row][x * count // k]) * ref.scale_value(scale, SB[col][x * count // k]) if count else 1
                s += ref.value(a, A[row][x]) * ref.value(b, B[col][x]) * by
            w = got[4 * l + i] if d == 'f32' else got[4 * l + i // 2] >> 16 * (i & 1) & 0xffff
            if w != (word(s) if d == 'f32' else ref.as_word('f16', s)): bad.append((row, col, hex(w), float(s)))
    claim(name, got is not None and not bad, ((r.stdout + r.stderr)[-300:], bad[:3]))
case('f8f6f4: e4m3 and e5m2', 'f8f6f4', 32, 'e4m3', 'e5m2')
case('f8f6f4: e3m2 and e2m1', 'f8f6f4', 32, 'e3m2', 'e2m1')
case('f8f6f4: e2m3 and e2m3, f16 result', 'f8f6f4', 32, 'e2m3', 'e2m3', d='f16')
case('mxf8f6f4: a factor for 32', 'mxf8f6f4', 32, 'e4m3', 'e2m1', 'ue8m0', 1, (2, 1), (1, 3))
case('mxf4: two factors', 'mxf4', 64, 'e2m1', 'e2m1', 'ue8m0', 2, (2, 0), (0, 2))
case('mxf4nvf4: four factors of ue4m3', 'mxf4nvf4', 64, 'e2m1', 'e2m1', 'ue4m3', 4, (0, 0), (1, 0))
done()
PY
rc=$?
cat "$T/said"
exit $rc
