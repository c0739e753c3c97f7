#!/bin/bash
# The worked changes of docs/internals/extending.md and the first change of CONTRIBUTING.md, tried: applies them all in a scratch copy,
# builds it and runs what the page says. `make recipes`; takes as long as a build. Prints TAP.
set -u
copy=$(mktemp -d) n=0 bad=0
trap 'rm -rf "$copy"' EXIT
claim() { # WHAT PATTERN COMMAND...
    local what=$1 pattern=$2 out; shift 2
    n=$((n + 1))
    out=$("$@" 2>&1 </dev/null)
    if grep -qE "$pattern" <<< "$out"; then echo "ok $n - $what"; else bad=1; echo "not ok $n - $what"; tail -12 <<< "$out" | sed 's/^/#   /'; fi
}
git ls-files -z | xargs -0 cp --parents -t "$copy"
page=$PWD/docs/internals/extending.md
cd "$copy" || exit 1
claim "the changes fit" "all of it" sh -c "cat docs/internals/recipes/*.patch > all.patch && patch -p1 -F3 < all.patch && echo all of it"
sed -n '/^    cat > .*my-gpu\.json/,/^    EOF/p' "$page" | sed 's/^    //' > preset.sh
claim "the preset" "all of it" sh -c "sh preset.sh && echo all of it"
claim "it builds" "all of it" sh -c "make -s -j$(nproc) all && echo all of it"
cat > add3.ptx <<'P'
.version 7.8
.target sm_80
.address_size 64
.visible .entry add3(.param .u64 out)
{
	.reg .b64 %rd<4>;
	.reg .b32 %r<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	add3.s32 %r2, %r1, %r1, 7;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r2;
	ret;
}
P
echo '{ "format": "gpulocw-launch", "version": 1, "ptx": "add3.ptx", "kernel": "add3", "grid": [1, 1, 1], "block": [32, 1, 1],
  "args": [ { "name": "out", "buffer": "s32", "count": 32, "init": { "fill": 0 }, "output": true } ] }' > add3.launch.json
G=build/gpulocw
export GPULOCW_DATA=$copy XDG_DATA_HOME=$copy XDG_CONFIG_HOME=$copy LC_ALL=C.UTF-8
claim "instruction: add3 executes" "^ +7 +9 +11$" sh -c "$G run add3.ptx --outputs out >&2; od -An -td4 -N12 out/out.bin"
claim "modifier: two files" "^2$" sh -c "grep -c '^--- a/' docs/internals/recipes/modifier.patch"
through() { # WORD: a kernel whose address goes through add.WORD
    cat > word.ptx <<P
.version 7.8
.target sm_80
.address_size 64
.visible .entry word(.param .u64 in, .param .u64 out)
{
	.reg .b64 %rd<7>;
	.reg .b32 %r<7>;
	ld.param.u64 %rd1, [in];
	ld.param.u64 %rd2, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mov.u32 %r3, %ntid.x;
	mad.lo.s32 %r4, %r2, %r3, %r1;
	add$1.s32 %r5, %r4, 0;
	mul.wide.s32 %rd3, %r5, 4;
	add.s64 %rd4, %rd1, %rd3;
	ld.global.u32 %r6, [%rd4];
	mul.wide.s32 %rd5, %r4, 4;
	add.s64 %rd6, %rd2, %rd5;
	st.global.u32 [%rd6], %r6;
	ret;
}
P
    echo '{ "format": "gpulocw-launch", "version": 1, "ptx": "word.ptx", "kernel": "word", "grid": [4, 1, 1], "block": [64, 1, 1],
      "args": [ { "name": "in", "buffer": "u32", "count": 256 }, { "name": "out", "buffer": "u32", "count": 256, "output": true } ] }' > word.launch.json
    $G rewrite word.ptx --coarsen 2 --coarsen-mode vector > word.out 2>/dev/null
    echo "exit $?, $(grep -c 'ld\.global\.v2' word.out) wide"
}
claim "modifier: without it the load becomes a wide one" "^exit 0, 1 wide" through ""
claim "modifier: with it the load stays as it is" "^exit 0, 0 wide" through .even
claim "pass: the pragma is in the difference" '^\+.*\.pragma "nounroll";' $G rewrite kernels/gemm.ptx --nounroll --diff
claim "pass: outputs are equal" "outputs +equal" $G run kernels/gemm.ptx --nounroll
claim "panel: it shows the device" "NVIDIA H200: 132 SMs" sh -c "printf 'run\nshow device\nquit\n' | timeout 60 $G kernels/gemm.ptx --plain"
claim "preset: a kernel runs on it" "^gemm on My GPU \(simulated\)" $G run kernels/gemm.ptx --device sim:my-gpu
claim "counter: inst.lanes" "inst\.lanes +32 lane" $G run kernels/gemm.ptx
# the walk-through of CONTRIBUTING.md
sed -n '/^1\. Make the kernel/,/^5\. /p' CONTRIBUTING.md | grep '^       ' > first.sh
claim "first change: its commands" "all of it" sh -c "bash -e first.sh && echo all of it"
claim "first change: 32 sectors a request" "exact 32\.0000 per request" $G analyze kernels/stride_8.ptx
claim "first change: equal to plain C" "OK \] kernels/stride_8" sh -c "make -s build/tests/test_kernels_reference && build/tests/test_kernels_reference stride"
claim "first change: in the tree's style" "all of it" sh -c "clang-format --dry-run -Werror tests/ref_kernels/ref_apps.c && echo all of it"
echo "1..$n"
exit $bad
