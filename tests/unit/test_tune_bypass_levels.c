/* Cache levels on each architecture (paper: bypass, sections 4.1 and 5.1): what caching and bypassing
 * loads become, and what plain loads do. */
#include "engine/rec/counter_ids.h"
#include "tests/unit/tune_support.h"

#include "engine/pass/pass.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/result.h"

static struct result measured(const char *kernel, const char *device, const char *line)
{
    struct rig r;
    struct result res;
    struct options o = options_of(line);
    rig_open(&r, kernel, strcmp(kernel, "gemm") ? "default" : "paper", device);
    assert_status_ok(tune_run_one(r.bench, &o, &res, &r.ds), &r.ds);
    if (res.status != ST_OK)
        fail_msg("%s on %s, %s: %s", kernel, device, line, res.message);
    assert_int_equal(res.equal, EQUAL_YES);
    rig_close(&r);
    return res;
}

static double counted(const struct result *r, enum counter_id id)
{
    assert_true(r->counters[id].valid);
    return r->counters[id].value;
}

static void assert_same_run(const struct result *a, const struct result *b)
{
    assert_int_equal(a->time.median, b->time.median);
    for (size_t i = 0; i < COUNTER_COUNT; i++) {
        assert_int_equal(a->counters[i].valid, b->counters[i].valid);
        if (a->counters[i].valid)
            assert_true(a->counters[i].value == b->counters[i].value);
    }
}

/* Listing 1: what L2 caches is what L1 does not, ld.cg. */
static void l2_caching_is_l1_bypassing(void **state)
{
    static const char *const devices[] = { "sim:fermi-16k", "sim:kepler-k80", "sim:maxwell-750ti",
                                           "sim:pascal-p100", "sim:hopper-h200" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
        struct result l2 = measured("gemm", devices[i], "--bypass l2 --pi cha"),
                      l1 = measured("gemm", devices[i], "--bypass l1 --pi bpa");
        assert_same_run(&l2, &l1);
    }
}

static void kepler_caches_what_asks_for_it(void **state)
{
    (void)state;
    struct result own = measured("gemm", "sim:kepler-k80", ""),
                  bpa = measured("gemm", "sim:kepler-k80", "--bypass l1 --pi bpa"),
                  cha = measured("gemm", "sim:kepler-k80", "--bypass l1 --pi cha"),
                  hard = measured("gemm", "sim:kepler-k80", "--bypass l1 --bypass-form hardware --pi 4");
    assert_true(counted(&own, COUNTER_L1_HIT_RATE) == 0);
    assert_same_run(&own, &bpa);
    assert_true(counted(&cha, COUNTER_L1_HIT_RATE) > 10);
    assert_true(counted(&cha, COUNTER_L2_READ_SECTORS) < counted(&bpa, COUNTER_L2_READ_SECTORS));
    assert_true(counted(&hard, COUNTER_L1_HIT_RATE) > 0);
    assert_true(counted(&hard, COUNTER_L1_HIT_RATE) < counted(&cha, COUNTER_L1_HIT_RATE));
}

/* +l1 and +nol1 are nvcc's -dlcm=ca and -dlcm=cg. */
static void the_switch_is_what_plain_loads_do(void **state)
{
    (void)state;
    struct result on = measured("gemm", "sim:kepler-k80+l1", ""),
                  cha = measured("gemm", "sim:kepler-k80", "--bypass l1 --pi cha"),
                  off = measured("gemm", "sim:fermi-16k+nol1", ""),
                  bpa = measured("gemm", "sim:fermi-16k", "--bypass l1 --pi bpa"),
                  asked = measured("gemm", "sim:fermi-16k+nol1", "--bypass l1 --pi cha"),
                  plain = measured("gemm", "sim:fermi-16k", "");
    assert_same_run(&on, &cha);
    assert_same_run(&off, &bpa);
    assert_same_run(&asked, &plain);
}

static void no_switch_where_nothing_caches(void **state)
{
    struct dev_env env = rig_env();
    struct dev *d = NULL;
    struct diags ds = { 0 };
    (void)state;
    assert_int_equal(dev_open("sim:maxwell-750ti+l1", &env, &d, &ds), ST_DEVICE);
    assert_null(d);
    assert_true(support_said(&ds, "never caches global loads in L1"));
    diags_free(&ds);
}

/* One threshold for both levels: caching warps use L1, and bypassing ones stream. */
static void both_levels_are_not_l2_alone(void **state)
{
    static const char *const devices[] = { "sim:fermi-16k", "sim:kepler-k80", "sim:hopper-h200" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(devices); i++) {
        struct result both = measured("gemm", devices[i], "--bypass l1+l2 --pi 4"),
                      l2 = measured("gemm", devices[i], "--bypass l2 --pi 4"),
                      cha = measured("gemm", devices[i], "--bypass l1+l2 --pi cha"),
                      l1 = measured("gemm", devices[i], "--bypass l1 --pi cha");
        assert_true(counted(&both, COUNTER_L1_HIT_RATE) != counted(&l2, COUNTER_L1_HIT_RATE));
        assert_same_run(&cha, &l1);
    }
}

/* ---- the text ---- */
static enum status rewritten(const char *kernel, const char *device, const char *line, struct buf *text,
                             struct diags *ds)
{
    struct rig r;
    struct pass_output out;
    struct options o = options_of(line);
    rig_prepare(&r, kernel, NULL, device);
    struct pass_input in = { .module = r.module,
                             .kernel = str_of(r.launch->kernel),
                             .options = &o,
                             .dev = dev_describe(r.dev),
                             .launch = r.launch,
                             .facts = r.facts };
    enum status st = pass_apply(&in, &out, ds);
    if (st == ST_OK)
        buf_puts(text, out.text);
    pass_output_free(&out);
    rig_close(&r);
    return st;
}

static void assert_text(const char *device, const char *line, const char *with, const char *without)
{
    struct buf text = { 0 };
    struct diags ds = { 0 };
    assert_status_ok(rewritten("gesummv", device, line, &text, &ds), &ds);
    if (with && !strstr(text.s, with))
        fail_msg("%s %s: no %s", device, line, with);
    if (without && strstr(text.s, without))
        fail_msg("%s %s: has %s", device, line, without);
    buf_free(&text);
    diags_free(&ds);
}

static void operators(void **state)
{
    (void)state;
    assert_text("sim:fermi-16k", "--bypass l1 --pi 2", "ld.global.cg", "ld.global.ca");
    assert_text("sim:kepler-k80", "--bypass l1 --pi 2", "ld.global.ca", NULL);
    assert_text("sim:kepler-k80+l1", "--bypass l1 --pi 2", "ld.global.cg", "ld.global.ca");
    assert_text("sim:maxwell-980", "--bypass l1 --pi cha", "ld.global.ca", NULL);
    assert_text("sim:fermi-16k", "--bypass l2 --pi 2", "ld.global.cs", NULL);
    assert_text("sim:fermi-16k", "--bypass l1+l2 --pi 2", "ld.global.cs", "ld.global.cg");
    /* from sm_70 on .ca is an ordered load */
    assert_text("sim:volta-v100", "--bypass l1 --pi 2", "ld.global.cg", "ld.global.ca");
    assert_text("sim:volta-v100+nol1", "--bypass l1 --pi 2", "ld.global.cg", "ld.global.ca");
    assert_text("sim:hopper-h200", "--bypass l1 --pi cha", "ld.global", "ld.global.ca");
}

/* ---- no read-only cache before sm_35, no L1 priorities before sm_70 ---- */
static void assert_refused(const char *kernel, const char *device, const char *line, const char *why)
{
    struct buf text = { 0 };
    struct diags ds = { 0 };
    assert_int_equal(rewritten(kernel, device, line, &text, &ds), ST_REFUSED);
    assert_true(support_said(&ds, why));
    buf_free(&text);
    diags_free(&ds);
}

static void what_old_devices_lack_is_refused(void **state)
{
    (void)state;
    assert_refused("kmeans", "sim:fermi-16k", "--bypass ro --pi 2", "read-only cache from sm_35 on");
    assert_refused("gesummv", "sim:fermi-48k", "--readonly promote", "the device is sm_20");
    assert_refused("kmeans", "sim:pascal-p100", "--bypass l1 --bypass-op no_allocate --pi 2",
                   "needs sm_70: the device is sm_60");
    assert_refused("kmeans", "sim:kepler-k80", "--bypass l2 --bypass-op no_allocate --pi 2",
                   "needs sm_70: the device is sm_37");
    assert_text("sim:kepler-k80", "--readonly promote", "ld.global.nc", NULL);
    assert_text("sim:volta-v100", "--bypass l1 --bypass-op no_allocate --pi 2", "L1::no_allocate", NULL);
}

/* kmeans has .nc loads alone: on Fermi they are plain loads, and a threshold governs them. */
static void fermi_caches_nc_loads_as_plain_ones(void **state)
{
    (void)state;
    struct result nc = measured("kmeans", "sim:fermi-16k", ""),
                  plain = measured("kmeans", "sim:fermi-16k", "--readonly demote"),
                  bpa = measured("kmeans", "sim:fermi-16k", "--bypass l1 --pi bpa");
    assert_same_run(&nc, &plain);
    assert_true(counted(&bpa, COUNTER_L1_HIT_RATE) == 0);
}

static void no_read_only_advice_on_fermi(void **state)
{
    static const struct {
        const char *device;
        bool promotes;
    } v[] = { { "sim:fermi-16k", false }, { "sim:kepler-k80", true } };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(v); i++) {
        struct rig r;
        struct tune_advice a[32];
        bool promotes = false;
        rig_prepare(&r, "gesummv", NULL, v[i].device);
        size_t n = tune_advise(&r.subject, NULL, a, ARRAY_LEN(a));
        for (size_t k = 0; k < n; k++)
            promotes |= opt_memory(&a[k].options)->readonly == READONLY_PROMOTE;
        assert_int_equal(promotes, v[i].promotes);
        rig_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(l2_caching_is_l1_bypassing),
        cmocka_unit_test(kepler_caches_what_asks_for_it),
        cmocka_unit_test(the_switch_is_what_plain_loads_do),
        cmocka_unit_test(no_switch_where_nothing_caches),
        cmocka_unit_test(both_levels_are_not_l2_alone),
        cmocka_unit_test(operators),
        cmocka_unit_test(what_old_devices_lack_is_refused),
        cmocka_unit_test(fermi_caches_nc_loads_as_plain_ones),
        cmocka_unit_test(no_read_only_advice_on_fermi),
    };
    return cmocka_run_group_tests_name("tune: cache levels by architecture", tests, NULL, NULL);
}
