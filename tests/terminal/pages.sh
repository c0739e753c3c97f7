#!/bin/bash
# What the panels, layouts, help, advice, pages of code and the lessons' grader have to show, tried in a real terminal.
. "$(dirname "$0")/tmux.bash"
fermi="kernels/valley.ptx -k fermi -d sim:fermi-16k"

# 13: where one is in a list; help shows it too
begin 80x24 $fermi; shows ld.global; shows "[0-9]+ of [0-9]+$"; check "a list longer than its panel says where the cursor is" $?
keys '?'; shows "Help:" && shows " 1[0-9] of [0-9]+$"; check "and so does help" $?
# 17: a lesson's checks without a terminal
printf 'lesson 2\nnext\nrun\nnext\nsweep pi\nnext\nmetric hits\nnext\nmetric speed\nbest\nnext\nrun\n' > "$dir/answers"
"$b" demo --grade "$dir/answers" > "$dir/graded"; check "right answers are graded as right" $?
grep -q "^# 5 of 5 tasks done" "$dir/graded"; check "and counted" $?
printf 'lesson 2\nnext\nnext\nsweep pi\n' > "$dir/answers"; "$b" demo --grade "$dir/answers" > "$dir/graded" 2>/dev/null; [ $? -eq 5 ] && grep -q "^# no run so far" "$dir/graded"; check "a task left out is exit code 5, and what lacks" $?
printf 'lesson 2\nsave %s/mine\n' "$dir" > "$dir/answers"; "$b" demo --grade "$dir/answers" > /dev/null 2>&1; [ $? -eq 1 ] && [ ! -e "$dir/mine" ]; check "answers write nothing" $?

# 11: panels side by side: their borders move by keys and by mouse and stay; layouts by key and by name
column() { screen | grep -m1 "5 Valley ─" | sed 's/5 Valley.*//' | wc -m; }
keys_of_mouse() { tm send-keys -t s -l "$(printf '\033[<0;%d;10M\033[<32;%d;10M\033[<0;%d;10m' "$1" "$2" "$2")"; }
moved() { [ "$(column)" "$1" "$was" ]; }
begin 120x40 $fermi; shows ld.global; was=$(column); keys S-Left; until_true moved -lt; check "Shift and an arrow move the border of a panel" $?
was=$(column); keys_of_mouse $((was - 3)) $((was + 9)); until_true moved -gt; check "and the mouse drags it" $?
was=$(column); keys 7; shows "what ran "; keys r; shows "1 original .*(µs|ms) (whole|sampled)"; check "at 120x40 the list of runs begins with the configuration" $?
keys P; shows "layout one:"; keys P; shows "layout two:"; keys P; shows "layout plot:"; check "P goes through the layouts that fit" $?
text ":layout three"; keys Enter; shows "layout three needs 150x30; this screen has 120x40"; check "one that does not fit says what it needs" $?
text ":layout auto"; keys Enter; shows "layout auto:"; text ":panel program"; keys Enter; shows "─ 11 Program"; check "every panel stands somewhere in a layout" $?
keys Q; ends; begin 120x40 $fermi; shows ld.global; [ "$(column)" -eq "$was" ]; check "borders are where they were at the next start" $?

# 5, 4, 12: what is said of a kernel while a search runs, and after it found something
begin 80x24 $fermi; shows ld.global; keys 8; shows "by the model L1 rate"; keys t; shows "search runs: what follows is from before it"; check "during a search the advice says that it is from before" $?
shows " search +[0-9]+ of [0-9]+ launches .*%" && [ "$(line_of "launches .*%")" -eq 22 ]; check "progress has a row of its own" $?
shows "run 1: .*x vs the original, equal ✓"; check "a search ends in one line with time, gain and equality" $?
shows "Best so far: [0-9.]+x faster"; [ "$(line_of "Best so far")" -lt "$(line_of "Next: |expected|tried")" ]; check "advice leads with the best that was measured" $?
[ "$(screen | grep -cE "Best so far|◆ best")" -eq 1 ]; check "there is one best" $?
text ":launch grid 8"; keys Enter; gone "^ :launch"; gone "Best so far"; sleep 1; shows "by the model L1 rate" && has_not "Best so far"; check "and none of another launch" $?

changed() { [ "$(screen)" != "$was" ]; }
# 13: help by groups, keys in pairs, nothing cut
keys '?'; shows "│ Advice panel"; text "/Panels and layouts"; keys Enter; shows "│ Panels and layouts"; check "help is grouped" $?
keys g; shows "│ Advice panel"; all=$(screen)
while has_not "([0-9]+) of \\1$"; do was=$(screen); keys NPage; until_true changed || break; all="$all$(screen)"; done
odd=
whole() { # each help text of keys.md stands in it, its lines joined
    tr '\n' ' ' <<< "$all" | sed 's/[│┃]/ /g; s/  */ /g' > "$dir/all"
    # without what is about other windows; nine panels are one row, "1 to 9"
    awk -F'|' '/^#/ { in_help = !/[Hh]elp|tree|picker|[Rr]eplay/ } in_help && /^\| `[^|]*\|[^|]*\|[^|]*\|$/ && $4 !~ /^ [a-z]+ panel $/ { print $4 }' "$GPULOCW_BUILD/reference/keys.md" | sed 's/^ *//; s/ *$//' > "$dir/texts"
    [ "$(wc -l < "$dir/texts")" -ge 100 ] || return 1
    while read -r t; do grep -qF -- "$t" "$dir/all" || { echo "# not whole: $t"; odd=1; }; done < "$dir/texts"; [ -z "$odd" ]
}
[ -z "$missed" ] && [ "$(grep -c "panel " <<< "$all")" -ge 10 ] && ! grep "…" <<< "$all" | grep -qv "^ run " && whole; check "and nothing in it is cut" $?
keys q; gone "Help:"; keys 1; shows "\[ \] load"; check "keys that go two ways stand as a pair" $?

# 16: the summary; the CUDA source with its loads; the machine code (with tools of our own that say what a
# toolkit's say)
lines="tests/terminal/lines/lines.ptx -d sim:ampere-a100"
begin 80x24 $fermi; shows ld.global; keys S; shows "What limits it +not known yet: r runs the original" && keys r && shows "What limits it +l2-bandwidth" && shows "What to try next"; check "the summary says what limits the kernel and what to try" $?
shows "^ +1  try block [0-9]+x"; check "and names what to try" $?
keys Enter; shows "run 2: [0-9]"; shows "What it has gained +[0-9.]+x over the original \(run 2, (whole|sampled), outputs equal\)"; check "Enter tries the first advice, after the original" $?
begin 80x24 $lines; shows ld.global; keys U; shows "12 .* 32/4 +89% +([0-9]+%)? *│ +float x = a"; check "CUDA lines carry what their loads cost" $?
keys g ']'; shows "PTX of line 4: 3 instructions"; check "an inlined function's line has its PTX below" $?
keys h Enter; shows "^ +56 of 76$" && has "^  56 .* ld.global.f32 +%f2, "; check "Enter goes to the PTX of the costliest line" $?
begin 130x40 $lines; shows ld.global; keys U h z; shows "i \* 8\]; .*│ +[0-9]+ +[a-z.0-9]+ +%r|PTX of"; screen > "$dir/wide"; grep -qE "│ .*│ .*ld.global.f32" "$dir/wide"; check "on a wide screen the PTX stands beside the source" $?
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
shows ld.global; keys A; shows "neither nvdisasm nor cuobjdump is here|ptxas was not found"; check "without the tools it says which are missing" $?

# neighbours: changes of the launch that come faster than the engine works; reasons that several values have in
# common; in a lesson the panel keeps its answer
begin 80x24 $fermi; shows ld.global; keys 4
tm send-keys -t s -l ":launch grid 15" \; send-keys -t s Enter \; send-keys -t s -l ":launch block 64" \; send-keys -t s Enter \; send-keys -t s -l ":launch shared 128" \; send-keys -t s Enter
keys G; shows "shared memory +128 bytes" && has "grid +15 x 1" && has "block +64 x 1"; check "changes of the launch in quick succession are all kept" $?
text ":set bypass l1"; keys Enter; shows "[●○] bypass"; keys g Space; shows "✗ no_allocate evict_last evict_first evict_unchanged: needs sm_70"; check "values that lack the same have one reason" $?
begin 80x24 demo 1; shows "step 1 of"; keys Enter 2 Enter j; shows "sector +aabbccdd" && has "32 lanes, 16 sectors"; check "in a lesson, too, the lanes and their sectors are shown" $?

# other terminals, and no colours
with() { local before=$b; b="env $1 $b"; shift; begin "$@"; b=$before; }
for term in xterm-256color screen linux vt100; do
    with TERM=$term 80x24 $fermi; shows "^  81 .*ld.global"; keys 5; shows "next sweep: pi"; check "TERM=$term" $?
done
with "TERM=xterm-256color NO_COLOR=1" 80x24 $fermi; shows ld.global; [ "$(tm capture-pane -e -p -t s | grep -cE "$(printf '\033')\[[0-9;]*(3[0-8]|4[0-8])[;m]")" -eq 0 ]; check "NO_COLOR: no colour" $?
echo "1..$n"
