#!/bin/bash
# GEMM and attention kernels of tests/gpu/gemms.py in small: rings, clusters with multicast, CTA orders, types; each output against sums made here.
. tests/tool/tap.sh
python3 -B - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import json, math, os, struct, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path[:0] = ['tests/tool', 'tests/gpu']
from tap import claim, done
import gemms
def e4m3(b): return (-1 if b & 128 else 1) * ((b & 7) / 8 * 2 ** -6 if not b >> 3 & 15 else (1 + (b & 7) / 8) * 2 ** ((b >> 3 & 15) - 7))
def run(c):
    d = dict(format='gpulocw-launch', version=1, ptx=c.name + '.ptx', kernel=c.name, **c.launch())
    for a in d['args']: a.update({'output': True} if 'buffer' in a else {})
    open(tmp + '/%s.ptx' % c.name, 'w').write(c.ptx()); json.dump(d, open(tmp + '/%s.launch.json' % c.name, 'w'))
    r = subprocess.run([exe, 'run', tmp + '/%s.ptx' % c.name, '--device', 'sim:hopper-h200', '--outputs', tmp + '/o'], capture_output=True, text=True, timeout=300)
    def read(n, kind): raw = open(tmp + '/o/%s.bin' % n, 'rb').read(); return list(map(e4m3, raw)) if kind == 'u8' else struct.unpack('<%d%s' % (len(raw) // (2 if kind == 'f16' else 4), 'e' if kind == 'f16' else 'f'), raw)
    return r, {a['name']: read(a['name'], a['buffer']) for a in d['args'] if 'buffer' in a} if r.returncode == 0 else {}
def products(c):
    r, got = run(c)
    (m, n, k), worst = c.size, 0
    for i in range(0, m, 37) if got else ():
        for j in range(0, n, 41):
            terms = [got['a'][i * k + x] * got['b'][j * k + x] for x in range(k)]
            # 13 bits of 8-bit floats, 24 of others, below the largest of a block of 16 or 32 products
            bound = 2 * max(max(map(abs, terms)), max(abs(sum(terms[:x])) for x in range(0, k + 1, 16))) * 2 ** (-11 if c.kind == 'e4m3' else -22) * (k // 16)
            worst = max(worst, abs(sum(terms) - got['C'][i * n + j]) / bound)
    claim('%s: within the bound of its additions' % c.name, bool(got) and 0 < worst <= 1, '%g %s' % (worst, (r.stdout + r.stderr)[-400:]))
small = (256, 256, 256)
for more in (dict(), dict(tile=(64, 64), consumers=1, stages=3), dict(tile=(128, 256), stages=2), dict(tile=(256, 128), stages=2), dict(row=64, stages=6), dict(order='column'), dict(order=2), dict(ahead=0, stages=2),
             dict(cluster=(2, 1)), dict(cluster=(1, 2)), dict(cluster=(2, 2)), dict(kind='e4m3'), dict(persistent=True, tile=(64, 64), consumers=1)):
    products(gemms.Gemm('g_' + '_'.join('%s_%s' % (k, str(v).strip('()').replace(', ', 'x')) for k, v in more.items()), small, **more))
plain = gemms.Plain('g_plain', small); plain.kind = 'f16'
products(plain)
def attention(c):
    r, got = run(c)
    d, n, worst = c.depth, c.length, 0.0
    for row in range(3, c.heads * n, 61) if got else ():
        h = row // n * n
        dot = [sum(got['q'][row * d + x] * got['k'][(h + j) * d + x] for x in range(d)) / d ** 0.5 for j in range(n)]
        p = [math.exp(s - max(dot)) for s in dot]
        for x in range(0, d, 7):
            want = sum(w * got['v'][(h + j) * d + x] for j, w in enumerate(p)) / sum(p)
            worst = max(worst, abs(want - got['O'][row * d + x]))
    claim('%s: probabilities are rounded to f16, so within 2^-11 of the values' % c.name, bool(got) and 0 < worst <= 2 ** -10, '%g %s' % (worst, (r.stdout + r.stderr)[-400:]))
attention(gemms.Attention('attention64', 2, 256, 64))
attention(gemms.Attention('attention128', 1, 256, 128, block=128, stages=1))
done()
PY
rc=$?
cat "$T/said"
exit $rc
