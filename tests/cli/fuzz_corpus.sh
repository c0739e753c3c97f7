#!/bin/bash
# Every fuzz target over its corpus, without libFuzzer: inputs that once crashed, hung or broke a property, and the shipped files.
cd "$(dirname "$0")/../.." || exit 1
bin=$GPULOCW_BUILD/tests/fuzz
log=$(mktemp)
trap 'rm -f "$log"' EXIT
over() { # TARGET FOLDERS...
    local t=$1 n; shift
    if "$bin/fuzz_$t" "$@" > "$log" 2>&1 && n=$(tail -1 "$log" | grep -oE '^[0-9]+') && [ "$n" -gt 0 ]; then
        echo "ok $t: $n inputs"
    else
        echo "not ok $t: $(tail -3 "$log" | tr '\n' ' ')"
        bad=1
    fi
}
bad=0
# as tests/fuzz/run.sh has them: a target that is added there runs here
rows=$(sed -n "/^rows='/,/'$/p" tests/fuzz/run.sh | sed "s/^rows='//; s/'$//")
while read -r t _ dirs; do
    given=
    for d in $dirs; do case $d in kernels | tests/sim) ;; *) given="$given $d" ;; esac; done
    # shellcheck disable=SC2086
    over "$t" $given
done <<< "$rows"
for f in tests/fuzz/fuzz_*.c; do
    t=$(basename "$f" .c)
    grep -q "^${t#fuzz_} " <<< "$rows" || { echo "not ok $t has no row in tests/fuzz/run.sh"; bad=1; }
done
exit $bad
