#!/bin/bash
# The MCP server against a client that errs, vanishes or attacks. Real clients: make check-packages.
exec python3 tests/mcp/raw.py "$GPULOCW_BUILD/gpulocw"
