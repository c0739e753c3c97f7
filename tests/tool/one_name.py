#!/usr/bin/env python3
"""How many names the great things of the program have: python3 tests/tool/one_name.py [--places]

A parameter that is handed options, a launch, a module, a result, the counters or a device should have one name, so that who follows
it through the calls need not learn a new one. A role is no name: out, from, to, base, list and the like say which of two is meant.
--places: the parameters with other names."""
import collections
import re
import subprocess
import sys

THINGS = {"options": ("options", "o"), "launch": ("launch_spec", "l"), "module": ("ptx_module", "m"), "result": ("result", "r"),
          "counters": ("counter", "counters"), "device's facts": ("dev_info", "d"), "device": ("dev", "d")}
# which of two, or of several: not what it is
ROLE = set("out to from base like list first again more best original was is now old own other others outer present done timed than over a b fell held prover read patched seen with all".split())


def parameters():
    """(thing, name, file, line) of each parameter of a definition or a prototype."""
    files = subprocess.run(["git", "ls-files", "engine/*.[ch]", "tui/*.[ch]"], capture_output=True, text=True, check=True).stdout.split()
    for f in files:
        text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), open(f, encoding="utf-8").read(), flags=re.S)
        for m in re.finditer(r"^[a-z][\w *]*\b\w+\(([^;{}]*?)\)\s*[{;]", text, re.M):
            for p in m[1].split(","):
                q = re.fullmatch(r"\s*(?:const )?struct (\w+) \*(?:const )?(\w+)\s*", p)
                for thing, (struct, _) in THINGS.items():
                    if q and q[1] == struct:
                        yield thing, q[2], f, text.count("\n", 0, m.start()) + 1


def main():
    names = collections.defaultdict(collections.Counter)
    for thing, name, f, line in parameters():
        names[thing][name] += 1
        if "--places" in sys.argv and name != THINGS[thing][1] and name not in ROLE:
            print(f"{f}:{line}: {thing} {name}")
    for thing, (_, own) in THINGS.items():
        n, other = names[thing], {k for k in names[thing] if k != own and k not in ROLE}
        print(f"parameters that are {thing}: {sum(n.values())}, called {own} or by their role {sum(n.values()) - sum(n[k] for k in other)}; other names: {len(other)}")


if __name__ == "__main__":
    main()
