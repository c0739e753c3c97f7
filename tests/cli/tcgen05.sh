#!/bin/bash
# tcgen05 against tests/ref/tcgen05.py, which was written from the PTX ISA alone: tensor memory, its moves and copies, products of every kind and layout; what is wrong is told.
. tests/tool/tap.sh
python3 -B - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import json, os, random, struct, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path[:0] = ['tests/tool', 'tests/ref']
from tap import claim, done
import tcgen05 as ref
from fractions import Fraction as F
IMAGE = 32768
HEAD = '.version 9.0\n.target sm_100a\n.address_size 64\n.extern .shared .align 1024 .b8 sm[];\n'
def all_columns(op, body): return ''.join(' add.u32 r10, r9, %d; %s\n' % (c, body(c)) for c in range(0, 512, 32))
R32 = '{' + ','.join('v%d' % i for i in range(32)) + '}'
def kernel(ctas, body):
    """Every warp: its lanes of tensor memory from `words`, shared memory from `image`; the body; tensor memory to `out`."""
    g = 2 if ctas == 2 else 1
    t = HEAD + '.visible .entry k(.param .u64 words, .param .u64 image, .param .u64 out, .param .u64 regs)\n' + ('.explicitcluster\n.reqnctapercluster 2, 1, 1\n' if ctas == 2 else '')
    t += '{ .reg .pred p, q, keep; .reg .b32 r<32>; .reg .b32 v<128>; .reg .b64 x<16>; .shared .align 8 .b64 bar; .shared .align 4 .b32 slot;\n'
    t += ' mov.u32 r0, %tid.x; shr.u32 r1, r0, 5; mov.u32 r2, sm; mov.u32 r3, bar; mov.u32 r4, slot; mov.u32 r5, %ctaid.x; setp.ne.u32 q, r0, 0;\n'
    t += ' @q bra I; mbarrier.init.shared.b64 [r3], 1; fence.mbarrier_init.release.cluster;\nI: setp.ne.u32 p, r1, 0; @p bra A; tcgen05.alloc.cta_group::%d.sync.aligned.shared::cta.b32 [r4], 512; tcgen05.relinquish_alloc_permit.cta_group::%d.sync.aligned;\nA: bar.sync 0;\n' % (g, g)
    t += ' ld.shared.u32 r9, [r4]; ld.param.u64 x1, [image]; mad.lo.u32 r6, r5, %d, 0; cvt.u64.u32 x2, r6; add.u64 x1, x1, x2; shl.b32 r7, r0, 2; cvt.u64.u32 x2, r7; add.u64 x1, x1, x2; add.u32 r8, r2, r7; mov.u32 r11, 0;\n' % IMAGE
    t += 'C: ld.global.u32 r12, [x1]; st.shared.u32 [r8], r12; add.u64 x1, x1, 512; add.u32 r8, r8, 512; add.u32 r11, r11, 1; setp.lt.u32 p, r11, %d; @p bra C;\n' % (IMAGE // 512)
    t += ' shl.b32 r13, r1, 21; add.u32 r9, r9, r13; ld.param.u64 x3, [words]; mad.lo.u32 r6, r5, 128, r0; mul.wide.u32 x4, r6, 2048; add.u64 x5, x3, x4; ld.param.u64 x6, [out]; add.u64 x7, x6, x4;\n'
    t += all_columns('st', lambda c: ''.join(' ld.global.u32 v%d, [x5+%d];' % (i, 4 * (c + i)) for i in range(32)) + ' tcgen05.st.sync.aligned.32x32b.x32.b32 [r10], %s;' % R32)
    t += ' tcgen05.wait::st.sync.aligned; fence.proxy.async;\n' + (' barrier.cluster.arrive; barrier.cluster.wait;\n' if ctas == 2 else ' bar.sync 0;\n') + ' sub.u32 r14, r9, r13; mov.u32 r15, 0; shr.u32 r12, r2, 4; cvt.u64.u32 x15, r12; setp.eq.u32 keep, r0, r0;\n' + body
    if ctas == 2: t += ' barrier.cluster.arrive; barrier.cluster.wait;\n'
    t += ' bar.sync 0; tcgen05.fence::after_thread_sync;\n' + all_columns('ld', lambda c: ' tcgen05.ld.sync.aligned.32x32b.x32.b32 %s, [r10]; tcgen05.wait::ld.sync.aligned;' % R32 + ''.join(' st.global.u32 [x7+%d], v%d;' % (4 * (c + i), i) for i in range(32)))
    return t + ' bar.sync 0; setp.ne.u32 p, r1, 0; @p bra E; tcgen05.dealloc.cta_group::%d.sync.aligned.b32 r14, 512;\nE: ret; }\n' % g
def run(body, words, image, ctas=1, nregs=1):
    open(tmp + '/k.ptx', 'w').write(kernel(ctas, body))
    flat = lambda w: struct.pack('<%dI' % (len(w) * 65536), *[v for m in w for lane in m for v in lane])
    open(tmp + '/w.bin', 'wb').write(flat(words)); open(tmp + '/i.bin', 'wb').write(b''.join(bytes(i) for i in image))
    json.dump({'format': 'gpulocw-launch', 'version': 1, 'ptx': 'k.ptx', 'kernel': 'k', 'grid': ctas, 'block': 128, 'shared': IMAGE, **({'cluster': [2, 1, 1]} if ctas == 2 else {}),
               'args': [{'name': 'words', 'buffer': 'u32', 'count': 65536 * ctas, 'init': {'file': 'w.bin'}}, {'name': 'image', 'buffer': 'u8', 'count': IMAGE * ctas, 'init': {'file': 'i.bin'}},
                        {'name': 'out', 'buffer': 'u32', 'count': 65536 * ctas, 'output': True}, {'name': 'regs', 'buffer': 'u32', 'count': 128 * nregs, 'output': True}]}, open(tmp + '/k.launch.json', 'w'))
    r = subprocess.run([exe, 'run', tmp + '/k.ptx', '--device', 'sim:hopper-h200', '--outputs', tmp], capture_output=True, text=True, timeout=120)
    if r.returncode: return r.stdout + r.stderr, None, None
    u = lambda n: struct.unpack('<%dI' % (os.path.getsize(tmp + '/' + n) // 4), open(tmp + '/' + n, 'rb').read())
    out = u('out.bin')
    return '', [[list(out[c * 65536 + l * 512:c * 65536 + l * 512 + 512]) for l in range(128)] for c in range(ctas)], u('regs.bin')
rnd = random.Random(5)
def memory(ctas=1): return [[[rnd.getrandbits(32) for c in range(512)] for l in range(128)] for i in range(ctas)]
def same(name, said, got, want):
    wrong = [(c, l, k, hex(got[c][l][k]), hex(want[c][l][k])) for c in range(len(want)) for l in range(128) for k in range(512) if got[c][l][k] != want[c][l][k]] if got else []
    claim(name, got == want and got is not None, (said[-500:], len(wrong), wrong[:3]))
# ---- moves ----
for shape, num, more in (('32x32b', 4, ''), ('16x64b', 8, ''), ('16x128b', 4, ''), ('16x256b', 2, ''), ('16x32bx2', 4, ', 16'), ('16x64b', 2, 'pack'), ('16x256b', 1, 'pack')):
    m, place, pack = memory(), ref.fragment(shape, num, 16), more == 'pack'
    n = len(place); V = '{' + ','.join('v%d' % i for i in range(n)) + '}'; at = more if not pack else ''
    body = ' ld.param.u64 x8, [regs]; mad.lo.u32 r20, r0, %d, 0; cvt.u64.u32 x9, r20; add.u64 x8, x8, x9; tcgen05.ld.sync.aligned.%s.x%d%s.b32 %s, [r9]%s; tcgen05.wait::ld.sync.aligned;\n' % (4 * n, shape, num, '.pack::16b' if pack else '', V, at)
    body += ''.join(' st.global.u32 [x8+%d], v%d;' % (4 * i, i) for i in range(n)) + ' add.u32 r21, r9, 64; tcgen05.st.sync.aligned.%s.x%d%s.b32 [r21]%s, %s; tcgen05.wait::st.sync.aligned;\n' % (shape, num, '.unpack::16b' if pack else '', at, V)
    said, got, regs = run(body, m, [bytes(IMAGE)], nregs=n)
    want, good = [[list(l) for l in m[0]]], bool(got)
    for w in range(4):
        for r in range(n):
            for t in range(32):
                l, c = place[r][t]; l += 32 * w
                v = m[0][l][c] if not pack else m[0][l][2 * c] & 0xffff | (m[0][l][2 * c + 1] & 0xffff) << 16
                good = good and regs[(32 * w + t) * n + r] == v
                if pack: want[0][l][64 + 2 * c], want[0][l][64 + 2 * c + 1] = v & 0xffff, v >> 16
                else: want[0][l][64 + c] = v
    claim('ld.%s.x%d%s: each register' % (shape, num, ' packed' if pack else ''), good, said[-400:])
    same('st.%s.x%d%s: each word' % (shape, num, ' unpacked' if pack else ''), said, got, want)
# ---- copies ----
for shape, rows, width, more, source in (('128x256b', 128, 32, '', (0, 1, 2, 3)), ('128x128b', 128, 16, '', (0, 1, 2, 3)), ('64x128b', 64, 16, '.warpx2::02_13', (0, 1, 0, 1)), ('64x128b', 64, 16, '.warpx2::01_23', (0, 0, 1, 1)), ('32x128b', 32, 16, '.warpx4', (0, 0, 0, 0))):
    m, image = memory(), bytearray(rnd.randbytes(IMAGE))
    s = ref.Smem('u8', rows, width, 1024)
    said, got, _ = run(' @q bra D; mov.b64 x8, %d; add.u64 x8, x8, x15; add.u32 r20, r14, 96; tcgen05.cp.cta_group::1.%s%s [r20], x8;\nD:\n' % (s.descriptor(), shape, more), m, [image])
    for l in range(128):
        for b in range(0, width, 4): m[0][l][96 + b // 4] = struct.unpack('<I', bytes(image[s.place(source[l // 32] * 32 + l % 32, b + i)[0]] for i in range(4)))[0]
    same('cp.%s%s' % (shape, more), said, got, m)
for bits, how in ((6, 'b6x16_p32'), (4, 'b4x16_p64')):
    m, image = memory(), bytearray(rnd.randbytes(IMAGE)); s = ref.Smem('u8', 128, 16, 0)
    said, got, _ = run(' @q bra D; mov.b64 x8, %d; add.u64 x8, x8, x15; tcgen05.cp.cta_group::1.128x128b.b8x16.%s [r14], x8;\nD:\n' % (s.descriptor(), how), m, [image])
    for l in range(128):
        unit = int.from_bytes(image[s.place(l, 0)[0]:s.place(l, 0)[0] + 16], 'little')
        b = [(unit >> bits * i & (1 << bits) - 1) << (2 if bits == 4 else 0) for i in range(16)]
        m[0][l][:4] = struct.unpack('<4I', bytes(b))
    same('cp of packed elements of %d bits' % bits, said, got, m)
m = memory(); said, got, _ = run(' @q bra D; add.u32 r20, r14, %d; tcgen05.shift.cta_group::1.down [r20];\nD:\n' % (32 << 16 | 8), m, [bytes(IMAGE)])
for l in range(63, 32, -1): m[0][l][8:16] = m[0][l - 1][8:16]
same('shift: 32 bytes of each of 31 lanes go one down', said, got, m)
# ---- products ----
def elements(t, rows, k):
    """Few values whose products and sums are exact: small magnitudes of one or two bits."""
    pool = [v for v in range(1 << min(ref.BITS[t], 16)) if t in ('u8', 's8') or abs(ref.value(t, v)) in (0, F(1, 2), 1, F(3, 2), 2)] if t not in ('tf32', 'f16', 'bf16') else None
    if t == 'f16': pool = [0, 0x3800, 0xb800, 0x3c00, 0xbc00, 0x3e00, 0x4000, 0xc000]
    if t == 'bf16': pool = [0, 0x3f00, 0xbf00, 0x3f80, 0xbf80, 0x3fc0, 0x4000, 0xc000]
    if t == 'tf32': pool = [0, 0x3f000000, 0xbf800000, 0x3fc00000, 0x40000000, 0xc0000000]
    return [[rnd.choice(pool) for i in range(k)] for r in range(rows)]
def product(name, kind, m, n, a, b, d='f32', swizzle=(0, 0), trans=(0, 0), neg=(0, 0), ws=False, pair=False, a_tmem=False, keep=True, lanes=False, less=0, saturate=0, scale=None, per=0, ids=(0, 0)):
    ctas, k = (2 if pair else 1), ref.K[kind]
    rows, packed = m // ctas, kind in ('mxf4', 'mxf4nvf4')
    A, B = elements(a, m, k), elements(b, n, k)
    place, dcol, acol, scol = ref.d_place(rows, n, ws, pair), 0, 300, (400, 420)
    mem, images, at_b = memory(ctas), [], 0
    sa = ref.Smem(a, rows, k, 0, swizzle[0], trans[0], packed); sb = ref.Smem(b, n // ctas, k, -(-sa.bytes // 1024) * 1024, swizzle[1], trans[1], packed)
    size = 4 if packed else max(8, ref.BITS[a])
    for c in range(ctas):
        image = bytearray(IMAGE)
        sa.write(image, A[c * rows:(c + 1) * rows]); sb.write(image, B[c * n // ctas:(c + 1) * n // ctas]); images.append(image)
        for r in range(rows):
            for j in range(n):
                l, w = place(r, j); v = F(rnd.randrange(-64, 65), 4) if d != 's32' else F(rnd.randrange(-1000, 1000))
                mem[c][l][dcol + w] = ref.as_word(d, v) | (0xabcd0000 if d == 'f16' else 0)
            if a_tmem:
                l = place(r, 0)[0]; row = 0
                for x, v in enumerate(A[c * rows + r]): row |= (v << 2 if size == 8 and ref.BITS[a] == 4 else v) << size * x
                for x in range(k * size // 32): mem[c][l][acol + x] = row >> 32 * x & 0xffffffff
    SA, SB = None, None
    if scale:
        count = k // per; byte = lambda: rnd.randrange(124, 131) if scale == 'ue8m0' else rnd.choice((0x30, 0x38, 0x40, 0x34))
        SA, SB = [[byte() for j in range(count)] for r in range(m)], [[byte() for j in range(count)] for r in range(n)]
        for c in range(ctas):
            for S, first, many, col, i in ((SA, c * rows, rows, scol[0], ids[0]), (SB, 0, n, scol[1], ids[1])):
                for r in range(many):
                    for part in range(4):
                        w = mem[c][32 * part + r % 32][col + r // 32]
                        for j in range(count): w = w & ~(255 << 8 * (i + j)) | S[first + r][j] << 8 * (i + j)
                        mem[c][32 * part + r % 32][col + r // 32] = w
    off = [rnd.getrandbits(32) if lanes else 0 for i in range(4 * ctas)]
    desc = ref.idesc(kind, m, n, a, b, d, neg, trans, saturate, scale, ids)
    mask = ', {%s}' % ', '.join('r%d' % (20 + i) for i in range(4 * ctas)) if lanes else ''
    block = {0: '', 16: '.block_scale.scale_vec::4X', 32: '.block_scale.scale_vec::' + ('1X' if kind == 'mxf8f6f4' else '2X')}[per]
    body = ' mov.u32 r16, %%cluster_ctarank; setp.ne.u32 p, r16, 0; @p bra W; @q bra W; mov.b64 x8, %d; add.u64 x8, x8, x15; mov.b64 x9, %d; add.u64 x9, x9, x15; mov.b32 r17, %d; setp.%s.u32 keep, r0, r0; add.u32 r18, r14, %d; add.u32 r19, r14, %d; add.u32 r28, r14, %d;\n' % (sa.descriptor(), sb.descriptor(), desc, 'eq' if keep else 'ne', acol, scol[0], scol[1])
    body += ''.join(' mov.b32 r%d, 0x%x;' % (20 + i, v) for i, v in enumerate(off)) if lanes else ''
    body += ' tcgen05.mma%s.cta_group::%d.kind::%s%s [r14], %s, x9, r17%s%s, keep%s;\n' % ('.ws' if ws else '', ctas, kind, block, '[r18]' if a_tmem else 'x8', mask, ', [r19], [r28]' if scale else '', ', %d' % less if less else '')
    body += (' mov.b16 r29h, 3; tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [r3], r29h;\n' if pair else ' tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [r3];\n') + 'W: mbarrier.try_wait.parity.shared.b64 p, [r3], r15; @!p bra W;\n'
    if pair: body = ' .reg .b16 r29h;\n' + body
    said, got, _ = run(body, mem, images, ctas)
    want = [[list(l) for l in w] for w in mem]
    val = lambda t, m2, s: [[(-1) ** s * ref.value(t, v) for v in r] for r in m2]
    VA, VB = val(a, A, neg[0]), val(b, B, neg[1])
    if scale:
        VA = [[v * ref.scale_value(scale, SA[i][x // per]) for x, v in enumerate(r)] for i, r in enumerate(VA)]
        VB = [[v * ref.scale_value(scale, SB[i][x // per]) for x, v in enumerate(r)] for i, r in enumerate(VB)]
    VA, VB = ([[int(v * 2 ** 20) for v in r] for r in M] for M in (VA, VB)) # whole numbers are quicker
    for i in range(m):
        c, r = divmod(i, rows)
        for j in range(n):
            l, w = place(r, j)
            if off[4 * c + l // 32] >> l % 32 & 1: continue
            s = F(sum(x * y for x, y in zip(VA[i], VB[j])), 2 ** 40) + (ref.of_word(d, mem[c][l][w]) / 2 ** less if keep else 0)
            want[c][l][w] = ref.as_word(d, s)
    same(name, said, got, want)
product('f16, 128 x 64', 'f16', 128, 64, 'f16', 'f16')
product('bf16 and f16, swizzles of 32 and 64', 'f16', 128, 48, 'bf16', 'f16', swizzle=(32, 32))
product('f16 result, negated', 'f16', 64, 24, 'f16', 'f16', d='f16', neg=(1, 0))
product('A and B lie along M and N, no swizzle', 'f16', 128, 64, 'f16', 'bf16', trans=(1, 1))
product('A and B lie along M and N, swizzles of 64 and 32', 'f16', 64, 64, 'f16', 'f16', trans=(1, 1), swizzle=(64, 32), neg=(1, 1))
product('A in tensor memory, D not added', 'f16', 128, 32, 'f16', 'f16', a_tmem=True, keep=False)
product('A in tensor memory, 64 rows', 'f16', 64, 16, 'bf16', 'bf16', a_tmem=True)
product('lanes that stay, D by 2^-3', 'f16', 128, 32, 'f16', 'f16', lanes=True, less=3)
product('tf32', 'tf32', 128, 64, 'tf32', 'tf32', swizzle=(32, 0))
product('e4m3 and e5m2', 'f8f6f4', 128, 64, 'e4m3', 'e5m2', swizzle=(32, 32))
product('e4m3 along M, f16 result', 'f8f6f4', 64, 32, 'e4m3', 'e4m3', d='f16', trans=(1, 1))
product('e3m2 and e2m1', 'f8f6f4', 128, 32, 'e3m2', 'e2m1')
product('e2m3, A in tensor memory', 'f8f6f4', 128, 32, 'e2m3', 'e5m2', a_tmem=True)
product('e2m1, A in tensor memory', 'f8f6f4', 128, 16, 'e2m1', 'e2m3', a_tmem=True)
product('i8 with and without sign', 'i8', 128, 32, 's8', 'u8', d='s32')
for rows in (32, 64, 128): product('.ws, %d rows' % rows, 'f16', rows, 64, 'f16', 'f16', ws=True)
product('.ws tf32, 64 rows of 128', 'tf32', 64, 128, 'tf32', 'tf32', ws=True, keep=False)
product('mxf8f6f4: a factor for 32', 'mxf8f6f4', 128, 64, 'e4m3', 'e5m2', scale='ue8m0', per=32, ids=(1, 3))
product('mxf8f6f4 of e2m1 and e3m2', 'mxf8f6f4', 128, 32, 'e2m1', 'e3m2', scale='ue8m0', per=32)
product('mxf4: two factors', 'mxf4', 128, 32, 'e2m1', 'e2m1', scale='ue8m0', per=32, ids=(2, 0))
product('mxf4nvf4: four factors of ue4m3', 'mxf4nvf4', 128, 48, 'e2m1', 'e2m1', scale='ue4m3', per=16, neg=(0, 1))
product('a pair of CTAs, 256 rows', 'f16', 256, 64, 'f16', 'f16', pair=True)
product('a pair of CTAs, 128 rows', 'f16', 128, 64, 'bf16', 'bf16', pair=True, lanes=True)
product('a pair of CTAs, mxf8f6f4', 'mxf8f6f4', 256, 32, 'e5m2', 'e4m3', pair=True, scale='ue8m0', per=32)
# ---- what is wrong ----
import re
def told(name, body, pattern):
    said, got, _ = run(body, [[[0] * 512] * 128], [bytes(IMAGE)])
    claim(name, got is None and re.search(pattern, said), said[-500:])
s = ref.Smem('f16', 128, 16, 0).descriptor()
mma = ' @q bra D; mov.b64 x8, %d; add.u64 x8, x8, x15; mov.b64 x9, %d; add.u64 x9, x9, x15; mov.b32 r17, %d; tcgen05.mma.cta_group::1.kind::f16 [r14], x8, x9, r17, keep;\nD:\n'
told('more columns than there are', ' setp.ne.u32 p, r1, 0; @p bra X; tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [r4], 32;\nX:\n', r'after tcgen05.relinquish_alloc_permit')
told('a warp that reaches for lanes of another', ' add.u32 r20, r9, 0x200000; and.b32 r20, r20, 0x7fffff; tcgen05.ld.sync.aligned.32x32b.x1.b32 {v0}, [r20];\n', r'warp \d reaches lanes \d+ to \d+ of tensor memory')
told('columns beyond 512', ' add.u32 r20, r9, 500; tcgen05.ld.sync.aligned.32x32b.x32.b32 %s, [r20];\n' % R32, r'reach beyond 128 lanes or 512 columns')
told('columns that are not allocated', ' setp.ne.u32 p, r1, 0; @p bra X; tcgen05.dealloc.cta_group::1.sync.aligned.b32 r14, 256;\nX: bar.sync 0; tcgen05.ld.sync.aligned.32x32b.x1.b32 {v0}, [r9];\n', r'are not all allocated')
told('no such shape', mma % (s, s, ref.idesc('f16', 128, 24, 'f16', 'f16')), r'instruction descriptor 0x[0-9a-f]+: no shape of this instruction has N 24')
told('not a valid type', mma % (s, s, 3 << 7 | ref.idesc('f16', 128, 32, 'f16', 'f16')), r'not a valid type of A or B')
told('a descriptor that leads outside', mma % (s | 0x3f00, s, ref.idesc('f16', 128, 32, 'f16', 'f16')), r'a matrix descriptor .* reaches shared address')
told('a swizzle that does not exist', mma % (s | 3 << 61, s, ref.idesc('f16', 128, 32, 'f16', 'f16')), r'swizzle 3, which does not exist')
told('a commit that nobody makes', ' W: mbarrier.try_wait.parity.shared.b64 p, [r3], r15; @!p bra W;\n', r'mbarrier at shared address 0x[0-9a-f]+, line \d+: 1 of 1 arrivals')
done()
PY
rc=$?
cat "$T/said"
exit $rc
