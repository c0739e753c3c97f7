#!/bin/bash
# What limits a launch: kernels that are bound by one cause each (tests/limits/bound.cu) have it first, and
# without it they take less time; shares add up; all that shows limits shows the same.
command -v python3 >/dev/null || { echo "ok 1 - limits # SKIP no python3"; exit 0; }
python3 tests/cli/limits.py "$GPULOCW_BUILD/gpulocw"
