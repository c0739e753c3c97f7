#!/usr/bin/env python3
"""Files of one room that call each other in a circle: python3 tests/tool/circles.py

A file calls another when it names a function that the other defines. Prints a line per circle, and a count.
With --check: prints what tests/tool/circles.txt, the circles not broken yet, does not allow, and exits 1 when there is any: a
circle that is not within one line of it, and a line within which no circle is left."""
import collections, os, re, subprocess, sys

sys.setrecursionlimit(10000)
files = subprocess.run(['git', 'ls-files', 'engine/*.c', 'tui/*.c'], capture_output=True, text=True, check=True).stdout.split()
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
    print('\n'.join(bad), end='\n' if bad else '')
    sys.exit(bool(bad))
for room, names in found:
    print('%s: %s' % (room, ' '.join(names)))
print('%d circles' % len(found))
