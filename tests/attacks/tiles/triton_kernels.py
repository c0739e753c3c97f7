"""The kernels of triton_matmul.ptx and triton_transpose.ptx (Triton 3, sm_90a, without its debug sections)."""
import triton
import triton.language as tl


@triton.jit
def matmul_persistent(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, SMS: tl.constexpr):  # 128, 128, 64, 20; 8 warps, 3 stages
    start, tn = tl.program_id(0), tl.cdiv(N, BN)
    tiles, ks = tl.cdiv(M, BM) * tn, tl.cdiv(K, BK)
    for t in tl.range(start, tiles, SMS):
        rm, rn, rk = t // tn * BM + tl.arange(0, BM), t % tn * BN + tl.arange(0, BN), tl.arange(0, BK)
        acc = tl.zeros((BM, BN), dtype=tl.float32)
        for k in range(ks):
            x = tl.load(a + rm[:, None] * K + (k * BK + rk)[None, :])
            y = tl.load(b + (k * BK + rk)[:, None] * N + rn[None, :])
            acc = tl.dot(x, y, acc)
        tl.store(c + rm[:, None] * N + rn[None, :], acc.to(tl.float16))


@triton.jit
def transpose_persistent(x, y, M, N, B: tl.constexpr):  # 32; 4 warps
    tn = tl.cdiv(N, B)
    for t in tl.range(tl.program_id(0), tl.cdiv(M, B) * tn, tl.num_programs(0)):
        rm, rn = t // tn * B + tl.arange(0, B), t % tn * B + tl.arange(0, B)
        tl.store(y + rn[:, None] * M + rm[None, :], tl.trans(tl.load(x + rm[:, None] * N + rn[None, :])))
