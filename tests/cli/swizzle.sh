#!/bin/bash
# --swizzle-shared: what it gains on tiles without padding, what stays equal, what is refused and why.
. tests/tool/tap.sh
P=tests/sim/tiles.ptx
time_of() { "$B" run "$@" --json 2>/dev/null | python3 -c 'import json,sys
d = json.load(sys.stdin); assert d["equal_to_original"] is True; print(round(d["time_ns"]["median"]))'; }
plain=$(time_of $P -k plain) swizzled=$(time_of $P -k plain --swizzle-shared) padded=$(time_of $P -k padded)
echo "# 32x32 transpose: $plain ns, swizzled $swizzled ns, with a padded row $padded ns (simulated)"
if [ $((swizzled * 10)) -lt $((padded * 11)) ] && [ $((swizzled * 3)) -lt $((plain * 2)) ]; then ok "a transpose without padding is as fast as a padded one"; else no "a transpose without padding is as fast as a padded one"; fi
doc "tune finds it or a gap behind each row, and proves it" '("--swizzle-shared" in d["options_line"] or "--smem-pad" in d["options_line"]) and d["gain"] > 1.5 and d["proof"]["holds"] is True' "$B" tune $P --launch tests/sim/tiles-small.launch.json -k plain-1024 --budget 12 --json
doc "with 31 extra passes before" 'max((a["exact"] or {}).get("bank_conflicts_per_request") or 0 for k in d["kernels"] if k["name"] == "plain" for a in k["loads"] + k["other_accesses"]) == 31' "$B" analyze $P -k plain --json
"$B" rewrite $P -k plain --swizzle-shared -o "$T/s.ptx" 2>/dev/null
cp tests/sim/tiles.launch.json "$T/s.launch.json"
doc "and none after" 'max((a["exact"] or {}).get("bank_conflicts_per_request") or 0 for k in d["kernels"] if k["name"] == "plain" for a in k["loads"] + k["other_accesses"]) == 0' "$B" analyze "$T/s.ptx" --launch "$T/s.launch.json" -k plain --json
for name in tile64 rowsum hist; do doc "$name: proven in full" 'd["proof"]["holds"] is True' "$B" run $P -k $name --swizzle-shared --prove full --json; done
for name in reduction mm_tiled dct nw; do
    doc "$name on an H200" 'd["equal_to_original"] is True' "$B" run "$(k $name)" --swizzle-shared --json
    doc "$name with agents" 'd["equal_to_original"] is True' "$B" run "$(k $name)" --swizzle-shared --cluster agent --json
done

# KERNEL-TEXT: a kernel of that body, with a tile of 4096 bytes and an array whose size the launch gives
body() { printf '.version 8.0\n.target sm_90\n.address_size 64\n.extern .shared .align 4 .b8 dyn[];\n.func (.param .b32 r) g(.param .b32 a) { .reg .b32 %%x; ld.param.u32 %%x, [a]; st.param.b32 [r], %%x; ret; }\n.visible .entry k(.param .u64 out)\n{\n.reg .pred %%p; .reg .b32 %%r<20>; .reg .b64 %%d<20>; .reg .f32 %%f<9>;\n.shared .align 16 .b8 tile[4100];\nld.param.u64 %%d1, [out]; mov.u32 %%r1, %%tid.x; shl.b32 %%r2, %%r1, 2; cvt.u64.u32 %%d2, %%r2; add.s64 %%d3, %%d1, %%d2; mov.u32 %%r3, tile; add.u32 %%r4, %%r3, %%r2;\n%s\nret;\n}\n' "$1" >"$T/k.ptx"
cat >"$T/k.launch.json" <<J
{ "format": "gpulocw-launch", "version": 1, "launches": [ { "name": "default", "ptx": "k.ptx", "kernel": "k", "grid": [3, 1, 1], "block": [64, 1, 1], "shared": 1028,
  "args": [ { "name": "out", "buffer": "u32", "count": 4096, "init": {"fill": 7}, "output": true } ] } ] }
J
}
equal() { body "$2"; doc "$1" 'd["equal_to_original"] is True' "$B" run "$T/k.ptx" --swizzle-shared --prove full --json; }
refuse() { body "$3"; code "refused: $1" 3 "$2" "$B" run "$T/k.ptx" --swizzle-shared; }
equal "bytes, halves, words, pairs and fours of one array" 'mul.lo.u32 %r5, %r1, 64; add.u32 %r5, %r5, %r3; st.shared.v4.u32 [%r5], {%r1, %r2, %r1, %r2}; st.shared.u8 [%r5+17], %r1; st.shared.u16 [%r5+18], %r2; st.shared.v2.u32 [%r5+24], {%r2, %r1}; st.shared.u32 [%r5+20], %r1; st.shared.u8 [%r5+16], %r2; bar.sync 0; xor.b32 %r6, %r1, 33; mul.lo.u32 %r6, %r6, 64; add.u32 %r6, %r6, %r3; ld.shared.u64 %d5, [%r6+16]; ld.shared.v4.u32 {%r7, %r8, %r9, %r10}, [%r6]; cvt.u32.u64 %r11, %d5; ld.shared.u8 %r12, [%r6+25]; add.u32 %r11, %r11, %r8; xor.b32 %r11, %r11, %r12; st.global.u32 [%d3], %r11;'
equal "atomics" 'st.shared.u32 [%r4], 5; bar.sync 0; and.b32 %r5, %r1, 7; shl.b32 %r5, %r5, 7; add.u32 %r5, %r5, %r3; atom.shared.add.u32 %r6, [%r5], %r1; red.shared.max.u32 [%r5+4], %r1; bar.sync 0; ld.shared.u32 %r7, [%r4]; and.b32 %r8, %r1, 31; setp.lt.u32 %p, %r8, 0; st.global.u32 [%d3], %r8;'
equal "an array whose size the launch gives, up to its last word" 'mov.u32 %r5, dyn; add.u32 %r6, %r5, %r2; st.shared.u32 [%r6+768], %r1; st.shared.u32 [%r6+772], %r1; bar.sync 0; ld.shared.u32 %r7, [%r6+772]; st.global.u32 [%d3], %r7;'
equal "beside another array, both in use" 'mov.u32 %r5, dyn; add.u32 %r6, %r5, %r2; st.shared.u32 [%r6], %r1; st.shared.u32 [%r4+3844], %r2; bar.sync 0; ld.shared.u32 %r7, [%r6]; ld.shared.u32 %r8, [%r4+3844]; mad.lo.u32 %r7, %r7, 1000, %r8; st.global.u32 [%d3], %r7;'
equal "64-bit addresses, made in ways that nothing follows" 'cvt.u64.u32 %d4, %r4; mul.lo.u64 %d4, %d4, 3; shr.u64 %d4, %d4, 0; sub.u64 %d5, %d4, 0; cvt.u32.u64 %r5, %d5; mov.u32 %r6, 0xAAAAAAAB; mul.lo.u32 %r5, %r5, %r6; cvt.u64.u32 %d6, %r5; st.shared.u32 [%d6], %r1; bar.sync 0; xor.b32 %r7, %r2, 128; add.u32 %r7, %r7, %r3; ld.shared.u32 %r8, [%r7]; st.global.u32 [%d3], %r8;'
refuse "no shared memory" "uses no shared memory" 'st.global.u32 [%d3], %r1;'
refuse "a generic store" "generic address" 'st.shared.u32 [%r4], %r1; cvt.u64.u32 %d4, %r4; cvta.shared.u64 %d4, %d4; st.u32 [%d4], %r2;'
refuse "matrices" "depends on the layout" 'st.shared.u32 [%r4], %r1; shl.b32 %r6, %r1, 4; add.u32 %r6, %r6, %r3; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r5}, [%r6]; st.global.u32 [%d3], %r5;'
refuse "an asynchronous copy" "depends on the layout" 'cp.async.ca.shared.global [%r4], [%d3], 4; cp.async.wait_all; ld.shared.u32 %r5, [%r4]; st.global.u32 [%d3], %r5;'
refuse "a bulk copy out of shared memory" "depends on the layout" 'st.shared.u32 [%r4], %r1; fence.proxy.async.shared::cta; bar.sync 0; setp.eq.u32 %p, %r1, 0; @%p cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 256; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;'
refuse "a bulk reduction out of shared memory" "depends on the layout" 'st.shared.u32 [%r4], %r1; fence.proxy.async.shared::cta; bar.sync 0; setp.eq.u32 %p, %r1, 0; @%p cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d1], [%r3], 256; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;'
refuse "an mbarrier" "depends on the layout" 'st.shared.u32 [%r4], %r1; mbarrier.init.shared.b64 [%r3], 64;'
refuse "another CTA" "of other CTAs" 'st.shared.u32 [%r4], %r1; mapa.shared::cluster.u32 %r5, %r4, 0; ld.shared::cluster.u32 %r6, [%r5]; st.global.u32 [%d3], %r6;'
refuse "a call" "a call" 'st.shared.u32 [%r4], %r1; { .param .b32 a; .param .b32 r; st.param.b32 [a], %r1; call.uni (r), g, (a); ld.param.b32 %r5, [r]; } st.global.u32 [%d3], %r5;'
refuse "who reads how much shared memory there is" "total_smem_size" 'st.shared.u32 [%r4], %r1; mov.u32 %r5, %total_smem_size; st.global.u32 [%d3], %r5;'
exit $bad
