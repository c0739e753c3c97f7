#!/usr/bin/env python3
"""No sentence contradicts a number beside it: of every launch of the demo kernels, of the questions and of the kernels bound by one cause, what `run` and
`analyze` say in words against what their documents count. Prints TAP."""
import glob, json, os, re, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

program = os.path.abspath(sys.argv[1])
scratch = tempfile.TemporaryDirectory()
number = 0

def say(good, name, *detail):
    global number
    number += 1
    print('%sok %d - %s' % ('' if good else 'not ', number, name))
    for d in () if good else detail[:30]:
        print('#   ' + str(d))
    sys.stdout.flush()

def call(*words):
    return subprocess.run([program, *words], text=True, capture_output=True).stdout

class Case:
    def __init__(self, file, launch):
        self.name = '%s %s' % (os.path.basename(file), launch)
        words = (file, '-k', launch) if launch else (file,)
        session = os.path.join(scratch.name, re.sub(r'\W', '_', self.name) + '.json')
        self.text = call('run', *words, '-o', session)
        self.run = json.load(open(session))['runs'][0]['result']
        self.facts = json.loads(call('analyze', *words, '--json'))['kernels'][0]
        self.words = ' '.join(self.facts['evidence'])
        self.plain = call('analyze', *words, '--quick')
        self.count = {c['name']: c['value'] if c['valid'] else None for c in self.run['counters']}
        self.share = {l['what']: l['share'] for l in self.run['limits'] or []}
        self.filled = self.run['filled'] or {}
        self.edits = re.findall(r'^  (?:try|and): (.*)', self.text, re.M)
        self.all = ' '.join(l['why'] for l in self.run['limits'] or [])

    def near(self, text, value, least=0.0):
        """The figure of the text, of as many digits as it has."""
        digits = len(re.sub(r'^0+|e.*|\D', '', text)) or 1
        return abs(float(text) - value) <= max(abs(value) * 0.6 * 10 ** (1 - digits), least)

def launches():
    for ptx in sorted(glob.glob('kernels/*.ptx')):
        yield ptx, None
    for ptx in 'tests/questions/slow.ptx', 'tests/limits/bound.ptx':
        for l in json.load(open(ptx.replace('.ptx', '.launch.json')))['launches']:
            yield ptx, l['kernel']

with ThreadPoolExecutor(2) as pool:
    cases = list(pool.map(lambda p: Case(*p), list(launches())))

# a limit that is named has something to be: cause, the counter, from how much on
NEEDS = [('bank-conflicts', 'shared.extra_passes'), ('atomics', 'atomic.requests'), ('constant-replays', 'constant.extra_passes'),
         ('tensor', 'tensor.active'), ('local-memory', 'local.load_bytes')]
wrong = []
for c in cases:
    for cause, counter in NEEDS:
        if c.share.get(cause, 0) >= 0.01 and not (c.count.get(counter) or (counter == 'local.load_bytes' and c.count.get('local.store_bytes'))):
            wrong.append('%s: %s %.0f %%, %s is %s' % (c.name, cause, 100 * c.share[cause], counter, c.count.get(counter)))
say(not wrong, 'of %d launches, a limit that is named was counted' % len(cases), *wrong)

wrong = []
for c in cases:
    per, loads = c.count['l1.sectors_per_request'], [l for l in c.facts['loads'] if l['exact'] and l['exact']['requests']]
    if c.share.get('coalescing-load', 0) < 0.02 or not loads or per is None:
        continue
    least = max((l['exact']['sectors_per_request'] for l in loads), default=0)
    if least <= 4 and all(l['coalesce'] and l['coalesce']['degree'] == 1 for l in loads):
        wrong.append('%s: coalescing-load %.0f %%, every load is coalesced' % (c.name, 100 * c.share['coalescing-load']))
say(not wrong, 'loads that are all coalesced are not what limits', *wrong)

wrong = []
for c in cases:
    f = c.filled
    if not f:
        continue
    for ctas, used, sms in re.findall(r"the grid's (\d+) CTAs fill (\d+) of (\d+) SMs", c.text + c.all):
        if (int(ctas), int(used), int(sms)) != (round(f['ctas']), round(f['sms_used']), round(f['sms'])):
            wrong.append('%s: %s CTAs, %s of %s SMs; %s' % (c.name, ctas, used, sms, f))
    for room, most in re.findall(r'room for (\d+) of (\d+) warps', c.text + c.all):
        if (int(room), int(most)) != (round(f['warps_room']), round(f['warps_most'])):
            wrong.append('%s: room for %s of %s warps; %s' % (c.name, room, most, f))
    for none in re.findall(r'(\d+) SMs have no CTA', c.text):
        if int(none) != round(f['sms'] - f['sms_used']):
            wrong.append('%s: %s SMs without a CTA; %s' % (c.name, none, f))
    if 'fills the device' in c.text and f['sms_used'] < f['sms']:
        wrong.append('%s: fills the device; %s' % (c.name, f))
say(not wrong, 'CTAs, SMs and warps in words are those of the document', *wrong)

wrong = []
for c in cases:
    t, v = c.run['time_ns']['median'], lambda n: c.count.get(n) or 0
    for mb, where, rate in re.findall(r'([\d.e+]+) MB to and from (L2|device memory), (\d+) GB/s', c.text + c.all):
        total = (32 * (v('l2.read_sectors') + v('l2.write_sectors')) if where == 'L2' else v('dram.read_bytes') + v('dram.write_bytes'))
        if not c.near(mb, total / 1e6) or abs(float(rate) - total / t) > 1:
            wrong.append('%s: %s MB of %s at %s GB/s, counted %.3f MB, %.0f GB/s' % (c.name, mb, where, rate, total / 1e6, total / t))
    for per in re.findall(r'less sectors than needed: ([\d.]+) sectors a request|needed: ([\d.]+) sectors a request', c.text):
        if not c.near(next(p for p in per if p), v('l1.sectors_per_request')):
            wrong.append('%s: %s sectors a request, counted %s' % (c.name, per, v('l1.sectors_per_request')))
say(not wrong, 'bytes, rates and sectors in words are those that were counted', *wrong)

wrong = []
for c in cases:
    for name, text, percent in re.findall(r'^  (L2|DRAM)\s+(\S+ \S+) at most \S+ \S+, ([\d.]+) % of the time', c.text, re.M):
        kind = {'L2': 'l2-bandwidth', 'DRAM': 'dram-bandwidth'}[name]
        if c.share.get(kind, 0) > 0.5 and float(percent) < 15:
            wrong.append('%s: %s %.0f %%, and its peak is %s %% of the time' % (c.name, kind, 100 * c.share[kind], percent))
        if float(percent) > 85 and 'leave it alone' not in c.text and max(c.share.values()) != c.share.get(kind) and c.share.get('launch', 0) < 0.3 \
                and c.share.get(kind, 0) < 0.3:
            wrong.append('%s: %s is used %s %%, the limit is %s' % (c.name, name, percent, max(c.share, key=c.share.get)))
say(not wrong, 'a bandwidth that limits is used, and one that is used up limits', *wrong)

wrong = []
for c in cases:
    text = c.words
    r = c.facts['reuse']
    if r and c.facts['class'] == 'streaming' and re.search(r'read once', text) and r['by_sectors']['none'] < 0.5 and not re.search(r'again (by|inside)', text):
        wrong.append('%s: "%s", %.0f %% of the sectors come once' % (c.name, text[:120], 100 * r['by_sectors']['none']))
    for l in c.facts['loads']:
        e = l['exact']
        if e and e['requests'] and l['class'] == 'streaming' and re.search(r'read once(?! by this load)', l['evidence'] or ''):
            hit = next((x['l1_hit_sectors'] / x['sectors'] for x in c.run.get('loads', []) if x['line'] == l['line'] and x['sectors']), 0)
            if hit > 0.5 and not e.get('sampled'):
                wrong.append('%s line %s: "%s", %.0f %% of its sectors hit L1' % (c.name, l['line'], l['evidence'], 100 * hit))
say(not wrong, 'what is read once does not hit in L1', *wrong)

wrong = []
for c in cases:
    for most, figure in re.findall(r'(([\d.]+) expected)', c.plain):
        if float(figure) > 32:
            wrong.append('%s: %s sectors of a request' % (c.name, most))
    if c.facts['launch']['grid'] == [1, 1, 1] and c.facts['partition'].get('index') in ('row', 'column', 'tile'):
        wrong.append('%s: a partition for a grid of one CTA' % c.name)
say(not wrong, 'nothing above its maximum, no order for CTAs that are one', *wrong)

wrong = []
for c in cases:
    for e in c.edits:
        for threads in re.findall(r"(\d+) % of the launch's threads have no access", e):
            active = c.count['inst.thread'] / (32 * c.count['inst.warp']) if c.count['inst.warp'] else 1
            if int(threads) > 99.5 or (int(threads) > 60 and active > 0.95 and c.share.get('imbalance', 0) + c.share.get('launch', 0) < 0.2):
                wrong.append('%s: %s, active lanes %.0f %%' % (c.name, e, 100 * active))
        for apart, read in re.findall(r'(\d+) bytes apart in \w+ and read (\d+)', e):
            if not int(apart) > int(read):
                wrong.append('%s: %s' % (c.name, e))
        if e.startswith('leave it alone') and len([x for x in c.edits if 'leave it alone' not in x]):
            wrong.append('%s: leave it alone, and: %s' % (c.name, c.edits))
    if 'bank' in ' '.join(c.edits) and not c.count.get('shared.extra_passes'):
        wrong.append('%s: an edit against bank conflicts, which are none: %s' % (c.name, c.edits))
    if re.search(r'shared memory', c.text) and re.search(r'pitch of (\d+)', c.text) and not c.count.get('shared.passes'):
        wrong.append('%s: a pitch for shared memory that is not used' % c.name)
say(not wrong, 'edits go with what was counted', *wrong)

wrong = []
for c in cases:
    limit = re.search(r'^limits +(\S+), (\d+) %', c.text, re.M)
    roof = re.search(r'limited by (\S+)$', c.text, re.M)
    first = max((k for k in c.share if k != 'unknown'), key=c.share.get, default=None)
    if limit and (limit.group(1) != first or abs(float(limit.group(2)) - 100 * c.share[first]) > 1 or (roof and roof.group(1) != first)):
        wrong.append('%s: %s, roofline %s, document %s' % (c.name, limit.group(0), roof and roof.group(1), first))
say(not wrong, 'the first limit is one in text, roofline and document', *wrong)
print('1..%d' % number)
