#!/bin/bash
# --coarsen-mode vector on generated kernels (vector.py). GPULOCW_VECTOR_SEEDS: how many (60).
. tests/tool/tap.sh
python3 tests/cli/vector.py "$B" "$T" "${GPULOCW_VECTOR_SEEDS:-60}"
