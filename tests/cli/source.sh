#!/bin/bash
# source: what a configuration means in the source. The fixture's PTX is nvcc's, with -lineinfo.
. tests/tool/tap.sh
B=$(readlink -f "$B")
cp tests/source/* "$T"
claim() { # NAME CONDITION...
    local name=$1; shift; n=$((n + 1))
    if "$@" >"$T/why" 2>&1; then echo "ok $n - $name"; else echo "not ok $n - $name"; sed 's/^/#   /' "$T/why" "$T/err" | tail -4; bad=1; fi
}
session() { rm -f "$T/s.json"; (cd "$T" && "$B" run "$@" --no-counters -o s.json) > "$T/run" 2>&1; }
source_of() { (cd "$T" && "$B" source s.json "$@") > "$T/out" 2>"$T/err"; rc=$?; }
says() { grep -qF -- "$1" "$T/out" "$T/err"; }
patched() { # the diff applies, and what it makes has this line
    sed -n '/^---/,$p' "$T/out" > "$T/p.diff"
    sed -i '/^verified:/d; /^untried:/d; /^the difference:/d' "$T/p.diff"
    patch -s -o "$T/patched.cu" "$T/$1" "$T/p.diff" && grep -qF -- "$2" "$T/patched.cu"; }
nvcc=; for d in $(tr : ' ' <<< "$PATH") "$CUDA_HOME/bin" "$CUDA_PATH/bin" /usr/local/cuda/bin; do [ -x "$d/nvcc" ] && nvcc=1; done
tried() { # where nvcc is here: simulated, equal; else that is said
    n=$((n + 1))
    if [ ! "$nvcc" ]; then says "neither nvcc nor clang was found" && echo "ok $n - $1 # SKIP no nvcc" || { echo "not ok $n - $1"; bad=1; }
    elif says "verified: compiled, outputs equal"; then echo "ok $n - $1"
    else echo "not ok $n - $1"; tail -3 "$T/out" | sed 's/^/#   /'; bad=1; fi; }
session scale.ptx -k tiles --bypass l1 --pi 1; source_of
claim "loads by file and line, with the parameter's name" says "scale.cu:17: bypass: the load of a (line"
claim "a threshold is two copies of the kernel" patched scale.cu "        tiles_body<true>(a, w, out, rows, passes);"
claim "the load is edited" patched scale.cu "            s += gpulocw_load0<gpulocw_caches>(&tile[r * 32]);"
claim "a load in an inlined function that no other kernel has" says "scale.cu:5: bypass: the load of w"
claim "asks for its warp" patched scale.cu "    return gpulocw_warp_load0(&w[i]) * 2;"
tried "the patched source gives the same outputs"
session scale.ptx -k shared --bypass l1 --pi 1; source_of
claim "with shared memory the kernel is not copied" patched scale.cu "    kept[threadIdx.x] = gpulocw_warp_load0(&a[blockIdx.x * 128 + threadIdx.x]);"
claim "a store's subscript and one of shared memory stay" patched scale.cu "    out[blockIdx.x * 128 + threadIdx.x] = kept[127 - threadIdx.x];"
tried "its outputs"
session scale.ptx -k tiles --bypass l1 --pi 0; source_of
claim "every warp: __ldcg" patched scale.cu "            t += __ldcg(&tile[r * 32 + 32]);"
tried "its outputs"
session scale.ptx -k tiles --bypass l2 --pi 0; source_of
claim "past L2: with a policy" patched scale.cu "gpulocw_ld0(&tile[r * 32])"
claim "which is the rewrite's" patched scale.cu "createpolicy.fractional.L2::evict_first.b64 policy, 1.0; ld.global.L2::cache_hint.u32 %0"
tried "its outputs"
session scale.ptx -k shared --readonly promote; source_of
claim "read-only: __ldg, or __restrict__" says "const ... *__restrict__"
tried "its outputs"
session scale.ptx -k tiles --maxnreg 32 --carveout 50; source_of
claim "a register limit" patched scale.cu '__global__ void __maxnreg__(32) tiles(const float *a'
claim "a carve-out before the launch" patched scale.cu "    cudaFuncSetAttribute(tiles, cudaFuncAttributePreferredSharedMemoryCarveout, 50);"
tried "its outputs"
session scale.ptx -k tiles --minctas 4; source_of
claim "launch bounds" patched scale.cu "__launch_bounds__(128, 4) tiles("
for index in row column tile:2x1; do
    session scale.ptx -k tiles --cluster redirect --index $index --clusters 3; source_of
    claim "CTA order $index" patched scale.cu "    const uint3 blockIdx = gpulocw_cta();"
    tried "its outputs ($index)"
done
session scale.ptx -k tiles --cluster agent; source_of
claim "agents in words" says "persistent CTAs"
claim "and how the program gets them" says "gpulocw apply s.json -- COMMAND"
claim "nothing is edited" bash -c "! grep -q ^--- '$T/out'"
session scale.ptx -k tiles --block 64x1x1; source_of
claim "another block by the launch's line, or a refusal by run" bash -c "grep -q 'error' '$T/run' || grep -qF 'scale.cu:34' '$T/out'"
session scale.ptx -k tiles --bypass l1 --pi 1; source_of --json
claim "the document" python3 -c "
import json; d=json.load(open('$T/out')); k=d['kernels'][0]
assert d['format']=='gpulocw-source-advice' and k['language']=='cuda' and k['advice'][0]['line']==17 and k['advice'][0]['in_diff'] and k['diff'].startswith('--- ')
assert (k['tried'] is None) == (k['not_tried'] is not None)
assert k['changes_source'] and k['certain'] == (k['verified'] == 'compiled, outputs equal') == (k['why'] is None)
assert k['edits'][0]['file'] == 'scale.cu' and any(e['before'].strip() == 's += tile[r * 32];' for e in k['edits'])
assert k['launch'] == {'grid': [16, 1, 1], 'block': [128, 1, 1], 'shared': 0}"
rm "$T/scale.cu"; source_of
claim "without the source: advice, no diff" bash -c "grep -qF 'scale.cu:17: bypass' '$T/out' && ! grep -q '^---' '$T/out'"
grep -v '\.loc\|\.file' tests/source/scale.ptx > "$T/scale.ptx"; session scale.ptx -k tiles --bypass l1 --pi 1; source_of
claim "without line information: by the line of the PTX" says "bypass: the load of "
sed 's/\t\.loc\t.*$//; /^\t\.file/d' kernels/valley.ptx > "$T/valley.ptx"; cp kernels/valley.launch.json "$T"
session valley.ptx --coarsen 2 --coarsen-mode blocked --readonly promote; source_of
claim "loads of one buffer are told together there" says "the 8 loads of valley_param_0 (lines 81 to 95 of the PTX): __ldg(&...)"
claim "without the source nothing is edited" says "this configuration has no source form: "
session rows.ptx --bypass l1 --pi 0; source_of
claim "Triton, by the file's name" says 'rows.py:9: bypass: tl.load(..., cache_modifier=".cg")'
claim "its edit" patched rows.py '        s += tl.load(x + k * BLOCK + o, mask=o < n, cache_modifier=".cg")'
claim "the line as it was is gone" bash -c "! grep -qxF '        s += tl.load(x + k * BLOCK + o, mask=o < n)' '$T/patched.cu'"
session rows.ptx --bypass l1 --pi 1; source_of
claim "a threshold has no word in Triton" says "Triton cannot express"
source_of --lang numba
claim "Numba" says "numba.cuda has no cache operators"
order='[0, 0, 0, 0, 3, 3, 3, 3, 6, 6, 6, 6, 1, 1, 1, 1, 4, 4, 4, 4, 7, 7, 7, 7, 2, 2, 2, 2, 5, 5, 5, 5]' # 8 programs in 3 clusters
session rows.ptx --cluster redirect --clusters 3; source_of
claim "program ids renamed, in Triton's words" patched rows.py '    tl.store(out + gpulocw_id * BLOCK + o, s)'
claim "each program does the work of one other" test "$(python3 "$T/stand_in.py" "$T/patched.cu")" = "$order"
mv "$T/rows_numba.py" "$T/rows.py"; source_of --lang numba
claim "in Numba's" patched rows.py '    i = (gpulocw_id * cuda.blockDim.x + cuda.threadIdx.x)'
claim "the same programs" test "$(python3 "$T/stand_in.py" "$T/patched.cu")" = "$order"
claim "and that nobody tried it" says "untried: "
session rows.ptx --cluster agent; source_of
claim "what has no form is not edited, and apply is offered" says "gpulocw apply s.json -- COMMAND"
for line in "source" "source $T/s.json --lang fortran"; do
    "$B" $line > "$T/out" 2>"$T/err"; rc=$?
    claim "wrong usage: ${line//$T\//}" test $rc -eq 2
done
"$B" source "$T/rows.ptx" > "$T/out" 2>"$T/err"; rc=$?
claim "a PTX file is no session" test $rc -eq 1
exit $bad
