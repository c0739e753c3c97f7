#!/usr/bin/env python3
"""Lines of the functions of engine/ and tui/: python3 tests/tool/functions.py. Prints count, median, 90th percentile, longest."""
import glob

lengths = []
for f in glob.glob('engine/**/*.c', recursive=True) + glob.glob('tui/**/*.c', recursive=True):
    start = None
    for n, line in enumerate(open(f, encoding='utf-8'), 1):
        if line == '{\n':
            start = n
        elif line == '}\n' and start:
            lengths.append((n - start - 1, f))
            start = None
lengths.sort()
print('functions: %d, lines of a body: median %d, p90 %d, longest %d (%s)'
      % (len(lengths), lengths[len(lengths) // 2][0], lengths[len(lengths) * 9 // 10][0], *lengths[-1]))
