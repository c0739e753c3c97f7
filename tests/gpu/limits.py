#!/usr/bin/env python3
"""What binds the slow kernels of tests/questions, by a GPU's counters beside the simulated device: tests/gpu/limits.py -d cuda:0

One row a kernel: time and the three heaviest causes of both, and whether the heaviest is the same, or among the first three. Before it, what
the GPU has of the metrics and how many launches they take. Exit 1: shares that do not add up, or a GPU that has the metrics and tells nothing."""
import argparse, json, os, subprocess, sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
QUESTIONS = os.path.join(HERE, '..', 'questions')
parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
parser.add_argument('-d', '--device', default='cuda:0')
parser.add_argument('-m', '--model', default='sim:hopper-h200')
parser.add_argument('--file', default='slow', choices=['slow', 'public'])
parser.add_argument('--gpulocw', default=os.environ.get('GPULOCW', 'build/gpulocw'))
parser.add_argument('--only', action='append', help='a kernel (repeatable)')
a = parser.parse_args()

def call(*words):
    r = subprocess.run([a.gpulocw, *words], text=True, capture_output=True)
    try:
        d = json.loads(r.stdout)
        return {'failed': d['diagnostics'][0]['message']} if 'diagnostics' in d else d
    except (ValueError, IndexError):
        return {'failed': (r.stderr.strip() or 'exit %d' % r.returncode)[:200]}

listed = call('devices', '--counters', '-d', a.device, '--json').get('devices', [])
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
