#!/usr/bin/env python3
"""A compact recording of a collection (collect.py), for comparing where there is no GPU:

    tests/gpu/record.py gpu.json tests/gpu/h200.json
    tests/gpu/compare.py tests/gpu/h200.json sim.json
"""
import json, sys

COUNTERS = ("l1.sectors_per_request", "l1.hit_rate", "l2.read_sectors", "l2.hit_rate", "dram.read_bytes")

def number(v):
    return v if v is None or isinstance(v, int) else float("%.4g" % v)

def point(p):
    c = {k: number(p["counters"][k]) for k in COUNTERS if p["counters"].get(k) is not None}
    return {"pi": p["pi"], "status": p["status"], "time_ns": number(p["time_ns"]), "equal": p["equal"], "counters": c}

def sweep(s):
    if "error" in s:
        return s
    keep = {k: number(s[k]) if k.startswith("overhead") else s[k] for k in ("warps", "overhead_bpa", "overhead_cha", "device")}
    return dict(keep, bpa=point(s["bpa"]), cha=point(s["cha"]), points=[point(p) for p in s["points"]])

d = json.load(open(sys.argv[1]))
rows = [{k: sweep(v) if isinstance(v, dict) and k != "analysis" else v for k, v in r.items()} for r in d["rows"]]
with open(sys.argv[2], "w") as f:
    f.write('{"device": %s, "rows": [\n' % json.dumps(d["device"]))
    f.write(",\n".join(json.dumps(r, separators=(",", ":")) for r in rows) + "\n]}\n")
