#!/bin/bash
# Bulk and tensor copies in the analysis: bytes, sectors, who shares them; and that the simulator counts the same.
. tests/tool/tap.sh
C=tests/roof/copies.ptx G=tests/tensor/gemm_wgmma.ptx
at() { echo "(lambda k, at: %s)(d['kernels'][0], lambda line: next(a for a in d['kernels'][0]['loads'] + d['kernels'][0]['other_accesses'] if a['line'] == line))"; }
says() { doc "$1" "$(printf "$(at)" "$2")" "$B" analyze "${@:3}" --json; }
# byte 1,040 x is 16 over a sector where x is odd: 33 sectors either way
says "plain copies: bytes and sectors" "(lambda e: (e['requests'], e['sectors'], e['bytes_used']) == (16, 16 * 33, 16 * 1040))(at(29)['exact']) and at(29)['space'] == 'copy' and at(29)['bytes'] == 1040 and at(29)['class'] == 'streaming' and at(29)['address'] == 'a + 1040*ctaid.x, 1040 bytes'" $C -k plain
says "the store of one CTA" "at(39)['kind'] == 'store' and (at(39)['exact']['requests'], at(39)['exact']['sectors']) == (1, 8)" $C -k plain
# boxes of four columns: 8, 16, 16, 16 elements of 8 rows; 32 or 64 bytes a row, that begin at a sector
says "boxes: what lies outside of the tensor is not moved" "(lambda e: (e['requests'], e['bytes_used'], e['sectors']) == (8, 2 * 8 * 4 * (8 + 3 * 16), 2 * 8 * (1 + 3 * 2)))(at(69)['exact']) and at(69)['address'] == 'map {8*(2*ctaid.x - 1), 8*ctaid.y}' and k['reuse']['inter_cta'] == 0" $C -k boxes
says "cp.async that reads nothing in half of the lanes" "(at(93)['exact']['requests'], at(93)['exact']['sectors']) == (2, 16) and k['reuse']['inter_cta'] == 0.5 and k['class'] == 'algorithm'" $C -k some
says "a product by tensor copies has the class that its boxes share" "k['class'] == 'algorithm' and abs(k['reuse']['inter_cta'] - 7 / 8) < 0.01 and (k['partition']['strength_x'], k['partition']['strength_y']) == (0.5, 0.5) and k['partition']['index'] == 'none' and 'an SM for each' in k['partition']['why']" $G -k n1024
says "copies are not in L1: no footprint there" "k['footprint'] is None" $G -k n1024
for k in n256 n1024; do
    a=$("$B" analyze $G -k $k --json | python3 -c 'import json,sys
c = [a["exact"] for a in json.load(sys.stdin)["kernels"][0]["other_accesses"] if a["space"] == "copy"]; print(sum(e["requests"] for e in c), sum(e["sectors"] for e in c))')
    s=$("$B" run $G -k $k --json | python3 -c 'import json,sys
c = {x["name"]: x["value"] for x in json.load(sys.stdin)["counters"]}; print(c["copy.requests"], c["copy.read_sectors"])')
    is "$k: the simulator counts the same copies and sectors" "$a" "$s"
done
out=$("$B" analyze $G -k n1024)
has "the table of accesses names map and box" 'line 987 +load +copy +A \{256\*k2, 128\*ctaid.y\} +256 copies of 16384 bytes, 512.00 sectors each, at least 512.00; algorithm' "$out"
out=$("$B" analyze tests/tensor/triton/matmul_own_maps.ptx 2>&1)
has "maps that the kernel makes: not counted, and why" 'the access at line 267 is not counted: the tensor map at line [0-9]+ is created by the kernel' "$out"
if grep -q '^partition' <<<"$out"; then no "nothing is known of sharing there" "$out"; else ok "nothing is known of sharing there"; fi
exit $bad
