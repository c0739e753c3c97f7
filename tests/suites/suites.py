#!/usr/bin/env python3
"""The unfitted suites: which kernels there are, how each is launched, and to which half it belongs.

    tests/suites/suites.py             writes FILE.launch.json beside the PTX: for each kernel a launch of a GPU's size and one for tests (NAME-small)

No number of the model is fitted to these kernels. Every other kernel is for development; the rest is held out.
"""
import json, os, sys

HERE = os.path.dirname(os.path.abspath(__file__))

def F(name, count, lo=-1, hi=1, out=False, type="f32"):
    return dict({"name": name, "buffer": type, "count": count, "init": {"random": [lo, hi], "seed": len(name) + count % 97}}, **({"output": True} if out else {}))

def I(name, count, lo, hi, out=False, type="s32"):
    return F(name, count, lo, hi, out, type)

def Z(name, count, type="f32", out=True, value=0):
    return dict({"name": name, "buffer": type, "count": count, "init": {"fill": value}}, **({"output": True} if out else {}))

def C(name, count, start, step):
    return {"name": name, "buffer": "s32", "count": count, "init": {"iota": [start, step]}}

def R(name, rows, nnz):
    return {"name": name, "buffer": "s32", "count": rows + 1, "init": {"rows": {"rows": rows, "nnz": nnz}, "seed": 5}}

def S(**scalars):
    return [{"name": k, "f32" if isinstance(v, float) else "s32": v} for k, v in scalars.items()]

def plane(n, block=(32, 8)):
    return [n // block[0], n // block[1], 1], [block[0], block[1], 1]

def line(n, block=256):
    return [(n + block - 1) // block, 1, 1], [block, 1, 1]

def linear(big):
    n, t = (2048, 1 << 20) if big else (64, 1024)
    m, lu = (512, 1024) if big else (32, 64)
    deep, systems = (32, 65536) if big else (8, 256)
    yield "trsv_step", line(n), [F("L", n * n), F("b", n, out=True)] + S(n=n, k=n // 4)
    yield "trsm_small", line(systems), [F("L", deep * deep, 1, 2), F("x", deep * systems, out=True)] + S(n=deep, systems=systems)
    yield "lu_update", ([lu // 64, lu - 5, 1], [64, 1, 1]), [F("A", lu * lu, out=True)] + S(n=lu, k=4)
    yield "chol_update", ([lu // 64, lu - 5, 1], [64, 1, 1]), [F("A", lu * lu, out=True)] + S(n=lu, k=4)
    yield "gauss_jordan", ([lu // 64, lu, 1], [64, 1, 1]), [F("A", lu * lu), F("row", lu), Z("B", lu * lu)] + S(n=lu, k=3)
    yield "gemv_warp", line(n * 32), [F("A", n * n), F("x", n), Z("y", n)] + S(n=n)
    yield "gemv_trans", line(n * 4, 64), [F("A", n * 4 * (n // 4)), F("x", n // 4), Z("y", n * 4)] + S(rows=n // 4, n=n * 4)
    yield "mm_tile16", plane(m, (16, 16)), [F("A", m * m), F("B", m * m), Z("C", m * m)] + S(n=m)
    yield "ger", ([n // 64, n, 1], [64, 1, 1]), [F("A", n * n, out=True), F("x", n), F("y", n)] + S(n=n, alpha=0.5)
    yield "dgemm_naive", plane(m // 2 if big else m, (32, 8)), [F(x, (m // 2 if big else m) ** 2, type="f64") for x in "AB"] + [Z("C", (m // 2 if big else m) ** 2, "f64")] + S(n=m // 2 if big else m)
    yield "tridiag", line(systems, 128), [F("a", deep * systems), F("b", deep * systems, 4, 5), F("c", deep * systems), F("d", deep * systems, out=True), Z("cp", deep * systems)] + S(n=deep, systems=systems)
    yield "transpose_pad", ([n // 32, n // 32, 1], [32, 8, 1]), [F("in", n * n), Z("out", n * n)] + S(n=n)
    yield "transpose_inplace", plane(n), [F("A", n * n, out=True)] + S(n=n)
    yield "fft_stage", line(t), [F("x", 4 * t, out=True), F("w", 2048)] + S(half=256 if big else 64, step=4 if big else 16)
    yield "walsh", ([t // 256, 1, 1], [256, 1, 1]), [F("in", 2 * t), Z("out", 2 * t)]

def grid(big):
    n, b = (2048, 4096) if big else (64, 64)
    d, z = (256, 32) if big else (64, 8)
    rows, wide = (256, 32768) if big else (16, 256)
    places = 1 << 20 if big else 1024
    yield "gs_red", plane(n), [F("u", n * n, out=True), F("f", n * n)] + S(n=n)
    yield "sweep_down", line(wide, 128), [F("u", rows * wide, out=True), F("c", rows * wide)] + S(rows=rows, n=wide)
    yield "fdtd_e", plane(n), [F("e", n * n, out=True), F("hx", n * n), F("hy", n * n)] + S(n=n)
    yield "heat9", plane(n), [F("a", n * n), Z("b", n * n)] + S(n=n)
    yield "wave4", plane(n), [F("now", n * n), F("prev", n * n, out=True)] + S(n=n)
    yield "seven3d", plane(d), [F("a", d * d * z), Z("b", d * d * z)] + S(n=d, depth=z)
    yield "life", plane(b), [I("a", b * b, 0, 1, type="u8"), Z("b", b * b, "u8")] + S(n=b)
    yield "life_bits", ([b // 32, b // 8, 1], [32, 8, 1]), [I("a", b * b, 0, 4294967295, type="u32"), Z("b", b * b, "u32")] + S(words=b, rows=b)
    yield "conv5", plane(n), [F("a", (n + 4) ** 2), F("w", 25), Z("b", n * n)] + S(n=n)
    yield "column_filter", plane(n), [F("a", (n + 16) * n), F("w", 17), Z("b", n * n)] + S(n=n)
    yield "median3", plane(n), [I("a", (n + 2) ** 2, 0, 255, type="u8"), Z("b", n * n, "u8")] + S(n=n)
    yield "sobel", plane(b), [I("a", (b + 2) ** 2, 0, 255, type="u8"), Z("b", b * b, "u8")] + S(n=b)
    yield "bilinear", line(places), [F("img", n * n), F("px", places, 0, n - 2), F("py", places, 0, n - 2), Z("out", places)] + S(n=n)
    yield "sat_columns", line(wide, 128), [I("a", rows * wide, 0, 255, True)] + S(rows=rows, n=wide)
    yield "maxpool", plane(n), [F("a", 4 * n * n), Z("b", n * n)] + S(n=n)
    yield "gray", line(b * b), [I("rgb", 3 * b * b, 0, 255, type="u8"), Z("out", b * b, "u8")] + S(n=b * b)

def sparse(big):
    n, k = (1 << 18, 8) if big else (512, 4)
    e, b, keys = (1 << 20, 65536, 1 << 20) if big else (2048, 256, 1024)
    yield "pagerank", line(n), [R("row", n, n * k), I("from", n * k, 0, n - 1), F("rank", n, 0, 1), F("share", n, 0, 1), Z("next", n)] + S(n=n)
    yield "spmv_ell", line(n), [I("col", n * k, 0, n - 1), F("val", n * k), F("x", n), Z("y", n)] + S(rows=n, width=k)
    yield "spmv_vector", line(n // 4 * 32), [R("row", n // 4, n * k), I("col", n * k, 0, n - 1), F("val", n * k), F("x", n), Z("y", n // 4)] + S(rows=n // 4)
    yield "spmv_coo", line(e), [I("r", e, 0, n - 1), I("c", e, 0, n - 1), I("v", e, -9, 9), I("x", n, -9, 9), Z("y", n, "s32")]
    yield "spmv_bsr", line(4 * b), [R("row", b, b * 4), I("col", b * 4, 0, b - 1), F("val", b * 64), F("x", b * 4), Z("y", b * 4)] + S(brows=b)
    yield "spmv_dia", line(e), [F("d", 9 * e), F("x", e + 8), Z("y", e)] + S(n=e)
    yield "bfs_bottom_up", line(n), [R("row", n, n * k), I("edge", n * k, 0, n - 1), I("level", n, 0, 9), Z("next", n, "s32")] + S(n=n, now=3)
    yield "sssp_relax", line(e), [I("from", e, 0, n - 1), I("to", e, 0, n - 1), I("w", e, 1, 99), I("dist", n, 0, 999), Z("next", n, "s32", True, 99999)]
    yield "pointer_jump", line(e), [I("parent", e, 0, e - 1), Z("root", e, "s32")] + S(n=e)
    yield "intersect", line(b), [I("a", b * 16, 0, 63), I("b", b * 16, 0, 63), Z("count", b, "s32")] + S(len=16)
    yield "bitonic_step", line(4 * e), [I("a", 4 * e, 0, 999999, True)] + S(j=64, k=256)
    yield "bitonic_shared", line(e, 512), [I("in", e, 0, 999999), Z("out", e, "s32")]
    yield "radix_count", line(e), [I("key", 8 * e, 0, 4294967295, type="u32"), Z("count", 16 * (e // 256), "s32")] + S(shift=8, per=8)
    yield "scan_cta", line(4 * e), [I("in", 4 * e, 0, 99), Z("out", 4 * e, "s32")]
    yield "lower_bound", line(keys), [C("table", n, 0, 3), I("key", keys, 0, 3 * n), Z("pos", keys, "s32")] + S(n=n)
    yield "hash_probe", line(keys), [I("table", n, 0, n, type="u32"), I("key", keys, 0, n, type="u32"), Z("steps", keys, "s32")] + S(mask=n - 1)

def learn(big):
    rows, n, length = (4096, 2048, 256) if big else (8, 512, 64)
    keys, dim, items = (65536, 4096, 1 << 20) if big else (64, 256, 1024)
    yield "attention", line(64 * length if big else 2 * length, 64), [F(x, (64 if big else 2) * length * 32) for x in ("q", "k", "v")] + [Z("o", (64 if big else 2) * length * 32)] + S(len=length)
    yield "scores", line(keys * 32), [F("q", 128), F("k", keys * 128), Z("s", keys)]
    yield "layer_norm", line(rows * 256), [F("x", rows * n), F("g", n), F("b", n), Z("y", rows * n)] + S(n=n)
    yield "rms_norm", line(rows * 256), [F("x", rows * n, out=True), F("g", n)] + S(n=n)
    yield "softmax_warp", line(keys * 32), [F("x", keys * 128), Z("y", keys * 128)]
    yield "rotary", ([8 if big else 2, rows // 4, 1], [256, 1, 1]), [F("x", rows // 4 * (8 if big else 2) * 512, out=True), F("c", rows // 4 * 64), F("s", rows // 4 * 64)] + S(half=64)
    yield "q4_matvec", line(dim * 32), [I("w", dim * dim // 8, 0, 4294967295, type="u32"), F("scale", dim * dim // 32, 0, 1), F("x", dim), Z("y", dim)] + S(n=dim)
    yield "q8_matvec", line(dim * 8), [I("w", dim * dim // 4, 0, 2147483647), I("x", dim // 4, 0, 2147483647), Z("y", dim, "s32")] + S(words=dim // 4)
    yield "nearest_centre", line(items // 2), [F("p", 8 * (items // 2)), F("c", 8 * 32), Z("who", items // 2, "s32")] + S(n=items // 2, k=32)
    yield "embed", line(rows * 256), [I("token", rows, 0, rows * 2 - 1), F("table", rows * 512), Z("out", rows * 256)] + S(width=256)
    yield "momentum", line(4 * items), [F("w", 4 * items, out=True), F("m", 4 * items, out=True), F("g", 4 * items)] + S(rate=0.01)
    yield "swiglu", line(4 * items), [F("a", 4 * items), F("b", 4 * items), Z("o", 4 * items)]

def misc(big):
    n, m, turns = (1 << 20, 1 << 16, 64) if big else (1024, 256, 8)
    d, bodies = (1024, 4096) if big else (64, 256)
    yield "edit_distance", line(m, 128), [I("a", m * 32, 0, 3, type="u8"), I("b", m * 32, 0, 3, type="u8"), Z("out", m, "s32")]
    yield "knapsack_row", line(4 * n), [I("old", 4 * n, 0, 9999), Z("now", 4 * n, "s32")] + S(weight=37, value=1000)
    yield "floyd", ([d // 64, d, 1], [64, 1, 1]), [I("d", d * d, 0, 999, True)] + S(n=d, k=5)
    yield "viterbi", ([n // 1024, 1, 1], [64, 1, 1]), [I("score", n // 1024 * 64, -99, 0), I("move", 4096, -99, 0), Z("next", n // 1024 * 64, "s32"), Z("from", n // 1024 * 64, "s32")] + S(states=64)
    yield "nbody_tile", line(bodies, 128), [F("p", 4 * bodies), Z("a", 4 * bodies)] + S(n=bodies)
    yield "monte_pi", line(m), [I("seed", m, 1, 2147483647, type="u32"), Z("hits", m, "s32")] + S(turns=turns * 8)
    yield "xorwow", line(m), [I("seed", m, 1, 2147483647, type="u32"), Z("out", m * turns, "u32")] + S(n=m, turns=turns)
    yield "fnv", line(n // 4), [I("in", n * 8, 0, 255, type="u8"), Z("out", n // 4, "u32")]
    yield "crc_table", line(n // 4), [I("in", n * 8, 0, 255, type="u8"), I("table", 256, 0, 4294967295, type="u32"), Z("out", n // 4, "u32")]
    yield "sbox_rounds", line(n), [I("in", n, 0, 4294967295, type="u32"), I("box", 256, 0, 255, type="u8"), Z("out", n, "u32")]
    yield "match8", line(4 * n), [I("text", 4 * n + 8, 97, 98, type="u8"), I("pat", 8, 97, 98, type="u8"), Z("hit", 4 * n, "u8")]
    yield "automaton", line(n // 4), [I("text", n * 16, 0, 3, type="u8"), I("table", 128, 0, 31), Z("last", n // 4, "s32")] + S(n=n // 4)
    yield "hamming", line(m * 2), [I("a", m * 2, 0, 4294967295, type="u32"), I("code", 256, 0, 4294967295, type="u32"), Z("best", m * 2, "s32")] + S(codes=256)
    yield "morton", line(4 * n), [I("x", 4 * n, 0, 1023, type="u32"), I("y", 4 * n, 0, 1023, type="u32"), I("z", 4 * n, 0, 1023, type="u32"), Z("out", 4 * n, "u32")]
    yield "hist_global", line(n), [I("in", 4 * n, 0, 255, type="u8"), Z("bin", 256, "s32")] + S(per=4)
    yield "reduce_max", line(n), [I("in", 8 * n, -999999, 999999), Z("out", 1, "s32", True, -2147483647)] + S(per=8)
    yield "mandel", line(m), [Z("out", m, "s32")] + S(width=256, turns=64)

SUITES = {"linear": linear, "grid": grid, "sparse": sparse, "learn": learn, "misc": misc}

def rows():
    """(suite, kernel, half) of every kernel, in order; half: development or held-out, in turn."""
    names = [(s, k) for s, make in SUITES.items() for k, _, _ in make(True)]
    return [(s, k, ("development", "held-out")[i % 2]) for i, (s, k) in enumerate(names)]

def launches(suite):
    for big in (True, False):
        for kernel, (g, b), args in SUITES[suite](big):
            yield {"name": kernel if big else kernel + "-small", "ptx": suite + ".ptx", "kernel": kernel, "grid": g, "block": b, "shared": 0, "args": args}

def main():
    for s in SUITES:
        with open(os.path.join(HERE, s + ".launch.json"), "w") as f:
            f.write('{ "format": "gpulocw-launch", "version": 1,\n  "launches": [\n' + ",\n".join(json.dumps(l) for l in launches(s)) + "\n  ]\n}\n")

if __name__ == "__main__":
    main()
