#!/usr/bin/env python3
"""Prunes an autotuner's candidates before any of them runs on a GPU: what is not legal goes, and of the
rest the fastest on the simulated device stay.

    prune.py kernel.ptx [how many to keep]

A Triton-like autotuner has a list of configurations and times them all. Here a configuration is a set of
gpulocw's options; put your own PTX of each configuration into put() instead. Needs libgpulocw.so alone."""
import ctypes, itertools, json, os, sys


class Gpulocw:
    """A handle of the library. Results are dictionaries."""

    def __init__(self, library=None):
        self.lib = lib = ctypes.CDLL(library or os.environ.get("GPULOCW_LIBRARY", "libgpulocw.so.1"))
        lib.gpulocw_new.restype = ctypes.c_void_p
        lib.gpulocw_free.argtypes = [ctypes.c_void_p]
        lib.gpulocw_call.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]
        lib.gpulocw_put.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
        lib.gpulocw_cancel.argtypes = [ctypes.c_void_p]
        for f in (lib.gpulocw_document, lib.gpulocw_diagnostics, lib.gpulocw_tools):
            f.argtypes, f.restype = [ctypes.c_void_p], ctypes.c_char_p
        self.handle = lib.gpulocw_new()
        if not self.handle:
            raise MemoryError

    def put(self, name, data):
        data = data.encode() if isinstance(data, str) else data
        return self.lib.gpulocw_put(self.handle, name.encode(), data, len(data))

    def call(self, tool, **arguments):
        """(exit code, document, diagnostics)"""
        names = {k.replace("_", "-"): v for k, v in arguments.items()}
        code = self.lib.gpulocw_call(self.handle, tool.encode(), json.dumps(names).encode())
        text = self.lib.gpulocw_document(self.handle).decode()
        said = json.loads(self.lib.gpulocw_diagnostics(self.handle))
        return code, json.loads(text) if text.startswith("{") else text, said

    def close(self):
        self.lib.gpulocw_free(self.handle)
        self.handle = None


def candidates():
    for bypass, coarsen, order in itertools.product(("none", "l1"), (1, 2), ("none", "redirect")):
        c = {"coarsen": coarsen}
        if bypass != "none":
            c.update(bypass=bypass, pi="bpa")
        if order != "none":
            c.update(cluster=order)
        yield c


def main(kernel, keep):
    g, ranked, refused = Gpulocw(), [], []
    for c in candidates():
        code, result, said = g.call("run", file=kernel, **c)
        if code == 0 and result["equal_to_original"]:
            ranked.append((result["time_ns"]["median"], c))
        else:
            refused.append((code, c, said[0]["message"] if said else ""))
    g.close()
    ranked.sort(key=lambda r: r[0])
    for code, c, why in refused:
        print(f"out      exit {code}  {c}  {why[:90]}")
    for i, (ns, c) in enumerate(ranked):
        print(f"{'keep' if i < keep else 'slower'}  {ns / 1e3:10.1f} us simulated  {c}")
    return 0 if ranked else 1


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) == 3 else 3))
