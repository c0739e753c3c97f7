"""The shared library by ctypes: handles, calls, launches from memory (gpulocw.h)."""
import ctypes
import json
import os
import threading

_NAME = "libgpulocw.so.1"
TIMED, EXACT, CHECK = 1, 2, 4


class Error(Exception):
    """A call that did not end well: .code is the exit code of the program, .diagnostics what it said."""

    def __init__(self, code, diagnostics):
        self.code, self.diagnostics = code, diagnostics
        super().__init__(said(diagnostics) or f"exit code {code}")


class Refused(Error):
    """The rewrite is not proven legal (exit code 3)."""


class DeviceError(Error):
    """The kernel faults, races, or memory ran out (exit code 4)."""


class Different(Error):
    """The outputs are not those of the original (exit code 5)."""


def said(diagnostics):
    """Diagnostics as lines of text."""
    lines = []
    for d in diagnostics:
        place = f"{d['file']}:{d['line']}: " if d.get("file") and d.get("line") else ""
        lines.append(f"{place}{d['level']}: {d['message']}")
        if d.get("hint"):
            lines.append(f"  {d['hint']}")
    return "\n".join(lines)


def error(code, diagnostics):
    return {3: Refused, 4: DeviceError, 5: Different}.get(code, Error)(code, diagnostics)


class _Launch(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("module", ctypes.c_uint), ("flags", ctypes.c_uint), ("entry", ctypes.c_char_p),
                ("grid", ctypes.c_uint * 3), ("block", ctypes.c_uint * 3), ("cluster", ctypes.c_uint * 3),
                ("shared", ctypes.c_uint), ("params", ctypes.c_char_p), ("nparams", ctypes.c_size_t)]


def _load():
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), _NAME)
    path = os.environ.get("GPULOCW_LIBRARY") or (beside if os.path.exists(beside) else _NAME)
    lib = ctypes.CDLL(path)
    handle, text, number, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_size_t
    for name, result, arguments in [
            ("version", text, []), ("interface", ctypes.c_int, []), ("new", handle, []), ("free", None, [handle]),
            ("tools", text, [handle]), ("put", ctypes.c_int, [handle, text, text, size]),
            ("call", ctypes.c_int, [handle, text, text]), ("document", text, [handle]),
            ("diagnostics", text, [handle]), ("cancel", ctypes.c_int, [handle]),
            ("device_new", ctypes.c_int, [handle, text, ctypes.POINTER(handle)]), ("device_free", None, [handle]),
            ("device_lend", ctypes.c_int, [handle, handle, size, ctypes.POINTER(number)]),
            ("device_release", ctypes.c_int, [handle, number]),
            ("device_module", ctypes.c_int, [handle, text, size, ctypes.POINTER(ctypes.c_uint)]),
            ("device_variable", ctypes.c_int, [handle, ctypes.c_uint, text, ctypes.POINTER(number), ctypes.POINTER(number)]),
            ("device_write", ctypes.c_int, [handle, number, text, size]),
            ("device_read", ctypes.c_int, [handle, number, handle, size]),
            ("device_launch", ctypes.c_int, [handle, ctypes.POINTER(_Launch)])]:
        f = getattr(lib, "gpulocw_" + name)
        f.restype, f.argtypes = result, arguments
    if lib.gpulocw_interface() < 2:
        raise ImportError(f"{path} has interface {lib.gpulocw_interface()}; this module needs 2")
    return lib


lib = _load()
version = lib.gpulocw_version().decode()


_busy = set()  # handles whose call goes on


def interrupt():
    """Every call that goes on, in any thread, ends soon."""
    for at in list(_busy):
        lib.gpulocw_cancel(at)


class Handle:
    """One handle of the library: calls as in gpulocw.h, one at a time."""

    def __init__(self):
        self._at = lib.gpulocw_new()
        if not self._at:
            raise MemoryError("gpulocw")

    def close(self):
        at, self._at = self._at, None
        if at:
            lib.gpulocw_free(at)

    __del__ = close

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _waited(self, call):
        """call() in a thread of its own, so that an interrupt cancels it."""
        got = []
        thread = threading.Thread(target=lambda: got.append(call()), daemon=True)
        thread.start()
        _busy.add(self._at)
        try:
            while thread.is_alive():
                thread.join(0.2)
        except KeyboardInterrupt:
            lib.gpulocw_cancel(self._at)
            thread.join()
            raise
        finally:
            _busy.discard(self._at)
        return got[0]

    def diagnostics(self):
        return json.loads(lib.gpulocw_diagnostics(self._at).decode())

    def document(self):
        text = lib.gpulocw_document(self._at).decode()
        return json.loads(text) if text.startswith("{") else text

    def put(self, name, data):
        """A file that calls find under this name."""
        data = data.encode() if isinstance(data, str) else bytes(data)
        code = lib.gpulocw_put(self._at, name.encode(), data, len(data))
        if code:
            raise error(code, self.diagnostics())

    def call(self, tool, arguments, accept=(0,)):
        """(exit code, document) of a command; an exit code that is not accepted raises."""
        text = json.dumps(arguments).encode()
        code = self._waited(lambda: lib.gpulocw_call(self._at, tool.encode(), text))
        if code not in accept:
            raise error(code, self.diagnostics())
        return code, self.document()


class Device:
    """A simulated device: memory, modules and launches one after the other on one state."""

    def __init__(self, spec=None):
        self.handle, self._at, self._lent = Handle(), None, {}
        at = ctypes.c_void_p()
        self._do(lib.gpulocw_device_new(self.handle._at, spec.encode() if spec else None, ctypes.byref(at)))
        self._at = at

    def _do(self, code):
        if code:
            raise error(code, self.handle.diagnostics())

    def close(self):
        at, self._at = getattr(self, "_at", None), None
        if at:
            lib.gpulocw_device_free(at)
            self.handle.close()

    __del__ = close

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def module(self, ptx):
        """The number of a module of PTX text."""
        text, number = ptx.encode() if isinstance(ptx, str) else ptx, ctypes.c_uint()
        self._do(lib.gpulocw_device_module(self._at, text, len(text), ctypes.byref(number)))
        return number.value

    def lend(self, host, n, keep=None):
        """n bytes at the address `host` become memory of the device; its address there. keep: what owns them."""
        at = ctypes.c_uint64(0)
        self._do(lib.gpulocw_device_lend(self._at, host, n, ctypes.byref(at)))
        self._lent[at.value] = keep
        return at.value

    def release(self, address):
        self._do(lib.gpulocw_device_release(self._at, address))
        self._lent.pop(address, None)

    def variable(self, module, name):
        """(address, bytes) of a variable of a module."""
        at, n = ctypes.c_uint64(), ctypes.c_uint64()
        self._do(lib.gpulocw_device_variable(self._at, module, name.encode(), ctypes.byref(at), ctypes.byref(n)))
        return at.value, n.value

    def read(self, address, n):
        to = ctypes.create_string_buffer(n)
        self._do(lib.gpulocw_device_read(self._at, address, ctypes.addressof(to), n))
        return to.raw

    def write(self, address, data):
        self._do(lib.gpulocw_device_write(self._at, address, bytes(data), len(data)))

    def launch(self, module, entry, grid, block, params=b"", shared=0, cluster=(0, 0, 0), flags=0):
        """One launch; its document. params: bytes, laid out as the kernel declares them."""
        three = lambda v, rest: (ctypes.c_uint * 3)(*(tuple(v) + rest)[:3])
        l = _Launch(ctypes.sizeof(_Launch), module, flags, entry.encode() if entry else None, three(grid, (1, 1, 1)),
                    three(block, (1, 1, 1)), three(cluster, (0, 0, 0)), shared, params, len(params))
        code = self.handle._waited(lambda: lib.gpulocw_device_launch(self._at, ctypes.byref(l)))
        self._do(code)
        return self.handle.document()
