#!/usr/bin/env python3
"""Which loads of one address ptxas makes once: python3 tests/tool/same_loads.py [--record]

Three loads of one address with something between them. Writes them to tests/golden/same_loads.ptx, each kernel named by how many loads ptxas
makes for sm_90; without --record says where that is no longer so. tests/unit/test_sim_time_plan.c holds the simulated device against it."""
import os, struct, sys
import sass

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../golden/same_loads.ptx')
GLOBAL, SHARED = 0x181, 0x184 # the low nine bits of LDG and LDS
LOADS = {'weak': ('ld.global.u32', '%d1'), 'nc': ('ld.global.nc.u32', '%d1'), 'cg': ('ld.global.cg.u32', '%d1'), 'first': ('ld.global.L1::evict_first.u32', '%d1'),
         'relaxed': ('ld.relaxed.gpu.global.u32', '%d1'), 'volatile': ('ld.volatile.global.u32', '%d1'), 'shared': ('ld.shared.u32', '%r1'), 'shared_volatile': ('ld.volatile.shared.u32', '%r1')}
BETWEEN = {'nothing': '', 'sum': 'add.u32 %r40, %r40, %r0;', 'barrier': 'bar.sync 0;', 'fence': 'membar.cta;', 'store': 'st.global.u32 [%d2], %r0;', 'add': 'red.global.add.u32 [%d2], %r0;',
           'store_shared': 'st.shared.u32 [%r3], %r0;', 'add_shared': 'red.shared.add.u32 [%r3], %r0;'}
HEAD = '.version 8.0\n.target sm_90\n.address_size 64\n'


def kernel(name, load, address, between):
    body = ('\t%s\n' % between).join('\t%s %%r%d, [%s];\n' % (load, 10 + i, address) for i in range(3))
    return '''.visible .entry %s(.param .u64 p, .param .u64 q)
{
	.reg .b64 %%d<6>;
	.reg .b32 %%r<50>;
	.shared .align 16 .b8 s_%s[4096];
	ld.param.u64 %%d3, [p];
	ld.param.u64 %%d2, [q];
	mov.u32 %%r0, %%tid.x;
	mul.wide.u32 %%d4, %%r0, 4;
	add.u64 %%d1, %%d3, %%d4;
	mov.u32 %%r2, s_%s;
	shl.b32 %%r4, %%r0, 2;
	add.u32 %%r1, %%r2, %%r4;
	add.u32 %%r3, %%r1, 2048;
	mov.u32 %%r40, 1;
	st.shared.u32 [%%r1+4], %%r0;
	bar.sync 0;
%s	add.u32 %%r20, %%r10, %%r11;
	mad.lo.u32 %%r21, %%r20, %%r12, %%r40;
	add.u64 %%d5, %%d2, %%d4;
	st.global.u32 [%%d5], %%r21;
	ret;
}
''' % (name, name, name, body)


def made(text):
    elf, said = sass.cubin(text, 'sm_90')
    if not elf:
        sys.exit(said)
    code = next(c for n, c in sass.sections(elf) if n.startswith('.text.'))
    return sum((struct.unpack_from('<Q', code, i)[0] & 0x1ff) in (GLOBAL, SHARED) for i in range(0, len(code), 16))


out = HEAD
for l, (load, address) in LOADS.items():
    for b, between in BETWEEN.items():
        name = l + '_' + b
        out += kernel('%s_%d' % (name, made(HEAD + kernel(name, load, address, between))), load, address, between)
if '--record' in sys.argv:
    open(FILE, 'w').write(out)
elif open(FILE).read() != out:
    sys.exit('ptxas makes other loads than tests/golden/same_loads.ptx has')
