#!/bin/bash
# A cache hierarchy that no NVIDIA GPU has: whole lines of 128 bytes in 64 ways, an L2 on each of eight dies.
. tests/tool/tap.sh
D=docs/examples/cdna3-like.json
for name in gemm conv2d histogram reduction transpose spmv; do
    doc "$name: outputs as the original's" 'd["equal_to_original"] is True and d["device"]["sms"] == 304' "$B" run "$(k $name)" --bypass l1 --pi 0 -d $D --json
done
# All CTAs read one buffer of N MB again, which the launch before left in L2: rate of hits, and MB from memory.
cat >"$T/all.ptx" <<'P'
.version 7.0
.target sm_70
.address_size 64
.visible .entry all(.param .u64 p, .param .u64 out, .param .u32 n)
{
    .reg .pred %q; .reg .b32 %r<9>; .reg .b64 %d<9>;
    ld.param.u64 %d1, [p]; ld.param.u64 %d2, [out]; ld.param.u32 %r1, [n];
    mov.u32 %r2, %tid.x; mov.u32 %r3, 0;
L:  mul.wide.u32 %d3, %r2, 4; add.s64 %d4, %d1, %d3;
    ld.global.u32 %r4, [%d4]; add.u32 %r3, %r3, %r4;
    add.u32 %r2, %r2, 1024; setp.lt.u32 %q, %r2, %r1; @%q bra L;
    mov.u32 %r5, %ctaid.x; mov.u32 %r6, %tid.x; mad.lo.u32 %r7, %r5, 1024, %r6;
    mul.wide.u32 %d5, %r7, 4; add.s64 %d6, %d2, %d5; st.global.u32 [%d6], %r3; ret;
}
P
rate() { # MB DEVICE
    cat >"$T/all.launch.json" <<J
{ "format": "gpulocw-launch", "version": 1, "launches": [ { "name": "default", "ptx": "all.ptx", "kernel": "all", "grid": [76, 1, 1], "block": [1024, 1, 1],
  "args": [ { "name": "p", "buffer": "u32", "count": $(($1 * 262144)), "init": {"random": [0, 9], "seed": 1} },
            { "name": "out", "buffer": "u32", "count": 77824, "init": {"fill": 0}, "output": true },
            { "name": "n", "u32": $(($1 * 262144)) } ] } ] }
J
    "$B" run "$T/all.ptx" --launch "$T/all.launch.json" -d "$2" --exact --json 2>"$T/err" | python3 -c 'import json,sys
c={x["name"]:x["value"] for x in json.load(sys.stdin)["counters"]}
print(round(c["l2.hit_rate"]), round(c["dram.read_bytes"]/2**20))'
}
sed 's/"l2_distinct": { "value": 0.125/"l2_distinct": { "value": 1/; s/"cdna3-like"/"one-l2"/' $D >"$T/one.json"
at_once=$(rate 2 $D) twice=$(rate 8 $D) one=$(rate 8 "$T/one.json")
is "2 MB lie in the 4 MB of each die" "$at_once" "100 0"
is "8 MB come from memory again" "${twice#* }" "8"
is "unless one L2 of 32 MB holds them" "$one" "100 0"
exit $bad
