#!/bin/bash
# --progress-fd: what a program reads of a command while it runs, and at its end.
. tests/tool/tap.sh
claim() { # NAME, status of the test before it
    n=$((n + 1))
    if [ "$2" = 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; bad=1; fi
}
holds() { # FILE PYTHON-EXPRESSION over `line`, the parsed lines
    python3 -c 'import json,sys
line = [json.loads(x) for x in open(sys.argv[1])]
sys.exit(not eval(sys.argv[2]))' "$@"
}
"$B" sweep kernels/stride_4.ptx --progress-fd 3 3>"$T/lines" >"$T/with" 2>"$T/err"
holds "$T/lines" 'len(line) > 2 and all(0 <= l["progress"] <= 1 and l["what"] for l in line[:-1])'
claim "a sweep says how far it is" $?
holds "$T/lines" 'line[-1] == {"exit": 0, "diagnostics": []} and line[-2]["progress"] == 1'
claim "and how it ended" $?
"$B" sweep kernels/stride_4.ptx >"$T/without"
cmp -s "$T/with" "$T/without" && [ ! -s "$T/err" ]
claim "what is printed stays the same" $?
"$B" run "$T/none.ptx" --progress-fd 3 3>"$T/lines" 2>/dev/null
holds "$T/lines" 'len(line) == 1 and line[0]["exit"] == 1 and line[0]["diagnostics"][0]["code"] == "io" and line[0]["diagnostics"][0]["file"].endswith("none.ptx")'
claim "a failure comes with its diagnostics" $?
"$B" run kernels/stride_4.ptx --progress-fd 77 >"$T/out" 2>/dev/null
claim "a descriptor that is not open is no error of the command" $?
exit $bad
