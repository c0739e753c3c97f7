#!/usr/bin/env python3
"""The rooms and the direction of their dependencies, over #include lines; what only one room may use; sizes.

The order of rooms is the table of docs/internals/design.md: a file may include its own room and rooms further down.
A folder and the folders inside it are one room with shelves: parent and child see each other; shelves
beside each other follow the order too. What an instruction is, the op table says (op_decisions.py); what a time gains over another, engine/rec/gain.c (gains.py). Prints every violation; exit 1 when there is one."""
import os
import re
import subprocess
import sys

import gains
import op_decisions

DESIGN = "docs/internals/design.md"
# below them in the table, and not to be seen by them: what a kernel does is timed by the simulated device alone
NEVER = [(a, b) for a in ("engine/analysis", "engine/pass", "engine/rewrites", "engine/perfmodel", "engine/search")
         for b in ("engine/sim/timing", "engine/sim/cache")]
EXECUTES = ("engine/sim", "engine/dev", "engine/emulate", "engine/live", "engine/predict", "engine/session", "engine/tune", "engine/workspace", "engine/cmd", "engine/api",
            "engine/analysis/slice")
MOST_C, MOST_H, MOST_FUNCTION = 800, 250, 60
bad = []


def rooms():
    found = re.findall(r"^\| `((?:engine|tui)/[a-z_/]+)` \|", open(DESIGN).read(), re.M)
    on_disk = {os.path.dirname(f) for f in files}
    for r in on_disk - set(found):
        bad.append(f"{DESIGN}: no row for the room {r}")
    for r in set(found) - on_disk:
        bad.append(f"{DESIGN}: the room {r} does not exist")
    return {r: i for i, r in enumerate(found)}


def family(a, b):
    return a == b or a.startswith(b + "/") or b.startswith(a + "/")


def includes(order):
    for f in files:
        mine = os.path.dirname(f)
        for n, line in enumerate(text[f], 1):
            k = re.match(r'\s*#include "((?:engine|tui)/[^"]+)/[^/"]+"', line)
            if not k:
                continue
            other = k.group(1)
            if order.get(other, -1) < order.get(mine, 99) and not family(mine, other):
                bad.append(f"{f}:{n}: {mine} may not include {other}")
            for a, b in NEVER:
                if family_of(mine, a) and family_of(other, b):
                    bad.append(f"{f}:{n}: {a} and {b} never see each other")


def family_of(room, top):
    return room == top or room.startswith(top + "/")


def code_lines(f):
    for n, line in enumerate(text[f], 1):
        if not re.match(r"\s*(/?\*|//)", line):
            yield n, line


def only(pattern, where, what):
    for f in files:
        rooms_of = (where,) if isinstance(where, str) else where
        if f.endswith(".def") or any(family_of(os.path.dirname(f), r) for r in rooms_of):
            continue
        for n, line in code_lines(f):
            if re.search(pattern, line):
                bad.append(f"{f}:{n}: {what} belongs in {' and '.join(rooms_of)} alone")


def banned():
    strings = r"\b(strcpy|strcat|sprintf|vsprintf|gets|strtok|alloca)\("
    prints = r"(^|[^a-z_])(printf|puts|putchar|fprintf|perror|exit|abort)\("
    for f in files:
        for n, line in code_lines(f):
            if f.endswith((".c", ".h")) and re.search(strings, line):
                bad.append(f"{f}:{n}: banned function")
            if f.endswith(".c") and f.startswith("engine/") and not f.startswith(("engine/cmd/", "engine/dev/inject/", "engine/emulate/driver/", "engine/emulate/runtime/")) and re.search(prints, line):
                bad.append(f"{f}:{n}: printing or ending the program below engine/cmd")


def members():
    several = r"^ +[a-z][a-zA-Z0-9_ *]* [*]?[a-z0-9_]+(\[[^]]*\])?(, [*]?[a-z0-9_]+(\[[^]]*\])?){2,};"
    for f in files:
        if f.endswith(".h"):
            for n, line in enumerate(text[f], 1):
                if re.match(several, line):
                    bad.append(f"{f}:{n}: three or more members on one line; one a line, with unit and owner")


def sizes():
    for f in files:
        most = MOST_C if f.endswith(".c") else MOST_H if f.endswith(".h") else 10**9
        if len(text[f]) > most:
            bad.append(f"{f} has {len(text[f])} lines; the budget is {most}")
        if f.endswith(".c"):
            functions(f)


def functions(f):
    name = open_at = None
    for n, line in enumerate(text[f], 1):
        if re.match(r"[a-zA-Z_].*\(", line) and not re.search(r";\s*$", line):
            name = re.sub(r"\(.*", "", line).split()[-1].lstrip("*")
        if line.startswith("{"):
            open_at = n
        if line.startswith("}") and open_at:
            if n - open_at - 1 > MOST_FUNCTION and (f, name) not in long_allowed:
                bad.append(f"{f}: {name} has {n - open_at - 1} lines; the budget is {MOST_FUNCTION}")
            open_at = None


listed = subprocess.run(["find", "engine", "tui", "-type", "f"], capture_output=True, text=True, check=True).stdout.split()
files = sorted(f for f in listed if f.endswith((".c", ".h", ".def")))
text = {f: open(f, errors="replace").read().split("\n")[:-1] for f in files}
allowed_path = "tests/tool/long_functions.txt"
long_allowed = {tuple(l.split()[:2]) for l in open(allowed_path)} if os.path.exists(allowed_path) else set()
includes(rooms())
only(r"#include <(ncursesw/)?(curses|ncurses|term)\.h>", "tui/term", "curses")
only(r"#include (<cjson/|\"engine/session/json\.h\")", ("engine/session", "engine/service", "engine/check", "engine/workspace", "engine/cmd/optimize"), "cJSON")
only(r'#include "engine/sim/(?!windows\.h")', EXECUTES, "running kernels")
only(r"\b(dlopen|dlsym)\(", "engine/dev", "dlopen")
banned()
members()
sizes()
bad += op_decisions.problems()
bad += gains.problems(files)
print("\n".join(bad), end="\n" if bad else "")
sys.exit(1 if bad else 0)
