#!/usr/bin/env python3
"""Kernels written by hand to get a wrong rewrite accepted, with every option of written.py, in several shapes, on other data.

    python3 tests/attacks/second.py TRIES [NAME ...]

The bodies find what written.py puts around them: r0..r5, f0..f2, h0, h1, p0..p2; d1 to d5 the own element of a, b, o, g, e (y1 to y5 the
buffers), d6 a counter, %a and %b the own word and the neighbour's of shared memory s, %t0 the thread, %c the CTA. Prints TAP: a rewrite
that is accepted is the same kernel; and for how many options it is."""
import random
import sys

from written import OPTIONS, Tries, Writer

SHAPES = [(64, 6), (96, 4), (256, 2), (32, 9)]
HALF = "and.b32 %i, %t0, 31; setp.lt.u32 %q7, %i, 16; "
BODIES = {
    # registers and predicates that are written behind their own guard
    "a guard that its own statement changes": "@%p0 setp.gt.s32 %p0, %r2, 9; @%p0 ld.global.u32 %r0, [%d2]; @!%p0 ld.global.u32 %r1, [%d2];",
    "a guard that comes back": "@%p0 not.pred %p0, %p0; @!%p0 not.pred %p0, %p0; @%p0 ld.global.u32 %r0, [%d2]; @%p0 st.global.u32 [%d3], %r0;",
    "two guards that change places": "mov.pred %q0, %p0; mov.pred %p0, %p1; mov.pred %p1, %q0; @%p0 ld.global.u32 %r0, [%d1]; @%p1 ld.global.u32 %r0, [%d2];",
    "a predicate through selp and back": "selp.b32 %r3, 1, 0, %p0; @%p0 ld.global.u32 %r0, [%d2]; setp.ne.s32 %p0, %r3, 0; @!%p0 st.global.u32 [%d2], %r0; setp.eq.s32 %p0, %r3, 0; @%p0 ld.global.u32 %r1, [%d2];",
    "an address that its own load replaces": "mov.u64 %x, %d2; @%p0 ld.global.u32 %r3, [%x]; @%p0 mov.u64 %x, %d1; ld.global.u32 %r0, [%x]; and.b32 %r3, %r3, 31; mul.wide.u32 %x, %r3, 4; add.s64 %x, %x, %y2; ld.global.u32 %r1, [%x];",
    "a pair that is loaded over its own address": "mov.b64 {%r3, %r4}, %d2; mov.b64 %x, {%r3, %r4}; ld.global.v2.u32 {%r3, %r4}, [%v]; ld.global.u32 %r0, [%x]; add.u32 %r1, %r3, %r4;",
    "an index that wraps in 32 bits": "sub.u32 %i, %r5, 7; add.u32 %i, %i, 7; mul.wide.u32 %x, %i, 4; add.s64 %x, %y2, %x; ld.global.u32 %r0, [%x]; mov.u32 %i, 0x40000000; add.u32 %i, %i, %r5; shl.b32 %i, %i, 2; cvt.u64.u32 %x, %i; add.s64 %x, %x, %y1; ld.global.u32 %r1, [%x];",
    "an index that is negative": "sub.s32 %i, %r5, %t0; sub.s32 %i, %r5, %i; neg.s32 %i, %i; mul.wide.s32 %x, %i, -4; add.s64 %x, %y2, %x; ld.global.u32 %r0, [%x];",
    "an address that wraps in 64 bits": "mul.wide.u32 %x, %r5, 4; sub.s64 %x, %x, 4096; add.s64 %x, %x, %y2; ld.global.u32 %r0, [%x+4096]; st.global.u32 [%x+4096], %r1; ld.global.u32 %r4, [%d2];",
    # memory that is what it does not seem
    "an update in place through another name": "mov.u64 %x, %y2; mul.wide.u32 %v, %r5, 4; add.s64 %x, %x, %v; ld.global.u32 %r0, [%d2]; add.u32 %r1, %r0, 1; st.global.u32 [%x], %r1; ld.global.u32 %r4, [%d2];",
    "a store to one of two buffers": "selp.b64 %x, %d1, %d2, %p0; ld.global.u32 %r0, [%d1]; ld.global.u32 %r1, [%d2]; st.global.u32 [%x], %r5; ld.global.u32 %r3, [%d1]; ld.global.u32 %r4, [%d2];",
    "bytes of a word that was loaded": "ld.global.u32 %r0, [%d2]; st.global.u8 [%d2+1], %r5; ld.global.u32 %r1, [%d2]; ld.global.u16 %h0, [%d2]; cvt.u32.u16 %r4, %h0;",
    "volatile between two loads": "ld.global.u32 %r0, [%d2]; st.volatile.global.u32 [%d2], %r5; ld.global.u32 %r1, [%d2]; ld.volatile.global.u32 %r4, [%d2];",
    "an atomic between two loads": "ld.global.u32 %r0, [%d2]; red.global.add.u32 [%d2], 5; ld.global.u32 %r1, [%d2]; atom.global.exch.b32 %r4, [%d2], %r5;",
    "an atomic's result is an index": "atom.global.and.b32 %r0, [%d2], 31; and.b32 %i, %r0, 31; mul.wide.u32 %x, %i, 4; add.s64 %x, %y4, %x; ld.global.u32 %r1, [%x];",
    "a generic store to what was loaded as global": "ld.global.u32 %r0, [%d2]; st.u32 [%d2], %r5; ld.global.nc.u32 %r1, [%d4]; ld.global.u32 %r4, [%d2];",
    "a generic address of shared memory or of global": "cvt.u64.u32 %g, %a; cvta.shared.u64 %g, %g; selp.b64 %x, %g, %d2, %p0; st.shared.u32 [%a], %r2; ld.u32 %r0, [%x]; st.u32 [%x], %r5; ld.u32 %r1, [%x];",
    "local memory by an index": "st.local.u32 [%l], %r2; st.local.u32 [%l+4], %r5; and.b32 %i, %r2, 4; add.u32 %i, %i, %l; ld.local.u32 %r0, [%i]; @%p0 st.local.u32 [%i], %r0; ld.local.u32 %r1, [%l+4];",
    "a call that stores what is loaded again": "ld.global.u32 %r0, [%d3]; { .param .b32 q; .param .b32 w; .param .b64 o; st.param.b32 [w], %r5; st.param.b64 [o], %d3; call (q), tells, (w, o); ld.param.b32 %r1, [q]; } ld.global.u32 %r4, [%d3];",
    "a call behind a branch by data": "@%p0 bra N; { .param .b32 q; .param .b32 w; .param .b64 o; st.param.b32 [w], %r2; st.param.b64 [o], %d3; call (q), tells, (w, o); ld.param.b32 %r1, [q]; } N: ld.global.u32 %r4, [%d3];",
    # loops
    "a break by what the loop stored": "mov.u32 %k1, 0; L: ld.global.u32 %r0, [%d3]; setp.gt.s32 %q1, %r0, 2; @%q1 bra E; add.u32 %r0, %r0, 1; st.global.u32 [%d3], %r0; add.u32 %k1, %k1, 1; setp.lt.u32 %q1, %k1, 5; @%q1 bra L; E: mov.u32 %r1, %k1;",
    "a counter that data skip": "mov.u32 %k1, 0; L: ld.global.u32 %r0, [%d2]; and.b32 %r0, %r0, 3; add.u32 %k1, %k1, %r0; add.u32 %k1, %k1, 1; setp.lt.u32 %q1, %k1, 9; @%q1 bra L; mov.u32 %r1, %k1;",
    "two entries into one loop": "mov.u32 %k1, 0; @%p0 bra M; L: ld.global.u32 %r0, [%d2]; M: add.u32 %r1, %r1, %r0; add.u32 %k1, %k1, 1; setp.lt.u32 %q1, %k1, 3; @%q1 bra L;",
    "a return in a loop": "mov.u32 %k1, 0; L: ld.global.u32 %r0, [%d2]; setp.eq.s32 %q2, %r0, %k1; st.global.u32 [%d3], %k1; @%q2 ret; add.u32 %k1, %k1, 1; setp.lt.u32 %q1, %k1, 3; @%q1 bra L;",
    "a table of branches": "T: .branchtargets A, B, C; and.b32 %r3, %r2, 1; brx.idx %r3, T; A: ld.global.u32 %r0, [%d2]; bra C; B: st.global.u32 [%d2], %r5; C: ld.global.u32 %r1, [%d2];",
    # what a warp or a CTA does together
    "a shuffle by half of a warp": HALF + "@!%q7 bra N; shfl.sync.down.b32 %r0, %r2, 1, 31, 0xffff; N: bar.warp.sync -1; ld.global.u32 %r1, [%d2];",
    "a vote decides over a load": "vote.sync.any.pred %p0, %p0, -1; @%p0 ld.global.u32 %r0, [%d2]; vote.sync.ballot.b32 %r1, %p1, -1;",
    "a match is an index": "and.b32 %r3, %r5, 3; match.any.sync.b32 %r0, %r3, -1; and.b32 %i, %r0, 31; mul.wide.u32 %x, %i, 4; add.s64 %x, %y2, %x; ld.global.u32 %r1, [%x];",
    "a barrier in each way of a branch": "setp.lt.u32 %q7, %c, 1; @%q7 bra A; st.shared.u32 [%a], %r2; bar.sync 0; ld.shared.u32 %r0, [%b]; bra B; A: st.shared.u32 [%a], %r5; bar.sync 0; ld.shared.u32 %r1, [%b]; B: bar.sync 0;",
    "shared memory that is used again": "st.shared.u32 [%a], %r2; bar.sync 0; ld.shared.u32 %r0, [%b]; bar.sync 0; st.shared.u32 [%a], %r0; bar.sync 0; ld.shared.u32 %r1, [%b];",
    "shared memory nobody set, then a barrier": "setp.eq.u32 %q7, %t0, 0; @%q7 st.shared.u32 [%a], 7; bar.sync 0; mov.u32 %w, s; ld.shared.u32 %r0, [%w]; @%q7 st.shared.u32 [%a+512], %r2; bar.sync 0; ld.shared.u32 %r1, [%w+512];",
    "copies of which one is waited for": "cp.async.ca.shared.global [%a], [%d1], 4; cp.async.commit_group; ld.global.u32 %r0, [%d2]; cp.async.wait_group 0; bar.sync 0; ld.shared.u32 %r1, [%b]; bar.sync 0; cp.async.ca.shared.global [%a], [%d2], 4; cp.async.wait_all; bar.sync 0; ld.shared.u32 %r4, [%b];",
    "two phases of an mbarrier": "setp.eq.u32 %q7, %t0, 0; mov.u32 %i, %ntid.x; @%q7 mbarrier.init.shared.b64 [mb], %i; bar.sync 0; st.shared.u32 [%a], %r2; mbarrier.arrive.shared.b64 %x, [mb]; W: mbarrier.try_wait.parity.shared.b64 %q6, [mb], 0; @!%q6 bra W; "
                                 "ld.shared.u32 %r0, [%b]; mbarrier.arrive.shared.b64 %x, [mb]; V: mbarrier.try_wait.parity.shared.b64 %q6, [mb], 1; @!%q6 bra V; st.shared.u32 [%a], %r0; bar.sync 0; ld.shared.u32 %r1, [%b];",
    "the CTA beside it in the cluster": "st.shared.u32 [%a], %r5; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; mov.u32 %i, %cluster_ctarank; xor.b32 %i, %i, 1; mapa.shared::cluster.u32 %i, %a, %i; ld.shared::cluster.u32 %r0, [%i]; "
                                        "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ld.global.u32 %r1, [%d2];",
    "an atomic in the cluster": "st.shared.u32 [%a], 0; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; mapa.shared::cluster.u32 %i, %a, 0; atom.shared::cluster.add.u32 %r4, [%i], 3; mov.u32 %r4, 0; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; ld.shared.u32 %r0, [%a];",
    "a count at a barrier": "bar.red.popc.u32 %r0, 0, %p0; bar.red.and.pred %p1, 0, %p1; @%p1 ld.global.u32 %r1, [%d2];",
    "carries over a load": "add.cc.u32 %r0, %r2, -9; ld.global.u32 %r4, [%d2]; addc.u32 %r1, %r4, 0;",
    "lanes by a mask register": "mov.u32 %i, %lanemask_lt; vote.sync.ballot.b32 %r0, %p0, -1; and.b32 %r0, %r0, %i; popc.b32 %r0, %r0; ld.global.u32 %r1, [%d2];",
    "the CTA's number by another way": "mov.u32 %i, %nctaid.x; mov.u32 %r0, %ctaid.y; mad.lo.u32 %r0, %r0, %i, %c; mov.u32 %r1, %gridid; mov.u32 %r1, 0;",
    "sums that the hardware rounds": "red.global.add.u32 [%d6+4], %r2; red.global.min.s32 [%d6+8], %r2; ld.global.f32 %f0, [%d4]; mul.f32 %f2, %f0, %f1; add.f32 %f0, %f2, %f0; mul.rn.f32 %f1, %f0, %f2;",
    "a half of a vector": "ld.global.v2.u32 {%r0, _}, [%v]; ld.global.v2.u32 {_, %r1}, [%v]; @%p0 ld.global.v2.u32 {%r3, %r4}, [%v];",
    "all threads store the same": "st.global.u32 [%d6+16], 7; ld.global.u32 %r0, [%d2];",
    "words that are read ahead, by warps in turn": "shr.u32 %i, %r5, 4; mul.wide.u32 %x, %i, 4; add.s64 %x, %x, %y2; ld.global.u32 %r0, [%x+4]; ld.global.u32 %r1, [%x+16]; ld.global.u32 %r4, [%x+8];",
    "scopes within scopes": "{ .reg .pred %p0; .reg .b64 %d2; setp.ne.s32 %p0, %r2, 5; mov.u64 %d2, %d1; { .reg .b64 %d1; mov.u64 %d1, %d2; @%p0 ld.global.u32 %r0, [%d1]; } @!%p0 ld.global.u32 %r1, [%d2]; } @%p0 ld.global.u32 %r4, [%d2];",
}
FEATURES = {"local": "local arrays", "tells": "calls", "[mb]": "phases", "cluster": "clusters"}


def one(tries, name, body, options):
    """What went wrong, how many rewrites were accepted, and in which shapes it differs by itself; with two names for one buffer it may."""
    wrong, accepted, unfit = [], 0, []
    for threads, ctas in SHAPES:
        w = Writer(random.Random(name))
        w.features = {f for word, f in FEATURES.items() if word in body}
        w.threads, w.ctas, w.shared = threads, ctas - ctas % 2 * ("cluster" in body), 0
        for alias in (False, True):
            n = w.n
            buffers = [f"s32:{n + 8}", "same:0" if alias else f"s32:{n + 8}", f"s32:{5 * n + 12}", f"f32:{n + 8}", f"f32:{n + 8}", "zero:8"]
            fit, answers = tries.ask(w.around(body), options, w.ctas, w.threads, 0, buffers)
            unfit += [f"{threads}x{ctas}: {fit}"] if fit != "fit" and not alias else []
            for option, answer in answers.items():
                accepted += answer in ("accepted", "rounded")
                if answer.startswith(("wrong", "usage", "refused invariant")):
                    wrong.append(f"{threads}x{ctas} {'one buffer ' if alias else ''}{option}: {answer}")
    return wrong, accepted, unfit


def main():
    tries, names = Tries(sys.argv[1]), sys.argv[2:]
    bad, total = 0, 0
    for n, (name, body) in enumerate(BODIES.items(), 1):
        if names and name not in names:
            continue
        wrong, accepted, unfit = one(tries, name, body, OPTIONS)
        total += accepted
        bad += bool(wrong + unfit)
        print(f"{'not ' if wrong + unfit else ''}ok {n} - {name}", flush=True)
        for line in wrong + unfit:
            print("#   " + line[:220])
        if names:
            print(f"#   {accepted} accepted")
    print(f"# {total} rewrites accepted\n1..{len(BODIES)}")
    tries.stop()
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
