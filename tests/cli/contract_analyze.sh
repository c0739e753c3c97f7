#!/bin/bash
# The command-line contract (docs/reference/json.md, gpulocw schema): analyze, and launch descriptions made for kernels that have none.
. tests/tool/tap.sh

# The paper's base table (coalesce): degree, sectors in range, expected; exact needs the launch.
base() {
    doc "analyze $1" "(lambda k:(abs(k['coalesce']['degree']-$2)<1e-12, k['coalesce']['num_sectors']==$3, abs(k['coalesce']['expected_sectors']-$4)<1e-12, abs(k['exact']['sectors_per_request']-$5)<1e-12))(d['kernels'][0])==(True,)*4" "$B" analyze "$(k $1)" --json
}
base stride_32 0.03125 1 32 32
base stride_4 0.25 4 16 16
base same_location 1 1 1 1
base coalescing 1 4 4 4
# Sectors of a request against the fewest that hold what its lanes ask for, by width, step and offset of the lanes (bytes).
vector() { # TYPE WIDTH STEP OFFSET DEGREE SECTORS LEAST
    local v=; case $1 in v4.f32) v='{%f1,%f2,%f3,%f4}';; v2.f32) v='{%f1,%f2}';; *) v=%f1;; esac
    cat >"$T/vec.ptx" <<PTX
.version 7.0
.target sm_70
.address_size 64
.visible .entry vec(.param .u64 A)
{
    .reg .b32 %r<3>; .reg .b64 %d<4>; .reg .f32 %f<5>;
    ld.param.u64 %d1, [A]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, $3; add.s64 %d3, %d1, %d2;
    ld.global.$1 $v, [%d3+$4];
    st.global.f32 [%d3], %f1;
    ret;
}
PTX
    echo '{"format":"gpulocw-launch","version":1,"ptx":"vec.ptx","kernel":"vec","grid":[1,1,1],"block":[32,1,1],"args":[{"name":"A","buffer":"f32","count":4096,"init":{"fill":1},"output":true}]}' >"$T/vec.launch.json"
    doc "$1, lanes $3 bytes apart from byte $4: $6 sectors, $7 needed" "(lambda c,x:(c['degree'],c['sectors_per_request'],c['least_sectors_per_request'],abs(c['sector_use']-$7/$6)<1e-12,x['sectors'],x['least_sectors'],x['bytes_used']))(d['kernels'][0]['coalesce'],d['kernels'][0]['exact'])==($5,$6,$7,True,$6,$7,$2)" "$B" analyze "$T/vec.ptx" --json
}
vector f32 128 4 0 1 4 4
vector v2.f32 256 8 0 0.5 8 8
vector v4.f32 512 16 0 0.25 16 16
vector f32 128 8 0 0.5 8 4
vector f32 128 4 4 0.96875 5 4
vector v4.f32 512 64 0 0.0625 32 16
vector v4.f32 16 0 16 1 1 1
cp kernels/stride_4.ptx "$T/alone.ptx"
doc "without a launch: exact is null, the block is assumed" "d['kernels'][0]['exact'] is None and d['kernels'][0]['launch']['assumed'] and d['kernels'][0]['coalesce']['degree']==0.25" "$B" analyze "$T/alone.ptx" --json
# A kernel that nobody described: the first description runs, and says what it is.
cp kernels/transpose.ptx "$T/own.ptx"
code "launch writes a description" 0 "sizes and data are guesses" "$B" launch "$T/own.ptx" -k transpose_tiled -o "$T/own.launch.json"
doc "launch: the block that the tile was made for, the output found" "d['block']==[32,8,1] and d['grid'][0]==d['grid'][1]>1 and d['args'][2]['s32']==32*d['grid'][0] and [a.get('output',False) for a in d['args'] if 'buffer' in a]==[False,True]" cat "$T/own.launch.json"
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
code "launch: of a struct's members only what is written is an output" 0 "view\+0 f32 x 1048576, view\+8 f32 x 1048576 \(output\)" "$B" launch "$T/view.ptx"
cp "$T/view.ptx" "$T/idle.ptx"; "$B" launch "$T/view.ptx" 2>/dev/null | sed 's/view.ptx/idle.ptx/; s/"s32": 1048576/"s32": 0/' > "$T/idle.launch.json"
doc "a load that no thread comes to has no figure, not 0" "(lambda e: e['requests']==0 and e['sectors_per_request'] is None)(d['kernels'][0]['loads'][0]['exact'])" "$B" analyze "$T/idle.ptx" --json
code "and in words" 0 "exact +never executed in this launch" "$B" analyze "$T/idle.ptx"
# A rank over all three components is no third dimension; two groups' sizes multiplied are one; an index read by itself is one.
rank() { # rank NAME %tid.z's use
cat > "$T/$1.ptx" <<PTX
.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 4 .b8 tile[];
.global .align 1 .b8 words[4] = {37, 117, 10, 0};
.visible .entry $1(.param .u64 a, .param .u64 o, .param .u32 n)
{
    .reg .pred %p; .reg .f32 %f; .reg .b32 %r<20>; .reg .b64 %d<9>;
    ld.param.u64 %d1, [a]; ld.param.u64 %d2, [o]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %ntid.x; mov.u32 %r3, %ntid.y; mov.u32 %r4, %ntid.z; mov.u32 %r5, %tid.x; mov.u32 %r6, %tid.y; mov.u32 %r7, %tid.z; mov.u32 %r8, %ctaid.x;
    mul.lo.s32 %r9, %r2, %r3; mul.lo.s32 %r10, %r9, %r4;
    $2
    mad.lo.s32 %r13, %r10, %r8, %r12;
    setp.ge.s32 %p, %r13, %r1;
    @%p bra done;
    mul.wide.s32 %d3, %r13, 4;
    add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
    ld.global.f32 %f, [%d4]; st.global.f32 [%d5], %f;
done:
    ret;
}
.visible .entry other_tile()
{
    .reg .b32 %r;
    mov.u32 %r, %tid.x; st.shared.u32 [tile], %r; ret;
}
.extern .func (.param .b32 out) vprintf(.param .b64 format, .param .b64 args);
.visible .entry one_for_all(.param .u64 a)
{
    .reg .b32 %r; .reg .b64 %d<3>;
    ld.param.u64 %d1, [a]; ld.global.u32 %r, [%d1]; add.s32 %r, %r, 1; st.global.u32 [%d1], %r; ret;
}
.visible .entry talks(.param .u64 a)
{
    .reg .b32 %r<3>; .reg .b64 %d<5>; .local .align 8 .b8 said[8];
    ld.param.u64 %d1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %d1, %d2; ld.global.u32 %r2, [%d2]; st.local.u32 [said], %r2;
    mov.u64 %d3, words; cvta.global.u64 %d3, %d3; mov.u64 %d4, said; cvta.local.u64 %d4, %d4;
    { .param .b64 p0; st.param.b64 [p0], %d3; .param .b64 p1; st.param.b64 [p1], %d4; .param .b32 q; call.uni (q), vprintf, (p0, p1); }
    ret;
}

PTX
}
rank by_rank 'mad.lo.s32 %r11, %r3, %r7, %r6; mad.lo.s32 %r12, %r11, %r2, %r5;'
code "launch: a rank over the block is one dimension" 0 "by_rank: grid 4096x1x1, block 256x1x1" "$B" launch "$T/by_rank.ptx" -k by_rank
doc "launch: dynamic shared memory only where the kernel names it" "d['shared']==0" "$B" launch "$T/by_rank.ptx" -k by_rank
doc "launch: and there it is" "d['shared']>=4" "$B" launch "$T/by_rank.ptx" -k other_tile
code "launch: a kernel that reads no index is one thread's" 0 "one_for_all: grid 1x1x1, block 1x1x1" "$B" launch "$T/by_rank.ptx" -k one_for_all
doc "launch: printing writes no buffer" "'output' not in d['args'][0] and 'random' in d['args'][0]['init']" "$B" launch "$T/by_rank.ptx" -k talks
rank by_parts 'mul.lo.s32 %r11, %r7, %r9; mad.lo.s32 %r14, %r6, %r2, %r5; add.s32 %r12, %r11, %r14;'
code "launch: the same rank, added up in another order" 0 "by_parts: grid 4096x1x1, block 256x1x1" "$B" launch "$T/by_parts.ptx" -k by_parts
rank by_depth 'mad.lo.s32 %r11, %r3, %r7, %r6; mad.lo.s32 %r12, %r11, %r2, %r5; xor.b32 %r12, %r12, %r7;'
code "launch: an index that is read besides is a dimension" 0 "by_depth: grid [0-9]+x[0-9]+x[0-9]+, block 8x8x4" "$B" launch "$T/by_depth.ptx" -k by_depth
# A tile with a halo wants its own block shape; a debug build hides pointers in local memory.
code "launch: the block that a halo was made for" 0 "w_jacobi: grid [0-9x]+, block 32x4x1" "$B" launch tests/heldout/w_nvcc.ptx -k w_jacobi
sed -e 's/ld.param.u64 %d1, \[view\];/ld.param.u64 %d1, [view]; st.local.u64 [keep], %d1; ld.local.u64 %d1, [keep];/' -e 's/    ld.param.u64 %d2, \[view+8\];/    .local .b64 keep;\n    ld.param.u64 %d4, [view+8]; st.local.u64 [keep], %d4; ld.local.u64 %d2, [keep];/' \
    -e '/ld.param.u64 %d1/{h;d};/.local .b64 keep;/{G}' "$T/view.ptx" > "$T/hidden.ptx"
code "launch: pointers that pass through local memory" 0 "view\\+0 [a-z0-9]+ x [0-9]+.*view\\+8 [a-z0-9]+ x" "$B" launch "$T/hidden.ptx"
sed -e 's/^.visible .entry/.const .align 4 .b8 table[64];\n&/' -e 's/add.f32 %f, %f, 0f3F800000;/ld.const.f32 %f, [table+8];/' "$T/view.ptx" > "$T/table.ptx"
code "launch: a constant table is filled" 0 "table f32 x 16 \\(constant\\)" "$B" launch "$T/table.ptx" -o "$T/table.launch.json"
doc "a constant table without a file runs" "d['equal_to_original'] is True" "$B" run "$T/table.ptx" --json
# A guess under which no thread does anything is none; threads along x are no tile; masks are masks; flags start at zero.
S=tests/heldout/suites
code "launch: a product of sizes that would overflow, and CTAs for all of it" 0 "m_swiglu: grid 256x1x1, block 256x1x1 .*; m_swiglu_param_0 f32 x 65536 \\(output\\)" "$B" launch $S/models.ptx -k m_swiglu
code "launch: a grid of two dimensions, a block of one; zeros stored to floats" 0 "m_attention: grid [0-9]+x([2-9]|[1-9][0-9]+)x1, block (256|32)x1x1 .*; m_attention_param_0 f32 " "$B" launch $S/models.ptx -k m_attention
doc "launch: a table that starts empty, a mask" "d['args'][1]['init']=={'fill':0} and d['args'][3]['s32']==d['args'][2]['s32']-1" "$B" launch $S/science.ptx -k c_hash_build
doc "nothing agrees with an unknown class" "d['kernels'][0]['class']=='unknown' and not any('agrees' in e for e in d['kernels'][0]['evidence'])" "$B" analyze $S/field.ptx -k f_rays --json
doc "launch: offsets of rows ascend, and leave room for their entries" "(lambda r,c: r['rows']+1==c[0] and r['nnz']==16*r['rows']==c[1])(d['args'][0]['init']['rows'],[a.get('count') for a in d['args']]) and 'random' in d['args'][1]['init'][1]" "$B" launch $S/field.ptx -k f_pagerank
code "launch: no such kernel" 1 "no kernel 'nix'" "$B" launch "$T/own.ptx" -k nix
# Every CTA writes the same words: on no device is that one result, and it is told as such.
sed -e 's/%p, %r5, %r1/%p, %r4, %r1/' -e 's/%d3, %r5, 4/%d3, %r4, 4/' -e 's/add.f32 %f, %f, 0f3F800000;/cvt.rn.f32.u32 %f, %r2;/' "$T/view.ptx" > "$T/race.ptx"
"$B" launch "$T/view.ptx" 2>"$T/err" | sed 's/view.ptx/race.ptx/' > "$T/race.launch.json"
code "races are looked for when asked" 4 "race.ptx:18:[0-9]+: error: race: write of global address .* CTA" "$B" run "$T/race.ptx" --check-memory
code "nothing is found where there is none" 0 "equal to the original" "$B" run "$(k gemm)" --check-memory
# Read eight times by the same warp, and each time too late for its share of a small L1: that is not "read once".
doc "loads of which the same is to be said are named together" "(lambda e: len(e)==4 and e[1].startswith('lines 66, 67, 79, each: of the 128-byte lines') and e[2].startswith('lines 72, 77, each: '))([x for x in d['kernels'][0]['evidence'] if 'agrees' not in x])" "$B" analyze "$(k redblack)" --json
doc "what is touched again too late is touched again" "all('88 % of its lines are touched again inside the CTA, 0 % while' in l['evidence'] for l in d['kernels'][0]['loads'])" "$B" analyze "$(k valley)" -k fermi -d sim:fermi-16k --json
# Back to the CUDA source, by .loc.
cat > "$T/from.cu" <<'CU'
// one line
   out[i] = in[i] * 2;   // the second
CU
cat > "$T/from.ptx" <<'PTX'
.version 7.0
.target sm_70
.address_size 64
.visible .entry f(.param .u64 in, .param .u64 out)
{
    .reg .b64 %d<5>;
    .reg .b32 %r<3>;
    .reg .f32 %f;
    ld.param.u64 %d1, [in];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    add.s64 %d3, %d1, %d2;
    .loc 1 2 4
    ld.global.f32 %f, [%d3];
    ld.param.u64 %d1, [out];
    add.s64 %d3, %d1, %d2;
    .loc 2 7 3, function_name $L__info, inlined_at 1 2 13
    ld.global.f32 %f, [%d3];
    st.global.f32 [%d3], %f;
    ret;
}
    .file 1 "/no/such/folder/from.cu"
    .file 2 "math.hpp"
PTX
doc "the CUDA line of a load" "[l['source'] for l in d['kernels'][0]['loads']]==[{'file':'/no/such/folder/from.cu','line':2,'column':4,'inlined_at':None},{'file':'math.hpp','line':7,'column':3,'inlined_at':{'file':'/no/such/folder/from.cu','line':2}}]" "$B" analyze "$T/from.ptx" --json
sed 's/\t\.loc\t.*$//; /^\t\.file/d' "$(k stride_4)" > "$T/no_loc.ptx"
doc "none without .loc" "all(l['source'] is None for l in d['kernels'][0]['loads'])" "$B" analyze "$T/no_loc.ptx" --json
code "and in words" 0 "source   math.hpp:7 in from.cu:2" "$B" analyze "$T/from.ptx"
if "$B" --plain "$T/from.ptx" </dev/null >/dev/null 2>&1; then
    has "the workbench shows the line itself, found beside the PTX" "from.cu:2  out\[i\] = in\[i\] \* 2;" "$(echo show source | "$B" "$T/from.ptx" --plain --session "$T/s.json" 2>&1)"
fi
exit $bad
