#!/bin/bash
# The line mode: same content, no escape sequences, works in a pipe.
b=${GPULOCW_BUILD:-build}/gpulocw
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
out=$(printf 'set bypass l1\nsweep pi\nbest\nshow valley\nset nosuch 3\nshow messages\nquit\n' | timeout 100 "$b" kernels/stride_4.ptx --plain --device sim:fermi-16k --session "$dir/s.json" 2>&1)
rc=$?
n=0
check() { n=$((n + 1)); if [ "$2" -eq 0 ]; then echo "ok $n - $1"; else echo "not ok $n - $1"; echo "$out" | sed 's/^/# /'; fi; }
check "leaves with 0" $rc
grep -q "16.00 exact" <<< "$out"; check "the coalescing of the kernel is told" $?
grep -qE "^--bypass l1 --pi 2: [0-9.]+ .?s" <<< "$out"; check "points are told as they come" $?
[ "$(grep -cE "^--bypass l1 --pi 2: " <<< "$out")" -eq 1 ]; check "and each once" $?
grep -qE "^  cha +[0-9.]+" <<< "$out"; check "the curve is a table" $?
grep -q "no knob 'nosuch'" <<< "$out"; check "mistakes are said" $?
! grep -q $'\033' <<< "$out"; check "no escape sequences" $?
# A kernel whose loads all go through the read-only cache: command and workbench sweep the same level.
printf '.version 7.0\n.target sm_35\n.address_size 64\n.visible .entry readonly(.param .u64 a, .param .u64 b)\n{\n .reg .b32 %%r<3>; .reg .b64 %%rd<6>;\n ld.param.u64 %%rd1, [a]; ld.param.u64 %%rd2, [b]; mov.u32 %%r1, %%tid.x; mul.wide.u32 %%rd3, %%r1, 4; add.s64 %%rd4, %%rd1, %%rd3; add.s64 %%rd5, %%rd2, %%rd3; ld.global.nc.u32 %%r2, [%%rd4]; st.global.u32 [%%rd5], %%r2; ret;\n}\n' > "$dir/readonly.ptx"
printf '{"format": "gpulocw-launch", "version": 1, "kernel": "readonly", "grid": [8, 1, 1], "block": [256, 1, 1], "args": [{"name": "a", "buffer": "u32", "count": 256, "init": {"iota": [0, 1]}}, {"name": "b", "buffer": "u32", "count": 256, "init": {"fill": 0}, "output": true}]}\n' > "$dir/readonly.launch.json"
out=$(printf 'sweep pi\n' | timeout 100 "$b" "$dir/readonly.ptx" --plain --device sim:kepler-k40 --session "$dir/ro.json" 2>&1; timeout 100 "$b" sweep "$dir/readonly.ptx" --device sim:kepler-k40 --json 2>&1)
[ "$(grep -cE "^--bypass ro --pi 2: " <<< "$out")" -eq 1 ] && grep -q '"bypass": *"ro"' <<< "$out" && ! grep -q "no configuration ran" <<< "$out"; check "a sweep without a level: the engine's, by command and workbench" $?
out=$(printf 'launch grid 8\nsweep bypass-op,coarsen=1/2\nshow valley\nshow runs\n' | timeout 100 "$b" kernels/stride_4.ptx --plain --device sim:fermi-16k --session "$dir/f.json" 2>&1)
grep -qE '^  no_allocate +[0-9.]+ .?s' <<< "$out" && [ "$(grep -cE '^ +[12] sweep bypass-op \([0-9]+\): ' <<< "$out")" -eq 2 ]; check "any option is an axis, and a combination a run" $?
out=$(printf 'show locality\n' | timeout 100 "$b" kernels/coalescing.ptx --plain --device sim:fermi-16k 2>&1)
grep -qE "^  L1, 16.0 KiB: [0-9.]+ % miss" <<< "$out" && grep -qE "^  4 KiB +[0-9.]+ %" <<< "$out" && grep -q "needed for reuse" <<< "$out"; check "all parts of the locality panel are told" $?
out=$(printf 'help\nshow nosuch\nshow counters\n' | timeout 100 "$b" kernels/coalescing.ptx --plain 2>&1)
grep -qE "^sweep \[AXIS" <<< "$out" && grep -q "no panel 'nosuch'; there are source" <<< "$out"; check "help lists the commands, and a wrong panel the panels" $?
grep -q "Memory cost of the current knobs" <<< "$out"; check "what is worked out in the background is waited for" $?
out=$(printf 'kernel fermi\nshow advice\n' | timeout 100 "$b" kernels/valley.ptx --plain --device sim:fermi-16k --session "$dir/v.json" 2>&1)
grep -q "^ Next: " <<< "$out" && ! grep -qE "confidence|recorded" <<< "$out"; check "no gain is promised where none is recorded" $?
out=$(printf 'show advice\nrun\nshow summary\n' | timeout 100 "$b" kernels/transpose.ptx --plain --session "$dir/w.json" 2>&1)
grep -qE "[0-9.]+x to [0-9.]+x in 80 of 100 cases \([0-9]+ recorded" <<< "$out"; check "recorded gains stand in the advice" $?
out=$(printf 'show options\n' | LC_ALL=C timeout 100 "$b" kernels/stride_4.ptx --plain 2>&1)
! LC_ALL=C grep -q $'[\x80-\xff]' <<< "$out"; check "ASCII alone in the C locale" $?

out=$(printf 'show messages\nrun\n' | timeout 100 "$b" tests/heldout/suites/lang.ptx -k l_atomics --plain --session "$dir/k.json" 2>&1)
grep -q " atom  o64 " <<< "$out" && ! grep -q "in + 4" <<< "$out"; check "the kernel asked for" $?
grep -q "float atomics add in any order" <<< "$out"; check "and its float atomics are compared as the commands compare them" $?
out=$(printf 'show summary\nshow valley\n' | timeout 100 "$b" kernels/stride_4.ptx --plain --session "$dir/c.json" 2>&1)
grep -q "not known yet: 'run' runs the original" <<< "$out" && grep -q "'show advice' says why" <<< "$out" && grep -q "'sweep KNOB' varies another knob; 'tune' searches" <<< "$out"; check "what to do next is told in commands, not in keys" $?
out=$(printf 'tune nosuch\nshow runs\n' | timeout 100 "$b" kernels/stride_4.ptx --plain --session "$dir/n.json" 2>&1)
grep -q "no method 'nosuch'" <<< "$out" && ! grep -qE "^ +1 +tune" <<< "$out"; check "a search by no method is no run" $?
cp kernels/valley.ptx "$dir/moved.ptx"; sed 's/"grid": \[[0-9]*/"grid": [64/' kernels/valley.launch.json > "$dir/desc"
out=$(printf 'run\n' | timeout 100 "$b" "$dir/moved.ptx" -l "$dir/desc" -k fermi --worker "$b worker" --plain --session "$dir/l.json" 2>&1)
grep -qE "^note: run 1: [0-9.]+ (m|µ|u|n)?s \(simulated, (whole|sampled)\)" <<< "$out" && grep -q '"grid": \[64' "$dir/l.json"; check "the launch description asked for, behind a worker" $?
! grep -q "no launch description" <<< "$out"; check "and none is missed beside it" $?
out=$(timeout 100 "$b" --plain "$dir/nix.ptx" < /dev/null 2>&1); [ $? -eq 1 ] && grep -q "nix.ptx: cannot open" <<< "$out"; check "a file that is not there is named" $?

out=$(printf 'run\n' | timeout 100 "$b" kernels/stride_4.launch.json --plain --session "$dir/d.json" 2>&1)
grep -qE "^note: run 1: [0-9.]+ (m|µ|u|n)?s \(simulated, (whole|sampled)\)" <<< "$out"; check "a launch description opens its PTX" $?
out=$("$b" demo 2 < /dev/null 2>&1)
grep -q "^Lesson 2: The cache valley" <<< "$out"; check "a lesson is found by its number" $?

out=$(printf 'kernel fermi\nset bypass l1\nset pi 4\nshow options\n' | timeout 100 "$b" kernels/valley.ptx --plain --device sim:fermi-16k 2>&1)
line=$(grep -E '^ gpulocw run ' <<< "$out"); out="$line
$(eval "$b ${line# gpulocw } --repeat 1" 2>&1)"
grep -q "^options   --bypass l1 --pi 4" <<< "$out" && grep -q "^outputs   equal" <<< "$out" && grep -q -- "-k fermi -d sim:fermi-16k" <<< "$out"; check "what is chosen stands as a command, which runs" $?
out=$(printf 'kernel fermi\nlaunch grid 8\nshow options\n' | timeout 100 "$b" kernels/valley.ptx --plain --device sim:fermi-16k 2>&1)
grep -q "writes the launch, which no file has as it is here" <<< "$out"; check "and says when a launch that was changed is in no file" $?
out=$(printf 'show coalesce\nrun\nshow coalesce\n' | timeout 100 "$b" kernels/bfs.ptx --plain --session "$dir/b.json" 2>&1)
grep -qE "^ +75 .* 4[0-9]\.[0-9] % {9,}load  visited" <<< "$out" && grep -qE "^ +75 .* [67][0-9]\.[0-9] % +[12][0-9]\.[0-9] %  load  visited" <<< "$out" && grep -qE "past L1 +L1 hit  access \(simulated\)" <<< "$out"; check "each load's traffic, by the analysis and by a run" $?
out=$(printf 'run\nopen kernels/coalescing.ptx\nrun\nopen kernels/stride_4.ptx\nrun\n' | timeout 100 "$b" kernels/stride_4.ptx --plain --session "$dir/o.json" 2>&1)
times=$(python3 -c "import json, sys; print(*[r['result']['time_ns']['median'] for r in json.load(open(sys.argv[1]))['runs']])" "$dir/o.json" 2>&1)
grep -qE "^note: run 3: " <<< "$out" && [ "$(cut -d' ' -f1 <<< "$times")" = "$(cut -d' ' -f3 <<< "$times")" ] && [ "$(cut -d' ' -f1 <<< "$times")" != "$(cut -d' ' -f2 <<< "$times")" ]; check "a run gives the same whatever ran before it" $?
out=$(printf 'run\nset prefetch l1\nrun\nshow runs\n' | timeout 100 "$b" kernels/reduction.ptx --plain --device sim:fermi-16k --session "$dir/like.json" 2>&1)
grep -qE "^ +1 original +[0-9.]+ µs whole" <<< "$out" && grep -qE "^ +2 --prefetch l1 +[0-9.]+ µs whole +0\.[0-9]+x" <<< "$out"; check "after a whole run of the original a rewritten kernel is timed whole, too, so that a gain is told" $?
