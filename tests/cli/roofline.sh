#!/bin/bash
# Operations, bytes and copies counted, and the roofline made of them, against figures worked out by hand.
. tests/tool/tap.sh
W=tests/roof/work.ptx
c="(lambda c: %s)({x['name']: x['value'] for x in d['counters']})"
counts() { doc "$1" "$(printf "$c" "$2")" "$B" run "${@:3}" --json; }
counts "saxpy: 2 operations for 8 bytes read and 4 written" "(c['flop.fp32'], c['l2.read_sectors'] * 32, c['l2.write_sectors'] * 32) == (2 * 2**20, 8 * 2**20, 4 * 2**20) and 'flop.fp64' not in c and 'tensor.active' not in c and 'copy.requests' not in c" $W -k saxpy --exact
counts "the same from a sample" "abs(c['flop.fp32'] / 2**21 - 1) < 0.01" $W -k saxpy
counts "doubles: 5 of each of 64 threads, one more of 8" "c['flop.fp64'] == 5 * 64 + 8" $W -k doubles --exact
counts "halves in pairs, and a product of each of four warps" "(c['flop.fp16'], c['flop.tensor_16']) == (4 * 128, 4 * 4096) and 0 < c['tensor.active'] < 1" $W -k halves --exact
counts "a product by wgmma: 2 m n k; boxes of 16 KiB, two of each of two steps of four CTAs" "(c['flop.tensor_16'], c['copy.requests'], c['copy.read_sectors']) == (2 * 256 * 256 * 128, 16, 16 * 512) and c['copy.l2_hit_rate'] == 100 and 0 < c['tensor.active'] < 100" tests/tensor/gemm_wgmma.ptx -k n256
counts "tensor cores work for macs / 1,024 cycles of 528" "(lambda cycles: abs(c['tensor.active'] - 100 * 1024**3 / 512 / (528 * cycles)) < 0.5)((d['time_ns']['median'] - 3474) * 1.73)" tests/tensor/gemm_wgmma.ptx -k n1024

# the ceilings of hopper-h200 by hand: 132 SMs at 1,980 MHz, at 1,730 where tensor cores work
SM=132*1.98e9
TENSOR=132*1.73e9
roof() { doc "$1" "(lambda r, of, c, t: $2)(d['roofline'], lambda n: next(x for x in d['roofline']['ceilings'] if x['name'] == n), {x['name']: x['value'] for x in d['counters']}, d['time_ns']['median'] * 1e-9)" "$B" run "${@:3}" --json; }
roof "saxpy: a sixth of an operation for a byte of L2" "abs(of('L2')['operations_per_byte'] - 2 / 12) < 1e-9 and of('DRAM')['operations_per_byte'] is None and of('L2')['amount'] == 12 * 2**20 and r['origin'] == 'simulated' and r['limit'] == next(x['what'] for x in d['limits'] if x['what'] != 'unknown')" $W -k saxpy --exact
roof "its ceilings, and the time that each takes" "(of('fp32')['per_second'], of('L2')['per_second'], of('DRAM')['per_second']) == (128 * 2 * $SM, 5800 * 1.98e9, 4800e9 * 0.875) and abs(of('L2')['share'] - 12 * 2**20 / (5800 * 1.98e9) / t) < 1e-9 and abs(of('fp32')['share'] - 2**21 / (256 * $SM) / t) < 1e-9 and abs(r['attained_per_second'] - 2**21 / t) < 1" $W -k saxpy --exact
roof "each says which field of the preset it has, with unit and source" "'lanes_fp32 = 128 lane/cycle (CUDA programming guide' in of('fp32')['from'] and 'dram_gbps = 4800 GB/s (H200 data sheet) x dram_efficiency = 0.875' in of('DRAM')['from']" $W -k saxpy --exact
roof "two pipes: halves four a lane, products 4,096 a cycle and SM" "(of('fp16')['per_second'], of('tensor-16')['per_second']) == (128 * 4 * $TENSOR, 4096 * $TENSOR) and r['operations'] == 512 + 16384" $W -k halves --exact
roof "a product of 1,024 cubed" "r['operations'] == 2**31 and abs(of('L2')['operations_per_byte'] - 2**31 / (32 * (c['l2.read_sectors'] + c['l2.write_sectors']))) < 1e-6 and of('tensor-16')['share'] < 1" tests/tensor/gemm_wgmma.ptx -k n1024
"$B" run $W -k saxpy --exact -o "$T/s.json" --json >"$T/first" 2>/dev/null
"$B" report "$T/s.json" --format json >"$T/again" 2>/dev/null
is "a session keeps it" "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["roofline"])' "$T/first")" "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["roofline"])' "$T/again")"
md=$("$B" report "$T/s.json" --format md)
has "the page says it in words" "limited by $(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["limits"][0]["what"])' "$T/first")" "$md"
has "and draws it in characters" '^ +1e-2 +1e3 operations a byte; / L2, \. DRAM, - arithmetic' "$md"
"$B" report "$T/s.json" --format html >"$T/s.html"
python3 - "$T/s.html" <<'X' && ok "as a picture: well-formed, the point at a sixth" || no "as a picture"
import re, sys, xml.etree.ElementTree as E
svg = next(s for s in re.findall(r'<svg.*?</svg>', open(sys.argv[1]).read(), re.S) if 'Roofline' in s)
t = E.fromstring(svg); ns = '{http://www.w3.org/2000/svg}'
p = [c.find(ns + 'title').text for c in t.iter(ns + 'circle')]
assert len(p) == 1 and p[0].startswith('L2: 0.1667 operations a byte'), p
assert [l.find(ns + 'title').text for l in t.iter(ns + 'line') if l.find(ns + 'title') is not None] == ['fp32', 'L2', 'DRAM']
X
"$B" run $W -k saxpy -d sim:kepler-k80 >"$T/old" 2>&1; has "devices without tensor cores too" 'roofline +[0-9.]+ [GT]operation/s \(simulated\)' "$(cat "$T/old")"
exit $bad
