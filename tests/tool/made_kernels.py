"""Kernels as compilers and people write them, made from a number: made(seed) gives the text of a module and its launch
description.

A module has one to three kernels, device functions and variables of the module. A body is a row of features over two
buffers of data, one of results and one of counters. Every index is in bounds and every result is the same whatever
the order of CTAs and warps, so that a rewrite which is legal leaves the results as they are. What is compared by
tests/tool/metamorphic.py is one module with another that means the same, so the features need no oracle."""
import random

N = 2048                   # elements of a, b and out; a power of two, so that an index is masked
COUNTERS = 16
TYPES = {"r": "b32", "d": "b64", "f": "f32", "p": "pred", "h": "b16", "e": "f64"}
STYLES = ({"r": "%r", "d": "%rd", "f": "%f", "p": "%p", "h": "%rs", "e": "%fd"},     # nvcc
          {"r": "%i", "d": "%ptr", "f": "%x", "p": "%q", "h": "%h", "e": "%dbl"},
          {"r": "r", "d": "rd", "f": "f", "p": "p", "h": "h", "e": "fd"})               # by hand, without %


class Body:
    """One function's text. Registers are fresh ones each time, as a compiler writes them, or few that are used again."""

    def __init__(self, rng, style, again):
        self.rng, self.names, self.again = rng, STYLES[style], again
        self.used, self.free, self.lines, self.labels = dict.fromkeys(TYPES, 0), {k: [] for k in TYPES}, [], 0
        self.decls, self.called = [], set()

    def reg(self, kind):
        if self.again and self.free[kind]:
            return self.free[kind].pop()
        self.used[kind] += 1
        return "%s%d" % (self.names[kind], self.used[kind])

    def done(self, *regs):
        for r in regs:
            kind = next(k for k in sorted(TYPES, key=lambda k: -len(self.names[k])) if r.startswith(self.names[k]))
            if r not in self.free[kind]:
                self.free[kind].append(r)

    def label(self):
        self.labels += 1
        return "%s%d" % ("$L__BB0_" if self.names is STYLES[0] else "L" if self.names is STYLES[1] else "loop", self.labels)

    def put(self, text, **regs):
        self.lines += ["\t" + l.strip() for l in (text % regs).strip().split("\n")]

    def text(self):
        out = []
        for k, n in self.used.items():
            if n and self.rng.random() < 0.7:
                out.append("\t.reg .%s %s<%d>;" % (TYPES[k], self.names[k], n + 1))
            elif n:
                out.append("\t.reg .%s %s;" % (TYPES[k], ", ".join("%s%d" % (self.names[k], i + 1) for i in range(n))))
        return "\n".join(out + self.decls + self.lines)


class Kernel(Body):
    def __init__(self, rng, name, threads, module):
        super().__init__(rng, rng.randrange(len(STYLES)), rng.random() < 0.5)
        self.name, self.threads, self.module, self.tiles = name, threads, module, 0
        self.guarded = rng.random() < 0.3
        # one operation for all counters: several would give results that hang on the order
        self.counts = rng.choice(("red.global.add.u32 [%(d)s], %(k)d;", "atom.global.add.u32 %(o)s, [%(d)s], %(k)d;",
                                  "@%(c)s red.global.max.u32 [%(d)s], %(g)s;", "@!%(c)s atom.global.or.b32 %(o)s, [%(d)s], %(k)d;"))

    def index(self, scale=1, offset=0):
        """A register of 32 bits: an index that is in bounds for `scale` elements each, from a formula over the thread."""
        i, t = self.reg("r"), self.reg("r")
        how = self.rng.randrange(6)
        if how == 0:
            self.put("mov.u32 %(i)s, %(g)s;", i=i, g=self.gid)
        elif how == 1:
            self.put("shl.b32 %(i)s, %(g)s, %(k)d;", i=i, g=self.gid, k=self.rng.randrange(1, 4))
        elif how == 2:
            self.put("mad.lo.s32 %(i)s, %(g)s, %(k)d, %(k)d;", i=i, g=self.gid, k=self.rng.choice((3, 5, 32)))
        elif how == 3:
            self.put("xor.b32 %(t)s, %(g)s, 5;\nadd.s32 %(i)s, %(t)s, %(g)s;", i=i, t=t, g=self.gid)
        elif how == 4:
            self.put("add.sat.s32 %(i)s, %(g)s, 2147483000;\nsub.s32 %(i)s, %(i)s, 2147482000;", i=i, g=self.gid)
        else:
            self.put("rem.u32 %(i)s, %(g)s, 96;", i=i, g=self.gid)
        if offset:
            self.put("add.s32 %(i)s, %(i)s, %(o)d;", i=i, o=offset)
        self.put("and.b32 %(i)s, %(i)s, %(m)d;", i=i, m=N // scale - 1)
        self.done(t)
        return i

    def address(self, base, index, size=4):
        d, t = self.reg("d"), self.reg("d")
        if self.rng.random() < 0.5:
            self.put("mul.wide.u32 %(t)s, %(i)s, %(s)d;\nadd.s64 %(d)s, %(b)s, %(t)s;", t=t, i=index, s=size, d=d, b=base)
        elif self.rng.random() < 0.5:
            self.put("mad.wide.u32 %(d)s, %(i)s, %(s)d, %(b)s;", i=index, s=size, d=d, b=base)
        else:
            self.put("cvt.u64.u32 %(t)s, %(i)s;\nshl.b64 %(t)s, %(t)s, %(s)d;\nadd.s64 %(d)s, %(t)s, %(b)s;", t=t, i=index,
                     s=size.bit_length() - 1, d=d, b=base)
        self.done(t)
        return d

    def load(self):
        i, x = self.index(), self.reg("f")
        d = self.address(self.rng.choice((self.a, self.b)), i)
        self.put("ld.global%(c)s.f32 %(x)s, [%(d)s];", c=self.rng.choice(("", "", ".nc", ".ca", ".cg")), x=x, d=d)
        self.sum(x)
        self.done(i, d, x)

    def sum(self, x):
        how = self.rng.randrange(5)
        form = ("add.f32 %(s)s, %(s)s, %(x)s;", "fma.rn.f32 %(s)s, %(x)s, 0f3F000000, %(s)s;",
                "mul.f32 %(x)s, %(x)s, 0f40000000;\nadd.f32 %(s)s, %(s)s, %(x)s;",
                "mul.rn.f32 %(x)s, %(x)s, %(x)s;\nadd.rn.f32 %(s)s, %(s)s, %(x)s;", "max.f32 %(s)s, %(s)s, %(x)s;")[how]
        self.put(form, s=self.acc, x=x)

    def loop(self):
        i, p, k = self.reg("r"), self.reg("p"), self.rng.randrange(2, 7)
        top, step = self.label(), self.rng.choice((1, 1, 32))
        d, x, j = self.reg("d"), self.reg("f"), self.index(8)
        self.put("mul.wide.u32 %(d)s, %(j)s, 4;\nadd.s64 %(d)s, %(d)s, %(b)s;\nmov.u32 %(i)s, 0;", d=d, j=j, i=i,
                 b=self.rng.choice((self.a, self.b)))
        self.lines.append(top + ":")
        self.put("ld.global.f32 %(x)s, [%(d)s+%(o)d];", x=x, d=d, o=self.rng.choice((0, 4, 128)))
        self.sum(x)
        if self.rng.random() < 0.4:
            self.put("@%(c)s add.s32 %(n)s, %(n)s, %(i)s;", c=self.low, n=self.count, i=i)
        bound = self.kparam if self.rng.random() < 0.4 else str(k)
        self.put("add.s64 %(d)s, %(d)s, %(s)d;\nadd.s32 %(i)s, %(i)s, 1;\nsetp.lt.%(t)s32 %(p)s, %(i)s, %(k)s;\n@%(p)s bra %(l)s;",
                 d=d, s=4 * step, i=i, t=self.rng.choice("su"), p=p, k=bound, l=top)
        self.done(i, p, d, x, j)

    def shared(self):
        self.tiles += 1
        tile, words = "%s_%s%d" % (self.name, "tile", self.tiles), self.threads + self.rng.choice((0, 0, 4))
        self.decls.append("\t.shared .align %d .b8 %s[%d];" % (self.rng.choice((4, 16)), tile, 4 * words))
        r, t, x, u = self.reg("r"), self.reg("r"), self.reg("f"), self.reg("r")
        self.put("mov.u32 %(r)s, %(v)s;\nshl.b32 %(t)s, %(tid)s, 2;\nadd.s32 %(r)s, %(r)s, %(t)s;\nst.shared.f32 [%(r)s], %(s)s;\nbar.sync 0;",
                 r=r, v=tile, t=t, tid=self.tid, s=self.acc)
        other = self.rng.choice(("xor.b32 %(u)s, %(tid)s, 1;", "sub.s32 %(u)s, %(last)d, %(tid)s;", "mov.u32 %(u)s, %(tid)s;"))
        self.put(other + "\nshl.b32 %(u)s, %(u)s, 2;\nmov.u32 %(t)s, %(v)s;\nadd.s32 %(u)s, %(t)s, %(u)s;\nld.shared.f32 %(x)s, [%(u)s];", u=u,
                 tid=self.tid, last=self.threads - 1, t=t, v=tile, x=x)
        self.sum(x)
        self.put("bar.sync 0;")
        self.done(r, t, x, u)

    def atomic(self):
        i, d, o = self.reg("r"), self.reg("d"), self.reg("r")
        self.put("and.b32 %(i)s, %(v)s, %(m)d;", i=i, v=self.rng.choice((self.gid, self.tid)), m=COUNTERS - 1)
        d = self.address(self.c, i)
        self.put(self.counts, d=d, k=self.rng.randrange(1, 9), o=o, c=self.low, g=self.gid)
        self.done(i, d, o)

    def call(self):
        f = self.rng.choice(self.module.functions)
        self.called.add(f)
        x = self.reg("f")
        self.put("""{
            .param .b32 param0;
            st.param.f32 [param0], %(s)s;
            .param .b32 retval0;
            call.uni (retval0), %(f)s, (param0);
            ld.param.f32 %(x)s, [retval0];
            }""", s=self.acc, f=f, x=x)
        self.sum(x)
        self.done(x)

    def narrow(self):
        i, h, k, r = self.index(), self.reg("h"), self.reg("h"), self.reg("r")
        d = self.address(self.b, i)
        self.put("ld.global.u16 %(h)s, [%(d)s+2];\n", h=h, d=d)
        self.put(self.rng.choice(("add.s16 %(k)s, %(h)s, %(h)s;", "mul.lo.s16 %(k)s, %(h)s, 3;", "shr.u16 %(k)s, %(h)s, 3;",
                                  "and.b16 %(k)s, %(h)s, 255;", "mul.wide.u16 %(r)s, %(h)s, 5;\ncvt.u16.u32 %(k)s, %(r)s;")), k=k, h=h, r=r)
        self.put("cvt.%(t)s32.%(t)s16 %(r)s, %(k)s;\nadd.s32 %(n)s, %(n)s, %(r)s;", t=self.rng.choice("su"), r=r, k=k, n=self.count)
        self.done(i, h, k, r, d)

    def half(self):
        h, k, x = self.reg("h"), self.reg("h"), self.reg("f")
        self.put("min.f32 %(x)s, %(s)s, 0f42C80000;\nmax.f32 %(x)s, %(x)s, 0fC2C80000;\ncvt.rn.f16.f32 %(h)s, %(x)s;", x=x, s=self.acc, h=h)
        self.put(self.rng.choice(("add.f16 %(k)s, %(h)s, %(h)s;", "fma.rn.f16 %(k)s, %(h)s, %(h)s, %(h)s;", "neg.f16 %(k)s, %(h)s;")), k=k, h=h)
        self.put("cvt.f32.f16 %(x)s, %(k)s;", x=x, k=k)
        self.sum(x)
        self.done(h, k, x)

    def vector(self):
        wide = self.rng.choice((2, 4))
        i = self.index(wide)
        d = self.address(self.rng.choice((self.a, self.b)), i, 4 * wide)
        xs = [self.reg("f") for _ in range(wide)]
        self.put("ld.global.v%(w)d.f32 {%(x)s}, [%(d)s];", w=wide, x=", ".join(xs), d=d)
        for x in xs:
            self.sum(x)
        self.done(i, d, *xs)

    def saturated(self):
        r, x = self.reg("r"), self.reg("f")
        self.put(self.rng.choice(("add.sat.s32 %(n)s, %(n)s, 2000000000;\nand.b32 %(n)s, %(n)s, 65535;", "sub.sat.s32 %(r)s, %(g)s, %(n)s;\nxor.b32 %(n)s, %(n)s, %(r)s;",
                                  "add.sat.f32 %(x)s, %(s)s, 0f3E800000;\nadd.f32 %(s)s, %(s)s, %(x)s;",
                                  "mul.sat.f32 %(x)s, %(s)s, 0f3E800000;\nadd.f32 %(s)s, %(s)s, %(x)s;")), n=self.count, r=r, g=self.gid,
                 x=x, s=self.acc)
        self.done(r, x)

    def diamond(self):
        p, other, end = self.reg("p"), self.label(), self.label()
        self.put("setp.%(o)s.u32 %(p)s, %(t)s, %(k)d;\n@%(n)s%(p)s bra %(l)s;", o=self.rng.choice(("lt", "ge", "ne")), p=p, t=self.tid,
                 k=self.rng.randrange(1, 40), n=self.rng.choice(("", "!")), l=other)
        self.put("add.s32 %(n)s, %(n)s, 7;\nbra%(u)s %(e)s;", n=self.count, u="", e=end)
        self.lines.append(other + ":")
        self.put("mul.lo.s32 %(n)s, %(n)s, 3;", n=self.count)
        self.lines.append(end + ":")
        self.done(p)

    def lanes(self):
        r, p = self.reg("r"), self.reg("p")
        self.put(self.rng.choice(("shfl.sync.bfly.b32 %(r)s, %(n)s, %(k)d, 31, -1;", "shfl.sync.down.b32 %(r)s|%(p)s, %(n)s, %(k)d, 31, -1;",
                                  "setp.gt.s32 %(p)s, %(n)s, 9;\nvote.sync.ballot.b32 %(r)s, %(p)s, -1;\npopc.b32 %(r)s, %(r)s;",
                                  "mov.u32 %(r)s, %%laneid;", "mov.u32 %(r)s, %%nctaid.x;", "mov.u32 %(r)s, %%ntid.y;")), r=r, p=p, n=self.count, k=self.rng.choice((1, 2, 16)))
        self.put("add.s32 %(n)s, %(n)s, %(r)s;", n=self.count, r=r)
        self.done(r, p)

    def constant(self):
        r, t, x = self.reg("r"), self.reg("d"), self.reg("f")
        table = self.rng.choice(self.module.tables)
        self.put("and.b32 %(r)s, %(g)s, 7;\nmul.wide.u32 %(t)s, %(r)s, 4;", r=r, g=self.gid, t=t)
        d = self.reg("d")
        self.put("mov.u64 %(d)s, %(v)s;\nadd.s64 %(d)s, %(d)s, %(t)s;\nld.%(s)s.f32 %(x)s, [%(d)s];", d=d, v=table[0], t=t, s=table[1], x=x)
        self.sum(x)
        self.done(r, t, x, d)

    def local(self):
        self.tiles += 1
        name, r = "%s_local%d" % (self.name, self.tiles), self.reg("r")
        self.decls.append("\t.local .align 8 .b8 %s[32];" % name)
        d, t = self.reg("d"), self.reg("d")
        self.put("and.b32 %(r)s, %(t1)s, 7;\nmul.wide.u32 %(t)s, %(r)s, 4;\nmov.u64 %(d)s, %(v)s;\nadd.s64 %(d)s, %(d)s, %(t)s;\n"
                 "st.local.u32 [%(d)s], %(n)s;\nld.local.u32 %(r)s, [%(d)s];\nadd.s32 %(n)s, %(n)s, %(r)s;", r=r, t1=self.tid, t=t, d=d, v=name, n=self.count)
        self.done(d, t, r)

    def carry(self):
        lo, hi = self.reg("r"), self.reg("r")
        self.put("add.cc.u32 %(l)s, %(n)s, %(g)s;\naddc.u32 %(h)s, %(n)s, 0;\nxor.b32 %(n)s, %(l)s, %(h)s;", l=lo, h=hi, n=self.count, g=self.gid)
        self.done(lo, hi)

    def bits(self):
        r = self.reg("r")
        self.put(self.rng.choice(("prmt.b32 %(r)s, %(n)s, %(g)s, 12816;", "bfe.u32 %(r)s, %(n)s, 3, 9;", "lop3.b32 %(r)s, %(n)s, %(g)s, %(t)s, 150;",
                                  "shf.l.wrap.b32 %(r)s, %(n)s, %(g)s, 7;", "brev.b32 %(r)s, %(n)s;", "clz.b32 %(r)s, %(n)s;",
                                  "mul.hi.u32 %(r)s, %(n)s, %(g)s;", "sad.u32 %(r)s, %(n)s, %(g)s, %(t)s;")), r=r, n=self.count, g=self.gid, t=self.tid)
        self.put("add.s32 %(n)s, %(n)s, %(r)s;", n=self.count, r=r)
        self.done(r)

    def double(self):
        e, x = self.reg("e"), self.reg("f")
        self.put("cvt.f64.f32 %(e)s, %(s)s;\nfma.rn.f64 %(e)s, %(e)s, 0d3FE0000000000000, %(e)s;\ncvt.rn.f32.f64 %(x)s, %(e)s;", e=e, s=self.acc, x=x)
        self.sum(x)
        self.done(e, x)

    def scope(self):
        """A block of its own, with registers that the function has too or has not: what inline assembly gives."""
        mine = self.rng.choice((self.names["r"] + "1", "tmp", "%t"))
        self.put("{\n.reg .b32 %(m)s;\nadd.s32 %(m)s, %(g)s, 1;\n%(put)s\n}", m=mine, g=self.gid if self.gid != mine else "3",
                 put="" if mine in (self.acc, self.count) else "xor.b32 %s, %s, %s;" % (self.count, self.count, mine))

    FEATURES = (load, load, loop, loop, shared, atomic, call, narrow, half, vector, saturated, diamond, lanes, constant, local, carry, bits,
                double, scope)

    def make(self):
        names = ["a", "b", "out", "c", "n", "k"]
        params = ["%s_param_%d" % (self.name, i) for i in range(6)] if self.names is STYLES[0] else names
        self.params = params
        self.a, self.b, self.o, self.c = (self.reg("d") for _ in range(4))
        nreg, self.kparam, self.tid, self.gid, self.count = (self.reg("r") for _ in range(5))
        self.acc, self.low = self.reg("f"), self.reg("p")
        for r, p in zip((self.a, self.b, self.o, self.c), params):
            self.put("ld.param.u64 %(r)s, [%(p)s];", r=r, p=p)
        self.put("ld.param.u32 %(n)s, [%(p)s];\nld.param.u32 %(k)s, [%(q)s];", n=nreg, p=params[4], k=self.kparam, q=params[5])
        for r in self.rng.sample((self.a, self.b, self.o, self.c), 4):
            self.put("cvta.to.global.u64 %(r)s, %(r)s;", r=r)
        t, u = self.reg("r"), self.reg("r")
        self.put("mov.u32 %(d)s, %%tid.x;\nmov.u32 %(t)s, %%ctaid.x;\nmov.u32 %(u)s, %%ntid.x;\nmad.lo.s32 %(g)s, %(t)s, %(u)s, %(d)s;", d=self.tid, t=t,
                 u=u, g=self.gid)
        self.put("mov.f32 %(s)s, 0f00000000;\nmov.u32 %(n)s, 1;\nsetp.lt.u32 %(p)s, %(d)s, 16;", s=self.acc, n=self.count, p=self.low, d=self.tid)
        self.done(t, u)
        features = [self.rng.choice(self.FEATURES) for _ in range(self.rng.randrange(2, 9))]
        end, p = self.label(), self.reg("p")
        if self.guarded:     # threads past n leave at once: no barrier then
            features = [f for f in features if f not in (Kernel.shared, Kernel.lanes)]
            self.put("setp.ge.u32 %(p)s, %(g)s, %(n)s;\n@%(p)s bra %(e)s;", p=p, g=self.gid, n=nreg, e=end)
        for f in features:
            f(self)
        d, x = self.address(self.o, self.gid), self.reg("f")
        self.put("cvt.rn.f32.s32 %(x)s, %(n)s;\nadd.f32 %(s)s, %(s)s, %(x)s;\nst.global.f32 [%(d)s], %(s)s;", x=x, n=self.count, s=self.acc, d=d)
        self.lines.append(end + ":")
        self.put("ret;")
        plist = ",\n".join("\t.param .%s %s" % ("u64" if i < 4 else "u32", p) for i, p in enumerate(params))
        hint = self.rng.choice(("", "", "\n.maxntid %d, 1, 1" % self.threads, "\n.reqntid %d, 1, 1" % self.threads, "\n.minnctapersm 2"))
        if hint == "\n.minnctapersm 2":
            hint = "\n.maxntid %d, 1, 1%s" % (self.threads, hint)
        return ".visible .entry %s(\n%s\n)%s\n{\n%s\n}\n" % (self.name, plist, hint, self.text())


class Module:
    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.functions = ["helper", "_Z4stepf", "twice"][:self.rng.randrange(1, 4)]
        self.tables = [("table", "const"), ("weights", "global")][:self.rng.randrange(1, 3)]

    def function(self, name):
        f = Body(self.rng, self.rng.randrange(len(STYLES)), False)
        x, y, p = f.reg("f"), f.reg("f"), f.reg("p")
        l = f.label()
        f.put("ld.param.f32 %(x)s, [%(n)s_param_0];\nmul.rn.f32 %(y)s, %(x)s, 0f3F400000;\nsetp.lt.f32 %(p)s, %(y)s, 0f41200000;\n@%(p)s bra %(l)s;\n"
              "mul.rn.f32 %(y)s, %(y)s, 0f3DCCCCCD;", x=x, y=y, n=name, p=p, l=l)
        f.lines.append(l + ":")
        f.put("st.param.f32 [func_retval0], %(y)s;\nret;", y=y)
        return ".func (.param .b32 func_retval0) %s(\n\t.param .b32 %s_param_0\n)\n{\n%s\n}\n" % (name, name, f.text())

    def make(self):
        rng = self.rng
        threads = rng.choice((32, 64, 64, 96, 128))
        kernels = [Kernel(rng, n, threads, self) for n in ("first", "second", "third")[:rng.randrange(1, 4)]]
        bodies = [k.make() for k in kernels]
        tables = ["%s.%s .align 4 .f32 %s[8] = {%s};" % (".visible " if s == "global" and rng.random() < 0.5 else "", s, n, ", ".join(
            "0f%08X" % (0x3F800000 + (i << 19)) for i in range(8))) for n, s in self.tables]
        called = sorted(set().union(*(k.called for k in kernels)))
        text = ".version 8.3\n.target sm_90\n.address_size 64\n\n" + "\n".join(tables) + "\n\n" + "\n".join(
            [self.function(f) for f in called] + bodies)
        k = rng.choice(kernels)
        args = [{"name": n, "buffer": "f32", "count": N, "init": {"random": [0, 4], "seed": i + 1}} for i, n in enumerate("ab")]
        args += [{"name": "out", "buffer": "f32", "count": N, "init": {"fill": 0}, "output": True},
                 {"name": "c", "buffer": "u32", "count": COUNTERS, "init": {"fill": 0}, "output": True},
                 {"name": "n", "u32": rng.choice((threads * 3, 100, N))}, {"name": "k", "u32": rng.randrange(1, 6)}]
        launch = {"format": "gpulocw-launch", "version": 1, "ptx": "m.ptx", "kernel": k.name, "grid": [rng.choice((2, 4, 7, 16)), 1, 1],
                  "block": [threads, 1, 1], "args": args}
        return text, launch


def made(seed):
    """(text of a module, launch description) number `seed`."""
    return Module(seed).make()


if __name__ == "__main__":
    import json, sys
    text, launch = made(int(sys.argv[1]))
    sys.stdout.write(text if len(sys.argv) < 3 else json.dumps(launch, indent=1))
