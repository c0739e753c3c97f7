#!/bin/bash
# ptxas takes every rewrite of what it takes: random options on kernels of other producers and on small old modules.
# GPULOCW_PTXAS_COUNT: how many (24); GPULOCW_PTXAS_SEED: another draw. Old targets are assembled as -arch=sm_75 takes them.
. tests/tool/tap.sh
PTXAS=$(command -v ptxas || ls /usr/local/cuda/bin/ptxas 2> /dev/null)
[ -n "$PTXAS" ] || { echo "ok 1 - no ptxas here # SKIP"; echo "1..1"; exit 0; }
python3 - "$B" "$PTXAS" "$T" > "$T/said" 2>&1 <<'PY'
import concurrent.futures, glob, os, random, re, subprocess, sys
exe, ptxas, tmp = sys.argv[1:]
count, seed = int(os.environ.get("GPULOCW_PTXAS_COUNT", "24")), int(os.environ.get("GPULOCW_PTXAS_SEED", "1"))
rnd = random.Random(seed)
body = """.visible .entry k(.param .u64 a, .param .u64 b)%s
{ .reg .u64 %%d<6>; .reg .u32 %%r<6>; .reg .pred %%p<3>; .reg .f32 %%f<3>;
 ld.param.u64 %%d1, [a]; ld.param.u64 %%d2, [b]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%d3, %%r1, 4; add.u64 %%d4, %%d1, %%d3;
 ld.global.f32 %%f1, [%%d4]; %s add.u64 %%d5, %%d2, %%d3; st.global.f32 [%%d5], %%f1; ret; }
"""
forms = ["", "setp.gt.f32 %p1, %f1, 0f00000000; vote.any.pred %p2, %p1; @%p2 add.f32 %f1, %f1, %f1;",
         "mov.b32 %r2, %f1; shfl.bfly.b32 %r3, %r2, 1, 31; mov.b32 %f1, %r3;", "bar.sync 0;", "membar.gl;", "{ .reg .u32 %q; mov.u32 %q, %clock; }"]
old = []
for version, target in [("1.4", 13), ("2.0", 20), ("3.1", 30), ("4.1", 35), ("5.0", 50), ("6.2", 60), ("6.5", 60), ("6.3", 70), ("7.0", 75)]:
    for n, form in enumerate(forms):
        if "shfl" in form and target < 30 or "vote" in form and target < 13 or target >= 70 and ("vote" in form or "shfl" in form):
            continue
        path = "%s/old_%s_%d_%d.ptx" % (tmp, version.replace(".", ""), target, n)
        size = ".address_size 64\n" if float(version) >= 2.3 else ""
        open(path, "w").write(".version %s\n.target sm_%d\n%s" % (version, target, size) + body % ("", form))
        open(path[:-4] + ".launch.json", "w").write('{"format":"gpulocw-launch","version":1,"launches":[{"name":"d","kernel":"k","ptx":"%s","grid":[4,1,1],"block":[64,1,1],"args":[{"name":"a","buffer":"f32","count":64},{"name":"b","buffer":"f32","count":64,"output":true}]}]}' % os.path.basename(path))
        old.append((path, path[:-4] + ".launch.json", "d"))
import json
mods = list(old)
for f in sorted(glob.glob("kernels/*.launch.json") + glob.glob("tests/heldout/suites/*.launch.json")):
    doc = json.load(open(f))
    for l in doc.get("launches", [doc]):
        mods.append((f.replace(".launch.json", ".ptx"), f, l.get("name", "default")))
def options():
    o = []
    def maybe(p, *v):
        if rnd.random() < p: o.extend(rnd.choice(v).split())
    maybe(.6, *["--bypass %s --pi %s" % (l, p) for l in ("l1", "ro", "l2", "l1+l2") for p in ("1", "bpa", "vote")],
          "--bypass l1 --bypass-op no_allocate --pi 1", "--bypass l1 --bypass-form predicate --bypass-op cs --pi 1", "--bypass l1 --bypass-form grouped --pi 1")
    maybe(.3, "--readonly promote", "--readonly demote")
    maybe(.3, "--cluster redirect --clusters 3", "--cluster agent", "--cluster agent --agents vote", "--cluster agent --prefetch l1", "--cluster redirect --index tile:2x2")
    maybe(.2, "--block 32x2x1", "--coarsen 2", "--coarsen 2 --coarsen-mode vector", "--swap-xy")
    maybe(.25, "--softcache 1", "--softcache dynamic", "--prefetch l2")
    maybe(.4, "--maxnreg %d" % rnd.choice((16, 24, 32, 40, 64, 128)), "--minctas %d" % rnd.choice((1, 2, 4)), "--throttle-shared 1024")
    return o or ["--bypass", "l1", "--pi", "vote"]
jobs = [(n, rnd.choice(old if n % 2 else mods), options(), rnd.choice(("sim:hopper-h200", "sim:hopper-h200", "sim:fermi-48k"))) for n in range(count)]
takes = {}
def assemble(path):
    t = int(re.search(r"\.target\s+sm_(\d+)", open(path).read())[1])
    suffix = re.search(r"\.target\s+sm_\d+(a?)", open(path).read())[1]
    r = subprocess.run([ptxas, "-O0", "-arch=sm_%d%s" % (max(t, 75), suffix), path, "-o", "/dev/null"], capture_output=True, text=True)
    return r.returncode, r.stderr + r.stdout
def one(job):
    n, (ptx, launch, name), opts, dev = job
    out = "%s/r%d.ptx" % (tmp, n)
    r = subprocess.run([exe, "rewrite", ptx, "--launch", launch, "-k", name, "--device", dev, "-o", out] + opts, capture_output=True, text=True, timeout=60)
    if r.returncode:
        return "refused" if r.returncode == 3 or "[launch-size]" in r.stderr else "exit %d" % r.returncode, job, r.stderr[-300:]
    code, said = assemble(out)
    kind, text = ("taken", "") if not code else ("as the original", "") if assemble(ptx)[0] else ("PTXAS REFUSES", said)
    os.path.exists(out) and not text and os.remove(out)
    return kind, job, text
tally = {}
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for kind, job, text in pool.map(one, jobs):
        tally[kind] = tally.get(kind, 0) + 1
        if kind not in ("taken", "refused", "as the original"):
            print(kind, job[1][0], job[1][2], " ".join(job[2]), job[3], text[:300].replace("\n", " "))
print("tally", sorted(tally.items()), file=open(tmp + "/tally", "w"))
PY
is "texts that ptxas refuses and other ends" "none: $(cat "$T/said")" "none: "
is "some were taken" "$(grep -c taken "$T/tally")" 1
echo "# $(cat "$T/tally" 2> /dev/null)"
echo "1..$n"
exit $bad
