#!/usr/bin/env python3
"""What more registers a thread gain: --minctas against the original, for the kernels of tests/suites.

    tests/gpu/registers.py -d cuda:0                  each kernel whose compiled registers grow; --only NAME,... for some

First every kernel is compiled with each value, side by side, to read its registers. Then those that grow are timed one
after another: the original, each value, the original again. A cell is registers and the gain over the first original.
"""
import argparse, concurrent.futures, json, math, os, subprocess, sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SUITES = os.path.join(HERE, "..", "suites")
sys.path[:0] = [SUITES]
import suites

VALUES = (1, 2, 3, 4, 6, 8, 12, 16)

def run(a, suite, kernel, words):
    """(registers a thread, time in ns, outputs equal); None where it does not run."""
    ptx = os.path.join(SUITES, suite + ".ptx")
    r = subprocess.run([a.gpulocw, "run", ptx, "-k", kernel, "-d", a.device, "--no-counters", "--json"] + words, capture_output=True, text=True, timeout=120)
    try:
        d = json.loads(r.stdout)
    except ValueError:
        return None
    return d.get("regs"), (d.get("time_ns") or {}).get("median"), d.get("equal_to_original")

def growing(a, row):
    """The values with which the compiler takes more registers than for the original, one for each number of registers."""
    suite, kernel, _ = row
    first = run(a, suite, kernel, [])
    found, seen = [], {first and first[0]}
    for v in VALUES if first and first[0] else ():
        r = run(a, suite, kernel, ["--minctas", str(v)])
        if not r or not r[0] or r[0] <= first[0]:
            break
        if r[0] not in seen:
            found.append(v)
        seen.add(r[0])
    return row, found

def main():
    p = argparse.ArgumentParser()
    p.add_argument("-d", "--device", default="cuda:0")
    p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "build/gpulocw"))
    p.add_argument("--only", default="")
    a = p.parse_args()
    rows = [r for r in suites.rows() if not a.only or r[1] in a.only.split(",")]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        todo = [(r, v) for r, v in pool.map(lambda r: growing(a, r), rows) if v]
    print("%d of %d kernels take more registers with --minctas than without" % (len(todo), len(rows)))
    print("| kernel | original | its registers | with `--minctas` | original again |\n|---|---|---|---|---|")
    best = []
    for (suite, kernel, _), values in todo:
        regs, base, _ = run(a, suite, kernel, [])
        cells, gains = [], [1.0]
        for v in values:
            r = run(a, suite, kernel, ["--minctas", str(v)])
            cells.append("%d: n/a" % v if not r or not r[1] else "%d: %d, %.2fx%s" % (v, r[0], base / r[1], "" if r[2] else " (outputs differ)"))
            gains += [base / r[1]] if r and r[1] and r[2] else []
        best.append(max(gains))
        print("| %s | %.1f µs | %d | %s | %.1f µs |" % (kernel, base / 1e3, regs, "; ".join(cells), run(a, suite, kernel, [])[1] / 1e3), flush=True)
    if best:
        print("geometric mean of the best of each: %.3fx over %d kernels" % (math.exp(sum(map(math.log, best)) / len(best)), len(best)))

if __name__ == "__main__":
    main()
