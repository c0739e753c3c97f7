#!/bin/bash
# From a program to a faster one by one command: emulated here, and before a GPU that is not real. What happens on one is not tried here.
. tests/tool/tap.sh
B=$(readlink -f "$B") E=$(readlink -f "$GPULOCW_BUILD")/tests/emulate L=$(readlink -f "$GPULOCW_BUILD")/tests/live
export GPULOCW_LIVE_WAIT=0.3
claim() { # NAME CONDITION...
    local name=$1; shift; n=$((n + 1))
    if "$@" > "$T/why" 2>&1; then echo "ok $n - $name"; else echo "not ok $n - $name"; sed 's/^/#   /' "$T/why" "$T/err" "$T/out" | tail -12; bad=1; fi
}
told() { # PYTHON over d, the document behind the program's lines
    python3 -B -c 'import json, sys
text = open(sys.argv[1]).read()
d = json.loads(text[text.index("{"):])
k = d["kernels"][0]
ok = eval(sys.argv[2])
print(ok, d)
sys.exit(not ok)' "$T/out" "$1"
}
cd "$T" || exit 1
"$B" optimize --emulate --json --seconds 40 -- "$E/columns" 7 > out 2> err; rc=$?
claim "exit status and output are the program's" test "$rc" -eq 7 -a "$(head -1 out)" = PASS
claim "its kernel is found, captured and tuned" told 'k["name"] == "columns" and k["captured"] and k["gain"] > 1.3 and k["evidence"] == "whole" and k["options_line"]'
claim "without a GPU nothing is put in, and nothing is called measured" told 'k["applied"] == 0 and k["equal"] is None and "simulated" in k["why"] and d["program"]["output_same"] is None and d["program"]["wall_tuned_ns"] is None and d["program"]["evidence"] == "modelled"'
claim "the whole is what its parts come to" told 'abs(d["program"]["gpu_tuned_ns"] * k["gain"] - d["program"]["gpu_ns"]) < 2'
claim "the session is there, and replays" "$B" report optimized/columns.session.json --format md -o -
"$B" optimize --emulate --json --seconds 40 -- "$E/columns" 7 > out 2> err; rc=$?
claim "a second time goes over its own files" test "$rc" -eq 7
mkdir other; echo mine > other/columns.ptx
"$B" optimize --emulate -o other -- "$E/columns" > out 2> err; rc=$?
claim "and over nobody else's" test "$rc" -ne 0 -a "$(cat other/columns.ptx)" = mine
"$B" optimize --emulate --seconds 4 -o few -- "$E/vectors" > out 2> err; rc=$?
claim "nothing to find is said" grep -q "leave it alone" err
"$B" optimize --emulate --json --seconds 60 -o shapes -- "$E/columns" 0 64 512 256 512 256 256 256 256 256 > out 2> err
claim "a kernel of several shapes: those of nine tenths of its time, each with what gains there" told '[(s["grid"][0], s["gain"] > 1.1, bool(s["options_line"])) for s in k["shapes"]] == [(8, True, True), (16, True, True)] and 0.9 < k["covers"] < 1 and abs(sum(s["share"] for s in k["shapes"]) - k["covers"]) < 1e-6'
claim "one session each, which apply can take" told 'len({s["session"] for s in k["shapes"]}) == 2 and all(json.load(open(s["session"]))["launch"]["grid"][0] == s["grid"][0] for s in k["shapes"])'
claim "the whole is what the shapes come to" told 'abs(d["program"]["gpu_tuned_ns"] - d["program"]["gpu_ns"] * (1 - sum(k["share"] * s["share"] * (1 - 1 / s["gain"]) for s in k["shapes"]))) < 2'
"$B" optimize --emulate --share 60 --json --seconds 2 -o two -- "$E/managed" > out 2> err
claim "a kernel below --share is named with its share" told 'any("takes" in (x["why"] or "") and x["gain"] is None for x in d["kernels"])'
CUPTI_PATH=$L/swap/libfake.so "$B" optimize --json --seconds 2 -o gpu -- "$L/swap/swapped" "$OLDPWD/tests/live/step.ptx" 12 plain 7 > out 2> err; rc=$?
claim "what cannot be captured is named, and the program's status stays" test "$rc" -eq 7
claim "with the reason" told 'not k["captured"] and k["why"] and k["share"] == 1'
"$B" optimize > out 2> err; rc=$?
claim "no program" test "$rc" -eq 2
"$B" optimize --share 200 -- true > out 2> err; rc=$?
claim "no percentage" test "$rc" -eq 2
echo "1..$n"; exit "${bad:-0}"
