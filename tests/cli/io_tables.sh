#!/bin/bash
# No writer of files without injected faults, no reader of outside bytes without a fuzz target or a reason.
cd "$(dirname "$0")/../.." || exit 1
exec python3 tests/tool/io_tables.py
