#!/bin/bash
# What the user is told: the folder of --outputs before the run, the kernel that `rewrite` took, an original that does not repeat.
. tests/tool/tap.sh

code "--outputs: no folder to make it in, told before the run" 1 "cannot create or write folder .*nothing was run" "$B" run "$(k stride_32)" --outputs "$T/none/dir"
"$B" run "$(k stride_32)" --outputs "$T/none/dir" > "$T/out" 2>/dev/null
[ ! -s "$T/out" ] && ok "--outputs: then no result is printed" || no "--outputs: then no result is printed" "$(head -3 "$T/out")"
: > "$T/file"
code "--outputs: a file where the folder should be" 1 "nothing was run" "$B" run "$(k stride_32)" --outputs "$T/file" --force
code "--outputs: a new folder, written with a slash" 0 "" "$B" run "$(k stride_32)" --outputs "$T/new/"
[ -s "$T/new/out.bin" ] && ok "--outputs: the new folder holds the output" || no "--outputs: the new folder holds the output"
code "rewrite: which kernel of several" 0 "'atax1' is rewritten, one of 2 kernels" "$B" rewrite "$(k atax)" --bypass l1 --pi 2 -o "$T/a.ptx"
for args in "atax -k atax1" "stride_32"; do
    set -- $args
    "$B" rewrite "$(k $1)" "${@:2}" --bypass l1 --pi 1 -o "$T/$1$#.ptx" 2> "$T/err" && ! grep -q "is rewritten, one of" "$T/err" &&
        ok "rewrite: no such note for $args" || no "rewrite: no such note for $args" "$(cat "$T/err")"
done

cat > "$T/clock.ptx" <<'P'
.version 7.0
.target sm_70
.address_size 64
.visible .entry stamp(.param .u64 out)
{
 .reg .b32 %r<4>; .reg .b64 %rd<4>;
 ld.param.u64 %rd1, [out];
 mov.u32 %r1, %tid.x;
 mov.u32 %r2, %clock;
 mul.wide.u32 %rd2, %r1, 4;
 add.s64 %rd3, %rd1, %rd2;
 st.global.u32 [%rd3], %r2;
 ret;
}
P
echo '{"format":"gpulocw-launch","version":1,"ptx":"clock.ptx","kernel":"stamp","grid":[4,1,1],"block":[256,1,1],
 "args":[{"name":"out","buffer":"u32","count":256,"init":{"fill":0},"output":true}]}' > "$T/clock.launch.json"
code "an original that does not repeat is called so" 5 "^outputs +NOT REPEATABLE" "$B" run "$T/clock.ptx"
"$B" run "$T/clock.ptx" 2>/dev/null | grep -q DIFFERENT && no "the original is never DIFFERENT from itself" || ok "the original is never DIFFERENT from itself"
has "devices says how this host executes simulated kernels" "^this host (executes|interprets) simulated kernels" "$("$B" devices)"
has "a footprint that a short trace does not show is n/a" "^footprint +n/a" "$("$B" analyze "$(k valley)" --quick)"
doc "and null in JSON" 'd["kernels"][0]["footprint"] is None' "$B" analyze "$(k valley)" --quick --json
doc "the whole trace shows it" 'd["kernels"][0]["footprint"]["pi_fit"] == 10' "$B" analyze "$(k valley)" --json
exit $bad
