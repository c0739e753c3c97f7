#!/bin/bash
# Guessed launches where the text fixes tiles, extents or what data are places in; what a guess costs, and what it tells meanwhile.
. tests/tool/tap.sh
"$B" launch tests/launch/tiles.ptx --json -o "$T/t.launch.json" > "$T/guess.json" 2> "$T/err"
# holds NAME KERNEL CLEAN CONDITION on l, its launch in the document
holds() { python3 - "$T" "$2" "$3" "$4" > "$T/said" 2>&1 <<'PY'; [ $? -eq 0 ] && ok "$1" || no "$1" "$(cat "$T/said")"; }
import json, sys
l = next(x for x in json.load(open(sys.argv[1] + "/guess.json"))["launches"] if sys.argv[2] in x["kernel"])
undone = [100 if l[k] is None else l[k] for k in ("idle_threads_percent", "idle_ctas_percent", "unread_percent", "unwritten_percent")]
assert l["clean"] is (sys.argv[3] == "clean") and max(undone) <= 10 and eval(sys.argv[4]), l
PY
holds "stores of an unrolled loop: as many threads as are left of a row of the tile" eight_steps clean "l['block'] == [16, 4, 1]"
holds "a race with every block: the one that the tile says, and what it does is measured" races_anyhow unclean "l['block'] == [32, 2, 1]"
holds "an element of shared memory for each thread of two dimensions: as many threads" rank_sum clean "l['block'][0] * l['block'][1] == 128"
holds "a halo that a parameter says: no longer than a block" says_halo clean "l['block'] == [256, 1, 1]"
holds "bytes that are places in an array of the thread's own" letters clean "l['grid'][0] * l['grid'][1] > 100"
holds "extents that the text fixes: CTAs come one after the other" fixed_extents clean "l['grid'][0] == 128"
holds "zeros over zeros are work" zeros clean "l['grid'][0] * l['block'][0] == 1 << 20"
doc "of 1024 elements: a common block" "[(l['block'], l['unwritten_percent']) for l in d['launches']] == [([16, 16, 1], 0)]" "$B" launch tests/launch/tiles.ptx -k square_product --json
"$B" launch tests/launch/tiles.ptx -k zeros --json --progress-fd 3 3> "$T/told" > /dev/null 2>&1
has "progress tells each launch that is tried" '"trying sizes", "detail": "zeros: grid 4096x1x1, block 256x1x1"' "$(cat "$T/told")"
tried=$(grep -c "trying sizes" "$T/told")
[ "$tried" -gt 4 ] && [ "$tried" -lt 30 ] && ok "what changes nothing is not tried with every size and block" || no "what changes nothing is not tried with every size and block" "$tried"
out=$("$B" launch tests/launch/tiles.ptx -k zeros -o "$T/z.json" 2>&1)
has "what is too much to check whole is told" "too much to check whole: its first CTAs are clean" "$out"
exit $bad
