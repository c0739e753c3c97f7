#!/bin/bash
# Runs every fuzz target and prints a table: executions, executions per second, reports (crashes, hangs above 10 s, leaks).
# usage: run.sh [--runs N | --seconds N] [--jobs N] [--bin FOLDER] [--work FOLDER] [TARGET...]
#   --runs N     N executions in all, shared out as the rows below say (default 10,000,000)
#   --seconds N  each process of a target for N seconds instead
#   --jobs N     processes at a time (default: as many as there are processors)
#   --ledger F   a campaign that can be continued: targets take turns of SLICE seconds (60), each turn adds a line to F, and the
#                table is the sum of F; ends when F holds N executions, or after --seconds N. A turn that is cut off is not counted
#   --sum F      prints the table of a ledger, and ends
#   --seeds      lists the folders and files that the targets start from, and ends
# A report ends its process; the input is kept in WORK/reports and another process goes on with the rest.
# Exit 1 where there was a report. Runs beside the binaries too (carry-fuzz/run.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd)
# target, share of the executions in thousandths, processes per job set, seeds
rows='ptx 250 tests/fuzz/corpus/ptx tests/golden/ptx
session 130 tests/fuzz/corpus/session
journal 20 tests/fuzz/corpus/journal
texts 225 tests/fuzz/corpus/texts
container 40 tests/fuzz/corpus/container
live 10 tests/fuzz/corpus/live
emulate 10 tests/fuzz/corpus/container tests/golden/ptx
remote 5 tests/fuzz/corpus/remote
service 5 tests/fuzz/corpus/service
source 15 tests/fuzz/corpus/source
wire 200 tests/fuzz/corpus/ptx
rules 3 tests/fuzz/corpus/rules
versions 3 tests/fuzz/corpus/versions
requests 2 tests/fuzz/corpus/requests
again 2 tests/fuzz/corpus/kernel tests/golden/ptx
analysis 20 tests/fuzz/corpus/kernel tests/golden/ptx tests/sim kernels
pass 30 tests/fuzz/corpus/kernel tests/golden/ptx tests/sim kernels
sim 40 tests/fuzz/corpus/kernel tests/golden/ptx tests/sim kernels'
runs=10000000 seconds=0 jobs=$(nproc) bin= work= only= ledger= sum= slice=${SLICE:-60}
while [ $# -gt 0 ]; do
    case $1 in
    --runs) runs=$2; shift ;;
    --seconds) seconds=$2; shift ;;
    --jobs) jobs=$2; shift ;;
    --bin) bin=$(cd "$2" && pwd) || exit 2; shift ;;
    --work) work=$2; shift ;;
    --ledger) ledger=$2; shift ;;
    --sum) sum=$2; shift ;;
    --seeds) awk '{ for (i = 3; i <= NF; i++) print $i }' <<< "$rows" | sort -u | while read -r d; do
                 if [ "$d" = kernels ] || [ "$d" = tests/sim ]; then ls "$d"/*.ptx; else echo "$d"; fi; done
             exit 0 ;;
    -*) sed -n '2,13p' "$0"; exit 2 ;;
    *) only="$only ${1#fuzz_} " ;;
    esac
    shift
done
# A line of a ledger: date, target, executions, seconds, reports, commit.
sum_of() { # LEDGER
    awk '$3 ~ /^[0-9]+$/ { n[$2] += $3; s[$2] += $4; r[$2] += $5; N += $3; S += $4; R += $5 }
        END { print "| target | executions | per second | reports |\n|---|---:|---:|---:|"
              for (t in n) printf "| %s | %d | %d | %d |\n", t, n[t], s[t] ? n[t] / s[t] : 0, r[t] | "sort"
              close("sort"); printf "| all | %d | %d | %d |\n", N, S ? N / S : 0, R; exit R > 0 }' "$1"
}
if [ -n "$sum" ]; then sum_of "$sum"; exit; fi
if [ -x "$here/fuzz_ptx" ]; then root=$here; bin=${bin:-$here}; work=${work:-$here/work}; else root=$(cd "$here/../.." && pwd); bin=${bin:-$root/build/fuzz}; work=${work:-$root/build/fuzz/work}; fi
mkdir -p "$work/reports" && work=$(cd "$work" && pwd) || exit 2
export LD_LIBRARY_PATH=$here${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}   # libcjson lies beside the binaries where it is no static library
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allocator_may_return_null=1:handle_abort=1:malloc_context_size=1:quarantine_size_mb=16}
# of a short input the bookkeeping of libFuzzer costs more than the target
lean='-entropic=0 -max_len=4096'

# One process at a time until the executions, or the seconds, are spent. Appends "executions reports" to OUT.
one() { # TARGET NUMBER RUNS OUT SEED-FOLDERS...
    local t=$1 k=$2 left=$3 out=$4 log=$work/$1-$2.log done reports=0 total=0 rc end=$((SECONDS + seconds)) limit; shift 4
    while [ "$left" -gt 0 ] && [ $reports -lt 50 ]; do
        limit="-runs=$left"
        [ "$seconds" -gt 0 ] && limit="-max_total_time=$((end - SECONDS))"
        nice "$bin/fuzz_$t" "$limit" $lean -timeout=10 -rss_limit_mb=3000 -malloc_limit_mb=2000 -print_final_stats=1 -reload=30 \
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

# One turn of a target, and its line. Executions of a process that died are those that its log tells.
turn() { # TARGET JOB
    local t=$1 log=$work/$1-turn$2.log t0=$EPOCHREALTIME rc n
    nice "$bin/fuzz_$t" -max_total_time="$slice" $lean -timeout=10 -rss_limit_mb=3000 -malloc_limit_mb=2000 -print_final_stats=1 -reload=0 \
        -artifact_prefix="$work/reports/$t-" "$work/corpus/$t" "$work/seeds/$t" > "$log" 2>&1
    rc=$?
    n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -1)
    [ -n "$n" ] || return 1
    [ $rc -eq 0 ] || cp "$log" "$work/reports/$t-$(date +%s).log"
    echo "$(date -u +%FT%TZ) fuzz_$t $n $(awk -v a="$t0" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.1f", b - a }') $((rc != 0)) $commit" >> "$ledger"
}
campaign() { # JOB
    local k=$1 i=$1 t all
    all=($(awk '{ print $1 }' <<< "$rows" | while read -r t; do if [ -z "$only" ] || [[ "$only" == *" $t "* ]]; then echo "$t"; fi; done))
    while [ "$(awk '{ n += $3 } END { print n + 0 }' "$ledger")" -lt "$runs" ] && { [ "$seconds" -eq 0 ] || [ $SECONDS -lt "$seconds" ]; }; do
        t=${all[$((i % ${#all[@]}))]} i=$((i + jobs))
        [ $((${#all[@]} % jobs)) -eq 0 ] && [ $(((i - k) % ${#all[@]})) -eq 0 ] && i=$((i + 1))
        turn "$t" "$k" || { echo "$t: the turn said nothing"; sleep 1; }
    done
}
if [ -n "$ledger" ]; then
    touch "$ledger" || exit 2
    commit=$(git -C "$root" describe --always --dirty 2> /dev/null || echo -)
    while read -r t share dirs; do [ -d "$work/seeds/$t" ] || seeds_of "$t" $dirs; done <<< "$rows"
    SECONDS=0
    for ((k = 0; k < jobs; k++)); do campaign "$k" & done
    wait
    sum_of "$ledger"
    exit
fi
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
