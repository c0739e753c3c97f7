#!/bin/bash
# Five seconds per panel: what panels.md beside it says of each stands on the screen, at 80x24, where it says.
. "$(dirname "$0")/tmux.bash"
table=tests/terminal/panels.md
fermi="kernels/valley.ptx -k fermi -d sim:fermi-16k --session $dir/s.json"
between() { local l; l=$(line_of "$1"); [ -n "$l" ] && [ "$l" -ge "$2" ] && [ "$l" -le "$3" ]; } # REGEX l2-bandwidth LAST: screen rows

# the table has a row for each panel that the program has, by its name
diff <(sed -n '/^## Panels/,/^## Keys/p' "$GPULOCW_BUILD/reference/keys.md" | grep -oE '^\| [0-9]+ \| [A-Za-z]+' | sed 's/^| \([0-9]*\) | /\1 /') \
     <(grep -oE '^\| [0-9]+ [A-Za-z]+' $table | sed 's/^| //' | sort -n) > "$dir/rows"; check "each panel has a row in $table" $?
[ ! -s "$dir/rows" ] || sed 's/^/# /' "$dir/rows"
row() { grep -E "^\| $1 " $table; } # the row's own figures are looked for, so that neither changes alone
told() { row "$1" | grep -qF -- "$2"; }

begin 80x24 $fermi; shows "^  81 .*ld.global"
[ "$(screen | grep -cE "^ +(81|83|85|87|89|91|93|95) █+ +4\.0 +12%")" -ge 5 ] && told 1 "lines 81 to 95, 4 sectors"; check "1 Source: which loads cost most" $?
keys 2; until_true between "all loads" 3 5; has "4.00 exact" && told 2 "4 sectors"; check "2 Coalesce: which sectors a warp touches" $?
keys 3; shows "^ needs  2.00 KiB a warp, .*64.0 KiB an SM; +L1 holds 16.0 KiB" && told 3 "2 KiB a warp, 64 KiB an SM, L1 holds 16 KiB"; check "3 Locality: does the data fit" $?
keys 4; until_true between "^ the original text, unchanged" 15 19 && told 4 "the original text"; check "4 Options: what is set, and is it legal" $?
shows "^ › block +as-launched +advised: 128x4x1" && [ "$(line_of "› block")" -lt "$(line_of "▸ Prefetching: prefetch prefetch-distance")" ]; check "what is advised stands first, the rest is folded" $?
keys r; shows "run 1: [0-9]"; keys 6; until_true between "131 k requests +hit 2.6 % +hit 82.2 %" 4 7
between "^ L1 .*[0-9]+ % of peak" 5 9 && between "^ DRAM .*[0-9]+ % of peak" 6 10 && told 6 "L1 hits 2.6 %, L2 82 %"; check "6 Counters: where the bytes go" $?
keys 5 s; shows "run 2: [0-9]"; shows "π=8 cache peak"; until_true between "π=8 of 16 is 1.41x faster than caching all" 15 18 && told 5 "π=8, 1.41x faster than caching all"; check "5 Valley: which value is best" $?
keys 7; shows "^ +1 original .*85.7 µs"; shows "^ +2 sweep.* 60.7 µs.* 1.41x" && between "no what ran.*best +gain" 3 3; check "7 Runs: what ran, and what it was worth" $?
text ":panel compare"; keys Enter; until_true between "faster 1.41x \(whole\)" 4 6 && has "2.57 -> 31 % L1 hits" && told 15 "1.41x faster, 2.57 to 31 %"; check "15 Compare: what changed" $?
keys 8; until_true between "^ Limited by: l2-bandwidth, [0-9]+ %" 3 3; between "^ Best so far: 1.41x faster" 4 4; check "8 Advice: limit, best, next" $?
text ":set nosuch 1"; keys Enter; keys 9; shows "^ error +no knob 'nosuch'"
[ "$(screen | grep -E "^ (note|warn|error) " | tail -1 | grep -c "no knob")" -eq 1 ]; check "9 Messages: the last line is what went wrong last" $?
text ":panel papers"; keys Enter; shows "^ +s1-fig2 +Valley model" && between "bypass \(SC'15\)" 3 3 && told 10 "s1-fig2"; check "10 Papers: which figures there are" $?
begin 80x24 $fermi; shows ld.global; keys S r; until_true between "What limits it +l2-bandwidth" 4 7; shows "^ +1 +try block 128x4" && told 12 "try block 128x4"; check "12 Summary: the limit, what to try, the gain" $?
begin 80x24 tests/terminal/lines/lines.ptx -d sim:ampere-a100; shows ld.global; keys U; shows "^ +12 .* 32/4 +89% +([0-9]+%)? *│ +float x = a" && told 13 "line 12, 32 sectors, 89 %"; check "13 CUDA: which CUDA lines cost most" $?
keys A; shows "through ptxas for sm_[0-9]+: +[0-9]+ registers +[0-9]+ bytes spilled|ptxas was not found|machine code cannot"; check "14 SASS: what the compiler made of it" $?
live=$(dirname "$b")/tests/live
if [ -x "$live/program" ]; then
    b="env CUPTI_PATH=$live/libfake.so $b"; begin 80x24 $fermi; shows ld.global
    text ":program $live/program x 7"; keys Enter; shows "^ +65.2 % +3 .* scale"; check "11 Program: its kernels, with their share" $?
fi
echo "1..$n"
