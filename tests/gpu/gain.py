#!/usr/bin/env python3
"""What `tune` gains on a GPU for kernels that nobody fitted (tests/suites): tests/gpu/gain.py GPULOCW [-d cuda:0] [--half held-out]
[--seconds 7] [--total 500] [--only KERNEL,...] [-o FILE.jsonl] [--launches FOLDER --draw 30 --seed 1] [--again 3]

Each kernel is searched by default options (--seconds: with that budget); what is not begun within --total is told. A gain is of whole launches, original
and best measured in turns at the end; "leave it alone" counts as 1. --again: what is recommended runs so often in processes of its own, the original in
turn with it. One line a kernel, then the geometric means."""
import argparse, json, math, os, subprocess, sys, tempfile, time
sys.dont_write_bytecode = True
here = os.path.dirname(os.path.abspath(__file__))
SUITES = os.path.join(here, '../suites')
sys.path[:0] = [here, SUITES]
import launch_files, suites

p = argparse.ArgumentParser()
p.add_argument('gpulocw'), p.add_argument('-d', '--device', default='cuda:0'), p.add_argument('--half', default='both')
p.add_argument('--seconds', type=float, default=0), p.add_argument('--total', type=float, default=1e9), p.add_argument('-o', '--output'), p.add_argument('--only', default='')
p.add_argument('--launches', action='append', default=[]), p.add_argument('--draw', type=int, default=0), p.add_argument('--seed', type=int, default=0)
p.add_argument('--again', type=int, default=0)
a = p.parse_args()
began = time.time()


def kernels():
    """(suite, kernel, half, words of the launch) of each kernel."""
    if not a.launches:
        for s, k, half in suites.rows():
            if a.half in ('both', half) and (not a.only or k in a.only.split(',')):
                yield s, k, half, [os.path.join(SUITES, s + '.ptx'), '-k', k]
        return
    found = launch_files.found(a.launches)
    for key in launch_files.draw(found, a.draw, a.seed) if a.draw else found:
        ptx, file, name = found[key]
        yield *key, None, [ptx, '-l', file, '-k', name]


def call(limit, *words):
    """The document that a command prints; a text: why there is none."""
    try:
        r = subprocess.run([a.gpulocw, *words, '-d', a.device, '--time-limit', '5', '--json'], capture_output=True, text=True, timeout=limit, stdin=subprocess.DEVNULL)
        d = json.loads(r.stdout)
    except subprocess.TimeoutExpired:
        return 'longer than %d s' % limit
    except ValueError:
        return (r.stderr.strip().splitlines() or ['exit %d' % r.returncode])[-1]
    return d['diagnostics'][0]['message'] if d.get('diagnostics') and 'kernel' not in d and 'leave_alone' not in d else d


def search(words):
    with tempfile.TemporaryDirectory() as folder:
        return call(120, 'tune', *words, *(['--budget-seconds', str(a.seconds)] if a.seconds else []), '-o', os.path.join(folder, 's.json'))


def alone(words, line):
    """Original over recommended, each in a process of its own, in turns; None: one did not run, or its outputs differ."""
    times = [], []
    for _ in range(a.again):
        for t, more in zip(times, ([], line.split())):
            d = call(60, 'run', *words, *more, '--no-counters')
            if isinstance(d, str) or not d.get('time_ns') or d.get('equal_to_original') is False:
                return None
            t.append(d['time_ns']['median'])
    return sorted(times[0])[a.again // 2] / sorted(times[1])[a.again // 2]


def row(words):
    t = time.time()
    d = search(words)
    if isinstance(d, str):
        return {'failed': d[:200]}
    took, leave = time.time() - t, d['leave_alone']
    again = None if not a.again else 1.0 if leave else alone(words, d['options_line'])
    return {'gain': 1.0 if leave else d['gain'], 'again': again, 'options': None if leave else d['options_line'], 'launches': d['launches'], 'took': round(took, 1),
            'original_ns': ((d.get('original') or {}).get('time_ns') or {}).get('median'), 'seconds': d.get('seconds')}


def told(rows, what):
    g = [r[what] for r in rows if r.get(what)]
    if g:
        print('%s, %d kernels: geometric mean %.3fx, %d gain more than 5 %%, %d below 0.97x, worst %.2fx, best %.2fx' % (
            what, len(g), math.exp(sum(map(math.log, g)) / len(g)), sum(x > 1.05 for x in g), sum(x < 0.97 for x in g), min(g), max(g)))


rows = []
for suite, kernel, half, words in kernels():
    if time.time() - began > a.total:
        print('%-8s %-18s not reached' % (suite, kernel))
        continue
    r = dict({'suite': suite, 'kernel': kernel, 'half': half}, **row(words))
    rows.append(r)
    print('%-8s %-18s %s' % (suite, kernel, 'failed: ' + r['failed'] if 'failed' in r else '%5.2fx  again %s  %4.1f s, %d launches  %s' % (
        r['gain'], '%.2fx' % r['again'] if r['again'] else 'n/a', r['took'], r['launches'], r['options'] or 'leave it alone')), flush=True)
    if a.output:
        with open(a.output, 'a') as f:
            f.write(json.dumps(r) + '\n')
told(rows, 'gain'), told(rows, 'again')
took = [r['took'] for r in rows if 'took' in r]
if took:
    print('%.1f s each in the mean, %.1f at most' % (sum(took) / len(took), max(took)))
