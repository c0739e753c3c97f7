#!/usr/bin/env python3
"""Sampled runs beside whole ones: how far is the time that `run` gives from that of `run --exact`?

    tests/gpu/sampled.py [LAUNCH.json ...] [--record FILE] [-t THREADS] [-d DEVICE]    default: tests/suites and the demo kernels

Prints a row for each launch that is off by more than 5 %, and how many are not. --record keeps each row in FILE and goes on where it was cut off."""
import argparse, glob, json, os, subprocess, sys

sys.dont_write_bytecode = True
from launch_files import launches

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
RATES = ("l1.hit_rate", "l2.hit_rate")
NEAR = 0.05


def run(a, launch, more):
    words = [a.gpulocw, "run", launch[0], "-l", launch[1], "-k", launch[2], "-d", a.device, "-t", str(a.threads), "--json"]
    try:
        d = json.loads(subprocess.run(words + more, capture_output=True, text=True, timeout=a.limit).stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return None
    counters = {c["name"]: c["value"] for c in d.get("counters", []) if c.get("valid")}
    time = (d.get("time_ns") or {}).get("median")
    return time and {"time_ns": time, "sampled": d.get("sampled", False), **{k: counters.get(k) for k in RATES + ("inst.warp", "l1.requests")}}


def row(r):
    s, e = r["sample"], r["whole"]
    rates = "  ".join("%s %s, %s" % (k[:2].upper(), *("n/a" if v.get(k) is None else "%.1f" % v[k] for v in (s, e))) for k in RATES)
    return "%-24s %.3f  %9.2f µs for %9.2f  %s" % (r["launch"][2], s["time_ns"] / e["time_ns"], s["time_ns"] / 1e3, e["time_ns"] / 1e3, rates)


def table(rows):
    both = [r for r in rows if r["sample"] and r["whole"]]
    off = lambda r: abs(r["sample"]["time_ns"] / r["whole"]["time_ns"] - 1)
    for r in sorted(both, key=off):
        if off(r) > NEAR:
            print(row(r))
    counted = sum(r["sample"]["inst.warp"] == r["whole"]["inst.warp"] and r["sample"]["l1.requests"] == r["whole"]["l1.requests"] for r in both)
    print("%d of %d within %.0f %% (%d sampled, the others whole unasked); instructions and requests equal on %d; no time: %d" %
          (sum(off(r) <= NEAR for r in both), len(both), 100 * NEAR, sum(r["sample"]["sampled"] for r in both), counted, len(rows) - len(both)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("file", nargs="*")
    p.add_argument("--record")
    p.add_argument("-d", "--device", default="sim:hopper-h200")
    p.add_argument("-t", "--threads", type=int, default=1)
    p.add_argument("--limit", type=float, default=600, help="seconds for one run")
    p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", os.path.join(TOP, "build", "gpulocw")))
    a = p.parse_args()
    files = a.file or sorted(glob.glob(os.path.join(TOP, "tests/suites/*.launch.json")) + glob.glob(os.path.join(TOP, "kernels/*.launch.json")))
    rows = [json.loads(l) for l in open(a.record)] if a.record and os.path.exists(a.record) else []
    known = {tuple(r["launch"][1:]) for r in rows}
    for launch in (l for f in files for l in launches(f)):
        if launch[1:] in known:
            continue
        sample = run(a, launch, [])
        rows.append({"launch": launch, "sample": sample, "whole": run(a, launch, ["--exact"]) if sample and sample["sampled"] else sample})
        if a.record:
            with open(a.record, "a") as out:
                out.write(json.dumps(rows[-1]) + "\n")
    table(rows)


sys.exit(main())
