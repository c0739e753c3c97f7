#!/bin/sh
# The documents that programs write are what they write now: `make man coverage` mends them.
n=0 bad=0
for pair in "man docs/gpulocw.1" "ptx_coverage docs/ptx-coverage.md"; do
    set -- $pair
    n=$((n + 1))
    if "$GPULOCW_BUILD/tests/$1" | cmp -s - "$2"; then echo "ok $n - $2 is up to date"; else bad=1; echo "not ok $n - $2 is not what $1 writes"; "$GPULOCW_BUILD/tests/$1" | diff "$2" - | head -20 | sed 's/^/#   /'; fi
done
exit $bad
