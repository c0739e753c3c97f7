#!/bin/bash
# Directives of a kernel are edited where they stand, and not where a comment or a string names them.
. tests/tool/tap.sh
P='(.param .u64 a, .param .u64 out)'
BODY='{ .reg .b32 %r<12>; .reg .b64 %d<10>;
 ld.param.u64 %d1, [a]; ld.param.u64 %d2, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r4, %r1, %r2, %r3;
 mul.wide.u32 %d3, %r4, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3; ld.global.u32 %r5, [%d4]; st.global.u32 [%d5], %r5; ret; }'
# head NAME HEAD: NAME.ptx, a kernel whose head is this
head() { printf '.version 8.0 // .version 3.0\n/* .target sm_20 */ .target sm_80\n.address_size 64\n%s\n%s\n' "$2" "$BODY" > "$T/$1.ptx"; echo '{"format":"gpulocw-launch","version":1,"kernel":"fd","grid":[4,1,1],"block":[64,1,1],"args":[{"name":"a","buffer":"u32","count":256,"init":{"random":[0,2000],"seed":1}},{"name":"out","buffer":"u32","count":256,"output":true}]}' > "$T/$1.launch.json"; }
E=".visible .entry fd$P"
head comment "$E
/* was .maxntid 32, 1, 1 once */
.maxntid 64, 1, 1"
head line "$E // .maxntid 32, 1, 1
.maxntid 64, 1, 1"
head before "/* .maxntid 1, 1, 1 */ .visible /* .reqntid 32 */ .entry fd$P .maxntid 64"
head one_line "$E .maxntid 64, 1, 1 .minnctapersm 2 .maxnreg 40"
head apart "$E .maxntid /* 32 */ 64 // x
 , 1 /* , 7 */ , 1 .minnctapersm /* 9 */ 2"
head string "$E .pragma \".maxntid 32, 1, 1\"; .maxntid 64, 1, 1"
head exact "$E
// .reqntid 1, 1, 1
.reqntid 64"
head sums "$E .maxntid (32+32), 1 .minnctapersm 1+1"
head name ".visible .entry fd(.param .u64 a, .param .u64 out) /* .maxnregs 4 .maxnreg */ .maxnreg 32"
lines() { sed -n '/entry fd/,/{/p' <<<"$1" | tr '\n' ' '; }
for f in comment line before one_line apart string exact sums; do
    has "$f: another block runs" "equal to the original" "$("$B" run "$T/$f.ptx" --block 128x1x1 --no-counters 2>&1)"
    has "$f: the directive says it" "\.(maxntid|reqntid) (/\* 32 \*/ )?128, 1, 1" "$(lines "$("$B" rewrite "$T/$f.ptx" --block 128x1x1 2>/dev/null)")"
done
stays() { has "$1: what is no directive stays" "$2" "$("$B" rewrite "$T/$1.ptx" --block 128x1x1 2>/dev/null)"; }
stays comment '^/\* was \.maxntid 32, 1, 1 once \*/$'
stays line ' // \.maxntid 32, 1, 1$'
stays before '^/\* \.maxntid 1, 1, 1 \*/ \.visible /\* \.reqntid 32 \*/ \.entry'
stays string '\.pragma "\.maxntid 32, 1, 1"; \.maxntid 128, 1, 1'
has "two on a line: the other stays" "\.maxntid 128, 1, 1 \.minnctapersm 2 \.maxnreg 40" "$("$B" rewrite "$T/one_line.ptx" --block 128x1x1 2>/dev/null)"
has "two on a line: the last is edited" "\.maxntid 64, 1, 1 \.minnctapersm 2 \.maxnreg 56" "$("$B" rewrite "$T/one_line.ptx" --maxnreg 56 2>/dev/null)"
has "a number behind a comment" "\.minnctapersm /\* 9 \*/ 3" "$("$B" rewrite "$T/apart.ptx" --minctas 3 2>/dev/null)"
has "a sum is replaced whole" "\.maxntid \(32\+32\), 1 \.minnctapersm 4$" "$("$B" rewrite "$T/sums.ptx" --minctas 4 2>/dev/null)"
has "another name is no directive" "/\* \.maxnregs 4 \.maxnreg \*/ \.maxnreg 48" "$("$B" rewrite "$T/name.ptx" --maxnreg 48 2>/dev/null)"
has "a comment behind .version stays" "^\.version 8\.0 // \.version 3\.0$" "$("$B" rewrite "$T/comment.ptx" --bypass l1 --bypass-op no_allocate --pi bpa 2>/dev/null)"
sed -i 's/^\.version 8\.0/.version 6.5/; s/\.target sm_80/.target sm_75/' "$T/comment.ptx"
has ".version is raised where it stands" "^\.version 7\.4 // \.version 3\.0$" "$("$B" rewrite "$T/comment.ptx" --bypass l1 --bypass-op no_allocate --pi bpa 2>/dev/null)"
has ".target is raised where it stands" "^/\* \.target sm_20 \*/ \.target sm_80$" "$("$B" rewrite "$T/comment.ptx" --bypass l2 --bypass-op cache_hint --pi bpa 2>/dev/null)"
exit $bad
