#!/bin/bash
# The fourth and the fifth list of public threads (tests/questions/public.py), as questions_public.sh the first three.
command -v python3 >/dev/null || { echo "ok 1 - more public questions # SKIP no python3"; exit 0; }
python3 -B tests/cli/questions.py "$GPULOCW_BUILD/gpulocw" more
