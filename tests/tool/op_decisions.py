#!/usr/bin/env python3
"""Where code outside the op table decides what an instruction does: python3 tests/tool/op_decisions.py [--check | --update]

names   comparisons of an instruction's, modifier's or special register's name, or of a register's, outside engine/ptx:
        inst_is(x, "..."), and strcmp, memcmp, str_is, sscanf and the like on what ptx_op_info()->name, ptx_sreg_name,
        ptx_mod_text or regs[].name gave
ops     statements that decide by PTX_OP_*: a switch with its cases is one, an if is one, a row of an array is none

Without an argument: counts by room. --check: tests/tool/op_decisions.txt says how many a room may have and why;
more is an error, fewer is an error that says to lower the number. --update lowers them. layers.py asks problems()."""
import collections
import os
import re
import sys

ALLOWED = "tests/tool/op_decisions.txt"
TABLES = "engine/ptx"                        # the room that owns what an instruction is
# what runs instructions has a case for each
EXECUTES = ("engine/sim/exec", "engine/sim/decode")
SOURCES = {"instruction": r"ptx_op_info\([^;]*?\)->name|ptx_mod_text\(|\binfo->name|\bop_name\(",
           "register": r"ptx_sreg_name\(|\bregs\[[^;]*?\]\.name|\breg_name\("}
COMPARES = (r"\b(?:str(?:n?case)?cmp|strncmp|strstr|strchr|strrchr|strspn|strcspn|strpbrk|sscanf|bsearch|memcmp|memmem|memchr|mem_is|"
            r"str_is|str_eq|str_cmp|str_has\w*|str_starts\w*|str_ends\w*|starts_with|ends_with|begins|strmap_get|one_of|fnmatch)\(")


def code_of(path):
    """The text without comments, and with the same lines."""
    text = open(path, encoding="utf-8", errors="replace").read()
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/|//[^\n]*', lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)


def argument(text, at):
    """The arguments of the call whose bracket opens before `at`."""
    depth, k = 1, at
    while depth and k < len(text):
        depth += {"(": 1, ")": -1}.get(text[k], 0)
        k += 1
    return text[at:k - 1]


def bodies(text):
    """(offset, text) of each function's body, and of what stands between them."""
    last = 0
    for m in re.finditer(r"^\{.*?^\}", text, re.S | re.M):
        yield m.start(), m[0]
        last = m.end()
    yield last, ""


def name_compares(text):
    """(line, kind) of each comparison of a name."""
    out = set()

    def line(at):
        return text.count("\n", 0, at) + 1
    for m in re.finditer(r"\binst_is\(", text):
        before = text[text.rfind("\n", 0, m.start()) + 1:m.start()]
        if not re.match(r"\s*(?:static |extern )?bool $", before):     # its definition counts by what it does
            out.add((m.start(), "instruction"))
    for start, body in bodies(text):
        for kind, source in SOURCES.items():
            if not re.search(source, body):
                continue
            held = set(re.findall(r"(\w+)\s*=\s*(?:\([^()]*\)\s*)?(?:[^;=]*?[?&|:(]\s*)?(?:%s)" % source, body))
            known = "|".join([source] + [r"(?<![\w>.])%s(?:\.s)?\b" % h for h in held])
            for c in re.finditer(COMPARES, body):
                if re.search(known, argument(body, c.end())):
                    out.add((start + c.start(), kind))
            for h in held:
                # letters of it; a space, a tab or the % in front only say where it begins and ends
                for c in re.finditer(r"(?<![\w>.])(?:%s(?:\.s)?\[[^\]]*\]|\*%s)\s*[!=]=\s*'[^ \\%%]" % (h, h), body):
                    out.add((start + c.start(), kind))
    return sorted((line(at), kind) for at, kind in out)


def op_places(text):
    """Lines of the statements that decide by an op code."""
    out, switches = [], []
    if "PTX_OP_" not in text:
        return out
    depth = at = 0
    for m in re.finditer(r"[;{}]|\Z", text):
        part = text[at:m.start()]
        ops = [o for o in re.findall(r"(?<!\[)\bPTX_OP_[A-Z0-9_]+\b", part) if o not in ("PTX_OP_COUNT", "PTX_OP_OPAQUE", "PTX_OP_NONE")]
        line = text.count("\n", 0, at + part.find("PTX_OP_")) + 1 if ops else 0
        if re.search(r"\bswitch\s*\([^{};]*$", part) and m[0] == "{":
            switches.append([depth, False])
        if ops:
            if re.search(r"\bcase\s+PTX_OP_", part):
                if not (switches and switches[-1][1]):
                    out.append(line)
                if switches:
                    switches[-1][1] = True
                ops = re.findall(r"PTX_OP_", re.sub(r"\bcase\s+PTX_OP_\w+\s*:", "", part))
            if ops and not re.search(r"\bcase\s+PTX_OP_", part) or (ops and re.search(r"\bif\b", part)):
                out.append(line)
        depth += {"{": 1, "}": -1}.get(m[0], 0)
        while m[0] == "}" and switches and depth <= switches[-1][0]:
            switches.pop()
        at = m.end()
    return out


def counted(files=None):
    """{kind: {room: [place, ...]}}, kind: names, ops; places of names with what is compared."""
    files = files or sorted(os.path.join(d, f) for top in ("engine", "tui") for d, _, names in os.walk(top) for f in names if f.endswith((".c", ".h")))
    found = {"names": collections.defaultdict(list), "ops": collections.defaultdict(list)}
    for f in files:
        room = os.path.dirname(f)
        if room == TABLES or room.startswith(TABLES + "/"):
            continue
        text = code_of(f)
        found["names"][room] += ["%s:%d: compares the name of a%s %s" % (f, n, "n" if kind == "instruction" else "", kind) for n, kind in name_compares(text)]
        if not any(room == r or room.startswith(r + "/") for r in EXECUTES):
            found["ops"][room] += ["%s:%d: decides by an op code" % (f, n) for n in op_places(text)]
    return found


def allowed():
    """{(kind, room): (number or None for any, reason)}."""
    rows = {}
    for l in open(ALLOWED, encoding="utf-8"):
        if l.strip() and not l.startswith("#"):
            kind, room, most, why = l.split(None, 3)
            rows[kind, room] = (None if most == "any" else int(most), why.strip())
    return rows


def problems():
    """What is not as ALLOWED says, in lines."""
    may, found, bad = allowed(), counted(), []
    for kind, rooms in found.items():
        for room, places in rooms.items():
            most = may.get((kind, room), (0, ""))[0]
            if most is not None and len(places) > most:
                bad += places + ["%s: %d %s; %s allows %d: ask a column of the op table or a query of engine/ptx" % (room, len(places), kind, ALLOWED, most)]
    for (kind, room), (most, why) in may.items():
        n = len(found[kind].get(room, []))
        if most is not None and n < most:
            bad.append("%s: the row \"%s %s %d\" may fall to %d" % (ALLOWED, kind, room, most, n))
        if not why:
            bad.append("%s: the row of %s %s gives no reason" % (ALLOWED, kind, room))
    return bad


def update():
    found, out = counted(), []
    for l in open(ALLOWED, encoding="utf-8"):
        w = l.split(None, 3)
        if l.startswith("#") or len(w) < 4 or w[2] == "any":
            out.append(l)
            continue
        n = min(int(w[2]), len(found[w[0]].get(w[1], [])))
        if n:
            out.append("%s %s %d %s" % (w[0], w[1], n, w[3]))
    open(ALLOWED, "w", encoding="utf-8").write("".join(out))


def main():
    if sys.argv[1:] == ["--update"]:
        update()
    elif sys.argv[1:] == ["--check"]:
        print("\n".join(problems()))
        return bool(problems())
    else:
        found = counted()
        places = [p for rooms in found["names"].values() for p in rooms]
        print("comparisons of instruction names: %d" % sum(p.endswith("instruction") for p in places))
        print("comparisons of register names: %d" % sum(p.endswith("register") for p in places))
        ops = {r: len(p) for r, p in found["ops"].items() if p}
        print("places that decide by an op code, outside engine/ptx and what executes: %d%s" % (sum(ops.values()), "".join(
            "; %s %d" % (r[7:], n) for r, n in sorted(ops.items(), key=lambda x: -x[1]))))
        if sys.argv[1:] == ["--places"]:
            print("\n".join(places + [p for rooms in found["ops"].values() for p in rooms]))


if __name__ == "__main__":
    sys.exit(main())
