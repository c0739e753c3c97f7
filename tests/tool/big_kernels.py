#!/usr/bin/env python3
"""Prints a large PTX kernel of one shape, for tests and measurements of speed.

usage: big_kernels.py SHAPE N
  ladder    N times: if (tid > k) x = x + k        (each branch meets again at once)
  exits     N times: if (tid == k) goto end        (all branches meet at the end)
  loads     N loads of one buffer, each summed up
  calls     a function that calls itself
"""
import sys

HEAD = ".version 7.0\n.target sm_70\n.address_size 64\n"
ENTRY = ".visible .entry big(.param .u64 a, .param .u64 o)\n{\n"
REGS = "\t.reg .pred %p<4>;\n\t.reg .b32 %r<8>;\n\t.reg .f32 %f<4>;\n\t.reg .b64 %rd<12>;\n"
START = ("\tld.param.u64 %rd1, [a];\n\tld.param.u64 %rd2, [o];\n\tcvta.to.global.u64 %rd3, %rd1;\n\tcvta.to.global.u64 %rd4, %rd2;\n"
         "\tmov.u32 %r1, %tid.x;\n\tmul.wide.u32 %rd5, %r1, 4;\n\tadd.s64 %rd6, %rd3, %rd5;\n\tadd.s64 %rd7, %rd4, %rd5;\n"
         "\tmov.u32 %r2, 0;\n\tmov.f32 %f1, 0f00000000;\n")


def ladder(n):
    body = "".join("\tsetp.gt.u32 %%p1, %%r1, %d;\n\t@%%p1 bra L%d;\n\tadd.u32 %%r2, %%r2, %d;\nL%d:\n" % (k % 97, k, k, k) for k in range(n))
    return HEAD + ENTRY + REGS + START + body + "\tst.global.u32 [%rd7], %r2;\n\tret;\n}\n"


def exits(n):
    body = "".join("\tsetp.eq.u32 %%p1, %%r1, %d;\n\t@%%p1 bra END;\n\tadd.u32 %%r2, %%r2, %d;\n" % (k + 1000, k) for k in range(n))
    return HEAD + ENTRY + REGS + START + body + "END:\n\tst.global.u32 [%rd7], %r2;\n\tret;\n}\n"


def loads(n):
    body = "".join("\tld.global.f32 %%f2, [%%rd6+%d];\n\tadd.f32 %%f1, %%f1, %%f2;\n" % (128 * (k % 64)) for k in range(n))
    return HEAD + ENTRY + REGS + START + body + "\tst.global.f32 [%rd7], %f1;\n\tret;\n}\n"


def calls(n):
    func = (".func (.param .b32 r) down(.param .b32 x)\n{\n\t.reg .b32 %r<4>;\n\tld.param.u32 %r1, [x];\n\tadd.u32 %r1, %r1, 1;\n\t{\n"
            "\t.param .b32 p;\n\tst.param.b32 [p], %r1;\n\t.param .b32 q;\n\tcall.uni (q), down, (p);\n\tld.param.b32 %r2, [q];\n\t}\n"
            "\tadd.u32 %r2, %r2, 1;\n\tst.param.b32 [r], %r2;\n\tret;\n}\n")
    body = ("\t{\n\t.param .b32 p;\n\tst.param.b32 [p], %r1;\n\t.param .b32 q;\n\tcall.uni (q), down, (p);\n\tld.param.b32 %r2, [q];\n\t}\n")
    return HEAD + func + ENTRY + REGS + START + body + "\tst.global.u32 [%rd7], %r2;\n\tret;\n}\n"


SHAPES = {"ladder": ladder, "exits": exits, "loads": loads, "calls": calls}
if len(sys.argv) != 3 or sys.argv[1] not in SHAPES:
    sys.exit(__doc__)
sys.stdout.write(SHAPES[sys.argv[1]](int(sys.argv[2])))
