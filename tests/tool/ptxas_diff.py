#!/usr/bin/env python3
"""ptxas and gpulocw on the same modules: who accepts what. `make ptxas-diff [N=200] [SEED=1]`.

Takes the modules of kernels/ and tests/golden/ptx, and N mutations of them (a token dropped, doubled, swapped with its
neighbour or replaced by one from elsewhere). Prints every module that ptxas takes and we refuse (REFUSED), every mutation
that we take and ptxas refuses (ACCEPTED), and every single mistake that gives several messages (MESSAGES). Exit 1: REFUSED."""
import glob, os, random, re, subprocess, sys, tempfile

binary, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
rng = random.Random(seed)
TOKEN = re.compile(r'"[^"\n]*"|//[^\n]*|[%$\w.:]+|\s+|.', re.S)


def ptxas(path, text):
    target = re.search(r"\.target\s+sm_(\d+)([af]?)", text)
    number, suffix = (int(target.group(1)), target.group(2)) if target else (80, "")
    arch = "sm_%d%s" % (max(number, 75), suffix if number >= 75 else "")
    try:  # some mistakes make ptxas run for ever
        r = subprocess.run(["ptxas", "-c", "-O0", "-arch=" + arch, "-o", path + ".cubin", path], capture_output=True, text=True, timeout=10)
    except subprocess.TimeoutExpired:
        return None, "no answer"
    return r.returncode == 0, (r.stderr + r.stdout).strip().split("\n")[0][:160]


def ours(path):
    r = subprocess.run([binary, "analyze", "--quick", path], capture_output=True, text=True, timeout=60, errors="replace")
    if r.returncode not in (0, 1):
        print("EXIT %d %s" % (r.returncode, path))
    errors = [l for l in r.stderr.split("\n") if ": error: " in l]
    return not errors, errors


def mutate(text, pool):
    tokens = TOKEN.findall(text)
    body = [i for i, t in enumerate(tokens) if t.strip() and not t.startswith("//") and i > 12]
    i = rng.choice(body)
    how = rng.randrange(4)
    if how == 0:
        tokens[i] = ""
    elif how == 1:
        tokens[i] += " " + tokens[i]
    elif how == 2:
        j = rng.choice(body)
        tokens[i], tokens[j] = tokens[j], tokens[i]
    else:
        tokens[i] = rng.choice(pool)
    return "".join(tokens), how == 2


def main():
    files = sorted(glob.glob("kernels/*.ptx") + glob.glob("tests/golden/ptx/*.ptx") + glob.glob("tests/heldout/*.ptx") + sys.argv[4:])
    texts = {f: open(f, encoding="utf-8", errors="replace").read() for f in files}
    good, tally = [], dict.fromkeys(("REFUSED", "ACCEPTED", "MESSAGES", "same", "silent"), 0)

    def say(kind, name, why):
        tally[kind] += 1
        print("%s %s: %s" % (kind, name, why))

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m.ptx")
        for f in files:
            theirs, why = ptxas(f, texts[f]) if not os.path.exists(f + ".cubin") else (None, "")
            if os.path.exists(f + ".cubin"):
                os.remove(f + ".cubin")
            mine, errors = ours(f)
            if theirs and mine and len(texts[f]) < 60000:
                good.append(f)
            if theirs and not mine:
                say("REFUSED", f, errors[0])
        pool = [t for f in good for t in set(TOKEN.findall(texts[f])) if t.strip() and not t.startswith("//")]
        for n in range(count):
            f = rng.choice(good)
            text, two = mutate(texts[f], pool)
            open(path, "w").write(text)
            theirs, why = ptxas(path, text)
            mine, errors = ours(path)
            if theirs is None:
                tally["silent"] += 1
            elif theirs and not mine:
                keep = os.path.join(tempfile.gettempdir(), "ptxas-diff-%d-%d.ptx" % (seed, n))
                open(keep, "w").write(text)
                say("REFUSED", keep, errors[0])
            elif mine and not theirs:
                say("ACCEPTED", "%s mutation %d" % (f, n), why)
            else:
                tally["same"] += 1
            if len(errors) > (4 if two else 2):
                say("MESSAGES", "%s mutation %d" % (f, n), "%d, first: %s" % (len(errors), errors[0]))
    print("%d modules, %d mutations: %s" % (len(files), count, ", ".join("%s %d" % (k, v) for k, v in tally.items())))
    return 1 if tally["REFUSED"] else 0


sys.exit(main())
