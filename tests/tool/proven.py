#!/usr/bin/env python3
"""The share of kernels whose rewrites end proven: python3 tests/tool/proven.py GPULOCW [--all] [FILE.ptx ...] (default: the demo kernels)

Each kernel's first launch is run with the first of CONFIGS that is accepted, and --prove full; --all: every launch with each of them.
What was seen is the kernel's, the same for all its rewrites. Prints one line for each that is not proven, with what the proof says,
and the shares. Exit 1: a rewrite was accepted and differs."""
import collections
import glob
import json
import subprocess
import sys

CONFIGS = ["--cluster redirect", "--cluster agent", "--coarsen 2", "--bypass l1 --pi 1"]


def launches(path, every):
    try:
        d = json.load(open(path[:-4] + ".launch.json"))
    except OSError:
        return []
    found = {}
    for x in d.get("launches", [d]):
        found.setdefault(x["kernel"] if not every else len(found), x.get("name") or x["kernel"])
    return list(found.values())


def verdict(gpulocw, path, name, config):
    r = subprocess.run([gpulocw, "run", path, "-k", name, *config.split(), "--prove", "full", "--json"], capture_output=True, text=True)
    if r.returncode == 3:
        return "refused", ""
    try:
        p = json.loads(r.stdout).get("proof") or {}
    except ValueError:
        return "failed", r.stderr[-200:]
    word = "proven" if p.get("proven") else {"holds": "equal on what was tried", "broken": "different"}.get(p.get("verdict"), "not proven")
    return word, p.get("text", "")


def main():
    every = "--all" in sys.argv
    gpulocw, *files = [a for a in sys.argv[1:] if a != "--all"]
    files = files or sorted(glob.glob("kernels/*.ptx"))
    count = collections.Counter()
    for path in files:
        for name in launches(path, every):
            for config in CONFIGS:
                word, text = verdict(gpulocw, path, name, config)
                count[word] += 1
                if word not in ("proven", "refused"):
                    print(f"{path} {name} {config}: {text or word}", flush=True)
                if word != "refused" and not every:
                    break
    done = sum(n for w, n in count.items() if w != "refused")
    for word, n in count.most_common():
        print(f"{word:24} {n:5}" + (f"  {100 * n / max(done, 1):.0f} % of the accepted" if word != "refused" else ""))
    return 1 if count["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
