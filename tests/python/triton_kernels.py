"""A softmax and a product of matrices for Triton, pruned to a quarter of their configurations: how much of the best time of
all of them stays. Needs a GPU with Triton and PyTorch: python3 triton_kernels.py prints the table."""
import os
import sys

sys.path.insert(0, os.environ.get("GPULOCW_PYTHON", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")))
import torch
import triton
import triton.language as tl

import gpulocw

SOFTMAX = [triton.Config({"ROWS": r}, num_warps=w) for r in (1, 2, 4) for w in (1, 2, 4, 8)]
PRODUCT = [triton.Config({"M": m, "N": n, "K": k}, num_warps=w, num_stages=s)
           for m in (32, 64, 128) for n in (64, 128) for k in (32, 64) for w in (4, 8) for s in (1, 2)]


@triton.jit
def softmax(y, x, n, COLS: tl.constexpr, ROWS: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    v = tl.load(x + row * COLS + col, mask=row < n, other=0.0)
    e = tl.exp(v - tl.max(v, 1)[:, None])
    tl.store(y + row * COLS + col, e / tl.sum(e, 1)[:, None], mask=row < n)


@triton.jit
def product(c, a, b, m, n, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.program_id(0) * M + tl.arange(0, M)
    j = tl.program_id(1) * N + tl.arange(0, N)
    s = tl.zeros((M, N), dtype=tl.float32)
    for at in range(0, k, K):
        l = at + tl.arange(0, K)
        s += tl.dot(tl.load(a + i[:, None] * k + l[None, :]), tl.load(b + l[:, None] * n + j[None, :]))
    tl.store(c + i[:, None] * n + j[None, :], s.to(tl.float16))


def softmax_case():
    x = torch.randn(4096, 1024, device="cuda")
    y = torch.empty_like(x)
    return softmax, SOFTMAX, (y, x, 4096), {"COLS": 1024}, lambda meta: (triton.cdiv(4096, meta["ROWS"]),)


def product_case():
    a, b = (torch.randn(1024, 1024, device="cuda").half() for _ in range(2))
    c = torch.empty_like(a)
    return product, PRODUCT, (c, a, b, 1024, 1024, 1024), {}, lambda meta: (1024 // meta["M"], 1024 // meta["N"])


def pruned(case, keep=0.25):
    """(configurations kept, of how many, the Pruner, the case)."""
    fn, configs, args, fixed, grid = case
    tuner = gpulocw.prune(keep=keep)(triton.autotune(configs=configs, key=[])(fn))
    kept = tuner.early_config_prune(configs, dict(zip(fn.arg_names, args)), grid=grid, **fixed)
    return kept, configs, tuner.gpulocw


def softmax_pruned():
    kept, configs, _ = pruned(softmax_case())
    return len(kept), len(configs)


def table():
    from triton.testing import do_bench
    print("| kernel | configurations | kept | out | best of all us | best of the kept us | kept of the best time |\n|---|---|---|---|---|---|---|")
    for name, case in (("softmax 4096 x 1024", softmax_case()), ("product 1024^3 f16", product_case())):
        fn, configs, args, fixed, grid = case
        kept, _, pruner = pruned(case)
        times = {id(c): do_bench(lambda: fn[grid](*args, **fixed, **c.all_kwargs())) for c in configs}
        best, ours = min(times.values()), min(times[id(c)] for c in kept)
        out = sum(1 for c in pruner.last if c.why)
        print(f"| {name} | {len(configs)} | {len(kept)} | {out} | {1e3 * best:.2f} | {1e3 * ours:.2f} | {100 * best / ours:.1f} % |")
        print(pruner, file=sys.stderr)


if __name__ == "__main__":
    table()
