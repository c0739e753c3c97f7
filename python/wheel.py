#!/usr/bin/env python3
"""Packs a wheel: the module, the shared library and the program, both linked for old systems (portable.sh).
usage: wheel.py VERSION PROGRAM LIBRARY FOLDER. Its tag is the glibc that the two ask for; the same input gives the same bytes."""
import base64
import hashlib
import os
import re
import subprocess
import sys
import zipfile

OLDEST = 28  # manylinux_2_28: no tag claims less


def glibc(path):
    """The newest 2.N of glibc that a file asks for."""
    said = subprocess.run(["objdump", "-T", path], capture_output=True, text=True, check=True).stdout
    return max(int(n) for n in re.findall(r"GLIBC_2\.(\d+)", said))


def needed(path):
    said = subprocess.run(["objdump", "-p", path], capture_output=True, text=True, check=True).stdout
    return re.findall(r"NEEDED +(\S+)", said)


def main(version, program, library, folder):
    here = os.path.dirname(os.path.abspath(__file__))
    foreign = {n for f in (program, library) for n in needed(f) if not re.match(r"(libc|libm|libpthread|libdl|ld-linux-x86-64)\.so", n)}
    if foreign:
        sys.exit(f"these libraries are not in the wheel: {' '.join(sorted(foreign))}")
    tag = f"py3-none-manylinux_2_{max(OLDEST, glibc(program), glibc(library))}_{os.uname().machine}"
    info = f"gpulocw-{version}.dist-info"
    files = {f"gpulocw/{n}": (open(os.path.join(here, "gpulocw", n), "rb").read(), 0o644)
             for n in sorted(os.listdir(os.path.join(here, "gpulocw"))) if n.endswith(".py")}
    files["gpulocw/libgpulocw.so.1"] = (open(library, "rb").read(), 0o755)
    files["gpulocw/bin/gpulocw"] = (open(program, "rb").read(), 0o755)
    files[f"{info}/METADATA"] = (f"Metadata-Version: 2.1\nName: gpulocw\nVersion: {version}\nSummary: GPU locality workbench: PTX kernels on a "
                                 "simulated GPU\nLicense: MIT\nRequires-Python: >=3.8\n".encode(), 0o644)
    files[f"{info}/WHEEL"] = (f"Wheel-Version: 1.0\nGenerator: gpulocw\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), 0o644)
    files[f"{info}/LICENSE"] = (open(os.path.join(here, "..", "LICENSE"), "rb").read(), 0o644)
    rows = [f"{n},sha256={base64.urlsafe_b64encode(hashlib.sha256(d).digest()).rstrip(b'=').decode()},{len(d)}" for n, (d, _) in files.items()]
    files[f"{info}/RECORD"] = (("\n".join(rows + [f"{info}/RECORD,,"]) + "\n").encode(), 0o644)
    os.makedirs(folder, exist_ok=True)
    out = os.path.join(folder, f"gpulocw-{version}-{tag}.whl")
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, (data, mode) in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            z.writestr(entry, data)
    print(out)


main(*sys.argv[1:])
