#!/bin/bash
# capture: launches with their data, taken from a program on a fake driver; what is refused, and why.
. tests/tool/tap.sh
P=$(readlink -f "$GPULOCW_BUILD")/tests/live/captured K=$PWD/tests/live/kernels.ptx
export CUPTI_PATH=${P%/*}/libfake.so TRITON_CACHE_DIR=$T/none GPULOCW_LIVE_WAIT=0.3
unset CUDA_INJECTION64_PATH
test -x "$P" || { echo "Bail out! $P is not built"; exit 1; }
claim() { # NAME CONDITION...
    local name=$1; shift; n=$((n + 1))
    if "$@" >"$T/why" 2>&1; then echo "ok $n - $name"; else echo "not ok $n - $name"; sed 's/^/#   /' "$T/why" | tail -3; bad=1; fi
}
take() { # CASE OPTION...: captures it into $T/CASE
    local c=$1; shift
    "$B" capture -o "$T/$c" "$@" -- "$P" "$c" "$K" > "$T/out" 2>"$T/err"; rc=$?
}
files() { python3 -c "
import json,sys
k=json.load(open(sys.argv[1]+'/capture.json'))['kernels'][0]; f=k['files']; why=k['not_captured']
assert $2, k" "$T/$1"; }
launch() { python3 -c "
import json,sys
d=json.load(open(sys.argv[1])); a={x['name']:x for x in d['args']}; b=d.get('buffers',[])
assert $2, d" "$T/$1.launch.json"; }
run_equal() { "$B" run "$T/$1.ptx" > "$T/out" 2>"$T/err" && grep -q "^outputs   equal" "$T/out" && grep -q "^captured  equal" "$T/out"; }

take plain
claim "the program's output and exit status" eval 'test $rc -eq 4 && grep -qx done "$T/out"'
claim "a look-up of what no library has finds nothing, though the injected one stands before it" eval '! grep -q "was found" "$T/out"'
claim "the simulated outputs are the GPU's" files plain "f['outputs']=='equal' and f['nth']==1 and why is None"
claim "trimmed to what the kernel touches" files plain "f['data_bytes']==24080 and f['trimmed_from']>1<<20"
claim "parameters: buffers, values, an output" launch plain/scale "a['scale_param_0']['count']==3000 and a['scale_param_2']['f32']==2.5 and a['scale_param_1']['output']"
claim "run compares with what the GPU left" run_equal plain/scale
printf '\1\1\1\1' | dd of="$T/plain/scale.left.bin" conv=notrunc 2>/dev/null
"$B" run "$T/plain/scale.ptx" > "$T/out" 2>&1; rc=$?
claim "run says what the GPU left otherwise" eval 'test $rc -eq 5 && grep -q "^captured  differs from" "$T/out"'
take plain --nth 3
claim "the third launch" launch plain/scale "a['scale_param_2']['f32']==4.5"
take plain --nth 9
claim "a launch that never comes is told" files plain "f is None and 'launched 3 times' in why"
take shapes
claim "the first launch of each shape; an integer within a factor of two and a float make none" files shapes "[(x['nth'],x['grid'][0],x['launches']) for x in f['launches']]==[(7,24,6),(1,24,5)] and f['covers']>0.9"
claim "shapes of little time are left out, with their data" eval 'test "$(cd "$T/shapes"; echo *.bin)" = "scale.3.data.bin scale.3.left.bin scale.data.bin scale.left.bin"'
claim "one description has them, by name" python3 -c "import json; d=json.load(open('$T/shapes/scale.launch.json')); assert [x['name'] for x in d['launches']]==['launch-7','launch-1'], d"
claim "each runs, outputs equal" eval '"$B" run "$T/shapes/scale.ptx" -k launch-1 > "$T/out" 2>"$T/err" && grep -q "^captured  equal" "$T/out"'
take shapes --shapes 2
claim "launches of shapes beyond --shapes are told" files shapes "f['shapes_apart']==6 and [x['nth'] for x in f['launches']]==[1,3] and f['covers']<0.9"
take shapes --max-bytes 1500K
claim "so are those beyond --max-bytes" files shapes "f['shapes_without_room']==7 and [x['nth'] for x in f['launches']]==[1]"
take shapes --nth 7
claim "--nth takes one launch" files shapes "[x['nth'] for x in f['launches']]==[7] and f['launches'][0]['launches'] is None"
"$B" capture --shapes 3 --nth 2 -- "$P" shapes "$K" > "$T/out" 2>"$T/err"; rc=$?
claim "--shapes with --nth is wrong usage" test $rc -eq 2
take plain --max-bytes 64K
claim "the limit is shared among what parameters point to, and counts what the kernel uses" files plain "f['outputs']=='equal' and f['data_bytes']==24080"
take plain --max-bytes 4K
claim "a limit that is too small is told with the one that does" files plain "f is None and '--max-bytes 2M takes them all' in why and '0.0041 MB' in why"
take plain -k other
claim "only chosen kernels" files plain "f is None and why is None"
take gather
claim "pointers inside a struct" launch gather/gather "[x['at'] for x in d['args'][1:]]==[0,8,16] and len(b)==3"
claim "the struct's launch runs, outputs equal" run_equal gather/gather
take far
claim "a pointer to megabytes before what the kernel uses" launch far/gather "len(b)==3 and not any(x.get('address') for x in b)"
claim "that launch runs, outputs equal" run_equal far/gather
take rows
claim "pointers in memory: addresses are kept" launch rows/rows "len([x for x in b if x['address'].startswith('0x')])==2"
claim "the launch with kept addresses runs, outputs equal" run_equal rows/rows
take looks
claim "numbers that look like pointers keep no address" launch looks/scale "not any('address' in x and x['address'] for x in b + d['args'])"
take table
claim "constants and variables of the module" launch table/table "{x['name'] for x in d['symbols']}=={'c_table','d_count'}"
claim "the launch with constants runs, outputs equal" run_equal table/table
take ex
claim "attributes: cluster, carve-out, shared memory, window" files ex "f['attributes']=={'cooperative':False,'cluster':[2,1,1],'carveout_percent':50,'max_dynamic_shared':4096,'access_window':{'address':'0x0','bytes':4096,'hit_ratio':0}}"
claim "the cluster is in the launch" launch ex/scale "d['cluster']==[2,1,1]"
take cooperative
claim "a cooperative launch" files cooperative "f['attributes']['cooperative'] and f['outputs']=='equal'"
take host
claim "pinned memory of the host" files host "f['outputs']=='equal'"
take managed
claim "managed memory that can be read" files managed "f['outputs']=='equal'"
take pieces
claim "pieces of reserved addresses, side by side" files pieces "f['outputs']=='equal' and f['trimmed_from']>=32768"
FAKE_OLD=1 take plain
claim "a driver without parameter information: places from the PTX" files plain "f['outputs']=='equal'"
FAKE_SHIFT=1 take plain
claim "a driver that puts space before the parameters" files plain "f['outputs']=='equal'"
FAKE_WRONG=1 take plain
claim "a simulated result unlike the GPU's is told" files plain "f['outputs'] in ('differ','close') and f['differing_bytes']>0"
for c in nvrtc lookup link jit jitany; do
    take $c
    claim "PTX of machine code that the program made ($c)" files $c "f['outputs']=='equal' and k['ptx']"
done
take jitlto
claim "machine code that nvJitLink made of LTO-IR is told" files jitlto "f is None and 'LTO-IR' in why"
take dump
claim "machine code alone is told" files dump "f is None and 'machine code only' in why"
mkdir "$T/xla"; cp "$K" "$T/xla/module_1.ptx"
XLA_FLAGS="--xla_gpu_x=1 --xla_dump_to=$T/xla" take dump
claim "PTX in XLA's dump, by the kernel's name" files dump "f['outputs']=='equal'"
cp "$K" "$T/xla/module_2.ptx"
XLA_FLAGS="--xla_dump_to=$T/xla" take dump
claim "a name that several files of the dump have" files dump "f is None and 'several PTX files' in why"
mkdir "$T/files" "$T/tools"
printf '#!/bin/sh\n[ "$1" = --version ] && exit 5\ncp "$PTXAS_FILES/made" "$4"\n' > "$T/tools/ptxas"; chmod +x "$T/tools/ptxas"
export PTXAS_FILES=$T/files
PATH=$T/tools:$PATH take ptxas
claim "PTX of machine code that a call of ptxas made" files ptxas "f['outputs']=='equal' and k['ptx'] and k['ptx_file'] is None"
PATH=$T/tools:$PATH "$B" capture --list --json -- "$P" ptxas "$K" 2>"$T/err" | sed -n '/^{$/,$p' > "$T/list.json"
claim "a survey finds it, too" python3 -c "import json,sys; k=[x for x in json.load(open('$T/list.json'))['kernels'] if x['name']=='scale']; assert k and all(x['ptx'] for x in k), k"
PATH=$T/tools:$PATH "$B" capture --list -- sh -c 'ptxas --version; echo "it ended $?"; ptxas a b' > "$T/out" 2>&1; rc=$?
claim "ptxas that fails, fails in the program as without us" test "$(grep -c 'it ended 5' "$T/out")-$rc" = 1-1
take lost
claim "refused: managed memory that could not be read" files lost "f is None and 'managed memory that could not be read' in why"
take peer
claim "refused: memory of another GPU" files peer "f is None and 'peer' in why"
take ipc
claim "refused: memory of another process" files ipc "f is None and 'IPC' in why"
claim "the program's exit status stays" test $rc -eq 4
for c in imported pool; do
    take $c
    claim "refused: memory of another process that was imported ($c)" files $c "f is None and 'IPC' in why"
done
sed '/^\.address_size/a .extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2 (.param .b64 a, .param .b64 b);
/ld.param.u32 .*scale_param_3/a { .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a], %rd1; st.param.b64 [b], %rd2; call.uni (r), __cudaCDP2LaunchDeviceV2, (a, b); }' "$K" > "$T/nested.ptx"
"$B" capture -o "$T/nested" -- "$P" plain "$T/nested.ptx" > "$T/out" 2>"$T/err"; rc=$?
claim "refused: device-side launches" files nested "f is None and 'device-side launches' in why"
claim "its program goes on" test $rc -eq 4
take stream
claim "refused: launches into a graph alone" files stream "f is None and 'only by CUDA graphs' in why"
take graph -k gather
claim "inside a graph: the data right before the kernel, and right after it" files graph "[x['files']['outputs'] for x in json.load(open(sys.argv[1]+'/capture.json'))['kernels'] if x['name']=='gather']==['equal']"
claim "the graph's launch runs, outputs equal" run_equal graph/gather
take graph
claim "two kernels of one graph, from two launches" files graph "sorted((x['name'],x['files']['outputs']) for x in json.load(open(sys.argv[1]+'/capture.json'))['kernels'])==[('gather','equal'),('scale','equal')]"
take changed -k gather
claim "refused: a graph that was updated" files changed "'changed the graph' in json.load(open(sys.argv[1]+'/capture.json'))['kernels'][-1]['not_captured']"
for f in copy instantiate host; do
    FAKE_GRAPH=$f take graph -k gather
    claim "a graph that cannot be made ($f): the original runs, and it is told" eval 'test $rc -eq 4 && files graph "json.load(open(sys.argv[1]+\"/capture.json\"))[\"kernels\"][-1][\"not_captured\"]"'
done
take spin
claim "refused: a kernel that waits for the host" files spin "f is None and 'waits for other kernels or for the host' in why"
claim "the program goes on" test $rc -eq 4
take plain --max-bytes 16K
claim "a limit that leaves out what is needed is told" eval 'files plain "f is None or f[\"outputs\"] is None" && grep -q "not trimmed\|not captured" "$T/out"'
"$B" capture --max-bytes lots -- "$P" plain "$K" > "$T/out" 2>"$T/err"; rc=$?
claim "a limit that is no size is wrong usage" test $rc -eq 2
"$B" capture -o /proc/none -- "$P" plain "$K" > "$T/out" 2>"$T/err"; rc=$?
claim "a folder that cannot be made" test $rc -eq 1
mkdir "$T/tmp"; TMPDIR=$T/tmp take plain
claim "nothing is left behind" test -z "$(ls -A "$T/tmp")"
exit $bad
