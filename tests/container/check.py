"""gpulocw list and opening: every container, what is not there, and damaged or hostile files. Prints TAP."""
import json, os, random, shutil, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), '..', 'tool'))
from tap import claim, done, skip

sys.path.insert(0, os.path.dirname(__file__))
from make import *

BINARY = os.path.abspath(sys.argv[1])
T = tempfile.mkdtemp()


def write(name, data):
    os.makedirs(os.path.dirname(f"{T}/{name}"), exist_ok=True)
    with open(f"{T}/{name}", "wb") as f:
        f.write(data)
    return f"{T}/{name}"


def run(*arguments, limit=60):
    return subprocess.run([BINARY, *arguments], capture_output=True, text=True, timeout=limit, errors="replace", stdin=subprocess.DEVNULL)


def listed(path):
    p = run("list", path, "--json")
    return json.loads(p.stdout)["modules"] if p.returncode == 0 else p.stderr


def names(modules):
    return [[k["name"] for k in m["kernels"]] for m in modules]


try:
    # ---- what there is ----
    text = ptx(["_Z5scalePff", "other"], params="(.param .u64 p, .param .f32 s, .param .align 8 .b8 q[24])")
    for how, packed in [("stored", None), ("LZ4", LZ4), ("zstd", ZSTD)]:
        m = listed(write("a.fatbin", fatbin(entry(text, packed=packed))))
        claim(f"a fatbin, {how}", names(m) == [["_Z5scalePff", "other"]] and m[0]["bytes"] == len(text.strip(b"\0\n")) + 1, m)
    k = m[0]["kernels"][0]
    claim("names as people write them", k["readable"] == "scale", k)
    claim("parameters with offsets and sizes", [(p["offset"], p["size"], p["type"]) for p in k["params"]] == [(0, 8, "u64"), (8, 4, "f32"), (16, 24, "b8")], k)
    claim("the format's keys", m[0]["kind"] == "ptx" and m[0]["ptx_version"] == "8.8" and m[0]["target"] == "sm_90" and k["ptx"] is True and k["why"] is None)
    for head in (64, 72, 80, 96, 128):
        m = listed(write("a.fatbin", fatbin(entry(text, head=head, packed=ZSTD))))
        claim(f"a head of {head} bytes", names(m) == [["_Z5scalePff", "other"]], m)
    m = listed(write("a.fatbin", fatbin(entry(text, options=b" -maxrregcount=40 ", name=b"app.cu"))))
    claim("options and object name", m[0]["options"] == " -maxrregcount=40 " and m[0]["object"] == "app.cu", m)
    code = cubin(["scale"])
    program = elf([(".text", b"\x90" * 64), (".nv_fatbin", fatbin(entry(elf([], machine=190), kind=2)) + fatbin(entry(code, kind=2), entry(text, packed=ZSTD)))])
    m = listed(write("app", program))
    claim("an executable: machine code and PTX, the link stub left out", [x["kind"] for x in m] == ["cubin", "ptx"] and names(m)[0] == ["scale"], m)
    claim("machine code says why it has no PTX", m[0]["kernels"][0]["ptx"] is False and "SASS" in m[0]["kernels"][0]["why"], m)
    rdc = elf([(".nv_fatbin", fatbin(entry(ptx(["one"])))), ("__nv_relfatbin", fatbin(entry(ptx(["two"]))) + b"\0" * 8 + fatbin(entry(ptx(["three"]))))])
    claim("relocatable device code: every section", names(listed(write("rdc", rdc))) == [["one"], ["two"], ["three"]])
    claim("an archive of objects", names(listed(write("lib.a", archive([("a.o", program), ("notes.txt", b"odd"), ("b.o", rdc)]))))[1:] == [["_Z5scalePff", "other"], ["one"], ["two"], ["three"]])
    claim("without a table of sections", names(listed(write("bare", program[:40] + b"\0" * 8 + program[48:58] + b"\0" * 6 + program[64:])))[-1:] == [["_Z5scalePff", "other"]],
          listed(f"{T}/bare"))
    m = listed(write("lto.o", elf([(".nv_fatbin", fatbin(entry(b"\0" * 64, kind=8)))])))
    claim("LTO-IR is named", m[0]["kind"] == "lto-ir" and "LTO-IR" in m[0]["why"], m)
    write("cache/HASH/softmax.cubin", cubin(["softmax"]))
    write("cache/HASH/softmax.ptx", ptx(["softmax"], "sm_90a"))
    write("cache/HASH/softmax.json", b"{}")
    os.symlink(f"{T}/cache", f"{T}/cache/HASH/loop")
    m = listed(f"{T}/cache")
    claim("a compiler's cache folder", [x["kind"] for x in m] == ["cubin", "ptx"], m)
    claim("a cubin with the PTX beside it", [x["kind"] for x in listed(f"{T}/cache/HASH/softmax.cubin")] == ["cubin", "ptx"])
    claim("PTX text itself", names(listed(write("k.ptx", text.strip(b"\0")))) == [["_Z5scalePff", "other"]])
    claim("several files are one list", len(json.loads(run("list", f"{T}/k.ptx", f"{T}/app", "--json").stdout)["modules"]) == 3)

    # ---- opening ----
    def taken(*arguments):
        p = run("analyze", *arguments, "--json")
        return json.loads(p.stdout)["module"]["target"] if p.returncode == 0 else (p.returncode, p.stderr)
    many = write("many", elf([(".nv_fatbin", fatbin(*[entry(ptx(["k"], f"sm_{sm}{v}"), sm=sm, flags=0x11 | {"a": ARCH_A, "f": ARCH_F, "": 0}[v])
                                                      for sm, v in [(50, ""), (75, ""), (90, ""), (90, "a"), (100, ""), (100, "f")]]))]))
    for device, target in [("sim:hopper-h200", "sm_90a"), ("sim:ampere-a100", "sm_75"), ("sim:volta-v100", "sm_50")]:
        claim(f"the PTX that fits {device}", taken(many, "--device", device) == target, taken(many, "--device", device))
    claim("--arch chooses", taken(many, "--arch", "sm_75") == "sm_75" and taken(many, "--arch", "90") == "sm_90")
    r = run("analyze", many, "--arch", "sm_86")
    claim("an architecture that is not there names those that are", r.returncode == 1 and "sm_50, sm_75, sm_90, sm_90a, sm_100, sm_100f" in r.stderr, r.stderr)
    r = run("analyze", many, "--device", "sim:fermi-16k")
    claim("none that the device could run", r.returncode == 1 and "sm_50" in r.stderr, r.stderr)
    two = write("two", elf([(".nv_fatbin", fatbin(entry(ptx(["first"]))) + fatbin(entry(ptx(["second"]))))]))
    r = run("analyze", two)
    claim("of several modules the first, and that is told", r.returncode == 0 and "kernel first" in r.stdout and "2 modules have kernels" in r.stderr, r.stderr)
    claim("-k finds the other", "kernel second" in run("analyze", two, "-k", "second").stdout)
    r = run("analyze", two, "-k", "third")
    claim("a kernel that is not there", r.returncode == 1 and "gpulocw list" in r.stderr, r.stderr)
    sass = write("sass", elf([(".nv_fatbin", fatbin(entry(cubin(["only"]), kind=2)) + fatbin(entry(ptx(["other"]))))]))
    r = run("analyze", sass, "-k", "only")
    claim("a kernel without PTX is told so, in one line", r.returncode == 1 and "only as machine code (SASS)" in r.stderr and r.stderr.count("error:") == 1, r.stderr)
    r = run("analyze", write("lib", elf([(".nv_fatbin", fatbin(entry(cubin(["only"]), kind=2)))])))
    claim("a file without PTX", r.returncode == 1 and "no PTX in it" in r.stderr, r.stderr)
    r = run("list", "/bin/sh")
    claim("a program without device code", r.returncode == 1 and "no GPU code" in r.stderr, r.stderr)
    r = run("analyze", write("reg", elf([(".nv_fatbin", fatbin(entry(ptx(["k"]), options=b" -maxrregcount=40 ")))])))
    claim("compiler options are told with what to do", r.returncode == 0 and "--maxnreg 40" in r.stderr, r.stderr)
    shutil.copy("kernels/stride_4.launch.json", f"{T}/stride.launch.json")
    stride = open("kernels/stride_4.ptx", "rb").read()
    app = write("stride", elf([(".nv_fatbin", fatbin(entry(stride, sm=75, packed=ZSTD)))]))
    one, other = [json.loads(run("run", p, "-l", "kernels/stride_4.launch.json", "--json").stdout) for p in (app, "kernels/stride_4.ptx")]
    claim("a kernel of an executable runs as its PTX does", one["time_ns"] == other["time_ns"] and one["counters"] == other["counters"])
    if shutil.which("nvcc"):
        source = write("k.cu", b"__global__ void k(float *a) { a[threadIdx.x] *= 2; }\n#ifdef MORE\n__global__ void more(float *a) { a[0] = 1; }\n#endif\nint main() { k<<<1, 1>>>(nullptr); }\n")
        claim("CUDA source is compiled", "kernel k" in run("analyze", source).stdout, run("analyze", source).stderr)
        claim("with flags", len(listed(source)[0]["kernels"]) == 1 and "more" in run("list", source, "--nvcc-flags", "-DMORE").stdout)
        r = run("analyze", write("bad.cu", b"__global__ void k( { }\n"))
        claim("a mistake is told in the compiler's words", r.returncode == 1 and "bad.cu(1)" in r.stderr, r.stderr)
        for flags in (["-rdc=true"], ["--compress-mode=speed"], ["--compress-mode=size"], ["--compress-mode=none"], []):
            subprocess.run(["nvcc", *flags, "-o", f"{T}/real", source], capture_output=True)
            m = listed(f"{T}/real")
            claim(f"what nvcc {' '.join(flags) or 'writes'}", isinstance(m, list) and any(x["kind"] == "ptx" and names([x])[0] == ["_Z1kPf"] for x in m), m)
    else:
        skip("programs of nvcc", "no nvcc here")
    r = subprocess.run([BINARY, "list", write("here.cu", b"int x;\n")], capture_output=True, text=True, env={"PATH": T, "CUDA_HOME": T, "HOME": T})
    if not os.path.exists("/usr/local/cuda/bin/nvcc"):
        claim("without a compiler the command to run elsewhere is named", r.returncode == 1 and "nvcc -ptx" in r.stderr, r.stderr)

    p = subprocess.run([BINARY, app, "--plain", "--session", f"{T}/s.json", "-l", f"{T}/stride.launch.json"], input="set bypass l1\nset pi 1\nwrite\nshow options\nquit\n", capture_output=True, text=True, timeout=60)
    claim("the workbench writes beside the file, under its name", os.path.exists(f"{T}/stride.tuned.ptx") and "fatbin 1" not in "".join(os.listdir(T)), (p.stdout[-400:], p.stderr, os.listdir(T)))
    r = run("rewrite", app, "--bypass", "l1", "--pi", "1", "--diff")
    claim("so does a diff", r.returncode == 0 and "fatbin" not in r.stdout.split("\n")[0], r.stdout[:200])

    # ---- damaged and hostile ----
    def ends(path, what):
        p = run("list", path, limit=20)
        claim(what, p.returncode in (0, 1) and (p.returncode == 0 or "error:" in p.stderr) and "Sanitizer" not in p.stderr, (p.returncode, p.stderr))
    worst = []
    for n in list(range(0, len(program), 97)) + [len(program) - 1]:
        p = run("list", write("cut", program[:n]), limit=20)
        worst += [n] if p.returncode not in (0, 1) else []
    claim("cut off anywhere: told, or less of it", not worst, worst)
    rng = random.Random(7)
    for i in range(150):
        data = bytearray(program if i % 2 else rdc)
        for _ in range(rng.randint(1, 6)):
            data[rng.randrange(len(data))] = rng.choice([0, 1, 0x7f, 0x80, 0xff, rng.randrange(256)])
        p = run("list", write("flip", bytes(data)), limit=20)
        worst += [i] if p.returncode not in (0, 1) else []
    claim("bytes changed at random", not worst, worst)
    ends(write("bomb", fatbin(entry(b"x" * 100, packed=ZSTD, size=1 << 40))), "a size of a terabyte")
    big = entry(b"x" * 100, packed=ZSTD)
    ends(write("bomb2", fatbin(big[:8] + struct.pack("<Q", 1 << 62) + big[16:])), "a payload longer than the file")
    ends(write("bomb3", fatbin(big[:4] + struct.pack("<I", 0) + big[8:])), "a head of no bytes")
    ends(write("bomb4", fatbin(entry(text), size=(1 << 64) - 1)), "a fatbin of 2^64 bytes")
    claims = zstd(b"x" * 100, claims=1 << 30)
    raw = bytearray(entry(claims))
    raw[0x10:0x14], raw[0x28:0x30], raw[0x38:0x40] = struct.pack("<I", len(claims)), struct.pack("<Q", 0x11 | ZSTD), struct.pack("<Q", 300 << 20)
    ends(write("bomb5", fatbin(bytes(raw))), "a frame that claims more than its entry")
    ends(write("many_sections", program[:60] + b"\xff\xff" + program[62:]), "a table of sections that is not there")
    ends(write("ar", b"!<arch>\n" + b"a" * 200), "an archive without members")
    os.mkfifo(f"{T}/pipe.so")
    ends(f"{T}/pipe.so", "a pipe does not wait")
    r = run("list", write("esc.fatbin", fatbin(entry(ptx(["k"]), name=b"a\x1b[2Jb", options=b" \x1b]0;x\x07 "))))
    claim("no control character is shown", "\x1b" not in r.stdout and "\x07" not in r.stdout, r.stdout)

    # ---- size ----
    with open(f"{T}/large.so", "wb") as f:
        body = b"".join(fatbin(entry(cubin([f"k{i}"]) + b"\0" * (3 << 20), kind=2), entry(ptx([f"p{i}"]), packed=ZSTD)) for i in range(100))
        f.write(elf([(".nv_fatbin", body)]))
    began = time.time()
    m = listed(f"{T}/large.so")
    print(f"# 300 MB with 100 modules of PTX: listed in {time.time() - began:.2f} s")
    claim("a shared object of 300 MB", sum(len(x["kernels"]) for x in m) == 200, len(m))
    one = entry(b"\0" * 8, kind=8)
    for n in (100000, 262145):
        with open(f"{T}/many.fatbin", "wb") as f:
            f.write(fatbin(one * n))
        r = run("list", f"{T}/many.fatbin")
        if n == 100000:
            claim("100,000 modules are listed", r.returncode == 0 and "many.fatbin" in r.stdout + r.stderr, r.stderr)
        else:
            claim("a limit is told as one, not as memory", r.returncode == 3 and "more than 262144 modules" in r.stderr and "memory" not in r.stderr, (r.returncode, r.stderr))
    os.remove(f"{T}/many.fatbin")
    deep = "/".join("d" * 1 for _ in range(12))
    write("deep/a.ptx", text)
    write(f"deep/{deep}/b.ptx", text)
    r = run("list", f"{T}/deep")
    claim("folders that are left out are told", r.returncode == 0 and "levels deep are skipped" in r.stderr, r.stderr)
    os.mkdir(f"{T}/wide")
    for i in range(20001):
        os.link(f"{T}/deep/a.ptx", f"{T}/wide/{i}.txt")
    os.rename(f"{T}/wide/0.txt", f"{T}/wide/0.ptx")
    r = run("list", f"{T}/wide")
    claim("files that are left out are told", r.returncode == 0 and "more than 20000 files" in r.stderr, r.stderr)
finally:
    shutil.rmtree(T, ignore_errors=True)
done()
