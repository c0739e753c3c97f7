#!/usr/bin/env python3
"""A session survives what kernels do to a device: tests/gpu/hazard.ptx writes outside its buffer, faults, never ends and
traps in four of six runs of one workbench (a headless build: of six processes). Each is told with its reason, and the next run works.

    tests/gpu/hazard.py --device cuda:0 [--gpulocw build/gpulocw] [--worker CMD]
"""
import argparse, json, os, re, subprocess, sys, tempfile, time

RUNS = [  # the kernel's argument `fate`, what happens, what the message must say
    (0, "runs", None), (1, "writes past the end", r"out-of-bounds|outside buffer"), (2, "faults", r"out-of-bounds|illegal memory access"),
    (3, "never ends", r"time limit of|loops at|never change"), (4, "traps", r"trap|illegal instruction|launch failure|exception|something failed"), (0, "runs", None)]

p = argparse.ArgumentParser()
p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "build/gpulocw"))
p.add_argument("--device", default="cuda:0")
a, extra = p.parse_known_args()
here = os.path.dirname(os.path.abspath(__file__))
device = [] if "--devices" in extra or "--worker" in extra else ["--device", a.device]
lines = "".join("launch fate %d\nrun\nwait\n" % fate for fate, _, _ in RUNS) + "quit\n"
start = time.time()
r = subprocess.run([os.path.abspath(a.gpulocw), os.path.join(here, "hazard.ptx"), "--plain"] + device + extra, input=lines, capture_output=True, text=True, timeout=240)
if "no terminal front end" in r.stderr:     # a headless build: each run in a process of its own, on the device as the last one left it
    r.stdout = ""
    launch = json.load(open(os.path.join(here, "hazard.launch.json")))
    with tempfile.TemporaryDirectory() as t:
        for fate, _, _ in RUNS:
            launch["args"][2]["u32"] = fate
            launch["ptx"] = os.path.join(here, "hazard.ptx")
            json.dump(launch, open(t + "/l.json", "w"))
            one = subprocess.run([os.path.abspath(a.gpulocw), "run", launch["ptx"], "--launch", t + "/l.json", "--time-limit", "1", "--no-counters", "--json"] + device + extra, capture_output=True, text=True, timeout=60)
            ns = json.loads(one.stdout)["time_ns"] if one.returncode == 0 else None
            r.stdout += "note: %.3f us (\n" % (ns["median"] / 1e3) if ns else "error: the original kernel does not run: %s\n" % " ".join(one.stderr.split())
took, bad = time.time() - start, 0
# Each run ends in one line: its time, or why the original has none.
ends = re.findall(r"^(?:note: (?:run \d+: )?([0-9.]+ .s) \(.*|error: the original kernel does not run: (.*))$", r.stdout, re.M)
for (fate, what, want), (ns, why) in zip(RUNS, ends):
    good = bool(ns) if want is None else bool(why) and bool(re.search(want, why))
    bad += not good
    print("%-4s %-20s %-12s %s" % ("ok" if good else "BAD", what, ns, why))
if len(ends) != len(RUNS):
    bad += 1
    print("BAD  %d runs of %d\n%s%s" % (len(ends), len(RUNS), r.stdout[-2000:], r.stderr[-1000:]))
print("hazards: %d bad, %.1f s" % (bad, took))
sys.exit(1 if bad else 0)
