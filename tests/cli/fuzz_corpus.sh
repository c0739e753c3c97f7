#!/bin/bash
# Every fuzz target over its corpus, without libFuzzer: inputs that once crashed, hung or broke a property, and the shipped files.
cd "$(dirname "$0")/../.." || exit 1
bin=$GPULOCW_BUILD/tests/fuzz
log=$(mktemp)
trap 'rm -f "$log"' EXIT
over() { # TARGET FOLDERS...
    local t=$1 n; shift
    if "$bin/fuzz_$t" "$@" > "$log" 2>&1 && n=$(tail -1 "$log" | grep -oE '^[0-9]+') && [ "$n" -gt 0 ]; then
        echo "ok $t: $n inputs"
    else
        echo "not ok $t: $(tail -3 "$log" | tr '\n' ' ')"
        bad=1
    fi
}
bad=0
over ptx tests/fuzz/corpus/ptx tests/fuzz/corpus/kernel tests/golden/ptx
over wire tests/fuzz/corpus/ptx
over texts tests/fuzz/corpus/texts
over session tests/fuzz/corpus/session
over journal tests/fuzz/corpus/journal
for t in analysis pass sim; do over $t tests/fuzz/corpus/kernel tests/golden/ptx; done
exit $bad
