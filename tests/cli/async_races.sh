#!/bin/bash
# Asynchronous copies that nobody waits for, and stores that no proxy fence follows, are told as races; the same
# kernels with the wait or the fence are clean.
. tests/tool/tap.sh
# kernel NAME BODY; %r5: the thread's word of the tile, %d4: its word of `out`
kernel() {
    cat > "$T/$1.ptx" <<PTX
.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
    .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred %p<4>;
    .shared .align 128 .b8 tile[2048];
    .shared .align 8 .b64 bar;
    ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out]; cvta.to.global.u64 %d1, %d1; cvta.to.global.u64 %d2, %d2;
    mov.u32 %r1, %tid.x; mov.u32 %r2, bar; mov.u32 %r3, tile; setp.ne.u32 %p1, %r1, 0;
    shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4; cvt.u64.u32 %d3, %r4; add.u64 %d4, %d2, %d3; add.u64 %d5, %d1, %d3;
    $2
    ret;
}
PTX
    echo '{"format": "gpulocw-launch", "version": 1, "kernel": "k", "grid": [1, 1, 1], "block": [256, 1, 1], "args": [{"name": "in", "buffer": "u32", "count": 512, "init": {"iota": [1, 1]}}, {"name": "out", "buffer": "u32", "count": 512, "output": true}]}' > "$T/$1.launch.json"
}
races() { kernel "$2" "$4"; code "$1" 4 "$3" "$B" run "$T/$2.ptx" -d sim:hopper-h200 --check-memory; }
clean() { kernel "$2" "$3"; doc "$1" "d['equal_to_original'] is True and d['race'] is None" "$B" run "$T/$2.ptx" -d sim:hopper-h200 --check-memory --json; }
init='@%p1 bra W; mbarrier.init.shared.b64 [%r2], 1; fence.mbarrier_init.release.cluster; mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 1024;'
bulk='cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 1024, [%r2];'
met='W: bar.sync 0;'
wait='S: mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0; @!%p2 bra S;'
out='ld.shared.u32 %r6, [%r5]; st.global.u32 [%d4], %r6;'
races "bytes of a bulk copy are read before its mbarrier" bulk "read of shared address .* which the asynchronous copy of line [0-9]+ may still write" "$init $bulk $met $out"
clean "with the wait it is clean" bulk_right "$init $bulk $met $wait $out"
races "and written before it" bulk_write "write of shared address .* may still write" "$init $bulk $met st.shared.u32 [%r5], 7; $wait $out"
races "the second phase of a ring is not waited for" ring "may still write" \
    "$init $bulk $met $wait $out bar.sync 0; @%p1 bra E; mbarrier.arrive.expect_tx.shared.b64 _, [%r2], 1024; $bulk E: bar.sync 0; $out"

copy='cp.async.ca.shared.global [%r5], [%d5], 4; cp.async.commit_group;'
next='cp.async.ca.shared.global [%r5+1024], [%d5+1024], 4; cp.async.commit_group;'
races "cp.async without a wait" cp "may still write: no wait for it has ended" "$copy bar.sync 0; $out"
clean "with wait_group 0 it is clean" cp_right "$copy cp.async.wait_group 0; bar.sync 0; $out"
clean "with wait_all too" cp_all "$copy cp.async.wait_all; bar.sync 0; $out"
races "the youngest group is left out by wait_group 1" cp_last "may still write" "$copy $next cp.async.wait_group 1; bar.sync 0; ld.shared.u32 %r6, [%r5+1024]; st.global.u32 [%d4], %r6;"
clean "and the older one is not" cp_first "$copy $next cp.async.wait_group 1; bar.sync 0; $out"
races "a wait for groups without a commit waits for nothing" cp_open "may still write" "${copy% cp*} cp.async.wait_group 0; bar.sync 0; $out"
clean "an mbarrier that the copies arrive at is a wait" cp_bar \
    "@%p1 bra W; mbarrier.init.shared.b64 [%r2], 256; $met ${copy% cp*} cp.async.mbarrier.arrive.noinc.shared.b64 [%r2]; $wait $out"

stores='ld.global.u32 %r6, [%d5]; st.shared.u32 [%r5], %r6;'
fence='fence.proxy.async.shared::cta;'
store='@%p1 bra E; cp.async.bulk.global.shared::cta.bulk_group [%d2], [%r3], 1024; cp.async.bulk.commit_group;'
races "a bulk store of plain stores without a proxy fence" proxy "no fence.proxy.async came in between" "$stores bar.sync 0; $store cp.async.bulk.wait_group 0; E: bar.sync 0;"
clean "with the fence, and waited for before the bytes are written again" proxy_right "$stores $fence bar.sync 0; $store cp.async.bulk.wait_group.read 0; E: bar.sync 0; st.shared.u32 [%r5], 7;"
races "the source of a bulk store is written again too early" again "write of shared address .* may still read" "$stores $fence bar.sync 0; $store E: bar.sync 0; st.shared.u32 [%r5], 7;"
races "a fence of another proxy is none" alias "no fence.proxy.async came in between" "$stores fence.proxy.alias; bar.sync 0; $store cp.async.bulk.wait_group 0; E: bar.sync 0;"

kernel unasked "$copy bar.sync 0; $out"
code "unasked, a run tells it and goes on" 0 "the simulated device copies at once, a GPU at any time until then: wait with cp.async.wait_group" "$B" run "$T/unasked.ptx" -d sim:hopper-h200
exit $bad
