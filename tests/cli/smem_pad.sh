#!/bin/bash
# --smem-pad: what it gains on tiles without padding, what stays equal, what is refused and why.
. tests/tool/tap.sh
P=tests/sim/tiles.ptx
time_of() { "$B" run "$@" --json 2>/dev/null | python3 -c 'import json,sys
d = json.load(sys.stdin); assert d["equal_to_original"] is True; print(round(d["time_ns"]["median"]))'; }
plain=$(time_of $P -k plain) gaps=$(time_of $P -k plain --smem-pad 128) padded=$(time_of $P -k padded)
echo "# 32x32 transpose: $plain ns, with --smem-pad 128 $gaps ns, padded in the source $padded ns (simulated)"
if [ $((gaps * 10)) -lt $((padded * 11)) ] && [ $((gaps * 3)) -lt $((plain * 2)) ]; then ok "a transpose without padding is as fast as a padded one"; else no "a transpose without padding is as fast as a padded one"; fi
worst() { echo "max((a['exact'] or {}).get('bank_conflicts_per_request') or 0 for k in d['kernels'] if k['name'] == 'plain' for a in k['loads'] + k['other_accesses']) == $1"; }
doc "31 extra passes before" "$(worst 31)" "$B" analyze $P -k plain --json
"$B" rewrite $P -k plain --smem-pad 128 -o "$T/s.ptx" 2>/dev/null
cp tests/sim/tiles.launch.json "$T/s.launch.json"
doc "and none after" "$(worst 0)" "$B" analyze "$T/s.ptx" --launch "$T/s.launch.json" -k plain --json
grep -q 'b8 _ZZ4bodyILi0EEvPKfPfiiE4tile\[4220\]' "$T/s.ptx" && ok "31 gaps of 4 bytes in 32 rows" || no "31 gaps of 4 bytes in 32 rows" "$(grep tile "$T/s.ptx" | head -3)"
for name in plain padded tile64 rowsum hist; do for row in 16 128 200 4096; do
    doc "$name, rows of $row bytes: proven in full" 'd["proof"]["holds"] is True' "$B" run $P -k $name --smem-pad $row --prove full --json
done; done
doc "with the swizzle and agents" 'd["equal_to_original"] is True' "$B" run $P -k plain --smem-pad 256 --swizzle-shared --cluster agent --json

# KERNEL-TEXT: a kernel of that body and those declarations
body() { printf '.version 8.0\n.target sm_90\n.address_size 64\n%s\n.func (.param .b32 r) g(.param .b32 a) { .reg .b32 %%x; ld.param.u32 %%x, [a]; st.param.b32 [r], %%x; ret; }\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %%p; .reg .b32 %%r<20>; .reg .b64 %%d<20>;\nld.param.u64 %%d1, [out]; mov.u32 %%r1, %%tid.x; shl.b32 %%r2, %%r1, 2; cvt.u64.u32 %%d2, %%r2; add.s64 %%d3, %%d1, %%d2; mov.u32 %%r3, tile; add.u32 %%r4, %%r3, %%r2;\n%s\nret;\n}\n' "$1" "$2" >"$T/k.ptx"
cat >"$T/k.launch.json" <<J
{ "format": "gpulocw-launch", "version": 1, "launches": [ { "name": "default", "ptx": "k.ptx", "kernel": "k", "grid": [3, 1, 1], "block": [64, 1, 1], "shared": $3,
  "args": [ { "name": "out", "buffer": "u32", "count": 4096, "init": {"fill": 7}, "output": true } ] } ] }
J
}
one='.shared .align 16 .b8 tile[4100];' any='.extern .shared .align 4 .b8 tile[];'
equal() { body "$3" "$4" "${5:-0}"; doc "$1" 'd["equal_to_original"] is True' "$B" run "$T/k.ptx" --smem-pad $2 --prove full --json; }
refuse() { body "$4" "$5" 0; code "refused: $1" 3 "$3" "$B" run "$T/k.ptx" --smem-pad $2; }
wide='mul.lo.u32 %r5, %r1, 64; add.u32 %r5, %r5, %r3; st.shared.v4.u32 [%r5], {%r1, %r2, %r1, %r2}; st.shared.u8 [%r5+17], %r1; st.shared.u16 [%r5+18], %r2; bar.sync 0; xor.b32 %r6, %r1, 33; mul.lo.u32 %r6, %r6, 64; add.u32 %r6, %r6, %r3; ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r6]; ld.shared.u8 %r12, [%r6+17]; add.u32 %r8, %r8, %r12; st.global.u32 [%d3], %r8;'
equal "bytes, halves and fours" 48 "$one" "$wide"
equal "up to the last word" 128 "$one" 'st.shared.u32 [%r4+3844], %r1; bar.sync 0; ld.shared.u32 %r5, [%r4+3844]; st.global.u32 [%d3], %r5;'
equal "an array whose size the launch gives, up to its last word" 64 "$any" 'st.shared.u32 [%r4+772], %r1; bar.sync 0; ld.shared.u32 %r5, [%r4+772]; st.global.u32 [%d3], %r5;' 1028
equal "atomics" 32 "$one" 'st.shared.u32 [%r4], 5; bar.sync 0; and.b32 %r5, %r1, 7; shl.b32 %r5, %r5, 5; add.u32 %r5, %r5, %r3; red.shared.add.u32 [%r5], %r1; bar.sync 0; ld.shared.u32 %r7, [%r4]; st.global.u32 [%d3], %r7;'
refuse "a row that the widest access does not divide" 40 "multiple" "$one" "$wide"
refuse "rows of no whole word" 6 "multiple" "$one" 'st.shared.u8 [%r4], %r1;'
refuse "two arrays" 128 "several variables" "$one .shared .align 4 .b8 more[64];" 'mov.u32 %r5, more; st.shared.u32 [%r5], %r1; st.shared.u32 [%r4], %r1;'
refuse "no shared memory" 128 "uses no shared memory" '.const .u32 tile;' 'st.global.u32 [%d3], %r1;'
refuse "a generic store" 128 "generic address" "$one" 'st.shared.u32 [%r4], %r1; cvt.u64.u32 %d4, %r4; cvta.shared.u64 %d4, %d4; st.u32 [%d4], %r2;'
refuse "matrices" 128 "depends on the layout" "$one" 'st.shared.u32 [%r4], %r1; shl.b32 %r6, %r1, 4; add.u32 %r6, %r6, %r3; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r6]; st.global.u32 [%d3], %r5;'
refuse "a bulk copy out of shared memory" 128 "depends on the layout" "$one" 'st.shared.u32 [%r4], %r1; fence.proxy.async.shared::cta; bar.sync 0; setp.eq.u32 %p, %r1, 0; @%p cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 256; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;'
refuse "a call" 128 "a call" "$one" 'st.shared.u32 [%r4], %r1; { .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call.uni (r), g, (a); ld.param.b32 %r5, [r]; } st.global.u32 [%d3], %r5;'
refuse "more than an SM has" 4 "shared memory" '.shared .align 16 .b8 tile[200000];' 'st.shared.u32 [%r4], %r1;'
code "a row that is no number" 2 "smem-pad" "$B" run $P -k plain --smem-pad x
code "a row below 0" 2 "smem-pad" "$B" run $P -k plain --smem-pad -1
exit $bad
