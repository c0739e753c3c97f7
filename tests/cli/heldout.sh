#!/bin/bash
# Kernels nobody tuned for (tests/heldout/suites): every small launch gives the bytes that the reference, or an H200, gave (expected.txt);
# what is not modelled is refused by name; a kernel without an end can be interrupted.
. tests/tool/tap.sh
S=tests/heldout/suites
python3 - "$B" $S > "$T/bytes" 2>&1 <<'PY'
import json, os, subprocess, sys
exe, folder = sys.argv[1:]
want = {}
for line in open(folder + "/expected.txt"):
    file, launch, out, h = line.split()[:4]
    want.setdefault((file, launch), {})[out] = h
for (file, launch), outs in want.items():
    r = subprocess.run([exe, "run", "%s/%s.ptx" % (folder, file), "-k", launch, "--no-counters", "--json"], capture_output=True, text=True, timeout=60)
    try:
        got = {o["name"]: o["hash"] for o in json.loads(r.stdout)["outputs"]}
    except ValueError:
        got = {}
    if r.returncode or any(got.get(k) != h for k, h in outs.items()):
        print(launch, "exit", r.returncode, [k for k, h in outs.items() if got.get(k) != h], r.stderr[:200])
assert len(want) > 100, len(want)
PY
is "every launch's bytes" "none: $(cat "$T/bytes")" "none: "
code "a number in place of a texture is told" 4 "is no handle" "$B" run $S/refused.ptx -k x_texture --no-counters
code "a number in place of a surface is told" 4 "is no handle" "$B" run $S/refused.ptx -k x_surface --no-counters
# Only a kernel's own float atomics loosen its comparison, not its neighbours' in the file.
for k in lang:l_atomics:1 lang:l_half:0 models:m_rope:0; do
    IFS=: read -r f launch want <<<"$k"
    is "float atomics: $launch" "$("$B" run $S/$f.ptx -k "$launch" --no-counters 2>&1 | grep -c 'float-atomics')" "$want"
done
code "memory of malloc that another warp gave back is no race" 0 "" "$B" run $S/lang.ptx -k l_virtual --check-memory --no-counters
code "their neighbour runs" 0 "" "$B" run $S/refused.ptx -k x_grid_size --no-counters
code "a kernel of asynchronous copies alone is told so" 3 "reads global memory only with asynchronous copies" "$B" run $S/lang.ptx -k l_pipeline --bypass l1 --pi 1 --no-counters
# A grid that synchronises has to be resident at once, as in a cooperative launch.
sed 's/"kernel": "h_grid", "grid": \[3/"kernel": "h_grid", "grid": [4300/' $S/hopper.launch.json > "$T/big.launch.json"
code "a grid that meets and does not fit" 4 "synchronises the whole grid: 4300 CTAs, of which 4224 can be resident" "$B" run $S/hopper.ptx --launch "$T/big.launch.json" -k h_grid --no-counters
code "loops in loops of a rewritten kernel are analysed in time" 0 "" timeout -k 5 60 "$B" run $S/library.ptx -k k_getrf --softcache dynamic --no-counters
code "arrivals of copies at a barrier are no race" 0 "" "$B" run $S/hopper.ptx -k h_roles --check-memory --no-counters
code "its workspace is written" 0 "" "$B" run $S/hopper.ptx -k h_grid --check-memory --no-counters
# Addresses of 32 bits are refused by name; a module that does not say has what its addresses are in.
{ printf '.version 7.0\n.target sm_70\n.address_size 32\n.visible .entry k(.param .u32 p)\n{\n\t.reg .b32 %%r<2>;\n\tld.param.u32 %%r1, [p];\n\tst.global.u32 [%%r1], 5;\n\tret;\n}\n'; } > "$T/narrow.ptx"
sed '/address_size/d; s/param .u32 p/param .u64 p/; s/b32 %r/b64 %r/; s/param.u32/param.u64/' "$T/narrow.ptx" > "$T/unsaid.ptx"
for f in narrow unsaid; do
    echo '{ "format": "gpulocw-launch", "version": 1, "ptx": "'$f.ptx'", "kernel": "k", "grid": [1,1,1], "block": [1,1,1], "args": [ { "name": "p", "buffer": "u32", "count": 1, "output": true } ] }' > "$T/$f.launch.json"
done
code "a module of 32-bit addresses" 4 "64-bit addresses; this module has 32-bit addresses" "$B" run "$T/narrow.ptx" --no-counters
code "a module that does not say" 0 "" "$B" run "$T/unsaid.ptx" --no-counters
cat > "$T/forever.ptx" <<'PTX'
.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b64 %d<2>; .reg .b32 %r<2>;
	ld.param.u64 %d1, [p];
AGAIN:	add.u32 %r1, %r1, 1;
	st.global.u32 [%d1], %r1;
	bra AGAIN;
}
PTX
cat > "$T/forever.launch.json" <<'JSON'
{ "format": "gpulocw-launch", "version": 1, "ptx": "forever.ptx", "kernel": "k", "grid": [2,1,1], "block": [32,1,1],
  "args": [ { "name": "p", "buffer": "u32", "count": 1, "init": { "fill": 0 }, "output": true } ] }
JSON
cut() { python3 tests/tool/interrupt.py "$@"; }
some="len([p for p in d['runs'][-1]['points'] if p['status'] == 'OK']) > 1"
code "run: interrupted" 130 "" cut TERM "$B" run "$T/forever.ptx" --no-counters
code "tune: interrupted before anything is known" 130 "" cut TERM "$B" tune "$T/forever.ptx"
code "sweep: interrupted, and how to go on" 130 "sweep --resume continues from there" cut --when "$T/cut.json" "$some" TERM \
    "$B" sweep kernels/valley.ptx --device sim:fermi-16k --threads 1 -o "$T/cut.json"
code "calibrate: --base as a device is named" 0 "as sim:fermi-48k" "$B" calibrate -d sim:fermi-16k --base sim:fermi-48k
code "calibrate: interrupted" 130 "interrupted" cut INT "$B" calibrate
# timeout(1) and terminals send one interrupt twice, a moment apart: that is no second one, and nothing is lost.
code "one interrupt that arrives twice" 130 "sweep --resume continues from there" cut --twice --when "$T/twice.json" "$some" INT \
    "$B" sweep kernels/valley.ptx --device sim:fermi-16k --threads 1 -o "$T/twice.json"
exit $bad
