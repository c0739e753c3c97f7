#!/bin/bash
# Runs every test program and script, quietly; shows the output of what fails.
# usage: tests/run.sh BUILD PROGRAM...   A script prints TAP lines ("ok", "not ok", "ok # SKIP").
# Ends in one line of counts. Skips are shown with their reason.
set -u
export GPULOCW_BUILD=$1; shift
export CMOCKA_MESSAGE_OUTPUT=stdout LC_ALL=C.UTF-8 XDG_DATA_HOME=$(mktemp -d) XDG_CONFIG_HOME=$(mktemp -d)
trap 'rm -rf "$XDG_DATA_HOME" "$XDG_CONFIG_HOME"' EXIT
passed=0 failed=0 skipped=0
one() {
    local log rc p f s start=$SECONDS
    log=$(mktemp)
    timeout "${GPULOCW_TEST_LIMIT:-600}" "$1" >"$log" 2>&1 </dev/null
    rc=$?
    p=$(($(grep -cE '^\[       OK \]|^ok ' "$log") - $(grep -c '^ok .*# SKIP' "$log")))
    f=$(grep -cE '^\[  FAILED  \] [A-Za-z_]+[a-z0-9_]*$|^not ok ' "$log")
    s=$(grep -cE '^\[  SKIPPED \] [A-Za-z_][A-Za-z0-9_]*$|^ok .*# SKIP' "$log")
    # cmocka lists skipped and failed tests again in its summary
    case $1 in *.sh) ;; *)
        s=$(sed -nE 's/^\[  SKIPPED \] ([0-9]+) test.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
        f=$(sed -nE 's/^\[  FAILED  \] ([0-9]+) test.*/\1/p; s/^\[  FAILED  \] [A-Za-z ]*: ([0-9]+) test.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}') ;;
    esac
    if [ $rc -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
    if [ $((p + f + s)) -eq 0 ]; then echo "$1: no test ran"; f=1; fi
    if [ "$f" -gt 0 ]; then
        echo "=== $1 (exit $rc)"
        grep -vE '^\[ RUN|^\[       OK' "$log" | head -100
    fi
    grep -E '^skip:|^ok .*# SKIP' "$log" | sed "s|^|$(basename "$1"): |"
    [ -n "${GPULOCW_TEST_TIMES:-}" ] && echo "$((SECONDS - start)) s  $1"
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    rm -f "$log"
}
for t in "$@"; do one "$t"; done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
