#!/usr/bin/env python3
"""How many guessed launches are clean: `make launch-rate [FILES=...]`.

Each module is copied without its launch description, `launch` guesses one, and `run --check-memory` runs every kernel of
the module with it: inside its buffers, no race, no read of shared memory that nobody wrote. Every `.entry` with a
body counts, also where the module is refused, `launch` or `run` fails or takes too long. Those that
tests/launch/apart.txt names are no programs: they run too, clean or not, and are counted apart. What is not clean has
a line with the reason; the last lines have the totals.

usage: launch_rate.py PROGRAM [--least PERCENT] FILE..."""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

LIMIT_S = 120  # of processor time: what takes longer counts as not clean


def entries(text):
    """Names of the entries that have a body, comments apart."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    found = re.finditer(r"\.entry\s+([\w$%.]+)\s*(?:\([^()]*\))?[^;{]*([;{])", text)
    return [m.group(1) for m in found if m.group(2) == "{"]


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_S, LIMIT_S))


def command(*words):
    p = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                       preexec_fn=limit)
    if p.returncode < 0:
        return p.returncode, p.stdout, p.stderr + f"error: ended by signal {-p.returncode} (9: {LIMIT_S} s of processor time)"
    return p.returncode, p.stdout, p.stderr


def reason(status, said):
    lines = [line for line in said.splitlines() if re.search(r"(error|warning|hint):", line)]
    lines = [re.sub(r"^.*?(error|warning)", r"\1", line)[:200] for line in lines]
    return f"exit {status}: {lines[0] if lines else 'no message'}"


def try_kernel(program, module, launch, kernel):
    """None where it is clean, else why not."""
    status, out, err = command(program, "run", module, "--launch", launch, "-k", kernel,
                               "--check-memory", "--json")
    if status != 0:
        return reason(status, err)
    try:
        result = json.loads(out)
    except ValueError:
        return "run printed no JSON"
    if result.get("equal_to_original") is False:
        return "outputs are not the same from launch to launch"
    told = [line for line in err.splitlines() if re.search(r"\[(race|uninitialised|bounds)\]", line)]
    return told[0][:200] if told else None


def read_apart():
    """[(FILE, KERNEL or "", why, taken back in)]"""
    rows = []
    with open(os.path.join(os.path.dirname(__file__), "..", "launch", "apart.txt"), encoding="utf-8") as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                what, why = (x.strip() for x in line.split("|", 1))
                path, _, kernel = what.lstrip("! ").partition(": ")
                rows.append((path, kernel, why, what.startswith("!")))
    return rows


def why_apart(rows, path, name):
    """Why the kernel is no program, or None: the last row that fits counts."""
    found = None
    for file, kernel, why, back in rows:
        if (path.startswith(file[:-1]) if file.endswith("*") else path == file) and kernel in ("", name):
            found = None if back else why
    return found


def try_module(program, folder, path, totals, apart):
    module, launch = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.launch.json")
    shutil.copy(path, module)
    with open(path, encoding="utf-8", errors="replace") as f:
        names = entries(f.read())
    for name in names:
        no_program = why_apart(apart, path, name)
        counts = totals[bool(no_program)]
        counts["all"] += 1
        if os.path.exists(launch):
            os.remove(launch)
        status, _, err = command(program, "launch", module, "-k", name, "-o", launch)
        guessed, told = os.path.exists(launch), "warning: no guess made" in err
        why = try_kernel(program, module, launch, name) if guessed else reason(status, err)
        counts["written"] += guessed
        counts["clean"] += not why
        counts["told"] += bool(why) and told
        told = " (told by launch)" if told else ""
        if no_program:
            print(f"apart: {path}: {name}: {no_program}: {why + told if why else 'clean'}", flush=True)
        elif why:
            print(f"{path}: {name}: {why}{told}", flush=True)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("program")
    a.add_argument("--least", type=float, default=0, help="exit 1 where fewer percent are clean")
    a.add_argument("files", nargs="+")
    o = a.parse_args()
    totals = [{"all": 0, "written": 0, "clean": 0, "told": 0} for _ in range(2)]
    apart = read_apart()
    for path in o.files:
        with tempfile.TemporaryDirectory() as folder:
            try_module(o.program, folder, path, totals, apart)
    counts, other = totals
    share = 100 * counts["clean"] / counts["all"] if counts["all"] else 0
    print(f"guessed launches: {counts['all']} kernels of {len(o.files)} modules, {counts['written']} descriptions written, "
          f"{counts['clean']} clean ({share:.1f} %), {counts['told']} of the others told by launch")
    if other["all"]:
        print(f"apart, no programs: {other['all']} kernels, {other['written']} descriptions written, {other['clean']} clean, "
              f"{other['told']} of the others told by launch")
    sys.exit(share < o.least)


main()
