#!/usr/bin/env python3
"""On which pipe ptxas puts additions and left shifts: python3 tests/tool/pipes.py

Compiles loops of a few instructions and counts opcodes: IADD3, SHF and LEA are the integer pipe's, IMAD is the multiplier's. Needs ptxas (sass.py says where)."""
import collections, struct
import sass

OPS = {0x10: 'IADD3', 0x12: 'LOP3', 0x19: 'SHF', 0x24: 'IMAD', 0x48: 'VIMNMX', 0x11: 'LEA', 0x23: 'FFMA'} # the low byte, sm_90
TEXT = {'shl': 'shl.b32 {d}, {d}, 5;', 'shr': 'shr.u32 {d}, {d}, 3;', 'xor': 'xor.b32 {d}, {d}, {s};', 'add': 'add.u32 {d}, {d}, {s};',
        'mul': 'mul.lo.u32 {d}, {d}, {s};', 'min': 'min.s32 {d}, {d}, {s};', 'fma': 'fma.rn.f32 {d}, {d}, {s}, {d};'}
LOOPS = (['add'] * 16, ['add', 'xor'] * 16, ['add', 'xor', 'xor'] * 16, ['add', 'mul'] * 16, ['add', 'mul', 'mul'] * 16, ['add', 'min'] * 16, ['add', 'fma'] * 16,
         ['add', 'xor', 'mul'] * 16, ['shl', 'xor'] * 16, ['shl', 'shr', 'xor', 'xor', 'add'] * 8)


def kernel(body):
    regs = ['%%r%d' % (10 + i) for i in range(8)]
    lines = ['ld.global.u32 %s, [%%d1+%d];' % (r, 4096 * i) for i, r in enumerate(regs)] + ['L:', '.pragma "nounroll";']
    lines += [TEXT[b].format(d=regs[i % 8], s=regs[(i + 3) % 8]) for i, b in enumerate(body)]
    lines += ['add.s32 %r1, %r1, -1;', 'setp.ne.s32 %p1, %r1, 0;', '@%p1 bra L;'] + ['st.global.u32 [%%d1+%d], %s;' % (4096 * i, r) for i, r in enumerate(regs)]
    return ('.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry f(.param .u64 o, .param .u32 n)\n{\n.reg .b32 %r<20>;\n.reg .b64 %d<4>;\n.reg .pred %p<2>;\n'
            'ld.param.u64 %d1, [o];\nld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\nmul.wide.u32 %d2, %r2, 4;\nadd.s64 %d1, %d1, %d2;\n' + '\n'.join(lines) + '\nret;\n}\n')


def opcodes(text):
    elf, why = sass.cubin(text, 'sm_90')
    if elf is None:
        raise SystemExit(why)
    code = next(data for name, data in sass.sections(elf) if name == '.text.f')
    return collections.Counter(OPS.get(struct.unpack_from('<Q', code, i)[0] & 0xff) for i in range(0, len(code), 16))


empty = opcodes(kernel([]))
for body in LOOPS:
    more = opcodes(kernel(body))
    more.subtract(empty)
    print('%-32s %s' % (', '.join('%d %s' % (n, b) for b, n in collections.Counter(body).items()), '  '.join('%s %d' % (k, v) for k, v in sorted(more.items(), key=str) if k and v > 0)))
