#!/bin/bash
# The tables of docs/tuning.md.
#   tune_table.sh methods GPULOCW [BUDGET]     every tuning method on demo launches of the simulated device
#   tune_table.sh reference GPULOCW DEVICE [KERNEL:LAUNCH...]
#       exhaustive reference against search: best times, launches, seconds. Without a list: each kernels/*.ptx at its
#       first launch. JOBS rows at a time (1), each with one host thread; LIMIT seconds for each of the two runs (600);
#       OPTIONS are passed to both. A row whose reference did not finish says so and is not counted.
#   tune_table.sh pi GPULOCW                   threshold predicted before any launch against the one that a sweep finds
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
    local f k
    for f in kernels/*.ptx; do
        k=$(basename "$f" .ptx)
        echo "$k:$(python3 -c "import json; d=json.load(open('kernels/$k.launch.json')); print(d.get('launches',[d])[0].get('name') or '')")"
    done
}

reference() {
    local device=$1 dir row k l
    shift
    dir=$(mktemp -d)
    [ $# -gt 0 ] || set -- $(all_kernels)
    export gpulocw device dir LIMIT=${LIMIT:-600} OPTIONS=${OPTIONS:-}
    printf '%s\n' "$@" | xargs -P "${JOBS:-1}" -I{} bash -c '
        row={} k=${row%%:*} l=${row#*:}
        for how in exhaustive search; do
            start=$(date +%s.%N)
            timeout "$LIMIT" "$gpulocw" tune "kernels/$k.ptx" ${l:+--kernel "$l"} --device "$device" --method $how --threads 1 $OPTIONS --json > "$dir/$row.$how" 2> "$dir/$row.$how.err" < /dev/null
            echo "{\"rc\": $?, \"s\": $(date +%s.%N | awk -v a=$start "{ print \$1 - a }")}" > "$dir/$row.$how.rc"
        done'
    python3 "$here/tune_table.py" reference "$dir" "$device" "$@"
    rm -r "$dir"
}

case $mode in
methods) methods "${3:-40}" ;;
reference) shift 2; reference "$@" ;;
pi) python3 "$here/tune_table.py" pi "$gpulocw" ;;
*) sed -n 's/^# \?//p' "$0" | head -9 >&2; exit 2 ;;
esac
