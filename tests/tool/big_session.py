#!/usr/bin/env python3
"""Makes a large session of a small one: its runs over and over, each with times of its own.

    big_session.py SMALL.json MB OUT.json      MB: 10^6 bytes, at least
"""
import copy, json, random, sys


def vary(o, rng):
    """Other times of the same order, everywhere below o."""
    if isinstance(o, dict):
        if isinstance(o.get("time_ns"), dict):
            t = o["time_ns"]
            t["samples"] = [max(1, int(s * (0.9 + 0.2 * rng.random()))) for s in t["samples"]]
            if t["samples"]:
                t["median"], t["min"], t["max"] = sorted(t["samples"])[len(t["samples"]) // 2], min(t["samples"]), max(t["samples"])
        for v in o.values():
            vary(v, rng)
    elif isinstance(o, list):
        for v in o:
            vary(v, rng)


def main():
    small, most, out = sys.argv[1], float(sys.argv[2]) * 1e6, sys.argv[3]
    rng = random.Random(7)
    session = json.load(open(small))
    runs = session.pop("runs")
    with open(out, "w") as f:
        head = json.dumps(session, indent=2, ensure_ascii=False)
        n = f.write(head[:-2] + ',\n  "runs": [\n')
        k = 0
        while n < most or k < len(runs):
            r = copy.deepcopy(runs[k % len(runs)])
            vary(r, rng)
            r["time_unix_s"] += k
            n += f.write(("    " if not k else ",\n    ") + json.dumps(r, ensure_ascii=False))
            k += 1
        f.write("\n  ]\n}\n")
    print(f"{out}: {k} runs, {n} bytes")


if __name__ == "__main__":
    main()
