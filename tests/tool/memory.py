#!/usr/bin/env python3
"""Peak memory of gpulocw beyond the buffers of the launch it works on.

    memory.py [-n NAME] [-c COMMAND]... [-m MB] FILE.ptx...        a table, one line per launch called NAME (h200)
    memory.py --of LAUNCH.json ARGUMENTS...                        one line: gpulocw ARGUMENTS, which work on that launch file

`memory` counts every page once: the greatest sum, looked at every few milliseconds over the process and its children, of the
proportional shares (Pss of /proc/PID/smaps_rollup) and of files without a name (memfd), also where they are not mapped.
`rss` is what the system says at the end (ru_maxrss): a page counts as often as it is mapped. MB: 10^6 bytes.
With -m the exit code is 1 where `memory` is more than MB beyond the buffers. -s: so many devices have them.
"""
import argparse, json, os, sys, time

SIZE = {"u8": 1, "s8": 1, "u16": 2, "s16": 2, "f16": 2, "u32": 4, "s32": 4, "f32": 4, "u64": 8, "s64": 8, "f64": 8}
# What a sweep holds does not depend on how many points it has, so that a short axis does.
COMMANDS = {"run": ["run", "--no-counters"], "sweep": ["sweep", "--axis", "bypass=none/l1/l1+l2"], "tune": ["tune"], "analyze": ["analyze"], "predict": ["predict"]}


def buffers(launch):
    own = sum(a["count"] * SIZE[a["buffer"]] for a in launch.get("args", []) if "buffer" in a)
    return own + sum(buffers(b) for b in launch.get("before", []))


def launches(path):
    top = json.load(open(path))
    return [{**top, **l} for l in top.get("launches", [top])]


def family(pid):
    """The process and all that descend from it."""
    out = [pid]
    try:
        for t in os.listdir(f"/proc/{pid}/task"):
            for c in open(f"/proc/{pid}/task/{t}/children").read().split():
                out += family(int(c))
    except OSError:
        pass
    return out


def mapped(pid):
    """kB: all pages' shares, and those of files in memory among them."""
    got = {"Pss": 0, "Pss_Shmem": 0}
    try:
        for line in open(f"/proc/{pid}/smaps_rollup"):
            key = line.split(":")[0]
            if key in got:
                got[key] = int(line.split()[1])
    except OSError:
        pass
    return got["Pss"], got["Pss_Shmem"]


def held(pid):
    """kB of the files without a name that it holds open, by inode."""
    out = {}
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            path = f"/proc/{pid}/fd/{fd}"
            try:
                if os.readlink(path).startswith("/memfd:"):
                    s = os.stat(path)
                    out[s.st_ino] = s.st_blocks // 2
            except OSError:
                pass
    except OSError:
        pass
    return out


def now(pid):
    pages = shared = 0
    files = {}
    for p in family(pid):
        pss, shmem = mapped(p)
        pages += pss
        shared += shmem
        files.update(held(p))
    return pages - shared + max(shared, sum(files.values()))


def peak(argv):
    """(bytes of memory, bytes of rss, exit code)"""
    pid = os.fork()
    if pid == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2) if not os.environ.get("MEMORY_SHOW") else (0,):
            os.dup2(null, fd)
        try:
            os.execv(argv[0], argv)
        finally:
            os._exit(127)
    most = 0
    while True:
        done, status, usage = os.wait4(pid, os.WNOHANG)
        if done:
            return most * 1024, usage.ru_maxrss * 1024, os.waitstatus_to_exitcode(status)
        most = max(most, now(pid))
        time.sleep(0.004)


def line(cells, out=sys.stdout):
    print("| " + " | ".join(str(c) for c in cells) + " |", file=out, flush=True)


def table(exe, files, name, commands, most):
    head = ["launch", "buffers MB"] + [f"{c}: {w} beyond MB" for c in commands for w in ("memory", "rss")]
    line(head)
    line(["---"] * len(head))
    bad = 0
    for ptx in files:
        for l in launches(ptx[:-4] + ".launch.json"):
            if not (l.get("name") or "").endswith(name):
                continue
            own = buffers(l)
            cells = [f"{os.path.basename(ptx)[:-4]} {l['name']}", f"{own / 1e6:.0f}"]
            for c in commands:
                memory, rss, code = peak([exe, COMMANDS[c][0], ptx, "--kernel", l["name"], *COMMANDS[c][1:]])
                cells += [f"{(memory - own) / 1e6:.0f}", f"{(rss - own) / 1e6:.0f}"] if code == 0 else ["failed", f"exit {code}"]
                bad |= code != 0 or (most is not None and memory - own > most * 1e6)
            line(cells)
    return bad


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--gpulocw", default=os.path.join(os.environ.get("GPULOCW_BUILD", "build"), "gpulocw"))
    p.add_argument("-n", "--name", default="h200")
    p.add_argument("-c", "--command", action="append", choices=sorted(COMMANDS))
    p.add_argument("-m", "--most", type=float)
    p.add_argument("--of")
    p.add_argument("-s", "--sets", type=int, default=1)
    p.add_argument("rest", nargs=argparse.REMAINDER)
    a = p.parse_args()
    if not a.of:
        return table(a.gpulocw, a.rest, a.name, a.command or ["run", "sweep"], a.most)
    own = a.sets * buffers(launches(a.of)[0])
    memory, rss, code = peak([a.gpulocw, *a.rest])
    print(f"memory {(memory - own) / 1e6:.1f} MB, rss {(rss - own) / 1e6:.1f} MB beyond {own / 1e6:.1f} MB of buffers, exit {code}")
    return code != 0 or (a.most is not None and memory - own > a.most * 1e6)


if __name__ == "__main__":
    sys.exit(main())
