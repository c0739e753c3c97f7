#!/usr/bin/env python3
"""One sweep over one, two and more devices: how much faster, and whether the result set is the same.

    tests/gpu/scale.py --devices cuda:0,cuda:1,cuda:2,cuda:3
    tests/gpu/scale.py --devices sim:fermi-16k,sim:fermi-16k --kernel conv2d --launch paper --axis pi,carveout=0/100
"""
import argparse, json, os, subprocess, sys, time

p = argparse.ArgumentParser()
p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "build/gpulocw"))
p.add_argument("--devices", default="cuda:0,cuda:1,cuda:2,cuda:3")
p.add_argument("--kernel", default="nbody")
p.add_argument("--launch", default="h200")
p.add_argument("--axis", default="pi,carveout=0/10/20/30/40/50/60/70/80/100,bypass-op=cg/cs")
p.add_argument("--counts", default="1,2,4")
p.add_argument("--members", action="store_true", help="what each member did, in seconds, on standard error")
a, extra = p.parse_known_args()
devices, first, base, bad = a.devices.split(","), None, None, 0

def key(p):
    return json.dumps(p["options"], sort_keys=True)

print("| devices | configurations | seconds | times faster | result set | largest difference of a median |\n|---|---|---|---|---|---|")
for n in [int(x) for x in a.counts.split(",") if int(x) <= len(devices)]:
    start = time.time()
    r = subprocess.run([a.gpulocw, "sweep", "kernels/%s.ptx" % a.kernel, "--kernel", a.launch, "--devices", ",".join(devices[:n]), "--axis", a.axis, "--json", "--no-counters", "--members"] + extra,
                       capture_output=True, text=True, timeout=300)
    took = time.time() - start
    try:
        d = json.loads(r.stdout)
    except ValueError:
        sys.exit("%d devices: exit %d: %s" % (n, r.returncode, r.stderr.strip()[-400:]))
    ends = [s[e] for s in d.get("slices", [d]) for e in ("bpa", "cha")]
    runs = [(key(x), x) for x in d["points"]] + [("%d %s" % (i, key(x)), x) for i, x in enumerate(ends)]
    now = {k: (x["status"], x["equal_to_original"], json.dumps(x.get("outputs"))) for k, x in runs}
    times = {k: x["time_ns"]["median"] for k, x in runs if x["time_ns"]}
    if first is None:
        first, base, once = now, took, times
    same = now == first and d["complete"]
    bad += not same
    off = max((abs(times[k] / once[k] - 1) for k in times if k in once), default=0)
    print("| %d | %d | %.2f | %.2fx | %s | %.1f %% |" % (n, len(runs), took, base / took, "the same" if same else "DIFFERENT", 100 * off), flush=True)
    for m in d["pool"] if a.members else []:
        print("%-12s %4d launches, open at %.2f, first at %.2f, last at %.2f; binding %.2f, loading %.2f, launching %.2f; the command took %.2f"
              % (m["device"], m["launches"], m["opened_s"], m["first_s"], m["last_s"], m["binding_s"], m["loading_s"], m["launching_s"], took), file=sys.stderr)
    if r.stderr.strip():
        print(r.stderr.strip()[-300:], file=sys.stderr)
sys.exit(1 if bad else 0)
