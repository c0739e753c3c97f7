#!/bin/bash
# --tma-hint: an L2 policy on bulk and tensor copies; outputs stay, what has a policy keeps it, what has no copy is refused.
. tests/tool/tap.sh
G=tests/tensor/gemm_wgmma.ptx C=tests/roof/copies.ptx
for h in evict_first evict_last evict_normal evict_unchanged; do
    "$B" rewrite $G -k n256 --tma-hint $h -o "$T/$h.ptx" 2>"$T/err"
    is "$h: one policy, on each of ten copies" "$(grep -c "createpolicy.fractional.L2::$h.b64" "$T/$h.ptx") $(grep -c 'cp.async.bulk.tensor.*complete_tx::bytes.L2::cache_hint .*, %gl0_pol;' "$T/$h.ptx")" "1 10"
done
doc "outputs are those of the original" "d['equal_to_original'] is True" "$B" run $G -k n256 --tma-hint evict_last --json
cp tests/tensor/gemm_wgmma.launch.json "$T/evict_last.launch.json"
code "copies that have a policy keep it" 3 'every copy of the kernel has an L2 policy already' "$B" rewrite "$T/evict_last.ptx" -k n256 --tma-hint evict_first -o "$T/x.ptx"
"$B" rewrite $C -k plain --tma-hint evict_first -o "$T/plain.ptx" 2>"$T/err"
is "plain bulk copies too, stores not" "$(grep -c 'cp.async.bulk.shared.*L2::cache_hint .*, 1040, \[%r4\], %gl0_pol;' "$T/plain.ptx") $(grep -c 'cp.async.bulk.global.*cache_hint' "$T/plain.ptx")" "1 0"
code "a kernel without copies" 3 'reads nothing by bulk or tensor copies' "$B" rewrite kernels/gemm.ptx --tma-hint evict_first -o "$T/x.ptx"
code "a value that is none" 2 'tma-hint' "$B" rewrite $G -k n256 --tma-hint evict -o "$T/x.ptx"
"$B" tune $G -k n256 --budget 14 -o "$T/s.json" >"$T/said" 2>&1
[ "$("$B" report "$T/s.json" --format csv | grep -c -- '--tma-hint')" -ge 1 ] && ok "tune tries it" || no "tune tries it" "$(tail -5 "$T/said")"
exit $bad
