#!/usr/bin/env python3
"""Which SMs share a partition of L2, and what a read of written data finds there (tests/gpu/sides.cu).

    tests/gpu/sides.py -d cuda:0                     SM 0 writes, every fourth SM reads; then the reverse
    tests/gpu/sides.py -d sim:hopper-h200 --sms 8    the same, simulated, for the first SMs

A row is a pair: the SM that writes, the SM that reads, the share of the reader's sectors that L2 found, DRAM reads."""
import argparse, json, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

def launch(a, writer, reader):
    return {"format": "gpulocw-launch", "version": 1, "ptx": os.path.join(HERE, "sides.ptx"), "kernel": "sides",
            "grid": [a.ctas, 1, 1], "block": [1024, 1, 1], "shared": 120000,
            "args": [{"name": "p", "buffer": "u32", "count": a.words, "init": {"fill": 0}},
                     {"name": "came", "buffer": "u32", "count": 1, "init": {"fill": 0}, "output": True},
                     {"name": "sum", "buffer": "u32", "count": 1, "init": {"fill": 0}, "output": True},
                     {"name": "writer", "u32": writer}, {"name": "reader", "u32": reader}, {"name": "n", "u32": a.words}]}

def measure(a, folder, writer, reader):
    path = os.path.join(folder, "sides.launch.json")
    with open(path, "w") as f:
        json.dump(launch(a, writer, reader), f)
    r = subprocess.run([a.gpulocw, "run", os.path.join(HERE, "sides.ptx"), "--launch", path, "-d", a.device, "--json", "--allow-files"],
                       capture_output=True, text=True)
    if not r.stdout:
        sys.exit("sides.py: %s" % r.stderr.strip())
    d = json.loads(r.stdout)
    return {c["name"]: c["value"] for c in d["counters"] if c["valid"]}

def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-d", "--device", default="sim:hopper-h200")
    p.add_argument("--sms", type=int, default=132, help="SMs to try")
    p.add_argument("--step", type=int, default=4)
    p.add_argument("--ctas", type=int, default=132, help="one a SM")
    p.add_argument("--words", type=int, default=1 << 19, help="of the buffer: 2 MiB")
    p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "gpulocw"))
    a = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print("| writes | reads | found in L2, % | from DRAM, bytes |\n|---|---|---|---|")
        others = range(0, a.sms, a.step)
        for w, r in [(0, o) for o in others] + [(o, 0) for o in list(others)[1::4]]:
            c = measure(a, folder, w, r)
            rate, dram = c.get("l2.hit_rate"), c.get("dram.read_bytes")
            print("| %d | %d | %s | %s |" % (w, r, "n/a" if rate is None else "%.1f" % rate, "n/a" if dram is None else "%d" % dram), flush=True)

if __name__ == "__main__":
    main()
