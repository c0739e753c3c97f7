"""Each change of docs/internals/recipes still fits: the lines that it keeps or removes stand in its file, in a row,
and it touches no more files than it did (new ones apart). `make recipes` applies them, builds and runs. Prints TAP lines."""
import glob, sys

diffs = ''.join(open(p, encoding='utf-8').read() for p in sorted(glob.glob('docs/internals/recipes/*.patch'))).split('\n')
bad, n, path, hunk = [], 0, None, []


def close():
    global n
    old = [l[1:] for l in hunk if l[:1] in ' -']
    if path and old:
        n += 1
        lines = open(path, encoding='utf-8').read().split('\n')
        if not any(lines[i:i + len(old)] == old for i in range(len(lines))):
            bad.append('%s has no such lines: "%s" ...' % (path, old[0].strip()))
    hunk.clear()


for line in diffs + ['@@']:
    if line.startswith(('--- ', '@@')):
        close()
    if line.startswith('--- '):
        path = None if line == '--- /dev/null' else line[6:]
    elif line and not line.startswith(('+++ ', '@@')):
        hunk.append(line)
TOUCHED = {'pass': 4, 'counter': 2, 'modifier': 2}      # files that are there
for name, most in TOUCHED.items():
    files = open('docs/internals/recipes/%s.patch' % name, encoding='utf-8').read().count('\n--- a/') + 1
    if files > most:
        bad.append('%s.patch touches %d files, not %d' % (name, files, most))
ok = not bad and n > 0
print('%s 1 - the changes of docs/internals/recipes fit the files they change: %d' % ('ok' if ok else 'not ok', n))
print(''.join('#   %s\n' % b for b in bad), end='')
sys.exit(not ok)
