"""list_speed.py GPULOCW: how long `gpulocw list` takes on a shared object of 300 MB, and on one with many modules."""
import os, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'container'))
from make import *


def listed(title, parts):
    with tempfile.NamedTemporaryFile(suffix='.so') as f:
        f.write(elf([('.nv_fatbin', b''.join(parts))]))
        f.flush()
        took = []
        for _ in range(3):
            began = time.time()
            subprocess.run([sys.argv[1], 'list', f.name], stdout=subprocess.DEVNULL, check=True)
            took.append(time.time() - began)
        print('%s, %.0f MB: listed in %.2f s (least of 3: %.2f s)' % (title, os.path.getsize(f.name) / 1e6, sorted(took)[1], min(took)))


listed('100 modules of machine code and 100 of PTX', [fatbin(entry(cubin([f'k{i}']) + b'\0' * (3 << 20), kind=2), entry(ptx([f'p{i}']), packed=ZSTD)) for i in range(100)])
listed('6,000 of each', [fatbin(entry(cubin([f'k{i}']) + b'\0' * (50 << 10), kind=2), entry(ptx([f'p{i}']), packed=ZSTD)) for i in range(6000)])
listed('60,000 of each', [fatbin(entry(cubin([f'k{i}']), kind=2), entry(ptx([f'p{i}']), packed=ZSTD)) for i in range(60000)])
