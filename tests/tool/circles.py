#!/usr/bin/env python3
"""Files of one room that call each other in a circle: python3 tests/tool/circles.py

A file calls another when it names a function that the other defines. Prints a line per circle, a line per call that runs
up (to a room that stands higher in the table of docs/internals/design.md, whatever header declares it), and their counts.
With --check: prints calls that run up, and what tests/tool/circles.txt, the circles that stay, does not allow, and exits 1 when
there is any: a circle that is not within one line of it, and a line within which no circle is left."""
import collections, os, re, sys

sys.setrecursionlimit(10000)
files = sorted(os.path.join(d, f) for top in ('engine', 'tui') for d, _, names in os.walk(top) for f in names if f.endswith('.c'))
code, home, rooms = {}, {}, collections.defaultdict(list)
for f in files:
    text = re.sub(r'/\*.*?\*/', '', open(f, encoding='utf-8').read(), flags=re.S)
    code[f] = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    rooms[os.path.dirname(f)].append(f)
    for m in re.finditer(r'^(?!static)[a-z][\w \*]*?\b(\w+)\([^;{]*\)\n\{', code[f], re.M):
        home.setdefault(m[1], f)
    # names of types and of members call nothing
    code[f] = re.sub(r'\b(?:struct|enum|union) \w+|(?:->|(?<=[\w\])])\.)\w+', '', code[f])

def circles(calls):
    """Strongly connected components of more than one file (Tarjan)."""
    index, low, stack, found = {}, {}, [], []
    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in calls[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            at = stack.index(v)
            found.append(stack[at:])
            del stack[at:]
    for v in calls:
        if v not in index:
            visit(v)
    return [c for c in found if len(c) > 1]

def family(a, b):
    return (a + '/').startswith(b + '/') or (b + '/').startswith(a + '/')

def runs_up():
    """Calls of functions of a room that stands higher; a folder and those inside it are one room."""
    order = re.findall(r'^\| `((?:engine|tui)/[a-z_/]+)` \|', open('docs/internals/design.md').read(), re.M)
    rank = {r: i for i, r in enumerate(order)}
    for f in files:
        mine = os.path.dirname(f)
        if mine in ('engine/dev/inject', 'engine/emulate/driver', 'engine/emulate/runtime'):
            continue  # libraries of their own, which share no function with the others
        local = set(re.findall(r'^static [^;{]*?\b(\w+)\([^;{]*\)\n\{', code[f], re.M))
        for w in sorted(set(re.findall(r'\b(\w+)\b(?! *=[^=])', code[f])) - local):
            other = os.path.dirname(home.get(w, f))
            if rank.get(other, 99) < rank.get(mine, 99) and not family(mine, other) and re.search(r'\b%s\b *\(' % w, code[f]):
                yield '%s: calls %s of %s, a room above its own' % (f, w, home[w])

up = list(runs_up())
found = []
for room, members in sorted(rooms.items()):
    calls = {f: {home[w] for w in re.findall(r'\b\w+\b', code[f]) if w in home and home[w] != f and home[w] in members} for f in members}
    found += [(room, sorted(os.path.basename(f) for f in c)) for c in circles(calls)]
if sys.argv[1:] == ['--check']:
    lines = [l.rstrip('\n') for l in open('tests/tool/circles.txt') if not l.startswith('#')]
    allowed = [(l.split(': ')[0], set(l.split(': ')[1].split())) for l in lines]
    within = lambda c, a: c[0] == a[0] and set(c[1]) <= a[1]
    bad = ['%s: %s call each other in a circle' % (c[0], ' '.join(c[1])) for c in found if not any(within(c, a) for a in allowed)]
    bad += ['tests/tool/circles.txt: no circle is left in "%s": delete the line' % l for l, a in zip(lines, allowed) if not any(within(c, a) for c in found)]
    bad += up
    print('\n'.join(bad), end='\n' if bad else '')
    sys.exit(bool(bad))
for room, names in found:
    print('%s: %s' % (room, ' '.join(names)))
print('\n'.join(up), end='\n' if up else '')
print('%d circles, %d calls that run up' % (len(found), len(up)))
