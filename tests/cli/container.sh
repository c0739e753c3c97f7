#!/bin/bash
# gpulocw list, and opening whatever holds PTX.
exec python3 tests/container/check.py "$GPULOCW_BUILD/gpulocw"
