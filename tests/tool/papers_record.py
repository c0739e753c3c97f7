#!/usr/bin/env python3
"""engine/paper/recorded.def, from documents of `gpulocw paper ID --json`: what `gpulocw paper claims` is tried on.

    papers_record.py FOLDER      takes the documents of FOLDER/*.json; a file has one or several (gpulocw paper ID... --json), of all
                                 platforms or of single ones. What no document is of stays as recorded. Documents are held
                                 against papers_contract.py, the reasons that they print against papers_claims.py.
    papers_record.py --check     runs the experiments of a second or less again: exit status 1 where a value is another
"""
import glob, json, math, os, re, subprocess, sys, time
from papers_claims import false_claims
from papers_contract import faults

B = os.environ.get("GPULOCW", "build/gpulocw")
OUT = "engine/paper/recorded.def"
SHORT = ["s1-tab1", "s1-fig2", "s1-fig3", "s2-cln", "s4-tab3", "s4-fig9", "s5-tab1"]
HEAD = """/* What the experiments came to, made by tests/tool/papers_record.py from their documents (make papers-record):
 * EVIDENCE("experiment", "date", "what the numbers are; how many of the paper's figures agree"), then
 * RECORDED(ROW|MEAN|FACT, "experiment", "platform", "of", "series", value, word), those that a statement asks for. of:
 * application and point; a mean's class, G-M or mean; a fact's name. */
"""

def value(v):
    return "NAN, \"%s\"" % v if isinstance(v, str) else "NAN, NULL" if v is None else "%.9g, NULL" % v

def quoted(s):
    return '"%s"' % (s or "").replace("\\", "\\\\").replace('"', '\\"')

def rows(d):
    for r in d["rows"]:
        of = " ".join(x for x in (r["application"], r["point"]) if x)
        for s, v in r["series"].items():
            yield "ROW", r["platform"], of, s, v["ours"]
    for m in d["means"]:
        of = m["class"] or ("G-M" if d["mean"] == "geometric" else "mean")
        for s, v in m["series"].items():
            yield "MEAN", m["platform"], of, s, v["ours"]
    for f in d["facts"]:
        yield "FACT", None, f["name"], "", f["ours"]

def tests():
    """What the statements are tried on: {(experiment, of, series): platforms}, and of `each` {(experiment, series): platforms}."""
    asked, each = {}, {}
    for c in json.loads(subprocess.run([B, "paper", "claims", "--json"], capture_output=True, text=True, check=True).stdout)["claims"]:
        test = c["test"] or ""
        for id_, platform, of, series in re.findall(r"\[([^]|]*)\|([^]|]*)\|([^]|]*)\|([^]|]*)\]", test):
            asked.setdefault((id_, of, series), set()).add(platform)
        rows_of = re.match(r"each ([^|]*)\|([^:]*):", test)
        for series in re.findall(r"\{([^}]*)\}", test) if rows_of else ():
            each.setdefault((rows_of[1], series), set()).add(rows_of[2])
    return asked, each

def is_asked(asked, each, id_, kind, platform, of, series):
    wanted = asked.get((id_, of, series), set()) | (each.get((id_, series), set()) if kind == "ROW" else set())
    return "*" in wanted or (platform or "") in wanted

def lines(d, asked, each):
    return ["RECORDED(%s, %s, %s, %s, %s, %s)" % (kind, quoted(d["id"]), quoted(p), quoted(of), quoted(s), value(v))
            for kind, p, of, s, v in rows(d) if v is not None and is_asked(asked, each, d["id"], kind, p, of, s)]

def beside(d):
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
    all_ = list(beside(d))
    if not all_:
        return "the text gives no number"
    near = [away(o, p) for _, o, p in all_]
    words = all(isinstance(p, str) for _, _, p in all_)
    text = "%d of %d the same" % (sum(x == 0 for x in near), len(near)) if words else "%d of %d within 10 %%, %d within 25 %%" % (sum(x <= .1 for x in near), len(near), sum(x <= .25 for x in near))
    far = max(range(len(near)), key=lambda i: (near[i], -i))
    if near[far] > .1:
        text += "; farthest %s: %s, paper %s" % (all_[far][0], short(all_[far][1]), short(all_[far][2]))
    return text

def documents(folder):
    """{ID: [(document, date)]}, newer files last"""
    found = {}
    for path in sorted(glob.glob(folder + "/*.json"), key=os.path.getmtime):
        text, at = open(path).read(), 0
        while text[at:].strip():
            at += len(text[at:]) - len(text[at:].lstrip())
            d, at = json.JSONDecoder().raw_decode(text, at)
            for wrong in [] if d["quick"] else list(faults(d, d["id"])) + false_claims(d):
                print("%s: %s" % (d["id"], wrong), file=sys.stderr)
            found.setdefault(d["id"], []).append((d, time.strftime("%Y-%m-%d", time.gmtime(os.path.getmtime(path)))))
    return found

def merged(parts):
    """One document of several, each of platforms of its own; the last of a platform counts."""
    whole = dict(parts[-1][0], rows=[], means=[], facts=list({f["name"]: f for d, _ in parts for f in d["facts"]}.values()))
    of = lambda d: {r["platform"] for r in d["rows"]}
    for k, (d, _) in enumerate(parts):
        left = of(d) - set().union(*(of(later) for later, _ in parts[k + 1:]))
        for kind in ("rows", "means"):
            whole[kind] += [r for r in d[kind] if r["platform"] in left]
    return whole

def evidence(d, date, also):
    only = sorted({r["platform"] for r in d["rows"] if r["platform"]} | set(also))
    kind = "computed" if d["id"] in ("s1-tab1", "s2-cln", "s5-tab1", "s4-fig9", "s4-fig10", "s3-fig3") else "modelled" if d["id"] in ("s1-fig2", "s1-fig3", "s1-energy") else "simulated"
    of = "of the last recorded, %s: " % ", ".join(sorted({r["platform"] for r in d["rows"]})) if also else ""
    return "EVIDENCE(%s, \"%s\", \"%s%s; %s%s\")" % (quoted(d["id"]), date, kind, ": " + ", ".join(only) if only else "", of, agreement(d))

def recorded():
    """{ID: lines}, of the file as it is"""
    have, at = {}, None
    for line in open(OUT):
        at = (re.match(r'EVIDENCE\("([^"]*)"', line) or [None, at])[1]
        if at:
            have.setdefault(at, []).append(line.rstrip("\n"))
    return have

def order(id_):
    return [int(x) if x.isdigit() else x for x in re.split(r"(\d+)", id_)]

def write(folder):
    asked, have = tests(), recorded()
    for id_, parts in documents(folder).items():
        d = merged(parts)
        run = {r["platform"] for r in d["rows"]}
        kept = [line for line in have.get(id_, []) if (re.match(r'RECORDED\(\w+, "[^"]*", "([^"]+)"', line) or [None, None])[1] not in run | {None}]
        also = sorted({re.match(r'RECORDED\(\w+, "[^"]*", "([^"]+)"', line)[1] for line in kept})
        have[id_] = [evidence(d, parts[0][1], also)] + lines(d, *asked) + kept
    open(OUT, "w").write(HEAD + "".join(line + "\n" for id_ in sorted(have, key=order) for line in have[id_]))

def check():
    have, bad, asked = set(open(OUT).read().splitlines()), 0, tests()
    for id_ in SHORT:
        d = json.loads(subprocess.run([B, "paper", id_, "--json"], capture_output=True, text=True, check=True).stdout)
        for line in lines(d, *asked):
            if line not in have:
                bad += 1
                print("not as recorded: " + line)
    return int(bad > 0)

if __name__ == "__main__":
    sys.exit(check() if sys.argv[1] == "--check" else write(sys.argv[1]))
