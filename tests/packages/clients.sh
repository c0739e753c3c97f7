#!/bin/bash
# The MCP server with the official clients of both eras of the protocol, from the npm registry.
. tests/tool/tap.sh
command -v npm >/dev/null && command -v node >/dev/null || { echo "ok 1 - official MCP clients # SKIP no node and npm"; exit 0; }
(cd "$T" && echo '{"type":"module"}' >package.json && timeout 240 npm install --no-audit --no-fund @modelcontextprotocol/sdk@1 @modelcontextprotocol/client@2) >"$T/npm.log" 2>&1 ||
    { echo "ok 1 - official MCP clients # SKIP the npm registry is out of reach"; exit 0; }
cp tests/mcp/*.mjs "$T/"
for era in v1 v2; do
    timeout 300 node "$T/client_$era.mjs" "$(realpath "$GPULOCW_BUILD/gpulocw")" "$PWD" >"$T/said" 2>&1 || bad=1
    while read -r line; do n=$((n + 1)); echo "$(sed "s/^\(not \)\?ok /\1ok $n - client $era: /" <<<"$line")"; done < <(grep -E '^(not )?ok ' "$T/said")
    grep -vE '^(not )?ok ' "$T/said" | sed 's/^/#   /' | head -10
done
[ $n -ge 16 ] || { no "both clients came to their end" "$n claims"; }
exit $bad
