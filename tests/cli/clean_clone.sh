#!/bin/bash
# From a clean clone: `make demo` without a terminal sweeps the valley and says so.
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
if ! git -C . rev-parse --verify -q HEAD >/dev/null 2>&1; then echo "ok 1 - make demo from a clean clone # SKIP no git history here"; exit 0; fi
git clone -q . "$T/clone" 2>"$T/err" || { cat "$T/err"; echo "not ok 1 - clone"; exit 1; }
cd "$T/clone" || exit 1
# Nothing of the calling make (BUILD, MAKEFLAGS) may reach this one.
env -i PATH="$PATH" HOME="$HOME" LC_ALL=C.UTF-8 make demo OPT=-O1 </dev/null 2>"$T/err" | cat >"$T/out"
if grep -q "verdict: cache-congested: π=[0-9]* of 16" "$T/out" && grep -q "category cache-congested" "$T/out"; then echo "ok 1 - make demo from a clean clone"
else tail -20 "$T/err"; tail -30 "$T/out"; echo "not ok 1 - make demo from a clean clone"; exit 1; fi
if [ -z "$(git status --porcelain)" ]; then echo "ok 2 - nothing but ignored files is left behind"; else git status --porcelain | head; echo "not ok 2 - nothing but ignored files is left behind"; exit 1; fi
