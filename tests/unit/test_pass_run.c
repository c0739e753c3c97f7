/* Small kernels made to break rewrites, run on the simulated device before and after:
 * bytes of one line written by neighbours, atomics and fences, calls, warp intrinsics
 * and barriers under a cloned body, ragged grids. Outputs must be bit-identical
 * whatever the dispatch, and the sanitiser must stay silent; but a software cache fills whole lines, so
 * it reads bytes that neighbours may be writing (and never uses them): races are not checked there. */
#include "tests/unit/pass_support.h"

#include "engine/dev/dev.h"
#include "engine/rec/data.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"
#include "engine/session/preset.h"

#define DIR "tests/golden/pass/"

/* sms: rewritten for a device with so many SMs of one or two CTAs each, which then have many tasks for
 * each agent; several: of which it claims several at once */
struct kernel {
    const char *input;
    struct dim3u grid, block;
    int n, m;
    uint64_t count;
    bool third;
    uint32_t sms;
    bool several;
};
static const struct kernel loads = { "in_loads", { 5, 1, 1 }, { 192, 1, 1 }, 900, 0, 8192,
                                     false,      0,           false };
static const struct kernel tile = { "in_tile", { 3, 3, 1 }, { 128, 1, 1 }, 4, 0, 8192, false, 0, false };
static const struct kernel calls = { "in_func", { 7, 1, 1 }, { 96, 1, 1 }, 0, 0, 8192, false, 0, false };
static const struct kernel grid = { "in_grid", { 3, 7, 1 }, { 32, 8, 1 }, 70, 50, 70 * 70,
                                    false,     0,           false };
static const struct kernel bytes = {
    "in_bytes", { 9, 1, 1 }, { 128, 1, 1 }, 400, 0, 8192, true, 0, false
};
static const struct kernel alias = {
    "in_alias", { 4, 1, 1 }, { 64, 1, 1 }, 0, 0, 2048, false, 0, false
};
static const struct kernel shuffle = { "in_shuffle", { 4, 1, 1 }, { 256, 1, 1 }, 20, 0, 8192,
                                       false,        0,           false };
static const struct kernel given = {
    "in_given", { 6, 1, 1 }, { 64, 1, 1 }, 0, 0, 2048, false, 0, false
};
static const struct kernel marks = {
    "in_marks", { 9, 1, 1 }, { 64, 1, 1 }, 500, 0, 2048, false, 0, false
};
static const struct kernel many_loads = { "in_loads", { 203, 1, 1 }, { 64, 1, 1 }, 5000, 0, 65536, false,
                                          2,          true };
static const struct kernel many_tiles = { "in_tile", { 9, 31, 1 }, { 128, 1, 1 }, 3, 0, 65536, false,
                                          3,         false };
static const struct kernel many_turns = { "in_turns", { 9, 31, 1 }, { 128, 1, 1 }, 35000,
                                          0,          65536,        false,         3,
                                          true };
static const struct kernel many_small = { "in_grid", { 9, 31, 1 }, { 16, 4, 1 }, 118,
                                          133,       133 * 144,    false,        4,
                                          false };
static const struct kernel many_shuffles = {
    "in_shuffle", { 70, 1, 1 }, { 96, 1, 1 }, 5, 0, 65536, false, 2, false
};
static const struct kernel many_calls = { "in_func", { 65, 1, 1 }, { 96, 1, 1 }, 0, 0, 65536, false,
                                          2,         false };

static const struct {
    const struct kernel *k;
    const char *options;
} cases[] = {
    { &many_loads, "--cluster agent" },
    { &many_loads, "--cluster agent --clusters 5 --agents 1" },
    { &many_loads, "--cluster agent --agents vote" },
    { &many_loads, "--cluster agent --clusters 1 --prefetch l1 --prefetch-distance 2" },
    { &many_tiles, "--cluster agent" },
    { &many_tiles, "--cluster agent --index tile:4x3" },
    { &many_tiles, "--cluster agent --agents vote" },
    { &many_turns, "--cluster agent" },
    { &many_turns, "--cluster agent --index tile:4x3 --agents vote" },
    { &many_turns, "--cluster agent --index column --clusters 1 --agents 1" },
    { &many_turns, "--cluster agent --bypass l1 --pi 2" },
    { &many_small, "--cluster agent --index column" },
    { &many_small, "--cluster agent --clusters 1 --agents 1" },
    { &many_small, "--cluster agent --index tile:3x5 --prefetch l2" },
    { &many_small, "--cluster agent --softcache 1 --bypass l1 --pi 1" },
    { &many_shuffles, "--cluster agent" },
    { &many_shuffles, "--cluster agent --bypass l1 --pi 2" },
    { &many_calls, "--cluster agent" },
    { &loads, "--bypass l1 --pi 2" },
    { &loads, "--bypass l1 --pi bpa --bypass-op no_allocate" },
    { &loads, "--bypass l1 --bypass-form predicate --pi 3" },
    { &loads, "--bypass l1 --bypass-form grouped --pi 1" },
    { &loads, "--bypass l1 --bypass-form hybrid --bypass-loads 35 --pi 4" },
    { &loads, "--bypass l1 --bypass-form vertical --bypass-loads 36,43" },
    { &loads, "--bypass l1+l2 --bypass-form grouped --pi 3" },
    { &loads, "--bypass ro --pi 2" },
    { &loads, "--readonly promote" },
    { &loads, "--readonly demote" },
    { &loads, "--bypass l1 --pi vote" },
    { &loads, "--swap-xy --coarsen 4" },
    { &loads, "--block 33x2x1 --coarsen 2 --coarsen-mode blocked" },
    { &tile, "--bypass l1 --pi 2" },
    { &tile, "--bypass l1 --bypass-form grouped --pi 3" },
    { &tile, "--cluster agent --clusters 2" },
    { &tile, "--cluster agent --clusters 4 --agents 1 --index tile:2x2 --prefetch l1" },
    { &tile, "--bypass l1 --pi 1 --cluster agent --clusters 5" },
    { &tile, "--softcache 2" },
    { &tile, "--softcache 2 --bypass l1 --pi 2 --cluster agent" },
    { &tile, "--prefetch l2" },
    { &tile, "--bypass l1 --pi vote" },
    { &tile, "--cluster redirect --index column --clusters 4" },
    { &calls, "--bypass l1 --pi 1" },
    { &calls, "--bypass l1 --bypass-form predicate --pi 2" },
    { &calls, "--bypass l1 --pi bpa" },
    { &calls, "--bypass l1 --bypass-form grouped --pi 2" },
    { &calls, "--cluster redirect --clusters 3" },
    { &calls, "--cluster agent --clusters 3" },
    { &calls, "--cluster agent --clusters 2 --bypass l1 --pi 1" },
    { &calls, "--cluster redirect --bypass l1 --bypass-form predicate --pi 1" },
    { &marks, "--bypass l1 --pi 1" },
    { &marks, "--bypass l1 --bypass-form hybrid --bypass-loads 37 --pi 1" },
    { &given, "--bypass l1 --pi bpa" },
    { &given, "--bypass l1 --pi 1" },
    { &given, "--bypass l1 --bypass-form predicate --pi 1" },
    { &calls, "--block 32x1x1" },
    { &calls, "--block 48x2x1 --swap-xy" },
    { &calls, "--block 32x3x1 --cluster agent --bypass l1 --pi 1" },
    { &calls, "--swap-xy --cluster redirect --bypass l1 --bypass-form grouped --pi 2" },
    { &grid, "--block 16x16x1" },
    { &grid, "--block 8x32x1 --swap-xy" },
    { &grid, "--swap-xy --coarsen 8" },
    { &grid, "--coarsen 2 --coarsen-mode blocked --block 24x5x1" },
    { &grid, "--cluster redirect --index tile:2x2 --clusters 4" },
    { &grid, "--cluster redirect --index column --clusters 100" },
    { &grid, "--cluster agent --index tile:2x3 --clusters 6" },
    { &grid, "--cluster agent --prefetch l2 --prefetch-distance 1 --clusters 1 --agents 1" },
    { &grid, "--prefetch l1 --prefetch-distance 8" },
    { &grid, "--softcache 1" },
    { &grid, "--softcache 2" },
    { &grid, "--softcache dynamic" },
    { &grid, "--softcache 2 --softcache-line 8" },
    { &grid, "--softcache 1 --softcache-line 32" },
    { &grid, "--softcache 2 --softcache-line 4" },
    { &grid, "--softcache dynamic --softcache-sample 3 --softcache-again 2" },
    { &grid, "--softcache 2 --coarsen 2 --cluster agent --bypass l1 --pi 3" },
    { &grid,
      "--softcache dynamic --swap-xy --cluster redirect --bypass l1 --bypass-form predicate --pi 2" },
    { &bytes, "--softcache 1" },
    { &bytes, "--softcache 2" },
    { &bytes, "--softcache 3" },
    { &bytes, "--softcache dynamic" },
    { &bytes, "--softcache 3 --cluster agent --agents 2" },
    { &bytes, "--softcache dynamic --cluster agent --bypass l1 --pi 1" },
    { &bytes, "--softcache 3 --coarsen 2" },
    { &bytes, "--bypass l1 --pi 2" },
    { &bytes, "--cluster agent --agents 1" },
    { &shuffle, "--bypass l1 --pi 0" },
    { &shuffle, "--bypass l1 --pi 1" },
    { &shuffle, "--bypass l1 --pi 5" },
    { &shuffle, "--bypass l1 --pi 8" },
    { &shuffle, "--bypass l1 --bypass-form predicate --pi 5" },
    { &shuffle, "--bypass l1 --bypass-form grouped --pi 5" },
    { &shuffle, "--bypass l1 --pi vote" },
    { &shuffle, "--cluster agent --bypass l1 --pi 3" },
    { &shuffle, "--softcache 1" },
    { &tile, "--softcache dynamic" },
    { &tile, "--cluster agent --agents vote" },
    { &alias, "--softcache 1" },
    { &alias, "--softcache 2" },
    { &alias, "--softcache 2 --assume-restrict" },
    { &alias, "--softcache dynamic" },
    { &alias, "--softcache 2 --softcache-data out,a --cluster agent" },
    { &calls, "--softcache 1" },
    { &calls, "--cluster agent --agents vote --clusters 2" },
};

static struct dev *device;

static void buffer(struct arg_spec *a, char *name, enum elem e, uint64_t count, bool output)
{
    *a = (struct arg_spec){
        .name = name, .kind = ARG_BUFFER, .elem = e, .count = count, .output = output
    };
    a->init =
        output
            ? (struct init_spec){ .kind = INIT_FILL }
            : (struct init_spec){ .kind = INIT_RANDOM, .a = -1, .b = 1, .ia = -1, .ib = 1, .seed = 3 };
}

static void open_kernel(struct workspace *s, const struct kernel *k)
{
    static char names[4][4] = { "a", "out", "n", "m" }, tail[] = "sum";
    char path[128];
    snprintf(path, sizeof path, DIR "%s.ptx", k->input);
    workspace_open(s, path, k->grid, k->block, 90);
    s->dev = *dev_describe(device);
    if (k->sms) {
        s->dev.sms = k->sms;
        s->dev.max_ctas_per_sm = 1 + k->sms % 2;
    }
    const int32_t values[2] = { k->n, k->m };
    buffer(&s->args[0], names[0], ELEM_F32, k->count, false);
    buffer(&s->args[1], names[1], ELEM_F32, k->count, true);
    for (int i = 0; i < 2; i++) {
        s->args[2 + i] = (struct arg_spec){ .name = names[2 + i], .kind = ARG_SCALAR, .elem = ELEM_S32 };
        memcpy(s->args[2 + i].scalar, &values[i], 4);
    }
    if (k->third)
        buffer(&s->args[3], tail, ELEM_U32, k->count, true);
}

static void run(struct workspace *s, struct launch_data *data, const struct pass_output *o,
                uint64_t seed, bool races, struct result *r)
{
    struct dev_code *code = NULL;
    struct dev_data *bound = NULL;
    struct dev_run d = dev_run_default();
    struct dev_symbol_value set, zero[8];
    d.launch = &s->launch;
    d.grid = o ? o->grid : s->launch.grid;
    d.block = o ? o->block : s->launch.block;
    d.shared = o ? o->shared : 0;
    d.functional = true;
    d.counters = false;
    d.check_uninit = true;
    d.check_races = races;
    d.dispatch = o ? (enum sim_dispatch)(seed % 3) : DISPATCH_NORMAL;
    d.seed = seed;
    if (o) {
        set = (struct dev_symbol_value){ PASS_KNOB_SYMBOL, 0, o->knob, sizeof o->knob };
        d.set = &set;
        d.nset = o->knobs;
        for (uint32_t k = 0; k < o->nreset; k++)
            zero[k] = (struct dev_symbol_value){ o->reset[k].symbol, 0, NULL, o->reset[k].bytes };
        d.zero = zero;
        d.nzero = o->nreset;
    }
    *r = result_empty();
    assert_status_ok(dev_load(device, s->m->path, o ? (struct str){ o->text, o->n } : s->m->text,
                              str_of(s->launch.kernel), 0, &code, &s->ds),
                     &s->ds);
    assert_status_ok(dev_bind(device, data, &bound, &s->ds), &s->ds);
    assert_status_ok(dev_launch(device, code, bound, &d, r, &s->ds), &s->ds);
    dev_unbind(device, bound);
    dev_unload(device, code);
}

static void check_case(const struct kernel *k, const char *options)
{
    struct workspace s;
    struct launch_data data;
    struct result before, after;
    open_kernel(&s, k);
    struct ptx_module *m = s.m;
    for (uint32_t f = 0; f < m->nfuncs; f++)
        if (m->funcs[f]->entry)
            s.launch.kernel = arena_dup(m->arena, m->funcs[f]->name);
    assert_status_ok(launch_data_make(&s.launch, 1 << 26, &data, &s.ds), &s.ds);
    run(&s, &data, NULL, 0, true, &before);
    if (before.status != ST_OK)
        fail_msg("%s as it is: %s", k->input, before.message);
    assert_status_ok(subject_rewrite(&s, options), &s.ds);
    if (k->several)
        assert_non_null(strstr(s.out.text, "_end;"));
    for (uint64_t seed = 0; seed < 3; seed++) {
        run(&s, &data, &s.out, seed, !strstr(options, "softcache"), &after);
        if (after.status != ST_OK)
            fail_msg("%s %s: %s", k->input, options, after.message);
        for (uint32_t i = 0; i < after.noutputs; i++)
            if (after.outputs[i].hash != before.outputs[i].hash)
                fail_msg("%s %s (dispatch %u): output %s differs from the original's", k->input, options,
                         (unsigned)seed, after.outputs[i].name);
        assert_int_equal(after.noutputs, k->third ? 2 : 1);
    }
    launch_data_free(&data);
    workspace_close(&s);
}

static void test_equal(void **state)
{
    (void)state;
    for (size_t k = 0; k < ARRAY_LEN(cases); k++)
        check_case(cases[k].k, cases[k].options);
}

static int open_device(void **state)
{
    struct diags ds = { 0 };
    struct dev_env env = { .preset = preset_read };
    (void)state;
    assert_status_ok(dev_open("sim:hopper-h200", &env, &device, &ds), &ds);
    return 0;
}

static int close_device(void **state)
{
    (void)state;
    dev_close(device);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_equal) };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
