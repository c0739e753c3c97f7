#!/bin/bash
# emulate: CUDA programs that nvcc compiles, with both runtimes. All of them: make emulate-suite
for w in static shared; do
    out=$(python3 tests/tool/emulate_suite.py "$GPULOCW_BUILD" symbols --ways $w 2>&1); rc=$?
    n=$((n + 1))
    if [ $rc -eq 77 ]; then echo "ok $n - a CUDA program, $w runtime # SKIP no nvcc"
    elif [ $rc -eq 0 ]; then echo "ok $n - a CUDA program, $w runtime"
    else echo "not ok $n - a CUDA program, $w runtime"; sed 's/^/#   /' <<<"$out"; bad=1; fi
done
exit ${bad:-0}
