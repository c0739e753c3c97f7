#!/usr/bin/env python3
"""The clients of the driver's interface under emulation: python3 tests/gpu/clients.py GPULOCW [CLIENT...] [--python PYTHON] [--gpu]

Runs small tests of CuPy, Numba, PyCUDA, tinygrad, Triton and the project's C programs, each by `gpulocw emulate --json`, and prints a table
in Markdown: passed, refused and why. A GPU of the machine is not used: a test counts only when its kernels are in the emulation's document
(CUDA_VISIBLE_DEVICES is empty, too, for what is not emulated). A client that PYTHON cannot import is said to be absent. TINYGRAD: a checkout of it. Exit 1 when a test of a client
that is there does not pass. --gpu: each test runs on the machine's GPU, too, and has to print the same."""
import json, os, re, subprocess, sys, tempfile

words = sys.argv[1:]
python = sys.executable
if "--python" in words:
    i = words.index("--python")
    python = words[i + 1]
    del words[i:i + 2]
gpu = "--gpu" in words
words = [w for w in words if w != "--gpu"]
if not words:
    sys.exit(__doc__)
LIMIT = 600  # seconds of one test
TIMES = re.compile(r"\d+(\.\d+)? (s|ms|us)\b")  # another number each time
gpulocw, chosen = os.path.realpath(words[0]), words[1:]
C_PROGRAMS = os.path.join(os.path.dirname(gpulocw), "tests", "emulate")
PTX = r'''
PTX = """.version 7.0
.target sm_70
.address_size 64
.visible .entry twice(.param .u64 p, .param .u32 n) {
.reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>;
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.s32 %r4, %r1, %r2, %r3;
ld.param.u32 %r5, [n]; setp.ge.u32 %p1, %r4, %r5; @%p1 ret;
ld.param.u64 %rd1, [p]; mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;
ld.global.f32 %f1, [%rd3]; add.f32 %f2, %f1, %f1; st.global.f32 [%rd3], %f2; ret; }
"""
'''
# What a test computed, in its output: the same under emulation and on a GPU
SAID = "import zlib\ndef said(a): print(zlib.crc32(a.tobytes()) if hasattr(a, 'tobytes') else a)\n"
CUPY = "import cupy, numpy\nx = cupy.arange(1000, dtype=cupy.float32)\n"
PYCUDA = "import numpy, pycuda.autoinit, pycuda.driver as drv\na = numpy.arange(1000, dtype=numpy.float32)\n"
NUMBA = "import numpy\nfrom numba import cuda\na = numpy.arange(1000, dtype=numpy.float32)\n"
TINY = "from tinygrad import Tensor\n"
TORCH = "import torch\nx = torch.arange(1000, dtype=torch.float32).to('cuda')\n"  # made by the host: PyTorch's own kernels have no PTX
TRITON = TORCH + "import triton, triton.language as tl\ny = torch.zeros(1000).to('cuda')\n"
COPIES = ("tensors there and back", "copies in a stream")  # tests without a kernel
# client: modules that it needs, environment, tests: name, source (or a program of tests/emulate)
CLIENTS = {
    "C": ([], {}, [(n, n) for n in ("driver", "driver_arrays", "driver_virtual", "driver_many", "vectors", "graphs")]),
    "CuPy": (["cupy"], {}, [
        ("RawKernel", CUPY + "k = cupy.RawKernel('extern \"C\" __global__ void twice(float *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; "
                             "if (i < n) p[i] *= 2; }', 'twice')\nk((8,), (128,), (x, numpy.int32(1000)))\nsaid(x.get())\nassert float(x[999]) == 1998\n"),
        ("RawModule", CUPY + "m = cupy.RawModule(code='template <class T> __global__ void add(T *p, T v) { p[threadIdx.x] += v; }', "
                             "name_expressions=['add<float>'], options=('--std=c++17',))\nm.get_function('add<float>')((1,), (1000,), (x, numpy.float32(1)))\n"
                             "said(x.get())\nassert float(x[5]) == 6\n"),
        ("elementwise", CUPY + "y = x * 2 + 1\nsaid(y.get())\nassert float(y[10]) == 21\n"),
        ("ElementwiseKernel", CUPY + "f = cupy.ElementwiseKernel('T x, T y', 'T z', 'z = x * x - y', 'f')\ny = f(x, x)\nsaid(y.get())\nassert float(y[10]) == 90\n"),
        ("reduction", CUPY + "said(x.sum().get())\nassert float(x.sum()) == 499500\n"),
        ("streams and events", CUPY + "s = cupy.cuda.Stream(non_blocking=True)\nwith s:\n    y = x + 1\n    e = s.record()\ne.synchronize()\nsaid(y.get())\nassert float(y[7]) == 8\n")]),
    "Numba": (["numba", "numpy"], {}, [
        ("jit", NUMBA + "@cuda.jit\ndef f(a, b):\n    i = cuda.grid(1)\n    if i < a.size:\n        b[i] = 2 * a[i] + 1\nb = numpy.zeros_like(a)\n"
                        "f[8, 128](a, b)\nsaid(b)\nassert (b == 2 * a + 1).all()\n"),
        ("shared memory, atomics", NUMBA + "from numba import float32\n@cuda.jit\ndef f(a, s):\n    t = cuda.shared.array(128, float32)\n    i = cuda.grid(1)\n"
                                           "    t[cuda.threadIdx.x] = a[i] if i < a.size else 0\n    cuda.syncthreads()\n    if cuda.threadIdx.x == 0:\n        v = float32(0)\n"
                                           "        for k in range(128):\n            v += t[k]\n        cuda.atomic.add(s, 0, v)\ns = numpy.zeros(1, numpy.float32)\n"
                                           "f[8, 128](a, s)\nsaid(s)\nassert s[0] == 499500\n"),
        ("streams, device arrays", NUMBA + "s = cuda.stream()\nd = cuda.to_device(a, stream=s)\n@cuda.jit\ndef f(a):\n    a[cuda.grid(1)] += 1\n"
                                           "f[10, 100, s](d)\nh = d.copy_to_host(stream=s)\ns.synchronize()\nsaid(h)\nassert (h == a + 1).all()\n"),
        ("reduce", NUMBA + "@cuda.reduce\ndef s(x, y):\n    return x + y\nsaid(s(a))\nassert s(a) == 499500\n")]),
    "PyCUDA": (["pycuda", "numpy"], {}, [
        ("a module of PTX", PTX + PYCUDA + "f = drv.module_from_buffer(PTX.encode() + b'\\0').get_function('twice')\n"
                                           "f(drv.InOut(a), numpy.uint32(1000), block=(128, 1, 1), grid=(8, 1))\nsaid(a)\nassert a[999] == 1998\n"),
        ("SourceModule", PYCUDA + "from pycuda.compiler import SourceModule\nm = SourceModule('__global__ void add(float *p, float v) { p[threadIdx.x] += v; }')\n"
                                  "m.get_function('add')(drv.InOut(a), numpy.float32(1), block=(1000, 1, 1))\nsaid(a)\nassert a[5] == 6\n"),
        ("gpuarray", PYCUDA + "import pycuda.gpuarray as g\nb = (g.to_gpu(a) * 2 + 1).get()\nsaid(b)\nassert b[10] == 21\n"),
        ("reduction", PYCUDA + "import pycuda.gpuarray as g\nb = g.sum(g.to_gpu(a)).get()\nsaid(b)\nassert b == 499500\n")]),
    "tinygrad": (["tinygrad"], {"DEV": "CUDA", "CUDA": "1"}, [
        ("add", TINY + "c = (Tensor([1, 2, 3]) + Tensor([4, 5, 6])).tolist()\nsaid(c)\nassert c == [5, 7, 9]\n"),
        ("matmul", TINY + "c = (Tensor.arange(1024).reshape(32, 32).float() @ Tensor.ones(32, 32).contiguous()).tolist()\nsaid(c)\nassert c[1][0] == sum(range(32, 64))\n"),
        ("reduction", TINY + "c = Tensor([float(i) for i in range(1000)]).sum().item()\nsaid(c)\nassert c == 499500\n"),
        ("jit and graphs", "from tinygrad import Tensor, TinyJit\nf = TinyJit(lambda a: (a + 1).realize())\nfor k in range(5):\n"
                           "    c = f(Tensor([k, k]).realize()).tolist()\n    said(c)\n    assert c == [k + 1, k + 1]\n"),
        ("add, PTX renderer", "import os\nos.environ['DEV'] = 'CUDA:PTX'\n" + TINY +
                              "c = (Tensor([1, 2, 3]) + Tensor([4, 5, 6])).tolist()\nsaid(c)\nassert c == [5, 7, 9]\n")]),
    "Triton": (["triton", "torch"], {}, [
        ("add", TRITON + "@triton.jit\ndef f(x, y, n, B: tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n"
                         "    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)\nf[(8,)](x, y, 1000, B=128)\nsaid(y.cpu().numpy())\nassert y.cpu()[999] == 1000\n"),
        ("reduction", TRITON + "@triton.jit\ndef f(x, y, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    tl.store(y, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))\n"
                               "f[(1,)](x, y, 1000, B=1024)\nsaid(y.cpu().numpy())\nassert y.cpu()[0] == 499500\n"),
        ("softmax", TRITON + "@triton.jit\ndef f(x, y, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    v = tl.load(x + i, mask=i < n, other=-1e9) / 64\n"
                             "    e = tl.exp(v - tl.max(v))\n    tl.store(y + i, e / tl.sum(e), mask=i < n)\nf[(1,)](x, y, 1000, B=1024)\n"
                             "z = torch.softmax(x.cpu() / 64, 0)\nsaid((y.cpu() - z).abs().max().item() < 1e-6)\nassert (y.cpu() - z).abs().max() < 1e-6\n"),
        ("product of tensor cores", TRITON + "@triton.jit\ndef f(a, b, c, N: tl.constexpr):\n    i = tl.arange(0, N)\n    at = i[:, None] * N + i[None, :]\n"
                                             "    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))\na = (torch.arange(4096) % 17).reshape(64, 64).half()\n"
                                             "b = (torch.arange(4096) % 13).reshape(64, 64).half()\nc = torch.zeros(64, 64).to('cuda')\nf[(1,)](a.to('cuda'), b.to('cuda'), c, N=64)\n"
                                             "said(c.cpu().numpy())\nassert (c.cpu() == a.float() @ b.float()).all()\n")]),
    "PyTorch": (["torch"], {}, [
        ("tensors there and back", TORCH + "y = x.to('cpu')\nsaid(y.numpy())\nassert y[999] == 999\n"),
        ("copies in a stream", TORCH + "s = torch.cuda.Stream()\nwith torch.cuda.stream(s):\n    y = x.to('cpu', non_blocking=True)\n    e = torch.cuda.Event()\n    e.record()\n"
                                       "e.synchronize()\nsaid(y.numpy())\nassert y[999] == 999\n"),
        ("torch.compile", TORCH + "f = torch.compile(lambda a: a * 2 + 1)\ny = f(x).cpu()\nsaid(y.numpy())\nassert y[10] == 21\n"),
        ("a kernel of its own (add)", TORCH + "y = (x + x).cpu()\nsaid(y.numpy())\nassert y[10] == 20\n")]),
}


def environment(more, hidden=True):
    e = dict(os.environ, **({"CUDA_VISIBLE_DEVICES": ""} if hidden else {}), **more)
    if os.environ.get("TINYGRAD"):
        e["PYTHONPATH"] = os.environ["TINYGRAD"] + os.pathsep + e.get("PYTHONPATH", "")
    return e


def version_of(modules, more):
    """(True, versions), or (False, why it is absent)"""
    said = []
    for m in modules:
        # found where it would be imported: importing it would look for a GPU
        code = f"import importlib.util as u, importlib.metadata as d\nassert u.find_spec({m!r}), 'not installed'\ntry: print(d.version(d.packages_distributions().get({m!r}, [{m!r}])[0]))\nexcept Exception: print('?')"
        ran = subprocess.run([python, "-c", code], capture_output=True, text=True, env=environment(more), timeout=120)
        if ran.returncode:
            return False, f"{m} is not installed"
        said.append(f"{m} {ran.stdout.strip()}")
    return True, ", ".join(said)


def last_words(ran, said):
    lines = [l.strip() for l in (ran.stderr + "\n" + said).splitlines() if l.strip()]
    errors = [l for l in lines if re.search(r"(Error|error)\b|^line \d+:", l)] or lines
    return f"exit {ran.returncode}: {errors[-1][:160] if errors else ''}"


def ran_as(command, more, hidden):
    """(what it ran as, None), or (None, why there is nothing)"""
    before = [gpulocw, "emulate", "--json", "--"] if hidden else []
    try:
        return subprocess.run([*before, *command], capture_output=True, text=True, errors="replace", env=environment(more, hidden), timeout=LIMIT), None
    except subprocess.TimeoutExpired:
        return None, f"not ended after {LIMIT} s"


def tried(command, more, copies):
    """(what it printed, None), or (None, why it did not pass)"""
    ran, why = ran_as(command, more, True)
    if why:
        return None, why
    at = ran.stdout.find('{\n  "format"')
    said = ran.stdout[:at if at >= 0 else None]
    try:
        document = json.loads(ran.stdout[at:]) if at >= 0 else {}
    except ValueError:
        document = {}
    missing = ", ".join(f"{m['call']} ({m['count']})" for m in document.get("not_supported", []))
    if ran.returncode or "PASS" not in said:
        print(ran.stderr[-3000:], file=sys.stderr)
        return None, last_words(ran, said) + (f"; not supported: {missing}" if missing else "")
    if not document.get("kernels") and not copies:
        return None, "its kernels did not run under emulation"
    return said, None


def on_the_gpu(command, more, said):
    """Why the GPU's output is another one; None: it is the same."""
    # the C programs were linked with this project's library, which is runtime and driver in one
    ran, why = ran_as(command, dict(more, LD_PRELOAD="libcuda.so.1") if command[0].startswith(C_PROGRAMS) else more, False)
    if why:
        return why
    if ran.returncode or "PASS" not in ran.stdout:
        print(ran.stdout[-3000:], ran.stderr[-3000:], file=sys.stderr)
        return last_words(ran, ran.stdout)
    return None if said is None or TIMES.sub("", ran.stdout) == TIMES.sub("", said) else "another output"


def results(client, more, tests):
    """(passed, refused with why, the same on the GPU, not the same with why)"""
    passed, refused, same, other = [], [], [], []
    for k, (name, source) in enumerate(tests):
        command = [os.path.join(C_PROGRAMS, source)]
        if client != "C":
            path = os.path.join(folder, f"{client}{k}.py")
            open(path, "w").write(SAID + source + "print('PASS')\n")
            command = [python, path]
        said, why = tried(command, more, name in COPIES)
        passed += [name] if why is None else []
        refused += [f"{name}: {why}"] if why else []
        if gpu:
            differs = on_the_gpu(command, more, said)
            same += [name] if differs is None and said is not None else []
            other += [f"{name}: {differs}"] if differs else []
        print(f"# {client}, {name}: {why or 'passed'}{'; on the GPU: ' + (differs or 'the same' if said is not None else differs or 'passed') if gpu else ''}",
              file=sys.stderr, flush=True)
    return passed, refused, same, other


passed_all, rows = True, []
with tempfile.TemporaryDirectory() as folder:
    for client, (modules, more, tests) in CLIENTS.items():
        if chosen and client not in chosen:
            continue
        there, what = version_of(modules, more)
        if client == "C" and not os.path.exists(os.path.join(C_PROGRAMS, "driver")):
            there, what = False, f"{C_PROGRAMS} is not built"
        tests = tests if there else []
        passed, refused, same, other = results(client, more, tests)
        passed_all &= not refused and not other
        rows.append((client, what if there or client == "C" else f"absent: {what}", f"{len(passed)} of {len(tests)}" if there else "not tried",
                     ", ".join(passed) or "–", "; ".join(refused).replace("|", "/") or "–",
                     *([f"{len(same)} of {len(passed)}" + (": " if other else "") + "; ".join(other).replace("|", "/")] if gpu else [])))
print("| client | version | pass | passed | refused, and why |" + (" the same output on the GPU |" if gpu else "") + "\n|---|---|---|---|---|" + ("---|" if gpu else ""))
for r in rows:
    print("| " + " | ".join(r) + " |")
sys.exit(not passed_all)
