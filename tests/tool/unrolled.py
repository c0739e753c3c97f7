#!/usr/bin/env python3
"""Which loops ptxas unrolls: python3 tests/tool/unrolled.py [--rule | --record] [FILE.ptx...]

Compiles each file as it is and with .pragma "nounroll" at every label, and compares the instructions of each kernel.
--rule: loops of a few lines, each of so many instructions. --record: writes those loops and what ptxas does with them,
and with the kernels of kernels/ and tests/suites/, to tests/golden/loops.ptx and unrolled.txt, and
the registers of tests/suites to registers.txt, and loops of many sums with their registers to sums.ptx and sums.txt; tests/unit/test_sim_time_unroll.c holds the simulated device against them. Needs ptxas (sass.py says where)."""
import collections, glob, os, re, struct, subprocess, sys, tempfile
import sass

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../..')
NOP = 0x118                # the low nine bits of an instruction of sm_70 and later


def compiled(text):
    """{kernel: (instructions,)}; empty where ptxas refuses."""
    elf, _ = sass.cubin(text, 'sm_90')
    out = {}
    for name, code in sass.sections(elf) if elf else ():
        if name.startswith('.text.'):
            ops = collections.Counter(struct.unpack_from('<Q', code, i)[0] & 0x1ff for i in range(0, len(code), 16))
            out[name[6:]] = (sum(ops.values()) - ops[NOP],)
    return out


def without(text):
    return re.sub(r'(?m)^(\$?[A-Za-z_][\w$]*:)$', r'\1\n.pragma "nounroll";', text)


HEAD = '.version 8.0\n.target sm_90\n.address_size 64\n'


def kernel(name, body, test='setp.lt.s32 %p1, %r6, %r1;', step='add.s32 %r6, %r6, 1;', pre=''):
    return '''.visible .entry %s(.param .u64 a, .param .u32 n, .param .u32 m, .param .u64 e)
{
	.reg .pred %%p<4>;
	.reg .f32 %%f<80>;
	.reg .b32 %%r<12>;
	.reg .b64 %%d<12>;
	ld.param.u64 %%d1, [a];
	ld.param.u64 %%d8, [e];
	ld.param.u32 %%r1, [n];
	ld.param.u32 %%r2, [m];
	mov.u64 %%d2, %%d1;
	mov.f32 %%f1, 0f00000000;
	mov.f32 %%f2, 0f3F7FFFEF;
	mov.u32 %%r6, 0;
	%s
L:
%s	%s
	%s
	@%%p1 bra L;
	st.global.f32 [%%d2], %%f1;
	ret;
}
''' % (name, pre, body, step, test)


FMA = '\tfma.rn.f32 %f1, %f1, %f2, %f2;\n'
LOAD = '\tld.global.f32 %f3, [%d1];\n\tadd.f32 %f1, %f1, %f3;\n\tadd.s64 %d1, %d1, 4;\n'
STORE = '\tst.global.f32 [%%d8+%d], %%f1;\n'


def loads(n, space='global'):
    return ''.join('\tld.%s.f32 %%f%d, [%%d1+%d];\n\tadd.f32 %%f1, %%f1, %%f%d;\n' % (space, 3 + i, 4 * i, 3 + i)
                   for i in range(n)) + '\tadd.s64 %%d1, %%d1, %d;\n' % (4 * n)


def loops():
    """{name: text} of loops on both sides of each limit."""
    to = {}
    for k in (1, 8, 18, 19, 24):
        to['fma_%d' % k] = (FMA * k,)
    for k, n in ((1, 43), (1, 44), (4, 34), (4, 35), (8, 22), (8, 23), (14, 0), (16, 0)):
        to['loads_%d_fma_%d' % (k, n)] = (loads(k) + FMA * n,)
    for n in (15, 16):
        to['constant_load_fma_%d' % n] = (loads(1, 'const') + FMA * n,)
    for n in (21, 22):
        to['load_stores_%d' % n] = (LOAD + ''.join(STORE % (4 * i) for i in range(n)),)
        to['load_products_%d' % n] = (LOAD + '\tmul.f32 %f4, %f1, %f2;\n\tadd.f32 %f1, %f1, %f4;\n' * n,)
    for n in (16, 17):
        to['store_fma_%d' % n] = (STORE % 0 + FMA * n,)
    for n in (3, 4):
        to['ex2_%d' % n] = ('\tex2.approx.f32 %f1, %f1;\n' * n,)
        to['sqrt_%d' % n] = ('\tsqrt.approx.f32 %f1, %f1;\n' * n,)
    for n in (6, 7):
        to['div_full_%d' % n] = ('\tdiv.full.f32 %f1, %f1, %f2;\n' * n,)
    for n in (18, 19):
        to['sums_64_%d' % n] = ('\tadd.s64 %d2, %d2, %d8;\n' * n,)
    index = '\tmul.wide.s32 %d3, %r6, 4;\n\tadd.s64 %d4, %d8, %d3;\n\tld.global.f32 %f3, [%d4];\n\tadd.f32 %f1, %f1, %f3;\n'
    to['index'] = (index,)
    to['by_register'] = (LOAD, 'setp.lt.s32 %p1, %r6, %r1;', 'add.s32 %r6, %r6, %r2;')
    to['halves'] = (LOAD, 'setp.gt.s32 %p1, %r6, 0;', 'shr.s32 %r6, %r6, 1;', 'mov.u32 %r6, %r1;')
    to['down'] = (LOAD, 'setp.ne.s32 %p1, %r6, 0;', 'add.s32 %r6, %r6, -1;', 'mov.u32 %r6, %r1;')
    to['to_pointer'] = (LOAD, 'setp.lt.u64 %p1, %d1, %d8;', '')
    to['to_thread'] = (LOAD, 'setp.lt.s32 %p1, %r6, %r8;', 'add.s32 %r6, %r6, 1;', 'mov.u32 %r8, %tid.x;')
    to['by_copy'] = (LOAD, 'setp.lt.s32 %p1, %r9, %r1;\n\tmov.u32 %r6, %r9;', 'add.s32 %r9, %r6, 1;')
    to['negated'] = (LOAD, 'setp.ge.s32 %p2, %r6, %r1;\n\tnot.pred %p1, %p2;')
    to['to_data'] = (LOAD, 'setp.gt.f32 %p1, %f3, 0f00000000;')
    to['known_16'] = (FMA * 8, 'setp.lt.s32 %p1, %r6, 16;')
    to['known_200'] = (FMA * 30, 'setp.lt.s32 %p1, %r6, 200;')
    to['kept'] = ('\t.pragma "nounroll";\n' + LOAD,)
    return {name: kernel(name, *how) for name, how in to.items()}


def sums(k, n=64):
    """A loop of n loads, each added to one of k sums that stay."""
    each = range(n)
    return (HEAD + '.visible .entry sums_%d(.param .u64 a, .param .u64 e, .param .u32 n)\n{\n\t.reg .f32 %%s<%d>;\n\t.reg .f32 %%l<%d>;\n\t.reg .b64 %%d<4>;\n\t.reg .b32 %%r<3>;\n\t.reg .pred %%p1;\n'
            '\tld.param.u64 %%d1, [a];\n\tld.param.u64 %%d2, [e];\n\tld.param.u32 %%r1, [n];\n\tmov.u32 %%r2, %%tid.x;\n\tmul.wide.u32 %%d3, %%r2, 4;\n\tadd.s64 %%d1, %%d1, %%d3;\n\tadd.s64 %%d2, %%d2, %%d3;\n' % (k, k, n)
            + ''.join('\tld.global.f32 %%s%d, [%%d2+%d];\n' % (i, 4096 * i) for i in range(k)) + 'L:\n\t.pragma "nounroll";\n'
            + ''.join('\tld.global.f32 %%l%d, [%%d1+%d];\n\tfma.rn.f32 %%s%d, %%l%d, %%s%d, %%s%d;\n' % (j, 4096 * j, j % k, j, (j + 1) % k, j % k) for j in each)
            + '\tadd.s64 %%d1, %%d1, %d;\n\tadd.s32 %%r1, %%r1, -1;\n\tsetp.ne.s32 %%p1, %%r1, 0;\n\t@%%p1 bra L;\n' % (4096 * n)
            + ''.join('\tst.global.f32 [%%d2+%d], %%s%d;\n' % (4096 * i, i) for i in range(k)) + '\tret;\n}\n')


SUMS = (8, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96)


def rule():
    for k in SUMS:
        print('%3d sums of 64 loads: %s registers' % (k, registers(sums(k)).get('sums_%d' % k)))
    for name, text in loops().items():
        print('%-22s %5d instructions, %4d without unrolling' % (name, compiled(HEAD + text)[name][0], compiled(HEAD + without(text))[name][0]))


def larger(text):
    """{kernel: what ptxas makes of it is larger for its unrolling}"""
    plain, kept = compiled(text), compiled(without(text))
    return {k: plain[k][0] > 1.1 * kept[k][0] for k in sorted(set(plain) & set(kept))}


def promised(text, ctas):
    """With what `ctas` CTAs of 256 threads leave a thread, for every kernel."""
    return re.sub(r'(?s)(\.entry\s+[\w$]+\s*\([^)]*\))', r'\1\n.maxntid 256\n.minnctapersm %d\n' % ctas, text)


def registers(text):
    with tempfile.TemporaryDirectory() as folder:
        ptx = os.path.join(folder, 'x.ptx')
        open(ptx, 'w', encoding='utf-8').write(text)
        said = subprocess.run([sass.PTXAS, '-arch=sm_90', '-v', ptx, '-o', ptx + '.cubin'], capture_output=True, text=True).stderr
    return dict(re.findall(r"Compiling entry function '([^']+)'.*?Used (\d+) registers", said, re.S))


def record_registers(golden):
    with open(os.path.join(golden, 'registers.txt'), 'w', encoding='utf-8') as f:
        f.write('# File, kernel, registers of ptxas 13.0 for sm_90 as it is, and with .maxntid 256 and .minnctapersm 6, 4, 1.\n'
                '# Written by tests/tool/unrolled.py --record.\n')
        for path in sorted(glob.glob(os.path.join(ROOT, 'tests/suites/*.ptx'))):
            text = open(path, encoding='utf-8').read()
            each = [registers(text)] + [registers(promised(text, n)) for n in (6, 4, 1)]
            for name in sorted(each[0]):
                f.write(' '.join([os.path.relpath(path, ROOT), name] + [e.get(name, '-') for e in each]) + '\n')


def record():
    golden = os.path.join(ROOT, 'tests/golden')
    with open(os.path.join(golden, 'loops.ptx'), 'w', encoding='utf-8') as f:
        f.write(HEAD + '\n'.join(loops().values()))
    files = ['tests/golden/loops.ptx'] + sorted(os.path.relpath(p, ROOT) for d in ('kernels', 'tests/suites')
                                                for p in glob.glob(os.path.join(ROOT, d, '*.ptx')))
    with open(os.path.join(golden, 'unrolled.txt'), 'w', encoding='utf-8') as f:
        f.write('# File, kernel, what ptxas 13.0 for sm_90 does with its loops. Written by tests/tool/unrolled.py --record.\n')
        for path in files:
            for name, is_larger in larger(open(os.path.join(ROOT, path), encoding='utf-8').read()).items():
                f.write('%s %s %s\n' % (path, name, 'unrolled' if is_larger else 'kept'))
    with open(os.path.join(golden, 'sums.ptx'), 'w', encoding='utf-8') as f:
        f.write(HEAD + ''.join(sums(k)[len(HEAD):] for k in SUMS))
    with open(os.path.join(golden, 'sums.txt'), 'w', encoding='utf-8') as f:
        f.write('# Kernel of sums.ptx, registers of ptxas 13.0 for sm_90. Written by tests/tool/unrolled.py --record.\n')
        for k in SUMS:
            f.write('sums_%d %s\n' % (k, registers(sums(k))['sums_%d' % k]))
    record_registers(golden)


if '--rule' in sys.argv:
    rule()
if '--record' in sys.argv:
    record()
for path in [p for p in sys.argv[1:] if not p.startswith('--')]:
    for name, is_larger in larger(open(path, encoding='utf-8').read()).items():
        if is_larger:
            print(os.path.basename(path), name)
