#!/usr/bin/env python3
"""Every message of the program in one list: python3 tests/tool/messages.py [WORD...]

Takes the string literals of calls that tell the user something (diagnostics, hints, refusals, notes, warnings, notices of
the workbench) and of the tables of help texts, from engine/, sim/ and tui/. One row each: file:line, kind, text.
With words, only rows that contain one of them. `make messages` writes the list; read it once before a release."""
import glob, re, sys

CALLS = r'(?:diag_add|diag_hint|diag_error|diag_note|pass_refuse|pass_warn|pass_note|refuse|wrong|app_notice|usage_error|page_hint|page_empty|say)'
TABLES = {'args.def': 'help', 'options.def': 'help', 'env.def': 'help', 'request.h': 'help', 'command.c': 'help', 'args.c': 'help'}
LITERAL = r'"((?:[^"\\]|\\.)*)"'

def arguments(text, at):
    """The text of a call's arguments, from behind its opening bracket."""
    depth, k, inside = 1, at, False
    while k < len(text) and depth:
        c = text[k]
        if c == '\\' and inside:
            k += 1
        elif c == '"':
            inside = not inside
        elif not inside:
            depth += (c == '(') - (c == ')')
        k += 1
    return text[at:k - 1]

def messages():
    for path in sorted(p for room in ('engine', 'sim', 'tui') for ext in ('c', 'h', 'def') for p in glob.glob('%s/**/*.%s' % (room, ext), recursive=True)):
        text = open(path, encoding='utf-8').read()
        name = path.rsplit('/', 1)[-1]
        for m in re.finditer(r'\b([a-z_]*%s[a-z_]*)\(' % CALLS, text):
            said = ''.join(re.findall(LITERAL, re.sub(r'"\s*PRI\w+\s*"', '%', arguments(text, m.end()))))
            if ' ' in said:
                yield path, text.count('\n', 0, m.start()) + 1, m.group(1), said
        if name in TABLES:
            for n, line in enumerate(text.splitlines(), 1):
                found = [s for s in re.findall(LITERAL, line) if ' ' in s]
                if found and not re.search(CALLS + r'\(', line):
                    yield path, n, TABLES[name], max(found, key=len)

rows = [r for r in messages() if not sys.argv[1:] or any(w in r[3] for w in sys.argv[1:])]
for path, line, kind, said in rows:
    print('%s:%d\t%s\t%s' % (path, line, kind, said))
print('%d messages' % len(rows), file=sys.stderr)
sys.exit(not rows)
