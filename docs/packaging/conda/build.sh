#!/bin/bash
# conda-build's step: its compiler, its libraries, its prefix.
set -eu
export CPPFLAGS="${CPPFLAGS:-} -I$PREFIX/include"
make -j"${CPU_COUNT:-2}" CC="${CC:-gcc}" LDFLAGS="${LDFLAGS:-} -L$PREFIX/lib -Wl,-rpath,$PREFIX/lib" all
make CC="${CC:-gcc}" LDFLAGS="${LDFLAGS:-} -L$PREFIX/lib -Wl,-rpath,$PREFIX/lib" install PREFIX="$PREFIX"
