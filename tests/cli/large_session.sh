#!/bin/bash
# Large sessions: what replaying and reporting them takes grows with their text and by nothing else; the workbench makes the last runs of
# one, says of how many, and goes on with it. A session in the file that --session names is gone on with, not written over.
. tests/tool/tap.sh
if grep -qa __asan_init "$B" || grep -qa __tsan_init "$B"; then echo "1..0 # SKIP a sanitizer's shadow is memory too"; exit 0; fi
K="kernels/coalescing.ptx --device sim:kepler-k80"
"$B" run $K -o "$T/run.json" > /dev/null 2>&1; "$B" sweep $K --axis pi -o "$T/sweep.json" > /dev/null 2>&1
"$B" tune $K --budget 60 -o "$T/tune.json" > /dev/null 2>&1
for k in run sweep tune; do python3 tests/tool/big_session.py "$T/$k.json" 12 "$T/$k.big.json" > /dev/null; done
runs() { python3 -c "import json, sys; print(len(json.load(open(sys.argv[1]))['runs']))" "$1"; }
# took INPUT COMMAND...: processor seconds and peak MB, in $T/took; what it prints in $T/out
took() {
    local in=$1; shift
    python3 - "$T" "$in" "$@" <<'PY'
import resource, subprocess, sys
t, given, command = sys.argv[1], sys.argv[2], sys.argv[3:]
with open(t + "/out", "wb") as out, open(t + "/err", "wb") as err, open(given, "rb") as inp:
    rc = subprocess.run(command, stdin=inp, stdout=out, stderr=err).returncode
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print(rc, "%.2f" % (r.ru_utime + r.ru_stime), r.ru_maxrss // 1024, file=open(t + "/took", "w"))
PY
    read -r rc cpu mb < "$T/took"
}
# On an idle machine 12 MB take 0.2 s; what is worked out again for each run took fifteen times that.
for k in run sweep tune; do
    took /dev/null "$B" replay "$T/$k.big.json"
    is "replay of $k: exit 0" "$rc" 0
    is "and every run" "$(grep -c '^== run' "$T/out")" "$(runs "$T/$k.big.json")"
    [ "$mb" -le 80 ] && ok "in at most 80 MB" || no "in at most 80 MB" "$mb MB"
    awk "BEGIN { exit !($cpu < 1.2) }" && ok "in less than 1.2 s of a processor" || no "in less than 1.2 s of a processor" "$cpu s"
    took /dev/null "$B" report --format csv "$T/$k.big.json"
    [ "$rc" -eq 0 ] && [ "$mb" -le 90 ] && ok "report of $k in at most 90 MB" || no "report of $k in at most 90 MB" "exit $rc, $mb MB"
done
# The workbench: what it has made of a session stays below a limit, and the list says what it shows.
for k in run sweep tune; do
    had=$(runs "$T/$k.big.json")
    printf 'open %s\nrun\nshow runs\nquit\n' "$T/$k.big.json" > "$T/keys"
    took "$T/keys" "$B" $K --plain
    said=$(grep -oE "The last [0-9]+ of [0-9]+ runs" "$T/out")
    [ "$mb" -le 140 ] && ok "workbench, $k: at most 140 MB" || no "workbench, $k: at most 140 MB" "$mb MB"
    has "the new run is there, by its number in the session" "^ +$((had + 1)) original" "$(cat "$T/out")"
    is "kept, and no other is lost" "$(runs "$T/$k.big.json")" $((had + 1))
    listed=$(grep -cE "^ +[0-9]+ (original|sweep|search)" "$T/out")
    if [ "$listed" -eq $((had + 1)) ]; then is "all are listed: nothing is said" "x$said" x; else is "the list says of how many" "$said" "The last $listed of $((had + 1)) runs"; fi
done
python3 tests/tool/big_session.py "$T/run.json" 40 "$T/run.huge.json" > /dev/null
grep -q "The last" <<< "$(printf 'open %s\nshow runs\nquit\n' "$T/run.huge.json" | "$B" $K --plain 2>&1)" && ok "a list that is not whole was seen" || no "a list that is not whole was seen"
# Another text, the same file: runs from before are told apart, also those that are not made.
printf 'run\nquit\n' > "$T/keys"
had=$(runs "$T/run.big.json")
took "$T/keys" "$B" kernels/stride_4.ptx --device sim:kepler-k80 --plain --session "$T/run.big.json"
is "--session of a kept session goes on with it" "$(runs "$T/run.big.json")" $((had + 1))
is "runs of the earlier text are marked" "$(python3 -c "
import json, sys
print(sum(r.get('earlier_text', False) for r in json.load(open(sys.argv[1]))['runs']))" "$T/run.big.json")" "$had"
[ "$mb" -le 140 ] && ok "in at most 140 MB" || no "in at most 140 MB" "$mb MB"
cp "$T/sweep.json" "$T/same.json"
took "$T/keys" "$B" $K --plain --session "$T/same.json"
is "of the same text: both runs, none marked" "$(runs "$T/same.json") $(grep -c '"earlier_text": true' "$T/same.json")" "2 0"
echo '{"mine": 1}' > "$T/mine.json"
took "$T/keys" "$B" $K --plain --session "$T/mine.json"
has "a file that is no session: refused" "mine.json holds something else than a session: name another file" "$(cat "$T/out" "$T/err")"
is "and stays as it is" "$(cat "$T/mine.json")" '{"mine": 1}'
exit $bad
