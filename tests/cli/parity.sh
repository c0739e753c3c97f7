#!/bin/bash
# Random requests by command, workbench, MCP, batch and library give one document (parity.py).
command -v python3 >/dev/null || { echo "ok 1 - one document by every door # SKIP no python3"; exit 0; }
exec python3 tests/cli/parity.py "$GPULOCW_BUILD/gpulocw" "$GPULOCW_BUILD/libgpulocw.so.1" "${GPULOCW_PARITY:-200}"
