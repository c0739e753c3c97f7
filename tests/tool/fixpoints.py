#!/usr/bin/env python3
"""Loops of the engine that run until nothing changes, outside the solver: python3 tests/tool/fixpoints.py [--places]

A heuristic: `for (bool more = true; ...)`, `while (changed)`, `do ... while (x.more)`, for the words that such loops use.
tests/tool/fixpoints.txt lists those that are none, a search, a reader or a worklist of something else, with the reason."""
import os
import re
import sys

EXCEPTIONS = "tests/tool/fixpoints.txt"
SOLVER = "engine/ptx/facts/"
WORD = r"(?:more|changed|again|grew|grown|moved|any|progress|stable)"
LOOP = re.compile(r"for \(bool %s = [^;]*; [^;]*%s|while \((?:\w+(?:->|\.))*%s\)|\} while \([^;]*\b%s\b[^;]*\);" % (WORD, WORD, WORD, WORD))


def found():
    """(file, function, line) of each."""
    out = []
    for d, _, names in os.walk("engine"):
        for f in sorted(names):
            path, function = os.path.join(d, f), ""
            if not f.endswith(".c") or path.startswith(SOLVER):
                continue
            for n, line in enumerate(open(path, encoding="utf-8"), 1):
                if re.match(r"[a-zA-Z_].*\(", line) and not line.rstrip().endswith(";"):
                    function = re.sub(r"\(.*", "", line).split()[-1].lstrip("*")
                if LOOP.search(line):
                    out.append((path, function, n))
    return sorted(out)


def main():
    none = {tuple(l.split()[:2]) for l in open(EXCEPTIONS, encoding="utf-8") if l.strip() and not l.startswith("#")}
    loops = [l for l in found() if l[:2] not in none]
    if "--places" in sys.argv:
        print("\n".join("%s:%d: %s" % (f, n, name) for f, name, n in loops))
    print("fixpoints written by hand, outside %s: %d" % (SOLVER[:-1], len(loops)))
    for f, name in sorted(none - {l[:2] for l in found()}):
        print("%s: no such loop: %s %s" % (EXCEPTIONS, f, name))


if __name__ == "__main__":
    main()
