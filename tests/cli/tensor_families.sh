#!/bin/bash
# Forms of tensor instructions that no recording covers, by hand; those that are not executed are refused by name and place, and stand in the table of docs/lab/tensor.md.
. tests/tool/tap.sh
python3 -B - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import json, re, struct, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path.insert(0, 'tests/tool')
from tap import claim, done
HEAD = '''.version 9.0
.target %s
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .align 64 .b8 map[128])
{ .reg .pred p, q; .reg .b16 h<4>; .reg .b32 r<40>; .reg .b64 x<20>; .reg .f32 f<8>; .reg .b128 z<2>; .shared .align 1024 .b8 s[4096]; .shared .align 8 .b64 b;
 ld.param.u64 x0, [out]; ld.param.u64 x1, [in]; mov.b64 x5, map; cvta.param.u64 x5, x5; mov.u32 r0, %%tid.x; mov.u32 r1, s; mov.u32 r2, b; setp.eq.u32 p, r0, 0;
 mov.u64 x6, 0; mov.u32 r3, 0; mov.b16 h0, 1; mul.wide.u32 x2, r0, 4; add.u64 x3, x0, x2; add.u64 x4, x1, x2; mad.lo.u32 r4, r0, 4, r1;
%s
 ret; }
'''
ITEMS = 256
def run(body, target='sm_100a', box=(16, 1), kind='u32', init={'iota': [0, 1]}, block=32, more={}, **map_more):
    open(tmp + '/k.ptx', 'w').write(HEAD % (target, body))
    json.dump({'format': 'gpulocw-launch', 'version': 1, 'ptx': 'k.ptx', 'kernel': 'k', 'grid': more.get('cluster', [1])[0], 'block': block, **more, 'args': [
        {'name': 'out', 'buffer': kind, 'count': ITEMS, 'output': True}, {'name': 'in', 'buffer': kind, 'count': ITEMS, 'init': init},
        {'name': 'map', 'tensor_map': {'data': map_more.pop('data', 'in'), 'type': kind, 'dims': [16, 16], 'strides': [64], 'box': list(box), **map_more}}]}, open(tmp + '/k.launch.json', 'w'))
    r = subprocess.run([exe, 'run', tmp + '/k.ptx', '--device', 'sim:hopper-h200', '--outputs', tmp], capture_output=True, text=True, timeout=60)
    return r.returncode, r.stdout + r.stderr, list(struct.unpack('<%d%s' % (ITEMS, 'f' if kind == 'f32' else 'I'), open(tmp + '/out.bin', 'rb').read())) if r.returncode == 0 else []
def equals(name, want, body, **more):
    rc, said, got = run(body, **more)
    claim(name, got[:len(want)] == want and not any(got[len(want):]), (said if rc else got[:len(want)]))
WAIT = ' W: mbarrier.try_wait.parity.shared.b64 q, [r2], 0; @!q bra W;\n'
INIT = ' @p mbarrier.init.shared.b64 [r2], 1; bar.sync 0;\n'
def copied(n): return ''.join(' ld.shared.b32 r9, [r4+%d]; st.global.b32 [x3+%d], r9;\n' % (i * 128, i * 128) for i in range(n // 32))
# rows 3, 9, outside, 14 of a matrix whose element is its number
rows = [3, 9, 16, 14]
equals('tile::gather4 takes the four rows, zeros for one outside', [16 * r + c if r < 16 else 0 for r in rows for c in range(16)],
       INIT + ' @p mbarrier.arrive.expect_tx.shared.b64 _, [r2], 256; @p cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [r1], [x5, {0, 3, 9, 16, 14}], [r2];\n' + WAIT + copied(64))
want = [0] * 256
for k, r in enumerate(rows):
    for c in range(16):
        if r < 16: want[16 * r + c] = 16 * k + c + 7
equals('tile::scatter4 leaves four rows, none outside', want,
       ' add.u32 r9, r0, 7; st.shared.b32 [r4], r9; add.u32 r9, r0, 39; st.shared.b32 [r4+128], r9; fence.proxy.async.shared::cta; bar.sync 0; @p cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [x5, {0, 3, 9, 16, 14}], [r1]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;\n', data='out')
four = ' shl.b32 r5, r0, 4; cvt.u64.u32 x7, r5; add.u64 x8, x0, x7; add.u64 x9, x1, x7; setp.lt.u32 q, r0, 8;\n'
equals('multimem with vectors of floats', [2.0 * i for i in range(32)], four + ' @q multimem.ld_reduce.relaxed.gpu.global.add.v4.f32 {f0, f1, f2, f3}, [x9]; @q multimem.st.relaxed.gpu.global.v4.f32 [x8], {f0, f1, f2, f3}; @q multimem.red.relaxed.gpu.global.add.v4.f32 [x8], {f0, f1, f2, f3};', kind='f32', target='sm_90a')
equals('cp.reduce.async.bulk adds in global memory', [2 * i + 1 for i in range(32)],
       ' ld.global.b32 r9, [x4]; st.global.b32 [x3], r9; add.u32 r9, r9, 1; st.shared.b32 [r4], r9; membar.gl; fence.proxy.async; bar.sync 0; @p cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [x0], [r1], 128; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;', target='sm_90a')
equals('griddepcontrol, setmaxnreg and fences of proxies change nothing', [5] * 128, ' setmaxnreg.dec.sync.aligned.u32 40; griddepcontrol.launch_dependents; griddepcontrol.wait; fence.proxy.async; fence.proxy.alias; setmaxnreg.inc.sync.aligned.u32 64; st.global.b32 [x3], 5;', target='sm_90a', block=128)
equals('clusterlaunchcontrol answers all CTAs of a cluster', [9] * 64,
       INIT + ' @p mbarrier.arrive.expect_tx.shared.b64 _, [r2], 16; barrier.cluster.arrive; barrier.cluster.wait; mov.u32 r9, %cluster_ctarank; shl.b32 r10, r9, 7; cvt.u64.u32 x7, r10; add.u64 x3, x3, x7; setp.eq.u32 q, r9, 0; and.pred q, q, p;\n'
       ' @q clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 [r1], [r2];\n' + WAIT + ' ld.shared.b128 z0, [r1]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 q, z0; selp.b32 r3, 5, 9, q; st.global.b32 [x3], r3; barrier.cluster.arrive; barrier.cluster.wait;', more={'cluster': [2, 1, 1]})
# ---- refused: what the message names, and what the table calls it ----
table = open('docs/lab/tensor.md').read()
def refused(listed, body, names, target='sm_100a', **more):
    rc, said, got = run(body, target, **more)
    claim('refused: ' + listed, rc == 4 and re.search(r'k\.ptx:\d+:\d+: error: ', said) and re.search(names, said) and 'hint: ' in said and listed in table, (rc, said, listed in table))
load = ' @p mbarrier.init.shared.b64 [r2], 1; @p cp.async.bulk.tensor.%s.mbarrier::complete_tx::bytes [r1], [x5, {%s}], [r2]%s;'
refused('`.im2col::w`', load % ('3d.shared::cta.global.im2col::w', 'r3, r3, r3', ', {h0}'), r'im2col::w.*not-modelled')
refused('`.im2col::w::128`', load % ('3d.shared::cta.global.im2col::w::128', 'r3, r3, r3', ', {h0}'), r'im2col::w::128.*not-modelled')
refused('`.swizzle_atomicity`', '@p tensormap.replace.tile.swizzle_atomicity.shared::cta.b1024.b32 [r1], 1;', r'swizzle_atomicity.*not-modelled')
refused('element types of 4 and 6 bits', '@p tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [r1], 15;', r'15 is no value of this field')
refused('swizzles of 96 bytes', '@p tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [r1], 4;', r'4 is no value of this field')
refused('`.cp_mask`', '@p cp.async.bulk.global.shared::cta.bulk_group.cp_mask [x0], [r1], 16, h0;', r'masked bulk copy.*not-modelled')
refused('`st.async` to global memory', 'st.async.mmio.release.sys.global.b32 [x0], r3;', r'asynchronous store without an mbarrier.*not-modelled')
refused('`mma.sp` with a kind', 'mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {f0,f1,f2,f3}, {r4,r5,r6,r7}, {r4,r5,r6,r7}, {f0,f1,f2,f3}, r3, 0;', 'mma.sp::ordered_metadata.*not-modelled', target='sm_120a')
refused('`tcgen05.mma.sp`', '@p tcgen05.mma.sp.cta_group::1.kind::f16 [r3], x6, x6, [r3], r3, p;', r'tcgen05.mma.sp.*not-modelled')
refused('`tcgen05.mma.ws.sp`', '@p tcgen05.mma.ws.sp.cta_group::1.kind::f16 [r3], x6, x6, [r3], r3, p;', r'tcgen05.mma.ws.sp.*not-modelled')
refused('`.ashift`', '@p tcgen05.mma.cta_group::1.kind::f16.ashift [r3], [r3], x6, r3, p;', r'\.ashift \[not-modelled')
refused('masks of zero columns', '@p tcgen05.mma.ws.cta_group::1.kind::f16 [r3], x6, x6, r3, p, x6;', r'a mask of zero columns \[not-modelled')
refused('`tcgen05.cp.4x256b`', '@p tcgen05.cp.cta_group::1.4x256b [r3], x6;', r'4x256b.*not-modelled')
# ---- bad input: place, cause, next step ----
def told(name, body, *names, target='sm_90a', **more):
    rc, said, got = run(body, target, **more)
    claim('told: ' + name, rc == 4 and re.search(r'k\.ptx:\d+:\d+: error: ', said) and 'hint: ' in said and all(re.search(n, said) for n in names), (rc, said))
told('an mbarrier for no arrivals', '@p mbarrier.init.shared.b64 [r2], 0;', 'an mbarrier for 0 arrivals: 1 to 1048575 can be')
told('an mbarrier for too many', 'mov.u32 r9, 1048576; @p mbarrier.init.shared.b64 [r2], r9;', 'for 1048576 arrivals')
told('more bytes than a transaction count holds', '@p mbarrier.init.shared.b64 [r2], 1; mov.u32 r9, 1048576; @p mbarrier.expect_tx.relaxed.cta.shared.b64 [r2], r9;', 'would be 1048576 bytes')
told('fewer bytes than it holds', '@p mbarrier.init.shared.b64 [r2], 1; mov.u32 r9, 2000000; @p mbarrier.complete_tx.relaxed.cta.shared.b64 [r2], r9;', 'would be -2000000 bytes')
told('an mbarrier that nobody completes', INIT + WAIT, r'waits for the mbarrier at shared address 0x1000, line \d+: 1 of 1 arrivals and 0 bytes are missing', 'deadlock')
tile = '@p mbarrier.init.shared.b64 [r2], 1; @p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes '
told('more bytes than were expected', INIT + ' @p mbarrier.arrive.expect_tx.shared.b64 _, [r2], 32; @p cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [r1], [x5, {r3, r3}], [r2];' + WAIT, '0 of 1 arrivals are missing, and 32 bytes more than expected have come', 'deadlock')
told('a parameter that is no tensor map', tile + '[r1], [x1, {r3, r3}], [r2];', 'are no tensor map')
told('a tensor map at an address off by 8', 'add.u64 x5, x5, 8; ' + tile + '[r1], [x5, {r3, r3}], [r2];', 'misaligned')
told('a box off by 16 bytes in shared memory', tile + '[r1+16], [x5, {r3, r3}], [r2];', 'a box at shared address 0x10, which is not a multiple of 128')
told('a box outside shared memory', tile + '[r1+4096], [x5, {r3, r3}], [r2];', 'out-of-bounds', 'the CTA has 4104 bytes of shared memory')
told('coordinates of other dimensions than the map has', tile.replace('2d', '3d') + '[r1], [x5, {r3, r3, r3}], [r2];', 'a copy of 3 dimensions with a tensor map of 2')
told('a first coordinate off by 8 bytes', 'mov.u32 r9, 2; ' + tile + '[r1], [x5, {r9, r3}], [r2];', 'not a multiple of 16 bytes')
told('a copy before mbarrier.init', tile.split(';')[1] + '[r1], [x5, {r3, r3}], [r2];', 'not initialised')
told('a bulk copy of 20 bytes', 'mov.u32 r9, 20; @p mbarrier.init.shared.b64 [r2], 1; @p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r1], [x1], r9, [r2];', 'bulk copy of 20 bytes, not a multiple of 16')
told('a bulk copy past its buffer', 'mov.u32 r9, 32; @p mbarrier.init.shared.b64 [r2], 1; @p cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [r1], [x1+1024], r9, [r2];', "past the end of buffer 'in'")
product = 'wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0,f1,f2,f3}, x6, x6, 0, 1, 1, 0, 0; '
end = 'wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;'
told('a descriptor outside shared memory', 'mov.u64 x6, 0x4000004000011000; wgmma.fence.sync.aligned; ' + product + end, r'reaches shared address 0x[0-9a-f]+: the CTA has 4104 bytes', block=128)
told('descriptors that differ from warp to warp', 'mov.u64 x6, 0x4000000800010000; cvt.u64.u32 x7, r0; shr.u64 x7, x7, 5; add.u64 x6, x6, x7; wgmma.fence.sync.aligned; ' + product + end, 'different descriptors of A: warp', block=128)
told('a commit of one warp alone', 'setp.lt.u32 q, r0, 32; mov.u64 x6, 0x4000000800010000; wgmma.fence.sync.aligned; ' + product + '@q ' + end, r'warp 0 of warpgroup 0 at wgmma.wait_group, line \d+, for warp 1', 'deadlock', block=128)
told('a product of half a warpgroup', 'mov.u64 x6, 0x4000000800010000; wgmma.fence.sync.aligned; ' + product + end, 'no whole warpgroups', block=64)
told('a product of part of a warp', 'setp.lt.u32 q, r0, 16; @q wgmma.fence.sync.aligned;', 'by part of a warp', block=128)
done()
PY
rc=$?
cat "$T/said"
exit $rc
