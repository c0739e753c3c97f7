"""Stand-ins of libc.so.6 and libm.so.6 for portable.sh. Standard input: objdump -T of both; arguments: the programs and
libraries as linked here, the oldest glibc, and the folder for libc.s, libc.map, libm.s, libm.map."""
import re
import subprocess
import sys
from collections import defaultdict

*programs, oldest, folder = sys.argv[1:]


def number(version):
    return tuple(int(x) for x in version.split("."))


has = {"libc": defaultdict(dict), "libm": defaultdict(dict)}  # library: name: version: kind
library = None
for line in sys.stdin:
    if "file format" in line:
        library = "libm" if "libm" in line else "libc"
    m = re.match(r"[0-9a-f]+ .{7}\s(\S+)\s+([0-9a-f]+)\s+\(?GLIBC_([0-9.]+)\)?\s+(\S+)$", line)
    if m and m.group(1) != "*UND*":
        has[library][m.group(4)][m.group(3)] = (m.group(1), int(m.group(2), 16))
wanted = []
text = "".join(subprocess.run(["objdump", "-T", p], capture_output=True, text=True, check=True).stdout for p in programs)
for line in text.splitlines():
    m = re.match(r"\S+ (.{7})\s(\S+)\s+\S+\s+\(?GLIBC_([0-9.]+)\)?\s+(\S+)$", line)
    if m:
        wanted.append(m.group(4))
missing = []
rows = {"libc": defaultdict(list), "libm": defaultdict(list)}
for name in sorted(set(wanted)):
    for library in ("libc", "libm"):
        fit = [v for v in has[library][name] if number(v) <= number(oldest)]
        if fit:
            version = max(fit, key=number)
            rows[library][version].append((name, *has[library][name][version]))
            break
    else:
        missing.append(name)
if missing:
    sys.exit("not in glibc %s, and not in portable.c: %s" % (oldest, " ".join(missing)))
for library, versions in rows.items():
    with open(f"{folder}/{library}.s", "w") as s, open(f"{folder}/{library}.map", "w") as script:
        before = ""
        for version in sorted(versions, key=number):
            script.write("GLIBC_%s { %s }%s;\n" % (version, " ".join(n + ";" for n, _, _ in versions[version]), before))
            before = " GLIBC_" + version
            for name, section, size in versions[version]:
                data = section != ".text"
                s.write(f"{'.bss' if data else '.text'}\n.globl {name}\n.type {name}, @{'object' if data else 'function'}\n"
                        f".size {name}, {max(size, 1)}\n{name}: .skip {max(size, 1)}\n")
        s.write('.section .note.GNU-stack,"",@progbits\n')
