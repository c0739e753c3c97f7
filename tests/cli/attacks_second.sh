#!/bin/bash
# Kernels written by hand to get a wrong rewrite accepted, with every option in four shapes, on other data (tests/attacks/second.py).
exec python3 tests/attacks/second.py "$GPULOCW_BUILD/tests/attacks/tries"
