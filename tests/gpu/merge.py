#!/usr/bin/env python3
"""One collection from several (collect.py): merge.py out.json a.json b.json ...; later sweeps of a launch replace earlier ones."""
import json, sys
rows, device = {}, None
for p in sys.argv[2:]:
    d = json.load(open(p))
    device = d["device"]
    for r in d["rows"]:
        rows.setdefault((r["file"], r["launch"]), {}).update(r)
json.dump({"device": device, "rows": [rows[k] for k in sorted(rows)]}, open(sys.argv[1], "w"))
