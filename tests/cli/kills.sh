#!/bin/bash
# A sweep, a search and the workbench, killed (SIGKILL) again and again and gone on with: no point that was kept is lost, and the end is what
# an undisturbed run gives. KILLS=200 for the campaign. Then a file that cannot grow, and standard output that takes nothing.
. tests/tool/tap.sh
kills=${KILLS:-20}
S="sweep kernels/coalescing.ptx --device sim:kepler-k80 --axis pi,carveout=0/50/100,bypass-op=cg/cs --json"
# The points of a session and of its journal, read as docs/reference/session.md has it and by no code of the program.
points() { python3 tests/tool/session_points.py "$1"; }
# campaign NAME RUN: RUN (which writes $T/s.json, and goes on with it where it is there) is killed at random moments until KILLS have hit it.
campaign() {
    local name=$1 run=$2 done=0 failed=0 lost=0 broken=0 most=0 journals=0 from took p c
    rm -f "$T"/s.json*; from=$(date +%s%N); ($run) > "$T/out" 2>"$T/err"; took=$(( ($(date +%s%N) - from) / 1000000 ))
    points "$T/s.json" > "$T/ref.points"; rm -f "$T"/s.json*; : > "$T/had"
    while [ $done -lt "$kills" ]; do
        $run > "$T/out" 2>"$T/err" & p=$!
        sleep "$(awk -v r=$RANDOM -v t=$took 'BEGIN { print r / 32768 * t / 1000 * 0.7 }')"
        if kill -KILL $p 2>/dev/null; then done=$((done + 1)); fi
        wait $p 2>/dev/null; c=$?
        if [ $c -ne 0 ] && [ $c -ne 137 ] || grep -q '^error' "$T/out" "$T/err"; then failed=$((failed + 1)); grep -h "^error" "$T/out" "$T/err" | sort -u | sed "s|^|# exit $c: |"; fi
        [ -e "$T/s.json.journal" ] && journals=$((journals + 1))
        if [ -e "$T/s.json" ]; then
            if points "$T/s.json" > "$T/now" 2>>"$T/err"; then
                [ -n "$(comm -23 "$T/had" "$T/now")" ] && lost=$((lost + 1))
                cp "$T/now" "$T/had"
            else broken=$((broken + 1)); fi
        fi
        c=$(grep -c . "$T/had"); [ "$c" -gt $most ] && most=$c
        if [ "$c" -eq "$(grep -c . "$T/ref.points")" ]; then rm -f "$T"/s.json*; : > "$T/had"; fi     # whole: from the beginning
    done
    [ $lost -eq 0 ] && ok "$name, $done kills: no point was lost" || no "$name, $done kills: no point was lost" "$lost times"
    [ $broken -eq 0 ] && ok "$name: session and journal are whole after each" || no "$name: session and journal are whole after each" "$broken times not" "$(tail -3 "$T/err")"
    [ $failed -eq 0 ] && ok "$name: all that was not killed ended well" || no "$name: all that was not killed ended well" "$failed times not"
    [ $most -gt 0 ] && ok "$name: there was something to lose" || no "$name: there was something to lose"
    echo "# $name: a journal was there after $journals kills"
    [ "$(find "$T" -name '*.tmp' | wc -l)" -le "$done" ] && ok "$name: no more files are left than runs were killed" || no "$name: no more files are left than runs were killed"
    find "$T" -name '*.tmp' -delete
}
resume() { [ -s "$T/s.json" ] && echo "--resume $T/s.json"; }
sweep() { exec "$B" $S $(resume) -o "$T/s.json"; }
tune() { exec "$B" tune kernels/coalescing.ptx --device sim:kepler-k80 --budget 60 --method exhaustive --json $(resume) -o "$T/s.json"; }
# The workbench in a session of 2 MB: the sweep's own run many times over, then sweeps that the kill hits.
printf 'open %s\nsweep pi\nsweep carveout=0/25/50/75/100\nquit\n' "$T/s.json" > "$T/keys"
bench() {
    [ -s "$T/s.json" ] || cp "$T/large.json" "$T/s.json"
    exec "$B" kernels/coalescing.ptx --plain --device sim:kepler-k80 < "$T/keys"
}
"$B" $S -o "$T/ref.s.json" > "$T/ref.json" 2>"$T/err"; points "$T/ref.s.json" > "$T/ref.points0"
campaign sweep sweep
"$B" $S $(resume) -o "$T/s.json" > "$T/out.json" 2>"$T/err"
cmp -s "$T/ref.json" "$T/out.json" && ok "the document is that of an undisturbed run" || no "the document is that of an undisturbed run" "$(diff "$T/ref.json" "$T/out.json" | head -5)"
[ -e "$T/s.json.journal" ] && no "a finished run leaves no journal" || ok "a finished run leaves no journal"
campaign tune tune
python3 -c "
import json, sys
d = json.load(open(sys.argv[1]))
d['runs'] = d['runs'] * (2000000 // len(json.dumps(d['runs'])) + 1)
json.dump(d, open(sys.argv[2], 'w'))" "$T/ref.s.json" "$T/large.json"
campaign "workbench in a session of $(stat -c %s "$T/large.json") bytes" bench
cp "$T/ref.points0" "$T/ref.points"

# A file that may not grow beyond some kilobytes: what was kept stays, the document is printed whole, and exit 1 says so.
"$B" $S -o "$T/full.json" > /dev/null 2>&1; size=$(( $(stat -c %s "$T/full.json") / 2048 ))
rm -f "$T/full.json"
( ulimit -f $size; exec "$B" $S -o "$T/full.json" ) 2>"$T/err" | cat > "$T/out.json"; rc=${PIPESTATUS[0]}
is "a file that cannot grow: exit 1" "$rc" 1
has "it says what the file holds" "full.json.*has [0-9]+ of [0-9]+ finished points" "$(tr '\n' ' ' < "$T/err")"
points "$T/full.json" > "$T/now" 2>>"$T/err" && [ -s "$T/now" ] && [ -z "$(comm -23 "$T/now" "$T/ref.points")" ] && ok "the file holds what had fitted" || no "the file holds what had fitted" "$(tail -3 "$T/err")"
cmp -s "$T/ref.json" "$T/out.json" && ok "the document is printed whole" || no "the document is printed whole"
"$B" $S --resume "$T/full.json" -o "$T/full.json" > "$T/out.json" 2>"$T/err"
cmp -s "$T/ref.json" "$T/out.json" && ok "and is gone on with where there is room" || no "and is gone on with where there is room"
find "$T" -name '*.tmp' | grep -q . && no "no file is left beside it" || ok "no file is left beside it"

# Standard output that takes nothing.
K="kernels/stride_32.ptx --device sim:fermi-48k"
full() { "$B" "$@" > /dev/full 2>"$T/err"; [ $? -eq 1 ] && grep -q "cannot write all of" "$T/err" && ok "$1 to a full disk" || no "$1 to a full disk" "$(cat "$T/err")"; }
full analyze kernels/stride_32.ptx --json; full run $K --json; full sweep $K --json; full tune $K --budget 2 --json
full devices --json; full predict $K --bypass l1 --json; full report "$T/full.json" --format json; full help; full report "$T/full.json" --format html
"$B" devices --json 2>"$T/err" >&- ; is "a closed standard output" $? 1
( "$B" run $K --json 2>"$T/err"; echo $? > "$T/rc" ) | true; is "a document whose reader has gone" "$(cat "$T/rc")" 1
exit $bad
