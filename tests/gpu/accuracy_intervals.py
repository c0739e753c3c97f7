"""How far measured times are from simulated and modelled ones, as the fields spread_* of a preset: shares of the simulated time that hold
80 of 100 measured times. How well they hold is tried on kernels that had no part in them: each kernel in turn is left out."""
import math

import suites

LEAST = 10      # kernels; below that no interval is given
PERCENT = 80

def quantile(v, p):
    """Of a sample that stands for more: 100 p of 100 further values lie below (Weibull's plotting positions)."""
    v = sorted(v)
    x = min(max(p * (len(v) + 1) - 1, 0), len(v) - 1)
    i = min(int(x), len(v) - 2)
    return v[i] + (x - i) * (v[i + 1] - v[i])

def between(v):
    return quantile(v, (100 - PERCENT) / 200), quantile(v, (100 + PERCENT) / 200)

def time_of(rows, kind, key):
    r = rows.get((kind,) + key)
    return r["time_ns"] if r and "error" not in r and r.get("time_ns") else None

def agent_times(rows, k):
    """Original and agents: on a GPU by turns, simulated as whole launches; where the record lacks those, one after the other."""
    r = rows.get(("agents",) + k, {})
    if r.get("whole_ns"):
        return r["whole_original_ns"], r["whole_ns"]
    return r.get("original_ns") or time_of(rows, "run", k), time_of(rows, "agents", k)

def logs(*pairs):
    """log(a / b) of each pair that has both."""
    return [math.log(a / b) for a, b in pairs if a and b]

def points(rows, key):
    r = rows.get(("pi",) + key)
    return dict(map(tuple, r["curve"])) if r and "error" not in r else {}

def plain(gpu, sim, k):
    return logs((time_of(gpu, "run", k), time_of(sim, "run", k)))

def model(gpu, sim, k):
    return logs((time_of(gpu, "run", k), time_of(sim, "predict", k)))

def agent(gpu, sim, k):
    return logs((time_of(gpu, "agents", k), time_of(sim, "agents", k)))

def agent_gain(gpu, sim, k):
    """Of what is compared: whole launches, where the records have them."""
    g, s = agent_times(gpu, k), agent_times(sim, k)
    return logs((g[1] / g[0], s[1] / s[0])) if all(g + s) else []

def pi(gpu, sim, k):
    g, s = points(gpu, k), points(sim, k)
    return logs(*((g[p], s.get(p)) for p in g if p != "cha"))

def pi_gain(gpu, sim, k):
    g, s = points(gpu, k), points(sim, k)
    base = logs((g.get("cha"), s.get("cha")))
    return [x - base[0] for x in pi(gpu, sim, k)] if base else []

def coarsen_gain(gpu, sim, k):
    """Of what was advised and has several elements a thread, and no other knob: whole launches."""
    g, s = gpu.get(("recommend",) + k, {}), sim.get(("recommend",) + k, {})
    words = g.get("options") or []
    if words[:1] != ["--coarsen"] or words[2:3] not in ([], ["--coarsen-mode"]) or len(words) > 4 or s.get("options") != words:
        return []
    return logs((g["time_ns"] / g["original_ns"], s["time_ns"] / s["original_ns"])) if g.get("original_ns") and s.get("time_ns") else []

KINDS = (("plain", plain, "an ordinary kernel"), ("pi", pi, "with a threshold"), ("pi_gain", pi_gain, "time with a threshold over the time without"),
         ("agent", agent, "agents by column"), ("agent_gain", agent_gain, "time with agents over the time without"),
         ("coarsen_gain", coarsen_gain, "time with several elements a thread over the time without"),
         ("model", model, "predict, an ordinary kernel"))

def held(by_kernel, keys, inside):
    """Values of `keys` within the interval of other kernels: inside(k) names those that make it."""
    hit = n = 0
    for k in keys:
        low, high = between([x for o in inside(k) for x in by_kernel[o]])
        hit += sum(low <= x <= high for x in by_kernel[k])
        n += len(by_kernel[k])
    return "%d of %d (%.0f %%)" % (hit, n, 100 * hit / n)

def rows_of(gpu, sim):
    half = {(s, k): h for s, k, h in suites.rows()}
    for name, values, text in KINDS:
        v = {k: x for k, x in ((k, values(gpu, sim, k)) for k in half) if x}
        if len(v) < LEAST:
            yield name, text, None, [str(len(v)), "n/a", "n/a", "n/a"]
            continue
        low, high = between([x for xs in v.values() for x in xs])
        alone = held(v, v, lambda k: [o for o in v if o != k])
        parts = [[k for k in v if half[k] == h] for h in ("development", "held-out")]
        across = held(v, v, lambda k: [o for o in v if half[o] != half[k]]) if min(map(len, parts)) >= LEAST else "n/a"
        yield name, text, (math.exp(low), math.exp(high)), [str(len(v)), "%.2f to %.2f" % (math.exp(low), math.exp(high)), alone, across]

def show(gpu, sim):
    print("## Intervals that hold %d of 100 measured times\n" % PERCENT)
    print("| what | kernels | measured over simulated | holds, the kernel left out | holds, the other half's interval |\n|---|---|---|---|---|")
    fields = []
    for name, text, ends, cells in rows_of(gpu, sim):
        print("| " + " | ".join([text] + cells) + " |")
        if ends:
            fields += ["spread_%s_low %.3f" % (name, ends[0]), "spread_%s_high %.3f" % (name, ends[1])]
    print("\nAs fields of a preset: %s.\n" % ", ".join(fields) if fields else "\nNo field of a preset: fewer than %d kernels are recorded.\n" % LEAST)
