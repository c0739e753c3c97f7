/* Kernels from random programs: straight code over every integer instruction that addresses are made of,
 * branches, loops of every shape, early ends, calls, loaded values, selected and generic pointers, odd
 * widths. Every access stays inside its buffer, so the analysis and the simulated device must count the
 * same requests and sectors. */
#ifndef GPULOCW_TESTS_ANALYSIS_GEN_H
#define GPULOCW_TESTS_ANALYSIS_GEN_H

#include "tests/unit/analysis_support.h"

struct an_launch;
struct buf;
struct dim3u;
struct gen;
struct gen_width;
struct init_spec;

#define GEN_VARS  8u
#define GEN_INDEX 4096u /* accesses address so many elements of up to 32 bytes */
struct gen {
    uint64_t seed, k;
    struct buf text;
    struct dim3u grid, block;
    int32_t n;
    unsigned labels, loops, temps, depth, loads;
    bool exits; /* some threads may have returned: no barrier from here on */
};
static inline uint64_t gen_rand(struct gen *g, uint64_t n)
{
    return base_splitmix(g->seed, g->k++) % n;
}
static inline bool gen_chance(struct gen *g, unsigned percent)
{
    return gen_rand(g, 100) < percent;
}

/* A readable 32-bit operand: a variable, an index register, the parameter, a loop counter, a number. */
static inline const char *gen_operand(struct gen *g, char out[24])
{
    static const char *const fixed[] = { "%tx", "%ty", "%tz", "%cx",   "%cy",
                                         "%cz", "%nx", "%gx", "%lane", "%gid" };
    static const int number[] = { 0, 1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 33, 64, 100, -1, -3, 1000003 };
    switch (gen_rand(g, 8)) {
    case 0:
    case 1: snprintf(out, 24, "%s", fixed[gen_rand(g, ARRAY_LEN(fixed))]); break;
    case 2: snprintf(out, 24, "%d", number[gen_rand(g, ARRAY_LEN(number))]); break;
    case 3: snprintf(out, 24, "%%n"); break;
    case 4:
        if (g->depth) {
            snprintf(out, 24, "%%k%u", g->loops - 1 - (unsigned)gen_rand(g, g->depth));
            break;
        }
        /* fall through */
    default: snprintf(out, 24, "%%v%u", (unsigned)gen_rand(g, GEN_VARS)); break;
    }
    return out;
}
static inline const char *gen_reg(struct gen *g, char out[24])
{
    do
        gen_operand(g, out);
    while (out[0] != '%');
    return out;
}
static inline unsigned gen_small(struct gen *g, unsigned n)
{
    return 1 + (unsigned)gen_rand(g, n);
}

/* ---- one assignment to a variable ---- */
static inline void gen_divide(struct gen *g, const char *d, const char *a)
{
    static const struct {
        unsigned d, mul, shift;
    } by[] = { { 3, 2863311531u, 33 },
               { 5, 3435973837u, 34 },
               { 10, 3435973837u, 35 },
               { 6, 2863311531u, 34 },
               { 25, 1374389535u, 35 } };
    unsigned k = (unsigned)gen_rand(g, ARRAY_LEN(by));
    switch (gen_rand(g, 5)) {
    case 0: buf_printf(&g->text, "div.u32 %s, %s, %u;\n", d, a, gen_small(g, 40)); break;
    case 1: buf_printf(&g->text, "div.s32 %s, %s, %u;\n", d, a, gen_small(g, 40)); break;
    case 2:
        buf_printf(&g->text, "rem.%c32 %s, %s, %u;\n", gen_chance(g, 50) ? 'u' : 's', d, a,
                   gen_small(g, 100));
        break;
    case 3:
        buf_printf(&g->text,
                   "mul.wide.u32 %%w0, %s, %u;\nshr.u64 %%w0, %%w0, %u;\ncvt.u32.u64 %s, %%w0;\n", a,
                   by[k].mul, by[k].shift, d);
        break;
    default:
        buf_printf(&g->text,
                   "mul.hi.s32 %%t8, %s, -1840700269;\nadd.s32 %%t8, %%t8, %s;\nshr.u32 %%t9, %%t8, "
                   "31;\nshr.s32 %%t8, %%t8, 2;\nadd.s32 %s, %%t8, %%t9;\n",
                   a, a, d);
        break;
    }
}
static inline void gen_bits(struct gen *g, const char *d, const char *a, const char *b)
{
    unsigned pos = (unsigned)gen_rand(g, 20);
    switch (gen_rand(g, 10)) {
    case 0: buf_printf(&g->text, "bfe.u32 %s, %s, %u, %u;\n", d, a, pos, gen_small(g, 12)); break;
    case 1: buf_printf(&g->text, "bfe.s32 %s, %s, %u, %u;\n", d, a, pos, gen_small(g, 12)); break;
    case 2:
        buf_printf(&g->text, "bfi.b32 %s, %s, %s, %u, %u;\n", d, a, b, pos,
                   1 + (unsigned)gen_rand(g, 32));
        break;
    case 3:
        buf_printf(&g->text, "lop3.b32 %s, %s, %s, %s, %u;\n", d, a, b, "%v1",
                   (unsigned)gen_rand(g, 256));
        break;
    case 4:
        buf_printf(&g->text, "and.b32 %s, %s, %d;\n", d, a,
                   (int)gen_rand(g, 2) ? (1 << gen_small(g, 12)) - 1 : -(1 << gen_small(g, 6)));
        break;
    case 5: buf_printf(&g->text, "xor.b32 %s, %s, %s;\n", d, a, b); break;
    case 6: buf_printf(&g->text, "or.b32 %s, %s, %s;\n", d, a, b); break;
    case 7: buf_printf(&g->text, "shf.l.wrap.b32 %s, %s, %s, %u;\n", d, a, b, gen_small(g, 31)); break;
    case 8:
        buf_printf(&g->text, "prmt.b32 %s, %s, %s, 0x%x%x%x%x;\n", d, a, b, (unsigned)gen_rand(g, 8),
                   (unsigned)gen_rand(g, 8), (unsigned)gen_rand(g, 8), (unsigned)gen_rand(g, 8));
        break;
    default:
        buf_printf(&g->text, "%s.b32 %s, %s;\n",
                   (const char *[]){ "not", "popc", "clz", "brev" }[gen_rand(g, 4)], d, a);
        break;
    }
}
static inline void gen_assign(struct gen *g)
{
    char d[24], a[24], b[24], c[24];
    snprintf(d, sizeof d, "%%v%u", (unsigned)gen_rand(g, GEN_VARS));
    gen_reg(g, a);
    gen_operand(g, b);
    gen_operand(g, c);
    switch (gen_rand(g, 16)) {
    case 0:
    case 1: buf_printf(&g->text, "add.s32 %s, %s, %s;\n", d, a, b); break;
    case 2: buf_printf(&g->text, "sub.s32 %s, %s, %s;\n", d, a, b); break;
    case 3:
    case 4:
        buf_printf(&g->text, "mad.lo.s32 %s, %s, %d, %s;\n", d, a, (int)gen_rand(g, 70) - 5, c);
        break;
    case 5: buf_printf(&g->text, "mul.lo.s32 %s, %s, %s;\n", d, a, b); break;
    case 6: buf_printf(&g->text, "shl.b32 %s, %s, %u;\n", d, a, (unsigned)gen_rand(g, 9)); break;
    case 7:
        buf_printf(&g->text, "shr.%c32 %s, %s, %u;\n", gen_chance(g, 50) ? 'u' : 's', d, a,
                   (unsigned)gen_rand(g, 9));
        break;
    case 8:
        buf_printf(&g->text, "%s.%c32 %s, %s, %s;\n", gen_chance(g, 50) ? "min" : "max",
                   gen_chance(g, 50) ? 'u' : 's', d, a, b);
        break;
    case 9:
    case 10: gen_divide(g, d, a); break;
    case 11:
    case 12: gen_bits(g, d, a, gen_reg(g, b)); break;
    case 13:
        buf_printf(&g->text, "setp.%s.s32 %%p1, %s, %s;\nselp.b32 %s, %s, %s, %%p1;\n",
                   (const char *[]){ "lt", "ge", "eq", "ne" }[gen_rand(g, 4)], a, b, d, gen_reg(g, c),
                   a);
        break;
    case 14:
        buf_printf(&g->text, "cvt.%s %%h1, %s;\ncvt.%s %s, %%h1;\n",
                   gen_chance(g, 50) ? "u16.u32" : "s16.s32", a,
                   gen_chance(g, 50) ? "u32.u16" : "s32.s16", d);
        break;
    default:
        buf_printf(&g->text, "setp.lt.u32 %%p1, %s, %s;\n@%%p1 mov.u32 %s, %s;\n", a, b, d, c);
        break;
    }
}

/* ---- accesses ---- */
struct gen_width {
    const char *type, *regs;
    unsigned bytes;
};
static const struct gen_width gen_widths[] = {
    { "u8", "%h2", 1 },
    { "b16", "%h2", 2 },
    { "u16", "%h2", 2 },
    { "u32", "%x0", 4 },
    { "f32", "%f0", 4 },
    { "b64", "%w8", 8 },
    { "f64", "%d0", 8 },
    { "v2.u8", "{%h2,%h3}", 2 },
    { "v2.b16", "{%h2,%h3}", 4 },
    { "v4.u16", "{%h2,%h3,%h4,%h5}", 8 },
    { "v2.f32", "{%f0,%f1}", 8 },
    { "v4.u32", "{%x0,%x1,%x2,%x3}", 16 },
    { "v2.f64", "{%d0,%d1}", 16 },
    { "b32", "%x0", 4 },
    { "s16", "%x0", 2 },
    { "b128", "%q0", 16 },
    { "v8.f32", "{%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}", 32 },
    { "v4.b64", "{%w8,%w9,%w10,%w11}", 32 },
};
/* The element number in %t0, from an affine form of the indices or from a variable, folded into
 * 0..GEN_INDEX-1. */
static inline void gen_index(struct gen *g)
{
    static const char *const reg[] = { "%tx", "%ty", "%tz", "%cx", "%cy", "%cz", "%lane" };
    static const int coef[] = { 0, 0, 1, 1, 2, 3, 4, 7, 16, 31, 32, 33, -1, -2, 64 };
    char v[24];
    if (gen_chance(g, 40)) {
        buf_printf(&g->text, "mov.u32 %%t0, %d;\n", 1500 + (int)gen_rand(g, 500));
        for (size_t r = 0; r < ARRAY_LEN(reg); r++)
            buf_printf(&g->text, "mad.lo.s32 %%t0, %s, %d, %%t0;\n", reg[r],
                       r == 0 ? 1 + (int)gen_rand(g, 2)
                              : coef[gen_rand(g, ARRAY_LEN(coef))] / (r == 4 || r == 5 ? 2 : 1));
        if (g->depth)
            buf_printf(&g->text, "mad.lo.s32 %%t0, %%k%u, %d, %%t0;\n", g->loops - 1,
                       coef[gen_rand(g, ARRAY_LEN(coef))]);
        if (gen_chance(g, 30)) /* clamped, as at the edges of a grid */
            buf_printf(&g->text, "max.s32 %%t0, %%t0, %u;\nmin.s32 %%t0, %%t0, %u;\n",
                       1500 + (unsigned)gen_rand(g, 300), 1800 + (unsigned)gen_rand(g, 300));
        if (gen_chance(g, 20)) /* wrapped around at an end */
            buf_printf(&g->text, "setp.eq.s32 %%p2, %s, %u;\nselp.b32 %%t0, %u, %%t0, %%p2;\n",
                       reg[gen_rand(g, 4)], (unsigned)gen_rand(g, 3), (unsigned)gen_rand(g, 4000));
    } else {
        buf_printf(&g->text, "mov.u32 %%t0, %s;\n", gen_reg(g, v));
    }
    if (gen_chance(g, 70))
        buf_printf(&g->text, "and.b32 %%t0, %%t0, %u;\n", GEN_INDEX - 1);
    else
        buf_printf(&g->text, "rem.u32 %%t0, %%t0, %u;\n", GEN_INDEX - 1 - (unsigned)gen_rand(g, 1000));
}
static inline void gen_pointer(struct gen *g, unsigned bytes)
{
    const char *base = "%pa";
    if (gen_chance(g, 15)) {
        char a[24];
        buf_printf(&g->text, "setp.gt.s32 %%p2, %s, 3;\nselp.b64 %%w1, %%pa, %%pb, %%p2;\n",
                   gen_reg(g, a));
        base = "%w1";
    } else if (gen_chance(g, 40)) {
        base = "%pb";
    }
    if (gen_chance(g, 50))
        buf_printf(&g->text, "mad.wide.u32 %%w2, %%t0, %u, %s;\n", bytes, base);
    else
        buf_printf(&g->text, "mul.wide.s32 %%w2, %%t0, %u;\nadd.s64 %%w2, %s, %%w2;\n", bytes, base);
}
static inline void gen_guard(struct gen *g)
{
    char a[24], b[24];
    if (!gen_chance(g, 30))
        return;
    buf_printf(&g->text, "setp.%s.%c32 %%p3, %s, %s;\n",
               (const char *[]){ "lt", "le", "ne", "gt" }[gen_rand(g, 4)], gen_chance(g, 50) ? 'u' : 's',
               gen_reg(g, a), gen_operand(g, b));
}
static inline void gen_load(struct gen *g)
{
    const struct gen_width *w = &gen_widths[gen_rand(g, ARRAY_LEN(gen_widths))];
    size_t before;
    gen_index(g);
    gen_pointer(g, w->bytes);
    before = g->text.n;
    gen_guard(g);
    bool guarded = g->text.n != before, generic = gen_chance(g, 20);
    buf_printf(&g->text, "%sld%s.%s %s, [%%w2+%u];\n",
               guarded ? gen_chance(g, 50) ? "@%p3 " : "@!%p3 " : "",
               generic             ? ""
               : gen_chance(g, 20) ? ".global.nc"
                                   : ".global",
               w->type, w->regs, w->bytes * (unsigned)gen_rand(g, 4));
    g->loads++;
}
/* A loaded number goes into a variable: addresses and branches after it depend on data. */
static inline void gen_load_index(struct gen *g)
{
    gen_index(g);
    buf_printf(&g->text, "mad.wide.u32 %%w2, %%t0, 4, %%pi;\nld.global.u32 %%v%u, [%%w2];\n",
               (unsigned)gen_rand(g, GEN_VARS));
    g->loads++;
}
static inline void gen_store(struct gen *g)
{
    gen_index(g);
    buf_puts(&g->text, "mad.wide.u32 %w2, %t0, 4, %po;\nst.global.u32 [%w2], %v0;\n");
}
/* The simulated device has no counts by copy: a load of the same bytes follows at once. */
static inline void gen_async(struct gen *g)
{
    static const char *const twin[] = { "b32 %x0", "b64 %w8", "v2.b64 {%w8,%w9}" };
    unsigned size = (unsigned)gen_rand(g, 3), bytes = 4u << size;
    gen_index(g);
    gen_pointer(g, bytes);
    buf_printf(&g->text,
               "shl.b32 %%t1, %%tx, 4;\nand.b32 %%t1, %%t1, 4080;\nadd.s32 %%t1, %%t1, "
               "%%sh;\ncp.async.ca.shared.global [%%t1], [%%w2], %u;\nld.global.%s, "
               "[%%w2];\ncp.async.wait_all;\n",
               bytes, twin[size]);
    g->loads++;
}

/* ---- structure ---- */
static inline void gen_block(struct gen *g, unsigned n, unsigned nest);
static inline void gen_if(struct gen *g, unsigned nest)
{
    char a[24], b[24];
    unsigned l = g->labels++;
    bool other = gen_chance(g, 50);
    buf_printf(&g->text, "setp.%s.s32 %%p4, %s, %s;\n@%%p4 bra ELSE%u;\n",
               (const char *[]){ "lt", "ge", "eq", "ne", "gt" }[gen_rand(g, 5)], gen_reg(g, a),
               gen_operand(g, b), l);
    gen_block(g, gen_small(g, 3), nest + 1);
    if (other)
        buf_printf(&g->text, "bra.uni JOIN%u;\n", l);
    buf_printf(&g->text, "ELSE%u:\n", l);
    if (other) {
        gen_block(g, gen_small(g, 3), nest + 1);
        buf_printf(&g->text, "JOIN%u:\n", l);
    }
}
/* Counter %k, bound %b: linear up or down, doubled, halved or tripled; tested at the top or the bottom;
 * left early. */
static inline void gen_loop(struct gen *g, unsigned nest)
{
    static const char *const step[] = { "add.s32 %%k%u, %%k%u, 1;\n",    "add.s32 %%k%u, %%k%u, 3;\n",
                                        "sub.s32 %%k%u, %%k%u, 1;\n",    "shl.b32 %%k%u, %%k%u, 1;\n",
                                        "mul.lo.s32 %%k%u, %%k%u, 3;\n", "shr.u32 %%k%u, %%k%u, 1;\n",
                                        "shr.s32 %%k%u, %%k%u, 2;\n" };
    static const char *const bound[] = { "mov.u32 %%b%u, 6;\n",       "and.b32 %%b%u, %%n, 7;\n",
                                         "mov.u32 %%b%u, %%cx;\n",    "and.b32 %%b%u, %%tx, 5;\n",
                                         "and.b32 %%b%u, %%v2, 3;\n", "mov.u32 %%b%u, %%gx;\n" };
    unsigned k = g->loops++, kind = (unsigned)gen_rand(g, ARRAY_LEN(step)), l = g->labels++;
    bool down = kind == 2 || kind >= 5, top = gen_chance(g, 50);
    buf_printf(&g->text, bound[gen_rand(g, ARRAY_LEN(bound))], k);
    buf_printf(&g->text, "mov.u32 %%k%u, %u;\n", k,
               kind == 2   ? 6
               : kind >= 5 ? 48
               : kind >= 3 ? 1
                           : (unsigned)gen_rand(g, 2));
    if (kind >= 5)
        buf_printf(&g->text, "min.s32 %%b%u, %%b%u, 5;\n", k, k);
    if (down)
        buf_printf(&g->text, "max.s32 %%b%u, %%b%u, 0;\n", k, k);
    buf_printf(&g->text, "LOOP%u:\n", l);
    if (top)
        buf_printf(&g->text, "setp.%s.s32 %%p5, %%k%u, %%b%u;\n@%%p5 bra DONE%u;\n", down ? "le" : "gt",
                   k, k, l);
    g->depth++;
    gen_block(g, gen_small(g, 3), nest + 1);
    if (gen_chance(g, 25)) {
        char a[24];
        buf_printf(&g->text, "setp.gt.s32 %%p6, %%k%u, %s;\n@%%p6 bra DONE%u;\n", k, gen_operand(g, a),
                   l);
        gen_block(g, 1, nest + 1);
    }
    g->depth--;
    buf_printf(&g->text, step[kind], k, k);
    if (top)
        buf_printf(&g->text, "bra.uni LOOP%u;\nDONE%u:\n", l, l);
    else
        buf_printf(&g->text, "setp.%s.s32 %%p5, %%k%u, %%b%u;\n@%%p5 bra LOOP%u;\nDONE%u:\n",
                   down ? "gt" : "le", k, k, l, l);
    g->loops = k + 1;
}
static inline void gen_call(struct gen *g)
{
    char a[24], b[24];
    buf_printf(
        &g->text,
        "{\n.param .b32 c0;\n.param .b32 c1;\n.param .b32 cr;\nst.param.b32 [c0], %s;\nst.param.b32 "
        "[c1], %s;\ncall.uni (cr), mix, (c0, c1);\nld.param.b32 %%v%u, [cr];\n}\n",
        gen_reg(g, a), gen_reg(g, b), (unsigned)gen_rand(g, GEN_VARS));
}
static inline void gen_statement(struct gen *g, unsigned nest)
{
    char a[24];
    switch (gen_rand(g, 20)) {
    case 0:
    case 1:
    case 2:
    case 3: gen_load(g); break;
    case 4: gen_load_index(g); break;
    case 5: gen_store(g); break;
    case 6:
    case 7:
        if (nest < 3)
            gen_if(g, nest);
        else
            gen_assign(g);
        break;
    case 8:
    case 9:
        if (nest < 2)
            gen_loop(g, nest);
        else
            gen_assign(g);
        break;
    case 10: gen_call(g); break;
    case 11: gen_async(g); break;
    case 12:
        if (gen_chance(g, 30)) {
            buf_printf(&g->text, "setp.eq.s32 %%p7, %s, %u;\n@%%p7 ret;\n", gen_reg(g, a),
                       (unsigned)gen_rand(g, 9));
            g->exits = true;
        }
        break;
    case 13:
        if (!g->exits && !nest)
            buf_puts(&g->text, "bar.sync 0;\n");
        break;
    default: gen_assign(g); break;
    }
}
static inline void gen_block(struct gen *g, unsigned n, unsigned nest)
{
    for (unsigned i = 0; i < n; i++)
        gen_statement(g, nest);
}
static const char gen_head[] =
    ".version 8.8\n.target sm_100\n.address_size 64\n"
    ".func (.param .b32 r) mix(.param .b32 a, .param .b32 b)\n{\n.reg .b32 %r<6>;\n.reg .pred "
    "%p<2>;\nld.param.u32 %r0, [a];\nld.param.u32 %r1, [b];\nmad.lo.s32 %r2, %r0, 5, %r1;\n"
    "setp.lt.s32 %p0, %r1, 7;\n@%p0 bra L;\nadd.s32 %r2, %r2, 3;\nL:\nst.param.b32 [r], %r2;\nret;\n}\n"
    ".visible .entry gen(.param .u64 A, .param .u64 B, .param .u64 I, .param .u64 O, .param .u32 "
    "n)\n{\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n.reg .b32 %t<12>, %v<9>, %k<40>, %b<40>, %x<9>, "
    "%r<9>;\n"
    ".reg .b32 %tx, %ty, %tz, %cx, %cy, %cz, %nx, %gx, %lane, %gid, %n, %sh;\n.reg .b64 %w<12>;\n.reg "
    ".b64 %pa, %pb, %pi, %po;\n.reg .f32 %f<9>;\n.reg .f64 %d<9>;\n.reg .b128 %q<2>;\n.shared .align 16 "
    ".b8 buffer[4096];\n"
    "ld.param.u64 %pa, [A];\ncvta.to.global.u64 %pa, %pa;\nld.param.u64 %pb, [B];\ncvta.to.global.u64 "
    "%pb, %pb;\nld.param.u64 %pi, [I];\nld.param.u64 %po, [O];\nld.param.u32 %n, [n];\n"
    "mov.u32 %tx, %tid.x;\nmov.u32 %ty, %tid.y;\nmov.u32 %tz, %tid.z;\nmov.u32 %cx, %ctaid.x;\nmov.u32 "
    "%cy, %ctaid.y;\nmov.u32 %cz, %ctaid.z;\nmov.u32 %nx, %ntid.x;\nmov.u32 %gx, %nctaid.x;\n"
    "mov.u32 %lane, %laneid;\nmad.lo.s32 %gid, %cx, %nx, %tx;\nmov.u32 %sh, buffer;\nmov.u32 %v0, "
    "%gid;\nmov.u32 %v1, %tx;\nmov.u32 %v2, %cx;\nmad.lo.s32 %v3, %ty, %nx, %tx;\nmov.u32 %v4, 3;\n"
    "mov.u32 %v5, %n;\nadd.s32 %v6, %gid, 1;\nsub.s32 %v7, %gid, 1;\n";
static inline void gen_make(struct gen *g, uint64_t seed)
{
    static const uint16_t bx[] = { 1, 7, 16, 32, 33, 64, 96, 128 };
    static const uint8_t by[] = { 1, 1, 2, 3, 8 }, bz[] = { 1, 1, 1, 2 };
    struct buf text = g->text;
    *g = (struct gen){ .seed = seed, .text = text };
    buf_clear(&g->text);
    do {
        g->block = (struct dim3u){ bx[gen_rand(g, ARRAY_LEN(bx))], by[gen_rand(g, ARRAY_LEN(by))],
                                   bz[gen_rand(g, ARRAY_LEN(bz))] };
    } while (dim3u_count(g->block) > 256);
    g->grid = (struct dim3u){ 1 + (uint32_t)gen_rand(g, 7), 1 + (uint32_t)gen_rand(g, 3),
                              1 + (uint32_t)gen_rand(g, 2) };
    g->n = (int32_t)gen_rand(g, 200);
    buf_puts(&g->text, gen_head);
    do
        gen_block(g, 4 + (unsigned)gen_rand(g, 6), 0);
    while (!g->loads);
    buf_puts(&g->text, "ret;\n}\n");
}
static inline void gen_launch(const struct gen *g, struct an_launch *a)
{
    an_launch_init(a, g->grid, g->block);
    an_buffer(a, "A", ELEM_U8, GEN_INDEX * 32 + 128);
    an_buffer(a, "B", ELEM_U8, GEN_INDEX * 32 + 128);
    an_buffer(a, "I", ELEM_U32, GEN_INDEX)->init = (struct init_spec){
        .kind = INIT_RANDOM, .b = 3000, .ib = 3000, .integral = true, .seed = g->seed
    };
    an_buffer(a, "O", ELEM_U32, GEN_INDEX);
    an_int(a, "n", g->n);
    an_data(a);
}

#endif
