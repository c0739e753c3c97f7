#!/usr/bin/env python3
"""What limits a launch (tests/cli/limits.sh). Prints TAP."""
import glob, json, os, re, statistics, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path[:0] = ['tests/tool']
from tap import done, say

program = os.path.abspath(sys.argv[1])
scratch = tempfile.mkdtemp()
def run(*words):
    done = subprocess.run([program, 'run', *words, '--json'], text=True, capture_output=True)
    return json.loads(done.stdout)

def shares(r):
    return {x['what']: x['share'] for x in r['limits']}

def first(r):
    """The heaviest but for starting the launch, which small launches have most of."""
    return next(x['what'] for x in r['limits'] if x['what'] != 'launch')

launches = json.load(open('tests/limits/bound.launch.json'))['launches']
with ThreadPoolExecutor(2) as pool:
    names = [l['kernel'] for l in launches]
    bound = dict(zip(names, pool.map(lambda k: run('tests/limits/bound.ptx', '-k', k), names)))
    demos = sorted(glob.glob('kernels/*.ptx'))[::6]
    demo = dict(zip(demos, pool.map(lambda k: run(k), demos)))

causes = [n for n in names if not n.endswith('_not')]
wrong = ['%s: %s' % (n, {k: round(v, 3) for k, v in list(shares(bound[n]).items())[:3]}) for n in causes
         if (bound[n]['limits'][0]['what'] if n == 'launch' else first(bound[n])) != n.replace('_', '-')]
say(not wrong and len(causes) == 17, '%d kernels bound by one cause each have it first' % len(causes), *wrong)

wrong = []
for n in names:
    if n + '_not' in bound:
        cause, t, u = n.replace('_', '-'), bound[n]['time_ns']['median'], bound[n + '_not']['time_ns']['median']
        most = 1 / (1 - shares(bound[n])[cause])
        if not 1.2 < t / u or (shares(bound[n + '_not']).get(cause, 0) * u > 0.5 * shares(bound[n])[cause] * t):
            wrong.append('%s: %.2fx, at most %.2fx said' % (n, t / u, most))
say(not wrong, 'without its first limit a launch takes less time', *wrong)

every = {**bound, **demo}
wrong = [n for n, r in every.items() if abs(sum(shares(r).values()) - 1) > 0.001]
say(not wrong, 'shares add up to 1', *wrong)
unknown = [shares(r).get('unknown', 0) for r in every.values()]
say(statistics.median(unknown) <= 0.1 and max(unknown) <= 0.1,
    'what is unknown is little: %.3f in the median, %.3f at most' % (statistics.median(unknown), max(unknown)))
wrong = [n for n, r in every.items() for x in r['limits']
         if sum(w['share'] for w in x['where']) > x['share'] + 1e-4 or not x['why']]
say(not wrong, 'lines have no more than their cause', *wrong)

def agree(kernel):
    """What the document, its session's report and the workbench's panels say first."""
    session = os.path.join(scratch, os.path.basename(kernel) + '.json')
    text = subprocess.run([program, 'run', kernel, '-o', session], text=True, capture_output=True).stdout
    page = subprocess.run([program, 'report', session, '--format', 'md'], text=True, capture_output=True).stdout
    panels = subprocess.run([program, kernel, '--plain'], text=True, capture_output=True,
                            input=':run\nshow summary\nshow advice\nshow counters\nquit\n').stdout
    said = re.findall(r'^limits +([a-z0-9-]+),|limited by ([a-z0-9-]+)|What limits it +([a-z0-9-]+)|Limited by: ([a-z0-9-]+),',
                      text + page + panels, re.M)
    return [''.join(s) for s in said]

wrong = []
for k in demos[:3]:
    said, wanted = agree(k), demo[k]['limits'][0]['what']
    if len(said) < 6 or set(said) != {wanted}:
        wrong.append('%s: %s, limits: %s' % (k, ' '.join(said), wanted))
say(not wrong, 'run, report, roofline, Summary and advice say the same', *wrong)
done()
