/* The cases. Each makes its own launch, runs it and compares with what the kernel
 * must do, written out here in C. */
#include "engine/rec/counter_ids.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_occupancy.h"
#include "engine/rec/result.h"

#include "tests/conformance/conf.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N        1000u /* no multiple of the block, of a sector or of a guard's alignment */
#define BLOCK    128u
#define MAX_ARGS 4

/* ---- making launches ---- */
struct scene {
    struct launch_spec spec, before;
    struct arg_spec args[MAX_ARGS], before_args[MAX_ARGS];
    struct symbol_spec symbol;
    struct launch_data data;
    struct dev_code *code;
    struct dev_data *bound;
    struct dev_run run;
    struct result res;
    struct diags ds;
};

static enum conf_verdict verdict(struct conf_env *e, enum conf_verdict v, const char *fmt, ...)
    BASE_PRINTF(3, 4);
static enum conf_verdict verdict(struct conf_env *e, enum conf_verdict v, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(e->why, sizeof e->why, fmt, ap);
    va_end(ap);
    return v;
}
#define FAIL(...) verdict(e, CONF_FAIL, __VA_ARGS__)
#define SKIP(...) verdict(e, CONF_SKIP, __VA_ARGS__)

static char *name_of(const char *s)
{
    return (char *)(uintptr_t)s;
}

static void scene_init(struct scene *s, const char *kernel, uint32_t threads)
{
    memset(s, 0, sizeof *s);
    s->spec = (struct launch_spec){ .kernel = name_of(kernel),
                                    .grid = { (threads + BLOCK - 1) / BLOCK, 1, 1 },
                                    .block = { BLOCK, 1, 1 } };
    s->spec.args = s->args;
    s->run = dev_run_default();
    s->run.repeat = 2;
    s->run.max_repeat = 3;
    s->res = result_empty();
}

static void arg(struct scene *s, struct arg_spec a)
{
    s->args[s->spec.nargs++] = a;
}

static const char *said(const struct diags *ds)
{
    return ds->n ? ds->v[ds->n - 1].msg : "(no message)";
}

static enum status scene_bind(struct conf_env *e, struct scene *s)
{
    enum status st = launch_data_make(&s->spec, 1u << 30, &s->data, &s->ds);
    if (st == ST_OK)
        st = dev_load(e->dev, CONF_PTX, e->ptx, str_of(s->spec.kernel), 0, &s->code, &s->ds);
    if (st == ST_OK)
        st = dev_bind(e->dev, &s->data, &s->bound, &s->ds);
    s->run.launch = &s->spec;
    s->run.grid = s->spec.grid;
    s->run.block = s->spec.block;
    s->run.shared = s->spec.shared;
    return st;
}

static void scene_free(struct conf_env *e, struct scene *s)
{
    if (s->bound)
        dev_unbind(e->dev, s->bound);
    if (s->code)
        dev_unload(e->dev, s->code);
    launch_data_free(&s->data);
    diags_free(&s->ds);
}

static enum status launch(struct conf_env *e, struct scene *s)
{
    return dev_launch(e->dev, s->code, s->bound, &s->run, &s->res, &s->ds);
}

/* Binds, launches and expects success. */
static bool runs(struct conf_env *e, struct scene *s)
{
    enum status st = s->bound ? ST_OK : scene_bind(e, s);
    if (st == ST_OK)
        st = launch(e, s);
    if (st == ST_OK && s->res.status == ST_OK)
        return true;
    verdict(e, CONF_FAIL, "%s: status %d, result %d: %s / %s", s->spec.kernel, (int)st,
            (int)s->res.status, s->res.message, said(&s->ds));
    return false;
}

static bool reads(struct conf_env *e, struct scene *s, size_t i, void *bytes, uint64_t n)
{
    if (dev_read_arg(e->dev, s->bound, i, bytes, n, &s->ds) == ST_OK)
        return true;
    verdict(e, CONF_FAIL, "read of argument %zu: %s", i, said(&s->ds));
    return false;
}

/* Argument i holds `want`, and so does the hash of the result's output `name`. */
static enum conf_verdict holds(struct conf_env *e, struct scene *s, size_t i, const void *want,
                               uint64_t n)
{
    uint8_t *got = calloc(1, n);
    if (!got || !reads(e, s, i, got, n)) {
        free(got);
        return CONF_FAIL;
    }
    enum conf_verdict v = CONF_PASS;
    for (uint64_t k = 0; v == CONF_PASS && k < n; k++)
        if (got[k] != ((const uint8_t *)want)[k])
            v = FAIL("%s: byte %llu of argument %zu is %02x, not %02x", s->spec.kernel,
                     (unsigned long long)k, i, got[k], ((const uint8_t *)want)[k]);
    for (uint32_t k = 0; v == CONF_PASS && k < s->res.noutputs; k++)
        if (!strcmp(s->res.outputs[k].name, s->args[i].name) &&
            s->res.outputs[k].hash != base_hash(want, n))
            v = FAIL("%s: the output's hash is not that of its bytes", s->spec.kernel);
    free(got);
    return v;
}

/* The device still works after what a case did to it. */
static enum conf_verdict still_works(struct conf_env *e)
{
    struct scene s;
    uint32_t want[N];
    scene_init(&s, "conf_bump", N);
    s.spec.grid.x = N / 8;
    s.spec.block.x = 8;
    arg(&s, arg_buffer("buf", ELEM_U32, N, 3, 1, true));
    arg(&s, arg_u32("add", 4));
    for (uint32_t i = 0; i < N; i++)
        want[i] = 3 + i + 4;
    enum conf_verdict v = runs(e, &s) ? holds(e, &s, 0, want, sizeof want) : CONF_FAIL;
    scene_free(e, &s);
    return v;
}

/* ---- element types ---- */
static void plus_one(enum elem elem, const uint8_t *in, uint8_t *out)
{
    uint64_t bits = 0, n = elem_size(elem);
    float f;
    double d;
    memcpy(&bits, in, n);
    memcpy(&f, in, sizeof f > n ? n : sizeof f);
    memcpy(&d, in, sizeof d > n ? n : sizeof d);
    if (elem == ELEM_F32) {
        f += 1;
        memcpy(out, &f, n);
    } else if (elem == ELEM_F64) {
        d += 1;
        memcpy(out, &d, n);
    } else {
        /* binary16, normal numbers only: twice the value is one more in the exponent field */
        bits += elem == ELEM_F16 ? 0x400 : 1;
        memcpy(out, &bits, n);
    }
}

static enum conf_verdict one_type(struct conf_env *e, enum elem elem)
{
    struct scene s;
    char kernel[32];
    uint64_t w = elem_size(elem);
    uint8_t want[N * 8];
    snprintf(kernel, sizeof kernel, "conf_%s", elem_name(elem));
    scene_init(&s, kernel, N);
    arg(&s, arg_buffer("in", elem, N, elem == ELEM_F16 ? 1 : 0, 1, false));
    arg(&s, arg_buffer("out", elem, N, 0, 0, true));
    arg(&s, arg_u32("n", N));
    enum conf_verdict v = runs(e, &s) ? CONF_PASS : CONF_FAIL;
    for (uint32_t i = 0; v == CONF_PASS && i < N; i++)
        plus_one(elem, s.data.buffers[0].bytes + i * w, want + i * w);
    if (v == CONF_PASS)
        v = holds(e, &s, 1, want, N * w);
    if (v == CONF_PASS)
        v = holds(e, &s, 0, s.data.buffers[0].bytes, N * w);
    scene_free(e, &s);
    return v;
}

static enum conf_verdict case_types(struct conf_env *e)
{
    enum conf_verdict v = CONF_PASS;
    for (int t = 0; v == CONF_PASS && t < ELEM_COUNT; t++)
        v = one_type(e, (enum elem)t);
    return v;
}

/* ---- parameters, symbols, before ---- */
static enum conf_verdict case_struct(struct conf_env *e)
{
    struct scene s;
    struct {
        uint32_t a, unused;
        uint64_t b;
    } cfg = { 3, 0xffffffff, 1ull << 40 };
    uint64_t want[BLOCK];
    scene_init(&s, "conf_struct", BLOCK);
    arg(&s,
        (struct arg_spec){
            .kind = ARG_BYTES, .name = name_of("cfg"), .bytes = (uint8_t *)&cfg, .nbytes = sizeof cfg });
    arg(&s, arg_buffer("out", ELEM_U64, BLOCK, 0, 0, true));
    for (uint32_t i = 0; i < BLOCK; i++)
        want[i] = (uint64_t)cfg.a * i + cfg.b;
    enum conf_verdict v = runs(e, &s) ? holds(e, &s, 1, want, sizeof want) : CONF_FAIL;
    scene_free(e, &s);
    return v;
}

static enum conf_verdict symbol_run(struct conf_env *e, struct scene *s, const uint32_t table[4],
                                    uint32_t knob)
{
    uint32_t want[BLOCK], count = 0;
    if (!runs(e, s))
        return CONF_FAIL;
    for (uint32_t i = 0; i < BLOCK; i++)
        want[i] = table[i % 4] + knob;
    if (dev_read_symbol(e->dev, s->code, "g_count", &count, sizeof count, &s->ds) != ST_OK)
        return FAIL("read of g_count: %s", said(&s->ds));
    if (count != BLOCK)
        return FAIL("g_count is %u, not %u: a module variable was not as declared at the launch", count,
                    BLOCK);
    return holds(e, s, 0, want, sizeof want);
}

/* As declared; with a knob set; as declared again; nothing stays behind. */
static enum conf_verdict case_symbols(struct conf_env *e)
{
    static const uint32_t declared[4] = { 1, 2, 3, 4 };
    struct scene s;
    uint32_t knob = 100;
    scene_init(&s, "conf_symbol", BLOCK);
    arg(&s, arg_buffer("out", ELEM_U32, BLOCK, 0, 0, true));
    enum conf_verdict v = symbol_run(e, &s, declared, 7);
    struct dev_symbol_value set = { "g_knob", 0, &knob, sizeof knob },
                            zero = { "g_knob", 0, NULL, sizeof knob };
    s.run.set = &set;
    s.run.nset = 1;
    if (v == CONF_PASS)
        v = symbol_run(e, &s, declared, knob);
    s.run.nset = 0;
    if (v == CONF_PASS)
        v = symbol_run(e, &s, declared, 7);
    s.run.zero = &zero;
    s.run.nzero = 1;
    if (v == CONF_PASS)
        v = symbol_run(e, &s, declared, 0);
    struct dev_symbol_value none = { "no_such", 0, &knob, sizeof knob };
    s.run = (struct dev_run){ .launch = &s.spec,
                              .grid = s.spec.grid,
                              .block = s.spec.block,
                              .set = &none,
                              .nset = 1,
                              .carveout = -1,
                              .hw_pi = -1 };
    if (v == CONF_PASS && launch(e, &s) != ST_INPUT)
        v = FAIL("a knob that the module has not was accepted");
    scene_free(e, &s);
    return v;
}

static enum conf_verdict case_spec_symbols(struct conf_env *e)
{
    static const uint32_t given[4] = { 9, 8, 7, 6 };
    struct scene s;
    scene_init(&s, "conf_symbol", BLOCK);
    arg(&s, arg_buffer("out", ELEM_U32, BLOCK, 0, 0, true));
    s.symbol = (struct symbol_spec){ .name = name_of("c_table"), .elem = ELEM_U32 };
    s.symbol.init =
        (struct init_spec){ .kind = INIT_HEX, .text = name_of("09000000080000000700000006000000") };
    s.spec.symbols = &s.symbol;
    s.spec.nsymbols = 1;
    enum conf_verdict v = symbol_run(e, &s, given, 7);
    scene_free(e, &s);
    return v;
}

/* The before launch runs once per launch on the same buffers, and its work is there each time. */
static enum conf_verdict case_before(struct conf_env *e)
{
    struct scene s;
    uint32_t want[BLOCK];
    scene_init(&s, "conf_bump", BLOCK);
    arg(&s, arg_buffer("buf", ELEM_U32, BLOCK, 10, 1, true));
    arg(&s, arg_u32("add", 1));
    s.before = (struct launch_spec){ .kernel = name_of("conf_u32"),
                                     .grid = s.spec.grid,
                                     .block = s.spec.block,
                                     .args = s.before_args,
                                     .nargs = 3 };
    s.before_args[0] = arg_buffer("own", ELEM_U32, BLOCK, 1000, 2, false);
    s.before_args[1] =
        (struct arg_spec){ .kind = ARG_SAME_AS, .name = name_of("to"), .same_as = name_of("buf") };
    s.before_args[2] = arg_u32("n", BLOCK);
    s.spec.before = &s.before;
    s.spec.nbefore = 1;
    for (uint32_t i = 0; i < BLOCK; i++)
        want[i] = 1000 + 2 * i + 1 + 1;
    enum conf_verdict v = CONF_PASS;
    for (int k = 0; v == CONF_PASS && k < 2; k++)
        v = runs(e, &s) ? holds(e, &s, 0, want, sizeof want) : CONF_FAIL;
    scene_free(e, &s);
    return v;
}

/* A kernel that updates in place gives the same bytes however often it is launched. */
static enum conf_verdict case_in_place(struct conf_env *e)
{
    enum conf_verdict v = still_works(e);
    return v == CONF_PASS ? still_works(e) : v;
}

static enum conf_verdict case_same_as(struct conf_env *e)
{
    struct scene s;
    uint32_t want[2 * BLOCK];
    scene_init(&s, "conf_u32", BLOCK);
    arg(&s, arg_buffer("a", ELEM_U32, 2 * BLOCK, 5, 1, true));
    arg(&s,
        (struct arg_spec){
            .kind = ARG_SAME_AS, .name = name_of("b"), .same_as = name_of("a"), .offset = 4 * BLOCK });
    arg(&s, arg_u32("n", BLOCK));
    for (uint32_t i = 0; i < BLOCK; i++) {
        want[i] = 5 + i;
        want[BLOCK + i] = 5 + i + 1;
    }
    enum conf_verdict v = runs(e, &s) ? holds(e, &s, 0, want, sizeof want) : CONF_FAIL;
    if (v == CONF_PASS)
        v = holds(e, &s, 1, want + BLOCK, 4 * BLOCK);
    scene_free(e, &s);
    return v;
}

/* ---- shared memory ---- */
static enum conf_verdict shared_run(struct conf_env *e, uint32_t bytes)
{
    struct scene s;
    uint32_t want[2 * BLOCK];
    scene_init(&s, "conf_shared", 2 * BLOCK);
    arg(&s, arg_buffer("buf", ELEM_U32, 2 * BLOCK, 0, 1, true));
    s.spec.shared = bytes;
    for (uint32_t i = 0; i < 2 * BLOCK; i++)
        want[i] = i / BLOCK * BLOCK + (BLOCK - 1 - i % BLOCK);
    enum conf_verdict v = runs(e, &s) ? holds(e, &s, 0, want, sizeof want) : CONF_FAIL;
    scene_free(e, &s);
    return v;
}

static enum conf_verdict case_shared(struct conf_env *e)
{
    return shared_run(e, 4 * BLOCK);
}

static enum conf_verdict case_shared_large(struct conf_env *e)
{
    if (dev_describe(e->dev)->shared_per_block_optin < 64 * 1024)
        return SKIP("the device allows less than 64 KB of shared memory");
    return shared_run(e, 64 * 1024);
}

/* ---- what a result says ---- */
static enum conf_verdict case_result(struct conf_env *e)
{
    struct scene s;
    enum origin want = dev_describe(e->dev)->kind == DEV_CUDA ? ORIGIN_MEASURED : ORIGIN_SIMULATED;
    scene_init(&s, "conf_f32", N);
    arg(&s, arg_buffer("in", ELEM_F32, N, 0, 1, false));
    arg(&s, arg_buffer("out", ELEM_F32, N, 0, 0, true));
    arg(&s, arg_u32("n", N));
    opt_occupancy(&s.res.options)->carveout = 42;
    s.res.voted = 5;
    enum conf_verdict v = runs(e, &s) ? CONF_PASS : CONF_FAIL;
    const struct timing *t = &s.res.time;
    if (v == CONF_PASS && (!t->valid || t->origin != want || !t->n || t->median <= 0 ||
                           t->min > t->median || t->max < t->median))
        v = FAIL("time: valid %d origin %d n %u median %lld", t->valid, (int)t->origin, t->n,
                 (long long)t->median);
    for (int i = 0; v == CONF_PASS && i < COUNTER_COUNT; i++)
        if (s.res.counters[i].valid &&
            (s.res.counters[i].origin !=
                 ((i == COUNTER_REGS_PER_THREAD || i == COUNTER_REGS_SPILL_BYTES) &&
                          want == ORIGIN_SIMULATED
                      ? ORIGIN_MODELLED /* ptxas would say */
                      : want) ||
             !(s.res.counters[i].value >= 0)))
            v = FAIL("counter %s: origin %d value %g", counter_name((enum counter_id)i),
                     (int)s.res.counters[i].origin, s.res.counters[i].value);
    if (v == CONF_PASS && (opt_occupancy(&s.res.options)->carveout != 42 || s.res.voted != 5))
        v = FAIL("the caller's options were overwritten");
    if (v == CONF_PASS && (!s.res.regs || !s.res.ctas_per_sm))
        v = FAIL("resources: %u registers, %u CTAs per SM", s.res.regs, s.res.ctas_per_sm);
    s.run.functional = true;
    if (v == CONF_PASS && !runs(e, &s))
        v = CONF_FAIL;
    if (v == CONF_PASS &&
        (s.res.time.valid || s.res.counters[COUNTER_L1_HIT_RATE].valid || s.res.noutputs != 1))
        v = FAIL("a functional run must have outputs, and neither time nor cache counters");
    scene_free(e, &s);
    return v;
}

/* 32 consecutive floats a warp: one request, four sectors (where counters can be read). */
static enum conf_verdict case_counters(struct conf_env *e)
{
    struct scene s;
    scene_init(&s, "conf_f32", 64 * BLOCK);
    arg(&s, arg_buffer("in", ELEM_F32, 64 * BLOCK, 0, 1, false));
    arg(&s, arg_buffer("out", ELEM_F32, 64 * BLOCK, 0, 0, true));
    arg(&s, arg_u32("n", 64 * BLOCK));
    enum conf_verdict v = runs(e, &s) ? CONF_PASS : CONF_FAIL;
    const struct counter *c = &s.res.counters[COUNTER_L1_SECTORS_PER_REQUEST],
                         *q = &s.res.counters[COUNTER_L1_REQUESTS];
    if (v == CONF_PASS && !c->valid)
        v = SKIP("%s", s.res.message[0] ? s.res.message : "no counters");
    if (v == CONF_PASS && (c->value != 4 || q->value != 64 * BLOCK / 32))
        v = FAIL("%g sectors per request, %g requests", c->value, q->value);
    scene_free(e, &s);
    return v;
}

/* ---- errors ---- */
static enum conf_verdict case_load_errors(struct conf_env *e)
{
    static const char bad[] = ".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k()\n{\n  "
                              "  frobnicate.u32 %r1;\n    ret;\n}\n";
    struct dev_code *c = NULL;
    struct diags ds = { 0 };
    enum conf_verdict v = CONF_PASS;
    if (dev_load(e->dev, "x.ptx", e->ptx, STR("no_such_kernel"), 0, &c, &ds) != ST_INPUT || c ||
        !ds.errors)
        v = FAIL("an unknown kernel was not refused");
    diags_free(&ds);
    ds = (struct diags){ 0 };
    enum status st = dev_load(e->dev, "x.ptx", STR(bad), STR("k"), 0, &c, &ds);
    if (v == CONF_PASS && (st == ST_OK || c || !ds.errors))
        v = FAIL("an unknown instruction was not refused");
    else if (v == CONF_PASS && ds.v[0].at.line != 6)
        v = FAIL("the error is on line 6, the diagnostic says %u: %s", ds.v[0].at.line, ds.v[0].msg);
    diags_free(&ds);
    return v == CONF_PASS ? still_works(e) : v;
}

static enum conf_verdict refuses(struct conf_env *e, struct scene *s, const char *what)
{
    enum status st = scene_bind(e, s);
    if (st == ST_OK)
        st = launch(e, s);
    enum conf_verdict v =
        st == ST_INPUT && s->ds.errors ? CONF_PASS : FAIL("%s: status %d", what, (int)st);
    scene_free(e, s);
    return v;
}

static enum conf_verdict case_bad_args(struct conf_env *e)
{
    struct scene s;
    scene_init(&s, "conf_bump", BLOCK);
    arg(&s, arg_buffer("buf", ELEM_U32, BLOCK, 0, 1, true));
    enum conf_verdict v = refuses(e, &s, "too few arguments");
    if (v != CONF_PASS)
        return v;
    scene_init(&s, "conf_bump", BLOCK);
    arg(&s, arg_buffer("buf", ELEM_U32, BLOCK, 0, 1, true));
    arg(&s, (struct arg_spec){ .kind = ARG_SCALAR, .name = name_of("add"), .elem = ELEM_U64 });
    v = refuses(e, &s, "an argument of the wrong size");
    return v == CONF_PASS ? still_works(e) : v;
}

/* The result failed with a reason, and the device goes on. */
static enum conf_verdict fails(struct conf_env *e, struct scene *s, const char *reason,
                               const char *other)
{
    enum status st = scene_bind(e, s);
    if (st == ST_OK)
        st = launch(e, s);
    enum conf_verdict v = CONF_PASS;
    if (st != ST_OK || s->res.status == ST_OK || !s->res.message[0])
        v = FAIL("%s: status %d, result %d '%s' (%s)", s->spec.kernel, (int)st, (int)s->res.status,
                 s->res.message, said(&s->ds));
    else if (s->res.time.valid)
        v = FAIL("%s failed and has a time", s->spec.kernel);
    else if (reason && !strstr(s->res.message, reason) && !strstr(s->res.message, other))
        v = FAIL("%s: the reason does not speak of '%s': %s", s->spec.kernel, reason, s->res.message);
    scene_free(e, s);
    return v == CONF_PASS ? still_works(e) : v;
}

static enum conf_verdict case_outside(struct conf_env *e)
{
    struct scene s;
    scene_init(&s, "conf_outside", BLOCK);
    arg(&s, arg_buffer("buf", ELEM_U32, N, 0, 1, true));
    arg(&s, arg_u32("n", N));
    return fails(e, &s, NULL, NULL);
}

static enum conf_verdict case_fault(struct conf_env *e)
{
    struct scene s;
    if (!e->survives)
        return SKIP("a fault costs this process");
    scene_init(&s, "conf_fault", BLOCK);
    arg(&s, arg_buffer("buf", ELEM_U32, N, 0, 1, true));
    return fails(e, &s, NULL, NULL);
}

static enum conf_verdict case_hang(struct conf_env *e)
{
    struct scene s;
    if (!e->survives)
        return SKIP("a hang costs this process");
    scene_init(&s, "conf_hang", BLOCK);
    s.spec.grid.x = 1;
    s.run.time_limit_s = 0.3;
    arg(&s, arg_buffer("buf", ELEM_U32, N, 0, 0, true));
    /* a device that sees that nothing will change need not wait for the limit */
    return fails(e, &s, "time limit", "cannot continue");
}

static void *cancel_later(void *arg)
{
    struct timespec t = { 0, 80000000 };
    nanosleep(&t, NULL);
    atomic_store(&((struct cancel *)arg)->asked, true);
    return NULL;
}

static enum conf_verdict case_cancel(struct conf_env *e)
{
    struct scene s;
    struct cancel cancel = { 0 };
    pthread_t thread;
    if (!e->survives)
        return SKIP("a cancelled hang costs this process");
    scene_init(&s, "conf_long", BLOCK);
    s.spec.grid.x = 1;
    s.run.cancel = &cancel;
    s.run.time_limit_s = 20;
    arg(&s, arg_buffer("buf", ELEM_U32, N, 0, 0, true));
    enum status st = scene_bind(e, &s);
    if (st != ST_OK || pthread_create(&thread, NULL, cancel_later, &cancel)) {
        enum conf_verdict v = FAIL("no launch to cancel: %s", said(&s.ds));
        scene_free(e, &s);
        return v;
    }
    int64_t from = base_now_ns();
    st = launch(e, &s);
    double took = (double)(base_now_ns() - from) / 1e9;
    pthread_join(thread, NULL);
    scene_free(e, &s);
    if (st != ST_CANCELLED || s.res.status != ST_CANCELLED)
        return FAIL("a cancelled launch gave status %d, result %d", (int)st, (int)s.res.status);
    if (took > 2)
        return FAIL("the cancel took %.2f s", took);
    return still_works(e);
}

static const struct conf_case CASES[] = {
    { "element types", case_types },
    { "struct parameter", case_struct },
    { "symbols", case_symbols },
    { "symbols of the launch", case_spec_symbols },
    { "before launches", case_before },
    { "update in place", case_in_place },
    { "same_as with offset", case_same_as },
    { "shared memory", case_shared },
    { "shared memory above 48 KB", case_shared_large },
    { "what a result says", case_result },
    { "counters", case_counters },
    { "load errors", case_load_errors },
    { "arguments that do not fit", case_bad_args },
    { "write outside a buffer", case_outside },
    { "fault", case_fault },
    { "hang", case_hang },
    { "cancel", case_cancel },
};

size_t conf_count(void)
{
    return ARRAY_LEN(CASES);
}
const struct conf_case *conf_case(size_t i)
{
    return &CASES[i];
}
