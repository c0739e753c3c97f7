#!/usr/bin/env python3
"""What `tune` gains on a GPU for kernels that nobody fitted (tests/suites): tests/gpu/gain.py GPULOCW [-d cuda:0] [--half held-out]
[--seconds 7] [--total 500] [--only KERNEL,...] [-o FILE.jsonl]

Each kernel is searched for --seconds, by default options otherwise; what is not begun within --total is told. A gain is of whole launches, original and
best measured in turns at the end; "leave it alone" counts as 1. One line a kernel, then the geometric mean."""
import argparse, json, math, os, subprocess, sys, tempfile, time
here = os.path.dirname(os.path.abspath(__file__))
SUITES = os.path.join(here, '../suites')
sys.path.insert(0, SUITES)
import suites

p = argparse.ArgumentParser()
p.add_argument('gpulocw'), p.add_argument('-d', '--device', default='cuda:0'), p.add_argument('--half', default='both')
p.add_argument('--seconds', type=float, default=7), p.add_argument('--total', type=float, default=1e9), p.add_argument('-o', '--output'), p.add_argument('--only', default='')
a = p.parse_args()
began, gains = time.time(), []


def search(suite, kernel):
    """The document of one search; None: why, as a text."""
    with tempfile.TemporaryDirectory() as folder:
        r = subprocess.run([a.gpulocw, 'tune', os.path.join(SUITES, suite + '.ptx'), '-k', kernel, '-d', a.device, '--budget-seconds', str(a.seconds),
                            '--time-limit', '5', '--json', '-o', os.path.join(folder, 's.json')],
                           capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    try:
        d = json.loads(r.stdout)
    except ValueError:
        d = {}
    return d if d.get('format') == 'gpulocw-tune' else {'why': (r.stderr.strip().splitlines() or ['exit %d' % r.returncode])[-1]}


for suite, kernel, half in suites.rows():
    if a.half not in ('both', half) or (a.only and kernel not in a.only.split(',')):
        continue
    if time.time() - began > a.total:
        print('%-8s %-18s not reached' % (suite, kernel))
        continue
    try:
        d = search(suite, kernel)
    except subprocess.TimeoutExpired:
        d = {'why': 'longer than 120 s'}
    if 'why' in d:
        print('%-8s %-18s failed: %s' % (suite, kernel, d['why'][:100]), flush=True)
        continue
    gain = 1.0 if d['leave_alone'] else d['gain']
    gains.append(gain)
    print('%-8s %-18s %5.2fx  %s' % (suite, kernel, gain, d['options_line'] or 'leave it alone'), flush=True)
    if a.output:
        with open(a.output, 'a') as f:
            f.write(json.dumps({'suite': suite, 'kernel': kernel, 'half': half, 'gain': gain, 'options': d['options_line'], 'launches': d['launches']}) + '\n')
if gains:
    print('%s, %d kernels: geometric mean %.3fx, %d gain more than 5 %%, best %.2fx' % (a.half, len(gains), math.exp(sum(map(math.log, gains)) / len(gains)),
          sum(g > 1.05 for g in gains), max(gains)))
