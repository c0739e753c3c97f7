#!/usr/bin/env python3
"""docs/lab/papers-agreement.md, from what the experiments print.

    make papers-agreement                      runs every experiment (some minutes) and rewrites the page
    tests/tool/papers_agreement.py FOLDER     takes ID.json of that folder where it is there

Each document is held against papers_contract.py, the reasons that it prints against papers_claims.py, and each experiment against two minutes on two processors (240 s of
processor time, so that other work on the machine does not count); exit status 1 where one fails.

Agreement counts the figures that a paper's text gives: the same word, or within a tenth and within a quarter of the paper's value.
"""
import json, math, os, resource, subprocess, sys
from papers_claims import false_claims
from papers_contract import faults

CPU_MOST = 240
B = os.environ.get("GPULOCW", "build/gpulocw")

def cpu():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime

def result(e, folder):
    """the document, and the processor time that it took"""
    path = os.path.join(folder, e["id"] + ".json") if folder else ""
    if path and os.path.exists(path):
        d = json.load(open(path))
        return d, d.get("cpu_s", math.nan)
    before = cpu()
    d = json.loads(subprocess.run([B, "paper", e["id"], "--json"], capture_output=True, text=True, check=True).stdout)
    d["cpu_s"] = cpu() - before
    if folder:
        json.dump(d, open(path, "w"))
    return d, d["cpu_s"]

def figures(d):
    """(name, ours, paper) of every figure that stands beside one of the paper's"""
    for kind in ("rows", "means"):
        for r in d[kind]:
            name = " ".join(x for x in (r.get("application") or r.get("class") or "G-M", r.get("point"), r["platform"] if kind == "means" else None) if x)
            for s, v in r["series"].items():
                if v["paper"] is not None and s != "by probes": # the class by analysis counts
                    yield "%s %s" % (name, s), v["ours"], v["paper"]
    for f in d["facts"]:
        if f["paper"] is not None and d["id"] != "s3-classes": # there it counts the rows
            yield f["name"], f["ours"], f["paper"]

def away(ours, paper):
    if ours is None:
        return math.inf
    if isinstance(paper, str) or isinstance(ours, str):
        return 0 if ours == paper else math.inf
    if paper == 0:
        return 0 if ours == 0 else math.inf
    return abs(ours / paper - 1)

def short(v):
    return v if isinstance(v, str) else "n/a" if v is None else "%.3g" % v

def agreement(d):
    all_ = list(figures(d))
    if not all_:
        return "the text gives no number"
    near = [away(o, p) for _, o, p in all_]
    words = all(isinstance(p, str) for _, _, p in all_)
    text = "%d of %d the same" % (sum(x == 0 for x in near), len(near)) if words else "%d of %d within 10 %%, %d within 25 %%" % (sum(x <= .1 for x in near), len(near), sum(x <= .25 for x in near))
    far = max(range(len(near)), key=lambda i: (near[i], -i))
    if near[far] > .1:
        text += "; farthest %s: %s, paper %s" % (all_[far][0], short(all_[far][1]), short(all_[far][2]))
    return text

def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else ""
    lines = ["# How far does each figure of the papers agree?", "",
             "Made by `make papers-agreement` from the JSON of the commands (some minutes). It counts the figures that a paper's text gives.",
             "[papers-figures.md](papers-figures.md) has what each experiment shows, and what cannot agree.", "",
             "Processor time is of all threads together; two minutes on two processors are 240 s.", "",
             "| command | agreement | processor time |", "|---|---|---|"]
    bad = 0
    for e in json.loads(subprocess.run([B, "paper", "--json"], capture_output=True, text=True, check=True).stdout)["experiments"]:
        print(e["id"], file=sys.stderr, flush=True)
        d, seconds = result(e, folder)
        wrong = list(faults(d, e["id"])) + false_claims(d) + (["%.0f s of processor time" % seconds] if seconds > CPU_MOST else [])
        for w in wrong:
            print("%s: %s" % (e["id"], w), file=sys.stderr)
        bad |= bool(wrong)
        lines.append("| `gpulocw paper %s` | %s | %s |" % (e["id"], agreement(d), "n/a" if math.isnan(seconds) else "%.0f s" % seconds))
    open("docs/lab/papers-agreement.md", "w").write("\n".join(lines) + "\n")
    return int(bad)

sys.exit(main())
