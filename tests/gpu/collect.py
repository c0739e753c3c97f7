#!/usr/bin/env python3
"""Runs the demo kernels on one device and keeps what programs rely on, as one JSON file.

    tests/gpu/collect.py --device cuda:0 -o gpu.json
    tests/gpu/collect.py --device sim:hopper-h200 -o sim.json
    tests/gpu/compare.py gpu.json sim.json

Every launch of every *.launch.json of a folder that --launches allows is swept over π with
`cg` and the clone form, at full L1 and at carve-out 100, with counters; then with
`no_allocate`, and with the predicate form, without counters (time only).
"""
import argparse, json, os, subprocess, sys, time

SWEEPS = {
    "cg": [],
    "cg-carveout": ["--carveout", "100"],
    "na": ["--bypass-op", "no_allocate", "--no-counters"],
    "predicate": ["--bypass-form", "predicate", "--no-counters"],
}

def point(p):
    t = p.get("time_ns")
    return {"pi": p["pi"], "status": p["status"], "message": p["message"],
            "time_ns": t and t["median"], "min_ns": t and t["min"], "max_ns": t and t["max"],
            "counters": {c["name"]: c["value"] for c in p["counters"]},
            "equal": p["equal_to_original"], "regs": p["regs"]}

def call(cmd, limit):
    start = time.time()
    try:
        r = subprocess.run(cmd, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None, "timed out after %g s" % limit, time.time() - start
    try:
        return json.loads(r.stdout), r.stderr.strip(), time.time() - start
    except ValueError:
        return None, (r.stderr.strip() or "exit %d" % r.returncode)[:400], time.time() - start

def sweep(a, ptx, kernel, extra):
    d, err, took = call([a.gpulocw, "sweep", ptx, "--kernel", kernel, "--device", a.device, "--json"] + extra + a.extra, a.limit)
    if d is None:
        return {"error": err}
    best = d["best"]
    return {"seconds": round(took, 2), "bpa": point(d["bpa"]), "cha": point(d["cha"]), "points": [point(p) for p in d["points"]],
            "best": best and point(best), "category": d["category"], "warps": d["warps_per_cta"],
            "overhead_bpa": d["overhead_bpa"], "overhead_cha": d["overhead_cha"], "device": d["device"]["name"], "note": err[-300:]}

def main():
    p = argparse.ArgumentParser()
    p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "build/gpulocw"))
    p.add_argument("--device", default="cuda:0")
    p.add_argument("--folder", default="kernels", help="another set of kernels with launch descriptions: tests/heldout/suites")
    p.add_argument("--only", default="", help="kernels, comma-separated")
    p.add_argument("--sweeps", default=",".join(SWEEPS))
    p.add_argument("--launches", default="first", choices=["first", "all", "h200"])
    p.add_argument("--limit", type=float, default=120, help="seconds for one sweep")
    p.add_argument("--total", type=float, default=1e9, help="seconds after which nothing new is started")
    p.add_argument("-o", dest="out", required=True)
    a, a.extra = p.parse_known_args()
    start, rows = time.time(), []
    for f in sorted(os.listdir(a.folder)):
        if not f.endswith(".launch.json") or (a.only and f[:-12] not in a.only.split(",")):
            continue
        d = json.load(open("%s/%s" % (a.folder, f)))
        launches = d.get("launches") or [d]
        names = [l.get("name") or l.get("kernel") or d.get("kernel") for l in launches]
        pick = names[:1] if a.launches == "first" else names if a.launches == "all" else [n for n in names if n == "h200" or n.endswith("h200")] or names[:1]
        for n in pick:
            if time.time() - start > a.total:
                continue
            ptx = "%s/%s.ptx" % (a.folder, f[:-12])
            row = {"file": f[:-12], "launch": n}
            an, err, _ = call([a.gpulocw, "analyze", ptx, "--kernel", n, "--json"], 60)
            k = an and an["kernels"] and an["kernels"][0]
            row["analysis"] = k and {"exact": k["exact"] and k["exact"]["sectors_per_request"], "degree": k["coalesce"] and k["coalesce"]["degree"],
                                     "expected": k["coalesce"] and k["coalesce"]["expected_sectors"], "class": k["class"]}
            for s in a.sweeps.split(","):
                row[s] = sweep(a, ptx, n, SWEEPS[s])
            rows.append(row)
            json.dump({"device": a.device, "rows": rows}, open(a.out, "w"))
            print("%6.1f s  %s %s" % (time.time() - start, f[:-12], n), file=sys.stderr, flush=True)

main()
