#!/usr/bin/env python3
"""Compares the simulated device with an independent reference, kernel by kernel, and writes expected.txt.

    tests/heldout/suites/twin.py [--gpulocw build/gpulocw] [--device sim:hopper-h200] [--folder F] [--write]

The reference is the same source compiled for a processor (twin.h: threads as contexts, no shared code with the
simulated device), on data made from the launch description here. Outputs are the same bytes, or, where the kernel uses
functions whose bits nobody fixes, within a bound. --folder: PTX built otherwise, same launches, bounds for all floats.
"""
import argparse, json, math, os, re, struct, subprocess, sys, tempfile
HERE = os.path.dirname(os.path.abspath(__file__))
FORM = {"u8": "B", "s8": "b", "u16": "H", "s16": "h", "u32": "I", "s32": "i", "u64": "Q", "s64": "q", "f32": "f", "f64": "d", "f16": "e"}
# Functions of the mathematics library, or tensor cores: bits are not fixed. Largest error, relative above 1 and absolute below.
LOOSE = {"r_lava": 2e-5, "p_mriq": 2e-4, "p_cutcp": 0, "s_blackscholes": 2e-5, "s_fft": 2e-5, "s_montecarlo": 1e-4, "l_double": 1e-12, "l_floats": 2e-4, "l_wmma": 2e-5,
         "m_rmsnorm_back": 1e-5, "m_softmax_online": 2e-6, "m_attention": 2e-6, "m_flash": 2e-6, "m_swiglu": 2e-6, "m_embed_back": 1e-5, "m_crossentropy": 2e-6, "c_hourglass": 0, "h_flash": 2e-4}
M = (1 << 64) - 1

def mix(seed, i):
    z = (seed + (i + 1) * 0x9E3779B97F4A7C15) & M
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & M
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & M
    return z ^ z >> 31

def value(ty, x):
    if ty[0] == "f":
        return struct.pack("<" + FORM[ty], x)
    return struct.pack("<Q", int(x) & M)[: struct.calcsize(FORM[ty])]

def make(ty, n, init):
    if not init:
        return bytes(n * struct.calcsize(FORM[ty]))
    if "fill" in init:
        return value(ty, init["fill"]) * n
    if "iota" in init:
        a, s = init["iota"]
        return b"".join(value(ty, a + s * i) for i in range(n))
    seed = init.get("seed", 0)
    if "permutation" in init:
        v = list(range(n))
        for k, i in enumerate(range(n - 1, 0, -1)):
            j = mix(seed, k) % (i + 1)
            v[i], v[j] = v[j], v[i]
        return b"".join(value(ty, x) for x in v)
    lo, hi = init["random"]
    if ty[0] == "f":
        return b"".join(value(ty, lo + (hi - lo) * ((mix(seed, i) >> 40) / 2 ** 24)) for i in range(n))
    return b"".join(value(ty, lo + mix(seed, i) % (hi - lo + 1)) for i in range(n))

def build(name, work):
    text = open(os.path.join(HERE, name + ".cu")).read()
    here = os.path.join(work, name)
    os.makedirs(here)
    open(here + "/twin_list.h", "w").write("".join("ENTRY(%s)\n" % k for k in re.findall(r"^K (\w+)\(", text, re.M)))
    sym = re.findall(r"^__constant__ .*?(\w+)\[", text, re.M) + re.findall(r"^__device__ unsigned int (\w+);", text, re.M)
    open(here + "/twin_symbols.h", "w").write("".join('{ "%s", (void *)&%s },\n' % (s, s) for s in sym))
    text = re.sub(r"extern __shared__ float (\w+)\[\];", r"extern float \1[];", text)
    open(here + "/source.cu", "w").write(text)
    dyn = re.search(r"extern float (\w+)\[\];", text)
    cmd = ["g++", "-std=c++17", "-O1", "-w", "-ffp-contract=off", "-fno-strict-aliasing", "-DTWIN", '-DSOURCE="source.cu"', "-I" + here, "-I" + HERE, "-o", here + "/twin", os.path.join(HERE, "twin.cpp")]
    if dyn:
        cmd.insert(1, "-DDYNAMIC=" + dyn.group(1))
    subprocess.run(cmd, check=True)
    return here + "/twin"

def go(exe, l, work, files):
    cmd = [exe, l["kernel"]] + [str(x) for x in l["grid"] + l["block"]] + [str(l.get("shared", 0))]
    for a in l["args"]:
        if "same_as" in a:
            cmd.append(files[a["same_as"]])
            continue
        if "buffer" in a:
            p = files.setdefault(a["name"], "%s/%s.%s" % (work, l["name"], a["name"]))
            open(p, "wb").write(make(a["buffer"], a["count"], a.get("init")))
            cmd.append(p)
            continue
        ty = next(t for t in FORM if t in a)
        cmd.append("=" + value(ty, a[ty]).hex())
    for s in l.get("symbols", []):
        p = "%s/%s.%s" % (work, l["name"], s["name"])
        open(p, "wb").write(make(s["buffer"], s["count"], s["init"]))
        cmd.append(s["name"] + "=" + p)
    subprocess.run(cmd, check=True, timeout=120)

def reference(exe, l, work):
    files = {}
    for a in l["args"]:
        if "buffer" in a:
            files[a["name"]] = "%s/%s.%s" % (work, l["name"], a["name"])
            open(files[a["name"]], "wb").write(make(a["buffer"], a["count"], a.get("init")))
    for b in l.get("before", []):
        go(exe, dict(b, name=l["name"]), work, files)
    made = set(x["same_as"] for b in l.get("before", []) for x in b["args"] if "same_as" in x)
    keep = {k: open(files[k], "rb").read() for k in made}
    real = {k: v for k, v in files.items()}
    # the kernel itself, with what the kernels before it left
    cmd_l = dict(l, args=[{"name": a["name"], "same_as": a["name"]} if a.get("name") in keep else a for a in l["args"]])
    go(exe, cmd_l, work, real)
    return {a["name"]: (a["buffer"], open(files[a["name"]], "rb").read()) for a in l["args"] if a.get("output")}

def apart(ty, x, y):
    if ty[0] != "f":
        return 0 if x == y else math.inf
    f, n = "<%d" + FORM[ty], len(x) // struct.calcsize(FORM[ty])
    worst = 0
    for a, b in zip(struct.unpack("<%d%s" % (n, FORM[ty]), x), struct.unpack("<%d%s" % (n, FORM[ty]), y)):
        if a != a and b != b:
            continue
        d = abs(a - b) / max(1, abs(a), abs(b))
        worst = d if not d <= worst else worst
    return worst

def main():
    p = argparse.ArgumentParser()
    p.add_argument("--gpulocw", default="build/gpulocw")
    p.add_argument("--device", default="sim:hopper-h200")
    p.add_argument("--folder", default=HERE)
    p.add_argument("--suites", help="of these files only; --write leaves the others' lines", default="rodinia,parboil,polybench,samples,lang,models,science,field,library,hopper")
    p.add_argument("--only", default="")
    p.add_argument("--write", action="store_true")
    p.add_argument("options", nargs="*")
    a = p.parse_args()
    bad, lines, exact, loose = 0, [], 0, 0
    with tempfile.TemporaryDirectory() as work:
        for name in a.suites.split(","):
            if not os.path.exists("%s/%s.ptx" % (a.folder, name)):
                continue
            exe = None
            for l in json.load(open("%s/%s.launch.json" % (HERE, name)))["launches"]:
                if l["name"].endswith("-h200") or (a.only and l["name"] not in a.only.split(",")):
                    continue
                exe = exe or build(name, work)
                want = reference(exe, l, work)
                out = work + "/out"
                subprocess.run(["rm", "-rf", out])
                r = subprocess.run([a.gpulocw, "run", "%s/%s.ptx" % (a.folder, name), "--launch", "%s/%s.launch.json" % (HERE, name), "-k", l["name"], "--device", a.device, "--no-counters", "--json", "--outputs", out] + a.options, capture_output=True, text=True, timeout=300)
                try:
                    hashes = {o["name"]: o["hash"] for o in json.loads(r.stdout)["outputs"]}
                except ValueError:
                    print("%s: exit %d: %s" % (l["name"], r.returncode, r.stderr.strip()[:300]))
                    bad += 1
                    continue
                for k, (ty, ref) in want.items():
                    got = open("%s/%s.bin" % (out, k), "rb").read()
                    d = apart(ty, ref, got)
                    bound = LOOSE.get(l["kernel"], 0) if a.folder == HERE else max(LOOSE.get(l["kernel"], 0), 1e-4)
                    same = ref == got
                    exact += same
                    loose += not same and d <= bound
                    if not same and not d <= bound:
                        print("%s %s: differs by %g from the reference" % (l["name"], k, d))
                        bad += 1
                    lines.append("%s %s %s %s %s" % (name, l["name"], k, hashes[k], "reference" if same else "within %g" % bound))
    if a.write and not bad:
        kept = [x for x in open(HERE + "/expected.txt").read().splitlines() if x.split()[0] not in a.suites.split(",")]
        open(HERE + "/expected.txt", "w").write("\n".join(kept + lines) + "\n")
    print("%d outputs: %d with the reference's bytes, %d within their bound, %d wrong" % (len(lines), exact, loose, bad))
    return 1 if bad else 0

sys.exit(main())
