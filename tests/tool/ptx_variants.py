"""Variants of a PTX module that mean the same: variant(text, launch, rng, parts) gives the files of one.

parts  rename   registers, labels, local and shared variables, functions and kernels get other names, also names that
                look like those of passes, of other kinds or of other registers; parameters keep theirs
       declare  declarations in another order, `%r<9>` against single ones, several in one declaration against one each
       order    variables, functions and kernels of the module in another order
       space    white space, line breaks and comments, which hold what looks like statements and directives
       split    the module as two files that are linked

The reader here knows statements and scopes, not instructions: it shares nothing with the parser under test."""
import json
import re

TOKEN = re.compile(r'''(?P<lead>(?:\s+|//[^\n]*|/\*.*?\*/)*)(?P<text>"(?:[^"\\\n]|\\.)*"|0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]+U?|
    \d+\.\d+(?:[eE][+-]?\d+)?|\d+U?|[A-Za-z_$%][\w$]*|\.\w[\w$]*(?:::\w+)*|::|.|\Z)''', re.S | re.X)
NAME = re.compile(r"[A-Za-z_$%][\w$]*\Z")
PARTS = ("rename", "declare", "order", "space", "split")
SPACES = (".reg", ".shared", ".local", ".param", ".const", ".global", ".tex")
OPEN, CLOSE = "{([", "})]"


class Tok:
    """entity: what a name declares where it is declared."""
    __slots__ = ("lead", "text", "entity")

    def __init__(self, lead, text, entity=None):
        self.lead, self.text, self.entity = lead, text, entity


class Stmt:
    """kind: label, decl, block (its statements in .block), other."""

    def __init__(self, kind, toks, block=None):
        self.kind, self.toks, self.block = kind, toks, block


class Block:
    """opens, closes: the braces; entities: what is declared here."""

    def __init__(self, opens):
        self.opens, self.closes, self.stmts, self.names = opens, None, [], {}


class Item:
    """A header, variable, function or other part of the module. kind: head, var, func, proto, file, section, misc."""

    def __init__(self, kind, toks, block=None, name=None):
        self.kind, self.toks, self.block, self.name = kind, toks, block, name

    def words(self):
        return {t.text for t in self.all()}

    def all(self):
        return self.toks + (tokens_of(self.block) if self.block else [])


class Entity:
    def __init__(self, name, count=None):
        self.name, self.count = name, count     # count: of a range
        self.new = {}                           # old name of each register to its new one
        self.base = None                        # new name of the range, as long as it stays one


def tokens(text):
    out = []
    for m in TOKEN.finditer(text):
        out.append(Tok(m.group("lead"), m.group("text")))
        if not m.group("text"):
            break
    return out


def tokens_of(block):
    out = [block.opens]
    for s in block.stmts:
        out += tokens_of(s.block) if s.block else s.toks
    return out + [block.closes]


def until(toks, i, end):
    """Index behind the `end` token of what begins at i, outside all brackets."""
    depth = 0
    while True:
        t = toks[i].text
        depth += (t in OPEN) - (t in CLOSE) if t else 0
        i += 1
        if (t == end and not depth) or not t:
            return i


def loc_end(toks, i):
    i += 4                                          # .loc file line column
    while toks[i].text == ",":
        i += 1
        if toks[i].text == "function_name":
            i += 2
            if toks[i].text == "+":
                i += 2
        elif toks[i].text == "inlined_at":
            i += 4
    return i


def read_block(toks, i):
    b = Block(toks[i])
    i += 1
    while toks[i].text != "}":
        t = toks[i].text
        if t == "{":
            inner, i = read_block(toks, i)
            b.stmts.append(Stmt("block", [], inner))
            continue
        j = (i + 2 if toks[i + 1].text == ":" and NAME.match(t) else loc_end(toks, i) if t == ".loc" else until(toks, i, ";"))
        kind = "label" if toks[i + 1].text == ":" and NAME.match(t) else "decl" if t in SPACES else "other"
        b.stmts.append(Stmt(kind, toks[i:j]))
        i = j
    b.closes = toks[i]
    return b, i + 1


def declared(toks):
    """Index of each name that a declaration declares."""
    out, depth, rest = [], 0, False
    for i, t in enumerate(toks):
        depth += (t.text in OPEN) - (t.text in CLOSE)
        rest = (rest or t.text == "=") and t.text != "," if not depth else rest
        if not depth and not rest and NAME.match(t.text):
            out.append(i)
    return out


def read_item(toks, i):
    t = toks[i].text
    if t in (".version", ".address_size"):
        return Item("head", toks[i:i + 2]), i + 2
    if t == ".target":
        j = i + 2
        while toks[j].text == ",":
            j += 2
        return Item("head", toks[i:j]), j
    if t == ".file":
        j = i + 3
        while toks[j].text == ",":
            j += 2
        return Item("file", toks[i:j]), j
    if t == ".section":
        j = next(k for k in range(i, len(toks)) if toks[k].text == "}") + 1
        return Item("section", toks[i:j]), j
    j = i
    while toks[j].text not in (".entry", ".func", ";", ""):
        j += 1
    if toks[j].text not in (".entry", ".func"):
        j = until(toks, i, ";")
        names = declared(toks[i:j])
        return Item("var" if names else "misc", toks[i:j], None, toks[i + names[0]].text if names else None), j
    j += 1
    if toks[j].text == "(":
        j = until(toks, j, ")")
    name = toks[j].text
    while toks[j].text not in ("{", ";"):
        j = until(toks, j, ")") if toks[j].text == "(" else j + 1
    if toks[j].text == ";":
        return Item("proto", toks[i:j + 1], None, name), j + 1
    b, k = read_block(toks, j)
    return Item("func", toks[i:j], b, name), k


def read(text):
    toks, items, i = tokens(text), [], 0
    while toks[i].text:
        item, i = read_item(toks, i)
        items.append(item)
    return items


# ---- names ----

# The first are of passes (their registers begin with the name of the pass), the others look like something else.
POOL = ("%gl", "%glseen", "%seen", "seen", "%gla", "%glsu", "%p", "%r", "%R", "r", "%rd", "%f", "f", "$L_", "$L__BB0_", "L", "BB", "%gls", "gl", "%glpi", "__r",
        "%claim", "%task", "%glb", "%vote", "_", "$", "p", "%rs", "%x", "%loop")


def scopes(block, outer=()):
    """Fills in what each block declares; yields (block, entities) of it and of the blocks inside."""
    mine = []

    def add(tok, count=None):
        name = tok.text
        tok.entity = e = Entity(name, count)
        mine.append(e)
        for n in ([name] if count is None else ["%s%d" % (name, k) for k in range(count)]):
            block.names[n] = e
    for s in block.stmts:
        if s.kind == "label":
            add(s.toks[0])
        elif s.kind == "decl":
            for k in declared(s.toks):
                ranged = s.toks[k + 1].text == "<"
                add(s.toks[k], int(s.toks[k + 2].text) if ranged else None)
    yield block, mine
    for s in block.stmts:
        if s.block:
            yield from scopes(s.block, outer + (block,))


def uses(block, outer=()):
    """(token, the blocks around it) of every name of statements that is no opcode."""
    here = outer + (block,)
    for s in block.stmts:
        if s.block:
            yield from uses(s.block, here)
            continue
        i = 0
        if s.kind == "other":
            if s.toks[0].text == "@":
                i = 1 + (s.toks[1].text == "!")
                yield s.toks[i], here
                i += 1
            i += 1                                   # the opcode
        for t in s.toks[i:]:
            if NAME.match(t.text):
                yield t, here


def find(name, around):
    for b in reversed(around):
        if name in b.names:
            return b.names[name]
    return None


class Names:
    """New names of one function. taken: names that it may not use."""

    def __init__(self, rng, taken):
        self.rng, self.taken = rng, set(taken)
        self.low = rng.randrange(9)
        # in some functions most things are called alike
        self.theme = [rng.choice(POOL[:4])] * (3 * len(POOL) * (rng.random() < 0.4))

    def fresh(self, count=None):
        while True:
            self.low += self.rng.random() < 0.2
            base = self.rng.choice(self.theme + list(POOL)) + ("" if count is None else self.rng.choice(("", "", "a", "_"))) + ("%d" % self.rng.randrange(self.low + 3) if count is None else "")
            all_of = [base] if count is None else ["%s%d" % (base, k) for k in range(count)]
            if not self.taken.intersection(all_of) and base not in ("_", "$") and (count is None or not self.taken.intersection([base])):
                self.taken.update(all_of)
                return base

    def give(self, e, whole):
        if e.count is None:
            e.new[e.name] = self.fresh()
        elif whole:
            e.base = self.fresh(e.count)
            e.new = {"%s%d" % (e.name, k): "%s%d" % (e.base, k) for k in range(e.count)}
        else:
            e.new = {"%s%d" % (e.name, k): self.fresh() for k in range(e.count)}


def rename_function(item, rng, module, whole_ranges):
    params = {t.text for t in item.toks if NAME.match(t.text)}
    blocks = list(scopes(item.block))
    places = list(uses(item.block))
    names = Names(rng, params | set(module.values()) | {t.text for t, around in places if not find(t.text, around)})
    for b, entities in blocks:
        for e in entities:
            names.give(e, whole_ranges or (rng.random() < 0.5))
    if len(blocks) > 1:
        shadow(item.block, blocks, places, rng)
    apply_names(item.block, places, module)
    return names.taken


def shadow(top, blocks, places, rng):
    """Blocks inside reuse names of the function that they do not use themselves."""
    for b, entities in blocks[1:]:
        inside = [find(t.text, around).new.get(t.text, t.text) for t, around in places if b in around and find(t.text, around)]
        free = [n for e in top.names.values() for n in e.new.values() if n not in inside and not e.base]
        for e in entities:
            if e.count is None and free and rng.random() < 0.5:
                e.new[e.name] = free.pop(rng.randrange(len(free)))
                free = [f for f in free if f != e.new[e.name]]


def apply_names(block, places, module):
    for t, around in places:
        e = t.entity or find(t.text, around)
        if e is None:
            t.text = module.get(t.text, t.text)
        elif t.entity and e.count is not None:
            t.text = e.base or t.text                # the name of the range
        else:
            t.text = e.new[t.text]


def rename(items, rng, whole_ranges):
    """(new names of the module's things by their old ones, every local name before and after)."""
    pinned = set().union(*(i.words() for i in items if i.kind == "section"), set())
    own = [i.name for i in items if i.kind in ("func", "var") and i.name and i.toks[0].text != ".extern" and i.name not in pinned]
    own += [i.name for i in items if i.kind == "var" and ".shared" in i.words() and i.name not in own + list(pinned)]
    module, taken = {}, {i.name for i in items}
    for n in dict.fromkeys(own):
        stem = rng.choice(("gl", "seen_", "r", "L_", "p_", "BB0_", "claims_", "tid_"))
        k = next(k for k in range(1, 10 ** 6) if stem + str(k) not in taken)
        module[n] = stem + str(k)
        taken.add(module[n])
    local = set()
    for i in items:
        if i.block:
            before = set(n for b, _ in scopes(i.block) for n in b.names)
            params = {t.text for t in i.toks if NAME.match(t.text)} - {i.name}
            local |= (before | rename_function(i, rng, {k: v for k, v in module.items() if k not in params}, whole_ranges)) - set(module.values()) - params
        first = True
        for t in i.toks if i.kind in ("func", "proto", "var", "misc") else []:
            if t.text in module and (t.text == i.name or i.kind in ("var", "misc")) and first:
                t.text = module[t.text]
                first = i.kind in ("var", "misc")
        i.name = module.get(i.name, i.name)
    return module, local - {None}


# ---- declarations ----

def split_decl(toks):
    """(head, one list of tokens for each name) of a declaration; None: it has an initial value."""
    at = declared(toks)
    if not at or any(t.text == "=" for t in toks):
        return None
    ends = at[1:] + [len(toks)]
    return toks[:at[0]], [toks[a:e - 1] for a, e in zip(at, ends)]


def keeps_order(part):
    """Variables of shared memory stay in a row: their order decides the banks; those of local memory: the sectors of the frame."""
    return any(t.text in (".shared", ".local") for t in part.toks)


def redeclare(block, rng, whole_ranges):
    """Runs of declarations in another order; ranges and single ones exchanged."""
    out, run = [], []

    def flush():
        kept = iter([s for s in run if keeps_order(s)])
        rng.shuffle(run)
        out.extend(next(kept) if keeps_order(s) else s for s in run)
        run.clear()
    for s in block.stmts:
        if s.block:
            redeclare(s.block, rng, whole_ranges)
        if s.kind != "decl":
            flush()
            out.append(s)
            continue
        parts = split_decl(s.toks) if s.toks[0].text == ".reg" else None
        if not parts:
            run.append(s)
            continue
        head, names = parts
        single = []
        for n in names:
            single += names_of(n, rng, whole_ranges)
        rng.shuffle(single)
        while single:
            k = rng.randrange(1, 4) if rng.random() < 0.5 else 1
            run.append(Stmt("decl", declaration(head, single[:k])))
            del single[:k]
    flush()
    block.stmts = out


def names_of(toks, rng, whole_ranges):
    """The names that one declared name stands for from now on: itself, or the registers of the range."""
    if len(toks) == 1:
        return [toks]
    old = toks[0].entity
    broken = old.new and not old.base
    if not broken and (whole_ranges or rng.random() < 0.5):
        return [toks]
    base, n = toks[0].text, int(toks[2].text)
    regs = list(old.new.values()) if broken else ["%s%d" % (base, k) for k in range(n)]
    return [[Tok(" ", r)] for r in regs]


def declaration(head, names):
    toks = [Tok(t.lead, t.text) for t in head]
    for k, n in enumerate(names):
        toks += ([Tok("", ",")] if k else []) + [Tok(" ", n[0].text)] + [Tok("", t.text) for t in n[1:]]
    return toks + [Tok("", ";")]


# ---- order, space, files ----

def reorder(items, rng):
    heads, tail = [i for i in items if i.kind == "head"], [i for i in items if i.kind in ("file", "section")]
    rest, out = [i for i in items if i not in heads and i not in tail], []
    words = {id(i): i.words() for i in rest}
    while rest:
        ready = [i for k, i in enumerate(rest) if not any(o.name in words[id(i)] or i.name == o.name for o in rest[:k] if o.name) and
                 (i.kind != "misc" or i is rest[0]) and not (i.kind == "var" and keeps_order(i) and any(o.kind == "var" and keeps_order(o) for o in rest[:k]))]
        i = rng.choice(ready)
        rest.remove(i)
        out.append(i)
    return heads + out + tail


COMMENTS = (".maxntid 7, 1, 1", "ret;", "$L__BB0_1:", "bra L1;", "}", "{", ".reg .b32 %r<99>;", "ld.global.f32 %f1, [%rd1];", ".visible .entry other()", '"', "@%p1",
            ".minnctapersm 9", "bar.sync 0;", ".reqntid 3", "'", ".maxnreg 16", ".pragma \"nounroll\";", ".loc 1 1 1", "fma.rn.f32", ".shared .b8 x[9];", ".noreturn")


def gap(rng, between):
    """What may stand between two tokens, or two statements."""
    k = rng.random()
    if k < 0.55:
        return rng.choice((" ", "\t", "  ", " \t")) if not between else rng.choice(("\n", "\n\t", " ", "\n\n", ""))
    if k < 0.75:
        return rng.choice(("\n", "\n    ", "\r\n" if between else "\n"))
    text = rng.choice(COMMENTS)
    return " /* %s */ " % text if k < 0.9 else " // %s\n" % text


def respace(toks, rng):
    """Tokens of one statement; what is glued stays glued but at commas and brackets."""
    out = [toks[0].text]
    for a, b in zip(toks, toks[1:]):
        loose = a.text in ",[(" or b.text in ",;])"
        out.append(gap(rng, False) if b.lead or (loose and rng.random() < 0.15) else "")
        out.append(b.text)
    return "".join(out)


def spaced(item, rng):
    if item.kind in ("section", "file", "head"):
        return "\n" + "".join(t.lead + t.text for t in item.toks).strip() + "\n"
    out = [gap(rng, True), respace(item.toks, rng)]
    if item.block:
        out += [gap(rng, True) or "\n", spaced_block(item.block, rng)]
    return "".join(out) + "\n"


def spaced_block(block, rng):
    out = ["{"]
    for s in block.stmts:
        # ".loc 1 2 3" has no end of its own
        out += [gap(rng, True), spaced_block(s.block, rng) if s.block else respace(s.toks, rng), "\n" if s.kind == "other" and s.toks[0].text == ".loc" else ""]
    return "".join(out) + gap(rng, True) + "}"


def plain(item):
    return "".join(t.lead + t.text for t in item.all())


def outside(item):
    """A declaration of what the other file defines."""
    toks = [t.text for t in item.toks]
    while toks[0] in (".visible", ".weak", ".common"):
        toks.pop(0)
    if item.kind == "var":
        toks = toks[:toks.index("=")] if "=" in toks else toks[:-1]
    return ".extern " + " ".join(toks).replace("% ", "%") + ";\n"


def published(item):
    if item.toks[0].text not in (".visible", ".weak"):
        item.toks.insert(0, Tok(item.toks[0].lead, ".visible"))
        item.toks[1].lead = " "


def halves(items, rng):
    """The items of two files, or None where the module does not come apart."""
    body = [i for i in items if i.kind in ("func", "var")]
    if len(body) < 2 or any(i.kind in ("section", "misc", "proto") for i in items):
        return None
    tied = [i for i in body if i.kind == "var" and (".shared" in i.words() or i.toks[0].text == ".extern")]
    second = set(i.name for i in rng.sample(body, rng.randrange(1, len(body))) if i not in tied)
    # what names a variable of shared memory stays with it, in the first file
    second -= {i.name for i in body if any(t.name in i.words() for t in tied)}
    if not second or len(second) == len(body):
        return None
    files = []
    for here in (lambda i: i.name not in second, lambda i: i.name in second):
        mine = [i for i in body if here(i)]
        words = set().union(*(i.words() for i in mine))
        files.append((mine, [i for i in body if not here(i) and i.name in words]))
    for _, needed in files:
        for i in needed:
            published(i)
    heads, lines = [i for i in items if i.kind == "head"], [i for i in items if i.kind == "file"]
    return [(heads, [outside(i) for i in needed], mine + lines) for mine, needed in files]


def launch_names(value, module):
    """A launch description with the new names of kernels and variables."""
    if isinstance(value, list):
        return [launch_names(v, module) for v in value]
    if not isinstance(value, dict):
        return value
    return {k: module.get(v, v) if k == "kernel" else [dict(s, name=module.get(s.get("name"), s.get("name"))) for s in v] if k == "symbols" else
            launch_names(v, module) for k, v in value.items()}


class Variant:
    """files: [(name, text)], the first beside the launch description. module: new names by old ones; local: names of
    registers, labels and variables of functions, before and after."""

    def __init__(self, files, launch, module, local):
        self.files, self.launch, self.module, self.local = files, launch, module, local


def variant(text, launch, rng, parts, name="m.ptx"):
    items, module, local = read(text), {}, set()
    whole = "declare" not in parts
    if "rename" in parts:
        module, local = rename(items, rng, whole)
    if "declare" in parts:
        for i in items:
            if i.block:
                if "rename" not in parts:
                    list(scopes(i.block))
                redeclare(i.block, rng, whole)
    if "order" in parts:
        items = reorder(items, rng)
    write = (lambda i: spaced(i, rng)) if "space" in parts else plain
    parted = halves(items, rng) if "split" in parts else None
    if parted:
        files = ["".join(plain(h) for h in heads) + "\n" + "".join(needed) + "".join(write(i) for i in mine) + "\n" for heads, needed, mine in parted]
    else:
        files = ["".join(write(i) for i in items) + "\n"]
    names = [name, "second_half.ptx"]
    return Variant(list(zip(names, files)), launch_names(json.loads(json.dumps(launch)), module) if launch else None, module, local)
