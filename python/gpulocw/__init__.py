"""gpulocw in Python: PTX kernels analysed, run, checked and tuned on a simulated GPU.

    import gpulocw
    print(gpulocw.run("app.ptx", bypass="l1", pi=3))                   # app.launch.json lies beside it
    r = gpulocw.run(text, kernel="axpy", grid=(16,), block=(256,), args=[y, x, 2.0, 4096])
    print(gpulocw.analyze("app.ptx")); print(gpulocw.check("app.ptx")); print(gpulocw.tune("app.ptx", budget=60))

A kernel is PTX text or a path. Its launch is a description (path or dict), or grid, block and args: arrays
of the buffer protocol (NumPy, array.array, bytearray; tensors of PyTorch, arrays of CuPy and Numba) and
numbers. run without options writes what the kernel computed back into the arrays; everything else works on
copies. Other keywords are the options of the command, with _ for -.

check and prune are decorators too: for kernels of Triton, Numba and CuPy (gpulocw.kernels)."""
import json
import os

from ._arrays import Arguments
from ._library import CHECK, EXACT, TIMED, Device, DeviceError, Different, Error, Handle, Refused, lib, version
from ._results import Analysis, Check, Result, Run, Tuned

__all__ = ["analyze", "run", "check", "tune", "prune", "Device", "Handle", "Result", "Error", "Refused", "DeviceError",
           "Different", "version", "tools"]
__version__ = version


def tools():
    """Every call with the schema of its arguments."""
    with Handle() as h:
        return json.loads(lib.gpulocw_tools(h._at).decode())


def _is_text(ptx):
    return isinstance(ptx, (bytes, bytearray)) or "\n" in ptx or ".version" in ptx


def _put_module(h, ptx):
    """The name or path under which calls find the module."""
    if not _is_text(ptx):
        return os.fspath(ptx)
    h.put("module.ptx", ptx)
    return "module.ptx"


def _kernel_of(h, file, name):
    """The kernel's row of `gpulocw list`."""
    _, listed = h.call("list", {"file": file})
    rows = [k for m in listed["modules"] for k in m["kernels"] if k["ptx"]]
    found = [k for k in rows if name in (None, k["name"], k["readable"])] or [k for k in rows if name and name in k["readable"]]
    if len(found) != 1:
        raise ValueError(f"kernel={name!r}: the module has {', '.join(k['readable'] for k in rows) or 'no kernel'}")
    return found[0]


class _Call:
    """One call on a kernel: the handle, the file, and the launch as the caller gave it."""

    def __init__(self, ptx, kernel, launch, grid, block, args, shared, device, options):
        self.h = Handle()
        ptx = os.fspath(ptx) if hasattr(ptx, "__fspath__") else ptx
        self.ptx, self.file, self.device = ptx, _put_module(self.h, ptx), device
        self.arguments = {"file": self.file, **{k.replace("_", "-"): v for k, v in options.items()}}
        if device:
            self.arguments["device"] = device
        self.launch, self.kernel, self.grid, self.block, self.shared, self.made = launch, kernel, grid, block, shared, None
        if args is not None:
            if not grid or not block:
                raise TypeError("args needs grid and block")
            self.row = _kernel_of(self.h, self.file, kernel)
            self.kernel, self.made = self.row["name"], Arguments(self.row["params"], args)

    def describe(self):
        if self.made:
            launch = self.made.description(self.h, self.kernel, self.grid, self.block, self.shared)
            self.h.put("module.launch.json", json.dumps(launch))
            self.arguments["launch"] = "module.launch.json"
        elif self.launch is not None:
            self.arguments["launch"] = self.launch
        if self.kernel:
            self.arguments["kernel"] = self.kernel

    def do(self, tool, kind, accept=(0,)):
        self.describe()
        code, document = self.h.call(tool, self.arguments, accept)
        return kind(document, code, self.h.diagnostics())


def analyze(ptx, kernel=None, launch=None, *, grid=None, block=None, args=None, shared=0, device=None, **options):
    """What every load does: coalescing, locality class, reuse. Runs nothing; exact with a launch."""
    return _Call(ptx, kernel, launch, grid, block, args, shared, device, options).do("analyze", Analysis)


def tune(ptx, kernel=None, launch=None, *, grid=None, block=None, args=None, shared=0, device=None, **options):
    """Searches all knobs: .options, .gain; budget=N limits the launches."""
    return _Call(ptx, kernel, launch, grid, block, args, shared, device, options).do("tune", Tuned)


def run(ptx, kernel=None, launch=None, *, grid=None, block=None, args=None, shared=0, device=None, timed=True, exact=False,
        check_memory=False, **options):
    """One launch: .time_ns, .counters, what limits it. With args and without options of a configuration, the arrays
    get what the kernel computes; with options, original and rewrite run on copies and are compared."""
    c = _Call(ptx, kernel, launch, grid, block, args, shared, device, {**options, **({"exact": True} if exact else {})})
    if not c.made or options:
        return c.do("run", Run)
    text = c.ptx if _is_text(c.ptx) else open(c.ptx, "rb").read()
    with Device(device) as d:
        return launch_on(d, d.module(text), c.row, c.made, grid, block, shared,
                         (TIMED if timed else 0) | (EXACT if exact else 0) | (CHECK if check_memory else 0))


def launch_on(d, module, row, made, grid, block, shared=0, flags=TIMED):
    """Arguments on a device for one launch, and back."""
    at = {id(b): d.lend(b.address, b.n, b) for b in made.buffers}
    try:
        document = d.launch(module, row["name"], grid, block, made.laid_out(lambda b: at[id(b)]), shared, flags=flags)
        said = d.handle.diagnostics()
    finally:
        for address in at.values():
            d.release(address)
    for b in made.buffers:
        b.back()
    return Run(document, 0, said)


def check(ptx=None, kernel=None, launch=None, *, grid=None, block=None, args=None, shared=0, device=None, **options):
    """Rules of `gpulocw check`: true when no finding is an error. As a decorator (@gpulocw.check, @gpulocw.check(...)):
    the compiled PTX of every launch with new types or sizes is checked before it runs (gpulocw.kernels)."""
    if ptx is None or not isinstance(ptx, (str, bytes, os.PathLike)):
        from .kernels import checked
        return checked(ptx, device=device, **options)
    return _Call(ptx, kernel, launch, grid, block, args, shared, device, options).do("check", Check, (0, 3))


def prune(fn=None, *, keep=0.25, device=None, **options):
    """Above @triton.autotune: of its configurations only the share `keep` that is fastest on the simulated device, and
    right, is tried on the GPU (gpulocw.kernels)."""
    from .kernels import pruned
    return pruned(fn, keep=keep, device=device, **options)
