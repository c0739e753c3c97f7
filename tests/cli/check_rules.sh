#!/bin/bash
# check: rules about constant memory, atomics, local memory and what a device can hold; what ptxas refuses.
. tests/tool/tap.sh
kernel() { # BODY BLOCK: t is the thread's number, w a word, %ga and %gt places of a 4096-word buffer and of a table
    cat > "$T/k.ptx" <<PTX
.version 8.0
.target sm_90
.address_size 64
.const .align 4 .b8 table[1024];
.visible .entry k(.param .u64 p)
{
	.local .align 4 .b8 depot[64];
	.reg .b32 %t, %w, %m; .reg .b64 %ga, %gt, %l, %x;
	ld.param.u64 %ga, [p];
	mov.u32 %t, %tid.x; mov.u32 %w, %t;
	mov.u64 %gt, table;
	$1
	mul.wide.u32 %x, %t, 4; add.u64 %x, %ga, %x;
	st.global.u32 [%x], %w;
	ret;
}
PTX
    echo '{"format":"gpulocw-launch","version":1,"kernel":"k","grid":[2,1,1],"block":['$2',1,1],"args":[{"name":"p","buffer":"u32","count":4096,"init":{"fill":0},"output":true}]}' > "$T/k.launch.json"
}
rules_of='sorted({f["rule"] for f in d["findings"]})'
finds() { doc "$1" "$rules_of == $2" "$B" check "$T/k.ptx" --json; }
kernel "mul.wide.u32 %x, %t, 4; add.u64 %x, %gt, %x; ld.const.u32 %w, [%x];" 32
finds "each lane its own word of constant memory" '["constant-replay"]'
doc "with the passes beyond the first" '[f["value"] for f in d["findings"]] == [31]' "$B" check "$T/k.ptx" --json
kernel "ld.const.u32 %w, [%gt+16];" 32
finds "one word for all lanes" '[]'
kernel "and.b32 %m, %t, 1; mul.wide.u32 %x, %m, 128; add.u64 %x, %gt, %x; ld.const.u32 %w, [%x];" 32
finds "two words are within the limit" '[]'
kernel "shr.u32 %m, %t, 5; mul.wide.u32 %x, %m, 4; add.u64 %x, %ga, %x; atom.global.add.u32 %w, [%x+8192], 1;" 32
finds "all lanes change one address" '["atomic-contention"]'
kernel "mul.wide.u32 %x, %t, 4; add.u64 %x, %ga, %x; atom.global.add.u32 %w, [%x+8192], 1;" 32
finds "each lane its own" '[]'
kernel "and.b32 %m, %t, 15; cvta.local.u64 %l, depot; mul.wide.u32 %x, %m, 4; mov.u64 %l, depot; add.u64 %l, %l, %x; st.local.u32 [%l], %t; ld.local.u32 %w, [%l];" 32
finds "an array that a thread indexes" '["local-memory"]'
doc "with the bytes that it moves" '[f["value"] for f in d["findings"]] == [8]' "$B" check "$T/k.ptx" --json
kernel "" 1024
sed -i 's/^{$/.maxntid 1024\n{ .reg .f64 %z<200>;/' "$T/k.ptx"
for i in $(seq 0 99); do echo "ld.global.f64 %z$i, [%ga+$((8 * i))];"; done > "$T/loads"
for i in $(seq 0 99); do echo "st.global.f64 [%ga+$((8 * (99 - i)))], %z$i;"; done >> "$T/loads"
sed -i '/mov.u64 %gt/r '"$T/loads" "$T/k.ptx"; sed -i 's/"block":\[[0-9]*/"block":[2048/' "$T/k.launch.json"
"$B" check "$T/k.ptx" --json > "$T/out" 2>/dev/null; rc=$?
n=$((n + 1)); [ $rc -ne 0 ] && echo "ok $n - a block that no device holds is not clean" || { echo "not ok $n - rc $rc"; bad=1; }
# Rows of matrices (ldmatrix): lanes 128 bytes apart meet in four banks, lanes 144 bytes apart do not.
rows() { # PITCH .xN REGISTERS
    kernel "mov.u32 %m, s; and.b32 %z, %t, 31; mad.lo.u32 %z, %z, $1, %m; shl.b32 %q, %t, 4; add.u32 %q, %q, %m; st.shared.v4.u32 [%q], {%t, %t, %t, %t}; bar.sync 0; ldmatrix.sync.aligned.m8n8.$2.shared.b16 {$3}, [%z]; mov.u32 %w, %r0;" 288
    sed -i 's/^\t\.reg \.b32 %t.*/\t.reg .b32 %q, %z, %r<4>;\n&/; s/^{$/{\n\t.shared .align 16 .b8 s[4608];/' "$T/k.ptx"
}
rows 128 x4 "%r0, %r1, %r2, %r3"
doc "rows of matrices one below the other" '[(f["rule"], f["value"]) for f in d["findings"]] == [("bank-conflict", 28)]' "$B" check "$T/k.ptx" --json
sed -i 's/x4.shared.b16 {[^}]*}/x1.shared.b16 {%r0}/' "$T/k.ptx"
doc "one matrix is eight lanes' rows" '[(f["rule"], f["value"]) for f in d["findings"]] == [("bank-conflict", 7)]' "$B" check "$T/k.ptx" --json
rows 144 x4 "%r0, %r1, %r2, %r3"
finds "a pitch of 144 bytes" '[]'
sed -i 's/"block":\[288/"block":[2/' "$T/k.launch.json"
doc "two lanes do not give the rows of a matrix" '[(f["rule"], "lane 2 gives a row" in f["message"]) for f in d["findings"]] == [("failed-run", True)]' "$B" check "$T/k.ptx" --json
# Without a launch: what the guess meets, what threads behind a bound do, and other blocks.
guarded() { # COMPARISON: thread i doubles element i where that holds of n
    printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u32 n)\n{\n.reg .b32 %%r<5>; .reg .b64 %%d<4>; .reg .pred %%q;\nld.param.u64 %%d1, [p]; ld.param.u32 %%r1, [n];\nmov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%ctaid.x; mov.u32 %%r4, %%tid.x; mad.lo.u32 %%r2, %%r2, %%r3, %%r4;\nsetp.'$1'.u32 %%q, %%r2, %%r1; @!%%q bra E;\nmul.wide.u32 %%d2, %%r2, 4; add.u64 %%d1, %%d1, %%d2;\nld.global.u32 %%r3, [%%d1]; shl.b32 %%r3, %%r3, 1; st.global.u32 [%%d1], %%r3;\nE: ret;\n}\n' > "$T/b.ptx"
}
guarded lt
code "a guess that guards its bound is clean on the far side, too" 0 "^k: 13 of 13 rules checked with a guessed launch, .*; also size [0-9]*, block 128x1x1, block 512x1x1" "$B" check "$T/b.ptx"
doc "and has no finding" 'd["findings"] == []' "$B" check "$T/b.ptx" --json
guarded le
code "one element too many is found on the far side" 0 "b.ptx:11:[0-9]*: warning: out-of-bounds read .*; with size [0-9]* .out-of-bounds" "$B" check "$T/b.ptx"
sed -i 's/mul.wide.u32 %d2, %r2, 4;/mul.wide.u32 %d2, %r2, 6;/' "$T/b.ptx"
code "what no size mends is a finding of the guess" 0 "b.ptx:11:[0-9]*: warning: misaligned read" "$B" check "$T/b.ptx"
# What ptxas 13 refuses.
told() { code "ptxas: $1" "$2" "$3" "$B" analyze "$T/p.ptx" --quick; }
head='.version 8.0\n.target sm_90\n.address_size 64\n'
printf "$head// \xc3\xa9\n.visible .entry k()\n{\nret;\n}\n" > "$T/p.ptx"; told "a byte that is not ASCII in a comment" 0 "p.ptx:4:4: warning: a byte that is not ASCII"
printf "${head/64/32}.visible .entry k()\n{\nret;\n}\n" > "$T/p.ptx"; told "addresses of 32 bits" 0 "warning: .address_size 32"
sed -i 's/sm_90/sm_75/' "$T/p.ptx"; told "addresses of 32 bits on an older target" 0 "warning: .address_size 32"
printf '.version 8.0\n.target sm_80\n.visible .entry k(.param .u32 p)\n{\n.reg .b32 %%d;\nld.param.u32 %%d, [p];\nst.global.u32 [%%d], 1;\nret;\n}\n' > "$T/p.ptx"; told "addresses of 32 bits, nothing said" 0 "warning: .address_size is left out, and addresses have 32 bits"
printf "$head.const .u32 c;\n.visible .entry k()\n{\nst.const.u32 [c], 3;\nret;\n}\n" > "$T/p.ptx"; told "a store to constant memory" 1 "error: 'st.const.u32' cannot have .const"
printf "$head.visible .entry k()\n{\n.reg .b32 %%r<5>;\nmov.b64 {%%r1, %%r2}, {%%r3, %%r4};\nret;\n}\n" > "$T/p.ptx"; told "a vector moved to a vector" 0 "warning: mov takes a vector on one side alone"
printf "$head.visible .entry k() .noreturn\n{\ntrap;\n}\n" > "$T/p.ptx"; told ".noreturn on a kernel" 0 "warning: .noreturn stands on a kernel"
exit $bad
