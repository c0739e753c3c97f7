#!/usr/bin/env python3
"""Processor time of `gpulocw run` on products of matrices as people tune them (tests/tensor):

    tests/tool/tensor_speed.py GPULOCW [--tune LAUNCHES] [NAME...]

One line each: simulated time, processor time of the whole command and with --time-only, and how long a loop of 200
million additions took before it. --tune: of a search of so many launches instead, without the proof at its end, and how
many two processors try in 60 s at that rate."""
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

def triton(folder):
    """Triton's attention with 16 heads of 2,048."""
    launch = json.load(open(HERE + '/triton/attention.launch.json'))
    data = json.load(open(HERE + '/products.launch.json'))
    init = next(l for l in data['launches'] if l['name'] == 'attention2048')['args'][0]
    launch.update(kernel='attention', grid=[2048 // 128, 16, 1])
    for a in launch['args'][:4]:
        name, out = a['name'], 'output' in a
        a.clear()
        a.update(name=name, buffer='f16', count=16 * 2048 * 64, init={'fill': 0} if out else init['init'])
        a.update({'output': True} if out else {})
    launch['args'][5]['u32'] = 2048
    launch['symbols'][0]['init'] = {'hex': '00' * 11}
    launch['ptx'] = 'triton.ptx'
    open(folder + '/triton.ptx', 'w').write(open(HERE + '/triton/attention.ptx').read())
    json.dump(launch, open(folder + '/triton.launch.json', 'w'))
    return folder + '/triton.ptx'

def seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, out

def search(exe, name, about, launches, loop):
    """A short search and a longer one: what they differ by are tries."""
    few, short = 2, []
    for n in (few, launches):
        took, out = seconds([exe, 'tune', '--budget', str(n), '--prove', 'quick'] + about)
        if out.returncode:
            sys.exit('%s: %s' % (name, out.stderr.strip()))
        d = json.loads(out.stdout)
        s = d['seconds']
        behind = s['proof'] + s['confirmation'] + s['other_data']
        short.append((d['launches'], took * (1 - behind / sum(s.values()))))
    each = (short[1][1] - short[0][1]) / (short[1][0] - short[0][0])
    first = short[0][1] - (short[0][0] - 1) * each
    print('%-14s %5.1f s of processors for opening and the original, %5.2f a try: %d in 60 s of two  (loop %.3f s)'
          % (name, first, each, (120 - first) / each, loop), flush=True)

def main():
    exe, names, launches = sys.argv[1], sys.argv[2:], 0
    if names[:1] == ['--tune']:
        launches, names = int(names[1]), names[2:]
    names = names or ['gemm2048', 'attention2048', 'dp4a4096', 'triton', 's8_4096', 'wgmma4096']
    with tempfile.TemporaryDirectory() as folder:
        open(folder + '/loop.c', 'w').write(LOOP)
        subprocess.run([os.environ.get('CC', 'cc'), '-O2', '-o', folder + '/loop', folder + '/loop.c'], check=True)
        for name in names:
            ptx = wgmma(4096, folder) if name == 'wgmma4096' else triton(folder) if name == 'triton' else HERE + '/products.ptx'
            loop, _ = seconds([folder + '/loop'])
            about = [ptx, '--kernel', 'attention' if name == 'triton' else name, '--device', 'sim:hopper-h200', '--json']
            if launches:
                search(exe, name, about, launches, loop)
                continue
            took, out = seconds([exe, 'run'] + about)
            alone, _ = seconds([exe, 'run', '--time-only'] + about)
            if out.returncode:
                sys.exit('%s: %s' % (name, out.stderr.strip()))
            time = json.loads(out.stdout)['time_ns']['median']
            print('%-14s %9.2f us simulated  %6.1f s of processors, %5.1f with --time-only  (loop %.3f s)'
                  % (name, time / 1e3, took, alone, loop), flush=True)

if __name__ == '__main__':
    main()
