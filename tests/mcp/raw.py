"""The MCP server by hand: what a client that errs, vanishes or attacks sees. Prints TAP."""
import json, os, select, shutil, signal, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'tool'))
from tap import claim, done

BINARY, LONG = os.path.abspath(sys.argv[1]), 60
TOP = os.getcwd()
TEXTS = tempfile.mkdtemp()


class Server:
    def __init__(self, *options, cwd=TOP):
        self.p = subprocess.Popen([BINARY, "mcp", *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=cwd,
                                  env={**os.environ, "TMPDIR": TEXTS})
        self.kept = b""

    def raw(self, data):
        self.p.stdin.write(data)
        self.p.stdin.flush()

    def send(self, **message):
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def line(self, limit=LONG):
        until = time.time() + limit
        while b"\n" not in self.kept:
            if not select.select([self.p.stdout], [], [], max(0, until - time.time()))[0]:
                raise TimeoutError("no line from the server")
            got = os.read(self.p.stdout.fileno(), 1 << 20)
            if not got:
                raise EOFError
            self.kept += got
        one, self.kept = self.kept.split(b"\n", 1)
        return json.loads(one)

    def ask(self, method, id=1, **params):
        self.send(id=id, method=method, params=params)
        while True:
            answer = self.line()
            if answer.get("id") == id and "method" not in answer:
                return answer

    def begin(self, version="2025-11-25"):
        answer = self.ask("initialize", id="begin", protocolVersion=version, capabilities={}, clientInfo={"name": "t", "version": "1"})
        self.send(method="notifications/initialized")
        return answer

    def tool(self, name, id=1, **arguments):
        return self.ask("tools/call", id=id, name=name, arguments=arguments)["result"]

    def end(self):
        self.p.stdin.close()
        return self.p.wait(LONG)

    def vanish(self):
        self.p.stdin.close()
        self.p.stdout.close()
        return self.p.wait(LONG)

    def children(self):
        return subprocess.run(["pgrep", "-P", str(self.p.pid)], capture_output=True, text=True).stdout.split()


def wait_for(what, limit=LONG):
    until = time.time() + limit
    while time.time() < until:
        if what():
            return True
        time.sleep(0.02)
    return False


def said(r):
    """The answer of a call: one JSON text."""
    return json.loads(r["content"][0]["text"])


META = {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}
work = tempfile.mkdtemp()
try:
    # ---- beginning ----
    s = Server()
    claim("before initialize, a request without a revision is refused", s.ask("tools/list")["error"]["code"] == -32602)
    claim("ping is answered at any time", s.ask("ping") == {"jsonrpc": "2.0", "id": 1, "result": {}})
    for asked, given in [("2025-11-25", "2025-11-25"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2024-11-05"),
                         ("1999-01-01", "2025-11-25"), ("2025-03-26", "2025-11-25")]:
        claim(f"{asked} is answered by {given}", s.begin(asked)["result"]["protocolVersion"] == given)
    s.end()
    s = Server()
    found = s.ask("server/discover", _meta=META)["result"]
    claim("server/discover names the revision", found["supportedVersions"] == ["2026-07-28"] and found["resultType"] == "complete", found)
    wrong = s.ask("tools/list", _meta={**META, "io.modelcontextprotocol/protocolVersion": "2030-01-01"})["error"]
    claim("an unknown revision is named, with those there are",
          wrong["code"] == -32022 and wrong["data"] == {"supported": ["2026-07-28"], "requested": "2030-01-01"}, wrong)
    tools = s.ask("tools/list", _meta=META)["result"]
    claim("a list carries its caching hints", tools["ttlMs"] > 0 and tools["cacheScope"] == "private")
    names = {t["name"] for t in tools["tools"]}
    claim("the tools are there", {"analyze", "launch", "run", "sweep", "tune", "predict", "rewrite", "diff", "report", "check_memory"} <= names, names)
    listed = json.dumps(tools["tools"], separators=(",", ":"), ensure_ascii=False)
    claim("the list of tools has at most 20,000 characters", len(listed) <= 20000, len(listed))
    told = {(t["name"], n): p["description"] for t in tools["tools"] for n, p in t["inputSchema"]["properties"].items()}
    claim("no argument has the description of another command", not any("captur" in d for d in told.values()), told)
    claim("every argument is described", all(told.values()), told)
    claim("the knobs are described once", listed.count("cache level that loads bypass") == 1)
    sure = all(t["inputSchema"]["type"] == "object" and t["inputSchema"]["additionalProperties"] is False for t in tools["tools"])
    claim("every schema is closed", sure)
    run = next(t for t in tools["tools"] if t["name"] == "run")["inputSchema"]["properties"]
    knobs = next(t for t in tools["tools"] if t["name"] == "rewrite")["inputSchema"]["properties"]["options"]["properties"]
    claim("schemas come from the argument table", knobs["bypass"]["enum"][:2] == ["none", "l1"] and run["exact"]["type"] == "boolean")
    claim("what could start a program or leave the roots is no argument",
          not {"worker", "allow-files", "force", "threads", "nvcc-flags"} & set(run))
    claim("the server ends with its client", s.end() == 0)

    # ---- bad messages ----
    s = Server()
    s.begin()
    for name, data, code in [("malformed JSON", b"{\"jsonrpc\":", -32700), ("bytes that are no text", b"\xff\xfe\x00", -32700),
                             ("a batch", b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600),
                             ("no jsonrpc", b"{\"id\":1,\"method\":\"ping\"}", -32600),
                             ("an id that is an object", b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600),
                             ("no method", b"{\"jsonrpc\":\"2.0\",\"id\":1}", -32600),
                             ("params that are a list", b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":[]}", -32602),
                             ("nesting without end", b"[" * 100000, -32700)]:
        s.raw(data + b"\n")
        claim(f"{name}: {code}", s.line()["error"]["code"] == code)
    s.raw(b"\n   \r\n")
    s.raw(b"x" * (20 << 20) + b"\n")
    claim("an oversized message is refused once", s.line()["error"]["code"] == -32600)
    claim("and the server goes on", s.ask("ping")["result"] == {})
    claim("an unknown method", s.ask("tools/nosuch")["error"]["code"] == -32601)
    claim("an unknown tool", s.ask("tools/call", name="nosuch")["error"]["code"] == -32602)
    s.send(method="notifications/nosuch")
    s.send(method="notifications/cancelled", params={"requestId": "never"})
    claim("unknown notifications are ignored", s.ask("ping")["result"] == {})

    # ---- calls ----
    r = s.tool("run", file="kernels/stride_4.ptx")
    whole = json.loads(subprocess.run([BINARY, "run", "kernels/stride_4.ptx", "--json"], capture_output=True).stdout)
    kept = said(r)["summary"]
    claim("run sums up what the command says", kept["time_ns"]["median"] == whole["time_ns"]["median"] and kept["equal_to_original"] is True, kept)
    claim("a result is small", len(json.dumps(r)) <= 4000, len(json.dumps(r)))
    text = s.ask("resources/read", uri=said(r)["document"])["result"]["contents"][0]["text"]
    claim("the whole document is kept", json.loads(text) == whole)
    listed = s.ask("resources/list")["result"]["resources"]
    claim("and listed", [x["uri"] for x in listed] == [said(r)["document"]])
    r = s.tool("rewrite", file="kernels/stride_4.ptx", bypass="l1", pi=1)
    shown = subprocess.run([BINARY, "rewrite", "kernels/stride_4.ptx", "--bypass", "l1", "--pi", "1"], capture_output=True).stdout
    text = json.loads(s.ask("resources/read", uri=said(r)["document"])["result"]["contents"][0]["text"])["text"]
    claim("rewrite answers the PTX", text.encode() == shown)
    claim("and what was proven", said(r)["summary"]["proof"]["verdict"] == "holds" and said(r)["summary"]["proof"]["level"] == "quick", said(r))
    for name, form in [("an object", {"bypass": "l1", "pi": 1}), ("a line", "--bypass l1 --pi 1")]:
        q = s.tool("diff", file="kernels/stride_4.ptx", options=form)
        claim(f"options as {name}", said(q)["exit"] == 0 and "ld.global.cg" in s.ask("resources/read", uri=said(q)["document"])["result"]["contents"][0]["text"], q)
    for form in ("--bypass l1 --output /tmp/x.ptx", "--worker sh", {"output": "x"}, 5):
        claim(f"options are knobs alone: {form}", s.tool("diff", file="kernels/stride_4.ptx", options=form)["isError"])
    # ---- the rest by reference ----
    r = s.tool("analyze", file="kernels/hotspot.ptx")
    claim("a long document is cut to a small result", len(json.dumps(r)) <= 4000 and said(r)["bytes"] > 4000, len(json.dumps(r)))
    uri, pieces, at, calls = said(r)["document"], "", 0, 0
    while at is not None:
        piece = s.tool("read", document=uri, offset=at)
        claim("a piece is small", len(json.dumps(piece)) <= 4000, len(json.dumps(piece))) if calls < 2 else None
        pieces, at, calls = pieces + said(piece)["text"], said(piece)["next"], calls + 1
    claim("pieces are the document", pieces == s.ask("resources/read", uri=uri)["result"]["contents"][0]["text"], calls)
    part = said(s.tool("read", document=uri, path="kernels[0].name"))
    claim("a part by its path", json.loads(part["text"]) == json.loads(pieces)["kernels"][0]["name"], part)
    for wrong in ({"document": "nothing"}, {"document": uri, "path": "kernels[99]"}, {"document": uri, "offset": 1 << 40}, {}):
        claim(f"read of {sorted(wrong)} is refused", s.tool("read", **wrong)["isError"])
    r = s.tool("check", file="kernels/stride_32.ptx", format="sarif")
    claim("check as SARIF", any(f["ruleId"].startswith("uncoalesced") for f in said(r)["summary"]["runs"][0]["results"]), said(r))
    ptx = open("kernels/stride_4.ptx").read()
    launch = json.load(open("kernels/stride_4.launch.json"))
    r = s.tool("run", ptx=ptx, launch=launch)
    claim("PTX and launch may be given as text", said(r)["summary"]["time_ns"]["median"] == whole["time_ns"]["median"], r)
    claim("and leave no folder behind", os.listdir(TEXTS) == [], os.listdir(TEXTS))
    r = s.tool("run", ptx=ptx.replace("ret;", "ret ]"), launch=launch)
    claim("a syntax error is told with its line", r["isError"] and "kernel.ptx:" in r["content"][0]["text"] and "error:" in r["content"][0]["text"], r)
    r = s.tool("run", file="kernels/stride_4.ptx", pie=3)
    claim("an argument that is not there is told to the model", r["isError"] and "pie" in r["content"][0]["text"], r)
    for name, arguments in [("a flag that is a string", {"exact": "yes"}), ("a number that is a list", {"repeat": [1]}),
                            ("a file that is a number", {"file": 5}), ("an option outside its range", {"pi": -4})]:
        claim(name, s.tool("run", **{"file": "kernels/stride_4.ptx", **arguments})["isError"])
    r = s.tool("run", file="kernels/atax.ptx", bypass="l1", pi=3, coarsen=8)
    claim("what is refused has exit 3 or says why", said(r)["exit"] in (0, 3) and isinstance(said(r)["diagnostics"], list))

    # ---- roots ----
    os.makedirs(f"{work}/in/deep")
    os.makedirs(f"{work}/out")
    for place in ("in", "out"):
        shutil.copy("kernels/stride_4.ptx", f"{work}/{place}/a.ptx")
        shutil.copy("kernels/stride_4.launch.json", f"{work}/{place}/a.launch.json")
    os.symlink(f"{work}/out/a.ptx", f"{work}/in/link.ptx")
    os.symlink(f"{work}/out", f"{work}/in/folder")
    shutil.copy("kernels/stride_4.ptx", f"{work}/in/b.ptx")
    os.symlink(f"{work}/out/a.launch.json", f"{work}/in/b.launch.json")
    q = Server("--root", f"{work}/in")
    told = q.begin()["result"]["instructions"]
    claim("the instructions name the roots", os.path.realpath(f"{work}/in") in told, told)
    claim("a relative path starts at a root", not q.tool("run", file="a.ptx")["isError"])
    claim("and one that is not there yet", not q.tool("sweep", file="a.ptx", output="deep/new.json")["isError"] and os.path.exists(f"{work}/in/deep/new.json"))
    q.end()
    q = Server("--root", f"{work}/in", cwd=f"{work}/in")
    q.begin()
    claim("a file below a root", not q.tool("run", file="a.ptx")["isError"])
    for name, path in [("an absolute path", f"{work}/out/a.ptx"), ("dots", "../out/a.ptx"), ("a link to a file", "link.ptx"),
                       ("a link to a folder", "folder/a.ptx"), ("a launch description that is a link", "b.ptx"),
                       ("a sibling whose name begins alike", f"{work}/in2/a.ptx"), ("a device", "/dev/zero")]:
        r = q.tool("run", file=path)
        claim(f"outside the roots: {name}", r["isError"] and "outside the allowed folders" in r["content"][0]["text"], r)
    claim("the allowed folders are named", os.path.realpath(f"{work}/in") in r["content"][0]["text"], r)
    shutil.copy("tests/fuzz/corpus/container/k.cubin", f"{work}/in/c.cubin")
    os.symlink(f"{work}/out/a.ptx", f"{work}/in/c.ptx")
    for name, path in [("the PTX beside a cubin", "c.cubin"), ("a program named in one word", "a.ptx + link.ptx")]:
        r = q.tool("run", file=path)
        claim(f"outside the roots: {name}", r["isError"] and ("outside the allowed folders" in r["content"][0]["text"] or "as a list" in r["content"][0]["text"]), r)
    claim("the same by list", q.tool("list", file="c.cubin")["isError"])
    open(f"{work}/in/a.cu", "w").write("int x;")
    claim("no compiler is started", "cannot run a compiler" in q.tool("run", file="a.cu")["content"][0]["text"])
    for key in ("output", "resume"):
        r = q.tool("sweep", file="a.ptx", **{key: f"{work}/out/s.json"})
        claim(f"outside the roots: {key}", r["isError"] and not os.path.exists(f"{work}/out/s.json"), r)
    for key, value in [("device", f"{work}/out/p.json"), ("index", f"custom:{work}/out/p.txt")]:
        claim(f"outside the roots: {key}", "outside the allowed folders" in q.tool("run", file="a.ptx", **{key: value})["content"][0]["text"])
    shutil.copy(os.path.join(os.environ.get("GPULOCW_BUILD") or os.path.dirname(BINARY), "tests/emulate/columns"), f"{work}/in/columns")
    for program in (["/bin/true"], ["../out/true"], ["in/../../out/true"]):
        r = q.tool("optimize", program=program, emulate=True)
        claim(f"a program outside the roots: {program[0]}", r["isError"] and "outside the allowed folders" in r["content"][0]["text"], r)
    for program in ("columns", [], [7], [""], None):
        claim(f"no program: {program}", q.tool("optimize", program=program, emulate=True)["isError"])
    r = json.loads(q.tool("optimize", program=["columns", "7"], emulate=True, seconds=10, output="optimized")["content"][0]["text"])
    k = r["summary"]["kernels"][0]
    claim("a program below a root is optimized, its status and text kept apart", r["exit"] == 7 and k["readable"] == "columns" and k["gain"] > 1 and
          k["evidence"] in ("sampled", "whole") and k["applied"] == 0 and os.path.exists(f"{work}/in/optimized/columns.session.json"), r)
    claim("a session below a root is written", not q.tool("sweep", file="a.ptx", output="deep/s.json")["isError"] and os.path.exists(f"{work}/in/deep/s.json"))
    claim("and reported", "text" in said(q.tool("report", file="deep/s.json", format="md")))
    q.end()

    # ---- the client's roots ----
    q = Server(cwd="/")
    q.send(id="i", method="initialize", params={"protocolVersion": "2025-11-25", "capabilities": {"roots": {"listChanged": True}}, "clientInfo": {"name": "t", "version": "1"}})
    claim("where the client has roots, the instructions say so", "your own roots" in q.line()["result"]["instructions"])
    q.send(method="notifications/initialized")
    q.send(id="early", method="tools/call", params={"name": "run", "arguments": {"file": "a.ptx"}})
    asked = q.line()
    claim("the client's roots are asked", asked.get("method") == "roots/list", asked)
    q.send(id=asked["id"], result={"roots": [{"uri": "file://" + f"{work}/in".replace("i", "%69"), "name": "w"}]})
    answer = q.line()
    claim("a call that came before the answer finds its file", answer["id"] == "early" and not answer["result"]["isError"], answer)
    claim("and nothing else is open", q.tool("run", file=f"{work}/out/a.ptx")["isError"])
    q.send(method="notifications/roots/list_changed")
    asked = q.line()
    q.send(id=asked["id"], result={"roots": [{"uri": f"file://{work}/out"}]})
    claim("roots that change are asked again", not q.tool("run", file=f"{work}/out/a.ptx")["isError"] and q.tool("run", file=f"{work}/in/a.ptx")["isError"])
    q.send(method="notifications/roots/list_changed")
    claim("a client without an answer waits two seconds at most", not q.tool("run", file=f"{work}/out/a.ptx")["isError"])
    q.end()
    # ---- long work ----
    long = {"name": "tune", "arguments": {"file": "kernels/gesummv.ptx", "exhaustive": True, "combine": 3, "exact": True}}
    s.send(id="long", method="tools/call", params={**long, "_meta": {"progressToken": "p"}})
    told = s.line()
    claim("long work tells how far it is", told["method"] == "notifications/progress" and told["params"]["progressToken"] == "p", told)
    s.send(id="long", method="ping")
    while "id" not in (a := s.line()):
        told = a
    claim("an id that is under way is refused", a["error"]["code"] == -32600, a)
    claim("other requests are answered meanwhile", s.ask("ping", id=7)["result"] == {})
    claim("the work has a process", len(s.children()) == 1, s.children())
    s.send(method="notifications/cancelled", params={"requestId": "long"})
    claim("cancelled, it ends", wait_for(lambda: not s.children()), s.children())
    answer = s.ask("ping", id=8)
    claim("without an answer", answer["result"] == {})
    s.send(id="again", method="tools/call", params=long)
    claim("a client that vanishes: work is under way", wait_for(lambda: s.children()))
    left = s.children()
    claim("the server ends", s.vanish() == 0)
    claim("and nothing of it is left", wait_for(lambda: not any(os.path.exists(f"/proc/{c}") for c in left)), left)
    s = Server()
    s.begin()
    s.send(id="again", method="tools/call", params=long)
    wait_for(lambda: s.children())
    left = s.children()
    s.p.kill()
    claim("nor of a server that is killed", wait_for(lambda: not any(os.path.exists(f"/proc/{c}") for c in left)), left)
    s = Server("--jobs", "1")
    s.begin()
    for i in range(8):
        s.send(id=i, method="tools/call", params={"name": "run", "arguments": {"file": "kernels/stride_4.ptx"}})
    answers = [s.line() for _ in range(8)]
    claim("with --jobs 1, calls are answered in their order", [a["id"] for a in answers] == list(range(8)), [a["id"] for a in answers])
    s.send(id="first", method="tools/call", params=long)
    s.send(id="second", method="tools/call", params={"name": "run", "arguments": {"file": "kernels/stride_4.ptx"}, "_meta": {"progressToken": "q"}})
    begun = time.time()
    told = [s.line() for _ in range(2)]
    claim("a call without steps of its own is told of every few seconds", time.time() - begun < 10 and all(t["params"]["progressToken"] == "q" for t in told)
          and told[0]["params"]["progress"] < told[1]["params"]["progress"], told)
    s.vanish()
    s = Server()
    s.begin()
    for i in range(3):
        s.send(id=i, method="tools/call", params={"name": "run", "arguments": {"file": "kernels/stride_4.ptx"}})
    s.p.stdin.close()
    answers = [s.line() for _ in range(3)]
    claim("what is under way when the input ends is answered", sorted(a["id"] for a in answers) == [0, 1, 2] and all(said(a["result"])["exit"] == 0 for a in answers), answers)
    claim("and then the server ends", s.p.wait(LONG) == 0)
finally:
    shutil.rmtree(work, ignore_errors=True)
    shutil.rmtree(TEXTS, ignore_errors=True)
done()
