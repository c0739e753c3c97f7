#!/usr/bin/env python3
"""What a document of `gpulocw paper ID --json` must hold: its keys, a note where a row has no value, means that are the rows'.

    tests/tool/papers_contract.py FILE...     prints each fault as FILE: FAULT; exit status 1 when there is one
"""
import json, math, sys

def value_faults(where, series, names):
    if not isinstance(series, dict) or list(series) != names:
        yield "%s: series %s, elsewhere %s" % (where, list(series), names)
        return
    for name, v in series.items():
        if not isinstance(v, dict) or not {"ours", "paper"} <= set(v):
            yield "%s: %s has not the keys ours and paper" % (where, name)
            continue
        for key in ("ours", "paper"):
            x = v[key]
            if isinstance(x, bool) or not (x is None or isinstance(x, (int, float, str))):
                yield "%s: %s.%s is %r" % (where, name, key, x)
            elif isinstance(x, float) and not math.isfinite(x):
                yield "%s: %s.%s is not finite" % (where, name, key)

def row_faults(i, r, names):
    where = "row %d" % i
    for key in ("application", "platform", "series"):
        if key not in r:
            yield "%s: no %s" % (where, key)
            return
    for key in ("application", "platform"):
        if not (r[key] is None or isinstance(r[key], str) and r[key]):
            yield "%s: %s is %r" % (where, key, r[key])
    yield from value_faults(where, r["series"], names)
    if all(v["ours"] is None for v in r["series"].values()) and not r.get("note"):
        yield "%s: no value, and no note that says why" % where

def mean(kind, rows, name):
    v = [r["series"][name]["ours"] for r in rows]
    v = [x for x in v if isinstance(x, (int, float))]
    if kind == "arithmetic":
        return sum(v) / len(v) if v else None
    return math.exp(sum(map(math.log, v)) / len(v)) if v and all(x > 0 for x in v) else None

def mean_faults(d):
    """the means are those of the rows, by platform and class"""
    for m in d["means"] if d.get("mean") in ("geometric", "arithmetic") else []:
        rows = [r for r in d["rows"] if r["platform"] == m["platform"] and m["class"] in (None, r["class"])]
        for name, v in m["series"].items():
            want = mean(d["mean"], rows, name)
            if v["ours"] is not None and (want is None or abs(v["ours"] - want) > 1e-9 * abs(want)):
                yield "mean of %s, %s: %s is %s, the rows have %s" % (m["platform"], m["class"], name, v["ours"], want)

def faults(d, id_=None):
    if d.get("format") != "gpulocw-paper" or d.get("version") != 1:
        yield "format %r, version %r" % (d.get("format"), d.get("version"))
        return
    if id_ and d.get("id") != id_:
        yield "id %r, asked for %r" % (d.get("id"), id_)
    if not isinstance(d.get("title"), str) or not d["title"]:
        yield "no title"
    if not isinstance(d.get("rows"), list) or not d["rows"]:
        yield "no rows"
        return
    names = list(d["rows"][0].get("series", {}))
    for i, r in enumerate(d["rows"]):
        yield from row_faults(i, r, names)
    if not isinstance(d.get("geomean"), dict):
        yield "no geomean"
    else:
        yield from value_faults("geomean", d["geomean"], list(d["geomean"]) and names)
    yield from mean_faults(d)

def main():
    bad = 0
    for path in sys.argv[1:]:
        for fault in faults(json.load(open(path))):
            bad = 1
            print("%s: %s" % (path, fault))
    return bad

if __name__ == "__main__":
    sys.exit(main())
