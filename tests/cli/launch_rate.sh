#!/bin/bash
# Guessed launches of a sample of kernels are clean (make launch-rate tries all), and the tool that counts them hides no failure.
. tests/tool/tap.sh
rate() { python3 tests/tool/launch_rate.py "$B" "$@"; }

code "of a sample of 16 kernels 95 % are clean" 0 "guessed launches: 16 kernels of 12 modules, 16 descriptions written, 16 clean" \
    rate --least 95 kernels/{atax,bfs,cta_locality,cta_reuse,kmeans,mm_tiled,nw,reduction,sgemm,spmv,stencil3d,transpose}.ptx
code "of 20 kernels as people write them all are" 0 "guessed launches: 20 kernels of 1 modules, 20 descriptions written, 20 clean" rate tests/launch/strangers.ptx
code "what is no program is counted apart, with why" 0 "^apart: tests/golden/pass/in_early.ptx: early: the input of a pass: races with every launch: exit 4" \
    rate --least 95 kernels/atax.ptx tests/golden/pass/in_early.ptx
printf '.version 7.0\n.target sm_70\n.address_size 64\n.entry a() { add.s32 ; }\n.entry b() { ret; }\n' > "$T/wrong.ptx"
code "the kernels of a module that is refused count" 1 "guessed launches: 2 kernels of 1 modules, 0 descriptions written, 0 clean" rate --least 95 "$T/wrong.ptx"
printf '.version 7.0\n.target sm_70\n.address_size 64\n.entry a() { trap; }\n' > "$T/traps.ptx"
code "a kernel that traps counts, has a skeleton and is told" 1 "1 kernels of 1 modules, 1 descriptions written, 0 clean .*1 of the others told by launch" rate --least 95 "$T/traps.ptx"
# A flag that CTAs wait for starts empty: with other data nobody would wait, and the result would depend on the order of CTAs.
cat > "$T/chain.ptx" <<'PTX'
.version 7.0
.target sm_70
.address_size 64
.visible .entry chain(.param .u64 in, .param .u64 out, .param .u64 flag)
{
    .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<3>;
    ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; ld.param.u64 %d3, [flag];
    mov.u32 %r1, %ctaid.x; mul.wide.u32 %d4, %r1, 4; add.s64 %d1, %d1, %d4; add.s64 %d2, %d2, %d4; add.s64 %d3, %d3, %d4;
    ld.global.u32 %r2, [%d1]; and.b32 %r2, %r2, 255; mov.u32 %r3, 1;
    setp.eq.u32 %p1, %r1, 0;
    @%p1 bra E;
L:  ld.volatile.global.u32 %r3, [%d3+-4]; setp.eq.u32 %p2, %r3, 0; @%p2 bra L;
E:  add.u32 %r4, %r3, %r2; st.global.u32 [%d2], %r4; membar.gl; st.volatile.global.u32 [%d3], %r4;
    ret;
}
PTX
doc "flags that CTAs wait for start empty" "d['args'][2]['init']=={'fill': 0} and 'random' in d['args'][0]['init']" "$B" launch "$T/chain.ptx"
"$B" launch "$T/chain.ptx" -o "$T/chain.launch.json" > /dev/null 2>&1
doc "and the run can be repeated" "d['equal_to_original'] is True" "$B" run "$T/chain.ptx" -d sim:hopper-h200 --json
# Flags that another kernel prepares (99: not yet): whatever a guess puts there, CTAs pass each other by.
sed -e 's/ld.volatile.global/ld.relaxed.gpu.global/; s/st.volatile.global/st.relaxed.gpu.global/; s/%p2, %r3, 0;/%p2, %r3, 99;/' -e 's/\.version 7.0/.version 7.5/; s/chain/look_back/' "$T/chain.ptx" > "$T/look.ptx"
"$B" launch "$T/look.ptx" -o "$T/look.launch.json" > /dev/null 2> "$T/err"
has "a result that depends on the order of CTAs is told" "no guess made 'look_back' give one result in every order of its CTAs: 'out' differs" "$(cat "$T/err")"
"$B" launch "$T/chain.ptx" > /dev/null 2> "$T/err"
is "and none where it does not" "$(grep -c 'every order' "$T/err")" 0
"$B" launch kernels/atax.ptx -o "$T/l.json" 2> "$T/err"
is "a launch file ends in one newline" "$(tail -c 2 "$T/l.json" | od -An -c | tr -d ' ')" '}\n'
exit $bad
