#!/usr/bin/env python3
"""The L2 partition of every SM, from the latency of atomics, and orders of CTAs by it (needs cupy; docs/lab/cluster.md).

    tests/gpu/sides_order.py                      map, then tile_share with 28, 36, 44, 52 MiB that all rows read
    tests/gpu/sides_order.py --alternate -d sim:hopper-h200 28      no map: even SMs, odd SMs

row: agents by rows, all at one place; rows: each SM a row of its own, begun elsewhere; side: an SM has two rows of the
half of the columns that its side has; mixed: the same with halves at random."""
import argparse, json, os, random, subprocess, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = 131072 # of a column, 512 KiB
LATENCY = r'''
extern "C" __global__ void lat(unsigned *mem, unsigned *turn, unsigned *sms, unsigned *out, int lines, int step)
{
    extern __shared__ unsigned pad[]; /* so much that a CTA has an SM of its own */
    unsigned sm;
    asm volatile("mov.u32 %0, %smid;" : "=r"(sm));
    if (threadIdx.x)
        return;
    pad[0] = sm;
    while (*(volatile unsigned *)turn != blockIdx.x)
        __nanosleep(1000);
    sms[blockIdx.x] = sm;
    for (int l = 0; l < lines; l++) {
        unsigned *p = mem + (size_t)l * step, best = ~0u, v = 0;
        for (int k = 0; k < 4; k++) {
            unsigned a = clock();
            for (int i = 0; i < 8; i++) /* each waits for the one before; v stays 0 */
                v = atomicAdd(p + (v >> 31), 0u) | (v >> 31);
            if (v >> 31)
                pad[1] = v;
            __syncwarp(1u);
            unsigned b = clock();
            best = min(best, b - a);
        }
        out[blockIdx.x * lines + l] = best / 8;
    }
    __threadfence();
    atomicAdd(turn, 1u);
}
'''

def measured_sides():
    import cupy as cp, numpy as np
    k = cp.RawKernel(LATENCY, "lat")
    n = cp.cuda.runtime.getDeviceProperties(0)["multiProcessorCount"]
    k.max_dynamic_shared_size_bytes = 200000
    lines, step = 96, 4096 // 4 + 32
    mem, turn = cp.zeros(lines * step, cp.uint32), cp.zeros(1, cp.uint32)
    sms, out = cp.zeros(n, cp.uint32), cp.zeros(n * lines, cp.uint32)
    k((n,), (32,), (mem, turn, sms, out, np.int32(lines), np.int32(step)), shared_mem=200000)
    cp.cuda.runtime.deviceSynchronize()
    m = out.get().reshape(n, lines)[np.argsort(sms.get())].astype(float)
    u, s, vt = np.linalg.svd(m - m.mean(1, keepdims=True) - m.mean(0, keepdims=True) + m.mean())
    side, near = (u[:, 0] > 0).astype(int), vt[0] > 0
    print("singular values %s; cycles of an atomic, by side and group of lines: %s" %
          (s[:3].round(), [[round(m[side == i][:, g].mean()) for g in (near, ~near)] for i in (0, 1)]))
    return list(side ^ side[0])

def balanced(side):
    """Both of one size: the last SMs of the larger change."""
    g, n = list(side), len(side)
    while 2 * sum(g) != n:
        v = int(2 * sum(g) > n)
        g[max(i for i in range(n) if g[i] == v)] ^= 1
    return g

def order(cols, group):
    """CTAs in the order of the SMs, each SM `cols` of them; group[i]: the half of the columns that SM i walks, None: all."""
    seen, out, n = {0: 0, 1: 0}, [], len(group)
    for i, g in enumerate(group):
        if g is None:
            out += [i * cols + (x + i * cols // n) % cols for x in range(cols)]
            continue
        r, half = seen[g], cols // 2
        seen[g] += 1
        out += [y * cols + g * half + (x + 2 * r * half // n) % half for y in (2 * r, 2 * r + 1) for x in range(half)]
    assert sorted(out) == list(range(cols * n))
    return "\n".join(map(str, out))

def run(a, kernel, folder, mib, side):
    cols, rows = mib * 2 // 2 * 2, len(side)
    with open(os.path.join(folder, "l.json"), "w") as f:
        json.dump({"format": "gpulocw-launch", "version": 1, "ptx": kernel, "kernel": "tile_share", "grid": [cols, rows, 1], "block": [256, 1, 1], "shared": 0,
                   "args": [{"name": "a", "buffer": "f32", "count": cols * WORDS, "init": {"random": [-1, 1], "seed": 1}},
                            {"name": "out", "buffer": "f32", "count": cols * rows * 256, "init": {"fill": 0}, "output": True}, {"name": "words", "s32": WORDS}]}, f)
    halves = [i % 2 for i in range(rows)]
    random.Random(1).shuffle(halves)
    for name, group in (("rows", [None] * rows), ("side", balanced(side)), ("mixed", halves)):
        with open(os.path.join(folder, name + ".txt"), "w") as f:
            f.write(order(cols, group))
    for index in ("row", "custom:rows.txt", "custom:side.txt", "custom:mixed.txt"):
        r = subprocess.run([a.gpulocw, "run", kernel, "-l", "l.json", "-d", a.device, "--cluster", "agent", "--allow-files", "--index", index, "--json"],
                           cwd=folder, capture_output=True, text=True, check=True)
        d = json.loads(r.stdout)
        c = {c["name"]: c["value"] for c in d["counters"] if c["valid"]}
        print("%d MiB %-16s %8.1f us  L2 %5.1f %%  DRAM %6.1f MB" % (mib, index, d["time_ns"]["median"] / 1000, c["l2.hit_rate"], c["dram.read_bytes"] / 1e6), flush=True)

def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("mib", nargs="*", type=int, default=[28, 36, 44, 52])
    p.add_argument("-d", "--device", default="cuda:0")
    p.add_argument("--gpulocw", default=os.path.abspath("build/gpulocw"))
    p.add_argument("--alternate", type=int, nargs="?", const=132, help="no map: so many SMs, even and odd")
    a = p.parse_args()
    side = [i % 2 for i in range(a.alternate)] if a.alternate else measured_sides()
    print("%d and %d SMs: %s" % (side.count(0), side.count(1), "".join(map(str, side))))
    with tempfile.TemporaryDirectory() as folder:
        for mib in a.mib:
            run(a, os.path.abspath(os.path.join(HERE, "../../kernels/tile_share.ptx")), folder, mib, side[:len(side) // 2 * 2])

if __name__ == "__main__":
    main()
