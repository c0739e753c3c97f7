#!/bin/bash
# --prefetch l2 of tensor copies: the box of a later turn, by the thread that copies, under the kernel's own conditions; outputs stay.
. tests/tool/tap.sh
G=tests/tensor/gemm_wgmma.ptx R=tests/tensor/ring_wgmma.ptx
"$B" rewrite $R --prefetch l2 --prefetch-distance 3 -o "$T/ring.ptx" 2>"$T/err"
is "both boxes of a ring, three turns of 64 later" "$(grep -c 'add.s32 .*%gl0_s[01], r30, 192;' "$T/ring.ptx") $(grep -cE 'prefetch.tensor.2d.L2.global.tile .*\[x[01], \{%gl0_s[01], r1[01]\}\];' "$T/ring.ptx")" "2 2"
"$B" rewrite $G -k n256 --prefetch l2 -o "$T/gemm.ptx" 2>"$T/err"
is "ten boxes of a product, each where the kernel comes to its copy" "$(grep -c 'cp.async.bulk.prefetch.tensor.2d.L2' "$T/gemm.ptx") $(grep -c '@%gl0_f[0-9]* cp.async.bulk.prefetch.tensor.2d.L2' "$T/gemm.ptx")" "10 10"
for k in $R:ring_wgmma $G:n256 $G:n1024; do
    doc "outputs are those of the original: ${k#*:}" "d['equal_to_original'] is True" "$B" run "${k%:*}" -k "${k#*:}" --prefetch l2 --prefetch-distance 2 --json
done
# a guarded copy: its guard holds for the prefetch, too, and the loop's end; a coordinate that does not move is none to ask ahead
cat > "$T/g.ptx" <<'PTX'
.version 8.0
.target sm_90
.address_size 64
.visible .entry g(.param .align 64 .b8 m[128], .param .u32 n, .param .u32 fixed)
{
	.reg .pred %p<4>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<4>;
	.shared .align 128 .b8 s[4096];
	.shared .align 8 .b64 b;
	mov.b64 %rd1, m;
	cvta.param.u64 %rd1, %rd1;
	ld.param.u32 %r1, [n];
	ld.param.u32 %r5, [fixed];
	mov.u32 %r2, s;
	mov.u32 %r3, b;
	mov.u32 %r6, %tid.x;
	setp.eq.u32 %p1, %r6, 0;
	@%p1 mbarrier.init.shared.b64 [%r3], 1;
	bar.sync 0;
	mov.u32 %r4, 0;
$L:
	@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r3], 2048;
	@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2], [%rd1, {0, %r4}], [%r3];
	@%p1 cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r2+1024], [%rd1, {0, %r5}], [%r3];
	and.b32 %r7, %r4, 32;
	shr.u32 %r7, %r7, 5;
$W:
	mbarrier.try_wait.parity.shared.b64 %p2, [%r3], %r7;
	@!%p2 bra $W;
	bar.sync 0;
	add.s32 %r4, %r4, 32;
	setp.lt.u32 %p3, %r4, %r1;
	@%p3 bra $L;
	ret;
}
PTX
"$B" rewrite "$T/g.ptx" --prefetch l2 -o "$T/g.out.ptx" 2>"$T/err"
is "a guarded copy: one box, under the guard and the end of the loop" "$(grep -c 'prefetch.tensor' "$T/g.out.ptx") $(grep -cE '@%gl0_f0 cp.async.bulk.prefetch.tensor.2d.L2.global.tile .*\[%rd1, \{0, %gl0_s[0-9]+\}\];' "$T/g.out.ptx") $(grep -cE '(mov|and).pred .*%gl0_f0.*%p1;' "$T/g.out.ptx") $(grep -cE 'setp.lt.u32 .*%gl0_s[0-9]+, %gl0_s[0-9]+, %r1;' "$T/g.out.ptx")" "1 1 1 1"
if command -v ptxas > /dev/null || [ -x /usr/local/cuda/bin/ptxas ]; then
    for f in ring gemm g.out; do PATH=$PATH:/usr/local/cuda/bin ptxas -arch=sm_90a "$T/$f.ptx" -o /dev/null 2>"$T/err" && ok "ptxas takes $f" || no "ptxas takes $f" "$(cat "$T/err")"; done
else
    n=$((n + 1)); echo "ok $n - ptxas takes them # SKIP no ptxas here"
fi
code "into L1 there is nothing to ask for" 3 'prefetch l2 asks for what tensor copies will read' "$B" rewrite $R --prefetch l1 -o "$T/x.ptx"
exit $bad
