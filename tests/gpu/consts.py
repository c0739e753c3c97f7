#!/usr/bin/env python3
"""What reads of constant memory by an index take, in cycles of an SM (tests/gpu/consts.cu).

    tests/gpu/consts.py -d cuda:0 > tests/gpu/consts-h200.txt                   measure
    tests/gpu/consts.py -d sim:hopper-h200 --against tests/gpu/consts-h200.txt  compare

chain: one warp, a read waits for the one before (with two additions and an and). many: 32 warps of one SM, four reads each at
once, cycles a read. once: each line of 64 bytes is read once in the launch. N words: the lanes of a warp read N different words,
so far apart as said; of N bytes: what is read again and again."""
import rows

LAUNCH_NS = 3500

def case(name, kernel, bytes_, step=16, words=1, apart=1, rounds=4096, block=32, grid=1):
    return name, kernel, {"rounds": rounds, "step": step, "mask": bytes_ // 4 - 1, "lane_words": apart, "lanes": words}, block, grid

def cases():
    for n in (64, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536):
        yield case("chain, of %d bytes" % n, "consts_chain", n, rounds=20000)
    for n in (2048, 65536):
        yield case("chain, of %d bytes, 4 bytes on" % n, "consts_chain", n, step=1, rounds=20000)
        yield case("chain, of %d bytes, 256 bytes on" % n, "consts_chain", n, step=64, rounds=20000)
    for w in (2, 4, 8, 32):
        yield case("chain, %d words side by side, of 1024 bytes" % w, "consts_chain", 1024, words=w, rounds=20000)
        yield case("chain, %d words 64 bytes apart, of 2048 bytes" % w, "consts_chain", 2048, words=w, apart=16, rounds=20000)
    yield case("chain, 32 words 64 bytes apart, of 65536 bytes", "consts_chain", 65536, words=32, apart=16, step=512 + 16, rounds=5000)
    for n in (512, 1024, 2048):
        yield case("chain, once, of %d bytes" % (n * 64 // 2), "consts_chain", n * 64 // 2, rounds=n // 2)
    for n in (64, 1024, 2048, 4096, 8192, 16384, 32768, 65536):
        yield case("many, of %d bytes" % n, "consts_many", n, block=1024)
    for w in (2, 4, 8, 16, 32):
        yield case("many, %d words side by side, of 1024 bytes" % w, "consts_many", 1024, words=w, block=1024)
    for w in (2, 4, 8, 16, 32):
        yield case("many, %d words 64 bytes apart, of 2048 bytes" % w, "consts_many", 2048, words=w, apart=16, block=1024)
    for n in (8192, 65536):
        yield case("many, 32 words 64 bytes apart, of %d bytes" % n, "consts_many", n, words=32, apart=16, step=512 + 16, block=1024, rounds=512)
    yield case("many, of 65536 bytes, all SMs", "consts_many", 65536, block=1024, grid=132)
    yield case("known words", "consts_known", 4096, block=1024, rounds=512)

def main():
    p = rows.options(__doc__)
    p.add_argument("--part", type=int, default=1, help="an n-th of the reads")
    a = p.parse_args()

    def cycles(folder, name, kernel, values, block, grid):
        """Of one read: what twice as many take longer, or all of those that are made once, less the launch."""
        def ns(rounds):
            return rows.median_ns(a, folder, "consts.ptx", kernel, grid, block, [rows.buffer("out", grid * block)], dict(values, rounds=rounds))
        reads = {"consts_chain": 1, "consts_many": 4 * block // 32, "consts_known": 64 * block // 32}[kernel]
        if "once" in name:
            return (ns(values["rounds"]) - LAUNCH_NS) * a.mhz / 1000 / values["rounds"]
        n = max(values["rounds"] // a.part, 16)
        return (ns(2 * n) - ns(n)) * a.mhz / 1000 / (n * reads)
    rows.table(a, "reads", "cycles", 2, cases(), cycles)

if __name__ == "__main__":
    main()
