#!/usr/bin/env python3
"""What an item of advice gains when it is run: the experience that ranges of expected gains rest on.

    tests/gpu/knob_gains.py advise -o advised.jsonl                            the items of advice for every kernel, and what they gain simulated
    tests/gpu/knob_gains.py measure advised.jsonl -d cuda:0 -o tests/gpu/knob-gains-h200.jsonl    the same items on a GPU, between two runs of the original
    tests/gpu/knob_gains.py table tests/gpu/knob-gains-h200.jsonl              the rows of engine/search/gain_records.def
    tests/gpu/knob_gains.py coverage tests/gpu/knob-gains-h200.jsonl           how many of 100 lie within the range that the other kernels' records give

Kernels: those of tests/suites, and the first launch of each demo kernel and its launch "h200" where there is one. A record is one line of JSON:
options, dimension (what the advice changes), expected (the model's ratio, null: a rule without the model), simulated and measured gain (null: it did not run).
"""
import argparse, concurrent.futures, glob, json, math, os, subprocess, sys, time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "suites")]

def call(a, words, limit):
    try:
        r = subprocess.run([a.gpulocw] + words + ["--json"], capture_output=True, text=True, timeout=limit)
        return json.loads(r.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return None

def kernels():
    import suites
    rows = [("tests/suites/%s.ptx" % s, n) for s, n, half in suites.rows()]
    for path in sorted(glob.glob("kernels/*.ptx")):
        d = json.load(open(path.replace(".ptx", ".launch.json")))
        names = [x.get("name") or x["kernel"] for x in d.get("launches", [d])]
        rows += [(path, n) for n in names[:1] + [n for n in names[1:] if n == "h200"]]
    return rows

def time_of(d):
    return d["time_ns"]["median"] if d and d.get("time_ns") and d.get("equal_to_original") in (True, None) else None

def ratio(was, now):
    return round(was / now, 4) if was and now else None

def advised(a, path, name):
    words = [path, "-k", name, "-d", a.model]
    d = call(a, ["tune"] + words + ["--budget", "1", "-t", "1"], a.limit)
    items = [x for x in (d or {}).get("advice") or [] if x["options_line"]]
    out = []
    for x in items:
        was, now = (time_of(call(a, ["run"] + words + o.split() + ["-t", "1"], a.limit)) for o in ("", x["options_line"]))
        out.append({"file": path, "kernel": name, "options": x["options_line"], "title": x["title"],
                    "expected": round(x["expected_gain"], 4) if x["expected_by_model"] else None, "simulated": ratio(was, now)})
    return out

def advise(a):
    with open(a.out, "w") as f, concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for rows in pool.map(lambda k: advised(a, *k), kernels()):
            f.writelines(json.dumps(r) + "\n" for r in rows)
            f.flush()

def measure(a):
    start, groups = time.time(), {}
    for r in map(json.loads, open(a.record)):
        groups.setdefault((r["file"], r["kernel"]), []).append(r)
    with open(a.out, "w") as f:
        for (path, name), rows in groups.items():
            if time.time() - start > a.total:
                break
            run = lambda o: time_of(call(a, ["run", path, "-k", name, "-d", a.device, "--no-counters"] + o.split(), a.limit))
            before = run("")
            times = [run(r["options"]) if before else None for r in rows]
            after = run("") if before else None
            for r, t in zip(rows, times):
                r["measured"] = ratio((before + after) / 2 if before and after else None, t)
                f.write(json.dumps(r) + "\n")
            f.flush()

# ---- the table ----

# Which row an item belongs to: the first of these that its options have. The same order as gain_family in engine/search/gain_record.c.
FAMILIES = (("BLOCK_SHAPE", ("--block", "--swap-xy")), ("SOFTWARE_CACHE", ("--softcache",)), ("CTA_ORDER", ("--cluster",)), ("COARSENING", ("--coarsen",)),
            ("LOAD_BYPASS", ("vertical",)), ("WARP_BYPASS", ("--bypass",)), ("L1_SIZE", ("--carveout",)), ("PREFETCHING", ("--prefetch",)),
            ("PERSISTENCE", ("--l2-persist",)), ("SHARED_LAYOUT", ("--swizzle-shared", "--smem-pad")))
LEAST = 1.05     # what the model must expect before an item is one that it recommends
BANDS = (("LITTLE", 0), ("SOME", LEAST), ("MORE", 2 ** 0.5), ("MUCH", 2))   # what the model expects: from here up. The same as gain_band in engine/search/gain_record.c
ENOUGH = 20      # records that a row needs

def family(options):
    words = options.split()
    return next((name for name, of in FAMILIES if any(w in words for w in of)), None)

def band(r):
    return [name for name, least in BANDS if (r["expected"] or 0) >= least][-1]

def spread(rows, key):
    """The tenth and the ninetieth of the gains."""
    v = sorted(r[key] for r in rows)
    out = max(0, int(0.1 * (len(v) + 1)) - 1)  # so many below, and above: of one more record a tenth is expected there
    return v[out], v[len(v) - 1 - out]

def expected(rows, r, key):
    """The range that the records `rows` say of r: its kind's, else, where the model expects a gain, that of all kinds; None: too few."""
    alike = [x for x in rows if x[key] and band(x) == band(r)]
    own = [x for x in alike if family(x["options"]) == family(r["options"])]
    if len(own) < ENOUGH:
        own = alike if band(r) != "LITTLE" else []
    return spread(own, key) if len(own) >= ENOUGH else None

def load(path):
    return [r for r in map(json.loads, open(path)) if "about" not in r]

def table(a):
    rows = load(a.record)
    print("/* X(family, what the model expects, records, low, high; the same on a GPU). Written by tests/gpu/knob_gains.py table. */")
    for expects, least in reversed(BANDS):
        for name in [f for f, of in FAMILIES] + (["ANY"] if least else []):
            words = []
            for key in ("simulated", "measured"):
                own = [r for r in rows if r[key] and band(r) == expects and name in ("ANY", family(r["options"]))]
                words.append("%d, %.2f, %.2f" % ((len(own),) + spread(own, key)) if len(own) >= ENOUGH else "%d, 0, 0" % len(own))
            if any(not w.endswith(", 0, 0") for w in words):
                print("X(%s, %s, %s, %s)" % (name, expects, *words))

def coverage(a):
    """Each kernel by the records of all others."""
    rows = load(a.record)
    for key in ("simulated", "measured"):
        within = [low <= r[key] <= high for r in rows if r[key]
                  for low, high in [expected([x for x in rows if (x["file"], x["kernel"]) != (r["file"], r["kernel"])], r, key) or (0, 0)] if high]
        print("%s: %d of %d within, %.0f of 100" % (key, sum(within), len(within), 100 * sum(within) / len(within)))

def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(dest="command", required=True)
    for name in ("advise", "measure", "table", "coverage"):
        c = sub.add_parser(name)
        if name != "advise":
            c.add_argument("record")
        c.add_argument("-o", "--out")
        c.add_argument("-d", "--device", default="cuda:0")
        c.add_argument("--model", default="sim:hopper-h200")
        c.add_argument("--jobs", type=int, default=os.cpu_count())
        c.add_argument("--limit", type=float, default=60)
        c.add_argument("--total", type=float, default=1e9, help="seconds after which nothing new is started")
        c.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "build/gpulocw"))
    a = p.parse_args()
    {"advise": advise, "measure": measure, "table": table, "coverage": coverage}[a.command](a)

main()
