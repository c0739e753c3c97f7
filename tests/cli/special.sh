#!/bin/bash
# The special function unit and approximate division: the bits that an H200 gave (tests/gpu/special.py).
. tests/tool/tap.sh
python3 tests/gpu/special.py "$B" sim:hopper-h200 "$T"
exit $?
