#!/usr/bin/env python3
"""Live programs on a GPU, one command and one table: survey, capture, simulated outputs against the GPU's, tune, apply.

    tests/gpu/live.py GPULOCW FOLDER [--seconds 330] [--device cuda:0] [--only WORD,...] [--rows FILE] [--out FOLDER]

FOLDER gets what is made; the programs are compiled there by nvcc where they are not in it already. Captures run side by side, what is
timed runs alone. What does not end within --seconds is told as not reached. --out: each line of the table, and what the commands said,
is there as soon as it is known. --rows: other programs, as a JSON list of [title, name, command, kernel], for a trial without a GPU.
--optimize FILE: one JSON line of `optimize` for each instead, as public.py optimize writes them."""
import argparse, concurrent.futures, glob, json, os, re, shutil, statistics, subprocess, sys, time

here = os.path.dirname(os.path.abspath(__file__))
a = argparse.ArgumentParser()
a.add_argument('gpulocw'), a.add_argument('folder'), a.add_argument('--seconds', type=float, default=330)
a.add_argument('--device', default='cuda:0'), a.add_argument('--only', default=''), a.add_argument('--rows'), a.add_argument('--out'), a.add_argument('--optimize'), a.add_argument('--emulate', action='store_true')
a = a.parse_args()
program, folder, began = os.path.abspath(a.gpulocw), os.path.abspath(a.folder), time.time()
live, kernels = os.path.join(here, '../live/gpu'), os.path.join(here, '../../kernels')
at = lambda *n: os.path.join(folder, *n)
a.out, a.optimize = (f and os.path.abspath(f) for f in (a.out, a.optimize))
for f in filter(None, (at('home'), a.out)):
    os.makedirs(f, exist_ok=True)
env = dict(os.environ, HOME=at('home'), TRITON_CACHE_DIR=at('triton'), TORCHINDUCTOR_CACHE_DIR=at('inductor'), CUPY_CACHE_DIR=at('cupy'),
           XLA_PYTHON_CLIENT_PREALLOCATE='false', HF_HUB_OFFLINE='1', TOKENIZERS_PARALLELISM='false')
left = lambda: a.seconds - (time.time() - began)


def tell(line):
    print(line, flush=True)
    if a.out:
        with open(os.path.join(a.out, 'table.md'), 'a') as f:
            f.write(line + '\n')


def keep(name, text):
    for folder in filter(None, (at(), a.out)):
        open(os.path.join(folder, name), 'w').write(text)


def run(*words, limit=60, **more):
    limit = min(limit, left())
    if limit < 2:
        return subprocess.CompletedProcess(words, 125, '', 'not reached')
    try:
        return subprocess.run([str(w) for w in words], capture_output=True, text=True, errors='replace', timeout=limit, cwd=folder, env={**env, **more})
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 124, '', 'longer than %d s' % limit)
    except OSError as e:
        return subprocess.CompletedProcess(words, 127, '', str(e))


def document(r):
    i = re.search(r'^\{\s*"format"', r.stdout, re.M)
    try:
        return json.loads(r.stdout[i.start():]) if i else None
    except ValueError:
        return None


def said(r):
    lines = [l for l in (r.stderr or r.stdout).strip().splitlines() if l.strip()]
    return 'exit %d: %s' % (r.returncode, lines[-1][:110] if lines else 'nothing said')


def build():
    nvcc = shutil.which('nvcc') or '/usr/local/cuda/bin/nvcc'
    common = [nvcc, '-O2', '-gencode', 'arch=compute_90,code=[sm_90,compute_90]', '-I', kernels]
    jobs = [('valley', live + '/valley_main.cu', []), ('valley-rdc', live + '/valley_main.cu', ['-rdc=true']), ('loop', here + '/capture.cu', []),
            ('extension.so', live + '/extension.cu', ['-shared', '-Xcompiler', '-fPIC'])]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for name, r in [(n, pool.submit(run, *common, *more, '-o', at(n), src)) for n, src, more in jobs if not os.path.exists(at(n))]:
            if r.result().returncode:
                print('no %s: %s' % (name, said(r.result())))


def python(name, *args):
    return [sys.executable, os.path.join(live, name), *map(str, args)]


def rows():
    if a.rows:
        return [(t, n, c, c, k, {}) for t, n, c, k in json.load(open(a.rows))]
    # XLA tries several codes for a fusion and may choose another in the next process: then the image is not the one that was tuned.
    xla = {'XLA_FLAGS': '--xla_gpu_autotune_level=0 --xla_dump_to=' + at('xla')}
    # title, name, command that is captured, command that is tuned, kernel, environment
    return [('nvcc, static cudart', 'nvcc', [at('valley'), 3], [at('valley'), 400], 'valley', {}),
            ('nvcc -rdc=true', 'rdc', [at('valley-rdc'), 3], [at('valley-rdc'), 400], 'valley', {}),
            ('nvcc, a kernel with 3 variables', 'variables', [at('valley'), 3, 'w'], [at('valley'), 400, 'w'], 'work', {}),
            ('nvcc, CUDA graph', 'graph', [at('valley'), 20, 'g'], [at('valley'), 400, 'g'], 'valley', {}),
            ('PyTorch eager, own kernel', 'eager', python('extension.py', at('extension.so'), 3), python('extension.py', at('extension.so'), 300), 'valley', {}),
            ('Triton', 'triton', python('rows.py', 3), python('rows.py', 300), 'rows', {}),
            ('torch.compile', 'compile', python('compiled.py', 30), python('compiled.py', 300), 'triton', {}),
            ('torch.compile, a transformer', 'transformer', python('transformer.py', 2), python('transformer.py', 30), 'layer_norm', {}),
            ('CuPy RawKernel', 'cupy', python('raw.py', kernels + '/valley.cu', 3), python('raw.py', kernels + '/valley.cu', 300), 'valley', {}),
            ('JAX', 'jax', python('jitted.py', 30), python('jitted.py', 300), 'fusion', xla)]


def capture(row):
    title, name, command, _, kernel, more = row
    shutil.rmtree(at('captured', name), ignore_errors=True)
    t = time.time()
    r = run(program, 'capture', '--json', '--max-bytes', '512M', '-o', at('captured', name), '-k', kernel, '--', *command, limit=150, **more)
    keep(name + '.capture.txt', r.stdout + r.stderr)
    return r, document(r), time.time() - t


def survey_text(d):
    with_ptx = [k for k in d['kernels'] if k['ptx']]
    return '%d kernels, %d with PTX, %.0f %%' % (len(d['kernels']), len(with_ptx), 100 * sum(k['share'] for k in with_ptx))


def capture_text(f):
    equal = {'equal': 'equal', 'close': 'within %.1g' % (f['relative_difference'] or 0), 'differ': '%d bytes DIFFER' % f['differing_bytes']}
    return '%.1f of %.1f MB' % (f['data_bytes'] / 1e6, f['trimmed_from'] / 1e6), equal.get(f['outputs'], 'not simulated')


def tune(name, ptx):
    session, t = at(name + '.session.json'), time.time()
    r = run(program, 'tune', ptx, '--device', a.device, '--budget-seconds', 8, '--prove', 'quick', '--no-counters', '--time-limit', 5, '--apply', '--force', '--json', '-o', session, limit=45)
    keep(name + '.tune.txt', r.stdout + r.stderr)
    return session, r, time.time() - t


def apply(tuned, command, mode, more):
    r = run(program, 'apply', tuned, *mode, '--json', '--', *command, limit=75, **more)
    d = document(r)
    ks = d['kernels'] if d else []
    return r, d, max(ks, key=lambda k: k['applied'] + k.get('in_graphs', 0), default=None)


# What a kernel gets that `tune` leaves alone, so that something is put back all the same: the first that is legal.
TRIALS = [('--bypass', 'l1', '--pi', 1), ('--readonly', 'promote'), ('--bypass-op', 'evict_first', '--bypass', 'l1', '--pi', 1),
          ('--prefetch', 'l2'), ('--cluster', 'redirect'), ('--maxnreg', 128)]


def us(v):
    return 'n/a' if not v else '%.1f' % (v['median'] / 1e3)


def apply_cells(r, d, k):
    if not k:
        return ['nothing: ' + said(r), '', '', '']
    p, outputs = d['program'], set(re.sub(r'loop_ms \S+', '', s) for s in re.findall(r'sum \S+.*', r.stdout))
    was, now, hoped = p['gpu_original_ns'] if 'gpu_original_ns' in p else None, p.get('gpu_ns'), p.get('gpu_expected_ns')
    whole = 'n/a' if not was or not now else '%.2fx (expected %s)' % (was / now, '%.2fx' % (was / hoped) if hoped else 'n/a')
    span = p.get('gpu_span_original_ns'), p.get('gpu_span_ns')
    whole += ', %.2fx' % (span[0] / span[1]) if all(span) else ', n/a'
    why = '; '.join('%d: %s' % (s['launches'], s['why'][:60]) for s in k['skipped'])
    return ['%d of %d%s%s' % (k['applied'], k['launches'], ', %d replays' % k['replays'] if k['replays'] else '', ' (' + why + ')' if why else ''),
            '%s → %s' % (us(k['original_ns']), us(k['tuned_ns'])), whole,
            '%s, %s, output %s' % ('n/a' if k['load_ns'] is None else '%.1f ms' % (k['load_ns'] / 1e6), 'n/a' if k['per_launch_ns'] is None else '%.1f µs' % (k['per_launch_ns'] / 1e3),
                                   'same' if len(outputs) == 1 else 'DIFFERS' if outputs else 'n/a')]


def one(row, captured):
    title, name, _, command, kernel, more = row
    r, d, took = captured
    if not d or 'kernels' not in d: # a command that fails prints its diagnostics as a document
        return [title, 'failed: ' + (said(r) if not d else '; '.join(x.get('message', '?') for x in d.get('diagnostics', []))[:200])]
    have = [k for k in d['kernels'] if k['files']]
    cells = [title, survey_text(d)]
    if not have:
        why = [k['not_captured'] for k in d['kernels'] if k['not_captured']]
        return cells + ['not captured: %s' % (why[0] if why else 'no kernel called ' + kernel)]
    best = max(have, key=lambda k: k['time_ns'])
    cells += ['%s: %s (%.0f s)' % (best['readable'][:28], capture_text(best['files'])[0], took), capture_text(best['files'])[1]]
    ptx = at('captured', name, best['files']['ptx'])
    session, t, took = tune(name, ptx)
    p = document(t) or {}
    p = p if 'leave_alone' in p else {}
    if not p:
        cells.append(said(t))
    elif not p['leave_alone']:
        cells.append('%.2fx alone: %s (%.0f s)' % (p['gain'], p['options_line'], took))
    if not p or p['leave_alone']: # something that can be put back all the same
        for given in TRIALS:
            other = run(program, 'run', ptx, '--device', a.device, *given, '--no-counters', '--force', '-o', session)
            if not other.returncode:
                run(program, 'rewrite', ptx, *given, '--force', '-o', ptx[:-4] + '.tuned.ptx')
                break
        if p:
            cells.append('leave alone; given %s (%.0f s)' % (' '.join(map(str, given)), took) if not other.returncode else 'leave alone; no trial is legal: ' + said(other))
    mode = ('--whole',) if left() > 75 else ()
    r, d, k = apply(session, command, mode, more)
    tuned = ptx[:-4] + '.tuned.ptx'
    if os.path.exists(tuned) and (not k or not (k['applied'] or k.get('in_graphs'))):
        alone = at(name + '.alone', os.path.basename(tuned)) # without the original beside it: by name and parameters
        os.makedirs(os.path.dirname(alone), exist_ok=True)
        for f in glob.glob(ptx[:-4] + '.tuned.*'):
            shutil.copy(f, os.path.dirname(alone))
        r2, d2, k2 = apply(alone, command, mode, more)
        if k2 and k2['applied']:
            r, d, k = r2, d2, k2
            cells[-1] += ', applied by name'
    keep(name + '.apply.txt', r.stdout + r.stderr)
    return cells + apply_cells(r, d, k)


def overhead():
    out = []
    for title, command, rounds in (('400 launches of 120 µs', [at('valley'), 400], 7), ('100,000 launches of 5 µs', [at('loop'), 'loop', 100000, 10], 7)):
        took = {False: [], True: []}
        for i in range(2 * rounds):
            survey = i % 4 in (1, 2) # without, with, with, without
            r = run(program, 'capture', '--list', '--', *command) if survey else run(*command)
            m = re.search(r'loop_ms ([0-9.]+)', r.stdout)
            if m:
                took[survey].append(float(m.group(1)))
        if took[False] and took[True]:
            x, y = (statistics.median(took[s]) for s in (False, True))
            spread = lambda v: '%.1f (%.1f to %.1f)' % (statistics.median(v), min(v), max(v))
            out.append('| survey of %s | %s ms without | %s ms with | %+.1f %% |' % (title, spread(took[False]), spread(took[True]), 100 * (y / x - 1)))
        else:
            out.append('| survey of %s | not measured: %s |' % (title, said(r)))
        tell(out[-1])
    return out


def optimize():
    for title, name, _, command, _, more in ROWS:
        t = time.time()
        r = run(program, 'optimize', *(['--emulate'] if a.emulate else []), '--json', '--aside', '--seconds', 8, '-o', at('optimized', name), '--', *command, limit=75, **more)
        row = {'program': title, 'seconds': round(time.time() - t, 1), 'document': document(r)}
        with open(a.optimize, 'a') as f:
            f.write(json.dumps(row if row['document'] else {**row, 'error': said(r)}) + '\n')


if not a.rows:
    gpu = run('nvidia-smi', '--query-gpu=name,driver_version', '--format=csv,noheader')
    if gpu.returncode:
        sys.exit('no GPU here: ' + said(gpu))
    tell(gpu.stdout.strip() + '\n')
    build()
ROWS = [r for r in rows() if not a.only or r[1] in a.only.split(',')]
if a.optimize:
    optimize()
    sys.exit()
table = [] if a.rows or a.only else overhead()
with concurrent.futures.ThreadPoolExecutor(len(ROWS)) as pool:
    captured = list(pool.map(capture, ROWS))
print('captures: %.0f s after the start' % (time.time() - began), flush=True)
head = ['program', 'survey: with PTX, of the time', 'captured, of what is in reach', 'simulated outputs', 'tuned', 'launches', 'kernel, µs', 'all kernels; first to last', 'load, per launch, output']
for line in ('', '| ' + ' | '.join(head) + ' |', '|---' * len(head) + '|'):
    tell(line)
    table.append(line)
for row, c in zip(ROWS, captured):
    try:
        cells = one(row, c)
    except Exception as e: # one program's surprise is not the others'
        cells = [row[0], 'the script failed: %r' % e]
    table.append('| ' + ' | '.join(str(c).replace('\n', ' ') for c in cells + [''] * (len(head) - len(cells))) + ' |')
    tell(table[-1])
print('\n%.0f s\n' % (time.time() - began))
print('\n'.join(table))
