#!/usr/bin/env python3
"""The CUDA programs of tests/emulate/cuda under emulation: python3 tests/tool/emulate_suite.py BUILD [NAME...] [--ways static,shared,...]

Compiles each with an nvcc (NVCC, or of PATH, or /usr/local/cuda) and runs it; a line for each says PASS or what it said instead.
Ways: static (nvcc's default), shared (-cudart shared), stripped (the same without symbols), rdc (-rdc=true), archs (PTX of two
architectures and machine code beside it). A program that begins with "needs CUDA N" is left out with an older nvcc, one that
begins with "needs sm_90" is built for one architecture.
Exit 1 when one does not pass; 77: no nvcc."""
import glob, os, re, shutil, subprocess, sys, tempfile

words = sys.argv[1:]
arch = os.environ.get("EMULATE_ARCH", "sm_90")
shared = ["-cudart", "shared"]
flags = {"static": ["-arch=" + arch], "shared": ["-arch=" + arch, *shared], "stripped": ["-arch=" + arch, *shared, "-Xlinker", "-s"],
         "rdc": ["-arch=" + arch, "-rdc=true"],
         "archs": ["-gencode", "arch=compute_80,code=[sm_80,compute_80]", "-gencode", "arch=compute_90,code=[sm_90,compute_90]"]}
ways = words[words.index("--ways") + 1].split(",") if "--ways" in words else list(flags)
if "--ways" in words:
    del words[words.index("--ways"):words.index("--ways") + 2]
program, names = os.path.realpath(os.path.join(words[0], "gpulocw")), words[1:]
nvcc = os.environ.get("NVCC") or shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
if not nvcc:
    print("no nvcc")
    sys.exit(77)


def output(*argv, **more):
    return subprocess.run(argv, capture_output=True, text=True, errors="replace", **more)


def version():
    found = re.search(r"release (\d+)\.(\d+)", output(nvcc, "--version").stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def needed(source):
    found = re.search(r"needs CUDA (\d+)(?:\.(\d+))?", open(source).readline())
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def tried(source, way, out):
    how = flags["static" if way == "archs" and "needs sm_90" in open(source).readline() else way]
    made = output(nvcc, "-std=c++17", "-O2", "-w", *how, source, "-o", out)
    if made.returncode:
        return "does not compile: " + made.stderr[:200].strip()
    ran = output(program, "emulate", "--", out, timeout=300)
    if ran.returncode == 0 and ran.stdout.rstrip().endswith("PASS"):
        return "PASS"
    return "exit %d: %s %s" % (ran.returncode, ran.stdout[-200:].strip(), ran.stderr[:200].strip())


release, passed, failed = version(), dict.fromkeys(ways, 0), 0
with tempfile.TemporaryDirectory() as folder:
    for source in sorted(glob.glob("tests/emulate/cuda/*.cu")):
        name = os.path.basename(source)[:-3]
        if names and name not in names:
            continue
        if needed(source) > release:
            print("%-14s needs CUDA %d.%d" % (name, *needed(source)))
            continue
        said = {way: tried(source, way, os.path.join(folder, name)) for way in ways}
        for way in ways:
            passed[way] += said[way] == "PASS"
            failed += said[way] != "PASS"
        print("%-14s %s" % (name, "  ".join(w + ": " + said[w] for w in ways)), flush=True)
print("nvcc %d.%d: %s pass, %d do not" % (*release, ", ".join("%d %s" % (passed[w], w) for w in ways), failed))
sys.exit(failed != 0)
