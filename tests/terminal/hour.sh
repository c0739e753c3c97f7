#!/bin/bash
# What a demanding hour found wrong, each tried in a real terminal: tmux runs the program, types and reads.
. "$(dirname "$0")/tmux.bash"
fermi="kernels/valley.ptx -k fermi -d sim:fermi-16k"

# 1: what Tab finds stands above the prompt, beside what is typed
begin 80x24 $fermi; shows ld.global
text ":theme "; keys Tab; shows okabe-ito-light
[ "$(line_of okabe-ito-light)" -lt "$(line_of '^ :theme')" ]; check "Tab shows the candidates above the line" $?
text "o"; gone high-contrast; check "and the next key takes them away" $?
escape
text ":open kernels/co"; keys Tab; shows coalescing.ptx && screen | grep -q "^ :open kernels/co"; check "of files too" $?
escape; text ":set "; keys Tab; shows bypass-form && screen | grep -q "^ :set"; check "and of options" $?
escape

# 6: a theme that is none is told and not kept
text ":theme nosuch"; keys Enter; shows "no theme 'nosuch'"; check "a theme that is none is told" $?
! grep -qs nosuch "$dir/c/gpulocw/config"; check "and not saved" $?

# 8: options without effect say what they need
text ":set pi 5"; keys Enter; shows "pi = 5 has no effect: it needs bypass"; check "pi without bypass says what it needs" $?
keys 4; shows "○ pi .*no effect: it needs bypass"; check "and is marked in the options" $?
text ":set agents 3"; keys Enter; shows "○ agents .*needs cluster agent"; check "agents without cluster agent" $?
text ":set bypass l1"; keys Enter; text ":set pi 40"; keys Enter; shows "○ pi .*a CTA has 16 warps"; check "pi above the warps of a CTA" $?
text ":unset"; keys Enter; gone "no effect"; check "defaults are never marked" $?

# 7: pasted text is text; Esc stops nothing; x does
keys 5; printf 'qqQ\nq' | tm load-buffer -; tm paste-buffer -p -t s; shows "Pasted text is not read as keys"; sleep 1; [ ! -s "$dir/rc" ] && has "next sweep"; check "a paste runs no keys" $?
text ":note "; tm paste-buffer -p -t s; shows "^ :note qqQ q"; check "in the prompt it is text, its lines joined" $?
escape; text ":tune search"; keys Enter; shows "try 1 "; keys Escape; shows "the search is still running: x stops it"; check "Esc stops no search" $?
keys x; shows "Stopped, results kept"; check "x does" $?
shows "run 1: .*(µs|ms)"; check "a run ends in one line" $?

# 5: what belongs to another launch says so
text ":launch grid 8"; keys Enter; keys 7; shows "\(launch|launch changed since"; check "a run of another launch says so" $?
keys 5; shows "\(launch changed since\)"; check "and so does its curve" $?

# 3: only curves over equal axes are laid over each other
text ":sweep agents=1/2"; keys Enter; shows "run 2: [0-9]"; keys 5 c; shows "no second run over the same axis"; check "a search is not laid over a sweep" $?
text ":launch grid 12"; keys Enter; text ":sweep agents=1/2"; keys Enter; shows "run 3: [0-9]"; keys c
shows "^ ● A run 3 .*○ B run 2 "; check "equal axes are, with the numbers of the runs" $?
shows "^ ● A run 3 grid 12x1 .*○ B run 2 grid 8x1 "; check "and what differs between them" $?
keys q; for _ in 1 2 3; do [ -s "$dir/rc" ] || { sleep 0.3; keys q; }; done; ends
grep -q '^0$' "$dir/rc" && shows "session: .*json" && screen | grep -q "gpulocw replay"; check "on exit: where the session is, and how to see it again" $?

# 2: labels stand at their points
begin 80x24 $fermi; shows ld.global; keys s; shows "π=8 cache peak"; keys m; shows "speed against all cache.*"; shows "π=8 cache peak"
at=$(line_of "π=8 cache peak"); peak=$(screen | grep -nE "●|◉" | head -1 | cut -d: -f1)
[ $((at - peak)) -ge -1 ] && [ $((at - peak)) -le 1 ]; check "the peak's label is within a row of the peak" $?
at=$(line_of "memory plateau"); here=$(screen | sed -n "${at}p")
[ -n "$at" ] && [ "$(sed 's/memory plateau.*//' <<< "$here" | wc -m)" -gt "$(screen | sed -n 's/◉.*//p' | head -1 | wc -m)" ]; check "the plateau lies to the right of the peak" $?

# 10: ticks of a y axis
[ "$(screen | grep -cE "^ +[0-9.]+x ┤")" -ge 2 ]; check "a y axis has two ticks at least" $?
ticks() { [ "$(screen | grep -cE "^ +[0-9.]+($1) ┤")" -ge 2 ]; }
keys o; shows "speed against all cache, logarithmic"; ticks x; check "a logarithmic one too" $?
keys o m; shows "L1 hit rate"; ticks " %"; check "and the hit rate's" $?
keys m; shows "DRAM bytes"; ticks " [KM]iB"; check "and that of bytes" $?
keys m; shows "time, less"; ticks " [µm]s"; check "and that of time" $?

# 9: exit codes
for sig in TERM HUP INT; do
    begin 80x24 $fermi; shows ld.global; pid=$(tm list-panes -t s -F '#{pane_pid}'); kill -$sig "$(pgrep -P "$pid" -x gpulocw)"; ends
    [ "$(cat "$dir/rc")" -eq $((128 + $(kill -l $sig))) ]; check "SIG$sig ends it with 128 + the signal" $?
done
begin 80x24 nosuch.ptx; ends; [ "$(cat "$dir/rc")" -eq 1 ] && shows "nosuch.ptx: .*cannot open"; check "a file that is not there: told, exit code 1" $?
begin 80x24 kernels; shows "Kernels: Enter opens one" && shows "kernels/atax.ptx"; check "a folder opens as the list of its kernels" $?

# 10: small terminals
begin 60x15 $fermi; shows ld.global; shows "\? help"; check "60x15 has key hints" $?
begin 59x14 $fermi; shows ld.global; shows "\? help"; check "and below 60 columns" $?
begin 10x3 $fermi; shows "10x3" && screen | grep -q "too small" && screen | grep -q "q quits"; check "10x3 says all of it" $?

# 6: help of the list of demos
begin 80x24 demo; shows "Demos and lessons"; shows "^│ +10  " && [ "$(line_of "│ +9  Loop schedules")" -lt "$(line_of "│ +10  ")" ]; check "lessons stand in the order of their numbers" $?
keys '?'; shows "Keys: demo picker"; check "? in the list of demos is about it" $?
keys Escape; shows "Demos and lessons"; check "and closing it comes back to the list" $?

# 6: E writes beside the session, and leaves what is there
begin 80x24 $fermi --session "$dir/e.json"; shows ld.global; keys s; shows "cache peak"; keys E; shows "written: .*gpulocw-valley.svg"; keys E; shows "gpulocw-valley-2.svg"
[ -s "$dir/gpulocw-valley.svg" ] && [ -s "$dir/gpulocw-valley-2.svg" ]; check "E writes beside the session and overwrites nothing" $?

# 6: an error goes when the next run succeeds
text ":set nosuch 1"; keys Enter; shows "no knob 'nosuch'"; keys r; shows "run 2: [0-9]"; ! screen | grep -q "no knob"; check "an error goes when the next run succeeds" $?

# 7: results that could not be saved are asked about (the superuser may write anywhere)
if [ "$(id -u)" -ne 0 ]; then
    mkdir "$dir/ro"; chmod 500 "$dir/ro"
    begin 80x24 $fermi --session "$dir/ro/s.json"; shows ld.global; keys r; shows "run 1: [0-9]"; keys q; shows "could not be saved"; check "q asks when results could not be saved" $?
fi
echo "1..$n"
