#!/bin/bash
# From a kernel that nobody described to a tuned, written file in six keys: t, the two questions, b, Enter, W.
. "$(dirname "$0")/tmux.bash"
open_alone() { # FILE.ptx: a copy without its launch description
    name=${1##*/} name=${name%.ptx}
    cp "$1" "$dir/$name.ptx"; rm -f "$dir/u.json"*
    begin 80x24 "$dir/$name.ptx" -d sim:fermi-16k --session "$dir/u.json"; shows "(ld|st|atom|red)[.a-z0-9]*\.global|Kernels: Enter opens one"
}
answer() { # NUMBER: Enter at each question
    if [ "$1" -eq 2 ]; then shows "^ size of the problem"; keys Enter; fi
    shows "^ threads of a block"; keys Enter
}
steps() { # FILE.ptx QUESTIONS
    open_alone "$1"; keys t; answer "$2"
    shows "vs the original|beats the original|what gains less than"; gone "x stops"
    if has "beats the original|what gains less than"; then
        insists W "Nothing to write"; check "$name: t, $2 Enter; nothing helps it, and nothing is written" $?
        return
    fi
    keys b Enter; shows "using the knobs of the point under the cursor"
    keys W; written "$dir/$name.tuned.ptx"; written "$dir/$name.tuned.launch.json"
    "$b" run "$dir/$name.tuned.ptx" -d sim:fermi-16k > "$dir/run" 2>&1; [ $? -eq 0 ]; check "$name: t, $2 Enter, b, Enter, W, and what was written runs" $?
}
# one array; sizes as parameters; a reduction; a distance to each record; all threads at one place
steps kernels/coalescing.ptx 1
steps kernels/mvt.ptx 2
steps kernels/reduction.ptx 2
steps kernels/nn.ptx 2
steps kernels/same_location.ptx 1

# the same questions from the options; other answers than the guess are guessed again with them
open_alone kernels/mvt.ptx; keys 4; shows "guesses one"; [ "$(line_of "^ Launch")" -lt "$(line_of "Cache bypassing")" ]; check "without a launch its row stands first" $?
keys Enter; shows "^ size of the problem.* = [0-9]+$"; keys C-u; text 512; keys Enter; shows "^ threads of a block.* = [0-9x]+$"; keys C-u; text 64; keys Enter
shows "^ +grid +8 x 1 x 1"; keys G; shows "mvt1_param_4 +s32 512" && has "block +64 x 1 x 1|mvt1_param_3 +s32 512"; check "the answers are in the launch" $?
open_alone kernels/mvt.ptx; text ":launch guess"; keys Enter; shows "^ size of the problem"; keys C-u; text 0; keys Enter; shows "^ a whole number above 0 is expected"; escape; keys 4; shows "^ +grid +[0-9]+ x"; check "a wrong answer is told, Esc keeps the guess" $?
open_alone kernels/mvt.ptx; keys r; answer 2; shows "run 1: .*the original"; check "r guesses, asks and runs" $?
echo "1..$n"
