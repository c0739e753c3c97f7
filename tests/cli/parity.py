"""Random requests by command, workbench (--plain), MCP, batch and library: one document. Prints TAP.
usage: parity.py BINARY LIBRARY [REQUESTS [SEED]]   (200, 1)

Kernels, options and values are written down here, not read from the program's tables. Compared is all of the document, less what is of this run of
the program (times of day, host durations, paths); of a refusal the exit status and the first error. The workbench keeps no advice of a search, so
that of its documents `advice` is left out."""
import ctypes, json, os, random, re, shutil, subprocess, sys, tempfile
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'tool'))
from tap import claim, done

BINARY, LIBRARY = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 200
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else 1
KERNELS = ["coalescing", "stride_4", "stride_32", "hotspot", "gemm"]
DEVICES = ["sim:fermi-16k", "sim:kepler-k80", "sim:maxwell-750ti", "sim:ampere-a30", "sim:hopper-h200"]
FORMS = [  # each a way to configure; some contradict themselves, some are refused for some kernels
    lambda r: {},
    lambda r: {"bypass": r.choice(["l1", "ro"]), "pi": r.choice(["0", "1", "3", "cha", "bpa"])},
    lambda r: {"bypass": "l1", "bypass-op": r.choice(["cg", "no_allocate", "cs"]), "pi": str(r.randrange(4))},
    lambda r: {"bypass": "l1", "bypass-form": r.choice(["clone", "predicate", "vertical", "grouped"]), "pi": "1"},
    lambda r: {"pi": str(r.randrange(6))},
    lambda r: {"cluster": r.choice(["redirect", "agent"]), "index": r.choice(["row", "column", "tile:2x2"])},
    lambda r: {"cluster": "agent", "agents": str(1 + r.randrange(3))},
    lambda r: {"prefetch": r.choice(["l1", "l2"]), "prefetch-distance": str(1 + r.randrange(3))},
    lambda r: {"coarsen": str(r.choice([2, 4]))},
    lambda r: {"coarsen": "2", "coarsen-mode": "vector"},
    lambda r: {"block": r.choice(["32x1x1", "64x1x1", "16x16x1", "128x2x1"])},
    lambda r: {"swap-xy": True},
    lambda r: {"carveout": str(r.choice([0, 50, 100]))},
    lambda r: {"minctas": str(1 + r.randrange(4))},
]
AXES = ["pi", "coarsen=1/2", "block=32x1x1/64x1x1", "carveout", "prefetch=off/l1"]
OPERATIONS = ["run"] * 8 + ["sweep"] * 2 + ["tune"] + ["analyze"] * 3 + ["check"] * 2 + ["rewrite"] * 4
# of this run of the program, wherever they stand
OWN = {"time", "wall_ns", "seconds", "elapsed_s", "file", "path", "where", "writer", "command"}


def request(r):
    op = r.choice(OPERATIONS)
    kernels = KERNELS[:3] if op == "check" else KERNELS      # check executes every CTA, with every access looked at
    out = {"op": op, "kernel": r.choice(kernels), "device": r.choice(DEVICES), "options": {}}
    if op in ("run", "rewrite", "sweep"):
        for form in r.sample(FORMS, 1 if op == "sweep" else r.choice([1, 1, 2])):
            out["options"] = {**out["options"], **form(r)}
    if op == "sweep":
        out["axis"] = r.choice(AXES)
    if op == "tune":
        out["budget"] = 2 + r.randrange(4)
    return out


def arguments(q):
    out = {"file": f"kernels/{q['kernel']}.ptx", "device": q["device"], **q["options"]}
    return {**out, **{k: q[k] for k in ("axis", "budget") if k in q}}


def strip(v):
    if isinstance(v, dict):
        return {k: strip(x) for k, x in v.items() if k not in OWN}
    return [strip(x) for x in v] if isinstance(v, list) else v


def text_of(ptx):
    """Rewritten text, less the lines that say who wrote it and from where."""
    return "\n".join(x for x in ptx.splitlines() if not x.startswith("// written by gpulocw")).strip()


def said(status, document, errors, op):
    """What a door answered. A document that came is compared; else the first error."""
    if document and document.strip():
        try:
            body = json.loads(document) if op != "rewrite" else text_of(document)
        except ValueError:
            return (status, "no JSON: " + document[:200])
        if not (isinstance(body, dict) and body.get("format") == "gpulocw-diagnostics"):
            return (status, strip(body))
    return (status, (errors or ["nothing"])[0])


# ---- the doors ----
def command(q):
    words = [BINARY, q["op"], f"kernels/{q['kernel']}.ptx", "--device", q["device"]] + ([] if q["op"] == "rewrite" else ["--json"])
    for k, v in {**q["options"], **{k: q[k] for k in ("axis", "budget") if k in q}}.items():
        words.append(f"--{k}" if v is True else f"--{k}={v}")
    p = subprocess.run(words, capture_output=True, text=True)
    return said(p.returncode, p.stdout, re.findall(r"^(?:\S+: )?error: (.*?)(?: \[[a-z-]+\])?$", p.stderr, re.M), q["op"])


def errors_of(diagnostics):
    return [d["message"] for d in diagnostics or [] if isinstance(d, dict) and d["level"] == "error"]  # the last may say how many were cut


def batch(requests, folder):
    path = f"{folder}/requests"
    with open(path, "w") as f:
        f.writelines(json.dumps({"id": i, "tool": q["op"], "arguments": arguments(q)}) + "\n" for i, q in enumerate(requests))
    p = subprocess.run([BINARY, "batch", path], capture_output=True, text=True)
    out = []
    for q, a in zip(requests, map(json.loads, p.stdout.splitlines())):
        body = a.get("result", a.get("text"))
        body = body if body is None or isinstance(body, str) else json.dumps(body)
        out.append(said(a["exit"], body, errors_of(a.get("diagnostics")), q["op"]))
    return out


class Mcp:
    def __init__(self):
        self.p = subprocess.Popen([BINARY, "mcp", "--root", "."], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.n = 0
        self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "parity", "version": "1"})
        self.send(method="notifications/initialized")

    def send(self, **m):
        self.p.stdin.write(json.dumps({"jsonrpc": "2.0", **m}) + "\n")
        self.p.stdin.flush()

    def ask(self, method, **params):
        self.n += 1
        self.send(id=self.n, method=method, params=params)
        while True:
            a = json.loads(self.p.stdout.readline())
            if a.get("id") == self.n and "method" not in a:
                return a.get("result", a)

    def call(self, q):
        r = self.ask("tools/call", name=q["op"], arguments=arguments(q))
        s = r.get("structuredContent") or json.loads(r["content"][0]["text"])
        links = [c["uri"] for c in r.get("content", []) if "uri" in c]
        body = self.ask("resources/read", uri=links[0])["contents"][0]["text"] if links else s.get("text")
        if q["op"] == "rewrite" and links:      # an agent gets the PTX in a document that says what is proven, too
            body = json.loads(body)["text"]
        return said(s["exit"], body, errors_of(s.get("diagnostics")), q["op"])


class Library:
    def __init__(self):
        self.lib = ctypes.CDLL(LIBRARY)
        for name in ("gpulocw_new", "gpulocw_document", "gpulocw_diagnostics"):
            getattr(self.lib, name).restype = ctypes.c_void_p if name == "gpulocw_new" else ctypes.c_char_p
        for name in ("gpulocw_document", "gpulocw_diagnostics", "gpulocw_free", "gpulocw_call"):
            getattr(self.lib, name).argtypes = [ctypes.c_void_p] + ([ctypes.c_char_p] * 2 if name == "gpulocw_call" else [])
        self.g = self.lib.gpulocw_new()

    def call(self, q):
        status = self.lib.gpulocw_call(self.g, q["op"].encode(), json.dumps(arguments(q)).encode())
        document = (self.lib.gpulocw_document(self.g) or b"").decode()
        diagnostics = json.loads((self.lib.gpulocw_diagnostics(self.g) or b"[]").decode() or "[]")
        return said(status, document, errors_of(diagnostics), q["op"])


def workbench(q, folder, i):
    out = f"{folder}/{i}.{'ptx' if q['op'] == 'rewrite' else 'json'}"
    lines = [f":device {q['device']}"] + [f":set {k} {'on' if v is True else v}" for k, v in q["options"].items()]
    lines += {"run": [":run", ":panel counters"], "sweep": [f":sweep {q.get('axis')}", ":panel valley"],
              "tune": [f":tune search {q.get('budget')}", ":panel valley"], "analyze": [":run", ":panel locality"], "rewrite": [], "check": []}[q["op"]]
    lines += [f":write {out}" if q["op"] == "rewrite" else "check --json" if q["op"] == "check" else f":export json {out}", "show messages", "quit", ""]
    env = {**os.environ, "XDG_DATA_HOME": f"{folder}/data{i}", "XDG_CONFIG_HOME": f"{folder}/config{i}"}
    p = subprocess.run([BINARY, "--plain", f"kernels/{q['kernel']}.ptx"], input="\n".join(lines), capture_output=True, text=True, env=env)
    found = re.search(r'^\{\n? *"format": *"gpulocw-check.*?^\}$', p.stdout, re.M | re.S) if q["op"] == "check" else None
    if found:
        with open(out, "w") as f:
            f.write(found.group())
    return out if os.path.exists(out) else "", p.stdout


def first_difference(a, b, at=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for k in list(a) + [k for k in b if k not in a]:
            if a.get(k, "absent") != b.get(k, "absent"):
                return first_difference(a.get(k, "absent"), b.get(k, "absent"), f"{at}/{k}")
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)) and len(a) == len(b):
        for k, (x, y) in enumerate(zip(a, b)):
            if x != y:
                return first_difference(x, y, f"{at}/{k}")
    if isinstance(a, str) and isinstance(b, str) and "\n" in a + b:
        for n, (x, y) in enumerate(zip(a.split("\n"), b.split("\n")), 1):
            if x != y:
                return f"{at} line {n}: {x[:120]!r} != {y[:120]!r}"
    return f"{at}: {str(a)[:200]!r} != {str(b)[:200]!r}"


def compare(name, requests, want, got):
    bad = [f"{json.dumps(q)}\n  {first_difference(w, g)}" for q, w, g in zip(requests, want, got) if g is not None and w != g]
    claim(f"{name}: {sum(g is not None for g in got)} requests give the command's document", len(got) == len(requests) and not bad,
          f"{len(bad)} differ, {len(got)} answers; " + "\n".join(bad[:6]))


def as_workbench(q, want, got):
    """Its document and the command's. A refused run or sweep has the command's words among its messages; a refused rewrite writes nothing."""
    path, text = got
    status, body = want
    if isinstance(body, str) and status and q["op"] != "rewrite":
        words = re.sub(r"\s+", " ", text)
        return ("refused alike" if body[:60] in words else words[-300:]), "refused alike"
    if not path:       # nor is an unchanged text written, which the command prints
        same = q["op"] == "rewrite" and body == text_of(open(f"kernels/{q['kernel']}.ptx").read())
        return ("refused alike" if status or same else f"nothing was written: {text[-300:]}"), "refused alike"
    document = open(path).read()
    mine = text_of(document) if q["op"] == "rewrite" else strip(json.loads(document))
    for d in (mine, body):
        if isinstance(d, dict):
            d.pop("advice", None)
    return mine, body


r = random.Random(SEED)
requests = [request(r) for _ in range(COUNT)]
folder = tempfile.mkdtemp()
try:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        want = list(pool.map(command, requests))
        benches = list(pool.map(lambda k: workbench(requests[k], folder, k), range(COUNT)))
    statuses = {s for s, _ in want}
    claim("some requests run, some are refused", 0 in statuses and (COUNT < 50 or len(statuses) > 1), sorted(statuses))
    compare("batch", requests, want, batch(requests, folder))
    mcp = Mcp()
    compare("MCP", requests, want, [mcp.call(q) for q in requests])
    mcp.p.stdin.close()
    library = Library()
    compare("library", requests, want, [library.call(q) for q in requests])
    pairs = [(q, as_workbench(q, w, b)) for q, w, b in zip(requests, want, benches) if b is not None]     # last: it takes advice out of want
    bad = [f"{json.dumps(q)}\n  {first_difference(theirs, mine)}" for q, (mine, theirs) in pairs if mine != theirs]
    claim(f"workbench: {len(pairs)} requests give the command's document", not bad, f"{len(bad)} differ; " + "\n".join(bad[:6]))
finally:
    shutil.rmtree(folder, ignore_errors=True)
done()
