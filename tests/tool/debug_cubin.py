#!/usr/bin/env python3
"""A cubin as nvcc -lineinfo leaves it, without instructions: python3 tests/tool/debug_cubin.py PTX-FILE KERNEL > FILE.cubin"""
import struct, sys

text = open(sys.argv[1], "rb").read()
names = [b"", b".shstrtab", b".nv_debug_ptx_txt", b".nv.constant0." + sys.argv[2].encode()]
table = b"".join(n + b"\0" for n in names)
parts = [b"", table, bytes(8) + text.replace(b"\n", b"\0"), bytes(8)]
head, at, sections, name = 64, 64, b"", 0
for n, p in zip(names, parts):
    sections += struct.pack("<IIQQQQIIQQ", name, 1 if n else 0, 0, 0, at, len(p), 0, 0, 1, 0)
    at, name = at + len(p), name + len(n) + 1
ident = b"\x7fELF\2\1\1\x33\7" + bytes(7)
elf = ident + struct.pack("<HHIQQQIHHHHHH", 2, 190, 0x80, 0, 0, at, 90, head, 0, 0, 64, len(parts), 1)
sys.stdout.buffer.write(elf + b"".join(parts) + sections)
