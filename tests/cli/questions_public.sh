#!/bin/bash
# Kernels in the manner of public threads (tests/questions/public.py): what `run` says is what the thread came to, and the mended form gains.
command -v python3 >/dev/null || { echo "ok 1 - public questions # SKIP no python3"; exit 0; }
python3 -B tests/cli/questions.py "$GPULOCW_BUILD/gpulocw" public
