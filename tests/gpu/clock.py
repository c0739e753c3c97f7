#!/usr/bin/env python3
"""Runs the kernels of clock.cu on GPU 0 and prints what their warps' clocks say. Needs nvcc and cupy.

    tests/gpu/clock.py [PREFIX...]      all, or those whose name begins so

Times are the shortest of three launches, empty ones take about 4.5 us of them; cycles are those of an SM. "life" of a CTA: its
first warp's first clock to its last warp's last; "gap": from one CTA's end to the start of the next in its place; lists are
the least, the 10th, 50th, 90th and 99th percent.
"""
import os, subprocess, sys, tempfile
import cupy as cp, numpy as np

WORDS = 1 << 27
here = os.path.dirname(os.path.abspath(__file__))
cubin = os.path.join(tempfile.mkdtemp(), "clock.cubin")
subprocess.run(["nvcc", "-arch=sm_90", "-cubin", "-w", "-o", cubin, os.path.join(here, "clock.cu")], check=True)
module = cp.RawModule(path=cubin)
a, b, o = cp.zeros(WORDS, cp.float32), cp.zeros(WORDS // 2, cp.float32), cp.zeros(WORDS, cp.float32)
stamps = cp.zeros((1 << 22, 4), cp.uint32)

def launch(name, grid, block, args, shared=0, first=a):
    f, times = module.get_function(name), []
    if shared > 48000:
        f.max_dynamic_shared_size_bytes = shared
    o[:] = 0                                         # gathers go by what they read here
    for _ in range(3):
        stamps[:] = 0
        begin, end = cp.cuda.Event(), cp.cuda.Event()
        begin.record()
        f((grid,), (block,), (first, b, o, stamps) + tuple(np.int32(x) for x in args), shared_mem=shared)
        end.record()
        end.synchronize()
        times.append(cp.cuda.get_elapsed_time(begin, end) * 1000)
    return min(times), stamps[:grid * ((block + 31) // 32)].get().astype(np.int64)

def spread(x):
    return " ".join("%.0f" % v for v in np.percentile(x, [0, 10, 50, 90, 99])) if len(x) else "-"

def ctas(s, block):
    """Lives of CTAs, gaps between them, how many an SM had at a time, cycles from one start to the next."""
    s = s.reshape(-1, (block + 31) // 32, 4)
    lives, gaps, resident, each = [], [], [], []
    for sm in np.unique(s[:, 0, 3]):
        q = s[s[:, 0, 3] == sm]
        q = (q[:, :, :3] - q[0, 0, 0] + (1 << 31)) % (1 << 32)
        begin, end = q[:, :, 0].min(1), q[:, :, 2].max(1)
        all_ = end.max() - begin.min()
        begins, ends = np.sort(begin), np.sort(end)
        places = max(int(((begin <= x) & (end > x)).sum()) for x in begins[:200])
        lives.append(end - begin)
        gaps.append(begins[places:] - ends[:len(begins) - places])
        resident.append((end - begin).sum() / all_)
        each.append(all_ / len(begin))
    return np.concatenate(lives), np.concatenate(gaps), np.mean(resident), np.mean(each)

def cta_row(name, grid, block, n=0, shared=0):
    t, s = launch(name, grid, block, [n], shared)
    life, gap, resident, each = ctas(s, block)
    print("%s, %d CTAs of %d, n %d, %d bytes shared: %.2f us | %.2f CTAs an SM, one per %.0f cycles | life %s | gap %s | t1-t0 %s" %
          (name, grid, block, n, shared, t, resident, each, spread(life), spread(gap), spread((s[:, 1] - s[:, 0]) % (1 << 32))), flush=True)

def row(name, grid, block, args, first=a, note=""):
    t, s = launch(name, grid, block, args, first=first)
    span = lambda i, k: (s[:, k] - s[:, i]) % (1 << 32)
    print("%s%s, %d CTAs of %d, n %s: %.2f us | t1-t0 %s | t2-t0 %s | cycles a turn %.2f" %
          (name, note, grid, block, " ".join(map(str, args)), t, spread(span(0, 1)), spread(span(0, 2)), np.median(span(0, 2)) / max(args[0], 1)), flush=True)

def filled(value):
    v = cp.zeros(64, cp.float32)
    v[0], v[2] = value, 1
    return v

ELEMENTS = 1 << 26
ROWS = ("l1", "l4", "l4s1o", "l4s1s", "l4s2o", "l4s2s", "l1s1o", "l1s1s", "p4", "p4s1o", "p4s1s", "p4s2s", "p1s1s", "s1", "s2")
CALLS = ("none", "leaf", "leaf2", "ptr1", "ptr2", "ptr4", "tab4", "rec8", "rec32", "div1", "div2", "div4", "div8")
wanted = lambda name: len(sys.argv) < 2 or any(name.startswith(p) for p in sys.argv[1:])
rows = [(k, lambda k=k: cta_row(k, ELEMENTS // 256, 256)) for k in ("elem_r", "elem_w", "elem_rw", "elem_rrw", "elem_rmw")]
rows += [("elem_rw", lambda t=t: cta_row("elem_rw", ELEMENTS // t, t)) for t in (64, 128, 512, 1024)]
rows += [("spin", lambda x=x: cta_row("spin", *x)) for x in ((5280, 32, 2000, 200000), (5280, 256, 2000, 200000), (5280, 1024, 2000, 200000))]
rows += [("code", lambda k=k, x=x: row("code_%d" % k, *x, [16])) for k in (4, 16, 32, 64, 96, 128, 192, 256) for x in ((1, 32), (1, 1024), (132, 1024))]
rows += [("call", lambda k=k, t=t: row("call_" + k, 1, t, [64], filled(3))) for k in CALLS for t in (32, 1024)]
rows += [("heap", lambda l=l, x=x: row("heap", *x, [4], filled(l), " of %d lanes" % l)) for l in (1, 2, 8, 32)
         for x in ((1, 32), (1, 128), (2, 64), (132, 32), (132, 256))]
rows += [(k, lambda k=k: row(k, 128, 256, [0])) for k in ("strows", "rmwrows", "ldrows")]
rows += [(k, lambda k=k: row(k, 8192, 256, [8])) for k in ("stsect", "rmwsect")]
rows += [("rows", lambda k=k: row("rows_" + k, 4, 256, [1024])) for k in ROWS]
rows += [("gather", lambda k=k, w=w, l=l: row("gather_" + k, 1, 32 * w, [512, l, 4096, 4])) for k in ("cg", "ca") for w in (1, 4, 8) for l in (1, 2, 4, 8, 16, 32)]
rows += [("print", lambda l=l: row("print", 1, 32, [1], filled(l), " of %d lanes" % l)) for l in (1, 32)]
for name, run in rows:
    if wanted(name):
        run()
