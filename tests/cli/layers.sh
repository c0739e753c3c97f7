#!/bin/sh
# The structure holds (tests/tool/layers.py).
if out=$(python3 tests/tool/layers.py 2>&1); then echo "ok 1 - rooms, banned functions, sizes"; else echo "$out"; echo "not ok 1 - rooms, banned functions, sizes"; exit 1; fi
if out=$(python3 tests/tool/circles.py --check 2>&1); then echo "ok 2 - no new circle of files that call each other"; else echo "$out"; echo "not ok 2 - no new circle of files that call each other"; exit 1; fi
rows=$(sh tests/tool/measure.sh "${GPULOCW_BUILD:-build}" rebuilt 2>/dev/null | sed -n 's/^rebuilt after a row of .*: \([0-9]*\).*/\1/p')
if [ "$(echo "$rows" | awk '$1 > 0 && $1 <= 60' | wc -l)" = 4 ]; then echo "ok 3 - a row of ops.def, options.def, counters.def or fields.def compiles at most 60 files again"; else echo "# objects: $rows"; echo "not ok 3 - a row of ops.def, options.def, counters.def or fields.def compiles at most 60 files again"; exit 1; fi
if out=$(python3 tests/tool/printed_json.py --check 2>&1); then echo "ok 4 - no document is printed by hand"; else echo "$out" | sed 's/^/# /'; echo "not ok 4 - no document is printed by hand"; exit 1; fi
if out=$(python3 tests/tool/doc_functions.py 2>&1); then echo "ok 5 - functions are where docs/internals says"; else echo "$out" | sed 's/^/# /'; echo "not ok 5 - functions are where docs/internals says"; exit 1; fi
if out=$(sh tests/tool/twice.sh "${GPULOCW_BUILD:-build}"); then echo "ok 6 - no name is defined by two object files"; else echo "$out" | sed 's/^/# /'; echo "not ok 6 - no name is defined by two object files"; exit 1; fi
