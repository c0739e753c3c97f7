#!/bin/bash
# Ranges of gains: the table is what the records say, of the other kernels' gains 80 of 100 lie within, and no text promises one figure.
command -v python3 >/dev/null || { echo "ok 1 - gains # SKIP no python3"; exit 0; }
b=$GPULOCW_BUILD/gpulocw n=0 failed=0
check() { n=$((n + 1)); if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; failed=1; fi; }
record=tests/gpu/knob-gains-h200.jsonl
diff <(python3 tests/gpu/knob_gains.py table $record | grep '^X(') <(grep '^X(' engine/search/gain_records.def); check "gain_records.def is what the records say" $?
out=$(python3 tests/gpu/knob_gains.py coverage $record)
[ "$(awk '$(NF - 2) >= 78 && $(NF - 2) <= 92 { n++ } END { print n }' <<< "$out")" = 2 ]; check "80 of 100 lie within ($(tr '\n' ' ' <<< "$out"))" $?
out=$("$b" tune tests/suites/linear.ptx -k lu_update --budget 1 2>&1; "$b" tune kernels/transpose.ptx --budget 12 2>&1)
grep -qE "[0-9.]+x to [0-9.]+x in 80 of 100 cases \([0-9]+ recorded(, of all kinds)?\)" <<< "$out"; check "before a run a range" $?
! grep -qE "confidence|expected [0-9.]+x|x faster than the original" <<< "$out"; check "no single figure, no confidence, no gain as its own reason" $?
grep -qE ": gained [0-9.]+x" <<< "$out"; check "after a run the run's" $?
! awk '/: gained/ { sub(/x$/, "", $NF); if ($NF <= 1.02) print }' <<< "$out" | grep -q .; check "what a run refutes is gone" $?
echo "1..$n"
exit $failed
