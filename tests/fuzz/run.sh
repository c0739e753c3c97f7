#!/bin/bash
# Runs every fuzz target and prints a table: executions, executions per second, reports (crashes, hangs above 10 s, leaks).
# usage: run.sh [--runs N | --seconds N] [--jobs N] [--bin FOLDER] [--work FOLDER] [TARGET...]
#   --runs N     N executions in all, shared out as the rows below say (default 10,000,000)
#   --seconds N  each process of a target for N seconds instead
#   --jobs N     processes at a time (default: as many as there are processors)
#   --seeds      lists the folders and files that the targets start from, and ends
# A report ends its process; the input is kept in WORK/reports and another process goes on with the rest.
# Exit 1 where there was a report. Runs beside the binaries too (carry-fuzz/run.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd)
# target, share of the executions in thousandths, processes per job set, seeds
rows='ptx 260 tests/fuzz/corpus/ptx tests/golden/ptx
session 150 tests/fuzz/corpus/session
texts 250 tests/fuzz/corpus/texts
container 40 tests/fuzz/corpus/container
live 10 tests/fuzz/corpus/live
wire 200 tests/fuzz/corpus/ptx
analysis 20 tests/fuzz/corpus/kernel tests/golden/ptx tests/sim kernels
pass 30 tests/fuzz/corpus/kernel tests/golden/ptx tests/sim kernels
sim 40 tests/fuzz/corpus/kernel tests/golden/ptx tests/sim kernels'
runs=10000000 seconds=0 jobs=$(nproc) bin= work= only=
while [ $# -gt 0 ]; do
    case $1 in
    --runs) runs=$2; shift ;;
    --seconds) seconds=$2; shift ;;
    --jobs) jobs=$2; shift ;;
    --bin) bin=$(cd "$2" && pwd) || exit 2; shift ;;
    --work) work=$2; shift ;;
    --seeds) awk '{ for (i = 3; i <= NF; i++) print $i }' <<< "$rows" | sort -u | while read -r d; do
                 if [ "$d" = kernels ] || [ "$d" = tests/sim ]; then ls "$d"/*.ptx; else echo "$d"; fi; done
             exit 0 ;;
    -*) sed -n '2,10p' "$0"; exit 2 ;;
    *) only="$only ${1#fuzz_} " ;;
    esac
    shift
done
if [ -x "$here/fuzz_ptx" ]; then root=$here; bin=${bin:-$here}; work=${work:-$here/work}; else root=$(cd "$here/../.." && pwd); bin=${bin:-$root/build/fuzz}; work=${work:-$root/build/fuzz/work}; fi
mkdir -p "$work/reports" && work=$(cd "$work" && pwd) || exit 2
export LD_LIBRARY_PATH=$here${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}   # libcjson lies beside the binaries where it is no static library
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1:handle_abort=1}

# One process at a time until the executions, or the seconds, are spent. Appends "executions reports" to OUT.
one() { # TARGET NUMBER RUNS OUT SEED-FOLDERS...
    local t=$1 k=$2 left=$3 out=$4 log=$work/$1-$2.log done reports=0 total=0 rc end=$((SECONDS + seconds)) limit; shift 4
    while [ "$left" -gt 0 ] && [ $reports -lt 50 ]; do
        limit="-runs=$left"
        [ "$seconds" -gt 0 ] && limit="-max_total_time=$((end - SECONDS))"
        nice "$bin/fuzz_$t" "$limit" -max_len=16384 -timeout=10 -rss_limit_mb=3000 -malloc_limit_mb=2000 -print_final_stats=1 -reload=30 \
            -artifact_prefix="$work/reports/$t-" "$work/corpus/$t" "$@" > "$log" 2>&1
        rc=$?
        done=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
        total=$((total + ${done:-0})) left=$((left - ${done:-0}))
        [ $rc -eq 0 ] && break
        reports=$((reports + 1))
        cp "$log" "$work/reports/$t-$k-$reports.log"
        [ "$seconds" -gt 0 ] && [ $((end - SECONDS)) -le 0 ] && break
        [ -n "$done" ] || break
    done
    echo "$total $reports" >> "$out"
}

# Seeds that fit: files above 16 KiB only slow a target down.
seeds_of() { # TARGET FOLDERS...
    local t=$1 d; shift
    mkdir -p "$work/seeds/$t" "$work/corpus/$t"
    for d in "$@"; do
        [ -d "$root/$d" ] && find "$root/$d" -maxdepth 2 -type f -size -16k ! -name '*.json' ! -name '*.cu' ! -name '*.diag' -print0
    done | while IFS= read -r -d '' f; do cp "$f" "$work/seeds/$t/$(basename "$(dirname "$f")")-$(basename "$f")"; done
    [ "$t" = session ] && cp "$root"/tests/fuzz/corpus/session/* "$work/seeds/$t/"
    return 0
}

begin=$SECONDS
while read -r t share dirs; do
    [ -z "$only" ] || [[ "$only" == *" $t "* ]] || continue
    [ -x "$bin/fuzz_$t" ] || { echo "$bin/fuzz_$t: not built"; exit 2; }
    seeds_of "$t" $dirs
    rm -f "$work/$t.counts"
    of_target=$((runs * share / 1000)) each=$jobs
    [ -n "$only" ] && [ "$(wc -w <<< "$only")" -eq 1 ] && of_target=$runs
    t0=$EPOCHREALTIME
    for ((k = 0; k < each; k++)); do
        one "$t" "$k" $(((of_target + each - 1) / each)) "$work/$t.counts" "$work/seeds/$t" &
    done
    wait
    awk -v t="fuzz_$t" -v a="$t0" -v b="$EPOCHREALTIME" -v f="$bin/fuzz_$t" '{ n += $1; r += $2 } END { printf "%s %d %.0f %d\n", t, n, n / (b - a), r }' "$work/$t.counts" > "$work/$t.row"
    awk '{ printf "%-14s %12d executions %8d per second %4d reports\n", $1, $2, $3, $4 }' "$work/$t.row"
done <<< "$rows"
echo
cat "$work"/*.row | awk -v s=$((SECONDS - begin)) 'BEGIN { print "| target | executions | per second | reports |\n|---|---:|---:|---:|" }
    { printf "| %s | %d | %d | %d |\n", $1, $2, $3, $4; n += $2; r += $4 } END { printf "| all | %d | %d | %d |\n", n, s ? n / s : n, r; exit r > 0 }'
