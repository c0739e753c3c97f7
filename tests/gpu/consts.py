#!/usr/bin/env python3
"""What reads of constant memory by an index take, in cycles of an SM (tests/gpu/consts.cu).

    tests/gpu/consts.py -d cuda:0 > tests/gpu/consts-h200.txt                   measure
    tests/gpu/consts.py -d sim:hopper-h200 --against tests/gpu/consts-h200.txt  compare

chain: one warp, a read waits for the one before (with two additions and an and). many: 32 warps of one SM, four reads each at
once, cycles a read. once: each line of 64 bytes is read once in the launch. N words: the lanes of a warp read N different words,
so far apart as said; of N bytes: what is read again and again."""
import argparse, json, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KB = 256

def case(name, kernel, bytes_, step=16, words=1, apart=1, rounds=4096, block=32, grid=1):
    return name, kernel, {"rounds": rounds, "step": step, "mask": bytes_ // 4 - 1, "lane_words": apart, "lanes": words}, block, grid

def cases():
    for n in (64, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536):
        yield case("chain, of %d bytes" % n, "consts_chain", n, rounds=20000)
    for n in (2048, 65536):
        yield case("chain, of %d bytes, 4 bytes on" % n, "consts_chain", n, step=1, rounds=20000)
        yield case("chain, of %d bytes, 256 bytes on" % n, "consts_chain", n, step=64, rounds=20000)
    for w in (2, 4, 8, 32):
        yield case("chain, %d words side by side, of 1024 bytes" % w, "consts_chain", 1024, words=w, rounds=20000)
        yield case("chain, %d words 64 bytes apart, of 2048 bytes" % w, "consts_chain", 2048, words=w, apart=16, rounds=20000)
    yield case("chain, 32 words 64 bytes apart, of 65536 bytes", "consts_chain", 65536, words=32, apart=16, step=512 + 16, rounds=5000)
    for n in (512, 1024, 2048):
        yield case("chain, once, of %d bytes" % (n * 64 // 2), "consts_chain", n * 64 // 2, rounds=n // 2)
    for n in (64, 1024, 2048, 4096, 8192, 16384, 32768, 65536):
        yield case("many, of %d bytes" % n, "consts_many", n, block=1024)
    for w in (2, 4, 8, 16, 32):
        yield case("many, %d words side by side, of 1024 bytes" % w, "consts_many", 1024, words=w, block=1024)
    for w in (2, 4, 8, 16, 32):
        yield case("many, %d words 64 bytes apart, of 2048 bytes" % w, "consts_many", 2048, words=w, apart=16, block=1024)
    for n in (8192, 65536):
        yield case("many, 32 words 64 bytes apart, of %d bytes" % n, "consts_many", n, words=32, apart=16, step=512 + 16, block=1024, rounds=512)
    yield case("many, of 65536 bytes, all SMs", "consts_many", 65536, block=1024, grid=132)
    yield case("known words", "consts_known", 4096, block=1024, rounds=512)

def measure(a, folder, kernel, values, block, grid):
    path = os.path.join(folder, "consts.launch.json")
    with open(path, "w") as f:
        json.dump({"format": "gpulocw-launch", "version": 1, "ptx": os.path.join(HERE, "consts.ptx"), "kernel": kernel,
                   "grid": [grid, 1, 1], "block": [block, 1, 1], "shared": 0,
                   "args": [{"name": "out", "buffer": "u32", "count": grid * block, "init": {"fill": 0}}] +
                           [{"name": k, "u32": v} for k, v in values.items()]}, f)
    r = subprocess.run([a.gpulocw, "run", os.path.join(HERE, "consts.ptx"), "--launch", path, "-d", a.device, "--json", "--allow-files",
                        "--no-counters"], capture_output=True, text=True)
    if not r.stdout:
        sys.exit("consts.py: %s" % r.stderr.strip())
    return json.loads(r.stdout)["time_ns"]["median"]

def cycles(a, folder, name, kernel, values, block, grid):
    """Of one read: what twice as many take longer, or all of those that are made once, less the launch."""
    reads = {"consts_chain": 1, "consts_many": 4 * block // 32, "consts_known": 64 * block // 32}[kernel]
    one = measure(a, folder, kernel, values, block, grid)
    if "once" in name:
        return (one - 3500) * a.mhz / 1000 / values["rounds"]
    two = measure(a, folder, kernel, dict(values, rounds=2 * values["rounds"]), block, grid)
    return (two - one) * a.mhz / 1000 / (values["rounds"] * reads)

def recorded(path):
    rows = [l.strip().strip("|").split("|") for l in open(path) if l.startswith("|")]
    return {r[0].strip(): float(r[1]) for r in rows[2:]}

def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-d", "--device", default="sim:hopper-h200")
    p.add_argument("--against", help="a recording")
    p.add_argument("--only", action="append", help="rows whose name has this; may be given several times")
    p.add_argument("--part", type=int, default=1, help="an n-th of the reads")
    p.add_argument("--mhz", type=float, default=1980, help="highest clock of an SM")
    p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "gpulocw"))
    a = p.parse_args()
    old = recorded(a.against) if a.against else None
    print("| reads | %scycles |%s\n|---|---|%s" % ("recorded: " if old else "", " here | ratio |" if old else "", "---|---|" if old else ""))
    with tempfile.TemporaryDirectory() as folder:
        for name, kernel, values, block, grid in cases():
            if a.only and not any(o in name for o in a.only) or old and name not in old:
                continue
            if "once" not in name:
                values["rounds"] = max(values["rounds"] // a.part, 16)
            c = cycles(a, folder, name, kernel, values, block, grid)
            if old:
                print("| %s | %.2f | %.2f | %.2f |" % (name, old[name], c, c / old[name]), flush=True)
            else:
                print("| %s | %.2f |" % (name, c), flush=True)

if __name__ == "__main__":
    main()
