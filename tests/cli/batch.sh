#!/bin/bash
# gpulocw batch: order, resuming, what is no request.
exec python3 tests/cli/batch.py "$GPULOCW_BUILD/gpulocw"
