#!/bin/bash
# capture behind a worker's launcher, on a fake driver: the program runs there, its launches come back.
. tests/tool/tap.sh
B=$(readlink -f "$B") P=$(readlink -f "$GPULOCW_BUILD")/tests/live/captured K=$PWD/tests/live/kernels.ptx
export CUPTI_PATH=${P%/*}/libfake.so TRITON_CACHE_DIR=$T/none GPULOCW_LIVE_WAIT=0.3
unset CUDA_INJECTION64_PATH
test -x "$P" || { echo "Bail out! $P is not built"; exit 1; }
claim() { # NAME CONDITION...
    local name=$1; shift; n=$((n + 1))
    if "$@" >"$T/why" 2>&1; then echo "ok $n - $name"; else echo "not ok $n - $name"; sed 's/^/#   /' "$T/why" "$T/err" | tail -4; bad=1; fi
}
take() { # FOLDER LAUNCHER CASE OPTION...
    local to=$1 launcher=$2 c=$3; shift 3
    "$B" capture -o "$T/$to" --worker "$launcher" "$@" -- "$P" "$c" "$K" > "$T/out" 2>"$T/err"; rc=$?
}
there="env --chdir=$T/there TMPDIR=$T/there $B worker"
mkdir "$T/there"
"$B" capture -o "$T/here" -- "$P" plain "$K" > "$T/alone" 2>&1
take back "$there" plain
claim "the program's exit status" test $rc -eq 4
claim "its output" grep -qx done "$T/out"
claim "the same files as without a launcher" diff -r -x capture.json "$T/here" "$T/back"
claim "the index names them" python3 -c "
import json; k=json.load(open('$T/back/capture.json'))['kernels'][0]; assert k['files']['outputs']=='equal', k"
claim "the folder that is told is the one here" grep -q "in $T/back/scale.launch.json" "$T/out"
claim "the captured kernel runs here, outputs equal" bash -c "'$B' run '$T/back/scale.ptx' > '$T/run' && grep -q '^captured  equal' '$T/run'"
claim "nothing is left there" test -z "$(ls -A "$T/there")"
take back2 "sh -c 'echo Welcome to this host; exec \"\$0\" \"\$@\"' $B worker" plain --nth 3 --json
claim "what a launcher prints first is left out" python3 -c "
import json; t=open('$T/out').read(); k=json.loads(t[t.index('{'):])['kernels'][0]; assert k['files']['nth']==3 and 'Welcome' not in t, t"
take list "$there" plain --list
claim "a survey there" grep -q "1 kernels, 1 with PTX" "$T/out"
claim "a survey makes no folder here" test ! -e "$T/list"
take none "$there" plain -k other
claim "options reach it: only chosen kernels" test ! -e "$T/none/scale.ptx"
take few "$there" plain --max-bytes 16K
claim "options reach it: the limit" grep -q "not trimmed\|not captured" "$T/out"
FAKE_BUSY=39 take profiled "$there" plain
claim "refusals there are told here" grep -q "another profiler uses CUPTI" "$T/out" "$T/err"
take cut "sh -c '\"\$0\" \"\$@\" | head -c 2000; exit 9' $B worker" plain
claim "what is cut off is told" eval 'test $rc -eq 1 && grep -q "ended before all data arrived" "$T/err"'
claim "and leaves no half file" test -z "$(ls "$T/cut" | grep part)"
take bad "sh -c '\"\$0\" \"\$@\" | sed s/done/dome/; exit 0' $B worker" plain
claim "a changed byte is found by its checksum" eval 'test $rc -eq 1 && grep -q "are damaged" "$T/err"'
take gone "false worker" plain
claim "a launcher that starts nothing" eval 'test $rc -eq 1 && grep -q "did not start" "$T/err"'
take gone "$B" plain
claim "a launcher that starts no worker is wrong usage" test $rc -eq 2
take gone "$there" plain --worker "$there"
claim "two launchers are wrong usage" test $rc -eq 2
take gone "$there" plain --max-bytes lots
claim "a limit that is no size is wrong usage, before anything starts" test $rc -eq 2
# What a hostile other end may send: names of files.
frame() { # TYPE PART PAYLOAD-FILE: one frame of request 1
    python3 - "$@" "$version" <<'P'
import struct, sys
def crc(b):
    c = 0xffffffff
    for x in b:
        c ^= x
        for _ in range(8): c = c >> 1 ^ (0x82f63b78 if c & 1 else 0)
    return c ^ 0xffffffff
data = open(sys.argv[3], 'rb').read()
h = b'GLW' + bytes([int(sys.argv[4])]) + struct.pack('<IQQII', int(sys.argv[1]), len(data), 1, int(sys.argv[2]), crc(data))
sys.stdout.buffer.write(h + struct.pack('<I', crc(h)) + data + b'\n')
P
}
version=$(sed -n 's/^#define WIRE_VERSION *//p' engine/dev/worker/wire.h)
printf "GLW\\$(printf %03o "$version")\001\0\0\0\0\0\0\0\0\0\0\0\n" > "$T/greeting"
for name in ../escaped .profile a/b ""; do
    printf 'N%s' "$name" > "$T/name"; printf 'Dabc' > "$T/data"; printf '\4exit\10\0\0\0\0\0\0\0\0\0\0\0' > "$T/zero"
    { cat "$T/greeting"; frame 102 0 "$T/name"; frame 102 1 "$T/data"; frame 100 2 "$T/zero"; } > "$T/sent"
    take named "cat $T/sent; : worker" plain
    claim "a file named '$name' is refused" eval 'test $rc -eq 1 && grep -q "are damaged" "$T/err" && test ! -e "$T/escaped" && test -z "$(ls -A "$T/named")"'
done
printf 'Nscale.ptx' > "$T/name"
{ cat "$T/greeting"; frame 102 0 "$T/name"; frame 102 1 "$T/data"; frame 100 2 "$T/zero"; } > "$T/sent"
take named "cat $T/sent; : worker" plain
claim "frames in order are taken" eval 'test $rc -eq 0 && test "$(cat "$T/named/scale.ptx")" = abc'
{ cat "$T/greeting"; frame 102 0 "$T/name"; frame 102 2 "$T/data"; frame 100 3 "$T/zero"; } > "$T/sent"
take named "cat $T/sent; : worker" plain
claim "a part that is missing is found by its number" eval 'test $rc -eq 1 && grep -q "are damaged" "$T/err"'
exit $bad
