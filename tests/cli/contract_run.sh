#!/bin/bash
# The command-line contract (docs/reference/json.md, gpulocw schema): documents of run, devices, sweep, replay, report and rewrite.
. tests/tool/tap.sh

doc "run document" "d['format']=='gpulocw-result' and d['equal_to_original'] is True and d['device']['kind']=='simulated' and d['time_ns']['median']>0 and {c['name'] for c in d['counters']}=={'l1.requests','l1.sectors','l1.sectors_per_request','l1.hit_rate','l2.read_sectors','l2.hit_rate','dram.read_bytes','warps.active','inst.warp','inst.thread','l2.write_sectors','dram.write_bytes','shared.passes','shared.extra_passes','atomic.requests','atomic.extra_passes','constant.extra_passes','local.load_bytes','local.store_bytes','regs.per_thread','regs.spill_bytes','l1.store_sectors','l2.write_hit_rate','loads.in_flight'}" "$B" run "$(k stride_4)" --json
doc "run agrees with the analysis on sectors per request" "[c['value'] for c in d['counters'] if c['name']=='l1.sectors_per_request'][0]==16" "$B" run "$(k stride_4)" --exact --json
doc "missing counters are null, not 0" "all((c['value'] is None)==(not c['valid']) for c in d['counters'])" "$B" run "$(k stride_4)" --json --no-counters
doc "run: what its loads are" "{c['class']: (c['loads'], c['allocates_l1'], c['no_effect']) for c in d['load_classes']} == {'LDG.E': (8, True, False), 'LDG.E.STRONG.GPU': (8, False, False)}" "$B" run "$(k valley)" --bypass l1 --pi 7 --json
# Loads by line: the user's own lines, whatever a rewrite copied, and together what the counters say of the launch.
loads="(lambda c, l: {x['line'] for x in l}=={81,83,85,87,89,91,93,95} and abs(sum(x['sectors'] for x in l)/c['l1.sectors']-1)<1e-4 and abs(100*sum(x['l1_hit_sectors'] for x in l)/sum(x['sectors'] for x in l)-c['l1.hit_rate'])<0.01 and all(x['requests']*4==x['sectors'] for x in l))({c['name']: c['value'] for c in d['counters']}, d['loads'])"
doc "run: what the loads of each line did" "$loads" "$B" run "$(k valley)" --json
doc "run: the same of a rewrite that has every load twice" "$loads" "$B" run "$(k valley)" --bypass l1 --pi 7 --json
"$B" run "$(k bfs)" 2>"$T/err" | grep -A1 '^by line' | grep -q '^ *75 ' && ok "run: the line whose loads bring most stands first" || no "run: the line whose loads bring most stands first" "$(cat "$T/err")"
code "run: an operator that changes nothing on the device" 0 "the cache operator of 8 loads has no effect on NVIDIA Tesla K80.*: plain global loads already bypass L1" "$B" run "$(k valley)" --bypass l1 --pi 7 --device sim:kepler-k80
code "rewrite: the same" 0 "loads on NVIDIA Tesla K80.*LD.E.CG x8 \(no effect\)" "$B" rewrite "$(k valley)" --bypass l1 --pi 7 --device sim:kepler-k80 -o "$T/k80.ptx"
doc "devices --counters" "sum('counters' in x for x in d['devices']) == 1 and all(c['available'] and c['from'] == 'simulated' for x in d['devices'] for c in x.get('counters', []))" "$B" devices --counters --device sim:fermi-16k --json
doc "devices" "any(x['spec']=='sim:hopper-h200' for x in d['devices']) and any(x['spec']=='sim:fermi-16k' for x in d['devices'])" "$B" devices --json
# The valley: an inner optimum on both presets, and sessions that replay the same curve.
doc "valley on fermi-16k" "d['category']=='cache-congested' and 0<d['best']['pi']<d['warps_per_cta'] and all(p['equal_to_original'] for p in d['points']) and len(d['points'])==d['warps_per_cta']+1" "$B" sweep "$(k valley)" --device sim:fermi-16k --axis pi --json -o "$T/s.json"
"$B" replay "$T/s.json" --plain >"$T/r1" 2>&1; "$B" replay "$T/s.json" --plain >"$T/r2" 2>&1
if [ -s "$T/r1" ] && cmp -s "$T/r1" "$T/r2" && grep -q "cache-congested" "$T/r1"; then ok "a session replays as text"; else no "a session replays as text" "$(head -5 "$T/r1")"; fi
doc "report as JSON is the sweep again" "d['format']=='gpulocw-sweep' and d['category']=='cache-congested'" "$B" report "$T/s.json" --format json
for f in md csv svg html; do
    if "$B" report "$T/s.json" --format $f >"$T/rep.$f" 2>"$T/err" && [ -s "$T/rep.$f" ]; then ok "report --format $f"; else no "report --format $f" "$(cat "$T/err")"; fi
done
python3 -c "import xml.dom.minidom,sys; xml.dom.minidom.parse(sys.argv[1])" "$T/rep.svg" 2>"$T/err" && ok "the SVG is well-formed XML" || no "the SVG is well-formed XML" "$(cat "$T/err")"
doc "valley on hopper-h200" "d['category']=='cache-congested' and 0<d['best']['pi']<d['warps_per_cta']" "$B" sweep "$(k valley)" --json
a=$("$B" sweep "$(k valley)" --json --threads 1); b=$("$B" sweep "$(k valley)" --json --threads 2)
[ -n "$a" ] && [ "$a" = "$b" ] && ok "the same numbers for any number of threads" || no "the same numbers for any number of threads"
# Resuming: a sweep cut after some points goes on and gives the same document.
python3 - "$T/s.json" "$T/cut.json" <<'PY'
import json,sys
d=json.load(open(sys.argv[1])); r=d['runs'][-1]; r['points']=r['points'][:4]; r['complete']=False
json.dump(d,open(sys.argv[2],'w'))
PY
a=$("$B" sweep "$(k valley)" --device sim:fermi-16k --json); b=$("$B" sweep "$(k valley)" --device sim:fermi-16k --json --resume "$T/cut.json")
[ -n "$a" ] && [ "$a" = "$b" ] && ok "--resume gives the whole sweep" || no "--resume gives the whole sweep"
# A pool of devices or workers gives the same result set.
one=$("$B" sweep "$(k valley)" --device sim:fermi-16k --json | grep -v '"spec"')
two=$("$B" sweep "$(k valley)" --devices sim:fermi-16k,sim:fermi-16k --json | grep -v '"spec"')
three=$("$B" sweep "$(k valley)" --device sim:fermi-16k --worker "$B worker" --worker "sh -c '$B worker'" --json | grep -v '"spec"')
[ -n "$one" ] && [ "$one" = "$two" ] && ok "two devices share a sweep: the same results" || no "two devices share a sweep: the same results"
[ -n "$one" ] && [ "$one" = "$three" ] && ok "two workers, one behind a launcher: the same results" || no "two workers, one behind a launcher: the same results"
# Rewrites.
"$B" rewrite "$(k valley)" --bypass l1 --pi 7 -o "$T/w.ptx" 2>"$T/err" && [ -s "$T/w.ptx" ] && "$B" analyze "$T/w.ptx" >/dev/null 2>>"$T/err" && ok "rewrite -o writes PTX that parses" || no "rewrite -o writes PTX that parses" "$(cat "$T/err")"
"$B" rewrite "$(k valley)" --bypass l1 --pi 7 --diff 2>/dev/null | grep -q '^+.*ld.global' && ok "rewrite --diff shows the loads" || no "rewrite --diff shows the loads"
"$B" rewrite "$(k valley)" 2>/dev/null | cmp -s - "$(k valley)" && ok "no options: byte for byte the input" || no "no options: byte for byte the input"
# What the kernel wrote, against a reference computed here: this one copies.
"$B" run "$(k coalescing)" --outputs "$T/out" -o "$T/one.json" >/dev/null 2>"$T/err"
python3 - "$T/out" kernels/coalescing.launch.json <<'PY' && ok "--outputs: the bytes a kernel wrote are those it should" || no "--outputs" "$(ls "$T/out" 2>&1)" "$(cat "$T/err")"
import json, os, struct, sys
d = json.load(open(sys.argv[2])); l = (d.get('launches') or [d])[0]; args = l.get('args') or d['args']
src = [a for a in args if 'random' in a.get('init', {})][0]; out = [a for a in args if a.get('output')][0]
M = (1 << 64) - 1
def z(seed, i):
    x = (seed + (i + 1) * 0x9E3779B97F4A7C15) & M
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & M; x = (x ^ x >> 27) * 0x94D049BB133111EB & M
    return x ^ x >> 31
got = struct.unpack('<%df' % out['count'], open(os.path.join(sys.argv[1], out['name'] + '.bin'), 'rb').read())
lo, hi = src['init']['random']
f32 = lambda v: struct.unpack('<f', struct.pack('<f', v))[0]
want = [f32(lo + (hi - lo) * ((z(src['init']['seed'], i) >> 40) / 2**24)) for i in range(64)]
print(got[:3], want[:3], file=sys.stderr)
assert list(got[:64]) == want
PY
# A rewrite that changes what is written (a kernel whose CTAs race: the last one to write wins, and the order of CTAs is the
# rewrite's): the original is asked once more, and the bytes are the rewritten kernel's all the same.
cat > "$T/size.ptx" <<'PTX'
.version 7.0
.target sm_70
.address_size 64
.visible .entry size(.param .u64 out)
{
	.reg .pred %p<2>; .reg .b64 %d<4>; .reg .b32 %r<6>;
	ld.param.u64 %d1, [out];
	mov.u32 %r1, %tid.x;
	mul.wide.u32 %d2, %r1, 4;
	add.u64 %d3, %d1, %d2;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ctaid.y;
	mad.lo.u32 %r4, %r3, 2, %r2;
	setp.eq.u32 %p1, %r4, 3;
	@%p1 ret;
	st.global.u32 [%d3], %r4;
	ret;
}
PTX
cat > "$T/size.launch.json" <<'JSON'
{ "format": "gpulocw-launch", "version": 1, "ptx": "size.ptx", "kernel": "size", "grid": [2,2,1], "block": [64,1,1],
  "args": [ { "name": "out", "buffer": "u32", "count": 64, "output": true } ] }
JSON
words() { python3 -c "import struct,sys; print(*sorted(set(struct.unpack('<64I', open(sys.argv[1], 'rb').read()))))" "$1"; }
code "run: a rewrite whose outputs differ is exit 5" 5 "DIFFERENT from the original's" "$B" run "$T/size.ptx" --threads 1 --cluster redirect --index column --clusters 1 --outputs "$T/differ"
is "--outputs after a difference: what the rewritten kernel wrote" "$(words "$T/differ/out.bin")" 1
"$B" run "$T/size.ptx" --threads 1 --outputs "$T/same" >/dev/null 2>&1
is "and the original writes something else" "$(words "$T/same/out.bin")" 2
doc "run -o: a session of one run" "len(d['runs'])==1 and d['runs'][0]['kind']=='run' and d['runs'][0]['result']['status']=='OK'" cat "$T/one.json"
# Of CTAs that differ in length a sample would see the short ones end, after 6 us: the launch is timed whole without asking.
doc "uneven CTAs are timed whole" "not d['sampled'] and [c['value'] for c in d['counters'] if c['name']=='inst.warp']==[204577600] and 2.5e5 < d['time_ns']['median'] < 9.7e5" "$B" run tests/sim/uneven.ptx --json
# What is said of a kernel is of it and of what it calls, said once, and of its own: loads, dead code, clocks; times in the unit that suits them.
cat > "$T/two.ptx" <<'PTX'
.version 8.0
.target sm_80
.address_size 64
.func twice(.param .b64 p)
{
	.reg .b32 %r<2>; .reg .b64 %rd<2>;
	ld.param.u64 %rd1, [p];
	ld.global.u32 %r1, [%rd1+128];
	st.global.u32 [%rd1+256], %r1;
	ret;
}
.visible .entry reads(.param .u64 out)
{
	.reg .b32 %r<4>; .reg .b64 %rd<3>;
	ld.param.u64 %rd1, [out];
	ld.global.u32 %r1, [%rd1];
	ld.global.u32 %r2, [%rd1+4];
	st.global.u32 [%rd1+8], %r2;
	bra OVER;
	add.u32 %r1, %r1, 1;
OVER:
	{ .param .b64 a; st.param.b64 [a], %rd1; call twice, (a); }
	ret;
}
.visible .entry clock(.param .u64 out)
{
	.reg .b32 %r<4>; .reg .pred %p; .reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %globaltimer_lo;
	st.global.u32 [%rd1], %r1;
	setp.ne.u32 %p, %r1, %r1;
	@%p bra BAD;
	ret;
BAD:
	trap;
	mov.u32 %r2, 1;
	st.global.u32 [%rd1], %r2;
	ret;
}
PTX
python3 -c "import json, sys; json.dump({'format': 'gpulocw-launch', 'version': 1, 'ptx': 'two.ptx', 'launches': [{'name': k, 'kernel': k, 'grid': [1,1,1], 'block': [1,1,1], 'args': [{'name': 'out', 'buffer': 'u32', 'count': 128, 'init': {'fill': 1}, 'output': True}]} for k in ('reads', 'clock')]}, open(sys.argv[1], 'w'))" "$T/two.launch.json"
doc "run: loads of the kernel and of what it calls, not its neighbours'" "[c['loads'] for c in d['load_classes']]==[3]" "$B" run "$T/two.ptx" -k reads --json
doc "run: a neighbour without loads has none" "d['load_classes']==[]" "$B" run "$T/two.ptx" -k clock --json
is "dead code is noted once, that behind a trap not at all" "$("$B" run "$T/two.ptx" -k reads 2>&1 | grep -c 'this instruction is unreachable')" 1
code "run: a clock is why outputs change" 5 "differs from one launch of the original to the next: the kernel reads a clock" "$B" run "$T/two.ptx" -k clock
is "times below a millisecond are in microseconds" "$("$B" run "$T/two.ptx" -k reads | grep -cE '^time +[0-9]+\.[0-9][0-9] µs simulated')" 1
is "and of a sweep too" "$("$B" sweep "$T/two.ptx" -k reads --axis carveout=0/100 2>&1 | grep -cE '  time µs| time µs ')" 2
is "others in milliseconds" "$("$B" sweep "$(k valley)" --device sim:fermi-16k | grep -cE '  time ms| time ms ')" 2
exit $bad
