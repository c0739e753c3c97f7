#!/bin/bash
# A session goes on after kernels that write out of bounds, fault, never end and trap: on the simulated device, on one in a
# worker, and on the fake driver, where each of the last three costs a worker process.
B=$GPULOCW_BUILD
n=0 bad=0
try() {
    local name=$1 out; shift
    n=$((n + 1))
    if out=$("$@" 2>&1); then echo "ok $n - $name"; else echo "not ok $n - $name"; printf '%s\n' "$out" | sed 's/^/#   /'; bad=1; fi
}
H=(python3 tests/gpu/hazard.py --gpulocw "$B/gpulocw")
try "simulated" "${H[@]}" --device sim:hopper-h200
try "simulated in a worker" "${H[@]}" --worker "'$B/gpulocw' worker"
export GPULOCW_LIBCUDA=$B/tests/fake/libcuda.so.1 GPULOCW_LIBNVML=$B/tests/fake/libnvml.so FAKE_CUDA=devices=2
if [ -e "$GPULOCW_LIBCUDA" ]; then
    try "fake driver" "${H[@]}" --device cuda:0
else
    n=$((n + 1)); echo "ok $n - fake driver # SKIP not built"
fi
exit $bad
