#!/bin/bash
# What gpulocw schema states is what the program prints (tests/tool/json_fields.py).
command -v python3 >/dev/null || { echo "ok 1 - fields of the JSON documents # SKIP no python3"; exit 0; }
python3 tests/tool/json_fields.py "$GPULOCW_BUILD/gpulocw"
