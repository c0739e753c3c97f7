#!/usr/bin/env python3
"""Which loads and stores of shared memory ptxas joins: python3 tests/tool/joined.py [--record]

Writes kernels of a few of them to tests/golden/joined.ptx, each named by how many of 4, 8 and 16 bytes ptxas makes of it for sm_90, a digit each; without
--record says where that is no longer so. tests/unit/test_sim_time_plan.c holds the simulated device against it."""
import os, re, struct, sys
import sass

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../golden/joined.ptx')
LDS, STS = 0x184, 0x188 # the low nine bits
WIDTH = {4: 0, 5: 1, 6: 2}
HEAD = '.version 8.0\n.target sm_90\n.address_size 64\n'
LOOP = 'mov.u32 %r70, 0; add.u32 %r72, %r1, {start}; L: {pragma} {loads} mad.lo.u32 %r40, %r10, %r40, %r11; mad.lo.u32 %r40, %r12, %r40, %r13; ' \
       'add.u32 %r72, %r72, {step}; add.u32 %r70, %r70, 1; setp.lt.u32 %p2, %r70, {end}; @%p2 bra L; mov.u32 %r10, %r40;'


def loads(offsets, op='ld.shared.u32', at='%r1', between='', first=10):
    return (' ' + between + ' ').join('%s %%r%d, [%s+%d];' % (op, first + i, at, o) for i, o in enumerate(offsets))


def stores(offsets, op='st.shared.u32', between='', at='%r1'):
    return (' ' + between + ' ').join('%s [%s+%d], %%r%d;' % (op, at, o, 10 + i % 4) for i, o in enumerate(offsets))


def loop(offsets, start='0', step='16', pragma='.pragma "nounroll";', end='%r6'):
    return LOOP.format(loads=loads(offsets, at='%r72'), start=start, step=step, pragma=pragma, end=end)


ALL = [0, 4, 8, 12]
# name -> what is loaded; the lines that make the address, %r4; the variables
ORDER = {'four': ALL, 'back': [12, 8, 4, 0], 'mixed': [8, 0, 12, 4], 'low': [0, 4, 64, 72], 'high': [8, 12, 64, 72], 'middle': [4, 8, 64, 72], 'without_0': [4, 8, 12, 64],
         'without_4': [0, 8, 12, 64], 'without_8': [0, 4, 12, 64], 'without_12': [0, 4, 8, 64], 'apart': [0, 8, 64, 80], 'ends': [0, 12, 64, 80], 'over': [4, 8, 12, 16], 'halves': [8, 12, 16, 20]}
ADDRESS = {'shl4': 'shl.b32 %r4, %r0, 4;', 'shl3': 'shl.b32 %r4, %r0, 3;', 'shl2': 'shl.b32 %r4, %r0, 2;', 'mul48': 'mul.lo.u32 %r4, %r0, 48;', 'mul24': 'mul.lo.u32 %r4, %r0, 24;',
           'mad': 'mov.u32 %r8, %ctaid.x; shl.b32 %r9, %r8, 5; mad.lo.u32 %r4, %r0, 272, %r9;', 'mask': 'and.b32 %r4, %r0, -16;', 'bits': 'mul.lo.u32 %r9, %r6, %r0; and.b32 %r4, %r9, 1008;',
           'wide': 'mul.wide.u32 %d9, %r0, 16; cvt.u32.u64 %r4, %d9;', 'steps': 'shl.b32 %r8, %r0, 2; mul.lo.u32 %r9, %r8, %r6; shl.b32 %r4, %r9, 2;', 'unknown': 'shl.b32 %r8, %r6, 4; mul.lo.u32 %r4, %r0, %r8;',
           'xor': 'shl.b32 %r8, %r0, 4; shl.b32 %r9, %r6, 5; xor.b32 %r4, %r8, %r9;', 'or': 'shl.b32 %r8, %r0, 6; or.b32 %r4, %r8, 16;', 'sub': 'shl.b32 %r8, %r0, 4; sub.u32 %r4, 4096, %r8;',
           'least': 'shl.b32 %r8, %r0, 4; min.u32 %r4, %r8, 512;', 'choice': 'shl.b32 %r8, %r0, 4; setp.lt.u32 %p1, %r0, %r6; selp.b32 %r4, %r8, 264, %p1;', 'shr': 'shl.b32 %r8, %r0, 8; shr.u32 %r4, %r8, 4;',
           'rest': 'shl.b32 %r8, %r0, 4; rem.u32 %r4, %r8, 4096;', 'loaded': 'ld.global.u32 %r8, [%d5]; shl.b32 %r4, %r8, 4;', 'anything': 'ld.global.u32 %r4, [%d5];', 'eight': 'shl.b32 %r8, %r0, 4; add.u32 %r4, %r8, 8;',
           'four': 'shl.b32 %r8, %r0, 4; add.u32 %r4, %r8, 4;', 'bfi': 'mov.u32 %r8, 0; bfi.b32 %r4, %r0, %r8, 4, 28;', 'double': 'shl.b32 %r8, %r0, 2; shl.b32 %r9, %r6, 2; mul.lo.u32 %r4, %r8, %r9;'}
BETWEEN = {'sum': 'add.u32 %r40, %r40, %r0;', 'load': 'ld.volatile.shared.u32 %r20, [%r3]; add.u32 %r40, %r40, %r20;', 'store': 'st.shared.u32 [%r3+2048], %r0;', 'global': 'st.global.u32 [%d2], %r0;', 'generic': 'st.u32 [%d2], %r0;',
           'barrier': 'bar.sync 0;', 'fence': 'membar.cta;', 'add': 'red.global.add.u32 [%d2], %r0;', 'add_shared': 'red.shared.add.u32 [%r3], %r0;', 'shuffle': 'shfl.sync.bfly.b32 %r40, %r40, 1, 31, 0xffffffff;'}
AFTER = {'offset': ('add.u32 %r71, %r1, 284;', '%r71', [-284, -280, -276, -272]), 'offset_4': ('add.u32 %r71, %r1, 4;', '%r71', ALL), 'offset_8': ('add.u32 %r71, %r1, 8;', '%r71', ALL),
         'two_ways': ('setp.lt.u32 %p1, %r0, %r6; @%p1 bra A; add.u32 %r1, %r1, 64; bra B; A: mul.lo.u32 %r9, %r6, 32; add.u32 %r1, %r1, %r9; B:', '%r1', ALL),
         'two_ways_4': ('setp.lt.u32 %p1, %r0, %r6; @%p1 bra A; add.u32 %r1, %r1, 64; bra B; A: mul.lo.u32 %r9, %r6, 4; add.u32 %r1, %r1, %r9; B:', '%r1', ALL)}
PLACE = {'align_4': '.shared .align 4 .b8 s[8192];', 'behind_4100': '.shared .align 4 .b8 t[4100]; .shared .align 4 .b8 s[8192];', 'behind_4104': '.shared .align 4 .b8 t[4104]; .shared .align 4 .b8 s[8192];',
         'behind_4112': '.shared .align 4 .b8 t[4112]; .shared .align 4 .b8 s[8192];', 'align_16': '.shared .align 4 .b8 t[4100]; .shared .align 16 .b8 s[8192];', 'before': '.shared .align 4 .b8 s[8192]; .shared .align 4 .b8 t[4100];'}
LOOPS = {'by_16': loop(ALL), 'by_8': loop(ALL, step='8'), 'by_4': loop(ALL, step='4'), 'from_4': loop(ALL, start='4'), 'from_284': loop([-284, -280, -276, -272], start='284', step='544')}
WHOLE = {'whole_284': loop([-284, -280, -276, -272], start='284', step='544', pragma='', end='8'), 'whole_8': loop(ALL, start='8', step='32', pragma='', end='8')}
TYPES = {'v2': 'ld.shared.v2.u32 {%r10, %r11}, [%r1]; ld.shared.v2.u32 {%r12, %r13}, [%r1+8];', 'v2_and_one': 'ld.shared.v2.u32 {%r10, %r11}, [%r1]; ld.shared.u32 %r12, [%r1+12]; ld.shared.u32 %r13, [%r1+64];',
         'v4_and_two': 'ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r1]; ld.shared.u32 %r20, [%r1+4]; ld.shared.u32 %r21, [%r1+8]; mad.lo.u32 %r40, %r20, %r40, %r21;',
         'f64': '.reg .f64 %g<4>; ld.shared.f64 %g1, [%r1]; ld.shared.f64 %g2, [%r1+8]; fma.rn.f64 %g3, %g1, %g2, %g1; st.global.f64 [%d2+64], %g3;', 'volatile': loads(ALL, op='ld.volatile.shared.u32'),
         'byte': loads([0, 1, 2, 3], op='ld.shared.u8'), 'symbol': loads(ALL, at='s'), 'types': '.reg .f32 %f<3>; ld.shared.u32 %r10, [%r1]; ld.shared.f32 %f1, [%r1+4]; ld.shared.s32 %r12, [%r1+8]; ld.shared.b32 %r13, [%r1+12]; mov.b32 %r11, %f1;',
         'long_and_words': 'ld.shared.u64 %d10, [%r1]; ld.shared.u32 %r11, [%r1+8]; ld.shared.u32 %r12, [%r1+12]; cvt.u32.u64 %r10, %d10; shr.u64 %d11, %d10, 32; cvt.u32.u64 %r13, %d11;',
         'two_places': loads([0, 4, 2048, 2052, 8, 12, 2056, 2060]) + ' mad.lo.u32 %r40, %r14, %r40, %r15; mad.lo.u32 %r40, %r16, %r40, %r17;'}
STORES = {'four': stores(ALL), 'back': stores([12, 8, 4, 0]), 'mixed': stores([0, 8, 4, 12]), 'low': stores([0, 4, 64, 72]), 'three': stores([0, 4, 8, 64]), 'three_high': stores([4, 8, 12, 64]), 'middle': stores([4, 8, 64, 80]),
          'twice': stores([0, 4, 0, 8, 12]), 'by_turns': stores([0, 64, 4, 68]), 'two_rows': stores([0, 4, 8, 12, 64, 68, 72, 76]), 'over': stores([4, 8, 12, 16]), 'volatile': stores(ALL, op='st.volatile.shared.u32'),
          'global': stores(ALL, between='st.global.u32 [%d2], %r0;'), 'barrier': stores(ALL, between='bar.sync 0;'), 'load': stores([0, 4], between='ld.shared.u32 %r20, [%r3]; add.u32 %r40, %r40, %r20;'),
          'v2': 'st.shared.v2.u32 [%r1], {%r10, %r11}; st.shared.v2.u32 [%r1+8], {%r12, %r13};', 'byte': stores([0, 1, 2, 3], op='st.shared.u8'),
          'guarded': 'setp.lt.u32 %p1, %r0, %r6; ' + stores(ALL, op='@%p1 st.shared.u32')}


def kernel(name, body, address='shl.b32 %r4, %r0, 4;', place='.shared .align 16 .b8 s[8192];', store=False):
    place = re.sub(r'\b([st])\[', r'\1_%s[' % name, place)
    rename = lambda text: re.sub(r'\[s\+', '[s_%s+' % name, re.sub(r'\b([ABL])\b(?=[:;])', r'\1_%s' % name, text))
    use = 'st.volatile.shared.u8 [t_%s], %%r0;' % name if ' t_' in place else ''
    values = 'ld.global.u32 %r10, [%d5]; ld.global.u32 %r11, [%d5+400]; ld.global.u32 %r12, [%d5+800]; ld.global.u32 %r13, [%d5+1200];'
    text = '''.visible .entry %s(.param .u64 p, .param .u64 q, .param .u32 u)
{
	.reg .pred %%p<3>;
	.reg .b32 %%r<80>;
	.reg .b64 %%d<12>;
	%s
	ld.param.u64 %%d3, [p]; ld.param.u64 %%d2, [q]; ld.param.u32 %%r6, [u];
	mov.u32 %%r0, %%tid.x; mul.wide.u32 %%d4, %%r0, 4; add.u64 %%d5, %%d2, %%d4;
	mov.u32 %%r2, s_%s; mov.u32 %%r40, %%r6;
	%s
	add.u32 %%r1, %%r2, %%r4; shl.b32 %%r7, %%r0, 2; add.u32 %%r3, %%r2, %%r7;
	%s %s
	bar.sync 0;
	%s
	%s
	ret;
}
''' % (name, place, name, address, use, values if store else '', rename(body),
       '' if store else 'add.u32 %r50, %r10, %r11; mad.lo.u32 %r50, %r50, %r12, %r13; add.u32 %r50, %r50, %r40; st.global.u32 [%d5], %r50;')
    if store:
        text = text.replace('\tret;', '\tst.global.u32 [%d5], %r40;\n\tret;')
    return text.replace('\t\n', '')


def made(text, which):
    elf, said = sass.cubin(text, 'sm_90')
    if not elf:
        sys.exit(said + text)
    code, n = next(c for s, c in sass.sections(elf) if s.startswith('.text.')), [0, 0, 0]
    for i in range(0, len(code), 16):
        low, high = struct.unpack_from('<QQ', code, i)
        if low & 0x1ff == which:
            n[WIDTH.get(high >> 9 & 7, 0)] += 1
    return n


def cases():
    for n, offsets in ORDER.items():
        yield 'order_' + n, dict(body=loads(offsets))
    for n, address in ADDRESS.items():
        yield 'address_' + n, dict(body=loads(ALL), address=address)
    for n, between in BETWEEN.items():
        yield 'between_' + n, dict(body=loads(ALL, between=between))
    for n, (lines, at, offsets) in AFTER.items():
        yield 'after_' + n, dict(body=lines + ' ' + loads(offsets, at=at))
    for n, place in PLACE.items():
        yield 'place_' + n, dict(body=loads(ALL), place=place)
    for n, body in (LOOPS | WHOLE).items():
        yield 'loop_' + n, dict(body=body)
    for n, body in TYPES.items():
        yield 'type_' + n, dict(body=body)
    for n, body in STORES.items():
        yield 'store_' + n, dict(body=body, store=True)


out = HEAD
for name, given in cases():
    n = made(HEAD + kernel(name, **given), STS if given.get('store') else LDS)
    if name.startswith('loop_whole'):
        n = [k // 8 for k in n] # eight copies of one turn
    out += kernel('%s_%d%d%d' % (name, *n), **given)
if '--record' in sys.argv:
    open(FILE, 'w').write(out)
elif open(FILE).read() != out:
    sys.exit('ptxas makes others than tests/golden/joined.ptx has')
