#!/bin/sh
# Builds PTX from CUDA sources: build.sh FILE.cu...
# nvcc writes the newest .version it knows; an older driver refuses that. The text
# is lowered to the oldest version under which ptxas still accepts it, and the
# result is assembled for every architecture named here before it replaces the old.
# The line table (-lineinfo) names the source as it was given here. A .loc stands at the end of the line before
# it, so that each instruction has the line that it has in the text without the table.
set -eu
nvcc=${NVCC:-nvcc} ptxas=${PTXAS:-ptxas}
versions=${PTX_VERSIONS:-6.3 6.4 6.5 7.0 7.4 7.8 8.0}
archs=${PTX_ARCHS:-sm_75 sm_80 sm_86 sm_89 sm_90}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for cu in "$@"; do
    out=${cu%.cu}.ptx
    "$nvcc" -ptx -lineinfo -arch=compute_75 -o "$tmp/new.ptx" "$cu"
    awk -v cu="$cu" '
        /^\t\.loc\t/ { at = n; while (line[at] ~ /\/\//) at--; line[at] = line[at] $0; next }
        /^\t\.file\t1 / { $0 = "\t.file\t1 \"" cu "\"" }
        { line[++n] = $0 }
        END { for (i = 1; i <= n; i++) print line[i] }' "$tmp/new.ptx" > "$tmp/joined.ptx"
    done=
    for v in $versions; do
        sed "s/^\.version .*/.version $v/" "$tmp/joined.ptx" > "$tmp/low.ptx"
        if "$ptxas" -arch=sm_75 -o "$tmp/out.cubin" "$tmp/low.ptx" 2> "$tmp/log"; then done=$v; break; fi
    done
    if [ -z "$done" ]; then echo "$cu: no .version of $versions will do:" >&2; cat "$tmp/log" >&2; exit 1; fi
    for a in $archs; do "$ptxas" -arch="$a" -o "$tmp/out.cubin" "$tmp/low.ptx"; done
    mv "$tmp/low.ptx" "$out"
    echo "  PTX   $out (.version $done)"
done
