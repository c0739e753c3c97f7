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
counts "tensor cores work for macs / 1,024 cycles of 528" "(lambda cycles: abs(c['tensor.active'] - 100 * 1024**3 / 512 / (528 * cycles)) < 0.5)((d['time_ns']['median'] - 3900) * 1.98)" tests/tensor/gemm_wgmma.ptx -k n1024
exit $bad
