#!/bin/bash
# Workers that flip bits, double, lose and hold back frames, hang, drip, stop, die: the curve is the undisturbed one, or what is
# missing is named with exit 4; a hung worker costs its own points alone; nothing is left running.
. tests/tool/tap.sh
export GPULOCW=$B GPULOCW_WORKER_SILENT=2 GPULOCW_WORKER_START=6
K="kernels/stride_32.ptx --device sim:fermi-48k --json"
relay() { echo "exec python3 $PWD/tests/fake/relay.py $*"; }
result() { # NAME STATUS
    n=$((n + 1)); if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; head -5 "$T/err" | sed 's/^/#   /'; bad=1; fi
}
curve() { python3 -c "import json,sys; print([(p['options'],p['time_ns']['median'] if p.get('time_ns') else None) for p in json.load(open(sys.argv[1]))['points']])" "$1"; }
"$B" sweep $K > "$T/ref.json" 2>"$T/err"; curve "$T/ref.json" > "$T/ref"
whole() { [ "$1" -eq 0 ] && curve "$T/out.json" > "$T/got" 2>>"$T/err" && cmp -s "$T/ref" "$T/got" && python3 -c "import json; assert json.load(open('$T/out.json'))['missing']==[]"; }
one() { timeout 100 "$B" sweep $K --worker "$(relay "$@")" > "$T/out.json" 2>"$T/err"; }

for mode in none dup late delay; do one $mode 2; whole $?; result "one worker, $mode: the curve is whole" $?; done
for mode in flip truncate garbage drop; do
    touch "$T/mark"; one $mode 7 "$T/mark"; whole $?; result "one worker, $mode once: tried again" $?
done
for mode in flip drip stop; do
    rm -f "$T/spoiled"; RELAY_SPOILED=$T/spoiled one $mode 9; rc=$?
    [ $rc -eq 4 ] && python3 - "$T/out.json" 2>>"$T/err" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
assert d['missing'] and all(m['reason'] for m in d['missing']), d['missing']
assert len(d['missing']) + sum(1 for p in d['points'] + [d['bpa'], d['cha']] if p and p.get('time_ns')) >= len(d['points']), d
assert d['complete'] is True or d['missing']
P
    result "one worker, $mode from then on: exit 4, and what is missing is named" $?
done
one never; rc=$?; [ $rc -eq 4 ] && grep -q "did not answer in time" "$T/err"; result "one that never greets is given up" $?
one old; rc=$?; [ $rc -eq 4 ] && grep -q "speaks protocol version 8; this is gpulocw" "$T/err"; result "an earlier version is named" $?
one new; rc=$?; [ $rc -eq 4 ] && grep -q "later version and speaks protocol version" "$T/err"; result "a later version is named" $?
for mode in hang flip die; do
    timeout 100 "$B" sweep $K --worker "$(relay none)" --worker "$(relay $mode 5)" > "$T/out.json" 2>"$T/err"
    whole $?; result "beside one that works, $mode: the curve is whole" $?
done
for mode in drip stop never; do
    GPULOCW_WORKER_SILENT=100 GPULOCW_WORKER_START=100 timeout -s INT -k 60 1 "$B" sweep $K --worker "$(relay $mode 3)" > "$T/out.json" 2>"$T/err"
    [ $? -eq 124 ]; result "Ctrl-C with one that does $mode" $?
done
for i in $(seq 1200); do pgrep -f "$PWD/tests/fake/relay.py" > "$T/left" || break; sleep 0.1; done
[ ! -s "$T/left" ]; result "no process is left" $?
exit ${bad:-0}
