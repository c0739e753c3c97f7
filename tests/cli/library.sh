#!/bin/bash
# docs/internals/example.c builds without warnings against the library, and says what the kernel does.
. tests/tool/tap.sh
cp docs/internals/example.c "$T/example.c"
WARN="-Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Werror"
code "it builds" 0 "" ${CC:-cc} -std=c17 -D_GNU_SOURCE $WARN -I. -o "$T/example" "$T/example.c" "$GPULOCW_BUILD/libengine.a" ${LDFLAGS:-} -lpthread -lm
code "it analyses" 0 "^line [0-9]+: load of stride_32_param_0 \\+ " "$T/example" kernels/stride_32.ptx
code "it executes" 0 "^[1-9][0-9]+ warp instructions$" "$T/example" kernels/stride_32.ptx
code "a file that is not there" 1 "cannot open" "$T/example" nowhere.ptx
exit $bad
