#!/bin/bash
# gpu_diff with a simulated device in the GPU's place: nothing differs; and where it is made wrong, or is ended, it says so.
D=$GPULOCW_BUILD/tests/gpu_diff out=$(mktemp)
trap 'rm -f "$out"' EXIT
n=0
ok() { n=$((n + 1)); if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; sed 's/^/#   /' "$out"; bad=1; fi; }
bad=0
"$D" --jobs 2 1 24 sim:default > "$out" 2>&1; rc=$?
[ $rc -eq 0 ] && grep -q '^24 programs .* 0 differ unexplained, 0 failed; .*: 0 differ .* 0 end' "$out"; ok $? "equal devices"
"$D" --rows 600 100000 sim:default > "$out" 2>&1; rc=$?
[ $rc -eq 0 ] && grep -q '^14 rows from 600' "$out"; ok $? "rows by themselves, as far as there are any"
words=$("$D" --jobs 2 --pretend 'bra' 1 24 sim:default 2>/dev/null | grep -c '^differs: seed')
"$D" --jobs 2 --reduce --pretend 'dp4a' 1 24 sim:default > "$out" 2>&1; rc=$?
[ $rc -eq 1 ] && [ "$words" -gt 10 ] && grep -q '^-- seed [0-9]*, [0-9]* tries, differs at level 0 1 2 3 4' "$out" && [ "$(grep -c dp4a "$out")" -ge "$(grep -c '^-- seed' "$out")" ]
ok $? "a device that is wrong is found, and the program is reduced to what shows it"
"$D" --jobs 2 --pretend '~bra' 1 24 sim:default > "$out" 2>&1; rc=$?
[ $rc -eq 0 ] && grep -q '^same at level 0: seed' "$out" && grep -q ": $words differ from their own level 0" "$out"; ok $? "what only the optimiser does is counted apart, and no error"
"$D" --jobs 2 --pretend '!dp4a' 1 24 sim:default > "$out" 2>&1; rc=$?
[ $rc -eq 1 ] && grep -q '^ended at level 0 too: seed' "$out" && grep -q '^24 programs' "$out"; ok $? "a process that is ended is named, and the others are run"
exit $bad
