/* Kernels as compilers write them, made from a number: a few features in a row, over four buffers and
 * two scalars.
 *
 *   a[16] and b[16] data, c[16] output, d[8] counters and flags, n (at most 16), k (0 or 1)
 *
 * Every index is in bounds whatever the data. Threads of one CTA reach barriers together unless the
 * feature says so. */
#include "engine/rec/launch.h"

#include "tests/modelcheck/mc.h"

#include <string.h>

enum { WORDS = 16, FLAGS = 8, A = 0, B, C, D, N, K, PARAMS };
struct gen {
    uint64_t s;
    struct mc_kernel *k;
    struct buf body, funcs;
    unsigned r, rd, p, l; /* next register of each kind, next label */
    unsigned acc, gid, tid, cta, acc_before, total;
    unsigned ptr[4]; /* global addresses of a, b, c, d */
    bool barrier, waited, callee_f, callee_w, shared, dynamic, returned, threads_may_part;
};

static uint64_t rnd(struct gen *g, uint64_t n)
{
    g->s += 0x9e3779b97f4a7c15ull;
    uint64_t z = g->s;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return (z ^ (z >> 31)) % n;
}

static bool odds(struct gen *g, unsigned percent)
{
    return rnd(g, 100) < percent;
}

static void note(struct gen *g, const char *what)
{
    size_t at = strlen(g->k->what), n = strlen(what);
    if (at + n + 2 < sizeof g->k->what) {
        memcpy(g->k->what + at, what, n);
        g->k->what[at + n] = ' ';
        g->k->what[at + n + 1] = 0;
    }
}

#define OUT(...) buf_printf(&g->body, __VA_ARGS__)

/* Address of element `index` (a 32-bit register) of the buffer whose address is in %rd<ptr>. */
static unsigned element(struct gen *g, unsigned ptr, unsigned index)
{
    unsigned d = g->rd++, t;
    switch (rnd(g, 3)) {
    case 0: OUT("\tmad.wide.u32 \t%%rd%u, %%r%u, 4, %%rd%u;\n", d, index, ptr); break;
    case 1:
        t = g->rd++;
        OUT("\tmul.wide.u32 \t%%rd%u, %%r%u, 4;\n\tadd.s64 \t%%rd%u, %%rd%u, %%rd%u;\n", t, index, d,
            ptr, t);
        break;
    default:
        t = g->rd++;
        OUT("\tcvt.u64.u32 \t%%rd%u, %%r%u;\n\tshl.b64 \t%%rd%u, %%rd%u, 2;\n\tadd.s64 \t%%rd%u, "
            "%%rd%u, %%rd%u;\n",
            t, index, t, t, d, ptr, t);
        break;
    }
    return d;
}

static void add_to_acc(struct gen *g, unsigned r)
{
    if (odds(g, 50))
        OUT("\tadd.s32 \t%%r%u, %%r%u, %%r%u;\n", g->acc, g->acc, r);
    else
        OUT("\tmad.lo.s32 \t%%r%u, %%r%u, 3, %%r%u;\n", g->acc, g->acc, r);
}

/* (gid + k) mod 16 */
static unsigned index_near(struct gen *g, unsigned k)
{
    unsigned r = g->r++;
    OUT("\tadd.s32 \t%%r%u, %%r%u, %u;\n\tand.b32 \t%%r%u, %%r%u, %d;\n", r, g->gid, k, r, r, WORDS - 1);
    return r;
}

/* Another scalar, at most 16. */
static unsigned scalar(struct gen *g, const char *name)
{
    unsigned r = g->r++;
    OUT("\tld.param.u32 \t%%r%u, [%s];\n", r, name);
    return r;
}

/* ---- features ---- */
static void plain_load(struct gen *g)
{
    unsigned from = (unsigned)rnd(g, 2), v = g->r++,
             at =
                 element(g, g->ptr[from], odds(g, 60) ? g->gid : index_near(g, 1 + (unsigned)rnd(g, 3)));
    note(g, "load");
    OUT("\tld.global%s.u32 \t%%r%u, [%%rd%u];\n", odds(g, 20) ? ".nc" : "", v, at);
    add_to_acc(g, v);
}

static void counted_loop(struct gen *g)
{
    unsigned i = g->r++, v = g->r++, x = g->r++, p = g->p++, l = g->l++, turns = 2 + (unsigned)rnd(g, 3);
    note(g, "loop");
    OUT("\tmov.u32 \t%%r%u, 0;\n$L%u:\n\tadd.s32 \t%%r%u, %%r%u, %%r%u;\n\tand.b32 \t%%r%u, %%r%u, "
        "%d;\n",
        i, l, x, i, g->gid, x, x, WORDS - 1);
    unsigned at = element(g, g->ptr[rnd(g, 2)], x);
    OUT("\tld.global.u32 \t%%r%u, [%%rd%u];\n", v, at);
    add_to_acc(g, v);
    OUT("\tadd.s32 \t%%r%u, %%r%u, 1;\n\tsetp.lt.u32 \t%%p%u, %%r%u, %u;\n\t@%%p%u bra \t$L%u;\n", i, i,
        p, i, turns, p, l);
}

static void data_loop(struct gen *g)
{
    unsigned i = g->r++, v = g->r++, p = g->p++, l = g->l++, e = g->l++;
    note(g, "data-loop");
    unsigned at = element(g, g->ptr[A], g->gid);
    OUT("\tld.global.u32 \t%%r%u, [%%rd%u];\n\tand.b32 \t%%r%u, %%r%u, 3;\n$L%u:\n\tsetp.eq.s32 "
        "\t%%p%u, %%r%u, 0;\n\t@%%p%u bra \t$L%u;\n",
        i, at, i, i, l, p, i, p, e);
    at = element(g, g->ptr[B], i);
    OUT("\tld.global.u32 \t%%r%u, [%%rd%u];\n", v, at);
    add_to_acc(g, v);
    OUT("\tadd.s32 \t%%r%u, %%r%u, -1;\n\tbra.uni \t$L%u;\n$L%u:\n", i, i, l, e);
}

static void grid_stride(struct gen *g)
{
    unsigned i = g->r++, v = g->r++, p = g->p++, l = g->l++, e = g->l++, n = scalar(g, "par_4");
    note(g, "grid-stride");
    OUT("\tmov.u32 \t%%r%u, %%r%u;\n$L%u:\n\tsetp.ge.u32 \t%%p%u, %%r%u, %%r%u;\n\t@%%p%u bra \t$L%u;\n",
        i, g->gid, l, p, i, n, p, e);
    unsigned at = element(g, g->ptr[A], i), to = element(g, g->ptr[odds(g, 50) ? C : B], i);
    OUT("\tld.global.u32 \t%%r%u, [%%rd%u];\n\tadd.s32 \t%%r%u, %%r%u, %%r%u;\n\tst.global.u32 "
        "\t[%%rd%u], %%r%u;\n",
        v, at, v, v, g->acc, to, v);
    OUT("\tadd.s32 \t%%r%u, %%r%u, %%r%u;\n\tbra.uni \t$L%u;\n$L%u:\n", i, i, g->total, l, e);
}

static void tile(struct gen *g)
{
    unsigned s = g->r++, o = g->r++, v = g->r++, n = g->r++;
    note(g, "tile");
    g->barrier = g->shared = true;
    OUT("\tmov.u32 \t%%r%u, tile;\n\tshl.b32 \t%%r%u, %%r%u, 2;\n\tadd.s32 \t%%r%u, %%r%u, "
        "%%r%u;\n\tst.shared.u32 \t[%%r%u], %%r%u;\n\tbar.sync \t0;\n",
        s, o, g->tid, o, s, o, o, g->acc);
    OUT("\txor.b32 \t%%r%u, %%r%u, 1;\n\tmad.lo.s32 \t%%r%u, %%r%u, 4, %%r%u;\n\tld.shared.u32 \t%%r%u, "
        "[%%r%u];\n",
        n, g->tid, n, n, s, v, n);
    add_to_acc(g, v);
    if (odds(g, 60))
        OUT("\tbar.sync \t0;\n");
}

/* A pointer to b made out of a's, b's and k, in ways that compilers find. */
static unsigned laundered(struct gen *g)
{
    unsigned k64 = g->rd++, d = g->rd++, q = g->rd++, lo = g->r++, hi = g->r++, lo2 = g->r++,
             hi2 = g->r++, p = g->p++, x = g->rd++, k = scalar(g, "par_5");
    unsigned a = g->ptr[A], b = g->ptr[B], kind = (unsigned)rnd(g, 11);
    static const char *const names[] = { "sel-mul",       "sel-shl",  "halves",     "prmt",
                                         "selp",          "and-mask", "swap",       "local",
                                         "shared-memory", "min-max",  "guarded-mov" };
    note(g, names[kind]);
    OUT("\tcvt.u64.u32 \t%%rd%u, %%r%u;\n\tsub.s64 \t%%rd%u, %%rd%u, %%rd%u;\n\tsetp.ne.s32 \t%%p%u, "
        "%%r%u, 0;\n",
        k64, k, d, b, a, p, k);
    switch (kind) {
    case 0: OUT("\tmad.lo.s64 \t%%rd%u, %%rd%u, %%rd%u, %%rd%u;\n", q, d, k64, a); break;
    case 1:
        OUT("\tshr.s64 \t%%rd%u, %%rd%u, 2;\n\tmul.lo.s64 \t%%rd%u, %%rd%u, %%rd%u;\n\tshl.b64 "
            "\t%%rd%u, %%rd%u, 2;\n\tadd.s64 \t%%rd%u, %%rd%u, %%rd%u;\n",
            x, d, x, x, k64, x, x, q, a, x);
        break;
    case 2:
        OUT("\tmov.b64 \t{%%r%u, %%r%u}, %%rd%u;\n\tmov.b64 \t{%%r%u, %%r%u}, %%rd%u;\n", lo, hi, a, lo2,
            hi2, b);
        OUT("\tselp.b32 \t%%r%u, %%r%u, %%r%u, %%p%u;\n\tselp.b32 \t%%r%u, %%r%u, %%r%u, "
            "%%p%u;\n\tmov.b64 \t%%rd%u, {%%r%u, %%r%u};\n",
            lo, lo2, lo, p, hi, hi2, hi, p, q, lo, hi);
        break;
    case 3:
        OUT("\tmov.b64 \t{%%r%u, %%r%u}, %%rd%u;\n\tmov.b64 \t{%%r%u, %%r%u}, %%rd%u;\n", lo, hi, a, lo2,
            hi2, b);
        OUT("\tmul.lo.s32 \t%%r%u, %%r%u, 0x4444;\n\tadd.s32 \t%%r%u, %%r%u, 0x3210;\n\tprmt.b32 "
            "\t%%r%u, %%r%u, %%r%u, %%r%u;\n\tmov.b64 \t%%rd%u, {%%r%u, %%r%u};\n",
            k, k, k, k, lo, lo, lo2, k, q, lo, hi);
        break;
    case 4: OUT("\tselp.b64 \t%%rd%u, %%rd%u, %%rd%u, %%p%u;\n", q, b, a, p); break;
    case 5:
        OUT("\tneg.s64 \t%%rd%u, %%rd%u;\n\tand.b64 \t%%rd%u, %%rd%u, %%rd%u;\n\tadd.s64 \t%%rd%u, "
            "%%rd%u, %%rd%u;\n",
            k64, k64, x, d, k64, q, a, x);
        break;
    case 6:
        OUT("\txor.b64 \t%%rd%u, %%rd%u, %%rd%u;\n\tmul.lo.s64 \t%%rd%u, %%rd%u, %%rd%u;\n\txor.b64 "
            "\t%%rd%u, %%rd%u, %%rd%u;\n",
            x, a, b, x, x, k64, q, a, x);
        break;
    case 7:
        buf_puts(&g->body, "");
        OUT("\tst.local.u64 \t[spill], %%rd%u;\n\t@%%p%u st.local.u64 \t[spill], "
            "%%rd%u;\n\tld.local.u64 \t%%rd%u, [spill];\n",
            a, p, b, q);
        break;
    case 8:
        g->shared = true;
        OUT("\tmov.u32 \t%%r%u, room;\n\tmad.lo.s32 \t%%r%u, %%r%u, 8, %%r%u;\n\tselp.b64 \t%%rd%u, "
            "%%rd%u, %%rd%u, %%p%u;\n\tst.shared.u64 \t[%%r%u], %%rd%u;\n\tld.shared.u64 \t%%rd%u, "
            "[%%r%u];\n",
            lo, lo, g->tid, lo, x, b, a, p, lo, x, q, lo);
        break;
    case 9:
        OUT("\tmax.u64 \t%%rd%u, %%rd%u, %%rd%u;\n\tmin.u64 \t%%rd%u, %%rd%u, %%rd%u;\n\tselp.b64 "
            "\t%%rd%u, %%rd%u, %%rd%u, %%p%u;\n",
            x, a, b, d, a, b, q, x, d, p);
        break;
    default:
        OUT("\tmov.u64 \t%%rd%u, %%rd%u;\n\t@%%p%u mov.u64 \t%%rd%u, %%rd%u;\n", q, a, p, q, b);
        break;
    }
    return q;
}

static void through_laundered(struct gen *g)
{
    unsigned q = laundered(g), v = g->r++, w = g->r++, u = g->r++, own = element(g, g->ptr[B], g->gid),
             at = element(g, q, g->gid);
    OUT("\tld.global.u32 \t%%r%u, [%%rd%u];\n\tadd.s32 \t%%r%u, %%r%u, 100;\n", v, own, w, v);
    if (odds(g, 75))
        OUT("\tst.global.u32 \t[%%rd%u], %%r%u;\n\tld.global.u32 \t%%r%u, [%%rd%u];\n", at, w, u, own);
    else
        OUT("\tst.global.u32 \t[%%rd%u], %%r%u;\n\tld.global.u32 \t%%r%u, [%%rd%u];\n", own, w, u, at);
    add_to_acc(g, u);
}

static void in_place(struct gen *g)
{
    unsigned v = g->r++, which = odds(g, 70) ? B : A, at = element(g, g->ptr[which], g->gid);
    note(g, "in-place");
    OUT("\tld.global.u32 \t%%r%u, [%%rd%u];\n\tadd.s32 \t%%r%u, %%r%u, %%r%u;\n\tst.global.u32 "
        "\t[%%rd%u], %%r%u;\n",
        v, at, v, v, g->acc, at, v);
    if (odds(g, 50)) {
        OUT("\tld.global.u32 \t%%r%u, [%%rd%u];\n", v, at);
        add_to_acc(g, v);
    }
}

/* One look at the flag whose address is in %rd<at>. */
static void look(struct gen *g, struct buf *o, unsigned kind, unsigned v, unsigned at)
{
    static const char *const how[] = {
        "atom.global.add.u32 \t%%r%u, [%%rd%u], 0",
        "atom.global.or.b32 \t%%r%u, [%%rd%u], 0",
        "atom.global.cas.b32 \t%%r%u, [%%rd%u], 7, 7",
        "ld.volatile.global.u32 \t%%r%u, [%%rd%u]",
        "ld.relaxed.gpu.global.u32 \t%%r%u, [%%rd%u]",
        "ld.acquire.gpu.global.u32 \t%%r%u, [%%rd%u]",
        "ld.global.u32 \t%%r%u, [%%rd%u]",
        "ld.global.cg.u32 \t%%r%u, [%%rd%u]",
        "atom.global.max.u32 \t%%r%u, [%%rd%u], 0",
        "atom.global.and.b32 \t%%r%u, [%%rd%u], -1",
        "ld.volatile.u32 \t%%r%u, [%%rd%u]",
        "atom.global.xor.b32 \t%%r%u, [%%rd%u], 0",
    };
    (void)g;
    buf_puts(o, "\t");
    const char *f = how[kind % ARRAY_LEN(how)];
    struct buf once = { 0 };
    for (unsigned n = 0; *f; f++) { /* the formats above have two numbers each: v, at */
        if (f[0] == '%' && f[1] == '%')
            buf_puts(&once, "%"), f++;
        else if (f[0] == '%' && f[1] == 'u')
            buf_printf(&once, "%u", n++ ? at : v), f++;
        else
            buf_put(&once, f, 1);
    }
    buf_put(o, once.s ? once.s : "", once.n);
    buf_puts(o, ";\n");
    buf_free(&once);
}
enum { LOOKS = 12 };

static void declare_wait(struct gen *g, unsigned kind)
{
    if (g->callee_w)
        return;
    g->callee_w = true;
    buf_puts(&g->funcs,
             ".func  (.param .b32 func_retval0) wait_for(\n\t.param .b64 wait_for_param_0,\n\t.param "
             ".b32 wait_for_param_1\n)\n{\n"
             "\t.reg .pred \t%p<2>;\n\t.reg .b32 \t%r<4>;\n\t.reg .b64 \t%rd<2>;\n"
             "\tld.param.u64 \t%rd1, [wait_for_param_0];\n\tld.param.u32 \t%r2, [wait_for_param_1];\n");
    bool loop_inside = odds(g, 60);
    if (loop_inside)
        buf_puts(&g->funcs, "$W0:\n");
    look(g, &g->funcs, kind, 1, 1);
    if (loop_inside)
        buf_puts(&g->funcs, "\tsetp.lt.u32 \t%p1, %r1, %r2;\n\t@%p1 bra \t$W0;\n");
    buf_puts(&g->funcs, "\tst.param.b32 \t[func_retval0+0], %r1;\n\tret;\n}\n");
}

/* Goes on when the flag at %rd<at> has come to `want`. */
static unsigned wait_code(struct gen *g, unsigned at, const char *want)
{
    unsigned v = g->r++, p = g->p++, l = g->l++, kind = (unsigned)rnd(g, LOOKS);
    OUT("$L%u:\n", l);
    if (odds(g, 25))
        OUT("\tnanosleep.u32 \t20;\n");
    if (odds(g, 25)) {
        declare_wait(g, kind);
        note(g, "wait-call");
        OUT("\t{\n\t.param .b64 param0;\n\tst.param.b64 \t[param0+0], %%rd%u;\n\t.param .b32 "
            "param1;\n\tst.param.b32 \t[param1+0], %s;\n\t.param .b32 retval0;\n"
            "\tcall.uni (retval0), wait_for, (param0, param1);\n\tld.param.b32 \t%%r%u, "
            "[retval0+0];\n\t}\n",
            at, want, v);
    } else {
        note(g, kind == 6 || kind == 7 ? "wait-plain" : "wait");
        look(g, &g->body, kind, v, at);
    }
    if (odds(g, 25)) { /* what is tested has come another way */
        unsigned w = g->r++;
        OUT("\tsub.s32 \t%%r%u, %%r%u, %s;\n\tshr.s32 \t%%r%u, %%r%u, 31;\n\tsetp.ne.s32 \t%%p%u, "
            "%%r%u, 0;\n\t@%%p%u bra \t$L%u;\n",
            w, v, want, w, w, p, w, p, l);
    } else {
        OUT("\tsetp.lt.u32 \t%%p%u, %%r%u, %s;\n\t@%%p%u bra \t$L%u;\n", p, v, want, p, l);
    }
    if (odds(g, 80))
        OUT("\tmembar.gl;\n");
    return v;
}

static void signal_code(struct gen *g, unsigned at)
{
    unsigned v = g->r++;
    OUT("\tmembar.gl;\n");
    switch (rnd(g, 4)) {
    case 0: OUT("\tred.global.add.u32 \t[%%rd%u], 1;\n", at); break;
    case 1: OUT("\tatom.global.exch.b32 \t%%r%u, [%%rd%u], 1;\n", v, at); break;
    case 2: OUT("\tmov.u32 \t%%r%u, 1;\n\tst.volatile.global.u32 \t[%%rd%u], %%r%u;\n", v, at, v); break;
    default:
        OUT("\tmov.u32 \t%%r%u, 1;\n\tst.release.gpu.global.u32 \t[%%rd%u], %%r%u;\n", v, at, v);
        break;
    }
}

static void chain(struct gen *g, bool up)
{
    unsigned p = g->p++, q = g->p++, e = g->l++, s = g->l++, prev = g->r++, last = g->r++;
    note(g, up ? "wait-up" : "chain");
    g->waited = true;
    OUT("\tsetp.ne.s32 \t%%p%u, %%r%u, 0;\n\t@%%p%u bra \t$L%u;\n", p, g->tid, p, e);
    if (up) {
        OUT("\tmov.u32 \t%%r%u, %u;\n\tsetp.ge.u32 \t%%p%u, %%r%u, %%r%u;\n", last,
            (unsigned)dim3u_count(g->k->launch.grid) - 1, q, g->cta, last);
        OUT("\tadd.s32 \t%%r%u, %%r%u, 1;\n", prev, g->cta);
    } else {
        OUT("\tsetp.eq.s32 \t%%p%u, %%r%u, 0;\n\tadd.s32 \t%%r%u, %%r%u, -1;\n", q, g->cta, prev,
            g->cta);
    }
    OUT("\t@%%p%u bra \t$L%u;\n", q, s);
    unsigned at = element(g, g->ptr[D], prev);
    wait_code(g, at, "1");
    OUT("$L%u:\n", s);
    unsigned own = element(g, g->ptr[D], g->cta);
    if (odds(g, 50)) {
        unsigned v = g->r++, to = element(g, g->ptr[C], g->gid);
        OUT("\tld.global.u32 \t%%r%u, [%%rd%u];\n\tadd.s32 \t%%r%u, %%r%u, 5;\n\tst.global.u32 "
            "\t[%%rd%u], %%r%u;\n",
            v, to, v, v, to, v);
    }
    signal_code(g, own);
    OUT("$L%u:\n", e);
    if (odds(g, 50))
        OUT("\tbar.sync \t0;\n"), g->barrier = true;
}

/* All CTAs wait for all: a barrier of the grid. */
static void grid_barrier(struct gen *g)
{
    unsigned p = g->p++, e = g->l++, at = g->rd++;
    struct buf want = { 0 };
    note(g, "grid-barrier");
    g->waited = g->barrier = true;
    buf_printf(&want, "%u", (unsigned)dim3u_count(g->k->launch.grid));
    OUT("\tbar.sync \t0;\n\tsetp.ne.s32 \t%%p%u, %%r%u, 0;\n\tadd.s64 \t%%rd%u, %%rd%u, 28;\n\t@%%p%u "
        "bra \t$L%u;\n\tmembar.gl;\n\tred.global.add.u32 \t[%%rd%u], 1;\n",
        p, g->tid, at, g->ptr[D], p, e, at);
    wait_code(g, at, want.s);
    OUT("$L%u:\n\tbar.sync \t0;\n", e);
    buf_free(&want);
}

static void last_sums(struct gen *g)
{
    unsigned v = g->r++, t = g->r++, i = g->r++, w = g->r++, p = g->p++, q = g->p++, e = g->l++,
             l = g->l++, at = g->rd++, mine = element(g, g->ptr[C], g->gid);
    unsigned threads = (unsigned)(dim3u_count(g->k->launch.grid) * dim3u_count(g->k->launch.block));
    note(g, "last-sums");
    OUT("\tst.global.u32 \t[%%rd%u], %%r%u;\n\tmembar.gl;\n\tadd.s64 \t%%rd%u, %%rd%u, "
        "24;\n\tatom.global.add.u32 \t%%r%u, [%%rd%u], 1;\n",
        mine, g->acc, at, g->ptr[D], t, at);
    OUT("\tsetp.ne.s32 \t%%p%u, %%r%u, %u;\n\t@%%p%u bra \t$L%u;\n\tmembar.gl;\n\tmov.u32 \t%%r%u, "
        "0;\n\tmov.u32 \t%%r%u, 0;\n$L%u:\n",
        p, t, threads - 1, p, e, i, w, l);
    unsigned x = element(g, g->ptr[C], i);
    OUT("\tld.%sglobal.u32 \t%%r%u, [%%rd%u];\n\tadd.s32 \t%%r%u, %%r%u, %%r%u;\n\tadd.s32 \t%%r%u, "
        "%%r%u, 1;\n\tsetp.lt.u32 \t%%p%u, %%r%u, %u;\n\t@%%p%u bra \t$L%u;\n",
        odds(g, 40) ? "volatile." : "", v, x, w, w, v, i, i, q, i, threads, q, l);
    OUT("\tst.global.u32 \t[%%rd%u+60], %%r%u;\n$L%u:\n", g->ptr[A], w, e);
    g->returned = true; /* c is written already */
}

static void histogram(struct gen *g)
{
    unsigned v = g->r++, at, from = element(g, g->ptr[A], g->gid);
    note(g, "histogram");
    OUT("\tld.global.u32 \t%%r%u, [%%rd%u];\n\tand.b32 \t%%r%u, %%r%u, 3;\n", v, from, v, v);
    at = element(g, g->ptr[D], v);
    OUT("\tred.global.%s.u32 \t[%%rd%u], 2;\n", odds(g, 70) ? "add" : "max", at);
}

static void ticket(struct gen *g)
{
    unsigned v = g->r++, at = g->rd++;
    note(g, "ticket");
    OUT("\tadd.s64 \t%%rd%u, %%rd%u, 20;\n\tatom.global.add.u32 \t%%r%u, [%%rd%u], 1;\n", at, g->ptr[D],
        v, at);
    add_to_acc(g, v);
}

static void special(struct gen *g)
{
    static const char *const names[] = { "%dynamic_smem_size",
                                         "%total_smem_size",
                                         "%warpid",
                                         "%laneid",
                                         "%nctaid.x",
                                         "%ntid.x",
                                         "%smid",
                                         "%nwarpid",
                                         "%nsmid",
                                         "%gridid_",
                                         "%lanemask_lt",
                                         "%ctaid.y",
                                         "%tid.y" };
    unsigned v = g->r++, k = (unsigned)rnd(g, ARRAY_LEN(names));
    k = k == 9 ? 0 : k;
    note(g, names[k] + 1);
    OUT("\tmov.u32 \t%%r%u, %s;\n", v, names[k]);
    if (odds(g, 30)) { /* seen only through control */
        unsigned p = g->p++, l = g->l++;
        OUT("\tsetp.lt.u32 \t%%p%u, %%r%u, 1;\n\t@%%p%u bra \t$L%u;\n\tadd.s32 \t%%r%u, %%r%u, "
            "7;\n$L%u:\n",
            p, v, p, l, g->acc, g->acc, l);
    } else {
        add_to_acc(g, v);
    }
}

static void uniform(struct gen *g)
{
    unsigned v = g->r++, p = g->p++, l = g->l++, e = g->l++;
    note(g, "bra.uni");
    bool call = odds(g, 30);
    OUT("\tand.b32 \t%%r%u, %%r%u, 1;\n\tsetp.eq.s32 \t%%p%u, %%r%u, 1;\n", v,
        odds(g, 70) ? g->cta : scalar(g, "par_5"), p, v);
    if (call && g->callee_f) {
        OUT("\t{\n\t.param .b32 param0;\n\tst.param.b32 \t[param0+0], %%r%u;\n\t.param .b64 "
            "param1;\n\tst.param.b64 \t[param1+0], %%rd%u;\n\t.param .b32 param2;\n\tst.param.b32 "
            "\t[param2+0], %%r%u;\n\t.param .b32 retval0;\n"
            "\t@%%p%u call.uni (retval0), mix, (param0, param1, param2);\n\t@%%p%u ld.param.b32 "
            "\t%%r%u, [retval0+0];\n\t}\n",
            g->acc, g->ptr[A], g->gid, p, p, g->acc);
        return;
    }
    OUT("\t@%%p%u bra.uni \t$L%u;\n\tadd.s32 \t%%r%u, %%r%u, 11;\n\tbra.uni "
        "\t$L%u;\n$L%u:\n\tmul.lo.s32 \t%%r%u, %%r%u, 5;\n$L%u:\n",
        p, l, g->acc, g->acc, e, l, g->acc, g->acc, e);
}

/* acc = mix(acc, pointer, index): loads, and perhaps stores, through its pointer. */
static void callee(struct gen *g)
{
    unsigned which = (unsigned)rnd(g, 3), index = g->gid;
    note(g, "call");
    if (!g->callee_f) {
        g->callee_f = true;
        buf_puts(&g->funcs, ".func  (.param .b32 func_retval0) mix(\n\t.param .b32 "
                            "mix_param_0,\n\t.param .b64 mix_param_1,\n\t.param .b32 "
                            "mix_param_2\n)\n{\n\t.reg .b32 \t%r<8>;\n\t.reg .b64 \t%rd<4>;\n"
                            "\tld.param.u32 \t%r1, [mix_param_0];\n\tld.param.u64 \t%rd1, "
                            "[mix_param_1];\n\tld.param.u32 \t%r2, [mix_param_2];\n\tmad.wide.u32 "
                            "\t%rd2, %r2, 4, %rd1;\n");
        if (odds(g, 15))
            buf_puts(&g->funcs, "\tmov.u32 \t%r3, %ctaid.x;\n\tadd.s32 \t%r1, %r1, %r3;\n");
        if (odds(g, 60))
            buf_printf(&g->funcs, "\tld%s.u32 \t%%r4, [%%rd2];\n\tadd.s32 \t%%r1, %%r1, %%r4;\n",
                       odds(g, 50) ? ".global" : "");
        if (odds(g, 50))
            buf_puts(&g->funcs, "\tst.global.u32 \t[%rd2], %r1;\n");
        buf_puts(&g->funcs, "\tst.param.b32 \t[func_retval0+0], %r1;\n\tret;\n}\n");
    }
    OUT("\t{\n\t.param .b32 param0;\n\tst.param.b32 \t[param0+0], %%r%u;\n\t.param .b64 "
        "param1;\n\tst.param.b64 \t[param1+0], %%rd%u;\n\t.param .b32 param2;\n\tst.param.b32 "
        "\t[param2+0], %%r%u;\n\t.param .b32 retval0;\n"
        "\tcall.uni (retval0), mix, (param0, param1, param2);\n\tld.param.b32 \t%%r%u, "
        "[retval0+0];\n\t}\n",
        g->acc, g->ptr[which], index, g->acc);
}

static void warp_exchange(struct gen *g)
{
    unsigned v = g->r++, p = g->p++;
    uint32_t mask = (uint32_t)((1ull << dim3u_count(g->k->launch.block)) - 1);
    if (dim3u_count(g->k->launch.block) % 2)
        return;
    if (odds(g, 60)) {
        note(g, "shfl");
        OUT("\tshfl.sync.bfly.b32 \t%%r%u|%%p%u, %%r%u, 1, 31, %u;\n", v, p, g->acc, mask);
    } else {
        note(g, "vote");
        OUT("\tsetp.lt.u32 \t%%p%u, %%r%u, 20;\n\tvote.sync.ballot.b32 \t%%r%u, %%p%u, %u;\n", p, g->acc,
            v, p, mask);
    }
    add_to_acc(g, v);
}

static void lock(struct gen *g)
{
    unsigned v = g->r++, w = g->r++, p = g->p++, l = g->l++, e = g->l++, q = g->p++, at = g->rd++;
    note(g, "lock");
    g->waited = true;
    OUT("\tadd.s64 \t%%rd%u, %%rd%u, 16;\n\tsetp.ne.s32 \t%%p%u, %%r%u, 0;\n\t@%%p%u bra "
        "\t$L%u;\n$L%u:\n\tatom.global.cas.b32 \t%%r%u, [%%rd%u], 0, 1;\n\tsetp.ne.s32 \t%%p%u, %%r%u, "
        "0;\n\t@%%p%u bra \t$L%u;\n\tmembar.gl;\n",
        at, g->ptr[D], q, g->tid, q, e, l, v, at, p, v, p, l);
    OUT("\tld.global.u32 \t%%r%u, [%%rd%u+60];\n\tmad.lo.s32 \t%%r%u, %%r%u, 2, %%r%u;\n\tst.global.u32 "
        "\t[%%rd%u+60], %%r%u;\n\tmembar.gl;\n\tatom.global.exch.b32 \t%%r%u, [%%rd%u], 0;\n$L%u:\n",
        w, g->ptr[C], w, w, g->cta, g->ptr[C], w, v, at, e);
}

/* The upper half of the grid's threads raises flags that the lower half waits for, or the other way
 * round. */
static void halves_wait(struct gen *g)
{
    unsigned threads = (unsigned)(dim3u_count(g->k->launch.grid) * dim3u_count(g->k->launch.block)),
             half = threads / 2, p = g->p++, l = g->l++, e = g->l++, x = g->r++;
    bool up = odds(g, 50);
    if (half < 1 || half > 4)
        return;
    note(g, up ? "wait-for-higher" : "wait-for-lower");
    g->waited = true;
    OUT("\tsetp.%s.u32 \t%%p%u, %%r%u, %u;\n\t@%%p%u bra \t$L%u;\n", up ? "lt" : "ge", p, g->gid, half,
        p, l);
    OUT("\t%s.s32 \t%%r%u, %%r%u, %u;\n", up ? "sub" : "add", x, g->gid, up ? half : 0);
    OUT("\tand.b32 \t%%r%u, %%r%u, 3;\n", x, x);
    unsigned own = element(g, g->ptr[D], x);
    signal_code(g, own);
    OUT("\tbra.uni \t$L%u;\n$L%u:\n", e, l);
    OUT("\t%s.s32 \t%%r%u, %%r%u, %u;\n\tand.b32 \t%%r%u, %%r%u, 3;\n", up ? "add" : "sub", x, g->gid,
        up ? 0 : half, x, x);
    unsigned at = element(g, g->ptr[D], x);
    wait_code(g, at, "1");
    OUT("$L%u:\n", e);
}

static void scatter(struct gen *g)
{
    unsigned x = index_near(g, (unsigned)rnd(g, 3)), at = element(g, g->ptr[odds(g, 70) ? C : B], x);
    note(g, "store-near");
    OUT("\tst.global.u32 \t[%%rd%u], %%r%u;\n", at, g->acc);
}

static void early_exit(struct gen *g)
{
    unsigned p = g->p++, n = scalar(g, "par_4");
    note(g, "early-exit");
    OUT("\tsetp.ge.u32 \t%%p%u, %%r%u, %%r%u;\n\t@%%p%u %s;\n", p, g->gid, n, p,
        odds(g, 80) ? "ret" : "exit");
    g->threads_may_part = true;
}

static void dynamic_shared(struct gen *g)
{
    unsigned s = g->r++, v = g->r++;
    note(g, "dynamic-shared");
    g->dynamic = true;
    OUT("\tmov.u32 \t%%r%u, dyn;\n\tmad.lo.s32 \t%%r%u, %%r%u, 4, %%r%u;\n\tst.shared.u32 \t[%%r%u], "
        "%%r%u;\n\tld.shared.u32 \t%%r%u, [%%r%u];\n",
        s, s, g->tid, s, s, g->acc, v, s);
    add_to_acc(g, v);
}

/* ---- a kernel ---- */
static void one_of_the_heavy(struct gen *g)
{
    switch (rnd(g, 8)) {
    case 0:
    case 1: chain(g, false); break;
    case 2: chain(g, true); break;
    case 3: grid_barrier(g); break;
    case 4: lock(g); break;
    case 5: halves_wait(g); break;
    case 6: last_sums(g); break;
    default: ticket(g); break;
    }
}

static void one_of_the_light(struct gen *g)
{
    switch (rnd(g, 17)) {
    case 0: plain_load(g); break;
    case 1: counted_loop(g); break;
    case 2: data_loop(g); break;
    case 3: grid_stride(g); break;
    case 4:
        if (!g->threads_may_part)
            tile(g);
        break;
    case 5:
    case 6: through_laundered(g); break;
    case 7: in_place(g); break;
    case 8: histogram(g); break;
    case 9:
    case 10: special(g); break;
    case 11: uniform(g); break;
    case 12: callee(g); break;
    case 13:
        if (!g->threads_may_part)
            warp_exchange(g);
        break;
    case 14: scatter(g); break;
    case 15: dynamic_shared(g); break;
    default: plain_load(g); break;
    }
}

static void start(struct gen *g)
{
    for (int k = 0; k < 4; k++) {
        unsigned v = g->rd++;
        g->ptr[k] = g->rd++;
        OUT("\tld.param.u64 \t%%rd%u, [par_%d];\n\tcvta.to.global.u64 \t%%rd%u, %%rd%u;\n", v, k,
            g->ptr[k], v);
    }
    unsigned x = g->r++, n = g->r++, y = g->r++;
    g->tid = g->r++, g->cta = g->r++, g->gid = g->r++, g->total = g->r++, g->acc = g->r++;
    OUT("\tmov.u32 \t%%r%u, %%ctaid.x;\n\tmov.u32 \t%%r%u, %%ntid.x;\n\tmov.u32 \t%%r%u, %%tid.x;\n", x,
        n, g->tid);
    if (g->k->launch.grid.y * g->k->launch.block.y > 1) {
        unsigned gx = g->r++, gy = g->r++, t = g->r++, w = g->r++;
        OUT("\tmad.lo.s32 \t%%r%u, %%r%u, %%r%u, %%r%u;\n\tmov.u32 \t%%r%u, %%ctaid.y;\n\tmov.u32 "
            "\t%%r%u, %%ntid.y;\n\tmov.u32 \t%%r%u, %%tid.y;\n\tmad.lo.s32 \t%%r%u, %%r%u, %%r%u, "
            "%%r%u;\n",
            gx, x, n, g->tid, y, t, w, gy, y, t, w);
        OUT("\tmad.lo.s32 \t%%r%u, %%r%u, %%r%u, %%r%u;\n\tmov.u32 \t%%r%u, %%nctaid.x;\n\tmad.lo.s32 "
            "\t%%r%u, %%r%u, %%r%u, %%r%u;\n",
            g->tid, w, n, g->tid, t, g->cta, y, t, x);
        OUT("\tmul.lo.s32 \t%%r%u, %%r%u, %%r%u;\n\tmad.lo.s32 \t%%r%u, %%r%u, %%r%u, %%r%u;\n", t, t, n,
            g->gid, gy, t, gx);
        OUT("\tmov.u32 \t%%r%u, %%nctaid.y;\n\tmul.lo.s32 \t%%r%u, %%r%u, %%r%u;\n\tmov.u32 \t%%r%u, "
            "%%ntid.y;\n\tmul.lo.s32 \t%%r%u, %%r%u, %%r%u;\n",
            y, g->total, t, y, y, g->total, g->total, y);
    } else {
        OUT("\tmov.u32 \t%%r%u, %%r%u;\n\tmad.lo.s32 \t%%r%u, %%r%u, %%r%u, %%r%u;\n\tmov.u32 \t%%r%u, "
            "%%nctaid.x;\n\tmul.lo.s32 \t%%r%u, %%r%u, %%r%u;\n",
            g->cta, x, g->gid, x, n, g->tid, y, g->total, y, n);
    }
    OUT("\tadd.s32 \t%%r%u, %%r%u, 1;\n", g->acc, g->gid);
}

static void pick_launch(struct gen *g)
{
    static const struct {
        uint8_t gx, gy, bx, by;
    } shapes[] = {
        { 2, 1, 2, 1 }, { 3, 1, 2, 1 }, { 2, 1, 4, 1 }, { 4, 1, 1, 1 }, { 3, 1, 1, 1 },
        { 2, 2, 2, 1 }, { 2, 1, 2, 2 }, { 1, 3, 2, 1 }, { 4, 1, 2, 1 }, { 2, 2, 1, 1 },
    };
    size_t k = rnd(g, ARRAY_LEN(shapes));
    struct mc_launch *l = &g->k->launch;
    l->grid = (struct dim3u){ shapes[k].gx, shapes[k].gy, 1 };
    l->block = (struct dim3u){ shapes[k].bx, shapes[k].by, 1 };
    l->warp = 32;
    l->sms = 2;
    l->nparams = PARAMS;
}

static void pick_data(struct gen *g)
{
    struct mc_launch *l = &g->k->launch;
    for (unsigned p = 0; p < 4; p++) {
        struct mc_param *a = &l->param[p];
        a->kind = MC_BUFFER;
        a->bytes = 4 * (p == D ? FLAGS : WORDS);
        for (unsigned w = 0; w < a->bytes / 4; w++) {
            uint32_t v = p == A ? (uint32_t)rnd(g, 9) : p == B ? (uint32_t)(20 + rnd(g, 9)) : 0;
            memcpy(a->init + 4 * w, &v, 4);
        }
    }
    if (odds(g, 15)) {
        note(g, "b=a");
        l->param[B] = (struct mc_param){ .kind = MC_SAME, .of = A, .offset = odds(g, 70) ? 0 : 16 };
        l->param[A].bytes = odds(g, 100) ? 4 * WORDS + 16 : 0;
    } else if (odds(g, 12)) {
        note(g, "c=a");
        l->param[C] = (struct mc_param){ .kind = MC_SAME, .of = A, .offset = 0 };
    }
    l->param[N] =
        (struct mc_param){ .kind = MC_SCALAR,
                           .value =
                               (uint32_t)(odds(g, 60) ? g->k->launch.grid.x * g->k->launch.grid.y *
                                                            g->k->launch.block.x * g->k->launch.block.y
                                                      : 1 + rnd(g, 12)) };
    l->param[K] = (struct mc_param){ .kind = MC_SCALAR, .value = (uint32_t)rnd(g, 2) };
}

static void write_module(struct gen *g)
{
    struct buf *o = &g->k->text;
    bool old = odds(g, 15);
    buf_printf(o, ".version %s\n.target %s\n.address_size 64\n", old ? "7.0" : "8.0",
               old ? "sm_70" : "sm_90");
    if (g->dynamic)
        buf_puts(o, ".extern .shared .align 16 .b8 dyn[];\n");
    buf_put(o, g->funcs.s ? g->funcs.s : "", g->funcs.n);
    buf_puts(o, ".visible .entry kern(\n");
    for (int k = 0; k < PARAMS; k++)
        buf_printf(o, "\t.param .u%d par_%d%s\n", k < 4 ? 64 : 32, k, k + 1 < PARAMS ? "," : "");
    buf_printf(o,
               ")\n{\n\t.reg .pred \t%%p<%u>;\n\t.reg .b32 \t%%r<%u>;\n\t.reg .b64 "
               "\t%%rd<%u>;\n\t.local .align 8 .b8 spill[8];\n",
               g->p + 1, g->r + 1, g->rd + 1);
    if (g->shared)
        buf_puts(o, "\t.shared .align 4 .b8 tile[64];\n\t.shared .align 8 .b8 room[128];\n");
    buf_put(o, g->body.s ? g->body.s : "", g->body.n);
    buf_puts(o, "}\n");
}

void mc_spec(struct mc_kernel *k)
{
    static const char digits[] = "0123456789abcdef";
    memset(&k->spec, 0, sizeof k->spec);
    memset(k->args, 0, sizeof k->args);
    for (uint32_t p = 0; p < k->launch.nparams; p++) {
        const struct mc_param *m = &k->launch.param[p];
        struct arg_spec *a = &k->args[p];
        struct buf name = { .s = NULL };
        buf_printf(&name, "par_%u", p);
        memcpy(k->names[p], name.s, name.n + 1);
        buf_free(&name);
        a->name = k->names[p];
        a->kind = m->kind == MC_BUFFER ? ARG_BUFFER : m->kind == MC_SAME ? ARG_SAME_AS : ARG_SCALAR;
        a->elem = ELEM_U32;
        a->output = m->kind == MC_BUFFER;
        for (uint32_t i = 0; m->kind == MC_BUFFER && i < m->bytes; i++) {
            k->hex[p][2 * i] = digits[m->init[i] >> 4];
            k->hex[p][2 * i + 1] = digits[m->init[i] & 15];
            k->hex[p][2 * i + 2] = 0;
        }
        a->count = m->bytes / 4;
        a->init = (struct init_spec){ .kind = INIT_HEX, .text = k->hex[p] };
        memcpy(a->scalar, &m->value, 4);
        if (m->kind == MC_SAME) {
            memcpy(k->same[p], k->names[m->of], sizeof k->same[p]);
            a->same_as = k->same[p];
            a->offset = m->offset;
        }
    }
    k->spec.kernel = (char *)(uintptr_t) "kern";
    k->spec.grid = k->launch.grid;
    k->spec.block = k->launch.block;
    k->spec.shared = k->launch.shared;
    k->spec.args = k->args;
    k->spec.nargs = k->launch.nparams;
}

void mc_generate(uint64_t seed, struct mc_kernel *out)
{
    memset(out, 0, sizeof *out);
    struct gen gen = { .s = seed * 0x2545f4914f6cdd1dull + 77, .k = out, .r = 1, .rd = 1, .p = 1 },
               *g = &gen;
    pick_launch(g);
    pick_data(g);
    start(g);
    unsigned light = 1 + (unsigned)rnd(g, 3);
    bool heavy = odds(g, 45), first = odds(g, 30);
    if (!heavy && odds(g, 30))
        early_exit(g);
    if (heavy && first)
        one_of_the_heavy(g);
    for (unsigned k = 0; k < light; k++)
        one_of_the_light(g);
    if (heavy && !first)
        one_of_the_heavy(g);
    if (heavy && first && odds(g, 30))
        one_of_the_light(g);
    if (!g->returned) {
        unsigned at = element(g, g->ptr[C], g->gid);
        OUT("\tst.global.u32 \t[%%rd%u], %%r%u;\n", at, g->acc);
    }
    OUT("\tret;\n");
    if (g->dynamic)
        out->launch.shared = 64;
    write_module(g);
    mc_spec(out);
    buf_free(&gen.body);
    buf_free(&gen.funcs);
}

void mc_kernel_free(struct mc_kernel *k)
{
    buf_free(&k->text);
}
