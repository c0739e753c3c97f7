#!/usr/bin/env python3
"""Modules that mean the same get the same answers: metamorphic.py GPULOCW [-n KERNELS] [-s SEED] [-p QUESTIONS] [FILE.ptx...]

For each FILE (all of kernels/ without one) and KERNELS made ones (made_kernels.py), a variant that means the same
(ptx_variants.py) is asked what the original is asked: analyze, check, run, and QUESTIONS configurations of every kind, as
`rewrite` and as `run`. Status, documents, refusals, proofs and times must be the same but for names, lines, columns.
Of made kernels each has its own few configurations; together they have all. Prints TAP lines, one for the files and one
for the made ones; a difference is shown with the smallest part of the variant that gives it. --keep FOLDER: both sides of
each difference stay there."""
import argparse
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter

import made_kernels
import ptx_variants

# Every option that changes the text, in its forms. BUFFER is the first buffer of the launch.
CONFIGURATIONS = [c.split() for c in (
    "--bypass l1 --pi 1", "--bypass l1 --pi 1 --bypass-form predicate", "--bypass l1 --pi 1 --bypass-form grouped", "--bypass l1 --pi vote", "--bypass l2 --pi 1",
    "--bypass ro --pi 0", "--bypass l1 --bypass-op cs --pi bpa", "--cluster redirect --index column", "--cluster redirect --index tile:2x2 --clusters 2",
    "--cluster agent", "--cluster agent --agents 1 --index row", "--cluster agent --agents vote", "--cluster agent --prefetch l2", "--prefetch l1",
    "--prefetch l2 --prefetch-distance 2", "--softcache 4", "--softcache auto", "--softcache dynamic", "--block 32x1x1", "--block 128x1x1", "--swap-xy",
    "--coarsen 2", "--coarsen 2 --coarsen-mode blocked", "--coarsen 2 --coarsen-mode vector", "--coarsen 4 --coarsen-mode vector", "--tile-order reverse",
    "--throttle-shared 8192", "--maxnreg 32", "--minctas 2", "--swizzle-shared", "--smem-pad 132", "--readonly promote", "--readonly demote",
    "--readonly promote --assume-restrict", "--carveout 50", "--l2-persist BUFFER", "--tma-hint evict_first", "--bypass l1 --pi 1 --coarsen 2 --throttle-shared 1024",
    "--cluster agent --coarsen 2 --maxnreg 40")]
LOADS = {"line", "requests", "sectors", "l1_hit_sectors"}
LINE_KEYS = ("line", "column", "ptx_line", "at_line", "same_as_line", "joined_with_line")


class Answers:
    """What is compared: names of the module as in the original, local names and places left out."""

    def __init__(self, v=None):
        back = {new: old for old, new in v.module.items()} if v else {}
        self.back = re.compile(r"(?<![\w$%%])(?:%s)(?![\w$])" % "|".join(map(re.escape, sorted(back, key=len, reverse=True)))) if back else None
        self.to = back

    def local(self, names):
        self.names = re.compile(r"(?<![\w$%%])(?:%s)(?![\w$])" % "|".join(map(re.escape, sorted(names, key=len, reverse=True)))) if names else None
        return self

    def text(self, s):
        if self.back:
            s = self.back.sub(lambda m: self.to[m.group()], s)
        if self.names:
            s = self.names.sub("NAME", s)
        s = s.replace("m.ptx + second_half.ptx", "m.ptx").replace("second_half.ptx", "m.ptx")
        s = re.sub(r"(m\.ptx):\d+(:\d+)?", r"\1:N", s)
        s = re.sub(r"(^|(?<=\s))\d+:\d+: ", "N: ", s)
        s = re.sub(r"\blines? \d+(?:(?:, | and | to |-| or )\d+)*", lambda m: re.sub(r"\d+", "N", m.group()), s)
        return re.sub(r"\s+", " ", s).strip()

    def value(self, v, key=""):
        if isinstance(v, dict):
            return {k: self.value(x, k) for k, x in v.items() if k != "fingerprint"}
        if isinstance(v, list):
            out = [self.value(x, key) for x in v]
            if key == "where":                                                   # shares of lines, which white space joins and parts
                return "lines"
            if key == "loads" and out and all(set(x) == LOADS for x in out):     # one entry for each line
                return {k: sum(x[k] for x in out) for k in LOADS - {"line"}}
            # what is listed by line or by name of the kernel
            return sorted(out, key=lambda x: json.dumps(x, sort_keys=True)) if key in ("kernels", "findings", "loads", "evidence", "notes", "accesses") or all(isinstance(x, dict) and LINE_KEYS[0] in x for x in v) else out
        if key in LINE_KEYS:
            return "N"
        if key == "edit" and v:                      # of the statements of a line, likewise
            return "edit"
        if key == "text":                            # a statement of the module as it stands there
            v = " ".join(t.text for t in ptx_variants.tokens(v))
        return self.text(v) if isinstance(v, str) else v


def code(text):
    """How often each instruction stands in a module."""
    n = Counter()

    def count(block):
        for s in block.stmts:
            if s.block:
                count(s.block)
            elif s.kind == "other":
                i = 0 if s.toks[0].text != "@" else 2 + (s.toks[1].text == "!")
                op = s.toks[i].text
                while not s.toks[i + 1].lead and s.toks[i + 1].text.startswith("."):
                    i += 1
                    op += s.toks[i].text
                n[op] += 1
    for item in ptx_variants.read(text):
        if item.block:
            count(item.block)
    return n


class Side:
    """One module in a folder of its own, and what it answers."""

    def __init__(self, folder, files, launches):
        self.folder, self.files = folder, [n for n, _ in files]
        os.makedirs(folder, exist_ok=True)
        for n, text in files:
            with open(os.path.join(folder, n), "w", newline="") as f:
                f.write(text)
        for n, launch in launches.items():
            with open(os.path.join(folder, n), "w") as f:
                json.dump(launch, f)

    def ask(self, binary, question):
        try:
            r = subprocess.run([binary, question[0]] + self.files + question[1:] + ["-t", "1"] * (question[0] != "check"), cwd=self.folder, capture_output=True,
                               timeout=600, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return "no end", "", ""
        return r.returncode, r.stdout.decode(errors="replace"), r.stderr.decode(errors="replace")


def normal(question, answer, how):
    """An answer as a value that is compared."""
    status, out, said = answer
    document = None
    if question[0] == "rewrite":
        document = dict(code(out)) if status == 0 else ""
    elif out.strip().startswith("{"):
        document = how.value(json.loads(out))
    else:
        document = how.text(out)
    said = re.sub(r"(?m)^.*\n\s*\^~*$", "", said)     # the line of the source and its mark
    return {"status": status, "document": document, "said": sorted(how.text(l) for l in said.splitlines() if l.strip())}


def difference(a, b, at=""):
    """The first place where two values differ, in words; None: nowhere."""
    if type(a) is not type(b) or not isinstance(a, (dict, list)):
        return None if a == b else "%s: %s | %s" % (at, str(a)[:230], str(b)[:230])
    if isinstance(a, dict):
        keys = list(dict.fromkeys(list(a) + list(b)))
        pairs = [(a.get(k, "nothing"), b.get(k, "nothing"), "%s.%s" % (at, k)) for k in keys]
    else:
        if len(a) != len(b):
            only = [x for x in a if x not in b][:1] + [x for x in b if x not in a][:1]
            return "%s: %d | %d entries, %s" % (at, len(a), len(b), str(only)[:300])
        pairs = [(x, y, "%s[%d]" % (at, i)) for i, (x, y) in enumerate(zip(a, b))]
    return next((d for d in (difference(*p) for p in pairs) if d), None)


class Case:
    """launches: by file name."""

    def __init__(self, name, text, launches, seed, questions):
        self.name, self.text, self.launches, self.seed, self.questions = name, text, launches, seed, questions

    def variant(self, parts):
        return ptx_variants.variant(self.text, self.launches, random.Random(self.seed), parts)


def compare(binary, case, folder, parts, questions):
    """(question, difference) of the first question that is answered otherwise; None: none."""
    v = case.variant(parts)
    before, after = Side(folder + "/before", [("m.ptx", case.text)], case.launches), Side(folder + "/after", v.files, v.launch)
    how = [Answers().local(v.local), Answers(v).local(v.local)]
    for q in questions:
        values = [normal(q, side.ask(binary, q), h) for side, h in zip((before, after), how)]
        d = difference(*values)
        if d:
            return q, d
    return None


def guilty(binary, case, folder, question):
    """The smallest part of the variant that gives a difference for this question."""
    for n in (1, 2):
        for parts in [p for p in ([(a,) for a in ptx_variants.PARTS] if n == 1 else [("rename", "declare"), ("declare", "space"), ("rename", "space"), ("order", "split")])]:
            shutil.rmtree(folder, ignore_errors=True)
            found = compare(binary, case, folder, parts, [question])
            if found:
                return parts, found
    shutil.rmtree(folder, ignore_errors=True)
    return ptx_variants.PARTS, compare(binary, case, folder, ptx_variants.PARTS, [question])


def one_launch(launch, most):
    """The launch of a description that has the fewest data, with at most so many CTAs."""
    if "launches" in launch:
        chosen = min(launch["launches"], key=lambda l: sum(a.get("count", 0) for a in l["args"]))
        launch = {**{k: v for k, v in launch.items() if k != "launches"}, **chosen}
    launch = dict(launch, ptx="m.ptx", grid=list(launch["grid"]))
    while launch["grid"][0] * launch["grid"][1] * launch["grid"][2] > most:
        k = max(range(3), key=lambda i: launch["grid"][i])
        launch["grid"][k] = (launch["grid"][k] + 1) // 2
    launch.pop("name", None)
    return launch


def asked(rng, launch, k, runs, rewrites):
    """The questions of case number k: in turn all configurations."""
    buffer = next((a["name"] for a in launch["args"] if "buffer" in a), "")
    of = [[buffer if w == "BUFFER" else w for w in c] for c in CONFIGURATIONS]
    out = [["analyze", "--json"], ["run", "--json"]]
    if k % 6 == 0: # which guesses launches for the other kernels of the module: most of the time
        out.append(["check", "--format", "json"])
    out += [["run", "--json"] + of[(k * runs + i) % len(of)] for i in range(runs)]
    return out + [["rewrite"] + c for c in (rng.sample(of, min(rewrites, len(of))))]


def cases(args):
    files = args.files or sorted(glob.glob("kernels/*.ptx"))
    for k, f in enumerate(files):
        rng = random.Random("%d %s" % (args.seed, os.path.basename(f)))
        launch = json.load(open(f[:-4] + ".launch.json"))
        # whole launches are sampled where they are large
        launch, whole = one_launch(launch, args.ctas), one_launch(launch, 1 << 32)
        questions = asked(rng, launch, k, args.questions[0], 3 * args.questions[1]) + [["run", "--json", "-l", "whole.json"]]
        # places in the PTX, as the made kernels have: `.loc` hangs on ends of lines
        text = re.sub(r"\.loc\s[^\n]*|^\.file\s[^\n]*", "", open(f).read(), flags=re.M)
        yield "files", Case(f, text, {"m.launch.json": launch, "whole.json": whole}, args.seed * 1000 + k, questions)
    for k in range(args.first, args.first + args.n):
        rng = random.Random("%d made %d" % (args.seed, k))
        text, launch = made_kernels.made(args.seed * 100000 + k)
        yield "made", Case("made kernel %d" % (args.seed * 100000 + k), text, {"m.launch.json": launch}, k, asked(rng, launch, k, args.questions[0], args.questions[1]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("binary")
    p.add_argument("files", nargs="*")
    p.add_argument("-n", type=int, default=200)
    p.add_argument("-s", dest="seed", type=int, default=1)
    p.add_argument("-f", dest="first", type=int, default=0)
    p.add_argument("-q", dest="questions", type=lambda s: [int(x) for x in s.split(",")], default=[1, 2])
    p.add_argument("--ctas", type=int, default=12)
    p.add_argument("--keep")
    args = p.parse_intermixed_args()
    args.binary = os.path.abspath(args.binary)
    bad, count, spent = {"files": [], "made": []}, Counter(), 0.0
    with tempfile.TemporaryDirectory() as top:
        for group, case in cases(args):
            count[group] += 1
            folder = os.path.join(top, str(sum(count.values())))
            found = compare(args.binary, case, folder, ptx_variants.PARTS, case.questions)
            if os.environ.get("METAMORPHIC_TIMES"):
                print("# %s: %.2f s" % (case.name, sum(os.times()[2:4]) - spent), flush=True)
                spent = sum(os.times()[2:4])
            if found:
                keep = os.path.join(args.keep or top, re.sub(r"\W+", "_", case.name))
                parts, (question, d) = guilty(args.binary, case, keep, found[0]) if found else (None, found)
                bad[group].append("%s, %s: %s: %s" % (case.name, "+".join(parts), " ".join(question), d))
                print("# " + bad[group][-1], flush=True)
            shutil.rmtree(folder, ignore_errors=True)
    for n, (group, what) in enumerate((("files", "the kernels of files"), ("made", "made kernels")), 1):
        print("%sok %d - %s and their variants are answered the same: %d of %d" % ("not " if bad[group] else "", n, what, count[group] - len(bad[group]), count[group]))
    return any(bad.values())


if __name__ == "__main__":
    sys.exit(main())
