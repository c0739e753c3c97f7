"""Runs a kernel of Triton or Numba, patched or not, by stand-ins for their modules, program by program: `stand_in.py FILE`
prints which program wrote each element. For tests/cli/source.sh, where neither is installed."""
import sys
import types as t

PROGRAMS, BLOCK = 8, 4
out = [None] * (PROGRAMS * BLOCK)
now = t.SimpleNamespace(program=0, thread=0)


class Lanes(list):
    def each(self, f):
        return Lanes(f(v) for v in self)

    def __add__(self, o): return Lanes(a + b for a, b in zip(self, o)) if isinstance(o, list) else self.each(lambda v: v + o)
    __radd__ = __add__
    def __lt__(self, n): return self


def store(at, value):
    for i in at:
        assert out[i] is None
        out[i] = now.program


tl = t.ModuleType("triton.language")
tl.constexpr, tl.float32, tl.minimum, tl.store = int, float, min, store
tl.arange = lambda a, b: Lanes(range(a, b))
tl.zeros = lambda shape, kind: Lanes([0.0] * shape[0])
tl.load = lambda at, **how: at.each(lambda v: 0.0)
tl.program_id, tl.num_programs = (lambda axis: now.program), (lambda axis: PROGRAMS)
triton = t.ModuleType("triton")
triton.jit, triton.language = (lambda f: f), tl


class Output:
    def __setitem__(self, i, v): store([i], v)


class X(t.SimpleNamespace):
    x = property(lambda self: self.get())


cuda = t.SimpleNamespace(jit=lambda f: f, blockIdx=X(get=lambda: now.program), threadIdx=X(get=lambda: now.thread),
                         blockDim=X(get=lambda: BLOCK), gridDim=X(get=lambda: PROGRAMS),
                         grid=lambda dims: now.program * BLOCK + now.thread)
numba = t.ModuleType("numba")
numba.cuda = cuda
sys.modules.update({"triton": triton, "triton.language": tl, "numba": numba})
scope = {}
exec(open(sys.argv[1]).read(), scope)
for now.program in range(PROGRAMS):
    if "cuda" in scope:
        for now.thread in range(BLOCK):
            scope["rows"]([0.0] * (8 * len(out)), Output(), len(out))
    else:
        scope["rows"](0, 0, BLOCK, BLOCK)
print(out)
