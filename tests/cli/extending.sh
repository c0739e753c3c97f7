#!/bin/bash
# The worked changes of docs/internals/extending.md fit the tree as it is (make recipes builds and runs them).
python3 tests/tool/recipes_fit.py
