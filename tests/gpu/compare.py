#!/usr/bin/env python3
"""Tables from two collections (collect.py): a measured and a simulated one. See collect.py.

    tests/gpu/compare.py gpu.json sim.json [again.json]

again.json: a second collection of the same GPU; how well it repeats itself bounds what a model can reach.
"""
import json, math, sys

sys.dont_write_bytecode = True
from ranks import corr, ranks

def spearman(a, b):
    return corr(ranks(a), ranks(b)) if len(a) > 2 else None

def f(v, form="%.2f"):
    return "n/a" if v is None else form % v

def good(p):
    return p and p["status"] == "OK" and p["time_ns"]

def all_points(s):
    return [] if not s or "error" in s else [s["bpa"]] + s["points"] + [s["cha"]]

def table(head, rows):
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for r in rows:
        print("| " + " | ".join(str(x) for x in r) + " |")
    print()

def best_of(row):
    """The fastest configuration among both operators, ends included; None: nothing ran.
    cha runs the original's code whatever the operator: it is taken from one sweep alone."""
    found = []
    for name, op in (("cg", "cg"), ("na", "no_allocate")):
        s = row.get(name)
        for p in all_points(s):
            if good(p) and p["equal"] is not False and not (op != "cg" and p["pi"] == "cha"):
                found.append((p["time_ns"], p["pi"], op))
    return min(found, key=lambda t: t[0]) if found else None

def curve(a, b, ends=True):
    """Times over π of one sweep on two sides, a's against b's; ends: with bpa and cha, which are other machine code than the clones
    that π chooses between. None: fewer than three points ran on both."""
    pairs = [(p, q) for p, q in zip(all_points(a), all_points(b)) if good(p) and good(q) and (ends or p["pi"] not in ("bpa", "cha"))]
    if len(pairs) < 3:
        return None
    m, v = [p["time_ns"] for p, _ in pairs], [q["time_ns"] for _, q in pairs]
    varies, pick = (max(m) - min(m)) / min(m), pairs[v.index(min(v))][0]
    return {"varies": varies, "rank": spearman(m, v), "best": pairs[m.index(min(m))][0]["pi"], "pick": pick["pi"], "cost": pick["time_ns"] / min(m) - 1,
            "ratio": sorted(v)[len(v) // 2] / sorted(m)[len(m) // 2], "counts": varies > 0.05 and max(m) > 20e3}

def tally(sums, sweep, c, side):
    if not c or not c["counts"]:
        return
    for k in ["cg, both carve-outs"] * (sweep != "na") + ["all"]:
        n = sums.setdefault((side, k), [0, 0, 0])
        for i, yes in enumerate((True, c["rank"] is not None and c["rank"] >= 0.9, c["cost"] <= 0.05)):
            n[i] += yes

def main():
    gpu, sim = (json.load(open(p)) for p in sys.argv[1:3])
    simrow = {(r["file"], r["launch"]): r for r in sim["rows"]}
    name = next((r["cg"]["device"] for r in gpu["rows"] if "error" not in r["cg"]), gpu["device"])
    print("# Measured on %s\n" % name)
    print("Made by `tests/gpu/collect.py --device %s -o gpu.json`, `tests/gpu/collect.py --device %s -o sim.json`\nand `tests/gpu/compare.py gpu.json sim.json`. Times are medians.\n" % (gpu["device"], sim["device"]))

    print("## Bypassing on the GPU (measured)\n")
    rows, gains = [], []
    for r in gpu["rows"]:
        s = r["cg"]
        if "error" in s:
            rows.append([r["file"], r["launch"], "n/a: " + s["error"].replace("\n", " ")[:80], "", "", "", "", "", ""])
            continue
        b, c = s["bpa"], s["cha"]
        best = best_of(r)
        pred = r.get("predicate") or {}
        if best and good(c):
            gains.append(c["time_ns"] / best[0])
        rows.append([r["file"], r["launch"], f(good(b) and b["time_ns"] / 1e6, "%.4f"), f(good(c) and c["time_ns"] / 1e6, "%.4f"),
                     "n/a" if not best else "%s %s" % (best[1], best[2]), "n/a" if not best or not good(c) else "%.2fx" % (c["time_ns"] / best[0]),
                     f(s["overhead_bpa"] and 100 * (s["overhead_bpa"] - 1), "%+.1f %%"), f(s["overhead_cha"] and 100 * (s["overhead_cha"] - 1), "%+.1f %%"),
                     f(pred.get("overhead_cha") and 100 * (pred["overhead_cha"] - 1), "%+.1f %%")])
    table(["kernel", "launch", "bpa ms", "cha ms", "best π, operator", "gain over cha", "clone π=0 / bpa", "clone π=W / cha", "predicate π=W / cha"], rows)
    if gains:
        print("Geometric mean of the gains: %.3fx over %d launches.\n" % (math.exp(sum(map(math.log, gains)) / len(gains)), len(gains)))

    print("## Sectors per request: analysis against the hardware counter\n")
    rows, worst = [], 0
    for r in gpu["rows"]:
        e = r["analysis"] and r["analysis"]["exact"]
        m = None if "error" in r["cg"] else r["cg"]["cha"]["counters"].get("l1.sectors_per_request")
        d = None if not e or not m else 100 * (e - m) / m
        if d is not None:
            worst = max(worst, abs(d))
        rows.append([r["file"], r["launch"], f(e, "%.4f"), f(m, "%.4f"), f(d, "%+.3f %%"), f(r["analysis"] and r["analysis"]["expected"], "%.2f")])
    table(["kernel", "launch", "exact (analysis)", "counter (measured)", "difference", "paper's expected"], rows)
    print("Largest difference: %.3f %%.\n" % worst)

    print("## Hit rates: simulated against measured\n")
    rows, e1, e2 = [], [], []
    for r in gpu["rows"]:
        t = simrow.get((r["file"], r["launch"]))
        for s in ("cg", "cg-carveout"):
            if not t or s not in r or s not in t or "error" in r[s] or "error" in t[s]:
                continue
            w = r[s]["warps"]
            want = {"bpa", "cha", w // 4, w // 2, 3 * w // 4}
            d1, d2 = [], []
            for p, q in zip(all_points(r[s]), all_points(t[s])):
                if p["pi"] not in want:
                    continue
                a, b = p["counters"].get("l1.hit_rate"), q["counters"].get("l1.hit_rate")
                if a is not None and b is not None:
                    d1.append(abs(a - b))
                a, b = p["counters"].get("l2.hit_rate"), q["counters"].get("l2.hit_rate")
                if a is not None and b is not None:
                    d2.append(abs(min(a, 100) - b))      # hits and reads come from different passes on the GPU
            e1 += d1
            e2 += d2
            c, cs = r[s]["cha"]["counters"], t[s]["cha"]["counters"]
            rows.append([r["file"], "full L1" if s == "cg" else "carve-out 100", f(c.get("l1.hit_rate")), f(cs.get("l1.hit_rate")), f(sum(d1) / len(d1) if d1 else None),
                         f(c.get("l2.hit_rate")), f(cs.get("l2.hit_rate")), f(sum(d2) / len(d2) if d2 else None)])
    table(["kernel", "L1 size", "L1 hit % at cha, measured", "simulated", "mean |error| over 5 points", "L2 hit % at cha, measured", "simulated", "mean |error|"], rows)
    if e1:
        print("Mean absolute error over all points: L1 %.2f points (n=%d), L2 %s points (n=%d).\n" % (sum(e1) / len(e1), len(e1), f(sum(e2) / len(e2) if e2 else None), len(e2)))

    print("## Curves: simulated against measured\n")
    again = {(r["file"], r["launch"]): r for r in json.load(open(sys.argv[3]))["rows"]} if len(sys.argv) > 3 else {}
    rows, sums = [], {}
    for r in gpu["rows"]:
        key = (r["file"], r["launch"])
        for s in ("cg", "cg-carveout", "na"):
            c = curve(r.get(s), simrow.get(key, {}).get(s))
            if not c:
                continue
            g = curve(r[s], again.get(key, {}).get(s))
            tally(sums, s, c, "simulated")
            tally(sums, s, curve(r[s], simrow[key][s], False), "simulated, without bpa and cha")
            tally(sums, s, g, "measured again")
            rows.append([r["file"], s, "%.0f %%" % (100 * c["varies"]), f(c["rank"]) if c["varies"] > 0.05 else "flat", c["best"], c["pick"],
                         "%+.1f %%" % (100 * c["cost"]), "%.2f" % c["ratio"]] + ([f(g["rank"]) if g and c["varies"] > 0.05 else ""] if again else []))
    table(["kernel", "sweep", "measured variation", "rank correlation over π", "best π measured", "best π simulated", "cost of taking the simulated best",
           "simulated / measured time"] + (["rank, measured again"] if again else []), rows)
    print("Curves whose measured times vary by more than 5 % and reach 20 µs:\n")
    table(["sweeps", "side", "curves", "rank correlation of 0.9 or more", "best costs at most 5 %"],
          [[k[1], k[0], v[0], v[1], v[2]] for k, v in sorted(sums.items(), reverse=True)])

main()
