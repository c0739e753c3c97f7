#!/usr/bin/env python3
"""What loads of one line do to each other (meet.ptx): a warp for each, which loads at its own clock. Prints each load with the cycle
at which it is asked for and the cycles it waits, the median of four lines that lie in L2.

    tests/gpu/meet.py [--gpulocw BIN] [--device sim:hopper-h200] [PREFIX ...]
"""
import argparse, json, os, struct, subprocess, tempfile

OPS = ["plain", "cg", "na", "relaxed", "volatile", "cv"]
WARPS, REPS, LOOK, LAST = 4, 4, 3000, 4000
LD, CG, NA = 0, 1, 2

def experiments():
    """Name and steps: operation, delay, byte offset, bytes from lane to lane."""
    e = []
    for x in range(1, len(OPS)):
        e.append(("line there, " + OPS[x], [(LD, 0, 0, 0), (x, 1500, 0, 0), (LD, LOOK, 0, 0)]))
        e.append(("line there, %s of another sector" % OPS[x], [(LD, 0, 0, 0), (x, 1500, 32, 0), (LD, LOOK, 0, 0), (LD, LAST, 32, 0)]))
    for d in (0, 16, 40, 80, 150, 220, 270, 320, 500):
        for x, y in ((LD, CG), (LD, NA), (CG, LD), (NA, LD), (LD, LD)):
            e.append(("%s, %s %d later" % (OPS[x], OPS[y], d), [(x, 0, 0, 0), (y, d, 0, 0), (LD, LOOK, 0, 0)]))
    for d in (40, 150, 300):
        e.append(("plain, cg of another sector %d later" % d, [(LD, 0, 0, 0), (CG, d, 32, 0), (LD, LOOK, 0, 0), (LD, LAST, 32, 0)]))
        e.append(("plain, cg 30 later, plain %d later" % d, [(LD, 0, 0, 0), (CG, 30, 0, 0), (LD, d, 0, 0), (LD, LOOK, 0, 0)]))
    return e

def show(rows, waits):
    """waits(i, w): the REPS cycles that step w of row i waited."""
    for i, (name, steps) in rows:
        print("%-40s %s" % (name, "; ".join("%s@%d %d" % (OPS[s[0]], s[1], sorted(waits(i, w))[REPS // 2]) for w, s in enumerate(steps))))

def main():
    here = os.path.dirname(os.path.abspath(__file__))
    p = argparse.ArgumentParser()
    p.add_argument("--gpulocw", default="build/gpulocw")
    p.add_argument("--device", default="sim:hopper-h200")
    p.add_argument("prefix", nargs="*")
    a = p.parse_args()
    all_ = experiments()
    with tempfile.TemporaryDirectory() as d:
        idle = (len(OPS), 0, 0, 0)
        open(d + "/tab", "wb").write(b"".join(struct.pack("<4I", *(s[w] if w < len(s) else idle)) for _, s in all_ for w in range(WARPS)))
        n = len(all_) * REPS
        buffer = lambda name, count, init, **more: dict({"name": name, "buffer": "u32", "count": count, "init": init}, **more)
        launch = {"format": "gpulocw-launch", "version": 1, "ptx": here + "/meet.ptx", "kernel": "meet", "grid": [1, 1, 1], "block": [32 * WARPS, 1, 1],
                  "args": [buffer("buf", n * 128, {"fill": 0}), buffer("out", n * WARPS, {"fill": 0}, output=True),
                           buffer("tab", len(all_) * WARPS * 4, {"file": d + "/tab"}), {"name": "exps", "u32": len(all_)}, {"name": "reps", "u32": REPS}]}
        json.dump(launch, open(d + "/launch.json", "w"))
        r = subprocess.run([a.gpulocw, "run", launch["ptx"], "--launch", d + "/launch.json", "-d", a.device, "--exact", "-r", "2", "--no-counters", "--outputs", d],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if r.returncode not in (0, 5):           # clocks never read the same twice: 5
            raise SystemExit("gpulocw run ended with %d" % r.returncode)
        out = struct.unpack("<%dI" % (n * WARPS), open(d + "/out.bin", "rb").read())
    rows = [(i, x) for i, x in enumerate(all_) if not a.prefix or any(x[0].startswith(q) for q in a.prefix)]
    show(rows, lambda i, w: [out[(r * len(all_) + i) * WARPS + w] for r in range(REPS)])

if __name__ == "__main__":
    main()
