#!/bin/bash
# A product of matrices by tensor copies and wgmma equals sums made here; what is wrong with a tensor map or a box is told.
. tests/tool/tap.sh
python3 - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import json, os, struct, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path.insert(0, 'tests/tool')
from tap import done, say
def random_half(seed, count):
    out, mask = [], 2 ** 64 - 1
    for i in range(count):
        z = (seed + (i + 1) * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ z >> 27) * 0x94D049BB133111EB) & mask
        out.append(struct.unpack('<e', struct.pack('<e', -1 + 2 * (((z ^ z >> 31) >> 40) / 2 ** 24)))[0])
    return out
def run(ptx, launch, *options):
    r = subprocess.run([exe, 'run', ptx, '-l', launch, '--device', 'sim:hopper-h200', *options], capture_output=True, text=True, timeout=120)
    return r.returncode, r.stdout + r.stderr
here = 'tests/tensor/'
rc, said = run(here + 'gemm_wgmma.ptx', here + 'gemm_wgmma.launch.json', '-k', 'n256', '--outputs', tmp + '/o')
say(rc == 0, 'the product runs', said)
N, K = 256, 128
a, b = random_half(1, N * K), random_half(2, N * K)
c = struct.unpack('<%df' % (N * N), open(tmp + '/o/C.bin', 'rb').read())
# a block of 16 products and the sum lose less than 17 units of 2^-25 of the largest, and 2^-23 in the end; 8 blocks
def off(i, j):
    terms = [a[i * K + x] * b[j * K + x] for x in range(K)]
    most = max(max(map(abs, terms)), max(abs(sum(terms[:x])) for x in range(0, K + 1, 16)))
    return abs(sum(terms) - c[i * N + j]) / (2 * most * 2 ** -22 * (K // 16))
worst = max(off(i, j) for i in range(0, N, 7) for j in range(0, N, 5))
say(worst <= 1, 'it is within the bound of its additions', worst)
import hashlib
say(hashlib.sha1(open(tmp + '/o/C.bin', 'rb').read()).hexdigest() == '38265795ec6b9ab7a76d160430fbed2b69102b39', 'its bytes are those that an H100 made of the same launch')
say(any(off(i, j) for i in range(9) for j in range(9)), 'and is not summed exactly')
top = json.load(open(here + 'gemm_wgmma.launch.json'))
def changed(key, value, **more):
    d = json.loads(json.dumps(top)); d['ptx'] = os.path.abspath(here + 'gemm_wgmma.ptx')
    m = d['launches'][0]['args'][0]['tensor_map']; m[key] = value; m.update(more)
    json.dump(d, open(tmp + '/l.json', 'w'))
    return run(here + 'gemm_wgmma.ptx', tmp + '/l.json', '-k', 'n256')
for what, key, value, want, more in (
        ('a box of 257', 'box', [64, 257], 'not 1 to 256', {}),
        ('a stride of 20 bytes', 'strides', [20], 'multiple of 16', {}),
        ('six dimensions', 'dims', [1] * 6, '1 to 5', {}),
        ('a swizzle of 64 for a box of 128 bytes', 'swizzle', '64B', 'more than the 64 that the swizzle spans', {}),
        ('an element stride of 9', 'element_strides', [1, 9], 'not 1 to 8', {}),
        ('an unknown type', 'type', 'f17', '"type" must be', {}),
        ('data that is no buffer', 'data', 'nothing', 'which is not a buffer', {}),
        ('an address off by 8', 'offset', 8, 'multiple of 16', {}),
        ('NaN for integers', 'oob', 'nan', 'only floating point', {'type': 'u16'}),
        ('a box of 18 bytes', 'box', [9, 128], 'not a multiple of 16', {'swizzle': 'none'})):
    rc, said = changed(key, value, **more)
    say(rc == 1 and want in said and 'l.json' in said, what + ' is refused with its place', rc, said)
rc, said = changed('dims', [128, 512])
say(rc == 0, 'rows that no box touches may lie outside the buffer', said)
rc, said = changed('strides', [512])
say(rc == 4 and 'out-of-bounds' in said and "buffer 'a'" in said and 'cp.async.bulk.tensor' in said, 'a tensor that reaches outside its buffer is told', rc, said)
rc, said = changed('box', [64, 64])
say(rc == 4 and ('hang' in said or 'deadlock' in said), 'bytes that never come are told', rc, said)
done()
PY
rc=$?
cat "$T/said"
exit $rc
