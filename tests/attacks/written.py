#!/usr/bin/env python3
"""Kernels written at random as people and compilers write them, every kernel with every pass, on other data than it was accepted on.

    python3 tests/attacks/written.py TRIES [--count N] [--seed S] [--ledger FILE] [--keep FOLDER]

TRIES is build/tests/attacks/tries. Few registers that are used again and again, several statements a line, .sat, floats, 8 and 16 bits,
predicates that are reused as guards and by branches, scopes with registers and labels of the same names, calls, local arrays, vectors,
updates in place, buffers that are the same, returns and breaks by data, shuffles and votes of a part of a warp, barriers under branches
that all threads take together, copies, mbarriers, products of warpgroups, clusters, barriers of the whole grid and of as many CTAs as the
device holds. Prints how many rewrites were accepted, refused and wrong, by option; a wrong one is kept in FOLDER. With a ledger, N kernels
in all: what is in it is not done again. Exit 1: one is wrong."""
import argparse
import collections
import hashlib
import json
import os
import random
import selectors
import signal
import subprocess
import sys

OPTIONS = ["--coarsen 2 --coarsen-mode vector", "--coarsen 4 --coarsen-mode vector", "--coarsen 2", "--coarsen 2 --coarsen-mode blocked", "--block 128x1x1",
           "--swap-xy", "--cluster redirect", "--cluster redirect --clusters 3", "--cluster agent", "--cluster agent --agents 1 --clusters 2",
           "--bypass l1 --pi 1", "--bypass l1 --pi 1 --bypass-form predicate", "--bypass l1 --pi 1 --bypass-form grouped", "--bypass l1 --bypass-form vertical",
           "--bypass ro --pi 1", "--prefetch l1", "--prefetch l2", "--softcache 1", "--softcache dynamic", "--readonly promote", "--readonly demote",
           "--swizzle-shared", "--smem-pad 64", "--maxnreg 32", "--minctas 2", "--throttle-shared 4096",
           "--coarsen 2 --bypass l1 --pi 1", "--cluster agent --prefetch l2 --softcache 1"]
SMS = 132  # of the device of tries.c


class Writer:
    """One kernel: r0..r4 whole numbers, f0..f2 floats, h0, h1 of 16 bits, p0..p2. r5, d0..d7 hold place and addresses."""

    def __init__(self, rng):
        self.rng, self.labels, self.features, self.depth = rng, 0, set(), 0
        self.threads = rng.choice([64, 64, 64, 64, 32, 96, 128, 128, 256])
        self.ctas, self.shared, self.together_once = rng.choice([6, 6, 6, 2, 4, 8, 9]), 0, set()

    @property
    def n(self):
        return self.threads * self.ctas

    def reg(self):
        return f"%r{self.rng.randrange(5)}"

    def flt(self):
        return f"%f{self.rng.randrange(3)}"

    def half(self):
        return f"%h{self.rng.randrange(2)}"

    def pred(self):
        return f"%p{self.rng.randrange(3)}"

    def value(self):
        return self.rng.choice([self.reg(), self.reg(), str(self.rng.randrange(-9, 99))])

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def one_of(self, feature, *forms):
        """One of the forms, of which each is a text or makes one."""
        if feature:
            self.features.add(feature)
        form = self.rng.choice(forms)
        return form() if callable(form) else form

    def arithmetic(self):
        r, f, h, p, v, x = self.reg, self.flt, self.half, self.pred, self.value, self.rng
        kind = x.randrange(14)
        if kind == 0:
            return self.one_of("sat", f"add.sat.s32 {r()}, {r()}, {v()};", f"sub.sat.s32 {r()}, {r()}, {r()};", f"cvt.sat.s8.s32 {r()}, {r()};", f"cvt.sat.u8.s32 {r()}, {r()};",
                               f"cvt.sat.s16.s32 {h()}, {r()};", f"add.sat.f32 {f()}, {f()}, {f()};", f"cvt.rn.sat.f32.s32 {f()}, {r()};", f"mad.hi.sat.s32 {r()}, {r()}, {r()}, {r()};")
        if kind == 1:
            return self.one_of("16 bits", f"cvt.u16.u32 {h()}, {r()};", f"add.s16 %h0, %h0, %h1; cvt.s32.s16 {r()}, %h0;", f"mul.wide.u16 {r()}, %h0, %h1;", f"min.s16 %h1, %h0, %h1;",
                               f"shl.b16 {h()}, {h()}, 3;", f"mov.b32 {r()}, {{%h0, %h1}};", f"mov.b32 {{%h0, %h1}}, {r()};", f"setp.lt.s16 {p()}, %h0, %h1;")
        if kind == 2:
            return self.one_of("floats", f"cvt.rn.f32.s32 {f()}, {r()};", f"add.f32 {f()}, {f()}, {f()};", f"mul.f32 {f()}, {f()}, {f()}; add.f32 {f()}, {f()}, {f()};",
                               f"fma.rn.sat.f32 {f()}, {f()}, {f()}, {f()};", f"cvt.rzi.s32.f32 {r()}, {f()};", f"mul.rn.f32 {f()}, {f()}, 0f3F000000;", f"max.f32 {f()}, {f()}, {f()};",
                               f"setp.ltu.f32 {p()}, {f()}, {f()};", f"rcp.approx.ftz.f32 {f()}, {f()};", f"copysign.f32 {f()}, {f()}, {f()};")
        if kind == 3:
            return self.one_of("", f"selp.b32 {r()}, {v()}, {v()}, {p()};", f"selp.f32 {f()}, {f()}, {f()}, {p()};", f"slct.s32.s32 {r()}, {r()}, {r()}, {r()};")
        if kind == 4:
            return self.one_of("predicates", f"and.pred {p()}, {p()}, {p()};", f"xor.pred {p()}, {p()}, {p()};", f"not.pred {p()}, {p()};", f"mov.pred {p()}, {p()};",
                               f"set.lt.s32.s32 {r()}, {r()}, {v()};", f"lop3.or.b32 {r()}|{p()}, {r()}, {r()}, {r()}, 0x96, {p()};")
        if kind == 5:
            return self.one_of("carries", f"add.cc.u32 {r()}, {r()}, {r()}; addc.u32 {r()}, {r()}, {v()};", f"sub.cc.u32 {r()}, {r()}, {r()}; subc.u32 {r()}, {r()}, 0;",
                               f"mad.lo.cc.u32 {r()}, {r()}, {r()}, {r()}; madc.hi.u32 {r()}, {r()}, {r()}, 0;")
        if kind == 6:
            return self.one_of("bits", f"prmt.b32 {r()}, {r()}, {r()}, 0x{x.randrange(65536):04x};", f"bfe.s32 {r()}, {r()}, 3, 9;", f"bfi.b32 {r()}, {r()}, {r()}, 4, 7;", f"popc.b32 {r()}, {r()};",
                               f"shf.l.wrap.b32 {r()}, {r()}, {r()}, {v()};", f"dp4a.s32.s32 {r()}, {r()}, {r()}, {r()};", f"brev.b32 {r()}, {r()};", f"mul.hi.s32 {r()}, {r()}, {r()};",
                               f"div.s32 {r()}, {r()}, 7;", f"rem.u32 {r()}, {r()}, 13;")
        return x.choice([f"add.s32 {r()}, {r()}, {v()};", f"mul.lo.s32 {r()}, {r()}, {v()};", f"xor.b32 {r()}, {r()}, {r()};",
                         f"shr.u32 {r()}, {r()}, {x.randrange(9)};", f"min.s32 {r()}, {r()}, {v()};", f"mov.u32 {r()}, {v()};",
                         f"mad.lo.s32 {r()}, {r()}, {r()}, {r()};"])

    def test(self):
        how = self.rng.choice(["lt.s32", "ge.s32", "eq.s32", "ne.u32", "gt.u32"])
        if self.rng.random() < 0.2:
            a, b = self.rng.sample(range(3), 2)
            return f"setp.{how.replace('.', '.and.')} %p{a}, {self.reg()}, {self.value()}, %p{b};"
        if self.rng.random() < 0.15:
            a, b = self.rng.sample(range(3), 2)
            return f"setp.{how} %p{a}|%p{b}, {self.reg()}, {self.value()};"
        return f"setp.{how} {self.pred()}, {self.reg()}, {self.value()};"

    def memory(self):
        r, f, x, at = self.reg, self.flt, self.rng, self.rng.choice([0, 0, 0, 4])
        kind = x.random()
        if kind < 0.15:
            return self.one_of("8 bits", f"ld.global.u8 {r()}, [%d1+{x.randrange(4)}];", f"ld.global.s8 {r()}, [%d1];", f"st.global.u8 [%d3+{x.randrange(4)}], {r()};",
                               f"ld.global.s16 {self.half()}, [%d2+2];", f"st.global.u16 [%d3], {self.half()};")
        if kind < 0.22:
            return self.one_of("updates in place", f"st.global.u32 [%d1], {r()};", f"st.global.u32 [%d2], {r()};", f"atom.global.add.u32 {r()}, [%d3], {r()};", f"atom.global.exch.b32 {r()}, [%d1], {r()};",
                               f"atom.global.cas.b32 {r()}, [%d3], {r()}, {r()};")
        if kind < 0.27:
            return self.one_of("reductions", f"red.global.add.u32 [%d6+4], {r()};", f"red.global.max.s32 [%d6+8], {r()};", f"red.global.xor.b32 [%d6+12], {r()};")
        if kind < 0.33:
            return self.one_of("gathers", *[f"and.b32 %i, {r()}, 31; mul.wide.u32 %x, %i, 4; add.s64 %x, %y{k}, %x; ld.global{how}.u32 {r()}, [%x];" for k in (2, 7) for how in ("", ".nc")][:3],
                               f"add.s64 %x, %d2, -8; ld.global.u32 {r()}, [%x+8];", f"mov.u32 %i, -1; sub.u32 %i, %r5, %i; mul.wide.u32 %x, %i, 4; add.s64 %x, %y2, %x; ld.global.u32 {r()}, [%x+-4];")
        if kind < 0.38:
            return self.one_of("volatile and operators", f"ld.volatile.global.u32 {r()}, [%d1];", f"st.volatile.global.u32 [%d3], {r()};", f"ld.global.cg.u32 {r()}, [%d2];", f"ld.global.cs.f32 {f()}, [%d4];",
                               f"st.global.wt.u32 [%d3], {r()};", f"prefetch.global.L2 [%d2];", f"ld.relaxed.gpu.global.u32 {r()}, [%d1];")
        if kind < 0.43:
            return self.one_of("generic", f"ld.u32 {r()}, [%d2];", f"st.u32 [%d3], {r()};", f"st.u32 [%g], {r()}; ld.u32 {r()}, [%g];", f"selp.b64 %x, %d1, %d2, {self.pred()}; ld.u32 {r()}, [%x];")
        if kind < 0.48:
            return self.one_of("vectors", f"ld.global.v2.u32 {{%r0, %r1}}, [%v];", f"ld.global.v2.f32 {{%f0, %f2}}, [%v];", f"ld.global.nc.v2.u32 {{%r3, %r2}}, [%v];", f"st.global.v2.u32 [%v3], {{{r()}, {r()}}};")
        if kind < 0.53:
            return self.one_of("local arrays", f"and.b32 %i, {r()}, 28; add.u32 %i, %i, %l; st.local.u32 [%i], {r()}; ld.local.u32 {r()}, [%l+4];", f"st.local.u32 [%l+8], {r()};", f"ld.local.u32 {r()}, [%l+8];")
        if kind < 0.57:
            self.features.add("calls")
            return f"{{ .param .b32 q; .param .b32 w; .param .b64 o; st.param.b32 [w], {r()}; st.param.b64 [o], %d3; call (q), {x.choice(['plain', 'tells'])}, (w, o); ld.param.b32 {r()}, [q]; }}"
        return x.choice([f"ld.global.u32 {r()}, [%d1];", f"ld.global.u32 {r()}, [%d2+{at}];", f"ld.global.f32 {f()}, [%d4];",
                         f"st.global.u32 [%d3], {r()};", f"st.global.f32 [%d5], {f()};"])

    def guarded(self):
        """A statement, or several, behind a guard that they may change."""
        text = self.rng.choice([self.arithmetic, self.test, self.memory])()
        parts = [q.strip() + ";" for q in text.split(";") if q.strip()]
        guard = f"@{self.rng.choice(['', '!'])}{self.pred()} "
        if "call" in text:
            return text
        return " ".join(guard + q for q in parts)

    def branch(self):
        self.features.add("branches")
        end, inside = self.label(), self.block(self.rng.randrange(1, 4))
        if self.rng.random() < 0.3:
            other, els = self.label(), self.block(self.rng.randrange(1, 3))
            return f"@{self.pred()} bra {other}; {inside} bra {end}; {other}: {els} {end}:"
        return f"@{self.rng.choice(['', '!'])}{self.pred()} bra {end}; {inside} {end}:"

    def loop(self):
        self.features.add("loops")
        head, out, n = self.label(), self.label(), self.rng.randrange(1, 5)
        k, q = f"%k{self.depth}", f"%q{self.depth}"
        leave = ""
        if self.rng.random() < 0.4:
            self.features.add("breaks by data")
            leave = f"@{self.rng.choice(['', '!'])}{self.pred()} bra {out};"
        if self.rng.random() < 0.2:
            self.features.add("moving pointers")
            return f"mov.u32 {k}, 0; mov.b64 %m{self.depth}, %d2; {head}: {self.block(1)} ld.global.u32 {self.reg()}, [%m{self.depth}]; {leave} add.s64 %m{self.depth}, %m{self.depth}, 4; add.u32 {k}, {k}, 1; setp.lt.u32 {q}, {k}, {n}; @{q} bra {head}; {out}:"
        return f"mov.u32 {k}, 0; {head}: {self.block(self.rng.randrange(1, 4))} {leave} add.u32 {k}, {k}, 1; setp.lt.u32 {q}, {k}, {n}; @{q} bra {head}; {out}:"

    def scope(self):
        """Inline assembly: registers, predicates and labels that are called as others are."""
        return self.one_of("scopes", "{ .reg .b32 %r0, %t; .reg .pred %p0; setp.gt.s32 %p0, %r1, 5; mov.u32 %r0, 3; @%p0 add.s32 %r0, %r0, %r2; mov.u32 %t, %r0; xor.b32 %r1, %r1, %t; }",
                           "{ .reg .pred %p1; .reg .b32 r5; setp.lt.s32 %p1, %r2, 40; mov.u32 r5, %r5; @%p1 bra SKIP; add.u32 r5, r5, 3; SKIP: add.u32 %r3, %r3, r5; }",
                           "{ .reg .b64 %d1; .reg .b32 %r2; add.s64 %d1, %d2, 4; ld.global.u32 %r2, [%d1]; { .reg .b32 %r2; mov.u32 %r2, 7; add.u32 %r0, %r0, %r2; } add.u32 %r4, %r4, %r2; }",
                           "{ .reg .pred p; setp.ne.s32 p, %r0, 0; selp.s32 %r0, %r1, %r2, p; @!p ld.global.u32 %r1, [%d1]; }")

    def together(self):
        """What all threads of a warp, a warpgroup, a CTA or the grid do at once."""
        r, x, end, wait = self.reg, self.rng, self.label(), self.label()
        kind = x.choice(["barriers", "barriers", "shuffles", "votes", "early returns", "early returns", "copies", "phases", "part of a warp", "reducing barriers",
                         "warpgroups", "clusters", "grid barriers", "residency", "named barriers"])
        kind = "shuffles" if kind in self.together_once and kind not in ("barriers", "shuffles", "votes") else kind
        kind = "barriers" if kind == "warpgroups" and self.threads % 128 or kind in ("grid barriers", "residency") and x.random() < 0.6 or kind == "clusters" and self.ctas % 2 else kind
        if "early returns" in self.together_once and kind in ("shuffles", "part of a warp"):
            kind = "votes"  # a shuffle with a lane that has left has no value
        self.features.add(kind)
        self.together_once.add(kind)
        if kind == "barriers":
            guard = f"setp.ge.u32 %q7, %c, {x.randrange(1, self.ctas)}; @%q7 bra {end};" if x.random() < 0.6 else ""
            put = x.choice([f"st.shared.u32 [%a], {r()};", f"st.shared.u32 [%a], {r()};", f"st.shared.u8 [%a+{x.randrange(4)}], {r()}; st.shared.u16 [%a+2], {self.half()}; st.shared.u8 [%a], {r()}; st.shared.u8 [%a+1], {r()};",
                            f"st.shared.u32 [%a], 0; bar.sync 0; atom.shared.add.u32 {r()}, [%a], {r()}; red.shared.max.s32 [%a], {r()};"])
            get = x.choice([f"ld.shared.u32 {r()}, [%b];", f"ld.shared.u32 {r()}, [%b];", f"and.b32 %i, %b, -8; ld.shared.v2.u32 {{%r0, %r4}}, [%i];", f"ld.shared.s8 {r()}, [%b+1]; ld.shared.u16 {self.half()}, [%b];",
                            f"and.b32 %i, {r()}, 28; mov.u32 %w, s; add.u32 %i, %i, %w; ld.shared.u32 {r()}, [%i];"])
            return f"{guard} {put} bar.sync 0; {self.memory() if x.random() < 0.5 else ''} {get} bar.sync 0; {end}:"
        if kind == "named barriers":
            return f"st.shared.u32 [%a], {r()}; bar.sync 3, {self.threads}; ld.shared.u32 {r()}, [%b]; barrier.sync.aligned 4;"
        if kind == "reducing barriers":
            return f"bar.red.or.pred {self.pred()}, 0, {self.pred()}; bar.red.popc.u32 {r()}, 0, {self.pred()};"
        if kind == "shuffles":
            return x.choice([f"shfl.sync.bfly.b32 {r()}, {r()}, {x.choice([1, 2, 16])}, 31, -1;", f"shfl.sync.down.b32 {r()}|{self.pred()}, {r()}, 1, 31, -1;", f"shfl.sync.idx.b32 {r()}, {r()}, 3, 0x181f, -1;"])
        if kind == "votes":
            return x.choice([f"vote.sync.ballot.b32 {r()}, {self.pred()}, -1;", f"vote.sync.any.pred {self.pred()}, {self.pred()}, -1;", f"match.any.sync.b32 {r()}, {r()}, -1;", f"redux.sync.add.s32 {r()}, {r()}, -1;",
                             f"match.all.sync.b32 {r()}|{self.pred()}, {r()}, -1;"])
        if kind == "part of a warp":
            return f"and.b32 %i, %t0, 31; setp.lt.u32 %q7, %i, 16; @!%q7 bra {end}; shfl.sync.up.b32 {r()}, {r()}, 1, 0, 0xffff; vote.sync.ballot.b32 {r()}, {self.pred()}, 0xffff; {end}: bar.warp.sync -1;"
        if kind == "copies":
            return f"cp.async.ca.shared.global [%a], [%d1], 4; cp.async.commit_group; {self.block(1)} cp.async.wait_group 0; bar.sync 0; ld.shared.u32 {r()}, [%b]; bar.sync 0;"
        if kind == "phases":
            return (f"setp.eq.u32 %q7, %t0, 0; @%q7 mbarrier.init.shared.b64 [mb], {self.threads}; bar.sync 0; st.shared.u32 [%a], {r()}; mbarrier.arrive.shared.b64 %x, [mb]; "
                    f"{wait}: mbarrier.try_wait.parity.shared.b64 %q7, [mb], 0; @!%q7 bra {wait}; ld.shared.u32 {r()}, [%b]; bar.sync 0;")
        if kind == "warpgroups":
            return (f"st.shared.u32 [%a], 0x3c003c00; fence.proxy.async; bar.sync 0; mov.u32 %i, s; shr.u32 %i, %i, 4; and.b32 %i, %i, 0x3fff; cvt.u64.u32 %x, %i; or.b64 %x, %x, 0x0000000800080000; "
                    "wgmma.fence.sync.aligned; wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%w0, %w1, %w2, %w3}, {0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00}, %x, 1, 1, 1, 0; ".replace("{0x3c003c00, 0x3c003c00, 0x3c003c00, 0x3c003c00}", "{%e, %e, %e, %e}") +
                    f"wgmma.commit_group.sync.aligned; {self.block(1)} wgmma.wait_group.sync.aligned 0; add.f32 %f0, %f0, %w{x.randrange(4)}; bar.sync 0;")
        if kind == "clusters":
            return (f"st.shared.u32 [%a], {r()}; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; mov.u32 %i, %cluster_ctarank; xor.b32 %i, %i, 1; mapa.shared::cluster.u32 %i, %b, %i; "
                    f"ld.shared::cluster.u32 {r()}, [%i]; barrier.cluster.arrive; barrier.cluster.wait;")
        if kind in ("grid barriers", "residency"):
            if kind == "residency":
                self.ctas, self.threads, self.shared = SMS, 32, 200000
            return (f"bar.sync 0; setp.ne.u32 %q6, %t0, 0; @%q6 bra {end}; atom.global.add.u32 %w, [%d6], 1; {wait}: ld.volatile.global.u32 %w, [%d6]; "
                    f"setp.lt.u32 %q6, %w, CTAS; @%q6 bra {wait}; {end}: bar.sync 0;")
        return f"setp.ge.u32 %q7, %r5, {x.randrange(self.n // 2, self.n)}; @%q7 ret;" if x.random() < 0.6 else f"@{self.pred()} ret;"

    def block(self, n):
        self.depth += 1
        out = []
        for _ in range(n):
            x = self.rng.random()
            deep = self.depth > 3
            out.append(self.loop() if x < 0.06 and not deep else self.branch() if x < 0.2 and not deep else self.test() if x < 0.35 else
                       self.guarded() if x < 0.5 else self.memory() if x < 0.7 else self.scope() if x < 0.72 else self.arithmetic())
        self.depth -= 1
        return " ".join(out)

    def kernel(self):
        parts = [self.block(self.rng.randrange(2, 5))]
        for _ in range(self.rng.choice([0, 0, 1, 1, 1, 2, 3])):
            parts += [self.together(), self.block(self.rng.randrange(1, 4))]
        body = " ".join(parts).replace("CTAS", str(self.ctas))
        if self.rng.random() < 0.5:
            body = body.replace("; ", ";\n ")
        return self.around(body)

    def around(self, body):
        """The kernel with this body."""
        functions = """.func (.param .b32 q) plain(.param .b32 x, .param .b64 o)
{ .reg .b32 %r<3>; .reg .pred %p; ld.param.u32 %r1, [x]; setp.gt.s32 %p, %r1, 9; @%p add.s32 %r1, %r1, 3; st.param.b32 [q], %r1; ret; }
.func (.param .b32 q) tells(.param .b32 x, .param .b64 o)
{ .reg .b32 %r<3>; .reg .b64 %d<2>; ld.param.u32 %r1, [x]; ld.param.u64 %d1, [o]; ld.global.u32 %r2, [%d1]; st.global.u32 [%d1], %r1; st.param.b32 [q], %r2; ret; }
""" if "calls" in self.features else ""
        directives = " .reqnctapercluster 2" if "clusters" in self.features else ""
        local = "" if "local arrays" not in self.features else " .local .align 16 .b8 stack[64]; mov.u32 %l, stack; st.local.u32 [%l+4], 5; st.local.u32 [%l+8], 6;"
        phases = " .shared .align 8 .b64 mb;" if "phases" in self.features else ""
        generic = " cvt.u64.u32 %g, %a; cvta.shared.u64 %g, %g;" if "generic" in self.features else ""
        n = self.n
        return f""".version 8.3
.target sm_90a
.address_size 64
{functions}.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 o, .param .u64 g, .param .u64 e, .param .u64 cnt){directives}
{{ .reg .pred %p<3>, %q<8>; .reg .b32 %r<6>, %k<8>, %t0, %c, %n, %a, %b, %w, %i, %l, %e, %z; .reg .f32 %f<3>, %w<4>; .reg .b16 %h<2>; .reg .b64 %d<8>, %y<8>, %m<8>, %z<4>, %x, %v, %v3, %g;
 .shared .align 128 .b8 s[{max(4 * self.threads, 1024)}];{phases}{local}
 mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t0, %tid.x; mad.lo.u32 %r5, %c, %n, %t0; mul.wide.u32 %z0, %r5, 4;
 ld.param.u64 %y1, [a]; ld.param.u64 %y2, [b]; ld.param.u64 %y3, [o]; ld.param.u64 %y4, [g]; ld.param.u64 %y5, [e]; ld.param.u64 %d6, [cnt];
 add.s64 %d1, %y1, %z0; add.s64 %d2, %y2, %z0; add.s64 %d3, %y3, %z0; add.s64 %d4, %y4, %z0; add.s64 %d5, %y5, %z0; mov.b64 %y7, %y4;
 mul.wide.u32 %z1, %r5, 8; add.s64 %z2, %y3, %z1; add.s64 %v3, %z2, {4 * (3 * n + 4)}; and.b32 %z, %r5, -2; mul.wide.u32 %z3, %z, 4; add.s64 %v, %y4, %z3;
 mov.u32 %a, s; shl.b32 %b, %t0, 2; add.u32 %a, %a, %b; xor.b32 %b, %b, 4; mov.u32 %w, s; add.u32 %b, %b, %w; mov.u32 %e, 0x3c003c00; mov.f32 %w0, 0f00000000; mov.f32 %w1, %w0; mov.f32 %w2, %w0; mov.f32 %w3, %w0;{generic}
 mov.u32 %r0, %r5; mov.u32 %r1, 7; ld.global.u32 %r2, [%d1]; mov.u32 %r3, %t0; mov.u32 %r4, %c; cvt.rn.f32.u32 %f0, %t0; mov.f32 %f1, 0f3F800000;
 ld.global.f32 %f2, [%d4]; cvt.u16.u32 %h0, %r2; mov.u16 %h1, 3; setp.lt.s32 %p0, %r2, 50; setp.gt.s32 %p1, %r2, 20; setp.ne.s32 %p2, %r3, 5;
 {body}
 st.global.u32 [%d3], %r0; add.s32 %r1, %r1, %r2; st.global.u32 [%d3+{4 * n}], %r1; xor.b32 %r3, %r3, %r4; st.global.u32 [%d3+{8 * n}], %r3;
 add.f32 %f0, %f0, %f1; add.f32 %f0, %f0, %f2; st.global.f32 [%d5], %f0; ret; }}
"""

    def buffers(self):
        """Types and sizes of what the kernel's parameters point to; at times two are the same."""
        n = self.n
        return ["s32:%d" % (n + 8), "same:0" if self.rng.random() < 0.1 else "s32:%d" % (n + 8), "s32:%d" % (5 * n + 12), "f32:%d" % (n + 8), "f32:%d" % (n + 8), "zero:8"]


class Tries:
    """The program that tries kernels (tries.c), started again where one of them ends it."""

    def __init__(self, path):
        self.path, self.process = path, None

    def start(self):
        self.process = subprocess.Popen([self.path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.waiting = selectors.DefaultSelector()
        self.waiting.register(self.process.stdout, selectors.EVENT_READ)

    def line(self):
        """The next answer; None: the program ended, or said nothing for two minutes."""
        out = b""
        while not out.endswith(b"\n"):
            if not self.waiting.select(120):
                return None
            byte = os.read(self.process.stdout.fileno(), 1)
            if not byte:
                return None
            out += byte
        return out.decode()[:-1]

    def stop(self):
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
        self.process = None

    def ask(self, text, options, grid, block, shared, buffers):
        """What became of the kernel, and of each option."""
        if not self.process:
            self.start()
        lines = "".join(o + "\n" for o in options)
        self.process.stdin.write(f"{grid} {block} {shared} {len(text)} {len(lines)} {len(buffers)} {' '.join(buffers)}\n{text}{lines}".encode())
        self.process.stdin.flush()
        answers = [self.line()]
        while answers[-1] and not answers[0].startswith("unfit") and len(answers) <= len(options):
            answers.append(self.line())
        if answers[-1] is None:
            self.stop()
            answers[-1] = "wrong the program ended, or hangs"
        return answers[0], dict(zip(options, answers[1:]))


def identity():
    """Of the kernels and options that this file makes: another number, other kernels."""
    return hashlib.sha256("".join([Writer(random.Random(k)).kernel() for k in range(100)] + OPTIONS).encode()).hexdigest()[:12]


class Campaign:
    """Counts of so many kernels of a seed, kept in a ledger, so that it goes on where it stood."""

    def __init__(self, args):
        self.args, self.tries = args, Tries(args.tries)
        self.state = {"seed": args.seed, "written": identity(), "next": 0, "unfit": 0,
                      "features": {}, "count": {o: {} for o in OPTIONS}, "wrong": []}
        if args.ledger and os.path.exists(args.ledger):
            state = json.load(open(args.ledger))
            if any(state[k] != self.state[k] for k in ("seed", "written")):
                sys.exit(f"{args.ledger} is of another seed or of other kernels: remove it to start anew")
            self.state = state

    def save(self):
        if self.args.ledger:
            with open(self.args.ledger + ".new", "w") as f:
                json.dump(self.state, f, indent=1)
            os.replace(self.args.ledger + ".new", self.args.ledger)

    def keep(self, what, text, w, option, why):
        if self.args.keep:
            os.makedirs(self.args.keep, exist_ok=True)
            with open(f"{self.args.keep}/{what}.ptx", "a" if what.startswith("invariant") else "w") as f:
                f.write(f"// {option}: {why}\n// grid {w.ctas} block {w.threads} shared {w.shared} {' '.join(w.known)}\n{text}")

    def one(self, k):
        w, s = Writer(random.Random(f"{self.args.seed} {k}")), self.state
        text = w.kernel()
        w.known = w.buffers()
        fit, answers = self.tries.ask(text, OPTIONS, w.ctas, w.threads, w.shared, w.known)
        s["next"] = k + 1
        if fit.startswith("wrong"):
            s["wrong"].append(f"kernel {k} alone: {fit}")
        if fit != "fit":
            s["unfit"] += 1
            if self.args.verbose:
                print(k, fit, *sorted(w.features))
            return
        for f in w.features:
            s["features"][f] = s["features"].get(f, 0) + 1
        for option, answer in answers.items():
            kind, _, why = answer.partition(" ")
            kind = "invariant" if why.startswith("invariant-") else kind
            s["count"][option][kind] = s["count"][option].get(kind, 0) + 1
            if kind in ("wrong", "invariant"):
                self.keep(f"{kind}{k}", text, w, option, why)
            if kind == "wrong":
                s["wrong"].append(f"kernel {k} {option}: {why}")

    def report(self):
        s = self.state
        kernels = s["next"] - s["unfit"]
        print(f"{kernels} kernels ({s['unfit']} did not run as they are, or differ by themselves), seed {s['seed']}: " +
              ", ".join(f"{f} {n}" for f, n in sorted(s["features"].items(), key=lambda x: (-x[1], x[0]))))
        total = collections.Counter()
        print("\n| options | accepted | last bits, as said | nothing to change | refused | by an invariant | wrong |\n|---|---:|---:|---:|---:|---:|---:|")
        rows = [(f"`{o}`", collections.Counter(c)) for o, c in s["count"].items()]
        for _, c in rows:
            total.update(c)
        for name, c in [*rows, ("all", total)]:
            tried = max(sum(c.values()), 1)
            refused = c["refused"] + c["invariant"]
            print(f"| {name} | {c['accepted']} | {c['rounded']} | {c['unchanged']} | {refused} ({100 * refused / tried:.0f} %) | {c['invariant']} | {c['wrong']} |")
        for w in s["wrong"]:
            print("wrong:", w)
        print(f"\ntogether: {total['accepted']} accepted, {len(s['wrong'])} wrong")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("tries")
    p.add_argument("--count", type=int, default=20)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep")
    p.add_argument("--ledger")
    p.add_argument("--verbose", action="store_true")
    c = Campaign(p.parse_args())
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for k in range(c.state["next"], c.args.count):
            c.one(k)
            if k % 100 == 99:
                c.save()
    except KeyboardInterrupt:  # what was tried so far is reported
        c.state["next"] = max(c.state["next"], 0)
    c.save()
    c.report()
    c.tries.stop()
    return 1 if c.state["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
