#!/bin/bash
# capture --list: a program on a fake driver and a fake CUPTI, seen through the injected library.
. tests/tool/tap.sh
P=$(readlink -f "$GPULOCW_BUILD")/tests/live/program
export CUPTI_PATH=${P%/*}/libfake.so TRITON_CACHE_DIR=$T/cache
unset CUDA_INJECTION64_PATH
test -x "$P" || { echo "Bail out! $P is not built"; exit 1; }
claim() { # NAME CONDITION...
    local name=$1; shift; n=$((n + 1))
    if "$@" >"$T/why" 2>&1; then echo "ok $n - $name"; else echo "not ok $n - $name"; sed 's/^/#   /' "$T/why" | tail -3; bad=1; fi
}
json() { python3 -c "
import json,sys
t=open(sys.argv[1]).read(); d=json.loads(t[t.index('{'):]); k={(x['readable'],x['ptx']):x for x in d['kernels']}
assert $1, d" "$T/out"; }
mkdir -p "$T/cache/ABC" # a small ELF file: header and one section header, as long as it says
python3 - "$T/cache/ABC/softmax.cubin" <<'P'
import struct, sys
h = b'\x7fELF\2\1\1' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 2, 190, 1, 0, 0, 64, 0, 64, 0, 0, 64, 1, 0)
open(sys.argv[1], 'wb').write(h + struct.pack('<IIQQQQIIQQ', 0, 0, 0, 0, 128, 16, 0, 0, 1, 0) + b'machine code 16b')
P
echo '.version 8.7' > "$T/cache/ABC/softmax.ptx"
"$B" capture --list --json -- "$P" "$T/cache/ABC/softmax.cubin" 7 > "$T/out" 2>"$T/err"; rc=$?
claim "the program's exit status" test $rc -eq 7
claim "the program's output comes first" grep -qx "the program's own output" "$T/out"
claim "the document" json "d['format']=='gpulocw-capture' and d['program']['exit_status']==7 and d['program']['processes']==1 and len(d['kernels'])==6"
claim "PTX text: launches and time" json "k['text',True]['launches']==3 and k['text',True]['time_ns']==12000 and k['text',True]['grid']==[4,1,1]"
claim "one name in two images is two kernels" json "k['text',False]['launches']==1 and k['text',False]['why']=='machine code only (SASS)'"
claim "a fatbin with PTX; a graph's replay counts" json "k['scale',True]['launches']==3 and k['scale',True]['time_ns']==30000"
claim "LTO-IR is told by name" json "'LTO-IR' in k['linked',False]['why']"
claim "an image that was not seen is told" json "'not recorded' in k['unseen',False]['why'] and k['unseen',False]['image'] is None and k['scale',True]['image']"
claim "Triton's PTX by the hash of its machine code" json "k['softmax',True]['ptx_file'].endswith('/ABC/softmax.ptx') and k['softmax',True]['why'] is None"
claim "shares add up to one; longest first" json "abs(sum(x['share'] for x in d['kernels'])-1)<1e-5 and d['kernels'][0]['readable'].startswith('scale')"
echo changed >> "$T/cache/ABC/softmax.cubin"
cp "$T/cache/ABC/softmax.cubin" "$T/other.cubin"; printf x >> "$T/cache/ABC/softmax.cubin"
"$B" capture --list --json -- "$P" "$T/other.cubin" > "$T/out" 2>"$T/err"
claim "other machine code in the cache is none" json "k['softmax',False]['why']=='machine code only (SASS)' and k['softmax',False]['ptx_file'] is None"
"$B" capture --list -- "$P" > "$T/out" 2>"$T/err"
claim "the table's last line" grep -q "^5 kernels, 2 with PTX (91.3 % of the GPU's time)" "$T/out"
FAKE_BUSY=39 "$B" capture --list -- "$P" "" 3 > "$T/out" 2>"$T/err"; rc=$?
claim "another profiler is told, the program runs" test $rc -eq 3
claim "another profiler is named" grep -q "another profiler uses CUPTI" "$T/err"
FAKE_BUSY=15 "$B" capture --list -- "$P" "" 3 > "$T/out" 2>"$T/err"
claim "CUPTI that fails is no other profiler" grep -q "cuptiSubscribe failed" "$T/err"
"$B" capture --list -- /bin/true > "$T/out" 2>"$T/err"; rc=$?
claim "a program without CUDA" grep -q "no process of the program used CUDA" "$T/err"
claim "its exit status" test $rc -eq 0
"$B" capture --list -- "$P" "" crash > "$T/out" 2>"$T/err"; rc=$?
claim "a program that ends by a signal" test $rc -eq 134
"$B" capture --list --json -- "$P" "" late > "$T/out" 2>"$T/err"; rc=$?
claim "a program that ends by _exit: its exit status" test $rc -eq 9
claim "what it ran before is there" json "k['text',True]['launches']==3 and d['program']['cut_off']==1"
claim "that something may be missing is told" grep -q "ended by _exit or a signal" "$T/err"
"$B" capture --list -- /nowhere/program > "$T/out" 2>"$T/err"; rc=$?
claim "a program that is not there" test $rc -eq 1
CUDA_INJECTION64_PATH=/x.so "$B" capture --list -- "$P" > "$T/out" 2>"$T/err"; rc=$?
claim "a library that is injected already is refused" test $rc -eq 3
"$B" capture --list > "$T/out" 2>"$T/err"; rc=$?
claim "no program is wrong usage" test $rc -eq 2
mkdir "$T/tmp"; TMPDIR=$T/tmp "$B" capture --list -- "$P" > /dev/null 2>&1
claim "nothing is left behind" test -z "$(ls "$T/tmp")"
exit $bad
