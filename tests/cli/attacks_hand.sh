#!/bin/bash
# tests/attacks/kernels.py: what must be refused is refused, no load of memory that the kernel writes becomes .nc, and what is
# accepted is the same kernel under the attacks of `run --prove full`. GPULOCW_ATTACKS=all tries every option on every kernel.
. tests/tool/tap.sh
timeout 3000 python3 tests/attacks/attack.py "$B" "$T" ${GPULOCW_ATTACKS:+$GPULOCW_ATTACKS}
