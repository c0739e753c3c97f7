# torch.compile: compiled.py COUNT
import sys, torch
torch.manual_seed(1)
@torch.compile
def f(a, b):
    return torch.softmax(a * b + 1, 1) * a
a, b = torch.rand(4096, 2048, device="cuda"), torch.rand(4096, 2048, device="cuda")
for _ in range(int(sys.argv[1])):
    c = f(a, b)
torch.cuda.synchronize()
print("sum %.9f" % c.double().sum().item())
