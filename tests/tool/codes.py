#!/usr/bin/env python3
"""Every code of a diagnostic with its messages, out of the source.

    python3 tests/tool/codes.py            prints a page (make reference)
    python3 tests/tool/codes.py --check    compares the codes with tests/golden/codes.txt; exit 1 where they differ

A code is the literal that stands where a function takes `const char *code`, or in the table of faults, or the name of a
pass behind "pass-". A message is the literal that follows it."""
import collections, glob, re, sys

KNOWN = 'tests/golden/codes.txt'    # scripts outside compare codes: one that goes or is renamed breaks them
LITERAL = r'"(?:[^"\\\n]|\\.)*"'
sources = sorted(p for room in ('engine', 'tui') for ext in ('c', 'h') for p in glob.glob('%s/**/*.%s' % (room, ext), recursive=True))
text = {p: re.sub(r'/\*.*?\*/', '', open(p, encoding='utf-8').read(), flags=re.S) for p in sources}

# Codes whose whole text is put together elsewhere.
FROM_ELSEWHERE = {
    'arguments': 'an argument that the schema of the tool does not take',
    'cancelled': 'the launch was interrupted',
    'deadlock': 'the barrier that cannot be passed, and the warps that wait there',
    'float-atomics': 'how far outputs of float atomics may differ',
    'jit': "what the driver's compiler said",
    'misaligned': "an address that is no multiple of the access's size",
    'out-of-bounds': 'an access outside of every buffer',
    'printf': 'what a kernel printed',
    'profile': 'what the sampling launch found',
    'ptx-number': 'a number that its place does not take',
}

def arguments(t, at):
    """The arguments of a call, split at commas outside brackets and strings; at: behind its opening bracket."""
    depth, start, out = 0, at, []
    for m in re.compile(LITERAL + r'|[(){}\[\],]').finditer(t, at):
        c = m[0]
        if c in '({[':
            depth += 1
        elif c in ')}]':
            if depth == 0:
                return out + [t[start:m.start()]]
            depth -= 1
        elif c == ',' and depth == 0:
            out.append(t[start:m.start()])
            start = m.end()
    return out

def takers():
    """Functions with a parameter `const char *code`, and its place: {name: place}."""
    found = {}
    for t in text.values():
        for m in re.finditer(r'\b([a-z_0-9]+)\(', t):
            if t[m.end():m.end() + 400].find('const char *code') < 0:
                continue
            args = [' '.join(a.split()) for a in arguments(t, m.end())]
            if 'const char *code' in args and 'FILE *' not in args:
                found[m[1]] = args.index('const char *code')
    return found

def words(argument):
    return [bytes(s[1:-1], 'utf-8').decode('unicode_escape').encode('latin-1').decode('utf-8') for s in re.findall(LITERAL, argument)]

def codes():
    """{code: [messages]}"""
    found = collections.defaultdict(list)
    take = takers()
    for p, t in text.items():
        t = re.sub(r'"\s*PRI\w+\s*"', '%u', t)
        for m in re.finditer(r'\b(%s)\(' % '|'.join(sorted(take)), t):
            args = arguments(t, m.end())
            k = take[m[1]]
            if len(args) <= k:
                continue
            for code in words(args[k]):
                if not re.fullmatch(r'[a-z][a-z0-9-]+', code):
                    continue
                for a in args[k + 1:]:
                    said = words(a)
                    if any(' ' in s for s in said):
                        found[code].append(''.join(said) if '?' not in a else max(said, key=len))
                        break
                else:
                    found[code] += []
    everything = '\n'.join(text.values())
    for m in re.finditer(r'\[(FAULT_[A-Z_]+)\]\s*=\s*\{\s*(%s)' % LITERAL, everything):
        code = words(m[2])[0]
        found[code] += []
        for call in re.finditer(r'\bexec_fault\(', everything):
            args = arguments(everything, call.end())
            if len(args) > 4 and args[3].strip() == m[1] and words(args[4]):
                said = ''.join(words(args[4])) if '?' not in args[4] else max(words(args[4]), key=len)
                found[code].append(said.split('\n')[0])  # behind it stands the hint
    for code, said in FROM_ELSEWHERE.items():
        if code in found:
            found[code].append(said)
    for name in ['options'] + re.findall(r'^PASS\((\w+)\)', open('engine/pass/pass_list.def').read(), re.M):
        found['pass-' + name] += ['refusals and notes of all rewrites together' if name == 'options' else 'refusals and notes of this rewrite']
    return found

def shown(message):
    s = message.replace('%%', '\0')
    s = re.sub(r'%[-+ #0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z)?[a-zA-Z]', '…', s).replace('\0', '%')
    return ' '.join(s.split()).replace('|', '\\|').replace('<', '&lt;')

def page():
    out = ['# Codes of diagnostics', '', 'Made by `make reference` out of the source. An error, warning or note ends with its code in brackets; in JSON it is `code`.',
           'A code stays the same when words change, so scripts compare codes. Each row has up to three of its messages; … stands for what is filled in.', '',
           '| code | messages |', '|---|---|']
    for code, said in sorted(codes().items()):
        some = []
        for s in map(shown, said):
            if s not in some and s.strip('… :'):
                some.append(s)
        out.append('| `%s` | %s |' % (code, '; '.join(some[:3])))
    return '\n'.join(out) + '\n'

new = page()
empty = re.findall(r'^\| `(.*)` \|  \|$', new, re.M)
if empty:
    sys.exit('codes without a message, for FROM_ELSEWHERE of %s: %s' % (sys.argv[0], ' '.join(empty)))
if sys.argv[1:] == ['--check']:
    has, wants = set(open(KNOWN).read().split()), set(codes())
    bad = ['%s lacks the new code %s' % (KNOWN, c) for c in sorted(wants - has)] + ['no source has the code %s of %s' % (c, KNOWN) for c in sorted(has - wants)]
    print('\n'.join(bad), end='\n' if bad else '')
    sys.exit(bool(bad))
print(new, end='')
