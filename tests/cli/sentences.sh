#!/bin/bash
# What is said in words against what is counted beside it: demo kernels, questions, kernels bound by one cause.
command -v python3 >/dev/null || { echo "ok 1 - sentences # SKIP no python3"; exit 0; }
python3 -B tests/cli/sentences.py "$GPULOCW_BUILD/gpulocw"
