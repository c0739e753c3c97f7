#!/usr/bin/env python3
"""Programs that nobody here wrote: compiled where they are used, and their kernels captured, for accuracy.py, gain.py and optimize.py.

    tests/gpu/public.py build SOURCES BIN              SOURCES has a checkout of each repository of public.txt, by its name; BIN gets the programs
    tests/gpu/public.py capture GPULOCW BIN FOLDER     FOLDER/PROGRAM gets the kernels of each
    tests/gpu/public.py optimize GPULOCW BIN FILE      `optimize` of each, one JSON line a program

What does not compile, does not run or takes longer than its limit is told, and is not at hand then. --total: seconds after which nothing is
begun; --jobs: at once (optimize: one for each GPU of --gpus); --only: names; --emulate: capture and optimize without a GPU."""
import argparse, concurrent.futures, contextlib, json, os, queue, shutil, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
NVCC = os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


def programs():
    """(name, repository, what is compiled, arguments) of each line of public.txt."""
    for line in open(os.path.join(HERE, "public.txt")):
        if line.strip() and line[0] != "#":
            name, repository, what, *args = line.split()
            yield name, repository, what, args


def limited(words, seconds, **more):
    """All that was said, and the exit status; one that takes longer is ended with its children."""
    p = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True, **more)
    try:
        said = p.communicate(timeout=seconds)[0]
        return said, p.returncode
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, 9)
        p.communicate()
        return "longer than %g s" % seconds, 124


def last(text):
    lines = [l for l in text.strip().splitlines() if l.strip()]
    return lines[-1][:120] if lines else "nothing said"


def compiled(a, name, repository, what):
    """A folder with a Makefile (its `program` is made), or words with commas between them: sources, +DIR an include path, =DIR a folder of data."""
    out, words = os.path.join(a.out, name), what.split(",")
    if os.path.exists(out):
        return "there"
    at = lambda w: os.path.join(a.sources, repository, w.lstrip("+="))
    for w in words:
        if w[0] == "=":
            shutil.copytree(at(w), os.path.join(out + ".files", os.path.basename(w)), dirs_exist_ok=True)
    if what.endswith("/"):
        folder = os.path.join(a.sources, repository, what)
        text = open(folder + "Makefile").read()
        made = next((l.split("=")[1].strip() for l in text.splitlines() if l.startswith("program") and "=" in l), "main")
        said, rc = limited(["make", "-C", folder, "CC=" + NVCC, "ARCH=sm_90", "EXTRA_CFLAGS=-lineinfo", made], a.limit)
        if not rc:
            shutil.copy(folder + made, out)
    else:
        said, rc = limited([NVCC, "-O3", "-arch=sm_90", "-lineinfo", "-std=c++17", "-w", '-DPRKVERSION="1"', "--extended-lambda",
                            *["-I" * (w[0] == "+") + at(w) for w in words if w[0] != "="], "-o", out], a.limit)
    return None if not rc else "does not compile: " + last(said)


@contextlib.contextmanager
def folder_to_run(program):
    """A folder of its own, with the program's data."""
    with tempfile.TemporaryDirectory() as cwd:
        if os.path.isdir(program + ".files"):
            shutil.copytree(program + ".files", cwd, dirs_exist_ok=True)
        yield cwd


def captured(a, name, args):
    folder, program = os.path.abspath(os.path.join(a.out, name)), os.path.join(os.path.abspath(a.bin), name)
    if not os.path.exists(program):
        return "was not compiled"
    with folder_to_run(program) as cwd:
        said, rc = limited([a.gpulocw, "capture", *(["--emulate"] if a.emulate else []), "--json", "--force", "--max-bytes", "400M", "--time-limit", "6", "-o", folder, "--", program, *args], a.limit, cwd=cwd)
    try:
        d = json.loads(said[said.index('{\n  "format"'):])
    except ValueError:
        return last(said)
    if "kernels" not in d:
        return "; ".join(x.get("message", "?") for x in d.get("diagnostics", []))[:200] or last(said)
    have = [k for k in d["kernels"] if k["files"]]
    return None if have else "nothing captured: " + str(next((k["not_captured"] or k["why"] for k in d["kernels"]), "no kernel"))[:160]


def optimized(a, name, args):
    """One row of optimize; a text: why there is none."""
    gpu, began, program = a.free.get(), time.time(), os.path.join(os.path.abspath(a.bin), name) # a GPU of its own
    env = os.environ if a.gpus == 1 else dict(os.environ, CUDA_VISIBLE_DEVICES=str(gpu))
    with folder_to_run(program) as cwd:
        said, rc = limited([a.gpulocw, "optimize", *(["--emulate"] if a.emulate else []), "--json", "--aside", "--seconds", str(a.seconds), "-o", cwd + "/o", "--",
                               program, *args], a.limit, cwd=cwd, env=env)
    a.free.put(gpu)
    try:
        d = json.loads(said[said.index('{\n  "format"'):])
    except ValueError:
        return last(said)
    return {"program": name, "args": args, "seconds": round(time.time() - began, 1), "document": d}


def tried(work, program):
    try:
        return work(*program)
    except OSError as e: # one program's surprise is not the others'
        return str(e)


def each(a, work, what):
    """`work` for every program, --jobs at once; a line for each that fails."""
    began, good = time.time(), 0
    chosen = [p for p in programs() if not a.only or p[0] in a.only.split(",")]
    late = lambda: a.total and time.time() - began > a.total
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for p, why in pool.map(lambda p: (p, "not reached" if late() else tried(work, p)), chosen):
            good += why in (None, "there")
            if why not in (None, "there"):
                print("%-28s %s" % (p[0], why), flush=True)
    print("%d of %d programs %s, %.0f s" % (good, len(chosen), what, time.time() - began), flush=True)


def optimize(a, name, args):
    if not os.path.exists(os.path.join(a.bin, name)):
        return "was not compiled"
    row = optimized(a, name, args)
    if isinstance(row, str):
        return row
    with open(a.out, "a") as f:
        f.write(json.dumps(row) + "\n")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(dest="command", required=True)
    for name, first in (("build", ["sources"]), ("capture", ["gpulocw", "bin"]), ("optimize", ["gpulocw", "bin"])):
        s = sub.add_parser(name)
        for w in first + ["out"]:
            s.add_argument(w)
        s.add_argument("--total", type=float, default=0), s.add_argument("--only", default=""), s.add_argument("--emulate", action="store_true")
        s.add_argument("--jobs", type=int, default=os.cpu_count()), s.add_argument("--gpus", type=int, default=1)
        s.add_argument("--limit", type=float, default=60, help="seconds for one program")
        s.add_argument("--seconds", type=float, default=8, help="of searching, for all kernels of a program (optimize)")
    a = p.parse_args()
    if hasattr(a, "gpulocw"):
        a.gpulocw = os.path.abspath(a.gpulocw)
    if a.command == "build":
        os.makedirs(a.out, exist_ok=True)
        return each(a, lambda name, repository, what, args: compiled(a, name, repository, what), "compiled")
    if a.command == "capture":
        return each(a, lambda name, repository, what, args: captured(a, name, args), "captured")
    a.jobs, a.free = a.gpus, queue.SimpleQueue()
    for gpu in range(a.gpus):
        a.free.put(gpu)
    each(a, lambda name, repository, what, args: optimize(a, name, args), "optimized")


main()
