#!/bin/bash
# A level of --prove that there is not: every command refuses it before anything runs or is read.
. tests/tool/tap.sh
refused() { # NAME ARGUMENTS...
    local name=$1 rc
    shift
    n=$((n + 1))
    timeout 60 "$B" "$@" >"$T/out" 2>"$T/err"
    rc=$?
    if [ $rc = 2 ] && [ ! -s "$T/out" ] && grep -q -- "--prove" "$T/err"; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name: status $rc"; sed 's/^/#   /' "$T/err" | head -3; bad=1
    fi
}
refused "run, a word" run kernels/coalescing.ptx --prove sometimes
refused "run, another case" run kernels/coalescing.ptx --prove FULL
refused "run, nothing" run kernels/coalescing.ptx --prove ''
refused "sweep, a word" sweep kernels/coalescing.ptx --prove sometimes
refused "rewrite, a word" rewrite kernels/coalescing.ptx --prove sometimes
refused "tune, a word" tune kernels/coalescing.ptx --prove sometimes
refused "tune, a level and more" tune kernels/coalescing.ptx --prove quickly
refused "tune, all methods" tune kernels/coalescing.ptx --method all --prove sometimes
exit $bad
