# A Triton program: rows.py COUNT
import sys, torch, triton, triton.language as tl

@triton.jit
def rows(x, y, passes, BLOCK: tl.constexpr):
    o = tl.arange(0, BLOCK)
    tile = x + tl.program_id(0) * BLOCK * 64
    s = tl.zeros((BLOCK,), tl.float32)
    t = tl.zeros((BLOCK,), tl.float32)
    for p in range(passes):
        for k in range(0, 64, 2):
            s += tl.load(tile + k * BLOCK + o)
            t += tl.load(tile + (k + 1) * BLOCK + o)
    tl.store(y + tl.program_id(0) * BLOCK + o, s + t)

torch.manual_seed(1)
x = torch.rand(528 * 512 * 64, device="cuda")
y = torch.empty(528 * 512, device="cuda")
for _ in range(int(sys.argv[1])):
    rows[(528,)](x, y, 8, BLOCK=512, num_warps=16)
torch.cuda.synchronize()
print("sum %.9f" % y.double().sum().item())
