#!/usr/bin/env python3
"""The rows of tune_table.sh, as Markdown."""
import json, math, os, subprocess, sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "gpu"))
from ranks import corr, ranks

def load(path):
    try:
        return json.load(open(path))
    except (OSError, ValueError):
        return None

def again(folder, row):
    """Gain of the recommended line, run by itself; the outputs must be the original's."""
    was, now = load(f"{folder}/{row}.was"), load(f"{folder}/{row}.is")
    if not was or not now or not was["time_ns"] or not now["time_ns"]:
        return "did not run"
    return f"{was['time_ns']['median'] / now['time_ns']['median']:.2f}x" + ("" if now["equal_to_original"] else " (differs)")

def reference(folder, device, rows):
    limit = 1.02 if device.startswith("sim") else 1.03
    good = few = whole = 0
    logs = []
    print("| kernel | launch | original ms | reference best | launches | search best | launches | share | time over the reference's | seconds | run again by its line | recommended by the search |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        k, l = row.split(":")
        e, s = load(f"{folder}/{row}.exhaustive"), load(f"{folder}/{row}.search")
        took = (load(f"{folder}/{row}.search.rc") or {}).get("s", math.nan)
        if not s:
            print(f"| {k} | {l} | search did not finish |")
            continue
        original, found = s["original"]["time_ns"]["median"], s["best"]["time_ns"]["median"]
        line = s["options_line"] or "leave it alone"
        logs.append(original / found)
        rerun = again(folder, row) if s["options_line"] else ""
        if not e:
            print(f"| {k} | {l} | {original / 1e6:.4f} | not finished | | {original / found:.2f}x | {s['launches']} | | | {took:.1f} | {rerun} | `{line}` |")
            continue
        best = e["best"]["time_ns"]["median"]
        over, share = found / best, s["launches"] / e["launches"]
        whole, good, few = whole + 1, good + (over <= limit), few + (share <= 0.15)
        print(f"| {k} | {l} | {original / 1e6:.4f} | {e['original']['time_ns']['median'] / best:.2f}x | {e['launches']} | {original / found:.2f}x | {s['launches']} | {100 * share:.1f} % | {100 * (over - 1):+.1f} % | {took:.1f} | {rerun} | `{line}` |")
    print(f"\nwithin {100 * (limit - 1):.0f} %: {good} of {whole}; at most 15 % of the launches: {few} of {whole}; geometric mean of the search's gains over {len(logs)} kernels: {math.exp(sum(map(math.log, logs)) / max(len(logs), 1)):.2f}x")

VALLEYS = [("valley", "fermi", "sim:fermi-16k", []), ("valley", "fermi", "sim:fermi-48k", []), ("valley", "default", "sim:hopper-h200", []),
           ("atax", "default", "sim:hopper-h200", ["--carveout", "100"]), ("gesummv", "default", "sim:hopper-h200", ["--carveout", "100"]),
           ("kmeans", "default", "sim:hopper-h200", ["--carveout", "100"]), ("spmv", "default", "sim:hopper-h200", ["--carveout", "100"]), ("bfs", "default", "sim:fermi-16k", [])]

def told(p, how):
    v = p["by_" + how]
    return f"n/a: {p['why_not_by_' + how]}" if v is None else f"{v}"

MEASURED = [("valley", "h200", []), ("valley", "default", []), ("atax", "h200", ["--carveout", "100"]), ("gesummv", "h200", ["--carveout", "100"]),
            ("kmeans", "h200", ["--carveout", "100"]), ("spmv", "h200", ["--carveout", "100"])]

def pi(gpulocw, device):
    rows = [(k, l, device, extra) for k, l, extra in MEASURED] if device else VALLEYS
    print("| kernel | launch | device, options | W | by footprint | by memory cost | found | time at the predicted ones over the best |")
    print("|---|---|---|---|---|---|---|---|")
    for k, l, d, extra in rows:
        where = [f"kernels/{k}.ptx", "--kernel", l, "--device", d, "--json", "--threads", "1"] + extra
        p = json.loads(subprocess.run([gpulocw, "predict"] + where, capture_output=True, check=True).stdout)["threshold"]
        s = json.loads(subprocess.run([gpulocw, "sweep"] + where, capture_output=True, check=True).stdout)
        time = {q["pi"]: q["time_ns"]["median"] for q in s["points"] if q["time_ns"]}
        if not time:
            print(f"| {k} | {l} | {d} | the sweep has no times |", flush=True)
            continue
        best = min(time.values())
        at = [x for x in (p["by_footprint"], p["by_cost"]) if x is not None]
        print(f"| {k} | {l} | {d} {' '.join(extra)} | {p['warps']} | {told(p, 'footprint')} | {told(p, 'cost')} | {s['best'].get('pi', '')} ({s['category']}) | {', '.join(f'{time[int(x)] / best:.2f}' for x in at)} |", flush=True)

# Sweeps of a recording (tests/gpu/record.py) by the options they were made with.
RECORDED = [("cg", []), ("cg-carveout", ["--carveout", "100"])]

def told_rank(a, b):
    r = corr(ranks(a), ranks(b))
    return "n/a" if r is None else f"{r:.2f}"

def recorded_row(gpulocw, preset, r, sweep, extra):
    """One sweep of the recording beside what the model says of the preset; None: no sweep, or it ended in errors."""
    points = {0: sweep.get("bpa"), **{p["pi"]: p for p in sweep.get("points", [])}, sweep.get("warps"): sweep.get("cha")}
    w = sweep.get("warps") or 0
    time = [points[p]["time_ns"] if points.get(p) and points[p]["status"] == "OK" else None for p in range(w + 1)]
    if not w or None in time:
        return None
    where = [f"kernels/{r['file']}.ptx", "--kernel", r["launch"], "--device", preset, "--json"] + extra
    out = subprocess.run([gpulocw, "predict"] + where, capture_output=True)
    told = json.loads(out.stdout)["threshold"] if out.returncode == 0 else {"by_cost": None, "why_not_by_cost": "it failed"}
    if told["by_cost"] is None:
        return {"why": told["why_not_by_cost"]}
    return {"time": time, "cost": told["cycles"], "w": w, "by": int(told["by_cost"]), "lines": told["by_footprint"]}

def recorded(gpulocw, path, preset):
    doc = json.load(open(path))
    over, lines = [], []
    print("| kernel | launch | options | W | measured spread | rank over π | of pairs beyond 2 % ordered | by cost | measured best | caching all over the best | by footprint over the best | by cost over the best |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for r in doc["rows"]:
        for name, extra in RECORDED:
            row = recorded_row(gpulocw, preset, r, r.get(name) or {}, extra)
            if not row:
                continue
            head = f"| {r['file']} | {r['launch']} | {' '.join(extra)} |"
            if "why" in row:
                print(f"{head} n/a: {row['why']} |", flush=True)
                continue
            t, c, w = row["time"], row["cost"], row["w"]
            pairs = [(i, k) for i in range(w + 1) for k in range(i) if abs(t[i] / t[k] - 1) > 0.02]
            right = sum((c[i] < c[k]) == (t[i] < t[k]) and c[i] != c[k] for i, k in pairs)
            best = min(t)
            over.append(t[row["by"]] / best)
            if row["lines"] is not None:
                lines.append(t[int(row["lines"])] / best)
            told = "n/a" if row["lines"] is None else f"{lines[-1]:.2f}"
            print(f"{head} {w} | {100 * (max(t) / best - 1):.1f} % | {told_rank(c, t)} | {f'{100 * right / len(pairs):.0f} % of {len(pairs)}' if pairs else 'n/a'} | {row['by']} | {t.index(best)} | {t[w] / best:.2f} | {told} | {over[-1]:.2f} |", flush=True)
    mean = lambda v: math.exp(sum(map(math.log, v)) / len(v)) if v else math.nan
    print(f"\ntime at the predicted threshold over the best measured, {len(over)} sweeps: geometric mean {mean(over):.3f}, worst {max(over):.2f}; within 3 %: {sum(x <= 1.03 for x in over)}; by footprint, {len(lines)}: {mean(lines):.3f}")

if __name__ == "__main__":
    if sys.argv[1] == "reference":
        reference(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif sys.argv[1] == "recorded":
        recorded(*sys.argv[2:5])
    else:
        pi(sys.argv[2], sys.argv[3] if len(sys.argv) > 3 else "")
