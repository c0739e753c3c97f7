"""The Python module against the library: files, text, launches from memory, decorators. Plain unittest."""
import array
import os
import subprocess
import sys
import unittest
import xml.dom.minidom

sys.path.insert(0, os.environ.get("GPULOCW_PYTHON", "python"))
import gpulocw
from gpulocw import kernels

HEAD = ".version 7.8\n.target sm_90\n.address_size 64\n"
REGS = ".reg .pred %p; .reg .b32 %r<9>; .reg .f32 %f<4>; .reg .b64 %d<9>;\n"


def axpy(name="axpy", times=1, bug=""):
    """y[i] += a * x[i], `times` times over; bug "race": all threads write y[0]; "wild": behind the end."""
    at = {"race": "mov.u64 %d3, %d0;", "wild": "add.u64 %d3, %d3, 1048576;"}.get(bug, "")
    return (HEAD + f".visible .entry {name}(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n)\n{{ {REGS}"
            "ld.param.u64 %d0, [y]; ld.param.u64 %d1, [x]; ld.param.f32 %f0, [a]; ld.param.u32 %r0, [n];\n"
            "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;\n"
            "setp.ge.u32 %p, %r4, %r0; @%p ret; mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d0, %d2; add.u64 %d4, %d1, %d2;\n"
            "ld.global.f32 %f1, [%d4];\n" + at +
            "ld.global.f32 %f2, [%d3]; fma.rn.f32 %f2, %f0, %f1, %f2; st.global.f32 [%d3], %f2;\n" * times + "ret; }\n")


def arrays(n=1000):
    return array.array("f", [1.0] * n), array.array("f", range(n))


class Files(unittest.TestCase):
    def test_run(self):
        r = gpulocw.run("kernels/stride_4.ptx", bypass="l1", pi=1)
        self.assertEqual(r["format"], "gpulocw-result")
        self.assertTrue(r.equal)
        self.assertGreater(r.time_ns, 0)
        self.assertGreater(r.counters["l1.requests"], 0)
        self.assertIn("simulated", str(r).splitlines()[0])

    def test_as_the_program(self):
        r = gpulocw.run("kernels/stride_4.ptx")
        said = subprocess.run([os.environ["GPULOCW_PROGRAM"], "run", "kernels/stride_4.ptx", "--json"], capture_output=True, text=True).stdout
        self.assertIn(f'"median": {r.time_ns}', said)

    def test_text_and_description(self):
        text = open("kernels/stride_4.ptx").read()
        import json
        launch = json.load(open("kernels/stride_4.launch.json"))
        self.assertEqual(gpulocw.run(text, launch=launch).time_ns, gpulocw.run("kernels/stride_4.ptx").time_ns)

    def test_analyze(self):
        a = gpulocw.analyze("kernels/stride_32.ptx")
        self.assertIn("line", str(a))
        self.assertEqual(a["format"], "gpulocw-analysis")

    def test_tune(self):
        t = gpulocw.tune("kernels/stride_32.ptx", budget=6)
        self.assertIsInstance(t.options, str)
        self.assertIn("stride_32", str(t))

    def test_check(self):
        self.assertTrue(gpulocw.check("kernels/coalescing.ptx") is not None)
        found = gpulocw.check("kernels/stride_32.ptx")
        self.assertTrue(found.findings)
        self.assertIn("findings", str(found))

    def test_errors(self):
        with self.assertRaises(gpulocw.Error) as e:
            gpulocw.run("kernels/none.ptx")
        self.assertEqual(e.exception.code, 1)
        with self.assertRaisesRegex(gpulocw.Error, "pie"):
            gpulocw.run("kernels/stride_4.ptx", pie=3)

    def test_pictures(self):
        for r in (gpulocw.run("kernels/stride_4.ptx"), gpulocw.analyze("kernels/stride_4.ptx"), gpulocw.check("kernels/stride_32.ptx")):
            root = xml.dom.minidom.parseString(r._repr_svg_()).documentElement
            self.assertEqual(root.tagName, "svg")
            self.assertGreater(len(root.getElementsByTagName("text")), 2)


class Memory(unittest.TestCase):
    def test_written_back(self):
        y, x = arrays()
        r = gpulocw.run(axpy(), grid=(8,), block=(128,), args=[y, x, 2.0, 1000])
        self.assertEqual(list(y), [1 + 2.0 * i for i in range(1000)])
        self.assertGreater(r.time_ns, 0)

    def test_odd_memory(self):
        y, x = arrays()
        room = bytearray(4 * 1000 + 4)
        inside = memoryview(room)[4:]
        inside[:] = bytes(y)
        gpulocw.run(axpy(), grid=(8,), block=(128,), args=[inside, x, 2.0, 1000], timed=False)
        self.assertEqual(list(array.array("f", bytes(inside))), [1 + 2.0 * i for i in range(1000)])
        self.assertEqual(bytes(room[:4]), bytes(4))

    def test_read_only(self):
        y, x = arrays()
        gpulocw.run(axpy(), grid=(8,), block=(128,), args=[y, bytes(x), 2.0, 1000])
        self.assertEqual(y[10], 21.0)

    def test_several_launches(self):
        y, x = arrays()
        with gpulocw.Device("sim:ampere-a100") as d:
            m = d.module(axpy())
            at = [d.lend(a.buffer_info()[0], 4 * 1000, a) for a in (y, x)]
            import struct
            for _ in range(3):
                d.launch(m, "axpy", (8,), (128,), struct.pack("<QQfI", *at, 2.0, 1000))
            self.assertEqual(y[10], 61.0)
            self.assertEqual(d.read(at[0] + 40, 4), struct.pack("<f", 61.0))

    def test_faults(self):
        y, x = arrays()
        with self.assertRaisesRegex(gpulocw.DeviceError, "out|outside"):
            gpulocw.run(axpy(bug="wild"), grid=(8,), block=(128,), args=[y, x, 2.0, 1000])
        with self.assertRaisesRegex(gpulocw.DeviceError, "race"):
            gpulocw.run(axpy(bug="race"), grid=(8,), block=(128,), args=[y, x, 2.0, 1000], check_memory=True)
        self.assertEqual(y[0], 1.0)

    def test_on_copies(self):
        y, x = arrays()
        r = gpulocw.run(axpy(), grid=(8,), block=(128,), args=[y, x, 2.0, 1000], bypass="l1", pi="bpa")
        self.assertTrue(r.equal)
        self.assertEqual(y[10], 1.0)
        self.assertEqual(gpulocw.analyze(axpy(), grid=(8,), block=(128,), args=[y, x, 2.0, 1000])["kernels"][0]["loads"][0]["exact"]["requests"], 32)
        self.assertTrue(gpulocw.check(axpy(), grid=(8,), block=(128,), args=[y, x, 2.0, 1000]))

    def test_wrong_arguments(self):
        y, x = arrays()
        with self.assertRaisesRegex(TypeError, "4 arguments"):
            gpulocw.run(axpy(), grid=(8,), block=(128,), args=[y, x])
        with self.assertRaisesRegex(TypeError, "grid and block"):
            gpulocw.run(axpy(), args=[y, x, 2.0, 1000])
        with self.assertRaisesRegex(TypeError, "contiguous"):
            gpulocw.run(axpy(), grid=(8,), block=(128,), args=[memoryview(y)[::2], x, 2.0, 1000])
        with self.assertRaisesRegex(ValueError, "axpy"):
            gpulocw.run(axpy(), kernel="gemm", grid=(8,), block=(128,), args=[y, x, 2.0, 1000])


class Config:
    """As triton.Config."""

    def __init__(self, **kwargs):
        self.kwargs = kwargs

    def all_kwargs(self):
        return dict(self.kwargs)

    def __str__(self):
        return str(self.kwargs)


class Jit:
    """As a JIT function of Triton: warmup compiles and launches nothing."""
    arg_names = ["y", "x", "a", "n", "TIMES", "BUG"]

    class Param:
        def __init__(self, name):
            self.name, self.is_constexpr = name, name.isupper()

    def __init__(self):
        self.params, self.runs = [self.Param(n) for n in self.arg_names], 0

    def warmup(self, *args, grid, TIMES=1, BUG="", **more):
        if BUG == "none":
            raise RuntimeError("out of registers")
        meta = type("Meta", (), {"name": "axpy", "num_warps": 4, "shared": 0})
        return type("Kernel", (), {"asm": {"ptx": axpy(times=TIMES, bug=BUG)}, "metadata": meta, "src": None})

    def __getitem__(self, grid):
        def go(*args, **more):
            self.runs += 1
        return go


class Tuner:
    """As triton.autotune: calls early_config_prune(configs, named_args, **kwargs)."""

    def __init__(self, fn, configs):
        self.fn, self.configs, self.early_config_prune = fn, configs, None

    def choose(self, *args, grid):
        return self.early_config_prune(self.configs, dict(zip(self.fn.arg_names, args)), grid=grid)


class Decorators(unittest.TestCase):
    def test_prune(self):
        configs = [Config(TIMES=1), Config(TIMES=1, BUG="race"), Config(TIMES=1, BUG="wild"), Config(TIMES=2), Config(TIMES=1, BUG="none"),
                   Config(TIMES=1)]
        tuner = gpulocw.prune(keep=0.3)(Tuner(Jit(), configs))
        y, x = arrays(100000)
        kept = tuner.choose(y, x, 2.0, 100000, grid=lambda meta: ((100000 + 127) // 128,))
        why = {id(c.config): c.why for c in tuner.gpulocw.last}
        self.assertEqual(sorted(map(id, kept)), sorted(id(configs[i]) for i in (0, 5)), str(tuner.gpulocw))
        self.assertIn("race", why[id(configs[1])])
        self.assertTrue(why[id(configs[2])])
        self.assertIn("something else", why[id(configs[3])])
        self.assertIn("registers", why[id(configs[4])])
        self.assertEqual(y[10], 1.0, "nothing of the caller's was written")
        self.assertIn("keep", str(tuner.gpulocw))

    def test_prune_needs_an_autotuner(self):
        with self.assertRaises(TypeError):
            gpulocw.prune(Jit())

    def test_rank_by_time(self):
        y, x = arrays(200000)
        one = lambda block: kernels.Compiled(axpy(), "axpy", ((200000 + block - 1) // block,), (block,), 0, [y, x, 2.0, 200000])
        rows = kernels.rank([32, 256], one, keep=0.5)
        times = {c.config: c.time_ns for c in rows}
        self.assertEqual(rows[0].config, min(times, key=times.get))
        self.assertEqual([c.kept for c in rows], [True, False])

    def test_same(self):
        f = lambda *v: [("f32", bytes(array.array("f", v)))]
        i = lambda *v: [("s32", bytes(array.array("i", v)))]
        self.assertTrue(kernels.same(f(1000.0, 2.0), f(1000.1, 2.0)))
        self.assertFalse(kernels.same(f(1000.0, 2.0), f(1010.0, 2.0)))
        self.assertFalse(kernels.same(f(1.0), f(float("nan"))))
        self.assertFalse(kernels.same(i(1000, 2), i(1001, 2)))

    def test_check(self):
        y, x = arrays()
        kernel = gpulocw.check(Jit())
        for _ in range(2):
            kernel[(8,)](y, x, 2.0, 1000)
        self.assertEqual(kernel.kernel.runs, 2)
        self.assertEqual(len(kernel.seen), 1)
        with self.assertRaisesRegex(gpulocw.DeviceError, "race"):
            kernel[(8,)](y, x, 2.0, 1000, BUG="race")
        self.assertEqual(kernel.kernel.runs, 2, "what races does not run")


def has(name):
    try:
        __import__(name)
        return True
    except ImportError:
        return False


class OnAGPU(unittest.TestCase):
    """With the compilers themselves."""

    @unittest.skipUnless(has("triton") and has("torch"), "triton and torch are not here")
    def test_triton(self):
        import importlib.util
        at = os.path.join(os.path.dirname(os.path.abspath(__file__)), "triton_kernels.py")
        spec = importlib.util.spec_from_file_location("triton_kernels", at)
        m = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(m)
        kept, all_ = m.softmax_pruned()
        self.assertLess(kept, all_)

    @unittest.skipUnless(has("numba") and has("numpy"), "numba and numpy are not here")
    def test_numba(self):
        import numpy
        from numba import cuda
        if not cuda.is_available():
            self.skipTest("no GPU")

        @gpulocw.check
        @cuda.jit
        def add(y, x):
            i = cuda.grid(1)
            if i < y.size:
                y[i] += x[i]
        y, x = cuda.to_device(numpy.ones(1000, "f4")), cuda.to_device(numpy.arange(1000, dtype="f4"))
        add[8, 128](y, x)
        self.assertEqual(y.copy_to_host()[10], 11)

    @unittest.skipUnless(has("cupy"), "cupy is not here")
    def test_cupy(self):
        import cupy
        add = gpulocw.check(cupy.RawKernel('extern "C" __global__ void add(float *y, const float *x) { y[threadIdx.x] += x[threadIdx.x]; }', "add"))
        y, x = cupy.ones(128, "f4"), cupy.arange(128, dtype="f4")
        add((1,), (128,), (y, x))
        self.assertEqual(float(y[10]), 11)


if __name__ == "__main__":
    unittest.main(verbosity=2)
