#!/usr/bin/env python3
"""Which mul and add ptxas fuses, by reading the machine code of generated kernels, against engine/ptx/facts/contract.c.

    contraction.py BUILD [KERNELS [OPERATIONS [SEED [ARCH]]]]

A kernel is a straight line of multiplications, additions, subtractions, negations and moves over values that it loads; some
results are stored, and between the operations stand instructions that cut the line of code for ptxas, and others that do not. The value of each store is rebuilt from the machine code as an expression (signs left out) and must
be the one that the engine's answer gives. Prints TAP; ptxas missing: skipped."""
import os, random, struct, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sass

INPUTS = 15
# What may stand between a mul and its add: the first row leaves them in one line of code, the others do not.
BETWEEN = ["bar.sync 0;", "st.global.u32 [%q], %r1;", "@%p1 add.u32 %r1, %r1, 1;", "prefetch.global.L1 [%q];", "div.u32 %r1, %r2, %r1;", "bar.warp.sync -1;",
           "@%p1 st.global.u32 [%q+4], %r2;", "@%p1 prefetch.global.L2 [%q];", "membar.gl;", "@%p1 red.global.add.u32 [%q+8], 1;", "@%p1 bar.warp.sync -1;",
           "div.s32 %r1, %r1, %r2;"]

# ---- kernels: lists of (value, operation, operands); operands are values or inputs x1 ... x15 ----
def kernel(rng, n):
    ops, values, seen = [], ["x%d" % i for i in range(1, INPUTS + 1)], set()
    while len(ops) < n:
        op = rng.choice(["mul"] * 4 + ["mul.rn"] + ["add"] * 5 + ["sub"] * 2 + ["add.rn"] + ["neg", "mov"])
        near = values[-8:] + rng.sample(values, 4)
        a, b = rng.choice(near), rng.choice(near)
        if op in ("neg", "mov"):
            b = None
            if a[0] == "x" or ops[int(a[1:])][1] in ("neg", "mov"):
                continue
        elif a == b or (op[:3], *sorted((a, b))) in seen:
            continue
        seen.add((op[:3], *sorted((a, b))) if b else (op, a))
        ops.append(("v%d" % len(ops), op, a, b))
        values.append(ops[-1][0])
    used = {x for o in ops for x in o[2:]}
    stores = [o[0] for o in ops if o[0] not in used and rng.random() < 0.9] + [o[0] for o in ops if o[0] in used and rng.random() < 0.1]
    return ops, stores or [ops[-1][0]]

def reg(v):
    return "%f" + (v[1:] if v[0] == "x" else str(INPUTS + 1 + int(v[1:])))

def write(kernels, arch, cut):
    """The text, and by kernel the line of each operation."""
    lines, where = [".version 8.0", ".target " + arch, ".address_size 64"], []
    for n, (ops, stores) in enumerate(kernels):
        cuts = random.Random(n)
        lines += [".visible .entry k%d(.param .u64 p, .param .u64 scratch)" % n, "{", ".reg .f32 %%f<%d>;" % (INPUTS + 1 + len(ops)), ".reg .b64 %in, %q; .reg .b32 %r1, %r2; .reg .pred %p1; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; setp.gt.u32 %p1, %r1, 5;",
                  "ld.param.u64 %in, [p];", "ld.param.u64 %q, [scratch];", "cvta.to.global.u64 %q, %q;", "cvta.to.global.u64 %in, %in;"]
        lines += ["ld.global.f32 %%f%d, [%%in+%d];" % (i, 4 * i) for i in range(1, INPUTS + 1)]
        at = {}
        for v, op, a, b in ops:
            if cut and cuts.random() < 0.12:
                lines.append(cuts.choice(BETWEEN))
            name, *rounding = op.split(".")
            lines.append("%s.f32 %s;" % (".".join([name] + rounding), ", ".join(reg(x) for x in (v, a, b) if x)))
            at[len(lines)] = v
        lines += ["st.global.u32 [%q+12], %r1;"] + ["st.global.f32 [%%in+%d], %s;" % (1024 + 4 * i, reg(v)) for i, v in enumerate(stores)] + ["ret;", "}"]
        where.append(at)
    return "\n".join(lines) + "\n", where

# ---- expressions: (a*b) rounded, [a+b], {a*b|c} fused ----
def product(a, b):
    return "*".join(sorted((a, b)))

def expressions(ops, stores, fused):
    e, by = {}, {o[0]: o for o in ops}
    def of(v):
        return v if v[0] == "x" else e[v]
    def source(v):
        while v[0] == "v" and by[v][1] in ("neg", "mov"):
            v = by[v][2]
        return v
    for v, op, a, b in ops:
        if op in ("neg", "mov"):
            e[v] = of(a)
        elif op.startswith("mul"):
            e[v] = "(%s)" % product(of(a), of(b))
        elif v in fused:
            m = by[fused[v]]
            e[v] = "{%s|%s}" % (product(of(m[2]), of(m[3])), of(b if source(a) == m[0] else a))
        else:
            e[v] = "[%s]" % "+".join(sorted((of(a), of(b))))
    return [e[v] for v in stores]

# ---- the same from machine code (128-bit encodings) ----
WORDS = {5: 2, 6: 4}    # of a load or store of 64 and 128 bits

def read(code):
    r, stored = {255: "0"}, {}
    for at in range(0, len(code) - 15, 16):
        low, high = struct.unpack_from("<QQ", code, at)
        op, d, a, b, c = low & 0x1ff, low >> 16 & 255, low >> 24 & 255, low >> 32 & 255, high & 255
        n, place = WORDS.get(high >> 9 & 7, 1), (low >> 40 & 0xffffff) // 4
        if op == 0x181:
            for i in range(n):
                r[d + i] = "x%d" % (place + i)
        elif op == 0x186:
            for i in range(n):
                stored[place + i - 256] = r.get(b + i)
        elif op == 0x020:
            r[d] = "(%s)" % product(r.get(a, "?"), r.get(b, "?"))
        elif op == 0x021:
            r[d] = "[%s]" % "+".join(sorted((r.get(a, "?"), r.get(b, "?")))) if b != 255 and a != 255 else r.get(a if b == 255 else b, "?")
        elif op == 0x023:
            p = product(r.get(a, "?"), r.get(b, "?"))
            r[d] = "(%s)" % p if c == 255 else "{%s|%s}" % (p, r.get(c, "?"))     # neg is an addition of -0, which rounds as the mul does
    return stored

# ---- comparison ----
def engine(build, path):
    r = subprocess.run([os.path.join(build, "tests", "contracted"), path], capture_output=True, text=True, check=True)
    out = {}
    for line in r.stdout.splitlines():
        k, add, mul = line.split()
        out.setdefault(k, {})[int(add)] = int(mul)
    return out

def compare(build, kernels, arch, cut):
    """(kernels that agree, fused additions, the first that differs)"""
    text, where = write(kernels, arch, cut)
    elf, said = sass.cubin(text, arch)
    if elf is None:
        return None, 0, said
    code = {n[6:]: b for n, b in sass.sections(elf) if n.startswith(".text.")}
    with tempfile.TemporaryDirectory() as d:
        path = os.path.join(d, "k.ptx")
        with open(path, "w") as f:
            f.write(text)
        ours = engine(build, path)
    good, fused, first = 0, 0, None
    for n, (ops, stores) in enumerate(kernels):
        of = {where[n][a]: where[n][m] for a, m in ours.get("k%d" % n, {}).items()}
        got, want = read(code["k%d" % n]), expressions(ops, stores, of)
        same = all(got.get(i) == w for i, w in enumerate(want))
        good += same
        fused += len(of)
        if not same and not first:
            first = "%s stores %s\n#   ptxas  %s\n#   engine %s" % (ops, stores, [got.get(i) for i in range(len(want))], want)
    return good, fused, first

def main():
    build = sys.argv[1]
    count, n, seed = (int(sys.argv[i]) if len(sys.argv) > i else v for i, v in ((2, 150), (3, 0), (4, 1)))
    if not sass.have():
        print("ok 1 - contraction as ptxas does it # SKIP no ptxas")
        return 0
    bad = 0
    cases = [(n or size, arch, False) for size, arch in ((6, "sm_90"), (12, "sm_90"), (30, "sm_90"), (12, "sm_80"), (30, "sm_75"))]
    cases += [(n or size, "sm_90", True) for size in (6, 12, 30)]
    if len(sys.argv) > 5:
        cases = [(n, sys.argv[5], False)]
    for k, (size, arch, cut) in enumerate(cases, 1):
        rng = random.Random(seed * 1000 + k)
        good, fused, first = compare(build, [kernel(rng, size) for _ in range(count)], arch, cut)
        # several lines of code: ptxas sometimes fuses a product that other lines use, too
        ok = good >= count * (0.95 if cut else 1) and fused > 0
        bad |= not ok
        print("%sok %d - %s, %d operations%s: %s of %d kernels, %d fused" % ("" if ok else "not ", k, arch, size, ", cut into lines" if cut else "", good, count, fused))
        if not ok:
            print("# " + str(first)[:1500])
    return bad

sys.exit(main())
