#!/bin/bash
# The first screen answers: a kernel opens with the summary, its original runs at once, Enter tries a line.
. "$(dirname "$0")/tmux.bash"
opens_with summary
fermi="kernels/valley.ptx -k fermi -d sim:fermi-16k"
fits() { ! screen | grep -qE "[┃│]$"; } # no scroll bar
sums() { [ "$(screen | grep -E "^   [a-z0-9 -]+ +[█▏▎▍▌▋▊▉·]+ +[0-9]+ %" | grep -v "line " | grep -oE "[0-9]+ %" | awk '{ s += $1 } END { print s }')" = 100 ]; }

begin 80x24 $fermi --session "$dir/o.json"; shows "run 1: [0-9.]+ (µs|ms) \((whole|sampled)\), the original"; check "the original runs at once" $?
shows "What limits it +l2-bandwidth"; check "what limits it stands on the first screen" $?
until_true sums; check "its bars add up to 100 %" $?
shows "^   valley.cu:18 +[█▏▎▍▌▋▊▉·]+ +[0-9]+ % +4/4  s0 \+= t\[0\];"; check "and the lines of the source with their share and sectors" $?
shows "^ Loads [█▇▆▅▄▃▂▁]+ 100 % coalesced" && has "class: streaming"; check "the coalescing graph and the locality class, at 80x24" $?
shows "What has it gained|What it has gained +nothing yet" && shows "What is guessed +nothing of the launch"; check "what was gained, and what is guessed" $?
shows "^   2  [a-zA-Z]" && until_true fits; check "all of it at 80x24" $?
has "^  S Summary +U CUDA +1 Sou"; check "the summary has its tab, and the source" $?
keys j Enter; shows "run 2: [0-9]"; check "Enter tries the line under the cursor" $?
keys q; ends; grep -q '"number": *2\|"kind": *"run"' "$dir/o.json"; check "both runs are in the session" $?
# nothing runs unasked on a device that is no simulated one, without a launch, in a lesson, with "open = source"
printf '.version 7.0\n.target sm_20\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n.reg .u64 %%rd<3>;\n.reg .f32 %%f<2>;\nld.param.u64 %%rd1, [p];\nld.global.f32 %%f1, [%%rd1];\nst.global.f32 [%%rd1+4], %%f1;\nret;\n}\n' > "$dir/n.ptx"
begin 80x24 "$dir/n.ptx" -d sim:fermi-16k; shows "What limits it +not known yet: there is no launch" && shows "What is guessed +the whole launch"; sleep 1; has_not "run 1"; check "without a launch nothing runs, and that is said" $?
opens_with source; begin 80x24 $fermi; shows ld.global; sleep 1; has_not "run 1"; check "open = source opens with the source, and nothing runs" $?
opens_with summary; begin 80x24 demo 1; shows "step 1 of"; sleep 1; has_not "run 1"; check "in a lesson nothing runs unasked" $?
for size in 120x40 200x60; do
    begin $size $fermi; shows "What limits it +l2-bandwidth" && shows "What to try next" && shows "5 Valley ─" && shows "What it has gained +nothing yet" && shows "What is guessed"; check "$size: the summary beside the valley, down to what is guessed" $?
done
keys Enter; shows "What it has gained +[0-9.]+x over the original|What it has gained +nothing that ran" && shows "What is guessed"; check "and so after a run" $?
# a source opens on itself, where there is a compiler
if command -v nvcc > /dev/null; then
    begin 80x24 kernels/valley.cu -d sim:hopper-h200; shows "^   18 █+ +4/4 .* s0 \\+= t\\[0\\];" && shows "PTX of line 18: 2 instructions"; check "a .cu opens on its source" $?
fi
echo "1..$n"
