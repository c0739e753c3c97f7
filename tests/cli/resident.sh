#!/bin/bash
# Who is resident: grid barriers are rewritten where all their CTAs stay resident, and refused where not (tests/attacks/resident.py).
. tests/tool/tap.sh
timeout 900 python3 tests/attacks/resident.py "$B" "$T"
