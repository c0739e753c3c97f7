#!/bin/bash
# emulate: programs that register PTX and call the CUDA runtime, without a GPU, in both ways in.
. tests/tool/tap.sh
. tests/tool/emulate.bash
test -x "$P/vectors" || { echo "Bail out! $P is not built"; exit 1; }
for p in vectors order symbols managed graphs texture pools libraries; do
    run -- "$P/$p"; claim "$p" passed
done
# Libraries with a static runtime of their own, brought by dlopen: with names, and by the toolkit's text without.
for l in named stripped; do
    run -- "$P/brought" "$P/inside/$l.so" 4; claim "a $l library without kernels" passed
    run -- "$P/brought" "$P/inside/$l-kernel.so" 9; claim "a $l library with a kernel" passed
done
mkdir "$T/alone"; cp "$P/inside/stripped-kernel.so" "$T/alone"
run --json -- "$P/brought" "$T/alone/stripped-kernel.so" 9; claim "without a toolkit of its version the calls fail" test $rc -ne 0
for fill in 0 171; do "$B" capture --emulate -o "$T/fill$fill" -- "$P/captured" $fill > "$T/out" 2> "$T/err"; done
claim "a capture has no filling of structures" cmp "$T/fill0/take.launch.json" "$T/fill171/take.launch.json"
claim "its variables stand by name" test "$(grep -o '"name": "\(alpha\|zeta\)"' "$T/fill0/take.launch.json" | tr -d '\n')" = '"name": "alpha""name": "zeta"'
run -- "$P/vectors" 7; claim "the program's exit status" test $rc -eq 7
claim "the table is on standard error" grep -qE '^ +2 +add +40x1x1 of 128x1x1' "$T/err"
claim "standard output is the program's" test "$(cat "$T/out")" = PASS
run --json -- "$P/vectors" 7
claim "the document" json "d['format']=='gpulocw-emulate' and d['program']['exit_status']==7 and k['add']['launches']==2 and k['add']['grid']==[40,1,1] and k['add']['time_ns'] is None and k['add']['evidence'] is None and d['findings']==[] and d['not_supported']==[]"
run --json --time -- "$P/vectors"
claim "--time" json "k['add']['timed_launches']==2 and k['add']['time_ns']>1000 and k['add']['evidence'] in ('whole','sampled') and d['program']['gpu_ns']==k['add']['time_ns']"
for f in '0 an illegal memory access was encountered' '1 misaligned address' '2 unspecified launch failure'; do
    run -- "$P/faults" "${f%% *}"; claim "fault ${f#* }" passed
    claim "its error has CUDA's words" grep -qx "${f#* }" "$T/out"
done
claim "a fault is reported with its place" grep -q 'error: the kernel executed trap: thread (0,0,0)' "$T/err"
(ulimit -v 8000000; "$B" emulate -- "$P/columns" > "$T/out" 2> "$T/err"); claim "no room for the device's memory: the calls fail, and why is told" grep -q "got no device: there is no room" "$T/err"
run --time-limit 0.2 -- "$P/faults" 3; claim "a launch that does not end" passed
claim "the limit says how to raise it" grep -q -- '--time-limit SECONDS allows more' "$T/err"
SECONDS=0; run -- timeout -s KILL 1 "$P/faults" 3
claim "a program that is killed takes its launch along" eval 'test $SECONDS -lt 20 && grep -q "the program ended while a launch of turn ran" "$T/err"'
# Told to end, alone: so are the program, what it started and its launch.
told() { # SIGNAL CMD...
    local signal=$1; shift
    TMPDIR=$T/told "$B" emulate --json -- "$@" > "$T/out" 2> "$T/err" & local pid=$!
    for _ in $(seq 100); do test -e "$T/begun" && break; sleep 0.1; done
    test -e "$T/begun" || echo "# it did not begin"
    kill -s "$signal" $pid; SECONDS=0; wait $pid; rc=$?; took=$SECONDS; rm -f "$T/begun"
}
gone() { for _ in $(seq 50); do pgrep -f "$1" > "$T/left" || return 0; sleep 0.1; done; cat "$T/left"; return 1; }
mkdir "$T/told"; cp "$P/faults" "$T/endless"; begin="touch '$T/begun'"
for s in TERM:143 INT:130 HUP:129; do
    told ${s%:*} /bin/sh -c "$begin; exec '$T/endless' 3"
    claim "SIG${s%:*} ends the program" eval 'test $rc -eq ${s#*:} -a $took -lt 5 && gone "$T/endless"'
    claim "SIG${s%:*}: the document is there" json "d['program']['exit_status']==${s#*:} and d['program']['failed_launches']<2"
done
told TERM /bin/sh -c "$begin; '$T/endless' 3; exit 7"
claim "what a script started ends, too" eval 'test $rc -eq 143 -a $took -lt 5 && gone "$T/endless"'
told TERM /bin/bash -c "trap 'echo heard; exit 0' TERM; $begin; while :; do sleep 0.1; done"
claim "a program that ends well when told: 130" eval 'test $rc -eq 130 && grep -qx heard "$T/out"'
claim "its own status is in the document" json "d['program']['exit_status']==0"
told TERM /bin/bash -c "trap '' TERM; $begin; exec '$T/endless' 3"
claim "a launch is stopped for a program that does not heed it" eval 'test $took -lt 5 && grep -q "a launch of turn was stopped: interrupted" "$T/err" && gone "$T/endless"'
told TERM /bin/bash -c "trap '' TERM; $begin; while :; do sleep 0.1; done"
claim "a program that goes on is killed" eval 'test $rc -eq 137 -a $took -ge 4 -a $took -lt 20'
claim "nothing is left behind" test -z "$(ls -A "$T/told")"
told KILL /bin/sh -c "$begin; exec '$T/endless' 3"
claim "without gpulocw there is no program" gone "$T/endless"
run --time-limit 0.2 --json -- "$P/faults" 3 leave
claim "a program that returns waits for its kernels" json "d['program']['exit_status']==0 and d['program']['wall_ns']>2e8 and d['program']['failed_launches']==1"
run -- "$P/printing"; claim "printf and assert" passed
claim "what kernels print comes where the program waits" test "$(head -5 "$T/out" | tr '\n' '|')" = 'before|hi 0|hi 1|hi 2|after|'
run --json -- "$P/missing"; claim "what cannot be had is an error" test $rc -eq 0
claim "calls that are not there are counted" json "d['not_supported']==[{'call':'cudaIpcGetMemHandle','count':3}]"
claim "a kernel of machine code alone is refused by name, and what to do is said" eval 'grep -q "error: kernel add has no PTX for this device" "$T/err" && grep -q "hint: build it with PTX" "$T/err"'
claim "one name in two modules is two kernels" json "len(d['kernels'])==2"
run -- "$P/asking"; claim "attributes, occupancy, launches that do not fit" passed
claim "they are the preset's" grep -qx 'SMs 132' "$T/out"
run -d sim:pascal-p100 -- "$P/asking"; claim "another preset is another device" grep -qx 'SMs 56' "$T/out"
run --check-memory --json -- "$P/checked"
claim "--check-memory: exit status 4" test $rc -eq 4
claim "a race and an uninitialised read" json "sorted(x['rule'] for x in d['findings'])==['race','uninitialised-read'] and d['program']['exit_status']==0"
claim "the program does not notice" grep -qx PASS "$T/out"
run -- "$P/checked"; claim "without it, nothing is looked for" passed
run -- /bin/sh -c "\"$P/vectors\" && \"$P/order\""; claim "programs that a script starts" test "$(grep -c PASS "$T/out")" -eq 2
printf '\177ELF\1' > "$T/old"; head -c 100 /dev/zero >> "$T/old"; chmod +x "$T/old"
run -- "$T/old"; claim "a 32-bit program is told" grep -q '32-bit program' "$T/err"
claim "it is refused" test $rc -eq 3
run -- /nowhere/program; claim "a program that is not there" test $rc -eq 1
run; claim "no program is wrong usage" test $rc -eq 2
run -d cuda:0 -- "$P/vectors"; claim "a GPU is wrong usage" test $rc -eq 2
mkdir "$T/tmp"; TMPDIR=$T/tmp "$B" emulate -- "$P/vectors" > /dev/null 2>&1
claim "nothing is left" test -z "$(ls -A "$T/tmp")"
"$B" emulate -o "$T/kept" -- "$P/vectors" > "$T/out" 2> "$T/err"; rc=$?
claim "-o: the program's exit status and output" passed
claim "-o writes what capture writes" test -f "$T/kept/add.ptx" -a -f "$T/kept/add.launch.json" -a -f "$T/kept/capture.json"
claim "the launch runs again, with the same outputs" eval '"$B" run "$T/kept/add.ptx" | grep -q "^captured  equal to what the captured launch left"'
"$B" capture --emulate -k add -o "$T/again" -- "$P/vectors" > "$T/out" 2> "$T/err"; rc=$?
claim "capture --emulate" cmp "$T/kept/add.data.bin" "$T/again/add.data.bin"
claim "it says that there was no GPU" grep -q '^1 kernels, 1 with PTX, run without a GPU' "$T/out"
"$B" capture --emulate -k nothing -o "$T/none" -- "$P/vectors" > "$T/out" 2> "$T/err"
claim "kernels that were not asked for" test ! -e "$T/none/add.ptx"
"$B" emulate -o "$T/second" --nth 2 -- "$P/vectors" > "$T/out" 2> "$T/err"
claim "the second launch is another" eval '! cmp -s "$T/kept/add.left.bin" "$T/second/add.left.bin"'
"$B" capture -d sim:fermi-16k --list -- "$P/vectors" > "$T/out" 2> "$T/err"; rc=$?
claim "capture on a GPU takes no simulated device" test $rc -eq 2
run -- "$P/vectors"
claim "three lines for who begins" eval 'grep -q "^coalescing  3.98 sectors of 32 bytes per request of a warp, 3.98 would do: coalesced" "$T/err" && grep -q "^limit       40 CTAs for 132 SMs" "$T/err" && grep -q "^try first   a larger problem" "$T/err"'
exit ${bad:-0}
