#!/usr/bin/env python3
"""How many lanes of atomics a device finishes each cycle, by what their words share: the sector, the line, two lines, nothing
(tests/gpu/atoms.cu). All SMs at once.

    tests/gpu/atoms.py -d cuda:0 > tests/gpu/atoms-h200.txt                   measure
    tests/gpu/atoms.py -d sim:hopper-h200 --against tests/gpu/atoms-h200.txt  compare: recorded, simulated, their ratio
    tests/gpu/atoms.py --only "random words" --rounds 16                      some rows, and shorter

random words of N B: each lane a word of the first N bytes. random line (sector, word) of N: each warp one of them, its lanes
beside each other. lane stride: lanes so far apart, all warps alike. "or N B on": every other warp N bytes further."""
import rows

GRID, BLOCK, LAUNCH_US = 264, 512, 3.5
OPS = ["red", "atom", "max", "or", "cas", "exch", "f32"]

def case(name, op=0, active=32, lane=0, places=1, row=0, span=1, parity=0):
    return name, {"op": op, "rounds": 64 if active > 1 else 256, "active": active, "lane_words": lane, "rows": places,
                  "row_words": row, "span": span, "parity_words": parity}

def cases():
    for n in (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384, 65536, 1 << 20):
        yield case("random words of %d B" % (4 * n), span=n)
    for n in (1, 2, 4, 8, 16, 32, 64, 256):
        yield case("random line of %d" % n, lane=1, places=n, row=32)
    for n in (1, 2, 4, 8, 16, 32, 64, 128, 256):
        yield case("8 lanes, random sector of %d" % n, lane=1, places=n, row=8, active=8)
    for n in (1, 2, 4, 8, 16, 32, 64, 128, 256, 1024):
        yield case("1 lane, random word of %d" % n, places=n, row=1, active=1)
    for n in (1, 2, 4, 8, 9, 16, 32, 64, 128, 256, 1024):
        yield case("lane stride %d B" % (4 * n), lane=n)
    for n in (32, 64, 96, 128, 160, 192, 256, 384, 512, 1024, 2048, 4096):
        yield case("line 0 or %d B on" % (4 * n), lane=1, parity=n)
    for n in (8, 16, 24, 32, 64, 128):
        yield case("sector 0 or %d B on, 8 lanes" % (4 * n), lane=1, parity=n, active=8)
    for n in (1, 8, 16, 32, 64, 128):
        yield case("word 0 or %d B on, 1 lane" % (4 * n), parity=n, active=1)
    for op, name in list(enumerate(OPS))[1:]:
        yield case("%s 1 word 1 lane" % name, op=op, active=1)
        yield case("%s one line" % name, op=op, lane=1)
        yield case("%s random words of 1 KB" % name, op=op, span=256)
        yield case("%s random words of 64 KB" % name, op=op, span=16384)

def main():
    p = rows.options(__doc__)
    p.add_argument("--rounds", type=int, help="atomics a lane, instead of 64 and 256")
    a = p.parse_args()

    def rate(folder, name, values):
        """Lanes a cycle of the device's highest clock, the launch's own time taken off."""
        if a.rounds:
            values["rounds"] = a.rounds
        ns = rows.median_ns(a, folder, "atoms.ptx", "atoms", GRID, BLOCK, [rows.buffer("p", 1 << 21), rows.buffer("out", 1)], values)
        return GRID * BLOCK / 32 * values["rounds"] * values["active"] / ((ns / 1000 - LAUNCH_US) * a.mhz)
    rows.table(a, "words", "lanes a cycle", 3, cases(), rate)

if __name__ == "__main__":
    main()
