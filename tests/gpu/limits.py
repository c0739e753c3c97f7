#!/usr/bin/env python3
"""What binds the slow kernels of tests/questions, by a GPU's counters beside the simulated device: tests/gpu/limits.py -d cuda:0

One row a kernel: time and the three heaviest causes of both, and whether the heaviest is the same, or among the first three. Before it, what
the GPU has of the metrics and how many launches they take. Exit 1: shares that do not add up, or a GPU that has the metrics and tells nothing.

--change: what the first limit is, what the mended form (NAME_fixed, which removes it) makes of the time, and as a control what a change of another
limit makes of it, all timed on the device; -o FILE.jsonl: each row as soon as it is known. The limits are the model's, which are there before."""
import argparse, concurrent.futures, json, os, random, subprocess, sys, time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
QUESTIONS = os.path.join(HERE, '..', 'questions')
parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
parser.add_argument('-d', '--device', default='cuda:0')
parser.add_argument('-m', '--model', default='sim:hopper-h200')
parser.add_argument('--file', default='slow', choices=['slow', 'public'])
parser.add_argument('--gpulocw', default=os.environ.get('GPULOCW', 'build/gpulocw'))
parser.add_argument('--only', action='append', help='a kernel (repeatable)')
parser.add_argument('--change', action='store_true')
parser.add_argument('--total', type=float, default=1e9, help='seconds after which no kernel is begun')
parser.add_argument('--draw', type=int, default=0), parser.add_argument('--seed', type=int, default=0)
parser.add_argument('-o', '--output')
a = parser.parse_args()
began = time.time()

def call(*words):
    r = subprocess.run([a.gpulocw, *words], text=True, capture_output=True)
    try:
        d = json.loads(r.stdout)
        return {'failed': d['diagnostics'][0]['message']} if 'diagnostics' in d else d
    except (ValueError, IndexError):
        return {'failed': (r.stderr.strip() or 'exit %d' % r.returncode)[:200]}

# What is changed in a control: a limit that is not this one's.
CONTROL = {'more of L1': ['--carveout', '0'], 'more warps': ['--minctas', '8'], 'no bank conflicts': ['--swizzle-shared'], 'read-only loads': ['--readonly', 'promote']}
REMOVES = {'more of L1': ('l1-rate', 'dram-bandwidth', 'l2-bandwidth', 'coalescing-load'), 'more warps': ('occupancy', 'latency', 'grid-too-small', 'issue', 'launch', 'barriers'),
           'no bank conflicts': ('bank-conflicts',), 'read-only loads': ('l1-rate', 'latency', 'coalescing-load')}

def first_limits(k, path):
    d = call('run', path + '.ptx', '-k', k, '-d', a.model, '-t', '1', '--json')
    return [w for w, _ in heaviest(d) if w != 'unknown']

def timed(k, path, *more):
    """The median of the launches of one process; None: it does not run."""
    d = call('run', path + '.ptx', '-k', k, '-d', a.device, '--no-counters', *more, '--json')
    return (d.get('time_ns') or {}).get('median')

def changed(k, path, before, after):
    """Name, first limit before and after, time, with the limit removed, with another one removed."""
    first, last = (f.result()[:1] or [None] for f in (before, after))
    row = {'kernel': k, 'first': first[0], 'first_fixed': last[0], 'ns': timed(k, path), 'fixed_ns': timed(k + '_fixed', path), 'control': None, 'control_ns': None}
    for name, words in CONTROL.items():
        t = None if first[0] in REMOVES[name] else timed(k, path, *words)
        if t:
            return dict(row, control=name, control_ns=t)
    return row

def twins():
    """(kernel, file) of those that have a mended form; --draw: so many, by --seed."""
    both = []
    for path in (os.path.join(QUESTIONS, f) for f in ('slow', 'public')):
        names = [l['kernel'] for l in json.load(open(path + '.launch.json'))['launches']]
        both += [(k, path) for k in names if k + '_fixed' in names and (not a.only or k in a.only)]
    return random.Random(a.seed).sample(both, a.draw) if a.draw else both

def changes():
    rows = []
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 2)) as pool:
        todo = [(k, path, pool.submit(first_limits, k, path), pool.submit(first_limits, k + '_fixed', path)) for k, path in twins()]
        for t in todo:
            if time.time() - began > a.total:
                print('%s: not reached' % t[0])
                continue
            rows.append(changed(*t))
            if a.output:
                with open(a.output, 'a') as f:
                    f.write(json.dumps(rows[-1]) + '\n')
        pool.shutdown(cancel_futures=True)
    told_changes([r for r in rows if r['ns'] and r['fixed_ns']], [r['kernel'] for r in rows if not r['ns'] or not r['fixed_ns']])

def told_changes(rows, left):
    print('| kernel | first limit | of the mended form | µs | mended | control | µs | moved by it |')
    print('|---|---|---|---|---|---|---|---|')
    for r in rows:
        print('| %s | %s | %s | %.2f | %.2f, %.2fx | %s | %s | %s |' % (r['kernel'], r['first'], r['first_fixed'], r['ns'] / 1e3, r['fixed_ns'] / 1e3, r['ns'] / r['fixed_ns'], r['control'] or 'none is legal',
              '%.2f' % (r['control_ns'] / 1e3) if r['control_ns'] else '', '%.2fx' % (r['ns'] / r['control_ns']) if r['control_ns'] else ''))
    moved = [r['ns'] / r['fixed_ns'] for r in rows]
    controls = [r['ns'] / r['control_ns'] for r in rows if r['control_ns']]
    print('\n%d kernels: the first limit removed moves the time by 5 %% on %d; another one removed leaves it within 5 %% on %d of %d; no time: %s' % (
        len(rows), sum(x > 1.05 for x in moved), sum(0.95 <= x <= 1.05 for x in controls), len(controls), ', '.join(left) or 'none'))

listed = [] if a.change else call('devices', '--counters', '-d', a.device, '--json').get('devices', [])
told = [d for d in listed if d.get('spec') == a.device and 'limits_from' in d]
for d in told:
    print('%s: %d launches for all counters; limits: %s%s' % (d['name'], d['passes'], '' if d['limits_available'] else 'n/a: ', d['limits_from']))
    if d['no_counters']:
        print('no counters: ' + d['no_counters'])
has = any(d['limits_available'] for d in told) or a.device.startswith('sim:')

def heaviest(d):
    return [(x['what'], x['share']) for x in d.get('limits') or []]

def words(v):
    return ', '.join('%s %.0f %%' % (what, 100 * s) for what, s in v[:3]) or 'n/a'

if a.change:
    changes()
    sys.exit(0)
path = os.path.join(QUESTIONS, a.file)
names = [l['kernel'] for l in json.load(open(path + '.launch.json'))['launches']]
bad, same, among, n = [], 0, 0, 0
print('| kernel | µs on %s | µs on %s | %s | %s | the first is the same |' % (a.device, a.model, a.device, a.model))
print('|---|---|---|---|---|---|')
for k in names:
    if a.only and k not in a.only:
        continue
    gpu, sim = (call('run', path + '.ptx', '-k', k, '-d', d, '--json') for d in (a.device, a.model))
    if 'failed' in gpu or 'failed' in sim or not gpu.get('time_ns') or not sim.get('time_ns'):
        bad.append('%s: %s' % (k, gpu.get('failed') or sim.get('failed') or 'no time'))
        continue
    g, s = heaviest(gpu), heaviest(sim)
    if not g and has:
        bad.append('%s: limits are n/a' % k)
    if g and abs(sum(x for _, x in g) - 1) > 1e-3:
        bad.append('%s: shares add up to %g' % (k, sum(x for _, x in g)))
    first = next((w for w, _ in s if w != 'unknown'), None)
    n, same, among = n + 1, same + bool(g and g[0][0] == first), among + (first in [w for w, _ in g[:3]])
    print('| %s | %.2f | %.2f | %s | %s | %s |' % (k, gpu['time_ns']['median'] / 1e3, sim['time_ns']['median'] / 1e3, words(g), words(s),
                                                   'yes' if g and g[0][0] == first else 'in three' if first in [w for w, _ in g[:3]] else 'no'))
print('\nthe first is the same in %d of %d, among the first three in %d' % (same, n, among))
for b in bad:
    print('wrong: ' + b)
sys.exit(bool(bad))
