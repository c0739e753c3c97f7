#!/bin/bash
# Files that rewrite and tune leave behind are used without the engine's help: the tuned kernel, run as it stands with the
# launch description written beside it, takes the time and writes the bytes of the recommendation.
. tests/tool/tap.sh
key() { python3 -c "import json,sys; d=json.load(sys.stdin); print($1)"; }
result="(d['time_ns']['median'], d['outputs'], [c['value'] for c in d['counters'] if c['name'] == 'l1.sectors'])"

# tune --apply: a threshold (in a constant), a block shape (in the launch), agents (counters to zero). Simulated whole: what a
# sample of agents stands for is not in the file (docs/internals/rewrites.md, "Clustering").
while read -r kernel launch device options; do
    cp "kernels/$kernel.ptx" "kernels/$kernel.launch.json" "$T/"
    # shellcheck disable=SC2086
    found=$("$B" tune "$T/$kernel.ptx" --kernel "$launch" --device "$device" --apply --json $options 2> "$T/said" < /dev/null)
    line=$(key "d['options_line']" <<<"$found")
    # shellcheck disable=SC2086
    asked=$("$B" run "$T/$kernel.ptx" --kernel "$launch" --device "$device" --exact --json $line | key "$result")
    kept=$(grep -oE -- '--carveout [0-9]+' <<<"$line")
    # shellcheck disable=SC2086
    alone=$("$B" run "$T/$kernel.tuned.ptx" --device "$device" --exact --json $kept | key "$result")
    is "$kernel: the tuned file alone does what $line does" "$alone" "$asked"
    has "and says where it is" "valley.tuned.ptx: note: written|tuned.launch.json: note: written" "$(cat "$T/said")"
done <<ROWS
valley fermi sim:fermi-16k --method static
transpose default sim:fermi-16k --budget 9
ROWS
out=$("$B" tune "$T/transpose.ptx" --kernel default --device sim:fermi-16k --budget 9 --diff < /dev/null)
has "tune --diff shows what the recommendation changes" "^\+" "$(grep -v '^+++' <<<"$out")"

# rewrite --with-launch
opts=(--cluster agent --index column --bypass l1 --pi 4 --block 32x8x1 --carveout 0)
"$B" rewrite kernels/tile_share.ptx "${opts[@]}" -o "$T/out.ptx" --with-launch 2> "$T/said" || no "rewrite --with-launch" "$(cat "$T/said")"
has "what must be zero is said" "set gpulocw_agents .* to zero before every launch" "$(cat "$T/said")"
has "what only a launch can set is said" "--carveout 0 is not part of the code" "$(cat "$T/said")"
has "and the launch it wants" "launch the kernel with grid [0-9]+x1x1, block 32x8x1" "$(cat "$T/said")"
outputs="d['outputs']"
is "the rewritten file alone writes the original's bytes" "$("$B" run "$T/out.ptx" --no-counters --json | key "$outputs")" "$("$B" run kernels/tile_share.ptx --no-counters --json | key "$outputs")"
"$B" run "$T/out.ptx" --bypass l1 > /dev/null 2> "$T/said"
is "a rewritten file is not rewritten again" "$?" 3
has "and that is said" "has been rewritten before" "$(cat "$T/said")"
"$B" rewrite kernels/gemm.ptx --bypass l1 --with-launch > /dev/null 2> "$T/said"
is "--with-launch needs a file" "$?" 2
echo "1..$n"
exit $bad
