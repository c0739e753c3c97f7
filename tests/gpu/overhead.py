#!/usr/bin/env python3
"""What inserted code costs: the clone at its two ends against all loads bypassing and all caching, and agents that
keep the CTAs' order against the original.

    tests/gpu/overhead.py --device cuda:0
    tests/gpu/overhead.py --device cuda:0 --gpulocw build/gpulocw --gpulocw old/gpulocw     (one column each, in turn)

Every launch named h200 (else the file's first). A cell is a time in ms and what it is over its base in the same
process. --arms adds others: NAME=OPTIONS, or NAME=OPTIONS@KERNEL for one kernel.
"""
import argparse, json, os, subprocess, time

ARMS = ["agents=--cluster agent", "one cluster=--cluster agent --clusters 1"]

def sweep(a, exe, name, launch, axis, extra):
    r = subprocess.run([exe, "sweep", "kernels/%s.ptx" % name, "-k", launch, "--device", a.device, "--no-counters", "--json", "--repeat", str(a.repeat), "--axis", axis] + extra,
                       capture_output=True, text=True, timeout=120)
    try:
        return json.loads(r.stdout)
    except ValueError:
        return None

def ms(p):
    return p["time_ns"]["median"] / 1e6 if p and p.get("time_ns") and p["equal_to_original"] is not False else None

def over(t, base):
    return "n/a" if not t or not base else "%.4f %+.1f %%" % (t, 100 * (t / base - 1))

def clone(a, exe, name, launch, warps):
    d = sweep(a, exe, name, launch, "pi=0/%d" % warps, ["--bypass", "l1"])
    if d is None:
        return ["n/a"] * 4
    bpa, cha = ms(d["bpa"]), ms(d["cha"])
    at = {str(p["pi"]): ms(p) for p in d["points"]}
    return ["%.4f" % bpa if bpa else "n/a", over(at.get("0"), bpa), "%.4f" % cha if cha else "n/a", over(at.get(str(warps)), cha)]

def arm(a, exe, name, launch, options):
    d = sweep(a, exe, name, launch, "cluster=none/agent", [w for w in options.split() if w not in ("--cluster", "agent")])
    if d is None or len(d["points"]) < 2:
        return "n/a"
    return over(ms(d["points"][1]), ms(d["points"][0]))

def main():
    p = argparse.ArgumentParser()
    p.add_argument("--gpulocw", action="append")
    p.add_argument("--device", default="cuda:0")
    p.add_argument("--only", default="")
    p.add_argument("--arms", action="append", default=[])
    p.add_argument("--no-clone", action="store_true")
    p.add_argument("--repeat", type=int, default=20)
    p.add_argument("--total", type=float, default=1e9, help="seconds after which nothing new is started")
    a = p.parse_args()
    exes, start, arms = a.gpulocw or [os.environ.get("GPULOCW", "build/gpulocw")], time.time(), a.arms or ARMS
    heads = ([] if a.no_clone else ["bpa", "π=0", "cha", "π=W"]) + [x.split("=")[0] for x in arms]
    print("| kernel | program | " + " | ".join(heads) + " |\n" + "|---" * (2 + len(heads)) + "|")
    for f in sorted(os.listdir("kernels")):
        name = f[:-12]
        if not f.endswith(".launch.json") or (a.only and name not in a.only.split(",")):
            continue
        d = json.load(open("kernels/" + f))
        launches = d.get("launches") or [d]
        l = next((x for x in launches if x.get("name", "").startswith("h200")), launches[0])
        launch, block = l.get("name") or l.get("kernel"), l["block"]
        warps = (block[0] * block[1] * block[2] + 31) // 32
        for k, exe in enumerate(exes):
            if time.time() - start > a.total:
                return
            cells = [] if a.no_clone else clone(a, exe, name, launch, warps)
            for x in arms:
                options, _, only = x.split("=", 1)[1].partition("@")
                cells.append(arm(a, exe, name, launch, options) if not only or only == name else "")
            print("| %s | %d | %s |" % (name, k, " | ".join(cells)), flush=True)

main()
