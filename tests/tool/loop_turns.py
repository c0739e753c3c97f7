#!/usr/bin/env python3
"""How far the time from a few turns of a loop is from that of all turns, and what both cost:

    tests/tool/loop_turns.py GPULOCW [FILE.ptx LAUNCH ...]

One line each: turns timed and all, the two simulated times, their difference, processor seconds. Without files the
products of tests/tensor that are large enough."""
import json, os, resource, subprocess, sys

PRODUCTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tensor', 'products.ptx')

def run(exe, ptx, name, *more):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    out = subprocess.run([exe, 'run', ptx, '--kernel', name, '--device', 'sim:hopper-h200', '--time-only', '--json', *more],
                         capture_output=True, text=True)
    if out.returncode:
        sys.exit('%s: %s' % (name, out.stderr.strip()))
    return json.loads(out.stdout), resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

def main():
    exe, rest = sys.argv[1], sys.argv[2:]
    cases = list(zip(rest[::2], rest[1::2])) or [(PRODUCTS, n) for n in ('gemm2048', 'attention2048', 's8_4096')]
    print('%-16s %12s %12s %12s %8s %16s' % ('launch', 'turns', 'from some', 'from all', 'error', 'seconds'))
    for ptx, name in cases:
        some, cost = run(exe, ptx, name)
        whole, most = run(exe, ptx, name, '--exact')
        a, b = some['time_ns']['median'], whole['time_ns']['median']
        turns = '%d of %d' % (some['timed_turns'], some['loop_turns']) if some['loop_turns'] else 'all'
        print('%-16s %12s %9.2f us %9.2f us %+6.1f %% %6.1f for %6.1f' % (name, turns, a / 1e3, b / 1e3, 100 * (a / b - 1), cost, most), flush=True)

if __name__ == '__main__':
    main()
