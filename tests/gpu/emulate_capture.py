#!/usr/bin/env python3
"""Are launches captured without a GPU those of the GPU's capture, byte for byte? python3 tests/gpu/emulate_capture.py GPULOCW [NAME...] [--dry]

Compiles programs of tests/emulate/cuda (nvcc of NVCC, PATH or /usr/local/cuda; EMULATE_ARCH, sm_90), captures each with and without
--emulate, and compares PTX, launch descriptions and data of each kernel's first launch (which further shapes are kept is a matter of their
time). A line for each program, `same` or what differs first; exit 1 when one
differs. --dry: both captures without a GPU, to try the script."""
import concurrent.futures, glob, json, os, shutil, subprocess, sys, tempfile

NAMES = ["bitonic", "cooperative", "convolution", "grids", "histogram", "lambdas", "matmul", "nbody", "reduction", "scan", "search", "spmv",
         "stencil", "symbols", "templates", "transpose", "vectors", "votes"]
words = [w for w in sys.argv[1:] if w != "--dry"]
dry = "--dry" in sys.argv
gpulocw, names = os.path.realpath(words[0]), words[1:] or NAMES
nvcc = os.environ.get("NVCC") or shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
if not nvcc:
    sys.exit("no nvcc")


def build(name):
    made = subprocess.run([nvcc, "-std=c++17", "-O2", "-w", "-arch=" + os.environ.get("EMULATE_ARCH", "sm_90"), f"tests/emulate/cuda/{name}.cu",
                           "-o", f"{work}/{name}"], capture_output=True, text=True)
    return None if made.returncode == 0 else "does not compile: " + made.stderr.strip()[:120]


def capture(name, emulated):
    folder = f"{work}/{name}.{'emulated' if emulated else 'gpu'}"
    ran = subprocess.run([gpulocw, "capture", "--shapes", "1", *(["--emulate"] if emulated or dry else []), "-o", folder, "--", f"{work}/{name}"], capture_output=True,
                         text=True, timeout=120)
    return folder, None if ran.returncode == 0 else f"{'emulated' if emulated else 'GPU'}: exit {ran.returncode}: {(ran.stderr or ran.stdout).strip()[-160:]}"


def first_difference(a, b, at=""):
    """The place of two JSON values where they differ, in words; None: nowhere."""
    if type(a) is type(b) and isinstance(a, dict):
        for k in [*a, *(k for k in b if k not in a)]:
            d = first_difference(a.get(k), b.get(k), f"{at}.{k}")
            if d:
                return d
        return None
    if type(a) is type(b) and isinstance(a, list) and len(a) == len(b):
        return next((d for i, (x, y) in enumerate(zip(a, b)) if (d := first_difference(x, y, f"{at}[{i}]"))), None)
    return None if a == b else f"{at}: {json.dumps(a)[:60]} here, {json.dumps(b)[:60]} emulated"


def compare(gpu, emulated):
    kept = lambda f: sorted(os.path.basename(p) for p in glob.glob(f + "/*") if os.path.basename(p) not in ("capture.json", "gpulocw-files.json"))
    a, b = kept(gpu), kept(emulated)
    if a != b:
        return f"files: only here {sorted(set(a) - set(b))}, only emulated {sorted(set(b) - set(a))}", 0, 0
    told, total = [], 0
    for f in a:
        x, y = (open(f"{folder}/{f}", "rb").read() for folder in (gpu, emulated))
        total += len(x)
        if x != y and f.endswith(".json"):
            told.append(f"{f} {first_difference(json.loads(x), json.loads(y)) or 'is written differently'}")
        elif x != y:
            n = sum(p != q for p, q in zip(x, y)) + abs(len(x) - len(y))
            told.append(f"{f}: {n} of {len(x)} bytes")
    return "; ".join(told), len([f for f in a if f.endswith(".launch.json")]), total


with tempfile.TemporaryDirectory() as work:
    with concurrent.futures.ThreadPoolExecutor() as pool:
        failed = dict(zip(names, pool.map(build, names)))
        emulated = dict(zip(names, pool.map(lambda n: ("", failed[n]) if failed[n] else capture(n, True), names)))
    different = 0
    for name in names:
        gpu, why = ("", emulated[name][1]) if emulated[name][1] else capture(name, False)
        launches = total = 0
        if not why:
            why, launches, total = compare(gpu, emulated[name][0])
            why = why or ("" if launches else "nothing was captured")
        different += bool(why)
        print(f"{name:14} {launches:2} launches {total:9} bytes  {why or 'same'}", flush=True)
    print(f"{len(names) - different} of {len(names)} the same")
sys.exit(different != 0)
