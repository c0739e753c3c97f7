#!/bin/bash
# A kernel whose outputs change from launch to launch (on the fake driver): no rewrite is blamed for it.
B=$GPULOCW_BUILD
n=0 bad=0
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
has() { n=$((n + 1)); if grep -qE -- "$2" <<<"$3"; then echo "ok $n - $1"; else bad=1; echo "not ok $n - $1"; sed 's/^/#   /' <<<"no /$2/ in $3"; fi; }
export GPULOCW_LIBCUDA=$B/tests/fake/libcuda.so.1 GPULOCW_LIBNVML=$B/tests/fake/libnvml.so
[ -e "$GPULOCW_LIBCUDA" ] || { echo "ok 1 - races # SKIP the fake driver is not built"; exit 0; }
for kernel in conf_race conf_bump; do
    cat > "$T/$kernel.ptx" <<PTX
.version 7.0
.target sm_75
.address_size 64
.visible .entry $kernel(.param .u64 p, .param .u32 q)
{
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd1, [p];
	cvta.to.global.u64 %rd2, %rd1;
	ld.global.u32 %r1, [%rd2];
	st.global.u32 [%rd2], %r1;
	ret;
}
PTX
    echo '{"format":"gpulocw-launch","version":1,"kernel":"'$kernel'","grid":[1,1,1],"block":[32,1,1],"args":[{"name":"out","buffer":"u32","count":64,"init":{"fill":0},"output":true},{"name":"q","u32":1}]}' > "$T/$kernel.launch.json"
done
out=$("$B/gpulocw" run "$T/conf_race.ptx" --device cuda:0 --bypass l1 --repeat 1 --no-counters 2>&1)
has "a rewrite that differs is not blamed where the original differs from itself" "differs from one launch of the original to the next" "$out"
out=$("$B/gpulocw" run "$T/conf_bump.ptx" --device cuda:0 --bypass l1 --repeat 1 --no-counters 2>&1)
has "and one that is equal is equal" "outputs +equal to the original" "$out"
# The simulated device: an insertion order that the timed launch does not share with the functional one.
echo '{"format":"gpulocw-launch","version":1,"kernel":"c_hash_build","grid":[4,1,1],"block":[256,1,1],"args":[{"name":"key","buffer":"u32","count":1024,"init":{"random":[0,1023],"seed":1}},
  {"name":"slot","buffer":"u32","count":1024,"init":{"fill":0},"output":true},{"name":"n","s32":1000},{"name":"mask","s32":1023}]}' > "$T/hash.launch.json"
out=$("$B/gpulocw" run tests/heldout/suites/science.ptx --launch "$T/hash.launch.json" --bypass l1 --pi 1 --no-counters 2>&1)
has "nor on the simulated device" "differs from one launch of the original to the next" "$out"
# A race leaves the same bytes each time, on any number of host threads: 64 CTAs add to the same words.
printf '.version 7.0\n.target sm_70\n.address_size 64\n.visible .entry rmw(.param .u64 p)\n{\n.reg .pred %%q; .reg .b32 %%r<9>; .reg .b64 %%rd<4>;\nld.param.u64 %%rd1, [p]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd2, %%r1, 4; add.s64 %%rd1, %%rd1, %%rd2; mov.u32 %%r3, 0;
L: ld.global.u32 %%r2, [%%rd1];\nadd.u32 %%r2, %%r2, 1; st.global.u32 [%%rd1], %%r2; add.u32 %%r3, %%r3, 1; setp.lt.u32 %%q, %%r3, 400; @%%q bra L;\nret;\n}\n' > "$T/rmw.ptx"
echo '{"format":"gpulocw-launch","version":1,"kernel":"rmw","grid":[64,1,1],"block":[32,1,1],"args":[{"name":"p","buffer":"u32","count":32,"init":{"fill":1},"output":true}]}' > "$T/rmw.launch.json"
for i in 1 2 3 4 5 6; do
    "$B/gpulocw" run "$T/rmw.ptx" -d sim:hopper-h200 --bypass l1 --pi 0 --no-counters --threads $((i % 3 + 2)) --outputs "$T" 2>/dev/null | grep '^outputs'; cksum < "$T/p.bin"
done | sort | uniq -c | sort -k2 | tr -s ' \n' ' ' > "$T/rmw"
has "what a race leaves is the same each time" "^ 6 [0-9]+ 128 6 outputs equal to the original's $" "$(cat "$T/rmw")"
echo "1..$n"
exit $bad
