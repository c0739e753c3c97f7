#!/bin/bash
# Presets of GPUs that nobody measured here: published numbers have sources, all the others are assumed and shown so.
. tests/tool/tap.sh
for p in turing-t4 ampere-3090 ada-l4 blackwell-rtx5090 blackwell-b200; do
    "$B" devices $p --json >"$T/p.json" 2>"$T/err" || no "$p is there" "$(cat "$T/err")"
    has "$p runs a kernel" "gemm on .* \(simulated\)" "$("$B" run "$(k gemm)" -d sim:$p 2>&1 | head -1)"
    said=$("$B" devices $p | sed 1,3d)
    is "$p: what another GPU is measured by is assumed" "$(grep -E ' measured' <<<"$said" | grep -vcE ' assumed: |default: ')" 0
    has "$p: sources of its own" "sheet|whitepaper|specification|product brief" "$(grep -E '^(dram_gbps|l2_bytes) ' <<<"$said")"
done
is "a preset of the same GPU keeps its sources" "$("$B" devices kepler-k80-16k | grep -c 'assumed: as kepler-k80 (')" 0
lines() { "$B" devices "$1" | grep -E "^$2 "; }
has "the GTX 750 Ti has the 24 KB of its own chip" " 24576 .*compute capability 5.x" "$(lines maxwell-750ti l1_bytes)"
is "texture caches of Maxwell and Pascal have four sets for 24 KB" "$(for p in maxwell-750ti maxwell-980 maxwell-titanx pascal-p100 pascal-gtx1080; do
    echo $(($(lines $p l1_bytes | awk '{ print $2 }') / 128 / $(lines $p l1_ways | awk '{ print $2 }') * 24576 / $(lines $p l1_bytes | awk '{ print $2 }'))); done | sort -u)" 4
is "the GTX 1080's published numbers are its own" "$(lines pascal-gtx1080 '(sms|clock_mhz|l2_bytes|dram_gbps|l1_bytes|mem_bytes)' | grep -vc assumed)" 6
has "the GTX 1080 says what is assumed" "assumed: as maxwell-980" "$(lines pascal-gtx1080 l1_latency)"
rate() { "$B" run kernels/atax.ptx -d "sim:$1" --global-l1 on --json 2>"$T/err" | python3 -c "import json, sys; print([c['value'] for c in json.load(sys.stdin)['counters'] if c['name'] == 'l1.hit_rate'][0])"; }
for p in kepler-k40 fermi-c2050; do is "$p-48k finds more in its L1" "$(python3 -c "print($(rate $p-48k) > 1.2 * $(rate $p))")" True; done
exit $bad
