#!/bin/bash
# The tables of docs/lab/search-reference.md.
#   tune_table.sh methods GPULOCW [BUDGET]     every tuning method on demo launches of the simulated device
#   tune_table.sh reference GPULOCW DEVICE [KERNEL:LAUNCH...]
#       exhaustive reference against search: best times, launches, seconds; and the search's line run again by itself,
#       in processes of their own. Without a list: each kernels/*.ptx at its launch LAUNCH where it has one, else its
#       first. JOBS rows at a time (1), each with one host thread; LIMIT seconds for each run (600), UNTIL (seconds of
#       the epoch) for all; OPTIONS are passed to all. A row whose reference did not finish says so and is not counted.
#   tune_table.sh seconds GPULOCW DEVICE       a whole search of each kernel with all host threads: launches, seconds
#   tune_table.sh pi GPULOCW [DEVICE]          threshold predicted before any launch against the one that a sweep finds
#   tune_table.sh model TABLE BENCH [DEVICE...]  a table of bench_tune (schedule, pi or advice) over every demo kernel's first
#       launch and tests/heldout/schedule, on each DEVICE (sim:hopper-h200; options may follow it); JOBS rows at a time
#   tune_table.sh recorded GPULOCW [FILE [PRESET]]  the model's thresholds against a recording of a GPU's sweeps (tests/gpu/h200.json)
set -u
mode=$1 gpulocw=$2
here=$(cd "$(dirname "$0")" && pwd)

methods() {
    while read -r kernel launch device; do
        "$gpulocw" tune "kernels/$kernel.ptx" --kernel "$launch" --device "$device" --method all --budget "$1" < /dev/null || exit 1
        echo
    done <<ROWS
transpose default sim:hopper-h200
transpose default sim:fermi-16k
syrk default sim:hopper-h200
tile_share default sim:hopper-h200
conv2d default sim:hopper-h200
gemm default sim:fermi-16k
valley fermi sim:fermi-16k
softcache_stream default sim:hopper-h200
ROWS
}

all_kernels() {
    python3 - "${LAUNCH:-}" kernels/*.launch.json <<'LIST'
import json, os, sys
for f in sys.argv[2:]:
    d = json.load(open(f))
    names = [l.get("name") or "" for l in d.get("launches", [d])]
    print(os.path.basename(f).split(".")[0] + ":" + (sys.argv[1] if sys.argv[1] in names else names[0]))
LIST
}

one_row() { # KERNEL:LAUNCH: reference, search, and the search's line again
    local row=$1 k=${1%%:*} l=${1#*:} how start left at
    at=(--device "$device" --threads 1 $OPTIONS --json)
    for how in search exhaustive; do
        left=$LIMIT start=$(date +%s.%N)
        [ "$UNTIL" -gt 0 ] && [ $((UNTIL - ${start%.*})) -lt "$left" ] && left=$((UNTIL - ${start%.*}))
        [ "$left" -gt 0 ] || continue
        timeout "$left" "$gpulocw" tune "kernels/$k.ptx" ${l:+--kernel "$l"} "${at[@]}" --method $how > "$dir/$row.$how" 2> "$dir/$row.$how.err" < /dev/null
        echo "{\"rc\": $?, \"s\": $(date +%s.%N | awk -v a="$start" '{ print $1 - a }')}" > "$dir/$row.$how.rc"
    done
    line=$(python3 -c "import json; print(json.load(open('$dir/$row.search'))['options_line'] or '')" 2> "$dir/$row.none") || return 0
    # Where the search timed whole launches, so does the line run again: a sample is no measure for them.
    python3 -c "import json; exit(json.load(open('$dir/$row.search')).get('times_from_sample', False))" && [ "${device#sim}" != "$device" ] && at+=(--exact)
    # shellcheck disable=SC2086
    for how in was is; do
        timeout "$LIMIT" "$gpulocw" run "kernels/$k.ptx" ${l:+--kernel "$l"} "${at[@]}" $([ $how = was ] || echo "$line") > "$dir/$row.$how" 2> "$dir/$row.none" < /dev/null
    done
}

reference() {
    local device=$1 dir
    shift
    dir=$(mktemp -d)
    [ $# -gt 0 ] || set -- $(all_kernels)
    export gpulocw device dir LIMIT=${LIMIT:-600} UNTIL=${UNTIL:-0} OPTIONS=${OPTIONS:-}
    export -f one_row
    printf '%s\n' "$@" | xargs -P "${JOBS:-1}" -I{} bash -c 'one_row {}'
    python3 "$here/tune_table.py" reference "$dir" "$device" "$@"
    rm -r "$dir"
}

seconds() {
    local row k l start out
    echo "| kernel | launch | launches | seconds |"
    echo "|---|---|---|---|"
    for row in $(all_kernels); do
        k=${row%%:*} l=${row#*:} start=$(date +%s.%N)
        out=$("$gpulocw" tune "kernels/$k.ptx" ${l:+--kernel "$l"} --device "$1" --json < /dev/null 2> /dev/null | python3 -c "import json, sys; print(json.load(sys.stdin)['launches'])")
        echo "| $k | $l | ${out:-failed} | $(date +%s.%N | awk -v a="$start" '{ printf "%.1f", $1 - a }') |"
    done
}

model() { # TABLE BENCH DEVICE...
    local table=$1 bench=$2 device row dir i=0
    shift 2
    [ $# -gt 0 ] || set -- sim:hopper-h200
    dir=$(mktemp -d)
    "$bench" "$table" none 2> "$dir/none" | head -2 > "$dir/0"
    for device in "$@"; do
        for row in $(all_kernels) $(printf 'tests/heldout/schedule:%s ' s_blur s_rows s_gather s_halve s_outer s_cube); do
            i=$((i + 1))
            printf '%s\0%s\0' "$dir/$(printf %04d $i)" "$row:$device"
        done
    done | BENCH_TUNE_ROWS=1 xargs -0 -n 2 -P "${JOBS:-1}" bash -c '"$0" "$1" "$3" > "$2" || echo "| $3 | failed |" > "$2"' "$bench" "$table"
    cat "$dir"/[0-9]*
    rm -r "$dir"
}

case $mode in
methods) methods "${3:-40}" ;;
reference) shift 2; reference "$@" ;;
seconds) seconds "$3" ;;
model) shift; model "$@" ;;
recorded) python3 "$here/tune_table.py" recorded "$gpulocw" "${3:-tests/gpu/h200.json}" "${4:-sim:hopper-h200}" ;;
pi) python3 "$here/tune_table.py" pi "$gpulocw" "${3:-}" ;;
*) sed -n 's/^# \?//p' "$0" | head -17 >&2; exit 2 ;;
esac
