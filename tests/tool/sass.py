"""The arithmetic that ptxas makes of PTX: floating-point instructions of a cubin, by name and registers.

Only what tells a fused multiplication and addition from two instructions is decoded (128-bit encodings, sm_70 and higher)."""
import os, shutil, struct, subprocess, tempfile

PTXAS = os.environ.get("PTXAS") or shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas"
# the low nine bits of an instruction
NAMES = {0x020: "FMUL", 0x021: "FADD", 0x023: "FFMA", 0x028: "DMUL", 0x029: "DADD", 0x02b: "DFMA",
         0x030: "HADD2", 0x031: "HFMA2", 0x035: "HFMA2", 0x032: "HMUL2", 0x043: "FFMA2", 0x046: "FADD2", 0x04a: "FMUL2", 0x025: "FFMA32I", 0x02a: "DSETP"}

def have():
    return os.access(PTXAS, os.X_OK)

def cubin(text, arch, *more):
    """The machine code of a text, or None and what ptxas said."""
    with tempfile.TemporaryDirectory() as d:
        src, out = os.path.join(d, "a.ptx"), os.path.join(d, "a.cubin")
        with open(src, "w") as f:
            f.write(text)
        r = subprocess.run([PTXAS, "-arch", arch, *more, src, "-o", out], capture_output=True, text=True)
        if r.returncode:
            return None, r.stderr + r.stdout
        with open(out, "rb") as f:
            return f.read(), ""

def sections(elf):
    """(name, bytes) of each section of a 64-bit ELF."""
    shoff, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    heads = [struct.unpack_from("<IIQQQQIIQQ", elf, shoff + i * size) for i in range(count)]
    strings = heads[names]
    for h in heads:
        at = strings[4] + h[0]
        yield elf[at:elf.index(b"\0", at)].decode(), elf[h[4]:h[4] + h[5]] if h[1] != 8 else b""

def instructions(code):
    """(name, destination, first, second and third register) of each known instruction."""
    for at in range(0, len(code) - 15, 16):
        low, high = struct.unpack_from("<QQ", code, at)
        name = NAMES.get(low & 0x1ff)
        if name:
            yield name, low >> 16 & 255, low >> 24 & 255, low >> 32 & 255, high & 255

def kernels(elf):
    """name -> instructions"""
    return {n[6:]: list(instructions(b)) for n, b in sections(elf) if n.startswith(".text.")}
