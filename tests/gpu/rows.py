"""What the tables of micro-kernels share (atoms.py, consts.py): a timed launch, a recording, the rows."""
import argparse, json, os, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))

def buffer(name, count):
    return {"name": name, "buffer": "u32", "count": count, "init": {"fill": 0}}

def median_ns(a, folder, ptx, kernel, grid, block, buffers, values):
    path = os.path.join(folder, "rows.launch.json")
    with open(path, "w") as f:
        json.dump({"format": "gpulocw-launch", "version": 1, "ptx": os.path.join(HERE, ptx), "kernel": kernel,
                   "grid": [grid, 1, 1], "block": [block, 1, 1], "shared": 0,
                   "args": buffers + [{"name": k, "u32": v} for k, v in values.items()]}, f)
    r = subprocess.run([a.gpulocw, "run", os.path.join(HERE, ptx), "--launch", path, "-d", a.device, "--json", "--allow-files",
                        "--no-counters"], capture_output=True, text=True)
    if not r.stdout:
        sys.exit("%s: %s" % (ptx, r.stderr.strip()))
    return json.loads(r.stdout)["time_ns"]["median"]

def options(doc):
    p = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("-d", "--device", default="sim:hopper-h200")
    p.add_argument("--against", help="a recording")
    p.add_argument("--only", action="append", help="rows whose name has this; may be given several times")
    p.add_argument("--mhz", type=float, default=1980, help="highest clock of an SM")
    p.add_argument("--gpulocw", default=os.environ.get("GPULOCW", "gpulocw"))
    return p

def recorded(path):
    rows = [l.strip().strip("|").split("|") for l in open(path) if l.startswith("|")]
    return {r[0].strip(): float(r[1]) for r in rows[2:]}

def table(a, of, unit, digits, cases, measure):
    """A row for each case (name, ...) that is wanted; measure(folder, *case) gives its number."""
    old = recorded(a.against) if a.against else None
    print("| %s | %s%s |%s\n|---|---|%s" % (of, "recorded: " if old else "", unit, " here | ratio |" if old else "", "---|---|" if old else ""))
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            name = case[0]
            if a.only and not any(o in name for o in a.only) or old and name not in old:
                continue
            n = measure(folder, *case)
            said = "%.*f" % (digits, n)
            print("| %s | %.*f | %s | %.2f |" % (name, digits, old[name], said, n / old[name]) if old else "| %s | %s |" % (name, said), flush=True)
