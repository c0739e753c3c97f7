#!/bin/bash
# emulate: a CUDA program as people build it, by nvcc and by every other in GPULOCW_NVCCS (paths, with a space between). All
# programs: make emulate-suite
said() { # NAME RC TEXT
    n=$((n + 1))
    case $2 in
    0) echo "ok $n - $1" ;;
    77) echo "ok $n - $1 # SKIP $3" ;;
    *) echo "not ok $n - $1"; sed 's/^/#   /' <<<"$3"; bad=1 ;;
    esac
}
# NAME, then the compiler's path; empty: the one that is found
ways() {
    local w out
    for w in static shared stripped rdc archs; do
        out=$(NVCC=$2 python3 tests/tool/emulate_suite.py "$GPULOCW_BUILD" symbols --ways $w 2>&1); said "$1, $w" $? "$out"
    done
}
# Three objects with runtimes of their own; one comes by dlopen.
objects() {
    local nvcc out rc=77 d
    nvcc=${2:-$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc)}
    d=$(mktemp -d)
    out="no nvcc"
    if [ -n "$nvcc" ]; then
        out=$({ for k in one two; do "$nvcc" -arch=sm_80 -w -DNAME=$k -shared -Xcompiler -fPIC tests/emulate/objects/part.cu -o "$d/lib$k.so" || exit 1; done
            "$nvcc" -arch=sm_80 -w tests/emulate/objects/main.cu -o "$d/main" -L"$d" -lone -Xlinker -rpath="$d" -ldl &&
            "$GPULOCW_BUILD/gpulocw" emulate -- "$d/main" "$d/libtwo.so"; } 2>&1)
        grep -qx PASS <<<"$out"; rc=$?
    fi
    rm -rf "$d"
    said "$1, objects with runtimes of their own" $rc "$out"
}
ways "a CUDA program" "$NVCC"
objects "a CUDA program" "$NVCC"
for c in $GPULOCW_NVCCS; do ways "by $c" "$c"; objects "by $c" "$c"; done
test -n "$GPULOCW_NVCCS" || said "a CUDA program by another nvcc" 77 "GPULOCW_NVCCS names none"
exit ${bad:-0}
