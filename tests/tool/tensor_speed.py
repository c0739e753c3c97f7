#!/usr/bin/env python3
"""Processor time of `gpulocw run` on products of matrices as people tune them (tests/tensor):

    tests/tool/tensor_speed.py GPULOCW [NAME...]

One line each: simulated time, processor time of the whole command, and how long a loop of 200 million additions
took before it, which tells how much of the processor other work has taken."""
import json, os, resource, subprocess, sys, tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tensor')
LOOP = 'int main(void){unsigned long x=1;for(unsigned long i=0;i<200000000;i++){x+=i;__asm__ volatile(""::"r"(x));}return x==1;}'

def wgmma(size, folder):
    """gemm_wgmma of size cubed."""
    launch = next(l for l in json.load(open(HERE + '/gemm_wgmma.launch.json'))['launches'] if l['name'] == 'n1024')
    launch.update(name='wgmma%d' % size, grid=[size // 128, size // 128, 1], kernel='gemm_wgmma', ptx='gemm_wgmma.ptx',
                  block=[384, 1, 1], shared=131072)
    for a in launch['args']:
        if 'tensor_map' in a: a['tensor_map'].update(dims=[size, size], strides=[2 * size])
        if 'buffer' in a: a['count'] = size * size
        if 's32' in a: a['s32'] = size
    json.dump({'format': 'gpulocw-launch', 'version': 1, 'launches': [launch]}, open(folder + '/gemm_wgmma.launch.json', 'w'))
    open(folder + '/gemm_wgmma.ptx', 'w').write(open(HERE + '/gemm_wgmma.ptx').read())
    return folder + '/gemm_wgmma.ptx'

def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out

def main():
    exe, names = sys.argv[1], sys.argv[2:] or ['gemm2048', 'attention2048', 'dp4a4096', 's8_4096', 'wgmma4096']
    with tempfile.TemporaryDirectory() as folder:
        open(folder + '/loop.c', 'w').write(LOOP)
        subprocess.run([os.environ.get('CC', 'cc'), '-O2', '-o', folder + '/loop', folder + '/loop.c'], check=True)
        for name in names:
            ptx = wgmma(4096, folder) if name == 'wgmma4096' else HERE + '/products.ptx'
            loop, _ = seconds([folder + '/loop'])
            took, out = seconds([exe, 'run', ptx, '--kernel', name, '--device', 'sim:hopper-h200', '--json'])
            if out.returncode:
                sys.exit('%s: %s' % (name, out.stderr.strip()))
            time = json.loads(out.stdout)['time_ns']['median']
            print('%-14s %9.2f us simulated  %6.1f s of processors  (loop %.3f s)' % (name, time / 1e3, took, loop), flush=True)

if __name__ == '__main__':
    main()
