#!/bin/bash
# Products of tensor cores, bit for bit as an H100 makes them, and tensor maps byte for byte as its driver does.
. tests/tool/tap.sh
python3 tests/gpu/products.py "$B" sim:hopper-h200 "$T"
exit $?
