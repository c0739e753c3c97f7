#!/bin/bash
# The command-line contract (docs/cli.md), from outside: documents, exit codes, messages.
B=$GPULOCW_BUILD/gpulocw
n=0 bad=0
T=$(mktemp -d); trap 'chmod -R u+w "$T"; rm -rf "$T"' EXIT
ok() { n=$((n + 1)); echo "ok $n - $1"; }
no() { n=$((n + 1)); bad=1; echo "not ok $n - $1"; shift; printf '%s\n' "$@" | sed 's/^/#   /' | head -20; }
# code NAME WANTED PATTERN COMMAND...: exit code, and standard error matches
code() {
    local name=$1 want=$2 pattern=$3 out rc; shift 3
    out=$("$@" 2>&1 </dev/null); rc=$?
    if [ $rc -eq "$want" ] && grep -qE -- "$pattern" <<<"$out"; then ok "$name"; else no "$name" "exit $rc, wanted $want and /$pattern/" "$out"; fi
}
# doc NAME PYTHON COMMAND...: standard output is JSON d and the Python expression holds
doc() {
    local name=$1 expr=$2 out; shift 2
    out=$("$@" 2>"$T/err" </dev/null)
    if printf '%s' "$out" | python3 -c "
import json,sys
d=json.load(sys.stdin)
assert $expr, 'does not hold'" 2>"$T/py"; then ok "$name"; else no "$name" "$expr" "$(tail -1 "$T/py")" "$(cat "$T/err")" "${out:0:600}"; fi
}
k() { echo "kernels/$1.ptx"; }

# The paper's base table (coalesce): degree, sectors in range, expected; exact needs the launch.
base() {
    doc "analyze $1" "(lambda k:(abs(k['coalesce']['degree']-$2)<1e-12, k['coalesce']['num_sectors']==$3, abs(k['coalesce']['expected_sectors']-$4)<1e-12, abs(k['exact']['sectors_per_request']-$5)<1e-12))(d['kernels'][0])==(True,)*4" "$B" analyze "$(k $1)" --json
}
base stride_32 0.03125 1 32 32
base stride_4 0.25 4 16 16
base same_location 1 1 1 1
base coalescing 1 4 4 4
cp kernels/stride_4.ptx "$T/alone.ptx"
doc "without a launch: exact is null, the block is assumed" "d['kernels'][0]['exact'] is None and d['kernels'][0]['launch']['assumed'] and d['kernels'][0]['coalesce']['degree']==0.25" "$B" analyze "$T/alone.ptx" --json
# A kernel that nobody described: the first description runs, and says what it is.
cp kernels/transpose.ptx "$T/own.ptx"
code "launch writes a description" 0 "sizes and data are guesses" "$B" launch "$T/own.ptx" -k transpose_tiled -o "$T/own.launch.json"
doc "launch: the block that the tile was made for, the output found" "d['block']==[32,8,1] and d['grid']==[32,32,1] and [a.get('output',False) for a in d['args'] if 'buffer' in a]==[False,True]" cat "$T/own.launch.json"
doc "launch: its description runs" "d['equal_to_original'] is True and d['time_ns']['median']>0" "$B" run "$T/own.ptx" --json
cat > "$T/view.ptx" <<'PTX'
.version 7.0
.target sm_70
.address_size 64
.visible .entry add1(.param .align 8 .b8 view[24])
{
    .reg .pred %p; .reg .f32 %f; .reg .b32 %r<6>; .reg .b64 %d<6>;
    ld.param.u64 %d1, [view];
    ld.param.u64 %d2, [view+8];
    ld.param.u32 %r1, [view+16];
    mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p, %r5, %r1;
    @%p bra done;
    mul.wide.s32 %d3, %r5, 4;
    add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
    ld.global.f32 %f, [%d4];
    add.f32 %f, %f, 0f3F800000;
    st.global.f32 [%d5], %f;
done:
    ret;
}
PTX
code "launch: members of a struct by value are found" 0 "view\+0 f32 x 1048576.*view\+8 f32 x 1048576" "$B" launch "$T/view.ptx" -o "$T/view.launch.json"
doc "pointers inside a struct: it runs, and rewritten it gives the same" "d['equal_to_original'] is True and d['status']=='OK'" "$B" run "$T/view.ptx" --bypass l1 --pi 3 --json
doc "pointers inside a struct: exact sectors" "d['kernels'][0]['exact']['sectors_per_request']==4 and d['kernels'][0]['exact']['requests']==32768" "$B" analyze "$T/view.ptx" --json
doc "pointers inside a struct: another process gets them too" "d['equal_to_original'] is True" "$B" run "$T/view.ptx" --worker "$B worker" --json
sed -i 's/"at": 8/"at": 20/' "$T/view.launch.json"
code "a member beyond the struct's end" 1 "reaches beyond the end of 'view'" "$B" run "$T/view.ptx"
# A tile with a halo wants its own block shape; a debug build hides pointers in local memory.
code "launch: the block that a halo was made for" 0 "w_jacobi: grid [0-9x]+, block 32x4x1" "$B" launch tests/unseen/w_nvcc.ptx -k w_jacobi
sed -e 's/ld.param.u64 %d1, \[view\];/ld.param.u64 %d1, [view]; st.local.u64 [keep], %d1; ld.local.u64 %d1, [keep];/' -e 's/    ld.param.u64 %d2, \[view+8\];/    .local .b64 keep;\n    ld.param.u64 %d4, [view+8]; st.local.u64 [keep], %d4; ld.local.u64 %d2, [keep];/' \
    -e '/ld.param.u64 %d1/{h;d};/.local .b64 keep;/{G}' "$T/view.ptx" > "$T/hidden.ptx"
code "launch: pointers that pass through local memory" 0 "view\\+0 [a-z0-9]+ x [0-9]+.*view\\+8 [a-z0-9]+ x" "$B" launch "$T/hidden.ptx"
sed -e 's/^.visible .entry/.const .align 4 .b8 table[64];\n&/' -e 's/add.f32 %f, %f, 0f3F800000;/ld.const.f32 %f, [table+8];/' "$T/view.ptx" > "$T/table.ptx"
code "launch: a constant table is filled" 0 "table f32 x 16 \\(constant\\)" "$B" launch "$T/table.ptx" -o "$T/table.launch.json"
doc "a constant table without a file runs" "d['equal_to_original'] is True" "$B" run "$T/table.ptx" --json
# Every CTA writes the same words: on no device is that one result, and it is told as such.
sed -e 's/%p, %r5, %r1/%p, %r4, %r1/' -e 's/%d3, %r5, 4/%d3, %r4, 4/' -e 's/add.f32 %f, %f, 0f3F800000;/cvt.rn.f32.u32 %f, %r2;/' "$T/view.ptx" > "$T/race.ptx"
"$B" launch "$T/view.ptx" 2>"$T/err" | sed 's/view.ptx/race.ptx/' > "$T/race.launch.json"
code "races are looked for when asked" 4 "race.ptx:18:[0-9]+: error: race: write of global address .* CTA" "$B" run "$T/race.ptx" --check-memory
code "nothing is found where there is none" 0 "equal to the original" "$B" run "$(k gemm)" --check-memory
code "launch: no such kernel" 1 "no kernel 'nix'" "$B" launch "$T/own.ptx" -k nix
doc "run document" "d['format']=='gpulocw-result' and d['equal_to_original'] is True and d['device']['kind']=='simulated' and d['time_ns']['median']>0 and {c['name'] for c in d['counters']}=={'l1.requests','l1.sectors','l1.sectors_per_request','l1.hit_rate','l2.read_sectors','l2.hit_rate','dram.read_bytes','warps.active','inst.warp','inst.thread'}" "$B" run "$(k stride_4)" --json
doc "run agrees with the analysis on sectors per request" "[c['value'] for c in d['counters'] if c['name']=='l1.sectors_per_request'][0]==16" "$B" run "$(k stride_4)" --exact --json
doc "missing counters are null, not 0" "all((c['value'] is None)==(not c['valid']) for c in d['counters'])" "$B" run "$(k stride_4)" --json --no-counters
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
# Bad input and exit codes.
code "missing file" 1 "cannot open" "$B" analyze "$T/none.ptx"
: >"$T/empty.ptx"; code "empty file" 1 "error" "$B" analyze "$T/empty.ptx"
head -c 4096 /dev/urandom >"$T/bin.ptx"; code "binary file" 1 "error" "$B" analyze "$T/bin.ptx"
head -c 700 "$(k gemm)" >"$T/cut.ptx"; code "truncated PTX" 1 "cut.ptx:[0-9]+:[0-9]+: error" "$B" analyze "$T/cut.ptx"
{ head -c 300 "$(k gemm)"; head -c 100000000 /dev/zero | tr '\0' x; } >"$T/long.ptx"; code "a line of 100 MB" 1 "error" "$B" analyze "$T/long.ptx"; rm -f "$T/long.ptx"
sed 's/ld\.global/ld.gloval/' "$(k gemm)" >"$T/typo.ptx"; code "a misspelt instruction: place, caret, hint" 1 "typo.ptx:[0-9]+:[0-9]+: error" "$B" analyze "$T/typo.ptx"
code "wrong option" 2 "no option --frobnicate" "$B" run "$(k gemm)" --frobnicate
code "option of another command: which" 2 "goes with: sweep, and the workbench" "$B" devices --axis pi
code "a misspelt option" 2 "did you mean --bypass" "$B" run "$(k gemm)" --bypas l1
code "a misspelt command" 2 "did you mean gpulocw analyze" "$B" anlyze "$(k gemm)"
code "a file too many" 2 "one file at a time" "$B" replay a.json b.json
code "--color takes three words" 2 "auto, always or never" "$B" run "$(k gemm)" --color maybe
if [ -w /dev/full ]; then code "a full disk is told" 1 "could not be written" sh -c "'$B' analyze '$(k gemm)' --quick >/dev/full"; fi
code "a reader that has gone is no failure" 0 "^0$" bash -c "set -o pipefail; '$B' devices | head -c 1 >/dev/null; echo \$?"
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
doc "run -o: a session of one run" "len(d['runs'])==1 and d['runs'][0]['kind']=='run' and d['runs'][0]['result']['status']=='OK'" cat "$T/one.json"
code "knob out of range" 2 "not allowed" "$B" run "$(k gemm)" --pi 99
code "no file" 2 "which" "$B" run
code "no launch description" 1 "no launch description" "$B" run "$T/alone.ptx"
code "unknown kernel" 1 "nosuch" "$B" run "$(k gemm)" --kernel nosuch
code "unknown device" 4 "no-such-gpu" "$B" run "$(k gemm)" --device sim:no-such-gpu
python3 - kernels/gemm.launch.json "$T/bad.launch.json" <<'PY'
import json,sys
d=json.load(open(sys.argv[1]))
l=(d.get('launches') or [d])[0]
(l.get('args') or d['args']).pop()
json.dump(d,open(sys.argv[2],'w'))
PY
code "a launch with too few arguments" 1 "takes [0-9]+ parameters" "$B" run "$(k gemm)" --launch "$T/bad.launch.json"
mkdir "$T/ro"; chmod 500 "$T/ro"
if [ "$(id -u)" = 0 ]; then echo "ok $((n = n + 1)) - read-only folder # SKIP root writes anywhere"; else code "read-only folder for the session" 1 "cannot" "$B" sweep "$(k valley)" --device sim:fermi-16k -o "$T/ro/s.json"; fi
code "a session where no file can be" 1 "cannot" "$B" sweep "$(k valley)" --device sim:fermi-16k -o "/proc/none/s.json"
code "not a session" 1 "not a gpulocw session" "$B" replay kernels/gemm.launch.json --plain
code "TERM=dumb, no terminal: says what to do" 2 "terminal" env TERM=dumb "$B" "$(k gemm)"
code "--version" 0 "gpulocw [0-9]" "$B" --version
code "help" 0 "cache valley" "$B" help
for c in analyze rewrite run sweep tune predict replay report devices calibrate demo worker; do code "help $c" 0 "gpulocw $c" "$B" help $c; done
code "C locale" 0 "verdict" env LC_ALL=C "$B" sweep "$(k valley)" --device sim:fermi-16k
exit $bad
