#!/usr/bin/env python3
"""Texture fetches of a GPU (tests/gpu/textures.cu, recorded) against the simulated device.

    tests/gpu/textures.py build/gpulocw tests/gpu/textures-h200.json

Prints a line for each case: results, how many differ, and by how much at most. Exit 1 where a case that is exact (all but lin3 and u8_lin) is not, or
one of these two is off by more than it was when the record was made.
"""
import json, os, shutil, struct, subprocess, sys, tempfile

LOOSE = {"lin3": (0.10, 0.15), "u8_lin": (1.0, 1e-5)}  # share of results that may differ, and by how much: of texels from -8 to 8, and from 0 to 1

def replay(exe, case, data, folder):
    (ci, co), count = case["bytes"], len(case["coordinates"]) // 2 // case["bytes"][0]
    small = case["texture"]["type"] == "u8"
    for name, text in (("c", case["coordinates"]), ("d", data)):
        open(f"{folder}/{name}.bin", "wb").write(bytes.fromhex(text))
    launch = {"format": "gpulocw-launch", "version": 1, "ptx": "k.ptx", "kernel": case["kernel"], "grid": [(count + 255) // 256, 1, 1], "block": [256, 1, 1],
              "args": [{"name": "t", "texture": dict(case["texture"], data="d")}, {"name": "c", "buffer": "u32", "count": count * ci // 4, "init": {"file": "c.bin"}},
                       {"name": "o", "buffer": "u32", "count": count * co // 4, "init": {"fill": 0}, "output": True}, {"name": "n", "s32": count}],
              "buffers": [{"name": "d", "buffer": "u8" if small else "f32", "count": len(data) // (2 if small else 8), "init": {"file": "d.bin"}}]}
    json.dump(launch, open(f"{folder}/k.launch.json", "w"))
    r = subprocess.run([exe, "run", f"{folder}/k.ptx", "--no-counters", "--outputs", f"{folder}/out"], capture_output=True, text=True)
    if r.returncode:
        sys.exit(f"{case['name']}: {r.stderr or r.stdout}")
    return open(f"{folder}/out/o.bin", "rb").read()

def main(exe, record):
    d, bad = json.load(open(record)), False
    for case in d["cases"]:
        folder = tempfile.mkdtemp()
        shutil.copy(os.path.join(os.path.dirname(os.path.abspath(__file__)), "textures.ptx"), folder + "/k.ptx")
        want, got = bytes.fromhex(case["results"]), replay(exe, case, d["data"][case["data"]], folder)
        shutil.rmtree(folder)
        n = len(want) // 4
        pairs = [(a, b) for a, b, x, y in zip(struct.unpack(f"<{n}f", want), struct.unpack(f"<{n}f", got), struct.unpack(f"<{n}I", want), struct.unpack(f"<{n}I", got)) if x != y]
        most = max((abs(a - b) for a, b in pairs), default=0)
        share, by = LOOSE.get(case["name"], (0, 0))
        good = n > 0 and len(got) == len(want) and len(pairs) <= share * n and most <= by
        bad |= not good
        print(f"{'ok' if good else 'NOT ok'} {case['name']}: {n} results, {len(pairs)} differ from {d['device']}, by at most {most:.3g}")
    return bad

if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
