/* The plan of every demo kernel: regions cover the code, orders are permutations that keep every
 * dependency, loads go out before what uses them, and costs are sane. */
#include "tests/support.h"

#include <dirent.h>
#include <string.h>

#include "engine/ptx/facts/facts.h"
#include "engine/ptx/facts/live.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx_table.h"
#include "engine/sim/decoded.h"
#include "engine/sim/timing/warp.h"
#include "tests/unit/sim_job.h"

/* b reads or writes what a writes; or, being a load, writes what a reads (else the assembler may rename
 * the register). */
static bool follows(const struct exec_inst *a, const struct exec_inst *b)
{
    bool load = ptx_op_info(b->ptx->op)->effect == EFFECT_LOAD;
    for (uint32_t i = 0; i < (uint32_t)a->ndst + a->nsrc; i++)
        for (uint32_t k = 0; k < (uint32_t)b->ndst + b->nsrc; k++)
            if (a->regs[i] == b->regs[k] && (i < a->ndst || (load && k < b->ndst)))
                return true;
    return false;
}

static bool is_store(const struct exec_inst *i)
{
    enum ptx_effect e = ptx_op_info(i->ptx->op)->effect;
    return e == EFFECT_STORE || e == EFFECT_ATOMIC;
}
static bool is_load(const struct exec_inst *i)
{
    return ptx_op_info(i->ptx->op)->effect == EFFECT_LOAD;
}

static void check_region(const struct timing_plan *t, const struct timing_region *r)
{
    uint32_t where[TIMING_REGION], n = 0;
    uint8_t order[TIMING_REGION]; /* of the first copy */
    uint64_t seen = 0;
    for (uint32_t i = 0; i < r->n * r->copies; i++)
        if (t->order[r->order + i] < r->n)
            order[n++] = t->order[r->order + i];
    assert_int_equal(n, r->n);
    for (uint32_t i = 0; i < r->n; i++) {
        uint8_t o = order[i];
        assert_true(o < r->n);
        assert_true(!(seen >> o & 1));
        seen |= 1ull << o;
        where[o] = i;
    }
    const struct exec_inst *code = &t->p->code[r->first];
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t k = i + 1; k < r->n; k++) {
            bool memory = (is_store(&code[i]) && (is_load(&code[k]) || is_store(&code[k]))) ||
                          (is_load(&code[i]) && is_store(&code[k]));
            if (follows(&code[i], &code[k]) || (memory && code[i].space == code[k].space))
                assert_true(where[i] < where[k]);
        }
}

static void check_plan(const struct sim_program *p, const struct sim_preset *g)
{
    struct timing_plan t;
    assert_int_equal(timing_plan_make(&t, p, g), ST_OK);
    uint32_t next = 0;
    for (uint32_t i = 0; i < t.nregions; i++) {
        const struct timing_region *r = &t.region[i];
        assert_true(r->n > 0);
        assert_true(r->n <= TIMING_REGION);
        assert_true(r->first >= next);
        next = r->first + r->n;
        check_region(&t, r);
        for (uint32_t k = r->first; k < next; k++) {
            assert_int_equal(t.op[k].region, i);
            assert_true(k == r->first || !(p->code[k].leader & LEADS_BLOCK));
            assert_true(t.op[k].flags & TIMING_FREE || t.op[k].busy > 0);
        }
    }
    assert_int_equal(next, p->ncode);
    timing_plan_free(&t);
}

static void test_every_kernel(void **state)
{
    (void)state;
    DIR *d = opendir("kernels");
    assert_non_null(d);
    struct sim_preset g;
    struct diags ds = { 0 };
    assert_status_ok(preset_read(NULL, "hopper-h200", &g, &ds), &ds);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));) {
        char path[300];
        size_t len = strlen(e->d_name);
        if (len < 5 || strcmp(e->d_name + len - 4, ".ptx") != 0)
            continue;
        snprintf(path, sizeof path, "kernels/%s", e->d_name);
        struct ptx_module *m;
        assert_status_ok(ptx_parse_file(path, &m, &ds), &ds);
        struct sim_mem *mem = sim_mem_new(1u << 30);
        for (uint32_t i = 0; i < m->nfuncs; i++) {
            struct sim_program *p;
            if (!m->funcs[i]->entry)
                continue;
            assert_status_ok(sim_load(m, m->funcs[i]->name, &g, mem, &p, &ds), &ds);
            check_plan(p, &g);
            sim_unload(p);
            n++;
        }
        sim_mem_free(mem);
        ptx_free(m);
    }
    closedir(d);
    diags_free(&ds);
    assert_true(n >= 15);
}

/* valley's inner loop: eight loads, each added at once in the text. All eight must issue before the
 * first addition. */
static void test_loads_go_first(void **state)
{
    (void)state;
    struct job j;
    struct timing_plan t;
    job_open(&j, "valley", "default", "hopper-h200");
    assert_int_equal(timing_plan_make(&t, j.prog, &j.preset), ST_OK);
    bool found = false;
    for (uint32_t i = 0; i < t.nregions; i++) {
        const struct timing_region *r = &t.region[i];
        uint32_t loads = 0, first_add = r->n, last_load = 0;
        for (uint32_t k = 0; k < r->n * r->copies; k++) {
            const struct exec_inst *in = &j.prog->code[r->first + t.order[r->order + k] % r->n];
            if (is_load(in) && in->space == PTX_SPACE_GLOBAL) {
                loads++;
                last_load = k;
            }
            if (in->ptx->op == PTX_OP_ADD && in->ptx->type[0] == PTX_T_F32 && first_add == r->n)
                first_add = k;
        }
        if (loads != 8)
            continue;
        found = true;
        assert_true(last_load < first_add);
    }
    assert_true(found);
    timing_plan_free(&t);
    job_close(&j);
}

/* Loads of one address with something between them (tests/tool/same_loads.py): each kernel's name ends in
 * how many ptxas makes of them. */
static void test_same_loads(void **state)
{
    (void)state;
    struct sim_preset g;
    struct diags ds = { 0 };
    struct ptx_module *m;
    assert_status_ok(preset_read(NULL, "hopper-h200", &g, &ds), &ds);
    assert_status_ok(ptx_parse_file("tests/golden/same_loads.ptx", &m, &ds), &ds);
    struct sim_mem *mem = sim_mem_new(1u << 30);
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        struct sim_program *p;
        struct timing_plan t;
        struct str name = m->funcs[i]->name;
        assert_status_ok(sim_load(m, name, &g, mem, &p, &ds), &ds);
        assert_int_equal(timing_plan_make(&t, p, &g), ST_OK);
        int made = 0;
        for (uint32_t k = 0; k < p->ncode; k++)
            made += is_load(&p->code[k]) && p->code[k].space != PTX_SPACE_PARAM &&
                    !(t.op[k].flags & TIMING_FREE);
        if (made != name.s[name.n - 1] - '0')
            fail_msg("%.*s: %d loads", (int)name.n, name.s, made);
        timing_plan_free(&t);
        sim_unload(p);
    }
    assert_int_equal(m->nfuncs, 64);
    sim_mem_free(mem);
    ptx_free(m);
    diags_free(&ds);
}

/* Loads and stores of shared memory that ptxas joins (tests/tool/joined.py): each kernel's name ends in how many
 * of 4, 8 and 16 bytes it makes, a digit each. */
static void check_joined(const struct sim_program *p, const struct timing_plan *t, struct str name)
{
    bool stores = !strncmp(name.s, "store_", 6);
    char made[] = "000";
    for (uint32_t k = 0; k < p->ncode; k++) {
        const struct exec_inst *in = &p->code[k];
        if (in->space != PTX_SPACE_SHARED || (stores ? !is_store(in) : !is_load(in)) ||
            t->op[k].flags & TIMING_FREE)
            continue;
        unsigned bytes = ptx_type_bits((enum ptx_type)in->ptx->type[0]) / 8 * in->ptx->vec;
        bytes = t->op[k].wide ? t->op[k].wide : bytes;
        made[bytes / 8]++;
    }
    if (memcmp(made, name.s + name.n - 3, 3) != 0)
        fail_msg("%.*s: %s", (int)name.n, name.s, made);
}

static void test_joined(void **state)
{
    (void)state;
    struct sim_preset g;
    struct diags ds = { 0 };
    struct ptx_module *m;
    assert_status_ok(preset_read(NULL, "hopper-h200", &g, &ds), &ds);
    assert_status_ok(ptx_parse_file("tests/golden/joined.ptx", &m, &ds), &ds);
    struct sim_mem *mem = sim_mem_new(1u << 30);
    for (uint32_t i = 0; i < m->nfuncs; i++) {
        struct sim_program *p;
        struct timing_plan t;
        assert_status_ok(sim_load(m, m->funcs[i]->name, &g, mem, &p, &ds), &ds);
        assert_int_equal(timing_plan_make(&t, p, &g), ST_OK);
        check_joined(p, &t, m->funcs[i]->name);
        timing_plan_free(&t);
        sim_unload(p);
    }
    assert_int_equal(m->nfuncs, 94);
    sim_mem_free(mem);
    ptx_free(m);
    diags_free(&ds);
}

#define PAIR(to, at) \
    "@%p1 ld.global.cg.f32 " to ", [%rd1+" at "];\n@!%p1 ld.global.f32 " to ", [%rd1+" at "];\n"
static const char halves[] =
    ".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry halves(.param .u64 p)\n{\n"
    ".reg .pred %p<2>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<2>;\n.reg .b32 %r<2>;\n"
    "ld.param.u64 %rd1, [p];\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 32;\n" PAIR("%f1", "0")
        PAIR("%f2", "4") "add.f32 %f3, %f1, %f2;\nst.global.f32 [%rd1], %f3;\nret;\n}\n";

/* Of two loads of one register under opposite guards neither waits for the other (tests/tool/half_loads.py),
 * so both pairs are under way before the sum. */
static void test_halves_do_not_wait(void **state)
{
    (void)state;
    struct sim_preset g;
    struct diags ds = { 0 };
    struct ptx_module *m;
    struct sim_program *p;
    struct timing_plan t;
    struct sim_mem *mem = sim_mem_new(1u << 20);
    assert_status_ok(preset_read(NULL, "fermi-16k", &g, &ds), &ds);
    assert_status_ok(ptx_parse("halves", str_of(halves), &m, &ds), &ds);
    assert_status_ok(sim_load(m, str_of("halves"), &g, mem, &p, &ds), &ds);
    assert_int_equal(timing_plan_make(&t, p, &g), ST_OK);
    uint32_t n = 0, loads = 0;
    for (uint32_t i = 0; i < t.nregions; i++)
        for (uint32_t k = 0; k < t.region[i].n; k++) {
            const struct timing_slot *o = &t.slot[t.region[i].order + k];
            const struct exec_inst *in = &p->code[o->pc];
            loads += is_load(in) && in->space == PTX_SPACE_GLOBAL;
            if (in->ptx->op == PTX_OP_ADD)
                assert_int_equal(loads, 4);
            if (!(o->flags & TIMING_HALF))
                continue;
            assert_true(in->ptx->guard_neg);
            assert_int_equal(o->near[0], TIMING_ZERO); /* reads nothing of its result */
            assert_int_not_equal(o->dst, TIMING_SINK);
            n++;
        }
    assert_int_equal(n, 2);
    const struct ptx_live *l = ptx_live_of(m->funcs[0]); /* a pair leaves nothing of what was there */
    for (uint32_t w = 0; w < l->words; w++)
        assert_true(l->in[w] == 0);
    timing_plan_free(&t);
    sim_unload(p);
    sim_mem_free(mem);
    ptx_free(m);
    diags_free(&ds);
}

/* A root with a path of its own for rare numbers: the assembler branches there, and moves nothing from
 * behind it to before it. */
static void test_roots_split(void **state)
{
    (void)state;
    struct job j;
    struct timing_plan t;
    job_open(&j, "nbody", "default", "hopper-h200");
    assert_int_equal(timing_plan_make(&t, j.prog, &j.preset), ST_OK);
    uint32_t n = 0;
    for (uint32_t i = 0; i + 1 < j.prog->ncode; i++) {
        enum ptx_op op = j.prog->code[i].ptx->op;
        if (op != PTX_OP_SQRT && op != PTX_OP_RCP && op != PTX_OP_DIV)
            continue;
        assert_int_equal(t.op[i + 1].region, t.op[i].region + 1);
        n++;
    }
    assert_true(n > 0);
    timing_plan_free(&t);
    job_close(&j);
}

/* atax: every address is a product added to a base, one instruction in the machine code. */
static void test_products_fold(void **state)
{
    (void)state;
    struct job j;
    struct timing_plan t;
    job_open(&j, "atax", "default", "hopper-h200");
    assert_int_equal(timing_plan_make(&t, j.prog, &j.preset), ST_OK);
    uint32_t folded = 0, sums = 0;
    for (uint32_t i = 0; i < j.prog->ncode; i++) {
        const struct ptx_inst *in = j.prog->code[i].ptx;
        if (in->op == PTX_OP_MUL_WIDE)
            folded += (t.op[i].flags & TIMING_FREE) != 0;
        if (in->op == PTX_OP_ADD && in->type[0] == PTX_T_S64)
            sums += t.op[i].slots == 1;
    }
    assert_true(folded > 0);
    assert_true(sums >= folded);
    timing_plan_free(&t);
    job_close(&j);
}

static const char calls[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
    ".func (.param .b32 r) leaf(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, "
    "[a];\nst.param.b32 [r+0], %r1;\nret;\n}\n"
    ".func (.param .b32 r) node(.param .b32 a)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [a];\n"
    "{\n.param .b32 p;\nst.param.b32 [p+0], %r1;\n.param .b32 q;\ncall.uni (q), leaf, "
    "(p);\nld.param.b32 %r2, [q+0];\n}\nst.param.b32 [r+0], %r2;\nret;\n}\n"
    ".visible .entry k(.param .u64 o)\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<3>;\nmov.u32 %r1, 1;\n"
    "{\n.param .b32 p;\nst.param.b32 [p+0], %r1;\n.param .b32 q;\ncall.uni (q), node, "
    "(p);\nld.param.b32 %r2, [q+0];\n}\n"
    "{\n.param .b64 p;\nst.param.b64 [p+0], 16;\n.param .b64 q;\ncall.uni (q), malloc, "
    "(p);\nld.param.b64 %rd1, [q+0];\n}\nret;\n}\n";

/* Parameters are registers; a function that calls another returns later than a leaf; malloc costs by the
 * lane. */
static void test_calls(void **state)
{
    (void)state;
    struct ptx_module *m;
    struct sim_preset g;
    struct sim_program *p;
    struct timing_plan t;
    struct diags ds = { 0 };
    assert_status_ok(preset_read(NULL, "hopper-h200", &g, &ds), &ds);
    assert_status_ok(ptx_parse("calls.ptx", str_of(calls), &m, &ds), &ds);
    struct sim_mem *mem = sim_mem_new(1u << 30);
    assert_status_ok(sim_load(m, STR("k"), &g, mem, &p, &ds), &ds);
    assert_int_equal(timing_plan_make(&t, p, &g), ST_OK);
    uint32_t back[3] = { 0 }, lanes = 0;
    for (uint32_t i = 0; i < p->ncode; i++) {
        const struct ptx_inst *in = p->code[i].ptx;
        if (ptx_has_mod(in, PTX_MOD_PARAM))
            assert_int_equal(t.op[i].flags & TIMING_MEMORY, 0);
        if (in->op == PTX_OP_RET && p->code[i].func->index)
            back[str_eq(p->code[i].func->ptx->name, STR("leaf")) ? 0 : 1] = t.op[i].latency;
        if (in->op == PTX_OP_CALL && t.op[i].each)
            lanes = t.op[i].each;
    }
    assert_true(back[0] > 0);
    assert_true(back[1] == back[0] + g.l1_latency);
    assert_true(lanes > 0);
    timing_plan_free(&t);
    sim_unload(p);
    sim_mem_free(mem);
    ptx_free(m);
    diags_free(&ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kernel),   cmocka_unit_test(test_same_loads),
        cmocka_unit_test(test_joined),         cmocka_unit_test(test_halves_do_not_wait),
        cmocka_unit_test(test_loads_go_first), cmocka_unit_test(test_roots_split),
        cmocka_unit_test(test_calls),          cmocka_unit_test(test_products_fold)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
