#!/usr/bin/env python3
"""What `source` makes of 25 configurations of 6 kernels (make source-table).

Each kernel is compiled with nvcc -lineinfo, run with the configuration, and its session given to `source`.
A printed edit is applied with patch, compiled with nvcc and run on the simulated device by this script, which
compares outputs with the original's and sectors with the rewrite's by itself. Cells:
  edit     the edit was printed as verified, and this script agrees
  launch   the source stays, the launch is another: this script agrees
  told     no source form, or what was made is not the rewrite: said, and nothing is edited
  refused  the rewrite itself is not legal for this kernel
  WRONG    anything else; the exit status is 1
Arguments: the program, then numbers of kernels (0 to 5; none: all)."""
import json, os, shutil, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.abspath(sys.argv[1])
KERNELS = [("tests/source/scale", "tiles"), ("kernels/gemm", "gemm"), ("kernels/spmv", "spmv"),
           ("kernels/stencil3d", "stencil3d"), ("kernels/mm_tiled", "mm_tiled"),
           ("kernels/transpose", "transpose_tiled")]
CONFIGURATIONS = """--bypass l1 --pi 0
--bypass l1 --pi 2
--bypass l1 --pi 1 --bypass-op no_allocate
--bypass l1 --pi 0 --bypass-op cs
--bypass l1 --pi 1 --bypass-op evict_first
--bypass l2 --pi 0
--bypass l1 --pi cha
--bypass l1 --pi 1 --bypass-form predicate
--readonly promote
--cluster redirect --index row --clusters 3
--cluster redirect --index column
--cluster redirect --index tile:2x2 --clusters 1
--cluster agent
--block 64x1x1
--block 16x16x1
--block 64x2x1 --bypass l1 --pi 1
--swap-xy
--coarsen 2
--coarsen 2 --coarsen-mode blocked
--coarsen 4 --coarsen-mode vector
--smem-pad 128
--swizzle-shared
--minctas 2 --throttle-shared 4096
--maxnreg 32 --carveout 50
--prefetch l1""".split("\n")
NVCC = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"


def call(folder, *words):
    r = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=600)
    return r.returncode, r.stdout, r.stderr


def run(folder, ptx, launch, kernel, *words):
    rc, out, err = call(folder, PROGRAM, "run", ptx, "-l", launch, "-k", kernel, "--json", *words)
    return (json.loads(out) if rc == 0 else None), err


def sectors(result):
    return next(c["value"] for c in result["counters"] if c["name"] == "l1.sectors")


def compiled(folder, name, kernel):
    """The source beside its PTX, and the one launch of the kernel."""
    source = os.path.join(ROOT, name)
    shutil.copy(source + ".cu", os.path.join(folder, "k.cu"))
    rc, _, err = call(folder, NVCC, "-ptx", "-lineinfo", "-arch=sm_90", "k.cu", "-o", "k.ptx")
    assert rc == 0, err
    with open(source + ".launch.json") as f:
        d = json.load(f)
    one = next(l for l in d.get("launches", [d]) if l["kernel"] == kernel)
    one.pop("ptx", None)
    one.pop("name", None)
    one.update({"format": "gpulocw-launch", "version": 1})
    with open(os.path.join(folder, "k.launch.json"), "w") as f:
        json.dump(one, f)


def edited(folder, k, kernel, words):
    """None: outputs are the original's and sectors the rewrite's; else what is not."""
    with open(os.path.join(folder, "k.diff"), "w") as f:
        f.write(k["diff"] or "")
    shutil.copy(os.path.join(folder, "k.cu"), os.path.join(folder, "e.cu"))
    if k["diff"]:
        rc, out, err = call(folder, "patch", "-s", "e.cu", "k.diff")
        if rc:
            return "patch: " + out + err
    rc, _, err = call(folder, NVCC, "-ptx", "-arch=sm_90", "e.cu", "-o", "e.ptx")
    if rc:
        return "nvcc: " + err[:200]
    with open(os.path.join(folder, "k.launch.json")) as f:
        l = json.load(f)
    l.update(k["launch"])
    with open(os.path.join(folder, "e.launch.json"), "w") as f:
        json.dump(l, f)
    carveout = ["--carveout", words[words.index("--carveout") + 1]] if "--carveout" in words else []
    e, err = run(folder, "e.ptx", "e.launch.json", kernel, *carveout)
    o, _ = run(folder, "k.ptx", "k.launch.json", kernel)
    r, _ = run(folder, "k.ptx", "k.launch.json", kernel, *words)
    if not e or not o or not r:
        return "run: " + err[:200]
    if [x["hash"] for x in e["outputs"]] != [x["hash"] for x in o["outputs"]]:
        return "outputs differ"
    if abs(sectors(e) - sectors(r)) > 0.02 * max(sectors(e), sectors(r)):
        return "sectors %.0f, rewrite %.0f" % (sectors(e), sectors(r))
    return None


def cell(folder, kernel, line):
    words = line.split()
    session = os.path.join(folder, "s.json")
    if os.path.exists(session):
        os.remove(session)
    rc, _, err = call(folder, PROGRAM, "run", "k.ptx", "-l", "k.launch.json", "-k", kernel, *words, "-o",
                      "s.json")
    if rc == 3 or "refused" in err or "legal" in err:
        return "refused", ""
    if rc:
        return "WRONG", "run %d: %s" % (rc, err[-200:])
    rc, out, err = call(folder, PROGRAM, "source", "s.json", "--json")
    if rc:
        return "refused" if "recommends nothing" in err else "WRONG", "source %d: %s" % (rc, err[-200:])
    k = json.loads(out)["kernels"][0]
    if not k["certain"]:
        clean = k["why"] and not k["edits"] and not k["diff"] and k["verified"] is None
        return ("told" if clean else "WRONG"), k["why"]
    why = edited(folder, k, kernel, words)
    if why:
        return "WRONG", why
    return ("edit" if k["edits"] else "launch"), "%.2fx, rewrite %.2fx" % (
        k["tried"]["original_ns"] / k["tried"]["patched_ns"],
        k["tried"]["original_ns"] / k["tried"]["rewritten_ns"])


def main():
    which = [int(a) for a in sys.argv[2:]] or range(len(KERNELS))
    notes, count = [], {}
    table = {}
    for n in which:
        name, kernel = KERNELS[n]
        with tempfile.TemporaryDirectory() as folder:
            compiled(folder, name, kernel)
            for line in CONFIGURATIONS:
                what, why = cell(folder, kernel, line)
                table[line, n] = what
                count[what] = count.get(what, 0) + 1
                notes.append("%s, %s: %s%s" % (kernel, line, what, ": " + why if why else ""))
                print("#", notes[-1], file=sys.stderr, flush=True)
    print("%-52s" % "configuration" + "".join("%-16s" % KERNELS[n][1] for n in which))
    for line in CONFIGURATIONS:
        print("%-52s" % line + "".join("%-16s" % table[line, n] for n in which))
    print("\n" + "\n".join(n for n in notes if ": told" in n or ": WRONG" in n))
    print("\n" + ", ".join("%d %s" % (v, k) for k, v in sorted(count.items())))
    return 1 if count.get("WRONG") else 0


if __name__ == "__main__":
    sys.exit(main())
