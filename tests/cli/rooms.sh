#!/bin/bash
# The rooms of docs/internals/design.md are those of tests/tool/layers.sh, in the same order, and each is a folder.
n=0 bad=0
check() { n=$((n + 1)); if [ "$2" = "$3" ]; then echo "ok $n - $1"; else bad=1; echo "not ok $n - $1"; diff <(echo "$2") <(echo "$3") | sed 's/^/#   /'; fi; }
told=$(sed -n '/^## Rooms/,/^## How/s/^| `\([a-z_/]*\)` .*/\1/p' docs/internals/design.md)
enforced=$(sed -n 's/^order="\(.*\)"$/\1/p' tests/tool/layers.sh | tr ' ' '\n')
check "the document's rooms are those that are enforced" "$(sort <<< "$told")" "$(sort <<< "$enforced")"
check "every room is a folder" "" "$(for r in $told; do [ -d "$r" ] || echo "$r"; done)"
check "every folder with code is a room" "" "$(find engine tui sim -name '*.c' -printf '%h\n' 2>/dev/null | sort -u | grep -vxFf <(echo "$told"))"
[ -n "$told" ] || { echo "not ok $((n + 1)) - a table of rooms"; bad=1; }
exit $bad
