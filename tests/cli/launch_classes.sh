#!/bin/bash
# Guessed launches where only the arithmetic of indices tells the block, or the work of a CTA.
. tests/tool/tap.sh
"$B" launch tests/launch/classes.ptx --json -o "$T/c.launch.json" > "$T/guess.json" 2> "$T/err"
# holds NAME KERNEL CONDITION on l, its launch in the document, and a, its arguments
holds() { python3 - "$T" "$2" "$3" > "$T/said" 2>&1 <<'PY'; [ $? -eq 0 ] && ok "$1" || no "$1" "$(cat "$T/said")"; }
import json, sys
said, wrote = json.load(open(sys.argv[1] + "/guess.json")), json.load(open(sys.argv[1] + "/c.launch.json"))
l = next(x for x in said["launches"] if sys.argv[2] in x["kernel"])
a = next(x for x in wrote["launches"] if x["kernel"] == l["kernel"])["args"]
undone = [l[k] or 0 for k in ("idle_threads_percent", "idle_ctas_percent", "unread_percent", "unwritten_percent")]
assert l["clean"] is True and max(undone) <= 10 and eval(sys.argv[3]), (l, a)
PY
holds "addresses that a CTA moves by eight blocks: an eighth of the CTAs" eight_blocks "l['grid'][0] * l['block'][0] * 8 == a[0]['count']"
holds "an index divided by a width, bounded by a product: both sides of a square" image "a[2]['s32'] == a[3]['s32'] and a[2]['s32'] ** 2 == a[1]['count'] == l['grid'][0] * l['block'][0]"
holds "lanes that exchange values, no CTA, no shared memory: one warp" one_warp "l['block'] == [32, 1, 1] and l['grid'] == [1, 1, 1]"
holds "arrays a fixed number of bytes apart: as many elements" two_arrays "l['grid'][0] * l['block'][0] == a[2]['s32'] == 1 << 20"
holds "a tile counted along one axis: a thread for each element" folded "l['block'] == [1024, 1, 1] and l['grid'][0] > 1"
holds "what is added to an index leaves it inside" moved "a[3]['s32'] == 1"
holds "rows of shared memory that x counts, read and written across: a square of them" turned "l['block'] == [32, 32, 1] and l['grid'] == [32, 32, 1]"
holds "fragments and no index of a thread: a warp for each tile" fragments "l['block'] == [32, 1, 1] and l['grid'][0] * 16 == a[4]['s32'] == l['grid'][1] * 16"
holds "a halo in front of a pointer: it leads into the middle of its buffer" halo "a[0]['same_as'] == a[0]['name'] + '_buffer' and 12 <= a[0]['offset'] < 64 and l['grid'][0] * l['block'][0] == a[1]['count']"
holds "a row in front of it: as far in" halo_rows "a[0]['offset'] == a[2]['s32'] * 4"
has "and it is told" "warning: up to [0-9]+ bytes in front of where '.*' points are touched" "$(cat "$T/err")"
out=$("$B" check tests/launch/classes.ptx -k halo 2>&1)
has "nor is an access out of bounds called looked for" "not checked to the end: out-of-bounds .what is touched in front of a pointer" "$out"
holds "lanes that add up in a block of two dimensions: rows are warps" warp_rows "l['block'][0] == 32 and l['block'][1] in (4, 8)"
holds "what every thread prints is paid for" prints "l['grid'][0] * l['block'][0] <= 1 << 17"
holds "indices leave nothing out" scatter "a[1]['init'] == {'permutation': True, 'seed': 2} and a[1]['count'] == a[3]['s32']"
holds "a number divided by a parameter, a part for each CTA: as many CTAs as it says" parts "l['grid'][0] == a[2]['s32'] and l['grid'][0] * l['block'][0] == 4096"
holds "letters that are places in a table of constant memory" genome "a[0]['init']['random'] == [0, 3]"
holds "a CTA has a row: rows as long as many blocks" row_of_cta "a[4]['count'] == l['grid'][0] + 1 and a[2]['count'] >= 512 * l['grid'][0]"
doc "lanes that touch no memory stay with the one that does" "[l['block'] for l in d['launches']] == [[32, 1, 1]]" "$B" launch tests/launch/classes.ptx -k _Z4votePi --json -o "$T/v.json"
doc "warps that race in the device's memory: no block of one warp hides it" "[(l['clean'], l['block'], l['unread_percent']) for l in d['launches']] == [(False, [256, 1, 1], 0)]" "$B" launch tests/launch/classes.ptx -k _Z4meanPKfPiPfi --json -o "$T/v.json"
out=$("$B" run tests/launch/classes.ptx -k scatter -l "$T/c.launch.json" --check-memory --no-counters 2>&1)
has "and no two threads write one place" "^outputs +equal" "$out"
exit $bad
