/* snapshots: see snapshots.h. Numbers follow the shape of the papers' BFS on a
 * 16 KB L1: the best threshold lies inside, caching all is a deep valley. */
#include "engine/perfmodel/valley.h"
#include "engine/rec/equality.h"
#include "engine/rec/result.h"
#include "engine/session/run.h"
#include "engine/tune/sweep.h"
#include "tests/terminal/snapshots.h"

#include "engine/analysis/analysis.h"
#include "engine/base/base.h"
#include "engine/ptx/op_enum.h"
#include "engine/ptx/ptx.h"
#include "engine/ptx/ptx_table.h"
#include "engine/rec/counter_ids.h"
#include "engine/rec/knobs.h"
#include "engine/rec/launch.h"
#include "engine/rec/limits.h"
#include "engine/rec/opt_bypass.h"
#include "engine/search/advice.h"
#include "engine/session/launch_file.h"
#include "engine/workspace/job.h"
#include "engine/workspace/snapshot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct arg_spec args[] = {
    { .kind = ARG_BUFFER,
      .name = "a",
      .elem = ELEM_F32,
      .count = 1 << 20,
      .init = { .kind = INIT_RANDOM, .a = 0, .b = 1, .seed = 1 } },
    { .kind = ARG_BUFFER,
      .name = "index",
      .elem = ELEM_U32,
      .count = 1 << 20,
      .init = { .kind = INIT_PERMUTATION, .seed = 2 } },
    { .kind = ARG_BUFFER, .name = "out", .elem = ELEM_F32, .count = 1 << 15, .output = true },
    { .kind = ARG_SCALAR, .name = "rows", .elem = ELEM_S32, .scalar = { 64 } }
};
static struct launch_spec launch = { .name = "default",
                                     .ptx = "demo.ptx",
                                     .kernel = "tile",
                                     .grid = { 64, 1, 1 },
                                     .block = { 512, 1, 1 },
                                     .args = args,
                                     .nargs = ARRAY_LEN(args) };
static struct launch_file launches = { &launch, 1, "tests/terminal/demo.launch.json" };

static struct dev_info device(const char *spec, const char *name, uint64_t l1, uint32_t sms)
{
    struct dev_info d = { .kind = DEV_SIMULATED,
                          .cc_major = 2,
                          .sms = sms,
                          .warp_size = 32,
                          .max_warps_per_sm = 48,
                          .max_ctas_per_sm = 8,
                          .max_threads_per_block = 1024,
                          .l1_bytes = l1,
                          .l2_bytes = 768 << 10,
                          .mem_bytes = 6ull << 30,
                          .clock_khz = 1150000 };
    snprintf(d.spec, sizeof d.spec, "%s", spec);
    snprintf(d.name, sizeof d.name, "%s", name);
    return d;
}

/* ---- facts ---- */
static void coalesce(struct ana_coalesce *c, unsigned words, unsigned step, double each, double degree,
                     unsigned sectors)
{
    *c = (struct ana_coalesce){
        .valid = true,
        .degree = degree,
        .num_sectors = sectors,
        .expected = sectors / degree,
        .sectors = sectors / degree,
        .least = 4,
        .every = { .degree = degree, .num_sectors = sectors, .expected = sectors / degree }
    };
    for (unsigned i = 0; i < words; i += step)
        c->graph[i] = each;
}

static const struct ptx_inst *global_access(const struct ptx_func *f, unsigned k)
{
    for (uint32_t i = 0; i < f->ninsts; i++)
        if ((f->insts[i].op == PTX_OP_LD || f->insts[i].op == PTX_OP_ST) &&
            f->insts[i].space == PTX_SPACE_GLOBAL && k-- == 0)
            return &f->insts[i];
    return &f->insts[0];
}

static void fill_access(struct ana_access *x, const struct ptx_inst *i, const char *array,
                        const char *address, enum ana_class cls, double spr)
{
    *x = (struct ana_access){ .inst = i->index,
                              .at = i->at,
                              .space = PTX_SPACE_GLOBAL,
                              .bytes = 4,
                              .array = array,
                              .address = (char *)(uintptr_t)address,
                              .cls = cls,
                              .executions = 65536,
                              .param = -1,
                              .read_only = ANA_YES };
    x->exact = (struct ana_exact){ .valid = !isnan(spr),
                                   .requests = 65536,
                                   .sectors = (uint64_t)(65536 * (isnan(spr) ? 0 : spr)),
                                   .sectors_per_request = spr };
}

static char *evidence[] = {
    "two of three loads are streams; 'a' is read again by every pass of the loop over rows",
    "the gather of line 46 depends on loaded values (index)"
};
static char *gaps[] = { "address of line 46: depends on a loaded value" };

static struct ana_kernel *facts(const struct ptx_module *m)
{
    struct ana_kernel *k = base_alloc(sizeof *k);
    const struct ptx_func *f = m->funcs[0];
    k->access = base_alloc(4 * sizeof *k->access);
    k->naccess = 4;
    k->module = m;
    k->func = f;
    k->launched = true;
    k->grid = launch.grid;
    k->block = launch.block;
    fill_access(&k->access[0], global_access(f, 0), "a", "a + 4*(ctaid.x*ntid.x + tid.x)",
                ANA_CLASS_ALGORITHM, 4);
    fill_access(&k->access[1], global_access(f, 1), "index", "index + 16*(ctaid.x*ntid.x + tid.x)",
                ANA_CLASS_STREAMING, 16);
    fill_access(&k->access[2], global_access(f, 2), "a", "a + 4*load(index)", ANA_CLASS_DATA, 23.4);
    fill_access(&k->access[3], global_access(f, 3), "out", "out + 4*(ctaid.x*ntid.x + tid.x)",
                ANA_CLASS_STREAMING, 4);
    coalesce(&k->access[0].coalesce, 32, 1, 1, 1, 4);
    coalesce(&k->access[1].coalesce, 32, 4, 1, 0.25, 4);
    coalesce(&k->access[2].coalesce, 32, 1, 0.09, 0.09, 4);
    k->access[2].unknown = "a loaded value at line 46";
    k->access[3].store = true;
    coalesce(&k->access[3].coalesce, 32, 1, 1, 1, 4);
    coalesce(&k->coalesce, 32, 1, 0.45, 0.4467, 4);
    k->exact = (struct ana_exact){
        .valid = true, .requests = 196608, .sectors = 2844262, .sectors_per_request = 14.47
    };
    k->cls = ANA_CLASS_ALGORITHM;
    k->evidence[0] = evidence[0];
    k->evidence[1] = evidence[1];
    k->nevidence = 2;
    k->gaps[0] = gaps[0];
    k->ngaps = 1;
    k->sensitivity = "HCS";
    k->reuse = (struct ana_reuse){ .valid = true,
                                   .from = "all CTAs",
                                   .intra_warp = 0.58,
                                   .intra_cta = 0.12,
                                   .inter_cta = 0.19,
                                   .none = 0.11 };
    k->partition = (struct ana_partition){ .index = "row",
                                           .why = (char *)(uintptr_t) "the grid has one dimension" };
    k->footprint = (struct ana_footprint){ .valid = true,
                                           .bytes_per_thread = 64,
                                           .bytes_per_warp = 2048,
                                           .bytes_per_cta = 32768,
                                           .bytes_per_sm = 98304,
                                           .pi_fit = 4 };
    k->nshare = 16;
    k->share = base_alloc(256 * sizeof *k->share);
    k->share_cta = base_alloc(16 * sizeof *k->share_cta);
    for (uint32_t y = 0; y < 16; y++) {
        k->share_cta[y] = y * 4;
        for (uint32_t x = 0; x < 16; x++)
            k->share[y * 16 + x] = (float)(4096 / (1 + (x > y ? x - y : y - x)));
    }
    return k;
}

/* ---- runs ---- */
static struct result point(double ns, double hit, const struct options *o)
{
    struct result r = result_empty();
    double sectors = 2844262;
    r.options = *o;
    r.time = (struct timing){ .median = (int64_t)ns,
                              .min = (int64_t)(ns * 0.99),
                              .max = (int64_t)(ns * 1.015),
                              .n = 1,
                              .origin = ORIGIN_SIMULATED,
                              .valid = true };
    r.equal = EQUAL_YES;
    r.regs = 24;
    r.ctas_per_sm = 3;
    double v[COUNTER_COUNT] = { 196608,
                                sectors,
                                14.47,
                                hit,
                                sectors * (1 - hit / 100),
                                41.5,
                                sectors * (1 - hit / 100) * 0.585 * 32,
                                96.2,
                                1843200,
                                58982400 };
    for (int c = 0; c < COUNTER_COUNT; c++)
        r.counters[c] = (struct counter){ v[c], ORIGIN_SIMULATED, c != COUNTER_L2_HIT_RATE || hit > 20 };
    return r;
}

static void sweep(struct session_run *r, const struct dev_info *dev, unsigned npoints, unsigned best,
                  double depth)
{
    struct options o = options_default();
    struct tune_sweep *s = &r->sweep;
    r->kind = RUN_SWEEP;
    r->time = 1700000000;
    r->dev = *dev;
    r->grid = launch.grid;
    r->block = launch.block;
    snprintf(r->kernel, sizeof r->kernel, "tile");
    opt_bypass(&o)->level = BYPASS_L1;
    opt_bypass(&o)->pi.mode = PI_VALUE;
    s->axis = "pi";
    s->warps = 16;
    s->points = base_alloc(17 * sizeof *s->points);
    for (unsigned i = 0; i < npoints; i++) {
        double d = (double)i - best, up = i > best ? depth * (1 - exp(-d / 2.5)) : 0,
               gain = i <= best ? 0.55 * i / best : 0.55;
        opt_bypass(&o)->pi.value = (int)i;
        s->points[s->npoints++] =
            point(1.9e6 * (1 - gain + up), i <= best ? 70.0 * i / best : 70 * exp(-d / 3), &o);
    }
    opt_bypass(&o)->pi.mode = PI_BPA;
    *s->bpa = point(1.86e6, 0, &o);
    opt_bypass(&o)->pi.mode = PI_CHA;
    *s->cha = point(1.9e6 * (0.45 + depth), 4.2, &o);
    s->complete = npoints == 17;
    tune_sweep_judge(s, dev, 512);
    if (s->complete) /* what the fit found once: the screens shall stand still when it learns */
        s->fit = best == 4 ? (struct model_fit){ .valid = true,
                                                 .alpha = 3.47,
                                                 .beta = 32.7,
                                                 .residual = 0.139,
                                                 .scale = 1.635e6,
                                                 .sharpness = 11.7 }
                           : (struct model_fit){ .valid = true,
                                                 .alpha = 51,
                                                 .beta = 129.4,
                                                 .residual = 0.044,
                                                 .scale = 1.884e6,
                                                 .sharpness = 3.86 };
}

static const struct job_message messages[] = {
    { DIAG_NOTE, 0, "opened tests/terminal/demo.ptx: 1 kernel, 33 instructions", { 0, 0, 0, 0 }, NULL },
    { DIAG_NOTE, 0, "launch description tests/terminal/demo.launch.json", { 0, 0, 0, 0 }, NULL },
    { DIAG_WARNING,
      0,
      "a loaded value makes this address unknown; its sectors are counted by running it",
      { 0, 0, 46, 2 },
      "tests/terminal/demo.ptx" },
    { DIAG_ERROR,
      0,
      "bypass-op no_allocate: the target sm_20 has no L1::no_allocate (try --bypass-op cg)",
      { 0, 0, 41, 2 },
      "tests/terminal/demo.ptx" },
    { DIAG_NOTE, 0, "cache-congested: pi=4 is 2.2x faster than caching all", { 0, 0, 0, 0 }, NULL }
};

static void advise(struct tune_advice *a, const char *title, const char *why, double gain, int pi)
{
    memset(a, 0, sizeof *a);
    snprintf(a->title, sizeof a->title, "%s", title);
    snprintf(a->why, sizeof a->why, "%s", why);
    a->options = options_default();
    opt_bypass(&a->options)->level = BYPASS_L1;
    opt_bypass(&a->options)->pi.mode = PI_VALUE;
    opt_bypass(&a->options)->pi.value = pi;
    a->model_gain = a->real_gain = NAN;
    a->likely = (struct gain_experience){ { 0.8 * gain, gain }, 24, false };
}

static struct tune_advice *advice_make(size_t *n)
{
    struct tune_advice *a = base_alloc(3 * sizeof *a);
    advise(&a[0], "Let four warps of a CTA cache",
           "98.3 KB are touched by an SM's resident warps and L1 holds 16 KB: more than four warps a "
           "CTA evict each other's tiles before they are read again.",
           2.1, 4);
    advise(&a[1], "Bypass the strided stream of line 43 only",
           "Its lines are never touched again, so they only take room from the tile.", 1.2, 16);
    advise(&a[2], "Throttle to two CTAs per SM",
           "Fewer resident warps leave more L1 to each, at the price of less latency hiding.", 1.1, 16);
    a[2].tried = true;
    a[2].real_gain = 1.04;
    a[2].evidence = EVIDENCE_WHOLE;
    a[2].likely = (struct gain_experience){ 0 };
    *n = 3;
    return a;
}

/* Where the time of the original goes; the places are lines of demo.ptx. */
static void limit(struct limits *l)
{
    static const struct limit_place places[] = { { 45, 45, 0.31f, 0, LIMIT_DRAM },
                                                 { 42, 42, 0.18f, 0, LIMIT_COALESCING_LOAD },
                                                 { 45, 45, 0.07f, 0, LIMIT_L2 },
                                                 { 40, 40, 0.05f, 0, LIMIT_DRAM } };
    *l = (struct limits){ .valid = true };
    l->share[LIMIT_DRAM] = 0.415f;
    l->share[LIMIT_COALESCING_LOAD] = 0.185f;
    l->share[LIMIT_L2] = 0.145f;
    l->share[LIMIT_ISSUE] = 0.135f;
    l->share[LIMIT_LAUNCH] = 0.12f;
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        limits_add_place(l, places[i]);
    limits_sort(l);
}

static void add_run(struct job_snapshot *s, struct session_run *r)
{
    const struct session_run **v = base_realloc((void *)(uintptr_t)s->runs, (s->nruns + 1) * sizeof *v);
    v[s->nruns++] = r;
    s->runs = v;
}

static void add_runs(struct job_snapshot *s, enum snapshot_kind kind)
{
    struct dev_info small = device("sim:fermi-16k", "Fermi, 16 KB L1", 16 << 10, 16),
                    large = device("sim:fermi-48k", "Fermi, 48 KB L1", 48 << 10, 16);
    struct session_run *a = session_run_new(RUN_ONE), *b = session_run_new(RUN_ONE),
                       *c = session_run_new(RUN_ONE);
    struct options o = options_default();
    if (kind == SNAP_SWEEPING) {
        sweep(a, &small, 9, 4, 0.53);
        add_run(s, a);
        session_run_drop(b);
        session_run_drop(c);
        return;
    }
    sweep(a, &large, 17, 9, 0.3);
    c->kind = RUN_ONE;
    c->grid = launch.grid;
    c->block = launch.block;
    c->time = 1700000900;
    c->dev = small;
    snprintf(c->kernel, sizeof c->kernel, "tile");
    snprintf(c->note, sizeof c->note, "as written");
    *c->one = point(3.1e6, 4.2, &o);
    limit(&c->one->limits);
    sweep(b, &small, 17, 4, 0.53);
    b->time = 1700001800;
    add_run(s, a);
    add_run(s, c);
    add_run(s, b);
}

struct job_snapshot *snapshot_make(enum snapshot_kind kind)
{
    struct job_snapshot *s = base_alloc(sizeof *s);
    struct diags ds = { 0 };
    struct ptx_module *m = NULL;
    s->version = (uint64_t)kind + 1;
    s->options = options_new();
    s->dev = device("sim:fermi-16k", "Fermi, 16 KB L1", 16 << 10, 16);
    s->has_dev = true;
    if (kind == SNAP_EMPTY)
        return s;
    ptx_parse_file("tests/terminal/demo.ptx", &m, &ds);
    diags_free(&ds);
    s->module = m;
    s->launches = &launches;
    s->spec = &launch;
    s->kernel = "tile";
    s->facts = m ? facts(m) : NULL;
    s->messages = messages;
    s->nmessages = 2;
    s->session_path = "sessions/demo.json";
    if (kind >= SNAP_SWEEPING)
        add_runs(s, kind);
    if (kind == SNAP_SWEEPING) {
        s->busy = true;
        s->what = "sweep";
        s->doing = JOB_SWEEP;
        s->done = 0.53;
        s->rate = 4.5;
    }
    if (kind == SNAP_DONE) {
        s->nmessages = ARRAY_LEN(messages);
        s->advice = advice_make(&s->nadvice);
    }
    return s;
}

void snapshot_free(struct job_snapshot *s)
{
    base_free((void *)(uintptr_t)s->options);
    struct ana_kernel *k = (struct ana_kernel *)(uintptr_t)s->facts;
    for (size_t i = 0; i < s->nruns; i++)
        session_run_drop((struct session_run *)(uintptr_t)s->runs[i]);
    if (k) {
        base_free(k->access);
        base_free(k->share);
        base_free(k->share_cta);
        base_free(k);
    }
    base_free((void *)(uintptr_t)s->runs);
    base_free((void *)(uintptr_t)s->advice);
    ptx_free((struct ptx_module *)(uintptr_t)s->module);
    base_free(s);
}

void recorder_post(void *ctx, const struct job *j)
{
    struct recorder *r = ctx;
    r->last = *j;
    snprintf(r->text, sizeof r->text, "%s", j->text ? j->text : "");
    r->last.text = r->text;
    r->options = j->options ? *j->options : options_default();
    r->last.options = &r->options;
    r->posts++;
}

void recorder_cancel(void *ctx)
{
    ((struct recorder *)ctx)->cancels++;
}
