#!/usr/bin/env python3
"""Kernels written at random as people and compilers write them, every kernel with every pass, on other data than it was accepted on.

    python3 tests/attacks/written.py GPULOCW [--count N] [--seed S] [--keep FOLDER]

Few registers that are used again and again, several statements a line, .sat, floats, 8 and 16 bits, predicates that are reused as guards
and by branches, scopes with registers of the same names, early returns, loops, shuffles, barriers under branches that all threads take
together, barriers of the whole grid. Prints how many rewrites were accepted, refused and wrong, by option and by feature; a wrong one is
kept in FOLDER as PTX, launch and command. Exit 1: one is wrong."""
import argparse
import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile

OPTIONS = ["--coarsen 2 --coarsen-mode vector", "--coarsen 4 --coarsen-mode vector", "--coarsen 2", "--coarsen 2 --coarsen-mode blocked", "--block 128x1x1",
           "--cluster redirect", "--cluster agent", "--bypass l1 --pi 1", "--bypass l1 --pi 1 --bypass-form predicate",
           "--bypass l1 --pi 1 --bypass-form grouped", "--prefetch l1", "--softcache 1", "--readonly promote", "--swizzle-shared", "--maxnreg 32"]
THREADS, CTAS = 64, 6
N = THREADS * CTAS


class Writer:
    """One kernel: r0..r4 whole numbers, f0..f2 floats, h0, h1 of 16 bits, p0..p2. r5, d0..d5 hold place and addresses."""

    def __init__(self, rng):
        self.rng, self.labels, self.features, self.depth = rng, 0, set(), 0

    def reg(self):
        return f"%r{self.rng.randrange(5)}"

    def flt(self):
        return f"%f{self.rng.randrange(3)}"

    def pred(self):
        return f"%p{self.rng.randrange(3)}"

    def value(self):
        return self.rng.choice([self.reg(), self.reg(), str(self.rng.randrange(-9, 99))])

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def arithmetic(self):
        r, f, x = self.reg, self.flt, self.rng
        kind = x.randrange(9)
        if kind == 0:
            self.features.add("sat")
            return x.choice([f"add.sat.s32 {r()}, {r()}, {self.value()};", f"sub.sat.s32 {r()}, {r()}, {r()};"])
        if kind == 1:
            self.features.add("16 bits")
            return x.choice([f"cvt.u16.u32 %h{x.randrange(2)}, {r()};", f"add.s16 %h0, %h0, %h1; cvt.s32.s16 {r()}, %h0;",
                             f"mul.wide.u16 {r()}, %h0, %h1;", f"min.s16 %h1, %h0, %h1;"])
        if kind == 2:
            self.features.add("floats")
            return x.choice([f"cvt.rn.f32.s32 {f()}, {r()};", f"add.f32 {f()}, {f()}, {f()};", f"mul.f32 {f()}, {f()}, {f()}; add.f32 {f()}, {f()}, {f()};",
                             f"fma.rn.sat.f32 {f()}, {f()}, {f()}, {f()};", f"cvt.rzi.s32.f32 {r()}, {f()};", f"mul.rn.f32 {f()}, {f()}, 0f3F000000;"])
        if kind == 3:
            return f"selp.b32 {r()}, {self.value()}, {self.value()}, {self.pred()};"
        return x.choice([f"add.s32 {r()}, {r()}, {self.value()};", f"mul.lo.s32 {r()}, {r()}, {self.value()};", f"xor.b32 {r()}, {r()}, {r()};",
                         f"shr.u32 {r()}, {r()}, {x.randrange(9)};", f"min.s32 {r()}, {r()}, {self.value()};", f"mov.u32 {r()}, {self.value()};",
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
        x, at = self.rng, self.rng.choice([0, 0, 0, 4])
        if x.random() < 0.25:
            self.features.add("8 bits")
            return x.choice([f"ld.global.u8 {self.reg()}, [%d1+{x.randrange(4)}];", f"ld.global.s8 {self.reg()}, [%d1];", f"st.global.u8 [%d3+{x.randrange(4)}], {self.reg()};"])
        return x.choice([f"ld.global.u32 {self.reg()}, [%d1];", f"ld.global.u32 {self.reg()}, [%d2+{at}];", f"ld.global.f32 {self.flt()}, [%d4];",
                         f"st.global.u32 [%d3], {self.reg()};", f"st.global.f32 [%d5], {self.flt()};"])

    def guarded(self):
        return f"@{self.rng.choice(['', '!'])}{self.pred()} {self.rng.choice([self.arithmetic, self.test, self.memory])().split(';')[0]};"

    def branch(self):
        self.features.add("branches")
        end, inside = self.label(), self.block(self.rng.randrange(1, 4))
        if self.rng.random() < 0.3:
            other, els = self.label(), self.block(self.rng.randrange(1, 3))
            return f"@{self.pred()} bra {other}; {inside} bra {end}; {other}: {els} {end}:"
        return f"@{self.rng.choice(['', '!'])}{self.pred()} bra {end}; {inside} {end}:"

    def loop(self):
        self.features.add("loops")
        head, n = self.label(), self.rng.randrange(1, 5)
        k = f"%k{self.depth}"
        return f"mov.u32 {k}, 0; {head}: {self.block(self.rng.randrange(1, 4))} add.u32 {k}, {k}, 1; setp.lt.u32 %q{self.depth}, {k}, {n}; @%q{self.depth} bra {head};"

    def scope(self):
        self.features.add("scopes")
        return "{ .reg .b32 %r0, %t; .reg .pred %p0; setp.gt.s32 %p0, %r1, 5; mov.u32 %r0, 3; @%p0 add.s32 %r0, %r0, %r2; mov.u32 %t, %r0; xor.b32 %r1, %r1, %t; }"

    def together(self):
        kind = self.rng.randrange(4)
        if kind == 0:
            self.features.add("barriers")
            end = self.label()
            return f"setp.ge.u32 %q7, %c, {self.rng.randrange(1, CTAS)}; @%q7 bra {end}; st.shared.u32 [%a], {self.reg()}; bar.sync 0; ld.shared.u32 {self.reg()}, [%b]; bar.sync 0; {end}:"
        if kind == 1:
            self.features.add("shuffles")
            return f"shfl.sync.bfly.b32 {self.reg()}, {self.reg()}, {self.rng.choice([1, 2, 16])}, 31, -1;"
        if kind == 2:
            self.features.add("grid barriers")
            end, wait = self.label(), self.label()
            return (f"bar.sync 0; setp.ne.u32 %q6, %t0, 0; @%q6 bra {end}; atom.global.add.u32 %w, [%d6], 1; {wait}: ld.volatile.global.u32 %w, [%d6]; "
                    f"rem.u32 %w, %w, {CTAS}; setp.ne.u32 %q6, %w, 0; @%q6 bra {wait}; {end}: bar.sync 0;")
        self.features.add("early returns")
        return f"setp.ge.u32 %q7, %r5, {self.rng.randrange(N // 2, N)}; @%q7 ret;"

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
        grid_barrier = False
        for _ in range(self.rng.randrange(0, 2)):
            part = self.together()
            if "volatile" in part and grid_barrier:
                continue
            grid_barrier |= "volatile" in part
            parts += [part, self.block(self.rng.randrange(1, 4))]
        body = " ".join(parts)
        if self.rng.random() < 0.5:
            body = body.replace("; ", ";\n ")
        return f""".version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b, .param .u64 o, .param .u64 g, .param .u64 e, .param .u64 cnt)
{{ .reg .pred %p<3>, %q<8>; .reg .b32 %r<6>, %k<8>, %t0, %c, %n, %a, %b, %w; .reg .f32 %f<3>; .reg .b16 %h<2>; .reg .b64 %d<8>, %y<6>, %x;
 .shared .align 4 .b8 s[{4 * THREADS}];
 mov.u32 %c, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t0, %tid.x; mad.lo.u32 %r5, %c, %n, %t0; mul.wide.u32 %x, %r5, 4;
 ld.param.u64 %y1, [a]; ld.param.u64 %y2, [b]; ld.param.u64 %y3, [o]; ld.param.u64 %y4, [g]; ld.param.u64 %y5, [e]; ld.param.u64 %d6, [cnt];
 add.s64 %d1, %y1, %x; add.s64 %d2, %y2, %x; add.s64 %d3, %y3, %x; add.s64 %d4, %y4, %x; add.s64 %d5, %y5, %x;
 mov.u32 %a, s; shl.b32 %b, %t0, 2; add.u32 %a, %a, %b; xor.b32 %b, %b, 4; mov.u32 %w, s; add.u32 %b, %b, %w;
 mov.u32 %r0, %r5; mov.u32 %r1, 7; ld.global.u32 %r2, [%d1]; mov.u32 %r3, %t0; mov.u32 %r4, %c; cvt.rn.f32.u32 %f0, %t0; mov.f32 %f1, 0f3F800000;
 ld.global.f32 %f2, [%d4]; cvt.u16.u32 %h0, %r2; mov.u16 %h1, 3; setp.lt.s32 %p0, %r2, 50; setp.gt.s32 %p1, %r2, 20; setp.ne.s32 %p2, %r3, 5;
 {body}
 st.global.u32 [%d3], %r0; add.s32 %r1, %r1, %r2; st.global.u32 [%d3+{4 * N}], %r1; xor.b32 %r3, %r3, %r4; st.global.u32 [%d3+{8 * N}], %r3;
 add.f32 %f0, %f0, %f1; add.f32 %f0, %f0, %f2; st.global.f32 [%d5], %f0; ret; }}
"""


def launch(lo, hi, seed):
    def data(name, elem, count, out=False, rng=None):
        d = {"name": name, "buffer": elem, "count": count}
        if rng:
            d["init"] = {"random": rng, "seed": seed + len(name) + ord(name[0])}
        if out:
            d["output"] = True
        return d
    return {"format": "gpulocw-launch", "version": 1, "kernel": "k", "grid": [CTAS, 1, 1], "block": [THREADS, 1, 1],
            "args": [data("a", "s32", N + 4, rng=[lo, hi]), data("b", "s32", N + 4, rng=[lo, hi]), data("o", "s32", 3 * N + 4, True),
                     data("g", "f32", N + 4, rng=[-2, 2]), data("e", "f32", N + 4, True), data("cnt", "u32", 1)]}


class Campaign:
    def __init__(self, args):
        self.args, self.dir = args, tempfile.mkdtemp()
        self.count = {o: collections.Counter() for o in OPTIONS}
        self.features = collections.Counter()
        self.unfit, self.wrong = 0, []
        json.dump(launch(0, 99, 1), open(self.dir + "/near.json", "w"))
        json.dump(launch(-2000000000, 2000000000, 7), open(self.dir + "/far.json", "w"))
        json.dump(launch(0, 120, 99), open(self.dir + "/other.json", "w"))

    def run(self, command, options, data):
        r = subprocess.run([self.args.gpulocw, command, self.dir + "/k.ptx", "-l", f"{self.dir}/{data}.json", *options.split(), "--time-limit", "20"]
                           if command == "run" else [self.args.gpulocw, command, self.dir + "/k.ptx", "-l", f"{self.dir}/{data}.json", *options.split(),
                                                     "-o", self.dir + "/out.ptx", "--force"], capture_output=True, text=True, timeout=120)
        return r.returncode, r.stderr

    def keep(self, text, option, data, why):
        self.wrong.append(f"{option} on {data}: {why.strip()[-160:]}")
        if self.args.keep:
            os.makedirs(self.args.keep, exist_ok=True)
            base = f"{self.args.keep}/wrong{len(self.wrong)}"
            open(base + ".ptx", "w").write(text)
            open(base + ".launch.json", "w").write(open(f"{self.dir}/{data}.json").read())
            open(base + ".sh", "w").write(f"gpulocw run {os.path.basename(base)}.ptx {option}\n")

    def one(self, k):
        w = Writer(random.Random(f"{self.args.seed} {k}"))
        text = w.kernel()
        open(self.dir + "/k.ptx", "w").write(text)
        if self.run("run", "", "near")[0] != 0:
            self.unfit += 1
            return
        self.features.update(w.features)
        for option in OPTIONS:
            rc, err = self.run("rewrite", option, "near")
            if rc == 3:
                self.count[option]["refused"] += 1
                self.count[option]["refused by an invariant"] += "invariant-" in err
                if "invariant-" in err and self.args.keep:
                    os.makedirs(self.args.keep, exist_ok=True)
                    open(f"{self.args.keep}/invariant{k}.ptx", "w").write(text)
                continue
            self.count[option]["accepted"] += 1
            for data in ("other", "far") if rc == 0 else ():
                rc, err = self.run("run", option, data)
                if rc not in (0, 3):
                    self.keep(text, option, data, err)
                    self.count[option]["wrong"] += 1
                    break

    def report(self):
        kernels = self.args.count - self.unfit
        print(f"{kernels} kernels ({self.unfit} did not run as they are): " + ", ".join(f"{f} {n}" for f, n in self.features.most_common()))
        for option in OPTIONS:
            c = self.count[option]
            tried = c["accepted"] + c["refused"]
            print(f"{option:46} {c['accepted']:5} accepted, {c['refused']:5} refused ({100 * c['refused'] / max(tried, 1):.0f} %, "
                  f"{c['refused by an invariant']} by an invariant), {c['wrong']} wrong")
        for w in self.wrong:
            print("wrong:", w)
        print(f"together: {sum(c['accepted'] for c in self.count.values())} accepted, {len(self.wrong)} wrong")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("gpulocw")
    p.add_argument("--count", type=int, default=20)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep")
    c = Campaign(p.parse_args())
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    k = 0
    try:
        for k in range(c.args.count):
            c.one(k)
    except KeyboardInterrupt:  # what was tried so far is reported
        c.args.count = k
    c.report()
    return 1 if c.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
