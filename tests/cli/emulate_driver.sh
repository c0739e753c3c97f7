#!/bin/bash
# emulate: programs on the driver's interface, without a GPU.
. tests/tool/tap.sh
. tests/tool/emulate.bash
test -x "$P/driver" || { echo "Bail out! $P is not built"; exit 1; }
run -- "$P/driver"; claim "device, contexts, modules, memory, launches, streams, graphs, links" passed
claim "the device is the preset's" grep -qx 'NVIDIA H200: 132 SMs' "$T/out"
claim "kernels are in the table" grep -qE '^ +1 +turn +1x1x1 of 64x1x1' "$T/err"
run -d sim:ampere-a100 -- "$P/driver"; claim "another preset is another device" grep -q ': 108 SMs' "$T/out"
run --check-memory -- "$P/driver"; claim "--check-memory finds nothing where nothing is" passed
run --time --json -- "$P/driver"; claim "--time" json "k['turn']['time_ns']>0 and k['turn']['evidence'] in ('whole','sampled')"
for p in driver_arrays driver_virtual; do
    run -- "$P/$p"; claim "${p#*_}" passed
    run --check-memory -- "$P/$p"; claim "${p#*_}, checked" grep -qx PASS "$T/out"
done
run --json -- "$P/driver_bad"; claim "wrong handles, sizes, images, contexts, faults" passed
claim "calls that are not there are counted" json "{x['call']:x['count'] for x in d['not_supported']}=={'cuIpcGetMemHandle':2,'cuIpcGetEventHandle':1,'cuMemCreate with handles for other processes':1,'cuMemExportToShareableHandle':1} and d['program']['failed_launches']==1"
claim "a module for another GPU is told" grep -q 'is for sm_120, the device is sm_90' "$T/err"
claim "a module without PTX is told, and what to do" eval 'grep -q "has no PTX" "$T/err" && grep -q "hint: build it with -gencode" "$T/err"'
run -- "$P/driver_many"; claim "10,000 launches; threads before cuInit; a child" passed
sed -n 's/^\(start .*\|.* launches .*\)/# \1/p' "$T/out"
claim "how long it takes to start is told" grep -qE '^start +[0-9.]+' "$T/out"
# Machine code alone: an ELF file, whose PTX lies beside it where the compiler keeps it.
mkdir -p "$T/cache/x"
{ printf '\177ELF\2\1\1'; head -c 9 /dev/zero; printf '\2\0\276\0\1\0\0\0'; head -c 16 /dev/zero; printf '\100'; head -c 23 /dev/zero; } > "$T/cache/x/k.cubin"
run -- "$P/driver_file" "$T/cache/x/k.cubin"; claim "machine code alone is an error" test $rc -ne 0
"$B" emulate -k add -o "$T/add" -- "$P/driver" > /dev/null 2>&1; cp "$T/add/add.ptx" "$T/cache/x/k.ptx"
TRITON_CACHE_DIR=$T/cache run -- "$P/driver_file" "$T/cache/x/k.cubin"; claim "with its PTX in Triton's cache it runs" passed
python3 tests/tool/debug_cubin.py "$T/add/add.ptx" add > "$T/debug.cubin"
run -- "$P/driver_file" "$T/debug.cubin"; claim "with its PTX in its debug information, too" passed
claim "list shows that PTX" eval '"$B" list "$T/debug.cubin" | grep -q "1 kernels with PTX, 1 in machine code"'
cp "$T/debug.cubin" "$T/cache/x/both.cubin"; cp "$T/add/add.ptx" "$T/cache/x/both.ptx"
claim "PTX beside it comes first" eval '"$B" list "$T/cache/x/both.cubin" | grep -q "1 kernels with PTX, 1 in machine code"'
run -- "$P/driver_file" "$T/cache/x/k.ptx"; claim "a module from a file of PTX" passed
run -- "$P/driver_file" /nowhere/x; claim "a file that is not there is CUDA_ERROR_FILE_NOT_FOUND" test $rc -eq $((301 % 256))
run -- "$P/jit_link" "$P/inside/libnvJitLink.so.13"; claim "nvJitLink links PTX, and refuses what is none" passed
CUDA_VISIBLE_DEVICES='' run -- /bin/sh -c 'echo "visible $CUDA_VISIBLE_DEVICES"'; claim "what hides the machine's GPUs does not hide the simulated one" grep -qx 'visible 0' "$T/out"
run -- /bin/sh -c 'echo "CuPy $CUPY_COMPILE_WITH_PTX"'; claim "CuPy is told to hand over PTX" grep -qx 'CuPy 1' "$T/out"
run -- /bin/sh -c 'echo "PyCUDA $PYCUDA_DEFAULT_NVCC_FLAGS"'; claim "PyCUDA is told to leave it in" grep -qx 'PyCUDA -lineinfo' "$T/out"
"$B" capture --emulate -k turn -o "$T/kept" -- "$P/driver" > "$T/out" 2> "$T/err"; rc=$?
claim "capture --emulate writes a launch of the driver's" test -f "$T/kept/turn.ptx" -a -f "$T/kept/turn.launch.json"
claim "which runs again, with the same outputs" eval '"$B" run "$T/kept/turn.ptx" | grep -q "^captured  equal to what the captured launch left"'
exit ${bad:-0}
