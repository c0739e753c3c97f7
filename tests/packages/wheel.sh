#!/bin/bash
# make wheel: installed into a folder of its own without an index, the module finds its own library and program.
. tests/tool/tap.sh
[ "$(uname -m)" = x86_64 ] || { echo "ok 1 - the wheel # SKIP needs x86-64"; exit 0; }
said=$(sh tests/tool/portable.sh "$GPULOCW_BUILD" "$T/program" "$T/library" 2>&1) || {
    grep -q 'cannot fetch' <<<"$said" && { echo "ok 1 - the wheel # SKIP $(tail -1 <<<"$said")"; exit 0; }
    no "program and library are linked" "$said"; exit 1; }
ok "program and library are linked"
version=$(sed -n 's/.*GPULOCW_VERSION "\(.*\)".*/\1/p' engine/base/version.h)
for i in 1 2; do python3 python/wheel.py "$version" "$T/program" "$T/library" "$T/dist$i" >"$T/name$i"; done
wheel=$(cat "$T/name1")
is "the same input gives the same bytes" "$(md5sum <"$wheel")" "$(md5sum <"$(cat "$T/name2")")"
needs=$(objdump -T "$T/library" "$T/program" | grep -o 'GLIBC_2[0-9.]*' | sort -uV | tail -1)
is "its tag is no older than the glibc that it needs" "$(printf '%s\nGLIBC_2.%s\n' "$needs" "$(sed 's/.*manylinux_2_\([0-9]*\)_.*/\1/' <<<"$wheel")" | sort -V | tail -1)" "GLIBC_2.$(sed 's/.*manylinux_2_\([0-9]*\)_.*/\1/' <<<"$wheel")"
is "the library has the names of the header and no others" "$(nm -D --defined-only "$T/library" | grep -c ' T ')" "$(grep -oE '\bgpulocw_[a-z_]+\(' engine/api/gpulocw.h | tr -d '(' | grep -v '^gpulocw_status$\|^gpulocw_launch$' | sort -u | wc -l)"
if python3 -m pip --version >/dev/null 2>&1; then code "pip installs it" 0 "" python3 -m pip install -q --no-index --no-deps --target "$T/site" "$wheel"
else python3 -m zipfile -e "$wheel" "$T/site"; chmod +x "$T/site/gpulocw/bin/gpulocw"; echo "ok $((n += 1)) - pip installs it # SKIP no pip: unpacked"; fi
is "python -m gpulocw is the program" "$(cd "$T" && PYTHONPATH=$T/site python3 -m gpulocw --version)" "gpulocw $version"
env -u GPULOCW_LIBRARY GPULOCW_PYTHON="$T/site" GPULOCW_PROGRAM="$T/site/gpulocw/bin/gpulocw" python3 tests/python/test_gpulocw.py >"$T/said" 2>&1
is "the module's tests pass with what it brings" "$(grep -cE '^OK' "$T/said")" 1
[ $bad = 0 ] || tail -20 "$T/said" | sed 's/^/#   /'
exit $bad
