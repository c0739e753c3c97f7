"""Generated kernels under --coarsen-mode vector: outputs are the original's. usage: vector.py GPULOCW FOLDER [SEEDS]; prints TAP.

Each thread writes elements of its own; what differs is types, strides, offsets, loops over rows, guards, branches by data, and pointers that are
not aligned. A kernel that is accepted runs with 2, 4 and 8 threads side by side."""
import json, os, random, subprocess, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../tool'))
from tap import done, say

exe, tmp, seeds = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 60
HEAD = '''.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 o, .param .u32 n, .param .u32 pitch, .param .u32 start)
{
.reg .pred %p<20>; .reg .b16 %h<40>; .reg .b32 %r<80>; .reg .b64 %d<80>; .reg .f32 %f<40>;
ld.param.u64 %d1, [a]; ld.param.u64 %d2, [o]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [pitch]; ld.param.u32 %r3, [start];
mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x; mad.lo.s32 %r7, %r4, %r5, %r6; mov.u32 %r8, %ctaid.y;
'''
BYTES = {'u8': 1, 's8': 1, 'u16': 2, 'b32': 4, 'f32': 4, 'b64': 8}


class Kernel:
    def __init__(self, seed):
        self.r = random.Random(seed)
        self.text, self.reg = [], {'r': 20, 'd': 20, 'h': 5, 'f': 5, 'p': 5}
        self.type = self.r.choice(['f32', 'f32', 'b32', 'b32', 'u8', 's8', 'u16', 'b64'])
        self.stride = self.r.choice([1, 1, 1, 2, 3, 4])       # elements from thread to thread
        self.size = BYTES[self.type]
        self.rows = self.r.random() < 0.4
        self.body()

    def new(self, kind):
        self.reg[kind] += 1
        return '%%%s%d' % (kind, self.reg[kind])

    def put(self, text, *args):
        self.text.append(text % args if args else text.replace('%%', '%'))

    def address(self, base, index, scale):
        """base + index * scale, as compilers write it."""
        d, e = self.new('d'), self.new('d')
        how = self.r.randrange(4)
        if how == 0:
            self.put('mul.wide.s32 %s, %s, %d; add.s64 %s, %s, %s;', e, index, scale, d, base, e)
        elif how == 1:
            self.put('cvt.s64.s32 %s, %s; mul.lo.s64 %s, %s, %d; add.s64 %s, %s, %s;', e, index, e, e, scale, d, e, base)
        elif how == 2:
            self.put('mad.wide.u32 %s, %s, %d, %s;', d, index, scale, base)
        else:
            t = self.new('r')
            self.put('mul.lo.s32 %s, %s, %d; cvt.s64.s32 %s, %s; add.s64 %s, %s, %s;', t, index, scale, e, t, d, base, e)
        return d

    def value(self):
        return self.new('d' if self.type == 'b64' else self.r.choice('rh') if self.size < 4 else 'f' if self.type == 'f32' else 'r')

    def as_word(self, v):
        w = self.new('r')
        self.put({'d': 'cvt.u32.u64 %s, %s;', 'h': 'cvt.u32.u16 %s, %s;', 'f': 'mov.b32 %s, %s;', 'r': 'mov.b32 %s, %s;'}[v[1]], w, v)
        return w

    def as_value(self, w):
        v = self.value()
        if v[1] == 'f':
            self.put('and.b32 %s, %s, 0x3fffffff;', w, w)
        self.put({'d': 'cvt.u64.u32 %s, %s;', 'h': 'cvt.u16.u32 %s, %s;', 'f': 'mov.b32 %s, %s;', 'r': 'mov.b32 %s, %s;'}[v[1]], v, w)
        return v

    def load(self, d, at):
        v = self.value()
        self.put('ld.global.%s %s, [%s+%d];', self.type, v, d, at * self.size)
        return self.as_word(v)

    def body(self):
        r = self.r
        self.put('add.s32 %%r9, %%r7, %%r3; mad.lo.s32 %%r10, %%r8, %%r2, %%r9;')
        if r.random() < 0.5:
            self.put('setp.ge.s32 %%p1, %%r7, %%r1; @%%p1 ' + r.choice(['bra END;', 'ret;']))
        index = self.new('r')
        self.put('mul.lo.s32 %s, %%r10, %d;', index, self.stride) if self.stride > 1 else self.put('mov.b32 %s, %%r10;', index)
        a = self.address('%d1', index, self.size)
        sum_ = self.new('r')
        self.put('mov.b32 %s, 7;', sum_)
        if self.rows:
            step, count, p = self.new('d'), self.new('r'), self.new('p')
            self.put('mul.wide.s32 %s, %%r2, %d; mov.b32 %s, 0;', step, self.size * r.choice([1, self.stride]), count)
            self.put('LOOP:')
        for _ in range(r.randrange(1, 5)):
            w = self.load(a, r.randrange(-2, 6))
            if r.random() < 0.3:
                q = self.new('p')
                self.put('setp.gt.u32 %s, %s, 50; @%s add.u32 %s, %s, 3;', q, w, q, sum_, sum_)
            self.put('mad.lo.u32 %s, %s, %d, %s;', sum_, sum_, r.choice([3, 5, 31]), w)
        if self.rows:
            self.put('add.s64 %s, %s, %s; add.s32 %s, %s, 1; setp.lt.s32 %s, %s, %d; @%s bra LOOP;', a, a, step, count, count, p, count, r.randrange(1, 5), p)
        o = self.address('%d2', index, self.size)
        inside = r.random() < 0.3
        if inside:
            self.put('and.b32 %%r11, %s, 1; setp.eq.u32 %%p2, %%r11, 1; @%s%%p2 bra SKIP;' % (sum_, r.choice(['', '!'])))
        for k in r.sample(range(self.stride), r.randrange(1, self.stride + 1)):
            w = self.new('r')
            self.put('add.u32 %s, %s, %d;', w, sum_, k)
            self.put('st.global.%s [%s+%d], %s;', self.type if self.type != 's8' else 'u8', o, k * self.size, self.as_value(w))
            if r.random() < 0.3:
                self.put('add.u32 %s, %s, %s;', sum_, sum_, self.load(self.address('%d2', index, self.size), k)) # what was just written
        if inside:
            self.put('SKIP:')
            self.put('add.u32 %s, %s, 1;', sum_, sum_)
        if r.random() < 0.3:
            self.put('mul.wide.s32 %%d3, %%r10, 4; add.s64 %%d3, %%d2, %%d3; and.b64 %%d3, %%d3, -4; red.global.add.u32 [%%d3+131072], %s;', sum_)
        self.put('END:')
        self.put('ret;')

    def launch(self):
        r = self.r
        byte = lambda name, shift: [{'name': name + 's', 'buffer': 'u8', 'count': 393216, 'init': {'random': [0, 99], 'seed': r.randrange(1000)}, 'output': name == 'o'}]
        block, ctas = r.choice([32, 64, 96, 128, 160]), r.randrange(1, 6)
        shift = lambda: self.size * r.choice([0, 0, 0, 4, 1, 3, 8])
        return {'format': 'gpulocw-launch', 'version': 1, 'kernel': 'k', 'grid': [ctas, r.choice([1, 1, 3]), 1], 'block': [block, 1, 1],
                'buffers': byte('a', 0) + byte('o', 0),
                'args': [{'name': 'a', 'same_as': 'as', 'offset': 64 + shift()}, {'name': 'o', 'same_as': 'os', 'offset': 64 + shift()},
                         {'name': 'n', 's32': r.choice([ctas * block, ctas * block - r.randrange(0, 40)])}, {'name': 'pitch', 's32': ctas * block + r.choice([0, 0, 4, 16, 7])},
                         {'name': 'start', 's32': r.choice([0, 0, 0, 4, 1, 3])}]}


def requests(d):
    return next((c['value'] for c in d['counters'] if c['name'] == 'l1.requests'), None)


def judge(seed, tally):
    k = Kernel(seed)
    open(tmp + '/k.ptx', 'w', encoding='utf-8').write(HEAD + '\n'.join(k.text) + '\n}\n')
    json.dump(k.launch(), open(tmp + '/k.launch.json', 'w', encoding='utf-8'))
    run = [exe, 'run', tmp + '/k.ptx', '-d', 'sim:hopper-h200', '--exact', '--json']
    first = subprocess.run(run, capture_output=True, text=True, timeout=120)
    if first.returncode:
        return 'seed %d does not run: %s' % (seed, first.stderr[-200:])
    before = json.loads(first.stdout)
    for lanes in (2, 4, 8):
        r = subprocess.run(run + ['--coarsen', str(lanes), '--coarsen-mode', 'vector', '--prove', 'full'], capture_output=True, text=True, timeout=120)
        if r.returncode == 3:
            tally['refused'] += 1
            continue
        if r.returncode:
            return 'seed %d with %d lanes ended with %d: %s' % (seed, lanes, r.returncode, (r.stdout + r.stderr)[-300:])
        after = json.loads(r.stdout)
        tally['accepted'] += 1
        tally['fewer'] += requests(after) < requests(before)
    return None


tally = {'accepted': 0, 'refused': 0, 'fewer': 0}
wrong = [w for w in (judge(seed, tally) for seed in range(seeds)) if w]
say(not wrong, '%d generated kernels: outputs are the original\'s where threads stand side by side%s' % (seeds, ': ' + '; '.join(wrong[:3]) if wrong else ''))
say(tally['accepted'] > seeds, 'more than a third is accepted (%(accepted)d; %(refused)d refused)' % tally)
say(tally['fewer'] > tally['accepted'] // 3, 'more than a third of those ask L1 less often (%(fewer)d)' % tally)
done()
