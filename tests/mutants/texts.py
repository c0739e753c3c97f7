#!/usr/bin/env python3
"""Rewritten texts, damaged in one place each: how many does `gpulocw check --rewrite` find?

    python3 tests/mutants/texts.py GPULOCW [--each N] [--seed S] [--misses] [FILE.ptx ...]

Every kernel is rewritten with every configuration of CONFIGS; what is accepted has to pass undamaged.
N places of each class of damage are tried in each text, chosen by the seed. A damage that leaves the text
as it was, or that cannot be parsed, does not count. Exit 1: a text that is whole is called broken."""
import argparse
import collections
import glob
import random
import re
import subprocess
import sys
import tempfile

CONFIGS = ["--bypass l1 --pi 1", "--bypass l1 --pi 1 --bypass-form predicate", "--cluster agent", "--cluster redirect",
           "--coarsen 2", "--coarsen 2 --coarsen-mode vector", "--prefetch l1", "--swizzle-shared", "--softcache 1"]
INST = re.compile(r"^\s+(@!?%\w+\s+)?([a-z][\w.:]*)\b.*;")
REG = re.compile(r"%[a-z]+\d+\b")


def op(line):
    m = INST.match(line)
    return m[2] if m else ""


def of_original(line, old):
    return line in old


def pick(lines, old, test):
    return [k for k, l in enumerate(lines) if INST.match(l) and of_original(l, old) and test(l)]


def remove_definition(lines, old, rng):
    at = pick(lines, old, lambda l: REG.search(l) and not re.match(r"(st|red|bra|bar|ret|atom)\b", op(l)))
    if at:
        del lines[rng.choice(at)]


def swap_registers(lines, old, rng):
    at = [k for k in pick(lines, old, lambda l: True) if len(set(REG.findall(lines[k]))) > 1]
    if at:
        k = rng.choice(at)
        a, b = rng.sample(sorted(set(REG.findall(lines[k]))), 2)
        lines[k] = re.sub("|".join(re.escape(x) + r"\b" for x in (a, b)), lambda m: b if m[0] == a else a, lines[k])


def other_register(lines, old, rng):
    at = pick(lines, old, lambda l: len(REG.findall(l)) > 1)
    if at:
        k = rng.choice(at)
        was = rng.choice(REG.findall(lines[k])[1:])
        kind = re.match(r"%[a-z]+", was)[0]
        others = sorted({r for l in lines for r in REG.findall(l) if re.match(r"%[a-z]+", r)[0] == kind} - {was})
        if others:
            lines[k] = re.sub(re.escape(was) + r"\b", rng.choice(others), lines[k])


def retarget_branch(lines, old, rng):
    labels = [m[1] for l in lines if (m := re.match(r"\s*(\$[\w$]+):", l))]
    at = [k for k, l in enumerate(lines) if re.search(r"\bbra(\.uni)?\s+\$", l)]
    if at and len(labels) > 1:
        k = rng.choice(at)
        was = re.search(r"\$[\w$]+", lines[k])[0]
        lines[k] = lines[k].replace(was, rng.choice([l for l in labels if l != was] or [was]))


def negate_guard(lines, old, rng):
    at = pick(lines, old, lambda l: re.match(r"\s+@", l))
    if at:
        k = rng.choice(at)
        lines[k] = lines[k].replace("@!", "@", 1) if "@!" in lines[k] else lines[k].replace("@", "@!", 1)


def drop_store(lines, old, rng):
    at = pick(lines, old, lambda l: re.match(r"(st|red|atom)\b", op(l)))
    if at:
        del lines[rng.choice(at)]


def duplicate_effect(lines, old, rng):
    at = pick(lines, old, lambda l: re.match(r"(st|red|atom)\b", op(l)))
    if at:
        k = rng.choice(at)
        lines.insert(k, lines[k])


def move_across_barrier(lines, old, rng):
    at = [k for k, l in enumerate(lines) if re.match(r"(bar|barrier)\b", op(l)) and of_original(l, old)]
    near = [k for k in at if k and k + 1 < len(lines) and re.match(r"(ld|st)\b", op(lines[k - 1]) + " ")]
    if near:
        k = rng.choice(near)
        lines[k - 1], lines[k] = lines[k], lines[k - 1]


def drop_barrier(lines, old, rng):
    at = [k for k, l in enumerate(lines) if re.match(r"(bar|barrier)\b", op(l)) and of_original(l, old)]
    if at:
        del lines[rng.choice(at)]


def guard_code(lines, old, rng):
    preds = sorted({r for l in lines for r in re.findall(r"%p\d+\b", l)})
    at = pick(lines, old, lambda l: not re.match(r"\s+@", l) and re.match(r"(st|ld|red|atom|add|mul|fma)\b", op(l)))
    if at and preds:
        k = rng.choice(at)
        lines[k] = re.sub(r"^(\s+)", lambda m: f"{m[1]}@{rng.choice(preds)} ", lines[k])


def redefine_guard(lines, old, rng):
    at = [k for k, l in enumerate(lines) if re.match(r"\s+@!?%p\d", l)]
    if at:
        k = rng.choice(at)
        p = re.search(r"%p\d+", lines[k])[0]
        lines.insert(k, f"\tsetp.eq.u32 \t{p}, 0, 1;")


def change_number(lines, old, rng):
    at = pick(lines, old, lambda l: re.search(r"(?<=[ ,+])\d+(?=[\];,])", l))
    if at:
        k = rng.choice(at)
        lines[k] = re.sub(r"(?<=[ ,+])\d+(?=[\];,])", lambda m: str(int(m[0]) + 4), lines[k], count=1)


def tear_group(lines, old, rng):
    at = [k for k, l in enumerate(lines) if re.match(r"(shfl|vote|match|redux|mma|wgmma|setmaxnreg)\b", op(l))]
    regs = next((k for k, l in enumerate(lines) if ".reg" in l), None)
    if at and regs is not None:
        k = rng.choice(at)
        lines[k:k] = ["\tmov.u32 \t%zz_t, %tid.x;", "\tsetp.lt.u32 \t%zz_p, %zz_t, 5;", "\t@%zz_p bra \t$zz_skip;"]
        lines.insert(k + 4, "$zz_skip:")
        lines.insert(regs, "\t.reg .pred %zz_p;\n\t.reg .b32 %zz_t;")


CLASSES = [remove_definition, swap_registers, other_register, retarget_branch, negate_guard, drop_store, duplicate_effect,
           move_across_barrier, drop_barrier, guard_code, redefine_guard, change_number, tear_group]


class Mutants:
    def __init__(self, args):
        self.args = args
        self.dir = tempfile.mkdtemp()
        self.found, self.all = collections.Counter(), collections.Counter()
        self.texts, self.false, self.misses = 0, [], []

    def run(self, *words):
        return subprocess.run([self.args.gpulocw, *words], capture_output=True, text=True)

    def check(self, old, text):
        path = self.dir + "/new.ptx"
        open(path, "w").write(text)
        return self.run("check", "--rewrite", old, path)

    def damage(self, path, where, text, old):
        for c in CLASSES:
            rng = random.Random(f"{self.args.seed} {where} {c.__name__}")
            for _ in range(self.args.each):
                lines = text.split("\n")
                c(lines, old, rng)
                new = "\n".join(lines)
                r = self.check(path, new) if new != text else None
                if r is None or r.returncode not in (0, 3):
                    continue
                self.all[c.__name__] += 1
                self.found[c.__name__] += r.returncode == 3
                if r.returncode == 0:
                    self.misses.append((c.__name__, where, [l for l in lines if l not in text.split("\n")][:1]))

    def kernel(self, path, name):
        old = set(open(path).read().split("\n"))
        for config in CONFIGS:
            out = self.dir + "/out.ptx"
            if self.run("rewrite", path, "-k", name, *config.split(), "-o", out, "--force").returncode:
                continue
            text = open(out).read()
            self.texts += 1
            if self.check(path, text).returncode:
                self.false.append(f"{path} {name} {config}")
                continue
            self.damage(path, f"{path} {name} {config}", text, old)

    def report(self):
        print(f"{self.texts} accepted texts, {len(self.false)} of them called broken")
        for c in CLASSES:
            if self.all[c.__name__]:
                n, of = self.found[c.__name__], self.all[c.__name__]
                print(f"{c.__name__.replace('_', ' '):22} {n:5} of {of:5} found, {100 * n / of:.0f} %")
        n, of = sum(self.found.values()), sum(self.all.values())
        print(f"{'together':22} {n:5} of {of:5} found, {100 * n / max(of, 1):.0f} %")
        for m in self.misses if self.args.misses else []:
            print("missed:", m[0].replace("_", " "), "in", m[1], *m[2])
        for f in self.false:
            print("called broken:", f)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("gpulocw")
    p.add_argument("files", nargs="*")
    p.add_argument("--each", type=int, default=1)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--misses", action="store_true")
    m = Mutants(p.parse_args())
    for path in m.args.files or sorted(glob.glob("kernels/*.ptx")):
        for name in re.findall(r"\.entry\s+(\w+)", open(path).read()):
            m.kernel(path, name)
    m.report()
    return 1 if m.false else 0


if __name__ == "__main__":
    sys.exit(main())
