#!/bin/bash
# What other producers write, and ptxas takes: sums as operands, vector registers, old prototypes. One mistake gives one message.
. tests/tool/tap.sh
cat > "$T/sum.launch.json" <<'J'
{ "format": "gpulocw-launch", "version": 1, "ptx": "register_sum.ptx", "kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1],
  "args": [ { "name": "p", "buffer": "u32", "count": 64, "init": { "fill": 0 }, "output": true } ] }
J
"$B" run tests/golden/ptx/register_sum.ptx --launch "$T/sum.launch.json" --outputs "$T/o" > "$T/said" 2>&1
is "a register plus a constant is computed" "$(od -An -v -tu4 -w4 "$T/o/p.bin" | head -36 | tr -s ' \n' ' ')" " 0 0 0 $(seq 3 34 | tr '\n' ' ')0 "
errors() { "$B" analyze "$1" 2>&1 | grep -c 'error:'; }
broken() { # NAME, sed program over a sound kernel
    sed "$2" kernels/gemm.ptx > "$T/$1.ptx"
    is "$1 gives one message" "$(errors "$T/$1.ptx")" 1
}
broken "a register range that is missing" '0,/\.reg \.b32/{/\.reg \.b32/d}'
broken "a range that is too small" '/\.reg \.b32/s/<[0-9]*>/<2>/'
broken "a target in quotes" 's/^\.target \(.*\)/.target "\1"/'
broken "a header that is missing" '/^\.version/d;/^\.target/d;/^\.address_size/d'
broken "three sizes without commas" 's/^{/.maxntid 16 16 1\n{/'
hint=$("$B" analyze tests/golden/ptx/bad_once.ptx 2>&1 | grep "did you mean")
is "a suggestion names nothing undeclared" "$(grep -c tilee <<< "$hint")" 0
exit $bad
