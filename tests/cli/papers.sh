#!/bin/bash
# docs/papers.md: every command of the tables of mechanisms runs, those that launch experiments with --quick. Each figure of
# `gpulocw paper` has a row in docs/papers-figures.md, and one experiment of each kind prints what the contract says. `make
# papers-agreement` runs all of them whole, with the contract and two minutes for each.
. tests/tool/tap.sh
sed '/^## Figures/,$d' docs/papers.md | grep -o '`gpulocw [^`]*`' | tr -d '`' | sort -u > "$T/commands"
[ "$(wc -l < "$T/commands")" -ge 30 ] && ok "commands are found" || no "commands are found" "$(cat "$T/commands")"
while read -r line; do
    read -ra words <<< "${line#gpulocw }"
    [ "${words[0]} ${words[1]:+ID}" != "paper ID" ] || words+=(--quick)
    if "$B" "${words[@]}" > "$T/out" 2> "$T/err" < /dev/null && [ -s "$T/out" ] && ! grep -q '^failed' "$T/out"; then ok "$line"; else no "$line" "$(cat "$T/err")" "$(head -5 "$T/out")"; fi
done < "$T/commands"
sed -n 's/.*`gpulocw paper \([a-z0-9-]*\)`.*/\1/p' docs/papers-figures.md | sort > "$T/listed"
"$B" paper | sed -n 's/^  \(s[0-9]-[a-z0-9]*\) .*/\1/p' | sort > "$T/there"
is "each figure has a row" "$(cat "$T/listed")" "$(cat "$T/there")"
sed 's/"name": "fermi-16k"/"name": "free"/; s/"fields": {/"fields": { "l1_bypass_tracks": { "value": 0, "source": "a test" },/' engine/sim/presets/fermi-16k.json > "$T/free.json"
ns() { "$B" run kernels/gesummv.ptx --device "$1" --bypass l1 --pi "$2" --json 2> "$T/err" | python3 -c "import json, sys; print(json.load(sys.stdin)['time_ns']['median'])"; }
is "loads that pass L1 by without a tracker: bypassing all is faster, caching all the same" "$(($(ns sim:fermi-16k bpa) * 2 > $(ns "sim:$T/free.json" bpa) * 3)) $(($(ns sim:fermi-16k cha) == $(ns "sim:$T/free.json" cha)))" "1 1"
"$B" paper s3-fig2 --json > "$T/reuse.json" 2> "$T/err"
is "the microbenchmark by SM, on every platform: the first turn waits, or the first CTA alone where they are staggered" "$(python3 - "$T/reuse.json" <<'PY'
import json, sys
rows = json.load(open(sys.argv[1]))['rows']
at = {(r['platform'], r['point']): r['series']['cycles']['ours'] for r in rows}
bad = []
for p in {r['platform'] for r in rows}:
    s = 'staggered: '
    if not at[p, 'first turn'] > 1.3 * at[p, 'later turns']: bad.append(p)
    if not at[p, s + 'first CTA'] > 1.7 * at[p, s + 'others of its turn']: bad.append(p + ' staggered')
    if not abs(at[p, s + 'later turns'] / at[p, s + 'others of its turn'] - 1) < .1: bad.append(p + ' later')
print(len({r['platform'] for r in rows}), bad)
PY
)" "4 []"
# one of each kind, votes and software caches left out (half a minute each)
kinds="s1-fig3 s1-fig5 s1-fig20 s1-energy s2-cln s3-fig3 s3-fig12 s3-classes s4-tab3 s4-fig7 s4-fig10 s5-tab1 s5-fig6"
for id in $kinds; do "$B" paper "$id" --quick --json > "$T/$id.json" 2> "$T/$id.err" < /dev/null || echo "$id: $(cat "$T/$id.err")"; done > "$T/failed"
is "experiments run: $kinds" "failed:$(cat "$T/failed")" "failed:"
is "their documents are as the contract says" "faults:$(for id in $kinds reuse; do echo "$T/$id.json"; done | xargs python3 tests/tool/papers_contract.py 2>&1)" "faults:"
# and the checker finds what breaks it
broken() { python3 -c "import json, sys; d = json.load(open('$T/s4-tab3.json')); $1; json.dump(d, open('$T/broken.json', 'w'))"; python3 tests/tool/papers_contract.py "$T/broken.json" > /dev/null 2>&1 && echo "missed: $1"; }
is "the contract's checker finds each of nine breaks" "missed:$(
broken "d['format'] = 'other'"
broken "d['rows'] = []"
broken "del d['title']"
broken "del d['geomean']"
broken "del d['rows'][1]['platform']"
broken "d['rows'][1]['series']['degree'].pop('paper')"
broken "d['rows'][1]['series'].pop('degree')"
broken "d['rows'][1]['series']['degree']['ours'] = True"
broken "d['rows'][0].update(note=None); [v.update(ours=None) for v in d['rows'][0]['series'].values()]"
)" "missed:"
exit $bad
