#!/usr/bin/env python3
"""Boxes that tensor copies put into shared memory, against what a GPU put there (tensor_boxes.txt: an H100; interleaved tensors: an H200).

    tests/gpu/boxes.py GPULOCW DEVICE FOLDER

Tiles of every rank and type, swizzles, element strides, coordinates outside on every side, im2col with corners, offsets and strides. A kernel
fills 16 KiB of shared memory with 0xee, copies one box and stores all of it; each launch of a file is a case. What the H100 refuses must fail."""
import hashlib, json, os, struct, subprocess, sys

TYPES = "u8 u16 u32 s32 u64 s64 f16 f32 f64 bf16 f32_ftz tf32 tf32_ftz".split()
WORDS = 1 << 20

def kernel(rank, im2col):
    coords = ",".join("c%d" % i for i in range(rank))
    offsets = ", {%s}" % ",".join("o%d" % i for i in range(rank - 2)) if im2col else ""
    return """
.visible .entry k%d%s(.param .align 64 .b8 tm[128], .param .align 4 .b8 co[40], .param .u32 nb, .param .u64 out, .param .u64 data)
{
 .reg .pred p,q; .reg .b32 r<30>, c<5>; .reg .b16 o<5>; .reg .b64 x<10>; .shared .align 1024 .b8 sm[16384]; .shared .align 8 .b64 bar;
 mov.u32 r0, %%tid.x; ld.param.u32 r1, [nb]; ld.param.u64 x0, [out]; %s %s
 mov.u32 r2, sm; mov.u32 r3, bar; shl.b32 r4, r0, 2; add.u32 r5, r2, r4; mov.u32 r6, 0;
L0: st.shared.b32 [r5], 0xeeeeeeee; add.u32 r5, r5, 512; add.u32 r6, r6, 512; setp.lt.u32 p, r6, 16384; @p bra L0;
 setp.eq.u32 q, r0, 0; @q mbarrier.init.shared.b64 [r3], 1; fence.proxy.async; bar.sync 0;
 mov.b64 x1, tm; cvta.param.u64 x1, x1; @!q bra L2;
 mbarrier.arrive.expect_tx.shared.b64 _, [r3], r1;
 cp.async.bulk.tensor.%dd.shared::cluster.global.%s.mbarrier::complete_tx::bytes [r2], [x1, {%s}], [r3]%s;
L2: mbarrier.try_wait.parity.shared.b64 p, [r3], 0; @!p bra L2; bar.sync 0;
 add.u32 r5, r2, r4; mul.wide.u32 x2, r0, 4; add.u64 x3, x0, x2; mov.u32 r6, 0;
L4: ld.shared.b32 r8, [r5]; st.global.b32 [x3], r8; add.u64 x3, x3, 512; add.u32 r5, r5, 512; add.u32 r6, r6, 512; setp.lt.u32 p, r6, 16384; @p bra L4;
 ret;
}
""" % (rank, "i" if im2col else "", " ".join("ld.param.b32 c%d, [co+%d];" % (i, 4 * i) for i in range(rank)),
       " ".join("ld.param.b32 r%d, [co+%d]; cvt.u16.u32 o%d, r%d;" % (20 + i, 20 + 4 * i, i, 20 + i) for i in range(max(rank - 2, 0))),
       rank, "im2col" if im2col else "tile", coords, offsets)

def launch(c, n):
    m = {"data": "data", "type": TYPES[c["type"]], "dims": c["dims"], "element_strides": c["steps"], "swizzle": ["none", "32B", "64B", "128B"][c["swizzle"]], "oob": ["zero", "nan"][c["nan"]]}
    if c["strides"]: m["strides"] = c["strides"]
    if c.get("interleave"): m["interleave"] = ["none", "16B", "32B"][c["interleave"]]
    for k in ("box", "lower", "upper", "channels", "pixels"):
        if k in c: m[k] = c[k]
    co = struct.pack("<10i", *(c["at"] + [0] * (5 - len(c["at"])) + c.get("off", []) + [0] * (5 - len(c.get("off", [])))))
    return {"name": "case%d" % n, "kernel": "k%d%s" % (len(c["dims"]), "i" if c["f"] != "tile" else ""), "grid": 1, "block": 128,
            "args": [{"name": "tm", "tensor_map": m}, {"name": "co", "bytes": co.hex()}, {"name": "nb", "u32": c["bytes"]}, {"name": "out", "buffer": "u8", "count": 16384, "output": True},
                     {"name": "data", "buffer": "u32", "count": WORDS if c["data"] == "words" else 256, "init": {"file": c["data"]}}]}

def main():
    exe, device, folder = sys.argv[1:4]
    here = os.path.dirname(os.path.abspath(__file__))
    cases = [json.loads(l) for l in open(os.path.join(here, "tensor_boxes.txt")) if l[0] != "#"]
    open(folder + "/words", "wb").write(struct.pack("<%dI" % WORDS, *range(WORDS)))
    open(folder + "/bits", "wb").write(struct.pack("<256I", *((i * 2654435761 + (i << 7)) & 0xffffffff for i in range(256))))
    open(folder + "/b.ptx", "w").write(".version 8.0\n.target sm_90a\n.address_size 64\n" + "".join(kernel(r, False) for r in range(1, 6)) + "".join(kernel(r, True) for r in range(3, 6)))
    json.dump({"format": "gpulocw-launch", "version": 1, "ptx": "b.ptx", "launches": [launch(c, n) for n, c in enumerate(cases)]}, open(folder + "/b.launch.json", "w"))
    bad = {}
    every = int(os.environ.get("GPULOCW_BOXES_EVERY", "3"))  # 1: all of them
    tried = 0
    for n, c in enumerate(cases):
        if n % every: continue
        tried += 1
        r = subprocess.run([exe, "run", folder + "/b.ptx", "-k", "case%d" % n, "--device", device, "--no-counters", "--outputs", folder], capture_output=True, text=True, timeout=60)
        got = "error 715" if r.returncode else hashlib.sha1(open(folder + "/out.bin", "rb").read()).hexdigest()[:10]
        kind = ("interleaved " if c.get("interleave") else "") + c["f"] + (" that fails" if c["made"][0] == "e" else "") + " of %d dimensions" % len(c["dims"])
        bad.setdefault(kind, [0, []])[0] += 1
        if got != c["made"]: bad[kind][1].append("%s: %s %s" % (json.dumps(c), got, (r.stdout + r.stderr)[:200] if r.returncode else ""))
    for i, (kind, (n, wrong)) in enumerate(sorted(bad.items())):
        print("%sok %d - %s: %d boxes as a GPU's" % ("not " if wrong else "", i + 1, kind, n))
        for w in wrong[:5]: print("#   " + w)
    print("1..%d" % len(bad))
    return any(w for _, w in bad.values())

if __name__ == "__main__":
    sys.exit(main())
