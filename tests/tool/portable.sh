#!/bin/sh
# usage: portable.sh BUILD OUT [LIBRARY]: links BUILD's program so that any x86-64 Linux with glibc 2.28 or later runs it,
# and the shared library likewise.
# Libraries other than glibc are linked in. glibc itself is asked for by the oldest version of each name: the program
# is linked against stand-ins for libc.so.6 and libm.so.6 that offer just those versions, and tests/tool/portable.c
# has the names that came later.
set -eu
build=$1 out=$2 library=${3:-} oldest=2.28
here=$(dirname "$0")
w=$build/portable
cjson=1.7.18 sum=3aa806844a03442c00769b83e99970be70fbef03735ff898f4811dd03b9f5ee5
mirror=$(apt-cache policy libc6 2>/dev/null | sed -n 's| *[0-9]* \(http[^ ]*\) [a-z]*/main .*|\1|p' | head -1) # of this machine
from=$mirror/pool/main/c/cjson/cjson_$cjson.orig.tar.gz
lib=$(dirname "$(${CC:-gcc} -print-file-name=libc.so.6)")
mkdir -p "$w"

# Debian has no libcjson.a: its sources, checked by their sum. CJSON=DIR: sources that are here.
if [ ! -f "$w/cJSON.o" ]; then
    if [ -z "${CJSON:-}" ]; then
        { command -v curl >/dev/null && curl -sfL -o "$w/cjson.tar.gz" "$from"; } || wget -q -O "$w/cjson.tar.gz" "$from" ||
            { echo "cannot fetch $from: set CJSON to a folder with cJSON.c" >&2; exit 1; }
        echo "$sum  $w/cjson.tar.gz" | sha256sum -c --quiet
        tar -xzf "$w/cjson.tar.gz" -C "$w"
        CJSON=$w/cJSON-$cjson
    fi
    ${CC:-gcc} -O2 -fPIC -c -o "$w/cJSON.o" "$CJSON/cJSON.c"
fi
${CC:-gcc} -O2 -fPIC -c -o "$w/portable.o" "$here/portable.c"
${CC:-gcc} -O2 -fPIC -DSTART -c -o "$w/start.o" "$here/portable.c"

tui= terminal=
[ -f "$build/libtui.a" ] && tui=$build/libtui.a terminal="-l:libncursesw.a -l:libtinfo.a"
main=$build/tui/term/main.o
[ -n "$tui" ] || main=$build/engine/cmd/main.o
link() { # OUT, more
    o=$1; shift
    ${CC:-gcc} -static-libgcc -o "$o" "$main" $tui "$build/libengine.a" "$w/cJSON.o" "$w/portable.o" $terminal -l:liblz4.a -l:libzstd.a "$@"
}
link_library() { # OUT, more
    o=$1; shift
    ${CC:-gcc} -shared -static-libgcc -Wl,-z,defs -Wl,-soname,libgpulocw.so.1 -Wl,--version-script="$here/../../engine/api/gpulocw.map" -o "$o" \
        "$build"/engine/api/*.o "$build/libengine.a" "$w/cJSON.o" "$w/portable.o" -l:liblz4.a -l:libzstd.a "$@"
}
plain=$w/plain
link "$plain" -lpthread -ldl -lm
[ -z "$library" ] || { plain="$plain $w/plain.so"; link_library "$w/plain.so" -lpthread -ldl -lm; }

# What glibc has of each name that is used: the newest version that the oldest glibc has too.
objdump -T "$lib/libc.so.6" "$lib/libm.so.6" | python3 "$here/portable.py" $plain "$oldest" "$w"
for so in libc libm; do
    ${CC:-gcc} -shared -nostdlib -nodefaultlibs -Wl,-soname,$so.so.6 -Wl,--version-script="$w/$so.map" -o "$w/$so.so.6" "$w/$so.s"
done
for so in libpthread.so.0 libdl.so.2; do
    echo | ${CC:-gcc} -shared -nostdlib -nodefaultlibs -Wl,-soname,$so -x assembler -o "$w/$so" -
done
oldlibs="-Wl,--no-as-needed $w/libc.so.6 $w/libm.so.6 $w/libpthread.so.0 $w/libdl.so.2 $lib/ld-linux-x86-64.so.2 -lgcc -l:libc_nonshared.a -Wl,-s"
link "$out" -pie -nostdlib -nostartfiles "$w/start.o" $oldlibs
[ -z "$library" ] || link_library "$library" -nostdlib -nostartfiles $oldlibs
for made in "$out" $library; do
    echo "$made: needs $(objdump -T "$made" | grep -o 'GLIBC_2[0-9.]*' | sort -uV | tail -1)"
done
