#!/usr/bin/env python3
"""Do a GPU and the simulated device make the same bytes?

    tests/gpu/same.py [--device cuda:0] [--against sim:hopper-h200] [--folder tests/sim]

Runs every launch of every demo kernel, as it is, on both devices and compares the hashes of its outputs. What
differs is named with what the kernel uses that the PTX ISA leaves open: approximate functions, whose error it
bounds but whose bits it does not fix, and floating-point atomics, whose order is the machine's.
"""
import argparse, concurrent.futures, json, os, re, subprocess, sys

OPEN = {"approximate functions": r"\b(ex2|lg2|sin|cos|tanh|rsqrt|rcp|sqrt|div)\.(approx|full)", "floating-point atomics": r"\b(atom|red)\.[\w.:]*add\.[\w.]*(f16|bf16|f32|f64)"}

def run(a, device, name, launch):
    r = subprocess.run([a.gpulocw, "run", "%s/%s.ptx" % (a.folder, name), "-k", launch, "--device", device, "--no-counters", "--json"], capture_output=True, text=True, timeout=300)
    try:
        return {o["name"]: o["hash"] for o in json.loads(r.stdout)["outputs"]}, ""
    except (ValueError, KeyError):
        return None, (r.stderr.strip() or "exit %d" % r.returncode)[:200]

def one(a, name, launch):
    x, why = run(a, a.device, name, launch)
    y, also = run(a, a.against, name, launch)
    if x is None or y is None:
        return name, launch, None, why or also
    return name, launch, x == y and len(x) > 0, " ".join(sorted(k for k in x if x[k] != y.get(k)))

def main():
    p = argparse.ArgumentParser()
    p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "build/gpulocw"))
    p.add_argument("--device", default="cuda:0")
    p.add_argument("--against", default="sim:hopper-h200")
    p.add_argument("--jobs", type=int, default=4)
    p.add_argument("--folder", default="kernels", help="another set: tests/sim has the clusters")
    p.add_argument("--only", default="", help="kernels, comma-separated")
    a = p.parse_args()
    work = []
    for f in sorted(os.listdir(a.folder)):
        name = f[:-12]
        if f.endswith(".launch.json") and (not a.only or name in a.only.split(",")):
            d = json.load(open(a.folder + "/" + f))
            work += [(name, l.get("name") or l["kernel"]) for l in d.get("launches", [d])]
    same, bad = 0, 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for name, launch, ok, what in pool.map(lambda w: one(a, *w), work):
            same += ok is True
            if ok is True:
                continue
            text = open("%s/%s.ptx" % (a.folder, name)).read()
            uses = [k for k, pattern in OPEN.items() if re.search(pattern, text)]
            bad += ok is None or not uses
            print("%s (%s): %s" % (name, launch, "failed: " + what if ok is None else "differs in %s; uses %s" % (what, " and ".join(uses) or "nothing that may differ")))
    print("%d launches of %d kernels on %s and %s: %d with equal bytes in every output, %d not" %
          (len(work), len(set(w[0] for w in work)), a.device, a.against, same, len(work) - same))
    return 1 if bad else 0

sys.exit(main())
