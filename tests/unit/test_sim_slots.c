/* Registers that share a slot of a frame (decode_slot.c) are never live at once: liveness is found again
 * here, instruction by instruction and without blocks, over every kernel of kernels/ and
 * tests/heldout/suites and over programs made for it. */
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/ptx.h"
#include "engine/sim/decoded.h"
#include "engine/sim/sim_int.h"
#include "tests/unit/sim_support.h"

#include <dirent.h>

struct bytes {
    uint32_t from, to;
};
struct look {
    const struct exec_func *f;
    /* [ninsts + 1][words]: what is live before an instruction; the last: after the end */
    uint64_t *live;
    uint64_t *now, *written, *read; /* [words] */
    uint32_t words, shared, pairs;
    bool guarded;
};
#define HAS(v, r) ((v)[(r) / 64] >> ((r) % 64) & 1)
#define PUT(v, r) ((v)[(r) / 64] |= 1ull << ((r) % 64))

static struct bytes bytes_of(const struct exec_func *f, uint32_t reg)
{
    const struct ptx_reg *r = &f->ptx->regs[reg];
    uint32_t bits = ptx_type_bits((enum ptx_type)r->type), each = r->type == PTX_T_PRED ? 4
                                                                  : bits <= 32          ? 128
                                                                                        : bits / 8 * 32;
    uint32_t at = f->reg_slot[reg] & ~3u;
    return (struct bytes){ at, at + each * (r->vec > 1 ? r->vec : 1) };
}

static void note_inst(struct look *l, const struct ptx_inst *i)
{
    memset(l->written, 0, l->words * 8);
    memset(l->read, 0, l->words * 8);
    for (struct ptx_regs r = ptx_regs_of(i, PTX_WRITE); ptx_next_reg(&r);)
        PUT(l->written, r.reg);
    for (struct ptx_regs r = ptx_regs_of(i, PTX_READ); ptx_next_reg(&r);)
        PUT(l->read, r.reg);
}

/* What is live after instruction i. */
static void after(struct look *l, const struct ptx_cfg *c, uint32_t i)
{
    const struct ptx_block *b = &c->blocks[c->block_of[i]];
    memset(l->now, 0, l->words * 8);
    if (i + 1 < b->first + b->n) {
        memcpy(l->now, l->live + (size_t)(i + 1) * l->words, l->words * 8);
        return;
    }
    for (uint32_t s = 0; s < b->nsucc; s++)
        for (uint32_t w = 0; w < l->words; w++)
            l->now[w] |= l->live[(size_t)c->blocks[b->succ[s]].first * l->words + w];
}

static bool flow(struct look *l, const struct ptx_cfg *c, uint32_t i)
{
    const struct ptx_inst *in = &l->f->ptx->insts[i];
    bool more = false;
    after(l, c, i);
    note_inst(l, in);
    for (uint32_t w = 0; w < l->words; w++) {
        uint64_t was = l->live[(size_t)i * l->words + w],
                 now = (in->guarded ? l->now[w] : l->now[w] & ~l->written[w]) | l->read[w];
        more |= was != now;
        l->live[(size_t)i * l->words + w] = now;
    }
    return more;
}

static void apart(struct look *l, uint32_t a, uint32_t b, const char *where)
{
    const struct bytes x = bytes_of(l->f, a), y = bytes_of(l->f, b);
    /* parameters: test_parameters */
    if ((l->f->reg_slot[a] & 3u) != BANK_FRAME || (l->f->reg_slot[b] & 3u) != BANK_FRAME)
        return;
    l->pairs++;
    if (x.from < y.to && y.from < x.to)
        fail_msg("%s: %.*s and %.*s lie in one place", where, (int)l->f->ptx->regs[a].name.n,
                 l->f->ptx->regs[a].name.s, (int)l->f->ptx->regs[b].name.n, l->f->ptx->regs[b].name.s);
    assert_true(x.to <= l->f->frame_bytes);
    assert_true(y.to <= l->f->frame_bytes);
}

/* What instruction i writes against all that is read by it, live after it or written with it. */
static void check_inst(struct look *l, const struct ptx_cfg *c, uint32_t i)
{
    char where[64];
    after(l, c, i);
    note_inst(l, &l->f->ptx->insts[i]);
    snprintf(where, sizeof where, "instruction %u", i);
    for (uint32_t a = 0; a < l->f->nregs; a++)
        for (uint32_t b = 0; HAS(l->written, a) && b < l->f->nregs; b++)
            if (b != a && (HAS(l->now, b) || HAS(l->read, b) || HAS(l->written, b)))
                apart(l, a, b, where);
}

static void count_shared(struct look *l)
{
    for (uint32_t a = 0; a < l->f->nregs; a++)
        for (uint32_t b = 0; l->f->reg_slot[a] != EXEC_NO_ID && b < a; b++)
            l->shared += l->f->reg_slot[a] == l->f->reg_slot[b];
}

static uint32_t check_function(const struct exec_func *f)
{
    struct look l = { .f = f, .words = f->nregs / 64 + 1 };
    struct ptx_cfg *c = ptx_cfg_build(f->ptx);
    const uint32_t n = f->ptx->ninsts;
    assert_non_null(c);
    l.live = calloc((size_t)(n + 4) * l.words, 8);
    l.now = l.live + (size_t)(n + 1) * l.words;
    l.written = l.now + l.words;
    l.read = l.written + l.words;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = n; i--;)
            if (c->block_of[i] != PTX_NO_INDEX && c->blocks[c->block_of[i]].reachable)
                more |= flow(&l, c, i);
    }
    for (uint32_t i = 0; i < n; i++)
        if (c->block_of[i] != PTX_NO_INDEX && c->blocks[c->block_of[i]].reachable)
            check_inst(&l, c, i);
    for (uint32_t a = 0; n && a < f->nregs; a++)
        for (uint32_t b = 0; HAS(l.live, a) && b < a; b++)
            if (HAS(l.live, b))
                apart(&l, a, b, "the entry");
    count_shared(&l);
    free(l.live);
    ptx_cfg_free(c);
    return l.shared;
}

static uint32_t check_module(const char *text, const char *kernel)
{
    struct sim_case c;
    uint32_t shared = 0;
    sim_case_open(&c, text, kernel, 4096);
    for (uint32_t f = 0; c.st == ST_OK && f < c.p->nfuncs; f++)
        shared += check_function(&c.p->funcs[f]);
    sim_case_close(&c);
    return shared;
}

/* Every kernel of a file; how many could be loaded. */
static uint32_t check_file(const char *path, uint32_t *shared)
{
    char *text = NULL;
    size_t size = 0;
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    uint32_t n = 0;
    assert_int_equal(file_read(path, 1u << 28, &text, &size, &ds), ST_OK);
    assert_int_equal(ptx_parse(path, str_of(text), &m, &ds), ST_OK);
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        if (!m->funcs[i]->entry || !m->funcs[i]->has_body)
            continue;
        char name[256];
        snprintf(name, sizeof name, "%.*s", (int)m->funcs[i]->name.n, m->funcs[i]->name.s);
        *shared += check_module(text, name);
        n++;
    }
    ptx_free(m);
    base_free(text);
    diags_free(&ds);
    return n;
}

static void test_kernels(void **state)
{
    (void)state;
    static const char *const folders[] = { "kernels", "tests/heldout/suites" };
    uint32_t n = 0, shared = 0;
    for (size_t k = 0; k < 2; k++) {
        DIR *d = opendir(folders[k]);
        assert_non_null(d);
        for (struct dirent *e; (e = readdir(d));) {
            char path[512];
            size_t len = strlen(e->d_name);
            if (len < 5 || strcmp(e->d_name + len - 4, ".ptx") != 0)
                continue;
            snprintf(path, sizeof path, "%s/%s", folders[k], e->d_name);
            n += check_file(path, &shared);
        }
        closedir(d);
    }
    assert_true(n > 150);
    assert_true(shared > 10000); /* it does share */
}

#define BODY(text)                                                                                \
    SIM_HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .pred " \
             "%p<9>; .reg .v4 .b32 %v<3>; .reg .b128 %q<2>;\n" text "ret;\n}\n"
static void test_made(void **state)
{
    (void)state;
    static const char *const text[] = {
        BODY("ld.param.u64 %d1, [p];\nmov.u32 %r1, 1;\nmov.u32 %r2, 2;\nadd.u32 %r3, %r1, %r2;\nadd.u32 "
             "%r4, %r3, %r1;\nst.global.u32 [%d1], %r4;\n"),
        /* a guarded result leaves what was there */
        BODY("ld.param.u64 %d1, [p];\nmov.u32 %r1, %tid.x;\nsetp.eq.u32 %p1, %r1, 0;\nmov.u32 %r2, "
             "5;\n@%p1 mov.u32 %r2, 6;\nmov.u32 %r3, 7;\nst.global.v2.u32 [%d1], {%r2, %r3};\n"),
        /* round a loop */
        BODY("ld.param.u64 %d1, [p];\nmov.u32 %r1, 0;\nL: add.u32 %r2, %r1, 3;\nadd.u32 %r1, %r2, "
             "%r4;\nmov.u32 %r4, %r2;\nsetp.lt.u32 %p1, %r1, 99;\n@%p1 bra L;\nst.global.u32 [%d1], "
             "%r4;\n"),
        /* vectors, and values of 64 bits, whose parts must not meet a neighbour's */
        BODY("ld.param.u64 %d1, [p];\nld.global.v4.u32 %v1, [%d1];\nmov.b64 %d2, {%r1, %r2};\nadd.u64 "
             "%d3, %d2, %d1;\nld.global.v4.u32 %v2, [%d1+16];\nst.global.v4.u32 [%d1], "
             "%v1;\nst.global.v4.u32 [%d1+16], %v2;\n"
             "st.global.u64 [%d1+32], %d3;\n"),
    };
    for (size_t i = 0; i < ARRAY_LEN(text); i++)
        check_module(text[i], "k");
    assert_true(check_module(text[0], "k") > 0);
}

/* What only the second way of a branch reads leaves its place to the first: three words of 32 lanes for
 * five values. */
static void test_other_way(void **state)
{
    (void)state;
    struct sim_case c = sim_text_ok(
        BODY(
            "ld.param.u64 %d1, [p];\nmov.u32 %r1, %laneid;\nsetp.lt.u32 %p1, %r1, 9;\nshl.b32 %r5, %r1, "
            "2;\nadd.u32 %r6, %r1, 100;\ncvt.u64.u32 %d2, %r5;\nadd.u64 %d1, %d1, %d2;\n@%p1 bra E;\n"
            "ld.global.u32 %r2, [%d1+4096];\nld.global.u32 %r3, [%d1+8192];\nld.global.u32 %r4, "
            "[%d1+12288];\nadd.u32 %r2, %r2, %r3;\nadd.u32 %r2, %r2, %r4;\nadd.u32 %r2, %r2, "
            "3;\nst.global.u32 [%d1], %r2;\nbra F;\n"
            "E: add.u32 %r7, %r5, %r6;\nst.global.u32 [%d1], %r7;\nF:\n"),
        1, 32);
    assert_int_equal(c.p->funcs[0].frame_bytes, 128 + 3 * 128 + 2 * 256);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(((uint32_t *)(void *)c.data)[i], i < 9 ? 5 * i + 100 : 3);
    sim_case_close(&c);
}

/* A vector that is written part by part keeps its place between them, also round a loop. */
static void test_vector_parts(void **state)
{
    (void)state;
    struct sim_case c =
        sim_text_ok(BODY("ld.param.u64 %d1, [p];\nmov.u32 %v1.x, 11;\nld.global.v4.u32 %v2, "
                         "[%d1+64];\nst.global.v4.u32 [%d1+128], %v2;\nmov.u32 %v1.y, 12;\nmov.u32 "
                         "%v1.z, 13;\nmov.u32 %v1.w, 14;\nst.global.v4.u32 [%d1], %v1;\n"),
                    1, 32);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(((uint32_t *)(void *)c.data)[i], 11 + i);
    sim_case_close(&c);
    c = sim_text_ok(BODY("ld.param.u64 %d1, [p];\nmov.u32 %v1.x, 11;\nmov.u32 %v1.z, 13;\nmov.u32 "
                         "%v1.w, 14;\nmov.u32 %r1, 0;\nL: mov.u32 %v1.y, %r1;\nst.global.v4.u32 [%d1], "
                         "%v1;\nld.global.v4.u32 %v2, [%d1+64];\n"
                         "st.global.v4.u32 [%d1+128], %v2;\nadd.u32 %r1, %r1, 6;\nsetp.le.u32 %p1, %r1, "
                         "12;\n@%p1 bra L;\n"),
                    1, 32);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(((uint32_t *)(void *)c.data)[i], 11 + i);
    sim_case_close(&c);
}

/* Registers that are parameters, or copies of such, have their values from the launch; whatever else is
 * in them at times has not. */
static void test_parameters(void **state)
{
    (void)state;
    struct sim_case c;
    sim_case_open(
        &c,
        SIM_HEAD
        ".visible .entry k(.param .u64 p, .param .u32 n, .param .align 8 .b8 s[24], .param .f32 x, "
        ".param .s16 h)\n{\n"
        ".reg .b32 %r<20>; .reg .b64 %d<9>; .reg .pred %p<4>; .reg .f32 %f<4>; .reg .b16 %h<2>;\n"
        "ld.param.u64 %d1, [p];\ncvta.to.global.u64 %d2, %d1;\nmov.u64 %d3, %d2;\nmov.u32 %r0, "
        "%laneid;\nsetp.lt.u32 %p1, %r0, 8;\nmul.wide.u32 %d4, %r0, 64;\nadd.u64 %d5, %d3, %d4;\n"
        "ld.param.u32 %r1, [n];\nld.param.u32 %r2, [s+4];\nld.param.u64 %d6, [s+16];\nld.param.f32 %f1, "
        "[x];\nld.param.s16 %r3, [h];\n"
        "mov.u32 %r4, 5;\n@%p1 ld.param.u32 %r4, [n];\n" /* only some lanes have it */
        "ld.param.u32 %r5, [n];\nadd.u32 %r5, %r5, 1;\n" /* it is changed */
        "@%p1 bra A;\nld.param.u32 %r6, [n];\nbra B;\nA: mov.u32 %r6, 77;\nB:\n" /* it is one of two */
        "mov.b32 %r7, %f1;\nmov.u32 %r8, %r1;\nmov.u32 %r9, %r4;\n"
        "st.global.u32 [%d5], %r8;\nst.global.u32 [%d5+4], %r2;\nst.global.u64 [%d5+8], "
        "%d6;\nst.global.u32 [%d5+16], %r7;\nst.global.u32 [%d5+20], %r3;\nst.global.u32 [%d5+24], "
        "%r9;\n"
        "st.global.u32 [%d5+28], %r5;\nst.global.u32 [%d5+32], %r6;\nret;\n}\n",
        "k", 65536);
    assert_status_ok(c.st, &c.ds);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c.p->funcs[0].nregs; i++)
        kept += (c.p->funcs[0].reg_slot[i] & 3u) == BANK_SREG;
    assert_int_equal(kept, 9); /* d1 d2 d3 d6, r1 r2 r8, f1 and its bits */
    for (uint32_t n = 3; n < 5; n++) {
        uint32_t at4 = 40 + n;
        uint64_t at16 = 0x123456789ull * n;
        float x = (float)n / 3;
        int16_t h = (int16_t) - (int32_t)n;
        memcpy(c.params + 8, &n, 4);
        memcpy(c.params + 20, &at4, 4);
        memcpy(c.params + 32, &at16, 8);
        memcpy(c.params + 40, &x, 4);
        memcpy(c.params + 44, &h, 2);
        sim_case_ok(&c);
        for (uint32_t i = 0; i < 32; i++) {
            uint32_t v[16], bits;
            memcpy(v, c.data + 64 * i, sizeof v);
            memcpy(&bits, &x, 4);
            assert_int_equal(v[0], n);
            assert_int_equal(v[1], at4);
            assert_memory_equal(&v[2], &at16, 8);
            assert_int_equal(v[4], bits);
            assert_int_equal((int32_t)v[5], h);
            assert_int_equal(v[6], i < 8 ? n : 5);
            assert_int_equal(v[7], n + 1);
            assert_int_equal(v[8], i < 8 ? 77 : n);
        }
    }
    sim_case_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_made), cmocka_unit_test(test_other_way),
                                        cmocka_unit_test(test_parameters),
                                        cmocka_unit_test(test_vector_parts),
                                        cmocka_unit_test(test_kernels) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
