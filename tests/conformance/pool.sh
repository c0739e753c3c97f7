#!/bin/bash
# The same sweep gives the same document wherever its points are run: in the program,
# in a worker, behind an ssh-like launcher, in a pool, and in a pool whose second
# worker is killed over and over.
set -u
cd "$(dirname "$0")/../.."
bin=${GPULOCW_BUILD:-build}/gpulocw
case $bin in /*) ;; *) bin=$PWD/$bin ;; esac
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
sweep() { # NAME ARGS...
    local name=$1; shift
    timeout 100 "$bin" sweep kernels/coalescing.ptx --device sim:fermi-16k --threads 1 --json "$@" > "$dir/$name.json" 2> "$dir/$name.err"
}
check() { # NAME WHAT ARGS...
    local name=$1 what=$2; shift 2
    n=$((n + 1))
    if sweep "$name" "$@" && cmp -s "$dir/here.json" "$dir/$name.json"; then
        echo "ok $n - $what"
    else
        { diff "$dir/here.json" "$dir/$name.json" | head -20; cat "$dir/$name.err"; } | sed 's/^/# /'
        echo "not ok $n - $what"
    fi
}
sweep here || { sed 's/^/# /' "$dir/here.err"; echo "not ok 1 - a sweep in the program itself"; exit 1; }
launcher=$PWD/tests/fake/launcher.sh
check worker "in a worker" --worker "$bin worker"
check launcher "behind an ssh-like launcher" --worker "$launcher node $bin worker"
check pool "in a pool of three" --worker "$bin worker" --worker "$launcher node $bin worker" --worker "exec $bin worker"
check dying "in a pool with a worker that keeps dying" --worker "$bin worker" --worker "timeout -s KILL 0.02 $bin worker"
