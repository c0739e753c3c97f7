#!/usr/bin/env python3
"""How many lanes of atomics a device finishes each cycle, by what their words share: the sector, the line, two lines, nothing
(tests/gpu/atoms.cu). All SMs at once.

    tests/gpu/atoms.py -d cuda:0 > tests/gpu/atoms-h200.txt                   measure
    tests/gpu/atoms.py -d sim:hopper-h200 --against tests/gpu/atoms-h200.txt  compare: recorded, simulated, their ratio
    tests/gpu/atoms.py --only "random words" --rounds 16                      some rows, and shorter

random words of N B: each lane a word of the first N bytes. random line (sector, word) of N: each warp one of them, its lanes
beside each other. lane stride: lanes so far apart, all warps alike. "or N B on": every other warp N bytes further."""
import argparse, json, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
GRID, BLOCK, LAUNCH_US = 264, 512, 3.5
OPS = ["red", "atom", "max", "or", "cas", "exch", "f32"]

def case(name, op=0, active=32, lane=0, rows=1, row=0, span=1, parity=0):
    return name, {"op": op, "rounds": 64 if active > 1 else 256, "active": active, "lane_words": lane, "rows": rows,
                  "row_words": row, "span": span, "parity_words": parity}

def cases():
    for n in (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384, 65536, 1 << 20):
        yield case("random words of %d B" % (4 * n), span=n)
    for n in (1, 2, 4, 8, 16, 32, 64, 256):
        yield case("random line of %d" % n, lane=1, rows=n, row=32)
    for n in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        yield case("8 lanes, random sector of %d" % n, lane=1, rows=n, row=8, active=8)
    for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 1024):
        yield case("1 lane, random word of %d" % n, rows=n, row=1, active=1)
    for n in (1, 2, 4, 8, 9, 16, 32, 64, 128, 256, 1024):
        yield case("lane stride %d B" % (4 * n), lane=n)
    for n in (32, 64, 96, 128, 160, 192, 256, 384, 512, 1024, 2048, 4096):
        yield case("line 0 or %d B on" % (4 * n), lane=1, parity=n)
    for n in (8, 16, 24, 32, 64, 128):
        yield case("sector 0 or %d B on, 8 lanes" % (4 * n), lane=1, parity=n, active=8)
    for n in (1, 8, 16, 32, 64, 128):
        yield case("word 0 or %d B on, 1 lane" % (4 * n), parity=n, active=1)
    for op, name in list(enumerate(OPS))[1:]:
        yield case("%s 1 word 1 lane" % name, op=op, active=1)
        yield case("%s one line" % name, op=op, lane=1)
        yield case("%s random words of 1 KB" % name, op=op, span=256)
        yield case("%s random words of 64 KB" % name, op=op, span=16384)

def measure(a, folder, values):
    """Lanes a cycle of the device's highest clock, the launch's own time taken off."""
    path = os.path.join(folder, "atoms.launch.json")
    with open(path, "w") as f:
        json.dump({"format": "gpulocw-launch", "version": 1, "ptx": os.path.join(HERE, "atoms.ptx"), "kernel": "atoms",
                   "grid": [GRID, 1, 1], "block": [BLOCK, 1, 1], "shared": 0,
                   "args": [{"name": "p", "buffer": "u32", "count": 1 << 21, "init": {"fill": 0}},
                            {"name": "out", "buffer": "u32", "count": 1, "init": {"fill": 0}}] +
                           [{"name": k, "u32": v} for k, v in values.items()]}, f)
    r = subprocess.run([a.gpulocw, "run", os.path.join(HERE, "atoms.ptx"), "--launch", path, "-d", a.device, "--json", "--allow-files",
                        "--no-counters"], capture_output=True, text=True)
    if not r.stdout:
        sys.exit("atoms.py: %s" % r.stderr.strip())
    cycles = (json.loads(r.stdout)["time_ns"]["median"] / 1000 - LAUNCH_US) * a.mhz
    return GRID * BLOCK / 32 * values["rounds"] * values["active"] / cycles

def recorded(path):
    rows = [l.strip().strip("|").split("|") for l in open(path) if l.startswith("|")]
    return {r[0].strip(): float(r[1]) for r in rows[2:]}

def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-d", "--device", default="sim:hopper-h200")
    p.add_argument("--against", help="a recording")
    p.add_argument("--only", action="append", help="rows whose name has this; may be given several times")
    p.add_argument("--rounds", type=int, help="atomics a lane, instead of 64 and 256")
    p.add_argument("--mhz", type=float, default=1980, help="highest clock of an SM")
    p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "gpulocw"))
    a = p.parse_args()
    old = recorded(a.against) if a.against else None
    print("| words | %slanes a cycle |%s\n|---|---|%s" % ("recorded: " if old else "", " here | ratio |" if old else "", "---|---|" if old else ""))
    with tempfile.TemporaryDirectory() as folder:
        for name, values in cases():
            if a.only and not any(o in name for o in a.only) or old and name not in old:
                continue
            if a.rounds:
                values["rounds"] = a.rounds
            rate = measure(a, folder, values)
            if old:
                print("| %s | %.3f | %.3f | %.2f |" % (name, old[name], rate, rate / old[name]), flush=True)
            else:
                print("| %s | %.3f |" % (name, rate), flush=True)

if __name__ == "__main__":
    main()
