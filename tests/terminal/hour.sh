#!/bin/bash
# What a demanding hour found wrong, each tried in a real terminal: tmux runs the program, types and reads.
b=$(realpath "${GPULOCW_BUILD:-build}/gpulocw")
dir=$(mktemp -d)
tm() { tmux -L "gpulocw-hour-$$" -f /dev/null "$@"; }
# the last program may still be writing its history when its terminal goes
trap 'tm kill-server 2>/dev/null; rm -rf "$dir" 2>/dev/null || { sleep 1; rm -rf "$dir"; }' EXIT
if ! command -v tmux > /dev/null; then echo "1..0 # SKIP there is no tmux"; exit 0; fi
tm new-session -d -s keep cat # the server lives from one program to the next
n=0
check() { n=$((n + 1)); if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; screen | sed 's/^/# /'; fi; }
# begin COLUMNSxROWS ARGUMENTS: the program in a fresh terminal; its exit code goes to $dir/rc
begin() {
    local size=$1; shift
    tm kill-session -t s 2>/dev/null; rm -f "$dir/rc"
    tm new-session -d -s s -x "${size%x*}" -y "${size#*x}" \
        "XDG_CONFIG_HOME=$dir/c XDG_DATA_HOME=$dir/d LC_ALL=C.UTF-8 $b $*; echo \$? > $dir/rc; exec cat"
}
keys() { tm send-keys -t s "$@"; }
text() { tm send-keys -t s -l "$1"; }
screen() { tm capture-pane -p -t s; }
# Until the screen shows it, a minute at most: a busy machine is slow, not wrong.
limit=${HOUR_TENTHS:-600}
shows() { for _ in $(seq $limit); do screen | grep -qE -- "$1" && return 0; sleep 0.1; done; return 1; }
gone() { for _ in $(seq $limit); do screen | grep -qE -- "$1" || return 0; sleep 0.1; done; return 1; }
ends() { for _ in $(seq $limit); do [ -s "$dir/rc" ] && return 0; sleep 0.1; done; return 1; }
# Esc, and until it is taken: with a key right behind it, it would be Alt with that key
escape() { keys Escape; gone "Esc cancel"; }
line_of() { screen | grep -nE -- "$1" | head -1 | cut -d: -f1; }
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
keys 5; printf 'qqQ\nq' | tm load-buffer -; tm paste-buffer -p -t s; shows "Pasted text is not taken as keys"; check "a paste runs no keys" $?
text ":note "; tm paste-buffer -p -t s; shows "^ :note qqQ q"; check "in the prompt it is text, its lines joined" $?
escape; text ":tune search"; keys Enter; shows "try 1 "; keys Escape; shows "the search goes on: x stops it"; check "Esc stops no search" $?
keys x; shows "Stopped, results kept"; check "x does" $?
shows "run 1: .*(µs|ms)"; check "a run ends in one line" $?

# 4: one kind of time a comparison
keys 5; shows "from a sample|whole"; ! screen | grep -qE "from a sample +[0-9.]+x vs the original.*" || screen | grep -q "sample"; check "times from samples are marked" $?

# 5: what belongs to another launch says so
text ":launch grid 8"; keys Enter; keys 7; shows "\(launch|launch changed since"; check "a run of another launch says so" $?
keys 5; shows "\(launch changed since\)"; check "and so does its curve" $?

# 3: only curves over equal axes are laid over each other
text ":sweep agents=1/2"; keys Enter; shows "run 2: "; keys 5 c; shows "no second run over the same axis"; check "a search is not laid over a sweep" $?
text ":sweep agents=1/2"; keys Enter; shows "run 3: "; keys c; shows "A run 3.*B run 2"; check "equal axes are, with the numbers of the runs" $?
keys q; for _ in 1 2 3; do [ -s "$dir/rc" ] || { sleep 0.3; keys q; }; done; ends
grep -q '^0$' "$dir/rc" && shows "session: .*json" && screen | grep -q "gpulocw replay"; check "on exit: where the session is, and how to see it again" $?

# 2: labels stand at their points
begin 80x24 $fermi; shows ld.global; keys s; shows "π=8 cache peak"; keys m; shows "speed against cha.*"; shows "π=8 cache peak"
at=$(line_of "π=8 cache peak"); peak=$(screen | grep -nE "●|◉" | head -1 | cut -d: -f1)
[ $((at - peak)) -ge -1 ] && [ $((at - peak)) -le 1 ]; check "the peak's label is within a row of the peak" $?
v=$(screen | grep -oE ".*cache valley" | head -1); p=$(screen | grep -oE ".*memory plateau" | head -1)
[ -z "$p" ] || [ ${#p} -gt ${#v} ]; check "the plateau lies to the right of the valley" $?

# 10: ticks of a y axis
[ "$(screen | grep -cE "^ +[0-9.]+x ┤")" -ge 2 ]; check "a y axis has two ticks at least" $?
keys o; [ "$(screen | grep -cE "^ +[0-9.]+x ┤")" -ge 2 ]; check "a logarithmic one too" $?
keys m m m; shows "time, less"; ticks=$(screen | grep -oE "^ +[0-9.]+ [µm]s ┤" | tr -dc '0-9\n' | grep -v '^$'); [ -n "$ticks" ]; check "it has ticks in time" $?

# 9: exit codes
for sig in TERM HUP INT; do
    begin 80x24 $fermi; shows ld.global; pid=$(tm list-panes -t s -F '#{pane_pid}'); kill -$sig "$(pgrep -P "$pid" -x gpulocw)"; ends
    [ "$(cat "$dir/rc")" -eq $((128 + $(kill -l $sig))) ]; check "SIG$sig ends it with 128 + the signal" $?
done
begin 80x24 nosuch.ptx; ends; [ "$(cat "$dir/rc")" -eq 1 ] && shows "nosuch.ptx: .*cannot open"; check "a file that is not there: told, exit code 1" $?
begin 80x24 kernels; ends; [ "$(cat "$dir/rc")" -eq 1 ]; check "and a folder" $?

# 10: small terminals
begin 60x15 $fermi; shows ld.global; shows "\? help"; check "60x15 has key hints" $?
begin 59x14 $fermi; shows ld.global; shows "\? help"; check "and below 60 columns" $?
begin 10x3 $fermi; shows "10x3" && screen | grep -q "too small" && screen | grep -q "q quits"; check "10x3 says all of it" $?

# 6: help of the list of demos
begin 80x24 demo; shows "Demos and lessons"; keys '?'; shows "Keys: demo picker"; check "? in the list of demos is about it" $?
keys Escape; shows "Demos and lessons"; check "and closing it comes back to the list" $?

# 6: E writes beside the session, and leaves what is there
begin 80x24 $fermi --session "$dir/e.json"; shows ld.global; keys s; shows "cache peak"; keys E; shows "written: .*gpulocw-valley.svg"; keys E; shows "gpulocw-valley-2.svg"
[ -s "$dir/gpulocw-valley.svg" ] && [ -s "$dir/gpulocw-valley-2.svg" ]; check "E writes beside the session and overwrites nothing" $?

# 6: an error goes when the next run succeeds
text ":set nosuch 1"; keys Enter; shows "no knob 'nosuch'"; keys r; shows "run 2: "; ! screen | grep -q "no knob"; check "an error goes when the next run succeeds" $?

# 15: from an unknown kernel to a tuned file in six keys
cp kernels/stride_32.ptx "$dir/unknown.ptx"
begin 80x24 "$dir/unknown.ptx" --session "$dir/u.json"; shows ld.global; keys 4; shows "guesses one"; keys Enter; shows "grid +[0-9]+ x"; check "a guessed launch is in view, with the cursor on it" $?
keys t; shows "(faster than|leave it|alone|original).*: --|run 1: "; keys b; keys Enter; shows "present options"; keys W; for _ in $(seq $limit); do [ -s "$dir/unknown.tuned.ptx" ] && break; sleep 0.1; done; [ -s "$dir/unknown.tuned.ptx" ]; check "a kernel without a launch: 4, Enter, t, b, Enter, W" $?
# 13: where one is in a list; help shows it too
begin 80x24 $fermi; shows ld.global; shows "[0-9]+ of [0-9]+$"; check "a list longer than its panel says where the cursor is" $?
keys '?'; shows "^ *1 of [0-9]+|[0-9]+ of [0-9]+$"; check "and so does help" $?
# 17: a lesson's checks without a terminal
printf 'lesson 2\nnext\nrun\nnext\nsweep pi\nnext\nmetric hits\nnext\nmetric speed\nbest\nnext\nrun\n' > "$dir/answers"
"$b" demo --grade "$dir/answers" > "$dir/graded"; check "right answers are graded as right" $?
grep -q "^# 5 of 5 tasks done" "$dir/graded"; check "and counted" $?
printf 'lesson 2\nnext\nnext\nsweep pi\n' > "$dir/answers"; "$b" demo --grade "$dir/answers" > "$dir/graded" 2>/dev/null; [ $? -eq 5 ] && grep -q "^# no run so far" "$dir/graded"; check "a task left out is exit code 5, and what lacks" $?
printf 'lesson 2\nsave %s/mine\n' "$dir" > "$dir/answers"; "$b" demo --grade "$dir/answers" > /dev/null 2>&1; [ $? -eq 1 ] && [ ! -e "$dir/mine" ]; check "answers write nothing" $?

# 11: panels side by side: their borders move by keys and by mouse and stay; layouts by key and by name
column() { screen | grep -m1 "5 Valley ─" | sed 's/5 Valley.*//' | wc -m; }
keys_of_mouse() { tm send-keys -t s -l "$(printf '\033[<0;%d;10M\033[<32;%d;10M\033[<0;%d;10m' "$1" "$2" "$2")"; }
begin 120x40 $fermi; shows ld.global; was=$(column); keys S-Left; for _ in $(seq $limit); do [ "$(column)" -lt "$was" ] && break; sleep 0.1; done
[ "$(column)" -lt "$was" ]; check "Shift and an arrow move the border of a panel" $?
was=$(column); keys_of_mouse $((was - 3)) $((was + 9)); for _ in $(seq $limit); do [ "$(column)" -gt "$was" ] && break; sleep 0.1; done
[ "$(column)" -gt "$was" ]; check "and the mouse drags it" $?
was=$(column); keys 7; shows "what ran, by number"; keys r; shows "1 original .*(µs|ms) s(im|mp)"; check "at 120x40 the list of runs begins with the configuration" $?
keys P; shows "layout one:"; keys P; shows "layout two:"; keys P; shows "layout plot:"; check "P goes through the layouts that fit" $?
text ":layout three"; keys Enter; shows "layout three needs 150x30; this screen has 120x40"; check "one that does not fit says what it needs" $?
text ":layout auto"; keys Enter; shows "layout auto:"; text ":panel program"; keys Enter; shows "─ 11 Program"; check "every panel stands somewhere in a layout" $?
keys Q; ends; begin 120x40 $fermi; shows ld.global; [ "$(column)" -eq "$was" ]; check "borders are where they were at the next start" $?

# 5, 4, 12: what is said of a kernel while a search runs, and after it found something
begin 80x24 $fermi; shows ld.global; keys 8; shows "expected [0-9.]+x"; keys t; shows "search runs: what follows is from before it"; check "during a search the advice says that it is from before" $?
shows " search +[0-9]+ of [0-9]+ launches .*%" && [ "$(line_of "launches .*%")" -eq 22 ]; check "progress has a row of its own" $?
shows "run 1: .*x vs the original, equal ✓"; check "a search ends in one line with time, gain and equality" $?
shows "Best so far: [0-9.]+x faster \(run 1" && [ "$(line_of "Best so far")" -lt "$(line_of "Try next|expected|tried")" ]; check "advice leads with the best that was measured" $?
[ "$(screen | grep -cE "Best so far|◆ best")" -eq 1 ]; check "there is one best" $?
text ":launch grid 8"; keys Enter; gone "Best so far"; check "and none of another launch" $?

# 13: help by groups, keys in pairs, nothing cut
keys '?'; shows "Run, sweep, search|Advice panel"; text "/Panels and layouts"; keys Enter; shows "Panels and layouts"; ! screen | grep -q "…"; check "help is grouped, and nothing is cut" $?
keys q; gone "Help:"; keys 1; shows "\[ \] load"; check "keys that go two ways stand as a pair" $?

# 16: the summary; the CUDA source with its loads; the machine code (with tools of our own that say what a
# toolkit's say)
lines="tests/terminal/lines/lines.ptx -d sim:ampere-a100"
begin 80x24 $fermi; shows ld.global; keys S; shows "What limits it +L1 rate" && shows "What to try"; check "the summary says what limits the kernel and what to try" $?
shows "1  .*" && shows "expected [0-9.]+x"; check "and what that would gain" $?
keys Enter; shows "run 1: "; shows "What it gained +([0-9.]+x \(run 1|nothing that ran)"; check "Enter tries the first advice" $?
begin 80x24 $lines; shows ld.global; keys U; shows "12 .* 32.0 +89% │ +float x = a"; check "CUDA lines carry what their loads cost" $?
keys g ']'; shows "PTX of line 4: 3 instructions"; check "an inlined function's line has its PTX below" $?
keys h Enter; shows "│ ld.global.f32 +%f2"; [ "$(screen | grep -c 'CUDA')" -eq 0 ]; check "Enter goes to the PTX of the costliest line" $?
begin 130x40 $lines; shows ld.global; keys U h; shows "a\[i \* 8\].*│ +[0-9]+ shl|PTX of line 12"; check "on a wide screen the PTX stands beside the source" $?
mkdir -p "$dir/bin"
cat > "$dir/bin/ptxas" << 'END'
#!/bin/sh
echo "ptxas info    : Compiling entry function 'lines' for 'sm_75'"
echo "    0 bytes stack frame, 24 bytes spill stores, 0 bytes spill loads"
echo "ptxas info    : Used 12 registers, used 0 barriers"
END
cat > "$dir/bin/nvdisasm" << 'END'
#!/bin/sh
printf '.text.lines:\n\t//## File "lines.cu", line 12\n        /*0000*/                   LDG.E.SYS R4, [R2] ;\n        /*0010*/                   EXIT ;\n'
END
chmod +x "$dir/bin/ptxas" "$dir/bin/nvdisasm"
before=$b; b="env PATH=$dir/bin:$PATH $b"; begin 80x24 $lines; b=$before
shows ld.global; keys A; shows "00000 +12 +LDG.E.SYS R4, \[R2\]$"; check "the machine code stands with its CUDA lines" $?
shows "12 registers +24 bytes spilled" && shows "load: 1,"; check "and registers, spills and accesses below it" $?
before=$b; b="env PATH=/usr/bin:/bin CUDA_HOME=/nowhere CUDA_PATH=/nowhere $b"; begin 80x24 $lines; b=$before
shows ld.global; keys A; shows "is not here|registers"; check "without the tools it says which are missing" $?

# 7: results that could not be saved are asked about (the superuser may write anywhere)
if [ "$(id -u)" -ne 0 ]; then
    mkdir "$dir/ro"; chmod 500 "$dir/ro"
    begin 80x24 $fermi --session "$dir/ro/s.json"; shows ld.global; keys r; shows "run 1: "; keys q; shows "could not be saved"; check "q asks when results could not be saved" $?
fi
echo "1..$n"
