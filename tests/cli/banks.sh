#!/bin/bash
# Bank conflicts by line: the map of words to banks, what other layouts leave, and that the rewrites leave just that.
. tests/tool/tap.sh
P=tests/sim/tiles.ptx
kernel() { echo "next(k for k in d['kernels'] if k['name'] == '$1')"; }
doc "a column of 32 words: all in one bank" "(lambda a: a['exact']['worst_request']['passes'] == 32 and a['exact']['worst_request']['least_passes'] == 1 and a['exact']['worst_request']['stride_words'] == 32 and a['exact']['worst_request']['banks'] == [list(range(0, 1024, 32))] + [[]] * 31)(next(a for a in $(kernel plain)['other_accesses'] if a['line'] == 75))" "$B" analyze $P -k plain --json
doc "a column of doubles: 16 lanes in two banks, 16 passes for each half of the warp" "(lambda w: (w['passes'], w['least_passes'], [len(b) for b in w['banks']][:3]) == (32, 2, [16, 16, 0]))(next(a for a in $(kernel tile64)['other_accesses'] if a['line'] == 223)['exact']['worst_request'])" "$B" analyze $P -k tile64 --json
layout() { "$B" analyze "$@" --json 2>/dev/null | python3 -c 'import json,sys
name, what = sys.argv[1:3]; c = next(k for k in json.load(sys.stdin)["kernels"] if k["name"] == name)["shared_layout"]
print("%.2f" % (c["passes_per_request"] if what == "now" else c["swizzled"] if what == "swizzled" else next((p["passes_per_request"] for p in c["padded"] if p["row"] == int(what)), -1)))' "$NAME" "$WHAT"; }
# what is foretold of the text is what the analysis counts in the rewritten text
same() {
    NAME=$1 WHAT=$2 told=$(NAME=$1 WHAT=$2 layout $P -k $1)
    "$B" rewrite $P -k $1 $3 -o "$T/s.ptx" 2>/dev/null; cp tests/sim/tiles.launch.json "$T/s.launch.json"
    is=$(NAME=$1 WHAT=now layout "$T/s.ptx" --launch "$T/s.launch.json" -k $1)
    if [ -n "$told" ] && [ "$told" = "$is" ]; then ok "$1 $3: $told passes foretold and counted"; else no "$1 $3: foretold $told, counted $is"; fi
}
same plain swizzled --swizzle-shared; same plain 128 "--smem-pad 128"; same plain 256 "--smem-pad 256"
same tile64 swizzled --swizzle-shared; same tile64 256 "--smem-pad 256"

# STEP BYTES TYPE: 32 lanes store and load TYPE at STEP bytes apart
strided() { cat >"$T/k.ptx" <<X
.version 8.0
.target sm_90
.address_size 64
.shared .align 16 .b8 tile[16384];
.visible .entry k(.param .u64 out)
{
	.reg .b32 %r<8>; .reg .b64 %d<4>; .reg .f32 %f<8>; .reg .f64 %e<8>;
	ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mul.lo.u32 %r2, %r1, $1; mov.u32 %r3, tile; add.u32 %r2, %r2, %r3;
	$3
	bar.sync 0; ld.shared.u32 %r4, [%r2]; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r4;
	ret;
}
X
cat >"$T/k.launch.json" <<X
{ "format": "gpulocw-launch", "version": 1, "ptx": "k.ptx", "launches": [ { "name": "default", "kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1],
  "args": [ { "name": "out", "buffer": "u32", "count": 32, "output": true, "init": {"fill": 0} } ] } ] }
X
}
two='cvt.rn.f64.u32 %e1, %r1; st.shared.f64 [%r2], %e1;' four='st.shared.v4.u32 [%r2], {%r1, %r1, %r1, %r1};'
# by hand: lanes of a half warp (8 bytes) or of a quarter (16) meet where their steps have factors of two in common with 16 or 8
for t in "8 2" "16 4" "24 2" "64 16" "128 32" "136 2"; do set -- $t; strided $1 8 "$two"
    doc "8 bytes a lane, $1 apart: $2 passes" "d['kernels'][0]['other_accesses'][0]['exact']['worst_request']['passes'] == $2" "$B" analyze "$T/k.ptx" --json; done
for t in "16 4" "32 8" "48 4" "128 32" "256 32" "144 4"; do set -- $t; strided $1 16 "$four"
    doc "16 bytes a lane, $1 apart: $2 passes" "d['kernels'][0]['other_accesses'][0]['exact']['worst_request']['passes'] == $2" "$B" analyze "$T/k.ptx" --json; done
strided 128 16 "$four"
doc "rows of 128 bytes, 16 a lane: swizzled as few as can be" "max(a['exact']['worst_request']['passes'] for a in d['kernels'][0]['other_accesses'] if a['kind'] == 'store' and a['space'] == 'shared') == 4" bash -c '"$1" rewrite "$2/k.ptx" --swizzle-shared -o "$2/r.ptx" >/dev/null 2>&1; cp "$2/k.launch.json" "$2/r.launch.json"; sed -i s/k.ptx/r.ptx/ "$2/r.launch.json"; "$1" analyze "$2/r.ptx" --json' - "$B" "$T"
doc "and proven in full" 'd["proof"]["holds"] is True' "$B" run "$T/k.ptx" --swizzle-shared --prove full --json
doc "advice names the rewrite and what it leaves" "any(('--swizzle-shared' in a['options_line'] or '--smem-pad' in a['options_line']) and 'leaves' in a['why'] for a in d['advice'])" "$B" tune $P --launch tests/sim/tiles-small.launch.json -k plain-256 --method model --json
"$B" analyze $P -k plain >"$T/text"
grep -q 'banks 0 to 31: W\.\{31\}   bank 0 serves 32 words: 0 32 64' "$T/text" && ok "the text draws the map" || no "the text draws the map" "$(tail -12 "$T/text")"
"$B" run $P -k plain -o "$T/s.json" >/dev/null 2>&1
"$B" report "$T/s.json" --format md | grep -q '^| 75 | 4 | 32 for 1 | 31.00 | 32 |' && ok "the report has the lines" || no "the report has the lines"
"$B" report "$T/s.json" --format html >"$T/s.html"
# 32 cells of the worst request, all in the first column
[ "$(grep -c '<rect x="84.0".*fill="#d55e00"' "$T/s.html")" = 32 ] && ok "the picture has 32 words in bank 0" || no "the picture has 32 words in bank 0" "$(grep -c d55e00 "$T/s.html")"
exit $bad
