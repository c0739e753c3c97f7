"""Every file of engine/rewrites and engine/pass that changes text begins with a sketch of it, before and after; so does the file of
every pass (pass_list.def). Prints TAP lines."""
import glob, re, sys

EDITS = r'\bptx_edit_(replace|before|after|span|declare|global)\s*\('
SKETCH = r'^ \*\s+(before\b.*\bafter\b|before\b)|^ \* .*->'
files = {f: open(f, encoding='utf-8').read() for f in glob.glob('engine/rewrites/**/*.c', recursive=True) + glob.glob('engine/pass/*.c')}
passes = ['engine/rewrites/%s.c' % p for p in re.findall(r'^PASS\((\w+)\)', open('engine/pass/pass_list.def').read(), re.M)]
wanted = sorted(set(passes) | {f for f, s in files.items() if re.search(EDITS, s)})
bad = []
for f in wanted:
    head = re.match(r'/\*.*?\*/', files.get(f, ''), re.S)
    if not head or not re.search(SKETCH, head[0], re.M):
        bad.append(f + ': no sketch of the text before and after above the first line of code')
ok = not bad and len(passes) > 5
print('%s 1 - a sketch, before and after, above every rewrite: %d files' % ('ok' if ok else 'not ok', len(wanted)))
print(''.join('#   %s\n' % b for b in bad), end='')
sys.exit(not ok)
