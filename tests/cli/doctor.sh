#!/bin/bash
# Bank conflicts of kernels that the rewrites were not written beside: named by line, foretold, cured with equal outputs, found by tune.
. tests/tool/tap.sh
P=tests/roof/doctor.ptx
# lanes 32 words apart meet in one bank; 16 lanes of doubles make 16 passes a half; 16-byte vectors 8 a quarter; 8 counters 32 words apart
says() { doc "$1: $2 passes for $3" "(lambda w: max((x['passes'], x['least_passes']) for x in w) == ($2, $3))([a['exact']['worst_request'] for a in d['kernels'][0]['other_accesses'] if a['space'] == 'shared' and a['exact'] and a['exact'].get('worst_request')])" "$B" analyze $P -k $1 --json; }
says reduce 8 1; says dmat 32 2; says vec 32 4; says histo 8 1; says stencil 32 1
for k in reduce dmat vec histo stencil; do
    for o in "--swizzle-shared" "--smem-pad 128"; do
        doc "$k $o: outputs of the original" "d['equal_to_original'] is True" "$B" run $P -k $k $o --json
    done
done
# A pass of an SM's shared memory takes a cycle: dmat's 30 of 16 loads are most of its time, stencil's 31 of three a part of it.
found() { doc "$1: tune finds another layout" "('--smem-pad' in d['options_line'] or '--swizzle-shared' in d['options_line']) and d['gain'] > $2 and any(a['title'].startswith('spread shared memory') for a in d['advice'])" "$B" tune $P -k $1 --budget 20 --json; }
found dmat 1.5; found vec 1.02; found stencil 1.1

# Other layouts: lanes 32 words apart in halves, bytes, tiles, columns; 8 words in structs; 16 in rows (two lanes a bank: 16 passes);
# pairs of words make 16 passes a half.
P=tests/roof/layouts.ptx
says halves 32 1; says bytes 32 1; says structs 8 1; says tiles 32 1; says columns 32 1; says rows 16 1; says pairs 32 2; says padded 1 1
for k in halves bytes structs tiles columns rows pairs padded; do
    for o in "--swizzle-shared" "--smem-pad 128"; do
        doc "$k $o: outputs of the original" "d['equal_to_original'] is True" "$B" run $P -k $k $o --json
    done
done
proven() { found $1 $2; doc "$1: the layout found is proven" "d['proof']['verdict'] == 'holds' and d['proof']['level'] == 'full'" cat "$T/tuned"; }
found() { "$B" tune $P -k $1 --budget 20 --json >"$T/tuned" 2>/dev/null; doc "$1: tune finds another layout" "('--smem-pad' in d['options_line'] or '--swizzle-shared' in d['options_line']) and d['gain'] > $2 and any(a['title'].startswith('spread shared memory') for a in d['advice'])" cat "$T/tuned"; }
proven halves 1.5; proven structs 1.7; proven tiles 2; proven columns 1.2; proven pairs 1.15; proven rows 1.3; proven bytes 1.7
doc "padded: rows of 33 words are left as they are" "d['options_line'] == '' and d['gain'] == 1 and not any(a['title'].startswith('spread shared memory') for a in d['advice'])" "$B" tune $P -k padded --budget 20 --json
exit $bad
