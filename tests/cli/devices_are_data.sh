#!/bin/bash
# Devices are data: no fitted number in the code; a preset shows its fields with units and sources, and loads again.
set -u
GPULOCW=$GPULOCW_BUILD/gpulocw
python3 tests/tool/fitted_numbers.py | sed 's/^1\.\..*//'
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
n=2 bad=0
check() { # NAME COMMAND...
    local name=$1; shift
    n=$((n + 1))
    if "$@" > "$T/out" 2>&1; then echo "ok $n - $name"; else bad=1; echo "not ok $n - $name"; sed 's/^/#   /' "$T/out" | head -10; fi
}
# The checker sees a number that is put in: in a #define, a literal, an integer factor, a version.
probe() { # TEXT
    mkdir -p "$T/tree/engine/sim/timing" "$T/tree/tests/tool" && cp tests/tool/fitted_numbers.* "$T/tree/tests/tool"
    printf '%s\n' "$1" > "$T/tree/engine/sim/timing/x.c"
    (cd "$T/tree" && python3 tests/tool/fitted_numbers.py) | grep -q '^not ok 1'
}
check "a #define of a number is seen" probe '#define LATE 37'
check "a #define of an expression of numbers is seen" probe '#define LATE (30 + 7.0 / 8)'
check "a whole number of an enum is seen" probe 'enum { LATE = 37 };'
check "a whole number of a table is seen" probe 'static const int late[] = { 4, 37 };'
check "a literal with a fraction is seen" probe 'double f(double x) { return x + 2.25; }'
check "a whole factor is seen" probe 'int f(int x) { return 12 * x; }'
check "a capability compared with a number is seen" probe 'int f(int cc_major) { return cc_major >= 7; }'
clean() { ! probe "$1"; }
check "a power of two and a comment are not" clean 'int f(int x) { return 8 * x; /* 2.25 */ }'
check "names, macros of arguments and powers of two in tables are not" clean '#define OF(x) ((x) + LATE)
enum { A = 4, B }; static const int t[] = { 0, 1, 8 };'
same_run() { # a shown preset is a file that gives the same run
    "$GPULOCW" devices "$1" --json > "$T/p.json" && "$GPULOCW" run kernels/gemm.ptx --device "sim:$1" --json > "$T/a.json" &&
        "$GPULOCW" run kernels/gemm.ptx --device "$T/p.json" --json > "$T/b.json" &&
        python3 - "$T" <<'P'
import json, sys
a, b = (json.load(open(sys.argv[1] + f)) for f in ('/a.json', '/b.json'))
assert a['time_ns'] == b['time_ns'], (a['time_ns'], b['time_ns'])
assert a['counters'] == b['counters']
P
}
check "devices PRESET --json is a preset: hopper-h200" same_run hopper-h200
check "devices PRESET --json is a preset: fermi-16k" same_run fermi-16k
sources() {
    "$GPULOCW" devices "$1" --json | python3 -c '
import json, sys
f = json.load(sys.stdin)["fields"]
none = [k for k, v in f.items() if not v["source"] or v["source"] == "the file names none"]
assert len(f) > 150 and not none, none
assert f["l1_latency"]["unit"] == "cycle"'
}
for p in $("$GPULOCW" devices --json | python3 -c 'import json,sys; print(*[d["spec"] for d in json.load(sys.stdin)["devices"] if d["kind"] == "simulated"])'); do
    check "every field of $p names its source" sources "$p"
done
# A file of before: only a few fields. The rest is the architecture's.
old_file() {
    printf '{"format":"gpulocw-preset","version":1,"name":"old","title":"old","fields":{"cc_major":2,"cc_minor":0,"max_warps":48,"schedulers":2}}' > "$T/old.json"
    "$GPULOCW" devices "$T/old.json" --json | python3 -c '
import json, sys
f = json.load(sys.stdin)["fields"]
assert f["branch_not_taken"]["value"] == -1 and not f["branch_not_taken"]["given"], f["branch_not_taken"]
assert f["lat_sreg"]["value"] == 72 and f["l1_sector"]["value"] == 128 and f["schedulers"]["given"]' &&
        "$GPULOCW" run kernels/gemm.ptx --device "$T/old.json" > "$T/run" && grep -q "equal to the original" "$T/run"
}
check "a file without the newer fields has its architecture's" old_file
unknown() {
    printf '{"format":"gpulocw-preset","version":1,"name":"x","title":"x","fields":{"l1_latancy":30}}' > "$T/x.json"
    "$GPULOCW" devices "$T/x.json" 2>&1 >/dev/null | grep -q 'unknown field "l1_latancy"'
}
check "a misspelt field is told" unknown
refused() { printf '{"format":"gpulocw-preset","version":1,"name":"x","title":"x","fields":{"expansion_set":17}}' > "$T/x.json"; ! "$GPULOCW" devices "$T/x.json" 2> "$T/e" && grep -q expansion_set "$T/e"; }
check "a set of expansions that does not exist is refused" refused
# A preset that is like another has its fields, but for its own.
like() { # NAME LIKE: writes $T/like.json
    printf '{"format":"gpulocw-preset","version":1,"name":"mine","title":"mine","like":"%s","fields":{"sms":{"value":3,"source":"a test"}}}' "$1" > "$T/like.json"
}
inherits() {
    like kepler-k80-16k
    "$GPULOCW" devices "$T/like.json" --json > "$T/mine" && "$GPULOCW" devices kepler-k80 --json > "$T/base" && python3 -c '
import json, sys
mine, base = (json.load(open(f))["fields"] for f in sys.argv[1:])
differ = sorted(k for k in base if mine[k]["value"] != base[k]["value"])
assert differ == ["sms"], differ
assert mine["cc_major"]["source"] == "assumed: as kepler-k80-16k (" + base["cc_major"]["source"] + ")", mine["cc_major"]
assert mine["sms"]["value"] == 3 and mine["carve_default"]["value"] == 112' "$T/mine" "$T/base"
}
check "a preset like another has its fields, through several files" inherits
unlike() { like nope; "$GPULOCW" devices "$T/like.json" 2>&1 >/dev/null | grep -q "no preset 'nope' is shipped"; }
check "a preset like one that is not there is refused" unlike
exit $bad
