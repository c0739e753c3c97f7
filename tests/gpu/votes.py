#!/usr/bin/env python3
"""The voted threshold beside the exhaustive optimum: one sampling launch against a launch for every threshold.

    tests/gpu/votes.py --device cuda:0
    tests/gpu/votes.py --device sim:fermi-16k --launches first --scheme vote-cta

Prints a table: the sweep's best threshold and time, the elected one and its time, what the vote's launch took.
"""
import argparse, json, math, os, re, subprocess, time

def call(cmd, limit):
    try:
        r = subprocess.run(cmd, capture_output=True, text=True, timeout=limit)
        return json.loads(r.stdout), r.stderr
    except (ValueError, subprocess.TimeoutExpired) as e:
        return None, "timed out" if isinstance(e, subprocess.TimeoutExpired) else r.stderr.strip()[-160:]

def ms(r):
    return r["time_ns"]["median"] / 1e6 if r and r["time_ns"] else None

def fmt(v, f="%.4f"):
    return "n/a" if v is None else f % v

def row(a, ptx, kernel, op):
    base = [a.gpulocw, "%s", ptx, "--kernel", kernel, "--device", a.device, "--json", "--no-counters", "--bypass-op", op]
    s, err = call([x if x != "%s" else "sweep" for x in base], a.limit)
    v, verr = call([x if x != "%s" else "run" for x in base] + ["--bypass", "l1", "--pi", a.scheme], a.limit)
    if s is None:
        return None, err
    runs = [(ms(p), str(p["pi"])) for p in [s["bpa"], s["cha"]] + s["points"] if ms(p) and p["equal_to_original"] is not False]
    best = min(runs) if runs else (None, "n/a")
    cost = re.search(r"in one launch of ([\d.]+) (ms|µs)", (v or {}).get("message") or "")
    voted = ms(v) if v and cost else None
    return {"best": best, "cha": ms(s["cha"]), "pi": str(v["pi"]) if voted else "n/a", "voted": voted, "cost": float(cost.group(1)) / (1 if cost.group(2) == "ms" else 1000) if cost else None,
            "all": sum(t for t, _ in runs), "note": "" if voted else (((v or {}).get("message") or verr).replace("\n", " ")[:60])}, None

def main():
    p = argparse.ArgumentParser()
    p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "build/gpulocw"))
    p.add_argument("--device", default="cuda:0")
    p.add_argument("--only", default="")
    p.add_argument("--op", default="cg")
    p.add_argument("--scheme", default="vote", choices=["vote", "vote-sm", "vote-cta"], help="by SM with a run-off, by SM alone, or one CTA for each threshold")
    p.add_argument("--launches", default="h200", choices=["first", "h200"])
    p.add_argument("--limit", type=float, default=120)
    p.add_argument("--total", type=float, default=1e9, help="seconds after which nothing new is started")
    a = p.parse_args()
    start, loss = time.time(), []
    print("| kernel | launch | cha ms | best π | best ms | voted π | voted ms | over the best | vote's launch ms | launches of the sweep, sum ms |\n" + "|---" * 10 + "|")
    for f in sorted(os.listdir("kernels")):
        name = f[:-12]
        if not f.endswith(".launch.json") or (a.only and name not in a.only.split(",")) or time.time() - start > a.total:
            continue
        d = json.load(open("kernels/" + f))
        names = [l.get("name") or l.get("kernel") or d.get("kernel") for l in d.get("launches") or [d]]
        n = next((x for x in names if x.endswith("h200")), names[0]) if a.launches == "h200" else names[0]
        r, err = row(a, "kernels/%s.ptx" % name, n, a.op)
        if r is None:
            print("| %s | %s | n/a: %s |" % (name, n, err.replace("\n", " ")[:80]) + " |" * 7, flush=True)
            continue
        over = r["voted"] / r["best"][0] if r["voted"] and r["best"][0] else None
        if over:
            loss.append(over)
        print("| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s |" % (name, n, fmt(r["cha"]), r["best"][1], fmt(r["best"][0]), r["pi"], fmt(r["voted"]) if r["voted"] else "n/a: " + r["note"],
              fmt(over, "%.3fx"), fmt(r["cost"]), fmt(r["all"])), flush=True)
    if loss:
        print("\nThe voted threshold takes %.3fx the time of the best one (geometric mean over %d kernels; worst %.2fx)." % (math.exp(sum(map(math.log, loss)) / len(loss)), len(loss), max(loss)))

main()
