#!/bin/sh
# The table of tests/gpu/accuracy.py from records made by hand: every figure by hand, too.
dir=$(mktemp -d); trap 'rm -rf "$dir"' EXIT
about() { echo "{\"about\":{\"device\":\"GPU\",\"spec\":\"$1\",\"kind\":\"$2\",\"version\":\"v\",\"date\":\"d\"}}"; }
run() { echo "{\"kind\":\"$1\",\"suite\":\"linear\",\"kernel\":\"$2\",\"time_ns\":$3,\"outputs\":{},\"counters\":{\"l1.sectors_per_request\":4,\"l2.hit_rate\":$4}}"; }
curve() { echo "{\"kind\":\"$1\",\"suite\":\"linear\",\"kernel\":\"trsv_step\",\"curve\":[[\"bpa\",$2],[\"1\",$3],[\"cha\",$4]],\"category\":\"$5\"}"; }
# trsv_step, lu_update, gauss_jordan: the first, third and fifth kernel, of the development half
{ about cuda:0 measured; run run trsv_step 100 50; run run lu_update 200 50; run run gauss_jordan 400 50; run agents trsv_step 200 0; run recommend trsv_step 50 0; curve pi 100 110 120 a; } > "$dir/gpu"
{ about sim:x simulated; run run trsv_step 100 50; run run lu_update 400 60; run run gauss_jordan 400 50; run agents trsv_step 50 0; curve pi 120 110 100 a; } > "$dir/sim"
out=$(python3 tests/gpu/accuracy.py table "$dir/gpu" "$dir/sim" --half development)
n=0 bad=0
has() { n=$((n + 1)); if printf '%s\n' "$out" | grep -qF -- "$1"; then echo "ok $n - $1"; else echo "not ok $n - $1"; printf '%s\n' "$out" | sed 's/^/# /'; bad=1; fi; }
has "| time within 25 % | 2 of 3 | n/a |"
has "| geometric mean of the ratio of times | 1.26 | n/a |"
has "| worst ratio of times | 2.00 (lu_update) | n/a |"
has "| sectors per request equal | 3 of 3 | n/a |"
has "| L2 hit rate | 3.33 points, worst 10; 2 of 3 within 5 | n/a |"
has "| curves that move by 5 %: rank of at least 0.9 | 0 of 1; mean -1.00 | n/a |"
has "| category of the curve | 1 of 1 | n/a |"
has "| cost at the predicted best π (what the verdict names): at most 5 % | 0 of 1; worst 20.0 % | n/a |"
has "| agents by column | same sign 0 of 1; correlation n/a; geometric mean on the GPU 0.50, simulated 2.00 | – |"
has "| tune's advice without a GPU, run on the GPU | 2.000x geometric mean of 1; 1 gain more than 5 %, 0 lose more than 3 %; worst 2.00; 0 with other outputs | – |"
# Agents: the original timed beside them counts, not the one of another minute; simulated, whole launches and not samples.
{ cat "$dir/gpu"; run agents lu_update 100 0 | sed 's/}$/,"original_ns":300}/'; } > "$dir/beside"
{ cat "$dir/sim"; run agents lu_update 900 0 | sed 's/}$/,"whole_original_ns":600,"whole_ns":200}/'; } > "$dir/whole"
out=$(python3 tests/gpu/accuracy.py table "$dir/beside" "$dir/whole" --half development)
has "| agents by column | same sign 1 of 2; correlation n/a; geometric mean on the GPU 1.22, simulated 2.45 | – |"
out=$(python3 tests/gpu/accuracy.py table "$dir/sim" "$dir/sim")
has "The first record is of a simulated device: no figure below is about a GPU."
has "No field of a preset: fewer than 10 kernels are recorded."
# Eleven kernels, GPU over simulated 0.9, 1.0 ... 1.9: the second of twelve places from each end is at 1/10, with the ends 2/10 further in.
: > "$dir/gpu"; : > "$dir/sim"
t=900
for k in trsv_step trsm_small lu_update chol_update gauss_jordan gemv_trans gemv_warp ger dgemm_naive mm_tile16 tridiag; do
    run run $k $t 50 >> "$dir/gpu"; run run $k 1000 50 >> "$dir/sim"; t=$((t + 100))
done
out=$(python3 tests/gpu/accuracy.py table "$dir/gpu" "$dir/sim")
has "| an ordinary kernel | 11 | 0.92 to 1.88 | 9 of 11 (82 %) | n/a |"
has "spread_plain_low 0.919, spread_plain_high 1.880"
has "| agents by column | 0 | n/a | n/a | n/a |"
# Side by side: sets of other launches, what was drawn, exact runs, intervals, the model's commit.
other() { echo "{\"kind\":\"$1\",\"suite\":\"app/$2\",\"kernel\":\"k\",\"time_ns\":$3,\"interval\":[$4,$5],\"outputs\":{},\"counters\":{}}"; }
{ about cuda:0 measured | sed 's/}}$/,"drawn":[2,7,9]}}/'; other run a 100 0 0; other run b 200 0 0; } > "$dir/gpu"
{ about sim:x simulated | sed 's/}}$/,"model":"abc"}}/'; other run a 110 90 120; other run b 100 90 120; other exact a 100 90 120; } > "$dir/sim"
out=$(python3 tests/gpu/accuracy.py tables own="$dir/gpu,$dir/sim" public="$dir/gpu,$dir/sim" --each)
has "public: sim:x (v, d; model of commit abc) against GPU (d); 2 drawn by seed 7 from 9"
has "| time within 25 % | 1 of 2 | 1 of 2 |"
has "| sampled within 5 % of exact | 0 of 1; worst 1.10 | 0 of 1; worst 1.10 |"
has "| intervals that hold the GPU's time | 1 of 2 | 1 of 2 |"
has "| app/b/k | 0.20 | 0.10 | 0.50 | n/a | n/a, n/a | n/a, n/a |"
# A draw: the same by the same seed, at most two of a folder.
drawn() { python3 -c "import sys; sys.dont_write_bytecode = True; sys.path.insert(0, 'tests/gpu'); import launch_files as l; print(*(k for k, _ in l.draw([('%s/%d' % (p, i), 'k') for p in 'abc' for i in range(5)], 9, $1)), sep='\n')"; }
out="$(drawn 1 | grep -c a/) $(drawn 1 | grep -c /) $([ "$(drawn 1)" = "$(drawn 1)" ] && echo same) $([ "$(drawn 1)" = "$(drawn 2)" ] || echo other)"
has "2 6 same other"
exit $bad
