#!/usr/bin/env python3
"""Degree of coalescing against L1 hit rate: the coalescing paper's claims, tried on the demo kernels.

    tests/gpu/collect.py --device cuda:0 --launches h200 -o gpu.json
    tests/gpu/degree.py gpu.json --sim sim:fermi-16k --svg docs/lab/coalesce.svg

Hit rates and sectors per request come from the collection (measured, every load caching); degree, expected
and exact sectors and the predicted hit rate from `gpulocw analyze --json` of the same launch. With --sim every
kernel's own first launch is also run on that simulated device.
"""
import argparse, json, math, os, subprocess, sys

sys.dont_write_bytecode = True
from ranks import corr, ranks

KEPT = 20.0      # percent of line touches that find their line again in an unbounded cache: below, nothing to hit

def call(cmd, limit):
    try:
        r = subprocess.run(cmd, capture_output=True, text=True, timeout=limit)
        return json.loads(r.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return None

def analysed(a, ptx, launch, device):
    d = call([a.gpulocw, "analyze", ptx, "--kernel", launch, "--device", device, "--json"], a.limit)
    k = d and d.get("kernels") and d["kernels"][0]
    if not k or not k["coalesce"]:
        return None
    c = k["curve"] or {}
    at = [p for p in c.get("points", []) if p["mark"] == "L1"]
    every = c.get("points", [])
    return {"class": k["class"], "degree": 100 * k["coalesce"]["degree"], "expected": k["coalesce"]["expected_sectors"],
            "exact": k["exact"] and k["exact"]["sectors_per_request"],
            "predicted": 100 * (1 - at[0]["miss"]) if at else None, "most": 100 * (1 - every[-1]["miss"]) if every else None}

def measured(a):
    rows = []
    for r in json.load(open(a.collection))["rows"]:
        s = r.get("cg") or {}
        c = (s.get("cha") or {}).get("counters") or {}
        if c.get("l1.hit_rate") is None:
            continue
        k = analysed(a, "kernels/%s.ptx" % r["file"], r["launch"], a.preset)
        if not k:
            print("%s %s: no analysis within %g s: left out" % (r["file"], r["launch"], a.limit), file=sys.stderr)
        else:
            rows.append(dict(k, name=r["file"], hit=c["l1.hit_rate"], sectors=c["l1.sectors_per_request"], device=s.get("device")))
    return rows

def simulated(a):
    rows = []
    for f in sorted(os.listdir("kernels")):
        if not f.endswith(".launch.json"):
            continue
        d, seen = json.load(open("kernels/" + f)), set()
        for l in d.get("launches") or [d]:
            kernel = l.get("kernel") or d.get("kernel")
            if kernel in seen:
                continue
            seen.add(kernel)
            name, ptx = l.get("name") or kernel, "kernels/%s.ptx" % f[:-12]
            r = call([a.gpulocw, "run", ptx, "--kernel", name, "--device", a.sim, "--json"], a.limit)
            c = {x["name"]: x["value"] for x in (r or {}).get("counters", []) if x["valid"]}
            k = analysed(a, ptx, name, a.sim)
            if k and c.get("l1.hit_rate") is not None:
                rows.append(dict(k, name=kernel, file=f[:-12], hit=c["l1.hit_rate"], sectors=c.get("l1.sectors_per_request")))
    return rows

def number(v, form="%.1f"):
    return "n/a" if v is None else form % v

def table(rows):
    print("| kernel | class | degree % | L1 hit % | predicted hit % | hit % of an unbounded cache | expected sectors | exact | counted |\n|---|---|---|---|---|---|---|---|---|")
    for r in sorted(rows, key=lambda r: (r["degree"], r["name"])):
        print("| %s | %s | %.1f | %.1f | %s | %s | %.2f | %s | %s |" % (r["name"], r["class"], r["degree"], r["hit"], number(r["predicted"]), number(r["most"]), r["expected"],
              number(r["exact"], "%.2f"), number(r["sectors"], "%.2f")))
    print()

def line(what, rows, x, y):
    rows = [r for r in rows if r[x] is not None and r[y] is not None]
    a, b = [r[x] for r in rows], [r[y] for r in rows]
    p, s = (corr(a, b), corr(ranks(a), ranks(b))) if len(a) > 2 else (None, None)
    print("| %s | %d | %s | %s |" % (what, len(rows), number(p, "%.2f"), number(s, "%.2f")))

def claims(rows):
    reused = [r for r in rows if r["most"] is not None and r["most"] >= KEPT]
    print("| pair | kernels | linear correlation | rank correlation |\n|---|---|---|---|")
    line("degree, L1 hit rate: all", rows, "degree", "hit")
    line("degree, L1 hit rate: kernels with something to hit (unbounded cache hits %.0f %% or more)" % KEPT, reused, "degree", "hit")
    line("predicted hit rate (reuse distances), L1 hit rate", rows, "predicted", "hit")
    line("expected sectors (paper), counted sectors per request", rows, "expected", "sectors")
    line("exact sectors, counted sectors per request", rows, "exact", "sectors")
    print()
    high, low = [r for r in rows if r["degree"] > 70], [r for r in rows if r["degree"] <= 70]
    print("Degree above 70 %%: %d kernels, of which %d hit more than 60 %%. Degree of 70 %% or less: %d kernels, of which %d hit more than 60 %%."
          % (len(high), sum(r["hit"] > 60 for r in high), len(low), sum(r["hit"] > 60 for r in low)))
    gone = [r["name"] for r in high if r["hit"] <= 60 and (r["most"] or 0) < KEPT]
    left = [r["name"] for r in high if r["hit"] <= 60 and (r["most"] or 0) >= KEPT]
    print("Of those with a high degree and fewer hits, an unbounded cache would hit less than %.0f %% in %s: nothing comes back%s." % (KEPT, ", ".join(gone) or "none",
          "; in %s what comes back does so too late for this cache, from another CTA, or only now and then" % ", ".join(left) if left else ""))
    walks = [r["name"] for r in low if r["hit"] > 60 and (r["sectors"] or 0) > 4]
    others = [r["name"] for r in low if r["hit"] > 60 and (r["sectors"] or 0) <= 4]
    print("Low degree, yet more than 60 %% hits: %s (each lane walks a line of its own and comes back to it)%s.\n"
          % (", ".join(walks) or "none", "; " + ", ".join(others) + " (few sectors, asked for again and again)" if others else ""))

def pairs(rows):
    same = {}
    for r in rows:
        same.setdefault(r["file"], []).append(r)
    held, broken, none = [], [], []
    for f, v in sorted(same.items()):
        for i in range(len(v)):
            for j in range(i):
                d, h = v[i]["degree"] - v[j]["degree"], v[i]["hit"] - v[j]["hit"]
                (none if abs(d) < 0.1 or abs(h) < 0.1 else held if d * h > 0 else broken).append(f)
    print("Two kernels of one file, the one with the higher degree hitting more (the paper's second claim): holds for %s; fails for %s; no difference in %s.\n"
          % (", ".join(held) or "none", ", ".join(broken) or "none", ", ".join(none) or "none"))

# ---- the picture ----
COLOUR = {"algorithm": "#1b6ca8", "cache-line": "#2e8b57", "data": "#b8860b", "write": "#a0307a", "streaming": "#777777", "unknown": "#000000"}

def panel(out, x0, rows, key, title, xlabel):
    size, y0 = 380, 50
    out.append('<rect x="%d" y="%d" width="%d" height="%d" fill="none" stroke="#444"/>' % (x0, y0, size, size))
    for t in range(0, 101, 20):
        p = size * t / 100
        out.append('<text x="%.1f" y="%d" class="n" text-anchor="middle">%d</text>' % (x0 + p, y0 + size + 15, t))
        out.append('<text x="%d" y="%.1f" class="n" text-anchor="end">%d</text>' % (x0 - 5, y0 + size - p + 4, t))
        out.append('<path d="M%.1f %dv%dM%d %.1fh%d" stroke="#ddd"/>' % (x0 + p, y0, size, x0, y0 + size - p, size))
    out.append('<text x="%d" y="%d" class="t">%s</text>' % (x0, y0 - 12, title))
    out.append('<text x="%d" y="%d" class="n" text-anchor="middle">%s</text>' % (x0 + size // 2, y0 + size + 34, xlabel))
    shown = sorted((r for r in rows if r[key] is not None), key=lambda r: (-r["hit"], r[key]))
    at = {r["name"]: (x0 + size * r[key] / 100, y0 + size * (1 - r["hit"] / 100)) for r in shown}
    taken = [(x - 5, x + 5, y - 5, y + 5) for x, y in at.values()] + [(x0, x0 + size, y0 + size - 1, y0 + size + 1)]
    for r in shown:
        (x, y), wide = at[r["name"]], 6 * len(r["name"])
        left = x > x0 + size * 0.7
        lo = x - 8 - wide if left else x + 8
        free = lambda b: not any(b[0] < u[1] and u[0] < b[1] and b[2] < u[3] and u[2] < b[3] for u in taken)
        boxes = ((lo, lo + wide, y - 4 + s, y + 5 + s) for k in range(40) for s in (10 * k, -10 * k))
        box = next((b for b in boxes if y0 < b[2] and b[3] < y0 + size and free(b)), (lo, lo + wide, y - 4, y + 5))
        taken.append(box)
        if abs(box[3] - 5 - y) > 5:
            out.append('<path d="M%.1f %.1fL%.1f %.1f" stroke="#bbb"/>' % (x, y, box[1] if left else box[0], box[3] - 5))
        out.append('<circle cx="%.1f" cy="%.1f" r="4" fill="%s"><title>%s: %.1f, %.1f</title></circle>' % (x, y, COLOUR[r["class"]], r["name"], r[key], r["hit"]))
        out.append('<text x="%.1f" y="%.1f" class="k" text-anchor="%s" fill="%s">%s</text>' % (box[1] if left else box[0], box[3] - 1, "end" if left else "start", COLOUR[r["class"]], r["name"]))

def svg(path, rows, device):
    out = ['<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 960 500" font-family="sans-serif">',
           "<style>.n{font-size:11px;fill:#333}.t{font-size:14px;fill:#111}.k{font-size:9px}</style>", '<rect width="960" height="500" fill="white"/>']
    panel(out, 60, rows, "degree", "Degree of coalescing (static)", "degree, %")
    panel(out, 540, rows, "predicted", "Hit rate from reuse distances (static)", "predicted L1 hit rate, %")
    out.append('<text x="20" y="240" class="n" text-anchor="middle" transform="rotate(-90 20 240)">L1 hit rate measured on %s, %%</text>' % device)
    x = 60
    for c in ("algorithm", "cache-line", "data", "write", "streaming"):
        out.append('<circle cx="%d" cy="486" r="4" fill="%s"/><text x="%d" y="490" class="n">%s</text>' % (x, COLOUR[c], x + 8, c))
        x += 95
    out.append("</svg>\n")
    open(path, "w").write("\n".join(out))

def main():
    p = argparse.ArgumentParser()
    p.add_argument("collection")
    p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "build/gpulocw"))
    p.add_argument("--preset", default="sim:hopper-h200", help="the measured device's sizes, for the prediction")
    p.add_argument("--sim", default="")
    p.add_argument("--svg", default="")
    p.add_argument("--limit", type=float, default=300, help="seconds for one kernel")
    a = p.parse_args()
    rows = measured(a)
    device = rows[0]["device"] if rows else "no device"
    print("# Does a high degree of coalescing go with a high hit rate?\n")
    print("**Hypothesis.** Yes: the coalescing paper says so.\n")
    print("**Experiment.** The demo kernels, each in its launch as written; made by `tests/gpu/degree.py` from a collection on a GPU and `gpulocw analyze --json`.\n")
    print("**Result.** The tables of correlations below: the row \"degree, L1 hit rate\" tests the hypothesis, the next ones what predicts hits instead.\n")
    print("## Measured on %s\n" % device)
    if a.svg:
        svg(a.svg, rows, device)
        print("![degree and predicted hit rate against the measured hit rate](%s)\n" % os.path.basename(a.svg))
    table(rows)
    claims(rows)
    if a.sim:
        rows = simulated(a)
        print("## Simulated: %s\n" % a.sim)
        print("Every kernel's first launch, all loads caching. These are the simulated device's counters, not a GPU's. Fermi's L1 fetches whole lines; the")
        print("prediction counts sectors, as later GPUs fetch them, and all warps of an SM in turn, so it is low where neighbouring sectors of a line follow.\n")
        table(rows)
        claims(rows)
        pairs(rows)

if __name__ == "__main__":
    sys.exit(main())
