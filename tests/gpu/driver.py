#!/usr/bin/env python3
"""How long the CUDA driver takes to start and to end in a process: alone, several at once, seeing one GPU or all of them,
loading modules lazily or eagerly.

    tests/gpu/driver.py [GPUS]         default 4
"""
import ctypes, os, subprocess, sys, time

def child(name):
    t = [time.time()]
    cuda, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
    t.append(time.time())
    for call in (lambda: cuda.cuInit(0), lambda: cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)):
        e = call()
        if e:
            sys.exit("%s: error %d" % (name, e))
        t.append(time.time())
    print("%-18s library %.3f  cuInit %.3f  context %.3f" % (name, t[1] - t[0], t[2] - t[1], t[3] - t[2]))
    print("%.6f" % time.time(), flush=True)
    os.kill(os.getpid(), 15)

def many(name, environments):
    start = time.time()
    p = [subprocess.Popen([sys.executable, __file__, "--child", name], env=dict(os.environ, **e), stdout=subprocess.PIPE, text=True) for e in environments]
    for one in p:
        line = one.communicate()[0].split("\n")
        print("%s  end %.3f s" % (line[0], time.time() - float(line[1])) if len(line) > 1 else "%s: failed" % name, flush=True)
    print("  %s: %.3f s in all" % (name, time.time() - start), flush=True)

if len(sys.argv) > 2 and sys.argv[1] == "--child":
    child(sys.argv[2])
n = int(sys.argv[1]) if len(sys.argv) > 1 else 4
one = {"CUDA_VISIBLE_DEVICES": "0"}
many("first", [one])
many("alone", [one])
many("lazy", [dict(one, CUDA_MODULE_LOADING="LAZY")])
many("eager", [dict(one, CUDA_MODULE_LOADING="EAGER")])
many("sees all", [{}])
many("at once", [{"CUDA_VISIBLE_DEVICES": str(i)} for i in range(n)])
