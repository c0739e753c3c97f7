"""How much of a batch's CPU time is work: batch_share.py [PROGRAM [REQUESTS]]. Prints a table.

Work is the CPU time that the results name (cpu_s), which is that of each request's own process. The rest is the batch
program itself. What of the CPUs' time passed without either is idle: on a machine that does other things it is theirs."""
import json, os, resource, subprocess, sys, tempfile, time

program = sys.argv[1] if len(sys.argv) > 1 else "build/gpulocw"
count = int(sys.argv[2]) if len(sys.argv) > 2 else 64
KERNELS = ["gemm", "conv2d", "histogram", "reduction", "transpose", "spmv", "valley", "syrk"]


def requests(tool, **more):
    return [{"id": i, "tool": tool, "arguments": {"file": f"kernels/{KERNELS[i % len(KERNELS)]}.ptx", **more}} for i in range(count)]


def cpu():
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def measure(name, asked):
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
        f.write("".join(json.dumps(r) + "\n" for r in asked))
        f.flush()
        before, start = cpu(), time.time()
        said = subprocess.run([program, "batch", f.name], capture_output=True, text=True)
        wall, used = time.time() - start, cpu() - before
    results = [json.loads(x) for x in said.stdout.splitlines()]
    work = sum(r["cpu_s"] for r in results)
    ended = {r["exit"] for r in results}
    cpus = len(os.sched_getaffinity(0))
    print(f"{name:<28}{len(results):>6}{wall:>9.2f}{used:>9.2f}{100 * work / used:>8.1f} %{100 * used / wall / cpus:>8.1f} %   exit {sorted(ended)}")


print(f"{os.cpu_count()} CPUs\n{'requests':<28}{'n':>6}{'wall s':>9}{'CPU s':>9}{'work':>10}{'CPUs busy':>10}")
measure("run", requests("run"))
measure("sweep over pi", requests("sweep", bypass="l1"))
measure("analyze", requests("analyze"))
