#!/bin/bash
# Guessed launches of a sample of kernels are clean (make launch-rate tries all), and the tool that counts them hides no failure.
. tests/tool/tap.sh
rate() { python3 tests/tool/launch_rate.py "$B" "$@"; }

code "of a sample of 16 kernels 95 % are clean" 0 "guessed launches: 16 kernels of 12 modules, 16 descriptions written, 16 clean" \
    rate --least 95 kernels/{atax,bfs,cta_locality,cta_reuse,kmeans,mm_tiled,nw,reduction,sgemm,spmv,stencil3d,transpose}.ptx
code "of 15 kernels as people write them all are" 0 "guessed launches: 15 kernels of 1 modules, 15 descriptions written, 15 clean" rate tests/launch/strangers.ptx
code "what is no program is counted apart, with why" 0 "^apart: tests/golden/pass/in_early.ptx: early: the input of a pass: races with every launch: exit 4" \
    rate --least 95 kernels/atax.ptx tests/golden/pass/in_early.ptx
printf '.version 7.0\n.target sm_70\n.address_size 64\n.entry a() { add.s32 ; }\n.entry b() { ret; }\n' > "$T/wrong.ptx"
code "the kernels of a module that is refused count" 1 "guessed launches: 2 kernels of 1 modules, 0 descriptions written, 0 clean" rate --least 95 "$T/wrong.ptx"
printf '.version 7.0\n.target sm_70\n.address_size 64\n.entry a() { trap; }\n' > "$T/traps.ptx"
code "a kernel that traps counts, has a skeleton and is told" 1 "1 kernels of 1 modules, 1 descriptions written, 0 clean .*1 of the others told by launch" rate --least 95 "$T/traps.ptx"
"$B" launch kernels/atax.ptx -o "$T/l.json" 2> "$T/err"
is "a launch file ends in one newline" "$(tail -c 2 "$T/l.json" | od -An -c | tr -d ' ')" '}\n'
exit $bad
