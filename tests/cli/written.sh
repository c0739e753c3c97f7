#!/bin/bash
# Kernels written at random, with every pass, on other data than they were accepted on (tests/attacks/written.py; make written: many).
. tests/tool/tap.sh
out=$(python3 tests/attacks/written.py "$B" --count 6 --seed 3 2>&1)
has "no accepted rewrite is wrong" "together: [1-9][0-9]* accepted, 0 wrong" "$out"
refused=$(grep -c '[1-9][0-9]* by an invariant' <<<"$out")
if [ "$refused" = 0 ]; then ok "no legal rewrite breaks an invariant"; else no "refused by an invariant" "$out"; fi
exit $bad
