"""What the reasons in engine/paper/paper.def say of the experiments' results, to be held against what they print.

CLAIMS[ID] lists (sentence, test of the document). A test sees only figures that both sides have.
"""
CLASSES_DIFFER = {"ATX", "SYK", "NBO", "SAD", "DXT"}
OWN_DATA = {"findK", "findRangeK", "bfs_kernel1", "bfs_kernel2"}
FERMI = ("fermi-16k", "fermi-48k", "fermi-gtx460")
K80 = ("kepler-k80-16k", "kepler-k80-32k", "kepler-k80-48k", "kepler-k80")

def means(d, series, platforms=None):
    """(ours, paper) of the means over all applications, of one series"""
    for m in d["means"]:
        v = m["series"].get(series)
        if m["class"] is None and v and v["paper"] is not None and (platforms is None or m["platform"] in platforms):
            yield v["ours"], v["paper"]

def larger(series, platforms=None):
    return lambda d: all(o > p for o, p in means(d, series, platforms))

def within(series, share, platforms=None):
    return lambda d: all(abs(o / p - 1) <= share for o, p in means(d, series, platforms))

def away(d, share):
    """applications with a figure farther than that from the paper's"""
    return {r["application"] for r in d["rows"] for v in r["series"].values()
            if isinstance(v["paper"], (int, float)) and (v["ours"] is None or abs(v["ours"] / v["paper"] - 1) > share)}

def differing(d):
    return {r["application"] for r in d["rows"] if r["series"]["class"]["paper"] not in (None, r["series"]["class"]["ours"])}

def probed(d, app):
    return next(r["series"]["by probes"]["ours"] for r in d["rows"] if r["application"] == app)


def elected_well(d):
    """what a run-off elects is within 5 % of the best of all values, or the row says why"""
    return all(r["series"]["run-off/best"]["ours"] is None or r["series"]["run-off/best"]["ours"] <= 1.05 or "run-off" in (r["note"] or "") for r in d["rows"])

VOTED = [("a run-off elects within 5 % of the best, or its row says why", elected_well)]
TRACKED = ("caching all gains more than in the paper", larger("cha"))
OTHER_DATA = [("bfs, the B+ tree and backprop are all that is a quarter away", lambda d: away(d, .25) <= OWN_DATA | {"forward", "adjust"})]
CLAIMS = {
    "s1-fig12": [TRACKED],
    "s1-fig13": [TRACKED],
    "s1-fig15": [("the best threshold gains more than in the paper", larger("opt"))],
    "s1-fig16": [TRACKED],
    "s1-fig17": [TRACKED],
    "s1-fig18": [("the read-only cache gains less than in the paper", lambda d: not larger("cha")(d))],
    "s1-fig22": [("caching all gains more on the Fermi presets", larger("cha", FERMI)), ("the K80 presets are within a quarter", lambda d: within("cha", .25, K80)(d) and within("opt", .25, K80)(d))],
    "s1-vote": VOTED,
    "s3-vote": VOTED,
    "s3-fig2": [("staggered later turns are within a tenth of the paper's 132", lambda d: all(abs(r["series"]["cycles"]["ours"] / 132 - 1) <= .1 for r in d["rows"] if (r["platform"], r["point"]) == ("pascal-p100", "staggered: later turns")))],
    "s3-classes": [("which classes differ", lambda d: differing(d) == CLASSES_DIFFER), ("ATX, SYK, SAD have the paper's class by probes", lambda d: [probed(d, a) for a in ("ATX", "SYK", "SAD")] == ["cache-line", "cache-line", "streaming"]),
                   ("DXT is cache-line by probes", lambda d: probed(d, "DXT") == "cache-line")],
    "s4-tab3": OTHER_DATA,
    "s4-fig7": OTHER_DATA,
    "s4-fig8": OTHER_DATA,
}

def false_claims(d):
    return ["the reason does not hold: " + said for said, holds in CLAIMS.get(d["id"], []) if not d["quick"] and not holds(d)]
