#!/usr/bin/env python3
"""A sample of the SMs stands for the whole launch: kernels whose SMs share data with others a few places off, or meet at one word."""
import json, os, subprocess, sys
sys.path.insert(0, "tests/tool")
from tap import done, say

B = os.environ.get("GPULOCW_BUILD", "build") + "/gpulocw"

def run(suite, kernel, *options):
    path = "tests/suites/%s.ptx" % suite if suite else "kernels/%s.ptx" % kernel
    r = subprocess.run([B, "run", path, *(("-k", kernel) if suite else ()), "-d", "sim:hopper-h200", "--json", *options], capture_output=True, text=True)
    d = json.loads(r.stdout)
    return d["sampled"], d["time_ns"]["median"], {c["name"]: c["value"] for c in d["counters"]}

def both(suite, kernel, *options):
    sample, whole = run(suite, kernel, *options), run(suite, kernel, *options, "--exact")
    say(sample[0] and not whole[0], "%s %s: timed on a sample, and whole" % (kernel, " ".join(options)), (sample[0], whole[0]))
    return sample, whole

AGENTS = ("--cluster", "agent", "--index", "column")
# ns: of an H200 (tests/gpu/accuracy-h200.jsonl); whole launches of stencils come out quicker, their samples do not (docs/lab/samples.md)
for suite, kernel, options, points, share, ns in (("grid", "heat9", AGENTS, 18, 0.18, 18852), ("grid", "wave4", AGENTS, 14, 0.16, 19792),
                                                  ("grid", "heat9", (), 6, 0.12, 18118), ("misc", "reduce_max", (), 4, 0.2, 29947)):
    sample, whole = both(suite, kernel, *options)
    a, b = (x[2]["l2.hit_rate"] for x in (sample, whole))
    say(abs(a - b) <= points, "%s: L2 hit rate within %d points" % (kernel, points), "%.1f, whole %.1f %%" % (a, b))
    say(abs(sample[1] / whole[1] - 1) <= share, "%s: time within %d %%" % (kernel, 100 * share), "%d, whole %d ns" % (sample[1], whole[1]))
    say(abs(sample[1] / ns - 1) <= 0.1, "%s: a sample within 10 %% of an H200" % kernel, "%d, H200 %d ns" % (sample[1], ns))

# The demo's curve, as a sample and whole (H200 of 29 November 2026): within 15 %, and in the GPU's order.
VALLEY = (("11", 24100), ("cha", 32700), ("bpa", 38500))
curve = [both("", "valley", "--bypass", "l1", "--pi", pi) for pi, _ in VALLEY]
for how, what in enumerate(("a sample", "whole")):
    times = [point[how][1] for point in curve]
    say(all(abs(t / ns - 1) <= 0.15 for t, (_, ns) in zip(times, VALLEY)), "the valley, %s: within 15 %% of an H200" % what, times)
    say(times == sorted(times), "the valley, %s: the best point, caching all, bypassing all in the order of an H200" % what, times)
done()
