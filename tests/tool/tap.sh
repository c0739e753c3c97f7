# What the scripts of tests/cli share, read with ".": the program, a folder that goes at the end, TAP lines and the checks behind them.
# A script ends in: exit $bad
B=$GPULOCW_BUILD/gpulocw
n=0 bad=0
T=$(mktemp -d); trap 'chmod -R u+w "$T"; rm -rf "$T"' EXIT
ok() { n=$((n + 1)); echo "ok $n - $1"; }
no() { n=$((n + 1)); bad=1; echo "not ok $n - $1"; shift; printf '%s\n' "$@" | grep -v '^ok [0-9]' | sed 's/^/#   /' | head -20; }
# code NAME WANTED PATTERN COMMAND...: exit code, and standard error matches
code() {
    local name=$1 want=$2 pattern=$3 out rc; shift 3
    out=$("$@" 2>&1 </dev/null); rc=$?
    if [ $rc -eq "$want" ] && grep -qE -- "$pattern" <<<"$out"; then ok "$name"; else no "$name" "exit $rc, wanted $want and /$pattern/" "$out"; fi
}
# doc NAME PYTHON COMMAND...: standard output is JSON d and the Python expression holds
doc() {
    local name=$1 expr=$2 out; shift 2
    out=$("$@" 2>"$T/err" </dev/null)
    if printf '%s' "$out" | python3 -c "
import json,sys
d=json.load(sys.stdin)
assert $expr, 'does not hold'" 2>"$T/py"; then ok "$name"; else no "$name" "$expr" "$(tail -1 "$T/py")" "$(cat "$T/err")" "${out:0:600}"; fi
}
k() { echo "kernels/$1.ptx"; }
is() { if [ -n "$2" ] && [ "$2" = "$3" ]; then ok "$1"; else no "$1" "got '$2', wanted '$3'"; fi; }
has() { if grep -qE -- "$2" <<<"$3"; then ok "$1"; else no "$1" "no /$2/ in" "$3"; fi; }
