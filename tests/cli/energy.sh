#!/bin/bash
# run --energy: measured by a GPU's counter beside the modelled one, or n/a with the reason (fake driver, fake NVML).
. tests/tool/tap.sh
python3 - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import json, os, shutil, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path.insert(0, 'tests/tool')
from tap import done, say
shutil.copy('tests/conformance/kernels.ptx', tmp + '/conf.ptx')
json.dump({'format': 'gpulocw-launch', 'version': 1, 'ptx': 'conf.ptx', 'kernel': 'conf_bump', 'grid': 2, 'block': 128,
           'args': [{'name': 'buf', 'buffer': 'u32', 'count': 256, 'output': True, 'init': {'iota': [0, 1]}}, {'name': 'add', 'u32': 5}]}, open(tmp + '/conf.launch.json', 'w'))
fake = os.path.join(os.path.dirname(exe), 'tests', 'fake')
gpu = dict(os.environ, GPULOCW_LIBCUDA=fake + '/libcuda.so.1', GPULOCW_LIBNVML=fake + '/libnvml.so', CUPTI_PATH=fake, FAKE_CUDA='')
def run(env, *options):
    r = subprocess.run([exe, 'run', tmp + '/conf.ptx', *options], capture_output=True, text=True, env=env)
    return r.returncode, r.stdout, r.stderr
def document(env, *options):
    rc, out, said = run(env, '--json', *options)
    return json.loads(out).get('energy') if rc == 0 else said
SIM, CUDA = ('-d', 'sim:hopper-h200'), ('-d', 'cuda:0')
e = document(os.environ, *SIM)
say(e is None, 'not asked, not there', e)
e = document(os.environ, *SIM, '--energy')
say(e and e['measured_nj'] is None and e['evidence'] is None and 'simulated' in e['why'] and e['modelled_nj'] > 0, 'a simulated device: modelled alone, and why', e)
if os.path.exists(gpu['GPULOCW_LIBCUDA']):
    e = document(dict(gpu, FAKE_NVML_ENERGY='7 1 100'), *CUDA, '--energy')
    say(isinstance(e, dict) and e['evidence'] == 'measured' and not e['why'] and e['step'] <= 0.05 and abs(e['measured_nj'] / 7e6 - 1) <= e['step'], 'a GPU: 7 mJ of each launch, by a counter of 100 mJ', e)
    e = document(dict(gpu, FAKE_NVML_ENERGY='7 7 100'), *CUDA, '--energy')
    say(isinstance(e, dict) and not e['why'] and e['step'] <= 0.05 and abs(e['measured_nj'] / 7e6 - 1) <= e['step'], 'where restoring takes as much, so many more steps as that needs', e)
    rc, out, said = run(dict(gpu, FAKE_NVML_ENERGY='7 1 100'), *CUDA, '--energy')
    say(rc == 0 and 'µJ a launch, measured (NVML)' in out and 'modelled: ' in out, 'both in the text', out, said)
    for env, why in ((gpu, 'no counter of energy'), (dict(gpu, GPULOCW_LIBNVML='/nonexistent'), 'no NVML'), (dict(gpu, FAKE_NVML_ENERGY='0 9 100'), 'little beside')):
        e = document(env, *CUDA, '--energy')
        say(isinstance(e, dict) and e['measured_nj'] is None and e['launches'] == 0 and why in e['why'], 'n/a: ' + why, e)
done()
PY
rc=$?
cat "$T/said"
exit $rc
