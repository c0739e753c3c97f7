"""Fatbins, cubins, ELF files and archives by a writer of our own, from the format's description alone: the
readers are tested against it, with and without nvcc."""
import struct

LZ4, ZSTD, ARCH_A, ARCH_F = 0x2000, 0x8000, 0x100000, 0x200000


def lz4(data):
    """A block of literals alone."""
    n, head = len(data), b""
    if n < 15:
        return bytes([n << 4]) + data
    rest, head = n - 15, b"\xf0"
    while rest >= 255:
        head, rest = head + b"\xff", rest - 255
    return head + bytes([rest]) + data


def zstd(data, claims=None):
    """A frame of raw blocks."""
    size = len(data) if claims is None else claims
    out = struct.pack("<IBQ", 0xFD2FB528, 0xE0, size)  # single segment, 8 bytes of content size
    pieces = [data[i:i + 65536] for i in range(0, len(data), 65536)] or [b""]
    for i, p in enumerate(pieces):
        out += struct.pack("<I", (i == len(pieces) - 1) | len(p) << 3)[:3] + p
    return out


def entry(payload, kind=1, sm=90, flags=0x11, head=64, options=None, name=None, packed=None, size=None):
    """One entry; packed: LZ4 or ZSTD."""
    raw = payload
    if packed:
        payload = lz4(raw) if packed == LZ4 else zstd(raw)
        flags |= packed
    extra, at_options, at_name = b"", 0, 0
    if options is not None:
        at_options = head
        extra += struct.pack("<II", head + 8, len(options)) + options
    if name is not None:
        at_name = head + len(extra)
        extra += name
    extra += b"\0" * (-(head + len(extra)) % 8)
    stored = payload + b"\0" * (-len(payload) % 8)
    h = struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, head + len(extra), len(stored), len(payload) if packed else 0, at_options, 0, 8,
                    sm, at_name, len(name or b""), flags, 0, (len(raw) if size is None else size) if packed else 0)
    return h + b"\0" * (head - 64) + extra + stored


def fatbin(*entries, size=None):
    body = b"".join(entries)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body) if size is None else size) + body


def elf(sections, machine=62, flags=0):
    """A file with these sections: (name, bytes)."""
    names, at, body, table = b"\0", 64, b"", [b"\0" * 64]
    places = []
    for name, data in sections + [(".shstrtab", None)]:
        places.append(len(names))
        names += name.encode() + b"\0"
    for (name, data), p in zip(sections + [(".shstrtab", names)], places):
        body += b"\0" * (-(at + len(body)) % 8)
        table.append(struct.pack("<IIQQQQIIQQ", p, 1, 0, 0, at + len(body), len(data), 0, 0, 8, 0))
        body += data
    body += b"\0" * (-(at + len(body)) % 8)
    head = b"\x7fELF\x02\x01\x01" + b"\0" * 9 + struct.pack("<HHIQQQIHHHHHH", 2, machine, 1, 0, 0, at + len(body), flags, 64, 0, 0, 64,
                                                          len(table), len(table) - 1)
    return head + body + b"".join(table)


def cubin(kernels, sm=90):
    return elf([(f".text.{k}", b"\0" * 16) for k in kernels] + [(f".nv.constant0.{k}", b"\0" * 8) for k in kernels], machine=190, flags=sm)


def archive(members):
    out = b"!<arch>\n"
    for name, data in members:
        out += f"{name + '/':<16}{0:<12}{0:<6}{0:<6}{'100644':<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) & 1)
    return out


def ptx(kernels, target="sm_90", params="(.param .u64 a)"):
    body = "".join(f".visible .entry {k}{params}\n{{\n\tret;\n}}\n" for k in kernels)
    return f"\n\n.version 8.8\n.target {target}\n.address_size 64\n\n{body}".encode() + b"\0"
