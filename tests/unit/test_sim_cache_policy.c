/* What each load operator stands for, per architecture, and what it asks of the caches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "engine/ptx/ptx.h"
#include "engine/sim/cache/cache.h"
#include "engine/sim/decoded.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

static struct sim_preset preset(int major, int minor, int plain, int ca)
{
    struct sim_preset p = sim_preset_default();
    p.cc_major = major;
    p.cc_minor = minor;
    p.l1_plain = plain;
    p.l1_ca = ca;
    return p;
}

static struct sim_operator operator_of(const struct sim_preset *p, const char *mods)
{
    char text[600];
    bool hint = strstr(mods, "cache_hint") != NULL;
    snprintf(text, sizeof text,
             ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
             ".reg .b64 %%rd<3>;\n.reg .f32 %%f<2>;\n.reg .b32 %%r<2>;\nld.param.u64 %%rd1, "
             "[a];\nmov.b64 %%rd2, 0;\n"
             "ld%s.f32 %%f1, [%%rd1]%s;\nret;\n}\n",
             mods, hint ? ", %rd2" : "");
    struct ptx_module *m = NULL;
    struct diags ds = { 0 };
    enum status st = ptx_parse("t.ptx", str_of(text), &m, &ds);
    if (st != ST_OK) {
        struct buf b = { 0 };
        diags_print(&ds, &b);
        fail_msg("%s", b.s);
    }
    struct sim_operator o = sim_load_operator(p, &m->funcs[0]->insts[2]);
    ptx_free(m);
    diags_free(&ds);
    return o;
}

static void test_hopper_table(void **state)
{
    (void)state;
    struct sim_preset h = preset(9, 0, 1, 1);
    const struct {
        const char *mods, *sass;
        bool l1, noop;
    } v[] = {
        { ".global", "LDG.E", true, false },
        { ".global.ca", "LDG.E.STRONG.SM", true, false },
        { ".global.cg", "LDG.E.STRONG.GPU", false, false },
        { ".global.cs", "LDG.E.EF", true, false },
        { ".global.lu", "LDG.E.LU", true, false },
        { ".global.cv", "LDG.E.STRONG.SYS", false, false },
        { ".volatile.global", "LDG.E.STRONG.SYS", false, false },
        { ".global.nc", "LDG.E.CONSTANT", true, false },
        { ".global.L1::no_allocate", "LDG.E.NA", false, false },
        { ".global.nc.L1::no_allocate", "LDG.E.NA.CONSTANT", false, false },
        { ".global.L1::evict_last", "LDG.E.EL", true, false },
        { ".global.L1::evict_first", "LDG.E.EF", true, false },
        { ".global.L1::evict_unchanged", "LDG.E.EU", true, false },
        { ".global.L2::64B", "LDG.E.LTC64B", true, false },
        { ".global.L2::128B", "LDG.E.LTC128B", true, false },
        { ".global.L2::256B", "LDG.E.LTC256B", true, false },
        { ".global.L2::cache_hint", "LDG.E", true, false },
    };
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct sim_operator o = operator_of(&h, v[i].mods);
        assert_string_equal(o.sass, v[i].sass);
        assert_int_equal(o.l1, v[i].l1);
        assert_int_equal(o.noop, v[i].noop);
        assert_non_null(o.reason);
    }
}

static void test_no_ops(void **state)
{
    (void)state;
    struct sim_preset h = preset(9, 0, 1, 1), kepler = preset(3, 7, 0, 1), gm107 = preset(5, 0, 0, 0),
                      volta = preset(7, 0, 1, 1), fermi = preset(2, 0, 1, 1);
    /* the assembler drops .cg there */
    assert_true(operator_of(&h, ".global.cg.nc").noop);
    /* plain loads bypass L1 already */
    assert_true(operator_of(&kepler, ".global.cg").noop);
    assert_false(operator_of(&kepler, ".global.ca").noop);
    assert_true(operator_of(&kepler, ".global.ca").l1);
    assert_true(!operator_of(&kepler, ".global").l1);
    assert_true(operator_of(&gm107, ".global.ca").noop);
    assert_true(operator_of(&fermi, ".global.ca").noop);
    assert_false(operator_of(&fermi, ".global.cg").noop);
    assert_true(operator_of(&volta, ".global.L2::cache_hint").noop); /* hints from sm_80 on */
    assert_string_equal(operator_of(&volta, ".global").sass, "LDG.E.SYS");
    assert_string_equal(operator_of(&fermi, ".global.cg").sass, "LD.E.CG");
    assert_string_equal(operator_of(&kepler, ".global.nc").sass, "LDG.E");
}

static struct cache_route route(const struct sim_preset *g, struct exec_policy p)
{
    return cache_route_load(g, &p, 0, 4096);
}

static void test_routes(void **state)
{
    (void)state;
    struct sim_preset h = preset(9, 0, 1, 1), k = preset(3, 7, 0, 1), a100 = preset(8, 0, 1, 1);
    k.ro_bytes = 49152;
    assert_int_equal(route(&h, (struct exec_policy){ 0 }).l1, CACHE_NORMAL);
    assert_int_equal(route(&h, (struct exec_policy){ .cop = COP_CA }).l1, CACHE_NORMAL);
    assert_int_equal(route(&h, (struct exec_policy){ .cop = COP_CG }).l1, CACHE_BYPASS);
    assert_int_equal(route(&h, (struct exec_policy){ .cop = COP_CS }).l1, CACHE_FIRST);
    assert_int_equal(route(&h, (struct exec_policy){ .cop = COP_CS }).l2, CACHE_FIRST);
    assert_int_equal(route(&h, (struct exec_policy){ .cop = COP_LU }).l1, CACHE_LAST_USE);
    assert_int_equal(route(&h, (struct exec_policy){ .cop = COP_CV }).l1, CACHE_DROP);
    /* dropped */
    assert_int_equal(route(&h, (struct exec_policy){ .cop = COP_CG, .nc = 1 }).l1, CACHE_NORMAL);
    assert_int_equal(route(&h, (struct exec_policy){ .nc = 1, .l1 = EVICT_NO_ALLOCATE }).l1,
                     CACHE_TRANSIT);
    assert_int_equal(route(&h, (struct exec_policy){ .l1 = EVICT_UNCHANGED }).l1, CACHE_UNCHANGED);
    /* same instruction as .cs */
    assert_int_equal(route(&h, (struct exec_policy){ .l1 = EVICT_FIRST }).l2, CACHE_FIRST);
    assert_int_equal(route(&k, (struct exec_policy){ 0 }).l1, CACHE_BYPASS);
    assert_int_equal(route(&k, (struct exec_policy){ .cop = COP_CA }).l1, CACHE_NORMAL);
    struct cache_route ro = route(&k, (struct exec_policy){ .nc = 1 });
    assert_true(ro.read_only);
    assert_true(ro.l1 == CACHE_NORMAL);
    assert_int_equal(route(&h, (struct exec_policy){ .l2_prefetch = 128 }).granule, 4);
    assert_true(route(&h, (struct exec_policy){ .l2_prefetch = 256 }).next);
    assert_true(
        route(&h, (struct exec_policy){ .l2_prefetch = 256, .nc = 1, .l1 = EVICT_NO_ALLOCATE }).next);
    /* LTC128B */
    assert_false(
        route(&a100, (struct exec_policy){ .l2_prefetch = 256, .nc = 1, .l1 = EVICT_NO_ALLOCATE }).next);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_hopper_table),
                                        cmocka_unit_test(test_no_ops), cmocka_unit_test(test_routes) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
