#!/bin/bash
# apply: tuned kernels put into a program on a fake driver, through the injected library.
. tests/tool/tap.sh
B=$(readlink -f "$B")
P=$(readlink -f "$GPULOCW_BUILD")/tests/live/swap/swapped
export CUPTI_PATH=${P%/*}/libfake.so
unset CUDA_INJECTION64_PATH
test -x "$P" || { echo "Bail out! $P is not built"; exit 1; }
claim() { # NAME CONDITION...
    local name=$1; shift; n=$((n + 1))
    if "$@" >"$T/why" 2>&1; then echo "ok $n - $name"; else echo "not ok $n - $name"; sed 's/^/#   /' "$T/why" "$T/err" | tail -4; bad=1; fi
}
json() { python3 -c "
import json,sys
t=open(sys.argv[1]).read(); d=json.loads(t[t.index('{'):]); k=d['kernels'][0]; p=d['program']
skipped=sum(x['launches'] for x in k['skipped']); why=' '.join(x['why'] for x in k['skipped'])
assert $1, {a: b for a, b in k.items() if a != 'samples_ns'}" "$T/out"; }
cp tests/live/step.ptx "$T/step.ptx"
launch() { # FILE GRID [MORE]
    echo "{\"format\":\"gpulocw-launch\",\"version\":1,\"kernel\":\"step\",\"grid\":[$2,1,1],\"block\":[64,1,1],\"shared\":0,
\"args\":[{\"name\":\"p\",\"buffer\":\"u32\",\"count\":64,\"init\":{\"fill\":1},\"output\":true},{\"name\":\"n\",\"u32\":64}]$3}" > "$1"
}
launch "$T/step.launch.json" 4; launch "$T/step.tuned.launch.json" 4
tuned() { { cat "$T/step.ptx"; printf '// fast\n'; printf '%s\n' "$@"; } > "$T/step.tuned.ptx"; }
apply() { "$B" apply --json "$@" > "$T/out" 2>"$T/err"; rc=$?; }
says() { grep -q -- "$1" "$T/out" "$T/err"; }
own() { grep -o "^sum.*" "$T/out"; }
same() { test -n "$(own)" && test "$(own)" = "$("$P" "$@")"; } # as the program says alone
tuned
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 63 plain 7
claim "the program's exit status" test $rc -eq 7
claim "the program's own output; variables of the module stay one" same "$T/step.ptx" 63
claim "a third of the launches is tuned, by turns" json "k['launches']==63 and k['applied']==21 and skipped==0"
claim "times of the three arms, and their noise" json "k['original_ns']=={'median':4000,'min':4000,'max':4000} and k['again_ns']['median']==4000 and k['tuned_ns']['median']==2000 and k['noise_percent']==0"
claim "every launch tuned would take 42 times 2 us less" json "abs(p['gpu_span_ns']-p['gpu_span_expected_ns']-84000)<1 and p['wall_original_ns'] is None"
claim "each kind behind its own kind" json "k['original_steady_ns']['median']==4000 and k['tuned_steady_ns']['median']==2000"
claim "the share of the GPU's time" json "k['share']==1"
claim "each arm has a third of the samples" json "[len(k['samples_ns'][a]) for a in ('original','again','tuned')]==[21,21,21]"
apply "$T/step.tuned.ptx" --mode all -- "$P" "$T/step.ptx" 60
claim "every launch tuned" json "k['applied']==60 and k['original_ns'] is None and k['tuned_ns']['median']==2000"
claim "the same output then" same "$T/step.ptx" 60
FAKE_TELL=1 apply "$T/step.tuned.ptx" --verify 0 -- "$P" "$T/step.ptx" 9
claim "loaded with the program's module, before its first launch" test "$(grep -o "loaded .*" "$T/err" | sort | tr '\n' ';')" = "loaded original before;loaded tuned before;"
FAKE_FAIL=cuMemcpyDtoDAsync_v2 apply "$T/step.tuned.ptx" --mode all -- "$P" "$T/step.ptx" 60
claim "its image was swapped before it was loaded: no variable is copied" json "k['applied']==60 and skipped==0 and k['tuned_ns']['median']==2000"
claim "and its variables are right" same "$T/step.ptx" 60
apply "$T/step.tuned.ptx" --mode all -- "$P" "$T/step.ptx" 40 other
claim "swapped: another launch shape gets the original beside it" json "k['launches']==40 and k['applied']==20 and skipped==20 and 'another grid' in why"
claim "its output" same "$T/step.ptx" 40 other
apply "$T/step.tuned.ptx" --mode all -- "$P" "$T/step.ptx" 12 graph
claim "swapped: a captured launch" json "k['in_graphs']==2 and k['replays']==12"
claim "its output" same "$T/step.ptx" 12 graph
FAKE_FAIL=cuModuleLoadDataEx apply "$T/step.tuned.ptx" --mode all -- "$P" "$T/step.ptx" 12
claim "a tuned text that the driver does not take: the image stays, the original runs" json "k['applied']==0 and skipped==12"
claim "its output" same "$T/step.ptx" 12
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 27 ex
claim "cuLaunchKernelEx" json "k['applied']==9"
claim "its output" same "$T/step.ptx" 27 ex
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 27 together
claim "a cooperative launch that stays as it is" json "k['applied']==9"
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 12 graph
claim "a captured launch gets the tuned kernel, and each replay runs it" json "k['in_graphs']==2 and k['replays']==12 and k['tuned_ns']['median']==2000"
claim "its output" same "$T/step.ptx" 12 graph
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 12 built
claim "kernels of a graph built by hand run the original and are counted" json "k['launches']==2 and skipped==2 and k['applied']==0 and 'cuGraphAddKernelNode' in why and k['replays']==0"
claim "its output" same "$T/step.ptx" 12 built
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 30 elf
claim "machine code of which nobody has PTX runs the original" json "k['applied']==0 and skipped==30 and 'another image' in why"
captured() { # NAME FILE: what capture writes, of the machine code of the program
    python3 -c "
import json,sys
t=open(sys.argv[1],'rb').read()+b'\0'; b=bytearray(128); b[:7]=b'\x7fELF\2\1\1'
for at,v,n in (40,64,8),(58,64,2),(60,1,2),(88,128,8),(96,len(t),8): b[at:at+n]=v.to_bytes(n,'little')
h=0xcbf29ce484222325
for x in bytes(b)+t: h=(h^x)*0x100000001b3&(1<<64)-1
json.dump({'format':'gpulocw-capture','version':1,'kernels':[{'name':sys.argv[2],'image':'%016x'%h,'files':{'ptx':sys.argv[3]}}]},open(sys.argv[4],'w'))" "$T/step.ptx" "$@" "$T/capture.json"
}
captured step step.ptx
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 30 elf
claim "machine code that the kernel was captured from is known" json "k['applied']==9 and skipped==0"
claim "its output" same "$T/step.ptx" 30 elf
captured step other.ptx
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 30 elf
claim "not where the capture is of another file" json "k['applied']==0"
rm "$T/capture.json"
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 40 other
claim "another launch shape runs the original and is counted" json "k['launches']==40 and skipped==20 and 'another grid' in why"
claim "its output" same "$T/step.ptx" 40 other
mkdir "$T/nine"; cp "$T/step.ptx" "$T/step.tuned.ptx" "$T/nine"; launch "$T/nine/step.launch.json" 9; launch "$T/nine/step.tuned.launch.json" 9
apply "$T/step.tuned.ptx" "$T/nine/step.tuned.ptx" -- "$P" "$T/step.ptx" 54 other
claim "one for each of two launch shapes" json "[(x['launches'],x['applied'],x['skipped']) for x in d['kernels']]==[(27,9,[]),(27,9,[])] and d['kernels'][1]['from'].endswith('nine/step.tuned.ptx')"
claim "its output" same "$T/step.ptx" 54 other
apply "$T/step.tuned.ptx" "$T/nine/step.tuned.ptx" --mode all -- "$P" "$T/step.ptx" 40 other
claim "and for every launch of both" json "[x['applied'] for x in d['kernels']]==[20,20]"
launch "$T/step.tuned.launch.json" 2
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 27
claim "another grid is put into the launch" json "k['tuned_ns']['median']==1000 and k['applied']==9"
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 27 ex
claim "also into cuLaunchKernelEx" json "k['tuned_ns']['median']==1000 and k['applied']==9"
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 30 together
claim "but not into a cooperative one" json "k['applied']==0 and skipped==30 and 'cooperative' in why"
launch "$T/step.tuned.launch.json" 4 ',"symbols":[{"name":"gpulocw_tickets","buffer":"u32","count":1,"init":{"fill":0}}]'
tuned '// needs tickets' '.global .align 4 .u32 gpulocw_tickets;'
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 30
claim "what the tuned kernel wants to be zero is zeroed before each launch" same "$T/step.ptx" 30
launch "$T/step.tuned.launch.json" 4
tuned
apply "$T/step.tuned.ptx" --verify 3 -- "$P" "$T/step.ptx" 30
claim "verified launches" json "k['verified']==3 and k['equal']==True and 'beside the tuned' in why and k['applied']==9"
claim "verifying changes nothing, and leaves no memory behind" same "$T/step.ptx" 30
apply "$T/step.tuned.ptx" --mode all --verify 1 -- "$P" "$T/step.ptx" 12 graph
claim "a graph is not swapped before it is verified" json "k['applied']==0 and k['graphs_unverified']==2 and 'captured into a graph' in why"
tuned '// wrong'
apply "$T/step.tuned.ptx" --verify 2 -- "$P" "$T/step.ptx" 30 plain 7
claim "outputs that differ: exit 5" test $rc -eq 5
claim "then nothing more is swapped" json "k['equal']==False and k['applied']==0 and skipped==30"
claim "and the program's output is right" same "$T/step.ptx" 30
cp "$T/step.ptx" "$T/steady.ptx"; echo '// unsteady' >> "$T/step.ptx"; tuned
apply "$T/step.tuned.ptx" --verify 2 -- "$P" "$T/step.ptx" 6
claim "an original that differs from itself is told, and is no difference" json "k['verified']==0 and k['equal'] is None and 'differ from run to run' in why"
claim "it ends in order" test $rc -eq 0
mv "$T/steady.ptx" "$T/step.ptx"; tuned
sed '/setp.ne/i $spin: ld.volatile.global.u32 %r5, [%rd1];\n\tsetp.eq.u32 %p1, %r5, 0;\n\t@%p1 bra $spin;' "$T/step.ptx" > "$T/w.ptx"; sed 's/^}/}/' "$T/w.ptx" > "$T/w.tuned.ptx"; echo '// fast' >> "$T/w.tuned.ptx"
apply "$T/w.tuned.ptx" --verify 1 -- "$P" "$T/w.ptx" 6
claim "a kernel that waits for others is not run alone" json "k['applied']==0 and 'waits for others' in why"
FAKE_FULL=1 apply "$T/step.tuned.ptx" --verify 1 -- "$P" "$T/step.ptx" 6
claim "no room for a copy is told" json "'no memory for a copy' in why and k['applied']==0"
FAKE_FAIL=cuMemcpyDtoH apply "$T/step.tuned.ptx" --verify 1 -- "$P" "$T/step.ptx" 6
claim "memory that cannot be read leaves the original" same "$T/step.ptx" 6
FAKE_FAIL="own launches" apply "$T/step.tuned.ptx" --verify 2 -- "$P" "$T/step.ptx" 6
claim "launches of the program's that fail are told to it, as without us" bash -c "test \$(grep -c '^launch . failed' '$T/out') -ge 4"
sed 's/mad.lo.u32 %r2, %r2, 3/mad.lo.u32 %r2, %r2, 4/' "$T/step.ptx" > "$T/newer.ptx"
apply "$T/step.tuned.ptx" -- "$P" "$T/newer.ptx" 10
claim "another image of the same kernel runs the original" json "k['applied']==0 and skipped==10 and 'another image' in why"
tuned '// narrow'
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 10
claim "a tuned kernel that does not fit" json "k['applied']==0 and 'does not fit' in why"
tuned '// refuses'
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 30
claim "a launch that fails runs the original instead" json "k['applied']==0 and 'failed' in why"
claim "and the program hears of nothing" same "$T/step.ptx" 30
tuned
sed -i 's/, \.param \.u32 n)/, .param .u32 n, .param .u32 more)/' "$T/step.tuned.ptx"
apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 10
claim "other parameters" json "k['applied']==0 and 'other parameters' in why"
tuned
for f in cuModuleLoadDataEx cuCtxGetCurrent; do
    FAKE_FAIL=$f apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 10 plain 3
    claim "$f fails: the program runs as it is" same "$T/step.ptx" 10
    claim "$f fails: its exit status" test $rc -eq 3
done
FAKE_FAIL=cuptiSubscribe apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 10 plain 3
claim "another profiler is named" says "nothing was applied: another profiler"
claim "and the program runs" test $rc -eq 3
"$B" apply "$T/step.tuned.ptx" --whole -- "$P" "$T/step.ptx" 60 > "$T/out" 2>"$T/err"
claim "--whole: expectation and what came of it" says "on the GPU .* 0.246 ms unchanged, 0.126 ms tuned (1.95x); 0.126 ms expected (1.95x)"
apply "$T/step.tuned.ptx" --verify 1 --worker "env A=b $B worker" -- "$P" "$T/step.ptx" 19 plain 7
claim "behind a worker's launcher: the program, its output, its exit status" test $rc -eq 7
claim "and the report" json "k['applied']==6 and k['verified']==1 and k['from'].endswith('step.tuned.ptx')"
claim "the program there says the same" same "$T/step.ptx" 19
apply "$T/step.tuned.ptx" --worker "$B" -- "$P" "$T/step.ptx" 3
claim "a launcher that starts no worker is refused" test $rc -eq 2
apply "$T/step.tuned.ptx" --worker "/nowhere/gpulocw worker" -- "$P" "$T/step.ptx" 3
claim "a launcher that is not there" test $rc -ne 0
for sent in "" "gpulocw-remote 1" $'gpulocw-remote 1\nF 5 ../x\nabcde\nE 0 -' $'gpulocw-remote 1\nW 900 -\nabc'; do
    printf '%s\n' "$sent" | "$B" apply --from-stdin > "$T/out" 2>"$T/err"; rc=$?
    claim "damaged input of the other end is refused" test $rc -eq 1
done
mkdir "$T/tmp"; TMPDIR=$T/tmp apply "$T/step.tuned.ptx" -- "$P" "$T/step.ptx" 3
claim "nothing is left behind" test -z "$(ls "$T/tmp")"
(cd "$T" && "$B" run step.ptx --launch step.launch.json --block 32 -o s.json) > "$T/out" 2>&1
apply "$T/s.json" -- "$P" "$T/step.ptx" 3
claim "a session that recommends nothing, or another block" test $rc -le 1
(cd "$T" && "$B" run step.ptx --launch step.launch.json --bypass l2 -o s2.json) > "$T/out" 2>&1
apply "$T/s2.json" -- "$P" "$T/step.ptx" 27
claim "a session's configuration" json "k['applied']==9 and k['from'].endswith('s2.json')"
apply "$T/s2.json" -k nothing -- "$P" "$T/step.ptx" 3
claim "a kernel that it does not have" test $rc -eq 1
"$B" apply "$T/s2.json" --export "$T/ex" > "$T/out" 2>&1
claim "--export writes the PTX and what the launch wants" grep -q "64 x 1 x 1" "$T/ex/README.txt"
claim "the exported PTX is the tuned one" "$B" analyze "$T/ex/step.ptx"
for bad_line in "apply" "apply $T/s2.json" "apply $T/s2.json --mode some -- true" "apply $T/s2.json --export $T/ex -- true"; do
    "$B" $bad_line > "$T/out" 2>"$T/err"; rc=$?
    claim "wrong usage: ${bad_line//$T\//}" test $rc -eq 2
done
exit $bad
