#!/usr/bin/env python3
"""Documents printed by hand: lines of engine and tui that print JSON as text instead of through engine/base/json_write.h.

    python3 tests/tool/printed_json.py            the lines, then their number
    python3 tests/tool/printed_json.py --check    the same; fails where there is one

A line counts where a string has a JSON key, `"word":` or `"%s":`, or begins an object, and is no message for people:
what stands in diagnostics, hints and help is JSON that a user is to write. Also: a document begun without document_open."""
import re
import subprocess
import sys

KEY = re.compile(r'(\\"[A-Za-z_%$][\w.%-]*\\" ?:|\{\\")')
PUT = re.compile(r'\b(buf_puts|buf_printf|buf_put|buf_str|snprintf|jw_raw|fprintf)\(')
FORMAT = re.compile(r'jw_(put_)?str\([^;]*"format"')
# the one writer; heads of documents that are only looked for
LEFT = {"engine/base/json_write.c", "engine/session/document.c", "engine/emulate/driver", "engine/emulate/runtime"}


def statements(text):
    """(line, statement) of each statement that calls a function that prints."""
    for m in PUT.finditer(text):
        end = text.find(";", m.start())
        yield text.count("\n", 0, m.start()) + 1, text[m.start():end]


def main():
    files = subprocess.run(["git", "ls-files", "engine/*.c", "tui/*.c"], capture_output=True, text=True, check=True).stdout.split()
    found = 0
    for f in files:
        if any(f.startswith(l) for l in LEFT):
            continue
        text = open(f).read()
        for line, s in statements(text):
            if KEY.search(s):
                found += 1
                print(f"{f}:{line}: {s.splitlines()[0].strip()}")
        for line, s in enumerate(text.split("\n"), 1):
            if FORMAT.search(s) and "cast" not in f and "journal" not in f:
                found += 1
                print(f"{f}:{line}: a document begins without document_open")
    print(f"documents printed by hand: {found}")
    return 1 if found and "--check" in sys.argv else 0


sys.exit(main())
