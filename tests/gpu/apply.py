#!/usr/bin/env python3
"""Tuned kernels put into whole programs on a GPU: the table of docs/lab/live.md.

    tests/gpu/apply.py GPULOCW FOLDER

FOLDER gets what is made, and may hold valley, valley-rdc, valley-reg, extension.so, compiled elsewhere as `build`
below does; otherwise nvcc is needed. Programs whose framework is not there are left out, which is said."""
import glob, json, os, re, shutil, subprocess, sys

program, folder = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
here = os.path.dirname(os.path.abspath(__file__))
live = next(p for p in (os.path.join(here, '../live/gpu'), os.path.join(here, 'live')) if os.path.exists(p))
kernels = next(p for p in (os.path.join(here, '../../kernels'), folder) if os.path.exists(os.path.join(p, 'valley.cu')))
os.makedirs(folder, exist_ok=True)
os.environ['TRITON_CACHE_DIR'] = os.path.join(folder, 'triton')
os.environ['CUPY_CACHE_DIR'] = os.path.join(folder, 'cupy')

def at(name):
    return os.path.join(folder, name)

def run(*words, limit=60):
    try:
        return subprocess.run([str(w) for w in words], capture_output=True, text=True, timeout=limit, cwd=folder)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 124, '', 'longer than %d s' % limit)
    except OSError as e:
        return subprocess.CompletedProcess(words, 127, '', str(e))

def build(name, source, *flags):
    if not os.path.exists(at(name)):
        nvcc = shutil.which('nvcc') or '/usr/local/cuda/bin/nvcc'
        run(nvcc, '-gencode', 'arch=compute_90,code=[sm_90,compute_90]', '-I', kernels, *flags, '-o', at(name), os.path.join(live, source))
    return at(name)

def launch(name, kernel, grid, block, *args):
    json.dump({'format': 'gpulocw-launch', 'version': 1, 'kernel': kernel, 'grid': [grid, 1, 1], 'block': [block, 1, 1], 'shared': 0, 'args': list(args)},
              open(at(name), 'w'))
    return at(name)

def buffer(name, count, output=False):
    return {'name': name, 'buffer': 'f32', 'count': count, 'init': {'fill': 0} if output else {'random': [-1, 1], 'seed': 1}, 'output': output}

def number(name, v):
    return {'name': name, 's32': v}

valley = launch('valley.launch.json', 'valley', 528, 512, buffer('a', 17301504), buffer('out', 270336, True), number('rows', 64), number('passes', 8))
work = launch('work.launch.json', 'work', 1024, 256, buffer('p', 270336, True), buffer('q', 270336), number('n', 270336), number('r', 20))
rows = launch('rows.launch.json', 'rows', 528, 512, buffer('x', 17301504), buffer('y', 270336, True), number('passes', 8),
              {'name': 'g', 'u64': 0}, {'name': 'h', 'u64': 0})

def session(name, source, kernel, launch, *options):
    r = run(program, 'run', source, '-k', kernel, '--launch', launch, *options, '--no-counters', '--force', '-o', at(name))
    if r.returncode:
        print('no session %s: %s' % (name, r.stderr.strip()[:300]))
    return at(name)

def sums(text):
    return re.findall(r'sum \S+.*', text)

def row(title, tuned, *command, mode=('--whole',)):
    r = run(program, 'apply', tuned, *mode, '--json', '--', *command)
    at_ = r.stdout.find('{"format"')
    if at_ < 0:
        print('| %s | nothing: %s |' % (title, (r.stderr or r.stdout).strip().replace('\n', ' ')[-300:]))
        return
    d = json.loads(r.stdout[at_:])
    k, p = max(d['kernels'], key=lambda k: k['launches']), d['program']
    outputs = set(re.sub(r'loop_ms \S+', '', s) for s in sums(r.stdout[:at_]))
    us = lambda v: 'n/a' if v is None else '%.1f' % (v['median'] / 1e3)
    steady = 'n/a' if not k['tuned_steady_ns'] else '%.2fx' % (k['original_steady_ns']['median'] / k['tuned_steady_ns']['median'])
    gain = 'n/a' if not (k['original_ns'] and k['tuned_ns']) else '%.2fx' % (k['original_ns']['median'] / k['tuned_ns']['median'])
    def compared(key, expected):
        was, now, hoped = p[key % '_original'], p[key % ''], p[key % '_expected']
        return 'n/a' if not was else '%.1f → %.1f ms, %.2fx' % (was / 1e6, now / 1e6, was / now) + (
            ' (expected %s)' % ('%.2fx' % (was / hoped) if hoped else 'n/a') if expected else '')
    whole = compared('gpu%s_ns', True) + ' | ' + compared('gpu_span%s_ns', False)
    print('| %s | %d of %d%s | %s → %s | %s, %s | %s | %s | %s | %s | %s%s |' % (
        title, k['applied'], k['launches'], ' (%d replays)' % k['replays'] if k['replays'] else '', us(k['original_ns']), us(k['tuned_ns']), gain, steady,
        'n/a' if k['noise_percent'] is None else '%.1f %%' % k['noise_percent'], '%.0f %%' % (100 * k['share']) if k['share'] is not None else 'n/a',
        whole, 'n/a' if k['load_ns'] is None else '%.1f ms' % (k['load_ns'] / 1e6),
        'n/a' if k['per_launch_ns'] is None else '%.1f µs' % (k['per_launch_ns'] / 1e3),
        ', same output' if len(outputs) == 1 else ', outputs DIFFER: %s' % outputs))
    for s in k['skipped']:
        print('<!-- %s: %d launches: %s -->' % (title, s['launches'], s['why']))
    sys.stdout.flush()

def verified(title, tuned, *command):
    r = run(program, 'apply', tuned, '--verify', '2', '--json', '--', *command)
    at_ = r.stdout.find('{"format"')
    k = json.loads(r.stdout[at_:])['kernels'] if at_ >= 0 else []
    for k in k:
        if k['launches']:
            print('verified, %s: %d launches, %s; exit %d' % (title, k['verified'], {True: 'equal', False: 'differ', None: 'not compared'}[k['equal']], r.returncode))

print(run('nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader').stdout.strip())
print('| program | launches tuned | kernel, µs | gain, and behind its own kind | noise | share | all kernels | first kernel to last | load | host per launch, output |')
print('|---|---|---|---|---|---|---|---|---|---|')
p = ('--bypass', 'l1', '--pi', '7')
plain = build('valley-plain', 'valley_main.cu')
s = session('plain.json', plain, 'valley', valley, *p)
row('nvcc, static cudart', s, plain, 400)
row('the same by a CUDA graph', s, plain, 400, 'g')
rdc = build('valley-rdc', 'valley_main.cu', '-rdc=true')
row('nvcc -rdc=true', session('rdc.json', rdc, 'valley', valley, *p), rdc, 400)
reg = build('valley-reg', 'valley_main.cu', '-maxrregcount=32')
row('nvcc -maxrregcount=32', session('reg.json', reg, 'valley', valley, *p), reg, 400)
row('a kernel with 3 variables, no gain', session('work.json', plain, 'work', work, '--bypass', 'l1', '--pi', '2'), plain, 400, 'w')
python = sys.executable
if run(python, live + '/rows.py', 3).returncode == 0:
    ptx = glob.glob(at('triton/*/rows.ptx'))[0]
    row('Triton', session('rows.json', ptx, 'rows', rows, *p), python, live + '/rows.py', 300)
else:
    print('| Triton | is not here |')
ext = build('extension.so', 'extension.cu', '-shared', '-Xcompiler', '-fPIC')
row('PyTorch eager, own kernel in a library', session('ext.json', ext, 'valley', valley, *p), python, live + '/extension.py', ext, 300)
source = os.path.join(kernels, 'valley.cu')
text = run(program, 'rewrite', plain, '-k', 'valley', '--launch', valley, *p, '-o', at('raw.ptx'), '--force')
run(python, live + '/raw.py', source, 3)
row('CuPy RawKernel (no PTX: by name and parameters)', at('raw.ptx'), python, live + '/raw.py', source, 300)
verified('nvcc', s, plain, 60)
verified('with variables', at('work.json'), plain, 60, 'w')
wrong = open(at('raw.ptx')).read()
open(at('wrong.ptx'), 'w').write(re.sub(r'add(\.rn)?\.f32', r'sub\1.f32', wrong, count=1).replace('// written by gpulocw', ''))
verified('a wrong kernel', at('wrong.ptx'), plain, 60)
if run(python, live + '/compiled.py', 2).returncode == 0:
    names = [f for f in glob.glob(at('triton/*/triton_*softmax*.ptx')) + glob.glob(at('triton/*/triton_*.ptx'))]
    if names:
        run(program, 'rewrite', names[0], '--bypass', 'l1', '--pi', '0', '-o', at('compiled.ptx'), '--force')
        row('torch.compile, no gain', at('compiled.ptx'), python, live + '/compiled.py', 300, mode=())
    else:
        print('| torch.compile | no PTX in the cache |')
