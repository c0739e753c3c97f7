#!/bin/bash
# rewrite, from outside: diff, document, costs, refusals that leave no file behind, schedules.
. tests/tool/tap.sh
# refused NAME PATTERN OPTIONS...: exit 3, the reason matches, and the file that was there is as it was
refused() {
    local name=$1 pattern=$2 out rc; shift 2
    printf "as it was\n// written by gpulocw\n" >"$T/out.ptx"
    out=$("$B" rewrite "$@" -o "$T/out.ptx" 2>&1 </dev/null); rc=$?
    if [ $rc -eq 3 ] && grep -qE -- "$pattern" <<<"$out" && [ "$(head -1 "$T/out.ptx")" = "as it was" ] && [ "$(ls "$T" | wc -l)" = 1 ]; then ok "$name"
    else no "$name" "exit $rc, wanted 3 and /$pattern/; left: $(ls "$T" | tr '\n' ' ')" "$out"; fi
}
G=kernels/gemm.ptx V=kernels/valley.ptx
# Contradictions and values that do not fit here.
refused "a threshold without --bypass" "--pi has no effect without --bypass" $G --pi 3
refused "an operator without --bypass" "--bypass-op has no effect" $G --bypass-op cs
refused "agents without --cluster agent" "--agents has no effect without --cluster agent" $G --cluster redirect --agents 2
refused "an order without --cluster" "--index has no effect" $G --index column
refused "a distance without --prefetch" "--prefetch-distance has no effect" $G --prefetch-distance 4
refused "a line size without --softcache" "--softcache-line has no effect" $G --softcache-line 32
refused "structures without --softcache" "--softcache-data has no effect" $G --softcache-data A
refused "a threshold for the vertical form" "--bypass-form hybrid uses both" $G --bypass l1 --bypass-form vertical --pi 2
refused "loads for a form that treats all alike" "selects loads" $G --bypass l1 --bypass-loads 30 --pi 2
refused "an operator for the hardware form" "inserts no operator" $V --device sim:fermi-16k --bypass l1 --bypass-form hardware --bypass-op cs --pi 3
refused "a threshold beyond the CTA's warps" "the threshold is 0..8" $G --bypass l1 --pi 9
refused "the L2's operator for L1" "affects only L2" $G --bypass l1 --bypass-op cache_hint --pi 2
refused "an operator newer than the target" "needs sm_80" $G --device sim:volta-v100 --bypass l2 --bypass-op cache_hint --pi 2
refused "an L1 priority on an older target" "--bypass-op evict_last needs sm_70" $G --device sim:maxwell-750ti --bypass l1 --bypass-op evict_last --pi 2
refused "an L2 priority without policies" "--bypass-op evict_last of L2 needs sm_80" $G --device sim:volta-v100 --bypass l2 --bypass-op evict_last --pi 2
refused "a hardware threshold on no hardware" "L1: use --bypass l1" $V --bypass l2 --bypass-form hardware --pi 3
refused "shared memory of one pass" "bytes of shared memory per CTA" $G --throttle-shared 250000
refused "shared memory of several passes together" "the rewritten kernel would need" kernels/transpose.ptx -k transpose_tiled --cluster agent --throttle-shared 228200
refused "more lines than fit" "fit into the shared memory" $G --softcache 64
refused "a number of iterations that is no power of two" "1, 2, 4 or 8" $G --coarsen 3
refused "resident CTAs that an SM cannot hold" "exceed the" $G --minctas 64
refused "an order whose file is wrong" "is not a number below" $G --cluster redirect --index custom:kernels/gemm.cu
refused "a kernel that was rewritten before" "it has been rewritten before" tests/golden/pass/clone.ptx --bypass l1 --pi 1
refused "no launch for a loop schedule" "no launch description" tests/golden/pass/in_grid.ptx --swap-xy
code "a bypass at the threshold that bypasses nothing is said" 0 "no effect with --pi cha" "$B" rewrite $G --bypass l1
code "by run too" 0 "no effect with --pi cha" "$B" run $G --bypass l1 --no-counters
code "and what else changes nothing" 0 "change nothing in 'gemm'" "$B" rewrite $G
# A file that cannot be written.
out=$("$B" rewrite $G --bypass l1 --pi 3 -o "$T/none/x.ptx" 2>&1); rc=$?
[ $rc -eq 1 ] && [ ! -e "$T/none" ] && ok "a place where no file can be" || no "a place where no file can be" "exit $rc" "$out"
rm -f "$T"/*
# What is shown.
doc "the document: every line's origin" "d['format']=='gpulocw-rewrite' and d['changed'] and len(d['lines'])==d['text'].count(chr(10)) and all((l['pass'] is None)==(not l['copy'] and l['original'] is not None and d['text'].split(chr(10))[l['line']-1]==open('$V').read().split(chr(10))[l['original']-1] and l['pass'] is None) for l in d['lines'])" "$B" rewrite $V --bypass l1 --pi 3 --json
doc "the document: a copy names the line it is a copy of" "[l for l in d['lines'] if l['copy']] and all(l['pass']=='bypass' and d['text'].split(chr(10))[l['line']-1].split()[0].split('.')[0]==open('$V').read().split(chr(10))[l['original']-1].split()[0].split('.')[0] for l in d['lines'] if l['copy'] and d['text'].split(chr(10))[l['line']-1].split()[0]!='.loc' and not d['text'].split(chr(10))[l['line']-1].startswith('\$'))" "$B" rewrite $V --bypass l1 --pi 3 --json
doc "the document: cost and launch" "d['cost']['registers']['original']>0 and d['cost']['shared_bytes']['rewritten']>d['cost']['shared_bytes']['original'] and d['cost']['ctas_per_sm']['rewritten']>0 and d['launch']['grid'][1]==1 and d['zeroed'] and d['knobs']['words'][1]==2" "$B" rewrite $G --cluster agent --agents 2 --json
out=$(COLUMNS=120 "$B" rewrite $V --bypass l1 --pi 3 --diff --color always 2>/dev/null)
printf '%s' "$out" | python3 -c "
import re,sys
rows=[re.sub('\033\\[[0-9;]*m','',l) for l in sys.stdin.read().split('\n')]
assert all(len(r)<=120 for r in rows), max(map(len,rows))
assert any('ld.global.cg' in r and r.rstrip().endswith('bypass') for r in rows)
assert any(r[58:61].strip() in ('│','|') for r in rows)" 2>"$T/py" && ok "side by side: columns fit, changed lines name their pass" || no "side by side" "$(tail -3 "$T/py")" "$(head -5 <<<"$out")"
grep -q $'\033\[34mld.global.cg.f32' <<<"$out" && ok "side by side: PTX in colour" || no "side by side: PTX in colour"
"$B" rewrite $V --bypass l1 --pi 3 --diff 2>/dev/null | grep -q '^@@ -' && ok "--diff through a pipe is a unified diff" || no "--diff through a pipe is a unified diff"
"$B" rewrite $V --cluster agent 2>&1 >/dev/null | grep -qE "registers [0-9]+ -> [0-9]+ per thread.*CTAs per SM" && ok "the cost is told with its effect on occupancy" || no "the cost is told with its effect on occupancy"
# Schedules.
doc "schedules: legal ones by cost, others with the reason" "[s['cost_cycles'] for s in d['schedules'] if s['cost_cycles'] is not None]==sorted(s['cost_cycles'] for s in d['schedules'] if s['cost_cycles'] is not None) and len(d['schedules'])>10 and d['schedules'][0]['legal'] and all(s['legal'] or s['why'] for s in d['schedules'])" "$B" analyze kernels/syrk.ptx --schedules --json
doc "schedules: refused where the shape is seen" "any('barrier' in (s['why'] or '') for s in d['schedules'])" "$B" analyze kernels/reduction.ptx --schedules --json
# Values that a launch finds.
doc "--agents vote ends in a number" "d['equal_to_original'] is True and d['options']['agents'] not in ('vote',0,'0')" "$B" run $V --device sim:fermi-16k -k fermi --cluster agent --agents vote --json
doc "--softcache auto ends in the structures that hit" "d['equal_to_original'] is True and d['options']['softcache-data'].split(',')[0]=='text'" "$B" run kernels/softcache_stream.ptx --device sim:fermi-16k --softcache auto --json
"$B" run kernels/softcache_stream.ptx --device sim:fermi-16k --softcache 2 2>/dev/null | grep -qE "software cache: [0-9.]+ % of [0-9]+ accesses hit .*warp instructions \+[0-9.]+ %" && ok "hit rate beside the instructions it costs" || no "hit rate beside the instructions it costs"
exit $bad
