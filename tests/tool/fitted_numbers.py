#!/usr/bin/env python3
"""Devices are data: no number that was fitted to a device stands in the code.

    python3 tests/tool/fitted_numbers.py [--list]

Looks in the rooms that model a device for numbers that look fitted: constants given by #define (also as an expression
of numbers), literals with a fraction, whole numbers that are neither small nor a power of two nor of ten in
arithmetic, in constants, enums and tables, comparisons of a compute capability with a number. In the rooms around
(AROUND), which keep time limits and sizes of their own, only fractions and capabilities count. Each must be named in
fitted_numbers.txt (FILE NUMBER COUNT REASON); all others belong into engine/sim/preset.def, with unit, range and
source. --list prints what is found, as rows for that file. Prints TAP."""
import collections, glob, os, re, sys

ROOMS = ['engine/sim', 'engine/sim/timing', 'engine/sim/cache', 'engine/predict', 'engine/perfmodel']
AROUND = ['engine/tune', 'engine/dev', 'engine/dev/cuda', 'engine/dev/calibrate', 'engine/search', 'engine/analysis', 'engine/analysis/slice', 'engine/analysis/symbolic',
          'engine/rewrites', 'engine/rewrites/agents', 'engine/pass']    # no models of a device: fractions and capabilities alone
ALLOWED = 'tests/tool/fitted_numbers.txt'

def code_of(path):
    """The text without comments, strings and includes."""
    text = open(path, encoding='utf-8').read()
    text = re.sub(r'/\*.*?\*/', lambda m: re.sub(r'[^\n]', ' ', m[0]), text, flags=re.S)
    text = re.sub(r'"(?:[^"\\\n]|\\.)*"', '""', text)
    text = re.sub(r"'(?:[^'\\\n]|\\.)'", "' '", text)
    return '\n'.join(l for l in text.split('\n') if not re.match(r'\s*#\s*(include|ifndef|ifdef|endif|undef)', l))

UNITS = {'1e3', '1e6', '1e9', '1000.0'}

def plain(n):
    """Small, a power of two, of ten, or one less than a power of two (a mask)."""
    return n < 3 or n & (n - 1) == 0 or n & (n + 1) == 0 or str(n).strip('0') == '1'

def numbers(text):
    for m in re.finditer(r'^\s*#\s*define\s+(\w+)\s+(.*)$', text, re.M):
        body = re.sub(r'\bU?INT(?:8|16|32|64)_C\b', '', m[2])     # a number, or numbers alone in an expression
        if re.search(r'\d', body) and re.match(r'^[-+*/%<>|&^~()\s]*(?:\d[\w.]*[-+*/%<>|&^~()\s]*)+$', body):
            yield m[1]
    text = re.sub(r'^\s*#.*$', '', text, flags=re.M)
    for m in re.finditer(r'\bcc_m(?:aj|in)or\s*(?:<=?|>=?|==|!=)\s*\d+', text):
        yield re.sub(r'\s+', '', m[0])
    text = re.sub(r'\bcc_m(?:aj|in)or\s*(?:<=?|>=?|==|!=)\s*\d+', '', text)
    for m in re.finditer(r'(?<![\w.])(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?f?|(?<![\w.])\d+[eE][-+]?\d+', text):
        if m[0] not in UNITS:
            yield m[0]
    text = re.sub(r'(?<![\w.])(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?f?|(?<![\w.])\d+[eE][-+]?\d+', ' F ', text)
    for m in re.finditer(r'\b(?:const|enum)\b[^;()]*?[{=][^;]*', text):     # a constant or a table of them: no arithmetic beside
        for n in re.findall(r'[={,]\s*-?(\d+)[uUlL]*(?=\s*[,;}]|\s*$)', m[0]):
            if not plain(int(n)):
                yield n
    for m in re.finditer(r'(<<|>>|[\w)\]]\s*[-*/%+<>]=?|[-*/%]=|\?|:|return)?\s*(?<![\w.])(\d+)[uUlL]*(?![\w.])\s*([*/%+<>-])?', text):
        if m[1] in ('<<', '>>') or not (m[1] or m[3]):
            continue
        if not plain(int(m[2])):
            yield m[2]

found = collections.Counter()
for room in ROOMS + AROUND:
    for path in sorted(glob.glob(room + '/*.[ch]')):
        for number in numbers(code_of(path)):
            if room in ROOMS or '.' in number or number.startswith('cc_'):
                found[path, number] += 1
if '--list' in sys.argv:
    for (path, number), n in sorted(found.items()):
        print(path, number, n)
    sys.exit()
allowed = {}
for line in open(ALLOWED, encoding='utf-8'):
    if line.strip() and not line.startswith('#'):
        path, number, n, reason = line.split(None, 3)
        allowed[path, number] = int(n)
bad = ['%s: %s (%d, allowed %d): a preset field, or a row with its reason in %s' % (p, k, n, allowed.get((p, k), 0), ALLOWED)
       for (p, k), n in sorted(found.items()) if n > allowed.get((p, k), 0)]
stale = ['%s: %s is allowed %d times and found %d times' % (p, k, n, found.get((p, k), 0)) for (p, k), n in sorted(allowed.items())
         if n > found.get((p, k), 0)]
for i, (name, rows) in enumerate([('no number in the code looks fitted to a device', bad), ('every exception is still needed', stale)], 1):
    print('%sok %d - %s' % ('not ' if rows else '', i, name))
    for r in rows:
        print('#   ' + r)
sys.exit(bool(bad or stale))
