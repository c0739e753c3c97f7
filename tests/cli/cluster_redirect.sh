#!/bin/bash
# Kernels launched in thread-block clusters under --cluster redirect: whole clusters are renamed, waits for CTAs of the own cluster stay
# legal, waits for other clusters do not.
. tests/tool/tap.sh
python3 - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import json, re, struct, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path.insert(0, 'tests/tool')
from tap import done, say
HEAD = '.version 8.1\n.target sm_90\n.address_size 64\n'
NAMES = '''{ .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %d<20>; .shared .align 8 .b64 bar; .shared .align 8 .b32 word[2];
 ld.param.u64 %d1, [a]; ld.param.u64 %d2, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %tid.x; mov.u32 %r4, %nctaid.x; mad.lo.u32 %r5, %r2, %r4, %r1;
 setp.ne.u32 %p1, %r3, 0; mul.wide.u32 %d3, %r5, 32; add.s64 %d3, %d2, %d3; mul.wide.u32 %d4, %r5, 4; add.s64 %d4, %d1, %d4;
'''
END = '\n ret; }\n'
def kernel(body, size='2, 2, 1'):
    need = '.explicitcluster\n.reqnctapercluster %s\n' % size if size else ''
    return HEAD + '.visible .entry k(.param .u64 a, .param .u64 out)\n' + need + NAMES + body + END
def run(text, *options, grid=(8, 6, 1), cluster=None):
    open(tmp + '/k.ptx', 'w').write(text)
    launch = {'format': 'gpulocw-launch', 'version': 1, 'ptx': 'k.ptx', 'kernel': 'k', 'grid': list(grid), 'block': [32, 1, 1],
              'args': [{'name': 'a', 'buffer': 'u32', 'count': 4096, 'init': {'random': [0, 3], 'seed': 5}}, {'name': 'out', 'buffer': 'u32', 'count': 4096, 'output': True}]}
    if cluster: launch['cluster'] = cluster
    json.dump(launch, open(tmp + '/k.launch.json', 'w'))
    r = subprocess.run([exe, 'run', tmp + '/k.ptx', '-d', 'sim:hopper-h200', '--prove', 'full', '--no-counters', '-j', '--outputs', tmp + '/o', *options], capture_output=True, text=True)
    try: d = json.loads(r.stdout)
    except ValueError: d = {}
    return r.returncode, d, r.stdout[-500:] + r.stderr[-900:]
def proven(rc, d): return rc == 0 and d.get('proof', {}).get('holds') is True

# What a CTA sees of its place: %ctaid, %clusterid, its rank and its neighbour's word.
PLACES = ''' @%p1 bra E; mov.u32 %r6, %clusterid.x; mov.u32 %r7, %clusterid.y; mov.u32 %r8, %cluster_ctarank; mov.u32 %r9, %cluster_ctaid.x; mov.u32 %r10, %cluster_ctaid.y; mov.u32 %r11, %nclusterid.x;
 st.shared.u32 [word], %r5; E: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; @%p1 bra F; xor.b32 %r12, %r8, 1; mov.u32 %r13, word; mapa.shared::cluster.u32 %r14, %r13, %r12; ld.shared::cluster.u32 %r15, [%r14];
 st.global.v4.u32 [%d3], {%r6, %r7, %r8, %r9}; st.global.v4.u32 [%d3+16], {%r10, %r11, %r15, %r1}; F: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;'''
ORDERS = ('row', 'column', 'tile:2x2')
for index in ORDERS:
    rc, d, text = run(kernel(PLACES), '--cluster', 'redirect', '--index', index)
    out = struct.unpack('<4096I', open(tmp + '/o/out.bin', 'rb').read()) if rc == 0 else ()
    bad = []
    for y in range(6):
        for x in range(8):
            if not out: break
            rank = y % 2 * 2 + x % 2; near = rank ^ 1
            want = (x // 2, y // 2, rank, x % 2, y % 2, 4, (y // 2 * 2 + near // 2) * 8 + x // 2 * 2 + near % 2, x)
            if out[8 * (8 * y + x):8 * (8 * y + x) + 8] != want: bad.append(((x, y), out[8 * (8 * y + x):8 * (8 * y + x) + 8], want))
    say(proven(rc, d) and out and not bad, 'places of CTAs in clusters, order ' + index, rc, bad[:2], text)
WHERE = ' @%p1 bra E; mov.u32 %r6, %smid; st.global.u32 [%d3], %r6; E:'
text = kernel(WHERE)
rc, d, said = run(text, '--cluster', 'redirect')
say(rc == 3 and 'where its CTAs run' in said, 'a kernel that stores %smid is refused', rc, said)
# The launch alone says the size.
for size in ([2, 1, 1], [1, 2, 1], [4, 1, 1]):
    rc, d, said = run(kernel(PLACES.replace('xor.b32 %r12, %r8, 1', 'mov.u32 %r12, %r8'), None), '--cluster', 'redirect', '--index', 'column', cluster=size)
    say(proven(rc, d), 'clusters of %s by the launch' % size, rc, said)
# A custom order has one number for each cluster.
open(tmp + '/order', 'w').write(' '.join(str(i) for i in reversed(range(12))))
rc, d, said = run(kernel(PLACES), '--cluster', 'redirect', '--index', 'custom:' + tmp + '/order')
say(proven(rc, d), 'a custom order of clusters', rc, said)
open(tmp + '/order', 'w').write(' '.join(str(i) for i in reversed(range(48))))
rc, d, said = run(kernel(PLACES), '--cluster', 'redirect', '--index', 'custom:' + tmp + '/order')
say(rc == 3 and 'below 12' in said, 'one of CTAs is refused', rc, said)

# Waits. In the cluster: by an mbarrier that the neighbour arrives at, by its word.
INIT = ' mov.u32 %r20, bar; mov.u32 %r21, word; mov.u32 %r8, %cluster_ctarank; xor.b32 %r12, %r8, 1; @%p1 bra I; mbarrier.init.shared.b64 [%r20], 1; st.shared.u32 [word], 0; I: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; @%p1 bra F; mapa.shared::cluster.u32 %r22, %r20, %r12; mapa.shared::cluster.u32 %r23, %r21, %r12;'
LAST = ' st.global.u32 [%d3], %r5; F: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;'
ARRIVE = ' mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r22];'
TRY = ' W: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p2, [%r20], 0; @!%p2 bra W;'
SPIN = ' st.volatile.shared::cluster.u32 [%r23], 1; W: ld.volatile.shared::cluster.u32 %r24, [%r21]; setp.eq.u32 %p2, %r24, 0; @%p2 bra W;'.replace('[%r21]', '[%r25]').replace(' st.vol', ' mapa.shared::cluster.u32 %r25, %r21, %r8; st.vol', 1)
OWN = {'an mbarrier': ARRIVE + TRY, 'a word of the cluster': SPIN}
for name, body in OWN.items():
    rc, d, said = run(kernel(INIT + body + LAST), '--cluster', 'redirect', '--index', 'column')
    say(proven(rc, d) and 'own cluster' in said, 'a wait for the own cluster by %s is legal' % name, rc, said)
    for options in (('--cluster', 'agent'), ('--coarsen', '2'), ('--block', '64x1x1')):
        rc, d, said = run(kernel(INIT + body + LAST), *options)
        say(rc == 3, '%s: refused for %s' % (name, options[0] + ' ' + options[1]), rc, said)
# For other clusters: by global memory, or by what a CTA of the own cluster hands on.
OTHER = {
    'a global flag': ' G: ld.volatile.global.u32 %r26, [%d1]; setp.eq.u32 %p3, %r26, 77; @%p3 bra G;' + ARRIVE + TRY,
    'a flag that the neighbour hands on': ' mov.u32 %r27, 0; H: ld.volatile.global.u32 %r26, [%d1+64]; st.volatile.shared::cluster.u32 [%r23], %r26; add.u32 %r27, %r27, 1; setp.lt.u32 %p3, %r27, 9; @%p3 bra H; st.volatile.global.u32 [%d1+64], %r5;' + SPIN.replace('%r24, 0;', '%r24, 99;'),
    'an arrival that an atomic decides': ' atom.global.add.u32 %r26, [%d1+128], 1; setp.lt.u32 %p3, %r26, 4000; @%p3' + ARRIVE + TRY,
    'an atomic in a loop': ' st.global.u32 [%d1+4], %r5; G: atom.global.or.b32 %r26, [%d1+4], 0; setp.eq.u32 %p3, %r26, 7777; @%p3 bra G;' + ARRIVE + TRY,
}
for name, body in OTHER.items():
    rc, d, said = run(kernel(INIT + body + LAST), '--cluster', 'redirect', '--index', 'column')
    say(rc == 3 and 'may wait here' in said, 'refused: waits by ' + name, rc, said)
# Clusters that nobody declares: what reaches other CTAs is renamed with them.
rc, d, said = run(kernel(INIT.replace('xor.b32 %r12, %r8, 1', 'mov.u32 %r12, %r8') + ARRIVE + TRY + LAST, None), '--cluster', 'redirect', '--index', 'column')
rewritten = subprocess.run([exe, 'rewrite', tmp + '/k.ptx', '--cluster', 'redirect', '--clusters', '3', '-o', '-'], capture_output=True, text=True).stdout
say(proven(rc, d) and '%nclusterid.x' in rewritten and 'cluster_nctaid.y' in rewritten, 'no size declared: clusters are renamed all the same', rc, said, rewritten[-800:])
# Cluster launch control: CTAs that are taken over have the hardware's numbers.
TAKES = HEAD.replace('8.1', '8.7').replace('sm_90', 'sm_100a') + '''.visible .entry k(.param .u64 a, .param .u64 out)
{ .reg .pred %p<4>; .reg .b32 %r<12>; .reg .b64 %d<6>; .reg .b128 %h; .shared .align 16 .b8 resp[16]; .shared .align 8 .b64 bar;
 mov.u32 %r1, %ctaid.x; mov.u32 %r2, resp; mov.u32 %r3, bar; ld.param.u64 %d1, [out]; mbarrier.init.shared::cta.b64 [%r3], 1;
 clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r2], [%r3];
 ld.shared.b128 %h, [%r2]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p1, %h;
 @%p1 clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%r4, %r5, %r6, %r7}, %h;
 mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %d1, %d2; st.global.u32 [%d2], %r1; ret; }
'''
for options in (('--cluster', 'redirect'), ('--cluster', 'agent'), ('--block', '64x1x1'), ('--coarsen', '2'), ('--swap-xy',)):
    rc, d, said = run(TAKES, *options)
    say(rc == 3, 'taking over CTAs: refused for ' + ' '.join(options), rc, said)
rc, d, said = run(TAKES, '--cluster', 'redirect')
say('have not started' in said, 'with the reason', said)
# An order by what CTAs share: 48 CTAs in 16 groups of three that read the same sector, spread over the grid; a GTX 980 has 16 SMs.
GROUPS = HEAD.replace('8.1', '7.0').replace('sm_90', 'sm_52') + '''.visible .entry k(.param .u64 a, .param .u64 out)
{ .reg .b32 %r<12>; .reg .b64 %d<8>;
 ld.param.u64 %d1, [a]; ld.param.u64 %d2, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x; mad.lo.u32 %r4, %r2, %r3, %r1;
 mul.lo.u32 %r5, %r4, FACTOR; rem.u32 %r5, %r5, 48; div.u32 %r5, %r5, 3; shl.b32 %r6, %r5, 5; mul.wide.u32 %d3, %r6, 4; add.s64 %d3, %d1, %d3; ld.global.u32 %r7, [%d3];
 mul.wide.u32 %d4, %r4, 4; add.s64 %d4, %d2, %d4; add.u32 %r7, %r7, %r4; st.global.u32 [%d4], %r7; ret; }
'''
for factor in (1, 7, 25):
    on = ('-d', 'sim:maxwell-980', '--cluster', 'redirect', '--index', 'graph')
    rc, d, said = run(GROUPS.replace('FACTOR', str(factor)), *on)
    out = subprocess.run([exe, 'rewrite', tmp + '/k.ptx', '-o', '-', *on], capture_output=True, text=True).stdout
    order = [int(x) for x in re.search(r'order\[48\] = \{([^}]*)\}', out).group(1).split(',')] if 'order[48]' in out else []
    groups = [{c * factor % 48 // 3 for c in order[i:i + 3]} for i in range(0, 48, 3)]
    say(proven(rc, d) and sorted(order) == list(range(48)) and all(len(g) == 1 for g in groups), 'an order by the graph keeps together what shares, factor %d' % factor, rc, order, groups, said)
rc, d, said = run(GROUPS.replace('FACTOR', '7').replace('div.u32 %r5, %r5, 3', 'mov.u32 %r5, %r4'), *on)
say(rc == 3 and 'no sector has several CTAs' in said, 'where nothing is shared there is no graph', rc, said)
rc, d, said = run(kernel(PLACES), '--cluster', 'redirect', '--index', 'graph')
say(rc == 3 and 'no graph' in said, 'clusters of CTAs have none', rc, said)
done()
PY
rc=$?
cat "$T/said"
exit $rc
