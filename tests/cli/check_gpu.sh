#!/bin/sh
# tests/gpu/check.sh: verdicts of steps that pass, hang, die, have nothing to check, and what they add up to.
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp tests/gpu/check.sh "$dir/check-gpu"
n=0
ok() { n=$((n + 1)); if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; sed 's/^/# /' "$dir/out"; fi; }
tool() { printf '#!/bin/sh\n%s\n' "$2" > "$dir/$1"; chmod +x "$dir/$1"; }
run() { CHECK_LIMIT=$1 GPULOCW=$dir/none "$dir/check-gpu" fake:0 > "$dir/out" 2>&1; rc=$?; }
says() { grep -q -- "$1" "$dir/out"; }

tool gpu_check 'echo "on $1"'; tool gpu_diff 'echo "$@"'
run 30
[ $rc -eq 0 ] && says '^pass  conformance' && says '^pass  rows' && says '^pass  programs' && says '^skip  hazards' && says '3 passed, 0 failed, 1 skipped' && says '^on fake:0'
ok $? "all pass, and what is left out says so"
tool gpu_check 'exit 3'
tool gpu_diff 'case $1 in --rows) kill -SEGV $$ ;; *) sleep 30 ;; esac'
run 2
[ $rc -eq 1 ] && says '^FAIL  conformance: exit 3' && says '^FAIL  rows: .*segmentation fault' && says '^FAIL  programs: ended by its time limit' && says '0 passed, 3 failed'
ok $? "a step that fails, dies or hangs is told as that, and the others run"
tool gpu_check 'exit 77'
run 30
[ $rc -eq 77 ] && says 'no GPU to check' && ! says '^pass' && ! says '^== programs'
ok $? "no GPU is neither a pass nor a failure"
