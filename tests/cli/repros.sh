#!/bin/bash
# Every defect that a stranger found, with the files that showed it (tests/repro): refused, or right. The tests of its neighbours:
#   sel, hilo            attacks.sh, attacks_hand.sh (tests/attacks), test_pass_alias, test_analysis_alias_gen
#   atk2, m waitup, n    attacks.sh, attacks_hand.sh, test_pass_waits
#   m dync and dynz, mu  attacks.sh, attacks_hand.sh ("sees")
#   tolx                 test_tune_prove, test_tune_bounds
#   cycle                test_pass_run, fuzz_kernel (tests/fuzz/corpus/kernel)
#   lesson, escape       hostile.sh, test_tui_hostile, test_tui_lessons
#   relay, stale lines   workers.sh (tests/fake/relay.py), test_tui_storm
#   the others           foreign.sh, rewrites_ptxas.sh, launch_rate.sh, test_ptx_link, link.sh
. tests/tool/tap.sh
cp tests/repro/* "$T"/
H="--device sim:hopper-h200 --no-counters"
p() { echo "$T/$1.ptx"; }
for f in sel hilo; do
    for o in "--readonly promote" "--bypass ro --pi bpa"; do
        code "$f, $o: a store may go there" 3 "a store may go to the same memory" timeout 100 "$B" run "$(p $f)" $o $H
    done
done
code "atk2, chain16: a flag of another CTA, another order" 3 "waits for another CTA's flag" timeout 100 "$B" run "$(p atk2)" -k chain16 --cluster redirect --clusters 3 $H
code "atk2, chain600 on another device" 3 "waits for another CTA's flag" timeout 100 "$B" run "$(p atk2)" -k chain600 --cluster redirect --clusters 3 --device sim:fermi-48k
code "m, waitup: coarsening" 3 "a loop may wait here for other CTAs" timeout 100 "$B" run "$(p m)" -k waitup --coarsen 2 $H
code "n, waitcall: the loop is in a callee" 3 "a loop may wait here for other CTAs" timeout 100 "$B" run "$(p n)" -k waitcall --coarsen 2 $H
for k in dync dynz; do
    for o in "--throttle-shared 1024" "--softcache auto"; do
        code "m, $k, $o: sees the size of shared memory" 3 "%dynamic_smem_size" timeout 100 "$B" run "$(p m)" -k $k $o $H
    done
done
code "mu: warps as they are now" 3 "\.uni" timeout 100 "$B" run "$(p mu)" --block 48x1x1 $H
code "tolx: sees the size of shared memory" 3 "%dynamic_smem_size" timeout 100 "$B" run "$(p tolx)" --throttle-shared 1024 $H
grep -v "dynamic_smem_size" "$(p tolx)" > "$(p toly)"; sed 's/tolx\.ptx/toly.ptx/' "$T/tolx.launch.json" > "$T/toly.launch.json"
code "and without, nothing is beyond what atomics reach" 0 "outputs +(equal|within)" timeout 100 "$B" run "$(p toly)" --throttle-shared 1024 $H --prove full
code "cycle: definitions in a circle" 0 "loads are prefetched" timeout 100 "$B" rewrite "$(p cycle)" -k k10_0 --cluster agent --prefetch l1 --device sim:hopper-h200 -o "$T/cycle.out.ptx"
code "a prototype without a semicolon" 0 "" "$B" analyze "$(p func_proto_no_semicolon)"
code "a hidden parameter" 0 "" "$B" analyze "$(p hidden_param)"
code "a vote on an old target" 0 "target raised" "$B" rewrite "$(p vote_knob)" --bypass l1 --pi vote -o "$T/vote.out.ptx"
if command -v ptxas > /dev/null; then
    code "and ptxas takes it on the least target that it knows" 0 "" sh -c "sed 's/^\.target .*/.target sm_75/' '$T/vote.out.ptx' > '$T/v75.ptx' && ptxas -arch=sm_75 -o /dev/null '$T/v75.ptx'"
fi
"$B" launch "$(p sizet)" -o "$T/sizet.launch.json" > /dev/null 2>&1
is "size_t and double are no buffers" "$(python3 -c "
import json, sys
for l in json.load(open(sys.argv[1]))['launches']:
    print(l['kernel'], *['buffer' if 'buffer' in a else next(k for k in a if k != 'name') for a in l['args']])" "$T/sizet.launch.json" | tr '\n' ';')" \
    "_Z6copy2dP6float2PKS_mmmm buffer buffer s64 s64 s64 s64;_Z6scaleddPKdPd f64 buffer buffer;"
rm -f "$T/tid_only.launch.json"
"$B" launch "$(p tid_only)" -o "$T/tid_only.launch.json" > /dev/null 2>&1
code "what reads %tid alone gets one CTA, which does not race" 0 "" "$B" run "$(p tid_only)" --check-memory $H
code "two files, one program" 0 "scale" "$B" analyze "$(p dev_a)" "$(p dev_b)"
out=$("$B" analyze "$(p escape-comment)" 2>&1; "$B" rewrite "$(p escape-comment)" --bypass l1 --pi 1 --diff --color never 2>&1 | cat -v)
! grep -q $'\033' <<< "$out" && ok "no escape sequence of a comment is printed" || no "no escape sequence of a comment is printed" "$out"
mkdir -p "$T/home" "$T/lessons"; echo mine > "$T/home/.bashrc"; cp kernels/stride_4.* "$T/lessons/"
cp "$T/lesson-writes.json" "$T/lessons/lesson.json"
(cd "$T/lessons" && printf 'quit\n' | HOME=$T/home timeout 100 "$B" --plain lesson.json > "$T/said" 2>&1)
is "a lesson that writes when it is opened writes nothing" "$(cat "$T/home/.bashrc")" "mine"
exit $bad
