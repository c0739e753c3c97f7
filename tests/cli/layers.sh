#!/bin/sh
# The structure holds (tests/tool/layers.py).
if out=$(python3 tests/tool/layers.py 2>&1); then echo "ok 1 - rooms, banned functions, sizes"; else echo "$out"; echo "not ok 1 - rooms, banned functions, sizes"; exit 1; fi
