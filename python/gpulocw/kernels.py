"""Decorators for kernels of Triton, Numba and CuPy: what was compiled is looked at on the simulated device before it runs.

    @gpulocw.prune(keep=0.25)            # above @triton.autotune
    @triton.autotune(configs=[...], key=["n"])
    @triton.jit
    def kernel(...): ...

    @gpulocw.check                       # above @triton.jit, @numba.cuda.jit, or around cupy.RawKernel
    ...

A launch's PTX runs with the launch's own arrays, on copies. A configuration is out when it races, leaves its arrays or
computes something else than the first one that does neither; the rest is ranked by simulated time."""
import concurrent.futures
import math
import os
import struct
import sys

from ._arrays import Arguments, is_array
from ._library import CHECK, TIMED, Device, DeviceError, Error, interrupt
from ._results import Run, time_text


class Compiled:
    """What a compiler made of one launch: PTX, entry, shape, and its arguments in the order of the PTX."""

    def __init__(self, ptx, entry, grid, block, shared, args):
        self.ptx, self.entry, self.grid, self.block, self.shared, self.args = ptx, entry, grid, block, shared, args


def simulate(c, device=None, flags=TIMED, keep_outputs=True):
    """A launch on copies of its arrays: (Run, outputs as [(element type, bytes)])."""
    from . import Handle, _kernel_of
    with Handle() as h:
        h.put("module.ptx", c.ptx)
        row = _kernel_of(h, "module.ptx", c.entry)
    made = Arguments(row["params"], c.args, rest_zero=True)
    for b in made.buffers:
        if b.copy is None:  # never the caller's own memory
            b._copied(b.bytes())
    with Device(device) as d:
        module = d.module(c.ptx)
        at = {id(b): d.lend(b.address, b.n, b) for b in made.buffers}
        document = d.launch(module, row["name"], c.grid, c.block, made.laid_out(lambda b: at[id(b)]), c.shared, flags=flags)
        said = d.handle.diagnostics()
    return Run(document, 0, said), [(b.element, b.bytes()) for b in made.buffers] if keep_outputs else []


# ---- outputs that are the same ----
_NEAR = {"f16": 2e-2, "bf16": 6e-2, "f32": 1e-3, "f64": 1e-9}
_FORMAT = {"f16": "e", "f32": "f", "f64": "d"}


def _numbers(element, data):
    if element == "bf16":
        halves = struct.unpack(f"<{len(data) // 2}H", data)
        return struct.unpack(f"<{len(halves)}f", b"".join(struct.pack("<I", h << 16) for h in halves))
    code = _FORMAT[element]
    return struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data)


def same(one, other):
    """Equal bytes; of floating-point arrays, sums in another order: within a share of the largest number."""
    for (element, a), (_, b) in zip(one, other):
        if a == b:
            continue
        if element not in _NEAR:
            return False
        x, y = _numbers(element, a), _numbers(element, b)
        most = max((abs(v) for v in x if math.isfinite(v)), default=0.0)
        if any(not (math.isnan(v) and math.isnan(w)) and v != w and not abs(v - w) <= _NEAR[element] * most for v, w in zip(x, y)):
            return False
    return True


# ---- a list of configurations ----
class Candidate:
    """One configuration: .config, .time_ns, or .why it is out."""

    def __init__(self, config):
        self.config, self.time_ns, self.why, self.kept, self.run = config, None, None, False, None

    def __str__(self):
        return f"{'keep' if self.kept else 'out ' if self.why else 'slow'}  {time_text(self.time_ns):>12}  {self.config}{'  ' + self.why if self.why else ''}"


def _simulated(made, device, flags):
    """(Run, outputs), or (why there are none, None)."""
    try:
        return simulate(made, device, flags)
    except Error as e:
        return str(e).splitlines()[0], None


def rank(configs, compile_one, keep=0.25, device=None, check=True):
    """Candidates, the fastest first and those that are out last; the first share `keep` of them is kept, one at least.
    compile_one(config): its Compiled; what it raises puts the configuration out. One is simulated while the next is compiled."""
    rows, expected, flags = [Candidate(c) for c in configs], None, TIMED | (CHECK if check else 0)
    pool = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
    try:
        for c in rows:
            try:
                c.run = pool.submit(_simulated, compile_one(c.config), device, flags)
            except Exception as e:  # the compiler's
                c.why = f"not compiled: {e}".splitlines()[0]
        for c in (c for c in rows if not c.why):
            c.run, outputs = c.run.result()
            if outputs is None:
                c.why = c.run
                continue
            c.time_ns = c.run.time_ns
            if c.time_ns is None:
                c.why = "no simulated time"
            elif expected is None:
                expected = outputs
            elif not same(expected, outputs):
                c.why = "computes something else"
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        interrupt()
        raise
    pool.shutdown()
    good = sorted((c for c in rows if not c.why), key=lambda c: c.time_ns)
    for c in good[:max(1, math.ceil(keep * len(rows)))]:
        c.kept = True
    return good + [c for c in rows if c.why]


# ---- Triton ----
def _device_of(device):
    """The simulated device most like the GPU of this machine; the library's own choice without one."""
    if device:
        return device
    torch = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return None
    major, minor = torch.cuda.get_device_capability()
    return {(9, 0): "sim:hopper-h200", (8, 0): "sim:ampere-a100", (7, 0): "sim:volta-v100", (6, 0): "sim:pascal-p100"}.get((major, minor))


def triton_compiled(fn, args, grid, options):
    """What Triton compiles for one launch of a JIT function with these options; nothing is launched."""
    kernel = fn.warmup(*args, grid=(1,), **options)
    meta, bound = kernel.metadata, dict(zip(fn.arg_names, args))
    bound.update({k: v for k, v in options.items() if k in fn.arg_names})
    shape = grid(bound) if callable(grid) else grid
    ptx = kernel.asm["ptx"]
    return Compiled(ptx, meta.name, tuple(shape), (32 * meta.num_warps,), meta.shared, _triton_args(fn, bound, kernel))


def _triton_args(fn, bound, kernel):
    """Those that the PTX takes: no constexpr, and no number that the compiler has put into the code."""
    source = getattr(kernel, "src", None)
    constants = getattr(source, "constants", None) or {}
    gone = {k[0] if isinstance(k, tuple) else k for k in constants}
    gone |= {fn.arg_names[k] for k in gone if isinstance(k, int)}
    fixed = {p.name for p in getattr(fn, "params", []) if getattr(p, "is_constexpr", False)}
    return [bound[name] for name in fn.arg_names if name in bound and name not in fixed and name not in gone]


class Pruner:
    """The early_config_prune of an autotuner. .last: the candidates of its last choice."""

    def __init__(self, tuner, keep, device, check=True):
        self.tuner, self.keep, self.device, self.check, self.last = tuner, keep, device, check, []

    def __call__(self, configs, named_args, **kwargs):
        fn = self.tuner.fn
        grid = kwargs.pop("grid", (1,))
        kwargs.pop("warmup", None)
        args = [named_args[n] for n in fn.arg_names if n in named_args]

        def compile_one(config):
            own = config.all_kwargs() if hasattr(config, "all_kwargs") else dict(config.kwargs)
            return triton_compiled(fn, args, grid, {**kwargs, **own})

        self.last = rank(configs, compile_one, self.keep, _device_of(self.device), self.check)
        chosen = [c.config for c in self.last if c.kept]
        return chosen or list(configs)  # nothing could be looked at: as without us

    def __str__(self):
        return "\n".join(map(str, self.last))


def pruned(tuner=None, keep=0.25, device=None, check=True):
    if tuner is None:
        return lambda t: pruned(t, keep, device, check)
    if not hasattr(tuner, "configs") or not hasattr(tuner, "fn"):
        raise TypeError("gpulocw.prune goes above @triton.autotune")
    tuner.early_config_prune = Pruner(tuner, keep, device, check)
    tuner.gpulocw = tuner.early_config_prune
    return tuner


# ---- Numba and CuPy ----
def numba_compiled(dispatcher, grid, block, shared, args):
    """What Numba compiles for the types of these arguments."""
    from numba import cuda  # noqa: F401  (the dispatcher is Numba's)
    special = dispatcher.specialize(*args) if hasattr(dispatcher, "specialize") else dispatcher
    asm = special.inspect_asm()
    ptx = next(iter(asm.values())) if isinstance(asm, dict) else asm
    flat = []
    for a in args:
        if not is_array(a):
            flat.append(a)
            continue
        size = a.dtype.itemsize
        flat += [0, 0, a.size, size, a, *a.shape, *a.strides]
    return Compiled(ptx, None, grid, block, shared, flat)


def cupy_compiled(kernel, grid, block, shared, args):
    """What nvrtc compiles of the source of a cupy.RawKernel."""
    import cupy
    from cupy.cuda import nvrtc
    program = nvrtc.createProgram(kernel.code, "kernel.cu", (), ())
    try:  # compute_ and not sm_: PTX, not machine code
        nvrtc.compileProgram(program, (*kernel.options, f"-arch=compute_{cupy.cuda.Device().compute_capability}"))
        ptx = nvrtc.getPTX(program)
    finally:
        nvrtc.destroyProgram(program)
    ptx = ptx.rstrip(b"\0") if isinstance(ptx, bytes) else ptx
    return Compiled(ptx, kernel.name, grid, block, shared, args)


# ---- checked before it runs ----
def _key(args, more):
    def one(a):
        return (str(getattr(a, "dtype", type(a).__name__)), tuple(getattr(a, "shape", ())) or (len(a) if isinstance(a, (bytes, bytearray)) else 0)) if is_array(a) else a
    return tuple(one(a) for a in args) + tuple(sorted((k, str(v)) for k, v in more.items()))


class Checked:
    """A kernel whose launches are looked at before they run; what is found is raised as DeviceError."""

    def __init__(self, kernel, device=None):
        self.kernel, self.device, self.seen, self.last = kernel, device, set(), None

    def __getattr__(self, name):
        return getattr(self.kernel, name)

    def _look(self, key, compiled):
        if key in self.seen:
            return
        self.last, _ = simulate(compiled(), _device_of(self.device), CHECK, False)
        self.seen.add(key)

    def __getitem__(self, at):
        launch = self.kernel[at]
        triton = hasattr(self.kernel, "warmup") or hasattr(self.kernel, "fn") and hasattr(self.kernel.fn, "warmup")

        def go(*args, **options):
            if triton:
                fn = self.kernel if hasattr(self.kernel, "arg_names") else self.kernel.fn
                self._look(_key(args, options), lambda: triton_compiled(fn, args, at, options))
            else:
                grid, block, shared = _shape(at)
                self._look(_key(args, {"at": at}), lambda: numba_compiled(self.kernel, grid, block, shared, args))
            return launch(*args, **options)
        return go

    def __call__(self, grid, block, args, **options):
        """As cupy.RawKernel is called."""
        shared = options.get("shared_mem", 0)
        self._look(_key(args, {"grid": grid, "block": block}), lambda: cupy_compiled(self.kernel, grid, block, shared, args))
        return self.kernel(grid, block, args, **options)


def _shape(at):
    """Numba's kernel[grid, block, stream, shared]."""
    three = lambda v: tuple(v) if isinstance(v, (tuple, list)) else (v,)
    return three(at[0]), three(at[1]), at[3] if len(at) > 3 else 0


def checked(kernel=None, device=None):
    if kernel is None:
        return lambda k: checked(k, device)
    return Checked(kernel, device)


__all__ = ["Candidate", "Checked", "Compiled", "DeviceError", "Pruner", "checked", "pruned", "rank", "same", "simulate"]
