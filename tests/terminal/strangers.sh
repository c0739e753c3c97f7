#!/bin/bash
# What strangers found wrong in a terminal, each row tried again.
. "$(dirname "$0")/tmux.bash"
fermi="kernels/valley.ptx -k fermi -d sim:fermi-16k"
lesson() { printf '%s\n' "$@" > "$dir/answers"; "$b" demo --grade "$dir/answers" > "$dir/graded" 2> /dev/null; }

# teachers: a step passes when the asked-for run was made with the asked-for knobs
lesson "lesson 8" run next run run "set softcache 2" next "set softcache 1" next
[ $? -eq 5 ] && grep -q "^not ok 2 " "$dir/graded" && grep -q "softcache in the last run was off, it should be 2" "$dir/graded"; check "answers that never ran with the knob are refused" $?
lesson "lesson 8" run next "set softcache 2" run next "set softcache 1" run next; check "the same run with the knobs is right" $?
lesson "lesson 2" next run next "sweep coarsen=1/2" next "metric hits" next
[ $? -eq 5 ] && grep -q "^# axis is coarsen, it should be pi" "$dir/graded" && grep -q "^# pi is cha, it should be best.pi" "$dir/graded"; check "a sweep of another knob is not the one asked for, and knobs that are unset are not equal" $?
bad='{"format":"gpulocw-session","major":1,"minor":0,"reads_from":1,"writer":"by hand","time":"2026-01-01T00:00:00Z","lesson":{"number":12,"title":"T","summary":"s","file":"kernels/stride_4.ptx","steps":[{"text":"a","task":"b","panel":"counters","check":"l1.hit_rate > 99 and runs >= 1","do":["run","set pi 99999","kernel nosuch"]}]}}'
echo "$bad" > "$dir/bad.json"; "$b" demo --check "$dir/bad.json" > /dev/null 2> "$dir/said"
[ $? -ne 0 ] && grep -q "step 1, \"do\": 'set pi 99999' fails" "$dir/said" && grep -q "step 1, \"do\": 'kernel nosuch' fails" "$dir/said" && grep -q "step 1, \"check\": its own commands do not fulfil" "$dir/said"; check "demo --check tries every command and every check" $?
"$b" demo --check sessions/lessons/1-coalescing.json 2>&1 | grep -q "all tried"; check "and a right lesson passes" $?

# doors
begin 80x24 kernels/stride_4.ptx --theme nosuch; ends; [ "$(cat "$dir/rc")" -ne 0 ] && shows "no theme 'nosuch'; dark, light"; check "an unknown theme is told at the prompt" $?
begin 80x24 demo 2-valley --theme light; shows "step 1 of"; check "demo takes a theme" $?
cp kernels/valley.ptx kernels/valley.launch.json "$dir"
begin 80x24 "$dir/valley.ptx" -k fermi -d sim:fermi-16k --session "$dir/w.json"; shows ld.global; text ":tune search 400"; keys Enter; shows "search +[0-9]+ of"; insists W "^ written, the best so far \([0-9.]+x\): /" && shows "search +[0-9]+ of"; check "W during a search writes the best so far" $?
"$b" run "$dir/valley.tuned.ptx" -d sim:fermi-16k > /dev/null 2>&1; check "which runs as written" $?
keys x; written "$dir/w.json"; keys Q; ends
begin 200x60 replay "$dir/w.json"; shows "Best so far|Next: "; keys 4; shows "gpulocw run .*valley.ptx|as a command: first w"; check "a replayed session shows a command that works, or what it needs first" $?
has_not "unsaved changes"; check "and no changes that nobody made" $?
keys 5; shows "fastest so far"; keys e; text ":export svg $dir/search.svg"; keys Enter; written "$dir/search.svg"
grep -o '<polyline[^>]* points="[^"]*' "$dir/search.svg" | head -1 | sed 's/.*points="//' | tr ' ' '\n' | awk -F, 'NF == 2 { if (n++ && $2 < last) up = 1; last = $2 } END { exit up || n < 2 }'; check "the line of the fastest so far never rises" $?
begin 80x24 replay "$dir/w.json" --theme light; shows "fastest so far"; check "replay takes a theme" $?
cp kernels/stride_4.ptx "$dir/guess.ptx"
begin 80x24 "$dir/guess.ptx" -d sim:fermi-16k --session "$dir/guess.json"; shows ld.global; keys r; shows "threads of a block"; keys Enter; shows "run 1: [0-9]"; keys S; shows "What is guessed +grid, block and data"; check "a time of a guessed launch and data says so" $?

# two workbenches on one session: neither loses a run, and who comes second says where its runs are
two="kernels/stride_4.ptx --session $dir/two.json"
begin 80x24 $two; shows ld.global; keys r; shows "run 1: [0-9]"
tm new-session -d -s o -x 80 -y 24 "XDG_CONFIG_HOME=$dir/c XDG_DATA_HOME=$dir/d LC_ALL=C.UTF-8 $b $two; exec cat"
other() { tm capture-pane -p -t o | grep -qE -- "$1"; }
until_true other ld.global; tm send-keys -t o -l ":set coarsen 2"; tm send-keys -t o Enter r; until_true other "run 2: [0-9]"; check "a second workbench goes on in the same session" $?
text ":set block 64"; keys Enter r; shows "run 2: [0-9]"; keys 9; shows "another program has written this session"; check "the first one says that it is no longer its own" $?
tm send-keys -t o q; until_true other "again:.*two.json"; keys q; ends; shows "^session: .*two-2.json"; check "and where its runs are, at the end" $?
runs() { python3 -c "import json,sys; print(*[r['result']['options'].get(sys.argv[2]) for r in json.load(open(sys.argv[1]))['runs']])" "$@" 2>&1; }
[ "$(runs "$dir/two.json" coarsen)" = "1 2" ] && [ "$(runs "$dir/two-2.json" block)" = "as-launched 64x1x1" ]; check "each file has both runs of its workbench" $?

# the first change, and the way from one to the next
begin 80x24 $fermi; shows ld.global; text ":set bypass l1"; keys Enter; text ":set pi 8"; keys Enter; shows "legal|pi" ; keys v; shows "C c change"; shows "│[+] "; check "v opens at the first change, and its keys stand in the key bar" $?
first=$(screen | md5sum); differs() { [ "$(screen | md5sum)" != "$first" ]; }; same() { ! differs; }
keys c; until_true differs && shows "[0-9]+ of [0-9]+$"; check "c goes to the next" $?

# the panels
begin 120x40 $fermi --session "$dir/v.json"; shows ld.global; keys s; shows "π=8 cache peak"
[ "$(screen | grep -cE "││ +(│|[0-9.]+ µs ┤)")" -ge 12 ]; check "the curve has twelve rows at 120x40" $?
shows "π=8 of 16 is 1.41x faster" && has "simulated, whole"; check "the README's sweep is of whole launches" $?
begin 80x24 kernels/gemm.ptx; shows ld.global; keys r; shows "run 1: [0-9]"; text ":panel counters"; keys Enter; shows "of peak"; check "the memory chart tells shares of the peaks" $?
text "/operations a byte"; keys Enter; shows "operations a byte →"; check "the roofline has labelled axes" $?
has "1 T ┤|100 G ┤|10 T ┤" && screen | grep -qE "[⠉⠒⣀⠤]{2}"; check "and is drawn in dots, with ticks" $?
begin 120x40 kernels/valley.ptx -k fermi -d sim:fermi-16k --session "$dir/n.json"; shows ld.global; keys r; shows "run 1: .*whole"; text ":set bypass l1"; keys Enter r; shows "run 2: .* vs the original"; keys S; shows "What it has gained"; has_not "unknown"; check "nothing says unknown under what is known" $?
text ":panel compare"; keys Enter; shows "run 1 +then +run 2" && shows "outputs +equal" && has "time +85"; check "two runs stand side by side" $?
begin 120x40 kernels/stencil3d.ptx --session "$dir/g.json"; shows ld.global; keys r; shows "run 1: .*sampled"; text ":set coarsen 4"; keys Enter r; shows "run 2: .*whole\), [0-9]+ % slower than the original"; check "a whole time has its gain: the original of a sample runs whole, by itself" $?
keys S; shows "nothing that ran beat the original" && keys 7 && shows "1 original +[0-9.]+ µs sampled +1.00x" && shows "2 --coarsen 4 +[0-9.]+ µs whole +0.40x" && shows "3 original +[0-9.]+ µs whole"; check "and all gains are over that one" $?
begin 120x40 $fermi --session "$dir/a.json"; shows ld.global; text ":panel advice"; keys Enter; shows "by the model"; keys Enter; shows "run 2: .* vs the original"; shows "in the run" && has "[0-9.]+ µs instead of [0-9.]+ µs"; check "after a run an advice has the run's words" $?
begin 80x24 kernels/valley.ptx -d sim:hopper-h200 --session "$dir/p.json"; shows ld.global; keys S r; shows "^   1  let a thread do the work of 2 +0\.[0-9]+x to [0-9.]+x \([0-9]+ recorded\)"; check "before a run a range that promises nothing, with its records" $?
keys Enter; shows "run 2: .* vs the original"; gone "do the work of 2 +[0-9.]+x to"; check "and none of what has run" $?
# eight colours
before=$b; b="env TERM=screen $b"; begin 80x24 $fermi; b=$before; shows ld.global; [ "$(tm capture-pane -e -p -t s | grep -cE "$(printf '\033')\[([0-9]+;)*34m")" -eq 0 ]; check "TERM=screen: no dark blue text" $?
echo "1..$n"
