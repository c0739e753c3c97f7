#!/usr/bin/env python3
"""Which of the lines that one warp loads one after another are found in L1 (lines.ptx): share of hits after the first eighth,
and with -v the rounds as rows of # (hit) and . (miss).

    tests/gpu/lines.py [-v] [--gpulocw BIN] [--device sim:hopper-h200] [LAUNCH ...]
"""
import argparse, json, os, subprocess, tempfile

here = os.path.dirname(os.path.abspath(__file__))
p = argparse.ArgumentParser()
p.add_argument("-v", action="store_true")
p.add_argument("--gpulocw", default="build/gpulocw")
p.add_argument("--device", default="sim:hopper-h200")
p.add_argument("launches", nargs="*")
a = p.parse_args()
for l in json.load(open(here + "/lines.launch.json"))["launches"]:
    if a.launches and l["name"] not in a.launches:
        continue
    with tempfile.TemporaryDirectory() as d:
        carve = "100" if l["name"].endswith("carve-100") else "0"
        r = subprocess.run([a.gpulocw, "run", here + "/lines.ptx", "-k", l["name"], "-d", a.device, "--exact", "-r", "1", "--no-counters",
                        "--carveout", carve, "--outputs", d], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if r.returncode not in (0, 5):           # clocks never read the same twice: 5
            raise SystemExit("%s: gpulocw run ended with %d" % (l["name"], r.returncode))
        b = open(d + "/out.bin", "rb").read()
    hit = [b[i >> 3] >> (i & 7) & 1 for i in range(8 * len(b))]
    n = next(x["u32"] for x in l["args"] if x["name"] == "n")
    late = hit[len(hit) // 8:]
    print("%-30s %5.1f %% found again" % (l["name"], 100 * sum(late) / len(late)))
    for r in range(0, len(hit) if a.v else 0, n):
        print("  " + "".join(".#"[h] for h in hit[r:r + n]))
