#!/bin/bash
# On a terminal launch asks for sizes and shapes, with its guesses as what an empty line means; without one it guesses and says so.
. tests/tool/tap.sh
command -v script >/dev/null || { echo "ok 1 - launch asks # SKIP no script"; exit 0; }
cp kernels/atax.ptx "$T/k.ptx"
asked() { printf "$1" | script -qec "$B launch $T/k.ptx -k atax1 -o $T/k.json" /dev/null 2>&1 | tr -d '\r'; }
field() { python3 -c "import json; d=json.load(open('$T/k.json')); d=d.get('launches',[d])[0]; print($1)"; }

out=$(asked '\n\n')
has "it asks for the size" "atax1: size of the problem, for its integer parameters \[[0-9]+\]\?" "$out"
has "and for the block" "atax1: threads of a block \[[0-9]+x1x1\]\?" "$out"
guess=$(field "d['grid'],d['block'],[a.get('s32') for a in d['args']]")
"$B" launch "$T/k.ptx" -k atax1 -o "$T/k.json" > "$T/out" 2> "$T/err" < /dev/null
is "empty lines leave the guess that nobody is asked for" "$guess" "$(field "d['grid'],d['block'],[a.get('s32') for a in d['args']]")"
has "with no terminal it says what it assumed" "atax1: grid .*sizes and data are guesses" "$(tr '\n' ' ' < "$T/err")"
asked '96\n64\n' > "$T/out"
is "answers are taken: sizes" "$(field "{a['s32'] for a in d['args'] if 's32' in a}")" "{96}"
is "and shapes" "$(field "d['block'][0]")" 64
has "what is no answer is asked again" "a whole number above 0:.*atax1: threads|X, XxY" "$(asked 'many\n100\n2000x2\n32\n' | tr '\n' ' ')"
is "and the next one holds" "$(field "(d['block'], {a['s32'] for a in d['args'] if 's32' in a})")" "([32, 1, 1], {100})"
exit $bad
