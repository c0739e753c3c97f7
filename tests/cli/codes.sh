#!/bin/bash
# The codes of diagnostics are those of tests/golden/codes.txt (tests/tool/codes.py); these commands end with the right ones.
command -v python3 >/dev/null || { echo "ok 1 - codes # SKIP no python3"; exit 0; }
B=$GPULOCW_BUILD/gpulocw page=$GPULOCW_BUILD/reference/diagnostics.md bad=0 n=1
if said=$(python3 tests/tool/codes.py --check 2>&1); then echo "ok 1 - no code came or went"; else bad=1; echo "not ok 1 - no code came or went"; sed 's/^/#   /' <<< "$said"; fi
T=$(mktemp -d) && trap 'rm -rf "$T"' EXIT
printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n\t.reg .b32 %%r<3>;\n\tadd.s32 %%r1, 1;\n\tret;\n}\n' > "$T/bad.ptx"
printf '{"format": "gpulocw-launch", "version": 1, "kernel": "stride_4", "grid": [0, 1, 1], "block": [64, 1, 1], "args": []}\n' > "$T/bad.launch.json"
tell() # CODE ARG...: the command's first code of an error is this one, and the page has it
{
    local want=$1 got
    shift
    got=$("$B" "$@" 2>&1 >/dev/null </dev/null | grep -E '(error|warning): ' | grep -oE '\[[a-z0-9-]+\]$' | head -1 | tr -d '[]')
    n=$((n + 1))
    if [ "$got" = "$want" ] && grep -q "^| \`$got\` |" "$page"; then echo "ok $n - $want"; else bad=1; echo "not ok $n - $want"; echo "#   gpulocw $* says [$got]"; fi
}
tell usage run kernels/gemm.ptx --no-such-option
tell io analyze "$T/nothing.ptx"
tell ptx-operands analyze "$T/bad.ptx"
tell launch run kernels/stride_4.ptx --launch "$T/bad.launch.json"
tell launch-kernel run kernels/gemm.ptx -k nosuch
tell preset run kernels/stride_4.ptx --device sim:nosuch
tell pass-schedule rewrite kernels/reduction.ptx --block 16x16x1
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n\t.reg .b32 %%r<2>;\n\t.reg .b64 %%rd<2>;\n\tld.param.u64 %%rd1, [p];\n\tmov.u32 %%r1, %%ctaid.x;\n\tst.global.u32 [%%rd1], %%r1;\n\tret;\n}\n' > "$T/race.ptx"
printf '{"format": "gpulocw-launch", "version": 1, "kernel": "k", "grid": [2, 1, 1], "block": [32, 1, 1], "args": [{"name": "p", "buffer": "u32", "count": 4, "output": true}]}\n' > "$T/race.launch.json"
tell race run "$T/race.ptx" --check-memory
tell option run kernels/gemm.ptx --bypass l9
tell demo demo nosuch
exit $bad
