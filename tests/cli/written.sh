#!/bin/bash
# Kernels written at random, with every pass, on other data than they were accepted on (tests/attacks/written.py; make written: many).
. tests/tool/tap.sh
tries=$GPULOCW_BUILD/tests/attacks/tries
out=$(python3 tests/attacks/written.py "$tries" --count 60 --seed 3 2>&1)
has "no accepted rewrite is wrong" "together: [1-9][0-9]* accepted, 0 wrong" "$out"
row=$(grep "^| all " <<<"$out")
if [[ $row == *"| 0 | 0 |" ]]; then ok "no legal rewrite breaks an invariant"; else no "refused by an invariant" "$out"; fi
python3 tests/attacks/written.py "$tries" --count 20 --seed 3 --ledger "$T/ledger" > "$T/twenty"
python3 tests/attacks/written.py "$tries" --count 60 --seed 3 --ledger "$T/ledger" > "$T/sixty"
if [ "$out" = "$(cat "$T/sixty")" ]; then ok "a campaign goes on where its ledger ends"; else no "another table" "$(diff <(echo "$out") "$T/sixty")"; fi
code "a ledger of another seed" 1 "is of another seed" python3 tests/attacks/written.py "$tries" --count 60 --seed 4 --ledger "$T/ledger"
exit $bad
