#!/usr/bin/env python3
"""What tests have executed, by room: python3 tests/tool/gcov.py BUILD [ROOM]

BUILD was compiled with --coverage and has been run (`make gcov`). Lines are those that have code; a function counts as
run when it was entered once. Then the functions that nothing entered, longest first (all of one ROOM, else 40)."""
import collections, json, os, subprocess, sys

build, only = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ''
lines, functions = collections.defaultdict(dict), collections.defaultdict(dict)

def read(data):
    out = subprocess.run(['gcov', '--json-format', '--stdout', data], capture_output=True, text=True).stdout
    for document in filter(str.strip, out.splitlines()):
        for f in json.loads(document)['files']:
            name = os.path.normpath(f['file'])
            if not name.startswith(('engine/', 'tui/')):
                continue
            for l in f['lines']:
                seen = lines[name]
                seen[l['line_number']] = seen.get(l['line_number'], 0) + l['count']
            for g in f['functions']:          # a static function of a header is in several objects
                key, length = (g['name'], g['start_line']), g['end_line'] - g['start_line'] + 1
                functions[name][key] = (length, functions[name].get(key, (0, 0))[1] + g['execution_count'])

for folder, _, files in os.walk(build):
    for f in files:
        if f.endswith('.gcda') and ('/engine/' in folder + '/' or '/tui/' in folder + '/'):
            read(os.path.join(folder, f))

def share(some, all):
    return '%6.1f %%' % (100 * some / all) if all else '     n/a'

rooms = collections.defaultdict(list)
for name in lines:
    rooms[os.path.dirname(name)].append(name)
print('%-18s %7s %9s   %9s %6s' % ('room', 'lines', 'run', 'functions', 'run'))
total = [0, 0, 0, 0]
for room in sorted(rooms) + ['all']:
    n = [0, 0, 0, 0]
    for name in rooms.get(room, []):
        counts, called = list(lines[name].values()), [g[1] for g in functions[name].values()]
        n = [n[0] + len(counts), n[1] + sum(c > 0 for c in counts), n[2] + len(called), n[3] + sum(c > 0 for c in called)]
    total = [a + b for a, b in zip(total, n)]
    n = total if room == 'all' else n
    print('%-18s %7d %s   %9d %s' % (room, n[0], share(n[1], n[0]), n[2], share(n[3], n[2])))
never = sorted(((g[0], name, key) for name in functions for key, g in functions[name].items() if not g[1] and name.startswith(only)), reverse=True)
print('\nnever entered: %d functions%s' % (len(never), ' of ' + only if only else ''))
for length, name, (function, at) in never if only else never[:40]:
    print('%4d lines  %s:%d  %s' % (length, name, at, function))
