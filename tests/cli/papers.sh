#!/bin/bash
# docs/papers.md: every command of the tables of mechanisms runs; experiments there run with --quick, or in paper.sh, which holds
# their documents against the contract. Each figure of `gpulocw paper` has a row in docs/lab/papers-figures.md. `make
# papers-agreement` runs all of them whole, with the contract and two minutes for each.
. tests/tool/tap.sh
sed '/^## Figures/,$d' docs/papers.md | grep -o '`gpulocw [^`]*`' | tr -d '`' | sort -u > "$T/commands"
[ "$(wc -l < "$T/commands")" -ge 30 ] && ok "commands are found" || no "commands are found" "$(cat "$T/commands")"
elsewhere=" $(sed -n 's/^for id in \(s1-vote .*\); do$/\1/p' tests/cli/paper.sh) "
while read -r line; do
    if [[ $elsewhere == *" ${line#gpulocw paper } "* ]]; then ok "$line: in paper.sh"; continue; fi
    read -ra words <<< "${line#gpulocw }"
    [ "${words[0]} ${words[1]:+ID}" != "paper ID" ] || words+=(--quick)
    if "$B" "${words[@]}" > "$T/out" 2> "$T/err" < /dev/null && [ -s "$T/out" ] && ! grep -q '^failed' "$T/out"; then ok "$line"; else no "$line" "$(cat "$T/err")" "$(head -5 "$T/out")"; fi
done < "$T/commands"
sed -n 's/.*`gpulocw paper \([a-z0-9-]*\)`.*/\1/p' docs/lab/papers-figures.md | sort > "$T/listed"
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
exit $bad
