#!/usr/bin/env python3
"""What tensor cores and the tensor copy engine take: micro-kernels in PTX, run on GPU 0 through the driver or on a simulated device.

    tests/gpu/tensor.py [PREFIX...]                     GPU 0 (needs nothing but the driver)
    tests/gpu/tensor.py --sim GPULOCW DEVICE [PREFIX...]

One line a kernel: cycles of an SM for one operation, the least of three launches; of copies bytes per cycle as well.
tests/gpu/tensor-h100.txt is a recording."""
import ctypes as C, json, os, struct, subprocess, sys, tempfile

HEAD = ".version 8.2\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 sm[];\n"
ENTRY = ".visible .entry k(.param .align 64 .b8 map[128], .param .u64 data, .param .u64 out, .param .u32 rounds)\n{\n"
REGS = " .reg .pred p, q, s; .reg .b32 r<64>; .reg .b64 x<32>; .reg .b32 a<8>; .reg .b32 d<136>; .reg .f32 f<136>; .reg .b16 h<4>;\n"
BOX_ROWS = 64                                   # of 128 bytes
# begins and ends: every warp's first thread notes its clocks
START = " mov.u32 r60, %tid.x; mov.u32 r61, %ctaid.x; mov.u32 r62, %ntid.x; bar.sync 0; mov.u32 r50, %clock;\n"
STOP = """ mov.u32 r51, %clock; sub.u32 r52, r51, r50; and.b32 r53, r60, 31; setp.ne.u32 p, r53, 0; @p bra END;
 mad.lo.u32 r54, r61, r62, r60; shr.u32 r54, r54, 5; mul.wide.u32 x30, r54, 4; ld.param.u64 x31, [out]; add.u64 x30, x30, x31; st.global.u32 [x30], r52;
END: ret;
}
"""
KERNELS = []
def kernel(name, text, per, grid=1, block=128, shared=0, rounds=64, nbytes=0, cluster=1, data=1 << 22):
    KERNELS.append(dict(name=name, text=HEAD + text, per=per, grid=grid, block=block, shared=shared, rounds=rounds, bytes=nbytes, cluster=cluster, data=data))

def wgmma(kind, n, k, dt, groups=1, regs=False, swizzle=True, unroll=8, wait_each=False, sparse=False, wait_all=False):
    at, bt = (kind.split("x") * 2)[:2]
    nd = n // 4 if dt == "f16" else n // 2
    D = ",".join("d%d" % i for i in range(nd))
    tail = {"f16": ", s, 1, 1, 0", "bf16": ", s, 1, 1, 0"}.get(at, ", s, 1, 1" if dt != "s32" else ", s")
    if at in ("f16", "bf16") and not regs: tail += ", 0"
    A = "{a0,a1,a2,a3}" if regs else "x1"
    t = ENTRY + REGS + "\n"
    t += " ld.param.u32 r1, [rounds]; mov.u32 r2, sm; shr.u32 r3, r2, 4; and.b32 r3, r3, 0x3fff; cvt.u64.u32 x1, r3; mov.b32 r4, 0; mov.b32 a4, 0x55555555;\n"
    t += " mov.u32 r63, %%tid.x; shl.b32 r5, r63, 2; add.u32 r5, r5, r2; mov.u32 r6, 0;\nZ: st.shared.b32 [r5], r4; add.u32 r5, r5, %d; add.u32 r6, r6, %d; setp.lt.u32 p, r6, 49152; @p bra Z;\n" % (512 * groups, 512 * groups)
    t += " fence.proxy.async; bar.sync 0;\n"
    high = (1 << 62 | (1024 >> 4) << 32 | 1 << 16) if swizzle else ((256 >> 4) << 32 | (128 >> 4) << 16)
    t += " or.b64 x1, x1, 0x%x; add.u64 x2, x1, 0x%x; setp.eq.u32 s, r63, r63;\n" % (high, 16384 >> 4)
    t += "".join(" mov.b32 d%d, 0;" % i for i in range(nd)) + " mov.b32 a0, 0; mov.b32 a1, 0; mov.b32 a2, 0; mov.b32 a3, 0;\n" + START
    t += "L: wgmma.fence.sync.aligned;\n"
    one = " wgmma.mma_async%s.sync.aligned.m64n%dk%d.%s.%s.%s {%s}, %s, x2%s%s;\n" % (".sp" if sparse else "", n, k, dt, at, bt, D, A, ", a4, 0" if sparse else "", tail)
    t += (one + (" wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n" if wait_each else "")) * unroll
    if not wait_each: t += " wgmma.commit_group.sync.aligned;\n" + (" wgmma.wait_group.sync.aligned 0;\n" if wait_all else "")
    t += " sub.u32 r1, r1, 1; setp.ne.u32 p, r1, 0; @p bra L;\n wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n"
    t += STOP.replace("END: ret;", " xor.b32 r7, d0, d%d; setp.eq.u32 p, r7, 12345; @p st.global.u32 [x31], r7;\nEND: ret;" % (nd - 1))
    kernel("wgmma%s m64n%dk%d %s.%s %s%s%s%d warpgroup%s" % (".sp" if sparse else "", n, k, dt, kind, "A in registers, " if regs else "", "" if swizzle else "no swizzle, ", "one at a time, " if wait_each else "%d waited for, " % unroll if wait_all else "", groups, "s" if groups > 1 else ""), t, unroll, block=128 * groups, shared=65536, rounds=32)

for kind, k in (("f16", 16), ("bf16", 16), ("tf32", 8), ("e4m3", 32), ("e5m2xe4m3", 32)):
    wgmma(kind, 256, k, "f32")
wgmma("f16", 256, 16, "f16"); wgmma("s8", 256, 32, "s32"); wgmma("e4m3", 256, 32, "f16"); wgmma("u8", 256, 32, "s32")
for n in (8, 16, 32, 64, 96, 128, 192): wgmma("f16", n, 16, "f32")
for n in (64, 128, 256): wgmma("f16", n, 16, "f32", regs=True)
for n in (64, 128, 256): wgmma("f16", n, 16, "f32", regs=True, wait_all=True)
for n in (64, 128, 256): wgmma("f16", n, 16, "f32", wait_all=True)
for g in (2, 3, 4): wgmma("f16", 128 if g < 4 else 64, 16, "f32", groups=g)
wgmma("f16", 64, 16, "f32", groups=2); wgmma("f16", 256, 16, "f32", groups=2)
for n in (8, 64, 128, 256): wgmma("f16", n, 16, "f32", wait_each=True)
wgmma("e4m3", 128, 32, "f32", wait_each=True); wgmma("tf32", 128, 8, "f32", wait_each=True)
for n in (64, 128): wgmma("f16", n, 16, "f32", swizzle=False)
for n in (64, 128, 256): wgmma("f16", n, 32, "f32", sparse=True)
wgmma("e4m3", 256, 64, "f32", sparse=True); wgmma("f16", 256, 32, "f32", sparse=True, regs=True); wgmma("tf32", 256, 16, "f32", sparse=True)

def mma(shape, dt, at, na, nb, nd, warps, chain=True, unroll=8):
    t = ENTRY + REGS + " ld.param.u32 r1, [rounds];" + "".join(" mov.b32 %s%d, 0;" % (c, i) for c, n in (("a", na + nb), ("d", nd * 8)) for i in range(n)) + "\n" + START + "L:\n"
    for u in range(unroll):
        o = 0 if chain else nd * (u % 8)
        D = "{" + ",".join("d%d" % (o + i) for i in range(nd)) + "}"
        t += " mma.sync.aligned.%s.row.col.%s.%s.%s.%s %s, {%s}, {%s}, %s;\n" % (shape, dt, at, at, dt, D, ",".join("a%d" % i for i in range(na)), ",".join("a%d" % (na + i) for i in range(nb)), D)
    t += " sub.u32 r1, r1, 1; setp.ne.u32 p, r1, 0; @p bra L;\n" + STOP.replace("END: ret;", "".join(" xor.b32 d0, d0, d%d;" % i for i in range(1, nd * 8)) + " setp.eq.u32 p, d0, 12345; @p st.global.u32 [x31], d0;\nEND: ret;")
    kernel("mma %s %s.%s %s, %d warps" % (shape, dt, at, "chain" if chain else "eight chains", warps), t, unroll, block=32 * warps, rounds=64)
for shape, dt, at, na, nb, nd in (("m16n8k16", "f32", "f16", 4, 2, 4), ("m16n8k8", "f32", "f16", 2, 1, 4), ("m16n8k16", "f16", "f16", 4, 2, 2), ("m16n8k16", "f32", "bf16", 4, 2, 4), ("m16n8k8", "f32", "tf32", 4, 2, 4), ("m16n8k32", "s32", "s8", 4, 2, 4)):
    mma(shape, dt, at, na, nb, nd, 1); mma(shape, dt, at, na, nb, nd, 4, False)
mma("m16n8k16", "f32", "f16", 4, 2, 4, 8, False); mma("m16n8k16", "f32", "f16", 4, 2, 4, 16, False); mma("m16n8k16", "f32", "f16", 4, 2, 4, 1, False)

def copy(nbytes, stages, grid, store=False, cluster=1, plain=False, span=1, dram=False):
    """One thread copies boxes of 128-byte rows; `stages` are in flight. span: CTAs that read the same."""
    rows = max(1, nbytes // 128)
    t = ENTRY + REGS + " .shared .align 8 .b64 bar[16];\n"
    t += " ld.param.u32 r1, [rounds]; mov.u32 r2, sm; mov.u32 r3, bar; mov.u32 r63, %tid.x; mov.u32 r4, %ctaid.x; mov.b64 x1, map; cvta.param.u64 x1, x1; ld.param.u64 x3, [data];\n"
    t += " setp.ne.u32 q, r63, 0; @q bra I;\n" + "".join(" mbarrier.init.shared.b64 [r3+%d], 1;" % (8 * s) for s in range(stages)) + " fence.mbarrier_init.release.cluster;\nI: bar.sync 0;\n"
    if cluster > 1: t += " barrier.cluster.arrive; barrier.cluster.wait; mov.u32 r20, %cluster_ctarank; mov.b16 h0, " + str((1 << cluster) - 1) + ";\n"
    # the first row of this CTA: rows go round in 2 MB
    wrap = (1 << 24) // 128 if dram else (1 << 21) // 128
    t += " div.u32 r5, r4, %d; mul.lo.u32 r5, r5, %d; mov.u32 r6, 0; mov.u32 r10, 0;\n" % (span, 7 * rows * stages)
    def issue(s):
        o = " and.b32 r7, r5, %d;" % (wrap - 1)
        if store:
            o += " cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [x1, {r10, r7}], [r2+%d]; cp.async.bulk.commit_group;" % (s * nbytes)
        elif cluster > 1: # each CTA of the cluster sends its share to all
            share = nbytes // cluster
            o += " mbarrier.arrive.expect_tx.shared.b64 _, [r3+%d], %d; mad.lo.u32 r21, r20, %d, r7; mad.lo.u32 r22, r20, %d, r2; cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [r22+%d], [x1, {r10, r21}], [r3+%d], h0;" % (8 * s, nbytes, share // 128, share, s * nbytes, 8 * s)
        elif plain:
            o += " mul.wide.u32 x4, r7, 128; add.u64 x4, x4, x3; mbarrier.arrive.expect_tx.shared.b64 _, [r3+%d], %d; cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r2+%d], [x4], %d, [r3+%d];" % (8 * s, nbytes, s * nbytes, nbytes, 8 * s)
        else:
            o += " mbarrier.arrive.expect_tx.shared.b64 _, [r3+%d], %d; cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [r2+%d], [x1, {r10, r7}], [r3+%d];" % (8 * s, nbytes, s * nbytes, 8 * s)
        return o + " add.u32 r5, r5, %d;\n" % rows
    t += START + " @q bra DONE;\n"
    if store:
        t += "L:\n" + "".join(issue(s) + " cp.async.bulk.wait_group.read %d;\n" % (stages - 1) for s in range(stages))
        t += " sub.u32 r1, r1, 1; setp.ne.u32 p, r1, 0; @p bra L;\n cp.async.bulk.wait_group 0;\n"
    else:
        t += "".join(issue(s) for s in range(stages)) + "L: sub.u32 r1, r1, 1; setp.ne.u32 s, r1, 0;\n"
        for s in range(stages):
            t += "W%d: mbarrier.try_wait.parity.shared.b64 p, [r3+%d], r6; @!p bra W%d;\n" % (s, 8 * s, s)
            if cluster > 1 and s == 0: pass
            t += " @!s bra N%d;\n%sN%d:\n" % (s, issue(s), s)
        t += " xor.b32 r6, r6, 1; @s bra L;\n"
    t += "DONE:\n"
    stop = STOP
    if cluster > 1: stop = STOP.replace("END: ret;", "END: barrier.cluster.arrive; barrier.cluster.wait; ret;")
    what = "plain copy" if plain else "tensor store" if store else "tensor copy"
    name = "%s %d bytes, %d in flight, %d CTA%s%s%s%s" % (what, nbytes, stages, grid, "s" if grid > 1 else "", ", all the same data" if span > 1 else "", ", clusters of %d" % cluster if cluster > 1 else "", ", from DRAM" if dram else "")
    kernel(name, t + stop, stages, grid=grid, block=32, shared=nbytes * stages, rounds=32 if grid < 9 or not dram else 16, nbytes=nbytes, cluster=cluster, data=1 << 24)
    KERNELS[-1]["rows"] = (nbytes // cluster) // 128 if nbytes >= 128 else 1
    KERNELS[-1]["inner"] = min(128, nbytes)
for b in (128, 1024, 4096, 8192, 16384, 32768): copy(b, 1, 1)
for b in (1024, 16384): copy(b, 1, 1, plain=True)
for b, s in ((1024, 8), (4096, 8), (8192, 8), (16384, 8), (32768, 6)): copy(b, s, 1)
copy(16384, 8, 1, plain=True)
for b in (4096, 16384, 32768): copy(b, 6, 132)
copy(16384, 6, 132, plain=True); copy(16384, 6, 132, span=132); copy(16384, 6, 132, dram=True); copy(16384, 6, 66)
copy(16384, 1, 1, store=True); copy(16384, 4, 1, store=True); copy(16384, 4, 132, store=True)
# copies to all CTAs of a cluster: no CTA may run ahead of the slowest, one box at a time
for c in (2, 4): copy(16384, 1, c, cluster=c); copy(16384, 1, 132, cluster=c)

def arrive():
    t = ENTRY + REGS + " .shared .align 8 .b64 bar; ld.param.u32 r1, [rounds]; mov.u32 r3, bar; mov.u32 r6, 0; mov.u32 r63, %tid.x; setp.ne.u32 q, r63, 0; @q bra I; mbarrier.init.shared.b64 [r3], 1; I:\n" + START
    t += " @q bra DONE;\n L: mbarrier.arrive.shared.b64 _, [r3]; W: mbarrier.try_wait.parity.shared.b64 p, [r3], r6; @!p bra W; xor.b32 r6, r6, 1; sub.u32 r1, r1, 1; setp.ne.u32 p, r1, 0; @p bra L;\nDONE:\n" + STOP
    kernel("mbarrier arrive and wait", t, 1, block=32, rounds=256)
arrive()

# ---- devices ----
class Gpu:
    def __init__(self):
        self.cu = cu = C.CDLL("libcuda.so.1"); self.ck(cu.cuInit(0)); dev, ctx = C.c_int(), C.c_void_p()
        self.ck(cu.cuDeviceGet(C.byref(dev), 0)); self.ck(cu.cuDevicePrimaryCtxRetain(C.byref(ctx), dev)); self.ck(cu.cuCtxSetCurrent(ctx))
        name = C.create_string_buffer(100); cu.cuDeviceGetName(name, 100, dev); self.name = name.value.decode()
        self.data, self.out = C.c_uint64(), C.c_uint64()
        self.ck(cu.cuMemAlloc_v2(C.byref(self.data), C.c_size_t(1 << 25))); self.ck(cu.cuMemAlloc_v2(C.byref(self.out), C.c_size_t(1 << 16)))
    def ck(self, r, what=""):
        if r: raise RuntimeError("%s: CUDA error %d" % (what, r))
    def run(self, k):
        cu, m, f = self.cu, C.c_void_p(), C.c_void_p()
        log = C.create_string_buffer(4096); opts = (C.c_int * 2)(5, 6); vals = (C.c_void_p * 2)(C.addressof(log), 4096)
        made = os.path.join(os.path.dirname(os.path.abspath(__file__)), "k%d.cubin" % KERNELS.index(k)) # else the driver compiles, which takes long
        code = open(made, "rb").read() if os.path.exists(made) else k["text"].encode()
        r = cu.cuModuleLoadDataEx(C.byref(m), code, 2, opts, vals)
        if r: raise RuntimeError("load: %d %s" % (r, log.value.decode()[:300]))
        self.ck(cu.cuModuleGetFunction(C.byref(f), m, b"k"))
        if k["shared"] > 48000: self.ck(cu.cuFuncSetAttribute(f, 8, k["shared"]), "shared")
        raw = (C.c_uint8 * 256)(); p = (C.addressof(raw) + 63) // 64 * 64
        if "rows" in k:
            self.ck(cu.cuTensorMapEncodeTiled(C.c_void_p(p), 0, 2, C.c_void_p(self.data.value), (C.c_uint64 * 2)(128, k["data"] // 128), (C.c_uint64 * 1)(128), (C.c_uint32 * 2)(k["inner"], k["rows"]), (C.c_uint32 * 2)(1, 1), 0, 3 if k["inner"] == 128 else 0, 0, 0), "map")
        rounds = C.c_uint32(k["rounds"]); args = (C.c_void_p * 4)(p, C.addressof(self.data), C.addressof(self.out), C.addressof(rounds))
        warps = k["grid"] * k["block"] // 32; best = None
        class Attr(C.Structure): _fields_ = [("id", C.c_int), ("pad", C.c_int), ("v", C.c_uint32 * 16)]
        class Config(C.Structure): _fields_ = [("g", C.c_uint32 * 3), ("b", C.c_uint32 * 3), ("shared", C.c_uint32), ("stream", C.c_void_p), ("attrs", C.POINTER(Attr)), ("n", C.c_uint32)]
        attr = Attr(4, 0, (k["cluster"], 1, 1)); cfg = Config((k["grid"], 1, 1), (k["block"], 1, 1), k["shared"], None, C.pointer(attr), 1 if k["cluster"] > 1 else 0)
        for _ in range(3):
            self.ck(cu.cuLaunchKernelEx(C.byref(cfg), f, args, None), "launch"); self.ck(cu.cuCtxSynchronize(), "run")
            d = C.create_string_buffer(4 * warps); self.ck(cu.cuMemcpyDtoH_v2(d, self.out, C.c_size_t(4 * warps)))
            v = sorted(struct.unpack("<%dI" % warps, d.raw)); got = v[-1] if k["grid"] == 1 else v[len(v) // 2]
            best = got if best is None else min(best, got)
        cu.cuModuleUnload(m)
        return best

class Sim:
    """Clocks are of the functional run there, so a loop's turn is what a launch with more of them takes longer."""
    def __init__(self, exe, device):
        self.exe, self.name, self.dir = exe, device, tempfile.mkdtemp()
        for d in json.loads(subprocess.run([exe, "devices", "-j"], capture_output=True, text=True).stdout)["devices"]:
            if d["spec"] == device: self.mhz = d["clock_khz"] / 1000
        fields = json.loads(subprocess.run([exe, "devices", device.split(":")[-1], "-j"], capture_output=True, text=True).stdout)["fields"]
        self.tensor_mhz = next((v["value"] for k, v in fields.items() if k == "tensor_clock_mhz"), 0) or self.mhz
    def time(self, k, rounds):
        path = os.path.join(self.dir, "k"); warps = k["grid"] * k["block"] // 32
        open(path + ".ptx", "w").write(k["text"])
        m = {"data": "data", "type": "u8", "dims": [128, k["data"] // 128], "strides": [128], "box": [k.get("inner", 128), k.get("rows", 1)], "swizzle": "128B" if k.get("inner", 128) == 128 else "none"}
        json.dump({"format": "gpulocw-launch", "version": 1, "ptx": "k.ptx", "kernel": "k", "grid": [k["grid"], 1, 1], "block": [k["block"], 1, 1], "shared": k["shared"], **({"cluster": [k["cluster"], 1, 1]} if k["cluster"] > 1 else {}),
                   "args": [{"name": "map", "tensor_map": m}, {"name": "data", "buffer": "u8", "count": k["data"]}, {"name": "out", "buffer": "u32", "count": warps}, {"name": "rounds", "u32": rounds}]}, open(path + ".launch.json", "w"))
        r = subprocess.run([self.exe, "run", path + ".ptx", "--device", self.name, "--exact", "-j"], capture_output=True, text=True, timeout=300)
        if r.returncode: raise RuntimeError((r.stdout + r.stderr).strip()[:300])
        return json.loads(r.stdout)["time_ns"]["median"]
    def run(self, k):
        few = k["rounds"]
        return (self.time(k, 3 * few) - self.time(k, few)) / 2 * (self.tensor_mhz if "mma" in k["text"] else self.mhz) / 1000

def main():
    args = sys.argv[1:]
    dev = Sim(args[1], args[2]) if args[:1] == ["--sim"] else Gpu()
    only = args[3:] if args[:1] == ["--sim"] else args
    print("# %s" % dev.name)
    for k in KERNELS:
        if only and not any(k["name"].startswith(p) for p in only): continue
        try:
            each = dev.run(k) / (k["rounds"] * k["per"])
            print("%-72s %9.1f cycles%s" % (k["name"], each, "  %6.2f bytes/cycle" % (k["bytes"] / each) if k["bytes"] else ""), flush=True)
        except Exception as e:
            print("%-72s %s" % (k["name"], e), flush=True)
            if "CUDA error 7" in str(e): return
if __name__ == "__main__": main()
