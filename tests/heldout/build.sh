#!/bin/sh
# Builds unseen.cu with nvcc, nvcc -G and clang; the PTX is committed (versions lowered as for the demo kernels).
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-/usr/local/cuda/bin/nvcc}
"$nvcc" -ptx -arch=compute_75 -o u_nvcc.ptx unseen.cu
"$nvcc" -G -ptx -arch=compute_75 -o u_debug.ptx unseen.cu
"$nvcc" -ptx -O3 -arch=compute_75 -o w_nvcc.ptx wild.cu
clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_70 -nocudainc -nocudalib -Xclang -target-feature -Xclang +ptx75 -O2 -S -o u_clang.ptx unseen.cu
sed -i 's/^\.version .*/.version 7.5/; s/^\.target sm_70.*/.target sm_75/' u_clang.ptx
sed -i 's/^\.version .*/.version 8.0/' u_nvcc.ptx u_debug.ptx w_nvcc.ptx
sed -i "s|$PWD/||" u_debug.ptx
for f in [uw]_*.ptx; do "${PTXAS:-/usr/local/cuda/bin/ptxas}" -arch=sm_75 -o "$f.cubin" "$f"; rm -f "$f.cubin"; done
