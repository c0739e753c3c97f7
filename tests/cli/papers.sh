#!/bin/bash
# docs/papers.md: every command of the tables of mechanisms runs; experiments there run with --quick, or in paper.sh, which holds
# their documents against the contract. Each figure of `gpulocw paper` has a row in docs/lab/papers-figures.md. `make
# papers-agreement` runs all of them whole, with the contract and two minutes for each.
. tests/tool/tap.sh
sed '/^## Statements/,$d' docs/papers.md | grep -o '`gpulocw [^`]*`' | tr -d '`' | sort -u > "$T/commands"
[ "$(wc -l < "$T/commands")" -ge 30 ] && ok "commands are found" || no "commands are found" "$(cat "$T/commands")"
elsewhere=" $(sed -n 's/^for id in \(s1-vote .*\); do$/\1/p' tests/cli/paper.sh) "
while read -r line; do
    if [[ $elsewhere == *" ${line#gpulocw paper } "* ]]; then ok "$line: in paper.sh"; continue; fi
    read -ra words <<< "${line#gpulocw }"
    [ "${words[0]} ${words[1]:+ID}" != "paper ID" ] || words+=(--quick)
    if "$B" "${words[@]}" > "$T/out" 2> "$T/err" < /dev/null && [ -s "$T/out" ] && ! grep -q '^failed' "$T/out"; then ok "$line"; else no "$line" "$(cat "$T/err")" "$(head -5 "$T/out")"; fi
done < "$T/commands"
sed -n 's/^| `\(s[0-9]-[a-z0-9]*\)` |.*/\1/p' docs/lab/papers-figures.md | sort > "$T/listed"
"$B" paper | sed -n 's/^  \(s[0-9]-[a-z0-9]*\) .*/\1/p' | sort > "$T/there"
is "each figure has a row" "$(cat "$T/listed")" "$(cat "$T/there")"
sed 's/"name": "fermi-16k"/"name": "free"/; s/"fields": {/"fields": { "l1_bypass_tracks": { "value": 0, "source": "a test" },/' engine/sim/presets/fermi-16k.json > "$T/free.json"
ns() { "$B" run kernels/gesummv.ptx --device "$1" --bypass l1 --pi "$2" --json 2> "$T/err" | python3 -c "import json, sys; print(json.load(sys.stdin)['time_ns']['median'])"; }
is "loads that pass L1 by without a tracker: bypassing all is faster, caching all the same" "$(($(ns sim:fermi-16k bpa) * 2 > $(ns "sim:$T/free.json" bpa) * 3)) $(($(ns sim:fermi-16k cha) == $(ns "sim:$T/free.json" cha)))" "1 1"
is "the counts in docs/papers.md are those of gpulocw paper claims" "$(sed -n '/^<!-- made by make papers -->$/,/^<!-- end -->$/p' docs/papers.md | sed '1d;$d')" "$("$B" paper claims --format md | head -1)"
is "63 rows, in or tried, as many as said; what is tried links a page that has it, and an experiment named in a row is there" "$(python3 - "$T/there" <<'PY'
import os, re, sys
text, there = open('docs/papers.md').read(), open(sys.argv[1]).read().split()
part = text[text.index('## Row by row'):text.index('## Figures and tables')]
rows = [[c.strip() for c in line.strip('|').split('|')] for line in part.splitlines() if re.match(r'\| S[1-5]', line)]
bad = [r for r in rows if r[2] not in ('in', 'tried') or r[2] == 'tried' and not any(os.path.exists('docs/lab/%s.md' % p) for p in re.findall(r'\(lab/(\w+)\.md\)', r[3]))]
bad += [i for i in re.findall(r'`(s[1-5]-[a-z0-9]+)`', part) if i not in there]
print(len(rows), '%d in, %d tried' % tuple(sum(r[2] == k for r in rows) for k in ('in', 'tried')) in part, bad)
PY
)" "63 True []"
"$B" paper claims --json > "$T/claims.json" 2> "$T/err"
is "each result follows from what is recorded, worked out a second time" "$(python3 - "$T/claims.json" <<'PY'
import json, re, sys
have = {}
for line in open('engine/paper/recorded.def'):
    m = re.match(r'RECORDED\((\w+), "([^"]*)", "([^"]*)", "([^"]*)", "([^"]*)", (NAN|[^,]*), (NULL|"[^"]*")\)', line)
    if m: have.setdefault((m[2], m[4], m[5]), []).append((m[3], m[7].strip('"') if m[6] == 'NAN' else float(m[6]), m[1]))
def value(m):
    id_, platform, of, series = m.group(1).split('|')
    v = [x for p, x, _ in have.get((id_, of, series), []) if platform in ('*', p)]
    return repr(v[0]) if v else 'none()'
def near(text): # a ~ b: within a tenth of b
    m = re.fullmatch(r'(.*[^<>=])(<=|>=|<|>|=|~| is )(.*)', text)
    a, op, b = m[1], m[2].strip(), m[3]
    if op == 'is': return '%s == %r' % (a, b.strip())
    return 'abs((%s) - (%s)) <= %s * abs(%s)' % (a, b, .1 if op == '~' else 1e-9, b) if op in '~=' and len(op) == 1 else '(%s) %s (%s)' % (a, op, b)
class Missing(Exception): pass
def none(): raise Missing
def holds(text): return eval(' and '.join('(%s)' % near(part.strip()) for part in text.split('&')), {'none': none})
bad, results = [], {}
for c in json.load(open(sys.argv[1]))['claims']:
    if c['test'] is None: want = 'not tried'
    elif c['test'].startswith('each '):
        id_, rest = re.match(r'each ([^|]*)\|(.*)', c['test']).groups()
        platform, body = rest.split(':', 1)
        body, _, names = body.partition('@')
        ask, then = body.split('=>')
        rows = sorted({(p, of) for (i, of, s), v in have.items() if i == id_ for p, x, k in v if k == 'ROW' and platform in ('*', p) and (not names or of.split()[0] in names.split())})
        tried = []
        for p, of in rows:
            at = lambda m: next((repr(x) for q, x, k in have.get((id_, of, m.group(1)), []) if q == p and k == 'ROW'), 'none()')
            try:
                if holds(re.sub(r'\{([^}]*)\}', at, ask)): tried.append(holds(re.sub(r'\{([^}]*)\}', at, then)))
            except Missing: pass
        want = 'not tried' if not tried else 'pass' if all(tried) else 'fail'
    else:
        text = re.sub(r'\[([^]]*)\]', value, c['test'])
        try: want = 'not tried' if 'none()' in text else 'pass' if holds(text) else 'fail'
        except Missing: want = 'not tried'
    if want != c['result']: bad.append((c['claim'], c['result'], want))
    results[c['result']] = results.get(c['result'], 0) + 1
print(bad, sum(results.values()) > 150, results.get('not tried', 0) > 5 and all(results.get(k, 0) > 20 for k in ('pass', 'fail')))
PY
)" "[] True True"
is "what is not tried says why" "$(python3 -c "import json, sys; print([c['claim'] for c in json.load(open(sys.argv[1]))['claims'] if not c['why'] or c['why'].startswith('unreadable')])" "$T/claims.json")" "[]"
is "what runs in a second is as recorded" "$(GPULOCW=$B python3 tests/tool/papers_record.py --check 2>&1; echo "exit $?")" "exit 0"
"$B" paper s3-fig2 --json > "$T/reuse.json" 2> "$T/err"
is "the microbenchmark by SM: the first turn waits, on the GPUs that the launches fit; on every one the first CTA alone where they are staggered" "$(python3 - "$T/reuse.json" <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))['rows']
at = {(r['platform'], r['point']): r['series']['cycles']['ours'] for r in rows}
bad = []
for p in {r['platform'] for r in rows}:
    s = 'staggered: '
    if p in ('fermi-48k', 'kepler-k40-48k', 'maxwell-980', 'pascal-gtx1080') and not at[p, 'first turn'] > 1.3 * at[p, 'later turns']: bad.append(p)
    if not at[p, s + 'first CTA'] > 1.7 * at[p, s + 'others of its turn']: bad.append(p + ' staggered')
    if not abs(at[p, s + 'later turns'] / at[p, s + 'others of its turn'] - 1) < .1: bad.append(p + ' later')
print(len({r['platform'] for r in rows}), bad)
PY
)" "7 []"
is "its launches on the GPUs that they fit are the paper's: 480, 960, 1024 and 1280 CTAs of 4, 4, 2 and 2 turns" "$(python3 -c "
import json, re, sys
rows = [r for r in json.load(open(sys.argv[1]))['rows'] if r['point'] == 'first turn'][:4]
print([(r['platform'], int(re.search(r'of (\d+) launched', r['note']).group(1)), r['waves']) for r in rows])" "$T/reuse.json")" "[('fermi-48k', 480, 4), ('kepler-k40-48k', 960, 4), ('maxwell-980', 1024, 2), ('pascal-gtx1080', 1280, 2)]"
exit $bad
