#!/bin/sh
# What `make check-gpu` runs, by itself for a folder that was built elsewhere: conformance, a sweep of kernels that misbehave,
# the interpreter's rows one by one, random programs. Each step has a time limit; one that hangs or dies fails and says so, and the
# rest still run.
#
#     tests/gpu/check.sh [DEVICE]        default cuda:0; after `make tests/gpu_check ...`, or in what `make carry` made: ./check-gpu
#     GPULOCW=PATH                       the program, when it is elsewhere
#     CHECK_LIMIT=SECONDS                for all steps together, 180
#
# Exit: 0 all passed (or were skipped in part), 1 something failed, 77 there is no GPU to check.
set -u
device=${1:-cuda:0}
here=$(cd "$(dirname "$0")" && pwd)
if [ -x "$here/gpu_check" ]; then
    cd "$here" || exit 1
    bin=. program=${GPULOCW:-./gpulocw}
else
    cd "$here/../.." || exit 1
    bin=${BUILD:-build}/tests program=${GPULOCW:-${BUILD:-build}/gpulocw}
fi
started=$(date +%s) limit=${CHECK_LIMIT:-180} passed=0 failed=0 skipped=0

skip() { skipped=$((skipped + 1)); echo "skip  $1: $2"; }

# step NAME SECONDS COMMAND...: its output, then its verdict. 77 is a step's own way to say that there is nothing to check.
step() {
    name=$1 most=$2
    shift 2
    left=$((limit - ($(date +%s) - started)))
    if [ "$left" -lt 1 ]; then failed=$((failed + 1)); echo "FAIL  $name: not run, the limit of $limit s for all steps is used up"; return; fi
    [ "$most" -gt "$left" ] && most=$left
    echo "== $name: $*"
    from=$(date +%s)
    timeout -k 5 "$most" "$@"
    rc=$?
    took=$(($(date +%s) - from))
    case $rc in
        0) passed=$((passed + 1)); echo "pass  $name, $took s"; return ;;
        77) skipped=$((skipped + 1)); echo "skip  $name: no GPU"; return ;;
        124|137) why="ended by its time limit of $most s" ;;
        126|127) why="could not be started" ;;
        *) if [ $rc -gt 128 ]; then why="died of signal $((rc - 128))$([ $rc -eq 139 ] && echo ' (segmentation fault)')"; else why="exit $rc"; fi ;;
    esac
    failed=$((failed + 1))
    echo "FAIL  $name: $why, after $took s"
}

step conformance 60 "$bin/gpu_check" "$device"
if [ $skipped -gt 0 ]; then
    echo "check-gpu: no GPU to check on this machine"
    exit 77
fi
if [ ! -x "$program" ]; then
    skip hazards "$program is not there (make TUI=0, or GPULOCW=carry/gpulocw)"
elif ! command -v python3 >/dev/null; then
    skip hazards "there is no python3"
else
    step hazards 45 python3 tests/gpu/hazard.py --gpulocw "$program" --device "$device"
    step clusters 45 python3 tests/gpu/same.py --gpulocw "$program" --device "$device" --folder tests/sim --only cluster
    step link 60 python3 tests/gpu/link.py --gpulocw "$program" --device "$device"
fi
step rows 60 "$bin/gpu_diff" --rows 0 100000 "$device"
step programs 120 "$bin/gpu_diff" 1 2000 "$device"
echo "check-gpu: $passed passed, $failed failed, $skipped skipped, $(($(date +%s) - started)) s"
[ $failed -eq 0 ]
