#!/usr/bin/env python3
"""Products of tensor cores, one kind a kernel: PTX, inputs, and what the outputs of an H100 (wmma: of an H200) hash to (tensor_products.txt).

    tests/gpu/products.py GPULOCW DEVICE FOLDER [PREFIX...]   runs them there and compares; a simulated device or cuda:0

Fragments go straight from memory to registers, as the instruction takes them; B of wgmma lies in shared memory without a swizzle.
Inputs have exponents spread little and wide, zeros among them, and accumulators of other sizes."""
import hashlib, json, os, struct, subprocess, sys

class R:
    def __init__(s, seed): s.x = (seed * 2654435761 + 88172645463325252) & (2**64-1) or 1
    def u(s):
        x = s.x; x ^= (x << 13) & (2**64-1); x ^= x >> 7; x ^= (x << 17) & (2**64-1); s.x = x; return x >> 11
    def n(s, k): return s.u() % k
FMT = {"f16": (5,10), "bf16": (8,7), "tf32": (8,10), "e4m3": (4,3), "e5m2": (5,2), "f32": (8,23), "f64": (11,52)}
def one(r, t, spread, mode):
    if t in ("s8","u8"): return r.n(256)
    eb, mb = FMT[t]; bias = (1 << (eb-1)) - 1
    if mode == "zero" : return 0
    e = bias + r.n(2*spread+1) - spread
    e = max(0, min((1 << eb) - 2, e))
    m = r.n(1 << mb) if mode != "pow2" else 0
    v = (r.n(2) << (eb+mb)) | (e << mb) | m
    if t == "tf32": v <<= 13
    return v
BYTES = {"f16":2,"bf16":2,"tf32":4,"e4m3":1,"e5m2":1,"f32":4,"s8":1,"u8":1,"f64":8,"s32":4}
def pack(vals, b): return b"".join(v.to_bytes(b, "little") for v in vals)
def inputs(q):
    if "desc" in q: return described_inputs(q)
    r = R(q["seed"]); a=[];b=[];c=[]
    for t in range(q["tiles"]):
        kind = t % 8
        sp = (0, 1, 2, 4, 8, 12, 3, 6)[kind]
        if q["at"] in ("e4m3",): sp = min(sp, 6)
        mode = "pow2" if t % 16 >= 14 else ""
        na = q["a_bytes"] // BYTES[q["at"]]; nb = q["b_bytes"] // BYTES[q["bt"]]; nc = q["d_bytes"] // BYTES[q["ct"]]
        zero = t % 5 == 4   # few terms that are not zero
        a += [0 if zero and r.n(4) else one(r, q["at"], sp, mode) for _ in range(na)]
        b += [one(r, q["bt"], sp, mode) for _ in range(nb)]
        if q["ct"] == "s32": c += [r.n(1<<32) for _ in range(nc)]
        else:
            cs = (0, 2, 6, 10, 14, 14, 20, 25)[(t // 8) % 8]
            if q["ct"] == "f16": cs = min(cs, 12)
            c += [0 if t % 3 == 0 else one(r, q["ct"], cs, "") for _ in range(nc)]
    ne = q["tiles"] * 128
    meta = q.get("meta", "44444444")
    e = [int(meta, 16)] * ne if meta != "rand" else [rand_meta(r, q) for _ in range(ne)]
    return pack(a, BYTES[q["at"]]), pack(b, BYTES[q["bt"]]), pack(c, BYTES[q["ct"]]), pack(e, 4)
def described_inputs(q):
    r = R(q["seed"]); n = 49152 // BYTES[q["at"]]
    image = pack([one(r, q["at"], 3, "") for _ in range(n)], BYTES[q["at"]])
    e = b"".join(struct.pack("<QQ", *d) + struct.pack("<124I", *([0x44444444] * 124)) for d in q["desc"])
    return image * q["tiles"], b"", bytes(q["tiles"] * q["d_bytes"]), e
def rand_meta(r, q):
    v = 0
    if q["at"] == "tf32":
        for k in range(8): v |= (0x4, 0xe)[r.n(2)] << 4*k
    else:
        for k in range(8): v |= (0x4, 0x8, 0xc, 0x9, 0xd, 0xe)[r.n(6)] << 4*k
    return v
HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
P = ".visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pe, .param .u64 pd)\n"
def common(threads, a, b, d):
    return f"""{{
 .reg .pred p, q; .reg .b32 r<40>; .reg .b64 x<20>; .reg .b32 a<16>; .reg .b32 b<16>; .reg .b32 d<16>; .reg .b32 c<16>; .reg .f64 fa<8>, fb<8>, fd<8>, fc<8>; .reg .b32 e;
 mov.u32 r0, %tid.x; mov.u32 r1, %ctaid.x;
 ld.param.u64 x0,[pa]; ld.param.u64 x1,[pb]; ld.param.u64 x2,[pc]; ld.param.u64 x3,[pe]; ld.param.u64 x4,[pd];
 mad.wide.u32 x0, r1, {a}, x0; mad.wide.u32 x1, r1, {b}, x1; mad.wide.u32 x2, r1, {d}, x2; mad.wide.u32 x4, r1, {d}, x4;
 mad.wide.u32 x3, r1, 512, x3; mad.wide.u32 x3, r0, 4, x3;
"""
probes = []
def build(name, text, q):
    q["name"], q["ptx"] = name, HEAD + P + text + "}\n"
    q.setdefault("seed", len(probes) + 1)
    probes.append(q)
def vec(p, n): return "{" + ",".join(f"{p}{i}" for i in range(n)) + "}"
def mma(shape, dt, at, bt, ct, na, nb, nd, sp="", mods="", meta=None, tiles=64):
    threads = 32
    t = common(32, na*128, nb*128, nd*128)
    t += f" mad.wide.u32 x5, r0, {na*4}, x0; mad.wide.u32 x6, r0, {nb*4}, x1; mad.wide.u32 x7, r0, {nd*4}, x2; mad.wide.u32 x8, r0, {nd*4}, x4;\n"
    for i in range(na): t += f" ld.global.b32 a{i}, [x5+{4*i}];\n"
    for i in range(nb): t += f" ld.global.b32 b{i}, [x6+{4*i}];\n"
    for i in range(nd): t += f" ld.global.b32 c{i}, [x7+{4*i}];\n"
    t += " ld.global.b32 e, [x3];\n"
    if at == "f64":
        na//=2; nb//=2; nd//=2
        for r_, n in (("a",na),("b",nb),("c",nd)):
            for i in range(n): t += f" mov.b64 f{r_}{i}, {{{r_}{2*i},{r_}{2*i+1}}};\n"
        t += f" mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64 {vec('fd',nd)}, {vec('fa',na)}, {vec('fb',nb)}, {vec('fc',nd)};\n"
        for i in range(nd): t += f" mov.b64 {{d{2*i},d{2*i+1}}}, fd{i};\n"
        nd *= 2; na*=2; nb*=2
    elif sp:
        t += f" mma.{sp}.sync.aligned.{shape}.row.col{mods}.{dt}.{at}.{bt}.{ct} {vec('d',nd)}, {vec('a',na)}, {vec('b',nb)}, {vec('c',nd)}, e, 0;\n"
    else:
        t += f" mma.sync.aligned.{shape}.row.col{mods}.{dt}.{at}.{bt}.{ct} {vec('d',nd)}, {vec('a',na)}, {vec('b',nb)}, {vec('c',nd)};\n"
    for i in range(nd): t += f" st.global.b32 [x8+{4*i}], d{i};\n"
    t += " ret;\n"
    q = dict(op="mma" if not sp else "mma.sp", shape=shape, dt=dt, at=at, bt=bt, ct=ct, a_bytes=na*128, b_bytes=nb*128, d_bytes=nd*128, threads=32, tiles=tiles, mods=mods)
    if sp: q["meta"] = "rand"
    build(f"mma{'_sp' if sp else ''}_{shape}_{dt}_{at}_{bt}{mods.replace('.','_')}", t, q)
for dt in ("f32","f16"):
    n = 4 if dt == "f32" else 2
    mma("m16n8k8", dt, "f16","f16",dt, 2,1,n); mma("m16n8k16", dt, "f16","f16",dt, 4,2,n)
mma("m16n8k8","f32","bf16","bf16","f32",2,1,4); mma("m16n8k16","f32","bf16","bf16","f32",4,2,4)
mma("m16n8k4","f32","tf32","tf32","f32",2,1,4); mma("m16n8k8","f32","tf32","tf32","f32",4,2,4)
for x in ("e4m3","e5m2"):
    for y in ("e4m3","e5m2"): mma("m16n8k32","f32",x,y,"f32",4,2,4)
mma("m16n8k16","s32","s8","u8","s32",2,1,4); mma("m16n8k32","s32","s8","s8","s32",4,2,4, mods=".satfinite")
for s,na,nb,nd in (("m8n8k4",2,2,4),("m16n8k4",4,2,8),("m16n8k8",8,4,8),("m16n8k16",16,8,8)): mma(s,"f64","f64","f64","f64",na,nb,nd,tiles=32)
SP="sp::ordered_metadata"
mma("m16n8k16","f32","f16","f16","f32",2,2,4,sp=SP); mma("m16n8k32","f32","f16","f16","f32",4,4,4,sp=SP); mma("m16n8k32","f16","f16","f16","f16",4,4,2,sp=SP)
mma("m16n8k32","f32","bf16","bf16","f32",4,4,4,sp=SP)
mma("m16n8k8","f32","tf32","tf32","f32",2,2,4,sp=SP); mma("m16n8k16","f32","tf32","tf32","f32",4,4,4,sp=SP)
mma("m16n8k64","f32","e4m3","e4m3","f32",4,4,4,sp=SP); mma("m16n8k64","f32","e5m2","e5m2","f32",4,4,4,sp=SP)
mma("m16n8k32","s32","s8","s8","s32",2,2,4,sp=SP); mma("m16n8k64","s32","u8","u8","s32",4,4,4,sp=SP)
def wg(k, dt, at, bt, sp=False, asmem=False, ksteps=1, tiles=24):
    # A from registers, B (n8) in shared memory, K-major without a swizzle: two (or more) core matrices of 128 bytes
    eb = {"f16":2,"bf16":2,"tf32":4}.get(at,1)
    bb = 8*k*eb; na = 4; nd = 4 if dt != "f16" else 2; kk = k
    t = common(128, 128*na*4, bb, 128*nd*4)
    t += f" .shared .align 128 .b8 sb[{bb}];\n mad.wide.u32 x5, r0, {na*4}, x0; mad.wide.u32 x7, r0, {nd*4}, x2; mad.wide.u32 x8, r0, {nd*4}, x4;\n"
    for i in range(na): t += f" ld.global.b32 a{i}, [x5+{4*i}];\n"
    for i in range(nd): t += f" ld.global.b32 d{i}, [x7+{4*i}];\n"
    t += " ld.global.b32 e, [x3];\n"
    t += f" mov.u32 r2, sb; setp.lt.u32 p, r0, {bb//4}; mad.wide.u32 x6, r0, 4, x1; @p ld.global.b32 r3, [x6]; mad.lo.u32 r4, r0, 4, r2; @p st.shared.b32 [r4], r3;\n"
    t += " fence.proxy.async; bar.sync 0;\n"
    t += " cvt.u64.u32 x9, r2; shr.u64 x9, x9, 4; and.b64 x9, x9, 0x3fff; or.b64 x9, x9, 0x0000008000080000;\n"  # LBO=128>>4=8, SBO=0x80
    t += " wgmma.fence.sync.aligned;\n"
    tail = {"f16":", p1, 1, 1, 0","bf16":", p1, 1, 1, 0"}.get(at, ", p1, 1, 1" if dt != "s32" else ", p1")
    t = t.replace(".reg .pred p, q;", ".reg .pred p, q, p1;")
    t += " setp.eq.u32 p1, r0, r0;\n"
    t += f" wgmma.mma_async{'.sp' if sp else ''}.sync.aligned.m64n8k{k}.{dt}.{at}.{bt} {vec('d',nd)}, {vec('a',na)}, x9{', e, 0' if sp else ''}{tail};\n"
    t += " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
    for i in range(nd): t += f" st.global.b32 [x8+{4*i}], d{i};\n"
    t += " ret;\n"
    q = dict(op="wgmma" + (".sp" if sp else ""), shape=f"m64n8k{k}", dt=dt, at=at, bt=bt, ct=dt, a_bytes=128*na*4, b_bytes=bb, d_bytes=128*nd*4, threads=128, tiles=tiles)
    if sp: q["meta"] = "rand"
    build(f"wgmma{'_sp' if sp else ''}_k{k}_{dt}_{at}_{bt}", t, q)
for sp in (False, True):
    m = 2 if sp else 1
    wg(16*m,"f32","f16","f16",sp); wg(16*m,"f16","f16","f16",sp); wg(16*m,"f32","bf16","bf16",sp); wg(8*m,"f32","tf32","tf32",sp)
    for x in ("e4m3","e5m2"):
        for y in ("e4m3","e5m2"):
            wg(32*m,"f32",x,y,sp)
            if not sp: wg(32*m,"f16",x,y,sp)
    wg(32*m,"s32","s8","u8",sp)

def described(name, n, k, dt, at, ta, tb, sa, sb, pairs, sparse=False):
    """Both factors through descriptors: (start, leading, stride, base) of A and of B, a tile each; swizzles by their number."""
    nd = n // 4 if dt == "f16" else n // 2
    t = common(128, 49152, 0, 128 * nd * 4).replace(" .reg .pred p, q;", " .reg .pred p, q, s; .reg .b32 z<136>;")
    t = t.replace("mad.wide.u32 x3, r1, 512, x3; mad.wide.u32 x3, r0, 4, x3;", "mad.wide.u32 x3, r1, 512, x3;")
    t += " mov.u32 r2, sb; mov.u32 r3, 0; mad.wide.u32 x5, r0, 16, x0; mad.lo.u32 r4, r0, 16, r2;\n"
    t += "L: ld.global.v4.b32 {r5,r6,r7,r8}, [x5]; st.shared.v4.b32 [r4], {r5,r6,r7,r8}; add.u64 x5, x5, 2048; add.u32 r4, r4, 2048; add.u32 r3, r3, 2048; setp.lt.u32 p, r3, 49152; @p bra L;\n"
    t += " fence.proxy.async; bar.sync 0;\n cvt.u64.u32 x9, r2; shr.u64 x9, x9, 4; ld.global.u64 x10, [x3]; ld.global.u64 x11, [x3+8]; add.u64 x10, x10, x9; add.u64 x11, x11, x9; ld.global.b32 e, [x3+16];\n"
    t += " setp.eq.u32 s, r0, r0;" + "".join(" mov.b32 z%d, 0;" % i for i in range(nd)) + "\n wgmma.fence.sync.aligned;\n"
    tail = ", s" + (", 1, 1" if dt != "s32" else "") + (", %d, %d" % (ta, tb) if at in ("f16", "bf16") else "")
    bt = at
    t += " wgmma.mma_async%s.sync.aligned.m64n%dk%d.%s.%s.%s %s, x10, x11%s%s;\n" % (".sp" if sparse else "", n, k, dt, at, bt, vec("z", nd), ", e, 0" if sparse else "", tail)
    t += " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n mad.wide.u32 x8, r0, %d, x4;\n" % (nd * 4)
    t += "".join(" st.global.b32 [x8+%d], z%d;\n" % (4 * i, i) for i in range(nd)) + " ret;\n"
    t = t.replace("{\n .reg", "{\n .shared .align 1024 .b8 sb[49152];\n .reg", 1)
    def desc(d, sw): return d[0] >> 4 | d[1] >> 4 << 16 | d[2] >> 4 << 32 | d[3] << 49 | sw << 62
    q = dict(op="described", shape="m64n%dk%d" % (n, k), dt=dt, at=at, bt=at, ct=dt, a_bytes=49152, b_bytes=0, d_bytes=128 * nd * 4, threads=128, tiles=len(pairs))
    q["desc"] = [(desc(a, sa), desc(b, sb)) for a, b in pairs]
    build("described_" + name, t, q)
# K-major: rows of 16 bytes (no swizzle) or of the swizzle's width, groups of 8 rows `stride` apart
def k_major(start, sw, step=0, extra=0): return (start + step, 16, (8 * (0, 128, 64, 32)[sw] or 256) + extra, 0) if sw else (start + step, 128, 256 + extra, 0)
def mn_major(start, sw, mn, k): # units of 8 elements; atoms of the swizzle's width along mn, 8 deep
    w = (16, 128, 64, 32)[sw]
    atom = 8 * w
    return (start, atom * 2 if sw else 128 * (mn // 8), atom if sw else 128, 0)
for sw in range(4):
    steps = [0] if sw in (0, 3) else [0, 32] if sw == 2 else [0, 32, 64, 96]
    for at, k in (("f16", 16), ("tf32", 8), ("e4m3", 32), ("s8", 32)):
        described("k_%s_swizzle%d" % (at, sw), 64, k, "s32" if at == "s8" else "f32", at, 0, 0, sw, sw, [(k_major(0, sw, st), k_major(16384, sw, st, 1024 * (st == 32)))  for st in steps] + [(k_major(1024, sw), k_major(20480, sw, 0, 1024))])
    described("mn_f16_swizzle%d" % sw, 64, 16, "f32", "f16", 1, 1, sw, sw, [(mn_major(0, sw, 64, 16), mn_major(16384, sw, 64, 16)), (mn_major(8192, sw, 64, 16), mn_major(32768, sw, 64, 16))])
    described("mn_b_bf16_swizzle%d" % sw, 128, 16, "f32", "bf16", 0, 1, sw, sw, [(k_major(0, sw), mn_major(16384, sw, 128, 16))])
described("mixed_f16", 256, 16, "f32", "f16", 0, 0, 1, 3, [(k_major(0, 1), k_major(16384, 3)), (k_major(0, 1, 64), k_major(8192, 3))])
described("f16_result", 128, 16, "f16", "f16", 0, 0, 1, 1, [(k_major(0, 1), k_major(16384, 1))])
for sw in range(4):
    described("sparse_f16_swizzle%d" % sw, 64, 32, "f32", "f16", 0, 0, sw, sw, [(k_major(0, sw), k_major(16384, sw))] if sw != 3 else [(k_major(0, 3), (16384, 4096, 256, 0))], True)
described("sparse_e4m3", 64, 64, "f32", "e4m3", 0, 0, 1, 1, [(k_major(0, 1), k_major(16384, 1)), (k_major(0, 1, 32), k_major(16384, 1, 64))], True)
described("base_offset", 64, 16, "f32", "f16", 0, 0, 1, 1, [((128 * b, 16, 1024, b), (16384 + 128 * b, 16, 1024, b)) for b in range(8)])

def wmma(m, n, k, dt, at, rows=("row", "col")):
    """Fragments are opaque: matrices go from memory to memory, the depth of A and B along their rows or columns."""
    regs = {"f16": (8, 8), "bf16": (m // 4, n // 4), "tf32": (4, 4)}[at]
    nd = 8 if dt == "f32" else 4
    shape, lda, ldb = "m%dn%dk%d" % (m, n, k), k if rows[0] == "row" else m, k if rows[1] == "col" else n
    size = BYTES[at]
    t = common(32, m * k * size, n * k * size, m * n * BYTES[dt])
    what = lambda part, lay, ty: "sync.aligned.%s.%s.global.%s" % (lay, shape, ty)
    t += " wmma.load.a.%s %s, [x0], %d;\n wmma.load.b.%s %s, [x1], %d;\n" % (what("a", rows[0], at), vec("a", regs[0]), lda, what("b", rows[1], at), vec("b", regs[1]), ldb)
    t += " wmma.load.c.%s %s, [x2], %d;\n" % (what("c", "row", dt), vec("c", nd), n)
    types = "%s.%s" % (dt, dt) if at == "f16" else "f32.%s.%s.f32" % (at, at)
    t += " wmma.mma.sync.aligned.%s.%s.%s.%s %s, %s, %s, %s;\n" % (rows[0], rows[1], shape, types, vec("d", nd), vec("a", regs[0]), vec("b", regs[1]), vec("c", nd))
    t += " wmma.store.d.%s [x4], %s, %d;\n ret;\n" % (what("d", "row", dt), vec("d", nd), n)
    t = t.replace(".reg .b32 a<16>; .reg .b32 b<16>; .reg .b32 d<16>; .reg .b32 c<16>;", "".join(" .reg .%s %s<16>;" % ("f32" if ty == "f32" else "b32", r) for r, ty in (("a", at), ("b", at), ("d", dt), ("c", dt))))
    q = dict(op="wmma", shape=shape, dt=dt, at=at, bt=at, ct=dt, a_bytes=m * k * size, b_bytes=n * k * size, d_bytes=m * n * BYTES[dt], threads=32, tiles=64)
    if at == "tf32": q["seed"] = len(probes) + 2 # as they were recorded
    build("wmma_%s_%s_%s_%s" % (shape, dt, at, "".join(r[0] for r in rows)), t, q)
for m, n in ((16, 16), (32, 8), (8, 32)):
    for dt in ("f32", "f16"): wmma(m, n, 16, dt, "f16")
    wmma(m, n, 16, "f32", "bf16")
wmma(16, 16, 16, "f32", "f16", ("col", "row")), wmma(16, 16, 16, "f16", "f16", ("row", "row"))
wmma(16, 16, 8, "f32", "tf32"), wmma(16, 16, 8, "f32", "tf32", ("col", "row"))


def run(exe, device, folder, q):
    parts = inputs(q)
    base = os.path.join(folder, q["name"])
    open(base + ".ptx", "w").write(q["ptx"])
    args = []
    for name, data in zip(("a", "b", "c", "e"), parts):
        open(base + "." + name, "wb").write(data or bytes(16))
        args.append({"name": name, "buffer": "u8", "count": len(data) or 16, "init": {"file": q["name"] + "." + name}})
    args.append({"name": "d", "buffer": "u8", "count": q["tiles"] * q["d_bytes"], "output": True})
    json.dump({"format": "gpulocw-launch", "version": 1, "ptx": q["name"] + ".ptx", "kernel": "k", "grid": [q["tiles"], 1, 1], "block": [q["threads"], 1, 1], "args": args}, open(base + ".launch.json", "w"))
    r = subprocess.run([exe, "run", base + ".ptx", "--device", device, "--no-counters", "--outputs", folder], capture_output=True, text=True, timeout=120)
    if r.returncode:
        return None, (r.stdout + r.stderr).strip()
    return hashlib.sha1(b"".join(parts)).hexdigest()[:10], hashlib.sha1(open(os.path.join(folder, "d.bin"), "rb").read()).hexdigest()[:10]

def main():
    exe, device, folder = sys.argv[1:4]
    want = dict((l.split()[0], l.split()[1:]) for l in open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "tensor_products.txt")) if l[0] != "#")
    bad = n = 0
    for q in probes:
        if sys.argv[4:] and not any(q["name"].startswith(p) for p in sys.argv[4:]): continue
        got = run(exe, device, folder, q)
        n += 1
        same = list(got) == want.get(q["name"])
        bad += not same
        print("%sok %d - %s%s" % ("" if same else "not ", n, q["name"], "" if same else ": %s, an H100 made %s" % (" ".join(map(str, got))[:200], " ".join(want.get(q["name"], ["nothing"])))), flush=True)
    print("1..%d" % n)
    return bad

if __name__ == "__main__":
    sys.exit(main() > 0)
