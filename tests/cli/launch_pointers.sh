#!/bin/bash
# Guessed launches of kernels that follow pointers in memory, and of one that is too much to try whole.
. tests/tool/tap.sh
"$B" launch tests/launch/pointers.ptx --json -o "$T/p.launch.json" > "$T/guess.json" 2> "$T/err"
# holds NAME KERNEL CONDITION on l, its launch in the document, and a, its arguments
holds() { python3 - "$T" "$2" "$3" > "$T/said" 2>&1 <<'PY'; [ $? -eq 0 ] && ok "$1" || no "$1" "$(cat "$T/said")"; }
import json, sys
said, wrote = json.load(open(sys.argv[1] + "/guess.json")), json.load(open(sys.argv[1] + "/p.launch.json"))
l = next(x for x in said["launches"] if sys.argv[2] in x["kernel"])
a = next(x for x in wrote["launches"] if x["kernel"] == l["kernel"])["args"]
assert l["clean"] is True and eval(sys.argv[3]), (l, a)
PY
nodes='int(a[0]["address"], 16) + %d == a[0]["init"][0]["iota"][0] and a[0]["init"][0]["count"] * 8 == %d * a[1]["count"] and a[0]["init"][1]["fill"] == 0'
holds "a list: each node leads to the next, the last to none" walk "$(printf "$nodes" 8 16)"
holds "heads of lists: the same" buckets "$(printf "$nodes" 16 16) and l['unread_percent'] < 10"
holds "a tree: both ways lead on" find "$(printf "$nodes" 8 8) and l['unread_percent'] < 10"
holds "an array of arrays: each has its part behind the pointers, all of which is used" batched "l['unread_percent'] < 10 and l['unwritten_percent'] < 10 and not a[0].get('output') and a[2]['output']"
holds "an index of 64 bits is no pointer" gather "'address' not in a[1] and a[1]['init']['permutation'] is True"
holds "a product of a fixed size: a square of CTAs, and it says that a part was tried" product "l['grid'] == [64, 64, 1] and l['in_part'] is True and [x['count'] for x in a] == [1 << 20] * 3"
has "in words, too" "product: .* too much to try whole" "$(cat "$T/err")"
for k in find batched; do
    out=$("$B" run tests/launch/pointers.ptx -k $k -l "$T/p.launch.json" --check-memory --no-counters 2>&1)
    has "$k runs clean as described" "^outputs +equal" "$out"
done
exit $bad
