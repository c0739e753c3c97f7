#!/usr/bin/env python3
"""Functions that docs/internals names together with a file are defined there: "`f` in `a/b.c`", and rows "| `f` | `a/b.c` |"."""
import glob, os, re, sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NAMED = (re.compile(r"`(\w+)`(?:, `\w+`)* in `((?:engine|tui)/[\w/]+\.[ch])`"), re.compile(r"\| `(\w+)` \| `((?:engine|tui)/[\w/]+\.[ch])` \|"))


def defined(name, path):
    text = open(os.path.join(TOP, path)).read() if os.path.exists(os.path.join(TOP, path)) else ""
    return re.search(r"^#define %s\b" % re.escape(name), text, re.M) or re.search(r"^(?!static inline .*;)[a-z][\w \t*]*\b%s\([^;{]*\)\s*\{" % re.escape(name), text, re.M)


found = [(f, n, p) for f in sorted(glob.glob(os.path.join(TOP, "docs/internals/*.md"))) for r in NAMED for n, p in r.findall(open(f).read())]
wrong = [x for x in found if not defined(*x[1:])]
for f, name, path in wrong:
    print("%s: %s is not defined in %s" % (os.path.relpath(f, TOP), name, path))
print("%d functions are where docs/internals says, %d are not" % (len(found) - len(wrong), len(wrong)))
sys.exit(bool(wrong) or not found)
