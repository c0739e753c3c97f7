"""Runs the kernels of kernels.py and laundered.py. usage: attack.py GPULOCW FOLDER [all | NAME...]; prints TAP."""
import json, os, re, subprocess, sys
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kernels import ATTACKS, LEGAL, ENTRY, EVERY, HEAD
import laundered, fresh, guards  # add to ATTACKS and LEGAL
exe, tmp, which = sys.argv[1], sys.argv[2], sys.argv[3:]
every = which == ['all'] or bool(which)


def launch(more, flag):
    buf = lambda name, init, count=16384, out=True: {'name': name, 'buffer': 'u32', 'count': count, 'init': init, 'output': out}
    args = [buf('a', {'random': [0, 99], 'seed': 1}), buf('b', {'random': [0, 99], 'seed': 2}), buf('flag', flag, out=False), buf('out', {'fill': 0})]
    if more.get('same'):
        args[0] = {'name': 'a', 'same_as': 'b'}
    return {'format': 'gpulocw-launch', 'version': 1, 'kernel': 'k', 'grid': [8, 1, 1], 'block': [64, 1, 1], 'args': args}


def kernel(before, params, directives, body):
    """Local memory stands there for the bodies that use it: threads with some are never side by side."""
    entry = ENTRY if re.search(r'\bl\b', body) else ENTRY.replace(' .local .align 16 .b8 l[64];', '')
    return HEAD + before + entry % (params, directives) + ' ' + body + '\n ret; }\n'


def gpulocw(command, *options):
    r = subprocess.run([exe, command, tmp + '/k.ptx', *options], capture_output=True, text=True, timeout=120)
    return r.returncode, r.stdout, r.stderr


def loads_of_b(text):
    return [l for l in text.splitlines() if '.nc' in l and '[%d6]' in l]


def judge(a):
    """What is wrong, and what was accepted."""
    why, taken = [], []
    open(tmp + '/k.ptx', 'w').write(kernel(a['before'], a['params'], a['directives'], a['body']))
    for option in EVERY if every else a['refused'] + (['--readonly promote', '--bypass ro', '--softcache 1'] if a['kind'] == 'alias' else []):
        json.dump(launch(a['launch'], {'fill': 0}), open(tmp + '/k.launch.json', 'w'))
        rc, out, err = gpulocw('rewrite', *option.split(), '--device', 'sim:hopper-h200')
        if rc not in (0, 3):
            why.append('%s ended with %d: %s' % (option, rc, err))
        if rc == 0 and option in a['refused']:
            why.append('%s is accepted' % option)
        if rc == 0 and a['kind'] == 'alias' and loads_of_b(out):
            why.append('%s: %s' % (option, loads_of_b(out)[0].strip()))
        if rc == 0 and a.get('kept') and 'ld.global.u32 %r32, [%d6]' not in out:
            why.append('%s: the load of b is another one' % option)
        if rc != 0:
            continue
        taken.append(option)
        if a['quiet']:
            continue
        for flag in ({'fill': 0}, {'random': [0, 1], 'seed': 3}) if every else ({'random': [0, 1], 'seed': 3},):
            json.dump(launch(a['launch'], flag), open(tmp + '/k.launch.json', 'w'))
            rc, out, err = gpulocw('run', *option.split(), '--device', 'sim:hopper-h200', '--prove', 'full', '--no-counters')
            if rc not in (0, 3):
                why.append('run %s ended with %d: %s' % (option, rc, (out + err)[-300:]))
    return why, taken


def main():
    n = bad = 0
    for a in ATTACKS:
        if which and which != ['all'] and a['name'] not in which:
            continue
        n += 1
        why, taken = judge(a)
        bad += bool(why)
        print('%sok %d - %s: %s' % ('not ' if why else '', n, a['kind'], a['name']), flush=True)
        for w in why:
            print('#   ' + w.strip().replace('\n', '\n#   '))
        if which:
            print('#   accepted: %s' % ', '.join(taken))
    for name, before, body, options, *ordered in LEGAL:
        if which and which != ['all'] and name not in which:
            continue
        open(tmp + '/k.ptx', 'w').write(kernel(before, '', '', body))
        json.dump(launch({}, {'fill': 0}), open(tmp + '/k.launch.json', 'w'))
        said = [(o, *gpulocw('rewrite', *o.split(), '--device', 'sim:hopper-h200')) for o in options]
        n += 1
        why = ['%s: %s' % (o, err) for o, rc, out, err in said if rc != 0]
        ran = [(o, *gpulocw('run', *o.split(), '--device', 'sim:hopper-h200', '--prove', 'full', '--no-counters')) for o in options if ordered]
        why += ['run %s ended with %d: %s' % (o, rc, (out + err)[-300:]) for o, rc, out, err in ran if rc != 0]
        bad += bool(why)
        print('%sok %d - legal: %s' % ('not ' if why else '', n, name), flush=True)
        for w in why:
            print('#   ' + w.strip().replace('\n', '\n#   '))
    print('1..%d' % n)
    return bad > 0


if __name__ == '__main__':
    sys.exit(main())
