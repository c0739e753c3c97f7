#!/bin/bash
# The library: its names, its header, programs against it, the examples.
. tests/tool/tap.sh
L=$GPULOCW_BUILD
CC=${CC:-cc}
WARN="-Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Werror"
if [ ! -e "$L/libgpulocw.so.1" ]; then no "the library is built" "make builds it"; exit 1; fi
names=$(nm -D --defined-only "$L/libgpulocw.so.1" | sed -n 's/.* T \(.*\)@@GPULOCW_[12]$/\1/p' | sort)
is "exactly the names of the header are visible" "$(echo $names)" "$(echo $(grep -oE '\bgpulocw_[a-z_]+\(' engine/api/gpulocw.h | tr -d '(' | grep -v '^gpulocw_status$\|^gpulocw_launch$' | sort -u))"
is "and nothing else" "$(nm -D --defined-only "$L/libgpulocw.so.1" | grep -cvE '@@GPULOCW_[12]$| GPULOCW_[12]$')" 0
for std in c89 c99 c17; do code "the header is $std" 0 "" $CC -std=$std -pedantic -Wall -Wextra -Werror -I. -fsyntax-only -include engine/api/gpulocw.h -x c /dev/null; done
command -v c++ >/dev/null && code "the header is C++" 0 "" c++ -std=c++11 -pedantic -Wall -Wextra -Werror -I. -fsyntax-only -include engine/api/gpulocw.h -x c++ /dev/null
case "${LDFLAGS:-} ${EXTRA_CFLAGS:-} $(cat "$L/flags" 2>/dev/null)" in
*sanitize*) echo "ok $((n += 1)) - programs against the library # SKIP the objects carry a sanitizer" ;;
*)
    $CC -std=c17 -D_GNU_SOURCE $WARN -I. -o "$T/check" tests/api/check.c "$L/libgpulocw.so.1" -Wl,-rpath,"$(realpath "$L")" -lpthread || no "the checks build"
    "$T/check" | sed 's/^\(not \)\?ok [0-9]* - /\1ok - the library: /' >"$T/said"; rc=${PIPESTATUS[0]}
    while read -r l; do n=$((n + 1)); echo "${l/ok -/ok $n -}"; done <"$T/said"; [ "$rc" = 0 ] || bad=1
    $CC -std=c17 -D_GNU_SOURCE $WARN -I. -DGPULOCW_DEBUG -o "$T/debug" tests/api/check.c engine/api/*.c "$L/libengine.a" -lcjson -llz4 -lzstd -lpthread -ldl -lm ${LDFLAGS:-} || no "the debug checks build"
    "$T/debug" >"$T/said"; rc=$?
    grep "after it was freed\|and cancelled" "$T/said" | while read -r l; do echo "${l/ - / - for debugging: }"; done >"$T/two"
    while read -r l; do n=$((n + 1)); echo "$(sed "s/ok [0-9]*/ok $n/" <<<"$l")"; done <"$T/two"; [ "$rc" = 0 ] || bad=1
    $CC -std=c17 -D_GNU_SOURCE $WARN -I. -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -o "$T/launch" tests/api/launch.c engine/api/*.c "$L/libengine.a" -lcjson -llz4 -lzstd -lpthread -ldl -lm ${LDFLAGS:-} || no "the launches build"
    "$T/launch" 2>"$T/err" | sed 's/^\(not \)\?ok [0-9]* - /\1ok - from memory: /' >"$T/said"; rc=${PIPESTATUS[0]}
    while read -r l; do n=$((n + 1)); echo "${l/ok -/ok $n -}"; done <"$T/said"; [ "$rc" = 0 ] || { bad=1; head -20 "$T/err"; }
    code "docs/examples/launch.c builds" 0 "" $CC $WARN -Iengine/api -o "$T/memory" docs/examples/launch.c "$L/libgpulocw.so.1" -Wl,-rpath,"$(realpath "$L")"
    code "and launches three times" 0 "y\[5\] = 30 after three launches" "$T/memory"
    code "docs/examples/run.c builds" 0 "" $CC $WARN -Iengine/api -o "$T/run" docs/examples/run.c "$L/libgpulocw.so.1" -Wl,-rpath,"$(realpath "$L")"
    code "and compares" 0 "simulated: [0-9.]+ us as it is, [0-9.]+ us with all loads past L1" "$T/run" kernels/stride_32.ptx
    code "docs/examples/prune.py keeps and refuses" 0 "keep +[0-9.]+ us simulated" env GPULOCW_LIBRARY="$(realpath "$L")/libgpulocw.so.1" python3 docs/examples/prune.py kernels/stride_32.ptx 2
    ;;
esac
exit $bad
