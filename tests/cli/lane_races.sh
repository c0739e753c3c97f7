#!/bin/bash
# Races inside a warp: what orders lanes, and what does not. Each body moves words of shared or global memory
# between lanes; %lane is %tid.x, `s` an array of 64 words, %own and %next the places of lane i and of i + 1.
B=$GPULOCW_BUILD/gpulocw
n=0 bad=0
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
kernel() { # TARGET BODY
    cat > "$T/k.ptx" <<PTX
.version 8.0
.target $1
.address_size 64
.visible .entry k(.param .u64 p)
{
	.shared .align 4 .b8 s[256];
	.reg .pred %low, %q; .reg .b32 %lane, %own, %next, %v, %w, %m; .reg .b64 %g, %gnext, %x; .reg .b16 %h;
	ld.param.u64 %g, [p];
	mov.u32 %lane, %tid.x;
	mov.u32 %own, s; mad.lo.u32 %own, %lane, 4, %own;
	xor.b32 %m, %lane, 1; mov.u32 %next, s; mad.lo.u32 %next, %m, 4, %next;
	mul.wide.u32 %gnext, %m, 4; add.u64 %gnext, %gnext, %g;
	mul.wide.u32 %x, %lane, 4; add.u64 %g, %g, %x;
	setp.lt.u32 %low, %lane, 16;
	add.u32 %v, %lane, 3;
	mov.u32 %w, 0;
$2
	st.global.u32 [%g+512], %w;
	ret;
}
PTX
    echo '{"format":"gpulocw-launch","version":1,"kernel":"k","grid":[2,1,1],"block":[32,1,1],"args":[{"name":"p","buffer":"u32","count":256,"init":{"fill":1},"output":true}]}' > "$T/k.launch.json"
}
try() { # race|fine NAME TARGET BODY
    n=$((n + 1))
    kernel "$3" "$4"
    out=$("$B" run "$T/k.ptx" --check-memory --no-counters 2>&1); rc=$?
    if [ "$1" = race ] && [ $rc -eq 4 ] && grep -q "race: .* of the same warp at line" <<<"$out" || { [ "$1" = fine ] && [ $rc -eq 0 ]; }; then echo "ok $n - $1: $2"
    else bad=1; echo "not ok $n - $1: $2"; sed 's/^/#   /' <<<"rc $rc: $out" | head -4; fi
}
put='st.shared.u32 [%own], %v;' get='ld.shared.u32 %w, [%next];'
try race "a hand-over in converged code" sm_70 "$put $get"
try race "behind code that parts and meets again" sm_70 "@!%low bra E; $put E: @!%low bra F; bra G; F: sub.u32 %next, %next, 64; $get G: mov.u32 %v, 1;"
try race "a store over what another lane has read" sm_70 "$put bar.warp.sync -1; $get $put ld.shared.u32 %w, [%own]; add.u32 %v, %v, 9; $put"
try race "volatile accesses order no lanes" sm_70 "st.volatile.shared.u32 [%own], %v; ld.volatile.shared.u32 %w, [%next];"
try race "global memory" sm_70 "mul.lo.u32 %v, %v, 5; st.global.u32 [%g], %v; ld.global.u32 %w, [%gnext];"
try race "a barrier of lanes that names only pairs that do not meet" sm_70 "xor.b32 %m, %lane, 2; mov.u32 %next, s; mad.lo.u32 %next, %m, 4, %next; and.b32 %m, %lane, 28; setp.eq.u32 %q, 0, 0; and.b32 %w, %lane, 1; add.u32 %m, %lane, 0; and.b32 %m, %m, 30; shl.b32 %m, 3, %m; $put bar.warp.sync %m; $get"
try fine "bar.warp.sync between" sm_70 "$put bar.warp.sync -1; $get"
try fine "a barrier that names the pair" sm_70 "and.b32 %m, %lane, 30; shl.b32 %m, 3, %m; $put bar.warp.sync %m; $get"
try fine "order that goes on from pair to pair" sm_70 "xor.b32 %m, %lane, 3; mov.u32 %next, s; mad.lo.u32 %next, %m, 4, %next; and.b32 %m, %lane, 30; shl.b32 %m, 3, %m; $put bar.warp.sync %m; and.b32 %m, %lane, 1; setp.eq.u32 %q, %m, 1; mov.u32 %m, 0x55555555; @%q mov.u32 %m, 0xaaaaaaaa; bar.warp.sync %m; $get"
try fine "a shuffle" sm_70 "$put shfl.sync.idx.b32 %m, %v, 0, 31, -1; $get"
try fine "a vote" sm_70 "$put vote.sync.ballot.b32 %m, %low, -1; $get"
try fine "the CTA's barrier" sm_70 "$put bar.sync 0; $get"
try race "a fence alone waits for no lane" sm_70 "$put membar.cta; $get"
try fine "each lane its own word" sm_70 "$put ld.shared.u32 %w, [%own];"
try fine "bytes of one word, each lane its own" sm_70 "mov.u32 %own, s; add.u32 %own, %own, %lane; st.shared.u8 [%own], %v; ld.shared.u8 %h, [%own]; cvt.u32.u16 %w, %h;"
try fine "the same value again" sm_70 "mov.u32 %v, 7; mov.u32 %own, s; $put bar.warp.sync -1; $put ld.shared.u32 %w, [%own];"
try fine "atomics" sm_70 "st.shared.u32 [%own], 0; bar.sync 0; atom.shared.add.u32 %w, [s], 1; atom.shared.add.u32 %w, [s], 2; mov.u32 %w, 0;"
try fine "text for lanes in lockstep (before sm_70)" sm_60 "$put $get"
for target in sm_60 sm_70; do # a volatile tail of a reduction, as it was written for lanes in lockstep
    tail="st.volatile.shared.u32 [%own], %v; bar.sync 0;"
    for step in 16 8 4; do tail+=" @%low ld.volatile.shared.u32 %m, [%own+$((4 * step))]; @%low add.u32 %v, %v, %m; @%low st.volatile.shared.u32 [%own], %v;"; done
    [ $target = sm_60 ] && try fine "a volatile tail in lockstep" $target "$tail" || try race "a volatile tail" $target "$tail"
done
exit $bad
