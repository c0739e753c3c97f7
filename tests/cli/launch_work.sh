#!/bin/bash
# A guessed launch gives its threads work and uses its buffers; launch --json says what is left undone.
. tests/tool/tap.sh
"$B" launch tests/launch/work.ptx --json -o "$T/work.launch.json" > "$T/guess.json" 2> "$T/err"
# holds NAME KERNEL CONDITION on l, its launch in the document, and d, its description
holds() { python3 - "$T" "$2" "$3" > "$T/said" 2>&1 <<'PY'; [ $? -eq 0 ] && ok "$1" || no "$1" "$(cat "$T/said")"; }
import json, sys
said, wrote = json.load(open(sys.argv[1] + "/guess.json")), json.load(open(sys.argv[1] + "/work.launch.json"))
l = next(x for x in said["launches"] if sys.argv[2] in x["kernel"])
d = next(x for x in wrote["launches"] if x["kernel"] == l["kernel"])
threads = l["block"][0] * l["block"][1] * l["block"][2]
undone = [l[k] for k in ("idle_threads_percent", "idle_ctas_percent", "unread_percent", "unwritten_percent")]
assert said["format"] == "gpulocw-guess" and d["grid"] == l["grid"] and d["block"] == l["block"]
assert l["clean"] is True and max(undone) <= 10 and eval(sys.argv[3]), (l, d["args"])
PY
holds "a guard that is a number: as many threads" small_table "l['grid'][0] * threads == 1536 and d['args'][0]['count'] == 1536"
holds "four elements a thread: a quarter of the CTAs" four_each "l['grid'][0] * threads * 4 == d['args'][1]['count']"
holds "a tile of 32x32: its CTAs, not its threads, cover the size" tile32 "l['grid'][0] * 32 == d['args'][2]['s32']"
holds "rows of a fixed length: a grid as wide as they are" wide_rows "l['grid'][0] * l['block'][0] == 2048"
holds "a row a warp: no block whose rows of threads are shorter" row_of_warp "l['block'][0] == 32"
holds "rows that are only stepped over: as long as what is used of them" narrow "d['args'][2]['s32'] == l['block'][0]"
holds "points, centres, dimensions: the points fill the device" centres "l['grid'][0] >= 132 and d['args'][3]['s32'] > d['args'][4]['s32']"
out=$("$B" run tests/launch/work.ptx -k centres -l "$T/work.launch.json" --check-memory --no-counters 2>&1)
has "and the description runs clean" "^outputs +equal" "$out"
printf '.version 7.0\n.target sm_70\n.address_size 64\n.entry a() { trap; }\n' > "$T/traps.ptx"
doc "what never runs is not clean, its shares are not known, and why is said" "all(l['clean'] is False and l['idle_threads_percent'] is None and 'no guess makes it' in l['why'] for l in d['launches'])" \
    "$B" launch "$T/traps.ptx" --json
exit $bad
