#!/bin/bash
# docs/papers.md: every command of the tables of mechanisms runs. Each figure of `gpulocw paper` has a row in docs/papers-figures.md.
# GPULOCW_PAPERS=1 runs the figures, too (minutes).
. tests/tool/tap.sh
sed '/^## Figures/,$d' docs/papers.md | grep -o '`gpulocw [^`]*`' | tr -d '`' | sort -u > "$T/commands"
[ "$(wc -l < "$T/commands")" -ge 30 ] && ok "commands are found" || no "commands are found" "$(cat "$T/commands")"
while read -r line; do
    read -ra words <<< "${line#gpulocw }"
    if "$B" "${words[@]}" > "$T/out" 2> "$T/err" < /dev/null && [ -s "$T/out" ] && ! grep -q '^failed' "$T/out"; then ok "$line"; else no "$line" "$(cat "$T/err")" "$(head -5 "$T/out")"; fi
done < "$T/commands"
sed -n 's/.*`gpulocw paper \([a-z0-9-]*\)`.*/\1/p' docs/papers-figures.md | sort > "$T/listed"
"$B" paper | sed -n 's/^  \(s[0-9]-[a-z0-9]*\) .*/\1/p' | sort > "$T/there"
is "each figure has a row" "$(cat "$T/listed")" "$(cat "$T/there")"
for id in ${GPULOCW_PAPERS:+$(cat "$T/there")}; do
    if "$B" paper "$id" > "$T/out" 2> "$T/err" < /dev/null && [ -s "$T/out" ]; then ok "paper $id"; else no "paper $id" "$(cat "$T/err")"; fi
done
exit $bad
