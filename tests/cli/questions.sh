#!/bin/bash
# Slow kernels and what was wrong with them (tests/questions): the answer in one command, what the mended form gains, and `compare` of both.
command -v python3 >/dev/null || { echo "ok 1 - questions # SKIP no python3"; exit 0; }
python3 -B tests/cli/questions.py "$GPULOCW_BUILD/gpulocw" slow
