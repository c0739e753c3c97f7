#!/usr/bin/env python3
"""Prints one line per finished configuration that a session file and its journal hold, sorted.

usage: session_points.py SESSION.json
Reads both by docs/reference/session.md alone. Exit 1: the file is no whole session, or the journal is damaged inside."""
import json, os, sys


def crc32c(data, table=[]):
    if not table:
        for i in range(256):
            for _ in range(8):
                i = (i >> 1) ^ (0x82F63B78 if i & 1 else 0)
            table.append(i)
    crc = 0xFFFFFFFF
    for b in data:
        crc = table[(crc ^ b) & 255] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def key(p):
    return json.dumps(p["options"], sort_keys=True) + str(p["time_ns"]["median"])


def points(runs):
    for r in runs:
        held = r.get("points", []) + r.get("tried", []) + [r[k] for k in ("bpa", "cha", "result") if k in r]
        for p in held:
            if p.get("time_ns") and p["time_ns"].get("median") is not None:
                yield key(p)


path = sys.argv[1]
raw = open(path, "rb").read()
doc = json.loads(raw)
assert doc["format"] == "gpulocw-session"
runs, single = doc["runs"], []
if os.path.exists(path + ".journal"):
    lines = open(path + ".journal", "rb").read().split(b"\n")
    torn, texts = lines.pop(), []
    for i, line in enumerate(lines):
        if int(line[:8], 16) != crc32c(line[9:]):
            assert i == len(lines) - 1, "line %d is damaged" % (i + 1)
            continue
        texts.append(json.loads(line[9:]))
    marks = [t["saved"] for t in texts if "saved" in t]
    mark = {"size": len(raw), "crc": "%08x" % crc32c(raw)} if marks or texts else None
    if {k: texts[0][k] for k in ("size", "crc")} != mark:
        assert mark in marks, "the journal is of another file"
        texts = []
    for t in texts[1:]:
        if "whole" in t:
            assert t["run"] <= len(runs)
            runs[t["run"] : t["run"] + 1] = [t["whole"]]
        elif "point" in t:
            assert t["run"] < len(runs)
            single += [key(t["point"])] if t["point"].get("time_ns") else []
print("\n".join(sorted(set(points(runs)) | set(single))))
