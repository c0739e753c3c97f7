#!/bin/bash
# The commands of README.md and docs/ do what stands there (tests/tool/doc_commands.py).
command -v python3 >/dev/null || { echo "ok 1 - commands of the documents # SKIP no python3"; exit 0; }
python3 tests/tool/doc_commands.py "$GPULOCW_BUILD/gpulocw"
