#!/usr/bin/env python3
"""The table of docs/lab/live.md: programs as people run them, surveyed and captured on a GPU, and what the survey costs.

capture.py GPULOCW WORK [PROGRAMS [captures|loops]]: PROGRAMS has `plain` and `rdc`, built from capture.cu, where there is no nvcc; the last
word asks for one of the two tables alone."""
import json, os, shutil, statistics, subprocess, sys

TRITON = '''
import torch, triton, triton.language as tl
@triton.jit
def softmax(out, inp, n, B: tl.constexpr):
    r = tl.program_id(0); o = tl.arange(0, B); m = o < n
    x = tl.load(inp + r * n + o, mask=m, other=-float('inf'))
    e = tl.exp(x - tl.max(x, 0)); tl.store(out + r * n + o, e / tl.sum(e, 0), mask=m)
@triton.jit
def mm(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    pm = tl.program_id(0); pn = tl.program_id(1); rm = pm * BM + tl.arange(0, BM); rn = pn * BN + tl.arange(0, BN); rk = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc += tl.dot(tl.load(a + rm[:, None] * K + (k + rk)[None, :]), tl.load(b + (k + rk)[:, None] * N + rn[None, :]))
    tl.store(c + rm[:, None] * N + rn[None, :], acc)
torch.manual_seed(1); x = torch.randn(512, 1000, device='cuda'); y = torch.empty_like(x)
for i in range(4): softmax[(512,)](y, x, 1000, B=1024)
a = torch.randn(256, 256, device='cuda', dtype=torch.float16); b = torch.randn(256, 256, device='cuda', dtype=torch.float16); c = torch.empty(256, 256, device='cuda')
mm[(4, 4)](a, b, c, 256, 256, 256, BM=64, BN=64, BK=32)
torch.cuda.synchronize()
'''
COMPILE = '''
import torch
@torch.compile
def f(x, w): return torch.nn.functional.gelu(torch.nn.functional.layer_norm(x, (x.shape[-1],)) * w).sum(-1)
torch.manual_seed(1); x = torch.randn(256, 512, device='cuda'); w = torch.randn(512, device='cuda')
for i in range(3): y = f(x, w)
torch.cuda.synchronize()
'''
EAGER = '''
import torch
x = torch.rand(1024, 1024, device='cuda')
for i in range(3): y = torch.softmax(x, 1)
torch.cuda.synchronize()
'''
CUPY = r"""
import cupy as cp
k = cp.RawKernel(r'''extern "C" __global__ void axpy(const float *x, float *y, float a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i]; }''', 'axpy')
x = cp.arange(100000, dtype='f'); y = cp.ones(100000, 'f')
for i in range(3): k((391,), (256,), (x, y, cp.float32(2), cp.int32(100000)))
cp.cuda.Device().synchronize()
"""
JAX = '''
import jax, jax.numpy as jnp
f = jax.jit(lambda x: jnp.tanh(x * 2 + 1).sum(axis=1)); x = jnp.arange(65536.0).reshape(256, 256) / 65536
for i in range(3): y = f(x)
y.block_until_ready()
'''
gpulocw, work = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
programs = os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 else work
here = os.path.dirname(os.path.abspath(__file__))
os.makedirs(work, exist_ok=True)
if len(sys.argv) < 4:
    for name, more in (('plain', []), ('rdc', ['-rdc=true'])):
        subprocess.run(['nvcc', '-O2', '-gencode', 'arch=compute_90,code=[sm_90,compute_90]', *more, '-o', f'{work}/{name}', f'{here}/capture.cu'], check=True)
env = dict(os.environ, HOME=f'{work}/home', TRITON_CACHE_DIR=f'{work}/triton', TORCHINDUCTOR_CACHE_DIR=f'{work}/inductor',
           CUPY_CACHE_DIR=f'{work}/cupy', XLA_PYTHON_CLIENT_PREALLOCATE='false', XLA_FLAGS=f'--xla_dump_to={work}/xla')
os.makedirs(f'{work}/home', exist_ok=True)


def python(name, text):
    path = f'{work}/run_{name}.py' # a script named as a module that it imports would be that module
    open(path, 'w').write(text)
    return [sys.executable, path]


ROWS = [('nvcc, static cudart', 'plain', [f'{programs}/plain'], ['-k', 'scale', '-k', 'gather', '-k', 'table', '-k', 'clus', '-k', 'ex']),
        ('the same, pointers in memory and shared memory', 'memory', [f'{programs}/plain'], ['-k', 'rows', '-k', 'dyn']),
        ('relocatable device code', 'rdc', [f'{programs}/rdc'], ['-k', 'gather', '-k', 'rows']),
        ('CUDA graph', 'graph', [f'{programs}/plain', 'graph'], ['-k', 'scale', '-k', 'gather']),
        ('Triton', 'triton', python('triton', TRITON), ['-k', 'softmax', '-k', 'mm']),
        ('torch.compile', 'compile', python('compile', COMPILE), ['-k', 'triton']),
        ('PyTorch eager', 'eager', python('eager', EAGER), ['-k', 'softmax']),
        ('CuPy RawKernel', 'cupy', python('cupy', CUPY), ['-k', 'axpy']),
        ('JAX', 'jax', python('jax', JAX), ['-k', 'tanh'])]
part = sys.argv[4] if len(sys.argv) > 4 else ''
if part == 'loops':
    ROWS = []
print('| program | kernel | kept of what is in reach | simulated outputs against the GPU\'s |\n|---|---|---|---|')
for title, name, command, options in ROWS:
    shutil.rmtree(f'{work}/cap/{name}', ignore_errors=True)
    r = subprocess.run([gpulocw, 'capture', '--max-bytes', '256M', '-o', f'{work}/cap/{name}', *options, '--', *command],
                       env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=100)
    open(f'{work}/{name}.txt', 'wb').write(r.stdout)
    try:
        kernels = json.load(open(f'{work}/cap/{name}/capture.json'))['kernels']
    except OSError:
        print(f'| {title} | | | failed, exit {r.returncode} |')
        continue
    for k in kernels:
        f = k['files']
        if f:
            said = {'equal': 'equal', None: f"not simulated: {k['not_captured']}", 'differ': f"differ in {f['differing_bytes']} bytes"}.get(
                f['outputs'], f"within {f['relative_difference']} (relative)")
            print(f"| {title} | {k['readable'][:60]} | {f['data_bytes'] / 1e6:.3f} of {f['trimmed_from'] / 1e6:.3f} MB | {said} |")
        elif k['not_captured']:
            print(f"| {title} | {k['readable'][:60]} | | not captured: {k['not_captured']} |")
    sys.stdout.flush()
if part == 'captures':
    sys.exit()
print('\n| loop | without (ms) | with the survey (ms) | more |\n|---|---|---|---|')
for title, args in (('400 launches of 120 us', ['loop', '400', '80']), ('100,000 launches of 5 us', ['loop', '100000', '10'])):
    took = {False: [], True: []}
    for i in range(7):
        for survey in (False, True):
            command = [f'{programs}/plain', *args]
            out = subprocess.run([gpulocw, 'capture', '--list', '--', *command] if survey else command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode()
            took[survey].append(float(out.split('loop_ms')[1].split()[0]))
    a, b = statistics.median(took[False]), statistics.median(took[True])
    spread = lambda v: f'{statistics.median(v):.1f} ({min(v):.1f} to {max(v):.1f})'
    print(f'| {title} | {spread(took[False])} | {spread(took[True])} | {100 * (b / a - 1):.1f} % |')
