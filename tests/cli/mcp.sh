#!/bin/bash
# The MCP server against a client that errs, vanishes or attacks, and what an agent does with a kernel in eight calls. Real
# clients: make check-packages.
python3 tests/mcp/raw.py "$GPULOCW_BUILD/gpulocw"; bad=$?
python3 tests/mcp/transcript.py "$GPULOCW_BUILD/gpulocw" || bad=1
exit $bad
