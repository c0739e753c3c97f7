#!/usr/bin/env python3
"""The clients of the driver's interface under emulation: python3 tests/gpu/clients.py GPULOCW [CLIENT...] [--python PYTHON]

Runs small tests of CuPy, Numba, PyCUDA, tinygrad, Triton and the project's C programs, each by `gpulocw emulate --json`, and prints a table
in Markdown: passed, refused and why. A GPU of the machine is not used: CUDA_VISIBLE_DEVICES is empty, and a test counts only when its kernels
are in the emulation's document. A client that PYTHON cannot import is said to be absent. TINYGRAD: a checkout of it. Exit 1 when a test of a client
that is there does not pass."""
import json, os, re, subprocess, sys, tempfile

words = sys.argv[1:]
python = sys.executable
if "--python" in words:
    i = words.index("--python")
    python = words[i + 1]
    del words[i:i + 2]
if not words:
    sys.exit(__doc__)
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
CUPY = "import cupy, numpy\nx = cupy.arange(1000, dtype=cupy.float32)\n"
PYCUDA = "import numpy, pycuda.autoinit, pycuda.driver as drv\na = numpy.arange(1000, dtype=numpy.float32)\n"
NUMBA = "import numpy\nfrom numba import cuda\na = numpy.arange(1000, dtype=numpy.float32)\n"
TINY = "from tinygrad import Tensor\n"
TRITON = "import torch, triton, triton.language as tl\nx = torch.arange(1000, device='cuda', dtype=torch.float32)\ny = torch.zeros_like(x)\n"
# client: modules that it needs, environment, tests: name, source (or a program of tests/emulate)
CLIENTS = {
    "C": ([], {}, [(n, n) for n in ("driver", "driver_arrays", "driver_virtual", "driver_many", "vectors", "graphs")]),
    "CuPy": (["cupy"], {}, [
        ("RawKernel", CUPY + "k = cupy.RawKernel('extern \"C\" __global__ void twice(float *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; "
                             "if (i < n) p[i] *= 2; }', 'twice')\nk((8,), (128,), (x, numpy.int32(1000)))\nassert float(x[999]) == 1998\n"),
        ("RawModule", CUPY + "m = cupy.RawModule(code='template <class T> __global__ void add(T *p, T v) { p[threadIdx.x] += v; }', "
                             "name_expressions=['add<float>'], options=('--std=c++17',))\nm.get_function('add<float>')((1,), (1000,), (x, numpy.float32(1)))\n"
                             "assert float(x[5]) == 6\n"),
        ("elementwise", CUPY + "assert float((x * 2 + 1)[10]) == 21\n"),
        ("reduction", CUPY + "assert float(x.sum()) == 499500\n")]),
    "Numba": (["numba", "numpy"], {}, [
        ("jit", NUMBA + "@cuda.jit\ndef f(a, b):\n    i = cuda.grid(1)\n    if i < a.size:\n        b[i] = 2 * a[i] + 1\nb = numpy.zeros_like(a)\n"
                        "f[8, 128](a, b)\nassert (b == 2 * a + 1).all()\n"),
        ("shared memory, atomics", NUMBA + "from numba import float32\n@cuda.jit\ndef f(a, s):\n    t = cuda.shared.array(128, float32)\n    i = cuda.grid(1)\n"
                                           "    t[cuda.threadIdx.x] = a[i] if i < a.size else 0\n    cuda.syncthreads()\n    if cuda.threadIdx.x == 0:\n        v = float32(0)\n"
                                           "        for k in range(128):\n            v += t[k]\n        cuda.atomic.add(s, 0, v)\ns = numpy.zeros(1, numpy.float32)\n"
                                           "f[8, 128](a, s)\nassert s[0] == 499500\n"),
        ("streams, device arrays", NUMBA + "s = cuda.stream()\nd = cuda.to_device(a, stream=s)\n@cuda.jit\ndef f(a):\n    a[cuda.grid(1)] += 1\n"
                                           "f[10, 100, s](d)\nh = d.copy_to_host(stream=s)\ns.synchronize()\nassert (h == a + 1).all()\n"),
        ("reduce", NUMBA + "@cuda.reduce\ndef s(x, y):\n    return x + y\nassert s(a) == 499500\n")]),
    "PyCUDA": (["pycuda", "numpy"], {}, [
        ("a module of PTX", PTX + PYCUDA + "f = drv.module_from_buffer(PTX.encode() + b'\\0').get_function('twice')\n"
                                           "f(drv.InOut(a), numpy.uint32(1000), block=(128, 1, 1), grid=(8, 1))\nassert a[999] == 1998\n"),
        ("SourceModule", PYCUDA + "from pycuda.compiler import SourceModule\nm = SourceModule('__global__ void add(float *p, float v) { p[threadIdx.x] += v; }')\n"
                                  "m.get_function('add')(drv.InOut(a), numpy.float32(1), block=(1000, 1, 1))\nassert a[5] == 6\n"),
        ("gpuarray", PYCUDA + "import pycuda.gpuarray as g\nassert (g.to_gpu(a) * 2 + 1).get()[10] == 21\n"),
        ("reduction", PYCUDA + "import pycuda.gpuarray as g\nassert g.sum(g.to_gpu(a)).get() == 499500\n")]),
    "tinygrad": (["tinygrad"], {"DEV": "CUDA", "CUDA": "1"}, [
        ("add", TINY + "assert (Tensor([1, 2, 3]) + Tensor([4, 5, 6])).tolist() == [5, 7, 9]\n"),
        ("matmul", TINY + "assert abs((Tensor.ones(32, 32).contiguous() @ Tensor.ones(32, 32).contiguous()).sum().item() - 32768) < 1\n"),
        ("reduction", TINY + "assert Tensor([float(i) for i in range(1000)]).sum().item() == 499500\n"),
        ("jit and graphs", "from tinygrad import Tensor, TinyJit\nf = TinyJit(lambda a: (a + 1).realize())\nfor k in range(5):\n"
                           "    assert f(Tensor([k, k]).realize()).tolist() == [k + 1, k + 1]\n"),
        ("add, PTX renderer", "import os\nos.environ['DEV'] = 'CUDA:PTX'\n" + TINY +
                              "assert (Tensor([1, 2, 3]) + Tensor([4, 5, 6])).tolist() == [5, 7, 9]\n")]),
    "Triton": (["triton", "torch"], {}, [
        ("add", TRITON + "@triton.jit\ndef f(x, y, n, B: tl.constexpr):\n    i = tl.program_id(0) * B + tl.arange(0, B)\n"
                         "    tl.store(y + i, tl.load(x + i, mask=i < n) + 1, mask=i < n)\nf[(8,)](x, y, 1000, B=128)\nassert y.cpu()[999] == 1000\n"),
        ("reduction", TRITON + "@triton.jit\ndef f(x, y, n, B: tl.constexpr):\n    i = tl.arange(0, B)\n    tl.store(y, tl.sum(tl.load(x + i, mask=i < n, other=0.0)))\n"
                               "f[(1,)](x, y, 1000, B=1024)\nassert y.cpu()[0] == 499500\n")]),
}


def environment(more):
    e = dict(os.environ, CUDA_VISIBLE_DEVICES="", **more)
    if os.environ.get("TINYGRAD"):
        e["PYTHONPATH"] = os.environ["TINYGRAD"] + os.pathsep + e.get("PYTHONPATH", "")
    return e


def version_of(modules, more):
    """(True, versions), or (False, why it is absent)"""
    said = []
    for m in modules:
        # found where it would be imported: importing it would look for a GPU
        code = f"import importlib.util as u, importlib.metadata as d\nassert u.find_spec({m!r}), 'not installed'\ntry: print(d.version({m!r}))\nexcept Exception: print('?')"
        ran = subprocess.run([python, "-c", code], capture_output=True, text=True, env=environment(more), timeout=120)
        if ran.returncode:
            return False, f"{m} is not installed"
        said.append(f"{m} {ran.stdout.strip()}")
    return True, ", ".join(said)


def why_not(ran, document):
    missing = ", ".join(f"{m['call']} ({m['count']})" for m in document.get("not_supported", [])) if document else ""
    said = [l.strip() for l in (ran.stderr + "\n" + ran.stdout[:ran.stdout.find('{\n  "format"')]).splitlines() if l.strip()]
    errors = [l for l in said if re.search(r"(Error|error)\b|^line \d+:", l)] or said
    return f"exit {ran.returncode}: {errors[-1][:160] if errors else ''}" + (f"; not supported: {missing}" if missing else "")


def tried(command, more):
    """None: it passed"""
    try:
        ran = subprocess.run([gpulocw, "emulate", "--json", "--", *command], capture_output=True, text=True, errors="replace", env=environment(more), timeout=600)
    except subprocess.TimeoutExpired:
        return "not ended after 600 s"
    at = ran.stdout.find('{\n  "format"')
    try:
        document = json.loads(ran.stdout[at:]) if at >= 0 else None
    except ValueError:
        document = None
    if ran.returncode or "PASS" not in ran.stdout[:at]:
        return why_not(ran, document)
    return None if document and document["kernels"] else "its kernels did not run under emulation"


passed_all, rows = True, []
with tempfile.TemporaryDirectory() as folder:
    for client, (modules, more, tests) in CLIENTS.items():
        if chosen and client not in chosen:
            continue
        there, what = version_of(modules, more)
        if client == "C" and not os.path.exists(os.path.join(C_PROGRAMS, "driver")):
            there, what = False, f"{C_PROGRAMS} is not built"
        passed, refused = [], []
        for k, (name, source) in enumerate(tests if there else []):
            command = [os.path.join(C_PROGRAMS, source)]
            if client != "C":
                path = os.path.join(folder, f"{client}{k}.py")
                open(path, "w").write(source + "print('PASS')\n")
                command = [python, path]
            why = tried(command, more)
            passed += [name] if why is None else []
            refused += [f"{name}: {why}"] if why else []
        passed_all &= not refused
        rows.append((client, what if there or client == "C" else f"absent: {what}", f"{len(passed)} of {len(tests)}" if there else "not tried",
                     ", ".join(passed) or "–", "; ".join(refused).replace("|", "/") or "–"))
        print(f"# {client}: {rows[-1][2]}", file=sys.stderr, flush=True)
print("| client | version | pass | passed | refused, and why |\n|---|---|---|---|---|")
for r in rows:
    print("| " + " | ".join(r) + " |")
sys.exit(not passed_all)
