/* The CUDA device against a driver and a CUPTI that fail on demand: finding them,
 * what is said when they lack something, JIT and its cache, memory, leaks, counters. */
#include "engine/rec/counter_ids.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/launch.h"
#include "engine/rec/result.h"

#include "tests/conformance/conf.h"
#include "tests/fake/fake.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define N 256u

/* ---- helpers ---- */
struct rig {
    struct dev *dev;
    struct dev_code *code;
    struct dev_data *bound;
    struct diags ds;
    struct launch_spec l;
    struct arg_spec args[2];
    struct launch_data data;
    struct dev_run run;
    struct result res;
    char *ptx;
    size_t nptx;
};

static const char *all_said(const struct diags *ds)
{
    static struct buf b;
    buf_clear(&b);
    diags_print(ds, &b);
    return b.s ? b.s : "";
}

static void rig_open(struct rig *r, bool worker)
{
    static char command[1200];
    static const char *const workers[] = { command };
    struct dev_env env = fake_env();
    memset(r, 0, sizeof *r);
    snprintf(command, sizeof command, "'%s' worker", fake_self());
    env.workers = workers;
    env.nworkers = worker;
    env.in_process = !worker;
    if (dev_open("cuda:0", &env, &r->dev, &r->ds) != ST_OK)
        fail_msg("%s", all_said(&r->ds));
    assert_int_equal(file_read(CONF_PTX, 1 << 20, &r->ptx, &r->nptx, &r->ds), ST_OK);
}

/* buf[i] = i, then `kernel(buf, 5)` over N threads. */
static void rig_launch_of(struct rig *r, const char *kernel)
{
    static char buf[] = "buf", add[] = "add";
    uint32_t five = 5;
    r->l = (struct launch_spec){ .kernel = (char *)(uintptr_t)kernel,
                                 .grid = { 2, 1, 1 },
                                 .block = { N / 2, 1, 1 },
                                 .args = r->args,
                                 .nargs = 2 };
    r->args[0] = (struct arg_spec){ .kind = ARG_BUFFER,
                                    .name = buf,
                                    .elem = ELEM_U32,
                                    .count = N,
                                    .output = true,
                                    .init = { .kind = INIT_IOTA, .b = 1, .ib = 1, .integral = true } };
    r->args[1] = (struct arg_spec){ .kind = ARG_SCALAR, .name = add, .elem = ELEM_U32 };
    memcpy(r->args[1].scalar, &five, sizeof five);
    assert_int_equal(launch_data_make(&r->l, 1 << 20, &r->data, &r->ds), ST_OK);
    r->run = dev_run_default();
    r->run.launch = &r->l;
    r->run.grid = r->l.grid;
    r->run.block = r->l.block;
    r->res = result_empty();
}

static enum status rig_load(struct rig *r, int maxnreg)
{
    return dev_load(r->dev, "conf.ptx", (struct str){ r->ptx, r->nptx }, str_of(r->l.kernel), maxnreg,
                    &r->code, &r->ds);
}

static enum status rig_run(struct rig *r)
{
    enum status st = r->code ? ST_OK : rig_load(r, 0);
    if (st == ST_OK && !r->bound)
        st = dev_bind(r->dev, &r->data, &r->bound, &r->ds);
    return st == ST_OK ? dev_launch(r->dev, r->code, r->bound, &r->run, &r->res, &r->ds) : st;
}

static void rig_close(struct rig *r)
{
    if (r->bound)
        dev_unbind(r->dev, r->bound);
    if (r->code)
        dev_unload(r->dev, r->code);
    launch_data_free(&r->data);
    base_free(r->ptx);
    dev_close(r->dev);
    diags_free(&r->ds);
}

/* Expects that cuda:0 does not open and that everything in `words` is said. */
static void refuses(const char *driver, const char *script, const char *const *words)
{
    struct dev_env env = fake_env();
    struct dev *d = NULL;
    struct diags ds = { 0 };
    if (driver)
        fake_use(driver, script, NULL);
    else
        fake_use_none();
    env.in_process = true;
    assert_int_equal(dev_open("cuda:0", &env, &d, &ds), ST_DEVICE);
    assert_null(d);
    for (; *words; words++)
        if (!strstr(all_said(&ds), *words))
            fail_msg("'%s' is not in: %s", *words, all_said(&ds));
    diags_free(&ds);
}

/* ---- the loader ---- */
static void test_loader(void **state)
{
    (void)state;
    refuses(NULL, NULL, (const char *const[]){ "no CUDA driver", "--worker", NULL });
    refuses("libcuda-lacks.so", NULL,
            (const char *const[]){ "cuMemAlloc_v2", "cuEventQuery", "11.0", NULL });
    refuses("libcuda.so.1", "version=10020", (const char *const[]){ "CUDA 10.2", "11.0", NULL });
    refuses("libcuda.so.1", "nostart",
            (const char *const[]){ "does not start", "CUDA_ERROR_NO_DEVICE", NULL });
    refuses("libcuda.so.1", "devices=0", (const char *const[]){ "no cuda:0", "0 GPUs", NULL });
}

/* Errors of the machine say what to do about them. */
static void test_advice(void **state)
{
    (void)state;
    static const struct {
        const char *script, *word;
    } cases[] = {
        { "init=802", "nvidia-fabricmanager" },
        { "init=803", "restart the machine" },
        { "init=999", "nvidia_uvm" },
        { "init=34", "stub" },
        { "init=304", "/dev/nvidia" },
        { "init=100", "CUDA_VISIBLE_DEVICES" },
        { "context=2", "nvidia-smi lists them" },
        { "context=46", "compute mode" },
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        refuses("libcuda.so.1", cases[i].script, (const char *const[]){ cases[i].word, NULL });
}

static void count_one(void *ctx, const struct dev_info *i)
{
    ++((int *)ctx)[i->kind == DEV_CUDA];
}

static void test_list(void **state)
{
    (void)state;
    struct dev_env env = fake_env();
    struct diags ds = { 0 };
    int n[2] = { 0, 0 };
    fake_use("libcuda.so.1", "devices=3", NULL);
    assert_int_equal(dev_list(&env, count_one, n, &ds), ST_OK);
    assert_int_equal(n[DEV_CUDA], 3);
    assert_int_equal(n[DEV_SIMULATED], 1);
    fake_use_none();
    n[DEV_CUDA] = 0;
    assert_int_equal(dev_list(&env, count_one, n, &ds), ST_OK); /* no driver is no error */
    assert_int_equal(n[DEV_CUDA], 0);
    assert_int_equal(ds.n, 0);
}

static void test_auto(void **state)
{
    (void)state;
    struct dev_env env = fake_env();
    struct diags ds = { 0 };
    struct dev *d;
    env.in_process = true;
    fake_use("libcuda.so.1", NULL, NULL);
    assert_int_equal(dev_open("auto", &env, &d, &ds), ST_OK);
    assert_string_equal(dev_describe(d)->spec, "cuda:0");
    dev_close(d);
    fake_use_none();
    assert_int_equal(dev_open("auto", &env, &d, &ds), ST_OK);
    assert_int_equal(dev_describe(d)->kind, DEV_SIMULATED);
    dev_close(d);
}

/* A driver of CUDA 11 has only the older names, and lacks what came later: everything but that works. */
static void test_drivers(void **state)
{
    (void)state;
    static const struct {
        const char *library, *script;
    } drivers[] = {
        { "libcuda-old.so", "version=11000" }, { "libcuda-old.so", "version=11040" },
        { "libcuda-old.so", "version=12020" }, { "libcuda.so.1", "version=12080" },
        { "libcuda.so.1", "version=13000" },   { "libcuda.so.1", "version=13020" },
    };
    for (size_t i = 0; i < ARRAY_LEN(drivers); i++) {
        struct rig r;
        fake_use(drivers[i].library, drivers[i].script, NULL);
        rig_open(&r, false);
        rig_launch_of(&r, "conf_bump");
        assert_int_equal(rig_run(&r), ST_OK);
        assert_int_equal(r.res.status, ST_OK);
        assert_true(r.res.time.valid);
        assert_true(r.res.counters[COUNTER_L1_REQUESTS].valid);
        rig_close(&r);
    }
}

/* ---- JIT ---- */
static void test_jit_cache(void **state)
{
    (void)state;
    struct rig r;
    struct dev_code *again;
    fake_use("libcuda.so.1", NULL, NULL);
    rig_open(&r, false);
    rig_launch_of(&r, "conf_bump");
    assert_int_equal(rig_run(&r), ST_OK);
    long loads = fake_number("libcuda.so.1", "fake_cuda_loads");
    assert_int_equal(
        dev_load(r.dev, "conf.ptx", (struct str){ r.ptx, r.nptx }, STR("conf_f32"), 0, &again, &r.ds),
        ST_OK);
    assert_int_equal(fake_number("libcuda.so.1", "fake_cuda_loads"), loads);
    dev_unload(r.dev, again);
    assert_int_equal(
        dev_load(r.dev, "conf.ptx", (struct str){ r.ptx, r.nptx }, STR("conf_f32"), 32, &again, &r.ds),
        ST_OK);
    /* another register limit is other code */
    assert_int_equal(fake_number("libcuda.so.1", "fake_cuda_loads"), loads + 1);
    assert_int_equal(dev_code_resources(again).regs, 24);
    assert_false(dev_code_resources(again).estimated);
    dev_unload(r.dev, again);
    rig_close(&r);
}

static void test_jit_error(void **state)
{
    (void)state;
    static const char text[] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry "
                               "k()\n{\n\tfrobnicate.u32 %r1;\n\tret;\n}\n";
    struct rig r;
    fake_use("libcuda.so.1", NULL, NULL);
    rig_open(&r, false);
    assert_int_equal(dev_load(r.dev, "bad.ptx", STR(text), STR("k"), 0, &r.code, &r.ds), ST_INPUT);
    assert_int_equal(r.ds.errors, 1);
    const struct diag *d = &r.ds.v[r.ds.n - 1];
    assert_int_equal(d->at.line, 6);
    assert_int_equal(d->at.col, 2);
    assert_string_equal(d->file, "bad.ptx");
    assert_non_null(strstr(d->msg, "Not a name of any known instruction"));
    assert_string_equal(d->source, "\tfrobnicate.u32 %r1;");
    rig_close(&r);
}

/* A program that calls what only a library has: cuLink, or what is missing is told. */
static void library(char *path, size_t room, const char *content)
{
    snprintf(path, room, "/tmp/gpulocw-test-XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, content, strlen(content)), (ssize_t)strlen(content));
    close(fd);
}

static void test_link(void **state)
{
    (void)state;
    static const char head[] = ".version 8.0\n.target sm_90\n.address_size 64\n.extern .func helper;\n",
                      launches[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                                   ".extern .func (.param .b32 r) cudaGetLastError;\n";
    static const char kernel[] = ".visible .entry k()\n{\n\tcall helper;\n\tret;\n}\n",
                      bad[] = ".visible .entry k()\n{\n\tfrobnicate.u32 %r1;\n\tret;\n}\n",
                      parent[] = ".visible .entry k()\n{\n\tret;\n}\n";
    char archive[64], list[200], text[600];
    struct rig r;
    library(archive, sizeof archive, "!<arch>\n");
    struct {
        const char *head, *body, *named; /* GPULOCW_LINK */
        enum status want;
        const char *said;
    } cases[] = {
        { head, kernel, "", ST_INPUT, "name them in GPULOCW_LINK" },
        { head, kernel, archive, ST_OK, "" },
        { head, kernel, list, ST_INPUT, "/nonexistent/x.a" },
        { head, bad, archive, ST_INPUT, "Not a name of any known instruction" },
        { launches, parent, archive, ST_OK, "" },
    };
    snprintf(list, sizeof list, "%s:/nonexistent/x.a", archive);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        snprintf(text, sizeof text, "%s%s", cases[i].head, cases[i].body);
        setenv("GPULOCW_LINK", cases[i].named, 1);
        fake_use("libcuda.so.1", NULL, NULL);
        rig_open(&r, false);
        assert_int_equal(dev_load(r.dev, "k.ptx", str_of(text), STR("k"), 0, &r.code, &r.ds),
                         cases[i].want);
        if (!strstr(all_said(&r.ds), cases[i].said))
            fail_msg("%s: %s", cases[i].said, all_said(&r.ds));
        rig_close(&r);
    }
    unsetenv("GPULOCW_LINK");
    unlink(archive);
}

/* ---- memory ---- */
static void test_memory(void **state)
{
    (void)state;
    struct rig r;
    long before = fake_number("libcuda.so.1", "fake_cuda_live");
    fake_use("libcuda.so.1", "oom=2000", NULL);
    rig_open(&r, false);
    rig_launch_of(&r, "conf_bump");
    assert_int_equal(rig_run(&r), ST_DEVICE);
    assert_non_null(strstr(all_said(&r.ds), "no room for 'buf'"));
    assert_non_null(strstr(all_said(&r.ds), "other programs"));
    assert_null(r.bound);
    setenv("FAKE_CUDA", "", 1);
    assert_int_equal(rig_run(&r), ST_OK);
    assert_int_equal(r.res.status, ST_OK);
    rig_close(&r);
    assert_int_equal(fake_number("libcuda.so.1", "fake_cuda_live"), before); /* everything was freed */
}

/* ---- timing ---- */
static void test_timing(void **state)
{
    (void)state;
    struct rig r;
    fake_use("libcuda.so.1", NULL, NULL);
    rig_open(&r, false);
    rig_launch_of(&r, "conf_bump");
    r.run.repeat = 3;
    r.run.max_repeat = 9;
    r.run.spread = 0.5;
    assert_int_equal(rig_run(&r), ST_OK);
    /* the fake's launches take equally long */
    assert_int_equal(r.res.time.n, 3);
    assert_int_equal(r.res.time.median, 2000 + N);
    /* two microseconds: each sample is the mean of many, and told so */
    assert_int_equal(r.res.time.batch, 16);
    r.run.spread = -1; /* never reached */
    r.run.flush_l2 = true;
    assert_int_equal(rig_run(&r), ST_OK);
    assert_int_equal(r.res.time.n, 9);
    assert_int_equal(r.res.time.origin, ORIGIN_MEASURED);
    rig_close(&r);
}

/* A power cap or a thermal slowdown is told; idle and application clocks are none. */
static void test_throttled(void **state)
{
    (void)state;
    static const struct {
        const char *mask;
        bool throttled;
    } cases[] = { { "0x0", false }, { "0x3", false }, { "0x4", true }, { "0x40", true } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct rig r;
        fake_use("libcuda.so.1", NULL, NULL);
        setenv("FAKE_NVML", cases[i].mask, 1);
        rig_open(&r, false);
        rig_launch_of(&r, "conf_bump");
        assert_int_equal(rig_run(&r), ST_OK);
        assert_int_equal(r.res.time.throttled, cases[i].throttled);
        rig_close(&r);
    }
    unsetenv("FAKE_NVML");
}

/* What a launch takes, without what restoring its buffer takes, from a counter of coarse steps; and why
 * there is none. */
static void energy_is(const char *counter, const char *library, double nj, const char *why, bool worker)
{
    struct rig r;
    fake_use("libcuda.so.1", NULL, NULL);
    if (counter)
        setenv("FAKE_NVML_ENERGY", counter, 1);
    if (library)
        setenv("GPULOCW_LIBNVML", library, 1);
    rig_open(&r, worker);
    rig_launch_of(&r, "conf_bump");
    r.run.energy = true;
    assert_int_equal(rig_run(&r), ST_OK);
    const struct energy *e = &r.res.energy;
    if (why) {
        assert_true(isnan(e->nj));
        assert_int_equal(e->launches, 0);
        assert_string_equal(e->why, why);
    } else {
        assert_string_equal(e->why, "");
        assert_true(fabs(e->nj / nj - 1) <= e->step);
        assert_true(e->step <= 0.05);
        assert_true(e->launches >= 50);
    }
    rig_close(&r);
    unsetenv("FAKE_NVML_ENERGY");
}

static void test_energy(void **state)
{
    (void)state;
    energy_is("7 1 100", NULL, 7e6, NULL, false); /* the buffer is restored before each launch */
    energy_is("7 30 100", NULL, 7e6, NULL, false);
    energy_is("2 1 1000", NULL, 2e6, NULL, false);
    energy_is("7 3 100", NULL, 7e6, NULL, true);
    energy_is("0 3 100", NULL, 0, "it is little beside restoring the inputs", false);
    energy_is(NULL, NULL, 0, "this GPU has no counter of energy", false);
    energy_is("7 0 100", "/nonexistent/libnvidia-ml.so.1", 0,
              "no NVML (libnvidia-ml.so.1), or it does not know this GPU", false);
}

/* One kernel text with a directive put in; what the driver cannot be asked for is refused with a reason.
 */
static enum status launch_text(const char *driver, const char *directive, const char *body,
                               struct result *out)
{
    struct rig r;
    char text[512];
    fake_use(driver, NULL, NULL);
    rig_open(&r, false);
    rig_launch_of(&r, "conf_bump");
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n"
             ".func meets() { .reg .b32 %%r<2>; mov.u32 %%r1, %%envreg2; ret; }\n"
             ".visible .entry conf_bump(.param .u64 buf, .param .u32 add)\n%s\n{\n\t.reg .b32 "
             "%%r<2>;\n\t%s\n\tret;\n}\n",
             directive, body);
    base_free(r.ptx);
    r.ptx = base_strdup(text);
    r.nptx = strlen(text);
    enum status st = rig_run(&r);
    if (st != ST_OK)
        fail_msg("%s", all_said(&r.ds));
    *out = r.res;
    rig_close(&r);
    return st;
}

static void test_clusters_and_grids(void **state)
{
    (void)state;
    struct result r;
    launch_text("libcuda.so.1", ".explicitcluster", "", &r);
    assert_int_equal(r.status, ST_REFUSED);
    assert_non_null(strstr(r.message, "cluster size"));
    /* the grid is of 2 CTAs */
    launch_text("libcuda.so.1", ".explicitcluster\n.reqnctapercluster 2, 1, 1", "", &r);
    assert_int_equal(r.status, ST_OK);
    launch_text("libcuda.so.1", ".explicitcluster\n.reqnctapercluster 4, 1, 1", "", &r);
    assert_int_equal(r.status, ST_REFUSED);
    /* grid-wide synchronisation */
    launch_text("libcuda.so.1", "", "mov.u32 %r1, %envreg2;", &r);
    assert_int_equal(r.status, ST_OK);
    launch_text("libcuda-old.so", "", "mov.u32 %r1, %envreg2;", &r);
    assert_int_equal(r.status, ST_REFUSED);
    assert_non_null(strstr(r.message, "whole grid"));
    /* as unoptimised code has it */
    launch_text("libcuda-old.so", "", "call meets;", &r);
    assert_int_equal(r.status, ST_REFUSED);
    /* there, but never called */
    launch_text("libcuda-old.so", "", "", &r);
    assert_int_equal(r.status, ST_OK);
}

/* What the simulator alone can do is refused, and says so. */
static void test_refusals(void **state)
{
    (void)state;
    struct rig r;
    fake_use("libcuda.so.1", NULL, NULL);
    rig_open(&r, false);
    rig_launch_of(&r, "conf_bump");
    r.run.hw_pi = 3;
    assert_int_equal(rig_run(&r), ST_OK);
    assert_int_equal(r.res.status, ST_REFUSED);
    r.run.hw_pi = -1;
    r.run.shared = 1 << 20;
    assert_int_equal(rig_run(&r), ST_OK);
    assert_int_equal(r.res.status, ST_REFUSED);
    assert_non_null(strstr(r.res.message, "shared memory"));
    r.run.shared = 0;
    r.run.carveout = 50;
    assert_int_equal(rig_run(&r), ST_OK);
    assert_int_equal(r.res.status, ST_OK);
    rig_close(&r);
}

/* ---- counters ---- */
static void counters_with(const char *script, struct rig *r)
{
    fake_use("libcuda.so.1", NULL, script);
    rig_open(r, false);
    rig_launch_of(r, "conf_bump");
    assert_int_equal(rig_run(r), ST_OK);
    assert_int_equal(r->res.status, ST_OK);
    assert_true(r->res.time.valid); /* timing goes on in every case */
    uint32_t got[N];
    assert_int_equal(dev_read_arg(r->dev, r->bound, 0, got, sizeof got, &r->ds), ST_OK);
    for (uint32_t i = 0; i < N; i++)
        assert_int_equal(got[i], i + 5); /* restored before every pass */
}

static void test_counters(void **state)
{
    (void)state;
    struct rig r;
    counters_with("passes=3", &r);
    assert_true(r.res.counters[COUNTER_L1_HIT_RATE].valid);
    assert_int_equal((int)r.res.counters[COUNTER_L1_HIT_RATE].value, 75);
    assert_int_equal(r.res.counters[COUNTER_L1_HIT_RATE].origin, ORIGIN_MEASURED);
    rig_close(&r);
    counters_with("nouser", &r); /* the library replays by itself */
    assert_true(r.res.counters[COUNTER_L1_REQUESTS].valid);
    rig_close(&r);
}

/* An enabled profiler lengthens launches: times are those without it, the second time too. */
static void test_times_without_profiler(void **state)
{
    (void)state;
    struct rig r;
    fake_use("libcuda.so.1", NULL, "passes=3");
    rig_open(&r, false);
    rig_launch_of(&r, "conf_bump");
    r.run.counters = false;
    assert_int_equal(rig_run(&r), ST_OK);
    int64_t plain = r.res.time.median;
    assert_true(plain > 0);
    r.run.counters = true;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(rig_run(&r), ST_OK);
        assert_true(r.res.counters[COUNTER_L1_REQUESTS].valid);
        assert_int_equal(r.res.time.median, plain);
    }
    rig_close(&r);
}

/* A chip without a metric: the next row serves, or that counter alone is n/a. */
static void test_counter_fallback(void **state)
{
    (void)state;
    struct rig r;
    counters_with("lacks=l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit", &r);
    assert_true(r.res.counters[COUNTER_L1_HIT_RATE].valid);
    rig_close(&r);
    counters_with("lacks=sm__warps_active", &r);
    assert_false(r.res.counters[COUNTER_WARPS_ACTIVE].valid);
    assert_true(r.res.counters[COUNTER_L1_REQUESTS].valid);
    rig_close(&r);
}

/* Hits and reads of L2 are counted in different passes, and no two launches read alike: the rate is of
 * hits and misses. */
static void test_l2_rate(void **state)
{
    (void)state;
    struct rig r;
    counters_with("passes=3", &r);
    const struct counter *c = &r.res.counters[COUNTER_L2_HIT_RATE];
    assert_true(c->valid);
    if (!(c->value > 98.9 && c->value < 99.1))
        fail_msg("%g %%", c->value);
    assert_true(r.res.counters[COUNTER_L2_READ_SECTORS].valid);
    rig_close(&r);
}

/* What binds a launch, here and from a worker: cycles in which schedulers issue, have no warp, or wait; waits
 * by reason, memory's by how busy DRAM is and by the bytes that no lane asked for. */
static void test_limits(void **state)
{
    (void)state;
    for (int worker = 0; worker < 2; worker++) {
        struct rig r;
        fake_use("libcuda.so.1", NULL, "passes=3");
        rig_open(&r, worker);
        rig_launch_of(&r, "conf_bump");
        assert_int_equal(rig_run(&r), ST_OK);
        const struct limits *l = &r.res.limits;
        double all = 0, idle = 1 - 2.0 / (double)dev_describe(r.dev)->sms;
        for (unsigned c = 0; c < LIMIT_COUNT; c++)
            all += (double)l->share[c];
        assert_true(l->valid);
        assert_float_equal(all, 1, 1e-3);
        assert_float_equal(l->share[LIMIT_ISSUE], 0.25, 1e-3);
        assert_float_equal(l->share[LIMIT_BARRIERS], 0.125, 1e-3);
        assert_float_equal(l->share[LIMIT_COALESCING_LOAD], 0.375 / 2 * 0.75, 1e-3);
        assert_float_equal(l->share[LIMIT_DRAM], 0.375 / 2 * 0.25, 1e-3);
        /* two CTAs: the rest is SMs without one, and latency that more warps would hide */
        assert_float_equal(l->share[LIMIT_GRID] + l->share[LIMIT_OCCUPANCY] + l->share[LIMIT_LATENCY] +
                               l->share[LIMIT_LAUNCH],
                           0.25 + 0.375 / 2, 1e-3);
        assert_true((double)l->share[LIMIT_GRID] >= 0.25 * (idle < 1 ? idle : 1) - 1e-3);
        assert_int_equal(l->facts.ctas, 2);
        assert_null(limits_place(l, LIMIT_ISSUE, 0));
        rig_close(&r);
    }
}

/* A chip that lacks what is needed tells nothing of limits, and says which metric; the counters go on. What is
 * not needed may be missing. */
static void test_limits_refused(void **state)
{
    (void)state;
    struct rig r;
    struct dev_counters c;
    counters_with("lacks=smsp__average_warps_issue_stalled_long_scoreboard", &r);
    assert_false(r.res.limits.valid);
    assert_true(r.res.counters[COUNTER_L1_REQUESTS].valid);
    assert_int_equal(dev_counters(r.dev, &c, &r.ds), ST_OK);
    assert_false(c.limits);
    assert_non_null(strstr(c.limits_from, "stalled_long_scoreboard"));
    rig_close(&r);
    counters_with("lacks=smsp__average_warps_issue_stalled_gmma", &r);
    assert_true(r.res.limits.valid);
    assert_true(r.res.counters[COUNTER_L1_REQUESTS].valid);
    rig_close(&r);
    fake_use("libcuda.so.1", NULL, "passes=3");
    rig_open(&r, false);
    rig_launch_of(&r, "conf_bump");
    r.run.counters = false;
    assert_int_equal(rig_run(&r), ST_OK);
    assert_false(r.res.limits.valid);
    rig_close(&r);
}

/* Which metrics a counter is made of on this chip, told by a device here and by one in a worker. */
static void test_counter_sources(void **state)
{
    (void)state;
    for (int worker = 0; worker < 2; worker++) {
        struct rig r;
        struct dev_counters c;
        fake_use("libcuda.so.1", NULL, "lacks=l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit");
        rig_open(&r, worker);
        assert_int_equal(dev_counters(r.dev, &c, &r.ds), ST_OK);
        assert_string_equal(c.chip, "FK100");
        assert_int_equal(c.passes, 2);
        assert_string_equal(c.why, "");
        assert_true(c.of[COUNTER_L1_HIT_RATE].valid);
        assert_string_equal(c.of[COUNTER_L1_HIT_RATE].from, "l1tex__t_sector_hit_rate.pct");
        assert_string_equal(c.of[COUNTER_L2_HIT_RATE].from,
                            "100 * lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum / "
                            "(lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum + "
                            "lts__t_sectors_srcunit_tex_op_read_lookup_miss.sum)");
        rig_close(&r);
        fake_use("libcuda.so.1", NULL, "lacks=sm__warps_active");
        rig_open(&r, worker);
        assert_int_equal(dev_counters(r.dev, &c, &r.ds), ST_OK);
        assert_false(c.of[COUNTER_WARPS_ACTIVE].valid);
        assert_true(c.of[COUNTER_INST_WARP].valid);
        rig_close(&r);
        fake_use("libcuda.so.1", NULL, "noperm");
        rig_open(&r, worker);
        assert_int_equal(dev_counters(r.dev, &c, &r.ds), ST_OK);
        assert_non_null(strstr(c.why, "NVreg_RestrictProfilingToAdminUsers"));
        for (int i = 0; i < COUNTER_COUNT; i++)
            assert_false(c.of[i].valid);
        rig_close(&r);
    }
}

static void no_counters(const char *script, const char *word)
{
    struct rig r;
    counters_with(script, &r);
    for (int i = 0; i < COUNTER_COUNT; i++) /* registers are the driver's to say */
        assert_int_equal(r.res.counters[i].valid, i == COUNTER_REGS_PER_THREAD);
    if (!strstr(r.res.message, word))
        fail_msg("'%s' is not in: %s", word, r.res.message);
    size_t said = r.ds.warnings;
    assert_int_equal(said, 1);
    assert_int_equal(rig_run(&r), ST_OK);
    /* once per device, not once per point */
    assert_int_equal(r.ds.warnings, said);
    rig_close(&r);
}

static void test_no_counters(void **state)
{
    (void)state;
    no_counters("noperm", "NVreg_RestrictProfilingToAdminUsers=0");
    no_counters("never", "no end of passes");
}

/* ---- a driver that takes the process along ---- */
static void test_process_dies(void **state)
{
    (void)state;
    static const char text[] =
        ".version 6.0\n.target sm_50\n.address_size 64\n"
        ".visible .entry conf_die(.param .u64 buf, .param .u32 add)\n{\n\tret;\n}\n";
    struct rig r;
    struct dev_code *bad;
    fake_use("libcuda.so.1", NULL, NULL);
    rig_open(&r, true);
    rig_launch_of(&r, "conf_bump");
    assert_int_equal(rig_run(&r), ST_OK);
    uint64_t hash = r.res.outputs[0].hash;
    assert_int_equal(dev_load(r.dev, "die.ptx", STR(text), STR("conf_die"), 0, &bad, &r.ds), ST_OK);
    assert_int_equal(dev_launch(r.dev, bad, r.bound, &r.run, &r.res, &r.ds), ST_OK);
    assert_int_equal(r.res.status, ST_DEVICE);
    assert_non_null(strstr(r.res.message, "worker died"));
    /* code and data went to a new worker */
    assert_int_equal(rig_run(&r), ST_OK);
    assert_int_equal(r.res.status, ST_OK);
    assert_int_equal(r.res.outputs[0].hash, hash);
    dev_unload(r.dev, bad);
    rig_close(&r);
}

int main(int argc, char **argv)
{
    int code;
    if (fake_worker_main(argc, argv, &code))
        return code;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loader),
        cmocka_unit_test(test_advice),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_auto),
        cmocka_unit_test(test_drivers),
        cmocka_unit_test(test_jit_cache),
        cmocka_unit_test(test_jit_error),
        cmocka_unit_test(test_link),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_timing),
        cmocka_unit_test(test_throttled),
        cmocka_unit_test(test_energy),
        cmocka_unit_test(test_clusters_and_grids),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_times_without_profiler),
        cmocka_unit_test(test_counter_fallback),
        cmocka_unit_test(test_l2_rate),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_limits_refused),
        cmocka_unit_test(test_counter_sources),
        cmocka_unit_test(test_no_counters),
        cmocka_unit_test(test_process_dies),
    };
    return cmocka_run_group_tests_name("CUDA device on a fake driver", tests, NULL, NULL);
}
