#!/bin/sh
# mul and add as ptxas fuses them: against its machine code, against a GPU's recorded outputs, and through rewrites.
build=${GPULOCW_BUILD:-build}; gpulocw=$build/gpulocw
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
n=5 bad=0
claim() { # NAME STATUS
    n=$((n + 1))
    if [ "$2" = 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; bad=1; fi
}
python3 tests/tool/contraction.py "$build" 60 || bad=1
hash() { "$gpulocw" run tests/suites/linear.ptx -k lu_update --json "$@" | python3 -c 'import json,sys; print(json.load(sys.stdin)["outputs"][0]["hash"])'; }
gpu=$(python3 - <<'PY'
import json
for r in map(json.loads, open("tests/gpu/accuracy-h200.jsonl")):
    if r.get("kind") == "run" and r["kernel"] == "lu_update":
        print(r["outputs"]["A"])
PY
)
[ "$(hash)" = "$gpu" ]; claim "lu_update: the bytes of an H200" $?
[ "$(hash --contract as-ptxas)" = "$gpu" ]; claim "--contract as-ptxas is the default" $?
[ "$(hash --contract never)" != "$gpu" ]; claim "--contract never: others" $?
[ "$(hash -d sim:hopper-h200+nofma)" = "$(hash --contract never)" ]; claim "+nofma behind the device is the same" $?
"$gpulocw" run tests/suites/linear.ptx -k lu_update --contract sometimes 2> "$dir/said"; [ $? = 2 ] && grep -q "as-ptxas or never" "$dir/said"; claim "another word is a mistake of usage" $?
# A mul before the branch of the clones, its sub behind it: both copies are fused as the original is.
[ "$("$build/tests/contracted" tests/sim/contract.ptx | wc -l)" = 1 ]; claim "the original is fused once" $?
for form in clone grouped predicate; do
    "$gpulocw" rewrite tests/sim/contract.ptx --bypass l1 --bypass-form $form --pi 1 -o "$dir/$form.ptx" 2> "$dir/said"
    subs=$(grep -c "sub.f32" "$dir/$form.ptx")
    [ "$subs" -gt 0 ] && [ "$("$build/tests/contracted" "$dir/$form.ptx" | wc -l)" = "$subs" ]; claim "$form: each of $subs subtractions is fused" $?
done
exit $bad
