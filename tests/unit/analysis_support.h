/* What the tests of the analysis share: launches built by hand, kernels built
 * from random shapes. */
#ifndef GPULOCW_TESTS_ANALYSIS_SUPPORT_H
#define GPULOCW_TESTS_ANALYSIS_SUPPORT_H

#include "tests/support.h"

#include <stdio.h>
#include <string.h>

#include "engine/analysis/analysis.h"
#include "engine/analysis/curve.h"
#include "engine/rec/data.h"
#include "engine/rec/elem.h"
#include "engine/rec/launch.h"

struct an_gen;
struct an_launch;
struct buf;
struct diags;
struct ptx_module;

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

static inline struct ptx_module *an_parse(const char *text)
{
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    enum status st = ptx_parse("test.ptx", str_of(text), &m, &ds);
    assert_status_ok(st, &ds);
    diags_free(&ds);
    return m;
}

/* A launch with buffers and integers as arguments. */
struct an_launch {
    struct launch_spec l;
    struct arg_spec arg[8];
    struct launch_data data;
};
static inline void an_launch_init(struct an_launch *a, struct dim3u grid, struct dim3u block)
{
    memset(a, 0, sizeof *a);
    a->l.grid = grid;
    a->l.block = block;
    a->l.args = a->arg;
}
static inline struct arg_spec *an_buffer(struct an_launch *a, const char *name, enum elem e,
                                         uint64_t count)
{
    struct arg_spec *s = &a->arg[a->l.nargs++];
    *s = (struct arg_spec){ .kind = ARG_BUFFER,
                            .name = (char *)(uintptr_t)name,
                            .elem = e,
                            .count = count,
                            .init = { .kind = INIT_FILL, .integral = true } };
    return s;
}
static inline void an_int(struct an_launch *a, const char *name, int32_t v)
{
    struct arg_spec *s = &a->arg[a->l.nargs++];
    *s = (struct arg_spec){ .kind = ARG_SCALAR, .name = (char *)(uintptr_t)name, .elem = ELEM_S32 };
    memcpy(s->scalar, &v, sizeof v);
}
static inline void an_data(struct an_launch *a)
{
    struct diags ds = { 0 };
    assert_status_ok(launch_data_make(&a->l, (uint64_t)1 << 30, &a->data, &ds), &ds);
    diags_free(&ds);
}
static inline struct ana_kernel *an_run(const struct ptx_module *m, const struct an_launch *a,
                                        bool quick)
{
    struct diags ds = { 0 };
    struct ana_kernel *k = NULL;
    struct ana_opts o = { .data = a ? &a->data : NULL, .quick = quick };
    assert_status_ok(ana_run(m, str_of(""), &o, &k, &ds), &ds);
    diags_free(&ds);
    return k;
}
/* The n-th access that is a load (or a store). */
static inline const struct ana_access *an_access(const struct ana_kernel *k, bool store, unsigned n)
{
    for (uint32_t i = 0; i < k->naccess; i++)
        if (k->access[i].store == store && n-- == 0)
            return &k->access[i];
    fail_msg("no such access");
    return NULL;
}

/* ---- kernels from random shapes ----
 * One load (and one store of what was loaded) at
 *     A + bytes * (off + c . (tid, ctaid, loops)) + skew
 * under a random guard and up to two loops; every address lies inside the buffer. */
struct an_gen {
    uint64_t seed, k;
    struct buf text;
    struct dim3u grid, block;
    unsigned bytes, vec; /* of one element; elements per access */
    uint64_t count;      /* bytes of the buffer */
    int32_t n;           /* integer parameter */
};
static inline uint64_t an_rand(struct an_gen *g, uint64_t n)
{
    return base_splitmix(g->seed, g->k++) % n;
}
static inline void an_gen_shape(struct an_gen *g)
{
    static const uint16_t bx[] = { 1, 5, 16, 24, 32, 33, 48, 64, 100, 128, 256 };
    static const uint8_t by[] = { 1, 1, 2, 3, 4, 8 }, bz[] = { 1, 1, 1, 2, 3 };
    do {
        g->block = (struct dim3u){ bx[an_rand(g, ARRAY_LEN(bx))], by[an_rand(g, ARRAY_LEN(by))],
                                   bz[an_rand(g, ARRAY_LEN(bz))] };
    } while (dim3u_count(g->block) > 512);
    g->grid = (struct dim3u){ 1 + (uint32_t)an_rand(g, 6), 1 + (uint32_t)an_rand(g, 3),
                              1 + (uint32_t)an_rand(g, 2) };
    static const struct {
        uint8_t bytes, vec;
    } widths[] = { { 1, 1 }, { 2, 1 }, { 4, 1 }, { 4, 1 }, { 4, 2 }, { 4, 4 }, { 8, 1 }, { 8, 2 } };
    unsigned w = (unsigned)an_rand(g, ARRAY_LEN(widths));
    g->bytes = widths[w].bytes;
    g->vec = widths[w].vec;
}
/* A guard in %p1 from the values %r1..%r6 (tid, ctaid), or none. */
static inline const char *an_gen_guard(struct an_gen *g)
{
    switch (an_rand(g, 8)) {
    case 0: return "";
    case 1:
        buf_puts(&g->text, "\tmad.lo.s32 %r20, %r4, %r7, %r1;\n\tsetp.lt.s32 %p1, %r20, %r19;\n");
        break;
    case 2:
        buf_printf(&g->text, "\tand.b32 %%r20, %%r1, %u;\n\tsetp.eq.s32 %%p1, %%r20, %u;\n",
                   1 + (unsigned)an_rand(g, 7), (unsigned)an_rand(g, 2));
        break;
    case 3: buf_printf(&g->text, "\tsetp.ge.u32 %%p1, %%r1, %u;\n", (unsigned)an_rand(g, 40)); break;
    case 4: buf_puts(&g->text, "\tsetp.le.s32 %p1, %r2, %r4;\n"); break;
    case 5:
        buf_puts(
            &g->text,
            "\tadd.s32 %r20, %r4, %r5;\n\tadd.s32 %r21, %r1, %r20;\n\tsetp.lt.s32 %p2, %r21, %r19;\n"
            "\tsetp.ne.and.s32 %p1, %r1, %r4, %p2;\n");
        break;
    case 6:
        buf_puts(&g->text, "\tmad.lo.s32 %r20, %r4, %r7, %r1;\n\trem.u32 %r20, %r20, 3;\n\tsetp.ne.s32 "
                           "%p1, %r20, 0;\n");
        break;
    default:
        buf_puts(&g->text, "\tsetp.gt.s32 %p2, %r1, 2;\n\tsetp.lt.or.s32 %p1, %r4, 1, %p2;\n");
        break;
    }
    return an_rand(g, 2) ? "@%p1 " : "@!%p1 ";
}
static inline void an_gen_index(struct an_gen *g, int64_t *lo, int64_t *hi, unsigned loops,
                                const int *trips)
{
    static const int coef[] = {
        0, 1, 1, 1, 2, 3, 4, 7, 8, 16, 17, 31, 32, 33, -1, -2, -5, -32, 64, 128
    };
    const int64_t most[8] = { (int64_t)g->block.x - 1,  (int64_t)g->block.y - 1, (int64_t)g->block.z - 1,
                              (int64_t)g->grid.x - 1,   (int64_t)g->grid.y - 1,  (int64_t)g->grid.z - 1,
                              loops > 0 ? trips[0] : 0, loops > 1 ? trips[1] : 0 };
    static const char *const reg[8] = { "%r1", "%r2", "%r3", "%r4", "%r5", "%r6", "%r10", "%r11" };
    *lo = *hi = 0;
    buf_puts(&g->text, "\tmov.u32 %r30, 0;\n");
    for (int d = 0; d < 6 + (int)loops; d++) {
        int c = coef[an_rand(g, ARRAY_LEN(coef))];
        if (d == 0 && c == 0)
            c = 1;
        buf_printf(&g->text, "\tmad.lo.s32 %%r30, %s, %d, %%r30;\n", reg[d], c);
        *lo += c < 0 ? c * most[d] : 0;
        *hi += c > 0 ? c * most[d] : 0;
    }
    if (an_rand(g, 6) == 0) { /* not affine: divided, exact only when executed */
        buf_printf(&g->text, "\tadd.s32 %%r30, %%r30, %lld;\n\tshr.s32 %%r30, %%r30, %u;\n",
                   (long long)-*lo, 1 + (unsigned)an_rand(g, 3));
        *hi -= *lo;
        *lo = 0;
    }
}
static inline void an_gen_make(struct an_gen *g, uint64_t seed)
{
    static const char *const type[] = { [1] = "u8", [2] = "u16", [4] = "b32", [8] = "b64" };
    int trips[2] = { 0, 0 };
    int64_t lo, hi;
    buf_clear(&g->text);
    g->seed = seed;
    g->k = 0;
    an_gen_shape(g);
    unsigned loops = (unsigned)an_rand(g, 3), unit = g->bytes * g->vec;
    g->n = (int32_t)an_rand(g, 300);
    buf_puts(&g->text, HEAD ".visible .entry gen(.param .u64 A, .param .u64 B, .param .u32 "
                            "n)\n{\n\t.reg .pred %p<8>;\n\t.reg .b16 %h<8>;\n"
                            "\t.reg .b32 %r<60>;\n\t.reg .b64 %rd<40>;\n"
                            "\tld.param.u64 %rd1, [A];\n\tld.param.u64 %rd2, [B];\n\tld.param.u32 %r19, "
                            "[n];\n\tcvta.to.global.u64 %rd3, %rd1;\n"
                            "\tcvta.to.global.u64 %rd4, %rd2;\n\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r2, "
                            "%tid.y;\n\tmov.u32 %r3, %tid.z;\n\tmov.u32 %r4, %ctaid.x;\n"
                            "\tmov.u32 %r5, %ctaid.y;\n\tmov.u32 %r6, %ctaid.z;\n\tmov.u32 %r7, "
                            "%ntid.x;\n\tmov.u64 %rd20, 0;\n");
    unsigned kind[2] = { 0, 0 };
    for (unsigned l = 0; l < loops; l++) {
        kind[l] = (unsigned)an_rand(g, 5);
        trips[l] = 1 + (int)an_rand(g, 9);
        buf_printf(&g->text, "\tmov.u32 %%r%u, 0;\nL%u:\n", 10 + l, l);
        if (kind[l] == 1) /* tested at the top, a bound that differs between threads */
            buf_printf(
                &g->text,
                "\tand.b32 %%r%u, %%r1, 7;\n\tsetp.ge.s32 %%p%u, %%r%u, %%r%u;\n\t@%%p%u bra E%u;\n",
                40 + l, 4 + l, 10 + l, 40 + l, 4 + l, l);
        if (kind[l] == 2) /* triangular over the grid */
            buf_printf(&g->text, "\tsetp.gt.s32 %%p%u, %%r%u, %%r4;\n\t@%%p%u bra E%u;\n", 4 + l, 10 + l,
                       4 + l, l);
        if (kind[l] == 1 || kind[l] == 2)
            trips[l] = kind[l] == 1 ? 7 : (int)g->grid.x;
    }
    an_gen_index(g, &lo, &hi, loops, trips);
    bool wide = an_rand(g, 2);
    int64_t off = -lo;
    unsigned skew = g->vec == 1 && g->bytes < 8 ? (unsigned)an_rand(g, 9) * g->bytes : 0;
    buf_printf(&g->text, "\tadd.s32 %%r30, %%r30, %lld;\n", (long long)off);
    if (wide)
        buf_printf(&g->text, "\tmul.wide.s32 %%rd10, %%r30, %u;\n", unit);
    else
        buf_printf(&g->text, "\tcvt.s64.s32 %%rd11, %%r30;\n\tshl.b64 %%rd10, %%rd11, %u;\n",
                   (unsigned)__builtin_ctz(unit));
    buf_puts(&g->text, "\tadd.s64 %rd12, %rd3, %rd10;\n\tadd.s64 %rd13, %rd4, %rd10;\n");
    const char *guard = an_gen_guard(g);
    const char *v = g->vec == 4 ? ".v4" : g->vec == 2 ? ".v2" : "", *t = type[g->bytes];
    const char *regs = g->bytes <= 2   ? "%h1"
                       : g->bytes == 8 ? (g->vec == 2 ? "{%rd21,%rd22}" : "%rd21")
                       : g->vec == 4   ? "{%r50,%r51,%r52,%r53}"
                       : g->vec == 2   ? "{%r50,%r51}"
                                       : "%r50";
    buf_printf(&g->text, "\t%sld.global%s.%s %s, [%%rd12+%u];\n", guard, v, t, regs, skew);
    buf_printf(&g->text, "\t%sst.global%s.%s [%%rd13+%u], %s;\n", guard, v, t, skew, regs);
    for (unsigned l = loops; l-- > 0;) {
        buf_printf(&g->text, "\tadd.s32 %%r%u, %%r%u, 1;\n", 10 + l, 10 + l);
        if (kind[l] == 1 || kind[l] == 2)
            buf_printf(&g->text, "\tbra L%u;\nE%u:\n", l, l);
        else if (kind[l] == 3)
            buf_printf(&g->text, "\tsetp.ne.s32 %%p%u, %%r%u, %d;\n\t@%%p%u bra L%u;\n", 4 + l, 10 + l,
                       trips[l] + 1, 4 + l, l);
        else
            buf_printf(&g->text, "\tsetp.le.s32 %%p%u, %%r%u, %d;\n\t@%%p%u bra L%u;\n", 4 + l, 10 + l,
                       trips[l], 4 + l, l);
    }
    buf_puts(&g->text, "\tret;\n}\n");
    g->count = (uint64_t)(hi - lo + 2) * unit + 128;
}
static inline void an_gen_launch(struct an_gen *g, struct an_launch *a)
{
    an_launch_init(a, g->grid, g->block);
    an_buffer(a, "A", ELEM_U8, g->count);
    an_buffer(a, "B", ELEM_U8, g->count);
    an_int(a, "n", g->n);
    an_data(a);
}

#endif
