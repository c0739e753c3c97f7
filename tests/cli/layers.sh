#!/bin/sh
# The structure holds (tests/tool/layers.py).
if out=$(python3 tests/tool/layers.py 2>&1); then echo "ok 1 - rooms, banned functions, sizes"; else echo "$out"; echo "not ok 1 - rooms, banned functions, sizes"; exit 1; fi
if out=$(python3 tests/tool/circles.py --check 2>&1); then echo "ok 2 - no new circle of files that call each other"; else echo "$out"; echo "not ok 2 - no new circle of files that call each other"; exit 1; fi
