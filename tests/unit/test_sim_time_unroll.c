/* Loops whose turns are scheduled together: those that ptxas unrolls, as it was recorded
 * (tests/golden/unrolled.txt, by tests/tool/unrolled.py); and that the copies pass their registers on as
 * turns one after the other would. */
#include "tests/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ptx/ptx_table.h"
#include "engine/sim/decoded.h"
#include "engine/sim/timing/plan.h"
#include "tests/unit/sim_job.h"

#define NOBODY UINT32_MAX

/* The scoreboard slot of register k of an instruction, as it is outside of copies. */
static uint32_t plain_slot(const struct timing_plan *t, uint32_t pc, uint32_t k)
{
    const struct exec_inst *in = &t->p->code[pc];
    uint32_t at = in->func->ready_slot[in->regs[k]];
    return at == EXEC_NO_ID ? TIMING_ZERO : t->op[pc].base + at;
}

/* Who wrote the register that place reads, in turns one after the other; NOBODY: none of them. */
static uint32_t writer_of(const struct timing_plan *t, const struct timing_region *r, uint32_t place,
                          uint32_t slot)
{
    for (uint32_t q = place; q-- > 0;) {
        uint32_t pc = r->first + q % r->n;
        for (uint32_t k = 0; k < t->p->code[pc].ndst; k++)
            if (plain_slot(t, pc, k) == slot)
                return q;
    }
    return NOBODY;
}

/* In issue order each read meets the result that it is meant for. A later instruction of the same copy
 * may have written the register first: loads go ahead of readers of what they replace. */
static void check_reads(const struct timing_plan *t, const struct timing_region *r, uint32_t *last)
{
    for (uint32_t i = 0; i < t->nslots; i++)
        last[i] = NOBODY;
    for (uint32_t i = 0; i < r->n * r->copies; i++) {
        const struct timing_slot *s = &t->slot[r->order + i];
        bool has = t->op[s->pc].same != 0; /* what another has loaded: it reads that one's result */
        for (uint32_t k = s->ndst; !has && k < (uint32_t)s->ndst + s->nsrc; k++) {
            uint32_t name = t->regs[s->regs + k], slot = plain_slot(t, s->pc, k);
            uint32_t want = writer_of(t, r, s->at, slot), got = last[name];
            if (want == NOBODY)
                assert_int_equal(name, slot);
            else if (got != want)
                assert_true(got != NOBODY && got > s->at && got / r->n == want / r->n);
        }
        for (uint32_t k = 0; k < s->ndst; k++)
            last[t->regs[s->regs + k]] = s->at;
    }
}

/* What copies leave names the results of their places. */
static void check_left(const struct timing_plan *t, const struct timing_region *r)
{
    const struct timing_left *l = &t->left[r->left];
    for (uint32_t at = 0; at < r->n * r->copies; at++) {
        uint32_t i = 0;
        while (t->slot[r->order + i].at != at)
            i++;
        const struct timing_slot *s = &t->slot[r->order + i];
        for (uint32_t k = 0; k < s->ndst; k++, l++) {
            assert_int_equal(l->at, at);
            assert_int_equal(l->own, t->regs[s->regs + k]);
            assert_int_equal(l->reg, plain_slot(t, s->pc, k));
        }
    }
    assert_int_equal(l - &t->left[r->left], r->nleft * r->copies);
}

/* Stores and what they may meet keep the order of the turns; each place issues once. */
static void check_order(const struct timing_plan *t, const struct timing_region *r)
{
    bool seen[TIMING_TOGETHER] = { 0 };
    for (uint32_t i = 0; i < r->n * r->copies; i++) {
        const struct timing_slot *s = &t->slot[r->order + i];
        assert_true(s->at < r->n * r->copies);
        assert_false(seen[s->at]);
        seen[s->at] = true;
        assert_int_equal(s->pc, r->first + s->at % r->n);
        const struct exec_inst *in = &t->p->code[s->pc];
        bool store = ptx_op_info(in->ptx->op)->effect == EFFECT_STORE;
        for (uint32_t q = s->at + 1; store && q < r->n * r->copies; q++) {
            const struct exec_inst *late = &t->p->code[r->first + q % r->n];
            if (late->kind == EXEC_MEM && late->space == in->space)
                assert_false(seen[q]);
        }
    }
}

/* True: a loop of the kernel is scheduled several turns together. */
static bool check_kernel(struct ptx_module *m, struct str name, const struct sim_preset *g)
{
    struct sim_program *p;
    struct timing_plan t;
    struct diags ds = { 0 };
    bool any = false;
    struct sim_mem *mem = sim_mem_new(1u << 30);
    assert_status_ok(sim_load(m, name, g, mem, &p, &ds), &ds);
    assert_int_equal(timing_plan_make(&t, p, g), ST_OK);
    uint32_t *last = base_alloc((t.nslots + 1) * sizeof *last);
    assert_non_null(last);
    for (uint32_t i = 0; i < t.nregions; i++) {
        const struct timing_region *r = &t.region[i];
        assert_true(r->copies >= 1);
        assert_true(r->n * r->copies <= TIMING_TOGETHER);
        if (r->copies < 2)
            continue;
        any = true;
        check_order(&t, r);
        check_reads(&t, r, last);
        check_left(&t, r);
    }
    base_free(last);
    timing_plan_free(&t);
    sim_unload(p);
    sim_mem_free(mem);
    diags_free(&ds);
    return any;
}

/* ptxas unrolls loops of several blocks, too, and those with a barrier: not modelled. */
static bool has_other_loops(const char *kernel)
{
    return strcmp(kernel, "mm_tile16") == 0 || strcmp(kernel, "btree_build") == 0;
}

static void test_as_ptxas(void **state)
{
    (void)state;
    FILE *f = fopen("tests/golden/unrolled.txt", "r");
    assert_non_null(f);
    char line[512], path[200], kernel[200], what[20], open[200] = "";
    struct ptx_module *m = NULL;
    struct sim_preset g;
    struct diags ds = { 0 };
    unsigned unrolled = 0, kept = 0;
    assert_status_ok(preset_read(NULL, "hopper-h200", &g, &ds), &ds);
    while (fgets(line, sizeof line, f)) {
        if (*line == '#')
            continue;
        assert_int_equal(sscanf(line, "%199s %199s %19s", path, kernel, what), 3);
        if (strcmp(path, open) != 0) {
            ptx_free(m);
            assert_status_ok(ptx_parse_file(path, &m, &ds), &ds);
            snprintf(open, sizeof open, "%s", path);
        }
        bool is = check_kernel(m, str_of(kernel), &g), want = strcmp(what, "unrolled") == 0;
        if (is != want && !has_other_loops(kernel))
            fail_msg("%s, %s: ptxas: %s", path, kernel, what);
        unrolled += is;
        kept += !is;
    }
    ptx_free(m);
    fclose(f);
    diags_free(&ds);
    assert_true(unrolled >= 40);
    assert_true(kept >= 100);
}

/* A device of before: as it is written. */
static void test_not_for_old_devices(void **state)
{
    (void)state;
    struct ptx_module *m;
    struct sim_preset g;
    struct diags ds = { 0 };
    assert_status_ok(preset_read(NULL, "kepler-k40", &g, &ds), &ds);
    assert_status_ok(ptx_parse_file("kernels/atax.ptx", &m, &ds), &ds);
    assert_false(check_kernel(m, STR("atax1"), &g));
    ptx_free(m);
    diags_free(&ds);
}

static const char pragmas[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    "%s.visible .entry k(.param .u64 a, .param .u32 n)%s\n{\n.reg .pred %%p;\n.reg .b32 %%r<4>;\n"
    "ld.param.u32 %%r1, [n];\nmov.u32 %%r2, 0;\nmov.u32 %%r3, 1;\nL:%s\nadd.s32 %%r2, %%r2, 1;\n"
    "mul.lo.s32 %%r3, %%r3, %%r1;\nsetp.lt.s32 %%p, %%r2, %%r1;\n@%%p bra L;\nret;\n}\n";

/* The pragma of a loop, a function and a file. */
static void test_nounroll(void **state)
{
    (void)state;
    static const char *const at[][3] = { { "", "", "" },
                                         { "", "", "\n.pragma \"nounroll\";" },
                                         { "", "\n.pragma \"nounroll\";", "" },
                                         { ".pragma \"nounroll\";\n", "", "" },
                                         { "", "", "\n.pragma \"other\", \"nounroll\";" },
                                         { "", "", "\n.pragma \"other\";" } };
    static const bool together[] = { true, false, false, false, false, true };
    struct sim_preset g;
    struct diags ds = { 0 };
    assert_status_ok(preset_read(NULL, "hopper-h200", &g, &ds), &ds);
    for (size_t i = 0; i < ARRAY_LEN(at); i++) {
        char text[1000];
        struct ptx_module *m;
        snprintf(text, sizeof text, pragmas, at[i][0], at[i][1], at[i][2]);
        assert_status_ok(ptx_parse("loop.ptx", str_of(text), &m, &ds), &ds);
        assert_int_equal(check_kernel(m, STR("k"), &g), together[i]);
        ptx_free(m);
    }
    diags_free(&ds);
}

/* The module's text with what `ctas` CTAs of 256 threads leave every kernel. */
static struct ptx_module *promised(const char *path, unsigned ctas, struct diags *ds)
{
    struct ptx_module *m, *out = NULL;
    struct buf text = { 0 };
    assert_status_ok(ptx_parse_file(path, &m, ds), ds);
    uint32_t from = 0;
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        const struct ptx_func *f = m->funcs[i];
        if (!f->entry || !f->has_body)
            continue;
        buf_put(&text, m->text.s + from, f->body.off - from);
        buf_printf(&text, "\n.maxntid 256\n.minnctapersm %u\n", ctas);
        from = f->body.off;
    }
    buf_put(&text, m->text.s + from, m->text.n - from);
    assert_status_ok(ptx_parse(path, (struct str){ text.s, text.n }, &out, ds), ds);
    buf_free(&text);
    ptx_free(m);
    return out;
}

static uint32_t regs_of(const struct ptx_module *m, const char *kernel, const struct sim_preset *g)
{
    struct sim_program *p;
    struct diags ds = { 0 };
    struct sim_mem *mem = sim_mem_new(1u << 30);
    assert_status_ok(sim_load(m, str_of(kernel), g, mem, &p, &ds), &ds);
    uint32_t regs = sim_program_resources(p).regs;
    sim_unload(p);
    sim_mem_free(mem);
    diags_free(&ds);
    return regs;
}

/* Registers where a kernel allows more than a full SM leaves: as ptxas takes them, within 8 for most.
 * Kernels that take no more there take no more here, but for a few. */
static void test_registers_as_ptxas(void **state)
{
    (void)state;
    static const unsigned ctas[] = { 6, 4, 1 };
    FILE *f = fopen("tests/golden/registers.txt", "r");
    assert_non_null(f);
    char line[512], path[200], kernel[200], open[200] = "";
    struct ptx_module *m[4] = { NULL };
    struct sim_preset g;
    struct diags ds = { 0 };
    unsigned own, want[3], grown = 0, near = 0, kept = 0, same = 0;
    assert_status_ok(preset_read(NULL, "hopper-h200", &g, &ds), &ds);
    while (fgets(line, sizeof line, f)) {
        if (*line == '#')
            continue;
        assert_int_equal(
            sscanf(line, "%199s %199s %u %u %u %u", path, kernel, &own, &want[0], &want[1], &want[2]),
            6);
        for (unsigned k = 0; strcmp(path, open) != 0 && k < 3; k++) {
            ptx_free(m[k]);
            m[k] = promised(path, ctas[k], &ds);
        }
        snprintf(open, sizeof open, "%s", path);
        for (unsigned k = 0; k < 3; k++) {
            uint32_t have = regs_of(m[k], kernel, &g);
            unsigned there = (want[k] + 7) / 8 * 8;
            assert_true(have <= (65536 / 256 / ctas[k]) / 8 * 8);
            grown += want[k] > 32;
            near += want[k] > 32 && have + 8 >= there && have <= there + 8;
            kept += want[k] <= 32;
            same += want[k] <= 32 && have <= 32;
            if (getenv("SHOW_REGISTERS"))
                print_message("%s %u: ptxas %u, here %u\n", kernel, ctas[k], want[k], have);
        }
    }
    for (unsigned k = 0; k < 3; k++)
        ptx_free(m[k]);
    fclose(f);
    diags_free(&ds);
    print_message("%u of %u that grow are near, %u of %u that do not stay\n", near, grown, same, kept);
    assert_true(grown >= 40);
    assert_true(near * 10 >= grown * 6);
    assert_true(same * 100 >= kept * 85);
}

/* Loops of many sums, where nothing says how many CTAs an SM should hold: as many registers as leave the
 * SM as many warps, at most a step of 8 beside ptxas, and one step of warps. */
static void test_registers_of_sums(void **state)
{
    (void)state;
    FILE *f = fopen("tests/golden/sums.txt", "r");
    assert_non_null(f);
    char line[512], kernel[200];
    struct sim_preset g;
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    unsigned want, rows = 0, same = 0;
    assert_status_ok(preset_read(NULL, "hopper-h200", &g, &ds), &ds);
    assert_status_ok(ptx_parse_file("tests/golden/sums.ptx", &m, &ds), &ds);
    while (fgets(line, sizeof line, f)) {
        if (*line == '#')
            continue;
        assert_int_equal(sscanf(line, "%199s %u", kernel, &want), 2);
        uint32_t have = regs_of(m, kernel, &g);
        unsigned there = (want + 7) / 8 * 8;
        print_message("%s: ptxas %u, here %u\n", kernel, want, have);
        assert_true(have + 8 >= there && have <= there + 8);
        same += have == there;
        rows++;
    }
    ptx_free(m);
    fclose(f);
    diags_free(&ds);
    assert_int_equal(rows, 12);
    assert_true(same >= 9);
}

/* Loads of a kernel that issue before the first instruction that waits for one. */
static unsigned loads_first(const struct ptx_module *m, const char *kernel, const struct sim_preset *g)
{
    struct sim_program *p;
    struct timing_plan t;
    struct diags ds = { 0 };
    struct sim_mem *mem = sim_mem_new(1u << 30);
    unsigned n = 0;
    assert_status_ok(sim_load(m, str_of(kernel), g, mem, &p, &ds), &ds);
    assert_int_equal(timing_plan_make(&t, p, g), ST_OK);
    uint32_t loaded = EXEC_NO_ID, at = 0;
    for (const struct timing_region *r = t.region; at < r->n * r->copies; at++) {
        const struct exec_inst *in = &p->code[t.slot[r->order + at].pc];
        bool load = in->ptx->op == PTX_OP_LD && in->space == PTX_SPACE_GLOBAL;
        for (uint32_t k = in->ndst; !load && k < (uint32_t)in->ndst + in->nsrc; k++)
            if (in->regs[k] == loaded)
                at = r->n * r->copies;
        loaded = load && !n ? in->regs[0] : loaded;
        n += load;
    }
    timing_plan_free(&t);
    sim_unload(p);
    sim_mem_free(mem);
    diags_free(&ds);
    return n;
}

/* Chains that use what is loaded one link after another: as many loads go ahead as ptxas puts there, at
 * most one more or less for eight. */
static void test_loads_before_chains(void **state)
{
    (void)state;
    FILE *f = fopen("tests/golden/chains.txt", "r");
    assert_non_null(f);
    char line[512], kernel[200];
    struct sim_preset g;
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    unsigned want, rows = 0, near = 0;
    assert_status_ok(preset_read(NULL, "hopper-h200", &g, &ds), &ds);
    assert_status_ok(ptx_parse_file("tests/golden/chains.ptx", &m, &ds), &ds);
    while (fgets(line, sizeof line, f)) {
        if (*line == '#')
            continue;
        assert_int_equal(sscanf(line, "%199s %u", kernel, &want), 2);
        unsigned have = loads_first(m, kernel, &g), off = have > want ? have - want : want - have;
        print_message("%s: ptxas %u, here %u\n", kernel, want, have);
        near += off <= 1 + want / 8;
        rows++;
    }
    ptx_free(m);
    fclose(f);
    diags_free(&ds);
    assert_int_equal(rows, 17);
    assert_true(near >= 15);
}

/* Constants at the ends of their range, and counts that are no whole numbers: no crash, no copies. */
static void test_extreme_counts(void **state)
{
    (void)state;
    static const char *const loops[] = {
        "mov.s64 %d, 0x8000000000000000;\nL: add.s64 %d, %d, -1;\nsetp.ne.s64 %p, %d, 0;",
        "mov.s64 %d, 0;\nL: add.s64 %d, %d, 0x8000000000000000;\nsetp.ne.s64 %p, %d, "
        "0x7fffffffffffffff;",
        "mov.s64 %d, 0x7fffffffffffffff;\nL: sub.s64 %d, %d, 0x8000000000000000;\nsetp.lt.s64 %p, %d, "
        "0x8000000000000000;",
        "mov.f32 %f, 0f00000000;\nL: add.f32 %f, %f, 0f3F800000;\nsetp.lt.f32 %p, %f, 0f42000000;"
    };
    struct sim_preset g;
    struct diags ds = { 0 };
    assert_status_ok(preset_read(NULL, "hopper-h200", &g, &ds), &ds);
    for (size_t i = 0; i < ARRAY_LEN(loops); i++) {
        char text[1000];
        struct ptx_module *m;
        snprintf(
            text, sizeof text,
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\n.reg .pred %%p;\n"
            ".reg .b64 %%d;\n.reg .f32 %%f;\n%s\n@%%p bra L;\nret;\n}\n",
            loops[i]);
        assert_status_ok(ptx_parse("loop.ptx", str_of(text), &m, &ds), &ds);
        bool together = check_kernel(m, STR("k"), &g);
        assert_true(!together || i == 0);
        ptx_free(m);
    }
    diags_free(&ds);
}

/* Sums with a number, on either side of it; not where the type is narrow or the sum stops at its end. */
static void test_counting_sums(void **state)
{
    (void)state;
    static const struct {
        const char *step, *test;
        bool together;
    } loops[] = { { "add.s32 %r2, %r2, 1;", "setp.lt.s32 %p, %r2, %r1;", true },
                  { "add.s32 %r2, 1, %r2;", "setp.lt.s32 %p, %r2, %r1;", true },
                  { "sub.s32 %r2, 1, %r2;", "setp.lt.s32 %p, %r2, %r1;", false },
                  { "add.sat.s32 %r2, %r2, 1;", "setp.lt.s32 %p, %r2, %r1;", false },
                  { "add.s16 %h2, %h2, 1;", "setp.lt.s16 %p, %h2, %h1;", false },
                  { "add.s32 %r2, %r2, 1;", "setp.lt.and.s32 %p, %r2, %r1, %q;", false } };
    struct sim_preset g;
    struct diags ds = { 0 };
    assert_status_ok(preset_read(NULL, "hopper-h200", &g, &ds), &ds);
    for (size_t i = 0; i < ARRAY_LEN(loops); i++) {
        char text[1000];
        struct ptx_module *m;
        snprintf(text, sizeof text,
                 ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n"
                 ".reg .pred %%p, %%q;\n.reg .b32 %%r<4>;\n.reg .b16 %%h<4>;\nld.param.u32 %%r1, [n];\n"
                 "mov.u32 %%r2, 0;\nmov.u32 %%r3, 1;\nmov.u16 %%h2, 0;\ncvt.u16.u32 %%h1, %%r1;\n"
                 "mov.pred %%q, 1;\nL:\n%s\nmul.lo.s32 %%r3, %%r3, %%r1;\n%s\n@%%p bra L;\nret;\n}\n",
                 loops[i].step, loops[i].test);
        assert_status_ok(ptx_parse("loop.ptx", str_of(text), &m, &ds), &ds);
        if (check_kernel(m, STR("k"), &g) != loops[i].together)
            fail_msg("%s %s", loops[i].step, loops[i].test);
        ptx_free(m);
    }
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_ptxas),          cmocka_unit_test(test_not_for_old_devices),
        cmocka_unit_test(test_nounroll),          cmocka_unit_test(test_registers_as_ptxas),
        cmocka_unit_test(test_registers_of_sums), cmocka_unit_test(test_loads_before_chains),
        cmocka_unit_test(test_extreme_counts),    cmocka_unit_test(test_counting_sums)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
