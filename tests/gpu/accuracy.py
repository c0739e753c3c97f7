#!/usr/bin/env python3
"""How far the simulated device is from a GPU on kernels that nobody fitted, as tables: those of tests/suites, and launches of other folders.

    tests/gpu/accuracy.py record -d cuda:0 -o tests/gpu/accuracy-h200.jsonl            on a machine with a GPU; goes on where it was cut off
    tests/gpu/accuracy.py record -d cuda:0 -o again.jsonl --half held-out --total 80   less at a time
    tests/gpu/accuracy.py record -d sim:hopper-h200 -o sim.jsonl                       anywhere
    tests/gpu/accuracy.py record -d cuda:0 -o q.jsonl --launches tests/questions       other launches (repeatable); --draw N --seed S: N of them
    tests/gpu/accuracy.py table tests/gpu/accuracy-h200.jsonl sim.jsonl                the table; --half, --each for every kernel
    tests/gpu/accuracy.py tables own=GPU,SIM questions=GPU,SIM public=GPU,SIM          side by side

A record is one line of JSON. Kinds: run (time, counters, outputs), exact (with --exact), again (run, later), agents (--cluster agent --index column),
carveout (with the smallest L1), pi and pi-again (the curve), advice (what tune advises on the simulated device), recommend (that, run on this one), predict (the time that the model gives).
"""
import argparse, concurrent.futures, json, math, os, subprocess, sys, time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
SUITES = os.path.join(HERE, "..", "suites")
sys.path[:0] = [HERE, SUITES]
import launch_files, suites

KINDS = ("run", "exact", "carveout", "agents", "again", "pi", "pi-again", "recommend", "predict", "advice")
COUNTERS = ("l1.sectors_per_request", "l1.hit_rate", "l2.hit_rate", "dram.read_bytes", "inst.warp")
AGENTS = ["--cluster", "agent", "--index", "column"]
SMALLEST_L1 = ["--carveout", "100"]

# ---- recording ----

def call(a, words, limit):
    """The JSON document that gpulocw prints; a text where there is none."""
    threads = ["-t", "1"] if a.parallel > 1 and "-t" not in words else []
    try:
        r = subprocess.run([a.gpulocw] + words + threads + ["--json"], capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return "timed out after %g s" % limit
    try:
        return json.loads(r.stdout)
    except ValueError:
        return (r.stderr.strip() or "exit %d" % r.returncode)[:300]

def short(v):
    return v if v is None or isinstance(v, int) else float("%.6g" % v)

def result(d):
    if isinstance(d, str):
        return {"error": d}
    t = d.get("time_ns") or {}
    out = {"time_ns": t.get("median"), "min_ns": t.get("min"), "max_ns": t.get("max"), "outputs": {o["name"]: o["hash"] for o in d.get("outputs", [])},
           "counters": {c["name"]: short(c["value"]) for c in d.get("counters", []) if c["name"] in COUNTERS and c.get("valid")}}
    if t.get("interval"):
        out["interval"] = [t["interval"]["low"], t["interval"]["high"]]
    out.update({k: d[k] for k in ("sampled", "regs_from") if d.get(k)})
    return dict(out, equal=d["equal_to_original"]) if "equal_to_original" in d else out

def modelled(d):
    return {"error": d} if isinstance(d, str) else {"time_ns": (d.get("original") or {}).get("time_ns")}

def curve(d):
    if isinstance(d, str):
        return {"error": d}
    points = [d["bpa"]] + d["points"] + [d["cha"]]
    return {"curve": [[str(p["pi"]), p["time_ns"] and p["time_ns"]["median"]] for p in points], "category": d["category"], "warps": d["warps_per_cta"]}

def option_words(options, plain):
    """The options of a result that differ from those of the original, as words of a command line."""
    words = []
    for k, v in options.items():
        if v != plain.get(k):
            words += ["--" + k] if v is True else [] if v is False else ["--" + k, str(v)]
    return words

def advise(a, suite, kernel, deadline):
    """What tune advises on the simulated device: words of options, or a text that says why there are none; None: no time was left."""
    left = deadline - time.time()
    r = a.known.get(("recommend", suite, kernel)) or a.known.get(("advice", suite, kernel))
    if r:
        return r["options"] if "options" in r else r["error"].removeprefix("tune: ")
    if left < 1:
        return None
    d = call(a, ["tune"] + words_of(a, suite, kernel) + ["-d", a.model, "--budget", str(a.budget), "-t", "1"], min(150, left))
    if isinstance(d, str) and time.time() >= deadline:
        return None
    if isinstance(d, str):
        return d
    return option_words(d["recommended"], d["original"]["options"]) if d["recommended"] and not d["leave_alone"] else []

def words_of(a, suite, kernel):
    """The launch, as words of a command line."""
    text, file, name = a.rows[suite, kernel]
    return [text, "-l", file, "-k", name]

def by_turns(a, words, advice):
    """The rewritten kernel against the original, by turns: a median of medians of each, so that a clock that changes changes both."""
    whole = ["--exact"] if a.device.startswith("sim:") else []
    turns = [[result(call(a, ["run"] + words + w + ["--no-counters"] + whole, a.limit)) for w in ([], advice)] for _ in range(a.turns if advice else 1)]
    if any(r.get("time_ns") is None for pair in turns for r in pair):
        return next(r for pair in turns for r in pair if r.get("time_ns") is None)
    middle = lambda which: sorted(turns, key=lambda pair: pair[which]["time_ns"])[len(turns) // 2][which]
    # the advice to leave it alone is the original: what it measured twice would be the noise
    return dict(middle(1 if advice else 0), original_ns=middle(0)["time_ns"], turns=len(turns))

def simulated_agents(a, words):
    """The time as run prints it, which may be a sample's; and both kernels' as whole launches, which is what tune compares."""
    r = result(call(a, ["run"] + words + AGENTS + ["--no-counters"], a.limit))
    whole = [result(call(a, ["run"] + words + w + ["--no-counters", "--exact"], a.limit)).get("time_ns") for w in ([], AGENTS)]
    return r if r.get("time_ns") is None or None in whole else dict(r, whole_original_ns=whole[0], whole_ns=whole[1])

def measure(a, kind, suite, kernel, advice):
    words = words_of(a, suite, kernel) + ["-d", a.device]
    if kind in ("pi", "pi-again"):
        return curve(call(a, ["sweep"] + words + ["--axis", "pi", "--no-counters"], a.limit))
    if kind == "predict":
        return modelled(call(a, ["predict"] + words, a.limit))
    if kind == "agents":
        return by_turns(a, words, AGENTS) if a.device.startswith("cuda:") else simulated_agents(a, words)
    if kind in ("recommend", "advice"):
        if not isinstance(advice, list):
            return {"error": "tune: %s" % advice}
        if kind == "advice":
            return {"options": advice}
        return dict(by_turns(a, words, advice), options=advice)
    return result(call(a, ["run"] + words + {"carveout": SMALLEST_L1, "exact": ["--exact"]}.get(kind, []), a.limit))

def model_commit():
    """The last commit that changed the model; None: this is no checkout."""
    r = subprocess.run(["git", "log", "-1", "--format=%h", "--", "engine/sim"], capture_output=True, text=True, cwd=HERE + "/../..")
    return r.stdout.strip() or None

def rows_of(a):
    """{(suite, kernel): (PTX, launch file, name)}: of tests/suites, or of --launches."""
    if not a.launches:
        return {(s, k): (os.path.join(SUITES, s + ".ptx"), os.path.join(SUITES, s + ".launch.json"), k) for s, k, half in suites.rows() if a.half in ("both", half)}
    a.found = launch_files.found(a.launches)
    if a.of:
        return {k[1:]: a.found[k[1:]] for k in load(a.of)[0] if k[1:] in a.found}
    return {k: a.found[k] for k in launch_files.draw(a.found, a.draw, a.seed, a.most)} if a.draw else a.found

def about(a):
    """What the records share: device, its clock, version of the program, date."""
    d = call(a, ["run", os.path.join(SUITES, "misc.ptx"), "-k", "fnv-small", "-d", a.device], a.limit)
    v = subprocess.run([a.gpulocw, "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    if isinstance(d, str):
        sys.exit("accuracy: %s: %s" % (a.device, d))
    return {"device": d["device"]["name"], "spec": a.device, "kind": d["device"]["kind"], "clock_khz": d["device"]["clock_khz"],
            "version": v, "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()), "model": a.frozen or model_commit(), "drawn": a.draw and [a.draw, a.seed, len(a.found)]}

def record(a):
    start, have, a.found = time.time(), set(), {}
    a.known = load(a.advice)[0] if a.advice else {}
    if os.path.exists(a.out):
        have = {(r["kind"], r["suite"], r["kernel"]) for r in map(json.loads, open(a.out)) if "suite" in r and "error" not in r}
    a.rows = rows_of(a)
    todo = [(k, s, n) for k in a.kinds.split(",") for s, n in a.rows if (k, s, n) not in have]
    for t in todo:
        if t[0] not in KINDS:
            sys.exit("accuracy: no kind '%s'; there are %s" % (t[0], ", ".join(KINDS)))
    with open(a.out, "a") as f, concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        f.write(json.dumps({"about": about(a)}) + "\n")
        searched = start + 0.75 * a.total if a.total else math.inf
        advice = {t: pool.submit(advise, a, t[1], t[2], searched) for t in todo if t[0] in ("recommend", "advice")}
        if not a.device.startswith("sim:"):      # what is timed runs alone
            concurrent.futures.wait(advice.values())
        def one(t):
            if (a.total and time.time() - start > a.total) or (t in advice and advice[t].result() is None):
                return
            m = measure(a, *t, advice[t].result() if t in advice else None)
            f.write(json.dumps(dict({"kind": t[0], "suite": t[1], "kernel": t[2]}, **m), separators=(",", ":")) + "\n")
            f.flush()
        with concurrent.futures.ThreadPoolExecutor(a.parallel if a.device.startswith("sim:") else 1) as runs:
            list(runs.map(one, todo))
    print("%s: %d records, %.0f s" % (a.out, sum(1 for _ in open(a.out)), time.time() - start))

# ---- the table ----

def load(path):
    rows, info = {}, {}
    for r in map(json.loads, open(path)):
        if "about" in r:
            info = info or r["about"]
        else:
            rows[r["kind"], r["suite"], r["kernel"]] = r
    return rows, info

def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(dest="command", required=True)
    r = sub.add_parser("record")
    r.add_argument("-d", "--device", default="cuda:0")
    r.add_argument("-o", "--out", required=True)
    r.add_argument("--kinds", default=",".join(KINDS[:-1]))
    r.add_argument("--half", default="both", choices=["both", "development", "held-out"])
    r.add_argument("--total", type=float, default=0, help="seconds after which nothing new is started (0: no limit)")
    r.add_argument("--limit", type=float, default=60, help="seconds for one command")
    r.add_argument("--jobs", type=int, default=os.cpu_count(), help="searches on the simulated device at once (recommend)")
    r.add_argument("--model", default="sim:hopper-h200", help="the simulated device whose advice is tried (recommend)")
    r.add_argument("--turns", type=int, default=5, help="original and rewritten kernel by turns on a GPU, this often (agents, recommend)")
    r.add_argument("--advice", help="a record whose advice is tried again, instead of searching (recommend)")
    r.add_argument("--budget", type=int, default=15, help="launches of a search (recommend)")
    r.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "build/gpulocw"))
    r.add_argument("--launches", action="append", default=[], help="a launch description or a folder of them, instead of tests/suites (repeatable)")
    r.add_argument("--draw", type=int, default=0, help="so many of --launches")
    r.add_argument("--most", type=int, default=2, help="of one folder, in a draw (0: as many as come)")
    r.add_argument("--seed", type=int, default=0, help="of the draw")
    r.add_argument("--of", help="those of --launches that stand in this record")
    r.add_argument("--parallel", type=int, default=1, help="runs on a simulated device at once, each on one thread")
    r.add_argument("--frozen", help="the commit at which the model was frozen, where this is no checkout")
    ts = sub.add_parser("tables")
    ts.add_argument("sets", nargs="+", metavar="NAME=GPU,SIM")
    ts.add_argument("--each", action="store_true")
    t = sub.add_parser("table")
    t.add_argument("gpu")
    t.add_argument("sim")
    t.add_argument("--half", default="both", choices=["both", "development", "held-out"])
    t.add_argument("--each", action="store_true", help="a line for every kernel, too")
    a = p.parse_args()
    if a.command == "record":
        return record(a)
    import accuracy_table
    (accuracy_table.side_by_side if a.command == "tables" else accuracy_table.main)(a, load)

main()
