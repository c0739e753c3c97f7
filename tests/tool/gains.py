#!/usr/bin/env python3
"""Where one time is divided by another: python3 tests/tool/gains.py. A gain is computed in engine/rec/gain.c alone, which knows what the times
rest on; everybody else asks there. Prints every other place; exit 1 when there is one. layers.py asks problems()."""
import re
import subprocess
import sys

OWNER = "engine/rec/gain.c"
# file, what is divided: shares of one whole and other quotients that are no gain
ALLOWED = {
    ("engine/cmd/live_kernels.c", "k->time_ns / s->gpu_ns"): "a kernel's share of the program's time on the GPU",
    ("tui/view/program.c", "k->time_ns / s->gpu_ns"): "the same",
    ("engine/search/finalize.c", "r->time.min / r->time"): "the spread of one time's samples",
    ("tui/view/valley.c", "x->time.min / x->time"): "the same",
}
TIME = r"(?:time\.(?:median|min|max)|\bmedian|\w*_ns\b|\w*(?:_ns|time_of|ms|seconds)\([^()]*\)|cost\.(?:paper|extended)|->time|\.time)"
NAME = r"[\w\[\]&>.+-]*?"
DIVIDES = re.compile(NAME + TIME + r"[ )]*\s/\s[ (]*" + NAME + TIME + r"(?![\w(])")


def code_of(path):
    """The text without comments, strings and casts, result_time(x)-> as x->time., on as many lines."""
    text = open(path, encoding="utf-8", errors="replace").read()
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/|//[^\n]*', lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    text = re.sub(r"result_time\(((?:[^()]|\([^()]*\))*)\)->", r"\1->time.", text)
    return re.sub(r"\((?:double|float|int64_t|uint64_t)\)", "", text)


def problems(files):
    bad, used = [], set()
    for f in files:
        if f == OWNER or not f.endswith((".c", ".h")) or f.startswith(("engine/sim/", "engine/perfmodel/", "engine/paper/", "engine/dev/")):
            continue                # the simulator's own arithmetic, curves of plain numbers, the papers' figures, what one device counts
        text = code_of(f)
        for m in DIVIDES.finditer(text):
            what = (f, re.sub(r"\s+", " ", re.sub(r"[()]", "", m[0])).strip())
            if what in ALLOWED:
                used.add(what)
            else:
                bad.append(f"{f}:{text.count(chr(10), 0, m.start()) + 1}: {what[1]}: a gain is computed in {OWNER} alone")
    return bad + [f"tests/tool/gains.py: {f} no longer has {w}" for f, w in sorted(set(ALLOWED) - used) if f in files]


if __name__ == "__main__":
    tree = subprocess.run(["find", "engine", "tui", "-name", "*.[ch]"], capture_output=True, text=True, check=True).stdout.split()
    found = problems(sorted(tree))
    print("\n".join(found))
    sys.exit(bool(found))
