#!/usr/bin/env python3
"""Products of matrices and attention as today's kernels make them: PTX and launch descriptions of 17 configurations that differ in tile, depth of the ring,
CTA order, cluster, specialisation and type.

    tests/gpu/gemms.py write FOLDER [NAME...]                    NAME.ptx and NAME.launch.json
    tests/gpu/gemms.py time GPULOCW DEVICE FOLDER [NAME...]      runs them: one JSON line each (time, hash of the output)
    tests/gpu/gemms.py compare MEASURED SIMULATED                two such recordings: error of each, rank correlation

Matrices are A[M][K], B[N][K], both with K innermost; C[M][N] in f32. Attention has Q, K, V[heads * length][depth] in f16 and O alike."""
import json, os, subprocess, sys

HEAD = ".version 8.2\n.target sm_90a\n.address_size 64\n.extern .shared .align 1024 .b8 ring[];\n"
SWIZZLE = {128: (1, "128B"), 64: (2, "64B"), 32: (3, "32B")}

def regs(*groups): return " " + " ".join(".reg .%s %s<%d>;" % g for g in groups) + "\n"
def wait(bar, parity, label): return "%s: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p0, [%s], %s; @!p0 bra %s;\n" % (label, bar, parity, label)
def next_stage(stages): return " add.u32 r20, r20, 1; setp.eq.u32 p1, r20, %d; @p1 mov.u32 r20, 0; @p1 xor.b32 r21, r21, 1;\n" % stages
def descriptor(reg, address, row_bytes, lead=16):
    return " shr.u32 r40, %s, 4; and.b32 r40, r40, 0x3fff; cvt.u64.u32 %s, r40; or.b64 %s, %s, 0x%x;\n" % (address, reg, reg, reg, SWIZZLE[row_bytes][0] << 62 | (8 * row_bytes >> 4) << 32 | lead >> 4 << 16)
def tma(to, tensor, x, y, bar, mask=None):
    return " cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes%s [%s], [%s, {%s, %s}], [%s]%s;\n" % (".multicast::cluster" if mask else "", to, tensor, x, y, bar, ", " + mask if mask else "")

# ---- products with a ring of tensor copies ----
class Gemm:
    def __init__(self, name, size, tile=(128, 128), row=128, stages=4, consumers=2, order="row", cluster=(1, 1), persistent=False, kind="f16", ahead=1):
        self.name, self.size, self.tile, self.row, self.stages, self.consumers = name, size, tile, row, stages, consumers
        self.order, self.cluster, self.persistent, self.kind, self.ahead = order, cluster, persistent, kind, ahead
        self.elem = 1 if kind == "e4m3" else 2
        self.bk = row // self.elem                       # elements of k in a stage
        self.threads = 128 * (consumers + 1)
        self.grid = size[1] // tile[1], size[0] // tile[0]
    def tiles(self): return self.grid[0] * self.grid[1]
    def stage_bytes(self): return (self.tile[0] + self.tile[1]) * self.row
    def place(self):
        """r10, r11: first row and column of the tile with number r9 (or of this CTA in a cluster)."""
        nx, ny = self.grid
        if self.cluster != (1, 1): t = " mov.u32 r10, %ctaid.y; mov.u32 r11, %ctaid.x;\n"
        elif self.order == "row": t = " div.u32 r10, r9, %d; rem.u32 r11, r9, %d;\n" % (nx, nx)
        elif self.order == "column": t = " div.u32 r11, r9, %d; rem.u32 r10, r9, %d;\n" % (ny, ny)
        else: # bands of `order` rows, column by column in each
            g = self.order
            t = " div.u32 r12, r9, %d; rem.u32 r13, r9, %d; rem.u32 r10, r13, %d; div.u32 r11, r13, %d; mad.lo.u32 r10, r12, %d, r10;\n" % (g * nx, g * nx, g, g, g)
        return t + " mul.lo.u32 r10, r10, %d; mul.lo.u32 r11, r11, %d;\n" % self.tile
    def begin(self):
        cx, cy = self.cluster
        many = cx * cy > 1
        t = " mov.u32 r0, %%tid.x; shr.u32 r1, r0, 7; mov.u32 r2, ring; mov.u32 r3, bars; mov.u32 r9, %%ctaid.x;\n mov.b64 x0, A; cvta.param.u64 x0, x0; mov.b64 x1, B; cvta.param.u64 x1, x1;\n setp.ne.u32 p0, r0, 0; @p0 bra INIT;\n" % ()
        for s in range(self.stages):
            t += " mbarrier.init.shared::cta.b64 [r3+%d], 1; mbarrier.init.shared::cta.b64 [r3+%d], %d;\n" % (8 * s, 8 * (self.stages + s), self.consumers * (cx + cy - 1))
        t += " fence.mbarrier_init.release.cluster;\nINIT: " + (" barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n" if many else " bar.sync 0;\n")
        if many: t += " mov.u32 r5, %%cluster_ctarank; mov.u32 r6, %%cluster_ctaid.x; mov.u32 r7, %%cluster_ctaid.y; mov.b32 r8, %d; mul.lo.u32 r41, r7, %d; shl.b32 r8, r8, r41; cvt.u16.u32 h0, r8; mov.b32 r8, %d; shl.b32 r8, r8, r6; cvt.u16.u32 h1, r8;\n" % ((1 << cx) - 1, cx, sum(1 << cx * i for i in range(cy)))
        return t + " mov.u32 r20, 0; mov.u32 r21, 0; setp.ne.u32 p2, r1, 0; @p2 bra CONSUMER;\n"
    def loads(self):
        """Of one stage, into r22 (its address), told to r23."""
        (bm, bn), (cx, cy) = self.tile, self.cluster
        t = " mad.lo.u32 r22, r20, %d, r2; shl.b32 r23, r20, 3; add.u32 r23, r23, r3;\n" % self.stage_bytes()
        t += wait("r24", "r25", "E%s") if False else ""
        t += " add.u32 r24, r23, %d; xor.b32 r25, r21, 1;\n" % (8 * self.stages) + wait("r24", "r25", "EMPTY")
        t += " mbarrier.arrive.expect_tx.shared::cta.b64 _, [r23], %d;\n" % self.stage_bytes()
        if cx > 1: t += " mad.lo.u32 r26, r6, %d, r10; mad.lo.u32 r27, r6, %d, r22;\n" % (bm // cx, bm // cx * self.row) + tma("r27", "x0", "r30", "r26", "r23", "h0")
        else: t += tma("r22", "x0", "r30", "r10", "r23")
        t += " add.u32 r28, r22, %d;\n" % (bm * self.row)
        if cy > 1: t += " mad.lo.u32 r26, r7, %d, r11; mad.lo.u32 r27, r7, %d, r28;\n" % (bn // cy, bn // cy * self.row) + tma("r27", "x1", "r30", "r26", "r23", "h1")
        else: t += tma("r28", "x1", "r30", "r11", "r23")
        return t
    def producer(self):
        t = " setmaxnreg.dec.sync.aligned.u32 40;\n setp.ne.u32 p2, r0, 0; @p2 bra END;\nTILE: setp.ge.u32 p2, r9, %d; @p2 bra END;\n" % self.tiles() if self.persistent else " setmaxnreg.dec.sync.aligned.u32 40;\n setp.ne.u32 p2, r0, 0; @p2 bra END;\n"
        t += self.place() + " mov.u32 r30, 0;\nLOAD:\n" + self.loads() + next_stage(self.stages)
        t += " add.u32 r30, r30, %d; setp.lt.u32 p1, r30, %d; @p1 bra LOAD;\n" % (self.bk, self.size[2])
        return t + (" mov.u32 r41, %nctaid.x; add.u32 r9, r9, r41; bra TILE;\n" if self.persistent else " bra END;\n")
    def release(self, stage):
        """Tells every CTA whose copies reach this one that a stage is free; r42: its number."""
        cx, cy = self.cluster
        t = " shl.b32 r43, %s, 3; add.u32 r43, r43, r3; add.u32 r43, r43, %d;\n" % (stage, 8 * self.stages)
        if (cx, cy) == (1, 1): return t + " @p3 mbarrier.arrive.release.cta.shared::cta.b64 _, [r43];\n"
        for i in range(cx): t += " mad.lo.u32 r44, r7, %d, %d; mapa.shared::cluster.u32 r45, r43, r44; @p3 mbarrier.arrive.shared::cluster.b64 _, [r45];\n" % (cx, i)
        for i in range(cy): t += " mad.lo.u32 r44, %d, %d, r6; setp.ne.u32 p4, r44, r5; and.pred p4, p4, p3; mapa.shared::cluster.u32 r45, r43, r44; @p4 mbarrier.arrive.shared::cluster.b64 _, [r45];\n" % (i, cx)
        return t
    def products(self):
        bm, bn = self.tile; rows = bm // self.consumers
        t, k = "", 32 // self.elem                       # 32 bytes of k an instruction
        for h in range(rows // 64):
            D = ",".join("%%d%d" % (h * bn // 2 + i) for i in range(bn // 2))
            for j in range(self.row // 32):
                t += " add.u64 x4, x2, %d; add.u64 x5, x3, %d; wgmma.mma_async.sync.aligned.m64n%dk%d.f32.%s.%s {%s}, x4, x5, %s, 1, 1%s;\n" % ((h * 64 * self.row + 32 * j) >> 4, 32 * j >> 4, bn, k, self.kind, self.kind, D, "p6" if j else "p5", ", 0, 0" if self.kind == "f16" else "")
        return t
    def consumer(self):
        (bm, bn), n = self.tile, self.size[1]; rows = bm // self.consumers; nd = rows // 64 * bn // 2
        t = "CONSUMER: setmaxnreg.inc.sync.aligned.u32 %d;\n sub.u32 r1, r1, 1; and.b32 r31, r0, 127; setp.eq.u32 p3, r31, 0; setp.eq.u32 p6, r0, r0; ld.param.u64 x6, [C];\n" % (232 if self.consumers < 3 else 152)
        if self.persistent: t += "CTILE: setp.ge.u32 p2, r9, %d; @p2 bra END;\n" % self.tiles()
        t += self.place() + " mov.u32 r30, 0; mov.u32 r46, 0;\nSTEP:\n mad.lo.u32 r22, r20, %d, r2; shl.b32 r23, r20, 3; add.u32 r23, r23, r3;\n" % self.stage_bytes() + wait("r23", "r21", "FULL")
        t += " mad.lo.u32 r47, r1, %d, r22; add.u32 r48, r22, %d;\n" % (rows * self.row, bm * self.row) + descriptor("x2", "r47", self.row) + descriptor("x3", "r48", self.row)
        t += " setp.ne.u32 p5, r30, 0;\n wgmma.fence.sync.aligned;\n" + self.products() + " wgmma.commit_group.sync.aligned;\n wgmma.wait_group.sync.aligned %d;\n" % self.ahead
        if self.ahead: t += " setp.eq.u32 p7, r30, 0; @p7 bra FIRST;\n" + self.release("r46") + "FIRST: mov.u32 r46, r20;\n"
        else: t += self.release("r20")
        t += next_stage(self.stages) + " add.u32 r30, r30, %d; setp.lt.u32 p1, r30, %d; @p1 bra STEP;\n" % (self.bk, self.size[2])
        if self.ahead: t += " wgmma.wait_group.sync.aligned 0;\n" + self.release("r46")
        # thread: row 16 (warp of 4) + lane / 4, columns 2 (lane % 4)
        t += " shr.u32 r50, r31, 5; and.b32 r51, r31, 31; shr.u32 r52, r51, 2; and.b32 r53, r51, 3; mad.lo.u32 r52, r50, 16, r52; mad.lo.u32 r52, r1, %d, r52; add.u32 r52, r52, r10; mad.lo.u32 r53, r53, 2, r11; mul.wide.u32 x7, r52, %d; add.u64 x7, x7, x6; mul.wide.u32 x8, r53, 4; add.u64 x7, x7, x8;\n" % (rows, 4 * n)
        for i in range(0, nd, 2):
            h, c = divmod(i, bn // 2)
            t += " st.global.v2.f32 [x7+%d], {%%d%d, %%d%d};\n" % ((h * 64 + 8 * (c // 2 % 2)) * n * 4 + 32 * (c // 4), i, i + 1)
        return t + (" mov.u32 r41, %nctaid.x; add.u32 r9, r9, r41; bra CTILE;\n" if self.persistent else "")
    def ptx(self):
        cx, cy = self.cluster
        nd = self.tile[0] // self.consumers // 64 * self.tile[1] // 2
        t = HEAD + ".visible .entry %s(.param .align 64 .b8 A[128], .param .align 64 .b8 B[128], .param .u64 a, .param .u64 b, .param .u64 C)\n.maxntid %d, 1, 1\n" % (self.name, self.threads)
        t += (".explicitcluster\n.reqnctapercluster %d, %d, 1\n" % self.cluster if cx * cy > 1 else "") + "{\n" + regs(("pred", "p", 8), ("b16", "h", 2), ("b32", "r", 64), ("b64", "x", 12), ("f32", "%d", nd)) + " .shared .align 8 .b64 bars[%d];\n" % (2 * self.stages)
        t += self.begin() + self.producer() + self.consumer() + "END:" + (" barrier.cluster.arrive.release; barrier.cluster.wait.acquire;\n" if cx * cy > 1 else "") + " ret;\n}\n"
        return t
    def launch(self):
        (m, n, k), (bm, bn), (cx, cy) = self.size, self.tile, self.cluster
        kind = "u8" if self.elem == 1 else "f16"
        def tensor(data, rows, box): return {"data": data, "type": kind, "dims": [k, rows], "strides": [k * self.elem], "box": [self.bk, box], "swizzle": SWIZZLE[self.row][1]}
        def matrix(name, rows, seed): return {"name": name, "buffer": kind, "count": rows * k, "init": {"random": [-1, 1] if self.elem == 2 else [24, 56], "seed": seed}}
        grid = list(self.grid) if cx * cy > 1 else [min(132, self.tiles()) if self.persistent else self.tiles(), 1]
        return {"grid": grid + [1], "block": [self.threads, 1, 1], "shared": self.stages * self.stage_bytes(),
                "args": [{"name": "A", "tensor_map": tensor("a", m, bm // cx)}, {"name": "B", "tensor_map": tensor("b", n, bn // cy)},
                         matrix("a", m, 1), matrix("b", n, 2), {"name": "C", "buffer": "f32", "count": m * n, "output": True}]}
    def flops(self): return 2 * self.size[0] * self.size[1] * self.size[2]

class Plain:
    """No tensor copies: cp.async into a ring, ldmatrix, mma.sync; 8 warps, tile of 128 x 128 x 32, each warp 64 x 32. Pieces of 16 bytes of a row of 64 change places with (row / 2) % 4."""
    def __init__(self, name, size, stages=3): self.name, self.size, self.stages = name, size, stages
    def ptx(self):
        m, n, k = self.size; S = self.stages; stage = 16384
        t = HEAD + ".visible .entry %s(.param .u64 a, .param .u64 b, .param .u64 C)\n.maxntid 256, 1, 1\n{\n" % self.name + regs(("pred", "p", 4), ("b32", "r", 64), ("b64", "x", 16), ("b32", "fa", 16), ("b32", "fb", 8), ("f32", "%d", 64))
        t += " mov.u32 r0, %tid.x; mov.u32 r2, ring; mov.u32 r10, %ctaid.y; mov.u32 r11, %ctaid.x; shl.b32 r10, r10, 7; shl.b32 r11, r11, 7; ld.param.u64 x0, [a]; ld.param.u64 x1, [b]; ld.param.u64 x2, [C];\n"
        # piece r0 % 4 of row r0 / 4 (and 64 rows on)
        t += " shr.u32 r3, r0, 2; and.b32 r4, r0, 3; shr.u32 r5, r3, 1; xor.b32 r5, r5, r4; and.b32 r5, r5, 3; mad.lo.u32 r6, r3, 64, r2; mad.lo.u32 r6, r5, 16, r6;\n"
        t += " add.u32 r7, r10, r3; mul.wide.u32 x3, r7, %d; mul.wide.u32 x4, r4, 16; add.u64 x3, x3, x0; add.u64 x3, x3, x4; add.u32 r7, r11, r3; mul.wide.u32 x5, r7, %d; add.u64 x5, x5, x1; add.u64 x5, x5, x4;\n" % (2 * k, 2 * k)
        def load(): return "".join(" cp.async.cg.shared.global [r8+%d], [%s+%d], 16;\n" % (o + h * 4096, x, h * 64 * 2 * k) for o, x in ((0, "x3"), (8192, "x5")) for h in (0, 1)) + " add.u64 x3, x3, 64; add.u64 x5, x5, 64;\n"
        for s in range(S - 1): t += " add.u32 r8, r6, %d;\n" % (s * stage) + load() + " cp.async.commit_group;\n"
        t += "".join(" mov.f32 %%d%d, 0f00000000;\n" % i for i in range(64))
        # this lane's row and piece for ldmatrix: A rows lane % 16, pieces lane / 16; B rows lane % 8 + 8 (lane / 16), pieces lane / 8 % 2
        t += " shr.u32 r12, r0, 5; and.b32 r13, r0, 31; and.b32 r14, r12, 1; shr.u32 r15, r12, 1; and.b32 r16, r13, 15; mad.lo.u32 r16, r14, 64, r16; shr.u32 r17, r13, 4; and.b32 r18, r13, 7; mad.lo.u32 r18, r17, 8, r18; mad.lo.u32 r18, r15, 32, r18; shr.u32 r19, r13, 3; and.b32 r19, r19, 1;\n"
        for kk in (0, 1):
            t += " add.u32 r30, r17, %d; shr.u32 r31, r16, 1; xor.b32 r30, r30, r31; and.b32 r30, r30, 3; mul.lo.u32 r3%d, r16, 64; mad.lo.u32 r3%d, r30, 16, r3%d;\n" % (2 * kk, 2 + kk, 2 + kk, 2 + kk)
            t += " add.u32 r30, r19, %d; shr.u32 r31, r18, 1; xor.b32 r30, r30, r31; and.b32 r30, r30, 3; mul.lo.u32 r3%d, r18, 64; mad.lo.u32 r3%d, r30, 16, r3%d;\n" % (2 * kk, 4 + kk, 4 + kk, 4 + kk)
        t += " mov.u32 r20, 0; mov.u32 r21, %d; mov.u32 r22, 0;\nSTEP: cp.async.wait_group %d; bar.sync 0;\n" % (S - 1, S - 2)
        t += " add.u32 r23, r22, %d; setp.ge.u32 p0, r23, %d; @p0 bra NONE; mad.lo.u32 r8, r21, %d, r6;\n" % (S - 1, k // 32, stage) + load() + "NONE: cp.async.commit_group; mad.lo.u32 r24, r20, %d, r2;\n" % stage
        for kk in (0, 1):
            t += " add.u32 r25, r24, r3%d; add.u32 r26, r24, r3%d;\n" % (2 + kk, 4 + kk)
            for i in range(4): t += " ldmatrix.sync.aligned.m8n8.x4.shared.b16 {fa%d,fa%d,fa%d,fa%d}, [r25+%d];\n" % (*range(4 * i, 4 * i + 4), i * 16 * 64)
            for j in range(2): t += " ldmatrix.sync.aligned.m8n8.x4.shared.b16 {fb%d,fb%d,fb%d,fb%d}, [r26+%d];\n" % (*range(4 * j, 4 * j + 4), 8192 + j * 16 * 64)
            for i in range(4):
                for j in range(4):
                    D = "{" + ",".join("%%d%d" % (16 * i + 4 * j + e) for e in range(4)) + "}"
                    t += " mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 %s, {fa%d,fa%d,fa%d,fa%d}, {fb%d,fb%d}, %s;\n" % (D, *range(4 * i, 4 * i + 4), 2 * j, 2 * j + 1, D)
        t += " add.u32 r20, r20, 1; setp.eq.u32 p1, r20, %d; @p1 mov.u32 r20, 0; add.u32 r21, r21, 1; setp.eq.u32 p1, r21, %d; @p1 mov.u32 r21, 0; add.u32 r22, r22, 1; setp.lt.u32 p1, r22, %d; @p1 bra STEP;\n" % (S, S, k // 32)
        t += " shr.u32 r50, r13, 2; and.b32 r51, r13, 3; mad.lo.u32 r50, r14, 64, r50; add.u32 r50, r50, r10; mad.lo.u32 r51, r51, 2, r11; mad.lo.u32 r51, r15, 32, r51; mul.wide.u32 x7, r50, %d; add.u64 x7, x7, x2; mul.wide.u32 x8, r51, 4; add.u64 x7, x7, x8;\n" % (4 * n)
        for i in range(4):
            for j in range(4):
                for e in (0, 1): t += " st.global.v2.f32 [x7+%d], {%%d%d, %%d%d};\n" % ((16 * i + 8 * e) * n * 4 + 32 * j, 16 * i + 4 * j + 2 * e, 16 * i + 4 * j + 2 * e + 1)
        return t + " ret;\n}\n"
    def launch(self):
        m, n, k = self.size
        def matrix(name, rows, seed): return {"name": name, "buffer": "f16", "count": rows * k, "init": {"random": [-1, 1], "seed": seed}}
        return {"grid": [n // 128, m // 128, 1], "block": [256, 1, 1], "shared": self.stages * 16384, "args": [matrix("a", m, 1), matrix("b", n, 2), {"name": "C", "buffer": "f32", "count": m * n, "output": True}]}
    def flops(self): return 2 * self.size[0] * self.size[1] * self.size[2]

class Attention:
    """O = softmax(Q K' / sqrt(depth)) V of each head; 128 queries a CTA, two consumer warpgroups of 64, blocks of `block` keys through a ring, running maximum and sum."""
    def __init__(self, name, heads, length, depth, block=64, stages=2):
        self.name, self.heads, self.length, self.depth, self.block, self.stages = name, heads, length, depth, block, stages
    def ptx(self):
        d, bn, S, parts = self.depth, self.block, self.stages, self.depth // 64
        qb, kb = 128 * d * 2, bn * d * 2                 # bytes of Q, of a block of K or V
        ns, no, nsteps = bn // 2, d // 2, self.length // bn
        scale = 1.4426950408889634 / d ** 0.5
        import struct
        f = lambda v: "0f%08X" % struct.unpack("<I", struct.pack("<f", v))[0]
        t = HEAD + ".visible .entry %s(.param .align 64 .b8 Q[128], .param .align 64 .b8 K[128], .param .align 64 .b8 V[128], .param .u64 q, .param .u64 k, .param .u64 v, .param .u64 O)\n.maxntid 384, 1, 1\n{\n" % self.name
        t += regs(("pred", "p", 8), ("b32", "r", 64), ("b64", "x", 16), ("f32", "%s", ns), ("f32", "%o", no), ("b32", "%pp", ns // 2), ("f32", "f", 16)) + " .shared .align 8 .b64 bars[%d];\n" % (1 + 4 * S)
        t += " mov.u32 r0, %tid.x; shr.u32 r1, r0, 7; mov.u32 r2, ring; mov.u32 r3, bars; mov.u32 r10, %ctaid.x; mov.u32 r11, %ctaid.y; mul.lo.u32 r11, r11, " + str(self.length) + "; mad.lo.u32 r10, r10, 128, r11;\n"
        t += "".join(" mov.b64 x%d, %s; cvta.param.u64 x%d, x%d;\n" % (i, c, i, i) for i, c in enumerate("QKV")) + " setp.ne.u32 p0, r0, 0; @p0 bra INIT;\n mbarrier.init.shared::cta.b64 [r3], 1;\n"
        for s in range(2 * S): t += " mbarrier.init.shared::cta.b64 [r3+%d], 1; mbarrier.init.shared::cta.b64 [r3+%d], 2;\n" % (8 + 8 * s, 8 + 8 * (2 * S + s))
        t += " fence.mbarrier_init.release.cluster;\nINIT: bar.sync 0; mov.u32 r20, 0; mov.u32 r21, 0; setp.ne.u32 p2, r1, 0; @p2 bra CONSUMER;\n"
        # producer; rings of K (stages 0 to S - 1) and V
        t += " setmaxnreg.dec.sync.aligned.u32 40;\n setp.ne.u32 p2, r0, 0; @p2 bra END;\n mbarrier.arrive.expect_tx.shared::cta.b64 _, [r3], %d;\n" % qb
        for i in range(parts): t += " mov.u32 r31, %d; add.u32 r22, r2, %d;\n" % (64 * i, i * 128 * 128) + tma("r22", "x0", "r31", "r10", "r3")
        t += " mov.u32 r30, 0; mov.u32 r32, r11;\nLOAD: xor.b32 r25, r21, 1;\n"
        for which in (0, 1):
            t += " mad.lo.u32 r22, r20, %d, r2; add.u32 r22, r22, %d; shl.b32 r23, r20, 3; add.u32 r23, r23, r3; add.u32 r24, r23, %d;\n" % (kb, qb + which * S * kb, 8 + 8 * (2 * S + which * S)) + wait("r24", "r25", "EMPTY%d" % which)
            t += " add.u32 r23, r23, %d; mbarrier.arrive.expect_tx.shared::cta.b64 _, [r23], %d;\n" % (8 + 8 * which * S, kb)
            for i in range(parts): t += " mov.u32 r31, %d; add.u32 r26, r22, %d;\n" % (64 * i, i * bn * 128) + tma("r26", "x%d" % (1 + which), "r31", "r32", "r23")
        t += next_stage(S) + " add.u32 r32, r32, %d; add.u32 r30, r30, 1; setp.lt.u32 p1, r30, %d; @p1 bra LOAD; bra END;\n" % (bn, nsteps)
        # consumers
        t += "CONSUMER: setmaxnreg.inc.sync.aligned.u32 232;\n sub.u32 r1, r1, 1; and.b32 r31, r0, 127; setp.eq.u32 p3, r31, 0; setp.eq.u32 p6, r0, r0; setp.ne.u32 p7, r0, r0;\n"
        t += " mov.f32 f0, 0fFF800000; mov.f32 f1, 0fFF800000; mov.f32 f2, 0f00000000; mov.f32 f3, 0f00000000;\n" + "".join(" mov.f32 %%o%d, 0f00000000;\n" % i for i in range(no))
        t += " mov.u32 r29, 0;\n" + wait("r3", "r29", "QWAIT") + " mad.lo.u32 r47, r1, 8192, r2;\n" + descriptor("x2", "r47", 128) + " mov.u32 r30, 0;\n"
        t += "STEP: mad.lo.u32 r22, r20, %d, r2; add.u32 r22, r22, %d; shl.b32 r23, r20, 3; add.u32 r23, r23, r3; add.u32 r24, r23, 8;\n" % (kb, qb) + wait("r24", "r21", "KWAIT") + descriptor("x3", "r22", 128)
        t += " wgmma.fence.sync.aligned;\n"
        SREG = ",".join("%%s%d" % i for i in range(ns)); OREG = ",".join("%%o%d" % i for i in range(no))
        for j in range(d // 16):
            part, w = divmod(j, 4)
            t += " add.u64 x4, x2, %d; add.u64 x5, x3, %d; wgmma.mma_async.sync.aligned.m64n%dk16.f32.f16.f16 {%s}, x4, x5, %s, 1, 1, 0, 0;\n" % ((part * 16384 + 32 * w) >> 4, (part * bn * 128 + 32 * w) >> 4, bn, SREG, "p7" if j == 0 else "p6")
        t += " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n @p3 mbarrier.arrive.release.cta.shared::cta.b64 _, [r23+%d];\n" % (8 + 8 * 2 * S)
        # running maximum of rows lane / 4 and 8 on; columns c, c + 1 of both
        for row in (0, 1):
            t += " mov.f32 f%d, f%d;\n" % (4 + row, row) + "".join(" max.f32 f%d, f%d, %%s%d;\n" % (4 + row, 4 + row, i) for i in range(ns) if i // 2 % 2 == row)
            for b in (1, 2): t += " mov.b32 r50, f%d; shfl.sync.bfly.b32 r51, r50, %d, 31, -1; mov.b32 f6, r51; max.f32 f%d, f%d, f6;\n" % (4 + row, b, 4 + row, 4 + row)
            t += " sub.rn.f32 f7, f%d, f%d; mul.rn.f32 f7, f7, %s; ex2.approx.ftz.f32 f%d, f7; mov.f32 f%d, f%d; mul.rn.f32 f%d, f%d, %s; mul.rn.f32 f%d, f%d, f%d;\n" % (row, 4 + row, f(scale), 8 + row, row, 4 + row, 10 + row, 4 + row, f(scale), 2 + row, 2 + row, 8 + row)
        for i in range(ns):
            row = i // 2 % 2
            t += " neg.f32 f7, f%d; fma.rn.f32 f7, %%s%d, %s, f7; ex2.approx.ftz.f32 %%s%d, f7; add.rn.f32 f%d, f%d, %%s%d;\n" % (10 + row, i, f(scale), i, 2 + row, 2 + row, i)
        for i in range(no): t += " mul.rn.f32 %%o%d, %%o%d, f%d;\n" % (i, i, 8 + i // 2 % 2)
        for i in range(0, ns, 2): t += " cvt.rn.f16x2.f32 %%pp%d, %%s%d, %%s%d;\n" % (i // 2, i + 1, i)
        # O += P V: keys are rows of V, so B lies along N; parts of 64 columns are kb / parts apart
        t += " add.u32 r24, r23, %d;\n" % (8 + 8 * S) + wait("r24", "r21", "VWAIT") + " add.u32 r48, r22, %d;\n" % (S * kb) + descriptor("x6", "r48", 128, bn * 128) + " wgmma.fence.sync.aligned;\n"
        for j in range(bn // 16):
            P = ",".join("%%pp%d" % (4 * j + e) for e in range(4))
            t += " add.u64 x5, x6, %d; wgmma.mma_async.sync.aligned.m64n%dk16.f32.f16.f16 {%s}, {%s}, x5, p6, 1, 1, 1;\n" % (j * 16 * 128 >> 4, d, OREG, P)
        t += " wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;\n @p3 mbarrier.arrive.release.cta.shared::cta.b64 _, [r23+%d];\n" % (8 + 8 * 3 * S)
        t += next_stage(S) + " add.u32 r30, r30, 1; setp.lt.u32 p1, r30, %d; @p1 bra STEP;\n" % nsteps
        for row in (0, 1):
            for b in (1, 2): t += " mov.b32 r50, f%d; shfl.sync.bfly.b32 r51, r50, %d, 31, -1; mov.b32 f6, r51; add.rn.f32 f%d, f%d, f6;\n" % (2 + row, b, 2 + row, 2 + row)
            t += " rcp.rn.f32 f%d, f%d;\n" % (12 + row, 2 + row)
        t += " ld.param.u64 x8, [O]; shr.u32 r50, r31, 5; and.b32 r51, r31, 31; shr.u32 r52, r51, 2; and.b32 r53, r51, 3; mad.lo.u32 r52, r50, 16, r52; mad.lo.u32 r52, r1, 64, r52; add.u32 r52, r52, r10; mul.wide.u32 x7, r52, %d; add.u64 x7, x7, x8; mul.wide.u32 x9, r53, 4; add.u64 x7, x7, x9;\n" % (2 * d)
        for i in range(0, no, 2):
            row = i // 2 % 2
            t += " mul.rn.f32 f6, %%o%d, f%d; mul.rn.f32 f7, %%o%d, f%d; cvt.rn.f16x2.f32 r50, f7, f6; st.global.b32 [x7+%d], r50;\n" % (i, 12 + row, i + 1, 12 + row, 8 * row * 2 * d + 16 * (i // 4))
        return t + "END: ret;\n}\n"
    def launch(self):
        rows, d = self.heads * self.length, self.depth
        def tensor(data, box): return {"data": data, "type": "f16", "dims": [d, rows], "strides": [2 * d], "box": [64, box], "swizzle": "128B"}
        return {"grid": [self.length // 128, self.heads, 1], "block": [384, 1, 1], "shared": 128 * d * 2 + 2 * self.stages * self.block * d * 2,
                "args": [{"name": n, "tensor_map": tensor(n.lower(), b)} for n, b in (("Q", 128), ("K", self.block), ("V", self.block))] +
                        [{"name": n, "buffer": "f16", "count": rows * d, "init": {"random": [-1, 1], "seed": s}} for n, s in (("q", 1), ("k", 2), ("v", 3))] + [{"name": "O", "buffer": "f16", "count": rows * d, "output": True}]}
    def flops(self): return 4 * self.heads * self.length ** 2 * self.depth

K1, K2 = (1024, 1024, 1024), (2048, 2048, 1024)
CONFIGS = [
    Gemm("g1_128x128_s4", K1), Gemm("g1_128x128_s2", K1, stages=2), Gemm("g1_64x128_s4", K1, tile=(64, 128), consumers=1), Gemm("g1_64x64_s6", K1, tile=(64, 64), consumers=1, stages=6),
    Gemm("g2_128x256_s4", K2, tile=(128, 256)), Gemm("g2_256x128_s4", K2, tile=(256, 128)), Gemm("g2_row", K2), Gemm("g2_column", K2, order="column"), Gemm("g2_band4", K2, order=4),
    Gemm("g2_narrow_s6", K2, row=64, stages=6), Gemm("g2_persistent", K2, persistent=True), Gemm("g2_wait0", K2, ahead=0),
    Gemm("g2_cluster2x1", K2, cluster=(2, 1)), Gemm("g2_cluster1x2", K2, cluster=(1, 2)), Gemm("g2_cluster2x2", K2, cluster=(2, 2)), Gemm("g2_e4m3", K2, kind="e4m3"),
    Plain("g1_mma", K1), Attention("attention64", 16, 1024, 64), Attention("attention128", 8, 1024, 128), Attention("attention64_b128", 16, 1024, 64, block=128),
]

def pick(names): return [c for c in CONFIGS if not names or any(c.name.startswith(n) for n in names)]
def write(folder, names):
    os.makedirs(folder, exist_ok=True)
    for c in pick(names):
        open(os.path.join(folder, c.name + ".ptx"), "w").write(c.ptx())
        d = dict(format="gpulocw-launch", version=1, ptx=c.name + ".ptx", kernel=c.name, **c.launch())
        json.dump(d, open(os.path.join(folder, c.name + ".launch.json"), "w"))
def run(exe, device, folder, names, more=()):
    write(folder, names)
    for c in pick(names):
        r = subprocess.run([exe, "run", os.path.join(folder, c.name + ".ptx"), "-d", device, "-j", *more], capture_output=True, text=True)
        try:
            d = json.loads(r.stdout)
            t = d["time_ns"]
            line = {"name": c.name, "ns": t["median"], "min": t["min"], "max": t["max"], "tflops": t["median"] and round(c.flops() / t["median"] / 1000, 1), "outputs": {o["name"]: o["hash"] for o in d["outputs"]}}
        except (ValueError, KeyError): line = {"name": c.name, "error": (r.stdout + r.stderr).strip()[-400:]}
        print(json.dumps(line), flush=True)
def ranks(v):
    order = sorted(range(len(v)), key=lambda i: v[i]); r = [0.0] * len(v)
    for at, i in enumerate(order): r[i] = at
    return r
def compare(measured, simulated):
    m, s = ({d["name"]: d for d in map(json.loads, open(p)) if d.get("ns")} for p in (measured, simulated))
    names = [n for n in m if n in s]; errors = []
    for n in names:
        errors.append(s[n]["ns"] / m[n]["ns"] - 1)
        print("%-20s %9.2f us measured %9.2f us simulated %+6.1f %%  outputs %s" % (n, m[n]["ns"] / 1000, s[n]["ns"] / 1000, 100 * errors[-1], "equal" if m[n]["outputs"] == s[n]["outputs"] else "differ"))
    a, b = ranks([m[n]["ns"] for n in names]), ranks([s[n]["ns"] for n in names]); k = len(names)
    rho = 1 - 6 * sum((x - y) ** 2 for x, y in zip(a, b)) / (k * (k * k - 1)) if k > 2 else float("nan")
    print("%d configurations: within 25 %%: %d, rank correlation %.3f" % (k, sum(abs(e) <= 0.25 for e in errors), rho))
def main():
    a = sys.argv[1:]
    if a[:1] == ["write"]: write(a[1], a[2:])
    elif a[:1] == ["time"]: run(a[1], a[2], a[3], a[4:])
    elif a[:1] == ["compare"]: compare(a[1], a[2])
    else: sys.exit(__doc__)
if __name__ == "__main__": main()
