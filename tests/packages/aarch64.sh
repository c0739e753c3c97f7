#!/bin/bash
# The whole for aarch64, run by qemu: its tests without the slow ones and those that start themselves again, and the same
# figures to the last digit as here.
. tests/tool/tap.sh
for p in aarch64-linux-gnu-gcc qemu-aarch64 apt-get; do
    command -v $p >/dev/null || { echo "ok 1 - aarch64 # SKIP no $p (gcc-aarch64-linux-gnu, qemu-user)"; exit 0; }
done
root=$(realpath "$GPULOCW_BUILD")/arm64-root build=$GPULOCW_BUILD/arm64
sh tests/tool/sysroot.sh arm64 "$root" libc6 libc6-dev libgcc-12-dev libcjson-dev liblz4-dev libzstd-dev libncurses-dev libcmocka-dev >"$T/root.log" 2>&1 ||
    { echo "ok 1 - aarch64 # SKIP its libraries cannot be fetched: $(tail -1 "$T/root.log")"; exit 0; }
make -s -j"$(nproc)" CC="aarch64-linux-gnu-gcc --sysroot=$root" BUILD="$build" all unit-tests >"$T/build.log" 2>&1
rc=$?
[ $rc = 0 ] && ! grep -q 'warning:' "$T/build.log" && ok "it builds without a warning" || { no "it builds without a warning" "$(grep -E 'warning:|error' "$T/build.log" | head)"; [ $rc = 0 ] || exit 1; }
by="qemu-aarch64 -L $root"
for c in "analyze $(k gemm) --json" "run $(k backprop_forward) --json" "run $(k reduction) --json" "sweep $(k stride_4) --json" "rewrite $(k gemm) --cluster agent -o -"; do
    is "the same as here: $c" "$($by "$build/gpulocw" $c 2>&1 | md5sum)" "$("$B" $c 2>&1 | md5sum)"
done
has "what is slower there is said" "this host interprets simulated kernels" "$($by "$build/gpulocw" devices)"
programs=$(for t in "$build"/tests/test_*; do
    # these load a library into programs, or start one of the other machine's; the last two meet thousands of faults, for
    # ten minutes, in code that is the same everywhere
    case $t in *.d | *.o | */test_dev_* | */test_tui_program | */test_live_peek | */test_session_journal | */test_cmd_faults) continue ;; esac
    name=$(basename "$t")
    grep -q 'pty\.h' "tests/unit/$name.c" || grep -qx "$name" tests/slow.txt || echo "$t"
done)
GPULOCW_TEST_EMULATOR=$by GPULOCW_TEST_JOBS=$(nproc) tests/run.sh "$build" $programs >"$T/tests.log" 2>&1 && ok "its tests: $(tail -1 "$T/tests.log")" || no "its tests" "$(grep -E '^===|FAILED|ERROR|message' "$T/tests.log" | head -20)"
exit $bad
