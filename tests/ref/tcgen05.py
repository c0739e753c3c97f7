"""tcgen05 as the PTX ISA describes it (9.7.16), written apart from the simulator: tensor memory as a list of words, matrices placed in an image of shared memory as descriptors say.
Sums are exact rational numbers: inputs are chosen so that no rounding happens."""
from fractions import Fraction as F
import struct

LANES, COLUMNS = 128, 512
# (exponent bits, fraction bits, bias)
FLOATS = {'f16': (5, 10, 15), 'bf16': (8, 7, 127), 'tf32': (8, 10, 127), 'e4m3': (4, 3, 7), 'e5m2': (5, 2, 15), 'e3m2': (3, 2, 3), 'e2m3': (2, 3, 1), 'e2m1': (2, 1, 1)}
BITS = {'f16': 16, 'bf16': 16, 'tf32': 32, 'e4m3': 8, 'e5m2': 8, 'e3m2': 6, 'e2m3': 6, 'e2m1': 4, 'u8': 8, 's8': 8}
K = {'f16': 16, 'tf32': 8, 'f8f6f4': 32, 'i8': 32, 'mxf8f6f4': 32, 'mxf4': 64, 'mxf4nvf4': 64}

def value(t, v):
    """The number that bits v of type t stand for."""
    if t in ('u8', 's8'): return F(v - 256 if t == 's8' and v > 127 else v)
    if t == 'tf32': v >>= 13
    e, f, bias = FLOATS[t]
    sign, exp, frac = v >> (e + f) & 1, v >> f & ((1 << e) - 1), v & ((1 << f) - 1)
    return (-1) ** sign * (F(frac, 1 << f) * F(2) ** (1 - bias) if exp == 0 else (1 + F(frac, 1 << f)) * F(2) ** (exp - bias))

# ---- where element (row, k) of a matrix lies in shared memory ----
class Smem:
    """A matrix of `rows` by `k` at byte `at`: rows of M or N. swizzle: bytes of the pattern (0, 32, 64, 128); mn: elements lie side by side along M or N."""
    def __init__(self, t, rows, k, at, swizzle=0, mn=False, packed=False):
        self.t, self.rows, self.k, self.at, self.swizzle, self.mn, self.packed = t, rows, k, at, swizzle, mn, packed
        bits = BITS[t]
        self.per = 32 if packed else 16 if bits < 8 else 128 // bits      # elements in 16 bytes
        w = max(swizzle, 16) // 16                                        # units of 16 bytes in a row of the pattern
        units = (rows if mn else k) // self.per                           # along the side on which elements lie side by side
        groups = (k if mn else rows) // 8
        atom = 8 * w * 16
        if swizzle or not mn: self.stride, self.lead = atom, atom * max(1, groups)         # groups of 8 side by side, then the next atom
        else: self.lead, self.stride = atom, atom * max(1, groups)
        self.bytes = atom * max(1, groups) * -(-units // w)
        self.w = w
    def place(self, row, k):
        """Byte and bit in it."""
        along, across = (row, k) if self.mn else (k, row)
        u, g = along // self.per, across // 8
        a = self.at + (u % self.w) * 16 + (across % 8) * self.w * 16
        if self.mn and not self.swizzle: a += u * self.stride + g * self.lead
        else: a += (u // self.w) * self.lead + g * self.stride
        a ^= (a >> 7 & (self.w - 1)) << 4
        bit = along % self.per * (4 if self.packed else BITS[self.t])
        return a + bit // 8, bit % 8
    def write(self, image, m):
        for r in range(self.rows):
            for k in range(self.k):
                a, bit = self.place(r, k)
                v = int.from_bytes(image[a:a + 4], 'little') | m[r][k] << bit
                image[a:a + 4] = (v & 0xffffffff).to_bytes(4, 'little')
    def descriptor(self):
        code = {0: 0, 128: 2, 64: 4, 32: 6}[self.swizzle]
        return self.at >> 4 | (self.lead >> 4) << 16 | (self.stride >> 4) << 32 | 1 << 46 | code << 61

# ---- tensor memory ----
def d_place(m, n, ws, pair):
    """(row of one CTA, column) -> (lane, column); m: rows of one CTA."""
    if m == 128: return lambda r, c: (r, c)
    if m == 64 and not ws and not pair: return lambda r, c: (32 * (r // 16) + r % 16, c)
    if m == 64: return lambda r, c: (r + 64 * (c // (n // 2)), c % (n // 2))
    return lambda r, c: (r + 32 * (c // (n // 4)), c % (n // 4))
def fragment(shape, num, split=0):
    """[register][thread] -> (lane, column)."""
    n = num * {'16x128b': 2, '16x256b': 4}.get(shape, 1)
    def one(r, t):
        if shape == '32x32b': return t, r
        if shape == '16x64b': return t // 4 + 8 * (t % 2), 2 * r + t // 2 % 2
        if shape == '16x128b': return t // 4 + 8 * (r % 2), 4 * (r // 2) + t % 4
        if shape == '16x256b': return t // 4 + 8 * (r // 2 % 2), 8 * (r // 4) + 2 * (t % 4) + r % 2
        return t % 16, r + (split if t > 15 else 0)
    return [[one(r, t) for t in range(32)] for r in range(n)]

def idesc(kind, m, n, a, b, d='f32', neg=(0, 0), trans=(0, 0), saturate=0, scale=None, ids=(0, 0)):
    number = {'f16': 0, 'bf16': 1, 'tf32': 2, 'e4m3': 0, 'e5m2': 1, 'e2m3': 3, 'e3m2': 4, 'e2m1': 1 if kind in ('mxf4', 'mxf4nvf4') else 5, 'u8': 0, 's8': 1}
    v = number[a] << 7 | number[b] << 10 | neg[0] << 13 | neg[1] << 14 | trans[0] << 15 | trans[1] << 16 | n >> 3 << 17 | m >> 4 << 24
    if scale: return v | (scale == 'ue8m0') << 23 | ids[0] << 29 | ids[1] << 4
    return v | {'f16': 0, 'f32': 1, 's32': 2}[d] << 4 | saturate << 3

def scale_value(kind, v): return F(2) ** (v - 127) if kind == 'ue8m0' else value('e4m3', v & 127)

def as_word(d, x):
    if d == 'f32': return struct.unpack('<I', struct.pack('<f', float(x)))[0]
    if d == 'f16': return struct.unpack('<H', struct.pack('<e', float(x)))[0]
    return int(x) & 0xffffffff
def of_word(d, w):
    if d == 'f32': return F(struct.unpack('<f', struct.pack('<I', w))[0])
    if d == 'f16': return F(struct.unpack('<e', struct.pack('<H', w & 0xffff))[0])
    return F(w - (1 << 32) if w >> 31 else w)
