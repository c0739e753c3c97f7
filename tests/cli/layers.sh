#!/bin/sh
# The structure holds (tests/tool/layers.py).
if out=$(python3 tests/tool/layers.py 2>&1); then echo "ok 1 - rooms, banned functions, sizes"; else echo "$out"; echo "not ok 1 - rooms, banned functions, sizes"; exit 1; fi
if out=$(python3 tests/tool/circles.py --check 2>&1); then echo "ok 2 - no new circle of files that call each other"; else echo "$out"; echo "not ok 2 - no new circle of files that call each other"; exit 1; fi
rows=$(sh tests/tool/measure.sh "${GPULOCW_BUILD:-build}" rebuilt 2>/dev/null | sed -n 's/^rebuilt after a row of .*: \([0-9]*\).*/\1/p')
if [ "$(echo "$rows" | awk '$1 > 0 && $1 <= 60' | wc -l)" = 2 ]; then echo "ok 3 - a row of ops.def and one of options.def compile at most 60 files again"; else echo "# objects: $rows"; echo "not ok 3 - a row of ops.def and one of options.def compile at most 60 files again"; exit 1; fi
