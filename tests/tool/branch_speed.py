#!/usr/bin/env python3
"""Processor time of commands on kernels of N branches and of 4 N: a ratio far above 4 grows faster than the text.

usage: branch_speed.py PROGRAM [N]"""

import os
import resource
import subprocess
import sys
import tempfile

HEAD = """.version 7.0
.target sm_70
.address_size 64
.visible .entry branches(.param .u64 out, .param .u32 n)
{
 .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
 ld.param.u64 %rd1, [out];
 ld.param.u32 %r2, [n];
 mov.u32 %r1, %tid.x;
"""
TAIL = """ mul.wide.u32 %rd2, %r1, 4;
 add.s64 %rd3, %rd1, %rd2;
 st.global.u32 [%rd3], %r2;
 ret;
}
"""


def seconds(*words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def module(folder, n):
    path = os.path.join(folder, f"b{n}.ptx")
    with open(path, "w", encoding="utf-8") as f:
        f.write(HEAD)
        for i in range(n):
            f.write(f" setp.eq.u32 %p1, %r2, {i};\n @%p1 bra L{i};\n add.u32 %r2, %r2, 1;\nL{i}:\n")
        f.write(TAIL)
    return path


def main():
    program, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 12500
    with tempfile.TemporaryDirectory() as folder:
        few, many = module(folder, n), module(folder, 4 * n)
        for what in (["analyze"], ["analyze", "--quick"], ["launch", "-o", os.devnull],
                     ["rewrite", "--maxnreg", "32", "-o", os.path.join(folder, "o.ptx"), "--force"]):
            a, b = (seconds(program, what[0], path, *what[1:]) for path in (few, many))
            print(f"  {' '.join(what[:2]):20} {n} branches {a:6.2f} s   {4 * n} branches {b:6.2f} s   x {b / a:.1f}")


main()
