"""What an agent does with a kernel that it has never seen, in eight calls at most: PTX and its source in a folder; at the
end the proven rewrite is written, and the lines to change in the source are known. Prints TAP.
usage: transcript.py PROGRAM"""
import json, os, select, shutil, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'tool'))
from tap import claim, done

BINARY, LONG = os.path.abspath(sys.argv[1]), 540
TOP = os.getcwd()


class Agent:
    """A client that gives up when nothing is said for 60 s, and is told how far a call is at least every 5 s."""

    def __init__(self, root):
        self.p = subprocess.Popen([BINARY, "mcp", "--root", root], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/")
        self.kept, self.calls, self.silent, self.longest = b"", 0, 0.0, 0

    def send(self, **message):
        self.p.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.p.stdin.flush()

    def line(self):
        begun = time.time()
        while b"\n" not in self.kept:
            if not select.select([self.p.stdout], [], [], 60)[0]:
                raise TimeoutError("nothing was said for 60 s")
            self.kept += os.read(self.p.stdout.fileno(), 1 << 20)
        self.silent = max(self.silent, time.time() - begun)
        one, self.kept = self.kept.split(b"\n", 1)
        return json.loads(one)

    def ask(self, method, **params):
        self.send(id=self.calls, method=method, params=params)
        while True:
            m = self.line()
            if m.get("id") == self.calls:
                return m["result"]

    def tool(self, name, **arguments):
        self.calls += 1
        r = self.ask("tools/call", name=name, arguments=arguments, _meta={"progressToken": self.calls})
        self.longest = max(self.longest, len(json.dumps(r)))
        if r["isError"]:
            raise AssertionError(r["content"][0]["text"])
        return json.loads(r["content"][0]["text"])


work = tempfile.mkdtemp()
try:
    for f in ("scale.ptx", "scale.cu"):
        shutil.copy(f"{TOP}/tests/source/{f}", work)
    a = Agent(work)
    a.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "t", "version": "1"})
    a.send(method="notifications/initialized")
    a.silent = 0
    gpu = {"device": "sim:maxwell-titanx+l1"}
    kernels = a.tool("list", file="scale.ptx")["summary"]["modules"][0]["kernels"]
    claim("list names the kernels", {"tiles", "shared"} <= {k["readable"] for k in kernels}, kernels)
    loads = a.tool("analyze", file="scale.ptx", kernel="tiles")["summary"]["kernels"][0]["loads"]
    claim("analyze has every load with its class", len(loads) >= 2 and all("class" in l for l in loads), loads)
    a.tool("launch", file="scale.ptx", kernel="tiles", output="scale.launch.json")
    claim("launch writes a description", os.path.exists(f"{work}/scale.launch.json"))
    tuned = a.tool("tune", file="scale.ptx", kernel="tiles", budget=16, output="s.json", **gpu)
    claim("tune recommends, with its gain", not tuned["summary"]["leave_alone"] and tuned["summary"]["gain"] > 1, tuned)
    claim("and says what to call next", tuned["next"]["tool"] == "rewrite" and tuned["next"]["arguments"]["kernel"] == "tiles", tuned)
    made = a.tool("rewrite", **tuned["next"]["arguments"], output="tuned.ptx")
    claim("rewrite writes the PTX", "entry tiles" in open(f"{work}/tuned.ptx").read() and made["summary"]["changed"], made)
    proof = made["summary"]["proof"]
    claim("and says what was proven", proof["level"] == "full" and proof["verdict"] == "holds" and proof["text"], proof)
    edits = a.tool("source", file="s.json")
    advice = edits["summary"]["kernels"][0]["advice"]
    claim("source has the lines to change", any(x["file"] and x["file"].endswith("scale.cu") and x["line"] for x in advice), edits)
    claim("in eight calls at most", a.calls <= 8, a.calls)
    claim("each of at most 4,000 characters", a.longest <= 4000, a.longest)
    claim("and never silent for more than five seconds", a.silent <= 5, a.silent)
    check = subprocess.run([BINARY, "check", "--rewrite", f"{work}/scale.ptx", f"{work}/tuned.ptx"], capture_output=True, text=True)
    claim("the written rewrite keeps what the original means", check.returncode == 0, check.stdout + check.stderr)
    a.p.stdin.close()
    a.p.wait(60)
finally:
    shutil.rmtree(work, ignore_errors=True)
done()
