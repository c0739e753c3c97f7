#!/bin/bash
# Threads that load, link, launch and unload at once: the injected library counts each launch, and ThreadSanitizer sees no race in it.
. tests/tool/tap.sh
B=$(readlink -f "$B") D=$(readlink -f "$GPULOCW_BUILD")/tests/live
unset CUDA_INJECTION64_PATH
export TRITON_CACHE_DIR=$T/none
test -x "$D/threads" || { echo "Bail out! $D/threads is not built"; exit 1; }
claim() { # NAME CONDITION...
    local name=$1; shift; n=$((n + 1))
    if "$@" >"$T/why" 2>&1; then echo "ok $n - $name"; else echo "not ok $n - $name"; sed 's/^/#   /' "$T/why" | tail -12; bad=1; fi
}
counted() { python3 -c "
import json,sys
t=open(sys.argv[1]).read(); k=json.loads(t[t.index('{\n  \"format\"'):])['kernels']; n={}
for x in k: n[x['name']]=n.get(x['name'],0)+x['launches']
assert n=={'kernel_%d'%i: $2 for i in range($1)}, n
assert all(x['ptx'] for x in k), k" "$T/out"; }
CUPTI_PATH=$D/libfake.so "$B" capture --list --json -- "$D/threads" 4000 4 churn > "$T/out" 2>"$T/err"
claim "four threads, modules that come and go: each launch is counted, each kernel has its PTX" counted 4 4000
CUPTI_PATH=$D/libfake.so "$B" capture --list --json -- "$D/threads" 20000 3 > "$T/out" 2>"$T/err"
claim "three threads, one kernel each" counted 3 20100
sampled() { # of short launches some are timed, at least as many as a window; the time of all is the mean's
    counted "$1" "$2" && python3 -c "
import json,sys
t=open(sys.argv[1]).read(); k=json.loads(t[t.index('{\n  \"format\"'):])['kernels']
timed=sum(x['timed_launches'] for x in k)
assert 1024 <= timed < $1*$2/4 and all(x['timed_launches']>0 for x in k), timed
assert all(x['time_ns']==2000*x['launches'] for x in k), k" "$T/out"; }
CUPTI_PATH=$D/libfake.so "$B" capture --list --json -- "$D/threads" 200000 2 > "$T/out" 2>"$T/err"
claim "short launches: all are counted, some are timed, the time is that of all" sampled 2 200100
# The same under ThreadSanitizer; what it cannot be built or started with is told.
tsan="${CC:-cc} -std=gnu17 -D_GNU_SOURCE -g -O1 -I. -fsanitize=thread"
$tsan -fPIC -shared -Wl,-soname,libfake.so -o "$T/libfake.so" tests/live/fake_live.c tests/live/fake_memory.c tests/live/fake_graph.c -ldl 2>"$T/err" &&
    $tsan -fPIC -shared -fvisibility=hidden -o "$T/inject.so" engine/dev/inject/*.c -ldl -lpthread 2>>"$T/err" &&
    $tsan -o "$T/threads" tests/live/threads.c "$T/libfake.so" -lpthread -Wl,-rpath,"$T" 2>>"$T/err" && "$T/threads" 10 > "$T/out" 2>>"$T/err"
if [ $? -ne 0 ]; then
    echo "ok $((n + 1)) - # SKIP no ThreadSanitizer here: $(tail -1 "$T/err" | tr -d '#')"
    exit $bad
fi
quiet() { ! grep -A12 "WARNING: ThreadSanitizer" "$T/err"; }
for how in survey take; do
    if [ $how = survey ]; then run="env GPULOCW_LIVE_RECORD=$T/record"; else run="$B capture -o $T/c -- env LD_PRELOAD="; fi
    CUPTI_PATH=$T/libfake.so $run env CUDA_INJECTION64_PATH="$T/inject.so" "$T/threads" 4000 4 churn > "$T/out" 2>"$T/err"
    claim "$how: no race is seen" quiet
done
claim "and the record has all launches" eval 'awk "\$1 == \"K\" { n += \$3 } END { exit n != 16000 }" $(ls $T/record.* | grep -v part)'
exit $bad
