#!/usr/bin/env python3
"""Does a part of L2 set aside for one buffer keep it there? tests/gpu/persist.ptx reads a table of several sizes, line by
line in no order, against a stream of 277 MB that passes through L2 once.

    tests/gpu/persist.py --device cuda:0 [--gpulocw build/gpulocw]
"""
import argparse, json, os, subprocess, sys

p = argparse.ArgumentParser()
p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "build/gpulocw"))
p.add_argument("--device", default="cuda:0")
p.add_argument("--sizes", default="8,16,24,32,40,48", help="MiB")
p.add_argument("--points", default="off,table,table:0.5")
a, extra = p.parse_known_args()
here = os.path.dirname(os.path.abspath(__file__))
print("| table MiB | kept | ms | against off | L2 hit % | DRAM read MB | outputs |\n|---|---|---|---|---|---|---|")
bad = 0
for size in a.sizes.split(","):
    r = subprocess.run([a.gpulocw, "sweep", os.path.join(here, "persist.ptx"), "--kernel", "t" + size, "--axis", "l2-persist=" + a.points.replace(",", "/"),
                        "--device", a.device, "--json"] + extra, capture_output=True, text=True, timeout=120)
    try:
        d = json.loads(r.stdout)
    except ValueError:
        sys.exit("exit %d: %s" % (r.returncode, r.stderr.strip()[-400:]))
    off = None
    for what, x in zip(a.points.split(","), d["points"]):
        c = {k["name"]: k["value"] if k["valid"] else None for k in x["counters"]}
        ms = x["time_ns"]["median"] / 1e6 if x["time_ns"] else None
        off = ms if what == "off" else off
        bad += ms is None or x["equal_to_original"] is not True
        show = lambda v, f: "n/a" if v is None else f % v
        dram = c.get("dram.read_bytes")
        print("| %s | %s | %s | %s | %s | %s | %s |" % (size, what, show(ms, "%.4f"), show(off / ms if ms and off else None, "%.2fx"), show(c.get("l2.hit_rate"), "%.1f"),
              show(dram / 1e6 if dram is not None else None, "%.0f"), "equal" if x["equal_to_original"] else x["message"] or "differ"), flush=True)
sys.exit(1 if bad else 0)
