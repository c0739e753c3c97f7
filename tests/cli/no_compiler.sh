#!/bin/bash
# make where there is no compiler: one sentence, and nothing else.
. tests/tool/tap.sh
mkdir "$T/bin"
for p in make sh bash sed find cmp mkdir printf nproc cat sort grep dirname mv awk tr env; do ln -s "$(command -v $p)" "$T/bin/"; done
said=$(env -u MAKEFLAGS -u MAKELEVEL PATH="$T/bin" make BUILD="$T/build" CC=cc 2>&1); rc=$?
is "it stops" "$rc" 2
is "with one line" "$(wc -l <<<"$said")" 1
has "that says what is missing and what to do" "there is no C compiler 'cc': make setup installs one" "$said"
exit $bad
