#!/bin/bash
# gpulocw check --rewrite: whole texts pass, one damaged in each class is found, with its place.
. tests/tool/tap.sh
F=kernels/reduction.ptx
rewrite() { "$B" rewrite $F -o "$T/new.ptx" --force "$@" >/dev/null 2>&1; }
# broken NAME CODE SED: the accepted text, changed so
broken() {
    sed -E "$3" "$T/new.ptx" >"$T/bad.ptx"
    if cmp -s "$T/new.ptx" "$T/bad.ptx"; then no "$1" "nothing was changed"; return; fi
    code "$1" 3 "bad.ptx:[0-9]+:[0-9]+: error: .*\[$2\]" "$B" check --rewrite $F "$T/bad.ptx"
}
for o in "--bypass l1 --pi 1" "--bypass l1 --pi 1 --bypass-form predicate" "--cluster agent" "--cluster redirect" "--prefetch l1" "--swizzle-shared"; do
    rewrite $o
    code "a whole text of $o" 0 "every invariant holds" "$B" check --rewrite $F "$T/new.ptx"
done
rewrite --cluster redirect
def=$(grep -m1 -n 'mad.lo.s32.*%r' "$T/new.ptx" | cut -d: -f1)
broken "a definition that is gone" invariant-definition "${def}d"
broken "a barrier that is gone" invariant-barrier "$(grep -m1 -n 'bar.sync' "$T/new.ptx" | cut -d: -f1)d"
broken "a store that is gone" invariant-dropped "$(grep -m1 -n 'st.shared' "$T/new.ptx" | cut -d: -f1)d"
broken "a store that is done twice" invariant-added "$(grep -m1 -n 'st.shared' "$T/new.ptx" | cut -d: -f1)p"
broken "a guard that decides about what was always done" invariant-guard 's/^(\s+)st.shared/\1@%p1 st.shared/'
broken "a branch that is turned" invariant-order 's/@(%p[0-9]+) bra/@!\1 bra/'
st=$(grep -m1 -n 'st.shared' "$T/new.ptx" | cut -d: -f1)
broken "a number that is another one" invariant-definition "s/(shfl.sync.down.b32 .*%r[0-9]+, )31/\130/; ${st}s/\]/+8]/"
{ sed -n "1,/^{/p" "$T/new.ptx"; echo '.reg .pred %zz; .reg .b32 %zt;'; sed "1,/^{/d" "$T/new.ptx" |
    sed '0,/^\tshfl/s//\tmov.u32 %zt, %tid.x;\n\tsetp.lt.u32 %zz, %zt, 5;\n\t@%zz bra $zz;\n$zz0:\n\tshfl/; 0,/^\tshfl.*/s//&\n$zz:/'; } >"$T/torn.ptx"
code "a warp that is torn" 3 "invariant-group" "$B" check --rewrite $F "$T/torn.ptx"
code "one file" 2 "takes two files" "$B" check --rewrite $F
code "no such file" 1 "nosuch.ptx" "$B" check --rewrite $F nosuch.ptx
doc "JSON" "d['format']=='gpulocw-invariants' and d['broken']==0 and d['of_original']==d['instructions']" "$B" check --rewrite $F $F --json
out=$(python3 tests/mutants/texts.py "$B" $F kernels/mm_tiled.ptx)
has "no whole text is called broken" "accepted texts, 0 of them" "$out"
share=$(sed -n 's/^together.* \([0-9]*\) %$/\1/p' <<<"$out")
if [ "${share:-0}" -ge 90 ]; then ok "$share % of the damaged texts are found"; else no "damaged texts" "$out"; fi
exit $bad
