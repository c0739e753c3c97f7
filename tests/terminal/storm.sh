#!/bin/bash
# The storm of tests/unit/test_tui_storm.c against the program with sanitizers (build/watched): a use of freed memory, an access
# outside, undefined behaviour or a leak ends it, and its report is shown.
W=$GPULOCW_BUILD/watched
test -x "$W/gpulocw" || { echo "ok 1 - the workbench in a storm, watched # SKIP $W/gpulocw is not built"; exit 0; }
grep -q __asan_init "$W/gpulocw" || { echo "not ok 1 - $W/gpulocw has no sanitizers"; exit 1; }
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT
export ASAN_OPTIONS=detect_leaks=1:exitcode=86:log_path=$log/said UBSAN_OPTIONS=print_stacktrace=1:log_path=$log/said
if GPULOCW_BUILD=$W "$GPULOCW_BUILD/tests/test_tui_storm" > "$log/out" 2>&1 && ! ls "$log"/said* > /dev/null 2>&1; then
    echo "ok 1 - the workbench in a storm, watched"
else
    echo "not ok 1 - the workbench in a storm, watched"
    cat "$log"/said* "$log/out" 2> /dev/null | head -40 | sed 's/^/#   /'
    exit 1
fi
