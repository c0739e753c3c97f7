#!/bin/bash
# What the figures on the screen say of themselves: samples are marked, axes have round ticks that are read whole, nothing
# of the help is cut, and pasted text is text in every prompt.
. "$(dirname "$0")/tmux.bash"
fermi="kernels/valley.ptx -k fermi -d sim:fermi-16k"
h200="kernels/valley.ptx -d sim:hopper-h200"

# times from a sample of the CTAs say so wherever they stand, and are not set against whole launches
begin 80x24 $h200 --session "$dir/s.json"; shows ld.global; text ":sweep bypass=none/l1"; keys Enter
shows "^ bypass .* simulated, sampled"; check "the point under the cursor says that it is from a sample" $?
shows "run 1: .* \(sampled\)"; check "and so does the line of the finished run" $?
keys 6; shows "result .* \(sampled\)"; check "and the counters" $?
keys 7; shows "^ +1 sweep.* µs sampled "; check "and the list of runs" $?
text ":tune search 3"; keys Enter; shows "run 2: [0-9]"; keys 8; shows "^ Best so far: [0-9.]+x faster" && has "\(run [12], sampled, outputs equal\)"; check "a best that is from a sample says so" $?
text "/configuration"; keys Enter; shows ", some sampled" && shows "µs sampled +[0-9.]+x"; check "the table of a search marks the samples" $?
text ":launch grid 8"; keys Enter; gone "^ :launch"; keys r; shows "run 3: [0-9.]+ µs \(whole\), the original"; keys 7; shows "^ +3 original"
text "g"; keys Space; until_true has "^A +1 "; keys j j Space; shows "A run 1, .* sampled +against +B run 3, .* whole" && shows "times of different kinds"; check "a sample and a whole launch are not compared" $?

# every row of the valley says in words what its times are from: the axis, the verdict, the point, both ends
rows() { # KIND: sampled or whole
    shows "less is better \(simulated, $1\)"; check "$1: the axis says so" $?
    shows "(faster than|no threshold|leave it|no single|cache everything|bypass everything).*" && until_true valley_tells "\($1\)"; check "$1: the verdict says so" $?
    shows " π [0-9]+ +[0-9.]+ µs simulated, $1"; check "$1: the point under the cursor says so" $?
    shows "all bypass \(bpa\) +[0-9.]+ µs simulated, $1" && shows "all cache \(cha\) +[0-9.]+ µs simulated, $1"; check "$1: and all bypass and all cache" $?
    keys Left; shows " π [0-9]+ +[0-9.]+ µs simulated, $1"; check "$1: and the point beside it" $?
}
valley_tells() { screen | tr '\n' ' ' | tr -s ' │┃' ' ' | grep -qE "bypassing all $1|beats it $1|caching all $1|noise \([0-9.]+ %\) $1"; }
begin 200x60 $h200 --session "$dir/vs.json"; shows ld.global; keys 5 s; shows "run 1: .*\(sampled\)"; rows sampled
begin 200x60 $fermi --session "$dir/vw.json"; shows ld.global; keys 5 s; shows "run 1: .*\(whole\)"; rows whole

# nor are two kernels, or two launches of one; a curve of another device is laid over the first against one base
begin 80x24 $fermi --session "$dir/k.json"; shows ld.global; keys r; shows "run 1: [0-9]"; text ":launch grid 32"; keys Enter; gone "^ :launch"; keys r; shows "run 2: [0-9]"
text ":open kernels/stride_4.ptx"; keys Enter; shows "stride_4.ptx"; keys r; shows "run 3: [0-9]"
keys 7 g Space; until_true has "^A +1 "; keys j Space; shows "two launches: not compared"; check "two launches are not compared" $?
keys Space j Space; shows "B run 3, " && shows "two kernels: not compared"; check "two kernels are not compared" $?
begin 80x24 demo 4; shows "No sweep yet"; keys 4 G; shows "^ +grid +30 x"; keys 5 s; shows "^ cache-congested"; text ":device sim:fermi-48k"; keys Enter; gone "^ :device"; keys s; shows "^ cache-favourite"; keys c
shows "speed against all cache of A"; check "an overlay has one base" $?
begin 80x24 demo 6; shows "step 1 of"; text ":set cluster agent"; keys Enter; text ":set index column"; keys Enter; text ":sweep agents=1/2"; keys Enter; shows "^ best along agents" && shows "^ +[0-9.]+ µs ┤"; check "a sweep without a base is drawn in time where speed is asked for" $?

# keys: a lesson's own are not offered for the panel, an Enter without use says what the step waits for, and the
# options' cursor goes to what :set sets
enters() { [ "$(screen | tail -1 | grep -o Enter | wc -l)" -eq 1 ]; }
begin 80x24 demo 1; shows "step 1 of"; keys 4; shows "^ Enter next step .*change" && enters; check "keys that a lesson takes are not offered for the panel" $?
keys Enter; shows "step 2 of"; keys 7; shows "Nothing has been run yet"; keys Enter; shows "^ Not done yet: the coalesce panel is not in front"; check "an Enter without use says what the step waits for" $?
begin 80x24 $fermi; shows ld.global; keys 4; shows "▸ CTA clustering and throttling: cluster index clusters agents"; text ":set clusters 4"; keys Enter; shows "clusters +4 "; keys Enter; shows "^ clusters = 4"; check "the options' cursor goes to the knob that :set sets" $?
escape; keys 1 g; shows "^ share: of all traffic .*: loads$"; check "the legend of the source is whole at 80 columns" $?
begin 80x24 tests/terminal/lines/lines.ptx -d sim:ampere-a100; shows ld.global; keys j; shows "^ degree: 100 % when .*next load$"; check "and so is that of CUDA lines" $?

# axes
ticks() { screen | grep -oE "^ *[0-9.]+( [µmn]s| [KMG]?i?B|x| %) ┤" | sed 's/ *┤//; s/^ *//'; }
two() { [ "$(ticks | wc -l)" -ge 2 ]; }
round() { [ -n "$(ticks)" ] && ! ticks | grep -qvE "^(1|2|5)0*(\.0*)?( .*|x)$"; } # 1, 2 or 5 times a power of ten
begin 80x24 $fermi --session "$dir/f.json"; shows ld.global; text ":tune"; keys Enter; shows "● sample +◆ whole +━ fastest so far"; check "a search with both kinds of time has a sign for each" $?
keys x; shows "time, logarithmic"; until_true two && round; check "a logarithmic axis has ticks at 1, 2, 5 and their tens" $?
# DRAM bytes that hardly differ
begin 80x24 $h200 --session "$dir/d.json"; shows ld.global; text ":launch grid 64"; keys Enter; text ":sweep pi=0/3/16"; keys Enter; shows "run 1: [0-9]"
for metric in time speed hits dram; do
    for scale in linear logarithmic; do
        text ":metric $metric"; keys Enter; gone "^ :metric"; two && ! screen | grep -qE "^[0-9]"; check "$metric, $scale: two ticks at least, each read whole" $?
        keys o
    done
done

# help, opened over every panel
for panel in 1 2 3 4 5 6 7 8 9 S U A; do
    keys $panel; keys '?'; shows "─ Help: "; screen > "$dir/help"; keys NPage; sleep 0.3; screen >> "$dir/help"; keys q; gone "─ Help: "
    [ "$(grep -c "panel" "$dir/help")" -ge 1 ] && ! grep -q "…" "$dir/help"; check "help of panel $panel: nothing is cut at 80 columns" $?
done

# a paste is text in each prompt: find, command, a knob's value, a note, a filter, the questions of a guess
printf 'q1\nQ2\tx' | tm load-buffer -
pasted() { tm paste-buffer -p -t s; shows "$1q1 Q2 x"; check "pasted text is text in the prompt $2" $?; escape; }
keys 1 /; shows "^ /"; pasted "^ /" "of a search"
keys :; shows "^ :"; pasted "^ :" "of a command"
text ":set pi 4"; keys Enter; gone "^ :set"; keys 4 Enter; shows "Enter accept"; pasted " = .*" "of a value"
keys 7 e; shows "^ note"; pasted "^ note: " "of a note"
keys f; shows "^ show runs with"; pasted "^ show runs with: " "of a filter"
cp kernels/coalescing.ptx "$dir/c.ptx"
begin 80x24 "$dir/c.ptx" -d sim:fermi-16k; shows ld.global; keys r; shows "^ threads of a block"; keys C-u; pasted "= " "of a guess"

# results that could not be saved are asked about: where the folder of the session was, there is a file
mkdir "$dir/gone"; begin 80x24 $fermi --session "$dir/gone/s.json"; shows ld.global; rm -r "$dir/gone"; : > "$dir/gone"; keys r; shows "s\.json \*"; gone "x stops"; sleep 1; keys q
shows "could not be saved: q again discards them, :save FILE saves them" && [ ! -s "$dir/rc" ]; check "q asks when results could not be saved" $?
text ":save $dir/kept.json"; keys Enter; written "$dir/kept.json"; shows "further results go to this file"; keys r; shows "run 2: [0-9]"; keys q; ends
[ "$(python3 -c "import json, sys; print(len(json.load(open(sys.argv[1]))['runs']))" "$dir/kept.json")" = 2 ]; check "and :save keeps them, and what comes after, elsewhere" $?

# a lesson about speed draws speed: its peak is the top of the curve
begin 80x24 demo 2; shows "step 1 of"; text ":sweep pi"; keys Enter; shows "π=8 cache peak"; shows "^ +[0-9.]+x ┤"; check "in a lesson the metric is speed" $?
peak=$(screen | grep -nE "◉|●" | head -1 | cut -d: -f1); at=$(line_of "π=8 cache peak")
[ $((peak - at)) -ge -1 ] && [ $((peak - at)) -le 1 ]; check "and its peak is at the top" $?
echo "1..$n"
