#!/usr/bin/env python3
"""Four Triton kernels as people write them: a product of matrices by pointers, by tensor maps that the host makes, by tensor maps that the kernel makes, and
attention. Each is launched once on small data (attention on HEADS heads of LENGTH):

    gpulocw capture -o FOLDER -k matmul -k attention -- tests/gpu/triton_kernels.py [HEADS LENGTH]"""
import sys
import torch, triton, triton.language as tl

@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BAND: tl.constexpr):
    pid = tl.program_id(0)
    down = tl.cdiv(M, BM)
    across = tl.cdiv(N, BN)
    band = pid // (BAND * across)
    first = band * BAND
    tall = min(down - first, BAND)
    m = first + pid % (BAND * across) % tall
    n = pid % (BAND * across) // tall
    rows = m * BM + tl.arange(0, BM)
    cols = n * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    pa = a + rows[:, None] * K + ks[None, :]
    pb = b + ks[:, None] * N + cols[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        x = tl.load(pa, mask=ks[None, :] < K - k * BK, other=0.0)
        y = tl.load(pb, mask=ks[:, None] < K - k * BK, other=0.0)
        total = tl.dot(x, y, total)
        pa += BK
        pb += BK * N
    tl.store(c + rows[:, None] * N + cols[None, :], total.to(tl.float16), mask=(rows[:, None] < M) & (cols[None, :] < N))

@triton.jit
def matmul_host_maps(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a.load([m, k]), b.load([n, k]).T, total)
    c.store([m, n], total.to(tl.float16))

@triton.jit
def matmul_own_maps(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    da = tl.make_tensor_descriptor(a, shape=[M, K], strides=[K, 1], block_shape=[BM, BK])
    db = tl.make_tensor_descriptor(b, shape=[N, K], strides=[K, 1], block_shape=[BN, BK])
    dc = tl.make_tensor_descriptor(c, shape=[M, N], strides=[N, 1], block_shape=[BM, BN])
    m = tl.program_id(0) * BM
    n = tl.program_id(1) * BN
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(da.load([m, k]), db.load([n, k]).T, total)
    dc.store([m, n], total.to(tl.float16))

@triton.jit
def attention(q, k, v, o, scale, L, D: tl.constexpr, BQ: tl.constexpr, BK: tl.constexpr):
    head = tl.program_id(1) * L * D
    rows = tl.program_id(0) * BQ + tl.arange(0, BQ)
    keys = tl.arange(0, BK)
    depth = tl.arange(0, D)
    x = tl.load(q + head + rows[:, None] * D + depth[None, :])
    most = tl.full((BQ,), float('-inf'), tl.float32)
    total = tl.zeros((BQ,), tl.float32)
    out = tl.zeros((BQ, D), tl.float32)
    for at in range(0, L, BK):
        y = tl.load(k + head + (at + keys)[None, :] * D + depth[:, None])
        s = tl.dot(x, y) * (scale * 1.44269504)
        now = tl.maximum(most, tl.max(s, 1))
        p = tl.exp2(s - now[:, None])
        old = tl.exp2(most - now)
        total = total * old + tl.sum(p, 1)
        z = tl.load(v + head + (at + keys)[:, None] * D + depth[None, :])
        out = tl.dot(p.to(tl.float16), z, out * old[:, None])
        most = now
    tl.store(o + head + rows[:, None] * D + depth[None, :], (out / total[:, None]).to(tl.float16))

def half(*shape): return torch.rand(*shape, device='cuda', dtype=torch.float16) * 2 - 1
def main():
    torch.manual_seed(1)
    M = N = K = 256
    a, b, bt, c = half(M, K), half(K, N), half(N, K), torch.zeros(M, N, device='cuda', dtype=torch.float16)
    def own_memory(size, align, stream): return torch.empty(size, device='cuda', dtype=torch.int8)
    def by_pointers(): matmul[(M // 128 * N // 128,)](a, b, c, M, N, K, BM=128, BN=128, BK=64, BAND=4, num_warps=8, num_stages=3)
    def host_maps():
        from triton.tools.tensor_descriptor import TensorDescriptor as T
        matmul_host_maps[(M // 128, N // 128)](T.from_tensor(a, [128, 64]), T.from_tensor(bt, [128, 64]), T.from_tensor(c, [128, 128]), K, BM=128, BN=128, BK=64, num_warps=8, num_stages=3)
    def own_maps():
        triton.set_allocator(own_memory)
        matmul_own_maps[(M // 128, N // 128)](a, bt, c, M, N, K, BM=128, BN=128, BK=64, num_warps=8, num_stages=3)
    def attend():
        heads, length = map(int, sys.argv[1:3] or (2, 256))
        q, k, v = half(heads, length, 64), half(heads, length, 64), half(heads, length, 64)
        o = torch.zeros_like(q)
        attention[(length // 128, heads)](q, k, v, o, 0.125, length, D=64, BQ=128, BK=64, num_warps=4, num_stages=2)
    for f in (by_pointers, host_maps, own_maps, attend):
        try:
            f()
            torch.cuda.synchronize()
            print(f.__name__, 'ran', flush=True)
        except Exception as e:
            print(f.__name__, type(e).__name__, str(e)[:300], flush=True)
if __name__ == '__main__': main()
