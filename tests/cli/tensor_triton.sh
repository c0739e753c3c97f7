#!/bin/bash
# Triton kernels with their data, captured on an H100 and an H200 (tests/gpu/triton_kernels.py, `gpulocw capture`): they leave the GPU's halves bit for bit.
# The scratch memory of own_maps has tensor maps with addresses in it and is not compared.
. tests/tool/tap.sh
for ptx in tests/tensor/triton/*.ptx; do
    name=$(basename "$ptx" .ptx)
    "$B" run "$ptx" --device sim:hopper-h200 --outputs "$T/$name" > "$T/out" 2>&1; rc=$?
    python3 - "$ptx" "$T/$name" "$rc" > "$T/said" 2>&1 <<'PY'
import json, os, struct, sys
ptx, folder, rc = sys.argv[1:]
launch = json.load(open(ptx[:-4] + '.launch.json'))
number = lambda u: u if u < 0x8000 else 0x8000 - u # halves in order
worst = same = total = 0
far = 0.0
for a in launch['args'] + launch.get('buffers', []):
    if 'expect' not in a or a['name'].endswith('own_maps_param_6'): continue
    got = open('%s/%s.bin' % (folder, a['name']), 'rb').read()
    want = open(os.path.join(os.path.dirname(ptx), a['expect']['file']), 'rb').read()[a['expect']['offset']:][:len(got)]
    for x, y in zip(struct.iter_unpack('<H', got), struct.iter_unpack('<H', want)):
        total += 1; same += x == y; worst = max(worst, abs(number(x[0]) - number(y[0])))
        far = max(far, abs(struct.unpack('<e', struct.pack('<H', x[0]))[0] - struct.unpack('<e', struct.pack('<H', y[0]))[0]))
print('%d of %d elements have its bits, the others are %d units or %g apart at most' % (same, total, worst, far))
sys.exit(not (total > 1000 and worst == 0 and any(struct.unpack('<%dH' % (len(want) // 2), want))))
PY
    if [ $? -eq 0 ]; then ok "$name: $(cat "$T/said")"; else no "$name" "$(tail -3 "$T/said")" "$(tail -3 "$T/out")"; fi
done
exit $bad
