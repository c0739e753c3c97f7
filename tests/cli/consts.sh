#!/bin/bash
# Reads of constant memory by an index, beside what one H200 did (tests/gpu/consts-h200.txt); constants of known addresses need no
# registers, as in ptxas.
. tests/tool/tap.sh
rows=(--only "chain, of 64 bytes" --only "chain, of 4096 bytes" --only "of 65536 bytes, 4 bytes on" --only "chain, 2 words side" --only "chain, 32 words"
    --only "many, of 1024 bytes" --only "many, 4 words side" --only "many, 32 words side" --only "many, 32 words 64 bytes apart, of 65536" --only "many, of 65536 bytes")
out=$(GPULOCW=$B python3 tests/gpu/consts.py -d sim:hopper-h200 --against tests/gpu/consts-h200.txt --part 16 "${rows[@]}")
while IFS='|' read -r _ name recorded here ratio _; do
    close=$(awk -v r="$ratio" 'BEGIN { print (r > 0.75 && r < 1.25) ? "yes" : "no" }')
    is "$(echo $name): $(echo $here) cycles, within 25 % of $(echo $recorded)" "$close" yes
done < <(tail -n +3 <<<"$out")
is "all rows are there" $n 13
cat > "$T/known.launch.json" <<L
{"format": "gpulocw-launch", "version": 1, "ptx": "$PWD/tests/gpu/consts.ptx", "kernel": "consts_known", "grid": [2, 1, 1], "block": [1024, 1, 1], "shared": 0,
 "args": [{"name": "out", "buffer": "u32", "count": 2048, "init": {"fill": 0}}, {"name": "rounds", "u32": 4}, {"name": "step", "u32": 16}, {"name": "mask", "u32": 1023},
          {"name": "lane_words", "u32": 1}, {"name": "lanes", "u32": 1}]}
L
doc "64 constants of known addresses fit beside 1024 threads" "d['time_ns']['median'] > 0" "$B" run tests/gpu/consts.ptx --launch "$T/known.launch.json" -d sim:hopper-h200 --allow-files --json
exit $bad
