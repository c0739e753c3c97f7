#!/bin/bash
# --prove on run, rewrite, sweep and tune: what holds is said with what was tried, what breaks is refused and not written,
# sessions and reports carry it, and beside a GPU or a worker a simulated device of this process does it.
. tests/tool/tap.sh
cat > "$T/k.ptx" <<'PTX'
.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 out)
{
	.reg .b32 %r<9>;
	.reg .b64 %d<9>;
	ld.param.u64 %d1, [a];
	ld.param.u64 %d2, [out];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.u32 %r4, %r1, %r2, %r3;
	mul.wide.u32 %d3, %r4, 4;
	add.s64 %d4, %d1, %d3;
	add.s64 %d5, %d2, %d3;
	ld.global.u32 %r5, [%d4];
	add.u32 %r6, %r5, 7;
	st.global.u32 [%d4], %r6;
	ld.global.u32 %r7, [%d4];
	st.global.u32 [%d5], %r7;
	ret;
}
PTX
cp "$T/k.ptx" "$T/alone.ptx"
echo '{"format":"gpulocw-launch","version":1,"kernel":"k","grid":[8,1,1],"block":[64,1,1],"args":[{"name":"a","buffer":"u32","count":512,"init":{"random":[0,99],"seed":1}},{"name":"out","buffer":"u32","count":512,"init":{"fill":0},"output":true}]}' > "$T/k.launch.json"
LIE="--readonly promote --assume-read-only a"
GOOD="--cluster redirect --clusters 3"
absent() { if [ -e "$2" ]; then no "$1" "$2 was written"; else ok "$1"; fi; }

code "rewrite: what holds is written, and said" 0 "proven \(full: 3 orders, 2 data sets\)" "$B" rewrite "$T/k.ptx" $GOOD --prove full -o "$T/good.ptx"
code "rewrite: what it wrote is PTX" 0 "equal to the original" "$B" run "$T/good.ptx" --launch "$T/k.launch.json"
code "rewrite: a false assumption is told" 5 "DIFFERENT \(quick\): buffer 'out' element 0" "$B" rewrite "$T/k.ptx" $LIE --prove quick -o "$T/bad.ptx"
absent "rewrite: and nothing is written" "$T/bad.ptx"
echo kept > "$T/old.ptx"
"$B" rewrite "$T/k.ptx" $LIE --prove full --force -o "$T/old.ptx" >"$T/out" 2>&1
is "rewrite: nor over a file with --force" "$(cat "$T/old.ptx")" kept
is "rewrite: nor on standard output" "$("$B" rewrite "$T/k.ptx" $LIE --prove full 2>/dev/null | wc -c)" 0
code "rewrite: without a launch nothing could be run, which is said" 0 "not proven: no launch description, so nothing could be run" "$B" rewrite "$T/alone.ptx" $GOOD --prove full -o "$T/alone.out.ptx"
code "rewrite: what is refused is refused before" 3 "refused|error" "$B" rewrite "$T/k.ptx" --readonly promote --prove full
doc "rewrite: the document has the proof" 'd["proof"]["holds"] and d["proof"]["level"]=="full" and d["proof"]["orders"]==3 and d["proof"]["not_compared"]==[]' "$B" rewrite "$T/k.ptx" $GOOD --prove full --json
doc "rewrite: unasked there is none" '"proof" not in d' "$B" rewrite "$T/k.ptx" $GOOD --json

code "sweep: the best is proven" 0 "^proof +proven \(full" "$B" sweep "$T/k.ptx" --cluster redirect --axis clusters=1/2/4 --prove full
doc "sweep: so says the document" 'd["proof"]["verdict"]=="holds" and d["best"]["equal_to_original"]' "$B" sweep "$T/k.ptx" --cluster redirect --axis clusters=1/2/4 --prove full --json
doc "sweep: every slice has one" 'len(d["slices"])==2 and all(s["proof"]["holds"] for s in d["slices"])' "$B" sweep "$T/k.ptx" --cluster redirect --axis clusters=1/2,index=row/column --prove quick --json
code "sweep: what breaks is no best, asked or not" 5 "DIFFERS|differ|buffer 'out' element 0" "$B" sweep "$T/k.ptx" $LIE --axis carveout=0/100
"$B" sweep "$T/k.ptx" --cluster redirect --axis clusters=1/2/4 --prove full -o "$T/s.json" >"$T/out" 2>&1
doc "sweep: the session keeps it" 'd["runs"][0]["proof"]["holds"]' cat "$T/s.json"
doc "report: as JSON" 'd["proof"]["holds"] and d["proof"]["data_sets"]==2' "$B" report "$T/s.json" --json
has "report: as text" "Proof of the best: proven \(full: 3 orders, 2 data sets\)\." "$("$B" report "$T/s.json")"
"$B" run "$T/k.ptx" $GOOD --prove full -o "$T/r.json" >"$T/out" 2>&1
has "run: the session keeps it too" "Proof: proven \(full" "$("$B" report "$T/r.json")"
"$B" tune kernels/stride_32.ptx --budget 6 --prove quick -o "$T/t.json" >"$T/out" 2>&1
doc "tune: the session keeps what it said" '("proof" in d["runs"][0]) == '"$(grep -qE '^proof' "$T/out" && echo True || echo False)" cat "$T/t.json"

code "worker: a simulated device of this process proves" 0 "^proof +proven \(full.*, on NVIDIA H200 \(simulated\)" "$B" run "$T/k.ptx" $GOOD --prove full --worker "$B worker"
code "worker: and breaks" 5 "^proof +DIFFERENT.*, on NVIDIA H200 \(simulated\)" "$B" run "$T/k.ptx" $LIE --prove full --worker "$B worker"
# What tune recommends is proven in full, on the simulated device and beside a worker.
for how in "" "--worker"; do
    set --
    [ -z "$how" ] || set -- --worker "$B worker"
    doc "tune: what it recommends is proven in full${how:+, through a worker}" \
        'not d["leave_alone"] and d["proof"]["level"]=="full" and d["proof"]["holds"] and d["proof"]["orders"]==3 and d["missing"]==[]' \
        "$B" tune kernels/transpose.ptx --budget 8 --json "$@"
done
# A sum that comes to nothing but what its order rounds: no share of itself bounds it, the sum of magnitudes does, and a worker's
# is counted beside it.
cat > "$T/sum.ptx" <<'PTX'
.version 7.0
.target sm_80
.address_size 64
.visible .entry sum(.param .u64 a, .param .u64 out)
{
	.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .pred %p<2>;
	ld.param.u64 %d1, [a]; ld.param.u64 %d2, [out];
	mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
	and.b32 %r5, %r4, 1023; mul.wide.u32 %d4, %r5, 4; add.s64 %d5, %d1, %d4;
	ld.global.f32 %f1, [%d5];
	and.b32 %r6, %r4, 1024; setp.ne.u32 %p1, %r6, 0; @%p1 neg.f32 %f1, %f1;
	red.global.add.f32 [%d2], %f1;
	ret;
}
PTX
echo '{"format":"gpulocw-launch","version":1,"kernel":"sum","grid":[64,1,1],"block":[32,1,1],"args":[{"name":"a","buffer":"f32","count":2048,"init":{"random":[-1,1],"seed":8}},{"name":"out","buffer":"f32","count":1,"init":{"fill":0},"output":true}]}' > "$T/sum.launch.json"
code "float atomics: within what their order can change" 0 "equal within" "$B" run "$T/sum.ptx" $GOOD --no-counters
code "float atomics: the same behind a worker" 0 "equal within" "$B" run "$T/sum.ptx" $GOOD --no-counters --worker "$B worker"
sed 's/add.f32 .%d2., %f1/add.f32 [%d2], %f2/; s/neg.f32 %f1, %f1;/neg.f32 %f1, %f1; ld.global.f32 %f2, [%d5]; st.global.f32 [%d5], %f1; ld.global.f32 %f2, [%d5];/' "$T/sum.ptx" > "$T/wrong.ptx"
code "float atomics: more than that is told" 5 "DIFFERENT" "$B" run "$T/wrong.ptx" --launch "$T/sum.launch.json" --readonly promote --assume-read-only a --prove quick --no-counters --worker "$B worker"
F=$GPULOCW_BUILD/tests/fake
if [ -e "$F/libcuda.so.1" ]; then
    export GPULOCW_LIBCUDA=$F/libcuda.so.1 GPULOCW_LIBNVML=$F/libnvml.so GPULOCW_LIBCUPTI=$F/libcupti.so
    code "GPU: the most similar simulated one proves" 0 "^proof +proven \(full.*, on .* \(simulated\)" "$B" run kernels/coalescing.ptx $GOOD --prove full --device cuda:0 --no-counters
    code "GPU: and breaks" 5 "^proof +DIFFERENT" "$B" run "$T/k.ptx" $LIE --prove full --device cuda:0 --no-counters
    doc "GPU: rewrite, too" 'd["proof"]["device"]!="" and d["proof"]["holds"]' "$B" rewrite kernels/coalescing.ptx $GOOD --prove full --device cuda:0 --json
    echo '{"format":"gpulocw-launch","version":1,"kernel":"k","grid":[8,1,1],"block":[64,1,1],"args":[{"name":"a","buffer":"u32","count":300000000,"init":{"fill":0}},{"name":"out","buffer":"u32","count":512,"init":{"fill":0},"output":true}]}' > "$T/huge.json"
    code "GPU: buffers that are too large to simulate are named" 0 "not proven: n/a: the buffers \(1.2 GB\) are too large to simulate" "$B" run "$T/k.ptx" --launch "$T/huge.json" $GOOD --prove quick --device cuda:0 --no-counters --repeat 1
else
    ok "GPU # SKIP the fake driver is not built"
fi
echo "1..$n"
exit $bad
