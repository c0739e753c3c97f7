#!/bin/bash
# x stops what runs, whatever it is; what is measured stays. Progress has a row of its own meanwhile.
. "$(dirname "$0")/tmux.bash"
fermi="kernels/valley.ptx -k fermi -d sim:fermi-16k"
at() { [ "$(line_of "$2")" = "$1" ]; } # ROW REGEX
idle() { ! has "x stops"; }

# a sweep, and a search behind it: one row of progress, the line below it says what waits; x ends both
h200="kernels/valley.ptx -d sim:hopper-h200"
begin 80x24 $h200 --session "$dir/two.json"; shows ld.global; keys s; shows "^ .* sweep .*x stops$"; text ":tune"; keys Enter
shows "the search starts when the sweep has finished; x stops both"
until_true at 22 "^ .* sweep .*x stops$" && at 23 "the search starts when"; check "progress keeps its row while a second job waits" $?
[ "$(screen | grep -cE "x stops( both)?$")" -eq 2 ]; check "and there is one row of it" $?
shows "sweep .* [3-9][0-9] %"; keys x; shows "Stopped, results kept"; until_true idle; sleep 1; idle; check "x stops the sweep, and what waited does not begin" $?
keys 7; shows "^ +1 sweep pi \([0-9]+ cut off\)|^ +1 sweep: " && has_not "^ +2 search" && shows "sweep pi \([1-9][0-9]* cut off\)"; check "what the sweep had measured is kept" $?
keys C; shows "^ +2 sweep"; keys G; shows "sweep pi \(17\)"; check "C goes on with it to its end" $?

# a report of many runs: nothing is written
begin 80x24 $fermi --session "$dir/one.json"; shows ld.global; keys s; shows "run 1: [0-9]"; keys Q; ends
python3 -c "
import json, sys
s = json.load(open(sys.argv[1])); s['runs'] *= 800
json.dump(s, open(sys.argv[2], 'w'))" "$dir/one.json" "$dir/many.json"
begin 80x24 "$dir/many.json"; shows "run 800"; text ":report $dir/r.html"; keys Enter; shows "report .*x stops"; keys x
shows "stopped before it finished"; [ ! -e "$dir/r.html" ]; check "x stops a report, and no part of it is written" $?
text ":report $dir/r.html"; keys Enter; shows "report written"; [ -s "$dir/r.html" ]; check "the next one is whole" $?

# a program that is surveyed
sleeps() { pgrep -f "^sleep 61.4" > /dev/null; }
ended() { ! sleeps; }
begin 80x24 $fermi; shows ld.global; text ":program sleep 61.4"; keys Enter; shows "Running; .*x stops it"; until_true sleeps; keys x; shows "stopping the program|Stopped before it used CUDA"
until_true ended; check "x ends the program that a survey runs" $?

# the analysis of the whole launch, in the background: each thread follows a chain of loaded indices, a minute of slices
cat > "$dir/walk.ptx" << 'END'
.version 7.0
.target sm_70
.address_size 64
.visible .entry walk(.param .u64 next, .param .u64 o)
{
.reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %d<9>;
ld.param.u64 %d1, [next]; ld.param.u64 %d2, [o];
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3; mov.u32 %r5, 0;
L:
mul.wide.u32 %d3, %r4, 4; add.s64 %d4, %d1, %d3;
ld.global.u32 %r4, [%d4];
add.s32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, 64;
@%p1 bra L;
mul.wide.u32 %d5, %r4, 4; add.s64 %d6, %d2, %d5; st.global.u32 [%d6], %r4;
ret;
}
END
cat > "$dir/walk.launch.json" << 'END'
{ "format": "gpulocw-launch", "version": 1, "ptx": "walk.ptx", "kernel": "walk", "grid": [65536,1,1], "block": [256,1,1], "args": [
{ "name": "next", "buffer": "u32", "count": 16777216, "init": { "random": [0, 16777215], "seed": 1 } },
{ "name": "o", "buffer": "u32", "count": 16777216, "init": { "fill": 0 }, "output": true } ] }
END
begin 80x24 "$dir/walk.ptx" -d sim:fermi-16k; shows ld.global; shows "analysing the whole launch +x stops it"; keys x; gone "analysing the whole launch +x stops it"; keys 9; shows "figures are for its first CTAs"; check "x stops the analysis in the background" $?
echo "1..$n"
