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

def others(path, text, listed):
    """Texts that reach the user through a table or a variable: literals of four words or more on lines not listed."""
    for n, line in enumerate(re.sub(r'/\*.*?\*/', lambda m: '\n' * m.group().count('\n'), text, flags=re.S).splitlines(), 1):
        for s in re.findall(LITERAL, '' if n in listed or line.startswith(('#include', 'ARG(', 'ENV(', 'KNOB')) else line):
            if len(re.findall(r'\b[a-z]{2,}\b', s)) >= 4 and not re.search(r'\\t|\.reg|<[a-z]+ ', s):
                yield path, n, 'text', s

def messages():
    for path in sorted(p for room in ('engine', 'sim', 'tui') for ext in ('c', 'h', 'def') for p in glob.glob('%s/**/*.%s' % (room, ext), recursive=True)):
        text = open(path, encoding='utf-8').read()
        name = path.rsplit('/', 1)[-1]
        said_here = set()
        for m in re.finditer(r'\b([a-z_]*%s[a-z_]*)\(' % CALLS, text):
            said_here.update(text.count('\n', 0, m.end() + k.start()) + 1 for k in re.finditer('"', arguments(text, m.end())))
            said = ''.join(re.findall(LITERAL, re.sub(r'"\s*PRI\w+\s*"', '%', arguments(text, m.end()))))
            if ' ' in said:
                yield path, text.count('\n', 0, m.start()) + 1, m.group(1), said
        if name not in TABLES:
            yield from others(path, text, said_here)
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
