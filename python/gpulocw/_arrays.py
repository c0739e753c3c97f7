"""Arguments of a launch: arrays by the buffer protocol, and scalars, as the bytes that a kernel takes."""
import ctypes
import struct

ALIGN = 16
# of the buffer protocol and of NumPy-like type names
_ELEMENTS = {"b": "s8", "B": "u8", "?": "u8", "c": "u8", "h": "s16", "H": "u16", "e": "f16", "i": "s32", "I": "u32", "f": "f32",
             "d": "f64", "q": "s64", "Q": "u64"}
_NAMES = {"float16": "f16", "bfloat16": "bf16", "float32": "f32", "float64": "f64", "int8": "s8", "uint8": "u8", "bool": "u8",
          "int16": "s16", "uint16": "u16", "int32": "s32", "uint32": "u32", "int64": "s64", "uint64": "u64"}
BYTES = {"s8": 1, "u8": 1, "s16": 2, "u16": 2, "f16": 2, "bf16": 2, "s32": 4, "u32": 4, "f32": 4, "s64": 8, "u64": 8, "f64": 8}


class Buffer:
    """The bytes of one array: in place where they can be, else a copy that back() writes back."""

    def __init__(self, array):
        self.array, self.copy = array, None
        self.writable, self.element = True, "u8"
        self._find(array)
        if self.address % ALIGN or not self.writable:
            self._copied(self.bytes())

    def _find(self, a):
        if hasattr(a, "data_ptr") and hasattr(a, "element_size"):  # a tensor of torch
            if getattr(a, "device", None) is not None and a.device.type != "cpu":
                host = a.detach().cpu().contiguous()
                self._find(host)
                self.host, self.device_array = host, a
                return
            if not a.is_contiguous():
                raise TypeError("an array must be contiguous")
            self.address, self.n, self.kept = a.data_ptr(), a.numel() * a.element_size(), a
            self.element = _NAMES.get(str(a.dtype).rsplit(".", 1)[-1], "u8")
            return
        if hasattr(a, "__cuda_array_interface__") and hasattr(a, "get"):  # an array of CuPy
            host = a.get()
            self._find(host)
            self.host, self.device_array = host, a
            return
        if hasattr(a, "copy_to_host"):  # an array of Numba
            host = a.copy_to_host()
            self._find(host)
            self.host, self.device_array = host, a
            return
        view = memoryview(a)
        if not view.c_contiguous:
            raise TypeError("an array must be contiguous")
        code = view.format.lstrip("@=<") if view.format else "B"
        code = {"l": "q" if view.itemsize == 8 else "i", "L": "Q" if view.itemsize == 8 else "I"}.get(code, code)
        self.element, self.n, self.writable = _ELEMENTS.get(code, "u8"), view.nbytes, not view.readonly
        if not self.n:
            raise TypeError("an array must have elements")
        flat = view.cast("B")
        if view.readonly:
            self._copied(bytes(flat))
            return
        self.kept = (ctypes.c_char * self.n).from_buffer(flat)
        self.address = ctypes.addressof(self.kept)

    def _copied(self, data):
        self.n = len(data)
        self.copy = ctypes.create_string_buffer(self.n + ALIGN)
        at = ctypes.addressof(self.copy)
        self.origin, self.address = getattr(self, "address", None), at + (-at) % ALIGN
        ctypes.memmove(self.address, data, self.n)

    def bytes(self):
        return ctypes.string_at(self.address, self.n)

    def back(self):
        """What a launch left, in the caller's array."""
        if not self.writable:
            return
        if self.copy is not None:
            ctypes.memmove(self.origin, self.address, self.n)
        device = getattr(self, "device_array", None)
        if device is None:
            return
        if hasattr(device, "copy_"):
            device.copy_(self.host)
        elif hasattr(device, "set"):
            device.set(self.host)
        else:
            device.copy_to_device(self.host)


def is_array(value):
    if isinstance(value, (bytes, bytearray, memoryview)) or hasattr(value, "data_ptr") or hasattr(value, "__cuda_array_interface__"):
        return True
    if isinstance(value, (bool, int, float, ctypes.Structure)) or value is None:
        return False
    try:
        return memoryview(value).ndim > 0
    except TypeError:
        return False


_PACK = {"f16": "<e", "f32": "<f", "f64": "<d"}


def packed(value, kind, size):
    """The bytes of one scalar for a parameter of this type and size."""
    if isinstance(value, ctypes.Structure):
        data = bytes(value)
    elif isinstance(value, (bytes, bytearray)):
        data = bytes(value)
    elif value is None:
        data = bytes(size)
    elif kind in _PACK or (isinstance(value, float) and kind.startswith("b")):
        data = struct.pack(_PACK.get(kind, {2: "<e", 4: "<f", 8: "<d"}.get(size, "<d")), float(value))
    else:
        if int(value) != value:
            raise TypeError(f"{value!r} is no whole number, which the parameter is")
        data = (int(value) & ((1 << 8 * size) - 1)).to_bytes(size, "little")
    if len(data) != size:
        raise TypeError(f"the parameter has {size} bytes, not {len(data)}")
    return data


class Arguments:
    """The arguments of a launch against the parameters of a kernel (of `gpulocw list`)."""

    def __init__(self, params, args, rest_zero=False):
        if len(args) > len(params) or (len(args) < len(params) and not rest_zero):
            raise TypeError(f"the kernel takes {len(params)} arguments, not {len(args)}")
        self.params, self.buffers, self.values, by_id = params, [], [], {}
        for p, a in zip(params, list(args) + [None] * (len(params) - len(args))):
            if a is not None and not isinstance(a, bytes) and is_array(a):
                b = by_id.get(id(a)) or Buffer(a)
                if id(a) not in by_id:
                    self.buffers.append(b)
                by_id[id(a)] = b
                self.values.append(b)
            elif isinstance(a, bytes) and p["size"] == 8 and len(a) != 8:
                b = Buffer(a)
                self.buffers.append(b)
                self.values.append(b)
            else:
                self.values.append(packed(a, p["type"], p["size"]))

    def laid_out(self, address_of):
        """The parameter bytes; address_of(buffer): its address on the device."""
        out = bytearray(max((p["offset"] + p["size"] for p in self.params), default=0))
        for p, v in zip(self.params, self.values):
            data = address_of(v).to_bytes(8, "little") if isinstance(v, Buffer) else v
            out[p["offset"]:p["offset"] + p["size"]] = data
        return bytes(out)

    def description(self, handle, kernel, grid, block, shared):
        """A launch description whose data are files of the handle."""
        rows, named = [], {}
        for i, v in enumerate(self.values):
            name = f"arg{i}"
            if not isinstance(v, Buffer):
                rows.append({"name": name, "bytes": v.hex()})
            elif id(v) in named:
                rows.append({"name": name, "same_as": named[id(v)], "offset": 0})
            else:
                handle.put(f"{name}.bin", v.bytes())
                named[id(v)] = name
                rows.append({"name": name, "buffer": v.element, "count": v.n // BYTES[v.element],
                             "init": {"file": f"{name}.bin"}, **({"output": True} if v.writable else {})})
        three = lambda d: (list(d) + [1, 1, 1])[:3]
        return {"format": "gpulocw-launch", "version": 1, "kernel": kernel, "grid": three(grid), "block": three(block),
                "shared": shared, "args": rows}
