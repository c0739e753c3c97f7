#!/bin/bash
# From a kernel that nobody described to a tuned, written file: 4, Enter, t, b, Enter, W in a real terminal.
. "$(dirname "$0")/tmux.bash"
steps() { # FILE.ptx [KERNEL]
    local name=${1##*/}
    cp "$1" "$dir/$name"
    begin 80x24 "$dir/$name" ${2:+-k "$2"} --session "$dir/u.json"; shows "(ld|st|atom|red)[.a-z]*\.global"
    keys 4; shows "guesses one"; keys Enter; shows "^ +grid +[0-9]+ x"; check "$name: a guessed launch is in view" $?
    keys t; shows "run 1: "; keys b; keys Enter; shows "knobs of the point under the cursor are taken"
    keys W; written "$dir/${name%.ptx}.tuned.ptx"; check "$name: tuned and written in six keys" $?
    rm -f "$dir/u.json"
}
steps kernels/stride_32.ptx
echo "1..$n"
