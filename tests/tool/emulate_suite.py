#!/usr/bin/env python3
"""The CUDA programs of tests/emulate/cuda under emulation: python3 tests/tool/emulate_suite.py BUILD [NAME...] [--ways static,shared,rdc]

Compiles each with the nvcc that is there (NVCC, or of PATH, or /usr/local/cuda) and runs it; a line for each says PASS or what it
said instead. Ways: static (nvcc's default), shared (-cudart shared), rdc (-rdc=true). Exit 1 when one does not pass; 77: no nvcc."""
import glob, os, shutil, subprocess, sys, tempfile

words = sys.argv[1:]
ways = words[words.index("--ways") + 1].split(",") if "--ways" in words else ["static", "shared", "rdc"]
if "--ways" in words:
    del words[words.index("--ways"):words.index("--ways") + 2]
program, names = os.path.realpath(os.path.join(words[0], "gpulocw")), words[1:]
nvcc = os.environ.get("NVCC") or shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
if not nvcc:
    print("no nvcc")
    sys.exit(77)
flags = {"static": [], "shared": ["-cudart", "shared"], "rdc": ["-rdc=true"]}
arch = os.environ.get("EMULATE_ARCH", "sm_90")
failed = 0
with tempfile.TemporaryDirectory() as folder:
    for source in sorted(glob.glob("tests/emulate/cuda/*.cu")):
        name = os.path.basename(source)[:-3]
        if names and name not in names:
            continue
        said = []
        for way in ways:
            out = os.path.join(folder, name)
            made = subprocess.run([nvcc, "-std=c++17", "-O2", "-w", "-arch=" + arch, *flags[way], source, "-o", out], capture_output=True, text=True)
            if made.returncode:
                said.append("%s: does not compile: %s" % (way, made.stderr[:120].strip()))
                continue
            ran = subprocess.run([program, "emulate", "--", out], capture_output=True, text=True, timeout=300)
            fine = ran.returncode == 0 and ran.stdout.rstrip().endswith("PASS")
            said.append("%s: %s" % (way, "PASS" if fine else "exit %d: %s %s" % (ran.returncode, ran.stdout[-200:].strip(), ran.stderr[:200].strip())))
        failed += not all(s.endswith(": PASS") for s in said)
        print("%-14s %s" % (name, "  ".join(said)), flush=True)
print("%d do not pass" % failed)
sys.exit(failed != 0)
