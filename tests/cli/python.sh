#!/bin/bash
# The Python module on the library that was built; what needs Triton, Numba or CuPy is skipped, and says so.
command -v python3 >/dev/null || { echo "ok 1 - the Python module # SKIP no python3"; exit 0; }
case "${LDFLAGS:-} ${EXTRA_CFLAGS:-} $(cat "$GPULOCW_BUILD/flags" 2>/dev/null)" in
*sanitize*) echo "ok 1 - the Python module # SKIP the objects carry a sanitizer"; exit 0 ;;
esac
export GPULOCW_LIBRARY=$(realpath "$GPULOCW_BUILD/libgpulocw.so.1") GPULOCW_PROGRAM=$(realpath "$GPULOCW_BUILD/gpulocw") PYTHONDONTWRITEBYTECODE=1
python3 tests/python/test_gpulocw.py 2>&1 | python3 -c '
import re, sys
n = bad = 0
rest = []
for line in sys.stdin:
    m = re.match(r"(test\w+) \(__main__\.(\w+)[^)]*\).*\.\.\. (ok|FAIL|ERROR|skipped .*)$", line)
    if m:
        n += 1
        bad += m[3] in ("FAIL", "ERROR")
        skip = " # SKIP " + m[3][9:-1] if m[3].startswith("skipped") else ""
        print(("not ok" if m[3] in ("FAIL", "ERROR") else "ok"), n, "-", m[2], m[1] + skip)
    else:
        rest.append(line)
if bad or not n:
    print("not ok %d - all of them ran" % (n + 1))
    print("".join("#   " + l for l in rest[-60:]))
sys.exit(bad > 0 or n == 0)'
