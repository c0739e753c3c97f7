#!/usr/bin/env python3
"""Is standard input SARIF 2.1.0, as far as the parts that gpulocw writes? What the specification (OASIS, sections
3.13 to 3.52) requires of each object that is there; an unknown property of one is an error, too."""
import json, re, sys

LEVELS = ("none", "note", "warning", "error")
KNOWN = {
    "log": "version $schema runs", "run": "tool results columnKind originalUriBaseIds artifacts properties",
    "driver": "name version semanticVersion informationUri rules",
    "rule": "id name shortDescription fullDescription help helpUri defaultConfiguration properties",
    "result": "ruleId ruleIndex level message locations relatedLocations partialFingerprints fingerprints baselineState properties occurrenceCount",
    "location": "id physicalLocation logicalLocations message",
    "region": "startLine startColumn endLine endColumn snippet", "artifact": "uri uriBaseId index",
}


def need(o, where, kind, *keys):
    assert isinstance(o, dict), where + " is no object"
    for k in keys:
        assert k in o, "%s has no %s" % (where, k)
    for k in o:
        assert k in KNOWN[kind].split(), "%s has a property %s that SARIF does not know" % (where, k)


def text(o, where):
    assert isinstance(o, dict) and isinstance(o.get("text"), str) and o["text"], where + " has no text"


def location(l, where):
    need(l, where, "location")
    p = l.get("physicalLocation")
    if p:
        need(p["artifactLocation"], where, "artifact", "uri")
        uri = p["artifactLocation"]["uri"]
        assert re.fullmatch(r"[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=%-]+", uri), "%s: %r is no URI" % (where, uri)
        if "region" in p:
            need(p["region"], where, "region", "startLine")
            assert all(isinstance(v, int) and v >= 1 for k, v in p["region"].items() if k != "snippet"), where


d = json.load(sys.stdin)
need(d, "the log", "log", "version", "runs")
assert d["version"] == "2.1.0"
for run in d["runs"]:
    need(run, "a run", "run", "tool")
    driver = run["tool"]["driver"]
    need(driver, "the driver", "driver", "name")
    rules = driver.get("rules", [])
    for r in rules:
        need(r, "a rule", "rule", "id")
        for k in ("shortDescription", "fullDescription", "help"):
            if k in r:
                text(r[k], "rule %s, %s" % (r["id"], k))
        assert re.fullmatch(r"https://[A-Za-z0-9._~/#%-]+", r.get("helpUri", "")), "rule %s has no helpUri" % r["id"]
        assert r.get("defaultConfiguration", {}).get("level", "warning") in LEVELS
    assert len({r["id"] for r in rules}) == len(rules), "two rules have one id"
    for n, r in enumerate(run.get("results", [])):
        need(r, "result %d" % n, "result", "message")
        text(r["message"], "result %d" % n)
        assert r.get("level", "warning") in LEVELS
        assert "ruleIndex" not in r or rules[r["ruleIndex"]]["id"] == r["ruleId"], "result %d: its rule" % n
        for l in r.get("locations", []) + r.get("relatedLocations", []):
            location(l, "result %d" % n)
print("ok")
