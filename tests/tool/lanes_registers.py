"""Registers of kernels with several threads side by side: what the simulated device estimates beside what ptxas takes.

usage: lanes_registers.py GPULOCW           compare with tests/golden/registers_lanes.txt; prints TAP
       lanes_registers.py GPULOCW --record  write that file; needs ptxas (sass.py says where)"""
import glob, math, os, re, subprocess, sys, tempfile
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import sass
from tap import done, say

GOLDEN = 'tests/golden/registers_lanes.txt'
LANES = (2, 4, 8)


def rewritten(program, path, kernel, lanes, out):
    """The estimate for the rewritten kernel, whose text is in `out`; None: refused."""
    r = subprocess.run([program, 'rewrite', path, '-k', kernel, '-d', 'sim:hopper-h200', '--coarsen', str(lanes), '--coarsen-mode', 'vector', '-o', out],
                       capture_output=True, text=True)
    said = re.search(r'registers \d+ -> (\d+) per thread, estimated', r.stderr)
    return int(said.group(1)) if r.returncode == 0 and said else None


def taken(ptx, kernel):
    said = subprocess.run([sass.PTXAS, '-arch=sm_90', '-v', ptx, '-o', os.devnull], capture_output=True, text=True).stderr
    found = re.search(r"Compiling entry function '%s'.*?Used (\d+) registers" % re.escape(kernel), said, re.S)
    return found and int(found.group(1))


def record(program, folder):
    with open(GOLDEN, 'w', encoding='utf-8') as f:
        f.write('# File, kernel, lanes of --coarsen-mode vector, registers of ptxas 13.0 for sm_90. Written by tests/tool/lanes_registers.py --record.\n')
        for path in sorted(glob.glob('tests/suites/*.ptx') + glob.glob('kernels/*.ptx')):
            for kernel in re.findall(r'\.entry\s+([\w$]+)', open(path, encoding='utf-8').read()):
                for lanes in LANES:
                    out = os.path.join(folder, 'lanes.ptx')
                    if rewritten(program, path, kernel, lanes, out) and taken(out, kernel):
                        f.write('%s %s %d %d\n' % (path, kernel, lanes, taken(out, kernel)))


def warps(registers):
    """Of an SM with 65,536 registers, given in eights to each of four schedulers."""
    return min(64, 512 // max(16, (registers + 7) // 8 * 8) * 4)


def check(program, folder):
    rows = [line.split() for line in open(GOLDEN, encoding='utf-8') if not line.startswith('#')]
    errors = {lanes: [] for lanes in LANES}
    for path, kernel, lanes, registers in rows:
        estimate = rewritten(program, path, kernel, int(lanes), os.path.join(folder, 'lanes.ptx'))
        say(estimate is not None, '%s, %s lanes, is rewritten' % (kernel, lanes))
        if estimate:
            errors[int(lanes)].append((math.log(warps(estimate) / warps(int(registers))), kernel))
    for lanes, least, most in ((2, 0.8, 0.15), (4, 0.6, 0.25), (8, 0.4, 0.35)):
        e = [x for x, _ in errors[lanes]]
        same, spread = sum(x == 0 for x in e), (sum(x * x for x in e) / max(1, len(e))) ** 0.5
        print('# %d lanes: as many warps fit an SM in %d of %d kernels; log ratio %.3f in the mean, %.3f its spread' % (lanes, same, len(e), sum(e) / max(1, len(e)), spread))
        say(len(e) > 50 and same >= least * len(e), 'of %d lanes as many warps fit in most kernels' % lanes, '%d of %d' % (same, len(e)))
        say(spread <= most, 'and the others are near', sorted(errors[lanes])[:5])


with tempfile.TemporaryDirectory() as tmp:
    if '--record' in sys.argv:
        record(sys.argv[1], tmp)
    else:
        check(sys.argv[1], tmp)
        done()
