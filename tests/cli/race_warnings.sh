#!/bin/bash
# Two warps, one shared word, no barrier: every command that runs the kernel warns, with both accesses and with what another order changes.
. tests/tool/tap.sh

kernel()  # kernel FILE THREAD BARRIER: one thread stores its number, all threads read the word
{
    cat > "$T/$1.ptx" <<P
.version 7.0
.target sm_70
.address_size 64
.visible .entry word(.param .u64 out)
{
 .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<2>;
 .shared .align 4 .b8 one[4];
 ld.param.u64 %rd1, [out];
 mov.u32 %r1, %tid.x;
 mov.u32 %r2, $2;
 setp.eq.u32 %p1, %r1, %r2;
 @%p1 st.shared.u32 [one], %r1;
 $3
 ld.shared.u32 %r3, [one];
 mul.wide.u32 %rd2, %r1, 4;
 add.s64 %rd3, %rd1, %rd2;
 ld.global.u32 %r4, [%rd3];
 add.u32 %r3, %r3, %r4;
 st.global.u32 [%rd3], %r3;
 ret;
}
P
    echo "{\"format\":\"gpulocw-launch\",\"version\":1,\"ptx\":\"$1.ptx\",\"kernel\":\"word\",\"grid\":[1,1,1],\"block\":[64,1,1],
     \"args\":[{\"name\":\"out\",\"buffer\":\"u32\",\"count\":64,\"init\":{\"fill\":0},\"output\":true}]}" > "$T/$1.launch.json"
}
kernel racy 33 ""
kernel ordered 33 "bar.sync 0;"

race='racy.ptx:[0-9]+:[0-9]+: warning: race: .* of shared address .* with the (read|write) of warp [01] of CTA 0 at line 1[24]'
code "run warns of the race, with both lines" 0 "$race" "$B" run "$T/racy.ptx"
code "run shows an output in two orders" 0 "the result depends on the order: 'out' element [0-9]+ is [0-9]+ if warps and CTAs run in ascending order, and [0-9]+ in .* order" "$B" run "$T/racy.ptx"
code "sweep warns" 0 "$race" "$B" sweep "$T/racy.ptx" --axis pi
code "tune warns" 0 "$race" "$B" tune "$T/racy.ptx" --budget 4
sed 's/@%p1 st.shared.u32 .one., %r1/shr.u32 %r5, %r1, 5; st.shared.u32 [one], %r5/' "$T/racy.ptx" > "$T/writes.ptx"
sed 's/racy/writes/' "$T/racy.launch.json" > "$T/writes.launch.json"
code "--check-memory ends at the race, with both lines" 4 ":12:[0-9]+: error: race: write .* with the write of warp 0 of CTA 0 at line 12" "$B" run "$T/writes.ptx" --check-memory
"$B" run "$T/ordered.ptx" > "$T/out" 2>&1 && ! grep -q race "$T/out" && ok "a barrier between the two: no warning" ||
    no "a barrier between the two: no warning" "$(cat "$T/out")"

# One global word, all CTAs store into it.
flag()  # flag FILE VALUE
{
    cat > "$T/$1.ptx" <<P
.version 7.0
.target sm_70
.address_size 64
.visible .entry flag(.param .u64 out)
{
 .reg .b32 %r<4>; .reg .b64 %rd<2>;
 ld.param.u64 %rd1, [out];
 ld.global.u32 %r3, [%rd1+64];
 mov.u32 %r2, %ctaid.x;
 st.global.u32 [%rd1], $2;
 ret;
}
P
    echo "{\"format\":\"gpulocw-launch\",\"version\":1,\"ptx\":\"$1.ptx\",\"kernel\":\"flag\",\"grid\":[4,1,1],\"block\":[64,1,1],
     \"args\":[{\"name\":\"out\",\"buffer\":\"u32\",\"count\":64,\"init\":{\"fill\":0},\"output\":true}]}" > "$T/$1.launch.json"
}
flag same 1
flag other %r2
code "stores of one value from all CTAs are no race, and told" 0 "note: unordered stores write the same value to out\+0 .*line 10" "$B" run "$T/same.ptx" --check-memory
grace='other.ptx:10:[0-9]+: warning: race: write of global address .* \(out\+0\) with the write of warp [01] of CTA [0-3] at line 10'
code "run warns of a race on global memory unasked" 0 "$grace" "$B" run "$T/other.ptx"
code "and shows two orders" 0 "'out' element 0 is 3 if warps and CTAs run in ascending order, and 0 in descending order" "$B" run "$T/other.ptx"
code "sweep warns of it" 0 "$grace" "$B" sweep "$T/other.ptx" --axis pi -t 1
code "tune warns of it" 0 "$grace" "$B" tune "$T/other.ptx" --budget 4 -t 1
code "launch warns of it" 0 "warning: no guess made .flag. run clean: race: write of global" "$B" launch "$T/other.ptx"
"$B" run "$T/same.ptx" 2> "$T/said" > "$T/out"
is "run has no warning of equal values" "$(grep -c 'warning: race' "$T/said")$(grep -c 'NOT REPEATABLE' "$T/out")" 00
code "stores of another value are" 4 ":10:[0-9]+: error: race: write of global address .* with the write of warp" "$B" run "$T/other.ptx" --check-memory

# Two lanes of a warp, one word, one store.
sed 's/mov.u32 %r2, %ctaid.x;/mov.u32 %r2, %tid.x;/' "$T/other.ptx" > "$T/lanes.ptx"
sed 's/"other.ptx"/"lanes.ptx"/; s/"grid":.4/"grid":[1/; s/"block":.64/"block":[32/' "$T/other.launch.json" > "$T/lanes.launch.json"
lanes='lanes 0 and 1 of warp 0 write different values to global address 0x[0-9a-f]* .out.0. with one store'
for c in run "sweep --axis pi" "tune --budget 3"; do
    set -- $c
    code "$1 warns of lanes that write one word" 0 "lanes.ptx:10:[0-9]+: warning: race: $lanes" "$B" "$1" "$T/lanes.ptx" "${@:2}"
done
code "and says what comes of it" 0 "the value of one lane or the other" "$B" run "$T/lanes.ptx"
code "and ends it with --check-memory" 4 "error: race: $lanes" "$B" run "$T/lanes.ptx" --check-memory

# The warning stays with what was run: documents, sessions, what reads them.
for k in racy other lanes; do
    "$B" run "$T/$k.ptx" -o "$T/$k.s.json" > /dev/null 2>&1
    "$B" tune "$T/$k.ptx" --budget 3 -o "$T/$k.t.json" > /dev/null 2>&1
    has "the JSON of run has the race of $k" '"race": "line 1[0-9]: race: ' "$("$B" run "$T/$k.ptx" --json 2> /dev/null)"
    for s in s t; do
        has "report of $k.$s has it" "^Warning: line 1[0-9]: race: " "$("$B" report "$T/$k.$s.json")"
        has "report of $k.$s as JSON has it" '"race": "line 1[0-9]: race: ' "$("$B" report "$T/$k.$s.json" --format json)"
        has "replay of $k.$s has it" "^warning: line 1[0-9]: race: " "$("$B" replay "$T/$k.$s.json" --plain)"
    done
    echo "{\"id\": \"$k\", \"tool\": \"run\", \"arguments\": {\"file\": \"$T/$k.ptx\"}}" >> "$T/b.jsonl"
done
"$B" batch "$T/b.jsonl" 2> /dev/null > "$T/answers"
is "batch has it in every answer" "$(grep -c '"code": "race"' "$T/answers")$(grep -c '"race": "line' "$T/answers")" 33
doc "no race: null" 'd["race"] is None' "$B" run "$T/ordered.ptx" --json

# Warps that read what another wrote before them: warps that run one after the other never show it.
sed '1,/@%p1 st/s/mov.u32 %r2, 33;/and.b32 %r2, %r1, 31; sub.u32 %r2, %r1, %r2;/' "$T/racy.ptx" > "$T/own.ptx"
sed 's/racy/own/' "$T/racy.launch.json" > "$T/own.launch.json"
code "warps that take turns show it" 0 "'out' element 0 is [0-9]+ if warps and CTAs run in ascending order, and [0-9]+ in alternating order" "$B" run "$T/own.ptx"
exit $bad
