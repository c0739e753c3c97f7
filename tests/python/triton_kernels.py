"""A softmax and a product of matrices for Triton, pruned to a quarter of their configurations: how much of the best time of
all of them stays. Needs a GPU with Triton and PyTorch: triton_kernels.py [CASE...] [--to FOLDER] prints the table; --to: writes each
configuration's PTX, simulated time and time on the GPU there. Two at once: each times alone, by a lock on FOLDER."""
import fcntl
import json
import os
import sys

sys.path.insert(0, os.environ.get("GPULOCW_PYTHON", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")))
import torch
import triton
import triton.language as tl

import gpulocw

SOFTMAX = [triton.Config({"ROWS": r, "ONCE": once}, num_warps=w) for r in (1, 2, 4, 8) for w in (1, 2, 4, 8) for once in (0, 1)]
PRODUCT = [triton.Config({"M": m, "N": n, "K": k}, num_warps=w, num_stages=s)
           for m in (32, 64, 128) for n in (64, 128) for k in (32, 64) for w in (4, 8) for s in (1, 3)]


@triton.jit
def softmax(y, x, n, COLS: tl.constexpr, ROWS: tl.constexpr, ONCE: tl.constexpr):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    col = tl.arange(0, COLS)[None, :]
    v = tl.load(x + row * COLS + col, mask=row < n, other=0.0, eviction_policy="evict_first" if ONCE else "")
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


def product_case(n=512):
    a, b = (torch.randn(n, n, device="cuda").half() for _ in range(2))
    c = torch.empty_like(a)
    return product, PRODUCT, (c, a, b, n, n, n), {}, lambda meta: (n // meta["M"], n // meta["N"])


CASES = {"softmax": ("softmax, 4096 x 1024, f32", softmax_case), "product": ("product, 512^3, f16", product_case),
         "product1024": ("product, 1024^3, f16", lambda: product_case(1024))}


def pruned(case, keep=0.25):
    """(configurations kept, of how many, the Pruner, the case)."""
    fn, configs, args, fixed, grid = case
    tuner = gpulocw.prune(keep=keep)(triton.autotune(configs=configs, key=[])(fn))
    kept = tuner.early_config_prune(configs, dict(zip(fn.arg_names, args)), grid=grid, **fixed)
    return kept, configs, tuner.gpulocw


def softmax_pruned():
    kept, configs, _ = pruned(softmax_case())
    return len(kept), len(configs)


def timed(case, folder):
    """Microseconds of each configuration, alone on the GPU."""
    from triton.testing import do_bench
    fn, configs, args, fixed, grid = case
    for c in configs:
        fn.warmup(*args, grid=(1,), **fixed, **c.all_kwargs())
    with open(os.path.join(folder, "lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        launch = lambda c: do_bench(lambda: fn[grid](*args, **fixed, **c.all_kwargs()), warmup=20, rep=60, return_mode="median")
        rounds = [[1e3 * launch(c) for c in configs] for _ in range(3)]
    return [min(r) for r in zip(*rounds)]


def written(name, case, pruner, times, folder):
    fn, configs, args, fixed, grid = case
    rows = []
    for i, c in enumerate(configs):
        found = next(k for k in pruner.last if k.config is c)
        rows.append({"config": str(c), "us": times[i], "simulated_ns": found.time_ns, "why": found.why, "kept": found.kept})
        kernel = fn.warmup(*args, grid=(1,), **fixed, **c.all_kwargs())
        rows[-1]["shared"], rows[-1]["grid"] = kernel.metadata.shared, list(grid({**c.all_kwargs()}))
        with open(os.path.join(folder, f"{name}-{i}.ptx"), "w") as f:
            f.write(kernel.asm["ptx"])
    with open(os.path.join(folder, f"{name}.json"), "w") as f:
        json.dump(rows, f, indent=1)


def table(names, folder):
    import time
    print("| kernel | configurations | kept | out | best of all us | best of the kept us | of the best time | s |\n|---|---|---|---|---|---|---|---|")
    for name in names or CASES:
        title, make = CASES[name]
        case = make()
        times = timed(case, folder or ".")
        if folder:
            open(os.path.join(folder, f"{name}.timed"), "w").close()
        begun = time.time()
        kept, configs, pruner = pruned(case)
        best, ours = min(times), min(t for t, c in zip(times, configs) if c in kept)
        out = sum(1 for c in pruner.last if c.why)
        print(f"| {title} | {len(configs)} | {len(kept)} | {out} | {best:.2f} | {ours:.2f} | {100 * best / ours:.1f} % | {time.time() - begun:.0f} |", flush=True)
        print(pruner, file=sys.stderr, flush=True)
        if folder:
            written(name, case, pruner, times, folder)


if __name__ == "__main__":
    words = sys.argv[1:]
    at = words.index("--to") if "--to" in words else len(words)
    table(words[:at], words[at + 1] if at + 1 < len(words) else None)
