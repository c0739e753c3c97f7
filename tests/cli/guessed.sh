#!/bin/bash
# Figures of a guessed launch say so, by every door; what somebody has set is no guess.
b=$(realpath "$GPULOCW_BUILD/gpulocw"); dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
cp kernels/transpose.ptx kernels/transpose.launch.json "$dir"; cd "$dir" || exit 1
n=0; check() { n=$((n + 1)); if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; sed 's/^/# /' said 2> /dev/null | head -20; fi; }
said() { "$b" "$@" > said 2>&1; }
has() { grep -qE -- "$1" said; }
cp transpose.ptx g.ptx; "$b" launch g.ptx -k transpose_naive -o g.launch.json 2> /dev/null
grep -q '"guessed": \["grid", "block", "sizes", "data"\]' g.launch.json; check "launch writes down what it guessed" $?
line="grid, block, sizes and data of this launch are guesses: the figures are of them"
said run g.ptx -k transpose_naive && has "^guess     $line$"; check "run" $?
said sweep g.ptx -k transpose_naive --bypass l1 && has "^guess: $line$"; check "sweep" $?
said tune g.ptx -k transpose_naive --budget 3 && has "^guess        $line$"; check "tune" $?
said analyze g.ptx -k transpose_naive && has "^guess        $line$"; check "analyze, whose limits are of a launch" $?
said compare g.ptx g.ptx -k transpose_naive && has "^  guess     $line$"; check "compare" $?
said run g.ptx -k transpose_naive --json && has '"guessed": \["grid", "block", "sizes", "data"\]'; check "the document" $?
"$b" run g.ptx -k transpose_naive -o s.json > /dev/null 2>&1; grep -q '"guessed": *\["grid"' s.json; check "a session keeps it" $?
for f in md html; do said report s.json --format $f -o - && has "What is guessed: $line"; check "a report as $f" $?; done
"$b" tune g.ptx -k transpose_naive --budget 4 -o t.json > /dev/null 2>&1; said report t.json --format svg -o - && has "in order \(simulated[a-z, ]*, launch guessed\)" && has "What is guessed: "; check "a curve" $?
"$b" tune g.ptx -k transpose_naive --budget 3 --apply > /dev/null 2>&1; grep -q '"guessed": \["grid", "block", "sizes", "data"\]' g.tuned.launch.json; check "the launch of the tuned kernel" $?
sed 's/"guessed": .*/"guessed": ["data"],/' g.launch.json > h && mv h g.launch.json
said run g.ptx -k transpose_naive && has "^guess     data of this launch is a guess: the figures are of it$"; check "what was set is no guess any more" $?
sed '/"guessed"/d' g.launch.json > h && mv h g.launch.json
said run g.ptx -k transpose_naive && ! has "^guess"; check "nothing is said of a launch that somebody wrote" $?
"$b" run g.ptx -k transpose_naive -o own.json > /dev/null 2>&1; said report own.json --format md -o - && ! has "of this launch"; check "nor by the report" $?
said run transpose.ptx -k transpose_naive && ! has "guess"; check "nor of the demo kernels" $?
sed 's/"shared"/"guessed": ["grid", "colour"], "shared"/' transpose.launch.json > bad.launch.json
said run transpose.ptx -l bad.launch.json -k transpose_naive; [ $? -eq 1 ] && has 'bad.launch.json:[0-9]+:[0-9]+: error: .*"guessed"'; check "another word is an error with its place" $?
echo "1..$n"
