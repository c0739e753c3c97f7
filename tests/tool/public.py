#!/usr/bin/env python3
"""Rewrites of kernels that this project did not write, on other data, grids and seeds than they were accepted on.

    python3 tests/tool/public.py GPULOCW FOLDER [--count N] [--ledger FILE] [--limit SECONDS]

FOLDER has PTX that was compiled elsewhere, with launch descriptions beside it or without: then `launch` guesses one. A kernel that fails,
races, reads what nobody wrote or runs longer than the limit under that launch is left out. Each option of OPTIONS is run with --prove full;
what is accepted runs again on other seeds, with fewer and with more CTAs where the original stays clean. Counts what was accepted, ended
proven, was refused and differed; N accepted rewrites end it. With a ledger, kernels that stand there are not done again. Exit 1: one is different."""
import argparse
import collections
import copy
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile

OPTIONS = ["--coarsen 2", "--coarsen 4", "--coarsen 2 --coarsen-mode vector", "--coarsen 4 --coarsen-mode vector", "--coarsen 4 --coarsen-mode blocked", "--block 64x1x1", "--block 128x1x1",
           "--swap-xy", "--cluster redirect", "--cluster redirect --index column", "--cluster agent", "--cluster agent --agents 1 --clusters 2", "--bypass l1 --pi 1",
           "--bypass l1 --pi 1 --bypass-form predicate", "--bypass l1 --pi 1 --bypass-form grouped", "--bypass l1 --pi vote", "--bypass ro --pi 1", "--bypass l1 --bypass-form vertical",
           "--bypass l2 --bypass-op cs --pi bpa", "--prefetch l1", "--prefetch l2", "--softcache 1", "--softcache 2", "--readonly promote", "--readonly demote", "--swizzle-shared",
           "--smem-pad 128", "--maxnreg 64", "--minctas 2", "--throttle-shared 4096", "--coarsen 2 --bypass l1 --pi 1", "--cluster agent --prefetch l2 --softcache 1"]
MOST = 4096  # CTAs of a launch that is run


def gpulocw(args, *words, limit=60):
    try:
        r = subprocess.run([args.gpulocw, *words], capture_output=True, text=True, timeout=limit, stdin=subprocess.DEVNULL)
        return r.returncode, r.stdout, r.stderr
    except subprocess.TimeoutExpired:
        return 124, "", "it takes too long"


def reseed(x, by):
    """The same description with other seeds."""
    if isinstance(x, dict):
        return {k: v + by if k == "seed" and isinstance(v, int) else reseed(v, by) for k, v in x.items()}
    return [reseed(v, by) for v in x] if isinstance(x, list) else x


def variants(launch):
    """Other data; fewer CTAs; twice as many."""
    yield "other seeds", reseed(launch, 1000)
    for name, grid in (("fewer CTAs", [max(1, g // 2) for g in launch["grid"]]), ("more CTAs", [2 * launch["grid"][0], *launch["grid"][1:]])):
        if grid != launch["grid"]:
            yield name, dict(reseed(launch, 2000), grid=grid)


class Run:
    def __init__(self, args):
        self.args, self.dir = args, tempfile.mkdtemp()
        self.state = {"modules": [], "kernels": 0, "left out": {}, "count": {o: {} for o in OPTIONS}, "runs": 0, "different": [], "done": []}
        if args.ledger and os.path.exists(args.ledger):
            self.state = {**self.state, **json.load(open(args.ledger))}
            self.state["count"] = {o: self.state["count"].get(o, {}) for o in OPTIONS}

    def save(self):
        if self.args.ledger:
            with open(self.args.ledger + ".new", "w") as f:
                json.dump(self.state, f, indent=1)
            os.replace(self.args.ledger + ".new", self.args.ledger)

    def accepted(self):
        return sum(c.get("accepted", 0) for c in self.state["count"].values())

    def leave(self, why):
        self.state["left out"][why] = self.state["left out"].get(why, 0) + 1

    def descriptions(self, path):
        """One launch for each kernel of a module."""
        beside = path[:-4] + ".launch.json"
        if not os.path.exists(beside):
            beside = self.dir + "/guess.json"
            rc, _, _ = gpulocw(self.args, "launch", path, "-o", beside, "--force")
            if rc or not os.path.exists(beside):
                self.leave("modules whose launches cannot be guessed")
                return
        d, seen = json.load(open(beside)), set()
        for x in d.get("launches", [d]):
            if x.get("kernel") not in seen:
                seen.add(x.get("kernel"))
                yield dict({k: v for k, v in d.items() if k in ("format", "version")}, **{k: v for k, v in x.items() if k not in ("ptx", "name")})

    def write(self, launch, name):
        path = f"{self.dir}/{name}.launch.json"
        json.dump(launch, open(path, "w"))
        return path

    def clean(self, path, launch, name):
        """A description under which the original runs and has no race; None: it does not."""
        n = 1
        for g in launch["grid"]:
            n *= g
        if n > MOST:
            return None
        file = self.write(launch, name)
        rc, _, _ = gpulocw(self.args, "run", path, "-l", file, "--check-memory", "--no-counters", "--time-limit", str(self.args.limit))
        return None if rc else file

    def kernel(self, path, launch):
        near = self.clean(path, launch, "near")
        if not near:
            return self.leave("does not run clean under its launch")
        others = [(name, f) for k, (name, other) in enumerate(variants(copy.deepcopy(launch))) for f in [self.clean(path, other, f"other{k}")] if f]
        if not others:
            return self.leave("no other data or grid runs clean")
        self.state["kernels"] += 1
        for option in OPTIONS:
            self.option(path, launch["kernel"], near, others, option)

    def option(self, path, kernel, near, others, option):
        count, words = self.state["count"][option], option.split()
        rc, out, err = gpulocw(self.args, "run", path, "-l", near, *words, "--prove", "full", "--json", "--time-limit", "30")
        kind = {0: "accepted", 3: "refused", 5: "found by the proof"}.get(rc, "failed")
        count[kind] = count.get(kind, 0) + 1
        if kind != "accepted":
            return
        proof = json.loads(out).get("proof") or {}
        count["proven"] = count.get("proven", 0) + bool(proof.get("proven"))
        for name, file in others:
            rc, out, err = gpulocw(self.args, "run", path, "-l", file, *words, "--no-counters", "--time-limit", "30")
            self.state["runs"] += rc == 0
            if rc not in (0, 3, 124):
                self.state["different"].append(f"{os.path.basename(path)} {kernel} {option} on {name}: {rc} {(out + err).strip()[-200:]}")
                break

    def report(self):
        s, total = self.state, collections.Counter()
        print(f"{s['kernels']} kernels of {len(s['modules'])} modules; left out: " + (", ".join(f"{n} {why}" for why, n in s["left out"].items()) or "none"))
        print("\n| options | accepted | of these proven | refused | found by the proof | failed |\n|---|---:|---:|---:|---:|---:|")
        for option, c in s["count"].items():
            total.update(c)
            print(f"| `{option}` | " + " | ".join(str(c.get(k, 0)) for k in ("accepted", "proven", "refused", "found by the proof", "failed")) + " |")
        share = 100 * total["proven"] / max(total["accepted"], 1)
        print(f"\ntogether: {total['accepted']} accepted, {total['proven']} of them proven ({share:.0f} %), {s['runs']} runs on other data or grids, {len(s['different'])} different")
        for d in s["different"]:
            print("different:", d)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("gpulocw")
    p.add_argument("folder")
    p.add_argument("--count", type=int, default=5000)
    p.add_argument("--ledger")
    p.add_argument("--limit", type=float, default=20)
    r = Run(p.parse_args())
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for path in sorted(glob.glob(f"{r.args.folder}/**/*.ptx", recursive=True)):
            name = os.path.relpath(path, r.args.folder)
            if name in r.state["modules"] or r.accepted() >= r.args.count:
                continue
            for launch in r.descriptions(path):
                if launch["kernel"] in r.state["done"]:
                    continue
                r.kernel(path, launch)
                r.state["done"].append(launch["kernel"])
                r.save()
            r.state["modules"].append(name)
            r.state["done"] = []
            r.save()
    except KeyboardInterrupt:  # the kernel at hand is done again
        pass
    r.report()
    return 1 if r.state["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
