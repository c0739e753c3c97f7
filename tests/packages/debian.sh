#!/bin/bash
# The Debian packages: built from what git has, without a complaint of lintian, installed, tested from the installed files, removed.
. tests/tool/tap.sh
for p in dpkg-buildpackage dh lintian; do
    command -v $p >/dev/null || { echo "ok 1 - Debian packages # SKIP no $p (debhelper, dpkg-dev, lintian)"; exit 0; }
done
mkdir "$T/src" && git archive HEAD | tar -x -C "$T/src"
if ! (cd "$T/src" && dpkg-buildpackage -us -uc -b) >"$T/build.log" 2>&1; then no "the packages build" "$(tail -15 "$T/build.log")"; exit 1; fi
ok "the packages build"
is "program, library and development files" "$(cd "$T" && echo *.deb | tr ' ' '\n' | grep -v dbgsym | sed 's/_.*//' | tr '\n' ' ')" "gpulocw libgpulocw-dev libgpulocw1 "
code "lintian is content" 0 "" lintian --fail-on error,warning --suppress-tags bad-distribution-in-changes-file,initial-upload-closes-no-bugs "$T"/*.changes
command -v appstreamcli >/dev/null && code "so is AppStream" 0 "" appstreamcli validate --no-net "$T/src/docs/packaging/gpulocw.metainfo.xml"
if [ "$(id -u)" != 0 ]; then echo "ok $((n + 1)) - the installed packages # SKIP needs root"; exit $bad; fi
rm -f "$T"/*-dbgsym_*.deb
dpkg -i "$T"/*.deb >"$T/install.log" 2>&1 || { no "they install" "$(tail -5 "$T/install.log")"; exit 1; }
ok "they install"
cd "$T" || exit 1
here=$OLDPWD
code "the program runs from its place" 0 "kernel valley" /usr/bin/gpulocw analyze /usr/share/gpulocw/kernels/valley.ptx
code "its demos are found" 0 "1-" /usr/bin/gpulocw demo
doc "a kernel runs with the outputs of this tree's build" 'd["equal_to_original"] is True' /usr/bin/gpulocw run /usr/share/gpulocw/kernels/stride_4.ptx --json
code "a program builds against the library" 0 "" sh -c "cc $here/docs/examples/run.c \$(pkg-config --cflags --libs gpulocw) -o $T/run"
code "and runs" 0 "simulated: " "$T/run" /usr/share/gpulocw/kernels/stride_32.ptx
is "guide, examples and the rules of check" "$(cd /usr/share/doc/gpulocw && ls check.md* guide/agents.md* examples/launch.c* | wc -l)" 3
code "the manual page" 0 "gpulocw" sh -c 'zcat /usr/share/man/man1/gpulocw.1.gz | head -3'
cd "$here" || exit 1
code "the MCP server as installed" 0 "and then the server ends" python3 tests/mcp/raw.py /usr/bin/gpulocw
dpkg -r libgpulocw-dev gpulocw libgpulocw1 >/dev/null 2>&1
is "removed, nothing is left" "$(ls -d /usr/bin/gpulocw /usr/share/gpulocw /usr/include/gpulocw.h 2>/dev/null)$(echo gone)" "gone"
exit $bad
