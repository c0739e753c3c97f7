#!/bin/bash
# Texture fetches as an H200 made them: weights, sums, borders, missing channels, cube faces.
. tests/tool/tap.sh
code "21 cases of fetches as recorded" 0 "ok lin2: 768 results, 0 differ from NVIDIA H200" python3 tests/gpu/textures.py "$B" tests/gpu/textures-h200.json
exit $bad
