#!/usr/bin/env python3
"""How many guessed launches are clean: `make launch-rate [FILES=...]`.

Each module is copied without its launch description, `launch` guesses one, and `run --check-memory` runs every kernel of
the module with it: inside its buffers, no race whose order shows, no read of shared memory that nobody wrote. Every
`.entry` with a body counts, also where the module is refused, `launch` or `run` fails or takes too long. What is not
clean has a line with the reason; the last line has the total.

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


def try_module(program, folder, path, counts):
    module, launch = os.path.join(folder, "k.ptx"), os.path.join(folder, "k.launch.json")
    shutil.copy(path, module)
    with open(path, encoding="utf-8", errors="replace") as f:
        names = entries(f.read())
    for name in names:
        counts["all"] += 1
        if os.path.exists(launch):
            os.remove(launch)
        status, _, err = command(program, "launch", module, "-k", name, "-o", launch)
        guessed, told = os.path.exists(launch), "warning: no guess made" in err
        why = try_kernel(program, module, launch, name) if guessed else reason(status, err)
        counts["written"] += guessed
        counts["clean"] += not why
        counts["told"] += bool(why) and told
        if why:
            print(f"{path}: {name}: {why}{' (told by launch)' if told else ''}", flush=True)


def main():
    a = argparse.ArgumentParser()
    a.add_argument("program")
    a.add_argument("--least", type=float, default=0, help="exit 1 where fewer percent are clean")
    a.add_argument("files", nargs="+")
    o = a.parse_args()
    counts = {"all": 0, "written": 0, "clean": 0, "told": 0}
    for path in o.files:
        with tempfile.TemporaryDirectory() as folder:
            try_module(o.program, folder, path, counts)
    share = 100 * counts["clean"] / counts["all"] if counts["all"] else 0
    print(f"guessed launches: {counts['all']} kernels of {len(o.files)} modules, {counts['written']} descriptions written, "
          f"{counts['clean']} clean ({share:.1f} %), {counts['told']} of the others told by launch")
    sys.exit(share < o.least)


main()
