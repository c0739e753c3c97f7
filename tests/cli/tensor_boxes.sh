#!/bin/bash
# Tensor copies put into shared memory what an H100 puts there, and fail where it does.
. tests/tool/tap.sh
python3 tests/gpu/boxes.py "$B" sim:hopper-h200 "$T"
exit $?
