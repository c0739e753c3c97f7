#!/bin/bash
# Registers of kernels with several threads side by side, estimated beside what ptxas took (lanes_registers.py).
. tests/tool/tap.sh
python3 tests/tool/lanes_registers.py "$B"
