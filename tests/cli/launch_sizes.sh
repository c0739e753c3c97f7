#!/bin/bash
# A guessed launch reads sizes and blocks where the code says them: warps that add up, tables, offsets, modes, shared memory.
. tests/tool/tap.sh
"$B" launch tests/launch/sizes.ptx --json -o "$T/sizes.launch.json" > "$T/guess.json" 2> "$T/err"
# holds NAME KERNEL CONDITION on l, its launch in the document, and a, its arguments, d, its description
holds() { python3 - "$T" "$2" "$3" > "$T/said" 2>&1 <<'PY'; [ $? -eq 0 ] && ok "$1" || no "$1" "$(cat "$T/said")"; }
import json, sys
said, wrote = json.load(open(sys.argv[1] + "/guess.json")), json.load(open(sys.argv[1] + "/sizes.launch.json"))
l = next(x for x in said["launches"] if sys.argv[2] in x["kernel"])
d = next(x for x in wrote["launches"] if x["kernel"] == l["kernel"])
a = d["args"]
undone = [l[k] or 0 for k in ("idle_threads_percent", "idle_ctas_percent", "unread_percent", "unwritten_percent")]
assert l["clean"] is True and max(undone) <= 10 and eval(sys.argv[3]), (l, d)
PY
holds "an array with an element for each warp: several warps" sum_of_warps "l['block'] == [256, 1, 1] and l['grid'][0] >= 132"
holds "a few counters that the first threads set: several warps" bins "l['block'][0] >= 64 and l['grid'][0] >= 132 and a[0]['init']['random'][1] == 15"
holds "what only moves addresses is one element" planes "a[3]['s32'] == 1 and a[0]['count'] == 3 * a[2]['s32']"
holds "a loop over a table ends with it" filtered "a[3]['s32'] == 9 and l['grid'][0] >= 132"
holds "what is done in one mode only is done" only_if "a[3]['s32'] == 3 and a[1]['count'] == a[2]['s32']"
holds "dynamic shared memory: as much as is touched" staged "40000 <= d['shared'] <= 41024"
holds "rows are as long as what is used of them" columns "a[1]['s32'] == 4 * a[2]['s32']"
holds "a list by number: chains end" follow "a[0]['init'][1]['fill'] == -1 and l['grid'][0] >= 132"
# A tree leaves out what nobody looks for: its shares are its own.
"$B" run tests/launch/sizes.ptx -k search -l "$T/sizes.launch.json" --check-memory --no-counters > "$T/run" 2>&1; has "a tree by number runs clean" "^outputs +equal" "$(cat "$T/run")"
doc "a product of Triton's, with the shared memory that it touches" 'd["launches"][0]["clean"] is True and "shared" in d["launches"][0]["guessed"]' "$B" launch tests/tensor/triton/matmul.ptx --json
"$B" check tests/launch/sizes.ptx -k sum_of_warps --json > "$T/check.json" 2> /dev/null
doc "a kernel whose warps meet is checked for races between them" 'all(r["checked"] for r in d["kernels"][0]["rules"])' cat "$T/check.json"
exit $bad
