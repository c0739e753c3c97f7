#!/bin/sh
# The PTX of the suites from their CUDA sources, in the oldest version that ptxas takes for sm_90; and their launch descriptions.
set -eu
cd "$(dirname "$0")"
for f in linear grid sparse learn misc; do
    ${NVCC:-nvcc} -ptx -arch=compute_90 -o $f.tmp $f.cu
    sed 's/^\.version .*/.version 8.0/' $f.tmp > $f.ptx && rm $f.tmp
    ${PTXAS:-ptxas} -arch=sm_90 -o /dev/null $f.ptx
done
python3 suites.py
