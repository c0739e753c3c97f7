#!/bin/bash
# Cluster launch control: a running CTA cancels one that has not begun and gets its number (PTX ISA 9.7.13.17); agents that claim so.
. tests/tool/tap.sh
python3 - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import json, shutil, struct, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path.insert(0, 'tests/tool')
from tap import done, say
def run(text, *options, grid=(100, 3, 2), cluster=None, count=600):
    open(tmp + '/k.ptx', 'w').write(text)
    launch = {'format': 'gpulocw-launch', 'version': 1, 'ptx': 'k.ptx', 'kernel': 'k', 'grid': list(grid), 'block': [32, 1, 1],
              'args': [{'name': 'out', 'buffer': 'u32', 'count': count, 'output': True}, {'name': 'begun', 'buffer': 'f32', 'count': 2, 'output': True, 'tolerance': 1e9}]}
    if cluster: launch['cluster'] = cluster
    json.dump(launch, open(tmp + '/k.launch.json', 'w'))
    shutil.rmtree(tmp + '/o', ignore_errors=True)
    r = subprocess.run([exe, 'run', tmp + '/k.ptx', '-d', 'sim:blackwell-b200', '--no-counters', '--outputs', tmp + '/o', *options], capture_output=True, text=True)
    words = lambda name, n, kind: struct.unpack('<%d%s' % (n, kind), open('%s/o/%s.bin' % (tmp, name), 'rb').read()) if not r.returncode else ()
    return r.returncode, r.stdout[-400:] + r.stderr[-900:], words('out', count, 'I'), words('begun', 2, 'f')
# Thread 0 counts a CTA that begins, and its tasks (in floats, which may differ from run to run); every task adds 1 to its place, thread by thread.
def kernel(name='get_first_ctaid.v4.b32.b128 {%r5, %r6, %r7, _}, %h', after='@!%p3 ret;', size=1, multicast='', ask='%p1'):
    names = name if isinstance(name, list) else [name]
    need = '.explicitcluster\n.reqnctapercluster %d\n' % size if size > 1 else ''
    meet = ' barrier.cluster.arrive; barrier.cluster.wait;' if size > 1 else ' bar.sync 0;'
    return '''.version 8.6\n.target sm_100a\n.address_size 64
.visible .entry k(.param .u64 out, .param .u64 begun)\n''' + need + '''{ .reg .pred %p<6>; .reg .b32 %r<20>; .reg .b64 %d<8>; .reg .b128 %h;
 .shared .align 16 .b8 answer[16]; .shared .align 8 .b64 bar;
 mov.u32 %r2, answer; mov.u32 %r3, bar; ld.param.u64 %d1, [out]; ld.param.u64 %d2, [begun]; mov.u32 %r9, %tid.x; setp.eq.u32 %p1, %r9, 0; mov.u32 %r8, 0;
 mov.u32 %r12, %cluster_ctarank; setp.eq.and.u32 %p4, %r12, 0, %p1;
 mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ctaid.y; mov.u32 %r7, %ctaid.z; @%p1 red.global.add.f32 [%d2], 0f3F800000; @%p1 mbarrier.init.shared::cta.b64 [%r3], 1;
''' + 'go:' + meet + ' @!%p1 bra body; fence.proxy.async.shared::cta; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 16;\n' + \
    ' @' + ask + ' clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes' + multicast + '.b128 [%r2], [%r3]; red.global.add.f32 [%d2+4], 0f3F800000;\n' + '''body:
 mov.u32 %r10, %nctaid.x; mov.u32 %r11, %nctaid.y; mad.lo.u32 %r13, %r7, %r11, %r6; mad.lo.u32 %r13, %r13, %r10, %r5; mul.wide.u32 %d3, %r13, 4; add.s64 %d3, %d1, %d3; red.global.add.u32 [%d3], 1;
wt: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r3], %r8; @!%p2 bra wt; xor.b32 %r8, %r8, 1;
 ld.shared.b128 %h, [%r2]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %p3, %h; ''' + after + '\n' + \
    ''.join(' clusterlaunchcontrol.query_cancel.%s;' % n for n in names) + (' add.u32 %r5, %r5, %r12;' if size > 1 else '') + '\n bra go; }\n'
BIG = dict(grid=(10000, 1, 1), count=10000)
rc, said, out, begun = run(kernel(), **BIG)
say(rc == 0 and set(out) == {32}, 'every CTA runs once, by itself or taken over', rc, said, sorted(set(out)))
say(rc == 0 and begun[0] < 10000 and begun[1] == 10000, 'those taken over never begin: %s begin' % (begun[:1],), begun)
for what, name in (('v4', kernel()), ('::x, ::y, ::z', kernel(['get_first_ctaid::%s.b32.b128 %%r%d, %%h' % (c, r) for c, r in (('x', 5), ('y', 6), ('z', 7))]))):
    rc, said, out, begun = run(name)
    say(rc == 0 and set(out) == {32}, 'numbers in three dimensions by ' + what, rc, said)
    rc, said, out, begun = run(name, '--check-memory')
    say(rc == 0 and set(out) == {32}, 'and the sanitiser finds nothing', rc, said)
rc, said, out, begun = run(kernel(size=2, multicast='.multicast::cluster::all', ask='%p4'), **BIG)
say(rc == 0 and set(out) == {32} and begun[0] < 10000, 'a cluster takes over a cluster, and all its CTAs are told', rc, said, begun)
rc, said, out, begun = run(kernel(after='setp.eq.u32 %p5, %r8, 0; @%p5 ret;').replace('{%r5, %r6, %r7, _}', '{%r15, %r16, %r17, _}'), grid=(1, 1, 1), count=1)
say(rc == 4 and 'earlier clusterlaunchcontrol.try_cancel failed' in said, 'asking again after a failure is told', rc, said)
# Agents: outputs are the plain launch's, in every order, on kernels with barriers, shared memory, early returns, several waves.
def demo(name, *options, launch=(), device='sim:blackwell-b200', outputs='o'):
    shutil.rmtree(tmp + '/' + outputs, ignore_errors=True)
    r = subprocess.run([exe, 'run', 'kernels/%s.ptx' % name, *launch, '-d', device, '--no-counters', '-j', '--outputs', tmp + '/' + outputs, *options], capture_output=True, text=True)
    try: d = json.loads(r.stdout)
    except ValueError: d = {}
    return r.returncode, d, r.stderr
AGENT = ('--cluster', 'agent', '--claims')
for name, launch in (('gemm', ('-k', 'paper')), ('transpose', ()), ('conv2d', ()), ('hotspot', ('-k', 'waves')), ('spmv', ()), ('bfs', ()), ('stencil3d', ())):
    demo(name, launch=launch, outputs='plain')
    for index in ('column',) if name != 'gemm' else ('row', 'column', 'tile:2x2'):
        rc, d, said = demo(name, *AGENT, 'launch', '--index', index, launch=launch)
        same = subprocess.run(['diff', '-r', tmp + '/plain', tmp + '/o'], capture_output=True).returncode == 0
        say(rc == 0 and same and d['options']['claims'] == 'launch', '%s in order %s: the bytes of the plain launch' % (name, index), rc, same, said[-400:])
rc, d, said = demo('gemm', *AGENT, 'launch', '--prove', 'full', launch=('-k', 'paper'))
say(rc == 0 and d.get('proof', {}).get('holds') is True, 'proven in other orders and data, where requests fail early, too', rc, said)
# Which is used, and why not.
rc, d, said = demo('gemm', *AGENT, 'auto', launch=('-k', 'paper'))
say(rc == 0 and d['options']['claims'] == 'launch' and 'by cluster launch control' in d['message'], 'auto: launch control where it is', rc, d.get('message'))
rc, d, said = demo('gemm', *AGENT, 'auto', launch=('-k', 'paper'), device='sim:hopper-h200')
say(rc == 0 and d['options']['claims'] == 'atomic' and 'from sm_100 on' in d['message'], 'auto: atomics where it is missing, and the result says so', rc, d.get('message'))
for device, options, why in (('sim:hopper-h200', (), 'from sm_100 on; the device is sm_90'), ('sim:fermi-16k', (), 'the device is sm_20'),
                             ('sim:blackwell-b200', ('--agents', '2'), 'cannot leave its task'), ('sim:blackwell-b200', ('--prefetch', 'l2'), 'none is prefetched')):
    rc, d, said = demo('gemm', *AGENT, 'launch', *options, launch=('-k', 'paper'), device=device)
    say(rc == 3 and '--claims launch: ' in said and why in said, 'refused by name: ' + why, rc, said)
    rc, d, said = demo('gemm', *AGENT, 'auto', *options, launch=('-k', 'paper'), device=device)
    say(rc == 0 and d['options']['claims'] == 'atomic' and why.split(';')[0] in d['message'] + 'the device is sm_20', 'and auto takes atomics there', rc, d.get('message'), said)
for device, tried in (('sim:blackwell-b200', True), ('sim:hopper-h200', False)):
    session = tmp + '/tuned.json'
    subprocess.run([exe, 'tune', 'kernels/transpose.ptx', '-d', device, '--budget', '20', '-o', session, '--force'], capture_output=True)
    say(('"claims": "launch"' in open(session).read()) is tried, 'a search tries it%s: %s' % ('' if tried else ' nowhere else', device))
done()
PY
rc=$?
cat "$T/said"
exit $rc
