#!/bin/bash
# The command-line contract (gpulocw help): bad input, wrong usage, help: exit codes and messages.
. tests/tool/tap.sh

code "missing file" 1 "cannot open" "$B" analyze "$T/none.ptx"
: >"$T/empty.ptx"; code "empty file" 1 "error" "$B" analyze "$T/empty.ptx"
head -c 4096 /dev/urandom >"$T/bin.ptx"; code "binary file" 1 "error" "$B" analyze "$T/bin.ptx"
head -c 700 "$(k gemm)" >"$T/cut.ptx"; code "truncated PTX" 1 "cut.ptx:[0-9]+:[0-9]+: error" "$B" analyze "$T/cut.ptx"
{ head -c 300 "$(k gemm)"; head -c 100000000 /dev/zero | tr '\0' x; } >"$T/long.ptx"; code "a line of 100 MB" 1 "error" "$B" analyze "$T/long.ptx"; rm -f "$T/long.ptx"
sed 's/ld\.global/ld.gloval/' "$(k gemm)" >"$T/typo.ptx"; code "a misspelt instruction: place, caret, hint" 1 "typo.ptx:[0-9]+:[0-9]+: error" "$B" analyze "$T/typo.ptx"
code "wrong option" 2 "no option --frobnicate" "$B" run "$(k gemm)" --frobnicate
code "option of another command: which" 2 "applies to: sweep, and the workbench" "$B" devices --axis pi
code "a misspelt option" 2 "did you mean --bypass" "$B" run "$(k gemm)" --bypas l1
code "a misspelt command" 2 "did you mean gpulocw analyze" "$B" anlyze "$(k gemm)"
code "a file too many" 2 "takes one file" "$B" replay a.json b.json
code "--color takes three words" 2 "auto, always or never" "$B" run "$(k gemm)" --color maybe
if [ -w /dev/full ]; then code "a full disk is told" 1 "cannot write all of standard output" sh -c "'$B' analyze '$(k gemm)' --quick >/dev/full"; fi
code "a reader that has gone is no failure" 0 "^0$" bash -c "set -o pipefail; '$B' devices | head -c 1 >/dev/null; echo \$?"
code "knob out of range" 2 "not allowed" "$B" run "$(k gemm)" --pi 99
code "no file" 2 "no PTX file given" "$B" run
cp kernels/stride_4.ptx "$T/alone.ptx"
code "no launch description" 1 "no launch description" "$B" run "$T/alone.ptx"
code "unknown kernel" 1 "nosuch" "$B" run "$(k gemm)" --kernel nosuch
code "unknown device" 4 "no-such-gpu" "$B" run "$(k gemm)" --device sim:no-such-gpu
python3 - kernels/gemm.launch.json "$T/bad.launch.json" <<'PY'
import json,sys
d=json.load(open(sys.argv[1]))
l=(d.get('launches') or [d])[0]
(l.get('args') or d['args']).pop()
json.dump(d,open(sys.argv[2],'w'))
PY
code "a launch with too few arguments" 1 "has [0-9]+ parameters" "$B" run "$(k gemm)" --launch "$T/bad.launch.json"
# "-" is standard input and output; what is replaced as results come is a file.
code "PTX through a pipe, PTX out" 0 "ld.global.cg" sh -c "cat '$(k gemm)' | (cd '$T'; '$(realpath "$B")' rewrite - --bypass l1 --pi bpa -o -)"
"$B" sweep "$(k stride_4)" -o "$T/piped.json" > "$T/drop"
code "a session through a pipe" 0 '^1,"stride_4"' sh -c "cat '$T/piped.json' | '$B' report - --format csv -o -"
code "a session is no pipe" 2 "needs a file here" "$B" sweep "$(k gemm)" -o -
is "no file of that name" "$(ls -- "$T/-" ./- 2>&1 | grep -vc 'No such')" 0
mkdir "$T/ro"; chmod 500 "$T/ro"
if [ "$(id -u)" = 0 ]; then echo "ok $((n = n + 1)) - read-only folder # SKIP root writes anywhere"; else code "read-only folder for the session" 1 "cannot" "$B" sweep "$(k valley)" --device sim:fermi-16k -o "$T/ro/s.json"; fi
code "a session where no file can be" 1 "cannot" "$B" sweep "$(k valley)" --device sim:fermi-16k -o "/proc/none/s.json"
code "not a session" 1 "not a gpulocw session" "$B" replay kernels/gemm.launch.json --plain
code "TERM=dumb, no terminal: says what to do" 2 "terminal" env TERM=dumb "$B" "$(k gemm)"
code "--version" 0 "gpulocw [0-9]" "$B" --version
code "help" 0 "cache valley" "$B" help
for c in analyze rewrite run sweep tune predict replay report devices calibrate demo worker; do code "help $c" 0 "gpulocw $c" "$B" help $c; done
code "C locale" 0 "verdict" env LC_ALL=C "$B" sweep "$(k valley)" --device sim:fermi-16k
# Mistakes in a launch description are told with line and column of the object they are in.
cat > "$T/placed.launch.json" <<'J'
{ "format": "gpulocw-launch", "version": 1, "note": "a [ \" ] } in a text",
  "ptx": "stride_4.ptx", "kernel": "stride_4", "grid": [4], "block": [256], "empty": [ ],
  "launches": [ { "name": "one" },
    { "name": "two", "args": [
        { "name": "a", "buffer": "f32", "count": 4096, "init": { "random": [0, 1], "sede": 1 } },
        { "name": "out", "buffer": "f32", "count": -1, "output": true } ] } ] }
J
code "a mistake in an argument has its place" 1 "placed.launch.json:6:9: error: argument 1 \('out'\): \"count\"" "$B" run "$(k stride_4)" -l "$T/placed.launch.json" -k two
sed 's/"shared": [0-9]*/"shared": 300000/; /"shared"/!s/"block":/"shared": 300000, "block":/' kernels/stride_4.launch.json > "$T/much.launch.json"
code "more shared memory than a block can have is bad input" 1 'dynamic shared memory \("shared"\); NVIDIA H200 allows 232448' "$B" run "$(k stride_4)" --launch "$T/much.launch.json"
code "so has a key that means nothing" 1 "placed.launch.json:5:64: error: argument 'a': unknown key \"sede\"" "$B" run "$(k stride_4)" -l "$T/placed.launch.json" -k two
# A bracket that is left open is named, not only where that is noticed.
json() { printf '%s\n' "$2" > "$T/b.launch.json"; code "$1" 1 "$3" "$B" run kernels/valley.ptx --launch "$T/b.launch.json"; }
json "JSON: a list that is not closed before the next key" '{ "format": "gpulocw-launch",
  "grid": [1, "a]b", 1, "block": [32, 1, 1] }' "the '\[' of line 2, column 11 is not closed"
json "JSON: a list that is not closed before the object's end" '{ "args": [ { "n": 1 }
}' "the '\[' of line 1, column 11 is not closed"
json "JSON: an object that is not closed" '{ "args": [ { "n": 1 ] }' "the '\{' of line 1, column 13 is not closed"
json "JSON: the text ends too early" '{ "args": [ { "n": 1 }' "the '\[' of line 1, column 11 is not closed"
json "JSON: a NUL that is written as an escape" '{ "kernel": "gemm\u0000x" }' "launch.json:1:18: error: a NUL character: no name or text may hold one|:1:[0-9]+: error: a NUL character"
json "JSON: an escaped backslash is none" '{ "kernel": "a\\\\u0000", "grid": [1, 1, 1,] }' "remove the comma before the closing bracket"
json "JSON: a comma too many" '{ "grid": [1, 1, 1,] }' "remove the comma before the closing bracket"
exit $bad
