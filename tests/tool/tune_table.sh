#!/bin/sh
# The table of docs/tuning.md: every tuning method on demo launches of the simulated device.
# usage: tests/tool/tune_table.sh GPULOCW [BUDGET]
set -u
gpulocw=$1
budget=${2:-40}
while read -r kernel launch device; do
    "$gpulocw" tune "kernels/$kernel.ptx" --kernel "$launch" --device "$device" --method all --budget "$budget" < /dev/null || exit 1
    echo
done <<ROWS
transpose default sim:hopper-h200
transpose default sim:fermi-16k
syrk default sim:hopper-h200
tile_share default sim:hopper-h200
conv2d default sim:hopper-h200
gemm default sim:fermi-16k
valley fermi sim:fermi-16k
softcache_stream default sim:hopper-h200
ROWS
