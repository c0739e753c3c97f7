#!/bin/bash
# Small instructions around tensors give what is computed by hand; missing fences and waits, bytes that never come and bad descriptors are told.
. tests/tool/tap.sh
python3 - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import json, os, re, struct, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path.insert(0, 'tests/tool')
from tap import done, say
def kernel(body, target='sm_100a', args=''):
    return '.version 9.0\n.target %s\n.address_size 64\n.visible .entry k(.param .u64 out, .param .u64 in%s)\n{ .reg .pred p,q; .reg .b32 r<20>; .reg .b64 x<20>; .reg .b128 z<2>;\n ld.param.u64 x0,[out]; ld.param.u64 x1,[in]; mov.u32 r0, %%tid.x; mul.wide.u32 x2, r0, 4; add.u64 x3, x0, x2; add.u64 x4, x1, x2;\n%s\n ret; }\n' % (target, args, body)
def run(text, block=32, more=(), count=32):
    open(tmp + '/k.ptx', 'w').write(text)
    json.dump({'format': 'gpulocw-launch', 'version': 1, 'ptx': 'k.ptx', 'kernel': 'k', 'grid': 1, 'block': block, 'args': [{'name': 'out', 'buffer': 'u32', 'count': count, 'output': True}, {'name': 'in', 'buffer': 'u32', 'count': 64, 'init': {'iota': [0, 1]}}, *more]}, open(tmp + '/k.launch.json', 'w'))
    r = subprocess.run([exe, 'run', tmp + '/k.ptx', '--device', 'sim:hopper-h200', '--outputs', tmp], capture_output=True, text=True, timeout=60)
    return r.returncode, r.stdout + r.stderr, list(struct.unpack('<%dI' % count, open(tmp + '/out.bin', 'rb').read())) if r.returncode == 0 else None
def equals(name, text, want, **more):
    rc, said, got = run(text, **more)
    say(got == want, name, rc, said if rc else got)
equals('st.bulk clears so many bytes', kernel('.shared .align 8 .b8 s[128]; mov.u32 r1, s; mad.lo.u32 r2, r0, 4, r1; st.shared.b32 [r2], 7; bar.sync 0; setp.eq.u32 p, r0, 0; mov.b64 x5, 64; @p st.bulk.weak.shared::cta [r1], x5, 0; bar.sync 0; ld.shared.b32 r3, [r2]; st.global.b32 [x3], r3;'), [0] * 16 + [7] * 16)
equals('multimem on one device', kernel('multimem.ld_reduce.relaxed.gpu.global.add.u32 r1, [x4]; multimem.red.relaxed.gpu.global.add.u32 [x4], r1; ld.global.b32 r2, [x4]; multimem.st.relaxed.gpu.global.u32 [x3], r2;'), [2 * i for i in range(32)])
equals('clusterlaunchcontrol: where no CTA is left none is cancelled, the mbarrier is told', kernel('.shared .align 16 .b8 s[16]; .shared .align 8 .b64 b; mov.u32 r1, s; mov.u32 r2, b; setp.eq.u32 p, r0, 0; @p mbarrier.init.shared.b64 [r2], 1; bar.sync 0; @p mbarrier.arrive.expect_tx.shared.b64 _, [r2], 16; @p clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [r1], [r2]; W: mbarrier.try_wait.parity.shared.b64 q, [r2], 0; @!q bra W; ld.shared.b128 z0, [r1]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 q, z0; selp.b32 r3, 5, 9, q; st.global.b32 [x3], r3;'), [9] * 32)
# a map of 16 words at in[0], changed to begin at in[32], to have 8 and not 16 inside
replace = kernel('''.shared .align 128 .b8 m[128]; .shared .align 128 .b8 s[128]; .shared .align 8 .b64 b; mov.u32 r1, m; mov.u32 r2, s; mov.u32 r3, b; setp.eq.u32 p, r0, 0;
 mad.lo.u32 r4, r0, 4, r1; mov.b64 x5, map; cvta.param.u64 x5, x5; add.u64 x6, x5, x2; ld.b32 r5, [x6]; st.shared.b32 [r4], r5; bar.warp.sync -1;
 @p mbarrier.init.shared.b64 [r3], 1; add.u64 x7, x1, 128;
 @p tensormap.replace.tile.global_address.shared::cta.b1024.b64 [r1], x7; @p tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [r1], 0, 8; bar.warp.sync -1;
 ld.param.u64 x8, [scratch]; tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [x8], [r1], 128;
 fence.proxy.tensormap::generic.acquire.gpu [x8], 128; bar.sync 0;
 @p mbarrier.arrive.expect_tx.shared.b64 _, [r3], 64; @p cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [r2], [x8, {0}], [r3];
 W: mbarrier.try_wait.parity.shared.b64 q, [r3], 0; @!q bra W; mad.lo.u32 r4, r0, 4, r2; ld.shared.b32 r6, [r4]; setp.lt.u32 p, r0, 16; @p st.global.b32 [x3], r6;''', 'sm_90a', ', .param .align 64 .b8 map[128], .param .u64 scratch')
more = [{'name': 'map', 'tensor_map': {'data': 'in', 'type': 'u32', 'dims': [16], 'box': [16]}}, {'name': 'scratch', 'buffer': 'u8', 'count': 128}]
equals('tensormap.replace and its copy', replace, [32 + i for i in range(8)] + [0] * 24, more=more)
gemm = open('tests/tensor/gemm_wgmma.ptx').read()
def broken(name, text, *patterns):
    open(tmp + '/g.ptx', 'w').write(text)
    r = subprocess.run([exe, 'run', tmp + '/g.ptx', '-l', 'tests/tensor/gemm_wgmma.launch.json', '-k', 'n256', '--device', 'sim:hopper-h200'], capture_output=True, text=True, timeout=120)
    say(r.returncode == 4 and 'hint: ' in r.stderr and re.search(r'g\.ptx:\d+:\d+: error: ', r.stderr) and all(re.search(p, r.stdout + r.stderr) for p in patterns), name, r.returncode, r.stdout + r.stderr)
without = lambda word: '\n'.join(l for l in gemm.split('\n') if word not in l)
broken('no wgmma.fence is a race', without('wgmma.fence'), r'written after the last wgmma.fence', r'\[race\]')
broken('no wgmma.wait_group is a race', without('wgmma.wait_group'), r'used while a wgmma works with it', r'\[race\]')
broken('no wgmma.commit_group is a race', without('wgmma.commit_group'), r'\[race\]')
def before_fence(text): return re.sub(r'(\n\s*wgmma\.fence\.sync\.aligned;)', lambda m: '\n' + text + m.group(1), gemm, count=1).replace('{\n', '{\n .reg .pred %after; .reg .b32 %warp;\n', 1)
early = 'mov.u32 %warp, %tid.x; shr.u32 %warp, %warp, 5; setp.eq.u32 %after, %warp, 6;'
broken('a warp that ends before its warpgroup is named with who waits', before_fence(early + ' @%after exit;'), r'warp 4 of warpgroup 1 at wgmma.fence, line \d+, for warp 6 \(ended\)', 'all four warps of a warpgroup must execute the same instructions', r'\[deadlock\]')
broken('a warp at another instruction than its warpgroup is told with both', before_fence(early + ' @!%after bra HERE; wgmma.fence.sync.aligned; HERE:'), r'execute different instructions: warp \d wgmma.\w+, warp \d wgmma.\w+ of line \d+', r'\[not-uniform\]')
broken('bytes that never come name the mbarrier and who waits', re.sub(r'(%r\d+), 32768;', r'\1, 32784;', gemm), r'warp 4 lanes ffffffff waits for the mbarrier at shared address 0x0, line \d+: 0 of 1 arrivals and 16 bytes are missing', r'phase ends when all')
broken('a descriptor that leads outside', gemm.replace('4611686293305360384', str(0x40003fff00010000)), r'a matrix descriptor .* reaches shared address 0x[0-9a-f]+: the CTA has \d+ bytes')
broken('a box at an address that is no multiple of 128', re.sub(r'(complete_tx::bytes) \[(%r\d+)\]', r'\1 [\2+64]', gemm), r'not a multiple of 128')
done()
PY
rc=$?
cat "$T/said"
exit $rc
