#!/bin/bash
# A fault of the injected library changes nothing of the program: each allocation fails in turn, files
# cannot be written, the program or gpulocw is killed.
. tests/tool/tap.sh
B=$(readlink -f "$B") D=$(readlink -f "$GPULOCW_BUILD")/tests/live
unset CUDA_INJECTION64_PATH
export TRITON_CACHE_DIR=$T/none GPULOCW_LIVE_WAIT=0.3
for f in captured swap/swapped libfailalloc.so; do
    test -e "$D/$f" || { echo "Bail out! $D/$f is not built"; exit 1; }
done
claim() { # NAME CONDITION...
    local name=$1; shift; n=$((n + 1))
    if "$@" >"$T/why" 2>&1; then echo "ok $n - $name"; else echo "not ok $n - $name"; sed 's/^/#   /' "$T/why" "$T/err" | tail -4; bad=1; fi
}
cp tests/live/step.ptx "$T"; { cat "$T/step.ptx"; echo '// fast'; } > "$T/step.tuned.ptx"
for f in step step.tuned; do
    echo '{"format":"gpulocw-launch","version":1,"kernel":"step","grid":[4,1,1],"block":[64,1,1],"shared":0,
"args":[{"name":"p","buffer":"u32","count":64,"init":{"fill":1},"output":true},{"name":"n","u32":64}]}' > "$T/$f.launch.json"
done
K=$PWD/tests/live/kernels.ptx
# NAME LIBRARY-FOLDER EXPECTED-LAST-LINE STATUS -- GPULOCW-WORDS...
each_allocation() {
    local name=$1 fake=$2 last=$3 status=$4 fired=0 wrong="" i; shift 5
    for ((i = 0; i < 80; i++)); do
        CUPTI_PATH=$fake/libfake.so FAIL_AT=$i "$B" "$@" > "$T/out" 2>"$T/err"; rc=$?
        grep -q FIRED "$T/err" || break
        fired=$((fired + 1))
        test $rc -eq "$status" && grep -qxF -- "$last" "$T/out" || wrong="$wrong $i (status $rc)"
    done
    claim "$name: some allocation of the library did fail" test $fired -gt 0
    claim "$name: the program's output and exit status stay, whichever of $fired fails" test -z "$wrong"
    test -z "$wrong" || echo "#   $wrong"
}
L="env LD_PRELOAD=$D/libfailalloc.so"
S="$D/swap/swapped $T/step.ptx 12 plain 7"
alone=$($S | tail -1)
each_allocation "survey" "$D/swap" "$alone" 7 -- capture --list -- $L $S
each_allocation "capture" "$D" "done" 4 -- capture -o "$T/c" -- $L "$D/captured" plain "$K"
each_allocation "capture of a struct" "$D" "done" 4 -- capture -o "$T/c" -- $L "$D/captured" gather "$K"
each_allocation "capture of a graph" "$D" "done" 4 -- capture -o "$T/c" -- $L "$D/captured" graph "$K"
each_allocation "apply" "$D/swap" "$alone" 7 -- apply "$T/step.tuned.ptx" -- $L $S
each_allocation "apply, its image swapped" "$D/swap" "$alone" 7 -- apply "$T/step.tuned.ptx" --mode all -- $L $S
each_allocation "apply --verify" "$D/swap" "$alone" 7 -- apply "$T/step.tuned.ptx" --verify 2 -- $L $S
# Files that cannot grow: what a full disk does to the library's records and data.
export CUPTI_PATH=$D/libfake.so
for blocks in 0 1 8 64; do
    "$B" capture -o "$T/full" -- bash -c "ulimit -f $blocks; exec \"\$@\"" limited "$D/captured" plain "$K" 2>"$T/err" | cat > "$T/out"; rc=${PIPESTATUS[0]}
    claim "capture, the library's files end at $blocks KiB: the program's output and exit status" eval 'test $rc -eq 4 && grep -qx done "$T/out"'
    claim "and nothing half is called captured" test ! -e "$T/full/scale.ptx"
done
export CUPTI_PATH=$D/swap/libfake.so
# Killed between launches.
"$B" capture --list -- "$D/swap/swapped" "$T/step.ptx" 12 killed > "$T/out" 2>"$T/err"; rc=$?
claim "a program that is killed: its exit status" test $rc -eq 137
claim "and that its record is missing" grep -q "exited normally\|ended by _exit or a signal" "$T/err"
"$B" apply "$T/step.tuned.ptx" -- "$D/swap/swapped" "$T/step.ptx" 12 killed > "$T/out" 2>"$T/err"; rc=$?
claim "apply: its exit status" test $rc -eq 137
claim "apply: that no record is there" grep -q "ended in order\|leaves no record" "$T/err"
for how in "capture --list" "capture -o $T/k" "apply $T/step.tuned.ptx"; do
    "$B" $how -- "$D/swap/swapped" "$T/step.ptx" 12 slow 7 > "$T/out" 2>"$T/err" &
    pid=$!
    until grep -q started "$T/out" || ! kill -0 $pid 2>/dev/null; do sleep 0.02; done
    kill -9 $pid; wait $pid 2>/dev/null
    rm -f "$T/step.ptx.go"; touch "$T/step.ptx.go"
    for ((i = 0; i < 6000; i++)); do grep -q '^sum' "$T/out" && break; sleep 0.02; done
    claim "${how%% *}: gpulocw killed between launches: the program goes on to the same result" test "$(grep '^sum' "$T/out")" = "$alone"
    rm -f "$T/step.ptx.go"
done
exit $bad
