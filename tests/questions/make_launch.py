#!/usr/bin/env python3
"""Writes slow.launch.json and public.launch.json: sizes and data of the kernels of slow.cu and public.cu."""
import json

def buf(name, kind, count, init=None, output=False):
    return dict({"name": name, "buffer": kind, "count": count, "init": init or {"fill": 0}}, **({"output": True} if output else {}))

def num(name, v, kind="s32"):
    return {"name": name, kind: v}

REAL, N, M = {"random": [0, 1], "seed": 1}, 1 << 20, 1 << 22
def data(hi, seed=1):
    return {"random": [0, hi], "seed": seed}

LAUNCHES = []
def launch(kernel, grid, block, *args):
    three = lambda v: list(v) + [1] * (3 - len(v)) if isinstance(v, tuple) else [v, 1, 1]
    LAUNCHES.append({"kernel": kernel, "grid": three(grid), "block": three(block), "shared": 0, "args": list(args)})

def write(name):
    for l in LAUNCHES:
        l["ptx"] = name + ".ptx"
    with open("tests/questions/%s.launch.json" % name, "w") as f:
        print('{"format": "gpulocw-launch", "version": 1, "launches": [\n  %s]}' % ",\n  ".join(json.dumps(l) for l in LAUNCHES), file=f)
    LAUNCHES.clear()

launch("aos", 4096, 256, buf("p", "f32", 8 * N, REAL), buf("e", "f32", N, output=True), num("n", N))
launch("aos_fixed", 4096, 256, buf("m", "f32", N, REAL), buf("vx", "f32", N, REAL), buf("e", "f32", N, output=True), num("n", N))
for name, grid in (("row_sum", 128), ("row_sum_fixed", 4096)):
    launch(name, grid, 256, buf("a", "f32", 32768 * 128, REAL), buf("s", "f32", 32768, output=True), num("rows", 32768), num("cols", 128))
for name, grid in (("csr_row", 64), ("csr_row_fixed", 2048)):
    launch(name, grid, 256, buf("start", "s32", 16385, {"rows": {"rows": 16384, "nnz": 16384 * 64}, "seed": 1}), buf("col", "s32", 16384 * 64, data(16383, 2)),
           buf("val", "f32", 16384 * 64, REAL), buf("x", "f32", 16384, REAL), buf("y", "f32", 16384, output=True), num("rows", 16384))
for name in ("transpose_naive", "transpose_naive_fixed", "transpose_banks", "transpose_banks_fixed"):
    launch(name, (64, 64), (32, 8), buf("a", "f32", M, REAL), buf("b", "f32", M, output=True), num("n", 2048))
for name in ("histogram", "histogram_fixed"):
    launch(name, 528, 256, buf("v", "u32", N, data(1 << 30)), buf("bins", "u32", 16, output=True), num("n", N))
for name in ("sum_all", "sum_all_fixed"):
    launch(name, 1024, 256, buf("v", "s32", N // 4, data(100)), buf("sum", "s32", 1, output=True), num("n", N // 4))
launch("lookup", 1024, 256, buf("v", "u32", N // 4, data(1 << 30)), buf("o", "f32", N // 4, output=True), num("n", N // 4))
launch("lookup_fixed", 1024, 256, buf("v", "u32", N // 4, data(1 << 30)), buf("o", "f32", N // 4, output=True), buf("table_of", "f32", 1024), num("n", N // 4))
for name in ("scale8", "scale8_fixed"):
    launch(name, 264, 256, buf("a", "f32", 8 * 67584, REAL), buf("b", "f32", 8 * 67584, output=True), num("n", 67584))
launch("wide_index", 4096, 256, buf("o", "f32", N, output=True), num("n", N, "s64"), num("w", 1000, "s64"), num("h", 33, "s64"))
launch("wide_index_fixed", 4096, 256, buf("o", "f32", N, output=True), num("n", N, "s64"), num("w", 1000), num("h", 33))
for name in ("bounds", "bounds_fixed"):
    launch(name, 1056, 256, buf("a", "f32", 270336 + 64, REAL), buf("b", "f32", 270336, output=True))
launch("few_ctas", 33, 256, buf("a", "f32", 33 * 256 * 64, REAL), buf("b", "f32", 33 * 256, output=True), num("each", 64))
launch("few_ctas_fixed", 264, 256, buf("a", "f32", 33 * 256 * 64, REAL), buf("b", "f32", 264 * 256, output=True), num("each", 8))
launch("half_idle", 4096, 256, buf("a", "f32", N, REAL), buf("b", "f32", N, output=True), num("n", N), num("stride", 2))
launch("half_idle_fixed", 4096, 256, buf("a", "f32", N, REAL), buf("b", "f32", N, output=True), num("n", N), num("stride", 1))
for name in ("columns", "columns_fixed"):
    launch(name, (64, 256) if name == "columns" else (64, 256), (32, 8), buf("a", "f32", M, REAL), buf("b", "f32", M, output=True), num("n", 2048))
launch("stencil", 4096, 256, buf("a", "f32", N, REAL), buf("b", "f32", N, output=True), num("n", N))
launch("copy_all", 16384, 256, buf("a", "f32", 4 * M, REAL), buf("b", "f32", 4 * M, output=True))
for name in ("local_array", "local_array_fixed"):
    launch(name, 528, 128, buf("a", "u32", 67584, data(1 << 30)), buf("b", "f32", 67584, output=True))
launch("chase", 1056, 64, buf("next", "u32", N, data(N - 1, 3)), buf("o", "u32", 2 * 67584, output=True))
launch("chase_fixed", 528, 64, buf("next", "u32", N, data(N - 1, 3)), buf("o", "u32", 2 * 67584, output=True))
for name in ("serial", "serial_fixed"):
    launch(name, 1056, 256, buf("a", "f32", 270336, REAL), buf("b", "f32", 270336, output=True))
launch("gather", 4096, 256, buf("idx", "s32", N, data(N - 1, 5)), buf("x", "f32", N, REAL), buf("y", "f32", N, output=True), num("n", N))
launch("gather_fixed", 4096, 256, buf("idx", "s32", N, {"iota": [0, 1]}), buf("x", "f32", N, REAL), buf("y", "f32", N, output=True), num("n", N))
write("slow")

def f32(name, count, init=REAL): return buf(name, "f32", count, init)
def s32(name, count, init): return buf(name, "s32", count, init)
def out(name, count, kind="f32"): return buf(name, kind, count, output=True)
def both(name, *rest):
    for k in (name, name + "_fixed"):
        launch(k, *rest)
WORD = data(1 << 30)

both("ax_planes", 4224, (8, 8), buf("u", "f64", 4224 * 512, REAL), buf("d", "f64", 64, REAL), out("w", 4224 * 512, "f64"))
both("gemm_axes", (16, 16), (32, 32), f32("a", 512 * 32), f32("b", 512 * 32), out("c", 512 * 512), num("m", 512), num("n", 512), num("k", 32))
launch("copy_permuted", 4096, 256, f32("x", N), out("y", N), num("ne0", 1024), num("ne1", 1024), num("s0", 1024), num("s1", 1))
launch("copy_permuted_fixed", (32, 32), (32, 8), f32("x", N), out("y", N), num("ne0", 1024), num("ne1", 1024))
both("team_view", 1056, (32, 8), f32("a", 1056 * 256), out("b", 1056 * 256))
both("lattice", 1024, 256, f32("f", 9 * N // 4), out("g", 9 * N // 4), num("n", N // 4))
launch("momenta", 1024, 128, buf("p", "f64", 8 * 131072, REAL), out("m", 131072, "f64"), num("n", 131072))
launch("stream_k", 264, 128, f32("x", 64 * 128), out("y", 264 * 128), num("each", 48, "s64"), num("z", 11, "s64"), num("nt", 32, "s64"))
launch("stream_k_fixed", 264, 128, f32("x", 64 * 128), out("y", 264 * 128), num("each", 48), num("z", 11), num("nt", 32))
both("dequantize", 1056, 256, buf("x", "s8", M, data(100)), f32("scale", 256), out("y", M), num("n", M), num("kn", 65536), num("nn", 256), num("block", 16))
for name, kind in (("strided_copy", "s64"), ("strided_copy_fixed", "s32")):
    launch(name, 4096, 256, f32("x", 3 * N), out("y", N), *[num(k, v, kind) for k, v in (("n", N), ("n1", 100), ("n2", 128), ("s0", 25600), ("s1", 256), ("s2", 1))])
both("push_back", 1024, 256, s32("found", N // 4, {"random": [-1, 2], "seed": 7}), out("count", 1, "u32"), buf("list", "s32", N // 4), num("n", N // 4))
launch("copy_narrow", 32768, 32, f32("a", N), out("b", N), num("n", N), num("ne0", 1024), num("s1", 1024))
launch("copy_narrow_fixed", 8192, 128, f32("a", N), out("b", N), num("n", N), num("ne0", 1024), num("s1", 1024))
both("intervals", 528, 128, buf("q", "u8", 16 * 67584, data(3)), buf("occ", "u32", 1024, data(1000)), out("out", 67584, "s64"))
both("letters", 528, 128, buf("text", "u8", 32 * 67584, data(255)), out("most", 67584, "u32"), num("n", 67584), num("each", 32))
both("by_key", 528, 256, f32("x", M), buf("key", "u8", M, data(3)), out("out", 4 * 135168), num("n", M))
both("half_rows", 528, 128, buf("a", "f16", 2112 * 4096, REAL), buf("x", "f16", 4096, REAL), out("y", 2112), num("cols", 4096))
ENDS = [{"iota": [0, 1024], "count": 512}, {"iota": [524288, 32768]}]
launch("segments", 520, 256, s32("start", 521, ENDS), f32("x", 524288 + 8 * 32768), out("y", 520))
launch("segments_fixed", 768, 256, s32("start", 521, ENDS), f32("x", 524288 + 8 * 32768), out("y", 520), num("n", 520))
both("last_tile", 264, 128, buf("x", "f16", 264 * 2048, REAL), out("y", 264 * 2048, "f16"), num("rows", 15))
for name, block in (("mean_serial", 1), ("mean_serial_fixed", 256)):
    launch(name, 2048, block, f32("x", 2048 * 512), out("m", 2048), num("cols", 512))
both("roots", 4224, 256, f32("x", N + 32768), out("y", N + 32768))
both("angles", 1056, 256, f32("phi", 270336, {"random": [0, 1000], "seed": 3}), out("out", 2 * 270336))
both("powers", 528, 256, f32("x", 135168), out("y", 135168), num("two", 2, "f32"))
both("fp8_rows", 2112, 128, buf("q", "u32", 2112 * 2048, WORD), out("out", 270336, "u32"))
both("row_scan", 2112, 128, buf("x", "u32", 2 * 2112 * 1792, WORD), out("out", 270336, "u32"))
for name, grid in (("gemv_decode", (128, 1)), ("gemv_decode_fixed", (128, 6))):
    launch(name, grid, 256, buf("w", "u32", 1024 * 768, WORD), f32("x", 768 * 8), out("y", 1024), num("words", 768))
for name, grid, block in (("rms_norm", 8448, 512), ("rms_norm_fixed", 1056, 256)):
    launch(name, grid, block, f32("x", 8448 * 1024), out("y", 8448 * 1024), num("vectors", 256))
both("super_blocks", 1056, 256, buf("w", "u32", 8448 * 1152, WORD), out("y", 8448))
launch("gather_rows", 8192, 256, f32("table", 16 * N), s32("idx", N // 2, data(N - 1, 5)), out("out", 8 * N))
launch("gather_rows_fixed", 8192, 256, f32("table", 16 * N), s32("idx", N // 2, {"sorted": [0, N - 1], "seed": 5}), out("out", 8 * N))
both("skip_zeros", 528, 256, f32("p", N), f32("v", N), out("out", 135168), num("n", N), num("least", 0.5, "f32"))
UNEVEN = s32("work", 4224, [{"fill": 4, "count": 4092}, {"fill": 128}])
for name, grid in (("uneven_blocks", 1056), ("uneven_blocks_fixed", 4224)):
    launch(name, grid, 256, UNEVEN, f32("x", 8192), out("y", 4224 * 256), num("n", 4224))
for name, grid in (("mostly_empty", 65536), ("mostly_empty_fixed", 264)):
    launch(name, grid, 64, s32("count", 1, {"fill": 1200}), f32("j", 65536 * 64, {"fill": 2}), out("h", 65536 * 64))
for name, grid, block in (("tiny_blocks", 16384, 96), ("tiny_blocks_fixed", 2048, 256)):
    launch(name, grid, block, f32("w", 16384 * 96), f32("x", 96), out("y", 16384))
launch("tiny_launch", 64, 256, buf("x", "f64", 16384, REAL), out("y", 16384, "f64"), num("n", 16384))
launch("axpy_half", 8192, 256, buf("x", "f16", 4 * M, REAL), buf("y", "f16", 4 * M, REAL, True), num("a", 2, "f32"))
both("narrow_blocks", 132 * 64, (4, 8), f32("fine", 2112 * 128 * 16), out("coarse", 132 * 64), num("nx", 2112), num("nxy", 2112 * 128), num("across", 528))
both("load_store_pairs", 1056, 256, f32("a", 1056 * 2048), out("b", 1056 * 2048), num("n", 1056 * 2048 - 5))
launch("softmax_wide", 1056, 128, f32("x", 4224 * 2048), out("y", 4224 * 2048))
both("replicas", 792, 256, buf("v", "u16", M, data(65535)), out("bins", 512, "u32"), num("n", M))
both("tree_sum", 8448, 512, f32("x", 8448 * 512), out("y", 8448))
both("one_by_one", 264, 256, buf("a", "u32", N, WORD), out("b", 67584, "u32"), num("each", 64), num("mask", (1 << 20) - 1))
launch("weights_const", 264, 256, f32("x", 4 * 67584), out("y", 67584), num("n", 67584))
launch("weights_const_fixed", 264, 256, f32("x", 4 * 67584), out("y", 67584), num("n", 67584), f32("w", 1024))
launch("wide_phases", 264, 256, f32("x", 4 * 67584), out("y", 4 * 67584))

both("species", 512, 256, buf("y", "f64", 22 * 131072, {"random": [1, 2], "seed": 1}), out("out", 131072, "f64"), num("n", 131072))
both("energy_sum", 528, 256, f32("a", 3 * 270336), f32("b", 3 * 270336), out("sum", 1), num("n", 270336))
LAUNCHES[-1]["args"][2]["tolerance"] = LAUNCHES[-2]["args"][2]["tolerance"] = 1e-3
both("pair_weights", 24, (32, 8), out("dw", 1536, "s32"), num("length", 768))
both("crt_copy", 1056, 128, buf("src", "u32", 24 * 135168, WORD), out("dst", 135168, "u32"), num("words", 24), num("p", 65521, "u32"))
both("frame_of", 2048, 32, buf("v", "u32", 2 * N, WORD, True), num("reference", 7, "u32"), num("n", 2 * N, "u32"))
both("sb_columns", (12, 12), (32, 32), f32("a", 384 * 384), f32("b", 384 * 384), out("c", 384 * 384), num("n", 384))
both("fill_rows", 8, 128, out("a", N, "s64"), num("n", 1024))
for name, grid in (("attention_heads", 32), ("attention_heads_fixed", 512)):
    launch(name, grid, 256, f32("k", 32 * 8 * 4096 * 4), f32("q", 32 * 8 * 4), out("s", 32 * 4096), num("keys", 4096))
both("reduce_steps", 4224, 256, f32("x", 4224 * 256), out("y", 4224))
both("reduce_banks", 2112, 256, f32("x", 2112 * 1024), out("y", 2112))
both("seeds", 1056, 256, f32("a", 270336 + 72 * 32), out("b", 270336))
ROWS_OF = s32("idx", 2048, data(4095, 9))
launch("gather_front", 16384, 256, buf("x", "f16", 2 * M, REAL), ROWS_OF, out("out", M, "f16"), num("n", M, "s64"), num("d", 2048, "s64"), num("s0", 2048, "s64"), num("s1", 1, "s64"))
launch("gather_front_fixed", 2048, 128, buf("x", "f16", 2 * M, REAL), ROWS_OF, out("out", M, "f16"), num("vectors", 256))
launch("large_argument", 528, 128, {"name": "o", "size": 768}, buf("key", "s32", 67584, data(95)), out("out", 67584, "s64"))
launch("large_argument_fixed", 528, 128, buf("o", "s64", 96), buf("key", "s32", 67584, data(95)), out("out", 67584, "s64"))
both("dp4a_rows", 528, 256, buf("w", "s32", 4224 * 1024, WORD), buf("x", "s32", 1024, WORD), out("y", 4224, "s32"), num("words", 1024))
launch("one_long_row", 1, 1024, f32("x", N), out("m", 32), num("n", N))
launch("one_long_row_fixed", 132, 1024, f32("x", N), out("m", 32 * 132), num("n", N))

AT = buf("at", "s32", 2 * 32768, data(1000, 4))
launch("scan_rects", 32768, 25, f32("field", N), AT, out("out", 32768), num("nx", 1024))
launch("scan_rects_fixed", 4096, 256, f32("field", N), AT, out("out", 32768), num("nx", 1024))
for name, grid, block in (("page_headers", 16384, 128), ("page_headers_fixed", 128, 128)):
    launch(name, grid, block, buf("pages", "u32", 16 * 16384, WORD), out("out", 16384, "u32"))
both("vortices", 264, 128, f32("x", 33792), f32("g", 33792), out("u", 33792), num("n", 64))
for name, kind in (("derivatives", 0), ("derivatives_fixed", 0)):
    launch(name, 4224, 256, f32("d", 4 * 4224 * 256), f32("f", 4224 * 256), out("out", 4224 * 256))
for name, grid in (("short_softmax", 16896), ("short_softmax_fixed", 4224)):
    launch(name, grid, 128, f32("x", 16896 * 128), out("y", 16896 * 128))
for name, grid in (("warp_rows", 256), ("warp_rows_fixed", 1024)):
    launch(name, grid, 256, buf("w", "u32", 2048 * 4096, WORD), buf("x", "u32", 4096, WORD), out("y", 2048, "s32"), num("vectors", 1024))
for name, grid in (("eight_blocks", 8), ("eight_blocks_fixed", 264)):
    launch(name, grid, 512, f32("x", N), out("sum", 1), num("n", N))
    LAUNCHES[-1]["args"][1]["tolerance"] = 1e-3
for name, grid in (("more_threads", 4096), ("more_threads_fixed", 128)):
    launch(name, grid, 512, f32("a", 65536), out("b", 65536), num("n", 65536, "u32"))
both("cis", 1056, 256, f32("x", 270336, {"random": [0, 1000], "seed": 3}), out("y", 2 * 270336))
both("shapes", 264, 256, f32("x", 32 * 67584), out("j", 67584), num("each", 32))
both("block_sums", 4224, (16, 32), f32("a", 4224 * 512), out("b", 4224 * 16))
both4 = lambda name, grids, blocks, *rest: [launch(name + end, g, b, *rest) for end, g, b in zip(("", "_fixed"), grids, blocks)]
launch("rgb_grey", 4096, 256, buf("rgb", "u8", 3 * N, data(255)), out("grey", N, "u8"))
launch("rgb_grey_fixed", 1024, 256, buf("rgb", "u8", 4 * N, data(255)), out("grey", N, "u8"))
launch("add_columns", 1056, 256, buf("v", "f64", 16 * N, REAL, True), num("n", 4 * N))
both("cloud_pow", 264, 256, f32("t", N, {"random": [1, 2], "seed": 1}), out("q", N), num("n", N))
LATTICE = {"name": "l", "bytes": "14000000180000001c00000020000000"}
launch("site_index", 1680, 256, f32("u", 430080), out("v", 430080), LATTICE)
launch("site_index_fixed", 1680, 256, f32("u", 430080), out("v", 430080), LATTICE, {"name": "magic", "bytes": "cdcccc0cabaaaa0a4a92240900000000"})
SKEWED = [{"iota": [0, 4], "count": 3968}, {"iota": [15872, 600]}]
ENTRIES = 15872 + 600 * 128
both4("skewed_rows", (16, 512), (256, 256), s32("start", 4097, SKEWED), s32("column", ENTRIES, data(65535, 3)), f32("value", ENTRIES), out("mean", 65536), num("rows", 4096))
LAUNCHES[-1]["args"][3]["tolerance"] = LAUNCHES[-2]["args"][3]["tolerance"] = 1e-3
def sparse(rows, each): return [s32("start", rows + 1, {"iota": [0, each]}), s32("column", rows * each, data(rows - 1, 3)), buf("value", "f64", rows * each, REAL), buf("x", "f64", rows, REAL), out("y", rows, "f64"), num("rows", rows)]
both4("scalar_csr", (128, 2048), (256, 256), *sparse(32768, 64))
both4("seven_nonzeros", (16384, 4096), (256, 256), *sparse(131072, 7))
both4("cumsum_serial", (4096, 4096), (1, 128), f32("dt", 524288), out("out", 524288))
launch("sum_in_place", 2048, 256, buf("in", "f32", N, REAL), out("out", 2048), num("n", N))
launch("sum_in_place_fixed", 528, 256, f32("in", N), out("out", 528), num("n", N))
both("series_terms", 1024, 256, out("m", 8), f32("a", N), num("terms", 8), num("n", N // 4))
LAUNCHES[-1]["args"][0]["tolerance"] = LAUNCHES[-2]["args"][0]["tolerance"] = 1e-3
both("ten_numbers", 1056, 128, buf("x", "u32", 64 * 135168, WORD), out("most", 135168, "s32"), num("each", 64))
launch("intersect", 2048, 256, s32("a", N // 2, data(1 << 24, 5)), s32("b", N, {"sorted": [0, 1 << 24], "seed": 6}), out("found", N // 2, "s32"), num("n", N))
launch("intersect_fixed", 2048, 256, s32("a", N // 2, {"sorted": [0, 1 << 24], "seed": 5}), s32("b", N, {"sorted": [0, 1 << 24], "seed": 6}), out("found", N // 2, "s32"), num("n", N))
both("view_gradient", (128, 16), 256, f32("points", 4 * 16 * 32768), out("views", 64), num("n", 32768))
LAUNCHES[-1]["args"][1]["tolerance"] = LAUNCHES[-2]["args"][1]["tolerance"] = 1e-3
launch("embedding_cas", 4096, 128, s32("row", 4096, data(15, 2)), f32("update", 524288, {"fill": 1}), out("table", 2048, "f32"))
launch("embedding_cas_fixed", 4096, 128, s32("row", 4096, data(15, 2)), f32("update", 524288, {"fill": 1}), out("table", 2048, "f32"))
launch("upsample_back", (8, 2048), 256, f32("grad", 4 * N), out("out", N), num("w", 1024))
launch("upsample_back_fixed", (4, 1024), 256, f32("grad", 4 * N), out("out", N), num("w", 1024))
RUNS = [{"iota": [0, 2], "count": 8160}, {"iota": [16320, 8192]}]
launch("grad_runs", 32, 256, s32("start", 8193, RUNS), f32("value", 16320 + 8192 * 32), out("sum", 8192), num("runs", 8192))
launch("grad_runs_fixed", (1024, 4), 256, s32("start", 8193, RUNS), f32("value", 16320 + 8192 * 32), out("sum", 8192), num("runs", 8192))
launch("advantages", 256, 256, f32("value", 4 * N), f32("reward", 4 * N), out("out", 4 * N), num("horizon", 64))
launch("advantages_fixed", 256, 256, f32("value", 4 * N), f32("reward", 4 * N), out("out", 4 * N), num("quads", 16))
for name, count in (("sample_channels", 192), ("sample_channels_fixed", 48)):
    launch(name, 1056, 256, s32("voxel", 33792, data(16383, 5)), f32("grid", 16384 * 192), out("out", 33792 * 192), num("channels", count))
BODIES = f32("at", 4 * 67584)
launch("test_particles", 264, 256, BODIES, f32("mass", 67584, [{"fill": v, "count": 1} for v in (1, 0)] + [{"random": [-1, 1], "seed": 4}]), out("force", 67584), num("n", 512))
launch("test_particles_fixed", 264, 256, BODIES, f32("mass", 67584, [{"fill": 1, "count": 33792}, {"fill": 0}]), out("force", 67584), num("n", 512))
both4("hist_one_each", (16384, 264), (256, 256), buf("x", "u8", M, data(255)), out("bins", 256, "u32"), num("n", M))
for name, cells in (("gather_fields", data(2 * M - 1, 5)), ("gather_fields_fixed", {"sorted": [0, 2 * M - 1], "seed": 5})):
    launch(name, 4096, 256, s32("cell", N, cells), f32("ex", 2 * M), f32("ey", 2 * M), out("out", 2 * N))
launch("many_sums", 1056, 128, f32("a", 16 * 256), f32("b", 16 * 8 * 135168), out("c", 135168), num("n", 16))
launch("nchw_nhwc", 16384, 256, f32("x", M), out("y", M), num("channels", 256), num("size", 16384))
launch("nchw_nhwc_fixed", (512, 8), (32, 8), f32("x", M), out("y", M), num("channels", 256), num("size", 16384))
launch("top_of_vocabulary", 1, 256, f32("score", 200192), out("best", 8), num("n", 200192))
launch("top_of_vocabulary_fixed", 132, 256, f32("score", 200192), out("best", 8 * 132), num("n", 200192))
both4("few_rows", (10, 10), (32, 512), f32("x", 81920), out("mean", 10), num("n", 8192))
for name, shared in (("kept_in_shared", 131072), ("kept_in_shared_fixed", 32768)):
    launch(name, 528, 512, f32("x", 528 * 16 * 512), out("y", 528 * 512), num("rounds", 16))
    LAUNCHES[-1]["shared"] = shared
both("sign_table", 264, 256, buf("q", "u32", 32 * 67584, WORD), out("y", 67584), num("each", 32))
launch("q8_halves", 8192, 256, buf("x", "u8", 131072 * 34, data(60)), out("y", M, "f16"))
launch("q8_halves_fixed", 2048, 32, buf("x", "u8", 131072 * 34, data(60)), out("y", M, "f16"))
both("unaligned_pairs", 8192, 256, f32("a", M), out("b", M))

both4("small_embedding", (8192, 2048), (256, 256), s32("index", 65536, data(65535, 3)), f32("table", 2 * N), out("out", 2 * N), num("quads", 8))
both("half_softmax", 1056, 256, buf("x", "f16", 8448 * 512, REAL), out("y", 8448 * 512, "f16"), num("n", 512))
both("box_points", 264, 256, f32("points", 3 * 1024), f32("at", 3 * 67584), out("near", 67584), num("n", 1024))
both4("depthwise", ((32, 1), (32, 8)), (256, 256), f32("x", 32 * 12544), f32("w", 96), out("y", 32 * 12544), num("side", 112))
both4("group_norm", ((32, 1), (32, 16)), (512, 512), f32("x", 32 * 131072), out("sum", 32 * 16 * 16), num("quads", 32768))
launch("random_walk", 528, 256, buf("state", "u32", 6 * 135168, WORD), out("out", 16 * 135168), num("steps", 16))
launch("random_walk_fixed", 528, 256, out("out", 16 * 135168), num("steps", 16))
launch("permute_state", 528, 128, buf("in", "u32", 12 * 67584, WORD), s32("order", 12, data(11)), out("out", 67584, "u32"), num("rounds", 16))
launch("permute_state_fixed", 528, 128, buf("in", "u32", 12 * 67584, WORD), out("out", 67584, "u32"), num("rounds", 16))
for name, quota in (("low_warps", 4), ("low_warps_fixed", 1)):
    launch(name, 132, 256, f32("token", 1024 * 1792), out("out", 1024 * 1792), num("tokens", 1024), num("quads", 448), num("quota", quota))
TAKEN = [s32("index", 2048, data(65535, 3)), f32("src", 2048 * 160), out("grad", 65536 * 160), num("rows", 2048), num("columns", 160)]
launch("take_grad", 1, 160, *TAKEN)
launch("take_grad_fixed", 2048, 160, *TAKEN)
LAUNCHES[-1]["args"][2] = dict(LAUNCHES[-1]["args"][2], tolerance=1e-3)
both("edge_checks", 4096, 256, f32("x", N), f32("w", 49), out("y", N), num("width", 1024), num("height", 1024), num("k", 7))
both("haplotype_pairs", 264, 256, buf("bits", "u32", 67584, WORD), out("sum", 64), num("variants", 64))
both("tile_gradient", 1056, 256, f32("pixel", 270336), s32("points", 1056 * 32, data(4095, 3)), out("grad", 4096), num("each", 32))
both("force_sums", 528, 128, f32("pair", 64 * 67584), out("force", 67584), num("each", 64))
for name, grid in (("broadcast_back", 16384), ("broadcast_back_fixed", 256)):
    launch(name, grid, 256, f32("grad", M), out("bias", 1024), num("columns", 1024))
for l in LAUNCHES[-2:]:
    l["args"][1]["tolerance"] = 1e-3
for l in LAUNCHES[-8:-4]:
    l["args"][1 if "haplo" in l["kernel"] else 2]["tolerance"] = 1e-3
launch("pool_nhwc", (1, 128, 64), 128, f32("x", 4 * N), out("y", N), num("channels", 64), num("width", 256))
launch("pool_nhwc_fixed", (128, 128), 64, f32("x", 4 * N), out("y", N), num("channels", 64), num("width", 256))
both("separate_sincos", 264, 128, buf("k", "f64", 33792, REAL), out("re", 33792, "f64"), out("im", 33792, "f64"), num("n", 16))
both("divide_each", 2112, 256, f32("x", 2112 * 2048), f32("sum", 2112, {"random": [1, 2], "seed": 3}), out("y", 2112 * 2048), num("n", 2048))
write("public")
