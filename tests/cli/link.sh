#!/bin/bash
# Several files are one program, by name: functions and variables, weak and common ones, local names that meet, what is missing.
. tests/tool/tap.sh
begin() { printf '.version %s\n.target %s\n.address_size 64\n' "$1" "$2"; }
kernel() { # statements between loading %v and storing it
    printf '.visible .entry k(.param .u64 k_param_0)\n{\n.reg .b32 %%v<4>;\n.reg .b64 %%d<6>;\nld.param.u64 %%d1, [k_param_0];\nmov.u32 %%v1, %%tid.x;\nmul.wide.u32 %%d2, %%v1, 4;\nadd.s64 %%d3, %%d1, %%d2;\n%s\nst.global.u32 [%%d3], %%v2;\nret;\n}\n' "$1"
}
call='{ .param .b32 x; .param .b32 y; st.param.b32 [x], %v1; call.uni (y), twice, (x); ld.param.b32 %v2, [y]; }'
one='.func (.param .b32 r) %s (.param .b32 a)\n{\n.reg .b32 %%v<3>;\nld.param.b32 %%v1, [a];\n%s\nst.param.b32 [r], %%v2;\nret;\n}\n'
def() { printf "%s $one" "$1" "$2" "$3"; }
proto='.extern .func (.param .b32 r) twice (.param .b32 a);'
{ begin 7.0 sm_70; echo "$proto"; echo '.extern .global .u32 base;'; def '' own 'add.u32 %v2, %v1, 1;'; kernel "$call ld.global.u32 %v3, [base]; add.u32 %v2, %v2, %v3;"; } > "$T/a.ptx"
{ begin 8.0 sm_80; echo '.file 1 "b.cu"'; echo '.visible .global .u32 base = 100;'; def '' own 'add.u32 %v2, %v1, %v1;'; def .visible twice '.loc 1 2 3
{ .param .b32 x; .param .b32 y; st.param.b32 [x], %v1; call.uni (y), own, (x); ld.param.b32 %v2, [y]; }'; } > "$T/b.ptx"
cat > "$T/a.launch.json" <<'J'
{ "format": "gpulocw-launch", "version": 1, "kernel": "k", "grid": [1, 1, 1], "block": [32, 1, 1],
  "args": [ { "name": "p", "buffer": "u32", "count": 32, "output": true } ] }
J
values() { od -An -v -tu4 -w4 "$T/o/p.bin" | head -"$1" | tr -s ' \n' ' '; }
run() { rm -rf "$T/o"; "$B" run "$@" --launch "$T/a.launch.json" --outputs "$T/o" > "$T/said" 2>&1; }
run "$T/a.ptx" "$T/b.ptx"
is "a function and a variable of another file" "$(values 5)" " 100 102 104 106 108 "
run "$T/b.ptx" "$T/a.ptx"
is "the order of the files does not matter" "$(values 5)" " 100 102 104 106 108 "
run "$T/a.ptx" "$T/b.ptx" --clusters 0 --maxnreg 32
has "rewrites work on the program" "equal to the original" "$(cat "$T/said")"
"$B" rewrite "$T/a.ptx" "$T/b.ptx" --maxnreg 32 -o "$T/all.ptx" > /dev/null 2>&1
is "local names that meet stay apart" "$(grep -c 'own__2' "$T/all.ptx")" 2
if command -v ptxas > /dev/null; then
    code "ptxas takes the program" 0 "" ptxas -arch=sm_80 -o "$T/all.cubin" "$T/all.ptx"
fi
"$B" run "$T/a.ptx" "$T/b.ptx" --launch "$T/a.launch.json" -o "$T/s.json" > /dev/null 2>&1
mkdir "$T/kept" && mv "$T/a.ptx" "$T/kept/" && mv "$T/b.ptx" "$T/kept/"
code "a session replays without the files" 0 "k" "$B" replay "$T/s.json" --plain
mv "$T/kept/"*.ptx "$T/"
code "what no file defines, and who needs it" 1 "'base' is not defined in any of these files; 'k' needs it" "$B" analyze "$T/a.ptx" kernels/gemm.ptx
code "so too of a function" 1 "'twice' is not defined in any of these files; 'k' needs it" "$B" analyze "$T/a.ptx" kernels/gemm.ptx
"$B" run "$T/a.ptx" --launch "$T/a.launch.json" > "$T/said" 2>&1
has "one file alone: which name is missing" "no given file defines 'twice'" "$(cat "$T/said")"
is "and no GPU is named that would not run it either" "$(grep -c 'run it on a GPU' "$T/said")" 0
cp "$T/b.ptx" "$T/c.ptx"
code "defined twice" 1 "'twice' is defined twice" "$B" analyze "$T/a.ptx" "$T/b.ptx" "$T/c.ptx"
{ begin 8.0 sm_80; def .weak twice 'mov.u32 %v2, 7;'; echo '.weak .global .u32 base = 1;'; } > "$T/weak.ptx"
run "$T/a.ptx" "$T/weak.ptx" "$T/b.ptx"
is "a weak definition gives way" "$(values 3)" " 100 102 104 "
run "$T/a.ptx" "$T/weak.ptx"
is "and counts where there is no other" "$(values 3)" " 8 8 8 "
{ begin 8.0 sm_80; echo '.common .global .u32 base;'; def .visible twice 'mov.u32 %v2, %v1;'; } > "$T/common.ptx"
{ begin 8.0 sm_80; echo '.common .global .u32 base;'; } > "$T/common2.ptx"
run "$T/a.ptx" "$T/common.ptx" "$T/common2.ptx"
is "common variables are one, and zero" "$(values 3)" " 0 1 2 "
sed '/ twice (/s/\.param \.b32 a)/.param .b64 a)/' "$T/b.ptx" > "$T/shape.ptx"
code "differently elsewhere" 1 "'twice' is declared differently elsewhere" "$B" analyze "$T/a.ptx" "$T/shape.ptx"
# Objects and archives without kernels are libraries: the program takes what it lacks.
python3 - "$T" << 'P'
import sys
sys.path.insert(0, "tests/container")
import make
T = sys.argv[1]
def fat(name):
    return make.elf([(".nv_fatbin", make.fatbin(make.entry(open(f"{T}/{name}.ptx", "rb").read())))])
other = b".version 8.0\n.target sm_80\n.address_size 64\n.visible .func (.param .b32 r) %s (.param .b32 a)\n{\n.reg .b32 %%v<3>;\nmov.u32 %%v2, 9;\nst.param.b32 [r], %%v2;\nret;\n}\n"
open(f"{T}/unused.ptx", "wb").write(other % b"unused")
open(f"{T}/later.ptx", "wb").write(other % b"twice")
open(f"{T}/lib.a", "wb").write(make.archive([("unused.o", fat("unused")), ("b.o", fat("b")), ("later.o", fat("later"))]))
open(f"{T}/b.o", "wb").write(fat("b"))
open(f"{T}/a.o", "wb").write(fat("a"))
code = make.elf([(".text.twice", b"\0" * 16)], machine=190, flags=90)
open(f"{T}/sass.o", "wb").write(make.elf([(".nv_fatbin", make.fatbin(make.entry(code, kind=2)))]))
P
run "$T/a.ptx" "$T/lib.a"
is "an archive: the member that defines what is missing" "$(values 3)" " 100 102 104 "
"$B" rewrite "$T/a.ptx" "$T/lib.a" --maxnreg 32 -o "$T/all.ptx" > /dev/null 2>&1
is "and no other member, the first where two define it" "$(grep -c 'unused\|, 9;' "$T/all.ptx")" 0
run "$T/b.o" "$T/a.o" -k k
is "objects, the kernel in the second" "$(values 3)" " 100 102 104 "
code "no file has a kernel" 1 "no kernel in these 2 files" "$B" analyze "$T/b.o" "$T/lib.a"
code "none of that name" 1 "no kernel 'nosuch' in these 2 files" "$B" analyze "$T/b.o" "$T/a.o" -k nosuch
code "a library of machine code" 1 "GPULOCW_LINK names it" "$B" analyze "$T/a.ptx" "$T/sass.o"
code "is listed as such" 0 "machine code only" "$B" list "$T/sass.o"
# Dynamic parallelism: the parent runs where it launches nothing.
P=tests/gpu/link/parent
sed 's/"iota": \[0, 4\]/"fill": 0/' "$P.launch.json" > "$T/none.launch.json"
code "a parent that launches no kernel runs" 0 "equal to the original's" "$B" run "$P.ptx" --launch "$T/none.launch.json"
code "one that launches is told where" 4 "parent.ptx:86:2: error: the kernel launches another one here, which is not simulated: thread .0,0,0. of CTA" "$B" run "$P.ptx" --launch "$P.launch.json"
code "the analysis names the launch" 0 "__cudaCDP2LaunchDeviceV2 at line 109 is not followed: of the device runtime" "$B" analyze "$P.ptx" --launch "$T/none.launch.json"
code "and rewrites that another kernel could see are refused" 3 "the kernel calls a function of another module" "$B" rewrite "$P.ptx" -k parent --launch "$T/none.launch.json" --block 16x2x1 -o "$T/x.ptx"
exit $bad
