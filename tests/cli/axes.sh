#!/bin/bash
# A sweep over several axes from outside: the document, the session it leaves, going on with it, and what is no axis.
. tests/tool/tap.sh
check() { # NAME PYTHON FILE
    n=$((n + 1))
    if python3 -c "
import json,sys
d=json.load(open(sys.argv[1]))
assert $2" "$3" 2>"$T/why"; then echo "ok $n - $1"; else echo "not ok $n - $1"; sed 's/^/#   /' "$T/why" | tail -3; bad=1; fi
}
sweep() { "$B" sweep kernels/coalescing.ptx --device sim:kepler-k80 --axis pi,carveout=0/100,bypass-op=cg/cs --json "$@" 2>"$T/err"; }
sweep -o "$T/s.json" > "$T/a.json"
check "the document" "(d['axis']==['pi','carveout','bypass-op'] and len(d['slices'])==4 and d['complete'] is True
    and sum(s['points_count'] for s in d['slices'])==len(d['points']) and [s['points_from'] for s in d['slices']]==[i*len(d['points'])//4 for i in range(4)]
    and d['points'][-1]['options']['carveout']==100 and d['points'][-1]['options']['bypass-op']=='cs' and d['best'] is not None)" "$T/a.json"
check "a run of the session for each slice" "len(d['runs'])==4 and len(set(r['note'] for r in d['runs']))==4 and all(r['axis']=='pi' for r in d['runs'])" "$T/s.json"
sweep --resume "$T/s.json" > "$T/b.json"
n=$((n + 1)); if cmp -s "$T/a.json" "$T/b.json"; then echo "ok $n - going on with a finished sweep changes nothing"; else echo "not ok $n - going on with a finished sweep changes nothing"; bad=1; fi
"$B" sweep kernels/coalescing.ptx --axis coarsen=1/2/4 --json > "$T/c.json" 2>"$T/err"
check "a listed knob" "d['axis']==['coarsen'] and [p['options']['coarsen'] for p in d['points']]==[1,2,4] and d['category'] is None and 'slices' not in d" "$T/c.json"
"$B" sweep kernels/tile_share.ptx --cluster redirect --axis index=row/graph --json > "$T/g.json" 2>"$T/err"
check "an axis that asks for the graph of what CTAs share has it" "[p['status'] for p in d['points']]==['OK', 'OK']" "$T/g.json"
for axis in moon pi,pi coarsen coarsen=9; do
    n=$((n + 1)); "$B" sweep kernels/coalescing.ptx --axis $axis > "$T/out" 2>&1; rc=$?
    if [ $rc -eq 2 ] && grep -q "axis\|not allowed" "$T/out"; then echo "ok $n - no axis: $axis"; else echo "not ok $n - no axis: $axis (exit $rc)"; bad=1; fi
done
exit $bad
