#!/bin/bash
# The manual page is what the program writes now (make man mends it); every page of make reference has its rows.
n=0 bad=0
claim() { # WHAT TEST DETAIL
    n=$((n + 1))
    if eval "$2"; then echo "ok $n - $1"; else bad=1; echo "not ok $n - $1"; eval "$3" | head -20 | sed 's/^/#   /'; fi
}
P=$GPULOCW_BUILD/reference
claim "docs/gpulocw.1 is up to date" '"$GPULOCW_BUILD/tests/man" | cmp -s - docs/gpulocw.1' '"$GPULOCW_BUILD/tests/man" | diff docs/gpulocw.1 -'
rows() { # PAGE WHAT WORDS: each stands in backticks in the page
    words=$3
    missing=$(for w in $words; do grep -qF -- "\`$w" "$P/$1.md" || echo "$w"; done)
    claim "$1.md has every $2" '[ "$(wc -w <<< "$words")" -gt 9 ] && [ -z "$missing" ]' 'echo "$missing"'
}
rows options knob "$(sed -n 's/^KNOB_[A-Z]*([a-z]*, [a-z0-9_]*, "\([a-z0-9-]*\)".*/--\1/p' engine/rec/options.def)"
rows keys "command of the workbench" "$(sed -n 's/^    { "\([a-z-]*\)", .*/\1/p' tui/control/command.c | sort -u)"
rows presets "field of a preset" "$(sed -n 's/^PRESET_[A-Z]*(\([a-z_0-9]*\),.*/\1/p' engine/sim/preset.def)"
rows operations operation "$(sed -n 's/^OP([A-Z0-9_]*, "\([a-z0-9_.:]*\)".*/\1/p' engine/ptx/ops.def)"
rows ptx-coverage operation "$(sed -n 's/^OP([A-Z0-9_]*, "\([a-z0-9_.:]*\)".*/\1/p' engine/ptx/ops.def)"
rows diagnostics code "$(cat tests/golden/codes.txt)"
rows json-fields field "$(sed -nE 's/^FIELD\("([^"(]*)".*/\1/p; s/^(MEMBER|DOC|RUN|SWEEP|FOUND)\([A-Z]+\([^)]*\), "([^"]*)".*/\2/p' engine/rec/fields.def)"
claim "launch-guesses.md has rows" '[ "$(grep -c "^| " "$P/launch-guesses.md")" -gt 20 ]' true
exit $bad
