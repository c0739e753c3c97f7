#!/bin/sh
# The unfitted suites at small sizes: every output is what a reference in Python computes.
exec python3 tests/suites/reference.py "${GPULOCW_BUILD:-build}/gpulocw"
