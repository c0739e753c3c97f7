#!/bin/bash
# Documents have short sentences (tests/tool/prose.py); every message of the program can be listed (tests/tool/messages.py).
command -v python3 >/dev/null || { echo "ok 1 - prose # SKIP no python3"; exit 0; }
bad=0
if said=$(python3 tests/tool/prose.py); then echo "ok 1 - mean sentences below 20 words"; else bad=1; echo "not ok 1 - mean sentences below 20 words"; sed 's/^/#   /' <<< "$said"; fi
# One message of each kind: a diagnostic, a refusal, a hint, a help text, a notice of the workbench.
n=1 list=$(python3 tests/tool/messages.py 2>/dev/null)
for text in "no launch description: grid, block and arguments are unknown" "the kernel has no global load" "gpulocw help lists the commands" \
            "cache level that loads bypass" "Stopped, results kept; {resume} resumes"; do
    n=$((n + 1))
    if grep -qF "$text" <<< "$list"; then echo "ok $n - the list has: $text"; else bad=1; echo "not ok $n - the list has: $text"; fi
done
# The glossary has every knob, and every class and category that the program can print.
words=$(sed -n '/^## Knobs/,/^## Devices/s/^| `--\([a-z0-9-]*\).*/\1/p' "$GPULOCW_BUILD/reference/options.md"
        sed -n '/Locality classes/,/^## Reuse/s/^| \([a-z-]*\) |.*/\1/p; /^## Categories/,/^## The memory/s/^| \([a-z-]*\) |.*/\1/p' docs/concepts.md | grep -v '^class$\|^category$')
lacks=$(for w in $words; do grep -qE "(^\| |\`|, )$w(\`|,| \|)" docs/glossary.md || echo "$w"; done)
n=$((n + 1))
if [ "$(wc -w <<< "$words")" -gt 40 ] && [ -z "$lacks" ]; then echo "ok $n - the glossary has every knob, class and category"
else bad=1; echo "not ok $n - the glossary has every knob, class and category"; sed 's/^/#   /' <<< "$lacks"; fi
exit $bad
