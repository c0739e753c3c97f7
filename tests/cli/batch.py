"""gpulocw batch: order, resuming after any end, what is no request. Prints TAP."""
import json, os, shutil, signal, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'tool'))
from tap import claim, done

BINARY = os.path.abspath(sys.argv[1])
T = tempfile.mkdtemp()


def batch(*arguments, text=None):
    return subprocess.run([BINARY, "batch", *arguments], input=text, capture_output=True, text=True)


def lines(text):
    return [json.loads(x) for x in text.splitlines()]


def write(name, requests):
    with open(f"{T}/{name}", "w") as f:
        f.writelines((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in requests)
    return f"{T}/{name}"


def run(id, kernel, **options):
    return {"id": id, "tool": "run", "arguments": {"file": f"kernels/{kernel}.ptx", **options}}


try:
    small = [run(i, "stride_4" if i % 2 else "coalescing", bypass="l1", pi=i % 3) for i in range(24)]
    got = batch(write("small", small))
    all_of = lines(got.stdout)
    claim("every request has one line", got.returncode == 0 and len(all_of) == 24, got.stderr)
    claim("in its order", [x["id"] for x in all_of] == list(range(24)) and [x["line"] for x in all_of] == list(range(1, 25)))
    said = json.loads(subprocess.run([BINARY, "run", "kernels/stride_4.ptx", "--bypass", "l1", "--pi", "1", "--json"], capture_output=True, text=True).stdout)
    claim("with the document of the command", all_of[1]["result"] == said)
    claim("the same from standard input", [x["result"] for x in lines(batch("-", text=open(f"{T}/small").read()).stdout)] == [x["result"] for x in all_of])
    claim("the time of the CPUs is told", "% of the time of" in got.stderr, got.stderr)

    # the first takes much longer than the others: they wait for their turn
    slow = {"id": "slow", "tool": "sweep", "arguments": {"file": "kernels/atax.ptx"}}
    mixed = write("mixed", [slow] + small[:6])
    got = lines(batch(mixed, "--jobs", "3").stdout)
    claim("a slow request first keeps the order", [x["id"] for x in got] == ["slow"] + list(range(6)))

    # the worker of the first request waits until it may go on: 40 others finish meanwhile
    many = write("many", [run("held", "stride_4")] + [run(i, "stride_4") for i in range(40)])
    with open(f"{T}/held.sh", "w") as f:
        f.write(f'until [ -e {T}/go ]; do sleep 0.05; done; exec {BINARY} worker')
    out = f"{T}/many.jsonl"
    p = subprocess.Popen([BINARY, "batch", many, "--worker", f"sh {T}/held.sh", "--worker", f"{BINARY} worker", "-o", out], stderr=subprocess.DEVNULL)
    finished = lambda: len(open(out + ".part").readlines()) if os.path.exists(out + ".part") else 0
    for _ in range(2400):
        if p.poll() is not None or finished() >= 40:
            break
        time.sleep(0.05)
    claim("one that takes long holds no other up", finished() == 40 and open(out).read() == "", finished())
    open(f"{T}/go", "w").close()
    p.wait()
    claim("and all are written in order", [x["id"] for x in lines(open(out).read())] == ["held"] + list(range(40)))

    bad = write("bad", [small[0], "{ no json", "", {"tool": "nosuch"}, {"id": 9}, [1], {"id": "x", "tool": "run", "arguments": {"nosuch": 1}}, small[1],
                        run("gone", "nosuch")])
    got = batch(bad)
    b = lines(got.stdout)
    claim("what is no request has a result that says so", [x["exit"] for x in b] == [0, 1, 1, 1, 1, 2, 0, 1], [x["exit"] for x in b])
    claim("with the line of the file", b[1]["line"] == 2 and b[1]["diagnostics"][0]["line"] == 2, b[1])
    claim("the exit code tells", got.returncode == 1 and "5 lines are not requests" in got.stderr, got.stderr)

    # ---- going on ----
    out = f"{T}/out.jsonl"
    reference = lines(batch(mixed).stdout)
    strip = lambda x: {k: v for k, v in x.items() if k != "cpu_s"}
    for how in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        for end in ("", ".part"):
            if os.path.exists(out + end):
                os.unlink(out + end)
        p = subprocess.Popen([BINARY, "batch", mixed, "--jobs", "2", "-o", out], stderr=subprocess.DEVNULL)
        until = time.time() + 60
        while time.time() < until and not (os.path.exists(out + ".part") and os.path.getsize(out + ".part")):
            time.sleep(0.01)
        p.send_signal(how)
        code = p.wait(60)
        kept = sum(1 for _ in open(out + ".part")) + sum(1 for _ in open(out))
        if how == signal.SIGINT:
            claim("interrupted: exit 130", code == 130, code)
        claim(f"{how.name}: what had finished is kept", kept >= 1, kept)
        again = batch(mixed, "-o", out)
        claim(f"{how.name}: the same command goes on", again.returncode == 0 and f"{kept} had results already" in again.stderr, (kept, again.stderr))
        claim(f"{how.name}: and ends with the same results", [strip(x) for x in lines(open(out).read())] == [strip(x) for x in reference])
        claim(f"{how.name}: nothing is left beside them", not os.path.exists(out + ".part"))
    with open(out, "r+b") as f:
        f.truncate(os.path.getsize(out) - 7)
    again = batch(mixed, "-o", out)
    claim("a last line that was cut off is run again", "6 had results already" in again.stderr and [strip(x) for x in lines(open(out).read())] == [strip(x) for x in reference], again.stderr)
    got = batch(f"{T}/small", "-o", out)
    claim("results of other requests are refused", got.returncode != 0 and "another request" in got.stderr, got.stderr)
    other = write("other", ["mine"])
    got = batch(mixed, "-o", other)
    claim("a file that is not ours stays", got.returncode == 2 and open(other).read() == "mine\n", got.stderr)
    got = batch(f"{T}/nosuch")
    claim("no such file", got.returncode == 1 and "nosuch" in got.stderr, got.stderr)
    got = subprocess.run([BINARY, "batch", f"{T}/small"], stdout=open("/dev/full", "w"), stderr=subprocess.PIPE, text=True)
    claim("a full disk is told", got.returncode == 1 and "cannot write" in got.stderr, got.stderr)
    got = lines(batch(f"{T}/small", "--worker", f"{BINARY} worker", "--jobs", "2").stdout)
    claim("through workers, the same results", [x["result"]["time_ns"] for x in got] == [x["result"]["time_ns"] for x in all_of])
    # ---- workers that are lost ----
    with open(f"{T}/dying.sh", "w") as f:
        f.write(f'echo >> {T}/starts; [ $(wc -l < {T}/starts) -gt $1 ] || exit 1; exec {BINARY} worker')
    one = write("one", small[:1])
    got = lines(batch(one, "--worker", f"sh {T}/dying.sh 1").stdout)
    claim("a request whose worker was lost runs again", [(x["exit"], x["attempts"]) for x in got] == [(0, 2)], got[0]["diagnostics"])
    claim("with the result of an undisturbed one", got[0]["result"]["time_ns"] == all_of[0]["result"]["time_ns"])
    got = lines(batch(one, "--worker", f"sh {T}/dying.sh 1000").stdout)
    claim("five times at most", [(x["exit"], x["attempts"]) for x in got] == [(4, 5)], got)
    fault = write("fault", [{"tool": "run", "arguments": {"file": "kernels/stride_4.ptx", "kernel": "nosuch"}}])
    got = lines(batch(fault, "--worker", f"{BINARY} worker").stdout)
    claim("a mistake of its own is told at once", [(x["exit"] != 0, x["attempts"]) for x in got] == [(True, 1)], got)
finally:
    shutil.rmtree(T, ignore_errors=True)
done()
