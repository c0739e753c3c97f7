#!/bin/bash
# Guessed grids: sizes that fill the device, axes that only comparisons read, counts of turns; each guess runs clean.
. tests/tool/tap.sh
# guess FILE KERNEL: the guess into $T/g.json, what was said into $said
guess() { said=$("$B" launch "$1" -k "$2" -o "$T/g.json" --force 2>&1); }
clean() { "$B" run "$1" -k "$2" -l "$T/g.json" --check-memory --no-counters >"$T/run" 2>&1 && grep -q "^outputs   equal" "$T/run"; }
holds() { python3 -c "
import json, sys
d = json.load(open(sys.argv[1])); x, y, z = d['grid']; args = d['args']
assert $1, (d['grid'], d['block'])" "$T/g.json" 2>&1; }
cp kernels/gemm.ptx "$T/gemm.ptx"
guess "$T/gemm.ptx" gemm
why=$(holds "x*y >= 132 and x == y and args[3]['s32']**2 == args[0]['count']") && clean "$T/gemm.ptx" gemm && ok "a grid of two dimensions fills the SMs, its arrays are the square" || no "a grid of two dimensions fills the SMs, its arrays are the square" "$why" "$said" "$(head -20 "$T/run")"
# As nvcc makes grid.sync(): the first thread of each CTA waits, the first CTA adds another number.
cat > "$T/sync.ptx" <<'P'
.version 8.0
.target sm_90
.address_size 64
.visible .entry together(.param .u64 x, .param .u64 y, .param .u32 n, .param .u32 turns)
{
 .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<12>; .reg .f32 %f<4>;
 ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [turns];
 cvta.to.global.u64 %rd1, %rd1; cvta.to.global.u64 %rd2, %rd2;
 mov.u32 %r3, %envreg2; mov.u32 %r4, %envreg1; cvt.u64.u32 %rd3, %r3; cvt.u64.u32 %rd4, %r4; bfi.b64 %rd5, %rd4, %rd3, 32, 32; add.s64 %rd6, %rd5, 4;
 mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ntid.x; mov.u32 %r7, %tid.x; mad.lo.s32 %r8, %r5, %r6, %r7; mov.u32 %r9, %nctaid.x; mul.lo.s32 %r10, %r9, %r6;
 mov.u32 %r11, %tid.y; add.s32 %r12, %r7, %r11; mov.u32 %r13, %tid.z; neg.s32 %r14, %r13; setp.ne.s32 %p1, %r12, %r14;
 mov.u32 %r15, %ctaid.y; add.s32 %r16, %r5, %r15; mov.u32 %r17, %ctaid.z; neg.s32 %r18, %r17; setp.eq.s32 %p2, %r16, %r18;
 mov.u32 %r19, %nctaid.y; mul.lo.s32 %r20, %r9, %r19; mov.u32 %r21, %nctaid.z; mul.lo.s32 %r22, %r20, %r21; sub.s32 %r23, -2147483647, %r22; selp.b32 %r24, %r23, 1, %p2;
 mov.u32 %r25, 0;
 setp.lt.s32 %p3, %r2, 1; @%p3 bra DONE;
TURN:
 mov.u32 %r26, %r8;
EACH:
 setp.ge.s32 %p4, %r26, %r1; @%p4 bra MEET;
 mul.wide.s32 %rd7, %r26, 4; add.s64 %rd8, %rd1, %rd7; add.s64 %rd9, %rd2, %rd7;
 ld.global.f32 %f1, [%rd8]; fma.rn.f32 %f2, %f1, 0f3F000000, 0f3F800000; st.global.f32 [%rd9], %f2; st.global.f32 [%rd8], %f2;
 add.s32 %r26, %r26, %r10; bra EACH;
MEET:
 barrier.sync 0;
 @%p1 bra OVER;
 atom.add.release.gpu.u32 %r27, [%rd6], %r24;
WAIT:
 ld.acquire.gpu.u32 %r28, [%rd6]; xor.b32 %r29, %r28, %r27; setp.gt.s32 %p5, %r29, -1; @%p5 bra WAIT;
OVER:
 barrier.sync 0;
 add.s32 %r25, %r25, 1; setp.lt.s32 %p6, %r25, %r2; @%p6 bra TURN;
DONE:
 ret;
}
P
guess "$T/sync.ptx" together
why=$(holds "x > 1 and y == z == 1 and d['block'][1:] == [1, 1] and args[3]['s32'] == 4 and args[2]['s32'] >= 1024") && clean "$T/sync.ptx" together && ok "CTAs that meet: one dimension, a few turns" || no "CTAs that meet: one dimension, a few turns" "$why" "$said" "$(head -20 "$T/run")"
exit $bad
