#!/bin/sh
# Builds PTX from CUDA sources: build.sh FILE.cu...
# nvcc writes the newest .version it knows; an older driver refuses that. The text
# is lowered to the oldest version under which ptxas still accepts it, and the
# result is assembled for every architecture named here before it replaces the old.
set -eu
nvcc=${NVCC:-nvcc} ptxas=${PTXAS:-ptxas}
versions=${PTX_VERSIONS:-6.3 6.4 6.5 7.0 7.4 7.8 8.0}
archs=${PTX_ARCHS:-sm_75 sm_80 sm_86 sm_89 sm_90}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
for cu in "$@"; do
    out=${cu%.cu}.ptx
    "$nvcc" -ptx -arch=compute_75 -o "$tmp/new.ptx" "$cu"
    done=
    for v in $versions; do
        sed "s/^\.version .*/.version $v/" "$tmp/new.ptx" > "$tmp/low.ptx"
        if "$ptxas" -arch=sm_75 -o "$tmp/out.cubin" "$tmp/low.ptx" 2> "$tmp/log"; then done=$v; break; fi
    done
    if [ -z "$done" ]; then echo "$cu: no .version of $versions will do:" >&2; cat "$tmp/log" >&2; exit 1; fi
    for a in $archs; do "$ptxas" -arch="$a" -o "$tmp/out.cubin" "$tmp/low.ptx"; done
    mv "$tmp/low.ptx" "$out"
    echo "  PTX   $out (.version $done)"
done
