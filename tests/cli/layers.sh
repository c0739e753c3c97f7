#!/bin/sh
# The structure holds (tests/tool/layers.sh).
if out=$(sh tests/tool/layers.sh 2>&1); then echo "ok 1 - rooms, banned functions, sizes"; else echo "$out"; echo "not ok 1 - rooms, banned functions, sizes"; exit 1; fi
