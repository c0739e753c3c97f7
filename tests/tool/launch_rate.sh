#!/bin/bash
# How many guessed launches are clean: `make launch-rate [FILES=...]`. Each module is copied without its launch description; `launch`
# guesses; `run` checks each guess: inside its buffers, no race, no read of shared memory that nobody wrote. Ends in the rate.
B=$1 T=$(mktemp -d) clean=0 all=0
shift
for f in "$@"; do
    rm -rf "$T/d"; mkdir "$T/d"; cp "$f" "$T/d/k.ptx"
    "$B" analyze --quick "$T/d/k.ptx" --json 2> /dev/null | python3 -c '
import json, sys
try: a = json.load(sys.stdin)
except Exception: a = {"kernels": []}
for k in a["kernels"]: print(k["name"])' > "$T/kernels"
    timeout 120 "$B" launch "$T/d/k.ptx" -o "$T/d/k.launch.json" 2> "$T/said" < /dev/null; rc=$?
    while read -r k; do
        all=$((all + 1))
        said=$(timeout 120 "$B" run "$T/d/k.ptx" --launch "$T/d/k.launch.json" -k "$k" --check-memory 2>&1 < /dev/null); rc=$?
        bad=$(grep -E 'error|race|uninit|nobody|outside|no guess' <<< "$said" | head -1)
        if [ $rc = 0 ] && [ -z "$bad" ]; then clean=$((clean + 1)); else
            echo "$f: $k: ${bad:-exit $rc} [$(grep -E 'warning|error' "$T/said" | head -1 | cut -c1-160)]"; fi
    done < "$T/kernels"
done
rm -rf "$T"
echo "guessed launches that are clean: $clean of $all ($((100 * clean / (all ? all : 1))) %)"
