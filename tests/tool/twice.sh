#!/bin/sh
# A name that two object files of the program define: the linker takes the first and says nothing.
# usage: twice.sh BUILD
find "$1/engine" "$1/tui" -name '*.o' ! -path '*/inject/*' ! -path '*/emulate/runtime/*' ! -path '*/emulate/driver/*' -exec nm -g --defined-only -A {} + |
    awk '$2 ~ /^[TDBR]$/ { n[$3]++; sub(/:.*/, "", $1); where[$3] = where[$3] " " $1 } END { for (k in n) if (n[k] > 1) { print k ":" where[k]; bad = 1 } exit bad }'
