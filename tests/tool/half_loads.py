#!/usr/bin/env python3
"""Does ptxas let a load wait for another of the same register under the opposite guard? python3 tests/tool/half_loads.py FILE.ptx

FILE: a kernel with loads in pairs, as `gpulocw rewrite ... --bypass-form predicate` prints them. Prints for each architecture how many global
loads are guarded, and of them those whose control bits wait for a result. tests/unit/test_sim_time_plan.c holds the simulated device to none."""
import struct, sys
import sass

LOADS = (0x181, 0x180) # the low nine bits of LDG and LD
text = open(sys.argv[1]).read()
for arch in ('sm_75', 'sm_80', 'sm_90', 'sm_100'):
    elf, said = sass.cubin(text, arch)
    if not elf:
        print('%s: %s' % (arch, said.splitlines()[0]))
        continue
    guarded = waits = 0
    for name, code in sass.sections(elf):
        for at in range(0, len(code) - 15 if name.startswith('.text.') else 0, 16):
            low, high = struct.unpack_from('<QQ', code, at)
            if low & 0x1ff in LOADS and low >> 12 & 7 != 7:
                guarded += 1
                waits += high >> 52 & 0x3f != 0
    print('%s: %d guarded loads, %d wait' % (arch, guarded, waits))
