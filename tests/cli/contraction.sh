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
# One kernel in several writings: an addition that cannot be fused again is told in each of them, and only that one.
head='.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u64 out, .param .f32 x, .param .f32 y, .param .f32 z)\n{ .reg .pred %%p<4>; .reg .b32 %%r<12>; .reg .b64 %%d<10>; .reg .f32 %%f<12>;\n ld.param.u64 %%d1, [a]; ld.param.u64 %%d2, [out]; ld.param.f32 %%f1, [x]; ld.param.f32 %%f2, [y]; ld.param.f32 %%f3, [z];\n mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%tid.x; mad.lo.u32 %%r4, %%r1, %%r2, %%r3; mul.wide.u32 %%d3, %%r4, 4; add.s64 %%d4, %%d1, %%d3; add.s64 %%d5, %%d2, %%d3; ld.global.f32 %%f4, [%%d4]; setp.lt.f32 %%p1, %%f4, 0f3A03126F;\n'
tail='\n@%%p1 bra L1;\n mul.f32 %%f6, %%f2, %%f1;\nL1: add.f32 %%f4, %%f5, %%f4; add.f32 %%f4, %%f4, %%f7; st.global.f32 [%%d5], %%f4; ret; }\n'
writing() { # NAME NOTES TEXT OPTIONS...
    local name=$1 notes=$2 text=$3; shift 3
    printf "$head$text$tail" > "$dir/k.ptx"
    echo '{"format":"gpulocw-launch","version":1,"kernel":"k","grid":[4,1,1],"block":[64,1,1],"args":[{"name":"a","buffer":"f32","count":256,"init":{"random":[0,0.001],"seed":1}},{"name":"out","buffer":"f32","count":256,"output":true},{"name":"x","f32":-2.199},{"name":"y","f32":0.7},{"name":"z","f32":3.14159274}]}' > "$dir/k.launch.json"
    "$gpulocw" rewrite "$dir/k.ptx" "$@" -o "$dir/o.ptx" > /dev/null 2> "$dir/said"
    [ $? = 0 ] && [ "$(grep -c 'pass-contraction' "$dir/said")" = "$notes" ]; claim "$name, $*: $notes notes" $?
    "$gpulocw" run "$dir/k.ptx" "$@" --no-counters > "$dir/said" 2>&1; rc=$?
    [ "$notes" != 0 ] || [ "$rc" = 0 ]; claim "$name, $*: without a note nothing differs" $?
}
M='mul.f32 %%f6, %%f3, %%f2;' A='add.f32 %%f5, %%f6, %%f1;' O='add.f32 %%f7, %%f1, %%f2;'
for how in "--coarsen 2" "--coarsen 4"; do
    writing "two lines" 1 "$O\n$M\n$A" $how --coarsen-mode vector
    writing "one line" 1 "$O $M $A" $how --coarsen-mode vector
    writing "another addition before it" 1 "$O\n add.f32 %%f8, %%f1, %%f3; $M $A" $how --coarsen-mode vector
    writing "other additions around it" 1 "$M $O $A add.f32 %%f8, %%f1, %%f3;" $how --coarsen-mode vector
    writing "comments between" 1 "$O /* add.f32 */ $M // mul\n /* x\n y */ $A" $how --coarsen-mode vector
    writing "a statement over lines" 1 "$O mul.f32\n%%f6, %%f3,\n %%f2\n; add.f32 // add\n %%f5, %%f6, %%f1;" $how --coarsen-mode vector
    writing "nothing is fused" 0 "$O mul.rn.f32 %%f6, %%f3, %%f2; $A" $how --coarsen-mode vector
    writing "the product has its own register" 0 "$O mul.f32 %%f9, %%f3, %%f2; add.f32 %%f5, %%f9, %%f1; mov.f32 %%f6, 0f00000000;" $how --coarsen-mode vector
done
for form in clone predicate grouped; do writing "one line" 0 "$O $M $A" --bypass l1 --pi 1 --bypass-form $form; done
exit $bad
