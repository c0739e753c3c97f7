#!/usr/bin/env python3
"""Does the driver link what a program lacks?

    tests/gpu/link.py [--gpulocw build/gpulocw] [--device cuda:0]

Kernels that launch kernels, with libcudadevrt.a of a toolkit, and a function that exists as machine code only,
named in GPULOCW_LINK (made with ptxas). What a machine lacks is a line that says so. Exit: 0, or 1 for a wrong result.
"""
import argparse, glob, os, shutil, struct, subprocess, sys, tempfile

def values(a, name, files, **env):
    with tempfile.TemporaryDirectory() as folder:
        r = subprocess.run([a.gpulocw, "run", *files, "--launch", "%s/link/%s.launch.json" % (here, name), "--device", a.device, "--no-counters",
                            "--outputs", folder + "/o"], capture_output=True, text=True, timeout=120, env=dict(os.environ, **env))
        try:
            data = open(folder + "/o/out.bin", "rb").read()
        except OSError:
            return None, (r.stderr or r.stdout).strip()
    return list(struct.unpack("<%dI" % (len(data) // 4), data)), ""

def tool(name):
    places = [p for root in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if root for p in [root + "/bin/" + name]]
    for site in sys.path:
        places += glob.glob(site + "/triton/backends/nvidia/bin/" + name) + glob.glob(site + "/nvidia/*/bin/" + name)
    return shutil.which(name) or next((p for p in places if os.access(p, os.X_OK)), None)

def check(what, got, want):
    fine = got[0] == want
    print("%s  %s%s" % ("pass" if fine else "FAIL", what, "" if fine else ": " + (got[1] or str(got[0][:8]))))
    return fine

here = os.path.dirname(os.path.abspath(__file__))
p = argparse.ArgumentParser()
p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "build/gpulocw"))
p.add_argument("--device", default="cuda:0")
a = p.parse_args()
fine = True

got = values(a, "parent", [here + "/link/parent.ptx"])
if "libcudadevrt.a" in got[1]:
    print("skip  kernels that launch kernels: no libcudadevrt.a here")
else:
    fine &= check("kernels that launch kernels", got, [32 * i + 3 * t if 4 * i > 10 else 0 for i in range(8) for t in range(32)])

caller, twice, want = here + "/link/caller.ptx", here + "/link/twice.ptx", [2 * t for t in range(32)]
fine &= check("two texts are one program", values(a, "caller", [caller, twice]), want)
fine &= check("the name that is missing", (["GPULOCW_LINK" in values(a, "caller", [caller])[1]], ""), [True])
ptxas = tool("ptxas")
if not ptxas:
    print("skip  machine code: no ptxas here")
else:
    with tempfile.TemporaryDirectory() as folder:
        cubin, archive = folder + "/twice.cubin", folder + "/lib.a"
        subprocess.run([ptxas, "-c", "-arch=sm_90", twice, "-o", cubin], check=True)
        fine &= check("a cubin", values(a, "caller", [caller], GPULOCW_LINK=cubin), want)
        fine &= check("PTX text", values(a, "caller", [caller], GPULOCW_LINK=twice), want)
        fine &= check("several files", values(a, "caller", [caller], GPULOCW_LINK=":" + cubin + ":"), want)
sys.exit(not fine)
