#!/bin/bash
# A program on a fake driver, from its list of kernels to two live histograms: what A does, at two sizes.
. "$(dirname "$0")/tmux.bash"
live=$(dirname "$b")/tests/live
[ -x "$live/swap/swapped" ] || { echo "Bail out! the programs of tests/live are not built"; exit 1; }
own=$b
cp tests/live/step.ptx "$dir"
cat > "$dir/step.launch.json" << 'END'
{"format":"gpulocw-launch","version":1,"kernel":"step","grid":[4,1,1],"block":[64,1,1],"shared":0,
"args":[{"name":"p","buffer":"u32","count":64,"init":{"fill":1},"output":true},{"name":"n","u32":64}]}
END
cd "$dir" || exit 1
"$own" run step.ptx --launch step.launch.json -d sim:hopper-h200 --bypass l1 --pi bpa -o s.json > run 2>&1

# the tuned kernel takes half the time of the original on this driver: the bars stand in different rows
for size in 80x24 120x40; do
    b="env FAKE_FAST=.cg. CUPTI_PATH=$live/swap/libfake.so $own"; rm -f step.ptx.go
    begin $size s.json; shows "step.ptx ▸ step"; text ":program $live/swap/swapped step.ptx 60 slow"; keys Enter
    shows "Running; its kernels are listed when it ends"; : > step.ptx.go; shows "100.0 % +60 +240 µs +PTX +step"; check "$size: the kernel, its launches, time and share" $?
    rm step.ptx.go; keys A; shows "original and tuned kernel by turns"; shows "tuned in [1-9][0-9]* of 30 launches"; check "$size: half of the launches are shown while it runs" $?
    shows "original, [1-9][0-9]* launches +tuned, [1-9][0-9]* launches"; check "$size: with two histograms" $?
    : > step.ptx.go; shows "tuned in (19|20|21) of 60 launches; median 2.00 µs, was"; until_true has "2.00x in the|2.00x in$|4.00 µs: 2.00x"; check "$size: at its end all of them, and the gain" $?
    screen > rows
    [ "$(grep -cE " 2.00 µs +·+ 0 +█+ (19|20|21)( |$)" rows)" = 1 ] && [ "$(grep -cE " 3\.[789][0-9]* µs +█+ [12][0-9] +·+ 0( |$)" rows)" = 1 ]
    check "$size: each kernel's bar is at its own time" $?
    ! grep -E " µs +[█·]+ [0-9]" rows | grep -oE "[0-9.]+ µs" | sort | uniq -d | grep -q .; check "$size: no two rows have the same label" $?
done

# without a recommendation A runs nothing and says so
"$own" run step.ptx --launch step.launch.json -d sim:hopper-h200 -o none.json > run 2>&1; : > step.ptx.go
begin 80x24 none.json; shows "step.ptx ▸ step"; text ":program $live/swap/swapped step.ptx 60 slow"; keys Enter; shows "100.0 % +60 "; keys A; shows "the session recommends nothing"; check "A without a recommendation says so" $?
echo "1..$n"
