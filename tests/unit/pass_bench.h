/* A kernel of a launch file on the simulated device: rewritten under one configuration after another,
 * its outputs compared with the original's. PASS_VERBOSE=1 lists every answer; PASS_KEEP=FILE keeps the
 * text of a failing rewrite; PASS_RANDOM=N: random combinations per kernel; PASS_DEVICE: another
 * simulated device. */
#ifndef GPULOCW_TESTS_PASS_BENCH_H
#define GPULOCW_TESTS_PASS_BENCH_H

#include "tests/support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/dev/dev.h"
#include "engine/pass/pass.h"
#include "engine/ptx/edit.h"
#include "engine/ptx/flow/cfg.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/data.h"
#include "engine/rec/device.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/opt_bypass.h"
#include "engine/rec/opt_cluster.h"
#include "engine/rec/opt_memory.h"
#include "engine/rec/opt_prefetch.h"
#include "engine/rec/opt_schedule.h"
#include "engine/rec/opt_shared.h"
#include "engine/rec/opt_softcache.h"
#include "engine/rec/options.h"
#include "engine/rec/result.h"
#include "engine/session/preset.h"
#include "engine/sim/preset.h"
#include "engine/sim/sim.h"

struct bench;
struct buf;
struct dev;
struct dev_code;
struct dev_data;
struct dev_info;
struct diags;
struct result;
struct str;

#define MAX_BYTES (48u << 20)

struct bench {
    struct dev *dev;
    struct ptx_module *m;
    struct launch_spec launch;
    struct launch_data data;
    struct dev_data *bound;
    struct result original;
    uint64_t seed;
    unsigned proven, refused;
    /* the original's bytes of outputs with a stated tolerance, by argument */
    float *loose[16];
};

static struct dev_run run_of(struct bench *b, const struct pass_output *o, struct dev_symbol_value *set,
                             struct dev_symbol_value *zero)
{
    struct dev_run r = dev_run_default();
    r.launch = &b->launch;
    r.grid = o ? o->grid : b->launch.grid;
    r.block = o ? o->block : b->launch.block;
    r.shared = o ? o->shared : b->launch.shared;
    /* warp after warp, or interleaved as the schedulers have it */
    r.functional = !o || b->seed % 4 != 1;
    r.exact = true;
    r.counters = false;
    r.check_uninit = b->seed % 8 == 0;
    if (o) {
        *set = (struct dev_symbol_value){ PASS_KNOB_SYMBOL, 0, o->knob, sizeof o->knob };
        for (uint32_t k = 0; k < o->nreset; k++)
            zero[k] = (struct dev_symbol_value){ o->reset[k].symbol, 0, NULL, o->reset[k].bytes };
        r.set = set;
        r.nset = o->knobs;
        r.zero = zero;
        r.nzero = o->nreset;
        r.hw_pi = o->hw_pi;
        r.dispatch = b->seed++ % 3 == 0 ? DISPATCH_ADVERSARIAL : DISPATCH_RANDOM;
        r.seed = b->seed;
    }
    return r;
}

/* profile, where not NULL: PASS_SOFT_WORDS that the launch left. */
static void launch_and_read(struct bench *b, const struct pass_output *o, struct str text,
                            const char *what, struct result *r, uint64_t *profile)
{
    struct diags ds = { 0 };
    struct dev_code *code = NULL;
    struct dev_symbol_value set, zero[8];
    *r = result_empty();
    enum status st = dev_load(b->dev, b->m->path, text, str_of(b->launch.kernel), 0, &code, &ds);
    if (st == ST_OK) {
        struct dev_run run = run_of(b, o, &set, zero);
        st = dev_launch(b->dev, code, b->bound, &run, r, &ds);
    }
    if (st != ST_OK || r->status != ST_OK) {
        struct buf p = { 0 };
        diags_print(&ds, &p);
        if (getenv("PASS_KEEP")) {
            struct diags none = { 0 };
            file_write_atomic(getenv("PASS_KEEP"), text.s, text.n, &none);
        }
        fail_msg("%s %s: %s %s\n%s", b->launch.kernel, what, status_text(st), r->message,
                 p.s ? p.s : "");
    }
    if (profile)
        assert_status_ok(dev_read_symbol(b->dev, code, PASS_SOFT_SYMBOL, profile,
                                         PASS_SOFT_WORDS * sizeof *profile, &ds),
                         &ds);
    dev_unload(b->dev, code);
    diags_free(&ds);
}

static void launch(struct bench *b, const struct pass_output *o, struct str text, const char *what,
                   struct result *r)
{
    launch_and_read(b, o, text, what, r, NULL);
}

static size_t arg_named(const struct bench *b, const char *name)
{
    size_t k = 0;
    while (k < b->launch.nargs && strcmp(b->launch.args[k].name, name) != 0)
        k++;
    return k;
}

/* Sums of floating-point atomics depend on the order: their launch states a tolerance. */
static bool within(struct bench *b, const char *name)
{
    size_t k = arg_named(b, name);
    if (k >= ARRAY_LEN(b->loose) || !b->loose[k])
        return false;
    struct diags ds = { 0 };
    const struct arg_spec *a = &b->launch.args[k];
    float *now = base_alloc(a->count * sizeof *now);
    assert_status_ok(dev_read_arg(b->dev, b->bound, k, now, a->count * sizeof *now, &ds), &ds);
    bool ok = true;
    for (uint64_t i = 0; i < a->count; i++)
        ok = ok && fabs(now[i] - b->loose[k][i]) <= a->tolerance * fmax(1, fabs(b->loose[k][i]));
    base_free(now);
    return ok;
}

static void keep_loose(struct bench *b)
{
    struct diags ds = { 0 };
    for (size_t k = 0; k < b->launch.nargs && k < ARRAY_LEN(b->loose); k++) {
        const struct arg_spec *a = &b->launch.args[k];
        if (!a->output || a->tolerance <= 0 || a->elem != ELEM_F32)
            continue;
        b->loose[k] = base_alloc(a->count * sizeof(float));
        assert_status_ok(dev_read_arg(b->dev, b->bound, k, b->loose[k], a->count * sizeof(float), &ds),
                         &ds);
    }
}

/* The last error of a list: why a rewrite was refused. */
static const char *bench_reason(const struct diags *ds)
{
    for (size_t k = ds->n; k-- > 0;)
        if (ds->v[k].level == DIAG_ERROR)
            return ds->v[k].msg;
    return "refused";
}

static void must_equal(struct bench *b, const struct pass_output *out, const struct result *r,
                       const char *what)
{
    struct diags ds = { 0 };
    assert_true(r->noutputs > 0);
    for (uint32_t k = 0; k < r->noutputs; k++)
        if (r->outputs[k].hash != b->original.outputs[k].hash && !within(b, r->outputs[k].name)) {
            if (getenv("PASS_KEEP"))
                file_write_atomic(getenv("PASS_KEEP"), out->text, out->n, &ds);
            fail_msg("%s %s %s: output %s differs from the original's", b->m->path, b->launch.kernel,
                     what, r->outputs[k].name);
        }
}

/* --softcache auto as the engine does it: the monitoring slice once, which changes no output either,
 * then what it chose. */
static enum status rewrite_one(struct bench *b, const struct options *o, struct pass_output *out,
                               struct diags *ds)
{
    struct dev_info dev = *dev_describe(b->dev);
    if (opt_cluster(o)->kind == CLUSTER_AGENT && b->seed % 2) { /* one agent: many tasks for it */
        dev.sms = 1;
        dev.max_ctas_per_sm = 1;
    }
    struct pass_input in = { .module = b->m,
                             .kernel = str_of(b->launch.kernel),
                             .options = o,
                             .dev = &dev,
                             .launch = &b->launch };
    struct options alone = options_default();
    uint64_t words[PASS_SOFT_WORDS];
    struct result r;
    if (opt_softcache(o)->lines != OPT_SOFTCACHE_AUTO)
        return pass_apply(&in, out, ds);
    opt_softcache(&alone)->lines = OPT_SOFTCACHE_AUTO;
    struct pass_input first = in;
    first.options = &alone;
    enum status st = pass_apply_survey(&first, PASS_SURVEY_PROFILE, NULL, out, ds);
    if (st != ST_OK)
        return st;
    launch_and_read(b, out, (struct str){ out->text, out->n }, "profile", &r, words);
    must_equal(b, out, &r, "profile");
    pass_output_free(out);
    return pass_apply_survey(&in, PASS_SURVEY_NONE, words, out, ds);
}

/* One configuration: ST_OK when proven equal, ST_REFUSED with the reason in ds. */
static enum status bench_try(struct bench *b, const struct options *o, struct diags *ds)
{
    struct pass_output out;
    struct buf what = { 0 };
    options_line(o, &what);
    enum status st = rewrite_one(b, o, &out, ds);
    if (st == ST_OK) {
        struct result r;
        launch(b, &out, (struct str){ out.text, out.n }, what.s ? what.s : "", &r);
        must_equal(b, &out, &r, what.s ? what.s : "");
        b->proven++;
    } else {
        for (size_t k = 0; k < ds->n; k++)
            if (ds->v[k].code && strcmp(ds->v[k].code, "pass-internal") == 0)
                fail_msg("%s %s %s: %s", b->m->path, b->launch.kernel, what.s,
                         ds->v[k + 1 < ds->n ? k + 1 : k].msg);
        if (st != ST_REFUSED || !ds->errors)
            fail_msg("%s %s %s: status %d and no reason", b->m->path, b->launch.kernel, what.s, st);
        b->refused++;
    }
    if (getenv("PASS_VERBOSE"))
        print_message("%-12s %-22s %-60s %s\n", b->m->path, b->launch.kernel, what.s,
                      st == ST_OK ? "equal" : bench_reason(ds));
    buf_free(&what);
    pass_output_free(&out);
    return st;
}
static uint64_t pick(struct bench *b, uint64_t n)
{
    return base_splitmix(2024, b->seed++) % n;
}

/* A random legal-looking combination: knobs of several passes at once. */
static void random_options(struct bench *b, struct options *o)
{
    *o = options_default();
    opt_bypass(o)->level = pick(b, 3) ? BYPASS_L1 : BYPASS_NONE;
    opt_bypass(o)->form =
        (int[]){ BYPASS_FORM_CLONE, BYPASS_FORM_PREDICATE, BYPASS_FORM_GROUPED }[pick(b, 3)];
    opt_bypass(o)->op = (int[]){ BYPASS_OP_CG, BYPASS_OP_NO_ALLOCATE, BYPASS_OP_CS }[pick(b, 3)];
    opt_bypass(o)->pi.mode = pick(b, 5) ? PI_VALUE : PI_BPA;
    opt_bypass(o)->pi.value = (int)pick(b, (dim3u_count(b->launch.block) + 31) / 32 + 1);
    opt_cluster(o)->kind = (int)pick(b, 3);
    opt_cluster(o)->index.kind = (int)pick(b, 3);
    opt_cluster(o)->index.tx = 1 + (uint32_t)pick(b, 4);
    opt_cluster(o)->index.ty = 1 + (uint32_t)pick(b, 4);
    opt_cluster(o)->clusters = 1 + (int)pick(b, 9);
    opt_cluster(o)->agents = opt_cluster(o)->kind == CLUSTER_AGENT ? (int)pick(b, 4) : 0;
    opt_prefetch(o)->level = pick(b, 3) == 0 ? PREFETCH_L2 : PREFETCH_OFF;
    opt_softcache(o)->lines = pick(b, 4) == 0 ? (pick(b, 2) ? 1 : OPT_SOFTCACHE_AUTO) : 0;
    opt_schedule(o)->swap_xy = pick(b, 4) == 0;
    opt_schedule(o)->coarsen = pick(b, 4) == 0 ? 2 << pick(b, 3) : 1;
    opt_schedule(o)->coarsen_mode = (int)pick(b, 3);
    opt_shared(o)->swizzle = pick(b, 5) == 0;
    opt_shared(o)->pad = pick(b, 5) == 0 ? 4 << pick(b, 8) : 0;
    opt_memory(o)->readonly = pick(b, 4) == 0 ? READONLY_PROMOTE : READONLY_KEEP;
}

/* Few CTAs: what is compared is the same, and tests stay quick. */
static void bench_open(struct bench *b, struct dev *dev, const struct launch_spec *l, const char *ptx)
{
    struct diags ds = { 0 };
    *b = (struct bench){ .dev = dev, .seed = 1, .launch = *l };
    b->launch.grid.x = l->grid.x > 7 ? 7 : l->grid.x;
    b->launch.grid.y = l->grid.y > 5 ? 5 : l->grid.y;
    assert_status_ok(ptx_parse_file(ptx, &b->m, &ds), &ds);
    assert_status_ok(launch_data_make(&b->launch, MAX_BYTES, &b->data, &ds), &ds);
    assert_status_ok(dev_bind(b->dev, &b->data, &b->bound, &ds), &ds);
    launch(b, NULL, b->m->text, "as it is", &b->original);
    keep_loose(b);
    diags_free(&ds);
}

static void bench_close(struct bench *b)
{
    for (size_t k = 0; k < ARRAY_LEN(b->loose); k++)
        base_free(b->loose[k]);
    dev_unbind(b->dev, b->bound);
    launch_data_free(&b->data);
    ptx_free(b->m);
}

/* Random combinations of several passes; PASS_RANDOM in the environment, else `usual`. */
static void bench_random(struct bench *b, int usual)
{
    int more = getenv("PASS_RANDOM") ? atoi(getenv("PASS_RANDOM")) : usual;
    for (int k = 0; k < more; k++) {
        struct options o;
        struct diags ds = { 0 };
        random_options(b, &o);
        bench_try(b, &o, &ds);
        diags_free(&ds);
    }
}

/* The rewritten text with a load in the place of every prefetch: a prefetch past the data becomes a
 * fault. */
static void load_for_prefetch(const struct pass_output *o, struct str kernel, struct buf *out)
{
    const struct ptx_func *f = ptx_find_func(o->module, kernel);
    const char *p = o->text, *end = o->text + o->n, *body = o->text + f->body.off + 1;
    buf_put(out, p, (size_t)(body - p));
    buf_puts(out, "\n\t.reg .b16 \t%instead;");
    for (p = body; p < end;) {
        const char *at = memmem(p, (size_t)(end - p), "prefetch.global.L", 17);
        buf_put(out, p, (size_t)((at ? at : end) - p));
        if (!at)
            return;
        buf_puts(out, "ld.global.u8 \t%instead,");
        p = at + 18;
    }
}

/* Every prefetch of a rewrite lies inside the kernel's buffers, unless a bound depends on data (which is
 * said). Returns whether there was one to look at. */
static bool bench_prefetch(struct bench *b, const char *line)
{
    struct diags ds = { 0 };
    struct options o = options_default();
    struct pass_output out;
    assert_status_ok(options_parse_line(&o, str_of(line), &ds), &ds);
    struct pass_input in = { .module = b->m,
                             .kernel = str_of(b->launch.kernel),
                             .options = &o,
                             .dev = dev_describe(b->dev),
                             .launch = &b->launch };
    enum status st = pass_apply(&in, &out, &ds);
    bool look = st == ST_OK && !support_said(&ds, "not checked: a prefetch") &&
                memmem(out.text, out.n, "prefetch.global", 15) &&
                !memmem(b->m->text.s, b->m->text.n, "prefetch.", 9);
    if (look) {
        struct buf text = { 0 };
        struct result r;
        load_for_prefetch(&out, str_of(b->launch.kernel), &text);
        launch(b, &out, (struct str){ text.s, text.n }, line, &r);
        buf_free(&text);
    }
    pass_output_free(&out);
    diags_free(&ds);
    return look;
}

static unsigned bench_prefetches(struct bench *b)
{
    static const char *const lines[] = { "--prefetch l1", "--prefetch l2 --prefetch-distance 3",
                                         "--prefetch l1 --prefetch-distance 40",
                                         "--cluster agent --clusters 3 --agents 1 --prefetch l1",
                                         "--cluster agent --clusters 1 --prefetch l2 --index column" };
    unsigned n = 0;
    for (size_t k = 0; k < ARRAY_LEN(lines); k++)
        n += bench_prefetch(b, lines[k]);
    return n;
}

static struct dev *bench_device(void)
{
    struct diags ds = { 0 };
    struct dev_env env = { .preset = preset_read };
    struct dev *d = NULL;
    assert_status_ok(
        dev_open(getenv("PASS_DEVICE") ? getenv("PASS_DEVICE") : "sim:hopper-h200", &env, &d, &ds), &ds);
    return d;
}

#endif
