#!/usr/bin/env python3
"""Are the outputs of rewritten kernels the original's, on a given device?

    tests/gpu/equal.py --device cuda:0

Runs every demo kernel (its first launch) under one configuration per rewrite and prints how many
were equal, refused with a reason, or different; every different or failed one is named.
"""
import argparse, concurrent.futures, os, subprocess, sys, time

CONFIGS = ["--bypass l1 --pi 3", "--bypass l1 --bypass-form predicate --pi 3", "--bypass l1 --bypass-form grouped --pi 3",
           "--bypass l1 --bypass-op no_allocate --bypass-form vertical", "--bypass l2 --bypass-op cache_hint --pi 3", "--bypass l1 --pi bpa",
           "--cluster redirect --index column", "--cluster agent", "--cluster agent --index tile:4x4 --agents 2 --prefetch l2",
           "--prefetch l1", "--softcache 1", "--softcache auto", "--softcache dynamic", "--cluster agent --agents vote", "--bypass l1 --pi vote", "--prefetch l2 --prefetch-distance 3", "--swap-xy", "--coarsen 4 --coarsen-mode vector", "--block 16x8x1", "--coarsen 2", "--readonly promote", "--carveout 100",
           "--throttle-shared 32768", "--maxnreg 32"]

def one(a, name, config):
    if time.time() - start > a.total:
        return name, config, None, ""
    r = subprocess.run([a.gpulocw, "run", "kernels/%s.ptx" % name, "--device", a.device, "--no-counters"] + config.split(), capture_output=True, text=True, timeout=120)
    return name, config, r.returncode, (r.stderr.strip() or r.stdout.strip())[:200]

p = argparse.ArgumentParser()
p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "build/gpulocw"))
p.add_argument("--device", default="cuda:0")
p.add_argument("--jobs", type=int, default=4)
p.add_argument("--total", type=float, default=1e9, help="seconds after which nothing new is started")
a = p.parse_args()
start = time.time()
names = sorted(f[:-12] for f in os.listdir("kernels") if f.endswith(".launch.json"))
count, bad = {0: 0, 3: 0}, []
with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
    for name, config, rc, text in pool.map(lambda x: one(a, *x), [(n, c) for c in CONFIGS for n in names]):
        count[rc] = count.get(rc, 0) + 1
        if rc not in (0, 3, None):
            bad.append("%s %s: exit %d: %s" % (name, config, rc, text.replace("\n", " ")))
print("%d kernels x %d configurations on %s: %d equal, %d refused with a reason, %d otherwise" % (len(names), len(CONFIGS), a.device, count[0], count[3], len(bad)))
if count.get(None):
    print("%d were not started after %g s" % (count[None], a.total))
print("\n".join(bad))
sys.exit(1 if bad else 0)
