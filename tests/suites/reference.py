#!/usr/bin/env python3
"""What the kernels of the suites compute, written again in Python from their definitions: no code of the simulator or of CUDA.

    tests/suites/reference.py build/gpulocw [KERNEL...]     runs every NAME-small on the simulated device and compares all outputs

Integers must be equal; floating results may differ by rounding. Prints TAP; a kernel without a reference here fails.
"""
import math, os, struct, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import suites

M64, M32 = (1 << 64) - 1, (1 << 32) - 1
CODE = {"f32": "f", "f64": "d", "s32": "i", "u32": "I", "u8": "B"}

def splitmix(seed, i):
    z = (seed + (i + 1) * 0x9E3779B97F4A7C15) & M64
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & M64
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & M64
    return z ^ z >> 31

def f32(x):
    return struct.unpack("f", struct.pack("f", x))[0]

def data(a):
    """The values of a buffer as docs/reference/launch.md defines them."""
    init, n = a["init"], a["count"]
    if "fill" in init:
        return [init["fill"]] * n
    if "iota" in init:
        return [init["iota"][0] + i * init["iota"][1] for i in range(n)]
    if "rows" in init:
        r, out = init["rows"], []
        rows, nnz, mean = r["rows"], r["nnz"], r["nnz"] // r["rows"]
        for i in range(n):
            at = nnz if i >= rows else int(i * nnz / rows)
            if 0 < i < rows and mean > 1:
                at += splitmix(init["seed"], i) % (mean + 1) - mean // 2
            out.append(min(max(at, out[-1] if out else 0), nnz))
        return out
    lo, hi = init["random"]
    z = [splitmix(init["seed"], i) for i in range(n)]
    if a["buffer"] in ("f32", "f64"):
        v = [lo + (hi - lo) * ((x >> 40) / 2.0 ** 24) for x in z]
        return [f32(x) for x in v] if a["buffer"] == "f32" else v
    return [lo + x % (hi - lo + 1) for x in z]

class Mem(dict):
    __getattr__, __setattr__ = dict.__getitem__, dict.__setitem__

REF = {}

def ref(fn):
    REF[fn.__name__] = fn
    return fn

def dot(a, b):
    return sum(x * y for x, y in zip(a, b))

def inner(m, n, lo, hi):
    """Indices of the points of a plane of side n whose coordinates lie in lo to hi - 1."""
    return [(y * n + x) for y in range(lo, hi) for x in range(lo, hi)]

def s32(v):
    return (v + (1 << 31)) % (1 << 32) - (1 << 31)

# ---- linear ----
@ref
def trsv_step(m):
    for i in range(m.k + 1, m.n):
        m.b[i] -= m.L[i * m.n + m.k] * m.b[m.k]
@ref
def trsm_small(m):
    for s in range(m.systems):
        for i in range(m.n):
            m.x[i * m.systems + s] = (m.x[i * m.systems + s] - sum(m.L[i * m.n + j] * m.x[j * m.systems + s] for j in range(i))) / m.L[i * m.n + i]
def trailing(m, other, lower):
    old = list(m.A)
    for i in range(m.k + 1, m.n):
        for j in range(m.k + 1, i + 1 if lower else m.n):
            m.A[i * m.n + j] = old[i * m.n + j] - old[i * m.n + m.k] * other(old, j)
@ref
def lu_update(m):
    trailing(m, lambda A, j: A[m.k * m.n + j], False)
@ref
def chol_update(m):
    trailing(m, lambda A, j: A[j * m.n + m.k], True)
@ref
def gauss_jordan(m):
    m.B = [m.row[j] if i == m.k else m.A[i * m.n + j] - m.A[i * m.n + m.k] * m.row[j] for i in range(m.n) for j in range(m.n)]
@ref
def gemv_warp(m):
    m.y = [dot(m.A[i * m.n:(i + 1) * m.n], m.x) for i in range(m.n)]
@ref
def gemv_trans(m):
    m.y = [dot(m.A[j::m.n], m.x) for j in range(m.n)]
@ref
def mm_tile16(m):
    m.C = [dot(m.A[i * m.n:(i + 1) * m.n], m.B[j::m.n]) for i in range(m.n) for j in range(m.n)]
REF["dgemm_naive"] = mm_tile16
@ref
def ger(m):
    m.A = [m.A[i * m.n + j] + m.alpha * m.x[i] * m.y[j] for i in range(m.n) for j in range(m.n)]
@ref
def tridiag(m):
    """The solution solves the system: the residual, as d; cp is the ratio of the elimination."""
    n, s = m.n, m.systems
    for q in range(s):
        low, up, rhs = ([v[i * s + q] for i in range(n)] for v in (m.a, m.c, m.d))
        diag = [m.b[i * s + q] for i in range(n)]
        for i in range(n):
            if i:
                f = low[i] / diag[i - 1]
                diag[i] -= f * up[i - 1]
                rhs[i] -= f * rhs[i - 1]
            m.cp[i * s + q] = up[i] / diag[i]
        x = 0.0
        for i in reversed(range(n)):
            x = (rhs[i] - (up[i] * x if i < n - 1 else 0)) / diag[i]
            m.d[i * s + q] = x
@ref
def transpose_pad(m):
    m.out = [m["in"][j * m.n + i] for i in range(m.n) for j in range(m.n)]
@ref
def transpose_inplace(m):
    m.A = [m.A[j * m.n + i] for i in range(m.n) for j in range(m.n)]
@ref
def fft_stage(m):
    x, h = [complex(*m.x[i:i + 2]) for i in range(0, len(m.x), 2)], m.half
    w = [complex(*m.w[i:i + 2]) for i in range(0, len(m.w), 2)]
    for base in range(0, len(x), 2 * h):
        for j in range(h):
            a, b = x[base + j], x[base + j + h] * w[j * m.step]
            x[base + j], x[base + j + h] = a + b, a - b
    m.x = [p for c in x for p in (c.real, c.imag)]
@ref
def walsh(m):
    def hadamard(v):
        if len(v) == 1:
            return v
        a, b = hadamard(v[:len(v) // 2]), hadamard(v[len(v) // 2:])
        return [x + y for x, y in zip(a, b)] + [x - y for x, y in zip(a, b)]
    m.out = [v for i in range(0, len(m["in"]), 512) for v in hadamard(m["in"][i:i + 512])]

# ---- grid ----
@ref
def gs_red(m):
    for i in inner(m, m.n, 1, m.n - 1):
        if (i // m.n + i % m.n) % 2 == 0:
            m.u[i] = (m.u[i - 1] + m.u[i + 1] + m.u[i - m.n] + m.u[i + m.n] + m.f[i]) / 4
@ref
def sweep_down(m):
    for i in range(m.n, m.rows * m.n):
        m.u[i] += m.u[i - m.n] * m.c[i] / 2
@ref
def fdtd_e(m):
    for i in inner(m, m.n, 1, m.n):
        m.e[i] += (m.hy[i] - m.hy[i - 1] - m.hx[i] + m.hx[i - m.n]) / 2
@ref
def heat9(m):
    for i in inner(m, m.n, 1, m.n - 1):
        m.b[i] = (sum(sum(m.a[i + d - 1:i + d + 2]) for d in (-m.n, 0, m.n)) - m.a[i]) / 8
@ref
def wave4(m):
    n, a = m.n, m.now
    for i in inner(m, n, 2, n - 2):
        l = sum(16 * (a[i - d] + a[i + d]) - a[i - 2 * d] - a[i + 2 * d] for d in (1, n)) - 60 * a[i]
        m.prev[i] = 2 * a[i] - m.prev[i] + l / 100
@ref
def seven3d(m):
    n, p = m.n, m.n * m.n
    for z in range(1, m.depth - 1):
        for q in inner(m, n, 1, n - 1):
            i = z * p + q
            m.b[i] = sum(m.a[i + d] + m.a[i - d] for d in (1, n, p)) - 6 * m.a[i]
@ref
def life(m):
    n = m.n
    for y in range(n):
        for x in range(n):
            s = sum(m.a[(y + j) % n * n + (x + i) % n] for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
            m.b[y * n + x] = int(s == 3 or (s == 2 and m.a[y * n + x] == 1))
@ref
def life_bits(m):
    w, h = m.words, m.rows
    rows = [sum(m.a[y * w + x] << (32 * x) for x in range(w)) for y in range(h)]
    side, full = 32 * w, (1 << (32 * w)) - 1
    for y in range(h):
        total = [0] * side
        for j in (-1, 0, 1):
            r = rows[(y + j) % h]
            bits = [(r >> i) & 1 for i in range(side)]
            for i in range(side):
                total[i] += bits[i - 1] + bits[(i + 1) % side] + (bits[i] if j else 0)
        new = sum(1 << i for i in range(side) if total[i] == 3 or (total[i] == 2 and rows[y] >> i & 1))
        for x in range(w):
            m.b[y * w + x] = new >> (32 * x) & M32
@ref
def conv5(m):
    m.b = [sum(m.w[j * 5 + i] * m.a[(y + j) * (m.n + 4) + x + i] for i in range(5) for j in range(5)) for y in range(m.n) for x in range(m.n)]
@ref
def column_filter(m):
    m.b = [dot(m.w, m.a[i::m.n]) for i in range(m.n * m.n)]
@ref
def median3(m):
    p = m.n + 2
    m.b = [sorted(m.a[(y + j) * p + x + i] for i in range(3) for j in range(3))[4] for y in range(m.n) for x in range(m.n)]
@ref
def sobel(m):
    p = m.n + 2
    at = lambda y, x, k: sum(k[j][i] * m.a[(y + j) * p + x + i] for i in range(3) for j in range(3))
    kx, ky = [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], [[-1, -2, -1], [0, 0, 0], [1, 2, 1]]
    m.b = [min(255, abs(at(y, x, kx)) + abs(at(y, x, ky))) for y in range(m.n) for x in range(m.n)]
@ref
def bilinear(m):
    for i, (x, y) in enumerate(zip(m.px, m.py)):
        c = int(y) * m.n + int(x)
        fx, fy = x % 1, y % 1
        m.out[i] = (1 - fy) * ((1 - fx) * m.img[c] + fx * m.img[c + 1]) + fy * ((1 - fx) * m.img[c + m.n] + fx * m.img[c + m.n + 1])
@ref
def sat_columns(m):
    for i in range(m.n, m.rows * m.n):
        m.a[i] += m.a[i - m.n]
@ref
def maxpool(m):
    n = m.n
    m.b = [max(m.a[(2 * y + j) * 2 * n + 2 * x + i] for i in (0, 1) for j in (0, 1)) for y in range(n) for x in range(n)]
@ref
def gray(m):
    m.out = [(77 * m.rgb[i] + 150 * m.rgb[i + 1] + 29 * m.rgb[i + 2]) // 256 for i in range(0, 3 * m.n, 3)]

# ---- sparse ----
@ref
def pagerank(m):
    m.next = [0.15 + 0.85 * sum(m.rank[u] * m.share[u] for u in m["from"][m.row[v]:m.row[v + 1]]) for v in range(m.n)]
@ref
def spmv_ell(m):
    m.y = [sum(v * m.x[c] for v, c in zip(m.val[r::m.rows], m.col[r::m.rows])) for r in range(m.rows)]
@ref
def spmv_vector(m):
    m.y = [sum(m.val[e] * m.x[m.col[e]] for e in range(m.row[r], m.row[r + 1])) for r in range(m.rows)]
@ref
def spmv_coo(m):
    for r, c, v in zip(m.r, m.c, m.v):
        m.y[r] += v * m.x[c]
@ref
def spmv_bsr(m):
    for b in range(m.brows):
        for q in range(4):
            m.y[4 * b + q] = sum(dot(m.val[e * 16 + q * 4:][:4], m.x[4 * m.col[e]:][:4]) for e in range(m.row[b], m.row[b + 1]))
@ref
def spmv_dia(m):
    m.y = [dot(m.d[i::m.n], m.x[i:i + 9]) for i in range(m.n)]
@ref
def bfs_bottom_up(m):
    m.next = [m.now + 1 if l > m.now and m.now in [m.level[e] for e in m.edge[m.row[v]:m.row[v + 1]]] else l for v, l in enumerate(m.level)]
@ref
def sssp_relax(m):
    for u, v, w in zip(m["from"], m.to, m.w):
        m.next[v] = min(m.next[v], m.dist[u] + w)
@ref
def pointer_jump(m):
    up = m.parent
    m.root = [up[up[up[up[up[v]]]]] for v in range(m.n)]
@ref
def intersect(m):
    key = lambda v, t: {x + 64 * i for i, x in enumerate(v[t * m.len:][:m.len])}
    m.count = [len(key(m.a, t) & key(m.b, t)) for t in range(len(m.count))]
@ref
def bitonic_step(m):
    old = list(m.a)
    for i in range(len(old)):
        p = i ^ m.j
        m.a[i] = (min if (i < p) == (i & m.k == 0) else max)(old[i], old[p])
@ref
def bitonic_shared(m):
    m.out = [v for i in range(0, len(m["in"]), 512) for v in sorted(m["in"][i:i + 512])]
@ref
def radix_count(m):
    ctas = len(m.count) // 16
    for i, k in enumerate(m.key):
        m.count[(k >> m.shift) % 16 * ctas + i // (256 * m.per)] += 1 if i // (256 * m.per) < ctas else 0
@ref
def scan_cta(m):
    m.out = [sum(m["in"][i - i % 256:i + 1]) for i in range(len(m.out))]
@ref
def lower_bound(m):
    m.pos = [min((q + 2) // 3, m.n) for q in m.key]
@ref
def hash_probe(m):
    for i, q in enumerate(m.key):
        h = q * 2654435761 & M32
        m.steps[i] = next((k for k in range(16) if m.table[(h + k) & m.mask] == q), 16)

# ---- learn ----
def soft(v):
    e = [math.exp(x - max(v)) for x in v]
    return [x / sum(e) for x in e]
@ref
def attention(m):
    row = lambda v, i: v[i * 32:i * 32 + 32]
    for t in range(len(m.q) // 32):
        first = t // m.len * m.len
        p = soft([dot(row(m.q, t), row(m.k, first + j)) * 32 ** -0.5 for j in range(m.len)])
        m.o[t * 32:t * 32 + 32] = [dot(p, m.v[first * 32 + d:(first + m.len) * 32:32]) for d in range(32)]
@ref
def scores(m):
    m.s = [dot(m.q, m.k[i * 128:i * 128 + 128]) for i in range(len(m.s))]
@ref
def layer_norm(m):
    for r in range(0, len(m.x), m.n):
        v = m.x[r:r + m.n]
        mean = sum(v) / m.n
        f = (sum((x - mean) ** 2 for x in v) / m.n + 1e-5) ** -0.5
        m.y[r:r + m.n] = [(x - mean) * f * g + b for x, g, b in zip(v, m.g, m.b)]
@ref
def rms_norm(m):
    for r in range(0, len(m.x), m.n):
        v = m.x[r:r + m.n]
        f = (dot(v, v) / m.n + 1e-5) ** -0.5
        m.x[r:r + m.n] = [x * f * g for x, g in zip(v, m.g)]
@ref
def softmax_warp(m):
    m.y = [p for r in range(0, len(m.x), 128) for p in soft(m.x[r:r + 128])]
@ref
def rotary(m):
    h = m.half
    heads = len(m.x) // (2 * len(m.c))
    for i in range(len(m.x) // 2):
        q, d = i // h, i % h
        p = q // heads
        a, b, turn = m.x[2 * h * q + d], m.x[2 * h * q + d + h], complex(m.c[p * h + d], m.s[p * h + d])
        z = complex(a, b) * turn
        m.x[2 * h * q + d], m.x[2 * h * q + d + h] = z.real, z.imag
@ref
def q4_matvec(m):
    n = m.n
    weight = lambda r, j: ((m.w[(r * n + j) // 8] >> 4 * (j % 8)) % 16 - 8) * m.scale[(r * n + j) // 32]
    m.y = [sum(weight(r, j) * m.x[j] for j in range(n)) for r in range(len(m.y))]
@ref
def q8_matvec(m):
    b = lambda v: list(struct.pack("%di" % len(v), *v))
    sign = lambda v: [x - 256 if x > 127 else x for x in v]
    x = sign(b(m.x))
    m.y = [dot(sign(b(m.w[r * m.words:(r + 1) * m.words])), x) for r in range(len(m.y))]
@ref
def nearest_centre(m):
    for i in range(m.n):
        d = [sum((m.p[f * m.n + i] - m.c[j * 8 + f]) ** 2 for f in range(8)) for j in range(m.k)]
        m.who[i] = d.index(min(d))
@ref
def embed(m):
    m.out = [v for t in m.token for v in m.table[t * m.width:(t + 1) * m.width]]
@ref
def momentum(m):
    m.m = [0.9 * a + g for a, g in zip(m.m, m.g)]
    m.w = [w - m.rate * v for w, v in zip(m.w, m.m)]
@ref
def swiglu(m):
    m.o = [a / (1 + math.exp(-a)) * b for a, b in zip(m.a, m.b)]

# ---- misc ----
@ref
def edit_distance(m):
    def far(a, b):
        row = list(range(len(b) + 1))
        for i, x in enumerate(a, 1):
            new = [i]
            for j, y in enumerate(b, 1):
                new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (x != y)))
            row = new
        return row[-1]
    m.out = [far(m.a[t:t + 32], m.b[t:t + 32]) for t in range(0, len(m.a), 32)]
@ref
def knapsack_row(m):
    m.now = [max(v, m.old[i - m.weight] + m.value) if i >= m.weight else v for i, v in enumerate(m.old)]
@ref
def floyd(m):
    n, old = m.n, list(m.d)
    m.d = [min(old[i * n + j], old[i * n + m.k] + old[m.k * n + j]) for i in range(n) for j in range(n)]
@ref
def viterbi(m):
    n = m.states
    for q in range(len(m.score) // n):
        for s in range(n):
            v = [m.score[q * n + p] + m.move[p * n + s] for p in range(n)]
            m.next[q * n + s], m["from"][q * n + s] = max(v), v.index(max(v))
@ref
def nbody_tile(m):
    b = [m.p[i:i + 4] for i in range(0, len(m.p), 4)]
    for i, me in enumerate(b):
        for o in b:
            w = o[3] * (sum((o[k] - me[k]) ** 2 for k in range(3)) + 0.01) ** -1.5
            for k in range(3):
                m.a[4 * i + k] += (o[k] - me[k]) * w
@ref
def monte_pi(m):
    for i, s in enumerate(m.seed):
        s |= 1
        for _ in range(m.turns):
            s ^= s << 13 & M32
            s ^= s >> 17
            s ^= s << 5 & M32
            m.hits[i] += (s & 65535) ** 2 + (s >> 16) ** 2 < 1 << 32
@ref
def xorwow(m):
    for i, s in enumerate(m.seed):
        v = [s | 1]
        v += [v[0] * 69069 & M32]
        v += [v[1] ^ 362436069]
        v += [v[2] + 88675123 & M32]
        for k in range(m.turns):
            t, d = v[0] ^ v[0] << 11 & M32, v[3]
            v = v[1:] + [d ^ d >> 19 ^ t ^ t >> 8]
            m.out[k * m.n + i] = v[3]
@ref
def fnv(m):
    for i in range(len(m.out)):
        h = 2166136261
        for c in m["in"][i * 32:i * 32 + 32]:
            h = (h ^ c) * 16777619 & M32
        m.out[i] = h
@ref
def crc_table(m):
    for i in range(len(m.out)):
        c = M32
        for x in m["in"][i * 32:i * 32 + 32]:
            c = m.table[(c ^ x) % 256] ^ c >> 8
        m.out[i] = c ^ M32
@ref
def sbox_rounds(m):
    for i, v in enumerate(m["in"]):
        for _ in range(10):
            v = int.from_bytes(bytes(m.box[b] for b in v.to_bytes(4, "little")), "little")
            v = ((v << 7 | v >> 25) + 2654435769) & M32
        m.out[i] = v
@ref
def match8(m):
    m.hit = [next((k for k in range(8) if m.text[i + k] != m.pat[k]), 8) for i in range(len(m.hit))]
@ref
def automaton(m):
    for i in range(m.n):
        s = 0
        for k in range(64):
            s = m.table[s * 4 + m.text[k * m.n + i]]
        m.last[i] = s
@ref
def hamming(m):
    m.best = [min(bin(v ^ c).count("1") * 256 + k for k, c in enumerate(m.code)) for v in m.a]
@ref
def morton(m):
    for i, c in enumerate(zip(m.x, m.y, m.z)):
        m.out[i] = sum((c[k] >> b & 1) << (3 * b + k) for b in range(10) for k in range(3))
@ref
def hist_global(m):
    for v in m["in"]:
        m.bin[v] += 1
@ref
def reduce_max(m):
    m.out = [max(m["in"])]
@ref
def mandel(m):
    quot = lambda a, b: -(-a // b) if a < 0 else a // b
    for i in range(len(m.out)):
        cx, cy, x, y, k = quot(i % m.width * 196608, m.width) - 131072, quot(i // m.width * 131072, m.width) - 65536, 0, 0, 0
        while k < m.turns and (x * x >> 16) + (y * y >> 16) <= 262144:
            x, y, k = (x * x >> 16) - (y * y >> 16) + cx, (x * y >> 15) + cy, k + 1
        m.out[i] = k

# ---- comparing ----

def differs(type, want, got):
    """The first element that differs, or None."""
    if type in ("f32", "f64"):
        eps = 1e-4 if type == "f32" else 1e-10
        return next((i for i, (a, b) in enumerate(zip(want, got)) if not abs(a - b) <= eps * max(1.0, abs(a))), None)
    mask = {"u8": 255}.get(type, M32)
    return next((i for i, (a, b) in enumerate(zip(want, got)) if (a ^ b) & mask), None)

def check(gpulocw, suite, launch, folder):
    """A text that says what is wrong; None: all outputs are as the reference has them."""
    m = Mem()
    for a in launch["args"]:
        m[a["name"]] = data(a) if "buffer" in a else next(f32(v) if k == "f32" else v for k, v in a.items() if k != "name")
    REF[launch["kernel"]](m)
    r = subprocess.run([gpulocw, "run", os.path.join(suites.HERE, suite + ".ptx"), "-k", launch["name"], "-d", "sim:hopper-h200", "--outputs", folder, "--force"],
                       capture_output=True, text=True)
    if r.returncode:
        return "exit %d: %s" % (r.returncode, r.stderr.strip()[:200])
    for a in launch["args"]:
        if a.get("output"):
            raw = open(os.path.join(folder, a["name"] + ".bin"), "rb").read()
            got = struct.unpack("%d%s" % (a["count"], CODE[a["buffer"]]), raw)
            if len(m[a["name"]]) != a["count"]:
                return "the reference has %d elements of %s for %d" % (len(m[a["name"]]), a["name"], a["count"])
            i = differs(a["buffer"], m[a["name"]], got)
            if i is not None:
                return "%s[%d] is %r, the reference %r" % (a["name"], i, got[i], m[a["name"]][i])
    return None

def main():
    bad, n = 0, 0
    for suite in suites.SUITES:
        for l in suites.launches(suite):
            if not l["name"].endswith("-small") or (sys.argv[2:] and l["kernel"] not in sys.argv[2:]):
                continue
            n += 1
            with tempfile.TemporaryDirectory() as folder:
                why = check(sys.argv[1], suite, l, folder) if l["kernel"] in REF else "no reference"
            print("%s %d - %s%s" % ("not ok" if why else "ok", n, l["kernel"], ": " + why if why else ""), flush=True)
            bad += bool(why)
    sys.exit(1 if bad or not n else 0)

if __name__ == "__main__":
    main()
