#!/usr/bin/env python3
"""The table of docs/correctness.md: kernels times passes, accepted, refused, illegal, legal but refused.

    python3 tests/tool/correctness.py BUILD [--checked N] [--written N] [--seed S] [--folder FOLDER] [--page FILE]

N kernels for the model checker (tests/modelcheck) and N written at random (tests/attacks/written.py), numbers in all: what stands in the
ledgers of FOLDER is not done again; each job of --jobs has a ledger of random kernels. A page gets the table between its two lines of comment. Exit 1: one is illegal or wrong."""
import argparse
import glob
import json
import os
import re
import subprocess
import sys

SLICE = 100
COLUMNS = ["tried", "accepted", "legal", "illegal", "unchecked", "refused", "forced", "refused_legal"]
BEGIN, END = "<!-- made by make correctness -->", "<!-- end of what make correctness made -->"
FAMILY = [("bypass ro", "--bypass ro"), ("bypass", "--bypass"), ("readonly", "--readonly"), ("swizzle", "--swizzle"), ("smem pad", "--smem-pad"), ("cluster redirect", "--cluster redirect"),
          ("cluster agent", "--cluster agent"), ("prefetch", "--prefetch"), ("softcache", "--softcache"), ("throttle", "--throttle"), ("throttle", "--max"), ("throttle", "--min"),
          ("schedule shape", "--block"), ("schedule shape", "--swap-xy"), ("schedule coarsen", "--coarsen")]


def family(options):
    return "together" if len(set(re.findall(r"--(bypass|cluster|prefetch|softcache|coarsen|block|swap-xy)\b", options))) > 1 else next(name for name, start in FAMILY if options.startswith(start))


def save(path, what):
    with open(path + ".new", "w") as f:
        json.dump(what, f, indent=1)
    os.replace(path + ".new", path)


def checked(args):
    """Rows of the model checker, slice by slice."""
    path = f"{args.folder}/checked-{args.seed}.json"
    state = json.load(open(path)) if os.path.exists(path) else {"kernels": 0, "judged": 0, "rows": {}}
    while state["kernels"] < args.checked:
        n = min(SLICE, args.checked - state["kernels"])
        first = args.seed * 1000000000 + state["kernels"] * 10000 + 1
        r = subprocess.run([f"{args.build}/tests/modelcheck/modelcheck", "-j", str(args.jobs), "-n", str(n), "-s", str(first), "-t", "3", "-m", "20000", "-o", f"{args.folder}/illegal"],
                           capture_output=True, text=True)
        for line in r.stdout.splitlines():
            row = re.match(r"([a-z ]+?)\s+((?:\d+\s+){8})", line)
            if row:
                had = state["rows"].setdefault(row[1], [0] * len(COLUMNS))
                state["rows"][row[1]] = [a + int(b) for a, b in zip(had, row[2].split())]
        judged = re.search(r"kernels, (\d+) of them judged", r.stdout)
        if not judged:
            sys.exit(f"the model checker ended with {r.returncode}: {r.stderr[-300:]}")
        state["kernels"] += n
        state["judged"] += int(judged[1])
        save(path, state)
    return state


def written(args):
    """The sum of all ledgers of the folder: each job has a seed of its own."""
    ledgers = {args.seed + j: f"{args.folder}/written-{args.seed + j}.json" for j in range(args.jobs)}
    ledgers |= {int(re.search(r"(\d+)\.json$", path)[1]): path for path in glob.glob(f"{args.folder}/written-*.json")}
    had = {seed: json.load(open(path))["next"] if os.path.exists(path) else 0 for seed, path in ledgers.items()}
    share = -(-max(0, args.written - sum(had.values())) // args.jobs)
    running = [subprocess.Popen([sys.executable, "tests/attacks/written.py", f"{args.build}/tests/attacks/tries", "--count", str(had[seed] + share), "--seed", str(seed),
                                 "--ledger", ledgers[seed], "--keep", f"{args.folder}/wrong"], stdout=subprocess.DEVNULL) for seed in range(args.seed, args.seed + args.jobs) if share]
    for r in running:
        r.wait()
    total = {"next": 0, "unfit": 0, "count": {}, "wrong": []}
    for state in (json.load(open(path)) for path in ledgers.values() if os.path.exists(path)):
        for option, counts in state["count"].items():
            row = total["count"].setdefault(option, {})
            for what, n in counts.items():
                row[what] = row.get(what, 0) + n
        total = {**total, "next": total["next"] + state["next"], "unfit": total["unfit"] + state["unfit"], "wrong": total["wrong"] + state["wrong"]}
    return total


def table(checker, random):
    by = {}
    for options, count in random["count"].items():
        row = by.setdefault(family(options), dict.fromkeys(("accepted", "refused", "wrong"), 0))
        row["accepted"] += count.get("accepted", 0) + count.get("rounded", 0)
        row["refused"] += count.get("refused", 0) + count.get("invariant", 0)
        row["wrong"] += count.get("wrong", 0)
    all_of = {k: sum(r[k] for r in by.values()) for k in ("accepted", "refused", "wrong")}
    lines = ["| pass | accepted | illegal | not checked | refused | of those tried, legal | random: accepted | refused | wrong |", "|---|" + "---:|" * 8]
    names = [n for n in checker["rows"] if n != "all"] + [n for n in by if n not in checker["rows"]]
    for name in [*names, "all"]:
        c = dict(zip(COLUMNS, checker["rows"].get(name, [0] * len(COLUMNS))))
        w = all_of if name == "all" else by.get(name, dict.fromkeys(all_of, 0))
        share = f"{c['refused_legal']} of {c['forced']} ({100 * c['refused_legal'] / c['forced']:.0f} %)" if c["forced"] else "none tried"
        lines.append(f"| {name} | {c['accepted']:,} | {c['illegal']} | {c['unchecked']:,} | {c['refused']:,} | {share} | {w['accepted']:,} | {w['refused']:,} | {w['wrong']} |")
    head = (f"Model checker: {checker['judged']:,} kernels judged of {checker['kernels']:,}, at most 3 threads. Random: {random['next'] - random['unfit']:,} kernels; {random['unfit']:,} more did not "
            "run or differ by themselves.")
    return head + "\n\n" + "\n".join(lines)


def put(page, text):
    s = open(page).read()
    if s.count(BEGIN) != 1 or s.count(END) != 1:
        sys.exit(f"{page} has no place for the table")
    before, rest = s.split(BEGIN)
    open(page, "w").write(before + BEGIN + "\n" + text + "\n" + END + rest.split(END)[1])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("build")
    p.add_argument("--checked", type=int, default=0)
    p.add_argument("--written", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--folder")
    p.add_argument("--page")
    args = p.parse_args()
    args.folder = args.folder or f"{args.build}/correctness"
    os.makedirs(args.folder, exist_ok=True)
    checker, random = checked(args), written(args)
    text = table(checker, random)
    if args.page:
        put(args.page, text)
    print(text)
    for w in random["wrong"]:
        print("wrong:", w)
    return 1 if random["wrong"] or checker["rows"].get("all", [0] * 8)[3] else 0


if __name__ == "__main__":
    sys.exit(main())
