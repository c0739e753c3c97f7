"""The table of accuracy.py, from two records: a GPU's and a simulated device's. What no record holds is n/a."""
import math

import accuracy_intervals
import suites
from ranks import corr, ranks

def gmean(v):
    return math.exp(sum(map(math.log, v)) / len(v)) if v else None

def f(v, form="%.2f"):
    return "n/a" if v is None else form % v

def share(v):
    return "%d of %d" % (sum(v), len(v)) if v else "n/a"

def time_of(rows, kind, key):
    r = rows.get((kind,) + key)
    return r["time_ns"] if r and "error" not in r and r.get("time_ns") else None

def pairs(keys, one, other):
    """What both sides have: (key, value, other value)."""
    return [(k, a, b) for k, a, b in ((k, one(k), other(k)) for k in keys) if a is not None and b is not None]

def times(ps):
    """Within 25 %, geometric mean of the ratio, correlation of the logarithm, worst ratio."""
    r = [b / a for _, a, b in ps]
    c = corr([math.log(a) for _, a, _ in ps], [math.log(b) for _, _, b in ps]) if len(ps) > 2 else None
    worst = max(ps, key=lambda p: abs(math.log(p[2] / p[1]))) if ps else None
    return [share([0.8 <= x <= 1.25 for x in r]), f(gmean(r)), f(c, "%.3f"), "n/a" if not worst else "%.2f (%s)" % (worst[2] / worst[1], worst[0][1])]

def counter(rows, kind, name):
    def get(k):
        r = rows.get((kind,) + k)
        return None if not r or "error" in r else r["counters"].get(name)
    return get

def points(name, gpu, kind, sim, keys, here="run"):
    """Mean, worst and share within 5 points of a rate's difference."""
    d = [abs(min(a, 100) - min(b, 100)) for _, a, b in pairs(keys, counter(gpu, here, name), counter(sim, kind, name))]
    return "n/a" if not d else "%.2f points, worst %.0f; %s within 5" % (sum(d) / len(d), max(d), share([x <= 5 for x in d]))

def same_sectors(gpu, kind, sim, keys):
    p = pairs(keys, counter(gpu, "run", "l1.sectors_per_request"), counter(sim, kind, "l1.sectors_per_request"))
    return share([abs(a - b) <= 0.001 * max(abs(a), 1e-9) for _, a, b in p])

def curve_of(rows, kind, key):
    r = rows.get((kind,) + key)
    return r if r and "error" not in r else None

def named(o):
    """The point that the verdict of this sweep names (pi_verdict of engine/tune/sweep_stats.c): the original where no threshold beats it, bpa where
    nothing beats that, else the fastest."""
    at = {"cache-favourite": "cha", "cache-insensitive": "cha", "bypass-favourite": "bpa"}.get(o["category"])
    times = {pi: t for pi, t in o["curve"] if t}
    return at if at in times else min(times, key=times.get)

def curves(gpu, other, kind, keys):
    """Ranks of the curves that move by 5 % on the GPU, categories of all, costs at what the other side's verdict names."""
    rank, same, cost = [], [], []
    for k in keys:
        g, o = curve_of(gpu, "pi", k), curve_of(other, kind, k)
        if not g or not o:
            continue
        there = dict(map(tuple, o["curve"]))
        p = [(a, there.get(pi)) for pi, a in g["curve"] if a and there.get(pi)]
        same.append(g["category"] == o["category"])
        if len(p) < 3 or max(a for a, _ in p) < 1.05 * min(a for a, _ in p):
            continue
        c = corr(ranks([a for a, _ in p]), ranks([b for _, b in p]))
        rank.append(0.0 if c is None else c)             # a flat prediction of a curve that moves orders nothing
        here = dict(map(tuple, g["curve"]))
        cost.append((here.get(named(o)) or min(p, key=lambda q: q[1])[0]) / min(a for a, _ in p) - 1)
    return ["%s; mean %s" % (share([r >= 0.9 for r in rank]), f(sum(rank) / len(rank))) if rank else "n/a", share(same),
            "%s; worst %.1f %%" % (share([c <= 0.05 for c in cost]), 100 * max(cost)) if cost else "n/a"]

def agents(gpu, sim, keys):
    """Ratios original over agents: same sign (losses and gains below 2 % have none), correlation of the logarithm."""
    def ratio(rows):
        def get(k):
            a, b = accuracy_intervals.agent_times(rows, k)
            return a / b if a and b else None
        return get
    p = [(math.log(a), math.log(b)) for _, a, b in pairs(keys, ratio(gpu), ratio(sim))]
    sign = lambda v: 0 if abs(v) < 0.02 else 1 if v > 0 else -1
    if not p:
        return "n/a"
    return "same sign %s; correlation %s; geometric mean on the GPU %s, simulated %s" % (
        share([sign(a) == sign(b) for a, b in p]), f(corr([a for a, _ in p], [b for _, b in p]) if len(p) > 2 else None),
        f(math.exp(sum(a for a, _ in p) / len(p))), f(math.exp(sum(b for _, b in p) / len(p))))

def advice(gpu, keys):
    """Original over what tune advises without a GPU, both timed on the GPU. A result with other outputs is counted and gains nothing."""
    p = pairs(keys, lambda k: gpu.get(("recommend",) + k, {}).get("original_ns") or time_of(gpu, "run", k), lambda k: time_of(gpu, "recommend", k))
    differs = {k for k, _, _ in p if gpu["recommend", *k].get("equal") is False}
    wrong = len(differs)
    r = [a / b for k, a, b in p if k not in differs]
    if not r:
        return "n/a"
    return "%s geometric mean of %d; %d gain more than 5 %%, %d lose more than 3 %%; worst %.2f; %d with other outputs" % (
        f(gmean(r), "%.3fx"), len(r), sum(x > 1.05 for x in r), sum(x < 0.97 for x in r), min(r), wrong)

def table(gpu, sim, keys):
    time = lambda rows, kind: lambda k: time_of(rows, kind, k)
    st, gt = times(pairs(keys, time(gpu, "run"), time(sim, "run"))), times(pairs(keys, time(gpu, "run"), time(gpu, "again")))
    sc, gc = curves(gpu, sim, "pi", keys), curves(gpu, gpu, "pi-again", keys)
    ran = lambda rows: lambda k: rows["run", *k]["outputs"] if time_of(rows, "run", k) else None
    hashes = pairs(keys, ran(gpu), ran(sim))
    rows = [["time within 25 %", st[0], gt[0]], ["geometric mean of the ratio of times", st[1], gt[1]], ["correlation of log time", st[2], gt[2]],
            ["worst ratio of times", st[3], gt[3]], ["outputs bit-identical", share([a == b for _, a, b in hashes]), "–"],
            ["sectors per request equal", same_sectors(gpu, "run", sim, keys), same_sectors(gpu, "again", gpu, keys)]]
    for name, text in (("l1.hit_rate", "L1 hit rate"), ("l2.hit_rate", "L2 hit rate")):
        rows.append([text, points(name, gpu, "run", sim, keys), points(name, gpu, "again", gpu, keys)])
    rows.insert(-1, ["L1 hit rate at carve-out 100", points("l1.hit_rate", gpu, "carveout", sim, keys, "carveout"), "–"])
    rows += [["curves that move by 5 %: rank of at least 0.9", sc[0], gc[0]], ["category of the curve", sc[1], gc[1]],
             ["cost at the predicted best π (what the verdict names): at most 5 %", sc[2], gc[2]], ["agents by column", agents(gpu, sim, keys), "–"],
             ["tune's advice without a GPU, run on the GPU", advice(gpu, keys), "–"]]
    return rows

def show(title, head, rows):
    print("## %s\n\n| " % title + " | ".join(head) + " |\n|" + "---|" * len(head))
    for r in rows:
        print("| " + " | ".join(r) + " |")
    print()

def near(sim, keys):
    """Sampled runs within 5 % of exact ones, of those whose exact run ended."""
    r = [a / b for _, a, b in pairs(keys, lambda k: time_of(sim, "run", k), lambda k: time_of(sim, "exact", k))]
    return "%s; worst %.2f" % (share([abs(x - 1) <= 0.05 for x in r]), max(r, key=lambda x: abs(math.log(x)))) if r else "n/a"

def inside(gpu, sim, keys):
    """Intervals printed with the simulated times that hold the GPU's."""
    p = pairs(keys, lambda k: time_of(gpu, "run", k), lambda k: sim.get(("run",) + k, {}).get("interval"))
    return share([low <= t <= high for _, t, (low, high) in p])

def side_by_side(a, load):
    """One column for each set of kernels: NAME=GPU,SIM."""
    columns = []
    for word in a.sets:
        name, _, files = word.partition("=")
        (gpu, g), (sim, s) = map(load, files.split(","))
        keys = sorted({k[1:] for k in gpu if k[0] == "run"})
        print("%s: %s (%s, %s; model of commit %s) against %s (%s)%s" % (name, s.get("spec"), s.get("version"), s.get("date"), s.get("model"), g.get("device"), g.get("date"),
              "; %d drawn by seed %d from %d" % tuple(g["drawn"]) if g.get("drawn") else ""))
        rows = table(gpu, sim, keys) + [["sampled within 5 % of exact", near(sim, keys), ""], ["intervals that hold the GPU's time", inside(gpu, sim, keys), ""]]
        columns.append((name, len(keys), rows))
        if a.each:
            each(name, gpu, sim, keys)
    print()
    show("Side by side", ["what"] + ["%s, %d kernels" % c[:2] for c in columns], [[row[0]] + [c[2][i][1] for c in columns] for i, row in enumerate(columns[0][2])])

def each(title, gpu, sim, keys):
    """A row for every kernel that both have, the worst first."""
    us = lambda rows, kind, k: f(time_of(rows, kind, k) and time_of(rows, kind, k) / 1e3)
    rate = lambda rows, k: ", ".join(f(counter(rows, "run", c)(k), "%.0f") for c in ("l1.hit_rate", "l2.hit_rate"))
    ps = sorted(pairs(keys, lambda k: time_of(gpu, "run", k), lambda k: time_of(sim, "run", k)), key=lambda p: -abs(math.log(p[2] / p[1])))
    show("each, %s" % title, ["kernel", "GPU µs", "simulated µs", "ratio", "exact µs", "L1, L2 on the GPU", "simulated"],
         [["/".join(k), f(p / 1e3), f(q / 1e3), f(q / p), us(sim, "exact", k), rate(gpu, k), rate(sim, k)] for k, p, q in ps])
    left = [k for k in keys if not time_of(gpu, "run", k) or not time_of(sim, "run", k)]
    for k in left:
        why = gpu["run", *k].get("error") or ("does not run on the GPU" if not time_of(gpu, "run", k) else sim.get(("run",) + k, {}).get("error", "not simulated"))
        print("no time: %s: %s" % ("/".join(k), why))

def main(a, load):
    (gpu, g), (sim, s) = load(a.gpu), load(a.sim)
    print("%s (%s, %s) against %s (%s).\n" % (s.get("spec"), s.get("version"), s.get("date"), g.get("device"), g.get("date")))
    if g.get("kind") == "simulated":
        print("The first record is of a simulated device: no figure below is about a GPU.\n")
    for half in ("development", "held-out") if a.half == "both" else (a.half,):
        keys = [(x, k) for x, k, h in suites.rows() if h == half]
        show("%s, %d kernels" % (half, len(keys)), ["what", "simulated against the GPU", "the GPU against itself"], table(gpu, sim, keys))
        if a.each:
            each(half, gpu, sim, keys)
    accuracy_intervals.show(gpu, sim)
