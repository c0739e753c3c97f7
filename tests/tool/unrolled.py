#!/usr/bin/env python3
"""Which loops ptxas unrolls: python3 tests/tool/unrolled.py [--rule] [FILE.ptx...]

Compiles each file as it is and with .pragma "nounroll" at every label, and compares the instructions of each kernel.
--rule: loops of a few lines instead, each of so many instructions. Needs ptxas (PATH, or CUDA_HOME)."""
import collections, os, re, shutil, struct, subprocess, sys, tempfile

PTXAS = shutil.which('ptxas') or os.path.join(os.environ.get('CUDA_HOME', '/usr/local/cuda'), 'bin/ptxas')
FFMA, LDG, NOP = 0x023, 0x181, 0x118                # the low nine bits of an instruction of sm_70 and later


def compiled(text):
    """{kernel: (instructions, loads, multiply-adds)}; empty where ptxas refuses."""
    with tempfile.TemporaryDirectory() as folder:
        ptx, cubin = os.path.join(folder, 'x.ptx'), os.path.join(folder, 'x.cubin')
        open(ptx, 'w', encoding='utf-8').write(text)
        if subprocess.run([PTXAS, '-arch=sm_90', ptx, '-o', cubin], capture_output=True).returncode:
            return {}
        data, out = open(cubin, 'rb').read(), {}
    table, (n, names) = struct.unpack_from('<Q', data, 0x28)[0], struct.unpack_from('<HH', data, 0x3c)
    sections = [struct.unpack_from('<IIQQQQIIQQ', data, table + 64 * i) for i in range(n)]
    for s in sections:
        name = data[sections[names][4] + s[0]:].split(b'\0')[0].decode()
        if name.startswith('.text.'):
            code = data[s[4]:s[4] + s[5]]
            ops = collections.Counter(struct.unpack_from('<Q', code, i)[0] & 0x1ff for i in range(0, len(code), 16))
            out[name[6:]] = (sum(ops.values()) - ops[NOP], ops[LDG], ops[FFMA])
    return out


def without(text):
    return re.sub(r'(?m)^(\$?[A-Za-z_][\w$]*:)$', r'\1\n.pragma "nounroll";', text)


def loop(body, test):
    return '''.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{
	.reg .pred %%p<3>;
	.reg .f32 %%f<80>;
	.reg .b32 %%r<8>;
	.reg .b64 %%d<4>;
	ld.param.u64 %%d1, [a];
	ld.param.u32 %%r1, [n];
	mov.u64 %%d2, %%d1;
	mov.f32 %%f1, 0f00000000;
	mov.f32 %%f2, 0f3F7FFFEF;
	mov.u32 %%r6, 0;
L:
%s	add.s32 %%r6, %%r6, 1;
	%s
	@%%p1 bra L;
	st.global.f32 [%%d2], %%f1;
	ret;
}
''' % (body, test)


def rule():
    to_n, fma = 'setp.lt.s32 %p1, %r6, %r1;', '\tfma.rn.f32 %f1, %f1, %f2, %f2;\n'
    load = '\tld.global.f32 %f3, [%d1];\n\tadd.f32 %f1, %f1, %f3;\n\tadd.s64 %d1, %d1, 4;\n'
    cases = [('%d multiply-adds, to n' % k, fma * k, to_n) for k in (1, 4, 8, 16, 17, 20, 24, 48)]
    cases += [('a load, to n', load, to_n), ('a load, to a loaded value', load, 'setp.gt.f32 %p1, %f3, 0f00000000;'),
              ('a barrier', '\tbar.sync 0;\n' + fma, to_n), ('16 turns', fma, 'setp.lt.s32 %p1, %r6, 16;')]
    for name, body, test in cases:
        text = loop(body, test)
        print('%-28s %4d instructions, %4d without unrolling' % (name, compiled(text)['k'][0], compiled(without(text))['k'][0]))


if '--rule' in sys.argv:
    rule()
for path in [p for p in sys.argv[1:] if p != '--rule']:
    text = open(path, encoding='utf-8').read()
    plain, kept = compiled(text), compiled(without(text))
    for k in sorted(set(plain) & set(kept)):
        if plain[k][0] > 1.1 * kept[k][0]:
            print('%s %s: %d instructions for %d, %d loads for %d' % (os.path.basename(path), k, plain[k][0], kept[k][0], plain[k][1], kept[k][1]))
