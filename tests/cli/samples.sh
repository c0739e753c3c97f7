#!/usr/bin/env python3
"""A sample of the SMs stands for the whole launch: kernels whose SMs share data with others a few places off, or meet at one word."""
import json, os, subprocess, sys
sys.path.insert(0, "tests/tool")
from tap import done, say

B = os.environ.get("GPULOCW_BUILD", "build") + "/gpulocw"

def run(suite, kernel, *options):
    r = subprocess.run([B, "run", "tests/suites/%s.ptx" % suite, "-k", kernel, "-d", "sim:hopper-h200", "--json", *options], capture_output=True, text=True)
    d = json.loads(r.stdout)
    return d["sampled"], d["time_ns"]["median"], {c["name"]: c["value"] for c in d["counters"]}

def both(suite, kernel, *options):
    sample, whole = run(suite, kernel, *options), run(suite, kernel, *options, "--exact")
    say(sample[0] and not whole[0], "%s %s: timed on a sample, and whole" % (kernel, " ".join(options)), (sample[0], whole[0]))
    return sample, whole

AGENTS = ("--cluster", "agent", "--index", "column")
for suite, kernel, options, points, share in (("grid", "heat9", AGENTS, 12, 0.12), ("grid", "wave4", AGENTS, 14, 0.12), ("grid", "heat9", (), 6, 0.12), ("misc", "reduce_max", (), 4, 0.2)):
    sample, whole = both(suite, kernel, *options)
    a, b = (x[2]["l2.hit_rate"] for x in (sample, whole))
    say(abs(a - b) <= points, "%s: L2 hit rate within %d points" % (kernel, points), "%.1f, whole %.1f %%" % (a, b))
    say(abs(sample[1] / whole[1] - 1) <= share, "%s: time within %d %%" % (kernel, 100 * share), "%d, whole %d ns" % (sample[1], whole[1]))
done()
