"""Persistent kernels with random bodies: values that go on from tile to tile, rings in shared memory, branches, loads and stores of other
tiles. kernel(seed) is their PTX, launch(seed) the description."""
import random

HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 x, .param .u32 n)\n"
DECLARE = "{ .reg .pred %p<8>; .reg .b32 %r<60>; .reg .b64 %d<20>; .shared .align 4 .b8 sh[1024];\n"
BEGIN = """ ld.param.u64 %d15, [out]; ld.param.u64 %d16, [x]; ld.param.u32 %r1, [n]; cvta.to.global.u64 %d1, %d15; cvta.to.global.u64 %d2, %d16;
 mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %nctaid.x; mov.u32 %r5, sh;
"""
V, S = ["%%r%d" % (10 + i) for i in range(5)], ["%%r%d" % (20 + i) for i in range(3)]  # values, numbers that go on


class Body:
    def __init__(self, seed):
        self.r, self.label = random.Random(seed), 0
        self.tame = self.r.random() < 0.5  # leaves most of what is refused out
        self.goes = self.r.random() < 0.5  # registers go on with the number of the tile

    def shared(self):
        """Address of a word of shared memory, in %r30."""
        k = self.r.choice([0, 0, 1, 5, 63])
        place = self.r.choice(S + ["0", "1"])
        return " xor.b32 %%r31, %%r2, %d; mad.lo.u32 %%r30, %s, 64, %%r31; and.b32 %%r30, %%r30, 255; mad.lo.u32 %%r30, %%r30, 4, %%r5;\n" % (k, place)

    def word(self, buffer, tile, k=0):
        """Address of a word of a tile, in %d5."""
        return " xor.b32 %%r31, %%r2, %d; mad.lo.u32 %%r32, %s, 64, %%r31; mul.wide.u32 %%d4, %%r32, 4; add.s64 %%d5, %s, %%d4;\n" % (k, tile, buffer)

    def load(self): return self.word("%d2", "%r40", self.r.choice([0, 1])) + " ld.global.u32 %s, [%%d5];\n" % self.r.choice(V)
    def alu(self): return " %s %s, %s, %s;\n" % (self.r.choice(["add.u32", "xor.b32", "mul.lo.u32"]), self.r.choice(V), self.r.choice(V), self.r.choice(V + ["%r2", "%r40", "7"]))
    def put(self): return self.shared() + " st.shared.u32 [%%r30], %s; bar.sync 0;\n" % self.r.choice(V)
    def take(self): return " bar.sync 0;\n" + self.shared() + " ld.shared.u32 %s, [%%r30]; bar.sync 0;\n" % self.r.choice(V)
    def ring(self):
        s, most = self.r.choice(S), self.r.choice([2, 3, 4])
        return " add.u32 %s, %s, 1; setp.eq.u32 %%p2, %s, %d; @%%p2 mov.u32 %s, 0;\n" % (s, s, s, most, s)
    def both(self): # a ring's word, put and taken
        s = self.shared()
        return s + " st.shared.u32 [%%r30], %s; bar.sync 0; ld.shared.u32 %s, [%%r30]; bar.sync 0;\n" % (self.r.choice(V), self.r.choice(V))
    def store(self): return self.word("%d1", "%r40", self.r.choice([0, 3])) + " st.global.u32 [%%d5], %s; bar.sync 0;\n" % self.r.choice(V)
    def again(self): return self.word("%d1", "%r40", self.r.choice([0, 3])) + " ld.global.u32 %s, [%%d5]; bar.sync 0;\n" % self.r.choice(V)
    def set(self): return " mov.u32 %s, %s;\n" % (self.r.choice(V), self.r.choice(["%r40", "3", "%r2"]))
    def goes_on(self): return " mov.u32 %s, %s;\n" % (self.r.choice(V), self.r.choice(S))
    def place(self): return " mov.u32 %s, %s;\n" % (self.r.choice(V), self.r.choice(["%r3", "%r41"]))
    def choose(self): return " setp.lt.u32 %%p3, %s, %s; selp.b32 %s, %s, %s, %%p3;\n" % (self.r.choice(V + S), self.r.choice(["2", "%r40"]), self.r.choice(V), self.r.choice(V), self.r.choice(V))
    def branch(self):
        self.label += 1
        what = self.r.choice(["%r2", "%r40"] + S + ([] if self.tame else V))
        inside = self.alu() + self.load() if self.tame else self.alu() + self.r.choice([self.load, self.store0, self.goes_on])()
        return " and.b32 %%r33, %s, 1; setp.ne.u32 %%p4, %%r33, 0; @%%p4 bra L%d;\n%s L%d:\n" % (what, self.label, inside, self.label)
    def store0(self): return self.word("%d1", "%r40") + " st.global.u32 [%%d5], %s;\n" % self.r.choice(V)
    def other(self):
        return " xor.b32 %%r34, %%r40, %d;\n" % self.r.choice([1, 4]) + self.word("%d1", "%r34") + " ld.global.u32 %s, [%%d5];\n" % self.r.choice(V)
    def gather(self): return " and.b32 %%r34, %s, 31;\n" % self.r.choice(V) + self.word("%d2", "%r34") + " ld.global.u32 %s, [%%d5];\n" % self.r.choice(V)
    def derived(self): # 64 t + 7 in %r43, where tile t of x begins in %d10
        return self.r.choice([" mov.u32 %s, %%r43;\n" % self.r.choice(V), " mul.wide.u32 %%d4, %%r2, 4; add.s64 %%d5, %%d10, %%d4; ld.global.u32 %s, [%%d5];\n" % self.r.choice(V),
                              " ld.global.u32 %s, [%%d10+8];\n" % self.r.choice(V)])
    def body(self):
        kinds = [self.load, self.load, self.alu, self.alu, self.ring, self.both, self.set, self.choose, self.branch, self.store]
        if not self.tame: kinds += [self.put, self.take, self.again, self.goes_on, self.place, self.other, self.gather]
        if self.goes: kinds += [self.derived, self.derived]
        first = self.load() + "".join(" mov.u32 %s, %s;\n" % (v, self.r.choice(["%r40", "5", "%r2"])) for v in V if self.tame or self.r.random() < 0.8)
        return first + "".join(self.r.choice(kinds)() for _ in range(self.r.randint(3, 9)))


def kernel(seed):
    b = Body(seed)
    start = "".join(" mov.u32 %s, %d;\n" % (s, b.r.choice([0, 0, 1])) for s in S) + "".join(" mov.u32 %s, 1;\n" % v for v in V)
    start += " mov.u32 %r35, 9; mad.lo.u32 %r30, %r2, 4, %r5;\n" + "".join(" st.shared.u32 [%%r30+%d], %%r35;\n" % (256 * i) for i in range(4)) + " bar.sync 0;\n"
    end = b.word("%d1", "%r40") + " st.global.u32 [%%d5], %s;\n" % b.r.choice(V)
    init, more, wide = " shl.b32 %r45, %r3, 6; add.u32 %r43, %r45, 7; mul.wide.u32 %d12, %r3, 256; add.s64 %d10, %d2, %d12;\n", " mul.lo.u32 %r44, %r4, 64;\n", " mul.wide.u32 %d11, %r4, 256;\n"
    if not b.tame and b.r.random() < 0.3: init = b.r.choice([" mov.u32 %r43, 0; mov.u64 %d10, %d2;\n", " ld.global.u32 %r43, [%d2]; mul.wide.u32 %d12, %r3, 256; add.s64 %d10, %d2, %d12;\n"])
    if not b.tame and b.r.random() < 0.3: more = " mul.lo.u32 %r44, %r4, 60;\n"
    start += init + more + wide
    goes = " add.u32 %r43, %r43, %r44;\n", " add.s64 %d10, %d10, %d11;\n"
    body = b.body()
    if not b.tame and b.r.random() < 0.2: body, goes = goes[0] + body, ("", goes[1])
    step = "".join(goes) + " add.u32 %r41, %r41, 1; add.u32 %r40, %r40, %r4; bar.sync 0; bra.uni TILE;\nEND: ret;\n}\n"
    return HEAD + DECLARE + BEGIN + start + " mov.u32 %r41, 0; mov.u32 %r40, %r3;\nTILE: setp.ge.u32 %p1, %r40, %r1; @%p1 bra END;\n" + body + end + step


def launch(seed, ptx):
    r = random.Random(seed + 1)
    n = r.choice([24, 32, 41])
    return {"format": "gpulocw-launch", "version": 1, "ptx": ptx, "kernel": "k", "grid": [r.choice([3, 5, 8]), 1, 1], "block": [64, 1, 1],
            "args": [{"name": "out", "buffer": "u32", "count": 64 * 64, "output": True}, {"name": "x", "buffer": "u32", "count": 64 * 64, "init": {"random": [0, 9], "seed": seed}}, {"name": "n", "u32": n}]}
