#!/bin/bash
# Mistakes in tensor maps, copies, mbarriers and matrix descriptors end in a located error that names the cause and what to do.
. tests/tool/tap.sh
python3 - "$B" "$T" > "$T/said" 2>&1 <<'PY'
import copy, json, re, subprocess, sys
exe, tmp = sys.argv[1:]
sys.path.insert(0, 'tests/tool')
from tap import claim, done
launch = json.load(open('tests/tensor/ring_wgmma.launch.json'))
ring = open('tests/tensor/ring_wgmma.ptx').read()
def run(d, text):
    open(tmp + '/ring_wgmma.ptx', 'w').write(text)
    json.dump(d, open(tmp + '/ring_wgmma.launch.json', 'w'))
    r = subprocess.run([exe, 'run', tmp + '/ring_wgmma.ptx', '--device', 'sim:hopper-h200'], capture_output=True, text=True, timeout=100)
    return r.returncode, r.stderr
def told(name, rc, said, want, *patterns):
    good = rc == want and all(re.search(p, said) for p in patterns)
    claim(name, good, '%d %s' % (rc, said[-700:].replace('\n', '\n#   ')))
def in_map(name, change, pattern):
    d = copy.deepcopy(launch)
    d['args'][0]['tensor_map'].update(change)
    rc, said = run(d, ring)
    told(name, rc, said, 1, r"ring_wgmma\.launch\.json(:\d+:\d+)?: error: argument 0 \('A'\): ", pattern)
def in_code(name, old, new, code, *patterns, **change):
    text = ring.replace(old, new, 1)
    claim(name + ': the kernel is changed', text != ring or change)
    rc, said = run({**copy.deepcopy(launch), **change}, text)
    told(name, rc, said, 4, r'ring_wgmma\.ptx:\d+:\d+: error: ', r'\[%s\]' % code, r'hint: ', *patterns)
rc, said = run(launch, ring)
claim('without a mistake it runs', rc == 0, said)

in_map('a box of 257 rows', {'box': [64, 257]}, 'the box has 257 elements along dimension 1, not 1 to 256')
in_map('a box of no columns', {'box': [0, 128]}, 'the box has 0 elements along dimension 0')
in_map('a box wider than its swizzle of 128 bytes', {'box': [128, 128]}, '256 bytes, more than the 128 that the swizzle spans')
in_map('a swizzle of 32 bytes for a box of 128', {'swizzle': '32B'}, '128 bytes, more than the 32 that the swizzle spans')
in_map('a swizzle of 64 bytes for a box of 128', {'swizzle': '64B'}, '128 bytes, more than the 64 that the swizzle spans')
in_map('a box of 126 bytes', {'box': [63, 128]}, '126 bytes, not a multiple of 16')
in_map('a stride of 1,000 bytes', {'strides': [1000]}, '1000 bytes, is not a multiple of 16')
in_map('a stride of 2^40 bytes', {'strides': [1 << 40]}, 'below 2.40')
in_map('a dimension of none', {'dims': [0, 256]}, 'dimension 0 has 0 elements')
in_map('a tensor 8 bytes into its buffer', {'offset': 8}, 'the address 0x8 is not a multiple of 16')
in_map('a tensor behind its buffer', {'offset': 1 << 30}, "past the end of buffer 'a'")
in_map('an element stride of 9', {'element_strides': [1, 9]}, 'element stride of dimension 1 is 9, not 1 to 8')
in_map('an interleave of a matrix', {'interleave': '16B'}, 'needs 3 dimensions or more')
in_map('six dimensions', {'dims': [8] * 6, 'strides': [16] * 5, 'box': [8] * 6}, '"dims" must be a list of 1 to 5 whole numbers')
in_map('a box that is a word', {'box': '64'}, '"box" must be a list of 2 whole numbers')
in_map('a box of less than none', {'box': [-1, 128]}, '"box" must be a list of 2 whole numbers')
in_map('a swizzle that there is not', {'swizzle': '256B'}, '"swizzle" must be one of none, 32B, 64B, 128B')
in_map('data that is no buffer', {'data': 'A'}, 'is not a buffer')

COPY = '[r22], [x0, {r30, r10}], [r23]'
INIT = 'mbarrier.init.shared::cta.b64 [r3+0], 1;'
copies = lambda new: COPY.replace(*new)
in_code('a box outside shared memory', COPY, copies(('[r22]', '[r22+65536]')), 'out-of-bounds', 'the CTA has 66560 bytes')
in_code('a box 64 bytes off', COPY, copies(('[r22]', '[r22+64]')), 'bad-operand', 'shared address 0x440, which is not a multiple of 128', 'align the variable')
in_code('an mbarrier 4 bytes off', COPY, copies(('[r23]', '[r23+4]')), 'misaligned', 'shared address 0x4')
in_code('an mbarrier outside shared memory', COPY, copies(('[r23]', '[r23+1048576]')), 'out-of-bounds', 'shared address 0x100000')
in_code('a map at 64 bytes into one', COPY, copies(('[x0,', '[x0+64,')), 'bad-operand', 'no device takes', 'point to the first byte of a map')
in_code('a map 8 bytes off', COPY, copies(('[x0,', '[x0+8,')), 'misaligned', 'parameter address 0x8')
in_code('three coordinates for two dimensions', COPY, copies(('r10}', 'r10, r10}')), 'not-modelled', 'PTX has no form .*: 3 coordinates for 2 dimensions', 'no device runs it')
in_code('an mbarrier that nobody initialised', INIT, '', 'bad-operand', 'this mbarrier is not initialised')
in_code('an mbarrier for no arrivals', INIT, INIT.replace('1;', '0;'), 'bad-operand', 'an mbarrier for 0 arrivals')
waits = lambda what: r'warp 4 lanes ffffffff waits for the mbarrier at shared address 0x0, line \d+: ' + what + ', and 7 more in the same way'
in_code('16 bytes that never come', '[r23], 32768;', '[r23], 32784;', 'deadlock', waits('0 of 1 arrivals and 16 bytes are missing'), "an mbarrier's phase ends when")
in_code('16 bytes more than expected', '[r23], 32768;', '[r23], 32752;', 'deadlock', waits('0 of 1 arrivals are missing, and 16 bytes more than expected have come'))
in_code('an arrival that never comes', INIT, INIT.replace('1;', '2;'), 'deadlock', waits('1 of 2 arrivals and 0 bytes are missing'))
in_code('too little shared memory in the launch', '', '', 'out-of-bounds', 'the CTA has 33792 bytes', shared=32768)
in_code('a descriptor that leads outside', '0x4000004000010000', '0x40003fff00010000', 'out-of-bounds', r'a matrix descriptor .* reaches shared address 0x[0-9a-f]+: the CTA has \d+ bytes')
d = copy.deepcopy(launch)
d['args'][0]['tensor_map'].update(dims=[512, 16, 16], strides=[1024, 16384], box=[64, 128, 1])
rc, said = run(d, ring)
told('a map of three dimensions for a copy of two', rc, said, 4, 'a copy of 2 dimensions with a tensor map of 3', 'name as many coordinates as "dims" has')
in_code('no wgmma.fence', ' wgmma.fence.sync.aligned;', '', 'race', 'written after the last wgmma.fence')
COMMIT = ' wgmma.commit_group.sync.aligned;'
in_code('no wgmma.commit_group', COMMIT, '', 'race', 'register %d1 is used while a wgmma works with it', 'put wgmma.commit_group behind the product')
in_code('no last wgmma.wait_group', 'wgmma.wait_group.sync.aligned 0;', '', 'race', 'register %d1 is used while a wgmma works with it')
in_code('a sum that is written before its product ends', COMMIT, ' mov.f32 %d5, 0f00000000;' + COMMIT, 'race', 'register %d5 is used while a wgmma works with it')
in_code('half a warpgroup', '', '', 'not-uniform', 'whose warps are no whole warpgroups', block=[320, 1, 1])
in_code('a first coordinate of 6 bytes', COPY, copies(('{r30,', '{3,')), 'bad-operand', 'first coordinate that is not a multiple of 16 bytes')
in_code('setmaxnreg of 41', '.u32 40;', '.u32 41;', 'not-modelled', 'PTX has no form .*: 41 registers: a multiple of 8 from 24 to 256')
in_code('setmaxnreg of 264', '.u32 232;', '.u32 264;', 'not-modelled', '264 registers: a multiple of 8 from 24 to 256')
done()
PY
rc=$?
cat "$T/said"
exit $rc
