# For tests of emulate: runs a program under it, judges its document and what it printed. Sourced behind tap.sh.
P=$(readlink -f "$GPULOCW_BUILD")/tests/emulate
claim() { # NAME CONDITION...
    local name=$1; shift; n=$((n + 1))
    if "$@" >"$T/why" 2>&1; then echo "ok $n - $name"; else echo "not ok $n - $name"; { cat "$T/why"; tail -n 3 "$T/out" "$T/err"; } | sed 's/^/#   /'; bad=1; fi
}
run() { "$B" emulate "$@" > "$T/out" 2> "$T/err"; rc=$?; }
json() { python3 -c "
import json,sys
t=open(sys.argv[1]).read(); d=json.loads(t[t.index('{\n  \"format\"'):]); k={x['name']:x for x in d['kernels']}
assert $1, d" "$T/out"; }
passed() { test $rc -eq 0 && grep -qx PASS "$T/out"; }
