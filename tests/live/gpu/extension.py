# PyTorch eager with a kernel of one's own, beside PyTorch's: extension.py LIBRARY COUNT
import ctypes, sys, torch
library = ctypes.CDLL(sys.argv[1])
torch.manual_seed(1)
a = torch.rand(17301504, device="cuda")
out = torch.zeros(528 * 512, device="cuda")
b = torch.rand(4096, 1024, device="cuda")
for _ in range(int(sys.argv[2])):
    library.valley_run(ctypes.c_void_p(a.data_ptr()), ctypes.c_void_p(out.data_ptr()), 528, 64, 8)
    b = torch.softmax(b, 1)
torch.cuda.synchronize()
print("sum %.9f %.9f" % (out.double().sum().item(), b.double().sum().item()))
