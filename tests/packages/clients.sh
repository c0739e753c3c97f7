#!/bin/bash
# The clients of the driver's interface that are there, without a GPU; the project's C programs always.
out=$(python3 tests/gpu/clients.py "$GPULOCW_BUILD/gpulocw" 2> /dev/null)
if [ $? -eq 0 ]; then echo "ok 1 - clients of the emulated driver"; else echo "not ok 1 - clients of the emulated driver"; bad=1; fi
sed 's/^/# /' <<< "$out"
exit ${bad:-0}
