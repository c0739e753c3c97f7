#!/usr/bin/env python3
"""The special function unit: results on a device against what an H200 gave (special-h200.txt).

    tests/gpu/special.py GPULOCW DEVICE FOLDER            compares; a TAP line for each instruction
    tests/gpu/special.py GPULOCW DEVICE FOLDER --record   prints the lines of special-h200.txt

Each instruction has 65,536 arguments: 128 mantissas of each sign and exponent, NaN, infinities and numbers below the normal ones among them
(division: against the same arguments in another order); halves have all there are, numbers of 64 bits get
the same bits as their upper half. A line of the recording is a SHA-1 of the results."""
import hashlib, json, os, random, struct, subprocess, sys

FLOATS = [f + z + ".f32" for f in ("ex2.approx", "lg2.approx", "rcp.approx", "rsqrt.approx", "sqrt.approx", "sin.approx", "cos.approx", "div.approx", "div.full") for z in ("", ".ftz")] + ["tanh.approx.f32"]
DOUBLES = ["rcp.approx.ftz.f64", "rsqrt.approx.ftz.f64"]
HALVES = ["ex2.approx.f16", "ex2.approx.ftz.bf16", "tanh.approx.f16", "tanh.approx.bf16"]
N = 65536

def kernel(n, op):
    if op in HALVES:
        body = "ld.global.u16 h1, [d2]; %s h1, h1; cvt.u32.u16 r1, h1;" % op
    elif op in DOUBLES:
        body = "ld.global.b32 r1, [d2]; mov.b32 r2, 0; mov.b64 g1, {r2, r1}; %s g1, g1; mov.b64 {r2, r1}, g1;" % op
    else:
        body = "ld.global.f32 f1, [d2]; ld.global.f32 f2, [d3]; %s f1, f1%s; mov.b32 r1, f1;" % (op, ", f2" if op.startswith("div") else "")
    return """.visible .entry k%d(.param .u64 x, .param .u64 y, .param .u64 out)
{ .reg .b16 h<4>; .reg .b32 r<4>; .reg .f32 f<4>; .reg .b64 d<6>; .reg .f64 g<4>;
 mov.u32 r1, %%ctaid.x; mov.u32 r2, %%tid.x; mad.lo.u32 r1, r1, 256, r2; mul.wide.u32 d1, r1, 4;
 ld.param.u64 d2, [x]; ld.param.u64 d3, [y]; ld.param.u64 d4, [out]; add.u64 d2, d2, d1; add.u64 d3, d3, d1; add.u64 d4, d4, d1;
 %s st.global.u32 [d4], r1; ret; }
""" % (n, body)

def arguments():
    r = random.Random(1)
    x = [e << 23 | (m if m < 8 else 0x7fffff - m if m < 16 else r.getrandbits(23)) for e in range(512) for m in range(128)]
    y = x[:]
    r.shuffle(y)
    return x, y

def main():
    exe, device, folder = sys.argv[1:4]
    record = "--record" in sys.argv
    ops = FLOATS + HALVES + DOUBLES
    x, y = arguments()
    for name, v in (("x", x), ("y", y), ("halves", range(N))):
        open(os.path.join(folder, name), "wb").write(struct.pack("<%dI" % N, *v))
    open(folder + "/s.ptx", "w").write(".version 8.0\n.target sm_90\n.address_size 64\n" + "".join(kernel(n, op) for n, op in enumerate(ops)))
    arg = lambda name, of: {"name": name, "buffer": "u32", "count": N, "init": {"file": of}}
    json.dump({"format": "gpulocw-launch", "version": 1, "ptx": "s.ptx", "launches": [
        {"name": "l%d" % n, "kernel": "k%d" % n, "grid": N // 256, "block": 256, "args": [arg("x", "halves" if op in HALVES else "x"), arg("y", "y"),
         {"name": "out", "buffer": "u32", "count": N, "output": True}]} for n, op in enumerate(ops)]}, open(folder + "/s.launch.json", "w"))
    want = {} if record else dict(l.split() for l in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "special-h200.txt")) if l[0] != "#")
    bad = 0
    for n, op in enumerate(ops):
        r = subprocess.run([exe, "run", folder + "/s.ptx", "-k", "l%d" % n, "--device", device, "--no-counters", "--repeat", "1", "--outputs", folder], capture_output=True, text=True, timeout=60)
        made = "failed" if r.returncode else hashlib.sha1(open(folder + "/out.bin", "rb").read()).hexdigest()[:12]
        if record:
            print(op, made)
            continue
        same = made == want.get(op)
        bad += not same
        print("%sok %d - %s: 65,536 results as an H200's" % ("" if same else "not ", n + 1, op))
        if not same: print("# %s, wanted %s\n# %s" % (made, want.get(op), (r.stdout + r.stderr)[-300:].replace("\n", "\n# ")))
    if not record: print("1..%d" % len(ops))
    return bad != 0

if __name__ == "__main__":
    sys.exit(main())
