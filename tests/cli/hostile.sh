#!/bin/sh
# Files of strangers: no control character of theirs comes out, they read and write nothing they should not.
B=${BUILD:-build}
G=$(cd "$(dirname "$B/gpulocw")" && pwd)/gpulocw
K=$(cd kernels && pwd)
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
cd "$T" || exit 1
n=0
check() { # condition's status, what
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; sed 's/^/#   /' out 2>/dev/null | cat -v | head -5; bad=1; fi
}
bad=0
python3 - "$K" << 'P'
import json, sys
# ESC, BEL, CR in a line, C1 as UTF-8 and as a byte, DEL, a bidi override and isolate, a byte that is no UTF-8
evil = b"\x1b]0;OWNED\x07\x1b[31m mid\rline \xc2\x9b31m \x9b \x7f \xe2\x80\xae \xe2\x81\xa6 \xff"
text = open(sys.argv[1] + "/stride_4.ptx", "rb").read()
lines = text.split(b"\n")
open("e.ptx", "wb").write(b"\n".join([lines[0]] + [b"// " + evil] + [l + (b" // " + evil if b"ld.global" in l else b"") for l in lines[1:]]))
open("bad.ptx", "wb").write(text.replace(b"ld.global.f32", b"ld.globle.f32 /* " + evil + b" */"))
d = json.load(open(sys.argv[1] + "/stride_4.launch.json"))
d["ptx"] = "e.ptx"
word = evil.replace(b"\x9b ", b"").replace(b"\xff", b"").decode("utf-8", "ignore")
d["name"] = "=1+" + word
for a in d["args"]: a["name"] += word
json.dump(d, open("e.launch.json", "w"))
json.dump(dict(d, **{"odd" + word: 1}), open("odd.launch.json", "w"))
d["args"][0]["init"] = {word: 1}
json.dump(d, open("init.launch.json", "w"))
json.dump({"format": "gpulocw-preset" + word, "version": 1, "name": word, "title": word}, open("p.json", "w"))
json.dump({"format": "gpulocw-session", "major": 1, "minor": 0, "kernel": word, "lesson": {"title": word, "file": word}}, open("l.json", "w"))
P
cat > clean.py << 'P'
import sys, unicodedata
b = open(sys.argv[1], "rb").read()
try: t = b.decode("utf-8")
except UnicodeDecodeError as e: sys.exit("no UTF-8: %s" % e)
for c in t:
    if c not in "\n\t" and (unicodedata.category(c) in ("Cc", "Cf") or c in "\u2028\u2029"): sys.exit("U+%04X" % ord(c))
P
clean() { # command ...: its output holds no control character
    timeout 60 "$G" "$@" > out 2>&1
    test -s out && python3 clean.py out >> out 2>&1
    check $? "no control character: $*"
}
clean analyze e.ptx
clean analyze e.ptx --json
clean analyze bad.ptx
clean run e.ptx
clean run e.ptx --json
clean run e.ptx --launch init.launch.json
clean run e.ptx --launch odd.launch.json
clean run e.ptx --device ./p.json
clean sweep e.ptx --axis pi -o s.json
clean rewrite e.ptx --bypass l1 --pi 1 --diff
clean rewrite e.ptx --bypass l1 --pi 1 --json
for f in md csv svg html json; do clean report s.json --format $f; done
clean replay s.json --plain
clean report l.json
clean run "$(printf 'no\033[31msuch\302\233.ptx')"
timeout 60 "$G" rewrite e.ptx --bypass l1 --pi 1 > out 2> err
grep -q "$(printf '\033]0;OWNED')" out; check $? "PTX in a pipe is exact"

# Data files
cp "$K/stride_4.ptx" d.ptx; mkdir in; printf '%32768s' '' > in/a.bin; printf '%32768s' '' > outside.bin; mkfifo in/pipe; ln -s ../outside.bin in/link; cp d.ptx in/
launch() { python3 - "$K" "$1" << 'P'
import json, sys
d = json.load(open(sys.argv[1] + "/stride_4.launch.json")); d["ptx"] = "d.ptx"; d["args"][0]["init"] = {"file": sys.argv[2]}
json.dump(d, open("in/d.launch.json", "w"))
P
}
for f in ../outside.bin "$T/outside.bin" link pipe /dev/zero /proc/self/environ .; do
    launch "$f"
    timeout 20 "$G" run in/d.ptx > out 2>&1; rc=$?
    test $rc -eq 1 && grep -q 'in/d.launch.json:[0-9]*:[0-9]*: error.*\[launch-file\]' out; check $? "refused where it stands: $f"
done
launch a.bin; timeout 60 "$G" run in/d.ptx > out 2>&1; check $? "inside the folder"
launch ../outside.bin; timeout 60 "$G" run in/d.ptx --allow-files > out 2>&1; check $? "outside with --allow-files"
launch pipe; timeout 20 "$G" run in/d.ptx --allow-files > out 2>&1; test $? -eq 1; check $? "a pipe is refused with --allow-files too"

# Sessions: data files below the session's folder only; tables hold no formula
python3 - "$K" << 'P'
import copy, json
d = json.load(open("s.json")); r = d["runs"][0]
r["device"]["spec"] = "--cmd|' /C calc'!A0"; r["kernel"] = "=1+1"; json.dump(d, open("csv.json", "w"))
for sign in "+-@": r["device"]["spec"] = sign + "SUM(1)"; json.dump(d, open("csv%d.json" % "+-@".index(sign), "w"))
d = json.load(open("s.json")); d["ptx"]["path"] = "in/d.ptx"
for name, file in (("inside", "a.bin"), ("out", "../outside.bin"), ("far", "/etc/passwd"), ("link", "link"), ("pipe", "pipe")):
    d["launch"]["args"][0]["init"] = {"file": file}; json.dump(d, open("in/%s.json" % name, "w"))
P
timeout 60 "$G" report csv.json -f csv -o - > out 2>&1; sed -n 2p out | grep -q "^1,\"'=1+1\",\"'--cmd|"; check $? "a formula of a session begins with an apostrophe"
for f in 0 1 2; do timeout 60 "$G" report csv$f.json -f csv -o - > out 2>&1; sed -n 2p out | grep -q "^1,\"'=1+1\",\"'[-+@]SUM"; check $? "each sign of a formula: $f"; done
sed 1d out | grep -q '"--bypass'; check $? "options stay as they are typed"
warned() { timeout 20 "$G" "$@" --plain < /dev/null > out 2>&1 && grep -q 'stride_4 on' out && grep -q 'warning: .*\[launch-file\]' out; }
for f in out far link pipe; do warned in/$f.json; check $? "a session's data file outside its folder, or none: warned of, not read, results shown: $f"; done
warned in/inside.json; test $? -ne 0; check $? "a session's data file inside its folder"
warned in/far.json --allow-files; test $? -ne 0; check $? "a session's data file with --allow-files"
mkdir -p home/gpulocw/sessions; cp in/far.json home/gpulocw/sessions/
XDG_DATA_HOME=$T/home warned home/gpulocw/sessions/far.json; test $? -ne 0 && grep -q 'stride_4 on' out; check $? "a session of the user's own store"
XDG_DATA_HOME=$T/home warned in/far.json; check $? "beside the store is not in it"

# A worker's greeting
for word in "$(printf '\033]0;OWNED\007\302\233 hello')" "$(printf 'GLW\033[31m')"; do
    printf '#!/bin/sh\ncat << X\n%s\nX\n' "$word" > evil.sh; chmod +x evil.sh
    GPULOCW_WORKER_START=3 timeout 60 "$G" run e.ptx --worker ./evil.sh > out 2>&1; rc=$?
    test $rc -ne 0 && test $rc -ne 124 && python3 clean.py out >> out 2>&1; check $? "a greeting that is none ends with an error ($rc) and no control character"
done

# The folder of --outputs
cp "$K/stride_4.launch.json" d.launch.json
outputs() { timeout 60 "$G" run d.ptx --outputs "$@" > out 2>&1; }
sed -i 's/stride_4.ptx/d.ptx/' d.launch.json
outputs o; check $? "--outputs into a new folder"
outputs o; check $? "--outputs over our own"
mkdir p; echo precious > p/out.bin; outputs p; test $? -eq 2 && test "$(cat p/out.bin)" = precious; check $? "--outputs: another file stays"
rm p/out.bin; ln -s ../mine.bin p/out.bin; outputs p; test $? -eq 2 && test ! -e mine.bin; check $? "--outputs: a link is not followed"
outputs p --force && test "$(wc -c < p/out.bin)" -eq 8192; check $? "--outputs --force"

# What is written beside -o
echo precious > w.launch.json; timeout 60 "$G" rewrite d.ptx --bypass l1 --pi 1 -o w.ptx --with-launch > out 2>&1; test $? -eq 2 && test ! -e w.ptx && test "$(cat w.launch.json)" = precious; check $? "--with-launch: another file stays, and nothing is half written"
timeout 60 "$G" rewrite d.ptx --bypass l1 --pi 1 -o w.ptx --with-launch --force > out 2>&1; check $? "--with-launch --force"
timeout 60 "$G" rewrite d.ptx --bypass l1 --pi 1 -o w.ptx --with-launch > out 2>&1; check $? "--with-launch over our own"
echo precious > d.tuned.ptx; timeout 60 "$G" tune d.ptx --device sim:fermi-16k --budget 2 --apply > out 2>&1; test $? -eq 2 && test "$(cat d.tuned.ptx)" = precious; check $? "tune --apply: another file stays"
rm d.tuned.ptx

# The workbench's commands, line by line
bench() { printf '%s\n' "$@" quit | timeout 60 "$G" d.ptx --device sim:fermi-16k --plain > out 2>&1; }
for c in "export text" "export csv" "export svg" "export json" write save-launch; do
    rm -f there; bench "set bypass l1" "set pi 1" "$c there"; test -s there; check $? "$c: a new file"
    bench "set bypass l1" "set pi 1" "sweep pi" "$c there"; grep -q 'not written by gpulocw' out; test $? -ne 0; check $? "$c: over our own"
    echo precious > there; bench "set bypass l1" "set pi 1" "$c there"; test "$(cat there)" = precious && grep -q 'not written by gpulocw' out; check $? "$c: another file stays"
done

# Side by side
timeout 60 "$G" rewrite e.ptx --bypass l1 --pi 1 --diff --color always > out 2>&1; sed 's/\x1b\[[0-9]*m//g' out > plain.out
test -s plain.out && ! grep -q "$(printf '\033\[31m mid')" out && python3 clean.py plain.out >> out 2>&1; check $? "rewrite --diff side by side: colours of ours, no other control character"

# -o
write() { timeout 60 "$G" rewrite d.ptx --bypass l1 --pi 1 -o "$@" > out 2>&1; }
write new.ptx; check $? "a new file"
write new.ptx; check $? "over our own"
timeout 60 "$G" rewrite d.ptx --prefetch off -o plain.ptx > out 2>&1 && write plain.ptx; check $? "over our own without a name of ours in the code"
: > empty; write empty; check $? "over an empty file"
echo precious > mine; write mine; test $? -eq 2 && test "$(cat mine)" = precious; check $? "another file stays: exit 2"
echo precious > in/mine; ln -s in/mine away; write away; test $? -eq 2 && test "$(cat in/mine)" = precious; check $? "a link into another folder stays"
mkfifo pipe; write pipe; test $? -eq 2; check $? "a pipe is not written"
write mine --force; check $? "--force overwrites it"
write /dev/null; check $? "/dev/null"
test -z "$(find . -name '.*.tmp')"; check $? "no temporary file is left"
echo "1..$n"
exit $bad
