#!/bin/bash
# Which kernel is opened: a program with several modules offers its kernels, K lists those of any file.
. "$(dirname "$0")/tmux.bash"
PYTHONPATH=tests/container python3 - "$dir" << 'END'
import sys
from make import *
k = lambda name: open("kernels/coalescing.ptx", "rb").read().replace(b"coalescing", name) + b"\0"
open(sys.argv[1] + "/app", "wb").write(elf([(".text", b"\x90" * 64), (".nv_fatbin",
    fatbin(entry(k(b"_Z5scalePfi"), sm=75)) + fatbin(entry(k(b"shift"), sm=75)) + fatbin(entry(cubin(["burnt"]), kind=2)))]))
open(sys.argv[1] + "/one", "wb").write(elf([(".nv_fatbin", fatbin(entry(k(b"single"), sm=75)))]))
END
begin 80x24 "$dir/app" -d sim:fermi-16k; shows "─ Kernels: Enter opens one ─"; check "a program with several kernels offers them" $?
shows "▶ scale +[0-9]+ +1 [a-z-]+ +2 param" && shows "^│   shift +[0-9]+ +1 [a-z-]+ +2 param" && shows "^│   burnt +machine code alone"; check "by their readable names, those of all modules, with what cannot be opened" $?
keys j Enter; shows "^ gpulocw +app ▸ shift"; check "Enter opens one of another module" $?
keys t; shows "^ threads of a block"; keys Enter; shows "^ search|search +[0-9]|run 1: [0-9]"; keys x 7; shows "^ +1 search"; check "and it can be searched" $?
text ":kernel shift"; keys Enter; shows "^ gpulocw +app ▸ shift"; text ":kernel scale"; keys Enter; shows "^ gpulocw +app ▸ scale"; check ":kernel goes to a kernel of another module" $?
text ":kernel burnt"; keys Enter; shows "burnt.*machine code"; check "one without PTX says so" $?
begin 80x24 "$dir/app" -k shift -d sim:fermi-16k; shows "^ gpulocw +app ▸ shift"; shows "ld.global"; ! has "Kernels: Enter"; check "a kernel that was named is opened, and no list" $?
begin 80x24 "$dir/one" -d sim:fermi-16k; shows "ld.global"; keys 2 1; shows "ld.global"; ! has "Kernels: Enter"; check "nor where there is but one" $?
begin 80x24 kernels/valley.ptx -d sim:fermi-16k; shows ld.global; keys K; shows "▶ valley \(default\) +81 +8 streaming +528x1x1 of 512x1x1"; check "K lists the launches of a file, with size, loads and class" $?
keys j Enter; shows "^ gpulocw +valley.ptx ▸ valley \(fermi\)"; check "and Enter takes one" $?
text ":kernel "; keys Tab; shows "^ default .*fermi|default +fermi"; escape; keys K; shows "▶ valley \(fermi\)"; keys Escape; gone "Kernels: Enter"; check "Esc closes the list" $?
cat kernels/coalescing.ptx > "$dir/two.ptx"; sed -n '/\.entry/,$p' kernels/stride_4.ptx >> "$dir/two.ptx"
begin 80x24 "$dir/two.ptx" -d sim:fermi-16k; shows "▶ coalescing +[0-9]+ +1 streaming +[0-9]+ param" && shows "^│   stride_4 "; check "PTX with several kernels and no launch offers them" $?
keys j Enter; shows "^ gpulocw +two.ptx ▸ stride_4"; check "and Enter opens one" $?
# Tiles in another order are written once launches have shown that they are independent.
for k in over ring; do echo "{\"format\": \"gpulocw-launch\", \"version\": 1, \"ptx\": \"kernels.ptx\", \"kernel\": \"$k\", \"grid\": [24, 1, 1], \"block\": [64, 1, 1], \"args\": [{\"name\": \"out\", \"buffer\": \"f32\", \"count\": 6144, \"output\": true}, {\"name\": \"x\", \"buffer\": \"f32\", \"count\": 6144}, {\"name\": \"n\", \"s32\": 96}]}" > "$dir/$k.launch.json"; done
begin 80x24 tests/attacks/tiles/kernels.ptx -k over -l "$dir/over.launch.json" -d sim:hopper-h200; shows "ld.global"; text ":set tile-order reverse"; keys Enter; text ":write $dir/over.ptx"; keys Enter; shows "not known to be independent" && ! [ -e "$dir/over.ptx" ]; check "tiles that share words are not written" $?
begin 80x24 tests/attacks/tiles/kernels.ptx -k ring -l "$dir/ring.launch.json" -d sim:hopper-h200; shows "ld.global"; text ":set tile-order reverse"; keys Enter; text ":write $dir/ring.ptx"; keys Enter; shows "ring.ptx: written" && [ -s "$dir/ring.ptx" ]; check "independent ones are" $?
mkdir "$dir/folder"; cp kernels/coalescing.ptx "$dir/folder/one.ptx"; sed "s/stride_4/k$(printf 'x%.0s' {1..300})/g" kernels/stride_4.ptx > "$dir/folder/two.ptx"
begin 80x24 "$dir/folder" -d sim:fermi-16k; shows "▶ coalescing " && shows "^│   kxxxx"; check "a folder is the list of its kernels" $?
keys j Enter; shows "^ gpulocw +folder ▸ kxxxx" && shows "ld.global"; check "a kernel with a name of 301 letters opens" $?
echo "1..$n"
