#!/usr/bin/env python3
"""A running sweep survives what kernels do to a device: tests/gpu/hazard.ptx writes outside its buffer, faults, never
ends and traps at four of its six points. Each is told with its reason, and the sweep goes on.

    tests/gpu/hazard.py --device cuda:0 [--gpulocw build/gpulocw] [sweep options]
"""
import argparse, json, os, re, subprocess, sys, time

POINTS = [  # KiB of dynamic shared memory, what happens, what the message must say
    (0, "runs", None), (1, "writes past the end", r"out-of-bounds|outside buffer"), (2, "faults", r"out-of-bounds|illegal memory access"),
    (3, "never ends", r"time limit of 1 s"), (4, "traps", r"trap|illegal instruction|launch failure|exception|something failed"), (5, "runs", None)]

p = argparse.ArgumentParser()
p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "build/gpulocw"))
p.add_argument("--device", default="cuda:0")
a, extra = p.parse_known_args()
here = os.path.dirname(os.path.abspath(__file__))
axis = "throttle-shared=" + "/".join(str(1024 * k) for k, _, _ in POINTS)
device = [] if "--devices" in extra or "--worker" in extra else ["--device", a.device]
start = time.time()
r = subprocess.run([a.gpulocw, "sweep", os.path.join(here, "hazard.ptx"), "--axis", axis, "--time-limit", "1", "--no-counters", "--json"] + device + extra,
                   capture_output=True, text=True, timeout=120)
took, bad = time.time() - start, 0
try:
    d = json.loads(r.stdout)
except ValueError:
    sys.exit("exit %d: %s" % (r.returncode, r.stderr.strip()[:400]))
for (k, what, want), pt in zip(POINTS, d["points"]):
    good = pt["time_ns"] is not None and pt["equal_to_original"] is True if want is None else pt["time_ns"] is None and bool(re.search(want, pt["message"] or ""))
    bad += not good
    print("%-4s %-20s %-12s %s" % ("ok" if good else "BAD", what, "%.1f us" % (pt["time_ns"]["median"] / 1e3) if pt["time_ns"] else pt["status"], pt["message"] or ""))
if len(d["points"]) != len(POINTS) or not d["complete"] or r.returncode != 0:
    bad += 1
    print("BAD  %d points, complete %s, exit %d" % (len(d["points"]), d["complete"], r.returncode))
print("hazards on %s: %d bad, %.1f s" % (d["device"]["name"], bad, took))
sys.exit(1 if bad else 0)
