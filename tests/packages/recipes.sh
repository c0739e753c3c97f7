#!/bin/bash
# The worked changes of docs/internals/extending.md: applied in a scratch copy, built and run (make recipes).
git rev-parse --is-inside-work-tree > /dev/null 2>&1 || { echo "ok 1 - recipes # SKIP no git checkout"; exit 0; }
exec tests/tool/recipes.sh
