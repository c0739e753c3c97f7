"""Grid barriers whose CTAs all fit an SM before a rewrite, and after it fit or do not. usage: resident.py GPULOCW FOLDER; TAP.
Each row: device (with 4 SMs), target, directives, shared arrays, threads, CTAs of an SM, option that leaves them room, option
that does not."""
import json, subprocess, sys
exe, tmp = sys.argv[1:3]
count = bad = 0
SMS = 4


def say(ok, what, *why):
    global count, bad
    count, bad = count + 1, bad + (not ok)
    print('%sok %d - %s' % ('' if ok else 'not ', count, what), flush=True)
    for w in why if not ok else ():
        print('#   ' + str(w).strip().replace('\n', '\n#   '))


def kernel(target, directives, arrays, work=''):
    """A thread of each CTA counts it and waits until all have come; then what lies in shared memory is read again."""
    each = lambda text: ''.join(text % k for k in range(len(arrays)))
    return f'''.version {'8.0' if target >= 80 else '6.0'}
.target sm_{target}
.address_size 64
.visible .entry k(.param .u64 cnt, .param .u64 in, .param .u64 out)
{directives}
{{ .reg .pred %p<4>; .reg .b32 %r<20>; .reg .b64 %d<12>;{''.join(' .shared .align 4 .b8 s%d[%d];' % a for a in enumerate(arrays))}
 ld.param.u64 %d1, [cnt]; ld.param.u64 %d2, [in]; ld.param.u64 %d3, [out];
 mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
 mul.wide.u32 %d4, %r4, 4; add.s64 %d5, %d2, %d4; add.s64 %d6, %d3, %d4; ld.global.u32 %r13, [%d5];
 setp.eq.u32 %p0, %r3, 0;
{each(' @%%p0 st.shared.u32 [s%d], %%r1;')}{work}
 bar.sync 0; setp.ne.u32 %p1, %r3, 0; @%p1 bra B;
 atom.global.add.u32 %r5, [%d1], 1; mov.u32 %r6, %nctaid.x;
W: ld.volatile.global.u32 %r7, [%d1]; setp.lt.u32 %p2, %r7, %r6; @%p2 bra W;
B: bar.sync 0;
{each(' ld.shared.u32 %%r12, [s%d]; add.u32 %%r13, %%r13, %%r12;')}
 st.global.u32 [%d6], %r13; ret; }}
'''


def write(text, grid, threads, cluster=None):
    n = grid * threads
    doc = {'format': 'gpulocw-launch', 'version': 1, 'kernel': 'k', 'grid': [grid, 1, 1], 'block': [threads, 1, 1], 'args': [
        {'name': 'cnt', 'buffer': 'u32', 'count': 1}, {'name': 'in', 'buffer': 'u32', 'count': n, 'init': {'random': [0, 99], 'seed': 1}},
        {'name': 'out', 'buffer': 'u32', 'count': n, 'output': True}]}
    if cluster:
        doc['cluster'] = [cluster, 1, 1]
    open(tmp + '/k.ptx', 'w').write(text)
    json.dump(doc, open(tmp + '/k.launch.json', 'w'))


def small(device):
    """The preset of a GPU with fewer SMs."""
    doc = json.load(open('engine/sim/presets/%s.json' % device))
    doc['fields']['sms']['value'] = SMS
    json.dump(doc, open('%s/%s.json' % (tmp, device), 'w'))
    return '%s/%s.json' % (tmp, device)


def gpulocw(command, options, device):
    r = subprocess.run([exe, command, tmp + '/k.ptx', *options.split(), '--device', 'sim:' + device, *(['--no-counters'] if command == 'run' else [])],
                       capture_output=True, text=True, timeout=120)
    return r.returncode, r.stdout, r.stderr


def holds(options, device):
    """CTAs of an SM before and after, where the text changes."""
    rc, out, err = gpulocw('rewrite', options + ' --json', device)
    pair = json.loads(out)['cost']['ctas_per_sm']
    return pair['original'], pair['rewritten']


R32 = '.maxnreg 32'
ROWS = [
    # a CTA's 25 arrays are 3200 bytes at 128 each, 3328 in units of 256; 48 KB hold 16 of 3072
    ('swizzle', 'kepler-gtx690', 30, R32, [4] * 24, 32, 16, '--swizzle-shared', None),
    ('swizzle', 'kepler-gtx690', 30, R32, [4] * 25, 32, 16, None, '--swizzle-shared'),
    ('carve-out', 'hopper-h200', 90, R32, [4096], 32, 6, '--carveout 4', None),
    ('carve-out', 'hopper-h200', 90, R32, [4096], 32, 8, '--carveout 50', '--carveout 4'),
    ('carve-out', 'ampere-a100', 80, R32, [8192], 64, 8, '--carveout 60', '--carveout 10'),
    ('carve-out', 'volta-v100', 70, R32, [8192], 64, 12, '--carveout 100', '--carveout 50'),
    ('carve-out', 'fermi-16k', 20, R32, [6144], 64, 8, '--carveout 100', '--carveout 10'),
    ('carve-out', 'maxwell-750ti', 50, R32, [2048], 32, 32, '--carveout 10', None),
    ('pad of the launch', 'hopper-h200', 90, R32, [4], 32, 16, '--throttle-shared 13564', '--throttle-shared 13568'),
    ('pad of the launch', 'pascal-p100', 60, R32, [4], 32, 16, '--throttle-shared 4092', '--throttle-shared 4096'),
    ('pad of the launch', 'fermi-16k', 20, R32, [4], 32, 8, '--throttle-shared 6140', '--throttle-shared 6144'),
    ('pad of the launch', 'ampere-a100', 80, R32, [1024], 64, 20, '--throttle-shared 6144', '--throttle-shared 6400'),
    ('pad of rows', 'hopper-h200', 90, R32, [8192], 32, 24, '--smem-pad 128', None),
    ('pad of rows', 'hopper-h200', 90, R32, [8192], 32, 25, None, '--smem-pad 128'),
    ('registers', 'hopper-h200', 90, R32, [4], 256, 8, '--maxnreg 32', '--maxnreg 40'),
    ('registers', 'volta-v100', 70, R32, [4], 256, 8, '--maxnreg 24', '--maxnreg 33'),
    ('least CTAs', 'hopper-h200', 90, '.maxntid 256, 1, 1', [4], 256, 4, '--minctas 4', '--minctas 3'),
    ('least CTAs', 'ampere-a100', 80, '.maxntid 96, 1, 1', [4], 96, 9, '--minctas 10', '--minctas 5'),
    ('registers of new code', 'hopper-h200', 90, R32, [4], 256, 8, '--bypass l1 --pi 1', None),
    ('registers of new code', 'hopper-h200', 90, '', [4], 256, 8, None, '--bypass l1 --pi 1'),
    ('registers of new code', 'hopper-h200', 90, R32, [4], 256, 8, '--readonly promote', None),
    ('registers of new code', 'ampere-a100', 80, '', [4], 256, 8, None, '--readonly promote'),
    ('software cache', 'hopper-h200', 90, R32, [4], 64, 8, '--softcache 1', None),
]
CHANGED = ('--swizzle', '--smem-pad', '--minctas', '--softcache', '--maxnreg 24')
ROW = ' mov.u32 %r14, s0; mad.lo.u32 %r14, %r3, 128, %r14; st.shared.u32 [%r14], %r13; bar.sync 0; ld.shared.u32 %r13, [%r14];'


def text_of(target, directives, arrays):
    """A tile of rows of 128 bytes where there is one large array."""
    text = kernel(target, directives, arrays, ROW if arrays == [8192] and target == 90 else '')
    return text.replace(' @%p0 st.shared.u32 [s0], %r1;', '').replace(' ld.shared.u32 %r12, [s0];', ' mov.u32 %r12, %r1;') if 'r14, s0' in text else text


for name, device, target, directives, arrays, threads, ctas, fits, too_much in ROWS:
    write(text_of(target, directives, arrays), SMS * ctas, threads)
    what = '%s, %s, %d array%s' % (name, device, len(arrays), 's' * (len(arrays) > 1))
    if fits:
        rc, out, err = gpulocw('run', fits, small(device))
        say(rc == 0 and 'all CTAs of this launch are resident' in err, '%s: %s leaves %d CTAs an SM, and is equal' % (what, fits, ctas), rc, out, err)
    if fits and fits.startswith(CHANGED):
        pair = holds(fits, small(device))
        say(min(pair) >= ctas, '%s: the note of %s says no fewer' % (what, fits), pair)
    if too_much:
        rc, out, err = gpulocw('rewrite', too_much, small(device))
        say(rc == 3 and 'too few of them resident' in err, '%s: %s is refused' % (what, too_much), rc, out, err)

# the same launch, on a device with fewer SMs
write(kernel(90, R32, [4096]), 132 * 8, 32)
for device, ok in (('hopper-h200', True), (small('hopper-h200'), False)):
    rc, out, err = gpulocw('rewrite', '--carveout 50', device)
    say(rc == (0 if ok else 3), 'the device at hand decides: %s' % ('132 SMs' if ok else '4 SMs'), rc, err)

# registers that nothing bounds: they do not matter where shared memory does not bind, before or after
write(kernel(90, '', [4]), SMS * 8, 256)
rc, out, err = gpulocw('run', '--carveout 100', small('hopper-h200'))
say(rc == 0 and 'as many CTAs are resident' in err, 'a carve-out that takes no CTA is legal, whatever the registers', rc, out, err)
rc, out, err = gpulocw('rewrite', '--throttle-shared 60000', small('hopper-h200'))
say(rc == 3, 'a pad that takes CTAs is refused where nothing bounds the registers', rc, err)

# a called function's shared memory counts
CALLED = '.func f() { .shared .align 4 .b8 own[12288]; .reg .b32 %r; st.shared.u32 [own], 1; ret; }\n'
text = kernel(90, R32, [4]).replace('.visible .entry', CALLED + '.visible .entry').replace(' bar.sync 0; setp.ne', ' call f; bar.sync 0; setp.ne')
for ctas, ok in ((15, True), (16, False)):
    write(text, SMS * ctas, 32)
    rc, out, err = gpulocw('rewrite', '--throttle-shared 1900', small('hopper-h200'))
    say(rc == (0 if ok else 3), 'shared memory of a called function, %d CTAs: %s' % (ctas, 'legal' if ok else 'refused'), rc, err)

# clusters of 8 find 120 of 132 SMs (preset): 15 places
for ctas, ok in ((15 * 8, True), (16 * 8, False)):
    write(kernel(90, R32, [100000]), ctas, 128, cluster=8)
    rc, out, err = gpulocw('rewrite', '--throttle-shared 60000', 'hopper-h200')
    say(rc == (0 if ok else 3), '%d CTAs in clusters of 8, one an SM: %s' % (ctas, 'legal' if ok else 'refused'), rc, err)

# one thread for several, other blocks, agents: never with a grid barrier
write(kernel(90, R32, [4]), 132, 64)
for option in ('--coarsen 2', '--block 32x1x1', '--cluster agent'):
    rc, out, err = gpulocw('rewrite', option, 'hopper-h200')
    say(rc == 3, 'a grid barrier: %s is refused' % option, rc, err)

# a loop that waits by a weak load is not given copies
write(kernel(90, R32, [4]).replace('ld.volatile.global', 'ld.global'), 132, 64)
rc, out, err = gpulocw('rewrite', '--softcache 1', 'hopper-h200')
say(rc == 3 and 'weak load' in err, 'a weak load that waits: --softcache is refused', rc, err)

print('1..%d' % count)
sys.exit(bad > 0)
