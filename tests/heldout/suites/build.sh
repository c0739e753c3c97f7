#!/bin/sh
# Builds the kernels with nvcc; the PTX is committed (versions lowered as for the demo kernels). The reference compiles the
# same sources for a processor (twin.py). -fmad=false: then the bits of +, -, *, / and sqrt are the reference's.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-/usr/local/cuda/bin/nvcc}
for f in rodinia parboil polybench samples models science field library; do "$nvcc" -ptx -arch=compute_75 -fmad=false -o $f.ptx $f.cu; done
"$nvcc" -ptx -arch=compute_80 -fmad=false -std=c++17 -o lang.ptx lang.cu
"$nvcc" -ptx -arch=compute_90 -fmad=false -std=c++17 -diag-suppress 20054 -o hopper.ptx hopper.cu
"$nvcc" -ptx -arch=compute_75 -o refused.ptx refused.cu
sed -i "s/^\.version .*/.version 8.3/" *.ptx                # used_bytes_mask is of 8.3
