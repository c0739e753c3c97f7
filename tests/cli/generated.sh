#!/bin/bash
# The documents that programs write are what they write now: `make man reference coverage` mends them.
n=0 bad=0
same() { # FILE PROGRAM ARGUMENT...
    local file=$1; shift
    n=$((n + 1))
    if "$GPULOCW_BUILD/tests/$@" | cmp -s - "$file"; then echo "ok $n - $file is up to date"
    else
        bad=1; echo "not ok $n - $file is not what $1 writes"
        "$GPULOCW_BUILD/tests/$@" | diff "$file" - | head -20 | sed 's/^/#   /'
    fi
}
same docs/gpulocw.1 man
same docs/reference/options.md reference options
same docs/reference/keys.md reference keys
same docs/reference/presets.md tables presets
same docs/reference/operations.md tables operations
same docs/reference/launch-guesses.md tables launches
same docs/ptx-coverage.md ptx_coverage
exit $bad
