#!/usr/bin/env python3
"""Slow kernels (tests/questions) and what `run` and `compare` say of each: questions.py PROGRAM slow|public|more (the later lists). Prints TAP."""
import json, os, re, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path[:0] = ['tests/questions', 'tests/tool']
from tap import done, say

program, which = os.path.abspath(sys.argv[1]), sys.argv[2]
FOLDER = 'tests/questions/'
if which == 'slow':
    from answers import ROWS
elif which == 'public':
    from public import LAST, LATER, THREADS
    ROWS = THREADS + LATER + LAST
else:
    from public import FIFTH, FOURTH
    which, ROWS = 'public', FOURTH + FIFTH

def call(*words):
    return subprocess.run([program, *words], text=True, capture_output=True)

def run(kernel):
    return call('run', FOLDER + which + '.ptx', '-k', kernel).stdout

def time_of(text):
    number, unit = re.search(r'^time +([0-9.]+) (µs|ms)', text, re.M).groups()
    return float(number) * (1 if unit == 'µs' else 1000)

def share_of(text, cause):
    found = re.search(r'^ +([0-9.]+) %% +%s\b' % cause, text, re.M)
    return float(found.group(1)) / 100 if found else 0

with ThreadPoolExecutor(2) as pool:
    names = [r.kernel for r in ROWS] + [r.kernel + '_fixed' for r in ROWS if r.gain]
    seen = dict(zip(names, pool.map(run, names)))

def answered(rows):
    return ['%s: %s' % (r.kernel, re.findall(r'^(?:note|limits|  try|  and).*', seen[r.kernel], re.M)) for r in rows
            if not re.search(r.answer, seen[r.kernel])]

def gains():
    wrong = []
    for r in ROWS:
        if r.gain:
            gain = time_of(seen[r.kernel]) / time_of(seen[r.kernel + '_fixed'])
            if gain < r.gain:
                wrong.append('%s: %.2fx, at least %.2fx' % (r.kernel, gain, r.gain))
    say(not wrong, 'what it says to write gains', *wrong)

def lines():
    source, wrong = open(FOLDER + which + '.cu').read().split('\n'), []
    for r in ROWS:
        for at in re.findall(r'(?:try|and): line (\d+): ', seen[r.kernel]):
            if int(at) > len(source): # of the PTX text, where it names no source
                continue
            head = max(i for i in range(int(at)) if re.search('__global__|__device__|KERNEL', source[i]))
            if r.kernel not in source[head] and '__device__' not in source[head]:
                wrong.append('%s: line %s is of %s' % (r.kernel, at, source[head]))
    say(len(wrong) <= 1, 'edits name lines of the kernel', *wrong)
    wrong = [r.kernel for r in ROWS if re.search(r'at most\)|confidence', seen[r.kernel])]
    say(not wrong, 'no gain is promised before a run', *wrong)
    wrong = ['%s: %s' % (r.kernel, t) for r in ROWS for t in re.findall(r'(?:try|and): (.*)', seen[r.kernel]) if len(t) > 245]
    say(not wrong, 'no edit is cut short', *wrong)

def falls():
    wrong = []
    for r in ROWS:
        if r.gain and r.cause:
            a, b = [share_of(seen[k], r.cause) * time_of(seen[k]) for k in (r.kernel, r.kernel + '_fixed')]
            if not b < 0.75 * a:
                wrong.append('%s: %s %.2f µs, then %.2f µs' % (r.kernel, r.cause, a, b))
    say(not wrong, 'and the limit that it is against falls', *wrong)

def page():
    """The times of docs/guide/slow-kernels.md."""
    wrong = []
    rows = re.findall(r'^\| `(\w+)` .* \| ([0-9.]+) \| ([0-9.]*) *\|$', open('docs/guide/slow-kernels.md').read(), re.M)
    for kernel, before, after in rows:
        for name, told in (kernel, before), (kernel + '_fixed', after):
            if told and name not in seen:
                seen[name] = run(name)
            if told and abs(time_of(seen[name]) / float(told) - 1) > 0.05:
                wrong.append('%s: %s µs, the page has %s' % (name, time_of(seen[name]), told))
    say(len(rows) == len(ROWS) and not wrong, 'the guide has the times of the %d kernels' % len(rows), *wrong)

def compares():
    with tempfile.TemporaryDirectory() as d:
        text = open(FOLDER + 'slow.ptx').read()
        launch = json.load(open(FOLDER + 'slow.launch.json'))
        one = next(dict(l) for l in launch['launches'] if l['kernel'] == 'histogram')
        one.update(ptx='a.ptx', format='gpulocw-launch', version=1)
        a, b = os.path.join(d, 'a.ptx'), os.path.join(d, 'b.ptx')
        cut = re.search(r'\.visible \.entry histogram\(.*?\n}\n', text, re.S).group(0)
        put = re.search(r'\.visible \.entry histogram_fixed\(.*?\n}\n', text, re.S).group(0).replace('histogram_fixed', 'histogram')
        open(a, 'w').write(text)
        open(b, 'w').write(re.sub(r'\.visible \.entry histogram_fixed\(.*?\n}\n', '', text.replace(cut, '\x00'), flags=re.S).replace('\x00', put))
        open(os.path.join(d, 'a.launch.json'), 'w').write(json.dumps(one))
        r = call('compare', a, b, '-k', 'histogram', '--json')
        k = json.loads(r.stdout)['kernels'][0] if r.stdout else {}
        say(r.returncode == 0 and k.get('outputs_equal') and k['gain'] > 5 and k['evidence'] and k['old']['first_limit'] == 'atomics',
            'compare: an edited kernel with the old launch, its gain and what changed', r.stderr, k.get('gain'), k.get('why'))
        say(bool(k) and 'atomics' in (k['why'] or '') and any(c['old'] != c['new'] for c in k['counters']) and len(k['lines']) > 0,
            'compare: why, counters and lines', k.get('why'))
        r = call('compare', b, a, '-k', 'histogram', '-l', os.path.join(d, 'a.launch.json'), '--fail-over', '10')
        say(r.returncode == 3 and 'slower' in r.stderr, 'compare --fail-over ends with 3 where it got slower', r.returncode, r.stderr)
        r = call('compare', a, a, '-k', 'histogram', '--fail-over', '0')
        say(r.returncode == 0 and 'equal' in r.stdout, 'compare of a text with itself changes nothing', r.returncode, r.stdout, r.stderr)
        call('run', a, '-k', 'histogram', '-o', os.path.join(d, 's.json'))
        call('run', b, '-k', 'histogram', '-l', os.path.join(d, 'a.launch.json'), '-o', os.path.join(d, 't.json'))
        r = call('compare', os.path.join(d, 's.json'), os.path.join(d, 't.json'), '--json')
        k = json.loads(r.stdout)['kernels'][0] if r.stdout else {}
        say(r.returncode == 0 and k.get('gain', 0) > 5, 'compare: two sessions', r.stderr)
        r = call('compare', a)
        say(r.returncode == 2, 'compare of one file is wrong usage', r.returncode)

if which == 'slow':
    wrong = answered(ROWS)
    say(not wrong, 'of %d slow kernels the answer is told in one command' % len(ROWS), *wrong)
    gains()
    falls()
    lines()
    page()
    compares()
else:
    known = [r for r in ROWS if r.wrong]
    right = [r for r in ROWS if not r.wrong]
    wrong = answered(right)
    say(not wrong and len(right) >= 0.9 * len(ROWS), 'of %d public threads run answers %d as they were answered there' % (len(ROWS), len(right)), *wrong)
    late = sorted(r.kernel for r in known if not answered([r]))
    say(not late, '%d others fall short, as their rows say' % len(known), 'now right: ' + ' '.join(late))
    gains()
    lines()
done()
