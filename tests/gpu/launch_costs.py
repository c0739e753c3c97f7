#!/usr/bin/env python3
"""What a launch of today's kernels costs beside its products: empty CTAs, clusters, the first copy through a tensor map, the stores at the end, and where the time
of one product of matrices goes.

    tests/gpu/launch_costs.py time GPULOCW DEVICE FOLDER [NAME...]     one JSON line each: time, and what the kernel noted of its clocks

Clocks of a simulated device's run are not those of its timing: there only the times count."""
import json, os, struct, subprocess, sys
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import gemms

class Micro:
    """A kernel with a tensor map of 4,096 rows of 128 bytes, data, and `notes` words a CTA that it writes."""
    def __init__(self, name, body, grid, block=128, shared=0, cluster=1, notes=0, rows=128):
        self.name, self.body, self.grid, self.block, self.shared, self.cluster, self.notes, self.rows = name, body, grid, block, shared, cluster, notes, rows
    def ptx(self):
        t = gemms.HEAD + ".visible .entry %s(.param .align 64 .b8 A[128], .param .u64 a, .param .u64 out, .param .u64 notes)\n.maxntid %d, 1, 1\n" % (self.name, self.block)
        if self.cluster > 1: t += ".explicitcluster\n.reqnctapercluster %d, 1, 1\n" % self.cluster
        t += "{\n" + gemms.regs(("pred", "p", 8), ("b32", "r", 64), ("b64", "x", 16)) + " .shared .align 8 .b64 bars[8];\n mov.u32 r0, %tid.x; mov.u32 r1, %ctaid.x; mov.u32 r2, ring; mov.u32 r3, bars; mov.b64 x0, A; cvta.param.u64 x0, x0; ld.param.u64 x1, [out]; ld.param.u64 x2, [notes]; setp.ne.u32 p7, r0, 0;\n"
        return t + self.body + "END: ret;\n}\n"
    def launch(self):
        n = max(1, self.notes) * self.grid
        return {"grid": [self.grid, 1, 1], "block": [self.block, 1, 1], "shared": self.shared,
                "args": [{"name": "A", "tensor_map": {"data": "a", "type": "u8", "dims": [128, 1 << 17], "strides": [128], "box": [128, self.rows], "swizzle": "128B"}},
                         {"name": "a", "buffer": "u8", "count": 1 << (12 if self.name.startswith("store") else 24)}, {"name": "out", "buffer": "f32", "count": 1 << (22 if self.name.startswith("store") else 10), "output": True}, {"name": "notes", "buffer": "u32", "count": n, "output": True}]}
    def flops(self): return 0

def note(i, n, reg): return " mad.lo.u32 r60, r1, %d, %d; mul.wide.u32 x14, r60, 4; add.u64 x14, x14, x2; st.global.u32 [x14], %s;\n" % (n, i, reg)
def first_copies(count, prefetch):
    """One thread copies 16 KiB `count` times, each waited for; notes the cycles of each."""
    t = (" @p7 bra END;\n prefetch.tensormap [x0];\n mov.u32 r50, %clock; PAUSE: mov.u32 r51, %clock; sub.u32 r51, r51, r50; setp.lt.u32 p1, r51, 4000; @p1 bra PAUSE;\n" if prefetch else " @p7 bra END;\n")
    t += " mbarrier.init.shared::cta.b64 [r3], 1; fence.mbarrier_init.release.cluster; mov.u32 r30, 0; mov.u32 r21, 0; mul.lo.u32 r31, r1, %d;\n" % (128 * count)
    for i in range(count):
        t += " mov.u32 r40, %clock; mbarrier.arrive.expect_tx.shared::cta.b64 _, [r3], 16384;\n" + gemms.tma("r2", "x0", "r30", "r31", "r3") + gemms.wait("r3", "r21", "W%d" % i) + " mov.u32 r41, %%clock; sub.u32 r42, r41, r40; xor.b32 r21, r21, 1; add.u32 r31, r31, 128;\n" % () + note(i, count, "r42")
    return t
def stores(lines):
    """A tile of 128 x 128 floats a CTA of 256 threads, as products lie in registers."""
    t = " cvt.rn.f32.u32 r40, r0; shr.u32 r50, r0, 5; and.b32 r51, r0, 31; shr.u32 r52, r51, 2; and.b32 r53, r51, 3; mad.lo.u32 r52, r50, 16, r52; shr.u32 r10, r1, 4; and.b32 r11, r1, 15; mad.lo.u32 r52, r10, 128, r52; mad.lo.u32 r53, r53, 2, 0; mad.lo.u32 r53, r11, 128, r53; mul.wide.u32 x7, r52, 8192; add.u64 x7, x7, x1; mul.wide.u32 x8, r53, 4; add.u64 x7, x7, x8;\n"
    for i in range(0, 64, 2): t += " st.global.v2.b32 [x7+%d], {r40, r52};\n" % (8 * (i // 2 % 2) * 8192 + 32 * (i // 4))
    return t
ONE = " setp.ne.u32 p1, r1, 0; or.pred p1, p1, p7; @!p1 st.global.u32 [x1], r0;\n"
CLUSTER = " barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"
LOOP = " mov.u32 r40, %%clock; mov.u32 r30, 0;\nL: %s add.u32 r30, r30, 1; setp.lt.u32 p1, r30, 64; @p1 bra L;\n mov.u32 r41, %%clock; sub.u32 r42, r41, r40; @p7 bra END;\n" + note(0, 1, "r42")
def fences(body, more=""):
    return " @p7 bra END; mbarrier.init.shared::cta.b64 [r3], 1; mbarrier.init.shared::cta.b64 [r3+8], 4096; st.shared.u32 [r2], r2; mov.u32 r21, 0; mov.u32 r6, r3; mov.u32 r9, r3; mapa.shared::cluster.u32 r9, r3, r21; " + more + " mov.u32 r40, %clock; mov.u32 r30, 0;\nL: " + body + " add.u32 r30, r30, 1; setp.lt.u32 p1, r30, 64; @p1 bra L;\n mov.u32 r41, %clock; sub.u32 r42, r41, r40;\n" + note(0, 1, "r42")
STORE = " st.global.u32 [x1], r30;"
PING = """ mov.u32 r4, %%cluster_ctarank; xor.b32 r5, r4, 1; setp.ne.u32 p2, r4, 0; @p7 bra I; mbarrier.init.shared::cta.b64 [r3], 1; fence.mbarrier_init.release.cluster; I: barrier.cluster.arrive.release; barrier.cluster.wait.acquire;
 @p7 bra DONE; mapa.shared::cluster.u32 r6, r3, r5; mov.u32 r21, 0; mov.u32 r40, %clock; mov.u32 r30, 0;
L: @p2 bra SECOND; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r6];
W1: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p0, [r3], r21; @!p0 bra W1; bra NEXT;
SECOND: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p0, [r3], r21; @!p0 bra SECOND; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r6];
NEXT: xor.b32 r21, r21, 1; add.u32 r30, r30, 1; setp.lt.u32 p1, r30, 64; @p1 bra L; mov.u32 r41, %clock; sub.u32 r42, r41, r40;
""".replace("%%", "%") + note(0, 1, "r42") + "DONE: barrier.cluster.arrive; barrier.cluster.wait;\n"
READ = """ mov.u32 r4, %cluster_ctarank; xor.b32 r5, r4, 1; @p7 bra I; st.shared.u32 [r2], r2; I: barrier.cluster.arrive.release; barrier.cluster.wait.acquire; @p7 bra DONE; mapa.shared::cluster.u32 r6, r2, r5; sub.u32 r7, r6, r2; mov.u32 r40, %clock; mov.u32 r30, 0;
L: ld.volatile.shared::cluster.u32 r8, [r6]; add.u32 r6, r8, r7; add.u32 r30, r30, 1; setp.lt.u32 p1, r30, 64; @p1 bra L; mov.u32 r41, %clock; sub.u32 r42, r41, r40;
""" + note(0, 1, "r42") + "DONE: barrier.cluster.arrive; barrier.cluster.wait;\n"
def multicast(cluster, stages, rounds=16):
    """CTA 0 of the cluster sends boxes of 16 KiB to all; a box goes when every CTA has said that the one `stages` before is read. Notes: cycles of all."""
    t = " mov.u32 r4, %cluster_ctarank; setp.ne.u32 p2, r4, 0; @p7 bra I;\n"
    for s in range(stages): t += " mbarrier.init.shared::cta.b64 [r3+%d], 1; mbarrier.init.shared::cta.b64 [r3+%d], %d;\n" % (8 * s, 8 * (stages + s), cluster)
    t += " fence.mbarrier_init.release.cluster; I: barrier.cluster.arrive.release; barrier.cluster.wait.acquire; cvt.u16.u32 %%h0, r4; mov.b16 %%h0, %d; setp.ge.u32 p3, r0, 64; @p3 bra DONE; and.b32 r9, r0, 31; setp.ne.u32 p3, r9, 0; @p3 bra DONE; mov.u32 r20, 0; mov.u32 r21, 0; mov.u32 r30, 0; mov.u32 r40, %%clock; mov.u32 r32, 0; shl.b32 r33, r1, 7; @p7 bra READ;\n" % ((1 << cluster) - 1)
    t += "SEND: shl.b32 r23, r20, 3; add.u32 r23, r23, r3; add.u32 r24, r23, %d; xor.b32 r25, r21, 1;\n" % (8 * stages) + "@p2 bra MINE;\n" + gemms.wait("r24", "r25", "WE").replace(".cta.shared::cta", ".cluster.shared::cta")
    t += "MINE: mbarrier.arrive.expect_tx.shared::cta.b64 _, [r23], 16384; mad.lo.u32 r22, r20, 16384, r2; @p2 bra SENT;\n" + gemms.tma("r22", "x0", "r32", "r33", "r23", "%h0")
    t += "SENT: add.u32 r33, r33, 128; @p2 bra PACE; bra PACED;\nPACE: " + gemms.wait("r23", "r21", "WF")[4:].join(["WF: ", ""]) + "PACED:\n" + gemms.next_stage(stages) + " add.u32 r30, r30, 1; setp.lt.u32 p1, r30, %d; @p1 bra SEND; bra DONE;\n" % rounds
    t += "READ: shl.b32 r23, r20, 3; add.u32 r23, r23, r3; add.u32 r24, r23, %d;\n" % (8 * stages) + gemms.wait("r23", "r21", "WR") + " mov.u32 r5, 0; mapa.shared::cluster.u32 r6, r24, r5; mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r6];\n" + gemms.next_stage(stages)
    t += " add.u32 r30, r30, 1; setp.lt.u32 p1, r30, %d; @p1 bra READ; mov.u32 r41, %%clock; sub.u32 r42, r41, r40;\n" % rounds + note(0, 1, "r42") + "DONE: barrier.cluster.arrive; barrier.cluster.wait;\n"
    return " .reg .b16 %h<2>;\n" + t

def exchange(cluster, stages, rounds=64, own=False):
    """Every CTA sends its part of boxes of 16 KiB to all of its cluster; a part goes when every CTA has read what lay there `stages` boxes before. Notes: cycles of all."""
    part = 16384 // cluster
    t = " .reg .b16 %h<2>; mov.u32 r4, %cluster_ctarank; @p7 bra I;\n"
    for s in range(stages): t += " mbarrier.init.shared::cta.b64 [r3+%d], 1; mbarrier.init.shared::cta.b64 [r3+%d], %d;\n" % (8 * s, 8 * (stages + s), cluster)
    t += " fence.mbarrier_init.release.cluster; I: barrier.cluster.arrive.release; barrier.cluster.wait.acquire; mov.b16 %%h0, %d; setp.ge.u32 p3, r0, 64; @p3 bra DONE; and.b32 r9, r0, 31; setp.ne.u32 p3, r9, 0; @p3 bra DONE; mov.u32 r20, 0; mov.u32 r21, 0; mov.u32 r30, 0; mov.u32 r40, %%clock; mov.u32 r32, 0; div.u32 r33, r1, %d; shl.b32 r33, r33, %d; mad.lo.u32 r33, r4, %d, r33; mov.u32 r34, r33; @p7 bra READ;\n" % ((1 << cluster) - 1, cluster, 9 if own else 7, 128 // cluster)
    t += "SEND: shl.b32 r23, r20, 3; add.u32 r23, r23, r3; add.u32 r24, r23, %d; xor.b32 r25, r21, 1;\n" % (8 * stages) + gemms.wait("r24", "r25", "WE")
    t += " mbarrier.arrive.expect_tx.shared::cta.b64 _, [r23], 16384; mad.lo.u32 r22, r20, 16384, r2; mad.lo.u32 r22, r4, %d, r22;\n" % part + gemms.tma("r22", "x0", "r32", "r33", "r23", "%h0" if cluster > 1 else None)
    t += " add.u32 r33, r33, 128;" + (" sub.u32 r35, r33, r34; setp.ge.u32 p4, r35, 512; @p4 mov.u32 r33, r34;" if own else "") + "\n" + gemms.next_stage(stages) + " add.u32 r30, r30, 1; setp.lt.u32 p1, r30, %d; @p1 bra SEND; bra DONE;\n" % rounds
    t += "READ: shl.b32 r23, r20, 3; add.u32 r23, r23, r3; add.u32 r24, r23, %d;\n" % (8 * stages) + gemms.wait("r23", "r21", "WR")
    for c in range(cluster): t += " mov.u32 r5, %d; mapa.shared::cluster.u32 r6, r24, r5; mbarrier.arrive.shared::cluster.b64 _, [r6];\n" % c
    t += gemms.next_stage(stages) + " add.u32 r30, r30, 1; setp.lt.u32 p1, r30, %d; @p1 bra READ; mov.u32 r41, %%clock; sub.u32 r42, r41, r40;\n" % rounds + note(0, 1, "r42") + "DONE: barrier.cluster.arrive; barrier.cluster.wait;\n"
    return t
def store_clocks():
    """As stores(), and the clock of a CTA's first thread before each fourth store and after the last."""
    t = stores(0).splitlines(); out = t[0] + "\n"
    for i, line in enumerate(t[1:]): out += (" mov.u32 r%d, %%clock;\n" % (12 + i // 2) if i % 2 == 0 else "") + line + "\n"
    return out + " mov.u32 r28, %clock; @p7 bra END;\n" + "".join(" sub.u32 r%d, r%d, r12;\n" % (i, i) + note(i - 13, 16, "r%d" % i) for i in range(13, 29))

MICROS = [Micro("empty_%d_%d_%dk" % (g, b, s), ONE, g, b, s << 10) for g, b, s in ((1, 128, 0), (64, 128, 0), (64, 384, 0), (64, 384, 128), (132, 384, 196), (264, 384, 128), (1056, 384, 128))]
MICROS += [Micro("cluster%d_%d" % (c, g), CLUSTER + ONE, g, 384, 128 << 10, c) for c, g in ((1, 128), (2, 128), (4, 128), (2, 512))]
MICROS += [Micro("cluster_barrier%d" % c, LOOP % (CLUSTER + ""), c, 128, 0, c, 1) for c in (2, 4, 8)] + [Micro("ping2", PING, 2, 64, 0, 2, 1), Micro("remote_read2", READ, 2, 64, 1024, 2, 1)]
for name, body in (("fence_cta", "fence.acq_rel.cta;"), ("fence_cluster", "fence.acq_rel.cluster;"), ("fence_gpu", "fence.acq_rel.gpu;"), ("fence_sys", "fence.acq_rel.sys;"), ("fence_sc_gpu", "fence.sc.gpu;"), ("fence_proxy", "fence.proxy.async;"),
                   ("store_fence_cluster", STORE + " fence.acq_rel.cluster;"), ("store_fence_gpu", STORE + " fence.acq_rel.gpu;"), ("store_fence_cta", STORE + " fence.acq_rel.cta;"),
                   ("arrive_default", "mbarrier.arrive.shared::cta.b64 _, [r3+8];"), ("arrive_cluster", "mbarrier.arrive.release.cluster.shared::cta.b64 _, [r3+8];"), ("arrive_mapped_default", "mbarrier.arrive.shared::cluster.b64 _, [r9+8];"), ("arrive_mapped_cluster", "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [r9+8];"),
                   ("wait_cluster", "mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 p2, [r3], r21;"), ("wait_cta", "mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 p2, [r3], r21;"),
                   ("load_acquire_gpu", "ld.acquire.gpu.global.u32 r22, [x1];"), ("store_release_gpu", "st.release.gpu.global.u32 [x1], r30;")):
    MICROS.append(Micro(name, fences(body), 2, 32, 1024, 2, 1))
MICROS += [Micro("cluster_barrier2_relaxed", LOOP % " barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;\n", 2, 128, 0, 2, 1)]
MICROS += [Micro("ping2_default", PING.replace("arrive.release.cluster", "arrive").replace("acquire.cluster.", ""), 2, 64, 0, 2, 1)]
MICROS += [Micro("first_copies_%d%s" % (g, "_prefetched" if p else ""), first_copies(6, p), g, 128, 16384, 1, 6) for g, p in ((1, False), (1, True), (64, False), (64, True), (132, False))]
MICROS += [Micro("stores_%d" % g, stores(0), g, 256) for g in (64, 128, 256)]
MICROS += [Micro("multicast%d_%d_in_flight%s" % (c, s, "_default" if d else ""), multicast(c, s).replace("arrive.release.cluster", "arrive" if d else "arrive.release.cluster").replace("acquire.cluster.", "" if d else "acquire.cluster."), c, 64, s * 16384, c, 1) for c, s in ((2, 1), (2, 4), (4, 1), (4, 4)) for d in (0, 1)]

MICROS += [Micro("exchange%d_%d_%d" % (c, s, g), exchange(c, s), g, 64, s * 16384, c, 1, 128 // c) for c, s, g in ((1, 8, 1), (1, 8, 132), (2, 8, 2), (2, 8, 132), (4, 8, 4), (4, 8, 120), (1, 4, 132), (2, 4, 132), (2, 1, 2), (4, 1, 4))]
MICROS += [Micro("own%d_%d_%d" % (c, s, g), exchange(c, s, own=True), g, 64, s * 16384, c, 1, 128 // c) for c, s, g in ((1, 8, 132), (2, 8, 132), (4, 8, 120), (8, 8, 120), (1, 4, 132), (2, 4, 132))]
MICROS += [Micro("storeclock_%d" % g, store_clocks(), g, 256, notes=16) for g in (1, 64, 132)]

class Trace(gemms.Gemm):
    """The product with stamps: CTA by CTA globaltimer and clock at the begin, after the barriers, after the first wait, after the last product, at the end, of the first consumer warpgroup's first thread."""
    def ptx(self):
        t = super().ptx().replace(".param .u64 C)", ".param .u64 C, .param .u64 notes)").replace("{\n .reg .pred", "{\n .reg .b64 %t<2>; .reg .b32 %c<4>; .reg .pred %q;\n .reg .pred", 1)
        def stamp(i, ready=False): return (" setp.ne.u32 %%q, r0, 128; @%%q bra S%d; mov.u64 %%t0, %%globaltimer; mov.u32 %%c0, %%clock; mov.u32 %%c1, %%ctaid.x; mov.u32 %%c2, %%ctaid.y; mad.lo.u32 %%c1, %%c2, %d, %%c1; mad.lo.u32 %%c1, %%c1, 20, %d; mul.wide.u32 %%t1, %%c1, 4; ld.param.u64 x9, [notes]; add.u64 %%t1, %%t1, x9; st.global.u64 [%%t1], %%t0; st.global.u32 [%%t1+8], %%c0; mov.u32 %%c2, %%smid; st.global.u32 [%%t1+12], %%c2; S%d:\n" % (i, self.grid[0], 4 * i, i))
        t = t.replace(" mov.u32 r0, %tid.x;", " mov.u32 r0, %tid.x;" + stamp(0), 1).replace("CONSUMER: ", "CONSUMER: " + stamp(1), 1).replace(" mad.lo.u32 r47,", " setp.ne.u32 p4, r30, 0; @p4 bra SKIP;" + stamp(2) + "SKIP: mad.lo.u32 r47,", 1)
        last = t.index(" shr.u32 r50, r31, 5;")
        t = (t[:last] + stamp(3) + t[last:]).replace("END:", stamp(4) + "END:")
        return t
    def launch(self):
        d = super().launch(); d["args"].append({"name": "notes", "buffer": "u32", "count": 20 * self.tiles(), "output": True}); return d
MICROS += [Trace("trace_" + n, k, **more) for n, k, more in (("g1", gemms.K1, {}), ("g2", gemms.K2, {}), ("c21", gemms.K2, {"cluster": (2, 1)}), ("c12", gemms.K2, {"cluster": (1, 2)}), ("c22", gemms.K2, {"cluster": (2, 2)}))]

class Steps(gemms.Attention):
    """Attention; notes of the first consumer's first thread, CTA by CTA, in cycles: from the start to the first block, then sums over the blocks: waiting for K, Q K', softmax, waiting for V, P V; the end; all, and in nanoseconds."""
    PARTS = ("start", "K", "QK", "softmax", "V", "PV", "end")
    def ptx(self):
        t = super().ptx().replace(".param .u64 O)", ".param .u64 O, .param .u64 notes)").replace("{\n .reg", "{\n .reg .b64 %t; .reg .b32 %c<4>; .reg .b32 %n<8>; .reg .pred %q; .reg .b64 %g<2>; .reg .b32 %c4;\n mov.u32 %c0, %clock; mov.u32 %c4, %c0; mov.u64 %g0, %globaltimer;\n .reg", 1)
        def take(i): return " mov.u32 %%c1, %%clock; sub.u32 %%c2, %%c1, %%c0; add.u32 %%n%d, %%n%d, %%c2; mov.u32 %%c0, %%c1;\n" % (i, i)
        t = t.replace("CONSUMER: ", "CONSUMER: " + "".join(" mov.u32 %%n%d, 0;" % i for i in range(7)), 1)
        t = t.replace(" mov.u32 r30, 0;\nSTEP:", " mov.u32 r30, 0;\n" + take(0) + "STEP:", 1).replace("bra KWAIT;\n", "bra KWAIT;\n" + take(1), 1)
        wait = "wgmma.wait_group.sync.aligned 0;\n"; at = t.index(wait) + len(wait); t = t[:at] + take(2) + t[at:]
        at = t.index(wait, at) + len(wait); t = t[:at] + take(5) + t[at:]
        t = t.replace("VWAIT: ", take(3) + "VWAIT: ", 1).replace("bra VWAIT;\n", "bra VWAIT;\n" + take(4), 1)
        end = take(6) + " setp.ne.u32 %q, r0, 128; @%q bra END; mov.u64 %g1, %globaltimer; mov.u32 %c1, %clock; sub.u32 %n7, %c1, %c4; sub.u64 %g1, %g1, %g0; cvt.u32.u64 %c4, %g1; mov.u32 %c1, %ctaid.x; mov.u32 %c2, %ctaid.y; " + "mad.lo.u32 %%c1, %%c2, %d, %%c1; mul.wide.u32 %%t, %%c1, 36; ld.param.u64 x9, [notes]; add.u64 %%t, %%t, x9;" % (self.length // 128)
        return t.replace("END: ret;", end + "".join(" st.global.u32 [%%t+%d], %%n%d;" % (4 * i, i) for i in range(8)) + " st.global.u32 [%t+32], %c4;\nEND: ret;")
    def launch(self):
        d = super().launch(); d["args"].append({"name": "notes", "buffer": "u32", "count": 9 * self.heads * self.length // 128, "output": True}); return d
MICROS += [Steps("steps64", 16, 1024, 64), Steps("steps128", 8, 1024, 128), Steps("steps64_b128", 16, 1024, 64, block=128)]
for name, body in (("fence_init", "fence.mbarrier_init.release.cluster;"), ("fence_proxy_cta", "fence.proxy.async.shared::cta;"), ("fence_cluster", "fence.acq_rel.cluster;"), ("fence_gpu", "fence.acq_rel.gpu;")):
    for c in (1, 2):
        if c == 1 or name in ("fence_init", "fence_proxy_cta"): MICROS.append(Micro("%s_of%d" % (name, c), fences(body), 2, 32, 1024, c, 1))

def run(exe, device, folder, names):
    os.makedirs(folder, exist_ok=True)
    for c in MICROS:
        if names and not any(c.name.startswith(n) for n in names): continue
        base = os.path.join(folder, c.name)
        open(base + ".ptx", "w").write(c.ptx())
        json.dump(dict(format="gpulocw-launch", version=1, ptx=c.name + ".ptx", kernel=c.name, **c.launch()), open(base + ".launch.json", "w"))
        r = subprocess.run([exe, "run", base + ".ptx", "-d", device, "-j", "--no-counters", "--outputs", base + ".out"], capture_output=True, text=True)
        try:
            d = json.loads(r.stdout); line = {"name": c.name, "ns": d["time_ns"]["median"], "min": d["time_ns"]["min"]}
            if getattr(c, "notes", 1):
                raw = open(base + ".out/notes.bin", "rb").read(); line["notes"] = struct.unpack("<%dI" % (len(raw) // 4), raw)
            os.path.exists(base + ".out/out.bin") and os.remove(base + ".out/out.bin")
        except (ValueError, KeyError, OSError): line = {"name": c.name, "error": (r.stdout + r.stderr).strip()[-400:]}
        print(json.dumps(line), flush=True)
if __name__ == "__main__":
    if sys.argv[1:2] != ["time"]: sys.exit(__doc__)
    run(sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:])
