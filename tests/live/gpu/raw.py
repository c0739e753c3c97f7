# A CuPy program with a kernel from source: raw.py SOURCE COUNT
import sys, cupy
kernel = cupy.RawKernel(open(sys.argv[1]).read(), "valley")
a = (cupy.arange(17301504, dtype="u4") * 2654435761 % 65536).astype("f4") / 65536
out = cupy.zeros(528 * 512, dtype="f4")
for _ in range(int(sys.argv[2])):
    kernel((528,), (512,), (a, out, cupy.int32(64), cupy.int32(8)))
cupy.cuda.Device().synchronize()
print("sum %.9f" % float(out.astype("f8").sum()))
