#!/bin/sh
# Names, white space, the order of declarations and the number of files mean nothing (tests/tool/metamorphic.py).
exec python3 tests/tool/metamorphic.py "$GPULOCW_BUILD/gpulocw" -n 200
