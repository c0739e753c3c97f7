#!/bin/bash
# Atomics on words that share sectors, lines and units, beside what one H200 did (tests/gpu/atoms-h200.txt).
. tests/tool/tap.sh
rows=(--only "words of 32 B" --only "words of 256 B" --only "words of 1024 B" --only "sector of 4" --only "word of 64" --only "stride 32 B"
    --only "line 0 or 128 B" --only "line 0 or 256 B" --only "cas one line" --only "cas random words of 1" --only "f32 1 word" --only "f32 one line")
out=$(GPULOCW=$B python3 tests/gpu/atoms.py -d sim:hopper-h200 --against tests/gpu/atoms-h200.txt --rounds 16 "${rows[@]}")
while IFS='|' read -r _ name recorded here ratio _; do
    close=$(awk -v r="$ratio" 'BEGIN { print (r > 0.85 && r < 1.15) ? "yes" : "no" }')
    is "$(echo $name): $(echo $here) lanes a cycle, within 15 % of $(echo $recorded)" "$close" yes
done < <(tail -n +3 <<<"$out")
is "all rows are there" $n 12
exit $bad
