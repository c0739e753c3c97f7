#!/bin/bash
# Runs every test program and script, quietly; shows the output of what fails, in the order given.
# usage: tests/run.sh BUILD PROGRAM...   A script prints TAP lines ("ok", "not ok", "ok # SKIP").
# Meanwhile standard error tells how far it is: each file on a terminal, else a line every half minute. Ends in one line of counts. Skips are shown with their reason.
# GPULOCW_TEST_JOBS of them at a time (1), each with folders for data and settings of its own; GPULOCW_TEST_LIMIT seconds each (600) on an idle machine, and
# on a busy one so many times that as there are tasks for a processor;
# GPULOCW_TEST_TIMES=1: how long each took. GPULOCW_TEST_EMULATOR: the command that runs programs of another processor.
set -u
export GPULOCW_BUILD=$1; shift
# every document that a test prints is checked against engine/rec/fields.def
# times and advice of scripts are those of the estimated registers, whatever this machine has installed
export CMOCKA_MESSAGE_OUTPUT=stdout LC_ALL=C.UTF-8 GPULOCW_REGS=${GPULOCW_REGS-model}
all=$(mktemp -d)
trap 'rm -rf "$all"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
limit() { awk -v s="${GPULOCW_TEST_LIMIT:-600}" -v n="$(nproc)" '{ t = $1 / n; print int(s * (t > 1 ? t : 1)) }' /proc/loadavg 2>/dev/null || echo "${GPULOCW_TEST_LIMIT:-600}"; }
one() { # FOLDER PROGRAM: what is to be shown in FOLDER/said, "passed failed skipped" in FOLDER/counts
    local log=$1/log rc p f s start=$SECONDS
    mkdir -p "$1/data" "$1/config"
    local by=${GPULOCW_TEST_EMULATOR:-}
    local check=GPULOCW_CHECK_DOCUMENTS=1
    case $2 in *.sh) by= ;; esac
    # memory, speed, or the same under thousands of faults: a check of each document would be most of it
    case $2 in */memory.sh | */large_session.sh | */launch_rate.sh | */test_session_journal | */test_cmd_*) check= ;; esac
    # a shell's background jobs ignore interrupts: not what a test of them is to begin with
    XDG_DATA_HOME=$1/data XDG_CONFIG_HOME=$1/config env --default-signal=INT,QUIT $check timeout "$(limit)" $by "$2" >"$log" 2>&1 </dev/null
    rc=$?
    p=$(($(grep -cE '^\[       OK \]|^ok ' "$log") - $(grep -c '^ok .*# SKIP' "$log")))
    f=$(grep -cE '^\[  FAILED  \] [A-Za-z_]+[a-z0-9_]*$|^not ok ' "$log")
    s=$(grep -cE '^\[  SKIPPED \] [A-Za-z_][A-Za-z0-9_]*$|^ok .*# SKIP' "$log")
    # cmocka lists skipped and failed tests again in its summary
    case $2 in *.sh) ;; *)
        s=$(sed -nE 's/^\[  SKIPPED \] ([0-9]+) test.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}')
        f=$(sed -nE 's/^\[  FAILED  \] ([0-9]+) test.*/\1/p; s/^\[  FAILED  \] [A-Za-z ]*: ([0-9]+) test.*/\1/p' "$log" | awk '{n += $1} END {print n + 0}') ;;
    esac
    {
        if [ $rc -ne 0 ] && [ "$f" -eq 0 ]; then f=1; fi
        if [ $((p + f + s)) -eq 0 ]; then echo "$2: no test ran"; f=1; fi
        if [ "$f" -gt 0 ]; then
            echo "=== $2 (exit $rc)"
            grep -avE '^\[ RUN|^\[       OK|^ok [0-9]+ ' "$log" | head -100
        fi
        grep -aE '^skip:|^ok .*# SKIP' "$log" | sed "s|^|$(basename "$2"): |"
        [ -n "${GPULOCW_TEST_TIMES:-}" ] && echo "$((SECONDS - start)) s  $2"
    } > "$1/said"
    echo "$p $f $s" > "$1/counting"
    mv "$1/counting" "$1/counts"
}
begun=0 passed=0 failed=0 skipped=0 shown=0 told=$SECONDS
lives() { # what has ended and what ended last; once half has, how long the rest takes at most: the slow ones begin first
    local left=$((shown ? SECONDS * ($1 - shown) / shown : 0)) text
    text="$shown of $1 files, $passed passed, $failed failed, $((SECONDS / 60)) min"
    [ $((2 * shown)) -lt "$1" ] || text="$text; at most $((left / 60)) min $((left % 60)) s left"
    if [ -t 2 ]; then printf '\r\033[K%.*s' "$((${COLUMNS:-80} - 1))" "$text: ${2##*/}" >&2
    elif [ $((SECONDS - told)) -ge 30 ]; then told=$SECONDS; echo "$text" >&2; fi
}
show() { # what has ended, up to the first that has not
    local p f s
    while [ -e "$all/$((shown + 1))/counts" ]; do
        shown=$((shown + 1))
        [ ! -t 2 ] || [ ! -s "$all/$shown/said" ] || printf '\r\033[K' >&2
        cat "$all/$shown/said"
        read -r p f s < "$all/$shown/counts"
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
        rm -rf "${all:?}/$shown"
        lives "$of" "${files[shown - 1]}"
    done
}
of=$# files=("$@")
for t in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge "${GPULOCW_TEST_JOBS:-1}" ]; do wait -n; show; done
    begun=$((begun + 1))
    one "$all/$begun" "$t" &
done
while [ -n "$(jobs -rp)" ]; do wait -n; show; done
show
[ ! -t 2 ] || printf '\r\033[K' >&2
[ $shown -eq $begun ] || { echo "$((begun - shown)) programs have no result"; failed=$((failed + 1)); }
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
