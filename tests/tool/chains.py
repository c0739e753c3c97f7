#!/usr/bin/env python3
"""How far ahead of their uses ptxas puts loads that a long chain uses one after another: python3 tests/tool/chains.py [--record]

Each kernel is a chain of so many links in one block; a link uses one byte that is loaded by itself, then so many multiply-adds, then loads through the
chain's value. Counted are the byte loads that issue before the chain's first instruction, in machine code. --record writes the kernels and
the counts to tests/golden/chains.ptx and chains.txt, which tests/unit/test_sim_time_unroll.c holds the simulated device against. Needs ptxas (sass.py says where)."""
import os, struct, sys
import sass

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../golden')
HEAD = '.version 8.0\n.target sm_90\n.address_size 64\n'
LINKS = 20
# name: multiply-adds a link, memory that the link reads through, how often
CHAINS = {'adds_%d' % n: (n, '', 0) for n in (4, 6, 8, 12, 16, 24, 32, 48, 80)}
CHAINS.update({'%s_%d_%d' % (space, n, m): (m, space, n) for space in ('shared', 'global') for n in (1, 2) for m in (0, 8)})
LDG = 0x181                # the low nine bits of an instruction


def kernel(name, adds, space, reads):
    out = ('.visible .entry %s(.param .u64 a, .param .u64 t, .param .u64 o)\n{\n\t.reg .b32 %%r<100>;\n\t.reg .b64 %%d<100>;\n'
           '\tld.param.u64 %%d1, [a];\n\tld.param.u64 %%d2, [t];\n\tld.param.u64 %%d3, [o];\n\tmov.u32 %%r1, %%tid.x;\n'
           '\tmul.wide.u32 %%d4, %%r1, 32;\n\tadd.s64 %%d5, %%d1, %%d4;\n\tmov.u32 %%r2, 7;\n' % name)
    for k in range(LINKS):
        out += '\tld.global.u8 %%r%d, [%%d5+%d];\n\tadd.s32 %%r2, %%r2, %%r%d;\n' % (10 + k, k, 10 + k)
        out += '\tmad.lo.s32 %r2, %r2, %r2, %r1;\n' * adds
        for _ in range(reads):
            out += '\tmul.wide.u32 %%d10, %%r2, 4;\n\tadd.s64 %%d11, %%d2, %%d10;\n\tld.%s.u32 %%r2, [%%d11];\n' % space
    return out + '\tst.global.u32 [%d3], %r2;\n\tret;\n}\n'


def ahead(code):
    """Byte loads before the first instruction that stands between two of them."""
    ops = [struct.unpack_from('<QQ', code, at) for at in range(0, len(code) - 15, 16)]
    is_byte = [low & 0x1ff == LDG and high >> 9 & 7 == 0 for low, high in ops]
    first = is_byte.index(True)
    return is_byte.index(False, first) - first


def counts():
    elf, said = sass.cubin(HEAD + ''.join(kernel(n, *c) for n, c in CHAINS.items()), 'sm_90')
    if not elf:
        sys.exit(said)
    return {name[6:]: ahead(code) for name, code in sass.sections(elf) if name.startswith('.text.')}


found = counts()
for name in CHAINS:
    print('%-12s %2d loads first' % (name, found[name]))
if '--record' in sys.argv:
    with open(os.path.join(GOLDEN, 'chains.ptx'), 'w', encoding='utf-8') as f:
        f.write(HEAD + ''.join(kernel(n, *c) for n, c in CHAINS.items()))
    with open(os.path.join(GOLDEN, 'chains.txt'), 'w', encoding='utf-8') as f:
        f.write('# Kernel of chains.ptx, loads that ptxas 13.0 for sm_90 puts before the chain. Written by tests/tool/chains.py --record.\n')
        for name in CHAINS:
            f.write('%s %d\n' % (name, found[name]))
